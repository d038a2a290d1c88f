-- move_indexes_concurrently by each method, and what it leaves in the journal
SET allow_in_place_tablespaces = on;
SET client_min_messages = notice;
CREATE TABLESPACE regress_move_a LOCATION '';
CREATE TABLESPACE "regress move's ""b""" LOCATION '';
CREATE ROLE regress_move_owner NOLOGIN;
CREATE ROLE regress_move_member NOLOGIN IN ROLE regress_move_owner;
CREATE ROLE regress_move_other NOLOGIN;
CREATE ROLE regress_move_reader NOLOGIN IN ROLE pg_read_all_stats;
GRANT CREATE ON TABLESPACE regress_move_a, "regress move's ""b"""
	TO regress_move_owner, regress_move_other;

CREATE SCHEMA regress_move AUTHORIZATION regress_move_owner;
-- where the indexes of some tables are, and whether they are good
CREATE VIEW places AS
SELECT c.relname, c.relkind AS kind, coalesce(s.spcname, '(default)') AS tablespace,
	i.indisvalid AS valid, i.indisunique AS uniq, i.indisprimary AS pkey,
	i.indisclustered AS clustered, i.indisreplident AS replident
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
	LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
WHERE c.relnamespace = 'regress_move'::regnamespace;
GRANT SELECT ON places TO PUBLIC;
-- a caller that waits in one transaction would keep a rebuild waiting for it
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
SET ROLE regress_move_owner;
SET search_path = regress_move, public;

CREATE TABLE accounts (aid int PRIMARY KEY, bid int NOT NULL, filler text);
CREATE INDEX "Odd ""name's" ON accounts (lower(filler));
CREATE UNIQUE INDEX accounts_bid ON accounts (bid) INCLUDE (filler) WHERE bid > 0;
CREATE INDEX accounts_hash ON accounts USING hash (filler);
CREATE INDEX accounts_brin ON accounts USING brin (aid);
ALTER TABLE accounts CLUSTER ON accounts_pkey;
ALTER TABLE accounts REPLICA IDENTITY USING INDEX accounts_pkey;
INSERT INTO accounts SELECT i, i, 'filler ' || i FROM generate_series(1, 5000) i;

-- what would be done; nothing is
CALL move_indexes_concurrently('accounts', 'regress_move_a', dry_run => true);
CALL move_indexes_concurrently('accounts', 'regress_move_a', method => 'rebuild', dry_run => true);
SELECT count(*) FROM tablespace_moves;
BEGIN;
CALL move_indexes_concurrently('accounts', 'regress_move_a', ARRAY['accounts_bid'::regclass], dry_run => true);
COMMIT;

-- all of them
CALL move_indexes_concurrently('accounts', 'regress_move_a', method => 'rebuild') \gset
SELECT array_length(:'job_ids'::bigint[], 1) AS jobs;
SELECT relname, tablespace, valid, uniq, pkey, clustered, replident
FROM places ORDER BY relname COLLATE "C";
SELECT relation, relation_name, from_tablespace, to_tablespace, method, state,
	phase, bytes_total > 0 AND bytes_done = bytes_total AS all_bytes, percent,
	mb_per_s > 0 AS has_rate, eta, passes, lock_ms, attempts, blocked_by,
	error, owner, queued_at <= started_at AND started_at <= finished_at AS in_order
FROM tablespace_moves WHERE job_id = ANY (:'job_ids')
ORDER BY relation_name COLLATE "C";
SET enable_seqscan = off;
SELECT count(*) FROM accounts WHERE aid BETWEEN 10 AND 19;
SELECT filler FROM accounts WHERE lower(filler) = 'filler 4711';
SELECT aid FROM accounts WHERE filler = 'filler 42';
RESET enable_seqscan;

-- again: there is nothing left to do
CALL move_indexes_concurrently('accounts', 'regress_move_a');

-- some of them, one, and a name that needs quotes; back to the default
CALL move_indexes_concurrently('accounts', 'regress move''s "b"',
	ARRAY['accounts_hash', '"Odd ""name''s"']::regclass[], method => 'copy') \gset
CALL move_indexes_concurrently('accounts_pkey', 'pg_default') \gset
SELECT relation_name, from_tablespace, to_tablespace, method, state, phase,
	bytes_total > 0 AND bytes_done = bytes_total AS all_bytes, percent, eta,
	passes > 0 AS has_passes, lock_ms > 0 AS has_lock_ms, attempts, blocked_by, error
FROM tablespace_moves WHERE method = 'copy' ORDER BY relation_name COLLATE "C";
SELECT relname, tablespace, valid FROM places ORDER BY relname COLLATE "C";

-- in the background
CALL move_indexes_concurrently('accounts_brin', 'pg_default', method => 'rebuild', wait => false) \gset
CALL wait_until('SELECT NOT EXISTS (SELECT FROM tablespace_moves WHERE finished_at IS NULL)');
SELECT relation, state FROM tablespace_moves WHERE job_id = ANY (:'job_ids');

