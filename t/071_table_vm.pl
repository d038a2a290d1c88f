# Copyright (c) 2026, The tablespace_advisor developers

# The visibility map of a table on the move.  Its bits are set and cleared
# while the copy is stopped at a point of its protocol, in ways that the log
# names differently: a cleared bit is logged with the heap's block only, a set
# one with both, and the file grows without a record of its own.  The map after
# the cutover is the one before, page by page, for the table and its TOAST
# table, and index-only scans believe it rightly.

use TsaTest;

my $node = start_node('main', checksums => 1,
	conf => "wal_level = replica\nautovacuum = off\n");
$node->safe_psql('postgres', q{CREATE EXTENSION pageinspect});

# A table v of 10 rows a page, each with a document of its own.
sub make_table
{
	$node->safe_psql('postgres', qq{
		DROP TABLE IF EXISTS v;
		CREATE TABLE v (id int PRIMARY KEY, n int NOT NULL DEFAULT 0, pad text,
			doc text) WITH (fillfactor = 50, autovacuum_enabled = off);
		ALTER TABLE v ALTER doc SET STORAGE EXTERNAL;
		ALTER TABLE v ALTER pad SET STORAGE PLAIN;
		INSERT INTO v SELECT i, 0, repeat('p', 300),
			CASE WHEN i % 5 = 0 THEN ${\document('i')} END
		FROM generate_series(1, 2000) i;
		CREATE INDEX v_n ON v (n, id)});
	return;
}

# Rows of some pages: those whose number ends with this digit.
sub on_pages
{
	my ($digit) = @_;

	return "(ctid::text::point)[0]::int % 10 = $digit";
}

# Changes of each kind to pages of their own, so that each call of the same
# step makes the map differ.
#
# The checkpoint is there for the hint bits without which VACUUM finds nothing
# to be visible: it may set none while a commit near by, of the mover's reports
# on its progress, has not been flushed.
my %change = (
	'update' => 'UPDATE v SET n = n + 1 WHERE id % 3 = 0 AND ' . on_pages(1),
	'hot update' => "UPDATE v SET pad = repeat('q', 300) WHERE id % 4 = 0 AND " . on_pages(2),
	'delete' => 'DELETE FROM v WHERE id % 7 = 0 AND ' . on_pages(3),
	'lock' => 'SELECT count(*) FROM (SELECT FROM v WHERE id % 3 = 0 AND ' . on_pages(4) . ' FOR UPDATE) x',
	'share' => 'SELECT count(*) FROM (SELECT FROM v WHERE id % 3 = 0 AND ' . on_pages(5) . ' FOR KEY SHARE) x',
	'toast' => 'UPDATE v SET doc = doc || doc WHERE doc IS NOT NULL AND ' . on_pages(6),
	'insert' => "INSERT INTO v SELECT (SELECT max(id) FROM v) + i, 0, repeat('p', 300), ${\document('i')} FROM generate_series(1, 60) i",
	'rollback' => 'BEGIN; UPDATE v SET n = -1 WHERE id % 9 = 0 AND ' . on_pages(7) . '; ROLLBACK',
	'many' => 'UPDATE v SET n = n + 1 WHERE id % 10 = 0',
	'vacuum' => 'CHECKPOINT; VACUUM (TRUNCATE false) v',
	'freeze' => 'CHECKPOINT; VACUUM (FREEZE, TRUNCATE false) v');

sub change
{
	$node->safe_psql('postgres', $_) for map { $change{$_} } @_;
	return;
}

sub digits
{
	my ($map) = @_;

	return join '', grep { $map =~ /$_/ } (0, 1, 2);
}

# Index-only scans, and how many heap pages they spare.
sub check_index_only
{
	my ($name) = @_;
	my $sql = 'SELECT count(*), sum(n), sum(id) FROM v WHERE n >= -5';
	my $set = 'SET enable_bitmapscan = off;';
	my $plan = $node->safe_psql('postgres',
		"$set SET enable_seqscan = off; EXPLAIN $sql");

	like($plan, qr/Index Only Scan/, "$name: an index-only scan is made");
	is( $node->safe_psql('postgres', "$set SET enable_seqscan = off; $sql"),
		$node->safe_psql('postgres', "$set SET enable_indexscan = off; $sql"),
		"$name: the index-only scan finds what a sequential scan finds");
	return;
}

# Moves v to the other tablespace, does these changes at these points, and
# compares.
sub move_and_change
{
	my ($name, $more, @steps) = @_;
	my $to = places($node, 'v') =~ /^table fast/ ? 'slow' : 'fast';

	stop_at($node, $steps[0][0]);
	my $job = start_table_move($node, 'v', $to, $more);
	while (my $step = shift @steps)
	{
		my ($point, @what) = @$step;

		wait_for_stop($node, $point);
		change(@what);
		stop_at($node, $steps[0][0]) if @steps;
	}
	my $rows = digest($node, 'v');
	my $map = visibility($node, 'v');
	release($node);
	is(wait_for_job($node, $job), 'done', "$name: the move is done")
	  or diag(job_field($node, $job, 'error'));
	like(places($node, 'v'), qr/^table $to, toast $to, toast index $to,/,
		"$name: the table is in $to");
	is(visibility($node, 'v'), $map, "$name: the map is the one before");
	is(digest($node, 'v'), $rows, "$name: the rows are those before");
	check_heap($node, 'v', $name);
	check_index_only($name);
	check_orphans($node, $name);
	return $map;
}

