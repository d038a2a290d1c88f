/*
 * src/report/draw.sql
 *
 * Pictures as SVG: axes, lines, bands, bars and dots, and nothing else. Numbers and
 * texts are drawn; nothing here looks at a table, or knows the meaning of the
 * numbers.  Lengths are pixels of the picture's own space.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.html(content text)
RETURNS text
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_html';
COMMENT ON FUNCTION tablespace_advisor.html(text) IS
	'a text as content or quoted attribute of HTML: markup and all that is not ASCII as character numbers, invisible characters and those that turn the direction of writing as question marks';

CREATE TYPE tablespace_advisor.axis AS (
	kind text,
	low float8,
	high float8,
	begins float8,
	ends float8,
	unit text
);
COMMENT ON TYPE tablespace_advisor.axis IS
	'a scale of a picture. kind: linear, log or time (seconds since 1970); low, high: the values at its ends, where it has the positions begins and ends; unit: of tick labels: bytes, us (microseconds), percent, depth (of a queue: ticks are powers of two), or else a number';

CREATE FUNCTION tablespace_advisor.short_number(number float8)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN abs(number) >= 1e9 OR abs(number) < 1e-4 AND number <> 0
			THEN regexp_replace(trim(to_char(number, '9.9EEEE')), E'(\\.0)?e([+-])0?', E'e\\2')
		WHEN abs(number) >= 1e6 THEN trim_scale(round((number / 1e6)::numeric, 2))::text || ' M'
		WHEN abs(number) >= 1e4 THEN trim_scale(round((number / 1e3)::numeric, 1))::text || ' k'
		ELSE trim_scale(round(number::numeric, greatest(0,
			2 - floor(log(greatest(abs(number), 1e-4)))::int)))::text END
$$;
COMMENT ON FUNCTION tablespace_advisor.short_number(float8) IS
	'a number in few characters, for ticks and tables';

CREATE FUNCTION tablespace_advisor.unit_label(value float8, unit text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN value = 0 AND unit <> 'percent' THEN '0'
		WHEN unit = 'bytes' THEN
			tablespace_advisor.short_number(value / 1024.0::float8 ^ p.power)
				|| ' ' || (ARRAY['B', 'kB', 'MB', 'GB', 'TB', 'PB'])[p.power + 1]
		WHEN unit = 'us' THEN CASE
			WHEN abs(value) < 1000 THEN tablespace_advisor.short_number(value) || ' us'
			WHEN abs(value) < 1e6 THEN tablespace_advisor.short_number(value / 1e3) || ' ms'
			ELSE tablespace_advisor.short_number(value / 1e6) || ' s' END
		WHEN unit = 'percent' THEN tablespace_advisor.short_number(value) || ' %'
		ELSE tablespace_advisor.short_number(value) END
	FROM (SELECT CASE WHEN unit = 'bytes' AND value <> 0 THEN
		least(5, greatest(0, floor(ln(abs(value)) / ln(1024::float8) + 1e-9)::int)) END AS power) p
$$;
COMMENT ON FUNCTION tablespace_advisor.unit_label(float8, text) IS
	'a number with its unit (see axis), in few characters';

CREATE FUNCTION tablespace_advisor.axis_position(a tablespace_advisor.axis, value float8)
RETURNS float8
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT a.begins + (a.ends - a.begins) * CASE
		WHEN a.high <= a.low THEN 0.5
		WHEN a.kind = 'log' THEN
			ln(least(greatest(value, a.low), a.high) / a.low) / ln(a.high / a.low)
		ELSE (least(greatest(value, a.low), a.high) - a.low) / (a.high - a.low) END
$$;
COMMENT ON FUNCTION tablespace_advisor.axis_position(tablespace_advisor.axis, float8) IS
	'where a value is on an axis; one beyond an end is at that end';

/* 1, 2 or 5 times a power of ten; of bytes, times a power of 1024. */
CREATE FUNCTION tablespace_advisor.tick_step(width float8, unit text)
RETURNS float8
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT b.base * d.decade * CASE
		WHEN r.rest > 5.000001 THEN 10 WHEN r.rest > 2.000001 THEN 5
		WHEN r.rest > 1.000001 THEN 2 ELSE 1 END
	FROM (SELECT CASE WHEN unit = 'bytes' AND width > 1024
			THEN 1024.0::float8 ^ floor(ln(width) / ln(1024::float8)) ELSE 1 END AS base) b
	CROSS JOIN LATERAL (SELECT 10.0::float8 ^ floor(log(width / b.base) + 1e-9) AS decade) d
	CROSS JOIN LATERAL (SELECT width / b.base / d.decade AS rest) r
$$;
COMMENT ON FUNCTION tablespace_advisor.tick_step(float8, text) IS
	'the smallest step between ticks that is round and not below a width above 0';

