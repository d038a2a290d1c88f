/* Copyright (c) 2026, The tablespace_advisor developers */

/* How fast moves may go, and how fast they have to. */

CREATE VIEW tablespace_advisor.job_limits AS
SELECT j.job_id,
	CASE WHEN r.alters THEN r.max_rate ELSE j.max_rate END AS max_rate,
	CASE WHEN r.alters THEN r.min_rate ELSE j.min_rate END AS min_rate,
	CASE WHEN r.alters THEN r.finish_by ELSE j.finish_by END AS finish_by,
	coalesce(CASE WHEN r.alters THEN r.lock_timeout_ms END, j.lock_timeout_ms) AS lock_timeout_ms,
	CASE WHEN r.alters THEN r.during ELSE j.during END AS during
FROM tablespace_advisor.job j
	LEFT JOIN tablespace_advisor.request r ON r.job_id = j.job_id;
COMMENT ON VIEW tablespace_advisor.job_limits IS
	'limits of each move as they are now: its own, or those that alter_move() has put in their place; rates in bytes per second, max_rate -1: unlimited';

CREATE VIEW tablespace_advisor.waiting_job AS
SELECT j.job_id, j.batch_id, j.call_user, w.opens_at
FROM tablespace_advisor.job j
	JOIN tablespace_advisor.job_limits l ON l.job_id = j.job_id
	CROSS JOIN LATERAL (SELECT tablespace_advisor.window_opens(l.during,
		pg_catalog.clock_timestamp()) AS opens_at) w
WHERE j.state IN ('queued', 'interrupted') AND w.opens_at IS NOT NULL;
COMMENT ON VIEW tablespace_advisor.waiting_job IS
	'moves without a worker that wait for their daily time window, and when it opens';

COMMENT ON COLUMN tablespace_advisor.job.max_rate IS
	'bound in bytes per second; -1: unlimited, NULL: the rate adapts without a bound';
COMMENT ON COLUMN tablespace_advisor.job.min_rate IS
	'bytes per second below which the move is not throttled; NULL: none';
COMMENT ON COLUMN tablespace_advisor.job.finish_by IS
	'time by which all moves of the call are to have ended; NULL: whenever';
COMMENT ON COLUMN tablespace_advisor.job.others_lost_percent IS
	'the loss of others'' throughput in percent, as the move estimates it; NULL: not known';
COMMENT ON COLUMN tablespace_advisor.job.is_late IS
	'it has turned out that the move cannot end by finish_by';
