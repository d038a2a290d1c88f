/*
 * src/advise/moves.sql
 *
 * Which moves are made when not all of them fit.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.plan_moves(
	present bigint[],
	sizes bigint[],
	moved_sizes bigint[],
	cell_items bigint[],
	cell_places bigint[],
	cell_saved float8[],
	rooms bigint[],
	free bigint[],
	budget bigint,
	cell_seconds float8[],
	read_ms float8,
	read_bytes float8,
	OUT item bigint,
	OUT place bigint,
	OUT nth int,
	OUT bundle int,
	OUT verdict int,
	OUT makes_room_for bigint,
	OUT price float8)
RETURNS SETOF record
LANGUAGE C STRICT IMMUTABLE
AS 'MODULE_PATHNAME', 'tsa_plan_bundles';
COMMENT ON FUNCTION tablespace_advisor.plan_moves(bigint[], bigint[], bigint[], bigint[], bigint[], float8[], bigint[], bigint[], bigint, float8[], float8, float8) IS
	'the moves that lead from where relations are (present: place of each, from 1) to where all together are read fastest (plan_moves.c); cells: possible places of each, their saving and the time of the move; read_ms, read_bytes: of all that is read; nth: order, 0: not made, verdict: 0 made, 1 saves too little, 2 not repaid within a week, 3 no order in which each fits; price: the saving of one more byte there. Errors: 2202E lists of different length, 22023 bad numbers, 54000 too many places, 53200 out of memory';

/*
 * Tablespaces that are on one device have one room: the least that is free by
 * any of them.
 */
CREATE FUNCTION tablespace_advisor.tablespace_rooms(
	tablespaces tablespace_advisor.tablespace_fact[],
	OUT tablespace name,
	OUT place bigint,
	OUT room bigint,
	OUT free bigint)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH device AS (
		SELECT f.tablespace, f.available_bytes,
			(SELECT min(o.tablespace::text COLLATE "C") FROM unnest(tablespaces) o
				WHERE o.tablespace = f.tablespace
					OR o.tablespace = ANY (f.shares_device_with)
					OR f.tablespace = ANY (o.shares_device_with)) AS device
		FROM unnest(tablespaces) f
	)
	SELECT d.tablespace,
		row_number() OVER (ORDER BY d.tablespace::text COLLATE "C"),
		dense_rank() OVER (ORDER BY d.device),
		coalesce(min(greatest(0, d.available_bytes)) OVER (PARTITION BY d.device),
			1125899906842624)
	FROM device d
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_rooms(tablespace_advisor.tablespace_fact[]) IS
	'tablespaces with their number, the number of their device, and the bytes that are free there';

CREATE FUNCTION tablespace_advisor.placement_offers(
	candidates tablespace_advisor.placement_choice[],
	demotions tablespace_advisor.placement_choice[],
	estimates tablespace_advisor.placement_estimate[])
RETURNS TABLE (relation regclass, destination name, saved float8, low float8,
	seconds float8, goes_down boolean)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT o.relation, o.destination, o.saved_ms_per_s,
		CASE WHEN o.goes_down THEN least(0, l.low) ELSE l.low END,
		coalesce(e.move_seconds, 0), o.goes_down
	FROM (SELECT c.*, false AS goes_down FROM tablespace_advisor.elements(candidates) c
		UNION ALL
		SELECT d.*, true FROM tablespace_advisor.elements(demotions) d WHERE cardinality(candidates) > 0) o
	LEFT JOIN tablespace_advisor.elements(estimates) e ON e.relation = o.relation
		AND e.destination = o.destination
	CROSS JOIN LATERAL (SELECT coalesce(e.saved_low_ms_per_s, o.saved_ms_per_s) AS low) l
$$;
COMMENT ON FUNCTION tablespace_advisor.placement_offers(tablespace_advisor.placement_choice[], tablespace_advisor.placement_choice[], tablespace_advisor.placement_estimate[]) IS
	'possible moves with milliseconds per second saved, at the lower end of the interval (low), and seconds of work: moves that save, and others down that make room for them';

/* The bytes that are left on each device when these moves are made. */
CREATE FUNCTION tablespace_advisor.room_left(
	tablespaces tablespace_advisor.tablespace_fact[],
	moved tablespace_advisor.placement_choice[])
