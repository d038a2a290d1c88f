/*
 * src/advise/offers.sql
 *
 * Possible moves, up and down, and the verdicts on all other relations.
 *
 * How long the lists are is not known when these are planned: joins of lists are
 * not to be nested loops.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
/* Relations worth moving if bytes were free: a row per tablespace. */
CREATE FUNCTION tablespace_advisor.move_candidates(
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	destination name)
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT a.relation, e.destination, 'move', e.saved_ms_per_s,
		e.moved_bytes,
		NULL::int, NULL::int, NULL::regclass, NULL::float8, 'faster'
	FROM (SELECT tablespace_advisor.other_bottleneck(load) AS bottleneck OFFSET 0) o
	CROSS JOIN tablespace_advisor.elements(estimates) e
	JOIN tablespace_advisor.elements(relations) a ON a.relation = e.relation
	JOIN unnest(tablespaces) s ON s.tablespace = a.tablespace
	JOIN unnest(tablespaces) d ON d.tablespace = e.destination
	WHERE ($5 IS NULL OR e.destination = $5)
		AND e.is_faster AND e.saved_low_ms_per_s > 0
		AND tablespace_advisor.index_finding(a) IS NULL
		AND tablespace_advisor.move_finding(a, e, s, d, load, $5, o.bottleneck) = 'faster'
$$;
COMMENT ON FUNCTION tablespace_advisor.move_candidates(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name) IS
	'per relation the tablespaces that it would be worth moving to if bytes were free';

/*
 * Relations that could make room for others: all where reads are faster, or as
 * fast.  Relations that no sample has seen read cost nothing.  Standbys read, too,
 * and are not asked.
 */
CREATE FUNCTION tablespace_advisor.demotion_offers(
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact)
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH way AS MATERIALIZED (
		SELECT s.tablespace AS source, d.tablespace AS destination
		FROM unnest(tablespaces) s CROSS JOIN unnest(tablespaces) d
		WHERE s.random_read_us IS NOT NULL AND d.random_read_us IS NOT NULL
			AND d.may_create AND d.volatile IS NOT TRUE
			AND (d.tablespace = ANY (s.shares_device_with)) IS NOT TRUE
	)
	SELECT a.relation, e.destination, 'move',
		least(0, coalesce(e.saved_ms_per_s, 0)), e.moved_bytes,
		NULL::int, NULL::int, NULL::regclass, NULL::float8, 'makes room'
	FROM tablespace_advisor.elements(estimates) e
	JOIN tablespace_advisor.elements(relations) a ON a.relation = e.relation
	JOIN way ON way.source = a.tablespace AND way.destination = e.destination
	WHERE a.obstacle IS NULL AND a.moving_job IS NULL
		AND a.unusable IS NULL AND a.duplicate_of IS NULL
		AND (e.destination = ANY (a.left_lately)) IS NOT TRUE
		AND e.destination IS NOT NULL
		AND (e.is_faster IS NOT TRUE OR e.saved_ms_per_s <= 0)
		AND (e.saved_ms_per_s IS NOT NULL OR coalesce(a.reads_per_s, 0) = 0)
		AND e.is_saturated IS NOT TRUE
$$;
COMMENT ON FUNCTION tablespace_advisor.demotion_offers(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact) IS
	'per relation the tablespaces in which it would be read no faster, that could take it so that it makes room for others';

/*
 * Tablespaces over their mark: the relations to move away so that least is
 * lost.  It is the same choice with the sign turned: the chosen ones stay.
 * All of it goes to the fastest other tablespace with room for all.
 */
CREATE FUNCTION tablespace_advisor.choose_evictions(
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[])
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH over AS (
		SELECT f.tablespace, -f.available_bytes AS bytes,
			(SELECT d.tablespace FROM unnest(tablespaces) d
				WHERE d.tablespace <> f.tablespace
					AND d.tablespace <> ALL (f.shares_device_with)
					AND d.random_read_us IS NOT NULL AND d.may_create
					AND d.volatile IS NOT TRUE
					AND d.available_bytes >= -f.available_bytes
				ORDER BY d.random_read_us, d.tablespace LIMIT 1) AS destination
		FROM unnest(tablespaces) f WHERE f.available_bytes < 0
	), movable AS (
		SELECT o.tablespace, o.destination, o.bytes AS needed, a.relation,
			a.size_bytes, e.saved_ms_per_s,
			/* of those that cost nothing the smaller goes first */
			greatest(0, -e.saved_ms_per_s) + a.size_bytes / 1e15 AS lost
		FROM over o
		JOIN tablespace_advisor.elements(relations) a ON a.tablespace = o.tablespace
		JOIN tablespace_advisor.elements(estimates) e ON e.relation = a.relation
			AND e.destination = o.destination
		WHERE a.obstacle IS NULL AND a.moving_job IS NULL
			AND e.saved_ms_per_s IS NOT NULL
			AND (a.unusable IS NULL AND a.duplicate_of IS NULL)
	), listed AS (
		SELECT m.tablespace, m.destination, m.needed,
			array_agg(m.relation ORDER BY m.relation) AS relation,
			array_agg(m.size_bytes ORDER BY m.relation) AS size_bytes,
			array_agg(m.lost ORDER BY m.relation) AS lost,
			sum(m.size_bytes) AS total
		FROM movable m GROUP BY 1, 2, 3
	)
	SELECT m.relation, m.destination, 'move',
		m.saved_ms_per_s, m.size_bytes,
		NULL::int, NULL::int, NULL::regclass, NULL::float8, 'too full'
	FROM listed l
	CROSS JOIN LATERAL unnest(l.relation, tablespace_advisor.choose_within(
		l.size_bytes, l.lost, greatest(0, l.total - l.needed)::bigint)) c (relation, stays)
	JOIN movable m ON m.relation = c.relation
	WHERE NOT c.stays
