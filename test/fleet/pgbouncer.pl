# Copyright (c) 2026, The tablespace_advisor developers

# pgbouncer in transaction mode: calls that wait, with their notices, and that do
# not; Ctrl-C, a client that is killed, and a transaction block.

use TsaTest;

my $node = start_node('server', conf => qq(
shared_preload_libraries = 'tablespace_advisor'
max_wal_size = 1GB
tablespace_advisor.min_wal_space = 0
));
$node->safe_psql('postgres', q{
	CREATE TABLE orders (id int PRIMARY KEY, note text) TABLESPACE slow;
	INSERT INTO orders SELECT i, repeat(md5(i::text), 10) FROM generate_series(1, 100000) i});

my $directory = $node->basedir;
my $port = PostgreSQL::Test::Cluster::get_free_port();
append_to_file("$directory/pgbouncer.ini", qq(
[databases]
* = host=@{[ $node->host ]} port=@{[ $node->port ]} user=@{[ $node->safe_psql('postgres', 'SELECT current_user') ]}
[pgbouncer]
listen_addr =
unix_socket_dir = @{[ $node->host ]}
listen_port = $port
auth_type = any
pool_mode = transaction
default_pool_size = 5
logfile = $directory/pgbouncer.log
pidfile = $directory/pgbouncer.pid
));
$ENV{PATH} .= ':/usr/sbin';
chomp(my $version = `pgbouncer --version | head -n 1`);
diag "$version, " . $node->safe_psql('postgres', 'SELECT version()');
our $bouncer = start_logged("$directory/pgbouncer.out", 'pgbouncer', "$directory/pgbouncer.ini");

END { $bouncer->{harness}->kill_kill if $bouncer }

# Statements through the pool, in the background.
sub started
{
	my ($sql) = @_;

	return start_command('psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-h', $node->host, '-p', $port,
		'-d', 'postgres', map { ('-c', $_) } split /;\s*/, $sql);
}

# Returns what was printed and said.
sub through
{
	my $call = started(@_);

	$call->{harness}->finish;
	return @$call{qw(out err)};
}
foreach my $try (1 .. 100)
{
	last if (through('SELECT 1'))[0] eq "1\n";
	select undef, undef, undef, 0.1;
}

my $place = sub { return $node->safe_psql('postgres', q{
	SELECT string_agg(DISTINCT t.spcname, ' ') FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE c.relname = 'orders'}) };
my ($recipe) = recipes('fleets', 'pgbouncer');
my ($out, $err) = through($recipe);
like($out, qr/^\{\d+\}$/, 'the recipe waits and returns the job');
is($place->(), 'fast', 'the table has moved');
($out, $err) = through(q{CALL move_table_concurrently('orders', 'slow', max_rate => '10 MB')});
like($err, qr/NOTICE:.*moving public\.orders: /, 'a call that takes long tells how far it is');
through($recipe);
(my ($ids), $err) = through(q{CALL move_table_concurrently('orders', 'slow', wait => false)});
my ($job) = $ids =~ /(\d+)/;
is(wait_for_job($node, $job), 'done', 'a call that does not wait');
($out, $err) = through(q{BEGIN; CALL move_table_concurrently('orders', 'fast'); ROLLBACK});
like($err, qr/25001/, 'a transaction block is refused');

my $slow = q{CALL move_table_concurrently('orders', 'fast', max_rate => '1 MB')};
my $begun = q{(SELECT bytes_done > 0 FROM tablespace_moves WHERE state = 'running')};
my $call = started($slow);
wait_until($node, $begun, 'the move copies');
$call->{harness}->signal('INT');
eval { $call->{harness}->finish };
is($node->safe_psql('postgres', 'SELECT state FROM tablespace_moves ORDER BY job_id DESC LIMIT 1'), 'cancelled', 'Ctrl-C cancels');
is($place->(), 'slow', 'and the table is where it was');
$call = started($slow);
wait_until($node, $begun, 'the move copies');
$call->{harness}->kill_kill;
($job) = $node->safe_psql('postgres', 'SELECT max(job_id) FROM tablespace_moves');
$node->safe_psql('postgres', "SELECT alter_move($job, max_rate => 'none')");
is(wait_for_job($node, $job), 'done', 'a client that is killed does not end its move');
is($place->(), 'fast', 'which moves the table');
is($node->safe_psql('postgres', 'SELECT count(*) FROM orders'), '100000', 'the rows are there');
check_btree($node, 'orders_pkey', 'pgbouncer');
check_orphans($node, 'pgbouncer');
$bouncer->{harness}->signal('INT');
eval { $bouncer->{harness}->finish };
undef $bouncer;
$node->stop;
done_testing();