CREATE FUNCTION tablespace_advisor.time_step(width float8)
RETURNS float8
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce((SELECT min(s) FROM unnest('{1, 5, 15, 60, 300, 900, 3600, 10800,
			21600, 43200, 86400, 172800, 604800, 1209600, 2419200, 7257600}'::float8[]) s
		WHERE s >= width), 31536000 * ceil(width / 31536000))
$$;
COMMENT ON FUNCTION tablespace_advisor.time_step(float8) IS
	'the smallest step between ticks of time that is not below a width, both in seconds';

/* At most eight or so; of a log axis 1, 2 and 5 where decades alone are few. */
CREATE FUNCTION tablespace_advisor.axis_ticks(
	a tablespace_advisor.axis,
	OUT value float8,
	OUT label text)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT s.step * n, tablespace_advisor.unit_label(s.step * n, a.unit)
	FROM (SELECT CASE WHEN a.kind = 'linear' AND a.high > a.low
		THEN tablespace_advisor.tick_step((a.high - a.low) / 5, a.unit) END AS step) s
	CROSS JOIN LATERAL generate_series(ceil(a.low / s.step - 1e-9)::bigint,
		floor(a.high / s.step + 1e-9)::bigint) n
	WHERE a.kind = 'linear' AND a.high > a.low
	UNION ALL
	SELECT t.at, tablespace_advisor.unit_label(t.at, a.unit)
	/* the kind's conditions below may be looked at after its arithmetic */
	FROM (SELECT CASE WHEN a.kind = 'log' THEN log(a.low) END AS low,
		CASE WHEN a.kind = 'log' THEN log(a.high) END AS high) l
	CROSS JOIN LATERAL (SELECT l.high - l.low AS decades) d
	CROSS JOIN LATERAL generate_series(floor(l.low)::int, ceil(l.high)::int,
		greatest(1, ceil(d.decades / 7)::int)) e
	CROSS JOIN LATERAL unnest(CASE WHEN d.decades <= 2.5 THEN '{1,2,5}'::float8[]
		ELSE '{1}' END) m
	CROSS JOIN LATERAL (SELECT m * 10.0::float8 ^ e AS at) t
	WHERE a.kind = 'log' AND a.high > a.low
		AND t.at BETWEEN a.low / 1.000001 AND a.high * 1.000001 AND a.unit <> 'depth'
	UNION ALL
	SELECT 2.0::float8 ^ e, tablespace_advisor.unit_label(2.0::float8 ^ e, '')
	FROM generate_series(0, 8) e
	WHERE a.kind = 'log' AND a.unit = 'depth' AND 2.0::float8 ^ e BETWEEN a.low AND a.high
	UNION ALL
	SELECT t.at - o.shift, to_char(to_timestamp(t.at - o.shift),
		CASE WHEN s.step < 60 THEN 'HH24:MI:SS' WHEN s.step < 86400 AND a.high - a.low <= 86400
				THEN 'HH24:MI'
			WHEN s.step < 86400 THEN 'Mon FMDD HH24:MI'
			WHEN s.step < 7257600 THEN 'Mon FMDD' ELSE 'YYYY-MM' END)
	FROM (SELECT CASE WHEN a.kind = 'time' AND a.high > a.low
		THEN tablespace_advisor.time_step((a.high - a.low) / 6) END AS step) s
	CROSS JOIN (SELECT CASE WHEN a.kind = 'time'
		THEN extract(timezone FROM to_timestamp(a.high)) END::float8 AS shift) o
	CROSS JOIN LATERAL (SELECT n * s.step AS at
		FROM generate_series(ceil((a.low + o.shift) / s.step)::bigint,
			floor((a.high + o.shift) / s.step)::bigint) n) t
	WHERE a.kind = 'time' AND a.high > a.low
$$;
COMMENT ON FUNCTION tablespace_advisor.axis_ticks(tablespace_advisor.axis) IS
	'round values on an axis, with labels; times in the session''s time zone';

CREATE FUNCTION tablespace_advisor.axis_around(
	kind text,
	points float8[],
	begins float8,
	ends float8,
	unit text DEFAULT '')
