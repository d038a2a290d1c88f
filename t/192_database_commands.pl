# Copyright (c) 2026, The tablespace_advisor developers

# CREATE DATABASE ... TEMPLATE, ALTER DATABASE and DROP DATABASE beside a move in
# that database.  They wait five seconds for others to leave, and from 19 on they end
# workers that may be ended, as samples may (t/147).  A move may not: it takes too
# long to be begun again.  DROP DATABASE ... WITH (FORCE) ends it.

use TsaTest;

my $node = start_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
autovacuum = off
tablespace_advisor.keep_interrupted = 1d});

$node->safe_psql('postgres', $_)
  foreach ('DROP EXTENSION tablespace_advisor CASCADE', 'CREATE DATABASE d');
$node->safe_psql('d', 'CREATE EXTENSION tablespace_advisor');
$node->safe_psql('d', $_) foreach (
	'CREATE TABLE t (a int, b text)',
	q{INSERT INTO t SELECT n, repeat('x', 500) FROM generate_series(1, 5000) n});

# The SQLSTATE of a command, of which nothing is left to be undone.
sub sqlstate_of
{
	my ($command) = @_;
	my $out = '';

	$node->psql('postgres', "$command;\n\\echo :SQLSTATE", stdout => \$out, on_error_stop => 0);
	return $out;
}

# --- a move ---------------------------------------------------------------------------

stop_at($node, 'copied');
$node->safe_psql('d', q{CALL move_table_concurrently('t', 'fast', wait => false)}) =~ /(\d+)/
  or die 'no job';
my $job = $1;
wait_for_stop($node, 'copied');
my $pid = $node->safe_psql('d', "SELECT pid FROM tablespace_moves WHERE job_id = $job");

is(sqlstate_of($_), '55006', "refused beside a move: $_")
  foreach ('CREATE DATABASE e TEMPLATE d', 'ALTER DATABASE d RENAME TO e', 'DROP DATABASE d');
is($node->safe_psql('d', "SELECT pid, interruptions FROM tablespace_moves WHERE job_id = $job"),
	"$pid|0", 'the move goes on in the same worker');
release($node);
is($node->safe_psql('d', "SELECT wait_for_moves('{$job}')"), 't', 'the move ends');
is($node->safe_psql('d', 'SELECT state, reltablespace > 0 FROM tablespace_moves JOIN pg_class c ON c.oid = relation'),
	'done|t', 'the table is where it should be');

# --- DROP DATABASE ... WITH (FORCE) -----------------------------------------------------

my $dirs = $node->safe_psql('postgres', q{
	SELECT string_agg(format('pg_tblspc/%s/%s/%s', t.oid, v, d.oid), ' ')
	FROM pg_database d, pg_tablespace t, pg_ls_dir('pg_tblspc/' || t.oid) v WHERE datname = 'd' AND spcname = 'fast'});
ok(-d $node->data_dir . "/$dirs", 'the database has files in the tablespace');
stop_at($node, 'copied');
$node->safe_psql('d', q{CALL move_table_concurrently('t', 'slow', wait => false)});
wait_for_stop($node, 'copied');
is(sqlstate_of('DROP DATABASE d WITH (FORCE)'), '00000', 'a database can be dropped with a move under way');
release($node);
ok(!-e $node->data_dir . "/$dirs", 'the files of the database are gone');
workers_end($node, 'the worker in the database is gone');

$node->stop;
# the launcher may begin to look into the database when it has just gone
check_log($node, 'all', qr/database \d+ does not exist|terminating background worker|is being accessed by other users|due to administrator command/);
done_testing();
