# Copyright (c) 2026, The tablespace_advisor developers

# Queries on a standby beside moves on the primary: what a move writes before its
# cutover conflicts with no snapshot, so queries on other tables go on.
#
# Earlier tests read the moved table, with hot_standby_feedback on: nothing was
# removed that a query could need, and nobody looked at the records.

use TsaTest;

my $primary = PostgreSQL::Test::Cluster->new('primary');
my $standby = PostgreSQL::Test::Cluster->new('standby');

# A position in the WAL, and the first transaction ID after it.
sub position
{
	return split /\|/, $primary->safe_psql('postgres', q{
		SELECT pg_current_wal_insert_lsn(), pg_snapshot_xmax(pg_current_snapshot())});
}

# Records since a position that end queries on standbys that have begun there: they
# tell of the removal of row versions that have died since.
sub conflicts
{
	my ($from, $xid) = @_;
	my ($to) = position();
	my ($out, $err) = run_command(
		[ 'pg_waldump', '-p', $primary->data_dir . '/pg_wal', '-s', $from, '-e', $to ]);

	return join "\n",
	  grep { /(?:latestRemovedXid|snapshotConflictHorizon):? (\d+)/ && $1 >= $xid }
	  split /\n/, $out;
}

sub move_to
{
	my ($tablespace, $more) = @_;

	return start_table_move($primary, 'moved', $tablespace, $more);
}

$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q(
allow_in_place_tablespaces = on
autovacuum = off
tablespace_advisor.min_wal_space = 0
));
$primary->start;
$primary->safe_psql('postgres', $_)
  foreach (
	q{CREATE TABLESPACE one LOCATION ''},
	'CREATE EXTENSION tablespace_advisor',
	q{CREATE TABLE moved AS SELECT n, repeat('x', 1000) AS x FROM generate_series(1, 8000) n},
	'CREATE TABLE small AS SELECT n FROM generate_series(1, 20000) n',
	'CREATE TABLE other AS SELECT n FROM generate_series(1, 1000) n',
	'VACUUM (FREEZE, ANALYZE)', 'CHECKPOINT');
$primary->backup('base');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', q(
max_standby_streaming_delay = 0
hot_standby_feedback = off
));
$standby->start;

# --- a query beside a move of several seconds --------------------------------------

my @begin = position();
my $query = session($standby);

ask($query, 'BEGIN ISOLATION LEVEL REPEATABLE READ;');
is(ask($query, 'SELECT count(*) FROM other;'), 1000, 'the query reads');

stop_at($primary, 'fsm copied');
my $job = move_to('one', "max_rate => '1 MB'");

wait_until_job($primary, $job, 'percent > 0 AND mb_per_s > 0');
is(job_field($primary, $job, 'state'), 'running', 'the view shows how far the move is');
is($primary->safe_psql('postgres',
		"SELECT bytes_done, passes FROM tablespace_advisor.job WHERE job_id = $job"),
	'0|0', 'the journal does not have the progress');
wait_for_stop($primary, 'fsm copied');
is(conflicts(@begin), '', 'the copy conflicts with no query');
$primary->wait_for_catchup($standby, 'replay');
is(ask($query, 'SELECT count(*) FROM other;'), 1000, 'a query that is older than the move goes on');
ask($query, 'COMMIT;');
release($primary);
is(wait_for_job($primary, $job), 'done', 'the table moves');
is($standby->safe_psql('postgres', q{
		SELECT confl_snapshot, confl_lock FROM pg_stat_database_conflicts
		WHERE datname = 'postgres'}),
	'0|0', 'no query was cancelled');

# A job that does not end well keeps its last figures.
$job = move_to('pg_default', "max_rate => '1 MB'");
wait_until_job($primary, $job, 'bytes_done > 0');
$primary->safe_psql('postgres', "SELECT cancel_move($job)");
is(wait_for_job($primary, $job), 'cancelled', 'a move is cancelled');
is($primary->safe_psql('postgres',
		"SELECT bytes_done > 0 AND passes > 0 FROM tablespace_advisor.job WHERE job_id = $job"),
	't', 'the journal has the last figures of a cancelled move');

# --- wherever the row is on its page ------------------------------------------------

# Each move adds some versions of its row to the journal.  The last one before the
# cutover is on the page at 'fsm copied'.
my $found = '';

foreach my $n (1 .. 16)
{
	my @from = position();

	stop_at($primary, 'fsm copied');
	$job = start_table_move($primary, 'small', $n % 2 ? 'one' : 'pg_default');
	wait_for_stop($primary, 'fsm copied');
	$primary->safe_psql('postgres', 'SELECT count(*) FROM tablespace_moves');
	$found .= conflicts(@from);
	release($primary);
	wait_for_job($primary, $job);
}
is($found, '', 'no move conflicts with a query before its cutover');

# --- who sees the figures -----------------------------------------------------------

$primary->safe_psql('postgres', q{
	CREATE ROLE stranger; CREATE ROLE reader IN ROLE pg_read_all_stats});
stop_at($primary, 'copied');
$job = move_to('pg_default');
wait_for_stop($primary, 'copied');

# What a role is told of the job, with its handle or with another one.
sub seen_by
{
	my ($role, $change) = @_;
	my $handle = $primary->safe_psql('postgres',
		"SELECT progress_handle FROM tablespace_advisor.job WHERE job_id = $job");

	return $primary->safe_psql('postgres', qq{
		GRANT USAGE ON SCHEMA tablespace_advisor TO $role;
		SET ROLE $role;
		SELECT bytes_done > 0 FROM tablespace_advisor.copy_progress($job, $handle $change)});
}

is(seen_by('reader', ''), 't', 'a member of pg_read_all_stats sees the figures');
is(seen_by('stranger', ''), '', 'a stranger does not see the figures');
is(seen_by('reader', '+ 1'), '', 'a handle of no segment finds nothing');
is(seen_by('reader', '- 5000000000'), '', 'what is no handle finds nothing');
release($primary);
is(wait_for_job($primary, $job), 'done', 'the move goes on');
is(seen_by('reader', ''), '', 'when the worker is gone there are no figures');

done_testing();
