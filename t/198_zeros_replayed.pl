# Copyright (c) 2026, The tablespace_advisor developers

# A standby that has replayed an empty page over another one, and is promoted, has zeros
# in shared buffers above something else in the file.  That is not damage: a move there
# failed, and told of zero_damaged_pages, until the next checkpoint.  Tests of damage
# (t/160) had buffers of zeros that reads had made, and those of failovers (t/175)
# copied no empty page where the copy had another one.

use TsaTest;

my $primary = start_node('primary', init => { allows_streaming => 1 }, conf => q{
wal_level = replica
autovacuum = off
checkpoint_timeout = 1h
checkpoint_completion_target = 1
bgwriter_lru_maxpages = 0
tablespace_advisor.debug_mark_kb = 256
tablespace_advisor.keep_interrupted = 1d
});
$primary->safe_psql('postgres', q{
	CREATE TABLE t (a int, b text) WITH (autovacuum_enabled = off);
	INSERT INTO t SELECT i, repeat('x', 1000) FROM generate_series(1, 700) i});
my $standby = start_standby($primary);

# Both servers have the copy's pages in files.
my $job = start_stopped_table_move($primary, 'copied', 't', 'fast');
$primary->safe_psql('postgres', 'CHECKPOINT');
$primary->wait_for_catchup($standby, 'replay');
$standby->safe_psql('postgres', 'CHECKPOINT');
$primary->append_conf('postgresql.conf', "tablespace_advisor.debug_stop_at = ''");
$primary->stop('immediate');
$primary->start;

# The table is cut off, and a crash leaves it extended by empty pages.
$primary->safe_psql('postgres', 'DELETE FROM t; VACUUM t');
is($primary->safe_psql('postgres', q{SELECT pg_relation_size('t')}), '0', 'the table is cut off');
my $file = $primary->safe_psql('postgres', q{SELECT pg_relation_filepath('t')});
$primary->stop;
append_to_file($primary->data_dir . "/$file", "\0" x (20 * 8192));
$primary->start;
$primary->safe_psql('postgres', 'CREATE TABLE other (a int)');
is($primary->safe_psql('postgres', "SELECT wait_for_moves('{$job}')"), 't', 'the move goes on');
is(job_field($primary, $job, 'state, interruptions'), 'done|1', 'the move is done');
$primary->wait_for_catchup($standby, 'replay');
$primary->stop;

$standby->promote;
move_table($standby, 't', 'slow');
is($standby->safe_psql('postgres', "SELECT state || coalesce(error, '') FROM tablespace_moves ORDER BY job_id DESC LIMIT 1"),
	'done', 'the table can be moved at the new primary');
is($standby->safe_psql('postgres', q{SELECT pg_relation_size('t') / 8192, count(*) FROM t}), '20|0', 'the moved table has its empty pages');
$standby->stop;
done_testing();