RETURNS bigint[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS MATERIALIZED (
		SELECT r.* FROM tablespace_advisor.tablespace_rooms(tablespaces) r
	), taken AS (
		SELECT p.room, sum(m.bytes) AS bytes
		FROM unnest(moved) m JOIN place p ON p.tablespace = m.destination
		GROUP BY p.room
	)
	SELECT array_agg(r.free ORDER BY r.room)
	FROM (SELECT p.room, greatest(0, min(p.free) - coalesce(min(t.bytes), 0))::bigint AS free
		FROM place p LEFT JOIN taken t USING (room) GROUP BY p.room) r
$$;
COMMENT ON FUNCTION tablespace_advisor.room_left(tablespace_advisor.tablespace_fact[], tablespace_advisor.placement_choice[]) IS
	'free bytes of each device (room of tablespace_rooms()) less the bytes of these moves';

CREATE FUNCTION tablespace_advisor.bundle_finding(verdict int, low float8, goes_down boolean)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE
		WHEN verdict = 3 THEN 'no order'
		WHEN verdict = 0 AND low > 0 THEN
			CASE WHEN goes_down THEN 'makes room' ELSE 'faster' END
		WHEN goes_down THEN 'stays'
		WHEN verdict = 1 THEN 'bundle saves too little'
		WHEN verdict = 2 THEN 'bundle not repaid'
		ELSE 'bundle within noise' END;
END;
COMMENT ON FUNCTION tablespace_advisor.bundle_finding(int, float8, boolean) IS
	'the finding on one move of a bundle, by plan_moves() and the lower end of the bundle''s interval';

/*
 * The places where all together are read fastest, among candidates and
 * demotions: a relation that is in neither stays.  evicted: moves that are
 * made before.
 */
CREATE FUNCTION tablespace_advisor.choose_moves(
	candidates tablespace_advisor.placement_choice[],
	demotions tablespace_advisor.placement_choice[],
	evicted tablespace_advisor.placement_choice[],
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	budget_bytes bigint)
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS MATERIALIZED (
		SELECT r.* FROM tablespace_advisor.tablespace_rooms(tablespaces) r
	), offer AS MATERIALIZED (
		SELECT o.* FROM tablespace_advisor.placement_offers(candidates, demotions, estimates) o
	), item AS MATERIALIZED (
		SELECT a.relation, a.size_bytes, p.place AS present,
			a.size_bytes AS moved_bytes,
			row_number() OVER (ORDER BY a.relation::oid) AS n
		FROM tablespace_advisor.elements(relations) a
		JOIN place p ON p.tablespace = a.tablespace
		WHERE a.relation IN (SELECT o.relation FROM offer o) AND a.size_bytes IS NOT NULL
	), items AS (
		SELECT array_agg(i.present) AS present, array_agg(i.size_bytes) AS sizes,
			array_agg(i.moved_bytes) AS moved
		FROM (SELECT i.* FROM item i ORDER BY i.n) i
	), cell AS MATERIALIZED (
		SELECT i.n, p.place, o.saved, o.low, o.seconds, o.goes_down
		FROM offer o
		JOIN item i ON i.relation = o.relation
		JOIN place p ON p.tablespace = o.destination
	), cells AS (
		SELECT array_agg(c.n) AS n, array_agg(c.place) AS place,
			array_agg(c.saved) AS saved, array_agg(c.seconds) AS seconds
		FROM (SELECT c.* FROM cell c ORDER BY c.n, c.place) c
	), planned AS (
		/* of a bundle the lower ends of the intervals together */
		SELECT x.*, c.saved, c.goes_down,
			sum(c.low) OVER (PARTITION BY nullif(x.bundle, 0)) AS low
		FROM items s
		CROSS JOIN cells l
		CROSS JOIN LATERAL tablespace_advisor.plan_moves(
			s.present, s.sizes, s.moved, l.n, l.place, l.saved,
			array(SELECT p.room FROM place p ORDER BY p.place),
			tablespace_advisor.room_left(tablespaces, evicted),
			coalesce(budget_bytes, 4611686018427387904), l.seconds,
			coalesce(load.all_read_ms_per_s, 0), coalesce(load.all_read_bytes, 0)) x
		JOIN cell c ON c.n = x.item AND c.place = x.place
	)
	SELECT i.relation, p.tablespace, 'move',
		x.saved, i.moved_bytes,
		CASE WHEN f.finding IN ('makes room', 'faster') THEN x.nth END,
		nullif(x.bundle, 0), up.relation, x.price * 1073741824, f.finding
	FROM planned x
	JOIN item i ON i.n = x.item
	JOIN place p ON p.place = x.place
	LEFT JOIN item up ON up.n = x.makes_room_for
	CROSS JOIN LATERAL (SELECT tablespace_advisor.bundle_finding(
		x.verdict, x.low, x.goes_down) AS finding) f
	WHERE f.finding <> 'stays'
$$;
COMMENT ON FUNCTION tablespace_advisor.choose_moves(tablespace_advisor.placement_choice[], tablespace_advisor.placement_choice[], tablespace_advisor.placement_choice[], tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, bigint) IS
	'of candidates (moves that save) and demotions (moves that make room for them) those to make, each to one tablespace, so that they fit into the room of each and candidates into the budget (NULL: no limit); turn is NULL where a move is not made, and finding says why';
