-- Sizes of pgbench databases.  t/030_pgbench_size.pl compares them with real
-- ones; here are those that are the same on every version.
CREATE EXTENSION IF NOT EXISTS tablespace_advisor;

SELECT relation, fork, blocks, bytes = blocks * current_setting('block_size')::bigint AS in_bytes
FROM estimate_pgbench_size(1) WHERE relation <> 'database (total)';

-- the sums
SELECT added.bytes = forks.bytes AND added.blocks = forks.blocks AS added_is_sum,
	   total.bytes - added.bytes = pg_database_size('template1') AS total_has_template1,
	   total.blocks IS NULL AS total_is_in_bytes
FROM estimate_pgbench_size(10) added, estimate_pgbench_size(10) total,
	 (SELECT sum(bytes) AS bytes, sum(blocks) AS blocks
	  FROM estimate_pgbench_size(10) WHERE fork IS NOT NULL) forks
WHERE added.relation = 'database (added)' AND total.relation = 'database (total)';

-- partitions have the storage, the partitioned table has none
SELECT relation, fork, blocks
FROM estimate_pgbench_size(scale => 2, fillfactor => 50, partitions => 2)
WHERE relation ~ 'accounts' AND (fork <> 'main' OR relation ~ 'pkey');
SELECT relation FROM estimate_pgbench_size(2, 50, 2) WHERE relation ~ 'accounts(_pkey)?$';

-- a table of many levels of maps
SELECT relation, fork, blocks FROM estimate_pgbench_size(50000)
WHERE relation ~ 'accounts';

-- the size leads back to the scale
SELECT s.scale, s.fillfactor, s.partitions
FROM (VALUES (1, 100, 0), (2, 100, 0), (77, 90, 0), (684, 100, 0),
			 (19999, 100, 0), (20000, 100, 0), (50000, 100, 0),
			 (500, 100, 10), (3000, 50, 100)) AS s(scale, fillfactor, partitions),
	 LATERAL (SELECT max(e.bytes) FILTER (WHERE e.relation = 'database (total)') AS database,
					 sum(e.bytes) FILTER (WHERE e.relation ~ '^pgbench_accounts(_\d+)?$') AS accounts,
					 sum(e.bytes) FILTER (WHERE e.relation ~ '^pgbench_accounts.*_pkey$') AS pkey
			  FROM estimate_pgbench_size(s.scale, s.fillfactor, s.partitions) e) e
WHERE s.scale IS DISTINCT FROM estimate_pgbench_scale(e.database::text, 'database', s.fillfactor, s.partitions)
   OR s.scale IS DISTINCT FROM estimate_pgbench_scale(e.accounts::text, 'table', s.fillfactor, s.partitions)
   OR s.scale IS DISTINCT FROM estimate_pgbench_scale(e.pkey::text, 'index', s.fillfactor, s.partitions);

-- sizes are read as pg_size_bytes() reads them; there is no scale below 1
SELECT estimate_pgbench_scale('10 GB', 'table') AS table_10_gb,
	   estimate_pgbench_scale('10 GB', object => 'index') AS index_10_gb,
	   estimate_pgbench_scale('1 kB') AS least;

-- within 1 % of a published line fitted to measured databases; below scale 10
-- the empty database decides, whose size varies with the system's locales
SELECT count(*) AS scales,
	   max(abs(0.0669 * e.database / 2 ^ 20 - 0.5 - s) / s)
	   FILTER (WHERE s >= 10) < 0.01 AS database,
	   max(abs(0.0781 * e.accounts / 2 ^ 20 - s) / s) < 0.01 AS accounts,
	   max(abs(0.4668 * e.pkey / 2 ^ 20 - s) / s) < 0.01 AS pkey
FROM (SELECT i FROM generate_series(1, 100) i
	  UNION SELECT i FROM generate_series(100, 50000, 499) i) AS scales(s),
	 LATERAL (SELECT max(e.bytes) FILTER (WHERE e.relation = 'database (total)') AS database,
					 sum(e.bytes) FILTER (WHERE e.relation = 'pgbench_accounts') AS accounts,
					 sum(e.bytes) FILTER (WHERE e.relation = 'pgbench_accounts_pkey') AS pkey
			  FROM estimate_pgbench_size(s) e) e;

-- anybody may ask
CREATE ROLE regress_size_reader;
SET ROLE regress_size_reader;
SELECT count(*) FROM estimate_pgbench_size(1);
SELECT estimate_pgbench_scale('1 TB', 'table') > 0 AS answered;
RESET ROLE;
DROP ROLE regress_size_reader;
