# Moves and crashes under settings that change what is written to the log and
# to the files: data checksums, wal_level minimal, no full-page writes,
# compressed WAL; and with a worker that cannot write.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

my $n = 0;
for my $settings (
	qq(
wal_level = minimal
max_wal_senders = 0
full_page_writes = off
wal_compression = on
), qq(
wal_level = minimal
max_wal_senders = 0
wal_skip_threshold = 0
wal_compression = off
), qq(
wal_level = logical
full_page_writes = off
wal_log_hints = on
))
{
	my $name = join(', ', grep { $_ } split /\n/, $settings);
	my $node = new_node('settings' . $n++,
		init => { extra => ['--data-checksums'] }, conf => $settings);

	$node->start;
	prepare_node($node);
	fill_table($node, 3000);
	is($node->safe_psql('postgres', 'SHOW data_checksums'), 'on',
		"$name: data checksums are on");

	my $load = start_load($node, rate => 50);
	move($node, 't', 'fast', "method => 'copy', max_rate => '8 MB'");
	stop_load($load, $name);
	crash($node);
	is(tablespaces_of($node, 't'), 'fast', "$name: indexes are in the new place");
	check_content($node, "$name, after a move and a crash");
	check_orphans($node, $name);

	# at once, with nothing written in between, and what follows
	$node->safe_psql('postgres', 'CHECKPOINT');
	move($node, 't', 'slow', "method => 'copy'");
	$node->safe_psql('postgres',
		'UPDATE t SET h = (h + 1) % 50, d = -d WHERE id % 7 = 0');
	crash($node);
	check_content($node, "$name, after a change and a crash");

	# to the end of the log by the checkpointer alone
	move($node, 't', 'fast', "method => 'copy'");
	$node->stop;
	command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ],
		"$name: all checksums are right");
	$node->start;
	check_content($node, "$name, after a restart");
	check_orphans($node, $name);
	is( $node->safe_psql('postgres', q{
			SELECT sum(checksum_failures) FROM pg_stat_database}),
		'0', "$name: no checksum failure");
	check_log($node, $name);
	$node->stop;
}

# A worker that must not write files beyond some size gets an error from the
# operating system, as with a full disk, in the middle of the copy and in the
# window.  WAL segments are smaller than that, and nothing else is written out
# of shared buffers as large as these.
SKIP:
{
	skip 'prlimit is not installed', 12
	  if system('prlimit --version >/dev/null 2>&1') != 0;

	my $node = new_node('limited',
		init => { extra => ['--wal-segsize=1'] },
		conf => qq(
wal_level = replica
autovacuum = off
shared_buffers = 128MB
));
	$node->start;
	prepare_node($node);
	fill_table($node, 12000);
	cmp_ok($node->safe_psql('postgres', "SELECT pg_relation_size('t_txt')"),
		'>', 2 * 1024 * 1024, 'the index is larger than the limit');

	for my $point ('storage created', 'synced')
	{
		stop_at($node, $point);
		my $job = start_move($node, 't_txt', 'fast');
		wait_for_stop($node, $point);
		my $pid = worker_pid($node, $job);
		command_ok([ 'prlimit', '--pid', $pid, '--fsize=1146880' ],
			"no file beyond the limit from '$point'");
		$node->safe_psql('postgres', q{
			UPDATE t SET txt = md5(txt) || txt WHERE id % 10 = 0});
		release($node);
		is(wait_for_job($node, $job), 'failed', 'the move fails');
		like(job_field($node, $job, 'error'),
			qr/could not (?:extend|write).*File too large/, 'and says why');
		is(tablespaces_of($node, 't_txt'), 'pg_default',
			'the index is where it was');
		check_orphans($node, "failed write after '$point'");
		check_btree($node, 't_txt', "failed write after '$point'");
		my $again = $node->safe_psql('postgres', "SELECT retry_move($job)");
		is(wait_for_job($node, $again), 'done', 'the move can be repeated');
		check_btree($node, 't_txt', 'repeated');
		move($node, 't_txt', 'pg_default');
	}
	check_orphans($node, 'limited');
	check_log($node, 'limited', qr/File too large/);
	$node->stop;
}

done_testing();
