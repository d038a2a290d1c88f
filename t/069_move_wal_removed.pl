# No replication slot keeps the log for a copy.  If a segment is gone before
# the copy has read it, the copy starts over, and says so in the server's log.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);
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

# A lock that others have for long: the copy has given all of its locks back, and
# reads the log all the same.  Copies of 0.3 waited for the lock, and then
# started over.
my $holder = { in => '', out => '', err => '' };
$holder->{run} = IPC::Run::start(
	[ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
	'<', \$holder->{in}, '>', \$holder->{out}, '2>', \$holder->{err},
	IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default));
stop_at($node, 'copied');
$job = start_move($node, 'r', 'slow');
wait_for_stop($node, 'copied');
my $pid = worker_pid($node, $job);
$holder->{in} .= "BEGIN; LOCK r;\n\\echo locked\n";
$holder->{run}->pump_nb;
$node->poll_query_until('postgres', q{
	SELECT count(*) = 1 FROM pg_locks
	WHERE relation = 'r'::regclass AND mode = 'AccessExclusiveLock'})
  or die 'nobody asks for the lock';
release($node);
$holder->{run}->pump until $holder->{out} =~ /locked/ || !$holder->{run}->pumpable;

# which segment the worker reads
sub segment_read
{
	my %segments = map { m{/pg_wal/([0-9A-F]{24})$} ? ($1 => 1) : () }
	  map { readlink($_) // '' } glob "/proc/$pid/fd/*";

	return join ' ', sort keys %segments;
}
$segment = $node->safe_psql('postgres',
	'SELECT pg_walfile_name(pg_current_wal_insert_lsn())');
foreach my $round (5 .. 8)
{
	my $now = $node->safe_psql('postgres', "SELECT pg_switch_wal(); CREATE TABLE x$round ();
		SELECT pg_walfile_name(pg_current_wal_insert_lsn())") =~ s/.*\n//sr;
	my $tries = 0;

	usleep(100_000) while segment_read() ne $now && $tries++ < 100;
	is(segment_read(), $now, 'the log is read while somebody has the table locked');
	$node->safe_psql('postgres', 'CHECKPOINT');
}
is( $node->safe_psql('postgres',
		"SELECT count(*) FROM pg_ls_waldir() WHERE name = '$segment'"),
	'0', 'the segment that the copy stood at is gone');
$holder->{in} .= "COMMIT;\n\\q\n";
$holder->{run}->finish;
is(wait_for_job($node, $job), 'done', 'the move is done');
my $over = () = slurp_file($node->logfile) =~ /starts over/g;
is($over, 1, 'without starting over');
check_btree($node, 'r_pkey', 'after a long lock');

check_locks($node, 'in the end');
check_log($node, 'in the end');

$node->stop;
done_testing();
