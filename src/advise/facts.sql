/*
 * src/advise/facts.sql
 *
 * Gathers the facts (types: advice_types.sql) from probes, samples, the catalogs
 * and the journal of moves.  Nothing waits for a lock on a relation.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */

/*
 * How fast moves to a tablespace were, and how much WAL they wrote: those of
 * 1 MB or more, since small ones take the time of their commits.
 */
CREATE FUNCTION tablespace_advisor.copy_rates(destination name, asker oid)
RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT jsonb_object_agg(m.spcname, round(m.bytes_per_s::numeric))
		FROM (SELECT s.spcname, tablespace_advisor.moved_rate(
				s.oid, d.oid, 'copy', NULL, asker) AS bytes_per_s
			FROM pg_tablespace s, pg_tablespace d
			WHERE d.spcname = destination) m
		WHERE m.bytes_per_s > 0);
END
$$;
COMMENT ON FUNCTION tablespace_advisor.copy_rates(name, oid) IS
	'bytes per second of live copies to a tablespace, by the tablespace they came from, for a role that asks (see moved_rate); NULL without any';

CREATE FUNCTION tablespace_advisor.copy_wal_per_byte()
RETURNS float8
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT sum(j.wal_bytes)::float8 / nullif(sum(j.bytes_total), 0)
		FROM (SELECT j.wal_bytes, j.bytes_total FROM tablespace_advisor.job j
			WHERE j.state = 'done' AND j.method = 'copy' AND j.wal_bytes > 0
				AND j.bytes_total >= 1048576
			ORDER BY j.finished_at DESC LIMIT 20) j);
END
$$;
COMMENT ON FUNCTION tablespace_advisor.copy_wal_per_byte() IS
	'bytes of WAL that the last copies wrote per byte copied; NULL without any';

CREATE FUNCTION tablespace_advisor.left_lately()
RETURNS TABLE (relation oid, tablespaces name[])
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN QUERY SELECT l.relation, array_agg(t.spcname)
		FROM (SELECT m.relation, m.from_tablespace
			FROM tablespace_advisor.job j
			CROSS JOIN LATERAL (SELECT j.relation, j.from_tablespace
				UNION ALL SELECT i.index, i.from_tablespace
				FROM unnest(j.indexes, j.indexes_from) i (index, from_tablespace)) m
			WHERE j.state = 'done' AND j.finished_at > clock_timestamp() - interval '7 days'
				AND m.from_tablespace <> j.to_tablespace
			GROUP BY m.relation, m.from_tablespace) l
		JOIN pg_tablespace t ON t.oid = l.from_tablespace
		GROUP BY l.relation;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.left_lately() IS
	'tablespaces that relations were moved away from within a week, indexes that moved with their table among them';

/* Of a table that moves with its indexes these, too. */
CREATE FUNCTION tablespace_advisor.moves_under_way()
RETURNS TABLE (relation oid, job_id bigint)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY SELECT m.relation, min(j.job_id)
		FROM tablespace_advisor.job j
		CROSS JOIN LATERAL unnest(j.relation || j.indexes) m (relation)
		WHERE tablespace_advisor.is_unfinished(j.state)
			AND j.database = (SELECT d.oid FROM pg_database d
				WHERE d.datname = current_database())
			AND j.system_identifier = (SELECT c.system_identifier FROM pg_control_system() c)
		GROUP BY m.relation;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.moves_under_way() IS
	'relations that are being moved, or are to be, with their jobs';

/*
 * Random reads by depth are the pooled results of the last runs; a twentieth of the
 * file system stays free: file systems slow down, and servers stop, when nothing is
 * left.
 */
