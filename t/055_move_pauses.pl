# Copyright (c) 2026, The tablespace_advisor developers

# A live copy pauses while a standby, a synchronous standby,
# a slot, the archive or pg_wal is behind or short, says why, and goes on by
# itself; not for a slot that has been invalidated.

use TsaTest;

my $node = start_plain('primary', init => { allows_streaming => 1, extra => ['--wal-segsize=1'] }, conf => q{
tablespace_advisor.keep_interrupted = 0
autovacuum = off
tablespace_advisor.min_wal_space = 0
});
$node->safe_psql('postgres', q{
	CREATE TABLE t (a int PRIMARY KEY);
	INSERT INTO t SELECT generate_series(1, 10000);
});
$node->safe_psql('postgres', "CREATE TABLESPACE $_ LOCATION ''") for qw(fast slow);

# A move pauses for a reason; when that is gone it ends well.
sub pauses_until
{
	my ($name, $tablespace, $reason, $end, $arguments) = @_;
	my $job = start_move($node, 't', $tablespace, $arguments);

	$node->poll_query_until('postgres', qq{
		SELECT phase LIKE 'paused: $reason' FROM tablespace_moves WHERE job_id = $job})
	  or diag job_field($node, $job, 'phase');
	like(job_field($node, $job, 'phase'), qr/^paused: /, "$name: pauses");
	is(job_field($node, $job, 'state'), 'running', "$name: runs");
	like(job_field($node, $job, 'rate_reason'),
		$arguments ? qr/^paused: .*; it cannot end by finish_by$/ : qr/^paused: [^;]*$/,
		"$name: the reason of the rate");
	is(job_field($node, $job, 'present_mb_per_s'), '0', "$name: its rate is 0");
	is($node->safe_psql('postgres',
			"SELECT waits_for LIKE 'paused: $reason' FROM tablespace_moves_active WHERE job_id = $job"),
		't', "$name: tablespace_moves_active says what it waits for");
	is($node->safe_psql('postgres', q{
			SELECT count(*) FROM pg_stat_activity
			WHERE backend_type = 'tablespace_advisor move' AND backend_xmin IS NOT NULL
				AND now() - xact_start > interval '1 min'}),
		'0', "$name: no old snapshot");
	$end->();
	is(wait_for_job($node, $job), 'done', "$name: the move goes on by itself");
	ok(job_field($node, $job, 'paused_ms') > 0, "$name: the journal says how long the move paused");
	is(tablespaces_of($node, 't'), $tablespace, "$name: the relation has moved");
	return;
}

# --- pg_wal ---------------------------------------------------------------------

configure($node, 'tablespace_advisor.min_wal_space', '1000000GB');
pauses_until('pg_wal', 'fast', 'little space%',
	sub { configure($node, 'tablespace_advisor.min_wal_space', '0'); });

# --- a standby whose replay is behind --------------------------------------------

my $standby = start_standby($node);
$node->wait_for_catchup($standby);
$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
$standby->poll_query_until('postgres',
	q{SELECT pg_get_wal_replay_pause_state() = 'paused'});
configure($node, 'tablespace_advisor.max_replica_lag', '1MB');
$node->safe_psql('postgres',
	'CREATE TABLE filler AS SELECT g, repeat(md5(g::text), 30) FROM generate_series(1, 5000) g');
pauses_until('replica', 'slow', 'a standby%',
	sub { $standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()'); },
	'finish_by => now()');

# --- a synchronous standby that is gone --------------------------------------------

$node->wait_for_catchup($standby);
my $standby_name = $standby->name;
$standby->stop;
$node->safe_psql('postgres', 'SELECT pg_switch_wal()');
configure($node, 'synchronous_standby_names', $standby_name);
$node->safe_psql('postgres', "SET synchronous_commit = local; INSERT INTO t VALUES (0)");
my $ids = $node->safe_psql('postgres',
	"SET synchronous_commit = local; CALL move_indexes_concurrently('t', 'fast', wait => false)");
my ($job) = $ids =~ /^\{(\d+)/;
$node->poll_query_until('postgres', qq{
	SELECT phase LIKE 'paused: the synchronous%' FROM tablespace_moves WHERE job_id = $job})
  or diag job_field($node, $job, 'phase');
is(tablespaces_of($node, 't'), 'slow', 'synchronous: waits before the window');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock'
		AND relation = 't_pkey'::regclass}), '0', 'synchronous: holds no lock');
