# Copyright (c) 2026, The tablespace_advisor developers

# Moves that are interrupted go on from where they were: whatever ends the
# worker or the server, by themselves if the library is preloaded, else with the
# next call.  Tests of 1.0 had such moves fail.

use TsaTest;

my $node = start_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
wal_level = replica
autovacuum = off
tablespace_advisor.debug_mark_kb = 2048
tablespace_advisor.keep_interrupted = 1d
});

make_toasted_table($node);
$node->safe_psql('postgres', q{
	CREATE INDEX t_h ON t USING hash (b);
	DELETE FROM t WHERE a % 7 = 0;
	VACUUM t});

my %call = (
	index => q{CALL move_indexes_concurrently('t_c', '%s', method => 'copy', wait => false)},
	table => q{CALL move_table_concurrently('t', '%s', with_indexes => true, wait => false)});

sub content
{
	return $node->safe_psql('postgres', 'SELECT count(*), sum(hashtextextended(x::text, 0)) FROM t x');
}

# Begins a move, which stops at a mark; its job.
sub start_marked
{
	my ($what, $to) = @_;

	stop_at($node, 'marked');
	$node->safe_psql('postgres', sprintf($call{$what}, $to)) =~ /(\d+)/ or die 'no job';
	wait_for_stop($node, 'marked');
	return $1;
}

# The move ends well, without a call, and has copied little again.
sub check_resumed
{
	my ($job, $name, $interruptions) = @_;

	ok( $node->poll_query_until('postgres',
			"SELECT state IN ('done', 'failed', 'cancelled') FROM tablespace_moves WHERE job_id = $job"),
		"$name: the move ends");
	is( $node->safe_psql('postgres', qq{
			SELECT state, coalesce(error, ''), interruptions,
				blocks_again * 8192 <= 1048576 + bytes_total / 20 FROM tablespace_moves WHERE job_id = $job}),
		"done||$interruptions|t", "$name: the move goes on, and copies little again");
	is($node->safe_psql('postgres', "SELECT count(*) FROM tablespace_advisor.job_mark"), '0',
		"$name: no mark is left");
	is( $node->safe_psql('postgres',
			q{SELECT tsa_amcheck('t') || ' trees' UNION ALL SELECT tsa_heap_damage('t')}),
		'2 trees', "$name: table and indexes are well");
	check_orphans($node, $name);
	return;
}

# --- ends of the worker and of the server --------------------------------------------

# The worker that goes on stops at the next mark, unless the server reads its
# configuration again when it starts.
sub restart
{
	my ($mode) = @_;

	$node->append_conf('postgresql.conf', "tablespace_advisor.debug_stop_at = ''");
	$node->stop($mode);
	$node->start;
	return;
}

sub go_on
{
	wait_for_stop($node, 'marked');
	release($node);
	return;
}

my %ends = (
	'worker terminated' => sub { $node->safe_psql('postgres', "SELECT pg_terminate_backend(pid, 60000) FROM tablespace_moves WHERE job_id = $_[0]"); go_on() },
	'worker killed' => sub { crash($node, worker_pid($node, $_[0])); go_on() },
	'immediate shutdown' => sub { restart('immediate') },
	'fast shutdown' => sub { restart('fast') });

for my $what ('index', 'table')
{
	for my $end (sort keys %ends)
	{
		my $name = "$what, $end";
		my $to = $node->safe_psql('postgres', sprintf(q{
			SELECT CASE WHEN reltablespace = (SELECT oid FROM pg_tablespace WHERE spcname = 'fast')
				THEN 'slow' ELSE 'fast' END FROM pg_class WHERE relname = '%s'},
			$what eq 'index' ? 't_c' : 't'));
		my $job = start_marked($what, $to);
		my ($blocks) = $node->safe_psql('postgres',
			"SELECT (SELECT sum(b) FROM unnest(blocks) b) FROM tablespace_advisor.job_mark WHERE job_id = $job");

		cmp_ok($blocks, '>=', 256, "$name: a mark");
		$node->safe_psql('postgres', 'UPDATE t SET b = b + 1 WHERE a % 1000 = 1');
		my $before = content();
		$ends{$end}->($job);
		check_resumed($job, $name, 1);
		is(content(), $before, "$name: nothing is lost");
	}
}

# --- again and again ----------------------------------------------------------------

# What an interrupted copy has made was compared at once, each time; now it is once,
# after the rest.  Tests of one interruption, and of none while pages are compared,
# did not tell.
my $again = start_marked('table', 'fast');

# The journal has what the last mark told, the worker shows no less.  It showed less by
# what had to be compared, and no test looked after an interruption in the middle.
sub shown_done
{
	my ($job) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT p.bytes_done >= j.bytes_done AND j.bytes_done > 0 AND p.bytes_done < p.bytes_total AND p.bytes_left > p.bytes_total - p.bytes_done
		FROM tablespace_advisor.job j, tablespace_advisor.copy_progress(j.job_id, j.progress_handle) p WHERE j.job_id = $job});
}

for my $n (1 .. 3)
{
	$node->safe_psql('postgres', "UPDATE t SET b = b + 1 WHERE a % 3000 = $n");
	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid, 60000) FROM tablespace_moves WHERE job_id = $again");
	wait_for_stop($node, 'marked');
	is( $node->safe_psql('postgres', qq{
			SELECT cardinality(lsns) / 2, lsns[1] < lsns[2] AND lsns[2] < lsns[3] AND lsns[3] < lsns[4]
			FROM tablespace_advisor.job_mark WHERE job_id = $again ORDER BY mark_id DESC LIMIT 1}),
		$n + 1 . '|t', "again and again: ranges of the WAL after $n interruptions");
	is(shown_done($again), 't', "again and again: interruption $n leaves what is shown as done");
}
my $log_size = -s $node->logfile;
stop_at($node, 'compared');
wait_for_stop($node, 'compared');
is( $node->safe_psql('postgres', qq{
		SELECT p.bytes_left = 2048 * (SELECT sum(b) FROM unnest(k.blocks) b), m.percent < 100, m.phase
		FROM tablespace_moves m JOIN tablespace_advisor.job j USING (job_id), tablespace_advisor.copy_progress(j.job_id, j.progress_handle) p,
			(SELECT blocks FROM tablespace_advisor.job_mark WHERE job_id = $again ORDER BY mark_id LIMIT 1) k
		WHERE job_id = $again}),
	't|t|comparing', 'again and again: the rest is there before anything is compared, which counts a quarter');
