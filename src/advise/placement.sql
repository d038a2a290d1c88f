/*
 * src/advise/placement.sql
 *
 * From facts to advice: judge.c decides, here rows get their statements.  These
 * functions look at nothing but their arguments, so that advice can be tested
 * and replayed on facts written down by hand.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.decide_placement(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	considered regclass[],
	destination name,
	budget_bytes bigint,
	with_evictions boolean,
	with_evidence boolean,
	bottleneck text)
RETURNS SETOF tablespace_advisor.placement_decision
LANGUAGE C STABLE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'tsa_decide_placement';
COMMENT ON FUNCTION tablespace_advisor.decide_placement(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, regclass[], name, bigint, boolean, boolean, text) IS
	'the decision on each relation considered, moves first; bottleneck: see other_bottleneck(), other arguments: see judge_placement(). Errors: 22023 no curve, 54000 too many devices, 53200 out of memory';

CREATE FUNCTION tablespace_advisor.decision_statement(d tablespace_advisor.placement_decision)
RETURNS text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	call CONSTANT name := CASE d.kind WHEN 'heap' THEN 'move_table_concurrently'
		ELSE 'move_indexes_concurrently' END;
BEGIN
	RETURN CASE
		WHEN d.action = 'move' THEN
			format('CALL %s(%s, %s%s);', tablespace_advisor.written_call(call),
				tablespace_advisor.written_argument(call,
					tablespace_advisor.written_relation(d.relation), 'regclass'),
				tablespace_advisor.written_argument(call, d.to_tablespace, 'name'),
				CASE WHEN d.is_bloated THEN ', method => '
					|| tablespace_advisor.written_argument(call, 'rebuild', 'text') ELSE '' END)
		WHEN d.action = 'probe first' THEN
			tablespace_advisor.probe_statement(VARIADIC d.probes)
		WHEN d.finding = 'unused expression' AND d.expression <> '' THEN
			format('CREATE STATISTICS %I ON %s FROM %s;',
				(SELECT left(c.relname, 50) || '_statistics' FROM pg_class c WHERE c.oid = d.relation),
				d.expression, tablespace_advisor.written_relation(d.table_relation))
		WHEN d.finding = 'BRIN' THEN format('CREATE INDEX CONCURRENTLY ON %s USING brin (%I);',
			tablespace_advisor.written_relation(d.table_relation), d.column_name)
		WHEN d.finding IN ('invalid', 'bloated') THEN format('REINDEX INDEX CONCURRENTLY %s;',
			tablespace_advisor.written_relation(d.relation)) END;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.decision_statement(tablespace_advisor.placement_decision) IS
	'the statement that a decision asks for; NULL: none';

CREATE FUNCTION tablespace_advisor.judge_placement(
	relations tablespace_advisor.relation_fact[],
	considered regclass[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	destination name,
	budget_bytes bigint,
	with_evictions boolean DEFAULT false,
	with_evidence boolean DEFAULT true)
RETURNS TABLE (advice @extschema@.placement_advice, evidence jsonb)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT ROW(d.rank, d.action, d.relation, d.from_tablespace, d.to_tablespace, d.size_bytes,
			d.saved_ms_per_s, d.saved_percent, d.reason,
			CASE WHEN d.has_statement THEN tablespace_advisor.decision_statement(d) END,
			d.kind, d.reads_per_s, d.writes_per_s, d.cached_fraction, d.read_ms_per_s,
			d.move_seconds, d.measured, d.waiting_sessions)::@extschema@.placement_advice,
		CASE WHEN with_evidence THEN tablespace_advisor.row_evidence(d, load)
			|| jsonb_build_object('not_probed', w.unmeasured) END
	FROM tablespace_advisor.decide_placement(relations, tablespaces, load, considered, destination,
		budget_bytes, with_evictions, with_evidence, tablespace_advisor.other_bottleneck(load)) d
	CROSS JOIN (SELECT coalesce(jsonb_object_agg(u.tablespace,
			coalesce(u.caveat, 'nothing was measured there')), '{}') AS unmeasured
		FROM unnest(tablespaces) u WHERE u.random_read_us IS NULL) w
$$;
COMMENT ON FUNCTION tablespace_advisor.judge_placement(tablespace_advisor.relation_fact[], regclass[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name, bigint, boolean, boolean) IS
	'advice on the relations considered, from facts handed over: relations must hold all of their tables, and all that is read in the database if reads were timed; destination NULL: any of the tablespaces; budget_bytes: room that moves may fill (NULL: no limit); with_evictions: also relieve tablespaces that are over their mark; with_evidence: else evidence is NULL';
