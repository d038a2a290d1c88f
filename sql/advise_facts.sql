-- what advice takes from catalogs, statistics, probes and samples
SET allow_in_place_tablespaces = on;
SET TimeZone = 'UTC';
SET client_min_messages = warning;
-- what counters tell, on a server that has measured waits too
SET tablespace_advisor.track_waits = off;
CREATE TABLESPACE regress_advise_slow LOCATION '';
CREATE TABLESPACE regress_advise_fast LOCATION '';
CREATE TABLESPACE "regress advise's odd" LOCATION '';
CREATE ROLE regress_advise_monitor IN ROLE pg_monitor;
CREATE ROLE regress_advise_owner;
CREATE FUNCTION facts(VARIADIC tables regclass[])
RETURNS SETOF tablespace_advisor.relation_fact LANGUAGE sql AS $$
	SELECT f.* FROM tablespace_advisor.observe_database() o
	CROSS JOIN LATERAL unnest(tablespace_advisor.relation_facts(o.relations, tables::oid[])) f
	ORDER BY f.relation::text COLLATE "C"
$$;

-- what an index is needed for
CREATE TABLE referenced (id int PRIMARY KEY, code int);
CREATE UNIQUE INDEX referenced_code ON referenced (code);
CREATE TABLE roles (
	id int PRIMARY KEY,
	ref int REFERENCES referenced,
	code int REFERENCES referenced (code),
	pair_a int, pair_b int,
	plain int NOT NULL,
	EXCLUDE USING btree (plain WITH =),
	UNIQUE (pair_a, pair_b) DEFERRABLE);
CREATE INDEX roles_ref ON roles (ref, plain);
CREATE INDEX roles_not_ref ON roles (plain, ref);
CREATE UNIQUE INDEX roles_ident ON roles (plain);
ALTER TABLE roles REPLICA IDENTITY USING INDEX roles_ident;
-- only the first has the definition of another, which it could replace
CREATE INDEX roles_plain ON roles (plain);
CREATE INDEX roles_plain_desc ON roles (plain DESC);
CREATE INDEX roles_plain_hash ON roles USING hash (plain);
CREATE INDEX roles_plain_partial ON roles (plain) WHERE ref > 0;
CREATE INDEX roles_plain_partial_twin ON roles (plain) WHERE   ref   > 0;
CREATE INDEX roles_plain_partial_other ON roles (plain) WHERE ref > 1;
CREATE INDEX roles_plain_include ON roles (plain) INCLUDE (ref);
CREATE INDEX roles_expr ON roles ((plain + 1));
CREATE INDEX roles_expr_twin ON roles ((  plain + 1));
CREATE UNIQUE INDEX roles_unique ON roles (pair_a, pair_b);
CREATE UNIQUE INDEX roles_unique_nulls ON roles (pair_a, pair_b) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX roles_unique_twin ON roles (pair_a, pair_b);
-- a failed concurrent build, and constraints without WAL
CREATE UNLOGGED TABLE unlogged_roles (
	excluded int, deferred int UNIQUE DEFERRABLE, plain int UNIQUE,
	EXCLUDE USING btree (excluded WITH =));
INSERT INTO roles (id, pair_a, plain) VALUES (1, 1, 1), (2, 2, 2);
\set VERBOSITY terse
CREATE UNIQUE INDEX CONCURRENTLY roles_failed ON roles ((id / 10));
\set VERBOSITY default
SELECT relation, needed_for, unusable, duplicate_of, obstacle, expression
FROM facts('roles', 'unlogged_roles', 'referenced') WHERE kind = 'index';
CREATE TEMPORARY TABLE temporary (id int PRIMARY KEY);
-- heap under another name: what is not the server's own is not known
CREATE FUNCTION other_handler(internal) RETURNS table_am_handler
	LANGUAGE internal STRICT AS 'heap_tableam_handler';
CREATE ACCESS METHOD other_heap TYPE TABLE HANDLER other_handler;
CREATE TABLE not_heap (id int) USING other_heap;
SELECT relation, obstacle
FROM facts('unlogged_roles', 'temporary', 'pg_class', 'not_heap') WHERE kind = 'heap';
DROP TABLE roles, unlogged_roles, referenced, temporary, not_heap;
DROP ACCESS METHOD other_heap;
DROP FUNCTION other_handler;


