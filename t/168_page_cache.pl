# Copyright (c) 2026, The tablespace_advisor developers

# The page cache: a move drops what it has read and written, keeps what was cached of
# the relation, and others keep their pages in a control group with little memory.
#
# Nothing looked at the cache before: all tests move what is in memory anyway, and no
# move is wrong because of it.

use TsaTest;

my $node = new_node('main', init => { extra => ['--wal-segsize=1'] }, conf => q(
	autovacuum = off
	fsync = on
	max_wal_size = 1GB
	checkpoint_timeout = 1h
	maintenance_work_mem = 256MB));

# Percent of a relation in the page cache.
sub cached
{
	my ($relation) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT round(100.0 * system_cache_blocks / blocks, 1)
		FROM tablespace_advisor.relations_residency(ARRAY['$relation'::regclass::oid], 1073741824)});
}

sub path_of
{
	my ($relation) = @_;

	return $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$relation')");
}

# Drops a relation from the cache.
sub forget
{
	my ($relation) = @_;
	my $path = path_of($relation);

	$node->safe_psql('postgres', 'CHECKPOINT');
	system_or_bail('dd', "of=$path", 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0', 'status=none');
	return;
}

# Reads so many MB of a relation, in the server, from some MB on.
sub warm
{
	my ($relation, $from, $count) = @_;

	$node->safe_psql('postgres', qq{
		SELECT sum(length(pg_read_binary_file(pg_relation_filepath('$relation'), ($from + i) * 1048576, 1048576)))
		FROM generate_series(0, $count - 1) i});
	return;
}

sub is_near
{
	my ($got, $expected, $name) = @_;

	ok(abs($got - $expected) <= 2, $name) or diag "got $got, expected $expected";
	note "cached: $got percent, expected: $expected";
	return;
}

sub move_index
{
	my ($to, $rate) = @_;

	$node->safe_psql('postgres', "CALL move_indexes_concurrently('moved_id', '$to', max_rate => $rate)");
	return;
}

sub fill
{
	prepare_node($node);
	$node->safe_psql('postgres', q{
		CREATE TABLE moved AS SELECT g AS id FROM generate_series(1, 3000000) g;
		CREATE INDEX moved_id ON moved (id) TABLESPACE slow;
		CREATE TABLE other WITH (fillfactor = 10) AS
			SELECT repeat('x', 600) AS t FROM generate_series(1, 7680);
		VACUUM moved, other});
	return;
}

# --- without a limit ----------------------------------------------------------------------

$node->start;
fill();
forget('moved_id');
SKIP:
{
	skip 'this file system keeps its pages in memory', 4 if cached('moved_id') > 0;

	move_index('fast', "'unlimited'");
	is_near(cached('moved_id'), 0, 'an index that was not cached is not after a move');
	move_index('slow', 'NULL');
	is_near(cached('moved_id'), 0, 'no page of the moved relation is cached after a throttled move');

	warm('moved_id', 10, 20);
	my $before = cached('moved_id');
	ok($before >= 28 && $before <= 75, 'a part of it is cached');
	move_index('fast', "'unlimited'");
	is_near(cached('moved_id'), $before, 'as much of it is cached after a move');
}
$node->stop;

# --- little memory ------------------------------------------------------------------------

# A memory group that this user may make, and the file of its limit.
sub make_group
{
	my $groups = slurp_file('/proc/self/cgroup');
	my @parents = (
		map({ [ $_, 'memory.limit_in_bytes' ] } $ENV{TSA_MEMORY_GROUP} // ()),
		map({ [ "/sys/fs/cgroup/memory$_", 'memory.limit_in_bytes' ] } $groups =~ /:memory:(.*)$/m, ''),
		map({ [ "/sys/fs/cgroup$_", 'memory.max' ] } $groups =~ /^0::(.*)$/m));

	foreach my $parent (@parents)
	{
		my ($directory, $limit) = @$parent;
		my $group = "$directory/tablespace_advisor.$$";

		next unless -w "$directory/cgroup.procs" && mkdir $group;
		return ($group, "$group/$limit") if -e "$group/$limit";
		rmdir $group;
	}
	return;
}

my ($group, $limit) = make_group();

END
{
	if ($group)
	{
		$node->stop('immediate', fail_ok => 1);
		rmdir $group;
	}
}

SKIP:
{
	skip 'no memory control group can be made here', 5 unless $group;

	append_to_file($limit, 160 * 1024 * 1024);
	start_by($node, 'sh', '-c', "echo \$\$ >$group/cgroup.procs && exec \"\$@\"", 'sh');
	foreach my $rate ("'unlimited'", 'NULL')
	{
		my $to = $rate eq 'NULL' ? 'fast' : 'slow';

		forget('moved_id');
		forget('other');
		warm('other', 0, 60) for 1 .. 2;
		is(cached('other'), '100.0', 'another table is cached');
		move_index($to, $rate);
		is_near(cached('other'), 100, "the other relation is cached after a move (max_rate => $rate)");
	}
	forget('other');
	warm('moved_id', 0, 30) for 1 .. 2;
	my $before = cached('moved_id');
	move_index('slow', "'unlimited'");
	is_near(cached('moved_id'), $before, 'what was cached is read again where there is little memory');
	$node->stop;
}

check_log($node);
done_testing();
