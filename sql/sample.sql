-- samples: what relations were read and written, over which window
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_sample;
DELETE FROM tablespace_advisor.tablespace_sample;
DELETE FROM tablespace_advisor.sampled_relation;
CREATE TABLE sampled (id int PRIMARY KEY, k int, filler text)
	WITH (autovacuum_enabled = off, fillfactor = 50);
CREATE INDEX sampled_k ON sampled (k);
CREATE TABLE sampled_idle (id int) WITH (autovacuum_enabled = off);
INSERT INTO sampled_idle VALUES (1);
CREATE TEMPORARY TABLE sampled_temporary (id int);
SET enable_seqscan = off;
SET enable_bitmapscan = off;

CREATE VIEW pg_temp.last_sample AS
SELECT r.relation::regclass, r.size_bytes > 0 AS has_size,
	coalesce(r.reads, 0) + coalesce(r.hits, 0) > 0 AS accessed, r.scans, r.tuples_read, r.inserted,
	r.updated, r.hot_updated, r.deleted
FROM tablespace_advisor.relation_sample r
JOIN tablespace_advisor.relation_inventory i USING (relation)
WHERE i.heap::regclass::text LIKE 'sampled%' AND i.kind IN ('heap', 'index')
	AND r.sample_id = (SELECT max(sample_id) FROM tablespace_advisor.sample)
ORDER BY r.relation::regclass::text COLLATE "C";

\echo -- no samples, and one, which is compared with nothing: totals
SELECT DISTINCT source FROM tablespace_advisor.observed_activity();
SELECT pg_stat_force_next_flush();
CALL sample_activity();
SELECT count(*) FROM tablespace_advisor.relation_sample;
SELECT DISTINCT source FROM tablespace_advisor.observed_activity();

\echo -- what happened between two samples
INSERT INTO sampled SELECT g, g, 'x' FROM generate_series(1, 100) g;
UPDATE sampled SET filler = 'y' WHERE id <= 10;
UPDATE sampled SET k = -k WHERE id <= 5;
DELETE FROM sampled WHERE id = 100;
SELECT count(*) FROM sampled WHERE k BETWEEN 50 AND 59;
SELECT pg_stat_force_next_flush();
CALL sample_activity();
SELECT * FROM pg_temp.last_sample;

\echo -- nothing: no rows
SELECT tablespace_advisor.take_sample(1) > 0 AS taken;
SELECT * FROM pg_temp.last_sample;

\echo -- rates: HOT updates write no index, others write every one
SELECT source, relation::regclass, kind, round(writes_per_s * seconds) AS written,
	round(scans_per_s * seconds) AS scans, hot_fraction::numeric(3, 2),
	tablespace = (SELECT dattablespace FROM pg_database
		WHERE datname = current_database()) AS tablespace,
	size_bytes = tablespace_advisor.relation_bytes(relation) AS size,
	reads_per_s + hits_per_s > 0 AS accessed, was_reset
FROM tablespace_advisor.observed_activity(
	tables => ARRAY['sampled', 'sampled_idle']::regclass[]::oid[])
WHERE kind IN ('heap', 'index')
ORDER BY relation::regclass::text COLLATE "C";
SELECT source, intervals, seconds > 0 AS seconds, window_start < window_end AS window,
	was_reset, hits_per_s > 0 AS hits, snapshots, active_sessions >= 0 AS active
FROM tablespace_advisor.observe_database();
\echo -- not temporary ones, nor those of the extension
SELECT count(*) FROM tablespace_advisor.relation_inventory i
JOIN pg_class c ON c.oid = i.heap
WHERE c.relname LIKE 'sampled\_temp%' OR c.relname LIKE 'sampled\_relation%'
	OR c.relname = 'pg_class';

\echo -- lists that are NULL are empty
SELECT count(*) FROM tablespace_advisor.counters_of('{}', NULL, NULL, NULL);

\echo -- watching: nothing happens
SELECT source, seconds BETWEEN 0.1 AND 60 AS seconds, sum(writes_per_s) AS written
FROM tablespace_advisor.observed_activity(observe => '100 ms',
	tables => ARRAY['sampled'::regclass]::oid[]) GROUP BY 1, 2;
\set SHOW_CONTEXT never
SELECT * FROM tablespace_advisor.observed_activity(observe => '1 ms');
-- what is read here is in the samples: it would count twice
SELECT standby_activity('100 ms');
\echo :LAST_ERROR_SQLSTATE
SELECT standby_activity(NULL);
\echo :LAST_ERROR_SQLSTATE

\echo -- a reset: what the counters show has happened since
SELECT pg_stat_reset();
SELECT count(*) FROM sampled WHERE k = 77;
SELECT pg_stat_force_next_flush();
SELECT tablespace_advisor.take_sample(1) > 0 AS taken;
SELECT relation, scans, inserted FROM pg_temp.last_sample WHERE relation::text = 'sampled_k';
SELECT was_reset FROM tablespace_advisor.sample ORDER BY sample_id;
SELECT bool_and(was_reset) FROM tablespace_advisor.observed_activity();
SELECT pg_stat_reset_single_table_counters('sampled_k'::regclass);
SELECT count(*) FROM sampled WHERE id = 77;
SELECT pg_stat_force_next_flush();
SELECT tablespace_advisor.take_sample(1) > 0 AS taken;
SELECT relation, scans FROM pg_temp.last_sample WHERE relation::text LIKE 'sampled_%' ORDER BY 1;
SELECT was_reset FROM tablespace_advisor.sample ORDER BY sample_id DESC LIMIT 1;

