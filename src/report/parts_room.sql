/*
 * src/report/parts_room.sql
 *
 * The part of the page on how much room in the fastest tablespace is worth
 * having: the curve of placement_curve(), with what there is and its knee.
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
	'the fastest tablespace whose contents last, if a slower one was probed too';

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
	saved float8[],
	relations bigint[],
	knee int,
	present float8)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH axes AS MATERIALIZED (
		SELECT tablespace_advisor.axis_around('linear', $2, 60, 900, 'bytes') AS x,
			tablespace_advisor.axis_around('linear', $3, 300, 24, 'percent') AS y
	), mark AS (
		SELECT m.* FROM axes a CROSS JOIN LATERAL (VALUES
			($6, 'now: ' || tablespace_advisor.unit_label($6, 'bytes'), 20),
			($2[$5], 'knee: ' || tablespace_advisor.unit_label($2[$5], 'bytes'), 36)) m (at, label, y)
		WHERE m.at BETWEEN (a.x).low AND (a.x).high
	)
	SELECT tablespace_advisor.draw_picture(960, 345, format('Saving by room in %I', $1),
		tablespace_advisor.draw_axes(a.x, a.y, 'room in ' || tablespace_advisor.short_name($1),
			'share of the time of all reads that is saved')
		|| coalesce((SELECT string_agg(tablespace_advisor.draw_line(a.x, a.y, ARRAY[m.at, m.at],
				ARRAY[(a.y).low, (a.y).high], 'mark dash', m.label)
			|| tablespace_advisor.draw_text(tablespace_advisor.axis_position(a.x, m.at)
					+ CASE WHEN p.right_half THEN -5 ELSE 5 END, 300 - m.y,
				CASE WHEN p.right_half THEN 'tick end' ELSE 'tick' END, m.label), '')
			FROM mark m CROSS JOIN LATERAL (SELECT
				tablespace_advisor.axis_position(a.x, m.at) > 480 AS right_half) p), '')
		|| tablespace_advisor.draw_line(a.x, a.y, $2, $3, 'c0', $1)
		|| tablespace_advisor.draw_dots(a.x, a.y, $2, $3, 'c0', array(
			SELECT format('%s of room: saves %s %% of the time of all reads, with %s relations there',
				tablespace_advisor.unit_label(p.bytes, 'bytes'),
				tablespace_advisor.two_digits(p.saved), p.relations)
			FROM unnest($2, $3, $4) WITH ORDINALITY p (bytes, saved, relations, n) ORDER BY p.n)))
	FROM axes a
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_room(name, float8[], float8[], bigint[], int, float8) IS
	'what room in a tablespace saves, with the room that there is (present) and the knee marked';

CREATE FUNCTION tablespace_advisor.report_room(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH curve AS MATERIALIZED (
		SELECT array_agg(c.bytes::float8 ORDER BY c.bytes) AS bytes,
			array_agg(c.saved_percent ORDER BY c.bytes) AS saved,
			array_agg(c.relations ORDER BY c.bytes) AS relations, count(*) AS n
		FROM jsonb_to_recordset(f.curve) c (bytes bigint, saved_percent float8,
			relations bigint)
		WHERE c.saved_percent IS NOT NULL
	), curve_with_knee AS MATERIALIZED (
		SELECT c.*, tablespace_advisor.curve_knee(c.bytes, c.saved) AS knee,
			(SELECT s.used_bytes + greatest(0, s.free_bytes - coalesce(d.size_bytes, 0) / 20)
				FROM tablespace_advisor.tablespace_sample s
				JOIN pg_tablespace t ON t.oid = s.tablespace AND t.spcname = f.curve_of
				LEFT JOIN unnest(f.devices) d ON d.tablespace = f.curve_of
				ORDER BY s.sample_id DESC LIMIT 1)::float8 AS present
		FROM curve c WHERE c.n > 1
	)
	SELECT tablespace_advisor.page_section('How much to buy',
		CASE WHEN c.saved[c.n] > 0 THEN
			format('Room for everything in %I (%s) would save %s %% of the time of all reads; %s of it save %s %%.',
				f.curve_of, tablespace_advisor.unit_label(c.bytes[c.n], 'bytes'),
				tablespace_advisor.two_digits(c.saved[c.n]),
				tablespace_advisor.unit_label(c.bytes[c.knee], 'bytes'),
				tablespace_advisor.two_digits(c.saved[c.knee]))
			ELSE format('More room in %I would save nothing.', f.curve_of) END
		|| CASE WHEN c.present >= c.bytes[c.n] THEN ' There is room for all of it now.'
			WHEN c.present IS NOT NULL THEN format(' It has %s now.',
				tablespace_advisor.unit_label(c.present, 'bytes')) ELSE '' END,
		tablespace_advisor.draw_room(f.curve_of, c.bytes, c.saved, c.relations, c.knee, c.present)
		|| '<p class="note">The best placement with so much room in all, against the present one; below zero where what is there now would have to leave.</p>'
		|| tablespace_advisor.page_table('{room,saved,relations there}', 'nnn',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[
				tablespace_advisor.unit_label(p.bytes, 'bytes'),
				tablespace_advisor.unit_label(p.saved, 'percent'),
				p.relations::text], 'nnn'), '' ORDER BY p.n)
			FROM unnest(c.bytes, c.saved, c.relations)
				WITH ORDINALITY p (bytes, saved, relations, n)
			WHERE p.n % 2 = 1 OR p.n = c.knee)))
	FROM curve_with_knee c
$$;
COMMENT ON FUNCTION tablespace_advisor.report_room(tablespace_advisor.report_findings) IS
	'the part on how much room in the fastest tablespace is worth having; NULL without a curve';

REVOKE ALL ON FUNCTION
	tablespace_advisor.tablespace_to_buy(),
	tablespace_advisor.curve_knee(float8[], float8[]),
	tablespace_advisor.draw_room(name, float8[], float8[], bigint[], int, float8),
	tablespace_advisor.report_room(tablespace_advisor.report_findings)
	FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.tablespace_to_buy(),
	tablespace_advisor.curve_knee(float8[], float8[]),
	tablespace_advisor.draw_room(name, float8[], float8[], bigint[], int, float8),
	tablespace_advisor.report_room(tablespace_advisor.report_findings)
	TO pg_monitor;
