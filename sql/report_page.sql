-- the page with pictures: what is in it, who may, and that it only looks
SET client_min_messages = warning;
CREATE SCHEMA "re<port>";
CREATE TABLE "re<port>"."<script>alert('x')</script>" (a int PRIMARY KEY);
CREATE FUNCTION pg_temp.cells(part text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT regexp_replace(regexp_replace(m[1], '</td>', ' | ', 'g'), '<[^>]*>', '', 'g') FROM regexp_matches(part, '<tr>(<td.*?)</tr>', 'g') m $$;
BEGIN;
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_sample;
DELETE FROM tablespace_advisor.tablespace_sample;
DELETE FROM tablespace_advisor.tablespace_io_sample;
DELETE FROM tablespace_advisor.probe_run;
DELETE FROM tablespace_advisor.job;
CREATE FUNCTION pg_temp.titles(page text) RETURNS SETOF text LANGUAGE sql AS $$ SELECT m[1] FROM regexp_matches(page, '<h2>(.*?)</h2>', 'g') m $$;
-- with nothing in it
SELECT titles FROM tablespace_report() p, pg_temp.titles(p) WHERE titles NOT IN ('Growth', 'Who reads', 'Load');
-- with a history: a table that is read, a probe, a move that has failed
INSERT INTO tablespace_advisor.probe_run (run_id, tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
OVERRIDING SYSTEM VALUE VALUES (1, 'pg_default', '', 'scratch', 268435456, '3 s', clock_timestamp(), clock_timestamp());
INSERT INTO tablespace_advisor.probe_result (run_id, workload, queue_depth, io_size, samples, iops, mean_us, mean_low_us, mean_high_us)
SELECT 1, 'random read', depth, current_setting('block_size')::int, 100, 1000, 1000 * depth, 900 * depth, 1100 * depth FROM unnest('{1,4,16}'::int[]) depth;
INSERT INTO tablespace_advisor.sample (sample_id, started_at, taken_at, was_reset, io_timed, blocks_read, blocks_hit, read_ms, write_ms, snapshots, reading_snapshots, reading_sessions, waits)
OVERRIDING SYSTEM VALUE
SELECT n, clock_timestamp() - (11 - n) * interval '5 h', clock_timestamp() - (10 - n) * interval '5 h', false, true, n * 100000000, n * 10000000, n * 1000000, 0, 10, 10, 30, '{"IO/DataFileRead": 20}'
FROM generate_series(1, 10) n;
INSERT INTO tablespace_advisor.relation_sample (sample_id, relation, size_bytes, reads, hits, scans, tuples_read)
SELECT n, c.oid, 1000000000, 100000000, 10000000, 1000, 1000000 FROM generate_series(8, 10) n, pg_class c WHERE c.relname = '<script>alert(''x'')</script>';
INSERT INTO tablespace_advisor.tablespace_sample SELECT n, 1663, 1000000000::bigint * n, 30000000000 - 2000000000::bigint * n FROM generate_series(1, 10) n;
INSERT INTO tablespace_advisor.tablespace_io_sample (sample_id, tablespace, measured_at, seconds, reads, read_bytes, read_ms, writes, write_bytes, write_ms, busy_ms, queue_ms)
SELECT n, 1663, clock_timestamp() - (10 - n) * interval '5 h', 18000, 1800000, 14745600000, 9000000, 180000, 1474560000, 90000, 4500000, 9000000 FROM generate_series(1, 10) n;
INSERT INTO tablespace_advisor.job (job_id, batch_id, relation, heap, kind, schema_name, relation_name, from_tablespace, from_tablespace_name, to_tablespace,
	to_tablespace_name, method_wanted, method, state, bytes_total, lock_timeout_ms, owner, system_identifier, database, started_at, finished_at, error)
OVERRIDING SYSTEM VALUE
SELECT 21, 21, 4000000000, 4000000000, 'r', 'public', '<img src=x>', 1663, 'pg_default', 1663, 'pg_default', 'auto', 'copy', 'failed', 1048576, 100,
	10, c.system_identifier, d.oid, clock_timestamp() - age, clock_timestamp() - age, 'no <b>room</b>'
FROM unnest('{1 day}'::interval[]) age, pg_control_system() c, pg_database d WHERE d.datname = current_database();
CREATE TEMPORARY TABLE made AS SELECT tablespace_report() AS page;
SELECT titles FROM made, pg_temp.titles(page);
-- markup of others is text, nothing is loaded or run, and all of it is ASCII
SELECT page ~ '&#60;script&#62;alert' AS is_named, page ~* '<script|<img|<b>room|href|src=x>|url\(|@import|javascript:' AS has_markup,
	page ~ $$<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>$$ AS has_policy,
	page ~ '[^\x01-\x7e]' AS has_other_letters, page ~ 'NaN|Infinity|M V|cx=""|x=""' AS has_broken_shapes
FROM made;
-- as many elements end as begin
SELECT m[2] AS element, count(*) FILTER (WHERE m[1] = '' AND m[3] NOT LIKE '%/') AS begin, count(*) FILTER (WHERE m[1] = '/') AS finish
FROM made, regexp_matches(page, '<(/?)([a-z0-9]+)([^>]*)>', 'g') m
GROUP BY m[2] HAVING count(*) FILTER (WHERE m[1] = '' AND m[3] NOT LIKE '%/') <> count(*) FILTER (WHERE m[1] = '/');
SELECT m[1] AS load FROM made, regexp_matches(page, 'Load</h2><p class="says">(.*?)</p>') m;
SELECT used_bytes, free_bytes, full_in_seconds > 0 AS is_full_some_day, probe_random_read_seconds, device_busy_ratio FROM tablespace_metrics WHERE tablespace = 'pg_default';
SELECT state, moves, bytes FROM move_metrics WHERE to_tablespace = 'pg_default' ORDER BY state;
SELECT m[1] AS moves FROM made, regexp_matches(page, 'Moves</h2><p class="says">(.*?)</p>') m;
SELECT (string_to_array(cells, ' | '))[:4] AS move FROM made, pg_temp.cells(substring(page, '<h2>Moves</h2>.*?</table>'));
-- moves from before the period are not in it
SELECT page ~ 'img src' AS has_move FROM tablespace_report(interval '2 hours') page;
SELECT count(*) > 0 AS has_line, count(*) FILTER (WHERE m[1] !~ '^M[-0-9. ]+[VHL]?') AS odd FROM made, regexp_matches(page, 'class="line c0" d="([^"]*)"', 'g') m;
ROLLBACK;
-- it only looks
BEGIN READ ONLY;
SELECT tablespace_report() ~ '^<!DOCTYPE html>.*</html>$' AS is_page;
-- texts of several lines are one line there
SELECT tablespace_report() !~ '[a-z=]\?' AS is_readable;
COMMIT;
SELECT tablespace_report(interval '0');
SELECT tablespace_report(NULL);
\echo :LAST_ERROR_SQLSTATE
-- of at most three tables each is a thing to do, of more all are one
CREATE FUNCTION pg_temp.moves(tables regclass[]) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT t.* FROM tablespace_advisor.report_move_things(array(
		SELECT jsonb_populate_record(NULL::public.placement_advice, jsonb_build_object('relation', r, 'action', 'move', 'size_bytes', 1048576,
			'to_tablespace', CASE n WHEN 1 THEN 'Odd one' ELSE 'fast' END, 'saved_ms_per_s', 100 * n, 'saved_percent', n, 'statement', 'SELECT ' || n))
		FROM unnest(tables) WITH ORDINALITY t (r, n))) t $$;
SELECT * FROM pg_temp.moves('{pg_class,pg_class_oid_index,pg_proc}') AS (amount float8, what text, saves text, statements text[]) ORDER BY what;
SELECT * FROM pg_temp.moves('{pg_class,pg_proc,pg_type,pg_attribute}') AS (amount float8, what text, saves text, statements text[]);
SELECT * FROM pg_temp.moves('{}') AS (amount float8, what text, saves text, statements text[]);
-- worst plans: what helps; small differences are none
SELECT cells FROM tablespace_advisor.report_plans((SELECT jsonb_agg(jsonb_build_object('index', i, 'matching_rows', 1234.4, 'plan', 'index scan', 'plan_us', us,
	'best_plan', 'bitmap scan', 'best_us', 100000, 'recommended_us', then_us, 'corrected_us', corrected_us, 'is_measured', is_measured))
	FROM (VALUES ('pg_class_oid_index'::regclass::oid, 500000, 105000, 100000, false), ('pg_proc_oid_index'::regclass, 400000, 400000, 100000, false),
		('pg_type_oid_index'::regclass, 300000, 200000, 105000, true), ('pg_am_oid_index'::regclass, 200000, 200000, 200000, true),
		('pg_am_name_index'::regclass, 140000, 100000, 100000, true)) p (i, us, then_us, corrected_us, is_measured))) part, pg_temp.cells(part);
SELECT tablespace_advisor.report_plans('[]') AS nothing,
	tablespace_advisor.report_plans('[{"index": 2662, "plan_us": 900, "best_us": 100}]') AS small;
-- settings are named by what changes; what is the same of several subjects is one thing
SELECT t.urgency, t.what, t.statements FROM tablespace_advisor.report_things((now(), '{}', '[
	{"tablespace": "A", "verdict": "change", "random_page_cost": 4, "current_random_page_cost": 4, "effective_io_concurrency": 8, "regret_current": 1.5, "regret_recommended": 1.1, "statement": "one"},
	{"tablespace": "b", "verdict": "change", "random_page_cost": 2, "current_random_page_cost": 4, "effective_io_concurrency": 8, "regret_current": 1.4, "regret_recommended": 1.1, "statement": "two"}]',
	'[]', '[{"subject": "probe of a", "ok": false, "message": "never probed", "statement": "a"}, {"subject": "probe of b", "ok": false, "message": "never probed", "statement": "b"},
	{"subject": "device of c", "ok": false, "message": "volatile", "statement": null}, {"subject": "moves", "ok": true, "message": "never probed", "statement": "no"}]',
	'{}', NULL, '[]', '[]', NULL, NULL, '{}', NULL, NULL, NULL, NULL)::tablespace_advisor.report_findings) t ORDER BY t.urgency, t.what;
