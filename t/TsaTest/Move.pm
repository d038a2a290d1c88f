# Copyright (c) 2026, The tablespace_advisor developers

# Moves: starting them, stopping them at a point of their protocol, and their
# jobs.

package TsaTest::Move;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest::Server;
use TsaTest::Session;

our @EXPORT = qw(
  start_rate_node stop_at wait_for_stop wait_for_stops release
  start_move start_table_move start_stopped_move start_stopped_table_move move move_table
  job_field wait_until_job wait_for_job wait_for_moves wait_for_workers worker_pid end_state
  failed_rebuild);

# A server on which a copy at full speed takes several windows of the rate control:
# a table t of 125 MB, tablespaces one and two.
sub start_rate_node
{
	my ($conf) = @_;
	my $node = start_plain('primary', conf => qq{
autovacuum = off
tablespace_advisor.min_wal_space = 0
tablespace_advisor.wal_compression = pglz
$conf
});

	$node->safe_psql('postgres', $_)
	  foreach (
		'CREATE TABLE t (a int, b text)',
		'ALTER TABLE t ALTER b SET STORAGE PLAIN',
		q{INSERT INTO t SELECT n, repeat('x', 4100) FROM generate_series(1, 16000) n},
		q{CREATE TABLESPACE one LOCATION ''}, q{CREATE TABLESPACE two LOCATION ''});
	return $node;
}

# Makes live copies stop at a point of their protocol; '' lets them go on.
sub stop_at
{
	my ($node, $point) = @_;

	configure($node, 'tablespace_advisor.debug_stop_at', $point);
	return;
}

# Waits until so many copies have stopped at a point.
sub wait_for_stops
{
	my ($node, $n, $point) = @_;

	$node->poll_query_until('postgres', qq{
		SELECT count(*) = $n FROM pg_stat_activity
		WHERE query = 'live copy stopped at: $point'})
	  or die "$n copies do not stop at '$point': "
	  . $node->safe_psql('postgres',
		"SELECT string_agg(concat_ws(' ', relation_name, state, phase, error), ', ') FROM tablespace_moves");
	return;
}

sub wait_for_stop
{
	my ($node, $point) = @_;

	wait_for_stops($node, 1, $point);
	return;
}

sub release
{
	my ($node) = @_;

	stop_at($node, '');
	return;
}

# Queues a move by this call and returns the first job's id.
sub start_call
{
	my ($node, $procedure, $target, $tablespace, $more) = @_;

	$more = $more ? ", $more" : '';
	my $ids = $node->safe_psql('postgres',
		"CALL $procedure('$target', '$tablespace', wait => false$more)");
	$ids =~ /^\{(\d+)/ or die "no job: $ids";
	return $1;
}

sub start_move
{
	my ($node, @arguments) = @_;

	return start_call($node, 'move_indexes_concurrently', @arguments);
}

sub start_table_move
{
	my ($node, @arguments) = @_;

	return start_call($node, 'move_table_concurrently', @arguments);
}

# Queues a move and waits until it has stopped at a point; returns the job's id.
sub start_stopped_move
{
	my ($node, $point, @arguments) = @_;

	stop_at($node, $point);
	my $job = start_move($node, @arguments);
	wait_for_stop($node, $point);
	return $job;
}

sub start_stopped_table_move
{
	my ($node, $point, @arguments) = @_;

	stop_at($node, $point);
	my $job = start_table_move($node, @arguments);
	wait_for_stop($node, $point);
	return $job;
}

# Moves and waits.
sub move
{
	my ($node, $target, $tablespace, $more) = @_;

	$more = $more ? ", $more" : '';
	return $node->safe_psql('postgres',
		"CALL move_indexes_concurrently('$target', '$tablespace'$more)",
		timeout => 180);
}

# Moves a table and waits.
sub move_table
{
	my ($node, $table, $tablespace, $more) = @_;

	$more = $more ? ", $more" : '';
	return $node->safe_psql('postgres',
		"CALL move_table_concurrently('$table', '$tablespace'$more)",
		timeout => 180);
}

sub job_field
{
	my ($node, $job, $field) = @_;

	return $node->safe_psql('postgres',
		"SELECT $field FROM tablespace_moves WHERE job_id = $job");
}

# Waits until a condition on a job's row of the view is true.
sub wait_until_job
{
	my ($node, $job, $condition) = @_;

	wait_until($node,
		"(SELECT $condition FROM tablespace_moves WHERE job_id = $job)",
		"$condition, of job $job");
	return;
}

# Waits until a job has ended and returns its state.
sub wait_for_job
{
	my ($node, $job) = @_;

	wait_until_job($node, $job, q{state IN ('done', 'failed', 'cancelled')});
	return job_field($node, $job, 'state');
}

# Waits until all jobs have ended.
sub wait_for_moves
{
	my ($node) = @_;

	wait_until($node, q{NOT EXISTS (SELECT FROM tablespace_moves
		WHERE state IN ('queued', 'running', 'paused'))}, 'all moves have ended');
	return;
}

# Waits until no worker is left.
sub wait_for_workers
{
	my ($node) = @_;

	wait_until($node, q{NOT EXISTS (SELECT FROM pg_stat_activity
		WHERE backend_type = 'tablespace_advisor move')}, 'no worker is left');
	return;
}

sub worker_pid
{
	my ($node, $job) = @_;

	return $node->safe_psql('postgres',
		"SELECT worker_pid FROM tablespace_advisor.job WHERE job_id = $job");
}

# State of a job whose worker is gone, after a call that recovers it.
sub end_state
{
	my ($node, $job) = @_;

	$node->safe_psql('postgres', "SELECT cancel_move($job)");
	return job_field($node, $job, 'state');
}

# A rebuild of an index that failed: the journal says that it may have left something.
sub failed_rebuild
{
	my ($node, $index) = @_;

	$node->safe_psql('postgres', qq{
		INSERT INTO tablespace_advisor.job (batch_id, relation, heap, kind,
			schema_name, relation_name, from_tablespace, from_tablespace_name,
			to_tablespace, to_tablespace_name, method_wanted, method, state,
			bytes_total, lock_timeout_ms, owner, system_identifier, database,
			known_indexes)
		SELECT -1, c.oid, i.indrelid, 'i', 'public', c.relname,
			s.oid, 'fast', s.oid, 'fast', 'rebuild', 'rebuild', 'failed',
			0, 100, c.relowner, p.system_identifier, d.oid,
			ARRAY(SELECT indexrelid FROM pg_index k
				WHERE k.indrelid = i.indrelid)
		FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid,
			pg_tablespace s, pg_database d, pg_control_system() p
		WHERE c.oid = '$index'::regclass AND s.spcname = 'fast'
			AND d.datname = current_database()});
	return;
}

1;
