/*
 * tablespace_advisor: ALTER EXTENSION ... UPDATE from 0.3, assembled from src/
 * by the Makefile: this file, then every stage's own SQL but its tables.
 *
 * Views, functions and types of 0.3 go and are made anew, so that whatever an
 * earlier version resolved in them (operators of others') goes with them.
 * Whoever has built on one of them gets an error that names what depends.
 */

\echo Use "ALTER EXTENSION tablespace_advisor UPDATE TO '0.4'" to load this file. \quit

/* Nothing but the server's own is found by an unqualified name. */
SET LOCAL search_path = pg_catalog, pg_temp;

DROP PROCEDURE @extschema@.move_table_concurrently(
	regclass,
	name,
	boolean,
	text,
	text,
	interval,
	boolean,
	boolean,
	boolean,
	bigint[]);
DROP FUNCTION tablespace_advisor.tables_of(regclass);
DROP FUNCTION @extschema@.undo_move(bigint);
DROP FUNCTION @extschema@.resume_move(bigint);
DROP FUNCTION @extschema@.pause_move(bigint);
DROP FUNCTION @extschema@.retry_move(bigint);
DROP FUNCTION @extschema@.cancel_move(bigint);
DROP PROCEDURE @extschema@.move_indexes_concurrently(
	regclass,
	name,
	regclass[],
	text,
	text,
	interval,
	boolean,
	boolean,
	boolean,
	bigint[]);
DROP VIEW @extschema@.tablespace_moves;
DROP VIEW tablespace_advisor.leftover;
DROP FUNCTION tablespace_advisor.worker_progress(bigint);
DROP FUNCTION tablespace_advisor.indexes_of(regclass);
DROP FUNCTION tablespace_advisor.partitions_of(regclass);
DROP FUNCTION @extschema@.advise_index_placement(regclass, name, text);
DROP FUNCTION tablespace_advisor.judge_placement(
	tablespace_advisor.relation_activity[],
	regclass[],
	tablespace_advisor.tablespace_fact[],
	tablespace_advisor.counter_window,
	name,
	bigint);
DROP FUNCTION tablespace_advisor.placement_evidence(
	tablespace_advisor.relation_activity,
	tablespace_advisor.counter_window,
	float8,
	float8);
DROP FUNCTION tablespace_advisor.placement_verdict(
	tablespace_advisor.relation_activity,
	float8,
	tablespace_advisor.tablespace_fact,
	tablespace_advisor.tablespace_fact,
	boolean,
	float8,
	float8,
	float8);
DROP FUNCTION tablespace_advisor.three_digits(float8);
DROP FUNCTION tablespace_advisor.business_cycle_days();
DROP FUNCTION tablespace_advisor.placement_account(
	tablespace_advisor.relation_activity[],
	tablespace_advisor.tablespace_fact[],
	name,
	float8);
DROP FUNCTION tablespace_advisor.tablespace_facts(oid);
DROP TYPE tablespace_advisor.tablespace_fact;
DROP VIEW tablespace_advisor.relation_activity;
DROP VIEW tablespace_advisor.index_role;
DROP VIEW tablespace_advisor.counter_window;
DROP FUNCTION @extschema@.recommend_random_page_cost(name);
DROP FUNCTION tablespace_advisor.check_tablespace(name);
DROP VIEW tablespace_advisor.tablespace_cost_setting;
DROP VIEW tablespace_advisor.tablespace_latency;
DROP VIEW tablespace_advisor.current_probe_result;
DROP FUNCTION @extschema@.estimate_pgbench_scale(text, text, int, int);
DROP FUNCTION @extschema@.estimate_pgbench_size(int, int, int);
DROP FUNCTION tablespace_advisor.empty_database_bytes();
DROP FUNCTION tablespace_advisor.pgbench_nearest_scale(
	bigint, text, int, int, bigint);
DROP FUNCTION tablespace_advisor.pgbench_forks(int, int, int, int);
DROP FUNCTION @extschema@.probe_tablespace(
	name, interval, text, int[], text[], text);
DROP FUNCTION @extschema@.tablespace_devices();
DROP FUNCTION tablespace_advisor.tablespace_device(oid);


/* Finds the jobs that are left to finish among all that have ended. */
CREATE INDEX job_left_to_do_idx ON tablespace_advisor.job (batch_id)
	WHERE state IN ('queued', 'running', 'paused')
		OR new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL;

/* 0 stands for the database's own tablespace, wherever that is. */
UPDATE tablespace_advisor.job j SET
	new_tablespaces = array_replace(j.new_tablespaces, d.dattablespace, 0::oid),
	old_tablespaces = array_replace(j.old_tablespaces, d.dattablespace, 0::oid)
FROM pg_database d
WHERE d.datname = current_database() AND j.database = d.oid
	AND (j.new_tablespaces IS NOT NULL OR j.old_tablespaces IS NOT NULL);

ALTER TABLE tablespace_advisor.job
	ADD COLUMN present_mb_per_s float8,
	ADD COLUMN rate_reason text,
	ADD COLUMN until timestamptz,
	ADD COLUMN lock_up_to bigint,
	DROP CONSTRAINT job_method_check,
	ADD CONSTRAINT job_method_check
		CHECK (method IN ('copy', 'rebuild', 'catalog', 'lock'));
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
REVOKE ALL ON FUNCTION tablespace_advisor.tablespace_device(oid) FROM PUBLIC;
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
AS $$
	SELECT d.* FROM tablespace_advisor.device d ORDER BY d.tablespace
$$;

COMMENT ON FUNCTION @extschema@.tablespace_devices() IS
$$the storage under every tablespace, as the kernel shows it (/proc/self/mountinfo, /sys); one row per tablespace.
location: target of the tablespace's symbolic link, or its directory. device: what is mounted (a path, an export, a pool). device_stack: all layers down to the disks, a -> b: a lies on b, [a, b]: on both.
media: rotational, solid state, memory, network or unknown (a virtual disk whose host does not tell, an unknown file system); of a device made of several the slowest.
raid_level, members, write_penalty (device accesses per small random write: 1 for raid0, the number of copies for raid1 and raid10, 4 for raid4 and raid5, 6 for raid6): of the topmost RAID (md, LVM, Btrfs), NULL without one. LVM's level is deduced from sizes: raid4 appears as raid5. degraded: some RAID in the stack lacks members.
redundant: the failure of any one device leaves the data intact. volatile: the contents are lost when the machine stops. NULL: cannot be known from here.
size_bytes, free_bytes: of the file system, free as the server may use it. read_ahead_kb: of the mounted device, in kB. scheduler, write_cache (write back: the device caches writes until told to flush): of the disks, or of a loop device over none.
shares_device_with: tablespaces with at least one disk in common. warnings: in words, empty if there are none.
Raises no error of its own: what cannot be found out is NULL, and a warning says why.$$;
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
GRANT SELECT ON tablespace_advisor.probe_run, tablespace_advisor.probe_result
	TO pg_monitor;

CREATE FUNCTION @extschema@.probe_tablespace(
	tablespace name,
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
	OUT caveat text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'probe_tablespace';
COMMENT ON FUNCTION @extschema@.probe_tablespace(name, interval, text, int[], text[], text) IS
'Measures the device under a tablespace, one row per workload and queue depth, and keeps the run in tablespace_advisor.probe_run and probe_result (not on a standby or in a read-only transaction).
tablespace: its name. duration: measuring time, 1 ms to 1 hour, shared equally by the rows; laying out the scratch file comes on top. file_size: 1 MB to 1 TB, as pg_size_bytes() reads it. queue_depths: requests kept in flight, 1 to 256, for random reads, random writes and mixed.
workloads: random read, sequential read, random write, sequential write, mixed (half reads, half writes), sync write (8 kB write + fdatasync), cached read (the page is in the page cache), skip read (short jumps forward), adjacent read (neighbouring pages through the emptied page cache, as a bitmap heap scan reads them); of the last two queue_depth is effective_io_concurrency: 0, 1 and the depth at which random reads, if measured before, come near their best. NULL means random read, sequential read, sync write, cached read, skip read and adjacent read: what every server does all the time and what later stages need, while the others load the device with writes and have to be asked for.
mode: scratch lays out a temporary file in the tablespace; existing reads the tablespace''s largest relation files and writes nothing (file_size is not used).
Results: io_size in bytes; iops per second; mb_per_s in MB of 1048576 bytes; times in microseconds from submit to completion. A percentile is NULL where the samples cannot support it (fewer than 6, 36, 72 and 368 for p50, p90, p95 and p99); mean_low_us and mean_high_us are the 95 % interval of the mean by batch means, NULL below 10 samples. No offset is used twice within a row, so a row ends early when it has used the whole file. caveat says why a row should not be trusted.
Errors: 42704 unknown tablespace; 22004 NULL; 22023 argument out of range; 42501 no CREATE on the tablespace (mode scratch); 53100 not enough space; 53400 temp_file_limit exceeded; 55000 no relation file to read (mode existing); 0A000 no asynchronous I/O here.';
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
	'Size in blocks and bytes of each relation fork that "pgbench -i --scale --fillfactor --partitions" of this server''s version makes, by page arithmetic; then the sum of these, "database (added)", and that plus the size of template1, "database (total)", whose blocks are NULL. scale: 1 or more; fillfactor: 10 to 100; partitions: 0 to the number of rows. Errors: 22004 for NULL, 22023 for a value out of range, 54000 for a scale that does not fit a relation.';

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
	'Scale at which "pgbench -i" comes nearest to target_size (text as pg_size_bytes() reads it), the smaller one of two. object: "database" (all relations plus the size of template1), "table" (pgbench_accounts with its forks) or "index" (pgbench_accounts_pkey); with partitions, the sum over them. Found by search over the sizes of estimate_pgbench_size(), so exact. Errors: 22004 for NULL, 22023 for a value out of range or a size that cannot be read, 54000 for a target that no scale reaches.';


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

REVOKE ALL ON FUNCTION tablespace_advisor.watch_waits(int, float8),
	tablespace_advisor.sum_waits(jsonb[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tablespace_advisor.watch_waits(int, float8),
	tablespace_advisor.sum_waits(jsonb[]) TO pg_monitor;

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
REVOKE ALL ON tablespace_advisor.sample FROM PUBLIC;

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
	PRIMARY KEY (sample_id, relation)
);
REVOKE ALL ON tablespace_advisor.relation_sample FROM PUBLIC;

COMMENT ON TABLE tablespace_advisor.relation_sample IS
	'what happened to a relation between a sample and the one before it; relations whose counters and size did not change have no row, and NULL means zero. reads, hits: blocks read past shared buffers and found in them; scans: scans begun; tuples_read: rows or index entries read by them; inserted, updated, hot_updated (HOT ones among them), deleted: row versions; cached_reads: reads times the share of its blocks outside of shared buffers that the system''s cache had, on average of this sample and the one before, NULL: not known; size_bytes: of all forks, at the end';

CREATE TABLE tablespace_advisor.tablespace_sample (
	sample_id int NOT NULL,
	tablespace oid NOT NULL,
	used_bytes bigint NOT NULL,
	free_bytes bigint,
	PRIMARY KEY (sample_id, tablespace)
);
REVOKE ALL ON tablespace_advisor.tablespace_sample FROM PUBLIC;

COMMENT ON TABLE tablespace_advisor.tablespace_sample IS
	'per sample and tablespace: bytes of this database''s relations, and bytes free in the file system (NULL: not known)';

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
	system_cached real
) WITH (fillfactor = 70);
REVOKE ALL ON tablespace_advisor.sampled_relation FROM PUBLIC;

COMMENT ON TABLE tablespace_advisor.sampled_relation IS
	'size and counters (see relation_sample) of every relation in the last sample; filenode_since: since when it has this file, counted_since: since when it is counted, NULL: not known; system_cached: share of its blocks outside of shared buffers that the system''s cache had then, NULL: not known, or not read since the sample before';

GRANT SELECT ON tablespace_advisor.sample, tablespace_advisor.relation_sample,
	tablespace_advisor.tablespace_sample, tablespace_advisor.sampled_relation
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

/* The same by lookups: of few tables among many. */
CREATE FUNCTION tablespace_advisor.inventory_of(tables oid[])
RETURNS SETOF tablespace_advisor.relation_inventory
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH heap AS MATERIALIZED (
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
	WHERE c.relpersistence <> 't' AND c.oid >= 16384 AND c.relfilenode <> 0
$$;

COMMENT ON FUNCTION tablespace_advisor.inventory_of(oid[]) IS
	'the rows of relation_inventory that belong to these tables';

/* A TOAST table depends on its table, whatever it is called. */
CREATE FUNCTION tablespace_advisor.tables_of(relations oid[])
RETURNS SETOF oid
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT DISTINCT coalesce(d.refobjid, i.indrelid, c.oid)
	FROM unnest(relations) r
	JOIN pg_class c ON c.oid = r
	LEFT JOIN pg_index i ON i.indexrelid = c.oid
	LEFT JOIN pg_depend d ON c.relnamespace = 'pg_toast'::regnamespace
		AND d.classid = 'pg_class'::regclass AND d.objsubid = 0
		AND d.objid = coalesce(i.indrelid, c.oid)
		AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i'
$$;

COMMENT ON FUNCTION tablespace_advisor.tables_of(oid[]) IS
	'the tables that these tables, indexes and TOAST tables belong to';

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
	pg_stat_get_tuples_deleted(i.relation) AS deleted
FROM tablespace_advisor.relation_inventory i;

COMMENT ON VIEW tablespace_advisor.relation_counter IS
	'relation_inventory with the counters of the statistics as they are now, see relation_sample';

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
	tablespace_advisor.relation_counter, tablespace_advisor.statistics_start
	TO pg_monitor;
REVOKE ALL ON FUNCTION tablespace_advisor.inventory_of(oid[]),
	tablespace_advisor.tables_of(oid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tablespace_advisor.inventory_of(oid[]),
	tablespace_advisor.tables_of(oid[]) TO pg_monitor;

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
	system_cached float8
);

COMMENT ON TYPE tablespace_advisor.relation_rate IS
	'what a relation was read and written per second over a window. reads, hits: blocks read past shared buffers and found in them; writes: row versions written (heap: inserts, updates, deletes; index: inserts and updates that are not HOT, at most; TOAST: its own); scans: scans begun; tuples: rows or index entries read by them; hot_fraction: share of the table''s updates that are HOT, NULL without updates; scans_total: scans since counted_since (NULL: not known); was_reset: its counters began anew within the window; system_cached: share of its reads that the system''s cache served, by the pages it had (at both ends of each sample), NULL: not known';

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
		ORDER BY p.sample_id DESC LIMIT 1) l;

COMMENT ON VIEW tablespace_advisor.sample_interval IS
	'per sample but the first: what happened in the whole database since the one before; columns as in tablespace_advisor.sample. read_ms and write_ms are NULL unless track_io_timing was on';

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
		SELECT r.relation,
			sum(r.reads::float8) AS reads, sum(r.hits::float8) AS hits,
			sum(r.scans::float8) AS scans,
			sum(r.tuples_read::float8) AS tuples_read,
			sum(r.inserted::float8) AS inserted,
			sum(r.updated::float8) AS updated,
			sum(r.hot_updated::float8) AS hot_updated,
			sum(r.deleted::float8) AS deleted,
			sum(r.cached_reads::float8) AS cached_reads,
			sum(r.reads::float8) FILTER (WHERE r.cached_reads IS NOT NULL) AS looked_at
		FROM tablespace_advisor.relation_sample r
		WHERE r.sample_id BETWEEN first_id AND last_id
		GROUP BY r.relation
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
		coalesce(c.reads, 0) / n.seconds, coalesce(c.hits, 0) / n.seconds,
		tablespace_advisor.tuples_written(i.kind,
			coalesce(h.inserted, 0), coalesce(h.updated, 0),
			coalesce(h.hot_updated, 0), coalesce(h.deleted, 0)) / n.seconds,
		coalesce(c.scans, 0) / n.seconds, coalesce(c.tuples_read, 0) / n.seconds,
		h.hot_updated / nullif(h.updated, 0),
		coalesce(s.scans, 0), s.counted_since,
		coalesce(s.counted_since > window_of.window_start, false),
		c.cached_reads / nullif(c.looked_at, 0)
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
			l.deleted - f.keeps * coalesce(e.deleted, 0) AS deleted
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
		z.size_bytes, c.reads / n.seconds, c.hits / n.seconds,
		tablespace_advisor.tuples_written(c.kind, h.inserted, h.updated,
			h.hot_updated, h.deleted) / n.seconds,
		c.scans / n.seconds, c.tuples_read / n.seconds,
		h.hot_updated::float8 / nullif(h.updated, 0),
		c.scans_total, coalesce(b.stats_reset, b.server_since), c.fell, NULL
		)::tablespace_advisor.relation_rate)
	FROM change c
	JOIN change h ON h.relation = coalesce(c.indexed, c.relation)
	CROSS JOIN tablespace_advisor.statistics_start b
	CROSS JOIN (SELECT nullif(subtract_counters.seconds, 0) AS seconds) n
	CROSS JOIN LATERAL
		(SELECT tablespace_advisor.file_bytes(c.tablespace, c.filenode)
			AS size_bytes) z
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
	OUT relations tablespace_advisor.relation_rate[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	seconds float8 := extract(epoch FROM duration);
	snapshots int;
	before tablespace_advisor.observation;
	counters tablespace_advisor.relation_counter[];
	counters_after tablespace_advisor.relation_counter[];
BEGIN
	IF seconds < 0.1 OR seconds > 86400 THEN
		RAISE EXCEPTION 'observe must be between 100 ms and 1 day'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	snapshots := least(greatest(seconds / 0.1, 1), 1000);
	counters := tablespace_advisor.read_counters(tables);
	before := tablespace_advisor.read_database();
	window_of.profile := tablespace_advisor.watch_waits(snapshots,
		seconds / snapshots);
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
	OUT relations tablespace_advisor.relation_rate[])
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
	ELSE
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
	'what this database and its relations (of the tables given, or all; with_active: at least of those and of tables that did anything) did per second. observe: watch for so long; without it from samples of the last history, without those from the totals since counters began (source: observed, samples, totals). intervals: samples in the window; was_reset: counters were reset within the window, for totals: window_start is a reset of this database, else the whole server''s, and counters may be younger. reads_per_s, hits_per_s: blocks of the whole database; read_ms_per_s, timed_read_us: milliseconds per second and microseconds per block that the server timed for reads, NULL without track_io_timing; snapshots: looks at pg_stat_activity; reading_snapshots: those in which any session of the server waited for a data file read; active_sessions: mean number of this database''s; reading_sessions: mean number of the server''s sessions that waited for a data file read, over those looks; waits: mean number of active sessions by wait class and event. Errors: 22023 observe out of range';

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
	system_cached float8)
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
REVOKE ALL ON FUNCTION
	tablespace_advisor.observe_samples(interval, oid[], boolean),
	tablespace_advisor.tuples_written(text, float8, float8, float8, float8),
	tablespace_advisor.read_counters(oid[]),
	tablespace_advisor.subtract_counters(tablespace_advisor.relation_counter[], tablespace_advisor.relation_counter[], float8),
	tablespace_advisor.read_database(),
	tablespace_advisor.watch_database(interval, oid[]),
	tablespace_advisor.observe_database(interval, oid[], interval, boolean),
	tablespace_advisor.observed_activity(interval, oid[], interval)
	FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
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
	'per relation given: blocks of its main fork (NULL: no file), how many of them are in shared buffers, and how many in the cache of the operating system (NULL: it does not say; extrapolated from some max_bytes of larger files). A block may be in both; system_only_blocks: those in the system''s cache that are not in shared buffers. Takes no lock on the relations';

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

REVOKE ALL ON FUNCTION
	tablespace_advisor.file_bytes(oid, oid),
	tablespace_advisor.relation_bytes(oid),
	tablespace_advisor.relations_residency(oid[], bigint),
	tablespace_advisor.relation_residency(oid)
	FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.file_bytes(oid, oid),
	tablespace_advisor.relation_bytes(oid),
	tablespace_advisor.relations_residency(oid[], bigint),
	tablespace_advisor.relation_residency(oid)
	TO pg_monitor;

/*
 * src/sample/sample.sql
 *
 * Taking a sample.  take_sample() runs as its owner, a superuser: by hand for
 * members of pg_monitor, in the background by worker.c.  It names nothing that
 * others could have made, and calls no code of theirs; take.c keeps them from
 * dropping the extension meanwhile, and making their own under its names.
 *
 * Two at a time would count the same activity twice, hence the lock.
 */
CREATE FUNCTION tablespace_advisor.read_statements(
	OUT statements bigint,
	OUT statements_ms float8)
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'tsa_read_statements';

COMMENT ON FUNCTION tablespace_advisor.read_statements() IS
	'calls and milliseconds of execution of all statements in this database by pg_stat_statements; NULL without it, 55000 if its library is not loaded';

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
 * relations with changed counters are looked at.
 */
