/*
 * src/advise/set_forecast.sql
 *
 * The saving of all moves together: reads that stay wait less when others
 * leave, and in the target those that come wait for each other
 * (closed_system.c).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
/*
 * Of tablespaces of which something was measured.  Estimates must be of all that is
 * read.  Reads of others are in the way as long as they go on, and if reads of a
 * target take longer than it was probed with so many in flight, its latencies are.
 * So are writes on one rotating disk: a session that reads faster writes more, so
 * there are not less of them.
 *
 * Where only the present latency is known, nothing says how much of it is waiting
 * for other reads.  One rotating disk serves them one after the other, but where
 * others have more under way than this database they take the time that becomes
 * free.  Else, and there, the latency is taken to be the same with fewer under way.
 */
CREATE FUNCTION tablespace_advisor.place_loads(
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	loads tablespace_advisor.load_estimate[])
RETURNS SETOF tablespace_advisor.place_load
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT f.tablespace, coalesce(r.reads, 0), CASE WHEN r.reads > 0 THEN l.device_us END,
		CASE WHEN r.reads > 0 AND f.latency_from IN ('counters', 'timing')
			THEN ARRAY[CASE WHEN f.is_serial AND o.others < o.own THEN 1
				ELSE greatest(1, o.own + o.others) END]
			ELSE f.depths END,
		array(SELECT u.us * coalesce(l.time_correction, 1) * greatest(1,
				CASE WHEN coalesce(r.reads, 0) = 0 THEN f.present_read_low_us
					/ tablespace_advisor.latency_at_depth(f.depths, f.depth_read_us,
						greatest(1, f.present_in_flight)) END)
			FROM unnest(f.depth_read_us) WITH ORDINALITY u (us, n) ORDER BY u.n),
		NULL::float8, NULL::float8, o.others
	FROM unnest(tablespaces) f
	LEFT JOIN unnest(loads) l ON l.tablespace = f.tablespace
	LEFT JOIN (SELECT a.tablespace, sum(a.reads_per_s * e.device_share) AS reads
		FROM tablespace_advisor.elements(relations) a JOIN tablespace_advisor.elements(estimates) e
			ON e.relation = a.relation AND e.destination IS NULL
		GROUP BY a.tablespace) r ON r.tablespace = f.tablespace
	CROSS JOIN LATERAL (SELECT w.own,
			greatest(0, coalesce(f.present_in_flight, 0) - w.own) AS others
		FROM (SELECT coalesce(r.reads * l.device_us / 1e6, 0) AS own) w) o
	WHERE f.random_read_us IS NOT NULL AND cardinality(f.depths) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.place_loads(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_estimate[]) IS
	'the reads of each place, from facts and estimates of all relations; loads: as of estimate_load()';

/*
 * later_reads: per second of each of these tablespaces, in their order.  Where
 * nobody has watched sessions, nothing is known of queues.
 */
CREATE FUNCTION tablespace_advisor.latencies_by_reads(
	places tablespace_advisor.place_load[],
	load tablespace_advisor.load_fact,
	later_reads float8[])
