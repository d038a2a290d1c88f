# Copyright (c) 2026, The tablespace_advisor developers

# Whom a move of a table waits for, and who waits for it meanwhile: nobody for
# longer than lock_timeout.  A transaction that has changed the table's row of
# pg_class without a lock on the table; a prepared transaction; one that has used
# the table, or rebuilt an index; a file so large that it is removed in steps.

use TsaTest;

my $node = start_node('main', checksums => 1, conf => qq(
wal_level = replica
autovacuum = off
));
$node->safe_psql('postgres', qq{
	CREATE ROLE somebody;
	CREATE TABLE d (id int PRIMARY KEY, n int, doc text);
	ALTER TABLE d ALTER doc SET STORAGE EXTERNAL;
	INSERT INTO d SELECT i, 0, ${\document('i')} FROM generate_series(1, 1000) i;
	CREATE INDEX d_n ON d (n)});

# Clients are not held up while the move tries for so many times: they queue
# behind its attempts at worst, which end by their timeout, far below this one.
sub try_clients
{
	my ($job, $attempts, $name) = @_;
	my $before = job_field($node, $job, 'attempts');

	for (1 .. 1000)
	{
		my ($out, $err) = ('', '');
		my $rc = $node->psql('postgres', q{
			SET lock_timeout = '5s';
			UPDATE d SET n = n + 1 WHERE id = 7;
			SELECT count(*) FROM d WHERE id = 7},
			stdout => \$out, stderr => \$err, timeout => 60);
		if ($rc != 0 || $out ne '1')
		{
			fail("$name: a client waits: $out $err");
			return;
		}
		last if job_field($node, $job, 'attempts') >= $before + $attempts
			|| job_field($node, $job, 'state') ne 'running';
	}
	is(job_field($node, $job, 'state'), 'running',
		"$name: the move tries, and holds nobody up");
	return;
}

sub check_d
{
	my ($place, $name) = @_;

	is( places($node, 'd'),
		"table $place, toast $place, toast index $place, indexes $place",
		"$name: all has moved");
	check_moved($node, 'd', 2, $name);
	return;
}

# GRANT has no lock on the table, but the new version of its row in pg_class is
# to come: the cutover must not wait for it with the table locked.
for my $end ('COMMIT', 'ROLLBACK')
{
	my $name = "GRANT, $end";
	my $place = $end eq 'COMMIT' ? 'fast' : 'slow';
	my $granter = $node->background_psql('postgres');

	$granter->query_safe(q{BEGIN; GRANT SELECT ON d TO somebody});
	my $job = start_table_move($node, 'd', $place,
		"with_indexes => true, lock_timeout => '20 ms'");
	wait_until_job($node, $job, "attempts > 0");
	try_clients($job, 2, $name);

	# nobody queues behind these, so they follow each other in a second
	ok($node->poll_query_until('postgres',
			"SELECT attempts >= 16 FROM tablespace_moves WHERE job_id = $job"),
		"$name: cheap attempts are made often") if $end eq 'COMMIT';
	my $pid = $granter->query_safe('SELECT pg_backend_pid()');
	# an attempt may have met an autovacuum instead
	ok($node->poll_query_until('postgres', qq{
			SELECT blocked_by = '{$pid}' FROM tablespace_moves WHERE job_id = $job}),
		"$name: the journal names who holds it up");
	$granter->query_safe($end);
	$granter->quit;
	is(wait_for_job($node, $job), 'done', "$name: the move is done then")
	  or diag(job_field($node, $job, 'error'));
	check_d($place, $name);
	is( $node->safe_psql('postgres',
			"SELECT has_table_privilege('somebody', 'd', 'SELECT')"),
		$end eq 'COMMIT' ? 't' : 'f', "$name: the right is what it should be");
	$node->safe_psql('postgres', 'REVOKE ALL ON d FROM somebody');
}

# Somebody who has used the table and then wants it for himself, as a migration
# does, while the move waits for it: no deadlock.
for my $place (qw(fast slow))
{
	my $name = "migration, to $place";
	my $migration = $node->background_psql('postgres', on_error_stop => 0);

	$migration->query_safe('BEGIN; SELECT count(*) FROM d');
	my $job = start_table_move($node, 'd', $place,
		"with_indexes => true, lock_timeout => '10 s'");
	wait_until($node, q{EXISTS (SELECT FROM pg_locks
		WHERE relation = 'd'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted)}, 'the move asks for its lock');
	$migration->query(
		'LOCK TABLE d; ALTER TABLE d ALTER n SET DEFAULT 1; COMMIT');
	unlike($migration->{stderr}, qr/ERROR/, "$name: the migration gets through");
	$migration->quit;
	is(wait_for_job($node, $job), 'done', "$name: the move is done");
	check_d($place, $name);
}

# The same while the move waits for an index before it begins.
$node->safe_psql('postgres', q{
	CREATE TABLE p (id int) PARTITION BY RANGE (id);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (4000);
	CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (4000) TO (8000);
	INSERT INTO p SELECT generate_series(0, 7999);
	CREATE INDEX p2_id ON p2 (id)});
my $job = start_stopped_table_move($node, 'copied', 'p', 'fast', 'with_indexes => true');
my $session = session($node);
ask($session, 'BEGIN; REINDEX INDEX p2_id;');
send_to($session, q{
	DO $$
	BEGIN
		LOOP
			EXIT WHEN EXISTS (SELECT FROM tablespace_moves
				WHERE state = 'running' AND phase = 'waiting for lock'
				AND blocked_by = ARRAY[pg_backend_pid()]);
		END LOOP;
		LOCK TABLE p2;
	END $$;
	COMMIT;});
