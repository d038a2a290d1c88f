# Copyright (c) 2026, The tablespace_advisor developers

# Relations that are special: what cannot be copied live is rebuilt, partitions
# move leaf by leaf, and a prepared transaction that holds its locks for long
# delays a move and nobody else.  (What is refused: sql/move_bad_input.sql.)

use TsaTest;

my $node = start_node('main', conf => "wal_level = replica\n");

# an unlogged index
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE u (a int PRIMARY KEY);
	INSERT INTO u SELECT generate_series(1, 10000);
	CREATE TABLE c (a int, b int DEFAULT 0);
	INSERT INTO c SELECT generate_series(1, 10000);
	CREATE INDEX c_a ON c (a)});
my ($out, $err);
is( $node->psql('postgres',
		"CALL move_indexes_concurrently('u', 'fast')",
		stdout => \$out, stderr => \$err), 0, 'an unlogged index is moved');
like($err, qr/NOTICE:  index public.u_pkey will be rebuilt, not copied/,
	'a notice says how');
like($err, qr/unlogged/, 'the notice says that the index is unlogged');
is(tablespaces_of($node, 'u'), 'fast', 'the unlogged index is in its new place');
is( $node->safe_psql('postgres',
		"SELECT method, state FROM tablespace_moves WHERE relation_name = 'public.u_pkey'"),
	'rebuild|done', 'the journal tells the method');
is($node->safe_psql('postgres', "SELECT tsa_amcheck('u')"), '1',
	'the rebuilt index passes amcheck');
fails_with($node, "CALL move_indexes_concurrently('u', 'slow', method => 'copy');",
	'0A000', 'cannot move index public.u_pkey by live copy',
	'an unlogged index cannot be copied live');

# an empty table, and an index without a page but the first
$node->safe_psql('postgres', q{
	CREATE TABLE e (a int, p point, r int[]);
	CREATE INDEX e_a ON e (a);
	CREATE INDEX e_hash ON e USING hash (a);
	CREATE INDEX e_gin ON e USING gin (r);
	CREATE INDEX e_gist ON e USING gist (p);
	CREATE INDEX e_spgist ON e USING spgist (p);
	CREATE INDEX e_brin ON e USING brin (a);
	CREATE INDEX e_bloom ON e USING bloom (a)});
move($node, 'e', 'fast', "method => 'copy'");
$node->safe_psql('postgres', q{
	INSERT INTO e SELECT i, point(i, i), ARRAY[i]
	FROM generate_series(1, 500) i});
for my $condition ('a = 400', 'r @> ARRAY[400]',
	'p <@ box(point(400, 400), point(400, 400))')
{
	is( $node->safe_psql('postgres', qq{
			SET enable_seqscan = off;
			SELECT a FROM e WHERE $condition}),
		'400', "indexes of an empty table work after a move: $condition");
}

# partitions
$node->safe_psql('postgres', q{
	CREATE TABLE p (a int PRIMARY KEY, b int) PARTITION BY RANGE (a);
	CREATE INDEX p_b ON p (b);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000);
	CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1000) TO (3000)
		PARTITION BY RANGE (a);
	CREATE TABLE p21 PARTITION OF p2 FOR VALUES FROM (1000) TO (2000);
	INSERT INTO p SELECT i, i FROM generate_series(0, 1999) i});
move($node, 'p', 'fast');
is( $node->safe_psql('postgres', q{
		SELECT c.relkind, count(*), string_agg(DISTINCT s.spcname, ' ')
		FROM pg_partition_tree('p') t JOIN pg_index i ON i.indrelid = t.relid
			JOIN pg_class c ON c.oid = i.indexrelid
			LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
		GROUP BY 1 ORDER BY 1}),
	"I|4|fast\ni|4|fast", 'all indexes of all partitions have moved');
is( $node->safe_psql('postgres', q{
		SELECT method, count(*) FROM tablespace_moves
		WHERE relation_name ~ '^public[.]p' AND state = 'done'
		GROUP BY 1 ORDER BY 1}),
	"catalog|4\ncopy|4", 'indexes of leaves move by copy, the others in the catalog');
