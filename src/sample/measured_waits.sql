/*
 * src/sample/measured_waits.sql
 *
 * Waits of sessions for reads, as stage wait measures them: its counters, the
 * differences between two readings of them, and the part that samples keep.
 *
 * The counters begin when the server starts, and those of a relation or statement
 * when it is first read (since).  A row that is in both readings and has the same
 * start has grown by the difference; any other has grown by all it shows. Those of
 * a standby begin when the standby starts, so that its copies of the primary's
 * samples are never taken for its own earlier reading.
 *
 * reads and waited_ms of a statement include those of functions and triggers
 * that it calls.  Only statements that clients sent are kept, so that sums over
 * statements count nothing twice.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.subtract_histograms(
	later float8[],
	earlier float8[])
RETURNS float8[]
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_subtract_histograms';
COMMENT ON FUNCTION tablespace_advisor.subtract_histograms(float8[], float8[]) IS
	'growth of a histogram of 20 counts; NULL: by nothing. Errors: 2202E not 20 numbers';

CREATE FUNCTION tablespace_advisor.sum_histograms(histograms float8[])
RETURNS float8[]
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_sum_histograms';
COMMENT ON FUNCTION tablespace_advisor.sum_histograms(float8[]) IS
	'the sum of the histograms that are the rows of an array. Errors: 2202E rows of not 20 numbers';

CREATE FUNCTION tablespace_advisor.read_waits()
RETURNS SETOF tablespace_advisor.sampled_wait
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT w.relid, w.class, w.access, w.calls, w.hits, w.reads, w.waited_ms,
		w.read_histogram, w.since
	FROM tablespace_advisor.wait_relations() w
	JOIN pg_database d ON d.oid = w.dbid AND d.datname = current_database()
$$;
COMMENT ON FUNCTION tablespace_advisor.read_waits() IS
	'counters of waits for reads of this database''s relations; none if the library is not preloaded';

CREATE FUNCTION tablespace_advisor.read_statement_waits()
RETURNS SETOF tablespace_advisor.sampled_statement_wait
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT w.userid, w.queryid, w.relid, w.class, w.access, w.calls, w.total_ms,
		w.hits, w.reads, w.waited_ms, w.since
	FROM tablespace_advisor.wait_statements() w
	JOIN pg_database d ON d.oid = w.dbid AND d.datname = current_database()
	WHERE w.toplevel
$$;
COMMENT ON FUNCTION tablespace_advisor.read_statement_waits() IS
	'counters of waits for reads of statements that clients sent to this database; access all: the whole statement, else the part of a relation and kind of access';

/*
 * known_from: a row that began before that and is not in the earlier reading
 * was counted when nobody read the counters, and is left out.
 */
CREATE FUNCTION tablespace_advisor.subtract_waits(
	earlier tablespace_advisor.sampled_wait[],
	later tablespace_advisor.sampled_wait[],
	known_from timestamptz DEFAULT NULL)
RETURNS SETOF tablespace_advisor.sampled_wait
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT l.relation, l.class, l.access, l.calls - coalesce(e.calls, 0),
		l.hits - coalesce(e.hits, 0), g.reads, g.waited_ms,
		tablespace_advisor.subtract_histograms(l.read_histogram, e.read_histogram),
		l.since
	FROM unnest(later) l
	LEFT JOIN unnest(earlier) e ON e.relation = l.relation
		AND e.class = l.class AND e.access = l.access AND e.since = l.since
	CROSS JOIN LATERAL (SELECT l.reads - coalesce(e.reads, 0) AS reads,
		l.waited_ms - coalesce(e.waited_ms, 0) AS waited_ms) g
	WHERE (g.reads > 0 OR g.waited_ms > 0)
		AND (e.relation IS NOT NULL OR (l.since <= known_from) IS NOT TRUE)
$$;
COMMENT ON FUNCTION tablespace_advisor.subtract_waits(tablespace_advisor.sampled_wait[], tablespace_advisor.sampled_wait[], timestamptz) IS
	'growth of counters of read_waits() between two readings, for relations that were read';

CREATE FUNCTION tablespace_advisor.subtract_statement_waits(
	earlier tablespace_advisor.sampled_statement_wait[],
	later tablespace_advisor.sampled_statement_wait[],
	known_from timestamptz DEFAULT NULL)
