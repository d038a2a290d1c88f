-- recommend_random_page_cost: what is weighed, and what follows
CREATE EXTENSION IF NOT EXISTS tablespace_advisor;
SET client_min_messages = warning;
SET random_page_cost = 4;
SET seq_page_cost = 1;
SET effective_io_concurrency = 0;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE regress_recommend LOCATION '';

/*
 * One table of 10 000 pages and a million rows each, by correlation and share
 * in caches, on a disk: 95 us a sequential page, 5200 us a random one.
 */
CREATE FUNCTION pg_temp.weigh(correlation float8, cached float8, r float8 DEFAULT 4, advised float8 DEFAULT 0,
	OUT best float8, OUT low float8, OUT high float8, OUT now numeric,
	OUT after numeric, OUT locality numeric, OUT gain boolean)
LANGUAGE sql AS $$
	SELECT w.best, w.low, w.high, round(w.regret_current::numeric, 1),
		round(w.regret_best::numeric, 1), round(w.regret_locality::numeric, 1),
		w.gain_low > 1
	FROM tablespace_advisor.weigh_random_page_cost(
		'(95,5200,3200,2,100,250,,,,,5100,5300,94,96)',
		ARRAY[ROW(NULL, 10000, 1e6, 2745, 1e6, correlation, cached, NULL, 2)
			::tablespace_advisor.weighed_index], r, 1, 0, 0, advised) w
$$;
\echo -- cold and scattered: a large constant; warm: a small one
SELECT * FROM pg_temp.weigh(0, 0, 1);
SELECT * FROM pg_temp.weigh(0, 1);
SELECT * FROM pg_temp.weigh(0, 1, 60);
\echo -- what was advised is kept until another constant is clearly better
SELECT v.advised, w.best, w.low, w.high
FROM unnest('{0,40,45,80,1,1e9,-1,NaN,Infinity}'::float8[]) v (advised), pg_temp.weigh(0, 0, 4, v.advised) w;
\echo -- in order, no constant helps much; in descending order locality helps
SELECT after > 0.9 * now AS no_better, locality < 0.8 * now AS locality_helps
FROM pg_temp.weigh(1, 0);
SELECT now > 2 AS bad, locality < after AS locality_helps
FROM pg_temp.weigh(-1, 0);

\echo -- nothing there, nothing known
INSERT INTO tablespace_advisor.probe_run
	(run_id, tablespace, location, mode, file_size_bytes, duration, started_at,
		finished_at)
	OVERRIDING SYSTEM VALUE
SELECT 990002, spcname, pg_tablespace_location(oid), 'scratch', 268435456,
	'3 s', now(), now()
FROM pg_tablespace WHERE spcname = 'regress_recommend';
INSERT INTO tablespace_advisor.probe_result
	(run_id, workload, queue_depth, io_size, samples, iops, mean_us, mean_low_us, mean_high_us)
SELECT 990002, workload, depth, size, 600, 1e6 / us, us, us * 0.98, us * 1.02
FROM (VALUES ('random read', 1, 8192, 5200), ('random read', 16, 8192, 5000),
	('sequential read', 2, 131072, 1520), ('skip read', 1, 8192, 3200),
	('adjacent read', 0, 8192, 100), ('adjacent read', 1, 8192, 250),
	('cached read', 1, 8192, 2)) v (workload, depth, size, us);
SELECT verdict, random_page_cost, low, high, regret_current, statement,
	reason, regexp_replace(translate(detail, E'\n', ' '), '^.*; ', '') AS detail, effective_io_concurrency,
	maintenance_io_concurrency
FROM recommend_random_page_cost('regress_recommend');

\echo -- a table that caches hold
CREATE SCHEMA regress_recommend;
CREATE TABLE regress_recommend.t (k int, pad text)
	WITH (autovacuum_enabled = off) TABLESPACE regress_recommend;
