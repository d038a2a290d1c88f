# Copyright (c) 2026, The tablespace_advisor developers

# What VACUUM and ANALYZE read is not the application's: samples leave it out, by
# intervals in which neither ran, or by an estimate; so do windows that are watched.

use TsaTest;

my $node = start_plain('main', conf => q{
shared_buffers = 1MB
autovacuum = off
autovacuum_max_workers = 1
autovacuum_naptime = 1
});
$node->safe_psql('postgres', q{
	CREATE TABLE t (id int PRIMARY KEY, filler text);
	INSERT INTO t SELECT n, repeat('x', 200) FROM generate_series(1, 100000) n;
	VACUUM ANALYZE t;
	SELECT pg_stat_force_next_flush()});
my $blocks = $node->safe_psql('postgres', q{
	SELECT pg_relation_size('t') / current_setting('block_size')::int});

# One row in every block, by the index.
sub look_up
{
	my ($rows) = @_;

	$node->safe_psql('postgres', qq{
		DO \$\$
		BEGIN
			FOR i IN 1 .. $rows LOOP
				PERFORM filler FROM t WHERE id = 1 + i * 7919::bigint % 100000;
			END LOOP;
		END \$\$;
		SELECT pg_stat_force_next_flush()});
	return;
}

# reads and maintenance_reads of the table in the last sample
sub sample
{
	$node->safe_psql('postgres', 'CALL sample_activity()');
	return split /\|/, $node->safe_psql('postgres', q{
		SELECT reads, maintenance_reads FROM tablespace_advisor.relation_sample
		WHERE relation = 't'::regclass
			AND sample_id = (SELECT max(sample_id) FROM tablespace_advisor.sample)});
}

# What samples say of the table: reads in the window, and those left out.
sub window
{
	my @row = split /\|/, $node->safe_psql('postgres', q{
		SELECT reads_per_s * seconds, maintenance_reads_per_s * seconds, reads_per_s
		FROM tablespace_advisor.observed_activity(tables => ARRAY['t'::regclass]::oid[])
		WHERE relation = 't'::regclass});
	return @row;
}

# Only the last samples are of the last day.
sub forget
{
	my ($but) = @_;

	$node->safe_psql('postgres', qq{
		UPDATE tablespace_advisor.sample SET taken_at = taken_at - interval '2 days',
			started_at = started_at - interval '2 days'
		WHERE sample_id <= (SELECT max(sample_id) - $but FROM tablespace_advisor.sample)
			AND taken_at > now() - interval '1 day'});
	return;
}

sample();
look_up(2000);
my ($reads, $maintenance) = sample();
cmp_ok($reads, '>', 1000, 'look-ups count as reads');
is($maintenance, undef, 'and are nobody else\'s');
my ($window) = window();
cmp_ok(abs($window - $reads), '<', 1, 'all reads of look-ups count in the window');

# VACUUM reads the whole table; and look-ups as before
my $vacuum_t = 'VACUUM (DISABLE_PAGE_SKIPPING) t; SELECT pg_stat_force_next_flush()';
$node->safe_psql('postgres', $vacuum_t);
look_up(2000);
my ($more, $vacuum) = sample();
cmp_ok($more, '>', $reads + 0.8 * $blocks, 'VACUUM reads the table');
cmp_ok(abs($vacuum / $blocks - 1), '<', 0.2, 'the estimate of what VACUUM reads');
my (undef, $left_out, $rate) = window();
my $clean_rate = $node->safe_psql('postgres', q{
	SELECT r.reads / i.seconds FROM tablespace_advisor.relation_sample r
	JOIN tablespace_advisor.sample_interval i USING (sample_id)
	WHERE relation = 't'::regclass AND maintenance_reads IS NULL
	ORDER BY sample_id DESC LIMIT 1});
cmp_ok(abs($rate / $clean_rate - 1), '<', 0.01,
	'the intervals without VACUUM say what the application reads');

# nothing but intervals with VACUUM: the estimate is subtracted
forget(1);
($window, $left_out) = window();
cmp_ok(abs($window / $reads - 1), '<', 0.2, 'less what VACUUM is taken for');
cmp_ok(abs($left_out - $vacuum), '<', 1, 'the estimate that was subtracted is maintenance_reads_per_s');

