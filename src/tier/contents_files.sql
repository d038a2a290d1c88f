/* Copyright (c) 2026, The tablespace_advisor developers */

/* Files in a tablespace, and those that no relation has. */

CREATE FUNCTION tablespace_advisor.transactions_of(
	database_oid oid, OUT since timestamptz, OUT is_ending boolean)
AS 'MODULE_PATHNAME', 'tsa_transactions_of'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.transactions_of(oid) IS
	'when the oldest transaction of a database''s other sessions began, -infinity if one does not say; is_ending: whether one, or a prepared one, has ended for others and may still remove its files';

CREATE FUNCTION tablespace_advisor.is_checkpointer_unlinking()
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_is_checkpointer_unlinking'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.is_checkpointer_unlinking() IS
	'whether the checkpointer may still be removing files that were dropped before the last checkpoint';

CREATE FUNCTION tablespace_advisor.is_process(pid int)
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_is_process'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.is_process(int) IS
	'whether a process of the server that uses databases has this process ID now';

CREATE FUNCTION tablespace_advisor.is_directory_of_database(directory text)
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_is_directory_of_database'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.is_directory_of_database(text) IS
	'whether a directory has the name of a database''s, be it that a transaction under way makes or drops it';

CREATE FUNCTION tablespace_advisor.temporary_owner_pid(backend int, database_oid oid)
RETURNS int
AS 'MODULE_PATHNAME', 'tsa_temporary_owner_pid'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.temporary_owner_pid(int, oid) IS
	'process ID of the session that has temporary relations with this number in a database; NULL if it has ended';

/*
 * OFFSET, enable_seqscan: by the index of the few that have files, even if the
 * planner knows little of a long journal.
 */
