-- advice without a probe of where relations are: by the device's counters, or by
-- the server's timing
SET allow_in_place_tablespaces = on;
SET track_io_timing = off;
SET client_min_messages = warning;
CREATE TABLESPACE regress_present_slow LOCATION '';
CREATE TABLESPACE regress_present_fast LOCATION '';

\echo -- what counters say of a page: not of intervals with bulk reads
SELECT intervals, round(reads_per_s::numeric, 2) AS reads_per_s, busy_percent, read_us,
	round(read_low_us::numeric, 1) AS low, round(read_high_us::numeric, 1) AS high,
	round(reads_in_flight::numeric, 3) AS in_flight, round(all_reads_in_flight::numeric, 3) AS all_in_flight
FROM tablespace_advisor.device_rates(ARRAY[
	'(1,1663,2026-01-01,100,1000,8192000,8000,0,0,0,9000,8000)',
	'(2,1663,2026-01-01,100,500,65536000,40000,0,0,0,41000,40000)']
	::tablespace_advisor.tablespace_io_sample[]);
\echo -- three intervals: 8, 8.4 and 7.6 ms
SELECT intervals, read_us, round(read_low_us::numeric, 1) AS low, round(read_high_us::numeric, 1) AS high
FROM tablespace_advisor.device_rates(ARRAY[
	'(1,1663,2026-01-01,100,10000,81920000,80000,0,0,0,81000,80000)',
	'(2,1663,2026-01-01,100,10000,81920000,84000,0,0,0,81000,80000)',
	'(3,1663,2026-01-01,100,10000,81920000,76000,0,0,0,81000,80000)']
	::tablespace_advisor.tablespace_io_sample[]);
\echo -- too few reads, and a device that counts no time
SELECT tablespace, intervals, reads_per_s, read_us
FROM tablespace_advisor.device_rates(ARRAY[
	'(1,1663,2026-01-01,100,29,237568,290,0,0,0,300,290)',
	'(1,1700,2026-01-01,100,1000,8192000,0,0,0,0,300,290)']
	::tablespace_advisor.tablespace_io_sample[]) ORDER BY 1;

CREATE TABLE present (a int, b int);
CREATE INDEX present_a ON present (a);
CREATE INDEX present_b ON present (b);
CREATE TABLE relation_case AS
SELECT a.* FROM jsonb_populate_recordset(NULL::tablespace_advisor.relation_fact, '[
	{"relation": "present", "kind": "heap", "size_bytes": 819200, "reads_per_s": 4, "hits_per_s": 6, "writes_per_s": 5},
	{"relation": "present_a", "kind": "index", "size_bytes": 81920, "reads_per_s": 4, "hits_per_s": 0, "writes_per_s": 4, "scans": 9},
	{"relation": "present_b", "kind": "index", "size_bytes": 81920, "reads_per_s": 2, "hits_per_s": 0, "writes_per_s": 4, "scans": 9}]') a;
UPDATE relation_case SET table_relation = 'present', tablespace = 'regress_present_slow', system_cached = 0;
CREATE TABLE tablespace_case AS
SELECT f.* FROM jsonb_populate_recordset(NULL::tablespace_advisor.tablespace_fact, '[
	{"tablespace": "regress_present_slow", "depths": [], "depth_read_us": [], "may_create": true,
	 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000},
	{"tablespace": "regress_present_fast", "run_id": 2, "random_read_us": 100, "latency_from": "probe",
	 "random_read_low_us": 98, "random_read_high_us": 102,
	 "depths": [1, 2, 4, 8], "depth_read_us": [100, 100, 100, 200],
	 "cached_read_us": 5, "sequential_page_us": 50, "may_create": true,
	 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000}]') f;
CREATE TABLE load_case AS
SELECT l.* FROM jsonb_populate_record(NULL::tablespace_advisor.load_fact,
	'{"source": "samples", "seconds": 1000, "intervals": 3, "reads_per_s": 10, "snapshots": 0, "checkpoint_s": 300}') l;
-- microseconds that reads took by the counters of slow and fast; NULL: none
CREATE FUNCTION judge(slow_us float8, fast_us float8 DEFAULT NULL, destination name DEFAULT NULL)
RETURNS TABLE (advice placement_advice, evidence jsonb)
LANGUAGE sql AS $$
	WITH fact AS (
		SELECT array(SELECT ROW(f.*)::tablespace_advisor.tablespace_fact FROM tablespace_case f) AS places,
			array(SELECT ROW(a.*)::tablespace_advisor.relation_fact FROM relation_case a) AS relations,
			(SELECT ROW(l.*)::tablespace_advisor.load_fact FROM load_case l) AS load,
			array(SELECT ROW(t.oid, 3, 1000, 50, 40, v.us, v.us / 1.1, v.us * 1.1, 0.4, 0.4, 0)
					::tablespace_advisor.device_rate
				FROM (VALUES ('regress_present_slow', slow_us), ('regress_present_fast', fast_us)) v (name, us)
				JOIN pg_tablespace t ON t.spcname = v.name WHERE v.us IS NOT NULL) AS devices
	)
	SELECT j.* FROM fact
	CROSS JOIN LATERAL (SELECT array(SELECT p FROM tablespace_advisor.with_present_latency(places, devices) p) AS present) p
	CROSS JOIN LATERAL (SELECT array(SELECT t FROM tablespace_advisor.with_timed_latency(p.present, relations, load) t) AS timed) t
	CROSS JOIN LATERAL tablespace_advisor.judge_placement(relations, array(SELECT r.relation FROM relation_case r), t.timed, load, destination, NULL) j
