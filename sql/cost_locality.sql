-- measure_index_locality and plans by it: faked times of a slow disk
CREATE EXTENSION IF NOT EXISTS tablespace_advisor;
SET client_min_messages = warning;
SET random_page_cost = 4;
SET seq_page_cost = 1;
SET max_parallel_workers_per_gather = 0;
SET tablespace_advisor.cached_fraction = 0;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_locality LOCATION '';
CREATE ROLE regress_locality_owner;
CREATE ROLE regress_locality_monitor IN ROLE pg_monitor;
CREATE ROLE regress_locality_other;

-- the columns are a promise
SELECT unnest(string_to_array(pg_get_function_arguments(
	'measure_index_locality'::regproc), ', ')) AS arguments;

/*
 * 100 rows per page or so: lin is in order, des falls, blk is in shuffled
 * groups of 600, cyc visits 97 places in turn, one is the same everywhere.
 */
CREATE SCHEMA regress_locality;
CREATE TABLE regress_locality.t (lin int, des int, blk int, cyc int, one int, pad text)
	WITH (autovacuum_enabled = off) TABLESPACE regress_locality;
INSERT INTO regress_locality.t
SELECT i, -i, (i / 600 * 17 % 100) * 600 + i % 600, i % 97 * 619 + i / 97, 1,
	repeat('x', 40)
FROM generate_series(0, 59999) i;
-- all rows are in the sample of ANALYZE
ALTER TABLE regress_locality.t ALTER lin SET STATISTICS 1000;
CREATE INDEX t_lin ON regress_locality.t (lin);
CREATE INDEX t_des ON regress_locality.t (des);
CREATE INDEX t_blk ON regress_locality.t (blk);
CREATE INDEX t_cyc ON regress_locality.t (cyc);
CREATE INDEX t_one ON regress_locality.t (one);
CREATE INDEX t_hash ON regress_locality.t USING hash (lin);
VACUUM ANALYZE regress_locality.t;

\echo -- not probed: found, kept, without influence
SET client_min_messages = notice;
SELECT count(*), count(effective_correlation) AS effective
FROM measure_index_locality('regress_locality.t_lin');
SET client_min_messages = warning;

INSERT INTO tablespace_advisor.probe_run
	(run_id, tablespace, location, mode, file_size_bytes, duration, started_at,
		finished_at)
	OVERRIDING SYSTEM VALUE
SELECT 990001, spcname, pg_tablespace_location(oid), 'scratch', 268435456,
	'3 s', '2026-11-20 07:59+00', '2026-11-20 08:00+00'
FROM pg_tablespace WHERE spcname = 'regress_locality';
INSERT INTO tablespace_advisor.probe_result
	(run_id, workload, queue_depth, io_size, samples, iops, mean_us)
SELECT 990001, workload, depth, size, 600, 1e6 / us, us
FROM (VALUES ('random read', 1, 8192, 5000), ('random read', 16, 8192, 5000),
	('sequential read', 2, 131072, 1600), ('skip read', 1, 8192, 3000),
	('adjacent read', 0, 8192, 100), ('adjacent read', 1, 8192, 300),
	('cached read', 1, 8192, 2)) v (workload, depth, size, us);
SELECT sequential_page_us, random_read_us, skip_read_us, cached_read_us,
	adjacent_0_us, adjacent_1_us, depth
FROM tablespace_advisor.read_times WHERE tablespace = 'regress_locality';

\echo -- what windows of 4096 entries lead to
SELECT index, entries, round(heap_blocks) AS blocks,
	round(sequential_steps) AS seq, round(skip_steps) AS skip,
	round(random_steps) AS random, round(backward_steps) AS back,
	round(adjacent_gaps) AS adjacent, round(skip_gaps) AS skips,
	round(far_gaps) AS far, windows,
	round(correlation::numeric, 1) AS correlation,
	round(effective_correlation::numeric, 1) AS effective
