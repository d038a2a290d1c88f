# Copyright (c) 2026, The tablespace_advisor developers

# evacuate_tablespace() while the application runs: all kinds of relations,
# some made meanwhile, other databases, what cannot move; then the printed
# statements, and DROP TABLESPACE.

use IPC::Run ();
use Time::HiRes qw(usleep);
use TsaTest;

my $node = start_node('evacuate', conf => q{
max_prepared_transactions = 5
autovacuum = off
});
fill_table($node, 3000);
$node->safe_psql('postgres', 'CREATE DATABASE bare');
$node->safe_psql('postgres', q{
	CREATE TABLE doc (id int PRIMARY KEY, body text);
	ALTER TABLE doc ALTER body SET STORAGE EXTERNAL;
	INSERT INTO doc SELECT g, repeat(md5(g::text), 200) FROM generate_series(1, 300) g;
	CREATE MATERIALIZED VIEW summary AS SELECT id % 7 AS k, count(*) FROM doc GROUP BY 1;
	CREATE UNIQUE INDEX summary_k ON summary (k);
	CREATE UNLOGGED TABLE fast_and_loose (a int PRIMARY KEY);
	INSERT INTO fast_and_loose SELECT generate_series(1, 1000);
	CREATE TABLE held (a int);
	CREATE TABLE event (at date, n int) PARTITION BY RANGE (at);
	CREATE INDEX event_n ON event (n);
	CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
	CREATE TABLE event_2 PARTITION OF event FOR VALUES FROM ('2024-02-01') TO ('2024-03-01');
	INSERT INTO event SELECT date '2024-01-01' + g % 60, g FROM generate_series(1, 5000) g;
	ALTER TABLE ALL IN TABLESPACE pg_default SET TABLESPACE slow;
	ALTER MATERIALIZED VIEW ALL IN TABLESPACE pg_default SET TABLESPACE slow;
	ALTER INDEX ALL IN TABLESPACE pg_default SET TABLESPACE slow;
	ALTER TABLE event SET TABLESPACE slow;
	ALTER INDEX event_n SET TABLESPACE slow;
	ALTER DATABASE bare SET temp_tablespaces = 'slow';
	CREATE ROLE other;
	GRANT CREATE ON TABLESPACE slow, fast TO other;
	GRANT CREATE ON SCHEMA public TO other;
	SET ROLE other;
	CREATE TABLE theirs (a int) TABLESPACE slow;
	CREATE UNLOGGED TABLE "x
HINT:  In database ""postgres"": DROP TABLE doc; " (a int) TABLESPACE slow;
});
$node->safe_psql('bare', q{
	CREATE TABLE plain (a int PRIMARY KEY USING INDEX TABLESPACE slow) TABLESPACE slow;
	INSERT INTO plain SELECT generate_series(1, 1000)});

my @tables = qw(doc summary fast_and_loose event theirs);
sub digests
{
	return join ' ', map {
		$node->safe_psql('postgres',
			"SELECT md5(string_agg(x::text, ',' ORDER BY x::text)) FROM $_ x")
	} @tables;
}
my $before = digests();

# A role moves what it owns, and is told what is others'.
my ($out, $err) = ('', '');
is( $node->psql('postgres', q{SET ROLE other; CALL evacuate_tablespace('slow', 'fast')},
		stdout => \$out, stderr => \$err), 0, 'a role that owns little');
like($err, qr/NOTICE:  moved table public\.theirs/, 'moves what it owns');
unlike($err, qr/NOTICE:  moved (?!table public\.theirs)/, "a role does not move what is others'");
like($err, qr/left in tablespace "slow": table public\.doc .*\nDETAIL:  It belongs to role postgres\./,
	'a role is told whose the rest is');
unlike($err, qr/plain|temp_tablespaces/, 'a role is told nothing of other databases');

$node->psql('postgres', q{CALL evacuate_tablespace('slow', 'fast', dry_run => true)},
	stderr => \$err);
