# Plans that measured localities are to change: a server for them, and a probe
# that nobody has made.  Also for benches, where the server's modules for tests
# are not there.

package TsaTest::Plan;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(start_planning_node planted_probe);

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
