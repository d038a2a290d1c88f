/* tablespace_advisor: install script, assembled from src/ by the Makefile */

\echo Use "CREATE EXTENSION tablespace_advisor" to load this file. \quit

/*
 * Nothing but the server's own is found by an unqualified name: in a schema
 * where others may create, an operator of theirs could fit better than the
 * server's, and would run as whoever uses the view that it got into.
 */
SET LOCAL search_path = pg_catalog, pg_temp;

/*
 * User-facing functions, procedures and views are made in the schema that the
 * extension is installed into; its state (tables) lives in a schema of its
 * own, whose name is fixed so that C code can name it.
 */
CREATE SCHEMA tablespace_advisor;
COMMENT ON SCHEMA tablespace_advisor IS
	'state of the extension tablespace_advisor: probe history, settings and the journal of moves';
GRANT USAGE ON SCHEMA tablespace_advisor TO pg_monitor;

/* Rows of other extensions' tables. */

CREATE FUNCTION tablespace_advisor.member_rows(
	extension name, table_name name, columns name[], OUT fields text[])
RETURNS SETOF text[]
AS 'MODULE_PATHNAME', 'tsa_member_rows'
LANGUAGE C STRICT STABLE ROWS 100;
COMMENT ON FUNCTION tablespace_advisor.member_rows(name, name, name[]) IS
	'columns, as text, of the rows of a table that is another extension''s own, OIDs for names of relations and types; no rows where there is no such table, a column is missing or is not of one of the server''s common types';

CREATE FUNCTION tablespace_advisor.has_member_columns(
	extension name, table_name name, columns name[])
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_has_member_columns'
LANGUAGE C STRICT STABLE;
COMMENT ON FUNCTION tablespace_advisor.has_member_columns(name, name, name[]) IS
	'whether member_rows() can read these columns of such a table';
/*
 * In a message a name that has line breaks could pass for other lines of it,
 * with statements that somebody else has thought of.
 */
CREATE FUNCTION tablespace_advisor.printable(message text)
RETURNS text
AS 'MODULE_PATHNAME', 'tsa_printable'
LANGUAGE C IMMUTABLE STRICT;
COMMENT ON FUNCTION tablespace_advisor.printable(text) IS
	'a text with a question mark for each control character, and in UTF8 for what ends a line, turns the direction of writing or is no character';

GRANT EXECUTE ON FUNCTION tablespace_advisor.printable(text) TO pg_monitor;
/*
 * probe: what each run of the probe measured.
 *
 * Tables and indexes that version 0.4 has, too: a fresh install makes them
 * here, an update finds them there (src/update.sql adds what is new).
 */
CREATE TABLE tablespace_advisor.probe_run (
	run_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	tablespace name NOT NULL,
	location text NOT NULL,
	device text,
	mode text NOT NULL,
	file_size_bytes bigint NOT NULL,
	duration interval NOT NULL,
	started_at timestamptz NOT NULL,
	finished_at timestamptz NOT NULL,
	foreign_io_percent float8
);

CREATE TABLE tablespace_advisor.probe_result (
	run_id bigint NOT NULL
		REFERENCES tablespace_advisor.probe_run ON DELETE CASCADE,
	workload text NOT NULL,
	queue_depth int NOT NULL,
	io_size int NOT NULL,
	samples bigint NOT NULL,
	iops float8,
	mb_per_s float8,
	mean_us float8,
	stddev_us float8,
	min_us float8,
	p50_us float8,
	p90_us float8,
	p95_us float8,
	p99_us float8,
	max_us float8,
	mean_low_us float8,
	mean_high_us float8,
	caveat text,
	histogram bigint[],
	conditions text,
	others_reads_per_s float8,
	others_writes_per_s float8,
	others_read_mb_per_s float8,
	others_write_mb_per_s float8,
	others_in_flight float8,
	device_busy_percent float8,
	processor_wait_percent float8,
	turns int,
	quiet_percent float8,
	burst_iops float8,
	burst_seconds float8,
	PRIMARY KEY (run_id, workload, queue_depth)
);

SELECT pg_catalog.pg_extension_config_dump('tablespace_advisor.probe_run', '');

SELECT pg_catalog.pg_extension_config_dump('tablespace_advisor.probe_run_run_id_seq', '');

SELECT pg_catalog.pg_extension_config_dump('tablespace_advisor.probe_result', '');
/* src/probe/devices.sql */

CREATE FUNCTION tablespace_advisor.tablespace_device(
	tablespace_oid oid,
	OUT location text,
	OUT filesystem text,
	OUT mount_point text,
	OUT device text,
	OUT device_stack text,
	OUT media text,
	OUT raid_level text,
	OUT members text[],
	OUT redundant boolean,
	OUT volatile boolean,
	OUT size_bytes bigint,
	OUT free_bytes bigint,
	OUT read_ahead_kb integer,
	OUT scheduler text,
	OUT warnings text[],
	OUT degraded boolean,
	OUT write_penalty integer,
	OUT write_cache text,
	OUT leaves text[])
AS 'MODULE_PATHNAME', 'tablespace_device'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION tablespace_advisor.tablespace_device(oid) IS
	'the storage under one tablespace, given by its OID, or under pg_wal, for OID 0, apart from what it shares with others; leaves names what lies at the bottom of the stack. Used by tablespace_devices()';
GRANT EXECUTE ON FUNCTION tablespace_advisor.tablespace_device(oid) TO pg_monitor;

/*
 * Two tablespaces share a device if anything at the bottom of their stacks is
 * the same.  pg_default and pg_global are always in the data directory, which
 * is worth no warning; and pg_global is too small to get in the way of WAL.
 */
CREATE VIEW tablespace_advisor.device AS
WITH found AS MATERIALIZED (
	SELECT t.spcname, t.oid < 16384 AS built_in, d.*
	FROM pg_catalog.pg_tablespace t,
		 LATERAL tablespace_advisor.tablespace_device(t.oid) d
), wal AS MATERIALIZED (
	SELECT d.leaves FROM tablespace_advisor.tablespace_device(0) d
)
SELECT f.spcname AS tablespace, f.location, f.filesystem, f.mount_point,
	f.device, f.device_stack, f.media, f.raid_level, f.members, f.redundant,
	f.volatile, f.size_bytes, f.free_bytes, f.read_ahead_kb, f.scheduler,
	coalesce(shared.with_all, '{}') AS shares_device_with,
	f.warnings || array_remove(ARRAY[shared.warning,
		CASE WHEN f.leaves && wal.leaves AND f.spcname <> 'pg_global' THEN
			'same device as pg_wal: commits wait behind reads and writes of data'
		END], NULL) AS warnings,
	f.degraded, f.write_penalty, f.write_cache
FROM found f, wal,
	 LATERAL (
		SELECT pg_catalog.array_agg(o.spcname ORDER BY o.spcname) AS with_all,
			'same device as tablespace '
			|| pg_catalog.string_agg(pg_catalog.quote_ident(o.spcname), ', '
									 ORDER BY o.spcname)
				FILTER (WHERE NOT (f.built_in AND o.built_in))
			|| ': moving relations between them gains nothing' AS warning
		FROM found o
		WHERE o.spcname <> f.spcname AND o.leaves && f.leaves
	 ) shared;

COMMENT ON VIEW tablespace_advisor.device IS
	'what tablespace_devices() returns; read by the extension itself, because others may have made a function of that name beside it';
GRANT SELECT ON tablespace_advisor.device TO pg_monitor;

CREATE FUNCTION @extschema@.tablespace_devices(
	OUT tablespace name,
	OUT location text,
	OUT filesystem text,
	OUT mount_point text,
	OUT device text,
	OUT device_stack text,
	OUT media text,
	OUT raid_level text,
	OUT members text[],
	OUT redundant boolean,
	OUT volatile boolean,
	OUT size_bytes bigint,
	OUT free_bytes bigint,
	OUT read_ahead_kb integer,
	OUT scheduler text,
	OUT shares_device_with name[],
	OUT warnings text[],
	OUT degraded boolean,
	OUT write_penalty integer,
	OUT write_cache text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT d.* FROM tablespace_advisor.device d ORDER BY d.tablespace;
END;

COMMENT ON FUNCTION @extschema@.tablespace_devices() IS
	'the storage under every tablespace, as the kernel shows it: layers down to the disks, kind of media, RAID, sizes in bytes, read-ahead in kB, tablespaces with a disk in common. What cannot be found out is NULL or unknown, never an error, and a warning says why.';
REVOKE ALL ON FUNCTION @extschema@.tablespace_devices() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.tablespace_devices() TO pg_monitor;
/* src/probe/probe.sql */

COMMENT ON TABLE tablespace_advisor.probe_run IS
	'one row per run of probe_tablespace(): when, where and how';
COMMENT ON SEQUENCE tablespace_advisor.probe_run_run_id_seq IS
	'numbers of runs';
COMMENT ON COLUMN tablespace_advisor.probe_run.location IS
	'directory of the tablespace at the time of the run';
COMMENT ON COLUMN tablespace_advisor.probe_run.device IS
	'block device of the file system, NULL where it has none';
COMMENT ON COLUMN tablespace_advisor.probe_run.mode IS
	'scratch (a file of the probe''s own) or existing (the tablespace''s own relations)';
COMMENT ON COLUMN tablespace_advisor.probe_run.file_size_bytes IS
	'total size of the files that were read and written';
COMMENT ON COLUMN tablespace_advisor.probe_run.duration IS
	'measuring time asked for, shared by the workloads';
COMMENT ON COLUMN tablespace_advisor.probe_run.foreign_io_percent IS
	'share of the device''s requests during the measurements that others made, in percent; NULL where the device has no counters';
COMMENT ON TABLE tablespace_advisor.probe_result IS
	'the rows that each run of probe_tablespace() returned, with their latency histograms';
COMMENT ON COLUMN tablespace_advisor.probe_result.histogram IS
	'pairs {lower bound of a bucket in nanoseconds, samples in it}, empty buckets left out; a bucket is at most 1/64 of its lower bound wide (1 ns below 128 ns)';
COMMENT ON COLUMN tablespace_advisor.probe_result.caveat IS
	'why it was not the device that answered: the row says nothing of it; NULL if it was';
COMMENT ON COLUMN tablespace_advisor.probe_result.conditions IS
	'what else went on meanwhile, as far as it matters; the row is true of that load';
COMMENT ON COLUMN tablespace_advisor.probe_result.others_reads_per_s IS
	'reads per second that others made of the device meanwhile; NULL where it has no counters';
COMMENT ON COLUMN tablespace_advisor.probe_result.others_writes_per_s IS
	'writes per second that others made to the device meanwhile';
COMMENT ON COLUMN tablespace_advisor.probe_result.others_read_mb_per_s IS
	'MB (1048576 bytes) per second that others read meanwhile';
COMMENT ON COLUMN tablespace_advisor.probe_result.others_write_mb_per_s IS
	'MB (1048576 bytes) per second that others wrote meanwhile';
COMMENT ON COLUMN tablespace_advisor.probe_result.others_in_flight IS
	'mean number of requests of others that the device had at a time';
COMMENT ON COLUMN tablespace_advisor.probe_result.device_busy_percent IS
	'time during which the device had a request, the probe''s included, in percent';
COMMENT ON COLUMN tablespace_advisor.probe_result.processor_wait_percent IS
	'time for which the probe waited for a processor, in percent';
COMMENT ON COLUMN tablespace_advisor.probe_result.turns IS
	'turns in which it was measured, all rows taking part in the same seconds';
COMMENT ON COLUMN tablespace_advisor.probe_result.quiet_percent IS
	'share of these turns in which others made at most 5 % of the device''s requests and took at most 10 % of the processor''s time; where they were enough they alone are the row; NULL where the device has no counters';
COMMENT ON COLUMN tablespace_advisor.probe_result.burst_iops IS
	'requests per second before throughput first fell to another level; the last level is what counts; NULL where it did not fall';
COMMENT ON COLUMN tablespace_advisor.probe_result.burst_seconds IS
	'seconds from the first measurement of the run until it had fallen to the last level';
GRANT SELECT ON tablespace_advisor.probe_run, tablespace_advisor.probe_result
	TO pg_monitor;

CREATE FUNCTION @extschema@.probe_tablespace(
	tablespace name DEFAULT NULL,
	duration interval DEFAULT '3 s',
	file_size text DEFAULT '256 MB',
	queue_depths int[] DEFAULT '{1,2,4,8,16,32}',
	workloads text[] DEFAULT NULL,
	mode text DEFAULT 'scratch',
	OUT tablespace name,
	OUT workload text,
	OUT queue_depth int,
	OUT io_size int,
	OUT samples bigint,
	OUT iops float8,
	OUT mb_per_s float8,
	OUT mean_us float8,
	OUT stddev_us float8,
	OUT min_us float8,
	OUT p50_us float8,
	OUT p90_us float8,
	OUT p95_us float8,
	OUT p99_us float8,
	OUT max_us float8,
	OUT mean_low_us float8,
	OUT mean_high_us float8,
	OUT caveat text,
	OUT conditions text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'probe_tablespace';
COMMENT ON FUNCTION @extschema@.probe_tablespace(name, interval, text, int[], text[], text) IS
	'measures the device under a tablespace (NULL: under all but pg_global), one row per workload and queue depth, and keeps the run in tablespace_advisor.probe_run and probe_result; times in microseconds, rates per second, MB of 1048576 bytes; a caveat says why it was not the device that answered. Errors: 42704 unknown tablespace; 22004 NULL; 22023 argument out of range; 42501 no CREATE on the tablespace (mode scratch); 53100 not enough space; 53400 temp_file_limit exceeded; 55000 no relation file to read (mode existing), or none of all tablespaces could be probed.';
REVOKE ALL ON FUNCTION @extschema@.probe_tablespace(name, interval, text, int[], text[], text) FROM PUBLIC;
/*
 * Size: how large pgbench -i makes a database, and which scale makes one of a
 * given size.
 *
 * The bodies are SQL-standard ones, bound when the extension is created, so
 * that they need no right on the schema that the functions behind them are in.
 */

CREATE FUNCTION tablespace_advisor.pgbench_forks(
	scale int, fillfactor int, partitions int, bigint_scale int,
	OUT relation text, OUT fork text, OUT blocks bigint)
RETURNS SETOF record
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'pgbench_forks';
COMMENT ON FUNCTION tablespace_advisor.pgbench_forks(int, int, int, int) IS
	'blocks of each relation fork that pgbench -i makes, with a bigint "aid" from bigint_scale on (20000 in pgbench); serves estimate_pgbench_size()';

CREATE FUNCTION tablespace_advisor.pgbench_nearest_scale(
	target_bytes bigint, object text, fillfactor int, partitions int,
	empty_bytes bigint)
RETURNS int
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'pgbench_nearest_scale';
COMMENT ON FUNCTION tablespace_advisor.pgbench_nearest_scale(bigint, text, int, int, bigint) IS
	'scale at which pgbench -i comes nearest to a size in bytes, when an empty database has empty_bytes; serves estimate_pgbench_scale()';

CREATE FUNCTION tablespace_advisor.empty_database_bytes()
RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT pg_catalog.pg_database_size(d.oid)
	FROM pg_catalog.pg_database d
	WHERE d.datname IN ('template1', 'template0')
	ORDER BY d.datname DESC
	LIMIT 1;
END;
COMMENT ON FUNCTION tablespace_advisor.empty_database_bytes() IS
	'bytes that a new database of this server takes: the size of template1, which CREATE DATABASE copies (of template0 where there is no template1)';

CREATE FUNCTION @extschema@.estimate_pgbench_size(
	scale int, fillfactor int DEFAULT 100, partitions int DEFAULT 0,
	OUT relation text, OUT fork text, OUT blocks bigint, OUT bytes bigint)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH forks AS MATERIALIZED (
		SELECT f.relation, f.fork, f.blocks,
			   f.blocks * pg_catalog.current_setting('block_size')::bigint AS bytes,
			   f.number
		FROM tablespace_advisor.pgbench_forks(scale, fillfactor, partitions, 20000)
			 WITH ORDINALITY AS f(relation, fork, blocks, number)
	), added AS (
		SELECT pg_catalog.sum(f.blocks)::bigint AS blocks,
			   pg_catalog.sum(f.bytes)::bigint AS bytes
		FROM forks f
	), listed AS (
		SELECT 1 AS part, f.number, f.relation, f.fork, f.blocks, f.bytes
		FROM forks f
		UNION ALL
		SELECT 2, NULL, 'database (added)', NULL, a.blocks, a.bytes
		FROM added a
		UNION ALL
		SELECT 3, NULL, 'database (total)', NULL, NULL,
			   a.bytes + tablespace_advisor.empty_database_bytes()
		FROM added a
	)
	SELECT l.relation, l.fork, l.blocks, l.bytes
	FROM listed l
	ORDER BY l.part, l.number;
END;
COMMENT ON FUNCTION @extschema@.estimate_pgbench_size(int, int, int) IS
	'size in blocks and bytes of each relation fork that "pgbench -i" of this server''s version makes, by page arithmetic; then their sum, "database (added)", and that plus the size of template1, "database (total)". Errors: 22004 for NULL, 22023 for a value out of range, 54000 for a scale that does not fit a relation.';

CREATE FUNCTION @extschema@.estimate_pgbench_scale(
	target_size text, object text DEFAULT 'database',
	fillfactor int DEFAULT 100, partitions int DEFAULT 0)
RETURNS int
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT tablespace_advisor.pgbench_nearest_scale(
		pg_catalog.pg_size_bytes(target_size), object, fillfactor, partitions,
		CASE WHEN object = 'database'
			 THEN tablespace_advisor.empty_database_bytes() END);
END;
COMMENT ON FUNCTION @extschema@.estimate_pgbench_scale(text, text, int, int) IS
	'scale at which "pgbench -i" comes nearest to target_size (text as pg_size_bytes() reads it) by the sizes of estimate_pgbench_size(), the smaller one of two; object: database (with the size of template1), table (pgbench_accounts with its forks) or index (pgbench_accounts_pkey). Errors: 22004 for NULL, 22023 for a value out of range or a size that cannot be read, 54000 for a target that no scale reaches, 3D000 where there is neither template1 nor template0.';
/*
 * sample: what samples leave behind.
 *
 * Tables that version 0.4 has, too: a fresh install makes them here, an update
 * finds them there (src/update.sql adds what is new).
 */
CREATE TABLE tablespace_advisor.sample (
	sample_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	started_at timestamptz,
	taken_at timestamptz NOT NULL,
	covers text NOT NULL DEFAULT 'sample'
		CHECK (covers IN ('sample', 'hour', 'day')),
	was_reset boolean NOT NULL,
	stats_reset timestamptz,
	io_timed boolean NOT NULL,
	blocks_read bigint NOT NULL,
	blocks_hit bigint NOT NULL,
	read_ms float8 NOT NULL,
	write_ms float8 NOT NULL,
	statements bigint,
	statements_ms float8,
	snapshots int NOT NULL,
	reading_snapshots int NOT NULL,
	reading_sessions int NOT NULL,
	waits jsonb NOT NULL
);

CREATE TABLE tablespace_advisor.relation_sample (
	sample_id int NOT NULL,
	relation oid NOT NULL,
	size_bytes bigint NOT NULL,
	reads bigint,
	hits bigint,
	scans bigint,
	tuples_read bigint,
	inserted bigint,
	updated bigint,
	hot_updated bigint,
	deleted bigint,
	cached_reads real,
	maintenance_reads bigint,
	PRIMARY KEY (sample_id, relation)
);
/* Samples in which something was vacuumed. */
CREATE INDEX relation_sample_maintained_idx ON tablespace_advisor.relation_sample (sample_id)
	INCLUDE (maintenance_reads) WHERE maintenance_reads > 0;

CREATE TABLE tablespace_advisor.tablespace_sample (
	sample_id int NOT NULL,
	tablespace oid NOT NULL,
	used_bytes bigint NOT NULL,
	free_bytes bigint,
	PRIMARY KEY (sample_id, tablespace)
);

CREATE TABLE tablespace_advisor.sampled_relation (
	relation oid PRIMARY KEY,
	tablespace oid NOT NULL,
	filenode oid NOT NULL,
	filenode_since timestamptz,
	counted_since timestamptz,
	size_bytes bigint NOT NULL,
	reads bigint NOT NULL,
	hits bigint NOT NULL,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	inserted bigint NOT NULL,
	updated bigint NOT NULL,
	hot_updated bigint NOT NULL,
	deleted bigint NOT NULL,
	system_cached real,
	vacuums bigint,
	analyzes bigint
) WITH (fillfactor = 70);

CREATE TABLE tablespace_advisor.table_residency (
	relation oid PRIMARY KEY,
	shared_fraction float8 NOT NULL,
	system_fraction float8 NOT NULL,
	measured_at timestamptz NOT NULL
);

CREATE TABLE tablespace_advisor.tablespace_io_sample (
	sample_id int NOT NULL,
	tablespace oid NOT NULL,
	measured_at timestamptz NOT NULL,
	seconds float8 NOT NULL,
	reads bigint NOT NULL,
	read_bytes bigint NOT NULL,
	read_ms bigint NOT NULL,
	writes bigint NOT NULL,
	write_bytes bigint NOT NULL,
	write_ms bigint NOT NULL,
	busy_ms bigint NOT NULL,
	queue_ms bigint NOT NULL,
	PRIMARY KEY (sample_id, tablespace)
);

CREATE TABLE tablespace_advisor.sampled_device (
	tablespace oid PRIMARY KEY,
	read_at timestamptz NOT NULL,
	device text NOT NULL,
	reads bigint NOT NULL,
	read_bytes bigint NOT NULL,
	read_ms bigint NOT NULL,
	writes bigint NOT NULL,
	write_bytes bigint NOT NULL,
	write_ms bigint NOT NULL,
	busy_ms bigint NOT NULL,
	queue_ms bigint NOT NULL
);

CREATE TABLE tablespace_advisor.standby_activity (
	server name NOT NULL,
	relation oid NOT NULL,
	observed_at timestamptz NOT NULL,
	reads_per_s float8 NOT NULL,
	hits_per_s float8 NOT NULL,
	scans_per_s float8 NOT NULL,
	PRIMARY KEY (server, relation)
);

/* src/sample/active_sessions.sql: what sessions wait for */

CREATE TYPE tablespace_advisor.wait_profile AS (
	snapshots int,
	reading_snapshots int,
	reading_sessions int,
	waits jsonb
);

COMMENT ON TYPE tablespace_advisor.wait_profile IS
	'what active sessions waited for, added up over some looks at pg_stat_activity; see the columns of tablespace_advisor.sample';

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
	'looks at pg_stat_activity so many times, with pauses in seconds, and adds up what active sessions wait for';

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
	'the sum of objects whose values are numbers, key by key';

GRANT EXECUTE ON FUNCTION tablespace_advisor.watch_waits(int, float8),
	tablespace_advisor.sum_waits(jsonb[]) TO pg_monitor;
/*
 * src/sample/device_io.sql
 *
 * Measuring without a probe: what the devices under the tablespaces did between
 * two moments, by the kernel's own counters.  Their mean read time is what the
 * application's reads take now, however busy the device is, as long as the reads
 * are single pages; nobody is disturbed by it.
 *
 * A probe's requests are nobody's load, and would be most of it on a quiet
 * device, so that intervals in which one ran are left out.  A device is known by
 * more than its name (device_counters.c): after a reboot, or with another disk in
 * its place, there is no row, as there is none if a counter fell.
 */
CREATE FUNCTION tablespace_advisor.device_counters(
	tablespace oid,
	OUT device text,
	OUT reads bigint,
	OUT read_bytes bigint,
	OUT read_ms bigint,
	OUT writes bigint,
	OUT write_bytes bigint,
	OUT write_ms bigint,
	OUT busy_ms bigint,
	OUT queue_ms bigint)
LANGUAGE C STRICT VOLATILE
AS 'MODULE_PATHNAME', 'tsa_device_counters';

COMMENT ON FUNCTION tablespace_advisor.device_counters(oid) IS
	'the kernel''s counters of the device under a tablespace, see sampled_device; NULL where the kernel does not say, or several devices are below';

CREATE FUNCTION tablespace_advisor.read_devices()
RETURNS SETOF tablespace_advisor.sampled_device
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT t.oid, clock_timestamp(), c.*
	FROM pg_tablespace t
	CROSS JOIN LATERAL tablespace_advisor.device_counters(t.oid) c
	WHERE t.spcname <> 'pg_global' AND c.device IS NOT NULL
$$;

COMMENT ON FUNCTION tablespace_advisor.read_devices() IS
	'counters of the devices under all tablespaces but pg_global, now';

CREATE FUNCTION tablespace_advisor.device_growth(
	earlier tablespace_advisor.sampled_device,
	later tablespace_advisor.sampled_device)
RETURNS TABLE (
	seconds float8,
	reads bigint,
	read_bytes bigint,
	read_ms bigint,
	writes bigint,
	write_bytes bigint,
	write_ms bigint,
	busy_ms bigint,
	queue_ms bigint)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT g.*
	FROM (SELECT extract(epoch FROM later.read_at - earlier.read_at)::float8,
			later.reads - earlier.reads, later.read_bytes - earlier.read_bytes,
			later.read_ms - earlier.read_ms, later.writes - earlier.writes,
			later.write_bytes - earlier.write_bytes,
			later.write_ms - earlier.write_ms, later.busy_ms - earlier.busy_ms,
			later.queue_ms - earlier.queue_ms)
		g (seconds, reads, read_bytes, read_ms, writes, write_bytes, write_ms,
			busy_ms, queue_ms)
	WHERE earlier.tablespace = later.tablespace AND earlier.device = later.device
		AND g.seconds > 0 AND least(g.reads, g.read_bytes, g.read_ms, g.writes,
			g.write_bytes, g.write_ms, g.busy_ms, g.queue_ms) >= 0
$$;

COMMENT ON FUNCTION tablespace_advisor.device_growth(tablespace_advisor.sampled_device, tablespace_advisor.sampled_device) IS
	'what a device did between two readings; no row if it is another one, or if a counter fell (they wrap around after 2^32 ms, too)';

CREATE FUNCTION tablespace_advisor.add_device_samples(s tablespace_advisor.sample)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH present AS MATERIALIZED (
		SELECT d.* FROM tablespace_advisor.read_devices() d
	), added AS (
		INSERT INTO tablespace_advisor.tablespace_io_sample
			(sample_id, tablespace, measured_at, seconds, reads, read_bytes, read_ms,
				writes, write_bytes, write_ms, busy_ms, queue_ms)
		SELECT s.sample_id, p.tablespace, p.read_at, g.*
		FROM present p
		JOIN tablespace_advisor.sampled_device o ON o.tablespace = p.tablespace
		CROSS JOIN LATERAL tablespace_advisor.device_growth(o, p) g
	), forgotten AS (
		DELETE FROM tablespace_advisor.sampled_device o
		WHERE o.tablespace NOT IN (SELECT p.tablespace FROM present p)
	)
	INSERT INTO tablespace_advisor.sampled_device
	SELECT p.* FROM present p
	ON CONFLICT (tablespace) DO UPDATE
	SET read_at = excluded.read_at, device = excluded.device,
		reads = excluded.reads, read_bytes = excluded.read_bytes,
		read_ms = excluded.read_ms, writes = excluded.writes,
		write_bytes = excluded.write_bytes, write_ms = excluded.write_ms,
		busy_ms = excluded.busy_ms, queue_ms = excluded.queue_ms
$$;

COMMENT ON FUNCTION tablespace_advisor.add_device_samples(tablespace_advisor.sample) IS
	'adds the rows of tablespace_io_sample that belong to a sample just begun, and brings sampled_device up to date';

/* Hours and days have lost such intervals when they were rolled up. */
CREATE VIEW tablespace_advisor.device_interval AS
SELECT i.sample_id, i.tablespace, i.measured_at, i.seconds, i.reads, i.read_bytes,
	i.read_ms, i.writes, i.write_bytes, i.write_ms, i.busy_ms, i.queue_ms
FROM tablespace_advisor.tablespace_io_sample i
JOIN tablespace_advisor.sample s ON s.sample_id = i.sample_id
WHERE s.covers <> 'sample' OR NOT EXISTS
	(SELECT FROM tablespace_advisor.probe_run p
		WHERE p.started_at < i.measured_at
			AND p.finished_at > i.measured_at - make_interval(secs => i.seconds));

COMMENT ON VIEW tablespace_advisor.device_interval IS
	'tablespace_io_sample without intervals in which a probe ran that this database knows of';

CREATE FUNCTION tablespace_advisor.mean_us(ms float8, requests float8)
RETURNS float8
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE WHEN ms > 0 THEN 1000 * ms / nullif(requests, 0) END;
END;

COMMENT ON FUNCTION tablespace_advisor.mean_us(float8, float8) IS
	'microseconds a request took; NULL without requests, or if the device does not count time';

CREATE VIEW @extschema@.tablespace_io AS
SELECT t.spcname AS tablespace, i.measured_at AS sampled_at,
	round((i.reads / i.seconds)::numeric, 3)::float8 AS reads_per_s,
	round((i.read_bytes / 1048576.0 / i.seconds)::numeric, 3)::float8 AS read_mb_per_s,
	round(tablespace_advisor.mean_us(i.read_ms, i.reads)::numeric, 1)::float8 AS read_us,
	round((i.writes / i.seconds)::numeric, 3)::float8 AS writes_per_s,
	round((i.write_bytes / 1048576.0 / i.seconds)::numeric, 3)::float8 AS write_mb_per_s,
	round(tablespace_advisor.mean_us(i.write_ms, i.writes)::numeric, 1)::float8 AS write_us,
	least(100, round((i.busy_ms / 10 / i.seconds)::numeric, 1))::float8 AS busy_percent,
	round((i.queue_ms / 1000 / i.seconds)::numeric, 3)::float8 AS in_flight
FROM tablespace_advisor.device_interval i
JOIN pg_tablespace t ON t.oid = i.tablespace;

COMMENT ON VIEW @extschema@.tablespace_io IS
	'per sample and tablespace what the whole disk under it did for everybody since the sample before, as the kernel counts it: requests and MB (1048576 bytes) per second, microseconds a request took (read_us, write_us; NULL without requests), percent of the time with a request in flight, mean number in flight. Intervals in which a probe of this database ran have no row, nor has the first after a reboot or another device';

CREATE TYPE tablespace_advisor.device_rate AS (
	tablespace oid,
	intervals int,
	seconds float8,
	reads_per_s float8,
	busy_percent float8,
	read_us float8,
	read_low_us float8,
	read_high_us float8,
	reads_in_flight float8,
	all_reads_in_flight float8,
	writes_in_flight float8
);

COMMENT ON TYPE tablespace_advisor.device_rate IS
	'what the device under a tablespace did in some intervals. read_us: microseconds that a read of about a page took, of intervals in which the mean read was one, with a 95 % interval; reads_in_flight: mean number of such reads under way; NULL with fewer than 30 reads, or if the device counts no time; all_reads_in_flight, writes_in_flight: mean number of reads of any size, and of writes, under way, in all intervals';

/*
 * Where the kernel reads ahead, or somebody reads in bulk, a request is many
 * pages, and its time is not that of a page: such intervals are left out.  The
 * 95 % interval is that of a ratio of sums, from how much it varies from one
 * interval to the next, and not below what chance among so many reads makes, taken
 * for exponential; of a single interval that is all there is.
 */
CREATE FUNCTION tablespace_advisor.device_rates(
	intervals tablespace_advisor.tablespace_io_sample[])
RETURNS SETOF tablespace_advisor.device_rate
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH part AS (
		SELECT i.*, i.reads > 0 AND i.read_bytes
			<= 2 * current_setting('block_size')::float8 * i.reads AS is_paged
		FROM unnest(intervals) i
	), whole AS (
		SELECT p.tablespace, count(*)::int AS intervals, sum(p.seconds) AS seconds,
			sum(p.reads) / sum(p.seconds) AS reads_per_s,
			sum(p.read_ms) / 1000 / sum(p.seconds) AS reads_in_flight,
			sum(p.write_ms) / 1000 / sum(p.seconds) AS writes_in_flight,
			least(100, sum(p.busy_ms) / 10 / sum(p.seconds)) AS busy_percent,
			count(*) FILTER (WHERE p.is_paged) AS n,
			sum(p.seconds) FILTER (WHERE p.is_paged) AS paged_seconds,
			(sum(p.reads) FILTER (WHERE p.is_paged))::float8 AS reads,
			(sum(p.read_ms) FILTER (WHERE p.is_paged))::float8 AS ms
		FROM part p GROUP BY p.tablespace
	), measured AS (
		SELECT w.*, greatest(2 / sqrt(w.reads),
			CASE WHEN w.n > 1 THEN
				/* of Student's distribution */
				coalesce((ARRAY[12.7, 4.3, 3.2, 2.8, 2.6, 2.4, 2.4, 2.3, 2.3])[w.n - 1], 2)
				* sqrt(w.n / (w.n - 1)::float8 * (SELECT sum(power(
						p.read_ms - w.ms / w.reads * p.reads, 2))
					FROM part p WHERE p.tablespace = w.tablespace AND p.is_paged))
				/ w.ms END) AS error
		FROM whole w WHERE w.reads >= 30 AND w.ms > 0
	)
	SELECT w.tablespace, w.intervals, w.seconds, w.reads_per_s, w.busy_percent,
		1000 * m.ms / m.reads, 1000 * m.ms / m.reads / (1 + m.error),
		1000 * m.ms / m.reads * (1 + m.error), m.ms / 1000 / m.paged_seconds,
		w.reads_in_flight, w.writes_in_flight
	FROM whole w LEFT JOIN measured m USING (tablespace)
$$;

COMMENT ON FUNCTION tablespace_advisor.device_rates(tablespace_advisor.tablespace_io_sample[]) IS
	'what devices did in these intervals, a row per tablespace';

REVOKE ALL ON @extschema@.tablespace_io FROM PUBLIC;
GRANT SELECT ON @extschema@.tablespace_io, tablespace_advisor.device_interval
	TO pg_monitor;
GRANT EXECUTE ON FUNCTION tablespace_advisor.device_counters(oid),
	tablespace_advisor.read_devices(),
	tablespace_advisor.device_growth(tablespace_advisor.sampled_device,
		tablespace_advisor.sampled_device),
	tablespace_advisor.device_rates(tablespace_advisor.tablespace_io_sample[]),
	tablespace_advisor.mean_us(float8, float8) TO pg_monitor;

/*
 * src/sample/history.sql
 *
 * What samples leave behind.  Counters of the whole database are kept as they
 * were, and are subtracted when they are read; of relations, of which there
 * may be a hundred thousand, one row each holds the counters of the last
 * sample, and each sample adds rows for what has changed, as differences.
 * Differences can be added up, and so old samples become hours and days.
 * Columns that are zero are NULL, which takes no room.
 *
 * None of this is marked for pg_dump: in another database the OIDs are others.
 */

COMMENT ON TABLE tablespace_advisor.sample IS
	'one row per sample of this database''s activity';
COMMENT ON SEQUENCE tablespace_advisor.sample_sample_id_seq IS
	'numbers of samples';
COMMENT ON COLUMN tablespace_advisor.sample.started_at IS
	'when the sample before was taken: the differences in relation_sample are those since then; NULL in the first';
COMMENT ON COLUMN tablespace_advisor.sample.covers IS
	'sample: one sample; hour, day: the samples of an hour or day, added up';
COMMENT ON COLUMN tablespace_advisor.sample.was_reset IS
	'counters were reset, or lost in a crash, since the sample before';
COMMENT ON COLUMN tablespace_advisor.sample.stats_reset IS
	'pg_stat_database.stats_reset at that time';
COMMENT ON COLUMN tablespace_advisor.sample.io_timed IS
	'track_io_timing was on';
COMMENT ON COLUMN tablespace_advisor.sample.blocks_read IS
	'counter of this database: blocks read past shared buffers';
COMMENT ON COLUMN tablespace_advisor.sample.blocks_hit IS
	'counter of this database: blocks found in shared buffers';
COMMENT ON COLUMN tablespace_advisor.sample.read_ms IS
	'counter of this database: milliseconds spent reading data files';
COMMENT ON COLUMN tablespace_advisor.sample.write_ms IS
	'counter of this database: milliseconds spent writing data files';
COMMENT ON COLUMN tablespace_advisor.sample.statements IS
	'pg_stat_statements: calls in this database; NULL without that extension';
COMMENT ON COLUMN tablespace_advisor.sample.statements_ms IS
	'pg_stat_statements: milliseconds of execution in this database';
COMMENT ON COLUMN tablespace_advisor.sample.snapshots IS
	'looks at pg_stat_activity';
COMMENT ON COLUMN tablespace_advisor.sample.reading_snapshots IS
	'looks in which any session of the server waited for a data file read';
COMMENT ON COLUMN tablespace_advisor.sample.reading_sessions IS
	'sessions of the server that waited for a data file read, added up over the looks';
COMMENT ON COLUMN tablespace_advisor.sample.waits IS
	'active sessions of this database by wait class and event, added up over the looks; CPU: no wait';

COMMENT ON TABLE tablespace_advisor.relation_sample IS
	'what happened to a relation between a sample and the one before it; relations whose counters and size did not change have no row, and NULL means zero. reads, hits: blocks read past shared buffers and found in them; scans: scans begun; tuples_read: rows or index entries read by them; inserted, updated, hot_updated (HOT ones among them), deleted: row versions; cached_reads: reads times the share of its blocks outside of shared buffers that the system''s cache had, on average of this sample and the one before, NULL: not known; maintenance_reads: those of the reads that were VACUUM''s and ANALYZE''s, estimated, NULL: none ran; size_bytes: of all forks, at the end';

COMMENT ON TABLE tablespace_advisor.tablespace_sample IS
	'per sample and tablespace: bytes of this database''s relations, and bytes free in the file system (NULL: not known)';

COMMENT ON TABLE tablespace_advisor.sampled_relation IS
	'size and counters (see relation_sample) of every relation in the last sample; filenode_since: since when it has this file, counted_since: since when it is counted, NULL: not known; system_cached: share of its blocks outside of shared buffers that the system''s cache had then, NULL: not known, or not read since the sample before; vacuums, analyzes: how often its table was vacuumed and analyzed, NULL: not known';

COMMENT ON TABLE tablespace_advisor.tablespace_io_sample IS
	'what the device under a tablespace did for everybody in the seconds up to measured_at, as the kernel counts it: requests as the device got them, bytes, milliseconds that they took, added up over requests; busy_ms: with a request in flight; queue_ms: milliseconds of all requests. Rolled up, seconds are those that were measured';

COMMENT ON TABLE tablespace_advisor.sampled_device IS
	'counters of the device under each tablespace at the last sample, see tablespace_io_sample; device: its name, the number the kernel gave it, the boot of the machine: counters of different ones are not subtracted';

GRANT SELECT ON tablespace_advisor.sample, tablespace_advisor.relation_sample,
	tablespace_advisor.tablespace_sample, tablespace_advisor.sampled_relation,
	tablespace_advisor.tablespace_io_sample, tablespace_advisor.sampled_device
	TO pg_monitor;

/*
 * src/sample/inventory.sql
 *
 * Which relations there are and what the statistics say of them now.  Nothing
 * here locks a relation: no function that opens one is called.
 */
CREATE VIEW tablespace_advisor.relation_inventory AS
SELECT c.oid AS relation,
	CASE c.relkind
		WHEN 't' THEN coalesce(owner.oid, c.oid)
		WHEN 'i' THEN coalesce(index_owner.oid, i.indrelid)
		ELSE c.oid
	END AS heap,
	CASE
		WHEN c.relkind = 't' THEN 'toast'
		WHEN index_owner.oid IS NOT NULL THEN 'toast index'
		WHEN c.relkind = 'i' THEN 'index'
		ELSE 'heap'
	END AS kind,
	coalesce(nullif(c.reltablespace, 0), d.dattablespace) AS tablespace,
	c.relfilenode AS filenode,
	i.indrelid AS indexed
FROM pg_class c
JOIN pg_database d ON d.datname = current_database()
LEFT JOIN pg_index i ON i.indexrelid = c.oid
LEFT JOIN (SELECT oid, relnamespace, reltoastrelid FROM pg_class
	WHERE reltoastrelid <> 0) owner ON owner.reltoastrelid = c.oid
LEFT JOIN (SELECT oid, relnamespace, reltoastrelid FROM pg_class
	WHERE reltoastrelid <> 0) index_owner
	ON index_owner.reltoastrelid = i.indrelid
WHERE c.relkind IN ('r', 'm', 't', 'i') AND c.relpersistence <> 't'
	AND c.oid >= 16384 AND c.relfilenode <> 0
	AND coalesce(index_owner.relnamespace, owner.relnamespace, c.relnamespace)
		<> 'tablespace_advisor'::regnamespace;

COMMENT ON VIEW tablespace_advisor.relation_inventory IS
	'every relation of this database that has storage, but for catalogs, temporary relations, sequences and this extension''s own; heap: the table it belongs to, kind: heap, index, toast or toast index, tablespace: OID, never 0, indexed: the relation that an index is on';

/* A TOAST table is where its table is. */
CREATE VIEW tablespace_advisor.used_tablespace AS
SELECT DISTINCT coalesce(nullif(c.reltablespace, 0), d.dattablespace) AS tablespace
FROM pg_class c
JOIN pg_database d ON d.datname = current_database()
WHERE c.relkind IN ('r', 'm', 'i') AND c.relpersistence <> 't'
	AND c.oid >= 16384 AND c.relfilenode <> 0
	AND c.relnamespace NOT IN ('tablespace_advisor'::regnamespace, 'pg_toast'::regnamespace);

COMMENT ON VIEW tablespace_advisor.used_tablespace IS
	'OIDs of the tablespaces that relations of relation_inventory are in, without looking at each of these';

/*
 * relation_inventory of some tables.  plpgsql, which plans for as many as there
 * are: few are looked up, many are joined.
 */
CREATE FUNCTION tablespace_advisor.inventory_of(tables oid[])
RETURNS SETOF tablespace_advisor.relation_inventory
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY WITH heap AS MATERIALIZED (
		SELECT h.oid, h.reltoastrelid AS toast
		FROM unnest(tables) t JOIN pg_class h ON h.oid = t
		WHERE h.relkind IN ('r', 'm')
			AND h.relnamespace <> 'tablespace_advisor'::regnamespace
	), member (relation, heap, kind, indexed) AS (
		SELECT h.oid, h.oid, 'heap', NULL FROM heap h
		UNION ALL
		SELECT i.indexrelid, h.oid, 'index', i.indrelid
		FROM heap h JOIN pg_index i ON i.indrelid = h.oid
		UNION ALL
		SELECT h.toast, h.oid, 'toast', NULL FROM heap h
		UNION ALL
		SELECT i.indexrelid, h.oid, 'toast index', i.indrelid
		FROM heap h JOIN pg_index i ON i.indrelid = nullif(h.toast, 0)
	)
	SELECT c.oid, m.heap, m.kind, coalesce(nullif(c.reltablespace, 0), d.dattablespace),
		c.relfilenode, m.indexed
	FROM member m
	JOIN pg_class c ON c.oid = m.relation
	JOIN pg_database d ON d.datname = current_database()
	WHERE c.relpersistence <> 't' AND c.oid >= 16384 AND c.relfilenode <> 0;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.inventory_of(oid[]) IS
	'the rows of relation_inventory that belong to these tables';

/* A TOAST table depends on its table, whatever it is called. */
CREATE FUNCTION tablespace_advisor.tables_of(relations oid[])
RETURNS SETOF oid
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
	RETURN QUERY SELECT DISTINCT coalesce(d.refobjid, i.indrelid, c.oid)
	FROM unnest(relations) r
	JOIN pg_class c ON c.oid = r
	LEFT JOIN pg_index i ON i.indexrelid = c.oid
	LEFT JOIN pg_depend d ON c.relnamespace = 'pg_toast'::regnamespace
		AND d.classid = 'pg_class'::regclass AND d.objsubid = 0
		AND d.objid = coalesce(i.indrelid, c.oid)
		AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i';
END
$$;

COMMENT ON FUNCTION tablespace_advisor.tables_of(oid[]) IS
	'the tables that these tables, indexes and TOAST tables belong to';

/*
 * The time of a relation's last VACUUM does not say whose it was.  A worker's query
 * begins anew with each table, of which it vacuums the TOAST table next, then analyzes
 * it: what was vacuumed since is another's, but for that table.
 */
CREATE FUNCTION tablespace_advisor.uncounted_maintenance(
	OUT vacuumed oid[],
	OUT analyzed oid[])
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH process AS MATERIALIZED (
		SELECT w.is_worker, coalesce(v.relid, n.relid) AS present,
			CASE WHEN w.is_worker THEN a.backend_start ELSE a.query_start END AS began,
			CASE WHEN w.is_worker THEN a.query_start ELSE 'infinity' END AS present_began
		FROM pg_stat_activity a
		LEFT JOIN pg_stat_progress_vacuum v USING (pid)
		LEFT JOIN pg_stat_progress_analyze n USING (pid)
		CROSS JOIN LATERAL
			(SELECT a.backend_type = 'autovacuum worker' AS is_worker) w
		WHERE a.datname = current_database()
			AND (w.is_worker OR v.pid IS NOT NULL OR n.pid IS NOT NULL)
	), done AS (
		SELECT c.oid,
			t.vacuumed BETWEEN p.began AND u.until AS vacuumed,
			t.analyzed BETWEEN p.began AND u.until AS analyzed
		FROM process p CROSS JOIN pg_class c
		CROSS JOIN LATERAL (SELECT CASE WHEN p.is_worker
				THEN pg_stat_get_last_autovacuum_time(c.oid)
				ELSE pg_stat_get_last_vacuum_time(c.oid) END AS vacuumed,
			CASE WHEN p.is_worker THEN pg_stat_get_last_autoanalyze_time(c.oid)
				ELSE pg_stat_get_last_analyze_time(c.oid) END AS analyzed) t
		CROSS JOIN LATERAL (SELECT CASE WHEN p.present IN (c.oid, c.reltoastrelid)
				THEN 'infinity' ELSE p.present_began END AS until) u
		WHERE c.relkind IN ('r', 'm', 't')
	)
	SELECT coalesce(array_agg(d.oid) FILTER (WHERE d.vacuumed), '{}'),
		coalesce(array_agg(d.oid) FILTER (WHERE d.analyzed), '{}')
	FROM done d
$$;

COMMENT ON FUNCTION tablespace_advisor.uncounted_maintenance() IS
	'tables of this database that were vacuumed or analyzed by a process whose reads the counters do not have yet';

CREATE FUNCTION tablespace_advisor.vacuum_count(
	relation oid,
	is_uncounted boolean)
RETURNS bigint
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT pg_stat_get_vacuum_count(relation) + pg_stat_get_autovacuum_count(relation)
		- is_uncounted::int;
END;

COMMENT ON FUNCTION tablespace_advisor.vacuum_count(oid, boolean) IS
	'how often a table was vacuumed, by hand or not, since counters began; is_uncounted: without the last time';

CREATE FUNCTION tablespace_advisor.analyze_count(
	relation oid,
	is_uncounted boolean)
RETURNS bigint
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT pg_stat_get_analyze_count(relation) + pg_stat_get_autoanalyze_count(relation)
		- is_uncounted::int;
END;

COMMENT ON FUNCTION tablespace_advisor.analyze_count(oid, boolean) IS
	'how often a table was analyzed, by hand or not, since counters began; is_uncounted: without the last time';

/* IN: hashed, as there may be as many of these tables as there are tables. */
CREATE VIEW tablespace_advisor.relation_counter AS
SELECT i.relation, i.heap, i.kind, i.tablespace, i.filenode, i.indexed,
	pg_stat_get_blocks_fetched(i.relation)
		- pg_stat_get_blocks_hit(i.relation) AS reads,
	pg_stat_get_blocks_hit(i.relation) AS hits,
	pg_stat_get_numscans(i.relation) AS scans,
	pg_stat_get_tuples_returned(i.relation) AS tuples_read,
	pg_stat_get_tuples_inserted(i.relation) AS inserted,
	pg_stat_get_tuples_updated(i.relation) AS updated,
	pg_stat_get_tuples_hot_updated(i.relation) AS hot_updated,
	pg_stat_get_tuples_deleted(i.relation) AS deleted,
	tablespace_advisor.vacuum_count(coalesce(i.indexed, i.relation),
		coalesce(i.indexed, i.relation) IN (SELECT unnest(u.vacuumed)
			FROM tablespace_advisor.uncounted_maintenance() u)) AS vacuums,
	tablespace_advisor.analyze_count(coalesce(i.indexed, i.relation),
		coalesce(i.indexed, i.relation) IN (SELECT unnest(u.analyzed)
			FROM tablespace_advisor.uncounted_maintenance() u)) AS analyzes
FROM tablespace_advisor.relation_inventory i;

COMMENT ON VIEW tablespace_advisor.relation_counter IS
	'relation_inventory with the counters of the statistics as they are now, see relation_sample and sampled_relation';

/*
 * Counters survive a clean restart, so the server's start says nothing about
 * their age.  They begin at pg_stat_reset(); in a database where that was
 * never called, at the time the server last began with none at all (first
 * start, crash recovery, upgrade), which is the oldest reset among the
 * cluster-wide counters.  Either may be longer than a given relation exists.
 */
CREATE VIEW tablespace_advisor.statistics_start AS
SELECT d.stats_reset,
	least((SELECT stats_reset FROM pg_stat_bgwriter),
		(SELECT stats_reset FROM pg_stat_archiver),
		(SELECT stats_reset FROM pg_stat_wal)) AS server_since
FROM pg_stat_database d WHERE d.datname = current_database();

COMMENT ON VIEW tablespace_advisor.statistics_start IS
	'since when counters count: stats_reset: since this database was last reset, NULL if it never was; server_since: at most since then all counters of the server';

GRANT SELECT ON tablespace_advisor.relation_inventory,
	tablespace_advisor.used_tablespace,
	tablespace_advisor.relation_counter, tablespace_advisor.statistics_start
	TO pg_monitor;
GRANT EXECUTE ON FUNCTION tablespace_advisor.inventory_of(oid[]),
	tablespace_advisor.uncounted_maintenance(),
	tablespace_advisor.vacuum_count(oid, boolean),
	tablespace_advisor.analyze_count(oid, boolean),
	tablespace_advisor.tables_of(oid[]) TO pg_monitor;
/*
 * src/sample/maintenance.sql
 *
 * Reads that are not the application's.  VACUUM and ANALYZE read through shared
 * buffers, and their reads are counted with everybody's: of a table that is only
 * written they can be all there are, of TPC-C's order_line they were ten of eleven.
 * They come and go with the dead rows, are read ahead, and nobody waits for them:
 * no reason to move anything.
 *
 * The server does not count them by relation.  But it counts how often each table
 * was vacuumed and analyzed.  A window of samples is long against that, so the reads
 * of a relation are those of the intervals in which neither happened, if these are
 * at least a fifth of the window; else what was read in all, less an estimate: VACUUM
 * has read each block that shared buffers did not have once, ANALYZE as many as its
 * sample has rows.  VACUUM skips what is all visible and reads indexes more than once
 * if memory is short, hence an estimate; it is never more than what was read.
 *
 * A process adds what it has read to the counters when its statement is over (a
 * client's) or when it ends (a worker of autovacuum, after all its tables): one that is
 * still at work has added nothing, while those of its tables that are done are counted
 * as vacuumed already.  These are left out until it has (inventory.sql).
 *
 * Not seen: one that was cancelled; a statement that waits for its next table, or whose
 * transaction goes on.  Not to be told from the application: COPY, pg_dump.  A base
 * backup does not read through shared buffers; in the device's counters it shows as
 * reads of many pages (device_io.sql).
 */

/* An index is not read by ANALYZE. */
CREATE FUNCTION tablespace_advisor.estimate_maintenance_reads(
	kind text,
	vacuums bigint,
	analyzes bigint,
	reads bigint,
	size_bytes bigint,
	shared_fraction float8)
RETURNS bigint
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT least(reads, ceil((1 - coalesce(shared_fraction, 0)) * (vacuums * b.blocks
		+ CASE WHEN kind IN ('heap', 'toast') THEN analyzes
			* least(b.blocks, 300 * current_setting('default_statistics_target')::int)
			ELSE 0 END))::bigint)
	FROM (SELECT size_bytes / current_setting('block_size')::float8 AS blocks) b
	WHERE vacuums > 0 OR analyzes > 0 AND kind IN ('heap', 'toast')
$$;

COMMENT ON FUNCTION tablespace_advisor.estimate_maintenance_reads(text, bigint, bigint, bigint, bigint, float8) IS
	'those of a relation''s reads that so many VACUUMs and ANALYZEs of its table made, about; shared_fraction: share of its blocks in shared buffers, NULL: not known. NULL if there were none';

GRANT EXECUTE ON FUNCTION
	tablespace_advisor.estimate_maintenance_reads(text, bigint, bigint, bigint,
		bigint, float8) TO pg_monitor;

/*
 * src/sample/observe.sql
 *
 * Rates per relation over a window, from whatever there is: samples, the
 * statistics' totals, or watching for a while.
 */
CREATE TYPE tablespace_advisor.relation_rate AS (
	relation oid,
	heap oid,
	kind text,
	tablespace oid,
	size_bytes bigint,
	reads_per_s float8,
	hits_per_s float8,
	writes_per_s float8,
	scans_per_s float8,
	tuples_per_s float8,
	hot_fraction float8,
	scans_total bigint,
	counted_since timestamptz,
	was_reset boolean,
	system_cached float8,
	maintenance_reads_per_s float8
);

COMMENT ON TYPE tablespace_advisor.relation_rate IS
	'what a relation was read and written per second over a window. reads, hits: blocks read past shared buffers and found in them, reads without maintenance_reads: VACUUM''s and ANALYZE''s (maintenance.sql), NULL: none ran; writes: row versions written (heap: inserts, updates, deletes; index: inserts and updates that are not HOT, at most; TOAST: its own); scans: scans begun; tuples: rows or index entries read by them; hot_fraction: share of the table''s updates that are HOT, NULL without updates; scans_total: scans since counted_since (NULL: not known); was_reset: its counters began anew within the window; system_cached: share of its reads that the system''s cache served, by the pages it had (at both ends of each sample), NULL: not known';

CREATE TYPE tablespace_advisor.observation AS (
	source text,
	window_start timestamptz,
	window_end timestamptz,
	seconds float8,
	intervals int,
	was_reset boolean,
	blocks_read float8,
	blocks_hit float8,
	read_ms float8,
	timed_blocks float8,
	statements float8,
	statements_ms float8,
	profile tablespace_advisor.wait_profile
);

COMMENT ON TYPE tablespace_advisor.observation IS
	'a window and what happened in the whole database meanwhile; see observe_database()';

/* Differences between successive samples, of the database's own counters. */
CREATE VIEW tablespace_advisor.sample_interval AS
SELECT s.sample_id, s.started_at, s.taken_at, s.covers, s.was_reset,
	extract(epoch FROM s.taken_at - s.started_at)::float8 AS seconds,
	s.blocks_read - CASE WHEN s.was_reset OR s.blocks_read < l.blocks_read
		THEN 0 ELSE l.blocks_read END AS blocks_read,
	s.blocks_hit - CASE WHEN s.was_reset OR s.blocks_hit < l.blocks_hit
		THEN 0 ELSE l.blocks_hit END AS blocks_hit,
	CASE WHEN s.io_timed AND l.io_timed THEN
		s.read_ms - CASE WHEN s.was_reset OR s.read_ms < l.read_ms
			THEN 0 ELSE l.read_ms END
	END AS read_ms,
	CASE WHEN s.io_timed AND l.io_timed THEN
		s.write_ms - CASE WHEN s.was_reset OR s.write_ms < l.write_ms
			THEN 0 ELSE l.write_ms END
	END AS write_ms,
	s.statements - CASE WHEN s.statements < l.statements
		OR s.statements_ms < l.statements_ms
		THEN 0 ELSE l.statements END AS statements,
	s.statements_ms - CASE WHEN s.statements < l.statements
		OR s.statements_ms < l.statements_ms
		THEN 0 ELSE l.statements_ms END AS statements_ms,
	s.snapshots, s.reading_snapshots, s.reading_sessions, s.waits
FROM tablespace_advisor.sample s
CROSS JOIN LATERAL
	(SELECT p.* FROM tablespace_advisor.sample p
		WHERE p.sample_id < s.sample_id
		ORDER BY p.sample_id DESC LIMIT 1) l
/* what somebody has put there need not be a time */
WHERE isfinite(s.taken_at) AND isfinite(s.started_at) IS NOT FALSE;

COMMENT ON VIEW tablespace_advisor.sample_interval IS
	'per sample but the first: what happened in the whole database since the one before; columns as in tablespace_advisor.sample. read_ms and write_ms are NULL unless track_io_timing was on';

/*
 * What maintenance read is left out of reads_per_s: by intervals without any, if
 * these are a fifth of the window, else by its estimate.
 */
CREATE FUNCTION tablespace_advisor.sum_relation_samples(
	first_id int,
	last_id int,
	window_seconds float8,
	OUT relation oid,
	OUT reads_per_s float8,
	OUT maintenance_reads_per_s float8,
	OUT hits float8,
	OUT scans float8,
	OUT tuples_read float8,
	OUT inserted float8,
	OUT updated float8,
	OUT hot_updated float8,
	OUT deleted float8,
	OUT cached_share float8)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH window_sample AS MATERIALIZED (
		SELECT i.sample_id, i.seconds FROM tablespace_advisor.sample_interval i
		WHERE i.sample_id BETWEEN first_id AND last_id
	)
	SELECT c.relation, m.reads_per_s,
		CASE WHEN c.seconds_maintained > 0 THEN greatest(0,
			c.all_reads / nullif(window_seconds, 0) - m.reads_per_s) END,
		c.hits, c.scans, c.tuples_read, c.inserted, c.updated, c.hot_updated,
		c.deleted, c.cached_reads / nullif(c.looked_at, 0)
	FROM (SELECT r.relation,
			sum(r.reads::float8) AS all_reads,
			coalesce(sum(r.reads::float8) FILTER (WHERE r.maintenance_reads IS NULL), 0)
				AS clean_reads,
			sum(r.maintenance_reads::float8) AS maintenance_reads,
			sum(i.seconds) FILTER (WHERE r.maintenance_reads IS NOT NULL) AS seconds_maintained,
			sum(r.hits::float8) AS hits,
			sum(r.scans::float8) AS scans,
			sum(r.tuples_read::float8) AS tuples_read,
			sum(r.inserted::float8) AS inserted,
			sum(r.updated::float8) AS updated,
			sum(r.hot_updated::float8) AS hot_updated,
			sum(r.deleted::float8) AS deleted,
			sum(r.cached_reads::float8) AS cached_reads,
			sum(r.reads::float8) FILTER (WHERE r.cached_reads IS NOT NULL) AS looked_at
		FROM tablespace_advisor.relation_sample r
		JOIN window_sample i ON i.sample_id = r.sample_id
		WHERE r.sample_id BETWEEN first_id AND last_id
		GROUP BY r.relation) c
	CROSS JOIN LATERAL (SELECT CASE
			WHEN c.seconds_maintained IS NULL THEN c.all_reads / nullif(window_seconds, 0)
			WHEN window_seconds - c.seconds_maintained > window_seconds / 5
				THEN c.clean_reads / (window_seconds - c.seconds_maintained)
			ELSE (c.all_reads - c.maintenance_reads) / nullif(window_seconds, 0)
		END AS reads_per_s) m
$$;

COMMENT ON FUNCTION tablespace_advisor.sum_relation_samples(int, int, float8) IS
	'what the samples of a window say of each relation: per second, or in all';

/*
 * with_active: also of tables that have changed, of which there are few among
 * many; else of the tables given, or of all.
 */
CREATE FUNCTION tablespace_advisor.observe_samples(
	history interval,
	tables oid[],
	with_active boolean,
	OUT window_of tablespace_advisor.observation,
	OUT relations tablespace_advisor.relation_rate[])
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB'
SET jit = off
SET enable_mergejoin = off
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
	first_id int;
	last_id int;
BEGIN
	SELECT min(i.sample_id), max(i.sample_id) INTO first_id, last_id
	FROM tablespace_advisor.sample_interval i
	WHERE i.taken_at > clock_timestamp() - history;
	IF first_id IS NULL THEN
		RETURN;
	END IF;
	SELECT 'samples', min(i.started_at), max(i.taken_at), sum(i.seconds),
		count(*), bool_or(i.was_reset), sum(i.blocks_read), sum(i.blocks_hit),
		sum(i.read_ms),
		sum(i.blocks_read) FILTER (WHERE i.read_ms IS NOT NULL),
		sum(i.statements), sum(i.statements_ms),
		(sum(i.snapshots), sum(i.reading_snapshots), sum(i.reading_sessions),
			tablespace_advisor.sum_waits(array_agg(i.waits)))
			::tablespace_advisor.wait_profile
	INTO window_of
	FROM tablespace_advisor.sample_interval i
	WHERE i.sample_id BETWEEN first_id AND last_id;

	WITH change AS MATERIALIZED (
		SELECT c.* FROM tablespace_advisor.sum_relation_samples(
			first_id, last_id, window_of.seconds) c
	), present AS (
		SELECT i.* FROM tablespace_advisor.relation_inventory i
		WHERE tables IS NULL AND NOT with_active
		UNION ALL
		SELECT i.* FROM tablespace_advisor.inventory_of(array(
			SELECT unnest(tables)
			UNION
			SELECT t FROM tablespace_advisor.tables_of(array(
				SELECT c.relation FROM change c WHERE with_active)) t)) i
		WHERE tables IS NOT NULL OR with_active
	)
	SELECT array_agg((i.relation, i.heap, i.kind, i.tablespace,
		CASE WHEN s.filenode = i.filenode THEN s.size_bytes
			ELSE tablespace_advisor.file_bytes(i.tablespace, i.filenode) END,
		coalesce(c.reads_per_s, 0), coalesce(c.hits, 0) / n.seconds,
		tablespace_advisor.tuples_written(i.kind,
			coalesce(h.inserted, 0), coalesce(h.updated, 0),
			coalesce(h.hot_updated, 0), coalesce(h.deleted, 0)) / n.seconds,
		coalesce(c.scans, 0) / n.seconds, coalesce(c.tuples_read, 0) / n.seconds,
		h.hot_updated / nullif(h.updated, 0),
		coalesce(s.scans, 0), s.counted_since,
		coalesce(s.counted_since > window_of.window_start, false),
		c.cached_share, c.maintenance_reads_per_s
		)::tablespace_advisor.relation_rate)
	INTO relations
	FROM present i
	LEFT JOIN tablespace_advisor.sampled_relation s ON s.relation = i.relation
	LEFT JOIN change c ON c.relation = i.relation
	LEFT JOIN change h ON h.relation = coalesce(i.indexed, i.relation)
	CROSS JOIN (SELECT nullif(window_of.seconds, 0) AS seconds) n;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.observe_samples(interval, oid[], boolean) IS
	'what samples say of a window, and of relations in it (see observe_database()): from those of the last so long; NULL if there are none';

CREATE FUNCTION tablespace_advisor.tuples_written(
	kind text,
	inserted float8,
	updated float8,
	hot_updated float8,
	deleted float8)
RETURNS float8
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE WHEN kind IN ('heap', 'toast')
		THEN inserted + updated + deleted
		ELSE inserted + updated - hot_updated END;
END;

COMMENT ON FUNCTION tablespace_advisor.tuples_written(text, float8, float8, float8, float8) IS
	'row versions that changes of a table write into it or, at most, into an index on it: an update that is not HOT writes every index, one that is HOT none, a delete none';

/* The counters as they are, of all relations or of some tables. */
CREATE FUNCTION tablespace_advisor.read_counters(tables oid[])
RETURNS tablespace_advisor.relation_counter[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET stats_fetch_consistency = 'cache'
SET work_mem = '64MB'
SET jit = off
AS $$
BEGIN
	PERFORM pg_stat_clear_snapshot();
	RETURN (SELECT array_agg(c) FROM tablespace_advisor.relation_counter c
		WHERE tables IS NULL OR c.heap = ANY (tables));
END
$$;

COMMENT ON FUNCTION tablespace_advisor.read_counters(oid[]) IS
	'relation_counter as it is now, of all relations or of those of some tables';

/*
 * Rates between two readings.  Without the earlier one: since counters
 * began.  A counter that fell has begun anew.
 */
CREATE FUNCTION tablespace_advisor.subtract_counters(
	earlier tablespace_advisor.relation_counter[],
	later tablespace_advisor.relation_counter[],
	seconds float8)
RETURNS tablespace_advisor.relation_rate[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB'
SET jit = off
AS $$
	WITH change AS MATERIALIZED (
		SELECT l.relation, l.heap, l.kind, l.tablespace, l.filenode, l.indexed,
			l.scans AS scans_total, f.fell,
			l.reads - f.keeps * coalesce(e.reads, 0) AS reads,
			l.hits - f.keeps * coalesce(e.hits, 0) AS hits,
			l.scans - f.keeps * coalesce(e.scans, 0) AS scans,
			l.tuples_read - f.keeps * coalesce(e.tuples_read, 0) AS tuples_read,
			l.inserted - f.keeps * coalesce(e.inserted, 0) AS inserted,
			l.updated - f.keeps * coalesce(e.updated, 0) AS updated,
			l.hot_updated - f.keeps * coalesce(e.hot_updated, 0) AS hot_updated,
			l.deleted - f.keeps * coalesce(e.deleted, 0) AS deleted,
			/* of totals nothing can be said */
			l.vacuums - f.keeps * e.vacuums AS vacuums,
			l.analyzes - f.keeps * e.analyzes AS analyzes
		FROM unnest(later) l
		LEFT JOIN unnest(earlier) e ON e.relation = l.relation
		CROSS JOIN LATERAL
			(SELECT x.fell, (NOT x.fell)::int AS keeps
			FROM (SELECT coalesce(l.reads < e.reads OR l.hits < e.hits
				OR l.scans < e.scans OR l.tuples_read < e.tuples_read
				OR l.inserted < e.inserted OR l.updated < e.updated
				OR l.hot_updated < e.hot_updated
				OR l.deleted < e.deleted, false) AS fell) x) f
	)
	SELECT array_agg((c.relation, c.heap, c.kind, c.tablespace,
		z.size_bytes, (c.reads - coalesce(m.reads, 0)) / n.seconds, c.hits / n.seconds,
		tablespace_advisor.tuples_written(c.kind, h.inserted, h.updated,
			h.hot_updated, h.deleted) / n.seconds,
		c.scans / n.seconds, c.tuples_read / n.seconds,
		h.hot_updated::float8 / nullif(h.updated, 0),
		c.scans_total, coalesce(b.stats_reset, b.server_since), c.fell, NULL,
		m.reads / n.seconds
		)::tablespace_advisor.relation_rate)
	FROM change c
	JOIN change h ON h.relation = coalesce(c.indexed, c.relation)
	CROSS JOIN tablespace_advisor.statistics_start b
	CROSS JOIN (SELECT nullif(subtract_counters.seconds, 0) AS seconds) n
	CROSS JOIN LATERAL
		(SELECT tablespace_advisor.file_bytes(c.tablespace, c.filenode)
			AS size_bytes) z
	CROSS JOIN LATERAL
		(SELECT tablespace_advisor.estimate_maintenance_reads(c.kind, c.vacuums,
			c.analyzes, c.reads, z.size_bytes, NULL) AS reads) m
	WHERE z.size_bytes IS NOT NULL
$$;

COMMENT ON FUNCTION tablespace_advisor.subtract_counters(tablespace_advisor.relation_counter[], tablespace_advisor.relation_counter[], float8) IS
	'rates between two readings of read_counters(), so many seconds apart; since counters began without the earlier one';

/* What the statistics say of the whole database now. */
CREATE FUNCTION tablespace_advisor.read_database()
RETURNS tablespace_advisor.observation
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT ('totals', coalesce(b.stats_reset, b.server_since),
		clock_timestamp(),
		extract(epoch FROM clock_timestamp()
			- coalesce(b.stats_reset, b.server_since)),
		1, b.stats_reset IS NOT NULL, d.blks_read, d.blks_hit,
		CASE WHEN current_setting('track_io_timing')::boolean
			THEN d.blk_read_time END,
		CASE WHEN current_setting('track_io_timing')::boolean
			THEN d.blks_read END,
		NULL, NULL,
		(0, 0, 0, '{}')::tablespace_advisor.wait_profile
		)::tablespace_advisor.observation
	FROM pg_stat_database d, tablespace_advisor.statistics_start b
	WHERE d.datname = current_database()
$$;

COMMENT ON FUNCTION tablespace_advisor.read_database() IS
	'the window since counters began, with the whole database''s counters';

CREATE FUNCTION tablespace_advisor.watch_database(
	duration interval,
	tables oid[],
	OUT window_of tablespace_advisor.observation,
	OUT relations tablespace_advisor.relation_rate[],
	OUT devices tablespace_advisor.tablespace_io_sample[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	seconds float8 := extract(epoch FROM duration);
	snapshots int;
	before tablespace_advisor.observation;
	counters tablespace_advisor.relation_counter[];
	counters_after tablespace_advisor.relation_counter[];
	devices_before tablespace_advisor.sampled_device[];
BEGIN
	IF seconds < 0.1 OR seconds > 86400 THEN
		RAISE EXCEPTION 'observe must be between 100 ms and 1 day'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	snapshots := least(greatest(seconds / 0.1, 1), 1000);
	counters := tablespace_advisor.read_counters(tables);
	devices_before := array(SELECT d FROM tablespace_advisor.read_devices() d);
	before := tablespace_advisor.read_database();
	window_of.profile := tablespace_advisor.watch_waits(snapshots,
		seconds / snapshots);
	devices := array(SELECT ROW(0, l.tablespace, l.read_at, g.*)
			::tablespace_advisor.tablespace_io_sample
		FROM tablespace_advisor.read_devices() l
		JOIN unnest(devices_before) e ON e.tablespace = l.tablespace
		CROSS JOIN LATERAL tablespace_advisor.device_growth(e, l) g);
	counters_after := tablespace_advisor.read_counters(tables);
	SELECT 'observed', before.window_end, d.window_end,
		extract(epoch FROM d.window_end - before.window_end), 1,
		d.blocks_read < before.blocks_read
			OR d.window_start IS DISTINCT FROM before.window_start,
		greatest(d.blocks_read - before.blocks_read, 0),
		greatest(d.blocks_hit - before.blocks_hit, 0),
		greatest(d.read_ms - before.read_ms, 0),
		greatest(d.timed_blocks - before.timed_blocks, 0),
		NULL, NULL, window_of.profile
	INTO window_of
	FROM tablespace_advisor.read_database() d;
	relations := tablespace_advisor.subtract_counters(counters,
		counters_after, window_of.seconds);
END
$$;

COMMENT ON FUNCTION tablespace_advisor.watch_database(interval, oid[]) IS
	'what a window of so long, beginning now, shows. Errors: 22023 duration out of range';

CREATE FUNCTION tablespace_advisor.observe_database(
	observe interval DEFAULT NULL,
	tables oid[] DEFAULT NULL,
	history interval DEFAULT '1 day',
	with_active boolean DEFAULT false,
	OUT source text,
	OUT window_start timestamptz,
	OUT window_end timestamptz,
	OUT seconds float8,
	OUT intervals int,
	OUT was_reset boolean,
	OUT reads_per_s float8,
	OUT hits_per_s float8,
	OUT read_ms_per_s float8,
	OUT timed_read_us float8,
	OUT snapshots int,
	OUT reading_snapshots int,
	OUT active_sessions float8,
	OUT reading_sessions float8,
	OUT waits jsonb,
	OUT relations tablespace_advisor.relation_rate[],
	OUT devices tablespace_advisor.device_rate[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB'
AS $$
DECLARE
	seen record;
	w tablespace_advisor.observation;
BEGIN
	IF observe IS NOT NULL THEN
		SELECT o.* INTO seen
		FROM tablespace_advisor.watch_database(observe,
			CASE WHEN NOT with_active THEN tables END) o;
		devices := array(SELECT d FROM tablespace_advisor.device_rates(seen.devices) d);
	ELSE
		devices := array(SELECT d FROM tablespace_advisor.device_rates(array(
			SELECT ROW(i.*)::tablespace_advisor.tablespace_io_sample
			FROM tablespace_advisor.device_interval i
			WHERE i.measured_at > clock_timestamp() - history)) d);
		SELECT o.* INTO seen
		FROM tablespace_advisor.observe_samples(history, tables, with_active) o;
		IF (seen.window_of).source IS NULL THEN
			SELECT d AS window_of,
				tablespace_advisor.subtract_counters(NULL,
					tablespace_advisor.read_counters(
						CASE WHEN NOT with_active THEN tables END), d.seconds)
					AS relations
			INTO seen
			FROM tablespace_advisor.read_database() d;
		END IF;
	END IF;
	w := seen.window_of;
	relations := coalesce(seen.relations, '{}');
	source := w.source;
	window_start := w.window_start;
	window_end := w.window_end;
	seconds := w.seconds;
	intervals := w.intervals;
	was_reset := w.was_reset;
	reads_per_s := w.blocks_read / nullif(w.seconds, 0);
	hits_per_s := w.blocks_hit / nullif(w.seconds, 0);
	timed_read_us := w.read_ms * 1000 / nullif(w.timed_blocks, 0);
	read_ms_per_s := reads_per_s * timed_read_us / 1000;
	snapshots := (w.profile).snapshots;
	reading_snapshots := (w.profile).reading_snapshots;
	reading_sessions := (w.profile).reading_sessions::float8
		/ nullif((w.profile).reading_snapshots, 0);
	SELECT coalesce(jsonb_object_agg(e.key, e.value::float8 / snapshots), '{}'),
		coalesce(sum(e.value::float8), 0) / nullif(snapshots, 0)
	INTO waits, active_sessions
	FROM jsonb_each_text((w.profile).waits) e WHERE snapshots > 0;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.observe_database(interval, oid[], interval, boolean) IS
	'what this database and its relations (of the tables given, or all; with_active: at least of those and of tables that did anything) did per second: while watched for so long (observe), else by the samples of the last history, else by the totals since counters began; times are NULL without track_io_timing. Errors: 22023 observe out of range';

CREATE FUNCTION tablespace_advisor.observed_activity(
	observe interval DEFAULT NULL,
	tables oid[] DEFAULT NULL,
	history interval DEFAULT '1 day')
RETURNS TABLE (
	source text,
	window_start timestamptz,
	window_end timestamptz,
	seconds float8,
	relation oid,
	heap oid,
	kind text,
	tablespace oid,
	size_bytes bigint,
	reads_per_s float8,
	hits_per_s float8,
	writes_per_s float8,
	scans_per_s float8,
	tuples_per_s float8,
	hot_fraction float8,
	scans_total bigint,
	counted_since timestamptz,
	was_reset boolean,
	system_cached float8,
	maintenance_reads_per_s float8)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB'
AS $$
	SELECT o.source, o.window_start, o.window_end, o.seconds, r.*
	FROM tablespace_advisor.observe_database(observe, tables, history) o
	CROSS JOIN LATERAL unnest(o.relations) r
$$;

COMMENT ON FUNCTION tablespace_advisor.observed_activity(interval, oid[], interval) IS
	'the relations of observe_database(), one row each; columns as there and in the type relation_rate';

GRANT SELECT ON tablespace_advisor.sample_interval TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.sum_relation_samples(int, int, float8),
	tablespace_advisor.observe_samples(interval, oid[], boolean),
	tablespace_advisor.tuples_written(text, float8, float8, float8, float8),
	tablespace_advisor.read_counters(oid[]),
	tablespace_advisor.subtract_counters(tablespace_advisor.relation_counter[], tablespace_advisor.relation_counter[], float8),
	tablespace_advisor.read_database(),
	tablespace_advisor.watch_database(interval, oid[]),
	tablespace_advisor.observe_database(interval, oid[], interval, boolean),
	tablespace_advisor.observed_activity(interval, oid[], interval)
	TO pg_monitor;

/* src/sample/residency.sql */

CREATE FUNCTION tablespace_advisor.file_bytes(
	tablespace oid,
	filenode oid)
RETURNS bigint
AS 'MODULE_PATHNAME', 'file_bytes'
LANGUAGE C STRICT VOLATILE PARALLEL SAFE;

COMMENT ON FUNCTION tablespace_advisor.file_bytes(oid, oid) IS
	'bytes of all forks of a relation of this database, given by the tablespace and the number of its file; NULL if there is no such file. Takes no lock';

CREATE FUNCTION tablespace_advisor.relation_bytes(relation oid)
RETURNS bigint
LANGUAGE sql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.file_bytes(
		coalesce(nullif(c.reltablespace, 0), d.dattablespace), c.relfilenode)
	FROM pg_class c, pg_database d
	WHERE c.oid = relation AND d.datname = current_database()
		AND c.relfilenode <> 0 AND NOT c.relisshared AND c.relpersistence <> 't'
$$;

COMMENT ON FUNCTION tablespace_advisor.relation_bytes(oid) IS
	'bytes of all forks of a relation by its OID, without its TOAST table; NULL if it has no file, and for temporary relations and some catalogs. Takes no lock on it';

CREATE FUNCTION tablespace_advisor.relations_residency(
	relations oid[],
	max_bytes bigint DEFAULT 67108864,
	OUT relation oid,
	OUT blocks bigint,
	OUT shared_blocks bigint,
	OUT system_cache_blocks bigint,
	OUT system_only_blocks bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'relations_residency'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION tablespace_advisor.relations_residency(oid[], bigint) IS
	'per relation given: blocks of its main fork (NULL: no file), how many of them are in shared buffers, how many in the cache of the operating system (NULL: it does not say; extrapolated from some max_bytes of larger files), and how many in that cache only. Takes no lock on the relations';

CREATE FUNCTION tablespace_advisor.relation_residency(
	relation oid,
	OUT blocks bigint,
	OUT shared_blocks bigint,
	OUT system_cache_blocks bigint,
	OUT system_only_blocks bigint)
LANGUAGE sql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT r.blocks, r.shared_blocks, r.system_cache_blocks, r.system_only_blocks
	FROM tablespace_advisor.relations_residency(ARRAY[relation]) r
$$;

COMMENT ON FUNCTION tablespace_advisor.relation_residency(oid) IS
	'relations_residency() of one relation';

GRANT EXECUTE ON FUNCTION
	tablespace_advisor.file_bytes(oid, oid),
	tablespace_advisor.relation_bytes(oid),
	tablespace_advisor.relations_residency(oid[], bigint),
	tablespace_advisor.relation_residency(oid)
	TO pg_monitor;

/*
 * src/sample/sample.sql
 *
 * Taking a sample.  It is done with a superuser's rights: by sample_activity()
 * for members of pg_monitor, in the background (worker.c) by take_sample(), which
 * runs as its owner.  It names nothing that others could have made, and calls no
 * code of theirs; take.c keeps them from dropping the extension meanwhile, and
 * making their own under its names.
 *
 * Two at a time would count the same activity twice, hence the lock, which nobody
 * is to keep: sample_activity() commits.
 */
CREATE FUNCTION tablespace_advisor.read_statements(
	OUT statements bigint,
	OUT statements_ms float8)
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'tsa_read_statements';

COMMENT ON FUNCTION tablespace_advisor.read_statements() IS
	'calls and milliseconds of execution of all statements in this database by pg_stat_statements; NULL without it, 55000 if its library is not loaded';

CREATE FUNCTION tablespace_advisor.read_temporary_io(
	OUT blocks_read bigint,
	OUT read_ms float8,
	OUT blocks_written bigint,
	OUT write_ms float8,
	OUT since timestamptz)
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'tsa_read_temporary_io';

COMMENT ON FUNCTION tablespace_advisor.read_temporary_io() IS
	'blocks of temporary files that statements of this database have read and written, and what that took, by pg_stat_statements; NULL without it, 55000 if its library is not loaded';

CREATE FUNCTION tablespace_advisor.statement_totals(
	OUT statements bigint,
	OUT statements_ms float8)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	SELECT r.* INTO statements, statements_ms
	FROM tablespace_advisor.read_statements() r;
EXCEPTION
	WHEN object_not_in_prerequisite_state THEN
		RETURN;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.statement_totals() IS
	'calls and milliseconds of execution of all statements in this database by pg_stat_statements; NULL without it';

/* The row of sample, before anything is known of relations. */
CREATE FUNCTION tablespace_advisor.add_sample(
	last_sample tablespace_advisor.sample,
	profile tablespace_advisor.wait_profile)
RETURNS tablespace_advisor.sample
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	added tablespace_advisor.sample;
BEGIN
	INSERT INTO tablespace_advisor.sample AS s
		(started_at, taken_at, was_reset, stats_reset, io_timed,
			blocks_read, blocks_hit, read_ms, write_ms,
			statements, statements_ms,
			snapshots, reading_snapshots, reading_sessions, waits)
	SELECT last_sample.taken_at, clock_timestamp(),
		last_sample.taken_at IS NOT NULL
			/* the reset of a single relation makes stats_reset newer, too */
			AND (b.stats_reset IS DISTINCT FROM last_sample.stats_reset
				AND (d.blks_read < last_sample.blocks_read
					OR d.blks_hit < last_sample.blocks_hit)
				OR b.server_since > last_sample.taken_at),
		b.stats_reset, current_setting('track_io_timing')::boolean,
		d.blks_read, d.blks_hit, d.blk_read_time, d.blk_write_time,
		t.statements, t.statements_ms,
		profile.snapshots, profile.reading_snapshots,
		profile.reading_sessions, profile.waits
	FROM pg_stat_database d, tablespace_advisor.statistics_start b,
		tablespace_advisor.statement_totals() t
	WHERE d.datname = current_database()
	RETURNING s.* INTO added;
	RETURN added;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.add_sample(tablespace_advisor.sample, tablespace_advisor.wait_profile) IS
	'adds the row of a sample, given the sample before it (NULL: this is the first) and what sessions wait for';

/* What shared buffers have is not read past them. */
CREATE FUNCTION tablespace_advisor.cached_share(
	blocks bigint,
	shared_blocks bigint,
	system_only_blocks bigint)
RETURNS float8
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE WHEN blocks > shared_blocks
		THEN least(1, system_only_blocks::float8 / (blocks - shared_blocks))
		WHEN blocks > 0 THEN 1 END;
END;

COMMENT ON FUNCTION tablespace_advisor.cached_share(bigint, bigint, bigint) IS
	'share of a relation''s blocks outside of shared buffers that are in the system''s cache, from the columns of relations_residency(); NULL when not known';

/*
 * A counter that fell has begun anew: what it shows has happened since.  So
 * has a relation that the last sample did not have.  Nothing grows or shrinks
 * in its file without an access that is counted, so that only the files of
 * relations with changed counters are looked at, and what VACUUM and ANALYZE
 * did to their tables.
 */
CREATE FUNCTION tablespace_advisor.changed_relations(
	was_reset boolean,
	OUT kind text,
	OUT continues boolean,
	OUT same_file boolean,
	OUT cached_before float8,
	OUT present tablespace_advisor.sampled_relation,
	OUT reads bigint,
	OUT hits bigint,
	OUT scans bigint,
	OUT tuples_read bigint,
	OUT inserted bigint,
	OUT updated bigint,
	OUT hot_updated bigint,
	OUT deleted bigint,
	OUT vacuums bigint,
	OUT analyzes bigint)
RETURNS SETOF record
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH present AS MATERIALIZED (
		/* without what has to be looked up for tables that have changed only */
		SELECT c.relation, c.kind, c.tablespace, c.filenode,
			coalesce(c.indexed, c.relation) AS maintained,
			c.reads, c.hits, c.scans, c.tuples_read, c.inserted, c.updated,
			c.hot_updated, c.deleted
		FROM tablespace_advisor.relation_counter c
	), uncounted AS MATERIALIZED (
		SELECT u.* FROM tablespace_advisor.uncounted_maintenance() u
	)
	SELECT p.kind, f.keeps = 1,
		o.filenode IS NOT DISTINCT FROM p.filenode, o.system_cached,
		ROW(p.relation, p.tablespace, p.filenode, o.filenode_since,
			o.counted_since, z.size_bytes, p.reads, p.hits, p.scans,
			p.tuples_read, p.inserted, p.updated, p.hot_updated, p.deleted,
			NULL, m.vacuums, m.analyzes)::tablespace_advisor.sampled_relation,
		p.reads - f.keeps * coalesce(o.reads, 0),
		p.hits - f.keeps * coalesce(o.hits, 0),
		p.scans - f.keeps * coalesce(o.scans, 0),
		p.tuples_read - f.keeps * coalesce(o.tuples_read, 0),
		p.inserted - f.keeps * coalesce(o.inserted, 0),
		p.updated - f.keeps * coalesce(o.updated, 0),
		p.hot_updated - f.keeps * coalesce(o.hot_updated, 0),
		p.deleted - f.keeps * coalesce(o.deleted, 0),
		greatest(0, m.vacuums - f.keeps * o.vacuums),
		greatest(0, m.analyzes - f.keeps * o.analyzes)
	FROM present p
	LEFT JOIN tablespace_advisor.sampled_relation o USING (relation)
	CROSS JOIN LATERAL
		(SELECT (o.relation IS NOT NULL AND NOT (changed_relations.was_reset
				OR p.reads < o.reads OR p.hits < o.hits
				OR p.scans < o.scans OR p.tuples_read < o.tuples_read
				OR p.inserted < o.inserted OR p.updated < o.updated
				OR p.hot_updated < o.hot_updated
				OR p.deleted < o.deleted))::int AS keeps) f
	CROSS JOIN LATERAL
		(SELECT tablespace_advisor.file_bytes(p.tablespace, p.filenode)
			AS size_bytes) z
	CROSS JOIN LATERAL
		(SELECT tablespace_advisor.vacuum_count(p.maintained, p.maintained
				IN (SELECT unnest(u.vacuumed) FROM uncounted u)) AS vacuums,
			tablespace_advisor.analyze_count(p.maintained, p.maintained
				IN (SELECT unnest(u.analyzed) FROM uncounted u)) AS analyzes) m
	WHERE (f.keeps = 0
			OR p.reads <> o.reads OR p.hits <> o.hits
			OR p.scans <> o.scans OR p.tuples_read <> o.tuples_read
			OR p.inserted <> o.inserted OR p.updated <> o.updated
			OR p.deleted <> o.deleted OR p.filenode <> o.filenode
			OR p.tablespace <> o.tablespace)
		AND z.size_bytes IS NOT NULL
$$;

COMMENT ON FUNCTION tablespace_advisor.changed_relations(boolean) IS
	'relations whose counters or files are not those of sampled_relation, with what they have grown by since; present: the row as it is now';

CREATE FUNCTION tablespace_advisor.add_relation_samples(
	s tablespace_advisor.sample)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH changed AS MATERIALIZED (
		SELECT (c.present).relation, (c.present).size_bytes, c.*
		FROM tablespace_advisor.changed_relations(s.was_reset) c
	), resident AS MATERIALIZED (
		SELECT p.relation, tablespace_advisor.cached_share(
				p.blocks, p.shared_blocks, p.system_only_blocks) AS cached,
			p.shared_blocks / nullif(p.blocks, 0)::float8 AS shared_fraction
		FROM tablespace_advisor.relations_residency(
			array(SELECT c.relation FROM changed c WHERE c.reads > 0),
			64 * 1048576) p
	), forgotten AS (
		DELETE FROM tablespace_advisor.sampled_relation o
		WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = o.relation)
	), remembered AS (
		INSERT INTO tablespace_advisor.sampled_relation
		SELECT c.relation, (c.present).tablespace, (c.present).filenode,
			CASE WHEN c.same_file THEN (c.present).filenode_since ELSE s.started_at END,
			CASE WHEN c.continues THEN (c.present).counted_since
				WHEN s.started_at IS NOT NULL THEN s.started_at
				ELSE (SELECT coalesce(b.stats_reset, b.server_since)
					FROM tablespace_advisor.statistics_start b)
				END,
			c.size_bytes, (c.present).reads, (c.present).hits, (c.present).scans,
			(c.present).tuples_read, (c.present).inserted, (c.present).updated,
			(c.present).hot_updated, (c.present).deleted, r.cached,
			(c.present).vacuums, (c.present).analyzes
		FROM changed c LEFT JOIN resident r USING (relation)
		ON CONFLICT (relation) DO UPDATE
		SET (tablespace, filenode, filenode_since, counted_since, size_bytes,
				reads, hits, scans, tuples_read, inserted, updated, hot_updated,
				deleted, system_cached, vacuums, analyzes)
			= (excluded.tablespace, excluded.filenode, excluded.filenode_since,
				excluded.counted_since, excluded.size_bytes, excluded.reads,
				excluded.hits, excluded.scans, excluded.tuples_read,
				excluded.inserted, excluded.updated, excluded.hot_updated,
				excluded.deleted, excluded.system_cached, excluded.vacuums,
				excluded.analyzes)
	)
	INSERT INTO tablespace_advisor.relation_sample
		(sample_id, relation, size_bytes, reads, hits, scans, tuples_read,
			inserted, updated, hot_updated, deleted, cached_reads, maintenance_reads)
	SELECT s.sample_id, c.relation, c.size_bytes, nullif(c.reads, 0),
		nullif(c.hits, 0), nullif(c.scans, 0), nullif(c.tuples_read, 0),
		nullif(c.inserted, 0), nullif(c.updated, 0), nullif(c.hot_updated, 0),
		nullif(c.deleted, 0),
		c.reads * CASE WHEN c.same_file AND c.cached_before IS NOT NULL
			THEN (r.cached + c.cached_before) / 2 ELSE r.cached END,
		tablespace_advisor.estimate_maintenance_reads(c.kind, c.vacuums,
			c.analyzes, c.reads, c.size_bytes, r.shared_fraction)
	FROM changed c LEFT JOIN resident r USING (relation)
	WHERE s.started_at IS NOT NULL
$$;

COMMENT ON FUNCTION tablespace_advisor.add_relation_samples(tablespace_advisor.sample) IS
	'adds the rows of relation_sample that belong to a sample just begun, and brings sampled_relation up to date';

/*
 * Samples of more than two days ago become one per hour, those of more than
 * 30 days ago one per day (UTC).  Each becomes part of the last of its hour or
 * day.  A reset in the middle keeps its sample apart.
 */
CREATE FUNCTION tablespace_advisor.samples_to_merge(
	OUT whole_id int,
	OUT unit text,
	OUT started_at timestamptz,
	OUT part_id int)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH old AS (
		SELECT s.sample_id, s.started_at, s.taken_at, s.was_reset,
			CASE WHEN s.taken_at < clock_timestamp() - interval '30 days'
				THEN 'day' ELSE 'hour' END AS unit, s.covers
		FROM tablespace_advisor.sample s
		WHERE s.taken_at < clock_timestamp() - interval '2 days'
	), part AS (
		SELECT o.*,
			date_trunc(o.unit, o.taken_at, 'UTC') AS bucket,
			sum((o.was_reset OR o.started_at IS NULL)::int)
				OVER (ORDER BY o.sample_id) AS life
		FROM old o
	), whole AS (
		/* an hour or day that has ended in the part that is old */
		SELECT p.unit, max(p.sample_id) AS sample_id,
			min(p.started_at) AS started_at, array_agg(p.sample_id) AS parts
		FROM part p
		WHERE p.bucket < date_trunc(p.unit, clock_timestamp()
			- CASE p.unit WHEN 'day' THEN interval '30 days'
				ELSE interval '2 days' END, 'UTC')
			AND p.started_at IS NOT NULL
		GROUP BY p.unit, p.bucket, p.life
		HAVING count(*) > 1 OR bool_or(p.covers <> p.unit)
	)
	SELECT w.sample_id, w.unit, w.started_at, m.part_id
	FROM whole w CROSS JOIN LATERAL unnest(w.parts) m(part_id)
$$;

COMMENT ON FUNCTION tablespace_advisor.samples_to_merge() IS
	'samples that are to become part of another one (whole_id), which then covers an hour or a day';

CREATE FUNCTION tablespace_advisor.forget_samples(keep_days int)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	/* the last one stays: the next one is measured from it */
	DELETE FROM tablespace_advisor.sample s
	WHERE s.taken_at < clock_timestamp() - make_interval(days => keep_days)
		AND s.sample_id < (SELECT max(l.sample_id) FROM tablespace_advisor.sample l);
	DELETE FROM tablespace_advisor.relation_sample r
	WHERE r.sample_id
		< (SELECT min(s.sample_id) FROM tablespace_advisor.sample s);
	DELETE FROM tablespace_advisor.tablespace_sample t
	WHERE t.sample_id
		< (SELECT min(s.sample_id) FROM tablespace_advisor.sample s);
	DELETE FROM tablespace_advisor.tablespace_io_sample i
	WHERE i.sample_id
		< (SELECT min(s.sample_id) FROM tablespace_advisor.sample s)
$$;

COMMENT ON FUNCTION tablespace_advisor.forget_samples(int) IS
	'deletes samples older than the days given (NULL: none)';

/*
 * Counters of the database are kept as they were, so that there is nothing to
 * add up.
 */
CREATE FUNCTION tablespace_advisor.roll_up_samples(keep_days int)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH member AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.samples_to_merge()
	), moved AS (
		DELETE FROM tablespace_advisor.relation_sample r
		USING member m
		WHERE r.sample_id = m.part_id
		RETURNING m.whole_id, r.*
	), added AS (
		INSERT INTO tablespace_advisor.relation_sample
			(sample_id, relation, size_bytes, reads, hits, scans, tuples_read,
				inserted, updated, hot_updated, deleted, cached_reads,
				maintenance_reads)
		SELECT v.whole_id, v.relation,
			(array_agg(v.size_bytes ORDER BY v.sample_id DESC))[1],
			sum(v.reads), sum(v.hits), sum(v.scans), sum(v.tuples_read),
			sum(v.inserted), sum(v.updated), sum(v.hot_updated),
			sum(v.deleted), sum(v.cached_reads), sum(v.maintenance_reads)
		FROM moved v
		GROUP BY v.whole_id, v.relation
	), sums AS MATERIALIZED (
		SELECT m.whole_id, m.unit, m.started_at,
			bool_or(s.was_reset) AS was_reset,
			sum(s.snapshots) AS snapshots,
			sum(s.reading_snapshots) AS reading_snapshots,
			sum(s.reading_sessions) AS reading_sessions,
			tablespace_advisor.sum_waits(array_agg(s.waits)) AS waits
		FROM member m JOIN tablespace_advisor.sample s ON s.sample_id = m.part_id
		GROUP BY m.whole_id, m.unit, m.started_at
	), merged AS (
		UPDATE tablespace_advisor.sample s
		SET covers = a.unit, started_at = a.started_at,
			was_reset = a.was_reset, snapshots = a.snapshots,
			reading_snapshots = a.reading_snapshots,
			reading_sessions = a.reading_sessions, waits = a.waits
		FROM sums a WHERE s.sample_id = a.whole_id
	), moved_io AS (
		DELETE FROM tablespace_advisor.tablespace_io_sample i
		USING member m
		WHERE i.sample_id = m.part_id
		RETURNING m.whole_id, i.*
	), added_io AS (
		INSERT INTO tablespace_advisor.tablespace_io_sample
			(sample_id, tablespace, measured_at, seconds, reads, read_bytes, read_ms,
				writes, write_bytes, write_ms, busy_ms, queue_ms)
		SELECT v.whole_id, v.tablespace, max(v.measured_at), sum(v.seconds),
			sum(v.reads), sum(v.read_bytes), sum(v.read_ms), sum(v.writes),
			sum(v.write_bytes), sum(v.write_ms), sum(v.busy_ms), sum(v.queue_ms)
		FROM moved_io v
		JOIN tablespace_advisor.device_interval d
			ON d.sample_id = v.sample_id AND d.tablespace = v.tablespace
		GROUP BY v.whole_id, v.tablespace
	), gone AS (
		DELETE FROM tablespace_advisor.sample s
		USING member m
		WHERE s.sample_id = m.part_id AND m.part_id <> m.whole_id
	)
	DELETE FROM tablespace_advisor.tablespace_sample t
	USING member m
	WHERE t.sample_id = m.part_id AND m.part_id <> m.whole_id;
	SELECT tablespace_advisor.forget_samples(keep_days)
$$;

COMMENT ON FUNCTION tablespace_advisor.roll_up_samples(int) IS
	'makes one sample of those of each hour after two days, of each day after 30 days, and deletes those older than the days given (NULL: none)';

CREATE FUNCTION tablespace_advisor.add_all_samples(snapshots int)
RETURNS int
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET stats_fetch_consistency = 'cache'
SET work_mem = '64MB'
SET jit = off
AS $$
DECLARE
	last_sample tablespace_advisor.sample;
	s tablespace_advisor.sample;
	profile tablespace_advisor.wait_profile;
BEGIN
	IF pg_is_in_recovery() THEN
		RAISE EXCEPTION 'cannot keep samples on a standby'
			USING ERRCODE = 'read_only_sql_transaction',
				HINT = 'The advice can watch for a while instead: use its argument observe.';
	END IF;
	profile := tablespace_advisor.watch_waits(snapshots, 0.05);

	LOCK TABLE tablespace_advisor.sample IN SHARE ROW EXCLUSIVE MODE;
	PERFORM pg_stat_clear_snapshot();
	SELECT l.* INTO last_sample FROM tablespace_advisor.sample l
	ORDER BY l.sample_id DESC LIMIT 1;
	s := tablespace_advisor.add_sample(last_sample, profile);
	PERFORM tablespace_advisor.add_device_samples(s);
	PERFORM tablespace_advisor.add_relation_samples(s);
	PERFORM tablespace_advisor.refresh_residency();
	INSERT INTO tablespace_advisor.tablespace_sample
		(sample_id, tablespace, used_bytes, free_bytes)
	SELECT s.sample_id, u.tablespace, u.used_bytes, d.free_bytes
	FROM (SELECT r.tablespace, sum(r.size_bytes) AS used_bytes
			FROM tablespace_advisor.sampled_relation r GROUP BY r.tablespace) u
	CROSS JOIN LATERAL tablespace_advisor.tablespace_device(u.tablespace) d;
	PERFORM tablespace_advisor.roll_up_samples(nullif(
		current_setting('tablespace_advisor.keep_history', true)::int, 0));
	RETURN s.sample_id;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.add_all_samples(int) IS
	'takes a sample; what take_sample() and sample_activity() call';

CREATE FUNCTION tablespace_advisor.take_sample(snapshots int DEFAULT 10)
RETURNS int
LANGUAGE C STRICT VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET session_replication_role = origin
AS 'MODULE_PATHNAME', 'tsa_take_sample';

COMMENT ON FUNCTION tablespace_advisor.take_sample(int) IS
	'takes a sample, after so many looks at what sessions wait for, 50 ms apart, and returns its number. Errors: 25006 on a standby';

CREATE PROCEDURE @extschema@.sample_activity()
LANGUAGE C
AS 'MODULE_PATHNAME', 'tsa_sample_activity';

COMMENT ON PROCEDURE @extschema@.sample_activity() IS
	'keeps what every relation of this database was read and written since the last call, and what sessions wait for, for advice to rest on; takes about half a second. Errors: 25001 in a transaction block, 25006 on a standby';

REVOKE ALL ON PROCEDURE @extschema@.sample_activity() FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE @extschema@.sample_activity() TO pg_monitor;
/*
 * src/sample/standby.sql
 *
 * What standbys read.  They keep nothing themselves: they are watched, and what
 * was seen is brought to the primary, whose relations have the same OIDs.
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
			'scans_per_s', a.scans_per_s)) FILTER (WHERE a.reads_per_s > 0
				OR a.hits_per_s > 0 OR a.scans_per_s > 0), '[]'))
	FROM tablespace_advisor.observed_activity(tablespace_advisor.watch_of_standby(observe)) a
		LEFT JOIN (SELECT FROM tablespace_advisor.sample LIMIT 0) held ON true;
END;
REVOKE ALL ON FUNCTION @extschema@.standby_activity(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.standby_activity(interval),
	tablespace_advisor.watch_of_standby(interval) TO pg_monitor;
COMMENT ON FUNCTION @extschema@.standby_activity(interval) IS
	'watches for so long what is read here, on a standby, for add_standby_activity() of the primary; server: its cluster_name. Errors: 55000 not on a standby, 22023 bad duration, 22004 null';

/*
 * Whoever replays what a physical walsender, which has no database, sends: no
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
	'what relations are read per second on standbys, as brought by add_standby_activity(), the last of each server';

/*
 * Figures are cut, so that no sum of them overflows.  Whoever brings what servers
 * of any names have read does not fill the table, nor keep others waiting.
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
	/* of other servers what counts no more, if nobody else is at it */
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
		least(greatest(r.scans_per_s, 0), 1e9)
	FROM (SELECT (activity->>'observed_at')::timestamptz) o(at)
		CROSS JOIN jsonb_to_recordset(activity->'relations') AS r (relation oid,
			reads_per_s float8, hits_per_s float8, scans_per_s float8)
		JOIN pg_class c ON c.oid = r.relation
	WHERE o.at IS NOT NULL AND r.reads_per_s IS NOT NULL
		AND r.hits_per_s IS NOT NULL AND r.scans_per_s IS NOT NULL
	ON CONFLICT DO NOTHING;
	GET DIAGNOSTICS kept = ROW_COUNT;
	RETURN kept;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.keep_standby_activity(jsonb, name) IS
	'keeps what standby_activity() has returned on that server, in the place of what was kept of it before; how many relations';

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
	'whether what standby_activity() has returned is about a copy of this database';

CREATE FUNCTION @extschema@.add_standby_activity(
	activity jsonb, server name DEFAULT NULL)
RETURNS int
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'tsa_add_standby_activity';
REVOKE ALL ON FUNCTION @extschema@.add_standby_activity(jsonb, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.add_standby_activity(jsonb, name) TO pg_monitor;
COMMENT ON FUNCTION @extschema@.add_standby_activity(jsonb, name) IS
	'takes what standby_activity() has returned on a standby into the advice for a day, or until it is brought again, of the last 32 servers; returns how many relations; server: the standby''s application_name in pg_stat_replication, by default its cluster_name. Errors: 22023 it is of another database or server, 22004 no activity, 25006 on a standby, 55P03 somebody is bringing that of the same server';

CREATE FUNCTION tablespace_advisor.standby_reads()
RETURNS TABLE (server name, relation oid, heap oid, member oid,
	reads_per_s float8, hits_per_s float8, scans_per_s float8)
LANGUAGE sql STABLE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT s.server, s.relation, h.heap,
		CASE c.relkind WHEN 'i' THEN CASE WHEN o.oid IS NULL THEN c.oid ELSE o.oid END
			ELSE h.heap END,
		s.reads_per_s, s.hits_per_s, s.scans_per_s
	FROM tablespace_advisor.standby_activity s
		JOIN pg_class c ON c.oid = s.relation
		LEFT JOIN pg_index i ON i.indexrelid = c.oid
		LEFT JOIN pg_class o ON o.reltoastrelid = coalesce(i.indrelid, c.oid)
			AND o.reltoastrelid <> 0
		CROSS JOIN LATERAL (SELECT coalesce(o.oid, i.indrelid, c.oid)) h(heap)
	WHERE s.observed_at > clock_timestamp() - interval '1 day'
$$;
COMMENT ON FUNCTION tablespace_advisor.standby_reads() IS
	'what was brought of standbys within a day; heap: the table, member: what moves, which is the table for its TOAST';
GRANT EXECUTE ON FUNCTION tablespace_advisor.standby_reads() TO pg_monitor;

/*
 * src/sample/table_residency.sql
 *
 * How much of a table caches hold, kept for the planner, which cannot look.
 * A table gets here when the locality of its indexes is measured, and from
 * then on every sample looks at it again.
 */
COMMENT ON TABLE tablespace_advisor.table_residency IS
	'share of the blocks of tables with a measured locality that caches held when that was measured or when the last sample was taken';
COMMENT ON COLUMN tablespace_advisor.table_residency.shared_fraction IS
	'share of its blocks in shared buffers, 0 to 1';
COMMENT ON COLUMN tablespace_advisor.table_residency.system_fraction IS
	'share of its blocks that are in the system''s cache and not in shared buffers';
COMMENT ON COLUMN tablespace_advisor.table_residency.measured_at IS
	'the planner takes it for an hour, until the server is started anew';
GRANT SELECT ON tablespace_advisor.table_residency TO pg_monitor;

CREATE FUNCTION tablespace_advisor.residency_shares(
	relations oid[],
	OUT relation oid,
	OUT shared_fraction float8,
	OUT system_fraction float8)
RETURNS SETOF record
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT r.relation, s.share,
		least(r.system_only_blocks::float8 / r.blocks, 1 - s.share)
	FROM tablespace_advisor.relations_residency(relations, 16 * 1048576) r
	CROSS JOIN LATERAL
		(SELECT least(r.shared_blocks::float8 / r.blocks, 1) AS share) s
	WHERE r.blocks > 0 AND r.system_only_blocks IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.residency_shares(oid[]) IS
	'shares of the relations'' blocks that are in shared buffers, and in the system''s cache only; no row where that is not known';

CREATE FUNCTION tablespace_advisor.keep_residency(relation oid)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	INSERT INTO tablespace_advisor.table_residency AS t
		(relation, shared_fraction, system_fraction, measured_at)
	SELECT r.relation, r.shared_fraction, r.system_fraction, clock_timestamp()
	FROM tablespace_advisor.residency_shares(ARRAY[$1]) r
	ON CONFLICT (relation) DO UPDATE
	SET shared_fraction = excluded.shared_fraction,
		system_fraction = excluded.system_fraction,
		measured_at = excluded.measured_at
$$;
COMMENT ON FUNCTION tablespace_advisor.keep_residency(oid) IS
	'looks how much of a table caches hold, and keeps it in table_residency from now on';

CREATE FUNCTION tablespace_advisor.renew_plans(relation oid)
RETURNS void
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_renew_plans';
COMMENT ON FUNCTION tablespace_advisor.renew_plans(oid) IS
	'has all sessions plan anew what reads the relation';

/*
 * A sample does not wait for whoever keeps a row in a transaction that is
 * still open.  A change of less than a twentieth is no reason to plan anew.
 */
CREATE FUNCTION tablespace_advisor.refresh_residency()
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH known AS MATERIALIZED (
		SELECT t.* FROM tablespace_advisor.table_residency t
		FOR UPDATE SKIP LOCKED
	), gone AS (
		DELETE FROM tablespace_advisor.table_residency t
		USING known k
		WHERE t.relation = k.relation
			AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = k.relation)
	), found AS MATERIALIZED (
		SELECT r.* FROM tablespace_advisor.residency_shares(
			array(SELECT k.relation FROM known k)) r
	), kept AS (
		UPDATE tablespace_advisor.table_residency t
		SET shared_fraction = f.shared_fraction,
			system_fraction = f.system_fraction,
			measured_at = clock_timestamp()
		FROM found f WHERE t.relation = f.relation
	)
	SELECT tablespace_advisor.renew_plans(f.relation)
	FROM found f JOIN known k USING (relation)
	WHERE abs(f.shared_fraction + f.system_fraction
		- k.shared_fraction - k.system_fraction) > 0.05
$$;
COMMENT ON FUNCTION tablespace_advisor.refresh_residency() IS
	'looks again at all tables in table_residency';

/*
 * src/sample/usage_forecast.sql
 *
 * Growth by the estimator of Theil and Sen: the median of the slopes between
 * all pairs of points.  A bulk load or a move to another tablespace is a step
 * in an otherwise slow line; least squares would follow it.  The interval is
 * that of the ranks of the slopes (Sen 1968); successive sizes depend on each
 * other, so that it is rather too narrow.
 */
CREATE FUNCTION tablespace_advisor.trend(
	days float8[],
	amounts float8[],
	OUT slope float8,
	OUT slope_low float8,
	OUT slope_high float8)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH point AS (
		SELECT p.at, p.amount FROM unnest(days, amounts) p(at, amount)
		WHERE p.at IS NOT NULL AND p.amount IS NOT NULL
	), slopes AS (
		SELECT array_agg((b.amount - a.amount) / (b.at - a.at)
				ORDER BY (b.amount - a.amount) / (b.at - a.at)) AS s
		FROM point a JOIN point b ON b.at > a.at
	), rank AS (
		SELECT s, cardinality(s) AS n,
			1.96 * sqrt(k * (k - 1) * (2 * k + 5) / 18) AS spread
		FROM slopes, (SELECT count(*)::float8 AS k FROM point) c
	)
	SELECT (s[(n + 1) / 2] + s[n / 2 + 1]) / 2,
		s[nullif(greatest(floor((n - spread) / 2)::int, 0), 0)],
		CASE WHEN floor((n - spread) / 2) >= 1
			THEN s[least(ceil((n + spread) / 2)::int + 1, n)] END
	FROM rank
$$;

COMMENT ON FUNCTION tablespace_advisor.trend(float8[], float8[]) IS
	'amount per day: the median of the slopes between all pairs of points, and the 95 % interval, NULL where there are too few points for one';

/* At most a hundred points, evenly spread: the last one of each stretch. */
CREATE FUNCTION tablespace_advisor.usage_history(
	OUT tablespace oid,
	OUT days float8[],
	OUT used float8[],
	OUT free float8[])
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH point AS (
		SELECT t.tablespace, t.used_bytes, t.free_bytes,
			extract(epoch FROM s.taken_at
				- min(s.taken_at) OVER ())::float8 / 86400 AS day,
			extract(epoch FROM max(s.taken_at) OVER ()
				- min(s.taken_at) OVER ())::float8 / 86400 AS length
		FROM tablespace_advisor.tablespace_sample t
		JOIN tablespace_advisor.sample s USING (sample_id)
	), last AS (
		SELECT DISTINCT ON (p.tablespace, stretch)
			p.tablespace, p.day, p.used_bytes, p.free_bytes
		FROM point p
		CROSS JOIN LATERAL
			(SELECT floor(100 * p.day / nullif(p.length, 0)) AS stretch) f
		ORDER BY p.tablespace, stretch, p.day DESC
	)
	SELECT l.tablespace, array_agg(l.day ORDER BY l.day),
		array_agg(l.used_bytes::float8 ORDER BY l.day),
		array_agg(l.free_bytes::float8 ORDER BY l.day)
	FROM last l GROUP BY l.tablespace
$$;

COMMENT ON FUNCTION tablespace_advisor.usage_history() IS
	'per tablespace: days since the first sample, bytes of this database''s relations and bytes free then, at most about a hundred points';

CREATE FUNCTION @extschema@.forecast_tablespace_usage(
	OUT tablespace name,
	OUT used_bytes bigint,
	OUT growth_bytes_per_day float8,
	OUT growth_low_bytes_per_day float8,
	OUT growth_high_bytes_per_day float8,
	OUT free_bytes bigint,
	OUT days_until_full float8,
	OUT days_low float8,
	OUT days_high float8,
	OUT history_days float8,
	OUT caveat text)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH place AS (
		SELECT h.tablespace AS oid, h.days, h.used, h.free,
			cardinality(h.days) AS n,
			h.days[cardinality(h.days)] - h.days[1] AS length
		FROM tablespace_advisor.usage_history() h
		UNION ALL
		SELECT i.tablespace, NULL::float8[], NULL::float8[],
			NULL::float8[], 0, 0::float8
		FROM tablespace_advisor.used_tablespace i
		WHERE NOT EXISTS (SELECT FROM tablespace_advisor.tablespace_sample t
			WHERE t.tablespace = i.tablespace)
	), forecast AS (
		SELECT p.*, g.slope, g.slope_low, g.slope_high, f.until_full,
			f.until_full_low, f.until_full_high
		FROM place p
		CROSS JOIN LATERAL tablespace_advisor.trend(p.days, p.used) g
		CROSS JOIN LATERAL tablespace_advisor.trend(p.days, p.free) s
		CROSS JOIN LATERAL (SELECT
			CASE WHEN s.slope < 0 THEN p.free[p.n] / -s.slope END
				AS until_full,
			CASE WHEN s.slope_low < 0 THEN p.free[p.n] / -s.slope_low END
				AS until_full_low,
			CASE WHEN s.slope_high < 0 THEN p.free[p.n] / -s.slope_high END
				AS until_full_high) f
		/* eight points have an interval that says something */
		WHERE p.n >= 8 AND p.length >= 1
	)
	SELECT t.spcname, p.used[p.n]::bigint, f.slope, f.slope_low, f.slope_high,
		p.free[p.n]::bigint, f.until_full, f.until_full_low,
		f.until_full_high, p.length,
		CASE
			WHEN p.n = 0 AND EXISTS (SELECT FROM tablespace_advisor.sample)
				THEN 'nothing was there yet when samples were taken'
			WHEN p.n = 0 THEN 'no samples: CALL sample_activity(), or preload the library'
			WHEN p.n = 1 THEN 'history too short: one sample; at least 24 hours and 8 samples are needed'
			WHEN f.oid IS NULL THEN format('history too short: %s and %s samples; at least 24 hours and 8 samples are needed',
				CASE WHEN p.length < 0.1 THEN round((1440 * p.length)::numeric, 1) || ' minutes'
					ELSE round((24 * p.length)::numeric, 1) || ' hours' END, p.n)
			WHEN p.free[p.n] IS NULL THEN 'free space is not known'
			WHEN f.until_full IS NOT NULL AND f.until_full_high IS NULL
				THEN 'it may never be full: the interval of its growth includes none'
			WHEN f.until_full > 10 * p.length THEN 'days_until_full is more than ten times as long as the history'
		END
	FROM place p
	JOIN pg_tablespace t ON t.oid = p.oid
	LEFT JOIN forecast f ON f.oid = p.oid
	ORDER BY f.until_full NULLS LAST, t.spcname;
END;

COMMENT ON FUNCTION @extschema@.forecast_tablespace_usage() IS
	'per tablespace that relations of this database are in: used_bytes: of these relations; growth_bytes_per_day: theirs, with a 95 % interval; free_bytes: in the file system; days_until_full: when it shrinks as it did, whoever fills it, with a 95 % interval, NULL: it does not shrink; history_days: from the first to the last sample; caveat: why not to trust the row, NULL if there is no reason. All from samples.';

REVOKE ALL ON FUNCTION @extschema@.forecast_tablespace_usage() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tablespace_advisor.trend(float8[], float8[]),
	tablespace_advisor.usage_history(),
	@extschema@.forecast_tablespace_usage() TO pg_monitor;
/*
 * cost: the measured localities of indexes.
 *
 * Tables that version 0.4 has, too: a fresh install makes them here, an update
 * finds them there (src/update.sql adds what is new).
 */
CREATE TABLE tablespace_advisor.index_locality (
	index oid PRIMARY KEY,
	relation oid NOT NULL,
	index_file oid NOT NULL,
	heap_file oid NOT NULL,
	index_blocks bigint NOT NULL,
	table_blocks bigint NOT NULL,
	entries float8 NOT NULL,
	measured_at timestamptz NOT NULL,
	points float8[] NOT NULL,
	read_times float8[]
);

/* src/cost/assume.sql */

CREATE FUNCTION @extschema@.assume_placement(relation regclass, tablespace name)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'assume_placement';
COMMENT ON FUNCTION @extschema@.assume_placement(regclass, name) IS
	'this session plans as if the table (without its indexes), the index, or all partitions of either lay in that tablespace, until forget_placements() or any error or rollback; one of assume_tablespace() has the server''s own page costs. Errors: 42P01, 42704 there is no such relation or tablespace, 42809 it has no storage, 22023 pg_global, 22004 nulls';

CREATE FUNCTION @extschema@.forget_placements()
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'forget_placements';
COMMENT ON FUNCTION @extschema@.forget_placements() IS
	'from now on this session plans with the tablespaces that relations really have, and is advised on those that there are';

CREATE FUNCTION @extschema@.assume_tablespace(
	tablespace name,
	random_read_us float8,
	bytes text,
	like_tablespace name DEFAULT NULL,
	max_reads_per_s float8 DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_assume_tablespace';
COMMENT ON FUNCTION @extschema@.assume_tablespace(name, float8, text, name, float8) IS
	'this session is advised as if there were a tablespace of that name and size, on a device that takes so long for a random read alone (at depth like like_tablespace, scaled, or else one read at a time, or as many as max_reads_per_s allows), until forget_placements() or any error or rollback. Errors: 42710 there is one of that name, 42704 no such like_tablespace, 22023 numbers that are not greater than zero, 22004 nulls, 54000 more than 16';

CREATE FUNCTION tablespace_advisor.assumed_tablespaces(
	OUT tablespace name,
	OUT random_read_us float8,
	OUT bytes bigint,
	OUT like_tablespace name,
	OUT max_reads_per_s float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_assumed_tablespaces';
COMMENT ON FUNCTION tablespace_advisor.assumed_tablespaces() IS
	'what assume_tablespace() has set in this session, but for names that exist by now';

CREATE FUNCTION @extschema@.assumed_placements(
	OUT relation regclass,
	OUT tablespace name)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'assumed_placements';
COMMENT ON FUNCTION @extschema@.assumed_placements() IS
	'what assume_placement() has set in this session';

CREATE FUNCTION @extschema@.explain_with_costs(
	query text,
	tablespace name,
	random_page_cost float8,
	seq_page_cost float8 DEFAULT NULL)
RETURNS SETOF text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'explain_with_costs';
COMMENT ON FUNCTION @extschema@.explain_with_costs(text, name, float8, float8) IS
	'the lines of EXPLAIN for one statement as if the tablespace had these page costs (NULL: seq_page_cost as it is), which are set in a subtransaction that is rolled back. Errors: 42501 not the owner of the tablespace, 42704 no such tablespace, 22023 pg_global or a cost out of range, 22004 nulls, 42601 no single statement, 25006 read-only';
/*
 * src/cost/cost.sql
 *
 * From probe history to planner costs.  The views here are also what advice
 * stands on: which latency of a tablespace may be believed, and since when.
 */

/*
 * A result belongs to a tablespace only while that has the name and the
 * place it was measured at: one dropped and made again elsewhere under the
 * same name has to be probed again.
 */
CREATE VIEW tablespace_advisor.current_probe_result AS
SELECT t.oid AS tablespace_oid, t.spcname AS tablespace,
	run.run_id, run.finished_at,
	r.workload, r.queue_depth, r.io_size, r.samples,
	r.mean_us,
	coalesce(r.mean_low_us, r.mean_us) AS mean_low_us,
	coalesce(r.mean_high_us, r.mean_us) AS mean_high_us,
	1e6::float8 / nullif(r.iops, 0)
		* current_setting('block_size')::float8 / r.io_size AS page_us,
	r.caveat, r.conditions, run.device, r.burst_iops
FROM tablespace_advisor.probe_run run
JOIN tablespace_advisor.probe_result r USING (run_id)
JOIN pg_tablespace t ON t.spcname = run.tablespace
WHERE pg_tablespace_location(t.oid) IN (run.location, '');

COMMENT ON VIEW tablespace_advisor.current_probe_result IS
	'results of probes of tablespaces that still lie where they were probed; page_us is the time per block at the measured throughput (microseconds); rows with a caveat are included and not to be trusted';

/*
 * Three short probes are better than one.  A mean is weighted by its interval,
 * 2 % at least, and by its age: after a month it counts half.  Where runs differ
 * by more than their intervals say, the interval grows by as much (Birge's
 * ratio).  What was measured alone and is more than a fifth off the newest, and
 * apart from it, was another device in all but name, and is left out; under
 * load, runs differ by the load.
 */
CREATE FUNCTION tablespace_advisor.pool_measurements(
	means float8[],
	lows float8[],
	highs float8[],
	ages float8[],
	samples bigint[],
	loaded boolean,
	OUT mean float8,
	OUT low float8,
	OUT high float8,
	OUT used int,
	OUT used_samples bigint)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH run AS (
		SELECT ln(u.mean) AS level,
			(((u.high - u.low) / 3.92 / u.mean) ^ 2 + 0.02 ^ 2)
				* 2 ^ least(u.age / 30, 20) AS variance,
			u.n
		FROM unnest(means, lows, highs, ages, samples) u (mean, low, high, age, n)
		/* a restored history may say anything */
		WHERE u.mean BETWEEN 1e-6 AND 1e12
			AND (u.high - u.low BETWEEN 0 AND 1e12) IS NOT FALSE AND (loaded
			OR u.mean BETWEEN means[1] / 1.2 AND means[1] * 1.2
			OR (u.low <= highs[1] AND u.high >= lows[1]))
	), pool AS (
		SELECT sum(r.level / r.variance) / sum(1 / r.variance) AS level,
			1 / sum(1 / r.variance) AS variance, count(*) AS n,
			sum(r.n) AS samples
		FROM run r
	), spread AS (
		SELECT p.level, p.n, p.samples, sqrt(p.variance * greatest(1,
			(SELECT sum((r.level - p.level) ^ 2 / r.variance) FROM run r)
				/ greatest(p.n - 1, 1))) AS error
		FROM pool p
	)
	SELECT CASE s.n WHEN 1 THEN means[1] ELSE exp(s.level) END,
		CASE s.n WHEN 1 THEN lows[1] ELSE exp(s.level - 1.96 * s.error) END,
		CASE s.n WHEN 1 THEN highs[1] ELSE exp(s.level + 1.96 * s.error) END,
		s.n::int, coalesce(s.samples, 0)::bigint
	FROM spread s
$$;
COMMENT ON FUNCTION tablespace_advisor.pool_measurements(
	float8[], float8[], float8[], float8[], bigint[], boolean) IS
	'one mean with a 95 % interval from those of several runs, newest first, ages in days; loaded: they were measured beside others, and differ by these; used, used_samples: how many runs count, and their samples';
GRANT EXECUTE ON FUNCTION tablespace_advisor.pool_measurements(
	float8[], float8[], float8[], float8[], bigint[], boolean) TO pg_monitor;

/*
 * The last five runs of a tablespace's device count.  Those that were measured
 * alone go before others, a caveat comes last; but after a month what was
 * measured beside others lately is better than what was not.  Where a run found
 * that throughput falls, only such runs say what comes after it.
 */
CREATE VIEW tablespace_advisor.pooled_probe_result AS
WITH newest AS (
	SELECT DISTINCT ON (r.tablespace_oid) r.tablespace_oid, r.device
	FROM tablespace_advisor.current_probe_result r
	ORDER BY r.tablespace_oid, r.run_id DESC
), replaced AS (
	SELECT n.tablespace_oid, coalesce(max(r.run_id), 0) AS run_id
	FROM newest n
	LEFT JOIN tablespace_advisor.current_probe_result r
		ON r.tablespace_oid = n.tablespace_oid
			AND r.device IS DISTINCT FROM n.device
	GROUP BY n.tablespace_oid
), limited AS (
	/* for a month, a run too short to use the credit up says less */
	SELECT DISTINCT r.tablespace_oid, r.workload, r.queue_depth
	FROM tablespace_advisor.current_probe_result r
	WHERE r.burst_iops IS NOT NULL AND r.caveat IS NULL
		AND r.finished_at > now() - interval '30 days'
), ranked AS (
	SELECT r.*, c.doubt,
		min(c.doubt) OVER (PARTITION BY r.tablespace_oid, r.workload, r.queue_depth)
			AS min_doubt,
		row_number() OVER (PARTITION BY r.tablespace_oid, r.workload, r.queue_depth
			ORDER BY c.doubt, r.run_id DESC) AS place
	FROM tablespace_advisor.current_probe_result r
	JOIN replaced d ON d.tablespace_oid = r.tablespace_oid AND r.run_id > d.run_id
	LEFT JOIN limited l ON l.tablespace_oid = r.tablespace_oid
		AND l.workload = r.workload AND l.queue_depth = r.queue_depth
	CROSS JOIN LATERAL (SELECT CASE WHEN r.caveat IS NOT NULL THEN 3
		WHEN r.finished_at < now() - interval '30 days' THEN 2
		WHEN l.workload IS NOT NULL AND r.burst_iops IS NULL THEN 2
		WHEN r.burst_iops IS NOT NULL THEN 0
		WHEN r.conditions IS NOT NULL THEN 1 ELSE 0 END) c (doubt)
	WHERE r.mean_us > 0 AND r.page_us > 0
		AND (r.io_size = current_setting('block_size')::int
			OR r.workload LIKE 'sequential %')
)
SELECT g.tablespace_oid, g.workload, g.queue_depth, g.run_id, g.finished_at,
	p.used AS runs, p.used_samples AS samples,
	p.mean AS mean_us, p.low AS mean_low_us, p.high AS mean_high_us,
	page.mean AS page_us, page.low AS page_low_us, page.high AS page_high_us,
	g.doubt = 3 AS has_caveat, g.loaded
FROM (SELECT r.tablespace_oid, r.workload, r.queue_depth,
		max(r.run_id) AS run_id, max(r.finished_at) AS finished_at,
		array_agg(r.samples ORDER BY r.place) AS samples, min(r.doubt) AS doubt,
		bool_or(r.conditions IS NOT NULL AND r.burst_iops IS NULL) AS loaded,
		array_agg(r.mean_us ORDER BY r.place) AS means,
		array_agg(r.mean_low_us ORDER BY r.place) AS lows,
		array_agg(r.mean_high_us ORDER BY r.place) AS highs,
		array_agg(r.page_us ORDER BY r.place) AS pages,
		array_agg(r.page_us * r.mean_low_us / r.mean_us ORDER BY r.place) AS page_lows,
		array_agg(r.page_us * r.mean_high_us / r.mean_us ORDER BY r.place) AS page_highs,
		array_agg((extract(epoch FROM now() - r.finished_at) / 86400)::float8
			ORDER BY r.place) AS ages
	FROM ranked r
	WHERE r.doubt = r.min_doubt AND r.place <= 5
	GROUP BY r.tablespace_oid, r.workload, r.queue_depth) g
CROSS JOIN LATERAL tablespace_advisor.pool_measurements(
	g.means, g.lows, g.highs, g.ages, g.samples, g.loaded) p
CROSS JOIN LATERAL tablespace_advisor.pool_measurements(
	g.pages, g.page_lows, g.page_highs, g.ages, g.samples, g.loaded) page;
COMMENT ON VIEW tablespace_advisor.pooled_probe_result IS
	'what the last runs of each tablespace''s device come to, by workload and queue depth: times in microseconds with 95 % intervals; run_id and finished_at are those of the newest, runs says how many count; loaded: measured beside others; has_caveat: only rows with a caveat are there';

/*
 * Random reads count at depth 1 and block size, because that is how an index
 * scan reads; sequential ones by throughput, because read-ahead hides their
 * latency.
 */
CREATE VIEW tablespace_advisor.tablespace_latency AS
SELECT t.oid AS tablespace_oid, t.spcname AS tablespace,
	random_read.run_id, random_read.finished_at AS measured_at,
	random_read.samples,
	random_read.mean_us AS random_read_us,
	random_read.mean_low_us AS random_read_low_us,
	random_read.mean_high_us AS random_read_high_us,
	sequential_read.page_us AS sequential_page_us,
	sequential_write.page_us AS sequential_write_page_us,
	(SELECT r.caveat
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = t.oid AND r.workload = 'random read'
			AND r.queue_depth = 1
		ORDER BY r.run_id DESC LIMIT 1) AS random_read_caveat,
	(SELECT r.caveat
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = t.oid AND r.workload = 'sequential read'
		ORDER BY r.run_id DESC, r.queue_depth LIMIT 1) AS sequential_read_caveat,
	random_read.runs,
	sequential_read.page_low_us AS sequential_page_low_us,
	sequential_read.page_high_us AS sequential_page_high_us
FROM pg_tablespace t
LEFT JOIN tablespace_advisor.pooled_probe_result random_read
	ON random_read.tablespace_oid = t.oid
		AND random_read.workload = 'random read' AND random_read.queue_depth = 1
		AND NOT random_read.has_caveat
LEFT JOIN LATERAL
	(SELECT r.*
		FROM tablespace_advisor.pooled_probe_result r
		WHERE r.tablespace_oid = t.oid AND r.workload = 'sequential read'
			AND NOT r.has_caveat
		ORDER BY r.loaded, r.run_id DESC, r.queue_depth LIMIT 1) sequential_read ON true
LEFT JOIN LATERAL
	(SELECT r.*
		FROM tablespace_advisor.pooled_probe_result r
		WHERE r.tablespace_oid = t.oid AND r.workload = 'sequential write'
			AND NOT r.has_caveat
		ORDER BY r.loaded, r.run_id DESC, r.queue_depth LIMIT 1) sequential_write ON true
WHERE t.spcname <> 'pg_global';

COMMENT ON VIEW tablespace_advisor.tablespace_latency IS
	'per tablespace what its last runs come to (pooled_probe_result), in microseconds: a random read of one block at queue depth 1 with the 95 % interval of its mean, and a page read or written sequentially; runs: how many runs the random read is from, run_id and measured_at: of the newest of them; NULL where nothing trustworthy was measured, random_read_caveat and sequential_read_caveat say what was wrong with the newest';

CREATE VIEW tablespace_advisor.tablespace_cost_setting AS
SELECT t.oid AS tablespace_oid, t.spcname AS tablespace,
	coalesce(o.random_page_cost,
		current_setting('random_page_cost')::float8) AS random_page_cost,
	coalesce(o.seq_page_cost,
		current_setting('seq_page_cost')::float8) AS seq_page_cost,
	o.random_page_cost IS NOT NULL AS is_tablespace_option,
	coalesce(o.effective_io_concurrency,
		current_setting('effective_io_concurrency')::int) AS effective_io_concurrency,
	coalesce(o.maintenance_io_concurrency,
		current_setting('maintenance_io_concurrency')::int) AS maintenance_io_concurrency
FROM pg_tablespace t
CROSS JOIN LATERAL
	(SELECT
		max(option_value::float8)
			FILTER (WHERE option_name = 'random_page_cost') AS random_page_cost,
		max(option_value::float8)
			FILTER (WHERE option_name = 'seq_page_cost') AS seq_page_cost,
		/* whole numbers may be written as 1e2, too */
		max(option_value::float8::int)
			FILTER (WHERE option_name = 'effective_io_concurrency') AS effective_io_concurrency,
		max(option_value::float8::int)
			FILTER (WHERE option_name = 'maintenance_io_concurrency') AS maintenance_io_concurrency
		FROM pg_options_to_table(t.spcoptions)
		WHERE option_name IN ('random_page_cost', 'seq_page_cost',
			'effective_io_concurrency', 'maintenance_io_concurrency')) o;

COMMENT ON VIEW tablespace_advisor.tablespace_cost_setting IS
	'the page costs and the prefetching this session plans with, per tablespace: an option of the tablespace beats the setting of the session';

GRANT SELECT ON tablespace_advisor.current_probe_result,
	tablespace_advisor.pooled_probe_result,
	tablespace_advisor.tablespace_latency,
	tablespace_advisor.tablespace_cost_setting TO pg_monitor;

CREATE FUNCTION tablespace_advisor.check_tablespace(name_to_check name)
RETURNS name
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF name_to_check IS NULL THEN
		RETURN NULL;
	END IF;
	IF NOT EXISTS (SELECT FROM pg_tablespace WHERE spcname = name_to_check) THEN
		RAISE EXCEPTION 'tablespace "%" does not exist', name_to_check
			USING ERRCODE = 'undefined_object';
	END IF;
	IF name_to_check = 'pg_global' THEN
		RAISE EXCEPTION 'only shared relations can be placed in pg_global tablespace'
			USING ERRCODE = 'invalid_parameter_value',
				DETAIL = 'It holds the catalogs that all databases share, and nothing else.';
	END IF;
	RETURN name_to_check;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.check_tablespace(name) IS
	'gives back its argument if a user''s relation can be in that tablespace or it is NULL; errors: 42704 there is no such tablespace, 22023 it is pg_global';

GRANT EXECUTE ON FUNCTION tablespace_advisor.check_tablespace(name) TO pg_monitor;

/* src/cost/locality.sql */

/*
 * Times by which locality is priced.  A row measured without a caveat is
 * preferred to a newer one with, except that random and sequential reads,
 * on which all else stands, need to have none.
 */
CREATE VIEW tablespace_advisor.read_times AS
SELECT l.tablespace_oid, l.tablespace, l.measured_at,
	l.sequential_page_us, l.random_read_us,
	skip_1.page_us AS skip_read_us,
	cached.mean_us AS cached_read_us,
	adjacent_0.page_us AS adjacent_0_us,
	adjacent_1.page_us AS adjacent_1_us,
	deep.queue_depth AS depth,
	deep.page_us AS adjacent_deep_us,
	skip_deep.page_us AS skip_deep_us,
	random_deep.page_us AS random_deep_us
FROM tablespace_advisor.tablespace_latency l
LEFT JOIN tablespace_advisor.pooled_probe_result skip_1
	ON skip_1.tablespace_oid = l.tablespace_oid
		AND skip_1.workload = 'skip read' AND skip_1.queue_depth = 1
LEFT JOIN tablespace_advisor.pooled_probe_result cached
	ON cached.tablespace_oid = l.tablespace_oid
		AND cached.workload = 'cached read' AND cached.queue_depth = 1
LEFT JOIN tablespace_advisor.pooled_probe_result adjacent_0
	ON adjacent_0.tablespace_oid = l.tablespace_oid
		AND adjacent_0.workload = 'adjacent read' AND adjacent_0.queue_depth = 0
LEFT JOIN tablespace_advisor.pooled_probe_result adjacent_1
	ON adjacent_1.tablespace_oid = l.tablespace_oid
		AND adjacent_1.workload = 'adjacent read' AND adjacent_1.queue_depth = 1
LEFT JOIN LATERAL
	(SELECT r.page_us, r.queue_depth
		FROM tablespace_advisor.pooled_probe_result r
		WHERE r.tablespace_oid = l.tablespace_oid
			AND r.workload = 'adjacent read' AND r.queue_depth > 1
		ORDER BY r.has_caveat, r.loaded, r.run_id DESC LIMIT 1) deep ON true
LEFT JOIN tablespace_advisor.pooled_probe_result skip_deep
	ON skip_deep.tablespace_oid = l.tablespace_oid
		AND skip_deep.workload = 'skip read'
		AND skip_deep.queue_depth = deep.queue_depth
LEFT JOIN tablespace_advisor.pooled_probe_result random_deep
	ON random_deep.tablespace_oid = l.tablespace_oid
		AND random_deep.workload = 'random read'
		AND random_deep.queue_depth = deep.queue_depth;

COMMENT ON VIEW tablespace_advisor.read_times IS
	'per tablespace the measured microseconds to read a block: in a sequential scan, at random, after a short jump forward, from the system''s cache, and next to the one before in a bitmap heap scan at effective_io_concurrency 0, 1 and depth; skip_deep_us and random_deep_us are at that depth too. NULL: not measured';

COMMENT ON TABLE tablespace_advisor.index_locality IS
	'what measure_index_locality() found, one row per index; void as soon as one of the files is another, or the index or its table has grown by more than a fifth';
COMMENT ON COLUMN tablespace_advisor.index_locality.index_file IS
	'number of the index''s file at that time';
COMMENT ON COLUMN tablespace_advisor.index_locality.heap_file IS
	'number of the table''s file at that time';
COMMENT ON COLUMN tablespace_advisor.index_locality.points IS
	'one line per size of window: entries, windows, blocks, sequential, skip and random steps, steps back of 1 or 2 blocks, steps back of up to 256 (both among the random ones), adjacent, skip and far gaps, entries that lead to another block than the one before, lengths of the skip gaps added up, different keys (only in the last line, 0: not known)';
COMMENT ON COLUMN tablespace_advisor.index_locality.read_times IS
	'microseconds, in the order of the view read_times from sequential_page_us on, of the table''s tablespace; NULL: it was not probed, and the planner is told nothing';
GRANT SELECT ON tablespace_advisor.index_locality,
	tablespace_advisor.read_times TO pg_monitor;

CREATE FUNCTION @extschema@.measure_index_locality(
	target regclass,
	OUT index regclass,
	OUT entries bigint,
	OUT window_entries bigint,
	OUT heap_blocks float8,
	OUT sequential_steps float8,
	OUT skip_steps float8,
	OUT random_steps float8,
	OUT adjacent_gaps float8,
	OUT skip_gaps float8,
	OUT far_gaps float8,
	OUT measured_at timestamptz,
	OUT correlation float8,
	OUT effective_correlation float8,
	OUT backward_steps float8,
	OUT backward_skip_steps float8,
	OUT windows bigint,
	OUT block_changes float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'measure_index_locality';
COMMENT ON FUNCTION @extschema@.measure_index_locality(regclass) IS
	'finds out which blocks of the table windows of consecutive index entries lead to, per valid B-tree of a table, a partitioned table or of one index, and keeps it for tablespace_advisor.correct_locality; one row per size of window, the last one of the whole index. Errors: 42501 neither owner nor member of pg_monitor, 42P01 no such relation, 42809 no table or index, 22004 NULL, 55P03 another transaction, which has not ended, has measured it.';

/* src/cost/recommend.sql: which random_page_cost, and why */

/* An index and its table, as the formulas want them. */
CREATE TYPE tablespace_advisor.weighed_index AS (
	index oid,
	table_pages float8,
	table_rows float8,
	index_pages float8,
	index_entries float8,
	correlation float8,
	cached float8,
	random_page_cost float8,
	tree_height float8
);
COMMENT ON TYPE tablespace_advisor.weighed_index IS
	'what weigh_random_page_cost() wants to know of a B-tree. cached: share of its table that caches hold; random_page_cost: of the index, NULL: that of the table';

CREATE TYPE tablespace_advisor.weighed_times AS (
	sequential_page_us float8,
	random_read_us float8,
	skip_read_us float8,
	cached_read_us float8,
	adjacent_0_us float8,
	adjacent_1_us float8,
	depth float8,
	adjacent_deep_us float8,
	skip_deep_us float8,
	random_deep_us float8,
	random_read_low_us float8,
	random_read_high_us float8,
	sequential_page_low_us float8,
	sequential_page_high_us float8
);
COMMENT ON TYPE tablespace_advisor.weighed_times IS
	'columns of the view read_times, and the intervals of the first two; all but these may be NULL';

CREATE FUNCTION tablespace_advisor.weigh_random_page_cost(
	times tablespace_advisor.weighed_times,
	indexes tablespace_advisor.weighed_index[],
	random_page_cost float8,
	seq_page_cost float8,
	effective_io_concurrency int,
	recommended_io_concurrency int,
	OUT best float8,
	OUT low float8,
	OUT high float8,
	OUT regret_current float8,
	OUT regret_kept float8,
	OUT regret_best float8,
	OUT regret_locality float8,
	OUT gain_low float8,
	OUT prefetch_gain_low float8,
	OUT measured_indexes int)
LANGUAGE C STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'weigh_random_page_cost';
COMMENT ON FUNCTION tablespace_advisor.weigh_random_page_cost(
	tablespace_advisor.weighed_times, tablespace_advisor.weighed_index[], float8, float8, int, int) IS
	'the random_page_cost under which the planner''s choices cost least time, and how many times as long as the best plans its choices take (geometric means): regret_current now; with effective_io_concurrency as recommended regret_kept, with the best constant, too, regret_best, with locality corrected, too, regret_locality; gain_low, prefetch_gain_low: the least of regret_kept / regret_best and of regret_current / regret_kept over all draws of the times. Errors: 22023, 2202E, 22004 for what makes no sense';

/*
 * What there is to weigh: the hundred largest pairs of a table and a B-tree
 * per tablespace of this database whose correlation the caller may see.
 * Caches are those of this moment, shared buffers among them: a plan is
 * charged for every page that it touches, wherever that is found.  (Forecasts
 * of the stage advise discount reads that were counted, which are those that
 * shared buffers did not answer: cached_share().)
 */
CREATE FUNCTION tablespace_advisor.weighable_indexes()
RETURNS TABLE (
	tablespace_oid oid,
	indexes tablespace_advisor.weighed_index[],
	n int,
	cached_fraction float8)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH largest AS MATERIALIZED (
		SELECT h.reltablespace, coalesce(nullif(h.reltablespace, 0), d.dattablespace) AS spc,
			coalesce(nullif(x.reltablespace, 0), d.dattablespace) AS index_spc,
			h.oid AS heap, h.relpages, x.oid AS index, x.relpages AS index_pages,
			/* owners can have put anything there; a row takes 4 bytes at least */
			least(h.reltuples, h.relpages::float8 * b.size / 4) AS reltuples,
			least(x.reltuples, x.relpages::float8 * b.size / 4) AS index_tuples,
			i.indnkeyatts, i.indkey[0] AS attnum,
			row_number() OVER (PARTITION BY h.reltablespace
				ORDER BY h.relpages DESC, x.oid) AS place
		FROM pg_class h
		CROSS JOIN (SELECT current_setting('block_size')::int) b (size)
		JOIN pg_namespace ns ON ns.oid = h.relnamespace
		JOIN pg_database d ON d.datname = current_database()
		JOIN pg_index i ON i.indrelid = h.oid AND i.indisvalid
		JOIN pg_class x ON x.oid = i.indexrelid AND x.reltuples > 0
		JOIN pg_am am ON am.oid = x.relam AND am.amname = 'btree'
		WHERE h.relkind IN ('r', 'm') AND h.relpages >= 64 AND h.reltuples > 0
			AND h.relpersistence <> 't'
			AND ns.nspname NOT IN ('pg_catalog', 'information_schema',
				'pg_toast', 'tablespace_advisor')
	), pair AS MATERIALIZED (
		/* one after the other, until there are a hundred */
		SELECT p.*, row_number() OVER (PARTITION BY t.reltablespace ORDER BY p.place) AS rank
		FROM (SELECT DISTINCT l.reltablespace FROM largest l) t
		CROSS JOIN LATERAL (SELECT l.*, c.correlation
			FROM (SELECT o.* FROM largest o WHERE o.reltablespace = t.reltablespace
				ORDER BY o.place) l
			CROSS JOIN LATERAL (SELECT n.nspname, h.relname, a.attname
				FROM pg_class h JOIN pg_namespace n ON n.oid = h.relnamespace
				JOIN pg_attribute a ON a.attrelid = h.oid AND a.attnum = l.attnum
				WHERE h.oid = l.heap AND has_column_privilege(l.heap, l.attnum, 'SELECT')
				OFFSET 0) k
			CROSS JOIN LATERAL (SELECT greatest(least(s.correlation, 1), -1)
					* CASE WHEN l.indnkeyatts > 1 THEN 0.75 ELSE 1 END AS correlation
				FROM pg_stats s WHERE s.schemaname = k.nspname AND s.tablename = k.relname
					AND s.attname = k.attname AND NOT s.inherited AND s.correlation IS NOT NULL
				OFFSET 0) c
			ORDER BY l.place LIMIT 100) p
	), relation AS (
		SELECT p.heap AS oid FROM pair p UNION SELECT p.index FROM pair p
	), residency AS MATERIALIZED (
		SELECT r.relation, r.blocks,
			(r.shared_blocks + r.system_only_blocks)::float8 AS cached
		FROM tablespace_advisor.relations_residency(
			(SELECT coalesce(array_agg(oid), '{}') FROM relation)) r
		WHERE r.blocks > 0
	)
	SELECT p.spc,
		array_agg(ROW(p.index, p.relpages, p.reltuples, p.index_pages, p.index_tuples,
			p.correlation, coalesce(h.cached / nullif(h.blocks, 0), 0),
			CASE WHEN p.index_spc <> p.spc THEN c.random_page_cost END,
			greatest(ceil(ln(greatest(p.index_pages, 1)) / ln(300.0)), 0)
			)::tablespace_advisor.weighed_index ORDER BY p.rank),
		count(DISTINCT p.index)::int,
		CASE WHEN bool_and(h.cached IS NOT NULL) THEN
			least((sum(h.cached) / nullif(sum(h.blocks), 0))::float8, 1)
		END
	FROM pair p
	LEFT JOIN residency h ON h.relation = p.heap
	JOIN tablespace_advisor.tablespace_cost_setting c
		ON c.tablespace_oid = p.index_spc
	GROUP BY p.spc
$$;
COMMENT ON FUNCTION tablespace_advisor.weighable_indexes() IS
	'per tablespace what weigh_random_page_cost() wants to know of the tables there and their B-trees, how many of the latter there are, and the share of the tables'' blocks that caches hold now (NULL: not known)';

/*
 * The depth at which random reads come near their best, of what the last runs
 * come to where they measured several, and what that does to neighbouring
 * pages.
 */
CREATE VIEW tablespace_advisor.read_concurrency AS
WITH depth AS (
	SELECT r.tablespace_oid, r.queue_depth, r.iops,
		max(r.iops) OVER (PARTITION BY r.tablespace_oid) AS peak,
		lead(r.iops) OVER (PARTITION BY r.tablespace_oid
			ORDER BY r.queue_depth) AS next_iops,
		count(*) OVER (PARTITION BY r.tablespace_oid) AS depths
	FROM (SELECT p.tablespace_oid, p.queue_depth, 1e6 / p.page_us AS iops
		FROM tablespace_advisor.pooled_probe_result p
		WHERE p.workload = 'random read') r
)
SELECT d.tablespace_oid, min(d.queue_depth) AS depth
FROM depth d
WHERE d.depths > 1 AND d.iops >= 0.9 * d.peak AND coalesce(d.next_iops < 1.1 * d.iops, true)
GROUP BY d.tablespace_oid;
COMMENT ON VIEW tablespace_advisor.read_concurrency IS
	'per tablespace the smallest queue depth at which random reads reach nine tenths of their best throughput and gain less than a tenth from the next depth';
GRANT SELECT ON tablespace_advisor.read_concurrency TO pg_monitor;

/* How many sessions read at once: over the samples of a week, at least 1. */
CREATE FUNCTION tablespace_advisor.concurrent_readers()
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT greatest(sum(s.reading_sessions)::float8
		/ nullif(sum(s.reading_snapshots), 0), 1)
	FROM tablespace_advisor.sample s
	WHERE s.taken_at > now() - interval '7 days'
$$;
COMMENT ON FUNCTION tablespace_advisor.concurrent_readers() IS
	'sessions that read data files at the same time, on average over those samples of the last 7 days in which any did; 1 where there are none';

/* Sessions of other roles may plan with another constant than this one. */
CREATE VIEW tablespace_advisor.role_cost_setting AS
SELECT concat_ws(' in ',
		CASE WHEN s.setrole <> 0 THEN
			'role ' || quote_ident(pg_get_userbyid(s.setrole)) END,
		CASE WHEN s.setdatabase <> 0 THEN
			'database ' || quote_ident(d.datname) END) AS setter,
	substr(c.setting, length('random_page_cost=') + 1)::float8
		AS random_page_cost
FROM pg_db_role_setting s
LEFT JOIN pg_database d ON d.oid = s.setdatabase
CROSS JOIN unnest(s.setconfig) c (setting)
WHERE (s.setdatabase = 0 OR d.datname = current_database())
	AND c.setting LIKE 'random!_page!_cost=%' ESCAPE '!';
COMMENT ON VIEW tablespace_advisor.role_cost_setting IS
	'values of random_page_cost that ALTER ROLE and ALTER DATABASE have set for sessions in this database; an option of a tablespace beats them';
GRANT SELECT ON tablespace_advisor.role_cost_setting TO pg_monitor;

/* What the probes and the settings say of each tablespace, and what there is to weigh. */
CREATE FUNCTION tablespace_advisor.cost_measurements(wanted name)
RETURNS TABLE (
	latency tablespace_advisor.tablespace_latency,
	setting tablespace_advisor.tablespace_cost_setting,
	is_option boolean,
	is_probed boolean,
	times tablespace_advisor.weighed_times,
	depth int,
	io_concurrency int,
	indexes tablespace_advisor.weighed_index[],
	n int,
	cached_fraction float8)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT l, c,
		EXISTS (SELECT FROM pg_tablespace s CROSS JOIN pg_options_to_table(s.spcoptions) o
			WHERE s.oid = l.tablespace_oid
				AND o.option_name IN ('random_page_cost', 'effective_io_concurrency')),
		l.random_read_us IS NOT NULL AND l.sequential_page_us IS NOT NULL,
		CASE WHEN l.random_read_us > 0 AND l.sequential_page_us > 0 THEN
			ROW(l.sequential_page_us, l.random_read_us, t.skip_read_us,
				t.cached_read_us, t.adjacent_0_us, t.adjacent_1_us, t.depth,
				t.adjacent_deep_us, t.skip_deep_us, t.random_deep_us,
				l.random_read_low_us, l.random_read_high_us,
				l.sequential_page_low_us, l.sequential_page_high_us
				)::tablespace_advisor.weighed_times
		END,
		r.depth,
		CASE
			WHEN r.depth IS NULL THEN NULL
			WHEN r.depth <= 1 THEN
				CASE WHEN t.adjacent_1_us > 1.1 * t.adjacent_0_us THEN 0 ELSE 1 END
			WHEN t.adjacent_deep_us - t.adjacent_0_us
					> l.random_read_us - t.random_deep_us THEN 0
			ELSE greatest(round(r.depth
				/ coalesce(tablespace_advisor.concurrent_readers(), 1)), 1)::int
		END,
		w.indexes, w.n, w.cached_fraction
	FROM tablespace_advisor.tablespace_latency l
	JOIN tablespace_advisor.tablespace_cost_setting c USING (tablespace_oid)
	JOIN tablespace_advisor.read_times t USING (tablespace_oid)
	LEFT JOIN tablespace_advisor.read_concurrency r USING (tablespace_oid)
	LEFT JOIN tablespace_advisor.weighable_indexes() w USING (tablespace_oid)
	WHERE wanted IS NULL OR l.tablespace = wanted
$$;
COMMENT ON FUNCTION tablespace_advisor.cost_measurements(name) IS
	'per tablespace (or of the one named) what was measured, what is set, and what weigh_random_page_cost() is to weigh; depth and io_concurrency: what the random reads at several depths recommend for maintenance_io_concurrency and effective_io_concurrency (NULL: not measured); is_option: one of the recommended settings is an option of the tablespace already';

CREATE TYPE tablespace_advisor.cost_finding AS (
	finding text,
	verdict text,
	latency tablespace_advisor.tablespace_latency,
	setting tablespace_advisor.tablespace_cost_setting,
	is_probed boolean,
	n int,
	measured_indexes int,
	cached_fraction float8,
	best float8,
	low float8,
	high float8,
	effective_io_concurrency int,
	maintenance_io_concurrency int,
	regret_current float8,
	regret_kept float8,
	regret_best float8,
	regret_recommended float8,
	regret_locality float8,
	others text
);
COMMENT ON TYPE tablespace_advisor.cost_finding IS
	'what was found of a tablespace''s random_page_cost. finding: "not probed", "nothing to weigh", "caches unknown", "old" (a change, by an old probe), "gain", "prefetching" (effective_io_concurrency alone brings one), or why the value stays: "flat", "no gain", "noise", "locality"; best: the best constant, low, high: as good; the regrets as weigh_random_page_cost() tells them, regret_recommended that of what is recommended; others: values that roles and databases have set';

/*
 * What is an option of the tablespace already was chosen by somebody, who may
 * have followed this advice: it takes more to change it, lest it changes with
 * every probe and with what caches hold.
 */
CREATE FUNCTION tablespace_advisor.find_costs(wanted name)
RETURNS SETOF tablespace_advisor.cost_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH weighed AS (
		SELECT m.*, g.*, o.others,
			CASE WHEN m.is_option THEN 1.1 ELSE 1.03 END AS min_gain,
			coalesce(m.io_concurrency, (m.setting).effective_io_concurrency) AS wanted_concurrency
		FROM tablespace_advisor.cost_measurements(wanted) m
		LEFT JOIN LATERAL tablespace_advisor.weigh_random_page_cost(
			m.times, m.indexes, (m.setting).random_page_cost, (m.setting).seq_page_cost,
			(m.setting).effective_io_concurrency,
			coalesce(m.io_concurrency, (m.setting).effective_io_concurrency)) g
			ON m.is_probed AND m.indexes IS NOT NULL
		LEFT JOIN LATERAL (
			SELECT string_agg(format('%s for %s (%s times)',
				s.random_page_cost, s.setter,
				round(r.regret_current::numeric, 2)), ', ' ORDER BY s.setter) AS others
			FROM tablespace_advisor.role_cost_setting s
			CROSS JOIN LATERAL tablespace_advisor.weigh_random_page_cost(
				m.times, m.indexes, s.random_page_cost, (m.setting).seq_page_cost,
				(m.setting).effective_io_concurrency,
				(m.setting).effective_io_concurrency) r
			WHERE s.random_page_cost <> (m.setting).random_page_cost) o
			ON m.is_probed AND m.indexes IS NOT NULL
	), judged AS (
		SELECT w.*,
			w.regret_current / w.regret_kept >= w.min_gain
				AND w.prefetch_gain_low > 1 AS prefetching_helps,
			CASE
				WHEN NOT w.is_probed THEN 'not probed'
				WHEN w.n IS NULL THEN 'nothing to weigh'
				WHEN w.cached_fraction IS NULL THEN 'caches unknown'
				WHEN (w.setting).random_page_cost BETWEEN w.low AND w.high THEN 'flat'
				WHEN w.regret_kept / w.regret_best < w.min_gain THEN 'no gain'
				WHEN w.gain_low <= 1 THEN 'noise'
				WHEN w.regret_kept - w.regret_best < 0.25 * (w.regret_kept - 1)
					AND w.regret_locality < w.regret_best THEN 'locality'
				ELSE 'gain'
			END AS of_constant
		FROM weighed w
	), found AS (
		SELECT j.*, CASE
				WHEN j.of_constant IN ('not probed', 'nothing to weigh', 'caches unknown')
					OR j.of_constant <> 'gain' AND NOT j.prefetching_helps THEN j.of_constant
				WHEN (j.latency).measured_at < now() - interval '30 days' THEN 'old'
				WHEN j.of_constant = 'gain' THEN 'gain'
				ELSE 'prefetching'
			END AS finding
		FROM judged j
	)
	SELECT f.finding,
		CASE WHEN f.finding IN ('not probed', 'old') THEN 'probe first'
			WHEN f.finding IN ('gain', 'prefetching') THEN 'change' ELSE 'keep' END,
		f.latency, f.setting, f.is_probed, f.n, f.measured_indexes, f.cached_fraction,
		f.best, f.low, f.high, f.io_concurrency, f.depth,
		f.regret_current, f.regret_kept, f.regret_best,
		CASE f.finding WHEN 'gain' THEN f.regret_best WHEN 'prefetching' THEN f.regret_kept
			WHEN 'not probed' THEN NULL WHEN 'old' THEN NULL ELSE f.regret_current END,
		f.regret_locality, f.others
	FROM found f
$$;
COMMENT ON FUNCTION tablespace_advisor.find_costs(name) IS
	'what recommend_random_page_cost() has found of each tablespace or of the one named';

CREATE FUNCTION tablespace_advisor.tablespace_options(
	tablespace name,
	names text[],
	numbers float8[],
	OUT statement text,
	OUT undo_statement text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH wanted AS (
		SELECT w.name, w.number, w.place, p.option_value AS present
		FROM unnest(names, numbers) WITH ORDINALITY w (name, number, place)
		LEFT JOIN (SELECT o.* FROM pg_tablespace t CROSS JOIN pg_options_to_table(t.spcoptions) o
			WHERE t.spcname = $1) p ON p.option_name = w.name
		WHERE w.number IS NOT NULL
	)
	SELECT format('ALTER TABLESPACE %I SET (%s)', $1,
			string_agg(format('%s = %s', w.name, w.number), ', ' ORDER BY w.place)),
		concat_ws('; ',
			format('ALTER TABLESPACE %I RESET (', $1)
				|| string_agg(w.name, ', ' ORDER BY w.place) FILTER (WHERE w.present IS NULL) || ')',
			format('ALTER TABLESPACE %I SET (', $1)
				|| string_agg(format('%s = %s', w.name, w.present), ', ' ORDER BY w.place)
					FILTER (WHERE w.present IS NOT NULL) || ')')
	FROM wanted w
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_options(name, text[], float8[]) IS
	'the statement that gives options of a tablespace these numbers (NULL: not that one), and what takes it back: two statements where some are set now and some are not';

CREATE FUNCTION tablespace_advisor.cost_reason(f tablespace_advisor.cost_finding)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH number AS (
		SELECT round(f.regret_current::numeric, 2) AS now, round(f.regret_best::numeric, 2) AS best,
			round(f.regret_recommended::numeric, 2) AS recommended,
			round(f.regret_locality::numeric, 2) AS locality,
			round((100 * f.cached_fraction)::numeric) AS cached,
			(f.setting).random_page_cost AS r,
			CASE WHEN f.low < f.high THEN format(' (%s to %s are as good)', f.low, f.high)
				END AS as_good,
			format('effective_io_concurrency %s instead of %s', f.effective_io_concurrency,
				(f.setting).effective_io_concurrency) AS prefetching
	)
	SELECT CASE f.finding
			WHEN 'not probed' THEN coalesce('no usable probe: '
				|| coalesce((f.latency).random_read_caveat, (f.latency).sequential_read_caveat),
				'not measured')
			WHEN 'old' THEN format('the probe is %s days old: probe again before anything is changed',
				extract(day FROM now() - (f.latency).measured_at))
			WHEN 'gain' THEN format('%s instead of %s%s%s: plans take %s times the best instead of %s, %s %% of the tables cached',
				f.best, n.r, n.as_good, CASE WHEN f.effective_io_concurrency
					<> (f.setting).effective_io_concurrency THEN ', ' || n.prefetching END,
				n.best, n.now, n.cached)
			WHEN 'prefetching' THEN format('%s: plans take %s times the best instead of %s, %s %% of the tables cached',
				n.prefetching, n.recommended, n.now, n.cached)
			ELSE format('keep %s', n.r) || CASE f.finding
				WHEN 'nothing to weigh' THEN
					': no analyzed table with a B-tree and at least 64 pages here'
				WHEN 'caches unknown' THEN
					': how much of the tables the caches hold is not known'
				WHEN 'flat' THEN format('%s: plans take %s times the best, %s %% of the tables cached',
					n.as_good, n.now, n.cached)
				WHEN 'locality' THEN format(': no constant helps much (plans take %s times the best, with %s %s times)',
					n.now, f.best, n.best)
				ELSE format(': plans take %s times the best, with %s %s times, %s', n.now, f.best, n.best,
					CASE f.finding WHEN 'noise' THEN 'within noise' ELSE 'too little for a change' END)
			END
		END || CASE WHEN f.finding NOT IN ('nothing to weigh', 'caches unknown')
			AND f.regret_locality < f.regret_recommended - 0.05
			THEN format('; with tablespace_advisor.correct_locality = on %s times', n.locality) ELSE '' END
	FROM number n
$$;
COMMENT ON FUNCTION tablespace_advisor.cost_reason(tablespace_advisor.cost_finding) IS
	'why, in a line';

CREATE FUNCTION tablespace_advisor.cost_detail(f tablespace_advisor.cost_finding)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH text AS (
		SELECT CASE WHEN (f.setting).is_tablespace_option THEN 'option of the tablespace'
				ELSE format('setting random_page_cost (%s)',
					(SELECT s.source FROM pg_settings s
						WHERE s.name = 'random_page_cost')) END AS setting,
			format('a random read takes %s times as long as a sequential page (%s of %s, %s random reads at depth 1)',
				round(((f.latency).random_read_us / (f.latency).sequential_page_us)::numeric, 1),
				CASE WHEN (f.latency).runs = 1 THEN format('run %s', (f.latency).run_id)
					ELSE format('%s runs, the last one %s', (f.latency).runs, (f.latency).run_id) END,
				to_char((f.latency).measured_at, 'YYYY-MM-DD HH24:MI'), (f.latency).samples) AS probe,
			format('over %s of %s here, each at selectivities from one row to all (which ones queries use is not known), %s %% of the table blocks being in caches, the planner''s choices take %s times as long as the best plans',
				CASE WHEN f.n = 1 THEN '1 index' ELSE f.n || ' indexes' END,
				CASE WHEN f.measured_indexes = 0 THEN 'assumed locality'
					WHEN f.measured_indexes = f.n THEN 'measured locality'
					ELSE 'which ' || f.measured_indexes || ' have measured locality' END,
				round((100 * f.cached_fraction)::numeric),
				round(f.regret_current::numeric, 2)) AS weighed,
			format(', with %s they would take %s times as long', f.best,
				round(f.regret_best::numeric, 2)) AS best,
			CASE WHEN f.measured_indexes < f.n THEN
				' (call measure_index_locality() for the tables first)' ELSE '' END AS measure_first
	)
	SELECT CASE f.finding
			WHEN 'not probed' THEN 'no trustworthy measurement of ' || concat_ws(' nor of ',
				CASE WHEN (f.latency).random_read_us IS NULL THEN 'random reads at depth 1'
					|| coalesce(' (' || (f.latency).random_read_caveat || ')', '') END,
				CASE WHEN (f.latency).sequential_page_us IS NULL THEN 'sequential reads'
					|| coalesce(' (' || (f.latency).sequential_read_caveat || ')', '') END)
			WHEN 'nothing to weigh' THEN t.probe || format('; no analyzed table with a B-tree and at least 64 pages lies there in this database, so there is no plan to be made better and the %s stays', t.setting)
			WHEN 'caches unknown' THEN t.probe || format('; how much of the tables the caches hold is not known, and the ratio alone is no reason to change the %s', t.setting)
			WHEN 'flat' THEN t.probe || '; ' || t.weighed || format(': the %s is as good as any between %s and %s', t.setting, f.low, f.high)
			WHEN 'no gain' THEN t.probe || '; ' || t.weighed || t.best || format(': too little to change the %s', t.setting)
			WHEN 'noise' THEN t.probe || '; ' || t.weighed || t.best || format(', but not for all times within the intervals (a random read takes %s to %s us, a sequential page %s to %s): the %s stays. More runs, or longer ones, make the intervals narrower',
				round((f.latency).random_read_low_us::numeric, 1), round((f.latency).random_read_high_us::numeric, 1),
				round((f.latency).sequential_page_low_us::numeric, 1), round((f.latency).sequential_page_high_us::numeric, 1), t.setting)
			WHEN 'locality' THEN t.probe || '; ' || t.weighed || format(', and still %s times with the best constant, %s: no constant helps much here. With tablespace_advisor.correct_locality = on they would take %s times as long%s',
				round(f.regret_best::numeric, 2), f.best, round(f.regret_locality::numeric, 2), t.measure_first)
			WHEN 'old' THEN format('the probe is %s days old (run %s): probe again before anything is changed. By it, ',
				extract(day FROM now() - (f.latency).measured_at), (f.latency).run_id) || t.weighed || t.best
			ELSE t.probe || '; ' || t.weighed || format(', with what is recommended they would take %s times as long (%s). An option of the tablespace beats what is set for the session, the role or the database',
				round(f.regret_recommended::numeric, 2), CASE f.finding
					WHEN 'gain' THEN format('any value between %s and %s is about as good', f.low, f.high)
					ELSE format('random_page_cost stays %s', (f.setting).random_page_cost) END)
				|| CASE WHEN f.regret_locality < f.regret_recommended - 0.05 THEN
					format('; with tablespace_advisor.correct_locality = on it would be %s times%s',
						round(f.regret_locality::numeric, 2), t.measure_first) ELSE '' END
		END || CASE
			WHEN f.others IS NULL OR f.finding = 'caches unknown' THEN ''
			WHEN (f.setting).is_tablespace_option OR f.finding = 'gain' THEN
				'. The option beats what is set elsewhere: ' || f.others
			ELSE '. Elsewhere another value is set: ' || f.others
		END
	FROM text t
$$;
COMMENT ON FUNCTION tablespace_advisor.cost_detail(tablespace_advisor.cost_finding) IS
	'what was measured and weighed, and what follows';

/* What is added to the reason to probe. */
CREATE FUNCTION tablespace_advisor.who_may_probe(caller name)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE WHEN has_function_privilege(caller,
			'@extschema@.probe_tablespace(name,interval,text,int[],text[],text)'::regprocedure,
			'EXECUTE')
		THEN '' ELSE '; takes a superuser or a grant' END;
END;
COMMENT ON FUNCTION tablespace_advisor.who_may_probe(name) IS
	'who may call probe_tablespace(), if this role may not, else nothing';

CREATE FUNCTION @extschema@.recommend_random_page_cost(tablespace name DEFAULT NULL)
RETURNS TABLE (
	tablespace name,
	verdict text,
	random_page_cost float8,
	low float8,
	high float8,
	seq_page_cost float8,
	effective_io_concurrency int,
	maintenance_io_concurrency int,
	current_random_page_cost float8,
	random_read_us float8,
	sequential_page_us float8,
	cached_fraction float8,
	regret_current float8,
	regret_recommended float8,
	statement text,
	reason text,
	undo_statement text,
	detail text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH found AS MATERIALIZED (
		SELECT f AS fact, f.finding, f.verdict, f.setting, f.latency,
			(f.latency).random_read_caveat IS NULL
				AND (f.latency).sequential_read_caveat IS NULL AS answers
		FROM tablespace_advisor.find_costs(tablespace_advisor.check_tablespace($1)) f
	), unprobed AS (
		/* one call probes all; one that would find the same again is not named */
		SELECT count(*) AS n, min((f.latency).tablespace::text COLLATE "C") AS first
		FROM found f
		WHERE f.verdict = 'probe first' AND f.answers
	)
	SELECT (f.latency).tablespace, f.verdict,
		CASE f.finding WHEN 'gain' THEN (f.fact).best
			WHEN 'not probed' THEN NULL WHEN 'old' THEN NULL
			ELSE (f.setting).random_page_cost END,
		CASE WHEN f.verdict <> 'probe first' THEN (f.fact).low END,
		CASE WHEN f.verdict <> 'probe first' THEN (f.fact).high END,
		CASE WHEN (f.fact).is_probed THEN (f.setting).seq_page_cost END,
		CASE WHEN (f.fact).is_probed THEN (f.fact).effective_io_concurrency END,
		CASE WHEN (f.fact).is_probed THEN (f.fact).maintenance_io_concurrency END,
		(f.setting).random_page_cost, round((f.latency).random_read_us::numeric, 3)::float8,
		round((f.latency).sequential_page_us::numeric, 3)::float8,
		round((f.fact).cached_fraction::numeric, 3)::float8,
		round((f.fact).regret_current::numeric, 3)::float8,
		round((f.fact).regret_recommended::numeric, 3)::float8,
		CASE f.verdict
			WHEN 'probe first' THEN
				CASE WHEN NOT f.answers THEN NULL
					WHEN u.n = 1 THEN format('SELECT * FROM %s.probe_tablespace(%L::pg_catalog.name)',
						'@extschema@', (f.latency).tablespace)
					WHEN (f.latency).tablespace = u.first THEN
						format('SELECT * FROM %s.probe_tablespace()', '@extschema@')
				END
			WHEN 'change' THEN o.statement
		END,
		CASE WHEN f.finding = 'not probed' AND f.answers AND u.n > 1
				AND (f.latency).tablespace <> u.first THEN
				format('not measured: the call at tablespace %I measures all', u.first)
			ELSE tablespace_advisor.cost_reason(f.fact)
				|| CASE WHEN f.verdict = 'probe first' AND f.answers
					THEN tablespace_advisor.who_may_probe(current_user) ELSE '' END
			END,
		CASE WHEN f.verdict = 'change' THEN o.undo_statement END,
		tablespace_advisor.cost_detail(f.fact)
	FROM found f
	CROSS JOIN unprobed u
	CROSS JOIN LATERAL tablespace_advisor.tablespace_options((f.latency).tablespace,
		ARRAY['random_page_cost', 'effective_io_concurrency', 'maintenance_io_concurrency'],
		ARRAY[CASE f.finding WHEN 'gain' THEN (f.fact).best END,
			(f.fact).effective_io_concurrency, (f.fact).maintenance_io_concurrency]) o
	ORDER BY 1;
END;

COMMENT ON FUNCTION @extschema@.recommend_random_page_cost(name) IS
	'what random_page_cost and prefetching each tablespace (or the one named) should have, weighed by the plans they lead to for the tables of this database: probe first, keep, or change by statement (undo_statement takes it back), with the slowdowns (regret_…), how many times as long as the best plans the planner''s choices are predicted to take, and measured times in microseconds; reason: why, in a line, detail: what was measured and weighed, NULL: nobody has measured or computed it. Errors: 42704 no such tablespace, 22023 pg_global';

REVOKE ALL ON FUNCTION @extschema@.recommend_random_page_cost(name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.recommend_random_page_cost(name),
	tablespace_advisor.weighable_indexes(),
	tablespace_advisor.concurrent_readers(),
	tablespace_advisor.cost_measurements(name),
	tablespace_advisor.find_costs(name),
	tablespace_advisor.who_may_probe(name),
	tablespace_advisor.tablespace_options(name, text[], float8[]),
	tablespace_advisor.cost_reason(tablespace_advisor.cost_finding),
	tablespace_advisor.cost_detail(tablespace_advisor.cost_finding),
	tablespace_advisor.weigh_random_page_cost(tablespace_advisor.weighed_times,
		tablespace_advisor.weighed_index[], float8, float8, int, int) TO pg_monitor;

/*
 * Medians of three runs each over a table in memory: reading its rows, ten
 * more comparisons of them, and reading entries of an index.
 */
CREATE FUNCTION @extschema@.calibrate_cost_units()
RETURNS TABLE (
	unit text,
	nanoseconds float8,
	setting float8,
	nanoseconds_per_cost float8)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
SET max_parallel_workers_per_gather = 0
SET jit = off
SET enable_seqscan = on
SET enable_indexscan = off
SET enable_indexonlyscan = off
SET enable_bitmapscan = off
SET work_mem = '64MB'
AS $$
DECLARE
	row_count CONSTANT int := 200000;
	plain float8[] := '{}';
	compared float8[] := '{}';
	by_index float8[] := '{}';
	begun timestamptz;
	tuple_ns float8;
	operator_ns float8;
	index_ns float8;
BEGIN
	IF to_regclass('pg_temp.tsa_calibration') IS NOT NULL THEN
		RAISE EXCEPTION 'relation "tsa_calibration" already exists'
			USING ERRCODE = 'duplicate_table',
				HINT = 'Drop the temporary table.';
	END IF;
	CREATE TEMPORARY TABLE tsa_calibration AS
		SELECT i, i AS j FROM generate_series(1, row_count) i;
	CREATE INDEX ON pg_temp.tsa_calibration (i);
	ANALYZE pg_temp.tsa_calibration;
	PERFORM count(*) FROM pg_temp.tsa_calibration;
	FOR run IN 1 .. 3 LOOP
		PERFORM set_config('enable_indexscan', 'off', true),
			set_config('enable_seqscan', 'on', true);
		begun := clock_timestamp();
		PERFORM count(*) FROM pg_temp.tsa_calibration;
		plain := plain || extract(epoch FROM clock_timestamp() - begun)::float8;
		begun := clock_timestamp();
		PERFORM count(*) FROM pg_temp.tsa_calibration
			WHERE j > 0 AND j > -1 AND j > -2 AND j > -3 AND j > -4
				AND j > -5 AND j > -6 AND j > -7 AND j > -8 AND j > -9;
		compared := compared || extract(epoch FROM clock_timestamp() - begun)::float8;
		PERFORM set_config('enable_indexscan', 'on', true),
			set_config('enable_seqscan', 'off', true);
		begun := clock_timestamp();
		PERFORM count(j) FROM pg_temp.tsa_calibration WHERE i > 0;
		by_index := by_index || extract(epoch FROM clock_timestamp() - begun)::float8;
	END LOOP;
	DROP TABLE pg_temp.tsa_calibration;

	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY u) INTO tuple_ns FROM unnest(plain) u;
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY u) INTO operator_ns FROM unnest(compared) u;
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY u) INTO index_ns FROM unnest(by_index) u;
	operator_ns := greatest(operator_ns - tuple_ns, 0) / row_count / 10 * 1e9;
	index_ns := greatest(index_ns - tuple_ns, 0) / row_count * 1e9;
	tuple_ns := tuple_ns / row_count * 1e9;
	RETURN QUERY
	SELECT v.unit, round(v.ns::numeric, 3)::float8, v.cost,
		round((v.ns / nullif(v.cost, 0))::numeric, 3)::float8
	FROM (VALUES
		('cpu_tuple_cost', tuple_ns, current_setting('cpu_tuple_cost')::float8),
		('cpu_index_tuple_cost', index_ns, current_setting('cpu_index_tuple_cost')::float8),
		('cpu_operator_cost', operator_ns, current_setting('cpu_operator_cost')::float8))
		v (unit, ns, cost);
END
$$;
COMMENT ON FUNCTION @extschema@.calibrate_cost_units() IS
	'what the planner''s CPU cost units take on this server: nanoseconds per row, per index entry and per comparison (medians of three runs over a temporary table of 200 000 rows in memory), beside the present setting; nanoseconds_per_cost should be about the same in all three. Errors: 25006 read-only transaction or standby, 42P07 there is a temporary table tsa_calibration';
REVOKE ALL ON FUNCTION @extschema@.calibrate_cost_units() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.calibrate_cost_units() TO pg_monitor;

/* src/cost/scan_costs.sql */

CREATE FUNCTION tablespace_advisor.predict_scan_costs(
	table_pages float8,
	table_tuples float8,
	all_visible float8,
	index_pages float8,
	index_tuples float8,
	tree_height int,
	correlation float8,
	selectivity float8,
	table_random_page_cost float8,
	table_seq_page_cost float8,
	index_random_page_cost float8,
	OUT seq_scan float8,
	OUT index_scan float8,
	OUT index_only_scan float8,
	OUT bitmap_index_scan float8,
	OUT bitmap_heap_scan float8)
LANGUAGE C STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'predict_scan_costs';
COMMENT ON FUNCTION tablespace_advisor.predict_scan_costs(
	float8, float8, float8, float8, float8, int, float8, float8, float8,
	float8, float8) IS
	'what the planner would charge, in its own units and with the other settings of this session, for a scan of a table by one comparison with the first column of a B-tree; all_visible and selectivity are shares of 1, tree_height is 0 when the root is a leaf';
/* src/cost/worst_plans.sql: where the planner's choices are furthest from the best */

CREATE FUNCTION tablespace_advisor.find_worst_plans(
	times tablespace_advisor.weighed_times,
	indexes tablespace_advisor.weighed_index[],
	random_page_cost float8,
	seq_page_cost float8,
	effective_io_concurrency int,
	recommended_io_concurrency int,
	recommended_random_page_cost float8)
RETURNS TABLE (
	place int,
	matching_rows float8,
	plan text,
	plan_us float8,
	best_plan text,
	best_us float8,
	recommended_plan text,
	recommended_us float8,
	corrected_plan text,
	corrected_us float8,
	is_measured boolean)
LANGUAGE C STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_find_worst_plans';
COMMENT ON FUNCTION tablespace_advisor.find_worst_plans(
	tablespace_advisor.weighed_times, tablespace_advisor.weighed_index[], float8, float8, int, int, float8) IS
	'per index (place in the array) the number of rows for which the planner''s choice is furthest from the best plan, both with the microseconds that they are expected to take, and what the planner would choose there with what is recommended, and with locality corrected, too (is_measured: not assumed). Errors: 22023, 2202E, 22004 for what makes no sense';

CREATE FUNCTION tablespace_advisor.worst_plans(recommended jsonb)
RETURNS TABLE (
	tablespace name,
	index oid,
	matching_rows float8,
	plan text,
	plan_us float8,
	best_plan text,
	best_us float8,
	recommended_plan text,
	recommended_us float8,
	corrected_plan text,
	corrected_us float8,
	is_measured boolean)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT (m.latency).tablespace, m.indexes[w.place].index, w.matching_rows,
		w.plan, w.plan_us, w.best_plan, w.best_us, w.recommended_plan, w.recommended_us,
		w.corrected_plan, w.corrected_us, w.is_measured
	FROM jsonb_to_recordset(recommended) r (tablespace name, verdict text,
		random_page_cost float8, effective_io_concurrency int)
	JOIN tablespace_advisor.cost_measurements(NULL) m ON (m.latency).tablespace = r.tablespace
	CROSS JOIN LATERAL tablespace_advisor.find_worst_plans(
		m.times, m.indexes, (m.setting).random_page_cost, (m.setting).seq_page_cost,
		(m.setting).effective_io_concurrency,
		CASE WHEN r.verdict = 'change' AND r.effective_io_concurrency IS NOT NULL
			THEN r.effective_io_concurrency ELSE (m.setting).effective_io_concurrency END,
		CASE WHEN r.verdict = 'change' THEN r.random_page_cost
			ELSE (m.setting).random_page_cost END) w
	WHERE r.verdict <> 'probe first' AND m.is_probed AND m.cached_fraction IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.worst_plans(jsonb) IS
	'find_worst_plans() for all tablespaces, with what rows of recommend_random_page_cost() recommend';

GRANT EXECUTE ON FUNCTION tablespace_advisor.worst_plans(jsonb),
	tablespace_advisor.find_worst_plans(tablespace_advisor.weighed_times,
		tablespace_advisor.weighed_index[], float8, float8, int, int, float8) TO pg_monitor;
/*
 * The journal of moves.
 *
 * The journal is written by C functions only, which do so as the bootstrap
 * superuser after checking their caller's rights; nobody has grants on it.
 * It is not marked for pg_dump: a restored database has no moves under way.
 *
 * The columns of job are in the order in which versions added them, as an update
 * finds them.  They are, by who writes them:
 * request (who queues the job; limits also alter_move()): batch_id to method,
 *	bytes_total, max_rate, lock_timeout_ms, owner, system_identifier, database,
 *	heap_bytes, queued_at, forecast_saved_ms_per_s, until, lock_up_to, min_rate,
 *	finish_by
 * progress (the worker): state, phase, bytes_done to attempts, blocked_by to
 *	detail, worker_pid, started_at to paused_ms, lock_wait_ms, present_mb_per_s,
 *	rate_reason, restarts, others_lost_percent, is_late, waited_ms
 * files (the worker, for who recovers the job): new_tablespaces to old_index,
 *	known_indexes, indexes, indexes_from
 *
 * Tables and indexes that version 0.4 has, too: a fresh install makes them
 * here, an update finds them there (src/update.sql adds what is new).
 */
CREATE TABLE tablespace_advisor.job (
	job_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	batch_id bigint NOT NULL,
	relation oid NOT NULL,
	heap oid NOT NULL,
	kind "char" NOT NULL,
	schema_name name NOT NULL,
	relation_name name NOT NULL,
	from_tablespace oid NOT NULL,
	from_tablespace_name name NOT NULL,
	to_tablespace oid NOT NULL,
	to_tablespace_name name NOT NULL,
	method_wanted text NOT NULL
		CHECK (method_wanted IN ('auto', 'copy', 'rebuild')),
	method text NOT NULL
		CHECK (method IN ('copy', 'rebuild', 'catalog', 'lock')),
	state text NOT NULL DEFAULT 'queued' CHECK (state IN
		('queued', 'running', 'paused', 'done', 'failed', 'cancelled')),
	phase text,
	bytes_total bigint NOT NULL,
	bytes_done bigint NOT NULL DEFAULT 0,
	blocks_left bigint,
	mb_per_s float8,
	passes int NOT NULL DEFAULT 0,
	lock_ms float8,
	attempts int NOT NULL DEFAULT 0,
	max_rate bigint,
	lock_timeout_ms int NOT NULL,
	blocked_by int[],
	sqlstate text,
	error text,
	detail text,
	owner oid NOT NULL,
	worker_pid int,
	system_identifier bigint NOT NULL,
	database oid NOT NULL,
	new_tablespaces oid[],
	new_filenumbers oid[],
	old_tablespaces oid[],
	old_filenumbers oid[],
	old_index oid,
	heap_bytes bigint,
	known_indexes oid[],
	queued_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	started_at timestamptz,
	finished_at timestamptz,
	wal_bytes bigint,
	paused_ms float8 NOT NULL DEFAULT 0,
	indexes oid[],
	indexes_from oid[],
	lock_wait_ms float8,
	forecast_saved_ms_per_s float8,
	present_mb_per_s float8,
	rate_reason text,
	until timestamptz,
	lock_up_to bigint,
	restarts int NOT NULL DEFAULT 0,
	min_rate bigint,
	finish_by timestamptz,
	others_lost_percent float8,
	is_late boolean NOT NULL DEFAULT false,
	waited_ms float8 NOT NULL DEFAULT 0
);
CREATE INDEX job_batch_id_idx ON tablespace_advisor.job (batch_id);
/* Also the proof that no relation is moved twice at a time. */
CREATE UNIQUE INDEX job_unfinished_key ON tablespace_advisor.job (relation)
	WHERE state IN ('queued', 'running', 'paused');
/* Moves of a table and of its indexes look for each other. */
CREATE INDEX job_unfinished_heap_idx ON tablespace_advisor.job (heap)
	WHERE state IN ('queued', 'running', 'paused');
/* What is left to do: see TSA_LEFT_TO_DO in queue.c. */
CREATE INDEX job_left_to_do_idx ON tablespace_advisor.job (batch_id)
	WHERE state IN ('queued', 'running', 'paused')
		OR new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL;

/* Jobs of another server or database are at either end. */
CREATE INDEX job_origin_idx ON tablespace_advisor.job (system_identifier, database);
CREATE INDEX job_relation_idx ON tablespace_advisor.job (relation, job_id);
CREATE INDEX job_owner_idx ON tablespace_advisor.job (owner, job_id);
CREATE INDEX job_finished_at_idx ON tablespace_advisor.job (finished_at);
/* What rebuilds have left. */
CREATE INDEX job_known_indexes_idx ON tablespace_advisor.job (heap)
	WHERE known_indexes IS NOT NULL AND state IN ('done', 'failed', 'cancelled');
/* What the rate of moves is known from. */
CREATE INDEX job_measured_idx ON tablespace_advisor.job
	(to_tablespace, from_tablespace, owner, (method = 'rebuild'), job_id)
	WHERE state = 'done' AND bytes_total >= 1048576 AND coalesce(max_rate, -1) < 0
		AND restarts = 0;
/* What WAL copies write is known from. */
CREATE INDEX job_copied_idx ON tablespace_advisor.job (finished_at)
	WHERE state = 'done' AND method = 'copy' AND wal_bytes > 0 AND bytes_total >= 1048576;
/* What has moved lately, without the rest of the rows. */
CREATE INDEX job_left_idx ON tablespace_advisor.job (finished_at)
	INCLUDE (relation, from_tablespace)
	WHERE state = 'done' AND from_tablespace <> to_tablespace;

/* Rows of their own, see the head of request.c. */
CREATE TABLE tablespace_advisor.request (
	job_id bigint PRIMARY KEY,
	requested_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	pause boolean NOT NULL DEFAULT true,
	alters boolean NOT NULL DEFAULT false,
	max_rate bigint,
	min_rate bigint,
	finish_by timestamptz
);

/* Which moves apply_placement() has made, by the batch: what was queued at once. */
CREATE TABLE tablespace_advisor.placement_round (
	batch_id bigint PRIMARY KEY,
	round_id bigint NOT NULL,
	started_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	is_undo boolean NOT NULL,
	is_finished boolean NOT NULL DEFAULT false
);
CREATE INDEX placement_round_round_id_idx ON tablespace_advisor.placement_round (round_id);
/* How fast moves may go, and how fast they have to. */

CREATE VIEW tablespace_advisor.job_limits AS
SELECT j.job_id,
	CASE WHEN r.alters THEN r.max_rate ELSE j.max_rate END AS max_rate,
	CASE WHEN r.alters THEN r.min_rate ELSE j.min_rate END AS min_rate,
	CASE WHEN r.alters THEN r.finish_by ELSE j.finish_by END AS finish_by
FROM tablespace_advisor.job j
	LEFT JOIN tablespace_advisor.request r ON r.job_id = j.job_id;
COMMENT ON VIEW tablespace_advisor.job_limits IS
	'limits of each move as they are now: its own, or those that alter_move() has put in their place; rates in bytes per second, max_rate -1: unlimited';

COMMENT ON COLUMN tablespace_advisor.job.max_rate IS
	'bound in bytes per second; -1: unlimited, NULL: the rate adapts without a bound';
COMMENT ON COLUMN tablespace_advisor.job.min_rate IS
	'bytes per second below which the move is not throttled; NULL: none';
COMMENT ON COLUMN tablespace_advisor.job.finish_by IS
	'time by which all moves of the call are to have ended; NULL: whenever';
COMMENT ON COLUMN tablespace_advisor.job.others_lost_percent IS
	'what others got done less than they could have, in percent, as the move estimates it; NULL: not known';
COMMENT ON COLUMN tablespace_advisor.job.is_late IS
	'it has turned out that the move cannot end by finish_by';
/*
 * How fast moves are: the one estimate that all stages use.
 *
 * Whoever may move a relation must not decide what others may begin.  So time
 * at work counts only, without pauses and waits for locks; moves that somebody
 * wanted slow do not count at all; and whoever asks is told by his own moves
 * and those of superusers, by others' only if there are no such moves.
 */

/* Of small moves the time is that of their commits. */
CREATE VIEW tablespace_advisor.measured_move AS
SELECT m.job_id, m.owner, m.relation, m.from_tablespace, m.to_tablespace,
	m.method = 'rebuild' AS is_rebuild,
	m.max_rate IS NOT NULL AS is_unlimited,
	m.bytes, m.bytes / m.seconds AS bytes_per_s
FROM (SELECT j.*, j.bytes_total AS bytes,
		extract(epoch FROM j.finished_at - j.started_at)::float8
			- (j.paused_ms + j.waited_ms) / 1000 AS seconds
	FROM tablespace_advisor.job j
	WHERE j.state = 'done' AND j.bytes_total >= 1048576) m
WHERE m.method IN ('copy', 'rebuild') AND coalesce(m.max_rate, -1) < 0
	AND m.restarts = 0 AND m.seconds > 0
	AND NOT EXISTS (SELECT FROM tablespace_advisor.request r
		WHERE r.job_id = m.job_id AND r.alters);
COMMENT ON VIEW tablespace_advisor.measured_move IS
	'moves of 1 MB (1048576 bytes) or more that show how fast moves are: without max_rate, with limits that nobody altered, that did not start over; bytes_per_s: of the time at work, that is without pauses and waits for locks';

/*
 * The latest of each role, however many others have.
 */
CREATE FUNCTION tablespace_advisor.latest_moves(
	source oid, target oid, rebuilds boolean)
RETURNS SETOF tablespace_advisor.measured_move
LANGUAGE sql STABLE ROWS 50
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT m.*
	FROM pg_roles r
		CROSS JOIN LATERAL (SELECT m.*
			FROM tablespace_advisor.measured_move m
			WHERE m.to_tablespace = target AND m.from_tablespace = source
				AND m.owner = r.oid AND m.is_rebuild = rebuilds
			ORDER BY m.job_id DESC LIMIT 50) m
$$;
COMMENT ON FUNCTION tablespace_advisor.latest_moves(oid, oid, boolean) IS
	'the last 50 moves of each role from one tablespace to another one: rebuilds, or live copies';

/*
 * The median by bytes, in which each relation counts once, by its own median.
 * A move without regard for others tells of another such one, if there was one.
 */
CREATE FUNCTION tablespace_advisor.moved_rate(
	source oid, target oid, move_method text, max_rate bigint DEFAULT NULL,
	asker oid DEFAULT NULL)
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH move AS (
		SELECT m.*, 2 * (asker IS NULL OR m.owner = asker
				OR r.rolsuper)::int
			+ (m.is_unlimited = (coalesce(moved_rate.max_rate, 0) < 0))::int AS weight
		FROM tablespace_advisor.latest_moves(
				source, target, move_method = 'rebuild') m
			JOIN pg_roles r ON r.oid = m.owner
	), moved AS (
		SELECT max(m.bytes) AS bytes, percentile_cont(0.5)
			WITHIN GROUP (ORDER BY m.bytes_per_s) AS bytes_per_s
		FROM move m
		WHERE m.weight = (SELECT max(w.weight) FROM move w)
		GROUP BY m.relation
	)
	SELECT r.bytes_per_s
	FROM (SELECT m.bytes_per_s, sum(m.bytes) OVER () AS total,
			sum(m.bytes) OVER (ORDER BY m.bytes_per_s, m.bytes
				ROWS UNBOUNDED PRECEDING) AS up_to
		FROM moved m) r
	WHERE 2 * r.up_to >= r.total
	ORDER BY r.bytes_per_s LIMIT 1
$$;
COMMENT ON FUNCTION tablespace_advisor.moved_rate(
	oid, oid, text, bigint, oid) IS
	'bytes per second at work of earlier moves between two tablespaces: median by bytes over the relations that the asker (NULL: anybody) or a superuser has moved, else others; with max_rate below 0 rather of unlimited moves; NULL when there was none';

CREATE FUNCTION tablespace_advisor.move_rate(
	source oid, target oid, move_method text, max_rate bigint DEFAULT NULL,
	asker oid DEFAULT NULL)
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT least(CASE WHEN max_rate > 0 THEN max_rate END, coalesce(
		tablespace_advisor.moved_rate(source, target, move_method, max_rate,
			asker),
		(SELECT current_setting('block_size')::float8 * 1e6 /
				(s.sequential_page_us
					+ coalesce(t.sequential_write_page_us, 0))
			FROM tablespace_advisor.tablespace_latency s,
				tablespace_advisor.tablespace_latency t
			WHERE s.tablespace_oid = source AND t.tablespace_oid = target
				AND move_method <> 'rebuild')))
$$;
COMMENT ON FUNCTION tablespace_advisor.move_rate(
	oid, oid, text, bigint, oid) IS
	'bytes per second that a move between two tablespaces makes, at most max_rate (below 0: unlimited): by earlier moves (moved_rate), else by probes; NULL when nothing was measured';

COMMENT ON COLUMN tablespace_advisor.job.waited_ms IS
	'milliseconds for which a copy waited for locks of others; 0 for other methods';
/*
 * advise: relations that are to stay where they are.
 */
CREATE TABLE tablespace_advisor.placement_pin (
	relation oid PRIMARY KEY,
	reason text,
	pinned_by oid NOT NULL,
	pinned_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	ends_at timestamptz
);
/*
 * src/advise/advice_types.sql
 *
 * The types that advice is made of: what is known of relations, of tablespaces and
 * of the load, what is decided of a relation, and the rows that say so.
 */
CREATE TYPE @extschema@.placement_advice AS (
	rank int,
	action text,
	relation regclass,
	from_tablespace name,
	to_tablespace name,
	size_bytes bigint,
	saved_ms_per_s float8,
	saved_percent float8,
	reason text,
	statement text,
	kind text,
	reads_per_s float8,
	writes_per_s float8,
	cached_fraction float8,
	read_ms_per_s float8,
	move_seconds float8
);
COMMENT ON TYPE @extschema@.placement_advice IS
	'one relation''s advice. rank: order of moves, NULL for other rows; action: move, keep, probe first, drop candidate, rebuild or replace (by an index of another kind); to_tablespace: where it should be; size_bytes: all forks, of a table with TOAST; saved_ms_per_s, saved_percent: reading (and extra writing) that following this row saves, in milliseconds per second and in percent of what the database spends on reading, NULL when not known; statement: what to run; reads_per_s: blocks read past shared buffers; writes_per_s: row versions written; cached_fraction: share of block accesses that shared buffers or the system''s cache serve; read_ms_per_s: milliseconds of reading in each second; move_seconds: how long the move takes at measured rates';

CREATE TYPE tablespace_advisor.relation_fact AS (
	relation regclass,
	table_relation regclass,
	kind text,
	tablespace name,
	size_bytes bigint,
	toast_bytes bigint,
	rebuilt_bytes bigint,
	brin_bytes bigint,
	reads_per_s float8,
	hits_per_s float8,
	writes_per_s float8,
	hot_fraction float8,
	tuples_per_scan float8,
	correlation float8,
	system_cached float8,
	scans bigint,
	writes bigint,
	counted_days float8,
	column_name name,
	expression text,
	unusable text,
	needed_for text,
	duplicate_of regclass,
	obstacle text,
	left_lately name[],
	maintenance_reads_per_s float8,
	moving_job bigint
);
COMMENT ON TYPE tablespace_advisor.relation_fact IS
	'what advice has to know of a heap (with its TOAST table) or an index: bytes of all forks (toast_bytes of them TOAST; rebuilt_bytes, brin_bytes: what a rebuilt or a BRIN index would take), activity per second in the window of load_fact (maintenance_reads_per_s: what VACUUM and ANALYZE read besides), hot_fraction of updates, system_cached share, scans and row versions written in counted_days, column_name or expression that an index is on, obstacle to a move while in use, left_lately: tablespaces it was moved away from within a week, moving_job: the move of it that is under way. NULL: not known';

CREATE TYPE tablespace_advisor.tablespace_fact AS (
	tablespace name,
	run_id bigint,
	random_read_us float8,
	random_read_low_us float8,
	random_read_high_us float8,
	depths float8[],
	depth_read_us float8[],
	cached_read_us float8,
	sequential_page_us float8,
	sequential_write_page_us float8,
	write_us float8,
	write_workload text,
	copy_rates jsonb,
	may_create boolean,
	volatile boolean,
	shares_device_with name[],
	available_bytes bigint,
	caveat text,
	latency_from text,
	present_read_us float8,
	present_read_low_us float8,
	present_read_high_us float8,
	present_intervals int,
	present_in_flight float8,
	is_serial boolean
);
COMMENT ON TYPE tablespace_advisor.tablespace_fact IS
	'what advice has to know of a tablespace: measured times in microseconds (see tablespace_latency), random reads at each probed depth, the write that was probed; copy_rates: bytes per second of earlier moves to it by tablespace they came from; whether relations may be made there, the device under it; available_bytes: what may be filled, less than 0 when it is over its mark, NULL when not known; caveat: why the newest probe of random reads is not to be trusted; present_…: what a read took in the window by the counters of the device, which count everybody, with a 95 % interval, NULL: not known, in_flight: reads of everybody under way, of any size, on average, and on one rotating disk writes; is_serial: one rotating disk, which serves one request at a time; latency_from: where the other read times come from: probe (also NULL), counters, timing, or assumed';

CREATE TYPE tablespace_advisor.load_fact AS (
	source text,
	window_start timestamptz,
	window_end timestamptz,
	seconds float8,
	intervals int,
	was_reset boolean,
	reads_per_s float8,
	read_ms_per_s float8,
	timed_read_us float8,
	snapshots int,
	reading_snapshots int,
	active_sessions float8,
	reading_sessions float8,
	waits jsonb,
	checkpoint_s float8,
	wal_per_byte float8,
	standbys text,
	moved_at timestamptz
);
COMMENT ON TYPE tablespace_advisor.load_fact IS
	'the window over which activity was counted and what the whole database did in it: see observe_database(); checkpoint_s: seconds between checkpoints; wal_per_byte: WAL that earlier copies wrote per byte copied; standbys: servers whose own counters are not included; moved_at: when the last move ended that matters for what samples say, NULL: none, or no samples';

CREATE TYPE tablespace_advisor.placement_choice AS (
	relation regclass,
	destination name,
	action text,
	saved_ms_per_s float8,
	bytes bigint,
	bound_ms_per_s float8,
	is_exact boolean,
	turn int,
	bundle int,
	makes_room_for regclass,
	ms_per_s_and_gb float8,
	finding text
);
COMMENT ON TYPE tablespace_advisor.placement_choice IS
	'what to do with a relation: destination of a move, the verdict, what it saves, the bytes it takes there; finding: what that rests on (judge.sql; "too full", "makes room": what the others do); of moves that share a budget bound_ms_per_s is what no choice could exceed together, is_exact says that none is better; turn: order in which each move fits when its turn comes; bundle: moves that need each other; makes_room_for: what comes up in its stead; ms_per_s_and_gb: what another GB of room in the destination would save';

CREATE TYPE tablespace_advisor.advice_row AS (
	advice @extschema@.placement_advice,
	evidence jsonb
);
COMMENT ON TYPE tablespace_advisor.advice_row IS
	'a row of gather_advice()';
/*
 * src/advise/estimate.sql
 *
 * What reading costs where relations are, and what it would cost elsewhere:
 * from facts alone (advice_types.sql), so that it can be tested and replayed on
 * facts written down by hand.  docs/advice.md has the formulas.
 */
CREATE FUNCTION tablespace_advisor.latency_at_depth(depths float8[], latencies_us float8[], depth float8)
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_latency_at_depth';
COMMENT ON FUNCTION tablespace_advisor.latency_at_depth(float8[], float8[], float8) IS
	'mean latency in microseconds with so many requests in flight, from latencies at rising depths: linear between them, in proportion to depth beyond; NULL without any. Errors: 2202E lists of different length, 22023 not rising or not positive';

CREATE FUNCTION tablespace_advisor.depth_at_rate(depths float8[], latencies_us float8[], reads_per_s float8)
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_depth_at_rate';
COMMENT ON FUNCTION tablespace_advisor.depth_at_rate(float8[], float8[], float8) IS
	'smallest number of requests in flight with which a device serves that rate, or the one with which it serves most (Little''s law); NULL without latencies. Errors as of latency_at_depth()';

CREATE FUNCTION tablespace_advisor.depth_in_loop(depths float8[], latencies_us float8[], sessions float8, other_us float8)
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_depth_in_loop';
COMMENT ON FUNCTION tablespace_advisor.depth_in_loop(float8[], float8[], float8, float8) IS
	'requests in flight that a read meets, itself included, if so many sessions do one read after the other with other_us microseconds in between; NULL without latencies. Errors as of latency_at_depth(), and 22023 negative numbers';

CREATE FUNCTION tablespace_advisor.max_read_rate(depths float8[], latencies_us float8[])
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_max_read_rate';
COMMENT ON FUNCTION tablespace_advisor.max_read_rate(float8[], float8[]) IS
	'requests per second that a device serves at most at these depths; 0 without latencies. Errors as of latency_at_depth()';

CREATE FUNCTION tablespace_advisor.cache_exponent(totals float8[], shares float8[], target float8)
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_cache_exponent';
COMMENT ON FUNCTION tablespace_advisor.cache_exponent(float8[], float8[], float8) IS
	'the exponent, 1 to 4, that brings the sum of total * share ^ exponent down to target; 1 or 4 where none does. Errors: 2202E lists of different length, 22023 nulls';

CREATE FUNCTION tablespace_advisor.choose_within(sizes bigint[], "values" float8[], capacity bigint,
	OUT chosen boolean[], OUT "value" float8, OUT bound float8, OUT is_exact boolean)
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_choose_within';
COMMENT ON FUNCTION tablespace_advisor.choose_within(bigint[], float8[], bigint) IS
	'which things to take so that their sizes fit into capacity and their values add up to most; no choice is worth more than bound; is_exact: none is worth more than this one. Errors: 2202E lists of different length, 22023 null or negative sizes, 53200 out of memory';

CREATE TYPE tablespace_advisor.load_estimate AS (
	tablespace name,
	device_reads_per_s float8,
	depth float8,
	probed_us float8,
	device_us float8,
	cached_us float8,
	cache_correction float8,
	time_correction float8,
	coverage float8,
	cache_exponent float8,
	latency_from text,
	device_low_us float8,
	device_high_us float8
);
COMMENT ON TYPE tablespace_advisor.load_estimate IS
	'what a read takes under the present load. device_reads_per_s: reads that reach the device if the system''s cache serves what it holds; depth: requests in flight; probed_us: latency probed at that depth; device_us: the same, corrected by what the server timed; cached_us: a read that the system''s cache serves; cache_exponent: what the share of a relation''s pages that the system''s cache does not hold is raised to, cache_correction: what it is multiplied by then, to be the share of reads that reach the device, time_correction: what their latency is multiplied by, so that all agree with the timing (1: no timing); coverage: share of the databases reads that was estimated; latency_from: what probed_us was measured by: probe, counters (of the device, in the window) or timing (of the server); device_low_us, device_high_us: 95 % interval';

/*
 * What a read takes now is what it took in the window by the device's own
 * counters, where there is no probe or the server timed nothing; with a probe and
 * timing it is the probed latency at the depth that reads meet.
 *
 * The depth a read meets is the number of sessions seen reading while any
 * was.  Five looks give it to about a fifth (the number varies by less than
 * half of itself); without, it is the one with which the device serves the
 * rate, which cannot tell queues of a device that is busy all the time apart.
 */
CREATE FUNCTION tablespace_advisor.present_reads(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact)
RETURNS TABLE (tablespace name, reads float8, device_reads float8, depth float8,
	read_from text, probed_us float8, low float8, high float8, cached_us float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH read AS (
		SELECT f.*, r.reads, r.device_reads,
			r.device_reads * f.random_read_us
				/ nullif(sum(r.device_reads * f.random_read_us) OVER (), 0) AS share
		FROM unnest(tablespaces) f
		LEFT JOIN
			(SELECT r.tablespace, sum(r.reads_per_s) AS reads,
					sum(r.reads_per_s * greatest(0, 1 - coalesce(r.system_cached, 0))) AS device_reads
				FROM tablespace_advisor.elements(relations) r GROUP BY r.tablespace) r USING (tablespace)
	)
	SELECT q.tablespace, q.reads, q.device_reads, q.depth, q.read_from, CASE q.read_from
			WHEN 'probe' THEN tablespace_advisor.latency_at_depth(
				q.depths, q.depth_read_us, q.depth)
			WHEN 'timing' THEN q.random_read_us
			ELSE q.present_read_us END AS probed_us,
		CASE q.read_from WHEN 'counters' THEN q.present_read_low_us / q.present_read_us
			ELSE q.random_read_low_us / q.random_read_us END AS low,
		CASE q.read_from WHEN 'counters' THEN q.present_read_high_us / q.present_read_us
			ELSE q.random_read_high_us / q.random_read_us END AS high,
		coalesce(q.cached_read_us, CASE WHEN q.latency_from IN ('counters', 'timing')
			THEN min(q.cached_read_us) OVER () END, 0) AS cached_us
	FROM (SELECT read.*,
			CASE WHEN read.random_read_us IS NULL THEN NULL
				WHEN read.present_read_us IS NOT NULL
					AND (read.latency_from = 'counters' OR load.timed_read_us IS NULL)
					THEN 'counters'
				ELSE coalesce(nullif(read.latency_from, 'assumed'), 'probe') END AS read_from,
			CASE WHEN load.reading_snapshots >= 5
				THEN greatest(1, load.reading_sessions * coalesce(read.share, 0))
			ELSE tablespace_advisor.depth_at_rate(read.depths,
				read.depth_read_us, coalesce(read.device_reads, 0)) END AS depth
		FROM read) q
$$;
COMMENT ON FUNCTION tablespace_advisor.present_reads(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact) IS
	'per tablespace its reads per second, those that reach the device, what one takes there (probed_us) and from the system''s cache in microseconds, before the server''s timing corrects them; read_from: see load_estimate.latency_from, low, high: ends of the 95 % interval over probed_us';

/*
 * Where the server timed its reads (track_io_timing), their mean is known to
 * be (1 - d) * cached + d * device, d being the share that reaches the
 * device.  Less time than estimated means that the cache serves more than the
 * pages it holds would tell, hot pages being likelier to be there; more means
 * that the device is slower than it was when it was probed.  What the cache
 * serves more, it serves of relations of which it holds much, not of one of
 * which it holds nothing: hence an exponent, and a factor only for what is
 * left beyond it.
 *
 * Reads of the database that are no relation's here are those of catalogs and
 * of samples, which the system's cache has as a rule.  What else was read but
 * is in tablespaces without probe is taken to take as long as the rest.
 */
CREATE FUNCTION tablespace_advisor.estimate_load(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact)
RETURNS SETOF tablespace_advisor.load_estimate
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH queued AS MATERIALIZED (
		SELECT q.* FROM tablespace_advisor.present_reads($1, $2, $3) q
	), expected AS (
		/* means per read: from the cache alone, from the device */
		SELECT sum(q.reads) AS reads,
			sum(q.reads * q.cached_us) / sum(q.reads) AS all_cached_us,
			sum((q.reads - q.device_reads) * q.cached_us) / sum(q.reads) AS cached_us,
			sum(q.device_reads * q.probed_us) / sum(q.reads) AS device_us,
			sum(q.device_reads * (q.probed_us - q.cached_us)) / sum(q.reads) AS more_us,
			least(1, sum(q.reads) / nullif(load.reads_per_s, 0)) AS coverage
		FROM queued q WHERE q.reads > 0 AND q.probed_us IS NOT NULL
	), whole AS (
		/* the mean that was timed, less the reads that are no relation's */
		SELECT e.*, load.timed_read_us + o.other_reads
			* greatest(0, load.timed_read_us - e.all_cached_us) AS timed_us
		FROM expected e CROSS JOIN
			(SELECT greatest(0, load.reads_per_s / nullif(sum(q.reads), 0) - 1)
				AS other_reads FROM queued q) o
	), less AS (
		/* of each relation what it would take without the system's cache, and
		 * the sum that is left of that */
		SELECT array_agg(r.reads_per_s * (q.probed_us - q.cached_us)) AS totals,
			array_agg(greatest(0, 1 - coalesce(r.system_cached, 0))) AS shares,
			min(greatest(0, w.timed_us - w.all_cached_us) * w.reads) AS target
		FROM whole w
		CROSS JOIN tablespace_advisor.elements(relations) r
		JOIN queued q ON q.tablespace = r.tablespace
		WHERE w.coverage >= 0.8 AND w.more_us > 0
			AND w.timed_us < w.cached_us + w.device_us
			AND r.reads_per_s > 0 AND q.probed_us > q.cached_us
	), served AS (
		SELECT e.exponent, least(1, l.target / nullif(
				(SELECT sum(s.total * power(s.share, e.exponent))
					FROM unnest(l.totals, l.shares) s (total, share)), 0)) AS correction
		/* OFFSET: once, not for each share */
		FROM less l CROSS JOIN LATERAL (SELECT tablespace_advisor.cache_exponent(
			l.totals, l.shares, l.target) AS exponent OFFSET 0) e
	), corrected AS (
		SELECT w.coverage,
			coalesce((SELECT s.exponent FROM served s), 1) AS cache_exponent,
			coalesce((SELECT s.correction FROM served s), 1) AS cache_correction,
			CASE WHEN w.coverage >= 0.8 AND w.device_us > 0
				AND w.timed_us > w.cached_us + w.device_us
				THEN (w.timed_us - w.cached_us) / w.device_us
				ELSE 1 END AS time_correction
		FROM whole w
	)
	SELECT q.tablespace, coalesce(q.device_reads, 0), q.depth, q.probed_us,
		q.probed_us * c.time_correction, q.cached_us,
		c.cache_correction, c.time_correction, c.coverage, c.cache_exponent,
		q.read_from, q.probed_us * c.time_correction * q.low,
		q.probed_us * c.time_correction * q.high
	FROM queued q CROSS JOIN corrected c
$$;
COMMENT ON FUNCTION tablespace_advisor.estimate_load(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact) IS
	'per tablespace what a read takes under the load; relations must hold all that is read in the database for reads to be corrected by the server''s timing';

CREATE TYPE tablespace_advisor.place_load AS (
	tablespace name,
	reads_per_s float8,
	read_us float8,
	depths float8[],
	latencies_us float8[],
	later_reads_per_s float8,
	later_us float8,
	others_in_flight float8
);
COMMENT ON TYPE tablespace_advisor.place_load IS
	'what is read from the device under a tablespace: reads per second, what one takes now (NULL: nothing is read), and what one would take at rising depths, both corrected by the server''s timing; later_reads_per_s, later_us: reads after moves, and what one takes then; others_in_flight: what others have under way there';

CREATE FUNCTION tablespace_advisor.latencies_of_set(sessions float8, places tablespace_advisor.place_load[], later_reads float8[])
RETURNS float8[]
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_latencies_of_set';
COMMENT ON FUNCTION tablespace_advisor.latencies_of_set(float8, tablespace_advisor.place_load[], float8[]) IS
	'microseconds that a read of each place takes if so many sessions in all do the work of now with so many reads per second there (later_reads, one for each place). Errors: 2202E lists of different length, 22004 nulls in them, 22023 no curve, one that does not rise or is not positive, negative numbers';

CREATE TYPE tablespace_advisor.placement_estimate AS (
	relation regclass,
	destination name,
	device_share float8,
	device_us float8,
	cached_us float8,
	read_ms_per_s float8,
	table_read_ms_per_s float8,
	destination_depth float8,
	destination_us float8,
	max_reads_per_s float8,
	is_saturated boolean,
	is_faster boolean,
	extra_write_ms_per_s float8,
	saved_ms_per_s float8,
	saved_percent float8,
	moved_bytes bigint,
	move_seconds float8,
	bytes_percent float8,
	not_probed name[],
	saved_low_ms_per_s float8,
	saved_high_ms_per_s float8
);
COMMENT ON TYPE tablespace_advisor.placement_estimate IS
	'one relation in one destination (NULL: where it is). device_share: share of its reads that reach the device; device_us, cached_us, destination_us: microseconds a read takes from the device, from the system''s cache, and in the destination at destination_depth requests in flight; is_saturated: the destination would not serve so many reads; is_faster: beyond the intervals of both measurements; saved_ms_per_s: reading saved less extra_write_ms_per_s, per second, saved_percent: of what is spent reading its table; moved_bytes: what it will take there; bytes_percent: of the bytes of its table with all indexes; saved_low_ms_per_s, saved_high_ms_per_s: what is saved if the latencies are at the ends of their 95 % intervals; not_probed: tablespaces of which nothing was measured that part of its table is read from, NULL if there are none';

CREATE FUNCTION tablespace_advisor.moved_bytes(a tablespace_advisor.relation_fact)
RETURNS bigint
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE WHEN a.rebuilt_bytes < a.size_bytes / 2 THEN a.rebuilt_bytes
		ELSE a.size_bytes END;
END;
COMMENT ON FUNCTION tablespace_advisor.moved_bytes(tablespace_advisor.relation_fact) IS
	'what a relation takes where it goes: a bloated index is rebuilt';

/*
 * Pages of a relation are written at most as often as its rows, and at most
 * once per checkpoint and once per read that evicted them.
 */
CREATE FUNCTION tablespace_advisor.reads_here(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	loads tablespace_advisor.load_estimate[],
	load tablespace_advisor.load_fact)
RETURNS TABLE (relation regclass, table_relation regclass, tablespace name,
	size_bytes bigint, moved_bytes bigint, pages float8, device_us float8,
	device_low_us float8, device_high_us float8, cached_us float8, read_from text,
	depth float8, write_us float8, write_workload text, random_read_us float8,
	random_read_low_us float8, sequential_page_us float8, device_share float8,
	device_reads float8, read_ms float8, pages_written float8,
	table_read_ms float8, table_device_reads float8, table_device_us float8,
	table_bytes numeric, not_probed name[])
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	WITH here AS MATERIALIZED (
		SELECT r.relation, r.table_relation, r.tablespace, r.size_bytes,
			tablespace_advisor.moved_bytes(r), b.pages, l.device_us, l.device_low_us,
			l.device_high_us, l.cached_us, l.latency_from, l.depth, s.write_us,
			s.write_workload, s.random_read_us, s.random_read_low_us,
			s.sequential_page_us, d.device_share, r.reads_per_s * d.device_share AS device_reads,
			CASE WHEN r.reads_per_s = 0 THEN 0
				ELSE r.reads_per_s * (d.device_share * l.device_us
					+ (1 - d.device_share) * l.cached_us) / 1000 END AS read_ms,
			least(r.writes_per_s, r.reads_per_s + b.pages / nullif(load.checkpoint_s, 0))
		FROM tablespace_advisor.elements(relations) r
		LEFT JOIN unnest(tablespaces) s ON s.tablespace = r.tablespace
		LEFT JOIN unnest(loads) l ON l.tablespace = s.tablespace
		CROSS JOIN LATERAL (SELECT r.size_bytes
			/ current_setting('block_size')::float8 AS pages) b
		CROSS JOIN LATERAL
			(SELECT least(1, power(greatest(0, 1 - coalesce(r.system_cached, 0)),
				coalesce(l.cache_exponent, 1)) * coalesce(l.cache_correction, 1)) AS device_share) d
	), whole (table_relation, read_ms, device_reads, device_us, bytes, not_probed) AS (
		SELECT h.table_relation,
			/* part of a sum is no sum */
			CASE WHEN bool_and(h.read_ms IS NOT NULL) THEN sum(h.read_ms) END AS read_ms,
			sum(h.device_reads), sum(h.device_reads * h.device_us), sum(h.size_bytes),
			array_agg(DISTINCT h.tablespace)
				FILTER (WHERE h.read_ms IS NULL AND h.device_us IS NULL)
		FROM here h GROUP BY h.table_relation
	)
	SELECT h.*, w.read_ms, w.device_reads, w.device_us, w.bytes, w.not_probed
	FROM here h JOIN whole w USING (table_relation)
$$;
COMMENT ON FUNCTION tablespace_advisor.reads_here(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_estimate[], tablespace_advisor.load_fact) IS
	'per relation what its reads take where it is: see placement_estimate; device_reads, read_ms, pages_written: reads that reach the device, milliseconds of reading, and pages, each per second, table_…: of its table with all indexes';

/*
 * What is known by its counters only is for who names it, or a last resort; so is
 * what was not probed, where there is another place that was.
 */
CREATE FUNCTION tablespace_advisor.passed_over(
	tablespaces tablespace_advisor.tablespace_fact[],
	OUT source name,
	OUT destination name)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT s.tablespace, d.tablespace
	FROM unnest(tablespaces) s CROSS JOIN unnest(tablespaces) d
	WHERE EXISTS (SELECT FROM unnest(tablespaces) p
		WHERE p.random_read_us IS NOT NULL
			AND coalesce(p.latency_from, 'probe') IN ('probe', 'assumed')
			AND p.tablespace <> s.tablespace
			AND s.tablespace <> ALL (p.shares_device_with)
			AND CASE WHEN d.random_read_us IS NULL
				THEN tablespace_advisor.destination_order(s, p) = 1
				ELSE d.latency_from NOT IN ('probe', 'assumed') END)
$$;
COMMENT ON FUNCTION tablespace_advisor.passed_over(tablespace_advisor.tablespace_fact[]) IS
	'tablespaces that advice does not take into account for what is in a tablespace, unless they are named';

/*
 * The destination is taken to get all that is read of this relation's table,
 * since what is worth moving of a table mostly moves together.  Sessions that
 * have been watched are taken to read as soon as they can: what they do
 * between two reads stays, the reads take what they take there with as many
 * in flight as that leads to.  What slows reads down here beyond what was
 * probed, such as pages written in between, moves along: it does so there.  What
 * others read there now takes what its counters say, and if that is more, a new
 * read takes as long.
 */
CREATE FUNCTION tablespace_advisor.estimate_placement(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	loads tablespace_advisor.load_estimate[],
	with_all boolean DEFAULT true,
	named name DEFAULT NULL)
RETURNS SETOF tablespace_advisor.placement_estimate
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS MATERIALIZED (
		SELECT f.*, l.device_reads_per_s, l.time_correction,
			l.device_reads_per_s * l.device_us AS busy_us,
			tablespace_advisor.max_read_rate(f.depths, f.depth_read_us) AS max_rate
		FROM unnest(tablespaces) f JOIN unnest(loads) l USING (tablespace)
	), way AS MATERIALIZED (
		/* from each tablespace to each other, and to none */
		SELECT s.tablespace AS source, p.*
		FROM unnest(tablespaces) s
		JOIN (SELECT p.* FROM (VALUES (true), (false)) one (is_one)
			LEFT JOIN place p ON one.is_one) p
			ON p.tablespace IS DISTINCT FROM s.tablespace AND (with_all OR p.tablespace = named
				OR ((s.tablespace, p.tablespace) IN (SELECT o.source, o.destination
					FROM tablespace_advisor.passed_over($2) o)) IS NOT TRUE)
	), reached AS (
		SELECT h.*, p.tablespace AS destination, p.max_rate, p.time_correction, p.depths,
			p.depth_read_us, p.present_read_us, p.present_read_low_us, p.present_read_high_us,
			p.random_read_us AS there_us, p.random_read_low_us AS there_low_us,
			p.random_read_high_us AS there_high_us, p.write_us AS write_there_us,
			p.write_workload AS write_there, p.sequential_write_page_us, p.copy_rates,
			p.device_reads_per_s + h.table_device_reads AS reads_then,
			CASE WHEN p.tablespace IS NULL THEN NULL
				WHEN load.snapshots > 0 AND h.table_device_reads > 0
				THEN tablespace_advisor.depth_in_loop(
					p.depths, p.depth_read_us, load.active_sessions,
					greatest(0, load.active_sessions * 1e6 - h.table_device_us - p.busy_us)
						/ (h.table_device_reads + p.device_reads_per_s))
				ELSE least(greatest(1, h.depth), tablespace_advisor.depth_at_rate(
					p.depths, p.depth_read_us,
					p.device_reads_per_s + h.table_device_reads)) END AS destination_depth
		FROM tablespace_advisor.reads_here($1, $2, $4, $3) h
		LEFT JOIN way p ON p.source = h.tablespace
	), there AS (
		/* OFFSET: what is used again is computed once */
		SELECT a.*,
			CASE WHEN a.is_busy THEN a.present_read_us ELSE a.alone_us END AS destination_us,
			CASE WHEN a.is_busy THEN a.present_read_low_us / a.present_read_us
				ELSE a.there_low_us / a.there_us END AS low,
			CASE WHEN a.is_busy THEN a.present_read_high_us / a.present_read_us
				ELSE a.there_high_us / a.there_us END AS high
		FROM (SELECT s.*, s.alone_us < s.present_read_low_us AS is_busy
			FROM (SELECT r.*, r.time_correction * tablespace_advisor.latency_at_depth(
					r.depths, r.depth_read_us, r.destination_depth) AS alone_us
				FROM (SELECT * FROM reached OFFSET 0) r OFFSET 0) s) a
		OFFSET 0
	), gain AS (
		SELECT t.*, t.device_reads * (t.device_us - t.destination_us) / 1000 AS gain_ms,
			CASE WHEN t.write_workload = t.write_there THEN t.pages_written
				* greatest(0, t.write_there_us - t.write_us) / 1000 END AS extra_ms
		FROM there t
	)
	SELECT g.relation, g.destination, g.device_share, g.device_us, g.cached_us,
		g.read_ms, g.table_read_ms, g.destination_depth, g.destination_us, g.max_rate,
		g.reads_then > g.max_rate, g.destination_us * g.high < g.device_low_us
			AND (g.there_high_us < g.random_read_low_us OR g.depth >= 2
				OR g.read_from <> 'probe'),
		g.extra_ms, g.gain_ms - coalesce(g.extra_ms, 0),
		100 * (g.gain_ms - coalesce(g.extra_ms, 0)) / nullif(g.table_read_ms, 0),
		g.moved_bytes, coalesce(
			g.size_bytes / (g.copy_rates ->> g.tablespace)::float8,
			g.pages * (coalesce(g.sequential_page_us, g.random_read_us)
				+ coalesce(g.sequential_write_page_us, 0)) / 1e6),
		100 * g.size_bytes::float8 / nullif(g.table_bytes, 0), g.not_probed,
		g.device_reads * (g.device_low_us - g.destination_us * g.high) / 1000
			- coalesce(g.extra_ms, 0),
		g.device_reads * (g.device_high_us - g.destination_us * g.low) / 1000
			- coalesce(g.extra_ms, 0)
	FROM gain g
$$;
COMMENT ON FUNCTION tablespace_advisor.estimate_placement(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, tablespace_advisor.load_estimate[], boolean, name) IS
	'per relation one row for each other tablespace (not with_all: those that advice takes into account, and the one named), and one with destination NULL; loads: as of estimate_load(); relations must hold all of their tables, since savings are stated as percent of a table''s read time';
/* src/advise/evidence.sql: what the numbers of a row of advice rest on */
CREATE FUNCTION tablespace_advisor.window_evidence(load tablespace_advisor.load_fact)
RETURNS jsonb
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT jsonb_build_object('source', load.source,
		'start', load.window_start, 'end', load.window_end,
		'seconds', load.seconds, 'intervals', load.intervals,
		'was_reset', load.was_reset, 'snapshots', load.snapshots,
		'reading_snapshots', load.reading_snapshots,
		'active_sessions', load.active_sessions,
		'reading_sessions', load.reading_sessions, 'waits', load.waits,
		'timed_read_us', load.timed_read_us, 'standbys', load.standbys,
		'moved_at', load.moved_at);
END;
COMMENT ON FUNCTION tablespace_advisor.window_evidence(tablespace_advisor.load_fact) IS
	'what the evidence says of the window and of what sessions did in it';

CREATE FUNCTION tablespace_advisor.row_evidence(
	a tablespace_advisor.relation_fact,
	e tablespace_advisor.placement_estimate,
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact,
	here tablespace_advisor.load_estimate,
	load tablespace_advisor.load_fact,
	choice tablespace_advisor.placement_choice,
	place tablespace_advisor.place_load)
RETURNS jsonb
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT jsonb_strip_nulls(jsonb_build_object(
		'finding', choice.finding,
		'window', tablespace_advisor.window_evidence(load),
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
			'tablespace', dest.tablespace, 'run_id', dest.run_id, 'latency_from', CASE WHEN dest.random_read_us IS NOT NULL
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
			'later_read_ms_per_s', a.reads_per_s * (e.device_share * place.later_us
				+ (1 - e.device_share) * here.cached_us) / 1000,
			'table_read_ms_per_s', e.table_read_ms_per_s,
			'saved_ms_per_s', e.saved_ms_per_s, 'saved_percent', e.saved_percent,
			'saved_low', e.saved_low_ms_per_s, 'saved_high', e.saved_high_ms_per_s,
			'extra_write_ms_per_s', e.extra_write_ms_per_s,
			'write_workload', CASE WHEN e.extra_write_ms_per_s IS NOT NULL
				THEN dest.write_workload END, 'obstacle', a.obstacle),
		'move', CASE WHEN dest.tablespace IS NOT NULL THEN jsonb_build_object(
			'bytes', e.moved_bytes, 'peak_bytes', a.size_bytes + e.moved_bytes,
			'wal_bytes', round((e.moved_bytes * coalesce(load.wal_per_byte, 1))::numeric),
			'seconds', e.move_seconds,
			'method', CASE WHEN tablespace_advisor.is_bloated(a) THEN 'rebuild' END,
			'measured_bytes_per_s', dest.copy_rates -> a.tablespace::text) END,
		'choice', CASE WHEN choice.is_exact IS NOT NULL THEN jsonb_build_object(
			'is_exact', choice.is_exact, 'bound_ms_per_s', choice.bound_ms_per_s,
			'bundle', choice.bundle, 'makes_room_for', choice.makes_room_for,
			'ms_per_s_and_gb', nullif(choice.ms_per_s_and_gb, 0)) END))
$$;
COMMENT ON FUNCTION tablespace_advisor.row_evidence(tablespace_advisor.relation_fact, tablespace_advisor.placement_estimate, tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact, tablespace_advisor.load_estimate, tablespace_advisor.load_fact, tablespace_advisor.placement_choice, tablespace_advisor.place_load) IS
	'what the numbers of one row of advice rest on, as placement_evidence() shows it; place: where its advice puts it, after all moves; unknown values are left out';
/*
 * src/advise/facts.sql
 *
 * Gathers the facts (types: advice_types.sql) from probes, samples, the catalogs
 * and the journal of moves.  Nothing waits for a lock on a relation.
 */

/*
 * How fast moves to a tablespace were, and how much WAL they wrote: those of
 * 1 MB or more, since small ones take the time of their commits.
 */
CREATE FUNCTION tablespace_advisor.copy_rates(destination name, asker oid)
RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT jsonb_object_agg(m.spcname, round(m.bytes_per_s::numeric))
		FROM (SELECT s.spcname, tablespace_advisor.moved_rate(
				s.oid, d.oid, 'copy', NULL, asker) AS bytes_per_s
			FROM pg_tablespace s, pg_tablespace d
			WHERE d.spcname = destination) m
		WHERE m.bytes_per_s > 0);
END
$$;
COMMENT ON FUNCTION tablespace_advisor.copy_rates(name, oid) IS
	'bytes per second of live copies to a tablespace, by the tablespace they came from, for a role that asks (see moved_rate); NULL without any';

CREATE FUNCTION tablespace_advisor.copy_wal_per_byte()
RETURNS float8
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT sum(j.wal_bytes)::float8 / nullif(sum(j.bytes_total), 0)
		FROM (SELECT j.wal_bytes, j.bytes_total FROM tablespace_advisor.job j
			WHERE j.state = 'done' AND j.method = 'copy' AND j.wal_bytes > 0
				AND j.bytes_total >= 1048576
			ORDER BY j.finished_at DESC LIMIT 20) j);
END
$$;
COMMENT ON FUNCTION tablespace_advisor.copy_wal_per_byte() IS
	'bytes of WAL that the last copies wrote per byte copied; NULL without any';

CREATE FUNCTION tablespace_advisor.left_lately()
RETURNS TABLE (relation oid, tablespaces name[])
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
BEGIN
	RETURN QUERY SELECT l.relation, array_agg(t.spcname)
		FROM (SELECT DISTINCT j.relation, j.from_tablespace
			FROM tablespace_advisor.job j
			WHERE j.state = 'done' AND j.finished_at > clock_timestamp() - interval '7 days'
				AND j.from_tablespace <> j.to_tablespace) l
		JOIN pg_tablespace t ON t.oid = l.from_tablespace
		GROUP BY l.relation;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.left_lately() IS
	'tablespaces that relations were moved away from within a week';

/* Of a table that moves with its indexes these, too. */
CREATE FUNCTION tablespace_advisor.moves_under_way()
RETURNS TABLE (relation oid, job_id bigint)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY SELECT m.relation, min(j.job_id)
		FROM tablespace_advisor.job j
		CROSS JOIN LATERAL unnest(j.relation || j.indexes) m (relation)
		WHERE j.state IN ('queued', 'running', 'paused')
			AND j.database = (SELECT d.oid FROM pg_database d
				WHERE d.datname = current_database())
			AND j.system_identifier = (SELECT c.system_identifier FROM pg_control_system() c)
		GROUP BY m.relation;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.moves_under_way() IS
	'relations that are being moved, or are to be, with their jobs';

/*
 * Random reads by depth are what the last runs come to; a twentieth of the file system stays free: file systems
 * slow down, and servers stop, when nothing is left.
 */
CREATE FUNCTION tablespace_advisor.tablespace_facts(caller oid, table_owner oid)
RETURNS SETOF tablespace_advisor.tablespace_fact
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH result AS MATERIALIZED (
		SELECT r.* FROM tablespace_advisor.pooled_probe_result r
		WHERE NOT r.has_caveat
	), written AS (
		/* of all writes the first kind that was measured, at depth 1 */
		SELECT DISTINCT ON (r.tablespace_oid) r.tablespace_oid, r.workload, r.mean_us
		FROM result r
		WHERE r.workload IN ('random write', 'sync write') AND r.queue_depth = 1
		ORDER BY r.tablespace_oid, r.workload
	)
	SELECT l.tablespace, l.run_id,
		l.random_read_us, l.random_read_low_us, l.random_read_high_us,
		coalesce(curve.depths, CASE WHEN l.random_read_us IS NOT NULL
			THEN ARRAY[1.0::float8] ELSE '{}' END),
		coalesce(curve.latencies, CASE WHEN l.random_read_us IS NOT NULL
			THEN ARRAY[l.random_read_us] ELSE '{}' END),
		cached.mean_us,
		l.sequential_page_us, l.sequential_write_page_us,
		w.mean_us, w.workload,
		tablespace_advisor.copy_rates(l.tablespace, caller),
		/* like the server, ask nothing for the database's own tablespace */
		l.tablespace_oid = d.dattablespace
			OR has_tablespace_privilege(caller, l.tablespace_oid, 'CREATE')
			OR has_tablespace_privilege(table_owner, l.tablespace_oid, 'CREATE'),
		v.volatile,
		v.shares_device_with::name[],
		v.free_bytes - coalesce(v.size_bytes, 0) / 20,
		l.random_read_caveat,
		CASE WHEN l.random_read_us IS NOT NULL THEN 'probe' END,
		NULL::float8, NULL::float8, NULL::float8, NULL::int, NULL::float8,
		v.media = 'rotational' AND (SELECT cardinality(d.leaves) = 1
			FROM tablespace_advisor.tablespace_device(l.tablespace_oid) d)
	FROM tablespace_advisor.tablespace_latency l
	JOIN pg_database d ON d.datname = current_database()
	LEFT JOIN tablespace_advisor.device v ON v.tablespace = l.tablespace
	LEFT JOIN written w ON w.tablespace_oid = l.tablespace_oid
	LEFT JOIN LATERAL
		(SELECT array_agg(r.queue_depth::float8 ORDER BY r.queue_depth) AS depths,
				array_agg(r.mean_us ORDER BY r.queue_depth) AS latencies
			FROM result r
			WHERE r.tablespace_oid = l.tablespace_oid
				AND r.workload = 'random read'
				AND l.random_read_us IS NOT NULL) curve ON true
	LEFT JOIN LATERAL
		(SELECT r.mean_us FROM result r
			WHERE r.tablespace_oid = l.tablespace_oid
				AND r.workload = 'cached read' LIMIT 1) cached ON true
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_facts(oid, oid) IS
	'facts on every tablespace but pg_global; may_create: one of the two roles may make relations there';

/*
 * Tablespaces that the session assumes.  At depth they are like the one named,
 * scaled; else they serve as many at a time, each as fast as one alone, as the
 * reads per second that were given allow.  What was given has no interval.
 */
CREATE FUNCTION tablespace_advisor.assumed_facts(
	tablespaces tablespace_advisor.tablespace_fact[])
RETURNS SETOF tablespace_advisor.tablespace_fact
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT a.tablespace, NULL::bigint, a.random_read_us, a.random_read_us, a.random_read_us,
		c.depths, c.latencies, k.cached_us,
		l.sequential_page_us * f.factor, l.sequential_write_page_us * f.factor,
		l.write_us * f.factor, l.write_workload, NULL::jsonb, true, false, '{}'::name[],
		a.bytes - a.bytes / 20, NULL, 'assumed',
		NULL::float8, NULL::float8, NULL::float8, NULL::int, NULL::float8, false
	FROM tablespace_advisor.assumed_tablespaces() a
	LEFT JOIN unnest(tablespaces) l ON l.tablespace = a.like_tablespace
		AND l.random_read_us IS NOT NULL
	CROSS JOIN LATERAL (SELECT a.random_read_us / l.random_read_us AS factor) f
	CROSS JOIN (SELECT min(o.cached_read_us) AS cached_us FROM unnest(tablespaces) o) k
	CROSS JOIN LATERAL (SELECT array_agg(p.depth ORDER BY p.depth) AS depths,
			array_agg(greatest(p.us, coalesce(p.depth * 1e6 / a.max_reads_per_s, 0))
				ORDER BY p.depth) AS latencies
		FROM (SELECT d.depth, d.us * f.factor AS us
				FROM unnest(l.depths, l.depth_read_us) d (depth, us)
			UNION ALL
			SELECT DISTINCT d.depth, a.random_read_us
				FROM unnest(ARRAY[1, greatest(1,
					a.max_reads_per_s * a.random_read_us / 1e6)]) d (depth)
				WHERE l.tablespace IS NULL) p) c
$$;
COMMENT ON FUNCTION tablespace_advisor.assumed_facts(tablespace_advisor.tablespace_fact[]) IS
	'facts on the tablespaces of assume_tablespace(), made from those on the tablespaces there are';

/*
 * Adds what the devices' own counters say of the window.  Where no probe is to be
 * trusted, it takes its place: of a place that relations leave, it is what their
 * reads take now; of a place they go to, a bound, since a curve of one point takes
 * a device for busy beyond it (curve.c).
 */
CREATE FUNCTION tablespace_advisor.with_present_latency(
	tablespaces tablespace_advisor.tablespace_fact[],
	devices tablespace_advisor.device_rate[])
RETURNS SETOF tablespace_advisor.tablespace_fact
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	f record;
	d record;
BEGIN
	FOREACH f IN ARRAY tablespaces LOOP
		SELECT r.* INTO d FROM unnest(devices) r
		JOIN pg_tablespace t ON t.oid = r.tablespace
		WHERE t.spcname = f.tablespace;
		f.present_read_us := d.read_us;
		f.present_read_low_us := d.read_low_us;
		f.present_read_high_us := d.read_high_us;
		f.present_intervals := d.intervals;
		f.present_in_flight := d.all_reads_in_flight
			+ CASE WHEN f.is_serial THEN d.writes_in_flight ELSE 0 END;
		IF f.random_read_us IS NULL AND d.read_us IS NOT NULL THEN
			f.latency_from := 'counters';
			f.random_read_us := d.read_us;
			f.random_read_low_us := d.read_low_us;
			f.random_read_high_us := d.read_high_us;
			f.depths := ARRAY[greatest(1, d.reads_in_flight)];
			f.depth_read_us := ARRAY[d.read_us];
		END IF;
		RETURN NEXT f;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.with_present_latency(tablespace_advisor.tablespace_fact[], tablespace_advisor.device_rate[]) IS
	'the facts on tablespaces with what devices did in the window, which stands in where no probe is to be trusted';

/*
 * Where neither a probe nor counters say anything of a tablespace (NFS, ZFS, a
 * container, bulk reads on the same disk), the server's timing does: of the time
 * that all reads took, what those of other tablespaces and of the system's cache
 * do not take is that of its reads, of which what the cache does not hold takes
 * the rest.  Reads that are no relation's come from the cache; if instead they took
 * as long as its own, and those of other tablespaces twice as long as known, each
 * took less: this is the lower end.  Over half of the reads and of their time
 * have to be its own, and four fifths of what is read from tablespaces of which
 * nothing is known; the rest of that takes as long.
 */
CREATE FUNCTION tablespace_advisor.timed_latency(
	tablespaces tablespace_advisor.tablespace_fact[],
	relations tablespace_advisor.relation_fact[],
	load tablespace_advisor.load_fact,
	OUT tablespace name,
	OUT read_us float8,
	OUT low_us float8,
	OUT high_us float8)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS (
		SELECT r.tablespace, r.reads, f.random_read_us IS NULL AS is_unknown,
			r.device_reads / r.reads AS device_share,
			coalesce(f.present_read_us, f.random_read_us) AS us, c.us AS cached_us
		FROM (SELECT r.tablespace, sum(r.reads_per_s) AS reads,
				sum(r.reads_per_s * greatest(0, 1 - coalesce(r.system_cached, 0))) AS device_reads
			FROM tablespace_advisor.elements(relations) r WHERE r.reads_per_s > 0 GROUP BY r.tablespace) r
		LEFT JOIN unnest(tablespaces) f ON f.tablespace = r.tablespace
		CROSS JOIN (SELECT coalesce(min(p.cached_read_us), 0) AS us FROM unnest(tablespaces) p) c
	), rest AS (
		SELECT load.reads_per_s * load.timed_read_us AS all_us,
			greatest(0, load.reads_per_s - sum(p.reads)) AS others,
			coalesce(sum(p.reads
				* (p.device_share * p.us + (1 - p.device_share) * p.cached_us))
				FILTER (WHERE NOT p.is_unknown), 0) AS known_us,
			sum(p.reads) FILTER (WHERE p.is_unknown) AS unknown
		FROM place p
	), own AS (
		SELECT p.*, r.all_us,
			(r.all_us - r.known_us - r.others * p.cached_us) / r.unknown AS mean_us,
			(r.all_us - 2 * r.known_us) / (r.unknown + r.others) AS low_us
		FROM place p CROSS JOIN rest r
		WHERE p.is_unknown AND p.reads >= 0.8 * r.unknown
	)
	SELECT o.tablespace, d.us, o.low_us, 2 * d.us - o.mean_us
	FROM own o
	CROSS JOIN LATERAL (SELECT greatest(o.mean_us,
		(o.mean_us - (1 - o.device_share) * o.cached_us) / nullif(o.device_share, 0)) AS us) d
	WHERE o.reads > 0.5 * load.reads_per_s AND o.mean_us > o.cached_us
		AND o.reads * o.mean_us > 0.5 * o.all_us
$$;
COMMENT ON FUNCTION tablespace_advisor.timed_latency(tablespace_advisor.tablespace_fact[], tablespace_advisor.relation_fact[], tablespace_advisor.load_fact) IS
	'microseconds, with bounds, that a read takes in a tablespace that nothing was measured of, by the server''s timing; no row unless it has over half of the reads and of their time, and four fifths of those of all such tablespaces';

CREATE FUNCTION tablespace_advisor.with_timed_latency(
	tablespaces tablespace_advisor.tablespace_fact[],
	relations tablespace_advisor.relation_fact[],
	load tablespace_advisor.load_fact)
RETURNS SETOF tablespace_advisor.tablespace_fact
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	f record;
	timed record;
BEGIN
	SELECT t.* INTO timed
	FROM tablespace_advisor.timed_latency(tablespaces, relations, load) t
	WHERE EXISTS (SELECT FROM unnest(tablespaces) u WHERE u.random_read_us IS NULL);
	FOREACH f IN ARRAY tablespaces LOOP
		IF f.tablespace = timed.tablespace AND timed.read_us IS NOT NULL THEN
			f.latency_from := 'timing';
			f.random_read_us := timed.read_us;
			f.random_read_low_us := timed.low_us;
			f.random_read_high_us := timed.high_us;
			f.depths := ARRAY[1];
			f.depth_read_us := ARRAY[timed.read_us];
		END IF;
		RETURN NEXT f;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.with_timed_latency(tablespace_advisor.tablespace_fact[], tablespace_advisor.relation_fact[], tablespace_advisor.load_fact) IS
	'the facts on tablespaces, with a read time by the server''s timing for the one that nothing was measured of, where timed_latency() knows it';

/*
 * What the statistics of the planner say of an index on one column: bytes of
 * a key, correlation with the order of the table, entries.  Columns of a table go by
 * their own statistics, expressions by the index's.  plpgsql, which plans for as many
 * indexes as there are.
 */
CREATE FUNCTION tablespace_advisor.index_shape(indexes oid[])
RETURNS TABLE (relation oid, entries float8, key_bytes float8, "fillfactor" float8,
	correlation float8, column_name name)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB'
SET jit = off
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
	btree oid := (SELECT m.oid FROM pg_am m WHERE m.amname = 'btree');
BEGIN
	RETURN QUERY WITH shape AS MATERIALIZED (
		SELECT i.indexrelid, i.indrelid,
			CASE WHEN i.indnatts = 1 THEN nullif(i.indkey[0], 0) END AS single,
			/* NULL: not known of each column */
			CASE WHEN count(*) = count(w.bytes) THEN sum(w.bytes) END AS bytes
		FROM unnest(indexes) t
		JOIN pg_index i ON i.indexrelid = t
		JOIN pg_attribute a ON a.attrelid = t AND a.attnum > 0
		CROSS JOIN LATERAL (SELECT i.indkey[a.attnum - 1] AS attnum) c
		CROSS JOIN LATERAL (SELECT CASE WHEN a.attlen > 0 THEN a.attlen
			ELSE (SELECT s.stawidth FROM pg_statistic s
				WHERE s.starelid = CASE c.attnum WHEN 0 THEN i.indexrelid ELSE i.indrelid END
					AND s.staattnum = CASE c.attnum WHEN 0 THEN a.attnum ELSE c.attnum END
					AND NOT s.stainherit) END AS bytes) w
		GROUP BY i.indexrelid, i.indrelid, i.indnatts, i.indkey[0]
	)
	SELECT c.oid, c.reltuples::float8,
		CASE WHEN h.bytes IS NOT NULL THEN
			greatest(least(h.bytes, current_setting('block_size')::int / 3), 0) END::float8,
		coalesce(CASE WHEN c.reloptions IS NOT NULL THEN (SELECT o.option_value::float8
			FROM pg_options_to_table(c.reloptions) o
			WHERE o.option_name = 'fillfactor') END, 90),
		(SELECT CASE 3 WHEN s.stakind1 THEN s.stanumbers1[1]
				WHEN s.stakind2 THEN s.stanumbers2[1]
				WHEN s.stakind3 THEN s.stanumbers3[1]
				WHEN s.stakind4 THEN s.stanumbers4[1]
				WHEN s.stakind5 THEN s.stanumbers5[1] END::float8
			FROM pg_statistic s
			WHERE s.starelid = h.indrelid AND s.staattnum = h.single AND NOT s.stainherit),
		(SELECT t.attname FROM pg_attribute t
			WHERE t.attrelid = h.indrelid AND t.attnum = h.single)
	FROM shape h JOIN pg_class c ON c.oid = h.indexrelid AND c.relam = btree;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.index_shape(oid[]) IS
	'of B-trees among these: entries, mean bytes of a key, fillfactor, and of those on one column its name and the correlation of its values with the order of the table; NULL where the planner''s statistics do not say';

CREATE FUNCTION tablespace_advisor.index_expression(index oid)
RETURNS text
LANGUAGE C STRICT STABLE
AS 'MODULE_PATHNAME', 'tsa_index_expression';
COMMENT ON FUNCTION tablespace_advisor.index_expression(oid) IS
	'the first column of an index as CREATE INDEX would name it; NULL where that would wait for a lock on the table, or there is no such index';

/* Why a relation cannot be moved while in use; NULL: it can. */
CREATE FUNCTION tablespace_advisor.move_obstacle(
	persistence "char",
	table_oid oid,
	is_index boolean,
	is_odd boolean)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE
		WHEN persistence = 't' THEN 'a temporary table cannot be moved'
		WHEN table_oid < 16384 THEN 'a system catalog cannot be moved'
		/* nothing but a rebuild, for want of WAL that a copy could follow */
		WHEN is_index THEN
			CASE WHEN persistence = 'u' AND is_odd
				THEN 'unlogged, backs a constraint: only ALTER INDEX moves it, which locks it'
			END
		WHEN persistence = 'u'
			THEN 'unlogged: only ALTER TABLE moves it, which locks it until it is copied'
		WHEN is_odd
			THEN 'its access method is not heap: only ALTER TABLE moves it, which locks it'
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.move_obstacle("char", oid, boolean, boolean) IS
	'why a table or an index cannot be moved while it is in use; is_odd: of an index that it backs an exclusion or deferrable constraint, of a table that its access method is not heap';

/* Tables and their indexes, by lookups. */
CREATE FUNCTION tablespace_advisor.members_of(tables oid[])
RETURNS TABLE (relation oid, table_oid oid, kind text, tablespace oid, filenode oid,
	toast oid, toast_filenode oid, obstacle text, is_unique boolean, on_expression boolean)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
	heap_methods oid[] := array(SELECT m.oid FROM pg_am m
		WHERE m.amhandler = 'heap_tableam_handler'::regproc);
	own oid := (SELECT d.dattablespace FROM pg_database d
		WHERE d.datname = current_database());
BEGIN
	RETURN QUERY
	SELECT c.oid, c.oid, 'heap', coalesce(nullif(c.reltablespace, 0), own),
		nullif(c.relfilenode, 0), x.oid, nullif(x.relfilenode, 0),
		tablespace_advisor.move_obstacle(c.relpersistence, c.oid, false,
			c.relam <> ALL (heap_methods) OR coalesce(x.relam <> ALL (heap_methods), false)),
		false, false
	FROM unnest(tables) t JOIN pg_class c ON c.oid = t
	LEFT JOIN pg_class x ON x.oid = c.reltoastrelid
	WHERE c.relkind IN ('r', 'm')
	UNION ALL
	SELECT c.oid, i.indrelid, 'index', coalesce(nullif(c.reltablespace, 0), own),
		nullif(c.relfilenode, 0), NULL, NULL,
		tablespace_advisor.move_obstacle(c.relpersistence, i.indrelid, true,
			i.indisexclusion OR NOT i.indimmediate),
		i.indisunique, i.indnatts = 1 AND i.indkey[0] = 0
	FROM unnest(tables) t JOIN pg_index i ON i.indrelid = t
	JOIN pg_class c ON c.oid = i.indexrelid
	WHERE c.relkind = 'i';
END
$$;
COMMENT ON FUNCTION tablespace_advisor.members_of(oid[]) IS
	'tables and their indexes: where they are, their files, why they cannot be moved while in use; on_expression: an index on one expression';

/*
 * Rates of a heap with its TOAST table and that one's index, which move together,
 * or of an index.  What the system's cache holds is looked up for what is read,
 * where no samples say; of a heap the shares are weighed with the reads.
 */
CREATE FUNCTION tablespace_advisor.member_rates(
	rates tablespace_advisor.relation_rate[],
	tables oid[])
RETURNS TABLE (member oid, size_bytes bigint, toast_bytes bigint, reads_per_s float8,
	maintenance_reads_per_s float8, hits_per_s float8, writes_per_s float8,
	hot_fraction float8, tuples_per_scan float8, cached float8, scans bigint,
	counted_since timestamptz)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB'
SET jit = off
SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY WITH rate AS MATERIALIZED (
		SELECT r.*, CASE r.kind WHEN 'index' THEN r.relation ELSE r.heap END AS member
		FROM tablespace_advisor.elements(rates) r
		JOIN tablespace_advisor.elements(tables) t ON t = r.heap
	), resident AS MATERIALIZED (
		SELECT p.relation,
			tablespace_advisor.cached_share(
				p.blocks, p.shared_blocks, p.system_only_blocks) AS cached
		FROM tablespace_advisor.relations_residency(
			array(SELECT r.relation FROM rate r
				WHERE r.reads_per_s > 0 AND r.system_cached IS NULL)) p
	)
	SELECT r.member,
		sum(r.size_bytes)::bigint,
		coalesce(sum(r.size_bytes) FILTER (WHERE r.kind LIKE 'toast%'), 0)::bigint,
		sum(r.reads_per_s),
		sum(r.maintenance_reads_per_s),
		sum(r.hits_per_s),
		sum(r.writes_per_s) FILTER (WHERE r.kind <> 'toast index'),
		min(r.hot_fraction) FILTER (WHERE r.kind = 'heap'),
		min(r.tuples_per_s / nullif(r.scans_per_s, 0)) FILTER (WHERE r.kind = 'index'),
		sum(r.reads_per_s * coalesce(r.system_cached, p.cached))
			/ nullif(sum(r.reads_per_s) FILTER (WHERE coalesce(
				r.system_cached, p.cached) IS NOT NULL), 0),
		min(r.scans_total) FILTER (WHERE r.kind = 'index'),
		min(r.counted_since)
	FROM rate r LEFT JOIN resident p USING (relation)
	GROUP BY r.member;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.member_rates(tablespace_advisor.relation_rate[], oid[]) IS
	'rates of observe_database() added up over what moves together, of these tables; columns as in relation_fact, member: the heap or index';

/* plpgsql, which plans for as many tables as there are. */
CREATE FUNCTION tablespace_advisor.relation_facts(
	rates tablespace_advisor.relation_rate[],
	tables oid[])
RETURNS SETOF tablespace_advisor.relation_fact
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET work_mem = '64MB'
SET jit = off
SET enable_mergejoin = off
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
	made timestamptz := (SELECT (pg_stat_file('base/' || d.oid || '/PG_VERSION', true)).modification
		FROM pg_database d WHERE d.datname = current_database());
BEGIN
	RETURN QUERY WITH member AS MATERIALIZED (
		SELECT m.* FROM tablespace_advisor.members_of(tables) m
	), active AS MATERIALIZED (
		SELECT a.* FROM tablespace_advisor.member_rates(rates, tables) a
	), role AS MATERIALIZED (
		SELECT r.indexrelid, r.unusable, r.needed_for
		FROM unnest(tables) t JOIN tablespace_advisor.index_role r ON r.indrelid = t
	), shape AS MATERIALIZED (
		SELECT x.* FROM tablespace_advisor.index_shape(
			array(SELECT i.relation FROM member i WHERE i.kind = 'index')) x
	)
	SELECT m.relation::regclass, m.table_oid::regclass, m.kind, s.spcname,
		z.bytes, coalesce(a.toast_bytes, 0),
		/* the table's owner can have put anything into its statistics */
		least(a.size_bytes, tablespace_advisor.estimate_btree_bytes(
			least(x.entries, z.bytes / 4), x.key_bytes, x."fillfactor")),
		CASE WHEN x.correlation IS NOT NULL AND NOT m.is_unique
			THEN tablespace_advisor.estimate_brin_bytes(h.size_bytes) END,
		a.reads_per_s, a.hits_per_s, a.writes_per_s,
		coalesce(a.hot_fraction, h.hot_fraction),
		a.tuples_per_scan, x.correlation, a.cached, a.scans,
		pg_stat_get_tuples_inserted(m.table_oid) + pg_stat_get_tuples_updated(m.table_oid)
			+ CASE m.kind WHEN 'heap' THEN pg_stat_get_tuples_deleted(m.table_oid)
				ELSE -pg_stat_get_tuples_hot_updated(m.table_oid) END,
		date_part('epoch', clock_timestamp() - greatest(a.counted_since, made)) / 86400,
		x.column_name,
		CASE WHEN a.scans = 0 AND r.needed_for IS NULL AND m.on_expression
			THEN tablespace_advisor.index_expression(m.relation) END,
		r.unusable, r.needed_for, u.duplicate_of::regclass,
		coalesce(m.obstacle, CASE WHEN pin.relation IS NOT NULL THEN concat('pinned',
			': ' || tablespace_advisor.printable(pin.reason)) END),
		l.tablespaces, a.maintenance_reads_per_s, w.job_id
	FROM member m
	LEFT JOIN pg_tablespace s ON s.oid = m.tablespace
	LEFT JOIN active a ON a.member = m.relation
	LEFT JOIN active h ON h.member = m.table_oid AND m.kind = 'index'
	LEFT JOIN shape x ON x.relation = m.relation
	LEFT JOIN role r ON r.indexrelid = m.relation
	LEFT JOIN tablespace_advisor.duplicate_indexes(tables) u ON u.indexrelid = m.relation
	LEFT JOIN tablespace_advisor.left_lately() l ON l.relation = m.relation
	LEFT JOIN tablespace_advisor.moves_under_way() w ON w.relation = m.relation
	LEFT JOIN tablespace_advisor.placement_pin pin ON pin.relation = m.relation
		AND (pin.ends_at > clock_timestamp()) IS NOT FALSE
	CROSS JOIN LATERAL (SELECT coalesce(a.size_bytes,
		tablespace_advisor.file_bytes(m.tablespace, m.filenode)
		+ coalesce(tablespace_advisor.file_bytes(m.tablespace, m.toast_filenode), 0)) AS bytes) z;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.relation_facts(tablespace_advisor.relation_rate[], oid[]) IS
	'facts on these tables and their indexes, from the rates of observe_database() and the catalogs';

/* A table, or the partitions below it that have storage, without locks. */
CREATE FUNCTION tablespace_advisor.leaves_of(target regclass)
RETURNS SETOF oid
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH RECURSIVE tree (member) AS (
		SELECT target::oid
		UNION ALL
		SELECT i.inhrelid FROM tree t
		JOIN pg_class c ON c.oid = t.member AND c.relkind IN ('p', 'I')
		JOIN pg_inherits i ON i.inhparent = t.member AND NOT i.inhdetachpending
	)
	SELECT t.member FROM tree t JOIN pg_class c ON c.oid = t.member
	WHERE c.relkind IN ('r', 'm', 'i')
$$;
COMMENT ON FUNCTION tablespace_advisor.leaves_of(regclass) IS
	'a table or index, or if it is partitioned its partitions with storage';

/* Tables of which something is to be said though nobody uses them. */
CREATE FUNCTION tablespace_advisor.tables_with_faults(
	tablespaces tablespace_advisor.tablespace_fact[])
RETURNS SETOF oid
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
	SELECT i.indrelid FROM pg_index i
	WHERE NOT i.indisvalid AND i.indrelid >= 16384
	UNION
	SELECT i.indrelid
	FROM (SELECT i.indrelid FROM pg_index i WHERE i.indrelid >= 16384
		GROUP BY i.indrelid, i.indnatts, i.indkey[0] HAVING count(*) > 1) s
	JOIN pg_index i ON i.indrelid = s.indrelid
	GROUP BY i.indrelid, i.indkey::int2[], i.indclass, i.indcollation
	HAVING count(*) > 1
	UNION
	SELECT i.heap FROM tablespace_advisor.relation_inventory i
	WHERE i.tablespace IN
		(SELECT t.oid FROM unnest(tablespaces) f
			JOIN pg_tablespace t ON t.spcname = f.tablespace
			WHERE f.available_bytes < 0)
		AND EXISTS (SELECT FROM unnest(tablespaces) f WHERE f.available_bytes < 0)
$$;
COMMENT ON FUNCTION tablespace_advisor.tables_with_faults(tablespace_advisor.tablespace_fact[]) IS
	'tables with an index that is invalid or perhaps a duplicate, or in a tablespace that is over its mark';
/*
 * src/advise/gather.sql
 *
 * Advice on a table or on the whole database: gathers the facts (facts.sql)
 * and has them judged (placement.sql).  advise.c, which is what people call,
 * checks their rights first and then runs this as the superuser.
 */

/*
 * Where pgstattuple is installed, an index that seems to be bloated and can
 * be read in a moment is looked at.  It locks the index as any query does;
 * where that would wait, the estimate stays.
 */
CREATE FUNCTION tablespace_advisor.measure_bloat(a tablespace_advisor.relation_fact)
RETURNS tablespace_advisor.relation_fact
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	max_bytes CONSTANT bigint := 256 * 1048576;
	block_bytes CONSTANT int := current_setting('block_size');
	leaves bigint;
	inner_pages bigint;
	density float8;
BEGIN
	IF NOT tablespace_advisor.is_bloated(a) OR a.size_bytes > max_bytes THEN
		RETURN a;
	END IF;
	IF NOT tablespace_advisor.lock_if_free(a.relation) THEN
		RETURN a;
	END IF;
	SELECT r.* INTO leaves, inner_pages, density
	FROM tablespace_advisor.read_index_pages(a.relation) r;
	IF leaves IS NULL THEN
		RETURN a;
	END IF;
	/* without entries NaN; deleted pages are in neither number */
	IF density < 'NaN' THEN
		leaves := ceil(leaves * density / 90);
	END IF;
	a.rebuilt_bytes := least(a.size_bytes, (2 + inner_pages + leaves) * block_bytes);
	RETURN a;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.measure_bloat(tablespace_advisor.relation_fact) IS
	'the fact with rebuilt_bytes as pgstatindex() measures it, if the extension pgstattuple is installed and the index seems to be bloated';

CREATE FUNCTION tablespace_advisor.read_index_pages(
	index regclass,
	OUT leaf_pages bigint,
	OUT internal_pages bigint,
	OUT avg_leaf_density float8)
LANGUAGE C STRICT VOLATILE
AS 'MODULE_PATHNAME', 'tsa_read_index_pages';
COMMENT ON FUNCTION tablespace_advisor.read_index_pages(regclass) IS
	'what pgstatindex() finds in a B-tree; NULLs where the extension pgstattuple is not installed';

CREATE FUNCTION tablespace_advisor.lock_if_free(relation oid)
RETURNS boolean
LANGUAGE C STRICT VOLATILE
AS 'MODULE_PATHNAME', 'tsa_lock_if_free';
COMMENT ON FUNCTION tablespace_advisor.lock_if_free(oid) IS
	'takes an AccessShare lock for this transaction if that is possible without waiting, and says whether it was';

CREATE FUNCTION tablespace_advisor.check_target(target regclass)
RETURNS pg_class
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	c pg_class;
BEGIN
	SELECT r.* INTO c FROM pg_class r WHERE r.oid = target;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'relation with OID % does not exist', target::oid
			USING ERRCODE = 'undefined_table';
	END IF;
	IF c.relkind NOT IN ('r', 'm', 'p', 'i', 'I')
		OR c.relnamespace = 'pg_toast'::regnamespace
	THEN
		RAISE EXCEPTION '"%" is not a table or index', c.relname
			USING ERRCODE = 'wrong_object_type',
				DETAIL = CASE WHEN c.relnamespace = 'pg_toast'::regnamespace
					THEN 'A TOAST table moves with its table.'
					ELSE 'Advice is on tables, partitioned tables, materialized views and their indexes.' END;
	END IF;
	RETURN c;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.check_target(regclass) IS
	'the catalog row of what advice can be asked on; errors: 42P01 no such relation, 42809 neither table nor index';

/* What has no number may well be a relation, which is not the first argument. */
CREATE FUNCTION tablespace_advisor.check_budget(space_budget text)
RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	bytes bigint;
BEGIN
	IF space_budget !~ '^[[:space:]]*[-+.]*[0-9]' THEN
		RAISE EXCEPTION 'invalid size: "%"', space_budget
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'For advice on one relation, write target => its name; for a budget, a size such as 2 GB.';
	END IF;
	bytes := pg_size_bytes(space_budget);
	IF bytes <= 0 THEN
		RAISE EXCEPTION 'space_budget must be greater than zero'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN bytes;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.check_budget(text) IS
	'the bytes of a budget, NULL of NULL; errors: 22023 no size, or not greater than zero';

/* Of whole databases advice speaks of what has something to be said of. */
CREATE FUNCTION tablespace_advisor.is_of_interest(a tablespace_advisor.relation_fact)
RETURNS boolean
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT coalesce(a.reads_per_s > 0 OR a.hits_per_s > 0 OR a.writes_per_s > 0, false)
		OR a.unusable IS NOT NULL OR a.duplicate_of IS NOT NULL;
END;
COMMENT ON FUNCTION tablespace_advisor.is_of_interest(tablespace_advisor.relation_fact) IS
	'whether a relation was read or written in the window, or is an index with a fault';

/*
 * Where there is not room for all that others read, what lies there unread may
 * have to make room.
 */
CREATE FUNCTION tablespace_advisor.wanted_tablespaces(
	tablespaces tablespace_advisor.tablespace_fact[],
	rates tablespace_advisor.relation_rate[])
RETURNS SETOF name
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH read AS MATERIALIZED (
		SELECT r.tablespace, sum(r.size_bytes) AS bytes
		FROM tablespace_advisor.elements(rates) r WHERE r.reads_per_s > 0
		GROUP BY r.tablespace
	)
	SELECT f.tablespace
	FROM unnest(tablespaces) f
	JOIN pg_tablespace t ON t.spcname = f.tablespace
	WHERE f.random_read_us < (SELECT max(o.random_read_us) FROM unnest(tablespaces) o)
		AND f.available_bytes < (SELECT sum(r.bytes) FROM read r WHERE r.tablespace <> t.oid)
$$;
COMMENT ON FUNCTION tablespace_advisor.wanted_tablespaces(tablespace_advisor.tablespace_fact[], tablespace_advisor.relation_rate[]) IS
	'tablespaces faster than another one that have not room for all that is read elsewhere';

/*
 * What was read before a move was read elsewhere: the server's timing, and the
 * queue, are those of another placement.  So the window begins after the last
 * move but for such as have little to do with what was read.
 */
CREATE FUNCTION tablespace_advisor.history_since_moves(
	longest interval,
	OUT history interval,
	OUT is_before boolean,
	OUT moved_at timestamptz)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
	/* of all blocks read: no more than this was read elsewhere */
	min_share CONSTANT float8 := 0.05;
	begins timestamptz;
	last timestamptz;
BEGIN
	WITH move AS (
		SELECT j.relation, max(j.finished_at) AS at FROM tablespace_advisor.job j
		WHERE j.state = 'done' AND j.from_tablespace <> j.to_tablespace
			AND j.finished_at > clock_timestamp() - longest
		GROUP BY j.relation
	), sampled AS MATERIALIZED (
		SELECT i.sample_id, i.started_at, i.blocks_read
		FROM tablespace_advisor.sample_interval i
		WHERE i.taken_at > clock_timestamp() - longest
	), before AS (
		SELECT m.at, sum(r.reads) AS reads
		FROM (SELECT m.relation, m.at FROM move m
			UNION ALL SELECT c.reltoastrelid, m.at
			FROM move m JOIN pg_class c ON c.oid = m.relation AND c.reltoastrelid <> 0) m
		JOIN tablespace_advisor.relation_sample r ON r.relation = m.relation
		JOIN sampled i ON i.sample_id = r.sample_id AND i.started_at < m.at
		GROUP BY m.at
	)
	SELECT max(s.at) INTO moved_at
	FROM (SELECT b.at, sum(b.reads) OVER (ORDER BY b.at DESC)::float8
			/ (SELECT sum(i.blocks_read) FROM sampled i) AS share FROM before b) s
	WHERE s.share > min_share;
	SELECT min(i.taken_at) FILTER (WHERE i.taken_at >= moved_at), max(i.taken_at)
	INTO begins, last
	FROM tablespace_advisor.sample_interval i
	WHERE i.taken_at > clock_timestamp() - longest;
	is_before := moved_at IS NOT NULL AND (begins < last) IS NOT TRUE;
	history := CASE WHEN begins < last THEN clock_timestamp() - begins ELSE longest END;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.history_since_moves(interval) IS
	'how far back samples go that were taken with relations where they are now, so long at most; moved_at: when the last move ended that matters; is_before: there are none yet since, history is as if there had been no move';

/*
 * The load in a window, rates of relations and devices.  Before the first sample
 * after a move the server's timing and the queue tell of another placement.
 */
CREATE FUNCTION tablespace_advisor.gather_load(
	observe interval,
	tables oid[],
	longest interval DEFAULT '1 day',
	OUT load tablespace_advisor.load_fact,
	OUT rates tablespace_advisor.relation_rate[],
	OUT devices tablespace_advisor.device_rate[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	h record;
	seen record;
	is_before boolean;
BEGIN
	SELECT * INTO h FROM tablespace_advisor.history_since_moves(longest);
	SELECT * INTO seen FROM tablespace_advisor.observe_database(observe,
		tables, h.history, with_active => true);
	is_before := h.is_before AND seen.source = 'samples';
	load := ROW(seen.source, seen.window_start, seen.window_end, seen.seconds,
		seen.intervals, seen.was_reset, seen.reads_per_s,
		CASE WHEN NOT is_before THEN seen.read_ms_per_s END,
		CASE WHEN NOT is_before THEN seen.timed_read_us END,
		seen.snapshots, CASE WHEN is_before THEN 0 ELSE seen.reading_snapshots END,
		seen.active_sessions, CASE WHEN NOT is_before THEN seen.reading_sessions END,
		seen.waits, extract(epoch FROM current_setting('checkpoint_timeout')::interval),
		tablespace_advisor.copy_wal_per_byte(),
		(SELECT string_agg(DISTINCT s, ', ')
			FROM tablespace_advisor.streaming_standbys() s
			WHERE s NOT IN (SELECT r.server FROM tablespace_advisor.standby_reads() r)),
		CASE WHEN seen.source = 'samples' THEN h.moved_at END);
	rates := seen.relations;
	devices := CASE WHEN is_before THEN '{}' ELSE seen.devices END;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.gather_load(interval, oid[], interval) IS
	'the window of an advice: see observe_database(), of these tables and those that did anything; observe NULL: samples since the last move that matters, so long at most';

/*
 * Owners are told that sessions wait for something else than storage, and that there
 * are standbys, but neither for what nor which.
 */
CREATE FUNCTION tablespace_advisor.load_as_seen_by(load tablespace_advisor.load_fact, caller oid)
RETURNS tablespace_advisor.load_fact
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF NOT pg_has_role(caller, 'pg_read_all_stats', 'USAGE') THEN
		load.waits := (SELECT jsonb_object_agg(w.event, w.sessions)
			FROM (SELECT k.event, sum(e.value::float8) AS sessions
				FROM jsonb_each_text(load.waits) e
				CROSS JOIN LATERAL (SELECT CASE WHEN e.key ~ '^IO/DataFile' THEN 'IO/DataFile'
					ELSE 'spent otherwise' END) k(event)
				GROUP BY k.event) w);
		load.standbys := CASE WHEN load.standbys IS NOT NULL THEN 'standby servers' END;
	END IF;
	RETURN load;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.load_as_seen_by(tablespace_advisor.load_fact, oid) IS
	'the load without wait events and names of standbys, unless the role may read all statistics';

/*
 * The tables that advice on a relation, or on the database (NULL), needs: all that
 * is read, because reads are corrected by the timing of all.
 */
CREATE FUNCTION tablespace_advisor.tables_of_interest(
	tables oid[],
	unread name[],
	rates tablespace_advisor.relation_rate[],
	of_database boolean)
RETURNS SETOF oid
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
	SELECT unnest(tables)
	UNION
	SELECT i.heap FROM tablespace_advisor.relation_inventory i
	WHERE cardinality(unread) > 0 AND i.heap >= 16384
		AND i.tablespace IN (SELECT t.oid FROM pg_tablespace t WHERE t.spcname = ANY (unread))
	UNION
	SELECT r.heap FROM unnest(rates) r
	WHERE r.reads_per_s > 0
		OR (of_database AND (r.hits_per_s > 0 OR r.writes_per_s > 0))
$$;
COMMENT ON FUNCTION tablespace_advisor.tables_of_interest(oid[], name[], tablespace_advisor.relation_rate[], boolean) IS
	'those given, those with something in tablespaces where what is unread may have to make room, and those that are read; of_database: also those that are only found in memory, or written';

/* The tablespaces there are, and those that the session assumes. */
CREATE FUNCTION tablespace_advisor.check_destination(destination name, with_assumed boolean)
RETURNS name
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF with_assumed AND destination IN
		(SELECT a.tablespace FROM tablespace_advisor.assumed_tablespaces() a)
	THEN
		RETURN destination;
	END IF;
	RETURN tablespace_advisor.check_tablespace(destination);
END
$$;
COMMENT ON FUNCTION tablespace_advisor.check_destination(name, boolean) IS
	'check_tablespace(), which with_assumed takes those of assume_tablespace(), too';

/* The reason of the row that has the statement stays a line. */
CREATE FUNCTION tablespace_advisor.tell_who_probes(caller oid, advice @extschema@.placement_advice)
RETURNS @extschema@.placement_advice
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	who text;
BEGIN
	IF advice.statement IS NULL THEN
		RETURN advice;
	END IF;
	who := tablespace_advisor.who_may_probe(pg_get_userbyid(caller));
	advice.reason := tablespace_advisor.one_line(advice.reason, 80 - length(who)) || who;
	RETURN advice;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.tell_who_probes(oid, @extschema@.placement_advice) IS
	'an advice to probe first, and who may, if this role may not';

CREATE FUNCTION tablespace_advisor.gather_advice(
	caller oid,
	target regclass,
	destination name,
	space_budget text,
	observe interval,
	with_evidence boolean,
	with_assumed boolean DEFAULT false,
	history interval DEFAULT '1 day')
RETURNS TABLE (advice @extschema@.placement_advice, evidence jsonb)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET max_parallel_workers_per_gather = 0
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	to_tablespace name := tablespace_advisor.check_destination(destination, with_assumed);
	budget_bytes bigint := tablespace_advisor.check_budget(space_budget);
	c pg_class;
	seen record;
	tablespaces tablespace_advisor.tablespace_fact[];
	relations tablespace_advisor.relation_fact[];
	targets oid[];
	tables oid[];
	considered regclass[];
	unread name[] := '{}';
BEGIN
	IF target IS NOT NULL THEN
		c := tablespace_advisor.check_target(target);
	END IF;
	tablespaces := array(SELECT f FROM tablespace_advisor.tablespace_facts(
		caller, coalesce(c.relowner, caller)) f);
	IF target IS NULL THEN
		tables := array(SELECT t FROM tablespace_advisor.tables_with_faults(tablespaces) t
			UNION SELECT r.heap FROM tablespace_advisor.standby_reads() r);
	ELSE
		targets := array(SELECT l FROM tablespace_advisor.leaves_of(target) l);
		tables := array(SELECT coalesce(i.indrelid, t)
			FROM unnest(targets) t LEFT JOIN pg_index i ON i.indexrelid = t);
	END IF;
	SELECT * INTO seen FROM tablespace_advisor.gather_load(observe, tables, history);
	tablespaces := array(SELECT f FROM tablespace_advisor.with_present_latency(
		tablespaces, seen.devices) f);
	tablespaces := tablespaces || array(SELECT f
		FROM tablespace_advisor.assumed_facts(tablespaces) f WHERE with_assumed);
	unread := array(SELECT t FROM tablespace_advisor.wanted_tablespaces(
		tablespaces, seen.rates) t WHERE target IS NULL);
	tables := array(SELECT t FROM tablespace_advisor.tables_of_interest(
		tables, unread, seen.rates, target IS NULL) t);
	relations := array(SELECT f FROM tablespace_advisor.relation_facts(seen.rates, tables) f);
	/* what sessions wait is not what reads take where others read for them */
	IF coalesce(current_setting('io_method', true), 'sync') = 'sync' THEN
		tablespaces := array(SELECT f FROM tablespace_advisor.with_timed_latency(
			tablespaces, relations, seen.load) f);
	END IF;
	IF EXISTS (SELECT FROM tablespace_advisor.standby_reads()) THEN
		relations := array(SELECT f FROM tablespace_advisor.with_standby_reads(relations) f);
	END IF;
	IF target IS NOT NULL THEN
		considered := array(SELECT f.relation FROM tablespace_advisor.elements(relations) f
			WHERE f.relation IN (SELECT unnest(targets)) OR f.table_relation IN (SELECT unnest(targets)));
		relations := array(SELECT CASE WHEN f.relation IN (SELECT unnest(considered))
			THEN tablespace_advisor.measure_bloat(f) ELSE f END FROM tablespace_advisor.elements(relations) f);
	ELSE
		considered := array(SELECT f.relation FROM tablespace_advisor.elements(relations) f
			LEFT JOIN unnest(tablespaces) s ON s.tablespace = f.tablespace
			WHERE tablespace_advisor.is_of_interest(f) OR s.available_bytes < 0
				OR f.tablespace = ANY (unread));
	END IF;
	RETURN QUERY SELECT CASE WHEN (j.advice).action = 'probe first'
			THEN tablespace_advisor.tell_who_probes(caller, j.advice) ELSE j.advice END, j.evidence
	FROM tablespace_advisor.judge_placement(relations, considered, tablespaces,
		tablespace_advisor.load_as_seen_by(seen.load, caller), to_tablespace, budget_bytes, target IS NULL, with_evidence) j
	/* what nobody uses is only told of if it makes room */
	WHERE cardinality(unread) = 0 OR (j.advice).action <> 'keep'
		OR (j.advice).reads_per_s > 0 OR (j.advice).writes_per_s > 0 OR (j.advice).cached_fraction IS NOT NULL;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.gather_advice(oid, regclass, name, text, interval, boolean, boolean, interval) IS
	'advice for a role on a relation, or on the whole database (NULL); see advise_placement(); evidence is NULL without with_evidence; rests on samples of so long at most (history); with_assumed: also to tablespaces that the session assumes';

CREATE FUNCTION tablespace_advisor.expected_savings(
	caller oid,
	target regclass,
	destination name)
RETURNS TABLE (relation oid, tablespace text, action text, saved_ms_per_s float8)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT (g.advice).relation, (g.advice).to_tablespace, (g.advice).action,
		(g.advice).saved_ms_per_s
	FROM tablespace_advisor.gather_advice(caller, target, destination, NULL, NULL, false) g
$$;
COMMENT ON FUNCTION tablespace_advisor.expected_savings(oid, regclass, name) IS
	'what moves ask of the advice: what it would do with a relation and its indexes, and what that would save';
/*
 * src/advise/indexes.sql
 *
 * What an index is there for, which other one could replace it, and what it takes
 * when it is built anew.  Nothing here takes a lock on a relation it looks at:
 * advice must not wait behind somebody's ALTER TABLE.  (So definitions are
 * compared as the catalog stores them, pg_get_expr() would lock.)
 */

/*
 * needed_for says why an index must not be dropped even if no scan uses it:
 * what it enforces or supports happens without a scan that is counted.
 */
CREATE VIEW tablespace_advisor.index_role AS
SELECT i.indexrelid, i.indrelid,
	CASE
		WHEN i.indisprimary THEN 'the primary key'
		WHEN i.indisexclusion THEN 'an exclusion constraint'
		WHEN i.indisunique THEN 'uniqueness'
		WHEN i.indisreplident THEN 'the replica identity'
		WHEN c.relispartition THEN 'the partitioned index it is attached to'
		WHEN EXISTS
			(SELECT FROM pg_constraint k
				WHERE k.conrelid = i.indrelid AND k.contype = 'f'
					AND k.conkey <@ (i.indkey::int2[])[0:cardinality(k.conkey) - 1])
			THEN 'a foreign key: deletes of referenced rows use it'
	END AS needed_for,
	i.indisreplident OR c.relispartition
		OR EXISTS (SELECT FROM pg_constraint k
			WHERE k.conindid = i.indexrelid) AS is_pinned,
	CASE
		WHEN i.indisvalid THEN NULL
		WHEN EXISTS (SELECT FROM pg_stat_progress_create_index p
			WHERE p.relid = i.indrelid) THEN 'being built'
		ELSE 'invalid'
	END AS unusable,
	concat_ws(' ', c.relam, i.indkey, i.indnkeyatts, i.indclass,
		i.indcollation, i.indoption,
		regexp_replace(i.indexprs::text, ' :location -?[0-9]+', '', 'g'),
		'WHERE ' || regexp_replace(i.indpred::text, ' :location -?[0-9]+', '', 'g'))
		AS definition,
	i.indisunique, i.indnullsnotdistinct, i.indimmediate, i.indisexclusion
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relkind = 'i';

COMMENT ON VIEW tablespace_advisor.index_role IS
	'what an index is there for besides being scanned, and whether it can be used; is_pinned: other objects depend on this very index, another with the same definition could not stand in for it';

GRANT SELECT ON tablespace_advisor.index_role TO pg_monitor;

/*
 * Of indexes with one definition the one that is hardest to replace stays.
 * Definitions, which may be long and many, are made once and compared by hash.
 * plpgsql, which plans for as many tables as there are.
 */
CREATE FUNCTION tablespace_advisor.duplicate_indexes(tables oid[])
RETURNS TABLE (indexrelid oid, indrelid oid, duplicate_of oid)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY WITH several AS MATERIALIZED (
		SELECT i.indrelid FROM unnest(tables) t JOIN pg_index i ON i.indrelid = t
		GROUP BY i.indrelid HAVING count(*) > 1
	), role AS MATERIALIZED (
		SELECT r.indexrelid, r.indrelid, r.indisunique, r.indimmediate,
			r.indnullsnotdistinct, r.unusable, r.is_pinned,
			sha256(convert_to(r.definition, 'UTF8')) AS definition,
			pg_stat_get_numscans(r.indexrelid) AS scans
		FROM several t JOIN tablespace_advisor.index_role r ON r.indrelid = t.indrelid
	)
	SELECT DISTINCT ON (i.indexrelid) i.indexrelid, i.indrelid, o.indexrelid
	FROM role i
	JOIN role o ON o.indrelid = i.indrelid AND o.definition = i.definition
	WHERE NOT i.is_pinned AND o.indexrelid <> i.indexrelid AND o.unusable IS NULL
		AND (NOT i.indisunique OR (o.indisunique AND o.indimmediate
			AND o.indnullsnotdistinct = i.indnullsnotdistinct))
		AND (o.is_pinned, o.indisunique, o.scans, i.indexrelid::bigint)
			> (i.is_pinned, i.indisunique, i.scans, o.indexrelid::bigint)
	ORDER BY i.indexrelid, o.is_pinned DESC, o.indisunique DESC, o.scans DESC, o.indexrelid;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.duplicate_indexes(oid[]) IS
	'indexes of these tables that another one of their table could replace, having the same definition';

/*
 * Bytes that a B-tree with these entries takes when it is built: 8 bytes of
 * tuple header, 4 of line pointer, pages filled to the fillfactor.  Equal
 * keys, which the server would store together, are not counted on, so that
 * the estimate is rather too large and bloat rather overlooked.
 */
CREATE FUNCTION tablespace_advisor.estimate_btree_bytes(entries float8, key_bytes float8, fillfactor float8)
RETURNS bigint
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE WHEN entries > 0 THEN
		((2 + ceil(entries * (12 + 8 * ceil(key_bytes / 8))
			/ ((current_setting('block_size')::float8 - 40) * fillfactor / 100)) * 1.005)
			* current_setting('block_size')::float8)::bigint END;
END;
COMMENT ON FUNCTION tablespace_advisor.estimate_btree_bytes(float8, float8, float8) IS
	'bytes of a B-tree just built, from the number of entries, bytes of a key and fillfactor in percent; NULL when there are no entries';

/* One summary of some 32 bytes for 128 heap blocks, and two pages besides. */
CREATE FUNCTION tablespace_advisor.estimate_brin_bytes(heap_bytes bigint)
RETURNS bigint
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT ((3 + ceil(ceil(heap_bytes / current_setting('block_size')::float8 / 128)
			* 32 / current_setting('block_size')::float8))
		* current_setting('block_size')::float8)::bigint;
END;
COMMENT ON FUNCTION tablespace_advisor.estimate_brin_bytes(bigint) IS
	'bytes of a BRIN index with default parameters on one column of fixed width of a heap of that size';
/*
 * src/advise/judge.sql
 *
 * What is found of one relation if bytes were free, as a word; verdicts.sql has
 * what to do about it and the sentence.  The order of the cases matters: what
 * would be wrong whatever the storage comes first, what would only spoil a good
 * move last.
 *
 * These are asked of every relation in every tablespace: their bodies are such
 * that the planner puts them into the query.
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

CREATE FUNCTION tablespace_advisor.probe_statement(VARIADIC tablespaces name[])
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE cardinality(n.names)
		WHEN 1 THEN format('SELECT * FROM %s.probe_tablespace(tablespace => %L::pg_catalog.name)',
			'@extschema@', n.names[1])
		ELSE format('SELECT p.* FROM pg_catalog.unnest(%L::pg_catalog.name[]) t, %s.probe_tablespace(tablespace => t) p',
			n.names, '@extschema@')
		END
	FROM (SELECT array_remove(tablespaces, NULL) AS names) n
	WHERE cardinality(n.names) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.probe_statement(name[]) IS
	'the call that measures these tablespaces; nulls are left out';

/*
 * A probe that was made and is not to be trusted is not asked for again.  What
 * counters or the server's timing say stands in for one, as far as it goes.
 */
CREATE FUNCTION tablespace_advisor.to_be_probed(f tablespace_advisor.tablespace_fact)
RETURNS name
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE WHEN f.caveat IS NULL AND (f.random_read_us IS NULL
		OR f.latency_from IN ('counters', 'timing')) THEN f.tablespace END;
END;
COMMENT ON FUNCTION tablespace_advisor.to_be_probed(tablespace_advisor.tablespace_fact) IS
	'a tablespace that a probe would tell something of: none was made; NULL for others';

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

/* Whether an index has grown to twice what it needs, and by 8 MB or more. */
CREATE FUNCTION tablespace_advisor.is_bloated(a tablespace_advisor.relation_fact)
RETURNS boolean
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT coalesce(a.rebuilt_bytes < a.size_bytes / 2
		AND a.size_bytes - a.rebuilt_bytes >= 8 * 1048576, false);
END;
COMMENT ON FUNCTION tablespace_advisor.is_bloated(tablespace_advisor.relation_fact) IS
	'whether an index takes twice what it would after a rebuild, and 8 MB more';

/*
 * What is wrong with an index wherever it lies.  A BRIN index is spoken of where
 * it would be 50 times smaller and save 64 MB: less is not worth a DBA's time.
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
	'what is wrong with an index wherever it lies, or that a relation is being moved; NULL: nothing';

/*
 * What speaks for or against moving it.  Below 5 % of a table's read time nothing
 * moves, unless it takes less than its share of the bytes, and saves 1 %.
 *
 * The server's timing includes what the system's cache serves: a device takes no
 * less.  So it may show that another tablespace is faster, never that it is not.
 */
CREATE FUNCTION tablespace_advisor.move_finding(
	a tablespace_advisor.relation_fact,
	e tablespace_advisor.placement_estimate,
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact,
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
		WHEN e.device_share <= 0.01 THEN 'in system cache'
		WHEN bottleneck IS NOT NULL THEN 'not storage-bound'
		WHEN dest.latency_from = 'timing' OR source.latency_from = 'timing'
			AND (e.is_faster IS NOT TRUE OR e.saved_low_ms_per_s <= 0) THEN 'not probed'
		WHEN e.saved_ms_per_s > 0 AND (e.is_faster IS NOT TRUE OR e.saved_low_ms_per_s <= 0)
			THEN 'within noise'
		WHEN e.is_faster IS NOT TRUE THEN 'not faster'
		WHEN e.is_saturated THEN 'saturated'
		WHEN e.saved_percent IS NULL THEN 'table not probed'
		WHEN e.saved_percent < 5 AND (e.saved_percent < 1 OR e.bytes_percent IS NULL
			OR e.saved_percent < e.bytes_percent) THEN 'too little'
		WHEN e.saved_ms_per_s / 1000 * 604800 < e.move_seconds THEN 'not repaid'
		WHEN dest.tablespace = ANY (a.left_lately) THEN 'left lately'
		WHEN a.obstacle IS NOT NULL THEN 'obstacle'
		ELSE 'faster'
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.move_finding(tablespace_advisor.relation_fact, tablespace_advisor.placement_estimate, tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact, name, text) IS
	'why to move a relation if bytes were free (faster), or why not; arguments are its facts, its estimate in the destination (dest), the facts on both tablespaces; destination: as the caller gave it; bottleneck: see other_bottleneck()';
/*
 * src/advise/lines.sql
 *
 * Advice as lines of text, as EXPLAIN prints a plan, short or with all that it
 * rests on.  It says nothing that the rows of advice and their evidence do not.
 */
CREATE FUNCTION tablespace_advisor.advice_rows()
RETURNS SETOF tablespace_advisor.advice_row
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_advice_rows';
COMMENT ON FUNCTION tablespace_advisor.advice_rows() IS
	'rows of advise_placement() with what placement_evidence() says of them, from one look';
REVOKE ALL ON FUNCTION tablespace_advisor.advice_rows() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tablespace_advisor.advice_rows() TO pg_monitor;

/*
 * A row's share of the time that sessions wait.  Milliseconds per second, which
 * rows have for programs, add up over sessions and say little to a person.
 */
CREATE FUNCTION tablespace_advisor.waiting_sessions(ms_per_s float8, what text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN ms_per_s IS NULL THEN format('how long %s take is not known', what)
		WHEN ms_per_s < 0.05 THEN format('no session waits for %s', what)
		WHEN ms_per_s < 100 THEN format('a session waits for %s %s %% of the time',
			what, tablespace_advisor.two_digits(ms_per_s / 10))
		WHEN tablespace_advisor.two_digits(ms_per_s / 1000) = '1'
			THEN format('one session waits for %s', what)
		ELSE format('%s sessions wait for %s',
			tablespace_advisor.two_digits(ms_per_s / 1000), what) END
$$;
COMMENT ON FUNCTION tablespace_advisor.waiting_sessions(float8, text) IS
	'how many sessions wait, on average, for what takes these milliseconds in each second, as text';

/* Others who keep it busy show in the device's counters, not in the probe. */
CREATE FUNCTION tablespace_advisor.latency_there(dest jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN dest -> 'tablespace' IS NULL THEN ''
		WHEN dest -> 'device_us' IS NULL
			THEN format('; %I: not probed', dest ->> 'tablespace')
		ELSE format(', %s in %I (%s)', tablespace_advisor.pretty_us(dest -> 'device_us'),
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
	'what reads take in a destination, and how that is known, as text, from that part of the evidence';

/* What the advice on a relation rests on, a line for each kind of fact. */
CREATE FUNCTION tablespace_advisor.detail_lines(a @extschema@.placement_advice, e jsonb)
RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT line FROM (VALUES
		(CASE WHEN a.reads_per_s > 0 AND e #> '{from,device_us}' IS NOT NULL THEN
			format('%s reads/s from the device%s', tablespace_advisor.three_digits(a.reads_per_s
				* (e #>> '{from,device_share}')::float8),
				/* hardly any: what they take says nothing of the others */
				CASE WHEN e ->> 'finding' IS DISTINCT FROM 'in system cache' THEN format(': %s here (%s%s)%s',
					tablespace_advisor.pretty_us(e #> '{from,device_us}'),
					CASE e #>> '{from,latency_from}'
						WHEN 'counters' THEN format('%s in the window by the device''s counters',
							tablespace_advisor.pretty_us(e #> '{from,probed_us}'))
						WHEN 'timing' THEN 'by the server''s timing, less what caches serve'
						ELSE format('probed %s at depth %s',
							tablespace_advisor.pretty_us(e #> '{from,probed_us}'),
							tablespace_advisor.two_digits((e #>> '{from,depth}')::float8)) END,
					coalesce(', x ' || nullif(tablespace_advisor.three_digits(
						e #> '{from,time_correction}'), '1') || ' as timed', ''),
					tablespace_advisor.latency_there(e -> 'to')) END)
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
			format('%s row versions/s written%s%s',
				tablespace_advisor.three_digits(a.writes_per_s),
				CASE WHEN e #> '{activity,hot_fraction}' IS NOT NULL THEN
					format(', %s %% of updates are HOT', round(100
						* (e #>> '{activity,hot_fraction}')::numeric)) ELSE '' END,
				CASE WHEN a.action = 'move'
					AND (e #>> '{estimate,extra_write_ms_per_s}')::float8 > 0 THEN
					format('; writing there takes %s %% of the table''s read time more',
						coalesce(tablespace_advisor.two_digits(100
							* (e #>> '{estimate,extra_write_ms_per_s}')::float8
							/ nullif(e #>> '{estimate,table_read_ms_per_s}', '0')::float8), '?'))
				ELSE '' END)
		END),
		(CASE WHEN (e #>> '{size,toast_bytes}')::bigint > 0 THEN
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
					THEN 'the rate of earlier moves' ELSE 'probed rates' END,
				pg_size_pretty((e #>> '{move,wal_bytes}')::bigint),
				pg_size_pretty((e #>> '{move,peak_bytes}')::bigint))
		END)
	) l (line) WHERE line IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.detail_lines(@extschema@.placement_advice, jsonb) IS
	'what the advice on one relation rests on';

/*
 * Shares in an answer on one relation are of what its table takes, as the limits
 * are that verdicts rest on, else of what all take.
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
 * The relations, in columns: what to do, and of a move where to, what it saves
 * and how long it takes, the reason below.  Names are qualified unless they are
 * of the target's own schema.
 */
CREATE FUNCTION tablespace_advisor.relation_lines(
	target regclass,
	advice tablespace_advisor.advice_row[],
	in_short boolean)
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
					/ nullif(whole.ms, 0)) || ' %', '') AS saved,
			CASE WHEN (a.advice).move_seconds < 1 THEN 'under 1 s'
				ELSE coalesce(tablespace_advisor.pretty_seconds((a.advice).move_seconds), '?')
				END AS duration
		FROM (SELECT tablespace_advisor.whole_read_ms(target, advice) AS ms OFFSET 0) whole
		CROSS JOIN unnest(advice) WITH ORDINALITY a (advice, evidence, n)
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
COMMENT ON FUNCTION tablespace_advisor.relation_lines(regclass, tablespace_advisor.advice_row[], boolean) IS
	'a line on each relation, of a move with its reason; unless in_short also what the advice rests on';

/* From when to when, and what moves have to do with that. */
CREATE FUNCTION tablespace_advisor.window_bounds(e jsonb, in_short boolean)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT concat(
		CASE WHEN NOT in_short THEN ', from ' || to_char(w.start, w.style) END,
		CASE WHEN e ->> 'source' = 'samples'
			THEN ', the last at ' || to_char(w.finish, w.style) END,
		CASE WHEN w.start < w.moved_at THEN '; there are no two since the move that ended at '
			ELSE ', all since the move that ended at ' END || to_char(w.moved_at, w.style))
	FROM (SELECT (e ->> 'start')::timestamptz AS start, (e ->> 'end')::timestamptz AS finish,
		(e ->> 'moved_at')::timestamptz AS moved_at, 'YYYY-MM-DD HH24:MI' AS style) w
$$;
COMMENT ON FUNCTION tablespace_advisor.window_bounds(jsonb, boolean) IS
	'begin and end of the window, and the move it begins after or does not know of, as text';

/* The window, and unless in short what sessions did in it. */
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
		(CASE WHEN NOT in_short THEN
			'Standbys: what they scan and read is not counted: ' || (e ->> 'standbys') || '.'
		END)
	) l (line) WHERE line IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.window_lines(jsonb, boolean) IS
	'the lines on the window, from the evidence of any row';

/* What is spent on reading, and what the moves together save of it. */
CREATE FUNCTION tablespace_advisor.headline(target regclass, advice tablespace_advisor.advice_row[])
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('%s: %s%s; %s%s', coalesce(target::text, 'database ' || quote_ident(current_database())),
		CASE WHEN NOT s.is_whole AND s.reading >= 0.05 THEN 'at least ' ELSE '' END,
		tablespace_advisor.waiting_sessions(s.reading,
			CASE WHEN target IS NULL THEN 'reads' ELSE 'its reads' END),
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
	FROM (SELECT count(*) FILTER (WHERE (a.advice).action = 'move') AS moves,
			count(*) FILTER (WHERE (a.advice).action = 'probe first') AS probes,
			sum((a.advice).read_ms_per_s) AS reading,
			tablespace_advisor.whole_read_ms($1, $2) AS whole,
			bool_and((a.advice).read_ms_per_s IS NOT NULL) AS is_whole,
			sum((a.advice).saved_ms_per_s) FILTER (WHERE (a.advice).action = 'move') AS saved
		FROM unnest(advice) a) s
$$;
COMMENT ON FUNCTION tablespace_advisor.headline(regclass, tablespace_advisor.advice_row[]) IS
	'the first line of the account';

/* What moves could save at most, and what the choice among them leaves. */
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
			sum((a.advice).read_ms_per_s) FILTER (WHERE (a.advice).kind = 'heap') AS heap_reading,
			bool_and((a.evidence #>> '{choice,is_exact}')::boolean)
				FILTER (WHERE (a.advice).action = 'move') AS is_exact,
			max((a.evidence #>> '{choice,bound_ms_per_s}')::float8) AS bound
		FROM unnest(advice) a
	)
	SELECT line FROM s CROSS JOIN LATERAL (VALUES
		(CASE WHEN s.is_whole AND s.reading > 0 AND s.indexes > 0
				AND (target IS NULL OR s.heap_reading IS NOT NULL) THEN
			format('Ceiling: moving all indexes could save up to %s %% of this read time; %s %s %% of it.',
				tablespace_advisor.two_digits(100 * coalesce(s.index_saves, 0) / s.reading),
				CASE WHEN target IS NULL THEN 'tables are' ELSE 'the table is' END,
				tablespace_advisor.two_digits(100 * coalesce(s.heap_reading, 0) / s.reading))
		END),
		(CASE WHEN s.is_exact THEN 'Choice: no other set of moves that fits saves more.'
			WHEN s.bound IS NOT NULL THEN
			format('Choice: no other set of moves that fits saves more than %s %%.',
				coalesce(tablespace_advisor.two_digits(100 * s.bound / nullif(
					tablespace_advisor.whole_read_ms(target, advice), 0)), '?'))
		END)) l (line)
	WHERE line IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.limit_lines(regclass, tablespace_advisor.advice_row[]) IS
	'the lines on what no move, or no other choice of moves, could save';

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
	'the lines on what the advice does not speak of';

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
	'what helps where a probe is missing that was made';

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
BEGIN
	RETURN QUERY SELECT tablespace_advisor.headline(target, advice);
	RETURN QUERY SELECT l FROM tablespace_advisor.relation_lines(
		target, advice[:shown], in_short) l;
	IF cardinality(advice) > shown THEN
		RETURN QUERY SELECT format('  and %s more (SELECT * FROM %s.advise_placement(%s) has all)',
			cardinality(advice) - shown, '@extschema@',
			coalesce(format('target => %L::pg_catalog.regclass', target), ''));
	END IF;
	IF NOT in_short THEN
		RETURN QUERY SELECT l FROM tablespace_advisor.limit_lines(target, advice) l;
	END IF;
	IF cardinality(advice) > 0 THEN
		RETURN QUERY SELECT l FROM tablespace_advisor.window_lines(
			advice[1].evidence -> 'window', in_short) l;
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
	'the lines of explain_placement(), or in_short of advise_index_placement(); more: what else is to be said before the statements';

/*
 * src/advise/lists.sql
 *
 * Facts are handed on as arrays, whose length the planner does not know: it takes
 * unnest() of one for ten rows, and copies what is long to join it with what is
 * short.
 */
CREATE FUNCTION tablespace_advisor.elements(list anyarray)
RETURNS SETOF anyelement
LANGUAGE internal STRICT IMMUTABLE PARALLEL SAFE ROWS 10000
AS 'array_unnest';
COMMENT ON FUNCTION tablespace_advisor.elements(anyarray) IS
	'unnest() of a list that may be long, which the planner takes for 10 000 rows';
/*
 * src/advise/moves.sql
 *
 * Which of the moves that could be worth it are made, when not all of them fit.
 */
CREATE FUNCTION tablespace_advisor.plan_moves(
	present bigint[],
	sizes bigint[],
	moved_sizes bigint[],
	cell_items bigint[],
	cell_places bigint[],
	cell_saved float8[],
	rooms bigint[],
	free bigint[],
	budget bigint,
	tables bigint[],
	cell_seconds float8[],
	table_ms float8[],
	table_bytes float8[],
	OUT item bigint,
	OUT place bigint,
	OUT nth int,
	OUT bundle int,
	OUT verdict int,
	OUT makes_room_for bigint,
	OUT bound float8,
	OUT is_exact boolean,
	OUT price float8)
RETURNS SETOF record
LANGUAGE C STRICT IMMUTABLE
AS 'MODULE_PATHNAME', 'tsa_plan_moves';
COMMENT ON FUNCTION tablespace_advisor.plan_moves(bigint[], bigint[], bigint[], bigint[], bigint[], float8[], bigint[], bigint[], bigint, bigint[], float8[], float8[], float8[]) IS
	'the moves that lead from where relations are (present: place of each, from 1) to where all together are read fastest (plan_moves.c); cells: where each could be, what that saves and how long the move takes; nth: order, 0: not made, verdict: 0 made, 1 saves too little, 2 not repaid within a week, 3 no order in which each fits; price: what one more byte there would save. Errors: 2202E lists of different length, 22023 bad numbers, 54000 too many places, 53200 out of memory';

/*
 * Tablespaces that are on one device have one room: the least that is free by
 * any of them.
 */
CREATE FUNCTION tablespace_advisor.tablespace_rooms(
	tablespaces tablespace_advisor.tablespace_fact[],
	OUT tablespace name,
	OUT place bigint,
	OUT room bigint,
	OUT free bigint)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH device AS (
		SELECT f.tablespace, f.available_bytes,
			(SELECT min(o.tablespace::text COLLATE "C") FROM unnest(tablespaces) o
				WHERE o.tablespace = f.tablespace
					OR o.tablespace = ANY (f.shares_device_with)
					OR f.tablespace = ANY (o.shares_device_with)) AS device
		FROM unnest(tablespaces) f
	)
	SELECT d.tablespace,
		row_number() OVER (ORDER BY d.tablespace::text COLLATE "C"),
		dense_rank() OVER (ORDER BY d.device),
		coalesce(min(greatest(0, d.available_bytes)) OVER (PARTITION BY d.device),
			1125899906842624)
	FROM device d
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_rooms(tablespace_advisor.tablespace_fact[]) IS
	'tablespaces with their number, the number of their device, and the bytes that are free there';

CREATE FUNCTION tablespace_advisor.placement_offers(
	candidates tablespace_advisor.placement_choice[],
	demotions tablespace_advisor.placement_choice[],
	estimates tablespace_advisor.placement_estimate[])
RETURNS TABLE (relation regclass, destination name, saved float8, low float8,
	seconds float8, goes_down boolean)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	SELECT o.relation, o.destination, o.saved_ms_per_s,
		CASE WHEN o.goes_down THEN least(0, l.low) ELSE l.low END,
		coalesce(e.move_seconds, 0), o.goes_down
	FROM (SELECT c.*, false AS goes_down FROM tablespace_advisor.elements(candidates) c
		UNION ALL
		SELECT d.*, true FROM tablespace_advisor.elements(demotions) d WHERE cardinality(candidates) > 0) o
	LEFT JOIN tablespace_advisor.elements(estimates) e ON e.relation = o.relation
		AND e.destination = o.destination
	CROSS JOIN LATERAL (SELECT coalesce(e.saved_low_ms_per_s, o.saved_ms_per_s) AS low) l
$$;
COMMENT ON FUNCTION tablespace_advisor.placement_offers(tablespace_advisor.placement_choice[], tablespace_advisor.placement_choice[], tablespace_advisor.placement_estimate[]) IS
	'what could be moved where, with milliseconds per second saved, at the lower end of the interval (low), and seconds of work: what saves, and what goes down for it';

/* The bytes that are left on each device when these moves are made. */
CREATE FUNCTION tablespace_advisor.room_left(
	tablespaces tablespace_advisor.tablespace_fact[],
	moved tablespace_advisor.placement_choice[])
RETURNS bigint[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS MATERIALIZED (
		SELECT r.* FROM tablespace_advisor.tablespace_rooms(tablespaces) r
	), taken AS (
		SELECT p.room, sum(m.bytes) AS bytes
		FROM unnest(moved) m JOIN place p ON p.tablespace = m.destination
		GROUP BY p.room
	)
	SELECT array_agg(r.free ORDER BY r.room)
	FROM (SELECT p.room, greatest(0, min(p.free) - coalesce(min(t.bytes), 0))::bigint AS free
		FROM place p LEFT JOIN taken t USING (room) GROUP BY p.room) r
$$;
COMMENT ON FUNCTION tablespace_advisor.room_left(tablespace_advisor.tablespace_fact[], tablespace_advisor.placement_choice[]) IS
	'free bytes of each device (room of tablespace_rooms()) less what these moves bring there';

CREATE FUNCTION tablespace_advisor.table_times(
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[])
RETURNS TABLE (table_relation regclass, n bigint, bytes float8, read_ms float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	SELECT a.table_relation, row_number() OVER (ORDER BY a.table_relation::oid),
		sum(a.size_bytes)::float8, coalesce(min(e.table_read_ms_per_s), 0)
	FROM tablespace_advisor.elements(relations) a
	LEFT JOIN tablespace_advisor.elements(estimates) e ON e.relation = a.relation AND e.destination IS NULL
	GROUP BY a.table_relation
$$;
COMMENT ON FUNCTION tablespace_advisor.table_times(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[]) IS
	'tables with a number, their bytes with those of their indexes, and milliseconds per second that reads of them take';

CREATE FUNCTION tablespace_advisor.bundle_finding(verdict int, low float8, goes_down boolean)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE
		WHEN verdict = 3 THEN 'no order'
		WHEN verdict = 0 AND low > 0 THEN
			CASE WHEN goes_down THEN 'makes room' ELSE 'faster' END
		WHEN goes_down THEN 'stays'
		WHEN verdict = 1 THEN 'bundle saves too little'
		WHEN verdict = 2 THEN 'bundle not repaid'
		ELSE 'bundle within noise' END;
END;
COMMENT ON FUNCTION tablespace_advisor.bundle_finding(int, float8, boolean) IS
	'what plan_moves() and the lower end of a bundle''s interval come to for one of its moves';

/*
 * Where all together are read fastest, of what candidates and demotions offer:
 * a relation that is in neither stays.  evicted: moves that are made before.
 */
CREATE FUNCTION tablespace_advisor.choose_moves(
	candidates tablespace_advisor.placement_choice[],
	demotions tablespace_advisor.placement_choice[],
	evicted tablespace_advisor.placement_choice[],
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	budget_bytes bigint)
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	WITH place AS MATERIALIZED (
		SELECT r.* FROM tablespace_advisor.tablespace_rooms(tablespaces) r
	), offer AS MATERIALIZED (
		SELECT o.* FROM tablespace_advisor.placement_offers(candidates, demotions, estimates) o
	), tables AS MATERIALIZED (
		SELECT t.* FROM tablespace_advisor.table_times(relations, estimates) t
	), item AS MATERIALIZED (
		SELECT a.relation, a.size_bytes, p.place AS present, t.n AS table_n,
			tablespace_advisor.moved_bytes(a) AS moved_bytes,
			row_number() OVER (ORDER BY a.relation::oid) AS n
		FROM tablespace_advisor.elements(relations) a
		JOIN place p ON p.tablespace = a.tablespace
		JOIN tables t ON t.table_relation = a.table_relation
		WHERE a.relation IN (SELECT o.relation FROM offer o) AND a.size_bytes IS NOT NULL
	), items AS (
		SELECT array_agg(i.present) AS present, array_agg(i.size_bytes) AS sizes,
			array_agg(i.moved_bytes) AS moved, array_agg(i.table_n) AS tables
		FROM (SELECT i.* FROM item i ORDER BY i.n) i
	), cell AS MATERIALIZED (
		SELECT i.n, p.place, o.saved, o.low, o.seconds, o.goes_down
		FROM offer o
		JOIN item i ON i.relation = o.relation
		JOIN place p ON p.tablespace = o.destination
	), cells AS (
		SELECT array_agg(c.n) AS n, array_agg(c.place) AS place,
			array_agg(c.saved) AS saved, array_agg(c.seconds) AS seconds
		FROM (SELECT c.* FROM cell c ORDER BY c.n, c.place) c
	), table_time AS (
		SELECT array_agg(t.bytes) AS bytes, array_agg(t.read_ms) AS read_ms
		FROM (SELECT t.* FROM tables t ORDER BY t.n) t
	), planned AS (
		/* of a bundle the lower ends of the intervals together */
		SELECT x.*, c.saved, c.goes_down,
			sum(c.low) OVER (PARTITION BY nullif(x.bundle, 0)) AS low
		FROM items s
		CROSS JOIN cells l
		CROSS JOIN table_time t
		CROSS JOIN LATERAL tablespace_advisor.plan_moves(
			s.present, s.sizes, s.moved, l.n, l.place, l.saved,
			array(SELECT p.room FROM place p ORDER BY p.place),
			tablespace_advisor.room_left(tablespaces, evicted),
			coalesce(budget_bytes, 4611686018427387904), s.tables, l.seconds,
			t.read_ms, t.bytes) x
		JOIN cell c ON c.n = x.item AND c.place = x.place
	)
	SELECT i.relation, p.tablespace, 'move',
		x.saved, i.moved_bytes, x.bound, x.is_exact,
		CASE WHEN f.finding IN ('makes room', 'faster') THEN x.nth END,
		nullif(x.bundle, 0), up.relation, x.price * 1073741824, f.finding
	FROM planned x
	JOIN item i ON i.n = x.item
	JOIN place p ON p.place = x.place
	LEFT JOIN item up ON up.n = x.makes_room_for
	CROSS JOIN LATERAL (SELECT tablespace_advisor.bundle_finding(
		x.verdict, x.low, x.goes_down) AS finding) f
	WHERE f.finding <> 'stays'
$$;
COMMENT ON FUNCTION tablespace_advisor.choose_moves(tablespace_advisor.placement_choice[], tablespace_advisor.placement_choice[], tablespace_advisor.placement_choice[], tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], bigint) IS
	'of candidates (what would save) and demotions (what could make room for them) those to move, each to one tablespace, so that they fit into the room of each and what saves into the budget (NULL: no limit); bound_ms_per_s: no choice saves more; is_exact: none saves more than this one; turn is NULL where a move is not made, and finding says why';
/*
 * src/advise/offers.sql
 *
 * What could be moved, up and down, and what is to be said of all else.
 *
 * How long the lists are is not known when these are planned: joins of lists are
 * not to be nested loops.
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
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	SELECT a.relation, e.destination, 'move', e.saved_ms_per_s,
		e.moved_bytes, NULL::float8, NULL::boolean,
		NULL::int, NULL::int, NULL::regclass, NULL::float8, 'faster'
	FROM (SELECT tablespace_advisor.other_bottleneck(load) AS bottleneck OFFSET 0) o
	CROSS JOIN tablespace_advisor.elements(estimates) e
	JOIN tablespace_advisor.elements(relations) a ON a.relation = e.relation
	JOIN unnest(tablespaces) s ON s.tablespace = a.tablespace
	JOIN unnest(tablespaces) d ON d.tablespace = e.destination
	WHERE ($5 IS NULL OR e.destination = $5)
		AND e.is_faster AND e.saved_low_ms_per_s > 0
		AND tablespace_advisor.index_finding(a) IS NULL
		AND tablespace_advisor.move_finding(a, e, s, d, $5, o.bottleneck) = 'faster'
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
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	WITH way AS MATERIALIZED (
		SELECT s.tablespace AS source, d.tablespace AS destination
		FROM unnest(tablespaces) s CROSS JOIN unnest(tablespaces) d
		WHERE s.random_read_us IS NOT NULL AND d.random_read_us IS NOT NULL
			AND d.may_create AND d.volatile IS NOT TRUE
			AND (d.tablespace = ANY (s.shares_device_with)) IS NOT TRUE
	)
	SELECT a.relation, e.destination, 'move',
		least(0, coalesce(e.saved_ms_per_s, 0)), e.moved_bytes, NULL::float8,
		NULL::boolean, NULL::int, NULL::int, NULL::regclass, NULL::float8, 'makes room'
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
SET enable_nestloop = off
SET jit = off
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
		m.saved_ms_per_s, m.size_bytes, NULL::float8, k.is_exact,
		NULL::int, NULL::int, NULL::regclass, NULL::float8, 'too full'
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

/* What is found of each relation that is neither moved nor evicted. */
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
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
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
		/* OFFSET: first what belongs together */
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
				tablespace_advisor.move_finding(a, e, s, d, $5, o.bottleneck)) AS finding,
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
		NULL::float8, NULL::bigint, NULL::float8, NULL::boolean,
		NULL::int, NULL::int, NULL::regclass, NULL::float8, coalesce(m.finding, b.finding)
	FROM found f
	LEFT JOIN tablespace_advisor.elements(moves) m ON m.relation = f.relation
	CROSS JOIN LATERAL (SELECT CASE WHEN f.is_bloated AND f.finding <> 'no room'
			AND tablespace_advisor.finding_action(f.finding) = 'keep'
			AND f.finding NOT IN ('being built', 'under way')
		THEN 'bloated' ELSE f.finding END AS finding) b
$$;
COMMENT ON FUNCTION tablespace_advisor.other_verdicts(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name, tablespace_advisor.placement_choice[], tablespace_advisor.placement_choice[]) IS
	'what to do with each relation that is not among the moves that are made; candidates: what would be worth moving, moves: those that were chosen, and why some of them are not made (turn is NULL)';
/*
 * src/advise/placement.sql
 *
 * From facts to advice: estimate, verdict, choice under a budget.  These
 * functions look at nothing but their arguments, so that advice can be tested
 * and replayed on facts written down by hand.
 */
CREATE FUNCTION tablespace_advisor.move_statement(relation regclass, kind text, destination name, is_bloated boolean)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT format('CALL %s.%s(target => %L::pg_catalog.regclass, tablespace => %L::pg_catalog.name%s)',
		'@extschema@',
		CASE kind WHEN 'heap' THEN 'move_table_concurrently'
			ELSE 'move_indexes_concurrently' END,
		relation, destination,
		CASE WHEN is_bloated THEN ', method => ''rebuild''::pg_catalog.text' ELSE '' END);
END;
COMMENT ON FUNCTION tablespace_advisor.move_statement(regclass, text, name, boolean) IS
	'the call that moves a relation, with typed literals so that no function of others fits better';

/*
 * The rows of an advice, from what was decided of each relation; probe_relation:
 * the row that has the statement of all probes.
 */
CREATE FUNCTION tablespace_advisor.decision_rows(
	decided tablespace_advisor.placement_choice[],
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	destination name,
	database_ms float8)
RETURNS TABLE (relation regclass, advice @extschema@.placement_advice)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	WITH probe AS MATERIALIZED (
		SELECT p.relation, p.statement FROM tablespace_advisor.wanted_probes(
			decided, relations, estimates, tablespaces, $6) p
	)
	SELECT a.relation, ROW(CASE WHEN d.action = 'move' THEN d.turn END, d.action, a.relation, a.tablespace,
			CASE d.action WHEN 'move' THEN d.destination
				WHEN 'drop candidate' THEN NULL ELSE a.tablespace END,
			a.size_bytes,
			tablespace_advisor.round_to_three(s.saved_ms_per_s),
			tablespace_advisor.round_to_three(100 * s.saved_ms_per_s / nullif(database_ms, 0)),
			tablespace_advisor.one_line(coalesce(tablespace_advisor.choice_reason(d, f, load),
					tablespace_advisor.finding_reason(
						CASE WHEN d.finding = 'faster' AND tablespace_advisor.is_bloated(a)
							THEN 'bloated' ELSE d.finding END, a, e, f, t, $6, w.bottleneck,
						CASE WHEN d.finding = 'table not probed' THEN array(
							SELECT m FROM unnest(tablespaces) m
							WHERE m.tablespace = ANY (e.not_probed) ORDER BY m.tablespace) END))
				|| CASE WHEN d.action = 'move' AND t.latency_from = 'assumed'
					THEN '; it is only assumed' ELSE '' END),
			CASE d.action WHEN 'move' THEN
					CASE WHEN t.latency_from IS DISTINCT FROM 'assumed'
					THEN tablespace_advisor.move_statement(a.relation, a.kind,
						d.destination, tablespace_advisor.is_bloated(a)) END
				WHEN 'keep' THEN NULL
				WHEN 'probe first' THEN (SELECT q.statement FROM probe q WHERE q.relation = a.relation)
				ELSE tablespace_advisor.finding_statement(d.finding, a) END,
			a.kind,
			tablespace_advisor.round_to_three(a.reads_per_s),
			tablespace_advisor.round_to_three(a.writes_per_s),
			tablespace_advisor.round_to_three((a.hits_per_s + a.reads_per_s * (1 - e.device_share))
				/ nullif(a.hits_per_s + a.reads_per_s, 0)),
			tablespace_advisor.round_to_three(e.read_ms_per_s),
			CASE WHEN d.destination IS NOT NULL THEN tablespace_advisor.round_to_three(e.move_seconds) END
		)::@extschema@.placement_advice
	FROM tablespace_advisor.elements(decided) d
	CROSS JOIN (SELECT tablespace_advisor.other_bottleneck(load) AS bottleneck OFFSET 0) w
	JOIN tablespace_advisor.elements(relations) a ON a.relation = d.relation
	JOIN tablespace_advisor.elements(estimates) e ON e.relation = d.relation
		AND coalesce(e.destination, '') = coalesce(d.destination, '')
	LEFT JOIN unnest(tablespaces) f ON f.tablespace = a.tablespace
	LEFT JOIN unnest(tablespaces) t ON t.tablespace = d.destination
	/* what is not moved saves nothing, as far as anything is known of it */
	CROSS JOIN LATERAL (SELECT CASE
		WHEN d.action = 'move' THEN d.saved_ms_per_s
		WHEN d.action = 'probe first' THEN NULL
		WHEN e.read_ms_per_s IS NOT NULL THEN 0 END AS saved_ms_per_s) s
	/* names, which take long to make, of what is not read */
	ORDER BY CASE WHEN d.action = 'move' THEN d.turn END, e.read_ms_per_s DESC NULLS LAST,
		a.kind DESC, CASE WHEN e.read_ms_per_s > 0 THEN '' ELSE a.relation::text END COLLATE "C",
		a.relation::oid
$$;
COMMENT ON FUNCTION tablespace_advisor.decision_rows(tablespace_advisor.placement_choice[], tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name, float8) IS
	'rows of advice, moves first, of what was decided of each relation; turn is the rank of moves';

/* Apart from the rows, which are asked for without it as a rule. */
CREATE FUNCTION tablespace_advisor.decision_evidence(
	decided tablespace_advisor.placement_choice[],
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	loads tablespace_advisor.load_estimate[],
	places tablespace_advisor.place_load[])
RETURNS TABLE (relation regclass, evidence jsonb)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET enable_mergejoin = off
SET jit = off
SET work_mem = '64MB'
AS $$
	SELECT a.relation, tablespace_advisor.row_evidence(a, e, f, t, l, load, d, p)
		|| jsonb_build_object('not_probed', w.unmeasured)
	FROM tablespace_advisor.elements(decided) d
	CROSS JOIN (SELECT coalesce(jsonb_object_agg(u.tablespace,
			coalesce(u.caveat, 'nothing was measured there')), '{}') AS unmeasured
		FROM unnest(tablespaces) u WHERE u.random_read_us IS NULL) w
	JOIN tablespace_advisor.elements(relations) a ON a.relation = d.relation
	JOIN tablespace_advisor.elements(estimates) e ON e.relation = d.relation
		AND coalesce(e.destination, '') = coalesce(d.destination, '')
	LEFT JOIN unnest(tablespaces) f ON f.tablespace = a.tablespace
	LEFT JOIN unnest(tablespaces) t ON t.tablespace = d.destination
	LEFT JOIN unnest(loads) l ON l.tablespace = a.tablespace
	LEFT JOIN unnest(places) p ON p.tablespace
		= CASE d.action WHEN 'move' THEN d.destination ELSE a.tablespace END
$$;
COMMENT ON FUNCTION tablespace_advisor.decision_evidence(tablespace_advisor.placement_choice[], tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, tablespace_advisor.load_estimate[], tablespace_advisor.place_load[]) IS
	'what the rows of decision_rows() rest on; loads: as of estimate_load(), places: as of loads_after()';

/*
 * One statement, in the first row that asks for it: if the caller names no
 * tablespace, of all that relations could go to, lest each answer asks for another.
 */
CREATE FUNCTION tablespace_advisor.wanted_probes(
	decided tablespace_advisor.placement_choice[],
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	destination name)
RETURNS TABLE (relation regclass, statement text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	WITH asks AS MATERIALIZED (
		SELECT a.relation, a.kind, a.tablespace, d.destination, h.read_ms_per_s, h.not_probed
		FROM tablespace_advisor.elements(decided) d
		JOIN tablespace_advisor.elements(relations) a ON a.relation = d.relation
		JOIN tablespace_advisor.elements(estimates) h ON h.relation = d.relation AND h.destination IS NULL
		WHERE d.action = 'probe first'
	), target AS (
		SELECT t.tablespace FROM unnest(tablespaces) t
		WHERE $5 IS NULL AND t.may_create AND t.volatile IS NOT TRUE
			AND NOT EXISTS (SELECT FROM unnest(tablespaces) p
				WHERE p.run_id IS NOT NULL AND p.tablespace = ANY (t.shares_device_with))
	), names AS (
		SELECT array_agg(DISTINCT n.tablespace) AS names
		FROM asks CROSS JOIN LATERAL
			unnest(asks.not_probed || ARRAY[asks.tablespace, asks.destination]
				|| array(SELECT t.tablespace FROM target t)) n (tablespace)
		LEFT JOIN unnest(tablespaces) f ON f.tablespace = n.tablespace
		WHERE f.tablespace IS NULL OR tablespace_advisor.to_be_probed(f) IS NOT NULL
	)
	SELECT first.relation, tablespace_advisor.probe_statement(VARIADIC names.names)
	FROM names CROSS JOIN
		(SELECT asks.relation FROM asks
			ORDER BY asks.read_ms_per_s DESC NULLS LAST, asks.kind DESC,
				asks.relation::text COLLATE "C" LIMIT 1) first
$$;
COMMENT ON FUNCTION tablespace_advisor.wanted_probes(tablespace_advisor.placement_choice[], tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], name) IS
	'the statement that makes all probes that are asked for, and the relation in whose row it belongs; none if no probe would help';

CREATE FUNCTION tablespace_advisor.ranked_moves(
	evicted tablespace_advisor.placement_choice[],
	moves tablespace_advisor.placement_choice[])
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT m.relation, m.destination, m.action, m.saved_ms_per_s,
		m.bytes, m.bound_ms_per_s, m.is_exact,
		row_number() OVER (ORDER BY m.turn NULLS FIRST,
			m.saved_ms_per_s / nullif(m.bytes, 0) DESC NULLS FIRST,
			CASE WHEN m.turn IS NULL THEN m.relation::text END COLLATE "C")::int,
		m.bundle, m.makes_room_for, m.ms_per_s_and_gb, m.finding
	FROM (SELECT e.* FROM unnest(evicted) e
		UNION ALL SELECT m.* FROM tablespace_advisor.elements(moves) m WHERE m.turn IS NOT NULL) m
$$;
COMMENT ON FUNCTION tablespace_advisor.ranked_moves(tablespace_advisor.placement_choice[], tablespace_advisor.placement_choice[]) IS
	'evictions, then moves that are made, turn being the rank among both';

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
SET enable_nestloop = off
SET enable_mergejoin = off
SET jit = off
SET work_mem = '64MB'
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	wanted tablespace_advisor.relation_fact[];
	estimates tablespace_advisor.placement_estimate[];
	candidates tablespace_advisor.placement_choice[];
	evicted tablespace_advisor.placement_choice[] := '{}';
	moves tablespace_advisor.placement_choice[];
	decided tablespace_advisor.placement_choice[];
	loads tablespace_advisor.load_estimate[];
	places tablespace_advisor.place_load[];
	/* milliseconds per second that the database spends on reading */
	database_ms float8;
BEGIN
	wanted := relations;
	IF cardinality(considered) < cardinality(relations) THEN
		wanted := array(SELECT a FROM tablespace_advisor.elements(relations) a
			WHERE a.relation IN (SELECT c FROM tablespace_advisor.elements(considered) c));
	END IF;
	loads := array(SELECT l FROM tablespace_advisor.estimate_load(
		relations, tablespaces, load) l);
	estimates := array(SELECT e
		FROM tablespace_advisor.estimate_placement(
			relations, tablespaces, load, loads, destination IS NOT NULL) e);
	database_ms := (SELECT greatest(sum(e.read_ms_per_s),
			CASE WHEN bool_or(e.read_ms_per_s IS NULL) THEN load.read_ms_per_s END)
		FROM tablespace_advisor.elements(estimates) e WHERE e.destination IS NULL);
	places := array(SELECT p FROM tablespace_advisor.place_loads(
		relations, estimates, tablespaces, loads) p);
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
					(SELECT o.relation, o.destination FROM tablespace_advisor.elements(candidates) o)),
		evicted, relations, estimates, tablespaces, budget_bytes) c);
	places := array(SELECT p FROM tablespace_advisor.loads_after(
		moves, places, wanted, estimates, load) p);
	moves := array(SELECT m FROM tablespace_advisor.forecast_set(
		moves, places, estimates) m);
	decided := array(SELECT d FROM tablespace_advisor.ranked_moves(evicted, moves) d
		UNION ALL SELECT o FROM tablespace_advisor.other_verdicts(wanted, estimates,
			tablespaces, load, destination, candidates, evicted || moves) o);
	IF NOT with_evidence THEN
		RETURN QUERY SELECT r.advice, NULL::jsonb FROM tablespace_advisor.decision_rows(
			decided, wanted, estimates, tablespaces, load, destination, database_ms) r;
	ELSE
		RETURN QUERY SELECT r.advice, v.evidence FROM tablespace_advisor.decision_rows(decided,
			wanted, estimates, tablespaces, load, destination, database_ms) WITH ORDINALITY r
		JOIN tablespace_advisor.decision_evidence(
			decided, wanted, estimates, tablespaces, load, loads, places) v USING (relation)
		ORDER BY r.ordinality;
	END IF;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.judge_placement(tablespace_advisor.relation_fact[], regclass[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name, bigint, boolean, boolean) IS
	'advice on the relations considered, from facts handed over: relations must hold all of their tables, and all that is read in the database if reads were timed; destination NULL: any of the tablespaces; budget_bytes: what moves may fill (NULL: no limit); with_evictions: also relieve tablespaces that are over their mark; with_evidence: else evidence is NULL';
/*
 * src/advise/public.sql
 *
 * What people call.  Owners may ask about their own tables, members of
 * pg_monitor about all: advise.c checks that.
 */
CREATE FUNCTION @extschema@.advise_index_placement(
	target regclass,
	tablespace name DEFAULT NULL,
	space_budget text DEFAULT NULL,
	observe interval DEFAULT NULL)
RETURNS SETOF text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_advise_index_placement';
COMMENT ON FUNCTION @extschema@.advise_index_placement(regclass, name, text, interval) IS
	'what to do with a table (or one index, or a partitioned table''s partitions) and its indexes, what that saves and why, as lines of text that end in the statements to run; advise_placement(target => ...) has the same as rows. Errors: 42704 no such tablespace, 42P01 no such relation, 42809 neither table nor index, 42501 neither owner nor member of pg_monitor, 22023 bad budget, duration or pg_global, 22004 no target';

CREATE FUNCTION @extschema@.advise_placement(
	space_budget text DEFAULT NULL,
	observe interval DEFAULT NULL,
	target regclass DEFAULT NULL,
	tablespace name DEFAULT NULL)
RETURNS SETOF @extschema@.placement_advice
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_advise_placement';
COMMENT ON FUNCTION @extschema@.advise_placement(text, interval, regclass, name) IS
	'a row for each table (with its TOAST table) and index of the target, moves first; without target of the whole database, where what was neither read nor written has no row and timed temporary files have one without relation. Errors: 42704 no such tablespace, 42P01 no such relation, 42809 neither table nor index, 42501 neither owner nor member of pg_monitor, 22023 bad budget, duration or pg_global';

CREATE FUNCTION @extschema@.explain_placement(target regclass DEFAULT NULL)
RETURNS SETOF text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_explain_placement';
COMMENT ON FUNCTION @extschema@.explain_placement(regclass) IS
	'the advice on a relation, or on the whole database, as lines of text: what is spent on reading, who causes it, what each move would save and cost, what no move can save, and what the figures rest on. Errors as of advise_placement()';

CREATE FUNCTION @extschema@.placement_evidence(
	target regclass DEFAULT NULL,
	OUT relation regclass,
	OUT evidence jsonb)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_placement_evidence';
COMMENT ON FUNCTION @extschema@.placement_evidence(regclass) IS
	'per relation all that its advice rests on: the window and its waits, activity, sizes, probe runs and latencies with intervals, queue depths, shares served by caches, corrections, cost of the move. Errors as of advise_placement()';

COMMENT ON TABLE tablespace_advisor.placement_pin IS
	'relations that are to stay where they are: why, who said so, and until when (NULL: until unpin_placement())';

CREATE FUNCTION @extschema@.pin_placement(relation regclass, reason text DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_pin_placement';
COMMENT ON FUNCTION @extschema@.pin_placement(regclass, text) IS
	'keeps a table (with TOAST, without its indexes) or an index where it is, as far as advice goes, which repeats the reason. Errors: 42501 not the owner of the table, 42809 has no storage, 42P01 no such relation, 22004 no relation, 22001 a reason of more than 1000 characters';

CREATE FUNCTION @extschema@.unpin_placement(relation regclass)
RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_unpin_placement';
COMMENT ON FUNCTION @extschema@.unpin_placement(regclass) IS
	'ends pin_placement(); false if the relation was not pinned. Errors as of pin_placement()';
/*
 * src/advise/room.sql
 *
 * What more room in a tablespace would be worth.
 */
CREATE FUNCTION tablespace_advisor.savings_by_room(
	present bigint[],
	sizes bigint[],
	moved_sizes bigint[],
	cell_items bigint[],
	cell_places bigint[],
	cell_saved float8[],
	rooms bigint[],
	free bigint[],
	place bigint,
	steps bigint[],
	item_reads float8[],
	OUT bytes bigint,
	OUT saved float8,
	OUT relations bigint,
	OUT reads float8[])
RETURNS SETOF record
LANGUAGE C STRICT IMMUTABLE
AS 'MODULE_PATHNAME', 'tsa_savings_by_room';
COMMENT ON FUNCTION tablespace_advisor.savings_by_room(bigint[], bigint[], bigint[], bigint[], bigint[], float8[], bigint[], bigint[], bigint, bigint[], float8[]) IS
	'what the best placement saves, each move taken alone, if the room of a place has so many bytes in all (steps rise), how many relations are there then, and how often each place is read, items being read item_reads times a second; NULL where nothing fits. Other arguments and errors as of plan_moves()';

CREATE FUNCTION tablespace_advisor.curve_of(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	of_tablespace name,
	steps int)
RETURNS TABLE (bytes bigint, saved_ms_per_s float8, saved_percent float8,
	saved_per_gb float8, relations bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	WITH present AS MATERIALIZED (
		SELECT array(SELECT l FROM tablespace_advisor.estimate_load($1, $2, $3) l) AS loads
	), estimate AS MATERIALIZED (
		SELECT e.* FROM present p,
			tablespace_advisor.estimate_placement($1, $2, $3, p.loads, false, of_tablespace) e
	), loads AS MATERIALIZED (
		SELECT array(SELECT l FROM tablespace_advisor.place_loads($1,
			array(SELECT ROW(e.*)::tablespace_advisor.placement_estimate FROM estimate e
				WHERE e.destination IS NULL), $2, p.loads) l) AS loads FROM present p
	), place AS MATERIALIZED (
		SELECT r.* FROM tablespace_advisor.tablespace_rooms($2) r
	), item AS MATERIALIZED (
		SELECT a.*, s.random_read_us, s.shares_device_with, p.place AS present,
			coalesce(a.reads_per_s * e.device_share, 0) AS device_reads,
			row_number() OVER (ORDER BY a.relation::oid) AS n
		FROM tablespace_advisor.elements($1) a
		JOIN estimate e ON e.relation = a.relation AND e.destination IS NULL
		JOIN unnest($2) s ON s.tablespace = a.tablespace
		JOIN place p ON p.tablespace = a.tablespace
		WHERE a.obstacle IS NULL AND a.unusable IS NULL AND a.size_bytes IS NOT NULL
			AND s.random_read_us IS NOT NULL
	), cell AS MATERIALIZED (
		SELECT i.n, p.place, CASE WHEN e.is_faster THEN e.saved_ms_per_s
			ELSE least(0, coalesce(e.saved_ms_per_s, 0)) END AS saved
		FROM estimate e
		JOIN item i ON i.relation = e.relation
		JOIN unnest($2) d ON d.tablespace = e.destination
		JOIN place p ON p.tablespace = e.destination
		WHERE d.random_read_us IS NOT NULL AND d.volatile IS NOT TRUE
			AND (d.tablespace = ANY (i.shares_device_with)) IS NOT TRUE
			AND (e.saved_ms_per_s IS NOT NULL OR coalesce(i.reads_per_s, 0) = 0)
	), items AS MATERIALIZED (
		SELECT array_agg(i.present) AS present, array_agg(i.size_bytes) AS sizes,
			array_agg(i.device_reads) AS reads, sum(i.size_bytes) AS bytes
		FROM (SELECT i.* FROM item i ORDER BY i.n) i
	), cells AS MATERIALIZED (
		SELECT array_agg(c.n) AS n, array_agg(c.place) AS place, array_agg(c.saved) AS saved FROM cell c
	), step AS MATERIALIZED (
		SELECT s.* FROM items i CROSS JOIN cells c
		CROSS JOIN LATERAL tablespace_advisor.savings_by_room(
			i.present, i.sizes, i.sizes, c.n, c.place, c.saved,
			array(SELECT p.room FROM place p ORDER BY p.place),
			array(SELECT min(p.free) FROM place p GROUP BY p.room ORDER BY p.room),
			(SELECT p.place FROM place p WHERE p.tablespace = of_tablespace),
			array(SELECT (i.bytes * n / steps)::bigint FROM generate_series(0, steps) n), i.reads) s
	), moved AS (
		/* what is not to be moved is read where it is */
		SELECT s.bytes, s.relations, max(coalesce(tablespace_advisor.saved_by_reads(
				l.loads, $3, array(SELECT o.reads_per_s
					+ coalesce(s.reads[p.place] - (SELECT sum(i.device_reads) FROM item i
						WHERE i.present = p.place), s.reads[p.place], 0)
				FROM unnest(l.loads) WITH ORDINALITY o
				JOIN place p ON p.tablespace = o.tablespace ORDER BY o.ordinality)), s.saved))
			OVER (ORDER BY s.bytes) AS saved
		FROM step s CROSS JOIN loads l
	)
	SELECT s.bytes, tablespace_advisor.round_to_three(s.saved),
		tablespace_advisor.round_to_three(100 * s.saved / nullif(
			(SELECT sum(e.read_ms_per_s) FROM estimate e WHERE e.destination IS NULL), 0)),
		tablespace_advisor.round_to_three((s.saved - lag(s.saved) OVER w) * 1073741824
			/ nullif(s.bytes - lag(s.bytes) OVER w, 0)),
		s.relations
	FROM moved s
	WINDOW w AS (ORDER BY s.bytes)
	ORDER BY s.bytes
$$;
COMMENT ON FUNCTION tablespace_advisor.curve_of(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name, int) IS
	'placement_curve() from facts handed over';

CREATE FUNCTION tablespace_advisor.gather_curve(caller oid, of_tablespace name, steps int)
RETURNS TABLE (bytes bigint, saved_ms_per_s float8, saved_percent float8,
	saved_per_gb float8, relations bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
	destination name := tablespace_advisor.check_destination(of_tablespace, true);
	tablespaces tablespace_advisor.tablespace_fact[];
	facts tablespace_advisor.relation_fact[];
	seen record;
BEGIN
	IF destination IS NULL THEN
		RAISE EXCEPTION 'tablespace must not be null' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF steps IS NULL THEN
		RAISE EXCEPTION 'steps must not be null' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF steps NOT BETWEEN 1 AND 1000 THEN
		RAISE EXCEPTION 'steps must be between 1 and 1000'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	SELECT * INTO seen FROM tablespace_advisor.gather_load(NULL, '{}'::oid[]);
	tablespaces := array(SELECT f FROM tablespace_advisor.with_present_latency(
		array(SELECT t FROM tablespace_advisor.tablespace_facts(caller, caller) t),
		seen.devices) f);
	tablespaces := tablespaces || array(SELECT f
		FROM tablespace_advisor.assumed_facts(tablespaces) f);
	IF NOT EXISTS (SELECT FROM unnest(tablespaces) f
		WHERE f.tablespace = destination AND f.random_read_us IS NOT NULL)
	THEN
		RAISE EXCEPTION 'nothing was measured of tablespace "%"', destination
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'Run probe_tablespace() first.';
	END IF;
	facts := array(SELECT f FROM tablespace_advisor.relation_facts(seen.rates,
		array(SELECT t FROM tablespace_advisor.tables_of_interest('{}', ARRAY[destination],
			seen.rates, false) t)) f);
	IF coalesce(current_setting('io_method', true), 'sync') = 'sync' THEN
		tablespaces := array(SELECT f FROM tablespace_advisor.with_timed_latency(
			tablespaces, facts, seen.load) f);
	END IF;
	RETURN QUERY SELECT c.* FROM tablespace_advisor.curve_of(
		facts, tablespaces, seen.load, destination, steps) c;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.gather_curve(oid, name, int) IS
	'placement_curve() for a role';

CREATE FUNCTION @extschema@.placement_curve(
	tablespace name,
	steps int DEFAULT 20,
	OUT bytes bigint,
	OUT saved_ms_per_s float8,
	OUT saved_percent float8,
	OUT saved_per_gb float8,
	OUT relations bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_placement_curve';
COMMENT ON FUNCTION @extschema@.placement_curve(name, int) IS
	'what the best placement would save over the present one, in milliseconds of reading per second and percent of all reading, if a tablespace had so many bytes of room in all, from none to all that could be there; saved_per_gb: milliseconds of reading per second that one more GB (2^30 bytes) saves from the row before on; relations: how many would be there; NULL where what is there now fits nowhere else. Errors: 42704 no such tablespace, 55000 not probed, 22023 bad steps, 22004 nulls, 42501 not a member of pg_monitor';
/*
 * src/advise/set_forecast.sql
 *
 * What moves save together: reads that stay wait less when others leave, and in the
 * target those that come wait for each other (closed_system.c).
 */
/*
 * Of tablespaces of which something was measured.  Estimates must be of all that is
 * read.  What others read from a target as its counters say is in its latencies; from
 * where this database reads, they are in its way as long as they go on.  So are writes
 * on one rotating disk: who reads faster writes more, so there are not less of them.
 *
 * Where only the present latency is known, nothing says how much of it is waiting for
 * other reads.  One rotating disk serves them one after the other, but where others have
 * more under way than this database they take what becomes free.  Else, and there, the
 * latency is taken to be the same with fewer under way.
 */
CREATE FUNCTION tablespace_advisor.place_loads(
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	tablespaces tablespace_advisor.tablespace_fact[],
	loads tablespace_advisor.load_estimate[])
RETURNS SETOF tablespace_advisor.place_load
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	SELECT f.tablespace, coalesce(r.reads, 0), CASE WHEN r.reads > 0 THEN l.device_us END,
		CASE WHEN r.reads > 0 AND f.latency_from IN ('counters', 'timing')
			THEN ARRAY[CASE WHEN f.is_serial AND o.others < o.own THEN 1
				ELSE greatest(1, o.own + o.others) END]
			ELSE f.depths END,
		array(SELECT u.us * coalesce(l.time_correction, 1) * greatest(1,
				CASE WHEN coalesce(r.reads, 0) = 0
					THEN f.present_read_low_us / f.random_read_us END)
			FROM unnest(f.depth_read_us) WITH ORDINALITY u (us, n) ORDER BY u.n),
		NULL::float8, NULL::float8, o.others
	FROM unnest(tablespaces) f
	LEFT JOIN unnest(loads) l ON l.tablespace = f.tablespace
	LEFT JOIN (SELECT a.tablespace, sum(a.reads_per_s * e.device_share) AS reads
		FROM tablespace_advisor.elements(relations) a JOIN tablespace_advisor.elements(estimates) e
			ON e.relation = a.relation AND e.destination IS NULL
		GROUP BY a.tablespace) r ON r.tablespace = f.tablespace
	CROSS JOIN LATERAL (SELECT w.own, CASE WHEN w.own > 0
			THEN greatest(0, coalesce(f.present_in_flight, 0) - w.own) ELSE 0 END AS others
		FROM (SELECT coalesce(r.reads * l.device_us / 1e6, 0) AS own) w) o
	WHERE f.random_read_us IS NOT NULL AND cardinality(f.depths) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.place_loads(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_estimate[]) IS
	'what is read where, from facts and estimates of all relations; loads: as of estimate_load()';

/*
 * later_reads: per second of each of these tablespaces, in their order.  Where
 * nobody has watched sessions, nothing is known of queues.
 */
CREATE FUNCTION tablespace_advisor.latencies_by_reads(
	places tablespace_advisor.place_load[],
	load tablespace_advisor.load_fact,
	later_reads float8[])
RETURNS float8[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.latencies_of_set(load.active_sessions, places,
		array(SELECT greatest(0, l.reads)
			FROM unnest(later_reads) WITH ORDINALITY l (reads, n) ORDER BY l.n))
	WHERE load.snapshots > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.latencies_by_reads(tablespace_advisor.place_load[], tablespace_advisor.load_fact, float8[]) IS
	'microseconds that a read of each tablespace takes if they are read so many times a second; NULL where no session was watched';

CREATE FUNCTION tablespace_advisor.saved_by_reads(
	places tablespace_advisor.place_load[],
	load tablespace_advisor.load_fact,
	later_reads float8[])
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT sum(p.reads_per_s * coalesce(p.read_us, 0) - greatest(0, p.reads) * p.us) / 1000
	FROM unnest(places, later_reads, tablespace_advisor.latencies_by_reads(places, load, later_reads))
		p (tablespace, reads_per_s, read_us, depths, latencies_us, later_reads_per_s, later_us, others, reads, us)
$$;
COMMENT ON FUNCTION tablespace_advisor.saved_by_reads(tablespace_advisor.place_load[], tablespace_advisor.load_fact, float8[]) IS
	'milliseconds of reading per second that are saved if tablespaces are read so many times a second; NULL where no session was watched';

/*
 * What reads take when the moves are made.  Not known where nobody has watched
 * sessions, or if together they would cost more than they save: each was judged
 * as if it alone were made.
 */
CREATE FUNCTION tablespace_advisor.loads_after(
	moves tablespace_advisor.placement_choice[],
	places tablespace_advisor.place_load[],
	relations tablespace_advisor.relation_fact[],
	estimates tablespace_advisor.placement_estimate[],
	load tablespace_advisor.load_fact)
RETURNS SETOF tablespace_advisor.place_load
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	WITH moved AS MATERIALIZED (
		SELECT a.tablespace AS source, m.destination, a.reads_per_s * e.device_share AS reads,
			e.extra_write_ms_per_s AS extra
		FROM tablespace_advisor.elements(moves) m
		JOIN tablespace_advisor.elements(relations) a ON a.relation = m.relation
		JOIN tablespace_advisor.elements(estimates) e ON e.relation = m.relation AND e.destination = m.destination
		WHERE m.turn IS NOT NULL
	), later AS MATERIALIZED (
		SELECT array_agg(greatest(0, p.reads_per_s + coalesce(c.reads, 0) - coalesce(g.reads, 0))
			ORDER BY p.n) AS reads
		FROM unnest(places) WITH ORDINALITY p (tablespace, reads_per_s, read_us, depths,
			latencies_us, later_reads_per_s, later_us, others, n)
		LEFT JOIN (SELECT m.destination, sum(m.reads) AS reads FROM moved m GROUP BY 1) c
			ON c.destination = p.tablespace
		LEFT JOIN (SELECT m.source, sum(m.reads) AS reads FROM moved m GROUP BY 1) g
			ON g.source = p.tablespace
	), timed AS MATERIALIZED (
		SELECT p.*, sum(p.reads_per_s * coalesce(p.read_us, 0) - p.reads * p.us) OVER () / 1000
			- coalesce((SELECT sum(m.extra) FROM moved m), 0) AS saved
		FROM later l CROSS JOIN LATERAL unnest(places, l.reads,
				tablespace_advisor.latencies_by_reads(places, load, l.reads))
			WITH ORDINALITY p (tablespace, reads_per_s, read_us, depths, latencies_us,
				later_reads_per_s, later_us, others, reads, us, n)
	)
	SELECT t.tablespace, t.reads_per_s, t.read_us, t.depths, t.latencies_us, t.reads,
		CASE WHEN t.saved > 0 THEN t.us END, t.others
	FROM timed t ORDER BY t.n
$$;
COMMENT ON FUNCTION tablespace_advisor.loads_after(tablespace_advisor.placement_choice[], tablespace_advisor.place_load[], tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.load_fact) IS
	'place_loads() with what is read there after moves, and what a read takes then';

/* The moves with what each saves as its part of what they save together. */
CREATE FUNCTION tablespace_advisor.forecast_set(
	moves tablespace_advisor.placement_choice[],
	places tablespace_advisor.place_load[],
	estimates tablespace_advisor.placement_estimate[])
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	WITH extra AS (
		SELECT coalesce(sum(e.extra_write_ms_per_s), 0) AS ms
		FROM tablespace_advisor.elements(moves) m
		JOIN tablespace_advisor.elements(estimates) e ON e.relation = m.relation AND e.destination = m.destination
		WHERE m.turn IS NOT NULL AND e.extra_write_ms_per_s > 0
	), factor AS (
		SELECT ((SELECT sum(p.reads_per_s * coalesce(p.read_us, 0)
					- p.later_reads_per_s * p.later_us) FROM unnest(places) p) / 1000
				- (SELECT x.ms FROM extra x)) / sum(m.saved_ms_per_s) AS factor
		FROM tablespace_advisor.elements(moves) m
		WHERE m.turn IS NOT NULL
		HAVING sum(m.saved_ms_per_s) > 0
	)
	SELECT m.relation, m.destination, m.action,
		m.saved_ms_per_s * k.factor, m.bytes, m.bound_ms_per_s * k.factor, m.is_exact,
		m.turn, m.bundle, m.makes_room_for, m.ms_per_s_and_gb * k.factor, m.finding
	FROM tablespace_advisor.elements(moves) m
	/* OFFSET: once, not for each column */
	CROSS JOIN (SELECT coalesce((SELECT f.factor FROM factor f), 1) AS factor OFFSET 0) k
$$;
COMMENT ON FUNCTION tablespace_advisor.forecast_set(tablespace_advisor.placement_choice[], tablespace_advisor.place_load[], tablespace_advisor.placement_estimate[]) IS
	'the moves of choose_moves() with savings that add up to what they save together, by loads_after()';
CREATE FUNCTION tablespace_advisor.add_reads(
	a tablespace_advisor.relation_fact,
	reads float8,
	hits float8,
	scans float8)
RETURNS tablespace_advisor.relation_fact
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	a.reads_per_s := coalesce(a.reads_per_s, 0) + reads;
	a.hits_per_s := coalesce(a.hits_per_s, 0) + hits;
	a.scans := coalesce(a.scans, 0) + (scans > 0)::int;
	RETURN a;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.add_reads(tablespace_advisor.relation_fact, float8, float8, float8) IS
	'the fact with reads and hits per second of others added, and a scan if there are any';

/* What standbys read counts as what the primary reads. */
CREATE FUNCTION tablespace_advisor.with_standby_reads(
	relations tablespace_advisor.relation_fact[])
RETURNS SETOF tablespace_advisor.relation_fact
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
AS $$
	SELECT (f.fact).*
	FROM (SELECT CASE WHEN s.reads IS NULL THEN r
				ELSE tablespace_advisor.add_reads(r, s.reads, s.hits, s.scans) END AS fact
		FROM tablespace_advisor.elements(relations) r
		LEFT JOIN
			(SELECT m.member, sum(m.reads_per_s) AS reads, sum(m.hits_per_s) AS hits,
					max(m.scans_per_s) AS scans
				FROM tablespace_advisor.standby_reads() m GROUP BY m.member) s
			ON s.member = r.relation
		OFFSET 0) f
$$;
COMMENT ON FUNCTION tablespace_advisor.with_standby_reads(tablespace_advisor.relation_fact[]) IS
	'the facts on relations, with what was brought of standbys within a day: reads, hits, and that an index is scanned';
/*
 * src/advise/statements.sql
 *
 * What to run, at the end of an account: of what is measured or rebuilt the
 * statement of its row, of moves as few calls as do them all.
 *
 * Literals have types, lest a function that somebody else has made in the
 * extension's schema suits the call better.
 */

/*
 * The moves, each to a destination by a method, and what to call for them: a
 * table that moves with all of its indexes takes one call; of a table whose
 * indexes move, but not all, the call names them.  What is moved along with the
 * table is not copied by rebuild, so that bloat is not either.
 */
CREATE FUNCTION tablespace_advisor.move_calls(target regclass, advice tablespace_advisor.advice_row[])
RETURNS TABLE (rank int, call text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off
SET jit = off
SET work_mem = '64MB'
AS $$
	WITH item AS (
		SELECT r.*, coalesce(i.indrelid::regclass, r.relation) AS owner
		FROM (SELECT (a.advice).rank, (a.advice).kind, (a.advice).action, (a.advice).relation,
				(a.advice).from_tablespace, (a.advice).to_tablespace AS destination,
				a.evidence #>> '{move,method}' AS method
			FROM unnest(advice) a
			/* to a tablespace that is not there: none */
			WHERE a.evidence #>> '{to,latency_from}' IS DISTINCT FROM 'assumed') r
		LEFT JOIN pg_index i ON i.indexrelid = r.relation
	), heap AS (
		/* with_indexes: none stays elsewhere and none is to be rebuilt */
		SELECT h.rank, h.owner, h.destination,
			bool_and(coalesce(x.destination = h.destination AND x.method IS NULL, false))
				FILTER (WHERE x.action = 'move' OR x.from_tablespace <> h.destination)
				AS with_indexes
		FROM item h
		LEFT JOIN item x ON x.owner = h.owner AND x.kind = 'index'
		WHERE h.kind = 'heap' AND h.action = 'move'
		GROUP BY h.rank, h.owner, h.destination
	), indexes AS (
		SELECT min(m.rank) AS rank, s.subject, m.destination, m.method,
			array_agg(m.relation ORDER BY m.rank) AS moved
		FROM item m
		CROSS JOIN LATERAL (SELECT coalesce(target, m.owner) AS subject) s
		WHERE m.kind = 'index' AND m.action = 'move'
			AND NOT EXISTS (SELECT FROM heap h WHERE h.owner = m.owner AND h.with_indexes)
		GROUP BY s.subject, m.destination, m.method
	), partial AS (
		/* of a table, some of whose other indexes move as well, or stay elsewhere */
		SELECT DISTINCT x.subject, x.destination, x.method
		FROM indexes x JOIN item i ON i.owner = x.subject
		WHERE target IS NULL AND i.kind = 'index' AND i.relation <> ALL (x.moved)
			AND (i.action = 'move' OR i.from_tablespace <> x.destination)
	)
	SELECT h.rank, format('CALL %s.move_table_concurrently(%L::pg_catalog.regclass, %L::pg_catalog.name%s);',
		'@extschema@', h.owner, h.destination,
		CASE WHEN h.with_indexes THEN ', with_indexes => true' ELSE '' END)
	FROM heap h
	UNION ALL
	SELECT x.rank, format('CALL %s.move_indexes_concurrently(%L::pg_catalog.regclass, %L::pg_catalog.name%s%s);',
		'@extschema@', x.subject, x.destination,
		CASE WHEN x.subject <> x.moved[1] AND (p.subject IS NOT NULL OR target IS NOT NULL AND EXISTS
				(SELECT FROM item i WHERE i.kind = 'index' AND i.relation <> ALL (x.moved)
					AND (i.action = 'move' OR i.from_tablespace <> x.destination)))
			THEN format(', indexes => %L::pg_catalog.regclass[]', x.moved::text) ELSE '' END,
		CASE WHEN x.method IS NOT NULL THEN format(', method => %L::pg_catalog.text', x.method) ELSE '' END)
	FROM indexes x
	LEFT JOIN partial p ON p.subject = x.subject AND p.destination = x.destination
		AND coalesce(p.method, '') = coalesce(x.method, '')
$$;
COMMENT ON FUNCTION tablespace_advisor.move_calls(regclass, tablespace_advisor.advice_row[]) IS
	'the calls that make the moves of an advice; rank: of the first of a call''s moves';

CREATE FUNCTION tablespace_advisor.statement_lines(target regclass, advice tablespace_advisor.advice_row[])
RETURNS SETOF text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	/* more than anybody runs by hand */
	shown CONSTANT int := 20;
	statements text[];
BEGIN
	statements := array(
		SELECT (a.advice).statement || ';'
		FROM unnest(advice) WITH ORDINALITY a (advice, evidence, n)
		WHERE (a.advice).action <> 'move' AND (a.advice).statement IS NOT NULL
		GROUP BY (a.advice).statement
		ORDER BY min(CASE (a.advice).action WHEN 'probe first' THEN 0 ELSE 1 END), min(a.n))
		|| array(SELECT m.call FROM tablespace_advisor.move_calls(target, advice) m
			ORDER BY m.rank, m.call);
	IF cardinality(statements) > shown THEN
		RETURN QUERY SELECT format('Statements: %s; advise_placement() has each relation''s.',
			cardinality(statements));
	ELSE
		RETURN QUERY SELECT s FROM unnest(statements) s;
	END IF;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.statement_lines(regclass, tablespace_advisor.advice_row[]) IS
	'the statements that follow an advice, each a line, probes first and moves last';
/*
 * src/advise/temporary.sql
 *
 * What else lies on storage: temporary files, and WAL.
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
	'the first name in a list of identifiers, which may name what is not there; NULL if it is empty';

/* By the setting of this database, the first of the list. */
CREATE FUNCTION tablespace_advisor.temporary_tablespace()
RETURNS name
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce((SELECT t.spcname FROM pg_tablespace t
			WHERE t.spcname = tablespace_advisor.first_identifier(coalesce(
				(SELECT substr(c.setting, length('temp_tablespaces=') + 1)
					FROM pg_db_role_setting s CROSS JOIN LATERAL unnest(s.setconfig) c (setting)
					WHERE s.setdatabase = d.oid AND s.setrole = 0
						AND starts_with(c.setting, 'temp_tablespaces=')),
				(SELECT p.reset_val FROM pg_settings p
					WHERE p.name = 'temp_tablespaces')))),
		(SELECT t.spcname FROM pg_tablespace t WHERE t.oid = d.dattablespace))
	FROM pg_database d WHERE d.datname = current_database()
$$;
COMMENT ON FUNCTION tablespace_advisor.temporary_tablespace() IS
	'where temporary files of this database are, unless a role or a session has set temp_tablespaces';

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
 * Temporary files are read and written one page after the other.  What was timed
 * holds what the system's cache served, so that moving saves that share of it by
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
	SELECT NULL::int, tablespace_advisor.finding_action(v.finding),
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
		CASE v.finding WHEN 'faster' THEN format('ALTER DATABASE %I SET temp_tablespaces = %I',
				current_database(), v.tablespace)
			/* what a probe does not do unless it is asked to */
			WHEN 'not probed' THEN format('SELECT p.* FROM pg_catalog.unnest(%L::pg_catalog.name[]) t, %s.probe_tablespace(tablespace => t, workloads => %L::pg_catalog.text[]) p',
				ARRAY[v.source, v.tablespace], '@extschema@', ARRAY['sequential read', 'sequential write']::text[]) END,
		'temporary files', tablespace_advisor.round_to_three(v.blocks_per_s), NULL::float8,
		NULL::float8, tablespace_advisor.round_to_three(v.ms_per_s), NULL::float8
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
GRANT EXECUTE ON FUNCTION tablespace_advisor.temporary_files_line(@extschema@.placement_advice)
	TO pg_monitor;

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
	SELECT t.statement || ';' FROM temporary t WHERE t.statement IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.storage_lines(oid, regclass) IS
	'lines on temporary files and on WAL beside data, and the statement for the former; none for a single relation';
/* src/advise/text.sql: numbers, times and names as people read them */
CREATE FUNCTION tablespace_advisor.round_to_three(number float8)
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_round_to_three';
COMMENT ON FUNCTION tablespace_advisor.round_to_three(float8) IS
	'a measured number with three significant digits';

CREATE FUNCTION tablespace_advisor.one_line(line text, width int DEFAULT 80)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE WHEN length(line) > width THEN left(line, width - 3) || '...'
		ELSE line END;
END;
COMMENT ON FUNCTION tablespace_advisor.one_line(text, int) IS
	'a text cut to so many characters';

CREATE FUNCTION tablespace_advisor.three_digits(number float8)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT trim_scale(tablespace_advisor.round_to_three(number)::numeric)::text;
END;
COMMENT ON FUNCTION tablespace_advisor.three_digits(float8) IS
	'round_to_three() as text without exponent';

CREATE FUNCTION tablespace_advisor.three_digits(number jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT tablespace_advisor.three_digits((number #>> '{}')::float8);
END;
COMMENT ON FUNCTION tablespace_advisor.three_digits(jsonb) IS
	'three_digits() of a number in evidence';

/* Shares and numbers of sessions are not known any better. */
CREATE FUNCTION tablespace_advisor.two_digits(number float8)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE WHEN number = 0 THEN '0'
		ELSE trim_scale(round(number::numeric, greatest(0,
			1 - floor(log(abs(number)))::int)))::text END;
END;
COMMENT ON FUNCTION tablespace_advisor.two_digits(float8) IS
	'a number with two significant digits, or all before the point';

CREATE FUNCTION tablespace_advisor.pretty_seconds(seconds float8)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE
		WHEN seconds < 1 THEN tablespace_advisor.three_digits(1000 * seconds) || ' ms'
		WHEN seconds < 120 THEN tablespace_advisor.three_digits(seconds) || ' s'
		WHEN seconds < 7200 THEN round(seconds / 60)::text || ' min'
		WHEN seconds < 172800 THEN round(seconds / 3600)::text || ' h'
		ELSE round(seconds / 86400)::text || ' days' END;
END;
COMMENT ON FUNCTION tablespace_advisor.pretty_seconds(float8) IS
	'a time as text, in the unit that suits it';

CREATE FUNCTION tablespace_advisor.pretty_us(e jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT tablespace_advisor.pretty_seconds((e #>> '{}')::float8 / 1e6);
END;
COMMENT ON FUNCTION tablespace_advisor.pretty_us(jsonb) IS
	'pretty_seconds() of a number of microseconds in evidence';

GRANT EXECUTE ON FUNCTION
	tablespace_advisor.round_to_three(float8),
	tablespace_advisor.one_line(text, int),
	tablespace_advisor.three_digits(float8),
	tablespace_advisor.three_digits(jsonb),
	tablespace_advisor.two_digits(float8),
	tablespace_advisor.pretty_seconds(float8),
	tablespace_advisor.pretty_us(jsonb)
	TO pg_monitor;
/*
 * src/advise/verdicts.sql
 *
 * What to do about what was found of a relation (judge.sql), why in one line of
 * at most 80 characters, and the statement.
 */
CREATE FUNCTION tablespace_advisor.finding_action(finding text)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE
		WHEN finding = 'faster' THEN 'move'
		WHEN finding IN ('invalid', 'bloated') THEN 'rebuild'
		WHEN finding IN ('duplicate', 'unused', 'unused expression') THEN 'drop candidate'
		WHEN finding = 'BRIN' THEN 'replace'
		WHEN finding IN ('not probed', 'table not probed') THEN 'probe first'
		ELSE 'keep' END;
END;
COMMENT ON FUNCTION tablespace_advisor.finding_action(text) IS
	'the action of an advice that rests on a finding';

CREATE FUNCTION tablespace_advisor.index_reason(
	finding text,
	a tablespace_advisor.relation_fact)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE finding
		WHEN 'under way' THEN format('move %s of it is under way', a.moving_job)
		WHEN 'being built' THEN
			'an index of this table is being built: ask again when that is done'
		WHEN 'invalid' THEN
			'invalid, no query can use it: rebuild it, or drop it if a build failed'
		WHEN 'duplicate' THEN format('exact duplicate of %s', a.duplicate_of)
		WHEN 'unused' THEN
			format('not scanned in %s days, only written; scans on standbys are not counted',
				floor(a.counted_days))
		WHEN 'unused expression' THEN
			'never scanned; if only estimates need it, CREATE STATISTICS is enough'
		WHEN 'BRIN' THEN
			format('scanned for ranges in table order: BRIN would be %s times smaller',
				tablespace_advisor.round_to_three(a.size_bytes::float8 / a.brin_bytes))
		WHEN 'bloated' THEN format('bloated: %s, about %s after a rebuild',
			pg_size_pretty(a.size_bytes), pg_size_pretty(a.rebuilt_bytes))
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.index_reason(text, tablespace_advisor.relation_fact) IS
	'a finding of index_finding(), or bloat, as a sentence';

/* Of a relation that stays where it is, though it is read. */
CREATE FUNCTION tablespace_advisor.gain_reason(
	finding text,
	e tablespace_advisor.placement_estimate,
	destination name)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE finding
		WHEN 'in system cache' THEN
			format('already in memory: the system''s cache serves %s %% of its reads',
				round(100 * (1 - e.device_share::numeric), 1))
		WHEN 'within noise' THEN
			format('within noise: saves between %s and %s %% of the table''s read time',
				tablespace_advisor.two_digits(100 * e.saved_low_ms_per_s / e.table_read_ms_per_s),
				tablespace_advisor.two_digits(
					least(100, 100 * e.saved_high_ms_per_s / e.table_read_ms_per_s)))
		WHEN 'not faster' THEN format('%s: %s a read there, %s here',
			CASE WHEN destination IS NULL THEN 'no tablespace is measurably faster'
				ELSE 'not measurably faster' END,
			tablespace_advisor.pretty_seconds(e.destination_us / 1e6),
			tablespace_advisor.pretty_seconds(e.device_us / 1e6))
		WHEN 'saturated' THEN
			format('the tablespace can serve only %s reads/s, too few for this table',
				tablespace_advisor.round_to_three(e.max_reads_per_s))
		WHEN 'too little' THEN format('too little: %s %s %% of the table''s read time',
			CASE WHEN e.saved_percent < 0 THEN 'would cost' ELSE 'saves' END,
			tablespace_advisor.two_digits(abs(e.saved_percent)))
		WHEN 'not repaid' THEN
			format('not repaid within a week: saves %s %% of the table''s read time',
				tablespace_advisor.two_digits(e.saved_percent))
		WHEN 'no room' THEN
			format('no room for its %s in the budget or the tablespace; would save %s %%',
				pg_size_pretty(e.moved_bytes), tablespace_advisor.two_digits(e.saved_percent))
		WHEN 'faster' THEN format('reads take %s here, %s there%s',
			tablespace_advisor.pretty_seconds(e.device_us / 1e6),
			tablespace_advisor.pretty_seconds(e.destination_us / 1e6),
			CASE WHEN e.device_share < 0.9 THEN format('; %s %% of them reach the device',
				round(100 * e.device_share::numeric)) END)
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.gain_reason(text, tablespace_advisor.placement_estimate, name) IS
	'a finding that rests on what a move would save, as a sentence';

CREATE FUNCTION tablespace_advisor.probe_reason(places tablespace_advisor.tablespace_fact[])
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('no %sprobe of %s',
		CASE WHEN bool_or(p.caveat IS NOT NULL) THEN 'trustworthy ' END,
		string_agg(p.gap, ' and ' ORDER BY p.n))
	FROM (SELECT f.n, f.caveat, tablespace_advisor.probe_gap(f.place) AS gap
		FROM (SELECT f AS place, f.caveat, row_number() OVER () AS n
			FROM unnest(places) f) f) p
	WHERE p.gap IS NOT NULL
	HAVING count(*) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.probe_reason(tablespace_advisor.tablespace_fact[]) IS
	'of which of these tablespaces there is no probe to rest on, and why, as a sentence; NULL: of none';

/* Of a relation that moves for the sake of others. */
CREATE FUNCTION tablespace_advisor.choice_reason(
	choice tablespace_advisor.placement_choice,
	source tablespace_advisor.tablespace_fact,
	load tablespace_advisor.load_fact)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE choice.finding
		WHEN 'too full' THEN
			format('its tablespace is too full by %s: moving this away costs least',
				pg_size_pretty(-source.available_bytes))
		WHEN 'makes room' THEN concat_ws('; ',
			coalesce('makes room for ' || choice.makes_room_for,
				'makes room for others of its bundle'),
			'reads on ' || load.standbys || ' are not counted')
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.choice_reason(tablespace_advisor.placement_choice, tablespace_advisor.tablespace_fact, tablespace_advisor.load_fact) IS
	'a finding of choose_evictions() or choose_moves() as a sentence, source being its tablespace; NULL for others';

CREATE FUNCTION tablespace_advisor.finding_reason(
	finding text,
	a tablespace_advisor.relation_fact,
	e tablespace_advisor.placement_estimate,
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact,
	destination name,
	bottleneck text,
	rest tablespace_advisor.tablespace_fact[])
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE finding
		WHEN 'obstacle' THEN a.obstacle
		WHEN 'already there' THEN 'already there'
		WHEN 'no other tablespace' THEN 'there is no other tablespace to move it to'
		WHEN 'same device' THEN 'both tablespaces are on the same device'
		WHEN 'volatile' THEN 'the tablespace is on volatile storage: a reboot would lose it'
		WHEN 'no CREATE' THEN 'neither you nor its owner has CREATE on the tablespace'
		WHEN 'not probed' THEN tablespace_advisor.probe_reason(ARRAY[source, dest])
		WHEN 'table not probed' THEN coalesce(
			'the rest of its table: ' || tablespace_advisor.probe_reason(rest),
			'how long reads of the rest of its table take is not known')
		WHEN 'no window' THEN
			'statistics start time is unknown: pass observe, or CALL sample_activity()'
		WHEN 'in shared buffers' THEN 'already in memory: shared buffers serve all of its reads'
		WHEN 'maintenance only' THEN 'not read in the window but by VACUUM and ANALYZE'
		WHEN 'not read' THEN 'not read in the window'
		WHEN 'not storage-bound' THEN format('not storage-bound: %s', bottleneck)
		WHEN 'left lately' THEN 'it was moved away from there less than a week ago'
		WHEN 'no order' THEN
			'no order of moves has room for both copies: make room, or use a third tablespace'
		WHEN 'bundle saves too little' THEN
			'too little, with what would have to make room for it'
		WHEN 'bundle not repaid' THEN
			'not repaid within a week, with what would have to make room for it'
		WHEN 'bundle within noise' THEN
			'within noise, with what would have to make room for it'
		ELSE coalesce(tablespace_advisor.index_reason(finding, a),
			tablespace_advisor.gain_reason(finding, e, destination))
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.finding_reason(text, tablespace_advisor.relation_fact, tablespace_advisor.placement_estimate, tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact, name, text, tablespace_advisor.tablespace_fact[]) IS
	'a finding as a sentence; rest: unmeasured tablespaces where part of its table is, other arguments as of move_finding()';

CREATE FUNCTION tablespace_advisor.statistics_statement(
	index regclass,
	expression text,
	table_relation regclass)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('CREATE STATISTICS %I ON %s FROM %s',
		(SELECT left(c.relname, 50) || '_statistics' FROM pg_class c WHERE c.oid = index),
		expression, table_relation)
$$;
COMMENT ON FUNCTION tablespace_advisor.statistics_statement(regclass, text, regclass) IS
	'what makes the statistics that an index on an expression is there for';

CREATE FUNCTION tablespace_advisor.finding_statement(
	finding text,
	a tablespace_advisor.relation_fact)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE finding
		WHEN 'unused expression' THEN tablespace_advisor.statistics_statement(
			a.relation, a.expression, a.table_relation)
		WHEN 'BRIN' THEN format('CREATE INDEX CONCURRENTLY ON %s USING brin (%I)',
			a.table_relation, a.column_name)
		WHEN 'invalid' THEN format('REINDEX INDEX CONCURRENTLY %s', a.relation)
		WHEN 'bloated' THEN format('REINDEX INDEX CONCURRENTLY %s', a.relation) END;
END;
COMMENT ON FUNCTION tablespace_advisor.finding_statement(text, tablespace_advisor.relation_fact) IS
	'what to run about a finding; NULL: nothing, or the finding is not about the index alone';
/* Whether a move is to be begun. */

CREATE FUNCTION tablespace_advisor.reason_not_to_begin(job bigint)
RETURNS text
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN j.until < clock_timestamp() THEN
			'the time in which it was to be moved has ended'
		WHEN j.until < clock_timestamp() + make_interval(secs => j.bytes_total /
				tablespace_advisor.move_rate(j.from_tablespace,
					j.to_tablespace, j.method, l.max_rate, j.owner)) THEN
			format('at the measured rate it would not have been moved by %s',
				j.until)
		WHEN j.lock_up_to < (SELECT sum(tablespace_advisor.relation_bytes(r))
				FROM pg_class c
					CROSS JOIN LATERAL unnest(ARRAY[c.oid, c.reltoastrelid]) r
				WHERE c.oid = j.relation) THEN
			format('it has become larger than %s',
				pg_size_pretty(j.lock_up_to))
		END
	FROM tablespace_advisor.job j
		JOIN tablespace_advisor.job_limits l USING (job_id)
	WHERE j.job_id = job
$$;
COMMENT ON FUNCTION tablespace_advisor.reason_not_to_begin(bigint) IS
	'why a queued move is not to be begun; NULL if it may be';

COMMENT ON COLUMN tablespace_advisor.job.until IS
	'the move is not begun if it would not end by then; NULL: whenever';
COMMENT ON COLUMN tablespace_advisor.job.lock_up_to IS
	'method lock: the relation is not moved if it is larger by then, in bytes';
/* Whether moves can end in time. */

CREATE FUNCTION tablespace_advisor.bytes_left_beside(job bigint)
RETURNS bigint
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(sum(greatest(o.bytes_total - o.bytes_done, 0)), 0)::bigint
	FROM tablespace_advisor.job j
		JOIN tablespace_advisor.job o ON o.batch_id = j.batch_id
			AND o.job_id <> j.job_id
			AND o.state IN ('queued', 'running', 'paused')
	WHERE j.job_id = job
$$;
COMMENT ON FUNCTION tablespace_advisor.bytes_left_beside(bigint) IS
	'bytes that are still to be moved by the other moves of the same call';

/*
 * The best of what has been seen, since the question is what is impossible:
 * moves that gave way to others, and a probe beside others, say too little.
 */
CREATE FUNCTION tablespace_advisor.full_rate(
	source oid, target oid, move_method text, max_rate bigint)
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT least(CASE WHEN max_rate > 0 THEN max_rate END, greatest(
		(SELECT max(m.bytes_per_s)
			FROM tablespace_advisor.latest_moves(
				source, target, move_method = 'rebuild') m),
		tablespace_advisor.move_rate(source, target, move_method)))
$$;
COMMENT ON FUNCTION tablespace_advisor.full_rate(oid, oid, text, bigint) IS
	'bytes per second that a move between two tablespaces can make at best, at most max_rate; NULL when nothing was measured';

CREATE FUNCTION tablespace_advisor.earliest_end(batch bigint)
RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT clock_timestamp() + make_interval(secs => sum(j.bytes_total /
		tablespace_advisor.full_rate(j.from_tablespace, j.to_tablespace,
			j.method, j.max_rate)))
	FROM tablespace_advisor.job j
	WHERE j.batch_id = batch AND j.bytes_total > 0
		AND j.state IN ('queued', 'running', 'paused')
$$;
COMMENT ON FUNCTION tablespace_advisor.earliest_end(bigint) IS
	'when the moves of a call can have ended at best, one after the other at the highest rates that have been measured; NULL when none was';
/*
 * move: what people call, and what it stands on.
 */
COMMENT ON TABLE tablespace_advisor.request IS
	'what somebody has asked of a move: to pause (pause), or other limits in the place of its own (alters)';
COMMENT ON SEQUENCE tablespace_advisor.job_job_id_seq IS
	'numbers of moves';
COMMENT ON TABLE tablespace_advisor.job IS
	'journal of moves, one row for each relation; read it through the view tablespace_moves';
COMMENT ON COLUMN tablespace_advisor.job.batch_id IS
	'first job_id of the call that queued this job; its jobs share one worker and run one after the other';
COMMENT ON COLUMN tablespace_advisor.job.system_identifier IS
	'server that queued the job: a copied or restored database must not act on it';
COMMENT ON COLUMN tablespace_advisor.job.new_filenumbers IS
	'storage of the copy under way, each in the tablespace of the same place in new_tablespaces (0: the database''s own), to be removed if the job ends otherwise than by switching to it; of a job that has ended: its device did not answer';
COMMENT ON COLUMN tablespace_advisor.job.old_filenumbers IS
	'storage that the relations have left in old_tablespaces (0: the database''s own) and that is still to be removed';
COMMENT ON COLUMN tablespace_advisor.job.indexes IS
	'the indexes that move along with a table, in the same cutover; NULL for none';
COMMENT ON COLUMN tablespace_advisor.job.indexes_from IS
	'the tablespaces in which these indexes were when the job was queued';
COMMENT ON COLUMN tablespace_advisor.job.lock_wait_ms IS
	'longest time in milliseconds that one request for the exclusive lock stood in the queue';
COMMENT ON COLUMN tablespace_advisor.job.forecast_saved_ms_per_s IS
	'saved_ms_per_s of advise_placement() when the move was queued, whoever decided it; NULL when nothing was known';
COMMENT ON COLUMN tablespace_advisor.job.known_indexes IS
	'the table''s indexes before a rebuild began: an invalid _ccnew index that is not among them is left over from it and will be dropped; NULL when nothing can be left over';
COMMENT ON COLUMN tablespace_advisor.job.heap_bytes IS
	'size of the table when a rebuild began: to ask for it now would wait for a lock';
COMMENT ON COLUMN tablespace_advisor.job.old_index IS
	'the index before a rebuild, which replaces it by one with another OID; left over if it is invalid and named _ccold';

/*
 * pg_partition_tree() keeps a lock on every partition until the transaction
 * ends; ten thousand of them leave nothing of the lock table to others.
 */
CREATE FUNCTION tablespace_advisor.partitions_of(target regclass)
RETURNS TABLE (member oid, level int)
LANGUAGE sql STABLE
BEGIN ATOMIC
	WITH RECURSIVE tree(member, level) AS (
		SELECT target::oid, 0
		UNION ALL
		SELECT i.inhrelid, t.level + 1
		FROM tree t
			JOIN pg_catalog.pg_class p ON p.oid = t.member
				AND p.relkind IN ('p', 'I')
			JOIN pg_catalog.pg_inherits i ON i.inhparent = t.member
				AND NOT i.inhdetachpending)
	SELECT t.member, t.level FROM tree t;
END;
COMMENT ON FUNCTION tablespace_advisor.partitions_of(regclass) IS
	'a relation and, if it is partitioned, its partitions of all levels, without locking them';

/* The one definition of what a move of a table's indexes concerns. */
CREATE FUNCTION tablespace_advisor.indexes_of(target regclass)
RETURNS TABLE (
	relation oid, heap oid, kind "char", schema_name name, relation_name name,
	persistence "char", tablespace oid, is_valid boolean,
	is_exclusion boolean, is_deferrable boolean, size_bytes bigint)
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT c.oid, i.indrelid, c.relkind, n.nspname, c.relname,
		c.relpersistence,
		CASE c.reltablespace WHEN 0 THEN d.dattablespace
			ELSE c.reltablespace END,
		i.indisvalid AND i.indisready AND i.indislive,
		i.indisexclusion, NOT i.indimmediate,
		CASE c.relkind WHEN 'i' THEN pg_catalog.pg_table_size(c.oid)
			ELSE 0 END
	FROM tablespace_advisor.partitions_of(target) t
		JOIN pg_catalog.pg_index i ON t.member IN (i.indrelid, i.indexrelid)
		JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_catalog.pg_database d
			ON d.datname = pg_catalog.current_database()
	ORDER BY c.relkind DESC, i.indrelid, c.oid;
END;
COMMENT ON FUNCTION tablespace_advisor.indexes_of(regclass) IS
	'an index, or the indexes of a table, with those of all partitions; leaves first; size_bytes counts all forks';

/* What a move of tables concerns: what has storage first, then parents after children. */
CREATE FUNCTION tablespace_advisor.table_and_partitions(target regclass)
RETURNS TABLE (
	relation oid, heap oid, kind "char", schema_name name, relation_name name,
	persistence "char", tablespace oid, is_valid boolean,
	is_exclusion boolean, is_deferrable boolean, size_bytes bigint)
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT c.oid, c.oid, c.relkind, n.nspname, c.relname,
		c.relpersistence,
		CASE c.reltablespace WHEN 0 THEN d.dattablespace
			ELSE c.reltablespace END,
		true, false, false,
		CASE WHEN c.relkind IN ('r', 'm') THEN pg_catalog.pg_table_size(c.oid)
			ELSE 0 END
	FROM tablespace_advisor.partitions_of(target) t
		JOIN pg_catalog.pg_class c ON c.oid = t.member
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_catalog.pg_database d
			ON d.datname = pg_catalog.current_database()
	ORDER BY c.relkind = 'p',
		CASE c.relkind WHEN 'p' THEN -t.level END, c.oid;
END;
COMMENT ON FUNCTION tablespace_advisor.table_and_partitions(regclass) IS
	'a table, or a partitioned table with its partitions: those with storage first, then partitioned tables, parents last; size_bytes counts all forks and TOAST with its index, which move together';

/*
 * The transient indexes of a rebuild that did not end well.  REINDEX
 * CONCURRENTLY builds <name>_ccnew, swaps the names and drops the old index
 * as <name>_ccold.  It appends a number where that name is taken, and cuts
 * <name>, between two characters, only as far as the whole would be too long.
 */
CREATE VIEW tablespace_advisor.transient_index WITH (security_barrier) AS
SELECT j.job_id, j.owner, n.nspname AS schema_name, c.relname AS index_name,
	i.indrelid AS heap, i.indexrelid AS index
FROM tablespace_advisor.job j
	JOIN pg_catalog.pg_index i ON i.indrelid = j.heap AND NOT i.indisvalid
	JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
	JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	CROSS JOIN LATERAL (
		SELECT j.relation_name::text AS whole,
			pg_catalog."substring"(c.relname::text, '_cc(?:new|old)[0-9]*$') AS suffix) s
	CROSS JOIN LATERAL (
		SELECT pg_catalog."left"(c.relname::text,
			-pg_catalog.length(s.suffix)) AS base) b
WHERE j.known_indexes IS NOT NULL
	AND j.state IN ('done', 'failed', 'cancelled')
	AND CASE WHEN i.indexrelid = j.old_index THEN s.suffix ~ 'old'
			ELSE i.indexrelid <> ALL (j.known_indexes) AND s.suffix ~ 'new' END
	AND (b.base = s.whole
		OR pg_catalog.starts_with(s.whole, b.base)
		AND pg_catalog.octet_length(pg_catalog."left"(s.whole,
			pg_catalog.length(b.base) + 1) || s.suffix) >
			pg_catalog.current_setting('max_identifier_length')::int);
COMMENT ON VIEW tablespace_advisor.transient_index IS
	'invalid indexes that a rebuild of this journal left behind and that the next worker drops';

/*
 * The server's own progress report of a running job's worker, which only a
 * superuser may read since the worker is one.  For a rebuild, the work is
 * counted as the bytes that pass: the heap read, the index written, and the
 * heap read again to validate the index.  Nothing here locks a relation: the
 * view must answer also while somebody waits for an exclusive lock on one.
 *
 * SECURITY DEFINER hides current_user, so that session_user is asked; the
 * view below filters by current_user.
 */
CREATE FUNCTION tablespace_advisor.worker_progress(job bigint)
RETURNS TABLE (phase text, bytes_total bigint, bytes_done bigint,
	blocked_by int[])
LANGUAGE sql STABLE STRICT SECURITY DEFINER ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT p.phase, w.heap + w.index_size + w.heap,
		CASE
			WHEN p.phase IN ('initializing',
				'waiting for writers before build') THEN 0
			WHEN p.phase = 'building index: scanning table'
				THEN least(p.blocks_done * w.block, w.heap)
			WHEN p.phase = 'building index: sorting live tuples'
				THEN w.heap
			WHEN p.phase = 'building index: loading tuples in tree'
				THEN w.heap + (w.index_size * least(1, p.tuples_done /
					greatest(p.tuples_total, 1)::float8))::bigint
			WHEN p.phase LIKE 'building index%'
				THEN least(p.blocks_done * w.block, w.heap)
			WHEN p.phase = 'index validation: scanning table'
				THEN w.heap + w.index_size
					+ least(p.blocks_done * w.block, w.heap)
			WHEN p.phase IN ('waiting for writers before validation',
				'index validation: scanning index',
				'index validation: sorting tuples')
				THEN w.heap + w.index_size
			ELSE w.heap + w.index_size + w.heap
		END,
		nullif(pg_blocking_pids(a.pid), '{}')
	FROM tablespace_advisor.job j
		JOIN pg_stat_activity a ON a.pid = j.worker_pid
			AND a.backend_type = 'tablespace_advisor move'
		LEFT JOIN pg_stat_progress_create_index p
			ON p.pid = a.pid AND j.method = 'rebuild'
		LEFT JOIN LATERAL (
			SELECT j.heap_bytes AS heap, j.bytes_total AS index_size,
				current_setting('block_size')::bigint AS block) w
			ON p.pid IS NOT NULL
	WHERE j.job_id = job AND j.state = 'running'
		AND (pg_has_role(session_user, j.owner, 'MEMBER')
			OR pg_has_role(session_user, 'pg_read_all_stats', 'MEMBER'))
$$;
COMMENT ON FUNCTION tablespace_advisor.worker_progress(bigint) IS
	'progress of a running job as the server reports it for its worker, in bytes read and written; no row unless the job runs and is the caller''s';

CREATE VIEW tablespace_advisor.move_progress AS
SELECT j.job_id, j.relation::regclass AS relation,
	pg_catalog.format('%I.%I', j.schema_name, j.relation_name)
		AS relation_name,
	j.from_tablespace_name AS from_tablespace,
	j.to_tablespace_name AS to_tablespace,
	j.method, j.state,
	coalesce(w.phase, j.phase) AS phase,
	b.total AS bytes_total, b.done AS bytes_done,
	CASE WHEN j.state = 'done' THEN 100
		WHEN b.total > 0
		THEN pg_catalog.round(100.0 * b.done / b.total, 1)::float8
		END AS percent,
	tablespace_advisor.round_to_three(b.rate) AS mb_per_s,
	CASE WHEN j.state = 'running' AND b.present > 0 AND b.done < b.total
			AND coalesce(w.blocked_by, j.blocked_by) IS NULL
		THEN pg_catalog.make_interval(
			secs => (b.total - b.done) / (b.present * 1048576)) END AS eta,
	j.passes, j.lock_ms, j.attempts,
	coalesce(w.blocked_by, j.blocked_by) AS blocked_by,
	j.error, j.owner::regrole AS owner,
	j.queued_at, j.started_at, j.finished_at,
	j.wal_bytes, j.paused_ms,
	CASE WHEN j.kind IN ('r', 'm')
		THEN coalesce(pg_catalog.cardinality(j.indexes), 0) END
		AS with_indexes,
	j.lock_wait_ms, j.forecast_saved_ms_per_s,
	CASE WHEN j.state IN ('running', 'paused') THEN j.worker_pid END AS pid,
	j.sqlstate, j.detail, j.batch_id,
	CASE j.state WHEN 'running'
		THEN tablespace_advisor.round_to_three(j.present_mb_per_s) END
		AS present_mb_per_s,
	CASE j.state WHEN 'running' THEN j.rate_reason END AS rate_reason,
	tablespace_advisor.round_to_three(j.others_lost_percent) AS others_lost_percent,
	j.restarts
FROM tablespace_advisor.job j
	LEFT JOIN LATERAL tablespace_advisor.worker_progress(
		CASE j.state WHEN 'running' THEN j.job_id END) w ON true
	CROSS JOIN LATERAL (
		SELECT coalesce(w.bytes_total, j.bytes_total) AS total,
			coalesce(w.bytes_done, j.bytes_done) AS done,
			r.rate, coalesce(j.present_mb_per_s, r.rate) AS present
		FROM (SELECT coalesce(j.mb_per_s, coalesce(w.bytes_done, j.bytes_done)
				/ 1048576.0::float8 / nullif(extract(epoch FROM
					coalesce(j.finished_at, pg_catalog.clock_timestamp())
					- j.started_at), 0)::float8) AS rate) r) b
WHERE j.database = (SELECT oid FROM pg_catalog.pg_database
		WHERE datname = pg_catalog.current_database())
	AND j.system_identifier =
		(SELECT system_identifier FROM pg_catalog.pg_control_system());
COMMENT ON VIEW tablespace_advisor.move_progress IS
	'moves of all roles, as tablespace_moves shows them: for the C functions, which find it here whatever is in other schemas';

CREATE VIEW @extschema@.tablespace_moves WITH (security_barrier) AS
SELECT p.* FROM tablespace_advisor.move_progress p
WHERE pg_catalog.pg_has_role(p.owner, 'USAGE')
	OR pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE');
GRANT SELECT ON @extschema@.tablespace_moves TO PUBLIC;

COMMENT ON VIEW @extschema@.tablespace_moves IS
	'moves queued, under way and ended; a role sees its own, members of pg_read_all_stats see all';
COMMENT ON COLUMN @extschema@.tablespace_moves.relation_name IS
	'schema and name when the move was queued';
COMMENT ON COLUMN @extschema@.tablespace_moves.method IS
	'copy (live block copy), rebuild (REINDEX CONCURRENTLY), lock (ALTER with SET TABLESPACE) or catalog (the same of a partitioned table or index, which has no storage)';
COMMENT ON COLUMN @extschema@.tablespace_moves.state IS
	'queued, running, paused, done, failed or cancelled';
COMMENT ON COLUMN @extschema@.tablespace_moves.bytes_total IS
	'copy: bytes of the relation, for a table with TOAST and the indexes that move along; a running rebuild: bytes of the index once and of its table twice, since that is read and written';
COMMENT ON COLUMN @extschema@.tablespace_moves.percent IS
	'bytes_done in percent of bytes_total';
COMMENT ON COLUMN @extschema@.tablespace_moves.mb_per_s IS
	'MB (1048576 bytes) per second: read and written since the start for a rebuild, copied since the start for a copy';
COMMENT ON COLUMN @extschema@.tablespace_moves.eta IS
	'time left at the present rate; NULL while it waits for other sessions';
COMMENT ON COLUMN @extschema@.tablespace_moves.present_mb_per_s IS
	'MB (1048576 bytes) per second that a running copy has copied lately; NULL for other moves, and while that is not known';
COMMENT ON COLUMN @extschema@.tablespace_moves.rate_reason IS
	'why a running copy is no faster, or that nothing holds it back; NULL for other moves';
COMMENT ON COLUMN @extschema@.tablespace_moves.others_lost_percent IS
	'percent of what others could have done (reads, transactions) that they did not get done because of a copy, as it estimates itself; NULL when that is not known';
COMMENT ON COLUMN @extschema@.tablespace_moves.restarts IS
	'how often a copy began anew, because WAL was removed before it was read, or the relation was rewritten';
COMMENT ON COLUMN @extschema@.tablespace_moves.lock_ms IS
	'milliseconds that a copy held its exclusive lock';
COMMENT ON COLUMN @extschema@.tablespace_moves.blocked_by IS
	'process ids of the sessions that the move waits for; 0 for a prepared transaction, which the column phase names';
COMMENT ON COLUMN @extschema@.tablespace_moves.wal_bytes IS
	'bytes of write-ahead log that the move has written; NULL until it ends';
COMMENT ON COLUMN @extschema@.tablespace_moves.paused_ms IS
	'milliseconds for which the move was paused, by request or for others'' sake';
COMMENT ON COLUMN @extschema@.tablespace_moves.with_indexes IS
	'number of indexes that move along with a table, in the same cutover; NULL for other relations';
COMMENT ON COLUMN @extschema@.tablespace_moves.lock_wait_ms IS
	'longest time in milliseconds that one request for the exclusive lock stood in the queue, during which others queued behind it';
COMMENT ON COLUMN @extschema@.tablespace_moves.forecast_saved_ms_per_s IS
	'milliseconds of reading per second that advise_placement() expected to save when the move was queued; of a table with the indexes that move along, but not when hot_only was asked for; NULL when nothing was known';

COMMENT ON COLUMN @extschema@.tablespace_moves.pid IS
	'process id of the background worker of a move under way, as in pg_stat_activity and pg_locks';
COMMENT ON COLUMN @extschema@.tablespace_moves.sqlstate IS
	'SQLSTATE of the error that ended the move';
COMMENT ON COLUMN @extschema@.tablespace_moves.detail IS
	'detail of the error that ended the move';
COMMENT ON COLUMN @extschema@.tablespace_moves.batch_id IS
	'first job_id of those queued with it: by one call, one wave of apply_placement(), or one round of evacuate_tablespace()';

/* What one watches.  A queued job waits for the one before it of its call. */
CREATE VIEW @extschema@.tablespace_moves_active WITH (security_barrier) AS
SELECT m.job_id, m.relation_name, m.percent,
	CASE WHEN m.state <> 'paused' THEN pg_catalog.pg_size_pretty(
		(1048576 * coalesce(m.present_mb_per_s, m.mb_per_s))::numeric) || '/s' END AS rate,
	pg_catalog.justify_interval(pg_catalog.make_interval(
		secs => pg_catalog.ceil(extract(epoch FROM m.eta)::float8))) AS eta,
	CASE
		WHEN m.state = 'queued' THEN coalesce('move ' || (
			SELECT pg_catalog.max(b.job_id) FROM tablespace_advisor.move_progress b
			WHERE b.batch_id = m.batch_id AND b.finished_at IS NULL
				AND b.job_id < m.job_id)::text, 'a worker')
		WHEN m.state = 'paused' OR m.blocked_by = '{0}' THEN m.phase
		WHEN m.blocked_by IS NOT NULL THEN 'session '
			|| pg_catalog.array_to_string(m.blocked_by, ', ')
		ELSE m.rate_reason
	END AS waits_for
FROM @extschema@.tablespace_moves m
WHERE m.finished_at IS NULL
ORDER BY m.job_id;
GRANT SELECT ON @extschema@.tablespace_moves_active TO PUBLIC;
COMMENT ON VIEW @extschema@.tablespace_moves_active IS
	'moves that have not ended, in short: percent done, present rate, time left, and what each waits for (sessions by process ID, a pause, the move before it) or why it is no faster; tablespace_moves has all of it';

CREATE PROCEDURE @extschema@.move_indexes_concurrently(
	target regclass,
	tablespace name DEFAULT NULL,
	indexes regclass[] DEFAULT NULL,
	method text DEFAULT 'auto',
	max_rate text DEFAULT NULL,
	lock_timeout interval DEFAULT '100 ms',
	wait boolean DEFAULT true,
	dry_run boolean DEFAULT false,
	hot_only boolean DEFAULT false,
	min_rate text DEFAULT NULL,
	until timestamptz DEFAULT NULL,
	finish_by timestamptz DEFAULT NULL,
	INOUT job_ids bigint[] DEFAULT NULL)
LANGUAGE C AS 'MODULE_PATHNAME', 'tsa_move_indexes_concurrently';
COMMENT ON PROCEDURE @extschema@.move_indexes_concurrently(regclass, name, regclass[],
	text, text, interval, boolean, boolean, boolean, text, timestamptz,
	timestamptz, bigint[]) IS
	'moves one index, or the indexes of a table or partitioned table, to another tablespace while they are in use, by live block copy or REINDEX CONCURRENTLY; without tablespace, or with hot_only, what and where the advice says. Errors as of move_table_concurrently(), but 42809 neither table nor index, 0A000 an index that cannot be moved by that method';

CREATE PROCEDURE @extschema@.move_table_concurrently(
	target regclass,
	tablespace name,
	with_indexes boolean DEFAULT false,
	method text DEFAULT 'auto',
	max_rate text DEFAULT NULL,
	lock_timeout interval DEFAULT '100 ms',
	wait boolean DEFAULT true,
	dry_run boolean DEFAULT false,
	hot_only boolean DEFAULT false,
	min_rate text DEFAULT NULL,
	until timestamptz DEFAULT NULL,
	finish_by timestamptz DEFAULT NULL,
	INOUT job_ids bigint[] DEFAULT NULL)
LANGUAGE C AS 'MODULE_PATHNAME', 'tsa_move_table_concurrently';
COMMENT ON PROCEDURE @extschema@.move_table_concurrently(regclass, name, boolean,
	text, text, interval, boolean, boolean, boolean, text, timestamptz,
	timestamptz, bigint[]) IS
	'moves a table, materialized view or the partitions of a partitioned table to another tablespace while they are in use, with TOAST, by live block copy; with_indexes: its indexes too, those that live copy applies to in the same cutover, others by rebuild. Errors: 42501 not the owner of the table or no CREATE on the tablespace, 42704 no such tablespace, 22004 nulls, 22023 a bad method, rate or lock_timeout, or pg_global, 42P01 no such relation, 42809 not a table, 0A000 method rebuild, or a table that live copy cannot move, 55006 it or one of its indexes is being moved, 53100 too little space, 53000 no worker slot is free, 53400 a limit of workers of users, 25006 read-only or a standby, 25001 in a transaction block';

CREATE FUNCTION @extschema@.cancel_move(job_id bigint) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_cancel_move';
COMMENT ON FUNCTION @extschema@.cancel_move(bigint) IS
	'cancels a move: one that is queued at once, one that runs as soon as its worker notices; false when the move has ended already; 42704 when there is no such job, 42501 unless it is the caller''s own or the caller is a member of pg_signal_backend';

CREATE FUNCTION @extschema@.retry_move(job_id bigint) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_retry_move';
COMMENT ON FUNCTION @extschema@.retry_move(bigint) IS
	'queues a failed or cancelled move again, with the same options and the caller''s rights, and returns the new job''s id, or NULL if the relation is in that tablespace already; a partitioned index takes those of its partitions that are elsewhere along, a table the indexes that its job was to move along, and the id is the first of these jobs; the move begins when the transaction commits; 42704 when there is no such job, 55000 when it has not failed, 55006 when another move of the table has not ended';

CREATE FUNCTION @extschema@.pause_move(job_id bigint) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_pause_move';
COMMENT ON FUNCTION @extschema@.pause_move(bigint) IS
	'asks a live copy to pause, once the transaction commits: within a second or so if it runs, when it begins if it is queued; it keeps what it has copied, and moves queued behind it wait; false when the move has ended or was asked already; 42704 when there is no such job, 42501 unless it is the caller''s own or the caller is a member of pg_signal_backend, 0A000 for other methods';

CREATE FUNCTION @extschema@.resume_move(job_id bigint) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_resume_move';
COMMENT ON FUNCTION @extschema@.resume_move(bigint) IS
	'withdraws what pause_move() has asked for; false when there is nothing to withdraw or the move has ended; 42704 when there is no such job, 42501 unless it is the caller''s own or the caller is a member of pg_signal_backend';

CREATE FUNCTION @extschema@.alter_move(
	job_id bigint,
	max_rate text DEFAULT NULL,
	min_rate text DEFAULT NULL,
	finish_by timestamptz DEFAULT NULL)
RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_alter_move';
COMMENT ON FUNCTION @extschema@.alter_move(bigint, text, text, timestamptz) IS
	'changes limits of a live copy, within a second or so of the commit if it runs; NULL leaves one, ''none'' or infinity removes it; false when the move has ended or nothing is to be changed; 42704 when there is no such job, 42501 unless it is the caller''s own, 22023 for a min_rate over max_rate, 0A000 for other methods';

CREATE FUNCTION @extschema@.undo_move(job_id bigint) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_undo_move';
COMMENT ON FUNCTION @extschema@.undo_move(bigint) IS
	'queues a move of the relation back to the tablespace where the given move found it, with the same options and the caller''s rights, and returns the new job''s id; the indexes that moved along with a table go back to where each was, unless moved since, by jobs of their own if that was elsewhere; of a partitioned table or index just its own entry goes back, its partitions have jobs of their own; the move begins when the transaction commits; 42704 when there is no such job, 42P01 when the relation is gone, 55000 when the move is not done or the relation is back already, 55006 when another move of the table has not ended';

CREATE FUNCTION @extschema@.wait_for_moves(
	job_ids bigint[],
	timeout interval DEFAULT NULL)
RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_wait_for_moves';
COMMENT ON FUNCTION @extschema@.wait_for_moves(bigint[], interval) IS
	'waits until all of these moves have ended, however: true; false when that takes longer than timeout (NULL: no limit). Errors: 42704 there is no such job, 22004 nulls, 42501 it is neither the caller''s own nor the caller a member of pg_read_all_stats, 40P01 a move waits for the caller''s transaction';
/*
 * src/move/outcomes.sql
 *
 * What a move was expected to save, beside what was measured.  The moves of a
 * call, or of a round of apply_placement(), follow each other within minutes,
 * and so may calls; what the database did after them belongs to all of them.
 * So the unit is what samples cannot tell apart: calls and rounds between which
 * fewer than three samples lie.  Windows before and after a unit are equally
 * long, as long as samples allow, one day at most, but where a day has fewer as
 * long as six of them take; they hold no part of any move, and end before one of
 * the moved relations is rewritten.
 *
 * The server times reads per database.  The load is hardly the same in both
 * windows, so the read time after the moves is scaled to the block accesses
 * before them: those of relations, since taking samples makes some, too, which
 * are most of all where little else goes on.  A relation's own share is its
 * reads past all caches, at what a page takes by the counters of the device it
 * was on; where there are none, its reads at the mean time of all reads before,
 * and after at what is left of the read time when all others' reads take what
 * they took before.
 *
 * What is uncertain is how far samples differ from one time per access, not how
 * much there was to do in each: a load that comes and goes makes no interval wide.
 */
COMMENT ON TABLE tablespace_advisor.placement_round IS
	'the calls of moves that apply_placement() has made: the round (first batch) that each is part of, whether it undid an earlier round, and whether what it moved back has been pinned';

/* A reset, or much maintenance, leaves nothing that could be compared. */
CREATE VIEW tablespace_advisor.undisturbed_interval AS
SELECT i.*
FROM tablespace_advisor.sample_interval i
LEFT JOIN (SELECT r.sample_id, sum(r.maintenance_reads) AS reads
	FROM tablespace_advisor.relation_sample r
	WHERE r.maintenance_reads > 0
	GROUP BY r.sample_id) m ON m.sample_id = i.sample_id
LEFT JOIN LATERAL (SELECT sum(w.bytes)
		/ pg_catalog.current_setting('block_size')::int AS blocks
	FROM (SELECT s.filenode_since, sum(s.size_bytes) AS bytes
		FROM tablespace_advisor.sampled_relation s
		WHERE s.filenode_since IS NOT NULL
		GROUP BY s.filenode_since) w
	WHERE w.filenode_since >= i.started_at AND w.filenode_since < i.taken_at) n ON true
WHERE i.seconds > 0 AND NOT i.was_reset
	AND 20 * (coalesce(m.reads, 0) + coalesce(n.blocks, 0)) <= i.blocks_read;
COMMENT ON VIEW tablespace_advisor.undisturbed_interval IS
	'sample_interval without those in which statistics were reset, or a twentieth of the reads may be of VACUUM, ANALYZE, or making relations anew (REINDEX, CREATE INDEX, VACUUM FULL)';

/* What samples cannot tell apart. */
CREATE VIEW tablespace_advisor.moved_together AS
WITH call AS MATERIALIZED (
	SELECT coalesce(r.round_id, j.batch_id) AS call_id,
		min(j.started_at) AS started_at,
		max(coalesce(j.finished_at, 'infinity')) AS finished_at,
		sum(j.forecast_saved_ms_per_s) FILTER (WHERE j.state = 'done') AS forecast
	FROM tablespace_advisor.job j
	LEFT JOIN tablespace_advisor.placement_round r ON r.batch_id = j.batch_id
	WHERE j.started_at IS NOT NULL AND j.method <> 'catalog'
	GROUP BY 1
), chained AS (
	SELECT c.*, max(c.finished_at) OVER (ORDER BY c.started_at, c.call_id
		ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_end
	FROM call c
), sampled AS (
	/* when the third sample after the end of earlier calls had ended; backwards, so
	   that the frame only grows */
	SELECT e.call_id, min(e.third_end) OVER (ORDER BY e.at DESC, e.call_id DESC
		ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS third_end
	FROM (SELECT c.call_id, c.last_end AS at, NULL::timestamptz AS third_end
			FROM chained c
		UNION ALL
		SELECT NULL, i.started_at, lead(i.taken_at, 2) OVER (ORDER BY i.started_at)
			FROM tablespace_advisor.undisturbed_interval i) e
), numbered AS (
	/* what has no sample before it keeps none from those that have some */
	SELECT c.*, sum((c.last_end IS NULL OR s.third_end <= c.started_at
			OR c.last_end < c.started_at - interval '1 day'
			OR c.last_end <= f.begins)::int)
		OVER (ORDER BY c.started_at, c.call_id) AS unit
	FROM chained c JOIN sampled s ON s.call_id = c.call_id
	CROSS JOIN (SELECT min(i.started_at) AS begins
		FROM tablespace_advisor.undisturbed_interval i) f
)
SELECT n.call_id, min(n.call_id) OVER u AS unit_id,
	min(n.started_at) OVER u AS started_at, max(n.finished_at) OVER u AS finished_at,
	sum(n.forecast) OVER u AS forecast
FROM numbered n
WINDOW u AS (PARTITION BY n.unit);
COMMENT ON VIEW tablespace_advisor.moved_together IS
	'calls and rounds that made moves, and the unit each belongs to, that is those that fewer than three samples lie between: its first call, when it began and ended (infinity: under way), its forecast in milliseconds per second';

CREATE TYPE tablespace_advisor.window_summary AS (
	sample_ids int[],
	seconds float8[],
	accesses float8[],
	blocks_read float8[],
	read_ms float8[],
	accesses_per_s float8,
	reads_per_s float8,
	read_ms_per_s float8,
	read_ms_error float8,
	statements_per_s float8,
	statement_ms float8,
	statement_ms_error float8
);
COMMENT ON TYPE tablespace_advisor.window_summary IS
	'samples, and as a whole: their numbers and lengths, block accesses of the database''s relations but for catalogs, all of its reads, and milliseconds that the server timed for them; all three per second; milliseconds per statement by pg_stat_statements; the standard errors of the latter two, at these accesses; NULL where there is nothing of that';

/* By jackknife: how far the ratio is from that without each of the samples. */
CREATE FUNCTION tablespace_advisor.ratio_error(amounts float8[], bases float8[])
RETURNS float8
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT sqrt(sum(((p.amount - w.amount / nullif(w.base, 0) * p.base)
		/ nullif(w.base - p.base, 0)) ^ 2) * (w.n - 1) / w.n)
	FROM (SELECT count(*) AS n, max(p.base) AS most, sum(p.amount) AS amount,
			sum(p.base) AS base
		FROM unnest(amounts, bases) p(amount, base)) w
	CROSS JOIN unnest(amounts, bases) p(amount, base)
	WHERE w.n >= 3 AND w.most < w.base
	GROUP BY w.n, w.amount, w.base
$$;
COMMENT ON FUNCTION tablespace_advisor.ratio_error(float8[], float8[]) IS
	'standard error of the sum of amounts over that of bases, of which each sample has one; NULL with fewer than three samples, or if no two have bases';

/* Student's t for as many degrees of freedom as Welch gives, by expansion. */
CREATE FUNCTION tablespace_advisor.difference_error(
	error_before float8,
	n_before int,
	error_after float8,
	n_after int)
RETURNS float8
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT sqrt(d.square) * CASE WHEN d.square > 0
		THEN 1.96 + 2.3723 / d.freedom + 2.8225 / d.freedom ^ 2 + 2.5558 / d.freedom ^ 3
		ELSE 0 END
	FROM (SELECT error_before ^ 2 + error_after ^ 2 AS square,
		(error_before ^ 2 + error_after ^ 2) ^ 2 / nullif(error_before ^ 4 / (n_before - 1)
			+ error_after ^ 4 / (n_after - 1), 0) AS freedom) d
$$;
COMMENT ON FUNCTION tablespace_advisor.difference_error(float8, int, float8, int) IS
	'half width of the 95 % interval of a difference of two means of so many samples, from their standard errors';

/* Equal windows before and after the moves. */
CREATE VIEW tablespace_advisor.unit_window AS
WITH sample AS MATERIALIZED (
	SELECT * FROM tablespace_advisor.undisturbed_interval
), together AS MATERIALIZED (
	SELECT * FROM tablespace_advisor.moved_together
), unit AS (
	SELECT u.*, u.started_at - lag(u.finished_at) OVER w AS since_last,
		lead(u.started_at) OVER w - u.finished_at AS until_next
	FROM (SELECT DISTINCT m.unit_id, m.started_at, m.finished_at, m.forecast
		FROM together m) u
	WINDOW w AS (ORDER BY u.started_at)
), rewritten AS (
	SELECT t.unit_id, min(s.filenode_since) AS at
	FROM together t
	LEFT JOIN tablespace_advisor.placement_round r ON r.round_id = t.call_id
	JOIN tablespace_advisor.job j ON j.batch_id = coalesce(r.batch_id, t.call_id)
	JOIN tablespace_advisor.sampled_relation s ON s.relation = j.relation
	WHERE s.filenode_since > t.finished_at
	GROUP BY t.unit_id
), placed AS (
	SELECT u.*, e.begins, e.ends, e.usual_s, r.at AS rewritten_at,
		CASE WHEN u.finished_at < 'infinity' THEN least(
			greatest(interval '1 day', f.ends - u.finished_at, u.started_at - f.begins),
			u.started_at - e.begins, e.ends - u.finished_at,
			u.since_last, u.until_next, r.at - u.finished_at) END AS length
	FROM unit u
	CROSS JOIN (SELECT min(s.started_at) AS begins, max(s.taken_at) AS ends,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY s.seconds) AS usual_s FROM sample s) e
	CROSS JOIN LATERAL (SELECT
		(SELECT max(s.taken_at) FROM (SELECT s.taken_at FROM sample s
			WHERE s.started_at >= u.finished_at ORDER BY s.started_at LIMIT 6) s) AS ends,
		(SELECT min(s.started_at) FROM (SELECT s.started_at FROM sample s
			WHERE s.taken_at <= u.started_at ORDER BY s.taken_at DESC LIMIT 6) s) AS begins) f
	LEFT JOIN rewritten r USING (unit_id)
), summed AS (
	SELECT p.unit_id, s.started_at >= p.finished_at AS is_after,
		(array_agg(s.sample_id), array_agg(s.seconds), array_agg(a.accesses),
		array_agg(s.blocks_read), array_agg(s.read_ms), sum(a.accesses) / sum(s.seconds),
		sum(s.blocks_read) / sum(s.seconds),
		CASE WHEN bool_and(s.read_ms IS NOT NULL) THEN sum(s.read_ms) / sum(s.seconds) END,
		CASE WHEN bool_and(s.read_ms IS NOT NULL) THEN tablespace_advisor.ratio_error(
				array_agg(s.read_ms), array_agg(a.accesses))
			* sum(a.accesses) / sum(s.seconds) END,
		CASE WHEN bool_and(s.statements IS NOT NULL) THEN sum(s.statements) / sum(s.seconds) END,
		CASE WHEN bool_and(s.statements IS NOT NULL)
			THEN sum(s.statements_ms) / nullif(sum(s.statements), 0)::float8 END,
		CASE WHEN bool_and(s.statements > 0) THEN tablespace_advisor.ratio_error(
			array_agg(s.statements_ms), array_agg(s.statements::float8)) END
		)::tablespace_advisor.window_summary AS figures
	FROM placed p
	JOIN sample s ON s.started_at >= p.started_at - p.length AND s.taken_at <= p.started_at
		OR s.started_at >= p.finished_at AND s.taken_at <= p.finished_at + p.length
	CROSS JOIN LATERAL (SELECT coalesce(sum(coalesce(r.reads, 0) + coalesce(r.hits, 0)), 0)::float8
			AS accesses
		FROM tablespace_advisor.relation_sample r WHERE r.sample_id = s.sample_id) a
	WHERE p.length > interval '0'
	GROUP BY 1, 2
)
SELECT p.unit_id, CASE WHEN p.length > interval '0' THEN p.forecast END AS forecast,
	CASE WHEN p.length > interval '0' THEN p.length END AS length,
	b.figures AS before, a.figures AS after,
	CASE WHEN p.finished_at = 'infinity' THEN 'moves under way'
		WHEN p.begins IS NULL OR p.begins >= p.started_at THEN 'none before'
		WHEN p.ends <= p.finished_at THEN 'samples'
		WHEN p.length = p.rewritten_at - p.finished_at THEN 'rewritten'
		WHEN p.length = p.started_at - p.begins THEN 'few before'
		WHEN p.length = p.ends - p.finished_at THEN 'samples'
		ELSE 'other' END AS bounded_by,
	p.usual_s
FROM placed p
LEFT JOIN summed b ON b.unit_id = p.unit_id AND NOT b.is_after
LEFT JOIN summed a ON a.unit_id = p.unit_id AND a.is_after;
COMMENT ON VIEW tablespace_advisor.unit_window IS
	'per unit of moved_together what samples measured in equal windows before and after it (NULL: not ended, or no samples), what keeps them from being longer (samples: the last one), and the usual seconds between samples';

/*
 * The windows compared.  No interval, no judgement: fewer than three samples on
 * a side.
 */
CREATE VIEW tablespace_advisor.unit_outcome AS
SELECT w.*, s.scale,
	(w.before).read_ms_per_s - (w.after).read_ms_per_s * s.scale AS saved,
	tablespace_advisor.difference_error((w.before).read_ms_error, n.before,
		(w.after).read_ms_error * s.scale, n.after) AS error,
	(w.before).statement_ms - (w.after).statement_ms AS statement_saved,
	tablespace_advisor.difference_error((w.before).statement_ms_error, n.before,
		(w.after).statement_ms_error, n.after) AS statement_error,
	(w.before).read_ms_per_s / nullif((w.before).reads_per_s, 0) AS mean_read_ms,
	tablespace_advisor.ratio_error((w.before).read_ms, (w.before).blocks_read)
		AS mean_read_error
FROM tablespace_advisor.unit_window w
CROSS JOIN LATERAL (SELECT (w.before).accesses_per_s
	/ nullif((w.after).accesses_per_s, 0) AS scale) s
CROSS JOIN LATERAL (SELECT cardinality((w.before).sample_ids) AS before,
	cardinality((w.after).sample_ids) AS after) n;
COMMENT ON VIEW tablespace_advisor.unit_outcome IS
	'per unit of moves what the database''s reading took less after it, scaled to the accesses before, with the half width of its 95 % interval (NULL: fewer than three samples on a side), in milliseconds per second; mean_read_ms, mean_read_error: what a read took before, and its standard error';

/* What would have to be there for a judgement, or that nothing will bring one. */
CREATE FUNCTION tablespace_advisor.missing_for_outcome(
	bounded_by text,
	before tablespace_advisor.window_summary,
	after tablespace_advisor.window_summary,
	usual_s float8)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN bounded_by = 'moves under way' THEN 'the end of moves that are judged with it'
		WHEN bounded_by = 'none before' THEN 'nothing: no two samples lie before it'
		WHEN n.fewest < 3 AND bounded_by = 'samples'
			THEN format('%s after it%s', CASE n.fewest WHEN 2 THEN 'one more sample'
					ELSE 3 - n.fewest || ' more samples' END,
				CASE WHEN usual_s > 0 THEN format(', taken every %s until now',
					tablespace_advisor.pretty_seconds(usual_s)) ELSE '' END)
		WHEN n.fewest < 3 THEN 'nothing: ' || CASE bounded_by
			WHEN 'rewritten' THEN 'what it moved was rewritten before there were three samples'
			WHEN 'few before' THEN CASE WHEN cardinality((before).sample_ids) >= 3
				THEN 'in as short a time as samples reach back before it there are not three after it'
				ELSE 'fewer than three samples lie before it' END
			ELSE 'fewer than three samples can be compared on each side' END
		WHEN (before).read_ms_per_s IS NULL OR (after).read_ms_per_s IS NULL
			THEN 'nothing: track_io_timing was off'
		WHEN (before).reads_per_s = 0 THEN 'nothing: nothing was read before it'
		WHEN (after).accesses_per_s = 0 THEN 'nothing: nothing was read after it'
		END
	FROM (SELECT least(coalesce(cardinality((before).sample_ids), 0),
		coalesce(cardinality((after).sample_ids), 0)) AS fewest) n
$$;
GRANT EXECUTE ON FUNCTION tablespace_advisor.missing_for_outcome(text,
	tablespace_advisor.window_summary, tablespace_advisor.window_summary, float8) TO pg_monitor;
COMMENT ON FUNCTION tablespace_advisor.missing_for_outcome(text,
	tablespace_advisor.window_summary, tablespace_advisor.window_summary, float8) IS
	'what the outcome of moves waits for, of a row of unit_window, as text; NULL if nothing is missing';

CREATE TYPE tablespace_advisor.read_summary AS (
	reads float8,
	hits float8,
	sampled_reads float8[],
	sampled_device_reads float8[]
);
COMMENT ON TYPE tablespace_advisor.read_summary IS
	'blocks per second that relations read past shared buffers, and found in them; and blocks of each sample that they read past these, and past the system''s cache too';

/* A sample without a row of a relation is one in which nothing was read of it. */
CREATE FUNCTION tablespace_advisor.relation_reads(
	relations oid[],
	figures tablespace_advisor.window_summary)
RETURNS tablespace_advisor.read_summary
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT (coalesce(sum(r.reads), 0) / sum(s.seconds),
		coalesce(sum(r.hits), 0) / sum(s.seconds),
		array_agg(coalesce(r.reads, 0) ORDER BY s.n),
		array_agg(coalesce(r.device_reads, 0) ORDER BY s.n))
			::tablespace_advisor.read_summary
	FROM unnest((figures).sample_ids, (figures).seconds) WITH ORDINALITY s(id, seconds, n)
	LEFT JOIN LATERAL (SELECT sum(r.reads)::float8 AS reads, sum(r.hits)::float8 AS hits,
			sum(greatest(0, r.reads - coalesce(r.maintenance_reads, 0)
				- coalesce(r.cached_reads, 0)))::float8 AS device_reads
		FROM tablespace_advisor.relation_sample r
		WHERE r.sample_id = s.id AND r.relation = ANY (relations)) r ON true
$$;
GRANT EXECUTE ON FUNCTION tablespace_advisor.relation_reads(
	oid[], tablespace_advisor.window_summary) TO pg_monitor;
COMMENT ON FUNCTION tablespace_advisor.relation_reads(oid[], tablespace_advisor.window_summary) IS
	'what some relations read in some samples, as read_summary says';

CREATE FUNCTION tablespace_advisor.page_read_ms(of_tablespace oid, sample_ids int[])
RETURNS float8[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH sample AS (
		SELECT s.n, sum(d.reads) AS reads, sum(d.read_ms) AS ms,
			sum(d.read_bytes) / current_setting('block_size')::float8 AS pages
		FROM unnest(sample_ids) WITH ORDINALITY s(id, n)
		LEFT JOIN tablespace_advisor.device_interval d
			ON d.sample_id = s.id AND d.tablespace = of_tablespace
		GROUP BY s.n
	)
	SELECT array_agg(CASE WHEN s.reads >= 30 AND s.pages > 0 THEN s.ms / s.pages ELSE w.ms END
		ORDER BY s.n)
	FROM sample s
	CROSS JOIN (SELECT sum(s.ms) / sum(s.pages) AS ms FROM sample s
		HAVING sum(s.reads) >= 30 AND sum(s.ms) > 0 AND sum(s.pages) > 0) w
$$;
GRANT EXECUTE ON FUNCTION tablespace_advisor.page_read_ms(oid, int[]) TO pg_monitor;
COMMENT ON FUNCTION tablespace_advisor.page_read_ms(oid, int[]) IS
	'milliseconds that the device under a tablespace took for a page in each of some samples, or in all of them where one has fewer than 30 reads; NULL if all have fewer, or if it does not count time';

/*
 * What each relation read in both windows, and what a page of it took; of the last
 * thousand moves of each role, lest everybody waits for those of one who moves
 * thousands of small ones.
 */
CREATE VIEW tablespace_advisor.moved_reads AS
WITH toast AS MATERIALIZED (
	SELECT i.heap, array_agg(i.relation) AS relations
	FROM tablespace_advisor.inventory_of(array(SELECT DISTINCT j.relation
		FROM tablespace_advisor.job j WHERE j.state = 'done')) i
	WHERE i.kind IN ('toast', 'toast index')
	GROUP BY i.heap
), moved AS MATERIALIZED (
	SELECT j.*, t.call_id, u AS unit, array_remove(ARRAY[j.relation, j.old_index], NULL)
		|| coalesce(j.indexes, '{}') || coalesce(o.relations, '{}') AS relations
	FROM (SELECT d.*, row_number() OVER (PARTITION BY d.owner ORDER BY d.job_id DESC) AS nth
		FROM tablespace_advisor.job d
		WHERE d.state = 'done' AND d.method <> 'catalog') j
	LEFT JOIN tablespace_advisor.placement_round r ON r.batch_id = j.batch_id
	JOIN tablespace_advisor.moved_together t ON t.call_id = coalesce(r.round_id, j.batch_id)
	JOIN tablespace_advisor.unit_outcome u ON u.unit_id = t.unit_id
	LEFT JOIN toast o ON o.heap = j.relation
	WHERE j.nth <= 1000
), read AS MATERIALIZED (
	SELECT u.unit_id, u.relations, b AS before, a AS after
	FROM (SELECT DISTINCT ON ((m.unit).unit_id, m.relations) (m.unit).unit_id, m.relations, m.unit
		FROM moved m) u
	CROSS JOIN LATERAL tablespace_advisor.relation_reads(u.relations, (u.unit).before) b
	CROSS JOIN LATERAL tablespace_advisor.relation_reads(u.relations, (u.unit).after) a
), together AS MATERIALIZED (
	SELECT u.unit_id, tablespace_advisor.relation_reads(u.relations, u.after) AS after
	FROM (SELECT (m.unit).unit_id, (m.unit).after, array_agg(DISTINCT r) AS relations
		FROM moved m CROSS JOIN LATERAL unnest(m.relations) r GROUP BY 1, 2) u
), device AS MATERIALIZED (
	SELECT p.unit_id, p.is_after, p.tablespace, tablespace_advisor.page_read_ms(
		p.tablespace, (p.figures).sample_ids) AS page_ms
	FROM (SELECT DISTINCT ON (1, 2, 3) (m.unit).unit_id, e.*
		FROM moved m
		CROSS JOIN LATERAL (VALUES (false, m.from_tablespace, (m.unit).before),
			(true, m.to_tablespace, (m.unit).after)) e(is_after, tablespace, figures)) p
)
SELECT m.job_id, m.call_id, m.unit, d.before, d.after,
	f.page_ms AS page_ms_before, t.page_ms AS page_ms_after, m.relation, m.started_at,
	m.forecast_saved_ms_per_s AS forecast, u.after AS unit_after
FROM moved m
JOIN read d ON d.unit_id = (m.unit).unit_id AND d.relations = m.relations
LEFT JOIN together u ON u.unit_id = (m.unit).unit_id
LEFT JOIN device f ON f.unit_id = (m.unit).unit_id AND NOT f.is_after
	AND f.tablespace = m.from_tablespace
LEFT JOIN device t ON t.unit_id = (m.unit).unit_id AND t.is_after
	AND t.tablespace = m.to_tablespace;
COMMENT ON VIEW tablespace_advisor.moved_reads IS
	'per move that is done and was sampled on both sides, of the last 1000 of each role: its unit, what its relation read before and after (unit_after: what all that moved did), and milliseconds that a page took in each sample on the devices it was on (NULL: not counted)';

CREATE FUNCTION tablespace_advisor.own_read_time(
	own tablespace_advisor.read_summary,
	page_ms float8[],
	figures tablespace_advisor.window_summary,
	unit_reads float8[] DEFAULT NULL,
	other_read_ms float8 DEFAULT NULL,
	OUT ms float8,
	OUT error float8)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT greatest(0, sum(s.ms) / sum(s.seconds)),
		tablespace_advisor.ratio_error(array_agg(s.ms), array_agg(s.accesses))
			* sum(s.accesses) / sum(s.seconds)
	FROM (SELECT s.seconds, s.accesses, CASE
			WHEN page_ms IS NOT NULL THEN s.device_reads * s.page_ms
			WHEN unit_reads IS NULL THEN s.reads * coalesce(s.read_ms / nullif(s.blocks, 0), 0)
			ELSE coalesce(s.reads / nullif(s.unit_reads, 0), 0) * (s.read_ms
				- other_read_ms * greatest(0, s.blocks - s.unit_reads)) END AS ms
		FROM unnest((own).sampled_reads, (own).sampled_device_reads, page_ms, unit_reads,
			(figures).seconds, (figures).accesses, (figures).blocks_read, (figures).read_ms)
			s(reads, device_reads, page_ms, unit_reads, seconds, accesses, blocks, read_ms)) s
$$;
GRANT EXECUTE ON FUNCTION tablespace_advisor.ratio_error(float8[], float8[]),
	tablespace_advisor.difference_error(float8, int, float8, int),
	tablespace_advisor.own_read_time(tablespace_advisor.read_summary, float8[],
		tablespace_advisor.window_summary, float8[], float8) TO pg_monitor;
COMMENT ON FUNCTION tablespace_advisor.own_read_time(tablespace_advisor.read_summary, float8[], tablespace_advisor.window_summary, float8[], float8) IS
	'milliseconds per second that reading a relation took in a window, with their standard error at its accesses: by what a page took in each sample; page_ms NULL: by what a read of the database did, or (unit_reads) by what was left of the read time when others'' reads took other_read_ms';

CREATE VIEW tablespace_advisor.own_outcome AS
SELECT r.*, b.ms - a.ms * (r.unit).scale AS saved, tablespace_advisor.difference_error(
	b.error, cardinality((r.before).sampled_reads),
	(r.unit).scale * sqrt(a.error ^ 2 + o.error ^ 2),
	cardinality((r.after).sampled_reads)) AS error
FROM tablespace_advisor.moved_reads r
CROSS JOIN LATERAL (SELECT r.page_ms_before IS NOT NULL AND r.page_ms_after IS NOT NULL
	AS is_counted) c
CROSS JOIN LATERAL tablespace_advisor.own_read_time(r.before,
	CASE WHEN c.is_counted THEN r.page_ms_before END, (r.unit).before) b
CROSS JOIN LATERAL tablespace_advisor.own_read_time(r.after,
	CASE WHEN c.is_counted THEN r.page_ms_after END, (r.unit).after,
	(r.unit_after).sampled_reads, (r.unit).mean_read_ms) a
/* what is not known of others' reads, for its share of what moved */
CROSS JOIN LATERAL (SELECT CASE WHEN c.is_counted THEN 0
	ELSE coalesce((r.after).reads / nullif((r.unit_after).reads, 0), 0)
		* greatest(0, ((r.unit).after).reads_per_s - (r.unit_after).reads)
		* (r.unit).mean_read_error END AS error) o;
COMMENT ON VIEW tablespace_advisor.own_outcome IS
	'moved_reads with what the relation''s own reading took less after the move, at the accesses before, in milliseconds per second, and the half width of its 95 % interval';

/*
 * A relation that is read by days or at weekends is not slower because today is
 * such a day.
 */
CREATE FUNCTION tablespace_advisor.usual_reads(
	of_relation oid,
	before timestamptz,
	OUT mean float8,
	OUT most float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT avg(d.reads), max(d.reads)
	FROM (SELECT sum(coalesce(r.reads, 0)) / sum(i.seconds) AS reads
		FROM tablespace_advisor.sample_interval i
		LEFT JOIN tablespace_advisor.relation_sample r
			ON r.sample_id = i.sample_id AND r.relation = of_relation
		WHERE i.taken_at <= before AND i.seconds > 0
			AND i.started_at > before - interval '7 days'
		GROUP BY date_bin(interval '1 day', i.taken_at, before)) d
$$;
GRANT EXECUTE ON FUNCTION tablespace_advisor.usual_reads(oid, timestamptz) TO pg_monitor;
COMMENT ON FUNCTION tablespace_advisor.usual_reads(oid, timestamptz) IS
	'blocks per second that a relation read past shared buffers in the week before a moment: mean of the days, and the day of most';

/*
 * A move has made reading slower if its unit did, and the relation's own reads
 * are slower than they were, and saved less than was forecast, had it been made for
 * as many reads, though no more than on a day of the week before: beyond the
 * interval; or, if that is so of another move of the call, by the estimate.  What is
 * read in bursts, as an index that is cold in the morning, has wide intervals.
 */
CREATE VIEW tablespace_advisor.judged_outcome AS
SELECT s.*, s.saved + s.error < s.most_slower OR (s.saved < s.most_slower
	AND bool_or(s.saved + s.error < s.most_slower) OVER (PARTITION BY s.call_id)) AS is_slower
FROM (SELECT o.*, b.band, CASE WHEN (o.unit).saved + (o.unit).error < 0
			AND o.saved < least(0, o.forecast - b.band)
		THEN least(0, o.forecast * (SELECT greatest(1, least(greatest((o.before).reads,
				(o.after).reads * (o.unit).scale), u.most) / nullif(u.mean, 0))
			FROM tablespace_advisor.usual_reads(o.relation, o.started_at) u) - b.band)
		END AS most_slower
	FROM tablespace_advisor.own_outcome o
	CROSS JOIN LATERAL (SELECT greatest(0.25 * abs(o.forecast),
		((o.unit).before).read_ms_per_s / 1000) AS band) b) s;
COMMENT ON VIEW tablespace_advisor.judged_outcome IS
	'own_outcome with what it may differ from the forecast (band), and whether reading the relation got slower (NULL: not known, or no); most_slower: what it must have saved less than for that';

CREATE VIEW @extschema@.move_outcomes AS
SELECT j.job_id, j.batch_id,
	j.relation::regclass AS relation,
	pg_catalog.format('%I.%I', j.schema_name, j.relation_name) AS relation_name,
	j.from_tablespace_name AS from_tablespace, j.to_tablespace_name AS to_tablespace,
	j.finished_at,
	CASE WHEN j.state <> 'done' THEN j.state
		WHEN o.saved IS NULL OR (o.unit).saved IS NULL THEN 'not measured'
		WHEN j.forecast_saved_ms_per_s IS NULL THEN 'no forecast'
		WHEN o.error IS NULL THEN 'too few samples'
		WHEN o.saved + o.error < j.forecast_saved_ms_per_s - o.band THEN 'saved less'
		WHEN o.saved - o.error > j.forecast_saved_ms_per_s + o.band THEN 'saved more'
		WHEN o.error > o.band THEN 'within noise'
		ELSE 'as forecast'
	END AS outcome,
	j.forecast_saved_ms_per_s,
	(o.unit).forecast AS batch_forecast_ms_per_s,
	(o.unit).saved AS batch_saved_ms_per_s,
	(o.unit).saved - (o.unit).error AS batch_saved_low_ms_per_s,
	(o.unit).saved + (o.unit).error AS batch_saved_high_ms_per_s,
	pg_catalog.extract('epoch', (o.unit).length)::float8 AS window_s,
	pg_catalog.cardinality(b.sample_ids)::bigint AS samples_before,
	pg_catalog.cardinality(a.sample_ids)::bigint AS samples_after,
	b.read_ms_per_s AS read_ms_per_s_before, a.read_ms_per_s AS read_ms_per_s_after,
	b.accesses_per_s AS accesses_per_s_before, a.accesses_per_s AS accesses_per_s_after,
	(o.before).reads AS reads_per_s_before, (o.after).reads AS reads_per_s_after,
	(o.before).hits / nullif((o.before).reads + (o.before).hits, 0) AS hit_fraction_before,
	(o.after).hits / nullif((o.after).reads + (o.after).hits, 0) AS hit_fraction_after,
	b.statement_ms AS statement_ms_before, a.statement_ms AS statement_ms_after,
	(o.unit).forecast / nullif(b.statements_per_s, 0) AS statement_forecast_saved_ms,
	(o.unit).statement_saved AS statement_saved_ms,
	(o.unit).statement_saved - (o.unit).statement_error AS statement_saved_low_ms,
	(o.unit).statement_saved + (o.unit).statement_error AS statement_saved_high_ms,
	v.verdict,
	o.saved AS saved_ms_per_s, o.saved - o.error AS saved_low_ms_per_s,
	o.saved + o.error AS saved_high_ms_per_s,
	CASE WHEN v.verdict = 'waiting' THEN CASE
		WHEN o.is_slower THEN pg_catalog.format('nothing: reading got slower; undo_move(%s) takes it back', j.job_id)
		ELSE coalesce(tablespace_advisor.missing_for_outcome((o.unit).bounded_by,
			(o.unit).before, (o.unit).after, (o.unit).usual_s), 'nothing: it was not read') END
	END AS waits_for,
	coalesce(p.round_id, j.batch_id) AS round_id,
	(o.unit).unit_id AS judged_with
FROM tablespace_advisor.job j
LEFT JOIN tablespace_advisor.placement_round p ON p.batch_id = j.batch_id
LEFT JOIN tablespace_advisor.judged_outcome o ON o.job_id = j.job_id
LEFT JOIN LATERAL (SELECT ((o.unit).before).*) b ON true
LEFT JOIN LATERAL (SELECT ((o.unit).after).*) a ON true
CROSS JOIN LATERAL (SELECT CASE WHEN j.state <> 'done' OR j.method = 'catalog' THEN NULL
		WHEN EXISTS (SELECT FROM tablespace_advisor.job u
			WHERE u.relation = j.relation AND u.job_id > j.job_id AND u.state = 'done'
				AND u.from_tablespace = j.to_tablespace
				AND u.to_tablespace = j.from_tablespace) THEN 'undone'
		WHEN o.error IS NULL OR (o.unit).error IS NULL OR o.is_slower THEN 'waiting'
		ELSE 'verified'
	END AS verdict) v
WHERE j.state NOT IN ('queued', 'running', 'paused');
REVOKE ALL ON @extschema@.move_outcomes FROM PUBLIC;
GRANT SELECT ON @extschema@.move_outcomes TO pg_monitor;
COMMENT ON VIEW @extschema@.move_outcomes IS
	'per ended move: the forecast beside what samples measured in equal windows before and after it and what was moved with it, times in milliseconds per second or per statement, with 95 % intervals; batch_id: as in tablespace_moves; round_id: batch_id of the first wave of its round of apply_placement(), or its own; judged_with: round_id of the first of those that samples cannot tell apart, which have the figures batch_… and statement_… in common; outcome: as forecast, saved less, saved more, within noise (these cannot be told apart), no forecast, not measured, too few samples, failed or cancelled. verdict: verified (reading did not get slower), undone (moved back since) or waiting (not known yet, or to be undone by apply_placement()); waits_for: what is missing for that, "nothing" where it will never be known, NULL where it is known';
/* What lies in a tablespace, and how it leaves. */

CREATE FUNCTION tablespace_advisor.relations_in(
	tablespace_oid oid, database_oid oid,
	OUT relation oid, OUT heap oid, OUT goes_with oid, OUT schema_name name,
	OUT relation_name name, OUT kind "char", OUT persistence "char",
	OUT owner oid, OUT filenumber oid, OUT backend int, OUT is_valid boolean,
	OUT is_exclusion boolean, OUT is_deferrable boolean,
	OUT extension_schema name, OUT transaction xid, OUT obstacle text,
	OUT is_locked boolean, OUT is_columnar boolean, OUT job_id bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_relations_in'
LANGUAGE C STRICT VOLATILE ROWS 1000;
COMMENT ON FUNCTION tablespace_advisor.relations_in(oid, oid) IS
	'the relations of a database in a tablespace, catalogs and TOAST among them, those that transactions under way are making, and without a relation files of moves and of the caller''s transaction (is_locked: the journal of moves could not be read); obstacle: why live copy does not apply. A worker looks into other databases (53000: no worker slot is free)';

CREATE FUNCTION tablespace_advisor.is_database_locked(database oid)
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_is_database_locked'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.is_database_locked(oid) IS
	'whether somebody has a lock on a database, or in another one waits for a catalog, so that others cannot connect to it, as ALTER DATABASE ... RENAME does';

CREATE FUNCTION tablespace_advisor.databases_in(tablespace_oid oid)
RETURNS TABLE (database oid, name name, is_default boolean, is_valid boolean,
	is_locked boolean)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT d.oid, d.datname, d.dattablespace = tablespace_oid,
		d.datconnlimit <> -2, tablespace_advisor.is_database_locked(d.oid)
	FROM pg_database d
	WHERE d.dattablespace = tablespace_oid
		OR d.oid::text IN (SELECT f.name FROM tablespace_advisor.files_in(
			tablespace_advisor.tablespace_directory(tablespace_oid)) f)
		OR EXISTS (SELECT FROM pg_shdepend s WHERE s.dbid = d.oid
			AND s.refclassid = 'pg_tablespace'::regclass
			AND s.refobjid = tablespace_oid)
	ORDER BY d.datname <> current_database(), d.datname
$$;
COMMENT ON FUNCTION tablespace_advisor.databases_in(oid) IS
	'databases that have something in a tablespace, be it only a partitioned table; is_default: their catalogs too; is_valid: false if a DROP DATABASE was interrupted; is_locked: nobody can connect';

/*
 * A tablespace to which ALTER DATABASE could move a database: one in which it
 * has no file and no partitioned relation.  preferred comes first, what is in
 * the data directory last.
 */
CREATE FUNCTION tablespace_advisor.third_tablespace(
	database_oid oid, present oid, preferred oid)
RETURNS name
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT t.spcname
	FROM pg_tablespace t
	WHERE t.oid <> present AND t.spcname <> 'pg_global'
		AND NOT EXISTS (SELECT FROM tablespace_advisor.files_in(
			tablespace_advisor.tablespace_directory(t.oid) || '/' || database_oid))
	ORDER BY t.oid IS DISTINCT FROM preferred, t.spcname = 'pg_default',
		t.spcname
	LIMIT 1
$$;
COMMENT ON FUNCTION tablespace_advisor.third_tablespace(oid, oid, oid) IS
	'a tablespace in which a database has no files, so that ALTER DATABASE can move it there; NULL if there is none';

/*
 * The relations of a database in a tablespace, TOAST counted with its table,
 * and how each leaves.  The journal of moves is in use while anything moves.
 */
CREATE FUNCTION tablespace_advisor.leaving_relations(
	tablespace_oid oid, database_oid oid, is_default boolean)
RETURNS TABLE (relation oid, heap oid, kind "char", schema_name name,
	relation_name name, persistence "char", owner oid, is_valid boolean,
	extension_schema name, size_bytes bigint, how text, why text, detail text,
	backend int, is_journal boolean)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH found AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.relations_in(tablespace_oid, database_oid) r
		WHERE r.transaction IS NULL AND r.relation IS NOT NULL
	), storage AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.storage_in(tablespace_oid, database_oid)
	), sized AS MATERIALIZED (
		SELECT coalesce(f.goes_with, f.relation) AS relation,
			coalesce(sum(s.bytes), 0)::bigint AS size_bytes
		FROM found f
			LEFT JOIN storage s ON s.filenumber = f.filenumber
				AND s.backend IS NOT DISTINCT FROM f.backend
		GROUP BY 1
	), held AS MATERIALIZED (
		SELECT l.relation, min(p.gid) AS gid
		FROM pg_locks l
			JOIN pg_locks x ON x.virtualtransaction = l.virtualtransaction
				AND x.locktype = 'transactionid' AND x.pid IS NULL
			JOIN pg_prepared_xacts p ON p.transaction = x.transactionid
		WHERE l.locktype = 'relation' AND l.pid IS NULL
			AND l.database = database_oid
		GROUP BY l.relation
	)
	SELECT f.relation, f.heap, f.kind, f.schema_name, f.relation_name,
		f.persistence, f.owner, f.is_valid, f.extension_schema, s.size_bytes,
		e.how, w.why,
		CASE w.why WHEN 'prepared' THEN h.gid WHEN 'obstacle' THEN f.obstacle END,
		f.backend, e.is_journal
	FROM found f
		JOIN sized s USING (relation)
		LEFT JOIN held h ON h.relation = f.heap
		CROSS JOIN LATERAL (SELECT f.extension_schema IS NOT NULL
				AND f.schema_name = 'tablespace_advisor'
				AND (f.relation_name IN ('job', 'request')
					OR f.kind = 'i' AND f.relation_name ~ '^(job|request)_'))
			j(is_journal)
		CROSS JOIN LATERAL (SELECT CASE
			WHEN f.persistence = 't' THEN 'temporary'
			WHEN f.relation < 16384 AND is_default OR f.kind = 'S' THEN 'with database'
			WHEN f.relation < 16384 THEN 'lock'
			WHEN f.kind IN ('p', 'I') THEN 'catalog'
			WHEN f.is_columnar THEN 'never'
			WHEN j.is_journal OR f.kind = 'i' AND NOT f.is_valid THEN 'lock'
			WHEN f.obstacle IS NULL AND f.extension_schema IS NOT NULL THEN 'live'
			WHEN f.kind = 'i' AND NOT f.is_exclusion AND NOT f.is_deferrable
				THEN 'rebuild'
			ELSE 'lock' END, j.is_journal) e(how, is_journal)
		CROSS JOIN LATERAL (SELECT CASE
			WHEN e.how = 'temporary' THEN 'temporary'
			WHEN f.relation < 16384 AND is_default THEN 'system with database'
			WHEN f.relation < 16384 THEN 'system'
			WHEN f.kind = 'S' THEN 'sequence'
			WHEN f.persistence <> 'u' AND h.gid IS NOT NULL THEN 'prepared'
			WHEN e.how = 'catalog' THEN 'catalog'
			WHEN e.is_journal THEN 'journal'
			WHEN e.how = 'never' THEN 'columnar'
			WHEN f.kind = 'i' AND NOT f.is_valid THEN 'invalid'
			WHEN f.obstacle IS NOT NULL THEN 'obstacle'
			WHEN f.extension_schema IS NULL THEN 'no extension'
			WHEN f.is_locked THEN 'locked' END) w(why)
	WHERE f.goes_with IS NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.leaving_relations(oid, oid, boolean) IS
	'the relations of a database in a tablespace, TOAST counted with its table, and how each can leave; why, detail: see leaving_reason()';

/* Where what is in a tablespace would go if nobody says so. */
CREATE FUNCTION tablespace_advisor.other_tablespace(
	tablespace_oid oid, target_oid oid, database_oid oid)
RETURNS name
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT t.spcname
	FROM pg_tablespace t, pg_database d
	WHERE d.oid = database_oid AND t.oid <> tablespace_oid
		AND (t.oid = target_oid
			OR target_oid IS NULL AND t.oid IN (d.dattablespace, 1663))
	ORDER BY t.oid <> d.dattablespace
	LIMIT 1
$$;
COMMENT ON FUNCTION tablespace_advisor.other_tablespace(oid, oid, oid) IS
	'the tablespace named, else the database''s default, else pg_default; never the one that is left';

/* A database whose default it is, without the relations that leave alone. */
CREATE FUNCTION tablespace_advisor.database_leaving(
	tablespace_oid oid, target_oid oid, database_oid oid, name name,
	size_bytes bigint,
	OUT how text, OUT statement text, OUT reason text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'with database',
		format('ALTER DATABASE %I SET TABLESPACE ', name) || quote_ident(t.third),
		format('Its default tablespace is "%s": catalogs and sequences (%s) move with it. ALTER DATABASE needs a tablespace in which the database has no relation yet, nobody connected to it, and is run from another database.%s',
			p.spcname, pg_size_pretty(size_bytes),
			CASE WHEN t.third IS NULL
				THEN ' There is no such tablespace: create one.' END)
	FROM pg_tablespace p
		CROSS JOIN LATERAL (SELECT tablespace_advisor.third_tablespace(
			database_oid, tablespace_oid, target_oid)) t(third)
	WHERE p.oid = tablespace_oid
$$;
COMMENT ON FUNCTION tablespace_advisor.database_leaving(
	oid, oid, oid, name, bigint) IS
	'how a database leaves its default tablespace';

CREATE FUNCTION tablespace_advisor.contents_beside_databases(
	tablespace_oid oid, target_oid oid, show_names boolean,
	with_settings boolean)
RETURNS TABLE (database name, relation text, kind text, size_bytes bigint,
	how text, statement text, why text, detail text)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT NULL::name, f.path, f.kind, f.bytes, f.how, f.statement, f.why,
		f.detail
	FROM tablespace_advisor.files_beside_databases(tablespace_oid) f
	UNION ALL
	SELECT s.database, s.setting, s.kind, NULL, 'setting', s.statement, s.why,
		NULL
	FROM tablespace_advisor.settings_naming(tablespace_oid, target_oid,
		show_names) s
	WHERE with_settings
	UNION ALL
	SELECT NULL, NULL, 'tablespace', NULL, 'never', NULL,
		'pg_default', NULL
	WHERE tablespace_oid = 1663
$$;
COMMENT ON FUNCTION tablespace_advisor.contents_beside_databases(oid, oid, boolean, boolean) IS
	'the rows of contents_of() that are no database''s own: files beside databases, settings that name the tablespace, and why pg_default is never dropped';

CREATE FUNCTION tablespace_advisor.contents_of(
	tablespace_oid oid, target_oid oid, show_names boolean,
	all_databases boolean)
RETURNS TABLE (database name, relation text, kind text, size_bytes bigint,
	how text, statement text, reason text)
LANGUAGE sql VOLATILE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
	WITH db AS MATERIALIZED (
		SELECT d.*, tablespace_advisor.other_tablespace(
				tablespace_oid, target_oid, d.database) AS target_name,
			show_names OR d.name = current_database() AS shown
		FROM tablespace_advisor.databases_in(tablespace_oid) d
		WHERE all_databases OR d.name = current_database()
	), leaving AS MATERIALIZED (
		SELECT d.database, d.name, d.is_default, d.target_name,
			d.shown, r.relation, r.kind, r.schema_name, r.relation_name,
			r.extension_schema, r.size_bytes, r.how, r.why, r.detail,
			tablespace_advisor.temporary_owner_pid(r.backend, d.database) AS pid
		FROM db d
			CROSS JOIN LATERAL tablespace_advisor.leaving_relations(
				tablespace_oid, d.database, d.is_default) r
		WHERE d.is_valid AND NOT d.is_locked
	)
	SELECT l.name,
		CASE WHEN l.shown
			THEN format('%I.%I', l.schema_name, l.relation_name) END,
		tablespace_advisor.kind_name(l.kind), l.size_bytes, l.how,
		CASE WHEN NOT l.shown THEN NULL
			WHEN l.how = 'temporary' AND l.pid IS NOT NULL
				THEN format('SELECT pg_catalog.pg_terminate_backend(%s)', l.pid)
			WHEN l.how = 'temporary' AND l.kind <> 'i'
				THEN format('DROP TABLE %I.%I', l.schema_name, l.relation_name)
			ELSE tablespace_advisor.leaving_statement(l.how, l.kind,
				l.schema_name, l.relation_name, l.extension_schema,
				l.target_name) END,
		CASE WHEN NOT l.shown AND l.why = 'prepared' THEN NULL
			WHEN l.how = 'temporary' AND l.pid IS NULL
				THEN tablespace_advisor.leaving_reason('session ended', NULL)
			ELSE concat_ws(' ', tablespace_advisor.leaving_reason(l.why, l.detail),
				CASE WHEN l.how = 'catalog' AND l.kind = 'p' AND l.target_name = (
						SELECT t.spcname FROM pg_tablespace t
							JOIN pg_database d ON d.dattablespace = t.oid
						WHERE d.oid = l.database)
					THEN tablespace_advisor.leaving_reason('to default', NULL) END) END
	FROM leaving l
	WHERE l.relation >= 16384 OR l.how <> 'with database'
	UNION ALL
	SELECT d.name, NULL, 'database', s.size_bytes, g.how, g.statement, g.reason
	FROM db d
		CROSS JOIN LATERAL (SELECT coalesce(sum(l.size_bytes), 0)::bigint
			FROM leaving l
			WHERE l.database = d.database AND l.how = 'with database')
			s(size_bytes)
		CROSS JOIN LATERAL tablespace_advisor.database_leaving(
			tablespace_oid, target_oid, d.database, d.name, s.size_bytes) g
	WHERE d.is_default AND d.is_valid AND NOT d.is_locked
	UNION ALL
	SELECT d.name, NULL, 'database', NULL, 'locked', NULL,
		tablespace_advisor.reason_beside('locked', NULL)
	FROM db d WHERE d.is_locked
	UNION ALL
	SELECT d.name, NULL, 'database', NULL, 'with database',
		format('DROP DATABASE %I', d.name),
		tablespace_advisor.reason_beside('half dropped', NULL)
	FROM db d WHERE NOT d.is_valid AND NOT d.is_locked
	UNION ALL
	SELECT d.name, CASE WHEN d.shown THEN f.path END, 'file', f.bytes,
		f.how, NULL, tablespace_advisor.reason_beside(f.why, f.detail)
	FROM db d
		CROSS JOIN LATERAL tablespace_advisor.unowned_files(
			tablespace_oid, d.database) f
	WHERE d.is_valid AND NOT d.is_locked
	UNION ALL
	SELECT b.database, b.relation, b.kind, b.size_bytes, b.how, b.statement,
		tablespace_advisor.reason_beside(b.why, b.detail)
	FROM tablespace_advisor.contents_beside_databases(tablespace_oid, target_oid,
		show_names, all_databases) b
	ORDER BY 1, 5, 4 DESC NULLS LAST, 2
$$;
COMMENT ON FUNCTION tablespace_advisor.contents_of(oid, oid, boolean, boolean) IS
	'tablespace_contents() as the bootstrap superuser sees it; show_names: of relations in other databases; all_databases: else of this one, without settings';

CREATE FUNCTION @extschema@.tablespace_contents(
	tablespace name, to_tablespace name DEFAULT NULL,
	OUT database name, OUT relation text, OUT kind text,
	OUT size_bytes bigint, OUT how text, OUT statement text, OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_tablespace_contents'
LANGUAGE C VOLATILE ROWS 100;
REVOKE ALL ON FUNCTION @extschema@.tablespace_contents(name, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.tablespace_contents(name, name)
	TO pg_monitor;
COMMENT ON FUNCTION @extschema@.tablespace_contents(name, name) IS
	'everything in the way of DROP TABLESPACE, in every database, and how it leaves (live, rebuild, catalog, lock, with database, setting, temporary, orphan, locked, never) by which statement; size_bytes of all forks, of a table with its TOAST table. Errors: 42704 no such tablespace, 22004 no tablespace, 22023 pg_global, 53000 no worker slot is free, 08006 a database could not be looked into';
/* Files in a tablespace, and those that no relation has. */

CREATE FUNCTION tablespace_advisor.transactions_of(
	database_oid oid, OUT since timestamptz, OUT is_ending boolean)
AS 'MODULE_PATHNAME', 'tsa_transactions_of'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.transactions_of(oid) IS
	'when the oldest transaction of a database''s other sessions began, -infinity if one does not say; is_ending: whether one, or a prepared one, has ended for others and may still remove its files';

CREATE FUNCTION tablespace_advisor.is_checkpointer_unlinking()
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_is_checkpointer_unlinking'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.is_checkpointer_unlinking() IS
	'whether the checkpointer may still be removing files that were dropped before the last checkpoint';

CREATE FUNCTION tablespace_advisor.is_process(pid int)
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_is_process'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.is_process(int) IS
	'whether a process of the server that uses databases has this process ID now';

CREATE FUNCTION tablespace_advisor.is_directory_of_database(directory text)
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_is_directory_of_database'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.is_directory_of_database(text) IS
	'whether a directory has the name of a database''s, be it that a transaction under way makes or drops it';

CREATE FUNCTION tablespace_advisor.temporary_owner_pid(backend int, database_oid oid)
RETURNS int
AS 'MODULE_PATHNAME', 'tsa_temporary_owner_pid'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.temporary_owner_pid(int, oid) IS
	'process ID of the session whose temporary relations in a database have this number; NULL if it has ended';

/*
 * OFFSET, enable_seqscan: by the index of the few that have files, whatever the
 * planner knows of a long journal.
 */
CREATE FUNCTION tablespace_advisor.files_of_moves(of_database oid)
RETURNS TABLE (filenumber oid, job_id bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
	SELECT n, min(j.job_id)
	FROM (SELECT j.* FROM tablespace_advisor.job j
		WHERE j.new_filenumbers IS NOT NULL OR j.old_filenumbers IS NOT NULL
		OFFSET 0) j
	CROSS JOIN LATERAL unnest(j.new_filenumbers || j.old_filenumbers) n
	WHERE j.database = of_database
	GROUP BY n
$$;
COMMENT ON FUNCTION tablespace_advisor.files_of_moves(oid) IS
	'the numbers of files that the journal names for moves of a database, and the first such move of each';

CREATE FUNCTION tablespace_advisor.tablespace_directory(tablespace_oid oid)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE tablespace_oid WHEN 1663 THEN 'base'
		ELSE format('pg_tblspc/%s/PG_%s_%s', tablespace_oid,
			current_setting('server_version_num')::int / 10000,
			catalog_version_no) END
	FROM pg_control_system()
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_directory(oid) IS
	'directory in which a tablespace has a directory for each database';

CREATE FUNCTION tablespace_advisor.files_in(directory text)
RETURNS TABLE (name text, bytes bigint, modified timestamptz,
	is_directory boolean)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT f.name, s.size, s.modification, s.isdir
	FROM pg_ls_dir(directory, true, false) f(name)
		CROSS JOIN LATERAL pg_stat_file(directory || '/' || f.name, true) s
	WHERE s.size IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.files_in(text) IS
	'files and directories in a directory, none if it does not exist';

/*
 * Files of one relation have one number; temporary ones the backend's as well.
 * What is in the directory of every database that has its catalogs there
 * belongs to no relation either.
 */
CREATE FUNCTION tablespace_advisor.storage_in(tablespace_oid oid, database_oid oid)
RETURNS TABLE (filenumber oid, backend int, bytes bigint,
	modified timestamptz, path text)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN p.parts[2]::numeric < 2 ^ 32 THEN p.parts[2]::oid END,
		p.parts[1]::int, sum(f.bytes)::bigint,
		max(f.modified), d.directory || '/' || min(f.name)
	FROM (SELECT tablespace_advisor.tablespace_directory(tablespace_oid)
			|| '/' || database_oid) d(directory)
		CROSS JOIN LATERAL tablespace_advisor.files_in(d.directory) f
		CROSS JOIN LATERAL (SELECT regexp_match(f.name,
			E'^(?:t([0-9]{1,9})_)?([0-9]+)(?:_(?:fsm|vm|init))?(?:\\.[0-9]+)?$'))
			p(parts)
	WHERE f.name !~ E'^(PG_VERSION|pg_filenode\\.map|pg_internal\\.init.*)$'
	GROUP BY d.directory, p.parts[2], p.parts[1],
		CASE WHEN p.parts IS NULL THEN f.name END
$$;
COMMENT ON FUNCTION tablespace_advisor.storage_in(oid, oid) IS
	'what a database has in the directory of a tablespace, one row for all files of a relation; filenumber: NULL for files that cannot be a relation''s; backend: of temporary relations';

/*
 * Files that no relation has.  The order of looks decides, and each takes from
 * the one before it what makes it come later: files, transactions, pg_class and
 * the journal of moves, transactions, files.  What was made before the first
 * has its row in pg_class by then, or its transaction is under way; what was
 * dropped meanwhile has gone at the last, or its transaction is ending.
 *
 * What the next checkpoint unlinks is empty and not much older than the last one,
 * which may not have ended: DROP TABLESPACE waits for such a checkpoint.  Times
 * of files have no fractions, and may be those of a file server, whose clock is
 * allowed a minute.
 */
CREATE FUNCTION tablespace_advisor.unowned_files(tablespace_oid oid, database_oid oid)
RETURNS TABLE (path text, bytes bigint, how text, why text, detail text)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	WITH storage AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.storage_in(tablespace_oid, database_oid)
	), looked AS MATERIALIZED (
		SELECT n.files, t.since - interval '1 minute' AS since,
			c.checkpoint_time - interval '1 second' AS checkpoint
		FROM (SELECT count(*) AS files FROM storage) n
			CROSS JOIN LATERAL tablespace_advisor.transactions_of(
				CASE WHEN n.files > 0 THEN database_oid END) t
			CROSS JOIN pg_control_checkpoint() c
	), owner AS MATERIALIZED (
		SELECT r.*
		FROM looked l
			CROSS JOIN LATERAL tablespace_advisor.relations_in(
				CASE WHEN l.files > 0 THEN tablespace_oid END, database_oid) r
	), ended AS MATERIALIZED (
		SELECT t.is_ending, o.is_unknown,
			o.rows >= 0 AND tablespace_advisor.is_checkpointer_unlinking() AS is_unlinking
		FROM (SELECT count(*) AS rows, coalesce(bool_or(is_locked)
				FILTER (WHERE relation IS NULL), false) AS is_unknown
			FROM owner) o
			CROSS JOIN LATERAL tablespace_advisor.transactions_of(
				CASE WHEN o.rows >= 0 THEN database_oid END) t
	), unowned AS MATERIALIZED (
		SELECT s.*, o.transaction, o.job_id, p.gid, e.is_ending, e.is_unknown,
			l.since
		FROM ended e
			CROSS JOIN looked l
			CROSS JOIN storage s
			LEFT JOIN (SELECT r.filenumber, r.backend,
					max(r.transaction::text) FILTER (WHERE
						r.transaction IS NOT NULL) AS transaction,
					max(r.job_id) AS job_id,
					bool_or(r.relation IS NOT NULL AND r.transaction IS NULL)
						AS committed
				FROM owner r
				GROUP BY 1, 2) o ON o.filenumber = s.filenumber
				AND (o.backend IS NOT DISTINCT FROM s.backend
					OR o.transaction IS NOT NULL)
			LEFT JOIN pg_prepared_xacts p
				ON p.transaction::text = o.transaction
		WHERE o.committed IS NOT TRUE
			AND NOT (s.filenumber IS NOT NULL AND s.bytes = 0
				AND o.transaction IS NULL
				AND (e.is_unlinking OR s.modified >= l.checkpoint))
	), remaining AS MATERIALIZED (
		SELECT s.*
		FROM (SELECT count(*) AS rows FROM unowned HAVING count(*) > 0) n
			CROSS JOIN LATERAL tablespace_advisor.storage_in(
				CASE WHEN n.rows > 0 THEN tablespace_oid END, database_oid) s
	)
	SELECT r.path, r.bytes,
		CASE w.why WHEN 'left by a crash' THEN 'orphan' ELSE 'temporary' END,
		w.why, coalesce(u.gid, u.transaction, u.job_id::text)
	FROM unowned u
		CROSS JOIN LATERAL (SELECT CASE
			WHEN u.gid IS NOT NULL THEN 'made by prepared'
			WHEN u.transaction IS NOT NULL THEN 'made by transaction'
			WHEN u.job_id IS NOT NULL THEN 'of move'
			WHEN u.backend IS NOT NULL THEN 'of temporary relation'
			WHEN pg_is_in_recovery() THEN 'of the primary'
			WHEN u.is_unknown THEN 'perhaps of a move'
			WHEN u.is_ending OR u.modified >= u.since THEN 'perhaps just made'
			ELSE 'left by a crash' END) w(why)
		JOIN remaining r ON coalesce(r.filenumber::text, r.path)
				= coalesce(u.filenumber::text, u.path)
			AND r.backend IS NOT DISTINCT FROM u.backend
	WHERE r.bytes > 0 OR u.bytes = 0
$$;
COMMENT ON FUNCTION tablespace_advisor.unowned_files(oid, oid) IS
	'files of a database in a tablespace that no relation has, but for empty ones that the next checkpoint removes; why, detail: see reason_beside()';

/*
 * What belongs to no database: temporary files, and what nobody knows.  Files
 * are looked for again once their process, or database, was not found: they may
 * have gone with it.
 */
CREATE FUNCTION tablespace_advisor.files_beside_databases(tablespace_oid oid)
RETURNS TABLE (path text, kind text, bytes bigint, how text, statement text,
	why text, detail text)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	WITH entry AS MATERIALIZED (
		SELECT d.directory || '/' || f.name AS path, f.*
		FROM (SELECT tablespace_advisor.tablespace_directory(tablespace_oid))
				d(directory)
			CROSS JOIN LATERAL tablespace_advisor.files_in(d.directory) f
	), temporary AS (
		SELECT min(f.path) AS path, f.pid, sum(f.bytes)::bigint AS bytes
		FROM (SELECT e.path || '/' || t.name AS path, t.bytes,
				"substring"(t.name, '^pgsql_tmp([0-9]+)')::int AS pid
			FROM entry e
				CROSS JOIN LATERAL tablespace_advisor.files_in(e.path) t
			WHERE e.name = 'pgsql_tmp') f
		GROUP BY f.pid
	)
	SELECT t.path, 'temporary files', t.bytes, 'temporary',
		CASE WHEN p.is_there
			THEN format('SELECT pg_catalog.pg_cancel_backend(%s)', t.pid) END,
		CASE WHEN p.is_there THEN 'of statement' ELSE 'of ended process' END,
		CASE WHEN p.is_there THEN t.pid::text END
	FROM temporary t
		CROSS JOIN LATERAL (SELECT tablespace_advisor.is_process(t.pid))
			p(is_there)
	WHERE CASE WHEN p.is_there THEN true
		ELSE (SELECT f.size IS NOT NULL FROM pg_stat_file(t.path, true) f) END
	UNION ALL
	SELECT e.path, CASE WHEN e.is_directory THEN 'directory' ELSE 'file' END,
		NULL, CASE w.why WHEN 'being made' THEN 'temporary' ELSE 'orphan' END,
		NULL, w.why, NULL
	FROM entry e
		CROSS JOIN LATERAL (SELECT CASE
			WHEN tablespace_advisor.is_directory_of_database(e.name) THEN 'being made'
			WHEN e.name ~ '^[0-9]+$' THEN 'no database'
			ELSE 'not of the server' END) w(why)
	WHERE e.name <> 'pgsql_tmp'
		AND e.name NOT IN (SELECT d.oid::text FROM pg_database d)
		AND CASE WHEN w.why IS NOT NULL THEN NOT e.is_directory
			OR EXISTS (SELECT FROM tablespace_advisor.files_in(e.path)) END
$$;
COMMENT ON FUNCTION tablespace_advisor.files_beside_databases(oid) IS
	'temporary files in a tablespace, one row a process, and what is in its directory without belonging there; why, detail: see reason_beside()';
/* Why something is in a tablespace, and the statement that makes it leave. */

CREATE FUNCTION tablespace_advisor.leaving_reason(why text, detail text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE why
		WHEN 'temporary' THEN
			'It is temporary and goes with its session.'
		WHEN 'session ended' THEN
			'It is temporary and its session has ended.'
		WHEN 'system with database' THEN
			'It belongs to the system and moves with its database only.'
		WHEN 'system' THEN
			'It belongs to the system, of which nothing is moved while it is in use.'
		WHEN 'sequence' THEN
			'Sequences are always in their database''s default tablespace.'
		WHEN 'prepared' THEN
			format('Prepared transaction %L holds a lock on it.', detail)
		WHEN 'catalog' THEN
			'It has no storage: it says where new partitions, or their indexes, are made.'
		WHEN 'journal' THEN
			'It is the journal of moves, which is in use while anything moves: it comes last.'
		WHEN 'columnar' THEN
			'It is a columnar table of Citus: convert it to heap by alter_table_set_access_method(), move it, and convert it back.'
		WHEN 'invalid' THEN
			'It is invalid: drop it, or repair it with REINDEX.'
		WHEN 'obstacle' THEN
			format('Live copy does not apply. %s', detail)
		WHEN 'no extension' THEN
			'The extension is not installed in its database; with it this could be moved while it is in use.'
		WHEN 'locked' THEN 'Another session has locked it.'
		WHEN 'owner' THEN format('It belongs to role %I.', detail)
		WHEN 'moving' THEN
			format('Move %s of it, or of its table or indexes, has not ended.', detail)
		WHEN 'along' THEN
			'It moves along with its table, in the same cutover.'
		WHEN 'to default' THEN
			'In the database''s default tablespace it keeps none: new partitions then follow default_tablespace.'
		WHEN 'may be locked' THEN
			'"lock_up_to" would let it be locked while it is copied.'
		WHEN 'too large to lock' THEN
			format('It is larger than "lock_up_to" (%s).', detail)
		END;
END;
COMMENT ON FUNCTION tablespace_advisor.leaving_reason(text, text) IS
	'in words why a relation stays, or leaves as it does; detail: a name, number or obstacle in it; NULL without a reason';

CREATE FUNCTION tablespace_advisor.reason_beside(why text, detail text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE why
		WHEN 'made by prepared' THEN
			format('Prepared transaction %L has made it: whoever coordinates it commits it or rolls it back.', detail)
		WHEN 'made by transaction' THEN
			format('It is of transaction %s, which is under way.', detail)
		WHEN 'of move' THEN
			format('It is a file of move %s and goes with its end.', detail)
		WHEN 'of temporary relation' THEN
			'It is of a temporary relation; if its session has ended, the next restart of the server removes it.'
		WHEN 'perhaps just made' THEN
			'No relation has it, but a transaction under way may have made it, or be about to remove it: look again when it has ended.'
		WHEN 'perhaps of a move' THEN
			'No relation has it, but a move may: the journal of moves in its database is locked, or of another version of the extension.'
		WHEN 'of the primary' THEN
			'No relation has it here, but a transaction of the primary may have made it. What is not in the way there either was left by a crash.'
		WHEN 'left by a crash' THEN
			'No relation has it, and no transaction under way is old enough to have made it: it was left by a crash. Remove it by hand, with the server stopped.'
		WHEN 'of statement' THEN
			format('They are of the present statement of process %s.', detail)
		WHEN 'of ended process' THEN
			'Their process has ended: the next restart of the server removes them.'
		WHEN 'being made' THEN
			'It is of a database that is being made or dropped, or was just made.'
		WHEN 'no database' THEN
			'No database has it: it was left by a crash.'
		WHEN 'not of the server' THEN 'The server did not make it.'
		WHEN 'hypertable' THEN
			'TimescaleDB makes new chunks there, and refuses DROP TABLESPACE in that database.'
		WHEN 'routine' THEN
			'DROP TABLESPACE leaves it, and then every call of the routine fails.'
		WHEN 'setting' THEN
			'DROP TABLESPACE leaves it, and then it is a warning at every connection, and an error to SET.'
		WHEN 'locked' THEN
			'It could not be looked into: somebody has locked it, perhaps to rename or drop it, or a prepared transaction has.'
		WHEN 'half dropped' THEN
			'DROP DATABASE was interrupted: all that can be done with it is to drop it.'
		WHEN 'pg_default' THEN 'pg_default can be relieved, but never dropped.'
		END;
END;
COMMENT ON FUNCTION tablespace_advisor.reason_beside(text, text) IS
	'in words what holds of a file, setting or database in the way of DROP TABLESPACE, as leaving_reason() does of a relation; detail: a name or number in it';

CREATE FUNCTION tablespace_advisor.kind_name(kind "char")
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE kind WHEN 'r' THEN 'table' WHEN 'm' THEN 'materialized view'
		WHEN 'i' THEN 'index' WHEN 'p' THEN 'partitioned table'
		WHEN 'I' THEN 'partitioned index' WHEN 'S' THEN 'sequence'
		WHEN 't' THEN 'TOAST table' END;
END;
COMMENT ON FUNCTION tablespace_advisor.kind_name("char") IS
	'what people call a relation of this kind';

/* The statement that moves a relation, in its own database. */
CREATE FUNCTION tablespace_advisor.leaving_statement(
	how text, kind "char", schema_name name, relation_name name,
	extension_schema name, target name)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN target IS NULL THEN NULL
		WHEN how = 'rebuild' THEN
			format('REINDEX (CONCURRENTLY, TABLESPACE %I) INDEX %I.%I', target,
				schema_name, relation_name)
		WHEN how = 'live' THEN
			format('CALL %I.%s(%L::pg_catalog.regclass, %L::pg_catalog.name)',
				extension_schema,
				CASE kind WHEN 'i' THEN 'move_indexes_concurrently'
					ELSE 'move_table_concurrently' END,
				format('%I.%I', schema_name, relation_name), target)
		WHEN how IN ('catalog', 'lock') THEN
			format('ALTER %s %I.%I SET TABLESPACE %I',
				CASE WHEN kind IN ('i', 'I') THEN 'INDEX'
					WHEN kind = 'm' THEN 'MATERIALIZED VIEW'
					ELSE 'TABLE' END, schema_name, relation_name, target)
		END
$$;
COMMENT ON FUNCTION tablespace_advisor.leaving_statement(
	text, "char", name, name, name, name) IS
	'the statement that moves a relation to a tablespace, to be run in the relation''s database';
/* Settings that name a tablespace. */

CREATE FUNCTION tablespace_advisor.object_settings(
	database_oid oid, OUT object text, OUT setting text, OUT value text,
	OUT extension_schema name)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_routine_settings'
LANGUAGE C STRICT VOLATILE ROWS 10;
COMMENT ON FUNCTION tablespace_advisor.object_settings(oid) IS
	'default_tablespace and temp_tablespaces of a database''s functions and procedures, and tablespaces attached to hypertables of TimescaleDB (attach_tablespace; extension_schema: of its functions). A worker looks into other databases (53000: no worker slot is free)';

/* Members of a list of identifiers, as in temp_tablespaces. */
CREATE FUNCTION tablespace_advisor.split_identifiers(list text)
RETURNS SETOF text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN m[1] LIKE '"%'
		THEN replace(btrim(m[1], '"'), '""', '"') ELSE lower(m[1]) END
	FROM regexp_matches(list, E'("(?:[^"]|"")*"|[^",\\s]+)', 'g') m
$$;
COMMENT ON FUNCTION tablespace_advisor.split_identifiers(text) IS
	'the names in a list of identifiers';

/*
 * Settings that may name a tablespace.  Those of routines and hypertables are
 * in their databases, which all have to be looked into.
 */
CREATE FUNCTION tablespace_advisor.settings_given()
RETURNS TABLE (database oid, name name, role name, file text, object text,
	setting text, value text, extension_schema name)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT d.oid, d.datname, r.rolname, NULL, NULL, split_part(c, '=', 1),
		"substring"(c, pg_catalog.strpos(c, '=') + 1), NULL
	FROM pg_db_role_setting s
		LEFT JOIN pg_database d ON d.oid = s.setdatabase
		LEFT JOIN pg_roles r ON r.oid = s.setrole
		CROSS JOIN LATERAL unnest(s.setconfig) c
	UNION ALL
	SELECT NULL, NULL, NULL, f.sourcefile, NULL, f.name, f.setting, NULL
	FROM pg_file_settings f
	WHERE f.applied
	UNION ALL
	SELECT d.oid, d.datname, NULL, NULL, f.object, f.setting, f.value,
		f.extension_schema
	FROM pg_database d
		CROSS JOIN LATERAL tablespace_advisor.object_settings(d.oid) f
	WHERE d.datconnlimit <> -2
		AND NOT tablespace_advisor.is_database_locked(d.oid)
$$;
COMMENT ON FUNCTION tablespace_advisor.settings_given() IS
	'settings of databases, roles, configuration files, routines and hypertables that may name a tablespace';

/*
 * Instead of one tablespace a hypertable gets another one, if there is one.  All
 * arguments are given, so that no function of others in that schema fits better.
 */
CREATE FUNCTION tablespace_advisor.attachment_statement(
	extension_schema name, hypertable text, tablespace name, target name)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('SELECT %s%I.detach_tablespace(%L::pg_catalog.name, %L::pg_catalog.regclass, if_attached => false)',
		CASE WHEN target IS NOT NULL THEN format(
			'%I.attach_tablespace(%L::pg_catalog.name, %L::pg_catalog.regclass, if_not_attached => true), ',
			extension_schema, target, hypertable) END,
		extension_schema, tablespace, hypertable)
$$;
COMMENT ON FUNCTION tablespace_advisor.attachment_statement(
	name, text, name, name) IS
	'the statement, to be run in the hypertable''s database, by which TimescaleDB makes new chunks in another tablespace';

/* Of these DROP TABLESPACE looks at none, and TimescaleDB at its own. */
CREATE FUNCTION tablespace_advisor.settings_naming(
	tablespace_oid oid, target_oid oid, show_names boolean)
RETURNS TABLE (database name, setting text, kind text, statement text,
	why text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH naming AS (
		SELECT g.*, t.spcname AS tablespace,
			(SELECT string_agg(quote_ident(i), ', ')
				FROM tablespace_advisor.split_identifiers(g.value) i
				WHERE g.setting = 'temp_tablespaces' AND i <> t.spcname) AS rest,
			g.object IS NULL OR show_names
				OR g.name = current_database() AS shown,
			CASE WHEN g.setting = 'attach_tablespace' THEN 'hypertable'
				WHEN g.object IS NOT NULL THEN 'routine' END AS class
		FROM tablespace_advisor.settings_given() g
			JOIN pg_tablespace t ON t.oid = tablespace_oid
		WHERE g.setting IN ('default_tablespace', 'attach_tablespace')
				AND g.value = t.spcname
			OR g.setting = 'temp_tablespaces' AND t.spcname IN (
				SELECT i FROM tablespace_advisor.split_identifiers(g.value) i)
	)
	SELECT n.name, n.setting,
		CASE WHEN n.file IS NOT NULL THEN format('setting in %s', n.file)
			WHEN n.class IS NOT NULL THEN concat_ws(' ', 'setting of',
				CASE WHEN NOT n.shown THEN 'a' END, n.class,
				CASE WHEN n.shown THEN n.object END)
			WHEN n.role IS NULL THEN format('setting of database %I', n.name)
			ELSE format('setting of role %I', n.role)
				|| coalesce(' in database ' || quote_ident(n.name), '') END,
		CASE WHEN NOT n.shown THEN NULL
			WHEN n.class = 'hypertable' THEN tablespace_advisor.attachment_statement(
				n.extension_schema, n.object, n.tablespace,
				tablespace_advisor.other_tablespace(tablespace_oid, target_oid, n.database))
			ELSE CASE WHEN n.file IS NOT NULL THEN 'ALTER SYSTEM'
				WHEN n.object IS NOT NULL THEN 'ALTER ROUTINE ' || n.object
				WHEN n.role IS NULL THEN format('ALTER DATABASE %I', n.name)
				ELSE format('ALTER ROLE %I', n.role)
					|| coalesce(' IN DATABASE ' || quote_ident(n.name), '') END
			|| CASE WHEN n.rest IS NOT NULL
					THEN format(' SET %I TO %s', n.setting, n.rest)
				WHEN n.file IS NOT NULL AND n.file !~ E'postgresql\\.auto\\.conf$'
					THEN format(' SET %I TO %L', n.setting, '')
				ELSE format(' RESET %I', n.setting) END END,
		coalesce(n.class, 'setting')
	FROM naming n
$$;
COMMENT ON FUNCTION tablespace_advisor.settings_naming(oid, oid, boolean) IS
	'settings of databases, roles, routines, hypertables and configuration files that name a tablespace, and statements that change that; show_names: of objects in other databases; why: see reason_beside()';
/* Which relations of this database an evacuation moves, and how. */

/*
 * asker: the role that wants to move them.  Partitioned relations first, so
 * that new partitions are made in the new place; then tables with those of
 * their indexes that go with them, small ones first; the journal last.
 */
CREATE FUNCTION tablespace_advisor.evacuation_of(
	source oid, target oid, lock_up_to bigint, asker oid,
	max_rate bigint DEFAULT NULL)
RETURNS TABLE (relation oid, heap oid, kind "char", schema_name name,
	relation_name name, persistence "char", tablespace oid,
	to_tablespace oid, size_bytes bigint, how text, method text, goes_along boolean,
	move_seconds float8, why text, detail text, stays text, stays_detail text,
	is_journal boolean, place bigint)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH leaving AS MATERIALIZED (
		SELECT r.*
		FROM pg_database d
			CROSS JOIN LATERAL tablespace_advisor.leaving_relations(
				source, d.oid, d.dattablespace = source) r
		WHERE d.datname = current_database()
			AND (r.relation >= 16384 OR r.how <> 'with database')
	), busy AS MATERIALIZED (
		SELECT j.heap, min(j.job_id) AS job_id
		FROM tablespace_advisor.job j
		WHERE j.state IN ('queued', 'running', 'paused')
		GROUP BY j.heap
	), judged AS MATERIALIZED (
		SELECT l.*, y.stays, y.stays_detail, CASE WHEN y.stays IS NULL THEN
				CASE l.how WHEN 'live' THEN 'copy' ELSE l.how END END AS method
		FROM leaving l
			LEFT JOIN busy b ON b.heap = l.heap
			CROSS JOIN LATERAL (SELECT CASE
				WHEN l.how IN ('temporary', 'with database', 'never')
						OR l.why = 'prepared'
					THEN l.why
				WHEN NOT pg_has_role(asker, l.owner, 'USAGE') THEN 'owner'
				WHEN b.job_id IS NOT NULL THEN 'moving'
				WHEN l.how <> 'lock' OR l.is_journal OR l.size_bytes <= lock_up_to
					THEN NULL
				WHEN lock_up_to IS NULL THEN 'may be locked'
				ELSE 'too large to lock' END) x(stays)
			CROSS JOIN LATERAL (SELECT x.stays, CASE x.stays WHEN 'owner'
					THEN pg_get_userbyid(l.owner)
				WHEN 'moving' THEN b.job_id::text
				WHEN 'too large to lock' THEN pg_size_pretty(lock_up_to)
				ELSE l.detail END) y(stays, stays_detail)
	), whole AS MATERIALIZED (
		SELECT j.*, sum(j.size_bytes) OVER w AS heap_bytes,
			j.kind = 'i' AND j.method = 'copy' AND bool_or(j.relation = j.heap
				AND j.method = 'copy') OVER w AS goes_along
		FROM judged j
		WINDOW w AS (PARTITION BY j.heap)
	), rate AS MATERIALIZED (
		SELECT m.method, tablespace_advisor.move_rate(source, target, m.method,
				max_rate, asker) AS bytes_per_s
		FROM unnest(ARRAY['copy', 'rebuild', 'lock']) m(method)
	)
	SELECT j.relation, j.heap, j.kind, j.schema_name, j.relation_name,
		j.persistence, source, target, j.size_bytes, j.how, j.method,
		coalesce(j.goes_along, false),
		CASE j.method WHEN 'catalog' THEN 0
			ELSE j.size_bytes / r.bytes_per_s END,
		CASE WHEN j.stays IS NOT NULL THEN j.why
			WHEN j.goes_along THEN 'along'
			WHEN j.kind = 'p' AND target = (SELECT d.dattablespace
					FROM pg_database d WHERE d.datname = current_database())
				THEN 'to default'
			ELSE j.why END,
		j.detail, j.stays, j.stays_detail, j.is_journal,
		row_number() OVER (ORDER BY j.method IS NULL, j.is_journal,
			j.method <> 'catalog', j.heap_bytes, j.heap, j.kind = 'i',
			j.relation)
	FROM whole j LEFT JOIN rate r ON r.method = j.method
$$;
COMMENT ON FUNCTION tablespace_advisor.evacuation_of(
	oid, oid, bigint, oid, bigint) IS
	'relations of this database in a tablespace; place: order in which an evacuation moves them, then those that stay (method NULL); why, detail, stays: see evacuation_reason()';

CREATE FUNCTION tablespace_advisor.evacuation_reason(
	why text, detail text, stays text, stays_detail text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE WHEN stays IS NULL THEN tablespace_advisor.leaving_reason(why, detail)
		ELSE concat_ws(' ', CASE WHEN stays IN ('may be locked', 'too large to lock')
				THEN tablespace_advisor.leaving_reason(why, detail) END,
			tablespace_advisor.leaving_reason(stays, stays_detail)) END;
END;
COMMENT ON FUNCTION tablespace_advisor.evacuation_reason(text, text, text, text) IS
	'in words why an evacuation leaves a relation where it is, or moves it as it does; arguments: columns of evacuation_of()';

/* First what all of it comes to, against the room there is. */
CREATE FUNCTION tablespace_advisor.evacuation_plan(
	source oid, target oid, lock_up_to bigint, asker oid, max_rate bigint)
RETURNS TABLE (relation regclass, kind text, size_bytes bigint, how text,
	method text, move_seconds float8, reason text, size text)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH plan AS MATERIALIZED (
		SELECT p.* FROM tablespace_advisor.evacuation_of(
			source, target, lock_up_to, asker, max_rate) p
	), total AS (
		SELECT count(p.method) AS moves, count(*) - count(p.method) AS staying,
			coalesce(sum(p.size_bytes) FILTER (WHERE p.method IS NOT NULL), 0)::bigint AS bytes,
			CASE WHEN bool_and(p.move_seconds IS NOT NULL) FILTER (WHERE p.method IS NOT NULL)
				THEN sum(p.move_seconds) END AS seconds,
			(SELECT d.free_bytes FROM tablespace_advisor.tablespace_device(target) d) AS free_bytes
		FROM plan p
	)
	SELECT NULL::regclass, 'total', t.bytes, NULL, NULL,
		tablespace_advisor.round_to_three(t.seconds),
		format('%s relation%s to move%s; %s free in %I%s', t.moves,
			CASE WHEN t.moves <> 1 THEN 's' END,
			CASE WHEN t.staying > 0 THEN format(', %s to stay', t.staying) ELSE '' END,
			coalesce(pg_size_pretty(t.free_bytes), 'not known how much is'), s.spcname,
			CASE WHEN t.free_bytes < t.bytes THEN ': too little by '
				|| pg_size_pretty(t.bytes - t.free_bytes) ELSE '' END),
		pg_size_pretty(t.bytes)
	FROM total t JOIN pg_tablespace s ON s.oid = target
	UNION ALL
	(SELECT p.relation::regclass, tablespace_advisor.kind_name(p.kind), p.size_bytes, p.how, p.method,
		tablespace_advisor.round_to_three(p.move_seconds), tablespace_advisor.evacuation_reason(
			p.why, p.detail, p.stays, p.stays_detail), pg_size_pretty(p.size_bytes)
	FROM plan p ORDER BY p.place)
$$;
COMMENT ON FUNCTION tablespace_advisor.evacuation_plan(oid, oid, bigint, oid, bigint) IS
	'what plan_evacuation() returns';

CREATE FUNCTION @extschema@.plan_evacuation(
	tablespace name, to_tablespace name, lock_up_to text DEFAULT NULL,
	max_rate text DEFAULT NULL,
	OUT relation regclass, OUT kind text, OUT size_bytes bigint,
	OUT how text, OUT method text, OUT move_seconds float8, OUT reason text,
	OUT size text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_plan_evacuation'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.plan_evacuation(name, name, text, text) IS
	'what evacuate_tablespace() would do with each relation of this database in a tablespace, in its order, without moving anything; the first row, of the kind total, is the sum of what moves against the free space of the target. Errors: 42704 no such tablespace, 22004 no tablespace, 42501 neither CREATE on the target nor a member of pg_monitor, 22023 the two are one tablespace, pg_global, a bad max_rate or lock_up_to';

/*
 * An unfinished move the other way, which an evacuation would undo.  It refuses
 * the evacuation if its role has all rights of the one that asks.
 */
CREATE FUNCTION tablespace_advisor.opposite_move(
	source oid, target oid, asker oid,
	OUT job_id bigint, OUT refuses boolean)
RETURNS SETOF record
LANGUAGE sql STABLE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT j.job_id, r.refuses
	FROM tablespace_advisor.job j
		CROSS JOIN LATERAL (SELECT coalesce(
			pg_has_role(j.owner, asker, 'USAGE'), false) AS refuses) r
	WHERE j.state IN ('queued', 'running', 'paused')
		AND j.from_tablespace = target AND j.to_tablespace = source
	ORDER BY r.refuses DESC, j.job_id LIMIT 1
$$;
COMMENT ON FUNCTION tablespace_advisor.opposite_move(oid, oid, oid) IS
	'an unfinished move from the target to the source, and whether its role has all rights of the one that asks; no row if there is none';

/* What somebody who evacuates should know of the two tablespaces. */
CREATE FUNCTION tablespace_advisor.evacuation_warnings(source oid, target oid)
RETURNS SETOF text
LANGUAGE sql VOLATILE ROWS 3
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('tablespaces "%s" and "%s" have a device in common',
		s.spcname, t.spcname)
	FROM pg_tablespace s, pg_tablespace t
	WHERE s.oid = source AND t.oid = target
		AND (SELECT d.leaves FROM tablespace_advisor.tablespace_device(s.oid) d)
			&& (SELECT d.leaves FROM tablespace_advisor.tablespace_device(t.oid) d)
	UNION ALL
	SELECT format('the free space of %s standby server%s is not known here',
		count(*), CASE WHEN count(*) > 1 THEN 's' END)
	FROM tablespace_advisor.streaming_standbys()
	HAVING count(*) > 0
	UNION ALL
	SELECT format('"default_tablespace" of this session is "%s": what is created without a tablespace goes there',
		s.spcname)
	FROM pg_tablespace s
	WHERE s.oid = source AND s.spcname = current_setting('default_tablespace')
$$;
COMMENT ON FUNCTION tablespace_advisor.evacuation_warnings(oid, oid) IS
	'what one should know before one evacuates a tablespace into another one';

/* How jobs ended, one line each. */
CREATE FUNCTION tablespace_advisor.describe_jobs(jobs bigint[])
RETURNS TABLE (state text, line text, detail text)
LANGUAGE sql STABLE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT j.state,
		tablespace_advisor.printable(format(
			'%s %I.%I%s from tablespace "%s" to "%s" %s%s',
			tablespace_advisor.kind_name(j.kind), j.schema_name, j.relation_name,
			CASE WHEN j.method <> 'catalog' THEN format(' (%s)', pg_size_pretty(j.bytes_total)) END,
			j.from_tablespace_name, j.to_tablespace_name,
			CASE j.method WHEN 'catalog' THEN 'in the catalog' ELSE 'by method ' || j.method END,
			CASE WHEN j.state = 'done' THEN format(' in %s s',
				round(extract(epoch FROM j.finished_at - j.started_at), 1))
				END
			|| CASE WHEN cardinality(j.indexes) > 0 THEN
				format(', with %s %s', cardinality(j.indexes),
					CASE cardinality(j.indexes) WHEN 1 THEN 'index' ELSE 'indexes' END)
				ELSE '' END)),
		tablespace_advisor.printable(coalesce(j.error, 'It was cancelled.'))
	FROM tablespace_advisor.job j
	WHERE j.job_id = ANY (jobs)
	ORDER BY j.job_id
$$;
COMMENT ON FUNCTION tablespace_advisor.describe_jobs(bigint[]) IS
	'what moves have come to, in words';

/* The whole of a batch that is under way. */
CREATE FUNCTION tablespace_advisor.batch_progress(batch bigint)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('%s of %s relations, %s of %s%s',
		count(*) FILTER (WHERE s.ended), count(*),
		pg_size_pretty(sum(s.done)), pg_size_pretty(sum(s.total)),
		CASE WHEN sum(s.done) > 0 AND sum(s.total) > sum(s.done) THEN
			format(', about %s s left', ceil(
				extract(epoch FROM clock_timestamp() - min(s.started_at))
				* (sum(s.total) - sum(s.done)) / sum(s.done))) END)
	FROM (SELECT j.state IN ('done', 'failed', 'cancelled') AS ended,
			CASE WHEN j.state IN ('failed', 'cancelled') THEN j.bytes_total
				ELSE least(j.bytes_done, j.bytes_total) END AS done,
			j.bytes_total AS total, j.started_at
		FROM tablespace_advisor.job j
		WHERE j.batch_id = batch) s
$$;
COMMENT ON FUNCTION tablespace_advisor.batch_progress(bigint) IS
	'how far the moves of one call are, in relations, bytes and seconds left';

/* What an evacuation of this database has left, with the reasons it knows. */
CREATE FUNCTION tablespace_advisor.evacuation_left(
	source oid, target oid, lock_up_to bigint, asker oid, max_rate bigint,
	show_all boolean, show_names boolean)
RETURNS TABLE (database name, what text, reason text, statement text)
LANGUAGE sql VOLATILE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.printable(c.database)::name,
		tablespace_advisor.printable(concat_ws(' ', c.kind, c.relation,
			'of database ' || quote_ident(nullif(c.database,
				current_database())),
			'(' || pg_size_pretty(c.size_bytes) || ')')),
		nullif(concat_ws(' ', tablespace_advisor.printable(
			coalesce(tablespace_advisor.evacuation_reason(
				p.why, p.detail, p.stays, p.stays_detail), c.reason)),
			CASE WHEN NOT s.is_printable
				THEN 'A name has control characters: tablespace_contents() has the statement.'
				END), ''),
		CASE WHEN s.is_printable THEN c.statement END
	FROM tablespace_advisor.contents_of(source, target, show_names,
			show_all) c
		LEFT JOIN tablespace_advisor.evacuation_of(
				source, target, lock_up_to, asker, max_rate) p
			ON p.method IS NULL AND c.database = current_database()
				AND c.relation = format('%I.%I', p.schema_name, p.relation_name)
		CROSS JOIN LATERAL (SELECT concat(c.database, c.statement)) t(text)
		CROSS JOIN LATERAL (SELECT
			t.text = tablespace_advisor.printable(t.text)) s(is_printable)
	WHERE show_all OR c.database = current_database() AND c.how <> 'setting'
	ORDER BY c.how = 'with database', c.database <> current_database(),
		c.database, c.how, c.size_bytes DESC, c.relation
$$;
COMMENT ON FUNCTION tablespace_advisor.evacuation_left(
	oid, oid, bigint, oid, bigint, boolean, boolean) IS
	'what is in a tablespace after an evacuation, why, and the statements that make it leave; show_all: in other databases too, and settings';

CREATE PROCEDURE @extschema@.evacuate_tablespace(
	tablespace name,
	to_tablespace name,
	max_rate text DEFAULT NULL,
	lock_timeout interval DEFAULT '100 ms',
	wait boolean DEFAULT true,
	dry_run boolean DEFAULT false,
	lock_up_to text DEFAULT NULL,
	until timestamptz DEFAULT NULL,
	min_rate text DEFAULT NULL,
	finish_by timestamptz DEFAULT NULL,
	INOUT job_ids bigint[] DEFAULT NULL)
AS 'MODULE_PATHNAME', 'tsa_evacuate_tablespace'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.evacuate_tablespace(
	name, name, text, interval, boolean, boolean, text, timestamptz, text,
	timestamptz, bigint[]) IS
	'moves everything of this database that the caller owns and that can be moved out of a tablespace, while it is in use; prints what is left with the statements for it, and runs none of them; to be repeated until nothing is left, and in each database. Errors as of move_table_concurrently(), and 22023 the two are one tablespace, 55006 an evacuation the other way; a relation that could not be moved is a warning';
/*
 * Hypertables of TimescaleDB: their chunks, and where new ones are made.
 *
 * Its catalog changes with its versions.  Each fact is read by the columns that
 * have had it: a chunk is named by schema_name and table_name, from 2.29 on by
 * relid; its bound is in dimension_slice, up to 2.27 by way of chunk_constraint;
 * the relation of its compressed rows is in compression_settings, up to 2.18 a
 * chunk of its own.  Where one of them is nowhere, nothing is read.
 */
CREATE FUNCTION tablespace_advisor.knows_chunks()
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH need(fact, table_name, columns) AS (VALUES
		('chunk', 'chunk', '{id,hypertable_id,status,schema_name,table_name}'),
		('chunk', 'chunk', '{id,hypertable_id,status,relid}'),
		('slice', 'dimension_slice', '{dimension_id,range_end,chunk_id}'),
		('slice', 'chunk_constraint', '{chunk_id,dimension_slice_id}'),
		('compressed', 'compression_settings', '{relid,compress_relid}'),
		('compressed', 'chunk', '{id,compressed_chunk_id}'),
		('bound', 'dimension_slice', '{id,dimension_id,range_end}'),
		('key', 'dimension',
			'{id,hypertable_id,column_type,interval_length,partitioning_func}'),
		('policy', 'bgw_job', '{hypertable_id,proc_name,scheduled,config}'),
		('place', 'tablespace', '{hypertable_id,tablespace_name}'))
	SELECT bool_and(f.is_known)
	FROM (SELECT bool_or(tablespace_advisor.has_member_columns('timescaledb',
			n.table_name::name, n.columns::name[])) AS is_known
		FROM need n GROUP BY n.fact) f
$$;
COMMENT ON FUNCTION tablespace_advisor.knows_chunks() IS
	'whether all that chunks_of() and hypertable_retention() need is in TimescaleDB''s catalog, in a form that is known';

CREATE FUNCTION tablespace_advisor.hypertable_of(
	target oid, OUT id text, OUT version text, OUT is_known boolean)
RETURNS SETOF record
LANGUAGE sql STABLE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT h.fields[1], e.extversion, tablespace_advisor.knows_chunks()
	FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN tablespace_advisor.member_rows('timescaledb', 'hypertable',
				'{id,schema_name,table_name}') h
			ON h.fields[2] = n.nspname AND h.fields[3] = c.relname
		JOIN pg_extension e ON e.extname = 'timescaledb'
	WHERE c.oid = target
$$;
COMMENT ON FUNCTION tablespace_advisor.hypertable_of(oid) IS
	'number of a hypertable of TimescaleDB, its version, and whether its catalog is known; no row for other tables';

/*
 * The end of a chunk as a time.  Times, those in UUIDs of version 7 among them,
 * are kept in microseconds since 1970, of dates and timestamps without time zone
 * by the clock on the wall; what numbers count is not known.
 */
CREATE FUNCTION tablespace_advisor.chunk_end(range_end bigint, type oid)
RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN abs(range_end / 1000000) > 6000000000000 THEN NULL
		WHEN type IN ('timestamptz'::regtype, 'uuid'::regtype) THEN t.time
		WHEN type IN ('date'::regtype, 'timestamp'::regtype)
			THEN (t.time AT TIME ZONE 'UTC')::timestamptz
		END
	FROM (SELECT to_timestamp(range_end / 1e6)) t(time)
$$;
COMMENT ON FUNCTION tablespace_advisor.chunk_end(bigint, oid) IS
	'the upper bound of a chunk along a dimension of that type, which TimescaleDB keeps as a number; NULL where it is no time or has no end';

/* Rows of TimescaleDB's table of chunks; bit 0 of its status: compressed. */
CREATE FUNCTION tablespace_advisor.chunks_listed()
RETURNS TABLE (id text, hypertable text, relation oid, is_compressed boolean)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT r.fields[1], r.fields[2], c.oid, r.fields[3]::int & 1 = 1
	FROM tablespace_advisor.member_rows('timescaledb', 'chunk',
			'{id,hypertable_id,status,schema_name,table_name}') r
		JOIN pg_namespace n ON n.nspname = r.fields[4]
		JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = r.fields[5]
	UNION
	SELECT r.fields[1], r.fields[2], r.fields[4]::oid, r.fields[3]::int & 1 = 1
	FROM tablespace_advisor.member_rows('timescaledb', 'chunk',
			'{id,hypertable_id,status,relid}') r
$$;
COMMENT ON FUNCTION tablespace_advisor.chunks_listed() IS
	'chunks of all hypertables of TimescaleDB, with those that hold compressed rows of others where it lists them';

CREATE FUNCTION tablespace_advisor.compressed_relations()
RETURNS TABLE (chunk oid, relation oid)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT s.fields[1]::oid, s.fields[2]::oid
	FROM tablespace_advisor.member_rows('timescaledb', 'compression_settings',
			'{relid,compress_relid}') s
	WHERE s.fields[2] IS NOT NULL
	UNION
	SELECT c.relation, z.relation
	FROM tablespace_advisor.member_rows('timescaledb', 'chunk',
			'{id,compressed_chunk_id}') r
		JOIN tablespace_advisor.chunks_listed() c ON c.id = r.fields[1]
		JOIN tablespace_advisor.chunks_listed() z ON z.id = r.fields[2]
$$;
COMMENT ON FUNCTION tablespace_advisor.compressed_relations() IS
	'the relations in which TimescaleDB keeps the compressed rows of chunks';

CREATE FUNCTION tablespace_advisor.chunk_bounds(hypertable text)
RETURNS TABLE (chunk text, upper_bound timestamptz)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH dimension AS MATERIALIZED (
		SELECT d.fields[1] AS id,
			CASE WHEN d.fields[5] IS NULL THEN d.fields[3]::oid END AS type
		FROM tablespace_advisor.member_rows('timescaledb', 'dimension',
				'{id,hypertable_id,column_type,interval_length,partitioning_func}') d
		WHERE d.fields[2] = hypertable AND d.fields[4] IS NOT NULL
		ORDER BY d.fields[1]::int LIMIT 1
	), slice AS (
		SELECT s.fields[3] AS chunk, s.fields[1] AS dimension, s.fields[2] AS range_end
		FROM tablespace_advisor.member_rows('timescaledb', 'dimension_slice',
				'{dimension_id,range_end,chunk_id}') s
		UNION
		SELECT c.fields[1], s.fields[1], s.fields[2]
		FROM tablespace_advisor.member_rows('timescaledb', 'dimension_slice',
				'{dimension_id,range_end,id}') s
			JOIN tablespace_advisor.member_rows('timescaledb', 'chunk_constraint',
				'{chunk_id,dimension_slice_id}') c ON c.fields[2] = s.fields[3]
	)
	SELECT s.chunk, tablespace_advisor.chunk_end(s.range_end::bigint, d.type)
	FROM slice s JOIN dimension d ON d.id = s.dimension
$$;
COMMENT ON FUNCTION tablespace_advisor.chunk_bounds(text) IS
	'the upper bounds of chunks along the first open dimension of a hypertable; NULL where a function makes what it is divided by';

/*
 * A chunk is believed to be one if it inherits from the hypertable, and a
 * relation to hold its compressed rows if it has the same owner.
 */
CREATE FUNCTION tablespace_advisor.chunks_of(target oid)
RETURNS TABLE (member oid, chunk oid, upper_bound timestamptz, is_whole boolean)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH hypertable AS MATERIALIZED (
		SELECT h.id FROM tablespace_advisor.hypertable_of(target) h
		WHERE h.is_known
	), bound AS MATERIALIZED (
		SELECT b.*
		FROM hypertable h
			CROSS JOIN LATERAL tablespace_advisor.chunk_bounds(h.id) b
	), chunk AS MATERIALIZED (
		SELECT c.oid AS chunk, c.relowner, r.is_compressed, b.upper_bound
		FROM hypertable h
			JOIN tablespace_advisor.chunks_listed() r ON r.hypertable = h.id
			JOIN pg_class c ON c.oid = r.relation
			JOIN pg_inherits i ON i.inhrelid = c.oid AND i.inhparent = target
			LEFT JOIN bound b ON b.chunk = r.id
	), compressed AS MATERIALIZED (
		SELECT c.chunk, c.upper_bound, z.oid AS relation
		FROM chunk c
			JOIN tablespace_advisor.compressed_relations() r USING (chunk)
			JOIN pg_class z ON z.oid = r.relation AND z.relowner = c.relowner
	)
	SELECT c.chunk, c.chunk, c.upper_bound,
		NOT c.is_compressed OR c.chunk IN (SELECT z.chunk FROM compressed z)
	FROM chunk c
	UNION ALL
	SELECT z.relation, z.chunk, z.upper_bound, true FROM compressed z
$$;
COMMENT ON FUNCTION tablespace_advisor.chunks_of(oid) IS
	'the chunks of a hypertable and, with their chunk''s bound, the relations of their compressed rows; is_whole: unless there are such rows and it is not known where';

CREATE FUNCTION tablespace_advisor.hypertable_retention(target oid)
RETURNS interval
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT min(c.config->>'drop_after')::interval
	FROM tablespace_advisor.hypertable_of(target) h
		JOIN tablespace_advisor.member_rows('timescaledb', 'bgw_job',
				'{hypertable_id,proc_name,scheduled,config}') j
			ON j.fields[1] = h.id AND j.fields[2] = 'policy_retention'
				AND j.fields[3] = 't'
		CROSS JOIN LATERAL (SELECT j.fields[4]::jsonb) c(config)
	WHERE h.is_known AND c.config->>'drop_after' !~ '^[0-9]+$'
$$;
COMMENT ON FUNCTION tablespace_advisor.hypertable_retention(oid) IS
	'after which time a policy of TimescaleDB drops chunks of a hypertable; NULL if none does';

CREATE FUNCTION tablespace_advisor.attached_tablespaces(target oid)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT string_agg(quote_ident(a.fields[2]), ', ' ORDER BY a.fields[2])
	FROM tablespace_advisor.hypertable_of(target) h
		JOIN tablespace_advisor.member_rows('timescaledb', 'tablespace',
			'{hypertable_id,tablespace_name}') a ON a.fields[1] = h.id
$$;
COMMENT ON FUNCTION tablespace_advisor.attached_tablespaces(oid) IS
	'tablespaces in which TimescaleDB makes new chunks of a hypertable; NULL if none is attached';
/* Moves of all databases of the server. */

CREATE FUNCTION tablespace_advisor.moves_of(
	database_oid oid, since timestamptz,
	OUT job_id bigint, OUT relation_name text, OUT from_tablespace name,
	OUT to_tablespace name, OUT method text, OUT state text, OUT phase text,
	OUT bytes_total bigint, OUT bytes_done bigint, OUT percent float8,
	OUT mb_per_s float8, OUT eta interval, OUT error text, OUT owner name,
	OUT pid int, OUT queued_at timestamptz, OUT started_at timestamptz,
	OUT finished_at timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_moves_of'
LANGUAGE C STRICT VOLATILE ROWS 10;
COMMENT ON FUNCTION tablespace_advisor.moves_of(oid, timestamptz) IS
	'moves of a database that have not ended, or not before that time; error without a job_id: why they are not known. A worker looks into other databases (53000: no worker slot is free)';

CREATE FUNCTION tablespace_advisor.moves_everywhere(since interval)
RETURNS TABLE (database name, job_id bigint, relation_name text,
	from_tablespace name, to_tablespace name, method text, state text,
	phase text, bytes_total bigint, bytes_done bigint, percent float8,
	mb_per_s float8, eta interval, error text, owner name, pid int,
	queued_at timestamptz, started_at timestamptz, finished_at timestamptz)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	WITH db AS MATERIALIZED (
		SELECT d.oid, d.datname, tablespace_advisor.is_database_locked(d.oid) AS is_locked
		FROM pg_database d
		WHERE d.datallowconn AND d.datconnlimit <> -2
	)
	SELECT d.datname, m.*
	FROM db d
		CROSS JOIN LATERAL tablespace_advisor.moves_of(d.oid,
			clock_timestamp() - since) m
	WHERE NOT d.is_locked
	UNION ALL
	SELECT d.datname, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
		NULL, NULL, 'Somebody has locked the database.', NULL, NULL, NULL, NULL, NULL
	FROM db d
	WHERE d.is_locked
	ORDER BY 1, 2
$$;
COMMENT ON FUNCTION tablespace_advisor.moves_everywhere(interval) IS
	'all_tablespace_moves() as the bootstrap superuser sees it';

CREATE FUNCTION @extschema@.all_tablespace_moves(
	since interval DEFAULT '1 hour',
	OUT database name, OUT job_id bigint, OUT relation_name text,
	OUT from_tablespace name, OUT to_tablespace name, OUT method text,
	OUT state text, OUT phase text, OUT bytes_total bigint,
	OUT bytes_done bigint, OUT percent float8, OUT mb_per_s float8,
	OUT eta interval, OUT error text, OUT owner name, OUT pid int,
	OUT queued_at timestamptz, OUT started_at timestamptz,
	OUT finished_at timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_all_tablespace_moves'
LANGUAGE C VOLATILE ROWS 10;
REVOKE ALL ON FUNCTION @extschema@.all_tablespace_moves(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.all_tablespace_moves(interval) TO pg_monitor;
COMMENT ON FUNCTION @extschema@.all_tablespace_moves(interval) IS
	'moves of all databases of the server that have not ended, or ended no longer than that ago; columns of tablespace_moves, owner by name, error without a job_id: why a database''s moves are not known. Errors: 22004 null, 53000 no worker slot is free for another database, 08006 one could not be looked into';
/* Partitions by age and by disuse. */

/*
 * The upper bound of the first range key as a time.  The bound is printed in
 * ISO form, so that reading it back gives the same time.  Integer keys are
 * times only where pg_partman says so.  Without the partition's OID, of which a
 * bound names nothing, it is printed without a lock.
 */
CREATE FUNCTION tablespace_advisor.partition_upper_bound(
	partition oid, partman_epoch text DEFAULT NULL)
RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO'
AS $$
	SELECT CASE
		WHEN b.literal IS NULL OR b.literal LIKE '%infinity' THEN NULL
		/* a date that is no timestamp is as far away as the end of time */
		WHEN o.opcintype = 'date'::regtype THEN
			CASE WHEN b.literal::date BETWEEN '4000-01-01 BC' AND '200000-01-01'
				THEN b.literal::date::timestamptz END
		WHEN o.opcintype = 'timestamp'::regtype THEN
			CASE WHEN b.literal::timestamp BETWEEN '4000-01-01 BC' AND '200000-01-01'
				THEN b.literal::timestamp::timestamptz END
		WHEN o.opcintype = 'timestamptz'::regtype
			THEN b.literal::timestamptz
		WHEN o.opcintype IN ('int4'::regtype, 'int8'::regtype) THEN
			(SELECT CASE WHEN abs(s.seconds) < 6e12 THEN to_timestamp(s.seconds) END
				FROM (SELECT b.literal::float8 / CASE partman_epoch
					WHEN 'seconds' THEN 1 WHEN 'milliseconds' THEN 1e3
					WHEN 'microseconds' THEN 1e6 WHEN 'nanoseconds' THEN 1e9 END) s(seconds))
		END
	FROM pg_class c
		JOIN pg_inherits i ON i.inhrelid = c.oid
		JOIN pg_partitioned_table p ON p.partrelid = i.inhparent
			AND p.partstrat = 'r'
		JOIN pg_opclass o ON o.oid = p.partclass[0]
		CROSS JOIN LATERAL (SELECT "substring"(
			pg_get_expr(c.relpartbound, 0),
			'^FOR VALUES FROM [(](?:''(?:[^'']|'''')*''|[^''()])*[)] TO [(]''?([^'',)]*)')) m(literal)
		CROSS JOIN LATERAL (SELECT nullif(m.literal, 'MAXVALUE')) b(literal)
	WHERE c.oid = partition AND c.relispartition
$$;
COMMENT ON FUNCTION tablespace_advisor.partition_upper_bound(oid, text) IS
	'upper bound of the first key of a range partition; NULL where it is no time, has no end, or is beyond the years 4000 BC to 200000. partman_epoch: what an integer key counts, as in pg_partman''s part_config';

/*
 * How an integer key counts time, and after which time partitions are dropped,
 * if they are and not only detached or moved.
 */
CREATE FUNCTION tablespace_advisor.partman_config(
	target oid, OUT epoch text, OUT retention interval)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT max(nullif(p.fields[2], 'none')),
		max(p.fields[3]::interval) FILTER (WHERE p.fields[3] !~ '^[0-9]+$'
			AND p.fields[4] IS NULL AND p.fields[5] = 'f')
	FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN tablespace_advisor.member_rows('pg_partman', 'part_config',
			'{parent_table,epoch,retention,retention_schema,retention_keep_table}') p
			ON p.fields[1] = format('%s.%s', n.nspname, c.relname)
	WHERE c.oid = target
$$;
COMMENT ON FUNCTION tablespace_advisor.partman_config(oid) IS
	'what pg_partman does with a partitioned table; NULLs if it does nothing. retention: after which it drops partitions';

/*
 * Partitions with storage of a partitioned table, or chunks of a hypertable
 * with the relations of their compressed rows, which are used as one.
 */
CREATE FUNCTION tablespace_advisor.partition_leaves(target oid)
RETURNS TABLE (member oid, used_as oid, upper_bound timestamptz,
	is_whole boolean)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH RECURSIVE partman AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.partman_config(target)
	), tree(member, kind, upper_bound) AS (
		SELECT c.oid, c.relkind, NULL::timestamptz
		FROM pg_class c WHERE c.oid = target AND c.relkind = 'p'
		UNION ALL
		SELECT c.oid, c.relkind, least(t.upper_bound,
			tablespace_advisor.partition_upper_bound(c.oid,
				(SELECT p.epoch FROM partman p)))
		FROM tree t
			JOIN pg_inherits i ON i.inhparent = t.member
				AND NOT i.inhdetachpending
			JOIN pg_class c ON c.oid = i.inhrelid
		WHERE t.kind = 'p'
	)
	SELECT t.member, t.member, t.upper_bound, true FROM tree t WHERE t.kind <> 'p'
	UNION ALL
	SELECT c.* FROM tablespace_advisor.chunks_of(target) c
$$;
COMMENT ON FUNCTION tablespace_advisor.partition_leaves(oid) IS
	'partitions of a table that have storage, chunks of a hypertable and the relations of their compressed rows; used_as: of those the chunk, else the partition; is_whole: see chunks_of()';

/* What is known of them. */
CREATE FUNCTION tablespace_advisor.partition_facts(target oid)
RETURNS TABLE (oid oid, relkind "char", is_plain boolean, is_whole boolean,
	relowner oid,
	upper_bound timestamptz, age interval, tablespace oid, size_bytes bigint,
	last_used timestamptz, moved_at timestamptz, unfinished bigint)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH leaf AS MATERIALIZED (
		SELECT c.*, t.used_as, t.upper_bound, t.is_whole
		FROM tablespace_advisor.partition_leaves(target) t
			JOIN pg_class c ON c.oid = t.member
	), used AS MATERIALIZED (
		SELECT l.used_as, max(s.taken_at) AS last_used
		FROM tablespace_advisor.relation_sample r
			JOIN tablespace_advisor.sample s USING (sample_id)
			LEFT JOIN pg_index i ON i.indexrelid = r.relation
			JOIN leaf l ON l.oid = coalesce(i.indrelid, r.relation)
		WHERE coalesce(r.scans, 0) + coalesce(r.tuples_read, 0)
			+ coalesce(r.inserted, 0) + coalesce(r.updated, 0)
			+ coalesce(r.deleted, 0) > 0
		GROUP BY 1
	)
	SELECT l.oid, l.relkind,
		bool_and(l.relpersistence = 'p' AND l.relam = 2)
			OVER (PARTITION BY l.used_as),
		l.is_whole, l.relowner,
		l.upper_bound, clock_timestamp() - l.upper_bound,
		CASE l.reltablespace WHEN 0 THEN d.dattablespace
			ELSE l.reltablespace END,
		(SELECT sum(tablespace_advisor.relation_bytes(r))::bigint
			FROM unnest(ARRAY[l.oid, l.reltoastrelid]) r
			WHERE r <> 0),
		u.last_used, j.moved_at, j.unfinished
	FROM leaf l
		JOIN pg_database d ON d.datname = current_database()
		LEFT JOIN used u ON u.used_as = l.used_as
		CROSS JOIN LATERAL (SELECT
				max(j.finished_at) FILTER (WHERE j.state = 'done') AS moved_at,
				min(j.job_id) FILTER (WHERE j.state IN
					('queued', 'running', 'paused')) AS unfinished
			FROM tablespace_advisor.job j WHERE j.relation = l.oid) j
$$;
COMMENT ON FUNCTION tablespace_advisor.partition_facts(oid) IS
	'what is known of partition_leaves(); is_plain: permanent and of the access method heap, of a chunk with its compressed rows; last_used: by samples, of a chunk and its compressed rows as one; unfinished: a move that has not ended';

CREATE FUNCTION tablespace_advisor.partition_reason(
	finding text, detail text, more text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE finding
		WHEN 'there already' THEN 'It is there already.'
		WHEN 'no storage' THEN 'It has no storage of its own here.'
		WHEN 'no live copy' THEN
			'Live copy does not apply: it is unlogged, temporary or of an access method that is not known.'
		WHEN 'not whole' THEN 'It is not known where its compressed rows are.'
		WHEN 'owner' THEN format('It belongs to role %I.', detail)
		WHEN 'moving' THEN format('Move %s of it has not ended.', detail)
		WHEN 'no age' THEN 'Its age is unknown: it has no upper bound that is a time.'
		WHEN 'too young' THEN format('It is younger than %s.', detail)
		WHEN 'no samples' THEN
			'There are no samples to tell since when it is unused; see sample_activity().'
		WHEN 'few samples' THEN format('The samples reach back to %s only.', detail)
		WHEN 'used' THEN format('It was used before %s.', detail)
		WHEN 'dropped soon' THEN format('%s drops it after %s.', detail, more)
		WHEN 'moved lately' THEN format('It was moved at %s, less than %s ago.', detail, more)
		WHEN 'due' THEN concat_ws(' ', 'It ends at ' || detail || '.',
			'No sample saw it used for ' || more || '.')
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.partition_reason(text, text, text) IS
	'in words what was found of a partition; detail, more: names, times or numbers in it';

/*
 * What is to become of the partitions of a table.  What was not used is known
 * from samples: up to the last one, as far back as they reach.  asker: the role
 * that would move them, NULL for whoever owns them.
 */
CREATE FUNCTION tablespace_advisor.judge_partitions(
	target oid, target_tablespace oid, older_than interval,
	unused_for interval, min_residence interval, asker oid)
RETURNS TABLE (partition oid, upper_bound timestamptz, age interval,
	idle_for interval, size_bytes bigint, action text, reason text)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH policy AS MATERIALIZED (
		SELECT 'pg_partman' AS name, p.retention
		FROM tablespace_advisor.partman_config(target) p
		WHERE p.retention IS NOT NULL
		UNION ALL
		SELECT 'TimescaleDB', r
		FROM tablespace_advisor.hypertable_retention(target) r
		WHERE r IS NOT NULL
	), coverage AS MATERIALIZED (
		SELECT min(coalesce(s.started_at, s.taken_at)) AS since,
			max(s.taken_at) AS until
		FROM tablespace_advisor.sample s
	), judged AS MATERIALIZED (
		SELECT l.*, c.until - coalesce(l.last_used, c.since) AS idle_for,
			c.since, p.name AS policy, l.upper_bound + p.retention AS dropped_at, CASE
				WHEN l.tablespace = target_tablespace THEN 'there already'
				WHEN l.relkind <> 'r' THEN 'no storage'
				WHEN NOT l.is_plain THEN 'no live copy'
				WHEN NOT l.is_whole THEN 'not whole'
				WHEN NOT pg_has_role(asker, l.relowner, 'USAGE') THEN 'owner'
				WHEN l.unfinished IS NOT NULL THEN 'moving'
				WHEN older_than IS NOT NULL AND l.upper_bound IS NULL THEN 'no age'
				WHEN older_than IS NOT NULL AND l.age < older_than THEN 'too young'
				WHEN unused_for IS NOT NULL AND c.until IS NULL THEN 'no samples'
				WHEN unused_for IS NOT NULL
						AND c.until - coalesce(l.last_used, c.since) < unused_for
					THEN CASE WHEN l.last_used IS NULL THEN 'few samples' ELSE 'used' END
				WHEN l.upper_bound + p.retention < clock_timestamp() + min_residence
					THEN 'dropped soon'
				WHEN l.moved_at > clock_timestamp() - min_residence THEN 'moved lately'
				ELSE 'due' END AS finding
		FROM tablespace_advisor.partition_facts(target) l
			CROSS JOIN coverage c
			LEFT JOIN policy p ON true
	)
	SELECT j.oid, j.upper_bound, j.age, j.idle_for, j.size_bytes,
		CASE j.finding WHEN 'due' THEN 'move' ELSE 'keep' END,
		tablespace_advisor.partition_reason(j.finding, CASE j.finding
				WHEN 'owner' THEN pg_get_userbyid(j.relowner)::text
				WHEN 'moving' THEN j.unfinished::text
				WHEN 'too young' THEN older_than::text
				WHEN 'few samples' THEN j.since::text
				WHEN 'used' THEN j.last_used::text
				WHEN 'dropped soon' THEN j.policy
				WHEN 'moved lately' THEN j.moved_at::text
				WHEN 'due' THEN CASE WHEN older_than IS NOT NULL THEN j.upper_bound::text END
			END, CASE j.finding
				WHEN 'dropped soon' THEN j.dropped_at::text
				WHEN 'moved lately' THEN min_residence::text
				WHEN 'due' THEN CASE WHEN unused_for IS NOT NULL THEN j.idle_for::text END
			END)
	FROM judged j
	ORDER BY j.upper_bound, j.oid
$$;
COMMENT ON FUNCTION tablespace_advisor.judge_partitions(
	oid, oid, interval, interval, interval, oid) IS
	'partitions with storage of a table and whether they are old enough, and unused for long enough, to be moved to a tablespace';

/* The moves of those that are, with their indexes. */
CREATE FUNCTION tablespace_advisor.partition_moves(
	target oid, target_tablespace oid, older_than interval,
	unused_for interval, min_residence interval, asker oid,
	with_indexes boolean)
RETURNS TABLE (relation oid, heap oid, kind "char", schema_name name,
	relation_name name, persistence "char", tablespace oid,
	to_tablespace oid, size_bytes bigint, method text, goes_along boolean,
	place bigint)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH chosen AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.judge_partitions(target,
			target_tablespace, older_than, unused_for, min_residence, asker) p
		WHERE p.action = 'move'
	), member AS (
		SELECT p.partition AS relation, p.partition AS heap, p.size_bytes,
			p.upper_bound, false AS goes_along
		FROM chosen p
		UNION ALL
		SELECT i.indexrelid, p.partition,
			tablespace_advisor.relation_bytes(i.indexrelid), p.upper_bound,
			true
		FROM chosen p
			JOIN pg_index i ON i.indrelid = p.partition AND i.indisvalid
		WHERE with_indexes
	)
	SELECT m.relation, m.heap, c.relkind, n.nspname, c.relname,
		c.relpersistence, t.tablespace, target_tablespace, m.size_bytes,
		'copy', m.goes_along,
		row_number() OVER (ORDER BY m.upper_bound, m.heap, m.goes_along,
			m.relation)
	FROM member m
		JOIN pg_class c ON c.oid = m.relation
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_database d ON d.datname = current_database()
		CROSS JOIN LATERAL (SELECT CASE c.reltablespace
			WHEN 0 THEN d.dattablespace ELSE c.reltablespace END)
			t(tablespace)
	WHERE t.tablespace <> target_tablespace
$$;
COMMENT ON FUNCTION tablespace_advisor.partition_moves(
	oid, oid, interval, interval, interval, oid, boolean) IS
	'the moves of partitions that are to be moved, oldest first, each followed by its indexes';

CREATE FUNCTION @extschema@.advise_partition_placement(
	target regclass, tablespace name, older_than interval DEFAULT NULL,
	unused_for interval DEFAULT NULL,
	OUT partition regclass, OUT upper_bound timestamptz, OUT age interval,
	OUT idle_for interval, OUT size_bytes bigint, OUT action text,
	OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_advise_partition_placement'
LANGUAGE C STABLE ROWS 100;
COMMENT ON FUNCTION @extschema@.advise_partition_placement(
	regclass, name, interval, interval) IS
	'which partitions of a table, or chunks of a hypertable, move_partitions_concurrently() would move to a tablespace (action move) and which not (keep), oldest first, and why; age: since the upper bound of the first range key, idle_for: since no sample saw it used. Errors: 42704 no such tablespace, 22004 no target or tablespace, 22023 neither older_than nor unused_for, or one that is negative, 42809 neither a partitioned table nor a hypertable, 0A000 a hypertable of a TimescaleDB whose catalog is not known, 42501 neither its owner nor a member of pg_monitor';

CREATE PROCEDURE @extschema@.move_partitions_concurrently(
	target regclass,
	tablespace name,
	older_than interval DEFAULT NULL,
	unused_for interval DEFAULT NULL,
	min_residence interval DEFAULT '7 days',
	with_indexes boolean DEFAULT true,
	until timestamptz DEFAULT NULL,
	max_rate text DEFAULT NULL,
	lock_timeout interval DEFAULT '100 ms',
	wait boolean DEFAULT true,
	dry_run boolean DEFAULT false,
	min_rate text DEFAULT NULL,
	finish_by timestamptz DEFAULT NULL,
	INOUT job_ids bigint[] DEFAULT NULL)
AS 'MODULE_PATHNAME', 'tsa_move_partitions_concurrently'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.move_partitions_concurrently(
	regclass, name, interval, interval, interval, boolean, timestamptz, text,
	interval, boolean, boolean, text, timestamptz, bigint[]) IS
	'moves the partitions that advise_partition_placement() names, oldest first, while they are in use; the partitioned table itself, and so new partitions, stay; to be called again and again, as by pg_cron. Errors as of advise_partition_placement() and move_table_concurrently(); a partition that could not be moved is a warning';
/*
 * src/apply/apply.sql
 *
 * What a round of apply_placement() does: it undoes what made reading slower, or
 * follows the advice.
 */
CREATE TYPE tablespace_advisor.planned_move AS (
	relation oid,
	heap oid,
	kind "char",
	schema_name name,
	relation_name name,
	persistence "char",
	tablespace oid,
	to_tablespace oid,
	size_bytes bigint,
	method text,
	goes_along boolean,
	saved_ms_per_s float8,
	wave int,
	reason text,
	is_undo boolean
);
COMMENT ON TYPE tablespace_advisor.planned_move IS
	'a move of a round: from where to where, bytes it takes there, what it is expected to save; wave: moves that fit at the same time; reason: why; is_undo: it goes back';

/* A relation as the catalogs know it now; none if it is not where it was. */
CREATE FUNCTION tablespace_advisor.plan_move(
	relation oid,
	from_tablespace oid,
	to_tablespace oid,
	size_bytes bigint,
	method text,
	saved_ms_per_s float8,
	reason text)
RETURNS SETOF tablespace_advisor.planned_move
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT c.oid, coalesce(i.indrelid, c.oid), c.relkind, n.nspname, c.relname,
		c.relpersistence, from_tablespace, to_tablespace, plan_move.size_bytes,
		CASE WHEN c.relpersistence = 'u' THEN 'rebuild' ELSE method END, false,
		saved_ms_per_s, 1, reason, false
	FROM pg_class c
	JOIN pg_namespace n ON n.oid = c.relnamespace
	JOIN pg_database d ON d.datname = current_database()
	LEFT JOIN pg_index i ON i.indexrelid = c.oid
	WHERE c.oid = plan_move.relation AND c.relkind IN ('r', 'm', 'i')
		AND coalesce(nullif(c.reltablespace, 0), d.dattablespace) = from_tablespace
$$;
COMMENT ON FUNCTION tablespace_advisor.plan_move(oid, oid, oid, bigint, text, float8, text) IS
	'the move of a relation, if it is still where it is to leave';

/* May a role move a relation to a tablespace? */
CREATE FUNCTION tablespace_advisor.may_move(caller oid, relation oid, to_tablespace oid)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(pg_has_role(caller, c.relowner, 'USAGE')
		AND (to_tablespace = d.dattablespace
			OR has_tablespace_privilege(caller, to_tablespace, 'CREATE')), false)
	FROM pg_class c JOIN pg_database d ON d.datname = current_database()
	WHERE c.oid = may_move.relation
$$;
COMMENT ON FUNCTION tablespace_advisor.may_move(oid, oid, oid) IS
	'whether a role owns a relation and may make one in the tablespace';

/* Moves of earlier rounds that could be undone now, and whether each is to be. */
CREATE FUNCTION tablespace_advisor.undoable_moves(caller oid)
RETURNS TABLE (round_id bigint, job_id bigint, is_slower boolean,
	move tablespace_advisor.planned_move)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH outcome AS MATERIALIZED (
		SELECT o.job_id, o.saved_ms_per_s,
			o.verdict = 'waiting' AND o.saved_high_ms_per_s IS NOT NULL AS is_at_fault
		FROM @extschema@.move_outcomes o
		WHERE o.batch_saved_high_ms_per_s < 0
	), slower AS MATERIALIZED (
		SELECT r.round_id, o.is_at_fault, o.saved_ms_per_s, j.job_id, j.relation,
			j.from_tablespace, j.to_tablespace, j.to_tablespace_name
		FROM tablespace_advisor.placement_round r
		JOIN tablespace_advisor.job j ON j.batch_id = r.batch_id
		JOIN outcome o ON o.job_id = j.job_id
		WHERE NOT r.is_undo AND j.state = 'done' AND j.method <> 'catalog'
			AND j.from_tablespace <> j.to_tablespace
	)
	SELECT s.round_id, s.job_id, s.is_at_fault, p
	FROM slower s
	CROSS JOIN LATERAL tablespace_advisor.plan_move(
		s.relation, s.to_tablespace, s.from_tablespace,
		tablespace_advisor.relation_bytes(s.relation), 'copy', -s.saved_ms_per_s,
		format('reading it took %s ms/s more in %I',
			tablespace_advisor.three_digits(-s.saved_ms_per_s), s.to_tablespace_name)) p
	WHERE s.job_id = (SELECT max(l.job_id) FROM tablespace_advisor.job l
			WHERE l.relation = s.relation AND l.state = 'done')
		AND NOT EXISTS (SELECT FROM tablespace_advisor.placement_pin n
			WHERE n.relation = s.relation
				AND coalesce(n.ends_at, 'infinity') > clock_timestamp())
		AND tablespace_advisor.may_move(caller, s.relation, s.from_tablespace)
$$;
COMMENT ON FUNCTION tablespace_advisor.undoable_moves(oid) IS
	'moves back of those that rounds made after which reading took longer, as far as a role may make them and nobody has pinned the relation; is_slower: by its own reads, beyond the interval and what was forecast';

/*
 * What is slower goes back.  If there is not room for it, as what came in its
 * place is still there, all of its round goes back.
 */
CREATE FUNCTION tablespace_advisor.undo_moves(caller oid)
RETURNS SETOF tablespace_advisor.planned_move
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH undoable AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.undoable_moves(caller)
	), change AS (
		SELECT u.round_id, c.tablespace, sum(c.bytes) AS bytes
		FROM undoable u
		CROSS JOIN LATERAL (VALUES ((u.move).to_tablespace, (u.move).size_bytes),
			((u.move).tablespace, -(u.move).size_bytes)) c(tablespace, bytes)
		WHERE u.is_slower
		GROUP BY 1, 2
	), judged AS (
		SELECT c.round_id, bool_and(c.bytes <= 0 OR coalesce(c.bytes
			<= d.free_bytes - coalesce(d.size_bytes, 0) / 20, true)) AS fits
		FROM change c
		JOIN pg_tablespace t ON t.oid = c.tablespace
		LEFT JOIN tablespace_advisor.device d ON d.tablespace = t.spcname
		GROUP BY c.round_id
	)
	SELECT (u.move).*
	FROM undoable u JOIN judged g USING (round_id)
	WHERE u.is_slower OR NOT g.fits
	ORDER BY u.job_id DESC
$$;
COMMENT ON FUNCTION tablespace_advisor.undo_moves(oid) IS
	'moves that undo those of earlier rounds that made reading slower, the last one first';

/*
 * The advice as moves, by the samples of up to a week, so that a load that is another
 * one every other day, or at weekends, does not make it go to and fro with the
 * days.  Of a bundle all or none: none if one of it has moved
 * within a week, is not the caller's, goes down where standbys may read it, or
 * does not fit into what is left of max_bytes.
 */
CREATE FUNCTION tablespace_advisor.advised_moves(
	caller oid,
	space_budget text,
	max_bytes bigint)
RETURNS SETOF tablespace_advisor.planned_move
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	rows tablespace_advisor.advice_row[];
	bundle record;
	bytes_left bigint := coalesce(max_bytes, 4611686018427387904);
BEGIN
	rows := array(SELECT ROW(g.advice, g.evidence)::tablespace_advisor.advice_row
		FROM tablespace_advisor.gather_advice(caller, NULL, NULL, space_budget, NULL, true,
			history => '7 days') g);
	IF EXISTS (SELECT FROM unnest(rows) r
		WHERE r.evidence #>> '{window,source}' IS DISTINCT FROM 'samples')
	THEN
		RAISE EXCEPTION 'there are no samples to rest on'
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = 'Totals of the statistics do not say what was read lately.',
				HINT = 'Preload the library, or CALL sample_activity() from time to time.';
	END IF;
	FOR bundle IN
		SELECT b.id, sum(b.bytes) AS bytes, array_agg(b.move ORDER BY b.rank) AS moves
		FROM (SELECT m.*, coalesce(r.evidence #>> '{choice,bundle}', 'too full') AS id,
				(r.evidence #>> '{move,bytes}')::bigint AS bytes, (r.advice).rank AS rank,
				p AS move,
				EXISTS (SELECT FROM tablespace_advisor.job j
					WHERE j.relation = (r.advice).relation AND j.state = 'done'
						AND j.from_tablespace <> j.to_tablespace
						AND j.finished_at > clock_timestamp() - interval '7 days') AS moved_lately,
				(r.advice).saved_ms_per_s < 0
					AND r.evidence #> '{window,standbys}' IS NOT NULL AS is_not_asked
			FROM unnest(rows) r
			JOIN pg_tablespace f ON f.spcname = (r.advice).from_tablespace
			JOIN pg_tablespace t ON t.spcname = (r.advice).to_tablespace
			CROSS JOIN LATERAL (SELECT tablespace_advisor.may_move(
				caller, (r.advice).relation, t.oid) AS may) m
			LEFT JOIN LATERAL tablespace_advisor.plan_move((r.advice).relation, f.oid, t.oid,
				(r.evidence #>> '{move,bytes}')::bigint,
				coalesce(r.evidence #>> '{move,method}', 'copy'),
				(r.advice).saved_ms_per_s, (r.advice).reason) p ON true
			WHERE (r.advice).action = 'move') b
		GROUP BY b.id
		HAVING bool_and(b.may) AND NOT bool_or(b.moved_lately)
			AND NOT bool_or(b.is_not_asked) AND bool_and((b.move).relation IS NOT NULL)
		ORDER BY min(b.rank)
	LOOP
		CONTINUE WHEN bundle.bytes > bytes_left;
		bytes_left := bytes_left - bundle.bytes;
		RETURN QUERY SELECT m.* FROM unnest(bundle.moves::tablespace_advisor.planned_move[]) m;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.advised_moves(oid, text, bigint) IS
	'what the advice on the whole database would move, of a bundle all or nothing, as far as a role may, at most so many bytes. Errors: 55000 no samples, 22023 bad budget';

/* Moves in order, in as few waves as fit: what a wave frees is for the next one. */
CREATE FUNCTION tablespace_advisor.plan_round(
	caller oid,
	space_budget text,
	max_bytes bigint,
	verify boolean)
RETURNS SETOF tablespace_advisor.planned_move
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	m tablespace_advisor.planned_move;
	moves tablespace_advisor.planned_move[] := '{}';
	is_undo boolean;
	taken jsonb := '{}';
	free bigint;
	wave int := 1;
BEGIN
	IF verify THEN
		moves := array(SELECT u FROM tablespace_advisor.undo_moves(caller) u);
	END IF;
	is_undo := cardinality(moves) > 0;
	IF NOT is_undo THEN
		moves := array(SELECT a FROM tablespace_advisor.advised_moves(
			caller, space_budget, max_bytes) a);
	END IF;
	FOREACH m IN ARRAY moves LOOP
		SELECT d.free_bytes - coalesce(d.size_bytes, 0) / 20 INTO free
		FROM tablespace_advisor.device d
		JOIN pg_tablespace t ON t.spcname = d.tablespace WHERE t.oid = m.to_tablespace;
		IF coalesce((taken ->> m.to_tablespace::text)::bigint, 0) + m.size_bytes > free
			AND taken <> '{}'
		THEN
			wave := wave + 1;
			taken := '{}';
		END IF;
		taken := taken || jsonb_build_object(m.to_tablespace::text,
			coalesce((taken ->> m.to_tablespace::text)::bigint, 0) + m.size_bytes);
		m := jsonb_populate_record(m, jsonb_build_object('wave', wave, 'is_undo', is_undo));
		RETURN NEXT m;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.plan_round(oid, text, bigint, boolean) IS
	'the moves of a round of apply_placement(), in order: undos of what made reading slower if there are any (and verify), else what the advice says';

/*
 * Pins what rounds have moved back since this was last called, for as long as the
 * reason is kept: also what a round moved whose session was gone by then.
 */
CREATE FUNCTION tablespace_advisor.finish_rounds()
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s'
AS $$
DECLARE
	moved record;
	days int := current_setting('tablespace_advisor.keep_history');
	finished bigint[] := array(SELECT r.batch_id FROM tablespace_advisor.placement_round r
		WHERE NOT r.is_finished AND NOT EXISTS (SELECT FROM tablespace_advisor.job j
			WHERE j.batch_id = r.batch_id AND j.state IN ('queued', 'running', 'paused'))
		FOR UPDATE SKIP LOCKED);
BEGIN
	FOR moved IN SELECT DISTINCT ON (j.relation) j.relation, j.from_tablespace_name, j.owner,
			j.finished_at
		FROM tablespace_advisor.placement_round r
		JOIN tablespace_advisor.job j ON j.batch_id = r.batch_id
		WHERE r.batch_id = ANY (finished) AND r.is_undo AND j.state = 'done'
			AND j.method <> 'catalog'
		ORDER BY j.relation, j.job_id DESC
	LOOP
		BEGIN
			INSERT INTO tablespace_advisor.placement_pin (relation, reason, pinned_by, ends_at)
			VALUES (moved.relation,
				format('moved back, reading was slower in %I', moved.from_tablespace_name),
				moved.owner,
				CASE WHEN days > 0 THEN moved.finished_at + make_interval(days => days) END)
			ON CONFLICT (relation) DO NOTHING;
		EXCEPTION WHEN lock_not_available THEN
			NULL;	-- its owner pins it, in a transaction that has not ended
		END;
	END LOOP;
	UPDATE tablespace_advisor.placement_round r SET is_finished = true
	WHERE r.batch_id = ANY (finished);
	DELETE FROM tablespace_advisor.placement_round r
	WHERE r.batch_id = ANY (array(SELECT f.batch_id FROM tablespace_advisor.placement_round f
		WHERE NOT EXISTS (SELECT FROM tablespace_advisor.job j WHERE j.batch_id = f.batch_id)
		FOR UPDATE SKIP LOCKED));
END
$$;
COMMENT ON FUNCTION tablespace_advisor.finish_rounds() IS
	'pins what ended rounds of apply_placement() have moved back, and forgets rounds that the journal has forgotten';

CREATE PROCEDURE @extschema@.apply_placement(
	space_budget text DEFAULT NULL,
	max_bytes text DEFAULT NULL,
	verify boolean DEFAULT true,
	max_rate text DEFAULT NULL,
	min_rate text DEFAULT NULL,
	lock_timeout interval DEFAULT '100 ms',
	until timestamptz DEFAULT NULL,
	finish_by timestamptz DEFAULT NULL,
	dry_run boolean DEFAULT false,
	INOUT job_ids bigint[] DEFAULT NULL)
AS 'MODULE_PATHNAME', 'tsa_apply_placement'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.apply_placement(
	text, text, boolean, text, text, interval, timestamptz, timestamptz, boolean, bigint[]) IS
	'follows the advice on the whole database, bundle by bundle, at most max_bytes; or, if reading got slower after an earlier round (verify), undoes that one and pins what it moved; to be called again and again, as by pg_cron. Errors: 55000 no samples, 55006 another round, or a move of one, is under way, 42501 not a member of pg_monitor, 22023 bad sizes, others as of move_table_concurrently(); a relation that could not be moved is a warning';
/*
 * src/report/draw.sql
 *
 * Pictures as SVG: axes, lines, bands, bars and dots, and nothing else.  What
 * is drawn are numbers and texts; nothing here looks at a table, or knows what
 * the numbers mean.  Lengths are pixels of the picture's own space.
 */
CREATE FUNCTION tablespace_advisor.html(content text)
RETURNS text
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_html';
COMMENT ON FUNCTION tablespace_advisor.html(text) IS
	'a text as content or quoted attribute of HTML: markup and all that is not ASCII as character numbers, what is invisible or turns the direction of writing as question marks';

CREATE TYPE tablespace_advisor.axis AS (
	kind text,
	low float8,
	high float8,
	begins float8,
	ends float8,
	unit text
);
COMMENT ON TYPE tablespace_advisor.axis IS
	'a scale of a picture. kind: linear, log or time (seconds since 1970); low, high: the values at its ends, where it has the positions begins and ends; unit: of tick labels: bytes, us (microseconds), percent, depth (of a queue: ticks are powers of two), or else a number';

CREATE FUNCTION tablespace_advisor.short_number(number float8)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN abs(number) >= 1e9 OR abs(number) < 1e-4 AND number <> 0
			THEN regexp_replace(trim(to_char(number, '9.9EEEE')), E'(\\.0)?e([+-])0?', E'e\\2')
		WHEN abs(number) >= 1e6 THEN trim_scale(round((number / 1e6)::numeric, 2))::text || ' M'
		WHEN abs(number) >= 1e4 THEN trim_scale(round((number / 1e3)::numeric, 1))::text || ' k'
		ELSE trim_scale(round(number::numeric, greatest(0,
			2 - floor(log(greatest(abs(number), 1e-4)))::int)))::text END
$$;
COMMENT ON FUNCTION tablespace_advisor.short_number(float8) IS
	'a number in few characters, for ticks and tables';

CREATE FUNCTION tablespace_advisor.unit_label(value float8, unit text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN value = 0 AND unit <> 'percent' THEN '0'
		WHEN unit = 'bytes' THEN
			tablespace_advisor.short_number(value / 1024.0::float8 ^ p.power)
				|| ' ' || (ARRAY['B', 'kB', 'MB', 'GB', 'TB', 'PB'])[p.power + 1]
		WHEN unit = 'us' THEN CASE
			WHEN abs(value) < 1000 THEN tablespace_advisor.short_number(value) || ' us'
			WHEN abs(value) < 1e6 THEN tablespace_advisor.short_number(value / 1e3) || ' ms'
			ELSE tablespace_advisor.short_number(value / 1e6) || ' s' END
		WHEN unit = 'percent' THEN tablespace_advisor.short_number(value) || ' %'
		ELSE tablespace_advisor.short_number(value) END
	FROM (SELECT CASE WHEN unit = 'bytes' AND value <> 0 THEN
		least(5, greatest(0, floor(ln(abs(value)) / ln(1024::float8) + 1e-9)::int)) END AS power) p
$$;
COMMENT ON FUNCTION tablespace_advisor.unit_label(float8, text) IS
	'a number with its unit (see axis), in few characters';

CREATE FUNCTION tablespace_advisor.axis_position(a tablespace_advisor.axis, value float8)
RETURNS float8
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT a.begins + (a.ends - a.begins) * CASE
		WHEN a.high <= a.low THEN 0.5
		WHEN a.kind = 'log' THEN
			ln(least(greatest(value, a.low), a.high) / a.low) / ln(a.high / a.low)
		ELSE (least(greatest(value, a.low), a.high) - a.low) / (a.high - a.low) END
$$;
COMMENT ON FUNCTION tablespace_advisor.axis_position(tablespace_advisor.axis, float8) IS
	'where a value is on an axis; one beyond an end is at that end';

/* 1, 2 or 5 times a power of ten; of bytes, times a power of 1024. */
CREATE FUNCTION tablespace_advisor.tick_step(width float8, unit text)
RETURNS float8
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT b.base * d.decade * CASE
		WHEN r.rest > 5.000001 THEN 10 WHEN r.rest > 2.000001 THEN 5
		WHEN r.rest > 1.000001 THEN 2 ELSE 1 END
	FROM (SELECT CASE WHEN unit = 'bytes' AND width > 1024
			THEN 1024.0::float8 ^ floor(ln(width) / ln(1024::float8)) ELSE 1 END AS base) b
	CROSS JOIN LATERAL (SELECT 10.0::float8 ^ floor(log(width / b.base) + 1e-9) AS decade) d
	CROSS JOIN LATERAL (SELECT width / b.base / d.decade AS rest) r
$$;
COMMENT ON FUNCTION tablespace_advisor.tick_step(float8, text) IS
	'the smallest step between ticks that is round and not below a width above 0';

CREATE FUNCTION tablespace_advisor.time_step(width float8)
RETURNS float8
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce((SELECT min(s) FROM unnest('{1, 5, 15, 60, 300, 900, 3600, 10800,
			21600, 43200, 86400, 172800, 604800, 1209600, 2419200, 7257600}'::float8[]) s
		WHERE s >= width), 31536000 * ceil(width / 31536000))
$$;
COMMENT ON FUNCTION tablespace_advisor.time_step(float8) IS
	'the smallest step between ticks of time that is not below a width, both in seconds';

/* At most eight or so; of a log axis 1, 2 and 5 where decades alone are few. */
CREATE FUNCTION tablespace_advisor.axis_ticks(
	a tablespace_advisor.axis,
	OUT value float8,
	OUT label text)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT s.step * n, tablespace_advisor.unit_label(s.step * n, a.unit)
	FROM (SELECT CASE WHEN a.kind = 'linear' AND a.high > a.low
		THEN tablespace_advisor.tick_step((a.high - a.low) / 5, a.unit) END AS step) s
	CROSS JOIN LATERAL generate_series(ceil(a.low / s.step - 1e-9)::bigint,
		floor(a.high / s.step + 1e-9)::bigint) n
	WHERE a.kind = 'linear' AND a.high > a.low
	UNION ALL
	SELECT t.at, tablespace_advisor.unit_label(t.at, a.unit)
	/* the kind's conditions below may be looked at after its arithmetic */
	FROM (SELECT CASE WHEN a.kind = 'log' THEN log(a.low) END AS low,
		CASE WHEN a.kind = 'log' THEN log(a.high) END AS high) l
	CROSS JOIN LATERAL (SELECT l.high - l.low AS decades) d
	CROSS JOIN LATERAL generate_series(floor(l.low)::int, ceil(l.high)::int,
		greatest(1, ceil(d.decades / 7)::int)) e
	CROSS JOIN LATERAL unnest(CASE WHEN d.decades <= 2.5 THEN '{1,2,5}'::float8[]
		ELSE '{1}' END) m
	CROSS JOIN LATERAL (SELECT m * 10.0::float8 ^ e AS at) t
	WHERE a.kind = 'log' AND a.high > a.low
		AND t.at BETWEEN a.low / 1.000001 AND a.high * 1.000001 AND a.unit <> 'depth'
	UNION ALL
	SELECT 2.0::float8 ^ e, tablespace_advisor.unit_label(2.0::float8 ^ e, '')
	FROM generate_series(0, 8) e
	WHERE a.kind = 'log' AND a.unit = 'depth' AND 2.0::float8 ^ e BETWEEN a.low AND a.high
	UNION ALL
	SELECT t.at - o.shift, to_char(to_timestamp(t.at - o.shift),
		CASE WHEN s.step < 60 THEN 'HH24:MI:SS' WHEN s.step < 86400 AND a.high - a.low <= 86400
				THEN 'HH24:MI'
			WHEN s.step < 86400 THEN 'Mon FMDD HH24:MI'
			WHEN s.step < 7257600 THEN 'Mon FMDD' ELSE 'YYYY-MM' END)
	FROM (SELECT CASE WHEN a.kind = 'time' AND a.high > a.low
		THEN tablespace_advisor.time_step((a.high - a.low) / 6) END AS step) s
	CROSS JOIN (SELECT CASE WHEN a.kind = 'time'
		THEN extract(timezone FROM to_timestamp(a.high)) END::float8 AS shift) o
	CROSS JOIN LATERAL (SELECT n * s.step AS at
		FROM generate_series(ceil((a.low + o.shift) / s.step)::bigint,
			floor((a.high + o.shift) / s.step)::bigint) n) t
	WHERE a.kind = 'time' AND a.high > a.low
$$;
COMMENT ON FUNCTION tablespace_advisor.axis_ticks(tablespace_advisor.axis) IS
	'round values on an axis, with labels; times in the session''s time zone';

CREATE FUNCTION tablespace_advisor.axis_around(
	kind text,
	points float8[],
	begins float8,
	ends float8,
	unit text DEFAULT '')
RETURNS tablespace_advisor.axis
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT ROW(kind,
		CASE kind WHEN 'log' THEN l.below * CASE WHEN p.low / l.below >= 5 THEN 5
				WHEN p.low / l.below >= 2 THEN 2 ELSE 1 END
			WHEN 'time' THEN p.low
			ELSE s.step * floor(p.low / s.step + 1e-9) END,
		CASE kind WHEN 'log' THEN h.below * CASE
				WHEN p.high / h.below <= 1.000001 AND p.high > p.low THEN 1
				WHEN p.high / h.below < 2 THEN 2
				WHEN p.high / h.below < 5 THEN 5 ELSE 10 END
			WHEN 'time' THEN p.high
			ELSE greatest(s.step * ceil(p.high / s.step - 1e-9),
				s.step * floor(p.low / s.step + 1e-9) + s.step) END,
		begins, ends, unit)::tablespace_advisor.axis
	FROM (SELECT CASE WHEN kind = 'linear' THEN least(min(v), 0) ELSE min(v) END AS low,
			CASE WHEN kind = 'linear' THEN greatest(max(v), 0) ELSE max(v) END AS high
		FROM unnest(points) v WHERE v > 0 OR kind <> 'log') p
	CROSS JOIN LATERAL (SELECT tablespace_advisor.tick_step(
		coalesce(nullif(p.high - p.low, 0), 1) / 5, unit) AS step) s
	CROSS JOIN LATERAL (SELECT CASE WHEN kind = 'log' THEN
		10.0::float8 ^ floor(log(p.low) + 1e-9) END AS below) l
	CROSS JOIN LATERAL (SELECT CASE WHEN kind = 'log' THEN
		10.0::float8 ^ floor(log(p.high) + 1e-9) END AS below) h
$$;
COMMENT ON FUNCTION tablespace_advisor.axis_around(text, float8[], float8, float8, text) IS
	'an axis with round ends that holds these values, a linear one also 0; a log axis those above 0';

/* Labels that would lie upon each other are moved apart, as little as needed. */
CREATE FUNCTION tablespace_advisor.spread_apart(positions float8[], gap float8, highest float8)
RETURNS float8[]
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	in_order int[] := array(SELECT n::int FROM unnest(positions) WITH ORDINALITY p (at, n)
		ORDER BY p.at, n);
	placed float8[] := positions;
	last float8 := '-infinity';
	room float8;
BEGIN
	FOR i IN 1 .. cardinality(in_order) LOOP
		placed[in_order[i]] := greatest(positions[in_order[i]], last + gap);
		last := placed[in_order[i]];
	END LOOP;
	room := highest;
	FOR i IN REVERSE cardinality(in_order) .. 1 LOOP
		placed[in_order[i]] := least(placed[in_order[i]], room);
		room := placed[in_order[i]] - gap;
	END LOOP;
	RETURN placed;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.spread_apart(float8[], float8, float8) IS
	'positions in the same order, at least gap apart and at most highest';

CREATE FUNCTION tablespace_advisor.draw_text(x float8, y float8, class text, content text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('<text class="%s" x="%s" y="%s">%s</text>', class,
		round(x::numeric, 1), round(y::numeric, 1), tablespace_advisor.html(content))
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_text(float8, float8, text, text) IS
	'a text in a picture; its class says how it is aligned';

/* Both axes with grid lines; what they are of stands above and below. */
CREATE FUNCTION tablespace_advisor.draw_axes(
	x tablespace_advisor.axis,
	y tablespace_advisor.axis,
	x_title text,
	y_title text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce((SELECT string_agg(format('<path class="grid" d="M%s %sV%s"/>',
				round(p.at::numeric, 1), round(y.begins::numeric, 1), round(y.ends::numeric, 1))
			|| tablespace_advisor.draw_text(p.at, y.begins + 16, 'tick mid', t.label), '')
		FROM tablespace_advisor.axis_ticks(x) t
		CROSS JOIN LATERAL (SELECT tablespace_advisor.axis_position(x, t.value) AS at) p), '')
	|| coalesce((SELECT string_agg(format('<path class="grid" d="M%s %sH%s"/>',
				round(x.begins::numeric, 1), round(p.at::numeric, 1), round(x.ends::numeric, 1))
			|| tablespace_advisor.draw_text(x.begins - 6, p.at + 4, 'tick end', t.label), '')
		FROM tablespace_advisor.axis_ticks(y) t
		CROSS JOIN LATERAL (SELECT tablespace_advisor.axis_position(y, t.value) AS at) p
		WHERE y.kind IS NOT NULL), '')
	|| tablespace_advisor.draw_text((x.begins + x.ends) / 2, y.begins + 34, 'name mid', x_title)
	|| coalesce(tablespace_advisor.draw_text(0, y.ends - 10, 'name', y_title), '')
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_axes(tablespace_advisor.axis, tablespace_advisor.axis, text, text) IS
	'grid lines, tick labels and names of both axes; y without a kind has no ticks';

CREATE FUNCTION tablespace_advisor.path_of(
	x tablespace_advisor.axis,
	y tablespace_advisor.axis,
	xs float8[],
	ys float8[])
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT string_agg(format('%s %s',
		round(tablespace_advisor.axis_position(x, p.px)::numeric, 1),
		round(tablespace_advisor.axis_position(y, p.py)::numeric, 1)), 'L' ORDER BY p.n)
	FROM unnest(xs, ys) WITH ORDINALITY p (px, py, n)
	WHERE p.px IS NOT NULL AND p.py IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.path_of(tablespace_advisor.axis, tablespace_advisor.axis, float8[], float8[]) IS
	'points as the data of an SVG path, without the command before the first';

CREATE FUNCTION tablespace_advisor.draw_line(
	x tablespace_advisor.axis,
	y tablespace_advisor.axis,
	xs float8[],
	ys float8[],
	class text,
	title text DEFAULT NULL)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN p.data IS NOT NULL THEN
		format('<path class="line %s" d="M%s">%s</path>', class, p.data,
			'<title>' || tablespace_advisor.html(title) || '</title>') ELSE '' END
	FROM (SELECT tablespace_advisor.path_of(x, y, xs, ys) AS data) p
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_line(tablespace_advisor.axis, tablespace_advisor.axis, float8[], float8[], text, text) IS
	'a line through points; title: what a pointer on it shows';

CREATE FUNCTION tablespace_advisor.draw_band(
	x tablespace_advisor.axis,
	y tablespace_advisor.axis,
	xs float8[],
	lows float8[],
	highs float8[],
	class text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN count(*) > 1 THEN format('<path class="band %s" d="M%sL%sZ"/>', class,
		tablespace_advisor.path_of(x, y, array_agg(p.px ORDER BY p.n), array_agg(p.low ORDER BY p.n)),
		tablespace_advisor.path_of(x, y, array_agg(p.px ORDER BY p.n DESC),
			array_agg(p.high ORDER BY p.n DESC))) ELSE '' END
	FROM unnest(xs, lows, highs) WITH ORDINALITY p (px, low, high, n)
	WHERE p.px IS NOT NULL AND p.low IS NOT NULL AND p.high IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_band(tablespace_advisor.axis, tablespace_advisor.axis, float8[], float8[], float8[], text) IS
	'the area between two lines over the same points';

/* Shapes differ as well as colours. */
CREATE FUNCTION tablespace_advisor.draw_dots(
	x tablespace_advisor.axis,
	y tablespace_advisor.axis,
	xs float8[],
	ys float8[],
	class text,
	titles text[],
	shape int DEFAULT 0,
	lows float8[] DEFAULT NULL,
	highs float8[] DEFAULT NULL)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(string_agg(CASE WHEN d.low < d.high THEN
			format('<path class="line %s" d="M%s %sV%s"/>', class,
				round(p.px::numeric, 1),
				round(tablespace_advisor.axis_position(y, d.low)::numeric, 1),
				round(tablespace_advisor.axis_position(y, d.high)::numeric, 1)) ELSE '' END
		|| format('<path class="dot %s" d="M%s %s%s">%s</path>', class,
			round(p.px::numeric, 1), round(p.py::numeric, 1),
			(ARRAY['m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0', 'm-4 -4h8v8h-8z', 'm0 -5l5 9h-10z',
				'm0 -5l5 5l-5 5l-5 -5z', 'm-5 -4h10l-5 9z', 'm-5 -2h10v4h-10z'])[shape % 6 + 1],
			'<title>' || tablespace_advisor.html(d.title) || '</title>'), '' ORDER BY d.n), '')
	FROM unnest(xs, ys, titles, lows, highs) WITH ORDINALITY d (dx, dy, title, low, high, n)
	CROSS JOIN LATERAL (SELECT tablespace_advisor.axis_position(x, d.dx) AS px,
		tablespace_advisor.axis_position(y, d.dy) AS py) p
	WHERE d.dx IS NOT NULL AND d.dy IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_dots(tablespace_advisor.axis, tablespace_advisor.axis, float8[], float8[], text, text[], int, float8[], float8[]) IS
	'dots of one of six shapes, with intervals where both lows and highs are known; titles: what a pointer on each shows';

CREATE FUNCTION tablespace_advisor.draw_bar(
	x tablespace_advisor.axis,
	low float8,
	high float8,
	top float8,
	height float8,
	class text,
	title text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(format('<rect class="bar %s" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>',
		class, round(p.low::numeric, 1), round(top::numeric, 1),
		round(greatest(p.high - p.low, 1)::numeric, 1), round(height::numeric, 1),
		tablespace_advisor.html(title)), '')
	FROM (SELECT tablespace_advisor.axis_position(x, low) AS low,
		tablespace_advisor.axis_position(x, high) AS high) p
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_bar(tablespace_advisor.axis, float8, float8, float8, float8, text, text) IS
	'a bar from one value to another, at least a pixel wide; title: what a pointer on it shows';

CREATE FUNCTION tablespace_advisor.draw_picture(width float8, height float8, title text, body text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('<svg viewBox="0 0 %s %s" role="img" aria-label="%s">%s</svg>',
		round(width::numeric), round(height::numeric), tablespace_advisor.html(title), body)
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_picture(float8, float8, text, text) IS
	'a picture as an SVG element of a page; title: what it shows, for who cannot see it';
/*
 * src/report/health.sql
 *
 * What is missing for the extension to work.  Each subject is a view of its
 * own kind of facts; tablespace_advisor_health() is their union.
 */

/*
 * Jobs whose files are left, though nobody works on them.  The old file of a
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
	'moves that ended more than an hour ago and whose files are still there';

CREATE FUNCTION tablespace_advisor.server_health()
RETURNS TABLE (subject text, ok boolean, message text, statement text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH preload AS (
		SELECT array_remove(regexp_split_to_array(
			current_setting('shared_preload_libraries'), E'\\s*,\\s*'), '') AS libraries
	)
	SELECT 'preloading', p.loaded,
		CASE WHEN p.loaded THEN 'the library is preloaded'
			ELSE 'the library is not preloaded: nothing is sampled, nor tidied up after a crash, unless called for; takes a restart' END,
		CASE WHEN NOT p.loaded THEN 'ALTER SYSTEM SET shared_preload_libraries = '
			|| (SELECT string_agg(quote_literal(l), ', ')
				FROM unnest(p.libraries || 'tablespace_advisor'::text) l) END
	FROM (SELECT libraries, 'tablespace_advisor' = ANY (libraries) AS loaded FROM preload) p
	UNION ALL
	SELECT 'timing', t.timed, CASE WHEN t.timed THEN 'track_io_timing is on'
			ELSE 'track_io_timing is off: advice cannot correct probes by what the server timed, and outcomes are not measured; takes a reload: SELECT pg_catalog.pg_reload_conf()' END,
		CASE WHEN NOT t.timed THEN 'ALTER SYSTEM SET track_io_timing = on' END
	FROM (SELECT current_setting('track_io_timing')::boolean AS timed) t
	UNION ALL
	SELECT 'worker slots', w.free > 0,
		format('%s of %s background workers are free; a move needs one%s', w.free, w.slots,
			CASE WHEN w.free <= 0 THEN '; takes a restart' END),
		CASE WHEN w.free <= 0 THEN
			format('ALTER SYSTEM SET max_worker_processes = %s', w.slots + 8) END
	FROM (SELECT s.slots, greatest(0, s.slots - (SELECT count(*) FROM pg_stat_activity a
				WHERE a.backend_type NOT IN ('client backend', 'autovacuum launcher',
					'autovacuum worker', 'walsender', 'walreceiver', 'startup', 'checkpointer',
					'background writer', 'walwriter', 'walsummarizer', 'archiver', 'logger',
					'slotsync worker', 'io worker'))) AS free
		FROM (SELECT current_setting('max_worker_processes')::int AS slots) s) w
$$;
COMMENT ON FUNCTION tablespace_advisor.server_health() IS
	'the rows of tablespace_advisor_health() on settings of the server';

CREATE FUNCTION tablespace_advisor.sample_health()
RETURNS TABLE (subject text, ok boolean, message text, statement text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'samples', s.ok,
		CASE WHEN pg_is_in_recovery() THEN 'a standby keeps no samples; advice takes "observe" there'
			WHEN s.last IS NULL THEN 'no sample was taken: advice rests on totals of unknown age'
			WHEN s.n < 2 THEN 'one sample was taken: activity is the difference of two'
			ELSE format('the last sample was taken %s ago', tablespace_advisor.pretty_seconds(round(s.age_s))) END,
		CASE WHEN NOT s.ok THEN format('CALL %s.sample_activity()', '@extschema@') END
	FROM (SELECT x.*, pg_is_in_recovery() OR x.n > 1 AND x.age_s < 3600 AS ok
		FROM (SELECT count(*) AS n, max(a.taken_at) AS last,
				extract(epoch FROM clock_timestamp() - max(a.taken_at))::float8 AS age_s
			FROM tablespace_advisor.sample a) x) s
$$;
COMMENT ON FUNCTION tablespace_advisor.sample_health() IS
	'the row of tablespace_advisor_health() on samples: fine if one is younger than an hour';

CREATE FUNCTION tablespace_advisor.probe_health()
RETURNS TABLE (subject text, ok boolean, message text, statement text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'probe of ' || quote_ident(l.tablespace), f.ok,
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
	WHERE l.tablespace_oid IN (SELECT i.tablespace FROM tablespace_advisor.used_tablespace i)
		OR l.random_read_us IS NOT NULL
		OR l.tablespace NOT IN (SELECT v.tablespace FROM tablespace_advisor.device v
			WHERE v.volatile)
	ORDER BY l.tablespace
$$;
COMMENT ON FUNCTION tablespace_advisor.probe_health() IS
	'the rows of tablespace_advisor_health() on measurements of tablespaces, but for volatile ones that are neither used nor probed: fine for 90 days';

CREATE FUNCTION tablespace_advisor.device_health()
RETURNS TABLE (subject text, ok boolean, message text, statement text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'device of ' || quote_ident(d.tablespace),
		d.degraded IS NOT TRUE AND d.volatile IS NOT TRUE,
		coalesce(nullif(array_to_string(d.warnings, '; '), ''), d.media), NULL
	FROM tablespace_advisor.device d
	ORDER BY d.tablespace
$$;
COMMENT ON FUNCTION tablespace_advisor.device_health() IS
	'the rows of tablespace_advisor_health() on devices: not fine where a RAID lacks members or contents are lost when the machine stops';

CREATE FUNCTION tablespace_advisor.move_health()
RETURNS TABLE (subject text, ok boolean, message text, statement text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'moves', f.failed IS NULL,
		CASE WHEN f.failed IS NULL THEN 'none failed in the last 7 days'
			ELSE format('%s failed in the last 7 days, the last as job %s%s', f.n, f.failed,
				coalesce(': ' || tablespace_advisor.one_line(f.error, 160), '')) END,
		CASE WHEN f.failed IS NOT NULL THEN format('SELECT %s.retry_move(%s)', '@extschema@', f.failed) END
	FROM (SELECT count(*) AS n, max(p.job_id) AS failed,
			(array_agg(p.error ORDER BY p.job_id DESC))[1] AS error
		FROM tablespace_advisor.move_progress p
		WHERE p.state = 'failed' AND p.finished_at > clock_timestamp() - interval '7 days') f
	UNION ALL
	SELECT 'files', u.n = 0, CASE WHEN u.n = 0 THEN 'no files of moves are left'
			ELSE format('files of moves that have ended are left (jobs: %s): the next call removes them, if their device answers', u.n) END,
		CASE WHEN u.n > 0 THEN format('SELECT %s.wait_for_moves(%L::pg_catalog.int8[])', '@extschema@', '{}') END
	FROM (SELECT count(*) AS n FROM tablespace_advisor.untidied_jobs()) u
$$;
COMMENT ON FUNCTION tablespace_advisor.move_health() IS
	'the rows of tablespace_advisor_health() on moves that failed, and files that they left';

CREATE FUNCTION @extschema@.tablespace_advisor_health(
	OUT subject text,
	OUT ok boolean,
	OUT message text,
	OUT statement text)
RETURNS SETOF record
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	-- the view, of which nothing is read, is locked: the extension stays meanwhile
	SELECT tablespace_advisor.printable(h.subject), h.ok, tablespace_advisor.printable(h.message), h.statement
	FROM (SELECT 1 AS part, * FROM tablespace_advisor.server_health()
		UNION ALL SELECT 2, * FROM tablespace_advisor.sample_health()
		UNION ALL SELECT 3, * FROM tablespace_advisor.probe_health()
		UNION ALL SELECT 4, * FROM tablespace_advisor.device_health()
		UNION ALL SELECT 5, * FROM tablespace_advisor.move_health()) h
		LEFT JOIN (SELECT FROM tablespace_advisor.device LIMIT 0) held ON true
	ORDER BY h.part;
END;
COMMENT ON FUNCTION @extschema@.tablespace_advisor_health() IS
	'what the extension needs, a row each: whether it is there (ok), in words, and the statement that mends it';

REVOKE ALL ON FUNCTION @extschema@.tablespace_advisor_health() FROM PUBLIC;
GRANT SELECT ON tablespace_advisor.move_progress TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.printable(text),
	tablespace_advisor.probe_statement(name[]),
	tablespace_advisor.untidied_jobs(),
	tablespace_advisor.server_health(),
	tablespace_advisor.sample_health(),
	tablespace_advisor.probe_health(),
	tablespace_advisor.device_health(),
	tablespace_advisor.move_health(),
	@extschema@.tablespace_advisor_health()
	TO pg_monitor;
/*
 * src/report/metrics.sql
 *
 * Figures for collectors: one row per tablespace, and per state and target of
 * moves.  Names are stable, units are seconds and bytes, and nothing is looked
 * at but what samples, probes and the journal hold, so that a scrape costs
 * milliseconds however many relations there are.
 */
CREATE VIEW @extschema@.tablespace_metrics AS
WITH last AS MATERIALIZED (
	SELECT s.sample_id, s.taken_at FROM tablespace_advisor.sample s
	ORDER BY s.sample_id DESC LIMIT 1
), growth AS MATERIALIZED (
	SELECT h.tablespace,
		CASE WHEN g.slope < 0 AND pg_catalog.cardinality(h.days) >= 8
				AND h.days[pg_catalog.cardinality(h.days)] - h.days[1] >= 1
			THEN 86400 * greatest(0, h.free[pg_catalog.cardinality(h.free)] / -g.slope) END AS full_in_seconds
	FROM tablespace_advisor.usage_history() h
	CROSS JOIN LATERAL tablespace_advisor.trend(h.days, h.free) g
)
SELECT t.spcname AS tablespace,
	CASE WHEN EXISTS (SELECT FROM last) THEN coalesce(u.used_bytes, 0) END AS used_bytes,
	u.free_bytes,
	CASE WHEN u.tablespace IS NOT NULL THEN g.full_in_seconds END AS full_in_seconds,
	extract(epoch FROM pg_catalog.clock_timestamp() - (SELECT l.taken_at FROM last l))::float8
		AS sample_age_seconds,
	extract(epoch FROM pg_catalog.clock_timestamp() - p.measured_at)::float8 AS probe_age_seconds,
	p.random_read_us / 1e6::float8 AS probe_random_read_seconds,
	p.sequential_page_us / 1e6::float8 AS probe_sequential_page_seconds,
	d.reads AS device_reads_total,
	d.read_bytes AS device_read_bytes_total,
	d.read_ms / 1e3::float8 AS device_read_seconds_total,
	d.writes AS device_writes_total,
	d.write_bytes AS device_write_bytes_total,
	d.write_ms / 1e3::float8 AS device_write_seconds_total,
	d.busy_ms / 1e3::float8 AS device_busy_seconds_total,
	i.busy_ms / 1e3::float8 / nullif(i.seconds, 0) AS device_busy_ratio
FROM pg_catalog.pg_tablespace t
LEFT JOIN tablespace_advisor.tablespace_sample u ON u.tablespace = t.oid
	AND u.sample_id = (SELECT l.sample_id FROM last l)
LEFT JOIN growth g ON g.tablespace = t.oid
LEFT JOIN tablespace_advisor.tablespace_latency p ON p.tablespace_oid = t.oid
LEFT JOIN tablespace_advisor.sampled_device d ON d.tablespace = t.oid
LEFT JOIN tablespace_advisor.tablespace_io_sample i ON i.tablespace = t.oid
	AND i.sample_id = (SELECT l.sample_id FROM last l)
WHERE t.spcname <> 'pg_global';
REVOKE ALL ON @extschema@.tablespace_metrics FROM PUBLIC;
GRANT SELECT ON @extschema@.tablespace_metrics TO pg_monitor;
COMMENT ON VIEW @extschema@.tablespace_metrics IS
	'per tablespace, for collectors: used_bytes: of this database''s relations, free_bytes: of the file system, if any are there, full_in_seconds: when it shrinks as it did, NULL if it does not or the history is too short, all as of the last sample, which is sample_age_seconds old; probe_…: age and times of the last trustworthy probe; device_…_total: counters of the disk under it, for everybody, as of the last sample, which begin anew when the machine starts; device_busy_ratio: share of the time between the last two samples in which the disk had a request. NULL: not known';

CREATE VIEW @extschema@.move_metrics AS
SELECT s.state, t.spcname AS to_tablespace,
	count(j.job_id) AS moves,
	coalesce(sum(j.bytes_total), 0)::bigint AS bytes,
	coalesce(sum(j.bytes_done), 0)::bigint AS done_bytes,
	coalesce(sum(j.lock_ms), 0) / 1e3::float8 AS lock_seconds,
	coalesce(max(j.lock_ms), 0) / 1e3::float8 AS longest_lock_seconds,
	CASE WHEN s.state IN ('queued', 'running', 'paused') THEN
		coalesce(extract(epoch FROM pg_catalog.clock_timestamp() - min(j.queued_at)), 0) END::float8
		AS oldest_seconds,
	count(j.blocked_by) AS blocked
FROM pg_catalog.unnest('{queued,running,paused,done,failed,cancelled}'::text[]) s (state)
CROSS JOIN pg_catalog.pg_tablespace t
LEFT JOIN tablespace_advisor.move_progress j ON j.state = s.state AND j.to_tablespace = t.spcname
WHERE t.spcname <> 'pg_global'
GROUP BY s.state, t.spcname;
REVOKE ALL ON @extschema@.move_metrics FROM PUBLIC;
GRANT SELECT ON @extschema@.move_metrics TO pg_monitor;
COMMENT ON VIEW @extschema@.move_metrics IS
	'moves of this database by state and target, for collectors, a row for each pair even if there are none: how many, their bytes and those done, seconds for which exclusive locks were held (sum and longest), seconds since the oldest that has not ended was queued, how many wait for other sessions; of the moves that tablespace_advisor.keep_history still keeps';
/*
 * src/report/page.sql
 *
 * What every part of the page has, and its frame; the page as a whole is in
 * report.sql.  It
 * loads nothing and runs no script; what comes from names and messages goes
 * through html().
 */
CREATE FUNCTION tablespace_advisor.table_row(cells text[], kinds text, tag text DEFAULT 'td')
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT '<tr>' || string_agg(format('<%s%s>%s</%s>', tag,
		CASE substr(kinds, c.n::int, 1) WHEN 'n' THEN ' class="n"' WHEN 'c' THEN ' class="c"'
			WHEN 'w' THEN ' class="w"' WHEN 'd' THEN ' class="d"'
			WHEN 'l' THEN ' class="l"' ELSE '' END,
		CASE WHEN substr(kinds, c.n::int, 1) = 'w'
			THEN regexp_replace(tablespace_advisor.html(c.cell), '([._])(?=[[:alpha:]&])', E'\\1<wbr/>', 'g')
			ELSE tablespace_advisor.html(c.cell) END, tag), '' ORDER BY c.n) || '</tr>'
	FROM unnest(cells) WITH ORDINALITY c (cell, n)
$$;
COMMENT ON FUNCTION tablespace_advisor.table_row(text[], text, text) IS
	'a row of a table in a page; kinds: a letter for each cell, n for numbers, c for statements, w for names (broken after points and underscores, or else anywhere), d for what is not broken, l for long text, t for text';

CREATE FUNCTION tablespace_advisor.page_table(heads text[], kinds text, rows text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce('<div class="wide"><table>'
		|| coalesce('<thead>' || tablespace_advisor.table_row(heads, kinds, 'th') || '</thead>', '')
		|| '<tbody>' || rows || '</tbody></table></div>', '')
$$;
COMMENT ON FUNCTION tablespace_advisor.page_table(text[], text, text) IS
	'a table in a page, of the rows of table_row(), with a head unless heads is NULL; nothing without rows';

CREATE FUNCTION tablespace_advisor.page_section(title text, sentence text, body text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('<section><h2>%s</h2><p class="says">%s</p>%s</section>', tablespace_advisor.html(title),
		replace(tablespace_advisor.html(sentence), ' %', '&#160;%'), body)
$$;
COMMENT ON FUNCTION tablespace_advisor.page_section(text, text, text) IS
	'a part of the page: its title, what it shows in a sentence, pictures and tables';

CREATE FUNCTION tablespace_advisor.short_name(name text, width int DEFAULT 34)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN length(name) <= w.width THEN name
		ELSE left(name, w.width - 9) || '...' || right(name, 6) END
	/* capitals and what is not Latin is up to twice as wide */
	FROM (SELECT CASE WHEN name ~ '[A-Z]{8}|[^ -~]{4}' THEN $2 / 2 ELSE $2 END AS width) w
$$;
COMMENT ON FUNCTION tablespace_advisor.short_name(text, int) IS
	'a name that fits beside a picture, beginning and end of it if it is long';

/* Six lines of a picture have colours; where there are no more tablespaces, theirs. */
CREATE FUNCTION tablespace_advisor.colour_of(drawn name[], tablespace name)
RETURNS bigint
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT array_position(CASE WHEN count(*) <= 6 THEN array_agg(t.spcname ORDER BY t.oid)
		ELSE drawn END, $2) - 1
	FROM pg_tablespace t WHERE t.spcname <> 'pg_global'
$$;
COMMENT ON FUNCTION tablespace_advisor.colour_of(name[], name) IS
	'the number of a tablespace''s colour in a picture of at most six, the same in all pictures if there are no more';

/* Colours that the colour-blind tell apart (Okabe and Ito), lighter on black. */
CREATE FUNCTION tablespace_advisor.page_style()
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $style$
	SELECT $$
:root{color-scheme:light dark;--bg:#fff;--ink:#1b1f24;--dim:#5b6570;--rule:#dde1e6;--soft:#f4f6f8;--warn:#9a3b00;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b65a94;--c4:#b97f00;--c5:#3d9bd6;--rest:#a9b1ba}
@media (prefers-color-scheme:dark){:root{--bg:#14171b;--ink:#e6e9ec;--dim:#9aa5b1;--rule:#30363d;--soft:#1d2126;--warn:#ffb27a;
--c0:#58a9e0;--c1:#f08a4b;--c2:#35c49a;--c3:#e2a0c6;--c4:#e6b74a;--c5:#8fd0f7;--rest:#59636e}}
@media print{:root{--bg:#fff;--ink:#000;--dim:#444;--rule:#ccc;--soft:#fff;--warn:#000;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b65a94;--c4:#b97f00;--c5:#3d9bd6;--rest:#999}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1000px;padding:24px 20px 60px;background:var(--bg);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:26px;margin:0}h2{font-size:19px;margin:40px 0 4px}h3{font-size:15px;margin:24px 0 4px}
.sub{color:var(--dim);margin:2px 0 0}.says,.note,.things{overflow-wrap:anywhere}.says{margin:0 0 12px;max-width:75ch}.note{color:var(--dim);font-size:13px;max-width:90ch}
ol.things{padding-left:22px}ol.things li{margin:0 0 12px}ol.things b{display:block}
.wide{overflow-x:auto;margin:10px 0}
table{border-collapse:collapse;font-size:13px;width:100%}th,td{text-align:left;padding:4px 12px 4px 0;border-bottom:1px solid var(--rule);vertical-align:top;unicode-bidi:isolate;overflow-wrap:break-word}
.w{overflow-wrap:anywhere;min-width:11em}.d{white-space:nowrap}.l{min-width:15em;overflow-wrap:anywhere}
th{color:var(--dim);font-weight:500;overflow-wrap:normal}.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td.c,code{font:12px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}code{background:var(--soft);padding:2px 4px}
svg{display:block;width:100%;height:auto;margin:8px 0}
svg text{font:12px system-ui,sans-serif;fill:var(--ink);unicode-bidi:isolate}svg .tick{font-size:11px;fill:var(--dim)}svg .name{fill:var(--dim)}
svg .mid{text-anchor:middle}svg .end{text-anchor:end}
.grid{stroke:var(--rule);fill:none}.line{fill:none;stroke:var(--rest);stroke-width:1.8}.thin{stroke-width:1}.dash{stroke-dasharray:5 4}.band{opacity:.18}
.dot{fill:var(--rest);stroke:var(--bg);stroke-width:.7}.bar{fill:var(--rest)}.pale{opacity:.4}.mark{stroke:var(--ink);stroke-width:1.2}
@media print{h2,h3,p,svg,tr{break-inside:avoid}h2,h3,.says{break-after:avoid}body{font-size:11px;padding:0}table,.note{font-size:9px}td.c,code{font-size:8px}th,td{padding-right:6px}}
$$ || string_agg(format('.line.c%1$s{stroke:var(--c%1$s)}.band.c%1$s,.dot.c%1$s,.bar.c%1$s,svg text.c%1$s{fill:var(--c%1$s)}', n), '')
	FROM generate_series(0, 5) n
$style$;
COMMENT ON FUNCTION tablespace_advisor.page_style() IS
	'the style of the page, for light and dark screens and for paper';

CREATE FUNCTION tablespace_advisor.page_frame(title text, subtitle text, content text)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"/>'
		'<meta http-equiv="Content-Security-Policy" content="default-src ''none''; style-src ''unsafe-inline''"/>'
		'<meta name="viewport" content="width=device-width"/><title>%1$s</title><style>%2$s</style></head>'
		'<body><h1>%1$s</h1><p class="sub">%3$s</p>%4$s</body></html>',
		tablespace_advisor.html(title), tablespace_advisor.page_style(),
		tablespace_advisor.html(subtitle), content)
$$;
COMMENT ON FUNCTION tablespace_advisor.page_frame(text, text, text) IS
	'a page that loads nothing and runs nothing; content: HTML';
/*
 * src/report/parts.sql
 *
 * The parts of the page that tell of advice, costs and health; the load, room
 * and the past have files of their own.  What was found is handed in, so that all parts speak of the same.  A part that has nothing to
 * say is NULL.
 */
CREATE TYPE tablespace_advisor.report_findings AS (
	since timestamptz,
	advice @extschema@.placement_advice[],
	costs jsonb,
	usage jsonb,
	health jsonb,
	devices tablespace_advisor.device[],
	curve_of name,
	curve jsonb,
	plans jsonb,
	saved_low float8,
	saved_high float8,
	later float8[],
	temporary @extschema@.placement_advice,
	window_line text
);
COMMENT ON TYPE tablespace_advisor.report_findings IS
	'what a report rests on: the period''s begin, rows of advise_placement() on relations, recommend_random_page_cost(), forecast_tablespace_usage() and tablespace_advisor_health(), the devices, rows of placement_curve() of a tablespace, and of worst_plans(); saved_low, saved_high: see saved_by_moves(); later: for each of the advice what its reads take once all of it is followed (NULL: not known); temporary: the row on temporary files; window_line: what the advice is of';

/* A relation's own table, so that what is done with one table is one thing. */
CREATE FUNCTION tablespace_advisor.report_moves(advice @extschema@.placement_advice[])
RETURNS TABLE (target regclass, moves bigint, bytes numeric, seconds float8, saved float8,
	share float8, to_tablespaces text, statements text[])
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(i.indrelid, a.relation)::regclass, count(*), sum(a.size_bytes),
		CASE WHEN bool_and(a.move_seconds IS NOT NULL) THEN sum(a.move_seconds) END,
		sum(a.saved_ms_per_s), sum(a.saved_percent),
		string_agg(DISTINCT quote_ident(a.to_tablespace), ', '),
		CASE WHEN count(*) <= 3 THEN array_agg(a.statement ORDER BY a.rank)
			ELSE ARRAY[format('SELECT * FROM %s.advise_placement(target => %L::pg_catalog.regclass)',
				'@extschema@', coalesce(i.indrelid, a.relation)::regclass)] END
	FROM unnest(advice) a LEFT JOIN pg_index i ON i.indexrelid = a.relation
	WHERE a.action = 'move'
	GROUP BY coalesce(i.indrelid, a.relation)
$$;
COMMENT ON FUNCTION tablespace_advisor.report_moves(@extschema@.placement_advice[]) IS
	'the moves that advice has, a row for each table with its indexes; saved in milliseconds per second, share in percent of what all reads take';

/* Of many tables the moves are one thing: to follow the advice. */
CREATE FUNCTION tablespace_advisor.report_move_things(advice @extschema@.placement_advice[])
RETURNS TABLE (amount float8, what text, saves text, statements text[])
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH table_moves AS MATERIALIZED (
		SELECT m.*, count(*) OVER () AS tables FROM tablespace_advisor.report_moves(advice) m
	), thing AS (
		SELECT m.moves, m.bytes, m.seconds, m.saved, m.share, m.target::text AS of_what, m.to_tablespaces,
			m.statements
		FROM table_moves m WHERE m.tables <= 3
		UNION ALL
		SELECT sum(m.moves)::bigint, sum(m.bytes),
			CASE WHEN bool_and(m.seconds IS NOT NULL) THEN sum(m.seconds) END, sum(m.saved), sum(m.share),
			format('%s tables', count(*)), (SELECT string_agg(DISTINCT quote_ident(a.to_tablespace), ', ')
				FROM unnest(advice) a WHERE a.action = 'move'),
			ARRAY[format('CALL %s.apply_placement()', '@extschema@')]
		FROM table_moves m WHERE m.tables > 3 HAVING count(*) > 0
	)
	SELECT coalesce(t.saved, 0),
		format('Move %s of %s to %s (%s%s)', CASE WHEN t.moves = 1 THEN 'one relation'
			ELSE t.moves || ' relations' END, t.of_what, t.to_tablespaces, pg_size_pretty(t.bytes),
			', about ' || tablespace_advisor.pretty_seconds(tablespace_advisor.two_digits(t.seconds)::float8)),
		CASE WHEN t.saved > 0 THEN format('%s %% of the time of all reads (sessions that wait: %s fewer on average)',
				tablespace_advisor.two_digits(t.share), tablespace_advisor.two_digits(t.saved / 1000))
			ELSE 'room in a tablespace that is too full' END,
		t.statements
	FROM thing t
$$;
COMMENT ON FUNCTION tablespace_advisor.report_move_things(@extschema@.placement_advice[]) IS
	'the moves that advice has as things to do, one for each of at most three tables, or one for all';

CREATE FUNCTION tablespace_advisor.report_things(f tablespace_advisor.report_findings)
RETURNS TABLE (urgency int, amount float8, what text, saves text, statements text[])
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN p.days < 14 THEN 1 ELSE 4 END, -p.days,
		format('Make room in tablespace %I: full in %s days (%s)%s', p.tablespace,
			tablespace_advisor.two_digits(p.days),
			CASE WHEN p.high IS NULL THEN 'or never, by its history'
				ELSE format('95 %% interval %s to %s', tablespace_advisor.two_digits(p.low),
					tablespace_advisor.two_digits(p.high)) END,
			CASE WHEN p.n > 1 THEN format('; %s more within 90 days', p.n - 1) ELSE '' END),
		'writes from failing',
		ARRAY[format('SELECT * FROM %s.tablespace_contents(%L::pg_catalog.name)', '@extschema@', p.tablespace)]
	FROM (SELECT u ->> 'tablespace' AS tablespace, greatest(0, (u ->> 'days_until_full')::float8) AS days,
			greatest(0, (u ->> 'days_low')::float8) AS low, (u ->> 'days_high')::float8 AS high,
			count(*) OVER () AS n
		FROM jsonb_array_elements(f.usage) u
		WHERE (u ->> 'days_until_full')::float8 < 90
		ORDER BY (u ->> 'days_until_full')::float8 LIMIT 1) p
	UNION ALL
	SELECT 2, m.amount, m.what, m.saves, m.statements
	FROM tablespace_advisor.report_move_things(f.advice) m
	UNION ALL
	SELECT 2, t.saved_ms_per_s, format('Put temporary files into %I', t.to_tablespace),
		format('%s %% of what statements wait for them (%s now)',
			tablespace_advisor.two_digits(100 * t.saved_ms_per_s / t.read_ms_per_s),
			tablespace_advisor.waiting_sessions(t.read_ms_per_s, 'them')),
		ARRAY[t.statement]
	FROM (SELECT (f.temporary).*) t WHERE t.action = 'move'
	UNION ALL
	/* what is the same of several, as that they were never probed, is one thing */
	SELECT 3, 0, format('%s: %s', upper(left(s.subjects, 1)) || substr(s.subjects, 2), s.message),
		NULL, s.statements
	FROM (SELECT h ->> 'message' AS message, string_agg(h ->> 'subject', ', ' ORDER BY n) AS subjects,
			(array_agg(h ->> 'statement' ORDER BY n) FILTER (WHERE h ->> 'statement' IS NOT NULL))[:3] AS statements
		FROM jsonb_array_elements(f.health) WITH ORDINALITY e (h, n)
		WHERE NOT (h ->> 'ok')::boolean GROUP BY h ->> 'message') s
	UNION ALL
	SELECT 5, (c ->> 'regret_current')::float8 - (c ->> 'regret_recommended')::float8,
		CASE WHEN c ->> 'random_page_cost' <> c ->> 'current_random_page_cost'
			THEN format('Set random_page_cost of %I to %s', c ->> 'tablespace', c ->> 'random_page_cost')
			ELSE format('Set effective_io_concurrency of %I to %s', c ->> 'tablespace',
				c ->> 'effective_io_concurrency') END,
		format('plans are expected to take %s times the best instead of %s',
			round((c ->> 'regret_recommended')::numeric, 2), round((c ->> 'regret_current')::numeric, 2)),
		ARRAY[c ->> 'statement']
	FROM jsonb_array_elements(f.costs) c
	WHERE c ->> 'verdict' = 'change'
	UNION ALL
	SELECT 6, sum(a.size_bytes),
		CASE WHEN count(*) = 1 THEN 'Look at an index that may not be needed: '
			ELSE format('Look at %s indexes that may not be needed, first: ', count(*)) END
			|| (array_agg(a.relation::text ORDER BY a.size_bytes DESC))[1],
		format('up to %s, and what writing them takes', pg_size_pretty(sum(a.size_bytes))),
		ARRAY[format('SELECT * FROM %s.advise_placement() WHERE action OPERATOR(pg_catalog.=) %L', '@extschema@', 'drop candidate')]
	FROM unnest(f.advice) a WHERE a.action = 'drop candidate' HAVING count(*) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.report_things(tablespace_advisor.report_findings) IS
	'what is worth doing, by urgency and amount, with what it saves';

CREATE FUNCTION tablespace_advisor.report_verdict(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH thing AS MATERIALIZED (
		SELECT t.*, row_number() OVER (ORDER BY t.urgency, t.amount DESC, t.what) AS n
		FROM tablespace_advisor.report_things(f) t
	), sums AS (
		/* shares are of all reading, that of relations without advice included */
		SELECT a.*, a.is_known AND coalesce(abs(a.saved - a.share * a.reading / 100) < 0.02 * a.saved,
			true) AS is_whole
		FROM (SELECT sum(a.read_ms_per_s) AS reading, count(*) FILTER (WHERE a.action = 'move') AS moves,
				bool_and(a.read_ms_per_s IS NOT NULL) AS is_known,
				sum(a.saved_ms_per_s) FILTER (WHERE a.action = 'move') AS saved,
				sum(a.saved_percent) FILTER (WHERE a.action = 'move') AS share
			FROM unnest(f.advice) a) a
	)
	SELECT tablespace_advisor.page_section('Verdict',
		CASE WHEN s.reading IS NULL AND cardinality(f.advice) = 0 THEN
				'Nothing was read or written in the window.'
			WHEN s.reading IS NULL THEN 'How long reads take is not known.'
			ELSE format('On average %s%s%s.', CASE WHEN s.is_whole THEN '' ELSE 'at least ' END,
				tablespace_advisor.waiting_sessions(s.reading, 'reads'),
				CASE WHEN s.moves > 0 AND s.saved > 0 THEN format('; moves would save %s %% of %s%s',
						tablespace_advisor.two_digits(s.share),
						CASE WHEN s.is_whole THEN 'that' ELSE 'all reading' END,
						CASE WHEN f.saved_low IS NOT NULL THEN format(' (95 %% interval: %s to %s)',
							tablespace_advisor.two_digits(f.saved_low),
							tablespace_advisor.two_digits(f.saved_high)) ELSE '' END)
					WHEN s.moves = 0 THEN '; no move would save any of it' ELSE '' END) END,
		coalesce((SELECT '<ol class="things">' || string_agg(format('<li><b>%s</b>%s%s</li>',
				tablespace_advisor.html(t.what), 'Saves: ' || tablespace_advisor.html(t.saves) || '.',
				(SELECT string_agg('<div><code>' || tablespace_advisor.html(l) || ';</code></div>', '' ORDER BY k)
					FROM unnest(t.statements) WITH ORDINALITY s (l, k))), '' ORDER BY t.n)
			|| '</ol>' FROM thing t WHERE t.n <= 3),
			'<p><b>There is nothing to do.</b></p>')
		|| coalesce((SELECT format('<p class="note">%s more, of less weight: %s</p>', count(*),
				tablespace_advisor.html(string_agg(t.what, '; ' ORDER BY t.n) FILTER (WHERE t.n <= 8)
					|| CASE WHEN count(*) > 5 THEN '; ...' ELSE '.' END))
			FROM thing t WHERE t.n > 3 HAVING count(*) > 0), '')
		|| CASE WHEN s.moves > 0 THEN '<p class="note">How sure it is what each move saves: <code>SELECT '
			|| tablespace_advisor.html('@extschema@') || '.explain_placement();</code></p>' ELSE '' END
		|| coalesce('<p class="note">' || tablespace_advisor.html(
			tablespace_advisor.temporary_files_line(f.temporary)) || '</p>', '')
		|| coalesce('<p class="note">' || tablespace_advisor.html(f.window_line) || '</p>', ''))
	FROM sums s
$$;
COMMENT ON FUNCTION tablespace_advisor.report_verdict(tablespace_advisor.report_findings) IS
	'the part on what is most worth doing';

/* The newest trustworthy measurement at each depth. */
CREATE VIEW tablespace_advisor.read_depths AS
SELECT DISTINCT ON (r.tablespace, r.queue_depth) r.tablespace, r.queue_depth, r.mean_us,
	r.mean_low_us, r.mean_high_us, r.samples, r.run_id, r.finished_at
FROM tablespace_advisor.current_probe_result r
WHERE r.workload = 'random read' AND r.caveat IS NULL AND r.mean_us > 0
	AND r.io_size = current_setting('block_size')::int
ORDER BY r.tablespace, r.queue_depth, r.conditions IS NOT NULL, r.run_id DESC;
COMMENT ON VIEW tablespace_advisor.read_depths IS
	'per tablespace and queue depth the newest measurement of random reads without a caveat';

/* Six lines have colours and names, of more than six those that differ most; others are grey. */
CREATE FUNCTION tablespace_advisor.draw_latencies(readers float8)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH series AS MATERIALIZED (
		SELECT d.tablespace, array_agg(d.queue_depth::float8 ORDER BY d.queue_depth) AS depths,
			array_agg(d.mean_us ORDER BY d.queue_depth) AS us,
			array_agg(d.mean_low_us ORDER BY d.queue_depth) AS lows,
			array_agg(d.mean_high_us ORDER BY d.queue_depth) AS highs,
			array_agg(format('%s at depth %s: %s (95 %% interval %s to %s, %s reads, run %s of %s)',
				d.tablespace, d.queue_depth, tablespace_advisor.unit_label(d.mean_us, 'us'),
				tablespace_advisor.unit_label(d.mean_low_us, 'us'),
				tablespace_advisor.unit_label(d.mean_high_us, 'us'), d.samples, d.run_id,
				to_char(d.finished_at, 'YYYY-MM-DD')) ORDER BY d.queue_depth) AS titles,
			row_number() OVER (ORDER BY avg(ln(d.mean_us)) DESC, d.tablespace) AS n, count(*) OVER () AS series
		FROM tablespace_advisor.read_depths d GROUP BY d.tablespace
	), picked AS MATERIALIZED (
		SELECT s.*, CASE WHEN d.drawn @> ARRAY[s.tablespace]
			THEN tablespace_advisor.colour_of(d.drawn, s.tablespace) END AS colour
		FROM series s CROSS JOIN (SELECT array_agg(o.tablespace ORDER BY o.n) AS drawn FROM series o
			WHERE o.series <= 6 OR (o.n - 1) * 5 % (o.series - 1) < 5) d
	), axes AS MATERIALIZED (
		SELECT ROW('log', 1, (SELECT greatest(max(d), readers, 2) FROM series, unnest(depths) d),
				60, 790, 'depth')::tablespace_advisor.axis AS x,
			tablespace_advisor.axis_around('log', array(SELECT unnest(lows || highs) FROM series),
				300, 24, 'us') AS y
	), ends AS (
		SELECT array_agg(p.n ORDER BY p.n) AS n, tablespace_advisor.spread_apart(array_agg(
			tablespace_advisor.axis_position(a.y, p.us[cardinality(p.us)]) ORDER BY p.n), 15, 300) AS at
		FROM picked p, axes a WHERE p.colour IS NOT NULL
	)
	SELECT tablespace_advisor.draw_picture(960, 345, 'Latency of random reads by queue depth',
		tablespace_advisor.draw_axes(a.x, a.y, 'reads under way at a time', 'latency of a random read')
		|| CASE WHEN readers IS NULL THEN ''
			ELSE tablespace_advisor.draw_line(a.x, a.y, ARRAY[readers, readers],
				ARRAY[(a.y).low, (a.y).high], 'mark dash', 'sessions that read at the same time, by samples')
			|| tablespace_advisor.draw_text(tablespace_advisor.axis_position(a.x, readers) + 5, 40, 'tick',
				'present load: ' || tablespace_advisor.two_digits(readers) || ' at a time') END
		|| (SELECT string_agg(tablespace_advisor.draw_line(a.x, a.y, p.depths, p.us,
				coalesce('c' || p.colour, 'thin'), p.tablespace)
			|| tablespace_advisor.draw_dots(a.x, a.y, p.depths, p.us, coalesce('c' || p.colour, ''),
				p.titles, coalesce(p.colour, 0)::int, p.lows, p.highs), '' ORDER BY p.colour IS NOT NULL, p.n DESC)
			FROM picked p)
		|| (SELECT string_agg(tablespace_advisor.draw_text(
				tablespace_advisor.axis_position(a.x, p.depths[cardinality(p.depths)]) + 9,
				e.at[array_position(e.n, p.n)] + 4, 'c' || p.colour,
				tablespace_advisor.short_name(p.tablespace, 22)), '')
			FROM picked p, ends e WHERE p.colour IS NOT NULL))
	FROM axes a WHERE EXISTS (SELECT FROM series)
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_latencies(float8) IS
	'latency of random reads by queue depth, of all tablespaces that were probed; readers: sessions that read at the same time';

CREATE FUNCTION tablespace_advisor.report_devices(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH row AS (
		SELECT d.*, l.random_read_us, l.random_read_low_us, l.random_read_high_us, l.measured_at,
			l.random_read_caveat,
			row_number() OVER (ORDER BY l.random_read_us DESC NULLS LAST, d.tablespace) AS n
		FROM unnest(f.devices) d
		LEFT JOIN tablespace_advisor.tablespace_latency l ON l.tablespace = d.tablespace
		WHERE d.tablespace <> 'pg_global'
	), sums AS (
		SELECT count(*) AS n, count(r.random_read_us) AS probed,
			min(r.random_read_us) AS fast, max(r.random_read_us) AS slow,
			(array_agg(r.tablespace ORDER BY r.random_read_us))[1] AS fastest,
			(array_agg(r.tablespace ORDER BY r.random_read_us DESC NULLS LAST))[1] AS slowest
		FROM row r
	)
	SELECT tablespace_advisor.page_section('Devices',
		CASE WHEN s.probed = 0 THEN
				'No tablespace has a measurement that can be trusted: probe_tablespace() makes one.'
			WHEN s.probed = 1 THEN format('One of %s tablespaces has been probed: a random read of %I takes %s.',
				s.n, s.fastest, tablespace_advisor.unit_label(s.fast, 'us'))
			ELSE format('A random read takes %s in %I and %s in %I, %s times as long; %s of %s tablespaces have been probed.',
				tablespace_advisor.unit_label(s.fast, 'us'), s.fastest,
				tablespace_advisor.unit_label(s.slow, 'us'), s.slowest,
				tablespace_advisor.two_digits(s.slow / s.fast), s.probed, s.n) END,
		coalesce(tablespace_advisor.draw_latencies((SELECT sum(p.reading_sessions)::float8
			/ nullif(sum(p.reading_snapshots), 0) FROM tablespace_advisor.sample p
			WHERE p.taken_at > f.since)), '')
		|| tablespace_advisor.page_table(
			'{tablespace,lies on,media,size,free,random read,95 % interval,probed}', 'wwtnnnnd',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[r.tablespace::text,
				coalesce(r.device_stack, r.filesystem), r.media,
				tablespace_advisor.unit_label(r.size_bytes, 'bytes'),
				tablespace_advisor.unit_label(r.free_bytes, 'bytes'),
				tablespace_advisor.unit_label(r.random_read_us, 'us'),
				tablespace_advisor.unit_label(r.random_read_low_us, 'us') || ' to '
					|| tablespace_advisor.unit_label(r.random_read_high_us, 'us'),
				coalesce(to_char(r.measured_at, 'YYYY-MM-DD'), r.random_read_caveat, 'never')],
				'wwtnnnnd'), '' ORDER BY r.n)
			FROM row r WHERE r.n <= 50))
		|| tablespace_advisor.page_table('{tablespace,warnings}', 'wl',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[r.tablespace::text,
				array_to_string(r.warnings, '; ')], 'wl'), '' ORDER BY r.n)
			FROM row r WHERE r.n <= 50 AND cardinality(r.warnings) > 0))
		|| CASE WHEN s.n > 50 THEN format('<p class="note">%s more tablespaces.</p>', s.n - 50) ELSE '' END)
	FROM sums s
$$;
COMMENT ON FUNCTION tablespace_advisor.report_devices(tablespace_advisor.report_findings) IS
	'the part on what each tablespace lies on, and how fast that is';

CREATE FUNCTION tablespace_advisor.waiting_number(sessions float8)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN sessions > 0 AND sessions < 0.0001 THEN '< 0.0001'
		ELSE tablespace_advisor.short_number(sessions) END
$$;
COMMENT ON FUNCTION tablespace_advisor.waiting_number(float8) IS
	'how many sessions wait, as a number in a table';

/* Two bars each, now and after the advice; without times, of reads. */
CREATE FUNCTION tablespace_advisor.draw_readers(
	names text[],
	befores float8[],
	afters float8[],
	x_title text,
	titles text[])
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.draw_picture(960, 58 + 24 * cardinality(names), x_title,
		tablespace_advisor.draw_axes(a.x, ('', 0, 1, 14 + 24 * cardinality(names), 14, '')
			::tablespace_advisor.axis, x_title, NULL)
		|| string_agg(tablespace_advisor.draw_text(242, 24 * n + 6, 'end', tablespace_advisor.short_name(name))
			|| tablespace_advisor.draw_bar(a.x, 0, before, 24 * n - 7,
				CASE WHEN after IS NULL THEN 19 ELSE 9 END, 'c1', title)
			|| CASE WHEN after IS NOT NULL THEN
				tablespace_advisor.draw_bar(a.x, 0, after, 24 * n + 3, 9, 'c0', title) ELSE '' END, ''
			ORDER BY n))
	FROM (SELECT tablespace_advisor.axis_around('linear', befores || afters, 250, 930)) a (x)
	CROSS JOIN unnest(names, befores, afters, titles) WITH ORDINALITY r (name, before, after, title, n)
	GROUP BY a.x
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_readers(text[], float8[], float8[], text, text[]) IS
	'a pair of bars for each name: before and after; NULL: no bar';

CREATE FUNCTION tablespace_advisor.report_readers(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH timed AS (
		SELECT coalesce(sum(a.read_ms_per_s), 0) > 0 AS is_timed FROM unnest(f.advice) a
	), reader AS MATERIALIZED (
		SELECT a.relation::text AS name, a.action, a.from_tablespace, a.to_tablespace, a.size_bytes,
			a.reads_per_s, a.cached_fraction, t.is_timed,
			CASE WHEN t.is_timed THEN a.read_ms_per_s / 1000 ELSE a.reads_per_s END AS before,
			CASE WHEN t.is_timed THEN coalesce(a.unnest, a.read_ms_per_s
				- CASE WHEN a.action = 'move' THEN a.saved_ms_per_s ELSE 0 END) / 1000 END AS after,
			row_number() OVER (ORDER BY CASE WHEN t.is_timed THEN a.read_ms_per_s ELSE a.reads_per_s END
				DESC NULLS LAST, a.relation::oid) AS n
		FROM unnest(f.advice, f.later) a, timed t
		WHERE a.reads_per_s > 0 OR a.read_ms_per_s > 0
	), shown AS MATERIALIZED (
		SELECT CASE WHEN r.n <= 20 THEN r.n ELSE 21 END AS n, r.is_timed,
			CASE WHEN r.n <= 20 THEN min(r.name) ELSE format('%s others', count(*)) END AS name,
			coalesce(sum(r.before), 0) AS before, sum(r.after) AS after,
			sum(r.reads_per_s) AS reads_per_s, sum(r.size_bytes) AS bytes,
			CASE WHEN r.n <= 20 THEN min(CASE WHEN r.action = 'move'
				THEN format('move to %I', r.to_tablespace) ELSE r.action END) ELSE '' END AS action,
			CASE WHEN r.n <= 20 THEN min(r.from_tablespace) ELSE '' END AS from_tablespace,
			CASE WHEN r.n <= 20 THEN min(r.cached_fraction) END AS cached_fraction
		FROM reader r GROUP BY CASE WHEN r.n <= 20 THEN r.n ELSE 21 END, r.n <= 20, r.is_timed
	), sums AS (
		SELECT bool_or(s.is_timed) AS is_timed, sum(s.before) AS before, sum(s.after) AS after,
			max(s.before) FILTER (WHERE s.n = 1) AS first,
			max(s.before) FILTER (WHERE s.n = 21) AS others, min(s.name) FILTER (WHERE s.n = 21) AS other_names,
			(SELECT count(*) FROM unnest(f.advice) a WHERE a.action = 'move') AS moves, min(s.name) FILTER (WHERE s.n = 1) AS first_name
		FROM shown s
	)
	SELECT tablespace_advisor.page_section('Who reads',
		CASE WHEN s.is_timed THEN format('%s causes %s %% of the time that sessions wait for reads; %s.',
				s.first_name, tablespace_advisor.two_digits(100 * s.first / s.before),
				CASE WHEN s.moves > 0 THEN format('with the advice followed, %s %% of that time is left',
					tablespace_advisor.two_digits(100 * s.after / s.before))
				ELSE 'no move would save any of it' END)
			ELSE format('%s causes %s %% of the reads past shared buffers; how long they take is not known without a probe.',
				s.first_name, tablespace_advisor.two_digits(100 * s.first / nullif(s.before, 0))) END,
		(SELECT tablespace_advisor.draw_readers(array_agg(h.name ORDER BY h.n), array_agg(h.before ORDER BY h.n),
				array_agg(CASE WHEN s.moves > 0 THEN h.after END ORDER BY h.n), CASE WHEN s.is_timed
					THEN 'sessions that wait for its reads, on average'
					ELSE 'reads per second past shared buffers' END,
				array_agg(format('%s: %s%s', h.name, tablespace_advisor.short_number(h.before),
					CASE WHEN s.moves > 0 THEN ', after the advice ' || tablespace_advisor.short_number(h.after) END)
					ORDER BY h.n))
			FROM shown h WHERE h.n <= 20 OR h.before <= 3 * s.first)
		|| CASE WHEN s.others > 3 * s.first THEN format('<p class="note">%s, %s times the first together, are in the table only.</p>',
			s.other_names, tablespace_advisor.two_digits(s.others / s.first)) ELSE '' END
		|| CASE WHEN s.is_timed AND s.moves > 0 THEN '<p class="note"><svg viewBox="0 0 300 14" style="width:300px;display:inline" role="img" aria-label="key"><rect class="bar c1" y="2" width="22" height="9"/>'
				|| tablespace_advisor.draw_text(28, 11, '', 'now')
				|| '<rect class="bar c0" x="80" y="2" width="22" height="9"/>'
				|| tablespace_advisor.draw_text(108, 11, '', 'with the advice followed') || '</svg></p>' ELSE '' END
		|| tablespace_advisor.page_table('{relation,in,size,reads/s,from caches,sessions waiting}'::text[]
				|| c.heads || 'advice'::text, c.kinds,
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[h.name::text, h.from_tablespace,
				tablespace_advisor.unit_label(h.bytes::float8, 'bytes'),
				tablespace_advisor.short_number(h.reads_per_s),
				tablespace_advisor.two_digits(100 * h.cached_fraction) || ' %',
				CASE WHEN s.is_timed THEN tablespace_advisor.waiting_number(h.before) END]
				|| CASE WHEN s.moves > 0 THEN ARRAY[tablespace_advisor.waiting_number(h.after)] ELSE '{}' END
				|| h.action, c.kinds), '' ORDER BY h.n)
			FROM shown h)))
	FROM sums s
	CROSS JOIN LATERAL (SELECT CASE WHEN s.moves > 0 THEN '{then}' ELSE '{}' END::text[] AS heads,
		CASE WHEN s.moves > 0 THEN 'wwnnnnnt' ELSE 'wwnnnnt' END AS kinds) c
	WHERE s.before > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.report_readers(tablespace_advisor.report_findings) IS
	'the part on who causes reads, now and with the advice followed; NULL without reads';
/*
 * src/report/parts_load.sql
 *
 * The part of the page on what the disks under the tablespaces do.
 */
CREATE FUNCTION tablespace_advisor.draw_load(since timestamptz)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH spot AS (
		SELECT i.tablespace, i.sampled_at, i.busy_percent, width_bucket(
			extract(epoch FROM i.sampled_at - min(i.sampled_at) OVER ())::float8, 0,
			extract(epoch FROM max(i.sampled_at) OVER () - min(i.sampled_at) OVER ())::float8 + 1,
			100) AS stretch
		FROM @extschema@.tablespace_io i WHERE i.sampled_at > since
	), point AS (
		SELECT s.tablespace, extract(epoch FROM max(s.sampled_at))::float8 AS at,
			avg(s.busy_percent) AS busy, max(s.busy_percent) AS highest
		FROM spot s GROUP BY s.tablespace, s.stretch
	), series AS MATERIALIZED (
		SELECT p.tablespace, array_agg(p.at ORDER BY p.at) AS at, array_agg(p.busy ORDER BY p.at) AS busy,
			array_agg(p.highest ORDER BY p.at) AS highest,
			row_number() OVER (ORDER BY avg(p.busy) DESC, p.tablespace) AS n
		FROM point p GROUP BY p.tablespace HAVING count(*) > 1
		ORDER BY avg(p.busy) DESC, p.tablespace LIMIT 6
	), coloured AS MATERIALIZED (
		SELECT s.*, tablespace_advisor.colour_of(array(SELECT o.tablespace FROM series o ORDER BY o.n),
			s.tablespace) AS colour
		FROM series s
	), axes AS MATERIALIZED (
		SELECT tablespace_advisor.axis_around('time', array(SELECT unnest(s.at) FROM series s), 60, 800) AS x,
			('linear', 0, 100, 300, 24, 'percent')::tablespace_advisor.axis AS y
	), ends AS (
		SELECT tablespace_advisor.spread_apart(array_agg(tablespace_advisor.axis_position(a.y,
			s.busy[cardinality(s.busy)]) ORDER BY s.n), 15, 300) AS at
		FROM series s, axes a
	)
	SELECT tablespace_advisor.draw_picture(960, 345, 'Busy share of the disks over time',
		tablespace_advisor.draw_axes(a.x, a.y, 'samples', 'share of the time in which the disk had a request')
		|| (SELECT string_agg(tablespace_advisor.draw_band(a.x, a.y, s.at, s.busy, s.highest, 'c' || s.colour)
			|| tablespace_advisor.draw_line(a.x, a.y, s.at, s.busy, 'c' || s.colour, s.tablespace)
			|| tablespace_advisor.draw_text(810, e.at[s.n] + 4, 'c' || s.colour,
				tablespace_advisor.short_name(s.tablespace, 22)), '' ORDER BY s.n DESC)
			FROM coloured s, ends e))
	FROM axes a WHERE (a.x).high > (a.x).low
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_load(timestamptz) IS
	'busy share of the six busiest tablespaces'' disks, means with the highest above; NULL without two samples';

CREATE FUNCTION tablespace_advisor.report_load(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS MATERIALIZED (
		SELECT t.spcname AS tablespace, sum(i.seconds) AS seconds, sum(i.reads) AS reads,
			sum(i.read_bytes) AS read_bytes, sum(i.read_ms) AS read_ms, sum(i.writes) AS writes,
			sum(i.write_bytes) AS write_bytes, sum(i.write_ms) AS write_ms,
			least(100, sum(i.busy_ms) / 10 / sum(i.seconds)) AS busy,
			sum(i.queue_ms) / 1000 / sum(i.seconds) AS in_flight,
			row_number() OVER (ORDER BY sum(i.busy_ms) / sum(i.seconds) DESC, t.spcname) AS n,
			(SELECT string_agg(quote_ident(b), ', ' ORDER BY b <> t.spcname, b) FILTER (WHERE n <= 3)
					|| CASE WHEN count(*) > 3 THEN format(' and %s more', count(*) - 3) ELSE '' END
				FROM (SELECT b, row_number() OVER (ORDER BY b <> t.spcname, b) AS n
					FROM unnest(t.spcname || (SELECT array_remove(d.shares_device_with, 'pg_global')
						FROM unnest(f.devices) d WHERE d.tablespace = t.spcname)) b) s) AS names
		FROM tablespace_advisor.device_interval i JOIN pg_tablespace t ON t.oid = i.tablespace
		WHERE i.measured_at > f.since GROUP BY t.spcname
	)
	SELECT tablespace_advisor.page_section('Load',
		format('The disk under %s is the busiest: %s %% of the time, %s reads and %s writes a second, for everybody who uses it.',
			p.names, tablespace_advisor.two_digits(p.busy),
			tablespace_advisor.short_number((p.reads / p.seconds)::float8),
			tablespace_advisor.short_number((p.writes / p.seconds)::float8)),
		coalesce(tablespace_advisor.draw_load(f.since)
			|| '<p class="note">Line: mean; shaded: up to the highest sample. Tablespaces on one disk have one line each.</p>', '')
		|| tablespace_advisor.page_table(
			'{tablespace,busy,requests in flight,reads per s,bytes read per s,a read takes,writes per s,bytes written per s,a write takes}', 'wnnnnnnnn',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[r.tablespace::text,
				tablespace_advisor.unit_label(r.busy::float8, 'percent'),
				tablespace_advisor.short_number(r.in_flight::float8),
				tablespace_advisor.short_number((r.reads / r.seconds)::float8),
				tablespace_advisor.unit_label((r.read_bytes / r.seconds)::float8, 'bytes'),
				tablespace_advisor.unit_label(tablespace_advisor.mean_us(r.read_ms, r.reads), 'us'),
				tablespace_advisor.short_number((r.writes / r.seconds)::float8),
				tablespace_advisor.unit_label((r.write_bytes / r.seconds)::float8, 'bytes'),
				tablespace_advisor.unit_label(tablespace_advisor.mean_us(r.write_ms, r.writes), 'us')],
				'wnnnnnnnn'), '' ORDER BY r.n)
			FROM place r WHERE r.n <= 50)))
	FROM place p WHERE p.n = 1
$$;
COMMENT ON FUNCTION tablespace_advisor.report_load(tablespace_advisor.report_findings) IS
	'the part on what the disks did in the period; NULL without samples of them';
/*
 * src/report/parts_past.sql
 *
 * The parts of the page on what was done and what becomes of it: moves, growth,
 * costs, and the small print.
 */
/* What samples cannot tell apart is one row, as all of it has the same batch_... figures. */
CREATE FUNCTION tablespace_advisor.batch_outcomes(since timestamptz)
RETURNS TABLE (judged_with bigint, forecast float8, saved float8, low float8, high float8,
	all_saved float8, all_low float8, all_high float8, moves bigint, name text, outcome text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT o.judged_with,
		CASE WHEN bool_and(o.forecast_saved_ms_per_s IS NOT NULL)
			THEN sum(o.forecast_saved_ms_per_s) / 1000 END,
		sum(o.saved_ms_per_s) / 1000, sum(o.saved_low_ms_per_s) / 1000,
		sum(o.saved_high_ms_per_s) / 1000,
		min(o.batch_saved_ms_per_s) / 1000, min(o.batch_saved_low_ms_per_s) / 1000,
		min(o.batch_saved_high_ms_per_s) / 1000, count(*), min(o.relation_name),
		string_agg(DISTINCT o.outcome, ', ')
	FROM @extschema@.move_outcomes o
	WHERE o.finished_at > since AND o.saved_ms_per_s IS NOT NULL
	GROUP BY o.judged_with
$$;
COMMENT ON FUNCTION tablespace_advisor.batch_outcomes(timestamptz) IS
	'per calls that are judged as one, and have a measured outcome: waiting sessions that were forecast to be saved, and that were in reads of what it moved (saved) and in all reads of the database (all_saved), with 95 % intervals';

CREATE FUNCTION tablespace_advisor.draw_outcomes(batches jsonb)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH batch AS MATERIALIZED (
		SELECT b.* FROM jsonb_to_recordset(batches) b (judged_with bigint, forecast float8,
			saved float8, low float8, high float8, moves bigint, name text, outcome text)
		WHERE b.forecast IS NOT NULL AND b.low IS NOT NULL
	), axes AS MATERIALIZED (
		SELECT tablespace_advisor.axis_around('linear', array(SELECT forecast FROM batch), 60, 560) AS x,
			tablespace_advisor.axis_around('linear', array(
				SELECT unnest(ARRAY[b.saved, b.low, b.high, b.forecast]) FROM batch b), 300, 24) AS y
	)
	SELECT tablespace_advisor.draw_picture(960, 345, 'Forecast and outcome of moves',
		tablespace_advisor.draw_axes(a.x, a.y, 'forecast: waiting sessions saved',
			'measured: waiting sessions saved, in reads of what was moved')
		|| tablespace_advisor.draw_line(a.x, a.y, ARRAY[m.low, m.high], ARRAY[m.low, m.high], 'mark dash',
			'as forecast')
		|| tablespace_advisor.draw_text(580, 40, 'tick', 'a dot for calls judged as one, with its 95 % interval;')
		|| tablespace_advisor.draw_text(580, 56, 'tick', 'on the dashed line: exactly as forecast')
		|| (SELECT tablespace_advisor.draw_dots(a.x, a.y, array_agg(b.forecast ORDER BY b.judged_with),
			array_agg(b.saved ORDER BY b.judged_with), 'c0',
			array_agg(format('call %s (%s%s): forecast %s, measured %s (%s to %s), %s', b.judged_with, b.name,
				CASE WHEN b.moves > 1 THEN format(' and %s more', b.moves - 1) ELSE '' END,
				tablespace_advisor.short_number(b.forecast), tablespace_advisor.short_number(b.saved),
				tablespace_advisor.short_number(b.low), tablespace_advisor.short_number(b.high),
				b.outcome) ORDER BY b.judged_with), 0,
			array_agg(b.low ORDER BY b.judged_with), array_agg(b.high ORDER BY b.judged_with)) FROM batch b))
	FROM axes a
	CROSS JOIN LATERAL (SELECT greatest((a.x).low, (a.y).low) AS low,
		least((a.x).high, (a.y).high) AS high) m
	WHERE EXISTS (SELECT FROM batch)
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_outcomes(jsonb) IS
	'what calls were forecast to save and what they saved, of rows of batch_outcomes(); NULL without any of which both are known';

/* What the period's moves brought, as far as it was measured. */
CREATE FUNCTION tablespace_advisor.outcome_sentence(batches jsonb, unknown bigint)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT concat(
		CASE WHEN b.n > 0 THEN format(' By samples before and after, they saved %s waiting sessions in reads of what was moved (95 %% interval %s to %s%s), and %s in all reads of the database (%s to %s).',
			tablespace_advisor.two_digits(b.saved),
			tablespace_advisor.two_digits(b.saved - b.error),
			tablespace_advisor.two_digits(b.saved + b.error),
			coalesce('; forecast: ' || tablespace_advisor.two_digits(b.forecast), ''),
			tablespace_advisor.two_digits(b.all_saved),
			tablespace_advisor.two_digits(b.all_saved - b.all_error),
			tablespace_advisor.two_digits(b.all_saved + b.all_error)) ELSE '' END,
		CASE unknown WHEN 0 THEN '' WHEN 1 THEN ' What one move saved is not known.'
			ELSE format(' What %s moves saved is not known.', unknown) END)
	FROM (SELECT count(*) AS n, sum(j.saved) AS saved, sqrt(sum(((j.high - j.low) / 2) ^ 2)) AS error,
			CASE WHEN bool_and(j.forecast IS NOT NULL) THEN sum(j.forecast) END AS forecast,
			sum(j.all_saved) AS all_saved, sqrt(sum(((j.all_high - j.all_low) / 2) ^ 2)) AS all_error
		FROM jsonb_to_recordset(batches) j (forecast float8, saved float8, low float8, high float8,
			all_saved float8, all_low float8, all_high float8)
		WHERE j.low IS NOT NULL AND j.all_low IS NOT NULL) b
$$;
COMMENT ON FUNCTION tablespace_advisor.outcome_sentence(jsonb, bigint) IS
	'what rows of batch_outcomes() together saved; unknown: how many moves are done whose outcome is not known';

CREATE FUNCTION tablespace_advisor.report_moved(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH outcome AS MATERIALIZED (
		SELECT o.job_id, o.saved_ms_per_s / 1000 AS saved, o.waits_for, o.outcome, o.verdict
		FROM @extschema@.move_outcomes o WHERE o.finished_at > f.since
	), batch AS MATERIALIZED (
		SELECT coalesce(jsonb_agg(b), '[]') AS batches FROM tablespace_advisor.batch_outcomes(f.since) b
	), move AS MATERIALIZED (
		SELECT m.*, o.saved, o.outcome, o.waits_for, o.verdict,
			row_number() OVER (ORDER BY m.finished_at IS NOT NULL, m.bytes_total DESC, m.job_id) AS n
		FROM @extschema@.tablespace_moves m LEFT JOIN outcome o ON o.job_id = m.job_id
		WHERE coalesce(m.finished_at, 'infinity') > f.since
	), sums AS (
		SELECT count(*) AS n, count(*) FILTER (WHERE m.state = 'done') AS done,
			count(*) FILTER (WHERE m.state = 'failed') AS failed,
			count(*) FILTER (WHERE m.state = 'cancelled') AS cancelled,
			count(*) FILTER (WHERE m.finished_at IS NULL) AS active,
			count(*) FILTER (WHERE m.verdict = 'waiting' AND m.saved IS NULL
				OR m.outcome = 'too few samples') AS unknown,
			sum(m.bytes_total) FILTER (WHERE m.state = 'done') AS bytes,
			max(m.lock_ms) AS lock_ms, max(m.others_lost_percent) AS lost
		FROM move m
	)
	SELECT tablespace_advisor.page_section('Moves',
		format('Moves that are done: %s%s%s%s%s.%s', s.done,
			' (' || tablespace_advisor.unit_label(s.bytes::float8, 'bytes') || ')',
			concat(', failed: ' || nullif(s.failed, 0), ', cancelled: ' || nullif(s.cancelled, 0),
				', not ended: ' || nullif(s.active, 0)),
			'; the longest exclusive lock was held for ' || tablespace_advisor.unit_label(s.lock_ms * 1000, 'us'),
			CASE WHEN s.lost IS NOT NULL THEN format('; what others lost of their throughput was %s %% at most',
				tablespace_advisor.two_digits(s.lost)) ELSE '' END,
			tablespace_advisor.outcome_sentence(b.batches, s.unknown)),
		coalesce(tablespace_advisor.draw_outcomes(b.batches),
			'')
		|| tablespace_advisor.page_table('{move,relation,route,state,size,took,lock,others lost,ended}', 'nwwwnnnnd',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[m.job_id::text, m.relation_name,
				format('%I to %I', m.from_tablespace, m.to_tablespace),
				CASE WHEN m.finished_at IS NULL THEN concat_ws(', ', CASE m.state WHEN 'paused' THEN m.phase
						ELSE m.state END, m.percent || ' %', tablespace_advisor.pretty_seconds(
							extract(epoch FROM m.eta)::float8) || ' left')
					WHEN m.waits_for IS NOT NULL THEN m.state || '; the outcome waits for ' || m.waits_for
					WHEN m.saved IS NOT NULL THEN format('%s: %s waiting sessions saved%s', m.state,
						tablespace_advisor.short_number(m.saved), coalesce(', forecast '
						|| tablespace_advisor.short_number(m.forecast_saved_ms_per_s / 1000), ''))
					ELSE m.state || coalesce(': ' || tablespace_advisor.one_line(m.error, 160), '') END,
				tablespace_advisor.unit_label(m.bytes_total::float8, 'bytes'),
				tablespace_advisor.pretty_seconds(extract(epoch FROM
					coalesce(m.finished_at, clock_timestamp()) - m.started_at)::float8),
				tablespace_advisor.unit_label(m.lock_ms * 1000, 'us'),
				tablespace_advisor.two_digits(m.others_lost_percent) || ' %',
				to_char(m.finished_at, 'MM-DD HH24:MI')], 'nwwwnnnnd'), '' ORDER BY m.n)
			FROM move m WHERE m.n <= 20))
		|| CASE WHEN s.n > 20 THEN format('<p class="note">and %s smaller ones</p>', s.n - 20) ELSE '' END)
	FROM sums s, batch b WHERE s.n > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.report_moved(tablespace_advisor.report_findings) IS
	'the part on moves that ended in the period or have not ended; NULL without any';

/* The six that are full first. Free space in percent, so that all fit. */
CREATE FUNCTION tablespace_advisor.draw_growth(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH begun AS (
		SELECT extract(epoch FROM min(s.taken_at))::float8 AS at,
			extract(epoch FROM max(s.taken_at) - min(s.taken_at))::float8 AS length
		FROM tablespace_advisor.sample s
	), place AS (
		SELECT u ->> 'tablespace' AS name, row_number() OVER (ORDER BY n) AS n,
			array(SELECT b.at + 86400 * d FROM unnest(h.days) d) AS at,
			array(SELECT 100 * x / d.size_bytes FROM unnest(h.free) x) AS percent,
			(u ->> 'days_until_full')::float8 AS days, (u ->> 'days_low')::float8 AS days_low,
			(u ->> 'days_high')::float8 AS days_high
		FROM jsonb_array_elements(f.usage) WITH ORDINALITY e (u, n)
		JOIN pg_tablespace t ON t.spcname = u ->> 'tablespace'
		JOIN tablespace_advisor.usage_history() h ON h.tablespace = t.oid
		JOIN unnest(f.devices) d ON d.tablespace = t.spcname
		CROSS JOIN begun b
		WHERE d.size_bytes > 0 AND cardinality(h.days) > 2 AND b.length >= 3600 AND h.free[cardinality(h.free)] IS NOT NULL
		ORDER BY n LIMIT 6
	), ahead AS MATERIALIZED (
		SELECT p.*, tablespace_advisor.colour_of(array(SELECT o.name::name FROM place o ORDER BY o.n),
				p.name::name) AS colour, l.at AS now, l.percent AS last, h.seconds AS horizon,
			CASE WHEN p.days IS NOT NULL THEN
				ARRAY[l.at, l.at + least(h.seconds, 86400 * p.days)] END AS future,
			CASE WHEN p.days IS NOT NULL THEN
				l.percent * (1 - least(1, h.seconds / 86400 / p.days)) END AS reaches
		FROM place p CROSS JOIN begun b
		CROSS JOIN LATERAL (SELECT p.at[cardinality(p.at)] AS at,
			p.percent[cardinality(p.percent)] AS percent) l
		CROSS JOIN LATERAL (SELECT b.length * 0.7 AS seconds) h
	), axes AS MATERIALIZED (
		SELECT tablespace_advisor.axis_around('time', array(SELECT unnest(a.at) FROM ahead a)
				|| array(SELECT a.now + a.horizon FROM ahead a), 60, 800) AS x,
			('linear', 0, 100, 300, 24, 'percent')::tablespace_advisor.axis AS y
	), ends AS (
		SELECT tablespace_advisor.spread_apart(array_agg(
			tablespace_advisor.axis_position(a.y, coalesce(p.reaches, p.last)) ORDER BY p.n), 15, 300) AS at
		FROM ahead p, axes a
	)
	SELECT tablespace_advisor.draw_picture(960, 345, 'Free space over time',
		tablespace_advisor.draw_axes(a.x, a.y, 'samples, then the forecast', 'free space of the file system')
		|| tablespace_advisor.draw_line(a.x, a.y, ARRAY[n.now, n.now], '{0,100}', 'mark dash', 'the last sample')
		|| tablespace_advisor.draw_text(tablespace_advisor.axis_position(a.x, n.now) + 5, 36, 'tick', 'forecast')
		|| (SELECT string_agg(tablespace_advisor.draw_band(a.x, a.y, ARRAY[p.now, p.now + p.horizon],
				ARRAY[p.last, CASE WHEN p.days_low > 0 THEN
					p.last * (1 - least(1, p.horizon / 86400 / p.days_low)) END],
				ARRAY[p.last, CASE WHEN p.days_high > 0 THEN
					p.last * (1 - least(1, p.horizon / 86400 / p.days_high)) ELSE p.last END],
				'c' || p.colour)
			|| tablespace_advisor.draw_line(a.x, a.y, p.at, p.percent, 'c' || p.colour, p.name)
			|| coalesce(tablespace_advisor.draw_line(a.x, a.y, p.future, ARRAY[p.last, p.reaches],
				'dash c' || p.colour, p.name || ': forecast'), '')
			|| tablespace_advisor.draw_text(810, e.at[p.n] + 4, 'c' || p.colour,
				tablespace_advisor.short_name(p.name, 22)), '') FROM ahead p, ends e))
	FROM axes a, (SELECT max(now) AS now FROM ahead) n WHERE n.now IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_growth(tablespace_advisor.report_findings) IS
	'free space of the tablespaces that are full first, and where it goes; NULL without some samples over an hour';

CREATE FUNCTION tablespace_advisor.report_growth(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.page_section('Growth',
		coalesce((SELECT format('%I is full first: in %s days%s.', u ->> 'tablespace',
				tablespace_advisor.two_digits((u ->> 'days_until_full')::float8),
				CASE WHEN u ->> 'days_high' IS NULL THEN format(' (95 %% interval: %s, or never)',
						coalesce(tablespace_advisor.two_digits((u ->> 'days_low')::float8) || ' at the earliest', 'not known'))
					ELSE format(' (95 %% interval: %s to %s)', tablespace_advisor.two_digits((u ->> 'days_low')::float8),
						tablespace_advisor.two_digits((u ->> 'days_high')::float8)) END)
			FROM jsonb_array_elements(f.usage) u WHERE u ->> 'days_until_full' IS NOT NULL
			ORDER BY (u ->> 'days_until_full')::float8 LIMIT 1),
			CASE WHEN EXISTS (SELECT FROM jsonb_array_elements(f.usage) u WHERE u ->> 'growth_bytes_per_day' IS NOT NULL)
				THEN 'By its history no tablespace is ever full.'
				ELSE 'The history is too short for a forecast.' END),
		coalesce(tablespace_advisor.draw_growth(f), '')
		|| tablespace_advisor.page_table('{tablespace,used here,grows per day,95 % interval,free,full in,history,note}', 'wnnnnnnl',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[u ->> 'tablespace',
				tablespace_advisor.unit_label((u ->> 'used_bytes')::float8, 'bytes'),
				tablespace_advisor.unit_label((u ->> 'growth_bytes_per_day')::float8, 'bytes'),
				tablespace_advisor.unit_label((u ->> 'growth_low_bytes_per_day')::float8, 'bytes') || ' to '
					|| tablespace_advisor.unit_label((u ->> 'growth_high_bytes_per_day')::float8, 'bytes'),
				tablespace_advisor.unit_label((u ->> 'free_bytes')::float8, 'bytes'),
				tablespace_advisor.two_digits((u ->> 'days_until_full')::float8) || ' days',
				tablespace_advisor.pretty_seconds(86400 * nullif((u ->> 'history_days')::float8, 0)),
				u ->> 'caveat'], 'wnnnnnnl'), '' ORDER BY n)
			FROM jsonb_array_elements(f.usage) WITH ORDINALITY e (u, n) WHERE n <= 50)))
	WHERE jsonb_array_length(f.usage) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.report_growth(tablespace_advisor.report_findings) IS
	'the part on free space; NULL where nothing is known of any tablespace';

CREATE FUNCTION tablespace_advisor.draw_costs(costs jsonb)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH weighed AS MATERIALIZED (
		SELECT c ->> 'tablespace' AS name, (c ->> 'low')::float8 AS low, (c ->> 'high')::float8 AS high,
			(c ->> 'current_random_page_cost')::float8 AS current,
			(c ->> 'random_page_cost')::float8 AS wanted, row_number() OVER (ORDER BY n) AS n
		FROM jsonb_array_elements(costs) WITH ORDINALITY e (c, n)
		WHERE c ->> 'low' IS NOT NULL AND (c ->> 'low')::float8 > 0 AND c ->> 'verdict' <> 'probe first'
			/* the owner of a tablespace can have set anything */
			AND greatest((c ->> 'high')::float8, (c ->> 'current_random_page_cost')::float8,
				(c ->> 'random_page_cost')::float8) < 1e9
		ORDER BY n LIMIT 20
	), axes AS MATERIALIZED (
		SELECT tablespace_advisor.axis_around('log', array(
				SELECT unnest(ARRAY[low, high, current, wanted]) FROM weighed), 200, 900) AS x,
			count(*) AS n FROM weighed
	)
	SELECT tablespace_advisor.draw_picture(960, 58 + 24 * a.n, 'random_page_cost by tablespace',
		tablespace_advisor.draw_axes(a.x, ('', 0, 1, 14 + 24 * a.n, 14, '')::tablespace_advisor.axis,
			'random_page_cost', NULL)
		|| (SELECT string_agg(tablespace_advisor.draw_text(190, 24 * w.n + 6, 'end', tablespace_advisor.short_name(w.name, 24))
			|| tablespace_advisor.draw_bar(a.x, w.low, w.high, 24 * w.n - 4, 12, 'c2 pale',
				format('%s: any value from %s to %s is about as good', w.name, w.low, w.high))
			|| tablespace_advisor.draw_dots(a.x, y.axis, ARRAY[w.wanted], '{0.5}', 'c2',
				ARRAY[format('%s: recommended %s', w.name, w.wanted)], 3)
			|| tablespace_advisor.draw_dots(a.x, y.axis, ARRAY[w.current], '{0.5}', 'c1',
				ARRAY[format('%s: now %s', w.name, w.current)], 0), '')
			FROM weighed w CROSS JOIN LATERAL (SELECT ('linear', 0, 1, 24 * w.n + 12, 24 * w.n - 8, '')
				::tablespace_advisor.axis) y (axis)))
	FROM axes a WHERE a.n > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_costs(jsonb) IS
	'present and recommended constants, and between which values they are as good';

/*
 * What would help: the recommended settings, if they bring the plan within a
 * tenth of the best, else locality, if that does.
 */
CREATE FUNCTION tablespace_advisor.report_plans(plans jsonb)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH plan AS (
		SELECT p.*, p.plan_us / p.best_us AS slowdown, i.indrelid::regclass AS of_table,
			row_number() OVER (ORDER BY p.plan_us / p.best_us DESC, p.index) AS n
		FROM jsonb_to_recordset(plans) p (index oid, matching_rows float8, plan text, plan_us float8,
			best_plan text, best_us float8, recommended_us float8, corrected_us float8, is_measured boolean)
		JOIN pg_index i ON i.indexrelid = p.index
		WHERE p.plan_us > 1.5 * p.best_us AND p.plan_us - p.best_us >= 1000
	)
	SELECT CASE WHEN jsonb_array_length(plans) = 0 THEN ''
		WHEN NOT EXISTS (SELECT FROM plan) THEN
			'<p class="note">No index has a plan that is expected to take 1.5 times as long as the best and a millisecond more.</p>'
		ELSE '<h3>Worst plans</h3>' || tablespace_advisor.page_table(
			'{index,rows asked for,planner chooses,takes,best plan,takes,slowdown,what helps}', 'wntntnnl',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[p.index::regclass::text,
				tablespace_advisor.short_number(round(p.matching_rows)), p.plan,
				tablespace_advisor.unit_label(p.plan_us, 'us'), p.best_plan,
				tablespace_advisor.unit_label(p.best_us, 'us'), round(p.slowdown::numeric, 1)::text,
				CASE WHEN p.recommended_us < 1.1 * p.best_us THEN 'the recommended settings'
					WHEN p.corrected_us < 1.1 * p.best_us THEN CASE WHEN p.is_measured THEN ''
							ELSE format('SELECT %s.measure_index_locality(%L::pg_catalog.regclass), then ',
								'@extschema@', p.of_table) END
						|| 'SET tablespace_advisor.correct_locality = on'
					ELSE 'nothing that is known' END], 'wntntnnl'), '' ORDER BY p.n)
			FROM plan p WHERE p.n <= 10))
			|| '<p class="note">Expected by the probes, what caches hold now, and how the index''s entries lie to the table''s rows; of each index the number of rows for which the planner is furthest off. Which numbers queries ask for is not known.</p>'
		END
$$;
COMMENT ON FUNCTION tablespace_advisor.report_plans(jsonb) IS
	'the ten indexes with the worst plans, of rows of worst_plans()';

CREATE FUNCTION tablespace_advisor.report_costs(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH sums AS (
		SELECT count(*) AS n, count(*) FILTER (WHERE c ->> 'verdict' = 'change') AS changes,
			count(*) FILTER (WHERE c ->> 'verdict' = 'probe first') AS unknown,
			count(*) FILTER (WHERE c ->> 'verdict' = 'keep' AND c ->> 'low' IS NULL) AS idle,
			count(*) FILTER (WHERE c ->> 'verdict' = 'change'
				AND c ->> 'random_page_cost' <> c ->> 'current_random_page_cost') AS constants,
			(array_agg(c ORDER BY (c ->> 'regret_current')::float8 DESC NULLS LAST))[1] AS worst
		FROM jsonb_array_elements(f.costs) c
	)
	SELECT tablespace_advisor.page_section('Costs',
		CASE WHEN s.changes = 0 AND s.unknown = s.n THEN
				'What the planner''s constants should be is not known: no tablespace has been probed.'
			ELSE format('%s%s%s.',
				CASE WHEN s.changes > 0 THEN format('%s of %s tablespaces should have other settings', s.changes, s.n)
					WHEN s.unknown > 0 THEN 'No tablespace that was probed needs other settings'
					ELSE 'No tablespace needs other settings' END,
				CASE WHEN s.changes > s.constants THEN format(' (random_page_cost: %s)', s.constants) ELSE '' END,
				CASE WHEN s.worst ->> 'regret_current' IS NOT NULL THEN format('; in %s plans take %s times the best now, on average',
					quote_ident(s.worst ->> 'tablespace'), round((s.worst ->> 'regret_current')::numeric, 2))
				ELSE '' END) END,
		CASE WHEN s.changes = 0 AND s.unknown = s.n THEN '' ELSE coalesce(tablespace_advisor.draw_costs(f.costs)
			|| '<p class="note">Dot: now; diamond: recommended; bar: values that are about as good.</p>', '')
		|| tablespace_advisor.page_table('{tablespace,verdict,random_page_cost,recommended,as good,slowdown now,then,statement or reason}', 'wdnnnnnc',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[c ->> 'tablespace', c ->> 'verdict',
				c ->> 'current_random_page_cost', c ->> 'random_page_cost',
				(c ->> 'low') || coalesce(' to ' || nullif(c ->> 'high', c ->> 'low'), ''),
				round((c ->> 'regret_current')::numeric, 2)::text,
				round((c ->> 'regret_recommended')::numeric, 2)::text, coalesce(c ->> 'statement', c ->> 'reason')],
				'wdnnnnnc'), '' ORDER BY n)
			FROM jsonb_array_elements(f.costs) WITH ORDINALITY e (c, n)
			WHERE (c ->> 'low' IS NOT NULL OR c ->> 'verdict' <> 'keep') AND n <= 50))
		|| CASE WHEN s.idle > 0 THEN format('<p class="note">Tablespaces without an index that settings would matter for: %s.</p>', s.idle)
			ELSE '' END
		|| '<p class="note">Slowdown: how many times as long as the best plans the planner''s choices are expected to take, on average over indexes of this database.</p>'
		|| tablespace_advisor.report_plans(f.plans) END)
	FROM sums s WHERE s.n > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.report_costs(tablespace_advisor.report_findings) IS
	'the part on the planner''s constants';

CREATE FUNCTION tablespace_advisor.report_small_print(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.page_section('Small print', 'What this page rests on, and what it leaves out.',
		tablespace_advisor.page_table(NULL, 'tl', (SELECT string_agg(
			tablespace_advisor.table_row(ARRAY[l.name, l.value], 'tl'), '' ORDER BY l.n)
		FROM (VALUES
			(1, 'Server', format('PostgreSQL %s, tablespace_advisor %s, database %I', current_setting('server_version'),
				(SELECT extversion FROM pg_extension WHERE extname = 'tablespace_advisor'), current_database())),
			(2, 'Written', format('%s for role %I', to_char(now(), 'YYYY-MM-DD HH24:MI TZ'), current_user)),
			(3, 'Period of samples, moves', format('since %s: %s', to_char(f.since, 'YYYY-MM-DD HH24:MI'),
				(SELECT format('samples: %s%s', count(*), coalesce(', the last of ' || to_char(max(s.taken_at), 'YYYY-MM-DD HH24:MI'), ''))
					FROM tablespace_advisor.sample s WHERE s.taken_at > f.since))),
			(4, 'Times of reads', CASE WHEN current_setting('track_io_timing')::boolean THEN 'probes, corrected by what the server timed'
				ELSE 'probes alone: track_io_timing is off' END),
			(5, 'Not probed', coalesce((SELECT format('%s (%s of the relations with advice are there)',
					string_agg(quote_ident(l.tablespace), ', ' ORDER BY l.tablespace),
					(SELECT count(*) FROM unnest(f.advice) a WHERE a.from_tablespace = ANY (array_agg(l.tablespace))))
				FROM tablespace_advisor.tablespace_latency l WHERE l.random_read_us IS NULL HAVING count(*) > 0), 'none')),
			(6, 'Left out', 'relations that were neither read nor written in the window; what standbys read; other databases of this server'),
			(7, 'Not shown', 'all but the twenty largest relations and moves of a list, which are counted')
		) l (n, name, value))))
$$;
COMMENT ON FUNCTION tablespace_advisor.report_small_print(tablespace_advisor.report_findings) IS
	'the part on versions, windows, and what was left out';
/*
 * src/report/parts_room.sql
 *
 * The part of the page on how much room in the fastest tablespace is worth
 * having: the curve of placement_curve(), with what there is and its knee.
 */
CREATE FUNCTION tablespace_advisor.tablespace_to_buy()
RETURNS name
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT p.fastest FROM (
		SELECT (array_agg(l.tablespace ORDER BY l.random_read_us, l.tablespace)
				FILTER (WHERE d.volatile IS NOT TRUE))[1] AS fastest,
			count(*) AS probed
		FROM tablespace_advisor.tablespace_latency l
		JOIN tablespace_advisor.device d ON d.tablespace = l.tablespace
		WHERE l.random_read_us IS NOT NULL AND l.tablespace <> 'pg_global') p
	WHERE p.probed > 1
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_to_buy() IS
	'the fastest tablespace whose contents last, if a slower one was probed too';

/* The point furthest above the straight line between the ends. */
CREATE FUNCTION tablespace_advisor.curve_knee(xs float8[], ys float8[])
RETURNS int
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT p.n::int
	FROM unnest(xs, ys) WITH ORDINALITY p (x, y, n)
	WHERE p.x IS NOT NULL AND p.y IS NOT NULL
	ORDER BY p.y - ys[1] - (ys[cardinality(ys)] - ys[1]) * (p.x - xs[1])
		/ nullif(xs[cardinality(xs)] - xs[1], 0) DESC NULLS LAST, p.n
	LIMIT 1
$$;
COMMENT ON FUNCTION tablespace_advisor.curve_knee(float8[], float8[]) IS
	'the number of the point where a curve of growing x flattens most; the first where it is a straight line';

CREATE FUNCTION tablespace_advisor.draw_room(
	tablespace name,
	bytes float8[],
	waiting float8[],
	relations bigint[],
	knee int,
	present float8)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH axes AS MATERIALIZED (
		SELECT tablespace_advisor.axis_around('linear', $2, 60, 900, 'bytes') AS x,
			tablespace_advisor.axis_around('linear', $3, 300, 24) AS y,
			'c' || coalesce(tablespace_advisor.colour_of(ARRAY[$1], $1), 0) AS colour
	), mark AS (
		SELECT m.*, tablespace_advisor.axis_position(a.x, m.value) AS at
		FROM axes a CROSS JOIN LATERAL (VALUES
			($6, 'now: ' || tablespace_advisor.unit_label($6, 'bytes'), 40),
			($2[$5], 'flattens at ' || tablespace_advisor.unit_label($2[$5], 'bytes'), 56))
			m (value, label, y)
		WHERE m.value BETWEEN (a.x).low AND (a.x).high
	)
	SELECT tablespace_advisor.draw_picture(960, 345, format('Reading by room in %I', $1),
		tablespace_advisor.draw_axes(a.x, a.y, 'room in ' || tablespace_advisor.short_name($1),
			'sessions that wait for reads, on average')
		|| coalesce((SELECT string_agg(tablespace_advisor.draw_line(a.x, a.y, ARRAY[m.value, m.value],
				ARRAY[(a.y).low, (a.y).high], 'mark dash', m.label)
			|| tablespace_advisor.draw_text(m.at + CASE WHEN m.at > 480 THEN -5 ELSE 5 END, m.y,
				CASE WHEN m.at > 480 THEN 'tick end' ELSE 'tick' END, m.label), '')
			FROM mark m), '')
		|| tablespace_advisor.draw_line(a.x, a.y, $2, $3, a.colour, $1)
		|| tablespace_advisor.draw_dots(a.x, a.y, $2, $3, a.colour, array(
			SELECT format('%s of room, with %s relations there: %s',
				tablespace_advisor.unit_label(p.bytes, 'bytes'), p.relations,
				tablespace_advisor.waiting_sessions(1000 * p.waiting, 'reads'))
			FROM unnest($2, $3, $4) WITH ORDINALITY p (bytes, waiting, relations, n) ORDER BY p.n)))
	FROM axes a
$$;
COMMENT ON FUNCTION tablespace_advisor.draw_room(name, float8[], float8[], bigint[], int, float8) IS
	'how many sessions wait for reads by room in a tablespace, with the room that there is (present) and the knee marked';

/* What placement_curve() says, as sessions that wait. */
CREATE FUNCTION tablespace_advisor.room_curve(
	f tablespace_advisor.report_findings,
	OUT bytes float8[],
	OUT waiting float8[],
	OUT saved float8[],
	OUT relations bigint[],
	OUT knee int,
	OUT n int)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT c.bytes, c.waiting, c.saved, c.relations,
		tablespace_advisor.curve_knee(c.bytes, c.saved), cardinality(c.bytes)
	FROM (SELECT array_agg(p.bytes::float8 ORDER BY p.bytes) AS bytes,
			array_agg(greatest(0, r.reading - p.saved_ms_per_s) / 1000 ORDER BY p.bytes) AS waiting,
			array_agg(p.saved_percent ORDER BY p.bytes) AS saved,
			array_agg(p.relations ORDER BY p.bytes) AS relations
		FROM jsonb_to_recordset(f.curve) p (bytes bigint, saved_ms_per_s float8,
			saved_percent float8, relations bigint)
		CROSS JOIN (SELECT sum(a.read_ms_per_s) AS reading FROM unnest(f.advice) a) r
		WHERE p.saved_percent IS NOT NULL AND r.reading IS NOT NULL) c
$$;
COMMENT ON FUNCTION tablespace_advisor.room_curve(tablespace_advisor.report_findings) IS
	'placement_curve() as arrays: bytes of room, sessions that wait for reads with it, percent of that saved, relations there; knee: where it flattens, n: how many points';

CREATE FUNCTION tablespace_advisor.report_room(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH curve AS MATERIALIZED (
		SELECT c.*, (SELECT coalesce(s.used_bytes, 0)
					+ greatest(0, coalesce(s.free_bytes, d.free_bytes) - coalesce(d.size_bytes, 0) / 20)
				FROM unnest(f.devices) d
				LEFT JOIN pg_tablespace t ON t.spcname = d.tablespace
				LEFT JOIN tablespace_advisor.tablespace_sample s ON s.tablespace = t.oid
				WHERE d.tablespace = f.curve_of
				ORDER BY s.sample_id DESC NULLS LAST LIMIT 1)::float8 AS present
		FROM tablespace_advisor.room_curve(f) c WHERE c.n > 1
	)
	SELECT tablespace_advisor.page_section('How much to buy',
		CASE WHEN c.saved[c.n] > 0 AND c.saved[c.n] - c.saved[1] < 0.1
				THEN format('Room in %I makes no difference: others are as fast and have room.', f.curve_of)
			WHEN c.saved[c.n] > 0 THEN format('With room for everything in %I (%s) %s, %s %% less than now; with %s, %s.',
				f.curve_of, tablespace_advisor.unit_label(c.bytes[c.n], 'bytes'),
				tablespace_advisor.waiting_sessions(1000 * c.waiting[c.n], 'reads'),
				CASE WHEN c.saved[c.n] BETWEEN 99 AND 99.99 THEN 'more than 99'
					ELSE tablespace_advisor.two_digits(c.saved[c.n]) END,
				tablespace_advisor.unit_label(c.bytes[c.knee], 'bytes'),
				tablespace_advisor.waiting_sessions(1000 * c.waiting[c.knee], 'reads'))
			ELSE format('More room in %I would save nothing; %s of it %s.', f.curve_of,
				CASE c.bytes[1] WHEN 0 THEN 'without any'
					ELSE 'with ' || tablespace_advisor.unit_label(c.bytes[1], 'bytes') END,
				tablespace_advisor.waiting_sessions(1000 * c.waiting[1], 'reads')) END
		|| CASE WHEN c.saved[c.n] > 0 AND c.saved[c.n] - c.saved[1] < 0.1 THEN ''
			WHEN c.present >= c.bytes[c.n] THEN ' There is room for all of it.'
			WHEN c.present IS NOT NULL THEN format(' It has %s now.',
				tablespace_advisor.unit_label(c.present, 'bytes')) ELSE '' END,
		tablespace_advisor.draw_room(f.curve_of, c.bytes, c.waiting, c.relations, c.knee, c.present)
		|| '<p class="note">With the best placement for so much room in all, at the present rate of reads.</p>'
		|| tablespace_advisor.page_table('{room,sessions that wait,beside now,relations there}', 'nnnn',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[
				tablespace_advisor.unit_label(p.bytes, 'bytes'),
				tablespace_advisor.short_number(p.waiting),
				CASE WHEN p.saved = 0 THEN 'as now'
					WHEN p.saved > 0 THEN tablespace_advisor.unit_label(p.saved, 'percent') || ' less'
					ELSE tablespace_advisor.short_number(1 - p.saved / 100) || ' times as long' END,
				p.relations::text], 'nnnn'), '' ORDER BY p.n)
			FROM unnest(c.bytes, c.waiting, c.saved, c.relations)
				WITH ORDINALITY p (bytes, waiting, saved, relations, n)
			WHERE p.n % 3 = 1 OR p.n = c.knee OR p.n = c.n)))
	FROM curve c
$$;
COMMENT ON FUNCTION tablespace_advisor.report_room(tablespace_advisor.report_findings) IS
	'the part on how much room in the fastest tablespace is worth having; NULL without a curve';
/* src/report/report.sql: the page with pictures */

/*
 * Moves share the latencies of few tablespaces, so that their errors are the same
 * and add up; evidence is of each move alone, hence the ratios.
 */
CREATE FUNCTION tablespace_advisor.saved_by_moves(
	rows tablespace_advisor.advice_row[],
	OUT low float8,
	OUT high float8)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT sum((r.advice).saved_percent * CASE WHEN e.saved > 0 THEN e.low / e.saved ELSE 1 END),
		least(100, sum((r.advice).saved_percent * CASE WHEN e.saved > 0 THEN e.high / e.saved ELSE 1 END))
	FROM unnest(rows) r
	CROSS JOIN LATERAL (SELECT (r.evidence #>> '{estimate,saved_ms_per_s}')::float8 AS saved,
		(r.evidence #>> '{estimate,saved_low}')::float8 AS low,
		(r.evidence #>> '{estimate,saved_high}')::float8 AS high) e
	WHERE (r.advice).action = 'move'
	HAVING bool_and(e.low IS NOT NULL OR e.saved > 0 IS NOT TRUE)
$$;
COMMENT ON FUNCTION tablespace_advisor.saved_by_moves(tablespace_advisor.advice_row[]) IS
	'percent of what all reads take that all moves save if latencies are at the ends of their 95 % intervals; NULL without moves, or where no interval is known';

/* Parsed when it is made: what else gets such a name is not called. */
CREATE FUNCTION tablespace_advisor.collect_findings(since timestamptz)
RETURNS tablespace_advisor.report_findings
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT ROW(since, ARRAY(SELECT r.advice FROM unnest(b.rows) WITH ORDINALITY r (advice, evidence, n)
			WHERE (r.advice).relation IS NOT NULL ORDER BY r.n), b.costs,
		(SELECT coalesce(jsonb_agg(u), '[]') FROM @extschema@.forecast_tablespace_usage() u),
		(SELECT coalesce(jsonb_agg(h), '[]') FROM @extschema@.tablespace_advisor_health() h),
		ARRAY(SELECT d FROM tablespace_advisor.device d),
		b.tablespace,
		(SELECT coalesce(jsonb_agg(c), '[]') FROM @extschema@.placement_curve(b.tablespace, 24) c
			WHERE b.tablespace IS NOT NULL),
		(SELECT coalesce(jsonb_agg(p), '[]') FROM tablespace_advisor.worst_plans(b.costs) p),
		s.low, s.high,
		ARRAY(SELECT (r.evidence #>> '{estimate,later_read_ms_per_s}')::float8
			FROM unnest(b.rows) WITH ORDINALITY r (advice, evidence, n)
			WHERE (r.advice).relation IS NOT NULL ORDER BY r.n),
		(SELECT r.advice FROM unnest(b.rows) r WHERE (r.advice).relation IS NULL),
		(SELECT l FROM tablespace_advisor.window_lines(b.rows[1].evidence -> 'window', true) l
			WHERE b.rows[1].evidence ? 'window')
		)::tablespace_advisor.report_findings
	FROM (SELECT tablespace_advisor.tablespace_to_buy() AS tablespace,
		(SELECT coalesce(jsonb_agg(c), '[]') FROM @extschema@.recommend_random_page_cost(NULL::name) c) AS costs,
		ARRAY(SELECT r FROM tablespace_advisor.advice_rows() r) AS rows
		OFFSET 0) b
	CROSS JOIN LATERAL tablespace_advisor.saved_by_moves(b.rows) s;
END;
COMMENT ON FUNCTION tablespace_advisor.collect_findings(timestamptz) IS
	'what a page is about, collected once, from then on';

CREATE FUNCTION tablespace_advisor.report_begin(since interval)
RETURNS timestamptz
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF since IS NULL THEN
		RAISE EXCEPTION 'since must not be null' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF since <= interval '0' THEN
		RAISE EXCEPTION 'since must be greater than zero'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN clock_timestamp() - since;
END
$$;

CREATE FUNCTION tablespace_advisor.report_page(
	f tablespace_advisor.report_findings, since interval)
RETURNS text
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN tablespace_advisor.page_frame(
		format('Storage of database %s', current_database()),
		format('%s; the last %s', to_char(now(), 'YYYY-MM-DD HH24:MI TZ'),
			tablespace_advisor.pretty_seconds(extract(epoch FROM since)::float8)),
		concat(tablespace_advisor.report_verdict(f),
			tablespace_advisor.report_devices(f),
			tablespace_advisor.report_load(f),
			tablespace_advisor.report_readers(f),
			tablespace_advisor.report_room(f),
			tablespace_advisor.report_moved(f),
			tablespace_advisor.report_growth(f),
			tablespace_advisor.report_costs(f),
			tablespace_advisor.report_small_print(f)));
END
$$;
COMMENT ON FUNCTION tablespace_advisor.report_begin(interval) IS
	'the time so long ago. Errors: 22004 it is null, 22023 it is not greater than zero';
COMMENT ON FUNCTION tablespace_advisor.report_page(tablespace_advisor.report_findings, interval) IS
	'the page that tablespace_report() returns, of what was found';

CREATE FUNCTION @extschema@.tablespace_report(since interval DEFAULT '7 days')
RETURNS text
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET work_mem = '64MB'
BEGIN ATOMIC
	-- the view, of which nothing is read, is locked: the extension stays meanwhile
	SELECT tablespace_advisor.report_page(
		tablespace_advisor.collect_findings(tablespace_advisor.report_begin(since)),
		since)
	FROM (SELECT) one
		LEFT JOIN (SELECT FROM tablespace_advisor.device LIMIT 0) held ON true;
END;
COMMENT ON FUNCTION @extschema@.tablespace_report(interval) IS
	'a page of HTML with pictures: what is most worth doing, the devices and their load, who reads, the moves since so long ago with forecast and outcome, growth and costs; it only looks, loads nothing and runs no script. Errors: 22004 since is null, 22023 it is not greater than zero';
REVOKE ALL ON FUNCTION @extschema@.tablespace_report(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.tablespace_report(interval) TO pg_monitor;

/* What a member of pg_monitor runs to make the page. */
GRANT SELECT ON tablespace_advisor.read_depths TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.html(text),
	tablespace_advisor.short_number(float8),
	tablespace_advisor.unit_label(float8, text),
	tablespace_advisor.axis_position(tablespace_advisor.axis, float8),
	tablespace_advisor.tick_step(float8, text),
	tablespace_advisor.time_step(float8),
	tablespace_advisor.axis_ticks(tablespace_advisor.axis),
	tablespace_advisor.axis_around(text, float8[], float8, float8, text),
	tablespace_advisor.spread_apart(float8[], float8, float8),
	tablespace_advisor.draw_text(float8, float8, text, text),
	tablespace_advisor.draw_axes(tablespace_advisor.axis, tablespace_advisor.axis, text, text),
	tablespace_advisor.path_of(tablespace_advisor.axis, tablespace_advisor.axis, float8[], float8[]),
	tablespace_advisor.draw_line(tablespace_advisor.axis, tablespace_advisor.axis, float8[], float8[], text, text),
	tablespace_advisor.draw_band(tablespace_advisor.axis, tablespace_advisor.axis, float8[], float8[], float8[], text),
	tablespace_advisor.draw_dots(tablespace_advisor.axis, tablespace_advisor.axis, float8[], float8[], text, text[], int, float8[], float8[]),
	tablespace_advisor.draw_bar(tablespace_advisor.axis, float8, float8, float8, float8, text, text),
	tablespace_advisor.draw_picture(float8, float8, text, text),
	tablespace_advisor.table_row(text[], text, text),
	tablespace_advisor.page_table(text[], text, text),
	tablespace_advisor.page_section(text, text, text),
	tablespace_advisor.short_name(text, int),
	tablespace_advisor.colour_of(name[], name),
	tablespace_advisor.waiting_number(float8),
	tablespace_advisor.page_style(),
	tablespace_advisor.page_frame(text, text, text),
	tablespace_advisor.report_moves(@extschema@.placement_advice[]),
	tablespace_advisor.report_move_things(@extschema@.placement_advice[]),
	tablespace_advisor.report_things(tablespace_advisor.report_findings),
	tablespace_advisor.report_verdict(tablespace_advisor.report_findings),
	tablespace_advisor.draw_latencies(float8),
	tablespace_advisor.report_devices(tablespace_advisor.report_findings),
	tablespace_advisor.draw_readers(text[], float8[], float8[], text, text[]),
	tablespace_advisor.report_readers(tablespace_advisor.report_findings),
	tablespace_advisor.batch_outcomes(timestamptz),
	tablespace_advisor.draw_outcomes(jsonb),
	tablespace_advisor.outcome_sentence(jsonb, bigint),
	tablespace_advisor.report_moved(tablespace_advisor.report_findings),
	tablespace_advisor.draw_growth(tablespace_advisor.report_findings),
	tablespace_advisor.report_growth(tablespace_advisor.report_findings),
	tablespace_advisor.draw_costs(jsonb),
	tablespace_advisor.report_plans(jsonb),
	tablespace_advisor.report_costs(tablespace_advisor.report_findings),
	tablespace_advisor.report_small_print(tablespace_advisor.report_findings),
	tablespace_advisor.waiting_sessions(float8, text),
	tablespace_advisor.window_bounds(jsonb, boolean),
	tablespace_advisor.window_lines(jsonb, boolean),
	tablespace_advisor.draw_load(timestamptz),
	tablespace_advisor.report_load(tablespace_advisor.report_findings),
	tablespace_advisor.tablespace_to_buy(),
	tablespace_advisor.curve_knee(float8[], float8[]),
	tablespace_advisor.room_curve(tablespace_advisor.report_findings),
	tablespace_advisor.draw_room(name, float8[], float8[], bigint[], int, float8),
	tablespace_advisor.report_room(tablespace_advisor.report_findings),
	tablespace_advisor.saved_by_moves(tablespace_advisor.advice_row[]),
	tablespace_advisor.collect_findings(timestamptz),
	tablespace_advisor.report_begin(interval),
	tablespace_advisor.report_page(tablespace_advisor.report_findings, interval)
	TO pg_monitor;
/* src/finish.sql: about all tables of the extension, whichever stage's */

/*
 * Rows that come from a publisher are dropped at the door.  A publication FOR
 * ALL TABLES includes these tables, and what they say is about the publisher:
 * its job 1 would collide with this server's.  The triggers fire for
 * session_replication_role "replica" only.
 */
CREATE FUNCTION tablespace_advisor.ignore_replicated_row() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.ignore_replicated_row() IS
	'trigger function: keeps out rows that logical replication brings from another server; fires for session_replication_role = replica only';

/*
 * A TRUNCATE cannot be left out, so the subscription stops with an error.
 */
CREATE FUNCTION tablespace_advisor.refuse_replicated_truncate() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RAISE EXCEPTION 'cannot truncate "%.%" by logical replication', tg_table_schema, tg_table_name
		USING ERRCODE = 'object_not_in_prerequisite_state',
			DETAIL = 'It holds what this server knows of its own disks and moves.',
			HINT = 'Skip the transaction, and leave the schema "tablespace_advisor" out of the publication.';
END
$$;
COMMENT ON FUNCTION tablespace_advisor.refuse_replicated_truncate() IS
	'trigger function: refuses a TRUNCATE that logical replication brings from another server (55000)';

/*
 * pg_dump reads the tables that it is told to take along as whoever runs it,
 * who may be the owner of the database and no superuser.
 */
GRANT USAGE ON SCHEMA tablespace_advisor TO pg_database_owner;

DO $$
DECLARE
	t record;
BEGIN
	FOR t IN
		SELECT c.oid::regclass AS name, c.relkind,
			c.oid = ANY (e.extconfig) AS is_dumped
		FROM pg_extension e
			JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass
				AND d.refobjid = e.oid AND d.classid = 'pg_class'::regclass
				AND d.deptype = 'e'
			JOIN pg_class c ON c.oid = d.objid
		WHERE e.extname = 'tablespace_advisor' AND c.relkind IN ('r', 'S')
	LOOP
		IF t.relkind = 'r' THEN
			EXECUTE format('CREATE OR REPLACE TRIGGER ignore_replicated_row BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION tablespace_advisor.ignore_replicated_row()', t.name);
			EXECUTE format('ALTER TABLE %s ENABLE REPLICA TRIGGER ignore_replicated_row', t.name);
			EXECUTE format('CREATE TRIGGER refuse_replicated_truncate BEFORE TRUNCATE ON %s EXECUTE FUNCTION tablespace_advisor.refuse_replicated_truncate()', t.name);
			EXECUTE format('ALTER TABLE %s ENABLE REPLICA TRIGGER refuse_replicated_truncate', t.name);
		END IF;
		IF t.is_dumped THEN
			EXECUTE format('GRANT SELECT ON %s TO pg_database_owner', t.name);
		END IF;
	END LOOP;
END
$$;

/*
 * DROP EXTENSION would leave the files that only the journal knows; and who owns
 * the extension's schema, as the owner of a database owns public, could drop or
 * rename it in the middle of a call.
 */
CREATE FUNCTION tablespace_advisor.finish_moves_before_drop()
RETURNS event_trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'tsa_finish_moves_before_drop';
COMMENT ON FUNCTION tablespace_advisor.finish_moves_before_drop() IS
	'event trigger function: before the extension is dropped removes the files of moves whose worker is gone; 42501 for a role that renames a schema of the extension and does not own it';
CREATE EVENT TRIGGER tablespace_advisor ON ddl_command_start
	WHEN TAG IN ('DROP EXTENSION', 'DROP SCHEMA', 'DROP OWNED', 'DROP LANGUAGE', 'ALTER SCHEMA')
	EXECUTE FUNCTION tablespace_advisor.finish_moves_before_drop();
ALTER EVENT TRIGGER tablespace_advisor ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER tablespace_advisor IS
	'keeps the extension from being dropped while its journal names files that nothing else knows of, and by others than its owner, who could own its schema';

/*
 * Of the extension's schema PUBLIC may use what computes from its arguments
 * alone, and what the view of the caller's own moves is made of.  Stages grant
 * what roles other than superusers need.
 */
REVOKE ALL ON ALL TABLES IN SCHEMA tablespace_advisor FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA tablespace_advisor FROM PUBLIC;
REVOKE ALL ON ALL ROUTINES IN SCHEMA tablespace_advisor FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.pgbench_forks(int, int, int, int),
	tablespace_advisor.pgbench_nearest_scale(bigint, text, int, int, bigint),
	tablespace_advisor.empty_database_bytes(),
	tablespace_advisor.predict_scan_costs(float8, float8, float8, float8, float8,
		int, float8, float8, float8, float8, float8),
	tablespace_advisor.worker_progress(bigint),
	tablespace_advisor.round_to_three(float8)
	TO PUBLIC;
