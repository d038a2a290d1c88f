# Copyright (c) 2026, The tablespace_advisor developers

# What bench/interrupted --gigabytes runs: how much longer a move takes that is
# interrupted ten times, at even distances, while nobody else uses the server.

use FindBin;
use lib $FindBin::RealBin;
use SoakTest;
use Time::HiRes qw(sleep time);
use TsaTest;

my $bytes = $ENV{GIGABYTES} * 1024 * 1024 * 1024;
my $times = 10;
my $node = start_node('large', conf => q{
shared_preload_libraries = 'tablespace_advisor'
wal_level = replica
shared_buffers = 256MB
max_wal_size = 1GB
autovacuum = off
tablespace_advisor.min_wal_space = 0
tablespace_advisor.keep_interrupted = 1d
});
my @ends = (
	[ 'worker terminated', sub { $node->safe_psql('postgres', "SELECT pg_terminate_backend($_[0], 60000)") } ],
	[ 'worker killed', sub { kill_process($node, $_[0]) } ],
	[ 'fast shutdown', sub { $node->restart } ],
	[ 'immediate shutdown', sub { $node->stop('immediate'); $node->start } ],
	[ 'postmaster killed', sub { kill_postmaster($node) } ]);

# Four rows to a page.
$node->safe_psql('postgres', q{
	CREATE TABLE big (id bigint, c text);
	ALTER TABLE big ALTER c SET STORAGE PLAIN;
	INSERT INTO big SELECT i, repeat('x', 1950) FROM generate_series(1, } . int($bytes / 2048) . q{) i;
	VACUUM big;
	CHECKPOINT});

# The job's row, or nothing while the server is down.
sub look
{
	my ($job, $what) = @_;
	my ($rc, $out) = $node->psql('postgres', "SELECT $what FROM tablespace_moves WHERE job_id = $job");

	return $rc == 0 ? $out : '';
}

# Moves the table to a tablespace; how long that took, and what of it the server
# was down.
sub run_move
{
	my ($to, $interruptions) = @_;
	my $name = "$interruptions interruptions";
	my $down = 0;

	$node->safe_psql('postgres', 'CHECKPOINT');
	my $began = time;
	my ($job) = $node->safe_psql('postgres',
		"CALL move_table_concurrently('big', '$to', max_rate => 'unlimited', wait => false)") =~ /(\d+)/;
	for my $i (1 .. $interruptions)
	{
		my ($pid, $last) = ('', time);

		until ($pid =~ /^\d+$/)
		{
			die 'no progress' if time - $last > 600;
			sleep 0.1;
			$pid = look($job, "CASE WHEN state = 'running' AND pid IN (SELECT pid FROM pg_stat_activity) AND bytes_done >= $i / ($interruptions + 1.0) * bytes_total THEN pid::text
				WHEN state IN ('done', 'failed') THEN state END");
			die "$name: it has ended" if $pid =~ /done|failed/;
		}
		my $end = $ends[ $i % @ends ];
		my $stopped = time;
		$end->[1]->($pid);
		$node->poll_query_until('postgres', 'SELECT true');
		$down += time - $stopped;
	}
	$node->poll_query_until('postgres',
		"SELECT state IN ('done', 'failed', 'cancelled') FROM tablespace_moves WHERE job_id = $job") or die "$name: no end";
	my $took = time - $began;
	my ($state, $error, $count, $again, $total) = split /\|/, look($job, 'state, error, interruptions, blocks_again * 8192, bytes_total');
	is("$state $error", 'done ', "$name: it is done");
	is($count, $interruptions, "$name: all of them came");
	check_orphans($node, $name);
	diag sprintf '%s: %.1f s, of which down or recovering %.1f s; %.0f of %.0f MB again (%.1f %%)', $name, $took, $down,
	  $again / 1048576, $total / 1048576, 100 * $again / $total;
	return ($took, $down);
}

my ($first) = run_move('fast', 0);
my ($interrupted, $down) = run_move('slow', $times);
my ($last) = run_move('fast', 0);
is($node->safe_psql('postgres', q{SELECT count(*), sum(id), max(length(c)) FROM big}),
	join('|', int($bytes / 2048), int($bytes / 2048) * (int($bytes / 2048) + 1) / 2, 1950), 'nothing is lost');
diag sprintf 'interrupted %d times it takes %.2f times as long, %.2f times without the time in which the server is down or recovers', $times,
  2 * $interrupted / ($first + $last), 2 * ($interrupted - $down) / ($first + $last);
done_testing();