CREATE FUNCTION tablespace_advisor.tablespace_facts(caller oid, table_owner oid)
RETURNS SETOF tablespace_advisor.tablespace_fact
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH result AS MATERIALIZED (
		SELECT r.* FROM tablespace_advisor.pooled_probe_result r
		WHERE NOT r.has_caveat
	), written AS (
		SELECT r.tablespace_oid, max(r.queue_depth * 1e6 / r.mean_us) AS per_s
		FROM result r WHERE r.workload = 'random write' AND r.mean_us > 0
		GROUP BY r.tablespace_oid
	)
	SELECT l.tablespace, l.run_id,
		l.random_read_us, l.random_read_low_us, l.random_read_high_us,
		coalesce(curve.depths, CASE WHEN l.random_read_us IS NOT NULL
			THEN ARRAY[1.0::float8] ELSE '{}' END),
		coalesce(curve.latencies, CASE WHEN l.random_read_us IS NOT NULL
			THEN ARRAY[l.random_read_us] ELSE '{}' END),
		cached.mean_us,
		l.sequential_page_us, l.sequential_write_page_us,
		w.per_s,
		tablespace_advisor.copy_rates(l.tablespace, caller),
		/* like the server, ask nothing for the database's own tablespace */
		l.tablespace_oid = d.dattablespace
			OR has_tablespace_privilege(caller, l.tablespace_oid, 'CREATE')
			OR has_tablespace_privilege(table_owner, l.tablespace_oid, 'CREATE'),
		v.volatile,
		coalesce(v.shares_device_with, '{}')::name[],
		tablespace_advisor.room_of(v.free_bytes, v.size_bytes),
		l.random_read_caveat,
		CASE WHEN l.random_read_us IS NOT NULL THEN 'probe' END,
		NULL::float8, NULL::float8, NULL::float8, NULL::int, NULL::float8,
		v.media = 'rotational' AND (SELECT cardinality(d.leaves) = 1
			FROM tablespace_advisor.tablespace_device(l.tablespace_oid) d)
	FROM tablespace_advisor.tablespace_latency l
	JOIN pg_database d ON d.datname = current_database()
	LEFT JOIN tablespace_advisor.device v ON v.tablespace = l.tablespace
	LEFT JOIN written w ON w.tablespace_oid = l.tablespace_oid
	LEFT JOIN LATERAL
		(SELECT array_agg(r.queue_depth::float8 ORDER BY r.queue_depth) AS depths,
				array_agg(r.mean_us ORDER BY r.queue_depth) AS latencies
			FROM result r
			WHERE r.tablespace_oid = l.tablespace_oid
				AND r.workload = 'random read'
				AND l.random_read_us IS NOT NULL) curve ON true
	LEFT JOIN LATERAL
		(SELECT r.mean_us FROM result r
			WHERE r.tablespace_oid = l.tablespace_oid
				AND r.workload = 'cached read' LIMIT 1) cached ON true
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_facts(oid, oid) IS
	'facts on every tablespace but pg_global; may_create: one of the two roles may make relations there';

/*
 * Tablespaces that the session assumes.  At depth they are like the one named,
 * scaled; else they serve as many at a time, each as fast as one alone, as the
 * reads per second that were given allow.  Given values have no interval.
 */
CREATE FUNCTION tablespace_advisor.assumed_facts(
	tablespaces tablespace_advisor.tablespace_fact[])
RETURNS SETOF tablespace_advisor.tablespace_fact
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT a.tablespace, NULL::bigint, a.random_read_us, a.random_read_us, a.random_read_us,
		c.depths, c.latencies, k.cached_us,
		l.sequential_page_us * f.factor, l.sequential_write_page_us * f.factor,
		l.max_writes_per_s / f.factor, NULL::jsonb, true, false, '{}'::name[],
		tablespace_advisor.room_of(a.bytes, a.bytes), NULL, 'assumed',
		NULL::float8, NULL::float8, NULL::float8, NULL::int, NULL::float8, false
	FROM tablespace_advisor.assumed_tablespaces() a
	LEFT JOIN unnest(tablespaces) l ON l.tablespace = a.like_tablespace
		AND l.random_read_us IS NOT NULL
	CROSS JOIN LATERAL (SELECT a.random_read_us / l.random_read_us AS factor) f
	CROSS JOIN (SELECT min(o.cached_read_us) AS cached_us FROM unnest(tablespaces) o) k
	CROSS JOIN LATERAL (SELECT array_agg(p.depth ORDER BY p.depth) AS depths,
			array_agg(greatest(p.us, coalesce(p.depth * 1e6 / a.max_reads_per_s, 0))
				ORDER BY p.depth) AS latencies
		FROM (SELECT d.depth, d.us * f.factor AS us
				FROM unnest(l.depths, l.depth_read_us) d (depth, us)
			UNION ALL
			SELECT DISTINCT d.depth, a.random_read_us
				FROM unnest(ARRAY[1, greatest(1,
					a.max_reads_per_s * a.random_read_us / 1e6)]) d (depth)
				WHERE l.tablespace IS NULL) p) c
