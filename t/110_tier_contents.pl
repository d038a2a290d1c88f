# Copyright (c) 2026, The tablespace_advisor developers

# tablespace_contents(): every kind of obstacle alone is named, its statement
# makes it leave, and then DROP TABLESPACE works.  (Temporary files: t/158.)

use TsaTest;

my $node = new_node('contents', conf => 'max_prepared_transactions = 5');
$node->start;
$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on;
	CREATE TABLESPACE new LOCATION '';
	CREATE EXTENSION tablespace_advisor;
	CREATE ROLE r;
	CREATE TABLE here (a int);
});
$node->safe_psql('postgres', 'CREATE DATABASE bare');

my @obstacles = (
	['a table', 'postgres', 'CREATE TABLE x (a text) TABLESPACE old; INSERT INTO x VALUES (1)',
		'postgres|public.x|table|live'],
	['a materialized view', 'postgres',
		'CREATE MATERIALIZED VIEW x TABLESPACE old AS SELECT 1 AS a',
		'postgres|public.x|materialized view|live'],
	['an index', 'postgres',
		'CREATE TABLE x (a int); CREATE INDEX x_a ON x (a) TABLESPACE old',
		'postgres|public.x_a|index|live'],
	['an index of an unlogged table', 'postgres',
		'CREATE UNLOGGED TABLE x (a int); CREATE INDEX x_a ON x (a) TABLESPACE old',
		'postgres|public.x_a|index|rebuild'],
	['an unlogged table', 'postgres',
		'CREATE UNLOGGED TABLE x (a text) TABLESPACE old',
		'postgres|public.x|table|lock'],
	['an unlogged exclusion constraint', 'postgres',
		'CREATE UNLOGGED TABLE x (a int4range, EXCLUDE USING gist (a WITH &&) USING INDEX TABLESPACE old)',
		'postgres|public.x_a_excl|index|lock'],
	['an invalid index', 'postgres',
		'CREATE TABLE x (a int); INSERT INTO x VALUES (1), (1);
		CREATE INDEX x_a ON x (a) TABLESPACE old;
		UPDATE pg_index SET indisvalid = false WHERE indexrelid = \'x_a\'::regclass',
		'postgres|public.x_a|index|lock'],
	['a partitioned table', 'postgres',
		'CREATE TABLE x (a int) PARTITION BY LIST (a) TABLESPACE old',
		'postgres|public.x|partitioned table|catalog'],
	['a partitioned index', 'postgres',
		'CREATE TABLE x (a int) PARTITION BY LIST (a); CREATE INDEX x_a ON x (a) TABLESPACE old',
		'postgres|public.x_a|partitioned index|catalog'],
	['a strange name', 'postgres',
		q{CREATE TABLE "x "" ' %s \ y" (a int) TABLESPACE old},
		q{postgres|public."x "" ' %s \ y"|table|live}],
	['a table of a database without the extension', 'bare',
		'CREATE TABLE x (a text) TABLESPACE old',
		'bare|public.x|table|lock'],
	['an index of a database without the extension', 'bare',
		'CREATE TABLE x (a int); CREATE INDEX x_a ON x (a) TABLESPACE old',
		'bare|public.x_a|index|rebuild'],
	['a partitioned table of a database without the extension', 'bare',
		'CREATE TABLE x (a int) PARTITION BY LIST (a) TABLESPACE old',
		'bare|public.x|partitioned table|catalog'],
	['a setting of a role', 'postgres',
		q{ALTER ROLE r SET default_tablespace = 'old'},
		'|default_tablespace|setting of role r|setting'],
	['a setting of a database', 'postgres',
		q{ALTER DATABASE bare SET temp_tablespaces = 'new', 'old'},
		'bare|temp_tablespaces|setting of database bare|setting'],
	['a setting of a role in a database', 'postgres',
		q{ALTER ROLE r IN DATABASE bare SET temp_tablespaces = 'old'},
		'bare|temp_tablespaces|setting of role r in database bare|setting'],
	['a setting of a function', 'bare',
		q{CREATE FUNCTION x(text, "a b" int) RETURNS int LANGUAGE sql SET default_tablespace = 'old' AS 'SELECT 1'},
		'bare|default_tablespace|setting of routine public.x(pg_catalog.text,integer)|setting'],
	['a setting of a procedure', 'postgres',
		q{CREATE PROCEDURE x() LANGUAGE sql SET temp_tablespaces = 'new', 'old' AS ''},
		'postgres|temp_tablespaces|setting of routine public.x()|setting'],
	['an index of an exclusion constraint', 'postgres',
		'CREATE TABLE x (a int4range, EXCLUDE USING gist (a WITH &&) USING INDEX TABLESPACE old)',
		'postgres|public.x_a_excl|index|live'],
	['a table of the system', 'postgres',
		'ALTER TABLE information_schema.sql_parts SET TABLESPACE old',
		'postgres|information_schema.sql_parts|table|lock'],
	['a database', 'postgres', q{CREATE DATABASE x TABLESPACE old},
		'x||database|with database'],
	['a database that takes no connections', 'postgres',
		q{CREATE DATABASE x TABLESPACE old ALLOW_CONNECTIONS false},
		'x||database|with database'],
);

