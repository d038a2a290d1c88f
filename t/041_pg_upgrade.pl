# pg_upgrade of a cluster with the extension in use, from an older version of
# PostgreSQL on this machine: TSA_OLD_BINDIR names the folder of its programs,
# and the extension has to be installed there.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaState;

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
TsaState::make($old, 'travel', PostgreSQL::Test::Utils::tempdir_short());
my $before = TsaState::look($old, 'travel');
$old->stop;

# checksums are on by default since 18
push @initdb, '--no-data-checksums' if $new_major >= 18;
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init(extra => \@initdb);

chdir $PostgreSQL::Test::Utils::tmp_check;
command_ok(
	[
		'pg_upgrade', '--no-sync',
		'-b', $old_bindir, '-B', $bindir,
		'-d', $old->data_dir, '-D', $new->data_dir,
		'-s', $new->host, '-p', $old->port, '-P', $new->port
	],
	"pg_upgrade from $old_major to $new_major");

$new->start;
is(TsaState::look($new, 'travel'), $before, 'probe history and settings are there');
is(TsaState::move_again($new, 'travel'), "done|0\n0", 'what was being moved can be moved');
is($new->safe_psql('travel', q{
		SELECT count(*) FROM moved WHERE id BETWEEN 1 AND 1000}),
	'1000', 'the index finds every row');
$new->stop;
unlike(slurp_file($new->logfile), qr/PANIC|TRAP:|terminated by signal (?:6|11)/,
	'no crash');
done_testing();
