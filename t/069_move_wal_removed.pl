# No replication slot keeps the log for a copy.  If a segment is gone before
# the copy has read it, the copy starts over, and says so in the server's log.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

my $node = new_node('main', conf => qq(
wal_level = replica
min_wal_size = 32MB
max_wal_size = 32MB
wal_keep_size = 0
autovacuum = off
));
$node->start;
prepare_node($node);
$node->safe_psql('postgres', q{
	CREATE TABLE r (id int PRIMARY KEY, v int);
	INSERT INTO r SELECT i, 0 FROM generate_series(1, 50000) i});

stop_at($node, 'copied');
my $job = start_move($node, 'r', 'fast');
wait_for_stop($node, 'copied');

# changes that the copy will not find in the log any more
my $segment = $node->safe_psql('postgres',
	'SELECT pg_walfile_name(pg_current_wal_insert_lsn())');
$node->safe_psql('postgres', q{
	DELETE FROM r WHERE id % 3 = 0;
	INSERT INTO r SELECT i, 1 FROM generate_series(50001, 90000) i});
for (1 .. 4)
{
	$node->safe_psql('postgres',
		"SELECT pg_switch_wal(); CREATE TABLE x$_ (); CHECKPOINT");
}
is( $node->safe_psql('postgres',
		"SELECT count(*) FROM pg_ls_waldir() WHERE name = '$segment'"),
	'0', 'the segment that the copy stands at is gone');

release($node);
is(wait_for_job($node, $job), 'done', 'the move is done all the same');
like(slurp_file($node->logfile),
	qr/live copy of index "r_pkey" starts over because a write-ahead log segment that it needs has been removed/,
	'the copy has started over');
is(tablespaces_of($node, 'r'), 'fast', 'the index is in its new place');
check_btree($node, 'r_pkey', 'after starting over');
check_orphans($node, 'after starting over');
check_locks($node, 'after starting over');
check_log($node, 'after starting over');

$node->stop;
done_testing();
