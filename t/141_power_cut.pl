# Loss of power at points of a move's protocol, in small: what bench/power_loss
# does with real file systems, here with a library that undoes what was not
# synced (test/volatile_disk.c), all of it or for each sector a part.  What was
# committed is there after each cut, indexes agree with their table, nothing is
# left.  kill -9, which other tests do, loses nothing that was written.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use File::Find;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

use constant SECTOR => 512;

my $library = "$PostgreSQL::Test::Utils::tmp_check/volatile_disk.so";
my $logs = PostgreSQL::Test::Utils::tempdir;

plan skip_all => 'no /proc' unless -r '/proc/self/stat';
plan skip_all => 'no C compiler to build test/volatile_disk.c with'
  if system("cc -shared -fPIC -O1 -o $library test/volatile_disk.c -ldl") != 0;
srand 1;

my $node = new_node('volatile', conf => q{
autovacuum = off
fsync = on
wal_level = replica
checkpoint_timeout = 1h
});

sub start
{
	local %ENV = (%ENV, LD_PRELOAD => $library, VOLATILE_DISK => $logs);
	$node->start;
	return;
}

start();
prepare_node($node);
$node->safe_psql('postgres', q{
	CREATE TABLE t (a int PRIMARY KEY, b int, c text, d text) TABLESPACE slow;
	ALTER TABLE t ALTER d SET STORAGE EXTERNAL;
	INSERT INTO t SELECT i, i, md5(i::text), CASE WHEN i % 50 = 0 THEN repeat(md5(i::text), 100) END
		FROM generate_series(1, 5000) i;
	CREATE INDEX t_c ON t (c, b);
	CREATE INDEX t_few ON t (b) WHERE a < 500;
	VACUUM t});

# --- the power ----------------------------------------------------------------------

# The parent of a process; nothing if it is gone.
sub process
{
	my ($pid) = @_;

	open(my $handle, '<', "/proc/$pid/stat") or return;
	my $stat = <$handle> // '';
	return $stat =~ /\) \S (\d+)/;
}

# All processes of the server end at one moment.
sub kill_all
{
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	my @children;

	kill 'STOP', $postmaster;
	opendir(my $proc, '/proc') or die $!;
	foreach my $pid (grep { /^\d+$/ } readdir $proc)
	{
		my ($parent) = process($pid);
		push @children, $pid if defined $parent && $parent == $postmaster;
	}
	kill 'STOP', @children;
	kill 'KILL', @children;
	$node->kill9;
	foreach my $try (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return unless grep { process($_) } @children, $postmaster;
		select undef, undef, undef, 0.1;
	}
	die 'the server does not end';
}

# The records of a file's logs, the oldest first.
sub records
{
	my @records;

	foreach my $log (@_)
	{
		my $text = slurp_file($log);

		for (my $at = 0; $at + 32 <= length $text;)
		{
			my ($offset, $length, $held, $size) = unpack 'q4', substr($text, $at, 32);

			push @records, { offset => $offset, length => $length, size => $size,
				held => substr($text, $at + 32, $held) };
			$at += 32 + $held;
		}
	}
	return @records;
}

# Undoes what a file's logs say: all, or for each sector what came after some
# record.  How many sectors.
sub undo
{
	my ($path, $all, @records) = @_;
	my ($size, $size_kept, $undone) = (undef, 0, 0);
	my $kept_from = 1 << 62;
	my %kept;

	open(my $file, '+<:raw', $path) or die "$path: $!";
	foreach my $r (reverse @records)
	{
		my $end = $r->{length} < 0 ? $r->{size} : $r->{offset} + $r->{length};
		my $keep = !$all && rand() < 0.5;

		$size_kept ||= $keep;
		$size = $r->{size} unless $size_kept;
		if ($r->{length} < 0 && $size_kept)
		{
			$kept_from = $r->{offset} if $r->{offset} < $kept_from;
			next;
		}
		for (my $at = $r->{offset}; $at < $end && $at < $kept_from;)
		{
			my $next = ($at - $at % SECTOR) + SECTOR;
			my $sector = $at - $at % SECTOR;

			$next = $end if $next > $end;
			$kept{$sector} ||= !$all && rand() < 0.5;
			if (!$kept{$sector})
			{
				my $n = $next - $at;
				my $from = $at - $r->{offset};
				my $old = $from < length $r->{held} ? substr($r->{held}, $from, $n) : '';

				seek $file, $at, 0;
				print $file $old . "\0" x ($n - length $old);
				$undone++;
			}
			$at = $next;
		}
	}
	$file->flush;
	truncate $file, $size if defined $size;
	close $file or die $!;
	return $undone;
}

# The files of a tablespace that have something to be synced.
sub unsynced
{
	my ($tablespace) = @_;
	my $oid = $node->safe_psql('postgres',
		"SELECT oid FROM pg_tablespace WHERE spcname = '$tablespace'");
	my @files;

	find(
		sub {
			my $inode = (lstat)[1];
			my @logs = glob("$logs/$inode*");
			push @files, $_ if -f _ && @logs;
		},
		$node->data_dir . "/pg_tblspc/$oid");
	return @files;
}

