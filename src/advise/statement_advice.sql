/*
 * src/advise/statement_advice.sql
 *
 * Which statements become faster when the advised moves are made: each waits for
 * reads of relations by so many milliseconds a call, and the forecast of a
 * relation's reads says how many of them are left.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */

/* The part of the time of a relation's reads that is left after all moves. */
CREATE FUNCTION tablespace_advisor.reads_left(
	advice @extschema@.placement_advice,
	evidence jsonb,
	OUT member oid,
	OUT is_moved boolean,
	OUT share float8,
	OUT share_low float8,
	OUT share_high float8)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT advice.relation, m.is_moved, least(1, greatest(0, l.share)),
		least(1, greatest(0, l.share, 1 - (m.saved_low - m.relief) / m.read_ms)),
		greatest(0, least(1, l.share, 1 - (m.saved_high - m.relief) / m.read_ms))
	FROM (SELECT advice.action = 'move' AS is_moved,
			nullif(advice.read_ms_per_s, 0) AS read_ms,
			coalesce((evidence #>> '{estimate,relief_ms_per_s}')::float8, 0) AS relief,
			(evidence #>> '{estimate,saved_ms_per_s}')::float8 AS saved_ms,
			(evidence #>> '{estimate,later_read_ms_per_s}')::float8 AS later_ms,
			CASE WHEN advice.action = 'move' THEN
				(evidence #>> '{estimate,saved_low}')::float8 END AS saved_low,
			CASE WHEN advice.action = 'move' THEN
				(evidence #>> '{estimate,saved_high}')::float8 END AS saved_high) m
	CROSS JOIN LATERAL (SELECT CASE WHEN m.is_moved THEN 1 - (m.saved_ms - m.relief) / m.read_ms
		ELSE coalesce(m.later_ms / m.read_ms, 1) END AS share) l
$$;
COMMENT ON FUNCTION tablespace_advisor.reads_left(@extschema@.placement_advice, jsonb) IS
	'the share of the present time of its reads that a relation takes after all advised moves, at least 0 and at most 1; share_low: if least is saved, share_high: if most is';

/*
 * A statement's waits by relations that move together; TOAST moves with its
 * table.
 */
CREATE FUNCTION tablespace_advisor.statement_parts(
	statements tablespace_advisor.statement_wait[])
RETURNS TABLE (userid oid, queryid bigint, member oid, waiting_sessions float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT s.userid, s.queryid, coalesce(t.oid, s.relation), sum(s.waiting_sessions)
	FROM unnest(statements) s
	LEFT JOIN pg_index i ON i.indexrelid = s.relation
	/* joined by one value, so that it needs no comparison of all with all */
	LEFT JOIN pg_class t ON t.reltoastrelid <> 0
		AND t.reltoastrelid = coalesce(i.indrelid, s.relation)
	WHERE s.access <> 'all' AND s.class = 'application'
	GROUP BY 1, 2, 3
$$;
COMMENT ON FUNCTION tablespace_advisor.statement_parts(tablespace_advisor.statement_wait[]) IS
	'sessions that wait on average for a statement''s reads, by table or index';

CREATE TYPE tablespace_advisor.statement_forecast AS (
	userid oid,
	queryid bigint,
	calls_per_s float8,
	mean_ms float8,
	read_ms float8,
	after_ms float8,
	after_low_ms float8,
	after_high_ms float8,
	moved text
);
COMMENT ON TYPE tablespace_advisor.statement_forecast IS
	'a statement and the time of one of its calls now and after the advised moves, in milliseconds; moved: the relations it reads that are to be moved';

CREATE FUNCTION tablespace_advisor.forecast_statements(
	statements tablespace_advisor.statement_wait[],
	advice tablespace_advisor.advice_row[])
RETURNS SETOF tablespace_advisor.statement_forecast
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH remaining AS MATERIALIZED (
		SELECT l.* FROM unnest(advice) a
		CROSS JOIN LATERAL tablespace_advisor.reads_left(a.advice, a.evidence) l
	), gain AS (
		SELECT p.userid, p.queryid,
			sum(p.waiting_sessions * (1 - coalesce(l.share, 1))) AS gain,
			sum(p.waiting_sessions * (1 - coalesce(l.share_low, l.share, 1))) AS gain_low,
			sum(p.waiting_sessions * (1 - coalesce(l.share_high, l.share, 1))) AS gain_high,
			string_agg(l.member::regclass::text, ', ' ORDER BY p.waiting_sessions DESC)
				FILTER (WHERE l.is_moved) AS moved
		FROM tablespace_advisor.statement_parts(statements) p
		LEFT JOIN remaining l ON l.member = p.member
		GROUP BY p.userid, p.queryid
	)
	SELECT s.userid, s.queryid, s.calls_per_s, s.call_ms,
		s.waiting_sessions * c.ms, s.call_ms - least(g.gain * p.ms, s.call_ms),
		s.call_ms - least(g.gain_high * p.ms, s.call_ms),
		s.call_ms - least(g.gain_low * p.ms, s.call_ms), g.moved
	FROM unnest(statements) s
	LEFT JOIN gain g USING (userid, queryid)
	CROSS JOIN LATERAL (SELECT 1000 / nullif(s.calls_per_s, 0) AS ms) c
	/* parallel workers wait at the same time: of a call no more than all of it */
	CROSS JOIN LATERAL (SELECT least(c.ms, s.call_ms / s.waiting_sessions) AS ms) p
	WHERE s.access = 'all' AND s.class = 'application' AND s.waiting_sessions > 0
	ORDER BY s.waiting_sessions DESC, s.queryid, s.userid
$$;
COMMENT ON FUNCTION tablespace_advisor.forecast_statements(tablespace_advisor.statement_wait[], tablespace_advisor.advice_row[]) IS
	'the statements of an observation, those first that wait most, with the time of a call after the moves of an advice';

CREATE FUNCTION tablespace_advisor.gather_statement_advice(
	caller oid,
	destination name,
	space_budget text,
	observe interval,
	max_statements int)
RETURNS TABLE (rank int, statement text, calls_per_s float8, mean_ms float8, read_ms float8,
	after_ms float8, after_low_ms float8, after_high_ms float8, relations text,
	queryid bigint, userid oid)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	max_length CONSTANT int := 40;
	observed tablespace_advisor.observed_load;
BEGIN
	IF max_statements IS NULL OR max_statements < 1 THEN
		RAISE EXCEPTION 'max_statements must be greater than zero'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	SELECT l.* INTO observed FROM tablespace_advisor.gather_load(observe, '{}') l;
	IF observed.statements IS NULL THEN
		PERFORM tablespace_advisor.require_measured_waits();
		RAISE EXCEPTION 'waits of statements were not measured in the window'
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'Call sample_activity() twice, some minutes apart, or pass "observe".';
	END IF;
	RETURN QUERY SELECT f.n::int,
		CASE WHEN v.is_visible THEN coalesce(t.statement, 'query ' || f.queryid)
			ELSE '<insufficient privilege>' END,
		tablespace_advisor.round_to_three(f.calls_per_s),
		tablespace_advisor.round_to_three(f.mean_ms),
		tablespace_advisor.round_to_three(f.read_ms),
		tablespace_advisor.round_to_three(f.after_ms),
		tablespace_advisor.round_to_three(f.after_low_ms),
		tablespace_advisor.round_to_three(f.after_high_ms),
		f.moved, CASE WHEN v.is_visible THEN f.queryid END, f.userid
	FROM (SELECT s.* FROM tablespace_advisor.forecast_statements(observed.statements,
			array(SELECT ROW(g.advice, g.evidence)::tablespace_advisor.advice_row
				FROM tablespace_advisor.gather_advice(caller, NULL, destination,
					space_budget, NULL, true, true, observed => observed) g))
			WITH ORDINALITY s (userid, queryid, calls_per_s, mean_ms, read_ms, after_ms,
				after_low_ms, after_high_ms, moved, n)
		WHERE s.n <= max_statements) f
	LEFT JOIN tablespace_advisor.readable_statements(max_length) t
		ON t.userid = f.userid AND t.queryid = f.queryid
	/* this runs as the superuser: texts are for roles that may read them */
	CROSS JOIN LATERAL (SELECT pg_has_role(caller, 'pg_read_all_stats', 'USAGE')
		OR coalesce(pg_has_role(caller, f.userid, 'USAGE'), false) AS is_visible) v
	ORDER BY f.n;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.gather_statement_advice(oid, name, text, interval, int) IS
	'see advise_statements()';

/* For answers on more than statements: none where waits are not measured. */
CREATE FUNCTION tablespace_advisor.statements_if_measured(
	caller oid,
	destination name,
	space_budget text,
	max_statements int)
RETURNS TABLE (rank int, statement text, calls_per_s float8, mean_ms float8, read_ms float8,
	after_ms float8, after_low_ms float8, after_high_ms float8, relations text,
	queryid bigint, userid oid)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF tablespace_advisor.waits_are_measured() THEN
		RETURN QUERY SELECT s.* FROM tablespace_advisor.gather_statement_advice(
			caller, destination, space_budget, NULL, max_statements) s;
	END IF;
EXCEPTION
	/* no window in which statements were measured */
	WHEN object_not_in_prerequisite_state THEN
		RETURN;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.statements_if_measured(oid, name, text, int) IS
	'gather_statement_advice() from samples, or nothing where it would fail for lack of them';

CREATE FUNCTION tablespace_advisor.statement_rows(
	OUT rank int,
	OUT statement text,
	OUT calls_per_s float8,
	OUT mean_ms float8,
	OUT read_ms float8,
	OUT after_ms float8,
	OUT after_low_ms float8,
	OUT after_high_ms float8,
	OUT relations text,
	OUT queryid bigint,
	OUT userid oid)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_statement_rows';
COMMENT ON FUNCTION tablespace_advisor.statement_rows() IS
	'ten rows of advise_statements(), or none where waits are not measured. Errors: 42501 not a member of pg_monitor';
REVOKE ALL ON FUNCTION tablespace_advisor.statement_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tablespace_advisor.statement_rows TO pg_monitor;

/*
 * For the account of the whole database.  A caller that has it watched is not kept
 * waiting twice.
 */
CREATE FUNCTION tablespace_advisor.statement_gain_lines(
	caller oid,
	target regclass,
	destination name,
	space_budget text,
	observe interval)
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF target IS NOT NULL OR observe IS NOT NULL THEN
		RETURN;
	END IF;
	RETURN QUERY WITH statement AS MATERIALIZED (
		SELECT s.* FROM tablespace_advisor.statements_if_measured(
			caller, destination, space_budget, 3) s
	)
	SELECT l.line FROM (
		SELECT 0 AS n, 'Statements that wait most (advise_statements() has more):' AS line
		WHERE EXISTS (SELECT FROM statement)
		UNION ALL
		SELECT s.rank, format('  %s: %s a call, %s %s; %s',
			s.statement, tablespace_advisor.pretty_seconds(s.mean_ms / 1000),
			tablespace_advisor.pretty_seconds(s.read_ms / 1000),
			CASE WHEN s.read_ms > s.mean_ms THEN 'in reads of its parallel workers'
				ELSE 'of it for reads' END,
			coalesce(CASE WHEN s.relations IS NOT NULL THEN 'after the moves '
				|| tablespace_advisor.pretty_seconds(s.after_ms / 1000) END, 'no move changes that'))
		FROM statement s) l
	ORDER BY l.n;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.statement_gain_lines(oid, regclass, name, text, interval) IS
	'lines on the three statements of the database that wait most; none for a relation, for a window that is watched, or where waits are not measured';

CREATE FUNCTION @extschema@.advise_statements(
	tablespace name DEFAULT NULL,
	space_budget text DEFAULT NULL,
	observe interval DEFAULT NULL,
	max_statements int DEFAULT 10,
	OUT rank int,
	OUT statement text,
	OUT calls_per_s float8,
	OUT mean_ms float8,
	OUT read_ms float8,
	OUT after_ms float8,
	OUT after_low_ms float8,
	OUT after_high_ms float8,
	OUT relations text,
	OUT queryid bigint,
	OUT userid oid)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_advise_statements';
COMMENT ON FUNCTION @extschema@.advise_statements(name, text, interval, int) IS
	'the statements of this database that wait most for reads; mean_ms, read_ms: milliseconds of a call, and of them waiting for reads; after_ms, after_low_ms, after_high_ms: a call after the moves that advise_placement() advises, with a 95 % interval of the latencies; relations: those of them that the statement reads; the text is by pg_stat_statements, else the query id. Errors: 42501 not a member of pg_monitor, 55000 waits are not measured, 42704 no such tablespace, 22023 bad number, budget or duration';
REVOKE ALL ON FUNCTION @extschema@.advise_statements(name, text, interval, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.advise_statements(name, text, interval, int) TO pg_monitor;
