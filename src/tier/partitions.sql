/* Copyright (c) 2026, The tablespace_advisor developers */

/* Partitions by age and by disuse. */

/*
 * The upper bound of the first range key as a time.  The bound is printed in
 * ISO form, so that reading it back gives the same time.  Integer keys are
 * times only where pg_partman says so.  Without the partition's OID, of which a
 * bound names nothing, it is printed without a lock.
 */
CREATE FUNCTION tablespace_advisor.partition_upper_bound(
	partition oid, partman_epoch text DEFAULT NULL)
RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO'
AS $$
	SELECT CASE
		WHEN b.literal IS NULL OR b.literal LIKE '%infinity' THEN NULL
		/* a date that is no timestamp is as far away as the end of time */
		WHEN o.opcintype = 'date'::regtype THEN
			CASE WHEN b.literal::date BETWEEN '4000-01-01 BC' AND '200000-01-01'
				THEN b.literal::date::timestamptz END
		WHEN o.opcintype = 'timestamp'::regtype THEN
			CASE WHEN b.literal::timestamp BETWEEN '4000-01-01 BC' AND '200000-01-01'
				THEN b.literal::timestamp::timestamptz END
		WHEN o.opcintype = 'timestamptz'::regtype
			THEN b.literal::timestamptz
		WHEN o.opcintype IN ('int4'::regtype, 'int8'::regtype) THEN
			(SELECT CASE WHEN abs(s.seconds) < 6e12 THEN to_timestamp(s.seconds) END
				FROM (SELECT b.literal::float8 / CASE partman_epoch
					WHEN 'seconds' THEN 1 WHEN 'milliseconds' THEN 1e3
					WHEN 'microseconds' THEN 1e6 WHEN 'nanoseconds' THEN 1e9 END) s(seconds))
		END
	FROM pg_class c
		JOIN pg_inherits i ON i.inhrelid = c.oid
		JOIN pg_partitioned_table p ON p.partrelid = i.inhparent
			AND p.partstrat = 'r'
		JOIN pg_opclass o ON o.oid = p.partclass[0]
		CROSS JOIN LATERAL (SELECT "substring"(
			pg_get_expr(tablespace_advisor.short_tree(c.relpartbound), 0),
			'^FOR VALUES FROM [(](?:''(?:[^'']|'''')*''|[^''()])*[)] TO [(]''?([^'',)]*)')) m(literal)
		CROSS JOIN LATERAL (SELECT nullif(m.literal, 'MAXVALUE')) b(literal)
	WHERE c.oid = partition AND c.relispartition
$$;
COMMENT ON FUNCTION tablespace_advisor.partition_upper_bound(oid, text) IS
	'upper bound of the first key of a range partition; NULL where it is no time, has no end, or is beyond the years 4000 BC to 200000. partman_epoch: the unit of an integer key, as in pg_partman''s part_config';

/*
 * How an integer key counts time, and after which time partitions are dropped,
 * if they are and not only detached or moved.
 */
CREATE FUNCTION tablespace_advisor.partman_config(
	target oid, OUT epoch text, OUT retention interval)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT max(nullif(p.fields[2], 'none')),
		max(p.fields[3]::interval) FILTER (WHERE p.fields[3] !~ '^[0-9]+$'
			AND p.fields[4] IS NULL AND p.fields[5] = 'f')
	FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN tablespace_advisor.member_rows('pg_partman', 'part_config',
			'{parent_table,epoch,retention,retention_schema,retention_keep_table}') p
			ON p.fields[1] = format('%s.%s', n.nspname, c.relname)
	WHERE c.oid = target
$$;
COMMENT ON FUNCTION tablespace_advisor.partman_config(oid) IS
	'pg_partman''s settings of a partitioned table; NULLs if it has none. retention: after which it drops partitions';

/*
 * Partitions with storage of a partitioned table, or chunks of a hypertable
 * with the relations of their compressed rows, which are used as one.
 */
CREATE FUNCTION tablespace_advisor.partition_leaves(target oid)
RETURNS TABLE (member oid, used_as oid, upper_bound timestamptz,
	is_whole boolean)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH RECURSIVE partman AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.partman_config(target)
	), tree(member, kind, upper_bound) AS (
		SELECT c.oid, c.relkind, NULL::timestamptz
		FROM pg_class c WHERE c.oid = target AND c.relkind = 'p'
		UNION ALL
		SELECT c.oid, c.relkind, least(t.upper_bound,
			tablespace_advisor.partition_upper_bound(c.oid,
				(SELECT p.epoch FROM partman p)))
		FROM tree t
			JOIN pg_inherits i ON i.inhparent = t.member
				AND NOT i.inhdetachpending
			JOIN pg_class c ON c.oid = i.inhrelid
		WHERE t.kind = 'p'
	)
	SELECT t.member, t.member, t.upper_bound, true FROM tree t WHERE t.kind <> 'p'
	UNION ALL
	SELECT c.* FROM tablespace_advisor.chunks_of(target) c
$$;
COMMENT ON FUNCTION tablespace_advisor.partition_leaves(oid) IS
	'partitions of a table that have storage, chunks of a hypertable and the relations of their compressed rows; used_as: of those the chunk, else the partition; is_whole: see chunks_of()';

/* Their properties. */
CREATE FUNCTION tablespace_advisor.partition_facts(target oid)
RETURNS TABLE (oid oid, relkind "char", is_plain boolean, is_whole boolean,
	relowner oid,
	upper_bound timestamptz, age interval, tablespace oid, size_bytes bigint,
	last_used timestamptz, moved_at timestamptz, unfinished bigint)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH leaf AS MATERIALIZED (
		SELECT c.*, t.used_as, t.upper_bound, t.is_whole
		FROM tablespace_advisor.partition_leaves(target) t
			JOIN pg_class c ON c.oid = t.member
	), used AS MATERIALIZED (
		SELECT u.used_as, max(u.at) AS last_used
		FROM (
			SELECT l.used_as, s.taken_at AS at
			FROM tablespace_advisor.relation_sample r
				JOIN tablespace_advisor.sample s USING (sample_id)
				LEFT JOIN pg_index i ON i.indexrelid = r.relation
				JOIN leaf l ON l.oid = coalesce(i.indrelid, r.relation)
			/* planning scans the ends of indexes, an entry each; where waits
			   are measured, executions are known */
			WHERE CASE WHEN i.indexrelid IS NOT NULL AND l.relispartition
						AND coalesce(r.tuples_read, 0) <= coalesce(r.scans, 0)
						AND s.waits_measured_s >= 0.9
							* extract(epoch FROM s.taken_at - s.started_at) THEN 0
					ELSE coalesce(r.scans, 0) + coalesce(r.tuples_read, 0) END
				+ coalesce(r.inserted, 0) + coalesce(r.updated, 0)
				+ coalesce(r.deleted, 0) > 0
			UNION ALL
			SELECT l.used_as, e.executed_at
			FROM tablespace_advisor.executed_partition e
				JOIN leaf l ON l.oid = e.relation
		) u
		GROUP BY 1
	)
	SELECT l.oid, l.relkind,
		bool_and(l.relpersistence = 'p' AND l.relam = 2)
			OVER (PARTITION BY l.used_as),
		l.is_whole, l.relowner,
		l.upper_bound, clock_timestamp() - l.upper_bound,
		CASE l.reltablespace WHEN 0 THEN d.dattablespace
			ELSE l.reltablespace END,
		(SELECT sum(tablespace_advisor.relation_bytes(r))::bigint
			FROM unnest(ARRAY[l.oid, l.reltoastrelid]) r
			WHERE r <> 0),
		u.last_used, j.moved_at, j.unfinished
	FROM leaf l
		JOIN pg_database d ON d.datname = current_database()
		LEFT JOIN used u ON u.used_as = l.used_as
		CROSS JOIN LATERAL (SELECT
				max(j.finished_at) FILTER (WHERE j.state = 'done') AS moved_at,
				min(j.job_id) FILTER (WHERE tablespace_advisor.is_unfinished(j.state)) AS unfinished
			FROM tablespace_advisor.job j WHERE j.relation = l.oid) j
$$;
COMMENT ON FUNCTION tablespace_advisor.partition_facts(oid) IS
	'properties of partition_leaves(); is_plain: permanent and of the access method heap, of a chunk with its compressed rows; last_used: by samples, of a chunk and its compressed rows as one; unfinished: a move that has not ended';

CREATE FUNCTION tablespace_advisor.partition_reason(
	finding text, detail text, more text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE finding
		WHEN 'there already' THEN 'It is there already.'
		WHEN 'no storage' THEN 'It has no storage of its own here.'
		WHEN 'no live copy' THEN
			'Live copy does not apply: it is unlogged, temporary or of an access method that is not known.'
		WHEN 'not whole' THEN 'It is not known where its compressed rows are.'
		WHEN 'owner' THEN format('It belongs to role %I.', detail)
		WHEN 'moving' THEN format('Move %s of it has not ended.', detail)
		WHEN 'no age' THEN 'Its age is unknown: it has no upper bound that is a time.'
		WHEN 'too young' THEN format('It is younger than %s.', detail)
		WHEN 'no samples' THEN
			'There are no samples to tell since when it is unused; see sample_activity().'
		WHEN 'few samples' THEN format('The samples reach back to %s only.', detail)
		WHEN 'used' THEN format('It was used before %s.', detail)
		WHEN 'dropped soon' THEN format('%s drops it after %s.', detail, more)
		WHEN 'moved lately' THEN format('It was moved at %s, less than %s ago.', detail, more)
		WHEN 'moved back' THEN format('Statements wait for it: by advice it was moved back at %s, and it was used within %s.', detail, more)
		WHEN 'due' THEN concat_ws(' ', 'It is older than ' || detail || '.',
			'No sample saw it used for ' || more || '.')
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.partition_reason(text, text, text) IS
	'the reason for a partition, in words; detail, more: names, times or numbers in it';

/*
 * Partitions of a table to move and to keep.  Samples tell which were not used: up
 * to the last one, as far back as they reach.  asker: the role that would move
 * them, NULL for their owner.
 */
CREATE FUNCTION tablespace_advisor.judge_partitions(
	target oid, target_tablespace oid, older_than interval,
	unused_for interval, min_residence interval, asker oid)
RETURNS TABLE (partition oid, upper_bound timestamptz, age interval,
	idle_for interval, size_bytes bigint, action text, reason text)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH policy AS MATERIALIZED (
		SELECT 'pg_partman' AS name, p.retention
		FROM tablespace_advisor.partman_config(target) p
		WHERE p.retention IS NOT NULL
		UNION ALL
		SELECT 'TimescaleDB', r
		FROM tablespace_advisor.hypertable_retention(target) r
		WHERE r IS NOT NULL
	), coverage AS MATERIALIZED (
		SELECT min(coalesce(s.started_at, s.taken_at)) AS since,
			max(s.taken_at) AS until
		FROM tablespace_advisor.sample s
	), moved_back AS MATERIALIZED (
		SELECT j.relation, max(j.finished_at) AS at
		FROM tablespace_advisor.placement_round r
			JOIN tablespace_advisor.job j USING (batch_id)
		WHERE j.state = 'done' AND j.from_tablespace = target_tablespace
			AND j.to_tablespace <> target_tablespace
		GROUP BY j.relation
	), judged AS MATERIALIZED (
		SELECT l.*, c.until - coalesce(l.last_used, c.since) AS idle_for,
			c.since, m.at AS moved_back_at, p.name AS policy, l.upper_bound + p.retention AS dropped_at, CASE
				WHEN l.tablespace = target_tablespace THEN 'there already'
				WHEN l.relkind <> 'r' THEN 'no storage'
				WHEN NOT l.is_plain THEN 'no live copy'
				WHEN NOT l.is_whole THEN 'not whole'
				WHEN NOT pg_has_role(asker, l.relowner, 'USAGE') THEN 'owner'
				WHEN l.unfinished IS NOT NULL THEN 'moving'
				WHEN older_than IS NOT NULL AND l.upper_bound IS NULL THEN 'no age'
				WHEN older_than IS NOT NULL AND l.age < older_than THEN 'too young'
				WHEN unused_for IS NOT NULL AND c.until IS NULL THEN 'no samples'
				WHEN unused_for IS NOT NULL
						AND c.until - coalesce(l.last_used, c.since) < unused_for
					THEN CASE WHEN l.last_used IS NULL THEN 'few samples' ELSE 'used' END
				WHEN l.upper_bound + p.retention < clock_timestamp() + min_residence
					THEN 'dropped soon'
				WHEN l.moved_at > clock_timestamp() - min_residence THEN 'moved lately'
				WHEN m.at IS NOT NULL AND c.until - greatest(m.at,
					coalesce(l.last_used, c.since)) < interval '30 days' THEN 'moved back'
				ELSE 'due' END AS finding
		FROM tablespace_advisor.partition_facts(target) l
			CROSS JOIN coverage c
			LEFT JOIN policy p ON true
			LEFT JOIN moved_back m ON m.relation = l.oid
	)
	SELECT j.oid, j.upper_bound, date_trunc('day', j.age), date_trunc('second', j.idle_for),
		j.size_bytes,
		CASE j.finding WHEN 'due' THEN 'move' ELSE 'keep' END,
		tablespace_advisor.partition_reason(j.finding, CASE j.finding
				WHEN 'owner' THEN pg_get_userbyid(j.relowner)::text
				WHEN 'moving' THEN j.unfinished::text
				WHEN 'too young' THEN older_than::text
				WHEN 'few samples' THEN j.since::text
				WHEN 'used' THEN j.last_used::text
				WHEN 'dropped soon' THEN j.policy
				WHEN 'moved lately' THEN j.moved_at::text
				WHEN 'moved back' THEN j.moved_back_at::text
				WHEN 'due' THEN older_than::text
			END, CASE j.finding
				WHEN 'dropped soon' THEN j.dropped_at::text
				WHEN 'moved lately' THEN min_residence::text
				WHEN 'moved back' THEN '30 days'
				WHEN 'due' THEN unused_for::text
			END)
	FROM judged j
	ORDER BY j.upper_bound, j.oid
$$;
COMMENT ON FUNCTION tablespace_advisor.judge_partitions IS
	'partitions with storage of a table and whether they are old enough, and unused for long enough, to be moved to a tablespace';

/* The moves of those that are, with their indexes. */
CREATE FUNCTION tablespace_advisor.partition_moves(
	target oid, target_tablespace oid, older_than interval,
	unused_for interval, min_residence interval, asker oid,
	with_indexes boolean)
RETURNS TABLE (relation oid, heap oid, kind "char", schema_name name,
	relation_name name, persistence "char", tablespace oid,
	to_tablespace oid, size_bytes bigint, method text, goes_along boolean,
	place bigint)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH chosen AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.judge_partitions(target,
			target_tablespace, older_than, unused_for, min_residence, asker) p
		WHERE p.action = 'move'
	), member AS (
		SELECT p.partition AS relation, p.partition AS heap, p.size_bytes,
			p.upper_bound, false AS goes_along
		FROM chosen p
		UNION ALL
		SELECT i.indexrelid, p.partition,
			tablespace_advisor.relation_bytes(i.indexrelid), p.upper_bound,
			true
		FROM chosen p
			JOIN pg_index i ON i.indrelid = p.partition AND i.indisvalid
		WHERE with_indexes
	)
	SELECT m.relation, m.heap, c.relkind, n.nspname, c.relname,
		c.relpersistence, t.tablespace, target_tablespace, m.size_bytes,
		'copy', m.goes_along,
		row_number() OVER (ORDER BY m.upper_bound, m.heap, m.goes_along,
			m.relation)
	FROM member m
		JOIN pg_class c ON c.oid = m.relation
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_database d ON d.datname = current_database()
		CROSS JOIN LATERAL (SELECT CASE c.reltablespace
			WHEN 0 THEN d.dattablespace ELSE c.reltablespace END)
			t(tablespace)
	WHERE t.tablespace <> target_tablespace
$$;
COMMENT ON FUNCTION tablespace_advisor.partition_moves IS
	'the moves of partitions that are to be moved, oldest first, each followed by its indexes';

CREATE FUNCTION @extschema@.advise_partition_placement(
	target regclass, tablespace name, older_than interval DEFAULT NULL,
	unused_for interval DEFAULT NULL,
	OUT partition regclass, OUT upper_bound timestamptz, OUT age interval,
	OUT idle_for interval, OUT size_bytes bigint, OUT action text,
	OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_advise_partition_placement'
LANGUAGE C STABLE ROWS 100;
COMMENT ON FUNCTION @extschema@.advise_partition_placement(
	regclass, name, interval, interval) IS
	'which partitions of a table, or chunks of a hypertable, move_partitions_concurrently() would move to a tablespace (action move) and which not (keep), oldest first, and why; age: days since the upper bound of the first range key, idle_for: since no sample saw it used. Errors: 42704 no such tablespace, 22004 no target or tablespace, 22023 neither older_than nor unused_for, or one that is negative, 42809 neither a partitioned table nor a hypertable, 0A000 a hypertable of a TimescaleDB with an unknown catalog, 42501 neither its owner nor a member of pg_monitor';

CREATE PROCEDURE @extschema@.move_partitions_concurrently(
	target regclass,
	tablespace name,
	older_than interval DEFAULT NULL,
	unused_for interval DEFAULT NULL,
	min_residence interval DEFAULT '7 days',
	with_indexes boolean DEFAULT true,
	until timestamptz DEFAULT NULL,
	max_rate text DEFAULT NULL,
	lock_timeout interval DEFAULT '100 ms',
	wait boolean DEFAULT true,
	dry_run boolean DEFAULT false,
	min_rate text DEFAULT NULL,
	finish_by timestamptz DEFAULT NULL,
	during text DEFAULT NULL,
	INOUT job_ids bigint[] DEFAULT NULL)
AS 'MODULE_PATHNAME', 'tsa_move_partitions_concurrently'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.move_partitions_concurrently(
	regclass, name, interval, interval, interval, boolean, timestamptz, text,
	interval, boolean, boolean, text, timestamptz, text, bigint[]) IS
	'moves the partitions that advise_partition_placement() names, oldest first, while they are in use; the partitioned table itself, and so new partitions, stay; to be called again and again, as by pg_cron. Errors as of advise_partition_placement() and move_table_concurrently(); a partition that could not be moved is a warning';
