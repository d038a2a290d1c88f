# What somebody keeps locked, in a transaction that stays open or is prepared,
# holds up nobody who has nothing to do with it.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

my $node = new_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
tablespace_advisor.sample_interval = 0
autovacuum = off
});
$node->start;
prepare_node($node);
$node->safe_psql('postgres', q{
	CREATE ROLE mallory LOGIN;
	CREATE ROLE alice LOGIN;
	GRANT CREATE ON SCHEMA public TO mallory, alice;
	GRANT CREATE ON TABLESPACE slow, fast TO mallory, alice});

# A statement of somebody's, who would give up after five seconds: what it says.
sub told
{
	my ($sql, %args) = @_;
	my $dbname = $args{dbname} // 'postgres';
	my ($out, $err);

	$node->psql($dbname, "SET lock_timeout = '5s';\n$sql",
		connstr => $node->connstr($dbname) . ' user=' . ($args{user} // 'postgres'),
		stdout => \$out, stderr => \$err);
	return $err eq '' ? $out : $err;
}

# A transaction of mallory's that stays open.
sub keep_open
{
	my ($sql, %args) = @_;
	my $s = session($node, user => 'mallory', %args);

	ask($s, "BEGIN; $sql");
	die $s->{err} if $s->{err} =~ /ERROR/;
	return $s;
}

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
my $open = keep_open(q{SELECT FROM measure_index_locality('hers');});
is(told(q{
		SET client_min_messages = error;
		SELECT count(DISTINCT index) FROM measure_index_locality('other')}, user => 'alice'),
	'1', 'a locality is measured while another transaction measures');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM tablespace_advisor.index_locality
		WHERE relation = 'other'::regclass}), '1', 'and kept');
end_session($open);

# --- pins ---------------------------------------------------------------------------

# A round of apply_placement() pins what it has moved back.
told(q{CALL move_table_concurrently('hers', 'slow')}, user => 'mallory');
$open = keep_open(q{SELECT pin_placement('hers');});
unlike(told(q{SELECT tablespace_advisor.keep_round(ARRAY[max(job_id)], true, 10)
	FROM tablespace_advisor.job}), qr/ERROR/,
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
told(q{CALL move_table_concurrently('moved', 'fast')}, user => 'mallory');
$open = keep_open(q{SELECT undo_move(max(job_id)) FROM tablespace_moves;});
like(told(q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice'), qr/^\{\d+\}$/,
	'a table moves while a transaction that is open has queued a move of another one');
my $err = told(q{CALL evacuate_tablespace('fast', 'slow')});
like($err, qr/WARNING:  leaving table "moved" where it is\nDETAIL:  A transaction that has not ended is queueing or changing a move of it/,
	'an evacuation leaves what somebody is queueing');
like($err, qr/NOTICE:  moved table public\.twin /, 'and moves the rest');
like(told(q{CALL move_table_concurrently('moved', 'slow')}, user => 'mallory'),
	qr/ERROR:  canceling statement due to lock timeout/,
	'for the move of the same table it is waited');
send_to($open, 'ROLLBACK;');
end_session($open);
like(told(q{CALL move_table_concurrently('moved', 'slow')}, user => 'mallory'), qr/^\{\d+\}$/,
	'which goes on when it has ended');

# The move of the table, which waits for somebody's lock, is committed while a
# call that queues a move of its index has looked for moves of open transactions,
# but not yet for committed ones.
my $holder = session($node);
ask($holder, 'BEGIN; LOCK TABLE moved IN SHARE UPDATE EXCLUSIVE MODE;');
$open = keep_open(q{SELECT undo_move(max(job_id)) FROM tablespace_moves
	WHERE relation = 'moved'::regclass;});
stop_at($node, 'queue looked at');
my $caller = session($node, user => 'mallory');
send_to($caller, q{CALL move_indexes_concurrently('moved_pkey', 'fast', wait => false);});
wait_for_stop($node, 'queue looked at');
ask($open, 'COMMIT;');
release($node);
is(answer($caller), '', 'who commits between the two looks of another one');
like($caller->{err}, qr/index "moved_pkey" is being moved already\nDETAIL:  The move of its table "moved"/,
	'is seen by one of them');
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
told($queue, user => 'mallory');
my $older = $node->safe_psql('postgres', $entry);
$node->safe_psql('postgres', q{
	SELECT cancel_move(job_id) FROM tablespace_moves
	WHERE relation IN ('parted'::regclass, 'parted_1'::regclass);
	SELECT wait_for_moves(ARRAY(SELECT job_id FROM tablespace_moves))});
told($queue, user => 'mallory');
$open = keep_open("SELECT cancel_move(($entry));");
like(told("SELECT retry_move($older)", user => 'mallory'), qr/table "parted" is being moved already/,
	'a call does not wait for a job that it is refused for');
end_session($open);
end_session($holder);
$node->safe_psql('postgres', 'SELECT wait_for_moves(ARRAY(SELECT job_id FROM tablespace_moves))');

# --- a partition that is locked ----------------------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE log (t date) PARTITION BY RANGE (t);
	CREATE TABLE log_1 PARTITION OF log FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
	ALTER TABLE log_1 OWNER TO mallory});
