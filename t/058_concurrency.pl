# Copyright (c) 2026, The tablespace_advisor developers

# Moves at the same time: calls of several sessions for different tables and for
# the same one, several workers of one call, and somebody else who fills the
# target up in the middle of a copy.

use TsaTest;

# --- helpers ------------------------------------------------------------------

my $node;

# Begins a statement in a session of its own.
sub begin_statement
{
	my ($sql) = @_;
	my $s = session($node);

	send_to($s, "$sql;");
	return $s;
}

# Waits for its end; false if it failed.
sub end_statement
{
	my ($s) = @_;

	answer($s);
	end_session($s);
	return $s->{err} !~ /ERROR/;
}

sub query
{
	my ($sql) = @_;
	return $node->safe_psql('postgres', $sql);
}

# Relations and their tablespaces.
sub places_of
{
	return query(q{
		SELECT string_agg(c.relname || ' in ' || coalesce(s.spcname, 'pg_default'),
			', ' ORDER BY c.relname)
		FROM pg_class c LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE c.relname IN (} . join(', ', map { "'$_'" } @_) . ')');
}

# Jobs of the latest batch, each with its state.
sub states
{
	return query(q{
		SELECT string_agg(relation_name || ' ' || state, ', ' ORDER BY job_id)
		FROM tablespace_advisor.job
		WHERE batch_id = (SELECT max(batch_id) FROM tablespace_advisor.job)});
}

# --- calls of several sessions --------------------------------------------------

$node = start_node('concurrency', conf => 'autovacuum = off');
for my $table (qw(x y))
{
	query(qq{
		CREATE TABLE $table (id int CONSTRAINT ${table}_pkey PRIMARY KEY, v text);
		INSERT INTO $table SELECT i, md5(i::text) FROM generate_series(1, 20000) i;
		CREATE INDEX ${table}_v ON $table (v);
		VACUUM $table});
}

stop_at($node, 'copied');
my $x = begin_statement("CALL move_table_concurrently('x', 'fast', with_indexes => true)");
my $y = begin_statement("CALL move_table_concurrently('y', 'fast', with_indexes => true)");
wait_for_stops($node, 2, 'copied');
is( query(q{
		SELECT string_agg(relation_name || ' ' || state, ', ' ORDER BY relation_name),
			count(DISTINCT worker_pid), count(DISTINCT batch_id)
		FROM tablespace_advisor.job}),
	'x running, y running|2|2', 'two calls for two tables run at the same time');

# the same table, and what belongs to it
for my $call (
	q{move_table_concurrently('x', 'slow')},
	q{move_table_concurrently('x', 'fast', with_indexes => true)},
	q{move_indexes_concurrently('x', 'slow')},
	q{move_indexes_concurrently('x_v', 'slow', method => 'rebuild')})
{
	my $s = begin_statement("CALL $call");

	ok(!end_statement($s), "refused while x moves: $call");
	like($s->{err}, qr/ERROR:  55006: .*is being moved already/, "the refusal says why: $call");
}
is(query('SELECT count(*) FROM tablespace_moves'), '2', 'nothing was queued');
is(query("UPDATE x SET v = v || 'x' WHERE id % 100 = 0 RETURNING 1") =~ tr/1//,
	200, 'clients are not disturbed');
release($node);
ok(end_statement($_), 'a call ends well') || diag $_->{err} for $x, $y;
is( places_of(qw(x x_pkey x_v y y_pkey y_v)),
	'x in fast, x_pkey in fast, x_v in fast, y in fast, y_pkey in fast, y_v in fast',
	'both tables have moved');
check_btree($node, $_, 'two calls') for qw(x_pkey x_v y_pkey y_v);

# Both in the middle of queueing: the journal is locked, so that one has the
# lock of the table and waits for the journal, the other waits behind.
my $blocker = begin_statement(q{
	BEGIN; LOCK TABLE tablespace_advisor.job IN SHARE MODE; SELECT 'locked'});
$blocker->{run}->pump until $blocker->{out} =~ /locked/;
my @calls = map { begin_statement("CALL move_table_concurrently('x', '$_')") }
  qw(slow pg_default);
my $waiting = q{SELECT count(*) FROM pg_stat_activity WHERE query ~ '^CALL move_table' AND};
wait_until($node, "($waiting wait_event_type = 'Lock') = 2", 'both calls wait');
$blocker->{in} .= "COMMIT;\n";
# the move of the first does not end before the second is refused
stop_at($node, 'copied');
ok(end_statement($blocker), 'the journal is free');
wait_for_stop($node, 'copied');
wait_until($node, "($waiting state = 'active') = 1", 'a call ends');
release($node);
my @ended = map { end_statement($_) ? 1 : 0 } @calls;
is(join('', sort @ended), '01', 'one of two calls at the same moment is refused');
like($calls[ $ended[0] ? 1 : 0 ]->{err}, qr/ERROR:  55006: .*is being moved already/,
	'the one of two calls says why it is refused');
is(places_of('x'), 'x in ' . ($ended[0] ? 'slow' : 'pg_default'),
	'the other has moved the table');
is(query("SELECT count(*) FROM tablespace_moves WHERE state <> 'done'"), '0',
	'nothing is left queued');
wait_for_workers($node);
check_orphans($node, 'calls');
check_locks($node, 'calls');

# --- several workers of one call ----------------------------------------------------

query(q{
	CREATE TABLE z (id int CONSTRAINT z_1 PRIMARY KEY, v text);
	INSERT INTO z SELECT i, md5(i::text) FROM generate_series(1, 20000) i;
	CREATE INDEX z_2 ON z (v);
	CREATE INDEX z_3 ON z (v, id);
	CREATE INDEX z_4 ON z USING hash (v);
	CREATE INDEX z_5 ON z (id, v)});
my $running = q{
	FROM tablespace_advisor.job j JOIN pg_stat_activity a ON a.pid = j.worker_pid
	WHERE j.state = 'running' AND a.query = 'live copy stopped at: copied'};
stop_at($node, 'copied');
my $ids = query(q{
	SET tablespace_advisor.max_workers = 3;
	CALL move_indexes_concurrently('z', 'fast', wait => false)});
my ($first) = $ids =~ /^\{(\d+)/;
wait_for_stops($node, 3, 'copied');
is(query("SELECT count(*), count(DISTINCT job_id), count(DISTINCT worker_pid), count(DISTINCT relation) $running"),
	'3|3|3|3', 'three workers copy three indexes');
is(query("SELECT state, count(*) FROM tablespace_moves WHERE job_id >= $first GROUP BY 1 ORDER BY 1"),
	"queued|2\nrunning|3", 'the others wait');

my ($victim, $pid) = split /\|/, query("SELECT job_id, worker_pid $running ORDER BY job_id LIMIT 1");
my $others = "SELECT job_id, worker_pid $running AND worker_pid <> $pid ORDER BY 1";
my $before = query($others);
is(query("SELECT cancel_move($victim)"), 't', 'one of them is cancelled');
is(wait_for_job($node, $victim), 'cancelled', 'the cancelled job ends');
wait_for_stops($node, 3, 'copied');
is(query($others), $before, 'the two others go on');
is(query("SELECT count(DISTINCT job_id), count(DISTINCT relation), bool_or(worker_pid = $pid), bool_or(job_id = $victim) $running"),
	'3|3|t|f', 'the worker of the cancelled job has claimed another index');
is(query("SELECT cancel_move($victim)"), 'f', 'a cancelled job cannot be cancelled');
release($node);
wait_for_workers($node);
is(query("SELECT state, count(*) FROM tablespace_moves WHERE job_id >= $first GROUP BY 1 ORDER BY 1"),
	"cancelled|1\ndone|4", 'four of five indexes have moved');
is( query(qq{
		SELECT count(*) FROM tablespace_moves m JOIN pg_class c ON c.oid = m.relation
			LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE job_id >= $first
			AND (s.spcname IS NOT DISTINCT FROM 'fast') <> (state = 'done')}),
	'0', 'those and no others are in the new place');
check_btree($node, $_, 'several workers') for qw(z_1 z_2 z_3 z_5);
check_orphans($node, 'several workers');
check_locks($node, 'several workers');
check_log($node, 'concurrency', qr/is being moved already|canceling statement due to user request|could not move/);
$node->stop;

# --- the target fills up -------------------------------------------------------------

# A file system of 32 MB, of which a copy takes up to 20, mounted where only this server sees it.
my $small = PostgreSQL::Test::Utils::tempdir;
my @alone = with_small_file_system($small, 32);

# What a move that ran out of space must leave behind: nothing.
sub check_untouched
{
	my ($name, $place) = @_;

	is(places_of(qw(big big_a big_b)), $place, "$name: all is where it was");
	check_orphans($node, $name);
	is(query(q{
			SELECT f FROM pg_tablespace s,
				pg_ls_dir('pg_tblspc/' || s.oid, true, false) v,
				pg_database d,
				pg_ls_dir('pg_tblspc/' || s.oid || '/' || v || '/' || d.oid, true, false) f
			WHERE s.spcname = 'small' AND d.datname = current_database()}),
		'', "$name: no file is in the target");
	check_btree($node, $_, $name) for qw(big_a big_b);
	is(query("SELECT * FROM verify_heapam('big', check_toast => true)"),
		'', "$name: the table is whole");
	return;
}

# Moves; at a point of the copy another table takes all that is free in the
# target, and the relations grow by rows that go behind all the others.
sub fill_up
{
	my ($name, $call, $point, $rows, $error) = @_;
	my $place = places_of(qw(big big_a big_b));
	my $err = '';

	query(q{CREATE TABLE hog (a text) TABLESPACE small;
		ALTER TABLE hog ALTER a SET STORAGE plain});
	stop_at($node, $point);
	my ($job) = query("CALL $call") =~ /^\{(\d+)/;
	wait_for_stop($node, $point);
	$node->psql('postgres', q{
		INSERT INTO hog SELECT repeat('x', 8000) FROM generate_series(1, 6000)},
		stderr => \$err);
	like($err, qr/No space left on device/, "$name: somebody fills it up");
	query(qq{
		INSERT INTO big SELECT i, 'z' || to_char(i, 'FM000000000') || repeat('z', 300)
		FROM generate_series((SELECT max(a) + 1 FROM big),
			(SELECT max(a) + $rows FROM big)) i});
	my $content = query('SELECT count(*), sum(hashtextextended(big::text, 0)::numeric) FROM big');
	release($node);
	is(wait_for_job($node, $job), 'failed', "$name: the move fails");
	is(query("SELECT sqlstate FROM tablespace_advisor.job WHERE job_id = $job"),
		'53100', "$name: the journal has the error of the disk");
	like(job_field($node, $job, 'error'), $error, "$name: the error of the job says why");
	wait_for_workers($node);
	is(query('SELECT count(*), sum(hashtextextended(big::text, 0)::numeric) FROM big'),
		$content, "$name: the rows are there");
	query('DROP TABLE hog');
	check_untouched($name, $place);
	check_locks($node, $name);

	# with room it works
	my $again = query("SELECT retry_move($job)");
	is(wait_for_job($node, $again), 'done', "$name: the move can be repeated");
	wait_for_workers($node);
	check_btree($node, $_, "$name, repeated") for qw(big_a big_b);
	is(query('SELECT count(*), sum(hashtextextended(big::text, 0)::numeric) FROM big'),
		$content, "$name: the rows have moved");
	return;
}

SKIP:
{
	skip 'cannot mount a small file system in a name space of its own', 1
	  unless @alone;

	$node = new_node('full', conf => qq(
autovacuum = off
wal_level = replica
shared_buffers = 64MB
restart_after_crash = off
));
	start_by($node, @alone);
	prepare_node($node);
	query("CREATE TABLESPACE small LOCATION '$small'");
	query(q{
		CREATE TABLE big (a int, b text);
		INSERT INTO big SELECT i, repeat(md5(i::text), 9) FROM generate_series(1, 5000) i;
		CREATE INDEX big_a ON big (a);
		CREATE INDEX big_b ON big (b)});

	# Before the first block is copied; in a pass that follows the first one; just
	# before the lock.  The look that a copy takes several times a second sees it,
	# unless the write is first: blocks are collected before they are written.
	my $seen = qr/not enough space in tablespace "small"|No space left on device/;
	for my $case (
		[ 'storage created', 10, $seen ],
		[ 'copied', 3000, $seen ],
		[ 'fsm copied', 150, $seen ])
	{
		my ($point, $rows, $full) = @$case;

		fill_up("index, '$point'",
			q{move_indexes_concurrently('big_b', 'small', wait => false)},
			$point, $rows, $full);
		move($node, 'big_b', 'pg_default');
		fill_up("table, '$point'",
			q{move_table_concurrently('big', 'small', wait => false)},
			$point, $rows, $full);
		query("CALL move_table_concurrently('big', 'pg_default')");
		fill_up("table with indexes, '$point'",
			q{move_table_concurrently('big', 'small', with_indexes => true, wait => false)},
			$point, $rows, $full);
		query("CALL move_table_concurrently('big', 'pg_default', with_indexes => true)");
		query('DELETE FROM big WHERE a > 5000');
		query('VACUUM FULL big');
	}
	check_log($node, 'full', $seen);
	$node->stop;
}

done_testing();
