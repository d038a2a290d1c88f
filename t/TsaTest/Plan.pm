# Plans that measured localities are to change: a server for them, and a probe
# that nobody has made.  Also for benches, where the server's modules for tests
# are not there.

package TsaTest::Plan;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(start_planning_node planted_probe two_devices);

# Statements that plant a probe of pg_default: a disk that takes 5.2 ms for a
# random page.
sub planted_probe
{
	return q{
		INSERT INTO tablespace_advisor.probe_run
			(tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
		SELECT 'pg_default', current_setting('data_directory'), 'scratch', 268435456,
			'3 s', now(), now();
		INSERT INTO tablespace_advisor.probe_result
			(run_id, workload, queue_depth, io_size, samples, iops, mean_us)
		SELECT run_id, workload, depth, size, 600, 1e6 / us, us
		FROM tablespace_advisor.probe_run, (VALUES ('random read', 1, 8192, 5200),
			('sequential read', 2, 131072, 1520), ('skip read', 1, 8192, 3200),
			('adjacent read', 0, 8192, 100), ('adjacent read', 1, 8192, 250),
			('cached read', 1, 8192, 2)) v (workload, depth, size, us);};
}

# Statements after which the tablespaces "slow" and "fast", of whatever device, are
# taken for two: a disk of 5 ms and flash of 0.1 ms.
sub two_devices
{
	return q{
		INSERT INTO tablespace_advisor.probe_run
			(run_id, tablespace, location, mode, file_size_bytes, duration, started_at, finished_at) OVERRIDING SYSTEM VALUE
		SELECT CASE spcname WHEN 'slow' THEN 1001 ELSE 1002 END, spcname,
			pg_tablespace_location(oid), 'scratch', 268435456, '3 s', now(), now()
		FROM pg_tablespace WHERE spcname IN ('slow', 'fast');
		INSERT INTO tablespace_advisor.probe_result
			(run_id, workload, queue_depth, io_size, samples, iops, mean_us, mean_low_us, mean_high_us)
		VALUES (1001, 'random read', 1, 8192, 600, 200, 5000, 4900, 5100),
			(1002, 'random read', 1, 8192, 600, 10000, 100, 98, 102);
		CREATE OR REPLACE FUNCTION tablespace_advisor.tablespace_facts(caller oid, table_owner oid)
		RETURNS SETOF tablespace_advisor.tablespace_fact LANGUAGE sql
		SET search_path = pg_catalog, pg_temp AS $$
			SELECT f.* FROM tablespace_advisor.tablespace_latency l
			CROSS JOIN LATERAL jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
				jsonb_build_object('tablespace', l.tablespace, 'run_id', l.run_id,
					'random_read_us', l.random_read_us, 'random_read_low_us', l.random_read_low_us,
					'random_read_high_us', l.random_read_high_us,
					'depths', array_remove(ARRAY[CASE WHEN l.random_read_us > 0 THEN 1 END], NULL),
					'depth_read_us', array_remove(ARRAY[l.random_read_us], NULL),
					'may_create', true, 'volatile', false, 'available_bytes', 1000000000,
					'shares_device_with', '[]'::jsonb)) f $$};
}

# A server whose sessions load the extension, with that probe.
sub start_planning_node
{
	my $node = PostgreSQL::Test::Cluster->new('main');

	$node->init;
	$node->append_conf('postgresql.conf', q(
autovacuum = off
jit = off
effective_io_concurrency = 0
max_parallel_workers_per_gather = 0
session_preload_libraries = 'tablespace_advisor'
tablespace_advisor.cached_fraction = 0
));
	$node->start;
	$node->safe_psql('postgres',
		'CREATE EXTENSION tablespace_advisor;' . planted_probe());
	return $node;
}

1;
