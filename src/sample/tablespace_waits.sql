/*
 * src/sample/tablespace_waits.sql
 *
 * For people: which statements wait for reads of which relations.
 *
 * Counters name relations always, statements if a query id is computed, and as
 * long as a statement is among those that fit into shared memory.  The
 * difference is a row without a statement, so that the rows add up to all waits.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.statement_texts(
	max_length int,
	OUT userid oid,
	OUT queryid bigint,
	OUT statement text)
RETURNS SETOF record
LANGUAGE C STRICT VOLATILE
AS 'MODULE_PATHNAME', 'tsa_statement_texts';
COMMENT ON FUNCTION tablespace_advisor.statement_texts(int) IS
	'texts of this database''s statements by pg_stat_statements, as far as the caller may read them, each on one line and cut to so many characters; none without that extension. Errors: 55000 if its library is not loaded, 22023 length out of range';

CREATE FUNCTION tablespace_advisor.readable_statements(max_length int)
RETURNS TABLE (userid oid, queryid bigint, statement text)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY SELECT t.userid, t.queryid, min(t.statement)
	FROM tablespace_advisor.statement_texts(max_length) t
	GROUP BY t.userid, t.queryid;
EXCEPTION
	WHEN object_not_in_prerequisite_state THEN
		RETURN;
	/* a statement of nearly 1 GB, or of a database with another encoding, which
	 * anybody may run: there are no texts */
	WHEN program_limit_exceeded OR out_of_memory OR internal_error
		OR character_not_in_repertoire OR untranslatable_character THEN
		RAISE WARNING 'could not read the texts of statements: %', left(SQLERRM, 200)
			USING ERRCODE = SQLSTATE,
				HINT = 'pg_stat_statements_reset() forgets them.';
		RETURN;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.readable_statements(int) IS
	'statement_texts(), one row per user and query id; none if the library of pg_stat_statements is not loaded, or with a warning if a text is too long for it or none of this encoding';

CREATE TYPE tablespace_advisor.shown_wait AS (
	waiting_sessions float8,
	reads_per_s float8,
	mean_ms float8,
	access text,
	relation regclass,
	statement text,
	userid oid,
	queryid bigint
);
COMMENT ON TYPE tablespace_advisor.shown_wait IS
	'a row of tablespace_waits, with the user and the query id of the statement';

/* Reads of a statement that are not of one relation include its planning. */
CREATE FUNCTION tablespace_advisor.waits_by_statement(
	relations tablespace_advisor.relation_wait[],
	statements tablespace_advisor.statement_wait[])
RETURNS TABLE (userid oid, queryid bigint, relation oid, class text, access text,
	reads_per_s float8, waiting_sessions float8)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH known AS (
		SELECT s.userid, s.queryid, s.relation, s.class, s.access, s.reads_per_s,
			s.waiting_sessions
		FROM unnest(statements) s WHERE s.access <> 'all'
	), part AS (
		SELECT k.relation, k.class, k.access, sum(k.reads_per_s) AS reads_per_s,
			sum(k.waiting_sessions) AS waiting_sessions
		FROM known k GROUP BY k.relation, k.class, k.access
	)
	SELECT k.* FROM known k
	UNION ALL
	SELECT NULL, NULL, r.relation, r.class, r.access,
		greatest(0, r.reads_per_s - coalesce(p.reads_per_s, 0)),
		greatest(0, r.waiting_sessions - coalesce(p.waiting_sessions, 0))
	FROM unnest(relations) r
	LEFT JOIN part p ON p.relation = r.relation AND p.class = r.class
		AND p.access = r.access
$$;
COMMENT ON FUNCTION tablespace_advisor.waits_by_statement(tablespace_advisor.relation_wait[], tablespace_advisor.statement_wait[]) IS
	'waits of statements by relation and kind of access, and the rest of each relation''s waits when these are subtracted (userid and queryid NULL)';

