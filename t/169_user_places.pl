# Copyright (c) 2026, The tablespace_advisor developers

# Users who are not superusers share a number of workers.  One who keeps them busy
# with moves that hardly do anything, as however many roles, loses one to a user who
# has none.
#
# Earlier tests (t/135, t/147) counted the calls of a user and of all; none asked how
# long somebody may keep a place.

use TsaTest;

my $node = start_node('main', conf => q{
autovacuum = off
tablespace_advisor.max_user_workers = 2
tablespace_advisor.max_slow_time = 1
tablespace_advisor.keep_interrupted = 0
});
make_users($node);
$node->safe_psql('postgres', q{
	CREATE ROLE bob LOGIN;
	GRANT CREATE ON TABLESPACE fast TO bob});
foreach my $role (qw(mallory alice bob))
{
	$node->safe_psql('postgres', $_) foreach
	  "CREATE TABLE ${role}_t AS SELECT g AS a FROM generate_series(1, 20000) g",
	  "CREATE INDEX ${role}_i ON ${role}_t (a)",
	  "CREATE INDEX ${role}_j ON ${role}_t (a)",
	  "ALTER TABLE ${role}_t OWNER TO $role";
}

# The jobs of a call.
sub call
{
	my ($user, $arguments) = @_;
	my $said = told($node,
		"CALL move_indexes_concurrently('${user}_t', 'fast', wait => false$arguments)",
		user => $user);

	return $said =~ /^\{([\d,]+)\}$/m ? split(/,/, $1) : $said;
}
my $slow_locks = q{pg_locks WHERE locktype = 'advisory' AND objsubid = x'734b'::int};

# One works, as far as others can see, and one copies a block in eight seconds.
my ($first, $second) = call('mallory', q{, max_rate => '1kB'});
wait_until_job($node, $first, q{phase = 'copying'});
stop_at($node, 'storage created');
my ($others) = call('alice', q{, indexes => '{alice_i}'});
wait_for_stop($node, 'storage created');
wait_until($node, "EXISTS (SELECT FROM $slow_locks)", 'the slow worker says so');
is($node->safe_psql('postgres', "SELECT count(*) FROM $slow_locks"), 1,
	'the other worker is not slow');

my $pid = worker_pid($node, $first);
like(call('alice', q{, indexes => '{alice_j}'}), qr/too many moves on this server/,
	'a user who has a place does not get that of a slow move');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid = $pid"), 1,
	'the slow move goes on until a user without a place comes');
my ($bobs) = call('bob', q{, indexes => '{bob_i}'});
like($bobs, qr/^\d+$/, 'a user without a place gets that of the slow move');
wait_for_stops($node, 2, 'storage created');
is(end_state($node, $first), 'failed', 'the slow move has ended');
like(job_field($node, $first, 'error'), qr/background worker ended unexpectedly/, 'the slow move has an error');
is(job_field($node, $second, 'state'), 'queued', 'the next job of its call is kept');

# Whoever waits for it does not take the place away again.
$node->safe_psql('postgres', "SELECT cancel_move($bobs)");
is(wait_for_job($node, $bobs), 'cancelled', 'one place is free');
told($node, "SELECT wait_for_moves('{$second}', '100 ms')", user => 'mallory');
is(job_field($node, $second, 'state'), 'queued', 'a takeover leaves the last place to others');
release($node);
is(wait_for_job($node, $others), 'done', 'the move that was not slow ends');
wait_for_workers($node);
told($node, "SELECT alter_move($second, max_rate => 'unlimited'); SELECT wait_for_moves('{$second}')",
	user => 'mallory');
is(wait_for_job($node, $second), 'done', 'what was queued is taken over once there is room');
wait_for_workers($node);

# A rebuild copies nothing, and waits for transactions.
stop_at($node, 'storage created');
($others) = call('alice', q{, indexes => '{alice_j}'});
wait_for_stop($node, 'storage created');
my $open = keep_open($node, 'INSERT INTO mallory_t VALUES (0);');
my ($rebuild) = told($node, q{CALL move_indexes_concurrently('mallory_t', 'fast',
	indexes => '{mallory_i}', method => 'rebuild', wait => false)}, user => 'mallory') =~ /(\d+)/;
wait_until($node, q{EXISTS (SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
	WHERE backend_type = 'tablespace_advisor move' AND NOT granted
	AND waitstart < clock_timestamp() - interval '1 s')}, 'the rebuild has waited for a second');
($bobs) = call('bob', q{, indexes => '{bob_j}'});
like($bobs, qr/^\d+$/, 'a user without a place gets that of a rebuild that waits');
ask($open, 'ROLLBACK;');
end_session($open);
release($node);
is(wait_for_job($node, $bobs), 'done', "the other user's move is done");
is(wait_for_job($node, $others), 'done', 'the move of a third user is done');
is(end_state($node, $rebuild), 'failed', 'the rebuild has ended');
wait_for_workers($node);
check_locks($node, 'at the end');

# What another worker had copied is no work of the one that goes on: it counted as work,
# and no move was interrupted here.
configure($node, 'tablespace_advisor.keep_interrupted', '1d');
configure($node, 'tablespace_advisor.debug_mark_kb', '128kB');
$node->safe_psql('postgres', q{
	CREATE TABLE mallory_u AS SELECT repeat('x', 900) FROM generate_series(1, 20000);
	ALTER TABLE mallory_u OWNER TO mallory});
stop_at($node, 'copied');
my ($large) = told($node, q{CALL move_table_concurrently('mallory_u', 'fast', max_rate => 'unlimited', wait => false)},
	user => 'mallory') =~ /(\d+)/;
wait_for_stop($node, 'copied');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid, 60000) FROM tablespace_moves WHERE job_id = $large");
stop_at($node, 'compared');
told($node, "SELECT alter_move($large, max_rate => '1kB'); SELECT wait_for_moves('{$large}', '100 ms')", user => 'mallory');
wait_for_stop($node, 'compared');
my ($since, $done) = split /\|/, $node->safe_psql('postgres', "SELECT clock_timestamp(), bytes_done FROM tablespace_moves WHERE job_id = $large");
wait_until($node, "clock_timestamp() > '$since'::timestamptz + interval '1 s'", 'a second has gone by');
release($node);
wait_until_job($node, $large, "bytes_done > $done");
is($node->safe_psql('postgres', "SELECT count(*) FROM $slow_locks"), 1, 'a worker that goes on with much is slow');
$node->safe_psql('postgres', "SELECT cancel_move($large)");
is(wait_for_job($node, $large), 'cancelled', 'the slow move is cancelled');
wait_for_workers($node);
check_orphans($node, 'at the end');

$node->stop;
done_testing();
