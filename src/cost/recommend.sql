/* Copyright (c) 2026, The tablespace_advisor developers */

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
	'input of weigh_random_page_cost() on a B-tree. cached: share of its table that caches hold; random_page_cost: of the index, NULL: that of the table';

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
	advised float8 DEFAULT 0,
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
COMMENT ON FUNCTION tablespace_advisor.weigh_random_page_cost IS
	'the random_page_cost under which the planner''s choices cost least time, and how many times as long as the best plans its choices take (geometric means): regret_current now; with effective_io_concurrency as recommended regret_kept, with the best constant, too, regret_best, with locality corrected, too, regret_locality; best is the one advised before, unless another one is clearly better (0: none was); gain_low, prefetch_gain_low: the least of regret_kept / regret_best and of regret_current / regret_kept over all draws of the times. Errors: 22023, 2202E, 22004 for bad input';

/*
 * The input: the hundred largest pairs of a table and a B-tree per tablespace of
 * this database, with a correlation that the caller may see.  Caches are those of
 * this moment, shared buffers among them: a plan is charged for every page that it
 * touches, wherever that is found.  (Forecasts of the stage advise discount reads
 * that were counted, which are those that shared buffers did not answer:
 * cached_share().)
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
	'per tablespace the input of weigh_random_page_cost() on the tables there and their B-trees, how many of the latter there are, and the share of the tables'' blocks that caches hold now (NULL: not known)';

/* The advice of the last probe of a tablespace's device. */
CREATE VIEW tablespace_advisor.cost_advice AS
SELECT DISTINCT ON (r.tablespace_oid) r.tablespace_oid, r.advised_verdict,
	r.advised_random_page_cost, r.advised_io_concurrency, r.advised_depth,
	r.advised_cached_fraction
FROM (SELECT r.*, t.oid AS tablespace_oid,
		first_value(r.device) OVER (PARTITION BY t.oid ORDER BY r.run_id DESC) AS newest
	FROM tablespace_advisor.probe_run r
	JOIN pg_tablespace t ON t.spcname = r.tablespace
	WHERE pg_tablespace_location(t.oid) IN (r.location, '')) r
WHERE r.device IS NOT DISTINCT FROM r.newest
	AND num_nonnulls(r.advised_verdict, r.advised_depth) > 0
ORDER BY r.tablespace_oid, r.run_id DESC;
COMMENT ON VIEW tablespace_advisor.cost_advice IS
	'per tablespace the advice that its last probe led to, if any';
GRANT SELECT ON tablespace_advisor.cost_advice TO pg_monitor;

/*
 * The depth at which random reads come near their best, by the pooled results where
 * they have several, and its effect on neighbouring pages.  The requests of others
 * count, too: beside a load, more requests at once take the device away from
 * others, and the throughput of a disk with one actuator only seems to grow.  A
 * quarter more, and a difference within the intervals, is no growth: on a busy
 * machine one request at a time loses as much by waiting for a processor.  The depth
 * advised before stays until more than half is gained, or less than a tenth.
 */
CREATE VIEW tablespace_advisor.read_concurrency AS
WITH measured AS (
	SELECT p.tablespace_oid, p.queue_depth, 1e6 / t.us + p.others_iops AS iops,
		1e6 / t.high + p.others_iops AS low, 1e6 / t.low + p.others_iops AS high
	FROM tablespace_advisor.pooled_probe_result p
	/* by throughput or, in a stretch that was quiet for a moment, by Little's law */
	CROSS JOIN LATERAL (SELECT v.us, v.low, v.high
		FROM (VALUES (p.page_us, p.page_low_us, p.page_high_us),
			(p.mean_us / p.queue_depth, p.mean_low_us / p.queue_depth,
				p.mean_high_us / p.queue_depth)) v (us, low, high)
		ORDER BY v.us DESC LIMIT 1) t
	WHERE p.workload = 'random read' AND p.queue_depth > 0 AND t.us > 0 AND t.low > 0
		AND t.high > 0
), depth AS (
	SELECT m.*, max(m.iops) OVER (PARTITION BY m.tablespace_oid) AS peak,
		lead(m.iops) OVER (PARTITION BY m.tablespace_oid
			ORDER BY m.queue_depth) AS next_iops,
		count(*) OVER (PARTITION BY m.tablespace_oid) AS depths
	FROM measured m
), enough AS (
	SELECT d.tablespace_oid, min(d.queue_depth) AS depth
	FROM depth d
	WHERE d.depths > 1 AND d.iops >= 0.9 * d.peak AND coalesce(d.next_iops < 1.1 * d.iops, true)
	GROUP BY d.tablespace_oid
)
SELECT e.tablespace_oid,
	CASE
		WHEN a.advised_depth = 1 AND d.low <= 1.5 * o.high THEN 1
		WHEN a.advised_depth > 1 AND p.iops >= 0.8 * d.peak
			AND (p.iops <= 1.1 * o.iops) IS NOT TRUE THEN p.queue_depth
		WHEN d.low <= 1.25 * o.high THEN least(e.depth, 1)
		ELSE e.depth
	END AS depth