-- where things are, how large, and how much was read and written
CREATE TABLE counted (id int, b int, big text) WITH (fillfactor = 50)
	TABLESPACE regress_advise_slow;
ALTER TABLE counted ALTER big SET STORAGE EXTERNAL;
CREATE INDEX counted_id ON counted (id) TABLESPACE regress_advise_fast;
CREATE INDEX counted_b ON counted (b);
SELECT pg_stat_reset();
INSERT INTO counted SELECT g, g FROM generate_series(1, 20) g;
UPDATE counted SET b = -b WHERE id <= 3;		-- writes every index
UPDATE counted SET big = 'x' WHERE id > 15;		-- HOT: writes none
DELETE FROM counted WHERE id = 10;
INSERT INTO counted VALUES (100, 100, repeat('x', 10000));	-- 6 chunks of TOAST
SELECT pg_stat_force_next_flush();
-- heap 20 + 3 + 5 + 1 + 1 = 30 and 6 of TOAST, index 20 + 3 + 1 = 24
SELECT f.relation, f.kind, f.tablespace, f.writes,
	round((f.writes_per_s / min(f.writes_per_s) OVER ())::numeric, 4) AS rate,
	f.size_bytes = CASE kind WHEN 'heap' THEN pg_table_size('counted')
		ELSE pg_relation_size(relation) END AS size_is_right,
	toast_bytes > 10000 AS has_toast, hot_fraction
FROM facts('counted') f;
-- after a move no page is in shared buffers: a scan of all reads each once
ALTER INDEX counted_id SET TABLESPACE regress_advise_slow;
ALTER TABLE counted SET TABLESPACE regress_advise_fast;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*), sum(length(big)) FROM counted WHERE id > 0;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT pg_stat_force_next_flush();
SELECT a.relation, a.tablespace, a.scans > 0 AS is_scanned,
	a.reads_per_s > 0 AND a.hits_per_s > 0 AS is_read,
	abs(a.reads_per_s * io.hits / (a.hits_per_s * io.reads) - 1) < 1e-6 AS rates_are_right,
	a.system_cached BETWEEN 0 AND 1 AS cached_is_a_share,
	a.counted_days BETWEEN 0 AND 0.1 AS counted_lately
FROM facts('counted') a
JOIN (SELECT relid, heap_blks_read + toast_blks_read + tidx_blks_read,
			heap_blks_hit + toast_blks_hit + tidx_blks_hit
		FROM pg_statio_user_tables
	UNION ALL
	SELECT indexrelid, idx_blks_read, idx_blks_hit
		FROM pg_statio_user_indexes) io (relid, reads, hits)
	ON io.relid = a.relation
WHERE a.relation IN ('counted'::regclass, 'counted_id'::regclass);
-- where waits are not measured, counters tell what scans read of a heap
SELECT count(*) > 0 AS is_scanned FROM counted;
SELECT pg_stat_force_next_flush();
SELECT a.relation, a.scan_reads_per_s > 0 AND a.scan_reads_per_s <= a.reads_per_s AS scans_read FROM facts('counted') a
WHERE a.relation IN ('counted'::regclass, 'counted_id'::regclass);

-- what a rebuild would leave, and BRIN; the names of its column
CREATE TABLE shaped (id int NOT NULL, shuffled int NOT NULL, word text NOT NULL);
INSERT INTO shaped SELECT g, (g * 7919::bigint) % 100003, 'word ' || g FROM generate_series(1, 100000) g;
CREATE INDEX shaped_id ON shaped (id);
CREATE INDEX "shaped Word" ON shaped (word);
CREATE INDEX shaped_shuffled ON shaped (shuffled) WITH (fillfactor = 50);
CREATE INDEX shaped_lower ON shaped (lower(word));
CREATE INDEX shaped_two ON shaped (id, shuffled);
VACUUM ANALYZE shaped;
CREATE INDEX shaped_sparse ON shaped (id) WITH (fillfactor = 20);
ALTER INDEX shaped_sparse RESET (fillfactor);
SELECT relation, round(size_bytes::numeric / rebuilt_bytes, 1) AS size_by_rebuilt, round(correlation::numeric, 1) AS correlation,
	column_name, expression
