/*
 * src/report/parts_past.sql
 *
 * The parts of the page on the past and its outcome: moves, growth, costs, and
 * the small print.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
/*
 * Moves that samples cannot tell apart are one row, as all of it has the same
 * batch_... figures.
 */
CREATE FUNCTION tablespace_advisor.batch_outcomes(since timestamptz)
RETURNS TABLE (judged_with bigint, forecast float8, saved float8, low float8, high float8,
	all_saved float8, all_low float8, all_high float8, moves bigint, name text, outcome text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT o.judged_with,
		CASE WHEN bool_and(f.forecast IS NOT NULL) THEN sum(f.forecast) / 1000 END,
		sum(o.saved_ms_per_s) / 1000, sum(o.saved_low_ms_per_s) / 1000,
		sum(o.saved_high_ms_per_s) / 1000,
		min(o.batch_saved_ms_per_s) / 1000, min(o.batch_saved_low_ms_per_s) / 1000,
		min(o.batch_saved_high_ms_per_s) / 1000, count(*), min(o.relation_name),
		string_agg(DISTINCT o.outcome, ', ')
	FROM @extschema@.move_outcomes o
		-- at the same calls as the outcome
		CROSS JOIN LATERAL (SELECT CASE WHEN o.measured THEN o.forecast_for_calls_after_ms_per_s
			ELSE o.forecast_saved_ms_per_s END AS forecast) f
	WHERE o.finished_at > since AND o.saved_ms_per_s IS NOT NULL
	GROUP BY o.judged_with
$$;
COMMENT ON FUNCTION tablespace_advisor.batch_outcomes(timestamptz) IS
	'per calls that are judged as one, and have a measured outcome: seconds of waiting in each second that were forecast to be saved, and that were in reads of the moved relations (saved) and in all reads of the database (all_saved), with 95 % intervals';

CREATE FUNCTION tablespace_advisor.draw_outcomes(batches jsonb)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH batch AS MATERIALIZED (
		SELECT b.* FROM jsonb_to_recordset(batches) b (judged_with bigint, forecast float8,
			saved float8, low float8, high float8, moves bigint, name text, outcome text)
		WHERE b.forecast IS NOT NULL AND b.low IS NOT NULL
	), axes AS MATERIALIZED (
		SELECT tablespace_advisor.axis_around('linear', array(SELECT forecast FROM batch), 60, 560) AS x,
			tablespace_advisor.axis_around('linear', array(
				SELECT unnest(ARRAY[b.saved, b.low, b.high, b.forecast]) FROM batch b), 300, 24) AS y
	)
	SELECT tablespace_advisor.draw_picture(960, 345, 'Forecast and outcome of moves',
		tablespace_advisor.draw_axes(a.x, a.y, 'forecast: seconds of waiting saved in each second',
			'measured: the same, in reads of what was moved')
		|| tablespace_advisor.draw_line(a.x, a.y, ARRAY[m.low, m.high], ARRAY[m.low, m.high], 'mark dash',
			'as forecast')
		|| tablespace_advisor.draw_text(580, 40, 'tick', 'a dot for calls judged as one, with its 95 % interval;')
		|| tablespace_advisor.draw_text(580, 56, 'tick', 'on the dashed line: exactly as forecast')
		|| (SELECT tablespace_advisor.draw_dots(a.x, a.y, array_agg(b.forecast ORDER BY b.judged_with),
			array_agg(b.saved ORDER BY b.judged_with), 'c0',
			array_agg(format('call %s (%s%s): forecast %s, measured %s (%s to %s), %s', b.judged_with, b.name,
				CASE WHEN b.moves > 1 THEN format(' and %s more', b.moves - 1) ELSE '' END,
				tablespace_advisor.short_number(b.forecast), tablespace_advisor.short_number(b.saved),
				tablespace_advisor.short_number(b.low), tablespace_advisor.short_number(b.high),
				b.outcome) ORDER BY b.judged_with), 0,
			array_agg(b.low ORDER BY b.judged_with), array_agg(b.high ORDER BY b.judged_with)) FROM batch b))
	FROM axes a
	CROSS JOIN LATERAL (SELECT greatest((a.x).low, (a.y).low) AS low,
		least((a.x).high, (a.y).high) AS high) m
	WHERE EXISTS (SELECT FROM batch)
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_outcomes(jsonb) IS
	'forecast and measured savings of calls, of rows of batch_outcomes(); NULL without any of which both are known';

/*
 * The measured outcome of the period's moves.  Sessions that wait less make more
 * calls, whose former waits add up to more than sessions could wait.
 */
CREATE FUNCTION tablespace_advisor.outcome_sentence(batches jsonb, unknown bigint)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT concat(
		CASE WHEN b.n > 0 THEN format(' By samples before and after, the same calls wait %s s less in each second for reads of what was moved (95 %% interval %s to %s%s), and %s s less for all reads of the database (%s to %s). Faster sessions make more calls, so this can exceed all they waited before.',
			tablespace_advisor.two_digits(b.saved),
			tablespace_advisor.two_digits(b.saved - b.error),
			tablespace_advisor.two_digits(b.saved + b.error),
			coalesce('; forecast: ' || tablespace_advisor.two_digits(b.forecast), ''),
			tablespace_advisor.two_digits(b.all_saved),
			tablespace_advisor.two_digits(b.all_saved - b.all_error),
			tablespace_advisor.two_digits(b.all_saved + b.all_error)) ELSE '' END,
		CASE unknown WHEN 0 THEN '' WHEN 1 THEN ' What one move saved is not known.'
			ELSE format(' What %s moves saved is not known.', unknown) END)
	FROM (SELECT count(*) AS n, sum(j.saved) AS saved, sqrt(sum(((j.high - j.low) / 2) ^ 2)) AS error,
			CASE WHEN bool_and(j.forecast IS NOT NULL) THEN sum(j.forecast) END AS forecast,
			sum(j.all_saved) AS all_saved, sqrt(sum(((j.all_high - j.all_low) / 2) ^ 2)) AS all_error
		FROM jsonb_to_recordset(batches) j (forecast float8, saved float8, low float8, high float8,
			all_saved float8, all_low float8, all_high float8)
		WHERE j.low IS NOT NULL AND j.all_low IS NOT NULL) b
$$;
COMMENT ON FUNCTION tablespace_advisor.outcome_sentence(jsonb, bigint) IS
	'the saving of all rows of batch_outcomes(); unknown: how many moves are done with an unknown outcome';

CREATE FUNCTION tablespace_advisor.report_moved(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH outcome AS MATERIALIZED (
		SELECT o.job_id, o.saved_ms_per_s / 1000 AS saved, o.waits_for, o.outcome, o.verdict,
			CASE WHEN o.measured THEN o.forecast_for_calls_after_ms_per_s
				ELSE o.forecast_saved_ms_per_s END / 1000 AS forecast
		FROM @extschema@.move_outcomes o WHERE o.finished_at > f.since
	), batch AS MATERIALIZED (
		SELECT coalesce(jsonb_agg(b), '[]') AS batches FROM tablespace_advisor.batch_outcomes(f.since) b
	), move AS MATERIALIZED (
		SELECT m.*, o.saved, o.outcome, o.waits_for, o.verdict, o.forecast,
			row_number() OVER (ORDER BY m.finished_at IS NOT NULL, m.bytes_total DESC, m.job_id) AS n
		FROM @extschema@.tablespace_moves m LEFT JOIN outcome o ON o.job_id = m.job_id
		WHERE coalesce(m.finished_at, 'infinity') > f.since
	), sums AS (
		SELECT count(*) AS n, count(*) FILTER (WHERE m.state = 'done') AS done,
			count(*) FILTER (WHERE m.state = 'failed') AS failed,
			count(*) FILTER (WHERE m.state = 'cancelled') AS cancelled,
			count(*) FILTER (WHERE m.finished_at IS NULL) AS active,
			count(*) FILTER (WHERE m.verdict = 'waiting' AND m.saved IS NULL
				OR m.outcome = 'too few samples') AS unknown,
			sum(m.bytes_total) FILTER (WHERE m.state = 'done') AS bytes,
			max(m.lock_ms) AS lock_ms, max(m.others_lost_percent) AS lost,
			count(*) FILTER (WHERE m.state = 'done' AND m.others_lost_percent IS NULL) AS not_told
		FROM move m
	)
	SELECT tablespace_advisor.page_section('Moves',
		format('Moves that are done: %s%s%s%s%s.%s', s.done,
			' (' || tablespace_advisor.unit_label(s.bytes::float8, 'bytes') || ')',
			concat(', failed: ' || nullif(s.failed, 0), ', cancelled: ' || nullif(s.cancelled, 0),
				', not ended: ' || nullif(s.active, 0)),
			'; the longest exclusive lock was held for ' || tablespace_advisor.unit_label(s.lock_ms * 1000, 'us'),
			CASE WHEN s.lost IS NOT NULL THEN format('; others lost %s %% of their throughput at most%s',
				tablespace_advisor.two_digits(s.lost),
				' (not measured in ' || nullif(s.not_told, 0) || ')') ELSE '' END,
			tablespace_advisor.outcome_sentence(b.batches, s.unknown)),
		coalesce(tablespace_advisor.draw_outcomes(b.batches),
			'')
		|| tablespace_advisor.page_table('{move,relation,route,state,size,took,lock,others lost,ended}', 'nwwwnnnnd',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[m.job_id::text, m.relation_name,
				format('%I to %I', m.from_tablespace, m.to_tablespace),
				CASE WHEN m.finished_at IS NULL THEN concat_ws(', ', CASE m.state WHEN 'paused' THEN m.phase
						ELSE m.state END, m.percent || ' %', tablespace_advisor.pretty_seconds(
							extract(epoch FROM m.eta)::float8) || ' left')
					WHEN m.verdict IN ('waiting', 'slower') AND m.waits_for IS NOT NULL THEN m.state || coalesce(
						'; no outcome: ' || substring(m.waits_for, '^nothing: (.*)'), '; the outcome waits for ' || m.waits_for)
					WHEN m.saved IS NOT NULL THEN format('%s: %s s of waiting saved in each second%s', m.state,
						CASE WHEN abs(m.saved) < 0.001 THEN '0'
							ELSE tablespace_advisor.short_number(m.saved) END,
						coalesce(', forecast ' || tablespace_advisor.short_number(m.forecast), ''))
					ELSE m.state || coalesce(': ' || tablespace_advisor.one_line(m.error, 160), '') END,
				tablespace_advisor.unit_label(m.bytes_total::float8, 'bytes'),
				tablespace_advisor.pretty_seconds(extract(epoch FROM
					coalesce(m.finished_at, clock_timestamp()) - m.started_at)::float8),
				tablespace_advisor.unit_label(m.lock_ms * 1000, 'us'),
				tablespace_advisor.two_digits(m.others_lost_percent) || ' %',
				to_char(m.finished_at, 'MM-DD HH24:MI')], 'nwwwnnnnd'), '' ORDER BY m.n)
			FROM move m WHERE m.n <= 20))
		|| CASE WHEN s.n > 20 THEN format('<p class="note">and %s smaller ones</p>', s.n - 20) ELSE '' END)
	FROM sums s, batch b WHERE s.n > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.report_moved(tablespace_advisor.report_findings) IS
	'the part on moves that ended in the period or have not ended; NULL without any';

