-- plans of placements and costs that are not there
CREATE EXTENSION IF NOT EXISTS tablespace_advisor;
SET allow_in_place_tablespaces = on;
SET max_parallel_workers_per_gather = 0;
SET random_page_cost = 4;
SET seq_page_cost = 1;
CREATE TABLESPACE regress_assume_fast LOCATION '' WITH (random_page_cost = 1, seq_page_cost = 1);
CREATE TABLESPACE regress_assume_slow LOCATION '' WITH (random_page_cost = 400, seq_page_cost = 100);
CREATE ROLE regress_assume_nobody;
CREATE SCHEMA regress_assume;
CREATE TABLE regress_assume.t (k int, pad text) WITH (autovacuum_enabled = off);
INSERT INTO regress_assume.t SELECT i * 7919 % 20000, repeat('x', 200) FROM generate_series(1, 20000) i;
CREATE INDEX t_k ON regress_assume.t (k);
VACUUM ANALYZE regress_assume.t;
CREATE FUNCTION pg_temp.cost(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
CREATE TEMP TABLE before AS SELECT pg_temp.cost('SELECT * FROM regress_assume.t') AS seq,
	pg_temp.cost('SELECT * FROM regress_assume.t WHERE k < 200') AS index;

-- a table and its index are placed apart
SELECT assume_placement('regress_assume.t', 'regress_assume_slow');
SELECT * FROM assumed_placements();
SELECT pg_temp.cost('SELECT * FROM regress_assume.t') > 50 * seq AS dear FROM before;
SELECT count(*) FROM regress_assume.t WHERE k < 200;
SELECT assume_placement('regress_assume.t', 'regress_assume_fast'),
	assume_placement('regress_assume.t_k', 'regress_assume_fast');
SELECT * FROM assumed_placements();
SELECT pg_temp.cost('SELECT * FROM regress_assume.t WHERE k < 200') < index AS cheap FROM before;
EXPLAIN (COSTS off) SELECT * FROM regress_assume.t WHERE k < 2000;
-- where they are; the database's own tablespace has a name, too
SELECT assume_placement('regress_assume.t', spcname), assume_placement('regress_assume.t_k', spcname)
FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace
WHERE datname = current_database();
SELECT pg_temp.cost('SELECT * FROM regress_assume.t') = seq AS as_it_is FROM before;
SELECT count(*) FROM assumed_placements() a, pg_database d, pg_tablespace t
WHERE a.tablespace = t.spcname AND t.oid = d.dattablespace AND datname = current_database();
SELECT forget_placements();
SELECT count(*) FROM assumed_placements();

-- cached plans are made anew, when it begins and when it ends
SET plan_cache_mode = force_generic_plan;
PREPARE few AS SELECT * FROM regress_assume.t WHERE k < 1000;
EXPLAIN (COSTS off) EXECUTE few;
SELECT assume_placement('regress_assume.t', 'regress_assume_fast'),
	assume_placement('regress_assume.t_k', 'regress_assume_slow');
EXPLAIN (COSTS off) EXECUTE few;
SELECT forget_placements();
EXPLAIN (COSTS off) EXECUTE few;

-- an error ends it, one that is caught and a rollback to a savepoint, too
SELECT assume_placement('regress_assume.t_k', 'regress_assume_slow');
EXPLAIN (COSTS off) EXECUTE few;
SELECT 1 / 0;
SELECT count(*) FROM assumed_placements();
EXPLAIN (COSTS off) EXECUTE few;
BEGIN;
SAVEPOINT s;
SELECT assume_placement('regress_assume.t_k', 'regress_assume_slow');
ROLLBACK TO s;
SELECT count(*) FROM assumed_placements();
COMMIT;
DEALLOCATE few;
RESET plan_cache_mode;

-- partitions
CREATE TABLE regress_assume.p (k int) PARTITION BY RANGE (k);
CREATE TABLE regress_assume.p1 PARTITION OF regress_assume.p FOR VALUES FROM (0) TO (10);
CREATE INDEX p_k ON regress_assume.p (k);
SELECT assume_placement('regress_assume.p', 'regress_assume_slow'),
	assume_placement('regress_assume.p_k', 'regress_assume_fast');
SELECT * FROM assumed_placements() ORDER BY relation::text COLLATE "C";
SELECT forget_placements();

-- costs of a tablespace
ALTER TABLE regress_assume.t SET TABLESPACE regress_assume_fast;
VACUUM ANALYZE regress_assume.t;
SELECT explain_with_costs('SELECT * FROM regress_assume.t', 'regress_assume_fast', 20, 10)
	<> (SELECT explain_with_costs('SELECT * FROM regress_assume.t', 'regress_assume_fast', 2, 1)) AS other;
SELECT spcoptions FROM pg_tablespace WHERE spcname = 'regress_assume_fast';
-- together with an assumption, which it does not end
SELECT assume_placement('regress_assume.t', 'regress_assume_slow');
SELECT explain_with_costs('SELECT * FROM regress_assume.t', 'regress_assume_slow', 9, 7)
	= (SELECT explain_with_costs('SELECT * FROM regress_assume.t', 'regress_assume_slow', 8, 7)) AS seq_counts;
SELECT count(*) FROM assumed_placements();
SELECT forget_placements();

-- bad input
\set VERBOSITY terse
SELECT assume_placement('regress_assume.t', 'regress_no_such');
SELECT assume_placement('regress_assume.t', 'pg_global');
SELECT assume_placement(0, 'regress_assume_fast');
CREATE VIEW regress_assume.v AS SELECT 1;
SELECT assume_placement('regress_assume.v', 'regress_assume_fast');
SELECT assume_placement(NULL, 'regress_assume_fast');
SELECT assume_placement('regress_assume.t', NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT explain_with_costs(NULL, 'regress_assume_fast', 1);
SELECT explain_with_costs('SELECT 1', 'regress_assume_fast', -1);
SELECT explain_with_costs('SELECT 1', 'regress_no_such', 1);
SELECT explain_with_costs('SELECT 1; DROP TABLE regress_assume.t', 'regress_assume_fast', 1);
SELECT explain_with_costs('ANALYZE SELECT 1', 'regress_assume_fast', 1);
SELECT explain_with_costs('VACUUM', 'regress_assume_fast', 1);
BEGIN READ ONLY;
SELECT explain_with_costs('SELECT 1', 'regress_assume_fast', 1);
ROLLBACK;
SET ROLE regress_assume_nobody;
SELECT explain_with_costs('SELECT 1', 'regress_assume_fast', 1);
RESET ROLE;

\set VERBOSITY default
SET client_min_messages = warning;
DROP SCHEMA regress_assume CASCADE;
DROP TABLESPACE regress_assume_fast;
DROP TABLESPACE regress_assume_slow;
DROP ROLE regress_assume_nobody;