FROM enough e
JOIN depth d ON d.tablespace_oid = e.tablespace_oid AND d.queue_depth = e.depth
LEFT JOIN measured o ON o.tablespace_oid = e.tablespace_oid AND o.queue_depth = 1
LEFT JOIN tablespace_advisor.cost_advice a ON a.tablespace_oid = e.tablespace_oid
LEFT JOIN measured p ON p.tablespace_oid = e.tablespace_oid
	AND p.queue_depth = a.advised_depth;
COMMENT ON VIEW tablespace_advisor.read_concurrency IS
	'per tablespace the smallest queue depth at which the device reaches nine tenths of its best throughput of random reads, others'' requests included, and gains less than a tenth from the next depth; 1 where no more than a quarter is gained beyond it, or the intervals explain it; the depth that was advised before stays for more';
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
	c.value::float8 AS random_page_cost
FROM pg_db_role_setting s
LEFT JOIN pg_database d ON d.oid = s.setdatabase
CROSS JOIN LATERAL tablespace_advisor.read_settings(s.setconfig) c
WHERE (s.setdatabase = 0 OR d.datname = current_database())
	AND c.name = 'random_page_cost' AND NOT c.is_cut;
COMMENT ON VIEW tablespace_advisor.role_cost_setting IS
	'values of random_page_cost that ALTER ROLE and ALTER DATABASE have set for sessions in this database; an option of a tablespace beats them';
GRANT SELECT ON tablespace_advisor.role_cost_setting TO pg_monitor;

/* Probes, settings and the input of the weighing, by tablespace. */
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
	cached_fraction float8,
	advised_verdict text,
	advised_random_page_cost float8,
	advised_io_concurrency int)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT l, c,
		EXISTS (SELECT FROM pg_tablespace s
				CROSS JOIN LATERAL tablespace_advisor.read_settings(s.spcoptions) o
			WHERE s.oid = l.tablespace_oid
				AND o.name IN ('random_page_cost', 'effective_io_concurrency')),
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
		w.indexes, w.n, w.cached_fraction,
		a.advised_verdict, a.advised_random_page_cost, a.advised_io_concurrency
	FROM tablespace_advisor.tablespace_latency l
	JOIN tablespace_advisor.tablespace_cost_setting c USING (tablespace_oid)
	JOIN tablespace_advisor.read_times t USING (tablespace_oid)
	LEFT JOIN tablespace_advisor.read_concurrency r USING (tablespace_oid)
	LEFT JOIN tablespace_advisor.weighable_indexes() w USING (tablespace_oid)
	/* noise between probes is one thing, other caches are another */
	LEFT JOIN tablespace_advisor.cost_advice a ON a.tablespace_oid = l.tablespace_oid
		AND abs(a.advised_cached_fraction - w.cached_fraction) < 0.1
	WHERE wanted IS NULL OR l.tablespace = wanted
$$;
COMMENT ON FUNCTION tablespace_advisor.cost_measurements(name) IS
	'per tablespace (or of the one named) measurements, settings, and the input of weigh_random_page_cost(); depth and io_concurrency: recommendation of the random reads at several depths for maintenance_io_concurrency and effective_io_concurrency (NULL: not measured); is_option: one of the recommended settings is an option of the tablespace already; advised_…: the advice of the last probe of the device, with about this share in caches';

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
	'the verdict on a tablespace''s random_page_cost. finding: "not probed", "nothing to weigh", "caches unknown", "old" (a change, by an old probe), "gain", "prefetching" (effective_io_concurrency alone brings one), or why the value stays: "flat", "no gain", "noise", "locality"; best: the best constant, low, high: as good; the regrets as weigh_random_page_cost() tells them, regret_recommended that of the recommended value; others: values that roles and databases have set';