/* The six that are full first. Free space in percent, so that all fit. */
CREATE FUNCTION tablespace_advisor.draw_growth(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH begun AS (
		SELECT extract(epoch FROM min(s.taken_at))::float8 AS at,
			extract(epoch FROM max(s.taken_at) - min(s.taken_at))::float8 AS length
		FROM tablespace_advisor.sample s
	), place AS (
		SELECT u ->> 'tablespace' AS name, row_number() OVER (ORDER BY n) AS n,
			array(SELECT b.at + 86400 * d FROM unnest(h.days) d) AS at,
			array(SELECT 100 * x / d.size_bytes FROM unnest(h.free) x) AS percent,
			(u ->> 'days_until_full')::float8 AS days, (u ->> 'days_low')::float8 AS days_low,
			(u ->> 'days_high')::float8 AS days_high
		FROM jsonb_array_elements(f.usage) WITH ORDINALITY e (u, n)
		JOIN pg_tablespace t ON t.spcname = u ->> 'tablespace'
		JOIN tablespace_advisor.usage_history() h ON h.tablespace = t.oid
		JOIN unnest(f.devices) d ON d.tablespace = t.spcname
		CROSS JOIN begun b
		WHERE d.size_bytes > 0 AND cardinality(h.days) > 2 AND b.length >= 3600 AND h.free[cardinality(h.free)] IS NOT NULL
		ORDER BY n LIMIT 6
	), ahead AS MATERIALIZED (
		SELECT p.*, tablespace_advisor.colour_of(array(SELECT o.name::name FROM place o ORDER BY o.n),
				p.name::name) AS colour, l.at AS now, l.percent AS last, h.seconds AS horizon,
			CASE WHEN p.days IS NOT NULL THEN
				ARRAY[l.at, l.at + least(h.seconds, 86400 * p.days)] END AS future,
			CASE WHEN p.days IS NOT NULL THEN
				l.percent * (1 - least(1, h.seconds / 86400 / p.days)) END AS reaches
		FROM place p CROSS JOIN begun b
		CROSS JOIN LATERAL (SELECT p.at[cardinality(p.at)] AS at,
			p.percent[cardinality(p.percent)] AS percent) l
		CROSS JOIN LATERAL (SELECT b.length * 0.7 AS seconds) h
	), axes AS MATERIALIZED (
		SELECT tablespace_advisor.axis_around('time', array(SELECT unnest(a.at) FROM ahead a)
				|| array(SELECT a.now + a.horizon FROM ahead a), 60, 800) AS x,
			('linear', 0, 100, 300, 24, 'percent')::tablespace_advisor.axis AS y
	), ends AS (
		SELECT tablespace_advisor.spread_apart(array_agg(
			tablespace_advisor.axis_position(a.y, coalesce(p.reaches, p.last)) ORDER BY p.n), 15, 300) AS at
		FROM ahead p, axes a
	)
	SELECT tablespace_advisor.draw_picture(960, 345, 'Free space over time',
		tablespace_advisor.draw_axes(a.x, a.y, 'samples, then the forecast', 'free space of the file system')
		|| tablespace_advisor.draw_line(a.x, a.y, ARRAY[n.now, n.now], '{0,100}', 'mark dash', 'the last sample')
		|| tablespace_advisor.draw_text(tablespace_advisor.axis_position(a.x, n.now) + 5, 36, 'tick', 'forecast')
		|| (SELECT string_agg(tablespace_advisor.draw_band(a.x, a.y, ARRAY[p.now, p.now + p.horizon],
				ARRAY[p.last, CASE WHEN p.days_low > 0 THEN
					p.last * (1 - least(1, p.horizon / 86400 / p.days_low)) END],
				ARRAY[p.last, CASE WHEN p.days_high > 0 THEN
					p.last * (1 - least(1, p.horizon / 86400 / p.days_high)) ELSE p.last END],
				'c' || p.colour)
			|| tablespace_advisor.draw_line(a.x, a.y, p.at, p.percent, 'c' || p.colour, p.name)
			|| coalesce(tablespace_advisor.draw_line(a.x, a.y, p.future, ARRAY[p.last, p.reaches],
				'dash c' || p.colour, p.name || ': forecast'), '')
			|| tablespace_advisor.draw_text(810, e.at[p.n] + 4, 'c' || p.colour,
				tablespace_advisor.short_name(p.name, 22)), '') FROM ahead p, ends e))
	FROM axes a, (SELECT max(now) AS now FROM ahead) n WHERE n.now IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_growth(tablespace_advisor.report_findings) IS
	'free space of the tablespaces that are full first, and where it goes; NULL without some samples over an hour';

CREATE FUNCTION tablespace_advisor.report_growth(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.page_section('Growth',
		coalesce((SELECT format('%I is full first: in %s days%s.', u ->> 'tablespace',
				tablespace_advisor.two_digits((u ->> 'days_until_full')::float8),
				CASE WHEN u ->> 'days_high' IS NULL THEN format(' (95 %% interval: %s, or never)',
						coalesce(tablespace_advisor.two_digits((u ->> 'days_low')::float8) || ' at the earliest', 'not known'))
					ELSE format(' (95 %% interval: %s to %s)', tablespace_advisor.two_digits((u ->> 'days_low')::float8),
						tablespace_advisor.two_digits((u ->> 'days_high')::float8)) END)
			FROM jsonb_array_elements(f.usage) u WHERE u ->> 'days_until_full' IS NOT NULL
			ORDER BY (u ->> 'days_until_full')::float8 LIMIT 1),
			CASE WHEN EXISTS (SELECT FROM jsonb_array_elements(f.usage) u WHERE u ->> 'growth_bytes_per_day' IS NOT NULL)
				THEN 'By its history no tablespace is ever full.'
				ELSE 'The history is too short for a forecast.' END),
		coalesce(tablespace_advisor.draw_growth(f), '')
		|| tablespace_advisor.page_table('{tablespace,used here,grows per day,95 % interval,free,full in,history,note}', 'wnnnnnnl',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[u ->> 'tablespace',
				tablespace_advisor.unit_label((u ->> 'used_bytes')::float8, 'bytes'),
				tablespace_advisor.unit_label((u ->> 'growth_bytes_per_day')::float8, 'bytes'),
				tablespace_advisor.unit_label((u ->> 'growth_low_bytes_per_day')::float8, 'bytes') || ' to '
					|| tablespace_advisor.unit_label((u ->> 'growth_high_bytes_per_day')::float8, 'bytes'),
				tablespace_advisor.unit_label((u ->> 'free_bytes')::float8, 'bytes'),
				tablespace_advisor.two_digits((u ->> 'days_until_full')::float8) || ' days',
				tablespace_advisor.pretty_seconds(86400 * nullif((u ->> 'history_days')::float8, 0)),
				translate(u ->> 'caveat', E'\n', ' ')], 'wnnnnnnl'), '' ORDER BY n)
			FROM jsonb_array_elements(f.usage) WITH ORDINALITY e (u, n) WHERE n <= 50)))
	WHERE jsonb_array_length(f.usage) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.report_growth(tablespace_advisor.report_findings) IS
	'the part on free space; NULL where nothing is known of any tablespace';

