-- explain_placement, advise_index_placement: lines of text, from advice on facts written down by hand
SET allow_in_place_tablespaces = on;
SET TimeZone = 'UTC';
SET track_io_timing = off;
SET client_min_messages = warning;
CREATE TABLESPACE regress_explain_slow LOCATION '';
CREATE TABLESPACE regress_explain_fast LOCATION '';
CREATE TABLE explained (a int, b int, c int, d int, e int, body text);
CREATE INDEX explained_a ON explained (a);
CREATE INDEX explained_b ON explained (b);
CREATE INDEX explained_c ON explained (c);
CREATE INDEX explained_d ON explained (d);
CREATE INDEX explained_e ON explained (e);
CREATE INDEX explained_f ON explained (lower(body));
CREATE INDEX explained_g ON explained (a);
CREATE INDEX explained_h ON explained (b DESC);
CREATE TABLE elsewhere (a int);

-- a table with every verdict
CREATE FUNCTION explained(load jsonb, budget bigint DEFAULT NULL, target regclass DEFAULT 'explained',
	in_short boolean DEFAULT false)
RETURNS SETOF text
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
	WITH fact AS (
		SELECT r FROM jsonb_populate_recordset(NULL::tablespace_advisor.relation_fact, '[
			{"relation": "public.explained", "kind": "heap", "tablespace": "regress_explain_slow",
			"size_bytes": 819200000, "toast_bytes": 81920000, "reads_per_s": 20, "hits_per_s": 60,
			"writes_per_s": 5, "hot_fraction": 0.25, "system_cached": 0.1},
			{"relation": "public.explained_a", "kind": "index", "tablespace": "regress_explain_slow",
			"size_bytes": 81920000, "reads_per_s": 50, "hits_per_s": 50, "writes_per_s": 4,
			"hot_fraction": 0.25, "scans": 1000, "system_cached": 0.2},
			{"relation": "public.explained_b", "kind": "index", "tablespace": "regress_explain_slow",
			"size_bytes": 81920000, "rebuilt_bytes": 20000000, "reads_per_s": 30, "hits_per_s": 10,
			"writes_per_s": 4, "hot_fraction": 0.25, "scans": 0, "needed_for": "uniqueness", "system_cached": 0},
			{"relation": "public.explained_c", "kind": "index", "tablespace": "regress_explain_fast",
			"size_bytes": 81920000, "reads_per_s": 30, "hits_per_s": 10, "writes_per_s": 4, "system_cached": 0},
			{"relation": "public.explained_d", "kind": "index", "tablespace": "regress_explain_slow",
			"size_bytes": 81920000, "reads_per_s": 1, "hits_per_s": 1, "writes_per_s": 4, "unusable": "invalid"},
			{"relation": "public.explained_e", "kind": "index", "tablespace": "regress_explain_slow",
			"size_bytes": 81920000, "reads_per_s": 80, "hits_per_s": 10, "writes_per_s": 4, "system_cached": 1},
			{"relation": "public.explained_f", "kind": "index", "tablespace": "regress_explain_slow",
			"size_bytes": 8192000, "reads_per_s": 0, "hits_per_s": 10, "writes_per_s": 4, "scans": 0,
			"writes": 1000000, "counted_days": 60, "expression": "lower(body)"},
			{"relation": "public.explained_g", "kind": "index", "tablespace": "regress_explain_slow",
			"size_bytes": 8192000, "reads_per_s": 0, "hits_per_s": 10, "writes_per_s": 4,
			"duplicate_of": "public.explained_a"},
			{"relation": "public.explained_h", "kind": "index", "tablespace": "regress_explain_slow",
			"size_bytes": 819200000, "brin_bytes": 65536, "correlation": -1, "tuples_per_scan": 100000,
			"column_name": "b", "reads_per_s": 0, "hits_per_s": 10, "writes_per_s": 4},
			{"relation": "public.elsewhere", "kind": "heap", "tablespace": "pg_default",
			"size_bytes": 8192000, "reads_per_s": 1, "hits_per_s": 10, "writes_per_s": 0}]') r
	), relations AS (
		SELECT array_agg(jsonb_populate_record(r, jsonb_build_object('table_relation',
			CASE WHEN (r).relation::text LIKE '%elsewhere' THEN 'public.elsewhere' ELSE 'public.explained' END))) AS list
		FROM fact
	)
	SELECT tablespace_advisor.explain_advice(target, array(
		SELECT ROW(j.advice, j.evidence)::tablespace_advisor.advice_row
		FROM tablespace_advisor.judge_placement(list,
			array(SELECT (r).relation FROM unnest(list) r
				WHERE target IS NULL OR (r).table_relation = target),
			ARRAY[jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
					'{"tablespace": "regress_explain_slow", "run_id": 1, "random_read_us": 5000,
					"random_read_low_us": 4900, "random_read_high_us": 5100,
					"depths": [1, 2, 4, 8], "depth_read_us": [5000, 10000, 20000, 40000],
					"cached_read_us": 5, "sequential_page_us": 100,
					"may_create": true, "shares_device_with": []}'),
				jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
					'{"tablespace": "regress_explain_fast", "run_id": 2, "random_read_us": 100,
					"random_read_low_us": 98, "random_read_high_us": 102,
					"depths": [1, 2, 4, 8], "depth_read_us": [100, 100, 100, 200],
					"cached_read_us": 5, "sequential_write_page_us": 50, "may_create": true, "shares_device_with": [],
					"copy_rates": {"regress_explain_slow": 81920000},
					"available_bytes": 1000000000}'),
				jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
					'{"tablespace": "pg_default", "depths": [], "depth_read_us": [],
					"caveat": "other programs used the device", "may_create": true, "shares_device_with": []}')],
			jsonb_populate_record(NULL::tablespace_advisor.load_fact, load),
			NULL, budget) j), in_short)
	FROM relations
