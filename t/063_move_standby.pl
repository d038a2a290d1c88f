# Copyright (c) 2026, The tablespace_advisor developers

# Moves of indexes, and of a table with its indexes, with a streaming standby that
# checks every record it replays; standbys that take over at a point of a move;
# base backups from the middle of one; recovery to a point in the middle of one.

use TsaTest;

my ($what, $kind, $primary, $follower);

# --- what is moved ---------------------------------------------------------------

# The whole table and all that belongs to it in one place.
sub table_in
{
	my ($place) = @_;

	return "table $place, toast $place, toast index $place, indexes $place";
}

# All indexes under load, then one.
sub move_indexes_under_load
{
	my $load = start_load($primary, rate => 10, big => 30);

	move($primary, 't', 'fast', "method => 'copy'");
	move($primary, 't', 'slow', "method => 'copy', max_rate => '8 MB'");
	stop_load($load, "$what: with standbys");
	return;
}

# The table under load, while somebody reads on the standby.
sub move_table_under_load
{
	my $load = start_table_load($primary, rate => 15);
	my $reader = start_sql($follower, 'reader',
		('SELECT count(*), sum(length(doc)) FROM t') x 300);

	move_table($primary, 't', 'fast', "max_rate => '16 MB'");
	move_table($primary, 't', 'slow', 'with_indexes => true');
	stop_table_load($load, "$what: with standbys");
	is(finish_sql($reader), '', 'queries on the standby succeed');
	is(scalar(split /\n/, $reader->{out}), 300, 'all queries on the standby return a row');
	return;
}

my %kinds = (
	index => {
		fill => sub { fill_table($primary, 2000) },
		move_under_load => \&move_indexes_under_load,
		start => sub { return start_move($primary, 't_txt', @_) },
		move => sub { move($_[0], 't_txt', $_[1]) },
		places => sub { return tablespaces_of($_[0], 't_txt') },
		place_in => sub { return $_[0] },
		all_places => sub { return tablespaces_of($_[0], 't') },
		change => q{UPDATE t SET txt = md5(txt), d = -d WHERE id % 2 = 0},
		late_change => q{UPDATE t SET txt = md5(txt) WHERE id % 19 = 0},
		check => \&check_content,
	},
	table => {
		fill => sub { fill_documents($primary, 2000) },
		move_under_load => \&move_table_under_load,
		start => sub {
			my ($tablespace, $more) = @_;
			return start_table_move($primary, 't', $tablespace,
				'with_indexes => true' . ($more ? ", $more" : ''));
		},
		move => sub { move_table($_[0], 't', $_[1], 'with_indexes => true') },
		places => sub { return places($_[0], 't') },
		place_in => \&table_in,
		all_places => sub { return places($_[0], 't') },
		change => qq{
			UPDATE t SET doc = ${\document('id + 3')} WHERE id % 5 = 0;
			UPDATE t SET note = note + 1 WHERE id % 3 = 0;
			DELETE FROM t WHERE id % 13 = 0;
			VACUUM (FREEZE, TRUNCATE false) t;
			UPDATE t SET note = note + 1 WHERE id % 17 = 0},
		late_change => q{UPDATE t SET note = note + 1, doc = NULL WHERE id % 19 = 0},
		check => \&check_table,
	});

# --- standbys and what they find -------------------------------------------------

sub new_standby
{
	my ($backup, $name) = @_;
	my $node = PostgreSQL::Test::Cluster->new("${what}_standby_$name");

	$node->init_from_backup($primary, $backup, has_streaming => 1);
	$node->append_conf('postgresql.conf', qq(
hot_standby_feedback = on
max_standby_streaming_delay = -1
archive_mode = off
));
	$node->start;
	return $node;
}

# Content of the standby once it has all that the primary has.  Files go with
# its restartpoint.
sub check_standby
{
	my ($name) = @_;

	$primary->safe_psql('postgres', 'CHECKPOINT');
	$primary->wait_for_catchup($follower, 'replay');
	$kind->{check}->($follower, "standby, $name");
	check_orphans($follower, "standby, $name");
	is(digest($follower, 't'), digest($primary, 't'),
		"$name: the standby's table is the primary's");
	# from 19 on the SELECT above may have set bits on the primary
	$primary->safe_psql('postgres', 'CHECKPOINT');
	$primary->wait_for_catchup($follower, 'replay');
	is(visibility($follower, 't'), visibility($primary, 't'),
		"$name: the standby's visibility map is the primary's");
	is($kind->{all_places}->($follower), $kind->{all_places}->($primary),
		"$name: relations of the standby are where the primary has them");
	return;
}

# What a server finds that took over in the middle of a move.
sub check_takeover
{
	my ($node, $job, $state, $place, $name) = @_;

	$kind->{check}->($node, $name);
	is($kind->{places}->($node), $place, "$name: all is where it should be");
	isnt($node->safe_psql('postgres', 'SELECT tsa_orphans()'), '',
		"$name: there are files to remove");
	release($node);
	is(end_state($node, $job), $state, "$name: the next call recovers the job");
	check_orphans($node, $name);
	$kind->{move}->($node, 'pg_default');
	is($kind->{places}->($node), $kind->{place_in}->('pg_default'),
		"$name: the relation moves after the recovery");
	$kind->{check}->($node, "$name and a move");
	check_orphans($node, "$name and a move");
	check_no_crash($node, $name);
	return;
}