for my $obstacle (@obstacles)
{
	my ($name, $database, $make, $row) = @$obstacle;

	$node->safe_psql('postgres', q{
		SET allow_in_place_tablespaces = on; CREATE TABLESPACE old LOCATION ''});
	$node->safe_psql($database, $make);
	is(contents($node, 'old'), $row, "$name: what is in the way is named");
	my @statements = statements_of($node, 'old', 'new');
	is(scalar(@statements), 1, "$name: one statement is given");
	run_statements($node, @statements);
	is(contents($node, 'old'), '', "$name: what was in the way has gone");
	drop_tablespace($node, 'old', $name);
	$node->safe_psql($database, 'DROP TABLE IF EXISTS x')
	  unless $name eq 'a materialized view';
	$node->safe_psql($database,
		q{DROP MATERIALIZED VIEW IF EXISTS x; DROP TABLE IF EXISTS "x "" ' %s \ y"})
	  if $name =~ /view|strange/;
	$node->safe_psql($database, 'DROP ROUTINE IF EXISTS x');
	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS x');
}
is($node->safe_psql('postgres', q{
	SELECT setconfig FROM pg_db_role_setting s JOIN pg_database d
		ON d.oid = s.setdatabase WHERE setrole = 0 AND datname = 'bare'}),
	'{temp_tablespaces=new}', 'the other tablespaces of a list stay');
$node->safe_psql('postgres', 'ALTER DATABASE bare RESET temp_tablespaces');

# What a setting of a routine does when its tablespace has gone.
$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on; CREATE TABLESPACE old LOCATION ''});
$node->safe_psql('postgres', q{
	CREATE FUNCTION x() RETURNS int LANGUAGE sql SET default_tablespace = 'old' AS 'SELECT 1';
	DROP TABLESPACE old});
my ($out, $err) = ('', '');
is($node->psql('postgres', 'SELECT x()', stderr => \$err), 3, 'every call fails');
like($err, qr/invalid value for parameter "default_tablespace": "old"/, 'every call fails for the setting of the function');
$node->safe_psql('postgres', 'DROP FUNCTION x');

# A database that nobody can connect to, for as long as its owner likes.
$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on; CREATE TABLESPACE old LOCATION '';
	CREATE DATABASE locked});
$node->safe_psql('locked', 'CREATE TABLE x (a int) TABLESPACE old');
$node->safe_psql('postgres', q{
	BEGIN; ALTER DATABASE locked RENAME TO elsewhere; PREPARE TRANSACTION 'rename'});
like(contents($node, 'old', columns => 'database, kind, how, statement, reason'),
	qr/^locked\|database\|locked\|\|It could not be looked into/, 'a locked database has a row');
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'rename'});
is(contents($node, 'old'), 'locked|public.x|table|lock', 'a database is looked into when it is free again');

# So can its owner have its catalogs locked.
my $reader = session($node, dbname => 'locked');
ask($reader, 'BEGIN; SELECT count(*) FROM pg_class;');
my $vacuum = session($node, dbname => 'locked');
send_to($vacuum, 'VACUUM FULL pg_class;');
wait_for_lock_of($node, $vacuum->{pid});
like(contents($node, 'old', columns => 'database, kind, how, statement, reason'),
	qr/^locked\|database\|locked\|\|It could not be looked into/, 'a database whose catalogs are locked has a row');
ask($reader, 'COMMIT;');
answer($vacuum);
end_session($_) for $reader, $vacuum;
$node->safe_psql('postgres', 'DROP DATABASE locked; CHECKPOINT; DROP TABLESPACE old');

# What a transaction under way has made is not an orphan.
$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on; CREATE TABLESPACE old LOCATION '';
	BEGIN; CREATE TABLE x (a int) TABLESPACE old; INSERT INTO x VALUES (1);
	PREPARE TRANSACTION 'p';
});
like(contents($node, 'old', columns => 'database, kind, how, statement, reason'),
	qr/^postgres\|file\|temporary\|\|Prepared transaction 'p' has made it/,
	'storage of a prepared transaction, whose end is not for whoever looks');
