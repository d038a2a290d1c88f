# Copyright (c) 2026, The tablespace_advisor developers

# Moves by rebuild under load and disturbance: the waiting caller, cancelled and
# terminated at either end, the table dropped, the server killed, no worker to
# be had, a standby.  After each: every index is valid or as it was, nothing is
# left over, and the journal says what happened.

use TsaTest;

my $node = start_plain('primary', init => { allows_streaming => 1 }, conf => q{
max_worker_processes = 4
max_logical_replication_workers = 0
autovacuum_naptime = 1
log_statement = none
tablespace_advisor.keep_interrupted = 0
# a move must not mind any of these
statement_timeout = '100s'
default_transaction_isolation = 'repeatable read'
});
$node->safe_psql('postgres', q{
	CREATE EXTENSION amcheck;
	ALTER DATABASE postgres SET lock_timeout = '1ms';
	ALTER DATABASE postgres SET search_path = nowhere, public;
});
# the database's settings are for the workers; clients are patient
$ENV{PGOPTIONS} = '-c lock_timeout=0';
$node->safe_psql('postgres', "CREATE TABLESPACE $_ LOCATION ''") for qw(fast slow);

# --- helpers ------------------------------------------------------------------

# the latest job: state, method and error
sub last_job
{
	return $node->safe_psql('postgres', q{
		SELECT concat_ws('|', relation_name, state, error) FROM tablespace_moves
		ORDER BY job_id DESC LIMIT 1});
}

# where the indexes of a table are
sub index_places
{
	my ($table) = @_;
	return $node->safe_psql('postgres', qq{
		SELECT string_agg(format('%s:%s%s', c.relname, s.spcname,
			CASE WHEN NOT i.indisvalid THEN ' invalid' END), ', ' ORDER BY c.relname)
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE i.indrelid = '$table'::regclass});
}

# every B-tree index agrees with its heap
sub check_indexes
{
	my ($what) = @_;
	my ($status, $out, $err) = $node->psql('postgres', q{
		SELECT bt_index_parent_check(i.indexrelid, true)
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			JOIN pg_am a ON a.oid = c.relam
		WHERE c.relnamespace = 'public'::regnamespace AND a.amname = 'btree'
			AND c.relkind = 'i'}, on_error_die => 0);
	is($err, '', "indexes agree with their tables: $what");
	return;
}

sub the_worker
{
	return $node->safe_psql('postgres', q{
		SELECT pid FROM pg_stat_activity
		WHERE backend_type = 'tablespace_advisor move'});
}

