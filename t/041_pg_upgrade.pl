# pg_upgrade of a cluster with the extension in use, from an older version of
# PostgreSQL on this machine: TSA_OLD_BINDIR names the folder of its programs,
# and the extension has to be installed there.

use File::Basename;
use TsaTest;

my $old_bindir = $ENV{TSA_OLD_BINDIR} // '';
plan skip_all => 'no older PostgreSQL with the extension: TSA_OLD_BINDIR is not set'
  if $old_bindir eq '';

sub major
{
	my ($bindir) = @_;
	my $version = `"$bindir/postgres" --version`;

	return $version =~ /(\d+)/ ? $1 : 0;
}

chomp(my $bindir = `pg_config --bindir`);
my ($old_major, $new_major) = (major($old_bindir), major($bindir));
plan skip_all => "PostgreSQL $old_major in TSA_OLD_BINDIR is not older than $new_major"
  if $old_major >= $new_major;

my @initdb = ('--encoding', 'UTF8', '--locale', 'C');
my $old = PostgreSQL::Test::Cluster->new('old', install_path => dirname($old_bindir));
$old->init(extra => \@initdb);
$old->start;
is($old->safe_psql('postgres', 'SHOW server_version_num') =~ s/\d{4}$//r,
	$old_major, "the old server is PostgreSQL $old_major");
make_traveller($old, 'travel', PostgreSQL::Test::Utils::tempdir_short());
my $before = look_at_traveller($old, 'travel');

# Minor releases from November 2026 on keep a mark of their own, pg_attver, in
# every column's options, which a newer version of an earlier date cannot
# restore: it could upgrade no table at all.  Without the mark the cluster is
# as an earlier minor release has made it.
my $dumped = "$PostgreSQL::Test::Utils::tmp_check/binary_upgrade.sql";
$old->command_ok(
	[ "$bindir/pg_dump", '--schema-only', '--binary-upgrade', '-f', $dumped, 'travel' ],
	"pg_dump of $new_major reads $old_major");
if (slurp_file($dumped) =~ /pg_attver/)
{
	diag("pg_upgrade of $new_major does not know the column option pg_attver of this $old_major: removed");
	$old->safe_psql('travel', q{
		UPDATE pg_attribute SET attoptions = NULL
		WHERE attrelid >= 16384 AND attoptions::text LIKE '{pg_attver=%}'});
}
$old->stop;

# checksums are on by default since 18
push @initdb, '--no-data-checksums' if $new_major >= 18;
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(extra => \@initdb);

chdir $PostgreSQL::Test::Utils::tmp_check;
my $upgraded = run_log(
	[
		'pg_upgrade', '--no-sync',
		'-b', $old_bindir, '-B', $bindir,
		'-d', $old->data_dir, '-D', $new->data_dir,
		'-s', $new->host, '-p', $old->port, '-P', $new->port
	]);
ok($upgraded, "pg_upgrade from $old_major to $new_major");
unless ($upgraded)
{
	# what the server said is in the last of its logs
	diag(join '', (split /^/, slurp_file($_))[ -15 .. -1 ])
	  foreach glob($new->data_dir . '/pg_upgrade_output.d/*/log/pg_upgrade_dump_*.log');
	done_testing();
	exit;
}

$new->start;
is(look_at_traveller($new, 'travel'), $before, 'probe history and settings are there');
is($new->safe_psql('travel', 'SELECT count(*) FROM "Tool Box".tablespace_moves'),
	'0', 'the journal is not carried over');
is(move_traveller($new, 'travel'), "done|0\n0", 'what was being moved can be moved');
is($new->safe_psql('travel', q{
		SELECT count(*) FROM moved WHERE id BETWEEN 1 AND 1000}),
	'1000', 'the index finds every row');
$new->stop;
unlike(slurp_file($new->logfile), qr/PANIC|TRAP:|terminated by signal (?:6|11)/,
	'no crash');
done_testing();
