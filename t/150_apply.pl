# Copyright (c) 2026, The tablespace_advisor developers

# apply_placement(): a full fast tablespace, a round that makes room and moves
# what is read there, a second one at the same time, one that undoes what made
# reading slower; then thirty rounds, a day apart, under loads that are steady,
# alternate, drift, and end, and after a forecast that was spoilt.

use TsaTest;

my $node = start_plain('main', conf => q{
shared_buffers = 1MB
autovacuum = off
});
pretend_devices($node, 28_900_000);
$node->safe_psql('postgres', $_)
  foreach (
	'CREATE ROLE other LOGIN',
	q{CREATE TABLE cold TABLESPACE fast AS
		SELECT n, repeat('x', 100) AS filler FROM generate_series(1, 200000) n},
	q{CREATE TABLE hot TABLESPACE slow AS
		SELECT n, repeat('x', 100) AS filler FROM generate_series(1, 100000) n},
	'VACUUM ANALYZE hot', 'VACUUM ANALYZE cold');

like(apply_round($node), qr/no samples/, 'totals are not enough');
$node->safe_psql('postgres', 'CALL sample_activity()');
$node->safe_psql('postgres', 'SELECT count(*) FROM hot; SELECT pg_stat_force_next_flush()');
$node->safe_psql('postgres', 'CALL sample_activity()');
# the system's cache has them, as it would not after a day
$node->safe_psql('postgres', 'UPDATE tablespace_advisor.relation_sample SET cached_reads = 0');
# nor does what this machine's device did tell of the tablespaces it pretends to be
$node->safe_psql('postgres', 'DELETE FROM tablespace_advisor.tablespace_io_sample');

my $advice = $node->safe_psql('postgres', q{
	SELECT string_agg(relation || ' ' || to_tablespace, ', ' ORDER BY rank) FROM advise_placement()
	WHERE action = 'move'});
is($advice, 'cold slow, hot fast', 'what is not read makes room first');
my ($code, undef, $error) = $node->psql('postgres', 'SET ROLE other; CALL apply_placement()');
like($error, qr/permission denied/, 'apply_placement() is not for everybody');
like(apply_round($node, q{dry_run => true}), qr/would move.*cold.*would move.*hot/s,
	'a dry run says what it would do');
is(where_tables_are($node, 'cold', 'hot'), 'fast slow', 'a dry run moves nothing');
like(apply_round($node, q{max_bytes => '1 MB'}), qr/nothing is to be moved/,
	'a bundle that is larger than max_bytes waits');

# Another role's round refuses nobody with rights that it lacks.
$node->safe_psql('postgres', q{
	CREATE ROLE watcher LOGIN IN ROLE pg_monitor;
	GRANT CREATE ON TABLESPACE slow, fast TO watcher;
	ALTER TABLE hot OWNER TO watcher;
	ALTER TABLE cold OWNER TO watcher});
my $first = session($node, user => 'watcher');
send_to($first, q{CALL apply_placement(max_rate => '500 kB');});
wait_until($node, 'EXISTS (SELECT FROM tablespace_moves_active)', 'the first round begins');
unlike(apply_round($node, q{dry_run => true}), qr/another round/,
	'a round of a role with less rights is in nobody\'s way');
unlike(apply_round($node), qr/another round|earlier round/, "moves of a role with less rights are in nobody's way");
$node->safe_psql('postgres', q{
	SELECT cancel_move(job_id) FROM tablespace_moves WHERE state IN ('queued', 'running', 'paused')});
answer($first);
end_session($first);
is(where_tables_are($node, 'cold', 'hot'), 'fast slow', 'a round whose moves are cancelled moves nothing') or diag $first->{err};
$node->safe_psql('postgres', q{
	ALTER TABLE hot OWNER TO CURRENT_USER;
	ALTER TABLE cold OWNER TO CURRENT_USER;
	DELETE FROM tablespace_advisor.placement_round;
	DELETE FROM tablespace_advisor.job});

