-- advise_index_placement: the arithmetic and every verdict on facts written
-- down by hand, then the facts themselves, then the whole path
SET allow_in_place_tablespaces = on;
SET TimeZone = 'UTC';
SET client_min_messages = warning;
CREATE TABLESPACE regress_advise_slow LOCATION '';
CREATE TABLESPACE regress_advise_fast LOCATION '';
CREATE TABLESPACE "regress advise's odd" LOCATION '';
CREATE ROLE regress_advise_monitor IN ROLE pg_monitor;
CREATE ROLE regress_advise_owner;

SELECT unnest(string_to_array(pg_get_function_result(
	'advise_index_placement'::regproc), ', ')) AS columns;

--
-- Part 1: facts by hand
--
CREATE TABLE placed (a int, b int, c int, d int);
CREATE INDEX placed_a ON placed (a);
CREATE INDEX placed_b ON placed (b);
CREATE INDEX placed_c ON placed (c);
CREATE INDEX placed_d ON placed (d);

/*
 * 10000 reads in 1000 s at 5000 us each: 50 ms/s.  The destination needs
 * 100 us, so a read saves 4.9 ms.
 *   placed_a  5300 reads: 5.3 * 4.9 = 25.97 ms/s, 0.53 * 98 % = 51.94 %
 *   placed_b  1900                     9.31 ms/s            18.62 %
 *   placed_c   700                     3.43 ms/s             6.86 %
 *   placed_d   100                     0.49 ms/s             0.98 %: too little
 *   placed    2000                     9.80 ms/s            19.60 %
 * Saved per byte a > b > c > placed.  The indexes' share is 80 %.
 */
CREATE TABLE activity_case AS
SELECT a.* FROM jsonb_populate_recordset(
	NULL::tablespace_advisor.relation_activity, '[
	{"relation": "placed", "kind": "heap", "size_bytes": 819200, "toast_bytes": 8192,
	 "blocks_read": 2000, "blocks_hit": 6000, "tuples_written": 5000},
	{"relation": "placed_a", "kind": "index", "size_bytes": 81920, "toast_bytes": 0,
	 "blocks_read": 5300, "blocks_hit": 0, "scans": 9, "tuples_written": 4000},
	{"relation": "placed_b", "kind": "index", "size_bytes": 163840, "toast_bytes": 0,
	 "blocks_read": 1900, "blocks_hit": 1900, "scans": 9, "tuples_written": 4000},
	{"relation": "placed_c", "kind": "index", "size_bytes": 81920, "toast_bytes": 0,
	 "blocks_read": 700, "blocks_hit": 0, "scans": 9, "tuples_written": 4000},
	{"relation": "placed_d", "kind": "index", "size_bytes": 8192, "toast_bytes": 0,
	 "blocks_read": 100, "blocks_hit": 0, "scans": 9, "tuples_written": 4000}]') a;
UPDATE activity_case SET table_relation = 'placed', tablespace = 'regress_advise_slow';

CREATE TABLE fact_case AS
SELECT f.* FROM jsonb_populate_recordset(
	NULL::tablespace_advisor.tablespace_fact, '[
	{"tablespace": "regress_advise_slow", "random_read_us": 5000,
	 "random_read_low_us": 4900, "random_read_high_us": 5100,
	 "sequential_page_us": 125, "may_create": true, "volatile": false,
	 "shares_device_with": [], "available_bytes": 1000000000},
	{"tablespace": "regress_advise_fast", "random_read_us": 100,
	 "random_read_low_us": 98, "random_read_high_us": 102,
	 "sequential_page_us": 50, "may_create": true, "volatile": false,
	 "shares_device_with": [], "available_bytes": 1000000000},
	{"tablespace": "regress advise''s odd", "random_read_us": 200,
	 "random_read_low_us": 198, "random_read_high_us": 202,
	 "sequential_page_us": 50, "may_create": true, "volatile": false,
	 "shares_device_with": [], "available_bytes": 1000000000},
	{"tablespace": "pg_default", "may_create": true}]') f;

CREATE FUNCTION judge(destination name DEFAULT NULL,
	budget_bytes bigint DEFAULT NULL, seconds float8 DEFAULT 1000,
	considered regclass[] DEFAULT NULL)