# a rebuild of a table's indexes that waits for an old snapshot, and its caller
sub stuck_move
{
	my ($table, $tablespace, $more) = @_;
	my $old = session($node);
	ask($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;');
	my $caller = session($node);
	send_to($caller, "CALL move_indexes_concurrently('$table', '$tablespace', method => 'rebuild'"
		. ($more // '') . ');');
	wait_until($node, qq{EXISTS (SELECT FROM tablespace_moves
		WHERE state = 'running' AND $old->{pid} = ANY (blocked_by))}, 'the rebuild waits for the old snapshot');
	return ($old, $caller);
}

# --- under load -----------------------------------------------------------------

$node->command_ok([ 'pgbench', '-i', '-q', '-s', '2', '-h', $node->host, '-p', $node->port, 'postgres' ],
	'pgbench -i');
$node->safe_psql('postgres', q{
	CREATE INDEX accounts_abalance ON pgbench_accounts (abalance);
	CREATE INDEX accounts_expression ON pgbench_accounts ((aid % 7), bid);
	CREATE INDEX accounts_partial ON pgbench_accounts (aid) WHERE abalance > 0;
	-- a role that cannot log in, and a parallel build of the index
	CREATE ROLE owner NOLOGIN CONNECTION LIMIT 0;
	ALTER TABLE pgbench_accounts OWNER TO owner;
	GRANT CREATE ON TABLESPACE fast, slow TO owner;
	GRANT CREATE ON SCHEMA public TO owner;
	ALTER TABLE pgbench_accounts SET (parallel_workers = 2);
});
my $pgbench;
{
	local $ENV{PGOPTIONS} = "$ENV{PGOPTIONS} " . '-c default_transaction_isolation=read\\ committed';
	$pgbench = start_pgbench($node, 4, '-M', 'prepared');
}
wait_until($node, '(SELECT count(*) > 100 FROM pgbench_history)', 'pgbench changes rows');
for my $round ([ 'fast', 'rebuild' ], [ 'slow', 'auto' ], [ 'fast', 'auto' ])
{
	my ($tablespace, $method) = @$round;
	my ($status, $out, $err) = $node->psql('postgres',
		"SET ROLE owner; CALL move_indexes_concurrently('pgbench_accounts', '$tablespace', method => '$method')");
	is($status, 0, "moved under load to $tablespace by method $method") or diag $err;
	is(index_places('pgbench_accounts'),
		"accounts_abalance:$tablespace, accounts_expression:$tablespace, "
		  . "accounts_partial:$tablespace, pgbench_accounts_pkey:$tablespace",
		'all indexes are there and valid');
}
is($node->safe_psql('postgres', 'SELECT DISTINCT owner FROM tablespace_moves'), 'owner',
	'the moves are made on behalf of a role that cannot log in');
stop_pgbench($pgbench, 'pgbench beside moves');
check_indexes('after moves under load');

# --- a caller that waits -----------------------------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE t (a int PRIMARY KEY, b int);
	CREATE INDEX t_b ON t (b);
	INSERT INTO t SELECT i, i FROM generate_series(1, 1000) i;
});
my ($old, $caller) = stuck_move('t', 'fast');
is( $node->safe_psql('postgres', qq{
		SELECT count(*) FROM pg_stat_activity
		WHERE pid = $caller->{pid} AND backend_xid IS NOT NULL}),
	'0', 'a waiting caller has no transaction id');
is( $node->safe_psql('postgres', qq{
		SELECT count(*) FROM pg_locks
		WHERE pid = $caller->{pid} AND (relation IN ('t'::regclass, 't_pkey'::regclass)
			OR locktype = 'advisory')}),
	'0', 'a waiting caller has no lock on the table or of a batch');
wait_until($node, qq{(SELECT backend_xmin IS NULL FROM pg_stat_activity WHERE pid = $caller->{pid})}, 'the caller has no snapshot');
pass('a waiting caller has no snapshot');
$caller->{run}->pump until $caller->{err} =~ /NOTICE.*moving public\.t_pkey/;
like($caller->{err}, qr/waiting for old snapshots, \d+(?:\.\d)? % of/, 'a waiting caller tells how far the move is');
like($caller->{err}, qr/waits for the sessions with process IDs $old->{pid}\./, 'progress names the processes that it waits for');

# a second one is refused, wherever it comes from, while the first one waits
my ($status, $out, $err) = $node->psql('postgres',
	"\\set VERBOSITY verbose\nCALL move_indexes_concurrently('t_b', 'slow')");
like($err, qr/55006.*is being moved already/, 'a second move of the index is refused');

# the view does not wait behind those who wait for the table
my $dropper = session($node);
send_to($dropper, "ALTER TABLE t ADD COLUMN c int;");
wait_for_lock_of($node, $dropper->{pid});
is($node->safe_psql('postgres', q{SELECT count(*) FROM tablespace_moves WHERE state = 'running'}),
	'1', 'the view answers while somebody waits for an exclusive lock on the table');

# Ctrl-C, while the workers take their time: progress is printed meanwhile
my @workers = split /\n/, $node->safe_psql('postgres',
	q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'tablespace_advisor move'});