RETURNS SETOF tablespace_advisor.sampled_statement_wait
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT l.userid, l.queryid, l.relation, l.class, l.access, g.calls,
		l.total_ms - coalesce(e.total_ms, 0), l.hits - coalesce(e.hits, 0),
		g.reads, g.waited_ms, l.since
	FROM unnest(later) l
	LEFT JOIN unnest(earlier) e ON e.queryid = l.queryid AND e.userid = l.userid
		AND e.relation = l.relation AND e.class = l.class AND e.access = l.access
		AND e.since = l.since
	CROSS JOIN LATERAL (SELECT l.calls - coalesce(e.calls, 0) AS calls,
		l.reads - coalesce(e.reads, 0) AS reads,
		l.waited_ms - coalesce(e.waited_ms, 0) AS waited_ms) g
	WHERE (g.reads > 0 OR g.waited_ms > 0 OR l.access = 'all' AND g.calls > 0)
		AND (e.queryid IS NOT NULL OR (l.since <= known_from) IS NOT TRUE)
$$;
COMMENT ON FUNCTION tablespace_advisor.subtract_statement_waits(tablespace_advisor.sampled_statement_wait[], tablespace_advisor.sampled_statement_wait[], timestamptz) IS
	'growth of counters of read_statement_waits() between two readings, for statements that ran';

/*
 * A statement on a table with a thousand partitions has a thousand rows: those
 * with the longest waits are kept, the others become one of relation 0.
 */
CREATE FUNCTION tablespace_advisor.largest_statement_waits(
	grown tablespace_advisor.sampled_statement_wait[],
	max_statements int DEFAULT 50,
	max_relations int DEFAULT 20)
RETURNS SETOF tablespace_advisor.sampled_statement_wait
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH statement AS (
		SELECT g.userid, g.queryid, row_number() OVER (ORDER BY sum(g.waited_ms)
			DESC, sum(g.reads) DESC, g.queryid, g.userid) AS place
		FROM unnest(grown) g
		WHERE g.access = 'all'
		GROUP BY g.userid, g.queryid
		HAVING sum(g.reads) > 0 OR sum(g.waited_ms) > 0 OR sum(g.calls) > 0
	), part AS (
		SELECT g.*, g.access = 'all' OR row_number() OVER (
			PARTITION BY g.userid, g.queryid, g.access = 'all'
			ORDER BY g.waited_ms DESC, g.reads DESC, g.relation, g.class, g.access)
			<= max_relations AS is_kept
		FROM unnest(grown) g
		JOIN statement s ON s.queryid = g.queryid AND s.userid = g.userid
		WHERE s.place <= max_statements
	)
	SELECT p.userid, p.queryid, k.relation, p.class, k.access, sum(p.calls),
		sum(p.total_ms), sum(p.hits), sum(p.reads), sum(p.waited_ms), min(p.since)
	FROM part p
	CROSS JOIN LATERAL (SELECT CASE WHEN p.is_kept THEN p.relation ELSE 0 END
			AS relation,
		CASE WHEN p.is_kept THEN p.access ELSE 'other' END AS access) k
	GROUP BY p.userid, p.queryid, k.relation, p.class, k.access
$$;
COMMENT ON FUNCTION tablespace_advisor.largest_statement_waits(tablespace_advisor.sampled_statement_wait[], int, int) IS
	'the rows of the statements that waited most for reads, at most so many, each with at most so many relations and kinds of access; the rest of a statement is relation 0';

/*
 * A database may read twenty thousand relations between two samples.  Rows that
 * are neither among the largest by waits nor by reads become one per class and
 * access, of relation 0.
 */
CREATE FUNCTION tablespace_advisor.largest_waits(
	grown tablespace_advisor.sampled_wait[],
	max_rows int DEFAULT 500)
