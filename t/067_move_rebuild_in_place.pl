# Copyright (c) 2026, The tablespace_advisor developers

# ALTER TABLE ... SET TABLESPACE and TRUNCATE in one transaction rebuild the
# table's indexes in place: truncated, and built anew in the same file.  A
# copy that let the transaction pass has to notice, though the index has the
# storage it had.  (The first version took "same storage" for "same contents"
# and left stale pages behind the end of the new index; amcheck does not see
# them, VACUUM stumbles over them.)

use TsaTest;

my $node = start_node('main', conf => "wal_level = replica\nautovacuum = off\n");
$node->safe_psql('postgres', q{
	CREATE TABLE r (id int PRIMARY KEY);
	INSERT INTO r SELECT generate_series(1, 100000);
	CREATE TABLE seen (moment text, filenode oid, bytes bigint)});

my $look = q{INSERT INTO seen SELECT '%s', pg_relation_filenode('r_pkey'),
	pg_relation_size('r_pkey')};

sub rebuild_in_place_at
{
	my ($point, $target) = @_;

	$node->safe_psql('postgres', 'TRUNCATE seen');
	my $job = start_stopped_move($node, $point, 'r_pkey', $target);

	my $ddl = start_sql($node, 'ddl', 'BEGIN', sprintf($look, 'before'),
		"ALTER TABLE r SET TABLESPACE $target", 'TRUNCATE r',
		'INSERT INTO r SELECT generate_series(1, 20000)',
		sprintf($look, 'after'), 'COMMIT');
	wait_until($node, q{EXISTS (SELECT FROM pg_locks
		WHERE relation = 'r'::regclass AND NOT granted)}, 'the DDL waits for the copy');
	release($node);
	is(finish_sql($ddl), '', "$point: the DDL gets through");
	wait_for_job($node, $job);

	is( $node->safe_psql('postgres', q{
			SELECT count(DISTINCT filenode), min(bytes) < max(bytes) FROM seen}),
		'1|t', "$point: the index was rebuilt in its own file");
	is(job_field($node, $job, 'state'), 'done', "$point: the move is done");
	is(tablespaces_of($node, 'r_pkey'), $target, "$point: the index is in $target");
	is( $node->safe_psql('postgres', q{
			SELECT pg_relation_size('r_pkey') =
				(SELECT bytes FROM seen WHERE moment = 'after')}),
		't', "$point: nothing of the old index is in the new storage");
	$node->safe_psql('postgres', 'DELETE FROM r WHERE id > 100; VACUUM r');
	check_btree($node, 'r_pkey', $point);
	check_orphans($node, $point);
	$node->safe_psql('postgres', q{
		INSERT INTO r SELECT generate_series(101, 100000)});
	return;
}

rebuild_in_place_at('copied', 'fast');
rebuild_in_place_at('fsm copied', 'slow');
unlike(slurp_file($node->logfile), qr/failed to re-find parent key/,
	'VACUUM met no stale page');
check_locks($node, 'at the end');
check_log($node, 'at the end');

$node->stop;
done_testing();
