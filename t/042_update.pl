# ALTER EXTENSION ... UPDATE: from every released version, the result is the
# same as a fresh install's.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

# All that the extension owns, with definitions, rights, comments and what
# pg_dump is told to take along.
sub inventory
{
	my ($dbname) = @_;

	return $node->safe_psql($dbname, q{
		SET search_path = pg_catalog;
		CREATE TEMP VIEW member AS
		SELECT d.classid, d.objid
		FROM pg_depend d JOIN pg_extension e
			ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
		WHERE e.extname = 'tablespace_advisor' AND d.deptype = 'e';

		SELECT pg_describe_object(classid, objid, 0), obj_description(objid, classid::regclass::name)
		FROM member ORDER BY 1;
		SELECT pg_get_functiondef(p.oid), p.proacl
		FROM member m JOIN pg_proc p ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid
		ORDER BY p.oid::regprocedure::text;
		SELECT c.oid::regclass, c.relkind, c.relpersistence, c.reloptions, c.relacl,
			CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) END
		FROM member m JOIN pg_class c ON m.classid = 'pg_class'::regclass AND m.objid = c.oid
		ORDER BY c.oid::regclass::text;
		SELECT a.attrelid::regclass, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod),
			a.attnotnull, a.attidentity, a.attacl, pg_get_expr(d.adbin, d.adrelid),
			col_description(a.attrelid, a.attnum)
		FROM member m
		JOIN pg_attribute a ON m.classid = 'pg_class'::regclass AND m.objid = a.attrelid
		LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attnum > 0 AND NOT a.attisdropped
		ORDER BY a.attrelid::regclass::text, a.attnum;
		SELECT pg_get_indexdef(i.indexrelid)
		FROM member m JOIN pg_index i ON m.classid = 'pg_class'::regclass AND m.objid = i.indrelid
		ORDER BY 1;
		SELECT c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)
		FROM member m
		JOIN pg_constraint c ON m.classid = 'pg_class'::regclass AND m.objid = c.conrelid
		ORDER BY c.conrelid::regclass::text, 2;
		SELECT array(SELECT c::regclass::text FROM unnest(extconfig) c ORDER BY 1), extcondition
		FROM pg_extension WHERE extname = 'tablespace_advisor'});
}

$node->safe_psql('postgres', 'CREATE DATABASE fresh');
$node->safe_psql('fresh', 'CREATE EXTENSION tablespace_advisor');
my $fresh = inventory('fresh');
like($fresh, qr/estimate_pgbench_size/, 'the fresh install has something in it');

# A comparison that cannot fail would prove nothing.
$node->safe_psql('fresh', q{
	ALTER TABLE tablespace_advisor.probe_run ADD COLUMN one_more int});
isnt(inventory('fresh'), $fresh, 'a difference shows');

my @released = split /\n/, $node->safe_psql('postgres', q{
	SELECT v.version FROM pg_available_extension_versions v
	JOIN pg_available_extensions e USING (name)
	WHERE v.name = 'tablespace_advisor' AND v.version <> e.default_version
	ORDER BY 1});

SKIP:
{
	skip 'no version has been released before this one', 1 unless @released;
	foreach my $version (@released)
	{
		my $dbname = 'from_' . $version =~ s/\W/_/gr;

		$node->safe_psql('postgres', "CREATE DATABASE $dbname");
		$node->safe_psql($dbname, "CREATE EXTENSION tablespace_advisor VERSION '$version'");
		$node->safe_psql($dbname, 'ALTER EXTENSION tablespace_advisor UPDATE');
		is(inventory($dbname), $fresh, "update from $version gives what a fresh install gives");
	}
}

$node->stop;
done_testing();
