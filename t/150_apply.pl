# apply_placement(): a full fast tablespace, a round that makes room and moves
# what is read there, a second one at the same time, and one that undoes what
# made reading slower.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest::Session;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_buffers = 1MB
autovacuum = off
allow_in_place_tablespaces = on
});
$node->start;
$node->safe_psql('postgres', $_)
  foreach (
	'CREATE EXTENSION tablespace_advisor',
	'CREATE ROLE other LOGIN',
	q{CREATE TABLESPACE slow LOCATION ''},
	q{CREATE TABLESPACE fast LOCATION ''},
	q{INSERT INTO tablespace_advisor.probe_run
			(run_id, tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
		OVERRIDING SYSTEM VALUE
		SELECT CASE spcname WHEN 'slow' THEN 1001 ELSE 1002 END, spcname,
			pg_tablespace_location(oid), 'scratch', 268435456, '3 s', now(), now()
		FROM pg_tablespace WHERE spcname IN ('slow', 'fast')},
	q{INSERT INTO tablespace_advisor.probe_result
			(run_id, workload, queue_depth, io_size, samples, iops, mean_us, mean_low_us, mean_high_us)
		VALUES (1001, 'random read', 1, 8192, 600, 200, 5000, 4900, 5100),
			(1002, 'random read', 1, 8192, 600, 10000, 100, 98, 102)},
	# they lie on one device: pretend that they do not, and that one is full
	q{CREATE OR REPLACE FUNCTION tablespace_advisor.tablespace_facts(caller oid, table_owner oid)
		RETURNS SETOF tablespace_advisor.tablespace_fact LANGUAGE sql
		SET search_path = pg_catalog, pg_temp AS $$
			SELECT f.* FROM tablespace_advisor.tablespace_latency l
			CROSS JOIN LATERAL jsonb_populate_record(NULL::tablespace_advisor.tablespace_fact,
				jsonb_build_object('tablespace', l.tablespace, 'run_id', l.run_id,
					'random_read_us', l.random_read_us, 'random_read_low_us', l.random_read_low_us,
					'random_read_high_us', l.random_read_high_us,
					'depths', array_remove(ARRAY[CASE WHEN l.random_read_us > 0 THEN 1 END], NULL),
					'depth_read_us', array_remove(ARRAY[l.random_read_us], NULL),
					'may_create', true, 'volatile', false, 'available_bytes',
					CASE l.tablespace WHEN 'fast' THEN 100000 ELSE 1000000000 END,
					'shares_device_with', '[]'::jsonb)) f
		$$},
	q{CREATE TABLE cold TABLESPACE fast AS
		SELECT n, repeat('x', 100) AS filler FROM generate_series(1, 200000) n},
	q{CREATE TABLE hot TABLESPACE slow AS
		SELECT n, repeat('x', 100) AS filler FROM generate_series(1, 100000) n},
	'VACUUM ANALYZE hot', 'VACUUM ANALYZE cold');

# The tablespaces of both tables.
sub places
{
	return $node->safe_psql('postgres', q{
		SELECT string_agg(t.spcname, ' ' ORDER BY c.relname) FROM pg_class c
		JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.relname IN ('hot', 'cold')});
}

# What a call prints and how it ends.
sub apply
{
	my ($arguments) = @_;
	my ($out, $err);

	$node->psql('postgres', "CALL apply_placement($arguments)",
		stdout => \$out, stderr => \$err, on_error_stop => 1);
	return $err;
}

like(apply(''), qr/no samples/, 'totals are not enough');
$node->safe_psql('postgres', 'CALL sample_activity()');
$node->safe_psql('postgres', 'SELECT count(*) FROM hot');
$node->safe_psql('postgres', 'SELECT pg_stat_force_next_flush()');
$node->safe_psql('postgres', 'CALL sample_activity()');
# the system's cache has them, as it would not after a day
$node->safe_psql('postgres', 'UPDATE tablespace_advisor.relation_sample SET cached_reads = 0');
# nor does what this machine's device did tell of the tablespaces it pretends to be
$node->safe_psql('postgres', 'DELETE FROM tablespace_advisor.tablespace_io_sample');

my $advice = $node->safe_psql('postgres', q{
	SELECT string_agg(relation || ' ' || to_tablespace, ', ' ORDER BY rank) FROM advise_placement()
	WHERE action = 'move'});
is($advice, 'cold slow, hot fast', 'what is not read makes room first');
my ($code, undef, $error) = $node->psql('postgres', 'SET ROLE other; CALL apply_placement()');
like($error, qr/permission denied/, 'it is not for everybody');
like(apply(q{dry_run => true}), qr/would move.*cold.*would move.*hot/s, 'a dry run says what it would do');
is(places(), 'fast slow', 'a dry run moves nothing');
like(apply(q{max_bytes => '1 MB'}), qr/nothing is to be moved/, 'a bundle that is larger than max_bytes waits');

# Another role's round refuses nobody with rights that it lacks.
$node->safe_psql('postgres', q{
	CREATE ROLE watcher LOGIN IN ROLE pg_monitor;
	GRANT CREATE ON TABLESPACE slow, fast TO watcher;
	ALTER TABLE hot OWNER TO watcher;
	ALTER TABLE cold OWNER TO watcher});
my $first = session($node, user => 'watcher');
send_to($first, q{CALL apply_placement(max_rate => '500 kB');});
$node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM tablespace_moves_active)})
  or die 'the first round does not begin';
