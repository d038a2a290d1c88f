# Copyright (c) 2026, The tablespace_advisor developers

# Every statement that README.md and docs/ show in an example works as it stands on a
# server as README's "Install" leaves it, but for times, which are shortened, job
# numbers, and measurements, which are there from the beginning, and
# standby_activity(), which is refused here: t/155 has it.  Of a statement that
# schedules a command the command is run.  Those of docs/tiering.md are run in a
# database "shop" whose default tablespace is the one that it empties; those of
# docs/fleets.md that need another program by tools/fleet.  What they print fits 120
# columns.  Each page begins with an example.
# docs/reference.md names all functions, arguments and parameters, and each column
# of a function or view is on the page that the reference names for it.
# The pages for those who change this name files that are there.

use File::Find;
use TsaTest;

my $top = ".";
my @pages = ("$top/README.md", sort glob("$top/docs/*.md"));
my $keyword = qr/SELECT|CALL|SET|CREATE|ALTER|DROP|GRANT|WITH/;

# The examples in a page: blocks that are indented or fenced as SQL and begin with
# a statement; but for scripts with tables of their own, which bench/ has.
# Returns their statements.
sub statements_in
{
	my ($page) = @_;
	my $text = slurp_file($page);
	my @statements;

	while ($text =~ /(?:^|\n\n)((?:    [^\n]*\n)+)|^```sql\n(.*?)^```/gms)
	{
		my $block = $1 // $2;

		next unless $block =~ /^\s*(?:$keyword\b|\\pset)/;
		next if $block =~ /^\s*CREATE TABLE/;
		# psql runs its own commands line by line, and comments tell where to be
		if ($block =~ /\\|-- from another/)
		{
			push @statements, $block;
			next;
		}
		$block =~ s/--[^\n]*//g;
		push @statements, map { s/\s+/ /gr =~ s/^ | $//gr } split /;/, $block;
	}
	return grep { /\S/ } @statements;
}

my $node = new_node('main', conf => "shared_preload_libraries = 'tablespace_advisor, pg_stat_statements'\ntablespace_advisor.sample_interval = 0\n");
$node->start;
$node->safe_psql('postgres', "SET allow_in_place_tablespaces = on; CREATE TABLESPACE $_ LOCATION ''")
  foreach qw(slow fast big small);
my ($install) = slurp_file("$top/README.md") =~ /^## Install\n(.*?)^## /ms;
$node->safe_psql('postgres', s/\bshop\b/postgres/r) foreach $install =~ /-c '([^']+)'/g;
$node->safe_psql('postgres', q{
	CREATE EXTENSION pg_stat_statements;
	CREATE TABLE documents (id int, body text) TABLESPACE big;
	CREATE TABLE orders (id int PRIMARY KEY, customer int, total numeric, note text);
	INSERT INTO orders SELECT i, i % 100, i, repeat('x', 100) FROM generate_series(1, 5000) i;
	CREATE INDEX orders_customer ON orders (customer);
	CREATE TABLE events (at timestamptz, what text) PARTITION BY RANGE (at);
	CREATE TABLE events_old PARTITION OF events FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
	CREATE TABLE events_new PARTITION OF events FOR VALUES FROM ('2021-01-01') TO ('2101-01-01');
	VACUUM ANALYZE orders;
	INSERT INTO tablespace_advisor.probe_run (tablespace, location, device, mode, file_size_bytes, duration, started_at, finished_at)
	SELECT tablespace, pg_tablespace_location(oid), device, 'scratch', 1000000, '1 s', now(), now()
	FROM tablespace_devices() JOIN pg_tablespace ON spcname = tablespace
	WHERE tablespace IN ('slow', 'fast');
	INSERT INTO tablespace_advisor.probe_result (run_id, workload, queue_depth, io_size, samples, iops, mean_us)
	SELECT run_id, workload, 1, current_setting('block_size')::int, 1000, 1e6 / us, us
	FROM tablespace_advisor.probe_run, (VALUES ('random read'), ('sequential read')) w (workload),
		LATERAL (SELECT CASE tablespace WHEN 'slow' THEN 10000 ELSE 100 END AS us) t});
