
/*
 * src/move/outcomes.sql
 *
 * What a move was expected to save, beside what was measured.  The moves of a
 * call are followed by each other within minutes, so what the database did
 * after them belongs to all of them: the unit is the batch.  Windows before
 * and after are equally long, as long as samples allow, one day at most, and
 * hold no part of the move itself, nor of the moves of other calls.
 *
 * The server times reads per database, not per relation.  The load is hardly
 * the same in both windows, so the read time after the move is scaled to the
 * block accesses before it.
 */
CREATE FUNCTION tablespace_advisor.summarize_intervals(
	begins timestamptz,
	ends timestamptz,
	OUT intervals bigint,
	OUT first_id int,
	OUT last_id int,
	OUT seconds float8,
	OUT accesses_per_s float8,
	OUT reads_per_s float8,
	OUT hit_fraction float8,
	OUT read_ms_per_s float8,
	OUT read_ms_error float8,
	OUT statements_per_s float8,
	OUT statement_ms float8,
	OUT statement_ms_error float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT count(*), min(i.sample_id), max(i.sample_id), sum(i.seconds),
		sum(i.blocks_read + i.blocks_hit) / sum(i.seconds),
		sum(i.blocks_read) / sum(i.seconds),
		sum(i.blocks_hit) / nullif(sum(i.blocks_read + i.blocks_hit), 0)::float8,
		CASE WHEN bool_and(i.read_ms IS NOT NULL)
			THEN sum(i.read_ms) / sum(i.seconds) END,
		CASE WHEN bool_and(i.read_ms IS NOT NULL) AND count(*) >= 3
			THEN stddev(i.read_ms / nullif(i.seconds, 0)) / sqrt(count(*)) END,
		CASE WHEN bool_and(i.statements IS NOT NULL)
			THEN sum(i.statements) / sum(i.seconds) END,
		CASE WHEN bool_and(i.statements IS NOT NULL)
			THEN sum(i.statements_ms) / nullif(sum(i.statements), 0)::float8 END,
		CASE WHEN bool_and(i.statements > 0) AND count(*) >= 3
			THEN stddev(i.statements_ms / i.statements) / sqrt(count(*)) END
	FROM tablespace_advisor.sample_interval i
	WHERE i.started_at >= begins AND i.taken_at <= ends AND i.seconds > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.summarize_intervals(timestamptz, timestamptz) IS
	'the samples that lie between two moments as a whole: how many, seconds, the database''s block accesses and reads per second, share of accesses found in shared buffers, milliseconds per second that the server timed for reads and statements and milliseconds per statement by pg_stat_statements, both times with the standard error of the mean of the samples; NULL where there is nothing of that';

CREATE FUNCTION tablespace_advisor.relation_reads(
	relations oid[],
	first_id int,
	last_id int,
	OUT reads float8,
	OUT hits float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(sum(r.reads), 0)::float8, coalesce(sum(r.hits), 0)::float8
	FROM tablespace_advisor.relation_sample r
	WHERE r.sample_id BETWEEN first_id AND last_id
		AND r.relation = ANY (relations)
$$;
COMMENT ON FUNCTION tablespace_advisor.relation_reads(oid[], int, int) IS
	'blocks that some relations read past shared buffers and found in them, in samples from one to another';

CREATE VIEW @extschema@.move_outcomes AS
WITH batch AS MATERIALIZED (
	SELECT j.batch_id, min(j.started_at) AS started_at,
		max(j.finished_at) AS finished_at,
		sum(j.forecast_saved_ms_per_s) AS forecast_saved_ms_per_s
	FROM tablespace_advisor.job j
	WHERE j.state = 'done' AND j.method <> 'catalog'
	GROUP BY j.batch_id
	HAVING NOT EXISTS (SELECT FROM tablespace_advisor.job u
		WHERE u.batch_id = j.batch_id
			AND u.state IN ('queued', 'running', 'paused'))
), edge AS (
	SELECT batch_id, started_at AS at, true AS is_start FROM batch
	UNION ALL
	SELECT batch_id, finished_at, false FROM batch
), beside AS (
	/* the last end before a start, and the first start after an end */
	SELECT e.batch_id, e.is_start,
		max(e.at) FILTER (WHERE NOT e.is_start) OVER (
			ORDER BY e.at, e.is_start ROWS UNBOUNDED PRECEDING) AS ended_at,
		min(e.at) FILTER (WHERE e.is_start) OVER (
			ORDER BY e.at DESC, e.is_start DESC ROWS UNBOUNDED PRECEDING) AS started_at
	FROM edge e
), sampled AS MATERIALIZED (
	SELECT min(i.started_at) AS begins, min(i.taken_at) AS first_end,
		max(i.started_at) AS last_begin, max(i.taken_at) AS ends
	FROM tablespace_advisor.sample_interval i
), compared AS MATERIALIZED (
	SELECT b.batch_id, b.forecast_saved_ms_per_s AS forecast,
		w.length, p AS before, n AS after
	FROM batch b
	JOIN sampled s ON b.started_at >= s.first_end AND b.finished_at <= s.last_begin
	JOIN beside l ON l.batch_id = b.batch_id AND l.is_start
	JOIN beside f ON f.batch_id = b.batch_id AND NOT f.is_start
	CROSS JOIN LATERAL
		/* what other calls moved is in neither window */
		(SELECT least(interval '1 day', b.started_at - s.begins, s.ends - b.finished_at,
			b.started_at - l.ended_at, f.started_at - b.finished_at) AS length) w
	CROSS JOIN LATERAL tablespace_advisor.summarize_intervals(
		b.started_at - w.length, b.started_at) p
	CROSS JOIN LATERAL tablespace_advisor.summarize_intervals(
		b.finished_at, b.finished_at + w.length) n
), measured AS MATERIALIZED (
	SELECT c.*,
		(c.before).read_ms_per_s - (c.after).read_ms_per_s * s.scale AS saved,
		1.96 * sqrt((c.before).read_ms_error ^ 2
			+ ((c.after).read_ms_error * s.scale) ^ 2) AS error,
		(c.before).statement_ms - (c.after).statement_ms AS statement_saved,
		1.96 * sqrt((c.before).statement_ms_error ^ 2
			+ (c.after).statement_ms_error ^ 2) AS statement_error
	FROM compared c
	CROSS JOIN LATERAL
		(SELECT (c.before).accesses_per_s
			/ nullif((c.after).accesses_per_s, 0) AS scale) s
), read AS MATERIALIZED (
	SELECT j.job_id, b AS before, a AS after
	FROM measured m
	JOIN tablespace_advisor.job j USING (batch_id)
	CROSS JOIN LATERAL
		(SELECT array_remove(ARRAY[j.relation, j.old_index], NULL)
			|| coalesce(j.indexes, '{}')
			|| array(SELECT i.relation
				FROM tablespace_advisor.relation_inventory i
				WHERE i.heap = j.relation AND i.kind IN ('toast', 'toast index'))
			AS moved) r
	CROSS JOIN LATERAL tablespace_advisor.relation_reads(r.moved,
		(m.before).first_id, (m.before).last_id) b
	CROSS JOIN LATERAL tablespace_advisor.relation_reads(r.moved,
		(m.after).first_id, (m.after).last_id) a
)
SELECT j.job_id, j.batch_id, j.relation::regclass AS relation,
	pg_catalog.format('%I.%I', j.schema_name, j.relation_name)
		AS relation_name,
	j.from_tablespace_name AS from_tablespace,
	j.to_tablespace_name AS to_tablespace,
	j.finished_at,
	CASE
		WHEN j.state <> 'done' THEN j.state
		WHEN m.saved IS NULL THEN 'not measured'
		WHEN m.forecast IS NULL THEN 'no forecast'
		WHEN m.error IS NULL THEN 'too few samples'
		WHEN m.saved + m.error < 0.75 * m.forecast THEN 'saved less'
		WHEN m.saved - m.error > 1.25 * m.forecast THEN 'saved more'
		ELSE 'as forecast'
	END AS outcome,
	j.forecast_saved_ms_per_s,
	b.forecast_saved_ms_per_s AS batch_forecast_ms_per_s,
	m.saved AS batch_saved_ms_per_s,
	m.saved - m.error AS batch_saved_low,
	m.saved + m.error AS batch_saved_high,
	pg_catalog.extract('epoch', m.length)::float8 AS window_s,
	(m.before).intervals AS samples_before,
	(m.after).intervals AS samples_after,
	(m.before).read_ms_per_s AS read_ms_per_s_before,
	(m.after).read_ms_per_s AS read_ms_per_s_after,
	(m.before).accesses_per_s AS accesses_per_s_before,
	(m.after).accesses_per_s AS accesses_per_s_after,
	(r.before).reads / nullif((m.before).seconds, 0) AS reads_per_s_before,
	(r.after).reads / nullif((m.after).seconds, 0) AS reads_per_s_after,
	(r.before).hits / nullif((r.before).reads + (r.before).hits, 0) AS hit_fraction_before,
	(r.after).hits / nullif((r.after).reads + (r.after).hits, 0) AS hit_fraction_after,
	(m.before).statement_ms AS statement_ms_before,
	(m.after).statement_ms AS statement_ms_after,
	m.forecast / nullif((m.before).statements_per_s, 0)
		AS statement_forecast_saved_ms,
	m.statement_saved AS statement_saved_ms,
	m.statement_saved - m.statement_error AS statement_saved_low,
	m.statement_saved + m.statement_error AS statement_saved_high,
	CASE
		WHEN j.state <> 'done' OR j.method = 'catalog' THEN NULL
		WHEN EXISTS (SELECT FROM tablespace_advisor.job u
			WHERE u.relation = j.relation AND u.job_id > j.job_id AND u.state = 'done'
				AND u.from_tablespace = j.to_tablespace
				AND u.to_tablespace = j.from_tablespace) THEN 'undone'
		WHEN m.saved IS NULL OR m.error IS NULL OR m.saved + m.error < 0 THEN 'waiting'
		ELSE 'verified'
	END AS verdict
FROM tablespace_advisor.job j
LEFT JOIN batch b USING (batch_id)
LEFT JOIN measured m USING (batch_id)
LEFT JOIN read r USING (job_id)
WHERE j.state NOT IN ('queued', 'running', 'paused');
REVOKE ALL ON @extschema@.move_outcomes FROM PUBLIC;
GRANT SELECT ON @extschema@.move_outcomes TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.summarize_intervals(timestamptz, timestamptz),
	tablespace_advisor.relation_reads(oid[], int, int) TO pg_monitor;
COMMENT ON VIEW @extschema@.move_outcomes IS
	'per ended move: the forecast beside what samples measured in equal windows before and after all moves of the same call. outcome: as forecast, saved less or saved more (beyond 25 % and the interval), no forecast, not measured (no samples on both sides, or track_io_timing off), too few samples (fewer than three on a side), failed or cancelled. batch_saved_ms_per_s: read time of the database before, minus that after it scaled to the same number of block accesses, in milliseconds per second, with a 95 % interval; reads_per_s_…, hit_fraction_…: of the moved relations; accesses_per_s_…: blocks of the whole database; statement_ms_…: mean of all statements by pg_stat_statements, NULL without it; statement_forecast_saved_ms: the forecast as milliseconds per statement, statement_saved_…: what was saved of one, with a 95 % interval; verdict: verified (reading did not get slower), undone (moved back since), waiting (not known yet, or to be undone by apply_placement()).';
