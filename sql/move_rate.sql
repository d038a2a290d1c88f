-- The rate of a move: what max_rate may be, and what the view says of it.
SET allow_in_place_tablespaces = on;
SET client_min_messages = warning;
CREATE TABLESPACE regress_pace LOCATION '';
RESET client_min_messages;
CREATE TABLE paced (id int PRIMARY KEY, payload text);
INSERT INTO paced SELECT n, repeat('x', 100) FROM generate_series(1, 20000) n;

\set move 'CALL move_indexes_concurrently(''paced'', '
:move 'regress_pace', max_rate => 'unlimited') \gset
:move 'pg_default', max_rate => 'Unlimited') \gset
:move 'regress_pace', max_rate => '100 MB') \gset
:move 'pg_default', max_rate => NULL) \gset
CALL move_table_concurrently('paced', 'regress_pace', max_rate => 'unlimited') \gset
SELECT state, method, max_rate
FROM tablespace_advisor.job
WHERE relation_name LIKE 'paced%' ORDER BY job_id;

-- a present rate is of what runs
SELECT count(present_mb_per_s) AS rates, count(rate_reason) AS reasons
FROM tablespace_moves;

-- how it is repeated and undone
SELECT undo_move(max(job_id)) IS NOT NULL AS undone FROM tablespace_moves;
DO $$
BEGIN
	WHILE EXISTS (SELECT FROM tablespace_moves
		WHERE state IN ('queued', 'running'))
	LOOP
		PERFORM pg_sleep(0.01);
	END LOOP;
END $$;
SELECT state, max_rate FROM tablespace_advisor.job
ORDER BY job_id DESC LIMIT 1;

-- no bound
:move 'regress_pace', max_rate => 'none', min_rate => 'None') \gset
:move 'pg_default', max_rate => 'NONE', min_rate => '1 MB') \gset
SELECT state, max_rate, min_rate FROM tablespace_advisor.job ORDER BY job_id DESC LIMIT 2;

-- neither
:move 'regress_pace', max_rate => 'infinite');
:move 'regress_pace', max_rate => '1 XB');
:move 'regress_pace', max_rate => '0');
:move 'regress_pace', min_rate => '0');
:move 'regress_pace', min_rate => 'unlimited');
:move 'regress_pace', max_rate => '1 MB', min_rate => '2 MB');
CALL move_table_concurrently('paced', 'regress_pace', max_rate => '1 MB', min_rate => '2 MB');
CALL evacuate_tablespace('regress_pace', 'pg_default', max_rate => '1 MB', min_rate => '2 MB');
-- nothing begins that would not end by then
\set VERBOSITY terse
:move 'regress_pace', until => '2000-01-01');
\set VERBOSITY default
-- without a unit
:move 'pg_default', max_rate => '50', dry_run => true);
-- a move that has ended is not altered, nor is one that there is not
SELECT alter_move(max(job_id), max_rate => '1 MB') FROM tablespace_moves;
SELECT alter_move(-1, max_rate => '1 MB');
SELECT alter_move(NULL, max_rate => '1 MB');
-- a rebuild has no rate
SET client_min_messages = warning;
:move 'regress_pace', max_rate => 'unlimited', method => 'rebuild') \gset
SELECT rate_reason IS NULL AS none FROM tablespace_moves
WHERE method = 'rebuild' AND relation_name LIKE 'public.paced%';

DROP TABLE paced;
DROP TABLESPACE regress_pace;