stop_at($node, 'copied');
$first = start_sql($node, 'first', q{CALL apply_placement()});
wait_for_stop($node, 'copied');
like(apply_round($node), qr/another round/, 'a second round at the same time is refused');
($code, undef, $error) = $node->psql('postgres', 'SET ROLE watcher; CALL apply_placement()');
like($error, qr/another round/, 'a round of a role with less rights is refused beside it');
release($node);
finish_sql($first);
is(where_tables_are($node, 'cold', 'hot'), 'slow fast', 'the round makes the exchange');
is($node->safe_psql('postgres', q{
	SELECT count(DISTINCT round_id), count(*), count(forecast_saved_ms_per_s), min(verdict), max(verdict)
	FROM move_outcomes}), '1|2|2|waiting|waiting', 'one round with forecasts');
is($node->safe_psql('postgres', q{
	SELECT bool_and(o.batch_id = m.batch_id), count(DISTINCT o.batch_id), count(DISTINCT o.judged_with)
	FROM move_outcomes o JOIN tablespace_moves m USING (job_id)}), 't|2|1',
	'the two waves of a round are two calls, and are judged as one');
like(apply_round($node), qr/nothing is to be moved/, 'the next round leaves it at that');

# reads of it that take ten times as long after the round, an hour of samples each
$node->safe_psql('postgres', q{
	UPDATE tablespace_advisor.job SET started_at = now() - interval '1 hour 1 minute',
		finished_at = now() - interval '1 hour';
	DELETE FROM tablespace_advisor.sample;
	DELETE FROM tablespace_advisor.relation_sample;
	INSERT INTO tablespace_advisor.sample (sample_id, started_at, taken_at,
		was_reset, io_timed, blocks_read, blocks_hit, read_ms, write_ms,
		snapshots, reading_snapshots, reading_sessions, waits)
	OVERRIDING SYSTEM VALUE
	SELECT n + 1000, CASE WHEN n > 0 THEN t - interval '6 minutes' END, t, false, true,
		sum(1000) OVER w, sum(1000) OVER w, sum(1000 * CASE WHEN n <= 10 THEN 1 ELSE 10 END + n % 2) OVER w,
		0, 0, 0, 0, '{}'
	FROM (SELECT n, now() - interval '2 hours 1 minute' + n * interval '6 minutes' AS t
		FROM generate_series(0, 20) n) s
	WINDOW w AS (ORDER BY n)});
unlike(apply_round($node), qr/are undone/, 'what was not read cannot have made reading slower');
$node->safe_psql('postgres', q{
	INSERT INTO tablespace_advisor.relation_sample (sample_id, relation, size_bytes, reads)
	SELECT n + 1000, r, pg_table_size(r), 500
	FROM generate_series(1, 20) n, unnest(ARRAY['hot', 'cold']::regclass[]) r});
unlike(apply_round($node, q{verify => false}), qr/are undone/, 'without verify nothing is judged');
$node->safe_psql('postgres', q{SELECT pin_placement('hot', 'mine'), pin_placement('cold', 'mine')});
unlike(apply_round($node), qr/are undone/, 'what somebody has pinned stays');
$node->safe_psql('postgres', q{SELECT unpin_placement('hot'), unpin_placement('cold')});
like(apply_round($node), qr/are undone/, 'what made reading slower is undone');
is(where_tables_are($node, 'cold', 'hot'), 'fast slow', 'everything is back');
is($node->safe_psql('postgres', q{SELECT count(*) FROM tablespace_advisor.placement_pin
	WHERE reason LIKE 'moved back%' AND ends_at > now()}), 2, 'what was moved back is pinned for as long as the history is kept');
is($node->safe_psql('postgres', q{SELECT count(*) FILTER (WHERE verdict = 'undone') FROM move_outcomes}),
	2, 'move_outcomes says so');
like(apply_round($node), qr/nothing is to be moved|no samples/, 'an undo is not undone');

# --- thirty rounds ---------------------------------------------------------------

# Four tables, of which two and a bit fit on "fast".
sub start_anew
{
	forget_all($node);
	$node->safe_psql('postgres', $_)
	  foreach (
		'DROP TABLE IF EXISTS hot, cold, a, b, c, d',
		map { my ($name, $place) = split; (
			qq{CREATE TABLE $name TABLESPACE $place AS
				SELECT n, repeat('x', 100) AS filler FROM generate_series(1, 80000) n},
			"VACUUM ANALYZE $name") } ('a slow', 'b slow', 'c fast', 'd fast'));
	return;
}

