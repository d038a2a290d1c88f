# Copyright (c) 2026, The tablespace_advisor developers

# The measurements of bench/queries, which see; runs as the server's user.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Getopt::Long;
use IPC::Open2;
use JSON::PP;
use List::Util qw(max min sum);
use OneSession;
use Time::HiRes qw(time);

my %option = (sets => 'tpch,simple', states => 'cold,working,random,warm', runs => 2,
	missing => 0.05, probe => 4, worst => 30, draws => 5000, forgotten => 0.3);
GetOptions(\%option, 'sets=s', 'states=s', 'runs=i', 'missing=f', 'probe=f',
	'directory=s', 'keep=s', 'only=s', 'cells=i', 'draws=i', 'forgotten=f', 'fast=s') or die;
my $sets = "$FindBin::RealBin/queries.sets";
my $json = JSON::PP->new->canonical;

# --- the queries ------------------------------------------------------------

my (@queries, %query);
for my $set (split /,/, $option{sets})
{
	open(my $file, '<', "$sets/$set.sql") or die "$set: $!\n";
	my $name;
	while (my $line = <$file>)
	{
		if ($line =~ /^-- (.*)/)
		{
			$name = $1;
			push @queries, $name;
		}
		else
		{
			$query{$name} .= $line;
		}
	}
}
@queries = grep { /$option{only}/ } @queries if $option{only};

# --- what caches hold --------------------------------------------------------

open2(my $from_cache, my $to_cache, "$option{directory}/page_cache") or die;
$to_cache->autoflush(1);

sub ask_cache
{
	my @lines;
	print $to_cache "@_\n";
	while (defined(my $line = <$from_cache>))
	{
		chomp $line;
		return @lines if $line eq 'done';
		push @lines, $line;
	}
	die "page_cache ended\n";
}

my (@files, %size);				# of the tables and their indexes, and blocks
my @dropped;					# what the state does not hold: path, first, count

sub drop
{
	ask_cache('drop', @$_) for @_;
	return;
}

sub read_all
{
	set_fast(1);
	ask_cache('drop', $_, 0, 0), ask_cache('fill', $_) for @files;
	set_fast(0);
	return;
}

# what is missing at this moment
sub find_missing
{
	my @missing;
	for my $file (@files)
	{
		push @missing, map { [ $file, split / / ] } ask_cache('held', $file);
	}
	return @missing;
}

# has the emulated disk take no time
sub set_fast
{
	my ($on) = @_;
	return unless $option{fast};
	if ($on)
	{
		open(my $file, '>', $option{fast}) or die "$option{fast}: $!\n";
		close $file;
	}
	else
	{
		unlink $option{fast};
	}
	return;
}

# What a workload leaves in the caches: lookups and short ranges, the later and
# the more popular the likelier.
sub read_working_set
{
	srand(42);
	my $hot = sub { my ($n) = @_; return int($n * rand() ** 4) };
	my ($orders, $parts, $customers) = map { sql("SELECT max($_->[0]) FROM $_->[1]") }
	  [ 'o_orderkey', 'orders' ], [ 'p_partkey', 'part' ], [ 'c_custkey', 'customer' ];
	sql('SET random_page_cost = 1.1');
	set_fast(1);
	for (1 .. $option{draws})
	{
		my ($day, $order, $minute) = (2404 - $hot->(2404), $orders - $hot->($orders), 199000 - $hot->(199000));
		my @mix = (
			"SELECT * FROM orders JOIN lineitem ON l_orderkey = o_orderkey WHERE o_orderkey BETWEEN $order - 40 AND $order",
			'SELECT sum(l_extendedprice) FROM orders JOIN lineitem ON l_orderkey = o_orderkey WHERE o_custkey = ' . $hot->($customers),
			'SELECT sum(l_quantity) FROM lineitem WHERE l_partkey = ' . $hot->($parts),
			'SELECT count(l_comment) FROM lineitem WHERE l_suppkey = 1 + ' . $hot->(500),
			"SELECT sum(l_extendedprice) FROM lineitem WHERE l_shipdate = date '1992-01-01' + $day",
			"SELECT count(*), sum(o_totalprice) FROM orders WHERE o_orderdate = date '1992-01-01' + $day",
			'SELECT * FROM customer WHERE c_custkey = ' . $hot->($customers),
			'SELECT sum(amount) FROM sale JOIN product USING (product_id) WHERE day_id = 1090 - ' . $hot->(1090),
			'SELECT * FROM sale JOIN buyer USING (buyer_id) WHERE buyer_id = 1 + ' . $hot->(30000),
			"SELECT value FROM pair WHERE key = md5('" . ($minute + 1000) . "')",
			"SELECT count(value) FROM pair WHERE changed BETWEEN timestamptz '2025-01-01 00:00+00' + $minute * interval '1 minute' AND timestamptz '2025-01-01 00:00+00' + ($minute + 400) * interval '1 minute'",
			'SELECT * FROM reading WHERE device = 1 + ' . $hot->(400) . ' ORDER BY at DESC LIMIT 100',
			"SELECT avg(value) FROM reading WHERE at >= timestamptz '2025-01-07 21:40+00' - interval '1 hour'");
		sql('SELECT count(*) FROM (' . $mix[ rand @mix ] . ') q');
	}
	set_fast(0);
	sql('RESET random_page_cost');
	return;
}

