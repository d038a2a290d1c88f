-- move_table_concurrently, and what it leaves in the journal
SET allow_in_place_tablespaces = on;
SET client_min_messages = notice;
CREATE TABLESPACE regress_table_a LOCATION '';
CREATE TABLESPACE regress_table_b LOCATION '';
CREATE ROLE regress_table_owner NOLOGIN;
CREATE ROLE regress_table_member NOLOGIN IN ROLE regress_table_owner;
CREATE ROLE regress_table_other NOLOGIN;
GRANT CREATE ON TABLESPACE regress_table_a, regress_table_b TO regress_table_owner;
CREATE SCHEMA regress_table AUTHORIZATION regress_table_owner;
-- where everything is; a TOAST table and its index under their table's name
CREATE VIEW places AS
SELECT coalesce(h.relname || CASE c.relkind WHEN 't' THEN ' (toast)' ELSE ' (toast index)' END,
		c.relname) AS relation,
	coalesce(s.spcname, '(default)') AS tablespace
FROM pg_class c
	LEFT JOIN pg_index x ON x.indexrelid = c.oid
	LEFT JOIN pg_class h ON h.reltoastrelid IN (c.oid, x.indrelid) AND h.reltoastrelid <> 0
	LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
WHERE coalesce(h.relnamespace, c.relnamespace) = 'regress_table'::regnamespace;
GRANT SELECT ON places TO PUBLIC;
GRANT USAGE ON SCHEMA regress_table TO regress_table_other;
CREATE PROCEDURE public.wait_until(condition text) LANGUAGE plpgsql AS $$
DECLARE
	fulfilled boolean;
BEGIN
	FOR i IN 1 .. 6000 LOOP
		EXECUTE condition INTO fulfilled;
		IF fulfilled THEN
			RETURN;
		END IF;
		COMMIT;
		PERFORM pg_sleep(0.01);
	END LOOP;
	RAISE 'waited in vain';
END
$$;
SET ROLE regress_table_owner;
SET search_path = regress_table, public;

CREATE TABLE docs (id int PRIMARY KEY, kind int, body text);
ALTER TABLE docs ALTER body SET STORAGE EXTERNAL;
CREATE INDEX docs_kind ON docs (kind);
CREATE INDEX "Docs ""hash""" ON docs USING hash (kind);

-- what would be done; nothing is
DO $$ DECLARE ids bigint[];
BEGIN
	CALL move_table_concurrently('docs', 'regress_table_a', dry_run => true, job_ids => ids);
	RAISE NOTICE '%', ids;
END $$;
CALL move_table_concurrently('docs', 'regress_table_a', with_indexes => true, method => 'copy', dry_run => true);
SELECT count(*) FROM tablespace_moves;

-- the table with TOAST, without indexes
INSERT INTO docs SELECT i, i % 10, repeat(i::text, 1000) FROM generate_series(1, 500) i;
CALL move_table_concurrently('docs', 'regress_table_a') \gset
SELECT * FROM places WHERE relation ~ '^[dD]ocs' ORDER BY relation COLLATE "C";
SELECT relation, relation_name, from_tablespace, to_tablespace, method, state,
	phase, bytes_done = bytes_total AS all_bytes,
	bytes_total >= pg_relation_size('docs') + pg_relation_size(
		(SELECT reltoastrelid FROM pg_class WHERE oid = 'docs'::regclass))
		AS toast_counted, percent,
	lock_ms > 0 AS has_lock_ms, lock_wait_ms > 0 AS has_lock_wait_ms, blocked_by, error, with_indexes,
	coalesce(forecast_saved_ms_per_s, 0) AS forecast
FROM tablespace_moves WHERE job_id = ANY (:'job_ids');
SELECT count(*), sum(length(body)) FROM docs;
UPDATE docs SET body = repeat('x', 5000) WHERE id = 7;
SET enable_seqscan = off;
SELECT length(body) FROM docs WHERE id = 7;
RESET enable_seqscan;

-- again: nothing left to do but the indexes
CALL move_table_concurrently('docs', 'regress_table_a');
CALL move_table_concurrently('docs', 'regress_table_a', with_indexes => true) \gset
SELECT relation, method, state, with_indexes FROM tablespace_moves
WHERE job_id = ANY (:'job_ids') ORDER BY relation::text COLLATE "C";
SELECT * FROM places WHERE relation ~ '^[dD]ocs' ORDER BY relation COLLATE "C";

