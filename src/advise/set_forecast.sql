/*
 * src/advise/set_forecast.sql
 *
 * What moves save together: reads that stay wait less when others leave, and in the
 * target those that come wait for each other (closed_system.c).
 */
CREATE TYPE tablespace_advisor.place_load AS (
	tablespace name,
	reads_per_s float8,
	read_us float8,
	depths float8[],
	latencies_us float8[]
);
COMMENT ON TYPE tablespace_advisor.place_load IS
	'what is read from the device under a tablespace: reads per second, what one takes now (NULL: nothing is read), and what one would take at rising depths, both corrected by the server''s timing';

/*
 * Of tablespaces of which something was measured.  Estimates must be of all that is
 * read.  What others read from a target as its counters say is in its latencies.
 */
CREATE FUNCTION tablespace_advisor.place_loads(
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact)
RETURNS SETOF tablespace_advisor.place_load
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	SELECT f.tablespace, coalesce(r.reads, 0), CASE WHEN r.reads > 0 THEN l.device_us END,
		f.depths,
		array(SELECT u.us * coalesce(l.time_correction, 1) * greatest(1,
				CASE WHEN coalesce(r.reads, 0) = 0
					THEN f.present_read_low_us / f.random_read_us END)
			FROM unnest(f.depth_read_us) WITH ORDINALITY u (us, n) ORDER BY u.n)
	FROM unnest(tablespaces) f
	LEFT JOIN tablespace_advisor.estimate_load(relations, tablespaces, load) l
		ON l.tablespace = f.tablespace
	LEFT JOIN (SELECT a.tablespace, sum(a.reads_per_s * e.device_share) AS reads
		FROM unnest(relations) a JOIN unnest(estimates) e
			ON e.relation = a.relation AND e.destination IS NULL
		GROUP BY a.tablespace) r ON r.tablespace = f.tablespace
	WHERE f.random_read_us IS NOT NULL AND cardinality(f.depths) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.place_loads(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact) IS
	'what is read where, from facts and estimates of all relations';

/*
 * later_reads: per second of each of these tablespaces, in their order.  Where
 * nobody has watched sessions, nothing is known of queues.
 */
CREATE FUNCTION tablespace_advisor.saved_by_reads(
	places tablespace_advisor.place_load[],
	load tablespace_advisor.load_fact,
	later_reads float8[])
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.saved_by_set(load.active_sessions,
		array_agg(cardinality(p.depths)::float8 ORDER BY p.n),
		array(SELECT d FROM unnest(places) WITH ORDINALITY o,
			unnest(o.depths) WITH ORDINALITY d (d, nth) ORDER BY o.ordinality, d.nth),
		array(SELECT u FROM unnest(places) WITH ORDINALITY o,
			unnest(o.latencies_us) WITH ORDINALITY u (u, nth) ORDER BY o.ordinality, u.nth),
		array_agg(p.reads_per_s ORDER BY p.n),
		array_agg(coalesce(p.read_us, 0) ORDER BY p.n),
		array_agg(greatest(0, r.reads) ORDER BY p.n))
	FROM unnest(places) WITH ORDINALITY p (tablespace, reads_per_s, read_us, depths, latencies_us, n)
	JOIN unnest(later_reads) WITH ORDINALITY r (reads, n) ON r.n = p.n
	WHERE load.snapshots > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.saved_by_reads(tablespace_advisor.place_load[], tablespace_advisor.load_fact, float8[]) IS
	'milliseconds of reading per second that are saved if tablespaces are read so many times a second; NULL where no session was watched';

/*
 * The moves with what each saves as its part of what they save together.  Each was
 * judged as if it alone were made.
 */
CREATE FUNCTION tablespace_advisor.forecast_set(
	moves tablespace_advisor.placement_choice[],
	places tablespace_advisor.place_load[],
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	load tablespace_advisor.load_fact)
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	WITH moved AS MATERIALIZED (
		SELECT a.tablespace AS source, m.destination, m.saved_ms_per_s AS alone,
			a.reads_per_s * e.device_share AS reads, coalesce(e.extra_write_ms_per_s, 0) AS extra
		FROM unnest(moves) m
		JOIN unnest(relations) a ON a.relation = m.relation
		JOIN unnest(estimates) e ON e.relation = m.relation AND e.destination = m.destination
		WHERE m.turn IS NOT NULL
	), later AS (
		SELECT array_agg(p.reads_per_s + coalesce(c.reads, 0) - coalesce(g.reads, 0)
			ORDER BY p.n) AS reads
		FROM unnest(places) WITH ORDINALITY p (tablespace, reads_per_s, read_us, depths, latencies_us, n)
		LEFT JOIN (SELECT m.destination, sum(m.reads) AS reads FROM moved m GROUP BY 1) c
			ON c.destination = p.tablespace
		LEFT JOIN (SELECT m.source, sum(m.reads) AS reads FROM moved m GROUP BY 1) g
			ON g.source = p.tablespace
	), factor AS (
		SELECT (tablespace_advisor.saved_by_reads(places, load, l.reads) - s.extra)
			/ nullif(s.alone, 0) AS factor
		FROM later l CROSS JOIN
			(SELECT sum(m.alone) AS alone, sum(m.extra) AS extra FROM moved m) s
		WHERE s.alone > 0
	)
	SELECT m.relation, m.destination, m.action, m.reason, m.statement,
		m.saved_ms_per_s * k.factor, m.bytes, m.bound_ms_per_s * k.factor, m.is_exact,
		m.turn, m.bundle, m.makes_room_for, m.ms_per_s_and_gb * k.factor, m.finding
	FROM unnest(moves) m
	CROSS JOIN (SELECT coalesce((SELECT f.factor FROM factor f WHERE f.factor > 0), 1) AS factor) k
$$;
COMMENT ON FUNCTION tablespace_advisor.forecast_set(tablespace_advisor.placement_choice[], tablespace_advisor.place_load[], tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.load_fact) IS
	'the moves of choose_moves() with savings that add up to what they save together';
