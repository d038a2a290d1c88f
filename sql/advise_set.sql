-- what moves save together, and tablespaces that are only assumed
SET allow_in_place_tablespaces = on;
SET client_min_messages = warning;

-- four relations read alike by four sessions from a serial disk, half of their time
CREATE TABLE set_a (a int);
CREATE TABLE set_b (a int);
CREATE TABLE set_c (a int);
CREATE TABLE set_d (a int);
CREATE FUNCTION judge(budget bigint, sessions float8)
RETURNS TABLE (relation regclass, action text, saved float8, percent float8, later numeric, reading float8)
LANGUAGE sql AS $$
	SELECT (j.advice).relation, (j.advice).action, (j.advice).saved_ms_per_s, (j.advice).saved_percent,
		round((j.evidence #>> '{estimate,later_read_ms_per_s}')::numeric, 1), (j.advice).read_ms_per_s
	FROM tablespace_advisor.judge_placement(
		array(SELECT a FROM jsonb_populate_recordset(NULL::tablespace_advisor.relation_fact, '[
			{"relation": "set_a", "table_relation": "set_a"}, {"relation": "set_b", "table_relation": "set_b"},
			{"relation": "set_c", "table_relation": "set_c"}, {"relation": "set_d", "table_relation": "set_d"}]') n
			CROSS JOIN LATERAL jsonb_populate_record(n, '{"kind": "heap", "tablespace": "slow",
				"size_bytes": 8192000, "reads_per_s": 33.333, "hits_per_s": 1}') a),
		'{set_a,set_b,set_c,set_d}',
		array(SELECT f FROM jsonb_populate_recordset(NULL::tablespace_advisor.tablespace_fact, '[
			{"tablespace": "slow", "random_read_us": 5000, "random_read_low_us": 4900, "random_read_high_us": 5100,
			 "depths": [1, 2, 4, 8], "depth_read_us": [5000, 10000, 20000, 40000], "may_create": true,
			 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000},
			{"tablespace": "fast", "random_read_us": 100, "random_read_low_us": 98, "random_read_high_us": 102,
			 "depths": [1], "depth_read_us": [100], "may_create": true,
			 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000}]') f),
		jsonb_populate_record(NULL::tablespace_advisor.load_fact, jsonb_build_object('source', 'samples',
			'seconds', 1000, 'intervals', 3, 'reads_per_s', 133.333, 'checkpoint_s', 300,
			'snapshots', CASE WHEN sessions > 0 THEN 100 ELSE 0 END, 'active_sessions', sessions,
			'reading_snapshots', 80, 'reading_sessions', 2,
			'waits', '{"IO/DataFileRead": 1.3}'::jsonb)),
		NULL, budget) j
$$;
\echo -- two of four: what they save alone, and, with the sessions known, together
SELECT * FROM judge(16384000, NULL) WHERE action = 'move';
SELECT * FROM judge(16384000, 4) WHERE action = 'move';
\echo -- what stays is read faster, too, and all of it adds up
SELECT relation, action, later, reading FROM judge(16384000, 4);
SELECT round((sum(reading - later::float8) / sum(saved))::numeric, 2) AS ratio FROM judge(16384000, 4);
\echo -- all: no more than all reading
SELECT count(*), round(sum(saved)::numeric) AS saved, round(sum(percent)::numeric) AS percent
FROM judge(NULL, 4) WHERE action = 'move';
\echo -- the curve says the same of a set
SELECT bytes, saved_ms_per_s, saved_percent, relations FROM tablespace_advisor.curve_of(
	array(SELECT a FROM jsonb_populate_recordset(NULL::tablespace_advisor.relation_fact, '[
		{"relation": "set_a", "table_relation": "set_a"}, {"relation": "set_b", "table_relation": "set_b"},
		{"relation": "set_c", "table_relation": "set_c"}, {"relation": "set_d", "table_relation": "set_d"}]') n
		CROSS JOIN LATERAL jsonb_populate_record(n, '{"kind": "heap", "tablespace": "slow",
			"size_bytes": 8192000, "reads_per_s": 33.333, "hits_per_s": 1}') a),
	array(SELECT f FROM jsonb_populate_recordset(NULL::tablespace_advisor.tablespace_fact, '[
		{"tablespace": "slow", "random_read_us": 5000, "random_read_low_us": 4900, "random_read_high_us": 5100,
		 "depths": [1, 2, 4, 8], "depth_read_us": [5000, 10000, 20000, 40000], "may_create": true,
		 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000},
		{"tablespace": "fast", "random_read_us": 100, "random_read_low_us": 98, "random_read_high_us": 102,
		 "depths": [1], "depth_read_us": [100], "may_create": true,
		 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000}]') f),
	jsonb_populate_record(NULL::tablespace_advisor.load_fact, '{"source": "samples",
		"seconds": 1000, "intervals": 3, "reads_per_s": 133.333, "checkpoint_s": 300,
		"snapshots": 100, "active_sessions": 4, "reading_snapshots": 80, "reading_sessions": 2}'),
	'fast', 4);
/* Cases before had most of their reads on the slow device, where no loss exceeds them. */
\echo -- few reads where they are fast: what would be lost elsewhere is a share of what would be read there
SELECT bytes, saved_ms_per_s, saved_percent, relations FROM tablespace_advisor.curve_of(
	array(SELECT a FROM jsonb_populate_recordset(NULL::tablespace_advisor.relation_fact, '[
		{"relation": "set_a", "table_relation": "set_a"}, {"relation": "set_b", "table_relation": "set_b"},
		{"relation": "set_c", "table_relation": "set_c"}, {"relation": "set_d", "table_relation": "set_d"}]') n
		CROSS JOIN LATERAL jsonb_populate_record(n, '{"kind": "heap", "tablespace": "fast",
			"size_bytes": 8192000, "reads_per_s": 0.333, "hits_per_s": 1}') a),
	array(SELECT f FROM jsonb_populate_recordset(NULL::tablespace_advisor.tablespace_fact, '[
		{"tablespace": "slow", "random_read_us": 5000, "random_read_low_us": 4900, "random_read_high_us": 5100,
		 "depths": [1, 2, 4, 8], "depth_read_us": [5000, 10000, 20000, 40000], "may_create": true,
		 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000},
		{"tablespace": "fast", "random_read_us": 100, "random_read_low_us": 98, "random_read_high_us": 102,
		 "depths": [1], "depth_read_us": [100], "may_create": true,
		 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000}]') f),
	jsonb_populate_record(NULL::tablespace_advisor.load_fact, '{"source": "samples",
		"seconds": 1000, "intervals": 3, "reads_per_s": 1.333, "checkpoint_s": 300,
		"snapshots": 100, "active_sessions": 4, "reading_snapshots": 0, "reading_sessions": 0}'),
	'fast', 2);
DROP FUNCTION judge(bigint, float8);
DROP TABLE set_a, set_b, set_c, set_d;

\echo -- a window begins after the last move that matters
CREATE TABLE moved_a (a int);
CREATE TABLE moved_b (a int);
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_sample;
INSERT INTO tablespace_advisor.sample (sample_id, started_at, taken_at, was_reset, io_timed,
	blocks_read, blocks_hit, read_ms, write_ms, snapshots, reading_snapshots, reading_sessions, waits)
OVERRIDING SYSTEM VALUE
SELECT n, CASE WHEN n > 0 THEN now() - (61 - n) * interval '10 min' END, now() - (60 - n) * interval '10 min',
	false, false, n * 1000, 0, 0, 0, 0, 0, 0, '{}' FROM generate_series(0, 60) n;
INSERT INTO tablespace_advisor.relation_sample (sample_id, relation, size_bytes, reads, hits)
SELECT n, r.relation, 8192, r.reads, 0
FROM generate_series(1, 60) n, (VALUES ('moved_a'::regclass, 900), ('moved_b', 40)) r (relation, reads);
CREATE FUNCTION pg_temp.move(id int, relation regclass, minutes_ago int, state text DEFAULT 'done')
RETURNS void LANGUAGE sql AS $$
	INSERT INTO tablespace_advisor.job (job_id, batch_id, relation, heap, kind, schema_name, relation_name,
		from_tablespace, from_tablespace_name, to_tablespace, to_tablespace_name, method_wanted, method, state,
		bytes_total, lock_timeout_ms, owner, system_identifier, database, started_at, finished_at)
	OVERRIDING SYSTEM VALUE
	SELECT id, id, $2, $2, 'r', 'public', 'x', 1663, 'pg_default', 1664, 'elsewhere', 'auto', 'copy',
		state, 0, 0, 10, 0, 0, now() - minutes_ago * interval '1 min', now() - minutes_ago * interval '1 min'
$$;
CREATE VIEW pg_temp.windows AS SELECT round(extract(epoch FROM h.history) / 60) AS minutes, h.is_before
	FROM tablespace_advisor.history_since_moves('5 hours') h;
BEGIN;
DELETE FROM tablespace_advisor.job;
SELECT * FROM pg_temp.windows;
SELECT pg_temp.move(1, 'moved_b', 35);	-- 4 % of all reads
SELECT pg_temp.move(2, 'moved_a', 95, 'failed');
SELECT * FROM pg_temp.windows;
SELECT pg_temp.move(3, 'moved_a', 95);	-- 90 %: from the next sample on
SELECT * FROM pg_temp.windows;
SELECT pg_temp.move(4, 'moved_a', 0);	-- no sample since
SELECT * FROM pg_temp.windows;
ROLLBACK;
\echo -- samples at no time at all are left out
UPDATE tablespace_advisor.sample SET taken_at = 'infinity' WHERE sample_id = 60;
UPDATE tablespace_advisor.sample SET started_at = '-infinity' WHERE sample_id = 59;
SELECT intervals FROM tablespace_advisor.observe_database(history => '5 hours');
SELECT count(*) FROM advise_placement();
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_sample;
DROP TABLE moved_a, moved_b;

\echo -- a tablespace that is not there
CREATE TABLESPACE regress_set_slow LOCATION '';
CREATE TABLE wanted TABLESPACE regress_set_slow AS SELECT n FROM generate_series(1, 10000) n;
VACUUM ANALYZE wanted;
SELECT assume_tablespace('regress_set_new', 100, '1 GB', 'regress_set_slow');
SELECT assume_tablespace('regress_set_other', 200, '100 MB', max_reads_per_s => 40000);
SELECT * FROM tablespace_advisor.assumed_tablespaces();
SELECT f.tablespace, random_read_us, depths, depth_read_us, available_bytes, latency_from, sequential_page_us, max_writes_per_s
FROM tablespace_advisor.assumed_facts(array(
	SELECT t FROM jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
		'{"tablespace": "regress_set_slow", "random_read_us": 5000, "depths": [1, 4], "cached_read_us": 5,
		"depth_read_us": [5000, 20000], "sequential_page_us": 125, "max_writes_per_s": 200}') t)) f;
-- like one that was not probed: no more is known of it than was given
SELECT f.tablespace, depths, depth_read_us FROM tablespace_advisor.assumed_facts('{}') f;
-- given anew, and made
SELECT assume_tablespace('regress_set_new', 50, '10 GB');
CREATE TABLESPACE regress_set_other LOCATION '';
SELECT * FROM tablespace_advisor.assumed_tablespaces();
SELECT assume_tablespace('regress_set_none', 50, '10 GB', 'regress_no_such');
SELECT * FROM tablespace_advisor.assumed_tablespaces();
\set VERBOSITY terse
SELECT assume_tablespace('regress_set_other', 50, '10 GB');
SELECT assume_tablespace('pg_global', 50, '10 GB');
SELECT assume_tablespace('x', 50, '10 GB', 'pg_global');
SELECT assume_tablespace('x', 0, '10 GB');
SELECT assume_tablespace('x', 'NaN', '10 GB');
SELECT assume_tablespace('x', 'infinity', '10 GB');
SELECT assume_tablespace('x', 50, '0');
SELECT assume_tablespace('x', 50, 'much');
SELECT assume_tablespace('x', 50, NULL);
SELECT assume_tablespace(NULL, 50, '1 GB');
SELECT assume_tablespace('', 50, '1 GB');
SELECT assume_tablespace('x', 50, '10 GB', max_reads_per_s => -1);
SELECT assume_tablespace('x', 5000, '10 GB', max_reads_per_s => 199);
SELECT assume_tablespace('n' || n, 50, '10 GB') FROM generate_series(1, 17) n;
SELECT * FROM advise_placement(tablespace => 'x');
SELECT * FROM placement_curve('x');
\set VERBOSITY default
SELECT assume_tablespace('x', 50, '10 GB');
\echo -- plans on it have the global page costs
SET client_min_messages = notice;
ALTER TABLESPACE regress_set_slow SET (seq_page_cost = 100);
CREATE FUNCTION pg_temp.cost() RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) SELECT * FROM wanted' INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
SELECT pg_temp.cost() > 100 * relpages AS dear FROM pg_class WHERE relname = 'wanted';
SELECT assume_placement('wanted', 'x');
SELECT * FROM assumed_placements();
SELECT pg_temp.cost() < 100 * relpages AS cheap FROM pg_class WHERE relname = 'wanted';
SELECT count(*) FROM wanted;
SELECT forget_placements();
SELECT count(*) FROM assumed_placements();
SELECT pg_temp.cost() > 100 * relpages AS dear FROM pg_class WHERE relname = 'wanted';
SET client_min_messages = warning;
SELECT count(*) FROM tablespace_advisor.assumed_tablespaces();
DROP TABLE wanted;
DROP TABLESPACE regress_set_slow;
DROP TABLESPACE regress_set_other;
