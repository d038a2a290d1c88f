# Copyright (c) 2026, The tablespace_advisor developers

# What bench/soak --kill runs: a move, and then somebody dies of kill -9, again
# and again.
#
# Each time, at random: what moves and how (an index or a table with its indexes
# by live copy, an index by rebuild, a partitioned table, small indexes); when
# (at a point of the copy's protocol, while it pauses, or after some time); who
# is killed (the worker, the caller that waits, the checkpointer, the
# postmaster), and what happens to the journal and the files then: a call,
# DROP EXTENSION, ALTER DATABASE SET TABLESPACE, CREATE DATABASE from a template.
# A load changes the table until the server goes down.
#
# After each, rows, indexes, TOAST and visibility maps are compared as in
# bench/soak.pl, and so are files and locks; what did not move moves then.  Files
# that the transaction had made which the crash ended are counted: they stay, as
# those of CREATE TABLE or ALTER INDEX do; empty ones, or one of a small index.

use FindBin;
use lib $FindBin::RealBin;
use IPC::Run ();
use SoakTest;
use Time::HiRes qw(sleep time);
use TsaTest;

my @points = (
	'storage made', 'storage created', 'copied', 'followed', 'fsm copied', 'window',
	'switched', 'old file truncated');
my @small_points = ('small window', 'small switched');
my @methods = qw(index table table rebuild partitioned small);
my @victims = qw(worker worker caller postmaster checkpointer);
my @afterwards = ('call', 'call', 'drop extension', 'alter database', 'create database');
my %count;
my ($load, $sums);

srand $ENV{SOAK_SEED};

# small indexes have a way of their own, but under wal_level minimal
my $node = start_node('kill', conf => "autovacuum = off\nwal_level = replica\nauthentication_timeout = 10min\n");
fill_table($node, 3000);
add_documents($node);
$node->safe_psql('postgres', q{
	CREATE TABLESPACE third LOCATION '';
	CREATE TABLE s (a int PRIMARY KEY, b int, c int);
	INSERT INTO s SELECT i, i % 10, i % 100 FROM generate_series(1, 500) i;
	CREATE TABLE parted (a int PRIMARY KEY, b text) PARTITION BY RANGE (a);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (1000);
	CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
	INSERT INTO parted SELECT i, repeat('x', i % 50) FROM generate_series(1, 3000) i;
	CREATE INDEX parted_b ON parted (b);
	VACUUM ANALYZE});
$node->safe_psql('postgres', "CREATE INDEX s_$_ ON s (b, c)") foreach 1 .. 30;
$sums = sums();

# What s and parted hold; nobody changes them.
sub sums
{
	return $node->safe_psql('postgres', q{
		SELECT sum(hashtextextended(s::text, 0)), count(*) FROM s;
		SELECT sum(hashtextextended(p::text, 0)), count(*) FROM parted p});
}

sub begin_load
{
	unlink $node->basedir . '/load.sql';
	$load = start_load($node, rate => 100);
	return;
}

# Waits until nobody is left in the database, or nobody of some kind.
sub wait_until_alone
{
	my ($kind) = @_;
	my $of = defined $kind ? "AND backend_type = '$kind'" : '';

	foreach my $try (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return if $node->safe_psql('template1', qq{
			SELECT count(*) FROM pg_stat_activity WHERE datname = 'postgres' $of}) eq '0';
		sleep 0.1;
	}
	die 'somebody stays in the database';
}

sub move_call
{
	my ($method, $to) = @_;
	my $index = one_of(qw(t_pkey t_k t_u t_hash t_gin t_gist t_spgist t_brin),
		$method eq 'index' ? 't_excl' : ());
	my $rate = ", max_rate => '" . (chance(0.3) ? '2 MB' : 'unlimited') . "'";

	return "CALL move_table_concurrently('t', '$to', with_indexes => true$rate)"
	  if $method eq 'table';
	return "CALL move_table_concurrently('parted', '$to', with_indexes => true)"
	  if $method eq 'partitioned';
	return "CALL move_indexes_concurrently('s', '$to')" if $method eq 'small';
	return "CALL move_indexes_concurrently('$index', '$to', method => 'rebuild')"
	  if $method eq 'rebuild';
	return "CALL move_indexes_concurrently('$index', '$to', method => 'copy'$rate)";
}