$standby->start;
is(wait_for_job($node, $job), 'done', 'synchronous: the move goes on by itself');
configure($node, 'synchronous_standby_names', '');
$standby->stop;

# --- a slot ---------------------------------------------------------------------

$node->safe_psql('postgres',
	q{SELECT pg_create_physical_replication_slot('forgotten', true)});
configure($node, 'max_slot_wal_keep_size', '8MB');
$node->safe_psql('postgres', 'SELECT pg_switch_wal(); CREATE TABLE filler_2 AS SELECT * FROM filler');
$node->safe_psql('postgres', 'INSERT INTO filler_2 SELECT * FROM filler');
pauses_until('slot', 'slow', '%forgotten%',
	sub { $node->safe_psql('postgres', q{SELECT pg_drop_replication_slot('forgotten')}); },
	q{finish_by => '-infinity'});

# --- the archive ----------------------------------------------------------------

configure($node, 'tablespace_advisor.max_archive_lag', '2MB');
$node->append_conf('postgresql.conf', "archive_mode = on\narchive_command = 'false'");
$node->restart;
$node->safe_psql('postgres', 'TRUNCATE filler_2; INSERT INTO filler_2 SELECT * FROM filler');
$node->safe_psql('postgres', 'SELECT pg_switch_wal()');
pauses_until('archive', 'fast', 'the archiver%',
	sub { configure($node, 'archive_command', 'true'); });

# --- a pause survives no restart -----------------------------------------------------

configure($node, 'tablespace_advisor.min_wal_space', '1000000GB');
$job = start_move($node, 't', 'slow');
$node->poll_query_until('postgres',
	"SELECT phase LIKE 'paused:%' FROM tablespace_moves WHERE job_id = $job");
# Under REPEATABLE READ: the statement must not replace the snapshot of the
# transaction that it is in.
my $reader = session($node);
ask($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t;');
$node->safe_psql('postgres', 'INSERT INTO t VALUES (-1)');
is(ask($reader, "SELECT pause_move($job);"), 't', 'pause_move() under REPEATABLE READ');
is(ask($reader, "SELECT alter_move($job, min_rate => '1 MB');"), 't',
	'alter_move() under REPEATABLE READ');
is(ask($reader, 'SELECT count(*) FROM t WHERE a = -1;'), '0',
	'REPEATABLE READ: the caller still sees what it saw before');
ask($reader, 'COMMIT;');
end_session($reader);
$node->poll_query_until('postgres',
	"SELECT state = 'paused' FROM tablespace_moves WHERE job_id = $job");
configure($node, 'tablespace_advisor.min_wal_space', '0');
is(job_field($node, $job, 'state'), 'paused', 'paused by request');
crash($node);
is(end_state($node, $job), 'failed', 'a paused job fails with the server');

# --- a slot that has been invalidated -------------------------------------------------

# One that is lost for another reason than its log keeps its position: here that of a
# standby whose primary has stopped to write what a logical one needs.
if ($node->pg_version >= 16)
{
	$node->append_conf('postgresql.conf', 'wal_level = logical');
	$node->restart;
	$node->backup('logical');
	my $heir = PostgreSQL::Test::Cluster->new('heir');
	$heir->init_from_backup($node, 'logical', has_streaming => 1);
	$heir->append_conf('postgresql.conf', 'hot_standby_feedback = on');
	$heir->start;
	$node->wait_for_catchup($heir);
	$heir->create_logical_slot_on_standby($node, 'lost', 'postgres');
	$node->append_conf('postgresql.conf', 'wal_level = replica');
	$node->restart;
	wait_until($heir, q{SELECT wal_status = 'lost' AND restart_lsn IS NOT NULL
		FROM pg_replication_slots WHERE slot_name = 'lost'}, 'the slot is invalidated');
	$node->stop;
	$heir->promote;
	$heir->safe_psql('postgres', 'INSERT INTO filler_2 SELECT * FROM filler');
	ok($heir->safe_psql('postgres', q{SELECT pg_current_wal_flush_lsn() - restart_lsn > 4000000
		FROM pg_replication_slots}), 'invalidated slot: its position is far behind');
	$job = start_move($heir, 't', 'slow');
	wait_until($heir, "SELECT state = 'done' OR phase LIKE 'paused%' FROM tablespace_moves WHERE job_id = $job",
		'the move ends or pauses');
	is(job_field($heir, $job, 'state'), 'done', 'invalidated slot: the move is done');
	$heir->stop;
}
else
{
	$node->stop;
}
done_testing();
