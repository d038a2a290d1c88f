# Copyright (c) 2026, The tablespace_advisor developers

# What bench/soak.pl and bench/kill.pl share: chance, a table with a TOAST table
# and a mirror, and the end of a postmaster.

package SoakTest;

use Exporter 'import';
use Time::HiRes qw(sleep);
use TsaTest;

our @EXPORT = qw(chance one_of add_documents kill_postmaster kill_process);

sub chance { return rand() < $_[0]; }
sub one_of { return $_[ int(rand @_) ]; }

# Values for the TOAST table of t, a new one at each insert and at a part of the
# updates; and the mirror.
sub add_documents
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
		ALTER TABLE t ADD doc text, ADD note int NOT NULL DEFAULT 0;
		ALTER TABLE t ALTER doc SET STORAGE EXTERNAL;
		CREATE FUNCTION write_doc() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF TG_OP = 'INSERT' AND random() < 0.3 OR random() < 0.2 THEN
				NEW.doc := repeat(md5(random()::text), (random() * 200)::int);
				NEW.note := NEW.note + 1;
			END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER write_doc BEFORE INSERT OR UPDATE ON t
			FOR EACH ROW EXECUTE FUNCTION write_doc();
		UPDATE t SET note = note});
	create_mirror($node);
	return;
}

# Stops a process; false if it has ended.  One that is stopped does not end by
# itself before it is killed, and so the server restarts.
sub stop_process
{
	my ($pid) = @_;

	kill 'STOP', $pid or return 0;
	foreach my $try (1 .. 100 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my ($state) = (eval { slurp_file("/proc/$pid/stat") } // '') =~ /\) (\S)/;

		return 1 if ($state // 'X') eq 'T';
		return 0 if ($state // 'X') =~ /[ZX]/;
		sleep 0.01;
	}
	die "process $pid does not stop";
}

# Kills a process of the server, which restarts.  False if the process has ended,
# or there is none.
sub kill_process
{
	my ($node, $pid) = @_;
	my $checkpointer = checkpointer_pid($node);

	return 0 if $pid !~ /^\d+$/ || !stop_process($pid);
	kill 'KILL', $pid;
	wait_for_restart($node, $checkpointer);
	return 1;
}

# Kills the postmaster and starts the server again.  Its children go when they
# notice; until then there is no starting.
sub kill_postmaster
{
	my ($node) = @_;
	my @pids = split /\n/, $node->safe_psql('postgres',
		'SELECT pid FROM pg_stat_activity');

	$node->kill9;
	for (my $tries = 0; grep { kill 0, $_ } @pids; $tries++)
	{
		die 'the server does not end'
		  if $tries == 10 * $PostgreSQL::Test::Utils::timeout_default;
		sleep 0.1;
	}
	$node->start;
	return;
}

1;
