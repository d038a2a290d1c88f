# Copyright (c) 2026, The tablespace_advisor developers

# Daily time windows: outside of its own a move has no worker, keeps its copy, and
# goes on in the next one.  Windows here begin or end hours before or after now.

use TsaTest;

my $node = start_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
autovacuum = off
log_timezone = 'Asia/Kolkata'
tablespace_advisor.debug_mark_kb = 1024
tablespace_advisor.keep_interrupted = 1s
});

make_toasted_table($node);
$node->safe_psql('postgres', q{
	CREATE TABLE other (a int PRIMARY KEY);
	INSERT INTO other SELECT generate_series(1, 10000)});

# A window from so long after now to so long after now, in the server's time zone.
sub window
{
	my ($opens, $closes) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT to_char(n + interval '$opens', 'HH24:MI:SS') || '-' || to_char(n + interval '$closes', 'HH24:MI:SS')
		FROM (SELECT now() AT TIME ZONE current_setting('log_timezone') AS n) n});
}

sub opened { return window('-1 h', '2 h') }
sub closed { return window('2 h', '3 h') }

sub alter
{
	my ($job, $arguments) = @_;

	return $node->safe_psql('postgres', "SELECT alter_move($job, $arguments)");
}

sub content
{
	return $node->safe_psql('postgres', 'SELECT count(*), sum(hashtextextended(x::text, 0)) FROM t x');
}

# The move waits, and no worker with it.
sub check_waits
{
	my ($job, $state, $name) = @_;

	wait_until_job($node, $job, "state = '$state' AND opens_at IS NOT NULL");
	wait_for_workers($node);
	is( $node->safe_psql('postgres', qq{
			SELECT state, phase, pid IS NULL, interruptions,
				opens_at - now() BETWEEN '1 h' AND '2 h', kept_until > opens_at, error IS NULL
			FROM tablespace_moves WHERE job_id = $job}),
		"$state|waiting for its time window|t|0|t|" . ($state eq 'paused' ? 't' : '') . '|t',
		"$name: the move waits for its window, without a worker");
	like($node->safe_psql('postgres', "SELECT waits_for FROM tablespace_moves_active WHERE job_id = $job"),
		qr/^its time window, which opens at /, "$name: the short view says so");
	# such a move is no alert (contrib/prometheus/rules.yml)
	is($node->safe_psql('postgres', "SELECT sum(waiting_for_window) FROM move_metrics WHERE state = '$state'"),
		1, "$name: so do the metrics");
	return;
}

sub check_done
{
	my ($job, $name) = @_;

	is(wait_for_job($node, $job), 'done', "$name: the move is done");
	is( $node->safe_psql('postgres', qq{
			SELECT interruptions, blocks_again * 8192 <= 1048576 + bytes_total / 20 FROM tablespace_moves WHERE job_id = $job}),
		'0|t', "$name: little was copied again");
	is( $node->safe_psql('postgres',
			q{SELECT tsa_amcheck('t') || ' trees' UNION ALL SELECT tsa_heap_damage('t')}),
		'2 trees', "$name: table and indexes are well");
	check_orphans($node, $name);
	return;
}

# A move that is queued outside waits; what it waits for ends when it has another
# window, or none, and the caller need not know.
my $job = start_move($node, 't_c', 'fast', sprintf(q{during => '%s'}, closed()));
check_waits($job, 'queued', 'queued outside');
is(alter($job, q{during => '} . opened() . q{'}), 't', 'the window of a queued move can be changed');
check_done($job, 'another window');
$job = start_move($node, 't_c', 'slow', sprintf(q{during => '%s'}, opened()));
check_done($job, 'queued inside');

# In the middle of the copy.
my $before = content();
$job = start_table_move($node, 't', 'fast', q{with_indexes => true, max_rate => '2 MB'});
wait_until_job($node, $job, 'bytes_done > 4000000');
alter($job, q{during => '} . closed() . q{'});
check_waits($job, 'paused', 'in mid-copy');
is( $node->safe_psql('postgres', qq{
		SELECT bytes_done >= 4000000, percent > 20, eta > opens_at - now()
		FROM tablespace_moves WHERE job_id = $job}),
	't|t|t', 'in mid-copy: progress and end are shown');
