# Copyright (c) 2026, The tablespace_advisor developers

# Callers whose transactions stay open or see an old snapshot, and roles that call
# in several databases.

use TsaTest;

my $node = start_node('main', conf => "autovacuum = off\n");
$node->safe_psql('postgres', q{
	CREATE TABLE t (a int PRIMARY KEY, b int);
	INSERT INTO t SELECT i, i FROM generate_series(1, 20000) i;
	CREATE INDEX t_b ON t (b);
	CREATE TABLE u (a int PRIMARY KEY);
	INSERT INTO u SELECT generate_series(1, 20000)});

# --- a caller whose transaction stays open -----------------------------------------

# A crash leaves two moves; a transaction recovers them and does not end.  That
# keeps neither of them locked.
sub crash_of_two_moves
{
	my @jobs;

	stop_at($node, 'copied');
	push @jobs, start_move($node, 't_b', tablespaces_of($node, 't_b') eq 'fast' ? 'slow' : 'fast');
	push @jobs, start_move($node, 'u', tablespaces_of($node, 'u') eq 'fast' ? 'slow' : 'fast');
	wait_until($node, "SELECT count(*) = 2 FROM pg_stat_activity WHERE query = 'live copy stopped at: copied'",
		'both moves stop');
	crash($node);
	release($node);
	return @jobs;
}
my @jobs = crash_of_two_moves();
my $open = session($node);
is(ask($open, "BEGIN; SELECT cancel_move($jobs[0]);"), 'f', 'cancel_move() in a transaction that stays open');
is(messages_of($node, "SELECT retry_move($jobs[1])"), '', "another session gets at the other's move");
is(messages_of($node, "SELECT retry_move($jobs[0])"), '', 'another session gets at the same move');
ask($open, 'ROLLBACK;');
is($node->safe_psql('postgres', "SELECT wait_for_moves(array_agg(job_id)) FROM tablespace_moves"), 't',
	'both moves end');

# Nor do procedures while something runs that their caller has put off until a commit.
$node->safe_psql('postgres', q{
	CREATE TABLE put_off (a int);
	CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql
	AS $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$;
	CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON put_off
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION linger()});
foreach my $call (q{move_table_concurrently('u', 'fast', job_ids => ids)},
	q{evacuate_tablespace('slow', 'fast', job_ids => ids)})
{
	@jobs = crash_of_two_moves();
	$open = session($node);
	send_to($open, qq{DO \$\$ DECLARE ids bigint[]; BEGIN
			INSERT INTO put_off VALUES (1);
			CALL $call;
		END \$\$;});
	wait_until($node, qq{(SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = $open->{pid})},
		"what was put off before $call runs");
	is(messages_of($node, "SELECT retry_move($_)"), '', "another session gets at a move beside $call") for @jobs;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($open->{pid})");
	answer($open);
	end_session($open);
	$node->safe_psql('postgres', 'SELECT wait_for_moves(array_agg(job_id)) FROM tablespace_moves');
}

@jobs = crash_of_two_moves();
$open = session($node);
stop_at($node, 'copied');
my $third = start_move($node, 't_pkey', 'fast');
send_to($open, "SELECT wait_for_moves('{$third}');");
wait_until($node, "(SELECT state = 'active' FROM pg_stat_activity WHERE pid = $open->{pid})", 'the call waits');
is(messages_of($node, "SELECT retry_move($jobs[1])"), '',
	'wait_for_moves() in an open transaction does not keep a crashed move to itself');
release($node);
ask($open, '');
$node->safe_psql('postgres', 'SELECT wait_for_moves(array_agg(job_id)) FROM tablespace_moves');

# --- a caller with an old snapshot ----------------------------------------------------

# The row of a queued job changes while its cancellation waits for it, which is no
# serialization failure under REPEATABLE READ.
sub two_queued
{
	my ($sql) = @_;

	stop_at($node, 'copied');
	my $s = session($node);
	send_to($s, $sql);
	my $there = tablespaces_of($node, 't');
	my ($to) = grep { $there !~ /$_/ } qw(fast slow pg_default);
	send_to($s, "CALL move_indexes_concurrently('t', '$to');");
	wait_for_stop($node, 'copied');
	return $s;
}

my $caller = two_queued(q{SET default_transaction_isolation = 'repeatable read';});
my $queued = $node->safe_psql('postgres', q{SELECT job_id FROM tablespace_moves WHERE state = 'queued'});
like($queued, qr/^\d+$/, 'a job is queued');
my $holder = session($node);
ask($holder, "BEGIN; UPDATE tablespace_advisor.job SET phase = phase WHERE job_id = $queued;");
$node->safe_psql('postgres', "SELECT pg_cancel_backend($caller->{pid})");
wait_until($node, "(SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $caller->{pid})",
	'the caller waits for the row');
ask($holder, 'COMMIT;');
ask($caller, '');
like($caller->{err}, qr/ERROR:  57014: canceling statement/, 'a caller under REPEATABLE READ is cancelled');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM tablespace_moves WHERE state IN ('queued', 'running', 'paused')}),
	'0', 'jobs of a caller cancelled under REPEATABLE READ are cancelled');
