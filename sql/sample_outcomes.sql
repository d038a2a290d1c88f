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
-- nine reads of ten are of one table, and three in five minutes of another
CREATE TABLE outcome_small (id int);
CREATE TABLE outcome_other (id int);
DELETE FROM tablespace_advisor.sampled_relation;
INSERT INTO tablespace_advisor.relation_sample (sample_id, relation, size_bytes, reads, hits)
SELECT i.sample_id, r.relation, 8192, i.blocks_read * r.share, i.blocks_read * r.share * 3
FROM tablespace_advisor.sample_interval i,
	(VALUES ('outcome'::regclass, 0.9), ('outcome_small', 0.0001)) r(relation, share);

CREATE FUNCTION pg_temp.job(id int, batch int, begins int, ends int, forecast float8,
	state text DEFAULT 'done', moved text DEFAULT 'outcome')
RETURNS void LANGUAGE sql AS $$
	INSERT INTO tablespace_advisor.job (job_id, batch_id, relation, heap, kind,
		schema_name, relation_name, from_tablespace, from_tablespace_name,
		to_tablespace, to_tablespace_name, method_wanted, method, state,
		bytes_total, lock_timeout_ms, owner, system_identifier, database,
		started_at, finished_at, forecast_saved_ms_per_s)
	OVERRIDING SYSTEM VALUE
	SELECT id, batch, moved::regclass, moved::regclass, 'r', 'public',
		moved, 1, 'disk', 2, 'flash', 'auto', 'copy',
		state, 0, 0, 10, 0, 0, pg_temp.at(begins),
		CASE WHEN state <> 'running' THEN pg_temp.at(ends) END, forecast
$$;
CREATE VIEW pg_temp.outcome_of AS
SELECT job_id, batch_id, relation, outcome, forecast_saved_ms_per_s AS forecast,
	batch_forecast_ms_per_s AS batch_forecast, round(batch_saved_ms_per_s) AS batch_saved,
	round(saved_ms_per_s::numeric, 2) AS saved, round(saved_low_ms_per_s::numeric, 2) AS low,
	round(saved_high_ms_per_s::numeric, 2) AS high,
	window_s, samples_before AS before, samples_after AS after, verdict
FROM move_outcomes ORDER BY job_id;
CREATE FUNCTION pg_temp.waits(of_job int) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' | ', outcome, verdict, waits_for) FROM move_outcomes WHERE job_id = of_job $$;
BEGIN;
DELETE FROM tablespace_advisor.job;
-- 500 ms/s become 100.  What is hardly read is judged by its own reads, not by
-- what the other one saved
SELECT FROM pg_temp.job(1, 1, 180, 183, 360);
SELECT FROM pg_temp.job(2, 1, 183, 185, 0.06, moved => 'outcome_small');
SELECT * FROM pg_temp.outcome_of;
\x on
SELECT relation_name, from_tablespace, to_tablespace, finished_at,
	round(batch_saved_low_ms_per_s) AS low, round(batch_saved_high_ms_per_s) AS high,
	round(read_ms_per_s_before) AS read_ms_per_s_before,
	round(read_ms_per_s_after) AS read_ms_per_s_after,
	accesses_per_s_before, round(accesses_per_s_after) AS accesses_per_s_after,
	reads_per_s_before, round(reads_per_s_after) AS reads_per_s_after,
	hit_fraction_before, hit_fraction_after, measured, waits_for
FROM move_outcomes WHERE job_id = 1;
\x off
SAVEPOINT two;
-- forecasts that were wrong, or not made
UPDATE tablespace_advisor.job SET forecast_saved_ms_per_s = 800 WHERE job_id = 1;
SELECT * FROM pg_temp.outcome_of;
UPDATE tablespace_advisor.job SET forecast_saved_ms_per_s = 100 WHERE job_id = 1;
SELECT outcome FROM pg_temp.outcome_of;
UPDATE tablespace_advisor.job SET forecast_saved_ms_per_s = NULL WHERE job_id = 1;
SELECT outcome FROM pg_temp.outcome_of;
ROLLBACK TO two;
-- what samples themselves access is no load
UPDATE tablespace_advisor.sample SET blocks_hit = blocks_hit + 1000000 * greatest(0, sample_id - 36);
SELECT * FROM pg_temp.outcome_of;
ROLLBACK TO two;
-- samples twice a day: six of them
UPDATE tablespace_advisor.sample SET started_at = pg_temp.at(0) + 144 * (started_at - pg_temp.at(0)),
	taken_at = pg_temp.at(0) + 144 * (taken_at - pg_temp.at(0));
