# Copyright (c) 2026, The tablespace_advisor developers

# What bench/interrupted runs.
#
# Each client of the load adds 1 to a row of the table and to its own count in one
# transaction; so the sums agree whatever was lost.  Indexes are compared with the
# table by amcheck, and the table's rows with what its indexes find.

use FindBin;
use lib $FindBin::RealBin;
use List::Util qw(max);
use SoakTest;
use Time::HiRes qw(sleep time);
use TsaTest;

my $wanted = $ENV{INTERRUPTIONS};
my $rows = int($ENV{MEGABYTES} * 1024 * 1024 / 900);
my @kinds = (
	'worker killed', 'worker terminated', 'checkpointer killed', 'postmaster killed',
	'fast shutdown', 'immediate shutdown', 'promotion');
my (%count, %again, %changed, %took, @plain);
my ($load, $primary, $standbys);

srand $ENV{SEED};

$primary = start_node('interrupted0', init => { allows_streaming => 1 }, conf => q{
shared_preload_libraries = 'tablespace_advisor'
wal_level = replica
shared_buffers = 64MB
max_wal_size = 256MB
checkpoint_timeout = 30s
tablespace_advisor.min_wal_space = 0
tablespace_advisor.keep_interrupted = 1d
tablespace_advisor.debug_mark_kb = 256
});
$primary->safe_psql('postgres', qq{
	CREATE TABLE client (id int PRIMARY KEY, n bigint NOT NULL);
	INSERT INTO client SELECT i, 0 FROM generate_series(1, 2) i;
	CREATE TABLE big (id int PRIMARY KEY, n bigint NOT NULL, c text, doc text) WITH (fillfactor = 90);
	ALTER TABLE big ALTER doc SET STORAGE EXTERNAL;
	INSERT INTO big SELECT i, 0, md5(i::text), CASE WHEN i % 10 = 0 THEN repeat(md5(i::text), 100) END
		FROM generate_series(1, $rows) i;
	CREATE INDEX big_c ON big ((repeat(c, 6)));
	CREATE INDEX big_n ON big (n);
	CREATE INDEX big_h ON big USING hash (c);
	CREATE INDEX big_doc ON big (md5(doc)) WHERE doc IS NOT NULL});

# --- the load ----------------------------------------------------------------------

sub begin_load
{
	my $file = $primary->basedir . '/load.sql';

	unlink $file;
	append_to_file($file, qq{
\\set id random(1, $rows)
BEGIN;
UPDATE big SET n = n + 1, doc = CASE WHEN doc IS NOT NULL THEN md5(doc) || substr(doc, 33) END WHERE id = :id;
UPDATE client SET n = n + 1 WHERE id = :client_id + 1;
COMMIT;
});
	$load = start_pgbench($primary, 2, '-R', 100, '-T', 3600, '-f', $file);
	return;
}

# It ends with the server, or is ended.
sub end_load
{
	$load->{harness}->kill_kill if $load;
	undef $load;
	return;
}

# --- interruptions --------------------------------------------------------------------

sub promote
{
	my $old = $primary;
	my $name = 'interrupted' . ++$standbys;
	my $new = PostgreSQL::Test::Cluster->new($name);

	$new->init_from_backup($old, "b$standbys", has_streaming => 1);
	$new->start;
	return sub {
		$old->stop('immediate');
		$new->promote;
		$primary = $new;
		$old->clean_node;
	};
}

my %interrupt = (
	'worker killed' => sub { kill_process($primary, $_[0]) },
	'worker terminated' => sub { $primary->safe_psql('postgres', "SELECT pg_terminate_backend($_[0], 60000)") },
	'checkpointer killed' => sub { kill_process($primary, checkpointer_pid($primary)) },
	'postmaster killed' => sub { kill_postmaster($primary) },
	'fast shutdown' => sub { $primary->restart },
	'immediate shutdown' => sub { $primary->stop('immediate'); $primary->start });

# --- rounds --------------------------------------------------------------------------------

sub check_all
{
	my ($name) = @_;

	is( $primary->safe_psql('postgres', 'SELECT (SELECT sum(n) FROM big) - (SELECT sum(n) FROM client)'),
		'0', "$name: nothing is lost");
	is( $primary->safe_psql('postgres', q{
			SELECT string_agg(bt_index_check(indexrelid, true)::text, '')
			FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam
			WHERE indrelid = 'big'::regclass AND amname = 'btree'}),
		'', "$name: the indexes are well");
	is($primary->safe_psql('postgres', q{SELECT tsa_heap_damage('big')}), '', "$name: the table is well");
	is($primary->safe_psql('postgres', q{
			SET enable_seqscan = off; SET enable_bitmapscan = off;
			SELECT count(*) FROM (SELECT id, (SELECT count(*) FROM big i WHERE i.c = b.c) n
				FROM big b WHERE id % 50 = 0) x WHERE n <> 1}),
		'0', "$name: the hash index finds its rows");
	check_orphans($primary, $name);
	return;
}

