/*
 * src/advise/estimate.sql
 *
 * The cost of reading relations where they are, and elsewhere: from facts
 * alone (advice_types.sql), so that it can be tested and replayed on facts
 * written down by hand.  docs/advice.md has the formulas.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.latency_at_depth(depths float8[], latencies_us float8[], depth float8)
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_latency_at_depth';
COMMENT ON FUNCTION tablespace_advisor.latency_at_depth(float8[], float8[], float8) IS
	'mean latency in microseconds with so many requests in flight, from latencies at rising depths: linear between them, in proportion to depth beyond; NULL without any. Errors: 2202E lists of different length, 22023 not rising or not positive';

CREATE FUNCTION tablespace_advisor.depth_at_rate(depths float8[], latencies_us float8[], reads_per_s float8)
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_depth_at_rate';
COMMENT ON FUNCTION tablespace_advisor.depth_at_rate(float8[], float8[], float8) IS
	'smallest number of requests in flight with which a device serves that rate, or the one with which it serves most (Little''s law); NULL without latencies. Errors as of latency_at_depth()';

CREATE FUNCTION tablespace_advisor.depth_in_loop(depths float8[], latencies_us float8[], sessions float8, other_us float8)
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_depth_in_loop';
COMMENT ON FUNCTION tablespace_advisor.depth_in_loop(float8[], float8[], float8, float8) IS
	'requests in flight that a read meets, itself included, if so many sessions do one read after the other with other_us microseconds in between; NULL without latencies. Errors as of latency_at_depth(), and 22023 negative numbers';

CREATE FUNCTION tablespace_advisor.max_read_rate(depths float8[], latencies_us float8[])
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_max_read_rate';
COMMENT ON FUNCTION tablespace_advisor.max_read_rate(float8[], float8[]) IS
	'requests per second that a device serves at most at these depths; 0 without latencies. Errors as of latency_at_depth()';

CREATE FUNCTION tablespace_advisor.cache_exponent(totals float8[], shares float8[], target float8)
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_cache_exponent';
COMMENT ON FUNCTION tablespace_advisor.cache_exponent(float8[], float8[], float8) IS
	'the exponent, 1 to 4, that brings the sum of total * share ^ exponent down to target; 1 or 4 where none does. Errors: 2202E lists of different length, 22023 nulls';

CREATE FUNCTION tablespace_advisor.choose_within(sizes bigint[], "values" float8[], capacity bigint)
RETURNS boolean[]
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_choose_to_fit';
COMMENT ON FUNCTION tablespace_advisor.choose_within(bigint[], float8[], bigint) IS
	'which things to take so that their sizes fit into capacity and their values add up to much. Errors: 2202E lists of different length, 22023 null or negative sizes, 53200 out of memory';

CREATE TYPE tablespace_advisor.load_estimate AS (
	tablespace name,
	device_reads_per_s float8,
	depth float8,
	probed_us float8,
	device_us float8,
	cached_us float8,
	cache_correction float8,
	time_correction float8,
	coverage float8,
	cache_exponent float8,
	latency_from text,
	device_low_us float8,
	device_high_us float8
);
COMMENT ON TYPE tablespace_advisor.load_estimate IS
	'times of a read under the present load. device_reads_per_s: reads that reach the device if the system''s cache serves its pages; depth: requests in flight; probed_us: latency probed at that depth; device_us: the same, corrected by the server''s timing; cached_us: a read that the system''s cache serves; cache_exponent: the exponent of the share of a relation''s pages that the system''s cache does not hold, cache_correction: its factor then, which give the share of reads that reach the device, time_correction: the factor of their latency, so that all agree with the timing (1: no timing); coverage: share of the databases reads that was estimated; latency_from: what probed_us was measured by: probe, counters (of the device, in the window) or timing (of the server); device_low_us, device_high_us: 95 % interval';

/*
 * Without measured waits a block that a scan reads is taken to take the time of a
 * sequential page: read-ahead asks for many at once.
 */
CREATE FUNCTION tablespace_advisor.scanned_part(a tablespace_advisor.relation_fact)
RETURNS float8
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE WHEN a.scan_reads_per_s > 0
		THEN least(1, a.scan_reads_per_s / a.reads_per_s) ELSE 0 END;
END;
COMMENT ON FUNCTION tablespace_advisor.scanned_part(tablespace_advisor.relation_fact) IS
	'the share of a relation''s reads that sequential scans make';

