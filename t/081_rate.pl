# Copyright (c) 2026, The tablespace_advisor developers

# The rate of a live copy: it is full while nobody else is there, less when
# others need the devices, the server or the processors, and at most max_rate;
# the view says which, and why.  Others are pretended, so that nothing depends
# on what else the machine does.

use File::Temp;
use TsaTest;

my $node = start_rate_node('');
my $target = 'one';

# Moves the table, 125 MB, while these others are there; returns what the view
# says when all is copied, or this as soon as it says so, and checks that the move
# ends well.
sub move_beside
{
	my ($others, $arguments, $awaited) = @_;
	my ($job, $reason);

	configure($node, 'tablespace_advisor.debug_others', $others);
	stop_at($node, 'copied');
	$job = $node->safe_psql('postgres', qq{
		CALL move_table_concurrently('t', '$target', wait => false $arguments)});
	$job =~ s/[{}]//g;
	wait_until_job($node, $job, "rate_reason = '$awaited'") if $awaited;
	wait_for_stop($node, 'copied');
	$reason = $awaited // job_field($node, $job, 'rate_reason');
	ok(job_field($node, $job, 'present_mb_per_s') > 0, "$others: a rate");
	release($node);
	is(wait_for_job($node, $job), 'done', "$others: the move ends");
	is(job_field($node, $job, 'rate_reason'), '', "$others: a job that has ended has no reason of a rate");
	$target = $target eq 'one' ? 'two' : 'one';
	return ($reason, $job);
}

my %said = (
	nobody => qr/^full speed: nobody else/,
	source => qr/^others read from the source/,
	target => qr/^others read from the target/,
	server => qr/^other transactions write/,
	processor => qr/^others need the processors/,
);
foreach my $others (sort keys %said)
{
	my ($reason) = move_beside($others, '');

	like($reason, $said{$others}, "$others: the reason");
}

# Who reads is seen before anything is copied.
foreach my $others ('source', 'nobody')
{
	my ($job, $reason);

	configure($node, 'tablespace_advisor.debug_others', $others);
	$job = start_stopped_table_move($node, 'looked', 't', $target);
	is(job_field($node, $job, 'bytes_done'), 0,
		"$others: nothing is copied before the first look");
	$reason = job_field($node, $job, 'rate_reason');
	if ($others eq 'source')
	{
		like($reason, $said{source}, "$others: the first look finds them");
	}
	else
	{
		unlike($reason, $said{source}, "$others: the first look finds nobody");
	}
	release($node);
	is(wait_for_job($node, $job), 'done', "$others: the move ends after the look");
	$target = $target eq 'one' ? 'two' : 'one';
}

is($node->safe_psql('postgres', q{
		SELECT tablespace_advisor.moved_rate(a.oid, b.oid, 'copy') > 0,
			tablespace_advisor.moved_rate(a.oid, a.oid, 'copy') IS NULL
		FROM pg_tablespace a, pg_tablespace b
		WHERE a.spcname = 'one' AND b.spcname = 'two'}),
	't|t', 'moves show a rate');

# --- max_rate ----------------------------------------------------------------

# so low that a busy machine makes it, too, now and then
my ($reason, $job) =
  move_beside('nobody', ", max_rate => '20 MB'", 'bounded by max_rate');
is($reason, 'bounded by max_rate', 'a bound is the reason');
ok($node->safe_psql('postgres', qq{
		SELECT extract(epoch FROM finished_at - started_at) >=
			bytes_total / (20 * 1048576.0)
		FROM tablespace_moves WHERE job_id = $job}) eq 't',
	'max_rate is not exceeded');

($reason) = move_beside('source', ", max_rate => 'unlimited'");
is($reason, 'full speed: unlimited', 'unlimited has no regard for others');

# Workers of one call share its bound, from a second after they have begun on.
configure($node, 'tablespace_advisor.debug_others', 'nobody');
$node->safe_psql('postgres', q{
	CREATE TABLE p (a int, b text) PARTITION BY LIST (a);
	CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
	CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);
	ALTER TABLE p1 ALTER b SET STORAGE PLAIN;
	ALTER TABLE p2 ALTER b SET STORAGE PLAIN;
	INSERT INTO p SELECT 1 + n % 2, repeat('x', 4100)
		FROM generate_series(1, 16000) n;
});
configure($node, 'tablespace_advisor.max_workers', 2);
$node->safe_psql('postgres',
	"CALL move_table_concurrently('p', 'two', max_rate => '30 MB')");
