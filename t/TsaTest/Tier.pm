# Copyright (c) 2026, The tablespace_advisor developers

# What is in a tablespace, the statements that tablespace_contents() hands out,
# and running them where they belong.

package TsaTest::Tier;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(
  contents statements_of run_statements drop_tablespace);

# What is in a tablespace: database, relation, kind and how of each row.
sub contents
{
	my ($node, $tablespace, %args) = @_;
	my $columns = $args{columns} // 'database, relation, kind, how';

	# the files of those that have just ended go with a checkpoint
	$node->safe_psql('postgres', 'CHECKPOINT');
	return $node->safe_psql('postgres',
		"SELECT $columns FROM tablespace_contents('$tablespace')"
		  . ($args{where} ? " WHERE $args{where}" : ''));
}

# The statements that make it all leave, each with its database.
sub statements_of
{
	my ($node, $tablespace, $target) = @_;
	my $rows = $node->safe_psql('postgres', qq{
		SELECT coalesce(database, 'postgres') || ':' || statement
		FROM tablespace_contents('$tablespace', '$target')
		WHERE statement IS NOT NULL ORDER BY how = 'with database', how});

	return map { [ split /:/, $_, 2 ] } split /\n/, $rows;
}

# Runs them: ALTER DATABASE and the like from another database.
sub run_statements
{
	my ($node, @statements) = @_;

	for my $pair (@statements)
	{
		my ($database, $statement) = @$pair;

		$database = $database eq 'postgres' ? 'template1' : 'postgres'
		  if $statement =~ /^(ALTER|DROP) DATABASE/;
		$node->safe_psql($database, $statement, timeout => 120);
	}
	return;
}

# DROP TABLESPACE must work now.
sub drop_tablespace
{
	my ($node, $tablespace, $name) = @_;
	my ($out, $err) = ('', '');
	my $rc = $node->psql('postgres', "DROP TABLESPACE $tablespace",
		stdout => \$out, stderr => \$err);

	is("$rc $err", '0 ', "$name: DROP TABLESPACE works");
	return;
}

1;
