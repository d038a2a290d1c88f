/*
 * move: functions for users, and their basis.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
COMMENT ON TABLE tablespace_advisor.request IS
	'requests to a move: to pause (pause), or other limits in the place of its own (alters)';
COMMENT ON SEQUENCE tablespace_advisor.job_job_id_seq IS
	'numbers of moves';
COMMENT ON TABLE tablespace_advisor.job IS
	'journal of moves, one row for each relation; read it through the view tablespace_moves';
COMMENT ON COLUMN tablespace_advisor.job.batch_id IS
	'first job_id of the call that queued this job; its jobs share one worker and run one after the other';
COMMENT ON COLUMN tablespace_advisor.job.system_identifier IS
	'server that queued the job: a copied or restored database must not act on it';
COMMENT ON COLUMN tablespace_advisor.job.new_filenumbers IS
	'storage of the copy under way, each in the tablespace of the same place in new_tablespaces (0: the database''s own), to be removed if the job ends otherwise than by switching to it; of a job that has ended: its device did not answer';
COMMENT ON COLUMN tablespace_advisor.job.old_filenumbers IS
	'storage that the relations have left in old_tablespaces (0: the database''s own) and that is still to be removed';
COMMENT ON COLUMN tablespace_advisor.job.indexes IS
	'the indexes that move along with a table, in the same cutover; NULL for none';
COMMENT ON COLUMN tablespace_advisor.job.indexes_from IS
	'the tablespaces in which these indexes were when the job was queued';
COMMENT ON COLUMN tablespace_advisor.job.index_names IS
	'the names of these indexes then; an index that is rebuilt before it has moved keeps its name, not its OID';
COMMENT ON COLUMN tablespace_advisor.job.call_user IS
	'the user that had logged in when the job was queued';
COMMENT ON COLUMN tablespace_advisor.job.takeovers IS
	'how often a new worker has taken over the batch when this job was the next, because the worker before had died';
COMMENT ON COLUMN tablespace_advisor.job.lock_wait_ms IS
	'longest time in milliseconds that one request for the exclusive lock stood in the queue';
COMMENT ON COLUMN tablespace_advisor.job.forecast_saved_ms_per_s IS
	'saved_ms_per_s of advise_placement() when the move was queued, also of moves that a caller decided; NULL when nothing was known';
COMMENT ON COLUMN tablespace_advisor.job.known_indexes IS
	'the table''s indexes before a rebuild began: an invalid _ccnew index that is not among them is left over from it and will be dropped; NULL when nothing can be left over';
COMMENT ON COLUMN tablespace_advisor.job.heap_bytes IS
	'size of the table when a rebuild began: to ask for it now would wait for a lock';
COMMENT ON COLUMN tablespace_advisor.job.old_index IS
	'the index before a rebuild, which replaces it by one with another OID; left over if it is invalid and named _ccold';

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
COMMENT ON FUNCTION tablespace_advisor.partitions_of(regclass) IS
	'a relation and, if it is partitioned, its partitions of all levels, without locking them';

/* The one definition of the relations of a move of a table's indexes. */
CREATE FUNCTION tablespace_advisor.indexes_of(target regclass)
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
COMMENT ON FUNCTION tablespace_advisor.indexes_of(regclass) IS
	'an index, or the indexes of a table, with those of all partitions; leaves first; size_bytes counts all forks';

/*
 * The relations of a move of tables: those with storage first, then parents
 * after children.
 */
CREATE FUNCTION tablespace_advisor.table_and_partitions(target regclass)
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
COMMENT ON FUNCTION tablespace_advisor.table_and_partitions(regclass) IS
	'a table, or a partitioned table with its partitions: those with storage first, then partitioned tables, parents last; size_bytes counts all forks and TOAST with its index, which move together';

