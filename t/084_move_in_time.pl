# Copyright (c) 2026, The tablespace_advisor developers

# Lower bounds of the rate of a move: min_rate, finish_by; and limits that are
# changed while it runs.  Others are pretended, so that nothing depends on what
# else the machine does.

use TsaTest;

my $node = start_rate_node("tablespace_advisor.debug_others = 'source'");
my $target = 'one';

# Queues a move of the table, 125 MB; returns its id.
sub queue_move
{
	my ($arguments) = @_;
	my $job = $node->safe_psql('postgres', qq{
		CALL move_table_concurrently('t', '$target', wait => false $arguments)});

	$job =~ s/[{}]//g;
	$target = $target eq 'one' ? 'two' : 'one';
	return $job;
}

# What the view says of such a move when all is copied.
sub reason_when_copied
{
	my ($arguments) = @_;
	my ($job, $reason);

	stop_at($node, 'copied');
	$job = queue_move($arguments);
	wait_for_stop($node, 'copied');
	$reason = job_field($node, $job, 'rate_reason');
	release($node);
	is(wait_for_job($node, $job), 'done', "ends: $arguments");
	return ($reason, $job);
}

my ($reason, $job) = reason_when_copied(", min_rate => '100 GB'");
is($reason, 'no slower: min_rate', 'min_rate is the reason');

# Long enough for others to be seen, and too short for the rate beside them: how long
# that is depends on the machine.
my $in_time = qr/^(no slower: |full speed: it cannot end by )finish_by$/;
foreach my $seconds (3, 2, 1)
{
	($reason, $job) = reason_when_copied(", finish_by => now() + interval '$seconds s'");
	last if $reason =~ $in_time;
}
like($reason, $in_time, 'the time by which it is to end is the reason');

($reason, $job) = reason_when_copied(', finish_by => now()');
is($reason, 'full speed: it cannot end by finish_by', 'too late: the reason says so');
is($node->safe_psql('postgres',
		"SELECT is_late FROM tablespace_advisor.job WHERE job_id = $job"),
	't', 'too late: the journal says so');
like(slurp_file($node->logfile),
	qr/WARNING:  the move of relation with OID \d+ cannot end by/,
	'too late: the server log says so');

# Slow enough for a busy machine to be held back now and then.
$job = queue_move(", max_rate => '15 MB', finish_by => now()");
wait_until_job($node, $job, "rate_reason = 'bounded by max_rate: it cannot end by finish_by'");
pass('max_rate is above all');
is(wait_for_job($node, $job), 'done', 'a move with max_rate ends after finish_by');
# but for what max_rate allows in a tenth of a second, after which nothing is left to wait for
is($node->safe_psql('postgres', qq{
		SELECT extract(epoch FROM finished_at - started_at) >=
			bytes_total / (15 * 1048576.0) - 0.1
		FROM tablespace_moves WHERE job_id = $job}), 't', 'max_rate is kept although finish_by is missed');

($reason, $job) = reason_when_copied(", max_rate => 'unlimited'");
is(job_field($node, $job, 'others_lost_percent'), '',
	'unlimited: nobody knows what others lost');

# --- said at once ---------------------------------------------------------------

my ($out, $err);
$node->psql('postgres', qq{
		CALL move_table_concurrently('t', '$target', max_rate => 'unlimited',
			finish_by => clock_timestamp() + interval '1 ms')},
	stdout => \$out, stderr => \$err);
like($err, qr/WARNING:  what is to be moved cannot be moved by "finish_by"/,
	'the caller is told at once');
like($err, qr/DETAIL:  At the highest rates measured so far it would be by/,
	'the warning knows the rates of earlier moves');
$target = $target eq 'one' ? 'two' : 'one';

# --- changed while it runs --------------------------------------------------------

$job = queue_move(", max_rate => '1 MB'");
wait_until_job($node, $job, 'bytes_done > 0');
is($node->safe_psql('postgres', "SELECT alter_move($job)"),
	'f', 'nothing to alter');
is($node->safe_psql('postgres', "SELECT alter_move($job, max_rate => '2 MB', min_rate => '1 MB')"),
	't', 'other limits');
wait_until_job($node, $job, 'present_mb_per_s > 1.5');
my ($rc) = $node->psql('postgres', "SELECT alter_move($job, min_rate => '3 MB')",
	stderr => \$err);
like($err, qr/"min_rate" must not be over "max_rate"/,
	'limits that contradict each other are refused, also those it has');
my ($altered_at, $slow_s) = split /\|/, $node->safe_psql('postgres', qq{
		SELECT clock_timestamp(), (bytes_total - bytes_done) / (2 * 1048576.0)
		FROM tablespace_moves WHERE job_id = $job});
$node->safe_psql('postgres',
	"SELECT alter_move($job, max_rate => 'none', min_rate => '40 MB')");
is(wait_for_job($node, $job), 'done', 'a move that is altered ends');
is($node->safe_psql('postgres', qq{
		SELECT extract(epoch FROM finished_at - '$altered_at') < $slow_s
		FROM tablespace_moves WHERE job_id = $job}),
	't', 'sooner than it would have been');
is($node->safe_psql('postgres', qq{
		SELECT max_rate IS NULL, min_rate FROM tablespace_advisor.job
		WHERE job_id = $job}), 't|' . 40 * 1048576, 'the job keeps the limits that it had at last');
is($node->safe_psql('postgres', "SELECT alter_move($job, max_rate => '1 MB')"),
	'f', 'alter_move() says that a move has ended');
cmp_ok(job_field($node, $job, 'others_lost_percent'),
	'>', 0, 'what others lost is in the journal');

# How long it keeps others waiting: a reader is in its way.
$job = queue_move(", max_rate => 'unlimited', lock_timeout => '4 ms'");
my $reader = session($node);
ask($reader, 'BEGIN; SELECT FROM t LIMIT 1;');
($rc) = $node->psql('postgres', "SELECT alter_move($job, lock_timeout => '0 s')", stderr => \$err);
like($err, qr/"lock_timeout" must be between 1 ms and/, 'a lock timeout has to be positive');
is($node->safe_psql('postgres', "SELECT alter_move($job, lock_timeout => '300 ms')"), 't', 'another lock timeout');
wait_until_job($node, $job, 'lock_wait_ms > 200');
ask($reader, 'COMMIT;');
end_session($reader);
is(wait_for_job($node, $job), 'done', 'a move with another lock timeout ends');
is($node->safe_psql('postgres', "SELECT lock_timeout_ms FROM tablespace_advisor.job WHERE job_id = $job"),
	'300', 'the job keeps it');

# Whoever alters it may leave the transaction open.
$job = queue_move(", max_rate => '20 MB'");
my $open = session($node);
ask($open, "BEGIN; SELECT alter_move($job, max_rate => '1 MB');");
is(wait_for_job($node, $job), 'done',
	'the move does not wait for a transaction that stays open');
ask($open, 'ROLLBACK;');
end_session($open);

$node->stop;
done_testing();