RETURNS tablespace_advisor.axis
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT ROW(kind,
		CASE kind WHEN 'log' THEN l.below * CASE WHEN p.low / l.below >= 5 THEN 5
				WHEN p.low / l.below >= 2 THEN 2 ELSE 1 END
			WHEN 'time' THEN p.low
			ELSE s.step * floor(p.low / s.step + 1e-9) END,
		CASE kind WHEN 'log' THEN h.below * CASE
				WHEN p.high / h.below <= 1.000001 AND p.high > p.low THEN 1
				WHEN p.high / h.below < 2 THEN 2
				WHEN p.high / h.below < 5 THEN 5 ELSE 10 END
			WHEN 'time' THEN p.high
			ELSE greatest(s.step * ceil(p.high / s.step - 1e-9),
				s.step * floor(p.low / s.step + 1e-9) + s.step) END,
		begins, ends, unit)::tablespace_advisor.axis
	FROM (SELECT CASE WHEN kind = 'linear' THEN least(min(v), 0) ELSE min(v) END AS low,
			CASE WHEN kind = 'linear' THEN greatest(max(v), 0) ELSE max(v) END AS high
		FROM unnest(points) v WHERE v > 0 OR kind <> 'log') p
	CROSS JOIN LATERAL (SELECT tablespace_advisor.tick_step(
		coalesce(nullif(p.high - p.low, 0), 1) / 5, unit) AS step) s
	CROSS JOIN LATERAL (SELECT CASE WHEN kind = 'log' THEN
		10.0::float8 ^ floor(log(p.low) + 1e-9) END AS below) l
	CROSS JOIN LATERAL (SELECT CASE WHEN kind = 'log' THEN
		10.0::float8 ^ floor(log(p.high) + 1e-9) END AS below) h
$$;
COMMENT ON FUNCTION tablespace_advisor.axis_around(text, float8[], float8, float8, text) IS
	'an axis with round ends that holds these values, a linear one also 0; a log axis those above 0';

/* Labels that would lie upon each other are moved apart, as little as needed. */
CREATE FUNCTION tablespace_advisor.spread_apart(positions float8[], gap float8, highest float8)
RETURNS float8[]
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	in_order int[] := array(SELECT n::int FROM unnest(positions) WITH ORDINALITY p (at, n)
		ORDER BY p.at, n);
	placed float8[] := positions;
	last float8 := '-infinity';
	room float8;
BEGIN
	FOR i IN 1 .. cardinality(in_order) LOOP
		placed[in_order[i]] := greatest(positions[in_order[i]], last + gap);
		last := placed[in_order[i]];
	END LOOP;
	room := highest;
	FOR i IN REVERSE cardinality(in_order) .. 1 LOOP
		placed[in_order[i]] := least(placed[in_order[i]], room);
		room := placed[in_order[i]] - gap;
	END LOOP;
	RETURN placed;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.spread_apart(float8[], float8, float8) IS
	'positions in the same order, at least gap apart and at most highest';