# Waits until a copy stops; false if all has ended without.
sub stopped
{
	my ($point) = @_;

	my $until = time + $PostgreSQL::Test::Utils::timeout_default;

	for (my $try = 0; time < $until; $try++)
	{
		my $state = $node->safe_psql('postgres', qq{
			SELECT CASE WHEN EXISTS (SELECT FROM pg_stat_activity
					WHERE query = 'live copy stopped at: $point') THEN 'stopped'
				WHEN EXISTS (SELECT FROM tablespace_moves
					WHERE state IN ('queued', 'running', 'paused')) THEN 'moving'
				ELSE 'over' END});

		return 1 if $state eq 'stopped';
		return 0 if $state eq 'over' && $try > 20;
		sleep 0.05;
	}
	diag "neither stops at '$point' nor ends";
	return 0;
}

# Starts the move and brings it to where somebody is to be killed.
sub begin_move
{
	my ($call, $when) = @_;
	my %caller = (out => '', err => '');

	stop_at($node, $when eq 'followed' || $when eq 'paused' ? 'copied' : $when)
	  if $when ne 'time';
	$caller{run} = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $call ],
		'<', '/dev/null', '>', \$caller{out}, '2>', \$caller{err});
	if ($when eq 'time')
	{
		sleep rand(1.2);
		return \%caller;
	}
	if ($when eq 'followed' || $when eq 'paused')
	{
		if (stopped('copied') && $when eq 'followed')
		{
			# the load may be in a deadlock with it
			1 while $node->psql('postgres', 'UPDATE t SET h = h + 1') != 0;
			stop_at($node, 'followed');
		}
		elsif ($when eq 'paused')
		{
			$node->safe_psql('postgres', q{
				SELECT pause_move(job_id) FROM tablespace_moves WHERE state = 'running'});
			release($node);
			$node->poll_query_until('postgres', q{
				SELECT count(*) = 0 FROM tablespace_moves WHERE state = 'running'})
			  or die 'the move does not pause';
			return \%caller;
		}
	}
	stopped($when);
	return \%caller;
}

