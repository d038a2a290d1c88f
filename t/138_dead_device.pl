# Copyright (c) 2026, The tablespace_advisor developers

# A device that dies, or gets slow, in the middle of a move: the target while
# blocks are copied, the old one after the cutover, for all calls from some
# moment on.  The server goes on, the journal keeps what cannot be reached in
# mind, other moves are not in the way, and once the device is back nothing is
# left.  A failed sync, truncation, unlink, write-back, read of the source; a full
# pg_wal; a target, or pg_wal, that takes its time to sync.

use Errno qw(EIO ENODATA ENOSPC EROFS);
use TsaFaults;
use TsaTest;

my $node = new_faulty_node('dead');

$node->safe_psql('postgres', q{
	CREATE TABLE t (a int, b text) TABLESPACE slow;
	INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 5000) i;
	CREATE UNIQUE INDEX t_a ON t (a) TABLESPACE slow;
	CREATE INDEX t_b ON t (b, a) TABLESPACE slow;
	CREATE TABLE other (a int PRIMARY KEY);
	INSERT INTO other SELECT generate_series(1, 20000);
	-- one row to a page: longer than what is dropped at one go
	CREATE TABLE large (a int PRIMARY KEY, b text) WITH (fillfactor = 10) TABLESPACE slow;
	INSERT INTO large SELECT i, repeat('x', 700) FROM generate_series(1, 4600) i;
	CHECKPOINT});
my $content = digests($node, 't');
my $large = digests($node, 'large');

sub index_statement
{
	my ($index, $to) = @_;
	return "CALL move_indexes_concurrently('$index', '$to')";
}

sub table_statement
{
	my ($table, $to) = @_;
	return "CALL move_table_concurrently('$table', '$to')";
}

sub other_tablespace
{
	my ($relation) = @_;
	return place_of($node, $relation) eq 'slow' ? 'fast' : 'slow';
}

sub last_job
{
	my ($columns) = @_;
	return $node->safe_psql('postgres',
		"SELECT $columns FROM tablespace_advisor.job ORDER BY job_id DESC LIMIT 1");
}

sub panics
{
	my @panics = slurp_file($node->logfile) =~ /PANIC:/g;
	return scalar @panics;
}

sub restart
{
	my (@conf) = @_;
	$node->append_conf('postgresql.conf', $_) foreach @conf;
	$node->stop;
	start_faulty($node, 'start');
	return;
}

# --- the target dies while blocks are copied -------------------------------------------

foreach my $case ([ 't_b', \&index_statement ], [ 't', \&table_statement ])
{
	my ($relation, $statement) = @$case;
	my $from = place_of($node, $relation);
	my $to = other_tablespace($relation);

	# what the server has to unlink there, it would forget
	$node->safe_psql('postgres', 'CHECKPOINT');
	# from 17 on there are few of them, of many blocks each
	fail_calls(calls => ['write'], dead => 1, nth => 2, path => target_path($node, $to));
	my $err = psql_verbose($node, $statement->($relation, $to));
	like($err, qr/^ERROR:  58030: could not move public\.\w+: could not (?:extend file|write blocks?).*Input\/output error$/m,
		"$relation: the target dies, and the move says so");
	like($err, qr/^WARNING:  58030: could not remove file ".*" that a move has left: Input\/output error$/m,
		"$relation: the target dies, and a warning says that the copy stays");
	is(last_job("state || ' ' || (new_filenumbers IS NOT NULL)::text"), 'failed true',
		'the journal names the copy');
	is(place_of($node, $relation), $from, "$relation: the target dies, and the relation is where it was");
	is(digests($node, 't'), $content, "$relation: the target dies, and the rows are as before");

	# meanwhile
	unlike(psql_verbose($node, index_statement('other_pkey', $from)), qr/ERROR/, 'another move works');
	$node->safe_psql('postgres', index_statement('other_pkey', 'pg_default'));
	$err = psql_verbose($node, $statement->($relation, $to));
	like($err, qr/^ERROR:  58030: could not move/m, 'a retry fails while it is dead');
	isnt(named_files($node), '0', 'what is left is named');
	my (undef, undef, $why) = $node->psql('postgres', 'DROP EXTENSION tablespace_advisor');
	like($why, qr/while a move has files to remove/, 'files that are left keep the extension from being dropped');

	is(psql_verbose($node, 'CHECKPOINT'), '', 'a checkpoint works');

	# it is back
	stop_failing();
	$node->safe_psql('postgres', 'SELECT cancel_move(1)');
	is(named_files($node), '0', 'the device is back: nothing is named any more');
	check_orphans($node, "$relation: a target that was dead");
	is(psql_verbose($node, $statement->($relation, $to)), '', 'the move works');
	is(place_of($node, $relation), $to, 'the move has moved it');
	check_orphans($node, "$relation: moved after all");
	# queries look at every index
	$node->safe_psql('postgres', $statement->($relation, $from));
}

