# Copyright (c) 2026, The tablespace_advisor developers

# The output of each function and view fits a terminal of 120 columns, as psql prints
# it: SELECT *, or where the headings alone are wider, the columns that people select,
# and SELECT * in psql's expanded form.  Numbers have no exponents, but in metrics.  Statements end
# with a semicolon, and are as short as the session's search_path allows.
#
# Earlier tests looked at columns and values, so nobody saw that a row of
# tablespace_advisor_health() took three lines.

use TsaTest;

my $node = new_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor, pg_stat_statements'
track_io_timing = on
tablespace_advisor.sample_interval = 0
});
$node->start;
$node->safe_psql('postgres', "SET allow_in_place_tablespaces = on; CREATE TABLESPACE $_ LOCATION ''")
  foreach qw(flash_raid archive_hdd);
$node->safe_psql('postgres', q{
	CREATE SCHEMA advisor;
	CREATE EXTENSION tablespace_advisor SCHEMA advisor;
	CREATE EXTENSION pg_stat_statements;
	ALTER DATABASE postgres SET search_path = public, advisor});
$node->command_ok(
	[ 'pgbench', '-i', '-q', '-s', '2', '-h', $node->host, '-p', $node->port, 'postgres' ], 'pgbench -i');
$node->safe_psql('postgres', q{
	CREATE TABLE events (at timestamptz, what text) PARTITION BY RANGE (at);
	CREATE TABLE events_2020 PARTITION OF events FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
	CREATE TABLE events_2090 PARTITION OF events FOR VALUES FROM ('2021-01-01') TO ('2101-01-01');
	INSERT INTO events VALUES ('2020-05-05', 'x'), ('2025-01-01', 'y');
	CREATE INDEX accounts_bid_abalance ON pgbench_accounts (bid, abalance);
	ALTER TABLE pgbench_accounts SET TABLESPACE archive_hdd;
	ALTER INDEX pgbench_accounts_pkey SET TABLESPACE archive_hdd;
	ALTER INDEX accounts_bid_abalance SET TABLESPACE archive_hdd;
	VACUUM ANALYZE pgbench_accounts;
	INSERT INTO tablespace_advisor.probe_run (tablespace, location, device, mode, file_size_bytes, duration, started_at, finished_at)
	SELECT tablespace, pg_tablespace_location(oid), device, 'scratch', 268435456, '3 s', now(), now()
	FROM tablespace_devices() JOIN pg_tablespace ON spcname = tablespace
	WHERE tablespace IN ('archive_hdd', 'flash_raid');
	INSERT INTO tablespace_advisor.probe_result (run_id, workload, queue_depth, io_size, samples, iops, mean_us)
	SELECT run_id, workload, depth, current_setting('block_size')::int, 1000, depth * 1e6 / us, us
	FROM tablespace_advisor.probe_run,
		unnest('{random read,sequential read,random write}'::text[]) workload, unnest('{1,4,16}'::int[]) depth,
		LATERAL (SELECT CASE tablespace WHEN 'archive_hdd' THEN 10123.456 ELSE 98.765 END AS us) t});

$node->safe_psql('postgres', 'CALL sample_activity()');
$node->command_ok(
	[ 'pgbench', '-n', '-c', '2', '-t', '200', '-h', $node->host, '-p', $node->port, 'postgres' ], 'pgbench');
$node->safe_psql('postgres', 'CHECKPOINT');
$node->safe_psql('postgres', 'SELECT count(*) FROM pgbench_accounts WHERE abalance < 10');
$node->safe_psql('postgres', 'CALL sample_activity()');
$node->safe_psql('postgres', q{CALL move_indexes_concurrently('accounts_bid_abalance', 'flash_raid')});
$node->safe_psql('postgres', q{
	INSERT INTO tablespace_advisor.job (batch_id, relation, heap, kind, schema_name,
		relation_name, from_tablespace, from_tablespace_name, to_tablespace,
		to_tablespace_name, method_wanted, method, state, phase, bytes_total, bytes_done, lock_timeout_ms,
		owner, system_identifier, database, started_at, finished_at, mb_per_s, present_mb_per_s, error, sqlstate)
	SELECT 990001, v.id, v.id, 'i', 'public', 'accounts_bid_abalance', 1663, 'archive_hdd', 1664, 'flash_raid',
		'copy', 'copy', v.state, v.phase, 5::bigint << 30, 4::bigint << 30, 100, 10, c.system_identifier, d.oid,
		now(), CASE WHEN v.state = 'failed' THEN now() END, 43.219, 38.7654, v.error, v.sqlstate
	FROM (VALUES (4000000001, 'paused', 'paused: a standby''s replay is behind', NULL, NULL),
			(4000000002, 'failed', 'copying', 'could not write block 4711 of a file: No space left on device', '53100')) v (id, state, phase, error, sqlstate),
		pg_control_system() c, pg_database d
	WHERE d.datname = current_database()});