UPDATE tablespace_advisor.job SET started_at = pg_temp.at(144 * 180), finished_at = pg_temp.at(144 * 180 + 3),
	forecast_saved_ms_per_s = forecast_saved_ms_per_s / 144;
SELECT job_id, outcome, window_s, before, after FROM pg_temp.outcome_of;
ROLLBACK TO two;
-- two samples after the moves, and then none for more than a day
UPDATE tablespace_advisor.sample SET started_at = started_at - interval '3 days' WHERE sample_id <= 21;
UPDATE tablespace_advisor.sample SET taken_at = taken_at - interval '3 days' WHERE sample_id <= 20;
UPDATE tablespace_advisor.sample SET started_at = started_at + interval '30 hours' WHERE sample_id > 40;
UPDATE tablespace_advisor.sample SET taken_at = taken_at + interval '30 hours' WHERE sample_id > 39;
SELECT job_id, outcome, window_s, before, after FROM pg_temp.outcome_of;
ROLLBACK TO two;
-- a server that does not time reads
UPDATE tablespace_advisor.sample SET io_timed = false;
SELECT job_id, outcome, round(reads_per_s_before) AS reads, batch_saved_ms_per_s, waits_for
FROM move_outcomes WHERE job_id = 1;
ROLLBACK TO two;
-- another call, as a failed one, ends the window: the shorter one counts for both
SELECT FROM pg_temp.job(3, 3, 205, 206, 1, 'failed', 'outcome_other');
SELECT * FROM pg_temp.outcome_of;
ROLLBACK TO two;
-- so does one that has not ended
SELECT FROM pg_temp.job(3, 3, 205, 0, 1, 'running', 'outcome_other');
SELECT * FROM pg_temp.outcome_of;
ROLLBACK TO two;
-- calls between which samples cannot tell are one, also if they overlap
SELECT FROM pg_temp.job(3, 3, 184, 186, NULL, moved => 'outcome_other');
SELECT FROM pg_temp.job(4, 4, 191, 192, 5, moved => 'outcome_other');
SELECT * FROM pg_temp.outcome_of;
ROLLBACK TO two;
-- as are the calls of a round, however far apart
SELECT FROM pg_temp.job(3, 3, 225, 227, 3, moved => 'outcome_other');
SELECT * FROM pg_temp.outcome_of;
INSERT INTO tablespace_advisor.placement_round (batch_id, round_id, is_undo)
VALUES (1, 1, false), (3, 1, false);
SELECT * FROM pg_temp.outcome_of;
-- a call, the round it is of, and what is judged as one; what failed is not judged
SELECT FROM pg_temp.job(4, 4, 230, 231, 5, moved => 'outcome_small');
SELECT FROM pg_temp.job(5, 5, 262, 263, 1, moved => 'outcome_small');
SELECT FROM pg_temp.job(6, 5, 263, 264, 1, 'failed', 'outcome_other');
SELECT job_id, batch_id, round_id, judged_with, round(batch_saved_ms_per_s) AS batch_saved
FROM move_outcomes ORDER BY job_id;
SELECT judged_with, moves, round(1000 * all_saved) AS all_saved
FROM tablespace_advisor.batch_outcomes('2025-01-01') ORDER BY 1;
ROLLBACK TO two;
-- at the end there are no samples yet
SELECT FROM pg_temp.job(3, 3, 296, 297, 3, moved => 'outcome_other');
SELECT * FROM pg_temp.outcome_of WHERE job_id = 3;
-- what an outcome waits for: it says so, or that nothing will bring one
SELECT pg_temp.waits(3) AS at_the_end;
UPDATE tablespace_advisor.job SET started_at = pg_temp.at(291), finished_at = pg_temp.at(294) WHERE job_id = 3;
SELECT pg_temp.waits(3) AS with_one;
UPDATE tablespace_advisor.job SET started_at = pg_temp.at(286), finished_at = pg_temp.at(289) WHERE job_id = 3;
SELECT pg_temp.waits(3) AS with_two;
SELECT FROM pg_temp.job(4, 4, 298, 0, 1, 'running', 'outcome_small');
SELECT pg_temp.waits(3) AS with_one_under_way;
UPDATE tablespace_advisor.job SET state = 'failed', finished_at = NULL WHERE job_id = 3;
SELECT pg_temp.waits(3) AS failed;
ROLLBACK TO two;
SELECT FROM pg_temp.job(3, 3, 5, 8, 3, moved => 'outcome_other');
SELECT pg_temp.waits(3) AS few_before;
SELECT tablespace_advisor.missing_for_outcome('few before',
	jsonb_populate_record(NULL::tablespace_advisor.window_summary, '{"sample_ids": [1, 2, 3]}'),
	jsonb_populate_record(NULL::tablespace_advisor.window_summary, '{"sample_ids": [7]}'), 60) AS few_soon_after;