CREATE FUNCTION tablespace_advisor.add_relation_samples(
	s tablespace_advisor.sample)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH present AS MATERIALIZED (
		SELECT c.* FROM tablespace_advisor.relation_counter c
	), changed AS MATERIALIZED (
		SELECT p.*, z.size_bytes,
			o.relation IS NULL AS is_new,
			o.filenode IS NOT DISTINCT FROM p.filenode AS same_file,
			o.filenode_since, o.counted_since, o.system_cached AS old_cached,
			f.fell,
			NOT (o.relation IS NULL OR f.fell) AS continues,
			o.reads AS old_reads, o.hits AS old_hits, o.scans AS old_scans,
			o.tuples_read AS old_tuples_read, o.inserted AS old_inserted,
			o.updated AS old_updated, o.hot_updated AS old_hot_updated,
			o.deleted AS old_deleted
		FROM present p
		LEFT JOIN tablespace_advisor.sampled_relation o USING (relation)
		CROSS JOIN LATERAL
			(SELECT s.was_reset OR p.reads < o.reads OR p.hits < o.hits
				OR p.scans < o.scans OR p.tuples_read < o.tuples_read
				OR p.inserted < o.inserted OR p.updated < o.updated
				OR p.hot_updated < o.hot_updated
				OR p.deleted < o.deleted AS fell) f
		CROSS JOIN LATERAL
			(SELECT tablespace_advisor.file_bytes(p.tablespace, p.filenode)
				AS size_bytes) z
		WHERE (o.relation IS NULL OR f.fell
				OR p.reads <> o.reads OR p.hits <> o.hits
				OR p.scans <> o.scans OR p.tuples_read <> o.tuples_read
				OR p.inserted <> o.inserted OR p.updated <> o.updated
				OR p.deleted <> o.deleted OR p.filenode <> o.filenode
				OR p.tablespace <> o.tablespace)
			AND z.size_bytes IS NOT NULL
	), resident AS MATERIALIZED (
		SELECT p.relation, tablespace_advisor.cached_share(
				p.blocks, p.shared_blocks, p.system_only_blocks) AS cached
		FROM tablespace_advisor.relations_residency(
			array(SELECT c.relation FROM changed c
				WHERE c.reads > CASE WHEN c.continues THEN c.old_reads ELSE 0 END),
			64 * 1048576) p
	), forgotten AS (
		DELETE FROM tablespace_advisor.sampled_relation o
		WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = o.relation)
	), remembered AS (
		INSERT INTO tablespace_advisor.sampled_relation AS o
			(relation, tablespace, filenode, filenode_since, counted_since,
				size_bytes, reads, hits, scans, tuples_read,
				inserted, updated, hot_updated, deleted, system_cached)
		SELECT c.relation, c.tablespace, c.filenode,
			CASE WHEN c.same_file THEN c.filenode_since ELSE s.started_at END,
			CASE WHEN c.continues THEN c.counted_since
				WHEN s.started_at IS NOT NULL THEN s.started_at
				ELSE (SELECT coalesce(b.stats_reset, b.server_since)
					FROM tablespace_advisor.statistics_start b)
				END,
			c.size_bytes, c.reads, c.hits, c.scans, c.tuples_read,
			c.inserted, c.updated, c.hot_updated, c.deleted, r.cached
		FROM changed c LEFT JOIN resident r USING (relation)
		ON CONFLICT (relation) DO UPDATE
		SET tablespace = excluded.tablespace,
			filenode = excluded.filenode,
			filenode_since = excluded.filenode_since,
			counted_since = excluded.counted_since,
			size_bytes = excluded.size_bytes,
			reads = excluded.reads,
			hits = excluded.hits,
			scans = excluded.scans,
			tuples_read = excluded.tuples_read,
			inserted = excluded.inserted,
			updated = excluded.updated,
			hot_updated = excluded.hot_updated,
			deleted = excluded.deleted,
			system_cached = excluded.system_cached
	)
	INSERT INTO tablespace_advisor.relation_sample
		(sample_id, relation, size_bytes, reads, hits, scans, tuples_read,
			inserted, updated, hot_updated, deleted, cached_reads)
	SELECT s.sample_id, c.relation, c.size_bytes,
		nullif(c.reads - CASE WHEN c.continues THEN c.old_reads ELSE 0 END, 0),
		nullif(c.hits - CASE WHEN c.continues THEN c.old_hits ELSE 0 END, 0),
		nullif(c.scans - CASE WHEN c.continues THEN c.old_scans ELSE 0 END, 0),
		nullif(c.tuples_read
			- CASE WHEN c.continues THEN c.old_tuples_read ELSE 0 END, 0),
		nullif(c.inserted
			- CASE WHEN c.continues THEN c.old_inserted ELSE 0 END, 0),
		nullif(c.updated
			- CASE WHEN c.continues THEN c.old_updated ELSE 0 END, 0),
		nullif(c.hot_updated
			- CASE WHEN c.continues THEN c.old_hot_updated ELSE 0 END, 0),
		nullif(c.deleted
			- CASE WHEN c.continues THEN c.old_deleted ELSE 0 END, 0),
		(c.reads - CASE WHEN c.continues THEN c.old_reads ELSE 0 END)
			* CASE WHEN c.same_file AND c.old_cached IS NOT NULL
				THEN (r.cached + c.old_cached) / 2 ELSE r.cached END
	FROM changed c LEFT JOIN resident r USING (relation)
	WHERE s.started_at IS NOT NULL
$$;

COMMENT ON FUNCTION tablespace_advisor.add_relation_samples(tablespace_advisor.sample) IS
	'adds the rows of relation_sample that belong to a sample just begun, and brings sampled_relation up to date';

/*
 * Samples of more than two days ago become one per hour, those of more than
 * 30 days ago one per day (UTC).  Each becomes part of the last of its hour or
 * day.  Counters of the database are kept as they were, so that there is
 * nothing to add up.  A reset in the middle keeps its sample apart.
 */
CREATE FUNCTION tablespace_advisor.roll_up_samples(keep_days int)
RETURNS void
LANGUAGE sql VOLATILE
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
	), whole AS MATERIALIZED (
		/* an hour or day that has ended in the part that is old */
		SELECT p.unit, p.bucket, p.life,
			max(p.sample_id) AS sample_id, min(p.started_at) AS started_at,
			array_agg(p.sample_id) AS parts
		FROM part p
		WHERE p.bucket < date_trunc(p.unit, clock_timestamp()
			- CASE p.unit WHEN 'day' THEN interval '30 days'
				ELSE interval '2 days' END, 'UTC')
			AND p.started_at IS NOT NULL
		GROUP BY p.unit, p.bucket, p.life
		HAVING count(*) > 1 OR bool_or(p.covers <> p.unit)
	), member AS MATERIALIZED (
		SELECT w.sample_id AS whole_id, w.unit, w.started_at, m.part_id
		FROM whole w CROSS JOIN LATERAL unnest(w.parts) m(part_id)
	), moved AS (
		DELETE FROM tablespace_advisor.relation_sample r
		USING member m
		WHERE r.sample_id = m.part_id
		RETURNING m.whole_id, r.*
	), added AS (
		INSERT INTO tablespace_advisor.relation_sample
			(sample_id, relation, size_bytes, reads, hits, scans, tuples_read,
				inserted, updated, hot_updated, deleted, cached_reads)
		SELECT v.whole_id, v.relation,
			(array_agg(v.size_bytes ORDER BY v.sample_id DESC))[1],
			sum(v.reads), sum(v.hits), sum(v.scans), sum(v.tuples_read),
			sum(v.inserted), sum(v.updated), sum(v.hot_updated),
			sum(v.deleted), sum(v.cached_reads)
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
	), gone AS (
		DELETE FROM tablespace_advisor.sample s
		USING member m
		WHERE s.sample_id = m.part_id AND m.part_id <> m.whole_id
	)
	DELETE FROM tablespace_advisor.tablespace_sample t
	USING member m
	WHERE t.sample_id = m.part_id AND m.part_id <> m.whole_id;

	/* the last one stays: the next one is measured from it */
	DELETE FROM tablespace_advisor.sample s
	WHERE s.taken_at < clock_timestamp() - make_interval(days => keep_days)
		AND s.sample_id < (SELECT max(l.sample_id) FROM tablespace_advisor.sample l);
	DELETE FROM tablespace_advisor.relation_sample r
	WHERE r.sample_id
		< (SELECT min(s.sample_id) FROM tablespace_advisor.sample s);
	DELETE FROM tablespace_advisor.tablespace_sample t
	WHERE t.sample_id
		< (SELECT min(s.sample_id) FROM tablespace_advisor.sample s)
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
	'takes a sample; what take_sample() calls';

CREATE FUNCTION tablespace_advisor.take_sample(snapshots int DEFAULT 10)
RETURNS int
LANGUAGE C STRICT VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'tsa_take_sample';

COMMENT ON FUNCTION tablespace_advisor.take_sample(int) IS
	'takes a sample, after so many looks at what sessions wait for, 50 ms apart, and returns its number. Errors: 25006 on a standby';

CREATE PROCEDURE @extschema@.sample_activity()
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$ SELECT tablespace_advisor.take_sample() $$;

COMMENT ON PROCEDURE @extschema@.sample_activity() IS
	'Keeps what every relation of this database was read and written since the last call, and what sessions wait for, for advice to rest on; a preloaded library does it by itself every tablespace_advisor.sample_interval. Takes about half a second. Errors: 25006 on a standby.';

REVOKE ALL ON FUNCTION tablespace_advisor.read_statements(),
	tablespace_advisor.statement_totals(),
	tablespace_advisor.cached_share(bigint, bigint, bigint),
	tablespace_advisor.add_sample(tablespace_advisor.sample, tablespace_advisor.wait_profile),
	tablespace_advisor.add_relation_samples(tablespace_advisor.sample),
	tablespace_advisor.roll_up_samples(int),
	tablespace_advisor.add_all_samples(int),
	tablespace_advisor.take_sample(int) FROM PUBLIC;
REVOKE ALL ON PROCEDURE @extschema@.sample_activity() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tablespace_advisor.take_sample(int) TO pg_monitor;
GRANT EXECUTE ON PROCEDURE @extschema@.sample_activity() TO pg_monitor;

/*
 * src/sample/table_residency.sql
 *
 * How much of a table caches hold, kept for the planner, which cannot look.
 * A table gets here when the locality of its indexes is measured, and from
 * then on every sample looks at it again.
 */
CREATE TABLE tablespace_advisor.table_residency (
	relation oid PRIMARY KEY,
	shared_fraction float8 NOT NULL,
	system_fraction float8 NOT NULL,
	measured_at timestamptz NOT NULL
);
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

REVOKE ALL ON FUNCTION
	tablespace_advisor.residency_shares(oid[]),
	tablespace_advisor.keep_residency(oid),
	tablespace_advisor.renew_plans(oid),
	tablespace_advisor.refresh_residency()
	FROM PUBLIC;

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
	OUT growth_low float8,
	OUT growth_high float8,
	OUT free_bytes bigint,
	OUT days_until_full float8,
	OUT days_low float8,
	OUT days_high float8,
	OUT history_days float8,
	OUT caveat text)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH place AS (
		SELECT h.tablespace AS oid, h.days, h.used, h.free,
			cardinality(h.days) AS n,
			h.days[cardinality(h.days)] - h.days[1] AS length
		FROM tablespace_advisor.usage_history() h
		UNION ALL
		SELECT DISTINCT i.tablespace, NULL::float8[], NULL::float8[],
			NULL::float8[], 0, 0::float8
		FROM tablespace_advisor.relation_inventory i
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
			WHEN p.n = 0 THEN 'no samples: CALL sample_activity(), or preload the library'
			WHEN f.oid IS NULL THEN format('history too short: %s days and %s samples; at least 1 day and 8 samples are needed',
				round(p.length::numeric, 1), p.n)
			WHEN p.free[p.n] IS NULL THEN 'free space is not known'
			WHEN f.until_full IS NOT NULL AND f.until_full_high IS NULL
				THEN 'it may never be full: the interval of its growth includes none'
			WHEN f.until_full > 10 * p.length THEN 'days_until_full is more than ten times as long as the history'
		END
	FROM place p
	JOIN pg_tablespace t ON t.oid = p.oid
	LEFT JOIN forecast f ON f.oid = p.oid
	ORDER BY f.until_full NULLS LAST, t.spcname
$$;

COMMENT ON FUNCTION @extschema@.forecast_tablespace_usage() IS
	'per tablespace that relations of this database are in: used_bytes: of these relations; growth_bytes_per_day: theirs, with a 95 % interval; free_bytes: in the file system; days_until_full: when it shrinks as it did, whoever fills it, with a 95 % interval, NULL: it does not shrink; history_days: from the first to the last sample; caveat: why not to trust the row, NULL if there is no reason. All from samples.';

REVOKE ALL ON FUNCTION tablespace_advisor.trend(float8[], float8[]),
	tablespace_advisor.usage_history(),
	@extschema@.forecast_tablespace_usage() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tablespace_advisor.trend(float8[], float8[]),
	tablespace_advisor.usage_history(),
	@extschema@.forecast_tablespace_usage() TO pg_monitor;

/* src/cost/assume.sql */

CREATE FUNCTION @extschema@.assume_placement(relation regclass, tablespace name)
RETURNS void
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'assume_placement';
COMMENT ON FUNCTION @extschema@.assume_placement(regclass, name) IS
	'From now on this session plans as if the table (without its indexes), the index, or all partitions of either lay in that tablespace; the plans can be run. Ends with forget_placements(), the session, and any error or rollback. Errors: 42P01, 42704 there is no such relation or tablespace, 42809 it has no storage, 22023 pg_global';

CREATE FUNCTION @extschema@.forget_placements()
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'forget_placements';
COMMENT ON FUNCTION @extschema@.forget_placements() IS
	'from now on this session plans with the tablespaces that relations really have';

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
	'the lines of EXPLAIN for one statement as if the tablespace had these page costs; sets them in a subtransaction that is rolled back, so it takes the owner of the tablespace and a server that is no standby. NULL leaves seq_page_cost as it is. Errors: 42501 not the owner, 42704 no such tablespace, 22023 pg_global or a cost out of range, 42601 no single statement, 25006 read-only';
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
	r.caveat
FROM tablespace_advisor.probe_run run
JOIN tablespace_advisor.probe_result r USING (run_id)
JOIN pg_tablespace t ON t.spcname = run.tablespace
WHERE pg_tablespace_location(t.oid) IN (run.location, '');

COMMENT ON VIEW tablespace_advisor.current_probe_result IS
	'results of probes of tablespaces that still lie where they were probed; page_us is the time per block at the measured throughput (microseconds); rows with a caveat are included and not to be trusted';

/*
 * Random reads count at depth 1 and block size, because that is how an index
 * scan reads; sequential ones by throughput, because read-ahead hides their
 * latency.  An older figure without a caveat is preferred to a newer one
 * with: the run is named, so that its age can be judged.
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
		ORDER BY r.run_id DESC, r.queue_depth LIMIT 1) AS sequential_read_caveat
FROM pg_tablespace t
LEFT JOIN LATERAL
	(SELECT r.*
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = t.oid AND r.workload = 'random read'
			AND r.queue_depth = 1
			AND r.io_size = current_setting('block_size')::int
			AND r.caveat IS NULL AND r.mean_us > 0
		ORDER BY r.run_id DESC LIMIT 1) random_read ON true
LEFT JOIN LATERAL
	(SELECT r.page_us
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = t.oid AND r.workload = 'sequential read'
			AND r.caveat IS NULL AND r.page_us > 0
		ORDER BY r.run_id DESC, r.queue_depth LIMIT 1) sequential_read ON true
LEFT JOIN LATERAL
	(SELECT r.page_us
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = t.oid AND r.workload = 'sequential write'
			AND r.caveat IS NULL AND r.page_us > 0
		ORDER BY r.run_id DESC, r.queue_depth LIMIT 1) sequential_write ON true
WHERE t.spcname <> 'pg_global';

COMMENT ON VIEW tablespace_advisor.tablespace_latency IS
	'per tablespace the latest measured times without a caveat, in microseconds: a random read of one block at queue depth 1 with the 95 % interval of its mean, and a page read or written sequentially; NULL where nothing trustworthy was measured, random_read_caveat and sequential_read_caveat say what was wrong with the newest';

CREATE VIEW tablespace_advisor.tablespace_cost_setting AS
SELECT t.oid AS tablespace_oid, t.spcname AS tablespace,
	coalesce(o.random_page_cost,
		current_setting('random_page_cost')::float8) AS random_page_cost,
	coalesce(o.seq_page_cost,
		current_setting('seq_page_cost')::float8) AS seq_page_cost,
	o.random_page_cost IS NOT NULL AS is_tablespace_option
FROM pg_tablespace t
CROSS JOIN LATERAL
	(SELECT
		max(option_value::float8)
			FILTER (WHERE option_name = 'random_page_cost') AS random_page_cost,
		max(option_value::float8)
			FILTER (WHERE option_name = 'seq_page_cost') AS seq_page_cost
		FROM pg_options_to_table(t.spcoptions)
		WHERE option_name IN ('random_page_cost', 'seq_page_cost')) o;

COMMENT ON VIEW tablespace_advisor.tablespace_cost_setting IS
	'the page costs this session plans with, per tablespace: an option of the tablespace beats the setting of the session';

GRANT SELECT ON tablespace_advisor.current_probe_result,
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

REVOKE ALL ON FUNCTION tablespace_advisor.check_tablespace(name) FROM PUBLIC;
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
LEFT JOIN LATERAL
	(SELECT r.page_us
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = l.tablespace_oid
			AND r.workload = 'skip read' AND r.queue_depth = 1
			AND r.page_us > 0
		ORDER BY r.caveat IS NOT NULL, r.run_id DESC LIMIT 1) skip_1 ON true
LEFT JOIN LATERAL
	(SELECT r.mean_us
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = l.tablespace_oid
			AND r.workload = 'cached read' AND r.mean_us > 0
		ORDER BY r.caveat IS NOT NULL, r.run_id DESC LIMIT 1) cached ON true
LEFT JOIN LATERAL
	(SELECT r.page_us
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = l.tablespace_oid
			AND r.workload = 'adjacent read' AND r.queue_depth = 0
			AND r.page_us > 0
		ORDER BY r.caveat IS NOT NULL, r.run_id DESC LIMIT 1) adjacent_0 ON true
LEFT JOIN LATERAL
	(SELECT r.page_us
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = l.tablespace_oid
			AND r.workload = 'adjacent read' AND r.queue_depth = 1
			AND r.page_us > 0
		ORDER BY r.caveat IS NOT NULL, r.run_id DESC LIMIT 1) adjacent_1 ON true
LEFT JOIN LATERAL
	(SELECT r.page_us, r.queue_depth, r.run_id
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = l.tablespace_oid
			AND r.workload = 'adjacent read' AND r.queue_depth > 1
			AND r.page_us > 0
		ORDER BY r.caveat IS NOT NULL, r.run_id DESC LIMIT 1) deep ON true
LEFT JOIN LATERAL
	(SELECT r.page_us
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = l.tablespace_oid AND r.run_id = deep.run_id
			AND r.workload = 'skip read' AND r.queue_depth = deep.queue_depth
			AND r.page_us > 0) skip_deep ON true
LEFT JOIN LATERAL
	(SELECT r.page_us
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = l.tablespace_oid AND r.run_id = deep.run_id
			AND r.workload = 'random read' AND r.queue_depth = deep.queue_depth
			AND r.page_us > 0) random_deep ON true;

COMMENT ON VIEW tablespace_advisor.read_times IS
	'per tablespace the measured microseconds to read a block: in a sequential scan, at random, after a short jump forward, from the system''s cache, and next to the one before in a bitmap heap scan at effective_io_concurrency 0, 1 and depth; skip_deep_us and random_deep_us are at that depth too. NULL: not measured';

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
COMMENT ON TABLE tablespace_advisor.index_locality IS
	'what measure_index_locality() found, one row per index; void as soon as one of the files is another, or the index or its table has grown by more than a fifth';
COMMENT ON COLUMN tablespace_advisor.index_locality.index_file IS
	'number of the index''s file at that time';
COMMENT ON COLUMN tablespace_advisor.index_locality.heap_file IS
	'number of the table''s file at that time';
COMMENT ON COLUMN tablespace_advisor.index_locality.points IS
	'one line per size of window: entries, windows, blocks, sequential, skip and random steps, steps back of 1 or 2 blocks, steps back of up to 256 (both among the random ones), adjacent, skip and far gaps, entries that lead to another block than the one before, lengths of the skip gaps added up';
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
'Finds out which blocks of the table windows of consecutive index entries lead to, per valid B-tree of a table, a partitioned table or of one index, and keeps it in tablespace_advisor.index_locality for tablespace_advisor.correct_locality (not on a standby or in a read-only transaction). One row per size of window; windows is how many were looked at, 0 where the row is extrapolated; the last row is the whole index.
heap_blocks: distinct blocks of the table per window. In index order a block counts where it is touched first: sequential_steps go forward by 1 or 2 blocks, skip_steps by up to 256, the rest are random_steps, among them backward_steps (back by 1 or 2) and backward_skip_steps (up to 256). block_changes: entries that lead to another block than the one before. In block order: adjacent_gaps, skip_gaps (up to 256), far_gaps. correlation: the planner''s; effective_correlation: the one with which its formula comes nearest to the measured times, NULL where the tablespace has not been probed.
Reads all of a small index and about half a million entries of a large one, at most tablespace_advisor.probe_max_iops pages per second. Errors: 42501 neither owner nor member of pg_monitor; 42809 no table or index; 22004 NULL.';

/* src/cost/recommend.sql: which random_page_cost, and why */

CREATE FUNCTION tablespace_advisor.weigh_random_page_cost(
	times float8[],
	indexes float8[],
	random_page_cost float8,
	seq_page_cost float8,
	effective_io_concurrency int,
	OUT best float8,
	OUT low float8,
	OUT high float8,
	OUT regret_current float8,
	OUT regret_best float8,
	OUT regret_locality float8,
	OUT gain_low float8,
	OUT measured_indexes int)
LANGUAGE C STABLE STRICT PARALLEL SAFE
AS 'MODULE_PATHNAME', 'weigh_random_page_cost';
COMMENT ON FUNCTION tablespace_advisor.weigh_random_page_cost(
	float8[], float8[], float8, float8, int) IS
	'the random_page_cost under which the planner''s choices cost least time, and how many times as long as the best plans its choices take now, then, and with locality corrected (geometric means); gain_low: the least improvement over all draws of the times. times: the columns of read_times from sequential_page_us on, then the interval of random_read_us. indexes: nine numbers each: OID, pages and rows of the table, pages and entries of the index, correlation, share held by caches, random_page_cost of the index (NULL: the table''s), height of the tree';

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
	indexes float8[],
	n int,
	cached_fraction float8)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH pair AS MATERIALIZED (
		SELECT coalesce(nullif(h.reltablespace, 0), d.dattablespace) AS spc,
			coalesce(nullif(x.reltablespace, 0), d.dattablespace) AS index_spc,
			h.oid AS heap, h.relpages, h.reltuples, x.oid AS index,
			x.relpages AS index_pages, x.reltuples AS index_tuples,
			s.correlation * CASE WHEN i.indnkeyatts > 1 THEN 0.75 ELSE 1 END
				AS correlation,
			row_number() OVER (PARTITION BY h.reltablespace
				ORDER BY h.relpages DESC, x.oid) AS rank
		FROM pg_class h
		JOIN pg_namespace ns ON ns.oid = h.relnamespace
		JOIN pg_database d ON d.datname = current_database()
		JOIN pg_index i ON i.indrelid = h.oid AND i.indisvalid
		JOIN pg_class x ON x.oid = i.indexrelid AND x.reltuples > 0
		JOIN pg_am am ON am.oid = x.relam AND am.amname = 'btree'
		JOIN pg_attribute a ON a.attrelid = h.oid AND a.attnum = i.indkey[0]
		JOIN pg_stats s ON s.schemaname = ns.nspname
			AND s.tablename = h.relname AND s.attname = a.attname
			AND NOT s.inherited AND s.correlation IS NOT NULL
		WHERE h.relkind IN ('r', 'm') AND h.relpages >= 64 AND h.reltuples > 0
			AND h.relpersistence <> 't'
			AND ns.nspname NOT IN ('pg_catalog', 'information_schema',
				'pg_toast', 'tablespace_advisor')
	), relation AS (
		SELECT p.heap AS oid FROM pair p WHERE p.rank <= 100
		UNION SELECT p.index FROM pair p WHERE p.rank <= 100
	), residency AS MATERIALIZED (
		SELECT r.relation, r.blocks,
			(r.shared_blocks + r.system_only_blocks)::float8 AS cached
		FROM tablespace_advisor.relations_residency(
			(SELECT coalesce(array_agg(oid), '{}') FROM relation)) r
		WHERE r.blocks > 0
	)
	SELECT p.spc,
		array_agg(f.field ORDER BY p.rank, f.n),
		count(DISTINCT p.index)::int,
		CASE WHEN bool_and(h.cached IS NOT NULL) THEN
			least((sum(h.cached) / nullif(sum(h.blocks), 0))::float8, 1)
		END
	FROM pair p
	LEFT JOIN residency h ON h.relation = p.heap
	JOIN tablespace_advisor.tablespace_cost_setting c
		ON c.tablespace_oid = p.index_spc
	CROSS JOIN LATERAL unnest(ARRAY[p.index::bigint::float8, p.relpages, p.reltuples,
		p.index_pages, p.index_tuples, p.correlation,
		coalesce(h.cached / nullif(h.blocks, 0), 0),
		CASE WHEN p.index_spc <> p.spc THEN c.random_page_cost END,
		greatest(ceil(ln(greatest(p.index_pages, 1)) / ln(300.0)), 0)]::float8[])
		WITH ORDINALITY f (field, n)
	WHERE p.rank <= 100
	GROUP BY p.spc
