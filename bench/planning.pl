# Copyright (c) 2026, The tablespace_advisor developers

# The measurements of bench/planning, which see.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../t";

use OneSession;
use TsaTest::Plan;

my ($pairs, $times) = @ARGV;
my $copies = 20;

sub quantile
{
	my ($q, @values) = @_;
	@values = sort { $a <=> $b } @values;
	return $values[ $q * $#values + 0.5 ];
}

# What leads to the plan without locality that there is with it.
my @kinds = qw(indexscan bitmapscan seqscan);
my @forces = ((map { "SET enable_$_ = off" } @kinds),
	(map { my $kept = $_; join('; ', map { "SET enable_$_ = off" } grep { $_ ne $kept } @kinds) } @kinds));
my $reset = 'RESET enable_indexscan; RESET enable_bitmapscan; RESET enable_seqscan';

sub adopt
{
	my ($setting, $force) = @_;
	sql("$reset; " . ($setting eq 'same' ? $force : '')
		  . "; SET tablespace_advisor.correct_locality = " . ($setting eq 'on' ? 'on' : 'off'));
	return;
}

sub plan
{
	my ($setting, $force, $query) = @_;
	adopt($setting, $force);
	return join("\n", sql("EXPLAIN (COSTS off) $query"));
}

sub turn
{
	my ($setting, $force, $query) = @_;
	adopt($setting, $force);
	# EXPLAIN says microseconds: of so many alike at once, their tenths count
	my $n = length($query) > 1000 ? 1 : $copies;
	my $all = join(' UNION ALL ', ("($query)") x $n);
	sql("EXPLAIN (SUMMARY) $all") for 1 .. 5;
	my @us = sort { $a <=> $b } map { /^Planning Time: ([\d.]+)/ ? 1000 * $1 / $n : () }
	  sql(join(';', ("EXPLAIN (SUMMARY) $all") x $times));
	my @middle = @us[ @us / 4 .. 3 * @us / 4 ];
	my $sum = 0;
	$sum += $_ for @middle;
	return $sum / @middle;
}

open_session(1);
sql(q{SET client_min_messages = error;
	CREATE EXTENSION tablespace_advisor;
	CREATE TABLE t AS SELECT i, -i AS d, hashint4(i) AS h, i % 97 * 1031 + i / 97 AS c,
		repeat('x', 60) AS pad FROM generate_series(0, 99999) i;
	CREATE INDEX ON t (i); CREATE INDEX ON t (d); CREATE INDEX ON t (h); CREATE INDEX ON t (c);
	CREATE TABLE u AS SELECT i, repeat('x', 60) AS pad FROM generate_series(0, 9999) i;
	CREATE INDEX ON u (i);
	CREATE TABLE v AS TABLE u;
	CREATE INDEX ON v (i);
	VACUUM ANALYZE;
} . planted_probe() . q{
	SELECT count(*) FROM measure_index_locality('t') a, measure_index_locality('u') b,
		measure_index_locality('v') c});
for my $case (
	[ 'one row', 'SELECT * FROM t WHERE i = 77' ],
	[ 'one condition', 'SELECT * FROM t WHERE i < 500' ],
	[ 'one condition', 'SELECT * FROM t WHERE d < -50000' ],
	[ 'three conditions', 'SELECT * FROM t WHERE d < -50000 AND c < 5000 AND h > 0' ],
	[ '60 pairs joined by OR', 'SELECT * FROM t WHERE '
		. join(' OR ', map { "(c < $_ AND h > " . 1000000 * $_ . ')' } 1 .. 60) ],
	[ '60 ranges joined by OR', 'SELECT * FROM t WHERE '
		. join(' OR ', map { 'd BETWEEN -' . 1000 * $_ . ' AND -' . (1000 * $_ - 50 - $_) } 1 .. 60) ],
	[ 'join of three', 'SELECT * FROM t JOIN u USING (i) JOIN v USING (i) WHERE t.c < 5000 AND u.i > 3' ])
{
	my ($name, $query) = @$case;
	my (%ratios, %us);
	my $wanted = plan('on', '', $query);
	my @settings = ('off', 'on');
	my $force = '';
	if (plan('off', '', $query) ne $wanted)
	{
		($force) = grep { plan('same', $_, $query) eq $wanted } @forces;
		push @settings, 'same' if defined $force;
	}
	for my $pair (1 .. $pairs)
	{
		my %turn;
		$turn{$_} = turn($_, $force, $query) for $pair % 2 ? @settings : reverse @settings;
		push @{ $us{$_} }, $turn{$_} for keys %turn;
		push @{ $ratios{$_} }, $turn{on} / $turn{$_} for keys %turn;
	}
	printf "%s: %.1f us off, %.1f us on; ratio %.3f (quartiles %.3f to %.3f)\n",
	  $name, quantile(0.5, @{ $us{off} }), quantile(0.5, @{ $us{on} }),
	  map { quantile($_, @{ $ratios{off} }) } 0.5, 0.25, 0.75;
	printf "    another plan; off, with that plan, %.1f us; ratio to it %.3f (quartiles %.3f to %.3f)\n",
	  quantile(0.5, @{ $us{same} }), map { quantile($_, @{ $ratios{same} }) } 0.5, 0.25, 0.75
	  if $us{same};
}
close_session();