RETURNS float8[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.latencies_of_set(load.active_sessions, places,
		array(SELECT greatest(0, l.reads)
			FROM unnest(later_reads) WITH ORDINALITY l (reads, n) ORDER BY l.n))
	WHERE load.snapshots > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.latencies_by_reads(tablespace_advisor.place_load[], tablespace_advisor.load_fact, float8[]) IS
	'microseconds that a read of each tablespace takes if they are read so many times a second; NULL where no session was watched';

CREATE FUNCTION tablespace_advisor.saved_by_reads(
	places tablespace_advisor.place_load[],
	load tablespace_advisor.load_fact,
	later_reads float8[])
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT sum(p.reads_per_s * coalesce(p.read_us, 0) - greatest(0, p.reads) * p.us) / 1000
	FROM unnest(places, later_reads, tablespace_advisor.latencies_by_reads(places, load, later_reads))
		p (tablespace, reads_per_s, read_us, depths, latencies_us, later_reads_per_s, later_us, others, reads, us)
$$;
COMMENT ON FUNCTION tablespace_advisor.saved_by_reads(tablespace_advisor.place_load[], tablespace_advisor.load_fact, float8[]) IS
	'milliseconds of reading per second that are saved if tablespaces are read so many times a second; NULL where no session was watched';

/*
 * The time of reads when the moves are made.  Not known where nobody has
 * watched sessions, or if together they would cost more than they save: each
 * was judged as if it alone were made.
 */
CREATE FUNCTION tablespace_advisor.loads_after(
	moves tablespace_advisor.placement_choice[],
	places tablespace_advisor.place_load[],
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	load tablespace_advisor.load_fact)
RETURNS SETOF tablespace_advisor.place_load
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH moved AS MATERIALIZED (
		SELECT a.tablespace AS source, m.destination, a.reads_per_s * e.device_share AS reads
		FROM tablespace_advisor.elements(moves) m
		JOIN tablespace_advisor.elements(relations) a ON a.relation = m.relation
		JOIN tablespace_advisor.elements(estimates) e ON e.relation = m.relation AND e.destination = m.destination
		WHERE m.turn IS NOT NULL
	), later AS MATERIALIZED (
		SELECT array_agg(greatest(0, p.reads_per_s + coalesce(c.reads, 0) - coalesce(g.reads, 0))
			ORDER BY p.n) AS reads
		FROM unnest(places) WITH ORDINALITY p (tablespace, reads_per_s, read_us, depths,
			latencies_us, later_reads_per_s, later_us, others, n)
		LEFT JOIN (SELECT m.destination, sum(m.reads) AS reads FROM moved m GROUP BY 1) c
			ON c.destination = p.tablespace
		LEFT JOIN (SELECT m.source, sum(m.reads) AS reads FROM moved m GROUP BY 1) g
			ON g.source = p.tablespace
	), timed AS MATERIALIZED (
		SELECT p.*, sum(p.reads_per_s * coalesce(p.read_us, 0) - p.reads * p.us) OVER () / 1000 AS saved
		FROM later l CROSS JOIN LATERAL unnest(places, l.reads,
				tablespace_advisor.latencies_by_reads(places, load, l.reads))
			WITH ORDINALITY p (tablespace, reads_per_s, read_us, depths, latencies_us,
				later_reads_per_s, later_us, others, reads, us, n)
	)
	SELECT t.tablespace, t.reads_per_s, t.read_us, t.depths, t.latencies_us, t.reads,
		CASE WHEN t.saved > 0 THEN t.us END, t.others
	FROM timed t ORDER BY t.n
$$;
COMMENT ON FUNCTION tablespace_advisor.loads_after(tablespace_advisor.placement_choice[], tablespace_advisor.place_load[], tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.load_fact) IS
	'place_loads() with the reads there after moves, and the time of one then';

/* The moves with the part of each in the saving of all. */
CREATE FUNCTION tablespace_advisor.forecast_set(
	moves tablespace_advisor.placement_choice[],
	places tablespace_advisor.place_load[])
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH factor AS (
		SELECT (SELECT sum(p.reads_per_s * coalesce(p.read_us, 0)
					- p.later_reads_per_s * p.later_us) FROM unnest(places) p) / 1000
				/ sum(m.saved_ms_per_s) AS factor
		FROM tablespace_advisor.elements(moves) m
		WHERE m.turn IS NOT NULL
		HAVING sum(m.saved_ms_per_s) > 0
	)
	SELECT m.relation, m.destination, m.action,
		m.saved_ms_per_s * k.factor, m.bytes,
		m.turn, m.bundle, m.makes_room_for, m.ms_per_s_and_gb * k.factor, m.finding
	FROM tablespace_advisor.elements(moves) m
	/* OFFSET: once, not for each column */
	CROSS JOIN (SELECT coalesce((SELECT f.factor FROM factor f), 1) AS factor OFFSET 0) k
$$;
COMMENT ON FUNCTION tablespace_advisor.forecast_set(tablespace_advisor.placement_choice[], tablespace_advisor.place_load[]) IS
	'the moves of choose_moves() with savings that add up to their joint saving, by loads_after()';