/*
 * Somebody has chosen an option that the tablespace has, and may have followed this
 * advice: it takes more to change it, lest it changes with every probe and with the
 * contents of caches.  For the same reason the advice of the last probe is changed
 * for a clear gain only, in either direction (probe_run.advised_...).
 *
 * Weighed with the present effective_io_concurrency, and with the one that the
 * probe speaks for.  The latter is recommended only if plans gain by it as much
 * as by a change of the constant, so that all that is said of a tablespace holds
 * for one value of it.
 */
CREATE FUNCTION tablespace_advisor.find_costs(wanted name)
RETURNS SETOF tablespace_advisor.cost_finding
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH measured AS MATERIALIZED (
		SELECT m.*, m.is_probed AND m.indexes IS NOT NULL AS can_weigh,
			CASE WHEN m.is_option THEN 1.1 WHEN a.is_advised THEN 1.01 ELSE 1.03 END AS min_gain,
			a.is_advised
		FROM tablespace_advisor.cost_measurements(wanted) m,
			LATERAL (SELECT m.advised_verdict IS NOT DISTINCT FROM 'change' AS is_advised) a
	), judged AS (
		SELECT m.*, v.concurrency, v.is_present, g.*,
			NOT v.is_present AND g.regret_current / g.regret_kept >= m.min_gain
				AND (m.is_advised OR g.prefetch_gain_low > 1) AS prefetching_helps,
			CASE
				WHEN NOT m.is_probed THEN 'not probed'
				WHEN m.n IS NULL THEN 'nothing to weigh'
				WHEN m.cached_fraction IS NULL THEN 'caches unknown'
				WHEN (m.setting).random_page_cost BETWEEN g.low AND g.high THEN 'flat'
				WHEN g.regret_kept / g.regret_best < m.min_gain
					OR g.regret_current / g.regret_best < m.min_gain THEN 'no gain'
				WHEN g.gain_low <= 1 AND NOT m.is_advised THEN 'noise'
				WHEN g.regret_kept - g.regret_best
						< CASE WHEN m.is_advised THEN 0.15 ELSE 0.25 END * (g.regret_kept - 1)
					AND g.regret_locality < g.regret_best THEN 'locality'
				ELSE 'gain'
			END AS of_constant
		FROM measured m
		CROSS JOIN LATERAL (SELECT (m.setting).effective_io_concurrency, true
			UNION ALL SELECT m.io_concurrency, false
			WHERE m.can_weigh AND m.cached_fraction IS NOT NULL
				AND m.io_concurrency <> (m.setting).effective_io_concurrency)
			v (concurrency, is_present)
		LEFT JOIN LATERAL tablespace_advisor.weigh_random_page_cost(
			m.times, m.indexes, (m.setting).random_page_cost, (m.setting).seq_page_cost,
			(m.setting).effective_io_concurrency, v.concurrency,
			coalesce(m.advised_random_page_cost, 0)) g ON m.can_weigh
	), found AS (
		SELECT j.*, CASE WHEN j.of_constant = 'gain' THEN j.regret_best
				WHEN j.prefetching_helps THEN j.regret_kept ELSE j.regret_current END AS regret_then,
			j.of_constant = 'gain' OR j.prefetching_helps AS is_change
		FROM judged j
	), chosen AS (
		SELECT DISTINCT ON ((f.latency).tablespace) f.*,
			CASE WHEN NOT f.is_change THEN f.of_constant
				WHEN (f.latency).measured_at < now() - interval '30 days' THEN 'old'
				WHEN f.of_constant = 'gain' THEN 'gain'
				ELSE 'prefetching'
			END AS finding
		FROM found f
		WHERE f.is_present OR f.is_change
		ORDER BY (f.latency).tablespace,
			f.regret_current / f.regret_then
				/ CASE f.concurrency WHEN coalesce(f.advised_io_concurrency, (f.setting).effective_io_concurrency)
					THEN 1 ELSE greatest(f.min_gain, 1.03) END DESC NULLS LAST,
			f.is_present DESC
	)
	SELECT c.finding,
		CASE WHEN c.finding IN ('not probed', 'old') THEN 'probe first'
			WHEN c.finding IN ('gain', 'prefetching') THEN 'change' ELSE 'keep' END,
		c.latency, c.setting, c.is_probed, c.n, c.measured_indexes, c.cached_fraction,
		c.best, c.low, c.high,
		CASE WHEN c.io_concurrency IS NOT NULL AND c.can_weigh AND c.cached_fraction IS NOT NULL
			THEN c.concurrency ELSE c.io_concurrency END, c.depth,
		c.regret_current, c.regret_kept, c.regret_best,
		CASE WHEN c.finding NOT IN ('not probed', 'old') THEN c.regret_then END,
		c.regret_locality, o.others
	FROM chosen c
	LEFT JOIN LATERAL (
		SELECT string_agg(format('%s for %s (%s times)',
			s.random_page_cost, s.setter,
			round(r.regret_current::numeric, 2)), ', ' ORDER BY s.setter) AS others
		FROM tablespace_advisor.role_cost_setting s
		CROSS JOIN LATERAL tablespace_advisor.weigh_random_page_cost(
			c.times, c.indexes, s.random_page_cost, (c.setting).seq_page_cost,
			(c.setting).effective_io_concurrency,
			(c.setting).effective_io_concurrency) r
		WHERE s.random_page_cost <> (c.setting).random_page_cost) o ON c.can_weigh
