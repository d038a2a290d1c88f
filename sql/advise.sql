-- advise_placement: estimate and choice on facts written down by hand
SET allow_in_place_tablespaces = on;
SET client_min_messages = warning;
CREATE TABLESPACE regress_advise_slow LOCATION '';
CREATE TABLESPACE regress_advise_fast LOCATION '';
CREATE TABLESPACE "regress advise's odd" LOCATION '';

-- the columns are a contract
SELECT string_agg(format('%s %s', attname, format_type(atttypid, atttypmod)), ', '
	ORDER BY attnum) AS columns
FROM pg_attribute WHERE attrelid = 'placement_advice'::regclass;

SELECT number, tablespace_advisor.round_to_three(number)
FROM unnest('{0, 1, 0.0012345, -5.678, 999.5, 123456, 1e-12, NULL}'::float8[]) number;

--
-- facts by hand
--
CREATE TABLE placed (a int, b int, c int, d int);
CREATE INDEX placed_a ON placed (a);
CREATE INDEX placed_b ON placed (b);
CREATE INDEX placed_c ON placed (c);
CREATE INDEX placed_d ON placed (d);

/*
 * 10 reads a second at 5000 us each: 50 ms/s.  The destination needs 100 us,
 * so a read saves 4.9 ms.
 *   placed_a  5.3 reads/s  25.97 ms/s  51.94 %
 *   placed_b  1.9           9.31       18.62
 *   placed_c  0.7           3.43        6.86
 *   placed_d  0.1           0.49        0.98   too little
 *   placed    2.0           9.80       19.60
 */
CREATE TABLE relation_case AS
SELECT a.* FROM jsonb_populate_recordset(
	NULL::tablespace_advisor.relation_fact, '[
	{"relation": "placed", "kind": "heap", "size_bytes": 819200, "toast_bytes": 8192,
	 "reads_per_s": 2, "hits_per_s": 6, "writes_per_s": 5, "hot_fraction": 0.2},
	{"relation": "placed_a", "kind": "index", "size_bytes": 81920,
	 "reads_per_s": 5.3, "hits_per_s": 0, "writes_per_s": 4, "scans": 9},
	{"relation": "placed_b", "kind": "index", "size_bytes": 163840,
	 "reads_per_s": 1.9, "hits_per_s": 1.9, "writes_per_s": 4, "scans": 9},
	{"relation": "placed_c", "kind": "index", "size_bytes": 81920,
	 "reads_per_s": 0.7, "hits_per_s": 0, "writes_per_s": 4, "scans": 9},
	{"relation": "placed_d", "kind": "index", "size_bytes": 8192,
	 "reads_per_s": 0.1, "hits_per_s": 0, "writes_per_s": 4, "scans": 9}]') a;
UPDATE relation_case SET table_relation = 'placed', tablespace = 'regress_advise_slow',
	system_cached = 0;

CREATE TABLE tablespace_case AS
SELECT f.* FROM jsonb_populate_recordset(
	NULL::tablespace_advisor.tablespace_fact, '[
	{"tablespace": "regress_advise_slow", "run_id": 1, "random_read_us": 5000,
	 "random_read_low_us": 4900, "random_read_high_us": 5100,
	 "depths": [1, 2, 4, 8], "depth_read_us": [5000, 10000, 20000, 40000],
	 "cached_read_us": 5, "sequential_page_us": 125, "may_create": true,
	 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000},
	{"tablespace": "regress_advise_fast", "run_id": 2, "random_read_us": 100,
	 "random_read_low_us": 98, "random_read_high_us": 102,
	 "depths": [1, 2, 4, 8], "depth_read_us": [100, 100, 100, 200],
	 "cached_read_us": 5, "sequential_page_us": 50, "may_create": true,
	 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000},
	{"tablespace": "regress advise''s odd", "run_id": 3, "random_read_us": 200,
	 "random_read_low_us": 198, "random_read_high_us": 202,
	 "depths": [1], "depth_read_us": [200],
	 "sequential_page_us": 50, "may_create": true,
	 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000},
	{"tablespace": "pg_default", "depths": [], "depth_read_us": [], "may_create": true,
	 "shares_device_with": []}]') f;

CREATE TABLE load_case AS
SELECT l.* FROM jsonb_populate_record(NULL::tablespace_advisor.load_fact,
	'{"source": "samples", "seconds": 1000, "intervals": 3, "reads_per_s": 10,
	 "snapshots": 0, "checkpoint_s": 300}') l;

