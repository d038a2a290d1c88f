# Copyright (c) 2026, The tablespace_advisor developers

# The probe against what can go wrong: cancel, time-out, crash, standby, dump,
# and the traps that make a measurement worthless.  Devices that the machine
# does not have are played by test/slow_disk.c, preloaded into the server.

use IO::Handle;
use POSIX ();
use Time::HiRes qw(usleep);
use TsaTest;

my $moments = 50;

my $node = start_plain('main', init => { allows_streaming => 1 }, conf => q{
restart_after_crash = on
client_min_messages = warning
});
$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on;});
$node->safe_psql('postgres', q{CREATE TABLESPACE there LOCATION ''});

# how many scratch files the cluster has
sub scratch_files
{
	my $dir = $node->data_dir;
	my @files = glob("$dir/base/pgsql_tmp/* $dir/pg_tblspc/*/*/pgsql_tmp/*");
	return scalar @files;
}

sub probe
{
	my ($duration, $depths, $workloads, %more) = @_;
	return sprintf "probe_tablespace('%s', '%s', '%s', '{%s}', '{%s}', '%s')",
	  $more{tablespace} // 'there', $duration, $more{file_size} // '8 MB',
	  $depths, $workloads, $more{mode} // 'scratch';
}

sub caveat
{
	return $node->safe_psql('postgres',
		"SELECT coalesce(translate(caveat, E'\\n', ' '), 'none') FROM " . probe(@_));
}

# A session that runs the probe; returns its handle and its process id.
sub start_probe
{
	my $s = session($node);

	send_to($s, 'SELECT ' . probe(@_) . ';');
	return ($s->{run}, $s->{pid});
}

#
# At random moments: being cancelled or terminated leaves nothing, nor does a
# crash.
#
my $left = 0;
for (1 .. $moments)
{
	my ($run, $pid) = start_probe('10 s', '1,32', 'random read,random write',
		file_size => '16 MB');
	usleep(rand 200_000);
	my $how = $_ % 5 ? 'cancel' : 'terminate';
	$node->safe_psql('postgres', "SELECT pg_${how}_backend($pid)");
	$run->finish;
	# the client hears of a termination before the server has cleaned up
	$node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid")
	  if $how eq 'terminate';
	$left += scratch_files();
}
is($left, 0, "$moments cancels and terminations leave no scratch file");

my $found = 0;
$left = 0;
for (1 .. $moments)
{
	my $checkpointer = checkpointer_pid($node);
	my ($run, $pid) = start_probe('10 s', '1,32', 'random read,random write',
		file_size => '16 MB');
	usleep(rand 200_000);
	$found += scratch_files();
	kill 'KILL', $pid;
	$run->finish;
	wait_for_restart($node, $checkpointer);
	$left += scratch_files();
}
is($left, 0, "$moments times kill -9 leave no scratch file");
cmp_ok($found, '>', 0, 'though there were some');
is($node->safe_psql('postgres', 'SELECT count(*) FROM tablespace_advisor.probe_run'),
	'0', 'probes that were killed have no history');

#
# The history travels with a dump, and numbering goes on behind it.
#
$node->safe_psql('postgres', 'SELECT ' . probe('20 ms', '1', 'random read'))
  for 1 .. 2;
my $history = q{SELECT string_agg(r::text || s::text, ';' ORDER BY run_id)
	FROM tablespace_advisor.probe_run r
	JOIN tablespace_advisor.probe_result s USING (run_id)};
my $kept = $node->safe_psql('postgres', $history);
isnt($kept, '', 'probes leave a history');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
my $dump = "$PostgreSQL::Test::Utils::tmp_check/history.sql";
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'dump');
$node->command_ok(
	[ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ],
	'restore');
is($node->safe_psql('restored', $history), $kept, 'history is restored');
$node->safe_psql('restored', 'SELECT ' . probe('20 ms', '1', 'random read'));
is( $node->safe_psql('restored',
		'SELECT count(*), count(DISTINCT run_id) FROM tablespace_advisor.probe_run'),
	'3|3', 'a probe after the restore has a new number');

#
# A hot standby measures too, without keeping history.
#
my $standby = start_standby($node);
my ($status, $out, $err) = $standby->psql('postgres',
	'SET client_min_messages = notice; SELECT workload FROM '
	  . probe('50 ms', '1,4', 'random read,sync write'));
is($out, "random read\nrandom read\nsync write", 'a standby is measured');
like($err, qr/not kept in the history.*standby/s, 'a notice says that a standby keeps no history');
$standby->stop;

