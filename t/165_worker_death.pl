# Copyright (c) 2026, The tablespace_advisor developers

# A worker that dies takes its running job along; another one takes over what is
# queued.  It is started by the caller that waits, by the next call, or by the
# launcher.  And a worker that works at full speed notices that the postmaster
# is dead.
#
# Earlier tests that ended a worker had one job in its batch, or expected the
# others to fail.

use Time::HiRes qw(usleep);
use TsaTest;

my $node = start_node('main', conf => q{
autovacuum = off
restart_after_crash = on
});
make_users($node);
$node->safe_psql('postgres', q{
	DO $$
	BEGIN
		FOR i IN 1 .. 4 LOOP
			EXECUTE format('CREATE TABLE t%s TABLESPACE slow AS SELECT g AS a FROM generate_series(1, 20000) g', i);
		END LOOP;
	END
	$$});

# Queues a move of all four, whose first is stopped; the process that moves it.
sub begin_batch
{
	my ($s) = @_;

	stop_at($node, 'copied');
	send_to($s, q{CALL evacuate_tablespace('slow', 'fast');});
	wait_for_stop($node, 'copied');
	return $node->safe_psql('postgres', q{SELECT worker_pid FROM tablespace_advisor.job WHERE state = 'running'});
}

# Terminates a stopped worker, and waits until another one has stopped.
sub replace_worker
{
	my ($pid) = @_;

	$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	wait_until($node, qq{EXISTS (SELECT FROM pg_stat_activity
		WHERE query = 'live copy stopped at: copied' AND pid <> $pid)}, 'another worker takes over');
	return;
}

# States of the last batch's jobs, in their order.
sub states
{
	return $node->safe_psql('postgres', q{
		SELECT string_agg(state, ' ' ORDER BY job_id) FROM tablespace_moves WHERE batch_id =
			(SELECT max(batch_id) FROM tablespace_moves)});
}

sub check_rows
{
	my ($name) = @_;

	is($node->safe_psql('postgres', join ' UNION ALL ',
			map { "SELECT count(*), sum(a) FROM t$_" } 1 .. 4),
		join("\n", ('20000|200010000') x 4), "$name: no row is lost");
	check_orphans($node, $name);
	check_locks($node, $name);
	$node->safe_psql('postgres', join ';', map { "ALTER TABLE t$_ SET TABLESPACE slow" } 1 .. 4);
	return;
}

# --- a worker that is terminated, and a caller that waits ----------------------------

my $s = session($node);
my $pid = begin_batch($s);
replace_worker($pid);
release($node);
answer($s);
end_session($s);
is(states(), 'failed done done done', 'terminated: the running job fails, the others are done');
is($node->safe_psql('postgres', q{SELECT error FROM tablespace_moves WHERE state = 'failed'}),
	"the move's background worker ended unexpectedly", 'terminated: the reason');
is($node->safe_psql('postgres', q{SELECT count(DISTINCT worker_pid), sum(takeovers) FROM tablespace_advisor.job}),
	'2|1', 'terminated: one other worker did the rest');
wait_for_workers($node);
check_rows('terminated');

# The same for a user with a limit: the worker counts.
$node->safe_psql('postgres', join ';', map { "ALTER TABLE t$_ OWNER TO mallory" } 1 .. 4);
$s = session($node, user => 'mallory');
$pid = begin_batch($s);
replace_worker($pid);
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
		AND classid = 'mallory'::regrole AND objsubid > 2 AND mode = 'ShareLock'}),
	'1', 'a worker that takes over counts for the user whose call it was');
release($node);
answer($s);
end_session($s);
is(states(), 'failed done done done', 'terminated: jobs of a user are taken over');
wait_for_workers($node);
check_rows('a user');
$node->safe_psql('postgres', join ';', map { "ALTER TABLE t$_ OWNER TO postgres" } 1 .. 4);

# --- a crash, and the next call ------------------------------------------------------

$s = session($node);
$pid = begin_batch($s);
crash($node, $pid);
release($node);
eval { $s->{run}->finish };
is(states(), 'running queued queued queued', 'crash: the journal is as it was');
is($node->safe_psql('postgres', q{SELECT cancel_move(max(job_id)) FROM tablespace_moves}), 't',
	'crash: a queued job is cancelled');