$open = keep_open('LOCK TABLE log_1 IN ACCESS EXCLUSIVE MODE;');
is(told(q{SELECT partition, upper_bound::date, action
		FROM advise_partition_placement('log', 'fast', '1 day')}),
	'log_1|2020-02-01|move', 'advice on partitions waits for no lock on them');
end_session($open);

# --- jobs of another database -------------------------------------------------------

$node->safe_psql('template1', 'CREATE DATABASE copied TEMPLATE postgres');
$open = keep_open(q{SELECT wait_for_moves('{}');}, dbname => 'copied');
like(told(q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice', dbname => 'copied'),
	qr/^\{\d+\}$/, 'a call goes on while another transaction forgets foreign jobs');
end_session($open);

# --- prepared transactions --------------------------------------------------------

# They keep none of the extension's locks: a worker that dies is recovered.

$node->safe_psql('postgres', q{
	CREATE TABLE two (a int, b int);
	INSERT INTO two SELECT i, i FROM generate_series(1, 50000) i;
	CREATE INDEX two_a ON two (a);
	CREATE INDEX two_b ON two (b);
	ALTER TABLE two OWNER TO mallory});
told(q{CALL move_indexes_concurrently('two', 'fast', max_rate => '1 kB', wait => false)},
	user => 'mallory');
wait_until($node, q{EXISTS (SELECT FROM tablespace_advisor.job WHERE state = 'running')
	AND EXISTS (SELECT FROM tablespace_advisor.job WHERE state = 'queued')}, 'one moves');
my %uses = (
	'that cancels' => q{SELECT cancel_move(max(job_id)) FROM tablespace_moves WHERE state = 'queued'},
	'that measures' => q{SELECT FROM measure_index_locality('hers')},
	'that waits' => q{SELECT wait_for_moves('{}')},
	'that pauses' => q{SELECT pause_move(max(job_id)) FROM tablespace_moves WHERE state = 'queued'},
	'that looks' => q{SELECT FROM tablespace_moves});
foreach my $what (sort keys %uses)
{
	like(told("BEGIN; $uses{$what};\nPREPARE TRANSACTION '$what'", user => 'mallory'),
		qr/ERROR:  cannot PREPARE a transaction that has used extension "tablespace_advisor"/,
		"a transaction $what is not prepared");
}
like(told(q{BEGIN; SAVEPOINT s; SELECT wait_for_moves('{}'); ROLLBACK TO s;
	CREATE TABLE after_all (); PREPARE TRANSACTION 'after all'; COMMIT PREPARED 'after all'},
	user => 'mallory'), qr/^t?$/, 'one without locks of the extension is');
crash($node);
wait_until($node, q{NOT EXISTS (SELECT FROM tablespace_advisor.job WHERE state = 'running')
	AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'tablespace_advisor recovery')},
	'the launcher has recovered what it can');
