/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/advise/evidence.sql: the evidence for a row of advice */
CREATE FUNCTION tablespace_advisor.window_evidence(load tablespace_advisor.load_fact)
RETURNS jsonb
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT jsonb_build_object('source', load.source,
		'start', load.window_start, 'end', load.window_end,
		'seconds', load.seconds, 'intervals', load.intervals,
		'was_reset', load.was_reset, 'snapshots', load.snapshots,
		'reading_snapshots', load.reading_snapshots,
		'active_sessions', load.active_sessions,
		'reading_sessions', load.reading_sessions, 'waits', load.waits,
		'timed_read_us', load.timed_read_us, 'standbys', load.standbys,
		'moved_at', load.moved_at, 'other_waits', load.other_waits);
END;
COMMENT ON FUNCTION tablespace_advisor.window_evidence(tablespace_advisor.load_fact) IS
	'the window and the activity of sessions in it, from the evidence';

CREATE FUNCTION tablespace_advisor.row_evidence(
	a tablespace_advisor.relation_fact,
	e tablespace_advisor.placement_estimate,
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact,
	here tablespace_advisor.load_estimate,
	load tablespace_advisor.load_fact,
	choice tablespace_advisor.placement_choice,
	place tablespace_advisor.place_load)
RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT jsonb_strip_nulls(jsonb_build_object(
		'finding', choice.finding,
		'window', tablespace_advisor.window_evidence(load),
		'activity', jsonb_build_object('reads_per_s', a.reads_per_s,
			'maintenance_reads_per_s', a.maintenance_reads_per_s,
			'hits_per_s', a.hits_per_s, 'writes_per_s', a.writes_per_s,
			'measured', nullif(a.measured, false), 'waiting_sessions', a.waiting_sessions,
			'scan_reads_per_s', a.scan_reads_per_s, 'scan_sessions', a.scan_sessions,
			'hot_fraction', a.hot_fraction, 'tuples_per_scan', a.tuples_per_scan,
			'scans', a.scans, 'writes', a.writes, 'counted_days', a.counted_days),
		'size', jsonb_build_object('bytes', a.size_bytes,
			'toast_bytes', nullif(a.toast_bytes, 0),
			'rebuilt_bytes', a.rebuilt_bytes, 'brin_bytes', a.brin_bytes,
			'correlation', a.correlation),
		'index', jsonb_build_object('needed_for', a.needed_for,
			'duplicate_of', a.duplicate_of, 'unusable', a.unusable,
			'expression', nullif(a.expression, '')),
		'from', jsonb_build_object('tablespace', a.tablespace, 'run_id', source.run_id,
			'random_read_us', source.random_read_us,
			'random_read_low_us', source.random_read_low_us,
			'random_read_high_us', source.random_read_high_us,
			'latency_from', here.latency_from, 'present_read_us', source.present_read_us,
			'present_intervals', source.present_intervals,
			'depth', here.depth, 'probed_us', here.probed_us,
			'device_us', here.device_us, 'device_low_us', here.device_low_us,
			'device_high_us', here.device_high_us, 'cached_us', here.cached_us,
			'cache_exponent', here.cache_exponent,
			'cache_correction', here.cache_correction,
			'time_correction', here.time_correction, 'coverage', here.coverage,
			'system_cached', a.system_cached, 'device_share', e.device_share),
		'to', CASE WHEN dest.tablespace IS NOT NULL THEN jsonb_build_object(
			'tablespace', dest.tablespace, 'run_id', dest.run_id, 'latency_from', CASE WHEN dest.random_read_us IS NOT NULL
				THEN coalesce(dest.latency_from, 'probe') END,
			'present_read_us', dest.present_read_us,
			'random_read_us', dest.random_read_us,
			'random_read_low_us', dest.random_read_low_us,
			'random_read_high_us', dest.random_read_high_us,
			'depth', e.destination_depth, 'device_us', e.destination_us,
			'max_reads_per_s', e.max_reads_per_s, 'max_writes_per_s', e.max_writes_per_s,
			'available_bytes', dest.available_bytes,
			'shares_device', dest.tablespace = ANY (source.shares_device_with),
			'volatile', dest.volatile, 'may_create', dest.may_create) END,
		'estimate', jsonb_build_object('read_ms_per_s', e.read_ms_per_s,
			'later_read_ms_per_s', a.reads_per_s * (e.device_share * place.later_us
				+ (1 - e.device_share) * here.cached_us) / 1000,
			'table_read_ms_per_s', e.table_read_ms_per_s,
			'saved_ms_per_s', e.saved_ms_per_s, 'saved_percent', e.saved_percent,
			'relief_ms_per_s', nullif(e.relief_ms_per_s, 0), 'saved_low', e.saved_low_ms_per_s, 'saved_high', e.saved_high_ms_per_s,
			'writes_per_s', e.writes_per_s, 'obstacle', a.obstacle),
		'move', CASE WHEN dest.tablespace IS NOT NULL THEN jsonb_build_object(
			'bytes', e.moved_bytes, 'peak_bytes', a.size_bytes + e.moved_bytes,
			'wal_bytes', round((e.moved_bytes * coalesce(load.wal_per_byte, 1))::numeric),
			'seconds', e.move_seconds,
			'method', CASE WHEN tablespace_advisor.is_bloated(a) THEN 'rebuild' END,
			'measured_bytes_per_s', dest.copy_rates -> a.tablespace::text) END,
		'choice', CASE WHEN choice.action = 'move' THEN jsonb_build_object(
			'bundle', choice.bundle, 'makes_room_for', choice.makes_room_for,
			'ms_per_s_and_gb', nullif(choice.ms_per_s_and_gb, 0)) END))
$$;
COMMENT ON FUNCTION tablespace_advisor.row_evidence(tablespace_advisor.relation_fact, tablespace_advisor.placement_estimate, tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact, tablespace_advisor.load_estimate, tablespace_advisor.load_fact, tablespace_advisor.placement_choice, tablespace_advisor.place_load) IS
	'the grounds of the numbers of one row of advice, as placement_evidence() shows them; place: where its advice puts it, after all moves; unknown values are left out';
