# Copyright (c) 2026, The tablespace_advisor developers

# Texts that others can write have no limit of size: settings of roles, databases
# and routines, options, comments, expressions, errors of index functions.  Here
# most have 280 MB, and whatever a user can call answers as it did before.  (Earlier
# tests had attackers' names and values, but short ones.)  An expression takes three
# bytes of the catalog for each space in it.

use TsaTest;

# What the server needs to store and load such texts, and nothing of ours.
my ($available) = slurp_file('/proc/meminfo') =~ /^MemAvailable:\s+(\d+) kB/m;
plan skip_all => "takes 8 GB of memory, $available kB are available" if $available < 8e6;

my $node = start_node('main', conf => qq(
autovacuum = off
fsync = off
max_wal_size = 4GB
log_min_messages = fatal
log_min_error_statement = panic
shared_preload_libraries = 'pg_stat_statements'
));
my $version = $node->safe_psql('postgres', 'SHOW server_version_num') / 10000;
$node->safe_psql('postgres', q{
	CREATE ROLE mallory LOGIN;
	CREATE ROLE bob LOGIN IN ROLE pg_monitor;
	CREATE ROLE carol LOGIN;
	CREATE TABLE t (a int PRIMARY KEY, b text) TABLESPACE slow;
	INSERT INTO t SELECT i, 'b' || i FROM generate_series(1, 2000) i;
	CREATE INDEX t_b ON t (b);
	CREATE EXTENSION pg_stat_statements;
	ALTER DATABASE postgres OWNER TO mallory;
	ALTER TABLESPACE slow OWNER TO mallory;
	GRANT CREATE ON TABLESPACE slow, fast TO mallory;
	CREATE SCHEMA m AUTHORIZATION mallory;
	SELECT probe_tablespace('fast', duration => '1 ms', file_size => '1 MB')});
$node->safe_psql('postgres', q{
	SET SESSION AUTHORIZATION mallory;
	CREATE TABLE m.t (a int PRIMARY KEY, b text) TABLESPACE slow;
	INSERT INTO m.t VALUES (1, 'x');
	CREATE TABLE m.parent (at date) PARTITION BY RANGE (at);
	CREATE FUNCTION m.g(text, int) RETURNS int LANGUAGE sql AS 'SELECT 1';
	CREATE FUNCTION m.on_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
	CREATE TABLE m.policed (a int, b text) TABLESPACE slow;
	CREATE PROCEDURE m.store(command text, spaces int) LANGUAGE plpgsql
		SET client_min_messages = error
		AS $$BEGIN EXECUTE replace(command, '%', repeat(' ', spaces)); END$$});

# --- each function and view, before and after ------------------------------------------

