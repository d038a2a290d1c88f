# Copyright (c) 2026, The tablespace_advisor developers

# What somebody has done in a transaction that stays open holds up nobody who has
# nothing to do with it.

use TsaTest;

my $node = start_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
tablespace_advisor.sample_interval = 0
autovacuum = off
});
make_users($node);

# --- localities that are measured -------------------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE dropped AS SELECT g AS a FROM generate_series(1, 1000) g;
	CREATE INDEX ON dropped (a);
	CREATE TABLE hers AS TABLE dropped;
	CREATE INDEX ON hers (a);
	CREATE TABLE other AS TABLE dropped;
	CREATE INDEX ON other (a);
	ALTER TABLE hers OWNER TO mallory;
	ALTER TABLE other OWNER TO alice;
	SELECT FROM measure_index_locality('dropped');
	DROP TABLE dropped}, extra_params => ['-q']);
my $open = keep_open($node, q{SELECT FROM measure_index_locality('hers');});
is(told($node, q{
		SET client_min_messages = error;
		SELECT count(DISTINCT index) FROM measure_index_locality('other')}, user => 'alice'),
	'1', 'a locality is measured while another transaction measures');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM tablespace_advisor.index_locality
		WHERE relation = 'other'::regclass}), '1', 'the locality measured beside it is kept');
like(messages_of($node, q{SET statement_timeout = '60s'; SELECT FROM measure_index_locality('hers')}),
	qr/ERROR:  55P03: canceling statement due to lock timeout/, 'who measures the same index does not wait for long');
end_session($open);

# --- samples ------------------------------------------------------------------------

# What a member of pg_monitor has sampled is committed, whatever she does next.
$node->safe_psql('postgres', 'CREATE ROLE monitor LOGIN IN ROLE pg_monitor');
$open = session($node, user => 'monitor');
ask($open, 'BEGIN; CALL sample_activity();');
like($open->{err}, qr/ERROR:  25001: sample_activity\(\) cannot run inside a transaction block/,
	'no sample is taken in a transaction block');
ask($open, 'ROLLBACK;');
$open->{err} = '';
ask($open, 'BEGIN; SELECT tablespace_advisor.take_sample(0);');
like($open->{err}, qr/ERROR:  42501: permission denied for function take_sample/,
	'what a transaction could keep open is not for members of pg_monitor');
ask($open, 'ROLLBACK;');
$open->{err} = '';
send_to($open, 'DO $$ BEGIN CALL sample_activity(); PERFORM pg_sleep(600); END $$;');
wait_until($node, q{EXISTS (SELECT FROM pg_stat_activity
	WHERE usename = 'monitor' AND wait_event = 'PgSleep' AND query LIKE 'DO %'
		AND backend_xid IS NULL)
	AND EXISTS (SELECT FROM tablespace_advisor.sample)}, 'a member of pg_monitor has taken a sample');
is(told($node, 'CALL sample_activity(); SELECT count(*) FROM tablespace_advisor.sample'), '2',
	'others take samples while her transaction stays open');
$node->safe_psql('postgres', q{
	SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'monitor'});
end_session($open);

# Nor has a sample locked anything while something of hers runs: what a commit has put
# off, the rest of a cursor's query.
$node->safe_psql('postgres', q{
	CREATE SCHEMA AUTHORIZATION monitor;
	SET ROLE monitor;
	CREATE TABLE monitor.hers (a int);
	CREATE FUNCTION monitor.linger() RETURNS trigger LANGUAGE plpgsql
	AS $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$;
	CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON monitor.hers
	DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION monitor.linger()});
my %sneaked = (
	'in a deferred trigger' => q{DO $$ BEGIN
		INSERT INTO monitor.hers VALUES (1);
		CALL sample_activity();
	END $$;},
	'in a cursor of hers' => q{DO $$ DECLARE i int; BEGIN
		FOR i IN SELECT CASE WHEN g > 100 THEN length(pg_sleep(600)::text) ELSE g END
			FROM generate_series(1, 101) g
		LOOP
			CALL sample_activity();
		END LOOP;
	END $$;});