RETURNS SETOF tablespace_advisor.sampled_wait
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH part AS (
		SELECT g.*, row_number() OVER (ORDER BY g.waited_ms DESC, g.reads DESC,
				g.relation, g.class, g.access) <= max_rows
			OR row_number() OVER (ORDER BY g.reads DESC, g.waited_ms DESC,
				g.relation, g.class, g.access) <= max_rows AS is_kept
		FROM unnest(grown) g
	)
	SELECT k.relation, p.class, p.access, sum(p.calls), sum(p.hits),
		sum(p.reads), sum(p.waited_ms),
		tablespace_advisor.sum_histograms(array_agg(p.read_histogram)
			FILTER (WHERE p.is_kept AND p.read_histogram IS NOT NULL)),
		min(p.since)
	FROM part p
	CROSS JOIN LATERAL (SELECT CASE WHEN p.is_kept THEN p.relation ELSE 0 END
		AS relation) k
	GROUP BY k.relation, p.class, p.access
$$;
COMMENT ON FUNCTION tablespace_advisor.largest_waits(tablespace_advisor.sampled_wait[], int) IS
	'so many rows with the longest waits and as many with the most reads; the rest is relation 0, by class and access';

/* ON CONFLICT locks a row that it leaves as it is: these are left out before. */
CREATE FUNCTION tablespace_advisor.remember_waits(
	present tablespace_advisor.sampled_wait[])
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	DELETE FROM tablespace_advisor.sampled_wait o
	WHERE NOT EXISTS (SELECT FROM unnest(present) p WHERE p.relation = o.relation
		AND p.class = o.class AND p.access = o.access);
	INSERT INTO tablespace_advisor.sampled_wait
	SELECT p.* FROM unnest(present) p
	LEFT JOIN tablespace_advisor.sampled_wait o ON o.relation = p.relation
		AND o.class = p.class AND o.access = p.access
	WHERE (o.reads, o.waited_ms, o.since)
		IS DISTINCT FROM (p.reads, p.waited_ms, p.since)
	ON CONFLICT (relation, class, access) DO UPDATE
	SET (calls, hits, reads, waited_ms, read_histogram, since)
		= (excluded.calls, excluded.hits, excluded.reads, excluded.waited_ms,
			excluded.read_histogram, excluded.since)
$$;
COMMENT ON FUNCTION tablespace_advisor.remember_waits(tablespace_advisor.sampled_wait[]) IS
	'makes sampled_wait a reading of read_waits()';

CREATE FUNCTION tablespace_advisor.remember_statement_waits(
	present tablespace_advisor.sampled_statement_wait[])
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	DELETE FROM tablespace_advisor.sampled_statement_wait o
	WHERE NOT EXISTS (SELECT FROM unnest(present) p WHERE p.queryid = o.queryid
		AND p.userid = o.userid AND p.relation = o.relation
		AND p.class = o.class AND p.access = o.access);
	INSERT INTO tablespace_advisor.sampled_statement_wait
	SELECT p.* FROM unnest(present) p
	LEFT JOIN tablespace_advisor.sampled_statement_wait o
		ON o.queryid = p.queryid AND o.userid = p.userid
		AND o.relation = p.relation AND o.class = p.class AND o.access = p.access
	WHERE (o.calls, o.reads, o.waited_ms, o.since)
		IS DISTINCT FROM (p.calls, p.reads, p.waited_ms, p.since)
	ON CONFLICT (queryid, userid, relation, class, access) DO UPDATE
	SET (calls, total_ms, hits, reads, waited_ms, since)
		= (excluded.calls, excluded.total_ms, excluded.hits, excluded.reads,
			excluded.waited_ms, excluded.since)
$$;
COMMENT ON FUNCTION tablespace_advisor.remember_statement_waits(tablespace_advisor.sampled_statement_wait[]) IS
	'makes sampled_statement_wait a reading of read_statement_waits()';

/* Where a row has less than a ten thousandth of the waits, no histogram. */
CREATE FUNCTION tablespace_advisor.keep_waits(
	sample_id int,
	grown tablespace_advisor.sampled_wait[],
	statements tablespace_advisor.sampled_statement_wait[])
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	INSERT INTO tablespace_advisor.relation_wait_sample (sample_id, relation,
		calls, hits, reads, waited_ms, class, access, read_histogram)
	SELECT keep_waits.sample_id, g.relation, g.calls, g.hits, g.reads,
		g.waited_ms, g.class, g.access,
		CASE WHEN g.waited_ms * 10000 >= sum(g.waited_ms) OVER ()
			THEN g.read_histogram END
	FROM tablespace_advisor.largest_waits(grown) g;
	INSERT INTO tablespace_advisor.statement_wait_sample (sample_id, userid,
		queryid, relation, calls, total_ms, hits, reads, waited_ms, class, access)
	SELECT keep_waits.sample_id, s.userid, s.queryid, s.relation, s.calls,
		s.total_ms, s.hits, s.reads, s.waited_ms, s.class, s.access
	FROM tablespace_advisor.largest_statement_waits(statements) s
