# Copyright (c) 2026, The tablespace_advisor developers

# A device that fails: test/faulty_disk.c, preloaded into a server of TsaTest,
# and what has to be true after a move that it has disturbed.

package TsaFaults;

use strict;
use warnings;

use Errno qw(EIO ENOSPC);
use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);
use TsaTest;

our @EXPORT = qw(
  new_faulty_node start_faulty fail_calls stop_failing
  hold_call wait_for_held_call release_call psql_verbose
  place_of target_path digests named_files SHORT_WRITE SLOW);

use constant {
	SHORT_WRITE => -1,
	SLOW => 0,
};

# Kinds of calls, as in faulty_disk.c.
my %bit = (
	write => 0x01, truncate => 0x02, allocate => 0x04, sync => 0x08,
	unlink => 0x10, open => 0x20, read => 0x40, writeback => 0x80);
my $layout = 'l8Z224';
my $control;
my $library;

# Is there a compiler to build the library with?
sub build
{
	$library = "$PostgreSQL::Test::Utils::tmp_check/faulty_disk.so";
	return system("cc -shared -fPIC -O1 -o $library test/faulty_disk.c -ldl") == 0;
}

# The server starts, or starts again, with the library.
sub start_faulty
{
	my ($node, $how) = @_;

	local %ENV = (%ENV, LD_PRELOAD => $library, FAULTY_DISK => $control);
	$node->$how;
	return;
}

sub write_control
{
	my (%c) = @_;
	my $bits = 0;

	$bits |= $bit{$_} foreach @{ $c{calls} };
	open(my $handle, '+<', $control) or die "$control: $!";
	binmode $handle;
	# nothing is played while the rest is written
	print $handle pack('l', 0);
	$handle->flush;
	seek $handle, 0, 0;
	my $text = pack($layout, $bits, $c{dead} ? 0xff : $bits, $c{nth} // 0,
		$c{from_on} || $c{dead} ? 1 : 0, $c{error} // EIO, $c{delay_ms} // 0,
		0, 0, $c{path} // '');
	seek $handle, 4, 0;
	print $handle substr($text, 4);
	$handle->flush;
	seek $handle, 0, 0;
	print $handle substr($text, 0, 4);
	close $handle or die $!;
	return;
}

# Lets calls fail: calls => [kinds], path => part of their file's name, nth =>
# which (none: they are counted), error => errno, SHORT_WRITE or SLOW; from_on:
# it and all that follow; dead: and those of each other kind, too.
sub fail_calls { write_control(@_); return }

# The device works again.  How many calls there were, and how many failed.
sub stop_failing
{
	open(my $handle, '<', $control) or die "$control: $!";
	binmode $handle;
	read $handle, my $text, 256;
	close $handle;
	write_control(calls => []);
	return (unpack $layout, $text)[6, 7];
}

# The next of these calls waits until its process gets a signal.
sub hold_call
{
	my (%c) = @_;

	fail_calls(%c, nth => 1, error => SLOW, delay_ms => 3_600_000);
	return;
}

# Waits until it does.
sub wait_for_held_call
{
	foreach my $try (1 .. 100 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return if (unpack $layout, slurp_file($control))[7] == 1;
		usleep(10_000);
	}
	die 'no call waits';
}

sub release_call
{
	my ($pid) = @_;

	stop_failing();
	kill 'HUP', $pid;
	return;
}

# A server with that library, with the tablespaces "slow" and "fast", on which
# nothing writes by itself; conf => more settings; or skips all tests.
sub new_faulty_node
{
	my ($name, %args) = @_;

	plan skip_all => 'no C compiler to build test/faulty_disk.c with'
	  unless build();
	my $node = new_node($name, conf => q{
autovacuum = off
wal_level = replica
checkpoint_timeout = 1h
bgwriter_lru_maxpages = 0
log_error_verbosity = verbose
fsync = on
} . ($args{conf} // ''));
	$control = $node->basedir . '/faulty_disk';
	append_to_file($control, "\0" x 256);
	start_faulty($node, 'start');
	prepare_node($node);
	return $node;
}

# A statement's errors and warnings, with SQLSTATEs; empty if there are none.
sub psql_verbose
{
	my ($node, $sql) = @_;
	my (undef, undef, $err) = $node->psql('postgres',
		"SET client_min_messages = warning;\n\\set VERBOSITY verbose\n$sql");

	$err =~ s/^psql:<stdin>:\d+: //mg;
	return $err;
}

sub place_of
{
	my ($node, $relation) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT coalesce(s.spcname, 'pg_default') FROM pg_class c
			LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE c.oid = '$relation'::regclass});
}

# What the names of a tablespace's files have in common.
sub target_path
{
	my ($node, $tablespace) = @_;
	my $oid = $node->safe_psql('postgres',
		"SELECT oid FROM pg_tablespace WHERE spcname = '$tablespace'");

	return "pg_tblspc/$oid/";
}

# Number and sum of a table's rows, by sequential scan and by its index.
sub digests
{
	my ($node, $table) = @_;
	my $query = "SELECT count(*), sum(hashtextextended(x::text, 0)) FROM (SELECT * FROM $table ORDER BY a) x";

	return $node->safe_psql('postgres', qq{
		SET enable_indexscan = off; SET enable_bitmapscan = off;
		$query;
		SET enable_indexscan = on; SET enable_seqscan = off; SET enable_sort = off;
		$query});
}

# How many jobs that have ended name files which are still to be removed.
sub named_files
{
	my ($node) = @_;

	return $node->safe_psql('postgres', q{
		SELECT count(*) FROM tablespace_advisor.job
		WHERE state IN ('done', 'failed', 'cancelled')
			AND (new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL)});
}

1;