$node->safe_psql('postgres', q{COMMIT PREPARED 'p'});
is(contents($node, 'old'), 'postgres|public.x|table|live',
	'storage of a prepared transaction is a table when that has committed');

# A lock of a prepared transaction keeps a table from being moved.
$node->safe_psql('postgres', q{
	BEGIN; INSERT INTO x VALUES (1); PREPARE TRANSACTION 'locks'});
like(contents($node, 'old', columns => 'how, reason'),
	qr/^live\|Prepared transaction 'locks' holds a lock on it/,
	'a lock of a prepared transaction');
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'locks'});

# Files of nobody: an orphan, a file that is no relation's, a directory.
my $directory = $node->data_dir . '/' . $node->safe_psql('postgres', q{
	SELECT tablespace_advisor.tablespace_directory(oid) FROM pg_tablespace
	WHERE spcname = 'old'});
my $database = $node->safe_psql('postgres',
	q{SELECT oid FROM pg_database WHERE datname = 'postgres'});
$node->safe_psql('postgres', 'DROP TABLE x');
mkdir "$directory/$database";
append_to_file("$directory/$database/99999", 'x' x 8192);
append_to_file("$directory/$database/notes.txt", 'x');
mkdir "$directory/88888";
append_to_file("$directory/88888/1", 'x');
my $relative = $directory =~ s{^.*/(pg_tblspc/)}{$1}r;
is( contents($node, 'old'),
	"postgres|$relative/$database/99999|file|orphan\n"
	  . "postgres|$relative/$database/notes.txt|file|orphan\n"
	  . "|$relative/88888|directory|orphan",
	'files of nobody are named');
$node->psql('postgres', 'DROP TABLESPACE old', stderr => \$err);
like($err, qr/tablespace "old" is not empty/, 'files of nobody are in the way of DROP TABLESPACE');
unlink "$directory/$database/99999", "$directory/$database/notes.txt",
  "$directory/88888/1";
rmdir "$directory/88888";
is(contents($node, 'old'), '', 'no file of nobody');

# A temporary table of another session.
my $session = $node->background_psql('postgres');
$session->query_safe(
	'CREATE TEMPORARY TABLE x (a text) TABLESPACE old; INSERT INTO x VALUES (1)');
chomp(my $pid = $session->query_safe('SELECT pg_backend_pid()'));
my $row = contents($node, 'old',
	columns => 'database, relation, kind, how, statement');
like($row,
	qr/^postgres\|pg_temp_\d+\.x\|table\|temporary\|SELECT pg_catalog\.pg_terminate_backend\($pid\);$/,
	'a temporary table and its session');
run_statements($node, statements_of($node, 'old', 'new'));
wait_until($node, q{NOT EXISTS (SELECT FROM tablespace_contents('old'))}, 'the temporary table goes');
eval { $session->quit };

drop_tablespace($node, 'old', 'at last');

# Configuration files.
$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on; CREATE TABLESPACE old LOCATION ''});
$node->append_conf('postgresql.conf', "default_tablespace = 'old'");
$node->safe_psql('postgres', q{ALTER SYSTEM SET temp_tablespaces = 'old'});
my @settings = statements_of($node, 'old', 'new');
is(scalar(@settings), 2, 'settings in configuration files');
run_statements($node, @settings);
is(contents($node, 'old'), '', 'the statements take settings out of configuration files');
drop_tablespace($node, 'old', 'settings');

# The names in other databases are a superuser's to see.
$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on; CREATE TABLESPACE old LOCATION '';
	CREATE ROLE monitor IN ROLE pg_monitor; CREATE TABLE x (a int) TABLESPACE old});
$node->safe_psql('bare',
	q{CREATE TABLE secret (a text) TABLESPACE old; INSERT INTO secret VALUES (1);
	CREATE FUNCTION f() RETURNS int LANGUAGE sql SET default_tablespace = 'old' AS 'SELECT 1'});
is( $node->safe_psql('postgres', q{
	SET ROLE monitor;
	SELECT database, relation, kind, size_bytes > 0, how, statement IS NULL
	FROM tablespace_contents('old')}),
	"bare||table|t|lock|t\nbare|default_tablespace|setting of a routine||setting|t\npostgres|public.x|table|f|live|f",
	'pg_monitor sees sizes of other databases, and no names');

