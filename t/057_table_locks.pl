# Copyright (c) 2026, The tablespace_advisor developers

# The move of a table and those who lock it, its rows in pg_class or its
# indexes: nobody waits for the move's end, nobody gets a deadlock, and the
# move comes to its end.

use TsaTest;

my $node = start_node('main', conf => "wal_level = replica\nautovacuum = off\n");
$node->safe_psql('postgres', q{
	CREATE ROLE reader;
	CREATE TABLE d (id int, txt text) PARTITION BY RANGE (id);
	CREATE TABLE d1 PARTITION OF d FOR VALUES FROM (0) TO (4000);
	CREATE TABLE d2 PARTITION OF d FOR VALUES FROM (4000) TO (8000);
	INSERT INTO d SELECT i, repeat(md5(i::text), 4)
		FROM generate_series(0, 7999) i;
	CREATE INDEX d1_id ON d1 (id);
	CREATE INDEX d1_brin ON d1 USING brin (id);
	CREATE INDEX d2_id ON d2 (id)});

# GRANT changes the table's row of pg_class, without a lock on the table.
$node->safe_psql('postgres', q{
	BEGIN; GRANT SELECT ON d1 TO reader; PREPARE TRANSACTION 'grant'});
my $job = start_table_move($node, 'd1', 'fast', 'with_indexes => true');
wait_until_job($node, $job, "attempts > 1 AND blocked_by = '{0}'");
is( $node->safe_psql('postgres', q{
		SET statement_timeout = '60s'; SELECT count(*) FROM d1}),
	'4000', 'readers do not wait for GRANT behind the move');
$node->safe_psql('postgres', q{COMMIT PREPARED 'grant'});
is(wait_for_job($node, $job), 'done', 'the move is done after GRANT');
is( $node->safe_psql('postgres',
		q{SELECT has_table_privilege('reader', 'd1', 'SELECT')}),
	't', 'the privilege is not lost');

# Those who ask for an index with a lock on the table in hand.
$job = start_table_move($node, 'd1', 'pg_default', "with_indexes => true, max_rate => '200 bytes'");
for my $sql (
	q{SELECT brin_summarize_new_values('d1_brin')},
	'ALTER INDEX d1_id SET (fillfactor = 80)',
	'REINDEX INDEX CONCURRENTLY d1_id',
	'DROP INDEX CONCURRENTLY d1_brin')
{
	wait_until_job($node, $job, "phase = 'copying'");
	is(finish_sql(start_sql($node, 'asker', $sql)), '', "the move lets pass: $sql");
}
$node->safe_psql('postgres', "SELECT cancel_move($job)");
is(wait_for_job($node, $job), 'cancelled', 'the move is cancelled');

# Somebody who has used the table asks for AccessExclusive while we wait for
# him.
my $session = session($node);
ask($session, 'BEGIN; SELECT FROM d1 LIMIT 1;');
send_to($session, q{
	DO $$
	BEGIN
		LOOP
			EXIT WHEN EXISTS (SELECT FROM pg_locks
				WHERE relation = 'd1'::regclass AND NOT granted);
		END LOOP;
		LOCK TABLE d1;
	END $$;
	COMMIT;});
$job = start_table_move($node, 'd1', 'pg_default', "with_indexes => true, lock_timeout => '800 ms'");
answer($session);
is($session->{err}, '', 'no deadlock for who has used the table');
is(wait_for_job($node, $job), 'done', 'the move is done behind him');

# The same while the move waits for an index before it begins.
$job = start_stopped_table_move($node, 'copied', 'd', 'fast', 'with_indexes => true');
ask($session, 'BEGIN; REINDEX INDEX d2_id;');
send_to($session, q{
	DO $$
	BEGIN
		LOOP
			EXIT WHEN EXISTS (SELECT FROM tablespace_moves
				WHERE state = 'running' AND phase = 'waiting for lock'
				AND blocked_by = ARRAY[pg_backend_pid()]);
		END LOOP;
		LOCK TABLE d2;
	END $$;
	COMMIT;});
release($node);
answer($session);
is($session->{err}, '', 'no deadlock for who rebuilds an index');
end_session($session);
$node->poll_query_until('postgres',
	q{SELECT count(*) = 0 FROM tablespace_moves WHERE state IN ('queued', 'running')})
  or die 'the moves do not end';
is( $node->safe_psql('postgres',
		q{SELECT string_agg(DISTINCT state, ' ') FROM tablespace_moves WHERE to_tablespace = 'fast'}),
	'done', 'all partitions have moved');
check_locks($node, 'end');
check_orphans($node, 'end');
$node->stop;
done_testing();