$$;
COMMENT ON FUNCTION tablespace_advisor.keep_waits(int, tablespace_advisor.sampled_wait[], tablespace_advisor.sampled_statement_wait[]) IS
	'adds the rows of relation_wait_sample and statement_wait_sample to a sample: the waits in it';

/*
 * Counters of scans rise also when the planner looks for the ends of an index, and
 * samples of waits lack executions that found all blocks in shared buffers.  So the
 * use of partitions is noted in a table of its own.  A counter without an earlier
 * reading counts as used: rather too much use than too little.
 */
CREATE FUNCTION tablespace_advisor.note_executions(
	taken_at timestamptz,
	present tablespace_advisor.sampled_wait[])
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	DELETE FROM tablespace_advisor.executed_partition e
	WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = e.relation);
	INSERT INTO tablespace_advisor.executed_partition
	SELECT c.oid, note_executions.taken_at
	FROM unnest(present) p
	LEFT JOIN pg_index i ON i.indexrelid = p.relation
	JOIN pg_class c ON c.oid = coalesce(i.indrelid, p.relation) AND c.relispartition
	LEFT JOIN tablespace_advisor.sampled_wait o ON o.relation = p.relation
		AND o.class = p.class AND o.access = p.access AND o.since = p.since
	WHERE p.class IN ('application', 'export') AND p.calls > coalesce(o.calls, 0)
	GROUP BY c.oid
	ON CONFLICT (relation) DO UPDATE SET executed_at = excluded.executed_at;
	/* remember_waits() leaves rows alone that have read nothing */
	UPDATE tablespace_advisor.sampled_wait o
	SET calls = p.calls
	FROM unnest(present) p
	LEFT JOIN pg_index i ON i.indexrelid = p.relation
	JOIN pg_class c ON c.oid = coalesce(i.indrelid, p.relation) AND c.relispartition
	WHERE o.relation = p.relation AND o.class = p.class AND o.access = p.access
		AND o.since = p.since AND o.calls <> p.calls
$$;
COMMENT ON FUNCTION tablespace_advisor.note_executions(timestamptz, tablespace_advisor.sampled_wait[]) IS
	'keeps in executed_partition which partitions executions have read, by themselves or their indexes, between the last sample and one of that time; present: a reading of read_waits()';

CREATE FUNCTION tablespace_advisor.add_wait_samples(s tablespace_advisor.sample)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	present tablespace_advisor.sampled_wait[];
	statements tablespace_advisor.sampled_statement_wait[];
	grown tablespace_advisor.sampled_wait[];
BEGIN
	present := array(SELECT w FROM tablespace_advisor.read_waits() w);
	statements := array(SELECT w FROM tablespace_advisor.read_statement_waits() w);
	IF s.waits_measured_s IS NOT NULL THEN
		grown := array(SELECT g FROM tablespace_advisor.subtract_waits(
			array(SELECT o FROM tablespace_advisor.sampled_wait o),
			present, s.started_at) g);
		PERFORM tablespace_advisor.keep_waits(s.sample_id, grown,
			array(SELECT g FROM tablespace_advisor.subtract_statement_waits(
				array(SELECT o FROM tablespace_advisor.sampled_statement_wait o),
				statements, s.started_at) g));
		INSERT INTO tablespace_advisor.wait_total AS t
		SELECT g.class, g.access, sum(g.reads), sum(g.waited_ms)
		FROM unnest(grown) g GROUP BY g.class, g.access
		ON CONFLICT (class, access) DO UPDATE
		SET reads = t.reads + excluded.reads,
			waited_ms = t.waited_ms + excluded.waited_ms;
	END IF;
	PERFORM tablespace_advisor.note_executions(s.taken_at, present);
	PERFORM tablespace_advisor.remember_waits(present);
	PERFORM tablespace_advisor.remember_statement_waits(statements);
