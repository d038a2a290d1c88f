/*
 * src/advise/placement.sql
 *
 * From facts to advice: estimate, verdict, choice under a budget.  These
 * functions look at nothing but their arguments, so that advice can be tested
 * and replayed on facts written down by hand.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.move_statement(relation regclass, kind text, destination name, is_bloated boolean)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT format('CALL %s(%s, %s%s);', tablespace_advisor.written_call(f.name),
		tablespace_advisor.written_argument(f.name, tablespace_advisor.written_relation(relation), 'regclass'),
		tablespace_advisor.written_argument(f.name, destination, 'name'),
		CASE WHEN is_bloated THEN ', method => ' || tablespace_advisor.written_argument(f.name, 'rebuild', 'text')
			ELSE '' END)
	FROM (SELECT CASE kind WHEN 'heap' THEN 'move_table_concurrently'
		ELSE 'move_indexes_concurrently' END::name) f (name);
END;
COMMENT ON FUNCTION tablespace_advisor.move_statement(regclass, text, name, boolean) IS
	'the call that moves a relation';

/*
 * The rows of an advice, from the decision on each relation; probe_relation:
 * the row that has the statement of all probes.
 */
CREATE FUNCTION tablespace_advisor.decision_rows(
	decided tablespace_advisor.placement_choice[],
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	destination name)
RETURNS TABLE (relation regclass, advice @extschema@.placement_advice)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH probe AS MATERIALIZED (
		SELECT p.relation, p.statement FROM tablespace_advisor.wanted_probes(
			decided, relations, estimates, tablespaces, $6) p
	)
	SELECT a.relation, ROW(CASE WHEN d.action = 'move' THEN d.turn END, d.action, a.relation, a.tablespace,
			CASE d.action WHEN 'move' THEN d.destination
				WHEN 'drop candidate' THEN NULL ELSE a.tablespace END,
			a.size_bytes,
			tablespace_advisor.round_to_three(s.saved_ms_per_s),
			tablespace_advisor.round_to_three(100 * s.saved_ms_per_s / nullif(load.all_read_ms_per_s, 0)),
			tablespace_advisor.one_line(coalesce(tablespace_advisor.choice_reason(d, f, load),
					tablespace_advisor.finding_reason(
						CASE WHEN d.finding = 'faster' AND tablespace_advisor.is_bloated(a)
							THEN 'bloated' ELSE d.finding END, a, e, f, t, load, $6, w.bottleneck,
						CASE WHEN d.finding = 'table not probed' THEN array(
							SELECT m FROM unnest(tablespaces) m
							WHERE m.tablespace = ANY (e.not_probed) ORDER BY m.tablespace) END))
				|| CASE WHEN d.action = 'move' AND t.latency_from = 'assumed'
					THEN '; it is only assumed' ELSE '' END
				|| CASE WHEN d.action = 'move' AND a.policy IS NOT NULL
					THEN '; policy: ' || a.policy ELSE '' END),
			CASE d.action WHEN 'move' THEN
					CASE WHEN t.latency_from IS DISTINCT FROM 'assumed'
					THEN tablespace_advisor.move_statement(a.relation, a.kind,
						d.destination, tablespace_advisor.is_bloated(a)) END
				WHEN 'keep' THEN NULL
				WHEN 'probe first' THEN (SELECT q.statement FROM probe q WHERE q.relation = a.relation)
				ELSE tablespace_advisor.finding_statement(d.finding, a) END,
			a.kind,
			tablespace_advisor.round_to_three(a.reads_per_s),
			tablespace_advisor.round_to_three(a.writes_per_s),
			tablespace_advisor.round_to_three((a.hits_per_s + a.reads_per_s * (1 - e.device_share))
				/ nullif(a.hits_per_s + a.reads_per_s, 0)),
			tablespace_advisor.round_to_three(e.read_ms_per_s),
			CASE WHEN d.destination IS NOT NULL THEN tablespace_advisor.round_to_three(e.move_seconds) END,
			coalesce(a.measured, false),
			tablespace_advisor.round_to_three(coalesce(a.waiting_sessions, e.read_ms_per_s / 1000))
		)::@extschema@.placement_advice
	FROM tablespace_advisor.elements(decided) d
	CROSS JOIN (SELECT tablespace_advisor.other_bottleneck(load) AS bottleneck OFFSET 0) w
	JOIN tablespace_advisor.elements(relations) a ON a.relation = d.relation
	JOIN tablespace_advisor.elements(estimates) e ON e.relation = d.relation
		AND coalesce(e.destination, '') = coalesce(d.destination, '')
	LEFT JOIN unnest(tablespaces) f ON f.tablespace = a.tablespace
	LEFT JOIN unnest(tablespaces) t ON t.tablespace = d.destination
	/* a relation that stays saves nothing, as far as anything is known of it */
	CROSS JOIN LATERAL (SELECT CASE
		WHEN d.action = 'move' THEN d.saved_ms_per_s
		WHEN d.action = 'probe first' THEN NULL
		WHEN e.read_ms_per_s IS NOT NULL THEN 0 END AS saved_ms_per_s) s
	/* names, which take long to make, of unread relations */
	ORDER BY CASE WHEN d.action = 'move' THEN d.turn END,
		tablespace_advisor.is_uncertain(d.finding), e.read_ms_per_s DESC NULLS LAST,
		a.kind DESC, CASE WHEN e.read_ms_per_s > 0 THEN '' ELSE a.relation::text END COLLATE "C",
		a.relation::oid