INSERT INTO regress_recommend.t
SELECT i * 7919 % 40000, repeat('x', 100) FROM generate_series(0, 39999) i;
CREATE INDEX t_k ON regress_recommend.t (k) TABLESPACE regress_recommend;
VACUUM ANALYZE regress_recommend.t;
SELECT n, cached_fraction > 0.9 AS cached
FROM tablespace_advisor.weighable_indexes() w
JOIN pg_tablespace t ON t.oid = w.tablespace_oid WHERE spcname = 'regress_recommend';
SELECT verdict, random_page_cost, cached_fraction > 0.9 AS cached, statement, undo_statement,
	translate(detail, E'\n', ' ') ~ 'over 1 index of assumed locality here, .* % of the table blocks being in caches' AS weighed
FROM recommend_random_page_cost('regress_recommend');
-- one row per tablespace, with statement and undo
SELECT count(*) = (SELECT count(*) FROM pg_tablespace WHERE spcname <> 'pg_global')
	AND count(*) = count(DISTINCT tablespace) AS one_each,
	bool_and((verdict = 'change') = (undo_statement IS NOT NULL)) AS undo
FROM recommend_random_page_cost();
-- a constant that removes a quarter of the regret is worth a change, one that
-- removes less only where locality would not help more
BEGIN;
CREATE OR REPLACE FUNCTION tablespace_advisor.weigh_random_page_cost(
	times tablespace_advisor.weighed_times, indexes tablespace_advisor.weighed_index[],
	random_page_cost float8, seq_page_cost float8,
	effective_io_concurrency int, recommended_io_concurrency int, advised float8 DEFAULT 0,
	OUT best float8, OUT low float8, OUT high float8,
	OUT regret_current float8, OUT regret_kept float8, OUT regret_best float8,
	OUT regret_locality float8, OUT gain_low float8, OUT prefetch_gain_low float8,
	OUT measured_indexes int)
LANGUAGE sql STABLE STRICT AS $$
	/* with the present prefetching a constant helps by the same factor */
	SELECT 50::float8, 40::float8, 60::float8, 3::float8, kept * present,
		current_setting('regress.best')::float8 * present,
		current_setting('regress.locality')::float8 * present, 1.1::float8, 1.1::float8, 1
	FROM (SELECT k.kept, CASE WHEN effective_io_concurrency = recommended_io_concurrency
			THEN 3 / k.kept ELSE 1 END AS present
		FROM (SELECT current_setting('regress.kept')::float8 AS kept) k) k
$$;
CREATE FUNCTION pg_temp.judge(kept text, best text, locality text, OUT verdict text, OUT reason text)
LANGUAGE sql AS $$
	SELECT set_config('regress.kept', kept, true), set_config('regress.best', best, true),
		set_config('regress.locality', locality, true);
	SELECT r.verdict, r.reason
	FROM recommend_random_page_cost('regress_recommend') r
$$;
SELECT 3 AS now, v.*, j.*
FROM (VALUES ('3', '2.49', '1.5'), ('3', '2.5', '1.5'), ('3', '2.51', '1.5'), ('3', '2.51', '2.51'),
	('3', '2.95', '1.5')) v (kept, after, locality),
	pg_temp.judge(kept, after, v.locality) j;
-- prefetching alone is a reason, too; all goes into one statement, which is
-- taken back by one for what was set and one for what was not
SET effective_io_concurrency = 1;
SELECT v.*, j.*
FROM (VALUES ('2', '1.99', '1.99'), ('2.95', '2.94', '2.94')) v (kept, after, locality),
	pg_temp.judge(kept, after, v.locality) j;
ALTER TABLESPACE regress_recommend SET (maintenance_io_concurrency = 7);
SELECT set_config('regress.kept', '2', true) || set_config('regress.best', '1.5', true) IS NOT NULL AS set;
SELECT statement, undo_statement FROM recommend_random_page_cost('regress_recommend');
-- what is an option of the tablespace already is changed for a tenth only
ALTER TABLESPACE regress_recommend SET (effective_io_concurrency = 0);
SELECT v.*, j.verdict
FROM (VALUES ('3', '2.75', '2.75'), ('3', '2.7', '2.7')) v (kept, after, locality),
	pg_temp.judge(kept, after, v.locality) j;
