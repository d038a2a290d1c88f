/*
 * src/move/measured_outcomes.sql
 *
 * Savings of moves where samples on both sides of them have measured waits. A move
 * is judged by the waits for its own relations: the index or table, its TOAST
 * table, indexes that moved along.  A statement that reads them is compared with
 * itself: milliseconds that one of its calls waits for them, before and after,
 * times the calls after the move, so that another load is no saving. Waits of
 * statements that samples do not have on both sides are compared by the accesses to
 * the relations.
 *
 * A move changes the time of a read, not the number of reads.  If a call waits less
 * because it reads less (the caches are warmer), the move has not shown to be the
 * reason, and is not verified.
 *
 * The interval is a jackknife over samples: how far the sum over all statements
 * is from that without each of the samples.  Samples in which anything moved
 * are left out.  Windows reach a day back and ahead, or six samples where a day
 * has fewer, to other moves of the same relation or its being rewritten.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */

/*
 * Of the last thousand moves of each role, lest everybody waits for those of one
 * role with thousands of small ones.
 */
CREATE VIEW tablespace_advisor.judged_move AS
WITH toast AS MATERIALIZED (
	SELECT i.heap, array_agg(i.relation) AS relations
	FROM tablespace_advisor.inventory_of(array(SELECT DISTINCT j.relation
		FROM tablespace_advisor.job j WHERE j.state = 'done')) i
	WHERE i.kind IN ('toast', 'toast index')
	GROUP BY i.heap
)
SELECT j.job_id, coalesce(r.round_id, j.batch_id) AS call_id, j.relation,
	j.started_at, j.finished_at, j.from_tablespace, j.to_tablespace,
	j.forecast_saved_ms_per_s, array_remove(ARRAY[j.relation, j.old_index], NULL)
		|| coalesce(j.indexes, '{}') || coalesce(o.relations, '{}') AS relations
FROM (SELECT d.*, row_number() OVER (PARTITION BY d.owner ORDER BY d.job_id DESC) AS nth
	FROM tablespace_advisor.job d
	WHERE d.state = 'done' AND d.method <> 'catalog') j
LEFT JOIN tablespace_advisor.placement_round r ON r.batch_id = j.batch_id
LEFT JOIN toast o ON o.heap = j.relation
WHERE j.nth <= 1000;
COMMENT ON VIEW tablespace_advisor.judged_move IS
	'moves of blocks that are done, of the last 1000 of each role, with all relations that each moved; call_id: its call, or the first one of its round';

CREATE VIEW tablespace_advisor.measured_interval AS
SELECT i.sample_id, i.started_at, i.taken_at, i.waits_measured_s AS seconds,
	row_number() OVER (ORDER BY i.taken_at) AS nth
FROM tablespace_advisor.sample_interval i
CROSS JOIN (SELECT coalesce(range_agg(tstzrange(j.started_at,
			greatest(j.started_at, coalesce(j.finished_at, CASE j.state WHEN 'interrupted'
				THEN j.interrupted_at END, 'infinity')), '[]')), '{}') AS moving
	FROM tablespace_advisor.job j
	WHERE j.started_at IS NOT NULL AND j.method <> 'catalog') b
WHERE i.waits_measured_s > 0 AND 2 * i.waits_measured_s >= i.seconds
	AND NOT b.moving && tstzrange(i.started_at, i.taken_at);
COMMENT ON VIEW tablespace_advisor.measured_interval IS
	'samples in which waits were measured, at least half of the time, and nothing was being moved; nth: their order';

/*
 * The windows by which a move is judged: samples of a day before it and after it,
 * or six.
 */
CREATE FUNCTION tablespace_advisor.samples_around(
	started_at timestamptz,
	finished_at timestamptz,
	not_before timestamptz,
	not_after timestamptz)
