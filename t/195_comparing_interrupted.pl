# Copyright (c) 2026, The tablespace_advisor developers

# A copy is interrupted while it is compared with the original: comparing counts as
# progress, goes on from where it was, and need not fit into one time window.  t/174
# interrupts it once; a move that was interrupted over ten times failed.

use TsaTest;

my $node = start_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
wal_level = replica
autovacuum = off
log_timezone = 'Asia/Kolkata'
tablespace_advisor.debug_mark_kb = 128
tablespace_advisor.keep_interrupted = 1d
});

make_toasted_table($node);
$node->safe_psql('postgres', 'VACUUM t');

sub content
{
	return $node->safe_psql('postgres', 'SELECT count(*), sum(hashtextextended(x::text, 0)) FROM t x');
}

sub interrupt
{
	my ($job) = @_;

	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid, 60000) FROM tablespace_moves WHERE job_id = $job");
	return;
}

# A move that has copied all, and whose next worker has only to compare, and stops
# at a point.
sub start_copied
{
	my ($to, $point, $max_rate) = @_;
	my $job = start_stopped_table_move($node, 'fsm copied', 't', $to, 'with_indexes => true');

	$node->safe_psql('postgres', "SELECT alter_move($job, max_rate => '$max_rate')");
	$node->append_conf('postgresql.conf', "tablespace_advisor.debug_stop_at = '$point'");
	$node->restart;
	wait_for_stop($node, $point);
	return $job;
}

sub compared
{
	my ($job) = @_;

	return $node->safe_psql('postgres', "SELECT max(bytes_compared) FROM tablespace_advisor.job_mark WHERE job_id = $job");
}

sub bytes_left
{
	my ($job) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT p.bytes_left FROM tablespace_advisor.job j, tablespace_advisor.copy_progress(j.job_id, j.progress_handle) p
		WHERE j.job_id = $job});
}

sub check_done
{
	my ($job, $interruptions, $before, $name) = @_;

	is(wait_for_job($node, $job), 'done', "$name: the move is done");
	is(job_field($node, $job, 'interruptions'), $interruptions, "$name: the move was interrupted so often");
	is(content(), $before, "$name: nothing is lost");
	is( $node->safe_psql('postgres',
			q{SELECT tsa_amcheck('t') || ' trees' UNION ALL SELECT tsa_heap_damage('t')}),
		'2 trees', "$name: table and indexes are well");
	check_orphans($node, $name);
	return;
}

# Half of the times with changes, in what has been compared and in what has not.
my $job = start_copied('fast', 'marked', 'none');
my $total = job_field($node, $job, 'bytes_total');
my $last = 0;
for my $n (1 .. 14)
{
	cmp_ok(compared($job), '>', $last, "interruption $n: comparing goes on from where it was");
	$last = compared($job);
	$node->safe_psql('postgres', "UPDATE t SET b = b + 1 WHERE a % 2000 = $n") if $n % 2;
	is( $node->safe_psql('postgres', "SELECT phase, percent >= 99 AND percent < 100 FROM tablespace_moves WHERE job_id = $job"),
		'comparing|t', "interruption $n: progress is shown");
	interrupt($job);
	wait_for_stop($node, 'marked');
	is(job_field($node, $job, 'interruptions'), $n + 1, "interruption $n: another worker");
}
is($node->safe_psql('postgres', "SELECT stalls FROM tablespace_advisor.job WHERE job_id = $job"), '0', 'comparing interrupted: the move is not stuck');

# There is an end to that: it may be the move that interrupts.
$node->safe_psql('postgres', "UPDATE tablespace_advisor.job_mark SET bytes_compared = bytes_compared + 21 * $total WHERE job_id = $job");
interrupt($job);
wait_for_stop($node, 'marked');
is($node->safe_psql('postgres', "SELECT stalls FROM tablespace_advisor.job WHERE job_id = $job"), '1',
	'what has been compared over and over does not count');
my $before = content();
release($node);
check_done($job, 16, $before, 'comparing interrupted');

# Always at the same place.
$job = start_copied('slow', 'compared', 'none');
for my $n (1 .. 11)
{
	interrupt($job);
	wait_for_stop($node, 'compared');
}
interrupt($job);
is(wait_for_job($node, $job), 'failed', 'a move that is always interrupted at the same place fails');
is($node->safe_psql('postgres', "SELECT detail FROM tablespace_moves WHERE job_id = $job"),
	'It was interrupted again and again before it had got any further.', 'always at the same place: the move says why it fails');
release($node);
check_orphans($node, 'always at the same place');

# A worker that ends before it has named the copy's files finds the marks of the one
# before it: what that one compared counts once.  The interruptions above all came
# later, so each worker had marks of its own.
$job = start_copied('slow', 'marked', 'none');
$node->append_conf('postgresql.conf', "tablespace_advisor.debug_stop_at = 'storage made'");
$node->restart;
for my $n (1 .. 11)
{
	wait_for_stop($node, 'storage made');
	interrupt($job);
}
wait_for_stop($node, 'storage made');
interrupt($job);
is(wait_for_job($node, $job), 'failed', 'a move whose workers all end when they begin fails');
release($node);
check_orphans($node, 'at the beginning');

# --- time windows --------------------------------------------------------------------------

# A window from so long after now to so long after now, in the server's time zone.
sub alter
{
	my ($opens, $closes) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT alter_move($job, during => to_char(n + interval '$opens', 'HH24:MI:SS') || '-' || to_char(n + interval '$closes', 'HH24:MI:SS'))
		FROM (SELECT now() AT TIME ZONE current_setting('log_timezone') AS n) n});
}

sub stalls_and_done
{
	return $node->safe_psql('postgres', "SELECT stalls, bytes_done FROM tablespace_advisor.job WHERE job_id = $job");
}

