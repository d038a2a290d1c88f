# Copyright (c) 2026, The tablespace_advisor developers

# Sessions beside that of the test: fed step by step, or with all they have to
# do; and what they are told.

package TsaTest::Session;

use strict;
use warnings;

use Exporter 'import';
use IO::Socket::UNIX;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(
  session send_to answer ask end_session messages_of fails_with
  wait_until wait_for_lock_of start_command start_logged start_sql finish_sql is_waiting
  told keep_open workers_end wait_for_sessions watch_while deaf_client);

# A psql of its own that is fed step by step: in, out, err, run, pid.
sub session
{
	my ($node, %args) = @_;
	my $dbname = $args{dbname} // 'postgres';
	my $s = { in => '', out => '', err => '' };

	$s->{run} = IPC::Run::start(
		[
			'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d',
			$node->connstr($dbname) . ($args{user} ? " user=$args{user}" : '')
		],
		'<', \$s->{in}, '>', \$s->{out}, '2>', \$s->{err},
		IPC::Run::timeout(3 * $PostgreSQL::Test::Utils::timeout_default));
	$s->{pid} = ask($s, 'SELECT pg_backend_pid();');
	return $s;
}

# Sends a command without waiting for it.
sub send_to
{
	my ($s, $sql) = @_;

	$s->{in} .= "$sql\n";
	$s->{run}->pump_nb;
	return;
}

# Waits until all that was sent is done; returns the output.
sub answer
{
	my ($s) = @_;

	send_to($s, '\echo @done');
	$s->{run}->pump until $s->{out} =~ /\@done\n/ || !$s->{run}->pumpable;
	(my $out = $s->{out}) =~ s/\@done\n//;
	$s->{out} = '';
	chomp $out;
	return $out;
}

sub ask
{
	my ($s, $sql) = @_;

	send_to($s, $sql);
	return answer($s);
}

sub end_session
{
	my ($s) = @_;

	send_to($s, '\q');
	eval { $s->{run}->finish };
	return;
}

# An SQL command by itself: the messages that it causes.
sub messages_of
{
	my ($node, $sql, %args) = @_;
	my $dbname = $args{dbname} // 'postgres';
	my ($out, $err);

	$node->psql($dbname, "\\set VERBOSITY verbose\n$sql",
		connstr => $node->connstr($dbname) . ($args{user} ? " user=$args{user}" : ''),
		stdout => \$out, stderr => \$err);
	return $err;
}

# It fails with this SQLSTATE and this message.
sub fails_with
{
	my ($node, $sql, $code, $message, $name) = @_;

	like(messages_of($node, $sql), qr/ERROR:  $code: $message/, $name);
	return;
}

