-- pause, resume and undo; what a job keeps
SET allow_in_place_tablespaces = on;
SET client_min_messages = warning;
CREATE TABLESPACE regress_pausing LOCATION '';
CREATE TABLESPACE regress_pausing_gone LOCATION '';
CREATE SCHEMA regress_pausing;
SET search_path = regress_pausing, public;
CREATE TABLE t (a int PRIMARY KEY);
INSERT INTO t SELECT generate_series(1, 5000);
CREATE UNLOGGED TABLE u (a int PRIMARY KEY);
CREATE PROCEDURE wait_until(job bigint, wanted text) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 6000 LOOP
		IF (SELECT state = wanted AND (wanted <> 'paused' OR phase LIKE 'paused:%') FROM public.tablespace_moves WHERE job_id = job) THEN
			RETURN;
		END IF;
		COMMIT;
		PERFORM pg_sleep(0.01);
	END LOOP;
	RAISE 'job % is not %', job, wanted;
END $$;
CREATE VIEW place AS
	SELECT c.relname, s.spcname FROM pg_class c
		LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
	WHERE c.relname IN ('t_pkey', 'u_pkey') ORDER BY 1;

CALL move_indexes_concurrently('t', 'regress_pausing') \gset
SELECT (:'job_ids'::bigint[])[1] AS job \gset
SELECT state, bytes_done = bytes_total AS all_copied,
	wal_bytes > bytes_total / 2 AS wal_counted, paused_ms
FROM tablespace_moves WHERE job_id = :job;

-- a job that is paused before it begins stops before its cutover
BEGIN;
SELECT undo_move(:job) AS back \gset
SELECT pause_move(:back);
SELECT pause_move(:back) AS again;
COMMIT;
CALL wait_until(:back, 'paused');
SELECT state, phase FROM tablespace_moves WHERE job_id = :back;
SELECT * FROM place;
SELECT pause_move(:back) AS again;
INSERT INTO t SELECT generate_series(5001, 6000);
SELECT resume_move(:back);
SELECT resume_move(:back) AS again;
CALL wait_until(:back, 'done');
SELECT * FROM place;
SELECT phase, error, paused_ms > 0 AS was_paused FROM tablespace_moves WHERE job_id = :back;
SET enable_seqscan = off;
SELECT count(*) FROM t WHERE a BETWEEN 1 AND 10000;

-- and can be cancelled
BEGIN;
SELECT undo_move(:back) AS again \gset
SELECT pause_move(:again);
COMMIT;
CALL wait_until(:again, 'paused');
SELECT cancel_move(:again);
CALL wait_until(:again, 'cancelled');
SELECT paused_ms > 0 AS pause_counts FROM tablespace_moves WHERE job_id = :again;
SELECT resume_move(:again) AS nothing_to_resume;
SELECT pause_move(:again) AS nothing_to_pause;
SELECT * FROM place;

-- what cannot be undone
\set VERBOSITY sqlstate
SELECT undo_move(:job);
SELECT undo_move(:again);
\set VERBOSITY default
CALL move_indexes_concurrently('t', 'regress_pausing_gone') \gset
CALL move_indexes_concurrently('t', 'regress_pausing') \gset
SELECT (:'job_ids'::bigint[])[1] AS job \gset
DROP TABLESPACE regress_pausing_gone;
\set VERBOSITY sqlstate
SELECT undo_move(:job);
DROP TABLE t;
SELECT undo_move(:back);
\set VERBOSITY default

-- a rebuild cannot be paused
CALL move_indexes_concurrently('u', 'regress_pausing') \gset
SELECT (:'job_ids'::bigint[])[1] AS job \gset
BEGIN;
SELECT undo_move(:job) AS back \gset
\set VERBOSITY sqlstate
SELECT pause_move(:back);
\set VERBOSITY default
ROLLBACK;
SELECT pause_move(:job) AS ended;
SELECT resume_move(:job) AS ended;

-- bad calls
\set VERBOSITY sqlstate
SELECT pause_move(NULL);
SELECT pause_move(-1);
SELECT resume_move(NULL);
SELECT resume_move(-1);
SELECT undo_move(NULL);
SELECT undo_move(-1);
CREATE ROLE regress_pausing_other NOLOGIN;
GRANT USAGE ON SCHEMA public TO regress_pausing_other;
SET ROLE regress_pausing_other;
SELECT pause_move(:job);
SELECT resume_move(:job);
SELECT undo_move(:job);
SELECT * FROM tablespace_advisor.request;
RESET ROLE;
SET tablespace_advisor.max_workers = 0;
SET tablespace_advisor.max_replica_lag = 1;
\set VERBOSITY default

-- several workers
CREATE TABLE many (a int PRIMARY KEY);
SELECT format('CREATE INDEX ON many (a)') FROM generate_series(1, 6) \gexec
SET tablespace_advisor.max_workers = 3;
CALL move_indexes_concurrently('many', 'regress_pausing') \gset
SELECT count(*), min(state), max(state) FROM tablespace_moves
WHERE job_id = ANY (:'job_ids'::bigint[]);

RESET search_path;
DROP SCHEMA regress_pausing CASCADE;
DROP OWNED BY regress_pausing_other;
DROP ROLE regress_pausing_other;
DROP TABLESPACE regress_pausing;
