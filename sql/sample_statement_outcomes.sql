-- what moves saved, by measured waits of statements: samples made by hand, whose
-- truth is known.  Outcomes of counters are in sample_outcomes.
BEGIN;
DELETE FROM tablespace_advisor.sample;
DELETE FROM tablespace_advisor.relation_sample;
DELETE FROM tablespace_advisor.relation_wait_sample;
DELETE FROM tablespace_advisor.statement_wait_sample;
DELETE FROM tablespace_advisor.sampled_relation;
DELETE FROM tablespace_advisor.job;
CREATE TABLE slow_keys (id int PRIMARY KEY);
CREATE TABLE report (id int);
CREATE TABLE third (id int);
CREATE FUNCTION pg_temp.at(minutes int) RETURNS timestamptz LANGUAGE sql AS
$$ SELECT timestamptz '2026-01-01 00:00+00' + minutes * interval '1 minute' $$;

-- Sixty samples of five minutes each.  A call of statement "query" reads so many blocks of
-- a relation, each of which takes ms; at two thirds, from sample first_after on, other ones.
CREATE TABLE pg_temp.truth (query bigint, relation regclass, first_after int, calls float8, calls_after float8,
	reads float8, reads_after float8, ms float8, ms_after float8, noise float8 DEFAULT 0.02);
CREATE FUNCTION pg_temp.fill() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM tablespace_advisor.sample;
	DELETE FROM tablespace_advisor.relation_sample;
	DELETE FROM tablespace_advisor.relation_wait_sample;
	DELETE FROM tablespace_advisor.statement_wait_sample;
	INSERT INTO tablespace_advisor.sample (sample_id, started_at, taken_at, was_reset, io_timed, blocks_read,
		blocks_hit, read_ms, write_ms, snapshots, reading_snapshots, reading_sessions, waits, waits_measured_s)
	OVERRIDING SYSTEM VALUE
	SELECT n, CASE WHEN n > 0 THEN pg_temp.at(5 * (n - 1)) END, pg_temp.at(5 * n), false, false, 0, 0, 0, 0, 0, 0, 0,
		'{}', CASE WHEN n > 0 THEN 300 END
	FROM generate_series(0, 60) n;
	CREATE TEMP TABLE part ON COMMIT DROP AS
	SELECT n, t.query, t.relation, l.calls, l.calls * l.reads AS reads,
		l.calls * l.reads * l.ms * (1 + t.noise * (n % 3 - 1)) AS ms
	FROM pg_temp.truth t, generate_series(1, 60) n
	CROSS JOIN LATERAL (SELECT CASE WHEN n < t.first_after THEN t.calls ELSE t.calls_after END AS calls,
		CASE WHEN n < t.first_after THEN t.reads ELSE t.reads_after END AS reads,
		CASE WHEN n < t.first_after THEN t.ms ELSE t.ms_after END AS ms) l;
	INSERT INTO tablespace_advisor.relation_sample (sample_id, relation, size_bytes, reads, hits)
	SELECT n, relation, 8192, sum(reads), 3 * sum(reads) + sum(calls) FROM part GROUP BY 1, 2;
	INSERT INTO tablespace_advisor.relation_wait_sample
	SELECT n, relation, sum(calls), 0, sum(reads), sum(ms), 'application', 'index' FROM part WHERE reads > 0 GROUP BY 1, 2;
	INSERT INTO tablespace_advisor.statement_wait_sample
	SELECT n, 10, query, relation, calls, NULL, 0, reads, ms, 'application', 'index' FROM part
	WHERE query IS NOT NULL AND reads > 0
	UNION ALL
	SELECT n, 10, query, 0, max(calls), sum(ms) + max(calls), 0, sum(reads), sum(ms), 'application', 'all'
	FROM part p WHERE query IS NOT NULL GROUP BY p.n, query;
	DROP TABLE part;
END
$$;
CREATE FUNCTION pg_temp.job(id int, moved regclass, begins int, ends int, forecast float8, indexes regclass[] DEFAULT NULL)
RETURNS void LANGUAGE sql AS $$
	INSERT INTO tablespace_advisor.job (job_id, batch_id, relation, heap, kind, schema_name, relation_name,
		from_tablespace, from_tablespace_name, to_tablespace, to_tablespace_name, method_wanted, method, state,
		bytes_total, lock_timeout_ms, owner, system_identifier, database, started_at, finished_at,
		forecast_saved_ms_per_s, indexes)
	OVERRIDING SYSTEM VALUE
	VALUES (id, id, moved, moved, 'r', 'public', moved::text, 1, 'disk', 2, 'flash', 'auto', 'copy', 'done', 0, 0,
		10, 0, 0, pg_temp.at(begins), pg_temp.at(ends), forecast, indexes)
