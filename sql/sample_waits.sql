-- measured waits: what samples keep of them, and what people see; counters that the
-- test sets stand in the place of those in shared memory (t/172_wait_samples.pl has these)
\set SHOW_CONTEXT never
BEGIN;
SET LOCAL compute_query_id = on;
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_wait_sample;
DELETE FROM tablespace_advisor.statement_wait_sample;
DELETE FROM tablespace_advisor.sampled_wait;
DELETE FROM tablespace_advisor.sampled_statement_wait;
DELETE FROM tablespace_advisor.wait_total;
CREATE TABLE counter_of_relation (dbid oid, relid oid, class text, access text, calls float8,
	hits float8, reads float8, waited_ms float8, read_histogram float8[], since timestamptz);
CREATE TABLE counter_of_statement (dbid oid, userid oid, queryid bigint, toplevel boolean, relid oid,
	class text, access text, calls float8, total_ms float8, hits float8, reads float8, waited_ms float8, since timestamptz);
CREATE TABLE counter_start (since timestamptz, enabled boolean, overflowed bigint, evicted bigint, lost float8);
INSERT INTO counter_start VALUES (NULL, false, 0, 0, 0);
CREATE OR REPLACE FUNCTION tablespace_advisor.wait_relations(OUT dbid oid, OUT relid oid, OUT class text, OUT access text, OUT calls float8,
	OUT hits float8, OUT reads float8, OUT waited_ms float8, OUT read_histogram float8[], OUT since timestamptz)
RETURNS SETOF record LANGUAGE sql VOLATILE AS 'SELECT * FROM public.counter_of_relation';
CREATE OR REPLACE FUNCTION tablespace_advisor.wait_statements(OUT dbid oid, OUT userid oid, OUT queryid bigint, OUT toplevel boolean, OUT relid oid,
	OUT class text, OUT access text, OUT calls float8, OUT total_ms float8, OUT hits float8, OUT reads float8, OUT waited_ms float8, OUT since timestamptz)
RETURNS SETOF record LANGUAGE sql VOLATILE AS 'SELECT * FROM public.counter_of_statement';
CREATE OR REPLACE FUNCTION tablespace_advisor.wait_info(OUT since timestamptz, OUT enabled boolean, OUT sample int, OUT seen float8, OUT measured float8,
	OUT relation_entries int, OUT max_relation_entries int, OUT relations_overflowed bigint, OUT relations_reclaimed bigint,
	OUT statement_entries int, OUT max_statement_entries int, OUT statements_evicted bigint, OUT lost_reads float8)
LANGUAGE sql VOLATILE AS $$SELECT since, enabled, 10, 0::float8, 0::float8, 0, 500, overflowed, 0::bigint, 0, 100, evicted, lost FROM public.counter_start$$;
CREATE FUNCTION count_wait(relation oid, class text, access text, reads float8, ms float8, histogram float8[] DEFAULT NULL, since timestamptz DEFAULT clock_timestamp())
RETURNS void LANGUAGE sql AS $$
	INSERT INTO counter_of_relation SELECT d.oid, relation, class, access, 1, 10, reads, ms, histogram, since
	FROM pg_database d WHERE d.datname = current_database() $$;
CREATE FUNCTION count_statement(queryid bigint, relation oid, access text, reads float8, ms float8, toplevel boolean DEFAULT true)
RETURNS void LANGUAGE sql AS $$
	INSERT INTO counter_of_statement SELECT d.oid, 10, queryid, toplevel, relation, 'application', access, 1,
		CASE access WHEN 'all' THEN 2 * ms END, 10, reads, ms, clock_timestamp()
	FROM pg_database d WHERE d.datname = current_database() $$;
CREATE TABLE waited (id int PRIMARY KEY);

\echo -- not preloaded: a clear answer, and samples that say so
SAVEPOINT here;
SELECT * FROM tablespace_waits;
\echo :LAST_ERROR_SQLSTATE
ROLLBACK TO here;
SELECT * FROM observe_waits('100 ms');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK TO here;
SELECT subject, message FROM tablespace_advisor_health() WHERE subject IN ('waits', 'statements');
SELECT tablespace_advisor.take_sample(1) > 0, tablespace_advisor.take_sample(1) > 0;
SELECT waits_since, waits_measured_s FROM tablespace_advisor.sample;
SELECT measured_s, relation_waits, statement_waits FROM tablespace_advisor.observe_database();
SELECT source, measured, waiting_sessions FROM tablespace_advisor.observed_activity(tables => ARRAY['waited'::regclass]::oid[]);
SELECT source, measured, waiting_sessions FROM tablespace_advisor.observed_activity('100 ms', tables => ARRAY['waited'::regclass]::oid[]);
SELECT count(*) FROM wait_metrics;