-- all in one cutover, and back again
CALL move_indexes_concurrently('docs_kind', 'regress_table_b') \gset
CALL move_table_concurrently('docs', 'regress_table_b', true) \gset
SELECT (:'job_ids'::bigint[])[1] AS job \gset
SELECT relation, method, state, with_indexes FROM tablespace_moves WHERE job_id = ANY (:'job_ids');
SELECT * FROM places WHERE relation ~ '^[dD]ocs' ORDER BY relation COLLATE "C";
\set VERBOSITY sqlstate
SELECT retry_move(:job);
\set VERBOSITY default
SELECT undo_move(:job) AS back \gset
CALL wait_until('SELECT NOT EXISTS (SELECT FROM tablespace_moves WHERE finished_at IS NULL)');
SELECT relation, method, state, with_indexes FROM tablespace_moves WHERE job_id >= :back ORDER BY job_id;
SELECT * FROM places WHERE relation ~ '^[dD]ocs' ORDER BY relation COLLATE "C";
\set VERBOSITY sqlstate
SELECT undo_move(:job);
\set VERBOSITY default

-- what moved along goes back to where it was, by a job of its own if that is
-- elsewhere; what has been moved since, or is gone, stays
CALL move_indexes_concurrently('docs_pkey', 'pg_default') \gset
CALL move_table_concurrently('docs', 'pg_default', true) \gset
CALL move_table_concurrently('docs', 'regress_table_b', true) \gset
SELECT (:'job_ids'::bigint[])[1] AS job \gset
CALL move_indexes_concurrently('docs_pkey', 'regress_table_a') \gset
DROP INDEX "Docs ""hash""";
CREATE INDEX docs_new ON docs (id, kind);
SELECT relation, with_indexes FROM tablespace_moves WHERE job_id = :job;
SELECT undo_move(:job) AS back \gset
CALL wait_until('SELECT NOT EXISTS (SELECT FROM tablespace_moves WHERE finished_at IS NULL)');
SELECT relation, method, state, with_indexes FROM tablespace_moves WHERE job_id >= :back ORDER BY job_id;
SELECT * FROM places WHERE relation ~ '^[dD]ocs' ORDER BY relation COLLATE "C";
CREATE TABLE parts (a int, b int);
CREATE INDEX parts_a ON parts (a) TABLESPACE regress_table_a;
CREATE INDEX parts_b ON parts (b);
-- on a slow machine there is progress
SET client_min_messages = warning;
CALL move_table_concurrently('parts', 'regress_table_b', true) \gset
SET client_min_messages = notice;
SELECT undo_move((:'job_ids'::bigint[])[1]) AS back \gset
CALL wait_until('SELECT NOT EXISTS (SELECT FROM tablespace_moves WHERE finished_at IS NULL)');
SELECT relation, to_tablespace, method, state, with_indexes FROM tablespace_moves WHERE job_id >= :back ORDER BY job_id;
SELECT * FROM places WHERE relation ~ '^parts' ORDER BY relation COLLATE "C";

-- pause, cancel, retry: the job keeps its indexes
BEGIN;
CALL move_table_concurrently('parts', 'regress_table_b', dry_run => true);
SELECT undo_move(:back) AS job \gset
SELECT pause_move(:job);
SELECT cancel_move(:job);
COMMIT;
CALL wait_until('SELECT NOT EXISTS (SELECT FROM tablespace_moves WHERE finished_at IS NULL)');
SELECT state, with_indexes FROM tablespace_moves WHERE job_id = :job;
SELECT retry_move(:job) AS again \gset
CALL wait_until('SELECT NOT EXISTS (SELECT FROM tablespace_moves WHERE finished_at IS NULL)');
SELECT relation, state, with_indexes FROM tablespace_moves WHERE job_id >= :again ORDER BY job_id;
SELECT * FROM places WHERE relation ~ '^parts' ORDER BY relation COLLATE "C";

