# pg_dump and restore of a database with the extension in use: probe history
# and settings go with it, the journal of moves does not.

use TsaTest;

my $old = PostgreSQL::Test::Cluster->new('old');
$old->init;
$old->start;
make_traveller($old, 'travel', PostgreSQL::Test::Utils::tempdir_short());
my $before = look_at_traveller($old, 'travel');
like($before, qr/^3\|travelling\|/m, 'there is something to dump');
is($old->safe_psql('travel', 'SELECT count(*) FROM tablespace_advisor.job'),
	'1', 'there is a job');

my $dump = "$PostgreSQL::Test::Utils::tmp_check/travel.dump";
my $globals = "$PostgreSQL::Test::Utils::tmp_check/globals.sql";
$old->command_ok([ 'pg_dump', '-Fc', '--create', '-f', $dump, 'travel' ],
	'pg_dump');
$old->command_ok([ 'pg_dumpall', '--tablespaces-only', '-f', $globals ],
	'pg_dumpall --tablespaces-only');

# another server; its tablespace has to lie elsewhere
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init;
$new->start;
my $place = PostgreSQL::Test::Utils::tempdir_short();
my $sql = slurp_file($globals);
$sql =~ s/LOCATION '[^']*'/LOCATION '$place'/;
$new->safe_psql('postgres', $sql);
$new->command_ok([ 'pg_restore', '--create', '--exit-on-error', '-d', 'postgres', $dump ],
	'pg_restore');
is(look_at_traveller($new, 'travel'), $before, 'probe history and settings are there');
is($new->safe_psql('travel', 'SELECT count(*) FROM tablespace_advisor.job'),
	'0', 'the journal is not');
is(move_traveller($new, 'travel'), "done|0\n0", 'what was being moved can be moved');
is($new->safe_psql('travel', q{
		INSERT INTO tablespace_advisor.probe_run
			(tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
		VALUES ('travelling', '', 'scratch', 1, '1 s', now(), now())
		RETURNING run_id}),
	'4', 'runs are numbered on');

# a copy beside the original, in one server: the job of the one is none of the other
$old->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE travel');
is(move_traveller($old, 'copy'), "done|0\n0", 'a copied database can move on its own');

$_->stop foreach $old, $new;
unlike(slurp_file($_->logfile), qr/PANIC|TRAP:|terminated by signal (?:6|11)/,
	'no crash of ' . $_->name)
  foreach $old, $new;
done_testing();
