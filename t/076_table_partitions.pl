# Copyright (c) 2026, The tablespace_advisor developers

# Partitioned tables move leaf by leaf, and what is made later lands where the
# parent went; undo_move() brings table and indexes back; tables of odd kinds.
# (What is refused: sql/move_bad_input.sql, t/058.)

use TsaTest;

my $node = start_node('main', checksums => 1, conf => "wal_level = replica\n");

# All relations of a tree that have storage or pass a place on, by place.
sub tree_places
{
	my ($table) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT c.relkind, count(*), coalesce(s.spcname, 'pg_default')
		FROM (SELECT relid FROM pg_partition_tree('$table')
			  UNION ALL
			  SELECT indexrelid FROM pg_partition_tree('$table')
				JOIN pg_index ON indrelid = relid
			  UNION ALL
			  SELECT unnest(ARRAY[reltoastrelid, indexrelid])
			  FROM pg_partition_tree('$table')
				JOIN pg_class ON pg_class.oid = relid
				JOIN pg_index ON indrelid = reltoastrelid) AS t(oid)
			JOIN pg_class c USING (oid)
			LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
		GROUP BY 1, 3 ORDER BY 1, 3});
}

sub check_tree
{
	my ($table, $rows, $name) = @_;

	is(digest($node, $table, 'x::text'), $rows, "$name: the rows are right");
	for my $leaf (split /\n/, $node->safe_psql('postgres',
			"SELECT relid FROM pg_partition_tree('$table') WHERE isleaf"))
	{
		check_heap($node, $leaf, "$name, $leaf");
		is( $node->safe_psql('postgres', "SELECT tsa_amcheck('$leaf') > 0"),
			't', "$name, $leaf: the indexes are right");
	}
	check_orphans($node, $name);
	return;
}

$node->safe_psql('postgres', qq{
	CREATE TABLE p (a int PRIMARY KEY, b int, doc text) PARTITION BY RANGE (a);
	CREATE INDEX p_b ON p (b);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (500);
	CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (500) TO (2000)
		PARTITION BY RANGE (a);
	CREATE TABLE p21 PARTITION OF p2 FOR VALUES FROM (500) TO (1000);
	ALTER TABLE p1 ALTER doc SET STORAGE EXTERNAL;
	INSERT INTO p SELECT i, i, ${\document('i')} FROM generate_series(0, 999) i});
my $rows = digest($node, 'p', 'x::text');

move_table($node, 'p', 'fast');
is(tree_places('p'),
	"I|4|pg_default\ni|2|fast\ni|4|pg_default\np|2|fast\nr|2|fast\nt|2|fast",
	'tables of all partitions have moved, with TOAST and without indexes');
check_tree('p', $rows, 'leaf by leaf');
is( $node->safe_psql('postgres', q{
		SELECT method, state, count(*) FROM tablespace_moves GROUP BY 1, 2
		ORDER BY 1}),
	"catalog|done|2\ncopy|done|2", 'leaves move by copy, the others in the catalog');

$node->safe_psql('postgres', q{
	CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (5000) TO (6000);
	CREATE TABLE p22 PARTITION OF p2 FOR VALUES FROM (1000) TO (2000)});
