# Copyright (c) 2026, The tablespace_advisor developers

# Partitions move by age and by disuse: which do, which never do, and that a
# job that is repeated does not move one to and fro; with pg_partman and
# integer keys where it is installed.

use TsaTest;

my $node = start_node('partitions', conf => "timezone = 'UTC'\ndatestyle = 'SQL, DMY'\n");

# The names of partitions with an action.
sub advice
{
	my ($table, $arguments, $action) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT string_agg(partition::text, ' ' ORDER BY partition::text)
		FROM advise_partition_placement('$table', 'slow', $arguments)
		WHERE action = '$action'});
}

sub where_are
{
	my ($pattern) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT string_agg(c.relname, ' ' ORDER BY c.relname)
		FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE t.spcname = 'slow' AND c.relname ~ '^($pattern)'});
}

# Bounds that no timestamp can have: whoever may make a partition does not keep
# others of the table from being moved.
$node->safe_psql('postgres', q{
	CREATE TABLE far (d date) PARTITION BY RANGE (d);
	CREATE TABLE far_old PARTITION OF far FOR VALUES FROM ('2000-01-01') TO ('2000-02-01');
	CREATE TABLE far_end PARTITION OF far FOR VALUES FROM ('2100-01-01') TO ('5874897-12-31');
	INSERT INTO far VALUES ('2000-01-02')});
is(advice('far', "'45 days'", 'move'), 'far_old', 'beside a bound beyond all timestamps the old one moves');
is(advice('far', "'45 days'", 'keep'), 'far_end', 'what has that bound is kept');
$node->safe_psql('postgres', 'DROP TABLE far');

# Keys of all types that are times, made relative to a day, which may be over soon.
my $day = "'" . $node->safe_psql('postgres', q{SELECT to_char(current_date, 'YYYY-MM-DD')}) . "'::date";
for my $type (qw(date timestamp timestamptz))
{
	$node->safe_psql('postgres', qq{
		CREATE TABLE e_$type (at $type, n int) PARTITION BY RANGE (at, n);
		CREATE INDEX ON e_$type (n);
		DO \$\$ BEGIN
			FOR i IN 0 .. 3 LOOP
				EXECUTE format('CREATE TABLE e_${type}_%s PARTITION OF e_$type FOR VALUES FROM (%L, 1) TO (%L, 1)',
					i, ($day - 30 * (i + 1))::$type, ($day - 30 * i)::$type);
			END LOOP;
		END \$\$;
		CREATE TABLE e_${type}_end PARTITION OF e_$type FOR VALUES FROM ('2999-01-01', 1) TO (MAXVALUE, MAXVALUE);
		CREATE TABLE e_${type}_begin PARTITION OF e_$type FOR VALUES FROM (MINVALUE, MINVALUE) TO ('1999-12-31', 1);
		CREATE TABLE e_${type}_default PARTITION OF e_$type DEFAULT;
		INSERT INTO e_$type SELECT $day - g, g FROM generate_series(1, 100) g});
	is(advice("e_$type", "'45 days'", 'move'),
		"e_${type}_2 e_${type}_3 e_${type}_begin", "$type: the old ones");
	is(advice("e_$type", "'45 days'", 'keep'),
		"e_${type}_0 e_${type}_1 e_${type}_default e_${type}_end",
		"$type: young ones, and those of unknown age");
	is( $node->safe_psql('postgres', qq{
		SELECT upper_bound = $day - 60 FROM advise_partition_placement('e_$type', 'slow', '45 days')
		WHERE partition = 'e_${type}_2'::regclass}), 't', "$type: the upper bound");
}

# LIST and HASH have no age, but below a range they have that of the range.
$node->safe_psql('postgres', q{
	CREATE TABLE l (a int) PARTITION BY LIST (a);
	CREATE TABLE l_1 PARTITION OF l FOR VALUES IN (1);
	CREATE TABLE h (a int) PARTITION BY HASH (a);
	CREATE TABLE h_1 PARTITION OF h FOR VALUES WITH (MODULUS 1, REMAINDER 0);
	CREATE TABLE i (a int) PARTITION BY RANGE (a);
	CREATE TABLE i_1 PARTITION OF i FOR VALUES FROM (1) TO (2);
	CREATE TABLE x (at date) PARTITION BY RANGE ((at + 1));
	CREATE TABLE x_1 PARTITION OF x FOR VALUES FROM ('2000-01-01') TO ('2001-01-01');
	CREATE TABLE inf (at date) PARTITION BY RANGE (at);
	CREATE TABLE inf_1 PARTITION OF inf FOR VALUES FROM ('2000-01-01') TO ('infinity');
	CREATE TABLE s (at date, region text) PARTITION BY RANGE (at);
	CREATE TABLE s_1 PARTITION OF s FOR VALUES FROM ('2000-01-01') TO ('2001-01-01') PARTITION BY LIST (region);
	CREATE TABLE s_1_eu PARTITION OF s_1 FOR VALUES IN ('eu');
	CREATE TABLE s_1_default PARTITION OF s_1 DEFAULT;
	CREATE TABLE u (at date) PARTITION BY RANGE (at);
	CREATE UNLOGGED TABLE u_1 PARTITION OF u FOR VALUES FROM ('2000-01-01') TO ('2001-01-01')});
