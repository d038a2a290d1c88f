# Copyright (c) 2026, The tablespace_advisor developers

# Logical apply calls no hook of the executor: its reads are measured all the
# same, per table and index.

use TsaTest;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical');
$publisher->start;
my $node = PostgreSQL::Test::Cluster->new('subscriber');
$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'tablespace_advisor'
tablespace_advisor.sample_interval = 0
shared_buffers = 1MB
max_connections = 20
autovacuum = off
});
$node->start;
foreach my $server ($publisher, $node)
{
	$server->safe_psql('postgres', q{
		CREATE TABLE facts (id int PRIMARY KEY, pad text);
		INSERT INTO facts SELECT i, repeat('x', 150) FROM generate_series(1, 50000) i});
}
$publisher->safe_psql('postgres', 'CREATE PUBLICATION p FOR TABLE facts');
$node->safe_psql('postgres', q{
	CREATE EXTENSION tablespace_advisor;
	VACUUM ANALYZE facts;
	SELECT pg_stat_force_next_flush();
	CREATE SUBSCRIPTION s CONNECTION $$} . $publisher->connstr('postgres') . q{$$
		PUBLICATION p WITH (copy_data = false)});
$node->poll_query_until('postgres',
	q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate <> 'r'})
	or BAIL_OUT('the subscription is not ready');
my $statio = "FROM pg_statio_user_tables WHERE relname = 'facts'";
my $before = $node->safe_psql('postgres', "SELECT heap_blks_read $statio");
my $updated = 0;
sub update_facts
{
	my ($modulus, $text) = @_;
	$publisher->safe_psql('postgres',
		"UPDATE facts SET pad = '$text' WHERE id % $modulus = 1");
	$publisher->wait_for_catchup('s');
	$updated += 50000 / $modulus;
}
update_facts(500, "pad $_") foreach 1 .. 5;
# Whether the worker sends its counters between two transactions depends on how
# long these take.  Here it does so each time, and misses more after that than
# before.
foreach my $modulus (400, 200, 100)
{
	update_facts($modulus, 'sent');
	$node->poll_query_until('postgres', "SELECT n_tup_upd = $updated
		FROM pg_stat_user_tables WHERE relname = 'facts'")
		or BAIL_OUT('the worker does not send its statistics');
}
# the worker hands in what it has at the end of a transaction, or when it ends
$node->safe_psql('postgres', 'ALTER SUBSCRIPTION s DISABLE');
$node->poll_query_until('postgres',
	q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'logical replication % worker'})
	or BAIL_OUT('the worker did not end');
my ($reads, $waited) = split /\|/, $node->safe_psql('postgres', q{
	SELECT reads, waited_ms FROM tablespace_advisor.wait_relations()
	WHERE relid = 'facts'::regclass AND class = 'application' AND access = 'modified'});
my $read = $node->safe_psql('postgres', "SELECT heap_blks_read - $before $statio");
cmp_ok($reads, '>', 300, 'blocks of the table that apply has read');
cmp_ok(abs($reads - $read), '<', 0.1 * $reads, "as the statistics say: $reads, $read");
cmp_ok($waited, '>', 0, 'their time');
is( $node->safe_psql('postgres', q{
		SELECT reads > 50 FROM tablespace_advisor.wait_relations()
		WHERE relid = 'facts_pkey'::regclass AND access = 'modified'}), 't',
	'reads of the index are counted');
$node->stop;
$publisher->stop;

done_testing();
