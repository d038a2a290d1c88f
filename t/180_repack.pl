# Copyright (c) 2026, The tablespace_advisor developers

# REPACK (CONCURRENTLY) of 19 beside moves of the table and of its indexes: the
# copy starts over and ends, and no row is lost.  PG_TEST_EXTRA=repack: 100
# REPACKs beside 25 moves, without a deadlock.

use TsaTest;

my $node = PostgreSQL::Test::Cluster->new('main');
my ($major) = $node->pg_version =~ /^(\d+)/;
plan skip_all => 'REPACK comes with 19' if $major < 19;
my $many = ($ENV{PG_TEST_EXTRA} // '') =~ /\brepack\b/;

$node = start_node('main2', conf => "wal_level = replica\nautovacuum = off\n");
$node->safe_psql('postgres', q{
	CREATE TABLE d (id int PRIMARY KEY, txt text, n int);
	INSERT INTO d SELECT i, repeat(md5(i::text), 4), i FROM generate_series(1, 20000) i;
	CREATE INDEX d_txt ON d (txt);
	CREATE INDEX d_n ON d (n);
	DELETE FROM d WHERE id % 3 = 0});
my $rows = digest($node, 'd');
my $repack = 'REPACK (CONCURRENTLY) d';

sub check_end
{
	my ($name) = @_;

	is(digest($node, 'd'), $rows, "$name: all rows are there");
	is( $node->safe_psql('postgres', q{
			SET statement_timeout = '60s'; SELECT tsa_amcheck('d')}),
		3, "$name: indexes agree with the table");
	wait_for_workers($node);
	check_orphans($node, $name);
	return;
}

for my $kind ('table', 'index')
{
	my $job = $kind eq 'table'
	  ? start_table_move($node, 'd', 'fast', "with_indexes => true, max_rate => '200 bytes'")
	  : start_move($node, 'd_txt', 'slow', "max_rate => '200 bytes'");

	wait_until_job($node, $job, "phase = 'copying' AND bytes_done > 0");
	$node->safe_psql('postgres', $repack, timeout => 180);
	pass("$kind: REPACK ends beside a move");
	is(job_field($node, $job, 'state'), 'running', "$kind: the move goes on");
	$node->safe_psql('postgres', "SELECT alter_move($job, max_rate => '1 GB')");
	is(wait_for_job($node, $job), 'done', "$kind: the move ends");
	check_end($kind);
}

SKIP:
{
	skip '100 REPACKs take minutes; set PG_TEST_EXTRA=repack', 5 unless $many;
	my $session = start_sql($node, 'repacks', ($repack) x 100);
	my %states;

	for my $n (1 .. 25)
	{
		my $job = start_table_move($node, 'd', $n % 2 ? 'slow' : 'fast', 'with_indexes => true');

		$states{ wait_for_job($node, $job) }++;
	}
	is_deeply(\%states, { done => 25 }, '25 moves end');
	is(finish_sql($session), '', '100 REPACKs end without an error');
	check_end('many');
}
unlike(slurp_file($node->logfile), qr/deadlock detected/, 'no deadlock');

$node->stop;
done_testing();
