/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/report/report.sql: the page with pictures */

/*
 * Moves share the latencies of few tablespaces, so that their errors are the same
 * and add up; evidence is of each move alone, hence the ratios.
 */
CREATE FUNCTION tablespace_advisor.saved_by_moves(
	rows tablespace_advisor.advice_row[],
	OUT low float8,
	OUT high float8)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT sum((r.advice).saved_percent * CASE WHEN e.saved > 0 THEN e.low / e.saved ELSE 1 END),
		least(100, sum((r.advice).saved_percent * CASE WHEN e.saved > 0 THEN e.high / e.saved ELSE 1 END))
	FROM unnest(rows) r
	CROSS JOIN LATERAL (SELECT (r.evidence #>> '{estimate,saved_ms_per_s}')::float8 AS saved,
		(r.evidence #>> '{estimate,saved_low}')::float8 AS low,
		(r.evidence #>> '{estimate,saved_high}')::float8 AS high) e
	WHERE (r.advice).action = 'move'
	HAVING bool_and(e.low IS NOT NULL OR e.saved > 0 IS NOT TRUE)
$$;
COMMENT ON FUNCTION tablespace_advisor.saved_by_moves(tablespace_advisor.advice_row[]) IS
	'percent of the time of all reads that all moves save if latencies are at the ends of their 95 % intervals; NULL without moves, or where no interval is known';

/* Parsed when it is made: later functions of such a name are not called. */
CREATE FUNCTION tablespace_advisor.collect_findings(since timestamptz)
RETURNS tablespace_advisor.report_findings
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT ROW(since, ARRAY(SELECT r.advice FROM unnest(b.rows) WITH ORDINALITY r (advice, evidence, n)
			WHERE (r.advice).relation IS NOT NULL ORDER BY r.n), b.costs,
		(SELECT coalesce(jsonb_agg(u), '[]') FROM @extschema@.forecast_tablespace_usage() u),
		(SELECT coalesce(jsonb_agg(h), '[]') FROM @extschema@.tablespace_advisor_health() h),
		ARRAY(SELECT d FROM tablespace_advisor.device d),
		b.tablespace,
		(SELECT coalesce(jsonb_agg(c), '[]') FROM @extschema@.placement_curve(b.tablespace, 24) c
			WHERE b.tablespace IS NOT NULL),
		(SELECT coalesce(jsonb_agg(p), '[]') FROM tablespace_advisor.worst_plans(b.costs) p),
		s.low, s.high,
		ARRAY(SELECT (r.evidence #>> '{estimate,later_read_ms_per_s}')::float8
			FROM unnest(b.rows) WITH ORDINALITY r (advice, evidence, n)
			WHERE (r.advice).relation IS NOT NULL ORDER BY r.n),
		(SELECT r.advice FROM unnest(b.rows) r WHERE (r.advice).relation IS NULL),
		(SELECT string_agg(l, ' ') FROM tablespace_advisor.window_lines(b.rows[1].evidence -> 'window', true) l
			WHERE b.rows[1].evidence ? 'window'),
		(SELECT coalesce(jsonb_agg(s), '[]') FROM tablespace_advisor.statement_rows() s),
		coalesce((SELECT bool_or(tablespace_advisor.is_before_move(r.evidence)) FROM unnest(b.rows) r), false)
		)::tablespace_advisor.report_findings
	FROM (SELECT tablespace_advisor.tablespace_to_buy() AS tablespace,
		(SELECT coalesce(jsonb_agg(c), '[]') FROM @extschema@.recommend_random_page_cost(NULL::name) c) AS costs,
		ARRAY(SELECT r FROM tablespace_advisor.advice_rows() r) AS rows
		OFFSET 0) b
	CROSS JOIN LATERAL tablespace_advisor.saved_by_moves(b.rows) s;
END;
COMMENT ON FUNCTION tablespace_advisor.collect_findings(timestamptz) IS
	'the data of a page, collected once, from then on';

CREATE FUNCTION tablespace_advisor.report_begin(since interval)
RETURNS timestamptz
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF since IS NULL THEN
		RAISE EXCEPTION 'since must not be null' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF since <= interval '0' THEN
		RAISE EXCEPTION 'since must be greater than zero'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN clock_timestamp() - since;
END
$$;

CREATE FUNCTION tablespace_advisor.report_page(
	f tablespace_advisor.report_findings, since interval)
RETURNS text
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN tablespace_advisor.page_frame(
		format('Storage of database %s', current_database()),
		format('%s; the last %s', to_char(now(), 'YYYY-MM-DD HH24:MI TZ'),
			tablespace_advisor.pretty_seconds(extract(epoch FROM since)::float8)),
		concat(tablespace_advisor.report_verdict(f),
			tablespace_advisor.report_devices(f),
			tablespace_advisor.report_load(f),
			tablespace_advisor.report_readers(f),
			tablespace_advisor.report_statements(f),
			tablespace_advisor.report_room(f),
			tablespace_advisor.report_moved(f),
			tablespace_advisor.report_growth(f),
			tablespace_advisor.report_costs(f),
			tablespace_advisor.report_small_print(f)));
END
$$;
COMMENT ON FUNCTION tablespace_advisor.report_begin(interval) IS
	'the time so long ago. Errors: 22004 it is null, 22023 it is not greater than zero';
COMMENT ON FUNCTION tablespace_advisor.report_page(tablespace_advisor.report_findings, interval) IS
	'the page that tablespace_report() returns, from collected data';

CREATE FUNCTION @extschema@.tablespace_report(since interval DEFAULT '7 days')
RETURNS text
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET work_mem = '64MB'
BEGIN ATOMIC
	-- the view, of which nothing is read, is locked: the extension stays meanwhile
	SELECT tablespace_advisor.report_page(
		tablespace_advisor.collect_findings(tablespace_advisor.report_begin(since)),
		since)
	FROM (SELECT) one
		LEFT JOIN (SELECT FROM tablespace_advisor.device LIMIT 0) held ON true;
END;
COMMENT ON FUNCTION @extschema@.tablespace_report(interval) IS
	'a page of HTML with pictures: the actions most worth doing, the devices and their load, the causes of reads, the statements that wait, the moves since so long ago with forecast and outcome, growth and costs; it only looks, loads nothing and runs no script. Errors: 22004 since is null, 22023 it is not greater than zero';
REVOKE ALL ON FUNCTION @extschema@.tablespace_report(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.tablespace_report(interval) TO pg_monitor;

/* The functions that a member of pg_monitor runs to make the page. */
GRANT SELECT ON tablespace_advisor.read_depths TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.html, tablespace_advisor.short_number, tablespace_advisor.unit_label,
	tablespace_advisor.axis_position, tablespace_advisor.tick_step, tablespace_advisor.time_step,
	tablespace_advisor.axis_ticks, tablespace_advisor.axis_around, tablespace_advisor.spread_apart,
	tablespace_advisor.draw_text, tablespace_advisor.draw_axes, tablespace_advisor.path_of,
	tablespace_advisor.draw_line, tablespace_advisor.draw_band, tablespace_advisor.draw_dots,
	tablespace_advisor.draw_bar, tablespace_advisor.draw_picture, tablespace_advisor.table_row,
	tablespace_advisor.page_table, tablespace_advisor.page_section, tablespace_advisor.short_name,
	tablespace_advisor.colour_of, tablespace_advisor.waiting_number, tablespace_advisor.page_style,
	tablespace_advisor.page_frame, tablespace_advisor.report_moves,
	tablespace_advisor.report_move_things, tablespace_advisor.report_things,
	tablespace_advisor.report_verdict, tablespace_advisor.draw_latencies,
	tablespace_advisor.report_devices, tablespace_advisor.draw_readers,
	tablespace_advisor.report_readers, tablespace_advisor.report_statements,
	tablespace_advisor.batch_outcomes, tablespace_advisor.draw_outcomes,
	tablespace_advisor.outcome_sentence, tablespace_advisor.report_moved,
	tablespace_advisor.draw_growth, tablespace_advisor.report_growth, tablespace_advisor.draw_costs,
	tablespace_advisor.report_plans, tablespace_advisor.report_costs,
	tablespace_advisor.report_small_print, tablespace_advisor.waiting_sessions,
	tablespace_advisor.sessions_that_waited, tablespace_advisor.is_before_move,
	tablespace_advisor.window_bounds, tablespace_advisor.window_lines, tablespace_advisor.draw_load,
	tablespace_advisor.report_load, tablespace_advisor.tablespace_to_buy,
	tablespace_advisor.curve_knee, tablespace_advisor.room_curve, tablespace_advisor.draw_room,
	tablespace_advisor.report_room, tablespace_advisor.saved_by_moves,
	tablespace_advisor.collect_findings, tablespace_advisor.report_begin,
	tablespace_advisor.report_page TO pg_monitor;
