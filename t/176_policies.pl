# Copyright (c) 2026, The tablespace_advisor developers

# Partitions move to the slow tablespace by age, every night before
# apply_placement(): thirty nights of both, under loads that are measured and
# counted.  What a policy has placed comes back only if statements wait for it,
# and then stays.  Earlier tests had each job alone.

use TsaTest;

my $node = start_plain('policies', conf => q{
shared_buffers = 1MB
autovacuum = off
});
pretend_devices($node, 200_000_000);

sub start_anew
{
	forget_all($node);
	$node->safe_psql('postgres', $_)
	  foreach (
		'DROP TABLE IF EXISTS events, other',
		q{CREATE TABLE other TABLESPACE slow AS SELECT n, repeat('x', 100) AS filler FROM generate_series(1, 40000) n},
		'VACUUM ANALYZE other',
		'CREATE TABLE events (id int, at date, filler text) PARTITION BY RANGE (at)',
		'CREATE INDEX ON events (id)',
		map { my ($name, $from, $to) = split; (
			qq{CREATE TABLE $name PARTITION OF events FOR VALUES FROM ('$from') TO ('$to') TABLESPACE fast},
			qq{ALTER INDEX ${name}_id_idx SET TABLESPACE fast},
			qq{INSERT INTO $name SELECT n, '$from', repeat('x', 100) FROM generate_series(1, 40000) n},
			"VACUUM ANALYZE $name") }
		  ('asked 2020-01-01 2020-02-01', 'idle 2020-02-01 2020-03-01', 'young 2020-03-01 2999-01-01'));
	return;
}

# Each night: a day of load, the partitions, the round.  Returns what was moved, in
# order, as "night relation to", of tables and indexes.
sub thirty_nights
{
	my ($load, %options) = @_;
	my @moved;

	start_anew();
	foreach my $night (1 .. 30)
	{
		take_days($node, 1, $load, %options);
		$node->safe_psql('postgres', q{CALL move_partitions_concurrently('events', 'slow', older_than => '90 days')});
		apply_round($node);
		push @moved, map { "$night $_" } split /\n/, $node->safe_psql('postgres', q{
			SELECT relation_name || ' ' || to_tablespace_name FROM tablespace_advisor.job
			WHERE state = 'done' AND finished_at > now() - interval '1 hour' ORDER BY job_id});
	}
	return join ', ', @moved;
}

sub advice_on
{
	my ($table) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT action, reason FROM advise_placement(target => '$table') WHERE relation = '$table'::regclass});
}

sub verdict_on
{
	my ($table) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT action, reason FROM advise_partition_placement('events', 'slow', '90 days') WHERE partition = '$table'::regclass});
}

my %load = (asked => 50, idle => 0, young => 20, other => 40);
my $demoted = '1 asked slow, 1 idle slow';

# Counters: whoever reads it, the policy stands.
is(thirty_nights(\%load), "$demoted, 1 other fast", 'counted: both old partitions move down once, and what no policy placed comes up');
like(advice_on('asked'), qr/^keep\|.*there by policy \(age\); whether statements wait is not measured$/,
	'counted: advice names the policy');

# Statements wait for one of them: it comes back after a week, for good.
my $moved = thirty_nights(\%load, measured => 1);
like($moved, qr/^\Q$demoted\E, 1 other fast, (\d+) asked fast$/, 'measured: one that statements wait for comes back, once');
my ($night) = $moved =~ /(\d+) asked fast/;
cmp_ok($night // 0, '>=', 8, 'not before a week has gone');
like(verdict_on('asked'), qr/^keep\|Statements wait for it: by advice it was moved back at .*, and it was used within 30 days\.$/,
	'the policy leaves it alone, and says why');
is(verdict_on('idle'), 'keep|It is there already.', 'the other one stays down');

# The reason of the move, a week after the partitions have moved.
start_anew();
take_days($node, 1, \%load, measured => 1);
$node->safe_psql('postgres', q{CALL move_partitions_concurrently('events', 'slow', older_than => '90 days')});
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT policy, ', ') FROM tablespace_advisor.job}), 'age', 'the journal has the policy');
take_days($node, 8, \%load, measured => 1);
like(advice_on('asked'), qr/^move\|.*; policy: age$/, 'advice to move it back names the policy');