-- cells are not cut as names are
SELECT page ~ repeat('w', 100) AS is_whole FROM tablespace_advisor.report_devices((now(), '{}', '[]', '[]', '[]', array(SELECT d FROM jsonb_populate_record(
	NULL::tablespace_advisor.device, jsonb_build_object('tablespace', 'a', 'warnings', ARRAY[repeat('w', 100)])) d), NULL, '[]', '[]', NULL, NULL, '{}', NULL, NULL, NULL, NULL)::tablespace_advisor.report_findings) page;
-- between which bounds all moves save: of each alone, scaled to its part of the set; unknown if one is
CREATE FUNCTION pg_temp.row_of(action text, percent float8, estimate jsonb) RETURNS tablespace_advisor.advice_row LANGUAGE sql AS $$
	SELECT ROW(jsonb_populate_record(NULL::placement_advice, jsonb_build_object('action', action, 'saved_percent', percent)),
		jsonb_build_object('estimate', estimate))::tablespace_advisor.advice_row $$;
SELECT s.* FROM (VALUES (1, ARRAY[pg_temp.row_of('move', 30, '{"saved_ms_per_s": 20, "saved_low": 16, "saved_high": 24}'),
		pg_temp.row_of('move', 40, '{"saved_ms_per_s": 10, "saved_low": 9, "saved_high": 20}'), pg_temp.row_of('keep', 7, '{}')]),
	(2, ARRAY[pg_temp.row_of('move', 30, '{"saved_ms_per_s": 20, "saved_low": 16, "saved_high": 24}'), pg_temp.row_of('move', -2, '{}')]),
	(3, ARRAY[pg_temp.row_of('move', 30, '{"saved_ms_per_s": 20}')]), (4, '{}')) c (n, rows)
