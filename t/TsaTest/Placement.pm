# Copyright (c) 2026, The tablespace_advisor developers

# What tests of apply_placement() pretend: two tablespaces on one device that are
# a slow disk and a small fast one, and days of samples that nobody waited for.

package TsaTest::Placement;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use Test::More;
use TsaTest::Plan;

our @EXPORT = qw(pretend_devices forget_all where_tables_are take_days apply_round);

# Tablespaces "slow" (a read takes 5 ms) and "fast" (0.1 ms), of so many bytes.
sub pretend_devices
{
	my ($node, $fast_bytes) = @_;

	$node->safe_psql('postgres', $_)
	  foreach (
		q{CREATE TABLESPACE slow LOCATION ''},
		q{CREATE TABLESPACE fast LOCATION ''},
		two_devices($fast_bytes),
		# a wave for each move, as where the disk is nearly full
		'ALTER FUNCTION tablespace_advisor.plan_round(oid, text, bigint, boolean) RENAME TO planned_round',
		q{CREATE FUNCTION tablespace_advisor.plan_round(oid, text, bigint, boolean)
			RETURNS SETOF tablespace_advisor.planned_move LANGUAGE sql
			SET search_path = pg_catalog, pg_temp AS $$
				SELECT p.relation, p.heap, p.kind, p.schema_name, p.relation_name, p.persistence,
					p.tablespace, p.to_tablespace, p.size_bytes, p.method, p.goes_along,
					p.saved_ms_per_s, (row_number() OVER ())::int, p.reason, p.is_undo
				FROM tablespace_advisor.planned_round($1, $2, $3, $4) p $$});
	return;
}

# Forgets moves, samples, rounds and pins.
sub forget_all
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
		TRUNCATE tablespace_advisor.job, tablespace_advisor.request, tablespace_advisor.sample,
			tablespace_advisor.relation_sample, tablespace_advisor.placement_round,
			tablespace_advisor.placement_pin, tablespace_advisor.sampled_relation,
			tablespace_advisor.tablespace_io_sample, tablespace_advisor.relation_wait_sample});
	return;
}

# The tablespaces of tables in the order of their names.
sub where_tables_are
{
	my ($node, @tables) = @_;
	my $names = join ', ', map { "'$_'" } @tables;

	return $node->safe_psql('postgres', qq{
		SELECT string_agg(t.spcname, ' ' ORDER BY c.relname) FROM pg_class c
		JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.relname IN ($names)});
}

