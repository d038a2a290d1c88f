# A table whose pages the system's cache holds, in a tablespace that was probed
# at 5 ms a read: what advice says a move would save is at most what reading
# takes, whether the server times its reads or not.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_buffers = 1MB
autovacuum = off
allow_in_place_tablespaces = on
});
$node->start;
$node->safe_psql('postgres', $_)
  foreach (
	'CREATE EXTENSION tablespace_advisor',
	q{CREATE TABLESPACE slow LOCATION ''},
	q{CREATE TABLESPACE fast LOCATION ''},
	q{INSERT INTO tablespace_advisor.probe_run
			(run_id, tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
		OVERRIDING SYSTEM VALUE
		SELECT CASE spcname WHEN 'slow' THEN 1001 ELSE 1002 END, spcname,
			pg_tablespace_location(oid), 'scratch', 268435456, '3 s', now(), now()
		FROM pg_tablespace WHERE spcname IN ('slow', 'fast')},
	q{INSERT INTO tablespace_advisor.probe_result
			(run_id, workload, queue_depth, io_size, samples, iops, mean_us, mean_low_us, mean_high_us)
		VALUES (1001, 'random read', 1, 8192, 600, 200, 5000, 4900, 5100),
			(1002, 'random read', 1, 8192, 600, 10000, 100, 98, 102)},
	q{CREATE TABLE looked_up (id int PRIMARY KEY, filler text) TABLESPACE slow},
	'ALTER INDEX looked_up_pkey SET TABLESPACE slow',
	q{INSERT INTO looked_up SELECT n, repeat('x', 100) FROM generate_series(1, 100000) n},
	'VACUUM ANALYZE looked_up',
	# warm
	'SELECT count(*), sum(length(filler)) FROM looked_up');

# Look-ups between two samples, which are then the last two.
sub look_up
{
	my ($timing) = @_;

	$node->safe_psql('postgres', "ALTER SYSTEM SET track_io_timing = $timing");
	$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
	$node->poll_query_until('postgres', "SELECT current_setting('track_io_timing') = '$timing'")
	  or die 'the server has not read its settings';
	$node->safe_psql('postgres', 'CALL sample_activity()');
	$node->safe_psql('postgres', q{
		DO $$
		BEGIN
			FOR i IN 1 .. 5000 LOOP
				PERFORM filler FROM looked_up WHERE id = 1 + i * 7919::bigint % 100000;
			END LOOP;
		END $$;
		SELECT pg_stat_force_next_flush()});
	$node->safe_psql('postgres', 'CALL sample_activity()');
	return;
}

# What the last interval between samples says: the server's read time, what the
# moves would save, that without any cache; all in milliseconds per second.
sub forecast
{
	my %row;

	$node->safe_psql('postgres', q{
		UPDATE tablespace_advisor.sample SET taken_at = taken_at - interval '2 days',
			started_at = started_at - interval '2 days'
		WHERE sample_id <= (SELECT max(sample_id) - 1 FROM tablespace_advisor.sample)});
	@row{qw(saved naive share known timed)} = split /\|/, $node->safe_psql('postgres', q{
		SELECT sum((evidence #>> '{estimate,saved_ms_per_s}')::float8),
			sum((evidence #>> '{activity,reads_per_s}')::float8 * (5000 - 100) / 1000),
			min((evidence #>> '{from,device_share}')::float8),
			count(evidence #>> '{from,system_cached}'),
			min((evidence #>> '{window,timed_read_us}')::float8
				* o.reads_per_s / 1000)
		FROM placement_evidence('looked_up'), tablespace_advisor.observe_database() o
		WHERE evidence #> '{to,tablespace}' = '"fast"'});
	return %row;
}

look_up('on');
my %timed = forecast();
note(join ' ', map { "$_=$timed{$_}" } sort keys %timed);
cmp_ok($timed{naive}, '>', 5 * $timed{timed}, 'each read from the device would take much longer');
cmp_ok($timed{saved}, '<=', $timed{timed}, 'timed: a move saves at most what reading takes');

look_up('off');
my %untimed = forecast();
note(join ' ', map { "$_=$untimed{$_}" } sort keys %untimed);
ok(!$untimed{timed}, 'reads are not timed');
SKIP:
{
	skip 'the file system does not say what is cached', 1 if $untimed{known} < 2;
	cmp_ok($untimed{saved}, '<=', 0.05 * $untimed{naive},
		'not timed: nearly nothing, by the pages that the cache has');
}

done_testing();
