# Copyright (c) 2026, The tablespace_advisor developers

# Small indexes, which move in one transaction each and whose old files are
# removed many at a time: more of them than the lock table has room for, one
# that is in use, and every way to disturb such a move.

use TsaTest;

# nobody flushes the log but those who are told to
my $node = start_node('main', conf => qq(
wal_level = replica
autovacuum = off
wal_writer_delay = 10s
bgwriter_lru_maxpages = 0
max_connections = 15
));
# after CREATE EXTENSION, which takes a lock for each of its members
$node->append_conf('postgresql.conf', 'max_locks_per_transaction = 10');
$node->restart;
$node->safe_psql('postgres', q{
	CREATE TABLE small (id int PRIMARY KEY, a int, b int);
	INSERT INTO small SELECT i, -i, i % 10 FROM generate_series(1, 300) i;
	CREATE INDEX small_a ON small (a);
	CREATE INDEX small_b ON small (b);
});

# Makes what has been written durable.
sub flush_log
{
	$node->safe_psql('postgres',
		'SELECT pg_logical_emit_message(true, $$t$$, $$t$$)');
	return;
}

# The orphans that are not empty: until the next checkpoint, a file that has
# been dropped is an empty one.
sub files_left
{
	return $node->safe_psql('postgres', q{
		SELECT count(*) FROM tsa_orphans() o
		WHERE (pg_stat_file(o)).size > 0});
}

# Judges the end of a job that moved an index of "small" from $from to $to.
sub judge
{
	my ($name, $job, $index, $from, $to, $state, $orphans) = @_;

	release($node);
	is(end_state($node, $job), $state, "$name: the job is $state");
	is(tablespaces_of($node, $index), $state eq 'done' ? $to : $from,
		"$name: the index is where it should be");
	check_btree($node, $index, $name);
	if ($orphans)
	{
		ok(files_left() <= $orphans, "$name: no more is left than by ALTER");
	}
	else
	{
		is(files_left(), 0, "$name: no file is left");
	}
	return if $state eq 'done';

	my $again = $node->safe_psql('postgres', "SELECT retry_move($job)");
	is(wait_for_job($node, $again), 'done', "$name: the move can be repeated");
	return;
}

# Starts to move small_a to the other tablespace and stops at a point.
sub move_to_point
{
	my ($point) = @_;
	my $from = tablespaces_of($node, 'small_a');
	my $to = $from eq 'fast' ? 'slow' : 'fast';

	my $job = start_stopped_move($node, $point, 'small_a', $to);
	return ($job, $from, $to);
}

# Ends a move or its worker in that way, or lets it be.
sub end_worker
{
	my ($how, $job) = @_;

	if ($how eq 'terminated')
	{
		my $pid = worker_pid($node, $job);
		$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid, 60000)");
	}
	elsif ($how eq 'cancelled') { $node->safe_psql('postgres', "SELECT cancel_move($job)") }
	elsif ($how eq 'crashed')
	{
		flush_log();
		crash($node);
	}
	return;
}

