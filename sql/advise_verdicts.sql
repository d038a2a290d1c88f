-- every verdict, on facts written down by hand that set up exactly its case
SET allow_in_place_tablespaces = on;
SET client_min_messages = warning;
CREATE TABLESPACE regress_advise_slow LOCATION '';
CREATE TABLESPACE regress_advise_fast LOCATION '';
CREATE TABLE placed (a int, b int);
CREATE INDEX placed_a ON placed (a);
CREATE INDEX placed_b ON placed (b);

/*
 * An index on a slow disk, read 20 times a second, and its table, as much: to
 * be moved.  Each case changes some of these facts, about placed_a.
 */
CREATE FUNCTION verdict(changed_fact text, relation_facts jsonb DEFAULT '{}',
	source jsonb DEFAULT '{}', dest jsonb DEFAULT '{}', load jsonb DEFAULT '{}',
	destination name DEFAULT 'regress_advise_fast', budget bigint DEFAULT NULL,
	heap_facts jsonb DEFAULT '{}', third jsonb DEFAULT NULL)
RETURNS TABLE (fact text, action text, saved float8, reason text, statement text)
LANGUAGE sql AS $$
	SELECT changed_fact, (j.advice).action, (j.advice).saved_ms_per_s,
		(j.advice).reason, (j.advice).statement
	FROM tablespace_advisor.judge_placement(
		ARRAY[jsonb_populate_record(NULL::tablespace_advisor.relation_fact,
				'{"relation": "placed", "table_relation": "placed", "kind": "heap",
				"tablespace": "regress_advise_slow", "size_bytes": 8192000,
				"reads_per_s": 20, "hits_per_s": 20, "writes_per_s": 1}' || heap_facts),
			jsonb_populate_record(NULL::tablespace_advisor.relation_fact,
				'{"relation": "placed_a", "table_relation": "placed", "kind": "index",
				"tablespace": "regress_advise_slow", "size_bytes": 819200,
				"reads_per_s": 20, "hits_per_s": 20, "writes_per_s": 1,
				"tuples_per_scan": 1, "correlation": 0.1, "system_cached": 0.1,
				"scans": 9, "writes": 1000, "counted_days": 100}' || relation_facts)],
		ARRAY['placed_a'::regclass],
		ARRAY[jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
				'{"tablespace": "regress_advise_slow", "run_id": 1, "random_read_us": 5000,
				"random_read_low_us": 4900, "random_read_high_us": 5100,
				"depths": [1, 2, 4, 8], "depth_read_us": [5000, 10000, 20000, 40000],
				"sequential_page_us": 125, "may_create": true, "volatile": false,
				"shares_device_with": [], "available_bytes": 1000000000}' || source),
			jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
				'{"tablespace": "regress_advise_fast", "run_id": 2, "random_read_us": 100,
				"random_read_low_us": 98, "random_read_high_us": 102,
				"depths": [1, 2, 4, 8], "depth_read_us": [100, 100, 100, 200],
				"sequential_page_us": 50, "may_create": true, "volatile": false,
				"shares_device_with": [], "available_bytes": 1000000000}' || dest)]
			|| CASE WHEN third IS NOT NULL THEN ARRAY[jsonb_populate_record(
				NULL::tablespace_advisor.tablespace_fact, third)] END,
		jsonb_populate_record(NULL::tablespace_advisor.load_fact,
			'{"source": "samples", "seconds": 86400, "intervals": 288,
			"reads_per_s": 40, "snapshots": 0}' || load),
		destination, budget) j
$$;

-- move
\x on
SELECT * FROM verdict('none');
SELECT * FROM verdict('half of it in the system''s cache', '{"system_cached": 0.5}');
SELECT * FROM verdict('a queue', load =>
	'{"snapshots": 1000, "reading_snapshots": 900, "reading_sessions": 4, "active_sessions": 4, "waits": {"IO/DataFileRead": 4}}');

-- an index that is wrong wherever it lies
SELECT * FROM verdict('being built', '{"unusable": "being built"}');
SELECT * FROM verdict('invalid', '{"unusable": "invalid"}');
SELECT * FROM verdict('duplicate', '{"duplicate_of": "placed_b"}');
SELECT * FROM verdict('unused for 31 days', '{"scans": 0, "counted_days": 31}');
SELECT * FROM verdict('unused expression', '{"scans": 0, "expression": "lower(a)"}');
SELECT * FROM verdict('bloated', '{"size_bytes": 40000000, "rebuilt_bytes": 10000000}');
SELECT * FROM verdict('bloated, and nothing to gain by moving',
	'{"size_bytes": 40000000, "rebuilt_bytes": 10000000, "reads_per_s": 0}');
SELECT * FROM verdict('ranges of a table in order',
	'{"size_bytes": 100000000, "brin_bytes": 262144, "correlation": 0.99, "tuples_per_scan": 5000, "column_name": "a"}');