foreach my $where (sort keys %sneaked)
{
	$open = session($node, user => 'monitor');
	send_to($open, $sneaked{$where});
	wait_until($node, q{EXISTS (SELECT FROM pg_stat_activity
		WHERE usename = 'monitor' AND wait_event = 'PgSleep' AND backend_xmin IS NOT NULL)
		AND NOT EXISTS (SELECT FROM pg_stat_activity
		WHERE usename = 'monitor' AND wait_event <> 'PgSleep')}, "her call lingers $where");
	is(told($node, 'CALL sample_activity()'), '', "others take samples while her call lingers $where");
	$node->safe_psql('postgres', q{
		SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'monitor'});
	end_session($open);
}

# Nor does she keep others waiting by not listening from when her sample is locked.
my $deaf = deaf_client($node, 'monitor', 'CALL sample_activity()');
$deaf->blocking(0);
until ($node->safe_psql('postgres', q{
		SELECT EXISTS (SELECT FROM pg_locks
			WHERE relation = 'tablespace_advisor.sample'::regclass AND granted
				AND mode = 'ShareRowExclusiveLock')
			OR EXISTS (SELECT FROM pg_stat_activity
			WHERE usename = 'monitor' AND state = 'idle' AND query LIKE 'CALL %')}) eq 't')
{
	sysread $deaf, my $heard, 100_000;
}
is(told($node, 'CALL sample_activity()'), '', 'others take samples beside a client that does not listen');
close $deaf;

# So is what standbys have read, of which she brings as much as she likes.
my $bring = q{SELECT add_standby_activity(jsonb_build_object(
		'system_identifier', s.system_identifier::text, 'database', d.oid,
		'observed_at', now(), 'relations', jsonb_build_array(jsonb_build_object(
			'relation', 'pg_class'::regclass::oid, 'reads_per_s', 1, 'hits_per_s', 1,
			'scans_per_s', 1))), 'standby')
	FROM pg_control_system() s, pg_database d WHERE d.datname = current_database();};
$open = keep_open($node, $bring, user => 'monitor');
like(messages_of($node, $bring), qr/canceling statement due to lock timeout/,
	'what another transaction brings of the same standby is not waited for');
ask($open, 'ROLLBACK;');
end_session($open);

# --- pins ---------------------------------------------------------------------------

# A round of apply_placement() pins what it has moved back.
told($node, q{CALL move_table_concurrently('hers', 'slow')}, user => 'mallory');
$open = keep_open($node, q{SELECT pin_placement('hers');});
unlike(told($node, q{
		INSERT INTO tablespace_advisor.placement_round (batch_id, round_id, is_undo)
		SELECT max(batch_id), max(batch_id), true FROM tablespace_advisor.job;
		SELECT tablespace_advisor.finish_rounds()}), qr/ERROR/,
	'a round ends while an open transaction has pinned what it pins');
send_to($open, 'ROLLBACK;');
end_session($open);

# --- moves that are queued --------------------------------------------------------

# Her table and the other one: OIDs that leave the same remainder, by which
# locks could be shared.
$node->safe_psql('postgres', q{
	CREATE TABLE moved (a int PRIMARY KEY) TABLESPACE slow;
	ALTER TABLE moved OWNER TO mallory;
	DO $$ BEGIN
		FOR i IN 1 .. 1000 LOOP
			CREATE TABLE twin (a int) TABLESPACE slow;
			EXIT WHEN 'twin'::regclass::oid::int8 % 64 = 'moved'::regclass::oid::int8 % 64;
			DROP TABLE twin;
		END LOOP;
	END $$;
	ALTER TABLE twin OWNER TO alice});
