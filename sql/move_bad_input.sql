-- every bad call of the move functions: an error of its own, nothing left behind
SET allow_in_place_tablespaces = on;
SET client_min_messages = warning;
CREATE TABLESPACE regress_bad_move LOCATION '';
CREATE ROLE regress_bad_move_owner NOLOGIN;
CREATE ROLE regress_bad_move_other NOLOGIN;
CREATE ROLE regress_bad_move_signal NOLOGIN IN ROLE pg_signal_backend;
CREATE SCHEMA regress_bad_move;
GRANT ALL ON SCHEMA regress_bad_move TO PUBLIC;
SET search_path = regress_bad_move, public;
CREATE TABLE good (a int PRIMARY KEY, b int);
CREATE TABLE other (a int PRIMARY KEY);
CREATE VIEW a_view AS SELECT 1 AS one;
CREATE SEQUENCE a_sequence;
CREATE TYPE a_type AS (a int);
CREATE FOREIGN DATA WRAPPER a_wrapper;
CREATE SERVER a_server FOREIGN DATA WRAPPER a_wrapper;
CREATE FOREIGN TABLE a_foreign_table (a int) SERVER a_server;
CREATE TEMPORARY TABLE a_temporary_table (a int PRIMARY KEY);
CREATE UNLOGGED TABLE constrained (a int CONSTRAINT constrained_a UNIQUE DEFERRABLE,
	r int4range, CONSTRAINT constrained_r EXCLUDE USING gist (r WITH &&));
CREATE TABLE owned (a int PRIMARY KEY);
ALTER TABLE owned OWNER TO regress_bad_move_owner;
CREATE TABLE parted (a int PRIMARY KEY) PARTITION BY RANGE (a);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
ALTER TABLE parted OWNER TO regress_bad_move_owner;

-- nulls
CALL move_indexes_concurrently(NULL, 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', ARRAY[NULL::regclass]);
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', method => NULL);
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', lock_timeout => NULL);
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', wait => NULL);
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', dry_run => NULL);
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', hot_only => NULL);
\echo :LAST_ERROR_SQLSTATE

-- targets
CALL move_indexes_concurrently('nowhere', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently(1, 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('a_view', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('a_sequence', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('a_type', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('a_foreign_table', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('a_temporary_table', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('pg_class', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('pg_class_oid_index', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('pg_database', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('pg_toast.pg_toast_1255', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('pg_toast.pg_toast_1255_index', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', ARRAY['other_pkey'::regclass]);
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', ARRAY['good'::regclass]);
\echo :LAST_ERROR_SQLSTATE

-- tablespaces
CALL move_indexes_concurrently('good', 'regress_no_such');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'pg_global');
\echo :LAST_ERROR_SQLSTATE

-- options
CALL move_indexes_concurrently('good', 'regress_bad_move', method => 'magic');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', method => 'catalog');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', max_rate => 'fast');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', max_rate => '0');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', max_rate => '-1 MB');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', max_rate => '1 MB', method => 'rebuild');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', lock_timeout => '0');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', lock_timeout => '-1 s');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', lock_timeout => '1 year');
\echo :LAST_ERROR_SQLSTATE

-- what a rebuild cannot do, and what a copy cannot do
CALL move_indexes_concurrently('constrained_r', 'regress_bad_move', method => 'rebuild');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('constrained_a', 'regress_bad_move', method => 'rebuild');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('constrained_a', 'regress_bad_move', method => 'copy');
\echo :LAST_ERROR_SQLSTATE

-- where it cannot be called
BEGIN;
CALL move_indexes_concurrently('good', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
DO $$ DECLARE ids bigint[];
BEGIN
	CALL move_indexes_concurrently('good', 'regress_bad_move', job_ids => ids);
EXCEPTION WHEN OTHERS THEN
	RAISE WARNING '% %', SQLSTATE, SQLERRM;
END $$;
CREATE FUNCTION wrapper() RETURNS void LANGUAGE plpgsql AS
$$ DECLARE ids bigint[];
BEGIN
	CALL move_indexes_concurrently('good', 'regress_bad_move', job_ids => ids);
END $$;
SELECT wrapper();
\echo :LAST_ERROR_SQLSTATE
SET default_transaction_read_only = on;
CALL move_indexes_concurrently('good', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
SELECT cancel_move(0);
\echo :LAST_ERROR_SQLSTATE
RESET default_transaction_read_only;

-- rights
SET ROLE regress_bad_move_owner;
CALL move_indexes_concurrently('good', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good_pkey', 'pg_default');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('owned', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('parted', 'pg_default');
\echo :LAST_ERROR_SQLSTATE
CALL move_indexes_concurrently('good', 'regress_bad_move', dry_run => true);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM tablespace_advisor.job;
\echo :LAST_ERROR_SQLSTATE
DELETE FROM tablespace_moves;
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM tablespace_advisor.indexes_of('good');
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;

-- other people's jobs, and jobs that do not exist
GRANT CREATE ON TABLESPACE regress_bad_move TO regress_bad_move_owner;
SET ROLE regress_bad_move_owner;
CALL move_indexes_concurrently('owned', 'regress_bad_move') \gset
SELECT (:'job_ids'::bigint[])[1] AS job \gset
SET ROLE regress_bad_move_other;
\set VERBOSITY sqlstate
SELECT cancel_move(:job);
SELECT retry_move(:job);
SET ROLE regress_bad_move_signal;
SELECT retry_move(:job);
SELECT cancel_move(:job);
SET ROLE regress_bad_move_owner;
SELECT cancel_move(:job);
SELECT retry_move(:job);
\set VERBOSITY default
SELECT cancel_move(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT cancel_move(-1);
\echo :LAST_ERROR_SQLSTATE
SELECT retry_move(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT retry_move(-1);
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;

-- nothing was left behind
SELECT count(*) AS jobs FROM tablespace_advisor.job
WHERE schema_name = 'regress_bad_move' AND relation_name <> 'owned_pkey';
SELECT c.relname FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relnamespace = 'regress_bad_move'::regnamespace
	AND (c.reltablespace <> 0 OR NOT i.indisvalid)
ORDER BY c.relname COLLATE "C";

RESET search_path;
DROP TABLE pg_temp.a_temporary_table;
DROP SCHEMA regress_bad_move CASCADE;
DROP FOREIGN DATA WRAPPER a_wrapper CASCADE;
DROP OWNED BY regress_bad_move_owner;
DROP ROLE regress_bad_move_owner, regress_bad_move_other, regress_bad_move_signal;
DROP TABLESPACE regress_bad_move;
