# Copyright (c) 2026, The tablespace_advisor developers

# A server for the tests: its settings, its crashes, and what its log says.

package TsaTest::Server;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest::Judge;

# What clients and initdb would take from whoever runs the tests; the tests'
# framework leaves it.
BEGIN
{
	delete @ENV{qw(PGOPTIONS PGTZ PGDATESTYLE PGCLIENTENCODING PGGEQO)};
	delete @ENV{ grep { /^LC_/ && $_ ne 'LC_MESSAGES' } keys %ENV };
	$ENV{LANG} = 'C';
}

# Where the environment names a cluster that initdb has made, as ./check does, it is
# copied; from 17 on the tests' framework does so itself.
BEGIN
{
	no warnings 'redefine';
	my $run = \&PostgreSQL::Test::Utils::system_or_bail;

	*PostgreSQL::Test::Utils::system_or_bail = sub {
		my @command = @_;

		@command = ('cp', '-RPp', $ENV{INITDB_TEMPLATE}, $command[2])
		  if $ENV{INITDB_TEMPLATE} && "@command[0, 1, 3 .. $#command]" eq 'initdb -D -A trust -N';
		return $run->(@command);
	};
}

our @EXPORT = qw(
  new_node prepare_node start_node start_plain start_standby make_users configure with_small_file_system start_by
  crash checkpointer_pid wait_for_restart
  check_log check_no_crash check_checksums);