RETURNS TABLE (sample_id int, is_after boolean, seconds float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT s.sample_id, s.is_after, s.seconds
	FROM (SELECT i.*, p.*, row_number() OVER (PARTITION BY p.is_after
			ORDER BY p.distance) AS nearest
		FROM tablespace_advisor.measured_interval i
		CROSS JOIN LATERAL (SELECT false AS is_after, $1 - i.taken_at AS distance
				WHERE i.taken_at <= $1 AND i.started_at >= coalesce($3, '-infinity')
			UNION ALL SELECT true, i.started_at - $2
				WHERE i.started_at >= $2 AND i.taken_at <= coalesce($4, 'infinity')) p) s
	WHERE s.nearest <= 6 OR s.distance < interval '1 day'
$$;
COMMENT ON FUNCTION tablespace_advisor.samples_around(timestamptz, timestamptz, timestamptz, timestamptz) IS
	'samples with measured waits, up to a day before and after a time, but six of each where there are';

/* Moves of one call have the same samples, but for those that were moved again. */
CREATE VIEW tablespace_advisor.measured_window AS
WITH move AS (
	SELECT m.job_id, m.finished_at < 'infinity' AS is_over,
		min(m.started_at) OVER c AS started_at, max(m.finished_at) OVER c AS finished_at,
		lag(m.finished_at) OVER r AS not_before,
		least(lead(m.started_at) OVER r, (SELECT min(s.filenode_since)
			FROM tablespace_advisor.sampled_relation s
			WHERE s.relation = ANY (m.relations)
				AND s.filenode_since > m.finished_at)) AS not_after
	FROM tablespace_advisor.judged_move m
	WHERE EXISTS (SELECT FROM tablespace_advisor.sample s
		WHERE s.waits_measured_s IS NOT NULL)
	WINDOW c AS (PARTITION BY m.call_id),
		r AS (PARTITION BY m.relation ORDER BY m.started_at, m.job_id)
), span AS MATERIALIZED (
	SELECT w.*, s.* FROM (SELECT DISTINCT m.started_at, m.finished_at, m.not_before,
			m.not_after FROM move m) w
	CROSS JOIN LATERAL tablespace_advisor.samples_around(w.started_at, w.finished_at,
		w.not_before, w.not_after) s
)
SELECT m.job_id, s.is_after, s.sample_id, s.seconds
FROM move m
JOIN span s ON (s.started_at, s.finished_at) = (m.started_at, m.finished_at)
	AND s.not_before IS NOT DISTINCT FROM m.not_before
	AND s.not_after IS NOT DISTINCT FROM m.not_after;
COMMENT ON VIEW tablespace_advisor.measured_window IS
	'samples with measured waits that a move is judged by, before and after it';

/*
 * Waits for a move's relations in each sample, by statement: those that samples
 * have on both sides.  One that ran on one side only is left out, as far as samples
 * have all.  The rest is one more, counted by accesses.
 */
CREATE FUNCTION tablespace_advisor.moved_waits()
RETURNS TABLE (job_id bigint, is_after boolean, sample_id int, userid oid, queryid bigint,
	calls float8, reads float8, waited_ms float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off	-- 20 moves, 700 samples of 50 statements: 37 s without,
SET jit = off				-- 5.6 s without this one, 0.9 s with both
AS $$
	WITH span AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.measured_window
	), member AS MATERIALIZED (
		SELECT m.job_id, r.relation
		FROM tablespace_advisor.judged_move m CROSS JOIN LATERAL unnest(m.relations) r (relation)
		WHERE m.job_id IN (SELECT s.job_id FROM span s)
	), part AS MATERIALIZED (
		SELECT m.job_id, w.sample_id, w.userid, w.queryid, sum(w.reads::float8) AS reads,
			sum(w.waited_ms::float8) AS waited_ms
		FROM member m
		JOIN tablespace_advisor.statement_wait_sample w ON w.relation = m.relation
		WHERE w.class = 'application' AND w.access <> 'all'
		GROUP BY 1, 2, 3, 4
	), called AS MATERIALIZED (
		SELECT s.job_id, s.is_after, s.sample_id, c.userid, c.queryid,
			sum(c.calls::float8) AS calls, coalesce(min(p.reads), 0) AS reads,
			coalesce(min(p.waited_ms), 0) AS waited_ms
		FROM (SELECT DISTINCT p.job_id, p.userid, p.queryid FROM part p) k
		JOIN span s USING (job_id)
		JOIN tablespace_advisor.statement_wait_sample c ON c.sample_id = s.sample_id
			AND c.userid = k.userid AND c.queryid = k.queryid
			AND c.access = 'all' AND c.class = 'application'
		LEFT JOIN part p ON p.job_id = s.job_id AND p.sample_id = s.sample_id
			AND p.userid = k.userid AND p.queryid = k.queryid
		GROUP BY 1, 2, 3, 4, 5
	), side AS MATERIALIZED (
		/* where a sample has as many statements as it keeps, another one may have run */
		SELECT s.job_id, s.is_after, bool_or(n.statements >= 50) AS is_full
		FROM span s
		LEFT JOIN (SELECT c.sample_id, count(*) AS statements
			FROM tablespace_advisor.statement_wait_sample c
			WHERE c.access = 'all' GROUP BY 1) n USING (sample_id)
		GROUP BY 1, 2
	), known AS MATERIALIZED (
		SELECT c.*, c.first_side <> c.last_side AS has_both
		FROM (SELECT c.*, min(c.is_after::int) OVER k AS first_side,
				max(c.is_after::int) OVER k AS last_side
			FROM called c WHERE c.calls > 0
			WINDOW k AS (PARTITION BY c.job_id, c.userid, c.queryid)) c
		JOIN side o ON o.job_id = c.job_id AND o.is_after <> c.is_after
		WHERE c.first_side <> c.last_side OR o.is_full IS NOT TRUE
	), whole AS (
		SELECT s.job_id, s.is_after, s.sample_id, coalesce(w.reads, 0) AS reads,
			coalesce(w.waited_ms, 0) AS waited_ms, coalesce(a.accesses, 0) AS accesses
		FROM span s
		LEFT JOIN (SELECT m.job_id, w.sample_id, sum(w.reads::float8) AS reads,
				sum(w.waited_ms::float8) AS waited_ms
			FROM member m JOIN tablespace_advisor.relation_wait_sample w USING (relation)
			WHERE w.class = 'application'
			GROUP BY 1, 2) w USING (job_id, sample_id)
		LEFT JOIN (SELECT m.job_id, r.sample_id,
				sum(coalesce(r.reads, 0) + coalesce(r.hits, 0))::float8 AS accesses
			FROM member m JOIN tablespace_advisor.relation_sample r USING (relation)
			GROUP BY 1, 2) a USING (job_id, sample_id)
	)
	SELECT b.job_id, b.is_after, b.sample_id, b.userid, b.queryid, b.calls, b.reads, b.waited_ms
	FROM known b WHERE b.has_both
	UNION ALL
	SELECT w.job_id, w.is_after, w.sample_id, 0, NULL, w.accesses,
		greatest(0, w.reads - coalesce(b.reads, 0)),
		greatest(0, w.waited_ms - coalesce(b.waited_ms, 0))
	FROM whole w
	LEFT JOIN (SELECT b.job_id, b.sample_id, sum(b.reads) AS reads, sum(b.waited_ms) AS waited_ms
		FROM known b GROUP BY 1, 2) b USING (job_id, sample_id)
$$;
COMMENT ON FUNCTION tablespace_advisor.moved_waits() IS
	'per move, sample and statement (queryid NULL: all that samples do not have): calls (of the former), or accesses to the relations (of the latter), blocks of them read and milliseconds waited for these';

/*
 * Sums over statements, each at its calls after the move, or (per read) its reads.
 */
CREATE FUNCTION tablespace_advisor.measured_savings()
RETURNS TABLE (job_id bigint, per_read boolean, statements bigint, samples_before bigint,
	samples_after bigint, window_s float8, before_ms_per_s float8, after_ms_per_s float8,
	saved float8, load_ratio float8, error float8, reads_before float8, reads_after float8,
	accesses_before float8, accesses_after float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off	-- 20 moves, 700 samples of 50 statements: 37 s without,
SET jit = off				-- 5.6 s without this one, 0.9 s with both
AS $$
	WITH cell AS MATERIALIZED (
		SELECT w.job_id, w.is_after, w.sample_id, w.userid, coalesce(w.queryid, 0) AS queryid,
			b.per_read, b.base, w.waited_ms
		FROM tablespace_advisor.moved_waits() w
		CROSS JOIN LATERAL (VALUES (false, w.calls), (true, w.reads)) b (per_read, base)
		WHERE b.base > 0
	), total AS MATERIALIZED (
		SELECT t.*, lag(t.ms) OVER k AS ms_before, lag(t.base) OVER k AS base_before
		FROM (SELECT c.job_id, c.per_read, c.userid, c.queryid, c.is_after,
				sum(c.base) AS base, sum(c.waited_ms) AS ms
			FROM cell c GROUP BY 1, 2, 3, 4, 5) t
		WINDOW k AS (PARTITION BY t.job_id, t.per_read, t.userid, t.queryid ORDER BY t.is_after)
	), side AS MATERIALIZED (
		SELECT s.*, t.reads / s.seconds AS reads, t.accesses / s.seconds AS accesses
		FROM (SELECT s.job_id, s.is_after, count(*) AS samples, sum(s.seconds) AS seconds
			FROM tablespace_advisor.measured_window s GROUP BY 1, 2) s
		LEFT JOIN (SELECT t.job_id, t.is_after, sum(t.base) FILTER (WHERE t.per_read) AS reads,
				sum(t.base) FILTER (WHERE NOT t.per_read AND t.userid = 0) AS accesses
			FROM total t GROUP BY 1, 2) t USING (job_id, is_after)
	), sums AS (
		SELECT t.job_id, t.per_read, sum(t.base * t.ms_before / t.base_before) AS before,
			sum(t.ms) AS after, sum(t.ms_before) AS ms_before,
			count(*) FILTER (WHERE t.ms_before > 0 AND t.userid <> 0) AS statements
		FROM total t WHERE t.is_after AND t.base_before > 0
		GROUP BY 1, 2
	), error AS (
		SELECT d.job_id, d.per_read, d.is_after, sum(d.change ^ 2) AS square
		FROM (SELECT c.job_id, c.per_read, c.is_after, c.sample_id,
				sum(a.base * (x.ms / x.base - coalesce(
					(x.ms - c.waited_ms) / nullif(x.base - c.base, 0), 0))) AS change
			FROM total a
			JOIN cell c USING (job_id, per_read, userid, queryid)
			CROSS JOIN LATERAL (SELECT CASE WHEN c.is_after THEN a.ms ELSE a.ms_before END AS ms,
				CASE WHEN c.is_after THEN a.base ELSE a.base_before END AS base) x
			WHERE a.is_after AND a.base_before > 0
			GROUP BY 1, 2, 3, 4) d
		GROUP BY 1, 2, 3
	)
	SELECT s.job_id, s.per_read, s.statements, b.samples, a.samples, a.seconds,
		s.before / a.seconds, s.after / a.seconds, (s.before - s.after) / a.seconds,
		s.before / a.seconds / nullif(s.ms_before / b.seconds, 0),
		CASE WHEN b.samples >= 3 AND a.samples >= 3 THEN tablespace_advisor.difference_error(
			sqrt(coalesce(e.square, 0) * (b.samples - 1) / b.samples), b.samples::int,
			sqrt(coalesce(f.square, 0) * (a.samples - 1) / a.samples), a.samples::int)
			/ a.seconds END,
		b.reads, a.reads, b.accesses, a.accesses
	FROM sums s
	JOIN side b ON b.job_id = s.job_id AND NOT b.is_after
	JOIN side a ON a.job_id = s.job_id AND a.is_after
	LEFT JOIN error e ON e.job_id = s.job_id AND e.per_read = s.per_read AND NOT e.is_after
	LEFT JOIN error f ON f.job_id = s.job_id AND f.per_read = s.per_read AND f.is_after
$$;
COMMENT ON FUNCTION tablespace_advisor.measured_savings() IS
	'per move the decrease of waits for its relations, in milliseconds per second, with half the width of the 95 % interval (NULL: fewer than three samples on a side): at the calls after the move, or (per_read) at the reads after it; statements: how many waited for them before; load_ratio: waits at the calls after the move over those at the calls before';

/*
 * The calls of statements that wait for relations of several moves, without three
 * samples between them, are judged together.
 */
CREATE VIEW tablespace_advisor.statement_moves AS
WITH wait AS MATERIALIZED (
	SELECT DISTINCT w.job_id, w.userid, w.queryid
	FROM tablespace_advisor.moved_waits() w WHERE w.queryid IS NOT NULL
), step AS (
	SELECT w.*, m.call_id, m.started_at, m.finished_at, max(m.finished_at) OVER (
		PARTITION BY w.userid, w.queryid ORDER BY m.started_at, m.job_id
		ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_end
	FROM wait w JOIN tablespace_advisor.judged_move m USING (job_id)
), numbered AS (
	SELECT s.*, count(*) FILTER (WHERE b.is_apart) OVER (PARTITION BY s.userid, s.queryid
		ORDER BY s.started_at, s.job_id) AS turn
	FROM step s
	CROSS JOIN LATERAL (SELECT s.last_end IS NULL OR (SELECT count(*) >= 3
		FROM tablespace_advisor.measured_interval i
		WHERE i.started_at >= s.last_end AND i.taken_at <= s.started_at) AS is_apart) b
)
SELECT n.job_id, n.userid, n.queryid, n.turn, min(n.call_id) OVER t AS first_call,
	min(n.started_at) OVER t AS started_at, max(n.finished_at) OVER t AS finished_at,
	(SELECT max(b.finished_at) FROM numbered b WHERE b.userid = n.userid
		AND b.queryid = n.queryid AND b.turn < n.turn) AS not_before,
	(SELECT min(b.started_at) FROM numbered b WHERE b.userid = n.userid
		AND b.queryid = n.queryid AND b.turn > n.turn) AS not_after
FROM numbered n
WINDOW t AS (PARTITION BY n.userid, n.queryid, n.turn);
COMMENT ON VIEW tablespace_advisor.statement_moves IS
	'moves of relations that a statement reads, and (turn) which of them it cannot tell apart, when these began and ended, and the moves around them';

/* The outcome of a move by measured waits. */
CREATE VIEW tablespace_advisor.measured_outcome AS
SELECT c.*, b.band, c.saved + c.error < 0 AND NOT coalesce(c.each_saved > 0, false) AS takes_more,
	c.saved + c.error < least(0, b.forecast - b.band)
		AND NOT coalesce(c.each_saved > 0, false) AS is_slower,
	b.forecast AS forecast_for_calls, coalesce(t.judged_with, c.call_id) AS judged_with,
	1 - c.reads_before / nullif(c.accesses_before, 0) AS hit_fraction_before,
	1 - c.reads_after / nullif(c.accesses_after, 0) AS hit_fraction_after
FROM (SELECT s.*, m.call_id, m.forecast_saved_ms_per_s, bool_or(s.per_read
			AND s.saved - s.error > 0) OVER j AS reads_are_faster,
		max(s.saved) FILTER (WHERE s.per_read) OVER j AS each_saved
	FROM tablespace_advisor.measured_savings() s
	JOIN tablespace_advisor.judged_move m USING (job_id)
	WHERE s.samples_before >= 3
	WINDOW j AS (PARTITION BY s.job_id)) c
CROSS JOIN LATERAL (SELECT c.forecast_saved_ms_per_s * coalesce(c.load_ratio, 1)) f (forecast)
CROSS JOIN LATERAL (SELECT f.forecast, tablespace_advisor.outcome_band(f.forecast,
	c.before_ms_per_s) AS band) b
LEFT JOIN (SELECT m.call_id, min(t.first_call) AS judged_with
	FROM tablespace_advisor.statement_moves t
	JOIN tablespace_advisor.judged_move m USING (job_id)
	GROUP BY m.call_id) t ON t.call_id = c.call_id
WHERE NOT c.per_read;
COMMENT ON VIEW tablespace_advisor.measured_outcome IS
	'measured_savings() per move with three samples before it, its forecast at the calls after it, the difference that the two may have (band); reads_are_faster: also each read takes less, beyond the interval; takes_more: reading its relations takes more, and each read not less; is_slower: and more than forecast';

CREATE VIEW @extschema@.statement_outcomes AS
WITH turn AS MATERIALIZED (
	SELECT t.userid, t.queryid, t.turn, t.started_at, t.finished_at, t.not_before, t.not_after,
		array_agg(t.job_id ORDER BY t.job_id) AS job_ids,
		CASE WHEN bool_and(f.share IS NOT NULL)
			THEN sum(f.share * w.waited_ms / w.calls) END AS forecast
	FROM tablespace_advisor.statement_moves t
	JOIN tablespace_advisor.judged_move m USING (job_id)
	/* the part of the relation's waits that the move was to save, of the statement's */
	JOIN (SELECT w.job_id, w.userid, w.queryid, sum(w.calls) AS calls,
			sum(w.waited_ms) AS waited_ms
		FROM tablespace_advisor.moved_waits() w WHERE NOT w.is_after
		GROUP BY 1, 2, 3) w USING (job_id, userid, queryid)
	LEFT JOIN tablespace_advisor.measured_outcome o ON o.job_id = t.job_id
	CROSS JOIN LATERAL (SELECT least(1, o.forecast_for_calls
		/ nullif(o.before_ms_per_s, 0)) AS share) f
	GROUP BY 1, 2, 3, 4, 5, 6, 7
), side AS MATERIALIZED (
	SELECT t.userid, t.queryid, t.turn, s.is_after, count(*) AS samples,
		sum(w.calls::float8) AS calls, sum(s.seconds) AS seconds,
		sum(w.total_ms::float8) AS total_ms, sum(w.waited_ms::float8) AS waited_ms,
		tablespace_advisor.ratio_error(array_agg(w.waited_ms::float8),
			array_agg(w.calls::float8)) AS error
	FROM turn t
	CROSS JOIN LATERAL tablespace_advisor.samples_around(t.started_at, t.finished_at,
		t.not_before, t.not_after) s
	JOIN tablespace_advisor.statement_wait_sample w ON w.sample_id = s.sample_id
		AND w.userid = t.userid AND w.queryid = t.queryid
		AND w.access = 'all' AND w.class = 'application' AND w.calls > 0
	GROUP BY 1, 2, 3, 4
), compared AS (
	SELECT t.*, b.calls / b.seconds AS calls_before, a.calls / a.seconds AS calls_after,
		b.samples AS samples_before, a.samples AS samples_after,
		b.total_ms / b.calls AS mean_before, a.total_ms / a.calls AS mean_after,
		b.waited_ms / b.calls AS read_before, a.waited_ms / a.calls AS read_after,
		tablespace_advisor.difference_error(b.error, b.samples::int, a.error,
			a.samples::int) AS error
	FROM turn t
	JOIN side b ON (b.userid, b.queryid, b.turn) = (t.userid, t.queryid, t.turn)
		AND NOT b.is_after
	JOIN side a ON (a.userid, a.queryid, a.turn) = (t.userid, t.queryid, t.turn)
		AND a.is_after
)
SELECT CASE WHEN NOT v.is_visible THEN '<insufficient privilege>'
		ELSE coalesce(x.statement, 'query ' || c.queryid) END AS statement,
	tablespace_advisor.round_to_three(c.calls_before) AS calls_per_s_before,
	tablespace_advisor.round_to_three(c.calls_after) AS calls_per_s_after,
	tablespace_advisor.round_to_three(c.mean_before) AS mean_ms_before,
	tablespace_advisor.round_to_three(c.mean_after) AS mean_ms_after,
	tablespace_advisor.round_to_three(c.read_before) AS read_ms_before,
	tablespace_advisor.round_to_three(c.read_after) AS read_ms_after,
	tablespace_advisor.round_to_three(c.forecast) AS forecast_saved_ms,
	tablespace_advisor.round_to_three(s.saved) AS saved_ms,
	tablespace_advisor.round_to_three(s.saved - c.error) AS saved_low_ms,
	tablespace_advisor.round_to_three(s.saved + c.error) AS saved_high_ms,
	tablespace_advisor.round_to_three(s.saved * c.calls_after) AS saved_ms_per_s,
	tablespace_advisor.outcome_word(c.forecast, s.saved, c.error,
		tablespace_advisor.outcome_band(c.forecast, c.read_before)) AS outcome,
	CASE WHEN c.error IS NULL THEN 'waiting' WHEN s.saved - c.error > 0 THEN 'faster'
		WHEN s.saved + c.error < 0 THEN 'slower' ELSE 'no difference shown' END AS verdict,
	c.samples_before, c.samples_after, c.finished_at, c.job_ids,
	CASE WHEN v.is_visible THEN c.queryid END AS queryid, c.userid
FROM compared c
CROSS JOIN LATERAL (SELECT c.read_before - c.read_after AS saved) s
LEFT JOIN tablespace_advisor.readable_statements(40) x
	ON x.userid = c.userid AND x.queryid = c.queryid
CROSS JOIN LATERAL (SELECT pg_has_role('pg_read_all_stats', 'USAGE')
	OR coalesce(pg_has_role(c.userid, 'USAGE'), false) AS is_visible) v;
REVOKE ALL ON @extschema@.statement_outcomes FROM PUBLIC;
GRANT SELECT ON @extschema@.statement_outcomes, tablespace_advisor.judged_move,
	tablespace_advisor.measured_interval, tablespace_advisor.measured_window TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.moved_waits, tablespace_advisor.measured_savings,
	tablespace_advisor.samples_around TO pg_monitor;
COMMENT ON VIEW @extschema@.statement_outcomes IS
	'per statement and moves of relations that it reads (job_ids; those between which fewer than three samples lie are one): milliseconds that a call took (mean_ms) and waited for reads (read_ms) before and after, the decrease of the latter (saved_ms), with a 95 % interval over samples, and saved_ms_per_s at the calls after; forecast_saved_ms: of a call, NULL: none; outcome: as in move_outcomes; verdict: faster, slower or no difference shown (the interval holds zero), waiting: fewer than three samples on a side; of the fifty statements of a sample that wait most, where waits are measured';
