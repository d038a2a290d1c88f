
/* src/cost/assume.sql */

CREATE FUNCTION @extschema@.assume_placement(relation regclass, tablespace name)
RETURNS void
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'assume_placement';
COMMENT ON FUNCTION @extschema@.assume_placement(regclass, name) IS
	'this session plans as if the table (without its indexes), the index, or all partitions of either lay in that tablespace, until forget_placements() or any error or rollback. Errors: 42P01, 42704 there is no such relation or tablespace, 42809 it has no storage, 22023 pg_global';

CREATE FUNCTION @extschema@.forget_placements()
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'forget_placements';
COMMENT ON FUNCTION @extschema@.forget_placements() IS
	'from now on this session plans with the tablespaces that relations really have';

CREATE FUNCTION @extschema@.assumed_placements(
	OUT relation regclass,
	OUT tablespace name)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'assumed_placements';
COMMENT ON FUNCTION @extschema@.assumed_placements() IS
	'what assume_placement() has set in this session';

CREATE FUNCTION @extschema@.explain_with_costs(
	query text,
	tablespace name,
	random_page_cost float8,
	seq_page_cost float8 DEFAULT NULL)
RETURNS SETOF text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'explain_with_costs';
COMMENT ON FUNCTION @extschema@.explain_with_costs(text, name, float8, float8) IS
	'the lines of EXPLAIN for one statement as if the tablespace had these page costs (NULL: seq_page_cost as it is), which are set in a subtransaction that is rolled back. Errors: 42501 not the owner of the tablespace, 42704 no such tablespace, 22023 pg_global or a cost out of range, 42601 no single statement, 25006 read-only';
