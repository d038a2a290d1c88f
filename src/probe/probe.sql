/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/probe/probe.sql */

COMMENT ON TABLE tablespace_advisor.probe_run IS
	'one row per run of probe_tablespace(): when, where and how';
COMMENT ON SEQUENCE tablespace_advisor.probe_run_run_id_seq IS
	'numbers of runs';
COMMENT ON COLUMN tablespace_advisor.probe_run.location IS
	'directory of the tablespace at the time of the run';
COMMENT ON COLUMN tablespace_advisor.probe_run.device IS
	'block device of the file system, NULL where it has none';
COMMENT ON COLUMN tablespace_advisor.probe_run.mode IS
	'scratch (a file of the probe''s own) or existing (the tablespace''s own relations)';
COMMENT ON COLUMN tablespace_advisor.probe_run.file_size_bytes IS
	'total size of the files that were read and written';
COMMENT ON COLUMN tablespace_advisor.probe_run.duration IS
	'measuring time asked for, shared by the workloads';
COMMENT ON COLUMN tablespace_advisor.probe_run.foreign_io_percent IS
	'share of the device''s requests during the measurements that others made, in percent; NULL where the device has no counters';
COMMENT ON COLUMN tablespace_advisor.probe_run.advised_verdict IS
	'verdict of recommend_random_page_cost() after the run; NULL: there was nothing to weigh';
COMMENT ON COLUMN tablespace_advisor.probe_run.advised_random_page_cost IS
	'the best constant then, to which later recommendations keep until another one is clearly better';
COMMENT ON COLUMN tablespace_advisor.probe_run.advised_io_concurrency IS
	'the effective_io_concurrency that it was weighed with';
COMMENT ON COLUMN tablespace_advisor.probe_run.advised_depth IS
	'the maintenance_io_concurrency then; NULL: several depths were not measured';
COMMENT ON COLUMN tablespace_advisor.probe_run.advised_cached_fraction IS
	'the share of the tables that caches held: where they hold another, the first three do not count';
COMMENT ON TABLE tablespace_advisor.probe_result IS
	'the rows that each run of probe_tablespace() returned, with their latency histograms';
COMMENT ON COLUMN tablespace_advisor.probe_result.histogram IS
	'pairs {lower bound of a bucket in nanoseconds, samples in it}, empty buckets left out; a bucket is at most 1/64 of its lower bound wide (1 ns below 128 ns)';
COMMENT ON COLUMN tablespace_advisor.probe_result.caveat IS
	'why it was not the device that answered: the row says nothing of it; NULL if it was';
COMMENT ON COLUMN tablespace_advisor.probe_result.conditions IS
	'other activity meanwhile, as far as it matters; the row is true of that load';
COMMENT ON COLUMN tablespace_advisor.probe_result.others_reads_per_s IS
	'reads per second that others made of the device meanwhile; NULL where it has no counters';
COMMENT ON COLUMN tablespace_advisor.probe_result.others_writes_per_s IS
	'writes per second that others made to the device meanwhile';
COMMENT ON COLUMN tablespace_advisor.probe_result.others_read_mb_per_s IS
	'MB (1048576 bytes) per second that others read meanwhile';
COMMENT ON COLUMN tablespace_advisor.probe_result.others_write_mb_per_s IS
	'MB (1048576 bytes) per second that others wrote meanwhile';
COMMENT ON COLUMN tablespace_advisor.probe_result.others_in_flight IS
	'mean number of requests of others that the device had at a time';
COMMENT ON COLUMN tablespace_advisor.probe_result.device_busy_percent IS
	'time during which the device had a request, the probe''s included, in percent';
COMMENT ON COLUMN tablespace_advisor.probe_result.processor_wait_percent IS
	'time for which the probe waited for a processor, in percent';
COMMENT ON COLUMN tablespace_advisor.probe_result.turns IS
	'turns in which it was measured, all rows taking part in the same seconds';
COMMENT ON COLUMN tablespace_advisor.probe_result.quiet_percent IS
	'share of these turns in which others made at most 5 % of the device''s requests and took at most 10 % of the processor''s time; where they were enough they alone are the row; NULL where the device has no counters';
COMMENT ON COLUMN tablespace_advisor.probe_result.burst_iops IS
	'requests per second before throughput first fell to another level; the last level counts; NULL where it did not fall';
COMMENT ON COLUMN tablespace_advisor.probe_result.burst_seconds IS
	'seconds from the first measurement of the run until it had fallen to the last level';
GRANT SELECT ON tablespace_advisor.probe_run, tablespace_advisor.probe_result
	TO pg_monitor;

CREATE FUNCTION @extschema@.probe_tablespace(
	tablespace name DEFAULT NULL,
	duration interval DEFAULT '3 s',
	file_size text DEFAULT '256 MB',
	queue_depths int[] DEFAULT '{1,2,4,8,16,32}',
	workloads text[] DEFAULT NULL,
	mode text DEFAULT 'scratch',
	OUT tablespace name,
	OUT workload text,
	OUT queue_depth int,
	OUT io_size int,
	OUT samples bigint,
	OUT iops float8,
	OUT mb_per_s float8,
	OUT mean_us float8,
	OUT stddev_us float8,
	OUT min_us float8,
	OUT p50_us float8,
	OUT p90_us float8,
	OUT p95_us float8,
	OUT p99_us float8,
	OUT max_us float8,
	OUT mean_low_us float8,
	OUT mean_high_us float8,
	OUT caveat text,
	OUT conditions text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'probe_tablespace';
COMMENT ON FUNCTION @extschema@.probe_tablespace(name, interval, text, int[], text[], text) IS
	'measures the device under a tablespace (NULL: under all but pg_global), with a row per workload and queue depth, and keeps the run in tablespace_advisor.probe_run and probe_result; times in microseconds, rates per second, MB of 1048576 bytes; a row with a caveat does not describe the device. Errors: 42704 unknown tablespace; 22004 NULL; 22023 argument out of range; 42501 no CREATE on the tablespace (mode scratch); 53100 not enough space; 53400 temp_file_limit exceeded; 55000 no relation file to read (mode existing), or none of all tablespaces could be probed.';
REVOKE ALL ON FUNCTION
	@extschema@.probe_tablespace(name, interval, text, int[], text[], text) FROM PUBLIC;
