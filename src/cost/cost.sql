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
	r.caveat, r.conditions
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
 * with, and one that was measured alone to one that was not: the run is named,
 * so that its age can be judged.
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
		ORDER BY r.conditions IS NOT NULL, r.run_id DESC LIMIT 1) random_read ON true
LEFT JOIN LATERAL
	(SELECT r.page_us
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = t.oid AND r.workload = 'sequential read'
			AND r.caveat IS NULL AND r.page_us > 0
		ORDER BY r.conditions IS NOT NULL, r.run_id DESC, r.queue_depth LIMIT 1) sequential_read ON true
LEFT JOIN LATERAL
	(SELECT r.page_us
		FROM tablespace_advisor.current_probe_result r
		WHERE r.tablespace_oid = t.oid AND r.workload = 'sequential write'
			AND r.caveat IS NULL AND r.page_us > 0
		ORDER BY r.conditions IS NOT NULL, r.run_id DESC, r.queue_depth LIMIT 1) sequential_write ON true
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
