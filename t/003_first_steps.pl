# Copyright (c) 2026, The tablespace_advisor developers

# What README.md says under "Install" and "First steps" works as it stands, in
# that order, on a server that has nothing but the table and the tablespaces
# that it names, in the database that it names.

use TsaTest;

my $readme = slurp_file("README.md");
my ($install) = $readme =~ /^## Install\n(.*?)^## /ms;
my ($steps) = $readme =~ /^## First steps\n(.*?)^## /ms;
my @commands = $install =~ /-c '([^']+)'/g;
my ($script, $daily) = $steps =~ /((?:^    [^\n]+\n)+)/mg;

is(scalar @commands, 3, 'README installs with three statements');

my $node = new_node('main');
$node->start;
foreach my $tablespace ('slow', 'fast')
{
	my $dir = PostgreSQL::Test::Utils::tempdir;

	$node->safe_psql('postgres', "CREATE TABLESPACE $tablespace LOCATION '$dir'");
}
$node->safe_psql('postgres', 'CREATE DATABASE shop');
$node->safe_psql('shop', q{
	CREATE TABLE orders (id int PRIMARY KEY, note text) TABLESPACE slow;
	INSERT INTO orders SELECT i, repeat('x', 100) FROM generate_series(1, 5000) i;
	ALTER INDEX orders_pkey SET TABLESPACE slow;
	ANALYZE orders});
$node->safe_psql('shop', $_) for @commands;

my ($rc, $out, $err) = $node->psql('shop', $script, timeout => 300,
	on_error_stop => 1);
is($rc, 0, 'the first steps of README run') or diag $err;
like($out, qr/^public\.orders: /m, 'the first steps end with advice on the table');
is( $node->safe_psql('shop', q{
		SELECT t.spcname FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE c.relname = 'orders_pkey'}),
	'fast', 'the first steps have moved the index');
($rc, $out, $err) = $node->psql('shop', $daily, timeout => 300, on_error_stop => 1);
is($rc, 0, 'the statements for daily use run') or diag $err;
$node->stop;
done_testing();
