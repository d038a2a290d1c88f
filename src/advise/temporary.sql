/*
 * src/advise/temporary.sql
 *
 * Other data on storage: temporary files, and WAL.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.temporary_io()
RETURNS TABLE (read_ms_per_s float8, write_ms_per_s float8, blocks_per_s float8, days float8)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	/* bytes alone say nothing, since the system's cache serves most */
	RETURN QUERY SELECT t.read_ms / s.seconds, t.write_ms / s.seconds,
		(t.blocks_read + t.blocks_written) / s.seconds, s.seconds / 86400
	FROM tablespace_advisor.read_temporary_io() t
	CROSS JOIN LATERAL (SELECT extract(epoch FROM clock_timestamp() - t.since)::float8 AS seconds) s
	WHERE t.read_ms + t.write_ms > 0 AND s.seconds >= 1;
EXCEPTION
	WHEN object_not_in_prerequisite_state THEN
		RETURN;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.temporary_io() IS
	'milliseconds per second that statements of this database wait for temporary files, by pg_stat_statements, since it counts; none where they were not timed';

CREATE FUNCTION tablespace_advisor.first_identifier(list text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN starts_with(l.list, '"')
		THEN replace("substring"(l.list, '^"(([^"]|"")*)"'), '""', '"')
		ELSE lower("substring"(l.list, '^[^,[:space:]]+')) END
	FROM ltrim(list) l(list)
$$;
COMMENT ON FUNCTION tablespace_advisor.first_identifier(text) IS
	'the first name in a list of identifiers, which may name missing ones; NULL if it is empty';

/* By the setting of this database, the first of the list. */
CREATE FUNCTION tablespace_advisor.temporary_tablespace()
RETURNS name
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN first.name IS NULL AND own.is_cut THEN NULL
		ELSE coalesce((SELECT t.spcname FROM pg_tablespace t WHERE t.spcname = first.name),
			(SELECT t.spcname FROM pg_tablespace t WHERE t.oid = d.dattablespace)) END
	FROM pg_database d
	LEFT JOIN LATERAL (SELECT c.value, c.is_cut
		FROM pg_db_role_setting s
		CROSS JOIN LATERAL tablespace_advisor.read_settings(s.setconfig) c
		WHERE s.setdatabase = d.oid AND s.setrole = 0
			AND coalesce(c.name, 'temp_tablespaces') = 'temp_tablespaces'
		ORDER BY c.name LIMIT 1) own ON true
	CROSS JOIN LATERAL (SELECT tablespace_advisor.first_identifier(
		CASE WHEN own.is_cut IS NULL
			THEN tablespace_advisor.reset_setting('temp_tablespaces') ELSE own.value END)) first(name)
	WHERE d.datname = current_database()
$$;
COMMENT ON FUNCTION tablespace_advisor.temporary_tablespace() IS
	'where temporary files of this database are, unless a role or a session has set temp_tablespaces; NULL if the setting is too long to be read';

CREATE FUNCTION tablespace_advisor.temporary_reason(
	finding text,
	source name,
	destination name,
	without_create name[],
	ms_per_s float8,
	days float8)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE finding
		WHEN 'no other tablespace' THEN 'there is no other tablespace for them'
		WHEN 'volatile' THEN 'volatile: if it is lost, queries that need temporary files fail'
		WHEN 'not probed' THEN format('no probe of sequential reads and writes of %I and %I',
			source, destination)
		WHEN 'not faster' THEN 'no tablespace is much faster for reading in sequence'
		ELSE CASE cardinality(without_create)
			WHEN 0 THEN format('waited for %s a second, in %s',
				tablespace_advisor.pretty_seconds(ms_per_s / 1000),
				tablespace_advisor.pretty_seconds(86400 * days))
			ELSE format('%s cannot create there, and would go on as before: %s',
				CASE cardinality(without_create) WHEN 1 THEN 'one role'
					ELSE cardinality(without_create) || ' roles' END,
				array_to_string(without_create, ', ')) END
	END
$$;
COMMENT ON FUNCTION tablespace_advisor.temporary_reason(text, name, name, name[], float8, float8) IS
	'a finding on temporary files as a sentence; without_create: roles that could not follow to the destination';

/*
 * Temporary files are read and written one page after the other.  The time includes
 * reads that the system's cache served, so that moving saves that share of it by
 * which the device there is faster.
 */
CREATE FUNCTION tablespace_advisor.temporary_files_advice(caller oid, destination name)
RETURNS SETOF @extschema@.placement_advice
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH io AS MATERIALIZED (
		SELECT i.*, i.read_ms_per_s + i.write_ms_per_s AS ms_per_s
		FROM tablespace_advisor.temporary_io() i
	), fact AS MATERIALIZED (
		SELECT f.* FROM tablespace_advisor.tablespace_facts(caller, caller) f
		WHERE EXISTS (SELECT FROM io)
	), option AS (
		SELECT s.tablespace AS source, d.tablespace, d.volatile,
			i.*, i.read_ms_per_s * (1 - d.sequential_page_us / s.sequential_page_us)
			+ CASE WHEN i.write_ms_per_s > 0 THEN i.write_ms_per_s
				* (1 - d.sequential_write_page_us / s.sequential_write_page_us)
				ELSE 0 END AS saved
		FROM io i
		JOIN fact s ON s.tablespace = tablespace_advisor.temporary_tablespace()
		LEFT JOIN fact d ON d.tablespace <> s.tablespace
			AND d.tablespace <> ALL (s.shares_device_with)
			AND (destination IS NULL AND d.volatile IS NOT TRUE OR d.tablespace = destination)
		ORDER BY saved DESC NULLS LAST, d.tablespace LIMIT 1
	), verdict AS (
		SELECT o.*, CASE
				WHEN o.tablespace IS NULL THEN 'no other tablespace'
				WHEN o.volatile THEN 'volatile'
				WHEN o.saved IS NULL THEN 'not probed'
				WHEN o.saved < 0.2 * o.ms_per_s THEN 'not faster'
				ELSE 'faster' END AS finding,
			array(SELECT r.rolname FROM pg_roles r
				JOIN pg_tablespace t ON t.spcname = o.tablespace
				WHERE r.rolcanlogin
					AND has_database_privilege(r.oid, current_database(), 'CONNECT')
					AND NOT has_tablespace_privilege(r.oid, t.oid, 'CREATE')
				ORDER BY r.rolname) AS without_create
		FROM option o
	)
	SELECT NULL::int, CASE v.finding WHEN 'faster' THEN 'move'
			WHEN 'not probed' THEN 'probe first' ELSE 'keep' END,
		NULL::regclass, v.source,
		CASE v.finding WHEN 'faster' THEN v.tablespace ELSE v.source END, NULL::bigint,
		CASE v.finding WHEN 'faster' THEN tablespace_advisor.round_to_three(v.saved)
			WHEN 'not probed' THEN NULL ELSE 0 END,
		NULL::float8,
		tablespace_advisor.one_line(tablespace_advisor.printable(
			tablespace_advisor.temporary_reason(v.finding, v.source, v.tablespace,
				v.without_create, v.ms_per_s, v.days)
			|| CASE v.finding WHEN 'not probed' THEN tablespace_advisor.who_may_probe(pg_get_userbyid(caller))
				ELSE '' END)),
		CASE v.finding WHEN 'faster' THEN format('ALTER DATABASE %I SET temp_tablespaces = %I;',
				current_database(), v.tablespace)
			/* a probe does this only on request */
			WHEN 'not probed' THEN tablespace_advisor.probes_statement(ARRAY[v.source, v.tablespace],
				', workloads => ' || tablespace_advisor.written_argument('probe_tablespace',
					'{sequential read,sequential write}', 'text[]')) END,
		'temporary files', tablespace_advisor.round_to_three(v.blocks_per_s), NULL::float8,
		NULL::float8, tablespace_advisor.round_to_three(v.ms_per_s), NULL::float8, true,
		tablespace_advisor.round_to_three(v.ms_per_s / 1000)
	FROM verdict v
$$;
COMMENT ON FUNCTION tablespace_advisor.temporary_files_advice(oid, name) IS
	'the row of advise_placement() on temporary files; none where temporary I/O was not timed';

/* With how much WAL a device of relations has to do besides. */
CREATE FUNCTION tablespace_advisor.wal_line()
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN QUERY
	SELECT format('WAL: %s/s on average of %s, on the device of %s.',
		pg_size_pretty(round(w.wal_bytes / w.seconds)::bigint),
		tablespace_advisor.pretty_seconds(w.seconds), d.names)
	FROM (SELECT w.wal_bytes, extract(epoch FROM clock_timestamp() - w.stats_reset)::float8 AS seconds
		FROM pg_stat_wal w) w
	CROSS JOIN (SELECT string_agg(quote_ident(t.spcname), ', ' ORDER BY t.spcname) AS names
		FROM tablespace_advisor.used_tablespace u
		JOIN pg_tablespace t ON t.oid = u.tablespace
		CROSS JOIN LATERAL tablespace_advisor.tablespace_device(t.oid) f
		CROSS JOIN LATERAL tablespace_advisor.tablespace_device(0) x
		WHERE f.leaves && x.leaves) d
	WHERE w.seconds >= 1 AND d.names IS NOT NULL;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.wal_line() IS
	'bytes of WAL per second since its statistics were reset, where it lies beside relations of this database';

CREATE FUNCTION tablespace_advisor.temporary_files_line(t @extschema@.placement_advice)
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('Temporary files: %s in %I; %s.',
		tablespace_advisor.waiting_sessions(t.read_ms_per_s, 'them'), t.from_tablespace,
		CASE t.action WHEN 'move' THEN format('%I saves %s %% of that: %s', t.to_tablespace,
			tablespace_advisor.two_digits(100 * t.saved_ms_per_s / t.read_ms_per_s), t.reason)
		ELSE t.reason END)
$$;
COMMENT ON FUNCTION tablespace_advisor.temporary_files_line(@extschema@.placement_advice) IS
	'the row of advise_placement() on temporary files as a line of text';
GRANT EXECUTE ON FUNCTION tablespace_advisor.temporary_files_line TO pg_monitor;

/* Lines of explain_placement() on the whole database. */
CREATE FUNCTION tablespace_advisor.storage_lines(caller oid, target regclass)
RETURNS SETOF text
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH temporary AS MATERIALIZED (
		SELECT t.* FROM tablespace_advisor.temporary_files_advice(caller, NULL) t
		WHERE target IS NULL
	)
	SELECT tablespace_advisor.temporary_files_line(t) FROM temporary t
	UNION ALL
	SELECT w FROM tablespace_advisor.wal_line() w WHERE target IS NULL
	UNION ALL
	SELECT t.statement FROM temporary t WHERE t.statement IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.storage_lines(oid, regclass) IS
	'lines on temporary files and on WAL beside data, and the statement for the former; none for a single relation';
