/*
 * src/advise/judge.sql
 *
 * The verdict on one relation if bytes were free: what to do, and why in one
 * line of at most 80 characters.  The order of the cases matters: what would
 * be wrong whatever the storage comes first, what would only spoil a good
 * move last.
 */

/* A month end is the commonest work that comes round rarely. */
CREATE FUNCTION tablespace_advisor.business_cycle_days()
RETURNS int
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS 'SELECT 31';
COMMENT ON FUNCTION tablespace_advisor.business_cycle_days() IS
	'days that counters must cover before an index without scans is called unused';

CREATE FUNCTION tablespace_advisor.probe_statement(VARIADIC tablespaces name[])
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE cardinality(n.names)
		WHEN 1 THEN format('SELECT * FROM %s.probe_tablespace(tablespace => %L::pg_catalog.name)',
			'@extschema@', n.names[1])
		ELSE format('SELECT p.* FROM pg_catalog.unnest(%L::pg_catalog.name[]) t (tablespace) CROSS JOIN LATERAL %s.probe_tablespace(tablespace => t.tablespace) p',
			n.names, '@extschema@')
		END
	FROM (SELECT array_remove(tablespaces, NULL) AS names) n
	WHERE cardinality(n.names) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.probe_statement(name[]) IS
	'the call that measures these tablespaces; nulls are left out';

/* A probe that was made and is not to be trusted is not asked for again. */
CREATE FUNCTION tablespace_advisor.to_be_probed(f tablespace_advisor.tablespace_fact)
RETURNS name
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT f.tablespace WHERE f.random_read_us IS NULL AND f.caveat IS NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.to_be_probed(tablespace_advisor.tablespace_fact) IS
	'a tablespace that a probe would tell something of: nothing was measured of it, and no probe made; NULL for others';

CREATE FUNCTION tablespace_advisor.probe_gap(f tablespace_advisor.tablespace_fact)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT concat(quote_ident(f.tablespace), ' (' || f.caveat || ')')
	WHERE f.random_read_us IS NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.probe_gap(tablespace_advisor.tablespace_fact) IS
	'a tablespace without a probe to rest on, and why its newest is none; NULL for others';

