/* Copyright (c) 2026, The tablespace_advisor developers */

/* Which relations of this database an evacuation moves, and how. */

/*
 * asker: the role that wants to move them.  Partitioned relations first, so
 * that new partitions are made in the new place; then tables with those of
 * their indexes that go with them, small ones first; the journal last.
 */
CREATE FUNCTION tablespace_advisor.evacuation_of(
	source oid, target oid, lock_up_to bigint, asker oid,
	max_rate bigint DEFAULT NULL)
RETURNS TABLE (relation oid, heap oid, kind "char", schema_name name,
	relation_name name, persistence "char", tablespace oid,
	to_tablespace oid, size_bytes bigint, how text, method text, goes_along boolean,
	move_seconds float8, why text, detail text, stays text, stays_detail text,
	is_journal boolean, place bigint)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH leaving AS MATERIALIZED (
		SELECT r.*
		FROM pg_database d
			CROSS JOIN LATERAL tablespace_advisor.leaving_relations(
				source, d.oid, d.dattablespace = source) r
		WHERE d.datname = current_database()
			AND (r.relation >= 16384 OR r.how <> 'with database')
	), busy AS MATERIALIZED (
		SELECT j.heap, min(j.job_id) AS job_id
		FROM tablespace_advisor.job j
		WHERE tablespace_advisor.is_unfinished(j.state)
		GROUP BY j.heap
	), judged AS MATERIALIZED (
		SELECT l.*, y.stays, y.stays_detail, CASE WHEN y.stays IS NULL THEN
				CASE l.how WHEN 'live' THEN 'copy' ELSE l.how END END AS method
		FROM leaving l
			LEFT JOIN busy b ON b.heap = l.heap
			CROSS JOIN LATERAL (SELECT CASE
				WHEN l.how IN ('temporary', 'with database', 'never')
						OR l.why = 'prepared'
					THEN l.why
				WHEN NOT pg_has_role(asker, l.owner, 'USAGE') THEN 'owner'
				WHEN b.job_id IS NOT NULL THEN 'moving'
				WHEN l.how <> 'lock' OR l.is_journal OR l.size_bytes <= lock_up_to
					THEN NULL
				WHEN lock_up_to IS NULL THEN 'may be locked'
				ELSE 'too large to lock' END) x(stays)
			CROSS JOIN LATERAL (SELECT x.stays, CASE x.stays WHEN 'owner'
					THEN pg_get_userbyid(l.owner)
				WHEN 'moving' THEN b.job_id::text
				WHEN 'too large to lock' THEN pg_size_pretty(lock_up_to)
				ELSE l.detail END) y(stays, stays_detail)
	), whole AS MATERIALIZED (
		SELECT j.*, sum(j.size_bytes) OVER w AS heap_bytes,
			j.kind = 'i' AND j.method = 'copy' AND bool_or(j.relation = j.heap
				AND j.method = 'copy') OVER w AS goes_along
		FROM judged j
		WINDOW w AS (PARTITION BY j.heap)
	), rate AS MATERIALIZED (
		SELECT m.method, tablespace_advisor.move_rate(source, target, m.method,
				max_rate, asker) AS bytes_per_s
		FROM unnest(ARRAY['copy', 'rebuild', 'lock']) m(method)
	)
	SELECT j.relation, j.heap, j.kind, j.schema_name, j.relation_name,
		j.persistence, source, target, j.size_bytes, j.how, j.method,
		coalesce(j.goes_along, false),
		CASE j.method WHEN 'catalog' THEN 0
			ELSE j.size_bytes / r.bytes_per_s END,
		CASE WHEN j.stays IS NOT NULL THEN j.why
			WHEN j.goes_along THEN 'along'
			WHEN j.kind = 'p' AND target = (SELECT d.dattablespace
					FROM pg_database d WHERE d.datname = current_database())
				THEN 'to default'
			ELSE j.why END,
		j.detail, j.stays, j.stays_detail, j.is_journal, /* bounded: not of a job */
		row_number() OVER (ORDER BY j.method IS NULL, j.is_journal,
			j.method <> 'catalog', j.heap_bytes, j.heap, j.kind = 'i',
			j.relation)
	FROM whole j LEFT JOIN rate r ON r.method = j.method