# ANALYZE of few pages, and of the table only
$node->safe_psql('postgres', 'SET default_statistics_target = 1; ANALYZE t; SELECT pg_stat_force_next_flush()');
look_up(2000);
(undef, my $analyze) = sample();
cmp_ok($analyze, '>', 0, 'ANALYZE is noticed');
is( $node->safe_psql('postgres', q{
		SELECT maintenance_reads IS NULL FROM tablespace_advisor.relation_sample
		WHERE relation = 't_pkey'::regclass
			AND sample_id = (SELECT max(sample_id) FROM tablespace_advisor.sample)}),
	't', 'of indexes no reads of VACUUM are left out');

# A statement adds its reads when it is over: until then the table is vacuumed, but
# nothing was read.
$node->safe_psql('postgres', 'CREATE TABLE held AS SELECT 1');
my $holder = session($node);
ask($holder, 'BEGIN; DECLARE page CURSOR FOR TABLE held; FETCH page;');
sample();
my $counted = $node->safe_psql('postgres', q{SELECT vacuum_count FROM pg_stat_user_tables
	WHERE relname = 't'});
my $vacuumer = session($node);
send_to($vacuumer, 'VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) t, held;');
wait_until($node, q{EXISTS (SELECT FROM pg_stat_activity WHERE wait_event IN ('BufferPin', 'BufferCleanup'))},
	'VACUUM waits for a page of the next table');
is( $node->safe_psql('postgres', q{SELECT vacuum_count FROM pg_stat_user_tables
		WHERE relname = 't'}), $counted + 1, 'VACUUM has done with the first one');
look_up(2000);
my ($during, $yet) = sample();
cmp_ok(abs($during / $reads - 1), '<', 0.2, 'only look-ups count meanwhile');
is($yet, undef, 'all of them as the application\'s');
my ($watched) = $node->safe_psql('postgres', q{
	SELECT maintenance_reads_per_s FROM tablespace_advisor.observed_activity(
		observe => '200 ms', tables => ARRAY['t'::regclass]::oid[])
	WHERE relation = 't'::regclass});
is($watched, '', 'observe, too, takes nothing for the reads of VACUUM');
ask($holder, 'COMMIT;');
ask($vacuumer, 'SELECT pg_stat_force_next_flush();');
end_session($vacuumer);
look_up(2000);
my ($after, $landed) = sample();
cmp_ok($after, '>', $reads + 0.8 * $blocks, 'reads of VACUUM are counted in the end');
cmp_ok(abs($landed / $blocks - 1), '<', 0.2, 'the reads of VACUUM are taken for its own then');
end_session($holder);

# So does a worker of autovacuum, when it ends.  From 19 on it takes the table first
# that is furthest beyond its threshold.
$node->safe_psql('postgres', q{
	ALTER TABLE t SET (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0,
		autovacuum_vacuum_cost_delay = 0);
	CREATE TABLE slow WITH (autovacuum_vacuum_threshold = 100,
			autovacuum_vacuum_scale_factor = 0,
			autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)
		AS TABLE t;
	UPDATE t SET filler = filler WHERE id % 20 = 0;
	UPDATE slow SET filler = filler WHERE id % 20 = 0;
	SELECT pg_stat_force_next_flush()});
sample();
$node->safe_psql('postgres', $_) for 'ALTER SYSTEM SET autovacuum = on', 'SELECT pg_reload_conf()';
wait_until($node, q{EXISTS (SELECT FROM pg_stat_progress_vacuum WHERE relid = 'slow'::regclass)
	AND (SELECT autovacuum_count FROM pg_stat_user_tables WHERE relname = 't') = 1},
	'a worker has done with the table and is at the next');
look_up(2000);
($during, $yet) = sample();
cmp_ok(abs($during / $reads - 1), '<', 0.2, 'the worker has added no reads yet');
is($yet, undef, 'none are taken for its own');
$node->safe_psql('postgres', $_) for 'ALTER SYSTEM RESET autovacuum', 'SELECT pg_reload_conf()',
	'SELECT pg_cancel_backend(pid) FROM pg_stat_progress_vacuum';
wait_until($node, q{NOT EXISTS (SELECT FROM pg_stat_activity
	WHERE backend_type = 'autovacuum worker')}, 'the worker ends');
(undef, $landed) = sample();
cmp_ok($landed, '>', 0.8 * $blocks, 'then its reads are taken for its own');

# read by nothing but VACUUM: no reason to move it
$node->safe_psql('postgres', 'CALL sample_activity()');
$node->safe_psql('postgres', $vacuum_t);
sample();
forget(1);
like( $node->safe_psql('postgres', q{
		SELECT string_agg((evidence #>> '{activity,maintenance_reads_per_s}')::text, ',')
		FROM placement_evidence('t') WHERE relation = 't'::regclass}),
	qr/^[1-9]/, 'the evidence says what was left out');

done_testing();
