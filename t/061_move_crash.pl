# Copyright (c) 2026, The tablespace_advisor developers

# Ends a move at every point of its protocol: by an immediate shutdown, by
# killing its worker with the server, by terminating and by cancelling it.  Moves
# of an index, and of a table with and without its indexes.  Each time all is
# whole, where it was or where it was to go; the next call recovers the job, no
# file is orphaned, and the move goes on, or, where interrupted moves are not kept,
# can be repeated.

use TsaTest;

my @points = (
	'storage created', 'copied', 'followed', 'fsm copied', 'window', 'switched',
	'old file truncated');
my %moved = ('switched' => 1, 'old file truncated' => 1);
my $gone = qr/^the move's background worker ended unexpectedly$/;
my ($node, $kind);
my $round = 0;

# --- what is moved ---------------------------------------------------------------

# The index t_txt.
sub prepare_index
{
	fill_table($node, 3000);
	return;
}

# Rows that change what has been copied.
sub change_index
{
	$node->safe_psql('postgres', q{
		UPDATE t SET txt = md5(txt) || left(txt, -32), d = -d, h = (h + 7) % 50,
			k = (k + 1) % 100, a1 = a1 || 7, p2 = p1
		WHERE id % 2 = 0});
	return;
}

sub check_index
{
	my ($name) = @_;

	check_btree($node, 't_txt', $name);
	return;
}

# The table d with all that belongs to it.
sub prepare_table
{
	$node->safe_psql('postgres', qq{
		CREATE TABLE d (id int PRIMARY KEY, n int, txt text, doc text)
			WITH (fillfactor = 80);
		ALTER TABLE d ALTER doc SET STORAGE EXTERNAL;
		INSERT INTO d SELECT i, i, md5(i::text), ${\document('i')}
			FROM generate_series(1, 1500) i;
		CREATE INDEX d_txt ON d (txt);
		CREATE INDEX d_hash ON d USING hash (n);
		CREATE INDEX d_brin ON d USING brin (id)});
	return;
}

# Changes heap, TOAST table, indexes and visibility map, and the rows' sum.
sub change_table
{
	$round++;
	$node->safe_psql('postgres', qq{
		UPDATE d SET txt = md5(txt) WHERE abs(id) % 7 = $round % 7;
		UPDATE d SET doc = ${\document("id + $round")} WHERE abs(id) % 6 = $round % 6;
		UPDATE d SET id = -id WHERE abs(id) % 9 = $round % 9;
		VACUUM (FREEZE, TRUNCATE false) d;
		UPDATE d SET n = n + 1 WHERE abs(id) % 11 = $round % 11});
	return;
}

sub check_table_d
{
	my ($name, $rows) = @_;

	is(digest($node, 'd'), $rows, "$name: the rows are right");
	check_heap($node, 'd', $name);
	check_btrees($node, 'd', 2, $name);
	return;
}

# Where the table is to be: with its indexes, or they stay.
sub table_in
{
	my ($place, $from, $with) = @_;
	my $indexes = $with ? $place : $from =~ s/.* indexes //r;

	return "table $place, toast $place, toast index $place, indexes $indexes";
}

my %kinds = (
	index => {
		prepare => \&prepare_index,
		change => \&change_index,
		rows => sub { return '' },
		places => sub { return tablespaces_of($node, 't_txt') },
		place_in => sub { return $_[0] },
		start => sub { return start_move($node, 't_txt', $_[0]) },
		check => \&check_index,
		check_all => sub { check_content($node, $_[0]) },
		files => 1,
	},
	table => {
		prepare => \&prepare_table,
		change => \&change_table,
		rows => sub { return digest($node, 'd') },
		places => sub { return places($node, 'd') },
		place_in => \&table_in,
		start => sub {
			my ($place, $with) = @_;
			return start_table_move($node, 'd', $place,
				'with_indexes => ' . ($with ? 'true' : 'false'));
		},
		check => \&check_table_d,
		check_all => sub { check_table_d($_[0], digest($node, 'd')) },
		files => 7,
	});

# --- moving it -------------------------------------------------------------------

# Starts a move to the other tablespace and stops it at a point.
sub move_to_point
{
	my ($point, $with) = @_;
	my %move = (from => $kind->{places}->(), with => $with);
	my $place = $move{from} =~ /^(?:table )?fast/ ? 'slow' : 'fast';

	$move{to} = $kind->{place_in}->($place, $move{from}, $with);
	stop_at($node, $point eq 'followed' ? 'copied' : $point);
	$move{job} = $kind->{start}->($place, $with);
	if ($point eq 'followed')
	{
		wait_for_stop($node, 'copied');
		$kind->{change}->();
		stop_at($node, 'followed');
	}
	wait_for_stop($node, $point);
	return \%move;
}

# Whether an interrupted move goes on.
sub keep_interrupted
{
	my ($keep) = @_;

	configure($node, 'tablespace_advisor.keep_interrupted', $keep);
	return;
}