CREATE FUNCTION tablespace_advisor.files_of_moves(of_database oid)
RETURNS TABLE (filenumber oid, job_id bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
	SELECT n, min(j.job_id)
	FROM (SELECT j.* FROM tablespace_advisor.job j
		WHERE j.new_filenumbers IS NOT NULL OR j.old_filenumbers IS NOT NULL
		OFFSET 0) j
	CROSS JOIN LATERAL unnest(j.new_filenumbers || j.old_filenumbers) n
	WHERE j.database = of_database
	GROUP BY n
$$;
COMMENT ON FUNCTION tablespace_advisor.files_of_moves(oid) IS
	'the numbers of files that the journal names for moves of a database, and the first such move of each';

CREATE FUNCTION tablespace_advisor.tablespace_directory(tablespace_oid oid)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE tablespace_oid WHEN 1663 THEN 'base'
		ELSE format('pg_tblspc/%s/PG_%s_%s', tablespace_oid,
			current_setting('server_version_num')::int / 10000,
			catalog_version_no) END
	FROM pg_control_system()
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_directory(oid) IS
	'directory in which a tablespace has a directory for each database';

CREATE FUNCTION tablespace_advisor.files_in(directory text)
RETURNS TABLE (name text, bytes bigint, modified timestamptz,
	is_directory boolean)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT f.name, s.size, s.modification, s.isdir
	FROM pg_ls_dir(directory, true, false) f(name)
		CROSS JOIN LATERAL pg_stat_file(directory || '/' || f.name, true) s
	WHERE s.size IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.files_in(text) IS
	'files and directories in a directory, none if it does not exist';

/*
 * Files of one relation have one number; temporary ones the backend's as well.
 * The files in the directory of every database that has its catalogs there
 * belongs to no relation either.
 */
CREATE FUNCTION tablespace_advisor.storage_in(tablespace_oid oid, database_oid oid)
RETURNS TABLE (filenumber oid, backend int, bytes bigint,
	modified timestamptz, path text)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN p.parts[2]::numeric < 2 ^ 32 THEN p.parts[2]::oid END,
		p.parts[1]::int, sum(f.bytes)::bigint,
		max(f.modified), d.directory || '/' || min(f.name)
	FROM (SELECT tablespace_advisor.tablespace_directory(tablespace_oid)
			|| '/' || database_oid) d(directory)
		CROSS JOIN LATERAL tablespace_advisor.files_in(d.directory) f
		CROSS JOIN LATERAL (SELECT regexp_match(f.name,
			E'^(?:t([0-9]{1,9})_)?([0-9]+)(?:_(?:fsm|vm|init))?(?:\\.[0-9]+)?$'))
			p(parts)
	WHERE f.name !~ E'^(PG_VERSION|pg_filenode\\.map|pg_internal\\.init.*)$'
	GROUP BY d.directory, p.parts[2], p.parts[1],
		CASE WHEN p.parts IS NULL THEN f.name END
$$;
COMMENT ON FUNCTION tablespace_advisor.storage_in(oid, oid) IS
	'files of a database in the directory of a tablespace, one row for all files of a relation; filenumber: NULL for files that cannot be a relation''s; backend: of temporary relations';

/* Of another database only a worker could tell; it counts as no. */
CREATE FUNCTION tablespace_advisor.has_moved_since(tablespace_oid oid,
	database_oid oid, since timestamptz)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT EXISTS (SELECT FROM tablespace_advisor.job j
		WHERE j.database = database_oid AND j.finished_at >= since
			AND tablespace_oid IN (j.from_tablespace, j.to_tablespace))
		AND database_oid = (SELECT d.oid FROM pg_database d
			WHERE d.datname = current_database())
$$;
COMMENT ON FUNCTION tablespace_advisor.has_moved_since(oid, oid, timestamptz) IS
	'whether a move from or to a tablespace in this database has ended since then';

/*
 * Files that no relation has.  The order of looks decides, and each takes from the
 * one before it a value that makes it come later: files, transactions, pg_class and
 * the journal of moves, transactions, files.  A file made before the first has its
 * row in pg_class by then, or its transaction is under way; one dropped meanwhile
 * has gone at the last, or its transaction is ending.
 *
 * A file that the next checkpoint unlinks is empty: DROP TABLESPACE waits for such
 * a checkpoint.  An empty file is left out if it was truncated since the last one
 * began, or if that may not have ended, or if a move has left the tablespace since.
 * A file that was empty before it was dropped keeps its old time in XFS, Btrfs and
 * tmpfs.  So no other empty file of a relation is called left by a crash either:
 * only a checkpoint shows whether it was.  Times of files have no fractions, and
 * may be those of a file server: its clock is allowed a minute.
 */
CREATE FUNCTION tablespace_advisor.unowned_files(tablespace_oid oid, database_oid oid)
RETURNS TABLE (path text, bytes bigint, how text, why text, detail text)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	WITH storage AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.storage_in(tablespace_oid, database_oid)
	), looked AS MATERIALIZED (
		SELECT n.files, t.since - interval '1 minute' AS since,
			c.checkpoint_time - interval '1 second' AS checkpoint
		FROM (SELECT count(*) AS files FROM storage) n
			CROSS JOIN LATERAL tablespace_advisor.transactions_of(
				CASE WHEN n.files > 0 THEN database_oid END) t
			CROSS JOIN pg_control_checkpoint() c
	), owner AS MATERIALIZED (
		SELECT r.*
		FROM looked l
			CROSS JOIN LATERAL tablespace_advisor.relations_in(
				CASE WHEN l.files > 0 THEN tablespace_oid END, database_oid) r
	), ended AS MATERIALIZED (
		SELECT t.is_ending, o.is_unknown,
			o.rows >= 0 AND tablespace_advisor.is_checkpointer_unlinking() AS is_unlinking
		FROM (SELECT count(*) AS rows, coalesce(bool_or(is_locked)
				FILTER (WHERE relation IS NULL), false) AS is_unknown
			FROM owner) o
			CROSS JOIN LATERAL tablespace_advisor.transactions_of(
				CASE WHEN o.rows >= 0 THEN database_oid END) t
	), unowned AS MATERIALIZED (
		SELECT s.*, o.transaction, o.job_id, p.gid, e.is_ending, e.is_unknown,
			l.since
		FROM ended e
			CROSS JOIN looked l
			CROSS JOIN storage s
			LEFT JOIN (SELECT r.filenumber, r.backend,
					max(r.transaction::text) FILTER (WHERE
						r.transaction IS NOT NULL) AS transaction,
					max(r.job_id) AS job_id,
					bool_or(r.relation IS NOT NULL AND r.transaction IS NULL)
						AS committed
				FROM owner r
				GROUP BY 1, 2) o ON o.filenumber = s.filenumber
				AND (o.backend IS NOT DISTINCT FROM s.backend
					OR o.transaction IS NOT NULL)
			LEFT JOIN pg_prepared_xacts p
				ON p.transaction::text = o.transaction
		WHERE o.committed IS NOT TRUE
			AND NOT (s.filenumber IS NOT NULL AND s.bytes = 0
				AND o.transaction IS NULL
				AND (e.is_unlinking OR s.modified >= l.checkpoint
					OR (SELECT tablespace_advisor.has_moved_since(
						tablespace_oid, database_oid, k.checkpoint) FROM looked k)))
	), remaining AS MATERIALIZED (
		SELECT s.*
		FROM (SELECT count(*) AS rows FROM unowned HAVING count(*) > 0) n
			CROSS JOIN LATERAL tablespace_advisor.storage_in(
				CASE WHEN n.rows > 0 THEN tablespace_oid END, database_oid) s
	)
	SELECT r.path, r.bytes,
		CASE w.why WHEN 'left by a crash' THEN 'orphan' ELSE 'temporary' END,
		w.why, coalesce(u.gid, u.transaction, u.job_id::text)
	FROM unowned u
		CROSS JOIN LATERAL (SELECT CASE
			WHEN u.gid IS NOT NULL THEN 'made by prepared'
			WHEN u.transaction IS NOT NULL THEN 'made by transaction'
			WHEN u.job_id IS NOT NULL THEN 'of move'
			WHEN u.backend IS NOT NULL THEN 'of temporary relation'
			WHEN pg_is_in_recovery() THEN 'of the primary'
			WHEN u.is_unknown THEN 'perhaps of a move'
			WHEN u.is_ending OR u.modified >= u.since THEN 'perhaps just made'
			WHEN u.bytes = 0 AND u.filenumber IS NOT NULL THEN 'empty'
			ELSE 'left by a crash' END) w(why)
		JOIN remaining r ON coalesce(r.filenumber::text, r.path)
				= coalesce(u.filenumber::text, u.path)
			AND r.backend IS NOT DISTINCT FROM u.backend
	WHERE r.bytes > 0 OR u.bytes = 0
