# Copyright (c) 2026, The tablespace_advisor developers

# Loss of power at points of a move's protocol, in small: what bench/power_loss
# does with real file systems, here with a library that undoes what was not
# synced (test/volatile_disk.c), all of it or for each sector a part.  What was
# committed is there after each cut, indexes agree with their table, nothing is
# left.  kill -9, which other tests do, loses nothing that was written.  Four
# times over if PG_TEST_EXTRA has the word "power".

use TsaTest;

plan skip_all => 'no /proc, or no C compiler to build test/volatile_disk.c with'
  unless build_volatile_disk();
srand 1;

my $node = new_node('volatile', conf => q{
autovacuum = off
fsync = on
wal_level = replica
checkpoint_timeout = 1h
});

start_volatile($node);
prepare_node($node);
$node->safe_psql('postgres', q{
	CREATE TABLE t (a int PRIMARY KEY, b int, c text, d text) TABLESPACE slow;
	ALTER TABLE t ALTER d SET STORAGE EXTERNAL;
	INSERT INTO t SELECT i, i, md5(i::text), CASE WHEN i % 50 = 0 THEN repeat(md5(i::text), 100) END
		FROM generate_series(1, 5000) i;
	CREATE INDEX t_c ON t (c, b);
	CREATE INDEX t_few ON t (b) WHERE a < 500;
	VACUUM t});

# --- moves --------------------------------------------------------------------------------

sub content
{
	my $query = 'SELECT count(*), sum(hashtextextended(x::text, 0)) FROM (SELECT * FROM t ORDER BY a) x';

	return $node->safe_psql('postgres', $query);
}

my %call = (
	't_c' => q{CALL move_indexes_concurrently('t_c', '%s', method => 'copy', wait => false)},
	't_few' => q{CALL move_indexes_concurrently('t_few', '%s', wait => false)},
	't' => q{CALL move_table_concurrently('t', '%s', with_indexes => true, wait => false)});

# A move is cut at a point, or after its end if it has none.  content: what is
# there, if that cannot be asked at that point; checkpoint: the point at which
# one comes before.
sub try_cut
{
	my ($relation, $point, $all, %more) = @_;
	my $to = $node->safe_psql('postgres', qq{
		SELECT CASE WHEN reltablespace = (SELECT oid FROM pg_tablespace WHERE spcname = 'fast')
			THEN 'slow' ELSE 'fast' END FROM pg_class WHERE relname = '$relation'});
	my $name = "$relation, " . ($point // 'done') . ', ' . ($all ? 'all' : 'some')
	  . ' of what was not synced is lost';

	$node->safe_psql('postgres', 'CHECKPOINT') unless $more{checkpoint};
	stop_at($node, $more{checkpoint} ? 'storage created' : $point // '');
	my ($job) = $node->safe_psql('postgres', sprintf($call{$relation}, $to)) =~ /(\d+)/;
	if ($more{checkpoint})
	{
		# the server has any new file synced once
		wait_for_stop($node, 'storage created');
		$node->safe_psql('postgres', 'CHECKPOINT');
		stop_at($node, $more{checkpoint});
		wait_for_stop($node, $more{checkpoint});
		isnt(join(' ', unsynced($node, $to)), '', "$name: what was copied is to be synced");
		$node->safe_psql('postgres', 'CHECKPOINT');
		is(join(' ', unsynced($node, $to)), '', "$name: a checkpoint syncs what was copied");
		$node->safe_psql('postgres', 'UPDATE t SET b = b + 1, d = repeat(c, 90) WHERE a % 20 = 0');
		stop_at($node, $point // '');
	}
	my $content = $more{content};
	if ($point)
	{
		wait_for_stop($node, $point);
	}
	else
	{
		is(wait_for_job($node, $job), 'done', "$name: the move is done");
	}
	if (!$content)
	{
		$node->safe_psql('postgres', 'UPDATE t SET b = b + 1, d = repeat(c, 100) WHERE a % 25 = 0');
		$content = content();
	}
	my $lost = cut_power($node, $all);
	note "$name: $lost sectors";
	cmp_ok($lost, '>', 0, "$name: something is");
	is(content(), $content, 'what was committed is there');
	is($node->safe_psql('postgres', q{SELECT tsa_amcheck('t')}), '3', 'indexes agree with the table');
	is($node->safe_psql('postgres', q{SELECT tsa_heap_damage('t')}), '', 'the heap has no damage');
	$node->safe_psql('postgres', 'SELECT cancel_move(1)');
	is($node->safe_psql('postgres', q{
			SELECT count(*) FROM tablespace_advisor.job
			WHERE state IN ('queued', 'running', 'paused')
				OR new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL}),
		'0', 'no job is open');
	check_orphans($node, $name);
	return;
}

my $rounds = ($ENV{PG_TEST_EXTRA} // '') =~ /\bpower\b/ ? 4 : 1;

foreach my $round (1 .. $rounds)
{
	foreach my $relation ('t_c', 't')
	{
		try_cut($relation, 'copied', 1);
		try_cut($relation, 'window', 0, content => content());
		try_cut($relation, 'switched', 1);
		try_cut($relation, 'old file truncated', 0);
		# all that was copied before that checkpoint has to be on disk by then
		try_cut($relation, undef, 1, checkpoint => 'copied');
		try_cut($relation, undef, 0, checkpoint => 'copied');
	}
	try_cut('t_few', 'small switched', 1);
	try_cut('t_few', undef, 0);
}

$node->stop;
done_testing();