RETURNS TABLE (relation regclass, kind text, size_bytes bigint,
	current_tablespace name, recommended_tablespace name, action text,
	reads_per_s float8, writes_per_s float8, cached_fraction float8,
	read_ms_per_s float8, saved_ms_per_s float8, saved_percent float8,
	rank int, statement text, reason text)
LANGUAGE sql AS $$
	SELECT * FROM tablespace_advisor.judge_placement(
		array(SELECT ROW(a.*)::tablespace_advisor.relation_activity FROM activity_case a),
		coalesce(considered, array(SELECT a.relation FROM activity_case a)),
		array(SELECT ROW(f.*)::tablespace_advisor.tablespace_fact FROM fact_case f),
		ROW('2026-01-01 00:00+00', seconds, NULL, NULL, true)::tablespace_advisor.counter_window,
		destination, budget_bytes)
$$;

-- the account
SELECT relation, reads_per_s AS reads, writes_per_s AS writes,
	cached_fraction AS cached, read_ms_per_s AS read_ms,
	round(saved_ms_per_s::numeric, 6) AS saved_ms,
	round(saved_percent::numeric, 6) AS saved_percent,
	action, rank, recommended_tablespace
FROM judge();
\x on
SELECT relation, statement, reason FROM judge();
\x off

-- greedy by saving per byte: b no longer fits in 200000, c does
SELECT relation, action, rank, saved_ms_per_s > 0 AS saves, reason
FROM judge(budget_bytes => 200000) WHERE relation::text <> 'placed_d';
-- a, b and c take 327680 bytes: one less is not enough for c
SELECT relation, rank FROM judge(budget_bytes => 327680) WHERE action = 'move';
SELECT relation, rank FROM judge(budget_bytes => 327679) WHERE action = 'move';
-- the file system's room counts like a budget
BEGIN;
UPDATE fact_case SET available_bytes = 100000 WHERE tablespace = 'regress_advise_fast';
SELECT relation, action, split_part(reason, ';', 1) AS reason FROM judge()
WHERE relation::text <> 'placed_d';
ROLLBACK;

-- of one index only: the percentages remain those of its table
SELECT relation, action, round(saved_percent::numeric, 6) AS saved_percent, rank
FROM judge(considered => '{placed_b}');
-- another destination: 4.8 ms a read, 0.53 * 96 %
SELECT relation, recommended_tablespace, round(saved_ms_per_s::numeric, 6) AS saved_ms,
	round(saved_percent::numeric, 6) AS saved_percent, statement
FROM judge('regress advise''s odd', considered => '{placed_a}');

-- half of a tenth of the reads: exactly 5 % moves, less does not
BEGIN;
DELETE FROM activity_case WHERE relation::text NOT IN ('placed', 'placed_a');
UPDATE fact_case SET random_read_us = 2500, random_read_low_us = 2500,
	random_read_high_us = 2500 WHERE tablespace = 'regress_advise_fast';
UPDATE activity_case SET blocks_read = CASE kind WHEN 'index' THEN 1000 ELSE 9000 END;
SELECT relation, action, saved_percent
FROM judge('regress_advise_fast', considered => '{placed_a}');
UPDATE activity_case SET blocks_read = CASE kind WHEN 'index' THEN 990 ELSE 9010 END;
SELECT relation, action, saved_percent, split_part(reason, ';', 1) AS reason
FROM judge('regress_advise_fast', considered => '{placed_a}');
ROLLBACK;

/*
 * 10 pages at 125 us take 1.25 ms to read, and as much again to write at
 * 125 us.  4.9 ms saved in 27 days are 1.27 ms a week, in 28 days 1.225 ms;
 * in 13 days 2.64 ms a week, in 14 days 2.45 ms.
 */
BEGIN;
DELETE FROM activity_case WHERE relation::text NOT IN ('placed', 'placed_a');
UPDATE activity_case SET blocks_read = CASE kind WHEN 'index' THEN 1 ELSE 0 END;
SELECT action, split_part(reason, ';', 1) AS reason
FROM judge(seconds => 27 * 86400, considered => '{placed_a}');
SELECT action, split_part(reason, ';', 1) AS reason
FROM judge(seconds => 28 * 86400, considered => '{placed_a}');
UPDATE fact_case SET sequential_write_page_us = 125 WHERE tablespace = 'regress_advise_fast';
SELECT action FROM judge(seconds => 13 * 86400, considered => '{placed_a}');
SELECT action FROM judge(seconds => 14 * 86400, considered => '{placed_a}');
ROLLBACK;

