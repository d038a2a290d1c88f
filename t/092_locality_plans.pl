# Copyright (c) 2026, The tablespace_advisor developers

# Which paths measured locality reaches: conjunctions of three indexes, arms of
# an OR, first rows, the inner side of joins, parallel scans, partitions,
# prepared statements; and hints of pg_hint_plan, which have to hold.

use TsaTest;

my $node = start_planning_node();
$node->safe_psql('postgres', q{
	-- d falls; a, b, c are the same for 600 rows that lie together
	CREATE TABLE t AS SELECT i, -i AS d, abs(hashint4(i / 600)) % 100 AS a,
		abs(hashint4(i / 600 + 100000)) % 100 AS b,
		abs(hashint4(i / 600 + 200000)) % 100 AS c, repeat('x', 60) AS pad
	FROM generate_series(0, 119999) i;
	ALTER TABLE t ALTER a SET STATISTICS 1000;
	CREATE INDEX t_d ON t (d);
	CREATE INDEX t_a ON t (a);
	CREATE INDEX t_b ON t (b);
	CREATE INDEX t_c ON t (c);
	CREATE TABLE ranges AS SELECT -i * 20000 - 500 AS low, -i * 20000 AS high
	FROM generate_series(1, 4) i;
	CREATE TABLE p (k int, pad text) PARTITION BY RANGE (k);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (30000);
	CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (30000) TO (60000);
	INSERT INTO p SELECT 59999 - i, repeat('x', 60) FROM generate_series(0, 59999) i;
	CREATE INDEX ON p (k);
	CREATE TABLE repeated (k int, pad text) PARTITION BY RANGE (k);
	CREATE TABLE repeated_1 PARTITION OF repeated FOR VALUES FROM (0) TO (100);
	INSERT INTO repeated SELECT abs(hashint4(i)) % 100, repeat('x', 60) FROM generate_series(0, 59999) i;
	CREATE INDEX ON repeated (k);
	-- r is scattered, f in order but for 6000 rows, every fourth row has another head
	CREATE TABLE s AS SELECT i, i / 4 AS head, abs(hashint4(i)) AS r, abs(hashint4(i + 1)) % 10000 AS item,
		i + abs(hashint4(i + 2)) % 6000 AS f, repeat('x', 60) AS pad
	FROM generate_series(0, 99999) i;
	-- of all rows, so that costs do not depend on a sample
	ALTER TABLE s ALTER r SET STATISTICS 1000;
	CREATE INDEX s_head ON s (head);
	CREATE INDEX s_r ON s (r);
	CREATE INDEX s_f ON s (f);
	CREATE TABLE heads AS SELECT i AS head, i / 50 AS day, abs(hashint4(i)) % 400 AS owner, repeat('x', 60) AS pad
	FROM generate_series(0, 24999) i;
	CREATE INDEX heads_day ON heads (day);
	CREATE TABLE items AS SELECT i AS item, repeat('x', 200) AS pad FROM generate_series(0, 9999) i
	ORDER BY hashint4(i);
	CREATE INDEX items_item ON items (item);
	CREATE TABLE dependent AS SELECT abs(hashint4(i)) % 10000 AS a, abs(hashint4(i)) % 10000 + 7 AS b, repeat('x', 60) AS pad
	FROM generate_series(0, 79999) i;
	CREATE INDEX dependent_key ON dependent (a, b);
	CREATE TABLE shuffled (i int PRIMARY KEY);
	INSERT INTO shuffled SELECT i FROM generate_series(1, 50000) i ORDER BY hashint4(i);
	CREATE TABLE few AS SELECT i * 200 AS a, i * 200 + 7 AS b FROM generate_series(0, 49) i;
	VACUUM ANALYZE;
	SELECT count(*) FROM measure_index_locality('t');
	SELECT count(*) FROM measure_index_locality('p');
	SELECT count(*) FROM measure_index_locality('repeated');
	SELECT count(*) FROM measure_index_locality('s');
	SELECT count(*) FROM measure_index_locality('heads');
	SELECT count(*) FROM measure_index_locality('items');
	SELECT count(*) FROM measure_index_locality('dependent');
	SELECT count(*) FROM measure_index_locality('shuffled');
});
my $on = 'SET tablespace_advisor.correct_locality = on;';