/*
 * The transient indexes of a rebuild that did not end well.  REINDEX
 * CONCURRENTLY builds <name>_ccnew, swaps the names and drops the old index
 * as <name>_ccold.  It appends a number where that name is taken, and cuts
 * <name>, between two characters, only as far as the whole would be too long.
 */
CREATE VIEW tablespace_advisor.transient_index WITH (security_barrier) AS
SELECT j.job_id, j.owner, n.nspname AS schema_name, c.relname AS index_name,
	i.indrelid AS heap, i.indexrelid AS index
FROM tablespace_advisor.job j
	JOIN pg_catalog.pg_index i ON i.indrelid = j.heap AND NOT i.indisvalid
	JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
	JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	CROSS JOIN LATERAL (
		SELECT j.relation_name::text AS whole,
			pg_catalog."substring"(c.relname::text, '_cc(?:new|old)[0-9]*$') AS suffix) s
	CROSS JOIN LATERAL (
		SELECT pg_catalog."left"(c.relname::text,
			-pg_catalog.length(s.suffix)) AS base) b
WHERE j.known_indexes IS NOT NULL
	AND j.state IN ('done', 'failed', 'cancelled')
	AND CASE WHEN i.indexrelid = j.old_index THEN s.suffix ~ 'old'
			ELSE i.indexrelid <> ALL (j.known_indexes) AND s.suffix ~ 'new' END
	AND (b.base = s.whole
		OR pg_catalog.starts_with(s.whole, b.base)
		AND pg_catalog.octet_length(pg_catalog."left"(s.whole,
			pg_catalog.length(b.base) + 1) || s.suffix) >
			pg_catalog.current_setting('max_identifier_length')::int);
COMMENT ON VIEW tablespace_advisor.transient_index IS
	'invalid indexes that a rebuild of this journal left behind and that the next worker drops';

/*
 * The server's own progress report of a running job's worker, which only a
 * superuser may read since the worker is one.  For a rebuild, the work is
 * counted as the bytes that pass: the heap read, the index written, and the
 * heap read again to validate the index.  Nothing here locks a relation: the
 * view must answer also while somebody waits for an exclusive lock on one.
 *
 * SECURITY DEFINER hides current_user, so that session_user is asked; the
 * view below filters by current_user.
 */
CREATE FUNCTION tablespace_advisor.worker_progress(job bigint)
RETURNS TABLE (phase text, bytes_total bigint, bytes_done bigint,
	blocked_by int[])
LANGUAGE sql STABLE STRICT SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT p.phase, w.heap + w.index_size + w.heap,
		CASE
			WHEN p.phase IN ('initializing',
				'waiting for writers before build') THEN 0
			WHEN p.phase = 'building index: scanning table'
				THEN least(p.blocks_done * w.block, w.heap)
			WHEN p.phase = 'building index: sorting live tuples'
				THEN w.heap
			WHEN p.phase = 'building index: loading tuples in tree'
				THEN w.heap + (w.index_size * least(1, p.tuples_done /
					greatest(p.tuples_total, 1)::float8))::bigint
			WHEN p.phase LIKE 'building index%'
				THEN least(p.blocks_done * w.block, w.heap)
			WHEN p.phase = 'index validation: scanning table'
				THEN w.heap + w.index_size
					+ least(p.blocks_done * w.block, w.heap)
			WHEN p.phase IN ('waiting for writers before validation',
				'index validation: scanning index',
				'index validation: sorting tuples')
				THEN w.heap + w.index_size
			ELSE w.heap + w.index_size + w.heap
		END,
		nullif(pg_blocking_pids(a.pid), '{}')
	FROM tablespace_advisor.job j
		JOIN pg_stat_activity a ON a.pid = j.worker_pid
			AND a.backend_type = 'tablespace_advisor move'
		LEFT JOIN pg_stat_progress_create_index p
			ON p.pid = a.pid AND j.method = 'rebuild'
		LEFT JOIN LATERAL (
			SELECT j.heap_bytes AS heap, j.bytes_total AS index_size,
				current_setting('block_size')::bigint AS block) w
			ON p.pid IS NOT NULL
	WHERE j.job_id = job AND j.state = 'running'
		AND (pg_has_role(session_user, j.owner, 'MEMBER')
			OR pg_has_role(session_user, 'pg_read_all_stats', 'MEMBER'))
