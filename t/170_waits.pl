# Copyright (c) 2026, The tablespace_advisor developers

# Read waits per statement and relation, measured in the executor: what is
# measured of an execution is what EXPLAIN (ANALYZE, BUFFERS) says of the same
# one, for each relation and kind of access; statements have what
# pg_stat_statements has; nothing is lost by errors, cancels and FATAL.

use JSON::PP;
use TsaTest;

# few buffers, so that everything is read again and again
my $node = start_plain('main', init => { allows_streaming => 1 }, conf => q{
shared_preload_libraries = 'tablespace_advisor, pg_stat_statements'
tablespace_advisor.track_waits_sample = 1
tablespace_advisor.sample_interval = 0
pg_stat_statements.track = all
shared_buffers = 1MB
max_connections = 20
restart_after_crash = on
autovacuum = off
track_io_timing = on
jit = off
synchronize_seqscans = off
max_parallel_workers_per_gather = 0
});
$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements');
make_read_tables($node, 50000, 10000, 500);
$node->safe_psql('postgres', q{
	CREATE FUNCTION count_facts(first int) RETURNS bigint LANGUAGE plpgsql AS $$
	BEGIN
		RETURN (SELECT count(pad) FROM facts WHERE id BETWEEN first AND first + 1000);
	END $$;
	VACUUM ANALYZE});