# A move that is stopped behind the copy, in the window and behind it: one
# standby takes over at each.  Returns the job.
sub take_over
{
	my (@takeovers) = @_;

	$primary->backup('start');
	my %standby = map { $_->[0] => new_standby('start', $_->[0]) } @takeovers;
	stop_at($primary, 'copied');
	my $job = $kind->{start}->('fast');
	for my $case (@takeovers)
	{
		my ($point) = @$case;

		stop_at($primary, $point);
		wait_for_stop($primary, $point);
		$primary->safe_psql('postgres', $kind->{change}) if $point eq 'copied';
		$primary->safe_psql('postgres',
			"SET synchronous_commit = on; $kind->{late_change}")
		  if $point eq 'switched';
		$primary->safe_psql('postgres', "SELECT pg_create_restore_point('$point')");
		$primary->wait_for_catchup($standby{$point}, 'replay');
		$standby{$point}->promote;
		$primary->backup('in_copy') if $point eq 'copied';
	}
	for my $case (@takeovers)
	{
		my ($point, $state, $place) = @$case;

		check_takeover($standby{$point}, $job, $state, $place,
			"$what, promoted at '$point'");
		$standby{$point}->stop;
	}
	return $job;
}

# --- the test --------------------------------------------------------------------

# Each page that is replayed is compared with the primary's, but for GiST: replay of
# a deletion sets a flag there (F_TUPLES_DELETED) that the primary does not set.
for (sort keys %kinds)
{
	$what = $_;
	$kind = $kinds{$what};
	$primary = start_node("${what}_primary",
		checksums => 1,
		init => { allows_streaming => 1, has_archiving => 1 },
		conf => qq(
wal_consistency_checking = 'heap, heap2, btree, hash, gin, spgist, brin, sequence, generic'
autovacuum = off
max_wal_size = 1GB
wal_keep_size = 4GB
));
	$kind->{fill}->();
	$primary->backup('first');
	$follower = new_standby('first', 'follower');

	$kind->{move_under_load}->();
	check_standby("$what, moves under load");

	my ($slow, $fast) = map { $kind->{place_in}->($_) } qw(slow fast);
	my @takeovers = (
		[ 'copied', 'failed', $slow ],
		[ 'window', 'failed', $slow ],
		[ 'switched', 'done', $fast ]);
	my $job = take_over(@takeovers);

	# The primary goes on as if nothing had been.
	release($primary);
	is(wait_for_job($primary, $job), 'done', "$what: the primary ends its move");
	is($kind->{places}->($primary), $fast, "$what: all has moved");
	$kind->{check}->($primary, "$what, the primary");
	check_orphans($primary, "$what, the primary");
	check_standby("$what, a move that was stopped");

	# A base backup from the middle of a move, and one while a move copies.  The
	# first has to replay to its end only, the second finds the copy half done.
	my $slowly = $kind->{start}->('slow', "max_rate => '20 kB'");
	wait_until($primary,
		"(SELECT bytes_done > 0 FROM tablespace_moves WHERE job_id = $slowly)",
		'the move copies');
	$primary->backup('while_copying');
	is(job_field($primary, $slowly, 'state'), 'running',
		"$what: the backup ends before the move");
	is($primary->safe_psql('postgres', "SELECT cancel_move($slowly)"), 't',
		"$what: the move is cancelled");
	is(wait_for_job($primary, $slowly), 'cancelled', "$what: the cancelled move ends");
	check_orphans($primary, "$what, cancelled");
	check_standby("$what, a move that was cancelled");

	for my $case ([ 'in_copy', $job, $slow ], [ 'while_copying', $slowly, $fast ])
	{
		my ($backup, $its_job, $place) = @$case;
		my $node = PostgreSQL::Test::Cluster->new("${what}_restored_$backup");
		$node->init_from_backup($primary, $backup);
		$node->append_conf('postgresql.conf', "archive_mode = off\n");
		$node->start;
		check_takeover($node, $its_job, 'failed', $place, "$what, backup $backup");
		check_checksums($node, "$what, backup $backup");
	}

	# Recovery to a point in the middle of a move.
	$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
	for my $case (@takeovers)
	{
		my ($target, $state, $place) = @$case;
		my $node = PostgreSQL::Test::Cluster->new("${what}_pitr_$target");
		$node->init_from_backup($primary, 'start', has_restoring => 1);
		$node->append_conf('postgresql.conf', qq(
recovery_target_name = '$target'
recovery_target_action = 'promote'
archive_mode = off
));
		$node->start;
		wait_until($node, 'NOT pg_is_in_recovery()', 'recovery ends');
		check_takeover($node, $job, $state, $place, "$what, recovered to '$target'");
		check_checksums($node, "$what, recovered to '$target'");
	}

	for my $node ($follower, $primary)
	{
		check_no_crash($node, $node->name);
		check_checksums($node, $node->name);
	}
}
done_testing();