END
$$;
COMMENT ON FUNCTION tablespace_advisor.add_wait_samples(tablespace_advisor.sample) IS
	'adds waits of sessions to a sample just begun, and brings sampled_wait and sampled_statement_wait up to date';

/* The fifty statements of an hour are those with the longest waits of that hour. */
CREATE FUNCTION tablespace_advisor.merge_wait_samples(
	whole_id int,
	part_ids int[])
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH part AS (
		DELETE FROM tablespace_advisor.relation_wait_sample w
		WHERE w.sample_id = ANY (part_ids)
		RETURNING w.*
	), whole AS (
		SELECT p.relation, p.class, p.access, sum(p.calls::float8),
			sum(p.hits::float8), sum(p.reads::float8), sum(p.waited_ms::float8),
			tablespace_advisor.sum_histograms(
				array_agg(p.read_histogram::float8[])
				FILTER (WHERE p.read_histogram IS NOT NULL)),
			timestamptz '-infinity'
		FROM part p GROUP BY p.relation, p.class, p.access
	)
	INSERT INTO tablespace_advisor.relation_wait_sample (sample_id, relation,
		calls, hits, reads, waited_ms, class, access, read_histogram)
	SELECT whole_id, g.relation, g.calls, g.hits, g.reads, g.waited_ms, g.class,
		g.access, g.read_histogram
	FROM tablespace_advisor.largest_waits(
		array(SELECT ROW(w.*)::tablespace_advisor.sampled_wait FROM whole w)) g;
	WITH part AS (
		DELETE FROM tablespace_advisor.statement_wait_sample w
		WHERE w.sample_id = ANY (part_ids)
		RETURNING w.*
	), whole AS (
		SELECT p.userid, p.queryid, p.relation, p.class, p.access,
			sum(p.calls::float8), sum(p.total_ms::float8), sum(p.hits::float8),
			sum(p.reads::float8), sum(p.waited_ms::float8), timestamptz '-infinity'
		FROM part p GROUP BY 1, 2, 3, 4, 5
	)
	INSERT INTO tablespace_advisor.statement_wait_sample (sample_id, userid,
		queryid, relation, calls, total_ms, hits, reads, waited_ms, class, access)
	SELECT whole_id, s.userid, s.queryid, s.relation, s.calls, s.total_ms, s.hits,
		s.reads, s.waited_ms, s.class, s.access
	FROM tablespace_advisor.largest_statement_waits(
		array(SELECT ROW(w.*)::tablespace_advisor.sampled_statement_wait
			FROM whole w)) s
$$;
COMMENT ON FUNCTION tablespace_advisor.merge_wait_samples(int, int[]) IS
	'adds up the waits of samples, as rows of one of them';

CREATE FUNCTION tablespace_advisor.sum_wait_samples(
	first_id int,
	last_id int)
RETURNS SETOF tablespace_advisor.sampled_wait
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT w.relation, w.class, w.access, sum(w.calls::float8),
		sum(w.hits::float8), sum(w.reads::float8), sum(w.waited_ms::float8),
		tablespace_advisor.sum_histograms(array_agg(w.read_histogram::float8[])
			FILTER (WHERE w.read_histogram IS NOT NULL)), NULL::timestamptz
	FROM tablespace_advisor.relation_wait_sample w
	WHERE w.sample_id BETWEEN first_id AND last_id
	GROUP BY w.relation, w.class, w.access
$$;
COMMENT ON FUNCTION tablespace_advisor.sum_wait_samples(int, int) IS
	'the waits in a range of samples, by relation and kind of access; since is NULL';

CREATE FUNCTION tablespace_advisor.sum_statement_wait_samples(
	first_id int,
	last_id int)
RETURNS SETOF tablespace_advisor.sampled_statement_wait
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT w.userid, w.queryid, w.relation, w.class, w.access,
		sum(w.calls::float8), sum(w.total_ms::float8), sum(w.hits::float8),
		sum(w.reads::float8), sum(w.waited_ms::float8), NULL::timestamptz
	FROM tablespace_advisor.statement_wait_sample w
	WHERE w.sample_id BETWEEN first_id AND last_id
	GROUP BY w.userid, w.queryid, w.relation, w.class, w.access