CREATE FUNCTION judge(destination name DEFAULT NULL,
	budget_bytes bigint DEFAULT NULL, considered regclass[] DEFAULT NULL,
	with_evictions boolean DEFAULT false)
RETURNS TABLE (advice placement_advice, evidence jsonb)
LANGUAGE sql AS $$
	SELECT * FROM tablespace_advisor.judge_placement(
		array(SELECT ROW(a.*)::tablespace_advisor.relation_fact FROM relation_case a),
		coalesce(considered, array(SELECT a.relation FROM relation_case a)),
		array(SELECT ROW(f.*)::tablespace_advisor.tablespace_fact FROM tablespace_case f),
		(SELECT ROW(l.*)::tablespace_advisor.load_fact FROM load_case l),
		destination, budget_bytes, with_evictions)
$$;

-- the account
SELECT (advice).rank, (advice).action, (advice).relation, (advice).to_tablespace AS "to",
	(advice).saved_ms_per_s AS saved, (advice).saved_percent AS percent, (advice).reason
FROM judge();
SELECT max(length(concat_ws(' | ', (advice).rank, (advice).action, (advice).relation,
	(advice).from_tablespace, (advice).to_tablespace, (advice).size_bytes,
	(advice).saved_ms_per_s, (advice).saved_percent))) <= 100 AS in_a_line
FROM judge();
SELECT (advice).relation, (advice).reads_per_s AS reads, (advice).writes_per_s AS writes,
	(advice).cached_fraction AS cached, (advice).read_ms_per_s AS read_ms,
	(advice).move_seconds, (advice).statement
FROM judge();

--
-- what reaches the device, and how long that takes
--
CREATE FUNCTION estimate() RETURNS TABLE (relation regclass, share numeric, us numeric,
	read_ms numeric, there_us numeric, saved_ms numeric, percent numeric)
LANGUAGE sql AS $$
	SELECT e.relation, round(e.device_share::numeric, 4), round(e.device_us::numeric, 1),
		round(e.read_ms_per_s::numeric, 3), round(e.destination_us::numeric, 1),
		round(e.saved_ms_per_s::numeric, 3), round(e.saved_percent::numeric, 3)
	FROM (SELECT array(SELECT ROW(a.*)::tablespace_advisor.relation_fact FROM relation_case a) AS relations,
		array(SELECT ROW(f.*)::tablespace_advisor.tablespace_fact FROM tablespace_case f) AS places,
		(SELECT ROW(l.*)::tablespace_advisor.load_fact FROM load_case l) AS load) f
	CROSS JOIN LATERAL tablespace_advisor.decide_placement(f.relations, f.places, f.load,
		array(SELECT a.relation FROM relation_case a), 'regress_advise_fast', NULL, false, true, NULL) d
	CROSS JOIN LATERAL (SELECT (d.estimate).*) e
	WHERE e.destination = 'regress_advise_fast'
	ORDER BY e.relation::text COLLATE "C"
