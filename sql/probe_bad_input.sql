-- Every bad call of the probe has its SQLSTATE and leaves nothing behind.
CREATE EXTENSION IF NOT EXISTS tablespace_advisor;
DELETE FROM tablespace_advisor.probe_run;

-- messages once, in full
SELECT probe_tablespace('no such tablespace');
SELECT probe_tablespace('pg_default', NULL);
SELECT probe_tablespace('pg_default', '0 s');
SELECT probe_tablespace('pg_default', file_size => '2 TB');
SELECT probe_tablespace('pg_default', queue_depths => '{1,1000}');
SELECT probe_tablespace('pg_default', workloads => '{random reads}');
SELECT probe_tablespace('pg_default', mode => 'scratched');
SELECT probe_tablespace('pg_default', mode => 'existing', workloads => '{sync write}');
SELECT probe_tablespace('pg_default', mode => 'existing', workloads => '{adjacent read}');

\set VERBOSITY sqlstate
-- unknown tablespace
SELECT probe_tablespace('no such tablespace');
-- NULL
SELECT probe_tablespace('pg_default', NULL);
SELECT probe_tablespace('pg_default', file_size => NULL);
SELECT probe_tablespace('pg_default', queue_depths => NULL);
SELECT probe_tablespace('pg_default', queue_depths => '{1,NULL}');
SELECT probe_tablespace('pg_default', workloads => '{NULL}');
SELECT probe_tablespace('pg_default', mode => NULL);
-- durations
SELECT probe_tablespace('pg_default', '0');
SELECT probe_tablespace('pg_default', '-1 s');
SELECT probe_tablespace('pg_default', '1 month -1 day');
SELECT probe_tablespace('pg_default', '2 hours');
SELECT probe_tablespace('pg_default', '178000000 years');
-- sizes
SELECT probe_tablespace('pg_default', file_size => '0');
SELECT probe_tablespace('pg_default', file_size => '-1 MB');
SELECT probe_tablespace('pg_default', file_size => '8 kB');
SELECT probe_tablespace('pg_default', file_size => '1000 TB');
SELECT probe_tablespace('pg_default', file_size => 'much');
SELECT probe_tablespace('pg_default', file_size => '1e30');
-- depths
SELECT probe_tablespace('pg_default', queue_depths => '{}');
SELECT probe_tablespace('pg_default', queue_depths => '{0}');
SELECT probe_tablespace('pg_default', queue_depths => '{-1}');
SELECT probe_tablespace('pg_default', queue_depths => '{257}');
SELECT probe_tablespace('pg_default', queue_depths => '{4,4}');
SELECT probe_tablespace('pg_default', queue_depths => (SELECT array_agg(i) FROM generate_series(1, 33) i));
-- workloads and modes
SELECT probe_tablespace('pg_default', workloads => '{}');
SELECT probe_tablespace('pg_default', workloads => '{}'::text[]);
SELECT probe_tablespace('pg_default', workloads => '{"Random Read"}');
SELECT probe_tablespace('pg_default', workloads => '{mixed,mixed}');
SELECT probe_tablespace('pg_default', mode => '');
SELECT probe_tablespace('pg_default', mode => 'existing', workloads => '{random write}');

-- the server's own limit on temporary files
SET temp_file_limit = '2 MB';
SELECT probe_tablespace('pg_default', '10 ms', '4 MB', '{1}', '{random read}');
RESET temp_file_limit;

-- nothing to read
SET allow_in_place_tablespaces = on;
SET client_min_messages = error;
CREATE TABLESPACE probe_empty LOCATION '';
SELECT probe_tablespace('probe_empty', mode => 'existing');

-- privileges: EXECUTE, and CREATE on the tablespace for a scratch file
CREATE ROLE probe_user;
SET ROLE probe_user;
SELECT probe_tablespace('probe_empty');
RESET ROLE;
GRANT EXECUTE ON FUNCTION probe_tablespace(name, interval, text, int[], text[], text) TO probe_user;
SET ROLE probe_user;
SELECT probe_tablespace('probe_empty', '10 ms', '1 MB', '{1}', '{random read}');
SELECT probe_tablespace('pg_global', '10 ms', '1 MB', '{1}', '{random read}');
SELECT probe_tablespace('probe_empty', mode => 'existing');
SET tablespace_advisor.probe_max_iops = 0;
RESET ROLE;

-- nothing was kept, nothing was left, and both ways on are open
SELECT count(*) FROM tablespace_advisor.probe_run;
GRANT CREATE ON TABLESPACE probe_empty TO probe_user;
SET ROLE probe_user;
SELECT workload FROM probe_tablespace('probe_empty', '10 ms', '1 MB', '{1}', '{random read}');
SELECT count(*) FROM tablespace_advisor.probe_run;
RESET ROLE;
SELECT count(*) FROM tablespace_advisor.probe_run;
SELECT count(*) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%';
DELETE FROM tablespace_advisor.probe_run;
DROP TABLESPACE probe_empty;
DROP OWNED BY probe_user;
DROP ROLE probe_user;
