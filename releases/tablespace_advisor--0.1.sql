/* tablespace_advisor: install script, assembled from src/ by the Makefile */

\echo Use "CREATE EXTENSION tablespace_advisor" to load this file. \quit

/*
 * User-facing functions, procedures and views are made in the schema that the
 * extension is installed into; its state (tables) lives in a schema of its
 * own, whose name is fixed so that C code can name it.
 */
CREATE SCHEMA tablespace_advisor;
COMMENT ON SCHEMA tablespace_advisor IS
	'state of the extension tablespace_advisor: probe history, settings and the journal of moves';
GRANT USAGE ON SCHEMA tablespace_advisor TO pg_monitor;

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
	'the storage under one tablespace, given by its OID, apart from what it shares with others; leaves names what lies at the bottom of the stack. Used by tablespace_devices()';
REVOKE ALL ON FUNCTION tablespace_advisor.tablespace_device(oid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tablespace_advisor.tablespace_device(oid) TO pg_monitor;

/*
 * Two tablespaces share a device if anything at the bottom of their stacks is
 * the same.  pg_default and pg_global are always in the data directory, which
 * is worth no warning.
 */
CREATE FUNCTION tablespace_devices(
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
	WITH found AS MATERIALIZED (
		SELECT t.spcname, t.oid < 16384 AS built_in, d.*
		FROM pg_catalog.pg_tablespace t,
			 LATERAL tablespace_advisor.tablespace_device(t.oid) d
	)
	SELECT f.spcname, f.location, f.filesystem, f.mount_point, f.device,
		f.device_stack, f.media, f.raid_level, f.members, f.redundant,
		f.volatile, f.size_bytes, f.free_bytes, f.read_ahead_kb, f.scheduler,
		coalesce(shared.with_all, '{}'),
		f.warnings || array_remove(ARRAY[shared.warning], NULL),
		f.degraded, f.write_penalty, f.write_cache
	FROM found f,
		 LATERAL (
			SELECT pg_catalog.array_agg(o.spcname ORDER BY o.spcname) AS with_all,
				'same device as tablespace '
				|| pg_catalog.string_agg(pg_catalog.quote_ident(o.spcname), ', '
										 ORDER BY o.spcname)
					FILTER (WHERE NOT (f.built_in AND o.built_in))
				|| ': moving relations between them gains nothing' AS warning
			FROM found o
			WHERE o.spcname <> f.spcname AND o.leaves && f.leaves
		 ) shared
	ORDER BY f.spcname
$$;

COMMENT ON FUNCTION tablespace_devices() IS
$$the storage under every tablespace, as the kernel shows it (/proc/self/mountinfo, /sys); one row per tablespace.
location: target of the tablespace's symbolic link, or its directory. device: what is mounted (a path, an export, a pool). device_stack: all layers down to the disks, a -> b: a lies on b, [a, b]: on both.
media: rotational, solid state, memory, network or unknown (a virtual disk whose host does not tell, an unknown file system); of a device made of several the slowest.
raid_level, members, write_penalty (device accesses per small random write: 1 for raid0, the number of copies for raid1 and raid10, 4 for raid4 and raid5, 6 for raid6): of the topmost RAID (md, LVM, Btrfs), NULL without one. LVM's level is deduced from sizes: raid4 appears as raid5. degraded: some RAID in the stack lacks members.
redundant: the failure of any one device leaves the data intact. volatile: the contents are lost when the machine stops. NULL: cannot be known from here.
size_bytes, free_bytes: of the file system, free as the server may use it. read_ahead_kb: of the mounted device, in kB. scheduler, write_cache (write back: the device caches writes until told to flush): of the disks, or of a loop device over none.
shares_device_with: tablespaces with at least one disk in common. warnings: in words, empty if there are none.
Raises no error of its own: what cannot be found out is NULL, and a warning says why.$$;
REVOKE ALL ON FUNCTION tablespace_devices() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tablespace_devices() TO pg_monitor;
/* src/probe/probe.sql */

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
	PRIMARY KEY (run_id, workload, queue_depth)
);
COMMENT ON TABLE tablespace_advisor.probe_result IS
	'the rows that each run of probe_tablespace() returned, with their latency histograms';
COMMENT ON COLUMN tablespace_advisor.probe_result.histogram IS
	'pairs {lower bound of a bucket in nanoseconds, samples in it}, empty buckets left out; a bucket is at most 1/64 of its lower bound wide (1 ns below 128 ns)';

SELECT pg_catalog.pg_extension_config_dump('tablespace_advisor.probe_run', '');
SELECT pg_catalog.pg_extension_config_dump('tablespace_advisor.probe_run_run_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('tablespace_advisor.probe_result', '');
GRANT SELECT ON tablespace_advisor.probe_run, tablespace_advisor.probe_result
	TO pg_monitor;

CREATE FUNCTION probe_tablespace(
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
COMMENT ON FUNCTION probe_tablespace(name, interval, text, int[], text[], text) IS
'Measures the device under a tablespace, one row per workload and queue depth, and keeps the run in tablespace_advisor.probe_run and probe_result (not on a standby or in a read-only transaction).
tablespace: its name. duration: measuring time, 1 ms to 1 hour, shared equally by the rows; laying out the scratch file comes on top. file_size: 1 MB to 1 TB, as pg_size_bytes() reads it. queue_depths: requests kept in flight, 1 to 256, for random reads, random writes and mixed.
workloads: random read, sequential read, random write, sequential write, mixed (half reads, half writes), sync write (8 kB write + fdatasync), cached read (the page is in the page cache); NULL means random read, sequential read, sync write and cached read: what every server does all the time and what later stages need, while the others load the device with writes and have to be asked for.
mode: scratch lays out a temporary file in the tablespace; existing reads the tablespace''s largest relation files and writes nothing (file_size is not used).
Results: io_size in bytes; iops per second; mb_per_s in MB of 1048576 bytes; times in microseconds from submit to completion. A percentile is NULL where the samples cannot support it (fewer than 6, 36, 72 and 368 for p50, p90, p95 and p99); mean_low_us and mean_high_us are the 95 % interval of the mean by batch means, NULL below 10 samples. No offset is used twice within a row, so a row ends early when it has used the whole file. caveat says why a row should not be trusted.
Errors: 42704 unknown tablespace; 22004 NULL; 22023 argument out of range; 42501 no CREATE on the tablespace (mode scratch); 53100 not enough space; 53400 temp_file_limit exceeded; 55000 no relation file to read (mode existing); 0A000 no asynchronous I/O here.';
REVOKE ALL ON FUNCTION probe_tablespace(name, interval, text, int[], text[], text) FROM PUBLIC;
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

CREATE FUNCTION estimate_pgbench_size(
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
COMMENT ON FUNCTION estimate_pgbench_size(int, int, int) IS
	'Size in blocks and bytes of each relation fork that "pgbench -i --scale --fillfactor --partitions" of this server''s version makes, by page arithmetic; then the sum of these, "database (added)", and that plus the size of template1, "database (total)", whose blocks are NULL. scale: 1 or more; fillfactor: 10 to 100; partitions: 0 to the number of rows. Errors: 22004 for NULL, 22023 for a value out of range, 54000 for a scale that does not fit a relation.';

CREATE FUNCTION estimate_pgbench_scale(
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
COMMENT ON FUNCTION estimate_pgbench_scale(text, text, int, int) IS
	'Scale at which "pgbench -i" comes nearest to target_size (text as pg_size_bytes() reads it), the smaller one of two. object: "database" (all relations plus the size of template1), "table" (pgbench_accounts with its forks) or "index" (pgbench_accounts_pkey); with partitions, the sum over them. Found by search over the sizes of estimate_pgbench_size(), so exact. Errors: 22004 for NULL, 22023 for a value out of range or a size that cannot be read, 54000 for a target that no scale reaches.';

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

/*
 * A verdict "change" needs more than a ratio of two latencies: how much of
 * the reads the caches serve, and what plans the ratio leads to.  Until that
 * can be weighed the setting stays, and the columns that would hold the
 * outcome of the weighing stay NULL.
 */
CREATE FUNCTION recommend_random_page_cost(tablespace name DEFAULT NULL)
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
	reason text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH wanted AS MATERIALIZED (
		SELECT tablespace_advisor.check_tablespace($1) AS tablespace
	), measured AS (
		SELECT l.tablespace, l.random_read_us, l.sequential_page_us,
			l.samples, l.run_id, l.measured_at,
			l.random_read_caveat, l.sequential_read_caveat,
			c.random_page_cost, c.seq_page_cost, c.is_tablespace_option,
			l.random_read_us IS NOT NULL
				AND l.sequential_page_us IS NOT NULL AS is_probed
		FROM wanted
		JOIN tablespace_advisor.tablespace_latency l
			ON wanted.tablespace IS NULL OR l.tablespace = wanted.tablespace
		JOIN tablespace_advisor.tablespace_cost_setting c USING (tablespace_oid)
	)
	SELECT m.tablespace,
		CASE WHEN m.is_probed THEN 'keep' ELSE 'probe first' END,
		CASE WHEN m.is_probed THEN m.random_page_cost END,
		NULL::float8,
		NULL::float8,
		CASE WHEN m.is_probed THEN m.seq_page_cost END,
		NULL::int,
		NULL::int,
		m.random_page_cost,
		m.random_read_us,
		m.sequential_page_us,
		NULL::float8,
		NULL::float8,
		NULL::float8,
		CASE WHEN NOT m.is_probed THEN
			format('SELECT * FROM %s.probe_tablespace(%L)', '@extschema@',
				m.tablespace)
		END,
		CASE WHEN m.is_probed THEN
			format('a random read takes %s times as long as a sequential page (run %s of %s, %s random reads at depth 1); how much of the reads the caches serve is not known, so the ratio alone is no reason to change the %s',
				round((m.random_read_us / m.sequential_page_us)::numeric, 1),
				m.run_id, to_char(m.measured_at, 'YYYY-MM-DD HH24:MI'), m.samples,
				CASE WHEN m.is_tablespace_option THEN 'option of the tablespace'
					ELSE 'setting random_page_cost' END)
		ELSE
			'no trustworthy measurement of '
				|| concat_ws(' nor of ',
					CASE WHEN m.random_read_us IS NULL THEN
						'random reads at depth 1'
							|| coalesce(' (' || m.random_read_caveat || ')', '')
					END,
					CASE WHEN m.sequential_page_us IS NULL THEN
						'sequential reads'
							|| coalesce(' (' || m.sequential_read_caveat || ')', '')
					END)
		END
	FROM measured m
	ORDER BY m.tablespace
$$;

COMMENT ON FUNCTION recommend_random_page_cost(name) IS
	'what random_page_cost each tablespace (or the one named) should have. random_read_us, sequential_page_us: measured microseconds per page, from the latest probe without a caveat; current_random_page_cost: option of the tablespace, else the setting of this session. verdict: "probe first" (statement is the call to make) or "keep" (random_page_cost and seq_page_cost are the current values). Columns that nobody has measured or computed are NULL. Errors: 42704 no such tablespace, 22023 pg_global';

REVOKE ALL ON FUNCTION recommend_random_page_cost(name),
	tablespace_advisor.check_tablespace(name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION recommend_random_page_cost(name),
	tablespace_advisor.check_tablespace(name) TO pg_monitor;
/*
 * src/advise/advise.sql
 *
 * What to move, and what it saves.  Facts are gathered by views and
 * functions that know nothing of each other: how long the counters have
 * counted (counter_window), what each relation was read and written
 * (relation_activity), what each tablespace costs (tablespace_facts).
 * judge_placement() turns such facts into advice and looks at nothing else,
 * so that advice can be tested and replayed on facts written down by hand.
 */

/*
 * Counters survive a clean restart, so the server's start says nothing about
 * their age.  They begin at pg_stat_reset(); in a database where that was
 * never called, at the time the server last began with none at all (first
 * start, crash recovery, upgrade), which is the oldest reset among the
 * cluster-wide counters.  Either may be longer than a given relation exists.
 */
CREATE VIEW tablespace_advisor.counter_window AS
SELECT d.since,
	extract(epoch FROM clock_timestamp() - d.since)::float8 AS seconds,
	CASE WHEN current_setting('track_io_timing')::boolean
		AND d.blk_read_time > 0 AND d.blks_read > 0 THEN
		d.blk_read_time * 1000 / d.blks_read
	END AS timed_read_us,
	(SELECT string_agg(DISTINCT application_name, ', ')
		FROM pg_stat_replication WHERE state = 'streaming') AS standbys,
	d.was_reset
FROM (SELECT blk_read_time, blks_read,
		stats_reset IS NOT NULL AS was_reset,
		coalesce(stats_reset, least(
			(SELECT stats_reset FROM pg_stat_bgwriter),
			(SELECT stats_reset FROM pg_stat_archiver),
			(SELECT stats_reset FROM pg_stat_wal))) AS since
	FROM pg_stat_database WHERE datname = current_database()) d;

COMMENT ON VIEW tablespace_advisor.counter_window IS
	'since when this database''s relation counters count, and for how many seconds; timed_read_us: microseconds per block read as the server itself timed them over the whole database, NULL unless track_io_timing is on; standbys: servers whose own counters are not included; was_reset: since is when this database was last reset, else it is when all counters of the server began, and those of this database or relation may be younger';

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
			THEN 'a foreign key: deleting a referenced row looks it up'
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
		pg_get_expr(i.indexprs, i.indrelid),
		'WHERE ' || pg_get_expr(i.indpred, i.indrelid)) AS definition,
	i.indisunique, i.indnullsnotdistinct, i.indimmediate, i.indisexclusion
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relkind = 'i';

COMMENT ON VIEW tablespace_advisor.index_role IS
	'what an index is there for besides being scanned, and whether it can be used; is_pinned: other objects depend on this very index, another with the same definition could not stand in for it';

/*
 * One row per heap and per index that has storage.  A heap is counted with
 * its TOAST table and that one's index, because they move together.  Writes
 * of an index are at most these: an update that is not HOT writes every
 * index, one that is HOT writes none; a partial index gets fewer.
 */
CREATE VIEW tablespace_advisor.relation_activity AS
SELECT c.oid::regclass AS relation, c.oid::regclass AS table_relation,
	'heap'::text AS kind,
	coalesce(t.spcname, own.spcname) AS tablespace,
	pg_table_size(c.oid) AS size_bytes,
	CASE WHEN c.reltoastrelid <> 0
		THEN pg_total_relation_size(c.reltoastrelid) ELSE 0 END AS toast_bytes,
	pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid)
		+ toast.fetched - toast.hit AS blocks_read,
	pg_stat_get_blocks_hit(c.oid) + toast.hit AS blocks_hit,
	NULL::bigint AS scans,
	pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid)
		+ pg_stat_get_tuples_deleted(c.oid)
		+ pg_stat_get_tuples_inserted(c.reltoastrelid)
		+ pg_stat_get_tuples_deleted(c.reltoastrelid) AS tuples_written,
	NULL::text AS unusable,
	NULL::text AS needed_for,
	NULL::regclass AS duplicate_of,
	CASE
		WHEN c.relpersistence = 't' THEN 'a temporary table cannot be moved'
		WHEN c.oid < 16384 THEN 'a system catalog cannot be moved'
		WHEN NOT EXISTS
			(SELECT FROM pg_proc p
				JOIN pg_extension e ON e.extnamespace = p.pronamespace
				WHERE e.extname = 'tablespace_advisor' AND p.prokind = 'p'
					AND p.proname = 'move_table_concurrently')
			THEN 'this version moves indexes but no tables live, and ALTER TABLE ... SET TABLESPACE locks the table until it is copied'
	END AS obstacle
FROM pg_class c
JOIN pg_database d ON d.datname = current_database()
JOIN pg_tablespace own ON own.oid = d.dattablespace
LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
CROSS JOIN LATERAL
	(SELECT coalesce(sum(pg_stat_get_blocks_fetched(r.oid)), 0)::bigint AS fetched,
			coalesce(sum(pg_stat_get_blocks_hit(r.oid)), 0)::bigint AS hit
		FROM (SELECT c.reltoastrelid AS oid
			UNION ALL
			SELECT x.indexrelid FROM pg_index x
				WHERE x.indrelid = c.reltoastrelid) r
		WHERE r.oid <> 0) toast
WHERE c.relkind IN ('r', 'm')
UNION ALL
SELECT i.indexrelid::regclass, i.indrelid::regclass,
	'index',
	coalesce(t.spcname, own.spcname),
	pg_table_size(i.indexrelid),
	0,
	pg_stat_get_blocks_fetched(i.indexrelid)
		- pg_stat_get_blocks_hit(i.indexrelid),
	pg_stat_get_blocks_hit(i.indexrelid),
	pg_stat_get_numscans(i.indexrelid),
	pg_stat_get_tuples_inserted(i.indrelid)
		+ pg_stat_get_tuples_updated(i.indrelid)
		- pg_stat_get_tuples_hot_updated(i.indrelid),
	i.unusable,
	i.needed_for,
	(SELECT o.indexrelid::regclass
		FROM tablespace_advisor.index_role o
		WHERE o.indrelid = i.indrelid AND o.indexrelid <> i.indexrelid
			AND o.definition = i.definition AND o.unusable IS NULL
			AND NOT i.is_pinned
			AND (NOT i.indisunique OR (o.indisunique AND o.indimmediate
				AND o.indnullsnotdistinct = i.indnullsnotdistinct))
			AND (o.is_pinned, o.indisunique,
					pg_stat_get_numscans(o.indexrelid), i.indexrelid::bigint)
				> (i.is_pinned, i.indisunique,
					pg_stat_get_numscans(i.indexrelid), o.indexrelid::bigint)
		ORDER BY o.is_pinned DESC, o.indisunique DESC,
			pg_stat_get_numscans(o.indexrelid) DESC, o.indexrelid
		LIMIT 1),
	CASE
		WHEN c.relpersistence = 't'
			THEN 'an index of a temporary table cannot be moved'
		WHEN i.indrelid < 16384
			THEN 'an index of a system catalog cannot be moved'
		/* nothing but a rebuild, for want of a log that a copy could follow */
		WHEN c.relpersistence = 'u'
			AND (i.indisexclusion OR NOT i.indimmediate)
			THEN 'an unlogged index of an exclusion or deferrable constraint cannot be moved while in use'
	END
FROM tablespace_advisor.index_role i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_database d ON d.datname = current_database()
JOIN pg_tablespace own ON own.oid = d.dattablespace
LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace;

COMMENT ON VIEW tablespace_advisor.relation_activity IS
	'per heap (TOAST included) and index: bytes of all forks, blocks read past shared buffers and found in them, row versions written, since the counters began (counter_window); unusable, needed_for, duplicate_of: see index_role; obstacle: why it cannot be moved while in use';

CREATE TYPE tablespace_advisor.tablespace_fact AS (
	tablespace name,
	random_read_us float8,
	random_read_low_us float8,
	random_read_high_us float8,
	sequential_page_us float8,
	sequential_write_page_us float8,
	may_create boolean,
	volatile boolean,
	shares_device_with name[],
	available_bytes bigint
);

COMMENT ON TYPE tablespace_advisor.tablespace_fact IS
	'what advice has to know of a tablespace: measured times in microseconds (see tablespace_latency), whether relations may be made there, and the device under it; available_bytes is what may be filled, NULL when not known';

/*
 * A twentieth of the file system stays free: file systems slow down, and
 * servers stop, when nothing is left.
 */
CREATE FUNCTION tablespace_advisor.tablespace_facts(table_owner oid)
RETURNS SETOF tablespace_advisor.tablespace_fact
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT l.tablespace,
		l.random_read_us,
		l.random_read_low_us,
		l.random_read_high_us,
		l.sequential_page_us,
		l.sequential_write_page_us,
		/* like the server, ask nothing for the database's own tablespace */
		l.tablespace_oid = d.dattablespace
			OR has_tablespace_privilege(l.tablespace_oid, 'CREATE')
			OR has_tablespace_privilege(table_owner, l.tablespace_oid, 'CREATE'),
		v.volatile,
		v.shares_device_with::name[],
		greatest(0, v.free_bytes - coalesce(v.size_bytes, 0) / 20)
	FROM tablespace_advisor.tablespace_latency l
	JOIN pg_database d ON d.datname = current_database()
	LEFT JOIN @extschema@.tablespace_devices() v ON v.tablespace = l.tablespace
$$;

COMMENT ON FUNCTION tablespace_advisor.tablespace_facts(oid) IS
	'facts on every tablespace but pg_global; may_create: the caller or the role given may make relations there';

/*
 * The account: what each relation's reads cost where it is and what they
 * would cost in the destination.  Every block that shared buffers do not
 * have is taken for a random read from the device; what the operating
 * system's cache serves is not known here, hence "at most" in all reasons.
 * Shares of a table's read time need no window, rates do.
 */
CREATE FUNCTION tablespace_advisor.placement_account(
	activity tablespace_advisor.relation_activity[],
	facts tablespace_advisor.tablespace_fact[],
	destination name,
	seconds float8)
RETURNS TABLE (
	relation regclass,
	read_us float8,
	destination_us float8,
	is_faster boolean,
	reads_per_s float8,
	writes_per_s float8,
	cached_fraction float8,
	read_ms_per_s float8,
	gain_ms_per_s float8,
	gain_percent float8,
	index_percent float8,
	move_ms float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT a.relation,
		s.random_read_us,
		d.random_read_us,
		d.random_read_high_us < s.random_read_low_us,
		a.blocks_read / nullif(seconds, 0),
		a.tuples_written / nullif(seconds, 0),
		a.blocks_hit::float8 / nullif(a.blocks_hit + a.blocks_read, 0),
		a.blocks_read / nullif(seconds, 0) * s.random_read_us / 1000,
		a.blocks_read / nullif(seconds, 0)
			* (s.random_read_us - d.random_read_us) / 1000,
		100 * a.blocks_read * (s.random_read_us - d.random_read_us)
			/ nullif(whole.read_us, 0),
		100 * whole.index_read_us / nullif(whole.read_us, 0),
		a.size_bytes / current_setting('block_size')::float8
			* (coalesce(s.sequential_page_us, s.random_read_us)
				+ coalesce(d.sequential_write_page_us, 0)) / 1000
	FROM unnest(activity) a
	LEFT JOIN unnest(facts) s ON s.tablespace = a.tablespace
	LEFT JOIN unnest(facts) d ON d.tablespace = destination
	LEFT JOIN
		(SELECT t.table_relation,
				sum(t.blocks_read * f.random_read_us) AS read_us,
				coalesce(sum(t.blocks_read * f.random_read_us)
					FILTER (WHERE t.kind = 'index'), 0) AS index_read_us
			FROM unnest(activity) t
			LEFT JOIN unnest(facts) f ON f.tablespace = t.tablespace
			GROUP BY t.table_relation
			/* part of a sum is no sum */
			HAVING bool_and(t.blocks_read = 0 OR f.random_read_us IS NOT NULL)
		) whole ON whole.table_relation = a.table_relation
$$;

COMMENT ON FUNCTION tablespace_advisor.placement_account(tablespace_advisor.relation_activity[], tablespace_advisor.tablespace_fact[], name, float8) IS
	'per relation: microseconds per random read here and in the destination, whether the destination is faster beyond the intervals of both means, blocks read and row versions written per second, share of blocks found in shared buffers, milliseconds per second spent reading and saved by moving, the same as percent of its table''s read time, percent of that time spent on all indexes, and milliseconds that copying it takes at least. NULL where something was not measured';

/* A month end is the commonest work that comes round rarely. */
CREATE FUNCTION tablespace_advisor.business_cycle_days()
RETURNS int
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS 'SELECT 31';

COMMENT ON FUNCTION tablespace_advisor.business_cycle_days() IS
	'days that counters must cover before an index without scans is called unused';

CREATE FUNCTION tablespace_advisor.three_digits(number float8)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN number = 0 THEN '0'
		ELSE round(number::numeric,
			greatest(0, 2 - floor(log(abs(number))))::int)::text
		END
$$;

COMMENT ON FUNCTION tablespace_advisor.three_digits(float8) IS
	'a measured number as text, with three significant digits, or more if it has more before the point';

/*
 * The verdict on one relation before any budget: an action and why.  The
 * order of the cases matters: what would be wrong whatever the storage comes
 * first, what would only spoil a good move last.
 */
CREATE FUNCTION tablespace_advisor.placement_verdict(
	a tablespace_advisor.relation_activity,
	seconds float8,
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact,
	is_faster boolean,
	gain_ms_per_s float8,
	gain_percent float8,
	move_ms float8,
	OUT action text,
	OUT reason text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	business_cycle_days CONSTANT int := tablespace_advisor.business_cycle_days();
	/* below this share of a table's read time nothing moves */
	least_percent CONSTANT float8 := 5;
	week_s CONSTANT float8 := 7 * 86400;
	gain text := format('at most %s ms/s, %s %% of its table''s read time',
		tablespace_advisor.three_digits(gain_ms_per_s),
		tablespace_advisor.three_digits(gain_percent));
BEGIN
	action := 'keep';
	IF a.unusable = 'being built' THEN
		reason := 'an index of this table is being built: ask again when that is done';
	ELSIF a.unusable = 'invalid' THEN
		action := 'rebuild';
		reason := 'the index is invalid, no query can use it: rebuild it, or drop it if a failed concurrent build left it behind';
	ELSIF a.duplicate_of IS NOT NULL THEN
		action := 'drop candidate';
		reason := format('exact duplicate of %s', a.duplicate_of);
	ELSIF a.scans = 0 AND a.tuples_written > 0 AND a.needed_for IS NULL
		AND seconds >= business_cycle_days * 86400.0
	THEN
		action := 'drop candidate';
		reason := format('written but never scanned in the %s days its counters cover; before dropping it make sure that it is older than %s days (the catalog does not say when an index was made), that no standby scans it and that no planner statistics on its expressions are missed',
			floor(seconds / 86400), business_cycle_days);
	ELSIF a.tablespace = dest.tablespace THEN
		reason := format('already in %s', quote_ident(dest.tablespace));
	ELSIF dest.tablespace IS NULL THEN
		reason := 'probe first: there is no probed tablespace to choose';
	ELSIF dest.tablespace = ANY (source.shares_device_with) THEN
		reason := format('%s and %s are on the same device',
			quote_ident(a.tablespace), quote_ident(dest.tablespace));
	ELSIF dest.volatile THEN
		reason := format('%s is volatile: a restart of the machine would lose the relation',
			quote_ident(dest.tablespace));
	ELSIF NOT dest.may_create THEN
		reason := format('neither you nor the owner has the privilege CREATE on %s',
			quote_ident(dest.tablespace));
	ELSIF source.random_read_us IS NULL OR dest.random_read_us IS NULL THEN
		reason := format('probe first: no trustworthy random read latency of %s',
			concat_ws(' and ',
				CASE WHEN source.random_read_us IS NULL
					THEN quote_ident(a.tablespace) END,
				CASE WHEN dest.random_read_us IS NULL
					THEN quote_ident(dest.tablespace) END));
	ELSIF seconds IS NULL OR seconds <= 0 THEN
		reason := 'it is not known since when the counters count, and a rate over an unknown time is not a rate';
	ELSIF a.blocks_read = 0 AND a.blocks_hit > 0 THEN
		reason := 'fits in cache: all its pages were found in shared buffers';
	ELSIF a.blocks_read = 0 THEN
		reason := 'not read at all while the counters counted';
	ELSIF is_faster IS NOT TRUE THEN
		reason := format('%s is not measurably faster: %s us per random read against %s us here',
			quote_ident(dest.tablespace),
			tablespace_advisor.three_digits(dest.random_read_us),
			tablespace_advisor.three_digits(source.random_read_us));
	ELSIF gain_percent IS NULL THEN
		reason := 'probe first: part of this table is in a tablespace without a trustworthy random read latency';
	ELSIF gain_percent < least_percent THEN
		reason := format('moving it to %s would save %s: too little (less than %s %%)',
			quote_ident(dest.tablespace), gain, least_percent);
	ELSIF gain_ms_per_s * week_s < move_ms THEN
		reason := format('moving it to %s would save %s: too little to repay the %s ms of reading and writing it within a week',
			quote_ident(dest.tablespace), gain, tablespace_advisor.three_digits(move_ms));
	ELSIF a.obstacle IS NOT NULL THEN
		reason := format('moving it to %s would save %s, but %s',
			quote_ident(dest.tablespace), gain, a.obstacle);
	ELSE
		action := 'move';
		reason := format('a random read takes %s us here and %s us in %s: saves %s',
			tablespace_advisor.three_digits(source.random_read_us),
			tablespace_advisor.three_digits(dest.random_read_us),
			quote_ident(dest.tablespace), gain);
	END IF;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.placement_verdict(tablespace_advisor.relation_activity, float8, tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact, boolean, float8, float8, float8) IS
	'what to do with one relation if bytes were free, and why; arguments are a relation''s activity, the seconds it was counted, the facts on the tablespaces it is in and would be in, and its row of placement_account';

/*
 * Whatever a reader needs to weigh the numbers of a row, besides the verdict.
 */
CREATE FUNCTION tablespace_advisor.placement_evidence(
	a tablespace_advisor.relation_activity,
	counted tablespace_advisor.counter_window,
	read_us float8,
	index_percent float8)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT concat_ws('; ',
		CASE WHEN a.kind = 'heap' AND index_percent IS NOT NULL THEN
			format('moving all its indexes saves at most %s %% of this table''s read time, the heap is the other %s %%',
				round(index_percent::numeric, 1),
				round(100 - index_percent::numeric, 1))
		END,
		CASE WHEN a.toast_bytes > 0 THEN
			format('its size and reads include %s of TOAST',
				pg_size_pretty(a.toast_bytes))
		END,
		CASE WHEN a.scans = 0 AND a.needed_for IS NOT NULL THEN
			'not scanned, but needed for ' || a.needed_for
		END,
		CASE WHEN a.scans = 0 AND a.needed_for IS NULL
			AND counted.seconds
				< tablespace_advisor.business_cycle_days() * 86400.0
		THEN
			format('not scanned, but counters of less than %s days do not make it unused',
				tablespace_advisor.business_cycle_days())
		END,
		CASE WHEN a.scans = 0 THEN
			'standbys count for themselves and were not asked: '
				|| counted.standbys
		END,
		CASE WHEN counted.timed_read_us IS NOT NULL THEN
			format('the server timed %s us per block read on average over this database%s',
				tablespace_advisor.three_digits(counted.timed_read_us),
				CASE WHEN counted.timed_read_us < read_us / 2 THEN
					': much of what it read came from the system''s cache, sequentially, or from another device'
				END)
		END,
		CASE WHEN pg_is_in_recovery() THEN
			'this is a standby: these counters are its own, moves are made on the primary'
		END,
		CASE WHEN counted.seconds IS NOT NULL THEN
			format('counted over %s%s, since %s',
				CASE WHEN NOT counted.was_reset THEN 'at most ' END,
				CASE WHEN counted.seconds >= 2 * 86400
					THEN floor(counted.seconds / 86400) || ' days'
				WHEN counted.seconds >= 2 * 3600
					THEN floor(counted.seconds / 3600) || ' hours'
				WHEN counted.seconds >= 2 * 60
					THEN floor(counted.seconds / 60) || ' minutes'
				ELSE floor(counted.seconds) || ' seconds' END,
				to_char(counted.since, 'YYYY-MM-DD HH24:MI')
				|| CASE WHEN counted.was_reset THEN ''
					ELSE ' (this database''s counters were never reset)' END)
		END)
$$;

COMMENT ON FUNCTION tablespace_advisor.placement_evidence(tablespace_advisor.relation_activity, tablespace_advisor.counter_window, float8, float8) IS
	'text: the ceiling of what moving indexes can save (heap rows), what the size includes, why an unused index is needed, what is known of the system''s cache, and the age of the counters';

/*
 * Advice on the relations considered, from facts alone.  Without a
 * destination it is the fastest tablespace that may be used: being the
 * fastest of all, it also is so among those on other devices than a relation
 * is on now.  Bytes go to the largest saving per byte first; what does not
 * fit any more is passed over for what does.
 */
CREATE FUNCTION tablespace_advisor.judge_placement(
	activity tablespace_advisor.relation_activity[],
	considered regclass[],
	facts tablespace_advisor.tablespace_fact[],
	counted tablespace_advisor.counter_window,
	destination name,
	budget_bytes bigint)
RETURNS TABLE (
	relation regclass,
	kind text,
	size_bytes bigint,
	current_tablespace name,
	recommended_tablespace name,
	action text,
	reads_per_s float8,
	writes_per_s float8,
	cached_fraction float8,
	read_ms_per_s float8,
	saved_ms_per_s float8,
	saved_percent float8,
	rank int,
	statement text,
	reason text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	dest tablespace_advisor.tablespace_fact;
	r record;
	not_considered text;
	budget_left bigint := budget_bytes;
	room_left bigint;
	moves int := 0;
BEGIN
	SELECT f.* INTO dest FROM unnest(facts) f
	WHERE f.tablespace = destination
		OR (destination IS NULL AND f.random_read_us IS NOT NULL
			AND f.may_create AND f.volatile IS NOT TRUE)
	ORDER BY f.random_read_us, f.tablespace LIMIT 1;
	room_left := dest.available_bytes;

	IF destination IS NULL THEN
		SELECT 'not considered for want of a trustworthy probe: '
			|| string_agg(quote_ident(f.tablespace), ', ' ORDER BY f.tablespace)
		INTO not_considered FROM unnest(facts) f
		WHERE f.random_read_us IS NULL AND f.may_create
			AND f.volatile IS NOT TRUE;
	END IF;

	FOR r IN
		SELECT a.relation, a.kind, a.size_bytes, a.tablespace,
			n.reads_per_s, n.writes_per_s, n.cached_fraction, n.read_ms_per_s,
			n.gain_ms_per_s, n.gain_percent,
			v.action, v.reason,
			tablespace_advisor.placement_evidence(
				a, counted, n.read_us, n.index_percent) AS evidence
		FROM unnest(activity) a
		JOIN tablespace_advisor.placement_account(
			activity, facts, dest.tablespace, counted.seconds) n USING (relation)
		LEFT JOIN unnest(facts) s ON s.tablespace = a.tablespace
		CROSS JOIN LATERAL tablespace_advisor.placement_verdict(
			a, counted.seconds, s, dest, n.is_faster,
			n.gain_ms_per_s, n.gain_percent, n.move_ms) v
		WHERE a.relation = ANY (considered)
		ORDER BY v.action <> 'move',
			n.gain_ms_per_s / nullif(a.size_bytes, 0) DESC NULLS LAST,
			a.kind DESC, a.relation::text COLLATE "C"
	LOOP
		relation := r.relation;
		kind := r.kind;
		size_bytes := r.size_bytes;
		current_tablespace := r.tablespace;
		recommended_tablespace := r.tablespace;
		action := r.action;
		reads_per_s := r.reads_per_s;
		writes_per_s := r.writes_per_s;
		cached_fraction := r.cached_fraction;
		read_ms_per_s := r.read_ms_per_s;
		saved_ms_per_s := CASE WHEN r.gain_ms_per_s IS NOT NULL
			OR r.tablespace = dest.tablespace THEN 0 END;
		saved_percent := saved_ms_per_s;
		rank := NULL;
		statement := NULL;
		reason := r.reason;

		IF action = 'move' AND budget_left < r.size_bytes THEN
			action := 'keep';
			reason := format('does not fit in what is left of the space budget (%s); %s',
				pg_size_pretty(budget_left), reason);
		ELSIF action = 'move' AND room_left < r.size_bytes THEN
			action := 'keep';
			reason := format('does not fit in what may still be filled of %s (%s); %s',
				quote_ident(dest.tablespace), pg_size_pretty(room_left), reason);
		ELSIF action = 'move' THEN
			moves := moves + 1;
			budget_left := budget_left - r.size_bytes;
			room_left := room_left - r.size_bytes;
			rank := moves;
			recommended_tablespace := dest.tablespace;
			saved_ms_per_s := r.gain_ms_per_s;
			saved_percent := r.gain_percent;
			statement := format('CALL %s.%s(target => %L, tablespace => %L)',
				'@extschema@',
				CASE kind WHEN 'heap' THEN 'move_table_concurrently'
					ELSE 'move_indexes_concurrently' END,
				relation, dest.tablespace);
		ELSIF action = 'rebuild' THEN
			statement := format('REINDEX INDEX CONCURRENTLY %s', relation);
		END IF;
		reason := concat_ws('; ', reason, not_considered,
			nullif(r.evidence, ''));
		RETURN NEXT;
	END LOOP;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.judge_placement(tablespace_advisor.relation_activity[], regclass[], tablespace_advisor.tablespace_fact[], tablespace_advisor.counter_window, name, bigint) IS
	'the rows of advise_index_placement for the relations considered, from facts handed over; activity must hold all relations of their tables, because savings are stated as percent of a table''s read time';

CREATE FUNCTION advise_index_placement(
	target regclass,
	tablespace name DEFAULT NULL,
	space_budget text DEFAULT NULL)
RETURNS TABLE (
	relation regclass,
	kind text,
	size_bytes bigint,
	current_tablespace name,
	recommended_tablespace name,
	action text,
	reads_per_s float8,
	writes_per_s float8,
	cached_fraction float8,
	read_ms_per_s float8,
	saved_ms_per_s float8,
	saved_percent float8,
	rank int,
	statement text,
	reason text)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	destination name := tablespace_advisor.check_tablespace(tablespace);
	budget_bytes bigint := pg_size_bytes(space_budget);
	target_class pg_class;
	leaves oid[];
	tables oid[];
	activity tablespace_advisor.relation_activity[];
BEGIN
	IF target IS NULL THEN
		RAISE EXCEPTION 'target must not be null'
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF budget_bytes <= 0 THEN
		RAISE EXCEPTION 'space_budget must be greater than zero'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	SELECT c.* INTO target_class FROM pg_class c WHERE c.oid = target;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'relation with OID % does not exist', target::oid
			USING ERRCODE = 'undefined_table';
	END IF;
	IF target_class.relkind NOT IN ('r', 'm', 'p', 'i', 'I')
		OR target_class.relnamespace = 'pg_toast'::regnamespace
	THEN
		RAISE EXCEPTION '"%" is not a table or index', target_class.relname
			USING ERRCODE = 'wrong_object_type',
				DETAIL = CASE WHEN target_class.relnamespace = 'pg_toast'::regnamespace
					THEN 'A TOAST table moves with its table.'
					ELSE 'Advice is on tables, partitioned tables, materialized views and their indexes.' END;
	END IF;

	/* the target itself, or what is below it and has storage */
	SELECT array_agg(t.relid) INTO leaves FROM
		(SELECT target::oid AS relid
		UNION
		SELECT p.relid::oid FROM pg_partition_tree(target) p WHERE p.isleaf) t;

	/* a subquery in the view's qualification would make it measure all */
	tables := leaves || array(
		SELECT i.indrelid FROM pg_index i WHERE i.indexrelid = ANY (leaves));
	SELECT array_agg(a) INTO activity
	FROM tablespace_advisor.relation_activity a
	WHERE a.table_relation = ANY (tables)
		AND a.size_bytes IS NOT NULL;		/* not dropped a moment ago */

	RETURN QUERY
		SELECT j.*
		FROM tablespace_advisor.counter_window w
		CROSS JOIN LATERAL tablespace_advisor.judge_placement(
			activity,
			array(SELECT a.relation FROM unnest(activity) a
				WHERE target_class.relkind NOT IN ('i', 'I')
					OR a.relation = ANY (leaves)),
			array(SELECT f FROM tablespace_advisor.tablespace_facts(
				target_class.relowner) f),
			w, destination, budget_bytes) j;
END
$$;

COMMENT ON FUNCTION advise_index_placement(regclass, name, text) IS
	'one row per index of the target table and one for its heap, TOAST included (for a partitioned table: of every leaf partition; for an index: that row alone). target: table, partitioned table, materialized view or index; tablespace: where to, by default the probed one with the fastest random read that may be used; space_budget: bytes that moves may fill there, as read by pg_size_bytes(). reads_per_s: blocks read past shared buffers; writes_per_s: row versions written, for an index at most; cached_fraction: share of block accesses that shared buffers served; read_ms_per_s: milliseconds of waiting for reads in each second, at most: every read is taken for a random one from the device; saved_ms_per_s, saved_percent: what following this row saves, in milliseconds per second = reads_per_s * (random read time here - there) / 1000 and as percent of the read time of its table (of the leaf partition), NULL when not measured; rank: order of moves by saving per byte. Errors: 42704 no such tablespace, 42809 neither table nor index, 22023 bad budget or pg_global, 22004 no target';

GRANT SELECT ON tablespace_advisor.counter_window,
	tablespace_advisor.index_role,
	tablespace_advisor.relation_activity TO pg_monitor;

REVOKE ALL ON FUNCTION
	tablespace_advisor.tablespace_facts(oid),
	tablespace_advisor.business_cycle_days(),
	tablespace_advisor.three_digits(float8),
	tablespace_advisor.placement_account(tablespace_advisor.relation_activity[],
		tablespace_advisor.tablespace_fact[], name, float8),
	tablespace_advisor.placement_verdict(tablespace_advisor.relation_activity,
		float8, tablespace_advisor.tablespace_fact,
		tablespace_advisor.tablespace_fact, boolean, float8, float8, float8),
	tablespace_advisor.placement_evidence(tablespace_advisor.relation_activity,
		tablespace_advisor.counter_window, float8, float8),
	tablespace_advisor.judge_placement(tablespace_advisor.relation_activity[],
		regclass[], tablespace_advisor.tablespace_fact[],
		tablespace_advisor.counter_window, name, bigint),
	advise_index_placement(regclass, name, text)
	FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.tablespace_facts(oid),
	tablespace_advisor.business_cycle_days(),
	tablespace_advisor.three_digits(float8),
	tablespace_advisor.placement_account(tablespace_advisor.relation_activity[],
		tablespace_advisor.tablespace_fact[], name, float8),
	tablespace_advisor.placement_verdict(tablespace_advisor.relation_activity,
		float8, tablespace_advisor.tablespace_fact,
		tablespace_advisor.tablespace_fact, boolean, float8, float8, float8),
	tablespace_advisor.placement_evidence(tablespace_advisor.relation_activity,
		tablespace_advisor.counter_window, float8, float8),
	tablespace_advisor.judge_placement(tablespace_advisor.relation_activity[],
		regclass[], tablespace_advisor.tablespace_fact[],
		tablespace_advisor.counter_window, name, bigint),
	advise_index_placement(regclass, name, text)
	TO pg_monitor;
/*
 * move: the journal of moves and what people call.
 *
 * The journal is written by C functions only, which do so as the bootstrap
 * superuser after checking their caller's rights; nobody has grants on it.
 * It is not marked for pg_dump: a restored database has no moves under way.
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
	method text NOT NULL CHECK (method IN ('copy', 'rebuild', 'catalog')),
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
	new_tablespace oid,
	new_filenumber oid,
	old_tablespace oid,
	old_filenumber oid,
	old_index oid,
	heap_bytes bigint,
	known_indexes oid[],
	queued_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	started_at timestamptz,
	finished_at timestamptz
);
REVOKE ALL ON tablespace_advisor.job FROM PUBLIC;
CREATE INDEX job_batch_id_idx ON tablespace_advisor.job (batch_id);
/* Also the proof that no relation is moved twice at a time. */
CREATE UNIQUE INDEX job_unfinished_key ON tablespace_advisor.job (relation)
	WHERE state IN ('queued', 'running', 'paused');

COMMENT ON SEQUENCE tablespace_advisor.job_job_id_seq IS
	'numbers of moves';
COMMENT ON TABLE tablespace_advisor.job IS
	'journal of moves, one row for each relation; read it through the view tablespace_moves';
COMMENT ON COLUMN tablespace_advisor.job.batch_id IS
	'first job_id of the call that queued this job; its jobs share one worker and run one after the other';
COMMENT ON COLUMN tablespace_advisor.job.system_identifier IS
	'server that queued the job: a copied or restored database must not act on it';
COMMENT ON COLUMN tablespace_advisor.job.new_filenumber IS
	'storage of the copy under way in new_tablespace, to be removed if the job ends otherwise than by switching to it';
COMMENT ON COLUMN tablespace_advisor.job.old_filenumber IS
	'storage that the relation has left in old_tablespace and that is still to be removed';
COMMENT ON COLUMN tablespace_advisor.job.known_indexes IS
	'the table''s indexes before a rebuild began: an invalid _ccnew index that is not among them is left over from it and will be dropped; NULL when nothing can be left over';
COMMENT ON COLUMN tablespace_advisor.job.heap_bytes IS
	'size of the table when a rebuild began: to ask for it now would wait for a lock';
COMMENT ON COLUMN tablespace_advisor.job.old_index IS
	'the index before a rebuild, which replaces it by one with another OID; left over if it is invalid and named _ccold';

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
	FROM (SELECT target::oid AS member
		  UNION
		  SELECT relid FROM pg_catalog.pg_partition_tree(target)) AS t
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

/*
 * What is left over from a rebuild that did not end well.  REINDEX
 * CONCURRENTLY builds <name>_ccnew, swaps the names and drops the old index
 * as <name>_ccold.  It appends a number where that name is taken, and cuts
 * <name>, between two characters, only as far as the whole would be too long.
 */
CREATE VIEW tablespace_advisor.leftover WITH (security_barrier) AS
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
REVOKE ALL ON tablespace_advisor.leftover FROM PUBLIC;
COMMENT ON VIEW tablespace_advisor.leftover IS
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
LANGUAGE sql STABLE STRICT SECURITY DEFINER
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

CREATE VIEW tablespace_moves WITH (security_barrier) AS
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
	CASE WHEN j.state = 'running' AND b.rate > 0 AND b.done < b.total
			AND coalesce(w.blocked_by, j.blocked_by) IS NULL
		THEN pg_catalog.make_interval(
			secs => (b.total - b.done) / (b.rate * 1048576)) END AS eta,
	j.passes, j.lock_ms, j.attempts,
	coalesce(w.blocked_by, j.blocked_by) AS blocked_by,
	j.error, j.owner::regrole AS owner,
	j.queued_at, j.started_at, j.finished_at
FROM tablespace_advisor.job j
	LEFT JOIN LATERAL tablespace_advisor.worker_progress(
		CASE j.state WHEN 'running' THEN j.job_id END) w ON true
	CROSS JOIN LATERAL (
		SELECT coalesce(w.bytes_total, j.bytes_total) AS total,
			coalesce(w.bytes_done, j.bytes_done) AS done,
			coalesce(j.mb_per_s, coalesce(w.bytes_done, j.bytes_done)
				/ 1048576.0::float8 / nullif(extract(epoch FROM
					coalesce(j.finished_at, pg_catalog.clock_timestamp())
					- j.started_at), 0)::float8) AS rate) b
WHERE j.database = (SELECT oid FROM pg_catalog.pg_database
		WHERE datname = pg_catalog.current_database())
	AND j.system_identifier =
		(SELECT system_identifier FROM pg_catalog.pg_control_system())
	AND (pg_catalog.pg_has_role(j.owner, 'USAGE')
		OR pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE'));
GRANT SELECT ON tablespace_moves TO PUBLIC;

COMMENT ON VIEW tablespace_moves IS
	'moves queued, under way and ended; a role sees its own, members of pg_read_all_stats see all';
COMMENT ON COLUMN tablespace_moves.relation_name IS
	'schema and name when the move was queued';
COMMENT ON COLUMN tablespace_moves.method IS
	'copy (live block copy), rebuild (REINDEX CONCURRENTLY) or catalog (a partitioned index, which has no storage)';
COMMENT ON COLUMN tablespace_moves.state IS
	'queued, running, paused, done, failed or cancelled';
COMMENT ON COLUMN tablespace_moves.bytes_total IS
	'copy: bytes of the relation; a running rebuild: bytes of the index once and of its table twice, since that is read and written';
COMMENT ON COLUMN tablespace_moves.percent IS
	'bytes_done in percent of bytes_total';
COMMENT ON COLUMN tablespace_moves.mb_per_s IS
	'MB (1048576 bytes) per second: read and written since the start for a rebuild, copied since the start for a copy';
COMMENT ON COLUMN tablespace_moves.eta IS
	'time left at this rate; NULL while it waits for other sessions';
COMMENT ON COLUMN tablespace_moves.lock_ms IS
	'milliseconds that a copy held its exclusive lock';
COMMENT ON COLUMN tablespace_moves.blocked_by IS
	'process ids of the sessions that the move waits for';

CREATE PROCEDURE move_indexes_concurrently(
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
COMMENT ON PROCEDURE move_indexes_concurrently(regclass, name, regclass[],
	text, text, interval, boolean, boolean, boolean, bigint[]) IS
	'moves one index, or the indexes of a table or partitioned table, to another tablespace while they are in use; without tablespace, or with hot_only, what and where the advice says; method copy (live block copy, with an exclusive lock of about a millisecond), rebuild (REINDEX CONCURRENTLY) or auto (copy where it applies); max_rate: bytes per second such as ''200 MB''; lock_timeout: longest wait for a lock per attempt; wait => false returns the job ids to look up in tablespace_moves; dry_run only says what would be done. The caller must own the table and have CREATE on the tablespace, and to let the advice decide, the right to execute advise_index_placement(), which members of pg_monitor have (42501). Not in a transaction block (25001)';

CREATE FUNCTION cancel_move(job_id bigint) RETURNS boolean
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_cancel_move';
COMMENT ON FUNCTION cancel_move(bigint) IS
	'cancels a move: one that is queued at once, one that runs as soon as its worker notices; false when the move has ended already; 42704 when there is no such job, 42501 unless it is the caller''s own or the caller is a member of pg_signal_backend';

CREATE FUNCTION retry_move(job_id bigint) RETURNS bigint
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_retry_move';
COMMENT ON FUNCTION retry_move(bigint) IS
	'queues a failed or cancelled move again, with the same options and the caller''s rights, and returns the new job''s id, or NULL if the relation is in that tablespace already; a partitioned index takes those of its partitions that are elsewhere along, and the id is the first of these jobs; the move begins when the transaction commits; 42704 when there is no such job, 55000 when it has not failed';