#
# Traps: each is walked into, and the row says so.
#
my $shm = "/dev/shm/tsa_probe_$$";
SKIP:
{
	skip 'no /dev/shm to make a tablespace in', 1 unless mkdir $shm, 0700;
	$node->safe_psql('postgres', "CREATE TABLESPACE memory LOCATION '$shm'");
	like(caveat('50 ms', '1', 'random read', tablespace => 'memory'),
		qr/^the file system is in memory, [^;]*random_page_cost = seq_page_cost[^;]*$/,
		'a memory file system is named once, with what is right for it');
	$node->safe_psql('postgres', 'DROP TABLESPACE memory');
}
rmdir $shm;

# a relation file that is a hole is not read in mode existing
$node->safe_psql('postgres', q{
	CREATE TABLE real TABLESPACE there AS
	SELECT repeat(md5(i::text), 60) FROM generate_series(1, 4000) i;
	CHECKPOINT;});
my $path = $node->data_dir . '/'
  . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('real')});
(my $sparse = $path) =~ s/\d+$/99999999/;
open my $hole, '>', $sparse or die "$sparse: $!";
truncate $hole, 64 * 1024 * 1024;
close $hole;
$node->safe_psql('postgres', 'SELECT '
	  . probe('50 ms', '1', 'random read', mode => 'existing'));
is( $node->safe_psql('postgres', q{
		SELECT file_size_bytes = pg_relation_size('real')
		FROM tablespace_advisor.probe_run ORDER BY run_id DESC LIMIT 1}),
	't', 'sparse file');

# blocks that are yet to be written would be written by whoever reads them; the
# kernel may write them at any moment, as when somebody calls sync
SKIP:
{
	my ($major, $minor) = (POSIX::uname())[2] =~ /^(\d+)\.(\d+)/;
	skip 'the kernel does not tell what is yet to be written', 1
	  if $major * 1000 + $minor < 6005;
	open my $file, '+<', $path or die "$path: $!";
	$file->sync or die "$path: $!";
	close $file;
	my $left_out = '';
	for (1 .. 20)
	{
		$node->safe_psql('postgres', 'BEGIN; DELETE FROM real; ROLLBACK; CHECKPOINT');
		$left_out = caveat('50 ms', '1', 'random read', mode => 'existing');
		last if $left_out =~ /yet to be written/;
	}
	skip 'the file system refuses O_DIRECT', 1 if $left_out =~ /refuses O_DIRECT/;
	skip 'the file system is in memory', 1 if $left_out =~ /is in memory/;
	like($left_out, qr/only \d samples, as relations are yet to be written/,
		'relations that are yet to be written are not read');
}
$node->safe_psql('postgres', 'DROP TABLE real');
like(
	($node->psql('postgres', 'SELECT '
		  . probe('50 ms', '1', 'random read', mode => 'existing')))[2],
	qr/has no relation file .* with all blocks written/,
	'nothing but a sparse file');
unlink $sparse;

