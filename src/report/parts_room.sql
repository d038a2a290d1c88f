/*
 * src/report/parts_room.sql
 *
 * The part of the page on how much room in the fastest tablespace is worth
 * having: the curve of placement_curve(), with the present room and its knee.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.tablespace_to_buy()
RETURNS name
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT p.fastest FROM (
		SELECT (array_agg(l.tablespace ORDER BY l.random_read_us, l.tablespace)
				FILTER (WHERE d.volatile IS NOT TRUE))[1] AS fastest,
			count(*) AS probed
		FROM tablespace_advisor.tablespace_latency l
		JOIN tablespace_advisor.device d ON d.tablespace = l.tablespace
		WHERE l.random_read_us IS NOT NULL AND l.tablespace <> 'pg_global') p
	WHERE p.probed > 1
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_to_buy() IS
	'the fastest tablespace with contents that last, if a slower one was probed too';

/* The point furthest above the straight line between the ends. */
CREATE FUNCTION tablespace_advisor.curve_knee(xs float8[], ys float8[])
RETURNS int
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT p.n::int
	FROM unnest(xs, ys) WITH ORDINALITY p (x, y, n)
	WHERE p.x IS NOT NULL AND p.y IS NOT NULL
	ORDER BY p.y - ys[1] - (ys[cardinality(ys)] - ys[1]) * (p.x - xs[1])
		/ nullif(xs[cardinality(xs)] - xs[1], 0) DESC NULLS LAST, p.n
	LIMIT 1
$$;
COMMENT ON FUNCTION tablespace_advisor.curve_knee(float8[], float8[]) IS
	'the number of the point where a curve of growing x flattens most; the first where it is a straight line';

CREATE FUNCTION tablespace_advisor.draw_room(
	tablespace name,
	bytes float8[],
	waiting float8[],
	relations bigint[],
	knee int,
	present float8)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH axes AS MATERIALIZED (
		SELECT tablespace_advisor.axis_around('linear', $2, 60, 900, 'bytes') AS x,
			tablespace_advisor.axis_around('linear', $3, 300, 24) AS y,
			'c' || coalesce(tablespace_advisor.colour_of(ARRAY[$1], $1), 0) AS colour
	), mark AS (
		/* to the right: the line falls there */
		SELECT m.*, tablespace_advisor.axis_position(a.x, m.value) AS at
		FROM axes a CROSS JOIN LATERAL (VALUES
			($6, 'now: ' || tablespace_advisor.unit_label($6, 'bytes'), 40),
			($2[$5], 'flattens at ' || tablespace_advisor.unit_label($2[$5], 'bytes'), 56))
			m (value, label, y)
		WHERE m.value BETWEEN (a.x).low AND (a.x).high
	)
	SELECT tablespace_advisor.draw_picture(960, 345, format('Reading by room in %I', $1),
		tablespace_advisor.draw_axes(a.x, a.y, 'room in ' || tablespace_advisor.short_name($1),
			'sessions that wait for reads, on average')
		|| coalesce((SELECT string_agg(tablespace_advisor.draw_line(a.x, a.y, ARRAY[m.value, m.value],
				ARRAY[(a.y).low, (a.y).high], 'mark dash', m.label)
			|| tablespace_advisor.draw_text(m.at + CASE WHEN m.at > 740 THEN -5 ELSE 5 END, m.y,
				CASE WHEN m.at > 740 THEN 'tick end' ELSE 'tick' END, m.label), '')
			FROM mark m), '')
		|| tablespace_advisor.draw_line(a.x, a.y, $2, $3, a.colour, $1)
		|| tablespace_advisor.draw_dots(a.x, a.y, $2, $3, a.colour, array(
			SELECT format('%s of room, with %s relations there: %s',
				tablespace_advisor.unit_label(p.bytes, 'bytes'), p.relations,
				tablespace_advisor.waiting_sessions(1000 * p.waiting, 'reads'))
			FROM unnest($2, $3, $4) WITH ORDINALITY p (bytes, waiting, relations, n) ORDER BY p.n)))
	FROM axes a
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_room(name, float8[], float8[], bigint[], int, float8) IS
	'how many sessions wait for reads by room in a tablespace, with the room that there is (present) and the knee marked';

