# Copyright (c) 2026, The tablespace_advisor developers

# The judges of the other tests find what they are there to find: an orphaned
# file, an index that lacks a row, a bit of the visibility map that the page does
# not have, a row that is missing.

use TsaTest;

my $node = start_node('main', checksums => 1, conf => "wal_level = replica\n");
fill_documents($node, 5000);
check_table($node, 'as built');
check_orphans($node, 'as built');

my $base = $node->safe_psql('postgres', q{
	SELECT 'base/' || oid FROM pg_database WHERE datname = 'postgres'});
append_to_file($node->data_dir . "/$base/999999_fsm", '');
is( $node->safe_psql('postgres', 'SELECT tsa_orphans()'),
	"$base/999999_fsm", 'an orphaned file is found');
unlink $node->data_dir . "/$base/999999_fsm";

$node->safe_psql('postgres', q{
	UPDATE pg_index SET indisready = false, indislive = false
		WHERE indexrelid IN ('t_hash'::regclass, 't_brin'::regclass,
			't_spgist'::regclass);
	UPDATE t SET h = (h + 1) % 50, p2 = point(1, 1), b = 17777
		WHERE id = (SELECT max(id) FROM t);
	UPDATE pg_index SET indisready = true, indislive = true
		WHERE indrelid = 't'::regclass});
my $damage = $node->safe_psql('postgres', q{
	BEGIN ISOLATION LEVEL REPEATABLE READ;
	SELECT tsa_damage();
	COMMIT});
like($damage, qr/^t_hash: .*^t_spgist: .*^t_brin: /ms,
	'an index that lacks a row is found');
$node->safe_psql('postgres', 'REINDEX TABLE t');
check_content($node, 'rebuilt');

# a page that is not all-visible behind a bit that says so
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

$node->stop;
done_testing();