# Kills; brings the server back.  False if there was nobody to kill.
sub kill_one
{
	my ($victim) = @_;

	if ($victim eq 'postmaster')
	{
		kill_postmaster($node);
		return 1;
	}
	my $pid = $node->safe_psql('template1',
		$victim eq 'worker' ? q{SELECT pid FROM pg_stat_activity
			WHERE backend_type = 'tablespace_advisor move' LIMIT 1}
		: $victim eq 'caller' ? q{SELECT pid FROM pg_stat_activity
			WHERE query LIKE 'CALL move%' AND backend_type = 'client backend' LIMIT 1}
		: q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'});

	return kill_process($node, $pid);
}

# A job that failed, repeated; the extension may be another one by now.
sub recover
{
	my ($name) = @_;

	$node->safe_psql('postgres', q{
		SELECT cancel_move(job_id) FROM tablespace_moves
		WHERE state IN ('queued', 'running', 'paused')});
	is($node->safe_psql('postgres', q{
			SELECT count(*) FROM tablespace_moves
			WHERE state IN ('queued', 'running', 'paused')}), '0', "$name: no job is left");
	return;
}

# Files without a relation, but for those of a transaction that a crash has ended
# while it made storage: they are removed here.
sub check_files
{
	my ($name, $when, $dbname) = @_;
	my $most = $when =~ /small|time/ ? 64 * 8192 : $when eq 'storage made' ? 0 : -1;
	my $orphans = '';

	foreach my $try (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		# what a checkpoint removes goes with the first ones
		$orphans = $node->safe_psql($dbname // 'postgres', q{
			CHECKPOINT;
			SELECT f, (pg_stat_file(f, true)).size FROM tsa_orphans() f});
		last if $orphans eq '';
		if ($try > 20 && !grep { /\|(\d+)$/ && $1 > $most } split /\n/, $orphans)
		{
			$count{'files of the transaction that a crash ended'} += unlink
			  map { $node->data_dir . '/' . s/\|.*//r } split /\n/, $orphans;
			$orphans = '';
			last;
		}
		sleep 0.1;
	}
	is($orphans, '', "$name: no orphaned file");
	return;
}

sub afterwards
{
	my ($what, $name, $when) = @_;

	wait_until_alone() if $what =~ /database/;
	if ($what eq 'drop extension')
	{
		$node->safe_psql('postgres', 'DROP EXTENSION tablespace_advisor');
		check_files("$name: $what", $when);
		$node->safe_psql('postgres', 'CREATE EXTENSION tablespace_advisor');
	}
	elsif ($what eq 'alter database')
	{
		$node->safe_psql('template1', 'ALTER DATABASE postgres SET TABLESPACE third');
		recover("$name: $what");
		check_files("$name: $what", $when);
		wait_until_alone();
		$node->safe_psql('template1', 'ALTER DATABASE postgres SET TABLESPACE pg_default');
	}
	elsif ($what eq 'create database')
	{
		$node->safe_psql('template1', 'CREATE DATABASE twin TEMPLATE postgres STRATEGY file_copy');
		$node->safe_psql('twin', q{CALL move_indexes_concurrently('s_1', 'third')});
		check_files("$name: $what", $when, 'twin');
		$node->safe_psql('template1', 'DROP DATABASE twin (FORCE)');
	}
	recover("$name: $what");
	return;
}

# An invalid index of a rebuild that was killed is the next worker's to drop,
# if the journal that knows of it is still there.
sub drop_transient
{
	my $names = $node->safe_psql('postgres', q{
		SELECT string_agg(indexrelid::regclass::text, ', ') FROM pg_index
		WHERE NOT indisvalid AND indrelid = 't'::regclass});

	return if $names eq '';
	$count{'invalid indexes after DROP EXTENSION'}++;
	$node->safe_psql('postgres', "DROP INDEX $names");
	return;
}

my $end = $ENV{SOAK_SECONDS} ? time + $ENV{SOAK_SECONDS} : 0;
while (($count{kills} // 0) < $ENV{SOAK_KILLS} && (!$end || time < $end))
{
	my $method = one_of(@methods);
	my $when =
		$method eq 'rebuild' || $method eq 'partitioned' || chance(0.25) ? 'time'
	  : $method eq 'small' ? one_of(@small_points)
	  : one_of(@points, 'paused');
	my $victim = one_of(@victims);
	my $what = one_of(@afterwards);
	my $to = one_of(qw(slow fast pg_default));
	my $call = move_call($method, $to);
	my $name = 'kill ' . (($count{kills} // 0) + 1) . " ($method, $when, $victim, $what)";

	begin_load();
	my $caller = begin_move($call, $when);
	my $killed = kill_one($victim);
	$load->{harness}->kill_kill;
	$caller->{run}->kill_kill;
	release($node);
	# a caller may have come after the restart, or has been read, but not run yet
	wait_until_alone('client backend');
	if ($killed)
	{
		$count{$_}++ foreach 'kills', $method, "at $when", $victim, $what;
		note $name;
		afterwards($what, $name, $when);
		check_files($name, $when);
	}
	else
	{
		# there was nobody yet, or nobody any more
		wait_until($node, q{NOT EXISTS (SELECT FROM tablespace_moves
			WHERE state IN ('queued', 'running', 'paused'))}, 'the move ends');
	}
	my ($rc, undef, $err) = $node->psql('postgres', $call =~ s/, max_rate[^)]*//r,
		timeout => $PostgreSQL::Test::Utils::timeout_default);
	is($rc, 0, "$name: then it moves") or diag $err;
	$node->poll_query_until('postgres', q{
		SELECT count(*) = 0 FROM pg_stat_activity
		WHERE backend_type = 'tablespace_advisor move'})
	  or fail("$name: a worker does not end");
	drop_transient() if $what eq 'drop extension';
	check_table($node, $name);
	wait_for_workers($node);
	check_locks($node, $name);
	check_files($name, 'the end');
	is(sums(), $sums, "$name: other rows are right");
	is($node->safe_psql('postgres', q{
			SELECT count(bt_index_parent_check(indexrelid, true)::text) FROM pg_index
			WHERE indrelid IN ('s'::regclass, 'parted_1'::regclass, 'parted_2'::regclass)}),
		'35', "$name: so are their indexes");
	# dead rows would make each move longer than the one before
	my $full = $node->safe_psql('postgres',
		q{SELECT CASE WHEN pg_table_size('t') > 64 * 1048576 THEN 'FULL' END});
	$node->safe_psql('postgres', "VACUUM $full t");
}

diag "kills: ", join ', ', map { "$count{$_} $_" } sort keys %count;
my $failures = grep { !$_ } Test::More->builder->summary;
diag "verifications: ", Test::More->builder->current_test, ", failures: $failures";
unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|signal (?:6|11)\b/,
	'no crash but those that were asked for');

$node->stop('fast');
done_testing();