$$;
BEGIN;
-- half of placed_a and three quarters of the heap in the system's cache
UPDATE relation_case SET system_cached = CASE kind WHEN 'heap' THEN 0.75 ELSE 0.5 END
WHERE relation IN ('placed'::regclass, 'placed_a'::regclass);
SELECT * FROM estimate();
-- timed: 2.5 ms a read where 3260 us of device and cache were expected
UPDATE load_case SET timed_read_us = 2500;
SELECT * FROM estimate();
-- counted with rounding, a share in the cache is a hair above 1
UPDATE relation_case SET system_cached = 1.0000001 WHERE relation = 'placed'::regclass;
SELECT * FROM estimate();
UPDATE relation_case SET system_cached = 0.75 WHERE relation = 'placed'::regclass;
-- all from the cache
UPDATE load_case SET timed_read_us = 5;
SELECT * FROM estimate();
-- 9 ms a read: the device is slower than it was when it was probed
UPDATE load_case SET timed_read_us = 9000;
SELECT * FROM estimate();
-- one read in eleven is no relation's: the time of all is that of ten
UPDATE load_case SET reads_per_s = 11, timed_read_us = 9000 * 10 / 11.0;
SELECT share, us FROM estimate() WHERE relation = 'placed_b'::regclass;
-- the facts cover too little of what was timed
UPDATE load_case SET reads_per_s = 13;
SELECT share, us FROM estimate() WHERE relation = 'placed_b'::regclass;
ROLLBACK;
-- three sessions reading while any does: 15 ms a read, on a device that serves one at a time
BEGIN;
UPDATE load_case SET snapshots = 100, reading_snapshots = 5, reading_sessions = 3, active_sessions = 3, waits = '{"IO/DataFileRead": 1.2}';
SELECT * FROM estimate();
-- no more wait than there are sessions
SAVEPOINT few;
UPDATE load_case SET active_sessions = 0.1;
SELECT round(sum(read_ms)) AS waiting_ms FROM estimate();
ROLLBACK TO few;
-- too few looks at readers to say
UPDATE load_case SET reading_snapshots = 4;
SELECT us, saved_ms FROM estimate() WHERE relation = 'placed_b'::regclass;
ROLLBACK;
-- three sessions that do nothing but read will be three there, too: of a device
-- that serves one at a time in 100 us that takes 300
BEGIN;
UPDATE relation_case SET reads_per_s = 20 * reads_per_s;
UPDATE tablespace_case SET depth_read_us = '{100,200,400,800}' WHERE tablespace = 'regress_advise_fast';
UPDATE load_case SET snapshots = 100, reading_snapshots = 100, reading_sessions = 3, active_sessions = 3;
SELECT relation, us, there_us, saved_ms FROM estimate();
-- six, of which three are busy otherwise on average, hardly ever meet there
UPDATE load_case SET active_sessions = 6;
SELECT us, there_us FROM estimate() WHERE relation = 'placed_b'::regclass;
ROLLBACK;
-- no looks: 25000 reads a second need 2.5 at a time of a device with 100 us
BEGIN;
UPDATE relation_case SET reads_per_s = 12500, tablespace = 'regress_advise_fast'
WHERE relation IN ('placed_a'::regclass, 'placed_b'::regclass);
SELECT DISTINCT (d.here).tablespace, (d.here).device_reads_per_s, (d.here).depth, (d.here).device_us
FROM tablespace_advisor.decide_placement(
	array(SELECT ROW(a.*)::tablespace_advisor.relation_fact FROM relation_case a),
	array(SELECT ROW(f.*)::tablespace_advisor.tablespace_fact FROM tablespace_case f),
	(SELECT ROW(l.*)::tablespace_advisor.load_fact FROM load_case l),
	array(SELECT a.relation FROM relation_case a), NULL, NULL, false, true, NULL) d
ORDER BY tablespace;
ROLLBACK;
-- 4 pages/s of placed_a are written, of others as many as are read again, and each
-- of their pages once in 300 s: 9.1 in all
BEGIN;
UPDATE tablespace_case SET max_writes_per_s = 9.5 WHERE tablespace = 'regress_advise_fast';
SELECT (advice).action FROM judge('regress_advise_fast', considered => '{placed_a}');
UPDATE tablespace_case SET max_writes_per_s = 9 WHERE tablespace = 'regress_advise_fast';
SELECT (advice).action, (advice).reason FROM judge('regress_advise_fast', considered => '{placed_a}');
ROLLBACK;
-- moves have a history: 8 kB a second from there
BEGIN;
UPDATE tablespace_case SET copy_rates = '{"regress_advise_slow": 8192}' WHERE tablespace = 'regress_advise_fast';
SELECT (advice).move_seconds, evidence -> 'move' AS move FROM judge(considered => '{placed_a}');
ROLLBACK;

--
-- the choice
--
-- b no longer fits into 200000, c does
SELECT (advice).relation, (advice).action, (advice).rank, (advice).reason
FROM judge(budget_bytes => 200000) WHERE (advice).relation <> 'placed_d'::regclass;
-- a, b and c take 327680 bytes: one less is not enough for all three
SELECT (advice).relation, (advice).rank FROM judge(budget_bytes => 327680) WHERE (advice).action = 'move';
SELECT (advice).relation, (advice).rank FROM judge(budget_bytes => 327679) WHERE (advice).action = 'move';
-- greedy would take what saves most per byte and have no room left
BEGIN;
UPDATE relation_case SET (size_bytes, reads_per_s) = (SELECT v.size, v.reads
	FROM (VALUES ('placed_a'::regclass, 60000, 4), ('placed_b', 50000, 3.2), ('placed_c', 50000, 3.1))
		v (relation, size, reads) WHERE v.relation = relation_case.relation)