# Name of the function or view => call, or rest of the query with the columns that fit.
my %for_people = (
	advise_index_placement => 'SELECT advise_index_placement()',
	advise_partition_placement => q{SELECT * FROM advise_partition_placement('events', 'archive_hdd', older_than => '90 days')},
	assumed_placements => q{SELECT assume_placement('pgbench_accounts', 'flash_raid'); SELECT * FROM assumed_placements()},
	calibrate_cost_units => 'SELECT * FROM calibrate_cost_units()',
	explain_placement => q{SELECT explain_placement('pgbench_accounts')},
	observe_waits => q{SELECT * FROM observe_waits('100 ms')},
	placement_curve => q{SELECT * FROM placement_curve('flash_raid', 4)},
	plan_evacuation => q{SELECT * FROM plan_evacuation('archive_hdd', 'flash_raid')},
	tablespace_advisor_health => 'SELECT * FROM tablespace_advisor_health()',
	tablespace_moves_active => 'SELECT * FROM tablespace_moves_active',
	tablespace_waits => 'SELECT * FROM tablespace_waits',
	wait_metrics => 'SELECT * FROM wait_metrics');
my %for_programs = (
	advise_placement => 'SELECT rank, action, relation, to_tablespace, saved_percent, statement FROM advise_placement()',
	advise_statements => 'SELECT rank, statement, calls_per_s, mean_ms, read_ms, after_ms FROM advise_statements()',
	all_tablespace_moves => 'SELECT database, job_id, relation_name, to_tablespace, state, percent, eta FROM all_tablespace_moves()',
	estimate_pgbench_size => 'SELECT * FROM estimate_pgbench_size(100)',
	forecast_tablespace_usage => 'SELECT tablespace, days_until_full, days_low, days_high, caveat FROM forecast_tablespace_usage()',
	measure_index_locality => q{SELECT index, window_entries, round(heap_blocks::numeric, 1) AS heap_blocks, effective_correlation FROM measure_index_locality('pgbench_accounts')},
	move_metrics => 'SELECT database, state, to_tablespace, moves, bytes, lock_seconds, blocked FROM move_metrics',
	move_outcomes => 'SELECT relation, outcome, verdict, waits_for FROM move_outcomes',
	probe_tablespace => q{SELECT workload, queue_depth, mean_us, caveat, conditions FROM probe_tablespace('flash_raid', duration => '100 ms', file_size => '4 MB')},
	recommend_random_page_cost => 'SELECT tablespace, verdict, reason FROM recommend_random_page_cost()',
	statement_outcomes => 'SELECT statement, read_ms_before, read_ms_after, saved_ms, verdict FROM statement_outcomes',
	tablespace_contents => q{SELECT relation, how, statement FROM tablespace_contents('archive_hdd', 'flash_raid')},
	tablespace_devices => 'SELECT tablespace, media, unnest(warnings) AS warning FROM tablespace_devices()',
	tablespace_io => 'SELECT tablespace, sampled_at, reads_per_s, read_us, busy_percent FROM tablespace_io',
	tablespace_metrics => 'SELECT database, tablespace, used_bytes, free_bytes, sample_age_seconds FROM tablespace_metrics',
	tablespace_moves => 'SELECT job_id, relation, state, percent, mb_per_s, eta FROM tablespace_moves');
# one value, of any length or of none
my %values = map { $_ => 1 } qw(add_standby_activity alter_move assume_placement assume_tablespace cancel_move
  estimate_pgbench_scale explain_with_costs forget_placements pause_move pin_placement placement_evidence resume_move retry_move
  standby_activity tablespace_report undo_move unpin_placement wait_for_moves);

my @named = split /\n/, $node->safe_psql('postgres', q{
	SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'advisor'::regnamespace AND p.prokind = 'f'
	UNION SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'advisor'::regnamespace AND c.relkind = 'v'
	ORDER BY 1});
is(join(' ', grep { !$for_people{$_} && !$for_programs{$_} && !$values{$_} } @named), '',
	'the width of each function and view is looked at');

