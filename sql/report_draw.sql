-- scales, ticks and shapes of the page with pictures: pure functions
-- what is harmless as content and as attribute, in ASCII
SELECT tablespace_advisor.html(t) FROM (VALUES ('<script>alert("x")</script>'), ('a & b''s `c`'), (E'line\nbreak\ttab'), ('')) v (t);
CREATE FUNCTION pg_temp.of(VARIADIC codes int[]) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(chr(c), '' ORDER BY n) FROM unnest(codes) WITH ORDINALITY u (c, n) $$;
SELECT CASE WHEN getdatabaseencoding() = 'UTF8' THEN tablespace_advisor.html(pg_temp.of(8238, 116, 8203)) ELSE '?t?' END AS marks,
	CASE WHEN getdatabaseencoding() = 'UTF8' THEN tablespace_advisor.html(pg_temp.of(128512, 1488)) ELSE '&#128512;&#1488;' END AS letters;
SELECT tablespace_advisor.short_number(n) FROM unnest('{0,0.0000123,0.00526,0.5,1,99.95,1234,12345,1234567,1.5e10,-20}'::float8[]) WITH ORDINALITY u (n, i) ORDER BY i;
SELECT unit, tablespace_advisor.unit_label(value, unit) FROM (VALUES (0, 'bytes'), (1023, 'bytes'), (1048576, 'bytes'), (1.5e12, 'bytes'), (0.5, 'us'), (999, 'us'), (1500, 'us'), (2.5e6, 'us'), (0, 'percent'), (33.3333, 'percent'), (7, '')) v (value, unit);
-- positions: within, at the ends, beyond; an axis of one value
CREATE TEMPORARY VIEW axes AS SELECT * FROM (VALUES
	('linear', ('linear', 0, 10, 100, 200, '')::tablespace_advisor.axis),
	('upwards', ('linear', 0, 10, 200, 100, '')::tablespace_advisor.axis),
	('log', ('log', 1, 100, 0, 200, '')::tablespace_advisor.axis),
	('one value', ('linear', 5, 5, 0, 200, '')::tablespace_advisor.axis)) v (name, a);
SELECT name, round(tablespace_advisor.axis_position(a, value)::numeric, 2) AS at
FROM axes, unnest('{-1,1,5,10,1000}'::float8[]) WITH ORDINALITY u (value, n) ORDER BY name, n;
SELECT tablespace_advisor.axis_position(a, NULL) FROM axes WHERE name = 'log';
-- round ends that hold all values, ticks on round values
SELECT v.kind, v.unit, (x).low, (x).high, array(SELECT label FROM tablespace_advisor.axis_ticks(x) ORDER BY value) AS ticks
FROM (VALUES ('linear', '{0.3,7.2}'::float8[], ''), ('linear', '{-3,40}', ''), ('linear', '{5}', ''), ('linear', '{0}', ''), ('linear', '{300000000,7516192768}', 'bytes'),
	('log', '{93,52000}', 'us'), ('log', '{100}', 'us'), ('log', '{3,4,8}', ''), ('log', '{0,1e-3,1e9}', ''), ('log', '{1,32}', 'depth')) v (kind, points, unit),
	LATERAL tablespace_advisor.axis_around(v.kind, v.points, 0, 100, v.unit) x;
SET TimeZone = 'Asia/Kolkata';
SELECT length, array(SELECT label FROM tablespace_advisor.axis_ticks(('time', t.at, t.at + extract(epoch FROM length), 0, 100, '')::tablespace_advisor.axis) ORDER BY value)
FROM (SELECT extract(epoch FROM timestamptz '2026-03-01 10:07:00+05:30')::float8 AS at) t, unnest('{30 s,2 h,1 day,7 days,90 days,4 years}'::interval[]) length;
RESET TimeZone;
SELECT tablespace_advisor.spread_apart('{100,102,101,10}', 15, 300), tablespace_advisor.spread_apart('{298,299,300}', 15, 300), tablespace_advisor.spread_apart('{}', 15, 300);
-- shapes
SELECT tablespace_advisor.draw_line(a, a, '{1,NULL,3}', '{2,2,4}', 'c0', 'a <title>') FROM axes WHERE name = 'linear';
SELECT tablespace_advisor.draw_line(a, a, '{NULL}', '{2}', 'c0') AS nothing, tablespace_advisor.draw_band(a, a, '{1}', '{1}', '{2}', 'c1') AS no_band FROM axes WHERE name = 'linear';
SELECT tablespace_advisor.draw_band(a, a, '{0,10}', '{1,2}', '{3,4}', 'c1') FROM axes WHERE name = 'linear';
SELECT tablespace_advisor.draw_dots(a, a, '{1,2,NULL}', '{1,2,3}', 'c0', '{one,NULL,none}', 1, '{0,NULL,1}', '{2,3,4}') FROM axes WHERE name = 'linear';
SELECT tablespace_advisor.draw_bar(a, 0, 5, 10, 9, 'c0', '"b"'), tablespace_advisor.draw_bar(a, 2, 2, 10, 9, 'c0', 'thin') FROM axes WHERE name = 'linear';
SELECT tablespace_advisor.short_name(repeat('x', 20) || repeat('y', 43)), tablespace_advisor.short_name('short');
SELECT tablespace_advisor.table_row('{<b>,1,NULL}', 'wnt'), tablespace_advisor.page_table('{a}', 't', NULL) AS no_rows;

\echo -- costs that are on no scale
SELECT tablespace_advisor.draw_costs(jsonb_build_array(jsonb_build_object('tablespace', 'hers',
	'low', 1e300, 'high', 1e308, 'current_random_page_cost', 4, 'random_page_cost', 1e300,
	'verdict', 'keep'))) IS NULL AS not_drawn;
