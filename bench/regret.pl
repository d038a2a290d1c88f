# Copyright (c) 2026, The tablespace_advisor developers

# The measurements of bench/regret, which see; runs as the server's user.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use Getopt::Long;
use JSON::PP;
use OneSession;

my %option;
GetOptions(\%option, 'rows=i', 'layouts=s', 'concurrency=i', 'states=s',
	'probe=f', 'runs=i', 'directory=s', 'keep=s', 'reinserted') or die;
my $rows = $option{rows};

# Where the row with value k lies, as an expression of k (0 .. rows - 1).
my $run = int($rows / 97) + 1;
my $group = 'hashint4((k / %d)::int + 17)::bigint * 1000000 + k';
my %place = (
	uniform => 'hashint4(k::int)',
	linear => 'k',
	fuzzy => "k + (hashint4(k::int) & 1048575) * ($rows * 0.05) / 1048576",
	cyclic => "k % $run * 97 + k / $run",
	blockwise => sprintf($group, 600),
	descending => '-k',
	# not among the layouts that the method was made for
	groups_of_60 => sprintf($group, 60),
	half_uniform => "CASE WHEN k % 2 = 0 THEN k ELSE (hashint4(k::int) + 2147483648::bigint) % $rows END",
	descending_groups => '-(k / 5000) * 5000::bigint + k % 5000',
	two_streams => "CASE WHEN k < $rows / 2 THEN 2 * k ELSE 2 * ($rows - k) + 1 END");
my @order = qw(uniform linear fuzzy cyclic blockwise descending
  groups_of_60 half_uniform descending_groups two_streams);
my @layouts = $option{layouts} ? split(/,/, $option{layouts}) : @order;
my @shares = (0.00002, 0.0001, 0.0005, 0.002, 0.005, 0.02, 0.05, 0.15, 0.4);
my @plans = qw(index bitmap seq);
my %node = ('Index Scan' => 'index', 'Bitmap Heap Scan' => 'bitmap',
	'Seq Scan' => 'seq');

sub force
{
	my ($plan) = @_;
	sql("SET enable_seqscan = " . ($plan eq 'seq' ? 'on' : 'off')
		  . "; SET enable_indexscan = " . ($plan eq 'index' ? 'on' : 'off')
		  . "; SET enable_bitmapscan = " . ($plan eq 'bitmap' ? 'on' : 'off'));
}

sub choose_freely
{
	sql('RESET enable_seqscan; RESET enable_indexscan; RESET enable_bitmapscan');
}

# empties shared buffers, where there is a function for it
my $evicts;
sub evict_buffers
{
	sql('SELECT pg_buffercache_evict_all()') if $evicts;
	return;
}

# drops a table's and its index's files from the page cache
my %files;
sub evict
{
	my ($layout) = @_;
	evict_buffers();
	for my $file (@{ $files{$layout} })
	{
		system('dd', "if=$file", 'iflag=nocache', 'count=0', 'status=none') == 0
		  or die "cannot drop $file from the cache\n";
	}
}

# milliseconds of a statement, or the limit where it was given up
sub run_once
{
	my ($query, $limit) = @_;
	my ($time) = map { /^Execution Time: ([\d.]+)/ ? $1 : () }
	  sql("EXPLAIN (ANALYZE, TIMING off, COSTS off, SUMMARY on) $query");
	$time //= $limit // die "no time for $query\n";
	return $time + 0;
}

sub statement
{
	my ($layout, $share) = @_;
	my $count = int($rows * $share) || 1;
	# elsewhere for every share, so that nothing is in shared buffers already
	my ($i) = grep { $shares[$_] == $share } 0 .. $#shares;
	my $from = int(($rows - $count) * (0.05 + 0.11 * $i));
	my $to = $from + $count - 1;
	return "SELECT count(pad) FROM $layout WHERE k BETWEEN $from AND $to";
}