-- the verdicts: one changed fact each, about placed_a unless said otherwise
CREATE FUNCTION verdict(changed_fact text,
	activity jsonb DEFAULT '{}', source jsonb DEFAULT '{}', dest jsonb DEFAULT '{}',
	destination name DEFAULT 'regress_advise_fast', seconds float8 DEFAULT 1000)
RETURNS TABLE (fact text, action text, saved_ms float8, statement text, reason text)
LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		UPDATE activity_case a SET (tablespace, blocks_read, blocks_hit, scans,
				tuples_written, unusable, needed_for, duplicate_of, obstacle) =
			(SELECT p.tablespace, p.blocks_read, p.blocks_hit, p.scans,
				p.tuples_written, p.unusable, p.needed_for, p.duplicate_of, p.obstacle
			FROM jsonb_populate_record(
				ROW(a.*)::tablespace_advisor.relation_activity, activity) p)
		WHERE a.relation = 'placed_a'::regclass;
		UPDATE fact_case f SET (random_read_us, random_read_low_us, random_read_high_us,
				may_create, volatile, shares_device_with) =
			(SELECT p.random_read_us, p.random_read_low_us, p.random_read_high_us,
				p.may_create, p.volatile, p.shares_device_with
			FROM jsonb_populate_record(
				ROW(f.*)::tablespace_advisor.tablespace_fact,
				CASE f.tablespace WHEN 'regress_advise_slow' THEN source ELSE dest END) p)
		WHERE f.tablespace IN ('regress_advise_slow', 'regress_advise_fast');
		SELECT changed_fact, j.action, round(j.saved_ms_per_s::numeric, 3), j.statement, j.reason
		INTO fact, action, saved_ms, statement, reason
		FROM judge(destination, seconds => seconds, considered => '{placed_a}') j;
		RAISE EXCEPTION USING ERRCODE = 'ZZZZZ';		/* undo the changes */
	EXCEPTION WHEN SQLSTATE 'ZZZZZ' THEN
		RETURN NEXT;
	END;
END
$$;

\x on
SELECT * FROM verdict('none');
SELECT * FROM verdict('being built', '{"unusable": "being built"}');
SELECT * FROM verdict('invalid', '{"unusable": "invalid"}');
SELECT * FROM verdict('duplicate', '{"duplicate_of": "placed_b"}');
SELECT * FROM verdict('unused for 31 days', '{"scans": 0}', seconds => 31 * 86400);
SELECT * FROM verdict('unused for a second less', '{"scans": 0}', seconds => 31 * 86400 - 1);
SELECT * FROM verdict('unused but unique', '{"scans": 0, "needed_for": "uniqueness"}',
	seconds => 31 * 86400);
SELECT * FROM verdict('neither used nor written', '{"scans": 0, "tuples_written": 0}',
	seconds => 31 * 86400);
SELECT * FROM verdict('already there', '{"tablespace": "regress_advise_fast"}');
SELECT * FROM verdict('this tablespace not probed', source => '{"random_read_us": null}');
SELECT * FROM verdict('the other not probed', dest => '{"random_read_us": null}');
SELECT * FROM verdict('neither probed', '{"tablespace": "pg_default"}',
	dest => '{"random_read_us": null}');
SELECT * FROM verdict('the heap elsewhere, not probed', '{"tablespace": "regress advise''s odd"}',
	source => '{"random_read_us": null, "random_read_low_us": null}');
