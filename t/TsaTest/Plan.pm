# Copyright (c) 2026, The tablespace_advisor developers

# Plans that measured localities are to change: a server for them, and a probe
# that nobody has made.  Also for benches, where the server's modules for tests
# are not there.

package TsaTest::Plan;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(start_planning_node probe_of planted_probe two_devices);

# Statements that plant a probe of a tablespace: rows of workload, queue depth, bytes
# of a request, microseconds; requests per second if they are not one after the other.
sub probe_of
{
	my ($tablespace, @rows) = @_;
	my $values = join ', ',
	  map { sprintf "('%s', %d, %d, %s, %s)", @$_[ 0 .. 3 ], $_->[4] // 1e6 / $_->[3] } @rows;

	return qq{
		WITH run AS (INSERT INTO tablespace_advisor.probe_run
				(tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
			SELECT spcname, CASE spcname WHEN 'pg_default' THEN current_setting('data_directory')
				ELSE pg_tablespace_location(oid) END, 'scratch', 268435456, '3 s', now(), now()
			FROM pg_tablespace WHERE spcname = '$tablespace' RETURNING run_id)
		INSERT INTO tablespace_advisor.probe_result
			(run_id, workload, queue_depth, io_size, samples, iops, mean_us, mean_low_us, mean_high_us)
		SELECT run_id, workload, depth, size, 600, iops, us, 0.98 * us, 1.02 * us
		FROM run, (VALUES $values) v (workload, depth, size, us, iops);};
}

# The same of pg_default: a disk that takes 5.2 ms for a random page.
sub planted_probe
{
	return probe_of('pg_default', [ 'random read', 1, 8192, 5200 ],
		[ 'sequential read', 2, 131072, 1520 ], [ 'skip read', 1, 8192, 3200 ],
		[ 'adjacent read', 0, 8192, 100 ], [ 'adjacent read', 1, 8192, 250 ],
		[ 'cached read', 1, 8192, 2 ]);
}

# Statements after which the tablespaces "slow" and "fast", of whatever device, are
# taken for two: a disk of 5 ms and flash of 0.1 ms, which has so many bytes for tables.
sub two_devices
{
	my ($fast_bytes) = @_;
	my $available = 1_000_000_000;

	$available = qq{CASE l.tablespace WHEN 'fast' THEN $fast_bytes - (
			SELECT coalesce(sum(pg_table_size(c.oid)), 0) FROM pg_class c
				JOIN pg_tablespace t ON t.oid = c.reltablespace
			WHERE t.spcname = 'fast' AND c.relkind = 'r') ELSE $available END} if $fast_bytes;
	return probe_of('slow', [ 'random read', 1, 8192, 5000 ])
	  . probe_of('fast', [ 'random read', 1, 8192, 100 ]) . qq{
		CREATE OR REPLACE FUNCTION tablespace_advisor.tablespace_facts(caller oid, table_owner oid)
		RETURNS SETOF tablespace_advisor.tablespace_fact LANGUAGE sql
		SET search_path = pg_catalog, pg_temp AS \$\$
			SELECT f.* FROM tablespace_advisor.tablespace_latency l
			CROSS JOIN LATERAL jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
				jsonb_build_object('tablespace', l.tablespace, 'run_id', l.run_id,
					'random_read_us', l.random_read_us, 'random_read_low_us', l.random_read_low_us,
					'random_read_high_us', l.random_read_high_us,
					'depths', array_remove(ARRAY[CASE WHEN l.random_read_us > 0 THEN 1 END], NULL),
					'depth_read_us', array_remove(ARRAY[l.random_read_us], NULL),
					'may_create', true, 'volatile', false, 'available_bytes', $available,
					'shares_device_with', '[]'::jsonb)) f \$\$;};
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
