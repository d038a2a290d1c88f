/*
 * src/report/parts.sql
 *
 * The parts of the page that tell of advice, costs and health; the load, room and
 * the past have files of their own.  The facts are handed in, so that all parts
 * speak of the same.  A part that has nothing to say is NULL.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE TYPE tablespace_advisor.report_findings AS (
	since timestamptz,
	advice @extschema@.placement_advice[],
	costs jsonb,
	usage jsonb,
	health jsonb,
	devices tablespace_advisor.device[],
	curve_of name,
	curve jsonb,
	plans jsonb,
	saved_low float8,
	saved_high float8,
	later float8[],
	temporary @extschema@.placement_advice,
	window_line text,
	statements jsonb,
	is_before_move boolean
);
COMMENT ON TYPE tablespace_advisor.report_findings IS
	'the data of a report: the period''s begin, rows of advise_placement() on relations, recommend_random_page_cost(), forecast_tablespace_usage() and tablespace_advisor_health(), the devices, rows of placement_curve() of a tablespace, and of worst_plans(); saved_low, saved_high: see saved_by_moves(); later: for each of the advice the time of its reads once all of it is followed (NULL: not known); temporary: the row on temporary files; window_line: the window of the advice; statements: rows of advise_statements(); is_before_move: the window begins before the last move';

/* A relation's own table, so that all moves of one table are one thing. */
CREATE FUNCTION tablespace_advisor.report_moves(advice @extschema@.placement_advice[])
RETURNS TABLE (target regclass, moves bigint, bytes numeric, seconds float8, saved float8,
	share float8, to_tablespaces text, statements text[])
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(i.indrelid, a.relation)::regclass, count(*), sum(a.size_bytes),
		CASE WHEN bool_and(a.move_seconds IS NOT NULL) THEN sum(a.move_seconds) END,
		sum(a.saved_ms_per_s), sum(a.saved_percent),
		string_agg(DISTINCT quote_ident(a.to_tablespace), ', '),
		CASE WHEN count(*) <= 3 THEN array_agg(a.statement ORDER BY a.rank)
			ELSE ARRAY[format('SELECT * FROM %s.advise_placement(target => %L::pg_catalog.regclass)',
				'@extschema@', coalesce(i.indrelid, a.relation)::regclass)] END
	FROM unnest(advice) a LEFT JOIN pg_index i ON i.indexrelid = a.relation
	WHERE a.action = 'move'
	GROUP BY coalesce(i.indrelid, a.relation)
$$;
COMMENT ON FUNCTION tablespace_advisor.report_moves(@extschema@.placement_advice[]) IS
	'the moves that advice has, a row for each table with its indexes; saved in milliseconds per second, share in percent of the time of all reads';

/* Of many tables the moves are one thing: to follow the advice. */
CREATE FUNCTION tablespace_advisor.report_move_things(advice @extschema@.placement_advice[])
RETURNS TABLE (amount float8, what text, saves text, statements text[])
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH table_moves AS MATERIALIZED (
		SELECT m.*, count(*) OVER () AS tables FROM tablespace_advisor.report_moves(advice) m
	), thing AS (
		SELECT m.moves, m.bytes, m.seconds, m.saved, m.share, m.target::text AS of_what, m.to_tablespaces,
			m.statements
		FROM table_moves m WHERE m.tables <= 3
		UNION ALL
		SELECT sum(m.moves)::bigint, sum(m.bytes),
			CASE WHEN bool_and(m.seconds IS NOT NULL) THEN sum(m.seconds) END, sum(m.saved), sum(m.share),
			format('%s tables', count(*)), (SELECT string_agg(DISTINCT quote_ident(a.to_tablespace), ', ')
				FROM unnest(advice) a WHERE a.action = 'move'),
			ARRAY[format('CALL %s.apply_placement()', '@extschema@')]
		FROM table_moves m WHERE m.tables > 3 HAVING count(*) > 0
	)
	SELECT coalesce(t.saved, 0),
		format('Move %s of %s to %s (%s%s)', CASE WHEN t.moves = 1 THEN 'one relation'
			ELSE t.moves || ' relations' END, t.of_what, t.to_tablespaces, pg_size_pretty(t.bytes),
			', about ' || tablespace_advisor.pretty_seconds(tablespace_advisor.two_digits(t.seconds)::float8)),
		CASE WHEN t.saved > 0 THEN format('%s %% of the time of all reads (sessions that wait: %s fewer on average)',
				tablespace_advisor.two_digits(t.share), tablespace_advisor.two_digits(t.saved / 1000))
			ELSE 'room in a tablespace that is too full' END,
		t.statements
	FROM thing t