ALTER TABLESPACE regress_recommend RESET (effective_io_concurrency);
-- a change that was advised stays for less than it took, as long as there is a gain
SET effective_io_concurrency = 0;
CREATE FUNCTION pg_temp.advised(verdict text, newest_device text, OUT after float8, OUT verdict_then text)
RETURNS SETOF record LANGUAGE sql AS $$
	UPDATE tablespace_advisor.probe_run SET advised_verdict = verdict, advised_random_page_cost = 50,
		advised_io_concurrency = 0, advised_cached_fraction = 1, device = newest_device WHERE run_id = 990002;
	SELECT after, j.verdict
	FROM unnest('{2.9,2.95,2.99}'::float8[]) after, pg_temp.judge('3', after::text, after::text) j;
$$;
SELECT 3 AS now, v.advised, a.*
FROM (VALUES (NULL), ('keep'), ('change')) v (advised), pg_temp.advised(v.advised, NULL) a;
-- of another device nothing was advised
INSERT INTO tablespace_advisor.probe_run (run_id, tablespace, location, device, mode, file_size_bytes,
		duration, started_at, finished_at)
	OVERRIDING SYSTEM VALUE
SELECT 990004, tablespace, location, '/dev/other', mode, file_size_bytes, duration, started_at, finished_at
FROM tablespace_advisor.probe_run WHERE run_id = 990002;
SELECT m.advised_verdict FROM tablespace_advisor.cost_measurements('regress_recommend') m;
UPDATE tablespace_advisor.probe_run SET device = NULL WHERE run_id = 990004;
SELECT m.advised_verdict FROM tablespace_advisor.cost_measurements('regress_recommend') m;
UPDATE tablespace_advisor.probe_run SET advised_cached_fraction = 0.5 WHERE run_id = 990002;
SELECT m.advised_verdict AS with_other_caches FROM tablespace_advisor.cost_measurements('regress_recommend') m;
UPDATE tablespace_advisor.probe_run SET advised_cached_fraction = 1 WHERE run_id = 990002;
-- a run keeps it
SELECT tablespace_advisor.keep_cost_advice(990004);
SELECT run_id, advised_verdict, advised_random_page_cost, advised_io_concurrency
FROM tablespace_advisor.probe_run WHERE run_id IN (990002, 990004) ORDER BY 1;
ROLLBACK;
-- one value is no range
SELECT tablespace_advisor.cost_reason(jsonb_populate_record(NULL::tablespace_advisor.cost_finding,
	format('{"finding": "flat", "low": 1, "high": %s, "regret_current": 1.05, "cached_fraction": 0.5, "setting": {"random_page_cost": 1}}',
		high)::jsonb))
FROM unnest('{1,2}'::int[]) high;
-- what roles and databases have set is compared and named
CREATE ROLE regress_recommend_app;
ALTER ROLE regress_recommend_app SET random_page_cost = 50;
SELECT verdict, substring(translate(detail, E'\n', ' ') FROM 'the setting [a-z_]+ \([a-z]+\) is') AS setting,
	translate(detail, E'\n', ' ') ~ '\. Elsewhere another value is set: 50 for role regress_recommend_app \([0-9.]+ times\)$' AS named
FROM recommend_random_page_cost('regress_recommend');
-- too high a constant: change, and back
SET random_page_cost = 100;
SELECT verdict, random_page_cost BETWEEN low AND high AS in_range,
	regret_recommended < regret_current AS better, statement ~ '^ALTER TABLESPACE regress_recommend SET \(random_page_cost = [0-9.]+, effective_io_concurrency = 0, maintenance_io_concurrency = 1\);$' AS statement,
	undo_statement, translate(detail, E'\n', ' ') ~ 'any value between .* is about as good' AS flat_told,
	translate(detail, E'\n', ' ') ~ '\. The option beats what is set elsewhere: 50 for role regress_recommend_app \([0-9.]+ times\)$' AS beaten
