# Copyright (c) 2026, The tablespace_advisor developers

# Loads on the tables of TsaTest::Table: pgbench, in the background.

package TsaTest::Load;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest::Session;
use TsaTest::Table;

our @EXPORT = qw(
  start_pgbench stop_pgbench start_load stop_load start_table_load stop_table_load);

# Starts pgbench in the background: so many clients, and what else it is to do.
# Stop it with stop_pgbench().
sub start_pgbench
{
	my ($node, $clients, @options) = @_;

	return start_command('pgbench', '-n', '-c', $clients, '-T', 600, @options,
		'-h', $node->host, '-p', $node->port, 'postgres');
}

# Ends it: it must have been on until now, without a failure.
sub stop_pgbench
{
	my ($pgbench, $name) = @_;

	$pgbench->{harness}->pump_nb;
	ok($pgbench->{harness}->pumpable, "$name ran to the end");
	# one in the background may ignore INT
	$pgbench->{harness}->signal('TERM');
	eval { $pgbench->{harness}->finish };
	unlike($pgbench->{err}, qr/abort|error|fatal/i, "$name: no client failed");
	return;
}

# Returns when the load has changed something.
sub wait_for_load
{
	my ($node, $before) = @_;

	$node->poll_query_until('postgres',
		"SELECT last_value > $before FROM t_seq")
	  or die 'the load does not start';
	return;
}