$$;
COMMENT ON FUNCTION tablespace_advisor.weighable_indexes() IS
	'per tablespace what weigh_random_page_cost() wants to know of the tables there and their B-trees, how many of the latter there are, and the share of the tables'' blocks that caches hold now (NULL: not known)';

/*
 * The depth at which random reads come near their best, of the latest run
 * that measured several, and what that does to neighbouring pages.
 */
CREATE VIEW tablespace_advisor.read_concurrency AS
WITH depth AS (
	SELECT r.tablespace_oid, r.run_id, r.queue_depth, r.iops,
		max(r.iops) OVER (PARTITION BY r.tablespace_oid) AS peak,
		lead(r.iops) OVER (PARTITION BY r.tablespace_oid
			ORDER BY r.queue_depth) AS next_iops
	FROM (SELECT c.tablespace_oid, c.run_id, c.queue_depth, 1e6 / c.page_us AS iops,
			max(c.run_id) OVER (PARTITION BY c.tablespace_oid) AS latest
		FROM tablespace_advisor.current_probe_result c
		WHERE c.workload = 'random read' AND c.page_us > 0
			AND EXISTS (SELECT FROM tablespace_advisor.current_probe_result o
				WHERE o.run_id = c.run_id AND o.workload = c.workload
					AND o.queue_depth <> c.queue_depth)) r
	WHERE r.run_id = r.latest
)
SELECT d.tablespace_oid, min(d.queue_depth) AS depth
FROM depth d
WHERE d.iops >= 0.9 * d.peak AND coalesce(d.next_iops < 1.1 * d.iops, true)
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
	undo_statement text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH wanted AS MATERIALIZED (
		SELECT tablespace_advisor.check_tablespace($1) AS tablespace
	), measured AS MATERIALIZED (
		SELECT l.tablespace_oid, l.tablespace, l.random_read_us,
			l.sequential_page_us, l.samples, l.run_id, l.measured_at,
			l.random_read_caveat, l.sequential_read_caveat,
			l.random_read_low_us, l.random_read_high_us,
			c.random_page_cost, c.seq_page_cost, c.is_tablespace_option,
			l.random_read_us IS NOT NULL
				AND l.sequential_page_us IS NOT NULL AS is_probed,
			l.measured_at < now() - interval '30 days' AS is_old,
			t.adjacent_0_us, t.adjacent_1_us, t.adjacent_deep_us,
			t.random_deep_us,
			ARRAY[l.sequential_page_us, l.random_read_us, t.skip_read_us,
				t.cached_read_us, t.adjacent_0_us, t.adjacent_1_us, t.depth,
				t.adjacent_deep_us, t.skip_deep_us, t.random_deep_us,
				l.random_read_low_us, l.random_read_high_us] AS times,
			r.depth AS best_depth,
			w.indexes, w.n, w.cached_fraction
		FROM wanted
		JOIN tablespace_advisor.tablespace_latency l
			ON wanted.tablespace IS NULL OR l.tablespace = wanted.tablespace
		JOIN tablespace_advisor.tablespace_cost_setting c USING (tablespace_oid)
		JOIN tablespace_advisor.read_times t USING (tablespace_oid)
		LEFT JOIN tablespace_advisor.read_concurrency r USING (tablespace_oid)
		LEFT JOIN tablespace_advisor.weighable_indexes() w USING (tablespace_oid)
	), advised AS (
		SELECT m.*, g.*, o.others,
			CASE
				WHEN m.best_depth IS NULL THEN NULL
				WHEN m.best_depth <= 1 THEN
					CASE WHEN m.adjacent_1_us > 1.1 * m.adjacent_0_us THEN 0 ELSE 1 END
				WHEN m.adjacent_deep_us - m.adjacent_0_us
						> m.random_read_us - m.random_deep_us THEN 0
				ELSE greatest(round(m.best_depth
					/ coalesce(tablespace_advisor.concurrent_readers(), 1)), 1)::int
			END AS io_concurrency
		FROM measured m
		LEFT JOIN LATERAL tablespace_advisor.weigh_random_page_cost(
			m.times, m.indexes, m.random_page_cost, m.seq_page_cost,
			current_setting('effective_io_concurrency')::int) g
			ON m.is_probed AND m.indexes IS NOT NULL
		LEFT JOIN LATERAL (
			SELECT string_agg(format('%s for %s (%s times)',
				s.random_page_cost, s.setter,
				round(r.regret_current::numeric, 2)), ', ' ORDER BY s.setter) AS others
			FROM tablespace_advisor.role_cost_setting s
			CROSS JOIN LATERAL tablespace_advisor.weigh_random_page_cost(
				m.times, m.indexes, s.random_page_cost, m.seq_page_cost,
				current_setting('effective_io_concurrency')::int) r
			WHERE s.random_page_cost <> m.random_page_cost) o
			ON m.is_probed AND m.indexes IS NOT NULL
	), judged AS (
		SELECT a.*,
			CASE
				WHEN NOT a.is_probed THEN 'not probed'
				WHEN a.n IS NULL THEN 'nothing to weigh'
				WHEN a.cached_fraction IS NULL THEN 'caches unknown'
				WHEN a.random_page_cost BETWEEN a.low AND a.high THEN 'flat'
				WHEN a.regret_current / a.regret_best < 1.03 OR a.gain_low <= 1
					THEN 'no gain'
				WHEN a.regret_current - a.regret_best
						< 0.25 * (a.regret_current - 1)
					AND a.regret_locality < a.regret_best THEN 'locality'
				WHEN a.is_old THEN 'old'
				ELSE 'gain'
			END AS finding
		FROM advised a
	), concluded AS (
		SELECT j.*,
			CASE WHEN j.finding IN ('not probed', 'old') THEN 'probe first'
				WHEN j.finding = 'gain' THEN 'change' ELSE 'keep' END AS verdict,
			CASE WHEN j.is_tablespace_option THEN 'option of the tablespace'
				ELSE format('setting random_page_cost (%s)',
					(SELECT s.source FROM pg_settings s
						WHERE s.name = 'random_page_cost')) END AS setting,
			format('a random read takes %s times as long as a sequential page (run %s of %s, %s random reads at depth 1)',
				round((j.random_read_us / j.sequential_page_us)::numeric, 1),
				j.run_id, to_char(j.measured_at, 'YYYY-MM-DD HH24:MI'),
				j.samples) AS probe,
			format('over %s of %s here, each at selectivities from one row to all (which ones queries use is not known), %s %% of the table blocks being in caches, the planner''s choices take %s times as long as the best plans',
				CASE WHEN j.n = 1 THEN '1 index' ELSE j.n || ' indexes' END,
				CASE WHEN j.measured_indexes = 0 THEN 'assumed locality'
					WHEN j.measured_indexes = j.n THEN 'measured locality'
					ELSE 'which ' || j.measured_indexes || ' have measured locality'
				END,
				round((100 * j.cached_fraction)::numeric),
				round(j.regret_current::numeric, 2)) AS weighed
		FROM judged j
	)
	SELECT c.tablespace, c.verdict,
		CASE c.verdict WHEN 'change' THEN c.best WHEN 'keep' THEN c.random_page_cost END,
		CASE WHEN c.verdict <> 'probe first' THEN c.low END,
		CASE WHEN c.verdict <> 'probe first' THEN c.high END,
		CASE WHEN c.is_probed THEN c.seq_page_cost END,
		CASE WHEN c.is_probed THEN c.io_concurrency END,
		CASE WHEN c.is_probed THEN c.best_depth END,
		c.random_page_cost, c.random_read_us, c.sequential_page_us,
		c.cached_fraction,
		c.regret_current,
		CASE c.verdict WHEN 'change' THEN c.regret_best
			WHEN 'keep' THEN c.regret_current END,
		CASE c.verdict
			WHEN 'probe first' THEN
				format('SELECT * FROM %s.probe_tablespace(%L::pg_catalog.name)',
					'@extschema@', c.tablespace)
			WHEN 'change' THEN
				format('ALTER TABLESPACE %I SET (random_page_cost = %s)',
					c.tablespace, c.best)
		END,
		CASE c.finding
			WHEN 'not probed' THEN
				'no trustworthy measurement of '
					|| concat_ws(' nor of ',
						CASE WHEN c.random_read_us IS NULL THEN
							'random reads at depth 1'
								|| coalesce(' (' || c.random_read_caveat || ')', '')
						END,
						CASE WHEN c.sequential_page_us IS NULL THEN
							'sequential reads'
								|| coalesce(' (' || c.sequential_read_caveat || ')', '')
						END)
			WHEN 'nothing to weigh' THEN
				c.probe || format('; no analyzed table with a B-tree and at least 64 pages lies there in this database, so there is no plan to be made better and the %s stays', c.setting)
			WHEN 'caches unknown' THEN
				c.probe || format('; how much of the tables the caches hold is not known, and the ratio alone is no reason to change the %s', c.setting)
			WHEN 'flat' THEN
				c.probe || '; ' || c.weighed || format(': the %s is as good as any between %s and %s', c.setting, c.low, c.high)
			WHEN 'no gain' THEN
				c.probe || '; ' || c.weighed || format(', with %s they would take %s times as long: too little, or too uncertain, to change the %s',
					c.best, round(c.regret_best::numeric, 2), c.setting)
			WHEN 'locality' THEN
				c.probe || '; ' || c.weighed || format(', and still %s times with the best constant, %s: no constant helps much here. With tablespace_advisor.correct_locality = on they would take %s times as long%s',
					round(c.regret_best::numeric, 2), c.best,
					round(c.regret_locality::numeric, 2),
					CASE WHEN c.measured_indexes < c.n THEN
						' (call measure_index_locality() for the tables first)'
					ELSE '' END)
			WHEN 'old' THEN
				format('the probe is %s days old (run %s): probe again before anything is changed. By it, ',
					extract(day FROM now() - c.measured_at), c.run_id)
					|| c.weighed || format(', with %s %s times',
						c.best, round(c.regret_best::numeric, 2))
			ELSE
				c.probe || '; ' || c.weighed || format(', with %s they would take %s times as long (any value between %s and %s is about as good). An option of the tablespace beats what is set for the session, the role or the database%s',
					c.best, round(c.regret_best::numeric, 2), c.low, c.high,
					CASE WHEN c.regret_locality < c.regret_best - 0.05 THEN
						format('; with tablespace_advisor.correct_locality = on it would be %s times',
							round(c.regret_locality::numeric, 2))
					ELSE '' END)
		END || CASE
			WHEN c.others IS NULL OR c.finding = 'caches unknown' THEN ''
			WHEN c.is_tablespace_option OR c.finding = 'gain' THEN
				'. The option beats what is set elsewhere: ' || c.others
			ELSE '. Elsewhere another value is set: ' || c.others
		END,
		CASE WHEN c.verdict = 'change' THEN
			CASE WHEN c.is_tablespace_option THEN
				format('ALTER TABLESPACE %I SET (random_page_cost = %s)',
					c.tablespace, c.random_page_cost)
			ELSE
				format('ALTER TABLESPACE %I RESET (random_page_cost)', c.tablespace)
			END
		END
	FROM concluded c
	ORDER BY c.tablespace
$$;

COMMENT ON FUNCTION @extschema@.recommend_random_page_cost(name) IS
	'what random_page_cost each tablespace (or the one named) should have, weighed by the plans it leads to for the tables of this database. verdict: "probe first" (statement is the call to make), "keep" (random_page_cost is the current value) or "change" (statement sets it, undo_statement takes it back). low, high: about as good between these; regret_current, regret_recommended: how many times as long as the best plans the planner''s choices are predicted to take; cached_fraction: share of the tables'' blocks in caches now; effective_io_concurrency, maintenance_io_concurrency: by the random reads measured at several depths. random_read_us, sequential_page_us: measured microseconds per page, from the latest probe without a caveat. NULL: nobody has measured or computed it. Errors: 42704 no such tablespace, 22023 pg_global';

