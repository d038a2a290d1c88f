/* releases/tablespace_advisor--0.2--0.3.sql */

\echo Use "ALTER EXTENSION tablespace_advisor UPDATE TO '0.3'" to load this file. \quit

/* Nothing but the server's own is found by an unqualified name. */
SET LOCAL search_path = pg_catalog, pg_temp;

/* The storage of a table is several files: what was one becomes a list. */
ALTER TABLE tablespace_advisor.job RENAME COLUMN new_tablespace TO new_tablespaces;
ALTER TABLE tablespace_advisor.job RENAME COLUMN new_filenumber TO new_filenumbers;
ALTER TABLE tablespace_advisor.job RENAME COLUMN old_tablespace TO old_tablespaces;
ALTER TABLE tablespace_advisor.job RENAME COLUMN old_filenumber TO old_filenumbers;
ALTER TABLE tablespace_advisor.job
	ALTER COLUMN new_tablespaces TYPE oid[]
		USING CASE WHEN new_tablespaces IS NOT NULL THEN ARRAY[new_tablespaces] END,
	ALTER COLUMN new_filenumbers TYPE oid[]
		USING CASE WHEN new_filenumbers IS NOT NULL THEN ARRAY[new_filenumbers] END,
	ALTER COLUMN old_tablespaces TYPE oid[]
		USING CASE WHEN old_tablespaces IS NOT NULL THEN ARRAY[old_tablespaces] END,
	ALTER COLUMN old_filenumbers TYPE oid[]
		USING CASE WHEN old_filenumbers IS NOT NULL THEN ARRAY[old_filenumbers] END,
	ADD COLUMN indexes oid[],
	ADD COLUMN indexes_from oid[],
	ADD COLUMN lock_wait_ms float8,
	ADD COLUMN forecast_saved_ms_per_s float8;
CREATE INDEX job_unfinished_heap_idx ON tablespace_advisor.job (heap)
	WHERE state IN ('queued', 'running', 'paused');
COMMENT ON COLUMN tablespace_advisor.job.new_filenumbers IS
	'storage of the copy under way, each in the tablespace of the same place in new_tablespaces, to be removed if the job ends otherwise than by switching to it';
COMMENT ON COLUMN tablespace_advisor.job.old_filenumbers IS
	'storage that the relations have left in old_tablespaces and that is still to be removed';
COMMENT ON COLUMN tablespace_advisor.job.indexes IS
	'the indexes that move along with a table, in the same cutover; NULL for none';
COMMENT ON COLUMN tablespace_advisor.job.indexes_from IS
	'the tablespaces in which these indexes were when the job was queued';
COMMENT ON COLUMN tablespace_advisor.job.lock_wait_ms IS
	'longest time in milliseconds that one request for the exclusive lock stood in the queue';
COMMENT ON COLUMN tablespace_advisor.job.forecast_saved_ms_per_s IS
	'saved_ms_per_s of advise_index_placement() when it decided this move; NULL when the caller did';

/*
 * pg_partition_tree() keeps a lock on every partition until the transaction
 * ends; ten thousand of them leave nothing of the lock table to others.
 */
CREATE FUNCTION tablespace_advisor.partitions_of(target regclass)
RETURNS TABLE (member oid, level int)
LANGUAGE sql STABLE
BEGIN ATOMIC
	WITH RECURSIVE tree(member, level) AS (
		SELECT target::oid, 0
		UNION ALL
		SELECT i.inhrelid, t.level + 1
		FROM tree t
			JOIN pg_catalog.pg_class p ON p.oid = t.member
				AND p.relkind IN ('p', 'I')
			JOIN pg_catalog.pg_inherits i ON i.inhparent = t.member
				AND NOT i.inhdetachpending)
	SELECT t.member, t.level FROM tree t;
END;
REVOKE ALL ON FUNCTION tablespace_advisor.partitions_of(regclass) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.partitions_of(regclass) IS
	'a relation and, if it is partitioned, its partitions of all levels, without locking them';

