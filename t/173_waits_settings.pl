# Copyright (c) 2026, The tablespace_advisor developers

# What the measurement of read waits must not be seen by, and whom it works
# beside: track_io_timing as applications see it, statements that are slow though
# cheap in cost, commands without a name, other libraries before and after it.

use TsaTest;

my $node = start_plain('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
tablespace_advisor.track_waits_sample = 1
tablespace_advisor.sample_interval = 0
shared_buffers = 1MB
max_connections = 20
autovacuum = off
jit = off
synchronize_seqscans = off
max_parallel_maintenance_workers = 2
min_parallel_index_scan_size = 1GB
max_parallel_workers_per_gather = 0
track_io_timing = off
compute_query_id = on
});
$node->safe_psql('postgres', q{
	CREATE TABLE facts (id int PRIMARY KEY, g int, pad text);
	INSERT INTO facts SELECT i, i * 7919 % 50000, repeat('x', 150) FROM generate_series(1, 50000) i;
	CREATE INDEX facts_g ON facts (g);
	CREATE TABLE report (id int, pad text);
	INSERT INTO report SELECT i, repeat('y', 300) FROM generate_series(1, 10000) i;
	CREATE TABLE parted (id int, k int) PARTITION BY HASH (id);
	CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	INSERT INTO parted SELECT i, i FROM generate_series(1, 50000) i;
	CREATE FUNCTION setting() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
	BEGIN
		PERFORM count(*) FROM report;
		RETURN current_setting('track_io_timing') || ' ' || (SELECT setting FROM pg_settings WHERE name = 'track_io_timing');
	END $$;
	CREATE FUNCTION with_setting() RETURNS text LANGUAGE sql VOLATILE SET track_io_timing = on AS 'SELECT setting()';
	CREATE FUNCTION caught(value text) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM set_config('track_io_timing', value, false);
		PERFORM 1 / 0;
	EXCEPTION WHEN division_by_zero THEN
		RETURN setting();
	END $$;
	VACUUM ANALYZE});

# --- track_io_timing, which is on in measured executions -----------------------------

# The server's variable was on where SHOW could see it, what SET did in a measured
# statement was undone at its end, and SET LOCAL kept "on" as the value to restore.
# No test looked at the parameter from inside.
sub shows
{
	my ($name, $expected, $sql) = @_;
	is($node->safe_psql('postgres', $sql), $expected, $name);
	return;
}
shows('a measured statement sees the parameter as it is', "off off\noff",
	'SELECT setting() FROM report WHERE id = 1; SHOW track_io_timing');
shows('... a function that sets it, too', "on on\noff",
	'SELECT with_setting(); SHOW track_io_timing');
shows('what is set in a statement stays', "on\non",
	q{SELECT set_config('track_io_timing', 'on', false) FROM report WHERE id = 1; SHOW track_io_timing});
shows('... off, too', "off\noff",
	q{SET track_io_timing = on; SELECT set_config('track_io_timing', 'off', false) FROM report WHERE id = 1; SHOW track_io_timing});
shows('for a transaction: until its end', "on\non\noff",
	q{BEGIN; SELECT set_config('track_io_timing', 'on', true) FROM report WHERE id = 1; SHOW track_io_timing; COMMIT; SHOW track_io_timing});
shows('for a subtransaction: until its end', "off off\noff",
	q{SELECT caught('on') FROM report WHERE id = 1; SHOW track_io_timing});
shows('... and back to on', "on on\non",
	q{SET track_io_timing = on; SELECT caught('off') FROM report WHERE id = 1; SHOW track_io_timing});
shows('a reset', "off\noff",
	q{SET track_io_timing = on; DO $$ BEGIN PERFORM count(*) FROM report; RESET track_io_timing; END $$; SHOW track_io_timing; SELECT current_setting('track_io_timing')});
# a session adds its times when it ends, which its client does not wait for
my $timed = q{
	SET tablespace_advisor.track_waits = off;
	DO $$
	BEGIN
		WHILE EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) LOOP
			PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
		END LOOP;
	END $$;
	SELECT blk_read_time FROM pg_stat_database WHERE datname = 'postgres'};
my $before = $node->safe_psql('postgres', $timed);
$node->safe_psql('postgres', 'SET tablespace_advisor.track_waits = off; SELECT count(*) FROM report');
is($node->safe_psql('postgres', $timed), $before, 'the server times reads only while they are measured');
$node->safe_psql('postgres', q{SET tablespace_advisor.track_waits = off; SET track_io_timing = on; SELECT count(*) FROM report});
cmp_ok($node->safe_psql('postgres', $timed), '>', $before, '... but if the parameter is on');

# --- slow statements ------------------------------------------------------------------