REVOKE ALL ON FUNCTION @extschema@.recommend_random_page_cost(name),
	tablespace_advisor.weighable_indexes(),
	tablespace_advisor.concurrent_readers(),
	tablespace_advisor.weigh_random_page_cost(
		float8[], float8[], float8, float8, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.recommend_random_page_cost(name),
	tablespace_advisor.weighable_indexes(),
	tablespace_advisor.concurrent_readers(),
	tablespace_advisor.weigh_random_page_cost(
		float8[], float8[], float8, float8, int) TO pg_monitor;

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
			set_config('enable_indexonlyscan', 'off', true),
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
	SELECT v.unit, v.ns, v.cost, v.ns / nullif(v.cost, 0)
	FROM (VALUES
		('cpu_tuple_cost', tuple_ns, current_setting('cpu_tuple_cost')::float8),
		('cpu_index_tuple_cost', index_ns, current_setting('cpu_index_tuple_cost')::float8),
		('cpu_operator_cost', operator_ns, current_setting('cpu_operator_cost')::float8))
		v (unit, ns, cost);
END
$$;
COMMENT ON FUNCTION @extschema@.calibrate_cost_units() IS
	'what the planner''s CPU cost units take on this server: nanoseconds per row, per index entry and per comparison (medians of three runs over a temporary table of 200 000 rows in memory), beside the present setting; nanoseconds_per_cost should be about the same in all three. Errors: 25006 read-only transaction or standby';
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
/*
 * src/advise/catalog.sql
 *
 * The facts that advice rests on, as types, and where the catalogs and the
 * statistics say them.  Nothing here takes a lock on a relation it looks at:
 * advice must not wait behind somebody's ALTER TABLE.  (So definitions are
 * compared as the catalog stores them, pg_get_expr() would lock.)
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
	'one relation''s advice. rank: order of moves, NULL for other rows; action: move, keep, probe first, drop candidate or rebuild; to_tablespace: where it should be; size_bytes: all forks, of a table with TOAST; saved_ms_per_s, saved_percent: reading (and extra writing) that following this row saves, in milliseconds per second and in percent of the table''s read time, NULL when not known; statement: what to run; reads_per_s: blocks read past shared buffers; writes_per_s: row versions written; cached_fraction: share of block accesses that shared buffers or the system''s cache serve; read_ms_per_s: milliseconds of reading in each second; move_seconds: how long the move takes at measured rates';

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
	left_lately name[]
);
COMMENT ON TYPE tablespace_advisor.relation_fact IS
	'what advice has to know of a heap (with its TOAST table) or an index: bytes of all forks, toast_bytes of them TOAST, rebuilt_bytes what a rebuilt index would take, brin_bytes what a BRIN index would; activity per second in the window of load_fact; hot_fraction: share of the table''s updates that are HOT; system_cached: share of its blocks in the system''s cache; scans and row versions written in counted_days; column_name, expression: what an index is on if that is one thing; unusable, needed_for, duplicate_of: see index_role; obstacle: why it cannot be moved while in use; left_lately: tablespaces it was moved away from within a week. NULL: not known';

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
	available_bytes bigint
);
COMMENT ON TYPE tablespace_advisor.tablespace_fact IS
	'what advice has to know of a tablespace: measured times in microseconds (see tablespace_latency), random reads at each probed depth, the write that was probed; copy_rates: bytes per second of earlier moves to it by tablespace they came from; whether relations may be made there, the device under it; available_bytes: what may be filled, less than 0 when it is over its mark, NULL when not known';

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
	standbys text
);
COMMENT ON TYPE tablespace_advisor.load_fact IS
	'the window over which activity was counted and what the whole database did in it: see observe_database(); checkpoint_s: seconds between checkpoints; wal_per_byte: WAL that earlier copies wrote per byte copied; standbys: servers whose own counters are not included';

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

/* Of indexes with one definition the one that is hardest to replace stays. */
CREATE VIEW tablespace_advisor.duplicate_index AS
SELECT i.indexrelid, i.indrelid, o.stays AS duplicate_of
FROM tablespace_advisor.index_role i
CROSS JOIN LATERAL
	(SELECT o.indexrelid AS stays
		FROM tablespace_advisor.index_role o
		WHERE o.indrelid = i.indrelid AND o.indexrelid <> i.indexrelid
			AND o.definition = i.definition AND o.unusable IS NULL
			AND (NOT i.indisunique OR (o.indisunique AND o.indimmediate
				AND o.indnullsnotdistinct = i.indnullsnotdistinct))
			AND (o.is_pinned, o.indisunique,
					pg_stat_get_numscans(o.indexrelid), i.indexrelid::bigint)
				> (i.is_pinned, i.indisunique,
					pg_stat_get_numscans(i.indexrelid), o.indexrelid::bigint)
		ORDER BY o.is_pinned DESC, o.indisunique DESC,
			pg_stat_get_numscans(o.indexrelid) DESC, o.indexrelid
		LIMIT 1) o
WHERE NOT i.is_pinned;
COMMENT ON VIEW tablespace_advisor.duplicate_index IS
	'indexes that another one of their table could replace, having the same definition';

GRANT SELECT ON tablespace_advisor.index_role,
	tablespace_advisor.duplicate_index TO pg_monitor;

/*
 * Bytes that a B-tree with these entries takes when it is built: 8 bytes of
 * tuple header, 4 of line pointer, pages filled to the fillfactor.  Equal
 * keys, which the server would store together, are not counted on, so that
 * the estimate is rather too large and bloat rather overlooked.
 */
CREATE FUNCTION tablespace_advisor.estimate_btree_bytes(entries float8, key_bytes float8, fillfactor float8)
RETURNS bigint
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT ((2 + ceil(entries * (12 + 8 * ceil(key_bytes / 8))
			/ ((b.size - 40) * fillfactor / 100)) * 1.005) * b.size)::bigint
	FROM (SELECT current_setting('block_size')::float8 AS size) b
	WHERE entries > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.estimate_btree_bytes(float8, float8, float8) IS
	'bytes of a B-tree just built, from the number of entries, bytes of a key and fillfactor in percent; NULL when there are no entries';

/* One summary of some 32 bytes for 128 heap blocks, and two pages besides. */
CREATE FUNCTION tablespace_advisor.estimate_brin_bytes(heap_bytes bigint)
RETURNS bigint
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT ((3 + ceil(ceil(heap_bytes / b.size / 128) * 32 / b.size)) * b.size)::bigint
	FROM (SELECT current_setting('block_size')::float8 AS size) b
$$;
COMMENT ON FUNCTION tablespace_advisor.estimate_brin_bytes(bigint) IS
	'bytes of a BRIN index with default parameters on one column of fixed width of a heap of that size';

REVOKE ALL ON FUNCTION tablespace_advisor.estimate_btree_bytes(float8, float8, float8),
	tablespace_advisor.estimate_brin_bytes(bigint) FROM PUBLIC;
/*
 * src/advise/choose.sql
 *
 * Which of the moves that are worth it are made, when not all of them fit.
 */
CREATE TYPE tablespace_advisor.placement_choice AS (
	relation regclass,
	destination name,
	action text,
	reason text,
	statement text,
	saved_ms_per_s float8,
	bytes bigint,
	bound_ms_per_s float8,
	is_exact boolean
);
COMMENT ON TYPE tablespace_advisor.placement_choice IS
	'what to do with a relation: destination of a move, the verdict, what it saves, the bytes it takes there; of moves that share a budget bound_ms_per_s is what no choice could exceed together, is_exact says that none is better';

/*
 * Fills tablespaces from the fastest to the slowest, each with the set of
 * candidates that saves most in the room there is and the budget left
 * (choose_within()); by_margin: that saves most over what the next ones offer.
 * Tablespaces on one device have one room.
 */
CREATE FUNCTION tablespace_advisor.fill_in_turn(
	candidates tablespace_advisor.placement_choice[],
	tablespaces tablespace_advisor.tablespace_fact[],
	budget_bytes bigint,
	by_margin boolean)
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	no_limit CONSTANT bigint := 4611686018427387904;
	tier tablespace_advisor.tablespace_fact;
	open tablespace_advisor.placement_choice[];
	margins float8[];
	taken tablespace_advisor.placement_choice[] := '{}';
	room bigint;
	chosen record;
BEGIN
	FOR tier IN
		SELECT f.* FROM unnest(tablespaces) f
		WHERE f.tablespace IN (SELECT c.destination FROM unnest(candidates) c)
		ORDER BY f.random_read_us, f.tablespace
	LOOP
		WITH later AS (
			SELECT c.relation, max(c.saved_ms_per_s) AS saved
			FROM unnest(candidates) c JOIN unnest(tablespaces) f ON f.tablespace = c.destination
			WHERE by_margin AND c.bytes <= coalesce(f.available_bytes, no_limit)
				AND (f.random_read_us, f.tablespace)
					> (tier.random_read_us, tier.tablespace)
			GROUP BY c.relation
		), here AS (
			SELECT c, c.saved_ms_per_s - coalesce(l.saved, 0) AS margin,
				row_number() OVER (ORDER BY
					c.saved_ms_per_s / nullif(c.bytes, 0) DESC NULLS FIRST,
					c.relation::oid) AS nth
			FROM unnest(candidates) c LEFT JOIN later l ON l.relation = c.relation
			WHERE c.destination = tier.tablespace
				AND NOT EXISTS (SELECT FROM unnest(taken) t
					WHERE t.relation = c.relation)
		)
		SELECT coalesce(array_agg(h.c ORDER BY h.nth), '{}'),
			coalesce(array_agg(h.margin ORDER BY h.nth), '{}')
		INTO open, margins FROM here h;
		SELECT least(coalesce(tier.available_bytes, no_limit)
					- coalesce(sum(t.bytes) FILTER (WHERE t.destination
						= ANY (tier.shares_device_with || tier.tablespace)), 0),
				coalesce(budget_bytes, no_limit) - coalesce(sum(t.bytes), 0))
			INTO room FROM unnest(taken) t;
		SELECT * INTO chosen FROM tablespace_advisor.choose_within(
			array(SELECT c.bytes FROM unnest(open) c), margins, greatest(room, 0));
		taken := taken || array(
			SELECT ROW(c.relation, c.destination, c.action, c.reason,
				c.statement, c.saved_ms_per_s, c.bytes, chosen.bound,
				chosen.is_exact)::tablespace_advisor.placement_choice
			FROM unnest(open, chosen.chosen)
				AS c (relation, destination, action, reason, statement,
					saved_ms_per_s, bytes, bound_ms_per_s, is_exact, is_chosen)
			WHERE c.is_chosen);
	END LOOP;
	RETURN QUERY SELECT t.* FROM unnest(taken) t;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.fill_in_turn(tablespace_advisor.placement_choice[], tablespace_advisor.tablespace_fact[], bigint, boolean) IS
	'of the candidates those to move, each to one tablespace, the fastest filled first with what saves most there, or, by_margin, most over what slower ones offer; bound_ms_per_s and is_exact are those of each tablespace by itself';

/*
 * For one tablespace the best choice (fill_in_turn()); for several the better
 * of two: each taken for itself, or by what it offers over the next.  No choice
 * saves more than one in which each relation is where it saves most and the
 * rooms of all tablespaces are one.
 */
CREATE FUNCTION tablespace_advisor.choose_moves(
	candidates tablespace_advisor.placement_choice[],
	tablespaces tablespace_advisor.tablespace_fact[],
	budget_bytes bigint)
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	moves tablespace_advisor.placement_choice[] := array(
		SELECT c FROM tablespace_advisor.fill_in_turn(candidates, tablespaces, budget_bytes, false) c);
	others tablespace_advisor.placement_choice[];
	saved float8;
	bound float8;
	/* of sums of the same numbers in another order */
	rounding CONSTANT float8 := 1e-9;
BEGIN
	IF (SELECT count(DISTINCT c.destination) FROM unnest(candidates) c) > 1 THEN
		others := array(SELECT c FROM tablespace_advisor.fill_in_turn(
			candidates, tablespaces, budget_bytes, true) c);
		saved := (SELECT sum(c.saved_ms_per_s) FROM unnest(moves) c);
		IF (SELECT sum(c.saved_ms_per_s) FROM unnest(others) c) > saved * (1 + rounding) THEN
			moves := others;
			saved := (SELECT sum(c.saved_ms_per_s) FROM unnest(moves) c);
		END IF;
		SELECT k.bound INTO bound
		FROM (SELECT array_agg(b.bytes ORDER BY b.relation) AS bytes,
				array_agg(b.saved ORDER BY b.relation) AS saved
			FROM (SELECT c.relation::oid, min(c.bytes) AS bytes, max(c.saved_ms_per_s) AS saved
				FROM unnest(candidates) c GROUP BY c.relation::oid) b) best
		CROSS JOIN (SELECT CASE WHEN bool_and(f.available_bytes IS NOT NULL)
				THEN sum(greatest(0, f.available_bytes)) END AS bytes
			FROM unnest(tablespaces) f
			WHERE f.tablespace IN (SELECT c.destination FROM unnest(candidates) c)) room
		CROSS JOIN LATERAL tablespace_advisor.choose_within(best.bytes, best.saved,
			least(room.bytes, budget_bytes, 4611686018427387904)::bigint) k;
		moves := array(SELECT ROW(c.relation, c.destination, c.action, c.reason,
				c.statement, c.saved_ms_per_s, c.bytes, bound,
				saved >= bound * (1 - rounding))::tablespace_advisor.placement_choice
			FROM unnest(moves) c);
	END IF;
	RETURN QUERY SELECT m.* FROM unnest(moves) m;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.choose_moves(tablespace_advisor.placement_choice[], tablespace_advisor.tablespace_fact[], bigint) IS
	'of the candidates those to move, each to one tablespace, so that they fit into the room of each and together into the budget (NULL: no limit); bound_ms_per_s: no choice saves more; is_exact: none saves more than this one';

REVOKE ALL ON FUNCTION
	tablespace_advisor.fill_in_turn(tablespace_advisor.placement_choice[],
		tablespace_advisor.tablespace_fact[], bigint, boolean),
	tablespace_advisor.choose_moves(tablespace_advisor.placement_choice[],
		tablespace_advisor.tablespace_fact[], bigint)
	FROM PUBLIC;
/*
 * src/advise/estimate.sql
 *
 * What reading costs where relations are, and what it would cost elsewhere:
 * from facts alone (catalog.sql), so that it can be tested and replayed on
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
	cache_exponent float8
);
COMMENT ON TYPE tablespace_advisor.load_estimate IS
	'what a read takes under the present load. device_reads_per_s: reads that reach the device if the system''s cache serves what it holds; depth: requests in flight; probed_us: latency probed at that depth; device_us: the same, corrected by what the server timed; cached_us: a read that the system''s cache serves; cache_exponent: what the share of a relation''s pages that the system''s cache does not hold is raised to, cache_correction: what it is multiplied by then, to be the share of reads that reach the device, time_correction: what their latency is multiplied by, so that all agree with the timing (1: no timing); coverage: share of the database''s reads that was estimated';

/*
 * The depth a read meets is the number of sessions seen reading while any
 * was.  Five looks give it to about a fifth (the number varies by less than
 * half of itself); without, it is the one with which the device serves the
 * rate, which cannot tell queues of a device that is busy all the time apart.
 *
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
	WITH read AS (
		SELECT f.*, r.reads, r.device_reads,
			r.device_reads * f.random_read_us
				/ nullif(sum(r.device_reads * f.random_read_us) OVER (), 0) AS share
		FROM unnest(tablespaces) f
		LEFT JOIN
			(SELECT r.tablespace, sum(r.reads_per_s) AS reads,
					sum(r.reads_per_s * greatest(0, 1 - coalesce(r.system_cached, 0))) AS device_reads
				FROM unnest(relations) r GROUP BY r.tablespace) r USING (tablespace)
	), queued AS (
		SELECT q.*, tablespace_advisor.latency_at_depth(
				q.depths, q.depth_read_us, q.depth) AS probed_us,
			coalesce(q.cached_read_us, 0) AS cached_us
		FROM (SELECT read.*,
				CASE WHEN load.reading_snapshots >= 5
					THEN greatest(1, load.reading_sessions * coalesce(read.share, 0))
				ELSE tablespace_advisor.depth_at_rate(read.depths,
					read.depth_read_us, coalesce(read.device_reads, 0)) END AS depth
			FROM read) q
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
			(SELECT greatest(0, load.reads_per_s / nullif(sum(read.reads), 0) - 1)
				AS other_reads FROM read) o
	), less AS (
		/* of each relation what it would take without the system's cache, and
		 * the sum that is left of that */
		SELECT array_agg(r.reads_per_s * (q.probed_us - q.cached_us)) AS totals,
			array_agg(greatest(0, 1 - coalesce(r.system_cached, 0))) AS shares,
			min(greatest(0, w.timed_us - w.all_cached_us) * w.reads) AS target
		FROM whole w
		CROSS JOIN unnest(relations) r
		JOIN queued q ON q.tablespace = r.tablespace
		WHERE w.coverage >= 0.8 AND w.more_us > 0
			AND w.timed_us < w.cached_us + w.device_us
			AND r.reads_per_s > 0 AND q.probed_us > q.cached_us
	), served AS (
		SELECT e.exponent, least(1, l.target / nullif(
				(SELECT sum(s.total * power(s.share, e.exponent))
					FROM unnest(l.totals, l.shares) s (total, share)), 0)) AS correction
		FROM less l CROSS JOIN LATERAL (SELECT tablespace_advisor.cache_exponent(
			l.totals, l.shares, l.target) AS exponent) e
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
		c.cache_correction, c.time_correction, c.coverage, c.cache_exponent
	FROM queued q CROSS JOIN corrected c
$$;
COMMENT ON FUNCTION tablespace_advisor.estimate_load(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact) IS
	'per tablespace what a read takes under the load; relations must hold all that is read in the database for reads to be corrected by the server''s timing';

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
	not_probed name[]
);
COMMENT ON TYPE tablespace_advisor.placement_estimate IS
	'one relation in one destination (NULL: where it is). device_share: share of its reads that reach the device; device_us, cached_us, destination_us: microseconds a read takes from the device, from the system''s cache, and in the destination at destination_depth requests in flight; is_saturated: the destination would not serve so many reads; is_faster: beyond the intervals of both probes; saved_ms_per_s: reading saved less extra_write_ms_per_s, per second, saved_percent: of what is spent reading its table; moved_bytes: what it will take there; bytes_percent: of the bytes of its table with all indexes; not_probed: tablespaces without probe that part of its table is read from, NULL if there are none';

/*
 * The destination is taken to get all that is read of this relation's table,
 * since what is worth moving of a table mostly moves together.  Sessions that
 * have been watched are taken to read as soon as they can: what they do
 * between two reads stays, the reads take what they take there with as many
 * in flight as that leads to.  What slows reads down here beyond what was
 * probed, such as pages written in between, moves along: it does so there.
 *
 * Pages of a relation are written at most as often as its rows, and at most
 * once per checkpoint and once per read that evicted them.
 */
CREATE FUNCTION tablespace_advisor.estimate_placement(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact)
RETURNS SETOF tablespace_advisor.placement_estimate
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH block AS (
		SELECT current_setting('block_size')::float8 AS size
	), place AS MATERIALIZED (
		SELECT f.*, l.device_reads_per_s, l.depth, l.device_us, l.cached_us,
			l.cache_exponent, l.cache_correction, l.time_correction,
			l.device_reads_per_s * l.device_us AS busy_us,
			tablespace_advisor.max_read_rate(f.depths, f.depth_read_us) AS max_rate
		FROM unnest(tablespaces) f
		JOIN tablespace_advisor.estimate_load(relations, tablespaces, load) l
			USING (tablespace)
	), here AS MATERIALIZED (
		SELECT r.*, s.device_us, s.cached_us, s.depth, s.write_us, s.write_workload,
			s.random_read_us, s.random_read_low_us, s.sequential_page_us,
			d.device_share,
			r.reads_per_s * d.device_share AS device_reads,
			CASE WHEN r.reads_per_s = 0 THEN 0
				ELSE r.reads_per_s * (d.device_share * s.device_us
					+ (1 - d.device_share) * s.cached_us) / 1000 END AS read_ms,
			least(r.writes_per_s, r.reads_per_s
				+ r.size_bytes / block.size / nullif(load.checkpoint_s, 0)) AS pages_written
		FROM unnest(relations) r
		CROSS JOIN block
		LEFT JOIN place s ON s.tablespace = r.tablespace
		CROSS JOIN LATERAL
			(SELECT least(1, power(greatest(0, 1 - coalesce(r.system_cached, 0)),
				coalesce(s.cache_exponent, 1)) * coalesce(s.cache_correction, 1)) AS device_share) d
	), whole AS (
		SELECT h.table_relation,
			/* part of a sum is no sum */
			CASE WHEN bool_and(h.read_ms IS NOT NULL) THEN sum(h.read_ms) END AS read_ms,
			sum(h.device_reads) AS device_reads,
			sum(h.device_reads * h.device_us) AS device_us,
			sum(h.size_bytes) AS bytes,
			array_agg(DISTINCT h.tablespace)
				FILTER (WHERE h.read_ms IS NULL AND h.device_us IS NULL) AS not_probed
		FROM here h GROUP BY h.table_relation
	), there AS (
		SELECT h.relation, p.tablespace AS destination,
			h.device_share, h.device_us, h.cached_us, h.read_ms,
			w.read_ms AS table_read_ms,
			p.destination_depth, q.destination_us, p.max_rate,
			p.device_reads_per_s + w.device_reads > p.max_rate AS is_saturated,
			q.destination_us * p.random_read_high_us / p.random_read_us
				< h.device_us * h.random_read_low_us / h.random_read_us
			AND (p.random_read_high_us < h.random_read_low_us OR h.depth >= 2) AS is_faster,
			CASE WHEN h.write_workload = p.write_workload
				THEN h.pages_written * greatest(0, p.write_us - h.write_us) / 1000 END AS extra_ms,
			h.device_reads * (h.device_us - q.destination_us) / 1000 AS gain_ms,
			CASE WHEN h.rebuilt_bytes < h.size_bytes / 2 THEN h.rebuilt_bytes
				ELSE h.size_bytes END AS moved_bytes,
			coalesce(
				h.size_bytes / (p.copy_rates ->> h.tablespace)::float8,
				h.size_bytes / block.size * (coalesce(h.sequential_page_us, h.random_read_us)
					+ coalesce(p.sequential_write_page_us, 0)) / 1e6) AS move_seconds,
			100 * h.size_bytes::float8 / nullif(w.bytes, 0) AS bytes_percent,
			w.not_probed
		FROM here h
		CROSS JOIN block
		JOIN whole w USING (table_relation)
		/* each tablespace, and none */
		CROSS JOIN
			(SELECT f.tablespace FROM unnest(tablespaces) f
				UNION ALL SELECT NULL) f
		LEFT JOIN LATERAL
			(SELECT place.*,
				CASE WHEN load.snapshots > 0 AND w.device_reads > 0
					THEN tablespace_advisor.depth_in_loop(
						place.depths, place.depth_read_us, load.active_sessions,
						greatest(0, load.active_sessions * 1e6
								- w.device_us - place.busy_us)
							/ (w.device_reads + place.device_reads_per_s))
				ELSE least(greatest(1, h.depth), tablespace_advisor.depth_at_rate(
					place.depths, place.depth_read_us,
					place.device_reads_per_s + w.device_reads)) END AS destination_depth
			FROM place WHERE place.tablespace = f.tablespace) p ON true
		CROSS JOIN LATERAL
			(SELECT p.time_correction * tablespace_advisor.latency_at_depth(
				p.depths, p.depth_read_us, p.destination_depth) AS destination_us) q
		WHERE f.tablespace IS DISTINCT FROM h.tablespace
	)
	SELECT t.relation, t.destination, t.device_share, t.device_us, t.cached_us,
		t.read_ms, t.table_read_ms, t.destination_depth, t.destination_us,
		t.max_rate, t.is_saturated, t.is_faster, t.extra_ms,
		t.gain_ms - coalesce(t.extra_ms, 0),
		100 * (t.gain_ms - coalesce(t.extra_ms, 0)) / nullif(t.table_read_ms, 0),
		t.moved_bytes, t.move_seconds, t.bytes_percent, t.not_probed
	FROM there t
$$;
COMMENT ON FUNCTION tablespace_advisor.estimate_placement(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact) IS
	'per relation one row for each other tablespace, and one with destination NULL; relations must hold all of their tables, since savings are stated as percent of a table''s read time';

REVOKE ALL ON FUNCTION
	tablespace_advisor.cache_exponent(float8[], float8[], float8),
	tablespace_advisor.choose_within(bigint[], float8[], bigint),
	tablespace_advisor.latency_at_depth(float8[], float8[], float8),
	tablespace_advisor.depth_at_rate(float8[], float8[], float8),
	tablespace_advisor.depth_in_loop(float8[], float8[], float8, float8),
	tablespace_advisor.max_read_rate(float8[], float8[]),
	tablespace_advisor.estimate_load(tablespace_advisor.relation_fact[],
		tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact),
	tablespace_advisor.estimate_placement(tablespace_advisor.relation_fact[],
		tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact)
	FROM PUBLIC;
/*
 * src/advise/facts.sql
 *
 * Gathers the facts (types: catalog.sql) from probes, samples, the catalogs
 * and the journal of moves.  Nothing waits for a lock on a relation.
 */

/*
 * How fast moves to a tablespace were (copied_mb_per_s(), stage move), and how
 * much WAL they wrote: those of 1 MB or more, since small ones take the time
 * of their commits.  plpgsql, because the journal is made later than these.
 */
CREATE FUNCTION tablespace_advisor.copy_rates(destination name)
RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN (SELECT jsonb_object_agg(m.spcname, round(m.bytes_per_s::numeric))
		FROM (SELECT s.spcname, 1048576
				* tablespace_advisor.copied_mb_per_s(s.oid, d.oid) AS bytes_per_s
			FROM pg_tablespace s, pg_tablespace d
			WHERE d.spcname = destination) m
		WHERE m.bytes_per_s > 0);
END
$$;
COMMENT ON FUNCTION tablespace_advisor.copy_rates(name) IS
	'bytes per second of the last live copies to a tablespace, by the tablespace they came from: median of those without max_rate, at the rate that what others needed left them (see copied_mb_per_s); NULL without any';

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
AS $$
BEGIN
	RETURN QUERY SELECT j.relation, array_agg(DISTINCT j.from_tablespace_name)
		FROM tablespace_advisor.job j
		WHERE j.state = 'done' AND j.finished_at > clock_timestamp() - interval '7 days'
			AND j.from_tablespace <> j.to_tablespace
		GROUP BY j.relation;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.left_lately() IS
	'tablespaces that relations were moved away from within a week';

/*
 * Random reads by depth, from one run, since depths of different runs need
 * not fit together; a twentieth of the file system stays free: file systems
 * slow down, and servers stop, when nothing is left.
 */