CREATE FUNCTION tablespace_advisor.draw_costs(costs jsonb)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH weighed AS MATERIALIZED (
		SELECT c ->> 'tablespace' AS name, (c ->> 'low')::float8 AS low, (c ->> 'high')::float8 AS high,
			(c ->> 'current_random_page_cost')::float8 AS current,
			(c ->> 'random_page_cost')::float8 AS wanted, row_number() OVER (ORDER BY n) AS n
		FROM jsonb_array_elements(costs) WITH ORDINALITY e (c, n)
		WHERE c ->> 'low' IS NOT NULL AND (c ->> 'low')::float8 > 0 AND c ->> 'verdict' <> 'probe first'
			/* the owner of a tablespace can have set anything */
			AND greatest((c ->> 'high')::float8, (c ->> 'current_random_page_cost')::float8,
				(c ->> 'random_page_cost')::float8) < 1e9
		ORDER BY n LIMIT 20
	), axes AS MATERIALIZED (
		SELECT tablespace_advisor.axis_around('log', array(
				SELECT unnest(ARRAY[low, high, current, wanted]) FROM weighed), 200, 900) AS x,
			count(*) AS n FROM weighed
	)
	SELECT tablespace_advisor.draw_picture(960, 58 + 24 * a.n, 'random_page_cost by tablespace',
		tablespace_advisor.draw_axes(a.x, ('', 0, 1, 14 + 24 * a.n, 14, '')::tablespace_advisor.axis,
			'random_page_cost', NULL)
		|| (SELECT string_agg(tablespace_advisor.draw_text(190, 24 * w.n + 6, 'end', tablespace_advisor.short_name(w.name, 24))
			|| tablespace_advisor.draw_bar(a.x, w.low, w.high, 24 * w.n - 4, 12, 'c2 pale',
				format('%s: any value from %s to %s is about as good', w.name, w.low, w.high))
			|| tablespace_advisor.draw_dots(a.x, y.axis, ARRAY[w.wanted], '{0.5}', 'c2',
				ARRAY[format('%s: recommended %s', w.name, w.wanted)], 3)
			|| tablespace_advisor.draw_dots(a.x, y.axis, ARRAY[w.current], '{0.5}', 'c1',
				ARRAY[format('%s: now %s', w.name, w.current)], 0), '')
			FROM weighed w CROSS JOIN LATERAL (SELECT ('linear', 0, 1, 24 * w.n + 12, 24 * w.n - 8, '')
				::tablespace_advisor.axis) y (axis)))
	FROM axes a WHERE a.n > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_costs(jsonb) IS
	'present and recommended constants, and between which values they are as good';