SELECT * FROM verdict('same device', source => '{"shares_device_with": ["pg_default", "regress_advise_fast"]}');
SELECT * FROM verdict('volatile', dest => '{"volatile": true}');
SELECT * FROM verdict('volatile, and never to be probed', dest => '{"volatile": true, "random_read_us": null}');
SELECT * FROM verdict('no privilege', dest => '{"may_create": false}');
SELECT * FROM verdict('unknown window', seconds => NULL);
SELECT * FROM verdict('all in shared buffers', '{"blocks_read": 0, "blocks_hit": 10}');
SELECT * FROM verdict('not read', '{"blocks_read": 0, "blocks_hit": 0}');
SELECT * FROM verdict('no faster', dest => '{"random_read_us": 5000, "random_read_high_us": 5050}');
SELECT * FROM verdict('intervals touch', source => '{"random_read_low_us": 102}');
SELECT * FROM verdict('intervals do not', source => '{"random_read_low_us": 102.5}');
SELECT * FROM verdict('obstacle', '{"obstacle": "it cannot be moved"}');
\x off

-- without a tablespace: the fastest that may be used and keeps its data
SELECT 'fastest' AS fact, recommended_tablespace FROM judge(considered => '{placed_a}');
BEGIN;
UPDATE fact_case SET may_create = false WHERE tablespace = 'regress_advise_fast';
SELECT 'no privilege' AS fact, recommended_tablespace FROM judge(considered => '{placed_a}');
ROLLBACK;
BEGIN;
UPDATE fact_case SET volatile = true WHERE tablespace = 'regress_advise_fast';
SELECT 'volatile' AS fact, recommended_tablespace FROM judge(considered => '{placed_a}');
ROLLBACK;
BEGIN;
UPDATE fact_case SET random_read_us = NULL WHERE tablespace <> 'regress_advise_slow';
SELECT action, saved_ms_per_s, reason FROM judge(considered => '{placed_a}');
UPDATE fact_case SET random_read_us = NULL;
SELECT action, saved_ms_per_s, reason FROM judge(considered => '{placed_a}');
ROLLBACK;

-- what the server timed itself is evidence, if it is on
SELECT tablespace_advisor.placement_evidence(ROW(a.*)::tablespace_advisor.relation_activity,
	ROW('2026-01-01 00:00+00', seconds, timed_read_us, standbys, was_reset)::tablespace_advisor.counter_window,
	5000, 80)
FROM (VALUES (119, NULL, NULL, true), (172799, 35.04, NULL, true),
	(172800, 2499, NULL, true), (172800, 2500, NULL, true), (7199, NULL, NULL, false),
	(NULL, NULL, NULL, true)) w (seconds, timed_read_us, standbys, was_reset), activity_case a
WHERE a.relation = 'placed_b'::regclass;
SELECT tablespace_advisor.placement_evidence(
	jsonb_populate_record(ROW(a.*)::tablespace_advisor.relation_activity, '{"scans": 0}'),
	ROW('2026-01-01 00:00+00', 4000000, NULL, 'alpha, beta', true)::tablespace_advisor.counter_window,
	5000, 80)
FROM activity_case a WHERE a.relation = 'placed_b'::regclass;

DROP FUNCTION verdict, judge;
DROP TABLE activity_case, fact_case, placed;

--
-- Part 2: the facts
--
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
CREATE INDEX roles_plain_include ON roles (plain) INCLUDE (ref);
CREATE INDEX roles_expr ON roles ((plain + 1));
CREATE INDEX roles_expr_twin ON roles ((plain + 1));
CREATE UNIQUE INDEX roles_unique ON roles (pair_a, pair_b);
CREATE UNIQUE INDEX roles_unique_nulls ON roles (pair_a, pair_b) NULLS NOT DISTINCT;
CREATE UNIQUE INDEX roles_unique_twin ON roles (pair_a, pair_b);
-- a failed concurrent build, and constraints without a log
CREATE UNLOGGED TABLE unlogged_roles (
	excluded int, deferred int UNIQUE DEFERRABLE, plain int UNIQUE,
	EXCLUDE USING btree (excluded WITH =));
INSERT INTO roles (id, pair_a, plain) VALUES (1, 1, 1), (2, 2, 2);
\set VERBOSITY terse
CREATE UNIQUE INDEX CONCURRENTLY roles_failed ON roles ((id / 10));
\set VERBOSITY default
SELECT relation, needed_for, unusable, duplicate_of, obstacle
FROM tablespace_advisor.relation_activity
WHERE table_relation IN ('roles'::regclass, 'unlogged_roles'::regclass,
	'referenced'::regclass) AND kind = 'index'
