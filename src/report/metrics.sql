/*
 * src/report/metrics.sql
 *
 * Figures for collectors: one row per tablespace, and per state and target of
 * moves.  Names are stable, units are seconds and bytes, and nothing is looked at
 * but samples, probes and the journal, so that a scrape costs milliseconds however
 * many relations there are.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE VIEW @extschema@.tablespace_metrics AS
WITH last AS MATERIALIZED (
	SELECT s.sample_id, s.taken_at FROM tablespace_advisor.sample s
	ORDER BY s.sample_id DESC LIMIT 1
), growth AS MATERIALIZED (
	SELECT h.tablespace,
		CASE WHEN pg_catalog.cardinality(h.days) >= 8
				AND h.days[pg_catalog.cardinality(h.days)] - h.days[1] >= 1
			THEN 86400 * g.until_zero END AS full_in_seconds
	FROM tablespace_advisor.usage_history() h
	CROSS JOIN LATERAL tablespace_advisor.growth(h.days, h.free) g
)
SELECT pg_catalog.current_database() AS database, t.spcname AS tablespace,
	CASE WHEN EXISTS (SELECT FROM last) THEN coalesce(u.used_bytes, 0) END AS used_bytes,
	coalesce(u.free_bytes, f.free_bytes) AS free_bytes,
	CASE WHEN u.tablespace IS NOT NULL THEN g.full_in_seconds END AS full_in_seconds,
	extract(epoch FROM pg_catalog.clock_timestamp() - (SELECT l.taken_at FROM last l))::float8
		AS sample_age_seconds,
	extract(epoch FROM pg_catalog.clock_timestamp() - p.measured_at)::float8 AS probe_age_seconds,
	p.random_read_us / 1e6::float8 AS probe_random_read_seconds,
	p.sequential_page_us / 1e6::float8 AS probe_sequential_page_seconds,
	d.reads AS device_reads_total,
	d.read_bytes AS device_read_bytes_total,
	d.read_ms / 1e3::float8 AS device_read_seconds_total,
	d.writes AS device_writes_total,
	d.write_bytes AS device_write_bytes_total,
	d.write_ms / 1e3::float8 AS device_write_seconds_total,
	d.busy_ms / 1e3::float8 AS device_busy_seconds_total,
	i.busy_ms / 1e3::float8 / nullif(i.seconds, 0) AS device_busy_ratio
FROM pg_catalog.pg_tablespace t
LEFT JOIN tablespace_advisor.tablespace_sample u ON u.tablespace = t.oid
	AND u.sample_id = (SELECT l.sample_id FROM last l)
LEFT JOIN growth g ON g.tablespace = t.oid
-- one without relations has no sample
LEFT JOIN tablespace_advisor.device f ON f.tablespace = t.spcname AND u.tablespace IS NULL
LEFT JOIN tablespace_advisor.tablespace_latency p ON p.tablespace_oid = t.oid
LEFT JOIN tablespace_advisor.sampled_device d ON d.tablespace = t.oid
LEFT JOIN tablespace_advisor.tablespace_io_sample i ON i.tablespace = t.oid
	AND i.sample_id = (SELECT l.sample_id FROM last l)
WHERE t.spcname <> 'pg_global';
REVOKE ALL ON @extschema@.tablespace_metrics FROM PUBLIC;
GRANT SELECT ON @extschema@.tablespace_metrics TO pg_monitor;
COMMENT ON VIEW @extschema@.tablespace_metrics IS
	'per tablespace, for collectors: used_bytes: of this database''s relations, free_bytes: of the file system, full_in_seconds: at the present pace (forecast_tablespace_usage()), NULL if it does not shrink or the history is too short, all as of the last sample, which is sample_age_seconds old; probe_…: age and times of the last trustworthy probe; device_…_total: counters of the disk under it, for everybody, as of the last sample, which begin anew when the machine starts; device_busy_ratio: share of the time between the last two samples in which the disk had a request. NULL: not known';

CREATE VIEW @extschema@.move_metrics AS
SELECT pg_catalog.current_database() AS database, s.state, j.to_tablespace,
	count(j.job_id) AS moves,
	coalesce(sum(j.bytes_total), 0)::bigint AS bytes,
	coalesce(sum(j.bytes_done), 0)::bigint AS done_bytes,
	coalesce(tablespace_advisor.round_to_three(sum(j.lock_ms) / 1e3), 0)::float8 AS lock_seconds,
	coalesce(tablespace_advisor.round_to_three(max(j.lock_ms) / 1e3), 0)::float8 AS longest_lock_seconds,
	CASE WHEN tablespace_advisor.is_unfinished(s.state) THEN
		coalesce(extract(epoch FROM pg_catalog.clock_timestamp() - min(j.queued_at)), 0) END::float8
		AS oldest_seconds,
	count(j.blocked_by) AS blocked, count(j.opens_at) AS waiting_for_window
FROM tablespace_advisor.move_progress j
CROSS JOIN LATERAL (SELECT CASE j.sqlstate WHEN 'TA001' THEN 'cancelled' ELSE j.state END AS state) s
GROUP BY s.state, j.to_tablespace;
REVOKE ALL ON @extschema@.move_metrics FROM PUBLIC;
GRANT SELECT ON @extschema@.move_metrics TO pg_monitor;
COMMENT ON VIEW @extschema@.move_metrics IS
	'moves of this database by state and target, for collectors, a row for each pair that occurs: how many, their bytes and those done, seconds for which exclusive locks were held (sum and longest), seconds since the oldest that has not ended was queued, how many wait for other sessions, and for their time window (paused or queued); a move counts as cancelled if its table was dropped; of the moves that tablespace_advisor.keep_history still keeps';

/* The counts of samples are never forgotten, so that no counter falls. */
CREATE VIEW @extschema@.wait_metrics AS
SELECT pg_catalog.current_database() AS database, t.class, t.access,
	t.reads AS reads_total,
	pg_catalog.round((t.waited_ms / 1e3::float8)::numeric, 9)::float8 AS waited_seconds_total
FROM tablespace_advisor.wait_total t;
REVOKE ALL ON @extschema@.wait_metrics FROM PUBLIC;
GRANT SELECT ON @extschema@.wait_metrics TO pg_monitor;
COMMENT ON VIEW @extschema@.wait_metrics IS
	'measured reads of this database, for collectors, a row for each class of readers and kind of access that occurred: reads_total: blocks read past shared buffers, waited_seconds_total: seconds that sessions waited for them, both as of the last sample; counters begin with the first sample';