# Brings a state about and remembers what has to leave the cache to have it again.
sub enter_state
{
	my ($state) = @_;
	my @forgotten;
	read_all();
	@dropped = $state eq 'warm' ? () : map { [ $_, 0, 0 ] } @files;
	drop(@dropped);
	if ($state eq 'working')
	{
		read_working_set();
		# of what it did not read, part is still there from former times
		srand(44);
		for (find_missing())
		{
			my ($file, $first, $count) = @$_;
			push @forgotten, map { rand() < $option{forgotten} ? [ $file, $_, 1 ] : () }
			  $first .. $first + $count - 1;
		}
		read_all();
		@dropped = @forgotten;
		drop(@dropped);
	}
	elsif ($state eq 'random')
	{
		srand(43);
		read_all();
		@dropped = ();
		for my $file (@files)
		{
			push @dropped, map { rand() < $option{missing} ? [ $file, $_, 1 ] : () }
			  0 .. $size{$file} - 1;
		}
		drop(@dropped);
	}
	return;
}

# --- variants ----------------------------------------------------------------

my $relations = q{SELECT oid FROM pg_class WHERE relkind IN ('r', 'i') AND reltablespace =
	(SELECT oid FROM pg_tablespace WHERE spcname = 'bench')};
my $tables = q{SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND reltablespace =
	(SELECT oid FROM pg_tablespace WHERE spcname = 'bench')};

# what the state's statement sets, as settings of a session
sub recommended
{
	my ($line) = sql(q{SELECT verdict || '|' || coalesce(statement, '') || '|' || translate(reason, E'\n', ' ')
		FROM recommend_random_page_cost('bench')});
	my ($verdict, $statement, $reason) = split /\|/, $line // 'none||', 3;
	my %set;
	$set{$1} = $2 while $statement =~ /(\w+_cost|\w+_concurrency) = ([\d.]+)/g;
	return ("$verdict: $reason", \%set);
}

sub variants
{
	my ($ours) = @_;
	my %locality = ('tablespace_advisor.correct_locality' => 'on');
	return (
		'r = 4' => {},
		'r = 1.1' => { random_page_cost => 1.1 },
		'recommended' => $ours,
		'locality' => \%locality,
		'both' => { %$ours, %locality },
		map { ("=$_" => { random_page_cost => $_ }) } 2, 8, 20, 50);
}

my @adopted = qw(random_page_cost effective_io_concurrency maintenance_io_concurrency
  tablespace_advisor.correct_locality);

sub adopt
{
	my ($set) = @_;
	sql(join(';', (map { "RESET $_" } @adopted),
		map { "SET $_ = $set->{$_}" } sort keys %$set));
	return;
}

# --- timing --------------------------------------------------------------------

my $evicts;
sub flush_shared_buffers
{
	sql($evicts ? 'SELECT pg_buffercache_evict_all()' : 'SELECT read_other()');
	return;
}