unlike(apply(q{dry_run => true}), qr/another round/, 'a round of a role with less rights is in nobody\'s way');
$node->safe_psql('postgres', q{
	SELECT cancel_move(job_id) FROM tablespace_moves WHERE state IN ('queued', 'running', 'paused')});
answer($first);
end_session($first);
is(places(), 'fast slow', 'a round whose moves are cancelled moves nothing') or diag $first->{err};
$node->safe_psql('postgres', q{
	ALTER TABLE hot OWNER TO CURRENT_USER;
	ALTER TABLE cold OWNER TO CURRENT_USER;
	DELETE FROM tablespace_advisor.placement_round;
	DELETE FROM tablespace_advisor.job});

$first = start_sql($node, 'first', q{CALL apply_placement(max_rate => '8 MB')});
$node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM tablespace_moves_active)})
  or die 'the first round does not begin';
like(apply(''), qr/another round/, 'a second round at the same time is refused');
(undef, undef, $error) = $node->psql('postgres', 'SET ROLE watcher; CALL apply_placement()');
like($error, qr/another round/, 'a round of a role with less rights is refused beside it');
finish_sql($first);
is(places(), 'slow fast', 'the round makes the exchange');
is($node->safe_psql('postgres', q{
	SELECT count(DISTINCT batch_id), count(*), count(forecast_saved_ms_per_s), min(verdict), max(verdict)
	FROM move_outcomes}), '1|2|2|waiting|waiting', 'one round is one batch with forecasts');
like(apply(''), qr/nothing is to be moved/, 'the next round leaves it at that');

# reads that take ten times as long after the round, an hour of samples each
$node->safe_psql('postgres', q{
	UPDATE tablespace_advisor.job SET started_at = now() - interval '1 hour 1 minute',
		finished_at = now() - interval '1 hour';
	DELETE FROM tablespace_advisor.sample;
	INSERT INTO tablespace_advisor.sample (sample_id, started_at, taken_at,
		was_reset, io_timed, blocks_read, blocks_hit, read_ms, write_ms,
		snapshots, reading_snapshots, reading_sessions, waits)
	OVERRIDING SYSTEM VALUE
	SELECT n + 1000, CASE WHEN n > 0 THEN t - interval '6 minutes' END, t, false, true,
		sum(1000) OVER w, sum(1000) OVER w, sum(1000 * CASE WHEN n <= 10 THEN 1 ELSE 10 END + n % 2) OVER w,
		0, 0, 0, 0, '{}'
	FROM (SELECT n, now() - interval '2 hours 1 minute' + n * interval '6 minutes' AS t
		FROM generate_series(0, 20) n) s
	WINDOW w AS (ORDER BY n)});
is(apply(q{verify => false}) =~ /undone/ ? 1 : 0, 0, 'without verify nothing is judged');
like(apply(''), qr/which is undone/, 'what made reading slower is undone');
is(places(), 'fast slow', 'everything is back');
is($node->safe_psql('postgres', q{SELECT count(*) FROM tablespace_advisor.placement_pin
	WHERE reason LIKE 'moved back%' AND ends_at > now()}), 2, 'what was moved back is pinned for as long as the history is kept');
is($node->safe_psql('postgres', q{SELECT count(*) FILTER (WHERE verdict = 'undone') FROM move_outcomes}),
	2, 'move_outcomes says so');
like(apply(''), qr/nothing is to be moved|no samples/, 'an undo is not undone');
$node->stop;
done_testing();