# While the copies of a table and its TOAST table are made: the abort of that
# transaction cannot delete the first.  The reason is told all the same; what is
# left is empty, as of any CREATE.  (The server aborts a second time then, as for
# any CREATE, which one of its assertions does not allow.)
SKIP:
{
	skip 'the server has assertions', 4
	  if $node->safe_psql('postgres', 'SHOW debug_assertions') eq 'on';
	my $to = other_tablespace('t');

	$node->safe_psql('postgres', 'CHECKPOINT');
	fail_calls(calls => ['open'], dead => 1, nth => 2, path => target_path($node, $to));
	like(psql_verbose($node, table_statement('t', $to)),
		qr/^ERROR:  58030: could not move public\.t: could not create file/m,
		'the target dies while files are created');
	stop_failing();
	is(last_job('state'), 'failed', 'the job has failed');
	is($node->safe_psql('postgres', 'CHECKPOINT; SELECT coalesce(sum(size), 0) FROM tsa_orphans() f, pg_stat_file(f)'), '0',
		'what is left is empty');
	unlink map { $node->data_dir . "/$_" } split /\n/, $node->safe_psql('postgres', 'SELECT tsa_orphans()');
	is(psql_verbose($node, table_statement('t', $to)), '', 'the move works');
}

# --- the old device dies after the cutover ------------------------------------------------

# Truncating the old file must not fail inside a critical section: a PANIC.
foreach my $relation (qw(t large))
{
	my $from = place_of($node, $relation);
	my $to = other_tablespace($relation);

	$node->safe_psql('postgres', "CHECKPOINT; UPDATE $relation SET b = b");
	my $file = $node->safe_psql('postgres', "SELECT pg_relation_filepath('$relation')");
	my $before = digests($node, $relation);
	my $job = start_stopped_table_move($node, 'switched', $relation, $to);
	fail_calls(calls => [qw(write truncate open unlink)], from_on => 1, nth => 1, error => EROFS,
		path => $file);
	release($node);
	is(wait_for_job($node, $job), 'done', "$relation: the old device dies, and the move is done");
	is(named_files($node), '1', 'the journal names the old files');
	is(place_of($node, $relation), $to, "$relation: the old device dies, and the relation is in its new place");
	is(digests($node, $relation), $before, "$relation: the old device dies, and the rows are as before");
	is(psql_verbose($node, 'CHECKPOINT'), '', 'a checkpoint works');
	like(psql_verbose($node, 'SELECT cancel_move(1)'),
		qr/^WARNING:  \w+: could not remove file ".*" that a move has left: Read-only file system\n.*HINT:  /m,
		'the next call warns');
	is(psql_verbose($node, q{SELECT wait_for_moves('{1}')}) =~ /ERROR/ ? 1 : 0, 0, 'the call that warns goes on');

	stop_failing();
	$node->safe_psql('postgres', 'SELECT cancel_move(1)');
	is(named_files($node), '0', 'the device is back: nothing is named any more');
	check_orphans($node, "$relation: an old device that was dead");
}
is(panics(), 0, 'no PANIC so far');

# One failing truncation of the old file; one failing sync of what is left of it.
foreach my $call (qw(truncate sync))
{
	my $from = place_of($node, 'large');
	my $to = other_tablespace('large');
	my $before = digests($node, 'large');

	fail_calls(calls => [$call], nth => 1, path => target_path($node, $from));
	my $err = psql_verbose($node, table_statement('large', $to));
	is((stop_failing())[1], 1, "large: a $call of the old file fails");
	unlike($err, qr/ERROR/, 'the move is done');
	is(place_of($node, 'large') . ' ' . digests($node, 'large'), "$to $before", "large: a $call of the old file fails, and all of the table has moved");
	$node->safe_psql('postgres', 'SELECT cancel_move(1)');
	check_orphans($node, "large: a failed $call");
}
is(panics(), 0, 'no PANIC of that');

