# Copyright (c) 2026, The tablespace_advisor developers

# A move that is interrupted by a failover goes on at the new primary, and ends
# with all servers alike: the former primary follows after pg_rewind.

use TsaTest;

my $conf = q{
shared_preload_libraries = 'tablespace_advisor'
wal_level = replica
autovacuum = off
checkpoint_timeout = 1h
hot_standby_feedback = on
tablespace_advisor.debug_mark_kb = 2048
tablespace_advisor.keep_interrupted = 1d
};
my ($primary, $standby, $job);

# A primary with some MB, and a standby that streams.
sub start_pair
{
	my ($name) = @_;
	my %place = map { $_ => PostgreSQL::Test::Utils::tempdir_short() } qw(a b);

	$primary = new_node("${name}_a", conf => $conf, checksums => 1, init => { allows_streaming => 1 });
	$primary->append_conf('postgresql.conf', 'wal_keep_size = 256MB');
	$primary->start;
	$primary->safe_psql('postgres', "CREATE TABLESPACE fast LOCATION '$place{a}'");
	prepare_node($primary, no_tablespaces => 1);
	$primary->safe_psql('postgres', q{
		CREATE TABLE t (a int PRIMARY KEY, b int, c text);
		INSERT INTO t SELECT i, i, md5(i::text) FROM generate_series(1, 40000) i;
		CREATE INDEX t_c ON t ((repeat(c, 4)), b)});
	# the framework copies no symbolic links, and pg_rewind wants them
	$primary->backup('b', backup_options => ["--tablespace-mapping=$place{a}=$place{b}"]);
	my $link = 'pg_tblspc/' . $primary->safe_psql('postgres', q{SELECT oid FROM pg_tablespace WHERE spcname = 'fast'});
	unlink $primary->backup_dir . "/b/$link" or die "no link: $!";
	$standby = PostgreSQL::Test::Cluster->new("${name}_b");
	$standby->init_from_backup($primary, 'b', has_streaming => 1);
	symlink $place{b}, $standby->data_dir . "/$link" or die "cannot link: $!";
	$standby->start;
	return;
}

sub catch_up
{
	my ($from, $to) = @_;

	$from->safe_psql('postgres', "SELECT pg_logical_emit_message(true, '', '')");
	$from->wait_for_catchup($to->name, 'replay', $from->lsn('flush'));
	return;
}

# Begins a move, which stops somewhere.
sub start_stopped
{
	my ($call, $point) = @_;

	stop_at($primary, $point);
	$primary->safe_psql('postgres', $call) =~ /(\d+)/ or die 'no job';
	$job = $1;
	wait_for_stop($primary, $point);
	return;
}

my $move_index = q{CALL move_indexes_concurrently('t_c', 'fast', method => 'copy', wait => false)};
my $move_table = q{CALL move_table_concurrently('t', 'fast', with_indexes => true, wait => false)};

# The primary is gone, the standby takes over, the former primary follows.
sub fail_over
{
	my ($what, $interruptions) = (@_, 1);

	catch_up($primary, $standby);
	$primary->stop('immediate');
	$standby->promote;
	ok( $standby->poll_query_until('postgres',
			"SELECT state IN ('done', 'failed', 'cancelled') FROM tablespace_moves WHERE job_id = $job"),
		"$what: the move ends at the new primary, without a call");
	is( $standby->safe_psql('postgres',
			"SELECT state, coalesce(error, ''), interruptions FROM tablespace_moves WHERE job_id = $job"),
		"done||$interruptions", "$what: the move is done");
	# pg_rewind reads the timeline from the last checkpoint
	$standby->safe_psql('postgres', 'CHECKPOINT');
	command_ok([ 'pg_rewind', '--target-pgdata', $primary->data_dir, '--source-server',
			$standby->connstr('postgres') ], "$what: pg_rewind");
	# It has copied the new primary's configuration
	$primary->append_conf('postgresql.conf', sprintf(
			"port = %d\ntablespace_advisor.debug_stop_at = ''\nprimary_conninfo = '%s application_name=%s'",
			$primary->port, $standby->connstr, $primary->name));
	$primary->set_standby_mode;
	$primary->start;
	catch_up($standby, $primary);
	return;
}

# What is in the table, by the heap and by the index.
sub check_alike
{
	my ($what) = @_;
	my $query = q{
		SET enable_seqscan = %s; SET enable_indexscan = off; SET enable_bitmapscan = %s;
		SELECT count(*), sum(hashtextextended(x::text, 0)) FROM t x WHERE repeat(c, 4) >= ''};
	my $expected = $standby->safe_psql('postgres', sprintf($query, 'on', 'off'));

	for my $node ($standby, $primary)
	{
		my $name = "$what: " . ($node == $standby ? 'new' : 'former') . ' primary';

		is($node->safe_psql('postgres', sprintf($query, 'off', 'on')), $expected, "$name: by index");
		is($node->safe_psql('postgres', sprintf($query, 'on', 'off')), $expected, "$name: by table");
		is( $node->safe_psql('postgres',
				q{SELECT count(*) FROM (SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 't'::regclass) x}),
			'2', "$name: the indexes are well");
	}
	check_orphans($standby, $what);
	return;
}