CREATE OR REPLACE FUNCTION tablespace_advisor.indexes_of(target regclass)
RETURNS TABLE (
	relation oid, heap oid, kind "char", schema_name name, relation_name name,
	persistence "char", tablespace oid, is_valid boolean,
	is_exclusion boolean, is_deferrable boolean, size_bytes bigint)
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT c.oid, i.indrelid, c.relkind, n.nspname, c.relname,
		c.relpersistence,
		CASE c.reltablespace WHEN 0 THEN d.dattablespace
			ELSE c.reltablespace END,
		i.indisvalid AND i.indisready AND i.indislive,
		i.indisexclusion, NOT i.indimmediate,
		CASE c.relkind WHEN 'i' THEN pg_catalog.pg_table_size(c.oid)
			ELSE 0 END
	FROM tablespace_advisor.partitions_of(target) t
		JOIN pg_catalog.pg_index i ON t.member IN (i.indrelid, i.indexrelid)
		JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_catalog.pg_database d
			ON d.datname = pg_catalog.current_database()
	ORDER BY c.relkind DESC, i.indrelid, c.oid;
END;
ALTER FUNCTION tablespace_advisor.worker_progress(bigint) ROWS 1;

/* The same for tables: what has storage first, then parents after children. */
CREATE FUNCTION tablespace_advisor.tables_of(target regclass)
RETURNS TABLE (
	relation oid, heap oid, kind "char", schema_name name, relation_name name,
	persistence "char", tablespace oid, is_valid boolean,
	is_exclusion boolean, is_deferrable boolean, size_bytes bigint)
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT c.oid, c.oid, c.relkind, n.nspname, c.relname,
		c.relpersistence,
		CASE c.reltablespace WHEN 0 THEN d.dattablespace
			ELSE c.reltablespace END,
		true, false, false,
		CASE WHEN c.relkind IN ('r', 'm') THEN pg_catalog.pg_table_size(c.oid)
			ELSE 0 END
	FROM tablespace_advisor.partitions_of(target) t
		JOIN pg_catalog.pg_class c ON c.oid = t.member
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_catalog.pg_database d
			ON d.datname = pg_catalog.current_database()
	ORDER BY c.relkind = 'p',
		CASE c.relkind WHEN 'p' THEN -t.level END, c.oid;
END;
REVOKE ALL ON FUNCTION tablespace_advisor.tables_of(regclass) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.tables_of(regclass) IS
	'a table, or a partitioned table with its partitions: those with storage first, then partitioned tables, parents last; size_bytes counts all forks and TOAST with its index, which move together';

CREATE OR REPLACE VIEW @extschema@.tablespace_moves WITH (security_barrier) AS
SELECT j.job_id, j.relation::regclass AS relation,
	pg_catalog.format('%I.%I', j.schema_name, j.relation_name)
		AS relation_name,
	j.from_tablespace_name AS from_tablespace,
	j.to_tablespace_name AS to_tablespace,
	j.method, j.state,
	coalesce(w.phase, j.phase) AS phase,
	b.total AS bytes_total, b.done AS bytes_done,
	CASE WHEN j.state = 'done' THEN 100
		WHEN b.total > 0
		THEN pg_catalog.round(100.0 * b.done / b.total, 1)::float8
		END AS percent,
	b.rate AS mb_per_s,
	CASE WHEN j.state = 'running' AND b.rate > 0 AND b.done < b.total
			AND coalesce(w.blocked_by, j.blocked_by) IS NULL
		THEN pg_catalog.make_interval(
			secs => (b.total - b.done) / (b.rate * 1048576)) END AS eta,
	j.passes, j.lock_ms, j.attempts,
	coalesce(w.blocked_by, j.blocked_by) AS blocked_by,
	j.error, j.owner::regrole AS owner,
	j.queued_at, j.started_at, j.finished_at,
	j.wal_bytes, j.paused_ms,
	CASE WHEN j.kind IN ('r', 'm')
		THEN coalesce(pg_catalog.cardinality(j.indexes), 0) END
		AS with_indexes,
	j.lock_wait_ms, j.forecast_saved_ms_per_s
FROM tablespace_advisor.job j
	LEFT JOIN LATERAL tablespace_advisor.worker_progress(
		CASE j.state WHEN 'running' THEN j.job_id END) w ON true
	CROSS JOIN LATERAL (
		SELECT coalesce(w.bytes_total, j.bytes_total) AS total,
			coalesce(w.bytes_done, j.bytes_done) AS done,
			coalesce(j.mb_per_s, coalesce(w.bytes_done, j.bytes_done)
				/ 1048576.0::float8 / nullif(extract(epoch FROM
					coalesce(j.finished_at, pg_catalog.clock_timestamp())
					- j.started_at), 0)::float8) AS rate) b
