# What other extensions of a fleet say of their tables, by tables like theirs:
# hypertables of TimescaleDB move by age, with the relations of their compressed
# rows, attached tablespaces are in the way of DROP TABLESPACE, tables of Citus
# are shells.  Look-alikes are not believed.  Moves of all databases at once.
# The real extensions: tools/fleet.

use TsaTest;

my $node = start_node('main', conf => "timezone = 'UTC'\ndatestyle = 'SQL, DMY'\n");

# An extension of that name and version, whose tables are these; of no files.
sub pretend
{
	my ($dbname, $oid, $name, $version, @tables) = @_;

	$node->safe_psql($dbname, qq{
		INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
		SELECT $oid, '$name', 10, 'public'::regnamespace, false, '$version';
		INSERT INTO pg_depend (classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype)
		SELECT 'pg_class'::regclass, t::regclass, 0, 'pg_extension'::regclass, $oid, 0, 'e'
		FROM unnest('{@{[ join ',', @tables ]}}'::text[]) t});
}

sub advice
{
	my ($action) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT string_agg(partition::text, ' ' ORDER BY partition::text)
		FROM advise_partition_placement('metrics', 'slow', '30 days') WHERE action = '$action'});
}

# Tables as TimescaleDB 2.28 has them; three chunks, of which the oldest has its
# rows in another relation.
my @catalog = map { "_timescaledb_catalog.$_" }
  qw(hypertable tablespace dimension chunk dimension_slice compression_settings bgw_job);
my $tables = q{
	CREATE SCHEMA _timescaledb_catalog;
	CREATE TABLE _timescaledb_catalog.hypertable (id int, schema_name name, table_name name);
	CREATE TABLE _timescaledb_catalog.tablespace (id int, hypertable_id int, tablespace_name name);
	CREATE TABLE _timescaledb_catalog.dimension (id int, hypertable_id int, column_name name, column_type regtype, interval_length bigint);
	CREATE TABLE _timescaledb_catalog.chunk (id int, hypertable_id int, schema_name name, table_name name);
	CREATE TABLE _timescaledb_catalog.dimension_slice (id int, chunk_id int, dimension_id int, range_start bigint, range_end bigint);
	CREATE TABLE _timescaledb_catalog.compression_settings (relid regclass, compress_relid regclass);
	CREATE TABLE _timescaledb_catalog.bgw_job (id int, proc_name name, scheduled bool, hypertable_id int, config jsonb)};
my $hypertable = q{
	CREATE TABLE metrics (at timestamptz NOT NULL, n int);
	CREATE INDEX ON metrics (n);
	CREATE TABLE chunk_1 () INHERITS (metrics);
	CREATE INDEX ON chunk_1 (n);
	CREATE TABLE chunk_2 () INHERITS (metrics);
	CREATE TABLE chunk_3 () INHERITS (metrics);
	CREATE TABLE stranger (n int);
	CREATE TABLE compressed_1 (n int PRIMARY KEY, rows text);
	INSERT INTO compressed_1 SELECT i, repeat('x', 100) FROM generate_series(1, 1000) i;
	INSERT INTO _timescaledb_catalog.hypertable VALUES (1, 'public', 'metrics');
	INSERT INTO _timescaledb_catalog.tablespace VALUES (1, 1, 'fast');
	INSERT INTO _timescaledb_catalog.dimension VALUES (7, 1, 'at', 'timestamptz', 1), (8, 1, 'n', 'int', NULL);
	INSERT INTO _timescaledb_catalog.chunk VALUES (1, 1, 'public', 'chunk_1'), (2, 1, 'public', 'chunk_2'),
		(3, 1, 'public', 'chunk_3'), (4, 1, 'public', 'stranger');
	INSERT INTO _timescaledb_catalog.dimension_slice
	SELECT i, i, 7, 0, extract(epoch FROM now() - (ARRAY[60, 40, 10, 60])[i] * interval '1 day') * 1000000
	FROM generate_series(1, 4) i;
	INSERT INTO _timescaledb_catalog.compression_settings VALUES ('metrics', NULL), ('chunk_1', 'compressed_1'), ('chunk_2', 'stranger')};
$node->safe_psql('postgres', $tables);
$node->safe_psql('postgres', $hypertable);
$node->safe_psql('postgres', q{CREATE ROLE another; ALTER TABLE stranger OWNER TO another});

# --- look-alikes ---------------------------------------------------------------------

my $ask = q{SELECT * FROM advise_partition_placement('metrics', 'slow', '30 days')};
like(messages_of($node, $ask), qr/42809/, 'tables of those names that are no extension\'s make no hypertable');
is(contents($node, 'fast', where => q{how = 'setting'}), '', 'look-alikes attach no tablespace');
pretend('postgres', 99999, 'timescaledb', '2.28.3');
like(messages_of($node, $ask), qr/42809/, 'look-alikes beside the extension make no hypertable');
$node->safe_psql('postgres', 'DELETE FROM pg_extension WHERE oid = 99999');

# --- chunks ----------------------------------------------------------------------------