FROM facts('shaped') WHERE kind = 'index';
-- BRIN only if all scans made bitmaps: of shaped_id a range, then one in its order
DROP INDEX shaped_two, shaped_sparse;
SET enable_seqscan = off;
SET enable_indexscan = off;
SELECT count(word) FROM shaped WHERE id BETWEEN 100 AND 600;
SELECT pg_stat_force_next_flush();
SELECT relation, size_bytes / brin_bytes > 50 AS brin_is_small FROM facts('shaped') WHERE brin_bytes IS NOT NULL;
SET enable_indexscan = on;
SELECT word FROM shaped ORDER BY id LIMIT 1;
SELECT pg_stat_force_next_flush();
SELECT relation FROM facts('shaped') WHERE brin_bytes IS NOT NULL;
RESET enable_seqscan;
DROP TABLE shaped;

-- an index of which nothing is in shared buffers, read as a whole
CREATE TABLE "Odd ""name""" (id int, v int) TABLESPACE regress_advise_slow;
CREATE INDEX "Odd ""name"" idx" ON "Odd ""name""" (id) TABLESPACE regress_advise_slow;
INSERT INTO "Odd ""name""" SELECT g, g FROM generate_series(1, 10000) g;
VACUUM "Odd ""name""";
ALTER INDEX "Odd ""name"" idx" SET TABLESPACE "regress advise's odd";
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM "Odd ""name""" WHERE id > 0;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT pg_stat_force_next_flush();

-- from measurement to fact
BEGIN;
DELETE FROM tablespace_advisor.probe_run;
INSERT INTO tablespace_advisor.probe_run
	(run_id, tablespace, location, mode, file_size_bytes, duration,
		started_at, finished_at)
	OVERRIDING SYSTEM VALUE
SELECT run_id, spcname, pg_tablespace_location(oid), 'scratch', 268435456,
	'3 s', now(), now()
FROM (VALUES (1001, 'regress_advise_slow'), (1002, 'regress_advise_fast'),
	(1003, 'regress advise''s odd'), (1004, 'regress_advise_fast')) probed (run_id, name)
JOIN pg_tablespace ON spcname = name;
INSERT INTO tablespace_advisor.probe_result
	(run_id, workload, queue_depth, io_size, samples, iops, mean_us, mean_low_us, mean_high_us, caveat)
VALUES (1001, 'random read', 1, 8192, 600, 200, 5000, 4900, 5100, NULL),
	(1001, 'random read', 4, 8192, 600, 200, 20000, 19000, 21000, NULL),
	(1001, 'random read', 16, 8192, 600, 200, 80000, 79000, 81000, 'not to be trusted'),
	(1001, 'sequential read', 1, 65536, 600, 1000, 1000, 1000, 1000, NULL),
	(1001, 'cached read', 1, 8192, 600, 500000, 2, 2, 2, NULL),
	(1001, 'sync write', 1, 8192, 600, 500000, 900, 900, 900, NULL),
	(1001, 'random write', 1, 8192, 600, 500000, 700, 700, 700, NULL),
	(1002, 'random read', 1, 8192, 600, 10000, 100, 98, 102, NULL),
	(1003, 'random read', 1, 8192, 600, 250, 4000, NULL, NULL, NULL),
	(1004, 'sync write', 1, 8192, 600, 10000, 300, 300, 300, NULL);
SELECT tablespace, run_id, random_read_us, random_read_low_us, random_read_high_us,
	depths, depth_read_us, cached_read_us, sequential_page_us, sequential_write_page_us,
	round(max_writes_per_s) AS writes
FROM tablespace_advisor.tablespace_facts(0, 0)
WHERE tablespace ~ '^regress.advise' ORDER BY tablespace COLLATE "C";
-- CREATE of the caller or of the owner
GRANT CREATE ON TABLESPACE regress_advise_slow TO regress_advise_owner;
GRANT CREATE ON TABLESPACE regress_advise_fast TO regress_advise_monitor;
SELECT tablespace, may_create
FROM tablespace_advisor.tablespace_facts('regress_advise_monitor'::regrole, 'regress_advise_owner'::regrole)
WHERE tablespace ~ '^(regress.advise|pg_default)' ORDER BY tablespace COLLATE "C";