/*
 * Reading is not what sessions wait for if, whatever chance there is in the
 * looks at them, less than a tenth of their time goes to it.  What they wait
 * for most is returned, else NULL.
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
	'what sessions wait for if it is not storage, as text; NULL when reading takes a tenth of their active time or more, or too little was seen to say';

/* What is wrong with an index wherever it lies. */
CREATE FUNCTION tablespace_advisor.index_verdict(
	a tablespace_advisor.relation_fact,
	OUT action text,
	OUT reason text,
	OUT statement text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	days int := tablespace_advisor.business_cycle_days();
	/* below these, neither is worth a DBA's time */
	min_brin_bytes CONSTANT bigint := 64 * 1048576;
	min_brin_ratio CONSTANT int := 50;
BEGIN
	IF a.unusable = 'being built' THEN
		action := 'keep';
		reason := 'an index of this table is being built: ask again when that is done';
	ELSIF a.unusable IS NOT NULL THEN
		action := 'rebuild';
		reason := 'invalid, no query can use it: rebuild it, or drop it if a build failed';
		statement := format('REINDEX INDEX CONCURRENTLY %s', a.relation);
	ELSIF a.duplicate_of IS NOT NULL THEN
		action := 'drop candidate';
		reason := format('exact duplicate of %s', a.duplicate_of);
	ELSIF a.scans = 0 AND a.writes > 0 AND a.needed_for IS NULL
		AND a.counted_days >= days
	THEN
		action := 'drop candidate';
		reason := format('not scanned in %s days, only written; scans on standbys are not counted',
			floor(a.counted_days));
		IF a.expression IS NOT NULL THEN
			reason := 'never scanned; if only estimates need it, CREATE STATISTICS is enough';
			statement := format('CREATE STATISTICS %I ON %s FROM %s',
				(SELECT left(c.relname, 50) || '_statistics' FROM pg_class c
					WHERE c.oid = a.relation), a.expression, a.table_relation);
		END IF;
	ELSIF a.brin_bytes * min_brin_ratio < a.size_bytes
		AND a.size_bytes >= min_brin_bytes
		AND abs(a.correlation) >= 0.95 AND a.tuples_per_scan >= 1000
		AND a.needed_for IS NULL
	THEN
		action := 'replace';
		reason := format('scanned for ranges in table order: BRIN would be %s times smaller',
			tablespace_advisor.round_to_three(a.size_bytes::float8 / a.brin_bytes));
		statement := format('CREATE INDEX CONCURRENTLY ON %s USING brin (%I)',
			a.table_relation, a.column_name);
	END IF;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.index_verdict(tablespace_advisor.relation_fact) IS
	'what to do with an index wherever it lies, why, and the statement; all NULL when nothing is wrong with it';

/* Whether an index has grown to twice what it needs, and by 8 MB or more. */
CREATE FUNCTION tablespace_advisor.is_bloated(a tablespace_advisor.relation_fact)
RETURNS boolean
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(a.rebuilt_bytes < a.size_bytes / 2
		AND a.size_bytes - a.rebuilt_bytes >= 8 * 1048576, false)
$$;
COMMENT ON FUNCTION tablespace_advisor.is_bloated(tablespace_advisor.relation_fact) IS
	'whether an index takes twice what it would after a rebuild, and 8 MB more';

/* What speaks for or against moving it. */
CREATE FUNCTION tablespace_advisor.move_verdict(
	a tablespace_advisor.relation_fact,
	e tablespace_advisor.placement_estimate,
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact,
	destination name,
	bottleneck text,
	OUT action text,
	OUT reason text,
	OUT statement text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	/* below this share of a table's read time nothing moves */
	min_percent CONSTANT float8 := 5;
	/* unless it takes less than that share of its bytes, and no less than this */
	min_dense_percent CONSTANT float8 := 1;
	week_s CONSTANT float8 := 7 * 86400;
	saved CONSTANT text := 'saves %s %% of the table''s read time';
BEGIN
	action := 'keep';
	IF a.obstacle IS NOT NULL AND a.reads_per_s IS NULL THEN
		reason := a.obstacle;
	ELSIF a.tablespace = destination THEN
		reason := 'already there';
	ELSIF dest.tablespace IS NULL THEN
		reason := 'there is no other tablespace to move it to';
	ELSIF dest.tablespace = ANY (source.shares_device_with)
		AND (destination IS NOT NULL OR source.random_read_us IS NOT NULL
			OR dest.random_read_us IS NOT NULL)
	THEN
		reason := 'both tablespaces are on the same device';
	ELSIF dest.volatile THEN
		reason := 'the tablespace is on volatile storage: a reboot would lose it';
	ELSIF NOT dest.may_create THEN
		reason := 'neither you nor its owner has CREATE on the tablespace';
	ELSIF source.random_read_us IS NULL OR dest.random_read_us IS NULL THEN
		action := 'probe first';
		reason := format('no %sprobe of %s',
			CASE WHEN source.random_read_us IS NULL AND source.caveat IS NOT NULL
				OR dest.random_read_us IS NULL AND dest.caveat IS NOT NULL
				THEN 'trustworthy ' ELSE '' END,
			concat_ws(' and ', tablespace_advisor.probe_gap(source),
				tablespace_advisor.probe_gap(dest)));
		statement := tablespace_advisor.probe_statement(
			tablespace_advisor.to_be_probed(source),
			tablespace_advisor.to_be_probed(dest));
	ELSIF a.reads_per_s IS NULL THEN
		reason := 'statistics start time is unknown: pass observe, or CALL sample_activity()';
	ELSIF a.reads_per_s = 0 AND a.hits_per_s > 0 AND a.maintenance_reads_per_s IS NULL THEN
		reason := 'already in memory: shared buffers serve all of its reads';
	ELSIF a.reads_per_s = 0 AND a.maintenance_reads_per_s > 0 THEN
		reason := 'not read in the window but by VACUUM and ANALYZE';
	ELSIF a.reads_per_s = 0 THEN
		reason := 'not read in the window';
	ELSIF e.device_share <= 0.01 THEN
		reason := format('already in memory: the system''s cache serves %s %% of its reads',
			round(100 * (1 - e.device_share::numeric), 1));
	ELSIF bottleneck IS NOT NULL THEN
		reason := format('not storage-bound: %s', bottleneck);
	ELSIF e.saved_ms_per_s > 0 AND (e.is_faster IS NOT TRUE OR e.saved_low_ms_per_s <= 0) THEN
		reason := format('within noise: saves between %s and %s %% of the table''s read time',
			tablespace_advisor.two_digits(100 * e.saved_low_ms_per_s / e.table_read_ms_per_s),
			tablespace_advisor.two_digits(
				least(100, 100 * e.saved_high_ms_per_s / e.table_read_ms_per_s)));
	ELSIF e.is_faster IS NOT TRUE THEN
		reason := format('%s: %s a read there, %s here',
			CASE WHEN destination IS NULL THEN 'no tablespace is measurably faster'
				ELSE 'not measurably faster' END,
			tablespace_advisor.pretty_seconds(e.destination_us / 1e6),
			tablespace_advisor.pretty_seconds(e.device_us / 1e6));
	ELSIF e.is_saturated THEN
		reason := format('the tablespace can serve only %s reads/s, too few for this table',
			tablespace_advisor.round_to_three(e.max_reads_per_s));
	ELSIF e.saved_percent IS NULL THEN
		action := 'probe first';
		reason := format('no trustworthy probe of %s, where part of its table is',
			coalesce((SELECT string_agg(quote_ident(n), ', ' ORDER BY n)
				FROM unnest(e.not_probed) n), 'a tablespace'));
		statement := tablespace_advisor.probe_statement(VARIADIC e.not_probed);
	ELSIF e.saved_percent < min_percent
		AND (e.saved_percent < min_dense_percent OR e.bytes_percent IS NULL
			OR e.saved_percent < e.bytes_percent)
	THEN
		reason := format('too little: ' || saved,
			tablespace_advisor.two_digits(e.saved_percent));
	ELSIF e.saved_ms_per_s / 1000 * week_s < e.move_seconds THEN
		reason := format('not repaid within a week: ' || saved,
			tablespace_advisor.two_digits(e.saved_percent));
	ELSIF dest.tablespace = ANY (a.left_lately) THEN
		reason := 'it was moved away from there less than a week ago';
	ELSIF a.obstacle IS NOT NULL THEN
		reason := a.obstacle;
	ELSE
		action := 'move';
		reason := format('reads take %s here, %s there%s',
			tablespace_advisor.pretty_seconds(e.device_us / 1e6),
			tablespace_advisor.pretty_seconds(e.destination_us / 1e6),
			CASE WHEN e.device_share < 0.9 THEN
				format('; %s %% of them reach the device',
					round(100 * e.device_share::numeric))
			END);
	END IF;
	IF tablespace_advisor.is_bloated(a) AND action IN ('keep', 'move') THEN
		reason := format('bloated: %s, about %s after a rebuild',
			pg_size_pretty(a.size_bytes), pg_size_pretty(a.rebuilt_bytes));
		IF action = 'keep' THEN
			action := 'rebuild';
			statement := format('REINDEX INDEX CONCURRENTLY %s', a.relation);
		END IF;
	END IF;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.move_verdict(tablespace_advisor.relation_fact, tablespace_advisor.placement_estimate, tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact, name, text) IS
	'whether to move a relation if bytes were free, and why; arguments are its facts, its estimate in the destination (dest), the facts on both tablespaces; destination: as the caller gave it; bottleneck: see other_bottleneck()';
