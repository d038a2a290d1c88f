# Copyright (c) 2026, The tablespace_advisor developers

# Localities that do not describe their index any more are measured again by the
# sampler, when no session runs a statement, within a budget; what cannot be
# measured is not tried for ever.

use TsaTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'tablespace_advisor'
tablespace_advisor.sample_interval = 0
tablespace_advisor.locality_budget = 0
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION tablespace_advisor;' . planted_probe() . q{
	CREATE TABLE t AS SELECT i, repeat('x', 60) AS pad FROM generate_series(1, 20000) i;
	CREATE INDEX t_i ON t (i);
	ANALYZE t;
	CREATE TABLE u AS SELECT i FROM generate_series(1, 20000) i;
	CREATE INDEX u_i ON u (i);
	ANALYZE u;
	SELECT count(*) FROM measure_index_locality('u');
	SELECT count(*) FROM measure_index_locality('t')});

sub faults
{
	return $node->safe_psql('postgres', q{
		SELECT string_agg(index::regclass || ' ' || fault, ', ' ORDER BY index::regclass::text)
		FROM tablespace_advisor.void_locality});
}

sub set_parameter
{
	my ($name, $value) = @_;

	$node->safe_psql('postgres', "ALTER SYSTEM SET $name = $value");
	$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
	return;
}

# so many samples that one has begun after this was called, and been followed
sub wait_for_samples
{
	my ($name) = @_;
	my $last = $node->safe_psql('postgres', 'SELECT max(sample_id) FROM tablespace_advisor.sample');

	ok( $node->poll_query_until('postgres',
			"SELECT max(sample_id) >= $last + 3 FROM tablespace_advisor.sample"), $name);
	return;
}

is(faults(), '', 'measured localities hold');
$node->safe_psql('postgres', q{
	DELETE FROM t WHERE i % 10 <> 0;
	VACUUM t;
	INSERT INTO t SELECT i * 7919 % 20000 + 1, repeat('x', 60) FROM generate_series(1, 20000) i
	WHERE (i * 7919 % 20000 + 1) % 10 <> 0;
	ANALYZE t});
is(faults(), 't_i reordered', 'the rows are in another order');
# not before: a sample's snapshot would keep VACUUM from making room
set_parameter('tablespace_advisor.sample_interval', "'1s'");
ok( $node->poll_query_until('postgres',
		'SELECT count(*) > 0 FROM tablespace_advisor.sample'), 'a first sample');
wait_for_samples('samples without a budget');
is(faults(), 't_i reordered', 'without a budget nothing is measured');

my $busy = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'),
		'-c', 'SELECT pg_sleep(600)' ], '<', \undef, '>', \my $slept, '2>', \my $ended);
$node->poll_query_until('postgres', q{
	SELECT count(*) > 0 FROM pg_stat_activity WHERE query ~ '^SELECT pg_sleep' AND state = 'active'});
set_parameter('tablespace_advisor.locality_budget', "'1MB'");
wait_for_samples('samples beside a session that runs a statement');
is(faults(), 't_i reordered', 'a busy server measures nothing');

$node->safe_psql('postgres', q{
	SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ '^SELECT pg_sleep'});
$busy->finish;
ok( $node->poll_query_until('postgres',
		'SELECT count(*) = 0 FROM tablespace_advisor.void_locality'),
	'an idle one measures again');
is( $node->safe_psql('postgres', q{
		SELECT abs(correlation) < 0.5, read_times IS NOT NULL
		FROM tablespace_advisor.index_locality WHERE index = 't_i'::regclass}),
	't|t', 'the new order is kept');

# who keeps a transaction open that has measured holds up nobody else's
my $open = session($node);
$node->safe_psql('postgres', 'REINDEX INDEX u_i');
ask($open, "BEGIN; SELECT count(*) FROM measure_index_locality('u');");
$node->safe_psql('postgres', 'REINDEX INDEX t_i');
ok( $node->poll_query_until('postgres', q{
		SELECT count(*) = 0 FROM tablespace_advisor.void_locality WHERE index = 't_i'::regclass}),
	'another index is measured');
ask($open, 'ROLLBACK;');

# more than the budget; one that cannot be read goes first and holds nobody up
set_parameter('tablespace_advisor.locality_budget', "'100kB'");
wait_for_samples('workers start with the small budget');
$node->safe_psql('postgres', $_) for 'REINDEX INDEX u_i', 'REINDEX INDEX t_i', q{
	UPDATE tablespace_advisor.index_locality SET measured_at = measured_at - interval '1 day'
	WHERE index = 'u_i'::regclass}, 'CHECKPOINT';
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('u_i')});
wait_for_samples('samples with a small budget');
is(faults(), 't_i rewritten, u_i rewritten', 'an index that is larger than the budget stays as it is');
$node->stop;
open my $handle, '+<:raw', $file or die "$file: $!";
seek $handle, 2 * 8192 + 12, 0;
print $handle "\xff\xff";
close $handle;
$node->append_conf('postgresql.auto.conf', "tablespace_advisor.locality_budget = '1MB'");
$node->start;
ok( $node->poll_query_until('postgres',
		'SELECT count(*) = 0 FROM tablespace_advisor.void_locality'),
	'the other index is measured');
is( $node->safe_psql('postgres', q{
		SELECT string_agg(index::regclass::text, ',') FROM tablespace_advisor.index_locality
		WHERE read_times IS NULL}),
	'u_i', 'the damaged one has no influence on plans any more');
like(slurp_file($node->logfile), qr/could not measure the locality of index \d+ again: invalid page/,
	'the log says why');

$node->stop;
done_testing();
