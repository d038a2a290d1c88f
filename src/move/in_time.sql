/* Copyright (c) 2026, The tablespace_advisor developers */

/* Whether moves can end in time. */

CREATE FUNCTION tablespace_advisor.bytes_left_beside(job bigint)
RETURNS bigint
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(sum(greatest(o.bytes_left, 0)), 0)::bigint
	FROM tablespace_advisor.job j
		JOIN tablespace_advisor.job_now o ON o.batch_id = j.batch_id
			AND o.job_id <> j.job_id
			AND tablespace_advisor.is_unfinished(o.state)
	WHERE j.job_id = job
$$;
COMMENT ON FUNCTION tablespace_advisor.bytes_left_beside(bigint) IS
	'bytes that are still to be moved by the other moves of the same call';

/*
 * The best rates so far, since the question is whether it is impossible: moves that
 * gave way to others, and a probe beside others, say too little.
 */
CREATE FUNCTION tablespace_advisor.full_rate(
	source oid, target oid, move_method text, max_rate bigint)
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT least(CASE WHEN max_rate > 0 THEN max_rate END, greatest(
		(SELECT max(m.bytes_per_s)
			FROM tablespace_advisor.latest_moves(
				source, target, move_method = 'rebuild') m),
		tablespace_advisor.move_rate(source, target, move_method)))
$$;
COMMENT ON FUNCTION tablespace_advisor.full_rate(oid, oid, text, bigint) IS
	'bytes per second that a move between two tablespaces can make at best, at most max_rate; NULL when nothing was measured';

CREATE FUNCTION tablespace_advisor.earliest_end(batch bigint)
RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.window_end(min(j.during), clock_timestamp(),
		sum(j.bytes_total / tablespace_advisor.full_rate(j.from_tablespace,
			j.to_tablespace, j.method, j.max_rate)))
	FROM tablespace_advisor.job j
	WHERE j.batch_id = batch AND j.bytes_total > 0
		AND tablespace_advisor.is_unfinished(j.state)
$$;
COMMENT ON FUNCTION tablespace_advisor.earliest_end(bigint) IS
	'when the moves of a call can have ended at best, one after the other at the highest rates that have been measured; NULL when none was';
