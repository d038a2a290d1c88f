# Copyright (c) 2026, The tablespace_advisor developers

# What a user who owns a table, and may move it, cannot make of that: take all
# worker slots, fill the journal, say how fast others' moves are, keep others
# from evacuating, or leave something behind in their sessions.  And what a
# sample does not keep from others.

use Time::HiRes qw(usleep);
use TsaTest;

my $node = start_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
tablespace_advisor.sample_interval = 0
autovacuum = off
});
make_users($node);
$node->safe_psql('postgres', q{
	CREATE ROLE g1;
	CREATE ROLE g2;
	GRANT g1, g2 TO mallory;
	GRANT CREATE ON SCHEMA public TO g1, g2;
	GRANT CREATE ON TABLESPACE slow, fast TO g1, g2});

# --- worker slots -------------------------------------------------------------

# Whatever roles somebody takes on, calls are his.
sub begin_moves
{
	my ($user, $role, @tables) = @_;
	my $got = 0;

	foreach my $table (@tables)
	{
		my $said = told($node, "SET ROLE $role;
			CALL move_table_concurrently('$table', 'slow', wait => false)",
			user => $user);
		$got++ if $said =~ /^\{\d+\}$/m;
		return ($got, $said) if $said =~ /ERROR/;
	}
	return ($got, '');
}
for my $role (qw(g1 g2 alice mallory))
{
	$node->safe_psql('postgres', "CREATE TABLE ${role}_$_ AS SELECT g FROM generate_series(1, 1000) g;
		ALTER TABLE ${role}_$_ OWNER TO $role") foreach 1 .. 6;
}
stop_at($node, 'storage created');
my ($got, $said) = begin_moves('mallory', 'g1', map { "g1_$_" } 1 .. 3);
is($got, 3, 'calls of one user, as one role');
my ($more, $refusal) = begin_moves('mallory', 'g2', map { "g2_$_" } 1 .. 3);
is($more, 1, 'the same user as another role has one call left');
like($refusal, qr/too many moves for role "mallory"/, 'he has a limit, whatever roles he takes on');

# All users together have one, too, and the last place is for somebody without any.
configure($node, 'tablespace_advisor.max_user_workers', 6);
($got, $said) = begin_moves('alice', 'alice', map { "alice_$_" } 1 .. 3);
is($got, 1, 'another user has calls');
like($said, qr/too many moves on this server/, 'a user with calls does not get the last place of all');
$node->safe_psql('postgres', q{CREATE ROLE bob LOGIN; GRANT alice TO bob});
($got, $said) = begin_moves('bob', 'alice', map { "alice_$_" } 4 .. 5);
is($got, 1, 'the last place is for a user who has none');
like($said, qr/too many moves on this server/, 'after the last place there is none left');
like(told($node, q{CALL move_table_concurrently('alice_6', 'slow', wait => false)}), qr/^\{\d+\}$/,
	'superusers have no limit');
release($node);
wait_for_workers($node);
configure($node, 'tablespace_advisor.max_user_workers', -1);

# Looks into other databases need workers, too.  As many sessions as there are slots
# look into one whose catalog is locked, and a move begins.  No test had more than two
# of them look at a time.
$node->safe_psql('postgres', 'CREATE ROLE watcher LOGIN IN ROLE pg_monitor; CREATE DATABASE other');
{
	my $holder = session($node, dbname => 'other');
	my $waiting = q{FROM pg_locks WHERE NOT granted AND locktype =};
	my @lookers;

	ask($holder, 'BEGIN; LOCK TABLE pg_class;');
	foreach (1 .. 16)
	{
		push @lookers, session($node, user => 'watcher');
		send_to($lookers[-1], 'SELECT FROM all_tablespace_moves();');
	}
	wait_until($node, "(SELECT count(*) $waiting 'advisory') = 12", 'most of those who look wait');
	is($node->safe_psql('postgres', "SELECT count(*) $waiting 'relation' AND relation = 'pg_class'::regclass"),
		'4', 'a part of the worker slots is for looks');
	my ($rc, undef, $err) = $node->psql('postgres', q{CALL move_table_concurrently('alice_1', 'fast')});
	is("$rc $err", '0 ', 'beside them there is a slot for a move');
	ask($holder, 'ROLLBACK;');
	end_session($_) foreach $holder, @lookers;
}

# --- evacuations ---------------------------------------------------------------

# A role's own move, or evacuation, refuses nobody with rights that it lacks.
$node->safe_psql('postgres', q{
	CREATE TABLE hers TABLESPACE slow AS SELECT g AS a FROM generate_series(1, 1000) g;
	ALTER TABLE hers OWNER TO mallory;
	CREATE TABLE of_all TABLESPACE fast AS TABLE hers});
foreach my $call (q{CALL move_table_concurrently('hers', 'fast', wait => false)},
	q{CALL evacuate_tablespace('slow', 'fast')})
{
	stop_at($node, 'storage created');
	my $s = session($node, user => 'mallory');
	send_to($s, $call . ';');
	wait_for_stop($node, 'storage created');
	my $said = told($node, q{CALL evacuate_tablespace('fast', 'slow', wait => false)});
	unlike($said, qr/ERROR/, "a superuser's evacuation beside $call");
	like($said, qr/WARNING:  move \d+ goes the other way/, "a superuser's evacuation beside $call is warned");
	like(told($node, q{CALL evacuate_tablespace('slow', 'fast', wait => false)}),
		qr/ERROR:  cannot evacuate tablespace "slow" into "fast" now/,
		"an opposite evacuation beside $call is refused");
	release($node);
	answer($s);
	end_session($s);
	wait_for_workers($node);
	is($node->safe_psql('postgres', q{
			SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
			WHERE relname = 'of_all'}), 'slow', 'the evacuation of one role beside another does its work');
	$node->safe_psql('postgres', q{
		ALTER TABLE hers SET TABLESPACE slow;
		ALTER TABLE of_all SET TABLESPACE fast});
}

# A move that has ended is in nobody's way, though its worker goes on with others.
$node->safe_psql('postgres', q{
	CREATE TABLESPACE third LOCATION '';
	CREATE TABLE two (a int, b int) TABLESPACE fast;
	INSERT INTO two SELECT g, g FROM generate_series(1, 30000) g;
	CREATE INDEX two_a ON two (a) TABLESPACE slow;
	CREATE INDEX two_b ON two (b) TABLESPACE third});
my ($first, $second) = $node->safe_psql('postgres', q{
	CALL move_indexes_concurrently('two', 'fast', method => 'copy', max_rate => '100 kB',
		wait => false)}) =~ /(\d+)/g;
$node->safe_psql('postgres', "SELECT alter_move($first, 'unlimited')");
is(wait_for_job($node, $first), 'done', 'the first of two moves ends');
unlike(told($node, q{CALL evacuate_tablespace('fast', 'slow', wait => false)}), qr/ERROR/,
	'what has ended is not in the way of an evacuation');
is(job_field($node, $second, 'state'), 'running', 'the second of two moves goes on when the first has ended');
$node->safe_psql('postgres', q{
	SELECT cancel_move(job_id) FROM tablespace_advisor.job WHERE state IN ('queued', 'running')});
wait_for_workers($node);
$node->safe_psql('postgres', q{
	DROP TABLE two;
	ALTER TABLE of_all SET TABLESPACE fast});

# --- pins ----------------------------------------------------------------------

$node->safe_psql('postgres', q{
	DO $$
	BEGIN
		FOR i IN 1 .. 5 LOOP
			CREATE TABLE brief (a int);
			PERFORM pin_placement('brief', 'gone soon');
			DROP TABLE brief;
		END LOOP;
	END
	$$;
	SELECT pin_placement('hers')});
is($node->safe_psql('postgres', 'SELECT count(*) FROM tablespace_advisor.placement_pin'), '1',
	'pins of what is gone go, too');
like(told($node, q{SELECT pin_placement('hers', repeat('x', 1001))}),
	qr/reason must not be longer than 1000 characters/, 'nobody has to read a long reason');
$node->safe_psql('postgres', q{SELECT unpin_placement('hers')});

# --- rates ---------------------------------------------------------------------

# Of moves that wait for locks the time at work counts, and of others' moves none
# where there are own ones.
$node->safe_psql('postgres', q{
	CREATE TABLE large AS SELECT g AS a, repeat('x', 900) FROM generate_series(1, 15000) g;
	CREATE TABLE small AS SELECT g AS a FROM generate_series(1, 40000) g;
	ALTER TABLE small OWNER TO mallory});
my $rate = q{SELECT tablespace_advisor.move_rate(d.dattablespace, s.oid, 'copy', NULL, %s)
	FROM pg_database d, pg_tablespace s
	WHERE d.datname = current_database() AND s.spcname = 'fast'};
my $locker = session($node, user => 'mallory');
ask($locker, q{BEGIN; LOCK small IN ROW EXCLUSIVE MODE;});
my $job = start_table_move($node, 'small', 'fast');
wait_until_job($node, $job, "attempts > 3");
ask($locker, 'COMMIT;');
end_session($locker);
wait_for_job($node, $job);
is($node->safe_psql('postgres', qq{
		SELECT waited_ms > 0.5 * extract(epoch FROM finished_at - started_at) * 1000
		FROM tablespace_advisor.job WHERE job_id = $job}),
	't', 'most of the time it waited');
is($node->safe_psql('postgres', sprintf("SELECT (%s) > 2 * (SELECT bytes_total
			/ extract(epoch FROM finished_at - started_at)
		FROM tablespace_advisor.job WHERE job_id = $job)", sprintf($rate, 'NULL'))),
	't', 'the rate leaves out the time of waiting');

$node->safe_psql('postgres', q{
	UPDATE tablespace_advisor.job SET owner = 'mallory'::regrole,
		finished_at = started_at + interval '1000 s', waited_ms = 0
	WHERE relation = 'small'::regclass});
my $poisoned = $node->safe_psql('postgres', sprintf($rate, q{'alice'::regrole}));
cmp_ok($poisoned, '<', 10000, 'moves of others count where there are none else');
move_table($node, 'large', 'fast');
cmp_ok($node->safe_psql('postgres', sprintf($rate, q{'alice'::regrole})),
	'>', 100000, 'moves of others do not count where a superuser has moved something');
cmp_ok($node->safe_psql('postgres', sprintf($rate, q{'mallory'::regrole})),
	'>', 100000, 'moves count by their bytes');
$node->safe_psql('postgres', q{INSERT INTO tablespace_advisor.request (job_id, pause, alters)
	SELECT job_id, false, true FROM tablespace_advisor.job WHERE relation = 'large'::regclass});
cmp_ok($node->safe_psql('postgres', sprintf($rate, q{'alice'::regrole})),
	'<', 10000, 'a move whose limits were altered shows no rate');
$node->safe_psql('postgres', q{DELETE FROM tablespace_advisor.request});

# --- what standbys have read ----------------------------------------------------

# A member of pg_monitor may bring it, of servers of any names.
$node->safe_psql('postgres', 'CREATE ROLE monitor LOGIN IN ROLE pg_monitor');
told($node, q{
	SELECT add_standby_activity(jsonb_build_object(
		'system_identifier', s.system_identifier::text, 'database', d.oid,
		'observed_at', now() - make_interval(mins => n), 'relations', jsonb_build_array(
			jsonb_build_object('relation', 'pg_class'::regclass::oid, 'reads_per_s', 1,
				'hits_per_s', 1, 'scans_per_s', 1))), ('standby' || n)::name)
	FROM pg_control_system() s, pg_database d, generate_series(40, 1, -1) n
	WHERE d.datname = current_database()}, user => 'monitor');
is($node->safe_psql('postgres', q{
		SELECT count(DISTINCT server), min(substr(server, 8)::int), max(substr(server, 8)::int)
		FROM tablespace_advisor.standby_activity}), '32|1|32',
	'what the last servers have read is kept');

# --- the journal ----------------------------------------------------------------

# However many jobs there are, no call reads them all.
$node->safe_psql('postgres', q{
	CREATE DATABASE flooded});
$node->safe_psql('flooded', q{
	CREATE EXTENSION tablespace_advisor;
	CREATE TABLE t (a int PRIMARY KEY);
	ALTER TABLE t OWNER TO mallory;
	INSERT INTO tablespace_advisor.job (batch_id, relation, heap, kind, schema_name,
		relation_name, from_tablespace, from_tablespace_name, to_tablespace,
		to_tablespace_name, method_wanted, method, state, bytes_total,
		lock_timeout_ms, owner, system_identifier, database, started_at, finished_at, wal_bytes)
	SELECT 1000000 + g, 't'::regclass, 't'::regclass, 'r', 'public', 't',
		d.dattablespace, 'pg_default', s.oid, 'slow', 'auto', 'copy', 'done', 2000000,
		100, 'mallory'::regrole, k.system_identifier, d.oid,
		now() - interval '1 s', now(), 2000000
	FROM generate_series(1, 20000) g, pg_control_system() k, pg_database d, pg_tablespace s
	WHERE d.datname = current_database() AND s.spcname = 'slow'});
# What this reads must be in the statistics before they are looked at.
is($node->safe_psql('flooded', q{SELECT count(*) FROM tablespace_advisor.moved_reads
		WHERE pg_stat_force_next_flush() IS NOT NULL}), '1000',
	'a thousand moves of a role are compared with their forecasts');
my $read = q{SELECT pg_stat_get_tuples_returned('tablespace_advisor.job'::regclass)};
my $read_or_fetched = $read . q{ + pg_stat_get_tuples_fetched('tablespace_advisor.job'::regclass)};
my $before = $node->safe_psql('flooded', $read_or_fetched);
my %calls = (
	'wait_for_moves()' => q{SELECT wait_for_moves('{}')},
	'moves under way' => q{SELECT FROM tablespace_moves WHERE state = 'running'},
	'tablespace_moves_active' => q{SELECT FROM tablespace_moves_active},
	'cancel_move()' => q{SELECT cancel_move(1)},
	'plan_evacuation()' => q{SELECT FROM plan_evacuation('pg_default', 'slow')},
	'what has to be tidied up' => q{SELECT FROM tablespace_advisor.untidied_jobs()},
	'the rate of moves' => q{SELECT tablespace_advisor.full_rate(d.dattablespace, s.oid, 'copy', NULL)
		FROM pg_database d, pg_tablespace s
		WHERE d.datname = current_database() AND s.spcname = 'slow'});
foreach my $call (sort keys %calls)
{
	$node->safe_psql('flooded', "SET client_min_messages = error; $calls{$call};
		SELECT pg_stat_force_next_flush()");
	my $after = $node->safe_psql('flooded', $read_or_fetched);
	cmp_ok($after - $before, '<', 1000, "$call does not read the whole journal");
	$before = $after;
}
$before = $node->safe_psql('flooded', $read);

# Of a relation the last ones are kept.
$node->safe_psql('flooded', q{CALL move_table_concurrently('t', 'slow', until => now() + interval '1 hour')});
wait_for_workers($node);
cmp_ok($node->safe_psql('flooded', $read) - $before, '<', 1000, 'a move reads little of a long journal');
cmp_ok($node->safe_psql('flooded', 'SELECT count(*) FROM tablespace_advisor.job'), '<', 11000,
	'the worker of a move forgets the oldest of too many jobs of a relation');
$node->safe_psql('flooded', q{CALL move_table_concurrently('t', 'pg_default')});
wait_for_workers($node);
is($node->safe_psql('flooded', q{SELECT count(*), count(*) FILTER (WHERE batch_id < 1000000)
	FROM tablespace_advisor.job}), '50|2', 'of too many jobs of a relation those are left that are kept');

# --- functions of indexes ---------------------------------------------------------

# The server runs them with her rights in a superuser's ANALYZE and in the worker
# of a superuser's move; what they call of ours does nothing there.
$node->safe_psql('postgres', q{
	SET ROLE mallory;
	CREATE TABLE trap (a int);
	INSERT INTO trap SELECT generate_series(1, 100);
	CREATE TABLE caught (what text);
	CREATE FUNCTION try(a int, statement text) RETURNS int LANGUAGE plpgsql IMMUTABLE
	SET search_path = public AS $$
	BEGIN
		IF current_setting('trap.set', true) = 'on' OR pg_backend_pid() IN (SELECT pid
			FROM pg_stat_activity WHERE backend_type = 'tablespace_advisor move')
		THEN
			EXECUTE statement;
		END IF;
		RETURN a;
	EXCEPTION WHEN insufficient_privilege THEN
		RETURN a;
	END $$;
	CREATE INDEX assumes ON trap (try(a, 'SELECT assume_placement(''large'', ''slow'')'));
	CREATE INDEX waits ON trap (try(a, 'SELECT wait_for_moves(''{}'')'))});
is($node->safe_psql('postgres', q{
		SET trap.set = on;
		ANALYZE trap;
		SELECT count(*) FROM assumed_placements()}), '0', 'no placement is assumed in an index function');
my $ids = $node->safe_psql('postgres',
	q{CALL move_indexes_concurrently('trap', 'fast', indexes => '{waits}', method => 'rebuild')});
is($node->safe_psql('postgres', "SELECT string_agg(state, ',') FROM tablespace_moves WHERE job_id = ANY ('$ids')"),
	'done', 'no job is ended by one in its own worker');

# --- long records --------------------------------------------------------------------

# Anybody can write WAL records of up to 1 GB, which movers have to read.  They
# give the memory back; one that gets none fails, and takes nobody else with it.
$node->safe_psql('postgres', 'CREATE TABLE followed (a int PRIMARY KEY)');

# Kilobytes of a process.
sub memory_of
{
	my ($pid, $what) = @_;

	return slurp_file("/proc/$pid/status") =~ /^$what:\s+(\d+)/m ? $1 : die "no $what of $pid";
}

# Moves a table and, when it is copied, writes a record; the job, its worker and
# what that has in memory before.
sub move_beside_record
{
	my ($tablespace, $bound) = @_;

	my $job = start_stopped_table_move($node, 'copied', 'followed', $tablespace);
	my $pid = worker_pid($node, $job);
	my $before = memory_of($pid, 'VmData');

	system_or_bail('prlimit', "--pid=$pid", '--as=' . 1024 * (memory_of($pid, 'VmSize') + $bound))
	  if $bound;
	told($node, q{SELECT pg_logical_emit_message(false, 'x', repeat('x', 60000000))},
		user => 'mallory');
	$node->safe_psql('postgres', q{UPDATE followed SET a = a + 1});
	return ($job, $pid, $before);
}

SKIP:
{
	skip 'no /proc', 5 unless -r '/proc/self/status';
	# the row makes a record to be read after it
	$node->safe_psql('postgres', 'INSERT INTO followed VALUES (1)');
	my ($job, $pid, $before) = move_beside_record('slow');
	stop_at($node, 'window');
	wait_for_stop($node, 'window');
	cmp_ok(memory_of($pid, 'VmHWM'), '>', 58_000, 'a long record takes memory to be read');
	cmp_ok(memory_of($pid, 'VmData') - $before, '<', 30_000, 'the memory for a long record is given back');
	release($node);
	is(wait_for_job($node, $job), 'done', 'the move that read a long record ends');

	skip 'no prlimit', 2 if system('prlimit --version >/dev/null 2>&1') != 0;
	($job) = move_beside_record('fast', 30_000);
	release($node);
	is(wait_for_job($node, $job), 'failed', 'a worker that has no memory for a record fails');
	is(job_field($node, $job, 'sqlstate'), '53200', 'a worker without memory for a record says 53200');
}

# --- a database that is to be renamed ---------------------------------------------------

# Its sample takes longer than the server waits for others to leave.
$node->safe_psql('postgres', 'DROP DATABASE flooded');
$node->safe_psql('postgres', 'DROP EXTENSION tablespace_advisor CASCADE');
$node->safe_psql('postgres', 'CREATE DATABASE sampled');
$node->safe_psql('sampled', 'CREATE EXTENSION tablespace_advisor');
configure($node, 'tablespace_advisor.sample_interval', '1s');
my $holder = session($node);
ask($holder, 'BEGIN; LOCK pg_tablespace;');
# nobody else can ask, since the planner reads it, too
usleep(100_000) until ask($holder, q{
	SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'pg_tablespace'::regclass AND NOT granted);}) eq 't';
is(messages_of($node, 'ALTER DATABASE sampled RENAME TO renamed'), '', 'a sample gives way to a new name');
end_session($holder);

$node->stop;
check_log($node, 'all',
	qr/too many moves|cannot evacuate|reason must not be longer|canceling statement due to user request|out of memory|goes the other way|terminating background worker "tablespace_advisor sampling"/);
done_testing();