told($node, q{CALL move_table_concurrently('moved', 'fast')}, user => 'mallory');
$open = keep_open($node, q{SELECT undo_move(max(job_id)) FROM tablespace_moves;});
like(told($node, q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice'), qr/^\{\d+\}$/,
	'a table moves while a transaction that is open has queued a move of another one');
my $err = told($node, q{CALL evacuate_tablespace('fast', 'slow')});
like($err, qr/WARNING:  leaving table "moved" where it is\nDETAIL:  A transaction that has not ended is queueing or changing a move of it/,
	'an evacuation leaves what somebody is queueing');
like($err, qr/NOTICE:  moved table public\.twin /, 'an evacuation moves what nobody is queueing');
like(told($node, q{CALL move_table_concurrently('moved', 'slow')}, user => 'mallory'),
	qr/ERROR:  canceling statement due to lock timeout/,
	'another move of the same table waits for the open transaction');
send_to($open, 'ROLLBACK;');
end_session($open);
like(told($node, q{CALL move_table_concurrently('moved', 'slow')}, user => 'mallory'), qr/^\{\d+\}$/,
	'the move of the same table goes on when the transaction has ended');

# The move of the table, which waits for somebody's lock, is committed while a
# call that queues a move of its index has looked for moves of open transactions,
# but not yet for committed ones.
my $holder = session($node);
ask($holder, 'BEGIN; LOCK TABLE moved IN SHARE UPDATE EXCLUSIVE MODE;');
$open = keep_open($node, q{SELECT undo_move(max(job_id)) FROM tablespace_moves
	WHERE relation = 'moved'::regclass;});
stop_at($node, 'queue looked at');
my $caller = session($node, user => 'mallory');
send_to($caller, q{CALL move_indexes_concurrently('moved_pkey', 'fast', wait => false);});
wait_for_stop($node, 'queue looked at');
ask($open, 'COMMIT;');
release($node);
is(answer($caller), '', 'a call is refused beside one that commits between its two looks');
like($caller->{err}, qr/index "moved_pkey" is being moved already\nDETAIL:  The move of its table "moved"/,
	'what commits between the two looks of a call is seen by one of them');
end_session($_) for $caller, $holder, $open;
$node->safe_psql('postgres', 'SELECT wait_for_moves(ARRAY(SELECT job_id FROM tablespace_moves))');

# The move of a partitioned table's entry, which waits for its partition's, while
# somebody is cancelling it; and an older one that was cancelled.
$node->safe_psql('postgres', q{
	CREATE TABLE parted (a int) PARTITION BY LIST (a) TABLESPACE slow;
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1) TABLESPACE slow;
	ALTER TABLE parted OWNER TO mallory;
	ALTER TABLE parted_1 OWNER TO mallory});
$holder = session($node);
ask($holder, 'BEGIN; LOCK TABLE parted_1 IN SHARE UPDATE EXCLUSIVE MODE;');
my $entry = q{SELECT max(job_id) FROM tablespace_moves WHERE relation = 'parted'::regclass};
my $queue = q{CALL move_table_concurrently('parted', 'fast', wait => false)};
told($node, $queue, user => 'mallory');
my $older = $node->safe_psql('postgres', $entry);
$node->safe_psql('postgres', q{
	SELECT cancel_move(job_id) FROM tablespace_moves
	WHERE relation IN ('parted'::regclass, 'parted_1'::regclass);
	SELECT wait_for_moves(ARRAY(SELECT job_id FROM tablespace_moves))});
told($node, $queue, user => 'mallory');
$open = keep_open($node, "SELECT cancel_move(($entry));");
like(told($node, "SELECT retry_move($older)", user => 'mallory'), qr/table "parted" is being moved already/,
	'a call does not wait for a job that it is refused for');
end_session($open);
end_session($holder);
$node->safe_psql('postgres', 'SELECT wait_for_moves(ARRAY(SELECT job_id FROM tablespace_moves))');

# The client of a call that queues moves does not listen from when it has looked for
# others.
$node->safe_psql('postgres', q{
	CREATE TABLE much (a int) TABLESPACE slow;
	ALTER TABLE much OWNER TO mallory;
	DO $$ BEGIN
		FOR i IN 1 .. 20 LOOP
			CREATE INDEX ON much (a) TABLESPACE slow;
		END LOOP;
	END $$});
stop_at($node, 'queue looked at');
$deaf = deaf_client($node, 'mallory',
	q{CALL move_indexes_concurrently('much', 'fast', wait => false)});
$deaf->blocking(0);
until ($node->safe_psql('postgres', q{
		SELECT count(*) FROM pg_stat_activity WHERE query = 'live copy stopped at: queue looked at'}))
{
	sysread $deaf, my $heard, 1_000_000;
}
release($node);
wait_until($node, q{EXISTS (SELECT FROM pg_stat_activity
	WHERE usename = 'mallory' AND (state = 'idle' OR wait_event = 'ClientWrite'))}, 'she does not listen');
