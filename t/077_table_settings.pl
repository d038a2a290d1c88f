# Moves of a table and crashes under settings that change what is written to
# the log and to the files: no data checksums, wal_level minimal and logical, no
# full-page writes, compressed WAL; a logical slot that decodes across a move;
# and a worker that cannot write.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

my $n = 0;
for my $case (
	[ 0, qq(
wal_level = minimal
max_wal_senders = 0
full_page_writes = off
wal_compression = on
) ], [ 1, qq(
wal_level = minimal
max_wal_senders = 0
wal_skip_threshold = 0
wal_compression = off
) ], [ 0, qq(
wal_level = logical
full_page_writes = off
wal_log_hints = on
) ], [ 1, qq(
wal_level = replica
wal_compression = on
) ])
{
	my ($checksums, $settings) = @$case;
	my $name = join(', ', ($checksums ? 'checksums' : 'no checksums'),
		grep { $_ } split /\n/, $settings);
	my $node = new_node('settings' . $n++, checksums => $checksums,
		conf => $settings);

	$node->start;
	prepare_node($node);
	fill_documents($node, 2000);

	my $load = start_table_load($node, rate => 50);
	move_table($node, 't', 'fast', "with_indexes => true, max_rate => '16 MB'");
	stop_table_load($load, $name);
	crash($node);
	is( places($node, 't'),
		'table fast, toast fast, toast index fast, indexes fast',
		"$name: all is in the new place");
	check_table($node, "$name, after a move and a crash");
	check_orphans($node, $name);

	# at once, with nothing written in between, and what follows
	$node->safe_psql('postgres', 'CHECKPOINT');
	move_table($node, 't', 'slow');
	$node->safe_psql('postgres', qq{
		UPDATE t SET note = note + 1 WHERE id % 7 = 0;
		UPDATE t SET doc = ${\document('id + 1')} WHERE id % 17 = 0});
	crash($node);
	check_table($node, "$name, after a change and a crash");

	# to the end of the log by the checkpointer alone
	move_table($node, 't', 'fast', 'with_indexes => true');
	$node->stop;
	command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ],
		"$name: all checksums are right")
	  if $checksums;
	$node->start;
	check_table($node, "$name, after a restart");
	check_orphans($node, $name);
	check_log($node, $name);
	$node->stop;
}

# A slot decodes what was changed before, during and behind a move, with the
# values out of line, whatever storage the table had then.
my $node = new_node('logical', checksums => 1,
	conf => "wal_level = logical\nautovacuum = off\n");
$node->start;
prepare_node($node);
$node->safe_psql('postgres', q{
	CREATE TABLE d (id int PRIMARY KEY, doc text);
	ALTER TABLE d ALTER doc SET STORAGE EXTERNAL;
	SELECT pg_create_logical_replication_slot('slot', 'test_decoding')});
my $insert = "INSERT INTO d SELECT i, ${\document('i')} FROM generate_series(%d, %d) i";
$node->safe_psql('postgres', sprintf($insert, 1, 100));
stop_at($node, 'copied');
my $job = start_table_move($node, 'd', 'fast', 'with_indexes => true');
wait_for_stop($node, 'copied');
$node->safe_psql('postgres', sprintf($insert, 101, 200));
release($node);
is(wait_for_job($node, $job), 'done', 'a move with a logical slot');
$node->safe_psql('postgres', sprintf($insert, 201, 300));
is( $node->safe_psql('postgres', q{
		SELECT count(*), sum(hashtextextended(split_part(data, '''', 2), 0))
		FROM pg_logical_slot_get_changes('slot', NULL, NULL)
		WHERE data LIKE 'table public.d: INSERT:%'}),
	$node->safe_psql('postgres', q{
		SELECT count(*), sum(hashtextextended(doc, 0)) FROM d}),
	'the slot decodes every row');
$node->safe_psql('postgres', q{SELECT pg_drop_replication_slot('slot')});
$node->stop;

# A worker that must not write files beyond some size gets an error from the
# operating system, as with a full disk: while it copies, and in the window.
# WAL segments are smaller than that, and nothing else is written out of shared
# buffers as large as these.
SKIP:
{
	skip 'prlimit is not installed', 1
	  if system('prlimit --version >/dev/null 2>&1') != 0;

	$node = new_node('limited', checksums => 1,
		init => { extra => ['--wal-segsize=1'] },
		conf => qq(
wal_level = replica
autovacuum = off
shared_buffers = 128MB
));
	$node->start;
	prepare_node($node);
	$node->safe_psql('postgres', qq{
		CREATE TABLE d (id int PRIMARY KEY, pad text, doc text);
		ALTER TABLE d ALTER doc SET STORAGE EXTERNAL;
		ALTER TABLE d ALTER pad SET STORAGE PLAIN;
		INSERT INTO d SELECT i, repeat('p', 800), ${\document('i')}
			FROM generate_series(1, 2000) i;
		CREATE INDEX d_pad ON d (pad, id)});

	# the TOAST table is the larger one: the first limit stops the heap, the
	# second only that
	for my $limit (1146880, 3072000)
	{
		is( $node->safe_psql('postgres', qq{
				SELECT pg_relation_size(oid) > $limit,
					pg_relation_size(reltoastrelid) > $limit
				FROM pg_class WHERE relname = 'd'}),
			$limit < 2000000 ? 't|t' : 'f|t',
			"what is larger than $limit bytes");
		for my $point ('storage created', 'synced')
		{
			my $name = "no file beyond $limit bytes from '$point'";

			stop_at($node, $point);
			$job = start_table_move($node, 'd', 'fast', 'with_indexes => true');
			wait_for_stop($node, $point);
			my $pid = worker_pid($node, $job);
			command_ok([ 'prlimit', '--pid', $pid, "--fsize=$limit" ], $name);
			$node->safe_psql('postgres', qq{
				UPDATE d SET doc = ${\document('id + 1')},
					pad = repeat('q', 800) WHERE id % 10 = 0});
			my $rows = digest($node, 'd', 'x::text');
			release($node);
			is(wait_for_job($node, $job), 'failed', "$name: the move fails");
			like(job_field($node, $job, 'error'),
				qr/could not (?:extend|write).*File too large/,
				"$name: and says why");
			is( places($node, 'd'),
				'table pg_default, toast pg_default, toast index pg_default, indexes pg_default',
				"$name: all is where it was");
			check_orphans($node, $name);
			check_locks($node, $name);
			check_heap($node, 'd', $name);
			is(digest($node, 'd', 'x::text'), $rows, "$name: the rows are right");
			my $again = $node->safe_psql('postgres', "SELECT retry_move($job)");
			is(wait_for_job($node, $again), 'done',
				"$name: the move can be repeated");
			check_heap($node, 'd', "$name, repeated");
			is(digest($node, 'd', 'x::text'), $rows,
				"$name: the rows are right, repeated");
			move_table($node, 'd', 'pg_default', 'with_indexes => true');
			$node->safe_psql('postgres', "VACUUM FULL d");
		}
	}
	check_orphans($node, 'limited');
	check_log($node, 'limited', qr/File too large/);
	check_checksums($node, 'limited');
}

done_testing();
