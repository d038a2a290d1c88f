# Copyright (c) 2026, The tablespace_advisor developers

# Moves and crashes under settings that change what is written to the log and to
# the files: with and without data checksums, wal_level minimal and logical, no
# full-page writes, compressed WAL; a logical slot that decodes across a move; and
# a worker that cannot write.  Of all indexes of a table, and of a table with its
# indexes.

use TsaTest;

# The whole table and all that belongs to it in one place.
sub table_in
{
	my ($place) = @_;

	return "table $place, toast $place, toast index $place, indexes $place";
}

# --- settings ----------------------------------------------------------------------

my $minimal = "wal_level = minimal\nmax_wal_senders = 0\n";
my @settings = (
	"${minimal}full_page_writes = off\nwal_compression = on\n",
	"${minimal}wal_skip_threshold = 0\nwal_compression = off\n",
	"wal_level = logical\nfull_page_writes = off\nwal_log_hints = on\n",
	"wal_level = replica\nwal_compression = on\n");
my %kinds = (
	indexes => {
		# checksums, settings
		cases => [ map { [ 1, $_ ] } @settings[ 0 .. 2 ] ],
		fill => sub { fill_table($_[0], 3000) },
		start => \&start_load,
		stop => \&stop_load,
		move => sub {
			my ($node, $to, $slowly) = @_;
			move($node, 't', $to, "method => 'copy'" . ($slowly ? ", max_rate => '8 MB'" : ''));
		},
		places => sub { return tablespaces_of($_[0], 't') },
		place_in => sub { return $_[0] },
		change => 'UPDATE t SET h = (h + 1) % 50, d = -d WHERE id % 7 = 0',
		check => \&check_content,
	},
	table => {
		cases => [ map { [ $_ % 2, $settings[$_] ] } 0 .. 3 ],
		fill => sub { fill_documents($_[0], 2000) },
		start => \&start_table_load,
		stop => \&stop_table_load,
		move => sub {
			my ($node, $to, $slowly) = @_;
			move_table($node, 't', $to,
				$to eq 'slow' ? '' : 'with_indexes => true' . ($slowly ? ", max_rate => '16 MB'" : ''));
		},
		places => sub { return places($_[0], 't') },
		place_in => \&table_in,
		change => qq{
			UPDATE t SET note = note + 1 WHERE id % 7 = 0;
			UPDATE t SET doc = ${\document('id + 1')} WHERE id % 17 = 0},
		check => \&check_table,
	});
my $n = 0;

for my $what (sort keys %kinds)
{
	my $kind = $kinds{$what};

	for my $case (@{ $kind->{cases} })
	{
		my ($checksums, $settings) = @$case;
		my $name = join(', ', $what, ($checksums ? 'checksums' : 'no checksums'),
			split /\n/, $settings);
		my $node = start_node('settings' . $n++,
			checksums => $checksums, conf => $settings);
		$kind->{fill}->($node);
		is($node->safe_psql('postgres', 'SHOW data_checksums'), 'on',
			"$name: data checksums are on")
		  if $checksums;

		my $load = $kind->{start}->($node, rate => 50);
		$kind->{move}->($node, 'fast', 1);
		$kind->{stop}->($load, $name);
		crash($node);
		is($kind->{places}->($node), $kind->{place_in}->('fast'),
			"$name: all is in the new place");
		$kind->{check}->($node, "$name, after a move and a crash");
		check_orphans($node, $name);

		# at once, with nothing written in between, and what follows
		$node->safe_psql('postgres', 'CHECKPOINT');
		$kind->{move}->($node, 'slow');
		$node->safe_psql('postgres', $kind->{change});
		crash($node);
		$kind->{check}->($node, "$name, after a change and a crash");

		# to the end of the log by the checkpointer alone
		$kind->{move}->($node, 'fast');
		if ($checksums)
		{
			check_checksums($node, $name);
		}
		else
		{
			$node->stop;
		}
		$node->start;
		$kind->{check}->($node, "$name, after a restart");
		check_orphans($node, $name);
		is( $node->safe_psql('postgres', q{
				SELECT sum(checksum_failures) FROM pg_stat_database}),
			'0', "$name: no checksum failure")
		  if $checksums;
		check_log($node, $name);
		$node->stop;
	}
}

# --- a logical slot ----------------------------------------------------------------

# It decodes what was changed before, during and behind a move, with the values
# out of line, whatever storage the table had then.
my $node = start_node('logical', checksums => 1,
	conf => "wal_level = logical\nautovacuum = off\n");
$node->safe_psql('postgres', q{
	CREATE TABLE d (id int PRIMARY KEY, doc text);
	ALTER TABLE d ALTER doc SET STORAGE EXTERNAL;
	SELECT pg_create_logical_replication_slot('slot', 'test_decoding')});
