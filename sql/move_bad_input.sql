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
CREATE TABLE good (a int PRIMARY KEY, b text);
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
CREATE UNLOGGED TABLE unlogged (a int PRIMARY KEY);
CREATE TABLE owned (a int PRIMARY KEY);
ALTER TABLE owned OWNER TO regress_bad_move_owner;
CREATE TABLE parted (a int PRIMARY KEY) PARTITION BY RANGE (a);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
CREATE UNLOGGED TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10) TO (20);
ALTER TABLE parted OWNER TO regress_bad_move_owner;


-- Bad arguments of both procedures, or of one.  The second time only the SQLSTATE of
-- each call is printed.
CREATE TABLE bad (n int GENERATED ALWAYS AS IDENTITY, call text);
GRANT SELECT ON bad TO PUBLIC;
INSERT INTO bad (call)
SELECT format('CALL move_%s_concurrently(%s)', p.moved, a.list)
FROM unnest(ARRAY['indexes', 'table']) AS p(moved), unnest(ARRAY[
	-- nulls
	$$NULL, 'regress_bad_move'$$,
	$$'good', 'regress_bad_move', method => NULL$$,
	$$'good', 'regress_bad_move', lock_timeout => NULL$$,
	$$'good', 'regress_bad_move', wait => NULL$$,
	$$'good', 'regress_bad_move', dry_run => NULL$$,
	$$'good', 'regress_bad_move', hot_only => NULL$$,
	-- targets
	$$'nowhere', 'regress_bad_move'$$,
	$$1, 'regress_bad_move'$$,
	$$'a_view', 'regress_bad_move'$$,
	$$'a_sequence', 'regress_bad_move'$$,
	$$'a_type', 'regress_bad_move'$$,
	$$'a_foreign_table', 'regress_bad_move'$$,
	$$'a_temporary_table', 'regress_bad_move'$$,
	$$'pg_class', 'regress_bad_move'$$,
	$$'pg_class_oid_index', 'regress_bad_move'$$,
	$$'pg_database', 'regress_bad_move'$$,
	$$'pg_toast.pg_toast_1255', 'regress_bad_move'$$,
	-- tablespaces
	$$'good', 'regress_no_such'$$,
	$$'good', 'pg_global'$$,
	-- options
	$$'good', 'regress_bad_move', method => 'magic'$$,
	$$'good', 'regress_bad_move', method => 'catalog'$$,
	$$'good', 'regress_bad_move', max_rate => 'fast'$$,
	$$'good', 'regress_bad_move', max_rate => '0'$$,
	$$'good', 'regress_bad_move', lock_timeout => '0'$$,
	$$'good', 'regress_bad_move', lock_timeout => '1 year'$$
]) WITH ORDINALITY AS a(list, n)
ORDER BY a.n, p.moved;
INSERT INTO bad (call) VALUES
	($$CALL move_indexes_concurrently('good', 'regress_bad_move', ARRAY[NULL::regclass])$$),
	($$CALL move_indexes_concurrently('good', 'regress_bad_move', ARRAY['other_pkey'::regclass])$$),
	($$CALL move_indexes_concurrently('good', 'regress_bad_move', ARRAY['good'::regclass])$$),
	($$CALL move_indexes_concurrently('pg_toast.pg_toast_1255_index', 'regress_bad_move')$$),
	($$CALL move_indexes_concurrently('good', 'regress_bad_move', max_rate => '-1 MB')$$),
	($$CALL move_indexes_concurrently('good', 'regress_bad_move', lock_timeout => '-1 s')$$),
	($$CALL move_table_concurrently('good', NULL)$$),
	($$CALL move_table_concurrently('good', NULL, hot_only => true)$$),
	($$CALL move_table_concurrently('good', 'regress_bad_move', with_indexes => NULL)$$),
	($$CALL move_table_concurrently('good_pkey', 'regress_bad_move')$$),
	($$CALL move_table_concurrently('parted_pkey', 'regress_bad_move')$$),
	($$CALL move_table_concurrently('good', 'regress_bad_move', method => 'rebuild')$$),
	-- what a rebuild cannot do, and what a copy cannot do
	($$CALL move_indexes_concurrently('good', 'regress_bad_move', max_rate => '1 MB', method => 'rebuild')$$),
	($$CALL move_indexes_concurrently('constrained_r', 'regress_bad_move', method => 'rebuild')$$),
	($$CALL move_indexes_concurrently('constrained_a', 'regress_bad_move', method => 'rebuild')$$),
	($$CALL move_indexes_concurrently('constrained_a', 'regress_bad_move', method => 'copy')$$),
	($$CALL move_table_concurrently('unlogged', 'regress_bad_move')$$),
	($$CALL move_table_concurrently('unlogged', 'regress_bad_move', method => 'copy')$$);