# Names in a database of another encoding: e with an acute accent, and a letter
# of Polish.
$node->safe_psql('postgres', q{
	CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0;
	CREATE DATABASE utf ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0});
$node->safe_psql('latin', qq{SET client_encoding = 'UTF8'; CREATE TABLE "caf\xc3\xa9" (a int) TABLESPACE old});
$node->safe_psql('utf', qq{SET client_encoding = 'UTF8'; CREATE TABLE "\xc5\x82" (a int) TABLESPACE old});
foreach my $dbname ('latin', 'utf')
{
	$node->safe_psql($dbname, 'CREATE EXTENSION tablespace_advisor');
	is( $node->safe_psql($dbname, q{
			SET client_encoding = 'UTF8';
			SELECT string_agg(relation, ' ' ORDER BY database) FROM tablespace_contents('old')
			WHERE database IN ('latin', 'utf')}),
		"public.\"caf\xc3\xa9\" public." . ($dbname eq 'utf' ? "\"\xc5\x82\"" : '"??"'),
		"$dbname: names of another encoding");
}

# A worker that connects while relation caches are to be built anew waits before it
# is in pg_stat_activity.
my $worker_waits = q{SELECT count(*) > 0 FROM pg_locks l
	JOIN pg_database d ON d.oid = l.database WHERE d.datname = 'bare' AND NOT l.granted};

# A transaction that ends between the query of a look and its second one: the
# reader is stopped while the worker in the other database sends the first rows,
# more than go into its queue.
$node->safe_psql('bare', q{
	SELECT format('CREATE TABLE %s_%s (a int) TABLESPACE old', repeat('long', 14), n)
	FROM generate_series(1, 800) n \gexec
	CREATE TABLE rewritten (a text) TABLESPACE old});
my $holder = session($node, dbname => 'bare');
my $reader = session($node);
ask($holder, 'BEGIN; LOCK pg_extension IN ACCESS EXCLUSIVE MODE;');
send_to($reader, q{SELECT count(*) FILTER (WHERE relation LIKE '%long%'),
	string_agg(DISTINCT concat_ws(' ', relation, kind, how, reason), '; ') FILTER (WHERE
		kind LIKE 'TOAST%' OR reason LIKE '%hidden%' OR how = 'orphan')
	FROM tablespace_contents('old') WHERE database = 'bare';});
wait_until($node, $worker_waits, 'the worker waits');
kill 'STOP', $reader->{pid};
ask($holder, 'COMMIT;');
wait_until($node, q{SELECT count(*) > 0 FROM pg_stat_activity
	WHERE datname = 'bare' AND wait_event = 'MessageQueueSend'}, 'the queue of the worker is full');
$node->safe_psql('bare', 'VACUUM FULL rewritten');
$node->safe_psql('bare', 'CREATE TABLE made (a text) TABLESPACE old');
kill 'CONT', $reader->{pid};
is(answer($reader), '800|', 'what is committed during a look is neither hidden nor left by a crash');
end_session($_) foreach $holder, $reader;

# What is dropped between the look at the files, which comes first, and that at
# pg_class has no relation by then.
$node->safe_psql('bare', q{
	CREATE TABLE dropped (a text) TABLESPACE old; INSERT INTO dropped VALUES (1)});
$holder = session($node, dbname => 'bare');
$reader = session($node);
my $dropper = session($node, dbname => 'bare');
ask($dropper, 'BEGIN; DROP TABLE dropped;');
ask($holder, 'BEGIN; LOCK pg_extension IN ACCESS EXCLUSIVE MODE;');
my $unowned = q{SELECT concat_ws(' ', how, reason) FROM tablespace_contents('old')
	WHERE kind IN ('file', 'directory');};
send_to($reader, $unowned);
wait_until($node, $worker_waits, 'the worker waits');
ask($dropper, 'COMMIT;');
ask($holder, 'COMMIT;');
is(answer($reader), '', 'what is dropped during a look is not left by a crash');