/*
 * Remedies: the recommended settings, if they bring the plan within a tenth of
 * the best, else locality, if that does.
 */
CREATE FUNCTION tablespace_advisor.report_plans(plans jsonb)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH plan AS (
		SELECT p.*, p.plan_us / p.best_us AS slowdown, i.indrelid::regclass AS of_table,
			row_number() OVER (ORDER BY p.plan_us / p.best_us DESC, p.index) AS n
		FROM jsonb_to_recordset(plans) p (index oid, matching_rows float8, plan text, plan_us float8,
			best_plan text, best_us float8, recommended_us float8, corrected_us float8, is_measured boolean)
		JOIN pg_index i ON i.indexrelid = p.index
		WHERE p.plan_us > 1.5 * p.best_us AND p.plan_us - p.best_us >= 1000
	)
	SELECT CASE WHEN jsonb_array_length(plans) = 0 THEN ''
		WHEN NOT EXISTS (SELECT FROM plan) THEN
			'<p class="note">No index has a plan that is expected to take 1.5 times as long as the best and a millisecond more.</p>'
		ELSE '<h3>Worst plans</h3>' || tablespace_advisor.page_table(
			'{index,rows asked for,planner chooses,takes,best plan,takes,slowdown,what helps}', 'wntntnnl',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[p.index::regclass::text,
				tablespace_advisor.short_number(round(p.matching_rows)), p.plan,
				tablespace_advisor.unit_label(p.plan_us, 'us'), p.best_plan,
				tablespace_advisor.unit_label(p.best_us, 'us'), round(p.slowdown::numeric, 1)::text,
				CASE WHEN p.recommended_us < 1.1 * p.best_us THEN 'the recommended settings'
					WHEN p.corrected_us < 1.1 * p.best_us THEN CASE WHEN p.is_measured THEN ''
							ELSE format('SELECT %s.measure_index_locality(%L::pg_catalog.regclass), then ',
								'@extschema@', p.of_table) END
						|| 'SET tablespace_advisor.correct_locality = on'
					ELSE 'nothing that is known' END], 'wntntnnl'), '' ORDER BY p.n)
			FROM plan p WHERE p.n <= 10))
			|| '<p class="note">Expected by the probes, what caches hold now, and how the index''s entries lie to the table''s rows; of each index the number of rows for which the planner is furthest off. Which numbers queries ask for is not known.</p>'
		END
