# Copyright (c) 2026, The tablespace_advisor developers

# Statements that a move could keep waiting without asking for an exclusive lock:
# of a session that has used the table before, while the move pauses, beside a
# VACUUM; and devices that take their time.

use Time::HiRes qw(time);
use TsaFaults;
use TsaTest;

my $node = new_faulty_node('main', conf => "shared_buffers = 2MB\nlog_error_verbosity = default\n");
$node->safe_psql('postgres', q{
	CREATE TABLE t (a int PRIMARY KEY, b int, c text) WITH (fillfactor = 50);
	INSERT INTO t SELECT i, i, 'c' FROM generate_series(1, 20000) i;
	CREATE INDEX t_b ON t (b);
	CREATE INDEX t_brin ON t USING brin (b) WITH (pages_per_range = 1);
	CREATE TABLE other AS SELECT i, repeat('x', 1000) AS filler FROM generate_series(1, 4000) i;
	CREATE INDEX other_i ON other (i);
	VACUUM ANALYZE});

# These calls on files of tablespaces take so long; none: no time.
sub set_slow
{
	my ($ms, @calls) = @_;

	fail_calls(calls => \@calls, path => 'pg_tblspc/', nth => 1, from_on => 1,
		error => SLOW, delay_ms => $ms);
	return;
}

# What a session gets within 10 seconds, '' if it is not told to wait.
sub promptly
{
	my ($s, $sql, $name) = @_;

	$s->{err} = '';
	ask($s, "SET statement_timeout = '10 s'; $sql");
	is($s->{err}, '', $name);
	return;
}

sub elsewhere
{
	my ($index) = @_;

	return tablespaces_of($node, $index) eq 'fast' ? 'slow' : 'fast';
}

# --- a deadlock that nobody detects ----------------------------------------------

# A transaction that has used the table wants ShareUpdateExclusive on the index
# while the move waits for that transaction.
my $user = session($node);
my $job = start_move($node, 't_b', elsewhere('t_b'));
wait_for_job($node, $job);
$job = start_stopped_move($node, 'fsm copied', 't_b', elsewhere('t_b'));
ask($user, 'BEGIN; SELECT count(*) FROM t WHERE b < 10;');
release($node);
wait_until_job($node, $job, "attempts > 1");
promptly($user, $_, "let through while the move waits: $_")
  foreach "COMMENT ON INDEX t_b IS 'in use';", 'ALTER INDEX t_b SET (fillfactor = 80);';
ask($user, 'COMMIT;');
is(wait_for_job($node, $job), 'done', 'the move ends after those that it let through');
end_session($user);

# --- a move that pauses --------------------------------------------------------------

# It gives its lock on the index back.
$user = session($node);
foreach my $index ('t_b', 't_brin')
{
	$job = start_stopped_move($node, 'copied', $index, elsewhere($index));
	$node->safe_psql('postgres', "SELECT pause_move($job)");
	release($node);
	wait_until_job($node, $job, "state = 'paused'");
	promptly($user, "COMMENT ON INDEX $index IS 'paused';", "paused: COMMENT ON INDEX $index");
	promptly($user, "SELECT brin_summarize_new_values('t_brin');", 'paused: BRIN summarization')
	  if $index eq 't_brin';
	promptly($user, 'VACUUM t;', 'paused: VACUUM');
	$node->safe_psql('postgres', "UPDATE t SET b = b + 1 WHERE a % 10 = 0; SELECT resume_move($job)");
	is(wait_for_job($node, $job), 'done', "$index: the paused move goes on");
}
check_btree($node, 't_b', 'after a pause');

# what is dropped meanwhile is gone
$node->safe_psql('postgres', 'CREATE INDEX t_c ON t (c)');
$job = start_stopped_move($node, 'copied', 't_c', 'fast');
$node->safe_psql('postgres', "SELECT pause_move($job)");
release($node);
wait_until_job($node, $job, "state = 'paused'");
promptly($user, 'DROP INDEX CONCURRENTLY t_c;', 'paused: DROP INDEX CONCURRENTLY');
$node->safe_psql('postgres', "SELECT resume_move($job)");
is(wait_for_job($node, $job), 'failed', 'a move whose index is gone fails');
check_orphans($node, 'dropped while paused');

# --- VACUUM under way ------------------------------------------------------------------

# It has RowExclusive on the index, and ShareUpdateExclusive on the table only.
# Were AccessExclusive asked for all the same, everybody would queue behind that.
$job = start_stopped_move($node, 'fsm copied', 't_b', elsewhere('t_b'));
my $vacuum = session($node);
$node->safe_psql('postgres', 'DELETE FROM t WHERE a > 19000');
send_to($vacuum, q{SET vacuum_cost_delay = '100 ms'; SET vacuum_cost_limit = 1; VACUUM (INDEX_CLEANUP on) t;});
wait_until($node, "EXISTS (SELECT FROM pg_locks WHERE pid = $vacuum->{pid} AND relation = 't_b'::regclass)",
	'VACUUM is at work');
release($node);
wait_until_job($node, $job, "phase = 'waiting for lock' AND $vacuum->{pid} = ANY (blocked_by)");
is(job_field($node, $job, 'attempts'), '0', 'no lock is asked for while VACUUM is at work');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($vacuum->{pid})");
is(wait_for_job($node, $job), 'done', 'the move ends after it');
end_session($vacuum);

# --- VACUUM after VACUUM ------------------------------------------------------------------