$$;
COMMENT ON FUNCTION tablespace_advisor.find_costs(name) IS
	'findings of recommend_random_page_cost() on each tablespace or on the one named';

/* Of the probe, with the extension's rights: find_costs() runs no code of others. */
CREATE FUNCTION tablespace_advisor.keep_cost_advice(run bigint)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	UPDATE tablespace_advisor.probe_run r
	SET advised_verdict = CASE WHEN f.best IS NOT NULL THEN f.verdict END,
		advised_random_page_cost = f.best, advised_depth = f.maintenance_io_concurrency,
		advised_cached_fraction = f.cached_fraction,
		advised_io_concurrency = CASE WHEN f.best IS NOT NULL THEN f.effective_io_concurrency END
	FROM (SELECT f.* FROM tablespace_advisor.probe_run w
		CROSS JOIN LATERAL tablespace_advisor.find_costs(w.tablespace) f
		WHERE w.run_id = run) f
	WHERE r.run_id = run
$$;
COMMENT ON FUNCTION tablespace_advisor.keep_cost_advice(bigint) IS
	'keeps the finding of find_costs() on the tablespace of a run with the run';
REVOKE ALL ON FUNCTION tablespace_advisor.keep_cost_advice(bigint) FROM PUBLIC;

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
		SELECT w.name, w.number, w.place, p.value AS present
		FROM unnest(names, numbers) WITH ORDINALITY w (name, number, place)
		LEFT JOIN (SELECT o.* FROM pg_tablespace t
				CROSS JOIN LATERAL tablespace_advisor.read_settings(t.spcoptions) o
			WHERE t.spcname = $1 AND NOT o.is_cut) p ON p.name = w.name
		WHERE w.number IS NOT NULL
	)
	SELECT format('ALTER TABLESPACE %I SET (%s);', $1,
			string_agg(format('%s = %s', w.name, w.number), ', ' ORDER BY w.place)),
		concat_ws(' ',
			format('ALTER TABLESPACE %I RESET (', $1)
				|| string_agg(w.name, ', ' ORDER BY w.place) FILTER (WHERE w.present IS NULL) || ');',
			format('ALTER TABLESPACE %I SET (', $1)
				|| string_agg(format('%s = %s', w.name, w.present), ', ' ORDER BY w.place)
					FILTER (WHERE w.present IS NOT NULL) || ');')
	FROM wanted w
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_options(name, text[], float8[]) IS
	'the statement that gives options of a tablespace these numbers (NULL: not that one), and the one that takes it back: two statements where some are set now and some are not';

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
			WHEN 'prefetching' THEN format('%s: plans take %s times the best instead of %s, %s %% of the tables cached%s',
				n.prefetching, n.recommended, n.now, n.cached,
				CASE WHEN n.r NOT BETWEEN f.low AND f.high THEN format(
					'; random_page_cost stays %s, with %s %s times', n.r, f.best, n.best) END)
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
					tablespace_advisor.setting_source('random_page_cost')) END AS setting,
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
	'measurements, their weighing and the conclusion';