$$;
COMMENT ON FUNCTION tablespace_advisor.worker_progress(bigint) IS
	'progress of a running job as the server reports it for its worker, in bytes read and written; no row unless the job runs and is the caller''s';

/*
 * The journal's rows, but of a copy under way the figures as they are now.
 */
CREATE VIEW tablespace_advisor.job_now AS
SELECT j.job_id, j.batch_id, j.relation, j.kind, j.schema_name,
	j.relation_name, j.from_tablespace_name, j.to_tablespace_name, j.method,
	j.state, j.error, j.sqlstate, j.detail, j.owner, j.worker_pid, /* bounded in move_progress */
	j.queued_at, j.started_at, j.finished_at, j.wal_bytes, j.indexes,
	j.forecast_saved_ms_per_s, j.database, j.system_identifier,
	j.interruptions, j.interrupted_at, j.blocks_again,
	d.during, CASE WHEN j.state IN ('queued', 'interrupted')
		THEN tablespace_advisor.window_opens(d.during, pg_catalog.clock_timestamp())
		END AS opens_at,
	coalesce(p.phase, j.phase) AS phase,
	coalesce(p.bytes_total, k.total, j.bytes_total) AS bytes_total,
	/* as in report.c: what is to be compared is not done */
	coalesce(CASE WHEN k.total > 0 THEN least(k.done, k.total - k.total / 100) END,
		p.bytes_done, j.bytes_done) AS bytes_done,
	/* an interrupted copy is compared four times as fast as it was made */
	coalesce(p.bytes_left, k.total - k.done + k.done / 4,
		j.bytes_total - j.bytes_done) AS bytes_left,
	coalesce(p.mb_per_s, j.mb_per_s) AS mb_per_s,
	coalesce(p.present_mb_per_s, j.present_mb_per_s) AS present_mb_per_s,
	coalesce(p.rate_reason, j.rate_reason) AS rate_reason,
	coalesce(p.others_lost_percent, j.others_lost_percent)
		AS others_lost_percent,
	coalesce(p.passes, j.passes) AS passes,
	coalesce(p.restarts, j.restarts) AS restarts,
	coalesce(p.attempts, j.attempts) AS attempts,
	CASE WHEN p.bytes_done IS NULL THEN j.blocked_by ELSE p.blocked_by END
		AS blocked_by,
	coalesce(p.paused_ms, j.paused_ms) AS paused_ms,
	coalesce(p.lock_wait_ms, j.lock_wait_ms) AS lock_wait_ms,
	coalesce(p.lock_ms, j.lock_ms) AS lock_ms
FROM tablespace_advisor.job j
	CROSS JOIN LATERAL tablespace_advisor.copy_progress(j.job_id,
		CASE WHEN j.finished_at IS NULL THEN j.progress_handle END) p
	/* what is left of a copy without a worker, or whose worker has just begun */
	LEFT JOIN LATERAL (SELECT m.bytes_done AS done,
			greatest(j.bytes_total, m.bytes_done) AS total
		FROM tablespace_advisor.job_mark m
		WHERE m.job_id = j.job_id AND p.bytes_total IS NULL
			AND j.finished_at IS NULL AND j.old_filenumbers IS NULL
		ORDER BY m.mark_id DESC LIMIT 1) k ON true
	CROSS JOIN LATERAL (SELECT CASE WHEN j.finished_at IS NOT NULL THEN j.during
		ELSE (SELECT l.during FROM tablespace_advisor.job_limits l
			WHERE l.job_id = j.job_id) END AS during) d;