$$;
CREATE VIEW pg_temp.moves AS
SELECT job_id, relation, outcome, verdict, forecast_saved_ms_per_s AS forecast,
	round(forecast_for_calls_after_ms_per_s::numeric, 1) AS for_calls, round(saved_ms_per_s::numeric, 1) AS saved,
	round(saved_low_ms_per_s::numeric, 1) AS low, round(saved_high_ms_per_s::numeric, 1) AS high,
	round(batch_saved_ms_per_s::numeric, 1) AS batch, judged_with, measured, samples_before AS before,
	samples_after AS after, waits_for
FROM move_outcomes ORDER BY job_id;
CREATE VIEW pg_temp.statements AS
SELECT queryid, job_ids, round(calls_per_s_before::numeric, 1) AS calls, round(calls_per_s_after::numeric, 1) AS calls_after,
	round(mean_ms_before::numeric, 2) AS mean, round(mean_ms_after::numeric, 2) AS mean_after,
	round(read_ms_before::numeric, 2) AS read, round(read_ms_after::numeric, 2) AS read_after,
	round(forecast_saved_ms::numeric, 2) AS forecast, round(saved_ms::numeric, 2) AS saved,
	round(saved_low_ms::numeric, 2) AS low, round(saved_high_ms::numeric, 2) AS high,
	round(saved_ms_per_s::numeric, 1) AS per_s, outcome, verdict
FROM statement_outcomes ORDER BY queryid, job_ids;

\echo -- keyed reads at 5 ms go to flash, 0.1 ms; then the report, whose reads take 0.2 ms on both; calls double in between
INSERT INTO pg_temp.truth VALUES
	(1, 'slow_keys', 31, 3000, 6000, 2, 2, 5, 0.1), (2, 'report', 34, 30, 30, 1000, 1000, 0.2, 0.2);
SELECT pg_temp.fill();
SELECT pg_temp.job(1, 'slow_keys', 151, 153, 98), pg_temp.job(2, 'report', 157, 158, 15);
SELECT * FROM pg_temp.moves;
SELECT * FROM pg_temp.statements;
\echo -- who may read it
SELECT has_table_privilege('pg_monitor', 'statement_outcomes', 'SELECT') AS monitor,
	(SELECT bool_or(a.grantee = 0) FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = 'statement_outcomes'::regclass) AS everybody;
