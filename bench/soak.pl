# Copyright (c) 2026, The tablespace_advisor developers

# What bench/soak runs: rounds of moves with disturbances until the time is up.
#
# A round moves all indexes of the table t, or the table with its TOAST table,
# or all of them, to another tablespace by live copy, under a mixed load with
# vacuum on, while at random: checkpoints, vacuums that freeze or truncate, an
# index is created or rebuilt concurrently, the table is altered, rewritten or
# truncated and filled again, moves are cancelled, and (SOAK_CRASH) the server
# is ended hard.
#
# After each round every index is compared with its table, the table with its
# mirror, heap and visibility map with what amcheck and pg_visibility say of
# them, the files on disk with pg_class, and no lock may be left.  The load goes on meanwhile.

use FindBin;
use lib $FindBin::RealBin;
use SoakTest;
use Time::HiRes qw(sleep time);
use TsaTest;

my $until = time + $ENV{SOAK_SECONDS};
my @tablespaces = qw(slow fast pg_default);
my %count = map { $_ => 0 }
  qw(rounds cancels crashes checkpoints vacuums builds rewrites ddl retries
  index_moves table_moves);
my $load;
my $load_began;
my $rewrites_left;

# What else is done to t; all of it keeps its rows.
my @vacuums = (
	'VACUUM t', 'VACUUM (FREEZE) t', 'VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) t',
	'VACUUM (INDEX_CLEANUP on, TRUNCATE on) t', 'ANALYZE t');
my @ddl = (
	'BEGIN; GRANT SELECT ON t TO pg_monitor; SELECT pg_sleep(0.3); COMMIT',
	'ALTER TABLE t ALTER k SET STATISTICS 50',
	'ALTER TABLE t SET (fillfactor = 90); ALTER TABLE t SET (fillfactor = 80)',
	'BEGIN; LOCK TABLE t; SELECT pg_sleep(0.05); COMMIT',
	'BEGIN; TRUNCATE t; ROLLBACK',
	"SELECT brin_summarize_new_values('t_brin')",
	'BEGIN; SELECT count(*) FROM t; SELECT pg_sleep(0.5); COMMIT');
my @rewrites = (
	'ALTER TABLE t ALTER note TYPE int USING note + 0', 'VACUUM FULL t', 'CLUSTER t', 'REINDEX INDEX t_gin', 'REINDEX TABLE t',
	'REINDEX INDEX CONCURRENTLY t_u', q{
		BEGIN;
		LOCK TABLE t;
		SET LOCAL session_replication_role = replica;
		CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT * FROM t;
		TRUNCATE t;
		INSERT INTO t SELECT * FROM kept;
		COMMIT});

srand $ENV{SOAK_SEED};

my $node = start_node('soak');
fill_table($node, 6000);
add_documents($node);

sub begin_load
{
	unlink $node->basedir . '/load.sql';
	$load = start_load($node, rate => 150);
	$load_began = time;
	return;
}

# pgbench ends by itself after ten minutes.  Nothing that happens here but the
# end of the server may make a client fail.
sub renew_load
{
	my ($name) = @_;

	$load->{harness}->pump_nb;
	unlike($load->{err}, qr/abort|error|fatal/i, "$name: no client failed");
	return if $load->{harness}->pumpable && time < $load_began + 400;
	stop_load($load, $name) if $load->{harness}->pumpable;
	begin_load();
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
		kill_postmaster($node);
	}
	else
	{
		my $victim = $node->safe_psql('postgres', $how == 2
			? "SELECT worker_pid FROM tablespace_advisor.job WHERE state = 'running'"
			: "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");

		return 0 if !kill_process($node, $victim);
	}
	$count{crashes}++;
	$load->{harness}->kill_kill;
	begin_load();
	return 1;
}

# Empties the last pages of t, rows that nobody has locked, so that VACUUM can
# truncate the file.
sub empty_the_end
{
	$node->safe_psql('postgres', q{
		DELETE FROM t WHERE ctid = ANY (ARRAY(
			SELECT ctid FROM t WHERE ctid >= format('(%s,0)',
				pg_relation_size('t') / 8192 * 9 / 10)::tid
			FOR UPDATE SKIP LOCKED))});
	$node->safe_psql('postgres', 'VACUUM (TRUNCATE on) t');
	return;
}

