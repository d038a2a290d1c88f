# Copyright (c) 2026, The tablespace_advisor developers

# Relations that a planner hook hides from queries, as Citus does with shards
# (test/hidden_relations.c): nothing of them is called an orphan, and they are
# sampled, measured, advised on, moved and moved back like others.

use TsaTest;

my $library = "$PostgreSQL::Test::Utils::tmp_check/hidden_relations.so";
chomp(my $include = `pg_config --includedir-server`);

plan skip_all => 'there is no C compiler' if system('cc --version >/dev/null 2>&1') != 0;
system("cc -shared -fPIC -O1 -I$include -Isrc -o $library test/hidden_relations.c") == 0
  or die 'test/hidden_relations.c cannot be built';

my $node = start_node('main', conf => qq(
autovacuum = off
shared_preload_libraries = '$library'
));

# two databases: another one is looked into by a worker
foreach my $dbname ('postgres', 'other')
{
	$node->safe_psql('postgres', 'CREATE DATABASE other') if $dbname eq 'other';
	$node->safe_psql($dbname, q{
		CREATE TABLE shard_1 (a int PRIMARY KEY USING INDEX TABLESPACE slow, b text) TABLESPACE slow;
		ALTER TABLE shard_1 ALTER b SET STORAGE EXTERNAL;
		INSERT INTO shard_1 SELECT i, repeat('x', CASE WHEN i % 100 = 0 THEN 5000 ELSE 10 END)
			FROM generate_series(1, 3000) i;
		CREATE TABLE shown (a int PRIMARY KEY USING INDEX TABLESPACE slow) TABLESPACE slow;
		INSERT INTO shown SELECT generate_series(1, 3000);
		VACUUM ANALYZE});
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname LIKE 'shard%'}), '0',
	'queries do not see the shard');

is(contents($node, 'slow', where => "how = 'orphan'"), '', 'no file is called an orphan');
is(contents($node, 'slow', columns => 'count(*)', where => q{relation LIKE '%shard_1%' AND how IN ('live', 'rebuild', 'lock')}),
	'4', 'tables and indexes of both databases are listed as movable');

# a hook that cannot be turned off
configure($node, 'hidden_relations.always', 'on');
is(contents($node, 'slow', where => "how = 'orphan'"), '',
	'no file is called an orphan, whatever hides its relation');
like(contents($node, 'slow', columns => 'reason', where => q{relation LIKE '%shard_1%'}),
	qr/hidden from queries/, 'what is hidden is said to be');
configure($node, 'hidden_relations.always', 'off');

is($node->safe_psql('postgres', q{
		SELECT string_agg(DISTINCT index::regclass::text, ',') FROM measure_index_locality('shard_1')}),
	'shard_1_pkey', 'the locality of its index is measured');
$node->safe_psql('postgres', q{SELECT count(*) FROM measure_index_locality('shown')});
is($node->safe_psql('postgres', 'SELECT count(*) FROM tablespace_advisor.index_locality'), '2',
	'the locality of a hidden relation is kept when another table is measured');

$node->safe_psql('postgres', 'CALL sample_activity()');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM tablespace_advisor.sampled_relation
		WHERE relation IN ('shard_1'::regclass, 'shard_1_pkey'::regclass)}),
	'2', 'a hidden relation is sampled');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM placement_evidence('shard_1')}), '2', 'a hidden relation gets advice');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM plan_evacuation('slow', 'fast') WHERE relation::text LIKE 'shard%'}),
	'2', 'a hidden relation is in the plan of an evacuation');

# a rebuild there and back: its transient index is known and goes
my ($job) = $node->safe_psql('postgres', q{
	CALL move_indexes_concurrently('shard_1_pkey', 'fast', method => 'rebuild')}) =~ /(\d+)/;
my $back = $node->safe_psql('postgres', "SELECT undo_move($job)");
is(wait_for_job($node, $back), 'done', 'a rebuild is undone');
is($node->safe_psql('postgres', q{
		SET citus.override_table_visibility = off;
		SELECT count(*) FROM pg_class WHERE relname LIKE 'shard_1%cc%'}), '0', 'rebuild and undo of a hidden index leave no transient index');

$node->safe_psql('postgres', q{CALL evacuate_tablespace('slow', 'fast')});
is($node->safe_psql('postgres', q{
		SET citus.override_table_visibility = off;
		SELECT count(*) FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE c.relname LIKE 'shard%' AND t.spcname = 'fast'}), '2', 'a hidden relation is evacuated');
is(contents($node, 'slow', columns => 'count(*)', where => "database = 'postgres'"), '0', 'nothing of the hidden relation is left');
check_log($node) if defined &check_log;

$node->stop;
done_testing();
