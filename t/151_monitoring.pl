# Copyright (c) 2026, The tablespace_advisor developers

# What contrib/ has for collectors: each statement as a member of pg_monitor, with
# the columns that its file names; the alert rules by promtool, where that is; the
# expressions of rules and dashboards, by metric, label, state and kind.
#
# The dashboard left interrupted moves out of those that have not ended, since
# only names of metrics were looked at, not values of labels.

use JSON::PP;
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

# Functions in views run with the reader's rights.  Each that she may call reads
# what she may read, also where there is nothing to read yet.  (standby_reads() is
# called by functions of superusers only.)
is($node->safe_psql('postgres', q{
		SELECT p.proname, m[1] FROM pg_proc p
		JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'tablespace_advisor'
		CROSS JOIN LATERAL regexp_matches(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc),
			'(?:FROM|JOIN|,)\s+((?:tablespace_advisor|advisor)\.\w+)\M(?!\()', 'g') m
		WHERE p.prolang IN (SELECT l.oid FROM pg_language l WHERE l.lanname IN ('sql', 'plpgsql'))
			AND NOT p.prosecdef AND has_function_privilege('monitor', p.oid, 'EXECUTE')
			AND p.proname <> 'standby_reads' AND to_regclass(m[1]) IS NOT NULL
			AND NOT has_table_privilege('monitor', to_regclass(m[1]), 'SELECT')}), '',
	'a member of pg_monitor may read what functions read that she may call');

# postgres_exporter: columns are the metrics, in the file's order
my $exporter = slurp_file("$contrib/prometheus/postgres_exporter.yml");
my @queries = $exporter =~ /^(tablespace_advisor_\w+):\n((?:(?: .*)?\n)+)/gm;
is(scalar @queries, 8, 'four queries for postgres_exporter');
my (%names, %labels, %usage);
while (my ($name, $body) = splice @queries, 0, 2)
{
	my ($sql) = blocks($body, 'query:');
	my $columns = columns("$name of postgres_exporter", $sql);
	my @metrics = $body =~ /^    - (\w+):$/gm;

	is_deeply([ sort keys %$columns ], [ sort @metrics ], "$name: the columns of the query are its metrics");
	my %usage_of = $body =~ /- (\w+):\n\s+usage: (\w+)/g;
	my @keys = grep { $usage_of{$_} eq 'LABEL' } @metrics;
	foreach my $metric (grep { $usage_of{$_} ne 'LABEL' } @metrics)
	{
		$names{"${name}_$metric"} = $usage_of{$metric};
		$labels{"${name}_$metric"} = { map { $_ => 1 } @keys, 'instance' };
	}
	$usage{$name} = \%usage_of;
}
is_deeply([ grep { ($names{$_} eq 'COUNTER') != /_total$/ } sort keys %names ], [],
	'counters are called _total, and nothing else');

# sql_exporter: the same metrics
my $collector = slurp_file("$contrib/prometheus/sql_exporter.yml");
is_deeply([ sort $collector =~ /metric_name: (\w+)/g ], [ sort keys %names ],
	'sql_exporter has the same metrics');
columns('a query of sql_exporter', $_) for blocks($collector, 'query:');
foreach my $metric (split /^  - metric_name: /m, $collector =~ s/^queries:.*//msr)
{
	my ($name, $type) = $metric =~ /^(\w+)\n +type: (\w+)\n/ or next;
	my ($keys) = $metric =~ /key_labels: \[([^]]*)\]/;

	is_deeply([ uc $type, sort 'instance', split /, /, $keys // '' ], [ $names{$name}, sort keys %{ $labels{$name} } ],
		"sql_exporter: kind and labels of $name");
}

# pgwatch: the same metrics, labels and gauges, of types that it takes
my ($metrics, $presets) = split /^presets:\n/m, slurp_file("$contrib/pgwatch/tablespace_advisor.yaml") =~ s/^#.*\n//mgr;
my @pgwatch = $metrics =~ /^  (\w+):\n((?:    .*\n)+)/mg;
is_deeply([ sort $presets =~ /^      (\w+): \d+$/mg ], [ sort keys %usage ], 'the preset of pgwatch has all metrics');
while (my ($name, $body) = splice @pgwatch, 0, 2)
{
	my ($sql) = blocks($body, '15:');
	my $columns = columns("$name of pgwatch", $sql);
	my %of = %{ $usage{$name} };
	my @gauges = sort grep { $of{$_} eq 'GAUGE' } keys %of;
	my ($listed) = $body =~ /^    gauges:((?:\n      - \w+)+| \['\*'\])/m;

	$listed //= '';
	is_deeply([ grep { $columns->{$_} !~ /^(?:text|boolean|integer|bigint|double precision)$/ } keys %$columns ],
		[], "$name: columns have types that pgwatch takes") or diag explain $columns;
	is_deeply([ sort keys %$columns ], [ sort 'epoch_ns', map { $of{$_} eq 'LABEL' ? "tag_$_" : $_ } keys %of ],
		"$name: pgwatch has the same columns");
	is_deeply([ $listed =~ /\*/ ? @gauges : sort $listed =~ /- (\w+)/g ], \@gauges, "$name: pgwatch has the same gauges");
	is_deeply([ grep { !/^(?:description|sqls|gauges)$/ } $body =~ /^    (\w+):/mg ], [], "$name: fields that pgwatch has");
}

my %unfinished = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', q{
	SELECT m[1] FROM pg_constraint, regexp_matches(pg_get_constraintdef(oid), $$'(\w+)'$$, 'g') m
	WHERE conrelid = 'tablespace_advisor.job'::regclass AND conname = 'job_state_check'
		AND tablespace_advisor.is_unfinished(m[1])});