CREATE FUNCTION tablespace_advisor.tablespace_facts(caller oid, table_owner oid)
RETURNS SETOF tablespace_advisor.tablespace_fact
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH result AS MATERIALIZED (
		SELECT r.* FROM tablespace_advisor.current_probe_result r
		WHERE r.caveat IS NULL AND r.mean_us > 0
	), written AS (
		/* of all writes the first kind that was measured, at depth 1 */
		SELECT DISTINCT ON (r.tablespace_oid) r.tablespace_oid, r.workload, r.mean_us
		FROM result r
		WHERE r.workload IN ('random write', 'sync write') AND r.queue_depth = 1
		ORDER BY r.tablespace_oid, r.workload, r.run_id DESC
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
		tablespace_advisor.copy_rates(l.tablespace),
		/* like the server, ask nothing for the database's own tablespace */
		l.tablespace_oid = d.dattablespace
			OR has_tablespace_privilege(caller, l.tablespace_oid, 'CREATE')
			OR has_tablespace_privilege(table_owner, l.tablespace_oid, 'CREATE'),
		v.volatile,
		v.shares_device_with::name[],
		v.free_bytes - coalesce(v.size_bytes, 0) / 20
	FROM tablespace_advisor.tablespace_latency l
	JOIN pg_database d ON d.datname = current_database()
	LEFT JOIN tablespace_advisor.device v ON v.tablespace = l.tablespace
	LEFT JOIN written w ON w.tablespace_oid = l.tablespace_oid
	LEFT JOIN LATERAL
		(SELECT array_agg(r.queue_depth::float8 ORDER BY r.queue_depth) AS depths,
				array_agg(r.mean_us ORDER BY r.queue_depth) AS latencies
			FROM result r
			WHERE r.run_id = l.run_id AND r.workload = 'random read'
				AND r.io_size = current_setting('block_size')::int) curve ON true
	LEFT JOIN LATERAL
		(SELECT r.mean_us FROM result r
			WHERE r.tablespace_oid = l.tablespace_oid AND r.workload = 'cached read'
			ORDER BY r.run_id DESC LIMIT 1) cached ON true
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_facts(oid, oid) IS
	'facts on every tablespace but pg_global; may_create: one of the two roles may make relations there';

/*
 * What the statistics of the planner say of an index on one column: bytes of
 * a key, correlation with the order of the table, entries.
 */
CREATE FUNCTION tablespace_advisor.index_shape(indexes oid[])
RETURNS TABLE (relation oid, entries float8, key_bytes float8, "fillfactor" float8,
	correlation float8, column_name name)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT c.oid, c.reltuples::float8, k.bytes,
		coalesce((SELECT o.option_value::float8
			FROM pg_options_to_table(c.reloptions) o
			WHERE o.option_name = 'fillfactor'), 90),
		CASE WHEN i.indnatts = 1 AND i.indkey[0] > 0 THEN
			(SELECT CASE 3 WHEN s.stakind1 THEN s.stanumbers1[1]
					WHEN s.stakind2 THEN s.stanumbers2[1]
					WHEN s.stakind3 THEN s.stanumbers3[1]
					WHEN s.stakind4 THEN s.stanumbers4[1]
					WHEN s.stakind5 THEN s.stanumbers5[1] END
				FROM pg_statistic s
				WHERE s.starelid = i.indrelid AND s.staattnum = i.indkey[0]
					AND NOT s.stainherit) END,
		CASE WHEN i.indnatts = 1 AND i.indkey[0] > 0 THEN
			(SELECT t.attname FROM pg_attribute t
				WHERE t.attrelid = i.indrelid AND t.attnum = i.indkey[0]) END
	FROM unnest(indexes) w
	JOIN pg_index i ON i.indexrelid = w
	JOIN pg_class c ON c.oid = w
	JOIN pg_am m ON m.oid = c.relam AND m.amname = 'btree'
	CROSS JOIN LATERAL
		/* columns of a table by their own statistics, expressions by the index's */
		(SELECT CASE WHEN bool_and(s.stawidth IS NOT NULL OR a.attlen > 0)
				THEN sum(CASE WHEN a.attlen > 0 THEN a.attlen ELSE s.stawidth END) END AS bytes
			FROM unnest(i.indkey::int2[]) WITH ORDINALITY col (attnum, n)
			JOIN pg_attribute a ON a.attrelid = i.indexrelid AND a.attnum = col.n
			LEFT JOIN pg_statistic s ON NOT s.stainherit
				AND s.starelid = CASE WHEN col.attnum > 0 THEN i.indrelid ELSE i.indexrelid END
				AND s.staattnum = CASE WHEN col.attnum > 0 THEN col.attnum ELSE col.n END) k
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
CREATE FUNCTION tablespace_advisor.move_obstacle(c pg_class, i pg_index)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN c.relpersistence = 't' THEN 'a temporary table cannot be moved'
		WHEN coalesce(i.indrelid, c.oid) < 16384 THEN 'a system catalog cannot be moved'
		/* nothing but a rebuild, for want of WAL that a copy could follow */
		WHEN i.indexrelid IS NOT NULL THEN
			CASE WHEN c.relpersistence = 'u'
				AND (i.indisexclusion OR NOT i.indimmediate)
				THEN 'unlogged, backs a constraint: only ALTER INDEX moves it, which locks it'
			END
		WHEN c.relpersistence = 'u'
			THEN 'unlogged: only ALTER TABLE moves it, which locks it until it is copied'
		WHEN EXISTS
			(SELECT FROM pg_class r JOIN pg_am m ON m.oid = r.relam
				WHERE r.oid IN (c.oid, c.reltoastrelid)
					AND m.amhandler <> 'heap_tableam_handler'::regproc)
			THEN 'its access method is not heap: only ALTER TABLE moves it, which locks it'
	END
$$;
COMMENT ON FUNCTION tablespace_advisor.move_obstacle(pg_class, pg_index) IS
	'why a table (second argument NULL) or an index cannot be moved while it is in use';

/*
 * A heap is taken together with its TOAST table and that one's index, because
 * they move together.  What the system's cache holds is looked up for what is
 * read, where no samples say; of a heap the shares are weighed with the reads.
 * plpgsql, which plans for as many tables as there are.
 */
CREATE FUNCTION tablespace_advisor.relation_facts(
	rates tablespace_advisor.relation_rate[],
	tables oid[])
RETURNS SETOF tablespace_advisor.relation_fact
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY WITH rate AS MATERIALIZED (
		SELECT r.*, CASE r.kind WHEN 'index' THEN r.relation ELSE r.heap END AS member
		FROM unnest(rates) r JOIN unnest(tables) t ON t = r.heap
	), resident AS MATERIALIZED (
		SELECT p.relation,
			tablespace_advisor.cached_share(
				p.blocks, p.shared_blocks, p.system_only_blocks) AS cached
		FROM tablespace_advisor.relations_residency(
			array(SELECT r.relation FROM rate r
				WHERE r.reads_per_s > 0 AND r.system_cached IS NULL)) p
	), active AS MATERIALIZED (
		SELECT r.member,
			sum(r.size_bytes)::bigint AS size_bytes,
			coalesce(sum(r.size_bytes) FILTER (WHERE r.kind LIKE 'toast%'), 0)::bigint
				AS toast_bytes,
			sum(r.reads_per_s) AS reads_per_s,
			sum(r.hits_per_s) AS hits_per_s,
			sum(r.writes_per_s) FILTER (WHERE r.kind <> 'toast index') AS writes_per_s,
			min(r.hot_fraction) FILTER (WHERE r.kind = 'heap') AS hot_fraction,
			min(r.tuples_per_s / nullif(r.scans_per_s, 0))
				FILTER (WHERE r.kind = 'index') AS tuples_per_scan,
			sum(r.reads_per_s * coalesce(r.system_cached, p.cached))
				/ nullif(sum(r.reads_per_s) FILTER (WHERE coalesce(
					r.system_cached, p.cached) IS NOT NULL), 0) AS cached,
			min(r.scans_total) FILTER (WHERE r.kind = 'index') AS scans,
			min(r.counted_since) AS counted_since
		FROM rate r LEFT JOIN resident p USING (relation)
		GROUP BY r.member
	), database AS (
		SELECT own.spcname AS tablespace,
			(pg_stat_file('base/' || d.oid || '/PG_VERSION', true)).modification AS made
		FROM pg_database d JOIN pg_tablespace own ON own.oid = d.dattablespace
		WHERE d.datname = current_database()
	), member AS MATERIALIZED (
		SELECT c, NULL::pg_index AS i, c.oid, c.oid AS table_oid, 'heap' AS kind,
			c.reltablespace, c.reltoastrelid
		FROM unnest(tables) t JOIN pg_class c ON c.oid = t
		WHERE c.relkind IN ('r', 'm')
		UNION ALL
		SELECT c, i, c.oid, i.indrelid, 'index', c.reltablespace, 0
		FROM unnest(tables) t JOIN pg_index i ON i.indrelid = t
		JOIN pg_class c ON c.oid = i.indexrelid
		WHERE c.relkind = 'i'
	)
	SELECT m.oid::regclass, m.table_oid::regclass, m.kind,
		coalesce(s.spcname, d.tablespace),
		coalesce(a.size_bytes, tablespace_advisor.relation_bytes(m.oid)
			+ coalesce(tablespace_advisor.relation_bytes(nullif(m.reltoastrelid, 0)), 0)),
		coalesce(a.toast_bytes, 0),
		least(a.size_bytes, tablespace_advisor.estimate_btree_bytes(
			x.entries, x.key_bytes, x."fillfactor")),
		CASE WHEN x.correlation IS NOT NULL AND NOT (m.i).indisunique
			THEN tablespace_advisor.estimate_brin_bytes(h.size_bytes) END,
		a.reads_per_s, a.hits_per_s, a.writes_per_s,
		coalesce(a.hot_fraction, h.hot_fraction),
		a.tuples_per_scan, x.correlation, a.cached, a.scans,
		pg_stat_get_tuples_inserted(m.table_oid) + pg_stat_get_tuples_updated(m.table_oid)
			+ CASE m.kind WHEN 'heap' THEN pg_stat_get_tuples_deleted(m.table_oid)
				ELSE -pg_stat_get_tuples_hot_updated(m.table_oid) END,
		extract(epoch FROM clock_timestamp()
			- greatest(a.counted_since, d.made))::float8 / 86400,
		x.column_name,
		CASE WHEN a.scans = 0 AND r.needed_for IS NULL
			AND (m.i).indnatts = 1 AND (m.i).indkey[0] = 0
			THEN tablespace_advisor.index_expression(m.oid) END,
		r.unusable, r.needed_for, u.duplicate_of::regclass,
		tablespace_advisor.move_obstacle(m.c, m.i),
		l.tablespaces
	FROM member m
	CROSS JOIN database d
	LEFT JOIN pg_tablespace s ON s.oid = m.reltablespace
	LEFT JOIN active a ON a.member = m.oid
	LEFT JOIN active h ON h.member = m.table_oid AND m.kind = 'index'
	LEFT JOIN tablespace_advisor.index_shape(
		array(SELECT i.oid FROM member i WHERE i.kind = 'index')) x ON x.relation = m.oid
	LEFT JOIN (SELECT r.* FROM unnest(tables) t
		JOIN tablespace_advisor.index_role r ON r.indrelid = t) r ON r.indexrelid = m.oid
	LEFT JOIN (SELECT u.* FROM unnest(tables) t
		JOIN tablespace_advisor.duplicate_index u ON u.indrelid = t) u ON u.indexrelid = m.oid
	LEFT JOIN tablespace_advisor.left_lately() l ON l.relation = m.oid;
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

REVOKE ALL ON FUNCTION
	tablespace_advisor.tablespace_facts(oid, oid),
	tablespace_advisor.copy_rates(name),
	tablespace_advisor.copy_wal_per_byte(),
	tablespace_advisor.left_lately(),
	tablespace_advisor.index_shape(oid[]),
	tablespace_advisor.index_expression(oid),
	tablespace_advisor.move_obstacle(pg_class, pg_index),
	tablespace_advisor.relation_facts(tablespace_advisor.relation_rate[], oid[]),
	tablespace_advisor.leaves_of(regclass),
	tablespace_advisor.tables_with_faults(tablespace_advisor.tablespace_fact[])
	FROM PUBLIC;
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

/* Of whole databases advice speaks of what has something to be said of. */
CREATE FUNCTION tablespace_advisor.is_of_interest(a tablespace_advisor.relation_fact)
RETURNS boolean
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(a.reads_per_s > 0 OR a.hits_per_s > 0 OR a.writes_per_s > 0, false)
		OR a.unusable IS NOT NULL OR a.duplicate_of IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.is_of_interest(tablespace_advisor.relation_fact) IS
	'whether a relation was read or written in the window, or is an index with a fault';

CREATE FUNCTION tablespace_advisor.gather_advice(
	caller oid,
	target regclass,
	destination name,
	space_budget text,
	observe interval,
	with_evidence boolean)
RETURNS TABLE (advice @extschema@.placement_advice, evidence jsonb)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
	history CONSTANT interval := '1 day';
	to_tablespace name := tablespace_advisor.check_tablespace(destination);
	budget_bytes bigint := pg_size_bytes(space_budget);
	c pg_class;
	seen record;
	load tablespace_advisor.load_fact;
	tablespaces tablespace_advisor.tablespace_fact[];
	relations tablespace_advisor.relation_fact[];
	targets oid[];
	tables oid[];
	considered regclass[];
BEGIN
	IF budget_bytes <= 0 THEN
		RAISE EXCEPTION 'space_budget must be greater than zero'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF target IS NOT NULL THEN
		c := tablespace_advisor.check_target(target);
	END IF;
	tablespaces := array(SELECT f FROM tablespace_advisor.tablespace_facts(
		caller, coalesce(c.relowner, caller)) f);
	IF target IS NULL THEN
		tables := array(SELECT t FROM tablespace_advisor.tables_with_faults(tablespaces) t);
	ELSE
		targets := array(SELECT l FROM tablespace_advisor.leaves_of(target) l);
		tables := array(SELECT coalesce(i.indrelid, t)
			FROM unnest(targets) t LEFT JOIN pg_index i ON i.indexrelid = t);
	END IF;
	SELECT * INTO seen FROM tablespace_advisor.observe_database(observe,
		tables, history, with_active => true);
	/* all that is read, because reads are corrected by the timing of all */
	tables := array(SELECT unnest(tables) UNION
		SELECT r.heap FROM unnest(seen.relations) r
		WHERE r.reads_per_s > 0
			OR (target IS NULL AND (r.hits_per_s > 0 OR r.writes_per_s > 0)));
	load := ROW(seen.source, seen.window_start, seen.window_end, seen.seconds,
		seen.intervals, seen.was_reset, seen.reads_per_s, seen.read_ms_per_s,
		seen.timed_read_us, seen.snapshots, seen.reading_snapshots, seen.active_sessions,
		seen.reading_sessions, seen.waits,
		extract(epoch FROM current_setting('checkpoint_timeout')::interval),
		tablespace_advisor.copy_wal_per_byte(),
		(SELECT string_agg(DISTINCT application_name, ', ')
			FROM pg_stat_replication WHERE state = 'streaming'));

	relations := array(SELECT f FROM tablespace_advisor.relation_facts(
		seen.relations, tables) f);
	IF target IS NOT NULL THEN
		relations := array(SELECT CASE
				WHEN f.relation = ANY (targets) OR f.table_relation = ANY (targets)
				THEN tablespace_advisor.measure_bloat(f) ELSE f END
			FROM unnest(relations) f);
		considered := array(SELECT f.relation FROM unnest(relations) f
			WHERE f.relation = ANY (targets) OR f.table_relation = ANY (targets));
	ELSE
		considered := array(SELECT f.relation FROM unnest(relations) f
			LEFT JOIN unnest(tablespaces) s ON s.tablespace = f.tablespace
			WHERE tablespace_advisor.is_of_interest(f) OR s.available_bytes < 0);
	END IF;
	RETURN QUERY SELECT j.* FROM tablespace_advisor.judge_placement(
		relations, considered, tablespaces, load, to_tablespace, budget_bytes,
		target IS NULL, with_evidence) j;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.gather_advice(oid, regclass, name, text, interval, boolean) IS
	'advice for a role on a relation, or on the whole database (NULL); see advise_index_placement(); evidence is NULL without with_evidence';

REVOKE ALL ON FUNCTION
	tablespace_advisor.measure_bloat(tablespace_advisor.relation_fact),
	tablespace_advisor.read_index_pages(regclass),
	tablespace_advisor.lock_if_free(oid),
	tablespace_advisor.check_target(regclass),
	tablespace_advisor.is_of_interest(tablespace_advisor.relation_fact),
	tablespace_advisor.gather_advice(oid, regclass, name, text, interval, boolean)
	FROM PUBLIC;
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

CREATE FUNCTION tablespace_advisor.round_to_three(number float8)
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_round_to_three';
COMMENT ON FUNCTION tablespace_advisor.round_to_three(float8) IS
	'a measured number with three significant digits';

CREATE FUNCTION tablespace_advisor.one_line(line text, width int DEFAULT 80)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN length(line) > width THEN left(line, width - 3) || '...'
		ELSE line END
$$;
COMMENT ON FUNCTION tablespace_advisor.one_line(text, int) IS
	'a text cut to so many characters';

/*
 * In a message a name that has line breaks could pass for other lines of it,
 * with statements that somebody else has thought of.
 */
CREATE FUNCTION tablespace_advisor.printable(message text)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT regexp_replace(message, '[\x01-\x1f\x7f]', '?', 'g')
$$;
COMMENT ON FUNCTION tablespace_advisor.printable(text) IS
	'a text with a question mark for each control character';

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
		action := 'rebuild';
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
	saved CONSTANT text := 'saves %s ms/s, %s %% of the table''s read time';
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
		reason := format('no trustworthy probe of %s',
			concat_ws(' and ',
				CASE WHEN source.random_read_us IS NULL THEN quote_ident(a.tablespace) END,
				CASE WHEN dest.random_read_us IS NULL THEN quote_ident(dest.tablespace) END));
		statement := tablespace_advisor.probe_statement(
			CASE WHEN source.random_read_us IS NULL THEN a.tablespace END,
			CASE WHEN dest.random_read_us IS NULL THEN dest.tablespace END);
	ELSIF a.reads_per_s IS NULL THEN
		reason := 'statistics start time is unknown: pass observe, or CALL sample_activity()';
	ELSIF a.reads_per_s = 0 AND a.hits_per_s > 0 THEN
		reason := 'already in memory: shared buffers serve all of its reads';
	ELSIF a.reads_per_s = 0 THEN
		reason := 'not read in the window';
	ELSIF e.device_share <= 0.01 THEN
		reason := format('already in memory: the system''s cache serves %s %% of its reads',
			round(100 * (1 - e.device_share::numeric), 1));
	ELSIF bottleneck IS NOT NULL THEN
		reason := format('not storage-bound: %s', bottleneck);
	ELSIF e.is_faster IS NOT TRUE THEN
		reason := format('%s: %s us a read there, %s us here',
			CASE WHEN destination IS NULL THEN 'no tablespace is measurably faster'
				ELSE 'not measurably faster' END,
			tablespace_advisor.round_to_three(e.destination_us),
			tablespace_advisor.round_to_three(e.device_us));
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
			tablespace_advisor.round_to_three(e.saved_ms_per_s),
			tablespace_advisor.round_to_three(e.saved_percent));
	ELSIF e.saved_ms_per_s / 1000 * week_s < e.move_seconds THEN
		reason := format('not repaid within a week: ' || saved,
			tablespace_advisor.round_to_three(e.saved_ms_per_s),
			tablespace_advisor.round_to_three(e.saved_percent));
	ELSIF dest.tablespace = ANY (a.left_lately) THEN
		reason := 'it was moved away from there less than a week ago';
	ELSIF a.obstacle IS NOT NULL THEN
		reason := a.obstacle;
	ELSE
		action := 'move';
		reason := format('reads take %s us here, %s us there%s',
			tablespace_advisor.round_to_three(e.device_us),
			tablespace_advisor.round_to_three(e.destination_us),
			CASE WHEN e.device_share < 0.9 THEN
				format('; %s %% of them reach the device',
					round(100 * e.device_share::numeric))
			END);
	END IF;
	IF tablespace_advisor.is_bloated(a) AND action IN ('keep', 'move') THEN
		reason := format('bloated: %s, about %s after a rebuild',
			pg_size_pretty(a.size_bytes), pg_size_pretty(a.rebuilt_bytes))
			|| CASE action WHEN 'move' THEN format('; saves %s ms/s',
					tablespace_advisor.round_to_three(e.saved_ms_per_s))
				ELSE '' END;
		IF action = 'keep' THEN
			action := 'rebuild';
			statement := format('REINDEX INDEX CONCURRENTLY %s', a.relation);
		END IF;
	END IF;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.move_verdict(tablespace_advisor.relation_fact, tablespace_advisor.placement_estimate, tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact, name, text) IS
	'whether to move a relation if bytes were free, and why; arguments are its facts, its estimate in the destination (dest), the facts on both tablespaces; destination: as the caller gave it; bottleneck: see other_bottleneck()';

