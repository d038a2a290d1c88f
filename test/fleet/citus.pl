# Copyright (c) 2026, The tablespace_advisor developers

# Citus: a coordinator and two workers.  Shards are known for what they are, by
# workers too; they move, under load through the coordinator and while the
# cluster rebalances, and nothing is lost.

use Time::HiRes qw(time);
use TsaTest;

my @nodes;
foreach my $name (qw(coordinator worker1 worker2))
{
	my $node = new_node($name, conf => qq(
shared_preload_libraries = 'citus,tablespace_advisor'
shared_buffers = 8MB
wal_level = logical
max_connections = 100
max_wal_senders = 20
max_replication_slots = 20
max_prepared_transactions = 100
max_worker_processes = 40
max_wal_size = 2GB
track_io_timing = on
tablespace_advisor.sample_interval = 15s
tablespace_advisor.min_wal_space = 0
));
	$node->append_conf('postgresql.conf', q(listen_addresses = '127.0.0.1'));
	$node->start;
	$node->safe_psql('postgres', q{
		CREATE TABLESPACE slow LOCATION '';
		CREATE TABLESPACE fast LOCATION '';
		CREATE TABLESPACE third LOCATION '';
		CREATE DATABASE shop});
	$node->safe_psql('shop', q{
		ALTER DATABASE shop SET search_path = public, advisor;
		ALTER DATABASE shop SET default_tablespace = 'slow'});
	$node->safe_psql('shop', 'CREATE EXTENSION citus');
	push @nodes, $node;
}
my ($coordinator, @workers) = @nodes;

sub coordinate
{
	return $coordinator->safe_psql('shop', $_[0], timeout => 300);
}
# Shards and what a client does not see of them.
sub on_worker
{
	my ($worker, $sql) = @_;

	return $worker->safe_psql('shop', "SET citus.override_table_visibility = off;\n$sql", timeout => 300);
}

coordinate("SELECT citus_set_coordinator_host('127.0.0.1', " . $coordinator->port . ')');
coordinate("SELECT citus_add_node('127.0.0.1', " . $_->port . ')') foreach @workers;
coordinate('CREATE SCHEMA advisor');
coordinate('CREATE EXTENSION tablespace_advisor SCHEMA advisor');
diag coordinate('SELECT citus_version()') . ', ' . coordinate('SELECT version()');
is(coordinate(q{
		SELECT string_agg(result, ' ') FROM run_command_on_all_nodes(
			'SELECT extversion FROM pg_extension WHERE extname = ''tablespace_advisor''')}),
	join(' ', (coordinate(q{SELECT extversion FROM pg_extension WHERE extname = 'tablespace_advisor'})) x 3),
	'CREATE EXTENSION reaches all nodes');

coordinate(q{
	SET citus.shard_count = 8;
	CREATE TABLE orders (customer int, id int, filler text, val int, PRIMARY KEY (customer, id));
	CREATE TABLE lines (customer int, id int, n int, product int, filler text, PRIMARY KEY (customer, id, n),
		FOREIGN KEY (customer, id) REFERENCES orders);
	CREATE TABLE products (id int PRIMARY KEY, name text);
	SELECT create_distributed_table('orders', 'customer');
	SELECT create_distributed_table('lines', 'customer', colocate_with => 'orders');
	SELECT create_reference_table('products');
	ALTER TABLE lines ADD FOREIGN KEY (product) REFERENCES products (id);
	CREATE INDEX orders_val ON orders (val);
	CREATE INDEX lines_product ON lines (product);
	INSERT INTO products SELECT i, 'p' || i FROM generate_series(1, 1000) i;
	INSERT INTO orders SELECT i % 1000, i, repeat(md5(i::text), 6), (i::bigint * 7919 % 100003)::int FROM generate_series(1, 100000) i;
	INSERT INTO lines SELECT i % 1000, i, n, 1 + i % 1000, repeat(md5(i::text), 3) FROM generate_series(1, 100000) i, generate_series(1, 2) n});
