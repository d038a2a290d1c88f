# Copyright (c) 2026, The tablespace_advisor developers

# A table whose pages the system's cache holds, in a tablespace that was probed
# at 5 ms a read: what advice says a move would save is at most what reading
# takes, whether the server times its reads or not.

use TsaTest;

my $node = start_node('main', conf => "shared_buffers = 1MB\nautovacuum = off\n");
$node->safe_psql('postgres', $_)
  foreach (
	probe_of('slow', [ 'random read', 1, 8192, 5000 ]),
	probe_of('fast', [ 'random read', 1, 8192, 100 ]),
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

	configure($node, 'track_io_timing', $timing);
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
		WHERE sample_id <= (SELECT max(sample_id) - 1 FROM tablespace_advisor.sample);
		-- others that read from this machine's device would tell how fast it is
		DELETE FROM tablespace_advisor.tablespace_io_sample});
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