$$;
COMMENT ON FUNCTION tablespace_advisor.assumed_facts(tablespace_advisor.tablespace_fact[]) IS
	'facts on the tablespaces of assume_tablespace(), made from those on the tablespaces there are';

/*
 * Adds the devices' own counters in the window.  Where no probe is to be trusted,
 * it takes its place: of a place that relations leave, it is the present time of
 * their reads; of a place they go to, a bound, since a curve of one point takes a
 * device for busy beyond it (curve.c).
 */
CREATE FUNCTION tablespace_advisor.with_present_latency(
	tablespaces tablespace_advisor.tablespace_fact[],
	devices tablespace_advisor.device_rate[])
RETURNS SETOF tablespace_advisor.tablespace_fact
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	f record;
	d record;
BEGIN
	FOREACH f IN ARRAY tablespaces LOOP
		SELECT r.* INTO d FROM unnest(devices) r
		JOIN pg_tablespace t ON t.oid = r.tablespace
		WHERE t.spcname = f.tablespace;
		f.present_read_us := d.read_us;
		f.present_read_low_us := d.read_low_us;
		f.present_read_high_us := d.read_high_us;
		f.present_intervals := d.intervals;
		f.present_in_flight := d.all_reads_in_flight
			+ CASE WHEN f.is_serial THEN d.writes_in_flight ELSE 0 END;
		IF f.random_read_us IS NULL AND d.read_us IS NOT NULL THEN
			f.latency_from := 'counters';
			f.random_read_us := d.read_us;
			f.random_read_low_us := d.read_low_us;
			f.random_read_high_us := d.read_high_us;
			f.depths := ARRAY[greatest(1, d.reads_in_flight)];
			f.depth_read_us := ARRAY[d.read_us];
		END IF;
		RETURN NEXT f;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.with_present_latency(tablespace_advisor.tablespace_fact[], tablespace_advisor.device_rate[]) IS
	'the facts on tablespaces with the devices'' counters in the window, which stand in where no probe is to be trusted';

/*
 * Where neither a probe nor counters say anything of a tablespace (NFS, ZFS, a
 * container, bulk reads on the same disk), the server's timing does: of the time
 * that all reads took, the part that those of other tablespaces and of the system's
 * cache do not take is that of its reads, of which those that the cache does not
 * hold take the rest.  Reads that are no relation's come from the cache; if instead
 * they took as long as its own, and those of other tablespaces twice as long as
 * known, each took less: this is the lower end.  Over half of the reads and of
 * their time have to be its own, and four fifths of the reads from unknown
 * tablespaces; the rest of that takes as long.
 */
