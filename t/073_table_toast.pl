# Copyright (c) 2026, The tablespace_advisor developers

# The TOAST table of a table on the move: who reads a value, vacuums it, or
# rebuilds its index meanwhile; and what comes to be, or goes, behind the
# mover's back.

use TsaTest;

my $node = start_node('main', checksums => 1, conf => "wal_level = replica\n");

# A table d with values out of line; autovacuum as these options say.
sub make_table
{
	my ($options) = @_;

	$options //= 'autovacuum_enabled = off, toast.autovacuum_enabled = off';
	$node->safe_psql('postgres', qq{
		DROP TABLE IF EXISTS d;
		CREATE TABLE d (id int PRIMARY KEY, doc text) WITH ($options);
		ALTER TABLE d ALTER doc SET STORAGE EXTERNAL;
		INSERT INTO d SELECT i, ${\document('i')} FROM generate_series(1, 1500) i;
		CREATE INDEX d_left ON d (left(doc, 20))});
	return $node->safe_psql('postgres',
		"SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'd'::regclass");
}

sub check_end
{
	my ($name, $rows) = @_;

	like(places($node, 'd'), qr/^table fast, toast fast, toast index fast,/,
		"$name: all has moved");
	is( digest($node, 'd', 'x.id || x.doc'), $rows, "$name: the rows are right");
	check_moved($node, 'd', 2, $name);
	return;
}

# Somebody in a transaction has read from the table and goes on to read: a
# cursor over documents.  The cutover waits for him, he never waits long.
make_table();
my $rows = digest($node, 'd', 'x.id || x.doc');
my $reader = $node->background_psql('postgres');
$reader->query_safe(q{
	BEGIN;
	DECLARE c CURSOR FOR SELECT id || doc FROM d ORDER BY id;
	FETCH 10 FROM c});
my $job = start_table_move($node, 'd', 'fast', "lock_timeout => '20 ms'");
wait_until_job($node, $job, "attempts >= 3");
# (what the module of 16 returns ends with a line feed)
chomp(my $pid = $reader->query_safe('SELECT pg_backend_pid()'));
is(job_field($node, $job, 'blocked_by'), "{$pid}",
	'a cursor: the journal names who holds it');
like(places($node, 'd'), qr/^table pg_default, toast pg_default/,
	'a cursor: nothing has moved');
chomp(my $fetched = $reader->query_safe(q{
		SET lock_timeout = '5s';
		MOVE FORWARD ALL IN c;
		MOVE ABSOLUTE 750 IN c;
		FETCH 1 FROM c}));
is( $fetched,
	$node->safe_psql('postgres', q{
		SELECT id || doc FROM d ORDER BY id OFFSET 750 LIMIT 1}),
	'a cursor: reads on while the move tries');
$reader->query_safe('COMMIT');
is(wait_for_job($node, $job), 'done', 'a cursor: the move is done after the commit');
check_end('a cursor', $rows);

# Somebody has a lock on the TOAST table alone, and then reads the table.  The
# mover has the table by then and waits for the TOAST table: it gives way.
my $toast = make_table();
$rows = digest($node, 'd', 'x.id || x.doc');
$reader->query_safe("BEGIN; SELECT count(*) FROM $toast");
$job = start_table_move($node, 'd', 'fast', "lock_timeout => '20 ms'");
for my $n (1 .. 3)
{
	wait_until_job($node, $job, "attempts > $n");
	$reader->query_safe("SAVEPOINT s; SET lock_timeout = '5s'; SELECT count(doc) FROM d WHERE id = $n; ROLLBACK TO s");
}
pass('a lock on the TOAST table: its holder reads the table between attempts');
chomp($pid = $reader->query_safe('SELECT pg_backend_pid()'));
is(job_field($node, $job, 'blocked_by'), "{$pid}",
	'a lock on the TOAST table: the journal names the holder');