# A window that closes before anything is done is no progress, after an interruption
# that was none either.  The worker showed that nothing was done yet, of what marks told
# the opposite: windows had been tested without an interruption before.
$job = start_copied('slow', 'compared', 'none');
alter('2 h', '3 h');
interrupt($job);
wait_until_job($node, $job, q{state = 'paused' AND opens_at IS NOT NULL});
my $stalled = stalls_and_done();
like($stalled, qr/^1\|[1-9]/, 'nothing is done: the interruption was a stall');
my $holder = session($node);
ask($holder, 'BEGIN; LOCK t IN ACCESS EXCLUSIVE MODE;');
release($node);
alter('-1 h', '2 h');
wait_until_job($node, $job, q{phase = 'waiting for lock'});
is(job_field($node, $job, 'percent > 90'), 't', 'nothing is done: what is there is shown');
alter('2 h', '3 h');
wait_until_job($node, $job, q{state = 'paused' AND opens_at IS NOT NULL});
wait_for_workers($node);
is(stalls_and_done(), $stalled, 'nothing is done: the window that closes counts neither as a stall nor as progress');
ask($holder, 'COMMIT;');
$before = content();
alter('-1 h', '2 h');
check_done($job, 2, $before, 'nothing is done');

# What a window breaks off is begun again in the next one, but if that closes, too,
# the worker stays, or a large copy would never be compared.
$job = start_copied('fast', 'compared', '500 kB');
alter('2 h', '3 h');
release($node);
wait_until_job($node, $job, q{state = 'paused' AND opens_at IS NOT NULL});
wait_for_workers($node);
is(job_field($node, $job, 'pid'), '', 'a first window closes: there is no worker');
stop_at($node, 'compared');
alter('-1 h', '2 h');
wait_for_stop($node, 'compared');
alter('2 h', '3 h');
release($node);
wait_until_job($node, $job, q{phase = 'paused: its time window is closed'});
$node->safe_psql('postgres', 'UPDATE t SET b = b + 1 WHERE a % 500 = 7');
$before = content();
is(job_field($node, $job, 'state || (pid IS NOT NULL)'), 'runningtrue', 'a second one closes: the worker stays');
$node->safe_psql('postgres', "SELECT alter_move($job, max_rate => 'none')");
alter('-1 h', '2 h');
check_done($job, 1, $before, 'two windows');

# A session that wants the table waits for two batches of pages, those that are read and
# those that are compared, not for as many as are read in one go: on a slow device that
# took long, and devices of tests are not slow.
$job = start_copied('slow', 'kept pages read', 'none');
my $left = bytes_left($job);
my $locker = session($node);
send_to($locker, 'BEGIN; LOCK t;');
wait_for_lock_of($node, $locker->{pid});
release($node);
wait_until_job($node, $job, q{phase = 'waiting for lock'});
is($left - bytes_left($job), 16 * 2048, 'a session waits: one batch was compared');
answer($locker);
ask($locker, 'COMMIT;');
$before = content();
check_done($job, 1, $before, 'a session waits');

# --- figures of an interrupted copy ----------------------------------------------------

# No more is shown as done than there is, and no less by the worker that goes on: of a
# table that has grown since its move was queued.
$node->safe_psql('postgres', 'CREATE TABLE g (a int, b text); INSERT INTO g SELECT i, md5(i::text) FROM generate_series(1, 40000) i');
$job = start_stopped_table_move($node, 'storage created', 'g', 'slow');
$node->safe_psql('postgres', 'INSERT INTO g SELECT i, md5(i::text) FROM generate_series(1, 80000) i');
stop_at($node, 'fsm copied');
wait_for_stop($node, 'fsm copied');
my $shown = $node->safe_psql('postgres', "SELECT bytes_total > 4000000, percent <= 100 FROM tablespace_moves WHERE job_id = $job");
is($shown, 't|t', 'while it runs the present size is the total');

# Outside its time window there is no worker that knows the present size.
alter('2 h', '3 h');
interrupt($job);
wait_until_job($node, $job, q{state = 'paused' AND opens_at IS NOT NULL});
is($node->safe_psql('postgres', "SELECT bytes_done <= bytes_total, percent <= 100 FROM tablespace_moves WHERE job_id = $job"),
	't|t', 'interrupted: no more is shown as done than there is');

# All is copied, and nothing is compared: 100 % were shown, and 99 when a worker went
# on.  Tests looked at one or at the other.
sub shown
{
	return $node->safe_psql('postgres', "SELECT bytes_done FROM tablespace_moves WHERE job_id = $job AND percent < 100");
}

$last = shown();
cmp_ok($last, '>', 4_000_000, 'interrupted: what is to be compared is not done');
stop_at($node, 'storage made');
$node->safe_psql('postgres', "SELECT alter_move($job, during => 'none')");
wait_for_stop($node, 'storage made');
cmp_ok(shown(), '>=', $last, 'a worker begins: no less is shown as done');
stop_at($node, 'compared');
wait_for_stop($node, 'compared');
cmp_ok(shown(), '>=', $last, 'a worker goes on: no less is shown as done');
$last = shown();

# Nobody sees yet that the worker is gone: what was shown was as old as its beginning.
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\ntablespace_advisor.debug_stop_at = ''");
$node->restart;
is(job_field($node, $job, 'state'), 'running', 'the worker is gone');
cmp_ok(shown(), '>=', $last, 'the worker is gone: no less is shown as done than it had marked');
$node->safe_psql('postgres', "SELECT wait_for_moves('{$job}')");
is(job_field($node, $job, 'state, percent'), 'done|100', 'the move is done');
check_no_crash($node);
$node->stop;
done_testing();