$$;
COMMENT ON FUNCTION tablespace_advisor.decision_rows(tablespace_advisor.placement_choice[], tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name) IS
	'rows of advice, moves first, from the decision on each relation; turn is the rank of moves';

/* Apart from the rows, which are asked for without it as a rule. */
CREATE FUNCTION tablespace_advisor.decision_evidence(
	decided tablespace_advisor.placement_choice[],
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	loads tablespace_advisor.load_estimate[],
	places tablespace_advisor.place_load[])
RETURNS TABLE (relation regclass, evidence jsonb)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT a.relation, tablespace_advisor.row_evidence(a, e, f, t, l, load, d, p)
		|| jsonb_build_object('not_probed', w.unmeasured)
	FROM tablespace_advisor.elements(decided) d
	CROSS JOIN (SELECT coalesce(jsonb_object_agg(u.tablespace,
			coalesce(u.caveat, 'nothing was measured there')), '{}') AS unmeasured
		FROM unnest(tablespaces) u WHERE u.random_read_us IS NULL) w
	JOIN tablespace_advisor.elements(relations) a ON a.relation = d.relation
	JOIN tablespace_advisor.elements(estimates) e ON e.relation = d.relation
		AND coalesce(e.destination, '') = coalesce(d.destination, '')
	LEFT JOIN unnest(tablespaces) f ON f.tablespace = a.tablespace
	LEFT JOIN unnest(tablespaces) t ON t.tablespace = d.destination
	LEFT JOIN unnest(loads) l ON l.tablespace = a.tablespace
	LEFT JOIN unnest(places) p ON p.tablespace
		= CASE d.action WHEN 'move' THEN d.destination ELSE a.tablespace END
$$;
COMMENT ON FUNCTION tablespace_advisor.decision_evidence(tablespace_advisor.placement_choice[], tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, tablespace_advisor.load_estimate[], tablespace_advisor.place_load[]) IS
	'the grounds of the rows of decision_rows(); loads: as of estimate_load(), places: as of loads_after()';

/*
 * One statement, in the first row that asks for it: if the caller names no
 * tablespace, of all that relations could go to, lest each answer asks for another.
 */
CREATE FUNCTION tablespace_advisor.wanted_probes(
	decided tablespace_advisor.placement_choice[],
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	destination name)
RETURNS TABLE (relation regclass, statement text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH asks AS MATERIALIZED (
		SELECT a.relation, a.kind, a.tablespace, d.destination, h.read_ms_per_s, h.not_probed
		FROM tablespace_advisor.elements(decided) d
		JOIN tablespace_advisor.elements(relations) a ON a.relation = d.relation
		JOIN tablespace_advisor.elements(estimates) h ON h.relation = d.relation AND h.destination IS NULL
		WHERE d.action = 'probe first'
	), target AS (
		SELECT t.tablespace FROM unnest(tablespaces) t
		WHERE $5 IS NULL AND t.may_create AND t.volatile IS NOT TRUE
			AND NOT EXISTS (SELECT FROM unnest(tablespaces) p
				WHERE p.run_id IS NOT NULL AND p.tablespace = ANY (t.shares_device_with))
	), names AS (
		SELECT array_agg(DISTINCT n.tablespace) AS names
		FROM asks CROSS JOIN LATERAL
			unnest(asks.not_probed || ARRAY[asks.tablespace, asks.destination]
				|| array(SELECT t.tablespace FROM target t)) n (tablespace)
		LEFT JOIN unnest(tablespaces) f ON f.tablespace = n.tablespace
		WHERE f.tablespace IS NULL OR tablespace_advisor.to_be_probed(f) IS NOT NULL
	)
	SELECT first.relation, tablespace_advisor.probe_statement(VARIADIC names.names)
	FROM names CROSS JOIN
		(SELECT asks.relation FROM asks
			ORDER BY asks.read_ms_per_s DESC NULLS LAST, asks.kind DESC,
				asks.relation::text COLLATE "C" LIMIT 1) first
$$;
COMMENT ON FUNCTION tablespace_advisor.wanted_probes(tablespace_advisor.placement_choice[], tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], name) IS
	'the statement that makes all probes that are asked for, and the relation of its row; none if no probe would help';