# One thing at random while moves are under way; the server may be ended in
# rounds that build no index and rewrite nothing, since an unfinished build
# leaves its file.
sub disturb
{
	my ($builds) = @_;
	my $what = rand();

	if ($what < 0.1)
	{
		$node->safe_psql('postgres', 'CHECKPOINT');
		$count{checkpoints}++;
	}
	elsif ($what < 0.25)
	{
		$node->safe_psql('postgres', one_of(@vacuums), timeout => 180);
		$count{vacuums}++;
	}
	elsif ($what < 0.28)
	{
		empty_the_end();
		$count{vacuums}++;
	}
	elsif ($what < 0.35)
	{
		$node->safe_psql('postgres', one_of(@ddl), timeout => 180);
		$count{ddl}++;
	}
	elsif ($what < 0.4 && $builds)
	{
		$node->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY soak ON t (b, k)',
			timeout => 180);
		$node->safe_psql('postgres', 'DROP INDEX CONCURRENTLY soak');
		$count{builds}++;
	}
	elsif ($what < 0.43 && $builds && $rewrites_left > 0)
	{
		$rewrites_left--;
		$node->safe_psql('postgres', one_of(@rewrites), timeout => 180);
		$count{rewrites}++;
	}
	elsif ($what < 0.47)
	{
		my ($job) = split /\n/, unfinished();
		$count{cancels}++ if $job && $node->safe_psql('postgres',
			"SELECT cancel_move($job)") eq 't';
	}
	elsif ($what < 0.65 && !$builds && $ENV{SOAK_CRASH})
	{
		return crash_server();
	}
	return 0;
}

# Queues or does the move of a round: of the indexes or of the table.
sub call_move
{
	my ($what, $tablespace, $more) = @_;

	$node->safe_psql('postgres', $what eq 'indexes'
		? "CALL move_indexes_concurrently('t', '$tablespace', method => 'copy', $more)"
		: "CALL move_table_concurrently('t', '$tablespace', method => 'copy', "
		  . "with_indexes => $what, $more)",
		timeout => 300);
	return;
}

# Where what a round moves is.
sub place_of
{
	my ($what) = @_;
	my $table = $node->safe_psql('postgres', q{
		SELECT string_agg(DISTINCT coalesce(s.spcname, 'pg_default'), ' ')
		FROM pg_class c JOIN pg_class t ON c.oid IN (t.oid, t.reltoastrelid)
			LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE t.oid = 't'::regclass});
	my $indexes = tablespaces_of($node, 't');

	return $what eq 'indexes' ? $indexes : $table if $what ne 'true';
	return $table eq $indexes ? $table : "$table, indexes in $indexes";
}

# what: 'indexes', or whether the table takes its indexes along.
sub move_all
{
	my ($what, $tablespace) = @_;
	my $builds = !$ENV{SOAK_CRASH} || chance(0.4);
	my $rate = chance(0.3) ? 'NULL' : "'" . (1 + int(rand 8)) . " MB'";
	my $crashed = 0;

	# a copy starts over at most three times
	$rewrites_left = 1;
	call_move($what, $tablespace, "max_rate => $rate, wait => false");
	while (!$crashed && unfinished() ne '')
	{
		sleep rand(0.5);
		$crashed = disturb($builds);
	}
	# a call recovers what died; then everything moves after all
	if ($crashed)
	{
		$node->safe_psql('postgres', q{
			SELECT cancel_move(job_id) FROM tablespace_moves
			WHERE state IN ('queued', 'running', 'paused')});
		is(unfinished(), '', 'what died is recovered');
		check_orphans($node, 'what died');
		call_move($what, $tablespace, 'wait => true');
		is(place_of($what), $tablespace, 'and moves again');
		return;
	}
	my $failed = $node->safe_psql('postgres', q{
		SELECT job_id FROM tablespace_moves
		WHERE state IN ('failed', 'cancelled') ORDER BY job_id DESC LIMIT 1});
	if ($failed && chance(0.5))
	{
		my $job = $node->safe_psql('postgres', "SELECT retry_move($failed)");
		$count{retries}++;
		# none, if it has been moved there since
		wait_for_job($node, $job) if $job ne '';
	}
	return;
}

begin_load();
while (time < $until)
{
	my $name = 'round ' . ++$count{rounds};

	my $what = one_of('indexes', 'true', 'true', 'false');

	move_all($what, $tablespaces[ $count{rounds} % 3 ]);
	$count{ $what eq 'indexes' ? 'index_moves' : 'table_moves' }++;
	check_table($node, $name);
	wait_for_workers($node);
	check_locks($node, $name);
	check_orphans($node, $name);
	renew_load($name);
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
