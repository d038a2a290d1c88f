-- what moves were expected to save, beside what samples measured
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_sample;
CREATE TABLE outcome (id int);

-- Samples every 5 minutes for five hours, from 00:00.  Until 03:00 every read
-- takes 5 ms and afterwards 1 ms; from 04:00 the load is double.  A statement
-- makes 30 reads and does 50 ms of other things.
CREATE FUNCTION pg_temp.at(minutes int) RETURNS timestamptz LANGUAGE sql AS
$$ SELECT timestamptz '2026-01-01 00:00+00' + minutes * interval '1 minute' $$;
INSERT INTO tablespace_advisor.sample (sample_id, started_at, taken_at,
	was_reset, io_timed, blocks_read, blocks_hit, read_ms, write_ms,
	statements, statements_ms,
	snapshots, reading_snapshots, reading_sessions, waits)
OVERRIDING SYSTEM VALUE
SELECT n, CASE WHEN n > 0 THEN pg_temp.at(5 * (n - 1)) END, pg_temp.at(5 * n),
	false, true,
	sum(load * 30000) OVER w, sum(load * 90000) OVER w,
	sum(load * 30000 * (ms + (n % 2) * 0.1)) OVER w, 0,
	sum(load * 1000) OVER w, sum(load * 1000 * (50 + 30 * (ms + (n % 2) * 0.1))) OVER w, 0, 0, 0, '{}'
FROM (SELECT n, CASE WHEN n <= 36 THEN 5 ELSE 1 END AS ms,
		CASE WHEN n <= 48 THEN 1 ELSE 2 END AS load
	FROM generate_series(0, 60) n) s
WINDOW w AS (ORDER BY n);
INSERT INTO tablespace_advisor.relation_sample (sample_id, relation, size_bytes, reads, hits)
SELECT sample_id, 'outcome'::regclass, 8192, 3000, CASE WHEN sample_id <= 36 THEN 3000 ELSE 9000 END
FROM tablespace_advisor.sample;

CREATE FUNCTION pg_temp.job(id int, batch int, begins int, ends int, forecast float8,
	state text DEFAULT 'done')
RETURNS void LANGUAGE sql AS $$
	INSERT INTO tablespace_advisor.job (job_id, batch_id, relation, heap, kind,
		schema_name, relation_name, from_tablespace, from_tablespace_name,
		to_tablespace, to_tablespace_name, method_wanted, method, state,
		bytes_total, lock_timeout_ms, owner, system_identifier, database,
		started_at, finished_at, forecast_saved_ms_per_s)
	OVERRIDING SYSTEM VALUE
	SELECT id, batch, 'outcome'::regclass, 'outcome'::regclass, 'r', 'public',
		'outcome', 1663, 'pg_default', 1663, 'pg_default', 'auto', 'copy',
		state, 0, 0, 10, 0, 0, pg_temp.at(begins), pg_temp.at(ends), forecast
$$;
BEGIN;
DELETE FROM tablespace_advisor.job;
-- two of one call: 500 ms/s become 100: 400 are saved
SELECT pg_temp.job(1, 1, 180, 183, 300);
SELECT pg_temp.job(2, 1, 183, 185, 120);
SELECT pg_temp.job(3, 3, 180, 185, 800);
SELECT pg_temp.job(4, 4, 180, 185, 100);
SELECT pg_temp.job(5, 5, 180, 185, NULL);
SELECT pg_temp.job(6, 6, 292, 294, 400);
SELECT pg_temp.job(7, 7, 301, 302, 400);
SELECT pg_temp.job(8, 8, 180, 185, 400, 'failed');
SELECT pg_temp.job(9, 9, 180, 185, 400, 'running');
SELECT job_id, batch_id, relation, outcome, forecast_saved_ms_per_s AS forecast,
	batch_forecast_ms_per_s AS batch_forecast, round(batch_saved_ms_per_s) AS saved,
	round(batch_saved_low) AS low, round(batch_saved_high) AS high,
	window_s, samples_before, samples_after
