# Copyright (c) 2026, The tablespace_advisor developers

# The extension in a folder of its own, as an image volume has it: the server
# finds it by extension_control_path and dynamic_library_path, and libaio beside
# the library.

use TsaTest;

use File::Basename;

chomp(my $version = `pg_config --version`);
plan skip_all => "extension_control_path came with 18, this is $version"
	if ($version =~ /(\d+)/)[0] < 18;

my $top = dirname(dirname(__FILE__));
my $image = PostgreSQL::Test::Utils::tempdir();
system_or_bail("$top/contrib/image/build", $image);
my $node = start_plain('image', conf => qq{
extension_control_path = '$image/share:\$system'
dynamic_library_path = '$image/lib:\$libdir'
shared_preload_libraries = 'tablespace_advisor'
tablespace_advisor.sample_interval = 0
});
$node->safe_psql('postgres', q{CREATE TABLESPACE fast LOCATION ''});
is($node->safe_psql('postgres', q{SELECT location FROM pg_available_extensions WHERE name = 'tablespace_advisor'})
	  =~ s/\n.*//sr, "$image/share/extension", 'the extension of that folder is made')
  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_attribute WHERE attrelid = 'pg_available_extensions'::regclass AND attname = 'location'}) eq '1';
$node->safe_psql('postgres', q{
	CREATE TABLE orders AS SELECT g AS id FROM generate_series(1, 1000) g;
	CREATE INDEX orders_id ON orders (id)});
is( $node->safe_psql('postgres', q{
		SELECT count(*) > 0 FROM probe_tablespace('fast', '200 ms', '16 MB')}),
	't', 'a probe finds libaio');
$node->safe_psql('postgres', q{CALL move_indexes_concurrently('orders', 'fast')});
is( $node->safe_psql('postgres', q{
		SELECT tablespace FROM pg_indexes WHERE indexname = 'orders_id'}),
	'fast', 'a worker moves an index');

my $maps = slurp_file('/proc/' . $node->safe_psql('postgres',
	q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'})
	. '/maps');
my %from = map { /(\S+\/(libaio|tablespace_advisor)\S*)/ ? ($2 => dirname($1)) : () }
	split /\n/, $maps;
is_deeply(\%from,
	{ libaio => "$image/lib", tablespace_advisor => "$image/lib" },
	'both libraries are those of the image');
$node->stop;

done_testing();