coordinate('VACUUM ANALYZE orders');
coordinate('VACUUM ANALYZE lines');
my $constant = q{SELECT count(*), sum(id::bigint), md5(string_agg(md5(customer || '.' || id), '' ORDER BY customer, id)) FROM orders};
my $lines = q{SELECT count(*), sum(id::bigint * n), sum(product) FROM lines};
my $sums = coordinate($constant) . coordinate($lines);

# --- a worker knows its shards ---------------------------------------------------

my $worker = $workers[0];
my $shards = on_worker($worker, q{SELECT count(*) FROM pg_class WHERE relname ~ '^(orders|lines|products)_1\d+$' AND relkind = 'r'});
my ($shard) = split /\n/, on_worker($worker, q{SELECT relname FROM pg_class WHERE relname ~ '^orders_1\d+$' ORDER BY 1});
is($worker->safe_psql('shop', q{SELECT count(*) FROM pg_class WHERE relname ~ '^orders_1\d+$'}), '0',
	'clients do not see shards');
my $kinds = sub { return $worker->safe_psql('shop', q{CHECKPOINT; SELECT count(*) FILTER (WHERE how = 'orphan')
		|| ' orphans, ' || count(*) FILTER (WHERE how = 'live' AND kind = 'table' AND relation ~ '_1\d+$') || ' shards'
	FROM tablespace_contents('slow')}) };
is($kinds->(), "0 orphans, $shards shards", 'tablespace_contents() knows all shards, and no orphan');
is($worker->safe_psql('shop', q{SELECT count(*) FROM plan_evacuation('slow', 'fast') WHERE kind = 'table' AND relation::text ~ '_1\d+$'}),
	$shards, 'so does plan_evacuation()');
cmp_ok($worker->safe_psql('shop', "SELECT count(DISTINCT index) FROM measure_index_locality('$shard')"), '==', 2,
	'localities of a shard are measured');
$worker->safe_psql('shop', q{SELECT count(*) FROM measure_index_locality('products')});
cmp_ok($worker->safe_psql('shop', 'SELECT count(*) FROM tablespace_advisor.index_locality'), '>=', 2,
	'and stay when another table is measured');
$worker->safe_psql('shop', 'CALL sample_activity()');
cmp_ok($worker->safe_psql('shop', q{
		SELECT count(*) FROM tablespace_advisor.sampled_relation s
		WHERE s.relation = 'public.} . $shard . q{'::regclass}), '==', 1, 'a shard is sampled');
my ($job) = $worker->safe_psql('shop', "CALL move_indexes_concurrently('${shard}', 'fast', method => 'rebuild')") =~ /\{(\d+)/;
my $undo = $worker->safe_psql('shop', "SELECT undo_move($job)");
ok($worker->poll_query_until('shop', "SELECT state = 'done' FROM tablespace_moves WHERE job_id = $undo"),
	'a rebuild of a shard\'s index is undone');
is(on_worker($worker, "SELECT count(*) FROM pg_class WHERE relname ~ '^${shard}.*_cc(new|old)'"), '0', 'without a trace');

# --- tables of Citus itself, and those that cannot move ---------------------------

like($coordinator->safe_psql('shop', q{CALL move_table_concurrently('pg_dist_colocation', 'third')}), qr/\{\d+\}/,
	'a table of the extension in pg_catalog moves');
$coordinator->safe_psql('shop', q{CALL move_table_concurrently('pg_dist_colocation', 'pg_default')});
SKIP:
{
	skip 'columnar tables are not in this build', 4
	  if coordinate(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'citus_columnar'}) eq '0';
	coordinate('CREATE EXTENSION citus_columnar');
	coordinate(q{
		CREATE TABLE events (a int PRIMARY KEY, b text) USING columnar TABLESPACE third;
		INSERT INTO events SELECT i, md5(i::text) FROM generate_series(1, 50000) i});
	my (undef, undef, $refused) = $coordinator->psql('shop', q{CALL move_table_concurrently('events', 'fast')});
	unlike($refused, qr/ALTER TABLE/, 'no ALTER is recommended for a columnar table');
	like($refused, qr/alter_table_set_access_method/, 'but what works');
	is(coordinate(q{SELECT count(*) FROM measure_index_locality('events')}), '0', 'it has no localities');
	is(coordinate(q{SELECT statement IS NULL FROM tablespace_contents('third', 'fast') WHERE relation = 'public.events'}), 't',
		'nor a statement that cannot work');
	coordinate('DROP TABLE events');
}

