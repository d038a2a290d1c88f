/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/cost/assume.sql */

CREATE FUNCTION @extschema@.assume_placement(relation regclass, tablespace name)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'assume_placement';
COMMENT ON FUNCTION @extschema@.assume_placement(regclass, name) IS
	'this session plans as if the table (without its indexes), the index, or all partitions of either lay in that tablespace, until forget_placements() or any error or rollback; one of assume_tablespace() has the server''s own page costs. Errors: 42P01, 42704 there is no such relation or tablespace, 42809 it has no storage, 22023 pg_global, 22004 nulls';

CREATE FUNCTION @extschema@.forget_placements()
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'forget_placements';
COMMENT ON FUNCTION @extschema@.forget_placements() IS
	'from now on this session plans with the tablespaces that relations really have, and is advised on those that there are';

CREATE FUNCTION @extschema@.assume_tablespace(
	tablespace name,
	random_read_us float8,
	bytes text,
	like_tablespace name DEFAULT NULL,
	max_reads_per_s float8 DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_assume_tablespace';
COMMENT ON FUNCTION @extschema@.assume_tablespace(name, float8, text, name, float8) IS
	'this session is advised as if there were a tablespace of that name and size, on a device that takes so long for a random read alone (at depth like like_tablespace, scaled, or else one read at a time, or as many as max_reads_per_s allows), until forget_placements() or any error or rollback. Errors: 42710 there is one of that name, 42704 no such like_tablespace, 22023 numbers that are not greater than zero, 22004 nulls, 54000 more than 16';

CREATE FUNCTION tablespace_advisor.assumed_tablespaces(
	OUT tablespace name,
	OUT random_read_us float8,
	OUT bytes bigint,
	OUT like_tablespace name,
	OUT max_reads_per_s float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_assumed_tablespaces';
COMMENT ON FUNCTION tablespace_advisor.assumed_tablespaces() IS
	'tablespaces that this session assumes (assume_tablespace()), but for names that exist by now';
GRANT EXECUTE ON FUNCTION tablespace_advisor.assumed_tablespaces TO pg_monitor;

CREATE FUNCTION @extschema@.assumed_placements(
	OUT relation regclass,
	OUT tablespace name)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'assumed_placements';
COMMENT ON FUNCTION @extschema@.assumed_placements() IS
	'the assumptions that assume_placement() has set in this session';

CREATE FUNCTION @extschema@.explain_with_costs(
	query text,
	tablespace name,
	random_page_cost float8,
	seq_page_cost float8 DEFAULT NULL)
RETURNS SETOF text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'explain_with_costs';
COMMENT ON FUNCTION @extschema@.explain_with_costs(text, name, float8, float8) IS
	'the lines of EXPLAIN for one statement as if the tablespace had these page costs (NULL: seq_page_cost as it is), which are set in a subtransaction that is rolled back. Errors: 42501 not the owner of the tablespace, 42704 no such tablespace, 22023 pg_global or a cost out of range, 22004 nulls, 42601 no single statement, 25006 read-only';
