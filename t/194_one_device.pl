# Copyright (c) 2026, The tablespace_advisor developers

# Tablespaces on one device, and on devices that are unknown: what is said of them, and
# that a move between two of one device has no forecast, since it saves nothing; and the
# text in waits_for of each move that will never be judged.
#
# The forecast was the difference of two probes of one device.  Earlier tests of
# forecasts pretend that there are two devices, and those of devices move nothing; and
# no test looked at waits_for of a move that has been undone or has failed.

use TsaTest;

my $node = start_plain('main', conf => q{
shared_buffers = 1MB
autovacuum = off
});
pretend_devices($node);
$node->safe_psql('postgres', $_)
  foreach (
	'CREATE TABLE hot TABLESPACE slow AS SELECT n, repeat($$x$$, 100) AS filler FROM generate_series(1, 100000) n',
	'VACUUM ANALYZE hot', 'CALL sample_activity()');

# A sample in which the table was read from the device.
sub sample
{
	$node->safe_psql('postgres', $_)
	  foreach (
		'SELECT count(*) FROM hot; SELECT pg_stat_force_next_flush()',
		'CALL sample_activity()',
		'UPDATE tablespace_advisor.relation_sample SET cached_reads = 0',
		'DELETE FROM tablespace_advisor.tablespace_io_sample');
	return;
}
sample();

# --- forecasts ------------------------------------------------------------------------

my @jobs = ($node->safe_psql('postgres', q{CALL move_table_concurrently('hot', 'fast')}) =~ /(\d+)/);
my $forecast = 'SELECT forecast_saved_ms_per_s > 0 FROM tablespace_moves WHERE job_id = ';

is($node->safe_psql('postgres', $forecast . $jobs[0]), 't', 'a move to another device has a forecast');
push @jobs, $node->safe_psql('postgres', "SELECT undo_move($jobs[0])");
wait_for_job($node, $jobs[1]);
my ($again) = $node->safe_psql('postgres', q{CALL move_table_concurrently('hot', 'fast')}) =~ /(\d+)/;
is($node->safe_psql('postgres', $forecast . $again), '', 'before samples after the last move none has');
wait_for_job($node, $node->safe_psql('postgres', "SELECT undo_move($again)"));
sample() for 1 .. 2;
$node->safe_psql('postgres', q{
	DO $$
	BEGIN
		EXECUTE replace(pg_get_functiondef('tablespace_advisor.tablespace_facts(oid, oid)'::regprocedure),
			$a$'[]'::jsonb$a$, $a$CASE WHEN l.tablespace IN ('slow', 'fast') THEN '["slow", "fast"]'::jsonb ELSE '[]'::jsonb END$a$);
	END $$});
like($node->safe_psql('postgres', q{SELECT reason FROM advise_placement(target => 'hot', tablespace => 'fast')}), qr/same device/, 'the advice knows that they are on one device');
push @jobs, $node->safe_psql('postgres', q{CALL move_table_concurrently('hot', 'fast')}) =~ /(\d+)/;
is($node->safe_psql('postgres', "SELECT forecast_saved_ms_per_s IS NULL, state FROM tablespace_moves WHERE job_id = $jobs[2]"),
	't|done', 'a move within one device has no forecast');

# --- waits_for of moves that will never be judged ---------------------------------------

$node->safe_psql('postgres', qq{
	UPDATE tablespace_advisor.job SET state = 'failed' WHERE job_id = $jobs[2]});
is($node->safe_psql('postgres', 'SELECT verdict, waits_for FROM move_outcomes WHERE job_id IN (' . join(', ', @jobs[ 0, 2 ]) . ') ORDER BY job_id'),
	"undone|nothing: it was moved back\n|nothing: it was not moved", 'waits_for has a text for moves without an outcome');
is($node->safe_psql('postgres', q{SELECT count(*) FROM move_outcomes WHERE waits_for IS NULL AND coalesce(verdict, '') NOT IN ('verified', 'not shown', 'slower as forecast')}),
	'0', 'waits_for is NULL for known outcomes only');

# --- devices that the kernel does not show ----------------------------------------------

sub shared
{
	my ($found) = @_;

	return $node->safe_psql('postgres', qq{
		BEGIN;
		ALTER FUNCTION tablespace_advisor.tablespace_device RENAME TO kept_device;
		CREATE FUNCTION tablespace_advisor.tablespace_device(of oid, OUT location text, OUT filesystem text, OUT mount_point text,
			OUT device text, OUT device_stack text, OUT media text, OUT raid_level text, OUT members text[], OUT redundant boolean,
			OUT volatile boolean, OUT size_bytes bigint, OUT free_bytes bigint, OUT read_ahead_kb integer, OUT scheduler text,
			OUT warnings text[], OUT degraded boolean, OUT write_penalty integer, OUT write_cache text, OUT leaves text[],
			OUT file_system_id text) LANGUAGE sql AS \$\$
				SELECT (k).location, (k).filesystem, (k).mount_point, (k).device, (k).device_stack, (k).media, (k).raid_level,
					(k).members, (k).redundant, (k).volatile, (k).size_bytes, (k).free_bytes, (k).read_ahead_kb, (k).scheduler,
					'{}'::text[], (k).degraded, (k).write_penalty, (k).write_cache, f.leaves, f.id
				FROM tablespace_advisor.kept_device(of) k LEFT JOIN (VALUES $found) f (name, leaves, id)
					ON f.name = (SELECT spcname FROM pg_tablespace WHERE oid = of) \$\$;
		CREATE VIEW pg_temp.device AS } . $node->safe_psql('postgres', q{SELECT pg_get_viewdef('tablespace_advisor.device'::regclass)}) . q{
		SELECT string_agg(tablespace || ' ' || coalesce(shares_device_with::text, 'unknown'), ', ' ORDER BY tablespace)
		FROM pg_temp.device WHERE tablespace IN ('slow', 'fast');
		ROLLBACK;
	});
}

my $others = q{('pg_default', '{vda}'::text[], '8:0'), ('pg_global', '{vda}', '8:0')};

is(shared("$others, ('slow', '{vdb}', '8:1'), ('fast', '{vdc}', '8:2')"), 'fast {}, slow {}', 'two disks');
is(shared("$others, ('slow', '{vdb,vdc}', '8:1'), ('fast', '{vdc}', '8:2')"), 'fast {slow}, slow {fast}', 'a disk in common');
is(shared("$others, ('slow', NULL, '8:1'), ('fast', NULL, '8:1')"), 'fast {slow}, slow {fast}', 'one file system');
is(shared("$others, ('slow', NULL, '8:1'), ('fast', '{vdc}', '8:2')"), 'fast unknown, slow unknown', 'the device of one is unknown');
is($node->safe_psql('postgres', q{SELECT bool_and(file_system_id ~ '^\d+:\d+$'), count(DISTINCT file_system_id)
	FROM pg_tablespace t, tablespace_advisor.tablespace_device(t.oid)}), 't|1', 'tablespaces in the data directory are on one file system');

$node->stop;
done_testing();
