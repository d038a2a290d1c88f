-- advice on measured waits: the time of reads is known, by kind of access
SET client_min_messages = warning;
CREATE TABLE m_facts (a int);
CREATE INDEX m_facts_ck ON m_facts (a);
CREATE TABLE m_report (a int);
CREATE TABLE m_cached (a int);

/* four clients on a serial disk: keyed reads wait, a scan is read ahead of, one table is cached */
CREATE FUNCTION m_relations(measured boolean) RETURNS SETOF tablespace_advisor.relation_fact
LANGUAGE sql AS $$
	SELECT a FROM jsonb_populate_recordset(NULL::tablespace_advisor.relation_fact, '[
		{"relation": "m_facts", "table_relation": "m_facts", "kind": "heap", "reads_per_s": 70,
		 "waiting_sessions": 2.42},
		{"relation": "m_facts_ck", "table_relation": "m_facts", "kind": "index", "reads_per_s": 4,
		 "waiting_sessions": 0.14},
		{"relation": "m_report", "table_relation": "m_report", "kind": "heap", "reads_per_s": 1750,
		 "waiting_sessions": 0.36, "scan_reads_per_s": 1750, "scan_sessions": 0.36},
		{"relation": "m_cached", "table_relation": "m_cached", "kind": "heap", "reads_per_s": 1000,
		 "waiting_sessions": 0.005}]') n
	CROSS JOIN LATERAL jsonb_populate_record(n, jsonb_build_object('tablespace', 'slow',
		'size_bytes', 8192000, 'hits_per_s', 1, 'writes_per_s', 100, 'measured', $1)) a
$$;
CREATE FUNCTION m_places() RETURNS SETOF tablespace_advisor.tablespace_fact
LANGUAGE sql AS $$
	SELECT f FROM jsonb_populate_recordset(NULL::tablespace_advisor.tablespace_fact, '[
		{"tablespace": "slow", "random_read_us": 8000, "random_read_low_us": 7900, "random_read_high_us": 8100,
		 "depths": [1, 2, 4, 8], "depth_read_us": [8000, 16000, 32000, 64000], "cached_read_us": 5,
		 "sequential_page_us": 100, "may_create": true,
		 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000},
		{"tablespace": "fast", "random_read_us": 100, "random_read_low_us": 98, "random_read_high_us": 102,
		 "depths": [1], "depth_read_us": [100], "cached_read_us": 5, "sequential_page_us": 20,
		 "may_create": true,
		 "volatile": false, "shares_device_with": [], "available_bytes": 1000000000}]') f
$$;
CREATE FUNCTION m_advice(measured boolean)
RETURNS SETOF tablespace_advisor.advice_row LANGUAGE sql AS $$
	SELECT ROW(j.advice, j.evidence)::tablespace_advisor.advice_row
	FROM tablespace_advisor.judge_placement(
		array(SELECT r FROM m_relations(measured) r),
		'{m_facts,m_facts_ck,m_report,m_cached}',
		array(SELECT p FROM m_places() p),
		jsonb_populate_record(NULL::tablespace_advisor.load_fact, '{"source": "samples",
			"seconds": 1000, "intervals": 3, "reads_per_s": 2824, "read_ms_per_s": 2925,
			"timed_read_us": 1036, "checkpoint_s": 300, "snapshots": 100, "active_sessions": 4,
			"reading_snapshots": 100, "reading_sessions": 3, "waits": {"IO/DataFileRead": 3}}'),
		NULL, NULL) j
$$;

\echo -- who waits: shares of time, not of blocks
SELECT (a.advice).relation, (a.advice).action, (a.advice).read_ms_per_s AS read_ms,
	(a.advice).saved_ms_per_s AS saved, (a.advice).saved_percent AS percent,
	(a.advice).measured, (a.advice).waiting_sessions AS waiting, (a.advice).reason
