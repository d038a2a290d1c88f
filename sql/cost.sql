-- recommend_random_page_cost: measured times, current setting, honest verdict
SET allow_in_place_tablespaces = on;
SET TimeZone = 'UTC';
CREATE TABLESPACE regress_cost_disk LOCATION '';
CREATE TABLESPACE regress_cost_flash LOCATION '' WITH (random_page_cost = 1.25);
CREATE TABLESPACE "regress cost's odd" LOCATION '';
CREATE ROLE regress_cost_monitor IN ROLE pg_monitor;
CREATE ROLE regress_cost_nobody;
SET random_page_cost = 4;
SET seq_page_cost = 1;

-- the columns are a promise
SELECT unnest(string_to_array(pg_get_function_result(
	'recommend_random_page_cost'::regproc), ', ')) AS columns;

CREATE FUNCTION pg_temp.probe(run bigint, tablespace name, workload text,
	depth int, io_size int, iops float8, mean float8, caveat text DEFAULT NULL,
	location text DEFAULT NULL)
RETURNS void LANGUAGE sql AS $$
	INSERT INTO tablespace_advisor.probe_run
		(run_id, tablespace, location, mode, file_size_bytes, duration,
			started_at, finished_at)
		OVERRIDING SYSTEM VALUE
	SELECT run, $2, coalesce($9, pg_tablespace_location(oid)), 'scratch',
		268435456, '3 s', '2026-11-20 07:59+00', '2026-11-20 08:00+00'
	FROM pg_tablespace WHERE spcname = $2
	ON CONFLICT DO NOTHING;
	INSERT INTO tablespace_advisor.probe_result
		(run_id, workload, queue_depth, io_size, samples, iops, mean_us, caveat)
	VALUES (run, workload, depth, io_size, 600, iops, mean, caveat);
$$;

CREATE VIEW pg_temp.recommended AS
SELECT * FROM recommend_random_page_cost() WHERE tablespace ~ '^regress.cost';

BEGIN;
DELETE FROM tablespace_advisor.probe_run;
DELETE FROM tablespace_advisor.sample;

\echo -- nothing measured; which tablespace is first depends on the server
SELECT tablespace, verdict, random_page_cost, current_random_page_cost, statement,
	regexp_replace(translate(reason, E'\n', ' '), 'at tablespace \S+', 'at tablespace ...') AS reason
FROM pg_temp.recommended ORDER BY tablespace COLLATE "C";

-- 64 kB at 1000 per second: 8 pages in 1000 us, 125 us each; 5000 / 125 = 40
SELECT pg_temp.probe(1001, 'regress_cost_disk', 'random read', 1, 8192, 200, 5000);
SELECT pg_temp.probe(1001, 'regress_cost_disk', 'sequential read', 1, 65536, 1000, 900);
-- depth 16 is not what an index scan does; 8 kB at 20000 per second: 50 us
SELECT pg_temp.probe(1002, 'regress_cost_flash', 'random read', 1, 8192, 10000, 100);
SELECT pg_temp.probe(1002, 'regress_cost_flash', 'random read', 16, 8192, 80000, 200);
SELECT pg_temp.probe(1002, 'regress_cost_flash', 'sequential read', 1, 8192, 20000, 45);
\echo -- measured: page times, option of the tablespace before the setting
\x on
SELECT * FROM pg_temp.recommended
WHERE tablespace <> 'regress cost''s odd' ORDER BY tablespace COLLATE "C";
SELECT count(*) AS all_others FROM recommend_random_page_cost()
WHERE tablespace !~ '^regress.cost' AND verdict <> 'probe first';
\x off

\echo -- what is not to be believed does not count
-- newer, but with a caveat; made elsewhere
SELECT pg_temp.probe(1003, 'regress_cost_disk', 'random read', 1, 8192, 9, 9, 'foreign load');
SELECT pg_temp.probe(1005, 'regress_cost_disk', 'random read', 1, 8192, 9, 9, NULL, '/elsewhere');
-- other block size, no mean, other depth
SELECT pg_temp.probe(1006, 'regress_cost_disk', 'random read', 1, 4096, 9, 9);
SELECT pg_temp.probe(1007, 'regress_cost_disk', 'random read', 1, 8192, 9, NULL);
SELECT pg_temp.probe(1008, 'regress_cost_disk', 'random read', 2, 8192, 9, 9);
SELECT random_read_us, sequential_page_us, translate(detail, E'\n', ' ') ~ 'run 1001 ' AS of_run_1001
FROM recommend_random_page_cost('regress_cost_disk');
-- a newer measurement that is to be believed replaces the older one
SELECT pg_temp.probe(1009, 'regress_cost_disk', 'random read', 1, 8192, 250, 4000);
SELECT verdict, random_read_us, sequential_page_us, reason, detail
FROM recommend_random_page_cost('regress_cost_disk');
-- only untrustworthy ones
SELECT pg_temp.probe(1010, 'regress cost''s odd', 'random read', 1, 8192, 200, 5000, 'page cache answered');
SELECT verdict, statement, reason, detail FROM recommend_random_page_cost('regress cost''s odd');
SELECT pg_temp.probe(1011, 'regress cost''s odd', 'sequential read', 1, 8192, 200, 5000, 'file too small');
SELECT verdict, reason FROM recommend_random_page_cost('regress cost''s odd');
SELECT pg_temp.probe(1012, 'regress cost''s odd', 'sequential read', 1, 8192, 200, 5000);
SELECT verdict, random_page_cost, random_read_us, sequential_page_us, statement, reason
FROM recommend_random_page_cost('regress cost''s odd');

\echo -- the setting of the session counts where the tablespace has no option
SET LOCAL random_page_cost = 2.5;
SELECT tablespace, random_page_cost, current_random_page_cost
FROM pg_temp.recommended ORDER BY tablespace COLLATE "C";

\echo -- who may ask
SET LOCAL ROLE regress_cost_monitor;
SELECT verdict, random_read_us FROM recommend_random_page_cost('regress_cost_disk');
-- who may not probe is told who may
RESET ROLE;
DELETE FROM tablespace_advisor.probe_run WHERE tablespace = 'regress_cost_flash';
SELECT verdict, statement, reason FROM recommend_random_page_cost('regress_cost_flash');
SET LOCAL ROLE regress_cost_monitor;
SELECT verdict, statement, reason FROM recommend_random_page_cost('regress_cost_flash');
RESET ROLE;
GRANT EXECUTE ON FUNCTION probe_tablespace TO regress_cost_monitor;
SET LOCAL ROLE regress_cost_monitor;
SELECT verdict, reason FROM recommend_random_page_cost('regress_cost_flash');
ROLLBACK;

SET ROLE regress_cost_nobody;
SELECT * FROM recommend_random_page_cost();
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;

\echo -- bad input
\set SHOW_CONTEXT never
SELECT * FROM recommend_random_page_cost('regress_no_such');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM recommend_random_page_cost('pg_global');
\echo :LAST_ERROR_SQLSTATE

DROP VIEW pg_temp.recommended;
DROP ROLE regress_cost_monitor, regress_cost_nobody;
DROP TABLESPACE regress_cost_disk;
DROP TABLESPACE regress_cost_flash;
DROP TABLESPACE "regress cost's odd";