# Many.  The lock table has room for fewer locks than there are of them.
my $leaves = 1500;
$node->safe_psql('postgres', 'CREATE TABLE p (a int, b int, c int)
	PARTITION BY LIST (a); CREATE INDEX p_c ON p (c)');
$node->safe_psql('postgres', join("\n", map { my $i = $_;
	"CREATE TABLE p$i PARTITION OF p FOR VALUES IN ($i) PARTITION BY LIST (b);\n"
	. join("\n", map { "CREATE TABLE p${i}_$_ PARTITION OF p$i FOR VALUES IN ($_);"
		. " INSERT INTO p${i}_$_ VALUES ($i, $_, 1), ($i, $_, 2);" } 1 .. 50)
	} 1 .. $leaves / 50));
my $where = q{
	SELECT coalesce(s.spcname, 'pg_default'), c.relkind, count(*)
	FROM pg_class c LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
	WHERE c.relname ~ '^p[0-9_]*_c_?i?d?x?$' AND c.relkind IN ('i', 'I')
	GROUP BY 1, 2 ORDER BY 1, 2};
my ($rc, $out, $err) = $node->psql('postgres', qq{
	SELECT count(*) FROM (SELECT pg_advisory_xact_lock(i)
		FROM generate_series(1, $leaves) i) s});
like($err, qr/out of shared memory/, 'the lock table is small enough');
move($node, 'p', 'fast');
is($node->safe_psql('postgres', $where),
	"fast|I|31\nfast|i|$leaves", 'all have moved');
is(files_left(), 0, 'no old file is left when the call returns');
is($node->safe_psql('postgres', q{
		SELECT count(*), bool_and(state = 'done' AND passes = 1
			AND attempts = 1 AND lock_ms > 0 AND lock_wait_ms = 0
			AND bytes_done = 16384 AND percent = 100 AND wal_bytes > 8192
			AND mb_per_s > 0 AND phase IS NULL)
		FROM tablespace_moves WHERE method = 'copy'}),
	"$leaves|t", 'the journal has the figures');
check_btree($node, $_, 'one of many') for 'p1_1_c_idx', 'p17_23_c_idx', 'p30_50_c_idx';

# several workers
configure($node, 'tablespace_advisor.max_workers', '3');
move($node, 'p', 'slow');
is($node->safe_psql('postgres', $where),
	"slow|I|31\nslow|i|$leaves", 'three workers move all');
is($node->safe_psql('postgres', q{
		SELECT count(DISTINCT worker_pid) > 1 FROM tablespace_advisor.job
		WHERE batch_id = (SELECT max(batch_id) FROM tablespace_advisor.job)}),
	't', 'more than one was at work');
is(files_left(), 0, 'no old file is left by any of them');
configure($node, 'tablespace_advisor.max_workers', '1');

# one that is in use is not waited for at once, but goes the ordinary way
my $user = $node->background_psql('postgres');
$user->query_safe('BEGIN; SET enable_seqscan = off; SELECT a FROM small WHERE a = -7');
my $job = start_move($node, 'small_a', 'fast');
wait_until_job($node, $job, "attempts > 0 AND blocked_by IS NOT NULL");
$user->query_safe('COMMIT');
$user->quit;
is(wait_for_job($node, $job), 'done', 'an index in use moves when it is free');
ok(job_field($node, $job, 'attempts') > 1, 'an index in use takes several attempts');
check_btree($node, 'small_a', 'in use');

# every end
my ($from, $to);
for my $how ('terminated', 'cancelled', 'crashed')
{
	($job, $from, $to) = move_to_point('small window');
	end_worker($how, $job);
	is(wait_for_job($node, $job), 'cancelled', "$how in the window") if $how eq 'cancelled';
	# as the server's own DDL, a crash may leave a file without a name
	judge("$how in the window", $job, 'small_a', $from, $to,
		$how eq 'cancelled' ? 'cancelled' : 'failed',
		$how eq 'crashed' ? 1 : 0);

	($job, $from, $to) = move_to_point('small switched');
	end_worker($how, $job);
	if ($how eq 'cancelled')
	{
		release($node);
		wait_for_job($node, $job);
	}
	judge("$how after the switch", $job, 'small_a', $from, $to, 'done',
		$how eq 'crashed' ? 1 : 0);
}

# The old file of a job that is done, kept while the next one is at work.
for my $how ('released', 'terminated', 'crashed')
{
	my ($from, $to) = ('slow', 'fast');

	move($node, 'small', $from);
	my $before = files_left();
	my $first = start_stopped_move($node, 'small switched', 'small', $to);
	stop_at($node, 'small window');
	wait_for_stop($node, 'small window');

	my $second = $first + 1;
	is(job_field($node, $first, 'state'), 'done', "$how: the first is done");
	is(files_left(), $before + 2, "$how: the old file of the first and a new one are there");
	end_worker($how, $second);
	release($node);
	if ($how eq 'released')
	{
		is(wait_for_job($node, $first + 2), 'done', "$how: all are done");
	}
	else
	{
		is(end_state($node, $second), 'failed', "$how: the second failed");
		is(job_field($node, $first, 'state'), 'done', "$how: the first is still done");
		is($node->safe_psql('postgres', "SELECT wait_for_moves(ARRAY[$first + 2])"), 't',
			"$how: another worker goes on with the third");
		is(job_field($node, $first + 2, 'state'), 'done', "$how: the third is done");
	}
	wait_until($node, 'NOT EXISTS (SELECT FROM tablespace_advisor.job WHERE old_filenumbers IS NOT NULL)',
		'old files are removed');
	# the nameless file of the crash in the window stays, as after ALTER
	is(files_left() <= $before + ($how eq 'crashed'), 1, "$how: the old file is gone");
	check_btree($node, $_, $how) for 'small_pkey', 'small_a', 'small_b';
}

# A switch that did not reach the disk: the WAL writer stands still, and with
# it the server goes down.
($job, $from, $to) = move_to_point('small window');
flush_log();					# that a worker has taken the job
my $walwriter = $node->safe_psql('postgres',
	"SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
kill 'STOP', $walwriter;
stop_at($node, 'small switched');
wait_for_stop($node, 'small switched');
is(tablespaces_of($node, 'small_a'), $to, 'the switch is seen');
crash($node, $walwriter);
judge('commit not flushed', $job, 'small_a', $from, $to, 'failed', 3);

check_locks($node, 'in the end');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|signal (?:6|11)\b/,
	'no crash of the server but those that were asked for');

$node->stop;
done_testing();