pretend('postgres', 99999, 'timescaledb', '2.29.1', @catalog);
like(messages_of($node, $ask), qr/0A000.*hypertable "metrics" of TimescaleDB 2\.29\.1.*show_chunks\('public\.metrics'/s,
	'a version that is not known is refused');
like(messages_of($node, q{CALL move_partitions_concurrently('metrics', 'slow', '30 days')}), qr/0A000/, 'a version that is not known is refused by the move, too');
$node->safe_psql('postgres', q{UPDATE pg_extension SET extversion = '2.28.3' WHERE oid = 99999});
is(advice('move'), 'chunk_1 chunk_2 compressed_1', 'old chunks, and the relation of compressed rows');
is(advice('keep'), 'chunk_3', 'young chunks stay, as does what does not inherit, or has another owner');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM advise_partition_placement('metrics', 'slow', '30 days')
		WHERE upper_bound NOT BETWEEN now() - interval '61 days' AND now() - interval '9 days'}), '0', 'bounds are those of the catalog');
is($node->safe_psql('postgres', q{
		SELECT tablespace_advisor.chunk_end(1e6::bigint * 86400 * 365, t)
		FROM unnest('{timestamptz,date,timestamp,int8}'::regtype[]) t}),
	join("\n", ('01/01/1971 00:00:00 UTC') x 3, ''), 'times are told, numbers are not');
is($node->safe_psql('postgres', q{
		SET timezone = 'Asia/Tokyo';
		SELECT tablespace_advisor.chunk_end(1e6::bigint * 86400 * 365, 'date'::regtype)::date,
			tablespace_advisor.chunk_end(9223372036854775807, 'date'::regtype) IS NULL}),
	'01/01/1971|t', 'days are days of the clock on the wall; without end there is none');
$node->safe_psql('postgres', q{
	INSERT INTO _timescaledb_catalog.bgw_job VALUES (1000, 'policy_retention', true, 1, '{"drop_after": "55 days"}')});
is(advice('move'), 'chunk_2', 'what a retention policy drops is not moved');
$node->safe_psql('postgres', 'DELETE FROM _timescaledb_catalog.bgw_job');

# used as one: the chunk is not read, its compressed rows are
$node->safe_psql('postgres', q{
	CALL sample_activity();
	SELECT pg_sleep(1.1);
	SELECT count(*) FROM compressed_1});
$node->poll_query_until('postgres', q{SELECT seq_scan > 0 FROM pg_stat_user_tables WHERE relname = 'compressed_1'}) or die;
$node->safe_psql('postgres', 'CALL sample_activity()');
is($node->safe_psql('postgres', q{
		SELECT string_agg(partition::text, ' ' ORDER BY partition::text)
		FROM advise_partition_placement('metrics', 'slow', unused_for => '1 second') WHERE action = 'move'}),
	'chunk_2 chunk_3', 'a chunk is used when its compressed rows are');

my ($out, $err) = ('', '');
$node->psql('postgres', q{CALL move_partitions_concurrently('metrics', 'slow', '30 days')}, stdout => \$out, stderr => \$err);
like($err, qr/NOTICE:  new chunks of "metrics" are made in tablespaces that are attached to it: fast/, 'where new chunks go is told');
is($node->safe_psql('postgres', q{
		SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE t.spcname = 'slow' AND c.relname !~ 'toast'}), 'chunk_1 chunk_1_n_idx chunk_2 compressed_1 compressed_1_pkey', 'old chunks move with their indexes');
$node->psql('postgres', q{
	SET ROLE another;
	SELECT * FROM advise_partition_placement('metrics', 'slow', '30 days')}, on_error_stop => 0, stderr => \$err);
like($err, qr/must be owner of table metrics/, 'advice is for the owner');

# --- attached tablespaces, here and in other databases ------------------------------------

$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', $tables);
$node->safe_psql('other', $hypertable);
pretend('other', 99999, 'timescaledb', '2.20.0', @catalog);
is(contents($node, 'fast', columns => q{database, relation, kind, statement}, where => q{how = 'setting'}),
	join("\n", map { "$_|attach_tablespace|setting of hypertable public.metrics|SELECT public.attach_tablespace('pg_default'::pg_catalog.name, 'public.metrics'::pg_catalog.regclass, if_not_attached => true), public.detach_tablespace('fast'::pg_catalog.name, 'public.metrics'::pg_catalog.regclass)" } qw(other postgres)),
	'attached tablespaces of both databases, with statements');
$node->psql('postgres', q{CALL evacuate_tablespace('fast', 'slow')}, stderr => \$err);
like($err, qr/left in tablespace "fast": setting of hypertable public\.metrics attach_tablespace.*"fast" still contains 2 entries/s,
	'an evacuation does not call it empty');
is($node->safe_psql('postgres', q{
		CREATE ROLE watcher IN ROLE pg_monitor;
		SET ROLE watcher;
		SELECT database, kind, statement IS NULL FROM tablespace_contents('fast') WHERE how = 'setting'}),
	"other|setting of a hypertable|t\npostgres|setting of hypertable public.metrics|f", 'names of other databases are for superusers');