\echo -- the server has started anew, with the library: what counters show has happened since
UPDATE counter_start SET since = clock_timestamp(), enabled = true;
SELECT count_wait('waited'::regclass, 'application', 'sequential', 100, 50, array_fill(9::float8, ARRAY[20])),
	count_wait('waited_pkey'::regclass, 'application', 'index', 10, 100), count_wait(0, 'maintenance', 'utility', 5, 5);
INSERT INTO counter_of_relation SELECT 1, 4711, 'application', 'index', 1, 1, 1e6, 1e6, NULL, now();
SELECT count_statement(7, 0, 'all', 110, 150), count_statement(7, 'waited'::regclass, 'sequential', 100, 50),
	count_statement(7, 'waited_pkey'::regclass, 'index', 10, 100), count_statement(8, 0, 'all', 110, 150, false);
SELECT tablespace_advisor.take_sample(1) AS second \gset
SELECT waits_since = (SELECT since FROM counter_start) AS has_start, waits_measured_s > 0 AND waits_measured_s < 60 AS is_measured
FROM tablespace_advisor.sample WHERE sample_id = :second;
CREATE VIEW kept AS SELECT relation::regclass, class, access, calls, hits, reads, waited_ms, read_histogram
FROM tablespace_advisor.relation_wait_sample WHERE sample_id = (SELECT max(sample_id) FROM tablespace_advisor.sample) ORDER BY relation::regclass::text COLLATE "C", access;
CREATE VIEW kept_statements AS SELECT queryid, relation::regclass, access, calls, total_ms, reads, waited_ms
FROM tablespace_advisor.statement_wait_sample WHERE sample_id = (SELECT max(sample_id) FROM tablespace_advisor.sample) ORDER BY queryid, access;
SELECT * FROM kept;
SELECT * FROM kept_statements;
\echo -- differences; what nobody read has no row; a row that began anew counts whole, one that is gone not at all
UPDATE counter_of_relation SET reads = reads + 1, waited_ms = waited_ms + 2.5, calls = calls + 3, read_histogram[4] = 10 WHERE access = 'sequential';
UPDATE counter_of_relation SET reads = 4, waited_ms = 4, since = clock_timestamp() WHERE access = 'index' AND relid <> 4711;
DELETE FROM counter_of_relation WHERE class = 'maintenance';
UPDATE counter_of_statement SET calls = calls + 1, total_ms = total_ms + 7, reads = reads + 1, waited_ms = waited_ms + 2.5 WHERE queryid = 7 AND access <> 'index';
SELECT tablespace_advisor.take_sample(1) > 0;
SELECT * FROM kept;
SELECT * FROM kept_statements;
SELECT * FROM wait_metrics WHERE database = current_database() ORDER BY class, access;
\echo -- nothing: no rows
SELECT tablespace_advisor.take_sample(1) > 0;
SELECT (SELECT count(*) FROM kept), (SELECT count(*) FROM kept_statements), (SELECT count(*) FROM tablespace_advisor.sampled_wait), (SELECT count(*) FROM tablespace_advisor.sampled_statement_wait);
\echo -- track_waits is off: what grows meanwhile is not taken for a measurement
UPDATE counter_start SET enabled = false;
UPDATE counter_of_relation SET reads = reads + 1000;
SELECT tablespace_advisor.take_sample(1) AS off \gset
UPDATE counter_start SET enabled = true;
UPDATE counter_of_relation SET reads = reads + 1;
SELECT tablespace_advisor.take_sample(1) > 0;
SELECT waits_measured_s FROM tablespace_advisor.sample WHERE sample_id = :off;
SELECT relation, reads FROM kept;
\echo -- counters that no sample has read, as before an update of the extension: their age is not known
UPDATE tablespace_advisor.sample SET waits_since = NULL;
DELETE FROM tablespace_advisor.sampled_wait;
DELETE FROM tablespace_advisor.sampled_statement_wait;
SELECT tablespace_advisor.take_sample(1) AS first \gset
SELECT waits_measured_s FROM tablespace_advisor.sample WHERE sample_id = :first;
SELECT * FROM kept;

