# Copyright (c) 2026, The tablespace_advisor developers

# Moves of the tables that every worker keeps locked, the journal and the requests:
# they wait for each other in turn, not for ever, and leave the journal whole.
#
# Earlier tests moved these tables by evacuations, which take the journal last, one at
# a time and by ALTER; none looked at the journal's indexes after another move of it.

use TsaTest;

my $node = start_node('main', conf => q{
autovacuum = off
});
my ($journal, $requests) = map { "tablespace_advisor.$_" } qw(job request);

# The job that waits for its turn.
sub wait_for_turn
{
	my ($job) = @_;

	wait_until($node, "EXISTS (SELECT FROM tablespace_moves
		WHERE job_id = $job AND phase = 'waiting for lock')", "job $job waits for its turn");
	return;
}

sub check_journal
{
	my ($name) = @_;

	is($node->safe_psql('postgres', qq{
			CREATE EXTENSION IF NOT EXISTS amcheck;
			SELECT bt_index_check(indexrelid, true) FROM pg_index
			WHERE indrelid = '$journal'::regclass;
			SELECT 'checked'}) =~ s/^\n+//r, 'checked', "$name: the indexes of the journal");
	return;
}

# --- the journal is not copied ---------------------------------------------------

my $reason = qr/0A000: .*DETAIL:  It is the journal of moves, which changes while it is switched/s;
fails_with($node, "CALL move_table_concurrently('$journal', 'fast');", '0A000', 'cannot move table tablespace_advisor.job by live copy', 'the journal is not copied');
like(messages_of($node, "CALL move_table_concurrently('$journal', 'fast');"), $reason, 'the error says why the journal is not copied');
like(messages_of($node, "CALL move_indexes_concurrently('$journal', 'fast', method => 'copy');"),
	$reason, 'an index of the journal is not copied');
move($node, $journal, 'fast');
is($node->safe_psql('postgres', 'SELECT DISTINCT method, state FROM tablespace_moves'), 'rebuild|done',
	'indexes of the journal are rebuilt');
check_journal('after rebuilds');
$node->safe_psql('postgres', "ALTER TABLE $journal SET TABLESPACE fast; CALL evacuate_tablespace('fast', 'slow')",
	timeout => 180);
is($node->safe_psql('postgres', qq{
		SELECT DISTINCT spcname FROM pg_tablespace s JOIN pg_class c ON c.reltablespace = s.oid
		WHERE c.oid = '$journal'::regclass OR c.oid IN (
			SELECT indexrelid FROM pg_index WHERE indrelid = '$journal'::regclass)}), 'slow',
	'evacuations take the journal along');
check_journal('after an evacuation');

# --- a copy and a rebuild ---------------------------------------------------------

my $first = start_stopped_table_move($node, 'storage created', $requests, 'fast');
my $second = start_move($node, $journal, 'fast', q{indexes => '{tablespace_advisor.job_batch_id_idx}'});
wait_for_turn($second);
release($node);
is(wait_for_job($node, $first), 'done', 'a move of the requests ends beside a rebuild on the journal');
is(wait_for_job($node, $second), 'done', 'the rebuild on the journal ends after its turn');
wait_for_workers($node);

# --- a rebuild first, which waits for a transaction --------------------------------

my $open = session($node);
ask($open, "BEGIN; LOCK TABLE $journal IN ROW EXCLUSIVE MODE;");
$first = start_move($node, $journal, 'slow', q{indexes => '{tablespace_advisor.job_batch_id_idx}'});
wait_until($node, q{EXISTS (SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
	WHERE backend_type = 'tablespace_advisor move' AND NOT granted)}, 'the rebuild waits');
$second = start_table_move($node, $requests, 'slow');
wait_for_turn($second);
ask($open, 'COMMIT;');
end_session($open);
is(wait_for_job($node, $first), 'done', 'a rebuild on the journal ends beside a move of the requests');
is(wait_for_job($node, $second), 'done', 'the move of the requests ends after its turn');
wait_for_workers($node);

# --- one that is cancelled while it waits ---------------------------------------

$first = start_stopped_table_move($node, 'storage created', $requests, 'fast');
$second = start_move($node, $journal, 'fast', q{indexes => '{tablespace_advisor.job_batch_id_idx}'});
wait_for_turn($second);
is($node->safe_psql('postgres', "SELECT cancel_move($second)"), 't', 'a move that waits for its turn is cancelled');
is(wait_for_job($node, $second), 'cancelled', 'the cancelled move ends while the other one has the turn');
release($node);
is(wait_for_job($node, $first), 'done', 'the move with the turn ends');
wait_for_workers($node);
check_journal('at the end');
check_locks($node, 'at the end');

$node->stop;
done_testing();