$$;
COMMENT ON FUNCTION tablespace_advisor.report_plans(jsonb) IS
	'the ten indexes with the worst plans, of rows of worst_plans()';

CREATE FUNCTION tablespace_advisor.report_costs(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH sums AS (
		SELECT count(*) AS n, count(*) FILTER (WHERE c ->> 'verdict' = 'change') AS changes,
			count(*) FILTER (WHERE c ->> 'verdict' = 'probe first') AS unknown,
			count(*) FILTER (WHERE c ->> 'verdict' = 'keep' AND c ->> 'low' IS NULL) AS idle,
			count(*) FILTER (WHERE c ->> 'verdict' = 'change'
				AND c ->> 'random_page_cost' <> c ->> 'current_random_page_cost') AS constants,
			(array_agg(c ORDER BY (c ->> 'regret_current')::float8 DESC NULLS LAST))[1] AS worst
		FROM jsonb_array_elements(f.costs) c
	)
	SELECT tablespace_advisor.page_section('Costs',
		CASE WHEN s.changes = 0 AND s.unknown = s.n THEN
				'What the planner''s constants should be is not known: no tablespace has been probed.'
			ELSE format('%s%s%s.',
				CASE WHEN s.changes > 0 THEN format('%s of %s tablespaces should have other settings', s.changes, s.n)
					WHEN s.unknown > 0 THEN 'No tablespace that was probed needs other settings'
					ELSE 'No tablespace needs other settings' END,
				CASE WHEN s.changes > s.constants THEN format(' (another random_page_cost: %s)',
					coalesce(nullif(s.constants, 0)::text, 'none')) ELSE '' END,
				CASE WHEN s.worst ->> 'regret_current' IS NOT NULL THEN format('; in %s plans take %s times the best now, on average',
					quote_ident(s.worst ->> 'tablespace'), round((s.worst ->> 'regret_current')::numeric, 2))
				ELSE '' END) END,
		CASE WHEN s.changes = 0 AND s.unknown = s.n THEN '' ELSE coalesce(tablespace_advisor.draw_costs(f.costs)
			|| '<p class="note">Dot: now; diamond: recommended; bar: values that are about as good.</p>', '')
		|| tablespace_advisor.page_table('{tablespace,verdict,random_page_cost,recommended,as good,slowdown now,then,statement or reason}', 'wdnnnnnc',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[c ->> 'tablespace', c ->> 'verdict',
				c ->> 'current_random_page_cost', c ->> 'random_page_cost',
				(c ->> 'low') || coalesce(' to ' || nullif(c ->> 'high', c ->> 'low'), ''),
				round((c ->> 'regret_current')::numeric, 2)::text,
				round((c ->> 'regret_recommended')::numeric, 2)::text, coalesce(c ->> 'statement', translate(c ->> 'reason', E'\n', ' '))],
				'wdnnnnnc'), '' ORDER BY n)
			FROM jsonb_array_elements(f.costs) WITH ORDINALITY e (c, n)
			WHERE (c ->> 'low' IS NOT NULL OR c ->> 'verdict' <> 'keep') AND n <= 50))
		|| CASE WHEN s.idle > 0 THEN format('<p class="note">Tablespaces without an index that settings would matter for: %s.</p>', s.idle)
			ELSE '' END
		|| '<p class="note">Slowdown: how many times as long as the best plans the planner''s choices are expected to take, on average over indexes of this database.</p>'
		|| tablespace_advisor.report_plans(f.plans) END)
	FROM sums s WHERE s.n > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.report_costs(tablespace_advisor.report_findings) IS
	'the part on the planner''s constants';