is(states(), 'failed queued queued cancelled', 'crash: to cancel one job begins no other');
is($node->safe_psql('postgres', q{SELECT wait_for_moves(array_agg(job_id)) FROM tablespace_moves}), 't',
	'crash: whoever waits for the moves waits for their end');
is(states(), 'failed done done cancelled', 'crash: the call that waits has started a worker');
wait_for_workers($node);
check_rows('crash');

# --- a worker that cannot be had ---------------------------------------------------------

# Whoever is next in vain fails after a few workers, and so does each behind it.
$s = session($node);
$pid = begin_batch($s);
$node->safe_psql('postgres', q{
	CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN RAISE EXCEPTION ''in vain''; END';
	CREATE TRIGGER fail BEFORE UPDATE ON tablespace_advisor.job FOR EACH ROW
		WHEN (OLD.state = 'queued' AND NEW.state = 'running' AND NEW.relation_name = 't2')
		EXECUTE FUNCTION fail()});
replace_worker($pid);
release($node);
answer($s);
end_session($s);
is(states(), 'failed failed done done', 'a job that several workers die of fails, and no other');
$node->safe_psql('postgres', 'DROP TRIGGER fail ON tablespace_advisor.job');
wait_for_workers($node);
check_rows('in vain');

# --- the start of a transaction ----------------------------------------------------------

# What monitoring looks at: the mover's transactions are short ones.
my $job = start_stopped_table_move($node, 'storage made', 't1', 'fast', q{max_rate => '100 kB'});
release($node);
wait_until_job($node, $job, 'bytes_done > 0');
my $begun = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
ok($node->poll_query_until('postgres', qq{SELECT xact_start > '$begun' FROM pg_stat_activity
		WHERE pid = } . worker_pid($node, $job)), 'the start of a transaction is not that of the job');
$node->safe_psql('postgres', "SELECT cancel_move($job)");
wait_for_workers($node);

# --- the launcher ----------------------------------------------------------------------

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'tablespace_advisor'\n");
$node->restart;
$s = session($node);
begin_batch($s);
$node->append_conf('postgresql.conf', "tablespace_advisor.debug_stop_at = ''\n");
crash($node);
eval { $s->{run}->finish };
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM tablespace_moves
		WHERE state IN ('queued', 'running')}), 'the launcher has the others moved');
is(states(), 'failed done done done', 'the launcher: the running job fails, the others are done');
wait_for_workers($node);
check_rows('the launcher');

# --- the postmaster ------------------------------------------------------------------------

# The processes of the server, by the directory that they work in.
sub processes
{
	my $data = $node->data_dir;

	return grep { (readlink("/proc/$_/cwd") // '') eq $data }
	  map { m{^/proc/(\d+)$} ? $1 : () } glob '/proc/[0-9]*';
}

# Kills the postmaster, and waits until all of its processes have ended.
sub kill_postmaster
{
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;

	$node->kill9;
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		# until its parent has waited for it, the server takes it for alive
		return 1 if !processes() && !kill 0, $postmaster;
		usleep(100_000);
	}
	return 0;
}

# A function that never waits: the server's own code, with nothing of ours in it.
$node->safe_psql('postgres', q{
	CREATE FUNCTION busy(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN
		WHILE current_setting('application_name') = '' LOOP
		END LOOP;
		RETURN a;
	END $$;
	CREATE UNLOGGED TABLE small AS SELECT 1 AS a;
	CREATE INDEX small_busy ON small (busy(a)) TABLESPACE slow});
$job = start_move($node, 'small_busy', 'fast');
wait_until($node, q{EXISTS (SELECT FROM pg_class WHERE relname = 'small_busy_ccnew')}, 'a rebuild');
ok(kill_postmaster(), 'a worker at full speed ends with the postmaster');
ok($node->start(fail_ok => 1), 'the server starts again after the death of the postmaster');
$node->safe_psql('postgres', "SELECT wait_for_moves('{$job}')");
is(job_field($node, $job, 'state'), 'failed', 'what was under way when the postmaster died is not done');

$node->stop;
done_testing();
