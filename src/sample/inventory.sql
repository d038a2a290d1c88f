/* Copyright (c) 2026, The tablespace_advisor developers */

/*
 * src/sample/inventory.sql
 *
 * The relations and their statistics now.  Nothing here locks a relation: no
 * function that opens one is called.
 */
CREATE FUNCTION tablespace_advisor.file_bytes(
	tablespace oid,
	filenode oid)
RETURNS bigint
AS 'MODULE_PATHNAME', 'file_bytes'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

COMMENT ON FUNCTION tablespace_advisor.file_bytes(oid, oid) IS
	'bytes of all forks of a relation of this database, given by the tablespace and the number of its file; NULL if there is no such file. Takes no lock';

CREATE FUNCTION tablespace_advisor.inventory_of(members oid[])
RETURNS TABLE (relation oid, heap oid, kind text, tablespace oid, filenode oid, indexed oid)
LANGUAGE C STABLE ROWS 10000
AS 'MODULE_PATHNAME', 'tsa_inventory_of';

COMMENT ON FUNCTION tablespace_advisor.inventory_of(oid[]) IS
	'the rows of relation_inventory that belong to the tables of these tables, indexes and TOAST tables; NULL: all';

CREATE VIEW tablespace_advisor.relation_inventory AS
SELECT i.* FROM tablespace_advisor.inventory_of(NULL) i;

COMMENT ON VIEW tablespace_advisor.relation_inventory IS
	'every relation of this database that has storage, but for catalogs, temporary relations, sequences and this extension''s own; heap: the table it belongs to, kind: heap, index, toast or toast index, tablespace: OID, never 0, indexed: the relation that an index is on';

/* A TOAST table is where its table is. */
CREATE VIEW tablespace_advisor.used_tablespace AS
SELECT DISTINCT coalesce(nullif(c.reltablespace, 0), d.dattablespace) AS tablespace
FROM pg_class c
JOIN pg_database d ON d.datname = current_database()
WHERE c.relkind IN ('r', 'm', 'i') AND c.relpersistence <> 't'
	AND c.oid >= 16384 AND c.relfilenode <> 0
	AND c.relnamespace NOT IN ('tablespace_advisor'::regnamespace, 'pg_toast'::regnamespace);

COMMENT ON VIEW tablespace_advisor.used_tablespace IS
	'OIDs of the tablespaces that relations of relation_inventory are in, without looking at each of these';

/*
 * The time of a relation's last VACUUM does not name its process.  A worker's query
 * begins anew with each table, of which it vacuums the TOAST table next, then
 * analyzes it: any other table vacuumed since is another worker's.
 */
CREATE FUNCTION tablespace_advisor.uncounted_maintenance(
	OUT vacuumed oid[],
	OUT analyzed oid[])
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH process AS MATERIALIZED (
		SELECT w.is_worker, coalesce(v.relid, n.relid) AS present,
			CASE WHEN w.is_worker THEN a.backend_start ELSE a.query_start END AS began,
			CASE WHEN w.is_worker THEN a.query_start ELSE 'infinity' END AS present_began
		FROM pg_stat_activity a
		LEFT JOIN pg_stat_progress_vacuum v USING (pid)
		LEFT JOIN pg_stat_progress_analyze n USING (pid)
		CROSS JOIN LATERAL
			(SELECT a.backend_type = 'autovacuum worker' AS is_worker) w
		WHERE a.datname = current_database()
			AND (w.is_worker OR v.pid IS NOT NULL OR n.pid IS NOT NULL)
	), done AS (
		SELECT c.oid,
			t.vacuumed BETWEEN p.began AND u.until AS vacuumed,
			t.analyzed BETWEEN p.began AND u.until AS analyzed
		FROM process p CROSS JOIN pg_class c
		CROSS JOIN LATERAL (SELECT CASE WHEN p.is_worker
				THEN pg_stat_get_last_autovacuum_time(c.oid)
				ELSE pg_stat_get_last_vacuum_time(c.oid) END AS vacuumed,
			CASE WHEN p.is_worker THEN pg_stat_get_last_autoanalyze_time(c.oid)
				ELSE pg_stat_get_last_analyze_time(c.oid) END AS analyzed) t
		CROSS JOIN LATERAL (SELECT CASE WHEN p.present IN (c.oid, c.reltoastrelid)
				THEN 'infinity' ELSE p.present_began END AS until) u
		WHERE c.relkind IN ('r', 'm', 't')
	)
	SELECT coalesce(array_agg(d.oid) FILTER (WHERE d.vacuumed), '{}'),
		coalesce(array_agg(d.oid) FILTER (WHERE d.analyzed), '{}')
	FROM done d