# milliseconds, or the limit where it was given up
sub run_once
{
	my ($name, $limit) = @_;
	sql(sprintf('SET statement_timeout = %d', $limit));
	my ($ms) = map { /^Execution Time: ([\d.]+)/ ? $1 : () }
	  sql("EXPLAIN (ANALYZE, TIMING off, COSTS off) $query{$name}");
	sql('SET statement_timeout = 0');
	return ($ms // $limit) + 0;
}

# Times each plan that any variant has, in turns: the smallest time, and that of
# every other run.
sub time_plans
{
	my ($state, $name, $plans, $settings) = @_;
	my %time;
	my $limit = 120000;
	for my $run (1 .. 3 * $option{runs})
	{
		for my $plan (sort { $plans->{$a}[0] cmp $plans->{$b}[0] } keys %$plans)
		{
			# what takes no time is timed more often
			next if $time{$plan} && $run > $option{runs} && min(@{ $time{$plan} }) > 50;
			next if $time{$plan} && min(@{ $time{$plan} }) > 2000;
			next if $time{$plan} && min(@{ $time{$plan} }) > 10 * min(map { min(@$_) } values %time);
			adopt($settings->{ $plans->{$plan}[0] });
			run_once($name, $limit) if $state eq 'warm' && $run == 1;
			flush_shared_buffers() if $state ne 'warm' || $evicts;
			drop(@dropped);
			push @{ $time{$plan} }, run_once($name, $limit);
			$limit = max(min($limit, $option{worst} * min(@{ $time{$plan} })), 1000);
		}
	}
	adopt({});
	return map {
		my @ms = @{ $time{$_} };
		$_ => [ min(@ms), map { my $odd = $_; min(@ms[ grep { $_ % 2 == $odd || @ms == 1 } 0 .. $#ms ]) } 0, 1 ]
	} keys %time;
}

# What the plan scores in one half of the runs that was the fastest in the other,
# as a logarithm: nobody who chooses by measured times does better.
sub regret_again
{
	my (@times) = @_;
	my $sum = 0;
	for my $half (1, 2)
	{
		my ($fastest) = sort { $a->[$half] <=> $b->[$half] } @times;
		my $other = 3 - $half;
		$sum += log($fastest->[$other] / min(map { $_->[$other] } @times));
	}
	return $sum / 2;
}

# --- all of it -------------------------------------------------------------------

open_session(0);
($evicts) = sql("SELECT count(*) FROM pg_proc WHERE proname = 'pg_buffercache_evict_all'");
sql('SET client_min_messages = error');
if (!sql(q{SELECT 1 FROM pg_tablespace WHERE spcname = 'bench'}))
{
	print STDERR "loading\n";
	sql("CREATE EXTENSION tablespace_advisor; CREATE TABLESPACE bench LOCATION '$option{directory}/space'");
	sql("\\i $sets/schema.sql");
	sql(q{CREATE TABLE other AS SELECT i, repeat('o', 1000) AS pad FROM generate_series(1, 3000) i;
		CREATE INDEX ON other (i);
		CREATE FUNCTION read_other() RETURNS bigint LANGUAGE sql SET enable_seqscan = off SET enable_bitmapscan = off
			SET tablespace_advisor.correct_locality = off
			AS 'SELECT count(pad) FROM other WHERE i > 0';
		VACUUM ANALYZE; CHECKPOINT});
	system('sync');
	print STDERR "probing\n";
	for (1 .. 3)
	{
		sql("SELECT count(*) FROM probe_tablespace('bench', '$option{probe} s', '128 MB')");
		last if (sql("SELECT random_read_us + sequential_page_us FROM tablespace_advisor.read_times WHERE tablespace = 'bench'"))[0];
	}
}
my ($data) = sql('SHOW data_directory');
# in which plans effective_io_concurrency matters
my $prefetching = (sql('SHOW server_version_num'))[0] >= 170000 ? qr/Seq Scan|Bitmap Heap Scan/ : qr/Bitmap Heap Scan/;
for (sql("SELECT pg_relation_filepath(oid) || '|' || pg_relation_size(oid) / 8192 FROM ($relations) r"))
{
	my ($path, $blocks) = split /\|/;
	next unless $blocks;
	push @files, "$data/$path";
	$size{"$data/$path"} = $blocks;
}
print 'times of a block (us): ', join(' ', sql(q{SELECT format('sequential %s, random %s, skip %s, adjacent at effective_io_concurrency 0: %s, 1: %s',
	round(sequential_page_us), round(random_read_us), round(skip_read_us),
	round(adjacent_0_us), round(adjacent_1_us))
	FROM tablespace_advisor.read_times WHERE tablespace = 'bench'})), "\n";
my @tables = sql($tables);
sql("SELECT count(*) FROM measure_index_locality('$_')") for @tables;

open(my $keep, '>', $option{keep}) or die "$option{keep}: $!\n";
$keep->autoflush(1);
for my $state (split /,/, $option{states})
{
	my $begun = time();
	print STDERR "$state\n";
	enter_state($state);
	flush_shared_buffers();
	# what a sample does
	sql("SELECT tablespace_advisor.keep_residency(oid), tablespace_advisor.renew_plans(oid) FROM ($tables) t (oid)");
	my ($share) = sql("SELECT round(100 * sum((shared_fraction + system_fraction) * relpages)::numeric / sum(relpages), 1)
		FROM tablespace_advisor.table_residency JOIN pg_class ON oid = relation");
	my ($verdict, $ours) = recommended();
	my %settings = variants($ours);
	print $keep $json->encode({ state => $state, share => $share, verdict => $verdict,
		set => $ours, runs => $option{runs} }), "\n";
	for my $name (@queries)
	{
		my (%plans, %chosen);	# by plan and prefetching: the variants that have it
		for my $variant (sort keys %settings)
		{
			adopt($settings{$variant});
			my $plan = join("\n", sql("EXPLAIN (COSTS off) $query{$name}"));
			$plan .= "\neffective_io_concurrency " . (sql('SHOW effective_io_concurrency'))[0]
			  if $plan =~ /$prefetching/;
			push @{ $plans{$plan} }, $variant;
			$chosen{$variant} = $plan;
		}
		my %time = time_plans($state, $name, \%plans, \%settings);
		print $keep $json->encode({ state => $state, query => $name,
			time => { map { $_ => $time{ $chosen{$_} }[0] } keys %chosen },
			again => regret_again(values %time),
			$option{cells} ? (plan => \%chosen) : () }), "\n";
	}
	printf STDERR "%s: %.0f s\n", $state, time() - $begun;
}
close $keep or die;
close_session();
