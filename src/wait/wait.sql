/*
 * src/wait/wait.sql
 *
 * Measured read waits of all databases since the server started.
 * docs/internals/wait.md says how.  The figures are estimates of all executions:
 * those measured are weighted.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.wait_relations(
	OUT dbid oid,
	OUT relid oid,
	OUT class text,
	OUT access text,
	OUT calls float8,
	OUT hits float8,
	OUT reads float8,
	OUT waited_ms float8,
	OUT read_histogram float8[],
	OUT since timestamptz)
RETURNS SETOF record
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'tsa_wait_relations';

COMMENT ON FUNCTION tablespace_advisor.wait_relations() IS
	'read waits per relation, caller (class) and kind of access since the server started, all databases; relid 0: not of one relation; read_histogram: reads of one block by time, below 1, 2, 4 ... 2^18 us and longer; no rows unless the library is preloaded';

CREATE FUNCTION tablespace_advisor.wait_statements(
	OUT dbid oid,
	OUT userid oid,
	OUT queryid bigint,
	OUT toplevel boolean,
	OUT relid oid,
	OUT class text,
	OUT access text,
	OUT calls float8,
	OUT total_ms float8,
	OUT hits float8,
	OUT reads float8,
	OUT waited_ms float8,
	OUT since timestamptz)
RETURNS SETOF record
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'tsa_wait_statements';

COMMENT ON FUNCTION tablespace_advisor.wait_statements() IS
	'read waits per statement (access "all"), and the parts of it that are of one relation and kind of access, since the row was made; statements that it calls are included; no rows unless the library is preloaded';

CREATE FUNCTION tablespace_advisor.wait_info(
	OUT since timestamptz,
	OUT enabled boolean,
	OUT sample int,
	OUT seen float8,
	OUT measured float8,
	OUT relation_entries int,
	OUT max_relation_entries int,
	OUT relations_overflowed bigint,
	OUT relations_reclaimed bigint,
	OUT statement_entries int,
	OUT max_statement_entries int,
	OUT statements_evicted bigint,
	OUT lost_reads float8)
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'tsa_wait_info';

COMMENT ON FUNCTION tablespace_advisor.wait_info() IS
	'state of the measurement of read waits: since when, executions seen and measured, entries in use; all NULL unless the library is preloaded';

CREATE FUNCTION tablespace_advisor.flush_waits()
RETURNS boolean
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'tsa_flush_waits';

COMMENT ON FUNCTION tablespace_advisor.flush_waits() IS
	'hands in the figures of the calling session; false if another session was just doing so';
