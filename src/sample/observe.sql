/* Copyright (c) 2026, The tablespace_advisor developers */

/*
 * src/sample/observe.sql
 *
 * Rates per relation over a window, from the source at hand: samples, the
 * statistics' totals, or watching for a while.
 */
CREATE TYPE tablespace_advisor.relation_rate AS (
	relation oid,
	heap oid,
	kind text,
	tablespace oid,
	size_bytes bigint,
	reads_per_s float8,
	hits_per_s float8,
	writes_per_s float8,
	scans_per_s float8,
	tuples_per_s float8,
	hot_fraction float8,
	scans_total bigint,
	counted_since timestamptz,
	was_reset boolean,
	system_cached float8,
	maintenance_reads_per_s float8,
	measured boolean,
	waiting_sessions float8,
	scan_reads_per_s float8,
	scan_sessions float8
);

COMMENT ON TYPE tablespace_advisor.relation_rate IS
	'reads and writes of a relation per second over a window. reads, hits: blocks read past shared buffers and found in them, reads without maintenance_reads: VACUUM''s and ANALYZE''s (maintenance.sql), NULL: none ran; writes: row versions written (heap: inserts, updates, deletes; index: inserts and updates that are not HOT, at most; TOAST: its own); scans: scans begun; tuples: rows or index entries read by them; hot_fraction: share of the table''s updates that are HOT, NULL without updates; scans_total: scans since counted_since (NULL: not known); was_reset: its counters began anew within the window; system_cached: share of its reads (where measured: those of the application that do not scan) that the system''s cache served, by the pages it had (at both ends of each sample), NULL: not known; measured: waits were measured in the window; waiting_sessions: the mean number of sessions in which the application waited for reads of it, NULL unless measured; scan_reads_per_s, scan_sessions: the part of sequential scans; where measured, reads are those of the application';

CREATE TYPE tablespace_advisor.observation AS (
	source text,
	window_start timestamptz,
	window_end timestamptz,
	seconds float8,
	intervals int,
	was_reset boolean,
	blocks_read float8,
	blocks_hit float8,
	read_ms float8,
	timed_blocks float8,
	statements float8,
	statements_ms float8,
	profile tablespace_advisor.wait_profile,
	measured_s float8
);

COMMENT ON TYPE tablespace_advisor.observation IS
	'a window and the activity of the whole database in it; see observe_database()';

/* Differences between successive samples, of the database's own counters. */
CREATE VIEW tablespace_advisor.sample_interval AS
SELECT s.sample_id, s.started_at, s.taken_at, s.covers, s.was_reset,
	extract(epoch FROM s.taken_at - s.started_at)::float8 AS seconds,
	s.blocks_read - CASE WHEN s.was_reset OR s.blocks_read < l.blocks_read
		THEN 0 ELSE l.blocks_read END AS blocks_read,
	s.blocks_hit - CASE WHEN s.was_reset OR s.blocks_hit < l.blocks_hit
		THEN 0 ELSE l.blocks_hit END AS blocks_hit,
	CASE WHEN s.io_timed AND l.io_timed THEN
		s.read_ms - CASE WHEN s.was_reset OR s.read_ms < l.read_ms
			THEN 0 ELSE l.read_ms END
	END AS read_ms,
	CASE WHEN s.io_timed AND l.io_timed THEN
		s.write_ms - CASE WHEN s.was_reset OR s.write_ms < l.write_ms
			THEN 0 ELSE l.write_ms END
	END AS write_ms,
	s.statements - CASE WHEN s.statements < l.statements
		OR s.statements_ms < l.statements_ms
		THEN 0 ELSE l.statements END AS statements,
	s.statements_ms - CASE WHEN s.statements < l.statements
		OR s.statements_ms < l.statements_ms
		THEN 0 ELSE l.statements_ms END AS statements_ms,
	s.snapshots, s.reading_snapshots, s.reading_sessions, s.waits,
	s.waits_measured_s
FROM tablespace_advisor.sample s
CROSS JOIN LATERAL
	(SELECT p.* FROM tablespace_advisor.sample p
		WHERE p.sample_id < s.sample_id
		ORDER BY p.sample_id DESC LIMIT 1) l
/* a value put there by somebody need not be a time */
WHERE isfinite(s.taken_at) AND isfinite(s.started_at) IS NOT FALSE;

