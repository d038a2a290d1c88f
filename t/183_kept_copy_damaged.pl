# Copyright (c) 2026, The tablespace_advisor developers

# What an interrupted move has copied, and somebody has damaged, is not taken for
# copied.  t/174 has kept copies that are as the move left them.

use TsaTest;

# Without checksums nothing but the comparison with the original finds damage.
my ($version) = `pg_config --version` =~ /PostgreSQL (\d+)/;
my $node = start_node('main',
	init => { extra => [ $version >= 18 ? '--no-data-checksums' : () ] },
	conf => q{
wal_level = replica
autovacuum = off
tablespace_advisor.debug_mark_kb = 512
tablespace_advisor.keep_interrupted = 1d
});
my $page = 8192;

# A page for each row.  On disk, as a crash would lose hint bits, and the copy be
# another one by them.
sub make_table
{
	my ($table, $rows) = @_;

	$node->safe_psql('postgres', qq{
		DROP TABLE IF EXISTS $table;
		CREATE TABLE $table (a int, b int, c text) TABLESPACE slow;
		ALTER TABLE $table ALTER c SET STORAGE PLAIN;
		INSERT INTO $table SELECT i, i, repeat('x', 4500) FROM generate_series(1, $rows) i;
		VACUUM $table;
		CHECKPOINT});
	return;
}

sub content
{
	my ($table) = @_;

	return $node->safe_psql('postgres', "SELECT count(*), sum(hashtextextended(x::text, 0)) FROM $table x");
}

# Begins a move and interrupts it at a point; its job, and the path of its copy.
sub interrupt
{
	my ($table, $point) = @_;

	stop_at($node, $point);
	$node->safe_psql('postgres', "CALL move_table_concurrently('$table', 'fast', wait => false)") =~ /(\d+)/
	  or die 'no job';
	my $job = $1;
	wait_for_stop($node, $point);

	# the commit of the mark is not waited for
	$node->safe_psql('postgres', "SELECT pg_logical_emit_message(true, '', '')");
	my ($space, $number) = split /\|/, $node->safe_psql('postgres', qq{
		SELECT s.oid, new_filenumbers[1] FROM tablespace_advisor.job, pg_tablespace s
		WHERE job_id = $job AND spcname = 'fast'});
	my ($path) = glob($node->data_dir . "/pg_tblspc/$space/*/*/$number");
	$node->append_conf('postgresql.conf', "tablespace_advisor.debug_stop_at = ''");
	$node->stop('immediate');
	$node->start;
	return ($job, $path);
}

# Writes bytes to a file, which may not be there.
sub write_bytes
{
	my ($path, $offset, $bytes) = @_;

	open my $file, (-e $path ? '+<:raw' : '>:raw'), $path or die "$path: $!";
	seek $file, $offset, 0;
	print $file $bytes;
	close $file or die "$path: $!";
	return;
}

sub read_bytes
{
	my ($path, $offset, $n) = @_;
	my $bytes = '';

	open my $file, '<:raw', $path or die "$path: $!";
	seek $file, $offset, 0;
	read $file, $bytes, $n;
	close $file;
	return $bytes;
}

# The move goes on and ends, with the same rows.
sub check_done
{
	my ($job, $table, $name, $before) = @_;

	is($node->safe_psql('postgres', "SELECT wait_for_moves('{$job}')"), 't', "$name: the move ends");
	is( $node->safe_psql('postgres', qq{
			SELECT state, coalesce(error, ''), interruptions FROM tablespace_moves WHERE job_id = $job}),
		'done||1', "$name: the move is done");
	is(content($table), $before, "$name: no row is lost or changed");
	return;
}

# What is changed later is not lost in a crash.
sub check_crash
{
	my ($table, $name) = @_;

	$node->safe_psql('postgres', "CHECKPOINT; UPDATE $table SET b = -b WHERE a BETWEEN 5 AND 60");
	my $changed = content($table);
	$node->stop('immediate');
	$node->start;
	is(content($table), $changed, "$name: a later change is not lost in a crash");
	is($node->safe_psql('postgres', "SELECT tsa_heap_damage('$table')"), '', "$name: the table is well");
	check_orphans($node, $name);
	return;
}

# The table can be moved again.
sub check_moves_back
{
	my ($name) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "CALL move_table_concurrently('t', 'slow')");

	is("$rc $err", '0 ', "$name: the table can be moved again");
	return;
}

# --- pages -------------------------------------------------------------------------------

my %pages = (
	'bytes' => sub { write_bytes($_[0], 10 * $page + 6000, 'damaged') },
	'header' => sub { write_bytes($_[0], 10 * $page + 12, "\xff\xff") },
	'LSN of the future' => sub { write_bytes($_[0], 10 * $page, pack('LL', 0x7f, 77)) },
	'LSN of the past' => sub { write_bytes($_[0], 10 * $page, pack('LL', 0, 77)) },
	'zeros' => sub { write_bytes($_[0], 10 * $page, "\0" x (10 * $page)) },
	'torn page' => sub { write_bytes($_[0], 10 * $page + $page / 2, "\0" x ($page / 2)) },
	'page of another block' => sub { write_bytes($_[0], 10 * $page, read_bytes($_[0], 11 * $page, $page)) },
	'cut off' => sub { truncate($_[0], 20 * $page + 77) or die "truncate: $!" },
	'gone' => sub { unlink($_[0]) or die "unlink: $!" });

for my $damage (sort keys %pages)
{
	make_table('t', 200);
	my $before = content('t');
	my ($job, $path) = interrupt('t', 'marked');

	$pages{$damage}->($path);
	check_done($job, 't', $damage, $before);
	cmp_ok(job_field($node, $job, 'blocks_again'), '<', 64, "$damage: other pages are kept");
	check_crash('t', $damage);
}

