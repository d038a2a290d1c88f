# Copyright (c) 2026, The tablespace_advisor developers

# Patroni with etcd and three nodes: the leader is killed in the middle of a move,
# and a switchover comes in the middle of another one.  What the new primary
# knows, what is left where, and that the old one is rewound.  Each node runs in a
# mount namespace, in which the tablespaces' directory is its own.

use Time::HiRes qw(time usleep);
use TsaTest;

my $base = PostgreSQL::Test::Utils::tempdir;
my $sockets = PostgreSQL::Test::Utils::tempdir_short;
my $storage = "$base/storage";
chomp(my $bin = `pg_config --bindir`);
my @names = qw(one two three);
my (%port, %api, %patroni, @started);

mkdir $storage;
$ENV{PATH} .= ':/usr/sbin';

# Whatever way the test ends: what it started.
sub end_all
{
	kill 'KILL', grep { defined } map { postmaster_pid($_) } @names;
	foreach my $program (splice @started) { eval { $program->{harness}->kill_kill } }
}
END { local $?; end_all() }

sub postmaster_pid
{
	my ($name) = @_;

	open my $file, '<', "$base/$name/data/postmaster.pid" or return;
	my $pid = <$file>;
	chomp $pid;
	return $pid;
}

# A statement on a node; what it returns, or undef where there is no answer.
sub query
{
	my ($name, $sql) = @_;
	my $asked = start_command("$bin/psql", '-XAtq', '-v', 'ON_ERROR_STOP=1', '-h', $sockets, '-p', $port{$name},
		'-d', 'postgres', '-U', 'postgres', map { ('-c', $_) } split /;\n/, $sql);

	return $asked->{harness}->finish ? $asked->{out} =~ s/\n\z//r : undef;
}

# Waits for something to be true; returns the seconds it took.
sub await
{
	my ($what, $condition, $seconds) = @_;
	my $began = time;

	until ($condition->())
	{
		die "$what: not within $seconds s" if time - $began > $seconds;
		usleep 200_000;
	}
	return time - $began;
}