WHERE relation IN ('placed_a'::regclass, 'placed_b'::regclass, 'placed_c'::regclass);
SELECT (advice).relation, (advice).action FROM judge(budget_bytes => 100000) WHERE (advice).kind = 'index';
ROLLBACK;
-- the file system's room counts like a budget
BEGIN;
UPDATE tablespace_case SET available_bytes = 100000 WHERE tablespace = 'regress_advise_fast';
SELECT (advice).relation, (advice).action, (advice).reason
FROM judge('regress_advise_fast') WHERE (advice).relation <> 'placed_d'::regclass;
-- and what does not fit goes to the next
SELECT (advice).relation, (advice).action, (advice).to_tablespace, (advice).saved_ms_per_s FROM judge();
-- unless both are on one device: its room was used by the first
UPDATE tablespace_case SET available_bytes = 100000, shares_device_with = '{regress_advise_fast}'
WHERE tablespace = 'regress advise''s odd';
SELECT (advice).relation, (advice).action, (advice).to_tablespace FROM judge();
ROLLBACK;
-- the fastest has room for one: not for the one that saves most there, since that
-- saves nearly as much in the next, where the other does not fit
BEGIN;
UPDATE relation_case SET (size_bytes, reads_per_s) = (SELECT v.size, v.reads
	FROM (VALUES ('placed_a'::regclass, 80000, 4), ('placed_b', 90000, 3.9)) v (relation, size, reads)
	WHERE v.relation = relation_case.relation)
WHERE relation IN ('placed_a'::regclass, 'placed_b'::regclass);
UPDATE tablespace_case SET available_bytes = CASE tablespace WHEN 'regress_advise_fast' THEN 90000 ELSE 80000 END;
SELECT (advice).relation, (advice).to_tablespace, (advice).saved_ms_per_s AS saved
FROM judge(considered => '{placed_a,placed_b}');
-- room for all
UPDATE tablespace_case SET available_bytes = 170000;
SELECT (advice).relation, (advice).to_tablespace, (advice).saved_ms_per_s AS saved
FROM judge(considered => '{placed_a,placed_b}');
ROLLBACK;
-- of one index only: the percentages remain those of its table
SELECT (advice).relation, (advice).action, (advice).saved_percent, (advice).rank
FROM judge(considered => '{placed_b}');
-- another destination: 4.8 ms a read
SELECT (advice).relation, (advice).to_tablespace, (advice).saved_ms_per_s AS saved, (advice).statement
FROM judge('regress advise''s odd', considered => '{placed_a}');
-- bloated: a rebuild takes less, but a budget counts what there is
BEGIN;
UPDATE relation_case SET size_bytes = 40000000, rebuilt_bytes = 10000000 WHERE relation = 'placed_a'::regclass;
SELECT (advice).action, (advice).size_bytes, (advice).reason, (advice).statement
FROM unnest('{39999999,40000000}'::bigint[]) budget, judge(budget_bytes => budget, considered => '{placed_a}');
ROLLBACK;

-- over its mark by 85000 bytes, a read in the next tablespace takes 100 us
-- more: placed_c and placed_d together lose least
BEGIN;
UPDATE relation_case SET tablespace = 'regress_advise_fast';
UPDATE tablespace_case SET available_bytes = -85000 WHERE tablespace = 'regress_advise_fast';
SELECT (advice).rank, (advice).relation, (advice).action, (advice).to_tablespace AS "to",
	(advice).saved_ms_per_s AS saved, (advice).reason FROM judge(with_evictions => true) WHERE (advice).action = 'move';
SELECT count(*) FROM judge() WHERE (advice).action = 'move';
ROLLBACK;

-- the fast tablespace is full: what is read less makes room for what is read more
BEGIN;
UPDATE relation_case SET tablespace = 'regress_advise_fast', reads_per_s = 0.01
WHERE relation IN ('placed_b'::regclass, 'placed_d'::regclass);
UPDATE tablespace_case SET available_bytes = 0 WHERE tablespace = 'regress_advise_fast';
UPDATE tablespace_case SET may_create = false WHERE tablespace = 'regress advise''s odd';
CREATE FUNCTION moves(destination name DEFAULT NULL, OUT rank int, OUT relation regclass, OUT "to" name, OUT saved float8,
	OUT percent float8, OUT reason text, OUT bundle jsonb)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT (advice).rank, (advice).relation, (advice).to_tablespace, (advice).saved_ms_per_s,
		(advice).saved_percent, (advice).reason, evidence #> '{choice,bundle}'
	FROM judge($1, with_evictions => true) WHERE (advice).action = 'move'