my @clearing = ('update', 'hot update', 'delete', 'lock', 'share', 'toast', 'insert');

# bits cleared
make_table();
change('freeze');
is(digits(visibility($node, 'v')), '2', 'all pages are frozen');
my $map = move_and_change('bits cleared at copied', undef, [ 'copied', @clearing ]);
like($map, qr/0/, 'bits were cleared');
like($map, qr/1/, 'some the all-frozen ones only');
change('freeze');
move_and_change('bits cleared when the FSM is copied', 'with_indexes => true',
	[ 'fsm copied', @clearing ]);
change('freeze');
move_and_change('bits cleared bit by bit', undef,
	[ 'storage created', 'update', 'rollback' ], [ 'copied', 'many', 'lock' ],
	[ 'followed', 'hot update', 'toast' ], [ 'fsm copied', 'insert', 'share' ]);

# The whole map is copied once more shortly before the cutover, so what counts
# most is what comes later: while the move tries to get its lock.
for my $what ([ 'cleared', @clearing ], [ 'set', 'freeze' ])
{
	my ($how, @what) = @$what;
	my $name = "bits $how while the cutover waits";
	my $to = places($node, 'v') =~ /^table fast/ ? 'slow' : 'fast';
	my $reader = $node->background_psql('postgres');

	change('freeze') if $how eq 'cleared';
	$reader->query_safe('BEGIN; LOCK TABLE v IN ACCESS SHARE MODE');
	my $job = start_table_move($node, 'v', $to, "lock_timeout => '20 ms'");
	wait_until_job($node, $job, "attempts >= 2");
	change(@what);
	$map = visibility($node, 'v');
	$reader->query_safe('COMMIT');
	$reader->quit;
	is(wait_for_job($node, $job), 'done', "$name: the move is done");
	is(visibility($node, 'v'), $map, "$name: the map is the one before");
	check_heap($node, 'v', $name);
	check_index_only($name);
}

# bits set: first all-visible, then all-frozen
change('update', 'toast');
$map = move_and_change('bits set at copied', undef, [ 'copied', 'vacuum' ]);
unlike($map, qr/0/, 'bits were set');
like($map, qr/1/, 'all-visible ones only');
$map = move_and_change('more bits set when the FSM is copied', 'with_indexes => true',
	[ 'fsm copied', 'freeze' ]);
is(digits($map), '2', 'all bits were set when the FSM was copied');

# set and cleared and set
change('update', 'delete', 'toast');
move_and_change('set, cleared', undef, [ 'copied', 'freeze' ],
	[ 'fsm copied', @clearing ]);
move_and_change('cleared, set', undef, [ 'copied', @clearing ],
	[ 'fsm copied', 'vacuum' ]);

# a map that is made while its table moves
for my $point ('storage created', 'copied', 'fsm copied')
{
	make_table();
	is($node->safe_psql('postgres', "SELECT pg_relation_size('v', 'vm')"), '0',
		'a table without a map');
	$map = move_and_change("map made at '$point'", undef, [ $point, 'freeze' ]);
	is(digits($map), '2', 'it has one now') or diag($map);
}

# and one that never comes to be
make_table();
$map = move_and_change('no map', 'with_indexes => true', [ 'copied', 'update' ]);
is(digits($map), '0', 'a table that has never had a visibility map has none after a move');

# The map is truncated while the mover lets somebody pass: as VACUUM logs a
# truncation, but of the map alone, with the heap's storage the same.  Pages
# may say all-visible without a bit, never the other way round.
for my $point ('copied', 'fsm copied')
{
	my $name = "map truncated at '$point'";

	change('freeze');
	stop_at($node, $point);
	my $to = places($node, 'v') =~ /^table fast/ ? 'slow' : 'fast';
	my $job = start_table_move($node, 'v', $to);
	wait_for_stop($node, $point);
	my $filenode = $node->safe_psql('postgres', "SELECT pg_relation_filenode('v')");
	my $truncate = start_sql($node, 'truncate',
		"SELECT pg_truncate_visibility_map('v'), pg_relation_filenode('v')");
	ok(is_waiting($truncate), "$name: pg_truncate_visibility_map() waits for the mover");
	release($node);
	is(finish_sql($truncate), '', "$name: pg_truncate_visibility_map() gets through");
	is($truncate->{out}, "|$filenode\n", "$name: the map was truncated in the old storage");
	is(wait_for_job($node, $job), 'done', "$name: the move is done");
	is($node->safe_psql('postgres', "SELECT pg_relation_size('v', 'vm')"),
		'0', "$name: the map is empty");
	change('delete', 'update');
	check_heap($node, 'v', $name);
	check_index_only($name);
	check_orphans($node, $name);
}

# what recovery makes of the last cutover and of bits behind it
change('freeze');
move_and_change('before a crash', 'with_indexes => true', [ 'copied', @clearing ],
	[ 'fsm copied', 'freeze' ]);
change('update', 'delete', 'lock', 'toast');
$map = visibility($node, 'v');
crash($node);
is(visibility($node, 'v'), $map, 'the map is the same after a crash');
check_heap($node, 'v', 'after a crash');
check_index_only('after a crash');

check_locks($node, 'in the end');
check_log($node, 'in the end');
check_checksums($node, 'in the end');
done_testing();