FROM move_outcomes ORDER BY job_id;
\x on
SELECT relation_name, from_tablespace, to_tablespace, finished_at,
	round(read_ms_per_s_before) AS read_ms_per_s_before,
	round(read_ms_per_s_after) AS read_ms_per_s_after,
	accesses_per_s_before, round(accesses_per_s_after) AS accesses_per_s_after,
	reads_per_s_before, reads_per_s_after, hit_fraction_before, hit_fraction_after,
	round(statement_ms_before) AS statement_ms_before,
	round(statement_ms_after) AS statement_ms_after,
	statement_forecast_saved_ms, round(statement_saved_ms) AS statement_saved_ms,
	round(statement_saved_low) AS statement_saved_low,
	round(statement_saved_high) AS statement_saved_high
FROM move_outcomes WHERE job_id = 1;
\x off
-- statements that were not counted all the time
SAVEPOINT counted;
UPDATE tablespace_advisor.sample SET statements = NULL, statements_ms = NULL WHERE sample_id = 40;
SELECT job_id, outcome, round(statement_ms_before) AS before, statement_ms_after, statement_saved_ms
FROM move_outcomes WHERE job_id = 1;
ROLLBACK TO counted;
-- a server that does not time reads
UPDATE tablespace_advisor.sample SET io_timed = false;
SELECT job_id, outcome, reads_per_s_before, batch_saved_ms_per_s
FROM move_outcomes WHERE job_id = 1;
ROLLBACK;
SELECT has_table_privilege('pg_monitor', 'move_outcomes', 'SELECT') AS monitor,
	(SELECT bool_or(a.grantee = 0) FROM pg_class c, aclexplode(c.relacl) a
		WHERE c.oid = 'move_outcomes'::regclass) AS everybody;
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_sample;

-- the forecast is written down when a move is queued, also if the caller decided;
-- there is none before the target was probed
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_outcome_disk LOCATION '';
CREATE TABLESPACE regress_outcome_flash LOCATION '';
SET client_min_messages = warning;
CREATE TABLE outcome_moved (id int PRIMARY KEY USING INDEX TABLESPACE regress_outcome_disk)
	TABLESPACE regress_outcome_disk;
INSERT INTO outcome_moved SELECT generate_series(1, 1000);
CALL move_indexes_concurrently('outcome_moved', 'regress_outcome_flash') \gset
CALL move_indexes_concurrently('outcome_moved', 'regress_outcome_disk') \gset
WITH run AS (
	INSERT INTO tablespace_advisor.probe_run (tablespace, location, mode,
		file_size_bytes, duration, started_at, finished_at)
	SELECT spcname, pg_tablespace_location(oid), 'scratch', 268435456, '3 s', now(), now()
	FROM pg_tablespace WHERE spcname LIKE 'regress_outcome%'
	RETURNING run_id, tablespace)
INSERT INTO tablespace_advisor.probe_result
	(run_id, workload, queue_depth, io_size, samples, iops, mean_us, mean_low_us, mean_high_us)
SELECT r.run_id, w.workload, 1, 8192, 600, 200, m.us, m.us * 0.99, m.us * 1.01
FROM run r, (VALUES ('random read'), ('sequential read')) w(workload),
	LATERAL (SELECT CASE r.tablespace WHEN 'regress_outcome_disk' THEN 5000 ELSE 100 END AS us) m;
CALL move_indexes_concurrently('outcome_moved', 'regress_outcome_flash') \gset
CALL move_table_concurrently('outcome_moved', 'regress_outcome_flash', with_indexes => true) \gset
SELECT relation_name, to_tablespace, state, forecast_saved_ms_per_s >= 0 AS forecast
FROM tablespace_moves WHERE relation_name LIKE '%outcome_moved%' ORDER BY job_id;
DELETE FROM tablespace_advisor.probe_run WHERE tablespace LIKE 'regress_outcome%';
DROP TABLE outcome, outcome_moved;
DROP TABLESPACE regress_outcome_disk;
DROP TABLESPACE regress_outcome_flash;