kill 'STOP', @workers;
$node->safe_psql('postgres', "SELECT pg_cancel_backend($caller->{pid})");
$caller->{err} = '';
$caller->{run}->pump until ($caller->{err} =~ s/^NOTICE: /NOTICE: /mg) > 1 || $caller->{err} =~ /ERROR/;
kill 'CONT', @workers;
answer($caller);
like($caller->{err}, qr/57014.*canceling statement due to user request/, 'a cancelled caller says so');
is($node->safe_psql('postgres', q{SELECT count(*) FROM tablespace_moves
		WHERE state = 'cancelled' AND relation_name IN ('public.t_pkey', 'public.t_b')}),
	'2', 'a cancelled caller has cancelled all of its jobs');
answer($dropper);
end_session($dropper);
wait_for_workers($node);
end_session($old);
is(index_places('t'), 't_b:, t_pkey:', 'nothing is left over');
is(ask($caller, 'SELECT 42;'), '42', 'the caller goes on');
end_session($caller);

# a lost one
($old, $caller) = stuck_move('t_b', 'fast');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($caller->{pid})");
eval { $caller->{run}->finish };
wait_until($node, qq{NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $caller->{pid})}, 'the caller is gone');
isnt(the_worker(), '', 'a lost caller does not cancel its job');
end_session($old);
wait_for_workers($node);
like(last_job(), qr/^public\.t_b\|done$/, 'the job of a lost caller ends well');
is(index_places('t'), 't_b:fast, t_pkey:', 'the index has moved');

# statement_timeout
my $timed = session($node);
my $blocker = session($node);
ask($blocker, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;');
ask($timed, "SET statement_timeout = '1s'; CALL move_indexes_concurrently('t_pkey', 'slow', method => 'rebuild');");
like($timed->{err}, qr/57014.*canceling statement due to statement timeout/, 'statement_timeout cancels too');
wait_for_workers($node);
end_session($blocker);
end_session($timed);
is(last_job(), 'public.t_pkey|cancelled|cancelled on request', 'statement_timeout cancels the job');
like($node->safe_psql('postgres', q{SELECT sqlstate || detail FROM tablespace_moves ORDER BY job_id DESC LIMIT 1}),
	qr/^57014By cancel_move\(\), a call that was/, 'the detail of a cancelled job says what can have cancelled it');
is(index_places('t'), 't_b:fast, t_pkey:', 'statement_timeout leaves no transient index');

# --- a worker that ends early ----------------------------------------------------------

($old, $caller) = stuck_move('t_pkey', 'slow');
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(' . the_worker() . ')');
answer($caller);
like($caller->{err}, qr/57014.*could not move public\.t_pkey/, 'pg_cancel_backend() on the worker cancels the job');
wait_for_workers($node);
end_session($_) for $old, $caller;
is(index_places('t'), 't_b:fast, t_pkey:', 'nothing is left over');

($old, $caller) = stuck_move('t_b', 'slow');
$node->safe_psql('postgres', 'SELECT pg_terminate_backend(' . the_worker() . ')');
answer($caller);
like($caller->{err}, qr/58000.*could not move public\.t_\w+: the move's background worker ended unexpectedly/,
	'the caller of a terminated worker gets an error');
is($node->safe_psql('postgres', q{SELECT count(*) FROM tablespace_moves WHERE finished_at IS NULL}),
	'0', 'no job is left in the air');
end_session($_) for $old, $caller;
like(index_places('t'), qr/_ccnew:slow invalid/, 'a transient index waits for the next worker');
$node->safe_psql('postgres', "CALL move_indexes_concurrently('t', 'slow', method => 'rebuild')");
wait_for_workers($node);
is(index_places('t'), 't_b:slow, t_pkey:slow', 'the next worker removes the transient index');

# a foreign invalid index of the same kind of name is not ours to drop
$node->safe_psql('postgres', 'CREATE TABLE f (a int); INSERT INTO f VALUES (1), (1)');
$node->psql('postgres', 'CREATE UNIQUE INDEX CONCURRENTLY f_a_ccnew ON f (a)');
$node->safe_psql('postgres', 'CREATE INDEX f_a ON f (a)');
($old, $caller) = stuck_move('f', 'slow', ", indexes => ARRAY['f_a'::regclass]");
$node->safe_psql('postgres', q{SELECT cancel_move(job_id) FROM tablespace_moves WHERE state = 'running'});
answer($caller);
end_session($_) for $old, $caller;
wait_for_workers($node);
is(index_places('f'), 'f_a:, f_a_ccnew: invalid', 'an invalid index that was there before stays');

# the table is dropped while its indexes are on their way
($old, $caller) = stuck_move('f', 'slow', ", indexes => ARRAY['f_a'::regclass], wait => false");
answer($caller);
$dropper = session($node);
send_to($dropper, "DROP TABLE f;");
wait_for_lock_of($node, $dropper->{pid});
$node->safe_psql('postgres', q{SELECT cancel_move(job_id) FROM tablespace_moves WHERE state = 'running'});
answer($dropper);
is($dropper->{err}, '', 'DROP TABLE goes on when the move is cancelled');
end_session($_) for $old, $caller, $dropper;
wait_for_workers($node);
like(last_job(), qr/^public\.f_a\|cancelled/, 'statement_timeout cancels the job');

# --- no worker to be had ------------------------------------------------------------------

my @stuck;
$node->safe_psql('postgres', "CREATE TABLE w$_ (a int PRIMARY KEY)") for 1 .. 5;
my $blocking = session($node);
ask($blocking, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;');
$node->safe_psql('postgres', "CALL move_indexes_concurrently('w$_', 'slow', method => 'rebuild', wait => false)")
	for 1 .. 4;
my $jobs = $node->safe_psql('postgres', 'SELECT count(*) FROM tablespace_moves');
($status, $out, $err) = $node->psql('postgres',
	"\\set VERBOSITY verbose\nCALL move_indexes_concurrently('w5', 'slow')");
like($err, qr/53000.*could not start a background worker.*No worker slot is free/s, 'no free worker slot');
is($node->safe_psql('postgres', 'SELECT count(*) FROM tablespace_moves'), $jobs, 'a call without a free worker slot leaves no job');
end_session($blocking);
wait_for_workers($node);
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT state, ',') FROM tablespace_moves
		WHERE relation_name ~ 'public.w'}), 'done', 'the others end well');