# Not mounted: the directory is there, and empty.  Since the old file was
# shortened for the last time, before that is synced; since then, before it is
# dropped; and before the old file of a small index is, which is kept for later.
$node->safe_psql('postgres', 'CREATE INDEX t_few ON t (a) WHERE a < 100');
foreach my $case (
	[ 'large', 'old file shortened' ], [ 't_b', 'old file truncated' ], [ 't_few', 'small switched' ])
{
	my ($relation, $point) = @$case;
	my $to = other_tablespace($relation);
	my $statement = $relation eq 'large' ? table_statement($relation, $to) : index_statement($relation, $to);

	if ($relation eq 't_few')
	{
		$node->safe_psql('postgres', $statement);
		$statement = index_statement($relation, $to = other_tablespace($relation));
	}
	my $from = place_of($node, $relation);
	my $oid = $node->safe_psql('postgres', "SELECT oid FROM pg_tablespace WHERE spcname = '$from'");
	my ($version) = glob($node->data_dir . "/pg_tblspc/$oid/PG_*");

	stop_at($node, $point);
	my ($job) = $node->safe_psql('postgres', $statement =~ s/\)$/, wait => false)/r) =~ /(\d+)/;
	wait_for_stop($node, $point);
	rename $version, "$version.away" or die $!;
	release($node);
	is(wait_for_job($node, $job), 'done', "$relation, $point: the old file system is not mounted: done");
	wait_for_workers($node);
	is(named_files($node), '1', 'a file that is not there is not forgotten');
	rename "$version.away", $version or die $!;
	$node->safe_psql('postgres', 'SELECT cancel_move(1)');
	is(named_files($node), '0', 'mounted again: nothing is named any more');
	check_orphans($node, "$relation, $point: not mounted");
}

# --- unlink ------------------------------------------------------------------------------

# The server's: what remains is what it leaves of any DROP, an empty file.
{
	my $from = place_of($node, 't_b');

	fail_calls(calls => ['unlink'], from_on => 1, nth => 1, path => target_path($node, $from));
	is(psql_verbose($node, index_statement('t_b', other_tablespace('t_b'))), '', 'unlink fails: the move works');
	$node->safe_psql('postgres', 'CHECKPOINT');
	stop_failing();
	is($node->safe_psql('postgres', 'SELECT sum(size) FROM tsa_orphans() f, pg_stat_file(f)'), '0',
		'an empty file is left');
	unlink map { $node->data_dir . "/$_" } split /\n/, $node->safe_psql('postgres', 'SELECT tsa_orphans()');
	check_orphans($node, 'unlinked');
}

# --- the source cannot be read ---------------------------------------------------------------

# (from 17 on one reads 16 blocks)
foreach my $nth (1, 2)
{
	my $to = other_tablespace('t_b');

	restart();
	fail_calls(calls => ['read'], nth => $nth, path => target_path($node, place_of($node, 't_b')));
	like(psql_verbose($node, index_statement('t_b', $to)),
		qr/^ERROR:  58030: could not move public\.t_b: could not read blocks? \d+.*Input\/output error/m,
		"read $nth of the source fails");
	is((stop_failing())[1], 1, "read $nth of the source was made to fail");
	is(last_job('state'), 'failed', 'the job says so');
	check_orphans($node, 'a source that cannot be read');
	is(psql_verbose($node, index_statement('t_b', $to)), '', 'a second move works');
}

# A part that is not the main fork, and an answer that the server does not know: the
# error said that the main fork was damaged, and to restore the table; XX000.  Reads of
# the main fork of an index, with EIO, were all that had failed before.
$node->safe_psql('postgres', 'VACUUM t');
foreach my $case (
	[ '_vm', EIO, 'visibility map', 'Nothing is lost' ], [ '_fsm', EIO, 'free space map', 'Nothing is lost' ],
	[ '', ENODATA, 'main fork', 'Restore the table' ])
{
	my ($suffix, $error, $part, $hint) = @$case;
	my $to = other_tablespace('t');
	my $path = $node->safe_psql('postgres', q{SELECT pg_relation_filepath('t')}) . $suffix;

	restart();
	my $logged = -s $node->logfile;
	fail_calls(calls => ['read'], nth => 1, from_on => 1, error => $error, path => $path);
	like(psql_verbose($node, table_statement('t', $to)),
		qr/^ERROR:  58030: could not move public\.t: could not read block.*\nDETAIL:  It is in the $part of table "t", file "$path"/m,
		"the $part of the source cannot be read");
	like(slurp_file($node->logfile, $logged), qr/HINT:  $hint/, "$part: a hint in the server's log");
	stop_failing();
	check_orphans($node, "a source whose $part cannot be read");
	is(psql_verbose($node, table_statement('t', $to)), '', "$part: a second move works");
}