like(told($node, q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice'), qr/^\{\d+\}$/,
	'others queue moves beside a client that does not listen');
close $deaf;
told($node, q{CALL move_table_concurrently('twin', 'slow')}, user => 'alice');
$node->safe_psql('postgres', 'SELECT wait_for_moves(ARRAY(SELECT job_id FROM tablespace_moves))');

# --- jobs of another database -------------------------------------------------------

$node->safe_psql('template1', 'CREATE DATABASE copied TEMPLATE postgres');
$open = keep_open($node, q{SELECT wait_for_moves('{}');}, dbname => 'copied');
like(told($node, q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice', dbname => 'copied'),
	qr/^\{\d+\}$/, 'a call goes on while another transaction forgets foreign jobs');
end_session($open);

# --- a request to pause that is withdrawn, of a job to be forgotten ------------------

$node->safe_psql('postgres', q{
	UPDATE tablespace_advisor.job SET finished_at = now() - interval '2 years'
	WHERE heap = 'moved'::regclass;
	INSERT INTO tablespace_advisor.request (job_id)
	SELECT min(job_id) FROM tablespace_advisor.job WHERE heap = 'moved'::regclass});
$open = keep_open($node, q{SELECT resume_move(min(job_id)) FROM tablespace_moves
	WHERE relation = 'moved'::regclass;});
told($node, q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice');
workers_end($node, 'a worker ends while a transaction withdraws a request to pause an old job');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM tablespace_advisor.job WHERE heap = 'moved'::regclass}),
	'1', 'the job whose request is being withdrawn is kept');
send_to($open, 'COMMIT;');
end_session($open);
told($node, q{CALL move_table_concurrently('twin', 'slow')}, user => 'alice');
workers_end($node, 'the next worker');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM tablespace_advisor.job WHERE heap = 'moved'::regclass}),
	'0', 'forgets it');

# --- a queued job that somebody is cancelling -----------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE three (a int, b int, c int);
	INSERT INTO three SELECT i, i, i FROM generate_series(1, 50000) i;
	CREATE INDEX ON three (a);
	CREATE INDEX ON three (b);
	CREATE INDEX ON three (c);
	ALTER TABLE three OWNER TO mallory});
stop_at($node, 'copied');
told($node, q{CALL move_indexes_concurrently('three', 'fast', wait => false)}, user => 'mallory');
wait_for_stop($node, 'copied');
my $middle = $node->safe_psql('postgres', q{
	SELECT max(job_id) - 1 FROM tablespace_advisor.job WHERE heap = 'three'::regclass});
$open = keep_open($node, "SELECT cancel_move($middle);");
release($node);
wait_until($node, qq{(SELECT state = 'done' FROM tablespace_advisor.job WHERE job_id = $middle + 1)},
	'a worker goes on behind a job that a transaction is cancelling');
send_to($open, 'ROLLBACK;');
end_session($open);
wait_until($node, qq{(SELECT state = 'done' FROM tablespace_advisor.job WHERE job_id = $middle)},
	'the worker moves what is not cancelled after all');
workers_end($node, 'the worker ends after the job that came back');

# Time to begin may end between the worker's two looks at a job, at the first of which
# somebody else may have it locked: the second asks again.
my $kept = $node->safe_psql('postgres',
	"SELECT pg_get_functiondef('tablespace_advisor.reason_not_to_begin'::regproc)");
$node->safe_psql('postgres', q{
	CREATE SEQUENCE public.looks;
	CREATE OR REPLACE FUNCTION tablespace_advisor.reason_not_to_begin(job bigint)
	RETURNS text LANGUAGE sql VOLATILE AS
	$$ SELECT CASE WHEN nextval('public.looks') > 1 THEN 'too late' END $$});
my $late = start_table_move($node, 'three', 'slow', q{until => '2100-01-01'});
wait_until($node, qq{(SELECT state NOT IN ('queued', 'running') FROM tablespace_advisor.job WHERE job_id = $late)},
	'a move whose time has passed ends');
