# Copyright (c) 2026, The tablespace_advisor developers

# Interrupted moves for which the launcher finds no worker slot when the server starts:
# it tries again a minute later.  Elsewhere there are as many slots as moves.

use TsaTest;

my $node = start_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
tablespace_advisor.sample_interval = 0
tablespace_advisor.keep_interrupted = 1d
max_logical_replication_workers = 0
autovacuum = off
});

$node->safe_psql('postgres', qq{
	CREATE TABLE $_ AS SELECT g AS a FROM generate_series(1, 20000) g}) foreach qw(a b);
stop_at($node, 'copied');
my @jobs = map { start_table_move($node, $_, 'fast') } qw(a b);
wait_for_stops($node, 2, 'copied');

# slots for the launcher, its look, and one move; the server goes before it reads that
# nothing is to stop
$node->append_conf('postgresql.conf', "max_worker_processes = 3\ntablespace_advisor.debug_stop_at = ''");
$node->stop('immediate');
$node->start;
is(wait_for_job($node, $_), 'done', "move $_ is gone on with") foreach @jobs;
is($node->safe_psql('postgres', q{
		SELECT string_agg(spcname, ' ') FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE c.relname IN ('a', 'b')}), 'fast fast', 'both tables have moved');
check_orphans($node, 'at the end');
check_no_crash($node, 'main');
$node->stop;
done_testing();
