/* src/advise/moves.sql: the moves that are made */

/*
 * Where all together are read fastest, of what candidates and demotions offer:
 * a relation that is in neither stays.  evicted: moves that are made before.
 */
CREATE FUNCTION tablespace_advisor.choose_moves(
	candidates tablespace_advisor.placement_choice[],
	demotions tablespace_advisor.placement_choice[],
	evicted tablespace_advisor.placement_choice[],
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	budget_bytes bigint)
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	WITH place AS MATERIALIZED (
		SELECT r.* FROM tablespace_advisor.tablespace_rooms(tablespaces) r
	), moved AS (
		SELECT p.room, sum(m.bytes) AS bytes
		FROM unnest(evicted) m JOIN place p ON p.tablespace = m.destination
		GROUP BY p.room
	), room AS (
		SELECT array_agg(r.free ORDER BY r.room) AS free
		FROM (SELECT p.room, greatest(0, min(p.free) - coalesce(min(m.bytes), 0))::bigint AS free
			FROM place p LEFT JOIN moved m USING (room) GROUP BY p.room) r
	), offer AS MATERIALIZED (
		SELECT c.*, false AS goes_down FROM unnest(candidates) c
		UNION ALL
		SELECT d.*, true FROM unnest(demotions) d
		WHERE cardinality(candidates) > 0
	), tables AS MATERIALIZED (
		SELECT a.table_relation, row_number() OVER (ORDER BY a.table_relation::oid) AS n,
			sum(a.size_bytes)::float8 AS bytes
		FROM unnest(relations) a GROUP BY a.table_relation
	), item AS MATERIALIZED (
		SELECT a.relation, a.size_bytes, p.place AS present, t.n AS table_n,
			CASE WHEN a.rebuilt_bytes < a.size_bytes / 2 THEN a.rebuilt_bytes
				ELSE a.size_bytes END AS moved_bytes,
			row_number() OVER (ORDER BY a.relation::text COLLATE "C") AS n
		FROM unnest(relations) a
		JOIN place p ON p.tablespace = a.tablespace
		JOIN tables t ON t.table_relation = a.table_relation
		WHERE a.relation IN (SELECT o.relation FROM offer o) AND a.size_bytes IS NOT NULL
	), items AS (
		SELECT array_agg(i.present ORDER BY i.n) AS present,
			array_agg(i.size_bytes ORDER BY i.n) AS sizes,
			array_agg(i.moved_bytes ORDER BY i.n) AS moved,
			array_agg(i.table_n ORDER BY i.n) AS tables
		FROM item i
	), cell AS MATERIALIZED (
		SELECT i.n, p.place, o.saved_ms_per_s AS saved, o.goes_down, o.reason,
			coalesce(e.move_seconds, 0) AS seconds,
			CASE WHEN o.goes_down THEN least(0, coalesce(e.saved_low_ms_per_s, o.saved_ms_per_s))
				ELSE coalesce(e.saved_low_ms_per_s, o.saved_ms_per_s) END AS low
		FROM offer o
		JOIN item i ON i.relation = o.relation
		JOIN place p ON p.tablespace = o.destination
		LEFT JOIN unnest(estimates) e ON e.relation = o.relation
			AND e.destination = o.destination
	), cells AS (
		SELECT array_agg(c.n ORDER BY c.n, c.place) AS n,
			array_agg(c.place ORDER BY c.n, c.place) AS place,
			array_agg(c.saved ORDER BY c.n, c.place) AS saved,
			array_agg(c.seconds ORDER BY c.n, c.place) AS seconds
		FROM cell c
	), table_time AS (
		SELECT array_agg(t.bytes ORDER BY t.n) AS bytes,
			array_agg(coalesce(r.read_ms, 0) ORDER BY t.n) AS read_ms
		FROM tables t
		LEFT JOIN
			(SELECT a.table_relation, min(e.table_read_ms_per_s) AS read_ms
				FROM unnest(estimates) e JOIN unnest(relations) a ON a.relation = e.relation
				WHERE e.destination IS NULL GROUP BY a.table_relation) r
			ON r.table_relation = t.table_relation
	), planned AS (
		/* of a bundle the lower ends of the intervals together */
		SELECT x.*, c.saved, c.goes_down, c.reason,
			sum(c.low) OVER (PARTITION BY nullif(x.bundle, 0)) AS low
		FROM items s
		CROSS JOIN cells l
		CROSS JOIN room
		CROSS JOIN table_time t
		CROSS JOIN LATERAL tablespace_advisor.plan_moves(
			s.present, s.sizes, s.moved, l.n, l.place, l.saved,
			array(SELECT p.room FROM place p ORDER BY p.place), room.free,
			coalesce(budget_bytes, 4611686018427387904), s.tables, l.seconds,
			t.read_ms, t.bytes) x
		JOIN cell c ON c.n = x.item AND c.place = x.place
	)
	SELECT i.relation, p.tablespace, 'move',
		CASE WHEN f.finding IS NULL THEN
			concat_ws('; ', coalesce('makes room for ' || up.relation,
				'makes room for others of its bundle'), x.reason) END,
		NULL, x.saved, i.moved_bytes, x.bound, x.is_exact,
		CASE WHEN f.finding IS NULL OR f.finding = 'faster' THEN x.nth END,
		nullif(x.bundle, 0), up.relation, x.price * 1073741824, f.finding
	FROM planned x
	JOIN item i ON i.n = x.item
	JOIN place p ON p.place = x.place
	LEFT JOIN item up ON up.n = x.makes_room_for
	CROSS JOIN LATERAL (SELECT CASE
		WHEN x.verdict = 3 THEN 'no order'
		WHEN x.verdict = 0 AND x.low > 0 THEN CASE WHEN NOT x.goes_down THEN 'faster' END
		WHEN x.goes_down THEN 'stays'
		WHEN x.verdict = 1 THEN 'bundle saves too little'
		WHEN x.verdict = 2 THEN 'bundle not repaid'
		ELSE 'bundle within noise' END AS finding) f
	WHERE f.finding IS DISTINCT FROM 'stays'
$$;
COMMENT ON FUNCTION tablespace_advisor.choose_moves(tablespace_advisor.placement_choice[], tablespace_advisor.placement_choice[], tablespace_advisor.placement_choice[], tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], bigint) IS
	'of candidates (what would save) and demotions (what could make room for them) those to move, each to one tablespace, so that they fit into the room of each and what saves into the budget (NULL: no limit); bound_ms_per_s: no choice saves more; is_exact: none saves more than this one; turn is NULL where a move is not made, and finding says why';
