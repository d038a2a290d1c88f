# Copyright (c) 2026, The tablespace_advisor developers

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

# Tables as TimescaleDB 2.28 has them; four chunks, of which the oldest has its
# rows in another relation, and one is compressed, too, but it is not known where.
my @catalog = map { "_timescaledb_catalog.$_" }
  qw(hypertable tablespace dimension chunk dimension_slice compression_settings bgw_job);
my $tables = q{
	CREATE SCHEMA _timescaledb_catalog;
	CREATE TABLE _timescaledb_catalog.hypertable (id int, schema_name name, table_name name);
	CREATE TABLE _timescaledb_catalog.tablespace (id int, hypertable_id int, tablespace_name name);
	CREATE TABLE _timescaledb_catalog.dimension (id int, hypertable_id int, column_name name, column_type regtype, interval_length bigint, partitioning_func name);
	CREATE TABLE _timescaledb_catalog.chunk (id int, hypertable_id int, schema_name name, table_name name, status int);
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
	CREATE TABLE chunk_4 () INHERITS (metrics);
	CREATE TABLE stranger (n int);
	CREATE TABLE compressed_1 (n int PRIMARY KEY, rows text);
	INSERT INTO compressed_1 SELECT i, repeat('x', 100) FROM generate_series(1, 1000) i;
	INSERT INTO _timescaledb_catalog.hypertable VALUES (1, 'public', 'metrics');
	INSERT INTO _timescaledb_catalog.tablespace VALUES (1, 1, 'fast');
	INSERT INTO _timescaledb_catalog.dimension VALUES (7, 1, 'at', 'timestamptz', 1), (8, 1, 'n', 'int', NULL);
	INSERT INTO _timescaledb_catalog.chunk VALUES (1, 1, 'public', 'chunk_1', 1), (2, 1, 'public', 'chunk_2', 0),
		(3, 1, 'public', 'chunk_3', 0), (4, 1, 'public', 'chunk_4', 9), (5, 1, 'public', 'stranger', 0);
	INSERT INTO _timescaledb_catalog.dimension_slice
	SELECT i, i, 7, 0, extract(epoch FROM now() - (ARRAY[60, 40, 10, 50, 60])[i] * interval '1 day') * 1000000
	FROM generate_series(1, 5) i;
	INSERT INTO _timescaledb_catalog.compression_settings VALUES ('metrics', NULL), ('chunk_1', 'compressed_1'), ('chunk_4', 'stranger')};
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

pretend('postgres', 99999, 'timescaledb', '2.28.3', @catalog);
is(advice('move'), 'chunk_1 chunk_2 compressed_1', 'old chunks, and the relation of compressed rows');
is(advice('keep'), 'chunk_3 chunk_4', 'young chunks stay, as does what does not inherit or has another owner');
is($node->safe_psql('postgres', q{
		SELECT reason FROM advise_partition_placement('metrics', 'slow', '30 days') WHERE partition = 'chunk_4'::regclass}),
	'It is not known where its compressed rows are.', 'a chunk does not move without its compressed rows');

# The catalog of another version, and what advice there is of it.
sub as_of
{
	my ($changes) = @_;
	my ($out, $err) = ('', '');

	$node->psql('postgres', "\\set VERBOSITY verbose\nBEGIN; $changes;" . q{
		SELECT string_agg(concat_ws(' ', action, partition, upper_bound < now()), ', ' ORDER BY partition::text)
		FROM advise_partition_placement('metrics', 'slow', '30 days') WHERE partition <> 'chunk_4'::regclass},
		stdout => \$out, stderr => \$err);
	return $out || $err;
}
my $known = as_of('');
is($known, 'move chunk_1 t, move chunk_2 t, keep chunk_3 t, move compressed_1 t', 'the catalog of 2.28');
my $from_2_29 = q{
	ALTER TABLE _timescaledb_catalog.chunk ADD relid regclass;
	UPDATE _timescaledb_catalog.chunk SET relid = format('%I.%I', schema_name, table_name)::regclass;
	ALTER TABLE _timescaledb_catalog.chunk DROP schema_name, DROP table_name};
is(as_of($from_2_29), $known, 'that of 2.29, where chunks have no names');
my $up_to_2_27 = q{
	CREATE TABLE _timescaledb_catalog.chunk_constraint (chunk_id int, dimension_slice_id int);
	INSERT INTO _timescaledb_catalog.chunk_constraint SELECT chunk_id, id + 100 FROM _timescaledb_catalog.dimension_slice;
	UPDATE _timescaledb_catalog.dimension_slice SET id = id + 100;
	ALTER TABLE _timescaledb_catalog.dimension_slice DROP chunk_id};
my $is_member = q{;
	INSERT INTO pg_depend VALUES ('pg_class'::regclass, '_timescaledb_catalog.chunk_constraint'::regclass, 0,
		'pg_extension'::regclass, 99999, 0, 'e')};
is(as_of($up_to_2_27 . $is_member), $known, 'that of 2.27, where slices are shared by chunks');
my $up_to_2_18 = q{
	ALTER TABLE _timescaledb_catalog.chunk ADD compressed_chunk_id int;
	INSERT INTO _timescaledb_catalog.chunk VALUES (6, 2, 'public', 'compressed_1', 0);
	UPDATE _timescaledb_catalog.chunk SET compressed_chunk_id = 6 WHERE id = 1;
	ALTER TABLE _timescaledb_catalog.compression_settings DROP compress_relid};
