/*
 * How fast moves are: the one estimate that all stages use.
 *
 * Users that may move a relation must not decide which moves others may begin.  So
 * time at work counts only, without pauses and waits for locks; moves that somebody
 * wanted slow do not count at all; and the caller's own moves and those of
 * superusers count, others' only if there are no such moves.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */

/* Of small moves the time is that of their commits. */
CREATE VIEW tablespace_advisor.measured_move AS
SELECT m.job_id, m.owner, m.relation, m.from_tablespace, m.to_tablespace,
	m.method = 'rebuild' AS is_rebuild,
	m.max_rate IS NOT NULL AS is_unlimited,
	m.bytes, m.bytes / m.seconds AS bytes_per_s
FROM (SELECT j.*, j.bytes_total AS bytes,
		extract(epoch FROM j.finished_at - j.started_at)::float8
			- (j.paused_ms + j.waited_ms) / 1000 AS seconds
	FROM tablespace_advisor.job j
	WHERE j.state = 'done' AND j.bytes_total >= 1048576) m
WHERE m.method IN ('copy', 'rebuild') AND coalesce(m.max_rate, -1) < 0
	AND m.restarts = 0 AND m.interrupted_at IS NULL AND m.seconds > 0
	AND NOT EXISTS (SELECT FROM tablespace_advisor.request r
		WHERE r.job_id = m.job_id AND r.alters);
COMMENT ON VIEW tablespace_advisor.measured_move IS
	'moves of 1 MB (1048576 bytes) or more that show how fast moves are: without max_rate, with limits that nobody altered, that did not start over; bytes_per_s: of the time at work, that is without pauses and waits for locks';

/*
 * The latest of each role, however many others have.
 */
CREATE FUNCTION tablespace_advisor.latest_moves(
	source oid, target oid, rebuilds boolean)
RETURNS SETOF tablespace_advisor.measured_move
LANGUAGE sql STABLE ROWS 50
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT m.*
	FROM pg_roles r
		CROSS JOIN LATERAL (SELECT m.*
			FROM tablespace_advisor.measured_move m
			WHERE m.to_tablespace = target AND m.from_tablespace = source
				AND m.owner = r.oid AND m.is_rebuild = rebuilds
			ORDER BY m.job_id DESC LIMIT 50) m
$$;
COMMENT ON FUNCTION tablespace_advisor.latest_moves(oid, oid, boolean) IS
	'the last 50 moves of each role from one tablespace to another one: rebuilds, or live copies';

/*
 * The median by bytes, in which each relation counts once, by its own median.
 * A move without regard for others tells of another such one, if there was one.
 */
CREATE FUNCTION tablespace_advisor.moved_rate(
	source oid, target oid, move_method text, max_rate bigint DEFAULT NULL,
	asker oid DEFAULT NULL)
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH move AS (
		SELECT m.*, 2 * (asker IS NULL OR m.owner = asker
				OR r.rolsuper)::int
			+ (m.is_unlimited = (coalesce(moved_rate.max_rate, 0) < 0))::int AS weight
		FROM tablespace_advisor.latest_moves(
				source, target, move_method = 'rebuild') m
			JOIN pg_roles r ON r.oid = m.owner
	), moved AS (
		SELECT max(m.bytes) AS bytes, percentile_cont(0.5)
			WITHIN GROUP (ORDER BY m.bytes_per_s) AS bytes_per_s
		FROM move m
		WHERE m.weight = (SELECT max(w.weight) FROM move w)
		GROUP BY m.relation
	)
	SELECT r.bytes_per_s
	FROM (SELECT m.bytes_per_s, sum(m.bytes) OVER () AS total,
			sum(m.bytes) OVER (ORDER BY m.bytes_per_s, m.bytes
				ROWS UNBOUNDED PRECEDING) AS up_to
		FROM moved m) r
	WHERE 2 * r.up_to >= r.total
	ORDER BY r.bytes_per_s LIMIT 1
$$;
COMMENT ON FUNCTION tablespace_advisor.moved_rate IS
	'bytes per second at work of earlier moves between two tablespaces: median by bytes over the relations that the asker (NULL: anybody) or a superuser has moved, else others; with max_rate below 0 rather of unlimited moves; NULL when there was none';

CREATE FUNCTION tablespace_advisor.move_rate(
	source oid, target oid, move_method text, max_rate bigint DEFAULT NULL,
	asker oid DEFAULT NULL)
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT least(CASE WHEN max_rate > 0 THEN max_rate END, coalesce(
		tablespace_advisor.moved_rate(source, target, move_method, max_rate,
			asker),
		(SELECT current_setting('block_size')::float8 * 1e6 /
				(s.sequential_page_us
					+ coalesce(t.sequential_write_page_us, 0))
			FROM tablespace_advisor.tablespace_latency s,
				tablespace_advisor.tablespace_latency t
			WHERE s.tablespace_oid = source AND t.tablespace_oid = target
				AND move_method <> 'rebuild')))
$$;
COMMENT ON FUNCTION tablespace_advisor.move_rate IS
	'bytes per second that a move between two tablespaces makes, at most max_rate (below 0: unlimited): by earlier moves (moved_rate), else by probes; NULL when nothing was measured';

COMMENT ON COLUMN tablespace_advisor.job.waited_ms IS
	'milliseconds for which a copy waited for locks of others; 0 for other methods';
