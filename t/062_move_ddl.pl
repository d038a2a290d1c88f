# Copyright (c) 2026, The tablespace_advisor developers

# DDL on a table while one of its indexes is being copied (t/072 and t/136: while the
# table is).  The copy is so slow that it would take an hour: whoever does not wait
# for its end is done before.  The job then starts over, goes on, or fails with a
# reason.

use TsaTest;

my $node = start_node('main', conf => "wal_level = replica\nautovacuum = off\ndeadlock_timeout = 500ms\n");

# A table d, whose index d_txt is being copied to "fast".
sub start_slow_move
{
	$node->safe_psql('postgres', qq{
		DROP TABLE IF EXISTS d;
		CREATE TABLE d (id int PRIMARY KEY, txt text, n int, doc text);
		ALTER TABLE d ALTER doc SET STORAGE EXTERNAL;
		INSERT INTO d SELECT i, repeat(md5(i::text), 4), i,
				CASE WHEN i % 16 = 0 THEN ${\document('i')} END
			FROM generate_series(1, 8000) i;
		CREATE INDEX d_txt ON d (txt);
		CREATE INDEX d_n ON d (n)});
	my $job = start_move($node, 'd_txt', 'fast', "max_rate => '200 bytes'");
	wait_until_job($node, $job, "phase = 'copying' AND bytes_done > 0");
	return $job;
}

# The state of what is there in the end.
sub check_end
{
	my ($name, $indexes) = @_;

	is( $node->safe_psql('postgres', q{
			SET statement_timeout = '60s'; SELECT tsa_amcheck('d')}),
		$indexes, "$name: indexes agree with the table")
	  if $indexes;
	check_orphans($node, $name);
	return;
}

sub cancel
{
	my ($name, $job) = @_;

	is($node->safe_psql('postgres', "SELECT cancel_move($job)"), 't',
		"$name: the move still ran");
	is(wait_for_job($node, $job), 'cancelled', "$name: the move is cancelled");
	return;
}

# name, statements, what becomes of the job, number of indexes in the end.
# "on": it goes on with what it has; "over": it starts with other storage;
# else it ends, with this reason.
for my $case (
	[ 'CREATE INDEX CONCURRENTLY', 'CREATE INDEX CONCURRENTLY ON d (n, id)', 'on', 4 ],
	[ 'DROP INDEX CONCURRENTLY of a sibling', 'DROP INDEX CONCURRENTLY d_n', 'on', 2 ],
	[ 'REINDEX of a sibling', 'REINDEX INDEX CONCURRENTLY d_n', 'on', 3 ],
	[ 'VACUUM', 'VACUUM (FREEZE) d', 'on', 3 ],
	[ 'ALTER TABLE without a rewrite', 'ALTER TABLE d ADD c int DEFAULT 7', 'on', 3 ],
	[ 'LOCK TABLE', 'BEGIN; LOCK TABLE d; INSERT INTO d VALUES (-1); COMMIT', 'on', 3 ],
	[ 'ALTER TABLE with a rewrite', 'ALTER TABLE d ALTER n TYPE bigint', 'over', 3 ],
	[ 'VACUUM FULL', 'VACUUM FULL d', 'over', 3 ],
	[ 'CLUSTER', 'CLUSTER d USING d_pkey', 'over', 3 ],
	[ 'REINDEX', 'REINDEX INDEX d_txt', 'over', 3 ],
	[ 'REINDEX TABLE', 'REINDEX TABLE d', 'over', 3 ],
	[ 'TRUNCATE', 'TRUNCATE d', 'done', 3 ],
	[ 'ALTER INDEX SET TABLESPACE', 'ALTER INDEX d_txt SET TABLESPACE fast', qr/already in tablespace "fast"/, 3 ],
	[ 'REINDEX CONCURRENTLY', 'REINDEX INDEX CONCURRENTLY d_txt', qr/does not exist any more/, 3 ],
	[ 'COMMENT', q{COMMENT ON INDEX d_txt IS 'moving'}, 'on', 3 ],
	[ 'ALTER INDEX SET', 'ALTER INDEX d_txt SET (fillfactor = 80)', 'on', 3 ],
	[ 'DROP INDEX CONCURRENTLY', 'DROP INDEX CONCURRENTLY d_txt', qr/does not exist any more/, 2 ],
	[ 'DROP INDEX', 'DROP INDEX d_txt', qr/does not exist any more/, 2 ],
	[ 'ALTER TYPE of the column', 'ALTER TABLE d ALTER txt TYPE varchar(200) COLLATE "POSIX"', qr/does not exist any more/, 3 ],
	[ 'DROP TABLE', 'DROP TABLE d', qr/does not exist any more/, 0 ])
{
	my ($name, $sql, $outcome, $indexes) = @$case;
	my $job = start_slow_move();
	my $number = "SELECT new_filenumbers[1] FROM tablespace_advisor.job WHERE job_id = $job";
	my $before = $node->safe_psql('postgres', $number);
	my ($out, $err) = ('', '');

	is( $node->psql('postgres', "SET statement_timeout = '60s'; $sql",
			stdout => \$out, stderr => \$err),
		0, "$name does not wait for the move's end");
	is($err, '', "$name: no message");
	if (ref $outcome)
	{
		is(wait_for_job($node, $job), 'failed', "$name: the job ends");
		like(job_field($node, $job, 'error'), $outcome, "$name: the error of the job says why");
	}
	elsif ($outcome eq 'done')
	{
		is(wait_for_job($node, $job), 'done', "$name: the job ends");
	}
	elsif ($outcome eq 'over')
	{
		wait_until($node, qq{EXISTS (SELECT FROM tablespace_advisor.job
			WHERE job_id = $job AND new_filenumbers[1] <> $before AND state = 'running')}, 'the move starts over');
		cancel($name, $job);
	}
	else
	{
		is($node->safe_psql('postgres', $number), $before,
			"$name: the move goes on where it was");
		cancel($name, $job);
	}
	check_end($name, $indexes);
}

# Two moves of one index from two sessions; moves of two indexes of one table.
my $job = start_slow_move();
my $other = start_move($node, 'd_n', 'fast');
is(wait_for_job($node, $other), 'done', 'a sibling moves meanwhile');
isnt( $node->psql('postgres',
		q{CALL move_indexes_concurrently('d_txt', 'slow')}),
	0, 'the same index cannot be moved meanwhile');
cancel('two moves', $job);
check_end('two moves', 3);

check_locks($node, 'in the end');
check_log($node, 'DDL',
	qr/does not exist any more|canceling statement due to user|being moved already|already in tablespace|cannot move/);
$node->stop;
done_testing();