# A server, not started, with settings that make trouble likely: small
# buffers, vacuum all the time.  conf: more of them; init: arguments of init();
# checksums: with data checksums.
# An interrupted move fails, unless a test says otherwise: most look at what it leaves.
sub new_node
{
	my ($name, %args) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	my %init = %{ $args{init} // {} };

	$init{extra} = [ '--data-checksums', @{ $init{extra} // [] } ]
	  if $args{checksums};
	$node->init(%init);
	$node->append_conf('postgresql.conf', qq(
allow_in_place_tablespaces = on
shared_buffers = 8MB
max_connections = 100
max_worker_processes = 16
max_prepared_transactions = 5
autovacuum_naptime = 1s
autovacuum_vacuum_threshold = 100
autovacuum_vacuum_scale_factor = 0
autovacuum_vacuum_insert_threshold = 100
autovacuum_vacuum_insert_scale_factor = 0
autovacuum_vacuum_cost_delay = 0
restart_after_crash = on
max_wal_size = 256MB
log_autovacuum_min_duration = -1
log_statement = none
tablespace_advisor.keep_interrupted = 0
jit = off
));
	$node->append_conf('postgresql.conf', $args{conf}) if $args{conf};
	return $node;
}

# The tablespaces "slow" and "fast", the extension, and the judges.
sub prepare_node
{
	my ($node, %args) = @_;

	$node->safe_psql('postgres', q{
		SET allow_in_place_tablespaces = on;
		CREATE TABLESPACE slow LOCATION '';
		CREATE TABLESPACE fast LOCATION '';
	}) unless $args{no_tablespaces};
	$node->safe_psql('postgres', 'CREATE EXTENSION tablespace_advisor');
	create_judges($node);
	return;
}

# A server with the settings of new_node(), started and prepared.
sub start_node
{
	my ($name, %args) = @_;
	my $node = new_node($name, %args);

	$node->start;
	prepare_node($node, %args);
	return $node;
}

# A server with these settings alone, started, with the extension.
sub start_plain
{
	my ($name, %args) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(%{ $args{init} // {} });
	$node->append_conf('postgresql.conf',
		"allow_in_place_tablespaces = on\n" . ($args{conf} // ''));
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION tablespace_advisor');
	return $node;
}

# A streaming standby of a server, started.
sub start_standby
{
	my ($primary) = @_;
	my $node = PostgreSQL::Test::Cluster->new('standby');

	$primary->backup('standby');
	$node->init_from_backup($primary, 'standby', has_streaming => 1);
	$node->start;
	return $node;
}

# The roles mallory and alice, who log in and make tables of their own anywhere.
sub make_users
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
		CREATE ROLE mallory LOGIN;
		CREATE ROLE alice LOGIN;
		GRANT CREATE ON SCHEMA public TO mallory, alice;
		GRANT CREATE ON TABLESPACE slow, fast TO mallory, alice});
	return;
}

# Sets a parameter, without quotes, and waits until the server has it.
sub configure
{
	my ($node, $name, $value) = @_;

	$node->append_conf('postgresql.conf', "$name = '$value'");
	$node->reload;
	$node->poll_query_until('postgres',
		"SELECT current_setting('$name', true) = '$value'")
	  or die "$name is not $value";
	return;
}

# The command that runs another one where a file system of so many MB is mounted
# on a directory, for nobody else to see; none where that cannot be done.
sub with_small_file_system
{
	my ($directory, $megabytes) = @_;
	my @command = (
		'unshare', '--mount', '--map-current-user', '--keep-caps', 'sh', '-c',
		"mount -t tmpfs -o size=${megabytes}M,mode=0700 tmpfs \"\$0\" && exec \"\$@\"",
		$directory);

	return system(@command, 'true') == 0 ? @command : ();
}

# Starts a server by such a command.
sub start_by
{
	my ($node, @command) = @_;

	system_or_bail(@command, 'pg_ctl', '-s', '-w', '-D', $node->data_dir,
		'-l', $node->logfile, '-o', '--cluster-name=' . $node->name, 'start');
	$node->_update_pid(1);
	return;
}

# Ends the server hard and starts it again: by an immediate shutdown, or by
# killing one of its processes.
sub crash
{
	my ($node, $pid) = @_;

	if (!$pid)
	{
		$node->stop('immediate');
		$node->start;
		return;
	}
	my $started = $node->safe_psql('postgres',
		"SELECT count(*) FROM pg_stat_activity WHERE pid = $pid");
	die "process $pid is not one of the server's" if $started ne '1';
	my $checkpointer = checkpointer_pid($node);
	kill 'KILL', $pid;
	wait_for_restart($node, $checkpointer);
	return;
}

sub checkpointer_pid
{
	my ($node) = @_;

	return $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
}

# Waits until a server that crashes has another checkpointer than this one.
sub wait_for_restart
{
	my ($node, $checkpointer) = @_;

	$node->poll_query_until('postgres', qq{
		SELECT pid <> $checkpointer FROM pg_stat_activity
		WHERE backend_type = 'checkpointer'})
	  or die 'the server does not come back';
}

# Nothing in the server's log that tells of a crash, or of an error but the
# expected.  of: only in lines that match, for a log whose lines name the process.
sub check_log
{
	my ($node, $name, $expected, %args) = @_;

	# amcheck, which locks the table for longer than deadlock_timeout when the
	# machine is slow, makes autovacuum give way; a fast shutdown may meet an
	# autovacuum, or the backend of a psql that has just ended, and ends the
	# launcher's workers
	my $harmless = qr/connection to client lost|canceling autovacuum task|terminating (?:connection|autovacuum process|background worker "tablespace_advisor \w+") due to administrator command/;
	my @errors = grep { /(ERROR|FATAL|PANIC|TRAP):/ && !/$harmless/ }
	  split /\n/, slurp_file($node->logfile);

	@errors = grep { !/$expected/ } @errors if $expected;
	@errors = grep { /$args{of}/ } @errors if $args{of};
	is(join("\n", @errors), '', "$name: no error in the server's log");
	return;
}

# No crash of the server but those that were asked for.
sub check_no_crash
{
	my ($node, $name) = @_;

	unlike(slurp_file($node->logfile),
		qr/PANIC|TRAP:|signal (?:6|11)\b|inconsistent page/,
		"$name: no crash in the server's log");
	return;
}

# Stops the server and has its data files checked.
sub check_checksums
{
	my ($node, $name) = @_;

	$node->stop;
	command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ],
		"$name: all checksums are right");
	return;
}

1;
