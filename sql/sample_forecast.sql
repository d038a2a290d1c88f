-- growth of tablespaces
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_forecast LOCATION '';
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.tablespace_sample;
CREATE TABLE forecast_table (id int) TABLESPACE regress_forecast;

-- the median of slopes does not follow a step; few points have no interval
SELECT * FROM tablespace_advisor.trend('{0,1,2,3}', '{10,12,14,16}');
SELECT * FROM tablespace_advisor.trend('{0,1,2,3,4,5,6,7,8,9}', '{0,1,2,3,4,5,6,107,108,109}');
SELECT * FROM tablespace_advisor.trend('{0,1,2}', '{0,NULL,4}');
SELECT * FROM tablespace_advisor.trend('{0}', '{1}');
SELECT * FROM tablespace_advisor.trend('{}', '{}');

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
SET free_bytes = free_bytes - sample_id * 100 + (sample_id * 7919 % 101) * 1000000;
SELECT days IS NOT NULL AS days, days_low IS NOT NULL AS low, days_high, caveat
FROM pg_temp.forecast;

DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.tablespace_sample;
DROP TABLE forecast_table;
DROP TABLESPACE regress_forecast;