\echo -- rates: waits of the application by relation, others by class
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_wait_sample;
DELETE FROM tablespace_advisor.statement_wait_sample;
INSERT INTO tablespace_advisor.sample (sample_id, started_at, taken_at, covers, was_reset, io_timed, blocks_read, blocks_hit,
	read_ms, write_ms, snapshots, reading_snapshots, reading_sessions, waits, waits_measured_s)
OVERRIDING SYSTEM VALUE
SELECT n, CASE WHEN n > 1 THEN now() - (5 - n) * interval '100 s' END, now() - (4 - n) * interval '100 s', 'sample', false, false, 0, 0, 0, 0, 1, 0, 0, '{}', (ARRAY[NULL, NULL, 100, 60])[n]
FROM generate_series(1, 4) n;
INSERT INTO tablespace_advisor.relation_wait_sample VALUES
	(3, 'waited'::regclass, 16, 32, 1600, 8000, 'application', 'sequential', array_fill(1::real, ARRAY[20])),
	(4, 'waited'::regclass, 16, 32, 1600, 8000, 'application', 'sequential', array_fill(2::real, ARRAY[20])),
	(4, 'waited'::regclass, 1, 0, 16000, 160000, 'export', 'utility', NULL);
INSERT INTO tablespace_advisor.statement_wait_sample VALUES
	(3, 10, 7, 0, 16, 1600, 0, 1600, 800, 'application', 'all'),
	(3, 10, 7, 'waited'::regclass, 16, NULL, 0, 1600, 800, 'application', 'sequential');
SELECT source, seconds, measured_s, w.relation::regclass, w.class, w.access, w.calls_per_s, w.hits_per_s, w.reads_per_s, w.waiting_sessions, w.mean_ms, w.read_histogram
FROM tablespace_advisor.observe_database() o, unnest(o.relation_waits) w ORDER BY w.class;
SELECT s.userid, s.queryid, s.relation::regclass, s.class, s.access, s.calls_per_s, s.call_ms, s.reads_per_s, s.waiting_sessions, s.mean_ms
FROM tablespace_advisor.observe_database() o, unnest(o.statement_waits) s ORDER BY s.access;
SELECT relation::regclass, measured, waiting_sessions FROM tablespace_advisor.observed_activity(tables => ARRAY['waited'::regclass]::oid[]) ORDER BY 1;
SELECT relation::regclass, measured, waiting_sessions FROM tablespace_advisor.observed_activity('100 ms', tables => ARRAY['waited'::regclass]::oid[]) ORDER BY 1;

\echo -- cached while it was loaded and scanned, cold since: the share of reads by key, where these are measured
SAVEPOINT here;
INSERT INTO tablespace_advisor.relation_sample (sample_id, relation, size_bytes, reads, cached_reads)
SELECT n, r, 8192, v.reads, v.reads * v.cached
FROM unnest(ARRAY['waited', 'waited_pkey']::regclass[]) r, (VALUES (3, 9600, 0.95), (4, 400, 0)) v (n, reads, cached);
INSERT INTO tablespace_advisor.relation_wait_sample
SELECT v.n, 'waited'::regclass, 1, 0, v.reads, 1, 'application', v.access, NULL
FROM (VALUES (3, 80, 'heap by index'), (3, 20, 'toast'), (4, 400, 'heap by index')) v (n, reads, access);
SELECT relation::regclass, round(system_cached::numeric, 3) AS cached
FROM tablespace_advisor.observed_activity(tables => ARRAY['waited'::regclass]::oid[]) ORDER BY 1;
ROLLBACK TO here;

\echo -- what people see: statements, then what no statement is known of; not what is less than a thousandth
SAVEPOINT here;
SELECT * FROM observe_waits('1 ms');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK TO here;
SELECT * FROM observe_waits(NULL);
\echo :LAST_ERROR_SQLSTATE
ROLLBACK TO here;
SELECT * FROM observe_waits('100 ms');
DELETE FROM counter_of_relation;
DELETE FROM counter_of_statement;
DELETE FROM tablespace_advisor.sampled_wait;
DELETE FROM tablespace_advisor.sampled_statement_wait;
SELECT count_wait('waited'::regclass, 'application', 'sequential', 100, 300), count_wait('waited_pkey'::regclass, 'application', 'heap by bitmap', 50, 100),
	count_wait(0, 'export', 'utility', 40, 200), count_wait('waited'::regclass, 'application', 'toast', 1, 0.1);
