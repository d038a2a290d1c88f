# Copyright (c) 2026, The tablespace_advisor developers

# Files that only the journal knows of: a crash in the middle of a move, and then
# something happens to the journal or to the files, before the extension's next
# call could remove them.

use TsaTest;

my $node = start_node('main', conf => "autovacuum = off\n");

# A database with a table and the means to look for orphans.
sub new_database
{
	my ($dbname, $owner) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $dbname TEMPLATE template0"
		. ($owner ? " OWNER $owner" : ''));
	$node->safe_psql($dbname, q{
		CREATE EXTENSION tablespace_advisor;
		CREATE TABLE t (a int PRIMARY KEY);
		INSERT INTO t SELECT generate_series(1, 20000)});
	return;
}

# Files in the directories of a database, but for those of relations.
sub orphans_of
{
	my ($dbname) = @_;
	my @found;

	$node->safe_psql('postgres', 'CHECKPOINT');
	my $names = $node->safe_psql($dbname, q{
		SELECT CASE coalesce(nullif(c.reltablespace, 0), d.dattablespace)
			WHEN 1663 THEN 'base/' || d.oid
			ELSE 'pg_tblspc/' || coalesce(nullif(c.reltablespace, 0), d.dattablespace) END
			|| ' ' || pg_relation_filenode(c.oid)
		FROM pg_class c, pg_database d
		WHERE d.datname = current_database() AND pg_relation_filenode(c.oid) IS NOT NULL});
	my %known = map { $_ => 1 } split /\n/, $names;
	my $oid = $node->safe_psql('postgres', "SELECT oid FROM pg_database WHERE datname = '$dbname'");
	my $data = $node->data_dir;

	foreach my $dir ("$data/base/$oid", glob("$data/pg_tblspc/*/PG_*/$oid"))
	{
		opendir(my $handle, $dir) or next;
		my ($place) = $dir =~ m{(base/\d+|pg_tblspc/\d+)};
		push @found, map { "$place/$_" }
		  grep { /^(\d+)/ && !$known{"$place $1"} } readdir $handle;
		closedir $handle;
	}
	return join ' ', sort @found;
}

sub no_orphans
{
	my ($dbname, $name) = @_;
	my $found;

	foreach my $try (1 .. 100)
	{
		$found = orphans_of($dbname);
		last if $found eq '';
		select undef, undef, undef, 0.1;
	}
	is($found, '', "$name: no orphaned file");
	return;
}

# A move that a crash interrupts when its copy is there.
sub interrupted_move
{
	my ($dbname, $target, $tablespace) = @_;

	stop_at($node, 'copied');
	$node->safe_psql($dbname,
		"CALL move_indexes_concurrently('$target', '$tablespace', wait => false)");
	wait_for_stop($node, 'copied');
	crash($node);
	release($node);
	isnt(orphans_of($dbname), '', "$dbname: a crash leaves a file");
	return;
}

# --- the extension is dropped ------------------------------------------------------

# Nobody would know of the copy after that.
$node->safe_psql('postgres', 'CREATE ROLE dropper SUPERUSER LOGIN');
my %drop = (
	extension => 'DROP EXTENSION tablespace_advisor',
	cascade => 'DROP EXTENSION plpgsql CASCADE',
	schema => 'DROP SCHEMA public CASCADE',
	owned => 'DROP OWNED BY dropper CASCADE');
foreach my $how (sort keys %drop)
{
	new_database("dropped_$how");
	$node->safe_psql("dropped_$how", q{
		DROP EXTENSION tablespace_advisor;
		SET SESSION AUTHORIZATION dropper;
		CREATE EXTENSION tablespace_advisor}) if $how eq 'owned';
	interrupted_move("dropped_$how", 't', 'fast');
	my ($rc, undef, $err) = $node->psql("dropped_$how", $drop{$how});
	is($rc, 0, "$drop{$how} works") or diag $err;
	like($err, qr/WARNING:  a move that has not ended is dropped.*DETAIL:  Job 1: public\.t_pkey to tablespace fast/s,
		"$drop{$how} warns of the move that is lost");
	no_orphans("dropped_$how", $drop{$how});
}

# A move whose worker has not begun has no files, and nobody who waits for it.
new_database('queued');
$node->safe_psql('queued', q{CALL move_indexes_concurrently('t', 'fast')});
my (undef, undef, $lost) = $node->psql('queued', q{
	BEGIN;
	SELECT undo_move(1);
	DROP EXTENSION tablespace_advisor;
	COMMIT});
