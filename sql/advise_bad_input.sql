-- every bad call of advise_index_placement gets an error of its own
SET client_min_messages = warning;
CREATE TABLE good (id int PRIMARY KEY, t text);
CREATE VIEW a_view AS SELECT 1 AS one;
CREATE SEQUENCE a_sequence;
CREATE TYPE a_type AS (x int);
CREATE FOREIGN DATA WRAPPER regress_advise_fdw;
CREATE SERVER regress_advise_server FOREIGN DATA WRAPPER regress_advise_fdw;
CREATE FOREIGN TABLE a_foreign_table (id int) SERVER regress_advise_server;
CREATE ROLE regress_advise_nobody;

SELECT * FROM advise_index_placement(NULL);
CREATE FUNCTION pg_temp.failure(call text,
	OUT state text, OUT message text, OUT detail text, OUT hint text)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SELECT * FROM ' || call;
	state := '00000';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE,
		message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT;
END $$;
\pset format unaligned
\pset tuples_only on
SELECT c.call, f.* FROM unnest(ARRAY[
	'advise_index_placement(''no_such_table'')',
	'advise_index_placement(4294967294::oid::regclass)',
	'advise_index_placement(''a_view'')',
	'advise_index_placement(''a_sequence'')',
	'advise_index_placement(''a_type'')',
	'advise_index_placement(''a_foreign_table'')',
	'advise_index_placement(''good'', ''regress_no_such'')',
	'advise_index_placement(''good'', ''pg_global'')',
	'advise_index_placement(''good'', space_budget => ''much'')',
	'advise_index_placement(''good'', space_budget => '''')',
	'advise_index_placement(''good'', space_budget => ''0'')',
	'advise_index_placement(''good'', space_budget => ''-1 GB'')',
	'advise_index_placement(''good'', observe => ''1 ms'')',
	'advise_placement(''0'')',
	'advise_placement(''good'')',
	'explain_placement(''a_view'')',
	'placement_evidence(4294967294::oid::regclass)'
]) c(call), LATERAL pg_temp.failure(c.call) f;
-- the OID is part of a TOAST table's name: do not print it
DO $$
DECLARE
	toast regclass := (SELECT reltoastrelid FROM pg_class WHERE oid = 'good'::regclass);
	detail text;
BEGIN
	PERFORM * FROM advise_index_placement(toast);
EXCEPTION WHEN wrong_object_type THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RAISE WARNING '%', detail;
END
$$;

-- from where it was called is said, not how the extension came to it
DO $$
BEGIN
	PERFORM * FROM advise_index_placement('good', space_budget => '0');
END
$$;

CALL apply_placement(verify => NULL);
\echo :LAST_ERROR_SQLSTATE

-- neither owner nor member of pg_monitor
SET ROLE regress_advise_nobody;
SELECT c.call, f.* FROM unnest(ARRAY[
	'advise_index_placement(''good'')',
	'advise_index_placement(''good_pkey'')',
	'explain_placement(''good'')',
	'placement_evidence(''good'')',
	'advise_placement()',
	'explain_placement()',
	'placement_evidence()'
]) c(call), LATERAL pg_temp.failure(c.call) f;
\pset format aligned
\pset tuples_only off
-- an owner may, and is the same role afterwards, also after an error
RESET ROLE;
ALTER TABLE good OWNER TO regress_advise_nobody;
SET ROLE regress_advise_nobody;
SET search_path = pg_temp, public;
SELECT count(*) FROM advise_placement(target => 'good');
SELECT count(*) > 2 FROM explain_placement('good_pkey');
SELECT relation, jsonb_typeof(evidence) FROM placement_evidence('good') ORDER BY 1;
SELECT * FROM advise_index_placement('good', space_budget => '0');
SELECT current_user, current_setting('search_path');
RESET search_path;
-- what it stands on is not for everybody
SELECT * FROM tablespace_advisor.gather_advice(0, 'good', NULL, NULL, NULL);
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
-- nothing that advice stands on can be called by everybody
SELECT p.proname FROM pg_proc p
JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
WHERE p.pronamespace = 'tablespace_advisor'::regnamespace
	AND has_function_privilege('regress_advise_nobody', p.oid, 'EXECUTE')
	AND p.prosrc ~ 'placement|advice|_fact' ORDER BY 1;

-- what cannot be moved is no error, but never to be moved
CREATE TEMPORARY TABLE temporary (id int PRIMARY KEY);
SELECT DISTINCT action FROM advise_placement(target => 'temporary');
SELECT DISTINCT action FROM advise_placement(target => 'pg_class');
-- nothing below it, nothing to say
CREATE TABLE no_partitions (id int PRIMARY KEY) PARTITION BY RANGE (id);
SELECT count(*) FROM advise_placement(target => 'no_partitions');

DROP TABLE good, temporary, no_partitions;
DROP VIEW a_view;
DROP SEQUENCE a_sequence;
DROP TYPE a_type;
DROP FOREIGN DATA WRAPPER regress_advise_fdw CASCADE;
DROP ROLE regress_advise_nobody;
