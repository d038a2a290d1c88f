# Copyright (c) 2026, The tablespace_advisor developers

# An evacuation that is interrupted: by a cancel, by a crash, by a target that
# is full.  Nothing is lost, and the next call finishes the rest.  And one of
# more relations than the lock table could hold: of 2 000 partitions with
# max_locks_per_transaction = 10 (PG_TEST_EXTRA=large: 10 000 with 64).

use TsaTest;

my $large = ($ENV{PG_TEST_EXTRA} // '') =~ /\blarge\b/;
my $partitions = $large ? 10000 : 2000;

my $node = start_node('interrupted',
	conf => 'max_locks_per_transaction = ' . ($large ? 64 : 10) . "\n");
$node->safe_psql('postgres', q{
	CREATE TABLE a (id int PRIMARY KEY USING INDEX TABLESPACE slow, body text) TABLESPACE slow;
	INSERT INTO a SELECT g, repeat(md5(g::text), 20) FROM generate_series(1, 5000) g;
	CREATE TABLE b TABLESPACE slow AS SELECT id, body || 'b' AS body FROM a;
	CREATE TABLE c TABLESPACE slow AS SELECT id, body || 'c' AS body FROM a});

my @tables = qw(a b c);
sub digests
{
	return join ' ', map {
		$node->safe_psql('postgres',
			"SELECT md5(string_agg(x::text, ',' ORDER BY id)) FROM $_ x")
	} @tables;
}
my $before = digests();

# Starts a call that stops in the middle of its first copy.
sub start_evacuation
{
	stop_at($node, 'copied');
	my $call = start_sql($node, 'evacuation', q{CALL evacuate_tablespace('slow', 'fast')});
	wait_for_stop($node, 'copied');
	return $call;
}

# Ctrl-C
my $call = start_evacuation();
$call->{harness}->signal('INT');
wait_for_moves($node);
eval { $call->{harness}->finish };
like($call->{err}, qr/canceling statement due to user request/, 'cancel: the call');
is( $node->safe_psql('postgres', 'SELECT DISTINCT state FROM tablespace_moves'),
	'cancelled', 'cancel: the jobs');
release($node);
is(digests(), $before, 'cancel: the contents are the same');
check_orphans($node, 'cancel');

# The other way is free again: the locks have gone with the call.
is($node->psql('postgres', q{CALL evacuate_tablespace('fast', 'slow')}), 0,
	'cancel: the tablespaces are free');

# The other way is refused in another database too, also while nobody waits.
$node->safe_psql('postgres', 'CREATE DATABASE second');
$node->safe_psql('second', q{
	CREATE EXTENSION tablespace_advisor;
	CREATE TABLE d TABLESPACE fast AS SELECT 1 AS id});
my ($out, $err) = ('', '');
for my $case (['true', 'Another evacuation fills the first one.'],
	['false', 'A move in another database goes the other way.'])
{
	my ($wait, $reason) = @$case;
	my $back = q{CALL evacuate_tablespace('fast', 'slow')};

	stop_at($node, 'copied');
	$call = start_sql($node, 'evacuation',
		"CALL evacuate_tablespace('slow', 'fast', wait => $wait)");
	wait_for_stop($node, 'copied');
	is($node->psql('second', $back, stderr => \$err), 3, "opposite, wait $wait: refused");
	like($err, qr/ERROR:  cannot evacuate tablespace "fast" into "slow" now\nDETAIL:  $reason/,
		"opposite, wait $wait: the refusal has its reason");
	unlike($err, qr/own a lock/, "opposite, wait $wait: only locks that it has got are given back");
	release($node);
	finish_sql($call);
	wait_for_workers($node);
	is($node->psql('second', $back), 0, "opposite, wait $wait: free again");
	is($node->psql('postgres', $back), 0, "opposite, wait $wait: back");
	$node->safe_psql('second', 'ALTER TABLE d SET TABLESPACE fast');
}
$node->safe_psql('postgres', 'DROP DATABASE second');

# What has to be locked is tried again and again, and by retry_move(), too.
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE u TABLESPACE slow AS SELECT generate_series(1, 1000) AS id});
my $session = $node->background_psql('postgres');
$session->query_safe('BEGIN; SELECT count(*) FROM u');
my ($job) = $node->safe_psql('postgres', q{
	CALL evacuate_tablespace('slow', 'fast', lock_up_to => '1 MB', lock_timeout => '10 ms', wait => false);
	SELECT job_id FROM tablespace_moves WHERE relation_name = 'public.u'}) =~ /(\d+)$/;
wait_until_job($node, $job, "attempts > 0");
$node->safe_psql('postgres', "SELECT cancel_move($job)");
is(wait_for_job($node, $job), 'cancelled', 'lock: cancelled');
$job = $node->safe_psql('postgres', "SELECT retry_move($job)");
wait_until_job($node, $job, "attempts > 1");
$session->query_safe('COMMIT');
is(wait_for_job($node, $job), 'done', 'lock: moved when the lock is free');
is(job_field($node, $job, 'method'), 'lock', 'lock: the repeated move has the same method');
is( $node->safe_psql('postgres',
		"SELECT pg_size_pretty(lock_up_to) FROM tablespace_advisor.job WHERE job_id = $job"),
	'1024 kB', 'lock: up to the same size');
$job = $node->safe_psql('postgres', "SELECT undo_move($job)");
is(wait_for_job($node, $job), 'done', 'lock: undone');
$session->quit;
$node->safe_psql('postgres', q{DROP TABLE u; CALL evacuate_tablespace('fast', 'slow')});