# Why a move that went on has copied pages again, in blocks: they have changed, are
# not marked, differ without a later LSN, are damaged.
sub causes
{
	my ($log) = slurp_file($primary->logfile) =~ /.*DETAIL:  Copied again: (.*?)\n/s;

	return ($log // '') =~ /(\d+)/g;
}

# A move; interrupted once at a random moment, if there is a kind of interruption.
sub round
{
	my ($what, $kind) = @_;
	my $name = $what . ($kind ? ", $kind" : '');
	my $relation = $what eq 'index' ? 'big_c' : 'big';
	my $to = $primary->safe_psql('postgres', qq{
		SELECT CASE WHEN reltablespace = (SELECT oid FROM pg_tablespace WHERE spcname = 'fast')
			THEN 'slow' ELSE 'fast' END FROM pg_class WHERE relname = '$relation'});
	my $promotion;

	if (($kind // '') eq 'promotion')
	{
		$primary->backup('b' . (($standbys // 0) + 1));
		$promotion = promote();
	}
	begin_load();
	my ($job) = $primary->safe_psql('postgres', $what eq 'index' ?
		"CALL move_indexes_concurrently('big_c', '$to', method => 'copy', max_rate => '$ENV{RATE} MB', wait => false)" :
		"CALL move_table_concurrently('big', '$to', with_indexes => true, max_rate => '$ENV{RATE} MB', wait => false)") =~ /(\d+)/;
	my $began = time;
	if ($kind)
	{
		my $bytes = $primary->safe_psql('postgres', "SELECT bytes_total FROM tablespace_moves WHERE job_id = $job");

		sleep(rand() * $bytes / $ENV{RATE} / 1048576);
		my $pid = $primary->safe_psql('postgres', "SELECT pid FROM tablespace_moves WHERE job_id = $job");

		if ($promotion) { $promotion->() }
		elsif ($pid =~ /^\d+$/ || $kind !~ /worker/) { $interrupt{$kind}->($pid) }
		end_load();
		begin_load();
	}
	ok($primary->poll_query_until('postgres',
			"SELECT state IN ('done', 'failed', 'cancelled') FROM tablespace_moves WHERE job_id = $job"),
		"$name: ends");
	end_load();
	my ($state, $error, $interruptions, $again, $bytes) = split /\|/, $primary->safe_psql('postgres', qq{
		SELECT state, error, interruptions, blocks_again * 8192, bytes_total FROM tablespace_moves WHERE job_id = $job});
	is($state, 'done', "$name: it is done") or diag $error;
	check_all($name);
	if (!$kind)
	{
		push @plain, time - $began;
		return;
	}
	return if $interruptions == 0;	# it was too late
	$count{$name}++;
	my @causes = causes();
	note sprintf '%s: %.1f of %.1f MB (%.1f %%) again; blocks changed %d, unmarked %d, different %d, damaged %d',
	  $name, $again / 1048576, $bytes / 1048576, 100 * $again / $bytes, @causes;
	push @{ $again{$name} }, 100 * $again / $bytes;
	push @{ $changed{$name} }, 100 * ($causes[0] // 0) * 8192 / $bytes;
	push @{ $took{$name} }, time - $began;
	return;
}

round('index');
round('table');
for (my $i = 0; $wanted > 0 && $i < 10 * $ENV{INTERRUPTIONS}; $i++)
{
	my ($what, $kind) = (one_of('index', 'table'), $kinds[ $i % @kinds ]);
	my $before = $count{"$what, $kind"} // 0;

	round($what, $kind);
	$wanted-- if ($count{"$what, $kind"} // 0) > $before;
}
$primary->stop;

sub median { my @s = sort { $a <=> $b } @_; return $s[ $#s / 2 ] }

diag sprintf 'without interruption: index %.1f s, table %.1f s', @plain;
diag sprintf '%-28s %5s %12s %8s %9s %14s %9s', 'interrupted', 'times', '% again: p50', 'max', 'over 5 %', '% changed: p50', 's, p50';
diag sprintf '%-28s %5d %12.1f %8.1f %9d %14.1f %9.1f', $_, $count{$_}, median(@{ $again{$_} }), max(@{ $again{$_} }),
  scalar(grep { $_ > 5 } @{ $again{$_} }), median(@{ $changed{$_} }), median(@{ $took{$_} })
  foreach sort keys %count;
my @all = map { @$_ } values %again;
my $over = grep { $_ > 5 } @all;
diag sprintf 'all: %d times, %d over 5 %%', scalar @all, $over;
cmp_ok($over, '<=', @all / 20, '19 of 20 moves copy at most 5 % again') if @all >= 20;
done_testing();