WHERE j.database = (SELECT oid FROM pg_catalog.pg_database
		WHERE datname = pg_catalog.current_database())
	AND j.system_identifier =
		(SELECT system_identifier FROM pg_catalog.pg_control_system())
	AND (pg_catalog.pg_has_role(j.owner, 'USAGE')
		OR pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE'));
COMMENT ON COLUMN @extschema@.tablespace_moves.method IS
	'copy (live block copy), rebuild (REINDEX CONCURRENTLY) or catalog (ALTER ... SET TABLESPACE of a partitioned table or index, which has no storage)';
COMMENT ON COLUMN @extschema@.tablespace_moves.bytes_total IS
	'copy: bytes of the relation, for a table with TOAST and the indexes that move along; a running rebuild: bytes of the index once and of its table twice, since that is read and written';
COMMENT ON COLUMN @extschema@.tablespace_moves.with_indexes IS
	'number of indexes that move along with a table, in the same cutover; NULL for other relations';
COMMENT ON COLUMN @extschema@.tablespace_moves.lock_wait_ms IS
	'longest time in milliseconds that one request for the exclusive lock stood in the queue, during which others queued behind it';
COMMENT ON COLUMN @extschema@.tablespace_moves.forecast_saved_ms_per_s IS
	'milliseconds of reading per second that advise_index_placement() expected to save when it decided this move (of a table: without indexes that move along); NULL when the caller decided';

CREATE PROCEDURE @extschema@.move_table_concurrently(
	target regclass,
	tablespace name,
	with_indexes boolean DEFAULT false,
	method text DEFAULT 'auto',
	max_rate text DEFAULT NULL,
	lock_timeout interval DEFAULT '100 ms',
	wait boolean DEFAULT true,
	dry_run boolean DEFAULT false,
	hot_only boolean DEFAULT false,
	INOUT job_ids bigint[] DEFAULT NULL)
LANGUAGE C AS 'MODULE_PATHNAME', 'tsa_move_table_concurrently';
COMMENT ON PROCEDURE @extschema@.move_table_concurrently(regclass, name, boolean,
	text, text, interval, boolean, boolean, boolean, bigint[]) IS
	'moves a table, materialized view or the partitions of a partitioned table to another tablespace while they are in use, with TOAST, by live block copy; with_indexes: its indexes too, those that live copy applies to in the same cutover, others by rebuild; method copy or auto (copy; indexes that it does not apply to are rebuilt); max_rate: bytes per second such as ''200 MB''; lock_timeout: longest wait for a lock per attempt; wait => false returns the job ids to look up in tablespace_moves; dry_run only says what would be done; hot_only: only tables that advise_index_placement() says to move there. The caller must own the table and have CREATE on the tablespace, and for hot_only the right to execute advise_index_placement(), which members of pg_monitor have (42501). Other errors: 22004 no target or tablespace, 42809 not a table (indexes: move_indexes_concurrently()), 0A000 method rebuild, or a table that live copy cannot move (unlogged, temporary, system, other access method), 55006 it or one of its indexes is being moved, 53100 too little space, 25001 in a transaction block';

COMMENT ON FUNCTION @extschema@.retry_move(bigint) IS
	'queues a failed or cancelled move again, with the same options and the caller''s rights, and returns the new job''s id, or NULL if the relation is in that tablespace already; a partitioned index takes those of its partitions that are elsewhere along, a table the indexes that its job was to move along, and the id is the first of these jobs; the move begins when the transaction commits; 42704 when there is no such job, 55000 when it has not failed, 55006 when another move of the table has not ended';
COMMENT ON FUNCTION @extschema@.undo_move(bigint) IS
	'queues a move of the relation back to the tablespace where the given move found it, with the same options and the caller''s rights, and returns the new job''s id; the indexes that moved along with a table go back to where each was, unless moved since, by jobs of their own if that was elsewhere; of a partitioned table or index just its own entry goes back, its partitions have jobs of their own; the move begins when the transaction commits; 42704 when there is no such job, 42P01 when the relation is gone, 55000 when the move is not done or the relation is back already, 55006 when another move of the table has not ended';

CREATE OR REPLACE VIEW tablespace_advisor.relation_activity AS
SELECT c.oid::regclass AS relation, c.oid::regclass AS table_relation,
	'heap'::text AS kind,
	coalesce(t.spcname, own.spcname) AS tablespace,
	pg_table_size(c.oid) AS size_bytes,
	CASE WHEN c.reltoastrelid <> 0
		THEN pg_total_relation_size(c.reltoastrelid) ELSE 0 END AS toast_bytes,
	pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid)
		+ toast.fetched - toast.hit AS blocks_read,
	pg_stat_get_blocks_hit(c.oid) + toast.hit AS blocks_hit,
	NULL::bigint AS scans,
	pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid)
		+ pg_stat_get_tuples_deleted(c.oid)
		+ pg_stat_get_tuples_inserted(c.reltoastrelid)
		+ pg_stat_get_tuples_deleted(c.reltoastrelid) AS tuples_written,
	NULL::text AS unusable,
	NULL::text AS needed_for,
	NULL::regclass AS duplicate_of,
	CASE
		WHEN c.relpersistence = 't' THEN 'a temporary table cannot be moved'
		WHEN c.oid < 16384 THEN 'a system catalog cannot be moved'
		/* no log that a copy could follow, or not known how it is written */
		WHEN c.relpersistence = 'u'
			THEN 'an unlogged table cannot be moved while in use: ALTER TABLE ... SET TABLESPACE locks it until it is copied'
		WHEN EXISTS
			(SELECT FROM pg_class r JOIN pg_am m ON m.oid = r.relam
				WHERE r.oid IN (c.oid, c.reltoastrelid)
					AND m.amhandler <> 'heap_tableam_handler'::regproc)
			THEN 'a table whose access method is not heap cannot be moved while in use: ALTER TABLE ... SET TABLESPACE locks it until it is copied'
	END AS obstacle