# A crash
$call = start_evacuation();
$node->stop('immediate');
eval { $call->{harness}->finish };
$node->append_conf('postgresql.conf', "tablespace_advisor.debug_stop_at = ''");
$node->start;
is(digests(), $before, 'crash: the contents are the same');
$node->psql('postgres', q{CALL evacuate_tablespace('slow', 'fast')},
	stdout => \$out, stderr => \$err);
like($err, qr/NOTICE:  tablespace "slow" is empty/, 'crash: the next call finishes');
is(digests(), $before, 'crash: the next call loses nothing');
check_orphans($node, 'crash');
check_locks($node, 'crash');

# One call for all partitions and their indexes.
$node->safe_psql('postgres', qq{
	CREATE TABLE p (id int) PARTITION BY RANGE (id) TABLESPACE slow;
	CREATE INDEX p_id ON p (id)});
$node->safe_psql('postgres', qq{
	DO \$\$ BEGIN
		FOR i IN 1 .. $partitions LOOP
			EXECUTE format('CREATE TABLE p_%s PARTITION OF p FOR VALUES FROM (%s) TO (%s) TABLESPACE slow', i, i, i + 1);
			EXECUTE format('ALTER INDEX p_%s_id_idx SET TABLESPACE slow', i);
			COMMIT;
		END LOOP;
	END \$\$}, timeout => 1200);
is( $node->safe_psql('postgres', q{
	SELECT count(*) FROM plan_evacuation('slow', 'fast') WHERE method = 'copy'}),
	2 * $partitions, 'many: planned');
is( $node->psql('postgres', q{CALL evacuate_tablespace('slow', 'fast')},
		stdout => \$out, stderr => \$err, timeout => 1200), 0, 'many: moved');
is(scalar(() = $err =~ /NOTICE:  moved table public\.p_\d+/g), $partitions,
	'many: one line each');
unlike($err, qr/could not move/, 'many: no relation could not be moved');
is(contents($node, 'slow'), '', 'many: nothing is left');
drop_tablespace($node, 'slow', 'many');
check_log($node, 'interrupted', qr/canceling statement due to user request|canceling statement due to lock timeout|cannot evacuate tablespace|worker ended unexpectedly|FATAL:/);
$node->stop;

# A target that is full, on a file system of 2 MB, mounted where only this
# server sees it: what does not fit is not begun, and when it fills up in the
# middle, the rest stays where it is.
SKIP:
{
	my $small = PostgreSQL::Test::Utils::tempdir;
	my @alone = ('unshare', '--mount', '--map-current-user', '--keep-caps', 'sh', '-c',
		'mount -t tmpfs -o size=2M,mode=0700 tmpfs "$0" && exec "$@"', $small);
	skip 'cannot mount a small file system in a name space of its own', 6
	  if system(@alone, 'true') != 0;

	$node = new_node('full');
	PostgreSQL::Test::Utils::system_or_bail(@alone, 'pg_ctl', '-s', '-w', '-D', $node->data_dir,
		'-l', $node->logfile, '-o', '--cluster-name=full', 'start');
	$node->_update_pid(1);
	$node->safe_psql('postgres', q{
		SET allow_in_place_tablespaces = on; CREATE TABLESPACE slow LOCATION ''});
	$node->safe_psql('postgres', "CREATE TABLESPACE fast LOCATION '$small'");
	$node->safe_psql('postgres', q{
		CREATE EXTENSION tablespace_advisor;
		CREATE TABLE a (id int, body text) TABLESPACE slow;
		INSERT INTO a SELECT g, repeat('x', 500) FROM generate_series(1, 1000) g;
		CREATE TABLE b TABLESPACE slow AS SELECT * FROM a;
		CREATE TABLE c TABLESPACE slow AS SELECT * FROM a;
		CREATE TABLE d TABLESPACE slow AS SELECT * FROM a;
		CREATE TABLE hog (b text) TABLESPACE fast;
		ALTER TABLE hog ALTER b SET STORAGE PLAIN});
	$before = digests();
	$node->psql('postgres', qq{\\set VERBOSITY verbose\nCALL evacuate_tablespace('slow', 'fast')},
		stderr => \$err);
	like($err, qr/ERROR:  53100: not enough space in tablespace "fast"/,
		'full: the sum does not fit');
	$node->safe_psql('postgres', 'DROP TABLE c, d; CREATE TABLE c TABLESPACE slow AS SELECT 1 AS id');
	$before = digests();

	stop_at($node, 'storage created');
	$call = start_sql($node, 'evacuation', q{CALL evacuate_tablespace('slow', 'fast')});
	wait_for_stop($node, 'storage created');
	$node->psql('postgres', q{
		INSERT INTO hog SELECT repeat('x', 8000) FROM generate_series(1, 1000)}, stderr => \$err);
	like($err, qr/No space left on device/, 'full: somebody fills it up');
	release($node);
	$call->{harness}->finish;
	is($call->{harness}->result(0), 0, 'full: the call ends');
	like($call->{err}, qr/WARNING:  could not move table public\.[abc] .*\nDETAIL:  .*(?:No space left on device|not enough space in tablespace "fast")/,
		'full: a warning tells what could not be moved');
	is(digests(), $before, 'full: the contents are the same');
	$node->safe_psql('postgres', 'DROP TABLE hog; CHECKPOINT');
	$node->psql('postgres', q{CALL evacuate_tablespace('slow', 'fast')}, stderr => \$err);
	like($err, qr/NOTICE:  tablespace "slow" is empty/, 'full: the next call finishes');
	$node->stop;
}

done_testing();
