# Moves of a table with a streaming standby that checks every record it
# replays; standbys that take over at a point of a move; base backups from the
# middle of one; recovery to a point in the middle of one.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

my $primary = new_node('primary', checksums => 1,
	init => { allows_streaming => 1, has_archiving => 1 },
	conf => qq(
wal_consistency_checking = 'all'
autovacuum = off
max_wal_size = 1GB
wal_keep_size = 4GB
));
$primary->start;
prepare_node($primary);
fill_documents($primary, 2000);

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
	check_table($follower, "standby, $name");
	check_orphans($follower, "standby, $name");
	is(digest($follower, 't'), digest($primary, 't'),
		"$name: the standby's table is the primary's");
	is(visibility($follower, 't'), visibility($primary, 't'),
		"$name: and so is its visibility map");
	is(places($follower, 't'), places($primary, 't'), "$name: and its place");
	return;
}

# What a server finds that took over in the middle of a move.
sub check_takeover
{
	my ($node, $job, $state, $place, $name) = @_;

	check_table($node, $name);
	is(places($node, 't'), $place, "$name: all is where it should be");
	isnt($node->safe_psql('postgres', 'SELECT tsa_orphans()'), '',
		"$name: there are files to remove")
	  if $state;
	release($node);
	is(end_state($node, $job), $state, "$name: the next call settles the job")
	  if $state;
	check_orphans($node, $name);
	move_table($node, 't', 'pg_default', 'with_indexes => true');
	is( places($node, 't'),
		'table pg_default, toast pg_default, toast index pg_default, indexes pg_default',
		"$name: and the table moves");
	check_table($node, "$name and a move");
	check_orphans($node, "$name and a move");
	unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|inconsistent page/,
		"$name: nothing wrong in the log");
	return;
}

# Moves under load, followed by the standby, on which somebody reads.
my $load = start_table_load($primary, rate => 15);
my $reader = IPC::Run::start(
	[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $follower->connstr('postgres') ],
	'<', \(join "\n", ('SELECT count(*), sum(length(doc)) FROM t;') x 300),
	'>', \my $read, '2>', \my $read_err);
move_table($primary, 't', 'fast', "max_rate => '16 MB'");
move_table($primary, 't', 'slow', 'with_indexes => true');
stop_table_load($load, 'with standbys');
$reader->finish;
is($read_err, '', 'queries on the standby succeed');
is(scalar(split /\n/, $read), 300, 'all of them');
check_standby('moves under load');

my ($slow, $fast) = map { "table $_, toast $_, toast index $_, indexes $_" } qw(slow fast);

# Stopped behind the copy, in the window and behind it: one standby takes over
# at each.
$primary->backup('start');
my %standby = map { $_ => new_standby('start', $_) } qw(copied window switched);
my $change = qq{
	UPDATE t SET doc = ${\document('id + 3')} WHERE id % 5 = 0;
	UPDATE t SET note = note + 1 WHERE id % 3 = 0;
	DELETE FROM t WHERE id % 13 = 0;
	VACUUM (FREEZE, TRUNCATE false) t;
	UPDATE t SET note = note + 1 WHERE id % 17 = 0};
stop_at($primary, 'copied');
my $job = start_table_move($primary, 't', 'fast', 'with_indexes => true');
wait_for_stop($primary, 'copied');
$primary->safe_psql('postgres', $change);
$primary->safe_psql('postgres', q{SELECT pg_create_restore_point('copied')});
$primary->wait_for_catchup($standby{copied}, 'replay');
$standby{copied}->promote;
$primary->backup('in_copy');

stop_at($primary, 'window');
wait_for_stop($primary, 'window');
$primary->safe_psql('postgres', q{SELECT pg_create_restore_point('window')});
$primary->wait_for_catchup($standby{window}, 'replay');
$standby{window}->promote;

stop_at($primary, 'switched');
wait_for_stop($primary, 'switched');
$primary->safe_psql('postgres', q{
	SET synchronous_commit = on;
	UPDATE t SET note = note + 1, doc = NULL WHERE id % 19 = 0;
	SELECT pg_create_restore_point('switched')});
$primary->wait_for_catchup($standby{switched}, 'replay');
$standby{switched}->promote;

my @takeovers = (
	[ 'copied', 'failed', $slow ],
	[ 'window', 'failed', $slow ],
	[ 'switched', 'done', $fast ]);
for my $case (@takeovers)
{
	my ($point, $state, $place) = @$case;
	check_takeover($standby{$point}, $job, $state, $place,
		"promoted at '$point'");
	$standby{$point}->stop;
}

# The primary goes on as if nothing had been.
release($primary);
is(wait_for_job($primary, $job), 'done', 'the primary ends its move');
is(places($primary, 't'), $fast, 'all has moved');
check_table($primary, 'the primary');
check_orphans($primary, 'the primary');
check_standby('a move that was stopped');

# A base backup from the middle of a move, and one while a move copies.  The
# first has to replay to its end only, the second finds the copy half done.
my $slowly = start_table_move($primary, 't', 'slow',
	"with_indexes => true, max_rate => '20 kB'");
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

for my $case ([ 'in_copy', $job, $slow ], [ 'while_copying', $slowly, $fast ])
{
	my ($backup, $its_job, $place) = @$case;
	my $node = PostgreSQL::Test::Cluster->new("restored_$backup");
	$node->init_from_backup($primary, $backup);
	$node->append_conf('postgresql.conf', "archive_mode = off\n");
	$node->start;
	check_takeover($node, $its_job, 'failed', $place, "backup $backup");
	check_checksums($node, "backup $backup");
}

# Recovery to a point in the middle of a move.
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
for my $case (@takeovers)
{
	my ($target, $state, $place) = @$case;
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
	check_takeover($node, $job, $state, $place, "recovered to '$target'");
	check_checksums($node, "recovered to '$target'");
}

for my $node ($follower, $primary)
{
	unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|inconsistent page/,
		$node->name . ': nothing wrong in the log');
	check_checksums($node, $node->name);
}
done_testing();
