/*
 * src/move/outcomes.sql
 *
 * The expected saving of a move, beside the measured one.  The moves of a call, or
 * of a round of apply_placement(), follow each other within minutes, and so may
 * calls; the load of the database after them belongs to all of them. So a unit
 * consists of calls that samples cannot tell apart: calls and rounds between which
 * fewer than three samples lie.  Windows before and after a unit are equally long,
 * as long as samples allow, one day at most, but where a day has fewer as long as
 * six of them take; they hold no part of any move, and end before one of the moved
 * relations is rewritten.
 *
 * The server times reads per database.  The load is hardly the same in both
 * windows, so the read time after the moves is scaled to the block accesses before
 * them: those of relations, since taking samples makes some, too, which are most of
 * all where little else goes on.  A relation's own share is its reads past all
 * caches, at the time of a page by the counters of the device it was on; where
 * there are none, its reads at the mean time of all reads before, and after at the
 * rest of the read time when all others' reads take the time that they took before.
 *
 * The uncertainty is how far samples differ from one time per access, not how much
 * there was to do in each: a load that comes and goes makes no interval wide.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
COMMENT ON TABLE tablespace_advisor.placement_round IS
	'the calls of moves that apply_placement() has made: the round (first batch) that each is part of, whether it undid an earlier round, and whether its relations have been pinned';

/* A reset, or much maintenance, leaves nothing that could be compared. */
CREATE VIEW tablespace_advisor.undisturbed_interval AS
SELECT i.*
FROM tablespace_advisor.sample_interval i
LEFT JOIN (SELECT r.sample_id, sum(r.maintenance_reads) AS reads
	FROM tablespace_advisor.relation_sample r
	WHERE r.maintenance_reads > 0
	GROUP BY r.sample_id) m ON m.sample_id = i.sample_id
LEFT JOIN LATERAL (SELECT sum(w.bytes)
		/ pg_catalog.current_setting('block_size')::int AS blocks
	FROM (SELECT s.filenode_since, sum(s.size_bytes) AS bytes
		FROM tablespace_advisor.sampled_relation s
		WHERE s.filenode_since IS NOT NULL
		GROUP BY s.filenode_since) w
	WHERE w.filenode_since >= i.started_at AND w.filenode_since < i.taken_at) n ON true
WHERE i.seconds > 0 AND NOT i.was_reset
	AND 20 * (coalesce(m.reads, 0) + coalesce(n.blocks, 0)) <= i.blocks_read;
COMMENT ON VIEW tablespace_advisor.undisturbed_interval IS
	'sample_interval without those in which statistics were reset, or a twentieth of the reads may be of VACUUM, ANALYZE, or making relations anew (REINDEX, CREATE INDEX, VACUUM FULL)';

