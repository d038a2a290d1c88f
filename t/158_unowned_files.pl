# Copyright (c) 2026, The tablespace_advisor developers

# Files that no relation has: what is called left by a crash was left by one, and
# not by a transaction, prepared transaction or checkpoint that is not through, nor
# by a process that is there.

use TsaFaults;
use TsaTest;

my $node = new_faulty_node('unowned');
my $directory = $node->data_dir . '/' . $node->safe_psql('postgres', q{
	SELECT tablespace_advisor.tablespace_directory(t.oid) || '/' || d.oid
	FROM pg_tablespace t, pg_database d WHERE t.spcname = 'slow' AND d.datname = 'postgres'});
my $unowned = q{SELECT concat_ws(' ', how, size_bytes, reason) FROM tablespace_contents('slow')
	WHERE kind IN ('file', 'directory', 'temporary files')};
my $perhaps = qr/^temporary \d+ No relation has it, but a transaction under way may have made it, or be about to remove it/;
my $orphan = qr/^orphan \d+ .*left by a crash/;

sub look { return $node->safe_psql('postgres', $unowned) }

# A file of 8 kB, written so many seconds ago.
sub make_file
{
	my ($name, $seconds, $bytes) = @_;

	unlink "$directory/$name";
	append_to_file("$directory/$name", 'x' x ($bytes // 8192));
	age($name, $seconds);
	return;
}

sub age
{
	my ($name, $seconds) = @_;

	utime(time - $seconds, time - $seconds, "$directory/$name") or die "$name: $!";
	return;
}

# A table with a page on disk; its file, written an hour ago.
sub make_table
{
	my ($name) = @_;

	$node->safe_psql('postgres', qq{
		CREATE TABLE $name (a int) TABLESPACE slow; INSERT INTO $name VALUES (1)});
	$node->safe_psql('postgres', 'CHECKPOINT');
	my $file = $node->safe_psql('postgres', "SELECT pg_relation_filenode('$name')");
	age($file, 3600);
	return $file;
}

mkdir $directory;
make_file('99999', 30);
like(look(), $orphan, 'a file of nobody, and nobody there');

# The clock of a file server.
my $session = session($node);
ask($session, 'BEGIN; SELECT 1;');
like(look(), $perhaps, 'a file that seems a little older than a transaction');
ask($session, 'ROLLBACK;');
like(look(), $orphan, 'a file with nobody there again');

# Who does not say when his transaction began.
ask($session, 'SET track_activities = off; BEGIN; SET track_activities = on; SELECT 1;');
age('99999', 3600);
is($node->safe_psql('postgres', "SELECT xact_start IS NULL FROM pg_stat_activity WHERE pid = $session->{pid}"),
	't', 'a transaction without a start');
like(look(), $perhaps, 'may have made any file');
ask($session, 'COMMIT;');
like(look(), $orphan, 'not when it has ended');

# Who waits is not about to end.
my $holder = session($node);
$node->safe_psql('postgres', 'CREATE TABLE locked (a int)');
ask($session, 'BEGIN; LOCK locked IN ACCESS SHARE MODE; ROLLBACK;');
ask($holder, 'BEGIN; LOCK locked;');
ask($session, 'BEGIN;');
send_to($session, 'LOCK locked IN ACCESS SHARE MODE;');
wait_for_lock_of($node, $session->{pid});
is($node->safe_psql('postgres', "SELECT backend_xid IS NULL AND backend_xmin IS NULL FROM pg_stat_activity WHERE pid = $session->{pid}"),
	't', 'a transaction without a number or snapshot');
like(look(), $orphan, 'a transaction without a number or snapshot is not about to remove a file');
ask($holder, 'ROLLBACK;');
answer($session);
ask($session, 'ROLLBACK;');
unlink "$directory/99999";

# What has been dropped, by one whose transaction has ended for others.
make_table('dropped');
hold_call(calls => ['truncate'], path => target_path($node, 'slow'));
send_to($session, 'DROP TABLE dropped;');
wait_for_held_call();
like(look(), $perhaps, 'a file that is about to be removed');
release_call($session->{pid});
answer($session);
is(look(), '', 'the file of a transaction that has ended has gone');

# The same by the end of a prepared transaction.
make_table('dropped');
$node->safe_psql('postgres', q{BEGIN; DROP TABLE dropped; PREPARE TRANSACTION 'drop'});
is(look(), '', 'what a prepared transaction drops is there');
hold_call(calls => ['truncate'], path => target_path($node, 'slow'));
send_to($session, q{COMMIT PREPARED 'drop';});
wait_for_held_call();
like(look(), $perhaps, 'a file that is about to be removed as a prepared transaction ends');
release_call($session->{pid});
answer($session);
is(look(), '', 'the file of the prepared transaction has gone');

# What the checkpointer has not come to unlink.
my $file = make_table('dropped');
$node->safe_psql('postgres', 'DROP TABLE dropped');
age($file, 3600);
hold_call(calls => ['unlink'], path => target_path($node, 'slow'));
my $checkpointer = checkpointer_pid($node);
send_to($session, 'CHECKPOINT;');
wait_for_held_call();
is(look(), '', 'a file that the checkpointer is about to unlink');
release_call($checkpointer);
answer($session);
is(look(), '', 'the file that the checkpointer unlinked has gone');

# An empty file may be one that the next checkpoint removes, whatever its time.
# All files of a number count, not its first alone.
make_file('99999', 3600, 0);
like(look(), qr/^temporary 0 .* If it is still there after CHECKPOINT, a crash left it/, 'an empty file');
make_file('99999_fsm', 3600);
like(look(), qr/^orphan 8192 /, 'an empty file, and a free space map');
unlink "$directory/99999", "$directory/99999_fsm";

# Temporary files of a session that the caller's transaction has not seen, where
# there is nothing else.
(my $in_fast = "$unowned;") =~ s/slow/fast/;
ask($holder, 'BEGIN; SELECT count(*) FROM pg_stat_activity;');
my $writer = session($node);
ask($writer, q{SET temp_tablespaces = 'fast'; SET work_mem = '64kB';
	BEGIN; DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 100000) g ORDER BY -g;
	FETCH 1 FROM c;});
like(ask($holder, $in_fast), qr/^temporary \d+ They are of the present statement of process $writer->{pid}\.$/,
	'temporary files of a new session');
end_session($writer);
wait_until($node, "NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $writer->{pid})", 'the session has ended');
is(ask($holder, $in_fast), '', 'temporary files go with their session');
ask($holder, 'ROLLBACK;');

# A temporary table whose session a crash has ended, and a session that has got
# the same number.
end_session($holder);
end_session($session);
$session = session($node);
ask($session, 'CREATE TEMPORARY TABLE x (a text) TABLESPACE slow; INSERT INTO x VALUES (1);');
crash($node, $session->{pid});
my @innocent = map { session($node) } 1 .. 6;
like($node->safe_psql('postgres', q{SELECT statement FROM tablespace_contents('slow') WHERE kind = 'table'}),
	qr/^DROP TABLE pg_temp_\d+\.x;$/, 'nobody is ended for a temporary table of another');
end_session($_) foreach @innocent;
$node->stop;

done_testing();
