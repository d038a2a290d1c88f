# Copyright (c) 2026, The tablespace_advisor developers

# assume_tablespace(): a tablespace that is not there is advised on as the same one
# is when it has been made, but for statements.

use TsaTest;

my $node = start_plain('main', conf => q{
shared_buffers = 1MB
autovacuum = off
});

# A disk that serves one request at a time, each in so many microseconds, probed at
# depths 1 and 4.
sub serial_disk
{
	my ($name, $us) = @_;

	$node->safe_psql('postgres', probe_of($name,
		map { [ 'random read', $_, 8192, $us * $_, 1e6 / $us ] } (1, 4)));
	return;
}

$node->safe_psql('postgres', $_)
  foreach (
	q{CREATE TABLESPACE slow LOCATION ''},
	# what this machine has is of no account: no two tablespaces share a device,
	# and each has a gigabyte
	q{CREATE OR REPLACE VIEW tablespace_advisor.device AS
		SELECT t.spcname AS tablespace, d.location, d.filesystem, d.mount_point, d.device,
			d.device_stack, d.media, d.raid_level, d.members, d.redundant, false AS volatile,
			1073741824::bigint AS size_bytes, 1073741824::bigint AS free_bytes, d.read_ahead_kb,
			d.scheduler, '{}'::name[] AS shares_device_with,
			'{}'::text[] COLLATE "C" AS warnings, d.degraded, d.write_penalty, d.write_cache
		FROM pg_tablespace t, LATERAL tablespace_advisor.tablespace_device(t.oid) d
		WHERE t.spcname <> 'pg_default'},
	q{CREATE TABLE hot TABLESPACE slow AS
		SELECT n, repeat('x', 100) AS filler FROM generate_series(1, 100000) n},
	q{CREATE TABLE warm TABLESPACE slow AS
		SELECT n, repeat('x', 100) AS filler FROM generate_series(1, 50000) n},
	'VACUUM ANALYZE');
serial_disk('slow', 5000);
$node->safe_psql('postgres', $_)
  foreach (
	'CALL sample_activity()',
	'SELECT count(*) FROM hot; SELECT count(*) FROM hot; SELECT count(*) FROM warm;
		SELECT pg_stat_force_next_flush()',
	'CALL sample_activity()',
	'UPDATE tablespace_advisor.relation_sample SET cached_reads = 0',
	'DELETE FROM tablespace_advisor.tablespace_io_sample');

my $rows = q{
	SELECT rank, action, relation, to_tablespace, saved_ms_per_s, saved_percent, kind, reads_per_s
	FROM advise_placement(%s) WHERE relation IN ('hot'::regclass, 'warm'::regclass) ORDER BY relation;};
my $curve = q{SELECT * FROM placement_curve('new', 10);};
my $asked = sprintf($rows, '') . sprintf($rows, q{'12 MB'}) . sprintf($rows, q{tablespace => 'new'}) . $curve;
my $assume = q{SELECT FROM assume_tablespace('new', 100, '1 GB', 'slow');};

is($node->safe_psql('postgres', 'SELECT action FROM advise_placement() GROUP BY 1'),
	'probe first', 'without an assumed tablespace the advice is to probe');
my $assumed = $node->safe_psql('postgres', $assume . $asked);
like($assumed, qr/^\d+\|move\|hot\|new\|/m, 'moves to what is only assumed');
is($node->safe_psql('postgres', $assume . q{
		SELECT count(*), count(statement), bool_and(reason LIKE '%; it is only assumed')
		FROM advise_placement() WHERE action = 'move'}),
	'2|0|t', 'no statement, and the reason says why');
my $account = $node->safe_psql('postgres',
	"$assume SELECT explain_placement(); SELECT advise_index_placement('hot')");
like($account, qr/saves .*\n.*it is only assumed/, 'the account as text');
unlike($account, qr/^CALL /m, 'the account has no CALL to make');
like($node->safe_psql('postgres', $assume . q{SELECT tablespace_advisor.probe_statement('new', 'slow')}),
	qr/^SELECT \* FROM probe_tablespace\('slow'\);$/m, 'nothing says to probe it');
is($node->safe_psql('postgres', $assume . q{
		SELECT forget_placements();
		SELECT count(*) FROM advise_placement() WHERE action = 'move'}),
	"\n0", 'forgotten');
my ($out, $err);
$node->psql('postgres', "$assume CALL move_table_concurrently('hot', 'new')", stderr => \$err);
like($err, qr/tablespace "new" does not exist/, 'nothing moves there');
$node->psql('postgres', "$assume CALL move_indexes_concurrently('hot')", stdout => \$out, stderr => \$err);
unlike($err, qr/new/, 'a move without a target does not go there');

$node->safe_psql('postgres', q{SET allow_in_place_tablespaces = on; CREATE TABLESPACE new LOCATION ''});
serial_disk('new', 100);
is($node->safe_psql('postgres', $asked), $assumed,
	'made and probed, it is advised on alike: rows, under a budget, named, and the curve');
is($node->safe_psql('postgres',
		q{SELECT count(statement) FROM advise_placement() WHERE action = 'move'}),
	'2', 'advice on a tablespace that is there has statements');

$node->stop;
done_testing();