like($lost, qr/WARNING: .*dropped with extension.*Job 2: public\.t_pkey to tablespace pg_default/s,
	'DROP EXTENSION warns of a move that is queued');
(my $rc, undef, $lost) = $node->psql('queued', 'CREATE EXTENSION tablespace_advisor; DROP EXTENSION tablespace_advisor');
is($lost, '', 'DROP EXTENSION says nothing where nothing is lost');
# A superuser does without the trigger where the journal cannot be read.
($rc, undef, $lost) = $node->psql('queued', q{
	CREATE EXTENSION tablespace_advisor;
	ALTER TABLE tablespace_advisor.job RENAME sqlstate TO other;
	ALTER EVENT TRIGGER tablespace_advisor DISABLE;
	DROP EXTENSION tablespace_advisor});
is($rc, 0, 'without the trigger DROP EXTENSION does not read the journal') or diag $lost;

# While a worker lives, the files are its own.
new_database('busy');
stop_at($node, 'copied');
$node->safe_psql('busy', q{CALL move_indexes_concurrently('t', 'fast', wait => false)});
wait_for_stop($node, 'copied');
foreach my $sql (
	'DROP EXTENSION tablespace_advisor',
	'DROP SCHEMA tablespace_advisor, public CASCADE',
	'ALTER EXTENSION plpgsql DROP LANGUAGE plpgsql; DROP LANGUAGE plpgsql CASCADE',
	'DROP EXTENSION plpgsql CASCADE')
{
	my (undef, undef, $err) = $node->psql('busy', "\\set VERBOSITY verbose\n$sql");
	like($err, qr/ERROR:  55006: cannot drop extension.*HINT:  Wait for the move/s,
		"$sql is refused while a move has a copy");
}
($rc, undef, my $why) = $node->psql('busy', 'CREATE SCHEMA other; DROP SCHEMA other; DROP OWNED BY dropper;'
	. 'CREATE EXTENSION pgstattuple; DROP EXTENSION pgstattuple CASCADE');
is($rc, 0, 'other commands of the kind are not') or diag $why;
release($node);
$node->safe_psql('busy', q{SELECT cancel_move(1)});
$node->poll_query_until('busy', q{SELECT finished_at IS NOT NULL FROM tablespace_moves})
  or die 'the move does not end';
wait_for_workers($node);
$node->safe_psql('busy', 'DROP EXTENSION tablespace_advisor');
no_orphans('busy', 'dropped after the move');

# --- the database's own tablespace is another one -------------------------------------

# The copy is in the database's own tablespace, and moves along with it; or is
# copied with the rest of a template's files.
new_database('mobile');
$node->safe_psql('mobile', 'ALTER INDEX t_pkey SET TABLESPACE slow');
interrupted_move('mobile', 't', 'pg_default');
$node->safe_psql('postgres', q{CREATE DATABASE twin TEMPLATE mobile STRATEGY file_copy});
isnt(orphans_of('twin'), '', 'CREATE DATABASE copies the file');
is($node->safe_psql('twin', q{SELECT count(*) FROM tablespace_moves}), '0', 'the copied journal has no job of the new database');
$node->safe_psql('twin', q{CALL move_indexes_concurrently('t', 'fast')});
no_orphans('twin', 'a copied database');

$node->safe_psql('postgres', 'ALTER DATABASE mobile SET TABLESPACE fast');
isnt(orphans_of('mobile'), '', 'ALTER DATABASE takes the file along');
is($node->safe_psql('mobile', 'SELECT cancel_move(1)'), 'f', 'the job is recovered there');
no_orphans('mobile', 'a database in another tablespace');

# --- another server with the same files -------------------------------------------------

# As pg_createsubscriber leaves it: the job's server is another one.  The file is
# not removed, since it could be one that somebody is just making, but the worker
# that looks after interrupted moves names it in the log.
new_database('stranger');
interrupted_move('stranger', 't', 'fast');
$node->safe_psql('stranger', 'UPDATE tablespace_advisor.job SET system_identifier = 1');
my $left = orphans_of('stranger');
my $offset = -s $node->logfile;
$node->psql('stranger', 'SELECT cancel_move(1)');
my ($number) = $left =~ m{/(\d+)$};
like(slurp_file($node->logfile, $offset),
	qr/WARNING: .*no relation owns file ".*\/$number", which a move on another server has left/,
	'a file of another server is named in the log');

$node->stop;
check_log($node, 'all', qr/cannot drop extension|job 1 does not exist|canceling statement|terminating|not installed in this database/);
done_testing();
