# Copyright (c) 2026, The tablespace_advisor developers

# pg_dump and restore of a database with the extension in use: probe history
# and settings go with it, the journal of moves does not.  From this version, and
# from the older ones that TSA_OLD_BINDIR names.

use File::Basename;
use TsaTest;

# servers of several versions, each with an identifier of its own
delete $ENV{INITDB_TEMPLATE};

# Dumps the database of one server by the programs of another and restores it there.
sub travels
{
	my ($old, $new, $name) = @_;
	my $dump = "$PostgreSQL::Test::Utils::tmp_check/$name.dump";
	my $globals = "$PostgreSQL::Test::Utils::tmp_check/$name.sql";

	make_traveller($old, 'travel', PostgreSQL::Test::Utils::tempdir_short());
	my $before = look_at_traveller($old, 'travel');
	like($before, qr/^3\|travelling\|/m, "$name: there is something to dump");
	is($old->safe_psql('travel', 'SELECT count(*) FROM tablespace_advisor.job'),
		'1', "$name: there is a job");
	remove_marks($old, 'travel') if $old->pg_version->major != $new->pg_version->major;

	$new->command_ok([ 'pg_dump', '-Fc', '--create', '-f', $dump, '-d', $old->connstr('travel') ],
		"$name: pg_dump");
	$new->command_ok(
		[ 'pg_dumpall', '--tablespaces-only', '-f', $globals, '-d', $old->connstr('postgres') ],
		"$name: pg_dumpall --tablespaces-only");

	# its tablespace has to lie elsewhere
	my $place = PostgreSQL::Test::Utils::tempdir_short();
	my $sql = slurp_file($globals);
	$sql =~ s/LOCATION '[^']*'/LOCATION '$place'/;
	$new->safe_psql('postgres', $sql);
	$new->command_ok([ 'pg_restore', '--create', '--exit-on-error', '-d', 'postgres', $dump ],
		"$name: pg_restore");
	is(look_at_traveller($new, 'travel'), $before, "$name: probe history and settings are there");
	is($new->safe_psql('travel', 'SELECT count(*) FROM tablespace_advisor.job'),
		'0', "$name: the journal is not");
	is(move_traveller($new, 'travel'), "done|0\n0", "$name: what was being moved can be moved");
	is($new->safe_psql('travel', q{
			INSERT INTO tablespace_advisor.probe_run
				(tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
			VALUES ('travelling', '', 'scratch', 1, '1 s', now(), now())
			RETURNING run_id}),
		'4', "$name: runs are numbered on");
	return;
}

my @nodes;
foreach my $server (old_bindirs())
{
	my ($version, $bindir) = @$server;
	my ($old, $new) = (
		PostgreSQL::Test::Cluster->new("old_$version", install_path => dirname($bindir)),
		PostgreSQL::Test::Cluster->new("new_$version"));

	foreach my $node ($old, $new)
	{
		$node->init;
		$node->start;
	}
	travels($old, $new, "from $version");
	push @nodes, $old, $new;
}

# a copy beside the original, in one server: the job of the one is none of the other
$nodes[-2]->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE travel');
is(move_traveller($nodes[-2], 'copy'), "done|0\n0", 'a copied database can move on its own');

$_->stop foreach @nodes;
unlike(slurp_file($_->logfile), qr/PANIC|TRAP:|terminated by signal (?:6|11)/,
	'no crash of ' . $_->name)
  foreach @nodes;
done_testing();
