# A streaming standby that checks every record it replays, promoted in the
# middle of a move; a base backup taken in the middle of one; recovery to a
# point in the middle of one.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

my $primary = new_node('primary',
	init => { allows_streaming => 1, has_archiving => 1 },
	conf => qq(
wal_consistency_checking = 'all'
autovacuum = off
max_wal_size = 1GB
wal_keep_size = 4GB
));
$primary->start;
prepare_node($primary);
fill_table($primary, 2000);

# A standby of these backups.
sub new_standby
{
	my ($backup, $name) = @_;
	my $node = PostgreSQL::Test::Cluster->new("standby_$name");

	$node->init_from_backup($primary, $backup, has_streaming => 1);
	$node->append_conf('postgresql.conf', qq(
hot_standby_feedback = on
max_standby_streaming_delay = -1
archive_mode = off
));
	$node->start;
	return $node;
}

$primary->backup('first');
my $follower = new_standby('first', 'follower');

# Content of the standby once it has all that the primary has.  Files go with
# its restartpoint.
sub check_standby
{
	my ($name) = @_;

	$primary->safe_psql('postgres', 'CHECKPOINT');
	$primary->wait_for_catchup($follower, 'replay');
	check_content($follower, $name);
	check_orphans($follower, $name);
	is( $follower->safe_psql('postgres', q{
			SELECT count(*), sum(hashtextextended(t::text, 0)) FROM t}),
		$primary->safe_psql('postgres', q{
			SELECT count(*), sum(hashtextextended(t::text, 0)) FROM t}),
		"$name: the table is the primary's");
	is( tablespaces_of($follower, 't'),
		tablespaces_of($primary, 't'),
		"$name: indexes are where the primary's are");
	return;
}

# What a server finds that took over in the middle of job: the index where it
# was, the job to be settled, and nothing else.
sub check_takeover
{
	my ($node, $job, $from, $to, $name) = @_;

	check_content($node, $name);
	is(tablespaces_of($node, 't_txt'), $from, "$name: the index has not moved");
	isnt($node->safe_psql('postgres', 'SELECT tsa_orphans()'), '',
		"$name: the copy is there");
	release($node);
	is(end_state($node, $job), 'failed', "$name: the next call settles the job");
	check_orphans($node, $name);
	move($node, 't_txt', $to);
	is(tablespaces_of($node, 't_txt'), $to, "$name: and the index has moved");
	check_content($node, "$name and a move");
	check_orphans($node, "$name and a move");
	unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|inconsistent page/,
		"$name: nothing wrong in the log");
	return;
}

# Moves under load, followed by the standby.
my $load = start_load($primary, rate => 10, big => 30);
move($primary, 't', 'fast', "method => 'copy'");
move($primary, 't', 'slow', "method => 'copy', max_rate => '8 MB'");
stop_load($load, 'with standbys');
check_standby('moves under load');

# Stopped behind the copy and in the window: one standby takes over at each.
$primary->backup('start');
my %standby = map { $_ => new_standby('start', $_) } qw(copied window);
stop_at($primary, 'copied');
my $job = start_move($primary, 't_txt', 'fast');
wait_for_stop($primary, 'copied');
$primary->safe_psql('postgres',
	q{UPDATE t SET txt = md5(txt), d = -d WHERE id % 2 = 0});
$primary->safe_psql('postgres', q{SELECT pg_create_restore_point('copied')});
$primary->wait_for_catchup($standby{copied}, 'replay');
$standby{copied}->promote;

$primary->backup('in_copy');

stop_at($primary, 'window');
wait_for_stop($primary, 'window');
$primary->safe_psql('postgres', q{SELECT pg_create_restore_point('window')});
$primary->wait_for_catchup($standby{window}, 'replay');
$standby{window}->promote;

check_takeover($standby{copied}, $job, 'slow', 'fast',
	"promoted at 'copied'");
check_takeover($standby{window}, $job, 'slow', 'fast',
	"promoted at 'window'");
$_->stop for $standby{copied}, $standby{window};

# The primary goes on as if nothing had been.
release($primary);
is(wait_for_job($primary, $job), 'done', 'the primary ends its move');
check_content($primary, 'the primary');
check_orphans($primary, 'the primary');
check_standby('a move that was stopped');

# A base backup from the middle of a move, and one while a move copies.  The
# first has to replay to its end only, the second finds the copy half done.
my $slowly = start_move($primary, 't_txt', 'slow', "max_rate => '20 kB'");
$primary->poll_query_until('postgres',
	"SELECT bytes_done > 0 FROM tablespace_moves WHERE job_id = $slowly")
  or die 'the move does not start';
$primary->backup('while_copying');
is(job_field($primary, $slowly, 'state'), 'running',
	'the backup ends before the move');
is($primary->safe_psql('postgres', "SELECT cancel_move($slowly)"), 't',
	'the move is cancelled');
is(wait_for_job($primary, $slowly), 'cancelled', 'and ends');
check_orphans($primary, 'cancelled');
check_standby('a move that was cancelled');

for my $case ([ 'in_copy', $job, 'slow', 'fast' ],
	[ 'while_copying', $slowly, 'fast', 'slow' ])
{
	my ($backup, $its_job, $from, $to) = @$case;
	my $node = PostgreSQL::Test::Cluster->new("restored_$backup");
	$node->init_from_backup($primary, $backup);
	$node->append_conf('postgresql.conf', "archive_mode = off\n");
	$node->start;
	check_takeover($node, $its_job, $from, $to, "backup $backup");
	$node->stop;
}

# Recovery to a point in the middle of a move.
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
for my $target (qw(copied window))
{
	my $node = PostgreSQL::Test::Cluster->new("pitr_$target");
	$node->init_from_backup($primary, 'start', has_restoring => 1);
	$node->append_conf('postgresql.conf', qq(
recovery_target_name = '$target'
recovery_target_action = 'promote'
archive_mode = off
));
	$node->start;
	$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()')
	  or die 'recovery does not end';
	check_takeover($node, $job, 'slow', 'fast', "recovered to '$target'");
	$node->stop;
}

for my $node ($follower, $primary)
{
	unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|inconsistent page/,
		$node->name . ': nothing wrong in the log');
	$node->stop;
}
done_testing();
