# Copyright (c) 2026, The tablespace_advisor developers

# Hypertables of TimescaleDB: under load their chunks, compressed ones with the
# relations of their rows, move by age and in evacuations; a tablespace of theirs
# is retired.  Of a TimescaleDB whose catalog is not known it is shown that it is
# refused.

use TsaTest;

my $node = start_node('timescale', conf => qq(
shared_preload_libraries = 'timescaledb,tablespace_advisor'
timescaledb.telemetry_level = off
timezone = 'UTC'
max_worker_processes = 40
shared_buffers = 64MB
max_wal_size = 2GB
tablespace_advisor.min_wal_space = 0
));
$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on;
	CREATE TABLESPACE old LOCATION '';
	CREATE TABLESPACE new LOCATION '';
	SET client_min_messages = warning;
	CREATE EXTENSION timescaledb;
	CREATE TABLE metrics (time timestamptz NOT NULL, device int NOT NULL, value float8, note text) TABLESPACE old;
	SELECT create_hypertable('metrics', 'time', chunk_time_interval => interval '7 days');
	SELECT attach_tablespace('old', 'metrics', if_not_attached => true);
	CREATE INDEX metrics_device ON metrics (device, time DESC);
	INSERT INTO metrics SELECT date_trunc('day', now()) - i * interval '20 seconds', i % 100, random(), md5(i::text)
	FROM generate_series(1, 400000) i;
	ALTER TABLE metrics SET (timescaledb.compress, timescaledb.compress_segmentby = 'device');
	SELECT count(compress_chunk(c)) FROM show_chunks('metrics', older_than => interval '40 days') c;
	ANALYZE metrics});
my $version = $node->safe_psql('postgres', q{SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'});
diag "TimescaleDB $version, " . $node->safe_psql('postgres', 'SELECT version()');

# What the rows come to, but for those that the load makes.
my $sum_of = q{SELECT count(*), sum(value)::numeric(20,6), md5(string_agg(note, '' ORDER BY note))
	FROM metrics WHERE note <> 'live'};
my $sum = $node->safe_psql('postgres', $sum_of);

sub refused
{
	my ($call, $expected, $name) = @_;

	like(messages_of($node, $call), $expected, $name);
}
refused(q{CALL move_table_concurrently('metrics', 'fast')},
	qr/0A000.*cannot move hypertable "metrics".*move_partitions_concurrently\('public\.metrics'/s, 'a hypertable is refused');

my $is_known = $node->safe_psql('postgres', q{SELECT tablespace_advisor.knows_chunks()});
is($is_known, 't', "the catalog of TimescaleDB $version is known") if $version =~ /^2\.(9|1\d|2\d)\./;
if ($is_known ne 't')
{
	refused(q{CALL move_partitions_concurrently('metrics', 'slow', '30 days')},
		qr/0A000.*of TimescaleDB \Q$version\E.*no form that is known/s, 'its chunks are refused');
	refused(q{SELECT * FROM advise_partition_placement('metrics', 'slow', '30 days')},
		qr/0A000.*of TimescaleDB \Q$version\E/s, 'and there is no advice');
	$node->stop;
	done_testing();
	exit;
}

# Which relations have the rows of which compressed chunks: "chunk", "rows".
my $compressed = $node->safe_psql('postgres', q{
	SELECT count(*) FROM pg_attribute
	WHERE attrelid = '_timescaledb_catalog.compression_settings'::regclass AND attname = 'compress_relid'})
  ? 'SELECT relid AS chunk, compress_relid AS rows FROM _timescaledb_catalog.compression_settings WHERE compress_relid IS NOT NULL'
  : q{SELECT format('%I.%I', c.schema_name, c.table_name)::regclass AS chunk, format('%I.%I', z.schema_name, z.table_name)::regclass AS rows
	FROM _timescaledb_catalog.chunk c JOIN _timescaledb_catalog.chunk z ON z.id = c.compressed_chunk_id};

# What TimescaleDB itself says, by its own functions.
sub chunks_in
{
	my ($tablespace, $condition) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT count(*) FILTER (WHERE r.oid = c.oid) || ' chunks, '
			|| count(*) FILTER (WHERE r.oid <> c.oid) || ' compressed, '
			|| coalesce(sum((SELECT count(*) FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
				WHERE i.indrelid = r.oid AND x.reltablespace = r.reltablespace)), 0) || ' indexes'
		FROM show_chunks('metrics', $condition) s JOIN pg_class c ON c.oid = s
			LEFT JOIN ($compressed) z ON z.chunk = s
			JOIN pg_class r ON r.oid IN (c.oid, z.rows)
			JOIN pg_tablespace t ON t.oid = r.reltablespace
		WHERE t.spcname = '$tablespace'});
}
sub check_bounds
{
	my ($hypertable) = @_;

	is($node->safe_psql('postgres', qq{
			SELECT count(*) FILTER (WHERE a.upper_bound = t.range_end) > 5, count(*) FILTER (WHERE a.upper_bound IS DISTINCT FROM t.range_end)
			FROM show_chunks('$hypertable') c
			FULL JOIN (SELECT DISTINCT i.inhrelid::regclass AS c, a.upper_bound
				FROM advise_partition_placement('$hypertable', 'slow', '0 days') a
				JOIN pg_inherits i ON i.inhrelid = a.partition AND i.inhparent = '$hypertable'::regclass) a USING (c)
			LEFT JOIN timescaledb_information.chunks t ON format('%I.%I', t.chunk_schema, t.chunk_name)::regclass = c}),
		't|0', "chunks of $hypertable and their bounds are those of timescaledb_information.chunks");
	return;
}
check_bounds('metrics');
SKIP:
{
	skip 'no UUIDs of version 7', 1
	  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE proname = 'to_uuidv7'}) eq '0';
	$node->safe_psql('postgres', q{
		CREATE TABLE events (id uuid NOT NULL, n int);
		SELECT create_hypertable('events', 'id', chunk_time_interval => interval '7 days');
		INSERT INTO events SELECT to_uuidv7(now() - i * interval '1 day'), i FROM generate_series(1, 60) i});
	check_bounds('events');
}
my $old = chunks_in('old', "older_than => interval '30 days'");
like($old, qr/^[1-9]\d* chunks, [1-9]\d* compressed, [1-9]\d* indexes$/, "what is old: $old");
my $young = chunks_in('old', "newer_than => interval '30 days'");

