# DDL on the indexes of a table, VACUUM, and what is done to a materialized
# view, at each point of a move.
# Whoever has to wait is let pass as soon as the mover goes on, and neither
# side waits for ever.  Nobody waits for the end of a long copy.

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

my @cases = (
	# indexes that move along
	[ 'DROP INDEX', 'done', 'same', 'DROP INDEX d_n' ],
	[ 'DROP INDEX CONCURRENTLY', 'done', 'same', 'DROP INDEX CONCURRENTLY d_n' ],
	[ 'CREATE INDEX', 'done', 'same', 'CREATE INDEX ON d (n, id)' ],
	[ 'CREATE INDEX CONCURRENTLY', 'done', 'same', 'CREATE INDEX CONCURRENTLY ON d (n, id)' ],
	[ 'REINDEX INDEX', 'done', 'same', 'REINDEX INDEX d_n' ],
	[ 'REINDEX INDEX CONCURRENTLY', 'done', 'same', 'REINDEX INDEX CONCURRENTLY d_n' ],
	[ 'REINDEX TABLE', 'done', 'same', 'REINDEX TABLE d' ],
	[ 'REINDEX TABLE CONCURRENTLY', 'done', 'same', 'REINDEX TABLE CONCURRENTLY d' ],
	[ 'ALTER INDEX SET TABLESPACE', 'done', 'same', 'ALTER INDEX d_n SET TABLESPACE fast' ],
	[ 'DROP CONSTRAINT', 'done', 'same', 'ALTER TABLE d DROP CONSTRAINT d_pkey' ],
	# materialized views
	[ 'REFRESH', 'done', 'same', 'REFRESH MATERIALIZED VIEW d' ],
	[ 'REFRESH CONCURRENTLY', 'done', 'same', 'REFRESH MATERIALIZED VIEW CONCURRENTLY d' ],
	[ 'REFRESH WITH NO DATA', 'done', 'any', 'REFRESH MATERIALIZED VIEW d WITH NO DATA' ],
	# no reason to start over
	[ 'VACUUM', 'done', 'same', 'VACUUM (FREEZE) d' ],
	[ 'ANALYZE', 'done', 'same', 'ANALYZE d' ],
	[ 'ADD COLUMN', 'done', 'same', 'ALTER TABLE d ADD c int DEFAULT 7' ]);

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

# Nobody waits for the end of a copy that would take hours.
for my $sql ('TRUNCATE d', 'REINDEX TABLE CONCURRENTLY d', 'VACUUM FULL d',
	'DROP INDEX CONCURRENTLY d_n', 'REINDEX INDEX CONCURRENTLY d_n',
	'CREATE INDEX CONCURRENTLY ON d (n, id)', 'VACUUM (FREEZE) d',
	'DROP TABLE d')
{
	make_ddl_table($node, 'table');
	my $job = start_table_move($node, 'd', 'fast',
		"with_indexes => true, max_rate => '200 bytes'");
	$node->poll_query_until('postgres',
		"SELECT phase = 'copying' AND bytes_done > 0 FROM tablespace_moves WHERE job_id = $job")
	  or die 'the copy does not start';
	is(finish_sql(start_sql($node, 'slow', $sql)), '',
		"$sql does not wait for the move's end");
	$node->safe_psql('postgres', "SELECT cancel_move($job)");
	wait_for_job($node, $job);
	check_orphans($node, $sql);
}

check_locks($node, 'in the end');
check_log($node, 'DDL',
	qr/does not exist any more|canceling statement due to user|already in tablespace|cannot move/);
$node->stop;
done_testing();