# --- crash ---------------------------------------------------------------------------------

# PostgreSQL::Test::Cluster switches restarting off
$node->append_conf('postgresql.conf', 'restart_after_crash = on');
$node->reload;
($old, $caller) = stuck_move('t', 'fast');
crash($node, the_worker());
eval { $_->{run}->finish } for $old, $caller;
is($node->safe_psql('postgres', q{SELECT string_agg(state, ',' ORDER BY job_id) FROM tablespace_moves
		WHERE finished_at IS NULL}), 'running,queued', 'the crash leaves jobs as they were');
my $dead = $node->safe_psql('postgres', q{SELECT job_id FROM tablespace_moves WHERE state = 'running'});
is($node->safe_psql('postgres', "SELECT cancel_move($dead)"), 'f', 'the next call finds their worker dead');
is(job_field($node, $dead, 'error'), "the move's background worker ended unexpectedly", 'the call that finds a worker dead recovers its running job');
is(last_job(), 'public.t_b|queued', 'cancel_move() does not begin what is queued');
is($node->safe_psql('postgres', q{SELECT cancel_move(max(job_id)) FROM tablespace_moves}), 't', 'a job whose worker is dead is cancelled before it is begun');
$dead = $node->safe_psql('postgres', q{SELECT max(job_id) FROM tablespace_moves});
$node->safe_psql('postgres', "SELECT retry_move($dead)");
wait_for_workers($node);
is(last_job(), 'public.t_b|done', 'the retry succeeds');
is(index_places('t'), 't_b:fast, t_pkey:slow', 'the worker of the retry has removed the transient index');
check_indexes('after a crash');

# --- standby -------------------------------------------------------------------------------