CREATE FUNCTION tablespace_advisor.report_small_print(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.page_section('Small print', 'What this page rests on, and what it leaves out.',
		tablespace_advisor.page_table(NULL, 'tl', (SELECT string_agg(
			tablespace_advisor.table_row(ARRAY[l.name, l.value], 'tl'), '' ORDER BY l.n)
		FROM (VALUES
			(1, 'Server', format('PostgreSQL %s, tablespace_advisor %s, database %I', current_setting('server_version'),
				(SELECT extversion FROM pg_extension WHERE extname = 'tablespace_advisor'), current_database())),
			(2, 'Written', format('%s for role %I', to_char(now(), 'YYYY-MM-DD HH24:MI TZ'), current_user)),
			(3, 'Period of samples, moves', format('since %s: %s', to_char(f.since, 'YYYY-MM-DD HH24:MI'),
				(SELECT format('samples: %s%s', count(*), coalesce(', the last of ' || to_char(max(s.taken_at), 'YYYY-MM-DD HH24:MI'), ''))
					FROM tablespace_advisor.sample s WHERE s.taken_at > f.since))),
			(4, 'Times of reads', CASE WHEN current_setting('track_io_timing')::boolean THEN 'probes, corrected by what the server timed'
				ELSE 'probes alone: track_io_timing is off' END),
			(5, 'Not probed', coalesce((SELECT format('%s (%s of the relations with advice are there)',
					string_agg(quote_ident(l.tablespace), ', ' ORDER BY l.tablespace),
					(SELECT count(*) FROM unnest(f.advice) a WHERE a.from_tablespace = ANY (array_agg(l.tablespace))))
				FROM tablespace_advisor.tablespace_latency l WHERE l.random_read_us IS NULL HAVING count(*) > 0), 'none')),
			(6, 'Left out', 'relations that were neither read nor written in the window; what standbys read; other databases of this server'),
			(7, 'Not shown', 'all but the twenty largest relations and moves of a list, which are counted')
		) l (n, name, value))))
$$;
COMMENT ON FUNCTION tablespace_advisor.report_small_print(tablespace_advisor.report_findings) IS
	'the part on versions, windows, and omissions';