FROM pg_class c
JOIN pg_database d ON d.datname = current_database()
JOIN pg_tablespace own ON own.oid = d.dattablespace
LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
CROSS JOIN LATERAL
	(SELECT coalesce(sum(pg_stat_get_blocks_fetched(r.oid)), 0)::bigint AS fetched,
			coalesce(sum(pg_stat_get_blocks_hit(r.oid)), 0)::bigint AS hit
		FROM (SELECT c.reltoastrelid AS oid
			UNION ALL
			SELECT x.indexrelid FROM pg_index x
				WHERE x.indrelid = c.reltoastrelid) r
		WHERE r.oid <> 0) toast
WHERE c.relkind IN ('r', 'm')
UNION ALL
SELECT i.indexrelid::regclass, i.indrelid::regclass,
	'index',
	coalesce(t.spcname, own.spcname),
	pg_table_size(i.indexrelid),
	0,
	pg_stat_get_blocks_fetched(i.indexrelid)
		- pg_stat_get_blocks_hit(i.indexrelid),
	pg_stat_get_blocks_hit(i.indexrelid),
	pg_stat_get_numscans(i.indexrelid),
	pg_stat_get_tuples_inserted(i.indrelid)
		+ pg_stat_get_tuples_updated(i.indrelid)
		- pg_stat_get_tuples_hot_updated(i.indrelid),
	i.unusable,
	i.needed_for,
	(SELECT o.indexrelid::regclass
		FROM tablespace_advisor.index_role o
		WHERE o.indrelid = i.indrelid AND o.indexrelid <> i.indexrelid
			AND o.definition = i.definition AND o.unusable IS NULL
			AND NOT i.is_pinned
			AND (NOT i.indisunique OR (o.indisunique AND o.indimmediate
				AND o.indnullsnotdistinct = i.indnullsnotdistinct))
			AND (o.is_pinned, o.indisunique,
					pg_stat_get_numscans(o.indexrelid), i.indexrelid::bigint)
				> (i.is_pinned, i.indisunique,
					pg_stat_get_numscans(i.indexrelid), o.indexrelid::bigint)
		ORDER BY o.is_pinned DESC, o.indisunique DESC,
			pg_stat_get_numscans(o.indexrelid) DESC, o.indexrelid
		LIMIT 1),
	CASE
		WHEN c.relpersistence = 't'
			THEN 'an index of a temporary table cannot be moved'
		WHEN i.indrelid < 16384
			THEN 'an index of a system catalog cannot be moved'
		/* nothing but a rebuild, for want of a log that a copy could follow */
		WHEN c.relpersistence = 'u'
			AND (i.indisexclusion OR NOT i.indimmediate)
			THEN 'an unlogged index of an exclusion or deferrable constraint cannot be moved while in use'
	END
FROM tablespace_advisor.index_role i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_database d ON d.datname = current_database()
JOIN pg_tablespace own ON own.oid = d.dattablespace
LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace;