$$;
SELECT explained('{"source": "samples", "window_start": "2026-01-01 00:00Z", "seconds": 3600, "intervals": 12,
	"was_reset": false, "reads_per_s": 215, "snapshots": 600, "reading_snapshots": 500, "active_sessions": 2.5, "reading_sessions": 2,
	"waits": {"IO/DataFileRead": 1.5, "CPU": 0.6, "Lock/transactionid": 0.25, "LWLock/WALWrite": 0.1, "IO/WALSync": 0.05},
	"timed_read_us": 5200, "checkpoint_s": 300, "wal_per_byte": 0.5, "standbys": "alpha, beta"}');
-- in short
SELECT explained('{"source": "samples", "window_start": "2026-01-01 00:00Z", "seconds": 3600, "intervals": 12,
	"was_reset": false, "reads_per_s": 215, "snapshots": 600, "reading_snapshots": 500, "active_sessions": 2.5, "reading_sessions": 2,
	"waits": {"IO/DataFileRead": 1.5, "CPU": 0.6}, "timed_read_us": 15000, "checkpoint_s": 300}', NULL, 'explained', true);
-- nothing known of load or timing; and only room for one
SELECT explained('{"source": "totals", "window_start": "2026-01-01 00:00Z", "seconds": 86400, "intervals": 1,
	"was_reset": false, "reads_per_s": 215, "snapshots": 0}', 81920000) LIMIT 9;
