# What bench/soak runs: rounds of moves with disturbances until the time is up.
#
# A round moves all indexes of the table t to another tablespace by live copy,
# under a mixed load with vacuum on, while at random: checkpoints, vacuums, an
# index is created concurrently, moves are cancelled, and (SOAK_CRASH) the
# server is ended hard.  After each round every index is compared with its
# table, and the files on disk with pg_class; the load goes on meanwhile.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../t";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);
use TsaTest;

my $until = time + $ENV{SOAK_SECONDS};
my @tablespaces = qw(slow fast pg_default);
my %count = map { $_ => 0 }
  qw(rounds cancels crashes checkpoints vacuums builds retries);
my $load;

srand $ENV{SOAK_SEED};

my $node = new_node('soak');
$node->start;
prepare_node($node);
fill_table($node, 6000);

sub chance { return rand() < $_[0]; }

sub begin_load
{
	unlink $node->basedir . '/load.sql';
	$load = start_load($node);
	return;
}

sub unfinished
{
	return $node->safe_psql('postgres', q{
		SELECT job_id FROM tablespace_moves
		WHERE state IN ('queued', 'running', 'paused') ORDER BY job_id});
}

# Kills the worker, the checkpointer or the postmaster, or shuts down at once;
# brings the server and the load back.  False if there was nobody to kill.
sub crash_server
{
	my $how = int(rand 4);

	if ($how == 0)
	{
		crash($node);
	}
	elsif ($how == 1)
	{
		my @pids = split /\n/, $node->safe_psql('postgres',
			'SELECT pid FROM pg_stat_activity');

		# its children go when they notice; until then there is no starting
		$node->kill9;
		for (my $tries = 0; grep { kill 0, $_ } @pids; $tries++)
		{
			die 'the server does not end' if $tries == 600;
			sleep 0.1;
		}
		$node->start;
	}
	else
	{
		my $victim = $node->safe_psql('postgres', $how == 2
			? "SELECT worker_pid FROM tablespace_advisor.job WHERE state = 'running'"
			: "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");

		return 0 if $victim !~ /^\d+$/ || !kill 'KILL', $victim;
		# all sessions end, then the server recovers
		$node->poll_query_until('postgres', "SELECT count(*) = 0
			FROM pg_stat_activity WHERE application_name = 'pgbench'")
		  or die 'the server does not come back';
	}
	$count{crashes}++;
	$load->{harness}->kill_kill;
	begin_load();
	return 1;
}

# One thing at random while moves are under way; the server may be ended in
# rounds that build no index, since an unfinished build leaves its file.
sub disturb
{
	my ($builds) = @_;
	my $what = rand();

	if ($what < 0.15)
	{
		$node->safe_psql('postgres', 'CHECKPOINT');
		$count{checkpoints}++;
	}
	elsif ($what < 0.3)
	{
		$node->safe_psql('postgres', 'VACUUM t');
		$count{vacuums}++;
	}
	elsif ($what < 0.4 && $builds)
	{
		$node->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY soak ON t (b, k)',
			timeout => 180);
		$node->safe_psql('postgres', 'DROP INDEX CONCURRENTLY soak');
		$count{builds}++;
	}
	elsif ($what < 0.5)
	{
		my ($job) = split /\n/, unfinished();
		$count{cancels}++ if $job && $node->safe_psql('postgres',
			"SELECT cancel_move($job)") eq 't';
	}
	elsif ($what < 0.56 && !$builds && $ENV{SOAK_CRASH})
	{
		return crash_server();
	}
	return 0;
}

sub move_all
{
	my ($tablespace) = @_;
	my $builds = !$ENV{SOAK_CRASH} || chance(0.5);
	my $rate = chance(0.3) ? 'NULL' : "'" . (1 + int(rand 8)) . " MB'";
	my $crashed = 0;

	start_move($node, 't', $tablespace, "method => 'copy', max_rate => $rate");
	while (!$crashed && unfinished() ne '')
	{
		sleep rand(0.5);
		$crashed = disturb($builds);
	}
	# a call settles what died; then everything moves after all
	if ($crashed)
	{
		$node->safe_psql('postgres', q{
			SELECT cancel_move(job_id) FROM tablespace_moves
			WHERE state IN ('queued', 'running', 'paused')});
		is(unfinished(), '', 'what died is settled');
		move($node, 't', $tablespace, "method => 'copy'");
		is(tablespaces_of($node, 't'), $tablespace, 'and moves again');
		return;
	}
	my $failed = $node->safe_psql('postgres', q{
		SELECT job_id FROM tablespace_moves
		WHERE state IN ('failed', 'cancelled') ORDER BY job_id DESC LIMIT 1});
	if ($failed && chance(0.5))
	{
		my $job = $node->safe_psql('postgres', "SELECT retry_move($failed)");
		$count{retries}++;
		wait_for_job($node, $job);
	}
	return;
}

begin_load();
while (time < $until)
{
	my $name = 'round ' . ++$count{rounds};

	move_all($tablespaces[ $count{rounds} % 3 ]);
	check_content($node, $name);
	check_orphans($node, $name);
	note "$name: ", join ', ', map { "$count{$_} $_" } sort keys %count;
}
$load->{harness}->kill_kill;

is($node->safe_psql('postgres', q{
	SELECT DISTINCT coalesce(error, 'no reason') FROM tablespace_moves
	WHERE state = 'failed' AND error !~ 'worker ended unexpectedly'}),
	'', 'no move failed for another reason than the end of the server');

diag "tally: ", join ', ', map { "$count{$_} $_" } sort keys %count;
diag $node->safe_psql('postgres', q{
	SELECT format('moves %s: %s (%s passes, lock p50 %s ms, max %s ms)', state,
		count(*), sum(passes),
		round((percentile_cont(0.5) WITHIN GROUP (ORDER BY lock_ms))::numeric, 2),
		round(max(lock_ms)::numeric, 2))
	FROM tablespace_moves GROUP BY state ORDER BY state});
my $failures = grep { !$_ } Test::More->builder->summary;
diag "verifications: ", Test::More->builder->current_test, ", failures: $failures";

$node->stop('fast');
done_testing();