is($node->safe_psql('postgres', q{SELECT count(*) FROM tablespace_advisor_health() WHERE subject = 'interrupted moves' AND NOT ok}),
	'0', 'in mid-copy: the health is good');
is(wait_for_job($node, start_move($node, 'other_pkey', 'fast')), 'done', 'in mid-copy: another move has a slot');
is($node->safe_psql('postgres', "SELECT wait_for_moves('{$job}', '0 s')"), 'f', 'in mid-copy: others do not start it');
check_waits($job, 'paused', 'after that');
$node->restart;
is($node->safe_psql('postgres', "SELECT wait_for_moves('{$job}', '0 s')"), 'f', 'a restart does not start it');
check_waits($job, 'paused', 'after a restart');
$node->safe_psql('postgres', 'UPDATE t SET b = b + 1 WHERE a % 1000 = 1');
$before = content();
is(alter($job, q{max_rate => 'none', during => '} . opened() . q{'}), 't', 'the window can be changed, too');
check_done($job, 'in mid-copy');
is(content(), $before, 'in mid-copy: nothing is lost');

# A worker dies outside: what is interrupted then is kept for as long as the
# window is closed, and keep_interrupted counts what is open.
$job = start_table_move($node, 't', 'slow', q{max_rate => '2 MB'});
wait_until_job($node, $job, 'bytes_done > 2000000');
alter($job, q{during => '} . closed() . q{'});
check_waits($job, 'paused', 'to be kept');
$node->safe_psql('postgres', "UPDATE tablespace_advisor.job SET interrupted_at = now() - interval '30 min' WHERE job_id = $job");
is($node->safe_psql('postgres', "SELECT wait_for_moves('{$job}', '0 s')"), 'f', 'a copy that waits is kept');
check_waits($job, 'paused', 'kept');
is($node->safe_psql('postgres', "SELECT cancel_move($job)"), 't', 'a kept copy can be cancelled');
is(job_field($node, $job, 'state'), 'cancelled', 'that ends it');
check_orphans($node, 'cancelled outside');

# While it waits for a lock, with nothing made, and at the cutover.
my $holder = session($node);
$job = start_table_move($node, 't', 'slow', sprintf(q{during => '%s'}, closed()));
ask($holder, 'BEGIN; LOCK t IN ACCESS EXCLUSIVE MODE;');
alter($job, q{during => '} . opened() . q{'});
wait_until_job($node, $job, q{phase = 'waiting for lock'});
alter($job, q{during => '} . closed() . q{'});
check_waits($job, 'queued', 'before a lock');
ask($holder, 'COMMIT;');
ask($holder, 'BEGIN; LOCK t IN ACCESS SHARE MODE;');
alter($job, q{during => '} . opened() . q{'});
wait_until_job($node, $job, q{phase = 'waiting for lock' AND attempts > 1});
alter($job, q{during => '} . closed() . q{'});
check_waits($job, 'paused', 'before the cutover');
ask($holder, 'COMMIT;');
alter($job, q{during => 'none'});
check_done($job, 'before the cutover');

# A request to pause does not keep the worker.
$job = start_table_move($node, 't', 'fast', q{max_rate => '2 MB'});
$node->safe_psql('postgres', "SELECT pause_move($job)");
wait_until_job($node, $job, q{phase LIKE 'paused: by request'});
alter($job, q{during => '} . closed() . q{'});
check_waits($job, 'paused', 'paused by request');
alter($job, q{max_rate => 'none', during => 'none'});
wait_until_job($node, $job, q{phase LIKE 'paused: by request'});
$node->safe_psql('postgres', "SELECT resume_move($job)");
check_done($job, 'paused by request');

# A file is truncated while the copy lets others pass, and the window closes before it
# has its locks again: the copy is of no use.
$node->safe_psql('postgres', 'VACUUM t');
$job = start_stopped_table_move($node, 'copied', 't', 'pg_default', 'with_indexes => true');
my $waiting = start_sql($node, 'truncate',
	"BEGIN; LOCK t IN ACCESS EXCLUSIVE MODE; SELECT pg_truncate_visibility_map('t'); SELECT pg_sleep(3600)");