$$;
COMMENT ON FUNCTION tablespace_advisor.report_move_things(@extschema@.placement_advice[]) IS
	'the moves that advice has as things to do, one for each of at most three tables, or one for all';

CREATE FUNCTION tablespace_advisor.report_things(f tablespace_advisor.report_findings)
RETURNS TABLE (urgency int, amount float8, what text, saves text, statements text[])
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN p.days < 14 THEN 1 ELSE 4 END, -p.days,
		format('Make room in tablespace %I: full in %s days (%s)%s', p.tablespace,
			tablespace_advisor.two_digits(p.days),
			CASE WHEN p.high IS NULL THEN 'or never, by its history'
				ELSE format('95 %% interval %s to %s', tablespace_advisor.two_digits(p.low),
					tablespace_advisor.two_digits(p.high)) END,
			CASE WHEN p.n > 1 THEN format('; %s more within 90 days', p.n - 1) ELSE '' END),
		'writes from failing',
		ARRAY[format('SELECT * FROM %s.tablespace_contents(%L::pg_catalog.name)', '@extschema@', p.tablespace)]
	FROM (SELECT u ->> 'tablespace' AS tablespace, greatest(0, (u ->> 'days_until_full')::float8) AS days,
			greatest(0, (u ->> 'days_low')::float8) AS low, (u ->> 'days_high')::float8 AS high,
			count(*) OVER () AS n
		FROM jsonb_array_elements(f.usage) u
		WHERE (u ->> 'days_until_full')::float8 < 90
		ORDER BY (u ->> 'days_until_full')::float8 LIMIT 1) p
	UNION ALL
	SELECT 2, m.amount, m.what, m.saves, m.statements
	FROM tablespace_advisor.report_move_things(f.advice) m
	UNION ALL
	SELECT 2, t.saved_ms_per_s, format('Put temporary files into %I', t.to_tablespace),
		format('%s %% of what statements wait for them (%s now)',
			tablespace_advisor.two_digits(100 * t.saved_ms_per_s / t.read_ms_per_s),
			tablespace_advisor.waiting_sessions(t.read_ms_per_s, 'them')),
		ARRAY[t.statement]
	FROM (SELECT (f.temporary).*) t WHERE t.action = 'move'
	UNION ALL
	/* the same fact on several, as that they were never probed, is one thing */
	SELECT 3, 0, format('%s: %s', upper(left(s.subjects, 1)) || substr(s.subjects, 2), s.message),
		NULL, s.statements
	FROM (SELECT l.message, string_agg(h ->> 'subject', ', ' ORDER BY n) AS subjects,
			(array_agg(l.statement ORDER BY n) FILTER (WHERE l.statement IS NOT NULL))[:3] AS statements
		FROM jsonb_array_elements(f.health) WITH ORDINALITY e (h, n)
			CROSS JOIN LATERAL (SELECT translate(h ->> 'message', E'\n', ' ') AS message,
				regexp_replace(h ->> 'statement', E'\n *', ' ', 'g') AS statement) l
		WHERE NOT (h ->> 'ok')::boolean GROUP BY l.message) s
	UNION ALL
	SELECT 5, (c ->> 'regret_current')::float8 - (c ->> 'regret_recommended')::float8,
		CASE WHEN c ->> 'random_page_cost' <> c ->> 'current_random_page_cost'
			THEN format('Set random_page_cost of %I to %s', c ->> 'tablespace', c ->> 'random_page_cost')
			ELSE format('Set effective_io_concurrency of %I to %s', c ->> 'tablespace',
				c ->> 'effective_io_concurrency') END,
		format('plans are expected to take %s times the best instead of %s',
			round((c ->> 'regret_recommended')::numeric, 2), round((c ->> 'regret_current')::numeric, 2)),
		ARRAY[c ->> 'statement']
	FROM jsonb_array_elements(f.costs) c
	WHERE c ->> 'verdict' = 'change'
	UNION ALL
	SELECT 6, sum(a.size_bytes),
		CASE WHEN count(*) = 1 THEN 'Look at an index that may not be needed: '
			ELSE format('Look at %s indexes that may not be needed, first: ', count(*)) END
			|| (array_agg(a.relation::text ORDER BY a.size_bytes DESC))[1],
		format('up to %s, and what writing them takes', pg_size_pretty(sum(a.size_bytes))),
		ARRAY[format('SELECT * FROM %s.advise_placement() WHERE action OPERATOR(pg_catalog.=) %L', '@extschema@', 'drop candidate')]
	FROM unnest(f.advice) a WHERE a.action = 'drop candidate' HAVING count(*) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.report_things(tablespace_advisor.report_findings) IS
	'actions by urgency and amount, with their savings';