# {"relation class access" => reads} that SQL adds, and what it printed; in one
# session, which settings come from $options
sub measure
{
	my ($sql, %options) = @_;
	my $before = $options{before} // '';
	my $output = $node->safe_psql('postgres', qq{
		SET plan_cache_mode = force_custom_plan;
		$before;
		CREATE TEMP TABLE earlier AS SELECT * FROM tablespace_advisor.wait_relations();
		$sql;
		SELECT '##', tablespace_advisor.flush_waits();
		SELECT '##', w.relid::regclass, w.class, w.access, w.reads - coalesce(e.reads, 0),
			w.calls - coalesce(e.calls, 0)
		FROM tablespace_advisor.wait_relations() w
			LEFT JOIN earlier e USING (dbid, relid, class, access)
		WHERE w.relid >= 16384 AND w.calls + w.reads > coalesce(e.calls + e.reads, 0)});
	my (%reads, %calls, $printed);
	foreach my $line (split /\n/, $output)
	{
		if ($line =~ /^##\|(.*)\|(.*)\|(.*)\|(.*)\|(.*)$/)
		{
			$reads{"$1 $2 $3"} = $4;
			$calls{"$1 $2 $3"} = $5;
		}
		elsif ($line !~ /^##/) { $printed .= "$line\n" }
	}
	return (\%reads, $printed, \%calls);
}

# the blocks that each node of a plan has read itself, by what it scans
sub own_reads
{
	my ($plan, $reads) = @_;
	my $own = $plan->{'Shared Read Blocks'};

	foreach my $child (@{ $plan->{Plans} // [] })
	{
		$own -= $child->{'Shared Read Blocks'};
		own_reads($child, $reads);
	}
	my $name = $plan->{'Node Type'} . ' '
		. ($plan->{'Relation Name'} // $plan->{'Index Name'} // '');
	$reads->{$name} += $own;
	return;
}

# measure(EXPLAIN ANALYZE): reads as measured, and as the plan has them
sub explained
{
	my ($sql, %options) = @_;
	my ($reads, $output) = measure("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) $sql",
		%options);
	my $plan = decode_json($output)->[0]{Plan};
	my %own;

	own_reads($plan, \%own);
	my $sum = 0;
	$sum += $_ foreach values %$reads;
	# workers, and whoever opens partitions late, may have to read catalogs, too
	my $missing = $plan->{'Shared Read Blocks'} - $sum;
	ok($missing >= 0 && $missing <= ($options{catalogs} // 0),
		"all reads are attributed: $sql") or diag("missing: $missing");
	cmp_ok($sum, '>', $options{least} // 5, '... and there are some');
	return ($reads, \%own);
}

# --- kinds of access, against the plan of the same execution -----------------

my ($reads, $plan) = explained('SELECT * FROM report');
is($reads->{'report application sequential'}, $plan->{'Seq Scan report'},
	'sequential scan');

($reads, $plan) = explained('SELECT count(pad) FROM facts WHERE id BETWEEN 500 AND 9000');
is( $reads->{'facts application heap by index'}
		+ $reads->{'facts_pkey application index'},
	$plan->{'Index Scan facts'}, 'index scan: the table and its index');
cmp_ok($reads->{'facts_pkey application index'}, '>', 20, 'the index is counted apart');

($reads, $plan) = explained('SELECT count(pad) FROM facts WHERE g BETWEEN 1000 AND 3000');
is($reads->{'facts application heap by bitmap'}, $plan->{'Bitmap Heap Scan facts'},
	'bitmap heap scan');
is($reads->{'facts_g application index'}, $plan->{'Bitmap Index Scan facts_g'},
	'bitmap index scan');

($reads, $plan) = explained(
	'SELECT count(*) FROM facts f JOIN report r ON r.id = f.id WHERE f.g < 500');
is($reads->{'report application sequential'}, $plan->{'Seq Scan report'},
	'join: the table that is scanned');
is($reads->{'facts application heap by bitmap'}, $plan->{'Bitmap Heap Scan facts'},
	'join: the table read by key');

($reads, $plan) = explained('SELECT count(md5(body)) FROM doc WHERE id BETWEEN 100 AND 200');
is( $reads->{'doc application heap by index'} + $reads->{'doc_pkey application index'},
	$plan->{'Index Scan doc'}, 'TOAST: the table');
my ($toast) = grep { /^pg_toast.*\d application toast$/ } keys %$reads;
cmp_ok($reads->{$toast}, '>', 100, 'TOAST: its own relation');

($reads, $plan) = explained('SELECT count(*) FROM parted WHERE k < 20000');
is( $reads->{'parted_0 application heap by index'}
		+ $reads->{'parted_0_k_idx application index'},
	$plan->{'Index Only Scan parted_0'}, 'index-only scan of a partition');

($reads, $plan) = explained('UPDATE facts SET g = g + 1 WHERE id BETWEEN 1000 AND 1100');
cmp_ok($reads->{'facts_g application modified'}, '>', 50,
	'UPDATE: the indexes that are modified');
my $modified = 0;
/ modified$/ and $modified += $reads->{$_} foreach keys %$reads;
is($modified, $plan->{'ModifyTable facts'}, 'UPDATE: all that ModifyTable reads');

($reads, $plan) = explained(
	'INSERT INTO parted SELECT i, i * 7919 % 50000 FROM generate_series(1, 200) i',
	catalogs => 20);
cmp_ok($reads->{'parted_0_k_idx application modified'}, '>', 30,
	'INSERT: indexes of partitions that rows are routed to');
# others had read nothing of the partitions before in the same session
($reads) = measure(
	'INSERT INTO parted SELECT i, i * 7919 % 50000 FROM generate_series(1, 200) i',
	before => 'BEGIN; INSERT INTO parted VALUES (1, 1), (2, 2), (3, 3), (4, 4);
		DO $$ BEGIN PERFORM count(id) FROM parted; END $$');
cmp_ok($reads->{'parted_0_k_idx application modified'}, '>', 30,
	'INSERT after a scan of the partitions: their indexes');
cmp_ok($reads->{'parted_0 application modified'} // 0, '<', 10,
	'... have what the tables do not read again');
# relations that were looked up by OID before a node opens them: a partition, and a
# TOAST table.  Others were opened by nodes only, or not at all.
my $toast_table = $node->safe_psql('postgres',
	q{SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'doc'});
($reads) = measure('UPDATE parted SET id = id + 1 WHERE k < 100;
	DELETE FROM parted WHERE k < 200',
	before => 'BEGIN; INSERT INTO parted VALUES (1, 1), (2, 2), (3, 3), (4, 4)');
my $moved = 0;
/^parted_/ and $moved += $reads->{$_} foreach keys %$reads;
cmp_ok($moved, '>', 100, 'rows move between partitions that others were routed to');
(undef, my $printed) = measure("SELECT count(md5(body)) FROM doc d
		JOIN $toast_table t ON t.chunk_id > d.id::oid WHERE d.id < 5",
	before => 'BEGIN; DO $$ BEGIN PERFORM count(md5(body)) FROM doc WHERE id < 50; END $$;
		SET LOCAL enable_mergejoin = off');
cmp_ok($printed, '>', 0, 'a TOAST table that is read beside its table');
explained('DELETE FROM facts WHERE g BETWEEN 20000 AND 20050');
explained('MERGE INTO facts f USING (SELECT i FROM generate_series(3000, 3100) i) s
	ON f.id = s.i WHEN MATCHED THEN UPDATE SET g = 5 WHEN NOT MATCHED THEN DO NOTHING');
explained('SELECT count(*) FROM facts a, facts b WHERE a.g = b.id AND a.id < 300');
explained('SELECT count(*) FROM facts TABLESAMPLE SYSTEM (10) REPEATABLE (1)');
explained("SELECT count(pad) FROM facts WHERE ctid = ANY (ARRAY(SELECT format('(%s,1)', i)::tid FROM generate_series(300, 400) i))");
explained('SELECT (SELECT count(pad) FROM facts WHERE g = r.id) FROM report r WHERE id < 100');
explained('WITH gone AS (DELETE FROM report WHERE id < 50 RETURNING id)
	SELECT count(*) FROM gone JOIN facts USING (id)');
explained('SELECT count(*) FROM facts WHERE g < 500 OR id < 500');
explained('SELECT id FROM facts WHERE g BETWEEN 7000 AND 7010 FOR UPDATE');

# --- others than the statement itself ----------------------------------------

($reads) = measure('SELECT sum(count_facts(i * 1000)) FROM generate_series(1, 20) i');
cmp_ok($reads->{'facts application heap by index'}, '>', 400,
	'a function: its statements are measured');
($reads) = measure('SELECT sum(count_facts(id)) FROM report WHERE id % 1000 = 0');
cmp_ok($reads->{'facts application heap by index'}, '>', 200, 'a function in a scan');
cmp_ok($reads->{'report application sequential'}, '>', 350, '... which is apart');

my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;'
	. 'SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0';
($reads) = explained('SELECT count(pad) FROM facts', before => $parallel,
	catalogs => 30);
cmp_ok($reads->{'facts application sequential'}, '>', 500,
	'a parallel scan: workers report what they read, the leader nothing of it');
($reads, $plan) = explained('SELECT count(pad) FROM facts WHERE g BETWEEN 10000 AND 20000',
	before => $parallel, catalogs => 30);
cmp_ok($reads->{'facts_g application index'} // 0, '<=',
	$plan->{'Bitmap Index Scan facts_g'} // 0,
	'a parallel bitmap scan: whoever makes the bitmap reports the index');

# --- utility commands ---------------------------------------------------------

($reads) = measure("COPY facts TO '/dev/null'");
cmp_ok($reads->{'facts export utility'}, '>', 500, 'COPY TO is an export');
($reads) = measure("COPY (SELECT * FROM report) TO '/dev/null'");
cmp_ok($reads->{'report export sequential'}, '>', 300, 'COPY of a query is an export');
($reads) = measure('CREATE INDEX report_id ON report (id); DROP INDEX report_id');
cmp_ok($reads->{'report maintenance utility'}, '>', 300, 'CREATE INDEX is maintenance');
($reads) = measure('VACUUM facts');
cmp_ok($reads->{'facts maintenance utility'}, '>', 50, 'VACUUM is maintenance');
($reads) = measure('ANALYZE report');
cmp_ok($reads->{'report maintenance utility'}, '>', 300, 'ANALYZE is maintenance');

# Rights that are revoked while the command runs are no reason for it to fail.  (In the
# commands above nobody had changed any.)
$node->safe_psql('postgres', q{
	CREATE ROLE low;
	CREATE SCHEMA hidden;
	GRANT ALL ON SCHEMA hidden TO low;
	CREATE TABLE hidden.notes AS SELECT * FROM report;
	ALTER TABLE hidden.notes OWNER TO low;
	CREATE FUNCTION hide() RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS
		'BEGIN REVOKE ALL ON SCHEMA hidden FROM low; END';
	CREATE FUNCTION hidden_once(id int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
		'BEGIN IF id = 5000 THEN PERFORM public.hide(); END IF; RETURN id; END'});
($reads) = measure('SET ROLE low; CREATE INDEX ON hidden.notes (hidden_once(id)); RESET ROLE');
cmp_ok($reads->{'hidden.notes maintenance utility'}, '>', 300, 'CREATE INDEX, and rights on its schema');

# --- cursors, transactions in procedures, subtransactions ----------------------

($reads) = measure(q{
	BEGIN;
	DECLARE a CURSOR FOR SELECT pad FROM facts WHERE g BETWEEN 100 AND 400;
	DECLARE b CURSOR FOR SELECT pad FROM report;
	SELECT count(*) FROM (SELECT 1) x;
	MOVE 100 FROM a; MOVE 1000 FROM b;
	SELECT count(pad) FROM facts WHERE id < 2000;
	MOVE 100 FROM a; MOVE 1000 FROM b; MOVE 10000 FROM a;
	COMMIT});
cmp_ok(abs($reads->{'report application sequential'} - 84), '<', 4,
	'cursors: rows are read as far as they are fetched');
cmp_ok($reads->{'facts application heap by bitmap'}, '>=', 290, 'reads by another session are counted');
cmp_ok($reads->{'facts application heap by index'}, '<', 60,
	'a statement in between is apart');
($reads) = measure(q{
	BEGIN;
	DECLARE h CURSOR WITH HOLD FOR SELECT pad FROM report;
	COMMIT;
	MOVE 10 FROM h; CLOSE h});
cmp_ok($reads->{'report application sequential'}, '>', 400,
	'a holdable cursor is read at COMMIT');
($reads) = measure(q{
	DO $$
	DECLARE r record;
	BEGIN
		FOR r IN SELECT id FROM report WHERE id % 1000 = 1 LOOP
			PERFORM count(pad) FROM facts WHERE g BETWEEN r.id AND r.id + 20;
			COMMIT;
		END LOOP;
	END $$});
cmp_ok($reads->{'report application sequential'}, '>', 400,
	'a procedure that commits in a loop');
cmp_ok($reads->{'facts application heap by bitmap'}, '>', 150, '... and its statements');
($reads) = measure(q{
	DO $$
	BEGIN
		FOR i IN 1..3 LOOP
			BEGIN
				PERFORM 1 / (10000 - id) FROM report;
			EXCEPTION WHEN division_by_zero THEN NULL;
			END;
		END LOOP;
	END $$});
cmp_ok($reads->{'report application sequential'}, '>', 1200,
	'what a subtransaction read that fails');

# Functions in the query of a cursor that was read in a subtransaction, and cursors that
# fail and are closed while others go on.  (Above, executions ended together with the
# subtransaction that began them, and each execution was measured.)
$node->safe_psql('postgres', q{
	CREATE FUNCTION some_facts(first int) RETURNS SETOF int LANGUAGE sql VOLATILE
		SET enable_sort = off SET enable_bitmapscan = off SET enable_seqscan = off AS
		'SELECT id FROM public.facts WHERE g > first ORDER BY g LIMIT 10';
	CREATE FUNCTION read_on() RETURNS int LANGUAGE plpgsql AS $$
	DECLARE
		c CURSOR FOR SELECT some_facts(100);
		n int := 0;
		id int;
	BEGIN
		OPEN c;
		BEGIN
			FETCH c INTO id;
			PERFORM 1 / 0;
		EXCEPTION WHEN division_by_zero THEN NULL;
		END;
		LOOP
			FETCH c INTO id;
			EXIT WHEN NOT FOUND;
			n := n + 1;
		END LOOP;
		RETURN n;
	END $$;
	CREATE TABLE one AS SELECT 1 AS id;
	ANALYZE one;
	CREATE FUNCTION fail_and_close() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		c refcursor;
		x int;
	BEGIN
		FOR i IN 1..10 LOOP
			OPEN c FOR EXECUTE 'SELECT 1 / (3 - row_number() OVER (ORDER BY g))::int FROM facts';
			BEGIN
				LOOP FETCH c INTO x; END LOOP;
			EXCEPTION WHEN division_by_zero THEN NULL;
			END;
			CLOSE c;
			FOR n IN 1..10 LOOP
				OPEN c FOR EXECUTE 'SELECT id FROM one';
				FETCH c INTO x;
				CLOSE c;
			END LOOP;
		END LOOP;
	END $$;
	CREATE ROLE failing SUPERUSER});
is( $node->safe_psql('postgres', 'SELECT read_on()'),
	$node->safe_psql('postgres', 'SET tablespace_advisor.track_waits = off; SELECT read_on()'),
	'a function goes on after the subtransaction that it began in');
$node->safe_psql('postgres', q{
	SET ROLE failing;
	SET tablespace_advisor.track_waits_sample = 10000;
	SET cpu_tuple_cost = 10;
	SELECT fail_and_close()});
# the cost has the cursor that fails measured; another that was drawn stands for 10000
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM tablespace_advisor.wait_statements()
		WHERE userid = 'failing'::regrole AND calls < 10000}), 0,
	'a cursor that fails and is closed is not taken for the next execution');

# --- hits, calls, histogram -----------------------------------------------------

my ($none, undef, $calls) = measure(q{
	SELECT count(pad) FROM facts WHERE id = 4711;
	SELECT count(pad) FROM facts WHERE id = 4711;
	SELECT count(pad) FROM facts WHERE id = 4711});
is($calls->{'facts_pkey application index'}, 3, 'executions without reads count');
is( $node->safe_psql('postgres', q{
		SELECT bool_and(reads >= (SELECT sum(h) FROM unnest(read_histogram) h)),
			bool_and(cardinality(read_histogram) = 20)
		FROM tablespace_advisor.wait_relations() WHERE read_histogram IS NOT NULL}),
	't|t', 'no more reads of single blocks than reads');

# --- statements, against pg_stat_statements ------------------------------------

my $time = $node->safe_psql('postgres', q{
	SELECT attname FROM pg_attribute WHERE attrelid = 'pg_stat_statements'::regclass
		AND attname IN ('blk_read_time', 'shared_blk_read_time')});
$node->safe_psql('postgres', q{
	CREATE FUNCTION count_again(first int) RETURNS bigint LANGUAGE plpgsql AS $$
	BEGIN
		RETURN (SELECT count(pad) FROM facts WHERE id BETWEEN first - 1 AND first + 1000);
	END $$;
	SELECT pg_stat_statements_reset()});
my $since = $node->safe_psql('postgres', 'SELECT now()');
# A process may wait for a processor between the two that read the clock.
my $compared = '';
foreach my $round (1 .. 3)
{
	foreach my $i (1 .. 5)
	{
		$node->safe_psql('postgres', qq{
			SELECT count(pad) AS one FROM facts WHERE g BETWEEN 1000 * $i AND 1000 * $i + 200;
			SELECT count(*) AS two FROM report WHERE id < $i;
			SELECT sum(count_again(i * 1000 + $i)) AS three FROM generate_series(1, 5) i;
			UPDATE facts SET pad = 'four' WHERE id = $i * 333;
			SELECT count(*) AS five FROM doc WHERE body LIKE '%$i'});
	}
	$compared = $node->safe_psql('postgres', qq{
		SELECT count(*), count(*) FILTER (WHERE s.calls = w.calls),
			count(*) FILTER (WHERE s.shared_blks_read = w.reads),
			count(*) FILTER (WHERE abs(s.$time - w.waited_ms) < 0.01),
			count(*) FILTER (WHERE w.total_ms BETWEEN s.total_exec_time * 0.5
				AND s.total_exec_time * 1.5 + 1)
		FROM pg_stat_statements s
			JOIN tablespace_advisor.wait_statements() w USING (queryid, userid, dbid, toplevel)
		WHERE w.access = 'all' AND w.class = 'application' AND w.since >= '$since'
			AND s.shared_blks_read > 0
			AND s.query ~ ' (one|two|three|five) |UPDATE facts SET pad|count\\(pad\\) FROM facts WHERE id BETWEEN first - '});
	last if $compared eq '6|6|6|6|6';
}
is($compared, '6|6|6|6|6',
	'calls, blocks, waits and time are those of pg_stat_statements');
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM (
			SELECT sum(reads) FILTER (WHERE access = 'all') AS total,
				sum(reads) FILTER (WHERE access <> 'all') AS parts
			FROM tablespace_advisor.wait_statements() GROUP BY queryid, userid, dbid, toplevel, class) s
		WHERE parts > total}), 0,
	'parts of a statement are no more than the whole');
is( $node->safe_psql('postgres', q{
		SELECT p.reads > 0.6 * t.reads
		FROM pg_stat_statements s
			JOIN tablespace_advisor.wait_statements() t USING (queryid, toplevel)
			JOIN tablespace_advisor.wait_statements() p USING (queryid, toplevel)
		WHERE s.query ~ ' three ' AND t.access = 'all' AND p.access = 'heap by index'
			AND p.relid = 'facts'::regclass}), 't',
	'a statement has what its functions read');

# --- errors -----------------------------------------------------------------------

# blocks of a table that were read, by the server's own statistics and by ours,
# since this was asked last
my %last;
sub growth
{
	my ($table) = @_;

	wait_for_sessions($node);
	my $now = $node->safe_psql('postgres', qq{
		SELECT heap_blks_read, (SELECT coalesce(sum(reads), 0)
			FROM tablespace_advisor.wait_relations() WHERE relid = '$table'::regclass)
		FROM pg_statio_user_tables WHERE relid = '$table'::regclass});
	my @now = split /\|/, $now;
	my @grown = map { $now[$_] - ($last{$table}[$_] // 0) } 0, 1;

	$last{$table} = \@now;
	return @grown;
}

growth('report');
$node->psql('postgres', 'SELECT count(*) FROM report; SELECT 1 / (9000 - id) FROM report');
my ($read, $measured) = growth('report');
is($measured, $read, 'an error: what was read until then is there');
cmp_ok($read, '>', 600, '... most of the table twice');
$node->psql('postgres', q{
	SELECT count(*) FROM report WHERE CASE WHEN id = 9000 THEN
		pg_cancel_backend(pg_backend_pid()) AND pg_sleep(600) IS NULL ELSE true END});
($read, $measured) = growth('report');
is($measured, $read, 'a cancel');
cmp_ok($read, '>', 350, '... in the middle of a scan');
$node->psql('postgres', q{
	SELECT count(*) FROM report WHERE CASE WHEN id = 9000 THEN
		pg_terminate_backend(pg_backend_pid()) AND pg_sleep(600) IS NULL ELSE true END});
ok( $node->poll_query_until('postgres', q{
		SELECT heap_blks_read > } . ($last{report}[0] + 350) . q{
		FROM pg_statio_user_tables WHERE relname = 'report'}), 'FATAL');
($read, $measured) = growth('report');
is($measured, $read, '... in the middle of a scan');
$node->psql('postgres', q{
	BEGIN;
	DECLARE c CURSOR FOR SELECT id FROM report;
	MOVE 5000 FROM c;
	SELECT 1 / 0});
($read, $measured) = growth('report');
is($measured, $read, 'a cursor that goes with its transaction');
$node->psql('postgres', q{
	BEGIN;
	SAVEPOINT s;
	DECLARE c CURSOR FOR SELECT id FROM report;
	MOVE 5000 FROM c;
	ROLLBACK TO s;
	SELECT count(*) FROM report;
	COMMIT});
($read, $measured) = growth('report');
is($measured, $read, 'a cursor that goes with its subtransaction');

# One session that executes the same statements again and again: its counters
# have what earlier executions have read of indexes that are modified, of TOAST
# and of partitions.  (Sessions of one statement each did not show that.)
my $sums = q{
	SELECT c.relname, pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid),
		coalesce(sum(w.reads), 0)
	FROM pg_class c LEFT JOIN tablespace_advisor.wait_relations() w ON w.relid = c.oid
	WHERE c.relname IN ('facts_g', 'parted_0_k_idx', 'parted_1_k_idx')
		OR c.oid = (SELECT reltoastrelid FROM pg_class WHERE relname = 'doc')
	GROUP BY c.oid, c.relname ORDER BY c.oid};
wait_for_sessions($node);
my @before = map { [ split /\|/ ] } split /\n/, $node->safe_psql('postgres', $sums);
my $mixed = $node->basedir . '/mixed.sql';
append_to_file($mixed, "\\set id random(1, 490)\n\\set g random(1, 50000)\n"
	. "SELECT md5(body) FROM doc WHERE id = :id;\n"
	. "INSERT INTO parted VALUES (:g, :g);\nUPDATE facts SET g = g + 7 WHERE id = :g;\n");
$node->command_ok([ 'pgbench', '-n', '-t', '300', '--random-seed=1', '-f', $mixed,
		$node->connstr('postgres') ], 'one session, many executions');
wait_for_sessions($node);
my @after = map { [ split /\|/ ] } split /\n/, $node->safe_psql('postgres', $sums);
foreach my $i (0 .. $#after)
{
	my ($name, $read, $measured) = ($after[$i][0],
		map { $after[$i][$_] - $before[$i][$_] } 1, 2);
	$name =~ s/\d{5,}/N/;
	cmp_ok(abs($measured - $read), '<=', 0.1 * $read + 2, "$name: what it has read");
}

# --- parameters -------------------------------------------------------------------

($reads) = measure('SELECT count(*) FROM report',
	before => 'SET tablespace_advisor.track_waits = off');
is_deeply($reads, {}, 'nothing is measured with track_waits off');
my $waited = 'SELECT sum(waited_ms) FROM tablespace_advisor.wait_relations()
	WHERE relid = \'report\'::regclass';
my $before = $node->safe_psql('postgres', $waited);
measure('SELECT count(*) FROM report', before => 'SET track_io_timing = off');
cmp_ok($node->safe_psql('postgres', $waited), '>', $before,
	'waits are measured with track_io_timing off');
is( $node->safe_psql('postgres', q{
		SET track_io_timing = off; SELECT count(*) > 0 FROM report; SHOW track_io_timing}),
	"t\noff", 'the parameter stays off');
$node->safe_psql('postgres', q{
	CREATE ROLE somebody LOGIN;
	GRANT USAGE ON SCHEMA tablespace_advisor TO somebody});
foreach my $function (qw(wait_relations wait_statements wait_info flush_waits))
{
	my ($status, undef, $stderr) = $node->psql('postgres',
		"SELECT * FROM tablespace_advisor.$function()",
		extra_params => [ '-U', 'somebody' ]);
	like($stderr, qr/permission denied for function $function/,
		"$function() is not for everybody");
}

# Weighted, the estimate of many executions is right.
$node->safe_psql('postgres', q{
	ALTER SYSTEM SET tablespace_advisor.track_waits_sample = 4;
	SELECT pg_reload_conf()});
growth('facts');
my $script = $node->basedir . '/keys.sql';
append_to_file($script, "\\set g random(1, 50000)\nSELECT pad FROM facts WHERE g = :g;\n");
$node->command_ok([ 'pgbench', '-n', '-c', '2', '-t', '2000', '--random-seed=1', '-f', $script,
		$node->connstr('postgres') ], 'four thousand executions');
($read, $measured) = growth('facts');
cmp_ok(abs($measured - $read), '<', 0.2 * $read, 'one of four stands for four');
$node->safe_psql('postgres', q{
	ALTER SYSTEM RESET tablespace_advisor.track_waits_sample;
	SELECT pg_reload_conf()});
is( $node->safe_psql('postgres',
		'SELECT lost_reads FROM tablespace_advisor.wait_info()'), 0,
	'nothing was lost');

# --- a standby, a crash -------------------------------------------------------------

my $standby = start_standby($node);
$node->wait_for_catchup($standby);
$standby->safe_psql('postgres', 'SELECT count(*) FROM report');
cmp_ok( $standby->safe_psql('postgres', q{
		SELECT reads FROM tablespace_advisor.wait_relations()
		WHERE relid = 'report'::regclass AND access = 'sequential'}), '>', 350,
	'a standby measures, too');
$standby->stop;

my $began = $node->safe_psql('postgres',
	'SELECT since FROM tablespace_advisor.wait_info()');
my $session = $node->background_psql('postgres');
my $pid = $session->query_safe('SELECT pg_backend_pid()');
kill 'KILL', $pid;
ok( $node->poll_query_until('postgres',
		"SELECT since > '$began' FROM tablespace_advisor.wait_info()"),
	'after a crash it begins anew');
eval { $session->quit };
($reads) = measure('SELECT count(*) FROM report');
cmp_ok($reads->{'report application sequential'}, '>', 350, 'a standby measures');

# --- not preloaded --------------------------------------------------------------------

$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
is( $node->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM tablespace_advisor.wait_relations()),
			(SELECT count(*) FROM tablespace_advisor.wait_statements()),
			(SELECT since IS NULL FROM tablespace_advisor.wait_info())}), '0|0|t',
	'without preloading nothing is measured');
$node->stop;

done_testing();