COMMENT ON VIEW tablespace_advisor.job_now IS
	'the journal of moves with the present figures of copies under way, or those of the last mark';

CREATE VIEW tablespace_advisor.move_progress AS
SELECT j.job_id, j.relation::regclass AS relation,
	pg_catalog.format('%I.%I', j.schema_name, j.relation_name)
		AS relation_name,
	j.from_tablespace_name AS from_tablespace,
	j.to_tablespace_name AS to_tablespace,
	j.method, CASE WHEN j.state = 'interrupted' AND j.opens_at IS NOT NULL
		THEN 'paused' ELSE j.state END AS state,
	CASE WHEN j.opens_at IS NOT NULL THEN 'waiting for its time window'
		ELSE coalesce(w.phase, j.phase) END AS phase,
	b.total AS bytes_total, b.done AS bytes_done,
	CASE WHEN j.state = 'done' THEN 100
		WHEN b.total > 0
		THEN pg_catalog.round(100.0 * b.done / b.total, 1)::float8
		END AS percent,
	tablespace_advisor.round_to_three(b.rate) AS mb_per_s,
	CASE WHEN (j.state = 'running' OR j.opens_at IS NOT NULL)
			AND b.present > 0 AND b.done < b.total
			AND coalesce(w.blocked_by, j.blocked_by) IS NULL
		THEN pg_catalog.date_trunc('second', tablespace_advisor.window_end(
			j.during, n.now, pg_catalog.ceil(b.bytes_left
				/ ((coalesce(b.rate, b.present) + b.present) / 2 * 1048576))) - n.now) END AS eta,
	j.passes, j.lock_ms, j.attempts,
	coalesce(w.blocked_by, j.blocked_by) AS blocked_by,
	tablespace_advisor.printable(j.error) AS error, j.owner::regrole AS owner,
	j.queued_at, j.started_at, j.finished_at,
	j.wal_bytes, j.paused_ms,
	CASE WHEN j.kind IN ('r', 'm')
		THEN coalesce(pg_catalog.cardinality(j.indexes), 0) END
		AS with_indexes,
	j.lock_wait_ms, j.forecast_saved_ms_per_s,
	CASE WHEN j.state IN ('running', 'paused') THEN j.worker_pid END AS pid,
	j.sqlstate, tablespace_advisor.printable(j.detail) AS detail, j.batch_id,
	CASE j.state WHEN 'running'
		THEN tablespace_advisor.round_to_three(j.present_mb_per_s) END
		AS present_mb_per_s,
	CASE j.state WHEN 'running' THEN j.rate_reason END AS rate_reason,
	tablespace_advisor.round_to_three(j.others_lost_percent) AS others_lost_percent,
	j.restarts, j.interruptions, j.blocks_again,
	CASE j.state WHEN 'interrupted'
		THEN tablespace_advisor.copy_kept_until(j.interrupted_at, j.during)
		END AS kept_until,
	j.during, j.opens_at
FROM tablespace_advisor.job_now j
	/* OFFSET: one look at the clock for each move */
	CROSS JOIN LATERAL (
		SELECT pg_catalog.clock_timestamp() AS now OFFSET 0) n
	LEFT JOIN LATERAL tablespace_advisor.worker_progress(
		CASE j.state WHEN 'running' THEN j.job_id END) w ON true
	CROSS JOIN LATERAL (
		SELECT coalesce(w.bytes_total, j.bytes_total) AS total,
			coalesce(w.bytes_done, j.bytes_done) AS done,
			coalesce(w.bytes_total - w.bytes_done, j.bytes_left) AS bytes_left,
			r.rate, coalesce(j.present_mb_per_s, r.rate) AS present
		FROM (SELECT coalesce(j.mb_per_s, coalesce(w.bytes_done, j.bytes_done)
				/ 1048576.0::float8 / nullif(extract(epoch FROM
					coalesce(j.finished_at, pg_catalog.clock_timestamp())
					- j.started_at), 0)::float8) AS rate) r) b