CREATE FUNCTION tablespace_advisor.report_verdict(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH thing AS MATERIALIZED (
		SELECT t.*, row_number() OVER (ORDER BY t.urgency, t.amount DESC, t.what) AS n
		FROM tablespace_advisor.report_things(f) t
	), sums AS (
		/* shares are of all reading, that of relations without advice included */
		SELECT a.*, a.is_known AND coalesce(abs(a.saved - a.share * a.reading / 100) < 0.02 * a.saved,
			true) AS is_whole
		FROM (SELECT sum(a.read_ms_per_s) AS reading, count(*) FILTER (WHERE a.action = 'move') AS moves,
				bool_and(a.read_ms_per_s IS NOT NULL) AS is_known, bool_or(a.measured) AS measured,
				sum(a.saved_ms_per_s) FILTER (WHERE a.action = 'move') AS saved,
				sum(a.saved_percent) FILTER (WHERE a.action = 'move') AS share
			FROM unnest(f.advice) a) a
	)
	SELECT tablespace_advisor.page_section('Verdict',
		CASE WHEN s.reading IS NULL AND cardinality(f.advice) = 0 THEN
				'Nothing was read or written in the window.'
			WHEN s.reading IS NULL THEN 'How long reads take is not known.'
			ELSE format('On average %s%s%s.', CASE WHEN s.is_whole THEN '' ELSE 'at least ' END,
				CASE WHEN f.is_before_move THEN tablespace_advisor.sessions_that_waited(s.reading, 'reads')
					ELSE tablespace_advisor.waiting_sessions(s.reading, 'reads') END,
				CASE WHEN s.moves > 0 AND s.saved > 0 THEN format('; moves would save %s %% of %s%s',
						tablespace_advisor.two_digits(s.share),
						CASE WHEN s.is_whole THEN 'that' ELSE 'all reading' END,
						CASE WHEN f.saved_low IS NOT NULL THEN format(' (95 %% interval: %s to %s)',
							tablespace_advisor.two_digits(f.saved_low),
							tablespace_advisor.two_digits(f.saved_high)) ELSE '' END)
					WHEN s.moves = 0 THEN '; no move would save any of it' ELSE '' END) END,
		coalesce((SELECT '<ol class="things">' || string_agg(format('<li><b>%s</b>%s%s</li>',
				tablespace_advisor.html(t.what), 'Saves: ' || tablespace_advisor.html(t.saves) || '.',
				(SELECT string_agg('<div><code>' || tablespace_advisor.html(rtrim(l, ';')) || ';</code></div>', '' ORDER BY k)
					FROM unnest(t.statements) WITH ORDINALITY s (l, k))), '' ORDER BY t.n)
			|| '</ol>' FROM thing t WHERE t.n <= 3),
			'<p><b>There is nothing to do.</b></p>')
		|| coalesce((SELECT format('<p class="note">%s more, of less weight: %s</p>', count(*),
				tablespace_advisor.html(string_agg(t.what, '; ' ORDER BY t.n) FILTER (WHERE t.n <= 8)
					|| CASE WHEN count(*) > 5 THEN '; ...' ELSE '.' END))
			FROM thing t WHERE t.n > 3 HAVING count(*) > 0), '')
		|| CASE WHEN s.moves > 0 AND NOT s.measured THEN
			'<p class="note">Waits were not measured: these are estimates from blocks read, uncertain.</p>' ELSE '' END
		|| CASE WHEN s.moves > 0 THEN '<p class="note">How sure it is what each move saves: <code>SELECT '
			|| tablespace_advisor.html('@extschema@') || '.explain_placement();</code></p>' ELSE '' END
		|| coalesce('<p class="note">' || tablespace_advisor.html(
			tablespace_advisor.temporary_files_line(f.temporary)) || '</p>', '')
		|| coalesce('<p class="note">' || tablespace_advisor.html(f.window_line) || '</p>', ''))
	FROM sums s
$$;
COMMENT ON FUNCTION tablespace_advisor.report_verdict(tablespace_advisor.report_findings) IS
	'the part on the actions most worth doing';

/* The newest trustworthy measurement at each depth. */
CREATE VIEW tablespace_advisor.read_depths AS
SELECT DISTINCT ON (r.tablespace, r.queue_depth) r.tablespace, r.queue_depth, r.mean_us,
	r.mean_low_us, r.mean_high_us, r.samples, r.run_id, r.finished_at
FROM tablespace_advisor.current_probe_result r
WHERE r.workload = 'random read' AND r.caveat IS NULL AND r.mean_us > 0
	AND r.io_size = current_setting('block_size')::int
ORDER BY r.tablespace, r.queue_depth, r.conditions IS NOT NULL, r.run_id DESC;
COMMENT ON VIEW tablespace_advisor.read_depths IS
	'per tablespace and queue depth the newest measurement of random reads without a caveat';

/* Six lines have colours and names, of more than six those that differ most; others are grey. */
CREATE FUNCTION tablespace_advisor.draw_latencies(readers float8)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH series AS MATERIALIZED (
		SELECT d.tablespace, array_agg(d.queue_depth::float8 ORDER BY d.queue_depth) AS depths,
			array_agg(d.mean_us ORDER BY d.queue_depth) AS us,
			array_agg(d.mean_low_us ORDER BY d.queue_depth) AS lows,
			array_agg(d.mean_high_us ORDER BY d.queue_depth) AS highs,
			array_agg(format('%s at depth %s: %s (95 %% interval %s to %s, %s reads, run %s of %s)',
				d.tablespace, d.queue_depth, tablespace_advisor.unit_label(d.mean_us, 'us'),
				tablespace_advisor.unit_label(d.mean_low_us, 'us'),
				tablespace_advisor.unit_label(d.mean_high_us, 'us'), d.samples, d.run_id,
				to_char(d.finished_at, 'YYYY-MM-DD')) ORDER BY d.queue_depth) AS titles,
			row_number() OVER (ORDER BY avg(ln(d.mean_us)) DESC, d.tablespace) AS n, count(*) OVER () AS series
		FROM tablespace_advisor.read_depths d GROUP BY d.tablespace
	), picked AS MATERIALIZED (
		SELECT s.*, CASE WHEN d.drawn @> ARRAY[s.tablespace]
			THEN tablespace_advisor.colour_of(d.drawn, s.tablespace) END AS colour
		FROM series s CROSS JOIN (SELECT array_agg(o.tablespace ORDER BY o.n) AS drawn FROM series o
			WHERE o.series <= 6 OR (o.n - 1) * 5 % (o.series - 1) < 5) d
	), axes AS MATERIALIZED (
		SELECT ROW('log', 1, (SELECT greatest(max(d), readers, 2) FROM series, unnest(depths) d),
				60, 790, 'depth')::tablespace_advisor.axis AS x,
			tablespace_advisor.axis_around('log', array(SELECT unnest(lows || highs) FROM series),
				300, 24, 'us') AS y
	), ends AS (
		SELECT array_agg(p.n ORDER BY p.n) AS n, tablespace_advisor.spread_apart(array_agg(
			tablespace_advisor.axis_position(a.y, p.us[cardinality(p.us)]) ORDER BY p.n), 15, 300) AS at
		FROM picked p, axes a WHERE p.colour IS NOT NULL
	)
	SELECT tablespace_advisor.draw_picture(960, 345, 'Latency of random reads by queue depth',
		tablespace_advisor.draw_axes(a.x, a.y, 'reads under way at a time', 'latency of a random read')
		|| CASE WHEN readers IS NULL THEN ''
			ELSE tablespace_advisor.draw_line(a.x, a.y, ARRAY[readers, readers],
				ARRAY[(a.y).low, (a.y).high], 'mark dash', 'sessions that read at the same time, by samples')
			/* above the lines, where the title of the axis leaves room */
			|| tablespace_advisor.draw_text(tablespace_advisor.axis_position(a.x, readers) + 5,
				CASE WHEN tablespace_advisor.axis_position(a.x, readers) > 230 THEN 18 ELSE 40 END, 'tick',
				'present load: ' || tablespace_advisor.two_digits(readers) || ' at a time') END
		|| (SELECT string_agg(tablespace_advisor.draw_line(a.x, a.y, p.depths, p.us,
				coalesce('c' || p.colour, 'thin'), p.tablespace)
			|| tablespace_advisor.draw_dots(a.x, a.y, p.depths, p.us, coalesce('c' || p.colour, ''),
				p.titles, coalesce(p.colour, 0)::int, p.lows, p.highs), '' ORDER BY p.colour IS NOT NULL, p.n DESC)
			FROM picked p)
		|| (SELECT string_agg(tablespace_advisor.draw_text(
				tablespace_advisor.axis_position(a.x, p.depths[cardinality(p.depths)]) + 9,
				e.at[array_position(e.n, p.n)] + 4, 'c' || p.colour,
				tablespace_advisor.short_name(p.tablespace, 22)), '')
			FROM picked p, ends e WHERE p.colour IS NOT NULL))
	FROM axes a WHERE EXISTS (SELECT FROM series)
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_latencies(float8) IS
	'latency of random reads by queue depth, of all tablespaces that were probed; readers: sessions that read at the same time';

CREATE FUNCTION tablespace_advisor.report_devices(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH row AS (
		SELECT d.*, l.random_read_us, l.random_read_low_us, l.random_read_high_us, l.measured_at,
			l.random_read_caveat,
			row_number() OVER (ORDER BY l.random_read_us DESC NULLS LAST, d.tablespace) AS n
		FROM unnest(f.devices) d
		LEFT JOIN tablespace_advisor.tablespace_latency l ON l.tablespace = d.tablespace
		WHERE d.tablespace <> 'pg_global'
	), sums AS (
		SELECT count(*) AS n, count(r.random_read_us) AS probed,
			min(r.random_read_us) AS fast, max(r.random_read_us) AS slow,
			(array_agg(r.tablespace ORDER BY r.random_read_us))[1] AS fastest,
			(array_agg(r.tablespace ORDER BY r.random_read_us DESC NULLS LAST))[1] AS slowest
		FROM row r
	)
	SELECT tablespace_advisor.page_section('Devices',
		CASE WHEN s.probed = 0 THEN
				'No tablespace has a measurement that can be trusted: probe_tablespace() makes one.'
			WHEN s.probed = 1 THEN format('One of %s tablespaces has been probed: a random read of %I takes %s.',
				s.n, s.fastest, tablespace_advisor.unit_label(s.fast, 'us'))
			ELSE format('A random read takes %s in %I and %s in %I, %s times as long; %s of %s tablespaces have been probed.',
				tablespace_advisor.unit_label(s.fast, 'us'), s.fastest,
				tablespace_advisor.unit_label(s.slow, 'us'), s.slowest,
				tablespace_advisor.two_digits(s.slow / s.fast), s.probed, s.n) END,
		coalesce(tablespace_advisor.draw_latencies((SELECT sum(p.reading_sessions)::float8
			/ nullif(sum(p.reading_snapshots), 0) FROM tablespace_advisor.sample p
			WHERE p.taken_at > f.since)), '')
		|| tablespace_advisor.page_table(
			'{tablespace,lies on,media,size,free,random read,95 % interval,probed}', 'wwtnnnnd',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[r.tablespace::text,
				coalesce(replace(r.device_stack, ' -> ', ' on '), r.filesystem), r.media,
				tablespace_advisor.unit_label(r.size_bytes, 'bytes'),
				tablespace_advisor.unit_label(r.free_bytes, 'bytes'),
				tablespace_advisor.unit_label(r.random_read_us, 'us'),
				tablespace_advisor.unit_label(r.random_read_low_us, 'us') || ' to '
					|| tablespace_advisor.unit_label(r.random_read_high_us, 'us'),
				coalesce(to_char(r.measured_at, 'YYYY-MM-DD'), r.random_read_caveat, 'never')],
				'wwtnnnnd'), '' ORDER BY r.n)
			FROM row r WHERE r.n <= 50))
		|| tablespace_advisor.page_table('{tablespace,warnings}', 'wl',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[r.tablespace::text,
				array_to_string(r.warnings, '; ')], 'wl'), '' ORDER BY r.n)
			FROM row r WHERE r.n <= 50 AND cardinality(r.warnings) > 0))
		|| CASE WHEN s.n > 50 THEN format('<p class="note">%s more tablespaces.</p>', s.n - 50) ELSE '' END)
	FROM sums s