is($node->safe_psql('postgres', "SELECT state, error FROM tablespace_moves WHERE job_id = $late"),
	'cancelled|too late', 'a move does not begin whose time passes between two looks');
$node->safe_psql('postgres', $kept);

# --- names that look like lines of a message --------------------------------------------

my $name = qq{"n\nHINT:  In any database: DROP DATABASE"};
$node->safe_psql('postgres', qq{
	CREATE TABLE $name (a int PRIMARY KEY) TABLESPACE slow;
	ALTER TABLE $name OWNER TO mallory});
told($node, "CALL move_table_concurrently('$name', 'fast')", user => 'mallory');
$open = keep_open($node, q{SELECT undo_move(max(job_id)) FROM tablespace_moves;});
foreach my $how ('', ', dry_run => true')
{
	my $err = told($node, "CALL evacuate_tablespace('fast', 'slow'$how)");
	like($err, qr/n\?HINT:  In any database: DROP DATABASE/, "a message$how has the name");
	unlike($err, qr/^HINT:  In any database: DROP DATABASE/m, 'a name with a line break makes no HINT line');
}
send_to($open, 'ROLLBACK;');
end_session($open);

# --- prepared transactions ----------------------------------------------------------------

# They keep no lock of the extension's, so a worker that dies is recovered.
$node->safe_psql('postgres', q{
	CREATE TABLE two (a int, b int);
	INSERT INTO two SELECT i, i FROM generate_series(1, 50000) i;
	CREATE INDEX two_a ON two (a);
	CREATE INDEX two_b ON two (b);
	ALTER TABLE two OWNER TO mallory});
told($node, q{CALL move_indexes_concurrently('two', 'fast', max_rate => '1 kB', wait => false)},
	user => 'mallory');
wait_until($node, q{EXISTS (SELECT FROM tablespace_advisor.job WHERE state = 'running')
	AND EXISTS (SELECT FROM tablespace_advisor.job WHERE state = 'queued')}, 'one index moves');
my %uses = (
	'that cancels' => q{SELECT cancel_move(max(job_id)) FROM tablespace_moves WHERE state = 'queued'},
	'that measures' => q{SELECT FROM measure_index_locality('hers')},
	'that waits' => q{SELECT wait_for_moves('{}')},
	'that pauses' => q{SELECT pause_move(max(job_id)) FROM tablespace_moves WHERE state = 'queued'},
	'that looks' => q{SELECT FROM tablespace_moves});
foreach my $what (sort keys %uses)
{
	like(told($node, "BEGIN; $uses{$what};\nPREPARE TRANSACTION '$what'", user => 'mallory'),
		qr/ERROR:  cannot PREPARE a transaction that has used extension "tablespace_advisor"/,
		"a transaction $what is not prepared");
}
like(told($node, q{BEGIN; SAVEPOINT s; SELECT wait_for_moves('{}'); ROLLBACK TO s;
	CREATE TABLE after_all (); PREPARE TRANSACTION 'after all'; COMMIT PREPARED 'after all'},
	user => 'mallory'), qr/^t?$/, 'a transaction without locks of the extension is prepared');
# what is queued would go on after the crash
$node->safe_psql('postgres', $uses{'that cancels'});
crash($node);
wait_until($node, q{NOT EXISTS (SELECT FROM tablespace_advisor.job WHERE state = 'running')
	AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'tablespace_advisor recovery')},
	'the launcher has recovered what it can');
like(told($node, q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice'), qr/^\{\d+\}$/,
	'after a crash beside a prepared transaction a call goes on');
told($node, q{CALL move_table_concurrently('twin', 'slow')}, user => 'alice');
like(told($node, q{SET default_transaction_read_only = on; SELECT wait_for_moves('{1}')}),
	qr/^t$/, 'a read-only transaction can wait for moves');
is($node->safe_psql('postgres', q{
		SELECT string_agg(DISTINCT state, ' ') FROM tablespace_advisor.job
		WHERE heap = 'two'::regclass}), 'cancelled failed', 'the job is recovered after the read-only transaction');

$node->stop;
done_testing();