REVOKE ALL ON FUNCTION
	tablespace_advisor.business_cycle_days(),
	tablespace_advisor.round_to_three(float8),
	tablespace_advisor.one_line(text, int),
	tablespace_advisor.printable(text),
	tablespace_advisor.probe_statement(name[]),
	tablespace_advisor.other_bottleneck(tablespace_advisor.load_fact),
	tablespace_advisor.index_verdict(tablespace_advisor.relation_fact),
	tablespace_advisor.is_bloated(tablespace_advisor.relation_fact),
	tablespace_advisor.move_verdict(tablespace_advisor.relation_fact,
		tablespace_advisor.placement_estimate, tablespace_advisor.tablespace_fact,
		tablespace_advisor.tablespace_fact, name, text)
	FROM PUBLIC;
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
		e.saved_ms_per_s, e.moved_bytes, NULL::float8, NULL::boolean
	FROM (SELECT tablespace_advisor.other_bottleneck(load) AS bottleneck) o
	CROSS JOIN unnest(estimates) e
	JOIN unnest(relations) a ON a.relation = e.relation
	JOIN unnest(tablespaces) s ON s.tablespace = a.tablespace
	JOIN unnest(tablespaces) d ON d.tablespace = e.destination
	CROSS JOIN LATERAL tablespace_advisor.move_verdict(
		a, e, s, d, $5, o.bottleneck) v
	WHERE ($5 IS NULL OR e.destination = $5)
		AND e.is_faster AND e.saved_ms_per_s > 0
		AND (tablespace_advisor.index_verdict(a)).action IS NULL
		AND v.action = 'move'
$$;
COMMENT ON FUNCTION tablespace_advisor.move_candidates(tablespace_advisor.relation_fact[], tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name) IS
	'per relation the tablespaces that it would be worth moving to if bytes were free';

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
		NULL, m.saved_ms_per_s, m.size_bytes, NULL::float8, k.is_exact
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
				format('no room for its %s in the budget or the tablespace; would save %s ms/s',
					pg_size_pretty(c.bytes), tablespace_advisor.round_to_three(c.saved_ms_per_s))
			ELSE v.reason END,
		CASE WHEN i.action IS NOT NULL THEN i.statement
			WHEN c.relation IS NULL THEN v.statement END,
		NULL::float8, NULL::bigint, NULL::float8, NULL::boolean
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
			'depth', here.depth, 'probed_us', here.probed_us,
			'device_us', here.device_us, 'cached_us', here.cached_us,
			'cache_exponent', here.cache_exponent,
			'cache_correction', here.cache_correction,
			'time_correction', here.time_correction, 'coverage', here.coverage,
			'system_cached', a.system_cached, 'device_share', e.device_share),
		'to', CASE WHEN dest.tablespace IS NOT NULL THEN jsonb_build_object(
			'tablespace', dest.tablespace, 'run_id', dest.run_id,
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
			'extra_write_ms_per_s', e.extra_write_ms_per_s,
			'write_workload', CASE WHEN e.extra_write_ms_per_s IS NOT NULL
				THEN dest.write_workload END,
			'obstacle', a.obstacle),
		'move', CASE WHEN dest.tablespace IS NOT NULL THEN jsonb_build_object(
			'bytes', e.moved_bytes, 'peak_bytes', a.size_bytes + e.moved_bytes,
			'wal_bytes', round((e.moved_bytes * coalesce(load.wal_per_byte, 1))::numeric),
			'seconds', e.move_seconds,
			'measured_bytes_per_s', dest.copy_rates -> a.tablespace::text) END,
		'choice', CASE WHEN choice.is_exact IS NOT NULL THEN jsonb_build_object(
			'is_exact', choice.is_exact,
			'bound_ms_per_s', choice.bound_ms_per_s) END))
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
	estimates tablespace_advisor.placement_estimate[];
	candidates tablespace_advisor.placement_choice[];
	moves tablespace_advisor.placement_choice[] := '{}';
BEGIN
	wanted := array(SELECT a FROM unnest(relations) a
		JOIN unnest(considered) c ON c = a.relation);
	estimates := array(SELECT e
		FROM tablespace_advisor.estimate_placement(relations, tablespaces, load) e
		JOIN unnest(considered) c ON c = e.relation);
	IF with_evictions THEN
		moves := array(SELECT c FROM tablespace_advisor.choose_evictions(
			wanted, estimates, tablespaces) c);
	END IF;
	candidates := array(SELECT c FROM tablespace_advisor.move_candidates(
			wanted, estimates, tablespaces, load, destination) c
		WHERE NOT EXISTS (SELECT FROM unnest(moves) m
			WHERE m.relation = c.relation));
	moves := moves || array(SELECT c FROM tablespace_advisor.choose_moves(
		candidates, tablespaces, budget_bytes) c);

	RETURN QUERY
		WITH chosen AS (
			SELECT m.*, row_number() OVER (ORDER BY
				m.saved_ms_per_s < 0 DESC,
				m.saved_ms_per_s / nullif(m.bytes, 0) DESC NULLS FIRST,
				m.relation::text COLLATE "C")::int AS rank
			FROM unnest(moves) m
		), decided AS (
			SELECT c.* FROM chosen c
			UNION ALL
			SELECT o.*, NULL FROM tablespace_advisor.other_verdicts(
				array(SELECT a FROM unnest(wanted) a
					WHERE NOT EXISTS (SELECT FROM chosen c WHERE c.relation = a.relation)),
				estimates, tablespaces, load, destination, candidates) o
		)
		SELECT ROW(d.rank, d.action, a.relation, a.tablespace,
				CASE d.action WHEN 'move' THEN d.destination
					WHEN 'drop candidate' THEN NULL
					ELSE a.tablespace END,
				a.size_bytes,
				tablespace_advisor.round_to_three(s.saved_ms_per_s),
				tablespace_advisor.round_to_three(100 * s.saved_ms_per_s
					/ nullif(h.table_read_ms_per_s, 0)),
				tablespace_advisor.one_line(d.reason),
				CASE d.action WHEN 'move' THEN tablespace_advisor.move_statement(
						a.relation, a.kind, d.destination, tablespace_advisor.is_bloated(a))
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
						d.saved_ms_per_s, d.bytes, d.bound_ms_per_s, d.is_exact))
				|| jsonb_build_object('not_probed', n.names)
			END
		FROM decided d
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

REVOKE ALL ON FUNCTION
	tablespace_advisor.move_candidates(tablespace_advisor.relation_fact[],
		tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[],
		tablespace_advisor.load_fact, name),
	tablespace_advisor.choose_evictions(tablespace_advisor.relation_fact[],
		tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[]),
	tablespace_advisor.destination_order(tablespace_advisor.tablespace_fact,
		tablespace_advisor.tablespace_fact),
	tablespace_advisor.other_verdicts(tablespace_advisor.relation_fact[],
		tablespace_advisor.placement_estimate[], tablespace_advisor.tablespace_fact[],
		tablespace_advisor.load_fact, name, tablespace_advisor.placement_choice[]),
	tablespace_advisor.move_statement(regclass, text, name, boolean),
	tablespace_advisor.row_evidence(tablespace_advisor.relation_fact,
		tablespace_advisor.placement_estimate, tablespace_advisor.tablespace_fact,
		tablespace_advisor.tablespace_fact, tablespace_advisor.load_estimate,
		tablespace_advisor.load_fact, tablespace_advisor.placement_choice),
	tablespace_advisor.judge_placement(tablespace_advisor.relation_fact[],
		regclass[], tablespace_advisor.tablespace_fact[],
		tablespace_advisor.load_fact, name, bigint, boolean, boolean)
	FROM PUBLIC;
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
RETURNS SETOF @extschema@.placement_advice
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_advise_index_placement';
COMMENT ON FUNCTION @extschema@.advise_index_placement(regclass, name, text, interval) IS
	'one row per index of the target and one for the table itself with its TOAST table (of a partitioned table: of every partition; of an index: that row alone); moves first, in the order in which they save most per byte; columns: see the type placement_advice. target: table, partitioned table, materialized view or index; tablespace: where to, by default wherever it saves most; space_budget: bytes that moves may fill, as pg_size_bytes() reads them; observe: watch for so long instead of using samples. Errors: 42704 no such tablespace, 42809 neither table nor index, 42501 neither owner nor member of pg_monitor, 22023 bad budget, duration or pg_global, 22004 no target';

CREATE FUNCTION @extschema@.advise_placement(
	space_budget text DEFAULT NULL,
	observe interval DEFAULT NULL)
RETURNS SETOF @extschema@.placement_advice
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_advise_placement';
COMMENT ON FUNCTION @extschema@.advise_placement(text, interval) IS
	'the same for the whole database, each relation to the fastest tablespace that it is worth its bytes in; relations that were neither read nor written have no row, unless they are in a tablespace that is too full (less than a twentieth of its file system free), which is relieved. Errors: 42501 not a member of pg_monitor, 22023 bad budget or duration';

CREATE FUNCTION @extschema@.explain_placement(target regclass DEFAULT NULL)
RETURNS SETOF text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_explain_placement';
COMMENT ON FUNCTION @extschema@.explain_placement(regclass) IS
	'the advice on a relation, or on the whole database, as lines of text: what is spent on reading, who causes it, what each move would save and cost, what no move can save, and what the figures rest on. Errors as of advise_index_placement()';

CREATE FUNCTION @extschema@.placement_evidence(
	target regclass DEFAULT NULL,
	OUT relation regclass,
	OUT evidence jsonb)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_placement_evidence';
COMMENT ON FUNCTION @extschema@.placement_evidence(regclass) IS
	'per relation all that its advice rests on: the window and its waits, activity, sizes, probe runs and latencies with intervals, queue depths, shares served by caches, corrections, cost of the move. Errors as of advise_index_placement()';
/* How fast moves are, and whether one is to be begun. */

/*
 * The median of the last twenty moves of some size, of those that nobody has
 * given a max_rate, and without their pauses: whoever may move slowly must not
 * decide what others may begin.  Before there is any, what the probes say of
 * reading and writing one after the other.  max_rate below 0: unlimited.
 */
CREATE FUNCTION tablespace_advisor.move_rate(
	source oid, target oid, move_method text, max_rate bigint DEFAULT NULL)
RETURNS float8
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT least(CASE WHEN max_rate > 0 THEN max_rate END, coalesce(
		(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m.rate)
			FROM (SELECT j.bytes_total / w.seconds AS rate
				FROM tablespace_advisor.job j
				CROSS JOIN LATERAL (SELECT extract(epoch FROM j.finished_at
					- j.started_at)::float8 - j.paused_ms / 1000) w (seconds)
				WHERE j.state = 'done' AND j.to_tablespace = target
					AND (j.method = 'rebuild') = (move_method = 'rebuild')
					AND j.bytes_total >= 1048576
					AND coalesce(j.max_rate, -1) < 0 AND w.seconds > 0
				ORDER BY j.job_id DESC LIMIT 20) m),
		(SELECT current_setting('block_size')::float8 * 1e6 /
				(s.sequential_page_us
					+ coalesce(t.sequential_write_page_us, 0))
			FROM tablespace_advisor.tablespace_latency s,
				tablespace_advisor.tablespace_latency t
			WHERE s.tablespace_oid = source AND t.tablespace_oid = target
				AND move_method <> 'rebuild')))
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.move_rate(oid, oid, text, bigint)
	FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.move_rate(oid, oid, text, bigint) IS
	'bytes per second that a move between two tablespaces makes, at most max_rate: by earlier moves without max_rate, else by probes; NULL when nothing was measured';

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
					j.to_tablespace, j.method, j.max_rate)) THEN
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
	WHERE j.job_id = job
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.reason_not_to_begin(bigint)
	FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.reason_not_to_begin(bigint) IS
	'why a queued move is not to be begun; NULL if it may be';

COMMENT ON COLUMN tablespace_advisor.job.until IS
	'the move is not begun if it would not end by then; NULL: whenever';
COMMENT ON COLUMN tablespace_advisor.job.lock_up_to IS
	'method lock: the relation is not moved if it is larger by then, in bytes';
/*
 * move: what people call, and what it stands on.
 */
COMMENT ON TABLE tablespace_advisor.pause IS
	'moves that somebody has asked to pause and not to resume; without meaning when the move has ended';
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
	'saved_ms_per_s of advise_index_placement() when the move was queued, whoever decided it; NULL when nothing was known';
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
REVOKE ALL ON FUNCTION tablespace_advisor.partitions_of(regclass) FROM PUBLIC;
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
REVOKE ALL ON FUNCTION tablespace_advisor.indexes_of(regclass) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.indexes_of(regclass) IS
	'an index, or the indexes of a table, with those of all partitions; leaves first; size_bytes counts all forks';

/* The same for tables: what has storage first, then parents after children. */
CREATE FUNCTION tablespace_advisor.tables_of(target regclass)
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
REVOKE ALL ON FUNCTION tablespace_advisor.tables_of(regclass) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.tables_of(regclass) IS
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
REVOKE ALL ON tablespace_advisor.transient_index FROM PUBLIC;
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

CREATE VIEW @extschema@.tablespace_moves WITH (security_barrier) AS
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
	b.rate AS mb_per_s,
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
	CASE j.state WHEN 'running' THEN j.present_mb_per_s END
		AS present_mb_per_s,
	CASE j.state WHEN 'running' THEN j.rate_reason END AS rate_reason
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
		(SELECT system_identifier FROM pg_catalog.pg_control_system())
	AND (pg_catalog.pg_has_role(j.owner, 'USAGE')
		OR pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE'));
GRANT SELECT ON @extschema@.tablespace_moves TO PUBLIC;

COMMENT ON VIEW @extschema@.tablespace_moves IS
	'moves queued, under way and ended; a role sees its own, members of pg_read_all_stats see all';
COMMENT ON COLUMN @extschema@.tablespace_moves.relation_name IS
	'schema and name when the move was queued';
COMMENT ON COLUMN @extschema@.tablespace_moves.method IS
	'copy (live block copy), rebuild (REINDEX CONCURRENTLY), catalog (ALTER ... SET TABLESPACE of a partitioned table or index, which has no storage) or lock (ALTER ... SET TABLESPACE)';
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
	'milliseconds of reading per second that advise_index_placement() expected to save when the move was queued; of a table with the indexes that move along, but not when hot_only was asked for; NULL when nothing was known';

COMMENT ON COLUMN @extschema@.tablespace_moves.pid IS
	'process id of the background worker of a move under way, as in pg_stat_activity and pg_locks';
COMMENT ON COLUMN @extschema@.tablespace_moves.sqlstate IS
	'SQLSTATE of the error that ended the move';
COMMENT ON COLUMN @extschema@.tablespace_moves.detail IS
	'detail of the error that ended the move';
COMMENT ON COLUMN @extschema@.tablespace_moves.batch_id IS
	'first job_id of the call that queued the move';

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
	INOUT job_ids bigint[] DEFAULT NULL)
LANGUAGE C AS 'MODULE_PATHNAME', 'tsa_move_indexes_concurrently';
COMMENT ON PROCEDURE @extschema@.move_indexes_concurrently(regclass, name, regclass[],
	text, text, interval, boolean, boolean, boolean, bigint[]) IS
	'moves one index, or the indexes of a table or partitioned table, to another tablespace while they are in use; without tablespace, or with hot_only, what and where the advice says; method copy (live block copy, with an exclusive lock of about a millisecond), rebuild (REINDEX CONCURRENTLY) or auto (copy where it applies); max_rate: a bound in bytes per second such as ''200 MB'' to a rate that adapts to what others need, or ''unlimited''; lock_timeout: longest wait for a lock per attempt; wait => false returns the job ids to look up in tablespace_moves; dry_run only says what would be done. The caller must own the table and have CREATE on the tablespace (42501). Not in a transaction block (25001)';

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
	INOUT job_ids bigint[] DEFAULT NULL)
LANGUAGE C AS 'MODULE_PATHNAME', 'tsa_move_table_concurrently';
COMMENT ON PROCEDURE @extschema@.move_table_concurrently(regclass, name, boolean,
	text, text, interval, boolean, boolean, boolean, bigint[]) IS
	'moves a table, materialized view or the partitions of a partitioned table to another tablespace while they are in use, with TOAST, by live block copy; with_indexes: its indexes too, those that live copy applies to in the same cutover, others by rebuild; method copy or auto (copy; indexes that it does not apply to are rebuilt); max_rate: a bound in bytes per second such as ''200 MB'' to a rate that adapts to what others need, or ''unlimited''; lock_timeout: longest wait for a lock per attempt; wait => false returns the job ids to look up in tablespace_moves; dry_run only says what would be done; hot_only: only tables that advise_index_placement() says to move there. The caller must own the table and have CREATE on the tablespace (42501). Other errors: 22004 no target or tablespace, 42809 not a table (indexes: move_indexes_concurrently()), 0A000 method rebuild, or a table that live copy cannot move (unlogged, temporary, system, other access method), 55006 it or one of its indexes is being moved, 53100 too little space, 25001 in a transaction block';

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
	'waits until all of these moves have ended, however: true; false when that takes longer than timeout (NULL: no limit). Errors: 42704 there is no such job, 42501 it is neither the caller''s own nor the caller a member of pg_read_all_stats, 40P01 a move waits for the caller''s transaction';

/*
 * src/move/outcomes.sql
 *
 * What a move was expected to save, beside what was measured.  The moves of a
 * call are followed by each other within minutes, so what the database did
 * after them belongs to all of them: the unit is the batch.  Windows before
 * and after are equally long, as long as samples allow, one day at most, and
 * hold no part of the move itself.
 *
 * The server times reads per database, not per relation.  The load is hardly
 * the same in both windows, so the read time after the move is scaled to the
 * block accesses before it.
 */