# Three sessions by turns, so that there never is a gap for a look to find: some
# time the move queues behind one, before the next.
$node->safe_psql('postgres', q{
	CREATE TABLE v AS SELECT i FROM generate_series(1, 30000) i;
	CREATE INDEX v_i ON v (i)});
configure($node, 'deadlock_timeout', '1min');
my $script = $node->basedir . '/vacuum.sql';
append_to_file($script, q{
SET vacuum_cost_delay = '2 ms';
SET vacuum_cost_limit = 10;
VACUUM (DISABLE_PAGE_SKIPPING) v;
});
my $vacuums = start_pgbench($node, 3, '-R', 1000, '-f', $script);
wait_until($node, q{EXISTS (SELECT FROM pg_locks
	WHERE relation = 'v'::regclass AND mode = 'ShareUpdateExclusiveLock' AND NOT granted)},
	'one VACUUM waits for the other');
$job = start_move($node, 'v_i', 'fast', "lock_timeout => '30 s'");
is(wait_for_job($node, $job), 'done', 'VACUUM after VACUUM: an index moves');
$job = start_table_move($node, 'v', 'fast', "lock_timeout => '30 s'");
is(wait_for_job($node, $job), 'done', 'VACUUM after VACUUM: a table moves');
stop_pgbench($vacuums, 'VACUUM after VACUUM');

# Two who take turns, until the move queues behind one; that one writes more than an
# attempt may find left.  The attempt counts all the same, or the bounds would
# stay narrow for ever.
my @takers = (session($node), session($node));
my $take = 'BEGIN; LOCK v IN SHARE UPDATE EXCLUSIVE MODE;';
my $queued = q{EXISTS (SELECT FROM pg_locks
	WHERE relation = 'v'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted)};
ask($takers[0], $take);
$job = start_table_move($node, 'v', 'slow', "lock_timeout => '30 s'");
for (;;)
{
	send_to($takers[1], $take);
	wait_for_lock_of($node, $takers[1]{pid});
	wait_until($node, qq{$queued OR EXISTS (SELECT FROM tablespace_moves
		WHERE job_id = $job AND $takers[0]{pid} = ANY (blocked_by))}, 'the move sees whose turn it is');
	last if $node->safe_psql('postgres', "SELECT $queued") eq 't';
	ask($takers[0], 'ROLLBACK;');
	answer($takers[1]);
	@takers = reverse @takers;
}
ask($takers[0], 'INSERT INTO v SELECT generate_series(1, 1000000); COMMIT;');
answer($takers[1]);
ask($takers[1], 'ROLLBACK;');
is(wait_for_job($node, $job), 'done', 'a table moves that was written to before the attempt had its lock');
cmp_ok(job_field($node, $job, 'attempts'), '>', 1, 'an attempt that had its lock and found too much left counts');
end_session($_) for @takers;
configure($node, 'deadlock_timeout', '1s');

# --- slow devices -----------------------------------------------------------------------

# A sync of 5 s, for which whoever asks for AccessExclusive does not wait, nor
# everybody behind.
set_slow(5000, 'sync');
my $from = time;
$job = $node->safe_psql('postgres', q{
	CALL move_table_concurrently('other', 'fast', with_indexes => false, wait => false)}) =~ s/\D//gr;
my $longest = 0;
for (;;)
{
	my $start = time;

	$node->safe_psql('postgres', q{
		SET lock_timeout = '10 s'; BEGIN; LOCK other; ROLLBACK});
	$longest = time - $start if time - $start > $longest;
	last if job_field($node, $job, 'state') =~ /done|failed/;
}
set_slow(0);
is(job_field($node, $job, 'state'), 'done', 'a table moves to a device that syncs slowly');
cmp_ok($longest, '<', 4, 'nobody waits for the sync');

# Blocks that change while the move waits for its lock, and are thrown out of
# the buffers: they are not read under AccessExclusive.
$node->append_conf('postgresql.conf', "deadlock_timeout = '1 min'");
$node->reload;
$job = start_stopped_move($node, 'fsm copied', 't_b', elsewhere('t_b'), "lock_timeout => '30 s'");
my $reader = session($node);
my $writer = session($node);
ask($reader, 'BEGIN; DECLARE c CURSOR FOR SELECT b FROM t WHERE b < 10; FETCH c;');
ask($writer, 'BEGIN;');
ask($writer, 'UPDATE t SET b = b + 1 WHERE a % 4 = 0;');
release($node);
wait_until($node, "EXISTS (SELECT FROM pg_locks WHERE relation = 't_b'::regclass
	AND mode = 'AccessExclusiveLock' AND NOT granted)", 'the move asks for its lock');
ask($writer, 'UPDATE t SET b = b + 1 WHERE a % 16 = 1;');
# by its index: a sequential scan would keep to a few buffers
$node->safe_psql('postgres', q{
	CHECKPOINT;
	SET enable_seqscan = off; SET enable_bitmapscan = off;} . 'SELECT count(filler) FROM other;' x 6);
set_slow(10, 'read');
ask($writer, 'COMMIT;');
ask($reader, 'COMMIT;');
is(wait_for_job($node, $job), 'done', 'a move of an index whose blocks have to be read');
set_slow(0);
cmp_ok(job_field($node, $job, 'lock_ms'), '<', 400, 'a move does not read all blocks of an index under its lock');
end_session($_) foreach $reader, $writer;

end_session($user);
$node->stop;
check_log($node, 'all', qr/canceling statement|does not exist/);
done_testing();
