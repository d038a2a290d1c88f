/* releases/tablespace_advisor--0.1--0.2.sql */

\echo Use "ALTER EXTENSION tablespace_advisor UPDATE TO '0.2'" to load this file. \quit

/* Nothing but the server's own is found by an unqualified name. */
SET LOCAL search_path = pg_catalog, pg_temp;

ALTER TABLE tablespace_advisor.job
	ADD COLUMN wal_bytes bigint,
	ADD COLUMN paused_ms float8 NOT NULL DEFAULT 0;

/* A row of its own, see the head of manners.c. */
CREATE TABLE tablespace_advisor.pause (
	job_id bigint PRIMARY KEY
		REFERENCES tablespace_advisor.job ON DELETE CASCADE,
	requested_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
REVOKE ALL ON tablespace_advisor.pause FROM PUBLIC;
COMMENT ON TABLE tablespace_advisor.pause IS
	'moves that somebody has asked to pause and not to resume; without meaning when the move has ended';

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
	j.wal_bytes, j.paused_ms
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
COMMENT ON COLUMN @extschema@.tablespace_moves.blocked_by IS
	'process ids of the sessions that the move waits for; 0 for a prepared transaction, which the column phase names';
COMMENT ON COLUMN @extschema@.tablespace_moves.wal_bytes IS
	'bytes of write-ahead log that the move has written; NULL until it ends';
COMMENT ON COLUMN @extschema@.tablespace_moves.paused_ms IS
	'milliseconds for which the move was paused, by request or for others'' sake';

CREATE FUNCTION @extschema@.pause_move(job_id bigint) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_pause_move';
COMMENT ON FUNCTION @extschema@.pause_move(bigint) IS
	'asks a live copy to pause, once the transaction commits: within a second or so if it runs, when it begins if it is queued; it keeps what it has copied, and moves queued behind it wait; false when the move has ended or was asked already; 42704 when there is no such job, 42501 unless it is the caller''s own or the caller is a member of pg_signal_backend, 0A000 for other methods';

CREATE FUNCTION @extschema@.resume_move(job_id bigint) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_resume_move';
COMMENT ON FUNCTION @extschema@.resume_move(bigint) IS
	'withdraws what pause_move() has asked for; false when there is nothing to withdraw or the move has ended; 42704 when there is no such job, 42501 unless it is the caller''s own or the caller is a member of pg_signal_backend';

CREATE FUNCTION @extschema@.undo_move(job_id bigint) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_undo_move';
COMMENT ON FUNCTION @extschema@.undo_move(bigint) IS
	'queues a move of the relation back to the tablespace where the given move found it, with the same options and the caller''s rights, and returns the new job''s id; the move begins when the transaction commits; 42704 when there is no such job, 42P01 when the relation is gone, 55000 when the move is not done or the relation is back already';