CREATE FUNCTION tablespace_advisor.summarize_intervals(
	begins timestamptz,
	ends timestamptz,
	OUT intervals bigint,
	OUT first_id int,
	OUT last_id int,
	OUT seconds float8,
	OUT accesses_per_s float8,
	OUT reads_per_s float8,
	OUT hit_fraction float8,
	OUT read_ms_per_s float8,
	OUT read_ms_error float8,
	OUT statements_per_s float8,
	OUT statement_ms float8,
	OUT statement_ms_error float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT count(*), min(i.sample_id), max(i.sample_id), sum(i.seconds),
		sum(i.blocks_read + i.blocks_hit) / sum(i.seconds),
		sum(i.blocks_read) / sum(i.seconds),
		sum(i.blocks_hit) / nullif(sum(i.blocks_read + i.blocks_hit), 0)::float8,
		CASE WHEN bool_and(i.read_ms IS NOT NULL)
			THEN sum(i.read_ms) / sum(i.seconds) END,
		CASE WHEN bool_and(i.read_ms IS NOT NULL) AND count(*) >= 3
			THEN stddev(i.read_ms / nullif(i.seconds, 0)) / sqrt(count(*)) END,
		CASE WHEN bool_and(i.statements IS NOT NULL)
			THEN sum(i.statements) / sum(i.seconds) END,
		CASE WHEN bool_and(i.statements IS NOT NULL)
			THEN sum(i.statements_ms) / nullif(sum(i.statements), 0)::float8 END,
		CASE WHEN bool_and(i.statements > 0) AND count(*) >= 3
			THEN stddev(i.statements_ms / i.statements) / sqrt(count(*)) END
	FROM tablespace_advisor.sample_interval i
	WHERE i.started_at >= begins AND i.taken_at <= ends AND i.seconds > 0
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.summarize_intervals(timestamptz, timestamptz) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.summarize_intervals(timestamptz, timestamptz) IS
	'the samples that lie between two moments as a whole: how many, seconds, the database''s block accesses and reads per second, share of accesses found in shared buffers, milliseconds per second that the server timed for reads and statements and milliseconds per statement by pg_stat_statements, both times with the standard error of the mean of the samples; NULL where there is nothing of that';

CREATE FUNCTION tablespace_advisor.relation_reads(
	relations oid[],
	first_id int,
	last_id int,
	OUT reads float8,
	OUT hits float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(sum(r.reads), 0)::float8, coalesce(sum(r.hits), 0)::float8
	FROM tablespace_advisor.relation_sample r
	WHERE r.sample_id BETWEEN first_id AND last_id
		AND r.relation = ANY (relations)
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.relation_reads(oid[], int, int) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.relation_reads(oid[], int, int) IS
	'blocks that some relations read past shared buffers and found in them, in samples from one to another';

CREATE VIEW @extschema@.move_outcomes AS
WITH batch AS MATERIALIZED (
	SELECT j.batch_id, min(j.started_at) AS started_at,
		max(j.finished_at) AS finished_at,
		sum(j.forecast_saved_ms_per_s) AS forecast_saved_ms_per_s
	FROM tablespace_advisor.job j
	WHERE j.state = 'done' AND j.method <> 'catalog'
	GROUP BY j.batch_id
	HAVING NOT EXISTS (SELECT FROM tablespace_advisor.job u
		WHERE u.batch_id = j.batch_id
			AND u.state IN ('queued', 'running', 'paused'))
), compared AS MATERIALIZED (
	SELECT b.batch_id, b.forecast_saved_ms_per_s AS forecast,
		w.length, p AS before, n AS after
	FROM batch b
	CROSS JOIN LATERAL
		(SELECT least(interval '1 day',
			(SELECT b.started_at - min(i.started_at)
				FROM tablespace_advisor.sample_interval i
				WHERE i.taken_at <= b.started_at),
			(SELECT max(i.taken_at) - b.finished_at
				FROM tablespace_advisor.sample_interval i
				WHERE i.started_at >= b.finished_at)) AS length) w
	CROSS JOIN LATERAL tablespace_advisor.summarize_intervals(
		b.started_at - w.length, b.started_at) p
	CROSS JOIN LATERAL tablespace_advisor.summarize_intervals(
		b.finished_at, b.finished_at + w.length) n
), measured AS MATERIALIZED (
	SELECT c.*,
		(c.before).read_ms_per_s - (c.after).read_ms_per_s * s.scale AS saved,
		1.96 * sqrt((c.before).read_ms_error ^ 2
			+ ((c.after).read_ms_error * s.scale) ^ 2) AS error,
		(c.before).statement_ms - (c.after).statement_ms AS statement_saved,
		1.96 * sqrt((c.before).statement_ms_error ^ 2
			+ (c.after).statement_ms_error ^ 2) AS statement_error
	FROM compared c
	CROSS JOIN LATERAL
		(SELECT (c.before).accesses_per_s
			/ nullif((c.after).accesses_per_s, 0) AS scale) s
)
SELECT j.job_id, j.batch_id, j.relation::regclass AS relation,
	pg_catalog.format('%I.%I', j.schema_name, j.relation_name)
		AS relation_name,
	j.from_tablespace_name AS from_tablespace,
	j.to_tablespace_name AS to_tablespace,
	j.finished_at,
	CASE
		WHEN j.state <> 'done' THEN j.state
		WHEN m.saved IS NULL THEN 'not measured'
		WHEN m.forecast IS NULL THEN 'no forecast'
		WHEN m.error IS NULL THEN 'too few samples'
		WHEN m.saved + m.error < 0.75 * m.forecast THEN 'saved less'
		WHEN m.saved - m.error > 1.25 * m.forecast THEN 'saved more'
		ELSE 'as forecast'
	END AS outcome,
	j.forecast_saved_ms_per_s,
	m.forecast AS batch_forecast_ms_per_s,
	m.saved AS batch_saved_ms_per_s,
	m.saved - m.error AS batch_saved_low,
	m.saved + m.error AS batch_saved_high,
	pg_catalog.extract('epoch', m.length)::float8 AS window_s,
	(m.before).intervals AS samples_before,
	(m.after).intervals AS samples_after,
	(m.before).read_ms_per_s AS read_ms_per_s_before,
	(m.after).read_ms_per_s AS read_ms_per_s_after,
	(m.before).accesses_per_s AS accesses_per_s_before,
	(m.after).accesses_per_s AS accesses_per_s_after,
	before.reads / nullif((m.before).seconds, 0) AS reads_per_s_before,
	after.reads / nullif((m.after).seconds, 0) AS reads_per_s_after,
	before.hits / nullif(before.reads + before.hits, 0) AS hit_fraction_before,
	after.hits / nullif(after.reads + after.hits, 0) AS hit_fraction_after,
	(m.before).statement_ms AS statement_ms_before,
	(m.after).statement_ms AS statement_ms_after,
	m.forecast / nullif((m.before).statements_per_s, 0)
		AS statement_forecast_saved_ms,
	m.statement_saved AS statement_saved_ms,
	m.statement_saved - m.statement_error AS statement_saved_low,
	m.statement_saved + m.statement_error AS statement_saved_high
FROM tablespace_advisor.job j
LEFT JOIN measured m USING (batch_id)
CROSS JOIN LATERAL
	(SELECT array_remove(ARRAY[j.relation, j.old_index], NULL)
		|| coalesce(j.indexes, '{}')
		|| array(SELECT i.relation
			FROM tablespace_advisor.relation_inventory i
			WHERE i.heap = j.relation AND i.kind IN ('toast', 'toast index'))
		AS moved) r
LEFT JOIN LATERAL tablespace_advisor.relation_reads(r.moved,
	(m.before).first_id, (m.before).last_id) before ON m.batch_id IS NOT NULL
LEFT JOIN LATERAL tablespace_advisor.relation_reads(r.moved,
	(m.after).first_id, (m.after).last_id) after ON m.batch_id IS NOT NULL
WHERE j.state NOT IN ('queued', 'running', 'paused');
REVOKE ALL ON @extschema@.move_outcomes FROM PUBLIC;
GRANT SELECT ON @extschema@.move_outcomes TO pg_monitor;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.summarize_intervals(timestamptz, timestamptz),
	tablespace_advisor.relation_reads(oid[], int, int) TO pg_monitor;
COMMENT ON VIEW @extschema@.move_outcomes IS
	'per ended move: the forecast beside what samples measured in equal windows before and after all moves of the same call. outcome: as forecast, saved less or saved more (beyond 25 % and the interval), no forecast, not measured (no samples on both sides, or track_io_timing off), too few samples (fewer than three on a side), failed or cancelled. batch_saved_ms_per_s: read time of the database before, minus that after it scaled to the same number of block accesses, in milliseconds per second, with a 95 % interval; reads_per_s_…, hit_fraction_…: of the moved relations; accesses_per_s_…: blocks of the whole database; statement_ms_…: mean of all statements by pg_stat_statements, NULL without it; statement_forecast_saved_ms: the forecast as milliseconds per statement, statement_saved_…: what was saved of one, with a 95 % interval.';
/*
 * What moves have shown of the rate at which relations can be copied.
 */
CREATE FUNCTION tablespace_advisor.copied_mb_per_s(
	from_tablespace oid, to_tablespace oid)
RETURNS float8
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m.rate)
	FROM (SELECT j.bytes_total / 1048576.0::float8 / nullif(
			extract(epoch FROM j.finished_at - j.started_at)::float8
				- j.paused_ms / 1000, 0) AS rate
		FROM tablespace_advisor.job j
		WHERE j.method = 'copy' AND j.state = 'done'
			AND j.from_tablespace = $1 AND j.to_tablespace = $2
			AND j.bytes_total >= 16 * 1048576
			AND j.max_rate IS NULL
			AND j.database = (SELECT oid FROM pg_database
				WHERE datname = current_database())
			AND j.system_identifier =
				(SELECT system_identifier FROM pg_control_system())
		ORDER BY j.job_id DESC LIMIT 20) m
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.copied_mb_per_s(oid, oid)
	FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.copied_mb_per_s(oid, oid) IS
	'median MB (1048576 bytes) per second of the last 20 live copies of 16 MB or more from one tablespace to another without max_rate, pauses left out; NULL when there was none';
/* What lies in a tablespace, and how it leaves. */

CREATE FUNCTION tablespace_advisor.relations_in(
	tablespace_oid oid, database_oid oid,
	OUT relation oid, OUT heap oid, OUT goes_with oid, OUT schema_name name,
	OUT relation_name name, OUT kind "char", OUT persistence "char",
	OUT owner oid, OUT filenumber oid, OUT backend int, OUT is_valid boolean,
	OUT is_exclusion boolean, OUT is_deferrable boolean,
	OUT extension_schema name, OUT transaction xid, OUT obstacle text,
	OUT is_locked boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_relations_in'
LANGUAGE C STRICT VOLATILE ROWS 1000;
REVOKE ALL ON FUNCTION tablespace_advisor.relations_in(oid, oid) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.relations_in(oid, oid) IS
	'the relations of a database in a tablespace, catalogs and TOAST among them, and those that transactions under way are making; obstacle: why live copy does not apply. A worker looks into other databases (53000: no worker slot is free)';

CREATE FUNCTION tablespace_advisor.routine_settings(
	database_oid oid, OUT routine text, OUT setting text, OUT value text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_routine_settings'
LANGUAGE C STRICT VOLATILE ROWS 10;
REVOKE ALL ON FUNCTION tablespace_advisor.routine_settings(oid) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.routine_settings(oid) IS
	'default_tablespace and temp_tablespaces of a database''s functions and procedures. A worker looks into other databases (53000: no worker slot is free)';

CREATE FUNCTION tablespace_advisor.temporary_owner_pid(backend int)
RETURNS int
AS 'MODULE_PATHNAME', 'tsa_temporary_owner_pid'
LANGUAGE C STRICT VOLATILE;
REVOKE ALL ON FUNCTION tablespace_advisor.temporary_owner_pid(int) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.temporary_owner_pid(int) IS
	'process ID of the session whose temporary schema and files have this number; NULL if it has ended';

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
REVOKE ALL ON FUNCTION tablespace_advisor.tablespace_directory(oid) FROM PUBLIC;
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
REVOKE ALL ON FUNCTION tablespace_advisor.files_in(text) FROM PUBLIC;
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
	SELECT p.parts[2]::oid, p.parts[1]::int, sum(f.bytes)::bigint,
		max(f.modified), d.directory || '/' || min(f.name)
	FROM (SELECT tablespace_advisor.tablespace_directory(tablespace_oid)
			|| '/' || database_oid) d(directory)
		CROSS JOIN LATERAL tablespace_advisor.files_in(d.directory) f
		CROSS JOIN LATERAL (SELECT regexp_match(f.name,
			'^(?:t([0-9]+)_)?([0-9]+)(?:_(?:fsm|vm|init))?(?:\.[0-9]+)?$'))
			p(parts)
	WHERE f.name !~ '^(PG_VERSION|pg_filenode\.map|pg_internal\.init.*)$'
	GROUP BY d.directory, p.parts[2], p.parts[1],
		CASE WHEN p.parts IS NULL THEN f.name END
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.storage_in(oid, oid) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.storage_in(oid, oid) IS
	'what a database has in the directory of a tablespace, one row for all files of a relation; filenumber: NULL for files that cannot be a relation''s; backend: of temporary relations';

CREATE FUNCTION tablespace_advisor.databases_in(tablespace_oid oid)
RETURNS TABLE (database oid, name name, is_default boolean, is_valid boolean)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT d.oid, d.datname, d.dattablespace = tablespace_oid,
		d.datconnlimit <> -2
	FROM pg_database d
	WHERE d.dattablespace = tablespace_oid
		OR d.oid::text IN (SELECT f.name FROM tablespace_advisor.files_in(
			tablespace_advisor.tablespace_directory(tablespace_oid)) f)
		OR EXISTS (SELECT FROM pg_shdepend s WHERE s.dbid = d.oid
			AND s.refclassid = 'pg_tablespace'::regclass
			AND s.refobjid = tablespace_oid)
	ORDER BY d.datname <> current_database(), d.datname
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.databases_in(oid) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.databases_in(oid) IS
	'databases that have something in a tablespace, be it only a partitioned table; is_default: their catalogs too; is_valid: false if a DROP DATABASE was interrupted';

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
REVOKE ALL ON FUNCTION tablespace_advisor.third_tablespace(oid, oid, oid)
	FROM PUBLIC;
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
	extension_schema name, size_bytes bigint, how text, reason text,
	backend int, is_journal boolean)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH found AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.relations_in(tablespace_oid, database_oid) r
		WHERE r.transaction IS NULL
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
		e.how,
		CASE
			WHEN e.how = 'temporary' THEN
				'It is temporary and goes with its session.'
			WHEN f.relation < 16384 AND is_default THEN
				'It belongs to the system and moves with its database only.'
			WHEN f.relation < 16384 THEN
				'It belongs to the system, of which nothing is moved while it is in use.'
			WHEN f.kind = 'S' THEN
				'Sequences are always in their database''s default tablespace.'
			WHEN f.persistence <> 'u' AND h.gid IS NOT NULL THEN
				format('Prepared transaction %L holds a lock on it.', h.gid)
			WHEN e.how = 'catalog' THEN
				'It has no storage: it says where new partitions, or their indexes, are made.'
			WHEN e.is_journal THEN
				'It is the journal of moves, which is in use while anything moves: it comes last.'
			WHEN f.kind = 'i' AND NOT f.is_valid THEN
				'It is invalid: drop it, or repair it with REINDEX.'
			WHEN f.obstacle IS NOT NULL THEN
				format('Live copy does not apply. %s', f.obstacle)
			WHEN f.extension_schema IS NULL THEN
				'The extension is not installed in its database; with it this could be moved while it is in use.'
			WHEN f.is_locked THEN 'Another session has locked it.'
		END,
		f.backend, e.is_journal
	FROM found f
		JOIN sized s USING (relation)
		LEFT JOIN held h ON h.relation = f.heap
		CROSS JOIN LATERAL (SELECT f.extension_schema IS NOT NULL
				AND f.schema_name = 'tablespace_advisor'
				AND (f.relation_name IN ('job', 'pause')
					OR f.kind = 'i' AND f.relation_name ~ '^(job|pause)_'))
			j(is_journal)
		CROSS JOIN LATERAL (SELECT CASE
			WHEN f.persistence = 't' THEN 'temporary'
			WHEN f.relation < 16384 AND is_default OR f.kind = 'S'
				THEN 'with database'
			WHEN f.relation < 16384 THEN 'lock'
			WHEN f.kind IN ('p', 'I') THEN 'catalog'
			WHEN j.is_journal OR f.kind = 'i' AND NOT f.is_valid THEN 'lock'
			WHEN f.obstacle IS NULL AND f.extension_schema IS NOT NULL
				THEN 'live'
			WHEN f.kind = 'i' AND NOT f.is_exclusion AND NOT f.is_deferrable
				THEN 'rebuild'
			ELSE 'lock' END, j.is_journal) e(how, is_journal)
	WHERE f.goes_with IS NULL
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.leaving_relations(oid, oid, boolean)
	FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.leaving_relations(oid, oid, boolean) IS
	'the relations of a database in a tablespace, TOAST counted with its table, and how each can leave';

CREATE FUNCTION tablespace_advisor.kind_name(kind "char")
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE kind WHEN 'r' THEN 'table' WHEN 'm' THEN 'materialized view'
		WHEN 'i' THEN 'index' WHEN 'p' THEN 'partitioned table'
		WHEN 'I' THEN 'partitioned index' WHEN 'S' THEN 'sequence'
		WHEN 't' THEN 'TOAST table' END
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.kind_name("char") FROM PUBLIC;
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
REVOKE ALL ON FUNCTION tablespace_advisor.leaving_statement(
	text, "char", name, name, name, name) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.leaving_statement(
	text, "char", name, name, name, name) IS
	'the statement that moves a relation to a tablespace, to be run in the relation''s database';

/* Members of a list of identifiers, as in temp_tablespaces. */
CREATE FUNCTION tablespace_advisor.split_identifiers(list text)
RETURNS SETOF text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN m[1] LIKE '"%'
		THEN replace(btrim(m[1], '"'), '""', '"') ELSE lower(m[1]) END
	FROM regexp_matches(list, '("(?:[^"]|"")*"|[^",\s]+)', 'g') m
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.split_identifiers(text) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.split_identifiers(text) IS
	'the names in a list of identifiers';

/*
 * Settings that name a tablespace: DROP TABLESPACE does not look at them.
 * Those of routines are in their databases, which all have to be looked into.
 */
CREATE FUNCTION tablespace_advisor.settings_naming(
	tablespace name, show_names boolean)
RETURNS TABLE (database name, setting text, kind text, statement text,
	reason text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH given AS (
		SELECT d.datname, r.rolname, NULL::text AS file, NULL::text AS routine,
			split_part(c, '=', 1) AS setting,
			"substring"(c, pg_catalog.strpos(c, '=') + 1) AS value
		FROM pg_db_role_setting s
			LEFT JOIN pg_database d ON d.oid = s.setdatabase
			LEFT JOIN pg_roles r ON r.oid = s.setrole
			CROSS JOIN LATERAL unnest(s.setconfig) c
		UNION ALL
		SELECT NULL, NULL, f.sourcefile, NULL, f.name, f.setting
		FROM pg_file_settings f
		WHERE f.applied
		UNION ALL
		SELECT d.datname, NULL, NULL, f.routine, f.setting, f.value
		FROM pg_database d
			CROSS JOIN LATERAL tablespace_advisor.routine_settings(d.oid) f
		WHERE d.datconnlimit <> -2
	), naming AS (
		SELECT g.*,
			(SELECT string_agg(quote_ident(i), ', ')
				FROM tablespace_advisor.split_identifiers(g.value) i
				WHERE g.setting = 'temp_tablespaces' AND i <> tablespace) AS rest,
			g.routine IS NULL OR show_names
				OR g.datname = current_database() AS shown
		FROM given g
		WHERE g.setting = 'default_tablespace' AND g.value = tablespace
			OR g.setting = 'temp_tablespaces' AND tablespace IN (
				SELECT i FROM tablespace_advisor.split_identifiers(g.value) i)
	)
	SELECT n.datname, n.setting,
		CASE WHEN n.file IS NOT NULL
				THEN format('setting in %s', n.file)
			WHEN NOT n.shown THEN 'setting of a routine'
			WHEN n.routine IS NOT NULL
				THEN format('setting of routine %s', n.routine)
			WHEN n.rolname IS NULL
				THEN format('setting of database %I', n.datname)
			ELSE format('setting of role %I', n.rolname)
				|| coalesce(' in database ' || quote_ident(n.datname), '') END,
		CASE WHEN n.file IS NOT NULL THEN 'ALTER SYSTEM'
			WHEN NOT n.shown THEN NULL
			WHEN n.routine IS NOT NULL THEN 'ALTER ROUTINE ' || n.routine
			WHEN n.rolname IS NULL THEN format('ALTER DATABASE %I', n.datname)
			ELSE format('ALTER ROLE %I', n.rolname)
				|| coalesce(' IN DATABASE ' || quote_ident(n.datname), '') END
		|| CASE WHEN n.rest IS NOT NULL
				THEN format(' SET %I TO %s', n.setting, n.rest)
			WHEN n.file IS NOT NULL AND n.file !~ 'postgresql\.auto\.conf$'
				THEN format(' SET %I TO %L', n.setting, '')
			ELSE format(' RESET %I', n.setting) END,
		CASE WHEN n.routine IS NOT NULL
			THEN 'DROP TABLESPACE leaves it, and then every call of the routine fails.'
			ELSE 'DROP TABLESPACE leaves it, and then it is a warning at every connection, and an error to SET.'
			END
	FROM naming n
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.settings_naming(name, boolean)
	FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.settings_naming(name, boolean) IS
	'settings of databases, roles and routines, and of configuration files, that name a tablespace, and statements that change that; show_names: of routines in other databases';

/*
 * Files that no relation has.  What the next checkpoint unlinks is empty and
 * younger than the last one: DROP TABLESPACE waits for such a checkpoint.
 * What is younger than a transaction under way may be that transaction's.
 */
CREATE FUNCTION tablespace_advisor.unowned_files(tablespace_oid oid, database_oid oid)
RETURNS TABLE (path text, bytes bigint, how text, statement text, reason text)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	WITH storage AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.storage_in(tablespace_oid, database_oid)
	), unowned AS MATERIALIZED (
		SELECT s.*, u.transaction, p.gid,
			(SELECT min(a.xact_start) FROM pg_stat_activity a
				WHERE a.datid = database_oid AND a.pid <> pg_backend_pid()) AS since
		FROM storage s
			LEFT JOIN (SELECT r.filenumber, r.backend,
					max(r.transaction::text) FILTER (WHERE
						r.transaction IS NOT NULL) AS transaction,
					bool_or(r.transaction IS NULL) AS committed
				FROM tablespace_advisor.relations_in(tablespace_oid, database_oid) r
				GROUP BY 1, 2) u ON u.filenumber = s.filenumber
				AND (u.backend IS NOT DISTINCT FROM s.backend
					OR u.transaction IS NOT NULL)
			LEFT JOIN pg_prepared_xacts p
				ON p.transaction::text = u.transaction
		WHERE u.committed IS NOT TRUE
			AND NOT (s.filenumber IS NOT NULL AND s.bytes = 0
				AND u.transaction IS NULL
				AND s.modified >= (SELECT checkpoint_time
					FROM pg_control_checkpoint()))
	), journal AS MATERIALIZED (
		SELECT j.job_id, j.state, n AS filenumber
		FROM tablespace_advisor.job j
			CROSS JOIN LATERAL unnest(j.new_filenumbers || j.old_filenumbers) n
		WHERE j.database = database_oid
	)
	SELECT u.path, u.bytes,
		CASE WHEN u.transaction IS NOT NULL OR j.job_id IS NOT NULL
				OR u.backend IS NOT NULL OR u.modified >= u.since
			THEN 'temporary' ELSE 'orphan' END,
		CASE WHEN u.gid IS NOT NULL THEN format('COMMIT PREPARED %L', u.gid)
			END,
		CASE
			WHEN u.gid IS NOT NULL THEN
				format('Prepared transaction %L has made it: commit or roll back.', u.gid)
			WHEN u.transaction IS NOT NULL THEN
				format('Transaction %s, which is under way, has made it.', u.transaction)
			WHEN j.job_id IS NOT NULL THEN
				format('It is a file of move %s and goes with its end.', j.job_id)
			WHEN u.backend IS NOT NULL THEN
				'It is of a temporary relation; if its session has ended, the next restart of the server removes it.'
			WHEN u.modified >= u.since THEN
				'No relation has it, but a transaction under way may have made it: look again when it has ended.'
			ELSE 'No relation has it, and no transaction under way is old enough to have made it: it was left by a crash. Remove it by hand, with the server stopped.'
		END
	FROM unowned u LEFT JOIN journal j ON j.filenumber = u.filenumber
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.unowned_files(oid, oid) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.unowned_files(oid, oid) IS
	'files of a database in a tablespace that no relation has, but for empty ones that the next checkpoint removes';

/* What belongs to no database: temporary files, and what nobody knows. */
CREATE FUNCTION tablespace_advisor.files_beside_databases(tablespace_oid oid)
RETURNS TABLE (path text, kind text, bytes bigint, how text, statement text,
	reason text)
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
		CASE WHEN a.pid IS NOT NULL
			THEN format('SELECT pg_catalog.pg_cancel_backend(%s)', a.pid) END,
		CASE WHEN a.pid IS NOT NULL
			THEN format('They are of the present statement of process %s.', a.pid)
			ELSE 'Their process has ended: the next restart of the server removes them.'
		END
	FROM temporary t LEFT JOIN pg_stat_activity a ON a.pid = t.pid
	UNION ALL
	SELECT e.path, CASE WHEN e.is_directory THEN 'directory' ELSE 'file' END,
		NULL, 'orphan', NULL,
		CASE WHEN e.name ~ '^[0-9]+$'
			THEN 'No database has it: CREATE DATABASE may be under way, or it was left by a crash.'
			ELSE 'The server did not make it.' END
	FROM entry e
	WHERE e.name <> 'pgsql_tmp'
		AND e.name NOT IN (SELECT d.oid::text FROM pg_database d)
		AND EXISTS (SELECT FROM tablespace_advisor.files_in(e.path)
			UNION ALL SELECT WHERE NOT e.is_directory)
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.files_beside_databases(oid)
	FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.files_beside_databases(oid) IS
	'temporary files in a tablespace, one row a process, and what is in its directory without belonging there';

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
REVOKE ALL ON FUNCTION tablespace_advisor.database_leaving(
	oid, oid, oid, name, bigint) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.database_leaving(
	oid, oid, oid, name, bigint) IS
	'how a database leaves its default tablespace';

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
REVOKE ALL ON FUNCTION tablespace_advisor.other_tablespace(oid, oid, oid)
	FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.other_tablespace(oid, oid, oid) IS
	'the tablespace named, else the database''s default, else pg_default; never the one that is left';

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
			r.extension_schema, r.size_bytes, r.how, r.reason,
			tablespace_advisor.temporary_owner_pid(r.backend) AS pid
		FROM db d
			CROSS JOIN LATERAL tablespace_advisor.leaving_relations(
				tablespace_oid, d.database, d.is_default) r
		WHERE d.is_valid
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
		CASE WHEN NOT l.shown AND l.reason LIKE 'Prepared%' THEN NULL
			WHEN l.how = 'temporary' AND l.pid IS NULL
				THEN 'It is temporary and its session has ended.'
			WHEN l.how = 'catalog' AND l.kind = 'p' AND l.target_name = (
					SELECT t.spcname FROM pg_tablespace t
						JOIN pg_database d ON d.dattablespace = t.oid
					WHERE d.oid = l.database)
				THEN l.reason || ' In the database''s default tablespace it keeps none: new partitions then follow default_tablespace.'
			ELSE l.reason END
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
	WHERE d.is_default AND d.is_valid
	UNION ALL
	SELECT d.name, NULL, 'database', NULL, 'with database',
		format('DROP DATABASE %I', d.name),
		'DROP DATABASE was interrupted: all that can be done with it is to drop it.'
	FROM db d WHERE NOT d.is_valid
	UNION ALL
	SELECT d.name, CASE WHEN d.shown THEN f.path END, 'file', f.bytes,
		f.how, f.statement, f.reason
	FROM db d
		CROSS JOIN LATERAL tablespace_advisor.unowned_files(
			tablespace_oid, d.database) f
	WHERE d.is_valid
	UNION ALL
	SELECT NULL, f.path, f.kind, f.bytes, f.how, f.statement, f.reason
	FROM tablespace_advisor.files_beside_databases(tablespace_oid) f
	UNION ALL
	SELECT s.database, s.setting, s.kind, NULL, 'setting', s.statement,
		s.reason
	FROM pg_tablespace t
		CROSS JOIN LATERAL tablespace_advisor.settings_naming(t.spcname,
			show_names) s
	WHERE t.oid = tablespace_oid AND all_databases
	UNION ALL
	SELECT NULL, NULL, 'tablespace', NULL, 'never', NULL,
		'pg_default can be relieved, but never dropped.'
	WHERE tablespace_oid = 1663
	ORDER BY 1, 5, 4 DESC NULLS LAST, 2
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.contents_of(oid, oid, boolean, boolean)
	FROM PUBLIC;
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
$$everything in the way of DROP TABLESPACE, in every database, and how it leaves. Needs a worker slot (53000: none is free); names in other databases are shown to superusers.
how: live (copied while in use), rebuild (REINDEX CONCURRENTLY), catalog (no storage), lock (ALTER ... SET TABLESPACE), with database (ALTER DATABASE ... SET TABLESPACE), setting, temporary, orphan (a file that no relation has), never.
statement: what makes it leave, for to_tablespace (else the database's default, or pg_default), to be run in that database; NULL where there is none or it is not the caller's to see.
size_bytes: all forks, of a table with its TOAST table; NULL for what has no size.$$;
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
	move_seconds float8, reason text, is_journal boolean, place bigint)
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
		SELECT l.*, b.job_id, why.reason AS why_not,
			CASE WHEN why.reason IS NULL THEN
				CASE l.how WHEN 'live' THEN 'copy' ELSE l.how END
				END AS method
		FROM leaving l
			LEFT JOIN busy b ON b.heap = l.heap
			CROSS JOIN LATERAL (SELECT CASE
				WHEN l.how IN ('temporary', 'with database')
					OR l.reason LIKE 'Prepared transaction %' THEN l.reason
				WHEN NOT pg_has_role(asker, l.owner, 'USAGE')
					THEN format('It belongs to role %I.',
						pg_get_userbyid(l.owner))
				WHEN b.job_id IS NOT NULL
					THEN format('Move %s of it, or of its table or indexes, has not ended.',
						b.job_id)
				WHEN l.how = 'lock' AND NOT l.is_journal
						AND l.size_bytes <= coalesce(lock_up_to, -1) IS NOT TRUE
					THEN l.reason || CASE WHEN lock_up_to IS NULL
						THEN ' "lock_up_to" would let it be locked while it is copied.'
						ELSE format(' It is larger than "lock_up_to" (%s).',
							pg_size_pretty(lock_up_to)) END
				END) why(reason)
	), along AS MATERIALIZED (
		SELECT i.relation
		FROM judged i JOIN judged t ON t.relation = i.heap
		WHERE i.kind = 'i' AND i.method = 'copy' AND t.method = 'copy'
	), rate AS MATERIALIZED (
		SELECT m.method, tablespace_advisor.move_rate(source, target, m.method,
				max_rate) AS bytes_per_s
		FROM unnest(ARRAY['copy', 'rebuild', 'lock']) m(method)
	)
	SELECT j.relation, j.heap, j.kind, j.schema_name, j.relation_name,
		j.persistence, source, target, j.size_bytes, j.how, j.method,
		a.relation IS NOT NULL,
		CASE j.method WHEN 'catalog' THEN 0
			ELSE j.size_bytes / r.bytes_per_s END,
		CASE WHEN j.method IS NULL THEN j.why_not
			WHEN a.relation IS NOT NULL
				THEN 'It moves along with its table, in the same cutover.'
			WHEN j.kind = 'p' AND target = (SELECT d.dattablespace
					FROM pg_database d WHERE d.datname = current_database())
				THEN 'In the database''s default tablespace it keeps none: new partitions then follow default_tablespace.'
			ELSE j.reason END,
		j.is_journal,
		row_number() OVER (ORDER BY j.method IS NULL, j.is_journal,
			j.method <> 'catalog', j.heap_bytes, j.heap, j.kind = 'i',
			j.relation)
	FROM (SELECT g.*, sum(g.size_bytes) OVER (PARTITION BY g.heap) AS heap_bytes
			FROM judged g) j
		LEFT JOIN along a ON a.relation = j.relation
		LEFT JOIN rate r ON r.method = j.method
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.evacuation_of(
	oid, oid, bigint, oid, bigint) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.evacuation_of(
	oid, oid, bigint, oid, bigint) IS
	'relations of this database in a tablespace; place: order in which an evacuation moves them, then those that stay (method NULL)';

CREATE FUNCTION @extschema@.plan_evacuation(
	tablespace name, to_tablespace name, lock_up_to text DEFAULT NULL,
	OUT relation regclass, OUT kind text, OUT size_bytes bigint,
	OUT how text, OUT method text, OUT move_seconds float8, OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_plan_evacuation'
LANGUAGE C VOLATILE ROWS 1000;
COMMENT ON FUNCTION @extschema@.plan_evacuation(name, name, text) IS
$$what evacuate_tablespace() would do with each relation of this database in a tablespace, in its order; without moving anything.
how: as in tablespace_contents(). method: copy, rebuild, catalog or lock; NULL: it stays, and reason says why. lock_up_to: size, as pg_size_bytes() reads it, up to which relations that cannot be moved live may be locked.
move_seconds: at the rate of earlier moves to that tablespace, or of probes; NULL when nothing was measured.
Errors: 42501 (neither CREATE on the target nor a member of pg_monitor), 22023 (the two are one tablespace).$$;

/* An unfinished move the other way, which an evacuation would undo. */
CREATE FUNCTION tablespace_advisor.opposite_move(source oid, target oid)
RETURNS bigint
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT min(j.job_id)
	FROM tablespace_advisor.job j
	WHERE j.state IN ('queued', 'running', 'paused')
		AND j.from_tablespace = target AND j.to_tablespace = source
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.opposite_move(oid, oid) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.opposite_move(oid, oid) IS
	'an unfinished move from the target to the source; NULL if there is none';

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
	SELECT format('the free space of %s standby servers is not known here',
		count(*))
	FROM pg_stat_replication
	HAVING count(*) > 0
	UNION ALL
	SELECT format('"default_tablespace" of this session is "%s": what is created without a tablespace goes there',
		s.spcname)
	FROM pg_tablespace s
	WHERE s.oid = source AND s.spcname = current_setting('default_tablespace')
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.evacuation_warnings(oid, oid)
	FROM PUBLIC;
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
			'%s %I.%I (%s) from tablespace "%s" to "%s" by method %s%s',
			tablespace_advisor.kind_name(j.kind), j.schema_name,
			j.relation_name, pg_size_pretty(j.bytes_total),
			j.from_tablespace_name, j.to_tablespace_name, j.method,
			CASE WHEN j.state = 'done' THEN format(' in %s s',
				round(extract(epoch FROM j.finished_at - j.started_at), 1))
				END
			|| CASE WHEN cardinality(j.indexes) > 0 THEN
				format(', with %s indexes', cardinality(j.indexes))
				ELSE '' END)),
		tablespace_advisor.printable(coalesce(j.error, 'It was cancelled.'))
	FROM tablespace_advisor.job j
	WHERE j.job_id = ANY (jobs)
	ORDER BY j.job_id
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.describe_jobs(bigint[]) FROM PUBLIC;
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
REVOKE ALL ON FUNCTION tablespace_advisor.batch_progress(bigint) FROM PUBLIC;
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
			coalesce(p.reason, c.reason)),
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
REVOKE ALL ON FUNCTION tablespace_advisor.evacuation_left(
	oid, oid, bigint, oid, bigint, boolean, boolean) FROM PUBLIC;
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
	INOUT job_ids bigint[] DEFAULT NULL)