\echo -- and does: views call functions with the rights of their reader, so that a privilege to select shows too little
SET LOCAL ROLE pg_monitor;
SELECT count(*) FILTER (WHERE measured) AS moves, (SELECT count(*) FROM statement_outcomes) AS statements FROM move_outcomes;
RESET ROLE;
SELECT DISTINCT statement FROM statement_outcomes ORDER BY 1;
SAVEPOINT here;
\echo -- a statement that reads both: it is judged once, and so are the moves
INSERT INTO pg_temp.truth VALUES (3, 'slow_keys', 31, 300, 300, 1, 1, 5, 0.1), (3, 'report', 34, 300, 300, 1, 1, 0.2, 0.2);
SELECT pg_temp.fill();
SELECT job_id, outcome, verdict, saved, low, high, batch, judged_with FROM pg_temp.moves;
SELECT * FROM pg_temp.statements;
\echo -- with three samples between them they are told apart
UPDATE tablespace_advisor.job SET started_at = pg_temp.at(171), finished_at = pg_temp.at(172) WHERE job_id = 2;
SELECT job_id, verdict, saved, batch, judged_with FROM pg_temp.moves;
SELECT queryid, job_ids, saved, outcome, verdict FROM pg_temp.statements;
ROLLBACK TO here;
\echo -- forecasts that were wrong, or not made: those that were kept have none, never 0
UPDATE tablespace_advisor.job SET forecast_saved_ms_per_s = CASE job_id WHEN 1 THEN 40 END;
SELECT job_id, outcome, verdict, forecast, for_calls, saved FROM pg_temp.moves;
SELECT queryid, forecast, saved, outcome FROM pg_temp.statements;
UPDATE tablespace_advisor.job SET forecast_saved_ms_per_s = 300;
SELECT job_id, outcome, forecast, for_calls, saved FROM pg_temp.moves;
ROLLBACK TO here;
\echo -- noise hides what was saved: it cannot be told apart from the forecast, and is not verified
UPDATE pg_temp.truth SET noise = 0.95, ms_after = 4 WHERE query = 1;
UPDATE tablespace_advisor.job SET forecast_saved_ms_per_s = 20 WHERE job_id = 1;
SELECT pg_temp.fill();
SELECT job_id, outcome, verdict, low < 0 AND high > 0 AS holds_zero FROM pg_temp.moves;
ROLLBACK TO here;
\echo -- a call reads less, but no read is faster: the caches have become warmer, the move has not shown anything
UPDATE pg_temp.truth SET reads_after = 0.2, ms_after = 5 WHERE query = 1;
SELECT pg_temp.fill();
SELECT job_id, outcome, verdict, saved, low FROM pg_temp.moves WHERE job_id = 1;
SELECT queryid, saved, verdict FROM pg_temp.statements WHERE queryid = 1;
\echo -- nor if nothing is read at all
UPDATE pg_temp.truth SET reads_after = 0 WHERE query = 1;
SELECT pg_temp.fill();
SELECT job_id, outcome, verdict, saved, low FROM pg_temp.moves WHERE job_id = 1;
ROLLBACK TO here;
\echo -- a statement that does not come again is no saving; the load has changed
INSERT INTO pg_temp.truth VALUES (4, 'slow_keys', 31, 3000, 0, 10, 10, 5, 0.1);
SELECT pg_temp.fill();
SELECT job_id, verdict, saved FROM pg_temp.moves WHERE job_id = 1;
SELECT queryid, saved FROM pg_temp.statements;
ROLLBACK TO here;
\echo -- statements without a query id, and others that samples do not keep: by accesses
UPDATE pg_temp.truth SET query = NULL;
SELECT pg_temp.fill();
SELECT job_id, outcome, verdict, saved, judged_with FROM pg_temp.moves;
SELECT count(*) FROM pg_temp.statements;
ROLLBACK TO here;
\echo -- indexes that moved along are part of it
INSERT INTO pg_temp.truth VALUES (1, 'slow_keys_pkey', 31, 3000, 6000, 1, 1, 5, 0.1);
SELECT pg_temp.fill();
SELECT job_id, saved FROM pg_temp.moves WHERE job_id = 1;
UPDATE tablespace_advisor.job SET indexes = ARRAY['slow_keys_pkey'::regclass] WHERE job_id = 1;
SELECT job_id, saved FROM pg_temp.moves WHERE job_id = 1;
ROLLBACK TO here;
\echo -- it got slower: as forecast, then not
UPDATE pg_temp.truth SET ms_after = 10 WHERE query = 1;
UPDATE tablespace_advisor.job SET forecast_saved_ms_per_s = -100 WHERE job_id = 1;
SELECT pg_temp.fill();
SELECT job_id, outcome, verdict, for_calls, saved, waits_for FROM pg_temp.moves WHERE job_id = 1;
UPDATE tablespace_advisor.job SET forecast_saved_ms_per_s = 10 WHERE job_id = 1;
SELECT job_id, outcome, verdict, for_calls, saved, waits_for FROM pg_temp.moves WHERE job_id = 1;
SELECT queryid, saved, verdict FROM pg_temp.statements WHERE queryid = 1;
ROLLBACK TO here;
\echo -- calls read far more after it, and each read takes less: not the doing of the move
UPDATE pg_temp.truth SET reads_after = 1000 * reads, ms_after = ms / 2 WHERE query = 1;
SELECT pg_temp.fill();
SELECT job_id, outcome, verdict, saved, waits_for FROM pg_temp.moves WHERE job_id = 1;
ROLLBACK TO here;
\echo -- two samples after it; samples with a move in them do not count
DELETE FROM tablespace_advisor.sample WHERE sample_id > 33;
SELECT job_id, outcome, verdict, measured, before, after, waits_for FROM pg_temp.moves;
SELECT queryid, verdict FROM pg_temp.statements;
SELECT pg_temp.job(3, 'third', 161, 162, 1);
SELECT job_id, verdict, after, waits_for FROM pg_temp.moves WHERE job_id = 1;
ROLLBACK TO here;
\echo -- waits were not measured before it: counters, which say nothing here
UPDATE tablespace_advisor.sample SET waits_measured_s = NULL WHERE sample_id <= 30;
SELECT job_id, outcome, verdict, measured FROM pg_temp.moves;
ROLLBACK TO here;
\echo -- moved again: each is judged up to the other
SELECT pg_temp.job(3, 'slow_keys', 201, 202, NULL);
SELECT job_id, verdict, before, after FROM pg_temp.moves WHERE job_id <> 2;
ROLLBACK;