FROM m_advice(true) a;
\echo -- without waits a block that a scan reads takes the time of a sequential page: 70 keyed reads last longer than 1750
/* earlier tests took the scanned table's share by blocks, 1810, for granted */
SELECT (a.advice).relation, (a.advice).action, (a.advice).read_ms_per_s AS read_ms, (a.advice).measured,
	round((a.evidence #>> '{from,device_share}')::numeric, 4) AS device_share, (a.advice).reason
FROM m_advice(false) a;
SELECT round(m.scan_reads_per_s::numeric) AS scan_reads, v.what
FROM (VALUES (1, 0, 2097152, 'a scan of 256 blocks a second'), (9, 0, 2097152, 'no more than all reads'),
	(1, 500, 2097152, 'in shared buffers as much as other blocks'), (1, 500, 2000000000000, 'a large table'),
	(0, 500, 2097152, 'no scan')) v (scans, hits, bytes, what),
	tablespace_advisor.members_of(ARRAY['m_report'::regclass]::oid[], ARRAY[jsonb_populate_record(
		NULL::tablespace_advisor.relation_rate, jsonb_build_object('relation', 'm_report'::regclass::oid,
			'heap', 'm_report'::regclass::oid, 'kind', 'heap', 'size_bytes', v.bytes, 'reads_per_s', 500,
			'hits_per_s', v.hits, 'scans_per_s', v.scans))]) m;

\echo -- the mean time of its own reads, as in its reason, where others there take less
/* earlier tests explained nothing that waits were measured of */
SELECT l FROM tablespace_advisor.explain_advice('m_facts', array(SELECT a FROM m_advice(true) a), false) l
WHERE l ~ 'from the device';

\echo -- a mean above the latency at that depth is a slower device
SELECT DISTINCT h.tablespace, round(h.depth::numeric, 2) AS depth, round(h.probed_us) AS probed,
	round(h.device_us) AS device, round(h.device_reads_per_s) AS reads, round(h.time_correction::numeric, 2) AS correction
FROM tablespace_advisor.decide_placement(array(SELECT r FROM m_relations(true) r), array(SELECT p FROM m_places() p),
	NULL, array(SELECT r.relation FROM m_relations(true) r), NULL, NULL, false, true, NULL) d
CROSS JOIN LATERAL (SELECT (d.here).*) h;

\echo -- statements: what one call takes now and after the moves
SELECT s.queryid, s.calls_per_s AS calls, s.mean_ms, round(s.read_ms) AS read_ms,
	round(s.after_ms::numeric, 1) AS after, s.after_low_ms <= s.after_ms AND s.after_ms <= s.after_high_ms AS ordered,
	s.moved
FROM tablespace_advisor.forecast_statements(
	array(SELECT w FROM jsonb_populate_recordset(NULL::tablespace_advisor.statement_wait, jsonb_build_array(
		'{"userid": 10, "queryid": 1, "relation": 0, "class": "application", "access": "all", "calls_per_s": 10, "call_ms": 260, "waiting_sessions": 2.56}'::jsonb,
		jsonb_build_object('userid', 10, 'queryid', 1, 'relation', 'm_facts'::regclass::oid, 'class', 'application', 'access', 'heap by bitmap', 'waiting_sessions', 2.42),
		jsonb_build_object('userid', 10, 'queryid', 1, 'relation', 'm_facts_ck'::regclass::oid, 'class', 'application', 'access', 'index', 'waiting_sessions', 0.14),
		'{"userid": 10, "queryid": 2, "relation": 0, "class": "application", "access": "all", "calls_per_s": 0.2, "call_ms": 2000, "waiting_sessions": 0.36}'::jsonb,
		jsonb_build_object('userid', 10, 'queryid', 2, 'relation', 'm_report'::regclass::oid, 'class', 'application', 'access', 'sequential', 'waiting_sessions', 0.36),
		'{"userid": 10, "queryid": 3, "relation": 0, "class": "export", "access": "all", "calls_per_s": 1, "call_ms": 9, "waiting_sessions": 9}'::jsonb)) w),
	array(SELECT a FROM m_advice(true) a)) s;
\echo -- workers of one call wait at the same time; a call that has not ended has no mean
SELECT s.queryid, s.mean_ms, round(s.read_ms) AS read_ms, round(s.after_ms::numeric, 1) AS after, s.moved
FROM tablespace_advisor.forecast_statements(
	array(SELECT w FROM jsonb_populate_recordset(NULL::tablespace_advisor.statement_wait, jsonb_build_array(
		'{"userid": 10, "queryid": 4, "relation": 0, "class": "application", "access": "all", "calls_per_s": 1, "call_ms": 800, "waiting_sessions": 1.6}'::jsonb,
		jsonb_build_object('userid', 10, 'queryid', 4, 'relation', 'm_facts'::regclass::oid, 'class', 'application', 'access', 'heap by bitmap', 'waiting_sessions', 0.8),
		jsonb_build_object('userid', 10, 'queryid', 4, 'relation', 'm_report'::regclass::oid, 'class', 'application', 'access', 'sequential', 'waiting_sessions', 0.8),
		'{"userid": 10, "queryid": 5, "relation": 0, "class": "application", "access": "all", "calls_per_s": 0, "waiting_sessions": 1}'::jsonb,
		jsonb_build_object('userid', 10, 'queryid', 5, 'relation', 'm_facts'::regclass::oid, 'class', 'application', 'access', 'index', 'waiting_sessions', 1))) w),
	array(SELECT a FROM m_advice(true) a)) s;

SELECT * FROM advise_statements(max_statements => 0);
\echo :LAST_ERROR_SQLSTATE

\echo -- who waits but is not the application; exports count where asked for
CREATE FUNCTION m_waits() RETURNS SETOF tablespace_advisor.relation_wait LANGUAGE sql AS $$
	SELECT w FROM jsonb_populate_recordset(NULL::tablespace_advisor.relation_wait, jsonb_build_array(
		jsonb_build_object('relation', 'm_facts'::regclass::oid, 'class', 'application', 'reads_per_s', 10, 'waiting_sessions', 2),
		jsonb_build_object('relation', 'm_facts'::regclass::oid, 'class', 'export', 'reads_per_s', 100, 'waiting_sessions', 0.5),
		jsonb_build_object('relation', 'm_facts'::regclass::oid, 'class', 'maintenance', 'reads_per_s', 5, 'waiting_sessions', 0.2),
		jsonb_build_object('relation', 'm_facts'::regclass::oid, 'class', 'planning', 'reads_per_s', 5, 'waiting_sessions', 0.0001))) w
$$;
SELECT tablespace_advisor.other_waits(array(SELECT w FROM m_waits() w), e) FROM unnest('{false,true}'::boolean[]) e;
SELECT r.reads_per_s, r.waiting_sessions, r.scan_reads_per_s, r.scan_sessions
FROM tablespace_advisor.with_exports(ARRAY[jsonb_populate_record(NULL::tablespace_advisor.relation_rate,
		jsonb_build_object('relation', 'm_facts'::regclass::oid, 'reads_per_s', 10, 'waiting_sessions', 2)),
	jsonb_populate_record(NULL::tablespace_advisor.relation_rate,
		jsonb_build_object('relation', 'm_report'::regclass::oid, 'reads_per_s', 1, 'waiting_sessions', 1))],
	array(SELECT w FROM m_waits() w)) r;
SELECT l FROM tablespace_advisor.window_lines('{"source": "samples", "seconds": 60,
	"other_waits": {"export": 0.5, "maintenance": 0.2}}', true) l WHERE l ~ 'counted';
SELECT count(*) FROM advise_placement(target => 'm_facts', count_exports => true);
DROP FUNCTION m_waits();

\echo -- an index scan waits for index and table: what the cache has of each divides that, scans and other means stay
SELECT (j.advice).relation, (j.advice).waiting_sessions AS waiting
FROM tablespace_advisor.judge_placement(array(SELECT jsonb_populate_record(r, v) FROM m_relations(true) r
		CROSS JOIN LATERAL (SELECT CASE r.relation::text
			WHEN 'm_facts' THEN '{"reads_per_s": 60, "waiting_sessions": 1.0, "scan_reads_per_s": 10, "scan_sessions": 0.2, "system_cached": 0.2}'
			WHEN 'm_facts_ck' THEN '{"reads_per_s": 50, "waiting_sessions": 0.7, "system_cached": 0.8}'
			WHEN 'm_cached' THEN jsonb_build_object('table_relation', 'm_facts', 'kind', 'index')
			ELSE '{}' END::jsonb AS v) c),
	'{m_facts,m_facts_ck,m_report,m_cached}', array(SELECT p FROM m_places() p), NULL, NULL, NULL) j;

\echo -- of a table and its TOAST table: reads by key count, and scans where nothing else reads
SELECT m.cached, v.what
FROM (VALUES (100, 'scanned, and TOAST by key'), (NULL, 'both by key'), (0, 'by counters')) v (scans, what),
	tablespace_advisor.members_of(ARRAY['m_facts'::regclass]::oid[], array(SELECT jsonb_populate_record(
		NULL::tablespace_advisor.relation_rate, jsonb_build_object('relation', o, 'heap', 'm_facts'::regclass::oid,
			'kind', k, 'reads_per_s', 100, 'system_cached', o - 1, 'measured', v.what <> 'by counters',
			'scan_reads_per_s', CASE k WHEN 'heap' THEN v.scans END))
		FROM unnest('{toast,heap}'::text[]) WITH ORDINALITY t (k, o))) m WHERE m.kind = 'heap';
SELECT round(m.cached::numeric, 2) AS cached
FROM tablespace_advisor.members_of(ARRAY['m_facts'::regclass]::oid[], ARRAY[jsonb_populate_record(
	NULL::tablespace_advisor.relation_rate, jsonb_build_object('relation', 1, 'heap', 'm_facts'::regclass::oid, 'kind', 'heap',
	'reads_per_s', 100, 'system_cached', 0.9, 'measured', true, 'scan_reads_per_s', 100))]) m WHERE m.kind = 'heap';

\echo -- a table of which no rate is known has facts nevertheless
SELECT count(*) FROM unnest(tablespace_advisor.relation_facts(NULL, ARRAY['m_facts'::regclass]::oid[]));

DROP FUNCTION m_advice(boolean), m_places(), m_relations(boolean);
DROP TABLE m_facts, m_report, m_cached;

-- counters: a move reads each block once, and that is not the application's reading
CREATE TABLE m_moved AS SELECT n AS a FROM generate_series(1, 10000) n;
CREATE INDEX m_moved_a ON m_moved (a);
INSERT INTO tablespace_advisor.job (batch_id, relation, heap, kind, schema_name, relation_name,
	from_tablespace, from_tablespace_name, to_tablespace, to_tablespace_name, method_wanted, method, state,
	bytes_total, lock_timeout_ms, owner, system_identifier, database, started_at, finished_at, indexes, indexes_from)
SELECT 1, 'm_moved'::regclass, 'm_moved'::regclass, 'r', 'public', 'm_moved', 1663, 'pg_default', 1664, 'elsewhere',
	'auto', 'copy', 'done', 1, 100, 10, 1, 1, now() - interval '50 s', now() - interval '40 s',
	ARRAY['m_moved_a'::regclass::oid], ARRAY[1663::oid];
SELECT r.relation::regclass, r.reads_per_s
FROM unnest(tablespace_advisor.without_moves(array(
		SELECT jsonb_populate_record(NULL::tablespace_advisor.relation_rate, jsonb_build_object(
			'relation', c.oid, 'size_bytes', 819200, 'reads_per_s', 3))
		FROM pg_class c WHERE c.relname IN ('m_moved', 'm_moved_a', 'pg_class') ORDER BY c.relname DESC),
	now() - interval '100 s', now())) r;
SELECT relation::regclass, tablespaces FROM tablespace_advisor.left_lately()
WHERE relation::regclass::text LIKE 'm\_%' ORDER BY 1;
DELETE FROM tablespace_advisor.job;
DROP TABLE m_moved;
