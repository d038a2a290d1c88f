/*
 * src/sample/device_io.sql
 *
 * Measuring without a probe: the load of the devices under the tablespaces between
 * two moments, by the kernel's own counters.  Their mean read time is the present
 * time of the application's reads, however busy the device is, as long as the reads
 * are single pages; nobody is disturbed by it.
 *
 * A probe's requests are nobody's load, and would be most of it on a quiet
 * device, so that intervals in which one ran are left out.  A device is known by
 * more than its name (device_counters.c): after a reboot, or with another disk in
 * its place, there is no row, as there is none if a counter fell.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.device_counters(
	tablespace oid,
	OUT device text,
	OUT reads bigint,
	OUT read_bytes bigint,
	OUT read_ms bigint,
	OUT writes bigint,
	OUT write_bytes bigint,
	OUT write_ms bigint,
	OUT busy_ms bigint,
	OUT queue_ms bigint)
LANGUAGE C STRICT VOLATILE
AS 'MODULE_PATHNAME', 'tsa_device_counters';

COMMENT ON FUNCTION tablespace_advisor.device_counters(oid) IS
	'the kernel''s counters of the device under a tablespace, see sampled_device; NULL where the kernel does not say, or several devices are below';

CREATE FUNCTION tablespace_advisor.read_devices()
RETURNS SETOF tablespace_advisor.sampled_device
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT t.oid, clock_timestamp(), c.*
	FROM pg_tablespace t
	CROSS JOIN LATERAL tablespace_advisor.device_counters(t.oid) c
	WHERE t.spcname <> 'pg_global' AND c.device IS NOT NULL
$$;

COMMENT ON FUNCTION tablespace_advisor.read_devices() IS
	'counters of the devices under all tablespaces but pg_global, now';

CREATE FUNCTION tablespace_advisor.device_growth(
	earlier tablespace_advisor.sampled_device,
	later tablespace_advisor.sampled_device)
RETURNS TABLE (
	seconds float8,
	reads bigint,
	read_bytes bigint,
	read_ms bigint,
	writes bigint,
	write_bytes bigint,
	write_ms bigint,
	busy_ms bigint,
	queue_ms bigint)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT g.*
	FROM (SELECT extract(epoch FROM later.read_at - earlier.read_at)::float8,
			later.reads - earlier.reads, later.read_bytes - earlier.read_bytes,
			later.read_ms - earlier.read_ms, later.writes - earlier.writes,
			later.write_bytes - earlier.write_bytes,
			later.write_ms - earlier.write_ms, later.busy_ms - earlier.busy_ms,
			later.queue_ms - earlier.queue_ms)
		g (seconds, reads, read_bytes, read_ms, writes, write_bytes, write_ms,
			busy_ms, queue_ms)
	WHERE earlier.tablespace = later.tablespace AND earlier.device = later.device
		AND g.seconds > 0 AND least(g.reads, g.read_bytes, g.read_ms, g.writes,
			g.write_bytes, g.write_ms, g.busy_ms, g.queue_ms) >= 0
$$;

COMMENT ON FUNCTION tablespace_advisor.device_growth(tablespace_advisor.sampled_device, tablespace_advisor.sampled_device) IS
	'the load of a device between two readings; no row if it is another one, or if a counter fell (they wrap around after 2^32 ms, too)';

CREATE FUNCTION tablespace_advisor.add_device_samples(s tablespace_advisor.sample)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH present AS MATERIALIZED (
		SELECT d.* FROM tablespace_advisor.read_devices() d
	), added AS (
		INSERT INTO tablespace_advisor.tablespace_io_sample
			(sample_id, tablespace, measured_at, seconds, reads, read_bytes, read_ms,
				writes, write_bytes, write_ms, busy_ms, queue_ms)
		SELECT s.sample_id, p.tablespace, p.read_at, g.*
		FROM present p
		JOIN tablespace_advisor.sampled_device o ON o.tablespace = p.tablespace
		CROSS JOIN LATERAL tablespace_advisor.device_growth(o, p) g
	), forgotten AS (
		DELETE FROM tablespace_advisor.sampled_device o
		WHERE o.tablespace NOT IN (SELECT p.tablespace FROM present p)
	)
	INSERT INTO tablespace_advisor.sampled_device
	SELECT p.* FROM present p
	ON CONFLICT (tablespace) DO UPDATE
	SET read_at = excluded.read_at, device = excluded.device,
		reads = excluded.reads, read_bytes = excluded.read_bytes,
		read_ms = excluded.read_ms, writes = excluded.writes,
		write_bytes = excluded.write_bytes, write_ms = excluded.write_ms,
		busy_ms = excluded.busy_ms, queue_ms = excluded.queue_ms
$$;

COMMENT ON FUNCTION tablespace_advisor.add_device_samples(tablespace_advisor.sample) IS
	'adds the rows of tablespace_io_sample that belong to a sample just begun, and brings sampled_device up to date';

/* Hours and days have lost such intervals when they were rolled up. */
CREATE VIEW tablespace_advisor.device_interval AS
SELECT i.sample_id, i.tablespace, i.measured_at, i.seconds, i.reads, i.read_bytes,
	i.read_ms, i.writes, i.write_bytes, i.write_ms, i.busy_ms, i.queue_ms