for my $what ('index', 'table')
{
	start_pair($what);
	start_stopped($what eq 'index' ? $move_index : $move_table, 'marked');
	$primary->safe_psql('postgres', 'UPDATE t SET b = b + 1 WHERE a % 1000 = 1');
	fail_over("$what, in the first pass");
	check_alike("$what, in the first pass");
	$_->stop for $primary, $standby;
}

# Changes that were logged and not written when a checkpoint began: the primary has
# the older pages, and none of its later WAL names them, so pg_rewind keeps them.
# The standby has the later ones, which equal the original, and must not take them
# for copied all the same.
start_pair('logged');
start_stopped($move_index, 'copied');
$primary->safe_psql('postgres', 'UPDATE t SET b = b + 1 WHERE a % 50 = 1');
stop_at($primary, 'changes logged');
wait_for_stop($primary, 'changes logged');
$primary->safe_psql('postgres', 'CHECKPOINT');
fail_over('changes logged');
check_alike('changes logged');
$_->stop for $primary, $standby;

# The same, but a second worker makes a mark before the failover, since the index has
# grown: its mark is later than those changes, and says nothing of them.  With one
# worker before the failover no mark is.
start_pair('marked');
start_stopped($move_index, 'copied');
$primary->safe_psql('postgres', 'UPDATE t SET b = b + 1 WHERE a % 50 = 1');
stop_at($primary, 'changes logged');
wait_for_stop($primary, 'changes logged');
$primary->safe_psql('postgres', 'CHECKPOINT');
$primary->safe_psql('postgres', q{
	INSERT INTO t SELECT i, 0, 'z' || lpad(i::text, 31, '0') FROM generate_series(40001, 65000) i});
$primary->append_conf('postgresql.conf', "tablespace_advisor.debug_stop_at = 'marked'");
$primary->stop('immediate');
$primary->start;
wait_for_stop($primary, 'marked');
is( $primary->safe_psql('postgres', qq{
		SELECT cardinality(lsns) FROM tablespace_advisor.job_mark WHERE job_id = $job ORDER BY mark_id DESC LIMIT 1}),
	'4', 'marked again: the second worker has added a range');
fail_over('marked again', 2);
check_alike('marked again');
$_->stop for $primary, $standby;

# Blocks that were logged and not written when a checkpoint began: the standby has
# them, the primary has not.  What VACUUM cuts off the original before the move goes
# on, the standby has to lose from the copy, too, and of the maps what is behind the
# original's.  With an original as long as before they are logged again.
for my $point ('blocks logged', 'fsm copied')
{
	start_pair($point =~ s/ /_/gr);
	$primary->safe_psql('postgres', 'VACUUM t');
	start_stopped($move_table, $point);
	$primary->safe_psql('postgres', 'CHECKPOINT');
	catch_up($primary, $standby);
	$primary->append_conf('postgresql.conf',
		# autovacuum may have a snapshot, or the table, when VACUUM would cut; a
		# standby that returns meanwhile holds the deleted rows back
		"shared_preload_libraries = ''\nmax_worker_processes = 0\nautovacuum = off\nmax_wal_senders = 0\n"
			. "tablespace_advisor.debug_stop_at = ''");
	$primary->stop('immediate');
	$primary->start;
	$primary->safe_psql('postgres', 'DELETE FROM t; VACUUM t');
	is($primary->safe_psql('postgres', q{SELECT pg_relation_size('t')}), '0', "$point, cut off: all of the table");
	$primary->append_conf('postgresql.conf',
		"shared_preload_libraries = 'tablespace_advisor'\nmax_worker_processes = 16\nmax_wal_senders = 10");
	# without a checkpoint that would spare the next recovery those images
	$primary->stop('immediate');
	$primary->start;
	ok($primary->poll_query_until('postgres', "SELECT state = 'done' FROM tablespace_moves WHERE job_id = $job"),
		"$point, cut off: the move ends");
	$primary->safe_psql('postgres', 'INSERT INTO t VALUES (1, 1, 1)');
	catch_up($primary, $standby);
	for my $node ($primary, $standby)
	{
		is($node->safe_psql('postgres', q{SELECT count(*), pg_relation_size('t'), pg_relation_size('t', 'vm') FROM t}),
			'1|8192|0', "$point, cut off: nothing comes back");
	}
	$_->stop for $primary, $standby;
}

done_testing();