# --- an empty page without an LSN -----------------------------------------------------------

# It says nothing of what other servers have at its place, so it is copied again,
# though the copy has the same page with an LSN.  Tables that the server has filled
# have such pages on some versions only, and at their end.
{
	make_table('t', 200);
	my $table = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('t')});
	$node->stop;
	write_bytes($table, 10 * $page, pack('L L S S S S S S L', 0, 0, 0, 0, 24, $page, $page, $page + 4, 0) . "\0" x ($page - 24));
	$node->start;
	my $before = content('t');
	my ($job) = interrupt('t', 'marked');
	my $log_size = -s $node->logfile;

	check_done($job, 't', 'no LSN', $before);
	like(slurp_file($node->logfile, $log_size),
		qr/Copied again: 0 that have changed, \d+ made after the last mark, 1 that differ without a later LSN, 0 empty or damaged/,
		'no LSN: an empty page without an LSN does not count');
}

# --- more than the server sees -------------------------------------------------------------

my %ends = (
	'part of a page' => sub { write_bytes($_[0], 200 * $page, 'part') },
	'another segment' => sub { write_bytes("$_[0].1", 0, 'x' x $page) });

for my $end (sort keys %ends)
{
	make_table('t', 200);
	my $before = content('t');
	my ($job, $path) = interrupt('t', 'fsm copied');

	is((-s $path) / $page, 200, "$end: all is copied");
	$ends{$end}->($path);
	check_done($job, 't', $end, $before);
	check_moves_back($end);
	check_crash('t', $end);
}

# --- other files ---------------------------------------------------------------------------

# Pages of another table have LSNs that the mark has, and right headers.
$node->safe_psql('postgres', q{
	CREATE TABLE another (a int, b int, c text) TABLESPACE slow;
	ALTER TABLE another ALTER c SET STORAGE PLAIN});
my %files = (
	'no visibility map' => sub { unlink("$_[0]_vm") or die "unlink: $!" },
	'no free space map' => sub { unlink("$_[0]_fsm") or die "unlink: $!" },
	'no table' => sub { unlink($_[0]) or die "unlink: $!" },
	'maps of ones' => sub { write_bytes("$_[0]$_", 0, "\xff" x (3 * $page)) foreach '_vm', '_fsm' },
	'maps that end in mid-page' => sub { write_bytes("$_[0]$_", -s "$_[0]$_", 'x' x 100) foreach '_vm', '_fsm' },
	'more pages' => sub { write_bytes($_[0], 200 * $page, read_bytes($_[0], 0, 100 * $page)) },
	'pages of another table' => sub {
		my $other = $node->data_dir . '/' . $node->safe_psql('postgres', q{
			INSERT INTO another SELECT i, -i, repeat('y', 4500) FROM generate_series(1, 200) i;
			CHECKPOINT;
			SELECT pg_relation_filepath('another')});
		write_bytes($_[0], 0, read_bytes($other, 0, 200 * $page)) });

for my $name (sort keys %files)
{
	make_table('t', 200);
	my $before = content('t');
	my ($job, $path) = interrupt('t', 'fsm copied');

	$files{$name}->($path);
	check_done($job, 't', $name, $before);
	is( $node->safe_psql('postgres', "SELECT count(*) FROM t WHERE ctid = ANY (ARRAY(SELECT ctid FROM t))"),
		200, "$name: each row is found by its place");
	check_moves_back($name);
	check_crash('t', $name);
}

# --- the file is another table's by now -----------------------------------------------------

# The number of a copy that is gone is used again, as after the wraparound of OIDs.
foreach my $end ('goes on', 'is cancelled')
{
	make_table('t', 200);
	my $before = content('t');
	my ($job, $path) = interrupt('t', 'fsm copied');
	my ($number) = $path =~ /(\d+)$/;

	$node->stop;
	unlink glob("$path*");
	command_ok([ 'pg_resetwal', '-o', $number, '-D', $node->data_dir ], 'OIDs begin again');
	$node->start;
	$node->safe_psql('postgres', q{
		DROP TABLE another;
		CREATE TABLE another (a int, b int, c text) TABLESPACE fast});
	is($node->safe_psql('postgres', "SELECT pg_relation_filenode('another')"), $number,
		'another table has the number of the copy');
	$node->safe_psql('postgres', q{
		INSERT INTO another SELECT i, -i, repeat('y', 200) FROM generate_series(1, 1000) i});
	my $other = content('another');
	if ($end eq 'goes on')
	{
		check_done($job, 't', $end, $before);
	}
	else
	{
		$node->safe_psql('postgres', "SELECT cancel_move($job); SELECT wait_for_moves('{$job}')");
	}
	is(content('another'), $other, "the move $end: the other table is left alone");
	is(content('t'), $before, '... and this one has its rows');
	check_crash('t', $end);
	is(content('another'), $other, '... after a crash, too');
	$node->safe_psql('postgres', "CALL move_table_concurrently('t', 'slow')");
}

# --- a free space map of more blocks than the table has any more ------------------------------

$node->safe_psql('postgres', 'CREATE EXTENSION pg_freespacemap');
make_table('large', 4500);
my ($job, $path) = interrupt('large', 'fsm copied');
is((-s "${path}_fsm") / $page, 4, 'the free space map has two lowest blocks');
$node->safe_psql('postgres', 'DELETE FROM large WHERE a > 100; VACUUM large');
my $before = content('large');
check_done($job, 'large', 'blocks are gone', $before);
check_crash('large', 'blocks are gone');
is($node->safe_psql('postgres', q{SELECT count(*) FROM generate_series(4100, 4400) b WHERE pg_freespace('large', b) > 0}),
	'0', 'the free space map names no block that is gone');
$node->stop;
done_testing();