FROM tablespace_advisor.tablespace_io_sample i
JOIN tablespace_advisor.sample s ON s.sample_id = i.sample_id
WHERE s.covers <> 'sample' OR NOT EXISTS
	(SELECT FROM tablespace_advisor.probe_run p
		WHERE p.started_at < i.measured_at
			AND p.finished_at > i.measured_at - make_interval(secs => i.seconds));

COMMENT ON VIEW tablespace_advisor.device_interval IS
	'tablespace_io_sample without intervals in which a probe ran that this database knows of';

CREATE FUNCTION tablespace_advisor.mean_us(ms float8, requests float8)
RETURNS float8
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE WHEN ms > 0 THEN 1000 * ms / nullif(requests, 0) END;
END;

COMMENT ON FUNCTION tablespace_advisor.mean_us(float8, float8) IS
	'microseconds a request took; NULL without requests, or if the device does not count time';

CREATE VIEW @extschema@.tablespace_io AS
SELECT t.spcname AS tablespace, i.measured_at AS sampled_at,
	tablespace_advisor.round_to_three(i.reads / i.seconds) AS reads_per_s,
	tablespace_advisor.round_to_three(i.read_bytes / 1048576.0 / i.seconds) AS read_mb_per_s,
	tablespace_advisor.round_to_three(tablespace_advisor.mean_us(i.read_ms, i.reads)) AS read_us,
	tablespace_advisor.round_to_three(i.writes / i.seconds) AS writes_per_s,
	tablespace_advisor.round_to_three(i.write_bytes / 1048576.0 / i.seconds) AS write_mb_per_s,
	tablespace_advisor.round_to_three(tablespace_advisor.mean_us(i.write_ms, i.writes)) AS write_us,
	least(100, round((i.busy_ms / 10 / i.seconds)::numeric, 1))::float8 AS busy_percent,
	tablespace_advisor.round_to_three(i.queue_ms / 1000 / i.seconds) AS in_flight
FROM tablespace_advisor.device_interval i
JOIN pg_tablespace t ON t.oid = i.tablespace;

COMMENT ON VIEW @extschema@.tablespace_io IS
	'per sample and tablespace the load of the whole disk under it, by everybody, since the sample before, as the kernel counts it: requests and MB (1048576 bytes) per second, microseconds a request took (read_us, write_us; NULL without requests), percent of the time with a request in flight, mean number in flight. Intervals in which a probe of this database ran have no row, nor has the first after a reboot or another device';

