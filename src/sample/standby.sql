/*
 * src/sample/standby.sql
 *
 * Reads of standbys.  They keep nothing themselves: they are watched, and the rows
 * are brought to the primary, where relations have the same OIDs.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.watch_of_standby(observe interval)
RETURNS interval
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF observe IS NULL THEN
		RAISE EXCEPTION 'observe must not be null' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF NOT pg_is_in_recovery() THEN
		RAISE EXCEPTION 'this server is not a standby'
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'Call it on a standby: advice counts what is read here by the samples.';
	END IF;
	RETURN observe;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.watch_of_standby(interval) IS
	'how long to watch, on a standby. Errors: 22004 null, 55000 this is none';

CREATE FUNCTION @extschema@.standby_activity(observe interval DEFAULT '1 min')
RETURNS jsonb
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	-- the table, of which nothing is read, is locked: the extension stays meanwhile
	SELECT jsonb_build_object(
		'server', (SELECT coalesce(nullif(current_setting('cluster_name'), ''), 'standby')),
		'system_identifier', (SELECT s.system_identifier::text FROM pg_control_system() s),
		'database', (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()),
		'observed_at', clock_timestamp(),
		'seconds', max(a.seconds),
		'relations', coalesce(jsonb_agg(jsonb_build_object('relation', a.relation,
			'reads_per_s', a.reads_per_s, 'hits_per_s', a.hits_per_s,
			'scans_per_s', a.scans_per_s, 'waiting_sessions', a.waiting_sessions))
			FILTER (WHERE a.reads_per_s > 0 OR a.hits_per_s > 0
				OR a.scans_per_s > 0 OR a.waiting_sessions > 0), '[]'))
	FROM tablespace_advisor.observed_activity(tablespace_advisor.watch_of_standby(observe)) a
		LEFT JOIN (SELECT FROM tablespace_advisor.sample LIMIT 0) held ON true;
END;
REVOKE ALL ON FUNCTION @extschema@.standby_activity(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	@extschema@.standby_activity(interval), tablespace_advisor.watch_of_standby TO pg_monitor;
COMMENT ON FUNCTION @extschema@.standby_activity(interval) IS
	'watches the reads of this standby for so long and returns them for add_standby_activity() on the primary; server: its cluster_name. Errors: 55000 not on a standby, 22023 bad duration, 22004 null';

/*
 * Servers that replay the WAL from a physical walsender, which has no database: no
 * subscriber, pg_receivewal or base backup.
 */
CREATE FUNCTION tablespace_advisor.streaming_standbys()
RETURNS SETOF text
LANGUAGE sql VOLATILE ROWS 3
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT r.application_name
	FROM pg_stat_replication r JOIN pg_stat_activity a USING (pid)
	WHERE a.datid IS NULL AND r.replay_lsn IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.streaming_standbys() IS
	'application_name of each standby that streams from this server';

COMMENT ON TABLE tablespace_advisor.standby_activity IS
	'reads of relations per second on standbys, as brought by add_standby_activity(), the last of each server';

/*
 * Figures are cut, so that no sum of them overflows.  A caller that brings rows of
 * servers of any names does not fill the table, nor keep others waiting.
 */
CREATE FUNCTION tablespace_advisor.keep_standby_activity(activity jsonb, server name)
RETURNS int
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s'
AS $$
DECLARE
	max_servers CONSTANT int := 32;
	kept int;