$$;

COMMENT ON FUNCTION tablespace_advisor.uncounted_maintenance() IS
	'tables of this database that were vacuumed or analyzed by a process with reads that the counters do not have yet';

/*
 * PostgreSQL 15 counts each block that a relation grows by as read, though nothing
 * is read.  A rewritten relation has grown without that.
 */
CREATE FUNCTION tablespace_advisor.blocks_not_read(
	file_before oid,
	file_after oid,
	bytes_before bigint,
	bytes_after bigint)
RETURNS bigint
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE WHEN current_setting('server_version_num')::int < 160000
			AND file_before = file_after AND bytes_after > bytes_before
		THEN (bytes_after - bytes_before) / current_setting('block_size')::int ELSE 0 END;
END;

COMMENT ON FUNCTION tablespace_advisor.blocks_not_read(oid, oid, bigint, bigint) IS
	'blocks that the server counted as read because the relation grew by them, from its file and its bytes at two moments';

CREATE FUNCTION tablespace_advisor.counters_of(
	members oid[],
	with_sizes boolean,
	vacuumed oid[],
	analyzed oid[])
RETURNS TABLE (relation oid, heap oid, kind text, tablespace oid, filenode oid, indexed oid,
	reads bigint, hits bigint, scans bigint, tuples_read bigint, inserted bigint,
	updated bigint, hot_updated bigint, deleted bigint, vacuums bigint, analyzes bigint,
	size_bytes bigint)
LANGUAGE C VOLATILE ROWS 10000
AS 'MODULE_PATHNAME', 'tsa_counters_of';

COMMENT ON FUNCTION tablespace_advisor.counters_of(oid[], boolean, oid[], oid[]) IS
	'inventory_of() with counters; vacuums and analyzes are those of the table, less one for tables of the lists (see uncounted_maintenance()); with_sizes: inserted to deleted, too, are the table''s, else size_bytes is NULL';

CREATE VIEW tablespace_advisor.relation_counter AS
SELECT c.* FROM tablespace_advisor.uncounted_maintenance() u
CROSS JOIN LATERAL tablespace_advisor.counters_of(NULL, true, u.vacuumed, u.analyzed) c;

COMMENT ON VIEW tablespace_advisor.relation_counter IS
	'relation_inventory with the counters of the statistics as they are now, see relation_sample and sampled_relation';

/*
 * Counters survive a clean restart, so the server's start says nothing about
 * their age.  They begin at pg_stat_reset(); in a database where that was
 * never called, at the time the server last began with none at all (first
 * start, crash recovery, upgrade), which is the oldest reset among the
 * cluster-wide counters.  Either may be longer than a given relation exists.
 */
CREATE VIEW tablespace_advisor.statistics_start AS
SELECT d.stats_reset,
	least((SELECT stats_reset FROM pg_stat_bgwriter),
		(SELECT stats_reset FROM pg_stat_archiver),
		(SELECT stats_reset FROM pg_stat_wal)) AS server_since
FROM pg_stat_database d WHERE d.datname = current_database();

COMMENT ON VIEW tablespace_advisor.statistics_start IS
	'since when counters count: stats_reset: since this database was last reset, NULL if it never was; server_since: at most since then all counters of the server';

GRANT SELECT ON tablespace_advisor.relation_inventory,
	tablespace_advisor.used_tablespace,
	tablespace_advisor.relation_counter, tablespace_advisor.statistics_start
	TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.inventory_of, tablespace_advisor.uncounted_maintenance,
	tablespace_advisor.counters_of, tablespace_advisor.blocks_not_read
	TO pg_monitor;