FROM recommend_random_page_cost('regress_recommend');
DROP ROLE regress_recommend_app;
-- the same with caches that nobody knows: no change
BEGIN;
CREATE OR REPLACE FUNCTION tablespace_advisor.relations_residency(relations oid[],
	max_bytes bigint DEFAULT 67108864,
	OUT relation oid, OUT blocks bigint, OUT shared_blocks bigint,
	OUT system_cache_blocks bigint, OUT system_only_blocks bigint)
RETURNS SETOF record LANGUAGE sql
AS 'SELECT u, 1000::bigint, 0::bigint, NULL::bigint, NULL::bigint FROM unnest(relations) u';
SELECT verdict, random_page_cost, cached_fraction, statement,
	reason, substring(translate(detail, E'\n', ' ') FROM '; (how much.*)') AS detail
FROM recommend_random_page_cost('regress_recommend');
ROLLBACK;
SELECT statement, undo_statement FROM recommend_random_page_cost('regress_recommend') \gset
:statement;
SELECT verdict, undo_statement FROM recommend_random_page_cost('regress_recommend');
:undo_statement;
SELECT spcoptions FROM pg_tablespace WHERE spcname = 'regress_recommend';
ALTER TABLESPACE regress_recommend SET (random_page_cost = 90);
SELECT verdict, undo_statement FROM recommend_random_page_cost('regress_recommend');
-- an old probe is no ground for a change
UPDATE tablespace_advisor.probe_run SET finished_at = now() - interval '60 days' WHERE run_id = 990002;
SELECT verdict, random_page_cost, statement, reason, regexp_replace(translate(detail, E'\n', ' '), ' By it.*', '') AS detail
FROM recommend_random_page_cost('regress_recommend');
-- measured locality is weighed instead of the correlation
SELECT count(*) FROM measure_index_locality('regress_recommend.t') WHERE windows = 1;
SELECT translate(detail, E'\n', ' ') ~ 'over 1 index of measured locality here' AS measured
FROM recommend_random_page_cost('regress_recommend');