sub leader
{
	return (grep { (query($_, 'SELECT pg_is_in_recovery()') // '') eq 'f' } @names)[0] // '';
}

sub streaming
{
	my ($n) = @_;
	my $leader = leader();

	return $leader && (query($leader, q{SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'}) // '') eq $n;
}

sub start_patroni
{
	my ($name) = @_;

	$patroni{$name} = start_logged("$base/$name/patroni.log",
		'unshare', '--mount', '--map-current-user', '--keep-caps', 'sh', '-c',
		'mount --bind "$0" "$1" && shift && exec "$@"', "$base/$name/storage", $storage,
		'patroni', "$base/$name/patroni.yml");
	push @started, $patroni{$name};
}

# Files of relations in the tablespace "fast" on a node, after a checkpoint.
sub files
{
	my ($name) = @_;

	return join ' ', sort map { s{.*/}{}r } grep { m{/[0-9]+(_[a-z]+)?(\.\d+)?$} && -f $_ && -s $_ }
	  glob("$base/$name/storage/fast/PG_*/*/*");
}

# --- the cluster -----------------------------------------------------------------------

my ($etcd_port, $peer_port) = map { PostgreSQL::Test::Cluster::get_free_port() } 1 .. 2;
push @started, start_logged("$base/etcd.log",
	'etcd', '--data-dir', "$base/etcd", '--listen-client-urls', "http://127.0.0.1:$etcd_port",
	'--advertise-client-urls', "http://127.0.0.1:$etcd_port", '--listen-peer-urls', "http://127.0.0.1:$peer_port",
	'--initial-advertise-peer-urls', "http://127.0.0.1:$peer_port", '--initial-cluster', "default=http://127.0.0.1:$peer_port",
	'--unsafe-no-fsync');
foreach my $name (@names)
{
	($port{$name}, $api{$name}) = map { PostgreSQL::Test::Cluster::get_free_port() } 1 .. 2;
	mkdir "$base/$name";
	mkdir "$base/$name/storage";
	mkdir "$base/$name/storage/$_" foreach qw(slow fast);
	append_to_file("$base/$name/patroni.yml", <<"YAML");
scope: fleet
name: $name
restapi: {listen: '127.0.0.1:$api{$name}', connect_address: '127.0.0.1:$api{$name}'}
etcd3: {host: '127.0.0.1:$etcd_port'}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 3
    maximum_lag_on_failover: 1073741824
    postgresql:
      use_pg_rewind: true
      parameters:
        wal_log_hints: 'on'
        wal_keep_size: 1GB
        max_worker_processes: 16
        shared_preload_libraries: tablespace_advisor
        tablespace_advisor.min_wal_space: 0
  initdb: [{encoding: UTF8}, {locale: C}, {auth: trust}, no-sync]
postgresql:
  listen: '127.0.0.1:$port{$name}'
  connect_address: '127.0.0.1:$port{$name}'
  data_dir: $base/$name/data
  bin_dir: $bin
  pgpass: $base/$name/pgpass
  authentication: {superuser: {username: postgres}, replication: {username: postgres}, rewind: {username: postgres}}
  parameters: {unix_socket_directories: '$sockets'}
  pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
YAML
}
my $began = time;
start_patroni('one');
await('a first leader', sub { leader() eq 'one' }, 120);
start_patroni($_) foreach qw(two three);
await('two standbys', sub { streaming(2) }, 180);
diag sprintf 'Patroni %s, %s, PostgreSQL %s: three nodes up after %.0f s',
  `patroni --version` =~ /([\d.]+)/, `etcd --version` =~ /(etcd Version: [\d.]+)/, query('one', 'SHOW server_version'), time - $began;

query('one', $_) // die $_
  foreach ("CREATE TABLESPACE slow LOCATION '$storage/slow'", "CREATE TABLESPACE fast LOCATION '$storage/fast'",
	q{CREATE EXTENSION tablespace_advisor;
	CREATE EXTENSION amcheck;
	CREATE TABLE orders (id int PRIMARY KEY, note text) TABLESPACE slow;
	INSERT INTO orders SELECT i, repeat(md5(i::text), 15) FROM generate_series(1, 60000) i;
	CREATE TABLE written (at timestamptz);
	CREATE TABLE other (id int) TABLESPACE fast;
	INSERT INTO other SELECT generate_series(1, 1000)});
my $sum = query('one', q{SELECT md5(string_agg(note, '' ORDER BY id)) FROM orders});

# Begins a slow move on the leader and waits until it is under way and the
# standbys have some of the copy.
sub begin_move
{
	my ($leader, $table) = @_;
	my ($job) = query($leader, "CALL move_table_concurrently('$table', 'fast', max_rate => '2 MB', wait => false)") =~ /(\d+)/;

	await('the move copies', sub {
			(query($leader, "SELECT bytes_done > 4000000 FROM tablespace_moves WHERE job_id = $job") // '') eq 't' }, 60);
	query($leader, 'INSERT INTO written VALUES (now())');
	return $job;
}

# What the new primary and in the end all nodes say of the move.
sub check_after
{
	my ($what, $old, $job) = @_;
	my $new = leader();

	is(query($new, q{SELECT md5(string_agg(note, '' ORDER BY id)) FROM orders}), $sum, "$what: the rows are there");
	query($new, "SELECT alter_move($job, max_rate => 'none')");
	await("$what: the move ends", sub {
			(query($new, "SELECT state FROM tablespace_moves WHERE job_id = $job") // '') =~ /done|failed/ }, 120);
	is(query($new, "SELECT state, interruptions FROM tablespace_moves WHERE job_id = $job"), 'done|1',
		"$what: the move goes on at the new primary, by itself");
	diag "$what: copied again: " . query($new, "SELECT pg_size_pretty(blocks_again * 8192) FROM tablespace_moves WHERE job_id = $job");
	is(query($new, q{SELECT t.spcname FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE relname = 'orders'}),
		'fast', "$what: and it is moved");
	my $rejoin = await("$what: $old rejoins", sub { streaming(2) }, 180);
	diag sprintf '%s: %s streams again %.0f s after that', $what, $old, $rejoin;
	query($new, 'CHECKPOINT');
	my $lsn = query($new, 'SELECT pg_current_wal_lsn()');
	foreach my $name (grep { $_ ne $new } @names)
	{
		await("$what: $name replays", sub { (query($name, "SELECT pg_last_wal_replay_lsn() >= '$lsn'") // '') eq 't' }, 60);
		query($name, 'CHECKPOINT');
		is(files($name), files($new), "$what: $name has the primary's files in the tablespace, and no others");
		is(query($name, q{SELECT md5(string_agg(note, '' ORDER BY id)) FROM orders}), $sum, "$what: and its rows");
	}
	is(query($new, q{SELECT bt_index_check('orders_pkey', true)}), '', "$what: the index agrees with the table (amcheck)");
	return $new;
}

# --- failover -------------------------------------------------------------------------------

my $old = leader();
my $job = begin_move($old, 'orders');
my $copied = query($old, "SELECT pg_size_pretty(bytes_done) FROM tablespace_moves WHERE job_id = $job");
my $pid = postmaster_pid($old);
my @children = split ' ', `ps -o pid= --ppid $pid`;
# first Patroni, which would start the server again
$patroni{$old}{harness}->signal('KILL');
kill 'KILL', split(' ', `ps -o pid= --ppid @{[ $patroni{$old}{harness}{KIDS}[0]{PID} ]}`), $pid, @children;
$began = time;
await('another leader', sub { my $l = leader(); $l && $l ne $old }, 120);
diag sprintf 'failover: leader and Patroni killed with %s of 36 MB copied; promoted after %.0f s', $copied, time - $began;
eval { $patroni{$old}{harness}->finish };
start_patroni($old);
my $new = check_after('failover', $old, $job);
like(slurp_file("$base/$old/patroni.log"), qr/running pg_rewind|pg_rewind/i, "failover: $old was rewound")
  or diag slurp_file("$base/$old/patroni.log");

# --- switchover ------------------------------------------------------------------------------

query($new, q{CALL move_table_concurrently('orders', 'slow', max_rate => 'unlimited')});
$job = begin_move($new, 'orders');
my ($target) = grep { $_ ne $new } @names;
$began = time;
my $switchover = start_command('patronictl', '-c', "$base/$new/patroni.yml", 'switchover',
	'--master', $new, '--candidate', $target, '--force');
$switchover->{harness}->finish;
await('the other leader', sub { leader() eq $target }, 60);
diag sprintf 'switchover in mid-move: %.1f s', time - $began;
check_after('switchover', $new, $job);

end_all();
foreach my $name (@names)
{
	unlike(join('', map { slurp_file($_) } grep { -f } glob("$base/$name/data/log/*")) . slurp_file("$base/$name/patroni.log"),
		qr/PANIC|terminated by signal (?:6|11)/, "$name: no crash of its own");
}
done_testing();