# What psql prints for people.
sub printed
{
	my ($sql) = @_;
	my ($out, $err) = run_command([ 'psql', '-X', '-q', '-P', 'pager=off', '-d', $node->connstr('postgres'),
		map { ('-c', $_) } split /; /, $sql ]);

	is($err =~ s/^(?:NOTICE|HINT|DETAIL|WARNING):.*\n?//mgr, '', "$sql: no error");
	return $out;
}

sub width { return (sort { $b <=> $a } map { length } split /\n/, $_[0])[0] // 0 }

foreach my $query (map { $for_people{$_} // $for_programs{$_} // () } @named)
{
	my $out = printed($query);

	cmp_ok(width($out), '<=', 120, "$query fits: " . width($out) . ' columns') or diag $out;
	unlike($out, qr/[0-9]e[-+]?[0-9]/, "$query has no number with an exponent")
	  unless $query =~ /_metrics/;
	# metrics were left out of the look at digits: a sum had 17 of them
	unlike($out, qr/\.[0-9]{12}/, "$query has no number with twelve decimals");
}
cmp_ok(width(printed('SELECT * FROM tablespace_devices()')), '>', 120, 'what does not fit is seen');

# Whatever has more columns than fit beside each other fits in psql's expanded form,
# but for statements, which stay in one line to be run; evidence is jsonb.
foreach my $name (grep { $for_programs{$_} && !/^placement_evidence/ } @named)
{
	my ($from) = $for_programs{$name} =~ /(\b$name\b(?:\(.*\))?)$/;
	my ($out) = run_command([ 'psql', '-X', '-q', '-x', '-P', 'pager=off', '-d', $node->connstr('postgres'),
		'-c', "SELECT * FROM $from" ]);

	# psql pads each line to the longest
	$out = join "\n", map { s/ +\+?$//r } grep { !/^-\[|^(?:undo_)?statement +\|/ } split /\n/, $out;
	cmp_ok(width($out), '<=', 120, "$name fits in expanded form: " . width($out)) or diag $out;
}

# All columns, also those that the queries above leave out.
$node->safe_psql('postgres', 'CREATE TABLE seen (name text, line jsonb)');
foreach my $name (grep { !/_metrics$|locality/ && ($for_people{$_} || $for_programs{$_}) } @named)
{
	my ($from) = ($for_people{$name} // $for_programs{$name}) =~ /(\b$name\b(?:\(.*\))?)$/ or next;

	$node->safe_psql('postgres', qq{CREATE TEMPORARY TABLE v AS SELECT * FROM $from;
		INSERT INTO seen SELECT '$name ' || a.attname, to_jsonb(v) -> a.attname
		FROM pg_attribute a, v WHERE a.attrelid = 'v'::regclass AND a.atttypid = 'float8'::regtype AND a.attnum > 0
			AND jsonb_typeof(to_jsonb(v) -> a.attname) = 'number'});
}
cmp_ok($node->safe_psql('postgres', 'SELECT count(DISTINCT name) FROM seen WHERE line::float8 <> 0'), '>', 40,
	'columns with numbers are looked at');
is($node->safe_psql('postgres', q{
		SELECT string_agg(DISTINCT format('%s: %s', name, line), ', ') FROM seen
		WHERE abs(line::float8 - tablespace_advisor.round_to_three(line::float8)) > 1e-9 * abs(line::float8)}),
	'', 'numbers have three significant digits');
unlike(printed('SELECT * FROM tablespace_moves_active'), qr/\d\.\d+ sec/, 'a time left has whole seconds');

# --- statements ----------------------------------------------------------------------

my $statements = q{
	SELECT string_agg(DISTINCT statement, E'\n') FROM tablespace_contents('archive_hdd', 'flash_raid')
	WHERE relation = 'public.pgbench_accounts'};
is($node->safe_psql('postgres', $statements), "CALL move_table_concurrently('pgbench_accounts', 'flash_raid');",
	'a statement as a person would type it');
is($node->safe_psql('postgres', "SET search_path = advisor; $statements"), "CALL move_table_concurrently('public.pgbench_accounts', 'flash_raid');",
	'the schema of a table that is not in the search_path');
is($node->safe_psql('postgres', "SET search_path = public; " . $statements =~ s/FROM /FROM advisor./r),
	"CALL advisor.move_table_concurrently('pgbench_accounts', 'flash_raid');",
	'the schema of the extension where it is not in the search_path');
is($node->safe_psql('postgres', "CREATE TEMPORARY TABLE pgbench_accounts (); $statements"),
	"CALL move_table_concurrently('public.pgbench_accounts', 'flash_raid');", 'a temporary table hides it');
$node->safe_psql('postgres', q{CREATE PROCEDURE public.move_table_concurrently(text, text) LANGUAGE sql AS 'SELECT 1'});
is($node->safe_psql('postgres', $statements), "CALL advisor.move_table_concurrently('pgbench_accounts', 'flash_raid');",
	'another procedure of that name in the search_path');
$node->safe_psql('postgres', q{ALTER PROCEDURE public.move_table_concurrently(text, text) SET SCHEMA advisor});
is($node->safe_psql('postgres', $statements),
	"CALL advisor.move_table_concurrently('pgbench_accounts'::pg_catalog.regclass, 'flash_raid'::pg_catalog.name);",
	'another one in the schema of the extension');
$node->safe_psql('postgres', 'DROP PROCEDURE advisor.move_table_concurrently(text, text)');

# A function of a user's own search_path does not hide the session's, nor does a
# role without USAGE on a schema find anything there.
$node->safe_psql('postgres', qq{
	CREATE FUNCTION public.from_function() RETURNS text LANGUAGE sql SET search_path = advisor AS \$\$$statements\$\$});
is($node->safe_psql('postgres', 'SELECT from_function()'), "CALL move_table_concurrently('public.pgbench_accounts', 'flash_raid');",
	'the search_path of a function that calls counts for its statements');
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM (SELECT statement FROM tablespace_advisor_health()
			UNION ALL SELECT statement FROM advise_placement()
			UNION ALL SELECT statement FROM recommend_random_page_cost()
			UNION ALL SELECT undo_statement FROM recommend_random_page_cost()
			UNION ALL SELECT statement FROM tablespace_contents('archive_hdd')) s
		WHERE statement !~ ';$'}), '0', 'each statement ends with a semicolon');

# --- health, what-if, metrics ----------------------------------------------------------

is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT need, ' ' ORDER BY need) FROM tablespace_advisor_health()}),
	'found must should', 'health tells requirements from recommendations');