-- a twentieth of the file system stays free
SELECT count(*) > 0 AS known,
	bool_and(abs(f.available_bytes - (d.free_bytes - d.size_bytes / 20.0)) < d.size_bytes / 100.0) AS room
FROM tablespace_advisor.tablespace_facts(10, 10) f JOIN tablespace_devices() d USING (tablespace);

-- the journal of moves
INSERT INTO tablespace_advisor.job (batch_id, relation, heap, kind, schema_name,
	relation_name, from_tablespace, from_tablespace_name, to_tablespace,
	to_tablespace_name, method_wanted, method, state, bytes_total, lock_timeout_ms,
	owner, system_identifier, database, started_at, finished_at, paused_ms, wal_bytes)
SELECT 1, 'counted_id'::regclass, 'counted'::regclass, 'i', 'public', 'counted_id',
	s.oid, s.spcname, f.oid, f.spcname, 'auto', v.method, v.state, v.bytes, 100, 10,
	k.system_identifier, d.oid,
	now() - v.ago - interval '4 s', now() - v.ago, 2000, v.bytes * 1.1
FROM pg_tablespace s, pg_tablespace f, pg_database d, pg_control_system() k,
	(VALUES ('copy', 'done', 40000000, interval '1 day'),	-- 2 s without the pause
		('copy', 'done', 20000000, interval '8 days'),
		('copy', 'failed', 999000000, interval '1 day'),
		('rebuild', 'done', 888000000, interval '9 days'),
		('copy', 'done', 8192, interval '8 days')) v (method, state, bytes, ago)
WHERE s.spcname = 'regress_advise_slow' AND f.spcname = 'regress_advise_fast'
	AND d.datname = current_database();
SELECT tablespace_advisor.copy_rates('regress_advise_fast', NULL),
	tablespace_advisor.copy_rates('regress_advise_slow', NULL),
	round(tablespace_advisor.copy_wal_per_byte()::numeric, 3) AS wal_per_byte;
SELECT relation, left_lately FROM facts('counted');
-- one is under way, with an index
SAVEPOINT finished;
UPDATE tablespace_advisor.job SET state = 'paused', relation = heap, indexes = ARRAY['counted_id'::regclass::oid]
WHERE state = 'failed' AND heap = 'counted'::regclass;
SELECT f.relation, f.moving_job = j.job_id AS is_moving
FROM facts('counted') f LEFT JOIN tablespace_advisor.job j ON j.state = 'paused';
UPDATE tablespace_advisor.job SET system_identifier = 0 WHERE state = 'paused';
SELECT count(moving_job) AS of_another_server FROM facts('counted');
ROLLBACK TO finished;

--
-- the whole path
--
CREATE TABLE parted (id int, v int) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10)
	TABLESPACE regress_advise_slow;
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10) TO (20)
	PARTITION BY RANGE (id);
CREATE TABLE parted_2_1 PARTITION OF parted_2 FOR VALUES FROM (10) TO (15)
	TABLESPACE regress_advise_slow;
CREATE INDEX parted_id ON parted (id);
CREATE INDEX parted_v ON parted (v);
CREATE MATERIALIZED VIEW matview AS SELECT 1 AS one;
CREATE INDEX matview_one ON matview (one);

-- the devices as they are: what they are is not for a test to say
SET LOCAL ROLE regress_advise_monitor;
SELECT relation, kind, from_tablespace FROM advise_placement(target => '"Odd ""name"""', tablespace => 'regress_advise_fast')
ORDER BY relation::text COLLATE "C";
SELECT relation FROM advise_placement(target => 'parted') ORDER BY relation::text COLLATE "C";
SELECT relation FROM advise_placement(target => 'parted_id') ORDER BY relation::text COLLATE "C";
SELECT relation FROM advise_placement(target => 'parted_2_1_v_idx') ORDER BY relation::text COLLATE "C";
SELECT relation FROM advise_placement(target => 'matview') ORDER BY relation::text COLLATE "C";
SELECT relation, jsonb_object_keys(evidence) FROM placement_evidence('matview_one') ORDER BY 2;
SELECT split_part(explain_placement, ' ', 1) AS first_word FROM explain_placement('matview_one') LIMIT 1;
SELECT count(*) > 0 FROM explain_placement();
SELECT count(*) >= 0 FROM advise_placement('1 GB');
RESET ROLE;