is($node->safe_psql('postgres', q{
		SELECT bool_and(state = 'done'), max(started_at) < min(finished_at),
			extract(epoch FROM max(finished_at) - min(started_at)) >=
				sum(bytes_total) / (30 * 1048576.0) - 1
		FROM tablespace_moves WHERE relation IN ('p1'::regclass, 'p2')}),
	't|t|t', 'two workers of a call share its max_rate');
configure($node, 'tablespace_advisor.max_workers', 1);

# So do relations that are smaller than a unit of the rate.
$node->safe_psql('postgres', q{
	CREATE TABLE q (a int, b text) PARTITION BY LIST (a);
	SELECT format('CREATE TABLE q%1$s PARTITION OF q FOR VALUES IN (%1$s)', n)
	FROM generate_series(1, 16) n \gexec
	SELECT format('ALTER TABLE q%s ALTER b SET STORAGE PLAIN', n)
	FROM generate_series(1, 16) n \gexec
	INSERT INTO q SELECT 1 + n % 16, repeat('x', 4100) FROM generate_series(1, 4000) n;
});
$node->safe_psql('postgres',
	"CALL move_table_concurrently('q', 'two', max_rate => '20 MB')");
is($node->safe_psql('postgres', q{
		SELECT count(*), bool_and(state = 'done'),
			extract(epoch FROM max(finished_at) - min(started_at)) >=
				sum(bytes_total) / (20 * 1048576.0) - 0.1
		FROM tablespace_moves WHERE relation_name LIKE 'public.q_%'}),
	'16|t|t', 'small relations of a call keep its max_rate');

# A pause is not made up for.  A unit takes 0.1 s.
configure($node, 'tablespace_advisor.debug_others', 'nobody');
$job = start_table_move($node, 't', $target, q{max_rate => '20 MB'});
wait_until_job($node, $job, "bytes_done > 0");
$node->safe_psql('postgres', "SELECT pause_move($job)");
wait_until_job($node, $job, "state = 'paused'");
my $left = $node->safe_psql('postgres', qq{
	SELECT (bytes_total - bytes_done) / (20 * 1048576.0) - 0.1
	FROM tablespace_moves WHERE job_id = $job});
my $resumed = $node->safe_psql('postgres',
	qq{SELECT clock_timestamp() FROM pg_sleep(1.5), resume_move($job)});
is(wait_for_job($node, $job), 'done', 'a move with max_rate goes on after a pause');
ok($node->safe_psql('postgres', qq{
		SELECT extract(epoch FROM finished_at - '$resumed') >= $left
		FROM tablespace_moves WHERE job_id = $job}) eq 't',
	'a move goes on after a pause at no more than max_rate');

# --- a device without counters -------------------------------------------------

SKIP:
{
	my $reason;

	skip 'no file system in memory', 4
	  unless -w '/dev/shm' && `stat -f -c %T /dev/shm` eq "tmpfs\n";

	my $memory = File::Temp->newdir('tsa_pace_XXXX', DIR => '/dev/shm');

	$node->safe_psql('postgres', "CREATE TABLESPACE memory LOCATION '$memory'");
	$node->safe_psql('postgres', 'ALTER TABLE t SET TABLESPACE memory');
	$target = 'one';
	($reason) = move_beside('nobody', '');
	is($reason,
		'full speed: own reads are not slowed down; the device has no counters',
		'a device without counters: the reason says so');

	# twice as large, so that it is found out before the copy is done
	$node->safe_psql('postgres', q{
		INSERT INTO t SELECT * FROM t;
		ALTER TABLE t SET TABLESPACE memory});
	configure($node, 'tablespace_advisor.debug_others', 'uncounted');
	$job = start_table_move($node, 't', 'one');
	wait_until_job($node, $job, q{rate_reason = 'own reads are slowed down; the device has no counters'});
	$node->safe_psql('postgres', "SELECT cancel_move($job)");
	wait_for_job($node, $job);
	$node->safe_psql('postgres', 'ALTER TABLE t SET TABLESPACE one');
	$node->safe_psql('postgres', 'DROP TABLESPACE memory');
}

# --- the progress of a waiting caller -------------------------------------------

configure($node, 'tablespace_advisor.debug_others', 'processor');
my ($out, $err);
$node->psql('postgres', q{
		CALL move_table_concurrently('t', 'pg_default', max_rate => '40 MB')},
	stdout => \$out, stderr => \$err);
like($err, qr/NOTICE: .* [kM]B\/s, (bounded by max_rate|others need the processors)/,
	'progress says the reason');

$node->stop;
done_testing();