# With 1 of 10 000 executions drawn, a statement that the planner takes for cheap and
# that was slow once is measured always, and each of its executions counts once.
# (Sampling was tested with statements of one kind and many executions.)
# Waits are real: bench/read_trace.c makes each read take 1 ms.
$node->stop;
my $library = "$PostgreSQL::Test::Utils::tmp_check/slow_reads.so";
SKIP:
{
	skip 'no C compiler to build bench/read_trace.c with', 4
	  if system("cc -shared -fPIC -O1 -o $library bench/read_trace.c -ldl") != 0;
	my $trace = $node->basedir . '/trace';
	append_to_file($trace, "\0" x 1048576);
	{
		local %ENV = (%ENV, LD_PRELOAD => $library, READ_TRACE => $trace, READ_US => 1000);
		$node->start;
	}
	my $repeat = 50;
	my $one = 'SELECT count(pad) FROM facts WHERE id = %d';
	my $counts = q{SELECT sum(calls) FILTER (WHERE relid = 'facts'::regclass) || ' '
			|| sum(reads) || ' ' || (sum(waited_ms) > 0.5 * sum(reads))::int
		FROM tablespace_advisor.wait_relations()
		WHERE relid IN ('facts'::regclass, 'facts_pkey'::regclass) AND class = 'application'};
	my $read = q{SELECT heap_blks_read + idx_blks_read FROM pg_statio_user_tables WHERE relname = 'facts'};
	my @sql = map { sprintf "$one;", $_ * 7919 % 50000 } 1 .. $repeat + 1;
	wait_for_sessions($node);
	my @before = ($node->safe_psql('postgres', $counts) || '0 0', $node->safe_psql('postgres', $read));
	my $sessions = 'SET tablespace_advisor.track_waits_sample = %d;';
	$node->safe_psql('postgres', join "\n", sprintf($sessions, 1), $sql[0], sprintf($sessions, 10000),
		@sql[1 .. $repeat], 'SELECT tablespace_advisor.flush_waits()');
	wait_for_sessions($node);
	my ($calls, $reads, $slow) = split / /, $node->safe_psql('postgres', $counts);
	my ($calls_before, $reads_before) = split / /, $before[0];
	is($calls - $calls_before, $repeat + 1, 'executions of a statement that was slow are measured, once each');
	# the planner has looked at the index's first pages
	cmp_ok(abs($reads - $reads_before - ($node->safe_psql('postgres', $read) - $before[1])), '<=', 4,
		'... with all blocks');
	is($slow, 1, '... and the time that they took');
	# without query ids: by the relations that are named
	$node->safe_psql('postgres', join "\n", 'SET compute_query_id = off;', sprintf($sessions, 1), $sql[3],
		sprintf($sessions, 10000), @sql[1 .. $repeat], 'SELECT tablespace_advisor.flush_waits()');
	my ($again) = split / /, $node->safe_psql('postgres', $counts);
	is($again - $calls, $repeat + 1, 'without query ids, too');
	$node->stop;
}
$node->start;

# --- commands without a name --------------------------------------------------------------

# Reads of VACUUM, ANALYZE and REINDEX belong to each relation, also if they name none
# or several (they went to relation 0).
# min_parallel_index_scan_size keeps VACUUM's workers away from indexes: what these read is
# the table's.
my $tables = q{'facts', 'report', 'parted_0', 'parted_1'};
my $indexes = q{'facts_pkey', 'facts_g'};
my $sums = qq{
	SELECT c.relname, pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid),
		coalesce((SELECT sum(w.reads) FROM tablespace_advisor.wait_relations() w
			WHERE w.relid = c.oid AND w.class = 'maintenance'), 0)
	FROM pg_class c WHERE c.relname IN ($tables, $indexes) ORDER BY c.relname};
my $rest = q{SELECT coalesce(sum(reads), 0) FROM tablespace_advisor.wait_relations()
	WHERE relid = 0 AND class = 'maintenance'};