# Thirty days, a round after each; of the reads of a day, a function of its number.
# Returns the read time of each day, moves, and moves that were made in vain: back
# to where a table came from.
sub thirty_rounds
{
	my ($load, $verify) = @_;
	my @ms;

	start_anew();
	foreach my $day (1 .. 30)
	{
		push @ms, take_days($node, 1, $load->($day));
		apply_round($node);
	}
	push @ms, take_days($node, 1, $load->(31));
	return (\@ms, split /\|/, $node->safe_psql('postgres', q{
		SELECT count(*), count(*) FILTER (WHERE EXISTS (SELECT FROM tablespace_advisor.job e
			WHERE e.relation = j.relation AND e.job_id < j.job_id AND e.state = 'done'
				AND e.from_tablespace = j.to_tablespace))
		FROM tablespace_advisor.job j WHERE j.state = 'done'}));
}

my @steady = (a => 50, b => 40, c => 1, d => 0);
my ($ms, $moves, $vain) = thirty_rounds(sub { return {@steady} });
is("$ms->[0] $ms->[-1] $moves $vain", '450.1 14.0 4 0', 'steady: one exchange, for good');

($ms, $moves, $vain) = thirty_rounds(
	sub { return $_[0] % 2 ? { a => 50, b => 1, c => 40, d => 40 } : { a => 1, b => 50, c => 40, d => 40 } });
note "alternating: @$ms; $moves moves, $vain in vain";
cmp_ok($vain, '<=', 8, 'alternating: a table goes to and fro once a week at most');
cmp_ok($ms->[-1] + $ms->[-2], '<=', 1.05 * ($ms->[0] + $ms->[1]), 'alternating: reading takes no longer than at first');

($ms, $moves, $vain) = thirty_rounds(sub {
	my ($day) = @_;
	return { a => $day, b => 31 - $day, c => 10, d => 10 } });
note "drifting: @$ms; $moves moves, $vain in vain";
cmp_ok($ms->[-1], '<=', 1.05 * 5 * 30, 'drifting: what grows is on the fast one in the end');
is(where_tables_are($node, 'a'), 'fast', 'drifting: the table that grows is on the fast tablespace');
cmp_ok($vain, '<=', 3, 'few moves are in vain');

($ms, $moves, $vain) = thirty_rounds(
	sub { return $_[0] <= 10 ? {@steady} : { a => 0, b => 0, c => 0, d => 0.001 } });
is("$moves $vain", '4 0', 'ended: nothing moves for nothing');

# A forecast that somebody has spoilt, one who may: the fast one is said to be slow.
# Moves are made, and undone as soon as samples show it; nobody waits for a week.
start_anew();
$node->safe_psql('postgres', q{UPDATE tablespace_advisor.probe_result
	SET mean_us = mean_us / 5000, mean_low_us = mean_low_us / 5000, mean_high_us = mean_high_us / 5000
	WHERE run_id = (SELECT run_id FROM tablespace_advisor.probe_run WHERE tablespace = 'slow')});
my %read = (a => 0, b => 0, c => 50, d => 40);
my $before = take_days($node, 2, \%read);
like(apply_round($node), qr/moved table public\.[cd] /, 'a spoilt forecast moves what is read to the disk');
my $spoilt = take_days($node, 1, \%read);
cmp_ok($spoilt, '>', 10 * $before, 'a spoilt forecast makes reading slower');
# of that day two samples count
$node->safe_psql('postgres', q{UPDATE tablespace_advisor.sample SET was_reset = true
	WHERE taken_at BETWEEN now() - interval '24 hours' AND now() - interval '90 minutes'});
unlike(apply_round($node), qr/are undone/, 'two samples do not say that reading got slower');
take_days($node, 1, \%read);
like(apply_round($node), qr/are undone/, 'the round after the next day undoes it');
is(take_days($node, 1, \%read), $before, 'after the undo reading is as fast as it was');
like(apply_round($node), qr/nothing is to be moved/, 'the next one does not do it again');
$node->stop;
done_testing();