like(told(q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice'), qr/^\{\d+\}$/,
	'and a call goes on');
told(q{CALL move_table_concurrently('twin', 'slow')}, user => 'alice');
like(told(q{SET default_transaction_read_only = on; SELECT wait_for_moves('{1}')}),
	qr/^t$/, 'a read-only transaction can wait for moves');
is($node->safe_psql('postgres', q{
		SELECT string_agg(DISTINCT state, ' ') FROM tablespace_advisor.job
		WHERE heap = 'two'::regclass}), 'failed', 'which is recovered afterwards');

# --- a request to pause that is withdrawn, of a job to be forgotten ------------------

sub workers_end
{
	my ($name) = @_;

	ok($node->poll_query_until('postgres', q{
		SELECT count(*) = 0 FROM pg_stat_activity
		WHERE backend_type = 'tablespace_advisor move'}), $name);
	return;
}
$node->safe_psql('postgres', q{
	UPDATE tablespace_advisor.job SET finished_at = now() - interval '2 years'
	WHERE heap = 'moved'::regclass;
	INSERT INTO tablespace_advisor.request (job_id)
	SELECT min(job_id) FROM tablespace_advisor.job WHERE heap = 'moved'::regclass});
$open = keep_open(q{SELECT resume_move(min(job_id)) FROM tablespace_moves
	WHERE relation = 'moved'::regclass;});
told(q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice');
workers_end('a worker ends while a transaction withdraws a request to pause an old job');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM tablespace_advisor.job WHERE heap = 'moved'::regclass}),
	'1', 'of which that one job is kept');
send_to($open, 'COMMIT;');
end_session($open);
told(q{CALL move_table_concurrently('twin', 'slow')}, user => 'alice');
workers_end('the next worker');
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
told(q{CALL move_indexes_concurrently('three', 'fast', wait => false)}, user => 'mallory');
wait_for_stop($node, 'copied');
my $middle = $node->safe_psql('postgres', q{
	SELECT max(job_id) - 1 FROM tablespace_advisor.job WHERE heap = 'three'::regclass});
$open = keep_open("SELECT cancel_move($middle);");
release($node);
wait_until($node, qq{(SELECT state = 'done' FROM tablespace_advisor.job WHERE job_id = $middle + 1)},
	'a worker goes on behind a job that a transaction is cancelling');
send_to($open, 'ROLLBACK;');
end_session($open);
wait_until($node, qq{(SELECT state = 'done' FROM tablespace_advisor.job WHERE job_id = $middle)},
	'which it moves when that has changed its mind');
workers_end('and ends');

# --- what rebuilds have left, of a table that is locked ---------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE left_behind (a int);
	INSERT INTO left_behind VALUES (1), (1);
	CREATE INDEX left_a ON left_behind (a);
	ALTER TABLE left_behind OWNER TO mallory;
	INSERT INTO tablespace_advisor.job (batch_id, relation, heap, kind,
		schema_name, relation_name, from_tablespace, from_tablespace_name,
		to_tablespace, to_tablespace_name, method_wanted, method, state,
		bytes_total, lock_timeout_ms, owner, system_identifier, database,
		known_indexes)
	SELECT -1, 'left_a'::regclass, 'left_behind'::regclass, 'i', 'public', 'left_a',
		s.oid, 'fast', s.oid, 'fast', 'rebuild', 'rebuild', 'failed',
		0, 100, 'mallory'::regrole, p.system_identifier, d.oid,
		ARRAY['left_a'::regclass]
	FROM pg_tablespace s, pg_database d, pg_control_system() p
	WHERE s.spcname = 'fast' AND d.datname = current_database()});
told("CREATE UNIQUE INDEX CONCURRENTLY left_a_ccnew$_ ON left_behind (a)", user => 'mallory')
  for 1 .. 3;
$open = keep_open('LOCK TABLE left_behind IN SHARE UPDATE EXCLUSIVE MODE;');
my $offset = -s $node->logfile;
told(q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice');
workers_end('a worker ends');
my $timeouts = () = slurp_file($node->logfile, $offset) =~ /canceling statement due to lock timeout/g;
is($timeouts, 1, 'it has waited for the locks of one role once');
end_session($open);
told(q{CALL move_table_concurrently('twin', 'slow')}, user => 'alice');
workers_end('the next worker ends');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM pg_index WHERE indrelid = 'left_behind'::regclass}),
	'1', 'and has dropped them all');

# --- names that look like lines of a message --------------------------------------------

my $name = qq{"n\nHINT:  In any database: DROP DATABASE"};
$node->safe_psql('postgres', qq{
	CREATE TABLE $name (a int PRIMARY KEY) TABLESPACE slow;
	ALTER TABLE $name OWNER TO mallory});
told("CALL move_table_concurrently('$name', 'fast')", user => 'mallory');
$open = keep_open(q{SELECT undo_move(max(job_id)) FROM tablespace_moves;});
foreach my $how ('', ', dry_run => true')
{
	my $err = told("CALL evacuate_tablespace('fast', 'slow'$how)");
	like($err, qr/n\?HINT:  In any database: DROP DATABASE/, "a message$how has the name");
	unlike($err, qr/^HINT:  In any database: DROP DATABASE/m, 'which is no line of its own');
}
send_to($open, 'ROLLBACK;');
end_session($open);

