/*
 * src/report/health.sql
 *
 * Things that the extension needs and lacks.  Each subject is a view of its
 * own kind of facts; tablespace_advisor_health() is their union.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */

/*
 * Jobs with files that are left, though nobody works on them.  The old file of a
 * small index is kept for some minutes, so younger ones are left out.
 */
CREATE FUNCTION tablespace_advisor.untidied_jobs()
RETURNS TABLE (job_id bigint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
	SELECT j.job_id FROM tablespace_advisor.job j
	WHERE (j.new_filenumbers IS NOT NULL OR j.old_filenumbers IS NOT NULL)
		AND j.finished_at < clock_timestamp() - interval '1 hour'
		AND j.database = (SELECT oid FROM pg_database
			WHERE datname = current_database())
		AND j.system_identifier =
			(SELECT system_identifier FROM pg_control_system())
$$;
COMMENT ON FUNCTION tablespace_advisor.untidied_jobs() IS
	'moves that ended more than an hour ago and have left files';

CREATE FUNCTION tablespace_advisor.server_health()
RETURNS TABLE (subject text, ok boolean, need text, message text, statement text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH preload AS (
		SELECT array_remove(regexp_split_to_array(
			current_setting('shared_preload_libraries'), E'\\s*,\\s*'), '') AS libraries
	)
	SELECT 'preloading', p.loaded, 'should',
		CASE WHEN p.loaded THEN 'the library is preloaded'
			ELSE 'the library is not preloaded: no waits, no samples, no clean-up after a crash; needs a restart' END,
		CASE WHEN NOT p.loaded THEN E'ALTER SYSTEM SET shared_preload_libraries =\n  '
			|| (SELECT string_agg(quote_literal(l), E',\n  ')
				FROM unnest(p.libraries || 'tablespace_advisor'::text) l) || ';' END
	FROM (SELECT libraries, 'tablespace_advisor' = ANY (libraries) AS loaded FROM preload) p
	UNION ALL
	SELECT 'timing', t.timed, 'should', CASE WHEN t.timed THEN 'track_io_timing is on'
			WHEN tablespace_advisor.waits_are_measured()
				THEN 'track_io_timing is off: outcomes of moves rest on waits alone; then SELECT pg_reload_conf();'
			ELSE 'track_io_timing is off: probes are not corrected, outcomes not measured; then SELECT pg_reload_conf();' END,
		CASE WHEN NOT t.timed THEN 'ALTER SYSTEM SET track_io_timing = on;' END
	FROM (SELECT current_setting('track_io_timing')::boolean AS timed) t
	UNION ALL
	SELECT 'worker slots', w.free > 0, 'must',
		format('%s of %s background workers are free; a move needs one%s', w.free, w.slots,
			CASE WHEN w.free <= 0 THEN '; needs a restart' END),
		CASE WHEN w.free <= 0 THEN
			format('ALTER SYSTEM SET max_worker_processes = %s;', w.slots + 8) END
	FROM (SELECT s.slots, greatest(0, s.slots - (SELECT count(*) FROM pg_stat_activity a
				WHERE a.backend_type NOT IN ('client backend', 'autovacuum launcher',
					'autovacuum worker', 'walsender', 'walreceiver', 'startup', 'checkpointer',
					'background writer', 'walwriter', 'walsummarizer', 'archiver', 'logger',
					'slotsync worker', 'io worker'))) AS free
		FROM (SELECT current_setting('max_worker_processes')::int AS slots) s) w
$$;
COMMENT ON FUNCTION tablespace_advisor.server_health() IS
	'the rows of tablespace_advisor_health() on settings of the server';

CREATE FUNCTION tablespace_advisor.wait_health()
RETURNS TABLE (subject text, ok boolean, need text, message text, statement text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH info AS MATERIALIZED (
		SELECT i.*, greatest(1, extract(epoch FROM clock_timestamp() - i.since) / 3600)
			AS hours
		FROM tablespace_advisor.wait_info() i
	)
	SELECT 'waits', i.enabled AND f.fit, 'should',
		CASE WHEN NOT i.enabled THEN 'track_waits is off: waits for reads are not measured'
			WHEN NOT f.fit THEN format('the table of relations is full (%s): some waits name no relation; needs a restart',
				i.max_relation_entries)
			ELSE format('waits for reads are measured, in 1 of %s executions', i.sample) END,
		CASE WHEN NOT i.enabled THEN 'ALTER SYSTEM SET tablespace_advisor.track_waits = on;'
			WHEN NOT f.fit THEN format(
				'ALTER SYSTEM SET tablespace_advisor.max_statements = %s;',
				2 * i.max_statement_entries) END
	FROM info i
	CROSS JOIN LATERAL
		(SELECT i.relations_overflowed = 0 AND i.lost_reads = 0 AS fit) f
	WHERE i.since IS NOT NULL
	UNION ALL
	SELECT 'statements', q.computed AND q.fit, 'should',
		CASE WHEN NOT q.computed
				THEN 'no query ids are computed: waits name no statements; then SELECT pg_reload_conf();'
			WHEN NOT q.fit THEN format('%s statements an hour give way to others (of %s kept); needs a restart',
				round(i.statements_evicted / i.hours), i.max_statement_entries)
			WHEN NOT q.has_texts
				THEN 'waits show query ids: pg_stat_statements (texts) is not installed here'
			ELSE 'waits name statements' END,
		CASE WHEN NOT q.computed THEN 'ALTER SYSTEM SET compute_query_id = on;'
			WHEN NOT q.fit THEN format(
				'ALTER SYSTEM SET tablespace_advisor.max_statements = %s;',
				2 * i.max_statement_entries) END
	FROM info i
	CROSS JOIN LATERAL (SELECT
		(SELECT a.query_id IS NOT NULL FROM pg_stat_activity a
			WHERE a.pid = pg_backend_pid()) AS computed,
		i.statements_evicted / i.hours <= i.max_statement_entries AS fit,
		EXISTS (SELECT FROM pg_extension e
			WHERE e.extname = 'pg_stat_statements') AS has_texts) q
	WHERE i.since IS NOT NULL AND i.enabled
$$;
COMMENT ON FUNCTION tablespace_advisor.wait_health() IS
	'the rows of tablespace_advisor_health() on waits, if the library is preloaded: whether they are measured, and whether they name relations and statements';

CREATE FUNCTION tablespace_advisor.sample_health()
RETURNS TABLE (subject text, ok boolean, need text, message text, statement text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'samples', s.ok, 'must',
		CASE WHEN pg_is_in_recovery() THEN 'a standby keeps no samples; advice takes "observe" there'
			WHEN s.last IS NULL THEN 'no sample was taken: advice rests on totals of unknown age'
			WHEN s.n < 2 THEN 'one sample was taken: activity is the difference of two'
			ELSE format('the last sample was taken %s ago', tablespace_advisor.pretty_seconds(round(s.age_s))) END,
		CASE WHEN NOT s.ok THEN format('CALL %s();', tablespace_advisor.written_call('sample_activity')) END
	FROM (SELECT x.*, pg_is_in_recovery() OR x.n > 1 AND x.age_s < 3600 AS ok
		FROM (SELECT count(*) AS n, max(a.taken_at) AS last,
				extract(epoch FROM clock_timestamp() - max(a.taken_at))::float8 AS age_s
			FROM tablespace_advisor.sample a) x) s
$$;
COMMENT ON FUNCTION tablespace_advisor.sample_health() IS
	'the row of tablespace_advisor_health() on samples: fine if one is younger than an hour';

/* Every tablespace can get relations of a user's, but nobody names pg_default. */
CREATE FUNCTION tablespace_advisor.concerns_database(tablespace name)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT $1 NOT IN ('pg_default', 'pg_global')
		OR $1 = current_setting('default_tablespace')
		OR t.oid IN (SELECT u.tablespace FROM tablespace_advisor.used_tablespace u)
		OR t.oid = (SELECT d.dattablespace FROM pg_database d WHERE d.datname = current_database())
	FROM pg_tablespace t WHERE t.spcname = $1
$$;
COMMENT ON FUNCTION tablespace_advisor.concerns_database IS
	'whether relations of this database are in a tablespace, or are created there by default; true but for pg_default and pg_global';

CREATE FUNCTION tablespace_advisor.probe_health()
RETURNS TABLE (subject text, ok boolean, need text, message text, statement text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'probe of ' || quote_ident(l.tablespace), f.ok, 'must',
		CASE WHEN l.random_read_us IS NULL THEN coalesce(
				'the newest is not to be trusted: ' || l.random_read_caveat, 'never probed')
			ELSE format('probed %s ago', tablespace_advisor.pretty_seconds(round(f.age_s))) END
			|| CASE WHEN p.helps THEN tablespace_advisor.who_may_probe(current_user) ELSE '' END,
		CASE WHEN p.helps THEN tablespace_advisor.probe_statement(l.tablespace) END
	FROM tablespace_advisor.tablespace_latency l
	CROSS JOIN LATERAL (SELECT extract(epoch FROM
		clock_timestamp() - l.measured_at)::float8 AS age_s) d
	CROSS JOIN LATERAL (SELECT d.age_s, coalesce(d.age_s < 90 * 86400, false) AS ok) f
	/* a probe that the device did not answer would find the same again */
	CROSS JOIN LATERAL (SELECT NOT f.ok
		AND (l.random_read_us IS NOT NULL OR l.random_read_caveat IS NULL) AS helps) p
	WHERE l.random_read_us IS NOT NULL
		OR tablespace_advisor.concerns_database(l.tablespace)
			AND (l.tablespace_oid IN (SELECT i.tablespace FROM tablespace_advisor.used_tablespace i)
				OR l.tablespace NOT IN (SELECT v.tablespace FROM tablespace_advisor.device v
					WHERE v.volatile))
	ORDER BY l.tablespace
$$;
COMMENT ON FUNCTION tablespace_advisor.probe_health() IS
	'the rows of tablespace_advisor_health() on measurements of tablespaces, but for volatile ones that are neither used nor probed: fine for 90 days';

CREATE FUNCTION tablespace_advisor.locality_health()
RETURNS TABLE (subject text, ok boolean, need text, message text, statement text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'localities', v.n = 0, 'should',
		CASE WHEN v.n = 0 THEN format('%s measured, all in use', m.n)
			ELSE format('%s of %s are not used, since indexes or their tables were rewritten, have grown or have changed; first %s (%s)',
				v.n, m.n, v.first, v.fault) END,
		CASE WHEN v.n > 0 THEN format('SELECT * FROM %s(%s);',
			tablespace_advisor.written_call('measure_index_locality'),
			tablespace_advisor.written_argument('measure_index_locality',
				tablespace_advisor.written_relation(v.first), 'regclass')) END
	FROM (SELECT count(*) AS n FROM tablespace_advisor.index_locality l
		WHERE l.read_times IS NOT NULL) m
	CROSS JOIN (SELECT count(*) AS n,
			(array_agg(x.index::regclass ORDER BY x.measured_at, x.index))[1] AS first,
			(array_agg(x.fault ORDER BY x.measured_at, x.index))[1] AS fault
		FROM tablespace_advisor.void_locality x) v
	WHERE m.n > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.locality_health() IS
	'the row of tablespace_advisor_health() on measured localities, if there are any that plans could use: fine if all are used';

CREATE FUNCTION tablespace_advisor.device_health()
RETURNS TABLE (subject text, ok boolean, need text, message text, statement text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'device of ' || quote_ident(d.tablespace),
		f.ok, 'found',
		CASE WHEN f.ok THEN d.media || CASE WHEN cardinality(d.warnings) > 0
				THEN format('; warnings of tablespace_devices(): %s', cardinality(d.warnings)) ELSE '' END
			ELSE array_to_string(d.warnings, '; ') END, NULL
	FROM tablespace_advisor.device d
	CROSS JOIN LATERAL (SELECT d.degraded IS NOT TRUE AND d.volatile IS NOT TRUE AS ok) f
	WHERE NOT f.ok OR tablespace_advisor.concerns_database(d.tablespace)
	ORDER BY d.tablespace
$$;
COMMENT ON FUNCTION tablespace_advisor.device_health() IS
	'the rows of tablespace_advisor_health() on devices: not fine where a RAID lacks members or contents are lost when the machine stops';

CREATE FUNCTION tablespace_advisor.move_health()
RETURNS TABLE (subject text, ok boolean, need text, message text, statement text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'moves', f.failed IS NULL, 'found',
		CASE WHEN f.failed IS NULL THEN 'none failed in the last 7 days'
			ELSE format('%s failed in the last 7 days, the last as job %s%s', f.n, f.failed,
				coalesce(': ' || tablespace_advisor.one_line(f.error, 160), '')) END,
		CASE WHEN f.failed IS NOT NULL THEN format('SELECT %s(%s);', tablespace_advisor.written_call('retry_move'), f.failed) END
	FROM (SELECT count(*) AS n, max(p.job_id) AS failed,
			(array_agg(p.error ORDER BY p.job_id DESC))[1] AS error
		FROM tablespace_advisor.move_progress p
		WHERE p.state = 'failed' AND p.sqlstate IS DISTINCT FROM 'TA001'
			AND p.finished_at > clock_timestamp() - interval '7 days') f
	UNION ALL
	SELECT 'files', u.n = 0, 'found', CASE WHEN u.n = 0 THEN 'no files of moves are left'
			ELSE format('files of moves that have ended are left (jobs: %s): the next call removes them, if their device answers', u.n) END,
		CASE WHEN u.n > 0 THEN format('SELECT %s(%s);', tablespace_advisor.written_call('wait_for_moves'),
			tablespace_advisor.written_argument('wait_for_moves', '{}', 'int8[]')) END
	FROM (SELECT count(*) AS n FROM tablespace_advisor.untidied_jobs()) u
	UNION ALL
	SELECT 'interrupted moves', false, 'found',
		format('%s (jobs: %s) kept %s of copies; unless they go on, they fail from %s on', i.n, i.jobs,
			pg_size_pretty(i.bytes), i.kept_until::timestamptz(0)),
		format('SELECT %s(%s);', tablespace_advisor.written_call('wait_for_moves'),
			tablespace_advisor.written_argument('wait_for_moves', '{}', 'int8[]'))
	FROM (SELECT count(*) AS n, string_agg(p.job_id::text, ', ' ORDER BY p.job_id) AS jobs,
			sum(p.bytes_done) AS bytes, min(p.kept_until) AS kept_until
		FROM tablespace_advisor.move_progress p
		WHERE p.state = 'interrupted'
		HAVING count(*) > 0) i
$$;
COMMENT ON FUNCTION tablespace_advisor.move_health() IS
	'the rows of tablespace_advisor_health() on moves that failed, files that they left, and, if there are any, moves that are interrupted';

CREATE FUNCTION @extschema@.tablespace_advisor_health(
	OUT subject text,
	OUT ok boolean,
	OUT need text,
	OUT message text,
	OUT statement text)
RETURNS SETOF record
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	-- the view, of which nothing is read, is locked: the extension stays meanwhile
	SELECT tablespace_advisor.printable(h.subject), h.ok, h.need,
		tablespace_advisor.wrapped(tablespace_advisor.printable(h.message), 32), h.statement
	FROM (SELECT 1 AS part, * FROM tablespace_advisor.server_health()
		UNION ALL SELECT 1, * FROM tablespace_advisor.wait_health()
		UNION ALL SELECT 2, * FROM tablespace_advisor.sample_health()
		UNION ALL SELECT 3, * FROM tablespace_advisor.probe_health()
		UNION ALL SELECT 4, * FROM tablespace_advisor.device_health()
		UNION ALL SELECT 5, * FROM tablespace_advisor.locality_health()
		UNION ALL SELECT 6, * FROM tablespace_advisor.move_health()) h
		LEFT JOIN (SELECT FROM tablespace_advisor.device LIMIT 0) held ON true
	ORDER BY array_position('{must,should,found}', h.need), h.part;
END;
COMMENT ON FUNCTION @extschema@.tablespace_advisor_health() IS
	'requirements, recommendations and findings, a row each: whether all is well (ok), need (must, should, or found: of devices and moves), a message in lines of 32 characters, and the statement that helps';

REVOKE ALL ON FUNCTION @extschema@.tablespace_advisor_health() FROM PUBLIC;
GRANT SELECT ON tablespace_advisor.move_progress TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.printable, tablespace_advisor.probe_statement,
	tablespace_advisor.probes_statement, tablespace_advisor.concerns_database,
	tablespace_advisor.untidied_jobs, tablespace_advisor.server_health,
	tablespace_advisor.wait_health, tablespace_advisor.sample_health,
	tablespace_advisor.probe_health, tablespace_advisor.device_health,
	tablespace_advisor.locality_health, tablespace_advisor.move_health,
	@extschema@.tablespace_advisor_health() TO pg_monitor;