end_session($caller);
release($node);

foreach my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
	$caller = two_queued('');
	$queued = $node->safe_psql('postgres', q{SELECT job_id FROM tablespace_moves WHERE state = 'queued'});
	my $other = session($node);
	ask($other, "BEGIN ISOLATION LEVEL $level; SELECT count(*) FROM t;");
	ask($holder, "BEGIN; UPDATE tablespace_advisor.job SET phase = phase WHERE job_id = $queued;");
	send_to($other, "SELECT cancel_move($queued);");
	wait_until($node, "(SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $other->{pid})",
		'the cancel waits for the row');
	ask($holder, 'COMMIT;');
	is(ask($other, ''), 't', "cancel_move() in a $level transaction");
	is(ask($other, 'SHOW transaction_isolation;'), lc $level, "cancel_move() leaves the isolation level $level");
	ask($other, 'COMMIT;');
	is($other->{err}, '', "the transaction commits after cancel_move() ($level)");
	is(job_field($node, $queued, 'state'), 'cancelled', 'the job is cancelled');
	end_session($other);
	release($node);
	ask($caller, '');
	end_session($caller);
}
end_session($_) foreach $holder, $open;

# --- a job whose end failed once ------------------------------------------------------------

# The worker has ended it at the second try; who cancels the next one does not wait.
$node->safe_psql('postgres', q{
	CREATE SEQUENCE ends;
	CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF nextval('public.ends') = 1 THEN RAISE 'failed once'; END IF;
		RETURN NEW;
	END $$;
	CREATE TRIGGER fail_once BEFORE UPDATE ON tablespace_advisor.job FOR EACH ROW
		WHEN (NEW.state = 'done' AND OLD.state <> 'done') EXECUTE FUNCTION fail_once()});
$caller = two_queued('');
my ($first, $next) = $node->safe_psql('postgres', q{
		SELECT array_agg(job_id ORDER BY job_id) FROM tablespace_moves
		WHERE state IN ('queued', 'running')}) =~ /(\d+)/g;
stop_at($node, 'storage created');
wait_until_job($node, $next, "state = 'running'");
is(job_field($node, $first, 'state'), 'done', 'a job whose end failed once has ended');
is($node->safe_psql('postgres', 'SELECT last_value > 1 FROM ends'), 't', 'the end of a job failed once');
is(messages_of($node, "SET lock_timeout = '5s'; SELECT cancel_move($next)"), '',
	'after a job whose end failed once the next one is cancelled without a wait');
release($node);
is(wait_for_job($node, $next), 'cancelled', 'the next job is cancelled');
answer($caller);
end_session($caller);
$node->safe_psql('postgres', 'DROP TRIGGER fail_once ON tablespace_advisor.job');

# --- worker slots ------------------------------------------------------------------------

# A role cannot have all of them, with moves that pause.
$node->safe_psql('postgres', q{
	CREATE ROLE alice;
	CREATE ROLE bob;
	GRANT CREATE ON TABLESPACE fast, slow TO alice, bob;
	ALTER TABLE t OWNER TO alice;
	ALTER TABLE u OWNER TO bob;
	CREATE DATABASE other});
$node->safe_psql('other', q{
	CREATE EXTENSION tablespace_advisor;
	CREATE TABLE t (a int PRIMARY KEY);
	INSERT INTO t SELECT generate_series(1, 20000);
	ALTER TABLE t OWNER TO alice});
$node->append_conf('postgresql.conf', 'tablespace_advisor.max_calls_per_role = 1');
stop_at($node, 'copied');
my $to = tablespaces_of($node, 't_b') eq 'fast' ? 'slow' : 'fast';
my $job = $node->safe_psql('postgres', qq{
	SET SESSION AUTHORIZATION alice;
	CALL move_indexes_concurrently('t_b', '$to', wait => false)}) =~ s/\D//gr;
wait_for_stop($node, 'copied');
$node->safe_psql('postgres', "SELECT pause_move($job)");
release($node);
wait_until_job($node, $job, "state = 'paused'");
my $as_alice = q{SET SESSION AUTHORIZATION alice; CALL move_indexes_concurrently('t', 'fast')};
like(messages_of($node, $as_alice, dbname => 'other'), qr/53400.*too many moves for role "alice"/,
	'a role has a limit, in all databases, which a paused move counts to');
$to = tablespaces_of($node, 'u') eq 'fast' ? 'slow' : 'fast';
is(messages_of($node, qq{
		SET client_min_messages = warning;
		SET SESSION AUTHORIZATION bob; CALL move_indexes_concurrently('u', '$to')}),
	'', 'other roles have theirs');
$node->safe_psql('postgres', "SELECT resume_move($job)");
is(wait_for_job($node, $job), 'done', 'the move goes on');
wait_for_workers($node);
unlike(messages_of($node, $as_alice, dbname => 'other'), qr/ERROR/, 'after its worker has ended another call may begin');

$node->stop;
check_log($node, 'all', qr/53400|too many moves|cancel|terminating|failed once/);
done_testing();
