/*
 * src/advise/placement.sql
 *
 * From facts to advice: estimate, verdict, choice under a budget.  These
 * functions look at nothing but their arguments, so that advice can be tested
 * and replayed on facts written down by hand.
 */
/* What would be worth moving if bytes were free: a row per tablespace. */
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
	SELECT a.relation, e.destination, v.action, v.reason, v.statement,
		e.saved_ms_per_s, e.moved_bytes, NULL::float8, NULL::boolean,
		NULL::int, NULL::int, NULL::regclass, NULL::float8
	FROM (SELECT tablespace_advisor.other_bottleneck(load) AS bottleneck) o
	CROSS JOIN unnest(estimates) e
	JOIN unnest(relations) a ON a.relation = e.relation
	JOIN unnest(tablespaces) s ON s.tablespace = a.tablespace
	JOIN unnest(tablespaces) d ON d.tablespace = e.destination
	CROSS JOIN LATERAL tablespace_advisor.move_verdict(
		a, e, s, d, $5, o.bottleneck) v
	WHERE ($5 IS NULL OR e.destination = $5)
		AND e.is_faster AND e.saved_low_ms_per_s > 0
		AND (tablespace_advisor.index_verdict(a)).action IS NULL
		AND v.action = 'move'
$$;
COMMENT ON FUNCTION tablespace_advisor.move_candidates(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name) IS
	'per relation the tablespaces that it would be worth moving to if bytes were free';

/*
 * What could make room for others: whatever is where reads are faster, or as
 * fast.  Relations that no sample has seen read cost nothing.  Standbys read,
 * too, and are not asked.
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
	SELECT a.relation, e.destination, 'move',
		'reads on ' || load.standbys || ' are not counted',
		NULL, least(0, coalesce(e.saved_ms_per_s, 0)), e.moved_bytes, NULL::float8,
		NULL::boolean, NULL::int, NULL::int, NULL::regclass, NULL::float8
	FROM unnest(estimates) e
	JOIN unnest(relations) a ON a.relation = e.relation
	JOIN unnest(tablespaces) s ON s.tablespace = a.tablespace
	JOIN unnest(tablespaces) d ON d.tablespace = e.destination
	WHERE a.obstacle IS NULL AND a.unusable IS NULL AND a.duplicate_of IS NULL
		AND s.random_read_us IS NOT NULL AND d.random_read_us IS NOT NULL
		AND d.may_create AND d.volatile IS NOT TRUE
		AND (d.tablespace = ANY (s.shares_device_with)) IS NOT TRUE
		AND (d.tablespace = ANY (a.left_lately)) IS NOT TRUE
		AND (e.is_faster IS NOT TRUE OR e.saved_ms_per_s <= 0)
		AND (e.saved_ms_per_s IS NOT NULL OR coalesce(a.reads_per_s, 0) = 0)
		AND e.is_saturated IS NOT TRUE
$$;
COMMENT ON FUNCTION tablespace_advisor.demotion_offers(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact) IS
	'per relation the tablespaces in which it would be read no faster, that could take it so that it makes room for others';

/*
 * Tablespaces over their mark: what to move away so that least is lost.  It
 * is the same choice with the sign turned, what stays being what is chosen.
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
			/* of what costs nothing the smaller goes first */
			greatest(0, -e.saved_ms_per_s) + a.size_bytes / 1e15 AS lost
		FROM over o
		JOIN unnest(relations) a ON a.tablespace = o.tablespace
		JOIN unnest(estimates) e ON e.relation = a.relation
			AND e.destination = o.destination
		WHERE a.obstacle IS NULL AND e.saved_ms_per_s IS NOT NULL
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
		format('its tablespace is too full by %s: moving this away costs least',
			pg_size_pretty(m.needed)),
		NULL, m.saved_ms_per_s, m.size_bytes, NULL::float8, k.is_exact,
		NULL::int, NULL::int, NULL::regclass, NULL::float8
	FROM listed l
	CROSS JOIN LATERAL tablespace_advisor.choose_within(
		l.size_bytes, l.lost, greatest(0, l.total - l.needed)::bigint) k
	CROSS JOIN LATERAL unnest(l.relation, k.chosen) c (relation, stays)
	JOIN movable m ON m.relation = c.relation
	WHERE NOT c.stays
$$;
COMMENT ON FUNCTION tablespace_advisor.choose_evictions(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[]) IS
	'what to move out of tablespaces that are over their mark (available_bytes below 0), and where to';

/*
 * Of several tablespaces that a relation could be in, the one that its advice
 * speaks of: one it would gain in, or could, or would have to be probed.
 */