sub plan_of
{
	my ($query, $settings) = @_;
	return $node->safe_psql('postgres',
		($settings // '') . "EXPLAIN (COSTS off) $query");
}

sub same_answer
{
	my ($query, $settings, $name) = @_;
	return is($node->safe_psql('postgres', "$settings $query"),
		$node->safe_psql('postgres', $query), "$name: the same answer");
}

my @all = ('Bitmap Index Scan on t_a', 'Bitmap Index Scan on t_b',
	'Bitmap Index Scan on t_c');
my $three = 'SELECT sum(i) FROM t WHERE a < 20 AND b < 20 AND c < 20';
my $plan = plan_of($three, $on);
is(scalar(grep { $plan =~ /$_/ } @all), 3, 'AND of three: all in one bitmap');
$plan = plan_of($three);
isnt(scalar(grep { $plan =~ /$_/ } @all), 3, 'AND of three: not in one bitmap when correct_locality is off');
same_answer($three, $on, 'AND of three');
same_answer("$three AND d < -60000", $on, 'AND of four');
same_answer('SELECT sum(i) FROM t WHERE a < 20 AND b < 20 AND (c < 20 OR d < -119000)',
	$on, 'AND with an OR');

# the condition of a partition is another one to the planner
my ($through, $direct) = map {
	$node->safe_psql('postgres', "$on SET enable_seqscan = off; SET enable_bitmapscan = off;
		EXPLAIN SELECT * FROM $_ WHERE k = 5") =~ /Index Scan.*(\(cost=[^)]*\))/ ? $1 : 'none'
} 'repeated', 'repeated_1';
like($direct, qr/cost/, 'a partition that is read by its name: an index scan');
is($through, $direct, 'entries of one key: a partition costs the same through its table');

# the inner side of a nested loop is a bitmap scan, since the rows fall
my $join = 'SELECT sum(i) FROM ranges JOIN t ON d BETWEEN low AND high';
like(plan_of($join), qr/Nested Loop.*-> +Index Scan using t_d/s, 'parameterized: off');
like(plan_of($join, $on), qr/Nested Loop.*Bitmap Index Scan on t_d/s, 'parameterized: on');
same_answer($join, $on, 'parameterized');

# an arm of an OR is not charged for what an index scan with it would take
my $or = 'SELECT sum(i) FROM s WHERE f BETWEEN 30000 AND 31500 OR head BETWEEN 20000 AND 20200';
like(plan_of($or, $on), qr/BitmapOr.*s_f.*s_head/s, 'OR: both arms');
same_answer($or, $on, 'OR');

# the first rows of a scattered index are a block each
my $first = 'SELECT pad FROM s ORDER BY r';
like(plan_of("$first LIMIT 2000"), qr/Index Scan using s_r/, 'LIMIT: off');
like(plan_of("$first LIMIT 2000", $on), qr/Sort.*Seq Scan/s, 'LIMIT: too many for the index');
like(plan_of("$first LIMIT 5", $on), qr/Index Scan using s_r/, 'LIMIT: few');
like(plan_of('SELECT pad FROM s ORDER BY head LIMIT 2000', $on),
	qr/Index Scan using s_head/, 'LIMIT: many in order');
like(plan_of("DECLARE c CURSOR FOR $first", "$on SET cursor_tuple_fraction = 0.02;"),
	qr/Sort.*Seq Scan/s, 'a cursor: likewise');
same_answer('SELECT min(r) FROM s WHERE item = 77', $on, 'MIN');
same_answer('SELECT sum(k) FROM (SELECT k FROM p ORDER BY k LIMIT 5000) p', $on, 'LIMIT of partitions');
same_answer('SELECT sum(r) FROM (SELECT r FROM s UNION ALL SELECT d FROM t ORDER BY r LIMIT 500) u',
	$on, 'LIMIT of a union');

# loops in the order of the rows go through an index in order
my $heads = 'SELECT count(s.pad) FROM heads JOIN s USING (head)';
like(plan_of("$heads WHERE day BETWEEN 300 AND 309", $on),
	qr/Nested Loop.*Index Scan using s_head/s, 'loops in order');
like(plan_of("$heads WHERE owner BETWEEN 10 AND 19", $on), qr/Hash Join/, 'loops with gaps');
same_answer("$heads WHERE day BETWEEN 300 AND 309", $on, 'loops in order');
# the planner takes the inner scan for repeated for all rows of s
my $three_tables = 'SELECT count(items.pad) FROM heads JOIN s USING (head) JOIN items USING (item) WHERE day = 333';
like(plan_of($three_tables), qr/Index Scan using items_item/, 'loops that a third table makes few: off');
like(plan_of($three_tables, $on), qr/Seq Scan on items/, 'loops that a third table makes few: on');
same_answer($three_tables, $on, 'three tables');

# The total cost of a scan, as EXPLAIN has it.
sub cost_of
{
	my ($scan, $query, $settings) = @_;
	my $explain = $node->safe_psql('postgres', "$on $settings EXPLAIN $query");

	$explain =~ /$scan.*\(cost=[\d.]+\.\.([\d.]+)/ or die "no $scan: $explain";
	return $1;
}

# Without an order, a bitmap scan is raised for the share of it that is wanted,
# but for all of it if its rows go into a join or an aggregate.
my $few = 'r < 60000000';
my $bitmap = 'Bitmap Index Scan on s_r';
my $by_bitmap = 'SET random_page_cost = 100; SET enable_seqscan = off; SET enable_indexscan = off;';
my $alone = 'SELECT pad FROM s WHERE r < 100000000';
cmp_ok(cost_of($bitmap, "$alone LIMIT 5", $by_bitmap), '<', cost_of($bitmap, $alone, $by_bitmap),
	'LIMIT: a bitmap scan is raised for its share');
my $joined = "SELECT s.pad FROM s JOIN heads USING (head) WHERE $few";
is(cost_of($bitmap, "$joined LIMIT 5", $by_bitmap), cost_of($bitmap, $joined, $by_bitmap),
	'LIMIT: not below a join');
my $counted = "DECLARE c CURSOR FOR SELECT count(pad) FROM s WHERE $few";
is(cost_of($bitmap, $counted, "$by_bitmap SET cursor_tuple_fraction = 0.05;"),
	cost_of($bitmap, $counted, "$by_bitmap SET cursor_tuple_fraction = 1;"),
	'a cursor: not below an aggregate');

# A partition's parent is no third table that makes loops few.
my $by_index = join ' ', map { "SET enable_$_ = off;" } qw(hashjoin mergejoin seqscan bitmapscan memoize material);
my ($whole, $part) = map {
	cost_of('Index Scan using p1_k_idx',
		"SELECT count(p.pad) FROM items LEFT JOIN $_ p ON p.k = item AND p.k < 30000 AND length(p.pad) > 50",
		$by_index)
} qw(p p1);
is($whole, $part, 'loops over a partition cost the same through its parent');

# a second column that depends on the first leaves no fewer rows
my $by_key = 'SELECT count(dependent.pad) FROM few JOIN dependent USING (a, b)';
my $key_cost = sub { return cost_of('Index Scan using dependent_key', $by_key, $by_index) };
my $known = $key_cost->();
# what 0.4 has measured says nothing of keys
$node->safe_psql('postgres', q{
	UPDATE tablespace_advisor.index_locality SET points = (SELECT array_agg(line) FROM
		(SELECT array_agg(points[i][j] ORDER BY j) AS line
			FROM generate_subscripts(points, 1) i, generate_series(1, 13) j GROUP BY i ORDER BY i) l)
	WHERE index = 'dependent_key'::regclass});
cmp_ok($known, '>', 4 * $key_cost->(), 'a key of two columns costs what eight rows do');

# Leaf pages in order are no random reads.  Earlier tests had random_page_cost = 4, at
# which it hardly matters.
is( $node->safe_psql('postgres', q{
		SELECT string_agg(index::regclass || ' ' || (points[array_upper(points, 1)][15] > 0.6), ', ' ORDER BY entries)
		FROM tablespace_advisor.index_locality WHERE index IN ('s_head'::regclass, 'shuffled_pkey'::regclass)}),
	'shuffled_pkey false, s_head true', 'leaf pages of an index built in order follow each other');
my $stretch = 'SELECT count(pad) FROM s WHERE head < 10000';
my $dear = "$on SET random_page_cost = 80;";
like(plan_of($stretch, $dear), qr/ s_head/, 'leaf pages in order do not cost random_page_cost');
# what 1.0 has measured says nothing of leaf pages
$node->safe_psql('postgres', q{
	UPDATE tablespace_advisor.index_locality SET points = (SELECT array_agg(line) FROM
		(SELECT array_agg(points[i][j] ORDER BY j) AS line
			FROM generate_subscripts(points, 1) i, generate_series(1, 14) j GROUP BY i ORDER BY i) l)
	WHERE index = 's_head'::regclass});
like(plan_of($stretch, $dear), qr/Seq Scan on s/, 'leaf pages of unknown order do');

# what a subquery looks up in a table that the query around it reads is read once
my ($same, $other) = map {
	cost_of('Index Scan using s_head on s  (?=\(cost)',
		"SELECT count(*) FROM $_ o WHERE pad < (SELECT max(pad) FROM s WHERE s.head = o.head)", $by_index)
} qw(s heads);
cmp_ok($same, '<', 0.5 * $other, 'a subquery on the table of the query around it');

my $parallel = qq{$on SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SET min_parallel_index_scan_size = 0;};
my $filtered = 'SELECT sum(i) FROM t WHERE d < -60000 AND length(pad) > 1';
like(plan_of($filtered, "$parallel SET enable_seqscan = off;"),
	qr/Gather.*Parallel Bitmap Heap Scan/s, 'a parallel bitmap scan');
same_answer($filtered, "$parallel SET enable_seqscan = off;", 'parallel');
same_answer($three, "$parallel SET enable_seqscan = off;", 'parallel AND of three');

my $parts = 'SELECT sum(length(pad)) FROM p WHERE k BETWEEN 28000 AND 32000';
unlike(plan_of($parts), qr/Bitmap/, 'partitions: off');
like(plan_of($parts, $on), qr/Bitmap Index Scan on p1_k_idx.*Bitmap Index Scan on p2_k_idx/s,
	'partitions: on');
same_answer($parts, "$parallel SET enable_partitionwise_aggregate = on;", 'partitions');

like($node->safe_psql('postgres', qq{
	SET plan_cache_mode = force_generic_plan;
	PREPARE s (int) AS SELECT sum(length(pad)) FROM p WHERE k BETWEEN \$1 AND \$1 + 20;
	EXPLAIN (COSTS off) EXECUTE s (5); $on EXPLAIN (COSTS off) EXECUTE s (5);
	EXECUTE s (29990)}), qr/Index Scan.*Bitmap.*\n1260$/s,
	'prepared: planned anew, and right');

SKIP:
{
	skip 'pg_hint_plan is not installed', 18
	  unless $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_hint_plan'});
	my $query = 'SELECT sum(i) FROM t WHERE d < -100000';
	my $not_plain = qr/Bitmap Index Scan on t_d/;

	for my $order ('pg_hint_plan,tablespace_advisor', 'tablespace_advisor,pg_hint_plan')
	{
		local $ENV{PGOPTIONS} = "-c session_preload_libraries=$order";
		my $explain = 'EXPLAIN (COSTS off)';
		my $hinted = sub {
			my ($hint, $statement) = @_;
			return $node->safe_psql('postgres',
				"$on /*+ $hint */ $explain " . ($statement // $query));
		};

		like($hinted->('IndexScan(u)'), $not_plain, "$order: a hint for another table");
		like($hinted->('IndexScan(t t_d)'), qr/-> +Index Scan using t_d/, "$order: IndexScan");
		like($hinted->('SeqScan(t)'), qr/Seq Scan on t/, "$order: SeqScan");
		like($hinted->('NoBitmapScan(t)'), qr/-> +(Index|Seq) Scan/, "$order: NoBitmapScan");
		like($hinted->('BitmapScan(t t_a)', $three),
			qr/Recheck Cond: \(a < 20\)\s+Filter:/, "$order: BitmapScan of one index");
		like($node->safe_psql('postgres',
			"/*+ Set(tablespace_advisor.correct_locality on) */ $explain $query"),
			$not_plain, "$order: locality for one statement");
		like($node->safe_psql('postgres', qq{SET client_min_messages = error;
			SELECT assume_placement('t', 'pg_default');
			$on /*+ IndexScan(t t_d) */ $explain $query}),
			qr/-> +Index Scan using t_d/, "$order: with an assumed placement");
		like($hinted->('NestLoop(ranges t) Leading((ranges t))', $join),
			qr/Nested Loop.*Bitmap Index Scan on t_d/s, "$order: a join");
		is($node->safe_psql('postgres', "$on /*+ SeqScan(t) */ $three"),
			$node->safe_psql('postgres', $three), "$order: the same answer");
	}
}

$node->stop;
done_testing();
