-- the part of the page on how much to buy
SET client_min_messages = warning;
SELECT tablespace_advisor.curve_knee('{0,1,2,3,4}', '{-20,40,50,55,58}') AS bent, tablespace_advisor.curve_knee('{0,1,2}', '{0,1,2}') AS straight,
	tablespace_advisor.curve_knee('{1}', '{5}') AS one, tablespace_advisor.curve_knee('{}', '{}') AS none;
CREATE FUNCTION pg_temp.advice() RETURNS public.placement_advice LANGUAGE sql AS $$
	SELECT a FROM jsonb_populate_record(NULL::public.placement_advice, '{"relation": "pg_class", "read_ms_per_s": 2000}') a $$;
CREATE FUNCTION pg_temp.room(curve jsonb) RETURNS text LANGUAGE sql AS $$
	SELECT tablespace_advisor.report_room((now() - interval '7 days', ARRAY[pg_temp.advice()], '[]', '[]', '[]', '{}', 'no<where>', curve, '[]', NULL, NULL, '{}', NULL, NULL, NULL, NULL)::tablespace_advisor.report_findings) $$;
CREATE FUNCTION pg_temp.says(page text) RETURNS text LANGUAGE sql AS $$ SELECT substring(page, 'class="says">(.*?)</p>') $$;
-- rows whose saving is not known are left out; a point is no curve
SELECT pg_temp.room('[]') AS nothing, pg_temp.room('[{"bytes": 0, "saved_ms_per_s": 0, "saved_percent": 0, "relations": 0}]') AS one;
SELECT pg_temp.says(pg_temp.room(jsonb_build_array(
	'{"bytes": 0, "saved_percent": null, "relations": null}'::jsonb, '{"bytes": 1073741824, "saved_ms_per_s": -100, "saved_percent": -5, "relations": 2}'::jsonb,
	'{"bytes": 2147483648, "saved_ms_per_s": 1200, "saved_percent": 60, "relations": 7}'::jsonb, '{"bytes": 4294967296, "saved_ms_per_s": 1280, "saved_percent": 64, "relations": 30}'::jsonb)));
SELECT pg_temp.says(pg_temp.room('[{"bytes": 0, "saved_ms_per_s": -60, "saved_percent": -3, "relations": 0}, {"bytes": 1000, "saved_ms_per_s": 0, "saved_percent": 0, "relations": 0}]'));
SELECT count(*) FILTER (WHERE m[1] ~ 'dot') AS dots, count(*) FILTER (WHERE m[1] ~ 'mark dash') AS marks
FROM regexp_matches(pg_temp.room('[{"bytes": 0, "saved_ms_per_s": 0, "saved_percent": 0, "relations": 0}, {"bytes": 1000, "saved_ms_per_s": 180, "saved_percent": 9, "relations": 1},
	{"bytes": 2000, "saved_ms_per_s": 200, "saved_percent": 10, "relations": 2}]'), '<path class="([^"]*)"', 'g') m;
-- a loss is a share of the later time; earlier tests read the sentence, not the table
SELECT m[1] FROM regexp_matches(pg_temp.room('[{"bytes": 0, "saved_ms_per_s": -6000, "saved_percent": -75, "relations": 0},
	{"bytes": 1, "saved_ms_per_s": -1, "saved_percent": -100, "relations": 0}, {"bytes": 2, "saved_ms_per_s": -1, "saved_percent": -100, "relations": 0},
	{"bytes": 3, "saved_ms_per_s": -1, "saved_percent": -100, "relations": 1}, {"bytes": 1000, "saved_ms_per_s": -1, "saved_percent": -0.05, "relations": 1},
	{"bytes": 2000, "saved_ms_per_s": 0, "saved_percent": 0, "relations": 2}]'), '([^<>]* times as long|as now)', 'g') m;
-- of the fastest, where a slower one was probed
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_room_fast LOCATION '';
RESET allow_in_place_tablespaces;
BEGIN;
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_sample;
DELETE FROM tablespace_advisor.probe_run;
INSERT INTO tablespace_advisor.probe_run (run_id, tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
OVERRIDING SYSTEM VALUE VALUES (1, 'pg_default', '', 'scratch', 268435456, '3 s', clock_timestamp(), clock_timestamp());
INSERT INTO tablespace_advisor.probe_result (run_id, workload, queue_depth, io_size, samples, iops, mean_us, mean_low_us, mean_high_us)
SELECT 1, 'random read', 1, current_setting('block_size')::int, 100, 1000, 8000, 7900, 8100;
SELECT tablespace_advisor.tablespace_to_buy() AS one_probed;
INSERT INTO tablespace_advisor.probe_run (run_id, tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
OVERRIDING SYSTEM VALUE SELECT 2, spcname, pg_tablespace_location(oid), 'scratch', 268435456, '3 s', clock_timestamp(), clock_timestamp()
FROM pg_tablespace WHERE spcname = 'regress_room_fast';
INSERT INTO tablespace_advisor.probe_result (run_id, workload, queue_depth, io_size, samples, iops, mean_us, mean_low_us, mean_high_us)
SELECT 2, 'random read', 1, current_setting('block_size')::int, 100, 10000, 100, 99, 101;
SELECT tablespace_advisor.tablespace_to_buy();
-- both lie on one device: no curve, no part; and with a curve
SELECT page ~ 'How much to buy' AS has_part FROM tablespace_report() page;
CREATE OR REPLACE FUNCTION tablespace_advisor.advice_rows() RETURNS SETOF tablespace_advisor.advice_row LANGUAGE sql AS $$
	SELECT pg_temp.advice(), jsonb_build_object('estimate', NULL) $$;
CREATE OR REPLACE FUNCTION placement_curve(tablespace name, steps int DEFAULT 20, OUT bytes bigint, OUT saved_ms_per_s float8,
	OUT saved_percent float8, OUT saved_per_gb float8, OUT relations bigint)
RETURNS SETOF record LANGUAGE sql AS $$ SELECT 1048576 * n, 10 * n, 100 - 100.0::float8 / n, NULL::float8, n FROM generate_series(1, steps::bigint) n $$;
SELECT pg_temp.says(substring(page, 'How much to buy.*')) FROM tablespace_report() page;
ROLLBACK;
DROP TABLESPACE regress_room_fast;
