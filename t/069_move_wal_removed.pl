# Copyright (c) 2026, The tablespace_advisor developers

# No replication slot keeps the WAL for a copy.  If a segment is gone before the
# copy has read it, the copy starts over, and says so in the server's log.  While
# others have a lock for long, the copy reads the WAL all the same, and does not
# start over.

use Time::HiRes qw(usleep);
use TsaTest;

my $node = start_node('main', checksums => 1, conf => qq(
wal_level = replica
min_wal_size = 32MB
max_wal_size = 512MB
wal_keep_size = 0
autovacuum = off
));
$node->safe_psql('postgres', qq{
	CREATE TABLE d (id int PRIMARY KEY, n int, doc text);
	ALTER TABLE d ALTER doc SET STORAGE EXTERNAL;
	INSERT INTO d SELECT i, 0, CASE WHEN i % 50 = 0 THEN ${\document('i')} END
	FROM generate_series(1, 50000) i;
	CREATE INDEX d_n ON d (n)});

my %kinds = (
	index => {
		start => sub { start_move($node, 'd_pkey', $_[0]) },
		name => 'index "d_pkey"',
		place => sub { tablespaces_of($node, 'd_pkey') },
		all => sub { $_[0] },
	},
	table => {
		start => sub { start_table_move($node, 'd', $_[0], 'with_indexes => true') },
		name => '.*d"',
		place => sub { places($node, 'd') },
		all => sub { "table $_[0], toast $_[0], toast index $_[0], indexes $_[0]" },
	});

# The segment that is being written.
sub current_segment
{
	return $node->safe_psql('postgres',
		'SELECT pg_walfile_name(pg_current_wal_insert_lsn())');
}

# Ends the segment; returns the next one.
sub next_segment
{
	$node->safe_psql('postgres',
		'SELECT pg_switch_wal(); SELECT pg_logical_emit_message(true, $$$$, $$$$)');
	return current_segment();
}

# Which segments a process has open, to read them: to flush them it may have
# others open.
sub segments_read
{
	my ($pid) = @_;
	my %segments;

	foreach my $fd (glob "/proc/$pid/fd/*")
	{
		my ($segment) = (readlink($fd) // '') =~ m{/pg_wal/([0-9A-F]{24})$}
		  or next;
		my $info = eval { slurp_file($fd =~ s/fd/fdinfo/r) } // '';

		$segments{$segment} = 1
		  if $info =~ /^flags:\s*(\d+)/m && (oct($1) & 3) == 0;
	}
	return join ' ', sort keys %segments;
}

sub is_gone
{
	my ($segment, $name) = @_;

	is( $node->safe_psql('postgres',
			"SELECT count(*) FROM pg_ls_waldir() WHERE name = '$segment'"),
		'0', "$name: the segment that the copy stood at is gone");
	return;
}

# All is where it should be, with its rows and its visibility map.
sub check_d
{
	my ($kind, $place, $rows, $map, $name) = @_;

	is($kind->{place}->(), $kind->{all}->($place), "$name: the relation is in its new place");
	is(digest($node, 'd', 'x::text'), $rows, "$name: the rows are as before");
	is(visibility($node, 'd'), $map, "$name: the visibility map is as before");
	check_moved($node, 'd', 2, $name);
	return;
}

sub starts_over
{
	my ($what) = @_;
	my $kind = $kinds{$what};
	my $name = "$what, WAL removed";
	my $offset = -s $node->logfile;

	stop_at($node, 'copied');
	my $job = $kind->{start}->('fast');
	wait_for_stop($node, 'copied');

	# changes that the copy will not find in the WAL any more
	my $segment = current_segment();
	$node->safe_psql('postgres', qq{
		UPDATE d SET doc = ${\document('id + 1')} WHERE id % 150 = 0;
		DELETE FROM d WHERE id % 3 = 1;
		INSERT INTO d SELECT i, i, CASE WHEN i % 50 = 0 THEN ${\document('i')} END
		FROM (SELECT max(id) AS last FROM d) m, generate_series(last + 1, last + 40000) i;
		VACUUM (FREEZE, TRUNCATE false) d;
		UPDATE d SET n = n + 1 WHERE id % 11 = 0});
	for (1 .. 4)
	{
		next_segment();
		$node->safe_psql('postgres', 'CHECKPOINT');
	}
	is_gone($segment, $name);
	my $rows = digest($node, 'd', 'x::text');
	my $map = visibility($node, 'd');
	release($node);
	is(wait_for_job($node, $job), 'done', "$name: the move is done all the same");
	like(slurp_file($node->logfile, $offset),
		qr/live copy of $kind->{name} starts over because a write-ahead log segment that it needs has been removed/,
		"$name: the copy has started over");
	like(figures($job), qr/^1 [1-3]$/, "$name: the copy has started over once, with three times its WAL at most");
	check_d($kind, 'fast', $rows, $map, $name);
	return;
}

# How often a move has started over, and its WAL in multiples, rounded up, of
# what it has moved.
sub figures
{
	my ($job) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT restarts || ' ' || ceil(wal_bytes / bytes_total::numeric)
		FROM tablespace_moves WHERE job_id = $job});
}