# When nobody has used it for a month, it is old again.
like(apply_round($node), qr/moved table public\.asked /, 'a round moves it back');
take_days($node, 8, { %load, asked => 0 }, measured => 1);
like(verdict_on('asked'), qr/^keep\|Statements wait for it/, 'a partition not used for a week stays');
take_days($node, 24, { %load, asked => 0 }, measured => 1);
like(verdict_on('asked'), qr/^move\|/, 'a partition not used for a month moves');

# An evacuation is a policy, too.
start_anew();
$node->safe_psql('postgres', q{CALL evacuate_tablespace('fast', 'slow')});
take_days($node, 8, \%load);
like(advice_on('young'), qr/^keep\|.*there by policy \(evacuation\)/, 'counted: what an evacuation has moved stays');
$node->safe_psql('postgres', q{CALL move_table_concurrently('young', 'fast')});
$node->safe_psql('postgres', q{CALL move_table_concurrently('young', 'slow')});
is($node->safe_psql('postgres', q{SELECT count(*) FROM tablespace_advisor.placed_by_policy() WHERE relation = 'young'::regclass}), 0,
	'what somebody has moved since lies where somebody wants it');
$node->stop;

# What planning reads is no use of a partition, where executions are measured: the
# ends of its index, for a condition that is not known before.  Counters have it as scans.
$node = start_plain('executed', conf => q{
shared_preload_libraries = 'tablespace_advisor'
tablespace_advisor.sample_interval = 0
tablespace_advisor.track_waits_sample = 1
autovacuum = off
});
$node->safe_psql('postgres', $_)
  foreach (
	q{CREATE TABLESPACE slow LOCATION ''},
	'CREATE TABLE logs (at timestamptz, n int) PARTITION BY RANGE (at)',
	q{CREATE TABLE logs_old PARTITION OF logs FOR VALUES FROM ('2020-01-01') TO ('2021-01-01')},
	q{CREATE TABLE logs_new PARTITION OF logs FOR VALUES FROM ('2021-01-01') TO ('2999-01-01')},
	'CREATE INDEX ON logs (at)',
	q{INSERT INTO logs SELECT timestamptz '2020-06-01' + n * interval '1 minute', n FROM generate_series(1, 10000) n},
	q{INSERT INTO logs SELECT now() - n * interval '1 minute', n FROM generate_series(1, 10000) n},
	'ANALYZE logs', 'CALL sample_activity()', 'CALL sample_activity()',
	# The first is from forty days ago, and nothing has happened up to the second,
	# whose time stays: an earlier one than the server's start means a reset.
	q{UPDATE tablespace_advisor.sample SET taken_at = taken_at - interval '40 days' WHERE started_at IS NULL},
	q{UPDATE tablespace_advisor.sample SET started_at = started_at - interval '40 days'},
	q{UPDATE tablespace_advisor.executed_partition SET executed_at = executed_at - interval '40 days'});

sub logs_used
{
	my ($query) = @_;

	$node->safe_psql('postgres', "$query; SELECT tablespace_advisor.flush_waits(); SELECT pg_stat_force_next_flush()");
	$node->safe_psql('postgres', 'CALL sample_activity()');
	$node->safe_psql('postgres', q{UPDATE tablespace_advisor.sample SET waits_measured_s = extract(epoch FROM taken_at - started_at)
		WHERE waits_measured_s IS NOT NULL});
	return $node->safe_psql('postgres', q{
		SELECT string_agg(format('%s %s', partition, action), ', ' ORDER BY partition::text)
		FROM advise_partition_placement('logs', 'slow', unused_for => '30 days')});
}
is(logs_used(q{SELECT count(*) FROM logs WHERE at > now() - interval '1 hour'}), 'logs_new keep, logs_old move',
	'a query on the last hour uses the new partition only');
cmp_ok($node->safe_psql('postgres', q{SELECT coalesce(sum(scans), 0) FROM tablespace_advisor.relation_sample r
	JOIN tablespace_advisor.sample s USING (sample_id)
	WHERE relation = 'logs_old_at_idx'::regclass AND s.taken_at > now() - interval '1 day'}), '>', 0,
	'though its planning has scanned the index of the old one');
is(logs_used(q{SELECT n FROM logs WHERE at = '2020-06-02'}), 'logs_new keep, logs_old keep',
	'an execution that finds one entry in shared buffers is use');
$node->stop;
done_testing();