ok(is_waiting($waiting), 'somebody waits for the mover');
release($node);
wait_until_job($node, $job, q{phase = 'waiting for lock'});
alter($job, q{during => '} . closed() . q{'});
wait_until_job($node, $job, q{state NOT IN ('running')});
is($node->safe_psql('postgres', "SELECT concat_ws(' ', CASE WHEN state IN ('queued', 'paused') THEN 'waits' ELSE state END, error) FROM tablespace_moves WHERE job_id = $job"),
	'waits', 'truncated: the move waits for its window');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3600)' AND pid <> pg_backend_pid()});
alter($job, q{during => '} . opened() . q{'});
is(wait_for_job($node, $job), 'done', 'truncated: the move is done in the next window');
check_orphans($node, 'truncated');

# A waiting call is told, and waits; all moves of a call wait; a rebuild does, too.
my $caller = start_sql($node, 'caller', sprintf(
		q{CALL move_indexes_concurrently('t', 'slow', method => 'rebuild', during => '%s')}, closed()));
wait_until($node, q{2 = (SELECT count(*) FROM tablespace_moves WHERE opens_at IS NOT NULL AND method = 'rebuild')}, 'two moves wait');
wait_for_workers($node);
is( $node->safe_psql('postgres', q{SELECT bool_and(alter_move(job_id, during => 'none')) FROM tablespace_moves WHERE opens_at IS NOT NULL}),
	't', 'the window of a rebuild can be changed');
like(finish_sql($caller), qr/^NOTICE:  what is to be moved waits for its time window, which opens at .*\s*$/,
	'a waiting call is told so once');
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT state, ',') FROM (SELECT state FROM tablespace_moves ORDER BY job_id DESC LIMIT 2) m}),
	'done', 'a waiting call ends when its moves have');

# Only the window of a rebuild can be altered.
$job = start_move($node, 't_c', 'fast', sprintf(q{method => 'rebuild', during => '%s'}, closed()));
fails_with($node, "SELECT alter_move($job, max_rate => '1 MB', during => 'none')", '0A000', 'cannot alter job',
	'a rebuild has no rate');
is($node->safe_psql('postgres', "SELECT cancel_move($job)"), 't', 'a queued move that waits can be cancelled');

# The launcher opens it.
$job = start_move($node, 't_c', 'fast', sprintf(q{during => '%s'}, window('3 s', '2 h')));
check_done($job, 'opened by the clock');

# Calls that wait count for their user.
make_users($node);
configure($node, 'tablespace_advisor.max_calls_per_role', '2');
$node->safe_psql('postgres', 'CREATE TABLE m1 (a int PRIMARY KEY); CREATE TABLE m2 (a int PRIMARY KEY); CREATE TABLE m3 (a int PRIMARY KEY)',
	connstr => $node->connstr('postgres') . ' user=mallory');
for my $table (1 .. 3)
{
	my $said = told($node, sprintf(q{CALL move_table_concurrently('m%d', 'fast', wait => false, during => '%s')},
			$table, closed()), user => 'mallory');

	like($said, $table < 3 ? qr/waits for its time window/ : qr/too many moves for role "mallory"/,
		"call $table of a user who may have two");
	wait_for_workers($node);
}
is($node->safe_psql('postgres', q{SELECT count(cancel_move(job_id)) FROM tablespace_moves WHERE opens_at IS NOT NULL}),
	'2', 'calls that wait can be cancelled');

# Without preloading the next call goes on with it.
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
$job = start_move($node, 't_c', 'slow', sprintf(q{during => '%s'}, window('3 s', '2 h')));
is($node->safe_psql('postgres', "SELECT wait_for_moves('{$job}')"), 't', 'the next call that waits goes on with it');
check_done($job, 'without preloading');

# DROP EXTENSION drops a copy that waits.
$job = start_table_move($node, 't', 'slow', q{max_rate => '2 MB'});
wait_until_job($node, $job, 'bytes_done > 2000000');
alter($job, q{during => '} . closed() . q{'});
check_waits($job, 'paused', 'to be dropped');
$node->safe_psql('postgres', 'DROP EXTENSION tablespace_advisor');
$node->safe_psql('postgres', 'CREATE EXTENSION tablespace_advisor');
check_orphans($node, 'dropped with the extension');
check_no_crash($node);
$node->stop;
done_testing();
