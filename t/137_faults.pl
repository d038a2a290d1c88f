# Copyright (c) 2026, The tablespace_advisor developers

# Calls of the target device fail, one after the other: each write, truncation,
# sync, open and unlink of a small move, with EIO, ENOSPC and short writes.
# Every time there is an error that says why, the source is intact, the job
# failed, no file is orphaned, and a retry works.  A probe says that it failed.
#
# A few calls of each kind, in seconds; all of them, with each error, if
# PG_TEST_EXTRA has the word "faults".

use Errno qw(EIO ENODATA ENOSPC EREMOTEIO ETIMEDOUT);
use TsaFaults;
use TsaTest;

my $all = ($ENV{PG_TEST_EXTRA} // '') =~ /\bfaults\b/;
my $node = new_faulty_node('faulty');

$node->safe_psql('postgres', q{
	CREATE TABLE t (a int, b text, c text) TABLESPACE slow;
	ALTER TABLE t ALTER c SET STORAGE EXTERNAL;
	INSERT INTO t SELECT i, md5(i::text), CASE WHEN i % 700 = 0 THEN repeat(md5(i::text), 100) END
		FROM generate_series(1, 3500) i;
	CREATE UNIQUE INDEX t_a ON t (a) TABLESPACE slow;
	CREATE INDEX t_b ON t (b, a) WITH (fillfactor = 50) TABLESPACE slow;
	CREATE INDEX t_small ON t (a) WHERE a < 2000 AND b < 'c';
	ALTER INDEX t_small SET TABLESPACE slow;
	VACUUM t});
my $content = digests($node, 't');

# The relations that move, and how.
my %move = (
	'an index' => [ 't_b', q{CALL move_indexes_concurrently('t_b', '%s')} ],
	'a small index' => [ 't_small', q{CALL move_indexes_concurrently('t_small', '%s')} ],
	'a table' => [ 't', q{CALL move_table_concurrently('t', '%s', with_indexes => false)} ],
	'a rebuild' => [ 't_b', q{CALL move_indexes_concurrently('t_b', '%s', method => 'rebuild')} ]);
my %tally;

# What errors a failed call leads to: SQLSTATE and what could not be done.  Where a
# rebuild reads by the server's I/O workers, from 18 on, one that cannot open a file
# says ENOENT, whatever the cause (pgaio_worker_main()).
my @fitting = ([ qr/58030|53100/,
	qr/could not (?:write|extend|create|open|truncate|fsync|sync|write back)\b/ ]);
my @by_worker = ($node->pg_version < 18 ? () : ([ qr/58P01/, qr/could not read blocks/ ]));

sub fits
{
	my ($what, $message, $state, $why) = @_;

	foreach my $form (@fitting, $what eq 'a rebuild' ? @by_worker : ())
	{
		my ($code, $text) = @$form;
		return 1 if $message =~ /^ERROR:  (?:$code): could not move public\.\w+: $text/m
		  && $state eq 'failed' && $why =~ /^(?:$code)$text/;
	}
	return 0;
}

# One move with one fault.  What is wrong afterwards.
sub try_fault
{
	my ($what, $kind, $nth, $error) = @_;
	my ($relation, $statement) = @{ $move{$what} };
	my $from = place_of($node, $relation);
	my $to = $from eq 'slow' ? 'fast' : 'slow';
	my @wrong;

	fail_calls(calls => [$kind], path => target_path($node, $to), nth => $nth, error => $error);
	my $message = psql_verbose($node, sprintf($statement, $to));
	my (undef, $failed) = stop_failing();
	# how often a file is opened varies a little
	$tally{$what}{faults}++ if $failed;

	my ($job, $state, $why) = split /\|/, $node->safe_psql('postgres',
		"SELECT job_id, state, sqlstate || error FROM tablespace_moves ORDER BY job_id DESC LIMIT 1");
	if ($message eq '')
	{
		# 17 writes the rest of what was written half
		push @wrong, "the job is $state" if $state ne 'done';
		push @wrong, 'it is not moved' if place_of($node, $relation) ne $to;
	}
	else
	{
		$tally{$what}{failed}++;
		push @wrong, "the job is $state $why, the error: $message"
		  if !fits($what, $message, $state, $why);
		push @wrong, 'it is moved' if place_of($node, $relation) ne $from;
	}
	push @wrong, 'the content is another' if digests($node, 't') ne $content;

	# nothing but a file that could not be opened is left for the next call
	push @wrong, 'files are left' if named_files($node) && $kind ne 'open';
	$node->safe_psql('postgres', "SELECT cancel_move($job)");
	my $orphans = '';
	foreach my $try (1 .. 50)
	{
		$orphans = $node->safe_psql('postgres', "CHECKPOINT; SELECT tsa_orphans()");
		last if $orphans eq '';
		select undef, undef, undef, 0.1;
	}
	push @wrong, "orphans: $orphans" if $orphans ne '';
	return @wrong if $message eq '';

	my $again = $node->safe_psql('postgres', "SELECT retry_move($job)");
	push @wrong, 'a retry fails' if wait_for_job($node, $again) ne 'done';
	push @wrong, 'a retry does not move it' if place_of($node, $relation) ne $to;
	return @wrong;
}

# How many calls of a kind a move makes.
sub count_calls
{
	my ($what, $kind) = @_;
	my ($relation, $statement) = @{ $move{$what} };
	my $to = place_of($node, $relation) eq 'slow' ? 'fast' : 'slow';

	fail_calls(calls => [$kind], path => target_path($node, $to));
	$node->safe_psql('postgres', sprintf($statement, $to));
	return (stop_failing())[0];
}

# Which calls fail, and how.
sub faults
{
	my ($n, @errors) = @_;
	my @faults;

	return map { my $nth = $_; map { [ $nth, $_ ] } @errors } 1 .. $n if $all;
	my %nth = map { $_ => 1 } grep { $_ >= 1 } (1, 2, int($n / 2), $n);
	foreach my $nth (sort { $a <=> $b } keys %nth)
	{
		push @faults, [ $nth, $errors[ @faults % @errors ] ];
	}
	return @faults;
}

# All faults of a kind of calls.
sub sweep
{
	my ($what, $kind, @errors) = @_;
	my $n = count_calls($what, $kind);
	my @wrong;

	foreach my $fault (faults($n, @errors))
	{
		my ($nth, $error) = @$fault;

		push @wrong, map { "call $nth, error $error: $_" } try_fault($what, $kind, $nth, $error);
	}
	is(join("\n", @wrong), '', "$what, $n calls ($kind): errors are told, nothing is lost, nothing is left");
	return;
}

foreach my $what (sort keys %move)
{
	sweep($what, 'write', EIO, ENOSPC, SHORT_WRITE);
	sweep($what, 'open', EIO, ENOSPC);
	# what a server does from 16 on where many blocks are added at once
	sweep($what, 'allocate', EIO, ENOSPC);
}
foreach my $what (sort keys %move)
{
	note "$what: $tally{$what}{faults} faults, $tally{$what}{failed} moves failed";
	cmp_ok($tally{$what}{failed}, '>', 2, "$what: moves did fail");
}

# A probe, too, whatever the device answers: not all of it is known to the server's
# errcode_for_file_access().
{
	my $probe = q{SELECT FROM probe_tablespace('fast', '50 ms', '8 MB', '{1}', '{random read}')};
	my %scratch = (calls => ['open'], path => 'pgsql_tmp/pgsql_tmp');
	my @wrong;

	$node->safe_psql('postgres', $probe);
	fail_calls(%scratch);
	$node->safe_psql('postgres', $probe);
	my ($n) = stop_failing();
	cmp_ok($n, '>=', 2, "a probe opens its scratch file: $n");
	# the first one is the server's, which makes the file
	foreach my $nth (2 .. $n)
	{
		foreach my $error (EIO, ENODATA, EREMOTEIO, ETIMEDOUT)
		{
			fail_calls(%scratch, nth => $nth, error => $error);
			my $message = psql_verbose($node, $probe);
			stop_failing();
			push @wrong, "call $nth, error $error: $message"
			  if $message !~ /\AERROR:  58030: could not open file/;
		}
	}
	is(join("\n", @wrong), '', 'a probe says that its device failed');
}

my $told = join '|', map { "(?:$_->[0]): .*$_->[1]" } @fitting, @by_worker;
check_log($node, 'all but the faults', qr/ERROR:  (?:$told)/);
$node->stop;
done_testing();