$reader->query_safe('COMMIT');
is(wait_for_job($node, $job), 'done', 'a lock on the TOAST table: the move is done when it is released');
check_end('a lock on the TOAST table', $rows);
$reader->quit;

# VACUUM of the TOAST table alone, by hand and by autovacuum, so slow that it
# would take minutes.  It delays the cutover and is not cancelled.
for my $who ('VACUUM', 'autovacuum')
{
	my $auto = $who eq 'autovacuum';

	$toast = make_table($auto
		? 'autovacuum_enabled = off, toast.autovacuum_vacuum_threshold = 100,
			toast.autovacuum_vacuum_insert_threshold = 100,
			toast.autovacuum_vacuum_insert_scale_factor = 0,
			toast.autovacuum_vacuum_cost_delay = 50,
			toast.autovacuum_vacuum_cost_limit = 1'
		: undef);
	$node->safe_psql('postgres', 'DELETE FROM d WHERE id % 2 = 0');
	$rows = digest($node, 'd', 'x.id || x.doc');
	my $vacuum = $auto ? undef : start_sql($node, 'vacuum',
		'SET vacuum_cost_delay = 50', 'SET vacuum_cost_limit = 1',
		'SET statement_timeout = 0', "VACUUM $toast");
	wait_until($node, "EXISTS (SELECT FROM pg_stat_progress_vacuum WHERE relid = '$toast'::regclass)", 'a vacuum');
	$pid = $node->safe_psql('postgres', qq{
		SELECT pid FROM pg_stat_progress_vacuum
		WHERE relid = '$toast'::regclass});
	$job = start_table_move($node, 'd', 'fast');
	wait_until_job($node, $job, "blocked_by = '{$pid}'");
	is(job_field($node, $job, 'phase'), 'waiting for lock',
		"$who of TOAST: the move waits for it");
	is( $node->safe_psql('postgres', qq{
			SELECT pid FROM pg_stat_progress_vacuum
			WHERE relid = '$toast'::regclass}),
		$pid, "$who of TOAST: the vacuum goes on");
	is(job_field($node, $job, 'state'), 'running', "$who of TOAST: the move runs beside it");
	unlike(slurp_file($node->logfile),
		qr/automatic vacuum of table "postgres.pg_toast/,
		"$who of TOAST: nobody cancelled one");

	# now it is cancelled: this waits for it for longer than deadlock_timeout
	$node->safe_psql('postgres', $auto
		? 'ALTER TABLE d SET (toast.autovacuum_enabled = off)'
		: "SELECT pg_cancel_backend($pid)");
	finish_sql($vacuum) if $vacuum;
	wait_for_job($node, $job);
	is(job_field($node, $job, 'state'), 'done', "$who of TOAST: the move is done behind it");
	$node->safe_psql('postgres', "VACUUM $toast") if !$auto;
	check_end("$who of TOAST", $rows);
}

# A TOAST table that comes to be, and one that is replaced, while the heap's
# storage stays what it was.
for my $point ('copied', 'fsm copied')
{
	my $name = "a TOAST table made at '$point'";

	$node->safe_psql('postgres', q{
		DROP TABLE d;
		CREATE TABLE d (id int PRIMARY KEY);
		INSERT INTO d SELECT generate_series(1, 1000)});
	$job = start_stopped_table_move($node, $point, 'd', 'fast');
	my $filenode = $node->safe_psql('postgres', "SELECT pg_relation_filenode('d')");
	my $session = start_sql($node, 'add', 'ALTER TABLE d ADD doc text',
		"UPDATE d SET doc = ${\document('id')} WHERE id < 100",
		"SELECT pg_relation_filenode('d') = $filenode OR reltablespace <> 0 FROM pg_class WHERE relname = 'd'");
	ok(is_waiting($session), "$name: ALTER TABLE waits for the mover");
	release($node);
	is(finish_sql($session), '', "$name: ALTER TABLE gets through");
	is($session->{out}, "t\n", "$name: ALTER TABLE has rewritten nothing");
	is(wait_for_job($node, $job), 'done', "$name: the move is done");
	$node->safe_psql('postgres', 'CREATE INDEX ON d (id)');
	check_end($name, digest($node, 'd', 'x.id || x.doc'));
	is($node->safe_psql('postgres', "SELECT sum(length(doc)) > 200000 FROM d"),
		't', "$name: values are there");
}

