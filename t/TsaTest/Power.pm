# Copyright (c) 2026, The tablespace_advisor developers

# Loss of power: a server on a disk that loses what was not synced
# (test/volatile_disk.c), and whose checkpointer and mover can be held before
# what they do to that disk.  One server at a time.

package TsaTest::Power;

use strict;
use warnings;

use Exporter 'import';
use File::Find;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(
  build_volatile_disk start_volatile unsynced cut_power
  hold let_go wait_for_hold operations);

use constant SECTOR => 512;

my ($library, $logs);

# False if it cannot be had here.
sub build_volatile_disk
{
	$library = "$PostgreSQL::Test::Utils::tmp_check/volatile_disk_$$.so";
	$logs = PostgreSQL::Test::Utils::tempdir;
	return -r '/proc/self/stat'
	  && system("cc -shared -fPIC -O1 -o $library test/volatile_disk.c -ldl") == 0;
}

sub start_volatile
{
	my ($node) = @_;

	local %ENV = (%ENV, LD_PRELOAD => $library, VOLATILE_DISK => $logs);
	$node->start;
	return;
}

# Holds the checkpointer or the mover ($who) before the n-th operation (write,
# extend, truncate, sync, any) on files with this in their path.
sub hold
{
	my ($who, $n, $kind, $path) = @_;

	let_go($who);
	unlink "$logs/hold.$who.seen";
	append_to_file("$logs/new.$who", "$n $kind $path\n");
	rename "$logs/new.$who", "$logs/hold.$who" or die $!;
	return;
}

sub let_go
{
	my ($who) = @_;

	unlink "$logs/hold.$who", "$logs/hold.$who.held";
	return;
}

# Waits until it is held (true), or until something else is the case.
sub wait_for_hold
{
	my ($who, $or) = @_;

	foreach my $try (1 .. 20 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return 1 if -e "$logs/hold.$who.held";
		return 0 if $or && $or->() && !-e "$logs/hold.$who.held";
		usleep(50_000);
	}
	die "the $who does not come to where it is held";
}

# What it has come to since its last hold() began: kind, offset, file.
sub operations
{
	my ($who) = @_;

	return -e "$logs/hold.$who.seen"
	  ? map { s/\s+$//r } split /\n/, slurp_file("$logs/hold.$who.seen")
	  : ();
}

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
	my ($node) = @_;
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
	my ($node, $tablespace) = @_;
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

# The power fails, and comes back: what was not synced is lost, all of it or a
# part.  How many sectors.
sub cut_power
{
	my ($node, $all) = @_;
	my (%path, %logs);
	my $undone = 0;

	kill_all($node);
	find(
		sub {
			my $inode = (lstat)[1];
			$path{$inode} = $File::Find::name if -f _;
		},
		$node->data_dir);
	foreach my $log (sort { -M $b <=> -M $a } glob("$logs/[0-9]*"))
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
	unlink glob("$logs/[0-9]*");
	$node->append_conf('postgresql.conf', "tablespace_advisor.debug_stop_at = ''");
	start_volatile($node);
	return $undone;
}

1;
