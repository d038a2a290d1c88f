# Copyright (c) 2026, The tablespace_advisor developers

# The work of bench/waits: waits.pl prepare | fill | accuracy | overhead | ...
use strict;
use warnings;

$| = 1;

my ($what, @arguments) = @ARGV;
my $directory = $ENV{HOME};

# SQL's output, a list of rows
sub sql
{
	my ($sql, $port) = @_;
	my @port = defined $port ? ('-p', $port) : ();

	open(my $psql, '-|', 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', 'postgres',
		@port, '-c', $sql) or die "psql: $!";
	my @rows = map { chomp; [ split /\|/, $_, -1 ] } <$psql>;
	close $psql or die "failed: $sql\n";
	return @rows;
}

sub median
{
	my @sorted = sort { $a <=> $b } @_;
	return @sorted % 2 ? $sorted[ $#sorted / 2 ]
		: ($sorted[ @sorted / 2 - 1 ] + $sorted[ @sorted / 2 ]) / 2;
}

sub script
{
	my ($name, $text) = @_;
	my $file = "$directory/$name.sql";

	open(my $out, '>', $file) or die "$file: $!";
	print $out $text;
	close $out;
	return $file;
}

# pgbench's output
sub pgbench
{
	my @options = @_;

	open(my $pgbench, '-|', 'pgbench', '-n', @options, 'postgres') or die "pgbench: $!";
	my $output = join '', <$pgbench>;
	close $pgbench or die "pgbench failed: @options\n$output";
	return $output;
}

sub prepare
{
	sql(q{CREATE EXTENSION tablespace_advisor});
	sql($_) foreach split /;\n/, q{
CREATE TABLE facts (id int PRIMARY KEY, g int, pad text);
INSERT INTO facts SELECT i, i::bigint * 7919 % 200000, repeat('x', 150)
	FROM generate_series(1, 200000) i;
CREATE INDEX facts_g ON facts (g);
CREATE TABLE report (id int, pad text);
INSERT INTO report SELECT i, repeat('y', 300) FROM generate_series(1, 40000) i;
CREATE TABLE doc (id int PRIMARY KEY, body text);
ALTER TABLE doc ALTER body SET STORAGE EXTERNAL;
INSERT INTO doc SELECT i, repeat(md5(i::text), 300) FROM generate_series(1, 4000) i;
CREATE TABLE orders (id int PRIMARY KEY, a int, b int, c int, fact int);
INSERT INTO orders SELECT i, i::bigint * 7919 % 200000, i::bigint * 104729 % 200000,
	i::bigint * 15485863 % 200000, i::bigint * 31 % 200000 FROM generate_series(1, 200000) i;
CREATE INDEX orders_a ON orders (a);
CREATE INDEX orders_b ON orders (b);
CREATE INDEX orders_c ON orders (c);
CREATE TABLE parts (id int, k int, pad text) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (50000);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (50000) TO (200001);
CREATE INDEX ON parts (k);
INSERT INTO parts SELECT i, i::bigint * 7919 % 200000, repeat('z', 60)
	FROM generate_series(1, 200000) i;
CREATE FUNCTION count_facts(first int) RETURNS bigint LANGUAGE plpgsql AS
	'BEGIN RETURN (SELECT count(pad) FROM facts WHERE g BETWEEN first AND first + 3); END';
VACUUM ANALYZE;
CHECKPOINT};
	return;
}

my $id = "\\set id random(1, 199990)\n";
my %mixes = (
	keys => $id . "SELECT pad FROM facts WHERE id = :id;\n",
	bitmap => $id . "SELECT count(pad) FROM facts WHERE g BETWEEN :id AND :id + 10;\n",
	keys_scan => $id . "SELECT pad FROM facts WHERE id = :id;\n" x 5
		. "\\set die random(1, 20)\n\\if :die = 1\nSELECT count(*) FROM report;\n\\endif\n",
	scans => "\\set die random(1, 40)\n\\if :die = 1\nSELECT count(*) FROM report;\n"
		. "\\elif :die = 2\nSELECT count(pad) FROM facts;\n\\endif\n",
	join => $id . "SELECT count(f.pad) FROM orders o JOIN facts f ON f.id = o.fact"
		. " WHERE o.a BETWEEN :id AND :id + 5;\n",
	hash_join => "\\set die random(1, 40)\n\\if :die = 1\n"
		. "SELECT count(*) FROM report r JOIN orders o ON o.id = r.id;\n\\endif\n",
	update => $id . "UPDATE orders SET a = a + 7, b = b + 9 WHERE id = :id;\n",
	insert => $id . "INSERT INTO orders VALUES (nextval('ids'), :id, :id, :id, :id);\n"
		. "INSERT INTO parts VALUES (:id, :id, 'new');\n",
	toast => $id . "SELECT md5(body) FROM doc WHERE id = :id % 4000 + 1;\n"
		. "SELECT pad FROM facts WHERE id = :id;\n",
	function => $id . "SELECT count_facts(:id);\nSELECT b FROM orders WHERE c = :id;\n",
	cursor => $id . "BEGIN;\nDECLARE c CURSOR FOR SELECT pad FROM facts WHERE g > :id;\n"
		. "FETCH 5 FROM c;\nSELECT b FROM orders WHERE id = :id;\nFETCH 5 FROM c;\nCOMMIT;\n",
	index_only => $id . "SELECT count(*) FROM orders WHERE b BETWEEN :id AND :id + 200;\n"
		. "SELECT pad FROM facts WHERE id = :id;\n",
	partitions => $id . "SELECT count(pad) FROM parts WHERE k BETWEEN :id AND :id + 3;\n"
		. "\\set die random(1, 40)\n\\if :die = 1\nSELECT count(*) FROM parts;\n\\endif\n",
	parallel => "\\set die random(1, 40)\n\\if :die = 1\n"
		. "SET max_parallel_workers_per_gather = 2;\nSET parallel_setup_cost = 0;\n"
		. "SELECT count(pad) FROM facts;\n\\endif\n"
		. $id . "SELECT b FROM orders WHERE id = :id;\n");

# {inode => [blocks, seconds]}
sub traced
{
	my ($file) = @_;
	my %of;

	open(my $in, '<:raw', $file) or die "$file: $!";
	while (read($in, my $entry, 24))
	{
		my ($inode, $blocks, $ns) = unpack 'QQQ', $entry;
		$of{$inode} = [ $blocks, $ns / 1e9 ] if $inode != 0;
	}
	close $in;
	return \%of;
}

# {relation => [blocks, seconds]}
sub measured
{
	my %of = map { $_->[0] => [ $_->[1], $_->[2] ] } sql(q{
		SELECT relid, sum(reads), sum(waited_ms) / 1000
		FROM tablespace_advisor.wait_relations() WHERE relid >= 16384 GROUP BY relid});
	return \%of;
}

# {relation and kind of access => [seconds]}
sub measured_kinds
{
	my %of = map { ("$_->[0] $_->[1]" => [ $_->[2] ]) } sql(q{
		SELECT relid, access, sum(waited_ms) / 1000
		FROM tablespace_advisor.wait_relations() WHERE relid >= 16384 GROUP BY 1, 2});
	return \%of;
}

# {query id => [seconds]} of what clients have called
sub measured_statements
{
	my %of = map { $_->[0] => [ $_->[1] ] } sql(q{
		SELECT queryid, sum(waited_ms) / 1000 FROM tablespace_advisor.wait_statements()
		WHERE access = 'all' AND toplevel GROUP BY 1});
	return \%of;
}

# the same by pg_stat_statements
sub reported_statements
{
	my ($version) = map { $_->[0] } sql('SHOW server_version_num');
	my $column = $version >= 170000 ? 'shared_blk_read_time' : 'blk_read_time';
	my %of = map { $_->[0] => [ $_->[1] ] }
		sql("SELECT queryid, sum($column) / 1000 FROM pg_stat_statements GROUP BY 1");
	return \%of;
}

# {relation => {kind => 1}}: how the plans of a mix read
sub planned_kinds
{
	my ($mix) = @_;
	my ($set, %kinds) = ('');

	foreach my $line (split /\n/, $mix . ($mix =~ /count_facts/ ?
			'SELECT count(pad) FROM facts WHERE g BETWEEN 7 AND 10;' : ''))
	{
		$set .= $line if $line =~ /^SET/;
		next if $line !~ /^(SELECT|DECLARE|INSERT|UPDATE)/;
		$line =~ s/:id/4711/g;
		foreach my $node (map { $_->[0] } sql("$set EXPLAIN (COSTS off) $line"))
		{
			$kinds{$1}{index} = $kinds{$2}{'heap by index'} = 1
				if $node =~ /Index (?:Only )?Scan (?:Backward )?using (\S+) on (\S+)/;
			$kinds{$1}{index} = 1 if $node =~ /Bitmap Index Scan on (\S+)/;
			$kinds{$1}{'heap by bitmap'} = 1 if $node =~ /Bitmap Heap Scan on (\S+)/;
			$kinds{$1}{sequential} = 1 if $node =~ /Seq Scan on (\S+)/;
			next if $node !~ /(?:Insert|Update) on (\S+)/;
			$kinds{ $_->[0] }{modified} = 1 foreach sql("
				SELECT relid::regclass FROM pg_partition_tree('$1')
				UNION SELECT '$1'::regclass
				UNION SELECT indexrelid::regclass FROM pg_index WHERE indrelid = '$1'::regclass
					OR indrelid IN (SELECT relid FROM pg_partition_tree('$1'))");
		}
	}
	return \%kinds;
}

# the growth of column $i, as shares of the sum
sub shares
{
	my ($before, $after, $i) = @_;
	my %grown = map { $_ => $after->{$_}[$i] - ($before->{$_}[$i] // 0) } keys %$after;
	my $sum = 0;

	$sum += $_ foreach values %grown;
	return { map { $_ => 100 * $grown{$_} / ($sum || 1) } keys %grown };
}

# the largest difference between shares, but those of $except: points, and of what
sub largest_error
{
	my ($true, $found, $except) = @_;
	my %all = (%$true, %$found);
	my ($largest, $of) = (0, '');

	foreach my $key (grep { $_ ne $except } sort keys %all)
	{
		my $error = abs(($found->{$key} // 0) - ($true->{$key} // 0));
		($largest, $of) = ($error, $key) if $error > $largest;
	}
	return ($largest, $of);
}

# percent of the time that is with kinds of access that the plans do not have
sub wrong_kinds
{
	my ($shares, $planned, $name) = @_;
	my $wrong = 0;

	foreach my $key (keys %$shares)
	{
		my ($relation, $kind) = split / /, $key, 2;
		my $planned = $planned->{ $name->{$relation} };
		$wrong += $shares->{$key} if $name->{$relation} =~ /^pg_toast/ ? $kind ne 'toast'
			: !$planned->{$kind};
	}
	return $wrong;
}

# One mix: prints a line, returns whether it is within the limits.  $by is the
# column that decides: 1, time; 0, blocks, where others wait for the device.
sub try_mix
{
	my ($mix, $by, $transactions, $clients, $trace, $data) = @_;
	my %name = map { $_->[0] => $_->[1] } sql(q{SELECT oid, relname FROM pg_class
		WHERE oid >= 16384});
	my $planned = planned_kinds($mixes{$mix});

	sql('SELECT pg_stat_statements_reset()');
	my @before = (traced($trace), measured(), measured_kinds(), measured_statements());
	pgbench('-c', $clients, '-t', $transactions, '-f', script($mix, $mixes{$mix}),
		'--random-seed=7');
	my @after = (traced($trace), measured(), measured_kinds(), measured_statements());
	my $reported = reported_statements();
	my %relation = map { (stat "$data/$_->[1]")[1] // 0 => $_->[0] } sql(q{
		SELECT oid, pg_relation_filepath(oid) FROM pg_class
		WHERE oid >= 16384 AND relkind IN ('r', 'i', 't', 'm')});
	foreach my $of ($before[0], $after[0])
	{
		$of = { map { $relation{$_} => $of->{$_} } grep { $relation{$_} } keys %$of };
	}
	my @true = map { shares($before[0], $after[0], $_) } 0, 1;
	my @found = map { shares($before[1], $after[1], $_) } 0, 1;
	my ($most) = sort { $true[$by]{$b} <=> $true[$by]{$a} } keys %{ $true[$by] };
	my $first = abs(($found[$by]{$most} // 0) - $true[$by]{$most});
	my ($error, $of) = largest_error($true[$by], $found[$by], $most);
	my $kinds = wrong_kinds(shares($before[2], $after[2], 0), $planned, \%name);
	my ($statement) = largest_error(shares({}, $reported, 0), shares($before[3], $after[3], 0), '');
	my $good = $first <= 3 && $error <= 5 && $kinds <= 5 && $statement <= 5;

	printf "%-11s %-15s %8.1f %8.1f %10.1f %8.1f   %-20s %5.1f %9.1f %9.1f%s\n", $mix,
		substr($name{$most}, 0, 15), (map { $true[$_]{$most}, $found[$_]{$most} // 0 } 0, 1),
		substr($name{ $of || $most }, 0, 20), $error, $kinds, $statement,
		$good ? '' : '   TOO LARGE';
	return $good;
}

sub accuracy
{
	my ($transactions, $clients, $trace, $data, $wanted) = @_;
	my ($method) = map { $_->[0] } sql(q{
		SELECT coalesce(current_setting('io_method', true), 'none')});
	my $by = $method =~ /worker|uring/ ? 0 : 1;
	my @failed;

	sql('SET client_min_messages = warning; CREATE SEQUENCE IF NOT EXISTS ids START 300000;
		CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
	printf "%s\n%-11s %-15s %17s %19s   %-26s %9s %9s\n",
		"io_method $method, shares in %, errors in points, by " . ($by ? 'time' : 'blocks'),
		'mix', 'most read', 'blocks traced, me', 'time traced, meas.', 'largest other error',
		'kinds', 'statement';
	foreach my $mix (sort keys %mixes)
	{
		next if ($wanted // '') ne '' && ",$wanted," !~ /,$mix,/;
		push @failed, $mix if !try_mix($mix, $by, $transactions, $clients, $trace, $data);
	}
	printf "%s\n", @failed ? "not within 3 and 5 points: @failed" : 'all within 3 and 5 points';
	exit(@failed ? 1 : 0);
}

# --- overhead ----------------------------------------------------------------------

sub fill
{
	my ($rows, $loads) = @_;

	sql('CREATE EXTENSION tablespace_advisor');
	system('pgbench -iq -s 10 postgres >/dev/null 2>&1') == 0 or die "pgbench -i failed\n";
	if ($loads =~ /scan/)
	{
		sql("CREATE TABLE wide AS SELECT i AS id FROM generate_series(1, $rows) i");
	}
	if ($loads =~ /partitions/)
	{
		sql('CREATE TABLE many (id int, k int) PARTITION BY LIST (k)');
		sql(join ';', map { "CREATE TABLE many_$_ PARTITION OF many FOR VALUES IN ($_)" }
				$_ * 100 + 1 .. $_ * 100 + 100) foreach 0 .. 9;
	}
	sql('VACUUM ANALYZE');
	return;
}

my %loads = (
	select => sub { ('-S', '-M', 'prepared') },
	tpcb => sub { ('-M', 'prepared') },
	scan => sub { ('-f', script('scan', "SELECT count(*) FROM wide;\n")) },
	partitions => sub { ('-M', 'prepared', '-f', script('many',
				"SET plan_cache_mode = force_generic_plan;\nSELECT 1 FROM many LIMIT 1;\n")) });

sub postmaster
{
	my ($data) = @_;

	open(my $pid, '<', "$data/postmaster.pid") or die $!;
	chomp(my $postmaster = <$pid>);
	return $postmaster;
}

# the processes of a server
sub children
{
	my ($data) = @_;
	my $postmaster = postmaster($data);

	return map { $_ => 1 } split ' ', `ps -o pid= --ppid $postmaster`;
}

# seconds of CPU that the ended children of a server have used
sub used
{
	my ($data) = @_;
	my $postmaster = postmaster($data);

	open(my $stat, '<', "/proc/$postmaster/stat") or die $!;
	my @fields = split ' ', (<$stat> =~ s/^.*\) //r);
	return ($fields[13] + $fields[14]) / 100;
}

# Starts or stops a server.  It runs on the last processor, as this program does: what a
# switch between two processors costs varies more than what is measured.
sub server
{
	my ($server, @what) = @_;

	system('taskset', '-c', $server->{cpu}, "$server->{bin}/pg_ctl", '-D', $server->{data},
		'-s', '-w', '-l', "$server->{data}.log", @what) == 0
	  or die "pg_ctl @what failed";
	return;
}

# CPU time of a transaction, in microseconds
sub turn
{
	my ($server, $seconds, @load) = @_;

	# a server that is started again has its memory elsewhere: where it lies is chance,
	# not a property of one of them
	server($server, 'start');
	pgbench('-T', $seconds, @load);
	my $before = used($server->{data});
	my %there = children($server->{data});
	my $output = pgbench('-T', $seconds, @load);
	my ($done) = $output =~ /actually processed: (\d+)/;

	# the time of a backend counts when the server has noticed its end
	for (my $tries = 0; $tries < 100; $tries++)
	{
		my %now = children($server->{data});
		last if !grep { !$there{$_} } keys %now;
		select undef, undef, undef, 0.1;
	}
	my $time = 1e6 * (used($server->{data}) - $before) / $done;
	server($server, '-m', 'fast', 'stop');
	return $time;
}

sub overhead
{
	my ($pairs, $seconds, $wanted, $bin, @data) = @_;
	chomp(my $cpu = `nproc --all`);
	$cpu--;
	my @servers = map { { data => $_, bin => $bin, cpu => $cpu } } @data;
	system("taskset -pc $cpu $$ >/dev/null") == 0 or die 'taskset failed';

	printf "%-11s %14s %14s %28s\n", 'load', 'without, us', 'with, us', 'overhead (quartiles), %';
	foreach my $load (split /,/, $wanted)
	{
		my @options = ($loads{$load} // die "no load \"$load\"\n")->();
		my (@cpu, @ratios);

		for my $pair (1 .. $pairs)
		{
			my @turn;
			$turn[$_] = turn($servers[$_], $seconds, @options)
				foreach $pair % 2 ? (0, 1) : (1, 0);
			push @{ $cpu[$_] }, $turn[$_] foreach 0, 1;
			push @ratios, 100 * ($turn[1] / $turn[0] - 1);
		}
		my @sorted = sort { $a <=> $b } @ratios;
		printf "%-11s %14.2f %14.2f %9.2f (%.2f to %.2f)\n", $load, median(@{ $cpu[0] }),
			median(@{ $cpu[1] }), median(@ratios), $sorted[ @sorted / 4 ],
			$sorted[ $#sorted - @sorted / 4 ];
	}
	return;
}

# --- instructions ------------------------------------------------------------------

# The backends that have ended, and the instructions that they executed: all, and those
# of the library.  Of callgrind's files: "ob=" begins the costs of a library, and the line
# after "calls=" is the sum of what was called, which has its own costs.
sub executed
{
	my ($directory) = @_;
	my ($backends, $all, $own) = (0, 0, 0);
	local $_;

	foreach my $file (glob "$directory/*")
	{
		my ($is_backend, $is_complete, $library, %name, %cost) = (0, 0, '');

		open(my $in, '<', $file) or die "$file: $!";
		while (<$in>)
		{
			$name{$1} = $2 if /^c?ob=(\(\d+\)) (.*)/;
			$library = $name{$1} if /^ob=(\(\d+\))/;
			$is_backend = 1 if /^c?fn=.* PostgresMain$/;
			$is_complete = 1 if /^totals:/;
			if (/^calls=/) { <$in> }
			elsif (/^[-+*\d]\S* (\d+)/) { $cost{$library} += $1 }
		}
		close $in;
		next if !$is_backend || !$is_complete;
		$backends++;
		$all += $_ foreach values %cost;
		$own += $cost{$_} foreach grep { m{/tablespace_advisor\.so$} } keys %cost;
	}
	return ($backends, $all, $own);
}

# what executed() grows by during a function that has so many sessions
sub executed_by
{
	my ($directory, $sessions, $run) = @_;
	my @before = executed($directory);

	$run->();
	for (my $tries = 0; $tries < 300; $tries++)
	{
		my @after = executed($directory);

		return map { $after[$_] - $before[$_] } 1, 2 if $after[0] == $before[0] + $sessions;
		select undef, undef, undef, 0.5;
	}
	die 'sessions have not ended';
}

sub instructions
{
	my ($transactions, $wanted, $bin, @data) = @_;
	my $few = int($transactions / 10) || 1;

	printf "%-11s %14s %14s %12s %12s\n", 'load', 'without', 'with', 'more, %', 'own, %';
	foreach my $load (split /,/, $wanted)
	{
		my @options = ($loads{$load} // die "no load \"$load\"\n")->();
		my @found;

		foreach my $data (@data)
		{
			my $counts = "$data.$load";
			my $postgres = "$data.postgres";

			mkdir $counts or die "$counts: $!";
			open(my $out, '>', $postgres) or die "$postgres: $!";
			print $out "#!/bin/sh\nexec valgrind -q --tool=callgrind --trace-children=yes",
			  " --callgrind-out-file=$counts/%p $bin/postgres \"\$@\"\n";
			close $out;
			chmod 0700, $postgres;
			my $server = { data => $data, bin => $bin, cpu => 0 };
			server($server, '-t', 300, '-p', $postgres, 'start');
			# without reads; pgbench has a session to look at its tables, too
			executed_by($counts, 1, sub {
				sql(q{SET client_min_messages = warning;
					CREATE EXTENSION IF NOT EXISTS pg_prewarm; SELECT pg_prewarm(oid)
					FROM pg_class WHERE relkind IN ('r', 'i') AND relpersistence = 'p'}) });
			my (undef, $first, $then) = map {
				my @run = ('-t', $_, '--random-seed=7', @options);
				[ executed_by($counts, 2, sub { pgbench(@run) }) ]
			} $few, $few, $transactions;
			server($server, '-t', 300, '-m', 'fast', 'stop');
			push @found, map { ($then->[$_] - $first->[$_]) / ($transactions - $few) } 0, 1;
		}
		printf "%-11s %14.0f %14.0f %12.2f %12.2f\n", $load, @found[ 0, 2 ],
			100 * ($found[2] / $found[0] - 1), 100 * $found[3] / $found[2];
	}
	return;
}

# --- robustness ----------------------------------------------------------------------

sub count_in
{
	my ($file, $pattern) = @_;

	open(my $in, '<', $file) or die "$file: $!";
	return scalar grep { /$pattern/ } <$in>;
}

# ends or cancels sessions of pgbench at random for some seconds
sub disturb
{
	my ($seconds) = @_;
	my $end = time + $seconds;

	while (time < $end)
	{
		my $how = rand() < 0.7 ? 'cancel' : 'terminate';
		sql("SELECT pg_${how}_backend(pid) FROM pg_stat_activity
			WHERE application_name = 'pgbench' AND state = 'active' ORDER BY random() LIMIT 1");
		select undef, undef, undef, 0.02;
	}
	return;
}

sub robust
{
	my ($queries, $statements, $log) = @_;

	sql('CREATE SEQUENCE IF NOT EXISTS ids START 300000');
	sql('CREATE EXTENSION pg_stat_statements');
	my $pid = fork // die "fork: $!";
	if ($pid == 0) { disturb(60); exit 0 }
	my $all = script('all', join '', map { $mixes{$_} } sort keys %mixes);
	while (waitpid($pid, 1) == 0)    # WNOHANG
	{
		system("pgbench -n -c 5 -T 5 -f $all postgres >/dev/null 2>&1");
	}
	print "disturbed for 60 s\n";
	if (system('command -v sqlsmith >/dev/null') == 0)
	{
		system("sqlsmith --target='host=$ENV{PGHOST} port=$ENV{PGPORT} dbname=postgres'"
				. " --max-queries=$queries --seed=1 >/dev/null 2>&1");
		print "$queries queries of sqlsmith\n";
	}
	else { print "sqlsmith is not installed: left out\n" }
	# each adds other columns up: another query id
	for (my $i = 0; $i < $statements; $i += 500)
	{
		sql(join ';', map { my $n = $_; 'SELECT ' . join('+', map { ($n >> $_) & 1 ? 'id' : 'g' }
					0 .. 16) . ' FROM facts WHERE id = ' . int(rand(200000)) } $i .. $i + 499);
	}
	print "$statements statements with different ids\n";
	my ($info) = sql('SELECT statement_entries, max_statement_entries, statements_evicted,
		relation_entries, lost_reads, seen, measured FROM tablespace_advisor.wait_info()');
	printf "statements %s of %s (%s evicted), relations %s, reads lost %s, executions %s of %s measured\n",
		@$info[0 .. 4], @$info[6, 5];
	my $crashes = count_in($log, qr/TRAP:|PANIC:|terminated by signal/);
	print "crashes: $crashes\n";
	exit($crashes > 0 || $info->[4] > 0 ? 1 : 0);
}

my %work = (prepare => \&prepare, fill => \&fill, accuracy => \&accuracy,
	overhead => \&overhead, instructions => \&instructions, robust => \&robust);
($work{$what} // die "waits.pl: no \"$what\"\n")->(@arguments);
