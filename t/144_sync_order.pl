# Copyright (c) 2026, The tablespace_advisor developers

# The order of a move's writes, its requests for syncs, and a checkpoint's
# syncs.  A checkpoint that is at work while a move writes may sync a file and
# forget the request; what is written after that has to be asked for again, or
# a power cut after the next checkpoint loses it.  So checkpointer and mover are
# held at points of that order (test/volatile_disk.c):
#
#	write	the checkpointer at its first write, until the mover has come to its
#			k-th operation on the tablespaces' files, or to its end;
#	sync	the checkpointer at its k-th sync of a file there, until the mover
#			has come to its end;
#	begin	the mover at its k-th write, until the checkpointer has begun and
#			waits for it, as the mover has logged what it is to write.  (Not
#			where it drops the old file: a crash between such a checkpoint
#			and the unlink leaves a file of any DROP.)
#
# In the first two the checkpoint is past that place; after the move comes another
# one.  In the end all that was not synced is lost.  All k
# if PG_TEST_EXTRA has the word "power", else a few: before the last that is
# written to a file, after which nothing asks for its sync again.

use constant NEVER => 1_000_000;
use TsaTest;

plan skip_all => 'no /proc, or no C compiler to build test/volatile_disk.c with'
  unless build_volatile_disk();

my $node = new_node('order', conf => q{
autovacuum = off
bgwriter_lru_maxpages = 0
fsync = on
wal_level = replica
shared_buffers = 32MB
checkpoint_timeout = 1h
max_wal_size = 1GB
});

start_volatile($node);
prepare_node($node);
$node->safe_psql('postgres', q{
	CREATE TABLE dirt (n int);
	INSERT INTO dirt VALUES (0)});
fill();
my $dirt = $node->safe_psql('postgres', q{SELECT pg_relation_filepath('dirt')});

my %call = (
	't_c' => q{CALL move_indexes_concurrently('t_c', '%s', method => 'copy', wait => false)},
	't_few' => q{CALL move_indexes_concurrently('t_few', '%s', wait => false)},
	't' => q{CALL move_table_concurrently('t', '%s', wait => false)});

# The table, with both maps, and its indexes.
sub fill
{
	$node->safe_psql('postgres', q{
		DROP TABLE IF EXISTS t;
		CREATE TABLE t (a int PRIMARY KEY, b int, c text, d text) TABLESPACE slow;
		ALTER TABLE t ALTER d SET STORAGE EXTERNAL;
		INSERT INTO t SELECT i, i, md5(i::text), CASE WHEN i % 60 = 0 THEN repeat(md5(i::text), 100) END
			FROM generate_series(1, 2400) i;
		CREATE INDEX t_c ON t ((repeat(c, 4)));
		CREATE INDEX t_few ON t (b) WHERE a < 500;
		DELETE FROM t WHERE a > 2000;
		VACUUM t;
		UPDATE t SET b = b + 1, d = repeat(c, 90) WHERE a % 40 = 0});
	return;
}

# Where a relation is to move to.
sub target_of
{
	my ($relation) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT CASE WHEN reltablespace = (SELECT oid FROM pg_tablespace WHERE spcname = 'fast')
			THEN 'slow' ELSE 'fast' END FROM pg_class WHERE relname = '$relation'});
}

# All that must be as it was, or what is wrong with it.
sub judged
{
	my ($out, $err);

	$node->psql('postgres', q{
		SELECT count(*), sum(hashtextextended(x::text, 0)) FROM t x;
		SELECT 'trees ' || tsa_amcheck('t');
		SELECT 'damage ' || tsa_heap_damage('t');
		SELECT wait_for_moves('{}');
		SELECT 'open job ' || job_id FROM tablespace_advisor.job
			WHERE state IN ('queued', 'running', 'paused')
				OR new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL;
		SELECT 'orphan ' || f FROM tsa_orphans() f},
		stdout => \$out, stderr => \$err, on_error_stop => 0);
	return $out . $err;
}

# A checkpoint, held where it is told.
sub start_checkpoint
{
	my ($kind, $n) = @_;

	$node->safe_psql('postgres', 'UPDATE dirt SET n = n + 1');
	hold('checkpointer', $n, $kind, $kind eq 'write' ? $dirt : 'pg_tblspc/');
	return start_sql($node, 'checkpoint', 'CHECKPOINT');
}

# Has it ended?
sub has_ended
{
	my ($session) = @_;

	$session->{harness}->pump_nb;
	return !$session->{harness}->pumpable;
}