UPDATE tablespace_advisor.job SET started_at = pg_temp.at(-2) WHERE job_id = 3;
SELECT pg_temp.waits(3) AS none_before;
-- which keeps none from a later one that has some
UPDATE tablespace_advisor.job SET finished_at = pg_temp.at(-1) WHERE job_id = 3;
SELECT FROM pg_temp.job(4, 4, 12, 13, 3, moved => 'outcome_other');
SELECT pg_temp.waits(4) AS later;
ROLLBACK TO two;
SELECT FROM pg_temp.job(3, 3, 202, 203, 3, moved => 'outcome_other');
UPDATE tablespace_advisor.sample SET was_reset = true WHERE sample_id = 35;
SELECT pg_temp.waits(1) AS other_moves;
ROLLBACK TO two;
INSERT INTO tablespace_advisor.sampled_relation
SELECT 'outcome'::regclass, 0, 0, pg_temp.at(191), NULL, 8192, 0, 0, 0, 0, 0, 0, 0, 0;
SELECT pg_temp.waits(1) AS rewritten;
ROLLBACK TO two;
UPDATE tablespace_advisor.sample SET read_ms = read_ms * CASE WHEN sample_id > 36 THEN 30 ELSE 1 END;
SELECT pg_temp.waits(1) AS slower;
-- what is read in bursts goes with another one of its call, not by itself
UPDATE tablespace_advisor.relation_sample SET reads = CASE sample_id WHEN 38 THEN 6000 END
WHERE sample_id > 36 AND relation = 'outcome_small'::regclass;
SELECT pg_temp.waits(2) AS slower_in_bursts;
DELETE FROM tablespace_advisor.job WHERE job_id = 1;
SELECT pg_temp.waits(2) AS bursts_alone;
ROLLBACK TO two;
-- what nobody read in the week before
UPDATE tablespace_advisor.sample SET read_ms = read_ms * CASE WHEN sample_id > 36 THEN 30 ELSE 1 END;
DELETE FROM tablespace_advisor.relation_sample WHERE sample_id <= 36 AND relation = 'outcome_small'::regclass;
UPDATE tablespace_advisor.relation_sample SET reads = 1000 * reads WHERE relation = 'outcome_small'::regclass;
SELECT pg_temp.waits(2) AS not_read_before;
ROLLBACK TO two;
UPDATE tablespace_advisor.job SET method = 'catalog' WHERE job_id = 2;
SELECT pg_temp.waits(2) AS without_blocks;
ROLLBACK TO two;
-- samples in which statistics were reset, or a table vacuumed, do not count
UPDATE tablespace_advisor.sample SET was_reset = true WHERE sample_id = 30;
UPDATE tablespace_advisor.relation_sample SET maintenance_reads = reads / 10
WHERE sample_id BETWEEN 41 AND 42;
SELECT * FROM pg_temp.outcome_of WHERE job_id = 1;
UPDATE tablespace_advisor.relation_sample SET maintenance_reads = reads / 100
WHERE sample_id BETWEEN 41 AND 42;
SELECT before, after FROM pg_temp.outcome_of WHERE job_id = 1;
ROLLBACK TO two;
-- nor does one in which something large was made anew, here of 16 MB
INSERT INTO tablespace_advisor.sampled_relation
SELECT 'outcome_other'::regclass, 0, 0, pg_temp.at(210), NULL, 16777216, 0, 0, 0, 0, 0, 0, 0, 0;
SELECT before, after FROM pg_temp.outcome_of WHERE job_id = 1;
UPDATE tablespace_advisor.sampled_relation SET size_bytes = 8192;
SELECT before, after FROM pg_temp.outcome_of WHERE job_id = 1;
-- and when a moved relation was, the window ends
UPDATE tablespace_advisor.sampled_relation SET relation = 'outcome_small'::regclass;
SELECT job_id, window_s, before, after FROM pg_temp.outcome_of;
ROLLBACK TO two;
-- devices tell relations apart: one is read from a slower place, in the same call
UPDATE tablespace_advisor.sample SET read_ms = read_ms * CASE WHEN sample_id > 36 THEN 10 ELSE 1 END;
UPDATE tablespace_advisor.relation_sample SET reads = reads / 3, hits = hits / 3 WHERE relation = 'outcome'::regclass;
INSERT INTO tablespace_advisor.relation_sample (sample_id, relation, size_bytes, reads, hits)
SELECT sample_id, 'outcome_other'::regclass, 8192, reads, hits
FROM tablespace_advisor.relation_sample WHERE relation = 'outcome'::regclass;
UPDATE tablespace_advisor.job SET relation = 'outcome_other'::regclass, from_tablespace = 2,
	to_tablespace = 3, forecast_saved_ms_per_s = -1 WHERE job_id = 2;