$$;
COMMENT ON FUNCTION tablespace_advisor.choose_evictions(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[]) IS
	'moves out of tablespaces that are over their mark (available_bytes below 0), and where to';

/*
 * Of several tablespaces that a relation could be in, the one that its advice
 * speaks of: one it would gain in, or could, or would have to be probed.
 */
CREATE FUNCTION tablespace_advisor.destination_order(
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact)
RETURNS int
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE
		WHEN dest.volatile THEN 5
		WHEN NOT dest.may_create THEN 6
		WHEN dest.tablespace = ANY (source.shares_device_with) THEN
			CASE WHEN dest.random_read_us IS NULL THEN 4 ELSE 3 END
		WHEN dest.random_read_us IS NULL THEN 2
		ELSE 1 END;
END;
COMMENT ON FUNCTION tablespace_advisor.destination_order(tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact) IS
	'how near a tablespace is to one that a relation could move to: 1 is nearest';

/* The verdict on each relation that is neither moved nor evicted. */
CREATE FUNCTION tablespace_advisor.other_verdicts(
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	destination name,
	candidates tablespace_advisor.placement_choice[],
	moves tablespace_advisor.placement_choice[])
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH way AS MATERIALIZED (
		SELECT s.tablespace AS source, coalesce(d.tablespace, '') AS destination,
			rank() OVER (PARTITION BY s.tablespace ORDER BY d.tablespace IS NULL,
				tablespace_advisor.destination_order(s, d)) AS class,
			row_number() OVER (PARTITION BY s.tablespace ORDER BY d.random_read_us,
				starts_with(d.tablespace::text, 'pg_'), d.tablespace) AS nth
		FROM unnest(tablespaces) s
		CROSS JOIN (SELECT f.* FROM unnest(tablespaces) f UNION ALL
			SELECT (NULL::tablespace_advisor.tablespace_fact).*) d
	), nearest AS MATERIALIZED (
		SELECT DISTINCT ON (e.relation) e.relation, coalesce(e.destination, '') AS destination
		/* OFFSET: first the rows that belong together */
		FROM (SELECT e.relation, e.destination, e.saved_ms_per_s, a.tablespace
			FROM tablespace_advisor.elements(estimates) e
			JOIN tablespace_advisor.elements(relations) a ON a.relation = e.relation
			WHERE (e.destination IS NULL OR $5 IS NULL OR e.destination = $5)
				AND a.relation NOT IN
					(SELECT m.relation FROM tablespace_advisor.elements(moves) m
						WHERE m.turn IS NOT NULL OR m.finding = 'too full') OFFSET 0) e
		JOIN way w ON w.source = e.tablespace AND w.destination = coalesce(e.destination, '')
		ORDER BY e.relation, w.class, e.saved_ms_per_s DESC NULLS LAST, w.nth
	), no_room AS MATERIALIZED (
		SELECT DISTINCT ON (c.relation) c.relation, c.destination
		FROM tablespace_advisor.elements(candidates) c ORDER BY c.relation, c.saved_ms_per_s DESC
	), found AS MATERIALIZED (
		SELECT a.relation, coalesce(c.destination, e.destination) AS destination,
			coalesce(tablespace_advisor.index_finding(a),
				CASE WHEN c.relation IS NOT NULL THEN 'no room' END,
				tablespace_advisor.move_finding(a, e, s, d, load, $5, o.bottleneck)) AS finding,
			tablespace_advisor.is_bloated(a) AS is_bloated
		FROM (SELECT tablespace_advisor.other_bottleneck(load) AS bottleneck OFFSET 0) o
		CROSS JOIN nearest n
		JOIN tablespace_advisor.elements(relations) a ON a.relation = n.relation
		JOIN tablespace_advisor.elements(estimates) e ON e.relation = n.relation
			AND coalesce(e.destination, '') = n.destination
		JOIN unnest(tablespaces) s ON s.tablespace = a.tablespace
		LEFT JOIN unnest(tablespaces) d ON d.tablespace = n.destination
		LEFT JOIN no_room c ON c.relation = a.relation
	)
	SELECT f.relation, f.destination, CASE WHEN m.relation IS NULL
			THEN tablespace_advisor.finding_action(b.finding) ELSE 'keep' END,
		NULL::float8, NULL::bigint,
		NULL::int, NULL::int, NULL::regclass, NULL::float8, coalesce(m.finding, b.finding)
	FROM found f
	LEFT JOIN tablespace_advisor.elements(moves) m ON m.relation = f.relation
	CROSS JOIN LATERAL (SELECT CASE WHEN f.is_bloated AND f.finding <> 'no room'
			AND tablespace_advisor.finding_action(f.finding) = 'keep'
			AND f.finding NOT IN ('being built', 'under way')
		THEN 'bloated' ELSE f.finding END AS finding) b
$$;
COMMENT ON FUNCTION tablespace_advisor.other_verdicts(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name, tablespace_advisor.placement_choice[], tablespace_advisor.placement_choice[]) IS
	'what to do with each relation that is not among the moves that are made; candidates: moves that would be worth it, moves: those that were chosen, and why some of them are not made (turn is NULL)';