my $standby = start_standby($node);
for my $call ("CALL move_indexes_concurrently('t', 'slow')", 'SELECT cancel_move(1)', 'SELECT retry_move(1)')
{
	($status, $out, $err) = $standby->psql('postgres', "\\set VERBOSITY verbose\n$call");
	like($err, qr/25006.*during recovery/, "refused on a standby: $call");
}
$node->safe_psql('postgres', "CALL move_indexes_concurrently('t', 'slow', method => 'rebuild')");
$node->wait_for_catchup($standby);
is( $standby->safe_psql('postgres', q{
		SET enable_seqscan = off; SELECT count(*) FROM t WHERE b BETWEEN 1 AND 100}),
	'100', 'a standby follows a move');
$standby->stop;

# DROP EXTENSION leaves nothing, and waits for a worker
($old, $caller) = stuck_move('t_b', 'fast', ', wait => false');
$dropper = session($node);
send_to($dropper, "DROP EXTENSION tablespace_advisor;");
wait_for_lock_of($node, $dropper->{pid});
end_session($old);
answer($dropper);
is($dropper->{err}, '', 'DROP EXTENSION waits for the worker and succeeds');
end_session($_) for $caller, $dropper;
is(index_places('t'), 't_b:fast, t_pkey:slow', 'the move that DROP EXTENSION waited for is done');

# --- a full target -----------------------------------------------------------------------

# a file system of 2 MB, mounted where only this server sees it
SKIP:
{
	my $small = PostgreSQL::Test::Utils::tempdir;
	my @alone = with_small_file_system($small, 2);
	skip 'cannot mount a small file system in a name space of its own', 5
		unless @alone;

	my $full = PostgreSQL::Test::Cluster->new('full');
	$full->init;
	$full->append_conf('postgresql.conf', 'wal_level = replica');
	start_by($full, @alone);
	$full->safe_psql('postgres', q{
		CREATE EXTENSION tablespace_advisor;
		CREATE TABLE big (a int, b text);
		INSERT INTO big SELECT i, repeat(md5(i::text), 10) FROM generate_series(1, 10000) i;
		CREATE INDEX big_a ON big (a);
		CREATE INDEX big_b ON big (b)});
	$full->safe_psql('postgres', "CREATE TABLESPACE small LOCATION '$small'");
	($status, $out, $err) = $full->psql('postgres',
		"\\set VERBOSITY verbose\nCALL move_indexes_concurrently('big', 'small')");
	like($err, qr/53100.*not enough space in tablespace "small".*are needed, 2048 kB are free/s,
		'a tablespace that is too small is refused');
	is($full->safe_psql('postgres', 'SELECT count(*) FROM tablespace_moves'), '0', 'before anything is queued');

	# room enough at first, but no more when the new index is written
	my $primary = $node;
	$node = $full;
	$full->safe_psql('postgres', 'CREATE TABLE hog (a text) TABLESPACE small;
		ALTER TABLE hog ALTER a SET STORAGE plain');
	my $writer = session($full);
	ask($writer, 'BEGIN; INSERT INTO big VALUES (0);');
	my $mover = session($full);
	send_to($mover, "CALL move_indexes_concurrently('big_a', 'small', method => 'rebuild');");
	wait_until($node, qq{EXISTS (SELECT FROM tablespace_moves WHERE $writer->{pid} = ANY (blocked_by))}, 'the move waits for the writer');
	($status, $out, $err) = $full->psql('postgres',
		q{INSERT INTO hog SELECT repeat('x', 8000) FROM generate_series(1, 1000)});
	like($err, qr/No space left on device/, 'somebody fills it up');
	ask($writer, 'COMMIT;');
	answer($mover);
	like($mover->{err}, qr/53100.*could not move public\.big_a: .*No space left on device/, 'the move fails');
	end_session($_) for $writer, $mover;
	wait_for_workers($node);
	is(index_places('big'), 'big_a:, big_b:', 'nothing is left over');
	$node = $primary;
	$full->stop;
}

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|terminated by signal (?:6|11)/, 'no crash but those on purpose');

done_testing();