# --- tables of Citus --------------------------------------------------------------------------

$node->safe_psql('postgres', q{
	SET allow_system_table_mods = on;
	CREATE TABLE orders (id int PRIMARY KEY);
	CREATE TABLE "o'rders" (id int);
	CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char");
	INSERT INTO pg_dist_partition VALUES ('orders', 'h'), ('"o''rders"', 'h')});
unlike(messages_of($node, q{CALL move_table_concurrently('orders', 'fast', dry_run => true)}), qr/Citus/, 'a look-alike is not asked');
pretend('postgres', 99998, 'citus', '13.2-1', 'pg_dist_partition');
like(messages_of($node, q{CALL move_indexes_concurrently('orders_pkey', 'fast', dry_run => true)}),
	qr/NOTICE:.*table "orders" belongs to Citus.*HINT:  Move shards: SELECT \* FROM run_command_on_placements\('public\.orders'/s,
	'a table of Citus is a shell');
my $odd = messages_of($node, q{CALL move_table_concurrently('"o''rders"', 'fast', dry_run => true)});
like($odd, qr/belongs to Citus/, 'a table of Citus is a shell, whatever its name');
unlike($odd, qr/HINT/, 'a name that could end a literal is in no statement');
is($node->safe_psql('postgres', q{
		CALL move_table_concurrently('pg_dist_partition', 'fast');
		SELECT t.spcname FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.relname = 'pg_dist_partition'}) =~ s/.*\n//r,
	'fast', 'an extension\'s table in pg_catalog moves');
like(messages_of($node, q{CALL move_table_concurrently('pg_class', 'fast')}), qr/0A000.*cannot move system relation/, 'the server\'s own relations do not move');
$node->safe_psql('postgres', q{
	CALL move_table_concurrently('pg_dist_partition', 'pg_default');
	DELETE FROM pg_depend WHERE refobjid IN (99998, 99999) AND refclassid = 'pg_extension'::regclass;
	DELETE FROM pg_extension WHERE oid IN (99998, 99999)});

# Citus makes extensions on all nodes by prepared transactions.
$node->safe_psql('other', q{
	BEGIN;
	CREATE EXTENSION tablespace_advisor;
	PREPARE TRANSACTION 'make';
	COMMIT PREPARED 'make'});
is($node->safe_psql('other', q{SELECT count(*) FROM pg_extension WHERE extname = 'tablespace_advisor'}), '1',
	'an extension is made by a prepared transaction');
$node->psql('other', q{BEGIN; SELECT count(*) FROM estimate_pgbench_size(1); SELECT count(*) FROM tablespace_moves; PREPARE TRANSACTION 'use'}, stderr => \$err);
like($err, qr/cannot PREPARE a transaction that has used extension/, 'a prepared transaction that has used the extension is refused');

# --- moves of all databases ----------------------------------------------------------------------

$node->safe_psql('other', q{
	ALTER DATABASE other SET datestyle = 'German';
	ALTER DATABASE other SET intervalstyle = 'sql_standard';
	CREATE TABLE t AS SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) i});
$node->safe_psql('other', q{CALL move_table_concurrently('t', 'slow', max_rate => '500 kB', wait => false)});
$node->poll_query_until('postgres', q{
	SELECT count(*) = 1 FROM all_tablespace_moves() WHERE database = 'other' AND state = 'running' AND bytes_done > 0
		AND relation_name = 'public.t' AND started_at > now() - interval '10 minutes' AND eta > '0'})
  or die 'the move of another database is not seen';
pass('a move of another database is seen');
is($node->safe_psql('postgres', q{SELECT count(*) > 3 FROM all_tablespace_moves() WHERE database = 'postgres' AND state = 'done'}), 't',
	'moves of this database that have ended are seen');
is($node->safe_psql('postgres', q{SELECT count(*) FROM all_tablespace_moves('0') WHERE finished_at IS NOT NULL}), '0', 'unless they are older');
is($node->safe_psql('postgres', q{
		SET ROLE watcher;
		SELECT count(*) FROM all_tablespace_moves() WHERE database = 'other'}), '1', 'members of pg_monitor see it');
($out, $err) = ('', '');
$node->psql('postgres', q{SET ROLE another; SELECT * FROM all_tablespace_moves()}, stderr => \$err, on_error_stop => 0);
like($err, qr/permission denied for function all_tablespace_moves/, 'roles outside of pg_monitor do not see moves elsewhere');
$node->safe_psql('other', q{SELECT cancel_move(job_id) FROM tablespace_moves WHERE finished_at IS NULL});
$node->safe_psql('other', q{UPDATE pg_extension SET extversion = '0.4' WHERE extname = 'tablespace_advisor'});
is($node->safe_psql('postgres', q{SELECT database, job_id IS NULL, error FROM all_tablespace_moves() WHERE database = 'other'}),
	'other|t|The extension is of another version there.', 'a database with another version is named');
wait_for_workers($node);
check_orphans($node, 'fleets');
$node->stop;
check_no_crash($node, 'fleets');
done_testing();
