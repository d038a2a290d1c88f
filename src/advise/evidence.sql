/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/advise/evidence.sql: the evidence for a row of advice */
CREATE FUNCTION tablespace_advisor.row_evidence(
	d tablespace_advisor.placement_decision,
	load tablespace_advisor.load_fact)
RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT jsonb_strip_nulls(jsonb_build_object(
		'finding', d.finding,
		'window', jsonb_build_object('source', load.source,
			'start', load.window_start, 'end', load.window_end,
			'seconds', load.seconds, 'intervals', load.intervals,
			'was_reset', load.was_reset, 'snapshots', load.snapshots,
			'reading_snapshots', load.reading_snapshots,
			'active_sessions', load.active_sessions,
			'reading_sessions', load.reading_sessions, 'waits', load.waits,
			'timed_read_us', load.timed_read_us, 'standbys', load.standbys,
			'moved_at', load.moved_at, 'other_waits', load.other_waits),
		'activity', jsonb_build_object('reads_per_s', (d.fact).reads_per_s,
			'maintenance_reads_per_s', (d.fact).maintenance_reads_per_s,
			'hits_per_s', (d.fact).hits_per_s, 'writes_per_s', (d.fact).writes_per_s,
			'measured', nullif((d.fact).measured, false), 'waiting_sessions', CASE WHEN (d.fact).measured
				THEN (d.estimate).read_ms_per_s / 1000 END,
			'scan_reads_per_s', (d.fact).scan_reads_per_s, 'scan_sessions', (d.fact).scan_sessions,
			'hot_fraction', (d.fact).hot_fraction, 'tuples_per_scan', (d.fact).tuples_per_scan,
			'scans', (d.fact).scans, 'writes', (d.fact).writes, 'counted_days', (d.fact).counted_days),
		'size', jsonb_build_object('bytes', (d.fact).size_bytes,
			'toast_bytes', nullif((d.fact).toast_bytes, 0),
			'rebuilt_bytes', (d.fact).rebuilt_bytes, 'brin_bytes', (d.fact).brin_bytes,
			'correlation', (d.fact).correlation),
		'index', jsonb_build_object('needed_for', (d.fact).needed_for,
			'duplicate_of', (d.fact).duplicate_of, 'unusable', (d.fact).unusable,
			'expression', nullif((d.fact).expression, '')),
		'from', jsonb_build_object('tablespace', (d.fact).tablespace, 'run_id', (d.source).run_id,
			'random_read_us', (d.source).random_read_us,
			'random_read_low_us', (d.source).random_read_low_us,
			'random_read_high_us', (d.source).random_read_high_us,
			'latency_from', (d.here).latency_from, 'present_read_us', (d.source).present_read_us,
			'present_intervals', (d.source).present_intervals,
			'depth', (d.here).depth, 'probed_us', (d.here).probed_us,
			'own_read_us', nullif((d.estimate).device_us, (d.here).device_us),
			'device_us', (d.here).device_us, 'device_low_us', (d.here).device_low_us,
			'device_high_us', (d.here).device_high_us, 'cached_us', (d.here).cached_us,
			'cache_exponent', (d.here).cache_exponent,
			'cache_correction', (d.here).cache_correction,
			'time_correction', (d.here).time_correction, 'coverage', (d.here).coverage,
			'system_cached', (d.fact).system_cached, 'device_share', (d.estimate).device_share),
		'to', CASE WHEN (d.dest).tablespace IS NOT NULL THEN jsonb_build_object(
			'tablespace', (d.dest).tablespace, 'run_id', (d.dest).run_id, 'latency_from', CASE WHEN (d.dest).random_read_us IS NOT NULL
				THEN coalesce((d.dest).latency_from, 'probe') END,
			'present_read_us', (d.dest).present_read_us,
			'random_read_us', (d.dest).random_read_us,
			'random_read_low_us', (d.dest).random_read_low_us,
			'random_read_high_us', (d.dest).random_read_high_us,
			'depth', (d.estimate).destination_depth, 'device_us', (d.estimate).destination_us,
			'max_reads_per_s', (d.estimate).max_reads_per_s, 'max_writes_per_s', (d.estimate).max_writes_per_s,
			'available_bytes', (d.dest).available_bytes,
			'shares_device', (d.dest).tablespace = ANY ((d.source).shares_device_with),
			'volatile', (d.dest).volatile, 'may_create', (d.dest).may_create) END,
		'estimate', jsonb_build_object('read_ms_per_s', (d.estimate).read_ms_per_s,
			'later_read_ms_per_s', (d.fact).reads_per_s * ((d.estimate).device_share * d.later_us
				+ (1 - (d.estimate).device_share) * (d.here).cached_us) / 1000,
			'table_read_ms_per_s', (d.estimate).table_read_ms_per_s,
			'saved_ms_per_s', (d.estimate).saved_ms_per_s, 'saved_percent', (d.estimate).saved_percent,
			'relief_ms_per_s', nullif((d.estimate).relief_ms_per_s, 0), 'saved_low', (d.estimate).saved_low_ms_per_s, 'saved_high', (d.estimate).saved_high_ms_per_s,
			'writes_per_s', (d.estimate).writes_per_s, 'obstacle', (d.fact).obstacle),
		'move', CASE WHEN (d.dest).tablespace IS NOT NULL THEN jsonb_build_object(
			'bytes', (d.estimate).moved_bytes, 'peak_bytes', (d.fact).size_bytes + (d.estimate).moved_bytes,
			'wal_bytes', round(((d.estimate).moved_bytes * coalesce(load.wal_per_byte, 1))::numeric),
			'seconds', (d.estimate).move_seconds,
			'method', CASE WHEN d.is_bloated THEN 'rebuild' END,
			'measured_bytes_per_s', (d.dest).copy_rates -> (d.fact).tablespace::text) END,
		'choice', CASE WHEN d.action = 'move' THEN jsonb_build_object(
			'bundle', d.bundle, 'makes_room_for', d.makes_room_for,
			'ms_per_s_and_gb', nullif(d.ms_per_s_and_gb, 0)) END))
$$;
COMMENT ON FUNCTION tablespace_advisor.row_evidence(tablespace_advisor.placement_decision, tablespace_advisor.load_fact) IS
	'the grounds of the numbers of one row of advice, as placement_evidence() shows them; unknown values are left out';
