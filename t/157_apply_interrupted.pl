# Copyright (c) 2026, The tablespace_advisor developers

# apply_placement() in the middle of a round: its session terminated, killed with
# the server, cancelled; its worker killed; a table dropped before its turn.
# Whatever has moved is of the round, and the next one goes on, or undoes it.
# And from pg_cron, where that is installed.

use TsaTest;

my $node = PostgreSQL::Test::Cluster->new('main');
my $has_cron = -e "${\$node->config_data('--pkglibdir')}/pg_cron.so";

$node->init;
$node->append_conf('postgresql.conf', qq{
tablespace_advisor.keep_interrupted = 0
autovacuum = off
allow_in_place_tablespaces = on
max_worker_processes = 16
restart_after_crash = on
${\($has_cron ? "shared_preload_libraries = 'pg_cron'" : '')}
cron.host = '${\$node->host}'
log_statement = all
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION tablespace_advisor');
pretend_devices($node, 29_000_000);

# Two days of reading "hot", which is on the slow one; "cold" is in its way, of which
# so many reads per second are made.
sub prepare
{
	my ($cold) = @_;
	my $tables = 'TABLESPACE %s AS SELECT n, repeat(\'x\', 100) AS filler FROM generate_series(1, %d) n';

	forget_all($node);
	$node->safe_psql('postgres', $_)
	  foreach (
		'DROP TABLE IF EXISTS hot, cold',
		'CREATE TABLE cold ' . sprintf($tables, 'fast', 200000),
		'CREATE TABLE hot ' . sprintf($tables, 'slow', 100000),
		'VACUUM ANALYZE hot', 'VACUUM ANALYZE cold');
	take_days($node, 2, { hot => 50, cold => $cold // 0 });
	return;
}

# A session in the first move of a round, that of "cold".
sub begin_round
{
	my ($cold) = @_;
	my $s;

	prepare($cold);
	$s = session($node);
	stop_at($node, 'copied');
	send_to($s, q{CALL apply_placement();});
	wait_for_stop($node, 'copied');
	return $s;
}

sub rounds
{
	return $node->safe_psql('postgres', q{
		SELECT string_agg(format('%s %s', o.relation_name, o.outcome), ', ' ORDER BY o.job_id)
		FROM move_outcomes o WHERE o.round_id IN (SELECT r.round_id FROM tablespace_advisor.placement_round r)});
}

# Its session is terminated: the wave under way goes on, and the next round refuses
# to begin meanwhile.  Then the rest is advised again.
my $s = begin_round();
$node->safe_psql('postgres', "SELECT pg_terminate_backend($s->{pid})");
wait_until($node, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $s->{pid})", 'the session is gone');
like(apply_round($node), qr/a move of an earlier round.*is under way/,
	'terminated: no round begins while its move is under way');
release($node);
wait_until($node, q{SELECT NOT EXISTS (SELECT FROM tablespace_moves_active)}, 'the move has ended');
is(where_tables_are($node, 'cold', 'hot'), 'slow slow', 'the wave under way was made, the next one was not');
like(rounds(), qr/^public\.cold /, "a terminated caller's move is of its round");
apply_round($node);
is(where_tables_are($node, 'cold', 'hot'), 'slow fast', 'the next round goes on');

# The same, and what was moved is read far more the day after: it was a mistake.
$s = begin_round(20);
$node->safe_psql('postgres', "SELECT pg_terminate_backend($s->{pid}, 60000)");
release($node);
wait_until($node, q{SELECT NOT EXISTS (SELECT FROM tablespace_moves_active)}, 'the move has ended');
take_days($node, 1, { cold => 200, hot => 50 });
like(apply_round($node), qr/are undone.*moved table public\.cold/s, 'what a killed round moved is undone');
is(where_tables_are($node, 'cold', 'hot'), 'fast slow', 'the relation that a killed round moved is back');

# The session dies with the server, and so does the move under way.
foreach my $who ('session', 'worker')
{
	$s = begin_round();
	crash($node, $who eq 'session' ? $s->{pid} : $node->safe_psql('postgres',
			q{SELECT pid FROM tablespace_moves WHERE state = 'running'}));
	release($node);
	apply_round($node);
	is($node->safe_psql('postgres', q{SELECT string_agg(relation_name || ' ' || state, ', ' ORDER BY job_id)
			FROM tablespace_moves}),
		'public.cold failed, public.cold done, public.hot done', "$who killed: the next round makes it all");
	is(where_tables_are($node, 'cold', 'hot'), 'slow fast', 'everything is where it should be');
	is(rounds(), 'public.cold failed, public.cold not measured, public.hot not measured',
		'what failed is known to be of a round');
}

# Cancelled: so are its moves, and another round may begin.
$s = begin_round();
$node->safe_psql('postgres', "SELECT pg_cancel_backend($s->{pid})");
answer($s);
release($node);
like($s->{err}, qr/canceling statement/, 'cancelled: the call says so');
is(where_tables_are($node, 'cold', 'hot'), 'fast slow', 'nothing has moved');
is(rounds(), 'public.cold cancelled', 'cancelled: the move was cancelled with the call');
like(apply_round($node), qr/moved table public\.cold.*moved table public\.hot/s,
	'the next round begins at once');
end_session($s);

# A table is dropped before its turn: its move fails, what is done stays.
$s = begin_round();
$node->safe_psql('postgres', 'DROP TABLE hot');
release($node);
answer($s);
like($s->{err}, qr/could not move table public\.hot.*does not exist/s, 'dropped: a warning');
like($s->{err}, qr/moved table public\.cold/, 'dropped: the other relation has moved');
is(where_tables_are($node, 'cold'), 'slow', 'dropped: what has moved stays');
like(apply_round($node), qr/nothing is to be moved/, 'dropped: the next round has nothing to do');
end_session($s);

SKIP:
{
	skip 'pg_cron is not installed', 2 unless $has_cron;

	prepare();
	$node->safe_psql('postgres', 'CREATE EXTENSION pg_cron');
	$node->safe_psql('postgres', q{SELECT cron.schedule('placement', '* * * * *',
		$$CALL apply_placement(max_bytes => '200 GB', until => now() + interval '4 hours')$$)});
	# of times without a wait pg_cron knows but the server's start
	$node->safe_psql('postgres', q{UPDATE cron.job SET schedule = '@reboot'});
	$node->restart;
	wait_until($node, q{SELECT count(*) > 0 FROM cron.job_run_details WHERE status IN ('succeeded', 'failed')},
		'pg_cron has run it');
	is($node->safe_psql('postgres', q{SELECT status FROM cron.job_run_details ORDER BY runid LIMIT 1}),
		'succeeded', 'a round from pg_cron succeeds');
	is(where_tables_are($node, 'cold', 'hot'), 'slow fast', 'a round');
	$node->safe_psql('postgres', q{SELECT cron.unschedule('placement')});
}
$node->stop;
done_testing();