# Begins to move a relation; its job.
sub start
{
	my ($relation) = @_;
	my $ids = $node->safe_psql('postgres', sprintf($call{$relation}, target_of($relation)));

	$ids =~ /^\{(\d+)/ or die "no job: $ids";
	return $1;
}

# Waits until the mover is held, or has ended: then false.
sub is_held
{
	my ($job) = @_;

	return wait_for_hold('mover',
		sub { job_field($node, $job, 'state') =~ /^(?:done|failed|cancelled)$/ });
}

# All is there, and there still when what was not synced is lost.
sub survives
{
	my ($name, $before) = @_;
	my $well = like($before, qr/^\d+\|-?\d+\ntrees 3\n\w$/, "$name: all is well");

	cut_power($node, 1);
	$well &&= is(judged(), $before, "$name: all is well after a power cut");
	fill() unless $well;
	return;
}

# One move in one order.  kind, n: where the checkpointer is held; mover: at
# which operation the mover is, else it comes to its end; after: the point from
# which on that is so.  False, if whoever is held n operations on has no n-th.
sub try_order
{
	my ($relation, $kind, %at) = @_;
	my $n = $at{n} // 1;
	my $name = join ', ', $relation, "checkpointer at $kind $n",
	  'mover at ' . ($at{mover} ? "operation $at{mover}" : 'its end'),
	  $at{after} ? "from '$at{after}' on" : ();
	my $job;

	$node->safe_psql('postgres', 'CHECKPOINT');
	if ($at{after})
	{
		stop_at($node, $at{after});
		$job = start($relation);
		wait_for_stop($node, $at{after});
		$node->safe_psql('postgres', 'UPDATE t SET b = b + 1, d = repeat(c, 80) WHERE a % 150 = 0');
		$node->safe_psql('postgres', 'CHECKPOINT') if $kind eq 'write';
	}
	my $checkpoint = start_checkpoint($kind, $n);
	my $reached = wait_for_hold('checkpointer', sub { has_ended($checkpoint) });
	hold('mover', $at{mover} // NEVER, 'any', 'pg_tblspc/');
	$at{after} ? release($node) : ($job = start($relation));
	my $held = is_held($job);
	$reached &&= $held if $at{mover};
	let_go('checkpointer');
	is(finish_sql($checkpoint), '', "$name: the checkpoint ends");
	let_go('mover');
	is(wait_for_job($node, $job), 'done', "$name: the move ends well");
	wait_for_workers($node);

	$node->safe_psql('postgres', 'CHECKPOINT');
	is(join(' ', unsynced($node, 'slow'), unsynced($node, 'fast')), '',
		"$name: another checkpoint syncs everything");
	survives($name, judged());
	return $reached;
}

# One move which is held at a write until a checkpoint that has begun
# since waits for it, or has ended, since it has nothing to wait for.  False, if
# there is no such write.  Before 17 nothing tells that a checkpoint waits.
sub try_begin
{
	my ($relation, $mover) = @_;
	my $name = "$relation, a checkpoint begins at the mover's write $mover";
	my $waits = q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'CheckpointDelayStart'};

	$node->safe_psql('postgres', 'CHECKPOINT');
	hold('mover', $mover, 'write', 'pg_tblspc/');
	my $job = start($relation);
	my $held = is_held($job);
	my $log = -s $node->logfile;
	my $checkpoint = start_sql($node, 'checkpoint', 'CHECKPOINT');
	$node->wait_for_log(qr/checkpoint starting/, $log);
	if ($node->pg_version >= 17)
	{
		until (has_ended($checkpoint) || $node->safe_psql('postgres', $waits)) { }
	}
	let_go('mover');
	is(wait_for_job($node, $job), 'done', "$name: the move ends");
	is(finish_sql($checkpoint), '', "$name: the checkpoint ends well");
	wait_for_workers($node);
	# what is dropped stays until the next checkpoint, empty
	survives($name, judged() =~ s/\norphan .*//gr);
	return $held;
}

# The last operation on each file; a table's maps and TOAST are files, too.
sub last_of_files
{
	my (@operations) = @_;
	my %last;

	foreach my $i (0 .. $#operations)
	{
		my ($kind, $offset, $file) = split ' ', $operations[$i];

		$last{$file} = $i + 1 if $kind ne 'truncate';
	}
	return sort { $a <=> $b } values %last;
}

# All that can be tried with one of these numbers.
sub try_all
{
	my ($which, $relation, $kind, %at) = @_;
	my $tried = 0;

	for (my $n = 1;; $n++)
	{
		last unless $kind eq 'begin'
		  ? try_begin($relation, $n)
		  : try_order($relation, $kind, %at, $which => $n);
		$tried++;
	}
	cmp_ok($tried, '>', 0, "$relation, $kind, from "
		  . ($at{after} // 'its beginning') . " on: $tried orders tried");
	return;
}

# Some of them, which there are.
sub try_some
{
	my ($which, $relation, $kind, $numbers, %at) = @_;

	foreach my $n (@$numbers)
	{
		ok(try_order($relation, $kind, %at, $which => $n), "$relation: the move comes to $which $n");
	}
	return;
}

is($node->safe_psql('postgres', q{
		SELECT bool_and(pg_relation_size(oid, 'vm') > 0 AND pg_relation_size(oid, 'fsm') > 0)
		FROM pg_class WHERE relname = 't'}),
	't', 'the table has both maps');

my $all = ($ENV{PG_TEST_EXTRA} // '') =~ /\bpower\b/;

foreach my $relation ('t_c', 't_few', 't')
{
	try_order($relation, 'write');
	my @operations = operations('mover');
	note "$relation: ", join "\n", @operations;
	cmp_ok(scalar @operations, '>', 1, "$relation: the mover does something");

	if (!$all)
	{
		# of the table: itself, its TOAST table, and the first free space map
		my @last = last_of_files(@operations);

		is(scalar @last, $relation eq 't' ? 7 : 1, "$relation: the move writes and syncs the expected number of files");
		try_some('mover', $relation, 'write', [ $relation eq 't' ? @last[0, 1, 3] : @last ]);
		ok(try_begin($relation, $last[0]), "$relation: that write is there")
		  if $relation eq 't_few';
		next;
	}
	try_all('mover', $relation, 'write');
	try_all('mover', $relation, 'write', after => 'copied') unless $relation eq 't_few';
	foreach my $point ('storage created', 'copied')
	{
		try_all('n', $relation, 'sync', after => $point) unless $relation eq 't_few';
	}
	try_all('mover', $relation, 'begin');
}
if (!$all)
{
	try_some('mover', 't', 'write', [2], after => 'copied');
	try_some('n', 't', 'sync', [1], after => 'storage created');
	try_some('n', 't_c', 'sync', [1], after => 'copied');
}

$node->stop;
done_testing();