$$;
COMMENT ON FUNCTION tablespace_advisor.sum_statement_wait_samples(int, int) IS
	'the waits of statements in a range of samples, each while it was among the fifty that waited most; since is NULL';

CREATE TYPE tablespace_advisor.relation_wait AS (
	relation oid,
	class text,
	access text,
	calls_per_s float8,
	hits_per_s float8,
	reads_per_s float8,
	waiting_sessions float8,
	mean_ms float8,
	read_histogram float8[]
);
COMMENT ON TYPE tablespace_advisor.relation_wait IS
	'measured reads of a relation by class of readers and kind of access, as wait_relations() has them, over a window: executions, blocks found in shared buffers and read past them, per second; waiting_sessions: seconds waited for them per second, which is the mean number of sessions that waited; mean_ms: milliseconds per block read; read_histogram: counts of the window''s reads of one block by their time';

CREATE TYPE tablespace_advisor.statement_wait AS (
	userid oid,
	queryid bigint,
	relation oid,
	class text,
	access text,
	calls_per_s float8,
	call_ms float8,
	reads_per_s float8,
	waiting_sessions float8,
	mean_ms float8
);
COMMENT ON TYPE tablespace_advisor.statement_wait IS
	'measured reads of a statement over a window; access all: of the whole statement, with its mean execution time in call_ms, in milliseconds; else of a relation and kind of access, see relation_wait';

CREATE FUNCTION tablespace_advisor.wait_rates(
	grown tablespace_advisor.sampled_wait[],
	seconds float8)
RETURNS tablespace_advisor.relation_wait[]
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN seconds > 0 THEN coalesce(array_agg((g.relation, g.class, g.access, g.calls / s.s,
		g.hits / s.s, g.reads / s.s, g.waited_ms / 1000 / s.s,
		g.waited_ms / nullif(g.reads, 0), g.read_histogram)
		::tablespace_advisor.relation_wait), '{}') END
	FROM unnest(grown) g CROSS JOIN (SELECT nullif(seconds, 0) AS s) s
$$;
COMMENT ON FUNCTION tablespace_advisor.wait_rates(tablespace_advisor.sampled_wait[], float8) IS
	'rates by the growth of counters in so many seconds; NULL if these are NULL or 0';

CREATE FUNCTION tablespace_advisor.statement_wait_rates(
	grown tablespace_advisor.sampled_statement_wait[],
	seconds float8)
RETURNS tablespace_advisor.statement_wait[]
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN seconds > 0 THEN coalesce(array_agg((g.userid, g.queryid, g.relation, g.class, g.access,
		g.calls / s.s, g.total_ms / nullif(g.calls, 0), g.reads / s.s,
		g.waited_ms / 1000 / s.s, g.waited_ms / nullif(g.reads, 0))
		::tablespace_advisor.statement_wait), '{}') END
	FROM unnest(grown) g CROSS JOIN (SELECT nullif(seconds, 0) AS s) s
$$;
COMMENT ON FUNCTION tablespace_advisor.statement_wait_rates(tablespace_advisor.sampled_statement_wait[], float8) IS
	'rates by the growth of counters of statements in so many seconds; NULL if these are NULL or 0';

CREATE FUNCTION tablespace_advisor.sampled_waits(
	first_id int,
	last_id int,
	measured_s float8,
	OUT relation_waits tablespace_advisor.relation_wait[],
	OUT statement_waits tablespace_advisor.statement_wait[])
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.wait_rates(array(SELECT w
			FROM tablespace_advisor.sum_wait_samples(first_id, last_id) w), measured_s),
		tablespace_advisor.statement_wait_rates(array(SELECT w
			FROM tablespace_advisor.sum_statement_wait_samples(first_id, last_id) w),
			measured_s)
$$;
COMMENT ON FUNCTION tablespace_advisor.sampled_waits(int, int, float8) IS
	'rates of a range of samples, in which waits were measured for so many seconds';