/* Calls and rounds that samples cannot tell apart. */
CREATE VIEW tablespace_advisor.moved_together AS
WITH call AS MATERIALIZED (
	SELECT coalesce(r.round_id, j.batch_id) AS call_id,
		min(j.started_at) AS started_at,
		max(coalesce(j.finished_at, 'infinity')) AS finished_at,
		sum(j.forecast_saved_ms_per_s) FILTER (WHERE j.state = 'done') AS forecast
	FROM tablespace_advisor.job j
	LEFT JOIN tablespace_advisor.placement_round r ON r.batch_id = j.batch_id
	WHERE j.started_at IS NOT NULL AND j.method <> 'catalog'
	GROUP BY 1
), chained AS (
	SELECT c.*, max(c.finished_at) OVER (ORDER BY c.started_at, c.call_id
		ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_end
	FROM call c
), sampled AS (
	/* when the third sample after the end of earlier calls had ended; backwards, so
	   that the frame only grows */
	SELECT e.call_id, min(e.third_end) OVER (ORDER BY e.at DESC, e.call_id DESC
		ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS third_end
	FROM (SELECT c.call_id, c.last_end AS at, NULL::timestamptz AS third_end
			FROM chained c
		UNION ALL
		SELECT NULL, i.started_at, lead(i.taken_at, 2) OVER (ORDER BY i.started_at)
			FROM tablespace_advisor.undisturbed_interval i) e
), numbered AS (
	/* moves without a sample before them keep none from those that have some */
	SELECT c.*, sum((c.last_end IS NULL OR s.third_end <= c.started_at
			OR c.last_end < c.started_at - interval '1 day'
			OR c.last_end <= f.begins)::int)
		OVER (ORDER BY c.started_at, c.call_id) AS unit
	FROM chained c JOIN sampled s ON s.call_id = c.call_id
	CROSS JOIN (SELECT min(i.started_at) AS begins
		FROM tablespace_advisor.undisturbed_interval i) f
)
SELECT n.call_id, min(n.call_id) OVER u AS unit_id,
	min(n.started_at) OVER u AS started_at, max(n.finished_at) OVER u AS finished_at,
	sum(n.forecast) OVER u AS forecast
FROM numbered n
WINDOW u AS (PARTITION BY n.unit);
COMMENT ON VIEW tablespace_advisor.moved_together IS
	'calls and rounds that made moves, and the unit each belongs to, that is those that fewer than three samples lie between: its first call, when it began and ended (infinity: under way), its forecast in milliseconds per second';

CREATE TYPE tablespace_advisor.window_summary AS (
	sample_ids int[],
	seconds float8[],
	accesses float8[],
	blocks_read float8[],
	read_ms float8[],
	accesses_per_s float8,
	reads_per_s float8,
	read_ms_per_s float8,
	read_ms_error float8
);
COMMENT ON TYPE tablespace_advisor.window_summary IS
	'samples, and as a whole: their numbers and lengths, block accesses of the database''s relations but for catalogs, all of its reads, and milliseconds that the server timed for them; all three per second; the standard error of the latter, at these accesses; NULL where there is nothing of that';

/* Equal windows before and after the moves. */
CREATE VIEW tablespace_advisor.unit_window AS
WITH sample AS MATERIALIZED (
	SELECT * FROM tablespace_advisor.undisturbed_interval
), together AS MATERIALIZED (
	SELECT * FROM tablespace_advisor.moved_together
), unit AS (
	SELECT u.*, u.started_at - lag(u.finished_at) OVER w AS since_last,
		lead(u.started_at) OVER w - u.finished_at AS until_next
	FROM (SELECT DISTINCT m.unit_id, m.started_at, m.finished_at, m.forecast
		FROM together m) u
	WINDOW w AS (ORDER BY u.started_at)
), rewritten AS (
	SELECT t.unit_id, min(s.filenode_since) AS at
	FROM together t
	LEFT JOIN tablespace_advisor.placement_round r ON r.round_id = t.call_id
	JOIN tablespace_advisor.job j ON j.batch_id = coalesce(r.batch_id, t.call_id)
	JOIN tablespace_advisor.sampled_relation s ON s.relation = j.relation
	WHERE s.filenode_since > t.finished_at
	GROUP BY t.unit_id
), placed AS (
	SELECT u.*, e.begins, e.ends, e.usual_s, r.at AS rewritten_at,
		CASE WHEN u.finished_at < 'infinity' THEN least(
			greatest(interval '1 day', f.ends - u.finished_at, u.started_at - f.begins),
			u.started_at - e.begins, e.ends - u.finished_at,
			u.since_last, u.until_next, r.at - u.finished_at) END AS length
	FROM unit u
	CROSS JOIN (SELECT min(s.started_at) AS begins, max(s.taken_at) AS ends,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY s.seconds) AS usual_s FROM sample s) e
	CROSS JOIN LATERAL (SELECT
		(SELECT max(s.taken_at) FROM (SELECT s.taken_at FROM sample s
			WHERE s.started_at >= u.finished_at ORDER BY s.started_at LIMIT 6) s) AS ends,
		(SELECT min(s.started_at) FROM (SELECT s.started_at FROM sample s
			WHERE s.taken_at <= u.started_at ORDER BY s.taken_at DESC LIMIT 6) s) AS begins) f
	LEFT JOIN rewritten r USING (unit_id)
), compared AS MATERIALIZED (
	SELECT p.unit_id, s.started_at >= p.finished_at AS is_after, s.sample_id, s.seconds,
		s.blocks_read, s.read_ms
	FROM placed p
	JOIN sample s ON s.started_at >= p.started_at - p.length AND s.taken_at <= p.started_at
		OR s.started_at >= p.finished_at AND s.taken_at <= p.finished_at + p.length
	WHERE p.length > interval '0'
), accessed AS (
	SELECT c.sample_id, sum(coalesce(r.reads, 0) + coalesce(r.hits, 0))::float8 AS accesses
	FROM (SELECT DISTINCT c.sample_id FROM compared c) c
	JOIN tablespace_advisor.relation_sample r ON r.sample_id = c.sample_id
	GROUP BY c.sample_id
), summed AS (
	SELECT s.unit_id, s.is_after,
		(array_agg(s.sample_id), array_agg(s.seconds), array_agg(a.accesses),
		array_agg(s.blocks_read), array_agg(s.read_ms), sum(a.accesses) / sum(s.seconds),
		sum(s.blocks_read) / sum(s.seconds),
		CASE WHEN bool_and(s.read_ms IS NOT NULL) THEN sum(s.read_ms) / sum(s.seconds) END,
		CASE WHEN bool_and(s.read_ms IS NOT NULL) THEN tablespace_advisor.ratio_error(
				array_agg(s.read_ms), array_agg(a.accesses))
			* sum(a.accesses) / sum(s.seconds) END
		)::tablespace_advisor.window_summary AS figures
	FROM compared s
	LEFT JOIN accessed n USING (sample_id)
	CROSS JOIN LATERAL (SELECT coalesce(n.accesses, 0) AS accesses) a
	GROUP BY 1, 2
)
SELECT p.unit_id, CASE WHEN p.length > interval '0' THEN p.forecast END AS forecast,
	CASE WHEN p.length > interval '0' THEN p.length END AS length,
	b.figures AS before, a.figures AS after,
	CASE WHEN p.finished_at = 'infinity' THEN 'moves under way'
		WHEN p.begins IS NULL OR p.begins >= p.started_at THEN 'none before'
		WHEN p.ends <= p.finished_at THEN 'samples'
		WHEN p.length = p.rewritten_at - p.finished_at THEN 'rewritten'
		WHEN p.length = p.started_at - p.begins THEN 'few before'
		WHEN p.length = p.ends - p.finished_at THEN 'samples'
		ELSE 'other' END AS bounded_by,
	p.usual_s
FROM placed p
LEFT JOIN summed b ON b.unit_id = p.unit_id AND NOT b.is_after
LEFT JOIN summed a ON a.unit_id = p.unit_id AND a.is_after;
COMMENT ON VIEW tablespace_advisor.unit_window IS
	'per unit of moved_together the measurements of samples in equal windows before and after it (NULL: not ended, or no samples), the limit of their length (samples: the last one), and the usual seconds between samples';

/*
 * The windows compared.  No interval, no judgement: fewer than three samples on
 * a side.
 */
CREATE VIEW tablespace_advisor.unit_outcome AS
SELECT w.*, s.scale,
	(w.before).read_ms_per_s - (w.after).read_ms_per_s * s.scale AS saved,
	tablespace_advisor.difference_error((w.before).read_ms_error, n.before,
		(w.after).read_ms_error * s.scale, n.after) AS error,
	(w.before).read_ms_per_s / nullif((w.before).reads_per_s, 0) AS mean_read_ms,
	tablespace_advisor.ratio_error((w.before).read_ms, (w.before).blocks_read)
		AS mean_read_error
FROM tablespace_advisor.unit_window w
CROSS JOIN LATERAL (SELECT (w.before).accesses_per_s
	/ nullif((w.after).accesses_per_s, 0) AS scale) s
CROSS JOIN LATERAL (SELECT cardinality((w.before).sample_ids) AS before,
	cardinality((w.after).sample_ids) AS after) n;
COMMENT ON VIEW tablespace_advisor.unit_outcome IS
	'per unit of moves the decrease of the database''s read time after it, scaled to the accesses before, with the half width of its 95 % interval (NULL: fewer than three samples on a side), in milliseconds per second; mean_read_ms, mean_read_error: the time of a read before, and its standard error';

/*
 * The samples that are missing for a judgement, or that nothing will bring
 * one.
 */
CREATE FUNCTION tablespace_advisor.missing_for_outcome(
	bounded_by text,
	before tablespace_advisor.window_summary,
	after tablespace_advisor.window_summary,
	usual_s float8)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN bounded_by = 'moves under way' THEN 'the end of moves that are judged with it'
		WHEN bounded_by = 'none before' THEN 'nothing: no two samples lie before it'
		WHEN n.fewest < 3 AND bounded_by = 'samples'
			THEN format('%s after it%s', CASE n.fewest WHEN 2 THEN 'one more sample'
					ELSE 3 - n.fewest || ' more samples' END,
				CASE WHEN usual_s > 0 THEN format(' (so far one every %s)',
					tablespace_advisor.pretty_seconds(usual_s)) ELSE '' END)
		WHEN n.fewest < 3 THEN 'nothing: ' || CASE bounded_by
			WHEN 'rewritten' THEN 'what it moved was rewritten before there were three samples'
			WHEN 'few before' THEN CASE WHEN cardinality((before).sample_ids) >= 3
				THEN 'in as short a time as samples reach back before it there are not three after it'
				ELSE 'fewer than three samples lie before it' END
			ELSE 'fewer than three samples can be compared on each side' END
		WHEN (before).read_ms_per_s IS NULL OR (after).read_ms_per_s IS NULL
			THEN 'nothing: track_io_timing was off'
		WHEN (before).reads_per_s = 0 THEN 'nothing: nothing was read before it'
		WHEN (after).accesses_per_s = 0 THEN 'nothing: nothing was read after it'
		END
	FROM (SELECT least(coalesce(cardinality((before).sample_ids), 0),
		coalesce(cardinality((after).sample_ids), 0)) AS fewest) n
$$;
GRANT EXECUTE ON FUNCTION tablespace_advisor.missing_for_outcome TO pg_monitor;
COMMENT ON FUNCTION tablespace_advisor.missing_for_outcome IS
	'as text, the samples or moves that a row of unit_window waits for; NULL if its outcome is known';

CREATE TYPE tablespace_advisor.read_summary AS (
	reads float8,
	hits float8,
	sampled_reads float8[],
	sampled_device_reads float8[]
);
COMMENT ON TYPE tablespace_advisor.read_summary IS
	'blocks per second that relations read past shared buffers, and found in them; and blocks of each sample that they read past these, and past the system''s cache too';

/* A sample without a row of a relation is one in which nothing was read of it. */
CREATE FUNCTION tablespace_advisor.relation_reads(
	relations oid[],
	figures tablespace_advisor.window_summary)
RETURNS tablespace_advisor.read_summary
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT (coalesce(sum(r.reads), 0) / sum(s.seconds),
		coalesce(sum(r.hits), 0) / sum(s.seconds),
		array_agg(coalesce(r.reads, 0) ORDER BY s.n),
		array_agg(coalesce(r.device_reads, 0) ORDER BY s.n))
			::tablespace_advisor.read_summary
	FROM unnest((figures).sample_ids, (figures).seconds) WITH ORDINALITY s(id, seconds, n)
	LEFT JOIN LATERAL (SELECT sum(r.reads)::float8 AS reads, sum(r.hits)::float8 AS hits,
			sum(greatest(0, r.reads - coalesce(r.maintenance_reads, 0)
				- coalesce(r.cached_reads, 0)))::float8 AS device_reads
		FROM tablespace_advisor.relation_sample r
		WHERE r.sample_id = s.id AND r.relation = ANY (relations)) r ON true
$$;
GRANT EXECUTE ON FUNCTION tablespace_advisor.relation_reads TO pg_monitor;
COMMENT ON FUNCTION tablespace_advisor.relation_reads(oid[], tablespace_advisor.window_summary) IS
	'reads of some relations in some samples, as in read_summary';

CREATE FUNCTION tablespace_advisor.page_read_ms(of_tablespace oid, sample_ids int[])
RETURNS float8[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH sample AS (
		SELECT s.n, sum(d.reads) AS reads, sum(d.read_ms) AS ms,
			sum(d.read_bytes) / current_setting('block_size')::float8 AS pages
		FROM unnest(sample_ids) WITH ORDINALITY s(id, n)
		LEFT JOIN tablespace_advisor.device_interval d
			ON d.sample_id = s.id AND d.tablespace = of_tablespace
		GROUP BY s.n
	)
	SELECT array_agg(CASE WHEN s.reads >= 30 AND s.pages > 0 THEN s.ms / s.pages ELSE w.ms END
		ORDER BY s.n)
	FROM sample s
	CROSS JOIN (SELECT sum(s.ms) / sum(s.pages) AS ms FROM sample s
		HAVING sum(s.reads) >= 30 AND sum(s.ms) > 0 AND sum(s.pages) > 0) w
$$;
GRANT EXECUTE ON FUNCTION tablespace_advisor.page_read_ms TO pg_monitor;
COMMENT ON FUNCTION tablespace_advisor.page_read_ms(oid, int[]) IS
	'milliseconds per page of the device under a tablespace, for each given sample. A sample with fewer than 30 reads gets the mean of all; NULL if all together have fewer, or if the device does not count time';

/* The reads of each relation in both windows, and the time of a page of it. */
CREATE VIEW tablespace_advisor.moved_reads AS
WITH unit AS MATERIALIZED (
	SELECT u AS unit, u.unit_id, u.before, u.after FROM tablespace_advisor.unit_outcome u
), moved AS MATERIALIZED (
	SELECT m.*, t.unit_id
	FROM tablespace_advisor.judged_move m
	JOIN tablespace_advisor.moved_together t ON t.call_id = m.call_id
), read AS MATERIALIZED (
	SELECT m.unit_id, m.relations, b AS before, a AS after
	FROM (SELECT DISTINCT m.unit_id, m.relations FROM moved m) m
	JOIN unit u USING (unit_id)
	CROSS JOIN LATERAL tablespace_advisor.relation_reads(m.relations, u.before) b
	CROSS JOIN LATERAL tablespace_advisor.relation_reads(m.relations, u.after) a
), together AS MATERIALIZED (
	SELECT m.unit_id, tablespace_advisor.relation_reads(m.relations, u.after) AS after
	FROM (SELECT m.unit_id, array_agg(DISTINCT r) AS relations
		FROM moved m CROSS JOIN LATERAL unnest(m.relations) r GROUP BY 1) m
	JOIN unit u USING (unit_id)
), device AS MATERIALIZED (
	SELECT p.unit_id, p.is_after, p.tablespace, tablespace_advisor.page_read_ms(p.tablespace,
		CASE WHEN p.is_after THEN (u.after).sample_ids ELSE (u.before).sample_ids END) AS page_ms
	FROM (SELECT DISTINCT m.unit_id, e.*
		FROM moved m
		CROSS JOIN LATERAL (VALUES (false, m.from_tablespace), (true, m.to_tablespace))
			e(is_after, tablespace)) p
	JOIN unit u USING (unit_id)
)
SELECT m.job_id, m.call_id, w.unit, d.before, d.after,
	f.page_ms AS page_ms_before, t.page_ms AS page_ms_after, m.relation, m.started_at,
	m.forecast_saved_ms_per_s AS forecast, u.after AS unit_after
FROM moved m
JOIN unit w ON w.unit_id = m.unit_id
JOIN read d ON d.unit_id = m.unit_id AND d.relations = m.relations
LEFT JOIN together u ON u.unit_id = m.unit_id
LEFT JOIN device f ON f.unit_id = m.unit_id AND NOT f.is_after
	AND f.tablespace = m.from_tablespace
LEFT JOIN device t ON t.unit_id = m.unit_id AND t.is_after
	AND t.tablespace = m.to_tablespace;
COMMENT ON VIEW tablespace_advisor.moved_reads IS
	'per judged_move that was sampled on both sides: its unit, reads of its relation before and after (unit_after: of all relations that moved), and milliseconds that a page took in each sample on the devices it was on (NULL: not counted)';

CREATE FUNCTION tablespace_advisor.own_read_time(
	reads float8[],
	device_reads float8[],
	page_ms float8[],
	unit_reads float8[],
	seconds float8[],
	accesses float8[],
	blocks_read float8[],
	read_ms float8[],
	other_read_ms float8,
	OUT ms float8,
	OUT error float8)
LANGUAGE C IMMUTABLE
AS 'MODULE_PATHNAME', 'tsa_own_read_time';
GRANT EXECUTE ON FUNCTION tablespace_advisor.own_read_time TO pg_monitor;
COMMENT ON FUNCTION tablespace_advisor.own_read_time IS
	'milliseconds per second that reading a relation took in the samples of a window, with their standard error at its accesses: by the time of a page in each sample; page_ms NULL: by that of a read of the database, or (unit_reads) by the rest of the read time when others'' reads took other_read_ms';

/* OFFSET: arrays are not handed on */
CREATE VIEW tablespace_advisor.own_outcome AS
SELECT r.job_id, r.call_id, (r.unit).unit_id, r.relation, r.started_at, r.forecast,
	b.ms - a.ms * (r.unit).scale AS saved, tablespace_advisor.difference_error(
		b.error, cardinality((r.before).sampled_reads),
		(r.unit).scale * sqrt(a.error ^ 2 + o.error ^ 2),
		cardinality((r.after).sampled_reads)) AS error,
	(r.before).reads AS reads_before, (r.after).reads AS reads_after,
	(r.before).hits AS hits_before, (r.after).hits AS hits_after,
	(r.unit).saved AS unit_saved, (r.unit).error AS unit_error, (r.unit).scale,
	(r.unit).forecast AS unit_forecast,
	extract(epoch FROM (r.unit).length)::float8 AS window_s,
	cardinality(((r.unit).before).sample_ids) AS samples_before,
	cardinality(((r.unit).after).sample_ids) AS samples_after,
	((r.unit).before).read_ms_per_s AS read_ms_before,
	((r.unit).after).read_ms_per_s AS read_ms_after,
	((r.unit).before).accesses_per_s AS accesses_before,
	((r.unit).after).accesses_per_s AS accesses_after,
	tablespace_advisor.missing_for_outcome((r.unit).bounded_by, (r.unit).before,
		(r.unit).after, (r.unit).usual_s) AS waits_for
FROM tablespace_advisor.moved_reads r
CROSS JOIN LATERAL (SELECT r.page_ms_before IS NOT NULL AND r.page_ms_after IS NOT NULL
	AS is_counted) c
CROSS JOIN LATERAL tablespace_advisor.own_read_time((r.before).sampled_reads,
	(r.before).sampled_device_reads, CASE WHEN c.is_counted THEN r.page_ms_before END, NULL,
	((r.unit).before).seconds, ((r.unit).before).accesses, ((r.unit).before).blocks_read, ((r.unit).before).read_ms, NULL) b
CROSS JOIN LATERAL tablespace_advisor.own_read_time((r.after).sampled_reads,
	(r.after).sampled_device_reads, CASE WHEN c.is_counted THEN r.page_ms_after END,
	(r.unit_after).sampled_reads, ((r.unit).after).seconds, ((r.unit).after).accesses,
	((r.unit).after).blocks_read, ((r.unit).after).read_ms, (r.unit).mean_read_ms) a
/* the unknown part of others' reads, for its share of the moved ones */
CROSS JOIN LATERAL (SELECT CASE WHEN c.is_counted THEN 0
	ELSE coalesce((r.after).reads / nullif((r.unit_after).reads, 0), 0)
		* greatest(0, ((r.unit).after).reads_per_s - (r.unit_after).reads)
		* (r.unit).mean_read_error END AS error) o
OFFSET 0;
COMMENT ON VIEW tablespace_advisor.own_outcome IS
	'moved_reads with the decrease of the relation''s own read time after the move, at the accesses before, in milliseconds per second, and the half width of its 95 % interval';

/*
 * A relation that is read by days or at weekends is not slower because today is
 * such a day.
 */
CREATE FUNCTION tablespace_advisor.usual_reads(
	of_relation oid,
	before timestamptz,
	OUT mean float8,
	OUT most float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT avg(d.reads), max(d.reads)
	FROM (SELECT sum(coalesce(r.reads, 0)) / sum(i.seconds) AS reads
		FROM tablespace_advisor.sample_interval i
		LEFT JOIN tablespace_advisor.relation_sample r
			ON r.sample_id = i.sample_id AND r.relation = of_relation
		WHERE i.taken_at <= before AND i.seconds > 0
			AND i.started_at > before - interval '7 days'
		GROUP BY date_bin(interval '1 day', i.taken_at, before)) d
$$;
GRANT EXECUTE ON FUNCTION tablespace_advisor.usual_reads TO pg_monitor;
COMMENT ON FUNCTION tablespace_advisor.usual_reads(oid, timestamptz) IS
	'blocks per second that a relation read past shared buffers in the week before a moment: mean of the days, and the day of most';

/*
 * A move has made reading slower if its unit did, and the relation's own reads are
 * slower than they were, and saved less than was forecast, had it been made for as
 * many reads, though no more than on a day of the week before: beyond the interval;
 * or, if that is so of another move of the call, by the estimate.  Relations that
 * are read in bursts, as an index that is cold in the morning, have wide intervals.
 */
CREATE VIEW tablespace_advisor.judged_outcome AS
SELECT s.*, s.saved + s.error < s.most_slower OR (s.saved < s.most_slower
	AND bool_or(s.saved + s.error < s.most_slower) OVER (PARTITION BY s.call_id)) AS is_slower
FROM (SELECT o.*, b.band, CASE WHEN o.unit_saved + o.unit_error < 0
			AND o.saved < least(0, o.forecast - b.band)
		THEN least(0, o.forecast * (SELECT greatest(1, least(greatest(o.reads_before,
				o.reads_after * o.scale), u.most) / nullif(u.mean, 0))
			FROM tablespace_advisor.usual_reads(o.relation, o.started_at) u) - b.band)
		END AS most_slower
	FROM tablespace_advisor.own_outcome o
	CROSS JOIN LATERAL (SELECT tablespace_advisor.outcome_band(o.forecast,
		o.read_ms_before) AS band) b) s;
COMMENT ON VIEW tablespace_advisor.judged_outcome IS
	'own_outcome with its tolerated difference from the forecast (band), and whether reading the relation got slower (NULL: not known, or no); most_slower: what it must have saved less than for that';

/* By measured waits where both sides of a move have them, else by counters. */
CREATE VIEW tablespace_advisor.known_outcome AS
WITH measured AS MATERIALIZED (
	SELECT * FROM tablespace_advisor.measured_outcome
)
SELECT o.job_id, true AS measured, o.saved, o.error, o.forecast_for_calls AS forecast, o.band,
	o.is_slower, o.takes_more, o.saved - o.error > 0 AND coalesce(o.reads_are_faster, false) AS is_faster,
	sum(o.forecast_saved_ms_per_s) OVER u AS batch_forecast,
	sum(o.saved) OVER u AS batch_saved,
	CASE WHEN bool_and(o.error IS NOT NULL) OVER u THEN sqrt(sum(o.error ^ 2) OVER u) END AS batch_error,
	o.window_s, o.samples_before, o.samples_after, o.before_ms_per_s AS read_ms_before,
	o.after_ms_per_s AS read_ms_after, NULL::float8 AS accesses_before,
	NULL::float8 AS accesses_after, o.reads_before, o.reads_after,
	o.hit_fraction_before, o.hit_fraction_after, o.judged_with,
	CASE o.samples_after WHEN 1 THEN '2 more samples after it' WHEN 2 THEN 'one more sample after it' END
		AS waits_for
FROM measured o
WINDOW u AS (PARTITION BY o.judged_with)
UNION ALL
SELECT o.job_id, false, CASE WHEN o.unit_saved IS NOT NULL THEN o.saved END, o.error, o.forecast,
	o.band, o.is_slower, o.saved + o.error < 0, o.saved - o.error > 0 AND o.unit_saved - o.unit_error > 0,
	o.unit_forecast, o.unit_saved, o.unit_error, o.window_s, o.samples_before, o.samples_after,
	o.read_ms_before, o.read_ms_after, o.accesses_before, o.accesses_after,
	o.reads_before, o.reads_after,
	o.hits_before / nullif(o.reads_before + o.hits_before, 0),
	o.hits_after / nullif(o.reads_after + o.hits_after, 0), o.unit_id, o.waits_for
FROM tablespace_advisor.judged_outcome o
WHERE o.job_id NOT IN (SELECT m.job_id FROM measured m);
COMMENT ON VIEW tablespace_advisor.known_outcome IS
	'the row of measured_outcome, or else of judged_outcome, for each move; takes_more: reading the moved relations takes more, beyond the interval, and each read, where measured, not less; is_faster: reading the moved relations, and all reading that can be told, takes less, beyond the interval; batch_...: of all moves that are judged together; waits_for: samples that are missing';

CREATE VIEW @extschema@.move_outcomes AS
SELECT j.job_id, j.batch_id,
	j.relation::regclass AS relation,
	pg_catalog.format('%I.%I', j.schema_name, j.relation_name) AS relation_name,
	j.from_tablespace_name AS from_tablespace, j.to_tablespace_name AS to_tablespace,
	j.finished_at,
	CASE WHEN j.state <> 'done' THEN j.state
		ELSE tablespace_advisor.outcome_word(o.forecast, o.saved, o.error, o.band)
	END AS outcome,
	tablespace_advisor.round_to_three(j.forecast_saved_ms_per_s) AS forecast_saved_ms_per_s,
	tablespace_advisor.round_to_three(o.batch_forecast) AS batch_forecast_ms_per_s,
	tablespace_advisor.round_to_three(o.batch_saved) AS batch_saved_ms_per_s,
	tablespace_advisor.round_to_three(o.batch_saved - o.batch_error) AS batch_saved_low_ms_per_s,
	tablespace_advisor.round_to_three(o.batch_saved + o.batch_error) AS batch_saved_high_ms_per_s,
	tablespace_advisor.round_to_three(o.window_s) AS window_s,
	o.samples_before, o.samples_after,
	tablespace_advisor.round_to_three(o.read_ms_before) AS read_ms_per_s_before,
	tablespace_advisor.round_to_three(o.read_ms_after) AS read_ms_per_s_after,
	tablespace_advisor.round_to_three(o.accesses_before) AS accesses_per_s_before,
	tablespace_advisor.round_to_three(o.accesses_after) AS accesses_per_s_after,
	tablespace_advisor.round_to_three(o.reads_before) AS reads_per_s_before,
	tablespace_advisor.round_to_three(o.reads_after) AS reads_per_s_after,
	tablespace_advisor.round_to_three(o.hit_fraction_before) AS hit_fraction_before,
	tablespace_advisor.round_to_three(o.hit_fraction_after) AS hit_fraction_after,
	v.verdict,
	tablespace_advisor.round_to_three(o.saved) AS saved_ms_per_s,
	tablespace_advisor.round_to_three(o.saved - o.error) AS saved_low_ms_per_s,
	tablespace_advisor.round_to_three(o.saved + o.error) AS saved_high_ms_per_s,
	CASE WHEN j.state <> 'done' THEN 'nothing: it was not moved'
		WHEN j.method = 'catalog' THEN 'nothing: it has no storage'
		WHEN v.verdict = 'undone' THEN 'nothing: it was moved back'
		WHEN v.verdict = 'waiting' THEN coalesce(o.waits_for, 'nothing: it was not read')
		WHEN v.verdict = 'slower' THEN pg_catalog.format('nothing: reading got slower; undo_move(%s) takes it back', j.job_id)
	END AS waits_for,
	coalesce(p.round_id, j.batch_id) AS round_id,
	o.judged_with,
	o.measured, tablespace_advisor.round_to_three(o.forecast) AS forecast_for_calls_after_ms_per_s
FROM tablespace_advisor.job j
LEFT JOIN tablespace_advisor.placement_round p ON p.batch_id = j.batch_id
LEFT JOIN tablespace_advisor.known_outcome o ON o.job_id = j.job_id
CROSS JOIN LATERAL (SELECT CASE WHEN j.state <> 'done' OR j.method = 'catalog' THEN NULL
		WHEN EXISTS (SELECT FROM tablespace_advisor.job u
			WHERE u.relation = j.relation AND u.job_id > j.job_id AND u.state = 'done'
				AND u.from_tablespace = j.to_tablespace
				AND u.to_tablespace = j.from_tablespace) THEN 'undone'
		WHEN o.is_slower THEN 'slower'
		WHEN o.error IS NULL OR NOT o.measured AND o.batch_error IS NULL THEN 'waiting'
		WHEN o.is_faster THEN 'verified'
		WHEN o.takes_more THEN 'slower as forecast'
		ELSE 'not shown'
	END AS verdict) v
WHERE NOT tablespace_advisor.is_unfinished(j.state);
REVOKE ALL ON @extschema@.move_outcomes FROM PUBLIC;
GRANT SELECT ON @extschema@.move_outcomes TO pg_monitor;
COMMENT ON VIEW @extschema@.move_outcomes IS
	'per ended move: the forecast beside the saving by samples before and after it, in milliseconds per second, with 95 % intervals: if measured by the waits of statements for its relations, at the calls after it (as the forecast for_calls_after), else by counters, scaled to the accesses before; batch_id: as in tablespace_moves; round_id: batch_id of the first wave of its round of apply_placement(), or its own; judged_with: round_id of the first of those that samples cannot tell apart, which have the figures batch_… in common; outcome: as forecast, saved less, saved more, within noise (these cannot be told apart), no forecast, not measured, too few samples, failed or cancelled. verdict: verified (reading takes less: the interval is above zero), not shown (it holds zero, or calls read less, not faster, or more, each read faster), slower as forecast, slower (apply_placement() undoes it), undone (moved back since) or waiting (not known yet); waits_for: the missing samples, "nothing" where it will never be known, NULL where it is known';