COMMENT ON VIEW tablespace_advisor.sample_interval IS
	'per sample but the first: activity of the whole database since the one before; columns as in tablespace_advisor.sample. read_ms and write_ms are NULL unless track_io_timing was on';

/*
 * Reads of maintenance are left out of reads_per_s: by intervals without any,
 * if these are a fifth of the window, else by its estimate.  The cached share is
 * that of reads by key, which the device serves one by one, where they are measured:
 * a table is cached while it is loaded or scanned, and may be cold since.  plpgsql,
 * which plans for as many samples as there are: sorting all rows takes longer.
 */
CREATE FUNCTION tablespace_advisor.sum_relation_samples(
	first_id int,
	last_id int,
	window_seconds float8,
	OUT relation oid,
	OUT reads_per_s float8,
	OUT maintenance_reads_per_s float8,
	OUT hits float8,
	OUT scans float8,
	OUT tuples_read float8,
	OUT inserted float8,
	OUT updated float8,
	OUT hot_updated float8,
	OUT deleted float8,
	OUT cached_share float8)
RETURNS SETOF record
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY WITH window_sample AS MATERIALIZED (
		SELECT i.sample_id, i.seconds FROM tablespace_advisor.sample_interval i
		WHERE i.sample_id BETWEEN first_id AND last_id
	), keyed AS MATERIALIZED (
		SELECT w.relation, sum(w.reads::float8 * r.cached_reads / r.reads)
			/ sum(w.reads::float8) AS cached_share
		FROM tablespace_advisor.relation_wait_sample w
		JOIN tablespace_advisor.relation_sample r USING (sample_id, relation)
		WHERE w.sample_id BETWEEN first_id AND last_id AND w.class = 'application'
			AND w.access <> 'sequential' AND w.reads > 0
			AND r.reads > 0 AND r.cached_reads IS NOT NULL
		GROUP BY w.relation
	)
	SELECT c.relation, m.reads_per_s,
		CASE WHEN c.seconds_maintained > 0 THEN greatest(0,
			c.all_reads / nullif(window_seconds, 0) - m.reads_per_s) END,
		c.hits, c.scans, c.tuples_read, c.inserted, c.updated, c.hot_updated,
		c.deleted, coalesce(k.cached_share, c.cached_reads / nullif(c.looked_at, 0))
	FROM (SELECT r.relation,
			sum(r.reads::float8) AS all_reads,
			coalesce(sum(r.reads::float8) FILTER (WHERE r.maintenance_reads IS NULL), 0)
				AS clean_reads,
			sum(r.maintenance_reads::float8) AS maintenance_reads,
			sum(i.seconds) FILTER (WHERE r.maintenance_reads IS NOT NULL) AS seconds_maintained,
			sum(r.hits::float8) AS hits,
			sum(r.scans::float8) AS scans,
			sum(r.tuples_read::float8) AS tuples_read,
			sum(r.inserted::float8) AS inserted,
			sum(r.updated::float8) AS updated,
			sum(r.hot_updated::float8) AS hot_updated,
			sum(r.deleted::float8) AS deleted,
			sum(r.cached_reads::float8) AS cached_reads,
			sum(r.reads::float8) FILTER (WHERE r.cached_reads IS NOT NULL) AS looked_at
		FROM tablespace_advisor.relation_sample r
		JOIN window_sample i ON i.sample_id = r.sample_id
		WHERE r.sample_id BETWEEN first_id AND last_id
		GROUP BY r.relation) c
	CROSS JOIN LATERAL (SELECT CASE
			WHEN c.seconds_maintained IS NULL THEN c.all_reads / nullif(window_seconds, 0)
			WHEN window_seconds - c.seconds_maintained > window_seconds / 5
				THEN c.clean_reads / (window_seconds - c.seconds_maintained)
			ELSE (c.all_reads - c.maintenance_reads) / nullif(window_seconds, 0)
		END AS reads_per_s) m
	LEFT JOIN keyed k ON k.relation = c.relation;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.sum_relation_samples(int, int, float8) IS
	'activity of each relation by the samples of a window: per second, or in all';

/*
 * with_active: also of tables that have changed, of which there are few among
 * many; else of the tables given, or of all.
 */