SELECT e FROM explained('{"source": "observed", "seconds": 10, "reads_per_s": 215, "snapshots": 0, "was_reset": false}', 81920000) e
WHERE e ~ '^[^ ]';
-- another table, and all
SELECT explained('{"source": "observed", "seconds": 10, "reads_per_s": 215, "snapshots": 0, "was_reset": false}', NULL, 'elsewhere');
SELECT e FROM explained('{"source": "observed", "seconds": 10, "reads_per_s": 215, "snapshots": 0, "was_reset": false}', NULL, NULL) e
WHERE e ~ '^[^ ]' AND e !~ '^database' OR e ~ 'elsewhere';
-- two tables: shares are of the one that is asked about, or of both
CREATE FUNCTION of_two(target regclass) RETURNS SETOF text
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
	WITH relations AS (
		SELECT array_agg(jsonb_populate_record(r, '{"tablespace": "slow", "system_cached": 0, "hits_per_s": 1, "writes_per_s": 0}')) AS list
		FROM jsonb_populate_recordset(NULL::tablespace_advisor.relation_fact, '[
			{"relation": "public.explained", "table_relation": "public.explained", "kind": "heap", "size_bytes": 819200, "reads_per_s": 10},
			{"relation": "public.explained_a", "table_relation": "public.explained", "kind": "index", "size_bytes": 81920, "reads_per_s": 30},
			{"relation": "public.explained_c", "table_relation": "public.explained", "kind": "index", "size_bytes": 8192000, "reads_per_s": 0.5},
			{"relation": "public.elsewhere", "table_relation": "public.elsewhere", "kind": "heap", "size_bytes": 819200, "reads_per_s": 60}]') r
	)
	SELECT tablespace_advisor.explain_advice(target, array(
		SELECT ROW(j.advice, j.evidence)::tablespace_advisor.advice_row
		FROM tablespace_advisor.judge_placement(list,
			array(SELECT (r).relation FROM unnest(list) r WHERE target IS NULL OR target IN ((r).table_relation, (r).relation)),
			array(SELECT f FROM jsonb_populate_recordset(NULL::tablespace_advisor.tablespace_fact, '[
				{"tablespace": "slow", "run_id": 1, "random_read_us": 5000, "random_read_low_us": 4900, "random_read_high_us": 5100,
				"depths": [1], "depth_read_us": [5000], "sequential_page_us": 100, "may_create": true, "shares_device_with": []},
				{"tablespace": "fast", "run_id": 2, "random_read_us": 100, "random_read_low_us": 98, "random_read_high_us": 102,
				"depths": [1, 8], "depth_read_us": [100, 100], "sequential_write_page_us": 50, "may_create": true,
				"shares_device_with": [], "available_bytes": 1000000000}]') f),
			jsonb_populate_record(NULL::tablespace_advisor.load_fact,
				'{"source": "samples", "seconds": 60, "reads_per_s": 100.5, "snapshots": 0}'), NULL, NULL) j), false)
	FROM relations
$$;
SELECT e FROM of_two('explained') e WHERE e ~ '(saves?|explained).* %';
SELECT e FROM of_two('explained_a') e WHERE e ~ '(saves?|explained).* %';
SELECT e FROM of_two(NULL) e WHERE e ~ 'save' AND e !~ 'database' OR e ~ '^  keep';
-- how long a move takes beside others
SELECT l FROM (VALUES ('{"bytes": 314572800}'::jsonb), ('{"bytes": 314572800, "method": "rebuild"}'),
	('{"bytes": 314572800, "measured_bytes_per_s": 629145600}')) m (move),
	tablespace_advisor.relation_lines('explained', ARRAY[ROW(jsonb_populate_record(NULL::placement_advice,
		jsonb_build_object('relation', 'explained'::regclass::oid, 'kind', 'heap', 'action', 'move',
			'from_tablespace', 'slow', 'to_tablespace', 'fast', 'size_bytes', 314572800,
			'saved_ms_per_s', 50, 'move_seconds', 0.5)),
		jsonb_build_object('move', m.move))::tablespace_advisor.advice_row], true, 100) l
WHERE l ~ 'move';
SELECT substring(e FROM ': .*') FROM of_two(NULL) e WHERE e ~ '^database';
DROP FUNCTION of_two;
-- shares are of all reading, also where relations have no line of their own, and of
-- reading before the last move if no samples were taken since (the tests above have one
-- relation without a line, which is hardly read, and no move)
SELECT regexp_replace(e, '^database \S+:', 'database:') AS e FROM tablespace_advisor.explain_advice(NULL, array(
	SELECT ROW(jsonb_populate_record(NULL::placement_advice, r || '{"kind": "heap", "from_tablespace": "slow", "size_bytes": 8192}'),
		'{"window": {"source": "samples", "start": "2026-01-01 00:40Z", "moved_at": "2026-01-01 00:50Z"}}')::tablespace_advisor.advice_row
	FROM unnest(ARRAY['{"action": "move", "relation": "pg_class", "to_tablespace": "fast", "saved_ms_per_s": 860, "read_ms_per_s": 900, "move_seconds": 2}',
		'{"action": "keep", "relation": "pg_type", "read_ms_per_s": 40}', '{"action": "keep", "relation": "pg_proc", "read_ms_per_s": 40}',
		'{"action": "keep", "relation": "pg_index", "read_ms_per_s": 40}']::jsonb[]) r), true) e
WHERE e ~ '^database|^  (move|keep)';
-- long lines are folded, statements are not (other lines here are short)
SELECT f FROM unnest(ARRAY['        ' || repeat('twelve chars ', 12), 'short', 'CALL m(' || repeat('123, ', 30) || '4);']) l,
	tablespace_advisor.folded_line(l) f;
-- until when the samples are, and which move they begin after, or do not know of
SELECT l FROM unnest('{2026-01-01 00:30Z,2026-01-01 02:00Z}'::timestamptz[]) m, unnest('{true,false}'::boolean[]) short,
	tablespace_advisor.window_lines(jsonb_build_object('source', 'samples', 'seconds', 3600,
		'start', '2026-01-01 00:40Z'::timestamptz, 'end', '2026-01-01 01:40Z'::timestamptz, 'moved_at', m), short) l
WHERE l !~ '^Se';
SET track_io_timing = on;
SELECT l FROM tablespace_advisor.window_lines('{"source": "samples", "seconds": 60}', false) l WHERE l ~ '^Timing';
SET track_io_timing = off;
-- where the time of a read in the destination is from
SELECT tablespace_advisor.latency_there(d) FROM unnest(ARRAY[
	'{"tablespace": "A b", "device_us": 797, "present_read_us": 797, "random_read_us": 281, "latency_from": "probe"}',
	'{"tablespace": "fast", "device_us": 300, "present_read_us": 150, "random_read_us": 281, "latency_from": "probe"}',
	'{"tablespace": "fast", "device_us": 300, "random_read_us": 300, "latency_from": "counters"}',
	'{"tablespace": "fast", "device_us": 300, "random_read_us": 300, "latency_from": "assumed"}',
	'{"tablespace": "fast"}', NULL]::jsonb[]) d;
-- as few calls as make the moves: of the moves named, to fast unless said; what is
-- not named stays in slow
CREATE TABLE "a table" (a int, b int);
CREATE INDEX "an ""index" ON "a table" (a);
CREATE INDEX other ON "a table" (b);
CREATE TABLE parts (a int, b int) PARTITION BY RANGE (a);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
CREATE INDEX parts_b ON parts (b);
CREATE FUNCTION calls(target regclass, considered regclass[], moves jsonb) RETURNS SETOF text
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
	SELECT s FROM tablespace_advisor.statement_lines(target, array(
		SELECT ROW(jsonb_populate_record(NULL::public.placement_advice, jsonb_build_object('relation', c.oid::regclass,
				'kind', CASE c.relkind WHEN 'r' THEN 'heap' ELSE 'index' END, 'rank', u.n,
				'action', CASE WHEN moves ? c.relname THEN 'move' ELSE 'keep' END,
				'from_tablespace', 'slow', 'to_tablespace', coalesce(moves ->> c.relname, 'slow'))),
			CASE WHEN moves ->> c.relname ~ 'rebuilt' THEN '{"move": {"method": "rebuild"}}'::jsonb END)::tablespace_advisor.advice_row
		FROM unnest(considered) WITH ORDINALITY u (relation, n) JOIN pg_class c ON c.oid = u.relation
		ORDER BY u.n)) s
$$;
\set all 'ARRAY[\'"an ""index"\', \'other\', \'"a table"\']::regclass[]'
SELECT calls('"a table"', :all, '{"a table": "fast", "an \"index": "fast", "other": "fast"}') AS all_move;
SELECT calls('"a table"', :all, '{"an \"index": "fast", "other": "fast"}') AS all_indexes;
SELECT calls('"a table"', :all, '{"a table": "fast", "an \"index": "fast"}') AS not_other;
SELECT calls('"a table"', :all, '{"a table": "fast''s", "an \"index": "fast''s", "other": "flash"}') AS two_destinations;
SELECT calls('"a table"', :all, '{"a table": "rebuilt", "other": "fast"}') AS elsewhere;
SELECT calls('"a table"', :all, '{"an \"index": "rebuilt", "other": "rebuilt"}') AS rebuilt;
SELECT calls('other', '{other}', '{"other": "fast"}') AS an_index;
SELECT calls('parts', '{parts_1, parts_1_b_idx, parts_2, parts_2_b_idx}', '{"parts_1_b_idx": "fast", "parts_2_b_idx": "fast"}') AS parts;
SELECT calls('parts', '{parts_1, parts_1_b_idx, parts_2, parts_2_b_idx}', '{"parts_1": "fast", "parts_1_b_idx": "fast", "parts_2_b_idx": "fast"}') AS one_part;
SELECT calls(NULL, :all || '{parts_1, parts_1_b_idx}'::regclass[], '{"other": "fast", "parts_1_b_idx": "fast"}') AS database;
-- numbers as people read them, and how much is shown
SELECT tablespace_advisor.two_digits(n) FROM unnest('{0, 0.0123, 0.996, 1.04, 9.94, 9.96, 97.4, 1234.5, -0.555, NULL}'::float8[]) n;
SELECT tablespace_advisor.pretty_seconds(s) FROM unnest('{0, 0.00013, 0.99, 1, 119.4, 7199, 7200, 172799, 864000, NULL}'::float8[]) s;
SELECT tablespace_advisor.waiting_sessions(ms, 'reads') FROM unnest('{NULL, 0, 0.05, 99.94, 100, 1100}'::float8[]) ms;
SELECT count(*), min(e) FILTER (WHERE e ~ 'more') AS more, min(e) FILTER (WHERE e ~ 'Statements') AS statements
FROM tablespace_advisor.explain_advice('explained', array(
	SELECT ROW(jsonb_populate_record(NULL::placement_advice, jsonb_build_object(
			'action', 'probe first', 'relation', 'explained_a', 'kind', 'index', 'statement', n)),
		'{"window": {"source": "totals", "was_reset": false}, "not_probed": {}}')::tablespace_advisor.advice_row
	FROM generate_series(1, 25) n), true) e;

DROP FUNCTION explained, calls;
DROP TABLE explained, elsewhere, "a table", parts;
DROP TABLESPACE regress_explain_slow;
DROP TABLESPACE regress_explain_fast;
