-- every bad call of move_table_concurrently: an error of its own, nothing left behind
SET allow_in_place_tablespaces = on;
SET client_min_messages = warning;
CREATE TABLESPACE regress_bad_table LOCATION '';
CREATE ROLE regress_bad_table_owner NOLOGIN;
CREATE SCHEMA regress_bad_table;
GRANT ALL ON SCHEMA regress_bad_table TO PUBLIC;
SET search_path = regress_bad_table, public;
CREATE TABLE good (a int PRIMARY KEY, b text);
CREATE VIEW a_view AS SELECT 1 AS one;
CREATE SEQUENCE a_sequence;
CREATE TYPE a_type AS (a int);
CREATE FOREIGN DATA WRAPPER a_table_wrapper;
CREATE SERVER a_table_server FOREIGN DATA WRAPPER a_table_wrapper;
CREATE FOREIGN TABLE a_foreign_table (a int) SERVER a_table_server;
CREATE TEMPORARY TABLE a_temporary_table (a int PRIMARY KEY);
CREATE UNLOGGED TABLE unlogged (a int PRIMARY KEY);
CREATE TABLE owned (a int PRIMARY KEY);
ALTER TABLE owned OWNER TO regress_bad_table_owner;
CREATE TABLE parted (a int PRIMARY KEY) PARTITION BY RANGE (a);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
CREATE UNLOGGED TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10) TO (20);
ALTER TABLE parted OWNER TO regress_bad_table_owner;

-- nulls
CALL move_table_concurrently(NULL, 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', NULL);
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', NULL, hot_only => true);
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', with_indexes => NULL);
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', method => NULL);
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', lock_timeout => NULL);
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', wait => NULL);
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', dry_run => NULL);
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', hot_only => NULL);
\echo :LAST_ERROR_SQLSTATE

-- targets
CALL move_table_concurrently('nowhere', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently(1, 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good_pkey', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('parted_pkey', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('a_view', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('a_sequence', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('a_type', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('a_foreign_table', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('a_temporary_table', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('pg_class', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('pg_class_oid_index', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('pg_database', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('pg_toast.pg_toast_1255', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE

-- tablespaces
CALL move_table_concurrently('good', 'regress_no_such');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'pg_global');
\echo :LAST_ERROR_SQLSTATE

-- options
CALL move_table_concurrently('good', 'regress_bad_table', method => 'magic');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', method => 'catalog');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', method => 'rebuild');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', max_rate => 'fast');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', max_rate => '0');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', lock_timeout => '0');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', lock_timeout => '1 year');
\echo :LAST_ERROR_SQLSTATE

-- what live copy cannot move; an unlogged partition is left out
CALL move_table_concurrently('unlogged', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('unlogged', 'regress_bad_table', method => 'copy');
\echo :LAST_ERROR_SQLSTATE
SET client_min_messages = notice;
CALL move_table_concurrently('parted', 'regress_bad_table', dry_run => true);
SET client_min_messages = warning;
-- where it cannot be called
BEGIN;
CALL move_table_concurrently('good', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
DO $$ DECLARE ids bigint[];
BEGIN
	CALL move_table_concurrently('good', 'regress_bad_table', job_ids => ids);
EXCEPTION WHEN OTHERS THEN
	RAISE WARNING '% %', SQLSTATE, SQLERRM;
END $$;
SET default_transaction_read_only = on;
CALL move_table_concurrently('good', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
RESET default_transaction_read_only;

-- rights
SET ROLE regress_bad_table_owner;
CALL move_table_concurrently('good', 'pg_default');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_table', dry_run => true);
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('owned', 'regress_bad_table');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('parted', 'pg_default');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM tablespace_advisor.tables_of('owned');
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;

-- nothing was left behind
SELECT count(*) AS jobs FROM tablespace_advisor.job
WHERE schema_name = 'regress_bad_table';
SELECT relname FROM pg_class
WHERE relnamespace = 'regress_bad_table'::regnamespace AND reltablespace <> 0
ORDER BY relname COLLATE "C";

RESET search_path;
DROP TABLE pg_temp.a_temporary_table;
DROP SCHEMA regress_bad_table CASCADE;
DROP FOREIGN DATA WRAPPER a_table_wrapper CASCADE;
DROP OWNED BY regress_bad_table_owner;
DROP ROLE regress_bad_table_owner;
DROP TABLESPACE regress_bad_table;