# --- a database that is locked -------------------------------------------------------

# Nobody can connect to it while it is being renamed, moved, or copied.
$node->safe_psql('postgres', q{
	ALTER ROLE mallory CREATEDB;
	CREATE DATABASE hers OWNER mallory});
$node->safe_psql('postgres', 'CREATE DATABASE later');
$node->safe_psql('later', 'CREATE EXTENSION tablespace_advisor');
$node->safe_psql('hers', 'CREATE TABLE t (a int) TABLESPACE slow');
$open = keep_open('ALTER DATABASE hers RENAME TO hers_alone;');
configure($node, 'tablespace_advisor.sample_interval', '1s');
ok($node->poll_query_until('later', 'SELECT count(*) > 1 FROM tablespace_advisor.sample'),
	'other databases are sampled');
is(told(q{SELECT database, kind, reason FROM tablespace_contents('slow') WHERE how = 'locked'}),
	'hers|database|It could not be looked into: somebody has locked it, perhaps to rename'
	  . ' or drop it, or a prepared transaction has.',
	'a row says that it cannot be looked into');
like(told(q{CALL evacuate_tablespace('fast', 'slow')}, user => 'alice'),
	qr/NOTICE:  this database has \w+ in tablespace "fast"/,
	'nor has it to be for those who are told about their own only');
end_session($open);

# --- a table that is locked when its move begins ---------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE held TABLESPACE slow AS SELECT 1 AS a;
	ALTER TABLE held OWNER TO mallory});
$open = keep_open('LOCK TABLE held IN ACCESS EXCLUSIVE MODE;');
my $pid = ask($open, 'SELECT pg_backend_pid();');
told(q{CALL evacuate_tablespace('slow', 'fast', wait => false)});
wait_until($node, "EXISTS (SELECT FROM tablespace_moves
	WHERE relation_name = 'public.held' AND blocked_by = ARRAY[$pid])", 'the move is blocked');
is($node->safe_psql('postgres', q{
		SELECT phase, bytes_total, cancel_move(job_id) FROM tablespace_moves
		WHERE relation_name = 'public.held' AND state = 'running'}), 'waiting for lock|8192|t',
	'a move that cannot begin names who is in its way, and keeps its size');
is($node->safe_psql('postgres', q{
		SELECT wait_for_moves(ARRAY(SELECT job_id FROM tablespace_moves), '3 min')}), 't',
	'and can be cancelled, so that the others go on');
is($node->safe_psql('postgres', q{
		SELECT string_agg(DISTINCT state, ' ') FROM tablespace_moves
		WHERE batch_id = (SELECT max(batch_id) FROM tablespace_moves)
			AND relation_name <> 'public.held'}), 'done', 'which they do');
end_session($open);

# --- a move that waited for a transaction which has ended -------------------------------

# The journal names a session until the next report of the copy, or for as long
# as that backs off.
$node->safe_psql('postgres', q{
	CREATE TABLE past AS SELECT g AS a FROM generate_series(1, 100000) g;
	ALTER TABLE past OWNER TO mallory});
stop_at($node, 'copied');
told(q{CALL move_table_concurrently('past', 'fast', wait => false)}, user => 'mallory');
wait_for_stop($node, 'copied');
my $waiter = session($node, user => 'mallory');
$pid = ask($waiter, 'SELECT pg_backend_pid();');
my $past = $node->safe_psql('postgres', qq{
	UPDATE tablespace_advisor.job SET blocked_by = ARRAY[$pid]
	WHERE heap = 'past'::regclass RETURNING job_id});
is(ask($waiter, "SELECT wait_for_moves(ARRAY[$past], '1 s');"), 'f',
	'whose transaction has ended can wait for a move that waited for it');
is($waiter->{err}, '', 'and is not told that it waits for his');
ask($waiter, 'BEGIN; LOCK TABLE past IN ACCESS SHARE MODE;');
ask($waiter, "SELECT wait_for_moves(ARRAY[$past], '1 s');");
like($waiter->{err}, qr/job $past waits for this transaction/, 'but while he has a lock');
end_session($waiter);
release($node);
workers_end('the move ends');

$node->stop;
done_testing();
