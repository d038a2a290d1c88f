# Copyright (c) 2026, The tablespace_advisor developers

# An index of more than one segment file (1 GB): moved while rows in both
# segments change, crashed half way, and moved again.  Expensive, so only run
# if PG_TEST_EXTRA contains "large".
#
# The cheapest honest way to such an index: an expression so wide that a page of
# the lowest fillfactor takes one, over a table of integers.

use TsaTest;

plan skip_all => 'needs 4 GB of disk and a minute; set PG_TEST_EXTRA=large'
  unless ($ENV{PG_TEST_EXTRA} // '') =~ /\blarge\b/;

my $node = start_node('main', conf => qq(
wal_level = replica
autovacuum = off
max_wal_size = 4GB
maintenance_work_mem = 256MB
shared_buffers = 128MB
));
$node->safe_psql('postgres', q{
	CREATE TABLE g (i int);
	INSERT INTO g SELECT generate_series(1, 150000);
	CREATE INDEX g_wide ON g ((repeat(md5(i::text), 15)))
		WITH (fillfactor = 10)}, timeout => 600);
cmp_ok($node->safe_psql('postgres', "SELECT pg_relation_size('g_wide')"),
	'>', 1.05 * 1024 * 1024 * 1024, 'the index has two segments');

sub segments
{
	my $path = $node->safe_psql('postgres',
		"SELECT pg_relation_filepath('g_wide')");
	return join ' ', map { -s $node->data_dir . "/$path$_" ? 1 : 0 }
	  ('', '.1', '.2');
}
is(segments(), '1 1 0', 'segments of the wide index are files');

my $change = q{
	INSERT INTO g SELECT generate_series(200001, 201000);
	DELETE FROM g WHERE i % 100 = 0;
	UPDATE g SET i = -i WHERE i % 100 = 1};

# crash behind the copy
my $job = start_stopped_move($node, 'copied', 'g_wide', 'fast');
$node->safe_psql('postgres', $change);
crash($node);
release($node);
is(end_state($node, $job), 'failed', 'the job has failed');
check_orphans($node, 'crash behind the copy of two segments');

# changes in both segments behind the copy
stop_at($node, 'copied');
$job = $node->safe_psql('postgres', "SELECT retry_move($job)");
wait_for_stop($node, 'copied');
$node->safe_psql('postgres', $change);
release($node);
is(wait_for_job($node, $job), 'done', 'the move is done');
is(tablespaces_of($node, 'g_wide'), 'fast', 'the index has moved');
is(segments(), '1 1 0', 'the index in its new place has two segments');
diag $node->safe_psql('postgres', qq{
	SELECT 'window ' || lock_ms || ' ms, ' || passes || ' passes, '
		|| finished_at - started_at || ' with the stop'
	FROM tablespace_moves WHERE job_id = $job});
$node->safe_psql('postgres', "SELECT bt_index_parent_check('g_wide', true)",
	timeout => 600);
pass('the index agrees with the table');
check_orphans($node, 'two segments');

# and after recovery from the log, with what comes behind the move
$node->safe_psql('postgres', $change);
crash($node);
$node->safe_psql('postgres', "SELECT bt_index_parent_check('g_wide', true)",
	timeout => 600);
pass('the index agrees with the table after a crash');
check_orphans($node, 'two segments, after a crash');
check_locks($node, 'two segments');
$node->stop;
done_testing();
