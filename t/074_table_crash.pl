# Ends the move of a table at every point of its protocol: by an immediate
# shutdown, by killing its worker with the server, by terminating and by
# cancelling it, with and without the indexes.  Each time the table is whole,
# where it was or where it was to go, with all that belongs to it; the next
# call settles the job, no file is orphaned, and the move can be repeated.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

# nobody flushes the log but those who are told to
my $node = new_node('main', checksums => 1, conf => qq(
wal_level = replica
autovacuum = off
wal_writer_delay = 10s
bgwriter_lru_maxpages = 0
));
$node->start;
prepare_node($node);
$node->safe_psql('postgres', qq{
	CREATE TABLE d (id int PRIMARY KEY, n int, txt text, doc text)
		WITH (fillfactor = 80);
	ALTER TABLE d ALTER doc SET STORAGE EXTERNAL;
	INSERT INTO d SELECT i, i, md5(i::text), ${\document('i')}
		FROM generate_series(1, 1500) i;
	CREATE INDEX d_txt ON d (txt);
	CREATE INDEX d_hash ON d USING hash (n);
	CREATE INDEX d_brin ON d USING brin (id)});

my @points = (
	'storage created', 'copied', 'followed', 'synced', 'window', 'switched',
	'old file truncated');
my %moved = ('switched' => 1, 'old file truncated' => 1);
my $round = 0;

# Changes heap, TOAST table, indexes and visibility map, and the rows' sum.
sub change_rows
{
	$round++;
	$node->safe_psql('postgres', qq{
		UPDATE d SET txt = md5(txt) WHERE abs(id) % 7 = $round % 7;
		UPDATE d SET doc = ${\document("id + $round")} WHERE abs(id) % 6 = $round % 6;
		UPDATE d SET id = -id WHERE abs(id) % 9 = $round % 9;
		VACUUM (FREEZE, TRUNCATE false) d;
		UPDATE d SET n = n + 1 WHERE abs(id) % 11 = $round % 11});
	return;
}

sub rows { return digest($node, 'd', 'x') }

# All of it in one place?
sub expected_place
{
	my ($place, $indexes) = @_;
	return "table $place, toast $place, toast index $place, indexes $indexes";
}

# Starts to move d to the other tablespace and stops it at a point.
sub move_to_point
{
	my ($point, $with) = @_;
	my %move = (from => places($node, 'd'), with => $with);

	$move{from} =~ /^table (\w+),.* indexes ([\w+]+)$/ or die $move{from};
	$move{place} = $1 eq 'fast' ? 'slow' : 'fast';
	$move{to} = expected_place($move{place}, $with ? $move{place} : $2);
	stop_at($node, $point eq 'followed' ? 'copied' : $point);
	$move{job} = start_table_move($node, 'd', $move{place},
		'with_indexes => ' . ($with ? 'true' : 'false'));
	if ($point eq 'followed')
	{
		wait_for_stop($node, 'copied');
		change_rows();
		stop_at($node, 'followed');
	}
	wait_for_stop($node, $point);
	return \%move;
}

sub check_d
{
	my ($name, $rows) = @_;

	is(rows(), $rows, "$name: the rows are right");
	check_heap($node, 'd', $name);
	is($node->safe_psql('postgres', "SELECT tsa_amcheck('d')"), '2',
		"$name: the indexes are right");
	return;
}

# Judges the end of a job that was disturbed, then repeats it if it failed.
sub judge
{
	my ($name, $move, $state, $rows, $reason) = @_;
	my $job = $move->{job};

	release($node);
	check_d("$name, before the job is settled", $rows);
	is(end_state($node, $job), $state, "$name: the job is $state");
	like(job_field($node, $job, 'error'), $reason, "$name: and says why")
	  if $reason;
	is(places($node, 'd'), $state eq 'done' ? $move->{to} : $move->{from},
		"$name: all is where it should be");
	check_orphans($node, $name);
	check_locks($node, $name);
	return if $state eq 'done';

	my $again = $node->safe_psql('postgres', "SELECT retry_move($job)");
	is(wait_for_job($node, $again), 'done', "$name: the move can be repeated");
	is(places($node, 'd'), $move->{to}, "$name: and moves all");
	is(rows(), $rows, "$name: with the rows");
	return;
}

# the copy is seen as what nobody owns, so that check_orphans() can tell
my $move = move_to_point('copied', 1);
cmp_ok(
	$node->safe_psql('postgres',
		q{SELECT count(DISTINCT substring(o, '[0-9]+(?=[^/]*$)')) FROM tsa_orphans() o}),
	'>=', 7, 'a copy under way is files without a relation');
is( $node->safe_psql('postgres', qq{
		SELECT cardinality(new_filenumbers), cardinality(new_tablespaces)
		FROM tablespace_advisor.job WHERE job_id = $move->{job}}),
	'7|7', 'and the journal names each');
release($node);
is(wait_for_job($node, $move->{job}), 'done', 'a move goes on after a stop');
check_orphans($node, 'a move that was stopped');

my $gone = qr/^the move's background worker ended unexpectedly$/;
my $with = 0;
for my $point (@points)
{
	my $state = $moved{$point} ? 'done' : 'failed';

	for my $how ('immediate shutdown', 'kill')
	{
		my $move = move_to_point($point, ++$with % 2);
		my $name = "$how at '$point'" . ($move->{with} ? ' with indexes' : '');

		# what the crash must not lose; the commit flushes all before.  In the
		# window nobody can write, nor read.
		change_rows() if $point ne 'window';
		my $rows = $point eq 'window' ? undef : rows();
		crash($node, $how eq 'kill' ? worker_pid($node, $move->{job}) : undef);
		judge($name, $move, $state, $rows // rows(),
			$state eq 'failed' ? $gone : undef);
	}
	$with++;

	$move = move_to_point($point, $with % 2);
	my $rows = $point eq 'window' ? undef : rows();
	my $pid = worker_pid($node, $move->{job});
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid, 60000)");
	judge("terminated at '$point'", $move, $state, $rows // rows(),
		$state eq 'failed' ? $gone : undef);

	# where it has switched, a cancel comes too late
	$move = move_to_point($point, ++$with % 2);
	change_rows() if $point ne 'window';
	$rows = $point eq 'window' ? undef : rows();
	$node->safe_psql('postgres', "SELECT cancel_move($move->{job})");
	release($node) if $moved{$point};
	is( wait_for_job($node, $move->{job}),
		$moved{$point} ? 'done' : 'cancelled',
		"cancelled at '$point'");
	judge("cancelled at '$point'", $move,
		$moved{$point} ? 'done' : 'cancelled', $rows // rows());
}

# The cutover's commit that did not reach the disk: nothing flushes the log
# while the WAL writer stands still, and with it the server goes down.
$move = move_to_point('window', 1);
my $walwriter = $node->safe_psql('postgres',
	"SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
kill 'STOP', $walwriter;
stop_at($node, 'switched');
wait_for_stop($node, 'switched');
is(places($node, 'd'), $move->{to}, 'the switch is seen');
crash($node, $walwriter);
judge('commit not flushed', $move, 'failed', rows(), $gone);

check_d('in the end', rows());
check_orphans($node, 'in the end');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|signal (?:6|11)\b/,
	'no crash of the server but those that were asked for');
check_checksums($node, 'in the end');
done_testing();