$$;
CREATE FUNCTION judged(slow_us float8, fast_us float8 DEFAULT NULL)
RETURNS TABLE (relation regclass, action text, saved float8, low numeric, high numeric, latency_from text, reason text)
LANGUAGE sql AS $$
	SELECT (j.advice).relation, (j.advice).action, (j.advice).saved_ms_per_s,
		round((j.evidence #>> '{estimate,saved_low}')::numeric, 2),
		round((j.evidence #>> '{estimate,saved_high}')::numeric, 2),
		(j.evidence #>> '{from,latency_from}'), (j.advice).reason
	FROM judge(slow_us, fast_us) j
$$;

CREATE VIEW timed AS
SELECT t.* FROM tablespace_advisor.timed_latency(
	array(SELECT ROW(f.*)::tablespace_advisor.tablespace_fact FROM tablespace_case f),
	array(SELECT ROW(a.*)::tablespace_advisor.relation_fact FROM relation_case a),
	(SELECT ROW(l.*)::tablespace_advisor.load_fact FROM load_case l)) t;

\echo -- nothing measured of slow: one statement, once
SELECT (advice).relation, (advice).action, (advice).reason, (advice).statement FROM judge(NULL);
\echo -- what was probed and not to be trusted is not probed again
BEGIN;
UPDATE tablespace_case SET caveat = 'most of it from caches' WHERE tablespace = 'regress_present_slow';
SELECT DISTINCT (advice).action, (advice).reason, (advice).statement FROM judge(NULL);
ROLLBACK;
\echo -- counters: 4.9 ms saved a read, a tenth more or less
SELECT * FROM judged(5000);
\echo -- a fast device that others keep busy: both figures, and what would be certain
SELECT * FROM judged(5000, 4800);
SELECT * FROM judged(5000, 7000);
SELECT l FROM tablespace_advisor.doubt_lines(array(
	SELECT ROW(j.advice, j.evidence)::tablespace_advisor.advice_row FROM judge(5000, 7000) j)) l;
\echo -- what is known by its counters only is for who names it
BEGIN;
UPDATE tablespace_case SET (run_id, random_read_us, random_read_low_us, random_read_high_us, depths, depth_read_us)
	= (NULL, NULL, NULL, NULL, '{}', '{}') WHERE tablespace = 'regress_present_fast';
INSERT INTO tablespace_case (tablespace, run_id, random_read_us, random_read_low_us, random_read_high_us,
	depths, depth_read_us, may_create, volatile, shares_device_with, available_bytes)
VALUES ('pg_default', 3, 1000, 990, 1010, '{1}', '{1000}', true, false, '{}', 1000000000);
SELECT (advice).relation, (advice).action, (advice).to_tablespace, (advice).reason FROM judge(5000, 100);
SELECT (advice).relation, (advice).action, (advice).to_tablespace, (advice).reason FROM judge(5000, 100, 'regress_present_fast');
ROLLBACK;
\echo -- no probe of either: a bound from the counters of fast
BEGIN;
UPDATE tablespace_case SET (run_id, random_read_us, random_read_low_us, random_read_high_us, depths, depth_read_us)
	= (NULL, NULL, NULL, NULL, '{}', '{}');
SELECT * FROM judged(5000, 100);
SELECT DISTINCT action, reason FROM judged(5000);
ROLLBACK;
\echo -- timed: 4 ms a read of which half come from the cache, so that the device takes 7.995
BEGIN;
UPDATE relation_case SET system_cached = 0.5;
UPDATE load_case SET timed_read_us = 4000;
SELECT * FROM judged(NULL);
\echo -- beside reads of catalogs: from the cache, or at the lower end as slow as the others
UPDATE load_case SET reads_per_s = 16;
SELECT * FROM judged(NULL) LIMIT 1;
\echo -- what is read elsewhere takes its own time: 36 of 40 ms are left for 8 reads
UPDATE load_case SET reads_per_s = 10;
UPDATE relation_case SET system_cached = 0;
UPDATE relation_case SET tablespace = 'regress_present_fast' WHERE relation = 'present_b'::regclass;
UPDATE tablespace_case SET random_read_us = 2000, random_read_low_us = 2000, random_read_high_us = 2000,
	depths = '{1}', depth_read_us = '{2000}', cached_read_us = 0 WHERE tablespace = 'regress_present_fast';
SELECT * FROM timed;
\echo -- a fifth of what is read unmeasured may be elsewhere, and takes as long; not more
SAVEPOINT elsewhere;
UPDATE relation_case SET tablespace = 'pg_default', reads_per_s = 1.5 WHERE relation = 'present_b'::regclass;
SELECT tablespace, round(read_us::numeric) AS read_us, round(low_us::numeric) AS low_us FROM timed;
UPDATE relation_case SET reads_per_s = 2.5 WHERE relation = 'present_b'::regclass;
SELECT tablespace, round(read_us::numeric) AS read_us, round(low_us::numeric) AS low_us FROM timed;
ROLLBACK TO elsewhere;
\echo -- not if less than half is read from there, or of the time
UPDATE load_case SET reads_per_s = 17;
SELECT * FROM timed;
UPDATE load_case SET reads_per_s = 10;
UPDATE tablespace_case SET random_read_us = 11000 WHERE tablespace = 'regress_present_fast';
SELECT * FROM timed;
ROLLBACK;
\echo -- timed at less than fast takes, which caches do: nothing is known of slow
BEGIN;
UPDATE load_case SET timed_read_us = 26;
SELECT (advice).relation, (advice).action, (advice).reason, (advice).statement FROM judge(NULL);
SELECT line FROM tablespace_advisor.explain_advice('present', array(
	SELECT ROW(j.advice, j.evidence)::tablespace_advisor.advice_row FROM judge(NULL) j), false) line WHERE line ~ 'device:|fast \(';
\echo -- nor whether it is faster to go there
UPDATE relation_case SET tablespace = 'regress_present_fast' WHERE relation = 'present_b'::regclass;
UPDATE load_case SET timed_read_us = 50;
UPDATE tablespace_case SET cached_read_us = 5;
SELECT (advice).relation, (advice).action, (advice).reason FROM judge(NULL, destination => 'regress_present_slow') WHERE (advice).relation = 'present_b'::regclass;
ROLLBACK;
\echo -- one statement makes the probes of all that they could go to; named, of that
BEGIN;
INSERT INTO tablespace_case (tablespace, depths, depth_read_us, may_create, volatile, shares_device_with)
VALUES ('pg_default', '{}', '{}', true, false, '{}'), ('lost', '{}', '{}', true, true, '{}'),
	('refused', '{}', '{}', false, false, '{}'), ('beside', '{}', '{}', true, false, '{regress_present_fast}');
SELECT (advice).reason, (advice).statement FROM judge(NULL) LIMIT 1;
SELECT (advice).reason, (advice).statement FROM judge(NULL, destination => 'regress_present_fast') LIMIT 1;
ROLLBACK;
\echo -- probed, but not timed: what counters say is the present; timed: both agree with the timing
BEGIN;
UPDATE tablespace_case SET (run_id, random_read_us, random_read_low_us, random_read_high_us, depths, depth_read_us, latency_from)
	= (1, 3000, 2900, 3100, '{1}', '{3000}', 'probe') WHERE tablespace = 'regress_present_slow';
SELECT * FROM judged(5000) LIMIT 1;
UPDATE load_case SET timed_read_us = 4000;
SELECT * FROM judged(5000) LIMIT 1;
ROLLBACK;
\echo -- writes are in the way of reads on one rotating disk
SELECT serial, f.present_in_flight
FROM unnest('{true,false}'::boolean[]) serial, tablespace_case c
CROSS JOIN LATERAL tablespace_advisor.with_present_latency(
	ARRAY[jsonb_populate_record(ROW(c.*)::tablespace_advisor.tablespace_fact, jsonb_build_object('is_serial', serial))],
	array(SELECT d FROM pg_tablespace t CROSS JOIN LATERAL tablespace_advisor.device_rates(ARRAY[ROW(1, t.oid, '2026-01-01',
			100, 1000, 8192000, 200000, 500, 4096000, 50000, 251000, 90000)::tablespace_advisor.tablespace_io_sample]) d
		WHERE t.spcname = c.tablespace)) f
WHERE c.tablespace = 'regress_present_slow' ORDER BY serial;
\echo -- in words
SELECT line FROM tablespace_advisor.explain_advice('present', array(
	SELECT ROW(j.advice, j.evidence)::tablespace_advisor.advice_row FROM judge(5000) j), false) line;

DROP VIEW timed;
DROP FUNCTION judged, judge;
DROP TABLE relation_case, tablespace_case, load_case, present;
DROP TABLESPACE regress_present_slow;
DROP TABLESPACE regress_present_fast;