SELECT call FROM bad ORDER BY n
\gexec
\set VERBOSITY sqlstate
\set ECHO none
SELECT call FROM bad ORDER BY n
\gexec
\set ECHO all
\set VERBOSITY default
-- an unlogged partition is left out
SET client_min_messages = notice;
CALL move_table_concurrently('parted', 'regress_bad_move', dry_run => true);
SET client_min_messages = warning;

-- where they cannot be called
TRUNCATE bad RESTART IDENTITY;
INSERT INTO bad (call) VALUES
	($$CALL move_indexes_concurrently('good', 'regress_bad_move')$$),
	($$CALL move_table_concurrently('good', 'regress_bad_move')$$);
CREATE FUNCTION wrapper(call text) RETURNS void LANGUAGE plpgsql AS
$$ DECLARE ids bigint[];
BEGIN
	EXECUTE call INTO ids;
END $$;
BEGIN;
CALL move_indexes_concurrently('good', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
BEGIN;
CALL move_table_concurrently('good', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
SELECT wrapper(call) FROM bad WHERE n = 1;
\echo :LAST_ERROR_SQLSTATE
SELECT wrapper(call) FROM bad WHERE n = 2;
\echo :LAST_ERROR_SQLSTATE
DO $$ DECLARE ids bigint[];
BEGIN
	CALL move_indexes_concurrently('good', 'regress_bad_move', job_ids => ids);
EXCEPTION WHEN OTHERS THEN
	RAISE WARNING '% %', SQLSTATE, SQLERRM;
END $$;
DO $$ DECLARE ids bigint[];
BEGIN
	CALL move_table_concurrently('good', 'regress_bad_move', job_ids => ids);
EXCEPTION WHEN OTHERS THEN
	RAISE WARNING '% %', SQLSTATE, SQLERRM;
END $$;
SET default_transaction_read_only = on;
CALL move_indexes_concurrently('good', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
CALL move_table_concurrently('good', 'regress_bad_move');
\echo :LAST_ERROR_SQLSTATE
SELECT cancel_move(0);
\echo :LAST_ERROR_SQLSTATE
RESET default_transaction_read_only;

-- rights
TRUNCATE bad RESTART IDENTITY;
INSERT INTO bad (call) VALUES
	($$CALL move_indexes_concurrently('good', 'regress_bad_move')$$),
	($$CALL move_indexes_concurrently('good_pkey', 'pg_default')$$),
	($$CALL move_indexes_concurrently('owned', 'regress_bad_move')$$),
	($$CALL move_indexes_concurrently('parted', 'pg_default')$$),
	($$CALL move_indexes_concurrently('good', 'regress_bad_move', dry_run => true)$$),
	($$CALL move_table_concurrently('good', 'pg_default')$$),
	($$CALL move_table_concurrently('good', 'regress_bad_move', dry_run => true)$$),
	($$CALL move_table_concurrently('owned', 'regress_bad_move')$$),
	($$CALL move_table_concurrently('parted', 'pg_default')$$),
	('SELECT * FROM tablespace_advisor.job'),
	('DELETE FROM tablespace_moves'),
	($$SELECT * FROM tablespace_advisor.indexes_of('good')$$),
	($$SELECT * FROM tablespace_advisor.inventory_of('{}')$$);
SET ROLE regress_bad_move_owner;
SELECT call FROM bad ORDER BY n
\gexec
\set VERBOSITY sqlstate
\set ECHO none
SELECT call FROM bad ORDER BY n
\gexec
\set ECHO all
\set VERBOSITY default
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
SELECT c.relname FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
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
