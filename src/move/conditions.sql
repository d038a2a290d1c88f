/* Copyright (c) 2026, The tablespace_advisor developers */

/* Whether a move is to be begun. */

CREATE FUNCTION tablespace_advisor.reason_not_to_begin(job bigint)
RETURNS text
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN j.until < clock_timestamp() THEN
			'the time in which it was to be moved has ended'
		WHEN j.until < tablespace_advisor.window_end(l.during,
				clock_timestamp(), j.bytes_total /
				tablespace_advisor.move_rate(j.from_tablespace,
					j.to_tablespace, j.method, l.max_rate, j.owner)) THEN
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
COMMENT ON FUNCTION tablespace_advisor.reason_not_to_begin(bigint) IS
	'why a queued move is not to be begun; NULL if it may be';

COMMENT ON COLUMN tablespace_advisor.job.until IS
	'the move is not begun if it would not end by then; NULL: whenever';
COMMENT ON COLUMN tablespace_advisor.job.lock_up_to IS
	'method lock: the relation is not moved if it is larger by then, in bytes';