-- a partitioned table: new partitions follow
CREATE TABLE parted (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (100) TO (200) PARTITION BY RANGE (id);
CREATE TABLE parted_21 PARTITION OF parted_2 FOR VALUES FROM (100) TO (150);
CREATE INDEX parted_v ON parted (v);
INSERT INTO parted SELECT i, i FROM generate_series(0, 149) i;
CALL move_indexes_concurrently('parted_v', 'regress_move_a', method => 'rebuild') \gset
SELECT relname, kind, tablespace, valid FROM places WHERE relname ~ '^parted' ORDER BY relname COLLATE "C";
CALL move_indexes_concurrently('parted', 'regress_move_a') \gset
SELECT relation, method, state FROM tablespace_moves
WHERE job_id = ANY (:'job_ids') ORDER BY relation::text COLLATE "C";
CREATE TABLE parted_22 PARTITION OF parted_2 FOR VALUES FROM (150) TO (200);
SELECT relname, kind, tablespace, valid FROM places WHERE relname ~ '^parted' ORDER BY relname COLLATE "C";

-- a leaf, a materialized view, an unlogged table, and no index at all
CALL move_indexes_concurrently('parted_1', 'pg_default') \gset
CREATE MATERIALIZED VIEW matview AS SELECT aid FROM accounts;
CREATE INDEX matview_aid ON matview (aid);
CALL move_indexes_concurrently('matview', 'regress_move_a') \gset
CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY);
INSERT INTO unlogged VALUES (1);
CALL move_indexes_concurrently('unlogged', 'regress_move_a', max_rate => '1 MB') \gset
CREATE TABLE bare (a int);
CALL move_indexes_concurrently('bare', 'regress_move_a');
SELECT relname, tablespace, valid FROM places
WHERE relname IN ('parted_1_pkey', 'parted_1_v_idx', 'matview_aid', 'unlogged_pkey')
ORDER BY relname COLLATE "C";

-- constraints that a rebuild cannot serve
CREATE TABLE constrained (a int UNIQUE DEFERRABLE, r int4range,
	EXCLUDE USING gist (r WITH &&));
INSERT INTO constrained VALUES (1, '[1,2)');
CALL move_indexes_concurrently('constrained', 'regress_move_a') \gset
SELECT relname, tablespace, valid FROM places WHERE relname ~ '^constrained' ORDER BY 1;
SELECT relation, method, state FROM tablespace_moves
WHERE job_id = ANY (:'job_ids') ORDER BY relation::text COLLATE "C";

-- from a block that may commit
DO $$ DECLARE ids bigint[];
BEGIN
	CALL move_indexes_concurrently('constrained', 'pg_default', job_ids => ids);
	RAISE NOTICE '% jobs', cardinality(ids);
END $$;

-- an invalid index is left alone
RESET ROLE;
CREATE TABLE regress_move.broken (a int);
INSERT INTO regress_move.broken VALUES (1), (1);
CREATE UNIQUE INDEX CONCURRENTLY broken_a ON regress_move.broken (a);
CALL move_indexes_concurrently('regress_move.broken', 'regress_move_a');
DROP TABLE regress_move.broken;

