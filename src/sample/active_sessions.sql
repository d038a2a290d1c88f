/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/sample/active_sessions.sql: waits of sessions */

CREATE TYPE tablespace_advisor.wait_profile AS (
	snapshots int,
	reading_snapshots int,
	reading_sessions int,
	waits jsonb
);

COMMENT ON TYPE tablespace_advisor.wait_profile IS
	'waits of active sessions, added up over some looks at pg_stat_activity; see the columns of tablespace_advisor.sample';

/*
 * The depth of a device's queue is made by all databases of the server, hence
 * reading_sessions counts them all; waits are those of this one.
 */
CREATE FUNCTION tablespace_advisor.watch_waits(
	snapshots int,
	pause_s float8)
RETURNS tablespace_advisor.wait_profile
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	with_readers int := 0;
	readers int := 0;
	seen text[] := '{}';
	now_seen text[];
	reading int;
BEGIN
	FOR i IN 1 .. snapshots LOOP
		PERFORM pg_stat_clear_snapshot();
		SELECT coalesce(array_agg(coalesce(
				a.wait_event_type || '/' || a.wait_event, 'CPU'))
				FILTER (WHERE a.datname = current_database()), '{}'),
			count(*) FILTER (WHERE a.wait_event = 'DataFileRead')
		INTO now_seen, reading
		FROM pg_stat_activity a
		WHERE a.state = 'active' AND a.pid <> pg_backend_pid()
			AND a.backend_type IN ('client backend', 'parallel worker');
		seen := seen || now_seen;
		readers := readers + reading;
		with_readers := with_readers + (reading > 0)::int;
		PERFORM pg_sleep(pause_s);
	END LOOP;
	RETURN ROW(snapshots, with_readers, readers,
		coalesce((SELECT jsonb_object_agg(s.event, s.n)
			FROM (SELECT event, count(*) AS n FROM unnest(seen) event
				GROUP BY event) s), '{}'))::tablespace_advisor.wait_profile;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.watch_waits(int, float8) IS
	'looks at pg_stat_activity so many times, with pauses in seconds, and adds up the waits of active sessions';

CREATE FUNCTION tablespace_advisor.sum_waits(waits jsonb[])
RETURNS jsonb
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(jsonb_object_agg(s.key, s.n), '{}')
	FROM (SELECT e.key, sum(e.value::numeric) AS n
		FROM unnest(waits) w CROSS JOIN LATERAL jsonb_each_text(w) e
		GROUP BY e.key) s
$$;

COMMENT ON FUNCTION tablespace_advisor.sum_waits(jsonb[]) IS
	'the sum of objects with numbers as values, key by key';

GRANT EXECUTE ON FUNCTION
	tablespace_advisor.watch_waits, tablespace_advisor.sum_waits TO pg_monitor;