is(as_of($up_to_2_27 . $is_member . ';' . $up_to_2_18), $known, 'that of 2.18, where compressed rows are in chunks');
like(as_of($up_to_2_27), qr/0A000.*of TimescaleDB 2\.28\.3.*catalog of chunks is not known/s, 'bounds that are nowhere: refused');
like(as_of("ALTER TABLE _timescaledb_catalog.$$_[0] RENAME $$_[1] TO other"), qr/0A000/, "no $$_[0].$$_[1]: refused")
  foreach [ qw(chunk status) ], [ qw(chunk table_name) ], [ qw(compression_settings compress_relid) ], [ qw(bgw_job config) ],
  [ qw(dimension_slice range_end) ], [ qw(tablespace tablespace_name) ];
like(as_of(q{UPDATE _timescaledb_catalog.dimension SET partitioning_func = 'f'}), qr/^keep chunk_1, keep chunk_2/,
	'what a function makes of a key is no time');
like(as_of(q{
		CREATE ACCESS METHOD other TYPE TABLE HANDLER heap_tableam_handler;
		ALTER TABLE chunk_1 SET ACCESS METHOD other}), qr/^keep chunk_1 .*keep compressed_1/,
	'the relation of compressed rows stays with a chunk that cannot move');
my $one = q{CALL move_table_concurrently('chunk_1', 'slow', dry_run => true)};
like(messages_of($node, $one), qr/NOTICE:.*"chunk_1" is a chunk whose compressed rows do not move along/s, 'a compressed chunk that moves alone is pointed out');
unlike(messages_of($node, $one =~ s/chunk_1/chunk_2/r), qr/compressed/, 'others are not');
$node->safe_psql('postgres', "$from_2_29;");
like(messages_of($node, $one), qr/"chunk_1" is a chunk whose compressed rows/, 'a compressed chunk without a name in the catalog is pointed out, too');
$node->safe_psql('postgres', q{
	ALTER TABLE _timescaledb_catalog.chunk ADD schema_name name, ADD table_name name;
	UPDATE _timescaledb_catalog.chunk SET schema_name = 'public', table_name = relid::text;
	ALTER TABLE _timescaledb_catalog.chunk DROP relid});
my $unknown = q{ALTER TABLE _timescaledb_catalog.hypertable RENAME table_name TO other};
like(messages_of($node, "$unknown; CALL move_table_concurrently('metrics', 'slow', dry_run => true)"),
	qr/0A000.*"metrics", which may be a hypertable/s, 'where hypertables are not known, no parent moves');
$node->safe_psql('postgres', q{ALTER TABLE _timescaledb_catalog.hypertable RENAME other TO table_name});
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM advise_partition_placement('metrics', 'slow', '30 days')
		WHERE upper_bound NOT BETWEEN now() - interval '61 days' AND now() - interval '9 days'}), '0', 'bounds are those of the catalog');
is($node->safe_psql('postgres', q{
		SELECT tablespace_advisor.chunk_end(1e6::bigint * 86400 * 365, t)
		FROM unnest('{timestamptz,date,timestamp,uuid,int8}'::regtype[]) t}),
	join("\n", ('01/01/1971 00:00:00 UTC') x 4, ''), 'times are told, numbers are not');
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
	join("\n", map { "$_|attach_tablespace|setting of hypertable public.metrics|SELECT public.attach_tablespace('pg_default'::pg_catalog.name, 'public.metrics'::pg_catalog.regclass, if_not_attached => true), public.detach_tablespace('fast'::pg_catalog.name, 'public.metrics'::pg_catalog.regclass, if_attached => false);" } qw(other postgres)),
	'attached tablespaces of both databases, with statements');
is($node->safe_psql('postgres', q{
		CREATE TABLE called (who text);
		CREATE FUNCTION attach_tablespace(tablespace name, hypertable regclass, if_not_attached boolean DEFAULT false)
			RETURNS void LANGUAGE sql AS 'INSERT INTO called VALUES (''attach'')';
		CREATE FUNCTION detach_tablespace(tablespace name, hypertable regclass DEFAULT NULL, if_attached boolean DEFAULT false)
			RETURNS void LANGUAGE sql AS 'INSERT INTO called VALUES (''detach'')';
		CREATE FUNCTION attach_tablespace(tablespace name, hypertable regclass)
			RETURNS void LANGUAGE sql AS 'INSERT INTO called VALUES (''planted'')';
		CREATE FUNCTION detach_tablespace(tablespace name, hypertable regclass)
			RETURNS void LANGUAGE sql AS 'INSERT INTO called VALUES (''planted'')';
		SELECT statement FROM tablespace_contents('fast') WHERE how = 'setting' AND database = 'postgres' \gexec
		SELECT string_agg(who, ' ') FROM called}), "|\nattach detach", 'no function fits these statements better than TimescaleDB\'s own');
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
	qr/NOTICE:.*table "orders" belongs to Citus.*HINT:  Move shards: SELECT \* FROM pg_catalog\.run_command_on_placements\('public\.orders'/s,
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
wait_until($node, q{EXISTS (SELECT FROM all_tablespace_moves() WHERE database = 'other' AND state = 'running' AND bytes_done > 0
	AND relation_name = 'public.t' AND started_at > now() - interval '10 minutes' AND eta > '0')}, 'the move of another database is seen');
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
$node->safe_psql('other', q{UPDATE pg_extension SET extversion = '1.0' WHERE extname = 'tablespace_advisor'});
is($node->safe_psql('postgres', q{SELECT database, job_id IS NULL, error FROM all_tablespace_moves() WHERE database = 'other'}),
	'other|t|The extension is of another version there.', 'a database with another version is named');
wait_for_workers($node);
check_orphans($node, 'fleets');
$node->stop;
check_no_crash($node, 'fleets');
done_testing();