WHERE j.database = (SELECT oid FROM pg_catalog.pg_database
		WHERE datname = pg_catalog.current_database())
	AND j.system_identifier =
		(SELECT system_identifier FROM pg_catalog.pg_control_system());
COMMENT ON VIEW tablespace_advisor.move_progress IS
	'moves of all roles, as tablespace_moves shows them: for the C functions, which find it here under any search_path';

CREATE VIEW @extschema@.tablespace_moves WITH (security_barrier) AS
SELECT p.job_id, p.relation, p.relation_name, p.from_tablespace, p.to_tablespace,
	p.method, p.state, p.phase, p.bytes_total, p.bytes_done, p.percent, p.mb_per_s,
	p.eta, p.passes, tablespace_advisor.round_to_three(p.lock_ms) AS lock_ms, p.attempts, p.blocked_by, p.error, p.owner,
	p.queued_at, p.started_at, p.finished_at, p.wal_bytes,
	tablespace_advisor.round_to_three(p.paused_ms) AS paused_ms, p.with_indexes,
	tablespace_advisor.round_to_three(p.lock_wait_ms) AS lock_wait_ms,
	tablespace_advisor.round_to_three(p.forecast_saved_ms_per_s) AS forecast_saved_ms_per_s, p.pid, p.sqlstate,
	/* "Key (...)=(...)": to see moves is no right to see rows */
	CASE WHEN pg_catalog.pg_has_role(p.owner, 'USAGE') THEN p.detail END AS detail,
	p.batch_id, p.present_mb_per_s, p.rate_reason, p.others_lost_percent, p.restarts,
	p.interruptions, p.blocks_again, p.kept_until, p.during, p.opens_at
FROM tablespace_advisor.move_progress p
WHERE pg_catalog.pg_has_role(p.owner, 'USAGE')
	OR pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE');
GRANT SELECT ON @extschema@.tablespace_moves TO PUBLIC;

COMMENT ON VIEW @extschema@.tablespace_moves IS
	'moves queued, under way and ended; a role sees its own, members of pg_read_all_stats see all';
COMMENT ON COLUMN @extschema@.tablespace_moves.relation_name IS
	'schema and name when the move was queued';
COMMENT ON COLUMN @extschema@.tablespace_moves.method IS
	'copy (live block copy), rebuild (REINDEX CONCURRENTLY), lock (ALTER with SET TABLESPACE) or catalog (the same of a partitioned table or index, which has no storage)';
COMMENT ON COLUMN @extschema@.tablespace_moves.state IS
	'queued, running, paused, interrupted (its worker is gone; the next call goes on with it, or by itself if the library is preloaded), done, failed or cancelled';
COMMENT ON COLUMN @extschema@.tablespace_moves.bytes_total IS
	'copy: bytes of the relation, for a table with TOAST and the indexes that move along; a running rebuild: bytes of the index once and of its table twice, since that is read and written';
COMMENT ON COLUMN @extschema@.tablespace_moves.percent IS
	'bytes_done in percent of bytes_total; slower after an interruption, as what is there is compared';
COMMENT ON COLUMN @extschema@.tablespace_moves.mb_per_s IS
	'MB (1048576 bytes) per second: read and written since the start for a rebuild, copied since the start for a copy';
COMMENT ON COLUMN @extschema@.tablespace_moves.eta IS
	'time left, in whole seconds, at a rate halfway between the mean since the start and the present one; includes hours in which its time window is closed; NULL while it waits for other sessions';
COMMENT ON COLUMN @extschema@.tablespace_moves.present_mb_per_s IS
	'MB (1048576 bytes) per second that a running copy has copied lately; NULL for other moves, and while that is not known';
COMMENT ON COLUMN @extschema@.tablespace_moves.rate_reason IS
	'why a running copy is no faster, or that nothing holds it back; NULL for other moves';