$node->safe_psql('postgres', q{
	CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (5000) TO (6000);
	CREATE TABLE p22 PARTITION OF p2 FOR VALUES FROM (2000) TO (3000)});
is(tablespaces_of($node, 'p3') . ' ' . tablespaces_of($node, 'p22'),
	'fast fast', 'indexes of new partitions follow');
move($node, 'p2', 'slow');
is( join(' ', map { tablespaces_of($node, $_) } qw(p p1 p2 p21 p22 p3)),
	'fast fast slow slow slow fast', 'a part of the tree moves alone');

# A prepared transaction that has read through the index holds its lock.
$node->safe_psql('postgres', q{
	BEGIN;
	SET LOCAL enable_seqscan = off;
	UPDATE c SET b = 1 WHERE a = 5;
	PREPARE TRANSACTION 'holds'});
my $job = start_move($node, 'c_a', 'fast', "lock_timeout => '20 ms'");
wait_until_job($node, $job, "attempts >= 3");
is(job_field($node, $job, 'state'), 'running', 'the move goes on trying');
is(job_field($node, $job, 'phase'), 'waiting for prepared transaction "holds"', 'the move says which prepared transaction it waits for');
is(job_field($node, $job, 'blocked_by'), '{0}',
	'a prepared transaction is process 0 of blocked_by');
is(tablespaces_of($node, 'c_a'), 'pg_default', 'the index stays meanwhile');

# Clients are not held up: these queue behind the attempts at worst, which
# end by their timeout, far below this one.
for my $n (1 .. 30)
{
	my ($out, $err) = ('', '');
	my $rc = $node->psql('postgres', qq{
		SET lock_timeout = '500 ms';
		SET enable_seqscan = off;
		UPDATE c SET b = b + 1 WHERE a = $n + 100;
		SELECT count(*) FROM c WHERE a = $n + 100},
		stdout => \$out, stderr => \$err);
	next if $rc == 0 && $out eq '1' && $n < 30;
	is("$rc $out $err", '0 1 ', 'no client waits long while the move tries');
	last;
}
is(job_field($node, $job, 'state'), 'running',
	'the move was trying all the time');
$node->safe_psql('postgres', "COMMIT PREPARED 'holds'");
is(wait_for_job($node, $job), 'done', 'the move is done after COMMIT PREPARED');
is(tablespaces_of($node, 'c_a'), 'fast', 'after COMMIT PREPARED the index has moved');
is(job_field($node, $job, 'blocked_by'), '', 'nobody blocks any more');
is($node->safe_psql('postgres', "SELECT tsa_amcheck('c')"), '1',
	'changes of the meantime are in the index');

# Two moves of one index, and a cancel while it waits.
$node->safe_psql('postgres', q{
	BEGIN;
	SET LOCAL enable_seqscan = off;
	UPDATE c SET b = 1 WHERE a = 5;
	PREPARE TRANSACTION 'holds'});
$job = start_move($node, 'c_a', 'slow', "lock_timeout => '20 ms'");
fails_with($node, "CALL move_indexes_concurrently('c_a', 'slow');",
	'55006', 'index "c_a" is being moved already',
	'one index is moved once at a time');
fails_with($node, "SELECT retry_move($job);", '55000', "job $job is ",
	'a move that runs is not repeated');
is($node->safe_psql('postgres', "SELECT cancel_move($job)"), 't',
	'a move that waits is cancelled');
is(wait_for_job($node, $job), 'cancelled', 'the cancelled move ends');
is(tablespaces_of($node, 'c_a'), 'fast', 'the index has stayed');
$node->safe_psql('postgres', "ROLLBACK PREPARED 'holds'");

check_orphans($node, 'in the end');
check_locks($node, 'in the end');
check_log($node, 'special relations',
	qr/cannot move|being moved already|job \d+ is|canceling statement/);
$node->stop;
done_testing();