$node->command_ok(
	[ 'pgbench', '-i', '-q', '-h', $node->host, '-p', $node->port, 'postgres' ],
	'pgbench -i');

# The database that docs/tiering.md speaks of, with its tables in tablespace "old", or
# all of it.
sub make_shop
{
	my ($place) = @_;

	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS shop WITH (FORCE)');
	$node->psql('postgres', "DROP TABLESPACE $_") foreach qw(old new);
	$node->safe_psql('postgres', "SET allow_in_place_tablespaces = on; CREATE TABLESPACE $_ LOCATION ''")
	  foreach qw(old new);
	$node->safe_psql('postgres', "CREATE DATABASE shop TABLESPACE $place");
	$node->safe_psql('shop', $_) foreach $install =~ /-c '([^']+)'/g;
	$node->safe_psql('shop', q{
		CREATE TABLE orders (id int PRIMARY KEY, note text) TABLESPACE old;
		INSERT INTO orders SELECT i, 'x' FROM generate_series(1, 1000) i;
		CREATE TABLE events (at timestamptz, what text) PARTITION BY RANGE (at);
		CREATE TABLE events_old PARTITION OF events FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
		CALL sample_activity()});
	return;
}

# The parts of an example of docs/tiering.md, each with the database where it is run.
sub parts_of
{
	my ($sql) = @_;
	my ($here, $there) = split /-- from another database[^\n]*/, $sql;

	if (defined $there)
	{
		make_shop('old');
		$node->safe_psql('postgres', 'DROP TABLESPACE new');
		$here =~ s{'/mnt/(\w+/\w+)'}{my $dir = PostgreSQL::Test::Utils::tempdir; "'$dir'"}ge;
	}
	return ([ $sql =~ /^DROP TABLESPACE/ ? 'postgres' : 'shop', $here ], defined $there ? [ 'postgres', $there ] : ());
}

my $all_ended =
  'NOT EXISTS (SELECT FROM tablespace_moves WHERE finished_at IS NULL)';

# A move for the statements that steer one.
my $job;

# Ends what the examples have begun, and moves the table to where it is not.
sub start_own_move
{
	my ($more) = @_;

	$node->safe_psql('postgres', q{
		SELECT cancel_move(job_id) FROM tablespace_moves
		WHERE finished_at IS NULL});
	wait_until($node, $all_ended, 'the moves end');
	my $place = where_tables_are($node, 'orders');
	$job = start_table_move($node, 'orders', $place eq 'slow' ? 'fast' : 'slow', $more);
	return;
}

sub start_slow_move
{
	start_own_move("max_rate => '100 bytes'");
	wait_until_job($node, $job, "bytes_done > 0");
	return;
}
my %before = (
	alter => sub {
		my ($statement) = @_;

		# one that waits for its time window, or one under way
		return start_own_move("during => '01:00-01:01'") if $statement =~ /during/;
		start_slow_move();
	},
	pause => \&start_slow_move,
	resume => sub {
		wait_until_job($node, $job, "state = 'paused'");
	},
	retry => sub { wait_for_job($node, $job) },
	undo => sub {
		start_own_move();
		wait_for_job($node, $job);
	});

