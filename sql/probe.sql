-- What a probe measures depends on the device; its shape does not.
CREATE EXTENSION IF NOT EXISTS tablespace_advisor;
SET client_min_messages = warning;
DELETE FROM tablespace_advisor.probe_run;

-- the default workloads, in order
CREATE TEMP TABLE probed AS
SELECT * FROM probe_tablespace('pg_default', duration => '90 ms',
							   file_size => '8 MB');
SELECT tablespace, workload, queue_depth, io_size FROM probed
WHERE workload NOT IN ('skip read', 'adjacent read') OR queue_depth <= 1;

-- reads of a bitmap heap scan: at most one more depth, of the random reads'
SELECT workload, count(*) FILTER (WHERE queue_depth > 1) <= 1 AS one_more,
	count(DISTINCT queue_depth) FILTER (WHERE queue_depth > 1
		AND queue_depth NOT IN (2, 4, 8, 16, 32)) AS other_depths
FROM probed WHERE workload IN ('skip read', 'adjacent read')
GROUP BY 1 ORDER BY 1;
SELECT workload, queue_depth
FROM probe_tablespace('pg_default', '60 ms', '8 MB', '{4}',
	'{adjacent read,skip read,sequential read}');

-- every workload, with the depths asked for
SELECT workload, queue_depth, io_size
FROM probe_tablespace('pg_default', '120 ms', '8 MB', '{3,1}',
	'{random read,sequential read,random write,sequential write,mixed,sync write,cached read}');

-- figures agree with each other, as kept: the rows have three digits of each
SELECT r.workload, r.queue_depth
FROM tablespace_advisor.probe_result r
WHERE r.run_id = (SELECT min(run_id) FROM tablespace_advisor.probe_run) AND NOT (samples > 0 AND iops > 0
		   AND abs(mb_per_s - iops * io_size / 1048576) < 0.001 * mb_per_s
		   AND min_us <= mean_us AND mean_us <= max_us
		   AND (samples < 2 OR stddev_us >= 0)
		   AND (p50_us IS NULL OR p50_us BETWEEN min_us AND max_us)
		   AND (p90_us IS NULL OR p90_us BETWEEN p50_us AND max_us)
		   AND (p95_us IS NULL OR p95_us BETWEEN p90_us AND max_us)
		   AND (p99_us IS NULL OR p99_us BETWEEN p95_us AND max_us)
		   AND (mean_low_us IS NULL OR mean_us BETWEEN mean_low_us AND mean_high_us));

-- no percentile that the samples cannot support, no interval from a handful
SELECT workload, queue_depth, samples
FROM probed
WHERE (p50_us IS NULL) <> (samples < 6)
   OR (p90_us IS NULL) <> (samples < 36)
   OR (p95_us IS NULL) <> (samples < 72)
   OR (p99_us IS NULL) <> (samples < 368)
   OR (mean_low_us IS NULL) <> (samples < 10);

-- a limit on I/O requests holds, and the row says so
SET tablespace_advisor.probe_max_iops = 500;
SELECT workload, iops <= 500 AS gentle,
	translate(conditions, E'\n', ' ') LIKE '%limited to 500 I/O per second by tablespace_advisor.probe_max_iops%' AS told
FROM probe_tablespace('pg_default', '100 ms', '8 MB', '{4}', '{random read}');
RESET tablespace_advisor.probe_max_iops;

-- history: what was returned, with its histogram
DELETE FROM tablespace_advisor.probe_run;
CREATE TEMP TABLE again AS
SELECT * FROM probe_tablespace('pg_default', '100 ms', '8 MB', '{1,2}',
							   '{random read,cached read}');
SELECT tablespace, mode, file_size_bytes, duration,
	location = current_setting('data_directory') AS located,
	finished_at > started_at AS timed
FROM tablespace_advisor.probe_run;
SELECT workload, queue_depth, r.samples = a.samples AS same_samples,
	tablespace_advisor.round_to_three(r.mean_us) = a.mean_us AS same_mean,
	(SELECT sum(histogram[i][2]) FROM generate_subscripts(histogram, 1) i) = r.samples AS whole_histogram,
	(SELECT min(histogram[i][1]) FROM generate_subscripts(histogram, 1) i) <= round(1000 * r.min_us) AS low_end
FROM tablespace_advisor.probe_result r JOIN again a USING (workload, queue_depth)
ORDER BY 1, 2;
DELETE FROM tablespace_advisor.probe_run;
SELECT count(*) FROM tablespace_advisor.probe_result;

-- a read-only transaction gets its rows and leaves no history
RESET client_min_messages;
BEGIN READ ONLY;
SELECT workload FROM probe_tablespace('pg_default', '10 ms', '1 MB', '{1}', '{random read}');
COMMIT;
SELECT count(*) FROM tablespace_advisor.probe_run;

-- a tablespace's own relations, read-only; without fsync they may all be yet to be
-- written, and then are left out
SET client_min_messages = warning;
CREATE TABLE probe_own AS
SELECT repeat(md5(i::text), 20) AS filler FROM generate_series(1, 4000) i;
CHECKPOINT;
SELECT workload, queue_depth, samples > 0 OR current_setting('fsync') = 'off' AS measured
FROM probe_tablespace('pg_default', '60 ms', queue_depths => '{1,4}', mode => 'existing')
WHERE workload <> 'skip read' OR queue_depth <= 1;
DROP TABLE probe_own;

-- the tablespace of the shared catalogs has its temporary files elsewhere
SELECT tablespace, workload
FROM probe_tablespace('pg_global', '10 ms', '1 MB', '{1}', '{random read}');

-- a tablespace inside the data directory
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE probe_in_place LOCATION '';
SELECT tablespace, workload
FROM probe_tablespace('probe_in_place', '10 ms', '1 MB', '{1}', '{random read}');
SELECT DISTINCT tablespace, location LIKE 'pg_tblspc/%' AS in_place
FROM tablespace_advisor.probe_run WHERE tablespace = 'probe_in_place';

-- nothing is left behind: the tablespace is empty
SELECT count(*) FROM pg_ls_tmpdir((SELECT oid FROM pg_tablespace WHERE spcname = 'probe_in_place'));
SELECT count(*) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%';
DROP TABLESPACE probe_in_place;

-- the session's own temporary tablespaces are as before
CREATE TABLESPACE probe_in_place LOCATION '';
BEGIN;
SET LOCAL temp_tablespaces = 'probe_in_place';
SELECT workload FROM probe_tablespace('pg_default', '10 ms', '1 MB', '{1}', '{random read}');
CREATE TEMP TABLE probe_temp (i int) ON COMMIT DROP;
SELECT spcname FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
WHERE c.oid = 'probe_temp'::regclass;
COMMIT;
DROP TABLESPACE probe_in_place;
DELETE FROM tablespace_advisor.probe_run;
