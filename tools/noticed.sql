-- Copyright (c) 2026, The tablespace_advisor developers

-- What the application noticed of moves, as a picture: latency of its
-- transactions, of which pgbench has logged each, and when moves were under way.
--
--   psql -AqtX -v log='cat .../load.[0-9]*' -f tools/noticed.sql >docs/noticed.svg
--
-- log: a command that prints what pgbench --log has written; after ./demo --keep
-- in the directory that it names, on the server that it names.
\set QUIET on
CREATE TEMPORARY TABLE line (line text);
\set copy '\\copy line FROM PROGRAM ' :'log'
:copy
SET search_path = tablespace_advisor, public;
WITH transaction AS (
	SELECT split_part(line, ' ', 3)::float8 AS us,
		split_part(line, ' ', 5)::float8 + split_part(line, ' ', 6)::float8 / 1e6 AS at
	FROM line WHERE split_part(line, ' ', 3) ~ '^[0-9]+$'
), begun AS MATERIALIZED (
	SELECT min(at) AS at, max(at) AS ended FROM transaction
), slice AS MATERIALIZED (
	SELECT floor(t.at - b.at) + 0.5 AS at, avg(t.us) AS mean, max(t.us) AS longest, count(*) AS n
	FROM transaction t, begun b WHERE floor(t.at - b.at) < floor(b.ended - b.at) GROUP BY 1
), move AS MATERIALIZED (
	SELECT m.batch_id, extract(epoch FROM min(m.started_at))::float8 - b.at AS started,
		extract(epoch FROM max(m.finished_at))::float8 - b.at AS finished,
		CASE WHEN min(m.with_indexes) IS NULL THEN count(*) || ' indexes move' ELSE 'the table moves' END AS what
	FROM public.tablespace_moves m, begun b WHERE m.state = 'done' GROUP BY m.batch_id, b.at
), axes AS MATERIALIZED (
	SELECT ROW('linear', 0, (SELECT max(s.at) + 0.5 FROM slice s), 60, 780, '')::axis AS x,
		axis_around('log', array(SELECT unnest(ARRAY[s.mean, s.longest]) FROM slice s), 300, 44, 'us') AS y
)
SELECT replace(draw_picture(900, 345, 'Latency of updates while indexes and table move',
	'<style>' || replace(page_style(), 'svg text', 'text') || 'svg{background:var(--bg);border-radius:6px}</style>'
	|| '<rect width="900" height="345" style="fill:var(--bg)"/>'
	|| (SELECT string_agg(draw_band(a.x, a.y, ARRAY[m.started, m.finished], ARRAY[(a.y).low, (a.y).low],
			ARRAY[(a.y).high, (a.y).high], 'c2')
		|| draw_text(axis_position(a.x, (m.started + m.finished) / 2), 38, 'mid', m.what), '') FROM move m)
	|| draw_axes(a.x, a.y, 'seconds', NULL)
	|| draw_text(14, 18, 'name', 'latency of an update, mean and longest of each second')
	|| (SELECT draw_line(a.x, a.y, array_agg(s.at ORDER BY s.at), array_agg(s.longest ORDER BY s.at), 'c1 thin')
		|| draw_line(a.x, a.y, array_agg(s.at ORDER BY s.at), array_agg(s.mean ORDER BY s.at), 'c0')
		FROM slice s)
	|| (SELECT draw_text(786, p.at[1] + 4, 'c1', 'longest') || draw_text(786, p.at[2] + 4, 'c0', 'mean')
		FROM (SELECT s.* FROM slice s ORDER BY s.at DESC LIMIT 1) s, LATERAL (SELECT spread_apart(ARRAY[
			axis_position(a.y, s.longest), axis_position(a.y, s.mean)], 15, 300) AS at) p)),
	'<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ')
FROM axes a;