sub width_of
{
	my ($out) = @_;

	# lines between records are as long as psql likes
	return (sort { $b <=> $a } map { length } grep { !/^-\[ RECORD/ } split /\n/, $out)[0] // 0;
}

foreach my $page (@pages)
{
	my $name = $page =~ s/^\Q$top\E\///r;
	my ($begin) = slurp_file($page) =~ /\A(.*?)(?:^## |\z)/ms;

	like($begin, qr/^    \S|^```/m, "$name begins with an example");
	next if $name =~ /reliability|benchmarks/;
	my $is_of_shop = $name =~ /tiering/;
	make_shop('pg_default') if $is_of_shop;
	foreach my $statement (statements_in($page))
	{
		next if $name =~ /fleets/ && $statement =~ /run_command_on|dblink|metrics|'old'|TABLESPACE old/;
		my ($verb) = $statement =~ /\b(alter|pause|resume|cancel|retry|undo)_move\(7\b/;

		wait_until($node, $all_ended, 'the moves end') unless $verb;
		$before{$verb}->($statement) if $verb && $before{$verb};
		my $sql = $statement =~ s/_move\(7\b/_move($job/r;
		$sql =~ s/(probe_tablespace\('\w+')\)/$1, duration => '100 ms', file_size => '8 MB')/;
		$sql =~ s/'20 min'/'100 ms'/;
		$sql =~ s/'20 GB'/'8 MB'/;
		$sql =~ s/observe => '1 min'/observe => '1 s'/;
		$sql =~ s/'30 s'/'1 s'/;
		$sql = $1 if $sql =~ /cron\.schedule\(.*\$\$(.*)\$\$/;

		$sql =~ s/undo\.sql/"$PostgreSQL::Test::Utils::tmp_check\/undo.sql"/e;

		my ($rc, $out, $err);
		foreach my $part ($is_of_shop ? parts_of($sql) : [ 'postgres', $sql ])
		{
			($rc, $out, $err) = $node->psql($part->[0], $part->[1], timeout => 120, on_error_stop => 1,
				extra_params => [qw(-P format=aligned -P tuples_only=off -P pager=off)]);
			last if $rc != 0;
		}
		if ($statement =~ /\bstandby_activity\(/)
		{
			like($err, qr/this server is not a standby/, "$name: $statement");
			next;
		}
		is($rc, 0, "$name: $statement") or diag $err;
		# a page of HTML, and statements that are for \gexec
		next if $statement =~ /tablespace_report|\\gexec/;
		cmp_ok(width_of($out), '<=', 120, "$name: fits: $statement") or diag join "\n", grep { length > 120 } split /\n/, $out;
	}
}

# --- arguments, parameters, and columns of functions, views and the history of probes

# Does a page name a column, as code within a line?
sub names_column
{
	my ($text, $column) = @_;

	return scalar grep { /\b\Q$column\E\b/ } $text =~ /`([^`\n]+)`/g;
}

my $reference = slurp_file("$top/docs/reference.md");
my %text_for = map { $_ => slurp_file("$top/docs/probe.md") } qw(probe_run probe_result);
my %arguments;
foreach my $row ($reference =~ /^(\| `.*)$/mg)
{
	my ($named, $links) = $row =~ /^\| (.*?) \|.*\| (\[.*\)) \|$/ or next;
	my $text = join '', map { slurp_file("$top/docs/$_") } $links =~ /\(([\w-]+\.md)\)/g;

	while ($named =~ /`(\w+)`(?: `\(([^`]*)\)`)?/g)
	{
		$text_for{$1} = $text;
		$arguments{$1} = $2 // '';
	}
}
my @columns = split /\n/, $node->safe_psql('postgres', q{
	WITH ours AS (
		SELECT d.classid, d.objid
		FROM pg_depend d JOIN pg_extension e ON d.refobjid = e.oid
		WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
			AND e.extname = 'tablespace_advisor'
	), called AS (
		SELECT p.*
		FROM ours o JOIN pg_proc p ON o.classid = 'pg_proc'::regclass AND p.oid = o.objid
		WHERE p.prokind = 'f' AND p.pronamespace <> 'tablespace_advisor'::regnamespace
	), relation AS (
		SELECT c.relname AS name, c.oid
		FROM ours o JOIN pg_class c ON o.classid = 'pg_class'::regclass AND c.oid = o.objid
		WHERE c.relkind = 'v' AND c.relnamespace <> 'tablespace_advisor'::regnamespace
			OR c.relname IN ('probe_run', 'probe_result')
		UNION ALL
		SELECT p.proname, t.typrelid
		FROM called p JOIN pg_type t ON t.oid = p.prorettype AND t.typtype = 'c'
	)
	SELECT r.name || ' ' || a.attname
	FROM relation r JOIN pg_attribute a ON a.attrelid = r.oid
	WHERE a.attnum > 0 AND NOT a.attisdropped
	UNION ALL
	SELECT p.proname || ' ' || a.name
	FROM called p CROSS JOIN LATERAL unnest(p.proargnames, p.proargmodes) a(name, mode)
	WHERE a.mode IN ('o', 't')
	ORDER BY 1});
my @one_of_each = ('advise_placement rank', 'move_outcomes job_id', 'placement_curve bytes', 'probe_run run_id');
is(join(', ', grep { my $column = $_; grep { $_ eq $column } @columns } @one_of_each),
	join(', ', @one_of_each), 'columns of a type, a view, a function and a table are looked at');
is(join(', ', grep { my ($of, $column) = split / /; !names_column($text_for{$of} // '', $column) } @columns),
	'', 'each column is on the page that the reference names for its function or view');
ok(!names_column($text_for{tablespace_moves} =~ s/`lock_ms`//gr, 'lock_ms'),
	'a column that a page does not name is found');
is( $node->safe_psql('postgres', q{
		SELECT string_agg(name, ', ') FROM pg_settings
		WHERE name LIKE 'tablespace_advisor.%' AND position('`' || name || '`' IN $ref$} . $reference . q{$ref$) = 0}),
	'', 'the reference has each parameter');
my @called = split /\n/, $node->safe_psql('postgres', q{
	SELECT p.proname || ' ' || coalesce(a.name, '')
	FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
		LEFT JOIN LATERAL unnest(p.proargnames, p.proargmodes) a(name, mode)
			ON coalesce(a.mode, 'i') = 'i'
	WHERE e.extname = 'tablespace_advisor' AND p.pronamespace <> 'tablespace_advisor'::regnamespace
	ORDER BY 1});
ok((grep { $_ eq 'alter_move min_rate' } @called), 'arguments of functions are looked at');
is(join(', ', grep { my ($of, $argument) = split / /; !defined $arguments{$of} || $argument && $arguments{$of} !~ /\b$argument\b/ } @called),
	'', 'the reference has each function with its arguments');
is($node->safe_psql('postgres', q{
		SELECT string_agg(name || ' ' || boot_val, ', ') FROM pg_settings
		WHERE name LIKE 'tablespace_advisor.%' AND name !~ 'debug' AND unit IS NULL
			AND position('| `' || name || '` | ' || boot_val || ' |' IN $ref$} . $reference . q{$ref$) = 0}),
	'', 'the reference has the default of each parameter without unit');
$node->stop;

# --- the map of ARCHITECTURE.md, and files that the other pages for those who
# --- change this name, are those of the tree

my %files;
find({ no_chdir => 1, wanted => sub { $files{"$_/"}++ if -d; $files{$_}++ if -f } },
	map { "$top/$_" } qw(src t test tools bench contrib sql specs expected docs releases));

# Is it a file or folder, or the end of its path?
sub is_there
{
	my ($name) = @_;
	my $end = quotemeta($name) =~ s/\\\*/[^\/]*/gr;

	$end .= '_[^/]*' if $name =~ /^t\/\d+$/;
	return -e "$top/$name" || grep { m{/$end$} } keys %files;
}

my $map = slurp_file("$top/ARCHITECTURE.md");
my ($stages) = slurp_file("$top/Makefile") =~ /^STAGES = (.*)$/m;
my ($arrows) = $map =~ /^    (state -> .*)$/m;
is($arrows, join(' -> ', split ' ', $stages), 'ARCHITECTURE.md has the stages of the Makefile');
is(join(' ', sort map { m{/src/(\w+)/$} ? $1 : () } keys %files),
	join(' ', sort split ' ', $stages), 'each folder of src/ is a stage');
foreach my $folder (grep { m{/src/\w+/$|/src/move/\w+/$} } sort keys %files)
{
	my ($name) = $folder =~ m{(\w+/)$};

	like($map, $folder =~ /move\/./ ? qr/^      \Q$name\E /m : qr/`src\/\Q$name\E`/,
		"ARCHITECTURE.md has $name");
}
foreach my $page ("$top/ARCHITECTURE.md", "$top/CONTRIBUTING.md", glob "$top/docs/internals/*.md")
{
	my @named = grep { m{(?:\.(?:c|h|sql|p[lm]|md)|/|^t/\d+)\z|^(?:tools|bench|test|src|docs)/} }
	  slurp_file($page) =~ /(?:`|\]\()([\w.\/*-]+)[`)]/g;
	my @missing = grep { !/STAGE|^\.|--X|^(?:postgres|simplehash)\.h$/ && !is_there($_) } @named;

	is("@missing", '', $page =~ s/^\Q$top\E\///r . ' names files that are there');
}
done_testing();