# Asks a psql that goes on: what it answered, and what it complained of; nothing if
# it is gone, as when the server has crashed.
sub ask_again
{
	my ($s, $query) = @_;
	my $end = qr/\n?\@end\n\z/;

	@$s{qw(out err)} = ('', '');
	$s->{in} = ($query // '') . "\n;\n\\echo \@end\n\\warn \@end\n";
	eval {
		$s->{harness}->pump
		  until $s->{out} =~ $end && $s->{err} =~ $end || !$s->{harness}->pumpable;
	};
	return $s->{out} =~ s/$end// && $s->{err} =~ s/$end// ? @$s{qw(out err)} : ();
}

# Waits until a query returns what is expected, as the method of the framework that
# it replaces, which starts a psql for each look: those took most of the processor's
# time of tests that wait.  This one looks more often, by one psql.
sub poll_query_until
{
	my ($node, $dbname, $query, $expected) = @_;
	my ($s, $found, @answer);

	local %ENV = $node->_get_env();
	local $SIG{PIPE} = 'IGNORE';
	foreach my $try (1 .. 20 * $PostgreSQL::Test::Utils::timeout_default)
	{
		$s //= start_fed($node->installed_command('psql'), '-XAt', '-d', $node->connstr($dbname));
		@answer = ask_again($s, $query);
		$found = @answer && $answer[0] eq ($expected // 't') && $answer[1] eq '';
		last if $found;
		if (!@answer)
		{
			$s->{harness}->kill_kill;
			undef $s;
		}
		usleep($s ? 50_000 : 100_000);
	}
	if ($s)
	{
		$s->{in} = "\\q\n";
		eval { $s->{harness}->finish };
	}
	diag "waited in vain for this query:\n$query\nlast answer: @answer" unless $found;
	return $found;
}

BEGIN
{
	no warnings 'redefine';
	*PostgreSQL::Test::Cluster::poll_query_until = \&poll_query_until;
}

# Waits until a condition is true.
sub wait_until
{
	my ($node, $condition, $what) = @_;

	$node->poll_query_until('postgres', "SELECT ($condition)")
	  or die "waited in vain: $what";
	return;
}

# Waits until a process waits for a lock.
sub wait_for_lock_of
{
	my ($node, $pid) = @_;

	wait_until($node,
		"EXISTS (SELECT FROM pg_locks WHERE pid = $pid AND NOT granted)",
		"process $pid waits for a lock");
	return;
}

# Starts a command in the background: harness, out, err.
sub start_command
{
	my (@command) = @_;
	my %started = (out => '', err => '');

	$started{harness} = IPC::Run::start(\@command,
		'<', \undef, '>', \$started{out}, '2>', \$started{err});
	return \%started;
}

# Starts a command that is fed: harness, in, out, err.
sub start_fed
{
	my (@command) = @_;
	my %started = (in => '', out => '', err => '');

	$started{harness} = IPC::Run::start(\@command,
		'<', \$started{in}, '>', \$started{out}, '2>', \$started{err});
	return \%started;
}

# Starts a program that goes on, whose output is added to a file: harness, log.
sub start_logged
{
	my ($log, @command) = @_;

	return { log => $log,
		harness => IPC::Run::start(\@command, '<', \undef, '>>', $log, '2>&1') };
}

# Starts statements in a session of their own, which gives up after a while and
# stops at the first error.  Finish with finish_sql().
sub start_sql
{
	my ($node, $name, @sql) = @_;
	my $session = start_command('psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d',
		$node->connstr('postgres') . " application_name='$name' options='-c statement_timeout=${PostgreSQL::Test::Utils::timeout_default}s'",
		map { ('-c', $_) } @sql);

	@$session{qw(node name)} = ($node, $name);
	return $session;
}

# Waits for such a session; the messages of a failure.
sub finish_sql
{
	my ($session) = @_;

	$session->{harness}->finish;
	chomp(my $err = $session->{err});
	return $err;
}

# Waits until a session waits for a lock, or has ended (then false).
sub is_waiting
{
	my ($session) = @_;
	my $activity = "FROM pg_stat_activity WHERE application_name = '$session->{name}'";

	for (1 .. 1800)
	{
		return 1
		  if $session->{node}->safe_psql('postgres',
			"SELECT count(*) $activity AND wait_event_type = 'Lock'");
		$session->{harness}->pump_nb;
		return 0 unless $session->{harness}->pumpable;
		select undef, undef, undef, 0.1;
	}
	die "session $session->{name} neither waits nor ends";
}

# A statement of somebody's, who would give up after five seconds: what it says.
sub told
{
	my ($node, $sql, %args) = @_;
	my $dbname = $args{dbname} // 'postgres';
	my ($out, $err);

	$node->psql($dbname, "SET lock_timeout = '5s';\n$sql",
		connstr => $node->connstr($dbname) . ' user=' . ($args{user} // 'postgres'),
		stdout => \$out, stderr => \$err);
	return $err eq '' ? $out : $err;
}

# A transaction of mallory's that stays open.
sub keep_open
{
	my ($node, $sql, %args) = @_;
	my $s = session($node, user => 'mallory', %args);

	ask($s, "BEGIN; $sql");
	die $s->{err} if $s->{err} =~ /ERROR/;
	return $s;
}

# A client that sends a statement, with settings that have the server tell it much,
# and reads none of that unless the test does.
sub deaf_client
{
	my ($node, $user, $sql) = @_;
	my $socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port)
	  or die "cannot connect: $!";
	my $startup = join '', map { "$_\0" } user => $user, database => 'postgres',
	  options => join(' ', map { "-c $_" } qw(client_min_messages=debug5
		  debug_print_parse=on debug_print_rewritten=on debug_print_plan=on)), '';

	$socket->autoflush(1);
	print {$socket} pack('NN', length($startup) + 8, 196608), $startup,
	  'Q', pack('N', length($sql) + 5), "$sql\0";
	return $socket;
}

# Waits until nobody else is connected.  A session adds its last counts to the server's
# statistics when it ends, which its client does not wait for.
sub wait_for_sessions
{
	my ($node) = @_;

	wait_until($node, q{NOT EXISTS (SELECT FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())}, 'all sessions have ended');
	return;
}

# The answer of a query that watches for some seconds, the %s in it, while something is
# done.  If that has taken longer, both begin again, with twice the time.
sub watch_while
{
	my ($node, $query, $do) = @_;

	foreach my $try (1 .. 6)
	{
		my $s = session($node);
		my $watches = "SELECT count(*) FROM pg_stat_activity WHERE pid = $s->{pid} AND wait_event = 'PgSleep'";

		send_to($s, sprintf($query, 2**$try));
		$node->poll_query_until('postgres', $watches, 1) or die "does not watch: $query";
		$do->();
		my $still = $node->safe_psql('postgres', $watches);
		my $answer = answer($s);
		end_session($s);
		return $answer if $still;
	}
	die "ends too soon: $query";
}

# Expects the workers of moves to end.
sub workers_end
{
	my ($node, $name) = @_;

	ok($node->poll_query_until('postgres', q{
		SELECT count(*) = 0 FROM pg_stat_activity
		WHERE backend_type = 'tablespace_advisor move'}), $name);
	return;
}

1;