-- these tablespaces lie side by side on one device: pretend that they do not,
-- and that the index is read from the device
CREATE OR REPLACE FUNCTION tablespace_advisor.tablespace_facts(caller oid, table_owner oid)
RETURNS SETOF tablespace_advisor.tablespace_fact LANGUAGE sql
SET search_path = pg_catalog, pg_temp AS $$
	SELECT f.* FROM tablespace_advisor.tablespace_latency l
	CROSS JOIN LATERAL jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
		jsonb_build_object('tablespace', l.tablespace, 'run_id', l.run_id,
			'random_read_us', l.random_read_us, 'random_read_low_us', l.random_read_low_us,
			'random_read_high_us', l.random_read_high_us,
			'depths', array_remove(ARRAY[CASE WHEN l.random_read_us > 0 THEN 1 END], NULL),
			'depth_read_us', array_remove(ARRAY[l.random_read_us], NULL),
			'may_create', true, 'volatile', false, 'available_bytes', 1000000000,
			'shares_device_with', '[]'::jsonb)) f
$$;
ALTER FUNCTION tablespace_advisor.relation_facts RENAME TO facts_with_caches;
CREATE FUNCTION tablespace_advisor.relation_facts(rates tablespace_advisor.relation_rate[], tables oid[],
	shaped_bytes bigint DEFAULT 0)
RETURNS tablespace_advisor.relation_fact[] LANGUAGE sql AS $$
	SELECT array_agg(jsonb_populate_record(f, '{"system_cached": 0.2}'))
	FROM unnest(tablespace_advisor.facts_with_caches(rates, tables, shaped_bytes)) f
$$;
SELECT rank, action, relation, from_tablespace, to_tablespace, reason,
	round((saved_ms_per_s / (reads_per_s * 0.8 * (4000 - 100) / 1000))::numeric, 1) AS saving_is_right,
	round((read_ms_per_s / (reads_per_s * 0.8 * 4000 / 1000))::numeric, 1) AS reading_is_right, statement
FROM advise_placement(target => '"Odd ""name"""') WHERE kind = 'index';
SELECT kind, from_tablespace, action, reason
FROM advise_placement('1 GB', target => '"Odd ""name"""', tablespace => 'regress_advise_slow') ORDER BY kind;
-- the same of the whole database
SELECT rank > 0 AS ranked, action, from_tablespace, to_tablespace FROM advise_placement()
WHERE relation = '"Odd ""name"" idx"'::regclass;
-- who may not probe is told who may
DELETE FROM tablespace_advisor.probe_run;
SELECT action, reason LIKE '%; takes a superuser or a grant' AS says_who,
	length(reason) <= 80 AS is_line, statement
FROM advise_placement(target => '"Odd ""name"""', tablespace => 'regress_advise_fast') WHERE statement IS NOT NULL;
SET LOCAL ROLE regress_advise_monitor;
SELECT action, reason LIKE '%; takes a superuser or a grant' AS says_who,
	length(reason) <= 80 AS is_line, statement
FROM advise_placement(target => '"Odd ""name"""', tablespace => 'regress_advise_fast') WHERE statement IS NOT NULL;
RESET ROLE;
-- of nothing, nothing, but not without a word
CREATE OR REPLACE FUNCTION tablespace_advisor.relation_facts(rates tablespace_advisor.relation_rate[], tables oid[],
	shaped_bytes bigint DEFAULT 0)
RETURNS tablespace_advisor.relation_fact[] LANGUAGE sql AS 'SELECT ''{}''::tablespace_advisor.relation_fact[]';
SET LOCAL client_min_messages = notice;
SELECT * FROM advise_placement();
ROLLBACK;

DROP FUNCTION facts;
DROP TABLE counted, "Odd ""name""";
DROP ROLE regress_advise_monitor, regress_advise_owner;
DROP TABLESPACE regress_advise_slow;
DROP TABLESPACE regress_advise_fast;
DROP TABLESPACE "regress advise's odd";
