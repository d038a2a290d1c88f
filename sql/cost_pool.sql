-- what several runs of a device come to
CREATE EXTENSION IF NOT EXISTS tablespace_advisor;
SET client_min_messages = warning;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_pool LOCATION '';

CREATE FUNCTION pg_temp.pool(means float8[], widths float8[], ages float8[], loaded boolean DEFAULT false,
	OUT mean numeric, OUT low numeric, OUT high numeric, OUT used int, OUT samples bigint)
LANGUAGE sql AS $$
	SELECT round(p.mean::numeric, 1), round(p.low::numeric, 1), round(p.high::numeric, 1), p.used, p.used_samples
	FROM tablespace_advisor.pool_measurements(means,
		(SELECT array_agg(m - w / 2 ORDER BY n)
			FROM unnest(means, widths) WITH ORDINALITY u (m, w, n)),
		(SELECT array_agg(m + w / 2 ORDER BY n)
			FROM unnest(means, widths) WITH ORDINALITY u (m, w, n)),
		ages, array_fill(10::bigint, ARRAY[cardinality(means)]), loaded) p
$$;
\echo -- one is itself; three alike are narrower than each
SELECT * FROM pg_temp.pool('{100}', '{40}', '{0}');
SELECT * FROM pg_temp.pool('{100,100,100}', '{40,40,40}', '{0,0,0}');
\echo -- a narrow one counts for more, an old one for less
SELECT * FROM pg_temp.pool('{100,110}', '{40,4}', '{0,0}');
SELECT * FROM pg_temp.pool('{100,110}', '{40,40}', '{0,300}');
\echo -- alone, another level is another device; under load it is another load
SELECT * FROM pg_temp.pool('{100,200}', '{4,4}', '{0,0}');
SELECT * FROM pg_temp.pool('{100,200}', '{4,4}', '{0,0}', true);
SELECT * FROM pg_temp.pool('{100,130}', '{80,80}', '{0,0}');
\echo -- nothing of nothing
SELECT * FROM pg_temp.pool('{}', '{}', '{}');

CREATE FUNCTION pg_temp.probe(run bigint, mean float8, conditions text DEFAULT NULL,
	caveat text DEFAULT NULL, device text DEFAULT '/dev/one', age interval DEFAULT '0')
RETURNS void LANGUAGE sql AS $$
	INSERT INTO tablespace_advisor.probe_run
		(run_id, tablespace, location, device, mode, file_size_bytes, duration,
			started_at, finished_at)
		OVERRIDING SYSTEM VALUE
	SELECT run, spcname, pg_tablespace_location(oid), device, 'scratch', 268435456,
		'3 s', now() - age, now() - age
	FROM pg_tablespace WHERE spcname = 'regress_pool';
	INSERT INTO tablespace_advisor.probe_result
		(run_id, workload, queue_depth, io_size, samples, iops, mean_us,
			mean_low_us, mean_high_us, conditions, caveat)
	VALUES (run, 'random read', 1, 8192, 100, 1e6 / mean, mean, 0.9 * mean, 1.1 * mean,
		conditions, caveat);
$$;
CREATE VIEW pg_temp.pooled AS
SELECT run_id, runs, samples, round(mean_us) AS mean_us, round(page_us) AS page_us, loaded, has_caveat
FROM tablespace_advisor.pooled_probe_result p
JOIN pg_tablespace t ON t.oid = p.tablespace_oid WHERE t.spcname = 'regress_pool';

BEGIN;
\echo -- a caveat counts only where there is nothing else; a load, too
SELECT pg_temp.probe(990011, 10, NULL, 'page cache');
TABLE pg_temp.pooled;
SELECT random_read_us FROM tablespace_advisor.tablespace_latency WHERE tablespace = 'regress_pool';
SELECT pg_temp.probe(990012, 8000, 'others');
SELECT pg_temp.probe(990013, 12000, 'others');
TABLE pg_temp.pooled;
SELECT runs, round(random_read_us) AS random_read_us, random_read_high_us > 12000 AS wide
FROM tablespace_advisor.tablespace_latency WHERE tablespace = 'regress_pool';
SELECT pg_temp.probe(990014, 5000);
SELECT pg_temp.probe(990015, 5200);
SELECT pg_temp.probe(990016, 9000, 'others');
TABLE pg_temp.pooled;
\echo -- the last five count
SELECT pg_temp.probe(i, 5100) FROM generate_series(990020, 990024) i;
TABLE pg_temp.pooled;
\echo -- another device ends it
SELECT pg_temp.probe(990030, 500, device => '/dev/two');
TABLE pg_temp.pooled;
ROLLBACK;
BEGIN;
\echo -- what was found alone long ago is no better than what was found lately
SELECT pg_temp.probe(990011, 5000, age => '40 days');
SELECT pg_temp.probe(990012, 8000, 'others');
TABLE pg_temp.pooled;
ROLLBACK;

DROP VIEW pg_temp.pooled;
DROP TABLESPACE regress_pool;
