/*
 * src/advise/public.sql
 *
 * Functions for users.  Owners may ask about their own tables, members of
 * pg_monitor about all: advise.c checks that.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION @extschema@.advise_index_placement(
	target regclass DEFAULT NULL,
	tablespace name DEFAULT NULL,
	space_budget text DEFAULT NULL,
	observe interval DEFAULT NULL,
	count_exports boolean DEFAULT false)
RETURNS SETOF text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_advise_index_placement';
COMMENT ON FUNCTION @extschema@.advise_index_placement(regclass, name, text, interval, boolean) IS
	'what to do with a table (or one index, or a partitioned table''s partitions) and its indexes, or with all of the database, what that saves and why, as lines of text that end in the statements to run; advise_placement() has the same as rows; count_exports: waits of COPY TO and pg_dump count, too. Errors: 42704 no such tablespace, 42P01 no such relation, 42809 neither table nor index, 42501 neither owner nor member of pg_monitor, 22023 bad budget, duration or pg_global';

CREATE FUNCTION @extschema@.advise_placement(
	space_budget text DEFAULT NULL,
	observe interval DEFAULT NULL,
	target regclass DEFAULT NULL,
	tablespace name DEFAULT NULL,
	count_exports boolean DEFAULT false)
RETURNS SETOF @extschema@.placement_advice
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_advise_placement';
COMMENT ON FUNCTION @extschema@.advise_placement(text, interval, regclass, name, boolean) IS
	'a row for each table (with its TOAST table) and index of the target, moves first; without target of the whole database, but for relations that were neither read nor written, and with a row for timed temporary files. Errors: 42704 no such tablespace, 42P01 no such relation, 42809 neither table nor index, 42501 neither owner nor member of pg_monitor, 22023 bad budget, duration or pg_global';

CREATE FUNCTION @extschema@.explain_placement(target regclass DEFAULT NULL)
RETURNS SETOF text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_explain_placement';
COMMENT ON FUNCTION @extschema@.explain_placement(regclass) IS
	'the advice on a relation, or on the whole database, as lines of text: what is spent on reading, who causes it, what each move would save and cost, what no move can save, and what the figures rest on. Errors as of advise_placement()';

CREATE FUNCTION @extschema@.placement_evidence(
	target regclass DEFAULT NULL,
	OUT relation regclass,
	OUT evidence jsonb)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_placement_evidence';
COMMENT ON FUNCTION @extschema@.placement_evidence(regclass) IS
	'per relation all that its advice rests on: the window and its waits, activity, sizes, probe runs and latencies with intervals, queue depths, shares served by caches, corrections, cost of the move. Errors as of advise_placement()';

COMMENT ON TABLE tablespace_advisor.placement_pin IS
	'relations that are to stay where they are: the reason, the role that said so, and until when (NULL: until unpin_placement())';

CREATE FUNCTION @extschema@.pin_placement(relation regclass, reason text DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_pin_placement';
COMMENT ON FUNCTION @extschema@.pin_placement(regclass, text) IS
	'keeps a table (with TOAST, without its indexes) or an index where it is, as far as advice goes, which repeats the reason. Errors: 42501 not the owner of the table, 42809 has no storage, 42P01 no such relation, 22004 no relation, 22001 a reason of more than 1000 characters';

CREATE FUNCTION @extschema@.unpin_placement(relation regclass)
RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_unpin_placement';
COMMENT ON FUNCTION @extschema@.unpin_placement(regclass) IS
	'ends pin_placement(); false if the relation was not pinned. Errors as of pin_placement()';