# --- under load --------------------------------------------------------------------

my %scripts = (
	update => q{
\set c random(0, 999)
\set k random(1, 99)
\set id :k * 1000 + :c
\set r random(1, 1000000000)
UPDATE orders SET val = val + 1, filler = md5(:r::text) || repeat('x', 160) WHERE customer = :c AND id = :id;
}, both => q{
\set c random(0, 998)
\set d random(:c + 1, 999)
\set k random(1, 99)
\set id1 :k * 1000 + :c
\set id2 :k * 1000 + :d
BEGIN;
UPDATE orders SET val = val + 1 WHERE customer = :c AND id = :id1;
UPDATE orders SET val = val + 1 WHERE customer = :d AND id = :id2;
UPDATE lines SET filler = md5(:id2::text) WHERE customer = :d AND id = :id2 AND n = 1;
COMMIT;
}, read => q{
\set c random(0, 999)
SELECT count(*), sum(o.val) FROM orders o JOIN lines l USING (customer, id) JOIN products p ON p.id = l.product WHERE o.customer = :c AND o.id < 20000;
});
my @files;
foreach my $name (sort keys %scripts)
{
	append_to_file($coordinator->basedir . "/$name.sql", $scripts{$name});
	push @files, '-f', $coordinator->basedir . "/$name.sql";
}
my $load = start_command('pgbench', '-n', '-c', 4, '-T', 600, '-P', 5, @files,
	'-h', $coordinator->host, '-p', $coordinator->port, 'shop');
$coordinator->poll_query_until('shop', 'SELECT sum(val) > 5100000000 OR count(*) > 0 FROM orders') or die;

my ($shards_move, $advice, $follow, $watch) = recipes('fleets', 'Citus');
my (undef, $messages) = run_recipe($coordinator, 'shop', $shards_move, 'all shards');
my $places = sub {
	my ($table) = @_;
	return join ' ', map { on_worker($_, qq{
		SELECT string_agg(DISTINCT coalesce(t.spcname, 'slow'), ',') FROM pg_class c
			LEFT JOIN pg_index i ON i.indexrelid = c.oid
			JOIN pg_class h ON h.oid = coalesce(i.indrelid, c.oid)
			LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE h.relname ~ '^${table}_1\\d+\$' AND c.relkind IN ('r', 'i')}) } @workers;
};
is($places->('orders'), 'fast fast', 'all shards, with indexes, are there on both workers');

(undef, undef, $messages) = $coordinator->psql('shop', q{CALL move_table_concurrently('lines', 'third')});
like($messages, qr/table "lines" belongs to Citus: its rows are in shards.*HINT:  Move shards: SELECT \* FROM pg_catalog\.run_command_on_placements/s,
	'of a distributed table only the shell moves, which a notice says');
my ($hint) = $messages =~ /Move shards: (SELECT .*)\.$/m;
$hint =~ s/'tablespace'/'third'/;
is(coordinate("SELECT bool_and(success) FROM ($hint) x"), 't', 'the statement of its hint works');
(undef, undef, $messages) = $worker->psql('shop', "CALL move_table_concurrently('public.$shard', 'third', dry_run => true)");
unlike($messages, qr/Citus/, 'of a shard there is none');

# evacuate both workers while shards are rebalanced to and fro
my $size = sub { coordinate(q{SELECT string_agg(c || '', ' ' ORDER BY nodeport) FROM
	(SELECT nodeport, count(*) AS c FROM citus_shards WHERE citus_table_type = 'distributed' GROUP BY 1) x}) };
my $began = time;
my @evacuations = map { start_command('psql', '-X', '-d', $_->connstr('shop'), '-c',
	q{CALL evacuate_tablespace('fast', 'slow', max_rate => '5 MB')}) } @workers;
my ($first) = split /\n/, coordinate(q{
	SELECT format('SELECT citus_move_shard_placement(%s, %L, %s, %L, %s, %L)', s.shardid, s.nodename, s.nodeport,
		n.nodename, n.nodeport, 'force_logical')
	FROM citus_shards s JOIN pg_dist_node n ON n.nodeport <> s.nodeport AND n.groupid <> 0
	WHERE s.table_name = 'orders'::regclass ORDER BY s.shardid LIMIT 1});
