# Copyright (c) 2026, The tablespace_advisor developers

# A table that has grown since its move was queued, and whose copy is interrupted: no
# more is shown as done than there is.

use TsaTest;

my $node = start_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
autovacuum = off
tablespace_advisor.debug_mark_kb = 128
tablespace_advisor.keep_interrupted = 1d
});

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
release($node);
$node->safe_psql('postgres', "SELECT alter_move($job, during => 'none')");
is(wait_for_job($node, $job), 'done', 'the move is done');
$node->stop;
done_testing();