COMMENT ON COLUMN @extschema@.tablespace_moves.others_lost_percent IS
	'percent of the others'' possible work (reads, transactions) that was not done because of a copy, as it estimates itself; NULL when that is not known';
COMMENT ON COLUMN @extschema@.tablespace_moves.restarts IS
	'how often a copy began anew, because WAL was removed before it was read, or the relation was rewritten';
COMMENT ON COLUMN @extschema@.tablespace_moves.interruptions IS
	'how often the move was interrupted by the end of its worker or of the server, and gone on with or begun again';
COMMENT ON COLUMN @extschema@.tablespace_moves.blocks_again IS
	'blocks that a copy copied again because of interruptions';
COMMENT ON COLUMN @extschema@.tablespace_moves.kept_until IS
	'when an interrupted move fails and its copy is dropped, see tablespace_advisor.keep_interrupted';
COMMENT ON COLUMN @extschema@.tablespace_moves.during IS
	'daily time window in which the move works, in the time zone log_timezone; NULL: always';
COMMENT ON COLUMN @extschema@.tablespace_moves.opens_at IS
	'when the time window opens that the move waits for; it has no worker meanwhile';
COMMENT ON COLUMN @extschema@.tablespace_moves.lock_ms IS
	'milliseconds that a copy held its exclusive lock';
COMMENT ON COLUMN @extschema@.tablespace_moves.blocked_by IS
	'process ids of the sessions that the move waits for; 0 for a prepared transaction, which the column phase names';
COMMENT ON COLUMN @extschema@.tablespace_moves.wal_bytes IS
	'bytes of write-ahead log that the move has written; NULL until it ends';
COMMENT ON COLUMN @extschema@.tablespace_moves.paused_ms IS
	'milliseconds for which the move was paused, by request or for others'' sake';
COMMENT ON COLUMN @extschema@.tablespace_moves.with_indexes IS
	'number of indexes that move along with a table, in the same cutover; NULL for other relations';
COMMENT ON COLUMN @extschema@.tablespace_moves.lock_wait_ms IS
	'longest time in milliseconds that one request for the exclusive lock stood in the queue, during which others queued behind it';
COMMENT ON COLUMN @extschema@.tablespace_moves.forecast_saved_ms_per_s IS
	'milliseconds of reading per second that advise_placement() expected to save when the move was queued; of a table with the indexes that move along, but not when hot_only was asked for; NULL when nothing was known';

COMMENT ON COLUMN @extschema@.tablespace_moves.pid IS
	'process id of the background worker of a move under way, as in pg_stat_activity and pg_locks';
COMMENT ON COLUMN @extschema@.tablespace_moves.sqlstate IS
	'SQLSTATE of the error that ended the move; TA001: its table was dropped meanwhile';
COMMENT ON COLUMN @extschema@.tablespace_moves.detail IS
	'detail of the error that ended the move; NULL for other roles'' moves, since it may have values of rows';
COMMENT ON COLUMN @extschema@.tablespace_moves.batch_id IS
	'first job_id of those queued with it: by one call, one wave of apply_placement(), or one round of evacuate_tablespace()';

/*
 * A short view of moves under way. A queued job waits for the one before it of
 * its call.
 */