coordinate($first);
like($size->(), qr/^\d+ \d+$/, 'a shard has moved to the other worker');
coordinate(q{SELECT rebalance_table_shards(shard_transfer_mode => 'force_logical')});
foreach (@evacuations) { eval { $_->{harness}->finish } }
diag sprintf 'evacuations of both workers beside a rebalance: %.1f s', time - $began;
unlike($_->{err}, qr/could not move|ERROR/, 'an evacuation beside it') foreach @evacuations;
# shards that arrived meanwhile have their indexes where those of the table are
foreach my $node (@workers)
{
	my $left = '';

	foreach my $round (1 .. 5)
	{
		(undef, undef, $left) = $node->psql('shop', q{CALL evacuate_tablespace('fast', 'slow')});
		last if $left !~ /left in tablespace "fast"/;
		diag $node->name . ", round $round: " . join ' ', $left =~ /left in tablespace.*?(?=psql|\z)/gs;
	}
	like($left, qr/tablespace "fast" is empty/, $node->name . ': what arrived meanwhile is evacuated, too');
}
is($places->('orders'), 'slow slow', 'all shards and their indexes have left');
coordinate('REINDEX INDEX CONCURRENTLY orders_val');
coordinate('ALTER TABLE orders ADD COLUMN extra int DEFAULT 5');
coordinate('ALTER TABLE orders DROP COLUMN extra');

# --- Citus' detector of distributed deadlocks ----------------------------------------

# A has a row of a shard on the first worker and waits for one that B has, on the
# second; B asks for another row of that shard, and queues behind the cutover, which
# waits for A.  Returns how many of so many such cases Citus cancels.
my ($here, $there) = map { my $port = $_->port; (split /\n/, coordinate(qq{
	SELECT c FROM generate_series(1, 900) c JOIN citus_shards s
		ON s.shardid = get_shard_id_for_distribution_column('orders', c)
	WHERE s.nodeport = $port ORDER BY c LIMIT 1}))[0] } @workers;