my $insert = "INSERT INTO d SELECT i, ${\document('i')} FROM generate_series(%d, %d) i";
$node->safe_psql('postgres', sprintf($insert, 1, 100));
my $job = start_stopped_table_move($node, 'copied', 'd', 'fast', 'with_indexes => true');
$node->safe_psql('postgres', sprintf($insert, 101, 200));
release($node);
is(wait_for_job($node, $job), 'done', 'a move with a logical slot');
$node->safe_psql('postgres', sprintf($insert, 201, 300));
is( $node->safe_psql('postgres', q{
		SELECT count(*), sum(hashtextextended(split_part(data, '''', 2), 0))
		FROM pg_logical_slot_get_changes('slot', NULL, NULL)
		WHERE data LIKE 'table public.d: INSERT:%'}),
	$node->safe_psql('postgres', q{
		SELECT count(*), sum(hashtextextended(doc, 0)) FROM d}),
	'the slot decodes every row');
$node->safe_psql('postgres', q{SELECT pg_drop_replication_slot('slot')});
$node->stop;

# --- a worker that cannot write ----------------------------------------------------

# A worker that must not write files beyond some size gets an error from the
# operating system, as with a full disk: while it copies, and in the window.  WAL
# segments are smaller than that, and nothing else is written out of shared
# buffers as large as these.
sub check_failed_write
{
	my ($target, $limit, $point) = @_;
	my $name = "$target->{name}, no file beyond $limit bytes from '$point'";

	stop_at($node, $point);
	$job = $target->{start}->();
	wait_for_stop($node, $point);
	my $pid = worker_pid($node, $job);
	command_ok([ 'prlimit', '--pid', $pid, "--fsize=$limit" ], $name);
	$node->safe_psql('postgres', $target->{change});
	my $rows = digest($node, $target->{table});
	release($node);
	is(wait_for_job($node, $job), 'failed', "$name: the move fails");
	like(job_field($node, $job, 'error'),
		qr/could not (?:extend|write).*File too large/,
		"$name: the error of the job says why");
	is($target->{places}->(), $target->{place}, "$name: all is where it was");
	check_orphans($node, $name);
	check_locks($node, $name);
	$target->{check}->($name);
	is(digest($node, $target->{table}), $rows, "$name: the rows are right");
	my $again = $node->safe_psql('postgres', "SELECT retry_move($job)");
	is(wait_for_job($node, $again), 'done', "$name: the move can be repeated");
	$target->{check}->("$name, repeated");
	is(digest($node, $target->{table}), $rows,
		"$name: the rows are right, repeated");
	$target->{back}->();
	return;
}

SKIP:
{
	skip 'prlimit is not installed', 1
	  if system('prlimit --version >/dev/null 2>&1') != 0;

	$node = start_node('limited',
		checksums => 1,
		init => { extra => ['--wal-segsize=1'] },
		conf => qq(
wal_level = replica
autovacuum = off
shared_buffers = 128MB
));
	fill_table($node, 12000);
	$node->safe_psql('postgres', qq{
		CREATE TABLE d (id int PRIMARY KEY, pad text, doc text);
		ALTER TABLE d ALTER doc SET STORAGE EXTERNAL;
		ALTER TABLE d ALTER pad SET STORAGE PLAIN;
		INSERT INTO d SELECT i, repeat('p', 800), ${\document('i')}
			FROM generate_series(1, 2000) i;
		CREATE INDEX d_pad ON d (pad, id)});

	my %index = (
		name => 'index',
		table => 't',
		start => sub { return start_move($node, 't_txt', 'fast') },
		change => q{UPDATE t SET txt = md5(txt) || txt WHERE id % 10 = 0},
		places => sub { return tablespaces_of($node, 't_txt') },
		place => 'pg_default',
		check => sub { check_btree($node, 't_txt', $_[0]) },
		back => sub { move($node, 't_txt', 'pg_default') },
	);
	cmp_ok($node->safe_psql('postgres', "SELECT pg_relation_size('t_txt')"),
		'>', 2 * 1024 * 1024, 'the index is larger than the limit');
	check_failed_write(\%index, 1146880, $_)
	  foreach 'storage created', 'fsm copied';

	my %table = (
		name => 'table',
		table => 'd',
		start => sub {
			return start_table_move($node, 'd', 'fast', 'with_indexes => true');
		},
		change => qq{
			UPDATE d SET doc = ${\document('id + 1')}, pad = repeat('q', 800)
			WHERE id % 10 = 0},
		places => sub { return places($node, 'd') },
		place => table_in('pg_default'),
		check => sub { check_heap($node, 'd', $_[0]) },
		back => sub {
			move_table($node, 'd', 'pg_default', 'with_indexes => true');
			$node->safe_psql('postgres', 'VACUUM FULL d');
		},
	);

	# the TOAST table is the larger one: the first limit stops the heap, the
	# second only that
	for my $limit (1146880, 3072000)
	{
		is( $node->safe_psql('postgres', qq{
				SELECT pg_relation_size(oid) > $limit,
					pg_relation_size(reltoastrelid) > $limit
				FROM pg_class WHERE relname = 'd'}),
			$limit < 2000000 ? 't|t' : 'f|t',
			"what is larger than $limit bytes");
		check_failed_write(\%table, $limit, $_)
		  foreach 'storage created', 'fsm copied';
	}
	check_orphans($node, 'limited');
	check_log($node, 'limited', qr/File too large/);
	check_checksums($node, 'limited');
}

done_testing();