# The TOAST index alone.
for my $sql ('REINDEX INDEX', 'REINDEX INDEX CONCURRENTLY', 'REINDEX TABLE',
	'REINDEX TABLE CONCURRENTLY')
{
	for my $point ('copied', 'fsm copied', 'window')
	{
		my $name = "$sql of TOAST at '$point'";

		$toast = make_table();
		$rows = digest($node, 'd', 'x.id || x.doc');
		my $what = $sql =~ /INDEX INDEX/ ? "${toast}_index" : $toast;
		$job = start_stopped_table_move($node, $point, 'd', 'fast', 'with_indexes => true');
		my $session = start_sql($node, 'reindex', "$sql $what");
		is_waiting($session);
		release($node);
		is(finish_sql($session), '', "$name: the statement gets through");
		is(wait_for_job($node, $job), 'done', "$name: the move is done")
		  or diag(job_field($node, $job, 'error'));
		check_end($name, $rows);
	}
}

# Values that are stored, changed and dropped behind the copy.
make_table();
for my $point ('copied', 'fsm copied')
{
	my $to = $point eq 'copied' ? 'slow' : 'fast';

	$job = start_stopped_table_move($node, $point, 'd', $to);
	$node->safe_psql('postgres', qq{
		UPDATE d SET doc = ${\document('id + 7')} WHERE id % 5 = 0;
		UPDATE d SET doc = left(doc, 100) WHERE id % 5 = 1;
		DELETE FROM d WHERE id % 5 = 2;
		INSERT INTO d SELECT (SELECT max(id) FROM d) + i, ${\document('i')}
			FROM generate_series(1, 500) i;
		BEGIN;
		UPDATE d SET doc = doc || doc WHERE id % 5 = 3;
		ROLLBACK;
		VACUUM (FREEZE, TRUNCATE false) d;
		UPDATE d SET doc = doc || '.' WHERE id % 5 = 4});
	$rows = digest($node, 'd', 'x.id || x.doc');
	release($node);
	is(wait_for_job($node, $job), 'done', "values changed at '$point': done");
	check_end("values changed at '$point'", $rows) if $to eq 'fast';
	check_heap($node, 'd', "values changed at '$point'");
	is(digest($node, 'd', 'x.id || x.doc'), $rows, "values changed at '$point'");
}

# VACUUM must not truncate what is being copied, and does so afterwards.
for my $point ('copied', 'fsm copied')
{
	my $name = "VACUUM with an empty end at '$point'";

	make_table();
	$job = start_stopped_table_move($node, $point, 'd', 'fast', 'with_indexes => true');
	$node->safe_psql('postgres', 'DELETE FROM d WHERE id > 50');
	my $size = $node->safe_psql('postgres', "SELECT pg_table_size('d')");
	is(finish_sql(start_sql($node, 'vacuum', 'VACUUM d')), '',
		"$name: VACUUM does not wait for the move");
	$rows = digest($node, 'd', 'x.id || x.doc');
	release($node);
	is(wait_for_job($node, $job), 'done', "$name: the move is done");
	check_end($name, $rows);
	$node->safe_psql('postgres', 'INSERT INTO d VALUES (0); DELETE FROM d WHERE id = 0; VACUUM d');
	cmp_ok($node->safe_psql('postgres', "SELECT pg_table_size('d')"), '<',
		$size, "$name: VACUUM truncates when the move is done");
	check_end("$name, and truncated", $rows);
}

check_log($node, 'TOAST', qr/canceling statement due to user request/);
check_checksums($node, 'in the end');
done_testing();