# Judges the end of a job that was disturbed, then repeats it if it failed.
sub judge
{
	my ($name, $move, $state, $rows, $reason) = @_;
	my $job = $move->{job};

	$rows //= $kind->{rows}->();
	release($node);
	$kind->{check}->("$name, before the job is recovered", $rows);
	$node->safe_psql('postgres', "SELECT wait_for_moves('{$job}')") if $state eq 'done';
	is(end_state($node, $job), $state, "$name: the job is $state");
	like(job_field($node, $job, 'error'), $reason, "$name: and says why")
	  if $reason;
	is($kind->{places}->(), $state eq 'done' ? $move->{to} : $move->{from},
		"$name: all is where it should be");
	check_orphans($node, $name);
	check_locks($node, $name);
	return if $state eq 'done';

	my $again = $node->safe_psql('postgres', "SELECT retry_move($job)");
	is(wait_for_job($node, $again), 'done', "$name: the move can be repeated");
	is($kind->{places}->(), $move->{to}, "$name: the repeated move moves all");
	is($kind->{rows}->(), $rows, "$name: the repeated move keeps the rows");
	return;
}

# Every end at one point, every other time with the indexes.
sub end_at
{
	my ($point, $with) = @_;
	my $state = $moved{$point} ? 'done' : 'failed';
	my $reason = $moved{$point} ? undef : $gone;
	my ($move, $rows);

	for my $keep ('0', '1d')
	{
		my $goes_on = $keep eq '0' ? '' : ', kept';
		my $end = $goes_on ? 'done' : $state;
		my $why = $goes_on ? undef : $reason;

		keep_interrupted($keep);
		for my $how ('immediate shutdown', 'kill')
		{
			$move = move_to_point($point, $with++ % 2);

			# What the crash must not lose; the commit flushes all before.  In the
			# window nobody can write, nor read.
			$kind->{change}->() if $point ne 'window';
			$rows = $point eq 'window' ? undef : $kind->{rows}->();
			crash($node, $how eq 'kill' ? worker_pid($node, $move->{job}) : undef);
			judge("$how at '$point'" . ($move->{with} ? ' with indexes' : '') . $goes_on,
				$move, $end, $rows, $why);
		}
		$kind->{check_all}->("crashes at '$point'$goes_on");

		$move = move_to_point($point, $with++ % 2);
		$rows = $point eq 'window' ? undef : $kind->{rows}->();
		my $pid = worker_pid($node, $move->{job});
		$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid, 60000)");
		judge("terminated at '$point'$goes_on", $move, $end, $rows, $why);
	}

	# where it has switched, a cancel comes too late
	$move = move_to_point($point, $with % 2);
	$kind->{change}->() if $point ne 'window';
	$rows = $point eq 'window' ? undef : $kind->{rows}->();
	$state = $moved{$point} ? 'done' : 'cancelled';
	$node->safe_psql('postgres', "SELECT cancel_move($move->{job})");
	release($node) if $moved{$point};
	is(wait_for_job($node, $move->{job}), $state, "cancelled at '$point'");
	judge("cancelled at '$point'", $move, $state, $rows);
	$kind->{check_all}->("terminated and cancelled at '$point'");
	return;
}

for my $what (sort keys %kinds)
{
	$kind = $kinds{$what};

	# nobody flushes the log but those who are told to
	$node = start_node($what, checksums => 1, conf => qq(
wal_level = replica
autovacuum = off
wal_writer_delay = 10s
bgwriter_lru_maxpages = 0
));
	$kind->{prepare}->();

	# the copy is seen as what nobody owns, so that check_orphans() can tell
	my $move = move_to_point('copied', 1);
	cmp_ok(
		$node->safe_psql('postgres',
			q{SELECT count(DISTINCT substring(o, '[0-9]+(?=[^/]*$)')) FROM tsa_orphans() o}),
		'>=', $kind->{files}, "$what: a copy under way is files without a relation");
	is( $node->safe_psql('postgres', qq{
			SELECT cardinality(new_filenumbers), cardinality(new_tablespaces)
			FROM tablespace_advisor.job WHERE job_id = $move->{job}}),
		"$kind->{files}|$kind->{files}", "$what: the journal names each file");
	release($node);
	is(wait_for_job($node, $move->{job}), 'done',
		"$what: a move goes on after a stop");
	check_orphans($node, "$what: a move that was stopped");

	my $with = 1;
	end_at($_, $with++) foreach @points;

	keep_interrupted('0');

	# The cutover's commit that did not reach the disk: nothing flushes the log
	# while the WAL writer stands still, and with it the server goes down.
	$move = move_to_point('window', 1);
	my $walwriter = $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
	kill 'STOP', $walwriter;
	stop_at($node, 'switched');
	wait_for_stop($node, 'switched');
	is($kind->{places}->(), $move->{to}, "$what: the switch is seen");
	crash($node, $walwriter);
	judge("$what, commit not flushed", $move, 'failed', undef, $gone);

	$kind->{check_all}->("$what, in the end");
	check_orphans($node, "$what, in the end");
	check_no_crash($node, $what);
	check_checksums($node, "$what, in the end");
}
done_testing();
