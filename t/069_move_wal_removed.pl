# No replication slot keeps the log for a copy.  If a segment is gone before the
# copy has read it, the copy starts over, and says so in the server's log.  Moves
# of an index, and of a table with its indexes.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

my $node = new_node('main', checksums => 1, conf => qq(
wal_level = replica
min_wal_size = 32MB
max_wal_size = 64MB
wal_keep_size = 0
autovacuum = off
));
$node->start;
prepare_node($node);
$node->safe_psql('postgres', qq{
	CREATE TABLE r (id int PRIMARY KEY, v int);
	INSERT INTO r SELECT i, 0 FROM generate_series(1, 50000) i;
	CREATE TABLE d (id int PRIMARY KEY, n int, doc text);
	ALTER TABLE d ALTER doc SET STORAGE EXTERNAL;
	INSERT INTO d SELECT i, 0, ${\document('i')} FROM generate_series(1, 1000) i;
	CREATE INDEX d_n ON d (n)});

my %kinds = (
	index => {
		table => 'r',
		start => sub { return start_move($node, 'r', 'fast') },
		change => q{
			DELETE FROM r WHERE id % 3 = 0;
			INSERT INTO r SELECT i, 1 FROM generate_series(50001, 90000) i},
		said => 'index "r_pkey"',
		places => sub { return tablespaces_of($node, 'r') },
		place => 'fast',
		indexes => 1,
	},
	table => {
		table => 'd',
		start => sub {
			return start_table_move($node, 'd', 'fast', 'with_indexes => true');
		},
		change => qq{
			UPDATE d SET doc = ${\document('id + 1')} WHERE id % 3 = 0;
			DELETE FROM d WHERE id % 10 = 0;
			INSERT INTO d SELECT i, i, ${\document('i')} FROM generate_series(2001, 2300) i;
			VACUUM (FREEZE, TRUNCATE false) d;
			UPDATE d SET n = n + 1 WHERE id % 11 = 0},
		said => '.*d"',
		places => sub { return places($node, 'd') },
		place => 'table fast, toast fast, toast index fast, indexes fast',
		indexes => 2,
	});

for my $what (sort keys %kinds)
{
	my $kind = $kinds{$what};
	my $table = $kind->{table};

	stop_at($node, 'copied');
	my $job = $kind->{start}->();
	wait_for_stop($node, 'copied');

	# changes that the copy will not find in the log any more
	my $segment = $node->safe_psql('postgres',
		'SELECT pg_walfile_name(pg_current_wal_insert_lsn())');
	$node->safe_psql('postgres', $kind->{change});
	for (1 .. 6)
	{
		$node->safe_psql('postgres',
			"SELECT pg_switch_wal(); CREATE TABLE ${what}_$_ (); CHECKPOINT");
	}
	is( $node->safe_psql('postgres',
			"SELECT count(*) FROM pg_ls_waldir() WHERE name = '$segment'"),
		'0', "$what: the segment that the copy stands at is gone");
	my $rows = digest($node, $table);
	my $map = visibility($node, $table);

	release($node);
	is(wait_for_job($node, $job), 'done', "$what: the move is done all the same");
	like(slurp_file($node->logfile),
		qr/live copy of $kind->{said} starts over because a write-ahead log segment that it needs has been removed/,
		"$what: the copy has started over");
	is($kind->{places}->(), $kind->{place}, "$what: all is in its new place");
	is(digest($node, $table), $rows, "$what: with the rows");
	is(visibility($node, $table), $map, "$what: and the visibility map");
	check_heap($node, $table, $what);
	is($node->safe_psql('postgres', "SELECT tsa_amcheck('$table')"),
		$kind->{indexes}, "$what: the indexes are right");
	check_orphans($node, $what);
	check_locks($node, $what);
}
check_log($node, 'after starting over');
check_checksums($node, 'in the end');
done_testing();
