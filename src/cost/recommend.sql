
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
	'the random_page_cost under which the planner''s choices cost least time, and how many times as long as the best plans its choices take now, then, and with locality corrected (geometric means); gain_low: the least improvement over all draws of the times. times: the columns of read_times from sequential_page_us on, then the intervals of random_read_us and sequential_page_us. indexes: nine numbers each: OID, pages and rows of the table, pages and entries of the index, correlation, share held by caches, random_page_cost of the index (NULL: the table''s), height of the tree';

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
			h.oid AS heap, h.relpages, x.oid AS index, x.relpages AS index_pages,
			/* owners can have put anything there; a row takes 4 bytes at least */
			least(h.reltuples, h.relpages::float8 * b.size / 4) AS reltuples,
			least(x.reltuples, x.relpages::float8 * b.size / 4) AS index_tuples,
			greatest(least(s.correlation, 1), -1) * CASE WHEN i.indnkeyatts > 1 THEN 0.75 ELSE 1 END
				AS correlation,
			row_number() OVER (PARTITION BY h.reltablespace
				ORDER BY h.relpages DESC, x.oid) AS rank
		FROM pg_class h
		CROSS JOIN (SELECT current_setting('block_size')::int) b (size)
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
	WITH wanted AS MATERIALIZED (
		SELECT tablespace_advisor.check_tablespace($1) AS tablespace
	), measured AS MATERIALIZED (
		SELECT l.tablespace_oid, l.tablespace, l.random_read_us,
			l.sequential_page_us, l.samples, l.runs, l.run_id, l.measured_at,
			l.random_read_caveat, l.sequential_read_caveat,
			l.random_read_low_us, l.random_read_high_us,
			l.sequential_page_low_us, l.sequential_page_high_us,
			c.random_page_cost, c.seq_page_cost, c.is_tablespace_option,
			l.random_read_us IS NOT NULL
				AND l.sequential_page_us IS NOT NULL AS is_probed,
			l.measured_at < now() - interval '30 days' AS is_old,
			t.adjacent_0_us, t.adjacent_1_us, t.adjacent_deep_us,
			t.random_deep_us,
			ARRAY[l.sequential_page_us, l.random_read_us, t.skip_read_us,
				t.cached_read_us, t.adjacent_0_us, t.adjacent_1_us, t.depth,
				t.adjacent_deep_us, t.skip_deep_us, t.random_deep_us,
				l.random_read_low_us, l.random_read_high_us,
				l.sequential_page_low_us, l.sequential_page_high_us] AS times,
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
				WHEN a.regret_current / a.regret_best < 1.03 THEN 'no gain'
				WHEN a.gain_low <= 1 THEN 'noise'
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
			format('a random read takes %s times as long as a sequential page (%s of %s, %s random reads at depth 1)',
				round((j.random_read_us / j.sequential_page_us)::numeric, 1),
				CASE WHEN j.runs = 1 THEN format('run %s', j.run_id)
					ELSE format('%s runs, the last one %s', j.runs, j.run_id) END, to_char(j.measured_at, 'YYYY-MM-DD HH24:MI'),
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
	), unprobed AS (
		/* one call probes all; one that would find the same again is not named */
		SELECT count(*) AS n, min(c.tablespace::text COLLATE "C") AS first
		FROM concluded c
		WHERE c.verdict = 'probe first'
			AND c.random_read_caveat IS NULL AND c.sequential_read_caveat IS NULL
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
				CASE WHEN c.random_read_caveat IS NOT NULL
						OR c.sequential_read_caveat IS NOT NULL THEN NULL
					WHEN u.n = 1 THEN
						format('SELECT * FROM %s.probe_tablespace(%L::pg_catalog.name)',
							'@extschema@', c.tablespace)
					WHEN c.tablespace = u.first THEN
						format('SELECT * FROM %s.probe_tablespace()', '@extschema@')
				END
			WHEN 'change' THEN
				format('ALTER TABLESPACE %I SET (random_page_cost = %s)',
					c.tablespace, c.best)
		END,
		CASE c.finding
			WHEN 'not probed' THEN
				CASE WHEN c.random_read_caveat IS NULL AND c.sequential_read_caveat IS NULL THEN
					CASE WHEN u.n > 1 AND c.tablespace <> u.first THEN
						format('not measured: the call at tablespace %I measures all', u.first)
					ELSE 'not measured' END
				ELSE 'the device did not answer the probe: '
					|| coalesce(c.random_read_caveat, c.sequential_read_caveat) END
			WHEN 'old' THEN
				format('the probe is %s days old: probe again before anything is changed',
					extract(day FROM now() - c.measured_at))
			WHEN 'gain' THEN
				format('%s instead of %s (%s to %s are as good): plans take %s times the best instead of %s, %s %% cached',
					c.best, c.random_page_cost, c.low, c.high,
					round(c.regret_best::numeric, 2), round(c.regret_current::numeric, 2),
					round((100 * c.cached_fraction)::numeric))
			ELSE format('keep %s', c.random_page_cost) || CASE c.finding
				WHEN 'nothing to weigh' THEN
					': no analyzed table with a B-tree and at least 64 pages here'
				WHEN 'caches unknown' THEN
					': how much of the tables the caches hold is not known'
				WHEN 'flat' THEN
					format(' (%s to %s are as good): plans take %s times the best, %s %% cached',
						c.low, c.high, round(c.regret_current::numeric, 2),
						round((100 * c.cached_fraction)::numeric))
				WHEN 'locality' THEN
					format(': no constant helps much (plans take %s times the best, with %s %s times), tablespace_advisor.correct_locality does (%s times)',
						round(c.regret_current::numeric, 2), c.best,
						round(c.regret_best::numeric, 2),
						round(c.regret_locality::numeric, 2))
				ELSE
					format(': plans take %s times the best, with %s %s times, %s',
						round(c.regret_current::numeric, 2), c.best,
						round(c.regret_best::numeric, 2),
						CASE c.finding WHEN 'noise' THEN 'within noise'
							ELSE 'too little for a change' END)
				END
			END,
		CASE WHEN c.verdict = 'change' THEN
			CASE WHEN c.is_tablespace_option THEN
				format('ALTER TABLESPACE %I SET (random_page_cost = %s)',
					c.tablespace, c.random_page_cost)
			ELSE
				format('ALTER TABLESPACE %I RESET (random_page_cost)', c.tablespace)
			END
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
				c.probe || '; ' || c.weighed || format(', with %s they would take %s times as long: too little to change the %s',
					c.best, round(c.regret_best::numeric, 2), c.setting)
			WHEN 'noise' THEN
				c.probe || '; ' || c.weighed || format(', with %s they would take %s times as long, but not for all times within the intervals (a random read takes %s to %s us, a sequential page %s to %s): the %s stays. More runs, or longer ones, make the intervals narrower',
					c.best, round(c.regret_best::numeric, 2),
					round(c.random_read_low_us::numeric, 1),
					round(c.random_read_high_us::numeric, 1),
					round(c.sequential_page_low_us::numeric, 1),
					round(c.sequential_page_high_us::numeric, 1), c.setting)
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
		END
	FROM concluded c
	CROSS JOIN unprobed u
	ORDER BY c.tablespace;
END;

COMMENT ON FUNCTION @extschema@.recommend_random_page_cost(name) IS
	'what random_page_cost each tablespace (or the one named) should have, weighed by the plans it leads to for the tables of this database. verdict: "probe first" (statement is the call to make, NULL if it was made and the device did not answer: the reason says why), "keep" (random_page_cost is the current value) or "change" (statement sets it, undo_statement takes it back). low, high: about as good between these; regret_current, regret_recommended: how many times as long as the best plans the planner''s choices are predicted to take; cached_fraction: share of the tables'' blocks in caches now; effective_io_concurrency, maintenance_io_concurrency: by the random reads measured at several depths. random_read_us, sequential_page_us: measured microseconds per page, from the last probes without a caveat. reason: why, in a line; detail: what was measured and weighed. NULL: nobody has measured or computed it. Errors: 42704 no such tablespace, 22023 pg_global';

REVOKE ALL ON FUNCTION @extschema@.recommend_random_page_cost(name) FROM PUBLIC;
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