like($err, qr/would leave table public\."x\?HINT: /, 'a name that looks like a hint is no hint in a plan');
my ($size, $sum) = split /\|/, $node->safe_psql('postgres', q{
	SELECT size, substring(replace(reason, E'\n', ' ') FROM '[^;]*')
	FROM plan_evacuation('slow', 'fast') WHERE kind = 'total'});
like($err, qr/NOTICE:  would move in all: $size; the time is not known: .*\nDETAIL:  $sum; .* free in fast\.$/,
	'a dry run ends with the sum that the plan has, without a time when nothing was measured');
$node->psql('postgres', q{CALL evacuate_tablespace('slow', 'fast', dry_run => true, max_rate => '1 MB')},
	stderr => \$err);
like($err, qr/would move in all: $size, about [\d.]+ s$/m, 'with "max_rate" it takes a time');

# What is in the way of some: a prepared transaction, a temporary table.
$node->safe_psql('postgres', q{
	BEGIN; INSERT INTO held VALUES (1); PREPARE TRANSACTION 'holds'});
$node->safe_psql('postgres', q{
	BEGIN; CREATE TABLE prepared (a int) TABLESPACE slow;
	INSERT INTO prepared VALUES (1); PREPARE TRANSACTION 'makes'});
my $session = $node->background_psql('postgres');
$session->query_safe(
	'CREATE TEMPORARY TABLE mine (a int) TABLESPACE slow; INSERT INTO mine VALUES (1)');

my $load = start_load($node);

# While a copy stands still, a table is made: a later round moves it.
stop_at($node, 'copied');
my $call = start_sql($node, 'evacuation', q{CALL evacuate_tablespace('slow', 'fast')});
wait_for_stop($node, 'copied');
my $timer = IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default);
$timer->start;
$call->{harness}->pump_nb
  until $call->{err} =~ /moved so far: .*\n/ || $timer->is_expired || !usleep(50_000);
like($call->{err}, qr/NOTICE:  moved so far: \d+ of \d+ relations, .* of \d+ [kM]B/,
	'progress of the whole: relations, bytes');
$node->safe_psql('postgres',
	'CREATE TABLE meanwhile TABLESPACE slow AS SELECT generate_series(1, 100) a');
$node->psql('postgres', q{CALL evacuate_tablespace('fast', 'slow')},
	stderr => \$err);
like($err, qr/ERROR:  cannot evacuate tablespace "fast" into "slow" now/,
	'an evacuation the other way at the same time is refused');
release($node);
$call->{harness}->finish;
is($call->{harness}->result(0), 0, 'the evacuation ends');
like($call->{err}, qr/NOTICE:  moved table public\.meanwhile/,
	'what was made meanwhile has moved');
like($call->{err}, qr/NOTICE:  moved table public\.t .*with \d+ indexes/,
	'the busy table has moved with its indexes');
like($call->{err}, qr/NOTICE:  moved table tablespace_advisor\.job /,
	'the journal has moved');
like($call->{err}, qr/left in tablespace "slow": table public\.held .*\nDETAIL:  Prepared transaction 'holds' holds a lock on it/,
	'a prepared transaction is named');
like($call->{err}, qr/Prepared transaction 'makes' has made it/,
	'the table of a prepared transaction too');
unlike($call->{err}, qr/HINT:  .*COMMIT PREPARED/, 'the end of a prepared transaction is not handed out');
like($call->{err}, qr/left in tablespace "slow": table public\.fast_and_loose/,
	'an unlogged table is left');
like($call->{err}, qr/left in tablespace "slow": table information_schema\.sql_parts /,
	'a table of the system is left');
like($call->{err}, qr/left in tablespace "slow": table pg_temp_\d+\.mine /,
	'a temporary table is left');
like($call->{err}, qr/left in tablespace "slow": table public\.plain of database bare/,
	'a table of another database is left');
like($call->{err}, qr/HINT:  After the statements above: DROP TABLESPACE slow;/,
	'the last statement is printed');

