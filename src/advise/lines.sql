/*
 * src/advise/lines.sql
 *
 * Advice as lines of text, as EXPLAIN prints a plan, short or with all that it
 * rests on.  It says nothing that the rows of advice and their evidence do not.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.advice_rows()
RETURNS SETOF tablespace_advisor.advice_row
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_advice_rows';
COMMENT ON FUNCTION tablespace_advisor.advice_rows() IS
	'rows of advise_placement() with their placement_evidence(), from one look';
REVOKE ALL ON FUNCTION tablespace_advisor.advice_rows FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tablespace_advisor.advice_rows TO pg_monitor;

CREATE FUNCTION tablespace_advisor.waiting_sessions(ms_per_s float8, what text)
RETURNS text
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_waiting_sessions';
COMMENT ON FUNCTION tablespace_advisor.waiting_sessions(float8, text) IS
	'how many sessions wait, on average, for work of these milliseconds in each second, as text';

/* Where no two samples were taken since, they tell of another placement. */
CREATE FUNCTION tablespace_advisor.is_before_move(evidence jsonb)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce((w ->> 'start')::timestamptz < (w ->> 'moved_at')::timestamptz, false)
	FROM (SELECT evidence -> 'window') e (w)
$$;
COMMENT ON FUNCTION tablespace_advisor.is_before_move(jsonb) IS
	'whether the window of an advice begins before the last move that matters for samples';

