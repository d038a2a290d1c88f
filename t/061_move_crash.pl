# Ends a move at every point of its protocol: by an immediate shutdown, by
# killing its worker with the server, by terminating and by cancelling it.
# Each time every index agrees with its table, the next call settles the job,
# no file is orphaned, and the move can be repeated.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

# nobody flushes the log but those who are told to
my $node = new_node('main', conf => qq(
wal_level = replica
autovacuum = off
wal_writer_delay = 10s
bgwriter_lru_maxpages = 0
));
$node->start;
prepare_node($node);
fill_table($node, 3000);

my @points = (
	'storage created', 'copied', 'followed', 'synced', 'window', 'switched',
	'old file truncated');
my %moved = ('switched' => 1, 'old file truncated' => 1);

# Rows that change what has been copied.  The key must be the table's newest.
sub change_rows
{
	$node->safe_psql('postgres', q{
		UPDATE t SET txt = md5(txt) || txt, d = -d, h = (h + 7) % 50,
			k = (k + 1) % 100, a1 = a1 || 7, p2 = p1
		WHERE id % 2 = 0});
	return;
}

# Starts to move t_txt to the other tablespace and stops it at a point.
sub move_to_point
{
	my ($point) = @_;
	my $from = tablespaces_of($node, 't_txt');
	my $to = $from eq 'fast' ? 'slow' : 'fast';

	stop_at($node, $point eq 'followed' ? 'copied' : $point);
	my $job = start_move($node, 't_txt', $to);
	if ($point eq 'followed')
	{
		wait_for_stop($node, 'copied');
		change_rows();
		stop_at($node, 'followed');
	}
	wait_for_stop($node, $point);
	return ($job, $from, $to);
}

# Judges the end of a job that was disturbed, then repeats it if it failed.
sub judge
{
	my ($name, $job, $from, $to, $state, $reason) = @_;

	release($node);
	check_btree($node, 't_txt', "$name, before the job is settled");
	is(end_state($node, $job), $state, "$name: the job is $state");
	like(job_field($node, $job, 'error'), $reason, "$name: and says why")
	  if $reason;
	is(tablespaces_of($node, 't_txt'), $state eq 'done' ? $to : $from,
		"$name: the index is where it should be");
	check_orphans($node, $name);
	return if $state eq 'done';

	my $again = $node->safe_psql('postgres', "SELECT retry_move($job)");
	is(wait_for_job($node, $again), 'done', "$name: the move can be repeated");
	is(tablespaces_of($node, 't_txt'), $to, "$name: and moves the index");
	return;
}

# the copy is seen as what nobody owns, so that check_orphans() can tell
my ($job) = move_to_point('copied');
isnt($node->safe_psql('postgres', 'SELECT tsa_orphans()'), '',
	'a copy under way is a file without a relation');
release($node);
is(wait_for_job($node, $job), 'done', 'a move goes on after a stop');
check_orphans($node, 'a move that was stopped');

my $gone = qr/^the move's background worker ended unexpectedly$/;
for my $point (@points)
{
	my $state = $moved{$point} ? 'done' : 'failed';

	for my $how ('immediate shutdown', 'kill')
	{
		my ($job, $from, $to) = move_to_point($point);

		# a row that the crash must not lose; its commit flushes all before.
		# In the window nobody can write.
		change_rows() if $point ne 'window';
		crash($node, $how eq 'kill' ? worker_pid($node, $job) : undef);
		judge("$how at '$point'", $job, $from, $to, $state,
			$state eq 'failed' ? $gone : undef);
	}
	check_content($node, "crashes at '$point'");

	my ($job, $from, $to) = move_to_point($point);
	my $pid = worker_pid($node, $job);
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid, 60000)");
	judge("terminated at '$point'", $job, $from, $to, $state,
		$state eq 'failed' ? $gone : undef);

	# where it has switched, a cancel comes too late
	($job, $from, $to) = move_to_point($point);
	$node->safe_psql('postgres', "SELECT cancel_move($job)");
	release($node) if $moved{$point};
	is(wait_for_job($node, $job), $moved{$point} ? 'done' : 'cancelled',
		"cancelled at '$point'");
	judge("cancelled at '$point'", $job, $from, $to,
		$moved{$point} ? 'done' : 'cancelled');
	check_content($node, "terminated and cancelled at '$point'");
}

# The cutover's commit that did not reach the disk: nothing flushes the log
# while the WAL writer stands still, and with it the server goes down.
my ($lost, $from, $to) = move_to_point('window');
my $walwriter = $node->safe_psql('postgres',
	"SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
kill 'STOP', $walwriter;
stop_at($node, 'switched');
wait_for_stop($node, 'switched');
is(tablespaces_of($node, 't_txt'), $to, 'the switch is seen');
crash($node, $walwriter);
judge('commit not flushed', $lost, $from, $to, 'failed', $gone);

check_content($node, 'in the end');
check_orphans($node, 'in the end');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|signal (?:6|11)\b/,
	'no crash of the server but those that were asked for');

$node->stop;
done_testing();
