# Copyright (c) 2026, The tablespace_advisor developers

# The recipe "Ninety days on flash" of docs/tiering.md, run as it stands there by a
# role of the application's; and the same from pg_cron where that is installed.
# (t/002 runs all examples of that page, t/111 and t/113 have what they do.)

use TsaTest;

# The statements of a section, without its comments.
sub recipe
{
	my ($title) = @_;
	my ($section) =
	  slurp_file("docs/tiering.md") =~ /^## \Q$title\E\n(.*?)(?=^## |\z)/ms
	  or die "there is no section $title";
	my $code = join "\n", map { s/\s+-- .*//r } grep { !/^\s*--/ } $section =~ /^    (.*)$/mg;

	return map { s/\s+/ /gr } $code =~ /\s*(\S[^;]*);/g;
}

my $library = `pg_config --pkglibdir`;
chomp $library;
my $has_cron = -e "$library/pg_cron.so";
my $node = new_node('recipes', conf => "timezone = 'UTC'\n");
$node->append_conf('postgresql.conf',
	"shared_preload_libraries = 'pg_cron'\ncron.host = '@{[ $node->host ]}'\n")
  if $has_cron;
$node->start;
$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on;
	CREATE TABLESPACE slow LOCATION '';
	CREATE EXTENSION tablespace_advisor});

$node->safe_psql('postgres', q{
	CREATE ROLE app LOGIN;
	GRANT CREATE ON TABLESPACE slow TO app;
	CREATE TABLE events (at timestamptz, n int) PARTITION BY RANGE (at);
	DO $$ BEGIN
		FOR i IN 0 .. 5 LOOP
			EXECUTE format('CREATE TABLE events_%s PARTITION OF events FOR VALUES FROM (%L) TO (%L)',
				i, current_date - 30 * (i + 1), current_date - 30 * i);
			EXECUTE format('ALTER TABLE events_%s OWNER TO app', i);
		END LOOP;
	END $$;
	CREATE TABLE events_default PARTITION OF events DEFAULT;
	CREATE INDEX ON events (n);
	INSERT INTO events SELECT current_date - g, g FROM generate_series(1, 150) g;
	ALTER TABLE events OWNER TO app});
my @statements = recipe('Ninety days on flash, then disk');
is(scalar(@statements), 3, 'ninety days: three statements');
$node->safe_psql('postgres', $statements[0]);
$node->safe_psql('postgres', $statements[1]);
sub on_disk
{
	return $node->safe_psql('postgres', q{
		SELECT string_agg(c.relname, ' ' ORDER BY c.relname)
		FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE t.spcname = 'slow' AND c.relname ~ '^events'});
}
my $old = 'events_3 events_3_n_idx events_4 events_4_n_idx events_5 events_5_n_idx';
is(on_disk(), $old, 'ninety days: the old ones have moved');
is($node->safe_psql('postgres', q{SELECT * FROM tablespace_moves WHERE state = 'failed'}),
	'', 'ninety days: no move has failed');

SKIP:
{
	skip 'pg_cron is not installed', 4 unless $has_cron;
	like($statements[2], qr/cron\.schedule/, 'cron: the recipe has the statement that schedules it');
	$node->safe_psql('postgres', q{
		CALL move_partitions_concurrently('events', 'pg_default', '90 days', min_residence => '0');
		DELETE FROM tablespace_advisor.job;
		CREATE EXTENSION pg_cron;
		GRANT USAGE ON SCHEMA cron TO app});
	is(on_disk(), '', 'cron: back for now');

	# As it stands there, but for the time: pg_cron knows none but minutes and
	# "when the server starts".
	$node->safe_psql('postgres', "SET SESSION AUTHORIZATION app; $statements[2]");
	$node->safe_psql('postgres', q{UPDATE cron.job SET schedule = '@reboot'});
	$node->restart;
	wait_until($node, q{EXISTS (SELECT FROM cron.job_run_details WHERE status IN ('succeeded', 'failed'))}, 'the job ends');
	is( $node->safe_psql('postgres',
			'SELECT username, status FROM cron.job_run_details'),
		'app|succeeded', 'cron: the job has succeeded');
	is(on_disk(), $old, 'cron: the old ones have moved');
}
is(contents($node, 'slow', where => q{how = 'orphan'}), '', 'no orphan');
$node->stop;

done_testing();