-- a partitioned table: new partitions follow
CREATE TABLE parted (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (100) TO (200) PARTITION BY RANGE (id);
CREATE TABLE parted_21 PARTITION OF parted_2 FOR VALUES FROM (100) TO (150) TABLESPACE regress_table_b;
INSERT INTO parted SELECT i, i FROM generate_series(0, 149) i;
CALL move_table_concurrently('parted', 'regress_table_b', with_indexes => true, dry_run => true);
-- with ten thousand partitions, a lock on each would leave others none
BEGIN;
SET LOCAL client_min_messages = warning;
CALL move_table_concurrently('parted', 'regress_table_b', true, dry_run => true) \gset
SELECT count(*) AS locked FROM pg_locks
WHERE pid = pg_backend_pid() AND relation::regclass::text ~ '^parted_';
COMMIT;
CALL move_table_concurrently('parted', 'regress_table_b') \gset
SELECT relation, method, state, with_indexes FROM tablespace_moves
WHERE job_id = ANY (:'job_ids') ORDER BY job_id;
CREATE TABLE parted_22 PARTITION OF parted_2 FOR VALUES FROM (150) TO (200);
SELECT * FROM places WHERE relation ~ '^parted' ORDER BY relation COLLATE "C";
SET client_min_messages = warning;
CALL move_table_concurrently('parted', 'regress_table_a', true) \gset
SET client_min_messages = notice;
SELECT relation, method, state, with_indexes FROM tablespace_moves
WHERE job_id = ANY (:'job_ids') ORDER BY job_id;
SELECT * FROM places WHERE relation ~ '^parted' ORDER BY relation COLLATE "C";
SELECT count(*), sum(id) FROM parted;
-- of a partitioned table its own entry
SELECT job_id AS job FROM tablespace_moves
WHERE job_id = ANY (:'job_ids') AND relation = 'parted'::regclass \gset
SELECT undo_move(:job) AS back \gset
CALL wait_until('SELECT NOT EXISTS (SELECT FROM tablespace_moves WHERE finished_at IS NULL)');
SELECT relation, method, state FROM tablespace_moves WHERE job_id >= :back;
SELECT * FROM places WHERE relation IN ('parted', 'parted_1') ORDER BY relation COLLATE "C";

-- of a partitioned index too, so that all jobs of a call can be undone at once;
-- what came from elsewhere goes back there
CREATE TABLE undone (id int PRIMARY KEY) PARTITION BY LIST (id);
CREATE TABLE undone_1 PARTITION OF undone FOR VALUES IN (1);
ALTER INDEX undone_1_pkey SET TABLESPACE regress_table_b;
SET client_min_messages = warning;
CALL move_table_concurrently('undone', 'regress_table_a', true) \gset
SET client_min_messages = notice;
SELECT count(undo_move(job)) FROM unnest(:'job_ids'::bigint[]) job;
CALL wait_until('SELECT NOT EXISTS (SELECT FROM tablespace_moves WHERE finished_at IS NULL)');
SELECT * FROM places WHERE relation ~ '^undone' ORDER BY relation COLLATE "C";
DROP TABLE undone;

-- of a tablespace that has been dropped since the name is told, no OID; an index
-- that came from it stays (no test dropped a tablespace between move and undo)
RESET ROLE;
CREATE TABLESPACE regress_table_c LOCATION '';
CREATE TABLE left_c (id int) TABLESPACE regress_table_c;
CREATE TABLE index_left_c (id int);
CREATE INDEX index_left_c_id ON index_left_c (id) TABLESPACE regress_table_c;
SET client_min_messages = warning;
CALL move_table_concurrently('left_c', 'regress_table_a') \gset
SELECT (:'job_ids'::bigint[])[1] AS left_job \gset
CALL move_table_concurrently('index_left_c', 'regress_table_a', true) \gset
DROP TABLESPACE regress_table_c;
SET client_min_messages = notice;
\set VERBOSITY terse
SELECT undo_move(:left_job);
\echo :LAST_ERROR_SQLSTATE
SELECT undo_move((:'job_ids'::bigint[])[1]) AS back \gset
\set VERBOSITY default
CALL wait_until('SELECT NOT EXISTS (SELECT FROM tablespace_moves WHERE finished_at IS NULL)');
SELECT relation, with_indexes, state FROM tablespace_moves WHERE job_id = :back;
SELECT * FROM places WHERE relation ~ 'left_c' ORDER BY relation COLLATE "C";

-- a foreign partition has nothing to move
CREATE FOREIGN DATA WRAPPER regress_table_wrapper;
CREATE SERVER regress_table_server FOREIGN DATA WRAPPER regress_table_wrapper;
CREATE TABLE mixed (id int) PARTITION BY LIST (id);
CREATE FOREIGN TABLE mixed_1 PARTITION OF mixed FOR VALUES IN (1) SERVER regress_table_server;
CREATE TABLE mixed_2 PARTITION OF mixed FOR VALUES IN (2);
CALL move_table_concurrently('mixed', 'regress_table_a', dry_run => true);
SET ROLE regress_table_owner;

-- a materialized view; an empty table; an index that only a rebuild can move
CREATE MATERIALIZED VIEW matview AS SELECT id FROM docs WHERE id < 10;
CREATE INDEX matview_id ON matview (id);
VACUUM matview; -- its visibility map exists in some versions only before
CALL move_table_concurrently('matview', 'regress_table_a', true, dry_run => true);
SET client_min_messages = warning;
CALL move_table_concurrently('matview', 'regress_table_a', true) \gset
SET client_min_messages = notice;
REFRESH MATERIALIZED VIEW matview;
CREATE TABLE bare (a int);
SET client_min_messages = warning;
CALL move_table_concurrently('bare', 'regress_table_a', true) \gset
SET client_min_messages = notice;
SELECT * FROM places WHERE relation IN ('matview', 'matview_id', 'bare') ORDER BY relation COLLATE "C";
RESET ROLE;
CREATE TABLE broken (a int);
INSERT INTO broken VALUES (1), (1);
CREATE UNIQUE INDEX CONCURRENTLY broken_a ON broken (a);
-- (the server's assertions have the other handlers be called for their own method only)
CREATE ACCESS METHOD regress_table_am TYPE INDEX HANDLER gisthandler;
CREATE OPERATOR CLASS regress_table_ops DEFAULT FOR TYPE point USING regress_table_am AS
	STORAGE box,
	FUNCTION 1 gist_point_consistent(internal, point, smallint, oid, internal),
	FUNCTION 2 gist_box_union(internal, internal),
	FUNCTION 3 gist_point_compress(internal),
	FUNCTION 5 gist_box_penalty(internal, internal, internal),
	FUNCTION 6 gist_box_picksplit(internal, internal),
	FUNCTION 7 gist_box_same(box, box, internal);
CREATE INDEX broken_other ON broken USING regress_table_am (point(a, a));
CREATE INDEX broken_good ON broken (a);
CALL move_table_concurrently('broken', 'regress_table_a', true, max_rate => '1 GB', dry_run => true);
CALL move_table_concurrently('broken', 'regress_table_a', true, method => 'copy', dry_run => true);
CALL move_table_concurrently('broken', 'regress_table_a', true) \gset
SELECT relation, method, state, with_indexes FROM tablespace_moves
WHERE job_id = ANY (:'job_ids') ORDER BY job_id;
SELECT * FROM places WHERE relation ~ '^broken' ORDER BY relation COLLATE "C";

-- who may: the owner, and who sees it
SET ROLE regress_table_other;
SET search_path = public;
CALL move_table_concurrently('regress_table.docs', 'regress_table_a', dry_run => true);
SELECT count(*) AS other_sees FROM tablespace_moves;
SET ROLE regress_table_member;
SELECT count(*) > 0 AS member_sees FROM tablespace_moves;
RESET ROLE;

-- one move of a table or its indexes at a time, whatever the order
SET search_path = regress_table, public;
CREATE TABLE busy (a int PRIMARY KEY);
CALL move_indexes_concurrently('busy', 'regress_table_a') \gset
SELECT (:'job_ids'::bigint[])[1] AS index_job \gset
CALL move_table_concurrently('busy', 'regress_table_a') \gset
SELECT (:'job_ids'::bigint[])[1] AS table_job \gset
\set VERBOSITY default
BEGIN;
SELECT undo_move(:table_job) IS NOT NULL AS queued;
SAVEPOINT s;
SELECT undo_move(:index_job);
\echo :LAST_ERROR_SQLSTATE
ROLLBACK TO s;
SELECT undo_move(:table_job);
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
BEGIN;
SELECT undo_move(:index_job) IS NOT NULL AS queued;
SELECT undo_move(:table_job);
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
-- in one statement
SELECT undo_move(:table_job) IS NOT NULL, undo_move(:index_job) IS NOT NULL;
\echo :LAST_ERROR_SQLSTATE
-- and in a snapshot that does not see the other
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT undo_move(:index_job) IS NOT NULL AS queued;
SELECT undo_move(:table_job);
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

-- with several workers, a table and those of its indexes that have jobs of
-- their own stay with the first, one after the other
SET tablespace_advisor.max_workers = 4;
CREATE TABLE several (a int, b int);
CREATE INDEX several_a ON several (a) TABLESPACE regress_table_a;
CREATE INDEX several_b ON several (b);
SET client_min_messages = warning;
CALL move_table_concurrently('several', 'regress_table_b', true) \gset
SET client_min_messages = notice;
BEGIN;
SELECT undo_move((:'job_ids'::bigint[])[1]) AS back \gset
SELECT pause_move(:back);
COMMIT;
SELECT set_config('regress.back', :'back', false) IS NULL AS unset;
CALL wait_until($$SELECT state = 'paused' AND (SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'tablespace_advisor move')
	FROM tablespace_moves WHERE job_id = current_setting('regress.back')::bigint$$);
SELECT relation, state FROM tablespace_moves WHERE job_id >= :back ORDER BY job_id;
SELECT resume_move(:back);
CALL wait_until('SELECT NOT EXISTS (SELECT FROM tablespace_moves WHERE finished_at IS NULL)');
SELECT relation_name, state, worker_pid = first_value(worker_pid) OVER (ORDER BY job_id) AS same_worker
FROM tablespace_advisor.job WHERE job_id >= :back ORDER BY job_id;
RESET tablespace_advisor.max_workers;

-- hot_only: the advice decides.  No probe, so no advice to move; then what
-- somebody with an opinion says.
CALL move_table_concurrently('docs', 'regress_table_a', hot_only => true);
CREATE TABLE hot (a int PRIMARY KEY) PARTITION BY LIST (a);
CREATE TABLE hot_1 PARTITION OF hot FOR VALUES IN (1);
CREATE TABLE hot_2 PARTITION OF hot FOR VALUES IN (2);
ALTER FUNCTION tablespace_advisor.expected_savings RENAME TO expected_savings_kept;
CREATE FUNCTION tablespace_advisor.expected_savings(caller oid, target regclass, destination name)
RETURNS TABLE (relation oid, tablespace text, action text, saved_ms_per_s float8)
LANGUAGE sql AS $$
	SELECT c.oid, destination, CASE c.relname WHEN 'hot_2' THEN 'move' ELSE 'keep' END, 12.5
	FROM pg_class c WHERE c.relname IN ('hot_1', 'hot_2')
$$;
CALL move_table_concurrently('hot', 'regress_table_a', hot_only => true, with_indexes => true, dry_run => true);
CALL move_table_concurrently('hot', 'regress_table_a', hot_only => true, with_indexes => true) \gset
SELECT relation, state, with_indexes, forecast_saved_ms_per_s
FROM tablespace_moves WHERE job_id = ANY (:'job_ids');
DROP FUNCTION tablespace_advisor.expected_savings;
ALTER FUNCTION tablespace_advisor.expected_savings_kept RENAME TO expected_savings;

-- the statement that the advice gives can be run
CREATE TABLE advised (a int, body text);
SELECT (advice).action, (advice).statement FROM tablespace_advisor.judge_placement(
	ARRAY[jsonb_populate_record(NULL::tablespace_advisor.relation_fact,
		'{"relation": "advised", "table_relation": "advised", "kind": "heap",
		"tablespace": "pg_default", "size_bytes": 8192, "reads_per_s": 1000,
		"hits_per_s": 0, "writes_per_s": 0}')],
	ARRAY['advised'::regclass],
	ARRAY[jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
			'{"tablespace": "pg_default", "random_read_us": 5000, "random_read_low_us": 4900,
			"random_read_high_us": 5100, "depths": [1], "depth_read_us": [5000],
			"sequential_page_us": 50, "may_create": true}'),
		jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
			'{"tablespace": "regress_table_a", "random_read_us": 100, "random_read_low_us": 99,
			"random_read_high_us": 101, "depths": [1], "depth_read_us": [100],
			"sequential_page_us": 10, "may_create": true, "available_bytes": 1000000000}')],
	jsonb_populate_record(NULL::tablespace_advisor.load_fact, '{"seconds": 100}'),
	'regress_table_a', NULL) \gset
SELECT :'action' AS action, :'statement' AS statement;
SELECT rtrim(:'statement', ';') AS statement \gset
:statement \gset
SELECT * FROM places WHERE relation = 'advised';

-- and it knows what cannot be moved live
CREATE UNLOGGED TABLE unlogged (a int);
SELECT relation, obstacle
FROM unnest(tablespace_advisor.relation_facts('{}', ARRAY['unlogged'::regclass]::oid[]));

SELECT count(*) AS unfinished FROM tablespace_moves WHERE finished_at IS NULL;
SET client_min_messages = warning;
DROP SCHEMA regress_table CASCADE;
RESET search_path;
DROP PROCEDURE wait_until;
DROP FOREIGN DATA WRAPPER regress_table_wrapper CASCADE;
DROP ACCESS METHOD regress_table_am CASCADE;
DROP OWNED BY regress_table_owner;
DROP ROLE regress_table_owner, regress_table_member, regress_table_other;
DROP TABLESPACE regress_table_a;
DROP TABLESPACE regress_table_b;
