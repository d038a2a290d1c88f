/*
 * src/advise/lines.sql
 *
 * The account of reading as lines of text, as EXPLAIN prints a plan.  It says
 * nothing that the rows of advice and their evidence do not.
 */
CREATE TYPE tablespace_advisor.advice_row AS (
	advice @extschema@.placement_advice,
	evidence jsonb
);
COMMENT ON TYPE tablespace_advisor.advice_row IS
	'a row of gather_advice()';

CREATE FUNCTION tablespace_advisor.three_digits(number float8)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT trim_scale(tablespace_advisor.round_to_three(number)::numeric)::text
$$;
COMMENT ON FUNCTION tablespace_advisor.three_digits(float8) IS
	'round_to_three() as text without exponent';

CREATE FUNCTION tablespace_advisor.three_digits(number jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.three_digits((number #>> '{}')::float8)
$$;
COMMENT ON FUNCTION tablespace_advisor.three_digits(jsonb) IS
	'the same of a number in evidence';

/* One relation: what it is, the verdict, and what that rests on. */
CREATE FUNCTION tablespace_advisor.explain_row(a @extschema@.placement_advice, e jsonb)
RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT line FROM (VALUES
		(format('  ->  %s %s %s%s  (read=%s ms/s saves=%s ms/s %s%% size=%s)',
			upper(left(a.action, 1)) || substr(a.action, 2),
			CASE a.kind WHEN 'heap' THEN 'table' ELSE a.kind END, a.relation,
			CASE WHEN a.action = 'move' THEN format(' from %s to %s',
					quote_ident(a.from_tablespace), quote_ident(a.to_tablespace))
				ELSE format(' in %s', quote_ident(a.from_tablespace)) END,
			coalesce(tablespace_advisor.three_digits(a.read_ms_per_s), '?'),
			coalesce(tablespace_advisor.three_digits(a.saved_ms_per_s), '?'),
			coalesce(tablespace_advisor.three_digits(a.saved_percent), '?'),
			coalesce(pg_size_pretty(a.size_bytes), '?'))),
		('        Why: ' || a.reason),
		(CASE WHEN a.reads_per_s > 0 THEN
			format('        Reads: %s/s past shared buffers, %s%% of them from the device; %s%% of accesses cached',
				tablespace_advisor.three_digits(a.reads_per_s),
				coalesce(tablespace_advisor.three_digits(
					100 * (e #>> '{from,device_share}')::float8), '?'),
				coalesce(tablespace_advisor.three_digits(100 * a.cached_fraction), '?'))
		END),
		(CASE WHEN a.reads_per_s > 0 AND e #> '{from,device_us}' IS NOT NULL THEN
			format('        Latency: %s us here with %s in flight (run %s: %s alone)%s',
				tablespace_advisor.three_digits(e #> '{from,device_us}'),
				tablespace_advisor.three_digits(e #> '{from,depth}'),
				e #>> '{from,run_id}',
				tablespace_advisor.three_digits(e #> '{from,random_read_us}'),
				CASE WHEN e #> '{to,device_us}' IS NOT NULL THEN
					format('; %s us in %s (run %s)',
						tablespace_advisor.three_digits(e #> '{to,device_us}'),
						quote_ident(e #>> '{to,tablespace}'), e #>> '{to,run_id}')
				ELSE '' END)
		END),
		(CASE WHEN a.writes_per_s > 0 THEN
			format('        Writes: %s row versions/s%s%s',
				tablespace_advisor.three_digits(a.writes_per_s),
				CASE WHEN e #> '{activity,hot_fraction}' IS NOT NULL THEN
					format(', %s%% of updates are HOT', round(100
						* (e #>> '{activity,hot_fraction}')::numeric)) ELSE '' END,
				CASE WHEN a.action = 'move'
					AND (e #>> '{estimate,extra_write_ms_per_s}')::float8 > 0 THEN
					format(', %s ms/s more there', tablespace_advisor.three_digits(
						e #> '{estimate,extra_write_ms_per_s}')) ELSE '' END)
		END),
		(CASE WHEN (e #>> '{size,toast_bytes}')::bigint > 0 THEN
			format('        Includes: %s of TOAST',
				pg_size_pretty((e #>> '{size,toast_bytes}')::bigint))
		END),
		(CASE WHEN e #> '{index,needed_for}' IS NOT NULL
				AND (e #>> '{activity,scans}')::bigint = 0 THEN
			format('        Needed: never scanned, but for %s', e #>> '{index,needed_for}')
		END),
		(CASE WHEN a.action = 'move' THEN
			format('        Move: %s s at %s rates, %s of WAL, both copies take %s',
				coalesce(tablespace_advisor.three_digits(a.move_seconds), '?'),
				CASE WHEN e #> '{move,measured_bytes_per_s}' IS NOT NULL
					THEN 'earlier moves''' ELSE 'probed' END,
				pg_size_pretty((e #>> '{move,wal_bytes}')::bigint),
				pg_size_pretty((e #>> '{move,peak_bytes}')::bigint))
		END),
		('        Statement: ' || a.statement)
	) l (line) WHERE line IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.explain_row(@extschema@.placement_advice, jsonb) IS
	'the lines of one relation';

/* The window, and what sessions did in it. */
CREATE FUNCTION tablespace_advisor.explain_window(e jsonb)
RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT line FROM (VALUES
		(format('Window: %s, %s%s%s',
			coalesce(tablespace_advisor.three_digits(e -> 'seconds') || ' s', 'of unknown length'),
			CASE e ->> 'source'
				WHEN 'samples' THEN format('%s between samples', CASE e ->> 'intervals'
					WHEN '1' THEN '1 interval' ELSE (e ->> 'intervals') || ' intervals' END)
				WHEN 'observed' THEN 'observed just now'
				ELSE 'totals of the statistics' END,
			coalesce(', from ' || to_char((e ->> 'start')::timestamptz, 'YYYY-MM-DD HH24:MI'), ''),
			CASE WHEN e ->> 'source' = 'totals' AND NOT (e ->> 'was_reset')::boolean
				THEN ' (or less: these statistics were never reset)' ELSE '' END)),
		(CASE WHEN (e ->> 'snapshots')::int > 0 THEN
			format('Sessions: %s active on average; %s',
				tablespace_advisor.three_digits(e -> 'active_sessions'),
				coalesce((SELECT string_agg(format('%s %s%%', w.key, round(100
						* w.value::numeric / nullif(e ->> 'active_sessions', '0')::numeric)), ', '
						ORDER BY w.value::float8 DESC, w.key)
					FROM (SELECT w.key, w.value FROM jsonb_each_text(e -> 'waits') w
						ORDER BY w.value::float8 DESC, w.key LIMIT 4) w), 'no waits seen'))
		ELSE 'Sessions: not observed (CALL sample_activity() twice, some minutes apart)' END),
		('Timing: ' || coalesce(tablespace_advisor.three_digits(e -> 'timed_read_us')
			|| ' us per block read on average, as the server timed it',
			'none (track_io_timing is off); cached shares are what the system''s cache holds')),
		('Standbys: what they scan and read is not counted: ' || (e ->> 'standbys'))
	) l (line) WHERE line IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.explain_window(jsonb) IS
	'the lines on the window, from the evidence of any row';

CREATE FUNCTION tablespace_advisor.explain_advice(
	target regclass,
	advice tablespace_advisor.advice_row[])
RETURNS SETOF text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	shown CONSTANT int := 100;
	s record;
	r tablespace_advisor.advice_row;
	nth int := 0;
BEGIN
	SELECT count(*) AS relations, count(x.saved) FILTER (WHERE x.action = 'move') AS moves,
		sum(x.reading) AS reading, bool_and(x.reading IS NOT NULL) AS is_whole,
		coalesce(sum(x.saved), 0) AS saved,
		sum(greatest(0, x.could_save)) AS could_save,
		sum(greatest(0, x.could_save)) FILTER (WHERE x.kind = 'index') AS index_saves,
		count(*) FILTER (WHERE x.kind = 'index') AS indexes,
		sum(x.reading) FILTER (WHERE x.kind = 'heap') AS heap_reading,
		bool_and(x.is_exact) FILTER (WHERE x.action = 'move') AS is_exact,
		max(x.bound) AS bound
	INTO s
	FROM (SELECT (a.advice).action, (a.advice).kind, (a.advice).read_ms_per_s AS reading,
			(a.advice).saved_ms_per_s AS saved,
			(a.evidence #>> '{estimate,saved_ms_per_s}')::float8 AS could_save,
			(a.evidence #>> '{choice,is_exact}')::boolean AS is_exact,
			(a.evidence #>> '{choice,bound_ms_per_s}')::float8 AS bound
		FROM unnest(advice) a) x;
	RETURN QUERY SELECT format('Placement of %s  (read=%s%s ms/s moves=%s saves=%s ms/s%s)',
		coalesce(target::text, 'database ' || quote_ident(current_database())),
		CASE WHEN NOT s.is_whole AND s.reading IS NOT NULL THEN 'at least ' ELSE '' END,
		coalesce(tablespace_advisor.three_digits(s.reading), '?'), s.moves,
		tablespace_advisor.three_digits(s.saved),
		CASE WHEN s.is_whole AND s.reading > 0 THEN format(' %s%%',
			tablespace_advisor.three_digits(100 * s.saved / s.reading)) ELSE '' END);
	FOR r IN SELECT a.* FROM unnest(advice) a LOOP
		nth := nth + 1;
		EXIT WHEN nth > shown;
		RETURN QUERY SELECT l FROM tablespace_advisor.explain_row(r.advice, r.evidence) l;
	END LOOP;
	IF s.relations > shown THEN
		RETURN QUERY SELECT format('  ... and %s more relations', s.relations - shown);
	END IF;
	IF s.is_whole AND s.reading > 0 AND s.indexes > 0 THEN
		RETURN QUERY SELECT format('Ceiling: moving all indexes could save up to %s%% of this read time; tables are %s%% of it',
			tablespace_advisor.three_digits(100 * coalesce(s.index_saves, 0) / s.reading),
			tablespace_advisor.three_digits(100 * coalesce(s.heap_reading, 0) / s.reading));
	END IF;
	IF s.is_exact OR s.bound IS NOT NULL THEN
		RETURN QUERY SELECT CASE WHEN s.is_exact THEN 'Choice: no other set of moves that fits saves more'
			ELSE format('Choice: no other set of moves that fits saves more than %s ms/s',
				tablespace_advisor.three_digits(s.bound)) END;
	END IF;
	IF s.relations > 0 THEN
		RETURN QUERY SELECT l FROM tablespace_advisor.explain_window(
			advice[1].evidence -> 'window') l;
	END IF;
	RETURN QUERY
		SELECT 'Left out: ' || string_agg(quote_ident(t), ', ' ORDER BY t)
			|| ' (no trustworthy probe)'
		FROM jsonb_array_elements_text(advice[1].evidence -> 'not_probed') t
		HAVING count(*) > 0;
	IF target IS NULL THEN
		RETURN QUERY SELECT 'Left out: relations that were neither read nor written in the window';
	END IF;
	IF pg_is_in_recovery() THEN
		RETURN QUERY SELECT 'Standby: these are its own reads; moves are made on the primary';
	END IF;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.explain_advice(regclass, tablespace_advisor.advice_row[]) IS
	'the lines of explain_placement()';

REVOKE ALL ON FUNCTION
	tablespace_advisor.three_digits(float8),
	tablespace_advisor.three_digits(jsonb),
	tablespace_advisor.explain_row(@extschema@.placement_advice, jsonb),
	tablespace_advisor.explain_window(jsonb),
	tablespace_advisor.explain_advice(regclass, tablespace_advisor.advice_row[])
	FROM PUBLIC;