SELECT count_statement(7, 0, 'all', 60, 180), count_statement(7, 'waited'::regclass, 'sequential', 60, 180);
SELECT round((waiting_sessions / sum(waiting_sessions) OVER ())::numeric, 2) AS share, reads_per_s > 0 AS reads, mean_ms, access, relation, statement FROM tablespace_waits;
\echo -- health
SELECT subject, ok, message FROM tablespace_advisor_health() WHERE subject = 'waits';
UPDATE counter_start SET overflowed = 3, evicted = 101;
SELECT subject, ok, message, statement FROM tablespace_advisor_health() WHERE subject = 'waits';
SET LOCAL compute_query_id = on;
SELECT statement FROM tablespace_advisor.wait_health() WHERE subject = 'statements' AND message ~ 'give way';
UPDATE counter_start SET overflowed = 0, lost = 2;
SELECT subject, ok, message, statement FROM tablespace_advisor_health() WHERE subject = 'waits';
UPDATE counter_start SET enabled = false;
SELECT subject, ok, message, statement FROM tablespace_advisor_health() WHERE subject IN ('waits', 'statements');

\echo -- fifty statements, twenty relations of each, the rest as one
SELECT count(*), count(DISTINCT queryid), min(queryid), max(queryid), sum(reads), count(*) FILTER (WHERE relation = 0 AND access = 'other') AS rests,
	sum(reads) FILTER (WHERE relation = 0 AND access = 'other') AS rest
FROM tablespace_advisor.largest_statement_waits(array(
	SELECT ROW(10, q, r, 'application', CASE r WHEN 0 THEN 'all' ELSE 'index' END, 1, 1, 1, CASE r WHEN 0 THEN 30 ELSE 1 END, q, now())::tablespace_advisor.sampled_statement_wait
	FROM generate_series(1, 60) q, generate_series(0, 30) r));
-- one that ran without reads comes last: it may have waited before a move
SELECT count(*) FROM tablespace_advisor.largest_statement_waits(array[ROW(10, 1, 0, 'application', 'all', 1, 1, 1, 0, 0, now())::tablespace_advisor.sampled_statement_wait]);
\echo -- of 30 000 rows the 500 with the longest waits and the 500 with the most reads, the rest as one for each class and access
SELECT count(*), count(*) FILTER (WHERE relation = 0) AS rests, max(relation) FILTER (WHERE relation < 15000) AS by_waits, min(relation) FILTER (WHERE relation > 15000) AS by_reads, sum(reads) AS reads, sum(waited_ms) AS waited_ms,
	sum(reads) FILTER (WHERE relation = 0) AS rest
FROM tablespace_advisor.largest_waits(array(
	SELECT ROW(r, CASE WHEN r % 3 = 0 THEN 'export' ELSE 'application' END, 'index', 1, 1, r, 30001 - r, NULL, now())::tablespace_advisor.sampled_wait
	FROM generate_series(1, 30000) r UNION ALL SELECT ROW(0, 'application', 'index', 1, 1, 5, 5, NULL, now())::tablespace_advisor.sampled_wait));
\echo -- histograms
CREATE FUNCTION histogram(VARIADIC first float8[]) RETURNS float8[] LANGUAGE sql
	AS 'SELECT first || array_fill(0::float8, ARRAY[20 - cardinality(first)])';
SELECT tablespace_advisor.subtract_histograms(histogram(3,2,1), histogram(1,2)) = histogram(2,0,1) AS grown,
	tablespace_advisor.subtract_histograms(histogram(3), NULL) = histogram(3) AS first, tablespace_advisor.subtract_histograms(histogram(1), histogram(2)) AS fell,
	tablespace_advisor.sum_histograms(ARRAY[histogram(1,2), histogram(3), histogram(0,0,4)]) = histogram(4,2,4) AS sum, tablespace_advisor.sum_histograms(NULL) AS none;
SAVEPOINT here;
SELECT tablespace_advisor.subtract_histograms('{1}', NULL);
ROLLBACK TO here;
SELECT tablespace_advisor.subtract_histograms(ARRAY[histogram(1)], NULL);
ROLLBACK TO here;
SELECT tablespace_advisor.subtract_histograms(NULL, array_fill(NULL::float8, ARRAY[20]));
ROLLBACK TO here;
SELECT tablespace_advisor.sum_histograms('{}');
ROLLBACK TO here;