CREATE FUNCTION tablespace_advisor.observe_samples(
	history interval,
	tables oid[],
	with_active boolean,
	OUT window_of tablespace_advisor.observation,
	OUT relations tablespace_advisor.relation_rate[],
	OUT relation_waits tablespace_advisor.relation_wait[],
	OUT statement_waits tablespace_advisor.statement_wait[])
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
	first_id int;
	last_id int;
	waited record;
BEGIN
	SELECT min(i.sample_id), max(i.sample_id) INTO first_id, last_id
	FROM tablespace_advisor.sample_interval i WHERE i.taken_at > clock_timestamp() - history;
	IF first_id IS NULL THEN
		RETURN;
	END IF;
	SELECT 'samples', min(i.started_at), max(i.taken_at), sum(i.seconds),
		count(*), bool_or(i.was_reset), sum(i.blocks_read), sum(i.blocks_hit),
		sum(i.read_ms), sum(i.blocks_read) FILTER (WHERE i.read_ms IS NOT NULL),
		sum(i.statements), sum(i.statements_ms),
		(sum(i.snapshots), sum(i.reading_snapshots), sum(i.reading_sessions),
			tablespace_advisor.sum_waits(array_agg(i.waits)))
			::tablespace_advisor.wait_profile,
		sum(i.waits_measured_s)
	INTO window_of
	FROM tablespace_advisor.sample_interval i WHERE i.sample_id BETWEEN first_id AND last_id;
	SELECT w.* INTO waited
	FROM tablespace_advisor.sampled_waits(first_id, last_id, window_of.measured_s) w;
	relation_waits := waited.relation_waits;
	statement_waits := waited.statement_waits;
	WITH change AS MATERIALIZED (
		SELECT c.* FROM tablespace_advisor.sum_relation_samples(
			first_id, last_id, window_of.seconds) c
	), present AS (
		SELECT i.* FROM tablespace_advisor.inventory_of(CASE WHEN with_active
			THEN tables || array(SELECT c.relation FROM change c) ELSE tables END) i
	)
	SELECT array_agg((i.relation, i.heap, i.kind, i.tablespace,
		CASE WHEN s.filenode = i.filenode THEN s.size_bytes
			ELSE tablespace_advisor.file_bytes(i.tablespace, i.filenode) END,
		CASE WHEN n.measured THEN coalesce(w.reads_per_s, 0)
			ELSE coalesce(c.reads_per_s, 0) END, coalesce(c.hits, 0) / n.seconds,
		tablespace_advisor.tuples_written(i.kind,
			coalesce(h.inserted, 0), coalesce(h.updated, 0),
			coalesce(h.hot_updated, 0), coalesce(h.deleted, 0)) / n.seconds,
		coalesce(c.scans, 0) / n.seconds, coalesce(c.tuples_read, 0) / n.seconds,
		h.hot_updated / nullif(h.updated, 0),
		coalesce(s.scans, 0), s.counted_since,
		coalesce(s.counted_since > window_of.window_start, false),
		c.cached_share, c.maintenance_reads_per_s, n.measured,
		CASE WHEN n.measured THEN coalesce(w.waiting_sessions, 0) END,
		w.scan_reads_per_s, w.scan_sessions
		)::tablespace_advisor.relation_rate)
	INTO relations
	FROM present i
	LEFT JOIN tablespace_advisor.sampled_relation s ON s.relation = i.relation
	LEFT JOIN change c ON c.relation = i.relation
	LEFT JOIN change h ON h.relation = coalesce(i.indexed, i.relation)
	LEFT JOIN tablespace_advisor.application_waits(relation_waits) w
		ON w.relation = i.relation
	CROSS JOIN (SELECT nullif(window_of.seconds, 0) AS seconds,
		coalesce(window_of.measured_s > 0, false) AS measured) n;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.observe_samples(interval, oid[], boolean) IS
	'activity in a window, and of relations in it, by samples (see observe_database()): from those of the last so long; NULL if there are none';

CREATE FUNCTION tablespace_advisor.tuples_written(
	kind text,
	inserted float8,
	updated float8,
	hot_updated float8,
	deleted float8)
RETURNS float8
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE WHEN kind IN ('heap', 'toast')
		THEN inserted + updated + deleted
		ELSE inserted + updated - hot_updated END;
END;

COMMENT ON FUNCTION tablespace_advisor.tuples_written(text, float8, float8, float8, float8) IS
	'row versions that changes of a table write into it or, at most, into an index on it: an update that is not HOT writes every index, one that is HOT none, a delete none';