# two probes at a time are foreign load to each other: a condition, no caveat
SKIP:
{
	skip 'the file system is on no device with counters', 3
	  if $node->safe_psql('postgres', q{
		SELECT foreign_io_percent IS NULL FROM tablespace_advisor.probe_run
		ORDER BY run_id DESC LIMIT 1}) eq 't';
	my ($run, $pid) = start_probe('30 s', '8', 'random read', file_size => '512 MB',
		tablespace => 'pg_default');
	$node->poll_query_until('postgres',
		"SELECT (pg_stat_file('base/pgsql_tmp/' || f)).size > 0
		 FROM pg_ls_dir('base/pgsql_tmp') f");
	my $other = '';
	for (1 .. 20)
	{
		$other = $node->safe_psql('postgres',
			q{SELECT translate(concat_ws('|', coalesce(caveat, 'no caveat'), conditions), E'\n', ' ') FROM }
			  . probe('100 ms', '1', 'random read'));
		# reads, that is, once its file is laid out, and not the last of them
		last if $other =~ /others made (?:[3-9][0-9]|100) % [^:]*: [1-9][0-9]* reads/;
	}
	like($other, qr/^no caveat\|others made [0-9]+ % of the device's requests: [1-9]/, 'foreign load');
	is($node->safe_psql('postgres', q{
			SELECT r.others_reads_per_s > 0, r.others_read_mb_per_s > 0, r.others_in_flight > 0,
				r.device_busy_percent > 0
			FROM tablespace_advisor.probe_result r ORDER BY r.run_id DESC LIMIT 1}),
		't|t|t|t', 'the reads of others beside a probe are kept with their figures');
	isnt($node->safe_psql('postgres', q{
			SELECT random_read_us FROM tablespace_advisor.tablespace_latency
			WHERE tablespace = 'there'}),
		'', 'what was measured beside others counts');
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	$run->finish;
}

# a file that the device has no room for
SKIP:
{
	my (undef, $df) = `df -Pk @{[ $node->data_dir ]}`;
	skip 'the file system has a terabyte to spare', 3
	  if (split ' ', $df)[3] > 0.9 * 2**30;
	($status, $out, $err) = $node->psql('postgres',
		"\\set VERBOSITY verbose\nSELECT "
		  . probe('50 ms', '1', 'random read', file_size => '1 TB'));
	like($err, qr/ERROR:  53100: .*not enough free space/, 'a scratch file for which there is no room is refused');
	like($err, qr/DETAIL:  The file takes 1048576 MB/, 'full disk: the detail has figures');
	is(scratch_files(), 0, 'full disk: no scratch file is left');
}

# processes that want the processors, too, are not in what a cached read takes
{
	my $parent = $$;
	my @loops;
	for (1 .. 8)
	{
		my $pid = fork // die "fork: $!";
		if ($pid == 0) { 1 while getppid == $parent; POSIX::_exit(0); }
		push @loops, $pid;
	}
	my $row = $node->safe_psql('postgres', q{
		SELECT coalesce(caveat, 'no caveat'), mean_us < 1.5 * p50_us, mean_us / p50_us FROM }
		  . probe('2 s', '1', 'cached read'));
	kill 'KILL', @loops;
	waitpid $_, 0 for @loops;
	like($row, qr/^no caveat\|t\|/, 'cached reads beside busy loops take what they do alone');
}

#
# Devices played by a preloaded library.
#
my $library = "$PostgreSQL::Test::Utils::tmp_check/slow_disk.so";
my $compiled = system("cc -shared -fPIC -O1 -o $library test/slow_disk.c -ldl") == 0;

sub restart_with
{
	local %ENV = (%ENV, @_, LD_PRELOAD => $library);
	$node->restart;
}

SKIP:
{
	skip 'no C compiler to build test/slow_disk.c with', 34
	  unless $compiled;

	restart_with(SLOW_CLOCK_NS => 50000);
	like(caveat('200 ms', '1', 'random read'), qr/reading the clock takes/,
		'slow clock');

	# without O_DIRECT a page cache that was emptied does; not that of relations
	my $rows = q{SELECT string_agg(concat_ws(' ', workload, queue_depth,
		coalesce(caveat, 'no caveat'), samples > 0, translate(conditions, E'\n', ' ')), E'\n') FROM };
	restart_with(REFUSE_O_DIRECT => 1);
	like($node->safe_psql('postgres', $rows . probe('200 ms', '1,4', 'random read')),
		qr/^random read 1 no caveat t .*through the page cache, emptied before[^\n]*$/,
		'no O_DIRECT');
	$node->safe_psql('postgres', q{
		CREATE TABLE here TABLESPACE there AS
		SELECT repeat(md5(i::text), 60) FROM generate_series(1, 4000) i;
		CHECKPOINT;});
	like(caveat('50 ms', '1', 'random read', mode => 'existing'),
		qr/refuses O_DIRECT, so that the page cache may have answered: use mode 'scratch'/,
		'the page cache of relations is not emptied, and the other mode is named');
	$node->safe_psql('postgres', 'DROP TABLE here');

	# containers refuse asynchronous I/O: one request at a time, which is said
	for my $error (POSIX::ENOSYS, POSIX::EPERM, POSIX::EAGAIN)
	{
		restart_with(REFUSE_IO_SETUP => $error);
		($status, $out, $err) = $node->psql('postgres',
			'SET client_min_messages = notice; ' . $rows
			  . probe('1 s', '4,1,2', 'random read,sequential read', file_size => '32 MB'));
		like($out, qr/^random read 1 no caveat t[^\n]*\nsequential read 1 no caveat t .*one request at a time/,
			"io_setup fails with error $error");
		unlike($out, qr/^random read[^\n]*one request at a time/,
			"io_setup fails with error $error: no caveat for a queue of one");
		like($err, $error == POSIX::EAGAIN ? qr/HINT: .*fs\.aio-max-nr/ : qr/HINT: .*seccomp profile/,
			"io_setup fails with error $error: a hint says what would help");
	}

	restart_with(SLOW_DISK_US => 5000, SLOW_DISK_SKIPS => 1,
		SLOW_DISK_CACHED_FROM => 4 * 1024 * 1024);
	like(caveat('2 s', '1', 'random read'), qr/a cache holds it/,
		'file partly in a cache');

	# synced, as fsync is off here and blocks that are not are left out
	$node->safe_psql('postgres', q{
		CREATE TABLE own TABLESPACE there AS
		SELECT repeat(md5(i::text), 60) FROM generate_series(1, 4000) i;
		CHECKPOINT;});
	my $own = $node->data_dir . '/'
	  . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('own')});
	open my $file, '+<', $own or die "$own: $!";
	$file->sync or die "$own: $!";
	close $file;
	restart_with(SLOW_DISK_US => 5000, SLOW_DISK_SKIPS => 1,
		SLOW_DISK_CACHED_FILE => 'pgsql_tmp');
	like(caveat('2 s', '1', 'random read'),
		qr/own relations are read [\d.]+ times as slowly/,
		'a probe whose file is all in a cache gets a caveat');
	restart_with(SLOW_DISK_US => 5000, SLOW_DISK_SKIPS => 1);
	unlike(caveat('2 s', '1', 'random read'), qr/own relations/,
		'nothing of the file in a cache: no caveat');
	restart_with(SLOW_DISK_US => 500, SLOW_DISK_SKIPS => 1, SLOW_DISK_BUSY => 20);
	unlike(caveat('2 s', '1', 'random read'), qr/own relations/,
		'the device is busy at first: no caveat');

	# a load that comes and goes every two seconds
	my @waves = (SLOW_DISK_US => 5000, SLOW_DISK_SKIPS => 1, SLOW_DISK_WAVES => 2000);
	my @probe = ('4 s', '1', 'random read');
	restart_with(@waves);
	unlike(join(' ', map { caveat(@probe) } 1 .. 8), qr/own relations/,
		'others slow the device down now and then: no caveat');
	restart_with(@waves, SLOW_DISK_CACHED_FILE => 'pgsql_tmp');
	is(scalar(grep { caveat(@probe) =~ /own relations/ } 1 .. 8), 8,
		'others slow the device down now and then: a file in a cache gets a caveat all the same');

	# before its file is laid out, which takes 16 requests
	restart_with(SLOW_DISK_US => 200_000);
	my $probing = session($node);
	send_to($probing, q{SELECT count(*), count(caveat) FROM }
		  . probe('500 ms', '1', 'random read,sequential read', file_size => '8 MB') . ';');
	for (1 .. 18_000)
	{
		last if scratch_files() > 0;
		usleep(10_000);
	}
	cmp_ok(scratch_files(), '>', 0, 'the probe has its file');
	$node->safe_psql('postgres', 'DROP TABLE own');
	is(answer($probing), '2|2',
		'own relations are dropped under the probe: the probe ends with few samples');
	end_session($probing);

	# a serial disk is one at every depth, latency adds up, and as many are in
	# flight as should be, but for the beginning of each turn.  A process that waits
	# for a processor there finds the disk idle later on, too: one probe of three
	# has to do without.
	restart_with(SLOW_DISK_US => 2000, SLOW_DISK_SKIPS => 1);
	my $serial = q{SELECT concat_ws('; ', count(*), string_agg(
			format('%s: %s a second, %s us', queue_depth, iops, mean_us), ', ')
			FILTER (WHERE iops > 515 OR mean_us < 1970 * queue_depth
				OR iops * mean_us / 1e6 NOT BETWEEN 0.9 * queue_depth AND 1.1 * queue_depth))
		FROM } . probe('3 s', '1,4,16', 'random read');
	my $found = '';
	for (1 .. 3)
	{
		$found = $node->safe_psql('postgres', $serial);
		last if $found eq '3';
		diag "probe $_: $found";
	}
	is($found, '3', 'serial disk');

	# a credit that is used up: the level after it counts; a device of which a
	# busy processor, too, is fast enough to show it
	restart_with(SLOW_DISK_US => 1000, SLOW_DISK_SKIPS => 1, SLOW_DISK_CREDIT => 4000);
	like($node->safe_psql('postgres', $rows
			. probe('16 s', '1', 'random read', file_size => '128 MB')),
		qr/^random read 1 no caveat t .*throughput fell from (?:[6789]\d\d|1000) to (?:4\d|50) requests per second after \d+ s:/,
		'throughput that falls');
	is($node->safe_psql('postgres', q{
			SELECT burst_iops > 15 * iops, burst_seconds > 0, mean_us BETWEEN 19500 AND 25000
			FROM tablespace_advisor.probe_result ORDER BY run_id DESC LIMIT 1}),
		't|t|t', 'throughput that falls: the row is what it falls to');
	restart_with(SLOW_DISK_US => 1000, SLOW_DISK_SKIPS => 1, SLOW_DISK_CREDIT => 4000,
		SLOW_DISK_CREDIT_2 => 4900);
	like($node->safe_psql('postgres', $rows
			. probe('100 s', '1', 'random read', file_size => '128 MB')),
		qr/throughput fell from (?:[6789]\d\d|1000) to (?:4\d|50) requests per second after \d+ s, then to (?:9|10) after \d+ s:/,
		'throughput that falls twice');
	is($node->safe_psql('postgres', q{
			SELECT burst_iops > 500, burst_seconds > 15, mean_us BETWEEN 99000 AND 120000
			FROM tablespace_advisor.probe_result ORDER BY run_id DESC LIMIT 1}),
		't|t|t', 'throughput that falls twice: the row is the last level');
	# 40 turns of 30 requests, then three, if the processor is not busy: what the probe
	# waits for it is in the time that the disk has
	my $falls = '';
	for (1 .. 10)
	{
		restart_with(SLOW_DISK_US => 10_000, SLOW_DISK_SKIPS => 1, SLOW_DISK_CREDIT => 1200);
		$falls = $node->safe_psql('postgres', $rows
			  . probe('30 s', '1', 'random read', file_size => '32 MB'));
		last if $falls =~ /at the end: a longer duration/;
	}
	like($falls,
		qr/^random read 1 no caveat t .*throughput fell from (?:[6789]\d|100) to [45] requests per second after \d+ s, at the end: a longer duration/,
		'throughput that falls in the last turns');

	# 400 ms a request, 32 of them in flight: waiting for them takes 12.8 s
	restart_with(SLOW_DISK_US => 400_000);
	for my $timeout (200, 1200, 2800)
	{
		($status, $out, $err) = $node->psql('postgres',
			"SET statement_timeout = $timeout;\n\\timing on\nSELECT "
			  . probe('10 s', '32', 'random read')
			  . ";\n");
		my ($took) = $out =~ /Time: ([\d.]+) ms/;
		like($err, qr/statement timeout/, "statement_timeout = $timeout");
		cmp_ok($took - $timeout, '<', 6400, "statement_timeout = $timeout: the probe does not wait for what is in flight");
		is(scratch_files(), 0, "statement_timeout = $timeout: no scratch file is left");
	}

	# the session that was cut short probes again: the parked engine goes first
	restart_with(SLOW_DISK_US => 100_000);
	($status, $out, $err) = $node->psql('postgres',
		"SET statement_timeout = 500;\nSELECT "
		  . probe('10 s', '32', 'random read')
		  . ";\nRESET statement_timeout;\nSELECT workload FROM "
		  . probe('100 ms', '1', 'random read')
		  . ";\n", on_error_stop => 0);
	like($err, qr/statement timeout/, 'a probe that is cut short');
	is($out, 'random read', 'can be followed by another in the session');
}