$$;
SELECT * FROM moves();
SELECT round((evidence #>> '{choice,ms_per_s_and_gb}')::numeric) > 0 AS has_price
FROM judge() WHERE (advice).rank = 2;
-- who was not asked
UPDATE load_case SET standbys = 'standby1';
SELECT relation, reason FROM moves() WHERE rank = 1;
-- an occupant that has come lately stays
UPDATE relation_case SET left_lately = '{regress_advise_slow}' WHERE relation = 'placed_b'::regclass;
SELECT relation, reason FROM moves();
-- and so does one that is pinned
UPDATE relation_case SET left_lately = NULL, obstacle = 'pinned: reports at night'
WHERE relation = 'placed_b'::regclass;
SELECT relation, reason FROM moves();
UPDATE relation_case SET obstacle = NULL;
-- no room for a second copy anywhere
UPDATE tablespace_case SET available_bytes = 0 WHERE tablespace = 'regress_advise_slow';
SELECT (advice).relation, (advice).action, (advice).reason FROM judge();
-- nothing is read here: nobody goes down
UPDATE relation_case SET reads_per_s = 0;
UPDATE tablespace_case SET available_bytes = 1000000 WHERE tablespace = 'regress_advise_slow';
SELECT count(*) FROM moves();
ROLLBACK;

-- what more room would save, present occupants included
BEGIN;
UPDATE relation_case SET tablespace = 'regress_advise_fast' WHERE relation = 'placed_c'::regclass;
UPDATE tablespace_case SET may_create = false, volatile = true WHERE tablespace = 'regress advise''s odd';
SELECT c.* FROM tablespace_advisor.curve_of(
	array(SELECT ROW(a.*)::tablespace_advisor.relation_fact FROM relation_case a),
	array(SELECT ROW(f.*)::tablespace_advisor.tablespace_fact FROM tablespace_case f),
	(SELECT ROW(l.*)::tablespace_advisor.load_fact FROM load_case l), 'regress_advise_fast', 7) c;
-- the same beside one of which only the counters are known
UPDATE tablespace_case SET may_create = true, volatile = false, latency_from = 'counters', random_read_us = 10,
	random_read_low_us = 10, random_read_high_us = 10, depths = '{1}', depth_read_us = '{10}'
WHERE tablespace = 'regress advise''s odd';
SELECT c.* FROM tablespace_advisor.curve_of(
	array(SELECT ROW(a.*)::tablespace_advisor.relation_fact FROM relation_case a),
	array(SELECT ROW(f.*)::tablespace_advisor.tablespace_fact FROM tablespace_case f),
	(SELECT ROW(l.*)::tablespace_advisor.load_fact FROM load_case l), 'regress_advise_fast', 7) c;
ROLLBACK;
SELECT * FROM placement_curve('regress_advise_fast');
SELECT * FROM placement_curve('no_such_tablespace');
SELECT * FROM placement_curve('pg_default', 0);
SELECT * FROM placement_curve(NULL);
SELECT * FROM placement_curve('pg_default', NULL);
\echo :LAST_ERROR_SQLSTATE

-- what nobody may move
CREATE ROLE regress_advise_other;
SELECT pin_placement('placed_a', 'reports at night');
SELECT pin_placement('placed_a', E'reports\nat night');
SELECT obstacle FROM unnest(tablespace_advisor.relation_facts('{}', ARRAY['placed'::regclass])) WHERE relation = 'placed_a'::regclass;
SET ROLE regress_advise_other;
SELECT pin_placement('placed_a');
SELECT unpin_placement('placed_a');
RESET ROLE;
SELECT pin_placement('pg_stats');
SELECT pin_placement(NULL);
SELECT unpin_placement(NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT unpin_placement('placed_a'), unpin_placement('placed_a') AS again;
SELECT count(*) FROM unnest(tablespace_advisor.relation_facts('{}', ARRAY['placed'::regclass])) WHERE obstacle IS NOT NULL;
DROP ROLE regress_advise_other;

DROP FUNCTION judge, estimate;
DROP TABLE relation_case, tablespace_case, load_case, placed;
DROP TABLESPACE regress_advise_slow;
DROP TABLESPACE regress_advise_fast;
DROP TABLESPACE "regress advise's odd";
