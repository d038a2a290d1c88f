# Copyright (c) 2026, The tablespace_advisor developers

# One psql session for all statements of a bench.

package OneSession;

use strict;
use warnings;

use Exporter 'import';
use IPC::Open2;

our @EXPORT = qw(open_session sql close_session);

my ($pid, $from, $to);

# Begins it; whether it ends at the first error.
sub open_session
{
	my ($stops) = @_;

	$pid = open2($from, $to, 'psql', '-XAtq', '-v', "ON_ERROR_STOP=$stops",
		'-d', 'postgres');
	$to->autoflush(1);
	return;
}

# Runs statements; returns the lines of their results.
sub sql
{
	my ($query) = @_;
	my @lines;

	print $to "$query;\n\\echo --done\n";
	while (defined(my $line = <$from>))
	{
		chomp $line;
		return @lines if $line eq '--done';
		push @lines, $line;
	}
	die "psql ended\n";
}

sub close_session
{
	close $to;
	waitpid($pid, 0);
	return;
}

1;