/* Less than a thousandth of all waits is left out. */
CREATE FUNCTION tablespace_advisor.show_waits(
	relations tablespace_advisor.relation_wait[],
	statements tablespace_advisor.statement_wait[])
RETURNS SETOF tablespace_advisor.shown_wait
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.round_to_three(w.waiting_sessions),
		tablespace_advisor.round_to_three(w.reads_per_s),
		tablespace_advisor.round_to_three(1000 * w.waiting_sessions / nullif(w.reads_per_s, 0)),
		CASE w.class WHEN 'application' THEN w.access ELSE w.class END,
		nullif(w.relation, 0)::regclass,
		CASE WHEN NOT v.is_visible THEN '<insufficient privilege>'
			ELSE coalesce(t.statement, 'query ' || w.queryid) END,
		w.userid, CASE WHEN v.is_visible THEN w.queryid END
	FROM (SELECT s.*, sum(s.waiting_sessions) OVER () AS all_sessions
		FROM tablespace_advisor.waits_by_statement(relations, statements) s) w
	LEFT JOIN tablespace_advisor.readable_statements(32) t
		ON t.userid = w.userid AND t.queryid = w.queryid
	CROSS JOIN LATERAL (SELECT w.userid IS NULL
		OR pg_has_role('pg_read_all_stats', 'USAGE')
		OR coalesce(pg_has_role(w.userid, 'USAGE'), false) AS is_visible) v
	WHERE w.waiting_sessions > 0
		AND w.waiting_sessions * 1000 >= w.all_sessions
	ORDER BY w.waiting_sessions DESC, w.reads_per_s DESC, w.queryid, w.relation
$$;
COMMENT ON FUNCTION tablespace_advisor.show_waits(tablespace_advisor.relation_wait[], tablespace_advisor.statement_wait[]) IS
	'waits as tablespace_waits shows them, those of a thousandth of all waits and more';

CREATE FUNCTION tablespace_advisor.require_measured_waits()
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF (SELECT i.since IS NULL FROM tablespace_advisor.wait_info() i) THEN
		RAISE EXCEPTION 'waits for reads are not measured on this server'
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = 'The library "tablespace_advisor" is not preloaded.',
				HINT = 'Add it to shared_preload_libraries and restart the server.';
	END IF;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.require_measured_waits() IS
	'raises 55000 unless the library is preloaded';

/* Without a sample since the server's start: since that start. */
CREATE FUNCTION tablespace_advisor.waits_since_sample()
RETURNS SETOF tablespace_advisor.shown_wait
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	seconds float8;
BEGIN
	PERFORM tablespace_advisor.require_measured_waits();
	SELECT extract(epoch FROM clock_timestamp()
		- CASE WHEN s.waits_since = i.since THEN s.taken_at ELSE i.since END)
	INTO seconds
	FROM tablespace_advisor.wait_info() i
	LEFT JOIN (SELECT l.taken_at, l.waits_since FROM tablespace_advisor.sample l
		ORDER BY l.sample_id DESC LIMIT 1) s ON true;
	RETURN QUERY SELECT w.*
	FROM tablespace_advisor.waits_since(
		array(SELECT o FROM tablespace_advisor.sampled_wait o),
		array(SELECT o FROM tablespace_advisor.sampled_statement_wait o),
		seconds) m
	CROSS JOIN LATERAL tablespace_advisor.show_waits(m.relation_waits,
		m.statement_waits) w;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.waits_since_sample() IS
	'the rows of tablespace_waits, with user and query id. Errors: 55000 the library is not preloaded';

/* A name that others have chosen may be of any width and print anything. */
CREATE FUNCTION tablespace_advisor.cut_name(name text)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT tablespace_advisor.printable(CASE WHEN length(name) > 23
		THEN left(name, 20) || '...' ELSE name END);
END;
COMMENT ON FUNCTION tablespace_advisor.cut_name(text) IS
	'a name cut to 23 characters, without control characters';

CREATE VIEW @extschema@.tablespace_waits AS
SELECT w.waiting_sessions, w.reads_per_s, w.mean_ms, w.access,
	tablespace_advisor.cut_name(w.relation::text) AS relation, w.statement
