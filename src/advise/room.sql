/*
 * src/advise/room.sql
 *
 * The worth of more room in a tablespace.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.savings_by_room(
	present bigint[],
	sizes bigint[],
	moved_sizes bigint[],
	cell_items bigint[],
	cell_places bigint[],
	cell_saved float8[],
	rooms bigint[],
	free bigint[],
	place bigint,
	steps bigint[],
	item_reads float8[],
	OUT bytes bigint,
	OUT saved float8,
	OUT relations bigint,
	OUT reads float8[])
RETURNS SETOF record
LANGUAGE C STRICT IMMUTABLE
AS 'MODULE_PATHNAME', 'tsa_savings_by_room';
COMMENT ON FUNCTION tablespace_advisor.savings_by_room(bigint[], bigint[], bigint[], bigint[], bigint[], float8[], bigint[], bigint[], bigint, bigint[], float8[]) IS
	'the saving of the best placement, each move taken alone, if the room of a place has so many bytes in all (steps rise), how many relations are there then, and how often each place is read, items being read item_reads times a second; NULL where nothing fits; present: the place of each, from 1; cells: possible places of each and their saving. Errors: 2202E lists of different length, 22023 bad numbers, 54000 too many places, 53200 out of memory';

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

/* Percent are of the time of reading now or then, whichever is more. */
CREATE FUNCTION tablespace_advisor.curve_of(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	of_tablespace name,
	steps int)