open_session(0);
($evicts) = sql("SELECT count(*) FROM pg_proc WHERE proname = 'pg_buffercache_evict_all'");
sql("CREATE EXTENSION tablespace_advisor");
sql("CREATE TABLESPACE bench LOCATION '$option{directory}'");
sql("SET client_min_messages = error");
sql("SET effective_io_concurrency = $option{concurrency}");
print STDERR "laying out\n";
for my $layout (@layouts)
{
	die "unknown layout: $layout\n" unless $place{$layout};
	sql("CREATE TABLE $layout (k int, pad text) TABLESPACE bench;
		INSERT INTO $layout SELECT k, repeat('x', 90) FROM generate_series(0, $rows - 1) k ORDER BY $place{$layout};
		CREATE INDEX ${layout}_k ON $layout (k) TABLESPACE bench;
		ALTER TABLE $layout ALTER k SET STATISTICS 1000;
		VACUUM ANALYZE $layout");
	my ($data) = sql('SHOW data_directory');
	$files{$layout} = [ map { "$data/$_" }
		  sql("SELECT pg_relation_filepath(o) FROM unnest(ARRAY['$layout'::regclass, '${layout}_k']) o") ];
}
sql('CHECKPOINT');
system('sync');
print STDERR "probing\n";
for (1 .. 3)
{
	sql("SELECT count(*) FROM probe_tablespace('bench', '$option{probe} s', '128 MB')");
	last if (sql("SELECT random_read_us + sequential_page_us FROM tablespace_advisor.read_times WHERE tablespace = 'bench'"))[0];
}
print "the probe is not to be trusted, its caveats are ignored: ", join('; ', @$_), "\n"
  for grep { @$_ } [ sql("WITH gone AS (UPDATE tablespace_advisor.probe_result r SET caveat = NULL
	WHERE r.caveat IS NOT NULL AND r.workload IN ('random read', 'sequential read')
		AND NOT EXISTS (SELECT FROM tablespace_advisor.read_times WHERE tablespace = 'bench'
			AND random_read_us + sequential_page_us > 0) RETURNING r.workload, r.queue_depth)
	SELECT format('%s at depth %s', workload, queue_depth) FROM gone") ];
print "times of a block (us): ",
  join(' ', sql("SELECT format('sequential %s, random %s, skip %s, adjacent at effective_io_concurrency 0: %s, 1: %s, %s: %s',
	round(sequential_page_us), round(random_read_us), round(skip_read_us),
	round(adjacent_0_us), round(adjacent_1_us), coalesce(depth::text, '-'),
	coalesce(round(adjacent_deep_us)::text, '-'))
	FROM tablespace_advisor.read_times WHERE tablespace = 'bench'")), "\n";
print STDERR "measuring locality\n";
sql("SELECT count(*) FROM measure_index_locality('$_')") for @layouts;
for my $layout ($option{reinserted} ? @layouts : ())
{
	sql("DELETE FROM $layout WHERE k % 10 <> 0;
		VACUUM $layout;
		INSERT INTO $layout SELECT k, repeat('x', 90) FROM generate_series(0, $rows - 1) k
		WHERE k % 10 <> 0 ORDER BY hashint4(k::int + 1);
		VACUUM ANALYZE $layout; CHECKPOINT");
	system('sync');
}

# the settings that are scored, by name: random_page_cost, correct_locality
my @constants = (1, 1.1, 1.5, 2, 3, 4, 6, 8, 10, 15, 20, 30, 40, 60, 80, 100);
my ($ratio) = sql("SELECT round((random_read_us / sequential_page_us)::numeric, 1) FROM tablespace_advisor.read_times WHERE tablespace = 'bench'");
$ratio ||= 4;

# what is recommended while caches are as they are now
sub settings
{
	my ($advice) = sql("SELECT concat_ws('|', verdict, coalesce(random_page_cost, current_random_page_cost), translate(reason, E'\\n', ' ')) FROM recommend_random_page_cost('bench')");
	my ($verdict, $ours, $reason) = split /\|/, $advice // 'none|4|', 3;
	my %setting = (
		'4.0' => [ 4, 'off' ], '1.1' => [ 1.1, 'off' ], '2.0' => [ 2, 'off' ],
		'ratio' => [ $ratio, 'off' ], 'ours' => [ $ours, 'off' ],
		'locality' => [ $ours, 'on' ], 'at ratio' => [ $ratio, 'on' ]);
	$setting{"=$_"} = [ $_, 'off' ] for @constants;
	return (\%setting, "$verdict, $ours ($reason)");
}

# the plan that EXPLAIN chooses
sub chosen_plan
{
	my ($query) = @_;
	for (sql("EXPLAIN (COSTS off) $query"))
	{
		return $node{$1} if /->\s+(Index Scan|Bitmap Heap Scan|Seq Scan)/;
	}
	die "no plan for $query\n";
}

# milliseconds of every plan at every share, one list per run of all
sub time_layout
{
	my ($state, $layout) = @_;
	my %time;
	my $seq;
	for my $run (0 .. $option{runs} - 1)
	{
		for my $plan (reverse @plans)
		{
			force($plan);
			for my $share (@shares)
			{
				my $query = statement($layout, $share);
				my $limit = $seq ? 50 * $seq : undef;

				# given up once, it is not tried again
				if ($limit && $run && $time{$share}{$plan}[0] >= $limit)
				{
					push @{ $time{$share}{$plan} }, $limit;
					next;
				}
				sql(sprintf('SET statement_timeout = %d', $limit // 0));
				run_once($query, $limit) if $state eq 'warm';
				evict_buffers();
				evict($layout) if $state eq 'cold';
				my $ms = run_once($query, $limit);
				sql('SET statement_timeout = 0');
				$seq //= $ms if $plan eq 'seq';
				push @{ $time{$share}{$plan} }, $ms;
			}
		}
	}
	# A sequential scan reads all of the table whatever is asked, and all shares
	# are compared with it: of each run the median.
	my @seq = map {
		my $run = $_;
		(sort { $a <=> $b } map { $time{$_}{seq}[$run] } @shares)[ $#shares / 2 ]
	} 0 .. $option{runs} - 1;
	$time{$_}{seq} = \@seq for @shares;
	return %time;
}

open(my $keep, '>', $option{keep}) or die "$option{keep}: $!\n";
my $json = JSON::PP->new->canonical;
for my $state (split /,/, $option{states})
{
	my %time;
	for my $layout (@layouts)
	{
		print STDERR "$state $layout\n";
		$time{$layout} = { time_layout($state, $layout) };
		evict_buffers();
		evict($layout) if $state eq 'cold';
		# what the planner is to know of the caches is what they were like now
		sql("SELECT tablespace_advisor.keep_residency('$layout'::regclass),
			tablespace_advisor.renew_plans('$layout'::regclass)");
	}
	choose_freely();
	sql('UPDATE tablespace_advisor.table_residency SET measured_at = clock_timestamp()');
	evict($_) for $state eq 'cold' ? @layouts : ();
	my ($setting, $recommended) = settings();
	print $keep $json->encode({
		state => $state, rows => $rows, layouts => \@layouts, shares => \@shares,
		concurrency => $option{concurrency}, ratio => $ratio,
		recommended => $recommended, ours => $setting->{ours}[0] }), "\n";
	my %chosen;
	for my $name (keys %$setting)
	{
		my ($r, $locality) = @{ $setting->{$name} };
		sql("SET random_page_cost = $r;
			SET tablespace_advisor.correct_locality = $locality");
		for my $layout (@layouts)
		{
			$chosen{$layout}{$_}{$name} = chosen_plan(statement($layout, $_))
			  for @shares;
		}
	}
	sql('RESET random_page_cost; RESET tablespace_advisor.correct_locality');
	for my $layout (@layouts)
	{
		print $keep $json->encode({
			state => $state, layout => $layout, share => $_,
			time => $time{$layout}{$_}, chosen => $chosen{$layout}{$_} }), "\n"
		  for @shares;
	}
}
close $keep or die;
close_session();