BEGIN
	/* of other servers rows that count no more, if nobody else is at it */
	DELETE FROM tablespace_advisor.standby_activity s
	WHERE (s.server, s.relation) IN (SELECT o.server, o.relation
		FROM tablespace_advisor.standby_activity o
		WHERE o.observed_at < clock_timestamp() - interval '1 day'
			OR o.server IN (SELECT k.server FROM tablespace_advisor.standby_activity k
				WHERE k.server <> keep_standby_activity.server
				GROUP BY k.server ORDER BY max(k.observed_at) DESC, k.server
				OFFSET max_servers - 1)
		FOR UPDATE SKIP LOCKED);
	DELETE FROM tablespace_advisor.standby_activity s WHERE s.server = keep_standby_activity.server;
	INSERT INTO tablespace_advisor.standby_activity
	SELECT server, r.relation, least(o.at, clock_timestamp()),
		least(greatest(r.reads_per_s, 0), 1e9), least(greatest(r.hits_per_s, 0), 1e9),
		least(greatest(r.scans_per_s, 0), 1e9),
		CASE WHEN r.waiting_sessions IS NOT NULL
			THEN least(greatest(r.waiting_sessions, 0), 1e9) END
	FROM (SELECT (activity->>'observed_at')::timestamptz) o(at)
		CROSS JOIN jsonb_to_recordset(activity->'relations') AS r (relation oid,
			reads_per_s float8, hits_per_s float8, scans_per_s float8,
			waiting_sessions float8)
		JOIN pg_class c ON c.oid = r.relation
	WHERE o.at IS NOT NULL AND r.reads_per_s IS NOT NULL
		AND r.hits_per_s IS NOT NULL AND r.scans_per_s IS NOT NULL
	ON CONFLICT DO NOTHING;
	GET DIAGNOSTICS kept = ROW_COUNT;
	RETURN kept;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.keep_standby_activity(jsonb, name) IS
	'keeps the result of standby_activity() on that server, in the place of its earlier one; how many relations';

CREATE FUNCTION tablespace_advisor.is_of_this_database(activity jsonb)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(jsonb_typeof(activity) = 'object'
		AND activity->>'system_identifier' = s.system_identifier::text
		AND activity->>'database' = d.oid::text
		AND jsonb_typeof(activity->'relations') = 'array', false)
	FROM pg_control_system() s, pg_database d
	WHERE d.datname = current_database()
$$;
COMMENT ON FUNCTION tablespace_advisor.is_of_this_database(jsonb) IS
	'whether a result of standby_activity() is about a copy of this database';

CREATE FUNCTION @extschema@.add_standby_activity(
	activity jsonb, server name DEFAULT NULL)
RETURNS int
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'tsa_add_standby_activity';
REVOKE ALL ON FUNCTION @extschema@.add_standby_activity(jsonb, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.add_standby_activity(jsonb, name) TO pg_monitor;
COMMENT ON FUNCTION @extschema@.add_standby_activity(jsonb, name) IS
	'adds the result of standby_activity() to the advice for a day, or until the next result of that standby, for the last 32 standbys; returns the number of relations; server: the standby''s application_name in pg_stat_replication, by default its cluster_name. Errors: 22023 it is of another database or server, 22004 no activity, 25006 on a standby, 55P03 somebody is bringing that of the same server';

CREATE FUNCTION tablespace_advisor.standby_reads()
RETURNS TABLE (server name, relation oid, heap oid, member oid,
	reads_per_s float8, hits_per_s float8, scans_per_s float8,
	waiting_sessions float8)
LANGUAGE sql STABLE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT s.server, s.relation, h.heap,
		CASE c.relkind WHEN 'i' THEN CASE WHEN o.oid IS NULL THEN c.oid ELSE o.oid END
			ELSE h.heap END,
		s.reads_per_s, s.hits_per_s, s.scans_per_s, s.waiting_sessions
	FROM tablespace_advisor.standby_activity s
		JOIN pg_class c ON c.oid = s.relation
		LEFT JOIN pg_index i ON i.indexrelid = c.oid
		LEFT JOIN pg_class o ON o.reltoastrelid = coalesce(i.indrelid, c.oid)
			AND o.reltoastrelid <> 0
		CROSS JOIN LATERAL (SELECT coalesce(o.oid, i.indrelid, c.oid)) h(heap)
	WHERE s.observed_at > clock_timestamp() - interval '1 day'
$$;
COMMENT ON FUNCTION tablespace_advisor.standby_reads() IS
	'rows brought from standbys within a day; heap: the table, member: the relation that moves, which is the table for its TOAST; waiting_sessions: sessions that waited for reads, NULL: not measured there';
GRANT EXECUTE ON FUNCTION tablespace_advisor.standby_reads TO pg_monitor;