CREATE FUNCTION tablespace_advisor.sessions_that_waited(ms_per_s float8, what text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'before the last move ' || regexp_replace(
		tablespace_advisor.waiting_sessions(ms_per_s, what), ' waits? for ', ' waited for ')
$$;
COMMENT ON FUNCTION tablespace_advisor.sessions_that_waited(float8, text) IS
	'waiting_sessions() of a window that begins before the last move';

/* The load of others shows in the device's counters, not in the probe. */
CREATE FUNCTION tablespace_advisor.latency_there(dest jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN dest -> 'tablespace' IS NULL THEN NULL
		WHEN dest -> 'device_us' IS NULL
			THEN format('%I: not probed', dest ->> 'tablespace')
		ELSE format('%s in %I (%s)', tablespace_advisor.pretty_us(dest -> 'device_us'),
			dest ->> 'tablespace', concat_ws('; ',
				CASE WHEN dest ->> 'latency_from' = 'assumed' THEN 'assumed'
					WHEN dest ->> 'latency_from' = 'timing' THEN 'by the server''s timing'
					WHEN dest ->> 'latency_from' = 'counters'
						OR dest -> 'device_us' = dest -> 'present_read_us'
						THEN 'in the window by the device''s counters' END,
				CASE WHEN dest ->> 'latency_from' = 'probe' THEN
					'probed ' || tablespace_advisor.pretty_us(dest -> 'random_read_us') END))
		END
$$;
COMMENT ON FUNCTION tablespace_advisor.latency_there(jsonb) IS
	'the time of reads in a destination, and its source, as text, from that part of the evidence';

/* Evidence of the advice on a relation, a line for each kind of fact. */
CREATE FUNCTION tablespace_advisor.detail_lines(a @extschema@.placement_advice, e jsonb)
RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT line FROM (VALUES
		(CASE WHEN a.reads_per_s > 0 AND e #> '{from,device_us}' IS NOT NULL THEN
			format('%s reads/s from the device%s', tablespace_advisor.three_digits(a.reads_per_s
				* (e #>> '{from,device_share}')::float8),
				/* hardly any: their time says nothing of the others */
				CASE WHEN e ->> 'finding' IS DISTINCT FROM 'in system cache' THEN format(': %s (%s%s)',
					/* reads of others there may take less */
					coalesce(tablespace_advisor.pretty_us(e #> '{from,own_read_us}') || ' here by its waits',
						tablespace_advisor.pretty_us(e #> '{from,device_us}') || ' here'),
					CASE e #>> '{from,latency_from}'
						WHEN 'counters' THEN format('%s in the window by the device''s counters',
							tablespace_advisor.pretty_us(e #> '{from,probed_us}'))
						WHEN 'timing' THEN 'by the server''s timing, less what caches serve'
						ELSE format('probe: %s at depth %s',
							tablespace_advisor.pretty_us(e #> '{from,probed_us}'),
							tablespace_advisor.two_digits((e #>> '{from,depth}')::float8)) END,
					CASE WHEN e #> '{from,own_read_us}' IS NULL THEN coalesce(', x ' || nullif(
						tablespace_advisor.three_digits(e #> '{from,time_correction}'), '1')
						|| ' as timed', '') ELSE '' END) END)
		END),
		(CASE WHEN a.reads_per_s > 0 AND e #> '{from,device_us}' IS NOT NULL
				AND e ->> 'finding' IS DISTINCT FROM 'in system cache' THEN
			tablespace_advisor.latency_there(e -> 'to')
		END),
		(CASE WHEN a.reads_per_s > 0 THEN
			format('%s reads/s past shared buffers; caches serve %s %% of all accesses',
				tablespace_advisor.three_digits(a.reads_per_s),
				coalesce(tablespace_advisor.two_digits(100 * a.cached_fraction), '?'))
		END),
		(CASE WHEN (e #>> '{activity,maintenance_reads_per_s}')::float8 > 0 THEN
			format('%s reads/s more by VACUUM and ANALYZE, left out',
				tablespace_advisor.three_digits(e #> '{activity,maintenance_reads_per_s}'))
		END),
		(CASE WHEN a.writes_per_s > 0 THEN
			format('%s row versions/s written%s',
				tablespace_advisor.three_digits(a.writes_per_s),
				CASE WHEN e #> '{activity,hot_fraction}' IS NOT NULL THEN
					format(', %s %% of updates are HOT', round(100
						* (e #>> '{activity,hot_fraction}')::numeric)) ELSE '' END)
		END),
		(CASE WHEN (e #>> '{size,toast_bytes}')::bigint > 0.01 * a.size_bytes THEN
			format('%s of it TOAST', pg_size_pretty((e #>> '{size,toast_bytes}')::bigint))
		END),
		(CASE WHEN e #> '{index,needed_for}' IS NOT NULL
				AND (e #>> '{activity,scans}')::bigint = 0 THEN
			format('never scanned, but needed for %s', e #>> '{index,needed_for}')
		END),
		(CASE WHEN a.action = 'move' AND e #> '{estimate,saved_low}' IS NOT NULL THEN
			format('saves between %s and %s %% of the table''s read time',
				tablespace_advisor.two_digits(100 * (e #>> '{estimate,saved_low}')::float8
					/ (e #>> '{estimate,table_read_ms_per_s}')::float8),
				tablespace_advisor.two_digits(least(100, 100 * (e #>> '{estimate,saved_high}')::float8
					/ (e #>> '{estimate,table_read_ms_per_s}')::float8)))
		END),
		(CASE WHEN a.action = 'move' THEN
			format('the move: %s at %s, %s of WAL; both copies take %s',
				coalesce(tablespace_advisor.pretty_seconds(a.move_seconds), '?'),
				CASE WHEN e #> '{move,measured_bytes_per_s}' IS NOT NULL
					THEN 'the rate of earlier moves' ELSE 'probed rates (more beside a load)' END,
				pg_size_pretty((e #>> '{move,wal_bytes}')::bigint),
				pg_size_pretty((e #>> '{move,peak_bytes}')::bigint))
		END)
	) l (line) WHERE line IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.detail_lines(@extschema@.placement_advice, jsonb) IS
	'lines on the evidence of the advice on one relation';

/*
 * Shares in an answer on one relation are of its table's reading, as the
 * limits of verdicts are, else of all reading.
 */
CREATE FUNCTION tablespace_advisor.whole_read_ms(
	target regclass,
	advice tablespace_advisor.advice_row[])
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(CASE WHEN target IS NOT NULL AND bool_and(t.table_ms IS NOT NULL)
		THEN sum(t.table_ms) END, sum(t.read_ms))
	FROM (SELECT sum((a.advice).read_ms_per_s) AS read_ms,
			min((a.evidence #>> '{estimate,table_read_ms_per_s}')::float8) AS table_ms
		FROM unnest(advice) a
		LEFT JOIN pg_index i ON i.indexrelid = (a.advice).relation
		GROUP BY coalesce(i.indrelid, (a.advice).relation)) t
$$;
COMMENT ON FUNCTION tablespace_advisor.whole_read_ms(regclass, tablespace_advisor.advice_row[]) IS
	'milliseconds of reading per second that percentages in the account are of';

/*
 * The relations, in columns: the action, and of a move the target, the saving
 * and how long it takes, the reason below.  Names are qualified unless they
 * are of the target's own schema.
 */
CREATE FUNCTION tablespace_advisor.relation_lines(
	target regclass,
	advice tablespace_advisor.advice_row[],
	in_short boolean,
	whole_ms float8)
RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH cell AS (
		SELECT a.n, a.advice, a.evidence, (a.advice).action, (a.advice).reason,
			CASE (a.advice).kind WHEN 'heap' THEN 'table ' ELSE '' END
				|| coalesce((SELECT quote_ident(c.relname) FROM pg_class c, pg_class t
					WHERE c.oid = (a.advice).relation AND t.oid = $1
						AND c.relnamespace = t.relnamespace),
				(a.advice).relation::text) AS name,
			quote_ident((a.advice).from_tablespace) || ' -> '
				|| quote_ident((a.advice).to_tablespace) AS route,
			coalesce(pg_size_pretty((a.advice).size_bytes), '?') AS size,
			coalesce(CASE WHEN (a.advice).saved_ms_per_s < 0 THEN 'costs ' ELSE 'saves ' END
				|| tablespace_advisor.two_digits(100 * abs((a.advice).saved_ms_per_s)
					/ nullif(whole_ms, 0)) || ' %', '') AS saved,
			CASE WHEN (a.advice).move_seconds < 1 THEN 'under 1 s'
				ELSE coalesce(tablespace_advisor.pretty_seconds((a.advice).move_seconds), '?')
				END || CASE WHEN (a.advice).move_seconds IS NOT NULL
						AND a.evidence #> '{move,measured_bytes_per_s}' IS NULL
					THEN ' if idle' || CASE WHEN b.slowest > greatest(1, 2 * (a.advice).move_seconds)
						THEN ', else mostly up to ' || tablespace_advisor.pretty_seconds(ceil(b.slowest)) ELSE '' END
					ELSE '' END AS duration
		FROM unnest(advice) WITH ORDINALITY a (advice, evidence, n)
		/* beside others a copy rests for at most a second after each MB (rate_control.c) */
		CROSS JOIN LATERAL (SELECT CASE WHEN a.evidence #> '{move,method}' IS NULL
				AND a.evidence #> '{estimate,obstacle}' IS NULL
			THEN (a.evidence #>> '{move,bytes}')::float8 / 1048576 END AS slowest) b
	), width AS (
		SELECT max(length(c.action)) AS action, max(length(c.name)) AS name,
			max(length(c.route)) FILTER (WHERE c.action = 'move') AS route,
			max(length(c.size)) FILTER (WHERE c.action = 'move') AS size,
			max(length(c.saved)) FILTER (WHERE c.action = 'move') AS saved
		FROM cell c
	)
	SELECT l.line
	FROM cell c CROSS JOIN width w
	CROSS JOIN LATERAL (
		SELECT 0 AS nth, format('  %s  %s   %s', rpad(c.action, w.action), rpad(c.name, w.name),
			CASE c.action WHEN 'move' THEN format('%s   %s   %s   %s',
				rpad(c.route, w.route), lpad(c.size, w.size), rpad(c.saved, w.saved), c.duration)
			ELSE c.reason END) AS line
		UNION ALL
		SELECT d.nth, repeat(' ', w.action + 4) || d.line
		/* latencies are in the details again */
		FROM (SELECT 1, c.reason WHERE c.action = 'move'
				AND (in_short OR c.evidence ->> 'finding' <> 'faster'
					OR c.evidence #> '{move,method}' IS NOT NULL
					OR c.evidence #>> '{to,latency_from}' = 'assumed')
			UNION ALL
			SELECT 1 + t.nth, t.line
			FROM tablespace_advisor.detail_lines(c.advice, c.evidence)
				WITH ORDINALITY t (line, nth)
			WHERE NOT in_short) d (nth, line)) l
	ORDER BY c.n, l.nth
$$;
COMMENT ON FUNCTION tablespace_advisor.relation_lines(regclass, tablespace_advisor.advice_row[], boolean, float8) IS
	'a line on each relation, of a move with its saving in percent of whole_ms and its reason; unless in_short also the evidence';

/* From when to when, and the moves that bound it. */
CREATE FUNCTION tablespace_advisor.window_bounds(e jsonb, in_short boolean)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT concat(
		CASE WHEN NOT in_short THEN ', from ' || to_char(w.start, w.style) END,
		CASE WHEN e ->> 'source' = 'samples'
			THEN ', the last at ' || to_char(w.finish, w.style) END,
		CASE WHEN in_short AND NOT w.start < w.moved_at
			THEN ', all since the move that ended at ' || to_char(w.moved_at, w.style) END)
	FROM (SELECT (e ->> 'start')::timestamptz AS start, (e ->> 'end')::timestamptz AS finish,
		(e ->> 'moved_at')::timestamptz AS moved_at, 'YYYY-MM-DD HH24:MI' AS style) w
$$;
COMMENT ON FUNCTION tablespace_advisor.window_bounds(jsonb, boolean) IS
	'begin and end of the window, and the move it begins after, as text';

/* The window, and unless in short the activity of sessions in it. */
CREATE FUNCTION tablespace_advisor.window_lines(e jsonb, in_short boolean)
RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT line FROM (VALUES
		(format('Window: %s%s.', CASE e ->> 'source'
				WHEN 'samples' THEN coalesce(tablespace_advisor.pretty_seconds(
						(e ->> 'seconds')::float8) || ' of samples', 'samples')
				WHEN 'observed' THEN tablespace_advisor.pretty_seconds(
					(e ->> 'seconds')::float8) || ', watched just now'
				ELSE concat_ws(' of ', CASE WHEN NOT (e ->> 'was_reset')::boolean
						THEN 'at most ' ELSE '' END || tablespace_advisor.pretty_seconds(
					(e ->> 'seconds')::float8), 'totals of the statistics')
					|| CASE WHEN NOT (e ->> 'was_reset')::boolean
						THEN ', which were never reset' ELSE '' END END,
			tablespace_advisor.window_bounds(e, in_short))),
		(CASE WHEN (e ->> 'start')::timestamptz < (e ->> 'moved_at')::timestamptz THEN
			format('It begins before the move that ended at %s: two later samples are needed.',
				to_char((e ->> 'moved_at')::timestamptz, 'YYYY-MM-DD HH24:MI'))
			WHEN NOT in_short THEN 'All of it since the move that ended at '
				|| to_char((e ->> 'moved_at')::timestamptz, 'YYYY-MM-DD HH24:MI') || '.'
		END),
		(CASE WHEN in_short THEN NULL WHEN (e ->> 'snapshots')::int > 0 THEN
			format('Sessions: %s active on average; %s.',
				tablespace_advisor.two_digits((e ->> 'active_sessions')::float8),
				coalesce((SELECT string_agg(format('%s %s %%', w.key, round(100
						* w.value::numeric / nullif(e ->> 'active_sessions', '0')::numeric)), ', '
						ORDER BY w.value::float8 DESC, w.key)
					FROM (SELECT w.key, w.value FROM jsonb_each_text(e -> 'waits') w
						ORDER BY w.value::float8 DESC, w.key LIMIT 4) w), 'no waits seen'))
		ELSE 'Sessions: not observed (CALL sample_activity() twice, some minutes apart).' END),
		(CASE WHEN NOT in_short THEN
			'Timing: ' || coalesce(tablespace_advisor.pretty_us(e -> 'timed_read_us')
				|| ' a block as the server timed it, those from the system''s cache included.',
				CASE WHEN (e ->> 'start')::timestamptz < (e ->> 'moved_at')::timestamptz
						THEN 'none since the last move'
					WHEN current_setting('track_io_timing')::boolean THEN 'none in the window'
					ELSE 'none (track_io_timing is off)' END
				|| ': shares cached are what the system''s cache holds.')
		END),
		('Not counted: ' || (SELECT string_agg(format('%s %s', w.key,
				tablespace_advisor.two_digits(w.value::float8)), ', ' ORDER BY w.value::float8 DESC, w.key)
			FROM jsonb_each_text(nullif(e -> 'other_waits', 'null')) w) || ' waiting sessions.'),
		(CASE WHEN NOT in_short THEN
			'Standbys: what they scan and read is not counted: ' || (e ->> 'standbys') || '.'
		END)
	) l (line) WHERE line IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.window_lines(jsonb, boolean) IS
	'the lines on the window, from the evidence of any row';

/* The time of reading, and the saving of all moves together. */
CREATE FUNCTION tablespace_advisor.headline(target regclass, advice tablespace_advisor.advice_row[])
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('%s: %s%s; %s%s', coalesce(target::text, 'database ' || quote_ident(current_database())),
		CASE WHEN NOT s.is_whole AND s.reading >= 0.05 THEN 'at least ' ELSE '' END,
		CASE WHEN s.is_before THEN tablespace_advisor.sessions_that_waited(s.reading, s.what)
			ELSE tablespace_advisor.waiting_sessions(s.reading, s.what) END,
		CASE WHEN s.moves > 1 THEN s.moves || ' moves' WHEN s.moves = 1 THEN 'one move'
			WHEN s.probes > 0 THEN 'probe first' ELSE 'nothing to move' END,
		CASE WHEN s.moves > 0 THEN coalesce(
			CASE WHEN (s.saved < 0) = (s.moves > 1) THEN
					CASE WHEN s.saved < 0 THEN ' cost ' ELSE ' saves ' END
				ELSE CASE WHEN s.saved < 0 THEN ' costs ' ELSE ' save ' END END
			|| tablespace_advisor.two_digits(100 * abs(s.saved) / nullif(s.whole, 0))
			|| CASE WHEN target IS NOT NULL AND s.is_whole THEN ' % of the table''s read time'
				ELSE ' % of that' END
			|| CASE WHEN target IS NOT NULL AND s.saved > 1.005 * s.whole
				THEN ', since reads of others wait less, too' ELSE '' END, '') ELSE '' END)
	FROM (SELECT CASE WHEN target IS NULL THEN 'reads' ELSE 'its reads' END AS what,
			coalesce(bool_or(tablespace_advisor.is_before_move(a.evidence)), false) AS is_before,
			count(*) FILTER (WHERE (a.advice).action = 'move') AS moves,
			count(*) FILTER (WHERE (a.advice).action = 'probe first') AS probes,
			sum((a.advice).read_ms_per_s) AS reading,
			tablespace_advisor.whole_read_ms($1, $2) AS whole,
			bool_and((a.advice).read_ms_per_s IS NOT NULL) AS is_whole,
			sum((a.advice).saved_ms_per_s) FILTER (WHERE (a.advice).action = 'move') AS saved
		FROM unnest(advice) a) s
$$;
COMMENT ON FUNCTION tablespace_advisor.headline(regclass, tablespace_advisor.advice_row[]) IS
	'the first line of the account';

/* The upper bound of the saving of moves. */
CREATE FUNCTION tablespace_advisor.limit_lines(target regclass, advice tablespace_advisor.advice_row[])
RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH s AS (
		SELECT sum((a.advice).read_ms_per_s) AS reading,
			bool_and((a.advice).read_ms_per_s IS NOT NULL) AS is_whole,
			count(*) FILTER (WHERE (a.advice).kind = 'index') AS indexes,
			sum(greatest(0, (a.evidence #>> '{estimate,saved_ms_per_s}')::float8, (a.advice).saved_ms_per_s))
				FILTER (WHERE (a.advice).kind = 'index') AS index_saves,
			sum((a.advice).read_ms_per_s) FILTER (WHERE (a.advice).kind = 'heap') AS heap_reading
		FROM unnest(advice) a
	)
	SELECT format('Ceiling: moving all indexes %s of this read time; %s %s %% of it.',
		coalesce('could save up to ' || tablespace_advisor.two_digits(
			100 * nullif(s.index_saves, 0) / s.reading) || ' %', 'would save nothing'),
		CASE WHEN target IS NULL THEN 'tables are' ELSE 'the table is' END,
		tablespace_advisor.two_digits(100 * coalesce(s.heap_reading, 0) / s.reading))
	FROM s
	WHERE s.is_whole AND s.reading > 0 AND s.indexes > 0
		AND (target IS NULL OR s.heap_reading IS NOT NULL)
$$;
COMMENT ON FUNCTION tablespace_advisor.limit_lines(regclass, tablespace_advisor.advice_row[]) IS
	'the line on the part that no move of indexes could save';

CREATE FUNCTION tablespace_advisor.probe_lines(advice tablespace_advisor.advice_row[])
RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('Probes: %s.', string_agg(format('%I run %s', p.tablespace, p.run_id),
		', ' ORDER BY p.tablespace COLLATE "C"))
	FROM (SELECT DISTINCT t ->> 'tablespace' AS tablespace, t ->> 'run_id' AS run_id
		FROM unnest(advice) a
		CROSS JOIN LATERAL unnest(ARRAY[a.evidence -> 'from', a.evidence -> 'to']) t
		WHERE t ? 'run_id') p
	HAVING count(*) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.probe_lines(tablespace_advisor.advice_row[]) IS
	'the line on the runs of probe_tablespace() that latencies come from';

CREATE FUNCTION tablespace_advisor.left_out_lines(target regclass, e jsonb)
RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('Left out: %s.', string_agg(format('%I (%s)', t.key, t.value),
		', ' ORDER BY t.key COLLATE "C"))
	FROM jsonb_each_text(e -> 'not_probed') t
	HAVING count(*) > 0
	UNION ALL
	SELECT 'Left out: relations that were neither read nor written in the window.'
	WHERE target IS NULL
	UNION ALL
	SELECT 'Standby: these are its own reads; moves are made on the primary.'
	WHERE pg_is_in_recovery()
$$;
COMMENT ON FUNCTION tablespace_advisor.left_out_lines(regclass, jsonb) IS
	'the lines on omissions of the advice';

/* Of a probe that was made and is not to be trusted there is no statement. */
CREATE FUNCTION tablespace_advisor.probe_help_lines(advice tablespace_advisor.advice_row[])
RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT l.line
	FROM (VALUES
		('A probe that the device did not answer can be made again with a larger file_size or'),
		('mode => ''existing''; two samples under load (CALL sample_activity()) stand in for it.'))
		l (line)
	WHERE (SELECT bool_and((a.advice).statement IS NULL) FROM unnest(advice) a
		WHERE (a.advice).action = 'probe first')
$$;
COMMENT ON FUNCTION tablespace_advisor.probe_help_lines(tablespace_advisor.advice_row[]) IS
	'a remedy where a probe that was made is missing';

/*
 * Of the whole database, relations that stay and are read for less than a
 * twentieth of the time has no line.
 */
CREATE FUNCTION tablespace_advisor.worth_a_line(
	target regclass,
	advice tablespace_advisor.advice_row[])
RETURNS SETOF tablespace_advisor.advice_row
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT a.advice, a.evidence FROM unnest(advice) WITH ORDINALITY a (advice, evidence, n)
	/* OFFSET 0: once, not for each row */
	CROSS JOIN (SELECT tablespace_advisor.whole_read_ms(target, advice) AS ms OFFSET 0) whole
	WHERE target IS NOT NULL OR (a.advice).action <> 'keep'
		OR (a.advice).read_ms_per_s >= 0.05 * whole.ms
	ORDER BY a.n
$$;
COMMENT ON FUNCTION tablespace_advisor.worth_a_line(regclass, tablespace_advisor.advice_row[]) IS
	'the rows of an advice that the account lists one by one';

CREATE FUNCTION tablespace_advisor.rest_line(
	target regclass,
	advice tablespace_advisor.advice_row[])
RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('  keep  %s: %s %% of the read time',
		CASE rest.n WHEN 1 THEN 'another one' ELSE rest.n || ' others' END,
		coalesce(tablespace_advisor.two_digits(100 * rest.ms / nullif(
			tablespace_advisor.whole_read_ms(target, advice), 0)), '0'))
	FROM (SELECT count(*) AS n, coalesce(sum((a.advice).read_ms_per_s), 0) AS ms
		FROM (SELECT a.advice FROM unnest(advice) a EXCEPT ALL
			SELECT w.advice FROM tablespace_advisor.worth_a_line(target, advice) w) a) rest
	WHERE rest.n > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.rest_line(regclass, tablespace_advisor.advice_row[]) IS
	'a line on all rows of an advice that have none of their own; none if there are none';

/* Statements that settle uncertain verdicts. */
CREATE FUNCTION tablespace_advisor.doubt_lines(advice tablespace_advisor.advice_row[])
RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('Uncertain: %s. %s:', d.names, CASE d.is_busy
			WHEN true THEN 'Others use the target; when they have ended, this tells'
			ELSE 'A longer probe tells' END)
	FROM (SELECT string_agg((a.advice).relation::text, ', ' ORDER BY a.n) AS names,
			bool_or(a.evidence ->> 'finding' = 'busy target') AS is_busy
		FROM unnest(advice) WITH ORDINALITY a (advice, evidence, n)
		WHERE a.evidence ->> 'finding' IN ('within noise', 'bundle within noise', 'busy target')
			AND (a.advice).read_ms_per_s > 0) d
	WHERE d.names IS NOT NULL
	UNION ALL
	SELECT CASE WHEN bool_or(a.evidence ->> 'finding' = 'busy target')
			THEN format('    SELECT * FROM %s(observe => %s);',
				tablespace_advisor.written_call('advise_placement'),
				tablespace_advisor.written_argument('advise_placement', '1 min', 'interval'))
			ELSE '    ' || tablespace_advisor.probes_statement(
				array_agg(DISTINCT t.name::name) FILTER (WHERE t.name IS NOT NULL),
				', duration => ' || tablespace_advisor.written_argument('probe_tablespace', '30 s', 'interval')) END
	FROM unnest(advice) a
	CROSS JOIN LATERAL unnest(ARRAY[a.evidence #>> '{from,tablespace}', a.evidence #>> '{to,tablespace}']) t (name)
	WHERE a.evidence ->> 'finding' IN ('within noise', 'bundle within noise', 'busy target')
		AND (a.advice).read_ms_per_s > 0
	HAVING count(*) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.doubt_lines(tablespace_advisor.advice_row[]) IS
	'lines on uncertain verdicts of an advice, and the statement that would settle them';

/* Statements stay whole, so that they can be copied. */
CREATE FUNCTION tablespace_advisor.folded_line(line text)
RETURNS SETOF text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT repeat(' ', i.indent + CASE WHEN p.n > 1 THEN 2 ELSE 0 END) || p.part
	FROM (SELECT length(line) - length(ltrim(line)) AS indent) i
	CROSS JOIN LATERAL unnest(string_to_array(CASE
			WHEN length(line) <= 116 OR line ~ '^ *[A-Z]{3,} .*;$' THEN ltrim(line)
			ELSE tablespace_advisor.wrapped(ltrim(line), 114 - i.indent) END, E'\n'))
		WITH ORDINALITY p (part, n)
	ORDER BY p.n
$$;
COMMENT ON FUNCTION tablespace_advisor.folded_line(text) IS
	'a line of advice in lines of 116 characters, the others further in; a statement as it is';

CREATE FUNCTION tablespace_advisor.explain_advice(
	target regclass,
	advice tablespace_advisor.advice_row[],
	in_short boolean,
	more text[] DEFAULT '{}')
RETURNS SETOF text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	shown int := CASE WHEN in_short THEN 20 ELSE 100 END;
	listed tablespace_advisor.advice_row[] := array(SELECT w
		FROM tablespace_advisor.worth_a_line(target, advice) w);
BEGIN
	RETURN QUERY SELECT tablespace_advisor.headline(target, advice);
	RETURN QUERY SELECT l FROM tablespace_advisor.relation_lines(
		target, listed[:shown], in_short, tablespace_advisor.whole_read_ms(target, advice)) l;
	IF cardinality(listed) > shown THEN
		RETURN QUERY SELECT format('  and %s more (SELECT * FROM %s(%s); has all)',
			cardinality(listed) - shown, tablespace_advisor.written_call('advise_placement'),
			coalesce('target => ' || tablespace_advisor.written_argument('advise_placement',
				tablespace_advisor.written_relation(target), 'regclass'), ''));
	END IF;
	RETURN QUERY SELECT l FROM tablespace_advisor.rest_line(target, advice) l;
	RETURN QUERY SELECT l FROM tablespace_advisor.doubt_lines(advice) l;
	IF NOT in_short THEN
		RETURN QUERY SELECT l FROM tablespace_advisor.limit_lines(target, advice) l;
	END IF;
	IF cardinality(advice) > 0 THEN
		RETURN QUERY SELECT l FROM tablespace_advisor.window_lines(
			advice[1].evidence -> 'window', in_short) l;
		IF NOT EXISTS (SELECT FROM unnest(advice) a WHERE (a.advice).measured) THEN
			RETURN QUERY SELECT 'Waits: not measured (needs the library preloaded); '
				|| 'uncertain, estimates from blocks read.';
		END IF;
	END IF;
	IF NOT in_short THEN
		RETURN QUERY SELECT l FROM tablespace_advisor.probe_lines(advice) l;
		RETURN QUERY SELECT l FROM tablespace_advisor.left_out_lines(
			target, advice[1].evidence) l;
	END IF;
	RETURN QUERY SELECT l FROM tablespace_advisor.probe_help_lines(advice) l;
	RETURN QUERY SELECT l FROM unnest(more) l;
	RETURN QUERY SELECT l FROM tablespace_advisor.statement_lines(target, advice) l;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.explain_advice(regclass, tablespace_advisor.advice_row[], boolean, text[]) IS
	'the lines of explain_placement(), or in_short of advise_index_placement(); more: further lines before the statements';