CREATE FUNCTION tablespace_advisor.timed_latency(
	tablespaces tablespace_advisor.tablespace_fact[],
	relations tablespace_advisor.relation_fact[],
	load tablespace_advisor.load_fact,
	OUT tablespace name,
	OUT read_us float8,
	OUT low_us float8,
	OUT high_us float8)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS (
		SELECT r.tablespace, r.reads, f.random_read_us IS NULL AS is_unknown,
			r.device_reads / r.reads AS device_share,
			coalesce(f.present_read_us, f.random_read_us) AS us, c.us AS cached_us
		FROM (SELECT r.tablespace, sum(r.reads_per_s) AS reads,
				sum(r.reads_per_s * greatest(0, 1 - coalesce(r.system_cached, 0))) AS device_reads
			FROM tablespace_advisor.elements(relations) r WHERE r.reads_per_s > 0 GROUP BY r.tablespace) r
		LEFT JOIN unnest(tablespaces) f ON f.tablespace = r.tablespace
		CROSS JOIN (SELECT coalesce(min(p.cached_read_us), 0) AS us FROM unnest(tablespaces) p) c
	), rest AS (
		SELECT load.reads_per_s * load.timed_read_us AS all_us,
			greatest(0, load.reads_per_s - sum(p.reads)) AS others,
			coalesce(sum(p.reads
				* (p.device_share * p.us + (1 - p.device_share) * p.cached_us))
				FILTER (WHERE NOT p.is_unknown), 0) AS known_us,
			sum(p.reads) FILTER (WHERE p.is_unknown) AS unknown
		FROM place p
	), own AS (
		SELECT p.*, r.all_us,
			(r.all_us - r.known_us - r.others * p.cached_us) / r.unknown AS mean_us,
			(r.all_us - 2 * r.known_us) / (r.unknown + r.others) AS low_us
		FROM place p CROSS JOIN rest r
		WHERE p.is_unknown AND p.reads >= 0.8 * r.unknown
	)
	SELECT o.tablespace, d.us, o.low_us, 2 * d.us - o.mean_us
	FROM own o
	CROSS JOIN LATERAL (SELECT greatest(o.mean_us,
		(o.mean_us - (1 - o.device_share) * o.cached_us) / nullif(o.device_share, 0)) AS us) d
	WHERE o.reads > 0.5 * load.reads_per_s AND o.mean_us > o.cached_us
		AND o.reads * o.mean_us > 0.5 * o.all_us
$$;
COMMENT ON FUNCTION tablespace_advisor.timed_latency(tablespace_advisor.tablespace_fact[], tablespace_advisor.relation_fact[], tablespace_advisor.load_fact) IS
	'microseconds, with bounds, that a read takes in a tablespace that nothing was measured of, by the server''s timing; no row unless it has over half of the reads and of their time, and four fifths of those of all such tablespaces';

CREATE FUNCTION tablespace_advisor.with_timed_latency(
	tablespaces tablespace_advisor.tablespace_fact[],
	relations tablespace_advisor.relation_fact[],
	load tablespace_advisor.load_fact)
RETURNS SETOF tablespace_advisor.tablespace_fact
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	f record;
	timed record;
BEGIN
	SELECT t.* INTO timed
	FROM tablespace_advisor.timed_latency(tablespaces, relations, load) t
	WHERE load.timed_read_us IS NOT NULL
		AND EXISTS (SELECT FROM unnest(tablespaces) u WHERE u.random_read_us IS NULL);
	FOREACH f IN ARRAY tablespaces LOOP
		IF f.tablespace = timed.tablespace AND timed.read_us IS NOT NULL THEN
			f.latency_from := 'timing';
			f.random_read_us := timed.read_us;
			f.random_read_low_us := timed.low_us;
			f.random_read_high_us := timed.high_us;
			f.depths := ARRAY[1];
			f.depth_read_us := ARRAY[timed.read_us];
		END IF;
		RETURN NEXT f;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.with_timed_latency(tablespace_advisor.tablespace_fact[], tablespace_advisor.relation_fact[], tablespace_advisor.load_fact) IS
	'the facts on tablespaces, with a read time by the server''s timing for the one that nothing was measured of, where timed_latency() knows it';

/*
 * The planner's statistics of an index on one column: bytes of a key, correlation
 * with the order of the table, entries.  Columns of a table go by their own
 * statistics, expressions by the index's.  plpgsql, which plans for as many indexes
 * as there are.
 */
CREATE FUNCTION tablespace_advisor.index_shape(indexes oid[])
RETURNS TABLE (relation oid, entries float8, key_bytes float8, "fillfactor" float8,
	correlation float8, column_name name)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
	btree oid := (SELECT m.oid FROM pg_am m WHERE m.amname = 'btree');