/* The rows of placement_curve(), as sessions that wait. */
CREATE FUNCTION tablespace_advisor.room_curve(
	f tablespace_advisor.report_findings,
	OUT bytes float8[],
	OUT waiting float8[],
	OUT saved float8[],
	OUT relations bigint[],
	OUT knee int,
	OUT n int)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT c.bytes, c.waiting, c.saved, c.relations,
		tablespace_advisor.curve_knee(c.bytes, c.saved), cardinality(c.bytes)
	FROM (SELECT array_agg(p.bytes::float8 ORDER BY p.bytes) AS bytes,
			array_agg(greatest(0, r.reading - p.saved_ms_per_s) / 1000 ORDER BY p.bytes) AS waiting,
			array_agg(p.saved_percent ORDER BY p.bytes) AS saved,
			array_agg(p.relations ORDER BY p.bytes) AS relations
		FROM jsonb_to_recordset(f.curve) p (bytes bigint, saved_ms_per_s float8,
			saved_percent float8, relations bigint)
		CROSS JOIN (SELECT sum(a.read_ms_per_s) AS reading FROM unnest(f.advice) a) r
		WHERE p.saved_percent IS NOT NULL AND r.reading IS NOT NULL) c
$$;
COMMENT ON FUNCTION tablespace_advisor.room_curve(tablespace_advisor.report_findings) IS
	'placement_curve() as arrays: bytes of room, sessions that wait for reads with it, percent of that saved, relations there; knee: where it flattens, n: how many points';

CREATE FUNCTION tablespace_advisor.report_room(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH curve AS MATERIALIZED (
		SELECT c.*, (SELECT coalesce(s.used_bytes, 0)
					+ greatest(0, tablespace_advisor.room_of(
						coalesce(s.free_bytes, d.free_bytes), d.size_bytes))
				FROM unnest(f.devices) d
				LEFT JOIN pg_tablespace t ON t.spcname = d.tablespace
				LEFT JOIN tablespace_advisor.tablespace_sample s ON s.tablespace = t.oid
				WHERE d.tablespace = f.curve_of
				ORDER BY s.sample_id DESC NULLS LAST LIMIT 1)::float8 AS present
		FROM tablespace_advisor.room_curve(f) c WHERE c.n > 1
	)
	SELECT tablespace_advisor.page_section('How much to buy',
		CASE WHEN c.saved[c.n] > 0 AND c.saved[c.n] - c.saved[1] < 0.1
				THEN format('Room in %I makes no difference: others are as fast and have room.', f.curve_of)
			WHEN c.saved[c.n] > 0 THEN format('With room for everything in %I (%s) %s, %s %% less than now; with %s, %s.',
				f.curve_of, tablespace_advisor.unit_label(c.bytes[c.n], 'bytes'),
				tablespace_advisor.waiting_sessions(1000 * c.waiting[c.n], 'reads'),
				CASE WHEN c.saved[c.n] BETWEEN 99 AND 99.99 THEN 'more than 99'
					ELSE tablespace_advisor.two_digits(c.saved[c.n]) END,
				tablespace_advisor.unit_label(c.bytes[c.knee], 'bytes'),
				tablespace_advisor.waiting_sessions(1000 * c.waiting[c.knee], 'reads'))
			ELSE format('More room in %I would save nothing; %s of it %s.', f.curve_of,
				CASE c.bytes[1] WHEN 0 THEN 'without any'
					ELSE 'with ' || tablespace_advisor.unit_label(c.bytes[1], 'bytes') END,
				tablespace_advisor.waiting_sessions(1000 * c.waiting[1], 'reads')) END
		|| CASE WHEN c.saved[c.n] > 0 AND c.saved[c.n] - c.saved[1] < 0.1 THEN ''
			WHEN c.present >= c.bytes[c.n] THEN ' There is room for all of it.'
			WHEN c.present IS NOT NULL THEN format(' It has %s now.',
				tablespace_advisor.unit_label(c.present, 'bytes')) ELSE '' END,
		tablespace_advisor.draw_room(f.curve_of, c.bytes, c.waiting, c.relations, c.knee, c.present)
		|| '<p class="note">With the best placement for so much room in all, at the present rate of reads.</p>'
		|| tablespace_advisor.page_table('{room,sessions that wait,beside now,relations there}', 'nnnn',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[
				tablespace_advisor.unit_label(p.bytes, 'bytes'),
				tablespace_advisor.short_number(p.waiting),
				-- less than none is a share of the later time
				CASE WHEN p.saved BETWEEN -0.5 AND 0 THEN 'as now'
					WHEN p.saved > 0 THEN tablespace_advisor.unit_label(p.saved, 'percent') || ' less'
					ELSE coalesce(tablespace_advisor.short_number(1 / nullif(1 + p.saved / 100, 0)),
						'over 1000') || ' times as long' END,
				p.relations::text], 'nnnn'), '' ORDER BY p.n)
			FROM unnest(c.bytes, c.waiting, c.saved, c.relations)
				WITH ORDINALITY p (bytes, waiting, saved, relations, n)
			WHERE p.n % 3 = 1 OR p.n = c.knee OR p.n = c.n)))
	FROM curve c
$$;
COMMENT ON FUNCTION tablespace_advisor.report_room(tablespace_advisor.report_findings) IS
	'the part on how much room in the fastest tablespace is worth having; NULL without a curve';