CREATE FUNCTION tablespace_advisor.read_ahead_gain(f tablespace_advisor.tablespace_fact)
RETURNS float8
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT coalesce(1 - least(1, f.sequential_page_us / f.random_read_us), 0);
END;
COMMENT ON FUNCTION tablespace_advisor.read_ahead_gain(tablespace_advisor.tablespace_fact) IS
	'the share of the time of a random read that a block of a sequential scan does not take; 0 where not known';

/*
 * The time of a read now is its time in the window by the device's own
 * counters, where there is no probe or the server timed nothing; with a probe
 * and timing it is the probed latency at the depth that reads meet.
 *
 * The depth a read meets is the number of sessions seen reading while any
 * was.  Five looks give it to about a fifth (the number varies by less than
 * half of itself); without, it is the one with which the device serves the
 * rate, which cannot tell queues of a device that is busy all the time apart.
 */
CREATE FUNCTION tablespace_advisor.present_reads(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact)
RETURNS TABLE (tablespace name, reads float8, device_reads float8, depth float8,
	read_from text, probed_us float8, low float8, high float8, cached_us float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH read AS (
		SELECT f.*, r.reads, r.device_reads,
			r.device_reads * f.random_read_us
				/ nullif(sum(r.device_reads * f.random_read_us) OVER (), 0) AS share
		FROM unnest(tablespaces) f
		LEFT JOIN
			(SELECT r.tablespace, sum(r.reads_per_s) AS reads,
					sum(r.reads_per_s * greatest(0, 1 - coalesce(r.system_cached, 0))
						* (1 - tablespace_advisor.scanned_part(r) * tablespace_advisor.read_ahead_gain(f)))
					AS device_reads
				FROM tablespace_advisor.elements(relations) r
				LEFT JOIN unnest(tablespaces) f ON f.tablespace = r.tablespace
				GROUP BY r.tablespace) r USING (tablespace)
	)
	SELECT q.tablespace, q.reads, q.device_reads, q.depth, q.read_from, CASE q.read_from
			WHEN 'probe' THEN tablespace_advisor.latency_at_depth(
				q.depths, q.depth_read_us, q.depth)
			WHEN 'timing' THEN q.random_read_us
			ELSE q.present_read_us END AS probed_us,
		CASE q.read_from WHEN 'counters' THEN q.present_read_low_us / q.present_read_us
			ELSE q.random_read_low_us / q.random_read_us END AS low,
		CASE q.read_from WHEN 'counters' THEN q.present_read_high_us / q.present_read_us
			ELSE q.random_read_high_us / q.random_read_us END AS high,
		coalesce(q.cached_read_us, CASE WHEN q.latency_from IN ('counters', 'timing')
			THEN min(q.cached_read_us) OVER () END, 0) AS cached_us
	FROM (SELECT read.*,
			CASE WHEN read.random_read_us IS NULL THEN NULL
				WHEN read.present_read_us IS NOT NULL
					AND (read.latency_from = 'counters' OR load.timed_read_us IS NULL)
					THEN 'counters'
				ELSE coalesce(nullif(read.latency_from, 'assumed'), 'probe') END AS read_from,
			CASE WHEN load.reading_snapshots >= 5
				THEN greatest(1, load.reading_sessions * coalesce(read.share, 0))
			ELSE tablespace_advisor.depth_at_rate(read.depths,
				read.depth_read_us, coalesce(read.device_reads, 0)) END AS depth
		FROM read) q
$$;
COMMENT ON FUNCTION tablespace_advisor.present_reads(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact) IS
	'per tablespace its reads per second, those that reach the device, microseconds of one there (probed_us) and from the system''s cache, before the server''s timing corrects them; read_from: see load_estimate.latency_from, low, high: ends of the 95 % interval over probed_us';

/*
 * Where the server timed its reads (track_io_timing), their mean is known to be (1
 * - d) * cached + d * device, d being the share that reaches the device. Less time
 * than estimated means that the cache serves more than the pages it holds would
 * tell, hot pages being likelier to be there; more means that the device is slower
 * than it was when it was probed.  The cache serves more of relations of which it
 * holds much, not of one of which it holds nothing: hence an exponent, and a factor
 * only for the rest left beyond it.
 *
 * Reads of the database that are no relation's here are those of catalogs and of
 * samples, which the system's cache has as a rule.  Other reads, in tablespaces
 * without probe, are taken to take as long as the rest.
 */
CREATE FUNCTION tablespace_advisor.estimate_load(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact)
RETURNS SETOF tablespace_advisor.load_estimate
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH queued AS MATERIALIZED (
		SELECT q.* FROM tablespace_advisor.present_reads($1, $2, $3) q
	), expected AS (
		/* means per read: from the cache alone, from the device */
		SELECT sum(q.reads) AS reads,
			sum(q.reads * q.cached_us) / sum(q.reads) AS all_cached_us,
			sum((q.reads - q.device_reads) * q.cached_us) / sum(q.reads) AS cached_us,
			sum(q.device_reads * q.probed_us) / sum(q.reads) AS device_us,
			sum(q.device_reads * (q.probed_us - q.cached_us)) / sum(q.reads) AS more_us,
			least(1, sum(q.reads) / nullif(load.reads_per_s, 0)) AS coverage
		FROM queued q WHERE q.reads > 0 AND q.probed_us IS NOT NULL
	), whole AS (
		/* the mean that was timed, less the reads that are no relation's */
		SELECT e.*, load.timed_read_us + o.other_reads
			* greatest(0, load.timed_read_us - e.all_cached_us) AS timed_us
		FROM expected e CROSS JOIN
			(SELECT greatest(0, load.reads_per_s / nullif(sum(q.reads), 0) - 1)
				AS other_reads FROM queued q) o
	), less AS (
		/* of each relation its reading time without the system's cache, and
		 * the sum that is left of that */
		SELECT array_agg(r.reads_per_s * (q.probed_us - q.cached_us) * (1
				- tablespace_advisor.scanned_part(r) * tablespace_advisor.read_ahead_gain(f))) AS totals,
			array_agg(greatest(0, 1 - coalesce(r.system_cached, 0))) AS shares,
			min(greatest(0, w.timed_us - w.all_cached_us) * w.reads) AS target
		FROM whole w
		CROSS JOIN tablespace_advisor.elements(relations) r
		JOIN queued q ON q.tablespace = r.tablespace
		JOIN unnest(tablespaces) f ON f.tablespace = r.tablespace
		WHERE w.coverage >= 0.8 AND w.more_us > 0
			AND w.timed_us < w.cached_us + w.device_us
			AND r.reads_per_s > 0 AND q.probed_us > q.cached_us
	), served AS (
		SELECT e.exponent, least(1, l.target / nullif(
				(SELECT sum(s.total * power(s.share, e.exponent))
					FROM unnest(l.totals, l.shares) s (total, share)), 0)) AS correction
		/* OFFSET: once, not for each share */
		FROM less l CROSS JOIN LATERAL (SELECT tablespace_advisor.cache_exponent(
			l.totals, l.shares, l.target) AS exponent OFFSET 0) e
	), corrected AS (
		/* without timing no more sessions wait than there are, by any chance in the looks at them */
		SELECT w.coverage,
			coalesce((SELECT s.exponent FROM served s), 1) AS cache_exponent,
			coalesce((SELECT s.correction FROM served s), 1) AS cache_correction,
			CASE WHEN w.coverage >= 0.8 AND w.device_us > 0
				AND w.timed_us > w.cached_us + w.device_us
				THEN (w.timed_us - w.cached_us) / w.device_us
				WHEN w.timed_us IS NULL AND load.snapshots >= 5 AND w.device_us > 0
				THEN least(1, (load.active_sessions + 3.0 / load.snapshots) * 1e6
					/ w.reads / (w.cached_us + w.device_us))
				ELSE 1 END AS time_correction
		FROM whole w
	)
	SELECT q.tablespace, coalesce(q.device_reads, 0), q.depth, q.probed_us,
		q.probed_us * c.time_correction, q.cached_us,
		c.cache_correction, c.time_correction, c.coverage, c.cache_exponent,
		q.read_from, q.probed_us * c.time_correction * q.low,
		q.probed_us * c.time_correction * q.high
	FROM queued q CROSS JOIN corrected c
$$;
COMMENT ON FUNCTION tablespace_advisor.estimate_load(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact) IS
	'time of a read in each tablespace under the load; the server''s timing corrects it only if relations holds all relations that are read';

/*
 * Where waits were measured, the time that a relation's reads take is known, and
 * how long one takes on average, but neither how many of them reach the device.
 * The latency at the depth that sessions make (they wait for so many reads at
 * once) tells that: a mean below it is taken as reads that the system's cache
 * serves, a mean above it as a device that is slower than when it was probed.
 *
 * A sequential scan waits for blocks that the system did not read ahead in
 * time, once the time is off that it takes to get pages from the system's
 * cache.  It is taken for as many random reads as take as long.  One that
 * waits for a page less than a tenth of the device's time has them from that
 * cache, busy as the machine may be.
 */
CREATE FUNCTION tablespace_advisor.measured_reads(
	a tablespace_advisor.relation_fact,
	device_us float8,
	cached_us float8,
	page_us float8)
RETURNS TABLE (random_us float8, random_reads float8, scan_ms float8)
LANGUAGE sql IMMUTABLE ROWS 1
BEGIN ATOMIC
	SELECT r.us, r.reads * CASE WHEN r.us >= device_us THEN 1
			WHEN device_us > cached_us
				THEN greatest(0, (r.us - cached_us) / (device_us - cached_us))
			ELSE 1 END,
		CASE WHEN 1e6 * a.scan_sessions < 0.1 * page_us * a.scan_reads_per_s THEN 0
			ELSE greatest(0, 1000 * coalesce(a.scan_sessions, 0)
				- 2 * coalesce(a.scan_reads_per_s, 0) * coalesce(cached_us, 0) / 1000) END
	FROM (SELECT p.reads, p.sessions * 1e6 / nullif(p.reads, 0) AS us
		FROM (SELECT greatest(0, a.reads_per_s - coalesce(a.scan_reads_per_s, 0)) AS reads,
				greatest(0, a.waiting_sessions - coalesce(a.scan_sessions, 0)) AS sessions) p) r;
END;
COMMENT ON FUNCTION tablespace_advisor.measured_reads(tablespace_advisor.relation_fact, float8, float8, float8) IS
	'measured reads of a relation that are not of sequential scans: microseconds of one, and how many of them a second reach a device on which one takes device_us, and a page of a scan page_us, the system''s cache cached_us; scan_ms: milliseconds per second that sequential scans wait longer than for the system''s cache';

CREATE FUNCTION tablespace_advisor.measured_load(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[])
RETURNS SETOF tablespace_advisor.load_estimate
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH waiting AS (
		SELECT r.tablespace, sum(r.waiting_sessions) AS sessions
		FROM tablespace_advisor.elements(relations) r GROUP BY r.tablespace
	), here AS MATERIALIZED (
		SELECT q.*, tablespace_advisor.latency_at_depth(
			q.depths, q.depth_read_us, q.depth) AS probed_us
		FROM (SELECT f.*, greatest(1, coalesce(w.sessions, 0)) AS depth,
				coalesce(f.cached_read_us, min(f.cached_read_us) OVER (), 0) AS cached_us
			FROM unnest(tablespaces) f LEFT JOIN waiting w USING (tablespace)) q
	), slower AS (
		SELECT h.tablespace, sum(m.random_us * m.random_reads)
			/ nullif(sum(m.random_reads), 0) AS us
		FROM here h
		JOIN tablespace_advisor.elements(relations) r ON r.tablespace = h.tablespace
		CROSS JOIN LATERAL tablespace_advisor.measured_reads(r, h.probed_us, h.cached_us,
			h.sequential_page_us) m
		WHERE m.random_us > h.probed_us
		GROUP BY h.tablespace
	), device AS MATERIALIZED (
		SELECT h.*, CASE WHEN h.probed_us IS NOT NULL
			THEN greatest(h.probed_us, s.us) END AS device_us
		FROM here h LEFT JOIN slower s USING (tablespace)
	), reached AS (
		SELECT d.tablespace, sum(coalesce(m.random_reads, 0)
			+ m.scan_ms * 1000 / d.device_us) AS reads
		FROM device d
		JOIN tablespace_advisor.elements(relations) r ON r.tablespace = d.tablespace
		CROSS JOIN LATERAL tablespace_advisor.measured_reads(r, d.device_us, d.cached_us,
			d.sequential_page_us) m
		GROUP BY d.tablespace
	)
	SELECT d.tablespace, coalesce(r.reads, 0), d.depth, d.probed_us, d.device_us,
		d.cached_us, 1, d.device_us / d.probed_us, 1, 1,
		coalesce(nullif(d.latency_from, 'assumed'), 'probe'),
		d.device_us * d.random_read_low_us / d.random_read_us,
		d.device_us * d.random_read_high_us / d.random_read_us
	FROM device d LEFT JOIN reached r USING (tablespace)
$$;
COMMENT ON FUNCTION tablespace_advisor.measured_load(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[]) IS
	'per tablespace the time of a read under the load, from measured waits of relations, which must be all relations that are read';

/* plpgsql, which plans one of them only. */
CREATE FUNCTION tablespace_advisor.present_load(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact)
RETURNS SETOF tablespace_advisor.load_estimate
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF EXISTS (SELECT FROM tablespace_advisor.elements(relations) r WHERE r.measured) THEN
		RETURN QUERY SELECT l.* FROM tablespace_advisor.measured_load(relations, tablespaces) l;
	ELSE
		RETURN QUERY SELECT l.* FROM tablespace_advisor.estimate_load(relations, tablespaces, load) l;
	END IF;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.present_load(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact) IS
	'measured_load() where waits were measured, else estimate_load()';

CREATE TYPE tablespace_advisor.place_load AS (
	tablespace name,
	reads_per_s float8,
	read_us float8,
	depths float8[],
	latencies_us float8[],
	later_reads_per_s float8,
	later_us float8,
	others_in_flight float8
);
COMMENT ON TYPE tablespace_advisor.place_load IS
	'reads from the device under a tablespace: reads per second, the time of one now (NULL: nothing is read) and at rising depths, both corrected by the server''s timing; later_reads_per_s, later_us: reads after moves, and the time of one then; others_in_flight: reads of others under way there';

CREATE FUNCTION tablespace_advisor.latencies_of_set(sessions float8, places tablespace_advisor.place_load[], later_reads float8[])
RETURNS float8[]
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_latencies_of_set';
COMMENT ON FUNCTION tablespace_advisor.latencies_of_set(float8, tablespace_advisor.place_load[], float8[]) IS
	'microseconds that a read of each place takes if so many sessions in all do the work of now with so many reads per second there (later_reads, one for each place). Errors: 2202E lists of different length, 22004 nulls in them, 22023 no curve, one that does not rise or is not positive, negative numbers';

CREATE TYPE tablespace_advisor.placement_estimate AS (
	relation regclass,
	destination name,
	device_share float8,
	device_us float8,
	cached_us float8,
	read_ms_per_s float8,
	table_read_ms_per_s float8,
	destination_depth float8,
	destination_us float8,
	probed_us float8,
	max_reads_per_s float8,
	is_saturated boolean,
	is_faster boolean,
	writes_per_s float8,
	max_writes_per_s float8,
	saved_ms_per_s float8,
	saved_percent float8,
	moved_bytes bigint,
	move_seconds float8,
	not_probed name[],
	saved_low_ms_per_s float8,
	saved_high_ms_per_s float8,
	measured boolean,
	relief_ms_per_s float8
);
COMMENT ON TYPE tablespace_advisor.placement_estimate IS
	'one relation in one destination (NULL: where it is). device_share: share of its reads that reach the device; device_us, cached_us, destination_us: microseconds a read takes from the device, from the system''s cache, and in the destination at destination_depth requests in flight of this database; probed_us: the latter as probed, which is less where others are in the way; is_saturated: the destination would not serve so many reads; writes_per_s: pages of its table that are written at most, max_writes_per_s: that a probe of the destination wrote; is_faster: beyond the intervals of both measurements; saved_ms_per_s: milliseconds of reading saved per second, saved_percent: of what is spent reading its table; moved_bytes: what a copy takes there, bloat included; saved_low_ms_per_s, saved_high_ms_per_s: what is saved if the latencies are at the ends of their 95 % intervals; not_probed: tablespaces of which nothing was measured that part of its table is read from, NULL if there are none; measured: waits were measured, device_share is that of random reads that take as long; relief_ms_per_s: the part of the saving that others on that device have';

CREATE FUNCTION tablespace_advisor.device_demand(
	device_reads float8,
	scan_ms float8,
	device_us float8,
	alone_us float8)
RETURNS TABLE (demand_ms float8, wait_ms float8)
LANGUAGE sql IMMUTABLE ROWS 1
BEGIN ATOMIC
	SELECT r.reads * alone_us / 1000 + scan_ms, r.reads * device_us / 1000 + scan_ms
	FROM (SELECT greatest(0, device_reads - scan_ms * 1000 / device_us) AS reads) r;
END;
COMMENT ON FUNCTION tablespace_advisor.device_demand(float8, float8, float8, float8) IS
	'milliseconds per second for which reads of a relation occupy a device, and for which sessions wait for them; device_us, alone_us: the time of a read, and with no other in flight';

/*
 * Pages of a relation are written at most as often as its rows, and at most
 * once per checkpoint and once per read that evicted them.  Nobody waits for
 * that but where a device cannot write so much.
 *
 * Sessions with reads that meet on a device take, for the same work, as long less
 * as the device has less to do.  A relation for which it works longer than its own
 * share of the waits keeps others waiting, as a table that is scanned does.
 */
CREATE FUNCTION tablespace_advisor.reads_here(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	loads tablespace_advisor.load_estimate[],
	load tablespace_advisor.load_fact)
RETURNS TABLE (relation regclass, table_relation regclass, tablespace name,
	size_bytes bigint, pages float8, device_us float8,
	device_low_us float8, device_high_us float8, cached_us float8, read_from text,
	depth float8, random_read_us float8,
	random_read_low_us float8, sequential_page_us float8, device_share float8,
	device_reads float8, read_ms float8, table_pages_written float8,
	table_read_ms float8, table_device_reads float8, table_device_us float8,
	scan_ms float8, measured boolean, not_probed name[], relief_ms float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH here AS MATERIALIZED (
		SELECT r.relation, r.table_relation, r.tablespace, r.size_bytes, b.pages, l.device_us * m.slower,
			l.device_low_us * m.slower, l.device_high_us * m.slower, l.cached_us, l.latency_from, l.depth, s.random_read_us, s.random_read_low_us,
			s.sequential_page_us, d.device_share, r.reads_per_s * d.device_share AS device_reads,
			CASE WHEN r.reads_per_s = 0 THEN 0
				WHEN r.measured THEN 1000 * r.waiting_sessions
				ELSE r.reads_per_s * (d.device_share * l.device_us
					+ (1 - d.device_share) * l.cached_us) / 1000 END AS read_ms,
			least(r.writes_per_s, r.reads_per_s + b.pages / nullif(load.checkpoint_s, 0)),
			CASE WHEN r.measured THEN coalesce(w.scan_ms, 0) ELSE coalesce(r.reads_per_s
				* c.reached * c.scanned * (1 - c.gain) * l.device_us / 1000, 0) END,
			coalesce(r.measured, false) AS measured
		FROM tablespace_advisor.elements(relations) r
		LEFT JOIN unnest(tablespaces) s ON s.tablespace = r.tablespace
		LEFT JOIN unnest(loads) l ON l.tablespace = s.tablespace
		CROSS JOIN LATERAL (SELECT r.size_bytes
			/ current_setting('block_size')::float8 AS pages) b
		LEFT JOIN LATERAL (SELECT q.random_reads, q.scan_ms,
				greatest(1, q.random_us / l.device_us) AS slower
			FROM tablespace_advisor.measured_reads(r, l.device_us, l.cached_us,
				s.sequential_page_us) q
			WHERE r.measured) w ON true
		CROSS JOIN LATERAL (SELECT coalesce(w.slower, 1) AS slower) m
		CROSS JOIN LATERAL (SELECT tablespace_advisor.scanned_part(r) AS scanned,
			tablespace_advisor.read_ahead_gain(s) AS gain,
			least(1, power(greatest(0, 1 - coalesce(r.system_cached, 0)),
				coalesce(l.cache_exponent, 1)) * coalesce(l.cache_correction, 1)) AS reached) c
		CROSS JOIN LATERAL
			(SELECT CASE WHEN r.measured AND r.reads_per_s > 0 THEN least(1,
					(coalesce(w.random_reads, 0) + w.scan_ms * 1000 / (l.device_us * w.slower))
					/ r.reads_per_s)
				ELSE c.reached * (1 - c.scanned * c.gain) END AS device_share) d
	), named (relation, table_relation, tablespace, size_bytes, pages,
		device_us, device_low_us, device_high_us, cached_us, read_from, depth,
		random_read_us, random_read_low_us, sequential_page_us,
		device_share, device_reads, read_ms, pages_written, scan_ms, measured) AS (
		SELECT * FROM here
	), whole (table_relation, read_ms, device_reads, device_us, pages_written, not_probed) AS (
		SELECT h.table_relation,
			/* part of a sum is no sum */
			CASE WHEN bool_and(h.read_ms IS NOT NULL) THEN sum(h.read_ms) END AS read_ms,
			sum(h.device_reads), sum(h.device_reads * h.device_us),
			sum(h.pages_written),
			array_agg(DISTINCT h.tablespace)
				FILTER (WHERE h.read_ms IS NULL AND h.device_us IS NULL)
		FROM named h GROUP BY h.table_relation
	)
	SELECT h.relation, h.table_relation, h.tablespace, h.size_bytes, h.pages,
		h.device_us, h.device_low_us, h.device_high_us, h.cached_us, h.read_from, h.depth,
		h.random_read_us, h.random_read_low_us,
		h.sequential_page_us, h.device_share, h.device_reads, h.read_ms, w.pages_written,
		w.read_ms, w.device_reads, w.device_us, h.scan_ms, h.measured, w.not_probed,
		CASE WHEN h.measured THEN coalesce(greatest(0, sum(q.wait_ms) OVER p
			* q.demand_ms / nullif(sum(q.demand_ms) OVER p, 0) - q.wait_ms), 0) ELSE 0 END
	FROM named h JOIN whole w USING (table_relation)
	CROSS JOIN LATERAL tablespace_advisor.device_demand(h.device_reads, h.scan_ms,
		h.device_us, h.random_read_us) q
	WINDOW p AS (PARTITION BY h.tablespace)
$$;
COMMENT ON FUNCTION tablespace_advisor.reads_here(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_estimate[], tablespace_advisor.load_fact) IS
	'per relation the times of its reads where it is: see placement_estimate; device_reads, read_ms: reads that reach the device, milliseconds of reading, each per second, relief_ms: milliseconds per second that reads of others on that device would wait less without its reads, table_…: of its table with all indexes';

/* Where a page of one of them is not known, scans count as random reads. */
CREATE FUNCTION tablespace_advisor.scan_gain(
	scan_ms float8,
	device_us float8,
	page_us float8,
	page_there_us float8)
RETURNS TABLE (random_reads float8, scan_gain_ms float8)
LANGUAGE sql IMMUTABLE ROWS 1
BEGIN ATOMIC
	SELECT CASE WHEN page_us + page_there_us IS NULL THEN 0 ELSE scan_ms * 1000 / device_us END,
		CASE WHEN page_us + page_there_us IS NULL THEN 0
			ELSE scan_ms * (1 - least(1, page_there_us / page_us)) END;
END;
COMMENT ON FUNCTION tablespace_advisor.scan_gain(float8, float8, float8, float8) IS
	'milliseconds per second that sequential scans which wait scan_ms milliseconds per second save where a sequential page takes page_there_us microseconds in place of page_us; random_reads: the random reads of device_us microseconds that they were taken for';

/*
 * A tablespace known by its counters only is for callers that name it, or a
 * last resort; so is one that was not probed, where another was.
 */
CREATE FUNCTION tablespace_advisor.passed_over(
	tablespaces tablespace_advisor.tablespace_fact[],
	OUT source name,
	OUT destination name)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT s.tablespace, d.tablespace
	FROM unnest(tablespaces) s CROSS JOIN unnest(tablespaces) d
	WHERE EXISTS (SELECT FROM unnest(tablespaces) p
		WHERE p.random_read_us IS NOT NULL
			AND coalesce(p.latency_from, 'probe') IN ('probe', 'assumed')
			AND p.tablespace <> s.tablespace
			AND s.tablespace <> ALL (p.shares_device_with)
			AND CASE WHEN d.random_read_us IS NULL
				THEN tablespace_advisor.destination_order(s, p) = 1
				ELSE d.latency_from NOT IN ('probe', 'assumed') END)
$$;
COMMENT ON FUNCTION tablespace_advisor.passed_over(tablespace_advisor.tablespace_fact[]) IS
	'tablespaces that advice on the contents of a tablespace leaves out, unless they are named';

/*
 * The destination is taken to get all that is read of this relation's table, since
 * the parts of a table that are worth moving mostly move together. Sessions that
 * have been watched are taken to read as soon as they can: their work between two
 * reads stays, the reads take the time there with as many in flight as that leads
 * to.  Causes that slow reads down here beyond the probe, such as pages written in
 * between, move along: it does so there. Reads of others in flight there are in the
 * way; and if reads there take longer by its counters than the probe says of so
 * many in flight, a new read takes as long.
 */
CREATE FUNCTION tablespace_advisor.estimate_placement(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	loads tablespace_advisor.load_estimate[],
	with_all boolean DEFAULT true,
	named name DEFAULT NULL)
RETURNS SETOF tablespace_advisor.placement_estimate
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS MATERIALIZED (
		SELECT f.*, l.device_reads_per_s, l.time_correction,
			l.device_reads_per_s * l.device_us AS busy_us,
			greatest(0, f.present_in_flight - coalesce(l.device_reads_per_s * l.device_us, 0) / 1e6)
				AS others,
			tablespace_advisor.max_read_rate(f.depths, f.depth_read_us) AS max_rate
		FROM unnest(tablespaces) f JOIN unnest(loads) l USING (tablespace)
	), way AS MATERIALIZED (
		/* from each tablespace to each other, and to none */
		SELECT s.tablespace AS source, p.* FROM unnest(tablespaces) s JOIN (SELECT p.* FROM (VALUES (true), (false)) one (is_one)
			LEFT JOIN place p ON one.is_one) p
			ON p.tablespace IS DISTINCT FROM s.tablespace AND (with_all OR p.tablespace = named
				OR ((s.tablespace, p.tablespace) IN (SELECT o.source, o.destination
					FROM tablespace_advisor.passed_over($2) o)) IS NOT TRUE)
	), reached AS (
		SELECT h.*, p.tablespace AS destination, p.max_rate, p.time_correction, p.others, p.depths,
			p.depth_read_us, p.present_read_us, p.present_read_low_us, p.present_read_high_us,
			p.random_read_us AS there_us, p.random_read_low_us AS there_low_us,
			p.random_read_high_us AS there_high_us, p.max_writes_per_s, p.sequential_write_page_us, p.copy_rates,
			p.sequential_page_us AS scan_there_us, p.device_reads_per_s + h.table_device_reads AS reads_then,
			CASE WHEN p.tablespace IS NULL THEN NULL
				WHEN load.snapshots > 0 AND h.table_device_reads > 0
				THEN tablespace_advisor.depth_in_loop(
					p.depths, p.depth_read_us, load.active_sessions,
					greatest(0, load.active_sessions * 1e6 - h.table_device_us - p.busy_us)
						/ (h.table_device_reads + p.device_reads_per_s))
				ELSE least(greatest(1, h.depth), tablespace_advisor.depth_at_rate(
					p.depths, p.depth_read_us,
					p.device_reads_per_s + h.table_device_reads)) END AS destination_depth
		FROM tablespace_advisor.reads_here($1, $2, $4, $3) h LEFT JOIN way p ON p.source = h.tablespace
	), there AS (
		/* OFFSET: computed once, used again */
		SELECT a.*,
			CASE WHEN a.is_busy THEN a.present_read_us ELSE a.beside_us END AS destination_us,
			CASE WHEN a.is_busy THEN a.present_read_low_us / a.present_read_us
				ELSE a.there_low_us / a.there_us END AS low,
			CASE WHEN a.is_busy THEN a.present_read_high_us / a.present_read_us
				ELSE a.there_high_us / a.there_us END AS high
		FROM (SELECT s.*, s.beside_us < s.present_read_low_us AS is_busy
			FROM (SELECT r.*, r.time_correction * tablespace_advisor.latency_at_depth(
					r.depths, r.depth_read_us, r.destination_depth) AS alone_us,
					r.time_correction * tablespace_advisor.latency_at_depth(r.depths,
						r.depth_read_us, r.destination_depth + coalesce(r.others, 0)) AS beside_us
				FROM (SELECT * FROM reached OFFSET 0) r OFFSET 0) s) a OFFSET 0
	), gain AS (
		SELECT t.*, t.random_reads * (t.device_us - t.destination_us) / 1000
				+ t.scan_gain_ms + t.relief_ms AS gain_ms
		FROM (SELECT t.*, t.device_reads - s.random_reads AS random_reads, s.scan_gain_ms
			FROM there t CROSS JOIN LATERAL tablespace_advisor.scan_gain(t.scan_ms,
				t.device_us, t.sequential_page_us, t.scan_there_us) s OFFSET 0) t
	)
	SELECT g.relation, g.destination, g.device_share, g.device_us, g.cached_us,
		g.read_ms, g.table_read_ms, g.destination_depth, g.destination_us, g.alone_us, g.max_rate,
		g.reads_then > g.max_rate, g.destination_us * g.high < g.device_low_us
			AND (g.there_high_us < g.random_read_low_us OR g.depth >= 2
				OR g.read_from <> 'probe'),
		g.table_pages_written, g.max_writes_per_s, g.gain_ms,
		100 * g.gain_ms / nullif(g.table_read_ms, 0),
		g.size_bytes, coalesce(
			g.size_bytes / (g.copy_rates ->> g.tablespace)::float8,
			g.pages * (coalesce(g.sequential_page_us, g.random_read_us)
				+ coalesce(g.sequential_write_page_us, 0)) / 1e6),
		g.not_probed,
		g.random_reads * (g.device_low_us - g.destination_us * g.high) / 1000
			+ g.scan_gain_ms + g.relief_ms,
		g.random_reads * (g.device_high_us - g.destination_us * g.low) / 1000
			+ g.scan_gain_ms + g.relief_ms, g.measured, g.relief_ms
	FROM gain g
$$;
COMMENT ON FUNCTION tablespace_advisor.estimate_placement(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, tablespace_advisor.load_estimate[], boolean, name) IS
	'per relation one row for each other tablespace (not with_all: those that advice takes into account, and the one named), and one with destination NULL; loads: as of estimate_load(); relations must hold all of their tables, since savings are stated as percent of a table''s read time';