-- the rebuild of an index runs its expressions as the table's owner, who
-- cannot get at the worker's rights
SET ROLE regress_move_owner;
CREATE TABLE trap (a int);
INSERT INTO trap VALUES (1);
CREATE FUNCTION whoami(a int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN RETURN current_user; END $$;
CREATE INDEX trap_whoami ON trap (whoami(a));
RESET ROLE;
-- on a slow machine there is progress
SET client_min_messages = warning;
CALL move_indexes_concurrently('trap', 'regress_move_a', method => 'rebuild') \gset
SET enable_seqscan = off;
SELECT count(*) FROM trap WHERE whoami(a) = 'regress_move_owner';
RESET enable_seqscan;
SET ROLE regress_move_owner;
CREATE OR REPLACE FUNCTION whoami(a int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN
	PERFORM set_config('session_authorization', pg_get_userbyid(10), false);
	RETURN session_user;
END $$;
\set VERBOSITY terse
CALL move_indexes_concurrently('trap', 'pg_default', method => 'rebuild');
\echo :LAST_ERROR_SQLSTATE
-- the worker removes what is left after it has told the caller
DO $$
BEGIN
	WHILE EXISTS (SELECT FROM pg_index WHERE indrelid = 'trap'::regclass AND NOT indisvalid) LOOP
		PERFORM pg_sleep(0.01);
	END LOOP;
END $$;
CREATE OR REPLACE FUNCTION whoami(a int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN PERFORM set_config('role', 'none', false); RETURN session_user; END $$;
CALL move_indexes_concurrently('trap', 'pg_default', method => 'rebuild');
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY default
SET client_min_messages = notice;

-- a failed move: the job says why, nothing is left over, and it can be retried
SELECT state, error FROM tablespace_moves ORDER BY job_id DESC LIMIT 2;
CREATE OR REPLACE FUNCTION whoami(a int) RETURNS text LANGUAGE sql IMMUTABLE
RETURN 'nobody';
-- (only a superuser sees other roles' workers, but everybody their batch locks)
CALL wait_until('SELECT NOT EXISTS (SELECT FROM pg_locks WHERE objsubid = 29505)');
SELECT relname, tablespace, valid FROM places WHERE relname ~ 'trap';
SELECT max(job_id) AS failed FROM tablespace_moves \gset
BEGIN;
SELECT retry_move(:failed) > :failed AS retried;
ROLLBACK;
SELECT max(job_id) = :failed AS rolled_back FROM tablespace_moves;
SELECT retry_move(:failed) AS retried \gset
CALL wait_until('SELECT NOT EXISTS (SELECT FROM tablespace_moves WHERE finished_at IS NULL)');
CALL wait_until('SELECT NOT EXISTS (SELECT FROM pg_locks WHERE objsubid = 29505)');
SELECT relation, state, to_tablespace FROM tablespace_moves WHERE job_id = :retried;
SELECT relname, tablespace, valid FROM places WHERE relname ~ 'trap';
SELECT retry_move(:failed) IS NULL AS nothing_to_do;
SELECT cancel_move(:failed), cancel_move(:retried);

-- who sees what
SELECT count(*) > 0 AS owner_sees FROM tablespace_moves;
SET ROLE regress_move_member;
SELECT count(*) > 0 AS member_sees FROM tablespace_moves;
SET ROLE regress_move_other;
SELECT count(*) AS other_sees FROM tablespace_moves;
SET ROLE regress_move_reader;
SELECT count(*) > 0 AS reader_sees FROM tablespace_moves;
RESET ROLE;
SELECT count(*) AS transient_indexes FROM tablespace_advisor.transient_index;
SELECT count(*) AS watched FROM tablespace_advisor.job WHERE known_indexes IS NOT NULL;

-- without a tablespace the advice decides: no probe, so no advice to move
CALL move_indexes_concurrently('regress_move.accounts');
CALL move_indexes_concurrently('regress_move.accounts', 'regress move''s "b"', hot_only => true);
-- what the advice says, said by somebody who has an opinion
BEGIN;
CREATE OR REPLACE FUNCTION tablespace_advisor.expected_savings(caller oid, target regclass, destination name)
RETURNS TABLE (relation oid, tablespace text, action text, saved_ms_per_s float8)
LANGUAGE sql AS $$
	SELECT c.oid, coalesce(destination, 'regress_move_a'),
		CASE c.relname WHEN 'accounts_pkey' THEN 'keep' ELSE 'move' END, 0
	FROM pg_class c
	WHERE c.oid = ANY ('{regress_move.accounts, regress_move.accounts_pkey,
		regress_move.accounts_hash, regress_move.accounts_brin}'::regclass[])
	ORDER BY c.oid
$$;
CALL move_indexes_concurrently('regress_move.accounts', dry_run => true);
CALL move_indexes_concurrently('regress_move.accounts', 'regress move''s "b"',
	hot_only => true, dry_run => true);
CALL move_indexes_concurrently('regress_move.accounts', hot_only => true,
	indexes => ARRAY['regress_move.accounts_pkey'::regclass], dry_run => true);
ROLLBACK;

-- jobs without a living worker: ours is queued again by the next call, and one that
-- came with a copy of another server's database is neither shown nor kept
BEGIN;
INSERT INTO tablespace_advisor.job (batch_id, relation, heap, kind, schema_name,
	relation_name, from_tablespace, from_tablespace_name, to_tablespace,
	to_tablespace_name, method_wanted, method, bytes_total, lock_timeout_ms,
	owner, system_identifier, database, state)
SELECT 1, i.indexrelid, i.indrelid, 'i', 'regress_move', 'planted', 1663,
	'pg_default', 1663, 'pg_default', 'auto', 'rebuild', 1, 100, 10,
	CASE i.indexrelid WHEN 'regress_move.accounts_brin'::regclass
		THEN c.system_identifier ELSE c.system_identifier + 1 END, d.oid, 'running'
FROM pg_index i, pg_control_system() c, pg_database d
WHERE i.indexrelid IN ('regress_move.accounts_brin'::regclass, 'regress_move.accounts_hash'::regclass)
	AND d.datname = current_database();
SELECT relation, state, error FROM tablespace_moves WHERE relation_name ~ 'planted';
SELECT cancel_move(job_id) FROM tablespace_advisor.job
WHERE relation = 'regress_move.accounts_brin'::regclass AND state = 'running';
SELECT relation, state, error FROM tablespace_moves WHERE relation_name ~ 'planted';
SELECT count(*) FROM tablespace_advisor.job WHERE relation_name = 'planted';
ROLLBACK;

SET client_min_messages = warning;
RESET search_path;
DROP SCHEMA regress_move CASCADE;
DROP PROCEDURE wait_until;
DROP OWNED BY regress_move_owner, regress_move_other;
DROP ROLE regress_move_owner, regress_move_member, regress_move_other, regress_move_reader;
DROP TABLESPACE regress_move_a;
DROP TABLESPACE "regress move's ""b""";
