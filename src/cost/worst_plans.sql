/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/cost/worst_plans.sql: where the planner's choices are furthest from the best */

CREATE FUNCTION tablespace_advisor.find_worst_plans(
	times tablespace_advisor.weighed_times,
	indexes tablespace_advisor.weighed_index[],
	random_page_cost float8,
	seq_page_cost float8,
	effective_io_concurrency int,
	recommended_io_concurrency int,
	recommended_random_page_cost float8)
RETURNS TABLE (
	place int,
	matching_rows float8,
	plan text,
	plan_us float8,
	best_plan text,
	best_us float8,
	recommended_plan text,
	recommended_us float8,
	corrected_plan text,
	corrected_us float8,
	is_measured boolean)
LANGUAGE C STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_find_worst_plans';
COMMENT ON FUNCTION tablespace_advisor.find_worst_plans IS
	'per index (place in the array) the number of rows for which the planner''s choice is furthest from the best plan, both with the microseconds that they are expected to take, and the planner''s choice there with the recommended value, and with locality corrected, too (is_measured: not assumed). Errors: 22023, 2202E, 22004 for arguments that make no sense';

CREATE FUNCTION tablespace_advisor.worst_plans(recommended jsonb)
RETURNS TABLE (
	tablespace name,
	index oid,
	matching_rows float8,
	plan text,
	plan_us float8,
	best_plan text,
	best_us float8,
	recommended_plan text,
	recommended_us float8,
	corrected_plan text,
	corrected_us float8,
	is_measured boolean)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT (m.latency).tablespace, m.indexes[w.place].index, w.matching_rows,
		w.plan, w.plan_us, w.best_plan, w.best_us, w.recommended_plan, w.recommended_us,
		w.corrected_plan, w.corrected_us, w.is_measured
	FROM jsonb_to_recordset(recommended) r (tablespace name, verdict text,
		random_page_cost float8, effective_io_concurrency int)
	JOIN tablespace_advisor.cost_measurements(NULL) m ON (m.latency).tablespace = r.tablespace
	CROSS JOIN LATERAL tablespace_advisor.find_worst_plans(
		m.times, m.indexes, (m.setting).random_page_cost, (m.setting).seq_page_cost,
		(m.setting).effective_io_concurrency,
		CASE WHEN r.verdict = 'change' AND r.effective_io_concurrency IS NOT NULL
			THEN r.effective_io_concurrency ELSE (m.setting).effective_io_concurrency END,
		CASE WHEN r.verdict = 'change' THEN r.random_page_cost
			ELSE (m.setting).random_page_cost END) w
	WHERE r.verdict <> 'probe first' AND m.is_probed AND m.cached_fraction IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.worst_plans(jsonb) IS
	'find_worst_plans() for all tablespaces, with the values that recommend_random_page_cost() recommends';

GRANT EXECUTE ON FUNCTION
	tablespace_advisor.worst_plans, tablespace_advisor.find_worst_plans TO pg_monitor;