BEGIN
	RETURN QUERY WITH shape AS MATERIALIZED (
		SELECT i.indexrelid, i.indrelid,
			CASE WHEN i.indnatts = 1 THEN nullif(i.indkey[0], 0) END AS single,
			/* NULL: not known of each column */
			CASE WHEN count(*) = count(w.bytes) THEN sum(w.bytes) END AS bytes
		FROM unnest(indexes) t
		JOIN pg_index i ON i.indexrelid = t
		JOIN pg_attribute a ON a.attrelid = t AND a.attnum > 0
		CROSS JOIN LATERAL (SELECT i.indkey[a.attnum - 1] AS attnum) c
		CROSS JOIN LATERAL (SELECT CASE WHEN a.attlen > 0 THEN a.attlen
			ELSE (SELECT s.stawidth FROM pg_statistic s
				WHERE s.starelid = CASE c.attnum WHEN 0 THEN i.indexrelid ELSE i.indrelid END
					AND s.staattnum = CASE c.attnum WHEN 0 THEN a.attnum ELSE c.attnum END
					AND NOT s.stainherit) END AS bytes) w
		GROUP BY i.indexrelid, i.indrelid, i.indnatts, i.indkey[0]
	)
	SELECT c.oid, c.reltuples::float8,
		CASE WHEN h.bytes IS NOT NULL THEN
			greatest(least(h.bytes, current_setting('block_size')::int / 3), 0) END::float8,
		coalesce(CASE WHEN c.reloptions IS NOT NULL THEN (SELECT o.value::float8
			FROM tablespace_advisor.read_settings(c.reloptions) o
			WHERE o.name = 'fillfactor' AND NOT o.is_cut) END, 90),
		(SELECT CASE 3 WHEN s.stakind1 THEN s.stanumbers1[1]
				WHEN s.stakind2 THEN s.stanumbers2[1]
				WHEN s.stakind3 THEN s.stanumbers3[1]
				WHEN s.stakind4 THEN s.stanumbers4[1]
				WHEN s.stakind5 THEN s.stanumbers5[1] END::float8
			FROM pg_statistic s
			WHERE s.starelid = h.indrelid AND s.staattnum = h.single AND NOT s.stainherit),
		(SELECT t.attname FROM pg_attribute t
			WHERE t.attrelid = h.indrelid AND t.attnum = h.single)
	FROM shape h JOIN pg_class c ON c.oid = h.indexrelid AND c.relam = btree;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.index_shape(oid[]) IS
	'of B-trees among these: entries, mean bytes of a key, fillfactor, and of those on one column its name and the correlation of its values with the order of the table; NULL where the planner''s statistics do not say';

CREATE FUNCTION tablespace_advisor.index_expression(index oid)
RETURNS text
LANGUAGE C STRICT STABLE
AS 'MODULE_PATHNAME', 'tsa_index_expression';
COMMENT ON FUNCTION tablespace_advisor.index_expression(oid) IS
	'the first column of an index as CREATE INDEX would name it; NULL where that would wait for a lock on the table, or there is no such index';

CREATE FUNCTION tablespace_advisor.members_of(
	tables oid[],
	rates tablespace_advisor.relation_rate[])
RETURNS TABLE (relation oid, table_oid oid, kind text, tablespace oid, filenode oid,
	toast_filenode oid, obstacle text, is_unique boolean, on_expression boolean,
	size_bytes bigint, toast_bytes bigint, heap_bytes bigint, reads_per_s float8,
	maintenance_reads_per_s float8, hits_per_s float8, writes_per_s float8,
	hot_fraction float8, tuples_per_scan float8, cached float8, scans bigint,
	counted_since timestamptz, measured boolean, waiting_sessions float8,
	scan_reads_per_s float8, scan_sessions float8)
LANGUAGE C STRICT STABLE ROWS 10000
AS 'MODULE_PATHNAME', 'tsa_members_of';
COMMENT ON FUNCTION tablespace_advisor.members_of(oid[], tablespace_advisor.relation_rate[]) IS
	'tables and their indexes: where they are, their files, why they cannot be moved while in use; on_expression: an index on one expression; then rates of observe_database() added up over relations that move together, columns as in relation_fact; heap_bytes: of an index''s table; the share that the system''s cache serves is that of the pages it has now, if the rates have none';

