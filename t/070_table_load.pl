# Moves of a table with TOAST values and an index of every kind under a mixed
# load, while VACUUM freezes and autovacuum runs, with and without the indexes.
# After each move every row is what was committed, by sequential scan and by
# index; heap, TOAST and visibility map are sound; every index agrees.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

my $node = new_node('main', checksums => 1, conf => "wal_level = replica\n");
$node->start;
prepare_node($node);
fill_documents($node, 5000);
check_table($node, 'as built');
check_orphans($node, 'as built');

# The judges see what they are there to see: a page that is not all-visible
# behind a bit that says so, and a row that the table does not have.
$node->safe_psql('postgres', q{
	CREATE TABLE broken (a int);
	INSERT INTO broken VALUES (1);
	VACUUM (FREEZE) broken});
my $map = $node->data_dir . '/'
  . $node->safe_psql('postgres', "SELECT pg_relation_filepath('broken')") . '_vm';
$node->stop;
my $bits = slurp_file($map);
$node->start;
$node->safe_psql('postgres', 'DELETE FROM broken');
$node->stop;
open my $fh, '>', $map or die;
binmode $fh;
print $fh $bits;
close $fh;
$node->start;
like($node->safe_psql('postgres', "SELECT tsa_heap_damage('broken')"),
	qr/^broken: bits of block 0 are t t, the page says f/,
	'a stale bit of the visibility map is found');
$node->safe_psql('postgres', 'DROP TABLE broken');
$node->safe_psql('postgres', q{
	SET session_replication_role = replica;
	BEGIN;
	DELETE FROM t WHERE id = (SELECT max(id) FROM t);
	DO $$BEGIN
		ASSERT (SELECT count(*) FROM mirror m FULL JOIN t USING (id)
			WHERE m.hash IS DISTINCT FROM hashtextextended(t::text, 0)) = 1;
	END$$;
	ROLLBACK});
pass('a missing row is found');

my $before = $node->safe_psql('postgres', q{
	SELECT c.oid, c.reltoastrelid, i.indexrelid
	FROM pg_class c JOIN pg_index i ON i.indrelid IN (c.oid, c.reltoastrelid)
	WHERE c.oid = 't'::regclass ORDER BY 3});
my $load = start_table_load($node);
my ($table, $indexes) = ('pg_default', 'pg_default');
my $n = 0;

for my $tablespace (qw(fast slow fast pg_default slow fast pg_default fast slow pg_default))
{
	my $with = $n++ % 2;
	my $rate = $n % 4 < 2 ? "'16 MB'" : 'NULL';
	my $name = "move $n, to $tablespace" . ($with ? ' with indexes' : '');

	move_table($node, 't', $tablespace,
		"with_indexes => " . ($with ? 'true' : 'false') . ", max_rate => $rate");
	$table = $tablespace;
	$indexes = $tablespace if $with;
	is( places($node, 't'),
		"table $table, toast $table, toast index $table, indexes $indexes",
		"$name: all is where it should be");
	check_table($node, $name);
	check_locks($node, $name);
}
stop_table_load($load, 'moves back and forth');

is( $node->safe_psql('postgres', q{
		SELECT c.oid, c.reltoastrelid, i.indexrelid
		FROM pg_class c JOIN pg_index i ON i.indrelid IN (c.oid, c.reltoastrelid)
		WHERE c.oid = 't'::regclass ORDER BY 3}),
	$before, 'table, TOAST table and indexes keep their OIDs');
is( $node->safe_psql('postgres', q{
		SELECT method, state, count(*),
			bool_and(lock_ms > 0 AND attempts >= 1 AND passes >= 1
				AND percent = 100 AND error IS NULL AND blocked_by IS NULL)
		FROM tablespace_moves GROUP BY 1, 2}),
	'copy|done|10|t', 'the journal says so');
cmp_ok(
	$node->safe_psql('postgres', 'SELECT max(passes) FROM tablespace_moves'),
	'>', 1, 'there were changes to follow');
check_table($node, 'after the load');
check_orphans($node, 'after the load');
check_log($node, 'moves under load');

crash($node);
check_table($node, 'after a crash');
check_orphans($node, 'after a crash');
check_checksums($node, 'after a crash');
done_testing();