CREATE TYPE tablespace_advisor.device_rate AS (
	tablespace oid,
	intervals int,
	seconds float8,
	reads_per_s float8,
	busy_percent float8,
	read_us float8,
	read_low_us float8,
	read_high_us float8,
	reads_in_flight float8,
	all_reads_in_flight float8,
	writes_in_flight float8
);

COMMENT ON TYPE tablespace_advisor.device_rate IS
	'the load of the device under a tablespace in some intervals. read_us: microseconds that a read of about a page took, of intervals in which the mean read was one, with a 95 % interval; reads_in_flight: mean number of such reads under way; NULL with fewer than 30 reads, or if the device counts no time; all_reads_in_flight, writes_in_flight: mean number of reads of any size, and of writes, under way, in all intervals';

/*
 * Where the kernel reads ahead, or somebody reads in bulk, a request is many pages,
 * and its time is not that of a page: such intervals are left out.  The 95 %
 * interval is that of a ratio of sums, from how much it varies from one interval to
 * the next, and not below the effect of chance among so many reads, taken for
 * exponential; of a single interval that is all there is.
 */
CREATE FUNCTION tablespace_advisor.device_rates(
	intervals tablespace_advisor.tablespace_io_sample[])
RETURNS SETOF tablespace_advisor.device_rate
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH part AS (
		SELECT i.*, i.reads > 0 AND i.read_bytes
			<= 2 * current_setting('block_size')::float8 * i.reads AS is_paged
		FROM unnest(intervals) i
	), whole AS (
		SELECT p.tablespace, count(*)::int AS intervals, sum(p.seconds) AS seconds,
			sum(p.reads) / sum(p.seconds) AS reads_per_s,
			sum(p.read_ms) / 1000 / sum(p.seconds) AS reads_in_flight,
			sum(p.write_ms) / 1000 / sum(p.seconds) AS writes_in_flight,
			least(100, sum(p.busy_ms) / 10 / sum(p.seconds)) AS busy_percent,
			count(*) FILTER (WHERE p.is_paged) AS n,
			sum(p.seconds) FILTER (WHERE p.is_paged) AS paged_seconds,
			(sum(p.reads) FILTER (WHERE p.is_paged))::float8 AS reads,
			(sum(p.read_ms) FILTER (WHERE p.is_paged))::float8 AS ms
		FROM part p GROUP BY p.tablespace
	), measured AS (
		SELECT w.*, greatest(2 / sqrt(w.reads),
			CASE WHEN w.n > 1 THEN
				/* of Student's distribution */
				coalesce((ARRAY[12.7, 4.3, 3.2, 2.8, 2.6, 2.4, 2.4, 2.3, 2.3])[w.n - 1], 2)
				* sqrt(w.n / (w.n - 1)::float8 * (SELECT sum(power(
						p.read_ms - w.ms / w.reads * p.reads, 2))
					FROM part p WHERE p.tablespace = w.tablespace AND p.is_paged))
				/ w.ms END) AS error
		FROM whole w WHERE w.reads >= 30 AND w.ms > 0
	)
	SELECT w.tablespace, w.intervals, w.seconds, w.reads_per_s, w.busy_percent,
		1000 * m.ms / m.reads, 1000 * m.ms / m.reads / (1 + m.error),
		1000 * m.ms / m.reads * (1 + m.error), m.ms / 1000 / m.paged_seconds,
		w.reads_in_flight, w.writes_in_flight
	FROM whole w LEFT JOIN measured m USING (tablespace)
$$;

COMMENT ON FUNCTION tablespace_advisor.device_rates(tablespace_advisor.tablespace_io_sample[]) IS
	'the load of devices in these intervals, a row per tablespace';

REVOKE ALL ON @extschema@.tablespace_io FROM PUBLIC;
GRANT SELECT ON @extschema@.tablespace_io, tablespace_advisor.device_interval
	TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.device_counters, tablespace_advisor.read_devices,
	tablespace_advisor.device_growth, tablespace_advisor.device_rates, tablespace_advisor.mean_us
	TO pg_monitor;
