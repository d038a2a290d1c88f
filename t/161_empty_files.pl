# Copyright (c) 2026, The tablespace_advisor developers

# Empty files that the next checkpoint removes are not called left by a crash, on each
# kind of file system: where a file was empty before it was dropped, XFS, Btrfs and tmpfs
# leave its time as it was.  What a crash has left is only to be removed by hand after a
# checkpoint.
#
# Earlier tests ran on one file system, ext4, and with files too young to be told.
#
# The environment's TSA_FILE_SYSTEMS has directories of other file systems, which
# ./check makes as root: "xfs=/DIRECTORY btrfs=/DIRECTORY ...".

use TsaTest;

my %directories = map { split /=/, $_, 2 } split / /, $ENV{TSA_FILE_SYSTEMS} // '';

$directories{'the data directory'} = '';
my $node = start_node('main', no_tablespaces => 1, conf => q{
autovacuum = off
checkpoint_timeout = 1h
max_wal_size = 1GB
tablespace_advisor.min_wal_space = 0
});
$node->safe_psql('postgres', q{CREATE TABLESPACE home LOCATION ''});

sub look
{
	return $node->safe_psql('postgres', q{
		SELECT concat_ws(' ', kind, how, statement, reason) FROM tablespace_contents('old')});
}

# The files of the tablespace were written an hour ago, and there was a checkpoint since.
sub age_files
{
	my $directory = $node->data_dir . '/' . $node->safe_psql('postgres', q{
		SELECT tablespace_advisor.tablespace_directory(t.oid) || '/' || d.oid
		FROM pg_tablespace t, pg_database d WHERE t.spcname = 'old' AND d.datname = 'postgres'});

	$node->safe_psql('postgres', 'CHECKPOINT');
	utime time - 3600, time - 3600, glob("$directory/*");
	return $directory;
}

sub check_file_system
{
	my ($name, $directory) = @_;

	$node->safe_psql('postgres', "CREATE TABLESPACE old LOCATION '$directory'");
	$node->safe_psql('postgres', qq{
		CREATE TABLE empty_$_ (a text) TABLESPACE old;
		CREATE UNLOGGED TABLE unlogged_$_ (a text) TABLESPACE old;
		CREATE TABLE full_$_ (a text) TABLESPACE old;
		INSERT INTO full_$_ VALUES ('x')}) foreach 1 .. 3;

	# moved, by each method
	age_files();
	my ($rc, undef, $err) = $node->psql('postgres',
		q{CALL evacuate_tablespace('old', 'home', lock_up_to => '1 GB')});
	like($err, qr/tablespace "old" is empty\n.*HINT:  DROP TABLESPACE old;/,
		"$name: after an evacuation no empty file is in the way");
	is(look(), '', "$name: nothing is left");
	drop_tablespace($node, 'old', $name);
	$node->safe_psql('postgres', "DROP TABLE empty_$_, unlogged_$_, full_$_") foreach 1 .. 3;

	# dropped by the server
	$node->safe_psql('postgres', "CREATE TABLESPACE old LOCATION '$directory'");
	$node->safe_psql('postgres', 'CREATE TABLE dropped (a text) TABLESPACE old');
	age_files();
	$node->safe_psql('postgres', 'DROP TABLE dropped');
	my @rows = split /\n/, look();
	is(scalar(grep { !/^file temporary CHECKPOINT; .*If it is still there after CHECKPOINT, a crash left it/ } @rows), 0,
		"$name: of an empty file that was dropped a checkpoint decides") or diag "@rows";
	note "$name: " . @rows . ' of 2 dropped files are listed before the checkpoint';
	$node->safe_psql('postgres', 'CHECKPOINT');
	is(look(), '', "$name: a checkpoint removes it");

	# left by a crash
	$node->safe_psql('postgres', 'CREATE TABLE there (a text) TABLESPACE old');
	my $left = age_files() . '/99999';
	append_to_file($left, '');
	age_files();
	like(look(), qr/^file temporary CHECKPOINT; .*If it is still there after CHECKPOINT, a crash left it: remove it by hand/m,
		"$name: an empty file that a crash has left is listed");
	unlink $left;
	append_to_file($left, 'x');
	age_files();
	like(look(), qr/^file orphan .*it was left by a crash/m, "$name: one that is not empty is an orphan");
	unlink $left;
	$node->safe_psql('postgres', 'DROP TABLE there');
	drop_tablespace($node, 'old', $name);
	return;
}

check_file_system($_, $directories{$_}) foreach sort keys %directories;
foreach my $name (qw(btrfs ext4 tmpfs xfs))
{
	next if $directories{$name};
	SKIP: { skip "no directory in $name: TSA_FILE_SYSTEMS does not name one (./check makes it as root)", 1 }
}
$node->stop;
check_log($node, 'all');
done_testing();
