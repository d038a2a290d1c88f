/*
 * src/advise/public.sql
 *
 * What people call.  Owners may ask about their own tables, members of
 * pg_monitor about all: advise.c checks that.
 */
CREATE FUNCTION @extschema@.advise_index_placement(
	target regclass,
	tablespace name DEFAULT NULL,
	space_budget text DEFAULT NULL,
	observe interval DEFAULT NULL)
RETURNS SETOF @extschema@.placement_advice
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_advise_index_placement';
COMMENT ON FUNCTION @extschema@.advise_index_placement(regclass, name, text, interval) IS
	'one row per index of the target and one for the table itself with its TOAST table (of a partitioned table: of every partition; of an index: that row alone); moves first, in the order in which they save most per byte; columns: see the type placement_advice. target: table, partitioned table, materialized view or index; tablespace: where to, by default wherever it saves most; space_budget: bytes that moves may fill, as pg_size_bytes() reads them; observe: watch for so long instead of using samples. Errors: 42704 no such tablespace, 42809 neither table nor index, 42501 neither owner nor member of pg_monitor, 22023 bad budget, duration or pg_global, 22004 no target';

CREATE FUNCTION @extschema@.advise_placement(
	space_budget text DEFAULT NULL,
	observe interval DEFAULT NULL)
RETURNS SETOF @extschema@.placement_advice
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_advise_placement';
COMMENT ON FUNCTION @extschema@.advise_placement(text, interval) IS
	'the same for the whole database, each relation to the fastest tablespace that it is worth its bytes in; relations that were neither read nor written have no row, unless they are in a tablespace that is too full (less than a twentieth of its file system free), which is relieved. Errors: 42501 not a member of pg_monitor, 22023 bad budget or duration';

CREATE FUNCTION @extschema@.explain_placement(target regclass DEFAULT NULL)
RETURNS SETOF text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_explain_placement';
COMMENT ON FUNCTION @extschema@.explain_placement(regclass) IS
	'the advice on a relation, or on the whole database, as lines of text: what is spent on reading, who causes it, what each move would save and cost, what no move can save, and what the figures rest on. Errors as of advise_index_placement()';

CREATE FUNCTION @extschema@.placement_evidence(
	target regclass DEFAULT NULL,
	OUT relation regclass,
	OUT evidence jsonb)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_placement_evidence';
COMMENT ON FUNCTION @extschema@.placement_evidence(regclass) IS
	'per relation all that its advice rests on: the window and its waits, activity, sizes, probe runs and latencies with intervals, queue depths, shares served by caches, corrections, cost of the move. Errors as of advise_index_placement()';
