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

-- plan_evacuation() and evacuate_tablespace(): bad input
\set VERBOSITY sqlstate
SELECT * FROM plan_evacuation('regress_tier_old', 'regress_tier_old');
SELECT * FROM plan_evacuation('regress_tier_old', NULL);
SELECT * FROM plan_evacuation('regress_no_such', 'regress_tier_new');
SELECT * FROM plan_evacuation('regress_tier_old', 'pg_global');
SELECT * FROM plan_evacuation('regress_tier_old', 'regress_tier_new', lock_up_to => 'much');
SELECT * FROM plan_evacuation('regress_tier_old', 'regress_tier_new', lock_up_to => '-1');
CALL evacuate_tablespace('regress_tier_old', 'regress_tier_old');
CALL evacuate_tablespace('regress_tier_old', 'regress_tier_new', max_rate => '0');
CALL evacuate_tablespace('regress_tier_old', 'regress_tier_new', lock_timeout => '0');
CALL evacuate_tablespace('regress_tier_old', 'regress_tier_new', wait => NULL);
BEGIN;
CALL evacuate_tablespace('regress_tier_old', 'regress_tier_new');
ROLLBACK;
BEGIN READ ONLY;
CALL evacuate_tablespace('regress_tier_old', 'regress_tier_new');
ROLLBACK;
CREATE ROLE regress_tier_role;
SET ROLE regress_tier_role;
CALL evacuate_tablespace('regress_tier_old', 'regress_tier_new');
SELECT * FROM plan_evacuation('regress_tier_old', 'regress_tier_new');
RESET ROLE;
GRANT CREATE ON TABLESPACE regress_tier_new TO regress_tier_role;
SET ROLE regress_tier_role;
SELECT kind, method, reason LIKE 'It belongs to role %' AS told
FROM plan_evacuation('regress_tier_old', 'regress_tier_new')
WHERE kind = 'table' AND method IS NULL;
RESET ROLE;
REVOKE CREATE ON TABLESPACE regress_tier_new FROM regress_tier_role;
\set VERBOSITY default

-- what an evacuation would do, and does
SELECT relation, kind, how, method, reason
FROM plan_evacuation('regress_tier_old', 'regress_tier_new') WHERE kind <> 'total';
-- the sum first, against what is free; at most max_rate
SELECT regexp_replace(replace(reason, E'\n', ' '), '[0-9]+ [kMGT]?B\y', '... GB') AS sum, size = pg_size_pretty(size_bytes) AS is_readable, move_seconds IS NULL AS is_unknown,
	size_bytes = (SELECT sum(size_bytes) FROM plan_evacuation('regress_tier_old', 'regress_tier_new') WHERE method IS NOT NULL) AS is_sum
FROM plan_evacuation('regress_tier_old', 'regress_tier_new') LIMIT 1;
SELECT kind, max(move_seconds) FROM plan_evacuation('regress_tier_old', 'regress_tier_new', max_rate => '1 MB') WHERE method = 'copy' AND move_seconds < tablespace_advisor.round_to_three(size_bytes / 1048576.0) GROUP BY kind;
SELECT * FROM plan_evacuation('regress_tier_old', 'regress_tier_new', max_rate => '0');
SELECT relation, method, reason
FROM plan_evacuation('regress_tier_old', 'regress_tier_new', lock_up_to => '1 GB')
WHERE how = 'lock';
SELECT relation, reason
FROM plan_evacuation('regress_tier_old', 'pg_default') WHERE kind = 'partitioned table';
-- the two may have a device in common, which is a warning
SET client_min_messages = error;
INSERT INTO u SELECT generate_series(1, 1000);
CALL evacuate_tablespace('regress_tier_old', 'regress_tier_new',
	until => now() - interval '1 second') \gset
SELECT :'job_ids' AS nothing_in_the_past;
CALL evacuate_tablespace('regress_tier_old', 'regress_tier_new', lock_up_to => '0') \gset
SELECT relation_name, method, state, with_indexes
FROM tablespace_moves WHERE job_id = ANY (:'job_ids') ORDER BY relation_name;
-- what is left is tried again
CALL evacuate_tablespace('regress_tier_old', 'regress_tier_new', lock_up_to => '8 kB') \gset
SELECT :'job_ids' AS too_large;
CALL evacuate_tablespace('regress_tier_old', 'regress_tier_new', lock_up_to => '1 MB') \gset
SELECT relation_name, method, state FROM tablespace_moves WHERE job_id = ANY (:'job_ids');
SELECT * FROM tablespace_contents('regress_tier_old');
CALL evacuate_tablespace('regress_tier_old', 'regress_tier_new') \gset
SELECT :'job_ids' AS nothing_left;
DROP ROLE regress_tier_role;

-- at which rate: what was slow because somebody wanted it so does not count
BEGIN;
INSERT INTO tablespace_advisor.job (batch_id, relation, heap, kind, schema_name,
	relation_name, from_tablespace, from_tablespace_name, to_tablespace,
	to_tablespace_name, method_wanted, method, state, bytes_total,
	lock_timeout_ms, owner, system_identifier, database, started_at,
	finished_at, max_rate, paused_ms)
SELECT 1, 1, 1, 'r', 'public', 'x', a.oid, 'a', b.oid, 'b', 'copy', 'copy',
	'done', 10485760, 100, 10, 1, 1, now() - v.seconds * interval '1 s', now(),
	v.max_rate, v.paused_ms
FROM (VALUES (10, NULL::int, 0), (1000, 10000, 0), (1010, NULL, 1000000), (1, -1, 0))
	v (seconds, max_rate, paused_ms), pg_tablespace a, pg_tablespace b
WHERE a.spcname = 'regress_tier_old' AND b.spcname = 'regress_tier_new';
CREATE TABLE left_there TABLESPACE regress_tier_old AS SELECT generate_series(1, 1000);
SELECT m.*, p.move_seconds = tablespace_advisor.round_to_three(p.size_bytes / m.bytes_per_s) AS is_so
FROM (VALUES (NULL, 1048576.0), ('unlimited', 10485760.0), ('1000', 1000.0)) m (max_rate, bytes_per_s),
	plan_evacuation('regress_tier_old', 'regress_tier_new', max_rate => m.max_rate) p
WHERE p.kind = 'table';
ROLLBACK;

-- pg_default is never dropped
SELECT DISTINCT kind, how FROM tablespace_contents('pg_default')
WHERE kind = 'tablespace';

DROP SCHEMA regress_tier CASCADE;
DROP TABLESPACE regress_tier_old;
DROP TABLESPACE regress_tier_new;