sub growth
{
	my ($name, $command, @with) = @_;

	wait_for_sessions($node);
	my @before = map { [ split /\|/ ] } split /\n/, $node->safe_psql('postgres', $sums);
	my $rest_before = $node->safe_psql('postgres', $rest);

	$node->safe_psql('postgres', $command);
	wait_for_sessions($node);
	my @after = map { [ split /\|/ ] } split /\n/, $node->safe_psql('postgres', $sums);
	my $all = 0;
	foreach my $i (0 .. $#after)
	{
		my ($read, $measured) = map { $after[$i][$_] - $before[$i][$_] } 1, 2;
		$all += $read;
		next if !grep { $_ eq $after[$i][0] } @with;
		# a table has the catalogs that were read meanwhile, too, and reads of workers whose
		# counters come later
		cmp_ok(abs($measured - $read), '<=', 0.1 * $read + 60, "$name: $after[$i][0]")
		  or diag("read $read, measured $measured");
		cmp_ok($read, '>', $after[$i][0] =~ /^facts_/ ? 0 : 50, '... which was read') ;
	}
	cmp_ok($node->safe_psql('postgres', $rest) - $rest_before, '<', 0.1 * $all + 50,
		"$name: little is of no relation");
	return;
}
$node->safe_psql('postgres', 'UPDATE facts SET g = g + 1 WHERE id % 3 = 0; DELETE FROM report WHERE id % 10 = 0;
	DELETE FROM parted WHERE k % 7 = 0');
growth('VACUUM (ANALYZE) of the database', 'VACUUM (ANALYZE)', qw(facts facts_g facts_pkey report parted_0 parted_1));
growth('ANALYZE of several', 'ANALYZE facts, report', qw(facts report));
growth('ANALYZE in a transaction', 'BEGIN; ANALYZE facts, report; COMMIT', qw(facts report));
growth('VACUUM of one', 'VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) facts', qw(facts facts_g facts_pkey));
growth('REINDEX of a schema', 'REINDEX SCHEMA public', qw(facts));
growth('CLUSTER', 'CLUSTER facts USING facts_pkey', qw(facts));

# autovacuum, which calls no hooks
my $before_autovacuum = $node->safe_psql('postgres', $sums);
$node->safe_psql('postgres', 'DELETE FROM report WHERE id % 10 = 1; DELETE FROM parted_0 WHERE k % 7 = 1');
$node->append_conf('postgresql.conf', q{
autovacuum = on
autovacuum_naptime = 1s
autovacuum_vacuum_threshold = 100
autovacuum_vacuum_scale_factor = 0});
my %old = map { /^(\w+)\|\d+\|(\d+)/ } split /\n/, $before_autovacuum;
$node->restart;
ok( $node->poll_query_until('postgres', qq{
		SELECT (SELECT sum(reads) FROM tablespace_advisor.wait_relations()
				WHERE relid = 'report'::regclass AND class = 'maintenance' AND waited_ms > 0) > 50
			AND (SELECT sum(reads) FROM tablespace_advisor.wait_relations()
				WHERE relid = 'parted_0'::regclass AND class = 'maintenance' AND waited_ms > 0) > 50}),
	'autovacuum reads for tables, in a time');
$node->append_conf('postgresql.conf', 'autovacuum = off');

# --- other libraries ------------------------------------------------------------------------

# The same sums whoever is loaded first.
foreach my $order ('pg_stat_statements, auto_explain, tablespace_advisor',
	'tablespace_advisor, auto_explain, pg_stat_statements',
	'auto_explain, tablespace_advisor, pg_stat_statements',
	'pg_stat_statements, tablespace_advisor, auto_explain')
{
	my $log = -s $node->logfile;

	$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = '$order'
pg_stat_statements.track = all
auto_explain.log_min_duration = 0
auto_explain.log_analyze = on
auto_explain.log_buffers = on
auto_explain.log_nested_statements = on});
	$node->restart;
	$node->safe_psql('postgres', q{
		CREATE EXTENSION IF NOT EXISTS pg_stat_statements;
		CREATE OR REPLACE FUNCTION nested(first int) RETURNS bigint LANGUAGE plpgsql AS
			'BEGIN RETURN (SELECT count(pad) AS inner FROM facts WHERE id BETWEEN first AND first + 1000); END';
		SELECT pg_stat_statements_reset()});
	$node->safe_psql('postgres', q{
		SELECT sum(nested(i * 1000)) AS outer FROM generate_series(1, 5) i;
		SELECT count(*) AS scan FROM report;
		BEGIN; DECLARE c CURSOR FOR SELECT pad AS cursor FROM facts WHERE g < 1000; FETCH 100 FROM c; COMMIT;
		UPDATE facts SET pad = 'updated' WHERE id % 1000 = 1;
		SELECT tablespace_advisor.flush_waits()});
	is( $node->safe_psql('postgres', q{
			SELECT count(*), count(*) FILTER (WHERE s.calls = w.calls AND s.shared_blks_read = w.reads
				AND w.waited_ms > 0)
			FROM pg_stat_statements s
				JOIN tablespace_advisor.wait_statements() w USING (queryid, userid, dbid, toplevel)
			WHERE w.access = 'all' AND s.query ~ ' AS (outer|inner|scan) |^UPDATE facts'}), '4|4',
		"$order: calls and blocks are those of pg_stat_statements");
	my $logged = slurp_file($node->logfile, $log);
	like($logged, qr/Query Text: SELECT count\(\*\) AS scan[^;]*;.*?Seq Scan on report [^\n]*\n\s+Buffers: [^\n]*read=/s,
		'... and auto_explain shows them, too');
	check_no_crash($node, $order);
}
$node->stop;

done_testing();