$$;
COMMENT ON FUNCTION tablespace_advisor.unowned_files(oid, oid) IS
	'files of a database in a tablespace that no relation has, but for empty ones that the next checkpoint removes; why, detail: see reason_beside()';

/*
 * Files that belong to no database: temporary files, and unknown ones.  Files are
 * looked for again once their process, or database, was not found: they may have
 * gone with it.
 */
CREATE FUNCTION tablespace_advisor.files_beside_databases(tablespace_oid oid)
RETURNS TABLE (path text, kind text, bytes bigint, how text, statement text,
	why text, detail text)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	WITH entry AS MATERIALIZED (
		SELECT d.directory || '/' || f.name AS path, f.*
		FROM (SELECT tablespace_advisor.tablespace_directory(tablespace_oid))
				d(directory)
			CROSS JOIN LATERAL tablespace_advisor.files_in(d.directory) f
	), temporary AS (
		SELECT min(f.path) AS path, f.pid, sum(f.bytes)::bigint AS bytes
		FROM (SELECT e.path || '/' || t.name AS path, t.bytes,
				"substring"(t.name, '^pgsql_tmp([0-9]+)')::int AS pid
			FROM entry e
				CROSS JOIN LATERAL tablespace_advisor.files_in(e.path) t
			WHERE e.name = 'pgsql_tmp') f
		GROUP BY f.pid
	)
	SELECT t.path, 'temporary files', t.bytes, 'temporary',
		CASE WHEN p.is_there
			THEN format('SELECT pg_catalog.pg_cancel_backend(%s)', t.pid) END,
		CASE WHEN p.is_there THEN 'of statement' ELSE 'of ended process' END,
		CASE WHEN p.is_there THEN t.pid::text END
	FROM temporary t
		CROSS JOIN LATERAL (SELECT tablespace_advisor.is_process(t.pid))
			p(is_there)
	WHERE CASE WHEN p.is_there THEN true
		ELSE (SELECT f.size IS NOT NULL FROM pg_stat_file(t.path, true) f) END
	UNION ALL
	SELECT e.path, CASE WHEN e.is_directory THEN 'directory' ELSE 'file' END,
		NULL, CASE w.why WHEN 'being made' THEN 'temporary' ELSE 'orphan' END,
		NULL, w.why, NULL
	FROM entry e
		CROSS JOIN LATERAL (SELECT CASE
			WHEN tablespace_advisor.is_directory_of_database(e.name) THEN 'being made'
			WHEN e.name ~ '^[0-9]+$' THEN 'no database'
			ELSE 'not of the server' END) w(why)
	WHERE e.name <> 'pgsql_tmp'
		AND e.name NOT IN (SELECT d.oid::text FROM pg_database d)
		AND CASE WHEN w.why IS NOT NULL THEN NOT e.is_directory
			OR EXISTS (SELECT FROM tablespace_advisor.files_in(e.path)) END
$$;
COMMENT ON FUNCTION tablespace_advisor.files_beside_databases(oid) IS
	'temporary files in a tablespace, one row a process, and entries of its directory that do not belong there; why, detail: see reason_beside()';