/*
 * Rows that a plain scan of an index fetches, in its order or not, count for the
 * index; those of a bitmap scan count for the table alone.  An index-only scan may
 * fetch none: rows read from the index and fetched by no bitmap are such a scan's.
 */
CREATE FUNCTION tablespace_advisor.is_read_by_bitmap(index oid, heap oid)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT pg_stat_get_tuples_fetched(index) = 0 AND pg_stat_get_tuples_returned(index) > 0
		AND pg_stat_get_tuples_fetched(heap) - sum(pg_stat_get_tuples_fetched(i.indexrelid))
			>= pg_stat_get_tuples_returned(index) / 2
	FROM pg_index i WHERE i.indrelid = heap
$$;
COMMENT ON FUNCTION tablespace_advisor.is_read_by_bitmap(oid, oid) IS
	'whether all executed scans of an index made bitmaps, for which its order does not count';

/*
 * plpgsql, which plans for as many tables as there are.  An index below 8 MB is not
 * called bloated, nor to be replaced by BRIN (findings.c).
 */
CREATE FUNCTION tablespace_advisor.relation_facts(
	rates tablespace_advisor.relation_rate[],
	tables oid[],
	shaped_bytes bigint DEFAULT 0)
RETURNS tablespace_advisor.relation_fact[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
	made timestamptz := (SELECT (pg_stat_file('base/' || d.oid || '/PG_VERSION', true)).modification
		FROM pg_database d WHERE d.datname = current_database());
BEGIN
	RETURN array(WITH member AS MATERIALIZED (
		SELECT m.* FROM tablespace_advisor.members_of(tables, coalesce(rates, '{}')) m
	), role AS MATERIALIZED (
		SELECT r.indexrelid, r.unusable, r.needed_for
		FROM unnest(tables) t JOIN tablespace_advisor.index_role r ON r.indrelid = t
	), shape AS MATERIALIZED (
		SELECT x.* FROM tablespace_advisor.index_shape(
			array(SELECT i.relation FROM member i
				WHERE i.kind = 'index' AND coalesce(i.size_bytes, shaped_bytes) >= shaped_bytes)) x
	)
	SELECT ROW(m.relation::regclass, m.table_oid::regclass, m.kind, s.spcname, z.bytes, m.toast_bytes,
		/* the table's owner can have put anything into its statistics */
		least(m.size_bytes, tablespace_advisor.estimate_btree_bytes(
			least(x.entries, z.bytes / 4), x.key_bytes, x."fillfactor")),
		CASE WHEN x.correlation IS NOT NULL AND NOT m.is_unique
				AND tablespace_advisor.is_read_by_bitmap(m.relation, m.table_oid)
			THEN tablespace_advisor.estimate_brin_bytes(m.heap_bytes) END,
		m.reads_per_s, m.hits_per_s, m.writes_per_s, m.hot_fraction,
		m.tuples_per_scan, x.correlation, m.cached, m.scans,
		pg_stat_get_tuples_inserted(m.table_oid) + pg_stat_get_tuples_updated(m.table_oid)
			+ CASE m.kind WHEN 'heap' THEN pg_stat_get_tuples_deleted(m.table_oid)
				ELSE -pg_stat_get_tuples_hot_updated(m.table_oid) END,
		date_part('epoch', clock_timestamp() - greatest(m.counted_since, made)) / 86400,
		x.column_name,
		CASE WHEN m.scans = 0 AND r.needed_for IS NULL AND m.on_expression
			THEN tablespace_advisor.index_expression(m.relation) END,
		r.unusable, r.needed_for, u.duplicate_of::regclass,
		coalesce(m.obstacle, CASE WHEN pin.relation IS NOT NULL THEN concat('pinned',
				': ' || tablespace_advisor.printable(pin.reason))
			WHEN m.measured IS NOT TRUE THEN 'there by policy (' || y.policy
				|| '); whether statements wait is not measured' END),
		l.tablespaces, m.maintenance_reads_per_s, w.job_id, m.measured,
		m.waiting_sessions, m.scan_reads_per_s, m.scan_sessions, y.policy)::tablespace_advisor.relation_fact
	FROM member m
	LEFT JOIN pg_tablespace s ON s.oid = m.tablespace
	LEFT JOIN shape x ON x.relation = m.relation
	LEFT JOIN role r ON r.indexrelid = m.relation
	LEFT JOIN tablespace_advisor.duplicate_indexes(tables) u ON u.indexrelid = m.relation
	LEFT JOIN tablespace_advisor.left_lately() l ON l.relation = m.relation
	LEFT JOIN tablespace_advisor.moves_under_way() w ON w.relation = m.relation
	LEFT JOIN tablespace_advisor.placed_by_policy() y ON y.relation = m.relation
		AND y.tablespace = m.tablespace
	LEFT JOIN tablespace_advisor.placement_pin pin ON pin.relation = m.relation
		AND (pin.ends_at > clock_timestamp()) IS NOT FALSE
	CROSS JOIN LATERAL (SELECT coalesce(m.size_bytes,
		tablespace_advisor.file_bytes(m.tablespace, m.filenode)
		+ coalesce(tablespace_advisor.file_bytes(m.tablespace, m.toast_filenode), 0)) AS bytes) z);
END
$$;
COMMENT ON FUNCTION tablespace_advisor.relation_facts(tablespace_advisor.relation_rate[], oid[], bigint) IS
	'facts on these tables and their indexes, from the rates of observe_database() and the catalogs; shaped_bytes: of smaller indexes without what the planner''s statistics say (index_shape())';

/* A table, or the partitions below it that have storage, without locks. */
CREATE FUNCTION tablespace_advisor.leaves_of(target regclass)
RETURNS SETOF oid
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH RECURSIVE tree (member) AS (
		SELECT target::oid
		UNION ALL
		SELECT i.inhrelid FROM tree t
		JOIN pg_class c ON c.oid = t.member AND c.relkind IN ('p', 'I')
		JOIN pg_inherits i ON i.inhparent = t.member AND NOT i.inhdetachpending
	)
	SELECT t.member FROM tree t JOIN pg_class c ON c.oid = t.member
	WHERE c.relkind IN ('r', 'm', 'i')
$$;
COMMENT ON FUNCTION tablespace_advisor.leaves_of(regclass) IS
	'a table or index, or if it is partitioned its partitions with storage';

/* Tables of which something is to be said though nobody uses them. */
CREATE FUNCTION tablespace_advisor.tables_with_faults(
	tablespaces tablespace_advisor.tablespace_fact[])
RETURNS SETOF oid
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT i.indrelid FROM pg_index i
	WHERE NOT i.indisvalid AND i.indrelid >= 16384
	UNION
	SELECT i.indrelid
	FROM (SELECT i.indrelid FROM pg_index i WHERE i.indrelid >= 16384
		GROUP BY i.indrelid, i.indnatts, i.indkey[0] HAVING count(*) > 1) s
	JOIN pg_index i ON i.indrelid = s.indrelid
	GROUP BY i.indrelid, i.indkey::int2[], i.indclass, i.indcollation
	HAVING count(*) > 1
	UNION
	SELECT i.heap FROM tablespace_advisor.relation_inventory i
	WHERE i.tablespace IN
		(SELECT t.oid FROM unnest(tablespaces) f
			JOIN pg_tablespace t ON t.spcname = f.tablespace
			WHERE f.available_bytes < 0)
		AND EXISTS (SELECT FROM unnest(tablespaces) f WHERE f.available_bytes < 0)
$$;
COMMENT ON FUNCTION tablespace_advisor.tables_with_faults(tablespace_advisor.tablespace_fact[]) IS
	'tables with an index that is invalid or perhaps a duplicate, or in a tablespace that is over its mark';