release($node);
answer($session);
is($session->{err}, '', 'no deadlock for who rebuilds an index');
end_session($session);
wait_for_workers($node);
is( $node->safe_psql('postgres',
		q{SELECT string_agg(DISTINCT state, ' ') FROM tablespace_moves WHERE relation_name ~ 'public.p'}),
	'done', 'all partitions have moved');

# a prepared transaction that has read from the table
$node->safe_psql('postgres', q{
	BEGIN;
	UPDATE d SET n = n + 1 WHERE id = 5;
	PREPARE TRANSACTION 'holds'});
$job = start_table_move($node, 'd', 'fast',
	"with_indexes => true, lock_timeout => '20 ms'");
wait_until_job($node, $job, "attempts >= 2");
try_clients($job, 2, 'prepared transaction');
is(job_field($node, $job, 'phase'), 'waiting for prepared transaction "holds"',
	'prepared transaction: the journal names it');
is(job_field($node, $job, 'blocked_by'), '{0}',
	'prepared transaction: the journal names process 0 as what the move waits for');
$node->safe_psql('postgres', "COMMIT PREPARED 'holds'");
is(wait_for_job($node, $job), 'done', 'prepared transaction: done behind it');
check_d('fast', 'prepared transaction');

# one that has no lock on the table, but has changed its row of pg_class
$node->safe_psql('postgres', q{
	BEGIN;
	SAVEPOINT s;
	GRANT SELECT ON d TO somebody;
	PREPARE TRANSACTION 'grants'});
$job = start_table_move($node, 'd', 'slow',
	"with_indexes => true, lock_timeout => '20 ms'");
ok($node->poll_query_until('postgres', qq{
		SELECT phase = 'waiting for prepared transaction "grants"' AND blocked_by = '{0}'
		FROM tablespace_moves WHERE job_id = $job}),
	'prepared GRANT: the journal names it');
$node->safe_psql('postgres', "COMMIT PREPARED 'grants'");
is(wait_for_job($node, $job), 'done', 'prepared GRANT: done behind it');
check_d('slow', 'prepared GRANT');

# Two that have locked it: their number is no transaction's, and pg_subtrans has no
# page for it if it is beyond those of transactions.  On a young server such numbers
# are small, and nothing shows.
$node->stop;
command_ok([ 'pg_resetwal', '-m', '2048000,1', $node->data_dir ], 'multixacts are numbered from 2048000 on');
$node->start;
my @lockers = map { session($node) } 1 .. 2;
ask($_, q{BEGIN; SELECT FROM pg_class WHERE oid = 'd'::regclass FOR SHARE;}) for @lockers;
is($node->safe_psql('postgres', q{SELECT xmax FROM pg_class WHERE oid = 'd'::regclass}), 2048000, 'two have locked the row');
$job = start_table_move($node, 'd', 'fast', "with_indexes => true, lock_timeout => '20 ms'");
wait_until_job($node, $job, "attempts >= 2 OR state = 'failed'");
ask($_, 'COMMIT;') for @lockers;
end_session($_) for @lockers;
is(wait_for_job($node, $job), 'done', 'two that have locked the row: done behind them');
check_d('fast', 'two that have locked the row');

# Heap and TOAST table of more than 32 MB are shortened before they are
# dropped, with their maps.
$node->safe_psql('postgres', qq{
	CREATE TABLE l (id int PRIMARY KEY, n int, pad text, doc text);
	ALTER TABLE l ALTER pad SET STORAGE PLAIN;
	ALTER TABLE l ALTER doc SET STORAGE EXTERNAL;
	INSERT INTO l SELECT i, 0, repeat('p', 1800),
		CASE WHEN i % 2 = 0 THEN repeat(md5(i::text), 150) END
		FROM generate_series(1, 20000) i;
	DELETE FROM l WHERE id % 9 = 0;
	VACUUM (FREEZE) l});
is( $node->safe_psql('postgres', q{
		SELECT pg_relation_size(oid) > 33554432,
			pg_relation_size(reltoastrelid) > 33554432,
			pg_relation_size(oid, 'fsm') > 0, pg_relation_size(oid, 'vm') > 0
		FROM pg_class WHERE relname = 'l'}),
	't|t|t|t', 'a larger table');
my $truncated = q{
	SELECT count(*) FROM tablespace_advisor.job j,
		unnest(old_tablespaces, old_filenumbers) AS f(tablespace, file)
	WHERE job_id = %d};
for my $how ('crash', 'go on')
{
	my $place = $how eq 'crash' ? 'fast' : 'slow';

	$job = start_stopped_table_move($node, 'old file truncated', 'l', $place);
	is($node->safe_psql('postgres', sprintf($truncated, $job)), '3',
		"large, $how: old files are there");
	$node->safe_psql('postgres', 'UPDATE l SET n = n + 1 WHERE id % 100 = 1');
	my $rows = digest($node, 'l', 'x::text');
	my $map = visibility($node, 'l');
	crash($node) if $how eq 'crash';
	release($node);
	is($how eq 'crash' ? end_state($node, $job) : wait_for_job($node, $job),
		'done', "large, $how: the move is done");
	like(places($node, 'l'), qr/^table $place, toast $place, toast index $place/,
		"large, $how: all has moved");
	is(digest($node, 'l', 'x::text'), $rows, "large, $how: the rows are right");
	is(visibility($node, 'l'), $map, "large, $how: the visibility map is the same");
	check_heap($node, 'l', "large, $how");
	check_orphans($node, "large, $how");
}

check_log($node, 'waits');
check_checksums($node, 'in the end');
done_testing();