INSERT INTO tablespace_advisor.tablespace_io_sample
SELECT i.sample_id, d.tablespace, i.taken_at, i.seconds, 1000, 8192000, 1000 * d.ms, 0, 0, 0, 0, 0
FROM tablespace_advisor.sample_interval i, (VALUES (1, 5), (2, 1), (3, 50)) d(tablespace, ms);
SELECT * FROM pg_temp.outcome_of;
-- without the counters they share what is left of the read time
DELETE FROM tablespace_advisor.tablespace_io_sample;
SELECT * FROM pg_temp.outcome_of;
ROLLBACK;
SELECT has_table_privilege('pg_monitor', 'move_outcomes', 'SELECT') AS monitor,
	(SELECT bool_or(a.grantee = 0) FROM pg_class c, aclexplode(c.relacl) a
		WHERE c.oid = 'move_outcomes'::regclass) AS everybody;
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_sample;

-- the forecast is written down when a move is queued, also if the caller decided;
-- there is none before the target was probed, nor (0) of what nobody reads
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
-- a move that is repeated keeps it
CALL move_indexes_concurrently('outcome_moved', 'regress_outcome_disk') \gset
UPDATE tablespace_advisor.job SET state = 'failed', forecast_saved_ms_per_s = 12.5,
	to_tablespace = from_tablespace, to_tablespace_name = from_tablespace_name
WHERE job_id = (:'job_ids'::bigint[])[1];
SELECT retry_move((:'job_ids'::bigint[])[1]) AS again \gset
SELECT wait_for_moves(ARRAY[:again]);
SELECT to_tablespace, state, forecast_saved_ms_per_s
FROM tablespace_moves WHERE job_id = :again;
DELETE FROM tablespace_advisor.probe_run WHERE tablespace LIKE 'regress_outcome%';
DROP VIEW pg_temp.outcome_of;
DROP TABLE outcome, outcome_small, outcome_other, outcome_moved;
DROP TABLESPACE regress_outcome_disk;
DROP TABLESPACE regress_outcome_flash;
