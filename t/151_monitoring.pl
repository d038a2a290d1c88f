# Copyright (c) 2026, The tablespace_advisor developers

# What contrib/ has for collectors: each statement as a member of pg_monitor, with
# the columns that its file names; the alert rules by promtool, where that is.

use TsaTest;

my $contrib = "contrib";
my $node = new_node('main');
$node->append_conf('postgresql.conf', 'track_io_timing = on');
$node->start;
$node->safe_psql('postgres', q{
	CREATE SCHEMA advisor;
	CREATE EXTENSION tablespace_advisor SCHEMA advisor;
	CREATE ROLE monitor LOGIN IN ROLE pg_monitor;
	GRANT USAGE ON SCHEMA advisor TO monitor;
	ALTER ROLE monitor SET search_path = public, advisor;
	CREATE TABLE t (a int PRIMARY KEY)});
$node->safe_psql('postgres', 'CALL advisor.sample_activity()') for 1 .. 2;

# The columns of a statement's result, as the monitoring role, after it has run.
sub columns
{
	my ($name, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $sql,
		extra_params => [ '-U', 'monitor', '-F', "\t" ]);

	is($rc, 0, "$name runs as a member of pg_monitor") or diag $err;
	(undef, $out) = $node->psql('postgres', "$sql \\gdesc",
		extra_params => [ '-U', 'monitor', '-A', '-t', '-F', ' ' ]);
	return { map { split / /, $_, 2 } split /\n/, $out };
}

# The blocks of an indented file that begin with a line that matches: [name, text].
sub blocks
{
	my ($text, $head) = @_;
	my @found;

	while ($text =~ /^( *)$head *[>|]-?\n((?:\1 +[^\n]*\n)+)/gm)
	{
		push @found, $2 =~ s/\s+/ /gr =~ s/^ | $//gr;
	}
	return @found;
}

# postgres_exporter: columns are the metrics, in the file's order
my $exporter = slurp_file("$contrib/prometheus/postgres_exporter.yml");
my @queries = $exporter =~ /^(tablespace_advisor_\w+):\n((?:(?: .*)?\n)+)/gm;
is(scalar @queries, 8, 'four queries for postgres_exporter');
my %names;
while (my ($name, $body) = splice @queries, 0, 2)
{
	my ($sql) = blocks($body, 'query:');
	my $columns = columns("$name of postgres_exporter", $sql);
	my @metrics = $body =~ /^    - (\w+):$/gm;

	is_deeply([ sort keys %$columns ], [ sort @metrics ], "$name: the columns of the query are its metrics");
	$names{"${name}_$_"} = 1 for grep { $body =~ /- \Q$_\E:\n\s+usage: (?!LABEL)/ } @metrics;
}

# sql_exporter: the same metrics
my $collector = slurp_file("$contrib/prometheus/sql_exporter.yml");
is_deeply([ sort $collector =~ /metric_name: (\w+)/g ], [ sort keys %names ],
	'sql_exporter has the same metrics');
columns('a query of sql_exporter', $_) for blocks($collector, 'query:');

# pgwatch: types that it takes
foreach my $sql (blocks(slurp_file("$contrib/pgwatch/tablespace_advisor.yaml"), '15:'))
{
	my $columns = columns('a query of pgwatch', $sql);

	is_deeply([ grep { $columns->{$_} !~ /^(?:text|boolean|integer|bigint|double precision)$/ } keys %$columns ],
		[], 'columns of a pgwatch query have types that it takes') or diag explain $columns;
	ok(exists $columns->{epoch_ns}, 'a pgwatch query has a time');
}

# rules and dashboard speak of metrics that there are
foreach my $file ('prometheus/rules.yml', 'grafana/tablespace_advisor.json')
{
	my %used = map { $_ => 1 } grep { !/^tablespace_advisor_health$/ }
	  slurp_file("$contrib/$file") =~ /\b(tablespace_advisor_[a-z]+_[a-z_]+)\b/g;

	is_deeply([ grep { !$names{$_} } sort keys %used ], [], "$file: all metrics are there");
}

SKIP:
{
	skip 'promtool (package prometheus) is not installed', 1
	  unless grep { -x "$_/promtool" } split /:/, $ENV{PATH};
	command_ok([ 'promtool', 'test', 'rules', "$contrib/prometheus/rules_test.yml" ],
		'the alert rules fire and end as they should');
}
$node->stop;
done_testing();
