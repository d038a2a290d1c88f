# Copyright (c) 2026, The tablespace_advisor developers

# How a move asks for locks, and what it makes fail: helpers of a parallel dump, DDL
# with a short lock_timeout, alerts for partitions that retention has dropped.
#
# Earlier tests beside a move waited for their locks without a bound, so that it
# did not matter whether a request of the move stood in the queue, or how long the
# move took to yield; and each table dropped under a move was one that somebody
# wanted to move.

use TsaTest;

my $node = start_plain('main', conf => q(
autovacuum = off
tablespace_advisor.min_wal_space = 0
));
my $job;

$node->safe_psql('postgres', $_)
  foreach (
	q{CREATE TABLESPACE one LOCATION ''},
	q{CREATE TABLE t AS SELECT n, repeat('x', 1000) AS x FROM generate_series(1, 4000) n},
	'VACUUM ANALYZE t');

# The figure of a copy under way, which the view does not show.
sub progress
{
	my ($figure) = @_;

	return "(SELECT p.$figure FROM tablespace_advisor.job j, tablespace_advisor.copy_progress(j.job_id, j.progress_handle) p WHERE j.job_id = $job)";
}

sub move_to
{
	my ($tablespace, $more) = @_;

	$job = start_table_move($node, 't', $tablespace, $more);
	return;
}

# --- dumps ---------------------------------------------------------------------------

# Moves while a session holds the table; what the move does after it has waited for
# longer than it does without a request.
sub move_beside
{
	my ($tablespace, $condition, @commands) = @_;
	my $s = session($node);

	ask($s, $_) foreach (@commands, 'LOCK TABLE t IN ACCESS SHARE MODE;');
	move_to($tablespace);
	wait_until($node, progress('blocked_by') . " = '{$s->{pid}}'", 'the move waits for the session');
	wait_until($node, $condition->(), 'the move has waited');
	my $attempts = $node->safe_psql('postgres', 'SELECT ' . progress('attempts'));
	ask($s, 'COMMIT;');
	end_session($s);
	is(wait_for_job($node, $job), 'done', "the move is done when @commands ends");
	return $attempts;
}

my $waited = sub { return progress('waited_ms') . ' > 5000' };
my $tried = sub { return progress('attempts') . ' > 0' };

is(move_beside('one', $waited, 'BEGIN ISOLATION LEVEL REPEATABLE READ;', 'SELECT pg_export_snapshot();'),
	0, 'a move does not ask for a table that a session with an exported snapshot holds');
is(move_beside('pg_default', $waited, q{SET application_name = 'pg_dump';}, 'BEGIN;'),
	0, 'a move does not ask for a table that pg_dump holds');
isnt(move_beside('one', $tried, 'BEGIN;'),
	0, 'a move asks for a table that somebody else holds');

# --- DDL -----------------------------------------------------------------------------

# On a busy machine not all of them.
my $done = 0;

move_to('pg_default', "max_rate => '1 MB'");
wait_until_job($node, $job, 'bytes_done > 0');
foreach my $n (1 .. 12)
{
	my ($ret) = $node->psql('postgres',
		"SET lock_timeout = '100 ms'; ALTER TABLE t ADD COLUMN c$n int");
	$done++ if $ret == 0;
}
cmp_ok($done, '>=', 8, 'DDL that waits for 100 ms gets its lock from a copy');
$node->safe_psql('postgres', "SELECT cancel_move($job)");
wait_for_job($node, $job);

# --- partitions ----------------------------------------------------------------------

$node->safe_psql('postgres', $_)
  foreach (
	'CREATE TABLE p (n int) PARTITION BY LIST (n)',
	'CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)',
	'CREATE UNLOGGED TABLE p2 PARTITION OF p FOR VALUES IN (2)',
	'CREATE TABLE p3 PARTITION OF p FOR VALUES IN (3)',
	'CREATE INDEX ON p (n)',
	'INSERT INTO p SELECT 1 + n % 3 FROM generate_series(1, 30000) n');

like(messages_of($node, "CALL move_table_concurrently('p', 'one', dry_run => true, with_indexes => true)"),
	qr/skipping unlogged table public\.p2/, 'an unlogged partition is left out');
fails_with($node, "CALL move_table_concurrently('p2', 'one')", '0A000',
	'cannot move table public.p2', 'an unlogged partition is refused by itself');

stop_at($node, 'copied');
my $caller = start_sql($node, 'caller', "CALL move_table_concurrently('p', 'one', with_indexes => true)");
wait_for_stop($node, 'copied');
my $drop = start_sql($node, 'drop', 'DROP TABLE p1');
wait_until($node, q{EXISTS (SELECT FROM pg_stat_activity
	WHERE application_name = 'drop' AND wait_event_type = 'Lock')}, 'DROP TABLE waits for the move');
release($node);
is(finish_sql($drop), '', 'retention drops a partition under its move');
unlike(finish_sql($caller), qr/ERROR/, 'the call moves the others, and does not fail');
is($node->safe_psql('postgres', q{
		SELECT relation_name, state, sqlstate FROM tablespace_moves
		WHERE relation_name LIKE 'public.p_' ORDER BY 1}),
	"public.p1|failed|TA001\npublic.p3|done|", 'the move of the dropped partition has a code of its own');
is($node->safe_psql('postgres', q{
		SELECT ok FROM tablespace_advisor_health() WHERE subject = 'moves'}),
	't', 'health does not complain of it');
is($node->safe_psql('postgres', q{SELECT coalesce(sum(moves), 0) FROM move_metrics WHERE state = 'failed'}),
	'0', 'collectors do not count it as failed');

check_log($node, 'all', qr/canceling statement|does not exist any more|cannot move|lock timeout/);
done_testing();