# Starts pgbench: inserts, updates and deletes, small and large.  Each client
# keeps to rows of its own, so that no transaction has a reason to fail.
# rate: transactions per second; big: rows of a large one.
sub start_load
{
	my ($node, %args) = @_;
	my $clients = $args{clients} // 3;
	my $big = $args{big} // 300;
	my $values = row_values('i + :seed');
	my $mine = "id % $clients = :client_id";
	my $script = $node->basedir . '/load.sql';
	my $before = $node->safe_psql('postgres', 'SELECT last_value FROM t_seq');

	append_to_file($script, qq{
\\set what random(1, 100)
\\set seed random(1, 1000000)
\\set n random(1, 20)
\\if :what <= 30
INSERT INTO t (id, $values->{columns}) SELECT nextval('t_seq'), $values->{values} FROM generate_series(1, :n) i;
\\elif :what <= 60
UPDATE t SET k = :seed % 100, h = :seed % 50, a1 = ARRAY[:seed % 50, :n], p1 = point(:seed % 100, :n), txt = md5(txt), d = -d WHERE id = (SELECT id FROM t WHERE $mine AND id > (SELECT max(id) FROM t) - :seed % 1000 - 10 ORDER BY id LIMIT 1);
\\elif :what <= 75
DELETE FROM t WHERE id IN (SELECT id FROM t WHERE $mine AND id < (SELECT max(id) FROM t) - 6000 ORDER BY id LIMIT 100);
\\elif :what <= 80
UPDATE t SET a2 = ARRAY[:seed % 50, k % 50], p2 = point(k, :n), l1 = :n, l2 = :n % 7, b = b + 1 WHERE $mine AND k = :n;
\\elif :what <= 82
BEGIN;
INSERT INTO t (id, $values->{columns}) SELECT nextval('t_seq'), $values->{values} FROM generate_series(1, $big) i;
DELETE FROM t WHERE id IN (SELECT id FROM t WHERE $mine ORDER BY id LIMIT $big);
END;
\\elif :what <= 84
BEGIN;
INSERT INTO t (id, $values->{columns}) SELECT nextval('t_seq'), $values->{values} FROM generate_series(1, 100) i;
ROLLBACK;
\\else
SELECT count(*) FROM t WHERE k = :seed % 100;
\\endif
});
	my $load = start_pgbench($node, $clients, '-R', $args{rate} // 300, '-f', $script);
	wait_for_load($node, $before);
	return { node => $node, %$load };
}

# Ends the load; it must have been on until now, without a failure.
sub stop_load
{
	my ($load, $name) = @_;

	stop_pgbench($load, "$name: the load");

	# its sessions go when they notice
	$load->{node}->poll_query_until('postgres', q{
		SELECT count(*) = 0 FROM pg_stat_activity
		WHERE application_name = 'pgbench'})
	  or die 'the load does not end';
	return;
}

# Starts two pgbench: one changes rows in all the ways that a heap knows, the
# other vacuums, but for when a move waits for its lock.  Each client keeps to
# rows of its own; rows of others it only locks, in the order of id, with nothing
# else locked, and not where rows are deleted, in whatever order: t has to have
# two thousand.
sub start_table_load
{
	my ($node, %args) = @_;
	my $clients = $args{clients} // 3;
	my $values = row_values('i + :seed');
	my $mine = "id % $clients = :client_id";
	my $recent = "(SELECT id FROM t WHERE $mine AND id > (SELECT max(id) FROM t) - :seed % 1500 - 10 ORDER BY id LIMIT 1)";
	my $insert = sub { return "INSERT INTO t (id, doc, $values->{columns}) SELECT nextval('t_seq'), CASE WHEN i % 2 = 0 THEN ${\document('i + :seed')} END, $values->{values} FROM generate_series(1, $_[0]) i;" };
	my $script = $node->basedir . '/table_load.sql';
	my $vacuum = $node->basedir . '/table_vacuum.sql';

	unlink $script, $vacuum;
	append_to_file($script, qq{
\\set what random(1, 100)
\\set seed random(1, 1000000)
\\set n random(1, 20)
\\if :what <= 20
${\$insert->(':n')}
\\elif :what <= 35
UPDATE t SET note = note + 1 WHERE id = $recent;
\\elif :what <= 45
UPDATE t SET k = :seed % 100, h = :seed % 50, a1 = ARRAY[:seed % 50, :n], p1 = point(:seed % 100, :n), txt = md5(txt), d = -d WHERE id = $recent;
\\elif :what <= 57
UPDATE t SET doc = ${\document(':seed')}, note = :n WHERE id = $recent;
\\elif :what <= 60
UPDATE t SET doc = CASE WHEN doc IS NULL THEN ${\document(':seed')} END WHERE id = $recent;
\\elif :what <= 70
DELETE FROM t WHERE id IN (SELECT id FROM t WHERE $mine AND id < (SELECT max(id) FROM t) - 5000 ORDER BY id LIMIT 60);
\\elif :what <= 75
BEGIN;
SELECT length(doc) FROM t WHERE id = $recent FOR UPDATE;
SAVEPOINT one;
UPDATE t SET doc = ${\document(':seed + 1')}, note = -1 WHERE id = $recent;
ROLLBACK TO one;
UPDATE t SET note = note + 100 WHERE id = $recent;
SAVEPOINT two;
${\$insert->(3)}
RELEASE two;
END;
\\elif :what <= 77
BEGIN;
SELECT count(*) FROM (SELECT FROM t WHERE $mine ORDER BY id LIMIT 200 FOR UPDATE) x;
END;
\\elif :what <= 80
BEGIN;
${\$insert->(60)}
UPDATE t SET doc = 'short', note = note + 1 WHERE id = $recent;
ROLLBACK;
\\elif :what <= 85
SELECT count(*) FROM (SELECT FROM t WHERE id % 40 = :n AND id > (SELECT max(id) FROM t) - 1000 ORDER BY id FOR KEY SHARE) x;
\\elif :what <= 87
BEGIN;
${\$insert->(150)}
DELETE FROM t WHERE id IN (SELECT id FROM t WHERE $mine ORDER BY id LIMIT 150);
END;
\\else
SELECT count(*), sum(length(doc)) FROM t WHERE k = :seed % 100;
\\endif
});
	# Once the move is ready and waits, there has to be a gap between two.  Where
	# following takes long the look may never meet it waiting: each VACUUM gives
	# it more to follow.
	append_to_file($vacuum, q{
SELECT count(*) AS waits FROM tablespace_moves WHERE state = 'running' AND (attempts > 0 OR passes > 10 OR phase ~ 'waiting') \gset
\set what random(1, 4)
\if :waits > 0
\sleep 100 ms
\elif :what = 1
VACUUM (FREEZE, TRUNCATE false) t;
\elif :what = 2
VACUUM (FREEZE, DISABLE_PAGE_SKIPPING, INDEX_CLEANUP on) t;
\elif :what = 3
VACUUM t;
\else
VACUUM (FREEZE, PROCESS_TOAST false) t;
\endif
});
	my $before = $node->safe_psql('postgres', 'SELECT last_value FROM t_seq');

	my $load = start_pgbench($node, $clients, '-R', $args{rate} // 100, '-f', $script);
	my $vacuums = start_pgbench($node, 1, '-R', $args{vacuums} // 1, '-f', $vacuum);
	wait_for_load($node, $before);
	return { node => $node, vacuum => $vacuums, %$load };
}

# Ends both; they must have been on until now, without a failure.
sub stop_table_load
{
	my ($load, $name) = @_;

	stop_pgbench($load->{vacuum}, "$name: VACUUM");
	stop_load($load, $name);
	return;
}

1;
