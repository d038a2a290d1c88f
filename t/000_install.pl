# Copyright (c) 2026, The tablespace_advisor developers

# Installing, without shared_preload_libraries and with it, in a schema of the
# user's choice, across a restart and a crash, and leaving nothing behind.

use TsaTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

sub extension_schema
{
	return $node->safe_psql('postgres', q{
		SELECT extnamespace::regnamespace FROM pg_extension
		WHERE extname = 'tablespace_advisor'});
}

# everything that exists, by class: the catalogs' own account of the database
sub inventory
{
	return $node->safe_psql('postgres', q{
		SELECT 'relation ' || oid::regclass FROM pg_class WHERE oid >= 16384
		UNION ALL SELECT 'function ' || oid::regprocedure FROM pg_proc WHERE oid >= 16384
		UNION ALL SELECT 'type ' || oid::regtype FROM pg_type WHERE oid >= 16384
		UNION ALL SELECT 'schema ' || nspname FROM pg_namespace
			WHERE oid >= 16384 AND nspname !~ '^pg_(toast_)?temp_'
		UNION ALL SELECT 'tablespace ' || spcname FROM pg_tablespace
		ORDER BY 1});
}

$node->safe_psql('postgres', 'CREATE SCHEMA "Odd Schema"');
my $before = inventory();

$node->safe_psql('postgres', 'CREATE EXTENSION tablespace_advisor');
is(extension_schema(), 'public', 'installs without being preloaded');
isnt(inventory(), $before, 'makes something');

$node->stop('immediate');
$node->start;
is(extension_schema(), 'public', 'survives a crash');

$node->safe_psql('postgres', 'DROP EXTENSION tablespace_advisor');
is(inventory(), $before, 'DROP EXTENSION leaves no trace');

$node->safe_psql('postgres',
	'CREATE EXTENSION tablespace_advisor SCHEMA "Odd Schema"');
is(extension_schema(), '"Odd Schema"', 'installs into any schema');
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM pg_depend d
		JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass
			AND d.refobjid = e.oid AND e.extname = 'tablespace_advisor'
		JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
		WHERE p.pronamespace NOT IN (e.extnamespace,
			'tablespace_advisor'::regnamespace)}),
	'0', 'all functions are in the schemas of the extension');

$node->append_conf('postgresql.conf',
	"shared_preload_libraries = 'tablespace_advisor'");
$node->restart;
is(extension_schema(), '"Odd Schema"', 'can be preloaded');
SKIP:
{
	skip 'libraries have no versions before 18', 1 if $node->pg_version->major < 18;
	is( $node->safe_psql('postgres', q{
			SELECT count(*)
			FROM pg_get_loaded_modules() m
				JOIN pg_extension e ON e.extname = m.module_name AND e.extversion = m.version
			WHERE m.file_name = 'tablespace_advisor.so'}),
		'1', 'the library says its name and version');
}
$node->safe_psql('postgres', 'DROP EXTENSION tablespace_advisor');
is(inventory(), $before, 'DROP EXTENSION leaves no trace when the library is preloaded');

$node->stop;
my $log = slurp_file($node->logfile);
unlike($log, qr/PANIC|TRAP:|terminated by signal (?:6|11)/, 'no crash');

done_testing();