FROM measure_index_locality('regress_locality.t') WHERE window_entries = 4096
ORDER BY index::text COLLATE "C";
-- counts add up, windows of every size, the whole index last
SELECT index, string_agg(window_entries::text, ' ' ORDER BY window_entries),
	bool_and(abs(sequential_steps + skip_steps + random_steps - heap_blocks) < 1e-3
		AND abs(adjacent_gaps + skip_gaps + far_gaps - heap_blocks) < 1e-3
		AND backward_steps + backward_skip_steps <= random_steps) AS adds_up
FROM measure_index_locality('regress_locality.t_blk') GROUP BY 1;

\echo -- off: nothing changes; on: the plan that the disk likes
CREATE FUNCTION pg_temp.plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
		RETURN NEXT line;
	END LOOP;
END $$;
CREATE FUNCTION pg_temp.cost(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
SET effective_io_concurrency = 0;
\set descending 'SELECT * FROM regress_locality.t WHERE des < -50000'
\set groups 'SELECT * FROM regress_locality.t WHERE blk < 2400'
SELECT pg_temp.plan(:'descending');
SELECT pg_temp.plan(:'groups');
SET tablespace_advisor.correct_locality = on;
SELECT pg_temp.plan(:'descending');
SELECT pg_temp.plan(:'groups');
-- backwards in the index is forwards in the table
SELECT pg_temp.plan(:'descending' || ' ORDER BY des DESC');
-- an index scan costs what its steps take: blocks of 800 us of 100 us each
SELECT pg_temp.cost('SELECT * FROM regress_locality.t WHERE cyc < 619')
	> 2 * pg_temp.cost('SELECT * FROM regress_locality.t WHERE lin < 619') AS dearer;
\echo -- what caches hold is looked at when a locality is measured
\set spread 'SELECT * FROM regress_locality.t WHERE cyc < 2400'
SELECT pg_temp.plan(:'spread') ~ 'Seq Scan' AS cold LIMIT 1;
SET tablespace_advisor.cached_fraction = 1;
SELECT pg_temp.plan(:'spread') ~ 'Seq Scan' AS cold LIMIT 1;
SET tablespace_advisor.cached_fraction = -1;
SELECT pg_temp.plan(:'spread') ~ 'Seq Scan' AS cold LIMIT 1;
SELECT shared_fraction + system_fraction > 0.9 AS cached, shared_fraction > 0 AS shared
FROM tablespace_advisor.table_residency
WHERE relation = 'regress_locality.t'::regclass;
-- and by every sample
UPDATE tablespace_advisor.table_residency
SET shared_fraction = 0, system_fraction = 0, measured_at = now() - interval '2 hours';
INSERT INTO tablespace_advisor.table_residency VALUES (0, 0, 0, now());
CALL sample_activity();
SELECT relation::regclass, shared_fraction + system_fraction > 0.9 AS cached,
	measured_at > now() - interval '1 hour' AS just_now
FROM tablespace_advisor.table_residency;
-- plans are renewed, and a residency of more than an hour ago counts no more
PREPARE spread AS SELECT * FROM regress_locality.t WHERE cyc < 2400;
EXPLAIN (COSTS off) EXECUTE spread \g /dev/null
UPDATE tablespace_advisor.table_residency SET measured_at = now() - interval '61 minutes';
SELECT count(tablespace_advisor.renew_plans(relation)) FROM tablespace_advisor.table_residency;
SELECT pg_temp.plan('EXECUTE spread') ~ 'Seq Scan' AS cold LIMIT 1;
UPDATE tablespace_advisor.table_residency SET measured_at = now();
SELECT count(tablespace_advisor.renew_plans(relation)) FROM tablespace_advisor.table_residency;
SELECT pg_temp.plan('EXECUTE spread') ~ 'Seq Scan' AS cold LIMIT 1;
-- nor does one that makes no sense, or that nobody knows
UPDATE tablespace_advisor.table_residency SET system_fraction = 'NaN';
SELECT count(tablespace_advisor.renew_plans(relation)) FROM tablespace_advisor.table_residency;
SELECT pg_temp.plan('EXECUTE spread') ~ 'Seq Scan' AS cold LIMIT 1;
DELETE FROM tablespace_advisor.table_residency;
SELECT tablespace_advisor.renew_plans('regress_locality.t'::regclass), tablespace_advisor.renew_plans(0);
SELECT pg_temp.plan(:'spread') ~ 'Seq Scan' AS cold LIMIT 1;
DEALLOCATE spread;
SET tablespace_advisor.cached_fraction = 0;

\echo -- results are the same: AND, OR, lists, joins, partial indexes
CREATE INDEX t_part ON regress_locality.t (lin) WHERE blk < 30000;
SELECT count(*) FROM measure_index_locality('regress_locality.t_part') WHERE windows = 1;
CREATE TABLE regress_locality.answer (n int, off bigint, on_ bigint);
DO $$
DECLARE
	conditions text[] := ARRAY[
		'blk < 9000 AND des < -30000', 'blk < 900 OR cyc < 500',
		'(blk < 900 AND lin > 100) OR (cyc < 500 AND lin < 20000)',
		'lin IN (5, 700, 30000, 59000)', 'lin < 3000 AND blk < 30000',
		'(lin < 3000 AND blk < 30000) OR (lin < 5000 AND cyc < 90)',
		'lin = ANY (ARRAY(SELECT cyc FROM regress_locality.t WHERE blk < 50))',
		'cyc IN (SELECT blk FROM regress_locality.t WHERE des < -59900)'];
	seqscan text;
	i int;
BEGIN
	FOR i IN 1 .. cardinality(conditions) LOOP
		INSERT INTO regress_locality.answer (n) VALUES (i);
		FOREACH seqscan IN ARRAY ARRAY['on', 'off'] LOOP
			PERFORM set_config('enable_seqscan', seqscan, true),
				set_config('tablespace_advisor.correct_locality', 'off', true);
			EXECUTE format('UPDATE regress_locality.answer SET off = (SELECT sum(lin) FROM regress_locality.t WHERE %s) WHERE n = %s',
				conditions[i], i);
			PERFORM set_config('tablespace_advisor.correct_locality', 'on', true);
			EXECUTE format('UPDATE regress_locality.answer SET on_ = (SELECT sum(lin) FROM regress_locality.t WHERE %s) WHERE n = %s',
				conditions[i], i);
			IF EXISTS (SELECT FROM regress_locality.answer
					WHERE off IS DISTINCT FROM on_) THEN
				RAISE EXCEPTION 'another answer to %', conditions[i];
			END IF;
		END LOOP;
	END LOOP;
END $$;
SELECT count(*), count(off) FROM regress_locality.answer;

\echo -- an index that was not measured is planned as ever
CREATE INDEX t_new ON regress_locality.t (one, lin);
CREATE FUNCTION pg_temp.whole_plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan;
END $$;
SET enable_seqscan = off;
SET tablespace_advisor.correct_locality = off;
CREATE TABLE regress_locality.plans AS
SELECT n, pg_temp.whole_plan(format('SELECT * FROM regress_locality.t WHERE one = 1 AND lin < %s', n)) AS plan
FROM (VALUES (10), (5000), (50000)) v (n);
DROP INDEX regress_locality.t_lin, regress_locality.t_part, regress_locality.t_one;
UPDATE regress_locality.plans SET plan =
	pg_temp.whole_plan(format('SELECT * FROM regress_locality.t WHERE one = 1 AND lin < %s', n));
SET tablespace_advisor.correct_locality = on;
SELECT n, plan = pg_temp.whole_plan(format('SELECT * FROM regress_locality.t WHERE one = 1 AND lin < %s', n)) AS same
FROM regress_locality.plans ORDER BY n;
RESET enable_seqscan;

\echo -- prepared: measured or switched on, the generic plan is made anew
SET plan_cache_mode = force_generic_plan;
SET tablespace_advisor.correct_locality = off;
PREPARE falling AS SELECT * FROM regress_locality.t WHERE des < -50000;
EXPLAIN (COSTS off) EXECUTE falling;
SET tablespace_advisor.correct_locality = on;
EXPLAIN (COSTS off) EXECUTE falling;

\echo -- void once the files are others or have grown
REINDEX INDEX regress_locality.t_des;
EXPLAIN (COSTS off) EXECUTE falling;
SELECT count(*) > 0 AS again FROM measure_index_locality('regress_locality.t_des');
EXPLAIN (COSTS off) EXECUTE falling;
INSERT INTO regress_locality.t (lin, pad) SELECT 1, repeat('x', 40) FROM generate_series(1, 20000);
VACUUM ANALYZE regress_locality.t;
EXPLAIN (COSTS off) EXECUTE falling;
DEALLOCATE falling;
RESET plan_cache_mode;

\echo -- stale once ANALYZE finds another order: earlier tests changed sizes or files, too
SET effective_io_concurrency = 0;
CREATE TABLE regress_locality.churn (lin int, pad text)
	WITH (autovacuum_enabled = off) TABLESPACE regress_locality;
INSERT INTO regress_locality.churn SELECT -i, repeat('x', 40) FROM generate_series(0, 59999) i;
ALTER TABLE regress_locality.churn ALTER lin SET STATISTICS 1000;
CREATE INDEX churn_i ON regress_locality.churn (lin);
VACUUM ANALYZE regress_locality.churn;
SELECT round(correlation::numeric, 1) AS correlation
FROM measure_index_locality('regress_locality.churn') WHERE windows = 1;
CREATE TEMP TABLE before AS SELECT oid, relfilenode, pg_relation_size(oid) AS size
FROM pg_class WHERE oid IN ('regress_locality.churn'::regclass, 'regress_locality.churn_i'::regclass);
CREATE FUNCTION pg_temp.same_plan(query text, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
	plan text;
BEGIN
	SET LOCAL tablespace_advisor.correct_locality = off;
	plan := pg_temp.whole_plan(query);
	SET LOCAL tablespace_advisor.correct_locality = on;
	same := plan = pg_temp.whole_plan(query);
END $$;
\set some 'SELECT * FROM regress_locality.churn WHERE lin < -54000'
SELECT pg_temp.same_plan(:'some');
-- nine of ten rows change places; no page gets empty, so sizes stay
SET track_counts = off;
DELETE FROM regress_locality.churn WHERE lin % 10 <> 0;
VACUUM regress_locality.churn;
INSERT INTO regress_locality.churn
SELECT -k, repeat('x', 40) FROM generate_series(0, 59999) i, LATERAL (SELECT i * 7919 % 60000) v (k)
WHERE k % 10 <> 0;
RESET track_counts;
SELECT pg_temp.same_plan(:'some') AS same_before_analyze;
VACUUM ANALYZE regress_locality.churn;
SELECT bool_and(c.relfilenode = b.relfilenode
	AND pg_relation_size(c.oid) BETWEEN b.size / 1.1 AND b.size * 1.1) AS as_before
FROM before b JOIN pg_class c USING (oid);
SELECT n, pg_temp.same_plan(format('SELECT * FROM regress_locality.churn WHERE lin > -%s', n))
FROM unnest(ARRAY[2, 10, 100, 1000, 10000, 50000]) n ORDER BY n;
SELECT pg_temp.same_plan(:'some');
SELECT index::regclass, fault FROM tablespace_advisor.void_locality
WHERE relation = 'regress_locality.churn'::regclass;
SELECT ok, message ~ 'not\s+used.*;\s+first\s+\S+\s+\((rewritten|grown|reordered|replaced)\)' AS said,
	statement ~ '^SELECT \* FROM .*measure_index_locality' AS mended
FROM tablespace_advisor_health() WHERE subject = 'localities';
-- measured again it counts
SELECT round(correlation::numeric, 1) AS correlation
FROM measure_index_locality('regress_locality.churn') WHERE windows = 1;
SELECT pg_temp.same_plan(:'some');
SELECT count(*) FROM tablespace_advisor.void_locality
WHERE relation = 'regress_locality.churn'::regclass;
-- other faults
BEGIN;
INSERT INTO regress_locality.churn SELECT i, repeat('x', 40) FROM generate_series(1, 20000) i;
SELECT fault FROM tablespace_advisor.void_locality WHERE index = 'regress_locality.churn_i'::regclass;
ROLLBACK;
REINDEX INDEX regress_locality.churn_i;
SELECT fault FROM tablespace_advisor.void_locality WHERE index = 'regress_locality.churn_i'::regclass;
SELECT count(*) > 0 AS measured FROM measure_index_locality('regress_locality.churn_i');
DROP TABLE before;

\echo -- groups become disorder, which correlation does not tell: above rows lay in order at first
CREATE TABLE regress_locality.replaced (k int, pad text)
	WITH (autovacuum_enabled = off) TABLESPACE regress_locality;
INSERT INTO regress_locality.replaced SELECT g * 37 % 100 * 600 + i, repeat('x', 40)
FROM generate_series(0, 99) g, generate_series(0, 599) i;
ALTER TABLE regress_locality.replaced ALTER k SET STATISTICS 1000;
CREATE INDEX replaced_k ON regress_locality.replaced (k);
VACUUM ANALYZE regress_locality.replaced;
SELECT abs(correlation) < 0.05 AS no_order
FROM measure_index_locality('regress_locality.replaced') WHERE windows = 1;
\set some 'SELECT * FROM regress_locality.replaced WHERE k BETWEEN 20000 AND 20500'
SELECT pg_temp.same_plan(:'some');
-- a sixth of the rows, and as many HOT updates as one likes
DELETE FROM regress_locality.replaced WHERE k % 6 = 0;
SELECT pg_stat_force_next_flush();
VACUUM ANALYZE regress_locality.replaced;
UPDATE regress_locality.replaced SET pad = upper(pad) WHERE k % 12 = 1;
VACUUM ANALYZE regress_locality.replaced;
SELECT pg_stat_force_next_flush();
SELECT pg_temp.same_plan(:'some');
DELETE FROM regress_locality.replaced WHERE k % 10 <> 0;
SELECT pg_stat_force_next_flush();
VACUUM regress_locality.replaced;
INSERT INTO regress_locality.replaced
SELECT k, repeat('x', 40) FROM generate_series(0, 59999) i, LATERAL (SELECT i * 7919 % 60000) v (k)
WHERE k % 10 <> 0;
VACUUM ANALYZE regress_locality.replaced;
SELECT pg_temp.same_plan(:'some');
SELECT index::regclass, fault FROM tablespace_advisor.void_locality
WHERE relation = 'regress_locality.replaced'::regclass;
SELECT abs(correlation) < 0.05 AS no_order
FROM measure_index_locality('regress_locality.replaced') WHERE windows = 1;
SELECT pg_temp.same_plan(:'some');
SELECT count(*) FROM tablespace_advisor.void_locality
WHERE relation = 'regress_locality.replaced'::regclass;
-- what was measured by 1.0 has no count; one that was reset begins at 0
UPDATE tablespace_advisor.index_locality SET replaced_rows = 0
WHERE index = 'regress_locality.replaced_k'::regclass;
SELECT fault FROM tablespace_advisor.void_locality WHERE index = 'regress_locality.replaced_k'::regclass;
UPDATE tablespace_advisor.index_locality SET replaced_rows = NULL
WHERE index = 'regress_locality.replaced_k'::regclass;
SELECT fault FROM tablespace_advisor.void_locality WHERE index = 'regress_locality.replaced_k'::regclass;
UPDATE tablespace_advisor.index_locality SET replaced_rows = 1e9
WHERE index = 'regress_locality.replaced_k'::regclass;
SELECT fault FROM tablespace_advisor.void_locality WHERE index = 'regress_locality.replaced_k'::regclass;
DROP TABLE regress_locality.replaced;

\echo -- partitions
CREATE TABLE regress_locality.p (k int, pad text) PARTITION BY RANGE (k)
	TABLESPACE regress_locality;
CREATE TABLE regress_locality.p1 PARTITION OF regress_locality.p FOR VALUES FROM (0) TO (20000) TABLESPACE regress_locality;
CREATE TABLE regress_locality.p2 PARTITION OF regress_locality.p FOR VALUES FROM (20000) TO (40000) TABLESPACE regress_locality;
INSERT INTO regress_locality.p SELECT 39999 - i, repeat('x', 40) FROM generate_series(0, 39999) i;
CREATE INDEX ON regress_locality.p (k);
VACUUM ANALYZE regress_locality.p;
SELECT index, count(*) FROM measure_index_locality('regress_locality.p') GROUP BY 1 ORDER BY index::text COLLATE "C";
SELECT count(DISTINCT index) FROM measure_index_locality('regress_locality.p_k_idx');
EXPLAIN (COSTS off) SELECT * FROM regress_locality.p WHERE k BETWEEN 18000 AND 22000;

\echo -- who may, and on what
GRANT USAGE ON SCHEMA regress_locality TO PUBLIC;
CREATE TABLE regress_locality.mine (i int);
ALTER TABLE regress_locality.mine OWNER TO regress_locality_owner;
INSERT INTO regress_locality.mine SELECT generate_series(1, 10);
CREATE INDEX mine_i ON regress_locality.mine (i);
SET ROLE regress_locality_owner;
SELECT count(*) FROM measure_index_locality('regress_locality.mine');
\set VERBOSITY sqlstate
SELECT count(*) FROM measure_index_locality('regress_locality.t');
SELECT count(*) FROM tablespace_advisor.index_locality;
SET ROLE regress_locality_other;
SELECT count(*) FROM measure_index_locality('regress_locality.mine');
SELECT count(*) FROM measure_index_locality('regress_locality.mine_i');
SET ROLE regress_locality_monitor;
SELECT count(*) > 0 AS monitor FROM measure_index_locality('regress_locality.mine');
DELETE FROM tablespace_advisor.index_locality;
RESET ROLE;
SELECT measure_index_locality(NULL);
SELECT measure_index_locality(0);
CREATE SEQUENCE regress_locality.s;
SELECT measure_index_locality('regress_locality.s');
SET tablespace_advisor.cached_fraction = 1.5;
\set VERBOSITY terse
-- nothing to look at
SET client_min_messages = notice;
SELECT * FROM measure_index_locality('regress_locality.t_hash');
TRUNCATE regress_locality.mine;
SELECT * FROM measure_index_locality('regress_locality.mine');
-- a read-only transaction keeps nothing
BEGIN READ ONLY;
SELECT count(*) > 0 AS looked FROM measure_index_locality('regress_locality.t_cyc');
COMMIT;
SET client_min_messages = warning;
-- rows of indexes that are gone go with the next measurement
SELECT count(*) > 0 AS looked FROM measure_index_locality('regress_locality.t_cyc');
SELECT count(*) FROM tablespace_advisor.index_locality l
WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = l.index);

DROP SCHEMA regress_locality CASCADE;
DELETE FROM tablespace_advisor.index_locality;
DELETE FROM tablespace_advisor.table_residency;
DELETE FROM tablespace_advisor.probe_run WHERE run_id = 990001;
DROP TABLESPACE regress_locality;
DROP ROLE regress_locality_owner, regress_locality_monitor, regress_locality_other;