# Lets a day go by.  All that was kept becomes a day older; then there are 24
# samples of a day in which a read took 5 ms in "slow" and 0.1 ms in "fast", where
# tables were read as often as given (a hash: reads per second), with the counters of
# their devices; measured: and with the waits of the application.  Returns the
# milliseconds of reading per second.
sub take_day
{
	my ($node, $reads, %options) = @_;
	my $measured = $options{measured} ? 3600 : 'NULL::float8';
	my $values = join ', ', map { "('$_'::regclass, $reads->{$_})" } sort keys %$reads;

	return $node->safe_psql('postgres', qq{
		UPDATE tablespace_advisor.job SET queued_at = queued_at - interval '1 day',
			started_at = started_at - interval '1 day', finished_at = finished_at - interval '1 day';
		UPDATE tablespace_advisor.sample SET started_at = started_at - interval '1 day',
			taken_at = taken_at - interval '1 day';
		UPDATE tablespace_advisor.tablespace_io_sample SET measured_at = measured_at - interval '1 day';
		UPDATE tablespace_advisor.sampled_relation SET filenode_since = filenode_since - interval '1 day';
		UPDATE tablespace_advisor.placement_pin SET pinned_at = pinned_at - interval '1 day',
			ends_at = ends_at - interval '1 day';
		CREATE TEMP TABLE rate AS
		SELECT r.*, r.reads_per_s * CASE t.spcname WHEN 'fast' THEN 0.1 ELSE 5 END AS ms
		FROM (VALUES $values) r(relation, reads_per_s)
		JOIN pg_class c ON c.oid = r.relation JOIN pg_tablespace t ON t.oid = c.reltablespace;
		WITH last AS MATERIALIZED (
			SELECT coalesce(max(sample_id), 0) AS id, coalesce(max(blocks_read), 0) AS reads,
				coalesce(max(read_ms), 0) AS ms
			FROM tablespace_advisor.sample
		), hour AS (
			SELECT l.id + n + (l.id > 0)::int AS id, n,
				now() - (24 - n) * interval '1 hour' - interval '1 minute' AS t,
				s.reads * 3600 AS reads, s.ms * 3600 * (1 + (n % 2) * 0.02) AS ms, l.reads AS old_reads,
				l.ms AS old_ms
			FROM last l, generate_series(0, 24) n,
				(SELECT sum(reads_per_s) AS reads, sum(ms) AS ms FROM rate) s
			WHERE n > 0 OR l.id = 0
		)
		INSERT INTO tablespace_advisor.sample (sample_id, started_at, taken_at,
			was_reset, io_timed, blocks_read, blocks_hit, read_ms, write_ms,
			snapshots, reading_snapshots, reading_sessions, waits, waits_measured_s)
		OVERRIDING SYSTEM VALUE
		SELECT id, CASE WHEN n > 0 THEN t - interval '1 hour' END, t, false, true,
			old_reads + sum(CASE WHEN n > 0 THEN reads ELSE 0 END) OVER w, old_reads + sum(reads) OVER w,
			old_ms + sum(CASE WHEN n > 0 THEN ms ELSE 0 END) OVER w, 0, 100, 90, 90, '{}',
			CASE WHEN n > 0 THEN $measured END
		FROM hour WINDOW w AS (ORDER BY n);
		INSERT INTO tablespace_advisor.relation_sample
			(sample_id, relation, size_bytes, reads, hits, scans, tuples_read, cached_reads)
		SELECT s.sample_id, r.relation, pg_table_size(r.relation), r.reads_per_s * 3600, 0,
			r.reads_per_s * 3600, r.reads_per_s * 3600, 0
		FROM tablespace_advisor.sample s, rate r
		WHERE s.taken_at > now() - interval '24 hours' AND s.started_at IS NOT NULL AND r.reads_per_s > 0;
		INSERT INTO tablespace_advisor.tablespace_io_sample
		SELECT s.sample_id, t.oid, s.taken_at, 3600, r.reads, r.reads * 8192, r.ms, 0, 0, 0, r.ms, r.ms
		FROM tablespace_advisor.sample s, pg_tablespace t CROSS JOIN LATERAL
			(SELECT 3600 * sum(r.reads_per_s) AS reads, 3600 * sum(r.ms) AS ms FROM rate r
				JOIN pg_class c ON c.oid = r.relation WHERE c.reltablespace = t.oid) r
		WHERE s.taken_at > now() - interval '24 hours' AND s.started_at IS NOT NULL AND r.reads > 0;
		INSERT INTO tablespace_advisor.relation_wait_sample
		SELECT s.sample_id, r.relation, r.reads_per_s * 3600, 0, r.reads_per_s * 3600, r.ms * 3600,
			'application', 'index'
		FROM tablespace_advisor.sample s, rate r
		WHERE s.taken_at > now() - interval '24 hours' AND s.waits_measured_s > 0 AND r.reads_per_s > 0;
		SELECT sum(ms) FROM rate});
}

sub take_days
{
	my ($node, $days, $reads, %options) = @_;
	my $ms;

	$ms = take_day($node, $reads, %options) foreach (1 .. $days);
	return $ms;
}

# What a call of apply_placement() prints.
sub apply_round
{
	my ($node, $arguments) = @_;
	my $err;

	$node->psql('postgres', 'CALL apply_placement(' . ($arguments // '') . ')', stderr => \$err,
		on_error_stop => 1);
	return $err;
}

1;