# How many sectors were lost.
sub cut_power
{
	my ($all) = @_;
	my (%path, %logs);
	my $undone = 0;

	kill_all();
	find(
		sub {
			my $inode = (lstat)[1];
			$path{$inode} = $File::Find::name if -f _;
		},
		$node->data_dir);
	foreach my $log (sort { -M $b <=> -M $a } glob("$logs/*"))
	{
		my ($inode) = $log =~ m{/(\d+)[^/]*$};
		push @{ $logs{$inode} }, $log if $path{$inode};
	}
	foreach my $inode (sort { $a <=> $b } keys %logs)
	{
		# what was taken by a sync that had not ended is older
		my @order = sort { length $b <=> length $a } @{ $logs{$inode} };
		$undone += undo($path{$inode}, $all, records(@order));
	}
	unlink glob("$logs/*");
	$node->append_conf('postgresql.conf', "tablespace_advisor.debug_stop_at = ''");
	start();
	return $undone;
}

# --- moves --------------------------------------------------------------------------------

sub content
{
	my $query = 'SELECT count(*), sum(hashtextextended(x::text, 0)) FROM (SELECT * FROM t ORDER BY a) x';

	return $node->safe_psql('postgres', $query);
}

my %call = (
	't_c' => q{CALL move_indexes_concurrently('t_c', '%s', method => 'copy', wait => false)},
	't_few' => q{CALL move_indexes_concurrently('t_few', '%s', wait => false)},
	't' => q{CALL move_table_concurrently('t', '%s', with_indexes => true, wait => false)});

# A move is cut at a point, or after its end if it has none.  content: what is
# there, if that cannot be asked at that point; checkpoint: the point at which
# one comes before.
sub try_cut
{
	my ($relation, $point, $all, %more) = @_;
	my $to = $node->safe_psql('postgres', qq{
		SELECT CASE WHEN reltablespace = (SELECT oid FROM pg_tablespace WHERE spcname = 'fast')
			THEN 'slow' ELSE 'fast' END FROM pg_class WHERE relname = '$relation'});
	my $name = "$relation, " . ($point // 'done') . ', ' . ($all ? 'all' : 'some')
	  . ' of what was not synced is lost';

	$node->safe_psql('postgres', 'CHECKPOINT') unless $more{checkpoint};
	stop_at($node, $more{checkpoint} ? 'storage created' : $point // '');
	my ($job) = $node->safe_psql('postgres', sprintf($call{$relation}, $to)) =~ /(\d+)/;
	if ($more{checkpoint})
	{
		# the server has any new file synced once
		wait_for_stop($node, 'storage created');
		$node->safe_psql('postgres', 'CHECKPOINT');
		stop_at($node, $more{checkpoint});
		wait_for_stop($node, $more{checkpoint});
		isnt(join(' ', unsynced($to)), '', "$name: what was copied is to be synced");
		$node->safe_psql('postgres', 'CHECKPOINT');
		is(join(' ', unsynced($to)), '', "$name: a checkpoint syncs what was copied");
		$node->safe_psql('postgres', 'UPDATE t SET b = b + 1, d = repeat(c, 90) WHERE a % 20 = 0');
		stop_at($node, $point // '');
	}
	my $content = $more{content};
	if ($point)
	{
		wait_for_stop($node, $point);
	}
	else
	{
		is(wait_for_job($node, $job), 'done', "$name: it is done");
	}
	if (!$content)
	{
		$node->safe_psql('postgres', 'UPDATE t SET b = b + 1, d = repeat(c, 100) WHERE a % 25 = 0');
		$content = content();
	}
	my $lost = cut_power($all);
	note "$name: $lost sectors";
	cmp_ok($lost, '>', 0, "$name: something is");
	is(content(), $content, 'what was committed is there');
	is($node->safe_psql('postgres', q{SELECT tsa_amcheck('t')}), '3', 'indexes agree with the table');
	is($node->safe_psql('postgres', q{SELECT tsa_heap_damage('t')}), '', 'and the table with itself');
	$node->safe_psql('postgres', 'SELECT cancel_move(1)');
	is($node->safe_psql('postgres', q{
			SELECT count(*) FROM tablespace_advisor.job
			WHERE state IN ('queued', 'running', 'paused')
				OR new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL}),
		'0', 'no job is open');
	check_orphans($node, $name);
	return;
}

foreach my $relation ('t_c', 't')
{
	try_cut($relation, 'copied', 1);
	try_cut($relation, 'window', 0, content => content());
	try_cut($relation, 'switched', 1);
	try_cut($relation, 'old file truncated', 0);
	# all that was copied before that checkpoint has to be on disk by then
	try_cut($relation, undef, 1, checkpoint => 'copied');
	try_cut($relation, undef, 0, checkpoint => 'copied');
}
try_cut('t_few', 'small switched', 1);
try_cut('t_few', undef, 0);

$node->stop;
done_testing();
