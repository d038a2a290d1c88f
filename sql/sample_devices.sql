-- what devices did between samples
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.tablespace_io_sample;
DELETE FROM tablespace_advisor.sampled_device;

\echo -- the difference of two readings, and what is none
CREATE TABLE reading AS
SELECT n, d.* FROM
	(VALUES (1, '(1663,"2026-01-01 00:00:00+00",vda,1000,8192000,5000,10,4096,7,3000,6000)'),
		(2, '(1663,"2026-01-01 00:01:40+00",vda,3000,24576000,21000,20,8192,9,43000,56000)'),
		(3, '(1663,"2026-01-01 00:02:00+00",vdb,4000,32768000,22000,20,8192,9,44000,57000)'),
		(4, '(1663,"2026-01-01 00:03:00+00",vda,4000,32768000,20000,20,8192,9,44000,57000)'),
		(5, '(1700,"2026-01-01 00:04:00+00",vda,5000,32768000,30000,20,8192,9,44000,57000)'))
		r (n, reading),
	LATERAL (SELECT (r.reading::tablespace_advisor.sampled_device).*) d;
CREATE FUNCTION growth(a int, b int)
RETURNS TABLE (seconds float8, reads bigint, read_bytes bigint, read_ms bigint, writes bigint,
	write_bytes bigint, write_ms bigint, busy_ms bigint, queue_ms bigint)
LANGUAGE sql AS $$
	SELECT g.* FROM (SELECT tablespace, read_at, device, reads, read_bytes, read_ms,
			writes, write_bytes, write_ms, busy_ms, queue_ms FROM reading WHERE n = a) e,
		(SELECT tablespace, read_at, device, reads, read_bytes, read_ms,
			writes, write_bytes, write_ms, busy_ms, queue_ms FROM reading WHERE n = b) l,
		tablespace_advisor.device_growth(ROW(e.*)::tablespace_advisor.sampled_device,
			ROW(l.*)::tablespace_advisor.sampled_device) g
$$;
SELECT * FROM growth(1, 2);
SELECT 'another device' AS case, count(*) FROM growth(2, 3)
UNION ALL SELECT 'a counter fell', count(*) FROM growth(2, 4)
UNION ALL SELECT 'another tablespace', count(*) FROM growth(4, 5)
UNION ALL SELECT 'backwards', count(*) FROM growth(2, 1)
UNION ALL SELECT 'no time', count(*) FROM growth(1, 1);
SELECT tablespace_advisor.mean_us(10, 4), tablespace_advisor.mean_us(0, 4) AS not_timed,
	tablespace_advisor.mean_us(10, 0) AS none;

\echo -- the view: the reading above, one in which a probe ran, one without reads
INSERT INTO tablespace_advisor.sample (sample_id, started_at, taken_at, was_reset,
	io_timed, blocks_read, blocks_hit, read_ms, write_ms,
	snapshots, reading_snapshots, reading_sessions, waits)
OVERRIDING SYSTEM VALUE
SELECT n, at - interval '100 s', at, false, false, 0, 0, 0, 0, 0, 0, 0, '{}'
FROM (SELECT n, now() - interval '2 hours' + n * interval '100 s' AS at
	FROM generate_series(-4, -2) n) g;
INSERT INTO tablespace_advisor.tablespace_io_sample
SELECT s.sample_id, 1663, s.taken_at, 100, g.reads, g.read_bytes, g.read_ms, g.writes,
	g.write_bytes, g.write_ms, g.busy_ms, g.queue_ms
FROM tablespace_advisor.sample s, growth(1, 2) g;
UPDATE tablespace_advisor.tablespace_io_sample SET reads = 0, read_bytes = 0, read_ms = 0
WHERE sample_id = -2;
INSERT INTO tablespace_advisor.probe_run (run_id, tablespace, location, mode,
	file_size_bytes, duration, started_at, finished_at)
OVERRIDING SYSTEM VALUE
SELECT -1, 'regress_no_such', '', 'scratch', 0, '1 s',
	taken_at - interval '20 s', taken_at - interval '10 s'
FROM tablespace_advisor.sample WHERE sample_id = -4;
SELECT i.sample_id, o.reads_per_s, o.read_mb_per_s, o.read_us, o.writes_per_s,
	o.write_mb_per_s, o.write_us, o.busy_percent, o.in_flight
FROM tablespace_io o JOIN tablespace_advisor.tablespace_io_sample i ON i.measured_at = o.sampled_at
WHERE o.tablespace = 'pg_default' ORDER BY 1;

\echo -- rolled up: the same rates, without the interval of the probe
UPDATE tablespace_advisor.sample SET started_at = t.at - interval '100 s', taken_at = t.at
FROM (SELECT n, date_trunc('day', now(), 'UTC') - interval '5 days'
		+ interval '30 min' + n * interval '100 s' AS at
	FROM generate_series(-4, -2) n) t
WHERE t.n = sample_id;
UPDATE tablespace_advisor.tablespace_io_sample i SET measured_at = s.taken_at
FROM tablespace_advisor.sample s WHERE s.sample_id = i.sample_id;
UPDATE tablespace_advisor.probe_run SET started_at = s.taken_at - interval '50 s',
	finished_at = s.taken_at - interval '40 s'
FROM tablespace_advisor.sample s
WHERE s.sample_id = -4 AND run_id = -1;
SELECT tablespace_advisor.roll_up_samples(NULL);
SELECT s.covers, i.sample_id, i.seconds, i.reads, i.writes, i.queue_ms
FROM tablespace_advisor.device_interval i JOIN tablespace_advisor.sample s USING (sample_id);
SELECT tablespace_advisor.roll_up_samples(0);
SELECT count(*) FROM tablespace_advisor.device_interval;

\echo -- a sample reads the counters, if the kernel has any
CALL sample_activity();
SELECT count(*) = (SELECT count(*) FROM tablespace_advisor.sampled_device) AS same
FROM tablespace_advisor.read_devices();
SELECT device_counters IS NULL AS none FROM tablespace_advisor.device_counters(4711);

DELETE FROM tablespace_advisor.probe_run WHERE run_id = -1;
DELETE FROM tablespace_advisor.sample;
DROP FUNCTION growth;
DROP TABLE reading;