ORDER BY relation::text COLLATE "C";
DROP TABLE roles, unlogged_roles, referenced;

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
-- heap 20 + 3 + 5 + 1 + 1 + 6 = 36, index 20 + 3 + 1 = 24
SELECT relation, kind, tablespace, tuples_written,
	size_bytes = CASE kind WHEN 'heap' THEN pg_table_size('counted')
		ELSE pg_relation_size(relation) END AS size_is_right,
	toast_bytes > 10000 AS has_toast
FROM tablespace_advisor.relation_activity
WHERE table_relation = 'counted'::regclass ORDER BY relation::text COLLATE "C";
-- after a move no page is in shared buffers: a scan of all reads each once
ALTER INDEX counted_id SET TABLESPACE regress_advise_slow;
ALTER TABLE counted SET TABLESPACE regress_advise_fast;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*), sum(length(big)) FROM counted WHERE id > 0;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT pg_stat_force_next_flush();
SELECT a.relation, a.tablespace, a.scans > 0 AS scanned,
	a.blocks_read = io.blocks_read AND a.blocks_read > 0 AS reads_are_right,
	a.blocks_hit = io.blocks_hit AND a.blocks_hit > 0 AS hits_are_right
FROM tablespace_advisor.relation_activity a
JOIN (SELECT relid, heap_blks_read + toast_blks_read + tidx_blks_read,
			heap_blks_hit + toast_blks_hit + tidx_blks_hit
		FROM pg_statio_user_tables
	UNION ALL
	SELECT indexrelid, idx_blks_read, idx_blks_hit
		FROM pg_statio_user_indexes) io (relid, blocks_read, blocks_hit)
	ON io.relid = a.relation
WHERE a.relation IN ('counted'::regclass, 'counted_id'::regclass)
ORDER BY a.relation::text COLLATE "C";

-- since when
SELECT was_reset, since = stats_reset AS since_reset,
	abs(seconds - extract(epoch FROM clock_timestamp() - stats_reset)) < 60 AS age_is_right
FROM tablespace_advisor.counter_window, pg_stat_database
WHERE datname = current_database();

--
-- Part 3: the whole path
--
CREATE TABLE "Odd ""name""" (id int, v int) TABLESPACE regress_advise_slow;
CREATE INDEX "Odd ""name"" idx" ON "Odd ""name""" (id) TABLESPACE regress_advise_slow;
INSERT INTO "Odd ""name""" SELECT g, g FROM generate_series(1, 10000) g;
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
ALTER TABLE counted OWNER TO regress_advise_owner;
VACUUM "Odd ""name""";
ALTER INDEX "Odd ""name"" idx" SET TABLESPACE "regress advise's odd";
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM "Odd ""name""" WHERE id > 0;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT pg_stat_force_next_flush();

BEGIN;
DELETE FROM tablespace_advisor.probe_run;
INSERT INTO tablespace_advisor.probe_run
	(run_id, tablespace, location, mode, file_size_bytes, duration,
		started_at, finished_at)
	OVERRIDING SYSTEM VALUE
SELECT run_id, spcname, pg_tablespace_location(oid), 'scratch', 268435456,
	'3 s', now(), now()
FROM (VALUES (1001, 'regress_advise_slow'), (1002, 'regress_advise_fast'),
	(1003, 'regress advise''s odd')) probed (run_id, name)
JOIN pg_tablespace ON spcname = name;
INSERT INTO tablespace_advisor.probe_result
	(run_id, workload, queue_depth, io_size, samples, iops, mean_us, mean_low_us, mean_high_us)
VALUES (1001, 'random read', 1, 8192, 600, 200, 5000, 4900, 5100),
	(1001, 'sequential read', 1, 65536, 600, 1000, 1000, 1000, 1000),
	(1002, 'random read', 1, 8192, 600, 10000, 100, 98, 102),
	(1003, 'random read', 1, 8192, 600, 250, 4000, NULL, NULL);

-- from measurement to fact
SELECT tablespace, random_read_us, random_read_low_us, random_read_high_us,
	sequential_page_us, sequential_write_page_us, may_create
