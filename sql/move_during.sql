-- Daily time windows: what they may be, and who takes them.
SET allow_in_place_tablespaces = on;
SET client_min_messages = warning;
CREATE TABLESPACE regress_window LOCATION '';
CREATE TABLE windowed (id int PRIMARY KEY);
INSERT INTO windowed SELECT generate_series(1, 10);
CREATE TABLE windowed_by (a int) PARTITION BY RANGE (a);
CREATE TABLE windowed_by_1 PARTITION OF windowed_by FOR VALUES FROM (0) TO (10);

\set move 'CALL move_indexes_concurrently(''windowed'', '
:move 'regress_window', during => '00:00 - 24:00') \gset
:move 'pg_default', during => '12:00-12:00:01', dry_run => true) \gset
:move 'pg_default', during => 'None') \gset
SELECT state, during FROM tablespace_moves ORDER BY job_id DESC LIMIT 2;

-- none of them
:move 'regress_window', during => '');
:move 'regress_window', during => '01:00');
:move 'regress_window', during => '25:00-26:00');
:move 'regress_window', during => '1 am-5 am');
:move 'regress_window', during => E'01:00-05:00\n');
:move 'regress_window', during => '05:00-05:00');
\set VERBOSITY sqlstate
:move 'regress_window', during => '05:00-05:00');
CALL move_table_concurrently('windowed', 'regress_window', during => 'night');
CALL move_partitions_concurrently('windowed_by', 'regress_window', older_than => '1 day', during => 'night');
CALL evacuate_tablespace('regress_window', 'pg_default', during => 'night');
CALL apply_placement(during => 'night', dry_run => true);

-- a window that is closed: nothing begins, and that shows
SELECT to_char(n + interval '2 h', 'HH24:MI') || '-' || to_char(n + interval '3 h', 'HH24:MI') AS closed
FROM (SELECT now() AT TIME ZONE current_setting('log_timezone') AS n) n \gset
CALL move_table_concurrently('windowed', 'regress_window', with_indexes => true, wait => false, during => :'closed') \gset
SELECT state, phase, during = :'closed' AS its_own, opens_at > now() AS opens_later, pid
FROM tablespace_moves WHERE relation = 'windowed'::regclass;
SELECT rate, waits_for ~ '^its time window, which opens at ' AS waits FROM tablespace_moves_active;
SELECT wait_for_moves(:'job_ids', '0 s');
SELECT alter_move(max(job_id), during => 'night') FROM tablespace_moves;
SELECT alter_move(max(job_id), during => NULL) FROM tablespace_moves;
SELECT alter_move(max(job_id), max_rate => '1 MB') FROM tablespace_moves;
SELECT during = :'closed' AS kept FROM tablespace_advisor.job_limits ORDER BY job_id DESC LIMIT 1;
BEGIN;
SELECT alter_move(max(job_id), during => 'none') FROM tablespace_moves;
ROLLBACK;
SELECT wait_for_moves(:'job_ids', '0 s');
SELECT alter_move(max(job_id), max_rate => 'none', during => 'none') FROM tablespace_moves;
SELECT wait_for_moves(:'job_ids');
SELECT state, during FROM tablespace_moves ORDER BY job_id DESC LIMIT 1;

-- the arithmetic is tested by test/unit/test_daily_window.c
SELECT tablespace_advisor.window_opens(NULL, now()), tablespace_advisor.window_opens('00:00-24:00', now()),
	tablespace_advisor.window_end(NULL, '2026-01-01', 1.5) - '2026-01-01' AS later,
	tablespace_advisor.window_end('00:00-24:00', '2026-01-01', 60) - '2026-01-01' AS in_it,
	tablespace_advisor.window_end('01:00-01:00:01', '2026-01-01', 1e9) AS never;

CALL move_table_concurrently('windowed', 'pg_default', with_indexes => true) \gset
DROP TABLE windowed, windowed_by;
DROP TABLESPACE regress_window;