CREATE FUNCTION tablespace_advisor.draw_text(x float8, y float8, class text, content text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('<text class="%s" x="%s" y="%s">%s</text>', class,
		round(x::numeric, 1), round(y::numeric, 1), tablespace_advisor.html(content))
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_text(float8, float8, text, text) IS
	'a text in a picture; its class says how it is aligned';

/* Both axes with grid lines; their titles stand above and below. */
CREATE FUNCTION tablespace_advisor.draw_axes(
	x tablespace_advisor.axis,
	y tablespace_advisor.axis,
	x_title text,
	y_title text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce((SELECT string_agg(format('<path class="grid" d="M%s %sV%s"/>',
				round(p.at::numeric, 1), round(y.begins::numeric, 1), round(y.ends::numeric, 1))
			|| tablespace_advisor.draw_text(p.at, y.begins + 16, 'tick mid', t.label), '')
		FROM tablespace_advisor.axis_ticks(x) t
		CROSS JOIN LATERAL (SELECT tablespace_advisor.axis_position(x, t.value) AS at) p), '')
	|| coalesce((SELECT string_agg(format('<path class="grid" d="M%s %sH%s"/>',
				round(x.begins::numeric, 1), round(p.at::numeric, 1), round(x.ends::numeric, 1))
			|| tablespace_advisor.draw_text(x.begins - 6, p.at + 4, 'tick end', t.label), '')
		FROM tablespace_advisor.axis_ticks(y) t
		CROSS JOIN LATERAL (SELECT tablespace_advisor.axis_position(y, t.value) AS at) p
		WHERE y.kind IS NOT NULL), '')
	|| tablespace_advisor.draw_text((x.begins + x.ends) / 2, y.begins + 34, 'name mid', x_title)
	|| coalesce(tablespace_advisor.draw_text(0, y.ends - 10, 'name', y_title), '')
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_axes(tablespace_advisor.axis, tablespace_advisor.axis, text, text) IS
	'grid lines, tick labels and names of both axes; y without a kind has no ticks';

CREATE FUNCTION tablespace_advisor.path_of(
	x tablespace_advisor.axis,
	y tablespace_advisor.axis,
	xs float8[],
	ys float8[])
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT string_agg(format('%s %s',
		round(tablespace_advisor.axis_position(x, p.px)::numeric, 1),
		round(tablespace_advisor.axis_position(y, p.py)::numeric, 1)), 'L' ORDER BY p.n)
	FROM unnest(xs, ys) WITH ORDINALITY p (px, py, n)
	WHERE p.px IS NOT NULL AND p.py IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.path_of(tablespace_advisor.axis, tablespace_advisor.axis, float8[], float8[]) IS
	'points as the data of an SVG path, without the command before the first';

CREATE FUNCTION tablespace_advisor.draw_line(
	x tablespace_advisor.axis,
	y tablespace_advisor.axis,
	xs float8[],
	ys float8[],
	class text,
	title text DEFAULT NULL)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN p.data IS NOT NULL THEN
		format('<path class="line %s" d="M%s">%s</path>', class, p.data,
			'<title>' || tablespace_advisor.html(title) || '</title>') ELSE '' END
	FROM (SELECT tablespace_advisor.path_of(x, y, xs, ys) AS data) p
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_line(tablespace_advisor.axis, tablespace_advisor.axis, float8[], float8[], text, text) IS
	'a line through points; title: shown under a pointer';

CREATE FUNCTION tablespace_advisor.draw_band(
	x tablespace_advisor.axis,
	y tablespace_advisor.axis,
	xs float8[],
	lows float8[],
	highs float8[],
	class text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN count(*) > 1 THEN format('<path class="band %s" d="M%sL%sZ"/>', class,
		tablespace_advisor.path_of(x, y, array_agg(p.px ORDER BY p.n), array_agg(p.low ORDER BY p.n)),
		tablespace_advisor.path_of(x, y, array_agg(p.px ORDER BY p.n DESC),
			array_agg(p.high ORDER BY p.n DESC))) ELSE '' END
	FROM unnest(xs, lows, highs) WITH ORDINALITY p (px, low, high, n)
	WHERE p.px IS NOT NULL AND p.low IS NOT NULL AND p.high IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_band(tablespace_advisor.axis, tablespace_advisor.axis, float8[], float8[], float8[], text) IS
	'the area between two lines over the same points';

/* Shapes differ as well as colours. */
CREATE FUNCTION tablespace_advisor.draw_dots(
	x tablespace_advisor.axis,
	y tablespace_advisor.axis,
	xs float8[],
	ys float8[],
	class text,
	titles text[],
	shape int DEFAULT 0,
	lows float8[] DEFAULT NULL,
	highs float8[] DEFAULT NULL)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(string_agg(CASE WHEN d.low < d.high THEN
			format('<path class="line %s" d="M%s %sV%s"/>', class,
				round(p.px::numeric, 1),
				round(tablespace_advisor.axis_position(y, d.low)::numeric, 1),
				round(tablespace_advisor.axis_position(y, d.high)::numeric, 1)) ELSE '' END
		|| format('<path class="dot %s" d="M%s %s%s">%s</path>', class,
			round(p.px::numeric, 1), round(p.py::numeric, 1),
			(ARRAY['m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0', 'm-4 -4h8v8h-8z', 'm0 -5l5 9h-10z',
				'm0 -5l5 5l-5 5l-5 -5z', 'm-5 -4h10l-5 9z', 'm-5 -2h10v4h-10z'])[shape % 6 + 1],
			'<title>' || tablespace_advisor.html(d.title) || '</title>'), '' ORDER BY d.n), '')
	FROM unnest(xs, ys, titles, lows, highs) WITH ORDINALITY d (dx, dy, title, low, high, n)
	CROSS JOIN LATERAL (SELECT tablespace_advisor.axis_position(x, d.dx) AS px,
		tablespace_advisor.axis_position(y, d.dy) AS py) p
	WHERE d.dx IS NOT NULL AND d.dy IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_dots(tablespace_advisor.axis, tablespace_advisor.axis, float8[], float8[], text, text[], int, float8[], float8[]) IS
	'dots of one of six shapes, with intervals where both lows and highs are known; titles: shown under a pointer';

CREATE FUNCTION tablespace_advisor.draw_bar(
	x tablespace_advisor.axis,
	low float8,
	high float8,
	top float8,
	height float8,
	class text,
	title text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(format('<rect class="bar %s" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>',
		class, round(p.low::numeric, 1), round(top::numeric, 1),
		round(greatest(p.high - p.low, 1)::numeric, 1), round(height::numeric, 1),
		tablespace_advisor.html(title)), '')
	FROM (SELECT tablespace_advisor.axis_position(x, low) AS low,
		tablespace_advisor.axis_position(x, high) AS high) p
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_bar(tablespace_advisor.axis, float8, float8, float8, float8, text, text) IS
	'a bar from one value to another, at least a pixel wide; title: shown under a pointer';

CREATE FUNCTION tablespace_advisor.draw_picture(width float8, height float8, title text, body text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('<svg viewBox="0 0 %s %s" role="img" aria-label="%s">%s</svg>',
		round(width::numeric), round(height::numeric), tablespace_advisor.html(title), body)
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_picture(float8, float8, text, text) IS
	'a picture as an SVG element of a page; title: a description for readers that cannot see it';
