# Copyright (c) 2026, The tablespace_advisor developers

# Plans by measured locality among others: HypoPG, parallel workers, nested
# planning, a locked table of localities, look-alikes; measuring under a limit
# and cancelled.

use Time::HiRes 'time';
use TsaTest;

my $node = start_planning_node();
$node->safe_psql('postgres', q{
	CREATE TABLE t AS SELECT i, -i AS d, i * 7919 % 60000 AS k, repeat('x', 60) AS pad
	FROM generate_series(0, 59999) i;
	CREATE INDEX t_d ON t (d);
	CREATE INDEX t_k ON t (k);
	VACUUM ANALYZE t;
	SELECT count(*) FROM measure_index_locality('t');
});
my $on = 'SET tablespace_advisor.correct_locality = on;';
my $falling = 'EXPLAIN (COSTS off) SELECT * FROM t WHERE d < -50000';

unlike($node->safe_psql('postgres', $falling), qr/Bitmap/, 'off: an index scan');
like($node->safe_psql('postgres', "$on $falling"), qr/Bitmap/,
	'on: a bitmap heap scan, in a session that has called nothing of ours');
SKIP:
{
	skip 'VACUUM has left pages that are not all-visible', 1
	  if $node->safe_psql('postgres', q{SELECT relallvisible < relpages FROM pg_class WHERE relname = 't'}) eq 't';
	like($node->safe_psql('postgres', "$on EXPLAIN (COSTS off) SELECT d FROM t WHERE d < -50000"),
		qr/Index Only Scan/, 'all visible: an index-only scan has no heap to pay for');
}

SKIP:
{
	skip 'EXPLAIN takes no lines of others before 18', 2
	  if $node->safe_psql('postgres', 'SHOW server_version_num') < 180000;
	like($node->safe_psql('postgres', "$on EXPLAIN SELECT * FROM t WHERE d < -50000"),
		qr/Locality: measured \d{4}-.*, 0 % of the table in caches$/m, 'EXPLAIN names the locality in force');
	unlike($node->safe_psql('postgres', 'EXPLAIN SELECT * FROM t WHERE d < -50000'),
		qr/Locality/, 'EXPLAIN names no locality where correct_locality is off');
}

# parallel plans have the same answers
my $parallel = q{SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SET min_parallel_index_scan_size = 0; SET enable_seqscan = off;};
like($node->safe_psql('postgres', "$on $parallel EXPLAIN (COSTS off) SELECT sum(i) FROM t WHERE d < -20000 AND length(pad) > 1"),
	qr/Gather.*Parallel (Bitmap Heap|Index) Scan/s, 'a parallel plan');
for my $condition ('d < -20000', 'k < 3000', 'k < 30000 AND d < -20000', 'k < 30 OR d < -59990')
{
	my $query = "SELECT sum(i) FROM t WHERE $condition";

	is($node->safe_psql('postgres', "$on $parallel $query"),
		$node->safe_psql('postgres', $query), "same answer: $condition");
}

# a function that plans while the planner plans
is($node->safe_psql('postgres', qq{
	CREATE FUNCTION border() RETURNS int STABLE LANGUAGE plpgsql AS \$\$
	BEGIN
		RETURN (SELECT -max(k) FROM t WHERE d < -50000 AND k < 55000);
	END \$\$;
	$on SELECT count(*) FROM t WHERE d < border() AND k < 5000}),
	$node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE d < border() AND k < 5000'),
	'nested planning');

SKIP:
{
	skip 'HypoPG is not installed', 2
	  unless $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'hypopg'});
	my $explain = 'EXPLAIN SELECT * FROM t WHERE i < 100';
	my $hypo = q{CREATE EXTENSION IF NOT EXISTS hypopg; SELECT 1 FROM hypopg_create_index('CREATE INDEX ON t (i)');};
	my $with = $node->safe_psql('postgres', "$hypo $on $explain");

	like($with, qr/Index Scan using .*btree_t_i/, 'HypoPG: its index is planned with');
	s/<\d+>/<n>/g for $with;
	(my $without = $node->safe_psql('postgres', "$hypo $explain")) =~ s/<\d+>/<n>/g;
	is($with, $without, 'HypoPG: its index costs what it did');
}

# a lock on the table of localities is not waited for
my $locker = $node->background_psql('postgres');
$locker->query_safe('BEGIN');
$locker->query_safe('LOCK tablespace_advisor.index_locality');
unlike($node->safe_psql('postgres', "SET statement_timeout = '60s'; $on $falling"),
	qr/Bitmap/, 'table of localities locked: planned at once, uncorrected');
$locker->query_safe('ROLLBACK');
$locker->quit;

# at most so many pages per second: 165 leaf pages of each index or more
my $start = time;
$node->safe_psql('postgres', q{
	SET tablespace_advisor.probe_max_iops = 400;
	SELECT count(*) FROM measure_index_locality('t')});
cmp_ok(time - $start, '>=', 2 * 160 / 400, 'probe_max_iops holds');
my ($status, $out, $err) = $node->psql('postgres', q{
	SET tablespace_advisor.probe_max_iops = 1;
	SET statement_timeout = '300ms';
	SELECT count(*) FROM measure_index_locality('t')});
like($err, qr/canceling statement due to statement timeout/, 'measuring is cancelled');
like($node->safe_psql('postgres', "$on $falling"), qr/Bitmap/,
	'what was measured before is still there');

# somebody else's table of that name is not looked at
$node->safe_psql('postgres', q{
	CREATE TABLE kept AS SELECT * FROM tablespace_advisor.index_locality;
	DROP EXTENSION tablespace_advisor;
	DROP SCHEMA IF EXISTS tablespace_advisor CASCADE;
	CREATE SCHEMA tablespace_advisor;
	CREATE TABLE tablespace_advisor.index_locality (LIKE kept);
	ALTER TABLE tablespace_advisor.index_locality ADD PRIMARY KEY (index);
	INSERT INTO tablespace_advisor.index_locality SELECT * FROM kept});
unlike($node->safe_psql('postgres', "$on $falling"), qr/Bitmap/,
	'a look-alike has no influence');

$node->stop;
done_testing();