# Neither is what a transaction has made that began in the same second, or after
# the caller's has looked at pg_stat_activity.
ask($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_stat_activity;');
ask($holder, 'BEGIN;');
$directory = $node->data_dir . '/' . $node->safe_psql('postgres', q{
	SELECT tablespace_advisor.tablespace_directory(oid) FROM pg_tablespace
	WHERE spcname = 'old'}) . '/' . $node->safe_psql('postgres', q{
	SELECT oid FROM pg_database WHERE datname = 'bare'});
append_to_file("$directory/99999", 'x' x 8192);
like(ask($reader, $unowned), qr/^temporary .*may have made it/, 'a transaction under way may have made a file');
ask($holder, 'COMMIT;');
like(ask($reader, $unowned), qr/^orphan .*left by a crash/, 'nobody may when it has ended');
unlink "$directory/99999";

# A number that is none of a relation's.
append_to_file("$directory/99999999999", 'x');
append_to_file("$directory/t99999999999_1", 'x');
is(ask($reader, q{SELECT count(*) FROM tablespace_contents('old') WHERE how = 'orphan';}), '2',
	'numbers that are too large');
unlink "$directory/99999999999", "$directory/t99999999999_1";

# A database that was made after the caller's snapshot.
$node->safe_psql('postgres', 'CREATE DATABASE later TABLESPACE old');
like(ask($reader, $unowned), qr/^temporary .*just made\.$/, 'a database that was just made');
ask($reader, 'COMMIT;');
$node->safe_psql('postgres', 'DROP DATABASE later');
is(ask($reader, $unowned), '', 'nothing is left of it');

# Files that go if the caller's own transaction commits, or if it does not.
$node->safe_psql('postgres', q{
	CREATE TABLE goes (a text) TABLESPACE old; INSERT INTO goes VALUES (1);
	CREATE TABLE dropped (a text) TABLESPACE old; INSERT INTO dropped VALUES (1)});
ask($reader, 'BEGIN; ALTER TABLE goes SET TABLESPACE new; DROP TABLE dropped;');
my @own = split /\n/, ask($reader, $unowned);
is(scalar(grep { /^temporary It is of transaction \d+, which is under way\.$/ } @own), scalar(@own),
	'of the caller\'s transaction');
cmp_ok(scalar(@own), '>=', 2, 'files of the dropped and of the moved relation are named');
ask($reader, 'COMMIT;');
is(ask($reader, $unowned), '', 'files of the caller\'s transaction have gone after its commit');

# A database that is being dropped: a session that does not listen holds it up.
$node->safe_psql('postgres', 'CREATE DATABASE going TABLESPACE old');
end_session($dropper);
$dropper = session($node);
kill 'STOP', $holder->{pid};
send_to($dropper, 'DROP DATABASE going;');
wait_until($node, q{SELECT count(*) > 0 FROM pg_stat_activity
	WHERE wait_event = 'ProcSignalBarrier'}, 'DROP DATABASE waits');
is(ask($reader, q{SELECT string_agg(concat_ws(' ', kind, how), ';') FROM tablespace_contents('old')
	WHERE database = 'going' OR kind = 'directory';}), 'database locked', 'a database that is being dropped');
kill 'CONT', $holder->{pid};
answer($dropper);
end_session($_) foreach $holder, $reader, $dropper;

# A move in another database, whose journal says which files are its own.
$node->safe_psql('postgres', 'CREATE DATABASE moving');
$node->safe_psql('moving', q{
	CREATE EXTENSION tablespace_advisor;
	CREATE TABLE moved (a int PRIMARY KEY); INSERT INTO moved SELECT generate_series(1, 1000)});
stop_at($node, 'copied');
$node->safe_psql('moving', q{CALL move_indexes_concurrently('moved', 'old', wait => false)});
wait_for_stop($node, 'copied');
crash($node);
like($node->safe_psql('postgres', $unowned), qr/^temporary It is a file of move 1 and goes with its end\.$/,
	'the file of a move in another database');
my $keeper = session($node, dbname => 'moving');
ask($keeper, 'BEGIN; LOCK tablespace_advisor.job IN ACCESS EXCLUSIVE MODE;');
like($node->safe_psql('postgres', $unowned), qr/^temporary .*journal of moves in its database is locked/,
	'a journal that cannot be read');
end_session($keeper);
release($node);

# A role with no rights asks for nothing.
is( $node->psql('postgres',
		q{SET ROLE r; SELECT * FROM tablespace_contents('old')}, stderr => \$err),
	3, 'tablespace_contents() is not for everybody');
like($err, qr/permission denied for function tablespace_contents/,
	'a role without rights is refused by name');

# No worker slot.
$node->append_conf('postgresql.conf', 'max_worker_processes = 0');
$node->append_conf('postgresql.conf', q{default_tablespace = ''});
$node->restart;
$node->psql('postgres', q{SELECT * FROM tablespace_contents('old')},
	stderr => \$err);
like($err, qr/could not start a background worker to look into another database/,
	'without a worker slot other databases are refused');
$node->stop;

done_testing();