is(advice($_, "'1 day'", 'move'), '', "$_ has no age") for qw(l h i inf);
is(advice('x', "'1 day'", 'move'), 'x_1', 'an expression that is a date');
is(advice('s', "'1 day'", 'move'), 's_1_default s_1_eu', 'lists below a range');
is(advice('u', "'1 day'", 'keep'), 'u_1', 'an unlogged partition');

# They move, with their indexes; the parent stays, and so do new partitions.
my ($out, $err) = ('', '');
$node->psql('postgres', q{CALL move_partitions_concurrently('e_date', 'slow', '45 days', dry_run => true)},
	stderr => \$err);
like($err, qr/would move table public\.e_date_2 .*\n.*would move index public\.e_date_2_n_idx .*along with its table/,
	'what would be moved is told');
is(where_are('e_'), '', 'a dry run moves nothing');
my $sum = $node->safe_psql('postgres', 'SELECT sum(n) FROM e_date');
$node->psql('postgres', q{CALL move_partitions_concurrently('e_date', 'slow', '45 days')},
	stdout => \$out, stderr => \$err);
is(where_are('e_'), 'e_date_2 e_date_2_n_idx e_date_3 e_date_3_n_idx e_date_begin e_date_begin_n_idx',
	'the old partitions and their indexes have moved');
is($node->safe_psql('postgres', 'SELECT sum(n) FROM e_date'), $sum, 'the rows are there');
like($err, qr/NOTICE:  moved table public\.e_date_2 .*with 1 index\b/, 'each is reported');
$node->psql('postgres', q{CALL move_partitions_concurrently('e_date', 'slow', '45 days')},
	stdout => \$out, stderr => \$err);
is($out, '{}', 'a repeated call has nothing to do');
like($err, qr/NOTICE:  no partition of "e_date" is to be moved/, 'a repeated call says that there is nothing to do');
is( $node->safe_psql('postgres', q{
	CALL move_partitions_concurrently('e_date', 'pg_default', '45 days')}), '{}',
	'what has just moved does not move back');
like( $node->safe_psql('postgres', q{
		SELECT reason FROM advise_partition_placement('e_date', 'pg_default', '45 days')
		WHERE partition = 'e_date_2'::regclass}),
	qr/^It was moved at .*, less than 7 days ago\.$/, 'the reason tells when it was moved');
$node->safe_psql('postgres', q{
	CALL move_partitions_concurrently('e_date', 'pg_default', '45 days',
		min_residence => '0', with_indexes => false)});
is(where_are('e_'), 'e_date_2_n_idx e_date_3_n_idx e_date_begin_n_idx',
	'unless that is asked for; without indexes');