# What is asked of a move by its number depends on whether there is one.
my @calls = grep { !/\.(\w+_move|wait_for_moves)\(/ } map { call_of($_) } grep { $_->{schema} eq 'public' && $_->{kind} eq 'f' } routines_of($node);
push @calls, map { "SELECT * FROM $_" } split /\n/, $node->safe_psql('postgres', q{
	SELECT c.oid::regclass FROM pg_class c
		JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
		JOIN pg_extension e ON e.oid = d.refobjid
	WHERE e.extname = 'tablespace_advisor' AND c.relkind = 'v' ORDER BY 1});
push @calls, "SELECT * FROM tablespace_contents('slow', 'fast')",
  "SELECT * FROM plan_evacuation('slow', 'fast')", "SELECT * FROM advise_placement()",
  "CALL evacuate_tablespace('slow', 'fast', dry_run => true)",
  "SELECT * FROM tablespace_contents('slow')";

# The SQLSTATE of each, in one session of that user.
sub sweep
{
	my ($user) = @_;
	my ($out, $err) = ('', '');
	my $script = join '', map { "$_ \\g /dev/null\n\\echo :SQLSTATE\n" } @calls;

	$node->psql('postgres', "SET client_min_messages = error;\n$script", stdout => \$out, stderr => \$err,
		on_error_stop => 0, extra_params => [ '-U', $user ]);
	my @states = split /\n/, $out;
	return join "\n", map { $calls[$_] . ': ' . ($states[$_] // 'no answer') } 0 .. $#calls;
}

my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my %before = map { $_ => sweep($_) } $superuser, 'bob', 'carol';
unlike($before{$superuser}, qr/no answer/, 'each call has an answer');

my $characters = 280_000_000;
my $expression = 30_000_000;
my @stored = (
	[ 'a setting that names none', q{ALTER ROLE carol SET my.own TO 'x%'}, 1_000_000, $superuser ],
	[ 'a setting behind it', q{ALTER ROLE carol SET work_mem TO '4MB'}, 0, $superuser ],
	[ 'a setting of a routine', q{ALTER FUNCTION m.g(text, int) SET temp_tablespaces TO 'pg_default%'}, $characters ],
	[ 'an option of a tablespace', q{ALTER TABLESPACE slow SET (random_page_cost = '4%')}, $characters ],
	[ 'an option of a table', q{ALTER TABLE m.t SET (fillfactor = '90%')}, 300_000 ],
	[ 'a comment', q{COMMENT ON TABLE m.t IS 'x%'}, $characters ],
	[ 'a function', q{CREATE FUNCTION m.f() RETURNS int LANGUAGE sql AS 'SELECT 1 /*%*/'}, $characters ],
	[ 'a default', q{ALTER TABLE m.t ALTER b SET DEFAULT 'x%'}, $expression ],
	[ 'a view', q{CREATE VIEW m.v AS SELECT 'x%' AS x}, $expression ],
	[ 'statistics', q{CREATE STATISTICS m.s ON (b || 'x%'), a FROM m.t}, $expression ],
	[ 'a constraint', q{ALTER TABLE m.policed ADD CHECK (b <> 'x%')}, $expression ],
	# each relation that has one parses it: the server takes gigabytes for more
	[ 'a policy', q{CREATE POLICY p ON m.policed USING (b <> 'x%')}, 9_000_000 ],
	[ 'a trigger', q{CREATE TRIGGER r AFTER INSERT ON m.policed FOR EACH ROW
		WHEN (NEW.b = 'x%') EXECUTE FUNCTION m.on_row()}, 9_000_000 ],
	# a row of pg_class has to fit into a page
	[ 'a bound', q{CREATE TABLE m.p PARTITION OF m.parent FOR VALUES FROM ('2020-01-01%') TO ('2021-01-01')}, 9_000 ],
	[ 'an index', q{CREATE INDEX i ON m.t ((b < 'x%')) TABLESPACE slow}, $version < 18 ? 9_000 : $expression ],
	[ 'a partial index', q{CREATE INDEX j ON m.t (a) TABLESPACE slow WHERE b <> 'x%'}, $version < 18 ? 9_000 : $expression ],
	# each session that begins later reads these
	[ 'a setting of a role', q{ALTER ROLE mallory SET temp_tablespaces TO 'pg_default%'}, $characters ],
	[ 'a setting of a database', q{ALTER DATABASE postgres SET temp_tablespaces TO 'pg_default%'}, $characters ]);
my $failed = '';
foreach my $text (@stored)
{
	my ($what, $command, $n, $user) = @$text;
	my $err = '';

	$node->psql('postgres', "CALL m.store(\$q\$$command\$q\$, $n)", stderr => \$err,
		extra_params => [ '-U', $user // 'mallory' ]);
	$failed .= "$what: " . substr($err, 0, 300) . "\n" if $err;
}
is($failed, '', 'the texts are stored');

foreach my $user ($superuser, 'bob', 'carol')
{
	is(sweep($user), $before{$user}, "texts of 280 MB change no answer to $user");
}
my $contents = $node->safe_psql('postgres', q{
	SET client_min_messages = error;
	SELECT relation, kind, statement, reason FROM tablespace_contents('slow')
	WHERE how = 'setting' ORDER BY 2});
my $cut = 'Only its first 8 kB were read: it may name the tablespace, and DROP TABLESPACE leaves it then.';
# from 19 on texts are compressed by LZ4, of which nothing is read then
my $is_lz4 = $node->safe_psql('postgres', 'SHOW default_toast_compression') eq 'lz4';
my @of = (
	[ 'setting of database postgres', 'ALTER DATABASE postgres' ],
	[ 'setting of role carol' ],
	[ 'setting of role mallory', 'ALTER ROLE mallory' ],
	[ 'setting of routine m.g(pg_catalog.text,integer)', 'ALTER ROUTINE m.g(pg_catalog.text,integer)' ]);
is($contents, join("\n", map {
			my ($what, $reset) = @$_;
			$reset && !$is_lz4
			  ? "temp_tablespaces|$what|$reset RESET temp_tablespaces;|$cut"
			  : "settings|$what||$cut" } @of),
	'what was not read to its end may name the tablespace');
is($node->safe_psql('postgres', q{SELECT coalesce(tablespace_advisor.temporary_tablespace(), 'unknown')}),
	'unknown', 'a name that was cut is not guessed');
$node->safe_psql('template1', q{
	ALTER DATABASE postgres RESET ALL; ALTER ROLE mallory RESET ALL; ALTER ROLE carol RESET ALL});
$node->safe_psql('postgres', q{
	ALTER TABLESPACE slow RESET (random_page_cost);
	DROP TABLE m.t, m.policed, m.parent CASCADE;
	DROP FUNCTION m.g});

# --- errors of index functions ----------------------------------------------------------

# The message says what HINT a DBA should follow, and what colour it has.
$node->safe_psql('postgres', q{
	SET SESSION AUTHORIZATION mallory;
	CREATE TABLE m.size (n int);
	INSERT INTO m.size VALUES (0);
	CREATE FUNCTION m.fail(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
	DECLARE
		size int := (SELECT n FROM m.size);
	BEGIN
		IF size > 0 THEN
			RAISE EXCEPTION USING MESSAGE = 'first' || chr(10) || 'HINT:  evil' || repeat('x', size),
				DETAIL = 'Key (a)=(secret)' || chr(10) || 'HINT:  evil' || chr(27) || '[31m' || repeat('y', size / 3);
		END IF;
		RETURN a;
	END$$;
	CREATE TABLE m.t (a int) TABLESPACE slow;
	INSERT INTO m.t VALUES (1);
	CREATE INDEX failing ON m.t (m.fail(a)) TABLESPACE slow;
	CREATE TABLE m.other (a int PRIMARY KEY USING INDEX TABLESPACE slow)});
foreach my $size (100, 600_000_000)
{
	my $err = '';

	$node->safe_psql('postgres', "UPDATE m.size SET n = $size");
	$node->psql('postgres', q{CALL move_indexes_concurrently('m.failing', 'fast', method => 'rebuild')}, stderr => \$err);
	like($err, qr/ERROR:[^\n]*could not move m\.failing: first\?HINT:  evil[^\n]*\nDETAIL:  Key \(a\)=\(secret\)\?HINT:  evil\?\[31m[^\n]*\nHINT:  Job/,
		"message and detail of $size bytes are a line each");
	cmp_ok(length $err, '<', 20_000, 'what is longer was cut');
	is( $node->safe_psql('postgres', q{
			SELECT state, sqlstate, octet_length(error) < 8300, octet_length(detail) < 8300,
				error ~ '[[:cntrl:]]' OR detail ~ '[[:cntrl:]]', error ~ 'cut, \d+ bytes'
			FROM tablespace_moves ORDER BY job_id DESC LIMIT 1}),
		'failed|P0001|t|t|f|' . ($size > 8192 ? 't' : 'f'), 'the journal has what was read');
}
is( $node->safe_psql('postgres', q{SET ROLE bob;
		SELECT DISTINCT detail IS NULL, error ~ 'first' FROM tablespace_moves WHERE state = 'failed'}),
	't|t', "pg_monitor sees no detail of other roles' errors");
$node->safe_psql('postgres', q{
	CREATE ROLE owner IN ROLE mallory LOGIN;
	GRANT SELECT ON m.size TO owner;
	GRANT CREATE ON TABLESPACE fast TO owner;
	GRANT USAGE ON SCHEMA m TO owner});
$node->psql('postgres', q{SET SESSION AUTHORIZATION owner; CALL move_indexes_concurrently('m.failing', 'fast', method => 'rebuild')});
is( $node->safe_psql('postgres', q{SET ROLE owner;
		SELECT detail ~ '^Key' FROM tablespace_moves WHERE state = 'failed'}),
	't', 'the owner of the move sees the detail of its error');

# Versions before 1.1 stored a message as it was.
$node->safe_psql('postgres', q{
	UPDATE tablespace_advisor.job SET error = repeat(E'long\n', 60000000), detail = repeat(E'long\n', 60000000)
	WHERE job_id = (SELECT max(job_id) FROM tablespace_advisor.job)});
foreach my $user ($superuser, 'bob', 'carol')
{
	is(sweep($user), $before{$user}, "an error of 300 MB in the journal changes no answer to $user");
}

# --- a statement for whose row pg_stat_statements has no room ----------------------------

# Earlier statements were shorter, so that it could make rows of them.
my $script = PostgreSQL::Test::Utils::tempdir . '/statement.sql';
open(my $handle, '>', $script) or die "$script: $!";
print $handle 'SELECT current_database() /*', 'x' x 1_048_576;
print $handle 'x' x 1_048_576 for 1 .. 1022;
print $handle 'x' x 1_048_400, "*/;\n";
close $handle or die "$script: $!";
$node->safe_psql('postgres', 'SELECT pg_stat_statements_reset()');
$node->command_ok([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' user=carol', '-f', $script ],
	'somebody runs a statement of nearly 1 GB');
unlink $script;
SKIP:
{
	skip 'pg_stat_statements can show it', 2
	  if $node->psql('postgres', 'SELECT count(*) FROM pg_stat_statements') == 0;
	my ($rc, $out, $err) = $node->psql('postgres', 'SELECT count(*) FROM tablespace_advisor.readable_statements(32)');

	is("$rc $out", '0 0', 'there are no texts of statements, and no error');
	like($err, qr/WARNING:  could not read the texts of statements/, 'a warning says so');
}
$node->stop;

done_testing();
