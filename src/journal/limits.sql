/* Copyright (c) 2026, The tablespace_advisor developers */

/* How fast moves may go, and how fast they have to. */

CREATE VIEW tablespace_advisor.job_limits AS
SELECT j.job_id,
	CASE WHEN r.alters THEN r.max_rate ELSE j.max_rate END AS max_rate,
	CASE WHEN r.alters THEN r.min_rate ELSE j.min_rate END AS min_rate,
	CASE WHEN r.alters THEN r.finish_by ELSE j.finish_by END AS finish_by,
	coalesce(CASE WHEN r.alters THEN r.lock_timeout_ms END, j.lock_timeout_ms) AS lock_timeout_ms
FROM tablespace_advisor.job j
	LEFT JOIN tablespace_advisor.request r ON r.job_id = j.job_id;
COMMENT ON VIEW tablespace_advisor.job_limits IS
	'limits of each move as they are now: its own, or those that alter_move() has put in their place; rates in bytes per second, max_rate -1: unlimited';

COMMENT ON COLUMN tablespace_advisor.job.max_rate IS
	'bound in bytes per second; -1: unlimited, NULL: the rate adapts without a bound';
COMMENT ON COLUMN tablespace_advisor.job.min_rate IS
	'bytes per second below which the move is not throttled; NULL: none';
COMMENT ON COLUMN tablespace_advisor.job.finish_by IS
	'time by which all moves of the call are to have ended; NULL: whenever';
COMMENT ON COLUMN tablespace_advisor.job.others_lost_percent IS
	'what others got done less than they could have, in percent, as the move estimates it; NULL: not known';
COMMENT ON COLUMN tablespace_advisor.job.is_late IS
	'it has turned out that the move cannot end by finish_by';