CREATE VIEW @extschema@.tablespace_moves_active WITH (security_barrier) AS
SELECT m.job_id, m.relation_name, m.percent,
	CASE WHEN m.state <> 'paused' AND m.opens_at IS NULL THEN pg_catalog.pg_size_pretty(
		(1048576 * coalesce(m.present_mb_per_s, m.mb_per_s))::numeric) || '/s' END AS rate,
	pg_catalog.justify_interval(pg_catalog.make_interval(
		secs => pg_catalog.ceil(extract(epoch FROM m.eta)::float8))) AS eta,
	CASE
		WHEN m.opens_at IS NOT NULL THEN 'its time window, which opens at '
			|| m.opens_at::timestamptz(0)
		WHEN m.state = 'queued' THEN coalesce('move ' || (
			SELECT pg_catalog.max(b.job_id) FROM tablespace_advisor.move_progress b
			WHERE b.batch_id = m.batch_id AND b.finished_at IS NULL
				AND b.job_id < m.job_id)::text, 'a worker')
		WHEN m.state = 'interrupted' THEN 'interrupted; its copy is kept until '
			|| m.kept_until::timestamptz(0)
		WHEN m.state = 'paused' OR m.blocked_by = '{0}' THEN m.phase
		WHEN m.blocked_by IS NOT NULL THEN 'session '
			|| pg_catalog.array_to_string(m.blocked_by, ', ')
		WHEN m.rate_reason NOT LIKE 'full speed%' THEN m.rate_reason
	END AS waits_for
FROM @extschema@.tablespace_moves m
WHERE m.finished_at IS NULL
ORDER BY m.job_id;
GRANT SELECT ON @extschema@.tablespace_moves_active TO PUBLIC;
COMMENT ON VIEW @extschema@.tablespace_moves_active IS
	'moves that have not ended, in short: percent done, present rate, time left, and the cause that each waits for (sessions by process ID, a pause, the move before it) or why it is no faster; NULL: nothing, it goes at full speed; tablespace_moves has all of it';

CREATE PROCEDURE @extschema@.move_indexes_concurrently(
	target regclass,
	tablespace name DEFAULT NULL,
	indexes regclass[] DEFAULT NULL,
	method text DEFAULT 'auto',
	max_rate text DEFAULT NULL,
	lock_timeout interval DEFAULT '100 ms',
	wait boolean DEFAULT true,
	dry_run boolean DEFAULT false,
	hot_only boolean DEFAULT false,
	min_rate text DEFAULT NULL,
	until timestamptz DEFAULT NULL,
	finish_by timestamptz DEFAULT NULL,
	during text DEFAULT NULL,
	INOUT job_ids bigint[] DEFAULT NULL)
LANGUAGE C AS 'MODULE_PATHNAME', 'tsa_move_indexes_concurrently';
COMMENT ON PROCEDURE @extschema@.move_indexes_concurrently(regclass, name, regclass[],
	text, text, interval, boolean, boolean, boolean, text, timestamptz,
	timestamptz, text, bigint[]) IS
	'moves one index, or the indexes of a table or partitioned table, to another tablespace while they are in use, by live block copy or REINDEX CONCURRENTLY; without tablespace, or with hot_only, those that the advice names, to its tablespace. Errors as of move_table_concurrently(), but 42809 neither table nor index, 0A000 an index that cannot be moved by that method';

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
	min_rate text DEFAULT NULL,
	until timestamptz DEFAULT NULL,
	finish_by timestamptz DEFAULT NULL,
	during text DEFAULT NULL,
	INOUT job_ids bigint[] DEFAULT NULL)
LANGUAGE C AS 'MODULE_PATHNAME', 'tsa_move_table_concurrently';
COMMENT ON PROCEDURE @extschema@.move_table_concurrently(regclass, name, boolean,
	text, text, interval, boolean, boolean, boolean, text, timestamptz,
	timestamptz, text, bigint[]) IS
	'moves a table, materialized view or the partitions of a partitioned table to another tablespace while they are in use, with TOAST, by live block copy; with_indexes: its indexes too, those that live copy applies to in the same cutover, others by rebuild. Errors: 42501 not the owner of the table or no CREATE on the tablespace, 42704 no such tablespace, 22004 nulls, 22023 a bad method, rate or lock_timeout, an empty time window, or pg_global, 22007 another bad time window, 42P01 no such relation, 42809 not a table, 0A000 method rebuild, or a table that live copy cannot move, 55006 it or one of its indexes is being moved, 53100 too little space, 53000 no worker slot is free, 53400 a limit of workers of users, 25006 read-only or a standby, 25001 in a transaction block';