$node->safe_psql('postgres', 'UPDATE t SET b = b + 1 WHERE a % 1000 < 4');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid, 60000) FROM tablespace_moves WHERE job_id = $again");
wait_for_stop($node, 'compared');

# pages that have been compared, and others
$node->safe_psql('postgres', 'UPDATE t SET b = b + 1 WHERE a % 500 < 4');
my $content = content();
release($node);
check_resumed($again, 'again and again', 4);
is(content(), $content, 'again and again: nothing is lost');
is(() = slurp_file($node->logfile, $log_size) =~ /has gone on: [1-9]\d+ pages of the interrupted copy are kept/g,
	1, 'again and again: what was there is compared once to the end');
$node->safe_psql('postgres', "CALL move_table_concurrently('t', 'slow', with_indexes => true)");

# --- what an interrupted move keeps, and for how long ---------------------------------

# Nobody can go on with it: no launcher, and no slot for a worker.
sub interrupt
{
	my $job = start_marked('table', 'pg_default');

	# the commit of the mark is not waited for
	$node->safe_psql('postgres', "SELECT pg_logical_emit_message(true, '', '')");
	$node->stop('immediate');
	$node->append_conf('postgresql.conf',
		"shared_preload_libraries = ''\nmax_worker_processes = 0\ntablespace_advisor.debug_stop_at = ''");
	$node->start;
	# The journal's row has what there was when the worker began, which was shown; the test
	# looked at the state alone.
	is(job_field($node, $job, 'state, bytes_done > 2000000'), 'running|t', 'nobody has seen yet that the worker is gone: its last mark tells how far it was');
	is($node->safe_psql('postgres', "SELECT wait_for_moves('{$job}', '0 s')"), 'f',
		'the next call finds no slot for a worker');
	is( $node->safe_psql('postgres', qq{
			SELECT state, phase IS NULL, bytes_done > 2000000, percent > 5,
				kept_until - now() BETWEEN '23 h' AND '1 day', interruptions FROM tablespace_moves WHERE job_id = $job}),
		'interrupted|t|t|t|t|1', 'the move is interrupted and kept');
	return $job;
}

# There are workers again, and a launcher.
sub with_workers
{
	$node->append_conf('postgresql.conf',
		"shared_preload_libraries = 'tablespace_advisor'\nmax_worker_processes = 16");
	$node->restart;
	return;
}

my $job = interrupt();
like( $node->safe_psql('postgres', q{
		SELECT ok, regexp_replace(message, '\s+', ' ', 'g')
		FROM tablespace_advisor_health() WHERE subject = 'interrupted moves'}),
	qr/^f\|1 \(jobs: $job\) kept \d+ .B of copies; unless they go on, they fail from \S+ \S+ on$/,
	'the health says so');
like($node->safe_psql('postgres', "SELECT waits_for FROM tablespace_moves_active WHERE job_id = $job"),
	qr/^interrupted; its copy is kept until /, 'the short view says so');
is($node->safe_psql('postgres', "SELECT cancel_move($job)"), 't', 'an interrupted move can be cancelled');
is(job_field($node, $job, 'state'), 'cancelled', 'the interrupted move is cancelled');
check_orphans($node, 'a cancelled move that was interrupted');

with_workers();
$job = interrupt();
$node->safe_psql('postgres', "UPDATE tablespace_advisor.job SET interrupted_at = now() - interval '25 h' WHERE job_id = $job");
is($node->safe_psql('postgres', "SELECT wait_for_moves('{$job}')"), 't', 'a copy is not kept for ever');
is( $node->safe_psql('postgres', "SELECT state, detail FROM tablespace_moves WHERE job_id = $job"),
	'failed|It was interrupted for longer than "tablespace_advisor.keep_interrupted".', 'then the move fails');
check_orphans($node, 'a move that was interrupted for long');

# What the original lost, or is not what it was, is not taken for what is copied:
# blocks that are gone, indexes that were rebuilt in another file, or as another
# relation of the same name.  These move along, too; earlier tests made them in the
# target at once.
with_workers();
$job = interrupt();
$node->safe_psql('postgres', $_) for 'DELETE FROM t WHERE a > 3000; VACUUM t; REINDEX INDEX t_c',
  'DROP INDEX t_h; CREATE INDEX t_h ON t USING hash (b) TABLESPACE slow', 'REINDEX INDEX CONCURRENTLY t_pkey';
is(tablespaces_of($node, 't'), 'slow', 'nothing has moved yet');
my $before = content();
with_workers();
check_resumed($job, 'table, changed meanwhile', 1);
is(content(), $before, 'table, changed meanwhile: nothing is lost');
is(tablespaces_of($node, 't'), 'pg_default', 'indexes that were rebuilt move along');
my $undo = $node->safe_psql('postgres', "SELECT undo_move($job)");
$node->safe_psql('postgres', "SELECT wait_for_moves('{$undo}')");
is(tablespaces_of($node, 't'), 'slow', 'undo_move() brings rebuilt indexes back');
$node->stop;
done_testing();
