# Copyright (c) 2026, The tablespace_advisor developers

# A server that preloads the library samples every database that has the
# extension, and no other; nobody's code runs in it; a crash is noticed; a
# standby keeps no samples, but can watch.

use TsaTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'tablespace_advisor, pg_stat_statements'
tablespace_advisor.sample_interval = 1s
autovacuum = off
});
$node->start;

sub samples
{
	my ($database) = @_;
	return $node->safe_psql($database,
		'SELECT coalesce(max(sample_id), 0) FROM tablespace_advisor.sample');
}

# two more than there are now
sub wait_for_samples
{
	my ($database, $name) = @_;
	my $wanted = samples($database) + 2;

	ok( $node->poll_query_until($database,
			"SELECT max(sample_id) >= $wanted FROM tablespace_advisor.sample"),
		$name);
	return;
}

# A database of somebody else's, who has made things of our names, and whose
# settings a worker would trip over.
$node->safe_psql('postgres', q{
	CREATE ROLE mallory LOGIN;
	CREATE DATABASE theirs OWNER mallory;
	CREATE DATABASE ours;
	CREATE DATABASE dropped});
$node->safe_psql('theirs', q{
	CREATE SCHEMA tablespace_advisor;
	CREATE TABLE tablespace_advisor.caught (role name);
	CREATE FUNCTION tablespace_advisor.take_sample(int) RETURNS int LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO tablespace_advisor.caught VALUES (current_user);
		RETURN 1;
	END $$},
	extra_params => [ '-U', 'mallory' ]);
$node->safe_psql('ours', q{
	CREATE EXTENSION tablespace_advisor;
	ALTER DATABASE ours SET default_transaction_read_only = on;
	ALTER DATABASE ours SET role = mallory;
	ALTER DATABASE ours SET search_path = mallory;
	ALTER DATABASE ours SET lock_timeout = 1;
	ALTER DATABASE ours SET default_transaction_isolation = serializable});
$node->safe_psql('dropped', 'CREATE EXTENSION tablespace_advisor');
$node->restart;    # asks all databases anew
my $reset = 'ALTER DATABASE ours RESET ALL';
ok( $node->poll_query_until('dropped',
		'SELECT count(*) > 1 FROM tablespace_advisor.sample'),
	'samples in one database');
$node->safe_psql('postgres', $reset)
  if !ok( $node->poll_query_until('postgres', q{
			SELECT pg_stat_get_db_tuples_inserted(oid) > 0
			FROM pg_database WHERE datname = 'ours'}),
		'samples in the other, whatever its settings');
$node->safe_psql('postgres', $reset);
wait_for_samples('ours', 'more of them');
is( $node->safe_psql('theirs', 'SELECT count(*) FROM tablespace_advisor.caught'),
	0, 'no function that only has the name is called');

# between two samples nobody is connected
$node->safe_psql('postgres', 'DROP DATABASE dropped');
pass('a database whose last sample is over can be dropped');

# a database that has just got the extension is not asked after twelve rounds
# only: other databases have had three samples at most meanwhile
$node->safe_psql('postgres', 'CREATE DATABASE late');
wait_for_samples('ours', 'rounds in which it had nothing to sample');
my $made = $node->safe_psql('late', 'CREATE EXTENSION tablespace_advisor; SELECT clock_timestamp()');
ok( $node->poll_query_until('late',
		'SELECT count(*) > 0 FROM tablespace_advisor.sample'),
	'a database that has just got the extension is sampled');
my $sampled = $node->safe_psql('late', 'SELECT min(taken_at) FROM tablespace_advisor.sample');
cmp_ok($node->safe_psql('ours', qq{
		SELECT count(*) FROM tablespace_advisor.sample WHERE taken_at BETWEEN '$made' AND '$sampled'}),
	'<=', 3, 'a database that has just got the extension is sampled in the next round');
ok( $node->poll_query_until('late',
		'SELECT count(*) > 1 FROM tablespace_advisor.sample'), 'a new database is sampled in each round');
SKIP:
{
	skip 'the kernel has no counters for this file system', 1
	  if $node->safe_psql('late', 'SELECT count(*) FROM tablespace_advisor.read_devices()') == 0;
	ok( $node->poll_query_until('late', q{
			SELECT count(*) > 0 AND bool_and(busy_percent <= 100 AND in_flight >= 0)
			FROM tablespace_io WHERE tablespace = 'pg_default'}),
		'the device under a new database is sampled');
}

# what one transaction writes, samples add up to
$node->safe_psql('ours', q{
	CREATE TABLE t (id int);
	INSERT INTO t SELECT generate_series(1, 1000)});
ok( $node->poll_query_until('ours', q{
		SELECT sum(inserted) = 1000 FROM tablespace_advisor.relation_sample
		WHERE relation = 't'::regclass}),
	'a thousand rows inserted');
is( $node->safe_psql('ours', q{
		SELECT source, round(writes_per_s * seconds)
		FROM tablespace_advisor.observed_activity(tables => ARRAY['t'::regclass]::oid[])}),
	'samples|1000', 'rates of the samples show the thousand rows');

# what statements take, by pg_stat_statements
$node->safe_psql('ours', 'CREATE EXTENSION pg_stat_statements');
wait_for_samples('ours', 'samples with pg_stat_statements');
$node->safe_psql('ours', join ';', ('SELECT pg_sleep(0.001)') x 50);
ok( $node->poll_query_until('ours', q{
		SELECT sum(statements) >= 50 AND sum(statements_ms) >= 50
		FROM tablespace_advisor.sample_interval}),
	'statements and their time');

# crash: the counters are lost
my $last = samples('ours');
$node->stop('immediate');
$node->start;
ok( $node->poll_query_until('ours', qq{
		SELECT bool_or(was_reset) FROM tablespace_advisor.sample
		WHERE sample_id > $last}),
	'a crash: counters began anew');
is( $node->safe_psql('ours', q{
		SELECT sum(inserted) FROM tablespace_advisor.relation_sample
		WHERE relation = 't'::regclass}),
	1000, 'nothing counted twice');

# a standby
$node->safe_psql('postgres', q{
	ALTER SYSTEM SET tablespace_advisor.sample_interval = 0;
	SELECT pg_reload_conf()});
my $standby = start_standby($node);
my ($rc, $out, $err) = $standby->psql('ours', 'CALL sample_activity()');
like($err, qr/cannot keep samples on a standby.*observe/s, 'standby: no samples');
is( $standby->safe_psql('ours', q{
		SELECT source, count(*) FROM tablespace_advisor.observed_activity(
			observe => '100 ms', tables => ARRAY['t'::regclass]::oid[])
		GROUP BY source}),
	'observed|1', 'standby: watching');

unlike(slurp_file($node->logfile), qr/ERROR/, 'no errors in the log');

done_testing();
