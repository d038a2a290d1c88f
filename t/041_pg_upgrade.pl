# Copyright (c) 2026, The tablespace_advisor developers

# pg_upgrade of a cluster with the extension in use, from each older version of
# PostgreSQL on this machine and through all of them: TSA_OLD_BINDIR names the
# folders of their programs, and the extension has to be installed there.  Both
# servers preload it, and a copy is interrupted in the old one: pg_upgrade runs
# that server, too, and earlier tests preloaded nothing.

use File::Basename;
use TsaTest;

# servers of several versions, each with an identifier of its own
delete $ENV{INITDB_TEMPLATE};

my @versions = old_bindirs();
my $newest = pop @versions;
plan skip_all => 'no older PostgreSQL with the extension: TSA_OLD_BINDIR names none'
  unless @versions;

# An empty cluster of a version.
sub new_cluster
{
	my ($name, $version, $bindir) = @_;
	my $node = PostgreSQL::Test::Cluster->new("${name}_$version",
		install_path => dirname($bindir));

	# checksums are on by default since 18
	$node->init(extra => [
		'--encoding', 'UTF8', '--locale', 'C',
		$version >= 18 ? '--no-data-checksums' : () ]);
	$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'tablespace_advisor'
autovacuum = off
tablespace_advisor.debug_mark_kb = 256});
	return $node;
}

# Leaves a copy in the middle, with a mark; returns its job.
sub interrupt_move
{
	my ($node) = @_;

	$node->safe_psql('travel', q{
		CREATE TABLE half (a int, b text);
		INSERT INTO half SELECT n, repeat('x', 500) FROM generate_series(1, 10000) n});
	$node->append_conf('postgresql.conf', "tablespace_advisor.debug_stop_at = 'marked'");
	$node->reload;
	$node->safe_psql('travel',
		q{CALL "Tool Box".move_table_concurrently('half', 'travelling', wait => false)}) =~ /(\d+)/
	  or die 'no job';
	my $job = $1;
	wait_for_stop($node, 'marked');
	# the commit of the mark is not waited for
	$node->safe_psql('travel', "SELECT pg_logical_emit_message(true, '', '')");
	return $job;
}

# What the journal has of a job, and how large its copy is.
sub look_at_job
{
	my ($node, $job) = @_;
	my $major = $node->pg_version->major;
	my ($path, $row) = split / /, $node->safe_psql('travel', qq{
		SELECT format('pg_tblspc/%s/PG_${major}_*/%s/%s ', new_tablespaces[1], database, new_filenumbers[1])
			|| concat_ws('|', state, worker_pid, interruptions, new_filenumbers,
				(SELECT sum(bytes_done) FROM tablespace_advisor.job_mark m WHERE m.job_id = j.job_id))
		FROM tablespace_advisor.job j WHERE job_id = $job});

	return join '|', $row, map { -s } glob($node->data_dir . "/$path");
}

# Upgrades one stopped cluster into another.
sub upgrade
{
	my ($old, $old_bindir, $new, $bindir, $name) = @_;

	chdir $PostgreSQL::Test::Utils::tmp_check;
	my $upgraded = run_log([
		"$bindir/pg_upgrade", '--no-sync',
		'-b', $old_bindir, '-B', $bindir,
		'-d', $old->data_dir, '-D', $new->data_dir,
		'-s', $new->host, '-p', $old->port, '-P', $new->port ]);
	ok($upgraded, "$name: pg_upgrade");
	return if $upgraded;

	# what the server said is in the last of its logs
	diag(join '', grep { defined } (split /^/, slurp_file($_))[ -15 .. -1 ])
	  foreach glob($new->data_dir . '/pg_upgrade_output.d/*/log/pg_upgrade_dump_*.log');
	done_testing();
	exit 1;
}

foreach my $path ((map { [ $_, $newest ] } @versions), @versions > 1 ? [ @versions, $newest ] : ())
{
	my ($first, @later) = @$path;
	my $name = join ' to ', map { $_->[0] } @$path;
	my $label = 'via_' . join '_', map { $_->[0] } @$path;
	my $node = new_cluster($label, @$first);
	my $bindir = $first->[1];

	$node->start;
	is($node->safe_psql('postgres', 'SHOW server_version_num') =~ s/\d{4}$//r,
		$first->[0], "$name: the first server");
	make_traveller($node, 'travel', PostgreSQL::Test::Utils::tempdir_short());
	my $before = look_at_traveller($node, 'travel');
	my ($old, $job) = ($node, interrupt_move($node));
	my $interrupted = look_at_job($node, $job);

	like($interrupted, qr/^running\|\d+\|0\|\{\d+.*\}\|[1-9]\d+\|[1-9]\d+$/,
		"$name: a move is under way");
	$node->append_conf('postgresql.conf', "tablespace_advisor.debug_stop_at = ''");
	foreach my $step (@later)
	{
		my $next = new_cluster($label, @$step);

		remove_marks($node, 'travel');
		$node->stop;
		upgrade($node, $bindir, $next, $step->[1], "$name: $step->[0]");
		($node, $bindir) = ($next, $step->[1]);
		$node->start;
		is(look_at_traveller($node, 'travel'), $before,
			"$name: probe history and settings are in $step->[0]");
	}

	$old->append_conf('postgresql.conf', "shared_preload_libraries = ''");
	$old->start;
	is(look_at_job($old, $job), $interrupted, "$name: pg_upgrade's servers leave the move alone");
	$old->stop;

	$node->poll_query_until('travel', 'SELECT count(*) = 0 FROM tablespace_advisor.job')
	  or die 'the launcher does not forget the jobs';
	is( $node->safe_psql('travel', q{SELECT count(*) FROM "Tool Box".tablespace_moves UNION ALL
			SELECT count(*) FROM tablespace_advisor.job_mark}),
		"0\n0", "$name: the journal is not carried over");
	is( $node->safe_psql('travel', q{SELECT reltablespace, (SELECT sum(length(b)) FROM half) FROM pg_class
			WHERE relname = 'half'}),
		'0|5000000', "$name: the move that was interrupted is not gone on with");
	is(move_traveller($node, 'travel'), "done|0\n0", "$name: what was being moved can be moved");
	is($node->safe_psql('travel', q{
			SELECT count(*) FROM moved WHERE id BETWEEN 1 AND 1000}),
		'1000', "$name: the index finds every row");
	$node->safe_psql('travel', q{CALL "Tool Box".move_table_concurrently('half', 'travelling')});
	is( $node->safe_psql('travel', q{
			SELECT reltablespace > 0, (SELECT sum(length(b)) FROM half) FROM pg_class WHERE relname = 'half'}),
		't|5000000', "$name: the table can be moved");
	$node->stop;
	unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|terminated by signal (?:6|11)/,
		"$name: no crash");
}
done_testing();