CREATE FUNCTION tablespace_advisor.destination_order(
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact)
RETURNS int
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN dest.volatile THEN 5
		WHEN NOT dest.may_create THEN 6
		WHEN dest.tablespace = ANY (source.shares_device_with) THEN
			CASE WHEN dest.random_read_us IS NULL THEN 4 ELSE 3 END
		WHEN dest.random_read_us IS NULL THEN 2
		ELSE 1 END
$$;
COMMENT ON FUNCTION tablespace_advisor.destination_order(tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact) IS
	'how near a tablespace is to one that a relation could move to: 1 is nearest';

/* The verdict on each relation that is neither moved nor evicted. */
CREATE FUNCTION tablespace_advisor.other_verdicts(
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	destination name,
	candidates tablespace_advisor.placement_choice[])
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH nearest AS (
		SELECT DISTINCT ON (e.relation) a AS fact, e AS estimate, s AS source, d AS dest
		FROM unnest(estimates) e
		JOIN unnest(relations) a ON a.relation = e.relation
		JOIN unnest(tablespaces) s ON s.tablespace = a.tablespace
		LEFT JOIN unnest(tablespaces) d ON d.tablespace = e.destination
		WHERE e.destination IS NULL OR $5 IS NULL OR e.destination = $5
		ORDER BY e.relation, e.destination IS NULL,
			tablespace_advisor.destination_order(s, d),
			e.saved_ms_per_s DESC NULLS LAST, d.random_read_us,
			starts_with(d.tablespace::text, 'pg_'), d.tablespace
	), no_room AS (
		SELECT DISTINCT ON (c.relation) c.relation, c.destination, c.bytes, c.saved_ms_per_s
		FROM unnest(candidates) c ORDER BY c.relation, c.saved_ms_per_s DESC
	)
	SELECT (n.fact).relation, coalesce(c.destination, (n.estimate).destination),
		coalesce(i.action, CASE WHEN c.relation IS NOT NULL THEN 'keep' END, v.action),
		CASE WHEN i.action IS NOT NULL THEN i.reason
			WHEN c.relation IS NOT NULL THEN
				format('no room for its %s in the budget or the tablespace; would save %s %%',
					pg_size_pretty(c.bytes), tablespace_advisor.two_digits(
						(SELECT e.saved_percent FROM unnest(estimates) e
							WHERE e.relation = c.relation AND e.destination = c.destination)))
			ELSE v.reason END,
		CASE WHEN i.action IS NOT NULL THEN i.statement
			WHEN c.relation IS NULL THEN v.statement END,
		NULL::float8, NULL::bigint, NULL::float8, NULL::boolean,
		NULL::int, NULL::int, NULL::regclass, NULL::float8
	FROM (SELECT tablespace_advisor.other_bottleneck(load) AS bottleneck) o
	CROSS JOIN nearest n
	LEFT JOIN no_room c ON c.relation = (n.fact).relation
	CROSS JOIN LATERAL tablespace_advisor.index_verdict(n.fact) i
	CROSS JOIN LATERAL tablespace_advisor.move_verdict(
		n.fact, n.estimate, n.source, n.dest, $5, o.bottleneck) v
$$;
COMMENT ON FUNCTION tablespace_advisor.other_verdicts(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name, tablespace_advisor.placement_choice[]) IS
	'per relation what to do with it if it is not moved; candidates: moves that were not chosen for want of room';

CREATE FUNCTION tablespace_advisor.move_statement(relation regclass, kind text, destination name, is_bloated boolean)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('CALL %s.%s(target => %L::pg_catalog.regclass, tablespace => %L::pg_catalog.name%s)',
		'@extschema@',
		CASE kind WHEN 'heap' THEN 'move_table_concurrently'
			ELSE 'move_indexes_concurrently' END,
		relation, destination,
		CASE WHEN is_bloated THEN ', method => ''rebuild''::pg_catalog.text' ELSE '' END)
$$;
COMMENT ON FUNCTION tablespace_advisor.move_statement(regclass, text, name, boolean) IS
	'the call that moves a relation, with typed literals so that no function of others fits better';

/* What the numbers of a row rest on. */
CREATE FUNCTION tablespace_advisor.row_evidence(
	a tablespace_advisor.relation_fact,
	e tablespace_advisor.placement_estimate,
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact,
	here tablespace_advisor.load_estimate,
	load tablespace_advisor.load_fact,
	choice tablespace_advisor.placement_choice)
RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT jsonb_strip_nulls(jsonb_build_object(
		'window', jsonb_build_object('source', load.source,
			'start', load.window_start, 'end', load.window_end,
			'seconds', load.seconds, 'intervals', load.intervals,
			'was_reset', load.was_reset, 'snapshots', load.snapshots,
			'reading_snapshots', load.reading_snapshots,
			'active_sessions', load.active_sessions,
			'reading_sessions', load.reading_sessions, 'waits', load.waits,
			'timed_read_us', load.timed_read_us, 'standbys', load.standbys),
		'activity', jsonb_build_object('reads_per_s', a.reads_per_s,
			'maintenance_reads_per_s', a.maintenance_reads_per_s,
			'hits_per_s', a.hits_per_s, 'writes_per_s', a.writes_per_s,
			'hot_fraction', a.hot_fraction, 'tuples_per_scan', a.tuples_per_scan,
			'scans', a.scans, 'writes', a.writes, 'counted_days', a.counted_days),
		'size', jsonb_build_object('bytes', a.size_bytes,
			'toast_bytes', nullif(a.toast_bytes, 0),
			'rebuilt_bytes', a.rebuilt_bytes, 'brin_bytes', a.brin_bytes,
			'correlation', a.correlation),
		'index', jsonb_build_object('needed_for', a.needed_for,
			'duplicate_of', a.duplicate_of, 'unusable', a.unusable,
			'expression', a.expression),
		'from', jsonb_build_object('tablespace', a.tablespace, 'run_id', source.run_id,
			'random_read_us', source.random_read_us,
			'random_read_low_us', source.random_read_low_us,
			'random_read_high_us', source.random_read_high_us,
			'latency_from', here.latency_from, 'present_read_us', source.present_read_us,
			'present_intervals', source.present_intervals,
			'depth', here.depth, 'probed_us', here.probed_us,
			'device_us', here.device_us, 'device_low_us', here.device_low_us,
			'device_high_us', here.device_high_us, 'cached_us', here.cached_us,
			'cache_exponent', here.cache_exponent,
			'cache_correction', here.cache_correction,
			'time_correction', here.time_correction, 'coverage', here.coverage,
			'system_cached', a.system_cached, 'device_share', e.device_share),
		'to', CASE WHEN dest.tablespace IS NOT NULL THEN jsonb_build_object(
			'tablespace', dest.tablespace, 'run_id', dest.run_id,
			'latency_from', CASE WHEN dest.random_read_us IS NOT NULL
				THEN coalesce(dest.latency_from, 'probe') END,
			'present_read_us', dest.present_read_us,
			'random_read_us', dest.random_read_us,
			'random_read_low_us', dest.random_read_low_us,
			'random_read_high_us', dest.random_read_high_us,
			'depth', e.destination_depth, 'device_us', e.destination_us,
			'max_reads_per_s', e.max_reads_per_s,
			'available_bytes', dest.available_bytes,
			'shares_device', dest.tablespace = ANY (source.shares_device_with),
			'volatile', dest.volatile, 'may_create', dest.may_create) END,
		'estimate', jsonb_build_object('read_ms_per_s', e.read_ms_per_s,
			'table_read_ms_per_s', e.table_read_ms_per_s,
			'saved_ms_per_s', e.saved_ms_per_s, 'saved_percent', e.saved_percent,
			'saved_low', e.saved_low_ms_per_s, 'saved_high', e.saved_high_ms_per_s,
			'extra_write_ms_per_s', e.extra_write_ms_per_s,
			'write_workload', CASE WHEN e.extra_write_ms_per_s IS NOT NULL
				THEN dest.write_workload END,
			'obstacle', a.obstacle),
		'move', CASE WHEN dest.tablespace IS NOT NULL THEN jsonb_build_object(
			'bytes', e.moved_bytes, 'peak_bytes', a.size_bytes + e.moved_bytes,
			'wal_bytes', round((e.moved_bytes * coalesce(load.wal_per_byte, 1))::numeric),
			'seconds', e.move_seconds,
			'method', CASE WHEN tablespace_advisor.is_bloated(a) THEN 'rebuild' END,
			'measured_bytes_per_s', dest.copy_rates -> a.tablespace::text) END,
		'choice', CASE WHEN choice.is_exact IS NOT NULL THEN jsonb_build_object(
			'is_exact', choice.is_exact,
			'bound_ms_per_s', choice.bound_ms_per_s,
			'bundle', choice.bundle, 'makes_room_for', choice.makes_room_for,
			'ms_per_s_and_gb', nullif(choice.ms_per_s_and_gb, 0)) END))
$$;
COMMENT ON FUNCTION tablespace_advisor.row_evidence(tablespace_advisor.relation_fact, tablespace_advisor.placement_estimate, tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact, tablespace_advisor.load_estimate, tablespace_advisor.load_fact, tablespace_advisor.placement_choice) IS
	'what the numbers of one row of advice rest on, as placement_evidence() shows it; unknown values are left out';

