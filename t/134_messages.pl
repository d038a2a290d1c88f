# Copyright (c) 2026, The tablespace_advisor developers

# What is said of moves: to whoever waits for them, to whoever calls in the wrong
# way, to whoever reads the server's log; and crashes while the storage of a copy
# is being made.

use TsaTest;

my $node = start_node('main', conf => "autovacuum = off\nwal_level = replica\n");
$node->safe_psql('postgres', q{
	CREATE TABLE t (a int PRIMARY KEY, b int);
	INSERT INTO t SELECT i, i FROM generate_series(1, 20000) i;
	CREATE INDEX t_b ON t (b);
	CREATE ROLE alice;
	CREATE ROLE bob;
	GRANT CREATE ON TABLESPACE fast TO alice});

# --- wait_for_moves() --------------------------------------------------------------------

my $job = start_stopped_move($node, 'copied', 't_b', 'fast');
is($node->safe_psql('postgres', "SELECT wait_for_moves('{$job}', '0 s')"), 'f', 'a move that goes on');
is($node->safe_psql('postgres', "SELECT wait_for_moves('{}')"), 't', 'wait_for_moves() of no move says that all have ended');
like(messages_of($node, "SELECT wait_for_moves('{$job,4711}')"), qr/42704.*job 4711 does not exist/, 'wait_for_moves() refuses a move that does not exist');
like(messages_of($node, "SELECT wait_for_moves(NULL)"), qr/22004/, 'wait_for_moves() refuses NULL');
like(messages_of($node, "SET ROLE bob; SELECT wait_for_moves('{$job}')"), qr/42501/, "somebody else's move");
is($node->safe_psql('postgres', qq{
		SELECT pid = (SELECT pid FROM pg_stat_activity WHERE backend_type = 'tablespace_advisor move'),
			batch_id FROM tablespace_moves WHERE job_id = $job}),
	"t|$job", 'process and batch are shown');
release($node);
is($node->safe_psql('postgres', "SELECT wait_for_moves('{$job}')"), 't', 'wait_for_moves() says that the move has ended');
is(job_field($node, $job, 'state'), 'done', 'wait_for_moves() waits until the move is done');
like(slurp_file($node->logfile),
	qr/LOG:  moved index public\.t_b from tablespace pg_default to fast\n.*DETAIL:  Job $job of role postgres, method copy/,
	"the server's log says so");

# a transaction that the move waits for is told so
$job = start_stopped_move($node, 'fsm copied', 't_b', 'slow');
my $user = session($node);
ask($user, 'BEGIN; SELECT count(*) FROM t WHERE b < 10;');
release($node);
ask($user, "SELECT wait_for_moves('{$job}');");
end_session($user);
like($user->{err}, qr/ERROR:  40P01: job $job waits for this transaction/, 'a transaction does not wait for what waits for it');
is(wait_for_job($node, $job), 'done', 'the move that was waited for ends');

# so is one that has queued the move itself
fails_with($node, "SELECT wait_for_moves(ARRAY[undo_move($job)])", '40P01',
	qr/job \d+ waits for this transaction/, 'a transaction does not wait for a move that begins when it commits');

# --- calls ------------------------------------------------------------------------------------

like(messages_of($node, q{BEGIN; CALL move_indexes_concurrently('t', 'fast'); ROLLBACK}),
	qr/25001.*HINT:  Send CALL as a statement of its own/s, 'what to do in a transaction block');
$node->safe_psql('postgres', q{
	CREATE TABLE parent (a int PRIMARY KEY);
	CREATE TABLE child () INHERITS (parent)});
like(messages_of($node, q{CALL move_table_concurrently('parent', 'fast')}),
	qr/NOTICE:.*1 table that inherits from "parent" does not move along.*HINT/s, 'children are pointed out');

# What ends a line for some programs, or turns the direction of writing.
$node->safe_psql('postgres', q{CREATE DATABASE uni ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0});
$node->safe_psql('uni', 'CREATE EXTENSION tablespace_advisor');
is($node->safe_psql('uni', q{
		SELECT tablespace_advisor.printable(chr(133) || chr(155) || chr(8232) || chr(8233)
			|| chr(8238) || chr(8295) || chr(1564) || chr(10) || 'x' || chr(228))
			= '????????x' || chr(228)}),
	't', 'no name ends a line, turns the writing, or controls a terminal');
$node->safe_psql('uni', q{
	CREATE TABLE t (a int);
	DO $$ BEGIN EXECUTE format('CREATE INDEX %I ON t (a)', 'i' || chr(8232) || 'HINT:  evil'); END $$});
like(messages_of($node, q{CALL move_indexes_concurrently('t', 'fast', dry_run => true)}, dbname => 'uni'),
	qr/would move index public\."i\?HINT:  evil" /, 'no name ends a line of a dry run');
$node->safe_psql('postgres', q{CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0});
$node->safe_psql('latin', 'CREATE EXTENSION tablespace_advisor');
is($node->safe_psql('latin', q{
		SELECT tablespace_advisor.printable(chr(133) || chr(155) || chr(10) || 'x' || chr(228))
			= '???x' || chr(228)}),
	't', 'names of LATIN1 neither end a line nor control a terminal');

# Nor need whoever moves a table have named its tablespace, or its parent.
# From 19 on the name of a tablespace has no line end.
my ($sign, $escape) = $node->pg_version->major >= 19 ? ("\e", '\x1b') : ("\n", '\n');
$node->safe_psql('postgres', qq{
	CREATE TABLESPACE "s${sign}HINT:  evil" LOCATION '';
	CREATE TABLE "p\nHINT:  evil" (a int) TABLESPACE "s${sign}HINT:  evil";
	CREATE TABLE heir () INHERITS ("p\nHINT:  evil")});
