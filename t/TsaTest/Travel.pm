# Copyright (c) 2026, The tablespace_advisor developers

# What a database that uses the extension holds: made by one test, looked for
# by another after the database has travelled.

package TsaTest::Travel;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(
  old_bindirs remove_marks make_traveller look_at_traveller move_traveller);

# Older servers on this machine that have the extension, oldest first: pairs of the
# version and the folder of its programs, which TSA_OLD_BINDIR names, separated by
# colons; last this server.
sub old_bindirs
{
	my %of;

	chomp(my $own = `pg_config --bindir`);
	foreach my $bindir (split(/:/, $ENV{TSA_OLD_BINDIR} // ''), $own)
	{
		my $version = `"$bindir/postgres" --version`;
		$of{$1} = $bindir if $version =~ /(\d+)/;
	}
	my $own_version = `"$own/postgres" --version` =~ /(\d+)/ ? $1 : 0;
	return map { [ $_, $of{$_} ] } sort { $a <=> $b } grep { $_ <= $own_version } keys %of;
}

# Minor releases from November 2026 on keep a mark of their own, pg_attver, in
# every column's options, which a newer version of an earlier date cannot restore:
# it could upgrade no table at all.  Without the mark the database is as an earlier
# minor release has made it.
sub remove_marks
{
	my ($node, $dbname) = @_;
	my $marked = q{attrelid >= 16384 AND attoptions::text LIKE '{pg_attver=%}'};

	return
	  if $node->safe_psql($dbname, "SELECT count(*) FROM pg_attribute WHERE $marked") eq '0';
	diag('the column option pg_attver, which newer versions of an earlier date do not know, is removed from '
		  . $node->name);
	$node->safe_psql($dbname, "UPDATE pg_attribute SET attoptions = NULL WHERE $marked");
	return;
}

# Makes a tablespace, the extension in a schema with an odd name, a probe's
# history, settings, a moved index, and a journal with a job under way.
sub make_traveller
{
	my ($node, $dbname, $location) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $dbname");
	$node->safe_psql('postgres', qq{
		CREATE TABLESPACE travelling LOCATION '$location';
		ALTER TABLESPACE travelling SET (random_page_cost = 1.75);
		ALTER DATABASE $dbname SET tablespace_advisor.probe_max_iops = 123});
	$node->safe_psql($dbname, q{
		CREATE SCHEMA "Tool Box";
		CREATE EXTENSION tablespace_advisor SCHEMA "Tool Box";
		INSERT INTO tablespace_advisor.probe_run OVERRIDING SYSTEM VALUE
		SELECT n, 'travelling', '/somewhere', '/dev/sd' || n, 'scratch',
			268435456, '3 s', '2026-01-01 UTC'::timestamptz + n * interval '1 day',
			'2026-01-01 UTC'::timestamptz + n * interval '1 day 3 s', n
		FROM generate_series(1, 3) n;
		SELECT setval('tablespace_advisor.probe_run_run_id_seq', 3);
		INSERT INTO tablespace_advisor.probe_result
			(run_id, workload, queue_depth, io_size, samples, iops, mean_us, caveat, histogram)
		SELECT n, 'random read', d, 8192, 1000 * n, 120, 8200.5, 'caveat ' || n,
			ARRAY[ARRAY[4096, 10 * n], ARRAY[8192, d]]
		FROM generate_series(1, 3) n, unnest('{1,16}'::int[]) d;
		CREATE TABLE moved (id int PRIMARY KEY, payload text);
		INSERT INTO moved SELECT n, 'row ' || n FROM generate_series(1, 1000) n;
		CREATE VIEW needs_extension AS
			SELECT relation, fork FROM "Tool Box".estimate_pgbench_size(1)});
	$node->safe_psql($dbname,
		q{CALL "Tool Box".move_indexes_concurrently('moved', 'travelling')});

	# as a crash in the middle of a move leaves the journal
	$node->safe_psql($dbname, q{
		UPDATE tablespace_advisor.job SET state = 'running',
			finished_at = NULL, phase = 'copying', worker_pid = 1});
}

# Everything of the above that has to survive, as text.
sub look_at_traveller
{
	my ($node, $dbname) = @_;

	return $node->safe_psql($dbname, q{
		SET search_path = pg_catalog;
		SET timezone = 'UTC';
		SELECT 'extension', extversion, extnamespace::regnamespace
		FROM pg_extension WHERE extname = 'tablespace_advisor';
		SELECT * FROM tablespace_advisor.probe_run ORDER BY run_id;
		SELECT * FROM tablespace_advisor.probe_result
		ORDER BY run_id, queue_depth;
		SELECT last_value, is_called FROM tablespace_advisor.probe_run_run_id_seq;
		SELECT 'setting', current_setting('tablespace_advisor.probe_max_iops');
		SELECT spcname, spcoptions FROM pg_tablespace WHERE spcname = 'travelling';
		SELECT c.oid::regclass, t.spcname FROM pg_class c
		LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE c.relname IN ('moved', 'moved_pkey') ORDER BY 1;
		SELECT 'view', count(*) > 0 FROM public.needs_extension});
}

# A new move of what the unfinished job was about; returns the states of all
# jobs and where the index is.
sub move_traveller
{
	my ($node, $dbname) = @_;

	$node->safe_psql($dbname,
		q{CALL "Tool Box".move_indexes_concurrently('public.moved', 'pg_default')});
	return $node->safe_psql($dbname, q{
		SELECT string_agg(DISTINCT state, ',') FILTER (WHERE to_tablespace = 'pg_default'),
			count(*) FILTER (WHERE state IN ('queued', 'running', 'paused'))
		FROM "Tool Box".tablespace_moves;
		SELECT reltablespace FROM pg_class WHERE relname = 'moved_pkey'});
}

1;
