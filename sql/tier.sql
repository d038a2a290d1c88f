-- tablespace_contents(): bad input, and what it says of relations
SET allow_in_place_tablespaces = on;
SET client_min_messages = warning;
CREATE TABLESPACE regress_tier_old LOCATION '';
CREATE TABLESPACE regress_tier_new LOCATION '';
CREATE SCHEMA regress_tier;
SET search_path = regress_tier, public;

\set VERBOSITY sqlstate
SELECT * FROM tablespace_contents('regress_no_such');
SELECT * FROM tablespace_contents(NULL);
SELECT * FROM tablespace_contents('pg_global');
SELECT * FROM tablespace_contents('regress_tier_old', 'regress_no_such');
\set VERBOSITY default

SELECT * FROM tablespace_contents('regress_tier_old');
CREATE TABLE t (a int PRIMARY KEY USING INDEX TABLESPACE regress_tier_old, b text)
	TABLESPACE regress_tier_old;
INSERT INTO t SELECT g, repeat(md5(g::text), 300) FROM generate_series(1, 500) g;
CREATE TABLE p (a int) PARTITION BY LIST (a) TABLESPACE regress_tier_old;
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE UNLOGGED TABLE u (a int) TABLESPACE regress_tier_old;
SELECT relation, kind, size_bytes = pg_table_size(relation::regclass) AS right_size,
	how, statement
FROM tablespace_contents('regress_tier_old', 'regress_tier_new') ORDER BY relation;

-- a partitioned table keeps no tablespace in the database's default
SELECT relation, statement, reason
FROM tablespace_contents('regress_tier_old') WHERE kind = 'partitioned table';

-- pg_default is never dropped
SELECT DISTINCT kind, how FROM tablespace_contents('pg_default')
WHERE kind = 'tablespace';

DROP SCHEMA regress_tier CASCADE;
DROP TABLESPACE regress_tier_new;
DROP TABLESPACE regress_tier_old;