# a run keeps the advice that it leads to; where that fails, what was measured stays
$node->restart;
$node->safe_psql('postgres', q{
	CREATE TABLE advised TABLESPACE there AS
	SELECT i * 7919 % 20000 AS i, repeat('x', 100) AS pad FROM generate_series(1, 20000) i;
	CREATE INDEX ON advised (i) TABLESPACE there;
	ANALYZE advised});
my $advised = q{
	SELECT r.run_id, (r.advised_verdict, r.advised_random_page_cost, r.advised_io_concurrency)
		IS NOT DISTINCT FROM (CASE WHEN f.best IS NOT NULL THEN f.verdict END, f.best,
			CASE WHEN f.best IS NOT NULL THEN f.effective_io_concurrency END)
	FROM tablespace_advisor.probe_run r, tablespace_advisor.find_costs('there') f
	ORDER BY r.run_id DESC LIMIT 1};
$node->safe_psql('postgres', 'SELECT count(*) FROM ' . probe('500 ms', '1', 'random read,sequential read'));
my ($run_id, $same) = split /\|/, $node->safe_psql('postgres', $advised);
is($same, 't', 'the advice of a run is kept with it');
$node->safe_psql('postgres', q{
	CREATE OR REPLACE FUNCTION tablespace_advisor.keep_cost_advice(run bigint)
	RETURNS void LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING MESSAGE = ''not today''; END'});
$node->safe_psql('postgres', 'SELECT count(*) FROM ' . probe('200 ms', '1', 'random read'));
like(slurp_file($node->logfile), qr/LOG:  could not keep the advice on tablespace "there": not today/,
	'the log says why advice was not kept');
is( $node->safe_psql('postgres', qq{
		SELECT count(*), max(run_id) - $run_id FROM tablespace_advisor.probe_result
		WHERE run_id > $run_id}), '1|1', 'the run is kept without it');

$node->stop;
done_testing();