# A segment is gone, but nothing has changed: what has been copied is compared,
# and neither logged nor written again.
sub compares
{
	my ($what, $place) = @_;
	my $kind = $kinds{$what};
	my $name = "$what, WAL removed, nothing changed";

	$node->safe_psql('postgres', 'VACUUM (FREEZE) d');
	stop_at($node, 'copied');
	my $job = $kind->{start}->($place);
	wait_for_stop($node, 'copied');
	my $segment = current_segment();
	for (1 .. 4)
	{
		next_segment();
		$node->safe_psql('postgres', 'CHECKPOINT');
	}
	is_gone($segment, $name);
	my $rows = digest($node, 'd', 'x::text');
	my $map = visibility($node, 'd');
	release($node);
	is(wait_for_job($node, $job), 'done', "$name: the move is done");
	is($node->safe_psql('postgres', qq{
			SELECT restarts || ' ' || (wal_bytes < 1.2 * bytes_total)
			FROM tablespace_moves WHERE job_id = $job}), '1 true',
		"$name: the copy has started over, without another image of each page");
	check_d($kind, $place, $rows, $map, $name);
	return;
}

# The copy has given all of its locks back to whoever waits for one of them.
sub is_kept_waiting
{
	my ($what) = @_;
	my $kind = $kinds{$what};
	my $name = "$what, locked for long";
	my $offset = -s $node->logfile;
	my $holder = session($node);

	stop_at($node, 'copied');
	my $job = $kind->{start}->('slow');
	wait_for_stop($node, 'copied');
	my $pid = worker_pid($node, $job);
	send_to($holder, 'BEGIN; LOCK d;');
	wait_for_lock_of($node, $holder->{pid});
	release($node);
	answer($holder);
	my $segment = current_segment();
	foreach my $round (1 .. 4)
	{
		my $now = next_segment();
		my $tries = 0;

		usleep(100_000)
		  while segments_read($pid) ne $now
		  && $tries++ < 10 * $PostgreSQL::Test::Utils::timeout_default;
		is(segments_read($pid), $now, "$name: the WAL is read all the same");
		$node->safe_psql('postgres', 'CHECKPOINT');
	}
	is_gone($segment, $name);
	ask($holder, 'COMMIT;');
	end_session($holder);
	my $rows = digest($node, 'd', 'x::text');
	my $map = visibility($node, 'd');
	is(wait_for_job($node, $job), 'done', "$name: the move is done");
	unlike(slurp_file($node->logfile, $offset), qr/starts over/,
		"$name: the copy has not started over");
	check_d($kind, 'slow', $rows, $map, $name);
	return;
}

foreach my $what (qw(index table))
{
	starts_over($what);
	is_kept_waiting($what);
	compares($what, 'fast');
}

# With WAL that is removed as fast as it can be, a copy comes to its end, and
# its WAL stays within three times what it moves.
$node->safe_psql('postgres', 'CREATE TABLE large (a int, b text)');
$node->safe_psql('postgres', q{
	INSERT INTO large SELECT i, repeat('x', 1000) FROM generate_series(1, 100000) i});
configure($node, 'max_wal_size', '32MB');
my $job = start_table_move($node, 'large', 'fast', "max_rate => 'unlimited'");
my $checkpoints = 0;
while ($node->safe_psql('postgres', "SELECT state FROM tablespace_moves WHERE job_id = $job") =~ /queued|running/
	&& $checkpoints < 1000)
{
	$node->safe_psql('postgres', 'CHECKPOINT');
	$checkpoints++;
}
is(wait_for_job($node, $job), 'done', 'a copy beside checkpoint after checkpoint ends');
like(figures($job), qr/^\d+ [1-3]$/, 'a copy beside checkpoint after checkpoint writes three times its WAL at most');
cmp_ok($checkpoints, '>', 0, 'checkpoints ran beside the copy');

check_log($node, 'in the end');
check_checksums($node, 'in the end');
done_testing();