AS 'MODULE_PATHNAME', 'tsa_evacuate_tablespace'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.evacuate_tablespace(
	name, name, text, interval, boolean, boolean, text, timestamptz, bigint[]) IS
$$moves everything of this database that the caller owns and that can be moved out of a tablespace, while it is in use; prints what is left, the statements for it and DROP TABLESPACE, and runs none of them. To be repeated until nothing is left, and in each database.
max_rate, lock_timeout, wait, dry_run: as for move_table_concurrently(). Without wait what is made meanwhile is not moved. lock_up_to: size up to which relations that cannot be moved live (unlogged ones) are moved by ALTER, which locks them until they are copied. until: nothing begins that would not end by then at the measured rate.
Errors: 22023 (the two are one tablespace), 42501 (CREATE on the target), 53100 (not enough space for all of it), 55006 (an evacuation the other way), 25001 (in a transaction block). A relation that could not be moved is a warning.$$;
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
		WHEN o.opcintype = 'date'::regtype THEN b.literal::date::timestamptz
		WHEN o.opcintype = 'timestamp'::regtype
			THEN b.literal::timestamp::timestamptz
		WHEN o.opcintype = 'timestamptz'::regtype
			THEN b.literal::timestamptz
		WHEN o.opcintype IN ('int4'::regtype, 'int8'::regtype)
			THEN to_timestamp(b.literal::float8 / CASE partman_epoch
				WHEN 'seconds' THEN 1 WHEN 'milliseconds' THEN 1e3
				WHEN 'microseconds' THEN 1e6 WHEN 'nanoseconds' THEN 1e9 END)
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
REVOKE ALL ON FUNCTION tablespace_advisor.partition_upper_bound(oid, text)
	FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.partition_upper_bound(oid, text) IS
	'upper bound of the first key of a range partition; NULL where it is no time or has no end. partman_epoch: what an integer key counts, as in pg_partman''s part_config';

CREATE FUNCTION tablespace_advisor.read_partman(
	target oid, OUT epoch text, OUT retention text)
AS 'MODULE_PATHNAME', 'tsa_read_partman'
LANGUAGE C STRICT STABLE;
REVOKE ALL ON FUNCTION tablespace_advisor.read_partman(oid) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.read_partman(oid) IS
	'columns of pg_partman''s part_config for a partitioned table, if that table of it is the extension''s own; retention: NULL if old partitions are only detached or moved';

/*
 * How an integer key counts time, and after which time partitions are dropped.
 */
CREATE FUNCTION tablespace_advisor.partman_config(
	target oid, OUT epoch text, OUT retention interval)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT nullif(p.epoch, 'none'),
		CASE WHEN p.retention !~ '^[0-9]+$' THEN p.retention::interval END
	FROM tablespace_advisor.read_partman(target) p
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.partman_config(oid) FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.partman_config(oid) IS
	'what pg_partman does with a partitioned table; NULLs if it does nothing. retention: after which it drops partitions';

/*
 * The partitions of a table with storage and what is to become of them.  What
 * was not used is known from samples: up to the last one, as far back as they
 * reach.  asker: the role that would move them, NULL for whoever owns them.
 */
CREATE FUNCTION tablespace_advisor.judge_partitions(
	target oid, target_tablespace oid, older_than interval,
	unused_for interval, min_residence interval, asker oid)
RETURNS TABLE (partition oid, upper_bound timestamptz, age interval,
	idle_for interval, size_bytes bigint, action text, reason text)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH RECURSIVE partman AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.partman_config(target)
	), tree(member, kind, upper_bound) AS (
		SELECT c.oid, c.relkind, NULL::timestamptz
		FROM pg_class c WHERE c.oid = target
		UNION ALL
		SELECT c.oid, c.relkind, least(t.upper_bound,
			tablespace_advisor.partition_upper_bound(c.oid,
				(SELECT p.epoch FROM partman p)))
		FROM tree t
			JOIN pg_inherits i ON i.inhparent = t.member
				AND NOT i.inhdetachpending
			JOIN pg_class c ON c.oid = i.inhrelid
		WHERE t.kind = 'p'
	), leaf AS MATERIALIZED (
		SELECT c.oid, c.relkind, c.relpersistence, c.relam, c.relowner,
			t.upper_bound, clock_timestamp() - t.upper_bound AS age,
			CASE c.reltablespace WHEN 0 THEN d.dattablespace
				ELSE c.reltablespace END AS tablespace,
			(SELECT sum(tablespace_advisor.relation_bytes(r))::bigint
				FROM unnest(ARRAY[c.oid, c.reltoastrelid]) r
				WHERE r <> 0) AS size_bytes
		FROM tree t
			JOIN pg_class c ON c.oid = t.member AND c.relkind <> 'p'
			JOIN pg_database d ON d.datname = current_database()
	), coverage AS MATERIALIZED (
		SELECT min(coalesce(s.started_at, s.taken_at)) AS since,
			max(s.taken_at) AS until
		FROM tablespace_advisor.sample s
	), used AS MATERIALIZED (
		SELECT coalesce(i.indrelid, r.relation) AS relation,
			max(s.taken_at) AS last_used
		FROM tablespace_advisor.relation_sample r
			JOIN tablespace_advisor.sample s USING (sample_id)
			LEFT JOIN pg_index i ON i.indexrelid = r.relation
		WHERE coalesce(r.scans, 0) + coalesce(r.tuples_read, 0)
			+ coalesce(r.inserted, 0) + coalesce(r.updated, 0)
			+ coalesce(r.deleted, 0) > 0
		GROUP BY 1
	), moved AS MATERIALIZED (
		SELECT j.relation,
			max(j.finished_at) FILTER (WHERE j.state = 'done') AS moved_at,
			min(j.job_id) FILTER (WHERE j.state IN
				('queued', 'running', 'paused')) AS unfinished
		FROM tablespace_advisor.job j
		GROUP BY j.relation
	), judged AS MATERIALIZED (
		SELECT l.*, c.until - coalesce(u.last_used, c.since) AS idle_for,
			CASE
				WHEN l.tablespace = target_tablespace THEN
					'It is there already.'
				WHEN l.relkind <> 'r' THEN 'It has no storage of its own here.'
				WHEN l.relpersistence <> 'p' OR l.relam <> 2 THEN
					'Live copy does not apply: it is unlogged, temporary or of an access method that is not known.'
				WHEN NOT pg_has_role(asker, l.relowner, 'USAGE') THEN
					format('It belongs to role %I.',
						pg_get_userbyid(l.relowner))
				WHEN m.unfinished IS NOT NULL THEN
					format('Move %s of it has not ended.', m.unfinished)
				WHEN older_than IS NOT NULL AND l.upper_bound IS NULL THEN
					'Its age is unknown: it is no range partition with an upper bound that is a time.'
				WHEN older_than IS NOT NULL AND l.age < older_than THEN
					format('It is younger than %s.', older_than)
				WHEN unused_for IS NOT NULL AND c.until IS NULL THEN
					'There are no samples to tell since when it is unused; see sample_activity().'
				WHEN unused_for IS NOT NULL
						AND c.until - coalesce(u.last_used, c.since)
							< unused_for THEN
					CASE WHEN u.last_used IS NULL THEN
						format('The samples reach back to %s only.', c.since)
						ELSE format('It was used before %s.', u.last_used) END
				WHEN l.upper_bound + p.retention
						< clock_timestamp() + min_residence THEN
					format('pg_partman drops it after %s.',
						l.upper_bound + p.retention)
				WHEN m.moved_at > clock_timestamp() - min_residence THEN
					format('It was moved at %s, less than %s ago.',
						m.moved_at, min_residence)
			END AS why_not
		FROM leaf l
			CROSS JOIN coverage c
			CROSS JOIN partman p
			LEFT JOIN used u ON u.relation = l.oid
			LEFT JOIN moved m ON m.relation = l.oid
	)
	SELECT j.oid, j.upper_bound, j.age, j.idle_for, j.size_bytes,
		CASE WHEN j.why_not IS NULL THEN 'move' ELSE 'keep' END,
		coalesce(j.why_not, concat_ws(' ',
			CASE WHEN older_than IS NOT NULL
				THEN format('It ends at %s.', j.upper_bound) END,
			CASE WHEN unused_for IS NOT NULL
				THEN format('No sample saw it used for %s.', j.idle_for) END))
	FROM judged j
	ORDER BY j.upper_bound, j.oid
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.judge_partitions(
	oid, oid, interval, interval, interval, oid) FROM PUBLIC;
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
REVOKE ALL ON FUNCTION tablespace_advisor.partition_moves(
	oid, oid, interval, interval, interval, oid, boolean) FROM PUBLIC;
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
$$which partitions of a table move_partitions_concurrently() would move to a tablespace (action move) and which not (keep), oldest first, and why.
age: time since the upper bound of the first range key (date, timestamp, timestamptz; integers as pg_partman counts them); partitions without one are never moved by age. idle_for: time up to the last sample in which no sample saw it used. size_bytes: with TOAST, without indexes. With both arguments both must hold.
Errors: 22023 (neither older_than nor unused_for, or one that is negative), 42809 (not a partitioned table), 42501 (neither its owner nor a member of pg_monitor).$$;

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
	INOUT job_ids bigint[] DEFAULT NULL)
AS 'MODULE_PATHNAME', 'tsa_move_partitions_concurrently'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.move_partitions_concurrently(
	regclass, name, interval, interval, interval, boolean, timestamptz, text,
	interval, boolean, boolean, bigint[]) IS
$$moves the partitions that advise_partition_placement() names, oldest first, while they are in use; the partitioned table itself, and so new partitions, stay. To be called again and again, as by pg_cron.
min_residence: what was moved less than this ago stays, and so does what pg_partman will drop before. until: nothing begins that would not end by then at the measured rate. The rest as for move_table_concurrently().
Errors: as for advise_partition_placement(), 42501 (CREATE on the tablespace), 53100 (not enough space), 25001 (in a transaction block). A partition that could not be moved is a warning.$$;
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
REVOKE ALL ON FUNCTION tablespace_advisor.ignore_replicated_row() FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.ignore_replicated_row() IS
	'trigger function: keeps out rows that logical replication brings from another server; fires for session_replication_role = replica only';

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
REVOKE ALL ON FUNCTION tablespace_advisor.finish_moves_before_drop() FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.finish_moves_before_drop() IS
	'event trigger function: before the extension is dropped removes the files of moves whose worker is gone; 55006 while there are files of others, 42501 for a role that does not own the extension';
CREATE EVENT TRIGGER tablespace_advisor ON ddl_command_start
	WHEN TAG IN ('DROP EXTENSION', 'DROP SCHEMA', 'DROP OWNED', 'ALTER SCHEMA')
	EXECUTE FUNCTION tablespace_advisor.finish_moves_before_drop();
ALTER EVENT TRIGGER tablespace_advisor ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER tablespace_advisor IS
	'keeps the extension from being dropped while its journal names files that nothing else knows of, and by others than its owner, who could own its schema';