is( join(' ', map { places($node, $_) =~ s/,.*//r } qw(p3 p22)),
	'table fast table fast', 'new partitions land where the parent went');

move_table($node, 'p', 'slow', 'with_indexes => true');
is(tree_places('p'), "I|4|slow\ni|12|slow\np|2|slow\nr|4|slow\nt|4|slow",
	'all has moved with the indexes');
check_tree('p', $rows, 'with the indexes');
$node->safe_psql('postgres', q{
	CREATE TABLE p4 PARTITION OF p FOR VALUES FROM (7000) TO (8000)});
is(places($node, 'p4'),
	'table slow, toast slow, toast index slow, indexes slow',
	'a new partition and its indexes land there');

move_table($node, 'p2', 'fast', 'with_indexes => true');
is( join(' ', map { places($node, $_) =~ s/table (\w+),.* indexes (\w+)/$1 $2/r }
		qw(p1 p21 p22 p3 p4)),
	'slow slow fast fast fast fast slow slow slow slow',
	'a part of the tree moves alone');
check_tree('p', $rows, 'a part of the tree');

# A partition that comes, goes or is cut off while another one moves.
my $job = start_stopped_table_move($node, 'copied', 'p', 'fast', 'with_indexes => true');
my $session = start_sql($node, 'partitions',
	'CREATE TABLE p5 PARTITION OF p FOR VALUES FROM (9000) TO (9500)',
	'INSERT INTO p VALUES (9001, 1, 1)',
	'ALTER TABLE p DETACH PARTITION p3', 'DROP TABLE p4');
is_waiting($session);
release($node);
is(finish_sql($session), '', 'partitions come and go while one moves');
wait_for_moves($node);
is( $node->safe_psql('postgres', qq{
		SELECT relation_name, error FROM tablespace_moves
		WHERE job_id >= $job AND state = 'failed'
			AND error !~ 'does not exist'}),
	'', 'no move fails but those of what is gone');
like(places($node, $_), qr/^table fast, toast fast, toast index fast, indexes fast/,
	"$_ has moved")
  for qw(p1 p21 p22);
check_tree('p', digest($node, 'p', 'x::text'), 'partitions that came and went');

# back again
$node->safe_psql('postgres', qq{
	CREATE TABLE u (a int PRIMARY KEY, b int, doc text);
	ALTER TABLE u ALTER doc SET STORAGE EXTERNAL;
	INSERT INTO u SELECT i, i, ${\document('i')} FROM generate_series(1, 500) i;
	CREATE INDEX u_b ON u (b) TABLESPACE slow});
$rows = digest($node, 'u', 'x::text');
my $origin = places($node, 'u');
for my $with ('false', 'true')
{
	my $name = "undo, with_indexes => $with";

	$job = start_table_move($node, 'u', 'fast', "with_indexes => $with");
	is(wait_for_job($node, $job), 'done', "$name: moved");
	like(places($node, 'u'), qr/^table fast, toast fast, toast index fast/,
		"$name: the table is in fast");
	my $undo = $node->safe_psql('postgres', "SELECT undo_move($job)");
	is(wait_for_job($node, $undo), 'done', "$name: moved back");
	wait_for_moves($node);
	is(places($node, 'u'), $origin, "$name: all is where it was");
	is( $node->safe_psql('postgres', q{
			SELECT coalesce(s.spcname, 'pg_default') FROM pg_class c
				LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
			WHERE c.oid IN ('u_pkey'::regclass, 'u_b'::regclass)
			ORDER BY c.relname}),
		"slow\npg_default", "$name: each index where it was");
	check_tree('u', $rows, $name);
}

# tables of odd kinds: empty, without columns, without an index, without a
# TOAST table, of one page, with an index that live copy does not know
$node->safe_psql('postgres', q{
	CREATE TABLE empty (a int PRIMARY KEY, doc text);
	CREATE TABLE nothing ();
	CREATE TABLE plain (a int);
	INSERT INTO plain VALUES (1);
	CREATE TABLE zoo (id int PRIMARY KEY, a int, p point, r int[]);
	INSERT INTO zoo SELECT i, i, point(i, i), ARRAY[i] FROM generate_series(1, 300) i;
	CREATE INDEX ON zoo USING hash (a);
	CREATE INDEX ON zoo USING gin (r);
	CREATE INDEX ON zoo USING gist (p);
	CREATE INDEX ON zoo USING spgist (p);
	CREATE INDEX ON zoo USING brin (a);
	CREATE INDEX ON zoo USING bloom (a);
	CREATE MATERIALIZED VIEW matview AS SELECT * FROM zoo;
	CREATE INDEX ON matview (a)});
for my $table (qw(empty nothing plain zoo matview))
{
	$rows = digest($node, $table, 'x::text');
	move_table($node, $table, 'fast', 'with_indexes => true');
	like(places($node, $table),
		qr/^table fast(, toast fast, toast index fast)?(, indexes fast)?$/,
		"$table has moved");
	is(digest($node, $table, 'x::text'), $rows, "$table has the rows it had");
	check_heap($node, $table, $table);
}
$node->safe_psql('postgres', q{
	INSERT INTO empty SELECT i, repeat(md5(i::text), 400) FROM generate_series(1, 100) i;
	INSERT INTO plain SELECT generate_series(2, 1000);
	INSERT INTO zoo SELECT i, i, point(i, i), ARRAY[i] FROM generate_series(301, 600) i;
	REFRESH MATERIALIZED VIEW matview});
for my $table (qw(empty plain zoo matview))
{
	check_heap($node, $table, "$table, filled");
}
for my $condition ('a = 500', 'r @> ARRAY[500]',
	'p <@ box(point(500, 500), point(500, 500))')
{
	is( $node->safe_psql('postgres', qq{
			SET enable_seqscan = off;
			SELECT a FROM zoo WHERE $condition}),
		'500', "indexes work after a move: $condition");
}

check_orphans($node, 'in the end');
check_locks($node, 'in the end');
check_checksums($node, 'in the end');
done_testing();