is(scalar keys %unfinished, 4, 'the states of moves that have not ended');

# An expression of a rule or panel: metrics that there are, their labels, states,
# and rates of counters only.
sub check_expression
{
	my ($where, $expression, $legend) = @_;
	my @metrics = $expression =~ /\b(tablespace_advisor_\w+)/g;
	my @faults = map { "no metric $_" } grep { !$names{$_} } @metrics;
	my %known = map { %{ $labels{$_} // {} } } @metrics;
	my %rated = map { $_ => 1 } $expression =~ /\brate\((tablespace_advisor_\w+)/g;

	while ($expression =~ /(tablespace_advisor_\w+)\{([^}]*)\}/g)
	{
		my $metric = $1;
		my %values = $2 =~ /(\w+)=~?"([^"]*)"/g;

		push @faults, map { "$metric has no label $_" } grep { !$labels{$metric}{$_} } keys %values;
		push @faults, "not all that have not ended: $values{state}"
		  if ($values{state} // '') =~ /\|/ && join(' ', sort split /\|/, $values{state}) ne join(' ', sort keys %unfinished);
	}
	if ($expression =~ /^(?:sum|max|min)\b/)
	{
		my @by = $expression =~ /\bby \((\w+)\)/g;

		push @faults, map { "no label $_" } grep { !$known{$_} } @by;
		%known = map { $_ => 1 } @by;
	}
	push @faults, map { "no label $_ for the legend" } grep { !$known{$_} } ($legend // '') =~ /\{\{(\w+)\}\}/g;
	push @faults, map { "$_: the rate of a gauge, or a counter as it is" }
	  grep { ($rated{$_} // 0) != (($names{$_} // '') eq 'COUNTER') } @metrics;
	is_deeply(\@faults, [], "$where: metrics, labels, states, rates");
	return;
}

my (undef, @alerts) = split /^      - alert: /m, slurp_file("$contrib/prometheus/rules.yml");
foreach my $alert (@alerts)
{
	my ($name) = $alert =~ /^(\w+)/;
	my ($look) = $alert =~ /description: ['"](.*)['"]$/m;

	check_expression("alert $name", $_) for blocks($alert, 'expr:'), $alert =~ /expr: (tablespace.*)/;
	# what is to be asked then; a function whose argument is left to the reader is there
	foreach my $sql (split /; ?/, $look =~ s/\{\{.*?\}\}/pg_default/gr)
	{
		$sql = "SELECT '$1'::regproc" if $sql =~ /(\w+)\(\.\.\.\)/;
		my ($rc, undef, $err) = $node->psql('postgres', "SET search_path = public, advisor; $sql \\gdesc", on_error_stop => 1);
		is($rc, 0, "alert $name: its statement can be run") or diag $err;
	}
}

# the dashboard, in Grafana's classic schema and as a resource of version 2
my ($classic, $v2) = map { decode_json(slurp_file("$contrib/grafana/tablespace_advisor$_.json")) } '', '_v2';
my %elements = %{ $v2->{spec}{elements} };
my %places = map { $_->{spec}{element}{name} => $_->{spec} } @{ $v2->{spec}{layout}{spec}{items} };
foreach my $panel (@{ $classic->{panels} })
{
	my ($spec, $place) = ($elements{"panel-$panel->{id}"}{spec}, $places{"panel-$panel->{id}"});
	my $viz = $spec->{vizConfig};

	check_expression("panel \"$panel->{title}\"", @$_{qw(expr legendFormat)}) for @{ $panel->{targets} };
	is_deeply(
		[   @$spec{qw(id title description)}, $viz->{group}, @{ $viz->{spec} }{qw(options fieldConfig)}, @$place{qw(x y width height)},
			map { ($_->{spec}{refId}, @{ $_->{spec}{query}{spec} }{qw(expr legendFormat)}) } @{ $spec->{data}{spec}{queries} } ],
		[   @$panel{qw(id title description type options fieldConfig)}, @{ $panel->{gridPos} }{qw(x y w h)},
			map { @$_{qw(refId expr legendFormat)} } @{ $panel->{targets} } ],
		"panel \"$panel->{title}\" is the same in both");
}
is_deeply([ sort keys %elements ], [ sort map { "panel-$_->{id}" } @{ $classic->{panels} } ], 'both have the same panels');
is_deeply([ sort keys %places ], [ sort keys %elements ], 'each panel has a place');
is_deeply([ map { $_->{spec}{name} } @{ $v2->{spec}{variables} } ], [ map { $_->{name} } @{ $classic->{templating}{list} } ],
	'both have the same variables');

SKIP:
{
	skip 'promtool (package prometheus) is not installed', 1
	  unless grep { -x "$_/promtool" } split /:/, $ENV{PATH};
	command_ok([ 'promtool', 'test', 'rules', "$contrib/prometheus/rules_test.yml" ],
		'the alert rules fire and end as they should');
}
$node->stop;
done_testing();
