-- growth of tablespaces
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_forecast LOCATION '';
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.tablespace_sample;
CREATE TABLE forecast_table (id int) TABLESPACE regress_forecast;

-- the median of slopes does not follow a step; few points have no interval of ranks
SELECT slope, slope_low, slope_high, until_zero FROM tablespace_advisor.growth('{0,1,2,3}', '{16,14,12,10}');
SELECT slope, slope_low, slope_high, step_at, step FROM tablespace_advisor.growth('{0,1,2,3,4,5,6,7,8,9}', '{0,1,2,3,4,5,6,107,108,109}');
-- NULL and what is not finite or out of order is left out
SELECT slope FROM tablespace_advisor.growth('{0,1,NULL,3,2,4,5}', '{0,NULL,7,6,99,Infinity,10}');
SELECT slope FROM tablespace_advisor.growth('{0,1,2,3}', '{0,2}');
SELECT slope FROM tablespace_advisor.growth('{}', NULL);
SELECT slope FROM tablespace_advisor.growth(array(SELECT n FROM generate_series(1, 2000) n),
	array(SELECT CASE WHEN n <= 1000 THEN 0 ELSE n END FROM generate_series(1, 2000) n));

CREATE FUNCTION pg_temp.history(hours int, used float8, free float8) RETURNS void
LANGUAGE sql AS $$
	DELETE FROM tablespace_advisor.sample;
	DELETE FROM tablespace_advisor.tablespace_sample;
	INSERT INTO tablespace_advisor.sample (sample_id, taken_at, was_reset, io_timed,
		blocks_read, blocks_hit, read_ms, write_ms,
		snapshots, reading_snapshots, reading_sessions, waits)
	OVERRIDING SYSTEM VALUE
	SELECT n, now() - interval '30 days' + n * interval '1 hour', false, false, 0, 0, 0, 0, 0, 0, 0, '{}'
	FROM generate_series(0, hours) n;
	INSERT INTO tablespace_advisor.tablespace_sample
	SELECT s.sample_id, t.oid, 1e9 + used * s.sample_id, 9e10 + free * s.sample_id
	FROM tablespace_advisor.sample s, pg_tablespace t WHERE t.spcname = 'regress_forecast';
$$;
CREATE VIEW pg_temp.forecast AS
SELECT tablespace, used_bytes, growth_bytes_per_day::bigint AS growth,
	growth_low_bytes_per_day::bigint AS low, growth_high_bytes_per_day::bigint AS high,
	free_bytes,
	days_until_full::numeric(9, 2) AS days, days_low::numeric(9, 2),
	days_high::numeric(9, 2), history_days::numeric(9, 2) AS history, caveat
FROM forecast_tablespace_usage() WHERE tablespace = 'regress_forecast';

SELECT * FROM pg_temp.forecast;
SELECT pg_temp.history(5, 1e6, -1e6);
SELECT * FROM pg_temp.forecast;
-- 24 MB a day here, others fill the file system as well: 80 GB left at 1 GB per day
SELECT pg_temp.history(240, 1e6, -1e9 / 24);
SELECT * FROM pg_temp.forecast;
SELECT pg_temp.history(48, 1e6, -1e6);
SELECT * FROM pg_temp.forecast;
-- it shrinks, or nothing is known of the file system
SELECT pg_temp.history(240, -1e6, 1e6);
SELECT * FROM pg_temp.forecast;
SELECT pg_temp.history(240, 1e6, NULL);
SELECT * FROM pg_temp.forecast;
-- noise around nothing
SELECT pg_temp.history(240, 0, 0);
UPDATE tablespace_advisor.tablespace_sample
SET free_bytes = free_bytes - sample_id * 20000 + (sample_id * 7919 % 101) * 1000000;
SELECT days IS NOT NULL AS days, days_low IS NOT NULL AS low, days_high, caveat
FROM pg_temp.forecast;

-- regimes: free space by the day, as a story; what is told of it
CREATE FUNCTION pg_temp.story(n_days int, story text) RETURNS TABLE (free_gb numeric,
	days numeric, low numeric, high numeric, caveat text)
LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM tablespace_advisor.sample;
	DELETE FROM tablespace_advisor.tablespace_sample;
	INSERT INTO tablespace_advisor.sample (sample_id, taken_at, was_reset, io_timed,
		blocks_read, blocks_hit, read_ms, write_ms,
		snapshots, reading_snapshots, reading_sessions, waits)
	OVERRIDING SYSTEM VALUE
	SELECT n, timestamptz '2026-01-01 12:00' + n * interval '6 hours', false, false, 0, 0, 0, 0, 0, 0, 0, '{}'
	FROM generate_series(0, 4 * n_days) n;
	EXECUTE format('INSERT INTO tablespace_advisor.tablespace_sample
		SELECT sample_id, t.oid, 1e9, 1073741824.0 * (%s)
		FROM (SELECT sample_id, sample_id / 4.0 AS d FROM tablespace_advisor.sample) s, pg_tablespace t
		WHERE t.spcname = %L', story, 'regress_forecast');
	RETURN QUERY SELECT round(f.free_bytes / 1073741824.0, 1), round(f.days_until_full::numeric, 1),
		round(f.days_low::numeric, 1), round(f.days_high::numeric, 1), f.caveat
	FROM forecast_tablespace_usage() f WHERE tablespace = 'regress_forecast';
END $$;
SELECT * FROM pg_temp.story(100, '150 - d');
SELECT * FROM pg_temp.story(360, '280 - greatest(0, 20 * (d - 348))');
SELECT * FROM pg_temp.story(100, '50 + CASE WHEN d > 50 THEN 100 ELSE 0 END - d');
SELECT * FROM pg_temp.story(100, '160 + CASE WHEN d > 90 THEN 200 ELSE 0 END - 3 * d');
SELECT * FROM pg_temp.story(100, '200 - d - CASE WHEN d > 60 THEN 80 ELSE 0 END');
SELECT * FROM pg_temp.story(73, '100 - 10 * mod(d, 7)');

DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.tablespace_sample;
DROP TABLE forecast_table;
DROP TABLESPACE regress_forecast;