# A load that inserts into young and old chunks and reads.
my $script = $node->basedir . '/load.sql';
append_to_file($script, q{
\set d random(0, 99)
\set s random(0, 8000000)
INSERT INTO metrics VALUES (now() - :s * interval '1 second', :d, random(), 'live');
SELECT count(*), avg(value) FROM metrics WHERE device = :d AND time > now() - interval '60 days';
});
my ($out, $err) = ('', '');
my $load = start_pgbench($node, 3, '-R', 30, '-f', $script);
wait_until($node, q{(SELECT count(*) > 10 FROM metrics WHERE note = 'live')}, 'the load inserts');

# --- by age ------------------------------------------------------------------

my ($by_age, $retire) = recipes('fleets', 'TimescaleDB');
my (undef, $messages) = run_recipe($node, 'postgres', $by_age, 'chunks by age');
like($messages, qr/NOTICE:  new chunks of "metrics" are made in tablespaces that are attached to it: old/,
	'where new chunks are made is told');
is(chunks_in('slow', "older_than => interval '30 days'"), $old,
	"what is old is there, compressed relations and indexes too");
like(chunks_in('old', "older_than => interval '30 days'"), qr/^0 chunks, 0 compressed/, 'nothing of it is left');
is(chunks_in('old', "newer_than => interval '30 days'"), $young, 'what is young stays');
is($node->safe_psql('postgres', $sum_of), $sum, 'the rows are the same');
is($node->safe_psql('postgres', q{
		CALL move_partitions_concurrently('metrics', 'slow', older_than => '30 days')}), '{}',
	'a repeated call has nothing to do');
is($node->safe_psql('postgres', q{SELECT count(*) FROM tablespace_moves WHERE state <> 'done'}), '0', 'no move failed');

# What a policy will drop is not moved; TimescaleDB takes such policies as well.
$node->safe_psql('postgres', q{SELECT add_retention_policy('metrics', interval '60 days')});
like($node->safe_psql('postgres', q{
		SELECT string_agg(DISTINCT left(reason, 20), ' | ') FROM advise_partition_placement('metrics', 'fast', '75 days')
		WHERE upper_bound < now() - interval '75 days'}),
	qr/^TimescaleDB drops it/, 'what a retention policy drops is not moved');
$node->safe_psql('postgres', q{SELECT remove_retention_policy('metrics')});

# A chunk in use compressed and decompressed while moves go on.
$node->safe_psql('postgres', q{SELECT decompress_chunk(c) FROM show_chunks('metrics', older_than => interval '80 days') c});
is($node->safe_psql('postgres', $sum_of), $sum, 'chunks that have moved are decompressed');
$node->safe_psql('postgres', q{SELECT compress_chunk(c) FROM show_chunks('metrics', older_than => interval '80 days') c});
is($node->safe_psql('postgres', qq{
		SELECT DISTINCT t.spcname FROM show_chunks('metrics', older_than => interval '80 days') c
		JOIN ($compressed) z ON z.chunk = c
		JOIN pg_class r ON r.oid = z.rows JOIN pg_tablespace t ON t.oid = r.reltablespace}),
	'slow', 'and compressed again, where they are');