is( $node->safe_psql('postgres', q{
	CALL move_partitions_concurrently('e_timestamp', 'slow', '45 days', until => now())}) =~ /^\{\d/ ? 1 : 0,
	1, 'a call that is too late queues them');
is(where_are('e_timestamp'), '', 'a call that is too late moves nothing');

# Disuse, as samples tell it.
is(advice('e_timestamptz', "unused_for => '1 second'", 'move'), '',
	'without samples no partition counts as unused');
$node->safe_psql('postgres', q{
	CALL sample_activity();
	SELECT pg_sleep(1.2);
	SELECT count(*) FROM e_timestamptz_1});
$node->poll_query_until('postgres',
	q{SELECT seq_scan > 0 FROM pg_stat_user_tables WHERE relname = 'e_timestamptz_1'});
$node->safe_psql('postgres', 'CALL sample_activity()');
my $unused = advice('e_timestamptz', "unused_for => '1 second'", 'move');
like($unused, qr/e_timestamptz_0\b.*e_timestamptz_3\b/, 'what no sample saw used');
unlike($unused, qr/e_timestamptz_1\b/, 'what was read does not count as unused');
is(advice('e_timestamptz', "'45 days', '1 second'", 'move'),
	'e_timestamptz_2 e_timestamptz_3 e_timestamptz_begin', 'of age and disuse both must hold');
is(advice('e_timestamptz', "'45 days', '1 year'", 'move'), '',
	'samples that do not reach back');

# Bad input.
for my $case (
	["'e_date', 'slow'", '22023'], ["'l_1', 'slow', '1 day'", '42809'],
	["'e_date', 'no_such', '1 day'", '42704'], ["NULL, 'slow', '1 day'", '22004'],
	["'e_date', 'slow', '-1 day'", '22023'], ["'e_date', 'pg_global', '1 day'", '22023'])
{
	for my $sql ("SELECT * FROM advise_partition_placement($case->[0])",
		"CALL move_partitions_concurrently($case->[0])")
	{
		$node->psql('postgres', "\\set VERBOSITY sqlstate\n$sql", stderr => \$err);
		like($err, qr/ERROR:  $case->[1]/, "$case->[1]: $sql");
	}
}

# The owner of the database decides how strings are read, before 19.
SKIP:
{
	skip 'strings are read in one way here', 1 if $node->pg_version->major >= 19;
	$node->psql('postgres', q{
		SET standard_conforming_strings = off;
		SET escape_string_warning = off;
		SELECT count(upper_bound) > 0
		FROM advise_partition_placement('e_date', 'slow', '45 days')}, on_error_stop => 0, stdout => \$out);
	is($out, 't', 'bounds are read with standard_conforming_strings off');
}

# Somebody else's partitions.
$node->safe_psql('postgres', q{CREATE ROLE other; GRANT CREATE ON TABLESPACE slow TO other});
$node->psql('postgres', q{
	\set VERBOSITY verbose
	SET ROLE other;
	SELECT * FROM advise_partition_placement('e_timestamp', 'slow', '45 days');
	CALL move_partitions_concurrently('e_timestamp', 'slow', '45 days')},
	on_error_stop => 0, stderr => \$err);
like($err, qr/ERROR:  42501: must be owner of table e_timestamp/,
	'nobody is told how others use what is theirs');
like($err, qr/no partition of "e_timestamp" is to be moved/, 'nobody moves partitions of somebody else');
is( $node->safe_psql('postgres', q{
	GRANT pg_monitor TO other;
	SET ROLE other;
	SELECT DISTINCT action FROM advise_partition_placement('e_timestamp', 'slow', '45 days')}),
	'keep', 'members of pg_monitor are told');

SKIP:
{
	skip 'pg_partman is not installed', 4
	  if $node->safe_psql('postgres', q{
		SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_partman'}) eq '0';
	$node->safe_psql('postgres', q{
		CREATE SCHEMA partman;
		CREATE EXTENSION pg_partman SCHEMA partman;
		CREATE TABLE log (at bigint NOT NULL, n int) PARTITION BY RANGE (at)});
	my $version = $node->safe_psql('postgres',
		q{SELECT extversion FROM pg_extension WHERE extname = 'pg_partman'});
	my $type = $version =~ /^4/ ? "p_type => 'native', " : '';
	$node->safe_psql('postgres', qq{
		SELECT partman.create_parent('public.log', 'at', ${type}p_interval => '1 day',
			p_epoch => 'seconds', p_premake => 2,
			p_start_partition => (current_date - 5)::text)});
	like(advice('log', "'2 days'", 'move'), qr/^log_p\w+ log_p\w+/,
		'integer keys count as pg_partman says');
	is( $node->safe_psql('postgres', q{
		SELECT count(*) > 0 FROM advise_partition_placement('log', 'slow', '2 days')
		WHERE upper_bound = current_date}), 't', 'integer keys count in the units of pg_partman');
	$node->safe_psql('postgres', q{
		UPDATE partman.part_config SET retention = '3 days', retention_keep_table = false
		WHERE parent_table = 'public.log'});
	is(advice('log', "'2 days'", 'move'), '', 'what it will drop is not moved');
	$node->safe_psql('postgres', q{
		UPDATE partman.part_config SET retention = '100 days' WHERE parent_table = 'public.log'});
	like(advice('log', "'2 days'", 'move'), qr/log_p/, 'what it will drop much later is moved');
}
# What claims to be pg_partman's configuration, in the hands of an attacker: a
# column of a type of hers, with a cast that is called where text is needed, and
# a policy.  It is not read then; nothing of hers runs.
$node->safe_psql('postgres', q{
	CREATE ROLE mallory;
	CREATE ROLE dba IN ROLE pg_monitor;
	CREATE TYPE evil AS ENUM ('seconds');
	ALTER TYPE evil OWNER TO mallory;
	CREATE FUNCTION evil_text(evil) RETURNS text LANGUAGE plpgsql
	AS $$BEGIN ALTER ROLE mallory SUPERUSER; RETURN 'seconds'; END$$;
	CREATE CAST (evil AS text) WITH FUNCTION evil_text(evil) AS IMPLICIT;
	CREATE FUNCTION evil_policy() RETURNS bool LANGUAGE plpgsql
	AS $$BEGIN PERFORM nextval('public.caught'); RETURN true; END$$;
	CREATE SEQUENCE caught;
	GRANT ALL ON SEQUENCE caught TO PUBLIC;
	DROP EXTENSION IF EXISTS pg_partman CASCADE;
	CREATE TABLE part_config (parent_table text, retention text, epoch evil,
		retention_schema text, retention_keep_table boolean);
	INSERT INTO part_config VALUES ('public.evil_log', NULL, 'seconds', NULL, true);
	GRANT SELECT ON part_config TO PUBLIC;
	INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
	SELECT 99999, 'pg_partman', oid, 'public'::regnamespace, false, '5.0' FROM pg_roles WHERE rolname = 'mallory';
	ALTER EXTENSION pg_partman ADD TABLE part_config;
	CREATE TABLE evil_log (at bigint NOT NULL) PARTITION BY RANGE (at);
	CREATE TABLE evil_log_1 PARTITION OF evil_log FOR VALUES FROM (0) TO (1000);
	ALTER TABLE evil_log OWNER TO dba;
	ALTER TABLE part_config OWNER TO mallory});
is(advice('evil_log', "'2 days'", 'keep'), 'evil_log_1', 'a type of somebody else: the configuration is not read');
is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'}), 'f',
	'a type of somebody else: no cast of hers is called');
$node->safe_psql('postgres', q{
	ALTER TABLE part_config ALTER epoch TYPE text USING 'seconds';
	CREATE POLICY evil ON part_config USING (evil_policy())});
is(advice('evil_log', "'2 days'", 'move'), 'evil_log_1', 'a part_config whose epoch is text is read');
$node->safe_psql('postgres', 'ALTER TABLE part_config ENABLE ROW LEVEL SECURITY');
is($node->safe_psql('postgres', q{
	SET ROLE dba;
	SELECT count(*) FROM advise_partition_placement('evil_log', 'slow', '2 days') WHERE action = 'move'}), '0',
	'a part_config with a policy is not read');
is($node->safe_psql('postgres', 'SELECT is_called FROM caught'), 'f', 'a policy on part_config is not called');

# While it waits for a lock on that table, she gives the table's name to a view.
$node->safe_psql('postgres', q{
	ALTER TABLE part_config DISABLE ROW LEVEL SECURITY;
	GRANT CREATE ON SCHEMA public TO mallory;
	CREATE FUNCTION evil_epoch() RETURNS text LANGUAGE plpgsql
	AS $$BEGIN ALTER ROLE mallory SUPERUSER; RETURN 'seconds'; END$$});
my $owner = session($node);
ask($owner, q{
	SET SESSION AUTHORIZATION mallory;
	BEGIN;
	LOCK TABLE part_config;
	ALTER TABLE part_config RENAME TO other_config;
	CREATE VIEW part_config AS
	SELECT 'public.evil_log'::text AS parent_table, NULL::text AS retention,
		evil_epoch() AS epoch, NULL::text AS retention_schema, true AS retention_keep_table;
	GRANT SELECT ON part_config TO PUBLIC;});
my $asker = session($node);
send_to($asker, q{SELECT count(*) FROM advise_partition_placement('evil_log', 'slow', '2 days');});
wait_for_lock_of($node, $asker->{pid});
ask($owner, 'COMMIT;');
ask($asker, q{SELECT 'answered';});
is($asker->{err} . $owner->{err}, '', 'a configuration that is renamed meanwhile');
is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'}), 'f',
	'a configuration that is renamed meanwhile is not taken for a view in its place');
end_session($_) foreach $owner, $asker;

check_orphans($node, 'partitions');
$node->stop;

done_testing();