CROSS JOIN LATERAL tablespace_advisor.saved_by_moves(c.rows) s ORDER BY c.n;
-- without measured waits the verdict on moves says so
SELECT m AS measured, tablespace_advisor.report_verdict(jsonb_populate_record(NULL::tablespace_advisor.report_findings, jsonb_build_object('advice', jsonb_build_array(
	jsonb_build_object('action', 'move', 'relation', 'pg_class', 'read_ms_per_s', 10, 'saved_ms_per_s', 9, 'saved_percent', 90, 'size_bytes', 8192, 'measured', m)))))
	~ 'Waits were not measured' AS says_so FROM unnest('{t,f}'::boolean[]) m;
-- what moves saved together
SELECT tablespace_advisor.outcome_sentence('[{"forecast": 1, "saved": 0.9, "low": 0.8, "high": 1, "all_saved": 0.5, "all_low": 0.2, "all_high": 0.8},
	{"forecast": 2, "saved": 1.1, "low": 0.9, "high": 1.3, "all_saved": 0.5, "all_low": 0.1, "all_high": 0.9}, {"forecast": 7, "saved": 7}]', 1);
SELECT tablespace_advisor.outcome_sentence('[]', 0) AS nothing, tablespace_advisor.outcome_sentence('[]', 3) AS unknown;
-- who may
CREATE ROLE regress_page_monitor IN ROLE pg_monitor;
CREATE ROLE regress_page_nobody;
SET ROLE regress_page_monitor;
SELECT tablespace_report() ~ 'for role regress_page_monitor' AS is_page;
SELECT count(*) > 0 AS has_metrics FROM tablespace_metrics;
SET ROLE regress_page_nobody;
SELECT * FROM tablespace_metrics;
SELECT * FROM move_metrics;
SELECT tablespace_report();
RESET ROLE;
DROP SCHEMA "re<port>" CASCADE;
DROP ROLE regress_page_monitor, regress_page_nobody;
-- statements, whose texts are others': now and then
SELECT m[1] AS says, part ~ '<script' AS has_markup, (SELECT count(*) FROM regexp_matches(part, '<rect', 'g')) AS bars
FROM (SELECT tablespace_advisor.report_statements(jsonb_populate_record(NULL::tablespace_advisor.report_findings, '{"statements": [
	{"rank": 1, "statement": "SELECT <script>", "calls_per_s": 10, "mean_ms": 25, "read_ms": 20, "after_ms": 6, "relations": "public.a"},
	{"rank": 2, "statement": "<insufficient privilege>", "calls_per_s": 0.1, "mean_ms": 2000, "read_ms": 100, "after_ms": 2000}]}')) AS part) p,
	regexp_matches(part, '<p class="says">(.*?)</p>') m;
SELECT tablespace_advisor.report_statements(jsonb_populate_record(NULL::tablespace_advisor.report_findings, '{"statements": []}')) AS nothing,
	(SELECT count(*) FROM tablespace_advisor.statement_rows()) AS rows;