RETURNS TABLE (bytes bigint, saved_ms_per_s float8, saved_percent float8,
	saved_per_gb float8, relations bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	WITH estimate AS MATERIALIZED (
		SELECT e.* FROM tablespace_advisor.estimate_placement($1, $2, $3, false, of_tablespace) e
	), loads AS MATERIALIZED (
		SELECT array(SELECT l FROM tablespace_advisor.place_loads($1, $2, $3) l) AS loads
	), place AS MATERIALIZED (
		SELECT r.* FROM tablespace_advisor.tablespace_rooms($2) r
	), item AS MATERIALIZED (
		SELECT a.*, s.random_read_us, s.shares_device_with, p.place AS present,
			coalesce(a.reads_per_s * e.device_share, 0) AS device_reads,
			row_number() OVER (ORDER BY a.relation::oid) AS n
		FROM tablespace_advisor.elements($1) a
		JOIN estimate e ON e.relation = a.relation AND e.destination IS NULL
		JOIN unnest($2) s ON s.tablespace = a.tablespace
		JOIN place p ON p.tablespace = a.tablespace
		WHERE a.obstacle IS NULL AND a.unusable IS NULL AND a.size_bytes IS NOT NULL
			AND s.random_read_us IS NOT NULL
	), cell AS MATERIALIZED (
		SELECT i.n, p.place, CASE WHEN e.is_faster THEN e.saved_ms_per_s
			ELSE least(0, coalesce(e.saved_ms_per_s, 0)) END AS saved
		FROM estimate e
		JOIN item i ON i.relation = e.relation
		JOIN unnest($2) d ON d.tablespace = e.destination
		JOIN place p ON p.tablespace = e.destination
		WHERE d.random_read_us IS NOT NULL AND d.volatile IS NOT TRUE
			AND (d.tablespace = ANY (i.shares_device_with)) IS NOT TRUE
			AND (e.saved_ms_per_s IS NOT NULL OR coalesce(i.reads_per_s, 0) = 0)
	), items AS MATERIALIZED (
		SELECT array_agg(i.present) AS present, array_agg(i.size_bytes) AS sizes,
			array_agg(i.device_reads) AS reads, sum(i.size_bytes) AS bytes
		FROM (SELECT i.* FROM item i ORDER BY i.n) i
	), cells AS MATERIALIZED (
		SELECT array_agg(c.n) AS n, array_agg(c.place) AS place, array_agg(c.saved) AS saved FROM cell c
	), step AS MATERIALIZED (
		SELECT s.* FROM items i CROSS JOIN cells c
		CROSS JOIN LATERAL tablespace_advisor.savings_by_room(
			i.present, i.sizes, i.sizes, c.n, c.place, c.saved,
			array(SELECT p.room FROM place p ORDER BY p.place),
			array(SELECT min(p.free) FROM place p GROUP BY p.room ORDER BY p.room),
			(SELECT p.place FROM place p WHERE p.tablespace = of_tablespace),
			array(SELECT (i.bytes * n / steps)::bigint FROM generate_series(0, steps) n), i.reads) s
	), moved AS (
		/* relations that stay are read where they are */
		SELECT s.bytes, s.relations, max(coalesce(tablespace_advisor.saved_by_reads(
				l.loads, $3, array(SELECT o.reads_per_s
					+ coalesce(s.reads[p.place] - (SELECT sum(i.device_reads) FROM item i
						WHERE i.present = p.place), s.reads[p.place], 0)
				FROM unnest(l.loads) WITH ORDINALITY o
				JOIN place p ON p.tablespace = o.tablespace ORDER BY o.ordinality)), s.saved))
			OVER (ORDER BY s.bytes) AS saved
		FROM step s CROSS JOIN loads l
	)
	SELECT s.bytes, tablespace_advisor.round_to_three(s.saved),
		tablespace_advisor.round_to_three(100 * s.saved / nullif(greatest(r.ms, s.saved, r.ms - s.saved), 0)),
		tablespace_advisor.round_to_three((s.saved - lag(s.saved) OVER w) * 1073741824
			/ nullif(s.bytes - lag(s.bytes) OVER w, 0)),
		s.relations
	FROM moved s
	CROSS JOIN (SELECT sum(e.read_ms_per_s) AS ms FROM estimate e WHERE e.destination IS NULL) r
	WINDOW w AS (ORDER BY s.bytes)
	ORDER BY s.bytes
$$;
COMMENT ON FUNCTION tablespace_advisor.curve_of(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name, int) IS
	'placement_curve() from facts handed over';

CREATE FUNCTION tablespace_advisor.gather_curve(caller oid, of_tablespace name, steps int)
RETURNS TABLE (bytes bigint, saved_ms_per_s float8, saved_percent float8,
	saved_per_gb float8, relations bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
	destination name := tablespace_advisor.check_destination(of_tablespace, true);
	tablespaces tablespace_advisor.tablespace_fact[];
	facts tablespace_advisor.relation_fact[];
	seen record;
BEGIN
	IF destination IS NULL THEN
		RAISE EXCEPTION 'tablespace must not be null' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF steps IS NULL THEN
		RAISE EXCEPTION 'steps must not be null' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF steps NOT BETWEEN 1 AND 1000 THEN
		RAISE EXCEPTION 'steps must be between 1 and 1000'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	SELECT * INTO seen FROM tablespace_advisor.gather_load(NULL, '{}'::oid[]);
	tablespaces := array(SELECT f FROM tablespace_advisor.with_present_latency(
		array(SELECT t FROM tablespace_advisor.tablespace_facts(caller, caller) t),
		seen.devices) f);
	tablespaces := tablespaces || array(SELECT f
		FROM tablespace_advisor.assumed_facts(tablespaces) f);
	IF NOT EXISTS (SELECT FROM unnest(tablespaces) f
		WHERE f.tablespace = destination AND f.random_read_us IS NOT NULL)
	THEN
		RAISE EXCEPTION 'nothing was measured of tablespace "%"', destination
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'Run probe_tablespace() first.';
	END IF;
	facts := tablespace_advisor.with_divided_waits(tablespace_advisor.relation_facts(
		seen.rates, array(SELECT t FROM tablespace_advisor.tables_of_interest('{}',
			ARRAY[destination], seen.rates, false) t)));
	IF coalesce(current_setting('io_method', true), 'sync') = 'sync' THEN
		tablespaces := array(SELECT f FROM tablespace_advisor.with_timed_latency(
			tablespaces, facts, seen.load) f);
	END IF;
	RETURN QUERY SELECT c.* FROM tablespace_advisor.curve_of(
		facts, tablespaces, seen.load, destination, steps) c;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.gather_curve(oid, name, int) IS
	'placement_curve() for a role';

CREATE FUNCTION @extschema@.placement_curve(
	tablespace name,
	steps int DEFAULT 20,
	OUT bytes bigint,
	OUT saved_ms_per_s float8,
	OUT saved_percent float8,
	OUT saved_per_gb float8,
	OUT relations bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_placement_curve';
COMMENT ON FUNCTION @extschema@.placement_curve(name, int) IS
	'what the best placement would save over the present one, in milliseconds of reading per second and percent of all reading (a loss: of all that there would be), if a tablespace had so many bytes of room in all, from none to all that could be there; saved_per_gb: milliseconds of reading per second that one more GB (2^30 bytes) saves from the row before on; relations: how many would be there; NULL where what is there now fits nowhere else. Errors: 42704 no such tablespace, 55000 not probed, 22023 bad steps, 22004 nulls, 42501 not a member of pg_monitor';
