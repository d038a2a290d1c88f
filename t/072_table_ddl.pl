# DDL on a table, its indexes and its TOAST table at each point of a move.
# Whoever has to wait is let pass as soon as the mover goes on, and neither
# side waits for ever.  The move then goes on, starts over, or fails with a
# reason.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

my $node = new_node('main', checksums => 1,
	conf => "wal_level = replica\nautovacuum = off\ndeadlock_timeout = 500ms\n");
$node->start;
prepare_node($node);

prepare_ddl($node);

my $gone = qr/does not exist any more/;
my $there = qr/already in tablespace/;
my @cases = (
	# rewrites and what makes storage of its own
	[ 'VACUUM FULL', 'done', 'same', 'VACUUM FULL d' ],
	[ 'CLUSTER', 'done', 'same', 'CLUSTER d USING d_txt' ],
	[ 'ADD COLUMN with a volatile default', 'done', 'same', 'ALTER TABLE d ADD c float8 DEFAULT random()' ],
	[ 'ALTER TYPE', 'done', 'same', 'ALTER TABLE d ALTER n TYPE bigint' ],
	[ 'ALTER TYPE of an indexed text', 'done', 'same', 'ALTER TABLE d ALTER txt TYPE varchar(100) COLLATE "POSIX"' ],
	[ 'TRUNCATE', 'done', 0, 'TRUNCATE d' ],
	[ 'TRUNCATE and INSERT', 'done', 500, 'BEGIN', 'TRUNCATE d', 'INSERT INTO d SELECT * FROM source WHERE id <= 500', 'COMMIT' ],
	[ 'SET TABLESPACE and back', 'done', 'same', 'BEGIN', 'ALTER TABLE d SET TABLESPACE fast', 'ALTER TABLE d SET TABLESPACE pg_default', 'COMMIT' ],
	[ 'SET TABLESPACE', $there, 'same', 'ALTER TABLE d SET TABLESPACE fast' ],
	[ 'SET TABLESPACE and TRUNCATE', $there, 500, 'BEGIN', 'ALTER TABLE d SET TABLESPACE fast', 'TRUNCATE d', 'INSERT INTO d SELECT * FROM source WHERE id <= 500', 'COMMIT' ],
	[ 'SET UNLOGGED', qr/by live copy/, 'any', 'ALTER TABLE d SET UNLOGGED' ],
	[ 'a lock and a change', 'done', 1300, 'BEGIN', 'LOCK TABLE d', 'DELETE FROM d WHERE id > 1300', 'COMMIT' ],
	# what goes away
	[ 'DROP TABLE', $gone, 'any', 'DROP TABLE d' ],
	[ 'DROP and CREATE TABLE', $gone, 1500, 'BEGIN', 'DROP TABLE d', 'CREATE TABLE d (LIKE source INCLUDING ALL)', 'INSERT INTO d SELECT * FROM source', 'COMMIT' ],
	[ 'RENAME', 'done', 'same', 'ALTER TABLE d RENAME TO e' ],
	# the TOAST table
	[ 'two rewrites', 'done', 'same', 'ALTER TABLE d ALTER doc TYPE bytea USING doc::bytea', 'ALTER TABLE d ALTER doc TYPE text USING encode(doc, \'escape\')' ]);

my $count = 0;

for my $case (@cases)
{
	my $sometimes = $count % 4 < 2 ? 'storage created' : 'switched';

	for my $point ('copied', 'synced', 'window', $sometimes)
	{
		my $with = $case->[0] =~ /INDEX|CONSTRAINT/ || $count % 2;
		try_ddl($node, $point, $with, @$case);
		$count++;
	}
	$count++;
}

check_locks($node, 'in the end');
check_log($node, 'DDL', qr/does not exist any more|already in tablespace|cannot move/);
$node->stop;
done_testing();