# The index that a rebuild replaces cannot be opened: the server would drop it after the
# commit, which was a PANIC.  Other tests of rebuilds had devices of the target fail.
{
	my $panics = panics();

	$node->safe_psql('postgres', q{
		CREATE UNLOGGED TABLE u (a int);
		INSERT INTO u SELECT generate_series(1, 1000);
		CREATE INDEX u_a ON u (a) TABLESPACE slow});
	my $path = $node->safe_psql('postgres', q{SELECT pg_relation_filepath('u_a')});
	restart();
	fail_calls(calls => ['open'], nth => 1, from_on => 1, path => $path);
	like(psql_verbose($node, index_statement('u_a', 'fast')),
		qr/^ERROR:  58030: could not move public\.u_a: could not open file "$path"/m,
		'an index that cannot be opened is not rebuilt');
	stop_failing();
	is(panics() - $panics, 0, 'an index that cannot be opened: no PANIC');
	is(psql_verbose($node, index_statement('u_a', 'fast')), '', 'once it can be opened, it is rebuilt');
	$node->safe_psql('postgres', 'DROP TABLE u');
}

# --- a sync fails ------------------------------------------------------------------------------

$content = digests($node, 't');
foreach my $retry (qw(off on))
{
	my $to = other_tablespace('t_b');
	my $from = place_of($node, 't_b');
	my $before = panics();

	restart("data_sync_retry = $retry");
	my $job = start_stopped_move($node, 'copied', 't_b', $to);
	my $checkpointer = checkpointer_pid($node);
	fail_calls(calls => ['sync'], nth => 1, path => target_path($node, $to));
	my (undef, undef, $err) = $node->psql('postgres', 'CHECKPOINT');
	is((stop_failing())[1], 1, "data_sync_retry = $retry: a sync of the copy fails");
	if ($retry eq 'off')
	{
		wait_for_restart($node, $checkpointer);
		is(panics() - $before, 1, 'a PANIC, as with any file');
		release($node);
		is(end_state($node, $job), 'failed', 'the job has failed');
		is(place_of($node, 't_b'), $from, 'the index is where it was');
	}
	else
	{
		like($err, qr/checkpoint request failed/, 'the checkpoint fails');
		release($node);
		is(wait_for_job($node, $job), 'done', 'the move goes on');
		is(panics() - $before, 0, 'no PANIC');
	}
	check_orphans($node, "a failed sync, data_sync_retry = $retry");
	is(digests($node, 't'), $content, 'nothing is lost');
	is(psql_verbose($node, index_statement('t_b', $to)), '', 'a second move works') if $retry eq 'off';
}

# --- writing back fails --------------------------------------------------------------------------

# What the server does with it, where it asks for it as of any file (a PANIC, or
# with data_sync_retry a warning; the sync says more), and what the move does,
# where it waits for it: it fails, and drops the copy.
foreach my $retry (qw(off on))
{
	my $to = other_tablespace('large');
	my $before = digests($node, 'large');
	my $panics = panics();

	restart("data_sync_retry = $retry");
	my $checkpointer = checkpointer_pid($node);
	fail_calls(calls => ['writeback'], nth => 1, path => target_path($node, $to));
	my (undef, undef, $err) = $node->psql('postgres',
		"CALL move_table_concurrently('large', '$to', max_rate => 'unlimited')");
	is((stop_failing())[1], 1, "data_sync_retry = $retry: writing a copy back fails");
	if ($retry eq 'off')
	{
		wait_for_restart($node, $checkpointer);
		is(panics() - $panics, 1, 'a PANIC, as with any file');
		$node->safe_psql('postgres', 'SELECT cancel_move(1)');
		is(last_job('state'), 'failed', 'the job has failed');
	}
	else
	{
		is(panics() - $panics, 0, 'no PANIC');
		is(last_job('state'), 'done', 'the move goes on') or diag $err;
	}
	is(digests($node, 'large'), $before, 'nothing is lost');
	check_orphans($node, "writing back, data_sync_retry = $retry");
}
{
	my $to = other_tablespace('t_b');
	my $panics = panics();

	restart('data_sync_retry = off');
	fail_calls(calls => ['writeback'], nth => 2, path => target_path($node, $to));
	like(psql_verbose($node, "CALL move_indexes_concurrently('t_b', '$to', max_rate => '1 MB')"),
		qr/^ERROR:  58030: could not move public\.t_b: could not write back the file of a copy: Input\/output error/m,
		'a move that waits for writing back fails');
	is((stop_failing())[1], 1, 'where that fails');
	is(panics() - $panics, 0, 'no PANIC');
	is(last_job('state'), 'failed', 'the job has failed');
	check_orphans($node, 'waiting for writing back');
	is(psql_verbose($node, index_statement('t_b', $to)), '', 'a second move works');
}

