# Copyright (c) 2026, The tablespace_advisor developers

# Figures of an interrupted copy: no more is shown as done than there is, and no less by
# the worker that goes on.

use TsaTest;

my $node = start_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
autovacuum = off
tablespace_advisor.debug_mark_kb = 128
tablespace_advisor.keep_interrupted = 1d
});

# --- a table that has grown since its move was queued --------------------------------------

$node->safe_psql('postgres', 'CREATE TABLE g (a int, b text); INSERT INTO g SELECT i, md5(i::text) FROM generate_series(1, 40000) i');
my $job = start_stopped_table_move($node, 'storage created', 'g', 'slow');
$node->safe_psql('postgres', 'INSERT INTO g SELECT i, md5(i::text) FROM generate_series(1, 80000) i');
stop_at($node, 'fsm copied');
wait_for_stop($node, 'fsm copied');
my $shown = $node->safe_psql('postgres', "SELECT bytes_total > 4000000, percent <= 100 FROM tablespace_moves WHERE job_id = $job");
is($shown, 't|t', 'while it runs the present size is the total');

# Outside its time window there is no worker that knows the present size.
$node->safe_psql('postgres', qq{
	SELECT alter_move($job, during => to_char(n + interval '2 h', 'HH24:MI') || '-' || to_char(n + interval '3 h', 'HH24:MI'))
	FROM (SELECT now() AT TIME ZONE current_setting('log_timezone') AS n) n});
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid, 60000) FROM tablespace_moves WHERE job_id = $job");
wait_until_job($node, $job, q{state = 'paused' AND opens_at IS NOT NULL});
is($node->safe_psql('postgres', "SELECT bytes_done <= bytes_total, percent <= 100 FROM tablespace_moves WHERE job_id = $job"),
	't|t', 'interrupted: no more is shown as done than there is');

# All is copied, and nothing is compared: 100 % were shown, and 99 when a worker went
# on.  Tests looked at one or at the other.
sub shown
{
	return $node->safe_psql('postgres', "SELECT bytes_done FROM tablespace_moves WHERE job_id = $job AND percent < 100");
}

my $last = shown();
cmp_ok($last, '>', 4_000_000, 'interrupted: what is to be compared is not done');
stop_at($node, 'storage made');
$node->safe_psql('postgres', "SELECT alter_move($job, during => 'none')");
wait_for_stop($node, 'storage made');
cmp_ok(shown(), '>=', $last, 'a worker begins: no less is shown as done');
stop_at($node, 'compared');
wait_for_stop($node, 'compared');
cmp_ok(shown(), '>=', $last, 'a worker goes on: no less is shown as done');
$last = shown();

# Nobody sees yet that the worker is gone: what was shown was as old as its beginning.
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\ntablespace_advisor.debug_stop_at = ''");
$node->restart;
is(job_field($node, $job, 'state'), 'running', 'the worker is gone');
cmp_ok(shown(), '>=', $last, 'the worker is gone: no less is shown as done than it had marked');
$node->safe_psql('postgres', "SELECT wait_for_moves('{$job}')");
is(job_field($node, $job, 'state, percent'), 'done|100', 'the move is done');
$node->stop;
done_testing();