$node->safe_psql('postgres', q{CREATE DATABASE elsewhere TABLESPACE flash_raid});
$node->safe_psql('elsewhere', 'CREATE EXTENSION tablespace_advisor');
is($node->safe_psql('elsewhere', q{SELECT count(*) FROM tablespace_advisor_health() WHERE subject ~ 'pg_default' AND ok IS NOT NULL}),
	'0', 'pg_default is not mentioned where no relation is or could be there');
$node->safe_psql('elsewhere', 'CREATE TABLE t (a int) TABLESPACE pg_default; INSERT INTO t VALUES (1)');
is($node->safe_psql('elsewhere', q{SELECT count(*) > 0 FROM tablespace_advisor_health() WHERE subject ~ 'pg_default'}),
	't', 'pg_default is mentioned where a relation is there');
like(messages_of($node, q{SELECT assume_placement('pgbench_accounts', 'flash_raid')}),
	qr/NOTICE:  (?:00000: )?plans stay the same: tablespaces "archive_hdd" and "flash_raid" have the same page costs/,
	'an assumption without effect says why');
$node->safe_psql('postgres', 'ALTER TABLESPACE flash_raid SET (random_page_cost = 1.1)');
unlike(messages_of($node, q{SELECT assume_placement('pgbench_accounts', 'flash_raid')}), qr/NOTICE/,
	'an assumption with effect says nothing');
is($node->safe_psql('postgres', q{SELECT bool_and(moves > 0 AND database = 'postgres') FROM move_metrics}), 't',
	'metrics of moves have no rows of zeros');
is($node->safe_psql('postgres', q{SELECT free_bytes > 0 FROM tablespace_metrics WHERE tablespace = 'pg_default'}), 't',
	'metrics have the free bytes of pg_default');
is($node->safe_psql('elsewhere', q{SELECT count(free_bytes) = count(*) FROM tablespace_metrics}), 't',
	'metrics have free bytes without samples');
is($node->safe_psql('postgres', q{
		SELECT bool_and(age::text ~ '^-?[0-9]+ days$'), string_agg(reason, ' ')
		FROM advise_partition_placement('events', 'archive_hdd', older_than => '90 days')}),
	't|It is older than 90 days. It is younger than 90 days.', 'ages are in days, and reasons are reasons');

$node->stop;
done_testing();
