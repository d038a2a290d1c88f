# What a review found in moves: objects that go away or change hands at an
# awkward moment.  Each case failed before its fix: the tests before it dropped
# tables and indexes but never a tablespace, let nobody else use the names of a
# rebuild's indexes, and made no second call between a rebuild's swap and its
# end.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

my $node = new_node('main', conf => "autovacuum = off\n");
$node->start;
prepare_node($node);

# A psql of its own that is fed step by step.
sub session
{
	my $s = { in => '', out => '', err => '' };

	$s->{run} = IPC::Run::start(
		[
			'psql', '-XAtq', '-v', 'VERBOSITY=verbose',
			'-d', $node->connstr('postgres')
		],
		'<', \$s->{in}, '>', \$s->{out}, '2>', \$s->{err},
		IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default));
	$s->{pid} = ask($s, 'SELECT pg_backend_pid();');
	return $s;
}

# Sends a command without waiting for it.
sub send_to
{
	my ($s, $sql) = @_;

	$s->{in} .= "$sql\n";
	$s->{run}->pump_nb;
	return;
}

# Waits until all that was sent is done; returns the output.
sub answer
{
	my ($s) = @_;

	send_to($s, '\echo @done');
	$s->{run}->pump until $s->{out} =~ /\@done\n/ || !$s->{run}->pumpable;
	(my $out = $s->{out}) =~ s/\@done\n//;
	$s->{out} = '';
	chomp $out;
	return $out;
}

sub ask
{
	my ($s, $sql) = @_;

	send_to($s, $sql);
	return answer($s);
}

sub end
{
	my ($s) = @_;

	send_to($s, '\q');
	eval { $s->{run}->finish };
	return;
}

sub wait_until
{
	my ($condition, $what) = @_;

	$node->poll_query_until('postgres', "SELECT $condition")
	  or die "waited in vain: $what";
	return;
}

sub wait_for_lock_of
{
	my ($pid) = @_;

	wait_until("EXISTS (SELECT FROM pg_locks WHERE pid = $pid AND NOT granted)",
		"process $pid waits for a lock");
	return;
}

sub wait_for_workers
{
	wait_until(q{NOT EXISTS (SELECT FROM pg_stat_activity
		WHERE backend_type = 'tablespace_advisor move')}, 'no worker is left');
	return;
}

# An SQL command by itself: the messages that it causes.
sub messages_of
{
	my ($sql) = @_;
	my ($out, $err);

	$node->psql('postgres', "\\set VERBOSITY verbose\n$sql",
		stdout => \$out, stderr => \$err);
	return $err;
}

# --- a tablespace that is dropped meanwhile ------------------------------------

# the target, between two attempts to lock a partitioned index
$node->safe_psql('postgres', q{
	CREATE TABLE parted (a int) PARTITION BY RANGE (a);
	CREATE INDEX parted_a ON parted (a)});
$node->safe_psql('postgres', "CREATE TABLESPACE doomed LOCATION ''");
my $blocker = session();
ask($blocker, q{BEGIN; COMMENT ON INDEX parted_a IS 'locked';});
my $job = start_move($node, 'parted_a', 'doomed');
wait_until("(SELECT attempts > 0 FROM tablespace_moves WHERE job_id = $job)",
	'a first attempt');
$node->safe_psql('postgres', 'DROP TABLESPACE doomed');
is(wait_for_job($node, $job), 'failed', 'target dropped between attempts');
like(
	job_field($node, $job, 'error'),
	qr/^tablespace (with OID \d+|"doomed") does not exist$/,
	'which the job says');
end($blocker);

# the source, while the planning waits for another index
$node->safe_psql('postgres', "CREATE TABLESPACE doomed LOCATION ''");
$node->safe_psql('postgres', q{
	CREATE TABLE s (a int, b int);
	CREATE INDEX s_a ON s (a);
	CREATE INDEX s_b ON s (b) TABLESPACE doomed});
$blocker = session();
ask($blocker, 'BEGIN; REINDEX INDEX s_a;');
my $caller = session();
send_to($caller, "CALL move_indexes_concurrently('s', 'fast');");
wait_for_lock_of($caller->{pid});
$node->safe_psql('postgres', 'ALTER INDEX s_b SET TABLESPACE pg_default');
$node->safe_psql('postgres', 'DROP TABLESPACE doomed');
ask($blocker, 'COMMIT;');
answer($caller);
like($caller->{err}, qr/ERROR:  42704: tablespace with OID \d+ does not exist/,
	'source dropped while the call plans');
end($_) for $blocker, $caller;
wait_for_workers();

unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|terminated by signal/,
	'no crash');
$node->stop;

done_testing();