CREATE FUNCTION tablespace_advisor.ranked_moves(
	evicted tablespace_advisor.placement_choice[],
	moves tablespace_advisor.placement_choice[])
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT m.relation, m.destination, m.action, m.saved_ms_per_s,
		m.bytes,
		row_number() OVER (ORDER BY m.turn NULLS FIRST,
			m.saved_ms_per_s / nullif(m.bytes, 0) DESC NULLS FIRST,
			CASE WHEN m.turn IS NULL THEN m.relation::text END COLLATE "C")::int,
		m.bundle, m.makes_room_for, m.ms_per_s_and_gb, m.finding
	FROM (SELECT e.* FROM unnest(evicted) e
		UNION ALL SELECT m.* FROM tablespace_advisor.elements(moves) m WHERE m.turn IS NOT NULL) m
$$;
COMMENT ON FUNCTION tablespace_advisor.ranked_moves(tablespace_advisor.placement_choice[], tablespace_advisor.placement_choice[]) IS
	'evictions, then moves that are made, turn being the rank among both';

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
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET enable_mergejoin = off
SET jit = off
SET work_mem = '64MB'
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	wanted tablespace_advisor.relation_fact[];
	estimates tablespace_advisor.placement_estimate[];
	candidates tablespace_advisor.placement_choice[];
	evicted tablespace_advisor.placement_choice[] := '{}';
	moves tablespace_advisor.placement_choice[];
	decided tablespace_advisor.placement_choice[];
	loads tablespace_advisor.load_estimate[];
	places tablespace_advisor.place_load[];
BEGIN
	wanted := relations;
	IF cardinality(considered) < cardinality(relations) THEN
		wanted := array(SELECT a FROM tablespace_advisor.elements(relations) a
			WHERE a.relation IN (SELECT c FROM tablespace_advisor.elements(considered) c));
	END IF;
	loads := array(SELECT l FROM tablespace_advisor.present_load(
		relations, tablespaces, load) l);
	estimates := array(SELECT e
		FROM tablespace_advisor.estimate_placement(
			relations, tablespaces, load, loads, destination IS NOT NULL) e);
	load.all_read_ms_per_s := (SELECT greatest(sum(e.read_ms_per_s),
			CASE WHEN bool_or(e.read_ms_per_s IS NULL) AND NOT bool_or(e.measured)
				THEN load.read_ms_per_s END)
		FROM tablespace_advisor.elements(estimates) e WHERE e.destination IS NULL);
	load.all_read_bytes := (SELECT sum(a.size_bytes)
		FROM tablespace_advisor.elements(relations) a WHERE a.reads_per_s > 0);
	places := array(SELECT p FROM tablespace_advisor.place_loads(
		relations, estimates, tablespaces, loads) p);
	IF with_evictions THEN
		evicted := array(SELECT c FROM tablespace_advisor.choose_evictions(
			wanted, estimates, tablespaces) c);
	END IF;
	candidates := array(SELECT c FROM tablespace_advisor.move_candidates(
			wanted, estimates, tablespaces, load, destination) c
		WHERE c.relation NOT IN (SELECT m.relation FROM unnest(evicted) m));
	moves := array(SELECT c FROM tablespace_advisor.choose_moves(candidates,
		array(SELECT c FROM tablespace_advisor.demotion_offers(
				wanted, estimates, tablespaces, load) c
			WHERE c.relation NOT IN (SELECT m.relation FROM unnest(evicted) m)
				AND (c.relation, c.destination) NOT IN
					(SELECT o.relation, o.destination FROM tablespace_advisor.elements(candidates) o)),
		evicted, relations, estimates, tablespaces, load, budget_bytes) c);
	places := array(SELECT p FROM tablespace_advisor.loads_after(
		moves, places, wanted, estimates, load) p);
	moves := array(SELECT m FROM tablespace_advisor.forecast_set(
		moves, places) m);
	decided := array(SELECT d FROM tablespace_advisor.ranked_moves(evicted, moves) d
		UNION ALL SELECT o FROM tablespace_advisor.other_verdicts(wanted, estimates,
			tablespaces, load, destination, candidates, evicted || moves) o);
	IF NOT with_evidence THEN
		RETURN QUERY SELECT r.advice, NULL::jsonb FROM tablespace_advisor.decision_rows(
			decided, wanted, estimates, tablespaces, load, destination) r;
	ELSE
		RETURN QUERY SELECT r.advice, v.evidence FROM tablespace_advisor.decision_rows(decided,
			wanted, estimates, tablespaces, load, destination) WITH ORDINALITY r
		JOIN tablespace_advisor.decision_evidence(
			decided, wanted, estimates, tablespaces, load, loads, places) v USING (relation)
		ORDER BY r.ordinality;
	END IF;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.judge_placement(tablespace_advisor.relation_fact[], regclass[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name, bigint, boolean, boolean) IS
	'advice on the relations considered, from facts handed over: relations must hold all of their tables, and all that is read in the database if reads were timed; destination NULL: any of the tablespaces; budget_bytes: room that moves may fill (NULL: no limit); with_evictions: also relieve tablespaces that are over their mark; with_evidence: else evidence is NULL';