my $target = 'orders_' . coordinate("SELECT get_shard_id_for_distribution_column('orders', $here)");
sub count_cancelled
{
	my ($lock_timeout, $cases) = @_;
	my ($a_session, $b_session) = map { session($coordinator, dbname => 'shop') } 1 .. 2;
	my $cancelled = 0;

	foreach my $case (1 .. $cases)
	{
		my $to = on_worker($worker, "SELECT CASE t.spcname WHEN 'third' THEN 'slow' ELSE 'third' END
			FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.relname = '$target'");

		ask($a_session, "BEGIN; UPDATE orders SET val = val WHERE customer = $here AND id = @{[ 1000 + $here ]};");
		ask($b_session, "BEGIN; UPDATE orders SET val = val WHERE customer = $there AND id = @{[ 1000 + $there ]};");
		$worker->safe_psql('shop', "CALL move_table_concurrently('$target', '$to', max_rate => 'unlimited', $lock_timeout wait => false)");
		$worker->poll_query_until('shop', q{SELECT EXISTS (SELECT FROM tablespace_moves WHERE state = 'running' AND blocked_by IS NOT NULL)})
		  or die 'the cutover does not wait';
		send_to($a_session, "UPDATE orders SET val = val WHERE customer = $there AND id = @{[ 1000 + $there ]};");
		select undef, undef, undef, 0.05 + rand 0.5;
		ask($b_session, "UPDATE orders SET val = val WHERE customer = $here AND id = @{[ 2000 + $here ]};");
		ask($b_session, 'COMMIT;');
		ask($a_session, 'COMMIT;');
		$cancelled += () = ($a_session->{err} . $b_session->{err}) =~ /ERROR/g;
		$_->{err} = '' foreach $a_session, $b_session;
		$worker->poll_query_until('shop', 'SELECT count(*) = 0 FROM tablespace_moves WHERE finished_at IS NULL') or die;
	}
	end_session($_) foreach $a_session, $b_session;
	return $cancelled;
}
is(count_cancelled('', 20), 0, 'of 20 circles through a cutover Citus cancels none');
diag 'with lock_timeout => 800 ms it cancels ' . count_cancelled(q{lock_timeout => '800 ms',}, 12) . ' of 12';

# --- all nodes at once ---------------------------------------------------------------

# one disk has no fast and slow: as if it had
$_->safe_psql('shop', 'SET citus.enable_ddl_propagation = off;' . two_devices()) foreach @workers;
foreach my $read ('CALL advisor.sample_activity()', 'SELECT count(*) FROM orders', 'SELECT pg_stat_force_next_flush()',
	'CALL advisor.sample_activity()')
{
	$read =~ /orders/ ? coordinate($read) : $_->safe_psql('shop', $read) foreach @workers;
}
# the system's cache has them, as it would not after a day
$_->safe_psql('shop', q{
	UPDATE tablespace_advisor.relation_sample SET cached_reads = 0;
	DELETE FROM tablespace_advisor.tablespace_io_sample}) foreach @workers;
my $rows = run_recipe($coordinator, 'shop', $advice, 'advice of all nodes');
foreach my $node (@workers)
{
	my $port = $node->port;
	like($rows, qr/^127\.0\.0\.1\|$port\|move\|[a-z]+_1\d+\S*\|slow\|fast\|/m, "it has shards to move of the node at $port");
}
$rows = run_recipe($coordinator, 'shop', $follow, 'follow it');
is(scalar(() = $rows =~ /\|t\|/g), 3, 'each node has followed its advice');
foreach my $node (@workers)
{
	cmp_ok(on_worker($node, q{SELECT count(*) FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE t.spcname = 'fast' AND c.relname ~ '^(orders|lines)_1'}), '>', 0, $node->name . ': shards have moved');
}
$rows = run_recipe($coordinator, 'shop', $watch, 'watch');
foreach my $node (@workers)
{
	my $port = $node->port;
	like($rows, qr/^127\.0\.0\.1\|$port\|shop\|/m, "it has moves of the node at $port");
}

coordinate('CREATE EXTENSION amcheck');

# --- nothing is lost -------------------------------------------------------------------

stop_pgbench($load, 'the load through the coordinator');
my @tps = $load->{err} =~ /progress: [\d.]+ s, ([\d.]+) tps/g;
diag 'load through the coordinator, transactions per second: ' . join ' ', @tps;
is(coordinate($constant) . coordinate($lines), $sums, 'the sums are the same');
is(coordinate(q{SELECT count(*) FROM lines l LEFT JOIN orders o USING (customer, id) WHERE o.id IS NULL}), '0', 'foreign keys hold');
foreach my $node (@workers)
{
	my $name = $node->name;
	cmp_ok(on_worker($node, q{
		SELECT count(bt_index_check(i.indexrelid, true)) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
			JOIN pg_class x ON x.oid = i.indexrelid AND x.relam = 403
		WHERE c.relname ~ '^(orders|lines|products)_1\d+$' AND i.indisvalid}), '>', 5, "$name: indexes agree with their shards (amcheck)");
	is(on_worker($node, q{SELECT count(v) FROM pg_class c CROSS JOIN LATERAL verify_heapam(c.oid) v
		WHERE c.relkind = 'r' AND c.relam = 2 AND c.relname ~ '^(orders|lines|products)_1\d+$'}), '0', "$name: shards are sound (verify_heapam)");
	is(on_worker($node, q{SELECT count(*) FROM pg_index WHERE NOT indisvalid}), '0', "$name: no index is invalid");
	is($node->safe_psql('shop', q{CHECKPOINT;
		SELECT count(*) FROM pg_tablespace t CROSS JOIN LATERAL tablespace_contents(t.spcname) c
		WHERE t.spcname <> 'pg_global' AND c.how = 'orphan'}), '0', "$name: no orphan");
	is($node->safe_psql('shop', q{SELECT count(*) FROM tablespace_moves WHERE state NOT IN ('done', 'cancelled')}), '0', "$name: no move has failed");
}
$_->stop foreach reverse @nodes;
check_no_crash($_, $_->name) foreach @nodes;
done_testing();
