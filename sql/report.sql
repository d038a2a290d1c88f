-- what is missing, and what is under way, in short
SET client_min_messages = warning;
CREATE TABLE reported (a int);
SELECT string_agg(subject, ', ' ORDER BY subject) AS subjects
FROM tablespace_advisor_health() WHERE subject !~ '^(probe|device) of|^waits$|^statements$';
-- a tablespace that nothing is in yet
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_report_empty LOCATION '';
SELECT count(h.subject) = count(*) FILTER (WHERE d.volatile IS NOT TRUE) AS is_named
FROM tablespace_devices() d
LEFT JOIN tablespace_advisor_health() h ON h.subject = 'probe of regress_report_empty' AND NOT h.ok
WHERE d.tablespace = 'regress_report_empty';
DROP TABLESPACE regress_report_empty;
-- each finding that is not fine has a statement, but for devices and failed hardware
SELECT subject FROM tablespace_advisor_health()
WHERE (NOT ok AND statement IS NULL AND subject !~ '^device') OR (ok AND statement IS NOT NULL) OR message IS NULL OR ok IS NULL;
BEGIN;
DELETE FROM tablespace_advisor.sample;
SET LOCAL tablespace_advisor.track_waits = off;
SET LOCAL track_io_timing = off;
SELECT subject, ok, message, statement FROM tablespace_advisor_health() WHERE subject IN ('samples', 'timing');
SET LOCAL track_io_timing = on;
INSERT INTO tablespace_advisor.sample (taken_at, was_reset, io_timed, blocks_read, blocks_hit, read_ms, write_ms, snapshots, reading_snapshots, reading_sessions, waits)
SELECT clock_timestamp() - age, false, true, 0, 0, 0, 0, 0, 0, 0, '{}' FROM unnest('{10 min, 3 min 10 s}'::interval[]) age;
SELECT subject, ok, message, statement FROM tablespace_advisor_health() WHERE subject IN ('samples', 'timing');
UPDATE tablespace_advisor.sample SET taken_at = taken_at - interval '2 h';
SELECT subject, ok, message, statement FROM tablespace_advisor_health() WHERE subject = 'samples';
-- a probe that was disturbed, one that is old, one that is good
DELETE FROM tablespace_advisor.probe_run;
SELECT subject, ok, message, statement FROM tablespace_advisor_health() WHERE subject = 'probe of pg_default';
INSERT INTO tablespace_advisor.probe_run (run_id, tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
	OVERRIDING SYSTEM VALUE
SELECT n, 'pg_default', '', 'scratch', 268435456, '3 s', clock_timestamp() - age, clock_timestamp() - age
FROM unnest('{100 days, 95 days, 2 days}'::interval[]) WITH ORDINALITY a (age, n);
INSERT INTO tablespace_advisor.probe_result (run_id, workload, queue_depth, io_size, samples, iops, mean_us, caveat)
VALUES (1, 'random read', 1, current_setting('block_size')::int, 100, 1000, 1000, 'the device was busy');
SELECT subject, ok, message, statement FROM tablespace_advisor_health() WHERE subject = 'probe of pg_default';
INSERT INTO tablespace_advisor.probe_result (run_id, workload, queue_depth, io_size, samples, iops, mean_us)
VALUES (2, 'random read', 1, current_setting('block_size')::int, 100, 1000, 1000);
SELECT subject, ok, message, statement IS NOT NULL AS has_statement FROM tablespace_advisor_health() WHERE subject = 'probe of pg_default';
INSERT INTO tablespace_advisor.probe_result (run_id, workload, queue_depth, io_size, samples, iops, mean_us)
VALUES (3, 'random read', 1, current_setting('block_size')::int, 100, 1000, 1000);
SELECT subject, ok, message, statement FROM tablespace_advisor_health() WHERE subject = 'probe of pg_default';
-- moves: one failed, with its files, one that waits for it, one that is under way
DELETE FROM tablespace_advisor.job;
INSERT INTO tablespace_advisor.job (job_id, batch_id, relation, heap, kind, schema_name,
	relation_name, from_tablespace, from_tablespace_name, to_tablespace,
	to_tablespace_name, method_wanted, method, state, phase, bytes_total, bytes_done, lock_timeout_ms,
	owner, system_identifier, database, new_filenumbers, finished_at, blocked_by, present_mb_per_s, rate_reason)
OVERRIDING SYSTEM VALUE
SELECT v.id, 11, v.id + 4000000000, v.id + 4000000000, 'r', 'public', 'Table ' || v.id, 1663, 'pg_default', 1663, 'pg_default',
	'auto', 'copy', v.state, v.phase, 100 * 1048576, v.done * 1048576, 100, 10, c.system_identifier, d.oid, v.files,
	clock_timestamp() - v.ended, v.blocked_by, 2.5, v.rate_reason
FROM (VALUES (11, 'failed', NULL, 10, '{4000000001}'::oid[], '2 hours'::interval, NULL::int[], NULL),
		(12, 'running', 'copying', 50, NULL, NULL, NULL, 'the device is busy'),
		(13, 'running', 'waiting for lock', 100, NULL, NULL, '{123, 456}', NULL),
		(14, 'running', 'waiting for prepared transaction x', 100, NULL, NULL, '{0}', NULL),
		(15, 'paused', 'paused: a standby''s replay is behind', 20, NULL, NULL, NULL, NULL),
		(16, 'queued', NULL, 0, NULL, NULL, NULL, NULL)) v (id, state, phase, done, files, ended, blocked_by, rate_reason),
	pg_control_system() c, pg_database d
WHERE d.datname = current_database();
SELECT subject, ok, message, statement FROM tablespace_advisor_health() WHERE subject IN ('moves', 'files');
SELECT * FROM tablespace_moves_active ORDER BY job_id;
UPDATE tablespace_advisor.job SET mb_per_s = 1234.5678, present_mb_per_s = 2.4691357 WHERE job_id = 12;
SELECT mb_per_s, present_mb_per_s FROM tablespace_moves WHERE job_id = 12;
ROLLBACK;
-- who may
CREATE ROLE regress_report_monitor IN ROLE pg_monitor;
CREATE ROLE regress_report_nobody;
SET ROLE regress_report_monitor;
SELECT count(*) > 5 FROM tablespace_advisor_health();
RESET ROLE;
BEGIN;
DELETE FROM tablespace_advisor.probe_run;
SELECT message, statement FROM tablespace_advisor_health() WHERE subject = 'probe of pg_default';
SET LOCAL ROLE regress_report_monitor;
SELECT message, statement FROM tablespace_advisor_health() WHERE subject = 'probe of pg_default';
ROLLBACK;
SET ROLE regress_report_nobody;
SELECT count(*) FROM tablespace_moves_active;
SELECT * FROM tablespace_advisor_health();
RESET ROLE;
DROP TABLE reported;
DROP ROLE regress_report_monitor, regress_report_nobody;
