# Moves every kind of index back and forth under a mixed load, with vacuum all
# the time, and compares each index with its table after every move.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

my $node = new_node('main', conf => "wal_level = replica\n");
$node->start;
prepare_node($node);
fill_table($node, 6000);

# the judges see what they are there to see
check_content($node, 'as built');
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

my $load = start_load($node, rate => 100);
my $before = $node->safe_psql('postgres', q{
	SELECT string_agg(oid::text, ' ' ORDER BY oid) FROM pg_class
	WHERE oid IN (SELECT indexrelid FROM pg_index
		WHERE indrelid = 't'::regclass)});
for my $tablespace (qw(fast slow pg_default fast))
{
	# slowly, so that there is something to follow, and at full speed
	my $rate = $tablespace eq 'slow' ? 'NULL' : "'8 MB'";
	move($node, 't', $tablespace, "method => 'copy', max_rate => $rate");
	is(tablespaces_of($node, 't'), $tablespace, "all indexes are in $tablespace");
	check_content($node, "moved to $tablespace under load");
}
stop_load($load, 'moves back and forth');

is( $node->safe_psql('postgres', q{
		SELECT string_agg(oid::text, ' ' ORDER BY oid) FROM pg_class
		WHERE oid IN (SELECT indexrelid FROM pg_index
			WHERE indrelid = 't'::regclass)}),
	$before, 'every index keeps its OID');
is( $node->safe_psql('postgres', q{
		SELECT method, state, count(*),
			bool_and(lock_ms > 0 AND attempts >= 1 AND passes >= 1
				AND percent = 100 AND error IS NULL AND blocked_by IS NULL)
		FROM tablespace_moves GROUP BY 1, 2}),
	'copy|done|60|t', 'the journal says so');
is( $node->safe_psql('postgres', q{
		SELECT i.indexrelid::regclass, i.indisprimary, i.indisclustered,
			i.indisreplident, c.condeferrable, c.contype
		FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid
			AND c.contype <> 'f'
		WHERE i.indrelid = 't'::regclass AND (i.indisprimary
			OR i.indisclustered OR i.indisreplident OR c.oid IS NOT NULL)
		ORDER BY i.indexrelid::regclass::text COLLATE "C"}),
	"t_d|f|f|f|t|u\nt_excl|f|f|f|f|x\nt_pkey|t|f|f|f|p\n"
	  . "t_txt|f|t|f||\nt_u|f|f|t||",
	'constraints, replica identity and clustering are what they were');
cmp_ok(
	$node->safe_psql('postgres', 'SELECT max(passes) FROM tablespace_moves'),
	'>', 1, 'there were changes to follow');
check_content($node, 'after the load');
check_orphans($node, 'after the load');
check_log($node, 'moves under load');

# what the load changed is written through the moved indexes
crash($node);
check_content($node, 'after a crash');
check_orphans($node, 'after a crash');

$node->stop;
done_testing();
