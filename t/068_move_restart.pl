# Copyright (c) 2026, The tablespace_advisor developers

# A server that preloads the library recovers, after a restart, the moves that
# the restart interrupted: in every database that has the extension, and in
# no other.  They go on, or fail if interrupted moves are not kept.

use TsaTest;

my $node = start_node('main',
	conf => "shared_preload_libraries = 'tablespace_advisor'\nwal_level = replica\n");
$node->safe_psql('postgres', q{
	CREATE TABLE r (id int PRIMARY KEY);
	INSERT INTO r SELECT generate_series(1, 20000);
	CREATE TABLE s (id int);
	INSERT INTO s SELECT generate_series(1, 20000);
	CREATE UNLOGGED TABLE u (id int);
	INSERT INTO u SELECT generate_series(1, 20000);
	CREATE INDEX u_id ON u (id)});

# Crashes the server while a copy is stopped; after the restart none stops.  The
# commit of a switch is not waited for, so somebody's commit is flushed first.
sub crash_at_stop
{
	$node->safe_psql('postgres',
		"SELECT pg_logical_emit_message(true, '', '')");
	$node->append_conf('postgresql.conf',
		"tablespace_advisor.debug_stop_at = ''");
	$node->stop('immediate');
	$node->start;
	return;
}

# recovered means: by the launcher, for nothing else is called here
sub wait_until_recovered
{
	my ($name) = @_;

	ok( $node->poll_query_until('postgres', q{
			SELECT count(*) = 0 FROM tablespace_moves
			WHERE state IN ('queued', 'running', 'paused', 'interrupted')}),
		"$name: recovered without a call");
	return;
}

# interrupted while copying, and after the switch
for my $case ([ 'copied', '0', 'failed', 'fast', 'pg_default' ],
	[ 'copied', '1d', 'done', 'fast', 'fast' ],
	[ 'old file truncated', '1d', 'done', 'slow', 'slow' ])
{
	my ($point, $keep, $state, $target, $place) = @$case;

	configure($node, 'tablespace_advisor.keep_interrupted', $keep);
	my $job = start_stopped_move($node, $point, 'r', $target);
	crash_at_stop();
	wait_until_recovered($point);
	is(job_field($node, $job, 'state'), $state, "$point: $state");
	is(tablespaces_of($node, 'r'), $place, "$point: the relation is in $place");
	check_btree($node, 'r_pkey', $point);
	check_orphans($node, $point);
}

# a rebuild that waits for an old snapshot leaves an invalid index, and is begun
# again
my $holder = session($node);
ask($holder, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM s;');
my $job = start_move($node, 'u', 'fast');
wait_until($node, q{EXISTS (SELECT FROM pg_class WHERE relname = 'u_id_ccnew')}, 'a new index');
$node->stop('immediate');
end_session($holder);
$node->start;
wait_until_recovered('rebuild');
is(job_field($node, $job, 'state'), 'done', 'rebuild: done');
is(job_field($node, $job, 'interruptions'), '1', 'rebuild: begun again');
ok( $node->poll_query_until('postgres', q{
		SELECT count(*) = 0 FROM pg_class WHERE relname ~ '_cc(new|old)'}),
	'rebuild: the launcher dropped what was left');

# A schema of the extension's name where the extension is not: its view calls
# a function that would run as superuser.
$node->safe_psql('postgres', q{
	CREATE ROLE mallory LOGIN;
	CREATE DATABASE theirs OWNER mallory});
$node->safe_psql('theirs', q{
	CREATE SCHEMA tablespace_advisor;
	CREATE TABLE tablespace_advisor.caught (role name);
	CREATE FUNCTION tablespace_advisor.trap() RETURNS bigint LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO tablespace_advisor.caught VALUES (current_user);
		RETURN 1;
	END $$;
	CREATE VIEW tablespace_advisor.job AS SELECT tablespace_advisor.trap() AS job_id,
		tablespace_advisor.trap() AS batch_id, 'running' AS state},
	extra_params => [ '-U', 'mallory' ]);
$job = start_stopped_move($node, 'copied', 'r', 'fast');
crash_at_stop();
wait_until_recovered('a trap');
wait_until($node, q{NOT EXISTS (SELECT FROM pg_stat_activity
	WHERE backend_type = 'tablespace_advisor recovery')}, 'the recovery workers end');
is($node->safe_psql('theirs', 'SELECT * FROM tablespace_advisor.caught'), '',
	'a foreign view of the journal is not read');
check_locks($node, 'at the end');

$node->stop;
done_testing();
