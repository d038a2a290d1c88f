/*
 * src/report/parts_load.sql
 *
 * The part of the page on the load of the disks under the tablespaces.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.draw_load(since timestamptz)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH spot AS (
		SELECT i.tablespace, i.sampled_at, i.busy_percent, width_bucket(
			extract(epoch FROM i.sampled_at - min(i.sampled_at) OVER ())::float8, 0,
			extract(epoch FROM max(i.sampled_at) OVER () - min(i.sampled_at) OVER ())::float8 + 1,
			100) AS stretch
		FROM @extschema@.tablespace_io i WHERE i.sampled_at > since
	), point AS (
		SELECT s.tablespace, extract(epoch FROM max(s.sampled_at))::float8 AS at,
			avg(s.busy_percent) AS busy, max(s.busy_percent) AS highest
		FROM spot s GROUP BY s.tablespace, s.stretch
	), series AS MATERIALIZED (
		SELECT p.tablespace, array_agg(p.at ORDER BY p.at) AS at, array_agg(p.busy ORDER BY p.at) AS busy,
			array_agg(p.highest ORDER BY p.at) AS highest,
			row_number() OVER (ORDER BY avg(p.busy) DESC, p.tablespace) AS n
		FROM point p GROUP BY p.tablespace HAVING count(*) > 1
		ORDER BY avg(p.busy) DESC, p.tablespace LIMIT 6
	), coloured AS MATERIALIZED (
		SELECT s.*, tablespace_advisor.colour_of(array(SELECT o.tablespace FROM series o ORDER BY o.n),
			s.tablespace) AS colour
		FROM series s
	), axes AS MATERIALIZED (
		SELECT tablespace_advisor.axis_around('time', array(SELECT unnest(s.at) FROM series s), 60, 800) AS x,
			('linear', 0, 100, 300, 24, 'percent')::tablespace_advisor.axis AS y
	), ends AS (
		SELECT tablespace_advisor.spread_apart(array_agg(tablespace_advisor.axis_position(a.y,
			s.busy[cardinality(s.busy)]) ORDER BY s.n), 15, 300) AS at
		FROM series s, axes a
	)
	SELECT tablespace_advisor.draw_picture(960, 345, 'Busy share of the disks over time',
		tablespace_advisor.draw_axes(a.x, a.y, 'samples', 'share of the time in which the disk had a request')
		|| (SELECT string_agg(tablespace_advisor.draw_band(a.x, a.y, s.at, s.busy, s.highest, 'c' || s.colour)
			|| tablespace_advisor.draw_line(a.x, a.y, s.at, s.busy, 'c' || s.colour, s.tablespace)
			|| tablespace_advisor.draw_text(810, e.at[s.n] + 4, 'c' || s.colour,
				tablespace_advisor.short_name(s.tablespace, 22)), '' ORDER BY s.n DESC)
			FROM coloured s, ends e))
	FROM axes a WHERE (a.x).high > (a.x).low
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_load(timestamptz) IS
	'busy share of the six busiest tablespaces'' disks, means with the highest above; NULL without two samples';

CREATE FUNCTION tablespace_advisor.report_load(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS MATERIALIZED (
		SELECT t.spcname AS tablespace, sum(i.seconds) AS seconds, sum(i.reads) AS reads,
			sum(i.read_bytes) AS read_bytes, sum(i.read_ms) AS read_ms, sum(i.writes) AS writes,
			sum(i.write_bytes) AS write_bytes, sum(i.write_ms) AS write_ms,
			least(100, sum(i.busy_ms) / 10 / sum(i.seconds)) AS busy,
			sum(i.queue_ms) / 1000 / sum(i.seconds) AS in_flight,
			row_number() OVER (ORDER BY sum(i.busy_ms) / sum(i.seconds) DESC, t.spcname) AS n,
			(SELECT string_agg(quote_ident(b), ', ' ORDER BY b <> t.spcname, b) FILTER (WHERE n <= 3)
					|| CASE WHEN count(*) > 3 THEN format(' and %s more', count(*) - 3) ELSE '' END
				FROM (SELECT b, row_number() OVER (ORDER BY b <> t.spcname, b) AS n
					FROM unnest(t.spcname || (SELECT array_remove(d.shares_device_with, 'pg_global')
						FROM unnest(f.devices) d WHERE d.tablespace = t.spcname)) b) s) AS names
		FROM tablespace_advisor.device_interval i JOIN pg_tablespace t ON t.oid = i.tablespace
		WHERE i.measured_at > f.since GROUP BY t.spcname
	)
	SELECT tablespace_advisor.page_section('Load',
		format('The disk under %s is the busiest: %s %% of the time, %s reads and %s writes a second, for everybody who uses it.',
			p.names, tablespace_advisor.two_digits(p.busy),
			tablespace_advisor.short_number((p.reads / p.seconds)::float8),
			tablespace_advisor.short_number((p.writes / p.seconds)::float8)),
		coalesce(tablespace_advisor.draw_load(f.since)
			|| '<p class="note">Line: mean; shaded: up to the highest sample. Tablespaces on one disk have one line each.</p>', '')
		|| tablespace_advisor.page_table(
			'{tablespace,busy,requests in flight,reads per s,bytes read per s,a read takes,writes per s,bytes written per s,a write takes}', 'wnnnnnnnn',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[r.tablespace::text,
				tablespace_advisor.unit_label(r.busy::float8, 'percent'),
				tablespace_advisor.short_number(r.in_flight::float8),
				tablespace_advisor.short_number((r.reads / r.seconds)::float8),
				tablespace_advisor.unit_label((r.read_bytes / r.seconds)::float8, 'bytes'),
				tablespace_advisor.unit_label(tablespace_advisor.mean_us(r.read_ms, r.reads), 'us'),
				tablespace_advisor.short_number((r.writes / r.seconds)::float8),
				tablespace_advisor.unit_label((r.write_bytes / r.seconds)::float8, 'bytes'),
				tablespace_advisor.unit_label(tablespace_advisor.mean_us(r.write_ms, r.writes), 'us')],
				'wnnnnnnnn'), '' ORDER BY r.n)
			FROM place r WHERE r.n <= 50)))
	FROM place p WHERE p.n = 1
$$;
COMMENT ON FUNCTION tablespace_advisor.report_load(tablespace_advisor.report_findings) IS
	'the part on the load of the disks in the period; NULL without samples of them';