my %told = (
	'would leave' => qq{CALL evacuate_tablespace(E's${escape}HINT:  evil', 'fast', dry_run => true)},
	'has left' => qq{CALL evacuate_tablespace(E's${escape}HINT:  evil', 'fast')},
	'would go back to' => qq{CALL move_table_concurrently('heir', E's${escape}HINT:  evil', dry_run => true)},
	'inherits from' => q{CALL move_table_concurrently(E'"p\nHINT:  evil"', 'fast')});
foreach my $what (sort keys %told)
{
	my $messages = messages_of($node, $told{$what});

	like($messages, qr/\?HINT:  evil"/, "a message has the name of what a table $what");
	unlike($messages, qr/^HINT:  evil/m, "no name ends a line that says what a table $what");
}
$node->safe_psql('postgres', qq{DROP TABLESPACE "s${sign}HINT:  evil"});

# Whoever moves a table need not have named its indexes.
$node->safe_psql('postgres', qq{CREATE INDEX "t\nHINT:  evil" ON t (b)});
$job = start_stopped_move($node, 'copied', qq{"t\nHINT:  evil"}, 'fast');
like(messages_of($node, q{CALL move_table_concurrently('t', 'fast')}),
	qr/55006: table "t" is being moved already.*\nDETAIL:  The move of its index "t\?HINT:  evil" has not ended/s,
	'no name ends a line about a move in the way');
$node->safe_psql('postgres', "SELECT cancel_move($job)");
release($node);
wait_for_job($node, $job);
$node->safe_psql('postgres', qq{DROP INDEX "t\nHINT:  evil"});

# Hypertables of TimescaleDB are in a table of its own, and in nobody else's.
$node->safe_psql('postgres', q{
	SET allow_system_table_mods = on;
	CREATE SCHEMA _timescaledb_catalog;
	CREATE TABLE _timescaledb_catalog.hypertable (id int, schema_name name, table_name name);
	CREATE TABLE listed (a int PRIMARY KEY);
	CREATE TABLE "h'per" (a int);
	INSERT INTO _timescaledb_catalog.hypertable VALUES (1, 'public', 'listed'), (2, 'public', 'h''per');
	INSERT INTO pg_extension SELECT 99999, 'timescaledb', 10, 11, false, '2.28.3'});
unlike(messages_of($node, q{CALL move_table_concurrently('listed', 'fast', dry_run => true)}),
	qr/hypertable/, 'a look-alike of the table of hypertables is not asked');
$node->safe_psql('postgres', q{
	INSERT INTO pg_depend VALUES ('pg_class'::regclass,
		'_timescaledb_catalog.hypertable'::regclass, 0, 'pg_extension'::regclass, 99999, 0, 'e')});
like(messages_of($node, q{CALL move_table_concurrently('listed', 'fast')}),
	qr/0A000.*cannot move hypertable "listed".*CALL public\.move_partitions_concurrently\('public\.listed'/s, 'a registered hypertable is refused');
like(messages_of($node, q{CALL move_indexes_concurrently('listed_pkey', 'fast')}),
	qr/0A000.*cannot move hypertable "listed"/s, 'an index of a registered hypertable is refused');
like(messages_of($node, q{CALL move_table_concurrently('"h''per"', 'fast')}),
	qr/move_partitions_concurrently\('public\."h''per"'::pg_catalog\.regclass,/, 'a quote in the name of a hypertable');
unlike(messages_of($node, q{CALL move_table_concurrently('child', 'fast', dry_run => true)}),
	qr/hypertable/, 'other tables are not');
$node->safe_psql('postgres', q{
	DELETE FROM pg_depend WHERE refobjid = 99999;
	DELETE FROM pg_extension WHERE oid = 99999});

# The statements of hints are run by others than those who choose the names.
$node->safe_psql('postgres', q{
	CREATE TABLE "o'clock" (a int);
	CREATE TABLE hour () INHERITS ("o'clock")});
like(messages_of($node, q{CALL move_table_concurrently('"o''clock"', 'fast')}),
	qr/inhparent OPERATOR\(pg_catalog\.=\) 'public\."o''clock"'::pg_catalog\.regclass/, 'a quote in the name of a parent');

# 0.3's caller waited by a view, which this forbids it to read
$node->safe_psql('postgres', "ALTER DATABASE postgres SET restrict_nonsystem_relation_kind = 'view'")
  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_settings WHERE name = 'restrict_nonsystem_relation_kind'}) eq '1';
stop_at($node, 'copied');
my $caller = session($node);
send_to($caller, q{CALL move_indexes_concurrently('t_b', 'fast');});
wait_for_stop($node, 'copied');
$caller->{run}->pump until $caller->{err} =~ /NOTICE|ERROR/ || !$caller->{run}->pumpable;
release($node);
answer($caller);
unlike($caller->{err}, qr/ERROR/, 'a call waits where views are forbidden');
end_session($caller);
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET ALL');

# --- an abort while storage is being made ---------------------------------------------------------

# Were the transaction without an ID yet, its abort would not be logged, and
# recovery, which makes the file again, would keep it.
wait_for_workers($node);
$node->safe_psql('postgres', 'CHECKPOINT');
$job = start_stopped_table_move($node, 'storage made', 't', 'slow');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(" . worker_pid($node, $job) . ')');
wait_for_workers($node);
$node->safe_psql('postgres', 'CREATE TABLE flushes_the_log ()');
crash($node);
release($node);
is(end_state($node, $job), 'failed', 'a move that was terminated before its storage was named');
check_orphans($node, 'after recovery');

$node->stop;
check_log($node, 'all', qr/ERROR|FATAL:  terminating/);
done_testing();
