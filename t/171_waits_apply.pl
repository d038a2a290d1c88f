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
	CREATE SUBSCRIPTION s CONNECTION $$} . $publisher->connstr('postgres') . q{$$
		PUBLICATION p WITH (copy_data = false)});
$node->poll_query_until('postgres',
	q{SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate <> 'r'})
	or BAIL_OUT('the subscription is not ready');
my $before = $node->safe_psql('postgres',
	"SELECT heap_blks_read FROM pg_statio_user_tables WHERE relname = 'facts'");
$publisher->safe_psql('postgres', qq{
	UPDATE facts SET pad = 'new' WHERE id % 500 = $_;
	UPDATE facts SET pad = 'newer' WHERE id % 500 = $_}) foreach 1 .. 5;
$publisher->wait_for_catchup('s');
# the worker hands in what it has at the end of a transaction, or when it ends
$node->safe_psql('postgres', 'ALTER SUBSCRIPTION s DISABLE');
$node->poll_query_until('postgres',
	q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'logical replication % worker'})
	or BAIL_OUT('the worker did not end');
is( $node->safe_psql('postgres', qq{
		SELECT w.reads > 300, abs(w.reads - (s.heap_blks_read - $before)) < 0.1 * w.reads,
			w.waited_ms > 0
		FROM pg_statio_user_tables s JOIN tablespace_advisor.wait_relations() w USING (relid)
		WHERE s.relname = 'facts' AND w.class = 'application' AND w.access = 'modified'}),
	't|t|t', 'blocks of the table that apply has read, and their time');
is( $node->safe_psql('postgres', q{
		SELECT reads > 50 FROM tablespace_advisor.wait_relations()
		WHERE relid = 'facts_pkey'::regclass AND access = 'modified'}), 't',
	'reads of the index are counted');
$node->stop;
$publisher->stop;

done_testing();