$$;
COMMENT ON FUNCTION tablespace_advisor.report_devices(tablespace_advisor.report_findings) IS
	'the part on the storage of each tablespace, and its speed';

CREATE FUNCTION tablespace_advisor.waiting_number(sessions float8)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN sessions > 0 AND sessions < 0.0001 THEN '< 0.0001'
		ELSE tablespace_advisor.short_number(sessions) END
$$;
COMMENT ON FUNCTION tablespace_advisor.waiting_number(float8) IS
	'how many sessions wait, as a number in a table';

/* Two bars each, now and after the advice; without times, of reads. */
CREATE FUNCTION tablespace_advisor.draw_readers(
	names text[],
	befores float8[],
	afters float8[],
	x_title text,
	titles text[])
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.draw_picture(960, 58 + 24 * cardinality(names), x_title,
		tablespace_advisor.draw_axes(a.x, ('', 0, 1, 14 + 24 * cardinality(names), 14, '')
			::tablespace_advisor.axis, x_title, NULL)
		|| string_agg(tablespace_advisor.draw_text(242, 24 * n + 6, 'end', tablespace_advisor.short_name(name))
			|| tablespace_advisor.draw_bar(a.x, 0, before, 24 * n - 7,
				CASE WHEN after IS NULL THEN 19 ELSE 9 END, 'c1', title)
			|| CASE WHEN after IS NOT NULL THEN
				tablespace_advisor.draw_bar(a.x, 0, after, 24 * n + 3, 9, 'c0', title) ELSE '' END, ''
			ORDER BY n))
	FROM (SELECT tablespace_advisor.axis_around('linear', befores || afters, 250, 930)) a (x)
	CROSS JOIN unnest(names, befores, afters, titles) WITH ORDINALITY r (name, before, after, title, n)
	GROUP BY a.x
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_readers(text[], float8[], float8[], text, text[]) IS
	'a pair of bars for each name: before and after; NULL: no bar';