CREATE FUNCTION @extschema@.cancel_move(job_id bigint) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_cancel_move';
COMMENT ON FUNCTION @extschema@.cancel_move(bigint) IS
	'cancels a move: a queued one at once, a running one as soon as its worker notices; false, with a notice, if the move has ended already. Errors: 42704 no such job, 42501 unless it is the caller''s own or the caller is a member of pg_signal_backend';

CREATE FUNCTION @extschema@.retry_move(job_id bigint) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_retry_move';
COMMENT ON FUNCTION @extschema@.retry_move(bigint) IS
	'queues a failed or cancelled move again, with the same options and the caller''s rights, and returns the new job''s id, or NULL if the relation is in that tablespace already; a partitioned index takes those of its partitions that are elsewhere along, a table the indexes that its job was to move along, and the id is the first of these jobs; the move begins when the transaction commits; 42704 when there is no such job, 55000 when it has not failed, 55006 when another move of the table has not ended';

CREATE FUNCTION @extschema@.pause_move(job_id bigint) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_pause_move';
COMMENT ON FUNCTION @extschema@.pause_move(bigint) IS
	'asks a live copy to pause once the transaction commits: within a second or so if it runs, else when it begins; it keeps its copy, and moves queued behind it wait; false, with a notice, if the move has ended or was asked already. Errors: 42704 no such job, 42501 unless it is the caller''s own or the caller is a member of pg_signal_backend, 0A000 for other methods';

CREATE FUNCTION @extschema@.resume_move(job_id bigint) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_resume_move';
COMMENT ON FUNCTION @extschema@.resume_move(bigint) IS
	'withdraws the request of pause_move(); false, with a notice, if there is none or the move has ended. Errors: 42704 no such job, 42501 unless it is the caller''s own or the caller is a member of pg_signal_backend';

CREATE FUNCTION @extschema@.alter_move(
	job_id bigint,
	max_rate text DEFAULT NULL,
	min_rate text DEFAULT NULL,
	finish_by timestamptz DEFAULT NULL,
	lock_timeout interval DEFAULT NULL,
	during text DEFAULT NULL)
RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_alter_move';
COMMENT ON FUNCTION @extschema@.alter_move(bigint, text, text, timestamptz, interval, text) IS
	'changes limits of a queued, waiting or running live copy, within a second or so of the commit; NULL leaves a limit, ''none'' or infinity removes it; false, with a notice, if the move has ended or nothing changes. Errors: 42704 no such job, 42501 unless it is the caller''s own, 22023 for a min_rate over max_rate, a bad lock_timeout or an empty time window, 22007 for another bad one, 0A000 for other methods, unless it is the time window that changes';

CREATE FUNCTION @extschema@.undo_move(job_id bigint) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_undo_move';
COMMENT ON FUNCTION @extschema@.undo_move(bigint) IS
	'queues a move of the relation back to the tablespace where the given move found it, with the same options and the caller''s rights, and returns the new job''s id; the indexes that moved along with a table go back to where each was, unless moved since, by jobs of their own if that was elsewhere; of a partitioned table or index just its own entry goes back, its partitions have jobs of their own; the move begins when the transaction commits; 42704 when there is no such job, 42P01 when the relation is gone, 55000 when the move is not done or the relation is back already, 55006 when another move of the table has not ended';

CREATE FUNCTION @extschema@.wait_for_moves(
	job_ids bigint[],
	timeout interval DEFAULT NULL)
RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_wait_for_moves';
COMMENT ON FUNCTION @extschema@.wait_for_moves(bigint[], interval) IS
	'waits for the given moves to finish, with any outcome; returns true, or false on timeout (NULL: no limit). Errors: 42704 there is no such job, 22004 nulls, 42501 it is neither the caller''s own nor the caller a member of pg_read_all_stats, 40P01 a move waits for the caller''s transaction';