\echo -- depth beside a load: what others lose by a deeper queue is no gain, nor is noise
BEGIN;
DELETE FROM tablespace_advisor.probe_run WHERE tablespace = 'regress_recommend';
CREATE FUNCTION pg_temp.depth(own float8[], others float8[], width float8)
RETURNS int LANGUAGE sql AS $$
	DELETE FROM tablespace_advisor.probe_run WHERE tablespace = 'regress_recommend';
	INSERT INTO tablespace_advisor.probe_run
		(run_id, tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
		OVERRIDING SYSTEM VALUE
	SELECT 990003, spcname, pg_tablespace_location(oid), 'scratch', 268435456, '3 s', now(), now()
	FROM pg_tablespace WHERE spcname = 'regress_recommend';
	INSERT INTO tablespace_advisor.probe_result (run_id, workload, queue_depth, io_size, samples,
		iops, mean_us, mean_low_us, mean_high_us, conditions, others_reads_per_s, others_writes_per_s)
	SELECT 990003, 'random read', 2 ^ (n - 1), current_setting('block_size')::int, 600, o,
		1e6 / o, 1e6 / o * (1 - width), 1e6 / o * (1 + width), 'others', others[n], 0
	FROM unnest(own) WITH ORDINALITY u (o, n);
	SELECT depth::int FROM tablespace_advisor.read_concurrency c
	JOIN pg_tablespace t ON t.oid = c.tablespace_oid WHERE spcname = 'regress_recommend'
$$;
SELECT pg_temp.depth('{60,100,130,155,170,178}', '{125,85,55,30,15,8}', 0.02) AS one_actuator,
	pg_temp.depth('{180,182,201,205,220,215}', '{0,0,0,0,0,0}', 0.12) AS noise,
	pg_temp.depth('{51,81,101,131,157,168}', '{97,71,57,38,22,15}', 0.02) AS busy_processors,
	pg_temp.depth('{1000,1900,3600,6500,7000,7100}', '{3000,2900,2800,2500,2400,2300}', 0.02) AS flash;
-- ten probes of an emulated disk with one actuator beside two readers, recorded (bench/busy
-- makes others): one recommendation after each
CREATE TEMP TABLE recorded (run int, depth int, iops float8, mean float8, low float8, high float8,
	loaded boolean, others float8);
INSERT INTO recorded VALUES
	(1, 1, 127.7, 7829, 6029, 9629, true, 21),
	(1, 2, 133.5, 14255, 12061, 16449, true, 24),
	(1, 4, 135.9, 23849, 20386, 27313, true, 26),
	(1, 8, 206.6, 44894, 37224, 52565, true, 21),
	(1, 16, 143.2, 105518, 83945, 127091, true, 22),
	(1, 32, 153.7, 177268, 153825, 200712, false, 14),
	(2, 1, 70.2, 14245, 8828, 19662, true, 62),
	(2, 2, 83.1, 23761, 20767, 26755, true, 67),
	(2, 4, 107.3, 37184, 29263, 45106, true, 52),
	(2, 8, 132.3, 60945, 49195, 72695, true, 38),
	(2, 16, 155.7, 91050, 78560, 103540, true, 20),
	(2, 32, 117.2, 173403, 160830, 185975, true, 18),
	(3, 1, 68.4, 14621, 10142, 19101, true, 82),
	(3, 2, 99.0, 21678, 17431, 25925, true, 66),
	(3, 4, 106.7, 36817, 30682, 42952, true, 49),
	(3, 8, 109.4, 56767, 46787, 66748, true, 38),
	(3, 16, 179.3, 90160, 76234, 104087, true, 18),
	(3, 32, 167.6, 183460, 166338, 200582, true, 16),
	(4, 1, 63.5, 15732, 11098, 20366, true, 69),
	(4, 2, 81.7, 25876, 22159, 29592, true, 64),
	(4, 4, 122.6, 35103, 28852, 41355, true, 41),
	(4, 8, 123.8, 56389, 48330, 64449, true, 33),
	(4, 16, 113.9, 101987, 89973, 114002, true, 18),
	(4, 32, 156.5, 180333, 155714, 204952, false, 11),
	(5, 1, 60.9, 16418, 14946, 17890, true, 91),
	(5, 2, 82.8, 23992, 18643, 29341, true, 66),
	(5, 4, 81.0, 50997, 37829, 64166, true, 47),
	(5, 8, 119.9, 64442, 54416, 74468, true, 33),
	(5, 16, 121.4, 96205, 77037, 115374, false, 16),
	(5, 32, 166.8, 210861, 183685, 238037, false, 10),
	(6, 1, 54.7, 18271, 14376, 22166, true, 91),
	(6, 2, 87.1, 23935, 20418, 27452, true, 75),
	(6, 4, 122.9, 33603, 27443, 39762, true, 55),
	(6, 8, 140.3, 54200, 43251, 65150, true, 64),
	(6, 16, 180.5, 83657, 63332, 103983, false, 17),
	(6, 32, 166.6, 166054, 146664, 185445, false, 11),
	(7, 1, 52.7, 18979, 14284, 23674, true, 99),
	(7, 2, 88.0, 22735, 21270, 24200, true, 67),
	(7, 4, 116.0, 35082, 28742, 41423, true, 51),
	(7, 8, 129.5, 52043, 43608, 60479, true, 41),
	(7, 16, 166.1, 91018, 74615, 107422, true, 21),
	(7, 32, 305.3, 204242, 182863, 225620, false, 10),
	(8, 1, 63.8, 15665, 11311, 20019, true, 82),
	(8, 2, 80.0, 24597, 20029, 29166, true, 68),
	(8, 4, 123.4, 33252, 28157, 38348, true, 44),
	(8, 8, 108.7, 55856, 45436, 66275, true, 38),
	(8, 16, 144.6, 90103, 63064, 117143, false, 13),
	(8, 32, 137.9, 176554, 160830, 192277, true, 15),
	(9, 1, 76.8, 13024, 9469, 16578, true, 70),
	(9, 2, 86.8, 21579, 16704, 26454, true, 67),
	(9, 4, 116.8, 34599, 27180, 42017, true, 48),
	(9, 8, 133.4, 55324, 44241, 66406, true, 28),
	(9, 16, 115.1, 108819, 84641, 132996, true, 19),
	(9, 32, 136.2, 206306, 180696, 231916, false, 11),
	(10, 1, 56.1, 17820, 7838, 27802, true, 72),
	(10, 2, 58.0, 34505, 15287, 53723, true, 58),
	(10, 4, 105.6, 33472, 27575, 39369, true, 45),
	(10, 8, 149.5, 58068, 43504, 72633, true, 33),
	(10, 16, 143.1, 93578, 78764, 108391, true, 22),
	(10, 32, 138.5, 181063, 167326, 194800, true, 11);
-- and ten of which 19 made twice 32, the others 1
INSERT INTO recorded VALUES
	(11, 1, 53.1, 18844, 15186, 22503, true, 79),
	(11, 2, 74.9, 26115, 20953, 31278, true, 82),
	(11, 4, 124.2, 30533, 26345, 34720, true, 65),
	(11, 8, 137.4, 52095, 40212, 63979, true, 42),
	(11, 16, 152.8, 80853, 67932, 93774, true, 33),
	(11, 32, 171.8, 154888, 138659, 171117, false, 18),
	(12, 1, 54.2, 18433, 14834, 22032, true, 123),
	(12, 2, 80.8, 23470, 20038, 26902, true, 71),
	(12, 4, 113.2, 33202, 27384, 39020, true, 65),
	(12, 8, 174.7, 54944, 43819, 66068, true, 42),
	(12, 16, 156.1, 88273, 77022, 99523, true, 25),
	(12, 32, 167.4, 168480, 147031, 189928, true, 18),
	(13, 1, 53.5, 18706, 17371, 20041, true, 111),
	(13, 2, 81.7, 26915, 20483, 33348, true, 93),
	(13, 4, 113.5, 31772, 25721, 37823, true, 58),
	(13, 8, 145.1, 58439, 47338, 69540, true, 49),
	(13, 16, 148.9, 92369, 79288, 105451, true, 27),
	(13, 32, 153.1, 156407, 143974, 168839, false, 11),
	(14, 1, 62.4, 16031, 12910, 19152, true, 102),
	(14, 2, 85.3, 22481, 19183, 25779, true, 79),
	(14, 4, 121.8, 33867, 27112, 40621, true, 58),
	(14, 8, 151.9, 53792, 45167, 62417, true, 41),
	(14, 16, 191.3, 92264, 79366, 105162, true, 26),
	(14, 32, 285.7, 175625, 149650, 201600, false, 16),
	(15, 1, 54.2, 18452, 16430, 20474, true, 96),
	(15, 2, 80.2, 24637, 20883, 28390, true, 84),
	(15, 4, 102.2, 36929, 30074, 43784, true, 50),
	(15, 8, 175.6, 51925, 43956, 59895, true, 42),
	(15, 16, 176.3, 99495, 87943, 111047, true, 24),
	(15, 32, 187.5, 179992, 158756, 201227, true, 19),
	(16, 1, 46.6, 21441, 15961, 26921, true, 92),
	(16, 2, 76.2, 25744, 20053, 31435, true, 107),
	(16, 4, 105.9, 36435, 29992, 42878, true, 58),
	(16, 8, 136.8, 50957, 39851, 62063, true, 42),
	(16, 16, 133.4, 82751, 71104, 94398, false, 19),
	(16, 32, 263.7, 175009, 163254, 186764, false, 17),
	(17, 1, 49.1, 20352, 14347, 26358, true, 96),
	(17, 2, 81.9, 25615, 22046, 29184, true, 71),
	(17, 4, 99.2, 41225, 34115, 48335, true, 60),
	(17, 8, 118.3, 61352, 50974, 71731, true, 64),
	(17, 16, 141.2, 92788, 74340, 111236, true, 30),
	(17, 32, 215.6, 169394, 159725, 179062, true, 15),
	(18, 1, 48.7, 20521, 18180, 22862, true, 99),
	(18, 2, 67.9, 28413, 22391, 34435, true, 80),
	(18, 4, 109.9, 35285, 27920, 42650, true, 52),
	(18, 8, 134.6, 56501, 42329, 70673, true, 37),
	(18, 16, 145.1, 92663, 77598, 107727, true, 25),
	(18, 32, 148.5, 166380, 151972, 180788, false, 17),
	(19, 1, 52.2, 19138, 16883, 21394, true, 96),
	(19, 2, 68.1, 28618, 22932, 34303, true, 76),
	(19, 4, 89.1, 36296, 28913, 43680, true, 54),
	(19, 8, 135.5, 55342, 42204, 68481, true, 37),
	(19, 16, 156.2, 101197, 90383, 112012, true, 27),
	(19, 32, 191.2, 192235, 161606, 222864, true, 30),
	(20, 1, 52.4, 19069, 13798, 24339, true, 101),
	(20, 2, 62.2, 32122, 22412, 41833, true, 93),
	(20, 4, 27.0, 150441, 42938, 257944, true, 19),
	(20, 8, 143.4, 60616, 43753, 77480, true, 41),
	(20, 16, 369.4, 100682, 60977, 140387, true, 27),
	(20, 32, 120.0, 165808, 151607, 180008, true, 12);
DELETE FROM tablespace_advisor.probe_run WHERE tablespace = 'regress_recommend';
CREATE FUNCTION pg_temp.depth_after(probes int, remembers boolean DEFAULT false)
RETURNS int LANGUAGE sql AS $$
	INSERT INTO tablespace_advisor.probe_run
		(run_id, tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
		OVERRIDING SYSTEM VALUE
	SELECT 991000 + probes, spcname, pg_tablespace_location(oid), 'scratch', 134217728, '4 s', now(), now()
	FROM pg_tablespace WHERE spcname = 'regress_recommend';
	INSERT INTO tablespace_advisor.probe_result (run_id, workload, queue_depth, io_size, samples,
		iops, mean_us, mean_low_us, mean_high_us, conditions, others_reads_per_s, others_writes_per_s)
	SELECT 991000 + run, 'random read', depth, current_setting('block_size')::int, 100, iops,
		mean, low, high, CASE WHEN loaded THEN 'others' END, others, 0
	FROM recorded WHERE run = probes;
	UPDATE tablespace_advisor.probe_run SET advised_depth = depth
	FROM tablespace_advisor.read_concurrency c JOIN pg_tablespace t ON t.oid = c.tablespace_oid
	WHERE remembers AND run_id = 991000 + probes AND spcname = 'regress_recommend';
	SELECT depth::int FROM tablespace_advisor.read_concurrency c
	JOIN pg_tablespace t ON t.oid = c.tablespace_oid WHERE spcname = 'regress_recommend'
$$;
SELECT string_agg(pg_temp.depth_after(n)::text, ' ' ORDER BY n) AS depths FROM generate_series(1, 10) n;
DELETE FROM tablespace_advisor.probe_run WHERE tablespace = 'regress_recommend';
SELECT string_agg(pg_temp.depth_after(n)::text, ' ' ORDER BY n) AS depths FROM generate_series(11, 20) n;
-- once each run keeps what it led to, that stays
DELETE FROM tablespace_advisor.probe_run WHERE tablespace = 'regress_recommend';
SELECT string_agg(pg_temp.depth_after(n, true)::text, ' ' ORDER BY n) AS depths FROM generate_series(11, 20) n;
-- but for what is clearly another device: flash in place of a disk, and back
CREATE FUNCTION pg_temp.depth_from(advised int, own float8[], others float8[]) RETURNS int LANGUAGE sql AS $$
	SELECT pg_temp.depth(own, others, 0.02);
	UPDATE tablespace_advisor.probe_run SET advised_depth = advised WHERE run_id = 990003;
	SELECT depth::int FROM tablespace_advisor.read_concurrency c
	JOIN pg_tablespace t ON t.oid = c.tablespace_oid WHERE spcname = 'regress_recommend'
$$;
SELECT advised, pg_temp.depth_from(advised, '{60,100,130,155,170,178}', '{125,85,55,30,15,8}') AS one_actuator,
	pg_temp.depth_from(advised, '{1000,1900,3600,6500,7000,7100}', '{3000,2900,2800,2500,2400,2300}') AS flash
FROM unnest('{NULL,1,2,4,8,16,32,64}'::int[]) advised;
ROLLBACK;

\echo -- worst plans: scattered, in order, all in caches; what is chosen now is what is recommended if that is kept
CREATE FUNCTION pg_temp.worst(r float8, recommended float8, OUT place int, OUT of_rows numeric, OUT plan text, OUT best text,
	OUT slowdown numeric, OUT plan_then text, OUT slowdown_then numeric, OUT corrected text, OUT is_measured boolean)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT w.place, round(w.matching_rows::numeric), w.plan, w.best_plan, round((w.plan_us / w.best_us)::numeric, 1),
		w.recommended_plan, round((w.recommended_us / w.best_us)::numeric, 1), w.corrected_plan, w.is_measured
	FROM tablespace_advisor.find_worst_plans('(95,5200,3200,2,100,250,,,,,5100,5300,94,96)',
		array(SELECT ROW(NULL, 10000, 1e6, 2745, 1e6, t.correlation, t.cached, NULL, 2)::tablespace_advisor.weighed_index
			FROM (VALUES (0, 0), (1, 0), (0, 1)) t (correlation, cached)), r, 1, 0, 0, recommended) w $$;
SELECT * FROM pg_temp.worst(1, 60);
SELECT count(*) FILTER (WHERE plan = plan_then AND slowdown = slowdown_then) AS kept, count(*) FROM pg_temp.worst(4, 4);
\echo -- of all tablespaces, with what is recommended
SELECT w.tablespace, w.index::regclass, w.plan_us >= w.best_us AS is_slower, w.recommended_us = w.plan_us AS is_kept, w.is_measured
FROM tablespace_advisor.worst_plans((SELECT jsonb_agg(c || '{"verdict": "keep"}') FROM (SELECT to_jsonb(c) AS c
	FROM recommend_random_page_cost('regress_recommend') c) c)) w;
SELECT count(*) FROM tablespace_advisor.worst_plans((SELECT jsonb_agg(c || '{"verdict": "probe first"}')
	FROM (SELECT to_jsonb(c) AS c FROM recommend_random_page_cost('regress_recommend') c) c));

\echo -- units of the processor
SELECT unit, nanoseconds > 0 AS measured, setting FROM calibrate_cost_units() WHERE unit <> 'cpu_index_tuple_cost';
\echo -- what it sets ends with the call
BEGIN;
CREATE TEMP TABLE set_before ON COMMIT DROP AS SELECT name, setting FROM pg_settings;
SELECT count(*) FROM calibrate_cost_units();
SELECT name, setting FROM pg_settings EXCEPT SELECT name, setting FROM set_before;
COMMIT;
CREATE TEMP TABLE tsa_calibration (i int);
\set VERBOSITY sqlstate
SELECT * FROM calibrate_cost_units();
SELECT tablespace_advisor.weigh_random_page_cost('(1,2,,,,,,,,,,,,)', '{}', 4, 1, 0, 0);
SELECT tablespace_advisor.weigh_random_page_cost('(1,2,,,,,,,,,,,,)', '{NULL}', 4, 1, 0, 0);
SELECT tablespace_advisor.weigh_random_page_cost('(,2,,,,,,,,,,,,)', '{"(,,,,,,,,)"}', 4, 1, 0, 0);
SELECT tablespace_advisor.find_worst_plans('(1,2,,,,,,,,,,,,)', '{}', 4, 1, 0, 0, 4);
SELECT tablespace_advisor.find_worst_plans('(1,2,,,,,,,,,,,,)', '{NULL}', 4, 1, 0, 0, 4);

DROP SCHEMA regress_recommend CASCADE;
DELETE FROM tablespace_advisor.index_locality;
DELETE FROM tablespace_advisor.probe_run WHERE run_id = 990002;
DROP TABLESPACE regress_recommend;