SELECT * FROM verdict('under way', '{"moving_job": 2, "size_bytes": 40000000, "rebuilt_bytes": 10000000, "duplicate_of": "placed_b"}');

-- not known
SELECT * FROM verdict('this tablespace not probed', source => '{"random_read_us": null, "depths": [], "depth_read_us": []}');
SELECT * FROM verdict('the other not probed', dest => '{"random_read_us": null, "depths": [], "depth_read_us": []}');
SELECT * FROM verdict('neither probed', source => '{"random_read_us": null, "depths": [], "depth_read_us": []}',
	dest => '{"random_read_us": null, "depths": [], "depth_read_us": []}', destination => NULL);
SELECT * FROM verdict('neither probed, on one device', source => '{"random_read_us": null, "depths": [], "depth_read_us": [], "shares_device_with": ["regress_advise_fast"]}',
	dest => '{"random_read_us": null, "depths": [], "depth_read_us": []}', destination => NULL);
SELECT * FROM verdict('its heap is where nothing was probed', heap_facts => '{"tablespace": "pg_default"}',
	third => '{"tablespace": "pg_default", "depths": [], "depth_read_us": []}');
SELECT * FROM verdict('its heap is where the probe was not of the device', heap_facts => '{"tablespace": "pg_default"}',
	third => '{"tablespace": "pg_default", "depths": [], "depth_read_us": [], "caveat": "only 1 % of the bytes reached a device"}');
SELECT * FROM verdict('its heap is in no tablespace that is known', heap_facts => '{"tablespace": "pg_default"}');
\x off

/*
 * Twenty cases in which to leave the index alone.
 */
CREATE TABLE kept AS
SELECT v.* FROM (VALUES (1)) one
CROSS JOIN LATERAL (
	SELECT * FROM verdict('1 already there', '{"tablespace": "regress_advise_fast"}')
	UNION ALL SELECT * FROM verdict('2 all in shared buffers', '{"reads_per_s": 0}')
	UNION ALL SELECT * FROM verdict('3 all in the system''s cache', '{"system_cached": 1, "reads_per_s": 140}')
	UNION ALL SELECT * FROM verdict('4 read from a cache, says the server''s timing', load => '{"timed_read_us": 2}')
	UNION ALL SELECT * FROM verdict('5 not read', '{"reads_per_s": 0, "hits_per_s": 0}')
	UNION ALL SELECT * FROM verdict('6 sessions wait for locks', load =>
		'{"snapshots": 1000, "active_sessions": 4, "waits": {"Lock/transactionid": 3.5, "CPU": 0.4, "IO/DataFileRead": 0.1}}')
	UNION ALL SELECT * FROM verdict('7 sessions wait for WAL', load =>
		'{"snapshots": 1000, "active_sessions": 16, "waits": {"LWLock/WALWrite": 13, "IO/WALSync": 2, "IO/DataFileRead": 0.5}}')
	UNION ALL SELECT * FROM verdict('8 sessions use the processor', load =>
		'{"snapshots": 1000, "active_sessions": 2, "waits": {"CPU": 1.9, "IO/DataFileRead": 0.1}}')
	UNION ALL SELECT * FROM verdict('9 the target is no faster', dest =>
		'{"random_read_us": 5000, "random_read_low_us": 4950, "random_read_high_us": 5050, "depth_read_us": [5000, 10000, 20000, 40000]}')
	UNION ALL SELECT * FROM verdict('10 faster, but within the intervals', dest =>
		'{"random_read_us": 4800, "random_read_low_us": 4600, "random_read_high_us": 5000, "depth_read_us": [4800, 9600, 20000, 40000]}')
	UNION ALL SELECT * FROM verdict('11 the same device', source => '{"shares_device_with": ["regress_advise_fast"]}')
	UNION ALL SELECT * FROM verdict('12 volatile', dest => '{"volatile": true}')
	UNION ALL SELECT * FROM verdict('13 no room', dest => '{"available_bytes": 819199}')
	UNION ALL SELECT * FROM verdict('14 over the budget', budget => 819199)
	UNION ALL SELECT * FROM verdict('15 a small share of the table''s reads', '{"reads_per_s": 1}')
	UNION ALL SELECT * FROM verdict('16 a week does not repay it', '{"reads_per_s": 0.00001, "size_bytes": 81920000000}', heap_facts => '{"reads_per_s": 0}', dest => '{"available_bytes": 1e12}')
	UNION ALL SELECT * FROM verdict('17 moved away from there yesterday', '{"left_lately": ["regress_advise_fast"]}')
	UNION ALL SELECT * FROM verdict('18 the target would be too busy', dest => '{"depth_read_us": [100, 200, 400, 800], "random_read_us": 100}',
		relation_facts => '{"reads_per_s": 11000, "system_cached": 0}', source => '{"depth_read_us": [5000, 5000, 5000, 5000]}')
	UNION ALL SELECT * FROM verdict('19 cannot be moved live', '{"obstacle": "unlogged: only ALTER moves it"}')
	UNION ALL SELECT * FROM verdict('20 no right to', dest => '{"may_create": false}')
) v;
SELECT fact, action, saved, reason FROM kept;
SELECT count(*) FILTER (WHERE action = 'keep') AS kept, count(*) AS cases,
	max(length(reason)) <= 80 AS in_a_line FROM kept;

