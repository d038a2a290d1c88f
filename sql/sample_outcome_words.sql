-- the words of move_outcomes, of series of samples whose truth is known
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_sample;
CREATE TABLE word (id int);

-- between 0 and 1, the same in each run
CREATE FUNCTION pg_temp.chance(series int, n int) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$ SELECT ('x' || substr(md5(format('%s %s', series, n)), 1, 8))::bit(32)::bigint / 4294967296.0 $$;

-- Six samples before a move and six after it, of ten minutes each.  A read takes
-- ms_before, and then ms_after, in each sample up to noise times as long or as short;
-- there are up to three times as many as usual, or as few, and after the move more.
-- The forecast is a share of what reading took before; counted: by the devices.
CREATE FUNCTION pg_temp.word(series int, ms_before float8, ms_after float8, forecast float8,
	noise float8, more float8, counted boolean,
	OUT word text, OUT holds_zero boolean)
LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM tablespace_advisor.sample;
	DELETE FROM tablespace_advisor.relation_sample;
	DELETE FROM tablespace_advisor.tablespace_io_sample;
	DELETE FROM tablespace_advisor.job;
	CREATE TEMP TABLE figure ON COMMIT DROP AS
	SELECT n, f.reads, f.reads * p.page_ms AS ms, p.page_ms
	FROM generate_series(0, 14) n
	CROSS JOIN LATERAL (SELECT CASE n WHEN 0 THEN 0 ELSE round(10000 * 9 ^ (pg_temp.chance(series, n) - 0.5)
		* CASE WHEN n > 7 THEN more ELSE 1 END) END AS reads) f
	CROSS JOIN LATERAL (SELECT CASE WHEN n < 8 THEN ms_before ELSE ms_after END
		* noise ^ (2 * pg_temp.chance(series, n + 100) - 1) AS page_ms) p;
	INSERT INTO tablespace_advisor.sample (sample_id, started_at, taken_at, was_reset, io_timed,
		blocks_read, blocks_hit, read_ms, write_ms, snapshots, reading_snapshots,
		reading_sessions, waits)
	OVERRIDING SYSTEM VALUE
	SELECT n, CASE WHEN n > 0 THEN t - interval '10 min' END, t, false, true,
		sum(reads) OVER w, sum(reads) OVER w, sum(ms) OVER w, 0, 0, 0, 0, '{}'
	FROM figure CROSS JOIN LATERAL
		(SELECT timestamptz '2026-01-01 00:00+00' + n * interval '10 min' AS t) t
	WINDOW w AS (ORDER BY n);
	INSERT INTO tablespace_advisor.relation_sample (sample_id, relation, size_bytes, reads, hits, cached_reads)
	SELECT n, 'word'::regclass, 8192, reads, reads, 0 FROM figure WHERE n > 0;
	INSERT INTO tablespace_advisor.tablespace_io_sample
	SELECT i.sample_id, t, i.taken_at, i.seconds, f.reads, f.reads * 8192, f.ms, 0, 0, 0, 0, 0
	FROM tablespace_advisor.sample_interval i JOIN figure f ON f.n = i.sample_id,
		generate_series(1, 2) t
	WHERE counted;
	INSERT INTO tablespace_advisor.job (job_id, batch_id, relation, heap, kind,
		schema_name, relation_name, from_tablespace, from_tablespace_name,
		to_tablespace, to_tablespace_name, method_wanted, method, state,
		bytes_total, lock_timeout_ms, owner, system_identifier, database,
		started_at, finished_at, forecast_saved_ms_per_s)
	OVERRIDING SYSTEM VALUE
	SELECT 1, 1, 'word'::regclass, 'word'::regclass, 'r', 'public', 'word', 1, 'disk', 2, 'flash',
		'auto', 'copy', 'done', 0, 0, 10, 0, 0, '2026-01-01 01:03+00', '2026-01-01 01:08+00',
		forecast * (SELECT sum(ms) FROM figure WHERE n < 7) / 3600;
	DROP TABLE figure;
	SELECT outcome, saved_low_ms_per_s <= 0 AND saved_high_ms_per_s >= 0 INTO word, holds_zero FROM move_outcomes;
END
$$;
CREATE FUNCTION pg_temp.words(ms_before float8, ms_after float8, forecast float8,
	noise float8 DEFAULT 1.2, more float8 DEFAULT 1)
RETURNS TABLE (counted boolean, word text, series bigint, hold_zero bigint) LANGUAGE sql AS $$
	SELECT counted, w.word, count(*), count(*) FILTER (WHERE w.holds_zero)
	FROM generate_series(1, 25) s, (VALUES (true), (false)) c(counted),
		pg_temp.word(s, ms_before, ms_after, forecast, noise, more, counted) w
	GROUP BY 1, 2 ORDER BY 1, 2 $$;

\echo -- a clear success, also if the load is tenfold afterwards
SELECT * FROM pg_temp.words(5, 1, forecast => 0.8);
SELECT * FROM pg_temp.words(5, 1, forecast => 0.8, more => 10);
\echo -- a clear failure, and more than was forecast
SELECT * FROM pg_temp.words(5, 5, forecast => 0.8);
SELECT * FROM pg_temp.words(5, 1, forecast => 0.4);
\echo -- nothing but noise: it is never "as forecast", and most intervals hold zero
SELECT * FROM pg_temp.words(5, 5, forecast => 0.1, noise => 1.2);
SELECT * FROM pg_temp.words(5, 5, forecast => 0.2, noise => 3);
SELECT * FROM pg_temp.words(5, 5, forecast => 0.8, noise => 3);
\echo -- noise that hides what was saved
SELECT * FROM pg_temp.words(5, 1, forecast => 0.8, noise => 6);
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_sample;
DELETE FROM tablespace_advisor.tablespace_io_sample;
DELETE FROM tablespace_advisor.job;
DROP TABLE word;
/* samples without an amount or a base count as in SQL's sums; no fewer than three */
SELECT round(tablespace_advisor.ratio_error('{1,2,3}', '{1,1,1}')::numeric, 4) AS three,
	tablespace_advisor.ratio_error('{1,2}', '{1,1}') AS two,
	round(tablespace_advisor.ratio_error('{1,NULL,3}', '{1,1,1}')::numeric, 4) AS unknown,
	tablespace_advisor.ratio_error(NULL, '{1,1,1}') AS none, tablespace_advisor.ratio_error('{1,2,3}', '{0,0,1}') AS one_base;
SELECT round(o.ms::numeric, 4) AS ms, round(o.error::numeric, 4) AS error FROM (VALUES
	(1, '{10,20,NULL}'::float8[], NULL::float8[], '{100,100,100}'::float8[]), (2, '{10,20,30}', NULL, '{100,NULL,100}'),
	(3, NULL, '{1,1,1}', NULL)) v (n, reads, page_ms, read_ms)
CROSS JOIN LATERAL tablespace_advisor.own_read_time(v.reads, v.reads, v.page_ms, NULL, '{10,10,10}',
	'{50,60,70}', '{40,40,40}', v.read_ms, NULL) o ORDER BY v.n;