CREATE FUNCTION tablespace_advisor.waits_since(
	earlier tablespace_advisor.sampled_wait[],
	earlier_statements tablespace_advisor.sampled_statement_wait[],
	seconds float8,
	OUT relation_waits tablespace_advisor.relation_wait[],
	OUT statement_waits tablespace_advisor.statement_wait[])
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.wait_rates(array(
			SELECT g FROM tablespace_advisor.subtract_waits(earlier,
				array(SELECT w FROM tablespace_advisor.read_waits() w)) g),
			seconds),
		tablespace_advisor.statement_wait_rates(array(
			SELECT g FROM tablespace_advisor.subtract_statement_waits(
				earlier_statements,
				array(SELECT w FROM tablespace_advisor.read_statement_waits() w)) g),
			seconds)
$$;
COMMENT ON FUNCTION tablespace_advisor.waits_since(tablespace_advisor.sampled_wait[], tablespace_advisor.sampled_statement_wait[], float8) IS
	'rates since an earlier result of read_waits() and read_statement_waits(), which is the given number of seconds old';

/* Advice is not for exports, maintenance and moves. */
CREATE FUNCTION tablespace_advisor.application_waits(
	waits tablespace_advisor.relation_wait[],
	OUT relation oid,
	OUT reads_per_s float8,
	OUT waiting_sessions float8,
	OUT scan_reads_per_s float8,
	OUT scan_sessions float8)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT w.relation, sum(w.reads_per_s), sum(w.waiting_sessions),
		sum(w.reads_per_s) FILTER (WHERE w.access = 'sequential'),
		sum(w.waiting_sessions) FILTER (WHERE w.access = 'sequential')
	FROM unnest(waits) w WHERE w.class = 'application' GROUP BY w.relation
$$;
COMMENT ON FUNCTION tablespace_advisor.application_waits(tablespace_advisor.relation_wait[]) IS
	'by relation: blocks that the application read past shared buffers per second, the mean number of sessions in which it waited for them, and the part of sequential scans';

CREATE FUNCTION tablespace_advisor.waits_are_measured()
RETURNS boolean
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT i.since IS NOT NULL AND i.enabled FROM tablespace_advisor.wait_info() i
$$;
COMMENT ON FUNCTION tablespace_advisor.waits_are_measured() IS
	'whether the library is preloaded and track_waits is on';

/* NULLs where nothing is measured, or for too short a time. */
CREATE FUNCTION tablespace_advisor.waits_since_start(
	OUT relation_waits tablespace_advisor.relation_wait[],
	OUT statement_waits tablespace_advisor.statement_wait[],
	OUT measured_s float8)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	waited record;
BEGIN
	measured_s := (SELECT extract(epoch FROM clock_timestamp() - i.since)
		FROM tablespace_advisor.wait_info() i WHERE i.enabled);
	IF measured_s >= 10 THEN
		SELECT w.* INTO waited FROM tablespace_advisor.waits_since('{}', '{}', measured_s) w;
		relation_waits := waited.relation_waits;
		statement_waits := waited.statement_waits;
	ELSE
		measured_s := NULL;
	END IF;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.waits_since_start() IS
	'rates since the server''s start, if waits have been measured for ten seconds or more';

GRANT SELECT ON tablespace_advisor.relation_wait_sample,
	tablespace_advisor.statement_wait_sample, tablespace_advisor.sampled_wait,
	tablespace_advisor.sampled_statement_wait, tablespace_advisor.wait_total
	TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.wait_relations, tablespace_advisor.wait_statements,
	tablespace_advisor.wait_info, tablespace_advisor.subtract_histograms,
	tablespace_advisor.sum_histograms, tablespace_advisor.read_waits,
	tablespace_advisor.read_statement_waits, tablespace_advisor.subtract_waits,
	tablespace_advisor.subtract_statement_waits, tablespace_advisor.largest_statement_waits,
	tablespace_advisor.sum_wait_samples, tablespace_advisor.sum_statement_wait_samples,
	tablespace_advisor.wait_rates, tablespace_advisor.statement_wait_rates,
	tablespace_advisor.sampled_waits, tablespace_advisor.waits_since,
	tablespace_advisor.application_waits, tablespace_advisor.waits_are_measured,
	tablespace_advisor.waits_since_start TO pg_monitor;