CREATE FUNCTION tablespace_advisor.judge_placement(
	relations tablespace_advisor.relation_fact[],
	considered regclass[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	destination name,
	budget_bytes bigint,
	with_evictions boolean DEFAULT false,
	with_evidence boolean DEFAULT true)
RETURNS TABLE (advice @extschema@.placement_advice, evidence jsonb)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	wanted tablespace_advisor.relation_fact[];
	everything tablespace_advisor.placement_estimate[];
	estimates tablespace_advisor.placement_estimate[];
	candidates tablespace_advisor.placement_choice[];
	evicted tablespace_advisor.placement_choice[] := '{}';
	moves tablespace_advisor.placement_choice[];
	/* milliseconds per second that the database spends on reading */
	database_ms float8;
BEGIN
	wanted := array(SELECT a FROM unnest(relations) a
		JOIN unnest(considered) c ON c = a.relation);
	everything := array(SELECT e
		FROM tablespace_advisor.estimate_placement(relations, tablespaces, load) e);
	database_ms := (SELECT greatest(sum(e.read_ms_per_s),
			CASE WHEN bool_or(e.read_ms_per_s IS NULL) THEN load.read_ms_per_s END)
		FROM unnest(everything) e WHERE e.destination IS NULL);
	estimates := array(SELECT e
		FROM unnest(everything) e
		JOIN unnest(considered) c ON c = e.relation
		JOIN unnest(relations) a ON a.relation = e.relation
		LEFT JOIN unnest(tablespaces) d ON d.tablespace = e.destination
		/* what is known by its counters only is for who names it, or a last resort */
		WHERE judge_placement.destination IS NOT NULL
			OR d.latency_from IS NULL OR d.latency_from = 'probe'
			OR NOT EXISTS (SELECT FROM unnest(tablespaces) p
				WHERE p.random_read_us IS NOT NULL
					AND coalesce(p.latency_from, 'probe') = 'probe'
					AND p.tablespace <> a.tablespace
					AND a.tablespace <> ALL (p.shares_device_with)));
	IF with_evictions THEN
		evicted := array(SELECT c FROM tablespace_advisor.choose_evictions(
			wanted, estimates, tablespaces) c);
	END IF;
	candidates := array(SELECT c FROM tablespace_advisor.move_candidates(
			wanted, estimates, tablespaces, load, destination) c
		WHERE c.relation NOT IN (SELECT m.relation FROM unnest(evicted) m));
	moves := array(SELECT c FROM tablespace_advisor.choose_moves(candidates,
		array(SELECT c FROM tablespace_advisor.demotion_offers(
				wanted, estimates, tablespaces, load) c
			WHERE c.relation NOT IN (SELECT m.relation FROM unnest(evicted) m)
				AND (c.relation, c.destination) NOT IN
					(SELECT o.relation, o.destination FROM unnest(candidates) o)),
		evicted, relations, estimates, tablespaces, budget_bytes) c);

	RETURN QUERY
		WITH chosen AS (
			SELECT m.*, row_number() OVER (ORDER BY
				m.turn NULLS FIRST,
				m.saved_ms_per_s / nullif(m.bytes, 0) DESC NULLS FIRST,
				m.relation::text COLLATE "C")::int AS rank
			FROM (SELECT e.* FROM unnest(evicted) e
				UNION ALL SELECT m.* FROM unnest(moves) m WHERE m.turn IS NOT NULL) m
		), decided AS (
			SELECT c.* FROM chosen c
			UNION ALL
			SELECT o.relation, o.destination, CASE WHEN m.relation IS NULL THEN o.action ELSE 'keep' END,
				coalesce(m.reason, o.reason),
				CASE WHEN m.relation IS NULL THEN o.statement END, o.saved_ms_per_s, o.bytes,
				o.bound_ms_per_s, o.is_exact, o.turn, o.bundle, o.makes_room_for,
				o.ms_per_s_and_gb, NULL
			FROM tablespace_advisor.other_verdicts(
				array(SELECT a FROM unnest(wanted) a
					WHERE NOT EXISTS (SELECT FROM chosen c WHERE c.relation = a.relation)),
				estimates, tablespaces, load, destination, candidates) o
			LEFT JOIN unnest(moves) m ON m.relation = o.relation AND m.turn IS NULL
		), ordered AS (
			SELECT d.*, row_number() OVER (PARTITION BY d.action
				ORDER BY h.read_ms_per_s DESC NULLS LAST, a.kind DESC,
					a.relation::text COLLATE "C") AS nth
			FROM decided d
			JOIN unnest(wanted) a ON a.relation = d.relation
			JOIN unnest(estimates) h ON h.relation = d.relation AND h.destination IS NULL
		), probes AS (
			/* one statement, in the first row that asks for it */
			SELECT tablespace_advisor.probe_statement(
				VARIADIC array_agg(DISTINCT n.tablespace)) AS statement
			FROM decided d
			JOIN unnest(wanted) a ON a.relation = d.relation
			JOIN unnest(estimates) h ON h.relation = d.relation AND h.destination IS NULL
			CROSS JOIN LATERAL
				unnest(h.not_probed || ARRAY[a.tablespace, d.destination]) n (tablespace)
			LEFT JOIN unnest(tablespaces) f ON f.tablespace = n.tablespace
			WHERE d.action = 'probe first'
				AND (f.tablespace IS NULL OR tablespace_advisor.to_be_probed(f) IS NOT NULL)
		)
		SELECT ROW(d.rank, d.action, a.relation, a.tablespace,
				CASE d.action WHEN 'move' THEN d.destination
					WHEN 'drop candidate' THEN NULL
					ELSE a.tablespace END,
				a.size_bytes,
				tablespace_advisor.round_to_three(s.saved_ms_per_s),
				tablespace_advisor.round_to_three(100 * s.saved_ms_per_s
					/ nullif(database_ms, 0)),
				tablespace_advisor.one_line(d.reason),
				CASE d.action WHEN 'move' THEN tablespace_advisor.move_statement(
						a.relation, a.kind, d.destination, tablespace_advisor.is_bloated(a))
					WHEN 'probe first' THEN CASE d.nth WHEN 1 THEN q.statement END
					ELSE d.statement END,
				a.kind,
				tablespace_advisor.round_to_three(a.reads_per_s),
				tablespace_advisor.round_to_three(a.writes_per_s),
				tablespace_advisor.round_to_three((a.hits_per_s
					+ a.reads_per_s * (1 - h.device_share))
					/ nullif(a.hits_per_s + a.reads_per_s, 0)),
				tablespace_advisor.round_to_three(h.read_ms_per_s),
				tablespace_advisor.round_to_three(e.move_seconds)
			)::@extschema@.placement_advice,
			CASE WHEN with_evidence THEN
				tablespace_advisor.row_evidence(a, coalesce(e, h), f, t, l, load,
					ROW(d.relation, d.destination, d.action, d.reason, d.statement,
						d.saved_ms_per_s, d.bytes, d.bound_ms_per_s, d.is_exact, d.turn,
						d.bundle, d.makes_room_for, d.ms_per_s_and_gb))
				|| jsonb_build_object('not_probed', n.names)
			END
		FROM ordered d
		CROSS JOIN probes q
		JOIN unnest(wanted) a ON a.relation = d.relation
		JOIN unnest(estimates) h ON h.relation = d.relation AND h.destination IS NULL
		LEFT JOIN unnest(estimates) e ON e.relation = d.relation
			AND e.destination = d.destination
		LEFT JOIN unnest(tablespaces) f ON f.tablespace = a.tablespace
		LEFT JOIN unnest(tablespaces) t ON t.tablespace = d.destination
		LEFT JOIN tablespace_advisor.estimate_load(relations, tablespaces, load) l
			ON l.tablespace = a.tablespace
		CROSS JOIN
			(SELECT coalesce(jsonb_agg(u.tablespace ORDER BY u.tablespace), '[]') AS names
				FROM unnest(tablespaces) u WHERE u.random_read_us IS NULL) n
		/* what is not moved saves nothing, as far as anything is known of it */
		CROSS JOIN LATERAL (SELECT CASE
			WHEN d.action = 'move' THEN d.saved_ms_per_s
			WHEN d.action = 'probe first' THEN NULL
			WHEN h.read_ms_per_s IS NOT NULL THEN 0 END AS saved_ms_per_s) s
		ORDER BY d.rank, h.read_ms_per_s DESC NULLS LAST, a.kind DESC,
			a.relation::text COLLATE "C";
END
$$;
COMMENT ON FUNCTION tablespace_advisor.judge_placement(tablespace_advisor.relation_fact[], regclass[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name, bigint, boolean, boolean) IS
	'advice on the relations considered, from facts handed over: relations must hold all of their tables, and all that is read in the database if reads were timed; destination NULL: any of the tablespaces; budget_bytes: what moves may fill (NULL: no limit); with_evictions: also relieve tablespaces that are over their mark; with_evidence: else evidence is NULL';