-- near to those, but not the same
SELECT fact, action, reason FROM (
	SELECT * FROM verdict('unused for less than a month', '{"scans": 0, "counted_days": 30.9}')
	UNION ALL SELECT * FROM verdict('unused but unique', '{"scans": 0, "needed_for": "uniqueness"}')
	UNION ALL SELECT * FROM verdict('neither used nor written', '{"scans": 0, "writes": 0}')
	UNION ALL SELECT * FROM verdict('twice as large as it need be, of 10 MB', '{"size_bytes": 10000000, "rebuilt_bytes": 4000000}')
	UNION ALL SELECT * FROM verdict('ranges, but of a table in disorder',
		'{"size_bytes": 100000000, "brin_bytes": 262144, "correlation": 0.5, "tuples_per_scan": 5000}')
	UNION ALL SELECT * FROM verdict('in order, but single rows',
		'{"size_bytes": 100000000, "brin_bytes": 262144, "correlation": 0.99, "tuples_per_scan": 5}')
	UNION ALL SELECT * FROM verdict('a small share of the reads, a smaller one of the bytes',
		'{"reads_per_s": 1, "size_bytes": 81920}')
	UNION ALL SELECT * FROM verdict('more writes than the target can take', '{"writes_per_s": 500}',
		dest => '{"max_writes_per_s": 1}')
	UNION ALL SELECT * FROM verdict('locks, but too few looks', load =>
		'{"snapshots": 10, "active_sessions": 4, "waits": {"Lock/transactionid": 4}}')
	UNION ALL SELECT * FROM verdict('a fifth of the time reading', load =>
		'{"snapshots": 1000, "active_sessions": 4, "waits": {"Lock/transactionid": 3.2, "IO/DataFileRead": 0.8}}')
	UNION ALL SELECT * FROM verdict('exactly enough room', dest => '{"available_bytes": 819200}')
	UNION ALL SELECT * FROM verdict('intervals that do not touch', dest =>
		'{"random_read_us": 4000, "random_read_low_us": 3900, "random_read_high_us": 4800, "depth_read_us": [4000, 8000, 16000, 32000]}')
	UNION ALL SELECT * FROM verdict('as slow a disk, but idle where this one has a queue', dest =>
		'{"random_read_us": 5000, "random_read_low_us": 4950, "random_read_high_us": 5050, "depth_read_us": [5000, 10000, 20000, 40000]}',
		load => '{"snapshots": 1000, "reading_snapshots": 900, "reading_sessions": 4, "active_sessions": 4, "waits": {"IO/DataFileRead": 4}}')
	UNION ALL SELECT * FROM verdict('window not known', '{"reads_per_s": null, "hits_per_s": null}')
) v;
-- no other tablespace, and others that it must not go to
SELECT fact, action, reason FROM (
	SELECT * FROM verdict('the only other one volatile', dest => '{"volatile": true}', destination => NULL)
	UNION ALL SELECT * FROM verdict('on the same device', source => '{"shares_device_with": ["regress_advise_fast"]}', destination => NULL)
	UNION ALL SELECT * FROM verdict('already in the faster', '{"tablespace": "regress_advise_fast"}', destination => NULL)
) v;
SELECT (j.advice).action, (j.advice).reason, (j.advice).statement
FROM tablespace_advisor.judge_placement(
	ARRAY[jsonb_populate_record(NULL::tablespace_advisor.relation_fact,
		'{"relation": "placed", "table_relation": "placed", "kind": "heap",
		"tablespace": "regress_advise_slow", "size_bytes": 8192000, "reads_per_s": 20}')],
	ARRAY['placed'::regclass],
	ARRAY[jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
		'{"tablespace": "regress_advise_slow", "depths": [], "depth_read_us": [],
		"may_create": true, "shares_device_with": []}')],
	jsonb_populate_record(NULL::tablespace_advisor.load_fact,
		'{"source": "samples", "seconds": 86400, "snapshots": 0}'), NULL, NULL) j;

DROP TABLE kept;
DROP FUNCTION verdict;
DROP TABLE placed;
DROP TABLESPACE regress_advise_slow;
DROP TABLESPACE regress_advise_fast;
