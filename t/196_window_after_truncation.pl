# Copyright (c) 2026, The tablespace_advisor developers

# A file is truncated while the copy lets others pass, and the time window closes before
# it has its locks again: the copy is of no use, and the move waits for its next window.
# Windows were tested without a truncation, and truncations without a window.

use TsaTest;

my $node = start_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
autovacuum = off
log_timezone = 'Asia/Kolkata'
tablespace_advisor.debug_mark_kb = 128
});

make_toasted_table($node);
$node->safe_psql('postgres', 'CREATE EXTENSION IF NOT EXISTS pg_visibility; VACUUM t');

sub alter
{
	my ($job, $opens, $closes) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT alter_move($job, during => to_char(n + interval '$opens', 'HH24:MI:SS') || '-' || to_char(n + interval '$closes', 'HH24:MI:SS'))
		FROM (SELECT now() AT TIME ZONE current_setting('log_timezone') AS n) n});
}

my $job = start_stopped_table_move($node, 'copied', 't', 'slow', 'with_indexes => true');
my $holder = session($node);
my $waiting = start_sql($node, 'truncate',
	"BEGIN; LOCK t IN ACCESS EXCLUSIVE MODE; SELECT pg_truncate_visibility_map('t'); SELECT pg_sleep(3600)");
ok(is_waiting($waiting), 'somebody waits for the mover');
release($node);
wait_until_job($node, $job, q{phase = 'waiting for lock'});
alter($job, '2 h', '3 h');
wait_until_job($node, $job, q{state NOT IN ('running')});
is($node->safe_psql('postgres', "SELECT concat_ws(' ', CASE WHEN state IN ('queued', 'paused') THEN 'waits' ELSE state END, error) FROM tablespace_moves WHERE job_id = $job"),
	'waits', 'the move waits for its window');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3600)' AND pid <> pg_backend_pid()});
alter($job, '-1 h', '2 h');
is(wait_for_job($node, $job), 'done', 'the move is done in the next one');
check_orphans($node, 'after all');
check_no_crash($node);
$node->stop;
done_testing();