FROM tablespace_advisor.waits_since_sample() w;
COMMENT ON VIEW @extschema@.tablespace_waits IS
	'statements of this database that have waited for reads since the last sample, by relation and kind of access, longest waits first. Errors: 55000 the library is not preloaded';
COMMENT ON COLUMN @extschema@.tablespace_waits.waiting_sessions IS
	'mean number of sessions that waited for these reads: seconds waited per second';
COMMENT ON COLUMN @extschema@.tablespace_waits.reads_per_s IS
	'blocks per second read past shared buffers';
COMMENT ON COLUMN @extschema@.tablespace_waits.mean_ms IS
	'milliseconds waited per block read';
COMMENT ON COLUMN @extschema@.tablespace_waits.access IS
	'how the relation was read: index, heap by index, heap by bitmap, sequential, modified, toast, other; or the reader, if not the application: export, maintenance, planning, moves, extension';
COMMENT ON COLUMN @extschema@.tablespace_waits.relation IS
	'name of the table, index or TOAST table, cut to 23 characters; NULL: not known';
COMMENT ON COLUMN @extschema@.tablespace_waits.statement IS
	'its text by pg_stat_statements, cut to 32 characters, else its query id; NULL: not known';

CREATE FUNCTION tablespace_advisor.waits_while_watched(observe interval)
RETURNS SETOF tablespace_advisor.shown_wait
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	before timestamptz;
	waits_before tablespace_advisor.sampled_wait[];
	statements_before tablespace_advisor.sampled_statement_wait[];
BEGIN
	IF observe IS NULL THEN
		RAISE EXCEPTION 'observe must not be null'
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	PERFORM tablespace_advisor.require_measured_waits();
	before := clock_timestamp();
	waits_before := array(SELECT w FROM tablespace_advisor.read_waits() w);
	statements_before := array(SELECT w
		FROM tablespace_advisor.read_statement_waits() w);
	PERFORM pg_sleep(tablespace_advisor.watched_seconds(observe));
	RETURN QUERY SELECT w.*
	FROM tablespace_advisor.waits_since(waits_before, statements_before,
		extract(epoch FROM clock_timestamp() - before)) m
	CROSS JOIN LATERAL tablespace_advisor.show_waits(m.relation_waits,
		m.statement_waits) w;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.waits_while_watched(interval) IS
	'the rows of observe_waits(), with user and query id. Errors: as there';

/* Relations are named as the caller's search path has it. */
CREATE FUNCTION @extschema@.observe_waits(
	observe interval DEFAULT '10 s',
	OUT waiting_sessions float8,
	OUT reads_per_s float8,
	OUT mean_ms float8,
	OUT access text,
	OUT relation text,
	OUT statement text)
RETURNS SETOF record
LANGUAGE sql VOLATILE
BEGIN ATOMIC
	SELECT w.waiting_sessions, w.reads_per_s, w.mean_ms, w.access,
		tablespace_advisor.cut_name(w.relation::text), w.statement
	FROM tablespace_advisor.waits_while_watched(observe) w;
END;
COMMENT ON FUNCTION @extschema@.observe_waits(interval) IS
	'watches for so long and returns the columns of tablespace_waits for that time; a statement counts when it ends. Errors: 55000 the library is not preloaded, 22023 duration out of range, 22004 null';

REVOKE ALL ON @extschema@.tablespace_waits FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.observe_waits(interval) FROM PUBLIC;
GRANT SELECT ON @extschema@.tablespace_waits TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	@extschema@.observe_waits(interval), tablespace_advisor.statement_texts,
	tablespace_advisor.readable_statements, tablespace_advisor.waits_by_statement,
	tablespace_advisor.show_waits, tablespace_advisor.require_measured_waits,
	tablespace_advisor.cut_name, tablespace_advisor.waits_while_watched,
	tablespace_advisor.waits_since_sample TO pg_monitor;