# --- retire a tablespace ---------------------------------------------------------

is($node->safe_psql('postgres', q{
		SELECT string_agg(kind || ': ' || how, ', ' ORDER BY kind DESC) FROM tablespace_contents('old', 'new')
		WHERE relation = 'attach_tablespace'}),
	$node->safe_psql('postgres', q{
		SELECT string_agg(format('setting of hypertable %I.%I: setting', h.schema_name, h.table_name), ', ' ORDER BY h.schema_name DESC)
		FROM _timescaledb_catalog.tablespace t JOIN _timescaledb_catalog.hypertable h ON h.id = t.hypertable_id
		WHERE t.tablespace_name = 'old'}), 'attachments are in the way');
my (undef, undef, $drop) = $node->psql('postgres', 'DROP TABLESPACE old');
like($drop, qr/ERROR/, 'TimescaleDB refuses to drop it');
is($node->safe_psql('template1', q{
		CREATE EXTENSION tablespace_advisor;
		SELECT count(*) FROM tablespace_contents('old', 'new') WHERE relation = 'attach_tablespace'}),
	$node->safe_psql('postgres', q{SELECT count(*) FROM _timescaledb_catalog.tablespace WHERE tablespace_name = 'old'}),
	'they are known in other databases');
$node->safe_psql('template1', 'DROP EXTENSION tablespace_advisor');
(undef, $messages) = run_recipe($node, 'postgres', $retire, 'retire');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_tablespace WHERE spcname = 'old'}), '0', 'the tablespace has gone');
is($node->safe_psql('postgres', q{SELECT string_agg(DISTINCT tablespace_name, ',') FROM _timescaledb_catalog.tablespace}),
	'new', 'another one is attached');
$node->safe_psql('postgres', q{INSERT INTO metrics VALUES (now() + interval '60 days', 1, 1, 'live')});
is($node->safe_psql('postgres', q{
		SELECT DISTINCT t.spcname FROM show_chunks('metrics', newer_than => now() + interval '30 days') c
		JOIN pg_class r ON r.oid = c JOIN pg_tablespace t ON t.oid = r.reltablespace}), 'new', 'new chunks are made there');

$load->{harness}->signal('TERM');
eval { $load->{harness}->finish };
unlike($err, qr/abort|error|fatal/i, 'no client failed');
my ($inserted) = $node->safe_psql('postgres', q{SELECT count(*) FROM metrics WHERE note = 'live'});
diag "rows the load inserted meanwhile: $inserted";
is($node->safe_psql('postgres', $sum_of), $sum, 'the rows are the same');

# An access method of TimescaleDB 2.18 to 2.21 that live copy does not know.
SKIP:
{
	skip 'there is no access method "hypercore"', 1
	  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_am WHERE amname = 'hypercore'}) eq '0';
	$node->safe_psql('postgres', q{
		SELECT format('ALTER TABLE %s SET ACCESS METHOD hypercore', min(c::oid)::regclass)
		FROM show_chunks('metrics', older_than => interval '80 days') c \gexec});
	is($node->safe_psql('postgres', qq{
			SELECT count(*), string_agg(DISTINCT action, ',')
			FROM advise_partition_placement('metrics', 'fast', '80 days') a
			WHERE a.partition IN (SELECT c.oid FROM pg_class c JOIN pg_am m ON m.oid = c.relam AND m.amname = 'hypercore'
				UNION SELECT z.rows FROM ($compressed) z JOIN pg_class c ON c.oid = z.chunk
					JOIN pg_am m ON m.oid = c.relam AND m.amname = 'hypercore')}), '2|keep',
		'the relation of compressed rows stays with such a chunk');
}

# --- sound -----------------------------------------------------------------------

is($node->safe_psql('postgres', q{
		SELECT count(bt_index_parent_check(i.indexrelid, true)) > 20
		FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class h ON h.oid = i.indrelid
			JOIN pg_namespace n ON n.oid = h.relnamespace
		WHERE n.nspname = '_timescaledb_internal' AND x.relkind = 'i' AND x.relam = 403}),
	't', 'indexes of chunks agree with their tables (amcheck)');
is($node->safe_psql('postgres', q{
		SELECT count(v) FROM pg_class h JOIN pg_namespace n ON n.oid = h.relnamespace
			CROSS JOIN LATERAL verify_heapam(h.oid) v
		WHERE n.nspname = '_timescaledb_internal' AND h.relkind = 'r'}),
	'0', 'chunks are sound (verify_heapam)');
check_orphans($node, 'timescaledb');
check_locks($node, 'timescaledb');
$node->stop;
check_no_crash($node, 'timescaledb') if defined &check_no_crash;
done_testing();
