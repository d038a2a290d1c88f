/* Copyright (c) 2026, The tablespace_advisor developers */

/*
 * src/sample/inventory.sql
 *
 * The relations and their statistics now.  Nothing here locks a relation: no
 * function that opens one is called.
 */
CREATE VIEW tablespace_advisor.relation_inventory AS
SELECT c.oid AS relation,
	CASE c.relkind
		WHEN 't' THEN coalesce(owner.oid, c.oid)
		WHEN 'i' THEN coalesce(index_owner.oid, i.indrelid)
		ELSE c.oid
	END AS heap,
	CASE
		WHEN c.relkind = 't' THEN 'toast'
		WHEN index_owner.oid IS NOT NULL THEN 'toast index'
		WHEN c.relkind = 'i' THEN 'index'
		ELSE 'heap'
	END AS kind,
	coalesce(nullif(c.reltablespace, 0), d.dattablespace) AS tablespace,
	c.relfilenode AS filenode,
	i.indrelid AS indexed
FROM pg_class c
JOIN pg_database d ON d.datname = current_database()
LEFT JOIN pg_index i ON i.indexrelid = c.oid
LEFT JOIN (SELECT oid, relnamespace, reltoastrelid FROM pg_class
	WHERE reltoastrelid <> 0) owner ON owner.reltoastrelid = c.oid
LEFT JOIN (SELECT oid, relnamespace, reltoastrelid FROM pg_class
	WHERE reltoastrelid <> 0) index_owner
	ON index_owner.reltoastrelid = i.indrelid
WHERE c.relkind IN ('r', 'm', 't', 'i') AND c.relpersistence <> 't'
	AND c.oid >= 16384 AND c.relfilenode <> 0
	AND coalesce(index_owner.relnamespace, owner.relnamespace, c.relnamespace)
		<> 'tablespace_advisor'::regnamespace;

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
 * relation_inventory of some tables.  plpgsql, which plans for as many as there
 * are: few are looked up, many are joined.
 */
CREATE FUNCTION tablespace_advisor.inventory_of(tables oid[])
RETURNS SETOF tablespace_advisor.relation_inventory
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY WITH heap AS MATERIALIZED (
		SELECT h.oid, h.reltoastrelid AS toast
		FROM unnest(tables) t JOIN pg_class h ON h.oid = t
		WHERE h.relkind IN ('r', 'm')
			AND h.relnamespace <> 'tablespace_advisor'::regnamespace
	), member (relation, heap, kind, indexed) AS (
		SELECT h.oid, h.oid, 'heap', NULL FROM heap h
		UNION ALL
		SELECT i.indexrelid, h.oid, 'index', i.indrelid
		FROM heap h JOIN pg_index i ON i.indrelid = h.oid
		UNION ALL
		SELECT h.toast, h.oid, 'toast', NULL FROM heap h
		UNION ALL
		SELECT i.indexrelid, h.oid, 'toast index', i.indrelid
		FROM heap h JOIN pg_index i ON i.indrelid = nullif(h.toast, 0)
	)
	SELECT c.oid, m.heap, m.kind, coalesce(nullif(c.reltablespace, 0), d.dattablespace),
		c.relfilenode, m.indexed
	FROM member m
	JOIN pg_class c ON c.oid = m.relation
	JOIN pg_database d ON d.datname = current_database()
	WHERE c.relpersistence <> 't' AND c.oid >= 16384 AND c.relfilenode <> 0;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.inventory_of(oid[]) IS
	'the rows of relation_inventory that belong to these tables';

/* A TOAST table depends on its table, under any name. */
CREATE FUNCTION tablespace_advisor.tables_of(relations oid[])
RETURNS SETOF oid
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
	RETURN QUERY SELECT DISTINCT coalesce(d.refobjid, i.indrelid, c.oid)
	FROM unnest(relations) r
	JOIN pg_class c ON c.oid = r
	LEFT JOIN pg_index i ON i.indexrelid = c.oid
	LEFT JOIN pg_depend d ON c.relnamespace = 'pg_toast'::regnamespace
		AND d.classid = 'pg_class'::regclass AND d.objsubid = 0
		AND d.objid = coalesce(i.indrelid, c.oid)
		AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i';
END
$$;

COMMENT ON FUNCTION tablespace_advisor.tables_of(oid[]) IS
	'the tables that these tables, indexes and TOAST tables belong to';

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

CREATE FUNCTION tablespace_advisor.vacuum_count(
	relation oid,
	is_uncounted boolean)
RETURNS bigint
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT pg_stat_get_vacuum_count(relation) + pg_stat_get_autovacuum_count(relation)
		- is_uncounted::int;
END;

COMMENT ON FUNCTION tablespace_advisor.vacuum_count(oid, boolean) IS
	'how often a table was vacuumed, by hand or not, since counters began; is_uncounted: without the last time';

CREATE FUNCTION tablespace_advisor.analyze_count(
	relation oid,
	is_uncounted boolean)
RETURNS bigint
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT pg_stat_get_analyze_count(relation) + pg_stat_get_autoanalyze_count(relation)
		- is_uncounted::int;
END;

COMMENT ON FUNCTION tablespace_advisor.analyze_count(oid, boolean) IS
	'how often a table was analyzed, by hand or not, since counters began; is_uncounted: without the last time';

/* IN: hashed, as there may be as many of these tables as there are tables. */
CREATE VIEW tablespace_advisor.relation_counter AS
SELECT i.relation, i.heap, i.kind, i.tablespace, i.filenode, i.indexed,
	pg_stat_get_blocks_fetched(i.relation)
		- pg_stat_get_blocks_hit(i.relation) AS reads,
	pg_stat_get_blocks_hit(i.relation) AS hits,
	pg_stat_get_numscans(i.relation) AS scans,
	pg_stat_get_tuples_returned(i.relation) AS tuples_read,
	pg_stat_get_tuples_inserted(i.relation) AS inserted,
	pg_stat_get_tuples_updated(i.relation) AS updated,
	pg_stat_get_tuples_hot_updated(i.relation) AS hot_updated,
	pg_stat_get_tuples_deleted(i.relation) AS deleted,
	tablespace_advisor.vacuum_count(coalesce(i.indexed, i.relation),
		coalesce(i.indexed, i.relation) IN (SELECT unnest(u.vacuumed)
			FROM tablespace_advisor.uncounted_maintenance() u)) AS vacuums,
	tablespace_advisor.analyze_count(coalesce(i.indexed, i.relation),
		coalesce(i.indexed, i.relation) IN (SELECT unnest(u.analyzed)
			FROM tablespace_advisor.uncounted_maintenance() u)) AS analyzes
FROM tablespace_advisor.relation_inventory i;

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
	tablespace_advisor.vacuum_count, tablespace_advisor.analyze_count, tablespace_advisor.tables_of
	TO pg_monitor;
