# Copyright (c) 2026, The tablespace_advisor developers

# From 18 on, measuring a locality finds the way to an I/O worker and back, by which
# bitmap heap scans are priced.  Earlier tests had the same figure on every machine.

use TsaTest;

my $node = start_planning_node();
my $workers = $node->safe_psql('postgres', 'SHOW server_version_num') >= 180000;
my $measured = q{SELECT read_times[11] > 0 AND read_times[11] < 1e6, array_length(read_times, 1)
	FROM tablespace_advisor.index_locality WHERE index = 't_k'::regclass};

# The server starts with a table that shared buffers do not have.
sub measure_anew
{
	my ($method) = @_;

	$node->append_conf('postgresql.conf', "io_method = $method") if $workers;
	$node->restart;
	$node->safe_psql('postgres', q{SELECT count(*) FROM measure_index_locality('t')});
	return $node->safe_psql('postgres', $measured);
}

$node->safe_psql('postgres', q{
	CREATE TABLE t AS SELECT i, i * 7919 % 60000 AS k, repeat('x', 60) AS pad
	FROM generate_series(0, 59999) i;
	CREATE INDEX t_k ON t (k);
	VACUUM ANALYZE t});
is(measure_anew('sync'), '|11', 'without workers there is nothing to measure');
is(measure_anew('worker'), $workers ? 't|11' : '|11', 'with workers the way to them is measured');

# the cost of a bitmap heap scan of 1000 rows if the way takes so long
sub cost_of
{
	my ($times) = @_;

	$node->safe_psql('postgres', "UPDATE tablespace_advisor.index_locality SET read_times = $times");
	my ($cost) = $node->safe_psql('postgres', q{
		SET tablespace_advisor.correct_locality = on;
		SET effective_io_concurrency = 1;
		SET enable_seqscan = off;
		SET enable_indexscan = off;
		EXPLAIN SELECT pad FROM t WHERE k < 1000}) =~ /Bitmap Heap Scan.*?\.\.([\d.]+)/;
	return $cost;
}

my $short = cost_of('read_times[1:10] || 1.0::float8');
my $long = cost_of('read_times[1:10] || 90.0::float8');
my $unknown = cost_of('read_times[1:10] || NULL::float8');
if ($workers)
{
	cmp_ok($short, '<', $unknown, 'a short way makes the scan cheaper than one that was not measured');
	cmp_ok($unknown, '<', $long, 'a long one makes it dearer');
}
else
{
	is("$short $long", "$unknown $unknown", 'no version before 18 knows of workers');
}
is(cost_of('read_times[1:10]'), $unknown, 'localities that 1.0 has kept are used');

$node->stop;
done_testing();
