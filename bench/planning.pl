# The measurements of bench/planning, which see.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../t";

use OneSession;
use TsaTest::Plan;

my ($pairs, $times) = @ARGV;

sub quantile
{
	my ($q, @values) = @_;
	@values = sort { $a <=> $b } @values;
	return $values[ $q * $#values + 0.5 ];
}

sub turn
{
	my ($setting, $query) = @_;
	sql("SET tablespace_advisor.correct_locality = $setting");
	sql("EXPLAIN (SUMMARY) $query") for 1 .. 5;
	my @us = sort { $a <=> $b } map { /^Planning Time: ([\d.]+)/ ? 1000 * $1 : () }
	  sql(join(';', ("EXPLAIN (SUMMARY) $query") x $times));
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
	[ 'join of three', 'SELECT * FROM t JOIN u USING (i) JOIN v USING (i) WHERE t.c < 5000 AND u.i > 3' ])
{
	my ($name, $query) = @$case;
	my (@ratios, %us);
	for my $pair (1 .. $pairs)
	{
		my %turn;
		$turn{$_} = turn($_, $query) for $pair % 2 ? ('off', 'on') : ('on', 'off');
		push @{ $us{$_} }, $turn{$_} for keys %turn;
		push @ratios, $turn{on} / $turn{off};
	}
	my %plan;
	for my $setting ('off', 'on')
	{
		sql("SET tablespace_advisor.correct_locality = $setting");
		$plan{$setting} = join("\n", sql("EXPLAIN (COSTS off) $query"));
	}
	printf "%s%s: %.1f us off, %.1f us on; ratio %.3f (quartiles %.3f to %.3f)\n",
	  $name, $plan{off} eq $plan{on} ? '' : ' (another plan)', quantile(0.5, @{ $us{off} }), quantile(0.5, @{ $us{on} }),
	  map { quantile($_, @ratios) } 0.5, 0.25, 0.75;
}
close_session();