/* The counters as they are, of all relations or of some tables. */
CREATE FUNCTION tablespace_advisor.read_counters(tables oid[])
RETURNS tablespace_advisor.relation_counter[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET stats_fetch_consistency = 'cache'
AS $$
BEGIN
	PERFORM pg_stat_clear_snapshot();
	RETURN (SELECT array_agg(c) FROM tablespace_advisor.relation_counter c
		WHERE tables IS NULL OR c.heap = ANY (tables));
END
$$;

COMMENT ON FUNCTION tablespace_advisor.read_counters(oid[]) IS
	'relation_counter as it is now, of all relations or of those of some tables';

/*
 * Rates between two readings.  A counter that fell has begun anew; those of
 * changes of an index are its table's.  OFFSET 0: 20 000 relations take 0.05 s, and
 * 0.08 without, when the planner repeats expressions.
 */
CREATE FUNCTION tablespace_advisor.subtract_counters(
	earlier tablespace_advisor.relation_counter[],
	later tablespace_advisor.relation_counter[],
	seconds float8,
	waits tablespace_advisor.relation_wait[] DEFAULT NULL)
RETURNS tablespace_advisor.relation_rate[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT array_agg((c.relation, c.heap, c.kind, c.tablespace,
		c.size_bytes, CASE WHEN waits IS NOT NULL THEN coalesce(w.reads_per_s, 0)
			ELSE (c.reads - coalesce(c.maintenance_reads, 0)) / n.seconds END,
		c.hits / n.seconds,
		tablespace_advisor.tuples_written(c.kind, c.inserted, c.updated,
			c.hot_updated, c.deleted) / n.seconds,
		c.scans / n.seconds, c.tuples_read / n.seconds,
		c.hot_updated::float8 / nullif(c.updated, 0),
		c.scans_total, (SELECT coalesce(b.stats_reset, b.server_since)
			FROM tablespace_advisor.statistics_start b), c.fell, NULL,
		c.maintenance_reads / n.seconds, waits IS NOT NULL,
		CASE WHEN waits IS NOT NULL THEN coalesce(w.waiting_sessions, 0) END,
		w.scan_reads_per_s, w.scan_sessions
		)::tablespace_advisor.relation_rate)
	FROM (SELECT g.*, CASE WHEN g.vacuums > 0 OR g.analyzes > 0
			THEN tablespace_advisor.estimate_maintenance_reads(g.kind, g.vacuums,
				g.analyzes, g.reads, g.size_bytes, NULL) END AS maintenance_reads
		FROM (SELECT l.relation, l.heap, l.kind, l.tablespace, l.size_bytes,
				l.scans AS scans_total, f.keeps = 0 AS fell,
				greatest(0, l.reads - f.keeps * coalesce(e.reads, 0)
					- tablespace_advisor.blocks_not_read(e.filenode, l.filenode,
						e.size_bytes, l.size_bytes)) AS reads,
				l.hits - f.keeps * coalesce(e.hits, 0) AS hits,
				l.scans - f.keeps * coalesce(e.scans, 0) AS scans,
				l.tuples_read - f.keeps * coalesce(e.tuples_read, 0) AS tuples_read,
				l.inserted - t.keeps * coalesce(e.inserted, 0) AS inserted,
				l.updated - t.keeps * coalesce(e.updated, 0) AS updated,
				l.hot_updated - t.keeps * coalesce(e.hot_updated, 0) AS hot_updated,
				l.deleted - t.keeps * coalesce(e.deleted, 0) AS deleted,
				/* of new relations nothing can be said */
				l.vacuums - f.keeps * e.vacuums AS vacuums,
				l.analyzes - f.keeps * e.analyzes AS analyzes
			FROM unnest(later) l
			LEFT JOIN unnest(earlier) e ON e.relation = l.relation
			CROSS JOIN LATERAL (SELECT (NOT coalesce(l.inserted < e.inserted
				OR l.updated < e.updated OR l.hot_updated < e.hot_updated
				OR l.deleted < e.deleted, false))::int AS keeps OFFSET 0) h
			CROSS JOIN LATERAL (SELECT (NOT (h.keeps = 0 AND l.indexed IS NULL
				OR coalesce(l.reads < e.reads OR l.hits < e.hits OR l.scans < e.scans
					OR l.tuples_read < e.tuples_read, false)))::int AS keeps OFFSET 0) f
			CROSS JOIN LATERAL (SELECT CASE WHEN l.indexed IS NULL THEN f.keeps
				ELSE h.keeps END AS keeps) t
			WHERE l.size_bytes IS NOT NULL OFFSET 0) g OFFSET 0) c
	LEFT JOIN tablespace_advisor.application_waits(waits) w
		ON w.relation = c.relation
	CROSS JOIN (SELECT nullif(subtract_counters.seconds, 0) AS seconds) n
$$;

COMMENT ON FUNCTION tablespace_advisor.subtract_counters(tablespace_advisor.relation_counter[], tablespace_advisor.relation_counter[], float8, tablespace_advisor.relation_wait[]) IS
	'rates between two readings of read_counters(), so many seconds apart; waits: those measured meanwhile, NULL: none';

/*
 * Reading and subtracting take 20 000 relations through two arrays, which is half
 * of the time of their counters; totals need neither.
 */
CREATE FUNCTION tablespace_advisor.total_rates(
	tables oid[],
	seconds float8,
	waits tablespace_advisor.relation_wait[])
RETURNS tablespace_advisor.relation_rate[]
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
SET stats_fetch_consistency = 'cache'
AS $$
	SELECT pg_stat_clear_snapshot();
	SELECT array_agg((c.relation, c.heap, c.kind, c.tablespace, c.size_bytes,
		CASE WHEN waits IS NOT NULL THEN coalesce(w.reads_per_s, 0)
			ELSE greatest(0, c.reads) / n.seconds END, c.hits / n.seconds,
		tablespace_advisor.tuples_written(c.kind, c.inserted, c.updated,
			c.hot_updated, c.deleted) / n.seconds,
		c.scans / n.seconds, c.tuples_read / n.seconds,
		c.hot_updated::float8 / nullif(c.updated, 0), c.scans, n.since, false,
		NULL, NULL, waits IS NOT NULL,
		CASE WHEN waits IS NOT NULL THEN coalesce(w.waiting_sessions, 0) END,
		w.scan_reads_per_s, w.scan_sessions)::tablespace_advisor.relation_rate)
	FROM (SELECT nullif(total_rates.seconds, 0) AS seconds,
			coalesce(b.stats_reset, b.server_since) AS since
		FROM tablespace_advisor.statistics_start b) n
	CROSS JOIN tablespace_advisor.relation_counter c
	LEFT JOIN tablespace_advisor.application_waits(waits) w
		ON w.relation = c.relation
	WHERE c.size_bytes IS NOT NULL AND (tables IS NULL OR c.heap = ANY (tables))
$$;

COMMENT ON FUNCTION tablespace_advisor.total_rates(oid[], float8, tablespace_advisor.relation_wait[]) IS
	'rates since counters began, so many seconds ago, of all relations or of those of some tables, with reads of maintenance; waits: those measured meanwhile, NULL: none';

/* The statistics of the whole database now. */
CREATE FUNCTION tablespace_advisor.read_database()
RETURNS tablespace_advisor.observation
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT ('totals', coalesce(b.stats_reset, b.server_since),
		clock_timestamp(),
		extract(epoch FROM clock_timestamp()
			- coalesce(b.stats_reset, b.server_since)),
		1, b.stats_reset IS NOT NULL, d.blks_read, d.blks_hit,
		CASE WHEN current_setting('track_io_timing')::boolean
			THEN d.blk_read_time END,
		CASE WHEN current_setting('track_io_timing')::boolean
			THEN d.blks_read END,
		NULL, NULL,
		(0, 0, 0, '{}')::tablespace_advisor.wait_profile, NULL
		)::tablespace_advisor.observation
	FROM pg_stat_database d, tablespace_advisor.statistics_start b
	WHERE d.datname = current_database()
$$;

COMMENT ON FUNCTION tablespace_advisor.read_database() IS
	'the window since counters began, with the whole database''s counters';

CREATE FUNCTION tablespace_advisor.watched_seconds(duration interval)
RETURNS float8
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	seconds CONSTANT float8 := extract(epoch FROM duration);
BEGIN
	IF seconds < 0.1 OR seconds > 86400 THEN
		RAISE EXCEPTION 'observe must be between 100 ms and 1 day'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN seconds;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.watched_seconds(interval) IS
	'the seconds of a time to watch for. Errors: 22023 out of range';

CREATE FUNCTION tablespace_advisor.watch_database(
	duration interval,
	tables oid[],
	OUT window_of tablespace_advisor.observation,
	OUT relations tablespace_advisor.relation_rate[],
	OUT devices tablespace_advisor.tablespace_io_sample[],
	OUT relation_waits tablespace_advisor.relation_wait[],
	OUT statement_waits tablespace_advisor.statement_wait[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	seconds CONSTANT float8 := tablespace_advisor.watched_seconds(duration);
	snapshots int;
	waited record;
	before tablespace_advisor.observation;
	counters tablespace_advisor.relation_counter[];
	counters_after tablespace_advisor.relation_counter[];
	devices_before tablespace_advisor.sampled_device[];
	is_measured CONSTANT boolean := tablespace_advisor.waits_are_measured();
	waits_before tablespace_advisor.sampled_wait[];
	statements_before tablespace_advisor.sampled_statement_wait[];
BEGIN
	snapshots := least(greatest(seconds / 0.1, 1), 1000);
	counters := tablespace_advisor.read_counters(tables);
	devices_before := array(SELECT d FROM tablespace_advisor.read_devices() d);
	waits_before := array(SELECT w FROM tablespace_advisor.read_waits() w);
	statements_before := array(SELECT w
		FROM tablespace_advisor.read_statement_waits() w);
	before := tablespace_advisor.read_database();
	window_of.profile := tablespace_advisor.watch_waits(snapshots,
		seconds / snapshots);
	devices := array(SELECT ROW(0, l.tablespace, l.read_at, g.*)
			::tablespace_advisor.tablespace_io_sample
		FROM tablespace_advisor.read_devices() l
		JOIN unnest(devices_before) e ON e.tablespace = l.tablespace
		CROSS JOIN LATERAL tablespace_advisor.device_growth(e, l) g);
	counters_after := tablespace_advisor.read_counters(tables);
	SELECT 'observed', before.window_end, d.window_end,
		extract(epoch FROM d.window_end - before.window_end), 1,
		d.blocks_read < before.blocks_read
			OR d.window_start IS DISTINCT FROM before.window_start,
		greatest(d.blocks_read - before.blocks_read, 0),
		greatest(d.blocks_hit - before.blocks_hit, 0),
		greatest(d.read_ms - before.read_ms, 0),
		greatest(d.timed_blocks - before.timed_blocks, 0),
		NULL, NULL, window_of.profile,
		CASE WHEN is_measured
			THEN extract(epoch FROM d.window_end - before.window_end) END
	INTO window_of
	FROM tablespace_advisor.read_database() d;
	IF is_measured THEN
		SELECT w.* INTO waited FROM tablespace_advisor.waits_since(
			waits_before, statements_before, window_of.seconds) w;
		relation_waits := waited.relation_waits;
		statement_waits := waited.statement_waits;
	END IF;
	relations := tablespace_advisor.subtract_counters(counters,
		counters_after, window_of.seconds, relation_waits);
END
$$;

COMMENT ON FUNCTION tablespace_advisor.watch_database(interval, oid[]) IS
	'activity in a window of so long, beginning now. Errors: 22023 duration out of range';

CREATE FUNCTION tablespace_advisor.observe_database(
	observe interval DEFAULT NULL,
	tables oid[] DEFAULT NULL,
	history interval DEFAULT '1 day',
	with_active boolean DEFAULT false,
	OUT source text,
	OUT window_start timestamptz,
	OUT window_end timestamptz,
	OUT seconds float8,
	OUT intervals int,
	OUT was_reset boolean,
	OUT reads_per_s float8,
	OUT hits_per_s float8,
	OUT read_ms_per_s float8,
	OUT timed_read_us float8,
	OUT snapshots int,
	OUT reading_snapshots int,
	OUT active_sessions float8,
	OUT reading_sessions float8,
	OUT waits jsonb,
	OUT relations tablespace_advisor.relation_rate[],
	OUT devices tablespace_advisor.device_rate[],
	OUT measured_s float8,
	OUT relation_waits tablespace_advisor.relation_wait[],
	OUT statement_waits tablespace_advisor.statement_wait[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	seen record;
	w tablespace_advisor.observation;
BEGIN
	IF observe IS NOT NULL THEN
		SELECT o.* INTO seen
		FROM tablespace_advisor.watch_database(observe,
			CASE WHEN NOT with_active THEN tables END) o;
		devices := array(SELECT d FROM tablespace_advisor.device_rates(seen.devices) d);
	ELSE
		devices := array(SELECT d FROM tablespace_advisor.device_rates(array(
			SELECT ROW(i.*)::tablespace_advisor.tablespace_io_sample
			FROM tablespace_advisor.device_interval i
			WHERE i.measured_at > clock_timestamp() - history)) d);
		SELECT o.* INTO seen
		FROM tablespace_advisor.observe_samples(history, tables, with_active) o;
		IF (seen.window_of).source IS NULL THEN
			SELECT d AS window_of, t.relation_waits, t.statement_waits,
				tablespace_advisor.total_rates(CASE WHEN NOT with_active THEN tables END,
					d.seconds, t.relation_waits) AS relations, t.measured_s
			INTO seen
			FROM tablespace_advisor.read_database() d,
				tablespace_advisor.waits_since_start() t;
			seen.window_of.measured_s := seen.measured_s;
		END IF;
	END IF;
	w := seen.window_of;
	relations := coalesce(seen.relations, '{}');
	SELECT w.source, w.window_start, w.window_end, w.seconds, w.intervals, w.was_reset,
		w.measured_s
	INTO source, window_start, window_end, seconds, intervals, was_reset, measured_s;
	relation_waits := seen.relation_waits;
	statement_waits := seen.statement_waits;
	reads_per_s := w.blocks_read / nullif(w.seconds, 0);
	hits_per_s := w.blocks_hit / nullif(w.seconds, 0);
	timed_read_us := w.read_ms * 1000 / nullif(w.timed_blocks, 0);
	read_ms_per_s := reads_per_s * timed_read_us / 1000;
	snapshots := (w.profile).snapshots;
	reading_snapshots := (w.profile).reading_snapshots;
	reading_sessions := (w.profile).reading_sessions::float8
		/ nullif((w.profile).reading_snapshots, 0);
	SELECT coalesce(jsonb_object_agg(e.key, e.value::float8 / snapshots), '{}'),
		coalesce(sum(e.value::float8), 0) / nullif(snapshots, 0)
	INTO waits, active_sessions
	FROM jsonb_each_text((w.profile).waits) e WHERE snapshots > 0;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.observe_database(interval, oid[], interval, boolean) IS
	'activity of this database and its relations (of the tables given, or all; with_active: at least of those and of tables that did anything) per second: while watched for so long (observe), else by the samples of the last history, else by the totals since counters began; times are NULL without track_io_timing, and waits where none were measured (measured_s: seconds of the window in which they were). Errors: 22023 observe out of range';

CREATE FUNCTION tablespace_advisor.observed_activity(
	observe interval DEFAULT NULL,
	tables oid[] DEFAULT NULL,
	history interval DEFAULT '1 day')
RETURNS TABLE (
	source text,
	window_start timestamptz,
	window_end timestamptz,
	seconds float8,
	relation oid,
	heap oid,
	kind text,
	tablespace oid,
	size_bytes bigint,
	reads_per_s float8,
	hits_per_s float8,
	writes_per_s float8,
	scans_per_s float8,
	tuples_per_s float8,
	hot_fraction float8,
	scans_total bigint,
	counted_since timestamptz,
	was_reset boolean,
	system_cached float8,
	maintenance_reads_per_s float8,
	measured boolean,
	waiting_sessions float8,
	scan_reads_per_s float8,
	scan_sessions float8)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT o.source, o.window_start, o.window_end, o.seconds, r.*
	FROM tablespace_advisor.observe_database(observe, tables, history) o
	CROSS JOIN LATERAL unnest(o.relations) r
$$;

COMMENT ON FUNCTION tablespace_advisor.observed_activity(interval, oid[], interval) IS
	'the relations of observe_database(), one row each; columns as there and in the type relation_rate';

GRANT SELECT ON tablespace_advisor.sample_interval TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.sum_relation_samples, tablespace_advisor.observe_samples,
	tablespace_advisor.tuples_written, tablespace_advisor.read_counters,
	tablespace_advisor.subtract_counters, tablespace_advisor.total_rates,
	tablespace_advisor.read_database,
	tablespace_advisor.watched_seconds, tablespace_advisor.watch_database,
	tablespace_advisor.observe_database, tablespace_advisor.observed_activity TO pg_monitor;