$$;
COMMENT ON FUNCTION tablespace_advisor.evacuation_of IS
	'relations of this database in a tablespace; place: order in which an evacuation moves them, then those that stay (method NULL); why, detail, stays: see evacuation_reason()';

CREATE FUNCTION tablespace_advisor.evacuation_reason(
	why text, detail text, stays text, stays_detail text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE WHEN stays IS NULL THEN tablespace_advisor.leaving_reason(why, detail)
		ELSE concat_ws(' ', CASE WHEN stays IN ('may be locked', 'too large to lock')
				THEN tablespace_advisor.leaving_reason(why, detail) END,
			tablespace_advisor.leaving_reason(stays, stays_detail)) END;
END;
COMMENT ON FUNCTION tablespace_advisor.evacuation_reason(text, text, text, text) IS
	'in words why an evacuation leaves a relation where it is, or moves it as it does; arguments: columns of evacuation_of()';

/* First the sums, against the room there is. */
CREATE FUNCTION tablespace_advisor.evacuation_plan(
	source oid, target oid, lock_up_to bigint, asker oid, max_rate bigint)
RETURNS TABLE (relation regclass, kind text, size_bytes bigint, how text,
	method text, move_seconds float8, reason text, size text)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH plan AS MATERIALIZED (
		SELECT p.* FROM tablespace_advisor.evacuation_of(
			source, target, lock_up_to, asker, max_rate) p
	), total AS (
		SELECT count(p.method) AS moves, count(*) - count(p.method) AS staying,
			coalesce(sum(p.size_bytes) FILTER (WHERE p.method IS NOT NULL), 0)::bigint AS bytes,
			CASE WHEN bool_and(p.move_seconds IS NOT NULL) FILTER (WHERE p.method IS NOT NULL)
				THEN sum(p.move_seconds) END AS seconds,
			(SELECT d.free_bytes FROM tablespace_advisor.tablespace_device(target) d) AS free_bytes
		FROM plan p
	)
	SELECT NULL::regclass, 'total', t.bytes, NULL, NULL,
		tablespace_advisor.round_to_three(t.seconds),
		format('%s relation%s to move%s; %s free in %I%s', t.moves,
			CASE WHEN t.moves <> 1 THEN 's' END,
			CASE WHEN t.staying > 0 THEN format(', %s to stay', t.staying) ELSE '' END,
			coalesce(pg_size_pretty(t.free_bytes), 'not known how much is'), s.spcname,
			CASE WHEN t.free_bytes < t.bytes THEN ': too little by '
				|| pg_size_pretty(t.bytes - t.free_bytes) ELSE '' END),
		pg_size_pretty(t.bytes)
	FROM total t JOIN pg_tablespace s ON s.oid = target
	UNION ALL
	(SELECT p.relation::regclass, tablespace_advisor.kind_name(p.kind), p.size_bytes, p.how, p.method,
		tablespace_advisor.round_to_three(p.move_seconds), tablespace_advisor.evacuation_reason(
			p.why, p.detail, p.stays, p.stays_detail), pg_size_pretty(p.size_bytes)
	FROM plan p ORDER BY p.place)
$$;
COMMENT ON FUNCTION tablespace_advisor.evacuation_plan(oid, oid, bigint, oid, bigint) IS
	'a row of plan_evacuation()';

CREATE FUNCTION @extschema@.plan_evacuation(
	tablespace name, to_tablespace name, lock_up_to text DEFAULT NULL,
	max_rate text DEFAULT NULL,
	OUT relation regclass, OUT kind text, OUT size_bytes bigint,
	OUT how text, OUT method text, OUT move_seconds float8, OUT reason text,
	OUT size text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_plan_evacuation'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.plan_evacuation(name, name, text, text) IS
	'the plan of evacuate_tablespace() for each relation of this database in a tablespace, in its order; the first row, of the kind total, is the sum of the moves against the free space of the target. Errors: 42704 no such tablespace, 22004 no tablespace, 42501 neither CREATE on the target nor a member of pg_monitor, 22023 the two are one tablespace, pg_global, a bad max_rate or lock_up_to';

/*
 * An unfinished move the other way, which an evacuation would undo.  It refuses
 * the evacuation if its role has all rights of the one that asks.
 */
CREATE FUNCTION tablespace_advisor.opposite_move(
	source oid, target oid, asker oid,
	OUT job_id bigint, OUT refuses boolean)
RETURNS SETOF record
LANGUAGE sql STABLE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT j.job_id, r.refuses
	FROM tablespace_advisor.job j
		CROSS JOIN LATERAL (SELECT coalesce(
			pg_has_role(j.owner, asker, 'USAGE'), false) AS refuses) r
	WHERE tablespace_advisor.is_unfinished(j.state)
		AND j.from_tablespace = target AND j.to_tablespace = source
	ORDER BY r.refuses DESC, j.job_id LIMIT 1
$$;
COMMENT ON FUNCTION tablespace_advisor.opposite_move(oid, oid, oid) IS
	'an unfinished move from the target to the source, and whether its role has all rights of the one that asks; no row if there is none';

/* Warnings about the two tablespaces of an evacuation. */
CREATE FUNCTION tablespace_advisor.evacuation_warnings(source oid, target oid)
RETURNS SETOF text
LANGUAGE sql VOLATILE ROWS 3
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('tablespaces "%s" and "%s" have a device in common',
		s.spcname, t.spcname)
	FROM pg_tablespace s, pg_tablespace t
	WHERE s.oid = source AND t.oid = target
		AND (SELECT a.leaves && b.leaves OR a.file_system_id = b.file_system_id
			FROM tablespace_advisor.tablespace_device(s.oid) a,
				tablespace_advisor.tablespace_device(t.oid) b)
	UNION ALL
	SELECT format('the free space of %s standby server%s is not known here',
		count(*), CASE WHEN count(*) > 1 THEN 's' END)
	FROM tablespace_advisor.streaming_standbys()
	HAVING count(*) > 0
	UNION ALL
	SELECT format('"default_tablespace" of this session is "%s": what is created without a tablespace goes there',
		s.spcname)
	FROM pg_tablespace s
	WHERE s.oid = source AND s.spcname = current_setting('default_tablespace')
$$;
COMMENT ON FUNCTION tablespace_advisor.evacuation_warnings(oid, oid) IS
	'warnings before an evacuation of a tablespace into another one';

/* How jobs ended, one line each. */
CREATE FUNCTION tablespace_advisor.describe_jobs(jobs bigint[])
RETURNS TABLE (state text, line text, detail text)
LANGUAGE sql STABLE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT j.state,
		tablespace_advisor.printable(format(
			'%s %I.%I%s from tablespace "%s" to "%s" %s%s',
			tablespace_advisor.kind_name(j.kind), j.schema_name, j.relation_name,
			CASE WHEN j.method <> 'catalog' THEN format(' (%s)', pg_size_pretty(j.bytes_total)) END,
			j.from_tablespace_name, j.to_tablespace_name,
			CASE j.method WHEN 'catalog' THEN 'in the catalog' ELSE 'by method ' || j.method END,
			CASE WHEN j.state = 'done' THEN format(' in %s s',
				round(extract(epoch FROM j.finished_at - j.started_at), 1))
				END
			|| CASE WHEN cardinality(j.indexes) > 0 THEN
				format(', with %s %s', cardinality(j.indexes),
					CASE cardinality(j.indexes) WHEN 1 THEN 'index' ELSE 'indexes' END)
				ELSE '' END)),
		concat_ws('. ', coalesce(tablespace_advisor.printable(j.error), 'It was cancelled.'),
			CASE WHEN j.sqlstate IN ('XX001', 'XX002', '58030')
				THEN tablespace_advisor.printable(j.detail) END)
	FROM tablespace_advisor.job j
	WHERE j.job_id = ANY (jobs)
	ORDER BY j.job_id
$$;
COMMENT ON FUNCTION tablespace_advisor.describe_jobs(bigint[]) IS
	'the result of moves, in words';

/* The whole of a batch that is under way. */
CREATE FUNCTION tablespace_advisor.batch_progress(batch bigint)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('%s of %s relations, %s of %s%s',
		count(*) FILTER (WHERE s.ended), count(*),
		pg_size_pretty(sum(s.done)), pg_size_pretty(sum(s.total)),
		CASE WHEN sum(s.done) > 0 AND sum(s.total) > sum(s.done) THEN
			format(', about %s s left', ceil(
				extract(epoch FROM clock_timestamp() - min(s.started_at))
				* (sum(s.total) - sum(s.done)) / sum(s.done))) END)
	FROM (SELECT j.state IN ('done', 'failed', 'cancelled') AS ended,
			CASE WHEN j.state IN ('failed', 'cancelled') THEN j.bytes_total
				ELSE least(coalesce(p.bytes_done, j.bytes_done), j.bytes_total) END AS done,
			j.bytes_total AS total, j.started_at
		FROM tablespace_advisor.job j
			CROSS JOIN LATERAL tablespace_advisor.copy_progress(j.job_id,
				CASE WHEN j.finished_at IS NULL THEN j.progress_handle END) p
		WHERE j.batch_id = batch) s
$$;
COMMENT ON FUNCTION tablespace_advisor.batch_progress(bigint) IS
	'how far the moves of one call are, in relations, bytes and seconds left';

/*
 * Relations that an evacuation of this database has left, with the reasons it
 * knows.
 */
CREATE FUNCTION tablespace_advisor.evacuation_left(
	source oid, target oid, lock_up_to bigint, asker oid, max_rate bigint,
	show_all boolean, show_names boolean)
RETURNS TABLE (database name, what text, reason text, statement text,
	elsewhere boolean)
LANGUAGE sql VOLATILE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.printable(c.database)::name,
		tablespace_advisor.printable(concat_ws(' ', c.kind, c.relation,
			'of database ' || quote_ident(nullif(c.database,
				current_database())),
			'(' || pg_size_pretty(c.size_bytes) || ')')),
		nullif(concat_ws(' ', tablespace_advisor.printable(
			coalesce(tablespace_advisor.evacuation_reason(
				p.why, p.detail, p.stays, p.stays_detail), c.reason)),
			CASE WHEN NOT s.is_printable
				THEN 'A name has control characters: tablespace_contents() has the statement.'
				END), ''),
		CASE WHEN s.is_printable THEN c.statement END,
		c.kind = 'database'
	FROM tablespace_advisor.contents_of(source, target, show_names,
			show_all) c
		LEFT JOIN tablespace_advisor.evacuation_of(
				source, target, lock_up_to, asker, max_rate) p
			ON p.method IS NULL AND c.database = current_database()
				AND c.relation = format('%I.%I', p.schema_name, p.relation_name)
		CROSS JOIN LATERAL (SELECT concat(c.database, c.statement)) t(text)
		CROSS JOIN LATERAL (SELECT
			t.text = tablespace_advisor.printable(t.text)) s(is_printable)
	WHERE show_all OR c.database = current_database() AND c.how <> 'setting'
	ORDER BY c.how = 'with database', c.database <> current_database(),
		c.database, c.how, c.size_bytes DESC, c.relation
$$;
COMMENT ON FUNCTION tablespace_advisor.evacuation_left IS
	'relations in a tablespace after an evacuation, the reasons, and the statements that make it leave; elsewhere: to be run in another database; show_all: in other databases too, and settings';

CREATE PROCEDURE @extschema@.evacuate_tablespace(
	tablespace name,
	to_tablespace name,
	max_rate text DEFAULT NULL,
	lock_timeout interval DEFAULT '100 ms',
	wait boolean DEFAULT true,
	dry_run boolean DEFAULT false,
	lock_up_to text DEFAULT NULL,
	until timestamptz DEFAULT NULL,
	min_rate text DEFAULT NULL,
	finish_by timestamptz DEFAULT NULL,
	during text DEFAULT NULL,
	INOUT job_ids bigint[] DEFAULT NULL)
AS 'MODULE_PATHNAME', 'tsa_evacuate_tablespace'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.evacuate_tablespace(
	name, name, text, interval, boolean, boolean, text, timestamptz, text,
	timestamptz, text, bigint[]) IS
	'moves everything of this database that the caller owns and that can move out of a tablespace, while it is in use; prints the remaining things with their statements and runs none of these; repeat it until nothing is left, in each database. Errors as of move_table_concurrently(), and 22023 the two are one tablespace, 55006 an evacuation the other way; a relation that could not be moved is a warning';
