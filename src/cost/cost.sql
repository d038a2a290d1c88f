/*
 * src/cost/cost.sql
 *
 * From probe history to planner costs.  The views here are also the basis of
 * advice: which latency of a tablespace may be believed, and since when.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
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
	r.caveat, r.conditions, run.device, r.burst_iops,
	coalesce(r.others_reads_per_s + r.others_writes_per_s, 0) AS others_iops
FROM tablespace_advisor.probe_run run
JOIN tablespace_advisor.probe_result r USING (run_id)
JOIN pg_tablespace t ON t.spcname = run.tablespace
WHERE pg_tablespace_location(t.oid) IN (run.location, '');

COMMENT ON VIEW tablespace_advisor.current_probe_result IS
	'results of probes of tablespaces that still lie where they were probed; page_us is the time per block at the measured throughput (microseconds), others_iops the requests of others per second meanwhile; rows with a caveat are included and not to be trusted';

/*
 * Three short probes are better than one.  A mean is weighted by its interval, 2 %
 * at least, and by its age: after a month it counts half.  Where runs differ by
 * more than their intervals say, the interval grows by as much (Birge's ratio).  A
 * measurement alone that is more than a fifth off the newest, and apart from it,
 * was of another device in all but name, and is left out; under load, runs differ
 * by the load.
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
COMMENT ON FUNCTION tablespace_advisor.pool_measurements IS
	'one mean with a 95 % interval from those of several runs, newest first, ages in days; loaded: they were measured beside others, and differ by these; used, used_samples: how many runs count, and their samples';
GRANT EXECUTE ON FUNCTION tablespace_advisor.pool_measurements TO pg_monitor;

/*
 * The last five runs of a tablespace's device count: first those that were measured
 * alone, then those beside a load, last those with a caveat.  A run that is older
 * than a month comes after a recent one beside a load.  If a run found that
 * throughput falls after a while, runs that were too short to see it do not count.
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
	g.doubt = 3 AS has_caveat, g.loaded, g.others_iops
FROM (SELECT r.tablespace_oid, r.workload, r.queue_depth,
		max(r.run_id) AS run_id, max(r.finished_at) AS finished_at,
		array_agg(r.samples ORDER BY r.place) AS samples, min(r.doubt) AS doubt,
		bool_or(r.conditions IS NOT NULL AND r.burst_iops IS NULL) AS loaded,
		avg(r.others_iops) AS others_iops,
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
	'the pooled result of the last runs of each tablespace''s device, by workload and queue depth: times in microseconds with 95 % intervals; run_id and finished_at are those of the newest, runs says how many count; loaded: measured beside others, which made others_iops requests per second; has_caveat: only rows with a caveat are there';

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
	'per tablespace the pooled result of its last runs (pooled_probe_result), in microseconds: a random read of one block at queue depth 1 with the 95 % interval of its mean, and a page read or written sequentially; runs: how many runs the random read is from, run_id and measured_at: of the newest of them; NULL where nothing trustworthy was measured, random_read_caveat and sequential_read_caveat tell the faults of the newest';

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
		max(o.value::float8)
			FILTER (WHERE o.name = 'random_page_cost') AS random_page_cost,
		max(o.value::float8)
			FILTER (WHERE o.name = 'seq_page_cost') AS seq_page_cost,
		/* whole numbers may be written as 1e2, too */
		max(o.value::float8::int)
			FILTER (WHERE o.name = 'effective_io_concurrency') AS effective_io_concurrency,
		max(o.value::float8::int)
			FILTER (WHERE o.name = 'maintenance_io_concurrency') AS maintenance_io_concurrency
		FROM tablespace_advisor.read_settings(t.spcoptions) o
		WHERE NOT o.is_cut AND o.name IN ('random_page_cost', 'seq_page_cost',
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
			USING ERRCODE = 'undefined_object', HINT = E'\\db in psql lists the tablespaces.';
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

GRANT EXECUTE ON FUNCTION tablespace_advisor.check_tablespace TO pg_monitor;