/* An addition to the reason to probe. */
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
	'the roles that may call probe_tablespace(), if this role may not, else nothing';

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
		(f.setting).random_page_cost, tablespace_advisor.round_to_three((f.latency).random_read_us),
		tablespace_advisor.round_to_three((f.latency).sequential_page_us),
		tablespace_advisor.round_to_three((f.fact).cached_fraction),
		tablespace_advisor.round_to_three((f.fact).regret_current),
		tablespace_advisor.round_to_three((f.fact).regret_recommended),
		CASE f.verdict
			WHEN 'probe first' THEN
				CASE WHEN NOT f.answers THEN NULL
					WHEN u.n = 1 THEN format('SELECT * FROM %s(%s);', tablespace_advisor.written_call('probe_tablespace'),
						tablespace_advisor.written_argument('probe_tablespace', (f.latency).tablespace, 'name'))
					WHEN (f.latency).tablespace = u.first THEN
						format('SELECT * FROM %s();', tablespace_advisor.written_call('probe_tablespace'))
				END
			WHEN 'change' THEN o.statement
		END,
		tablespace_advisor.wrapped(CASE WHEN f.finding = 'not probed' AND f.answers AND u.n > 1
				AND (f.latency).tablespace <> u.first THEN
				format('not measured: the call at tablespace %I measures all', u.first)
			ELSE tablespace_advisor.cost_reason(f.fact)
				|| CASE WHEN f.verdict = 'probe first' AND f.answers
					THEN tablespace_advisor.who_may_probe(current_user) ELSE '' END
			END, 60),
		CASE WHEN f.verdict = 'change' THEN o.undo_statement END,
		tablespace_advisor.wrapped(tablespace_advisor.cost_detail(f.fact), 88)
	FROM found f
	CROSS JOIN unprobed u
	CROSS JOIN LATERAL tablespace_advisor.tablespace_options((f.latency).tablespace,
		ARRAY['random_page_cost', 'effective_io_concurrency', 'maintenance_io_concurrency'],
		ARRAY[CASE f.finding WHEN 'gain' THEN (f.fact).best END,
			(f.fact).effective_io_concurrency, (f.fact).maintenance_io_concurrency]) o
	ORDER BY 1;
END;

COMMENT ON FUNCTION @extschema@.recommend_random_page_cost(name) IS
	'recommended random_page_cost and prefetching of each tablespace (or of the one named), weighed by the plans they lead to for the tables of this database: probe first, keep, or change by statement (undo_statement takes it back), with the slowdowns (regret_…), how many times as long as the best plans the planner''s choices are predicted to take, and measured times in microseconds; reason, detail: in short, and measurements and their weighing, in lines of 60 and 88 characters, NULL: nobody has measured or computed it. Errors: 42704 no such tablespace, 22023 pg_global';

REVOKE ALL ON FUNCTION @extschema@.recommend_random_page_cost(name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	@extschema@.recommend_random_page_cost(name), tablespace_advisor.weighable_indexes,
	tablespace_advisor.concurrent_readers, tablespace_advisor.cost_measurements,
	tablespace_advisor.find_costs, tablespace_advisor.who_may_probe,
	tablespace_advisor.tablespace_options, tablespace_advisor.cost_reason,
	tablespace_advisor.cost_detail, tablespace_advisor.weigh_random_page_cost TO pg_monitor;

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
	FOR run IN 1 .. 5 LOOP
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

	-- what else the machine does can only add
	SELECT min(u) INTO tuple_ns FROM unnest(plain) u;
	SELECT min(u) INTO operator_ns FROM unnest(compared) u;
	SELECT min(u) INTO index_ns FROM unnest(by_index) u;
	operator_ns := greatest(operator_ns - tuple_ns, 0) / row_count / 10 * 1e9;
	index_ns := greatest(index_ns - tuple_ns, 0) / row_count * 1e9;
	tuple_ns := tuple_ns / row_count * 1e9;
	RETURN QUERY
	-- three digits by the server: plpgsql would look a function of ours up by its name
	SELECT v.unit, to_char(v.ns, '9.99EEEE')::float8, v.cost,
		to_char(v.ns / nullif(v.cost, 0), '9.99EEEE')::float8
	FROM (VALUES
		('cpu_tuple_cost', tuple_ns, current_setting('cpu_tuple_cost')::float8),
		('cpu_index_tuple_cost', index_ns, current_setting('cpu_index_tuple_cost')::float8),
		('cpu_operator_cost', operator_ns, current_setting('cpu_operator_cost')::float8))
		v (unit, ns, cost);
END
$$;
COMMENT ON FUNCTION @extschema@.calibrate_cost_units() IS
	'the time of the planner''s CPU cost units on this server: nanoseconds per row, per index entry and per comparison (the fastest of five runs over a temporary table of 200 000 rows in memory), beside the present setting; nanoseconds_per_cost should be about the same in all three. Errors: 25006 read-only transaction or standby, 42P07 there is a temporary table tsa_calibration';
REVOKE ALL ON FUNCTION @extschema@.calibrate_cost_units() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.calibrate_cost_units() TO pg_monitor;