CREATE FUNCTION tablespace_advisor.report_readers(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH timed AS (
		SELECT coalesce(sum(a.read_ms_per_s), 0) > 0 AS is_timed FROM unnest(f.advice) a
	), reader AS MATERIALIZED (
		SELECT a.relation::text AS name, a.action, a.from_tablespace, a.to_tablespace, a.size_bytes,
			a.reads_per_s, a.cached_fraction, t.is_timed,
			CASE WHEN t.is_timed THEN a.read_ms_per_s / 1000 ELSE a.reads_per_s END AS before,
			CASE WHEN t.is_timed THEN coalesce(a.unnest, a.read_ms_per_s
				- CASE WHEN a.action = 'move' THEN a.saved_ms_per_s ELSE 0 END) / 1000 END AS after,
			row_number() OVER (ORDER BY CASE WHEN t.is_timed THEN a.read_ms_per_s ELSE a.reads_per_s END
				DESC NULLS LAST, a.relation::oid) AS n
		FROM unnest(f.advice, f.later) a, timed t
		WHERE a.reads_per_s > 0 OR a.read_ms_per_s > 0
	), shown AS MATERIALIZED (
		SELECT CASE WHEN r.n <= 20 THEN r.n ELSE 21 END AS n, r.is_timed,
			CASE WHEN r.n <= 20 THEN min(r.name) ELSE format('%s others', count(*)) END AS name,
			coalesce(sum(r.before), 0) AS before, sum(r.after) AS after,
			sum(r.reads_per_s) AS reads_per_s, sum(r.size_bytes) AS bytes,
			CASE WHEN r.n <= 20 THEN min(CASE WHEN r.action = 'move'
				THEN format('move to %I', r.to_tablespace) ELSE r.action END) ELSE '' END AS action,
			CASE WHEN r.n <= 20 THEN min(r.from_tablespace) ELSE '' END AS from_tablespace,
			CASE WHEN r.n <= 20 THEN min(r.cached_fraction) END AS cached_fraction
		FROM reader r GROUP BY CASE WHEN r.n <= 20 THEN r.n ELSE 21 END, r.n <= 20, r.is_timed
	), sums AS (
		SELECT bool_or(s.is_timed) AS is_timed, sum(s.before) AS before, sum(s.after) AS after,
			max(s.before) FILTER (WHERE s.n = 1) AS first,
			max(s.before) FILTER (WHERE s.n = 21) AS others, min(s.name) FILTER (WHERE s.n = 21) AS other_names,
			(SELECT count(*) FROM unnest(f.advice) a WHERE a.action = 'move') AS moves, min(s.name) FILTER (WHERE s.n = 1) AS first_name
		FROM shown s
	)
	SELECT tablespace_advisor.page_section('Who reads',
		CASE WHEN s.is_timed THEN format('%s causes %s %% of the time that sessions wait for reads; %s.',
				s.first_name, tablespace_advisor.two_digits(100 * s.first / s.before),
				CASE WHEN s.moves > 0 THEN format('with the advice followed, %s %% of that time is left',
					tablespace_advisor.two_digits(100 * s.after / s.before))
				ELSE 'no move would save any of it' END)
			ELSE format('%s causes %s %% of the reads past shared buffers; how long they take is not known without a probe.',
				s.first_name, tablespace_advisor.two_digits(100 * s.first / nullif(s.before, 0))) END,
		(SELECT tablespace_advisor.draw_readers(array_agg(h.name ORDER BY h.n), array_agg(h.before ORDER BY h.n),
				array_agg(CASE WHEN s.moves > 0 THEN h.after END ORDER BY h.n), CASE WHEN s.is_timed
					THEN 'sessions that wait for its reads, on average'
					ELSE 'reads per second past shared buffers' END,
				array_agg(format('%s: %s%s', h.name, tablespace_advisor.short_number(h.before),
					CASE WHEN s.moves > 0 THEN ', after the advice ' || tablespace_advisor.short_number(h.after) END)
					ORDER BY h.n))
			FROM shown h WHERE h.n <= 20 OR h.before <= 3 * s.first)
		|| CASE WHEN s.others > 3 * s.first THEN format('<p class="note">%s, %s times the first together, are in the table only.</p>',
			s.other_names, tablespace_advisor.two_digits(s.others / s.first)) ELSE '' END
		|| CASE WHEN s.is_timed AND s.moves > 0 THEN '<p class="note"><svg viewBox="0 0 300 14" style="width:300px;display:inline" role="img" aria-label="key"><rect class="bar c1" y="2" width="22" height="9"/>'
				|| tablespace_advisor.draw_text(28, 11, '', 'now')
				|| '<rect class="bar c0" x="80" y="2" width="22" height="9"/>'
				|| tablespace_advisor.draw_text(108, 11, '', 'with the advice followed') || '</svg></p>' ELSE '' END
		|| tablespace_advisor.page_table('{relation,in,size,reads/s,from caches,sessions waiting}'::text[]
				|| c.heads || 'advice'::text, c.kinds,
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[h.name::text, h.from_tablespace,
				tablespace_advisor.unit_label(h.bytes::float8, 'bytes'),
				tablespace_advisor.short_number(h.reads_per_s),
				tablespace_advisor.two_digits(100 * h.cached_fraction) || ' %',
				CASE WHEN s.is_timed THEN tablespace_advisor.waiting_number(h.before) END]
				|| CASE WHEN s.moves > 0 THEN ARRAY[tablespace_advisor.waiting_number(h.after)] ELSE '{}' END
				|| h.action, c.kinds), '' ORDER BY h.n)
			FROM shown h)))
	FROM sums s
	CROSS JOIN LATERAL (SELECT CASE WHEN s.moves > 0 THEN '{then}' ELSE '{}' END::text[] AS heads,
		CASE WHEN s.moves > 0 THEN 'wwnnnnnt' ELSE 'wwnnnnt' END AS kinds) c
	WHERE s.before > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.report_readers(tablespace_advisor.report_findings) IS
	'the part on the causes of reads, now and with the advice followed; NULL without reads';