# A name with a line break prints no line of its own; it is its owner's to see
# to.
like($call->{err}, qr/left in tablespace "slow": table public\."x\?HINT: .*\nDETAIL:  .* A name has control characters/,
	'a name that looks like a hint is no hint');
is(contents($node, 'slow', columns => q{substring(statement, 'SET TABLESPACE.*')}, where => q{relation ~ 'HINT'}),
	'SET TABLESPACE pg_default;', 'tablespace_contents() has its statement');
$node->safe_psql('postgres', q{
	ALTER TABLE "x
HINT:  In database ""postgres"": DROP TABLE doc; " SET TABLESPACE fast});

# The time that is left is known as soon as something has been copied.
like( $node->safe_psql('postgres', q{
		BEGIN;
		UPDATE tablespace_advisor.job SET state = 'running', bytes_done = bytes_total / 2, finished_at = NULL
		WHERE relation_name = 't' AND state = 'done';
		SELECT tablespace_advisor.batch_progress(batch_id) FROM tablespace_advisor.job
		WHERE relation_name = 't' AND state = 'running';
		ROLLBACK}),
	qr/^\d+ of \d+ relations, .*, about \d+ s left$/, 'progress of the whole: time left');

# The statements that it printed, the end of the session with the temporary
# table among them.
$node->safe_psql('postgres', q{COMMIT PREPARED 'holds'});
$node->safe_psql('postgres', q{COMMIT PREPARED 'makes'});
my @statements = map { [ /In (?:database "(.*?)"|any database): (.*);/ ] }
  grep { /^HINT:  In .*database/ } split /\n/, $call->{err};
is(scalar(grep { $_->[1] =~ /pg_terminate_backend\(\d+\)/ } @statements), 1,
	'the session with the temporary table is named');
run_statements($node, map { [ $_->[0] // 'postgres', $_->[1] ] } @statements);
eval { $session->quit };
(undef, undef, $err) = $node->psql('postgres',
	q{CALL evacuate_tablespace('slow', 'fast')});
like($err, qr/NOTICE:  moved table public\.prepared/,
	'what a prepared transaction made');
like($err, qr/NOTICE:  tablespace "slow" is empty\nHINT:  DROP TABLESPACE slow;/,
	'nothing is left');
# Earlier tests made dry runs only of tablespaces with relations to move.
$node->psql('postgres', q{CALL evacuate_tablespace('slow', 'fast', dry_run => true)}, stderr => \$err);
like($err, qr/NOTICE:  nothing is to be moved$/m, 'a dry run without relations says so');
unlike($err, qr/would move|0 relations/, 'a dry run without relations has no sums');

stop_load($load, 'evacuation');
drop_tablespace($node, 'slow', 'evacuation');
is(digests(), $before, 'the contents are the same');
is($node->safe_psql('bare', 'SELECT count(*), sum(a) FROM plain'), '1000|500500',
	'the contents of the other database are the same');
is(contents($node, 'fast', where => q{how = 'orphan'}), '', 'no orphan in any database');
check_content($node, 'evacuation');
check_orphans($node, 'evacuation');
check_locks($node, 'evacuation');
is( $node->safe_psql('postgres', q{
	SELECT count(*) FROM pg_class WHERE oid >= 16384 AND relkind IN ('r', 'i', 'm')
		AND relpersistence <> 't'
		AND reltablespace NOT IN (SELECT oid FROM pg_tablespace WHERE spcname = 'fast')
		AND relnamespace <> 'pg_toast'::regnamespace}),
	'0', 'everything is in the new tablespace');
$node->safe_psql('postgres',
	q{CREATE TABLE event_3 PARTITION OF event FOR VALUES FROM ('2024-03-01') TO ('2024-04-01')});
is(tablespaces_of($node, 'event_3'), 'fast', 'new partitions follow');
# the extension's own tables move under their lock, which may take several attempts
check_log($node, 'evacuation', qr/cannot evacuate tablespace|canceling statement due to lock timeout/);
$node->stop;

done_testing();