# --- pg_wal is full -------------------------------------------------------------------------------

{
	my $to = other_tablespace('large');
	my $before = digests($node, 'large');
	my $panics = panics();
	my $checkpointer = checkpointer_pid($node);

	fail_calls(calls => ['write'], nth => 20, error => ENOSPC, path => '/pg_wal/');
	$node->psql('postgres', table_statement('large', $to));
	wait_for_restart($node, $checkpointer);
	is((stop_failing())[1], 1, 'a write to pg_wal fails');
	is(panics() - $panics, 1, 'a PANIC, as of any writer');
	$node->safe_psql('postgres', 'SELECT cancel_move(1)');
	is(last_job('state'), 'failed', 'the job has failed');
	is(digests($node, 'large'), $before, 'nothing is lost');
	check_orphans($node, 'a full pg_wal');
	is(psql_verbose($node, table_statement('large', $to)), '', 'a second move works');
}

# --- syncs take long --------------------------------------------------------------------------------

# Nobody waits for them, neither who writes nor who wants the table for itself:
# a client gives up if a lock takes longer than the move's lock_timeout and the
# window.
{
	my $to = other_tablespace('large');
	my %script = (
		writes => "\\set a random(1, 4600)\nUPDATE large SET b = b WHERE a = :a;\nSELECT b FROM large WHERE a = :a;\n",
		locks => "BEGIN;\nLOCK TABLE large;\nROLLBACK;\n");
	my @files;

	foreach my $name (sort keys %script)
	{
		my $file = $node->basedir . "/$name.sql";

		append_to_file($file, "SET lock_timeout = '4s';\n$script{$name}");
		push @files, '-f', $name eq 'writes' ? "$file\@20" : "$file\@1";
	}
	fail_calls(calls => ['sync'], from_on => 1, nth => 1, error => SLOW, delay_ms => 8000,
		path => target_path($node, $to));
	my $load = start_pgbench($node, 3, '-R', 100, @files);
	my $job = start_stopped_table_move($node, 'copied', 'large', $to, q{lock_timeout => '2 s'});
	# the checkpointer syncs what there is of the copy, 8 s for each file
	my $checkpoint = start_sql($node, 'checkpoint', 'CHECKPOINT');
	release($node);
	is(wait_for_job($node, $job), 'done', 'a sync takes 8 s: the move works');
	finish_sql($checkpoint);
	stop_pgbench($load, 'a sync takes 8 s, nobody waits for longer than lock_timeout: the load');
	cmp_ok((stop_failing())[1], '>', 0, 'syncs did take long');
	check_orphans($node, 'slow syncs');
}

# A flush of the WAL takes longer than what deadlock_timeout has beyond the longest
# wait of an attempt.  Who has used the table, and asks for what the move has locked
# while it flushes, does not get a deadlock.
configure($node, 'deadlock_timeout', '10s');
foreach my $sql ('GRANT SELECT ON t TO PUBLIC;', q{COMMENT ON INDEX t_b IS 'in use';})
{
	my $to = other_tablespace('t');
	my $user = session($node);

	stop_at($node, 'fsm copied');
	my $job = start_table_move($node, 't', $to,
		"with_indexes => true, lock_timeout => '30 s'");
	wait_for_stop($node, 'fsm copied');
	ask($user, 'BEGIN; SELECT count(*) FROM t;');
	fail_calls(calls => ['sync'], from_on => 1, nth => 1, error => SLOW, delay_ms => 4000,
		path => 'pg_wal');
	release($node);
	wait_until($node, q{EXISTS (SELECT FROM pg_stat_activity
		WHERE backend_type = 'tablespace_advisor move' AND backend_xid IS NOT NULL
			AND lower(wait_event) = 'walsync')}, 'the move flushes, and is about to ask for its lock');
	$user->{err} = '';
	ask($user, $sql);
	is($user->{err}, '', "a flush takes 4 s: no deadlock: $sql");
	stop_failing();
	ask($user, 'COMMIT;');
	is(wait_for_job($node, $job), 'done', 'the move ends after it');
	end_session($user);
}
is(digests($node, 't'), $content, 'slow flushes: the rows are the same');

check_log($node, 'all but the faults',
	qr/could not|canceling statement|job 1 does not exist|cannot drop extension|terminating connection|checkpoint request failed|the database system is/);
$node->stop;
done_testing();
