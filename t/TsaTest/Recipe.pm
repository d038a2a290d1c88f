# Copyright (c) 2026, The tablespace_advisor developers

# The recipes of a page of docs/, to be run as they stand there.

package TsaTest::Recipe;

use strict;
use warnings;

use Exporter 'import';
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(recipes run_recipe);

# The indented blocks of a section, whose title begins so.
sub recipes
{
	my ($page, $title) = @_;
	my ($top) = grep { -d "$_/docs" } "$FindBin::RealBin/..", "$FindBin::RealBin/../..";
	my ($section) = slurp_file("$top/docs/$page.md") =~ /^## \Q$title\E[^\n]*\n(.*?)(?=^## |\z)/ms
	  or die "there is no section $title";

	return map { s/^    //gmr } $section =~ /(?:^|\n\n)((?:    [^\n]*\n)+)/g;
}

# Runs one as a psql script, which must not fail; returns what it prints.
sub run_recipe
{
	my ($node, $dbname, $recipe, $name) = @_;
	my ($out, $err) = ('', '');
	my $rc = $node->psql($dbname, $recipe, stdout => \$out, stderr => \$err,
		timeout => 300);

	is($rc, 0, "$name: the recipe runs as it stands") or diag $err;
	return wantarray ? ($out, $err) : $out;
}

1;
