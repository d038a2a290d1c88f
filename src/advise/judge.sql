/*
 * src/advise/judge.sql
 *
 * The finding on one relation if bytes were free, as a word; verdicts.sql has the
 * action and the sentence.  The order of the cases matters: faults on any storage
 * come first, those that would only spoil a good move last.
 *
 * These are asked of every relation in every tablespace: their bodies are such
 * that the planner puts them into the query.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */

/* A month end is the commonest work that comes round rarely. */
CREATE FUNCTION tablespace_advisor.business_cycle_days()
RETURNS int
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT 31;
END;
COMMENT ON FUNCTION tablespace_advisor.business_cycle_days() IS
	'days that counters must cover before an index without scans is called unused';

CREATE FUNCTION tablespace_advisor.probes_statement(tablespaces name[], arguments text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT string_agg(format('SELECT * FROM %s(%s%s);',
			tablespace_advisor.written_call('probe_tablespace'),
			tablespace_advisor.written_argument('probe_tablespace', t.name, 'name'), arguments),
		' ' ORDER BY t.n)
	FROM unnest(tablespaces) WITH ORDINALITY t (name, n)
	WHERE t.name NOT IN (SELECT a.tablespace FROM tablespace_advisor.assumed_tablespaces() a)
$$;
COMMENT ON FUNCTION tablespace_advisor.probes_statement IS
	'the calls that measure tablespaces, but for assumed ones; arguments: more of them, each with a comma before it';

CREATE FUNCTION tablespace_advisor.probe_statement(VARIADIC tablespaces name[])
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.probes_statement(array_remove(tablespaces, NULL), '')
$$;
COMMENT ON FUNCTION tablespace_advisor.probe_statement(name[]) IS
	'the calls that measure these tablespaces; nulls are left out';

/*
 * A probe that was made and is not to be trusted is not asked for again.  Counters
 * or the server's timing stand in for one, as far as they go.
 */
CREATE FUNCTION tablespace_advisor.to_be_probed(f tablespace_advisor.tablespace_fact)
RETURNS name
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE WHEN f.caveat IS NULL AND (f.random_read_us IS NULL
		OR f.latency_from IN ('counters', 'timing')) THEN f.tablespace END;
END;
COMMENT ON FUNCTION tablespace_advisor.to_be_probed(tablespace_advisor.tablespace_fact) IS
	'the tablespace if it was never probed, so that a probe would help; else NULL';

CREATE FUNCTION tablespace_advisor.probe_gap(f tablespace_advisor.tablespace_fact)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE WHEN f.random_read_us IS NULL OR f.latency_from = 'timing'
		THEN concat(quote_ident(f.tablespace), ' (' || f.caveat || ')') END;
END;
COMMENT ON FUNCTION tablespace_advisor.probe_gap(tablespace_advisor.tablespace_fact) IS
	'a tablespace without a probe to rest on, and why its newest is none; NULL for others';

/*
 * Sessions do not wait for reading if, under any chance in the looks at them, less
 * than a tenth of their time goes to it.  Their most frequent wait is returned,
 * else NULL.
 */
CREATE FUNCTION tablespace_advisor.other_bottleneck(load tablespace_advisor.load_fact)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('%s %% of active time is %s, %s %% reading',
		round((100 * w.top / load.active_sessions)::numeric), w.top_event,
		round((100 * w.reading / load.active_sessions)::numeric))
	FROM (SELECT max(e.value::float8) FILTER (WHERE e.key !~ '^IO/DataFile') AS top,
			(array_agg(e.key ORDER BY e.value::float8 DESC, e.key)
				FILTER (WHERE e.key !~ '^IO/DataFile'))[1] AS top_event,
			coalesce(sum(e.value::float8) FILTER (WHERE e.key ~ '^IO/DataFile'), 0) AS reading
		FROM jsonb_each_text(load.waits) e) w
	WHERE load.snapshots >= 20
		AND load.snapshots * load.active_sessions >= 30
		AND w.reading * load.snapshots + 3
			< 0.1 * load.snapshots * load.active_sessions
		AND coalesce(load.read_ms_per_s, 0) < 100 * load.active_sessions
$$;
COMMENT ON FUNCTION tablespace_advisor.other_bottleneck(tablespace_advisor.load_fact) IS
	'the wait of sessions if it is not for storage, as text; NULL when reading takes a tenth of their active time or more, or too little was seen to say';

/* Whether an index has grown to twice its need, and by 8 MB or more. */
CREATE FUNCTION tablespace_advisor.is_bloated(a tablespace_advisor.relation_fact)
RETURNS boolean
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT coalesce(a.rebuilt_bytes < a.size_bytes / 2
		AND a.size_bytes - a.rebuilt_bytes >= 8 * 1048576, false);
END;
COMMENT ON FUNCTION tablespace_advisor.is_bloated(tablespace_advisor.relation_fact) IS
	'whether an index takes twice its size after a rebuild, and 8 MB more';

/*
 * Faults of an index in any tablespace.  A BRIN index is spoken of where it would
 * be 50 times smaller and save 64 MB: less is not worth a DBA's time.
 */
CREATE FUNCTION tablespace_advisor.index_finding(a tablespace_advisor.relation_fact)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE
		WHEN a.moving_job IS NOT NULL THEN 'under way'
		WHEN a.unusable = 'being built' THEN 'being built'
		WHEN a.unusable IS NOT NULL THEN 'invalid'
		WHEN a.duplicate_of IS NOT NULL THEN 'duplicate'
		WHEN a.scans = 0 AND a.writes > 0 AND a.needed_for IS NULL
			AND a.counted_days >= tablespace_advisor.business_cycle_days()
			THEN CASE WHEN a.expression IS NULL THEN 'unused' ELSE 'unused expression' END
		WHEN a.brin_bytes * 50 < a.size_bytes AND a.size_bytes >= 64 * 1048576
			AND abs(a.correlation) >= 0.95 AND a.tuples_per_scan >= 1000
			AND a.needed_for IS NULL
			THEN 'BRIN'
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.index_finding(tablespace_advisor.relation_fact) IS
	'the fault of an index in any tablespace, or that a relation is being moved; NULL: nothing';

/* The rule that bundles of moves follow (bundle.h). */
CREATE FUNCTION tablespace_advisor.saves_too_little(
	saved float8,
	bytes bigint,
	read_ms float8,
	read_bytes float8)
RETURNS boolean
LANGUAGE C IMMUTABLE
AS 'MODULE_PATHNAME', 'tsa_is_too_little';
COMMENT ON FUNCTION tablespace_advisor.saves_too_little(float8, bigint, float8, float8) IS
	'whether a move of so many bytes saves less than 5 % of all reading (read_ms), unless it saves 1 % and more than the share of the bytes of all that is read (NULL: not known)';

CREATE FUNCTION tablespace_advisor.is_repaid(saved float8, seconds float8)
RETURNS boolean
LANGUAGE C STRICT IMMUTABLE
AS 'MODULE_PATHNAME', 'tsa_is_repaid';
COMMENT ON FUNCTION tablespace_advisor.is_repaid(float8, float8) IS
	'whether a move that takes so many seconds saves these in a week, at so many milliseconds per second';

/*
 * Reasons for and against moving it.
 *
 * The server's timing includes reads served by the system's cache: a device takes
 * no less.  So it may show that another tablespace is faster, never that it is not.
 */
CREATE FUNCTION tablespace_advisor.move_finding(
	a tablespace_advisor.relation_fact,
	e tablespace_advisor.placement_estimate,
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact,
	load tablespace_advisor.load_fact,
	destination name,
	bottleneck text)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE
		WHEN a.obstacle IS NOT NULL AND a.reads_per_s IS NULL THEN 'obstacle'
		WHEN a.tablespace = destination THEN 'already there'
		WHEN dest.tablespace IS NULL THEN 'no other tablespace'
		WHEN dest.tablespace = ANY (source.shares_device_with)
			AND (destination IS NOT NULL OR source.random_read_us IS NOT NULL
				OR dest.random_read_us IS NOT NULL) THEN 'same device'
		WHEN dest.volatile THEN 'volatile'
		WHEN NOT dest.may_create THEN 'no CREATE'
		WHEN source.random_read_us IS NULL OR dest.random_read_us IS NULL THEN 'not probed'
		WHEN a.reads_per_s IS NULL THEN 'no window'
		WHEN a.reads_per_s = 0 THEN CASE
			WHEN a.hits_per_s > 0 AND a.maintenance_reads_per_s IS NULL THEN 'in shared buffers'
			WHEN a.maintenance_reads_per_s > 0 THEN 'maintenance only'
			ELSE 'not read' END
		/* a scan waits for blocks read ahead of it, block by block for little */
		WHEN e.device_share <= 0.01 AND ((e.measured IS NOT TRUE AND a.scan_reads_per_s IS NULL)
			OR e.device_share = 0
			OR e.read_ms_per_s * 1000 <= 2 * a.reads_per_s * e.cached_us) THEN 'in system cache'
		WHEN bottleneck IS NOT NULL THEN 'not storage-bound'
		WHEN dest.latency_from = 'timing' OR source.latency_from = 'timing'
			AND (e.is_faster IS NOT TRUE OR e.saved_low_ms_per_s <= 0) THEN 'not probed'
		WHEN e.destination_us > 2 * e.probed_us
			AND (e.is_faster IS NOT TRUE OR e.saved_low_ms_per_s <= 0) THEN 'busy target'
		WHEN e.saved_ms_per_s > 0 AND (e.is_faster IS NOT TRUE OR e.saved_low_ms_per_s <= 0)
			THEN 'within noise'
		WHEN e.is_faster IS NOT TRUE THEN 'not faster'
		WHEN e.is_saturated THEN 'saturated'
		WHEN e.writes_per_s > e.max_writes_per_s THEN 'too many writes'
		WHEN e.saved_percent IS NULL THEN 'table not probed'
		WHEN tablespace_advisor.saves_too_little(e.saved_ms_per_s, e.moved_bytes,
			load.all_read_ms_per_s, load.all_read_bytes) THEN 'too little'
		WHEN NOT tablespace_advisor.is_repaid(e.saved_ms_per_s, e.move_seconds) THEN 'not repaid'
		WHEN dest.tablespace = ANY (a.left_lately) THEN 'left lately'
		WHEN a.obstacle IS NOT NULL THEN 'obstacle'
		ELSE 'faster'
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.move_finding(tablespace_advisor.relation_fact, tablespace_advisor.placement_estimate, tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact, tablespace_advisor.load_fact, name, text) IS
	'why to move a relation if bytes were free (faster), or why not; arguments are its facts, its estimate in the destination (dest), the facts on both tablespaces; destination: as the caller gave it; bottleneck: see other_bottleneck()';

/* Findings that another measurement would improve come last. */
CREATE FUNCTION tablespace_advisor.is_uncertain(finding text)
RETURNS boolean
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT finding IN ('within noise', 'bundle within noise', 'busy target', 'not probed',
		'table not probed', 'no window');
END;
COMMENT ON FUNCTION tablespace_advisor.is_uncertain(text) IS
	'whether a finding rests on too little to be certain';