\echo -- new files, new relations, dropped ones
SELECT filenode_since FROM tablespace_advisor.sampled_relation
WHERE relation = 'sampled'::regclass;
TRUNCATE sampled;
CREATE TABLE sampled_new (id int) WITH (autovacuum_enabled = off);
INSERT INTO sampled_new VALUES (1);
DROP TABLE sampled_idle;
SELECT pg_stat_force_next_flush();
SELECT tablespace_advisor.take_sample(1) > 0 AS taken;
SELECT relation::regclass, filenode_since IS NOT NULL AS new_file,
	counted_since = (SELECT max(started_at) FROM tablespace_advisor.sample) AS new_counters
FROM tablespace_advisor.sampled_relation
WHERE relation IN ('sampled'::regclass, 'sampled_new'::regclass) ORDER BY 1;
SELECT relation, inserted FROM pg_temp.last_sample WHERE relation::text = 'sampled_new';
SELECT count(*) FROM tablespace_advisor.sampled_relation r
WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = r.relation);

\echo -- growing old: hours after two days, days after 30
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_sample;
DELETE FROM tablespace_advisor.tablespace_sample;
INSERT INTO tablespace_advisor.sample (sample_id, started_at, taken_at, was_reset,
	io_timed, blocks_read, blocks_hit, read_ms, write_ms,
	snapshots, reading_snapshots, reading_sessions, waits)
OVERRIDING SYSTEM VALUE
SELECT n, at - interval '20 minutes', at, n IN (-9, -3), false, 1000 + n, 0, 0, 0,
	10, 1, 2, '{"CPU": 1, "IO/DataFileRead": 2}'
FROM (SELECT n, date_trunc('day', now(), 'UTC')
		- CASE WHEN n < -10 THEN interval '40 days' WHEN n < -1 THEN interval '5 days' ELSE interval '27 hours' END
		+ (n + 20) * interval '20 minutes' AS at
	FROM generate_series(-19, 0) n) g;
UPDATE tablespace_advisor.sample SET started_at = NULL WHERE sample_id = -19;
INSERT INTO tablespace_advisor.relation_sample (sample_id, relation, size_bytes, reads, updated)
SELECT sample_id, 4711, 1000 + sample_id, 1, CASE sample_id WHEN -15 THEN 5 END
FROM tablespace_advisor.sample;
INSERT INTO tablespace_advisor.tablespace_sample
SELECT sample_id, 1663, 1000 + sample_id, NULL FROM tablespace_advisor.sample;
SELECT tablespace_advisor.roll_up_samples(NULL);
CREATE VIEW pg_temp.history AS
SELECT s.sample_id, s.covers, s.taken_at - s.started_at AS length, s.was_reset,
	s.blocks_read, s.snapshots, s.waits, r.size_bytes, r.reads, r.updated, t.used_bytes
FROM tablespace_advisor.sample s
LEFT JOIN tablespace_advisor.relation_sample r USING (sample_id)
LEFT JOIN tablespace_advisor.tablespace_sample t USING (sample_id)
ORDER BY s.sample_id;
SELECT * FROM pg_temp.history;
SELECT tablespace_advisor.roll_up_samples(NULL);
SELECT count(*), sum(reads) AS reads FROM pg_temp.history;
\echo -- retention; the last sample stays
SELECT tablespace_advisor.roll_up_samples(20);
SELECT sample_id, reads, used_bytes FROM pg_temp.history;
SELECT tablespace_advisor.roll_up_samples(0);
SELECT sample_id, reads, used_bytes FROM pg_temp.history;
SELECT tablespace_advisor.sum_waits(ARRAY['{"a": 1, "b": 2}', '{"b": 0.5, "c": 1}', '{}']::jsonb[]),
	tablespace_advisor.sum_waits('{}');

\echo -- rights
CREATE ROLE regress_sample_monitor IN ROLE pg_monitor;
CREATE ROLE regress_sample_nobody;
SET ROLE regress_sample_monitor;
CALL sample_activity();
SELECT count(*) > 0 AS some FROM tablespace_advisor.observed_activity();
SELECT tablespace_advisor.roll_up_samples(0);
DELETE FROM tablespace_advisor.sample;
SET ROLE regress_sample_nobody;
CALL sample_activity();
RESET ROLE;
DROP ROLE regress_sample_monitor, regress_sample_nobody;
\echo -- blocks that a relation grows by are not read, though PostgreSQL 15 counts them:
\echo -- no test had many of them
CREATE TABLE sampled_grown (id int) WITH (autovacuum_enabled = off);
SELECT tablespace_advisor.take_sample(1) > 0 AS taken;
CREATE TEMPORARY TABLE counters AS SELECT tablespace_advisor.read_counters(
	ARRAY['sampled_grown'::regclass]::oid[]) AS before;
INSERT INTO sampled_grown SELECT g FROM generate_series(1, 100000) g;
SELECT pg_stat_force_next_flush();
SELECT tablespace_advisor.take_sample(1) > 0 AS taken;
SELECT coalesce(r.reads, 0) < 40 AS few_reads, r.hits > 400 AS hits, r.inserted
FROM tablespace_advisor.relation_sample r
WHERE r.relation = 'sampled_grown'::regclass
	AND r.sample_id = (SELECT max(s.sample_id) FROM tablespace_advisor.sample s);
SELECT r.reads_per_s < 40 AS few_reads, r.size_bytes > 400 * 8192 AS has_grown
FROM counters c, unnest(tablespace_advisor.subtract_counters(c.before,
	tablespace_advisor.read_counters(ARRAY['sampled_grown'::regclass]::oid[]), 1)) r
WHERE r.kind = 'heap';
DROP TABLE sampled, sampled_new, sampled_grown;