FROM tablespace_advisor.tablespace_facts('regress_advise_owner'::regrole)
WHERE tablespace ~ '^regress.advise' ORDER BY tablespace COLLATE "C";
-- CREATE of the caller or of the owner
SET LOCAL ROLE regress_advise_monitor;
SELECT tablespace, may_create
FROM tablespace_advisor.tablespace_facts('regress_advise_owner'::regrole)
WHERE tablespace ~ '^(regress.advise|pg_default)' ORDER BY tablespace COLLATE "C";
RESET ROLE;
GRANT CREATE ON TABLESPACE regress_advise_slow TO regress_advise_owner;
GRANT CREATE ON TABLESPACE regress_advise_fast TO regress_advise_monitor;
SET LOCAL ROLE regress_advise_monitor;
SELECT tablespace, may_create
FROM tablespace_advisor.tablespace_facts('regress_advise_owner'::regrole)
WHERE tablespace ~ '^(regress.advise|pg_default)' ORDER BY tablespace COLLATE "C";
RESET ROLE;

-- the devices as they are: what they are is not for a test to say
SET LOCAL ROLE regress_advise_monitor;
SELECT relation, kind FROM advise_index_placement('"Odd ""name"""', 'regress_advise_fast')
ORDER BY relation::text COLLATE "C";
RESET ROLE;

-- these tablespaces lie side by side on one device: pretend that they do not
CREATE OR REPLACE FUNCTION tablespace_advisor.tablespace_facts(table_owner oid)
RETURNS SETOF tablespace_advisor.tablespace_fact LANGUAGE sql
SET search_path = pg_catalog, pg_temp AS $$
	SELECT tablespace, random_read_us, random_read_low_us, random_read_high_us,
		sequential_page_us, sequential_write_page_us, true, false, '{}'::name[], 1000000000
	FROM tablespace_advisor.tablespace_latency
$$;
SELECT relation, kind, current_tablespace, recommended_tablespace, action,
	abs(saved_ms_per_s - reads_per_s * (4000 - 100) / 1000) < 1e-9 AS saving_is_right,
	abs(read_ms_per_s - reads_per_s * 4000 / 1000) < 1e-9 AS reading_is_right,
	rank, statement
FROM advise_index_placement('"Odd ""name"""') WHERE kind = 'index';
SELECT kind, current_tablespace, action, split_part(reason, ';', 1) AS reason
FROM advise_index_placement('"Odd ""name"""', 'regress_advise_slow', '1 GB')
WHERE kind = 'heap';
SELECT relation, action, reason ~ 'does not fit in what is left of the space budget \(8192 bytes\)' AS too_large
FROM advise_index_placement('"Odd ""name"" idx"', space_budget => '8 kB');
-- a rate is the counter by the window's length at the time of the call
SELECT seconds AS before FROM tablespace_advisor.counter_window \gset
SELECT reads_per_s FROM advise_index_placement('"Odd ""name"" idx"') \gset
SELECT seconds AS after FROM tablespace_advisor.counter_window \gset
SELECT idx_blks_read BETWEEN :reads_per_s * :before * (1 - 1e-9)
	AND :reads_per_s * :after * (1 + 1e-9) AS rate_is_right
FROM pg_statio_user_indexes WHERE indexrelname = 'Odd "name" idx';
-- every leaf of a partitioned table, and of a partitioned index
SELECT relation, kind, current_tablespace FROM advise_index_placement('parted')
ORDER BY relation::text COLLATE "C";
SELECT relation, kind, needed_for FROM advise_index_placement('parted_v')
JOIN tablespace_advisor.relation_activity USING (relation, kind)
ORDER BY relation::text COLLATE "C";
SELECT relation, kind FROM advise_index_placement('parted_2')
ORDER BY relation::text COLLATE "C";
SELECT relation, kind FROM advise_index_placement('matview')
ORDER BY relation::text COLLATE "C";
-- a member of pg_monitor that owns nothing
SET LOCAL ROLE regress_advise_monitor;
SELECT relation, action FROM advise_index_placement('"Odd ""name"""', 'regress_advise_fast')
WHERE kind = 'index';
ROLLBACK;

DROP TABLE "Odd ""name""", parted, counted;
DROP MATERIALIZED VIEW matview;
DROP ROLE regress_advise_monitor, regress_advise_owner;
DROP TABLESPACE regress_advise_slow;
DROP TABLESPACE regress_advise_fast;
DROP TABLESPACE "regress advise's odd";
