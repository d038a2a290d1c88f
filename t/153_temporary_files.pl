# Copyright (c) 2026, The tablespace_advisor developers

# Advice on temporary files, where what they take was timed; who would not follow it.
# WAL beside data.

use TsaTest;

my $node = start_plain('main', conf => q{
autovacuum = off
work_mem = '64kB'
});
plan skip_all => 'no pg_stat_statements'
  if $node->safe_psql('postgres',
	q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'}) eq '0';

sub row
{
	return $node->safe_psql('postgres', q{
		SELECT action, from_tablespace, to_tablespace, saved_ms_per_s > 0, read_ms_per_s > 0, reason, statement
		FROM advise_placement() WHERE kind = 'temporary files'});
}

# A page read or written in sequence takes so many microseconds.
sub plant_probe
{
	my ($name, $us) = @_;

	$node->safe_psql('postgres', probe_of($name,
		map { [ $_, 1, 8192, $us ] } ('random read', 'sequential read', 'sequential write')));
	return;
}

$node->safe_psql('postgres', $_)
  foreach (
	q{CREATE TABLESPACE flash LOCATION ''},
	'CREATE ROLE reporter LOGIN',
	'CREATE TABLE t (n int)',
	q{CREATE OR REPLACE VIEW tablespace_advisor.device AS
		SELECT t.spcname AS tablespace, d.location, d.filesystem, d.mount_point, d.device,
			d.device_stack, d.media, d.raid_level, d.members, d.redundant, false AS volatile,
			d.size_bytes, d.free_bytes, d.read_ahead_kb, d.scheduler,
			'{}'::name[] AS shares_device_with, '{}'::text[] COLLATE "C" AS warnings,
			d.degraded, d.write_penalty, d.write_cache
		FROM pg_tablespace t, LATERAL tablespace_advisor.tablespace_device(t.oid) d
		WHERE t.spcname <> 'pg_global'});
plant_probe('pg_default', 1000);
my $sort = 'SELECT count(*) FROM (SELECT n FROM generate_series(1, 300000) n ORDER BY n DESC OFFSET 0) s';

is(row(), '', 'without pg_stat_statements there is no row on temporary files');
$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements');
is(row(), '', 'where pg_stat_statements is not loaded nothing is said');
$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'pg_stat_statements'});
$node->restart;
$node->safe_psql('postgres', $sort);
is(row(), '', 'bytes alone are no reason');
configure($node, 'track_io_timing', 'on');
$node->safe_psql('postgres', $sort);
wait_until($node, 'EXISTS (SELECT FROM tablespace_advisor.temporary_io())', 'the counters are a second old');

my $probe = join ' ', map { qq[SELECT * FROM probe_tablespace('$_', workloads => '{sequential read,sequential write}');] } qw(pg_default flash);
# The owner of a database may set what names none.
foreach my $list ('"x,y"', '"fla""sh, ", flash', q{'"'}, q{''})
{
	$node->safe_psql('postgres', "ALTER DATABASE postgres SET temp_tablespaces = $list");
	like(row(), qr/^probe first\|pg_default\|/, "where temp_tablespaces is $list, files are where the database is");
}
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET temp_tablespaces');
is($node->safe_psql('postgres', q{
		SELECT string_agg(coalesce(tablespace_advisor.first_identifier(l), 'NULL'), '|' ORDER BY n)
		FROM unnest(ARRAY['Flash, b', '"Fla,""sh", b', ' " x" ', '', '"open', 'a']) WITH ORDINALITY l(l, n)}),
	'flash|Fla,"sh| x|NULL|NULL|a', 'names of lists');

is(row(), "probe first|pg_default|pg_default||t|no probe of sequential reads and writes of pg_default and flash|$probe",
	'what was not measured is asked for');
unlike($node->safe_psql('postgres', 'SELECT tablespace_report()'), qr/="" y=/,
	'pictures of little have no marks without a place');
is(scalar(grep { $_ eq $probe } split /\n/, $node->safe_psql('postgres', 'SELECT explain_placement()')),
	1, 'the account has the statement');
plant_probe('flash', 10);

my $statement = 'ALTER DATABASE postgres SET temp_tablespaces = flash;';
is(row(), "move|pg_default|flash|t|t|one role cannot create there, and would go on as before: reporter|$statement",
	'the row says to move temporary files to flash, and who would not follow');
my $account = $node->safe_psql('postgres', 'SELECT explain_placement()') =~ s/\n  +/ /gr;    # long lines are folded
like($account, qr/^Temporary files: .*sessions? waits? for them.* in pg_default; flash saves \d+ % of that: one role cannot create there/m,
	'the account says what they take and who would not follow');
like($account, qr/^\Q$statement\E$/m, 'the account has the statement');
like($account, qr/^WAL: .*\/s on average of .*, on the device of pg_default/m,
	'the account names WAL beside data');
my $page = $node->safe_psql('postgres', 'SELECT tablespace_report()');
like($page, qr/<b>Put temporary files into flash<\/b>Saves: \d+ % of what statements wait for them .*<code>\Q$statement\E/,
	'the page has it among what is worth doing');
like($page, qr/>Temporary files: [^<]* in pg_default; flash saves /, 'the page says what they take');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM advise_placement(target => 't') WHERE kind = 'temporary files'}),
	'0', 'advice on a table has no row on temporary files');
unlike($node->safe_psql('postgres', q{SELECT explain_placement('t')}), qr/Temporary|WAL:/, 'the account of a table has nothing of temporary files');

$node->safe_psql('postgres', 'GRANT CREATE ON TABLESPACE flash TO public');
like(row(), qr/\|waited for \S+ m?s a second, in /, 'all may create there');
$node->safe_psql('postgres', $statement);
like(row(), qr/^keep\|flash\|flash\|f\|t\|no tablespace is much faster/, 'followed, there is nothing left to do');

$node->stop;
done_testing();
