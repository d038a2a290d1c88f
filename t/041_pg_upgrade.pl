# Copyright (c) 2026, The tablespace_advisor developers

# pg_upgrade of a cluster with the extension in use, from each older version of
# PostgreSQL on this machine and through all of them: TSA_OLD_BINDIR names the
# folders of their programs, and the extension has to be installed there.

use File::Basename;
use TsaTest;

# servers of several versions, each with an identifier of its own
delete $ENV{INITDB_TEMPLATE};

my @versions = old_bindirs();
my $newest = pop @versions;
plan skip_all => 'no older PostgreSQL with the extension: TSA_OLD_BINDIR names none'
  unless @versions;

# An empty cluster of a version.
sub new_cluster
{
	my ($name, $version, $bindir) = @_;
	my $node = PostgreSQL::Test::Cluster->new("${name}_$version",
		install_path => dirname($bindir));

	# checksums are on by default since 18
	$node->init(extra => [
		'--encoding', 'UTF8', '--locale', 'C',
		$version >= 18 ? '--no-data-checksums' : () ]);
	return $node;
}

# Upgrades one stopped cluster into another.
sub upgrade
{
	my ($old, $old_bindir, $new, $bindir, $name) = @_;

	chdir $PostgreSQL::Test::Utils::tmp_check;
	my $upgraded = run_log([
		"$bindir/pg_upgrade", '--no-sync',
		'-b', $old_bindir, '-B', $bindir,
		'-d', $old->data_dir, '-D', $new->data_dir,
		'-s', $new->host, '-p', $old->port, '-P', $new->port ]);
	ok($upgraded, "$name: pg_upgrade");
	return if $upgraded;

	# what the server said is in the last of its logs
	diag(join '', grep { defined } (split /^/, slurp_file($_))[ -15 .. -1 ])
	  foreach glob($new->data_dir . '/pg_upgrade_output.d/*/log/pg_upgrade_dump_*.log');
	done_testing();
	exit 1;
}

foreach my $path ((map { [ $_, $newest ] } @versions), @versions > 1 ? [ @versions, $newest ] : ())
{
	my ($first, @later) = @$path;
	my $name = join ' to ', map { $_->[0] } @$path;
	my $label = 'via_' . join '_', map { $_->[0] } @$path;
	my $node = new_cluster($label, @$first);
	my $bindir = $first->[1];

	$node->start;
	is($node->safe_psql('postgres', 'SHOW server_version_num') =~ s/\d{4}$//r,
		$first->[0], "$name: the first server");
	make_traveller($node, 'travel', PostgreSQL::Test::Utils::tempdir_short());
	my $before = look_at_traveller($node, 'travel');

	foreach my $step (@later)
	{
		my $next = new_cluster($label, @$step);

		remove_marks($node, 'travel');
		$node->stop;
		upgrade($node, $bindir, $next, $step->[1], "$name: $step->[0]");
		($node, $bindir) = ($next, $step->[1]);
		$node->start;
		is(look_at_traveller($node, 'travel'), $before,
			"$name: probe history and settings are in $step->[0]");
	}

	is($node->safe_psql('travel', 'SELECT count(*) FROM "Tool Box".tablespace_moves'),
		'0', "$name: the journal is not carried over");
	is(move_traveller($node, 'travel'), "done|0\n0", "$name: what was being moved can be moved");
	is($node->safe_psql('travel', q{
			SELECT count(*) FROM moved WHERE id BETWEEN 1 AND 1000}),
		'1000', "$name: the index finds every row");
	$node->stop;
	unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|terminated by signal (?:6|11)/,
		"$name: no crash");
}
done_testing();