\echo -- growing old: hours after two days, days after 30; retention
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_wait_sample;
DELETE FROM tablespace_advisor.statement_wait_sample;
INSERT INTO tablespace_advisor.sample (sample_id, started_at, taken_at, was_reset, io_timed, blocks_read, blocks_hit, read_ms, write_ms,
	snapshots, reading_snapshots, reading_sessions, waits, waits_measured_s)
OVERRIDING SYSTEM VALUE
SELECT n, at - interval '20 minutes', at, false, false, 0, 0, 0, 0, 1, 0, 0, '{}', CASE WHEN n <> -4 THEN 1200 END
FROM (SELECT n, date_trunc('day', now(), 'UTC') - CASE WHEN n < -6 THEN interval '40 days' WHEN n < 0 THEN interval '5 days' ELSE interval '1 hour' END
		+ (n + 20) * interval '20 minutes' AS at
	FROM generate_series(-9, 0) n) g;
INSERT INTO tablespace_advisor.relation_wait_sample
SELECT sample_id, 4711, 1, 2, 1e7, 0.5, 'application', a, CASE a WHEN 'index' THEN array_fill(2::real, ARRAY[20]) END
FROM tablespace_advisor.sample, unnest('{index,sequential}'::text[]) a;
INSERT INTO tablespace_advisor.statement_wait_sample
SELECT sample_id, 10, q, r, 1, CASE r WHEN 0 THEN 1 END, 1, 1, q, 'application', CASE r WHEN 0 THEN 'all' ELSE 'index' END
FROM tablespace_advisor.sample, generate_series(sample_id * 10, sample_id * 10 + 40) q, unnest('{0,4711}'::oid[]) r WHERE q > -90 AND q < -10 OR sample_id = 0;
SELECT tablespace_advisor.roll_up_samples(NULL);
CREATE VIEW history AS SELECT s.sample_id, s.covers, s.waits_measured_s, w.access, w.calls, w.reads, w.waited_ms, w.read_histogram,
	(SELECT count(DISTINCT t.queryid) FROM tablespace_advisor.statement_wait_sample t WHERE t.sample_id = s.sample_id) AS statements
FROM tablespace_advisor.sample s LEFT JOIN tablespace_advisor.relation_wait_sample w USING (sample_id) ORDER BY 1, w.access;
SELECT * FROM history;
SELECT tablespace_advisor.roll_up_samples(20);
SELECT sample_id, access FROM history;
SELECT count(DISTINCT sample_id) FROM tablespace_advisor.statement_wait_sample;
SELECT tablespace_advisor.roll_up_samples(0);
SELECT sample_id, access, statements FROM history;

\echo -- rights
CREATE ROLE regress_wait_monitor IN ROLE pg_monitor;
CREATE ROLE regress_wait_nobody;
UPDATE counter_start SET enabled = true;
GRANT SELECT ON counter_of_relation, counter_of_statement, counter_start TO regress_wait_monitor, regress_wait_nobody;
SAVEPOINT here;
SET ROLE regress_wait_monitor;
SELECT count(*) > 0 AS waits FROM tablespace_waits;
SELECT count(*) > 0 AS waits FROM observe_waits('100 ms');
SELECT count(*) > 0 AS totals FROM wait_metrics;
SELECT count(*) FROM tablespace_advisor.statement_texts(10);
SELECT count(*) FROM tablespace_advisor.statement_texts(0);
ROLLBACK TO here;
-- without pg_read_all_stats: not the statements of others
REVOKE pg_read_all_stats FROM pg_monitor;
SET ROLE regress_wait_monitor;
SELECT DISTINCT statement FROM tablespace_waits ORDER BY 1;
ROLLBACK TO here;
SET ROLE regress_wait_nobody;
SELECT * FROM tablespace_waits;
ROLLBACK TO here;
SET ROLE regress_wait_nobody;
SELECT * FROM observe_waits();
ROLLBACK TO here;
SET ROLE regress_wait_nobody;
SELECT * FROM wait_metrics;
ROLLBACK TO here;
SET ROLE regress_wait_nobody;
SELECT * FROM tablespace_advisor.wait_relations();
ROLLBACK TO here;
SET ROLE regress_wait_nobody;
SELECT * FROM tablespace_advisor.statement_wait_sample;
ROLLBACK;
