/* How fast moves are, and whether one is to be begun. */

/*
 * The median of the last twenty moves of some size, of those that nobody has
 * given a max_rate, and without their pauses: whoever may move slowly must not
 * decide what others may begin.  Before there is any, what the probes say of
 * reading and writing one after the other.  max_rate below 0: unlimited.
 */
CREATE FUNCTION tablespace_advisor.move_rate(
	source oid, target oid, move_method text, max_rate bigint DEFAULT NULL)
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT least(CASE WHEN max_rate > 0 THEN max_rate END, coalesce(
		(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m.rate)
			FROM (SELECT j.bytes_total / w.seconds AS rate
				FROM tablespace_advisor.job j
				CROSS JOIN LATERAL (SELECT extract(epoch FROM j.finished_at
					- j.started_at)::float8 - j.paused_ms / 1000) w (seconds)
				WHERE j.state = 'done' AND j.to_tablespace = target
					AND (j.method = 'rebuild') = (move_method = 'rebuild')
					AND j.bytes_total >= 1048576
					AND coalesce(j.max_rate, -1) < 0 AND w.seconds > 0
				ORDER BY j.job_id DESC LIMIT 20) m),
		(SELECT current_setting('block_size')::float8 * 1e6 /
				(s.sequential_page_us
					+ coalesce(t.sequential_write_page_us, 0))
			FROM tablespace_advisor.tablespace_latency s,
				tablespace_advisor.tablespace_latency t
			WHERE s.tablespace_oid = source AND t.tablespace_oid = target
				AND move_method <> 'rebuild')))
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.move_rate(oid, oid, text, bigint)
	FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.move_rate(oid, oid, text, bigint) IS
	'bytes per second that a move between two tablespaces makes, at most max_rate: by earlier moves without max_rate, else by probes; NULL when nothing was measured';

CREATE FUNCTION tablespace_advisor.reason_not_to_begin(job bigint)
RETURNS text
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN j.until < clock_timestamp() THEN
			'the time in which it was to be moved has ended'
		WHEN j.until < clock_timestamp() + make_interval(secs => j.bytes_total /
				tablespace_advisor.move_rate(j.from_tablespace,
					j.to_tablespace, j.method, l.max_rate)) THEN
			format('at the measured rate it would not have been moved by %s',
				j.until)
		WHEN j.lock_up_to < (SELECT sum(tablespace_advisor.relation_bytes(r))
				FROM pg_class c
					CROSS JOIN LATERAL unnest(ARRAY[c.oid, c.reltoastrelid]) r
				WHERE c.oid = j.relation) THEN
			format('it has become larger than %s',
				pg_size_pretty(j.lock_up_to))
		END
	FROM tablespace_advisor.job j
		JOIN tablespace_advisor.job_limits l USING (job_id)
	WHERE j.job_id = job
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.reason_not_to_begin(bigint)
	FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.reason_not_to_begin(bigint) IS
	'why a queued move is not to be begun; NULL if it may be';

COMMENT ON COLUMN tablespace_advisor.job.until IS
	'the move is not begun if it would not end by then; NULL: whenever';
COMMENT ON COLUMN tablespace_advisor.job.lock_up_to IS
	'method lock: the relation is not moved if it is larger by then, in bytes';
