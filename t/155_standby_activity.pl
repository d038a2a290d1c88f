# Copyright (c) 2026, The tablespace_advisor developers

# What is read on a standby counts in the advice once it was brought to the
# primary; and for nobody else's server or database.

use TsaTest;

my $primary = start_node('primary', conf => "autovacuum = off\nshared_buffers = 1MB\n", init => { allows_streaming => 'logical' });
$primary->safe_psql('postgres', two_devices());
$primary->safe_psql('postgres', q{
	CREATE TABLE orders TABLESPACE slow AS SELECT n, repeat('x', 100) AS filler FROM generate_series(1, 100000) n;
	CREATE INDEX orders_n ON orders (n) TABLESPACE slow;
	VACUUM ANALYZE orders});
my $standby = start_standby($primary);
$primary->safe_psql('postgres', $_) foreach ('CALL sample_activity()', 'SELECT 1', 'CALL sample_activity()');
$primary->wait_for_catchup($standby);

# Whether a transaction of the primary has made a file cannot be told there.
my $directory = $standby->data_dir . '/' . $standby->safe_psql('postgres', q{
	SELECT tablespace_advisor.tablespace_directory(t.oid) || '/' || d.oid
	FROM pg_tablespace t, pg_database d WHERE t.spcname = 'slow' AND d.datname = 'postgres'});
append_to_file("$directory/99999", 'x' x 8192);
like($standby->safe_psql('postgres', q{SELECT concat_ws(' ', how, reason) FROM tablespace_contents('slow') WHERE kind = 'file'}),
	qr/^temporary .*a transaction of the primary may have made it/, 'a file of nobody on a standby');
unlink "$directory/99999";

my $advice = sub { return $primary->safe_psql('postgres', q{
	SELECT string_agg(concat_ws(' ', action, relation, to_tablespace), ', ' ORDER BY relation::text) FROM advise_placement()
	WHERE action = 'move'}) };
is($advice->(), '', 'the primary knows nothing of what the standby reads');
my $explained = sub { return $primary->safe_psql('postgres', q{SELECT explain_placement('orders')}) };
my $standbys = sub { return $primary->safe_psql('postgres', q{
	SELECT w FROM tablespace_advisor.evacuation_warnings(1663, 1663) w WHERE w LIKE '%standby%'}) };
like($explained->(), qr/Standbys: what they scan and read is not counted: standby/, 'the account says that standbys are not counted');
is($standbys->(), 'the free space of 1 standby server is not known here', 'an evacuation warns of them');

# who receives WAL or changes, and replays nothing, is no standby
my $wal = PostgreSQL::Test::Utils::tempdir();
$primary->safe_psql('postgres', q{SELECT pg_create_logical_replication_slot('changes', 'test_decoding')});
my @receivers = map { start_command(@$_, '-d', $primary->connstr('postgres')) }
  [ 'pg_recvlogical', '--slot', 'changes', '--start', '-f', "$wal/changes" ], [ 'pg_receivewal', '-D', $wal ];
$primary->poll_query_until('postgres', q{SELECT count(*) = 3 FROM pg_stat_replication WHERE state = 'streaming'}) or die;
like($explained->(), qr/is not counted: standby\.$/m, 'the account does not call them standbys');
is($standbys->(), 'the free space of 1 standby server is not known here', 'warnings do not count them as standbys');
$primary->safe_psql('postgres', q{
	CREATE ROLE teller;
	CREATE TABLE hers (a int);
	ALTER TABLE hers OWNER TO teller});
like($primary->safe_psql('postgres', q{SET SESSION AUTHORIZATION teller; SELECT * FROM explain_placement('hers')}),
	qr/is not counted: standby servers\.$/m, 'an owner is not told the names of standbys');
$_->{harness}->kill_kill foreach @receivers;
$primary->poll_query_until('postgres', q{SELECT pg_drop_replication_slot('changes') IS NOT NULL
	FROM pg_replication_slots WHERE slot_name = 'changes' AND NOT active}) or die;

# the standby is watched while it reads
my $activity = watch_while($standby, q{SELECT standby_activity('%d s');}, sub {
	$standby->safe_psql('postgres', q{
		SET max_parallel_workers_per_gather = 0;
		SELECT count(filler) FROM orders; SELECT count(filler) FROM orders;
		SET enable_seqscan = off;
		SELECT count(filler) FROM orders WHERE n < 500;
		SELECT pg_stat_force_next_flush()}) });
like($activity, qr/"relations": \[\{/, "what it reads: @{[ $activity ]}");
my $orders = $primary->safe_psql('postgres', q{SELECT 'orders'::regclass::oid});
like($activity, qr/"relation": "?$orders"?/, 'relations by their OIDs');
my $bring = sub {
	my ($json, $more) = @_;
	return messages_of($primary, "SELECT add_standby_activity(\$a\$$json\$a\$::jsonb$more)");
};
is($primary->safe_psql('postgres', "SELECT add_standby_activity(\$a\$$activity\$a\$) > 0"), 't', 'the activity of a standby is brought to the primary');
is($primary->safe_psql('postgres', "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class LIMIT 1;
	SELECT add_standby_activity(\$a\$$activity\$a\$) > 0"), 't', 'the activity is brought in a transaction that has a snapshot');
# caches are not those of a day of reads
$primary->safe_psql('postgres', 'DELETE FROM tablespace_advisor.tablespace_io_sample');
like($advice->(), qr/\bmove orders fast\b/, "with the standby's reads the table is advised to move");
unlike($explained->(), qr/Standbys: what they scan/, 'nothing is said to be left out');
is($primary->safe_psql('postgres', q{SELECT count(*) > 0 FROM advise_placement(target => 'orders')
		WHERE relation = 'orders_n'::regclass AND action = 'drop candidate'}), 'f', 'an index that is scanned there is no candidate for DROP');

# the recipe, but for the name of the server
SKIP:
{
	skip 'dblink is not installed', 2
	  if $primary->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'dblink'}) eq '0';
	my ($recipe) = recipes('fleets', 'Reads of standbys');
	$primary->safe_psql('postgres', 'CREATE EXTENSION dblink');
	$recipe =~ s/'host=standby dbname=shop'/"'" . ($standby->connstr('postgres') =~ s{'}{''}gr) . "'"/e;
	$recipe =~ s/advisor\.//;
	$recipe =~ s/10 min/500 ms/;
	like(run_recipe($primary, 'postgres', $recipe, 'dblink'), qr/^\d+$/, 'dblink brings it');
	$primary->safe_psql('postgres', "SELECT add_standby_activity(\$a\$$activity\$a\$)");
}

# what is refused
like($bring->($activity =~ s/"system_identifier": "\d+"/"system_identifier": "1"/r, ''), qr/22023/, 'activity of another server is refused');
like($bring->($activity =~ s/"database": "?\d+"?/"database": "1"/r, ''), qr/22023/, 'activity of another database is refused');
like($bring->($_, ''), qr/22023/, "not that: $_") foreach ('[]', '{}', '1', 'null');
like(messages_of($primary, 'SELECT add_standby_activity(NULL)'), qr/22004/, 'NULL');
fails_with($standby, 'SELECT standby_activity(NULL)', '22004', 'observe must not be null', 'watching for NULL is refused');
fails_with($primary, q{SELECT standby_activity('1 s')}, '55000', 'this server is not a standby', 'standby_activity() is refused on the primary');
like(messages_of($standby, "SELECT add_standby_activity(\$a\$$activity\$a\$)"), qr/25006/, 'add_standby_activity() is refused on a standby');
$primary->safe_psql('postgres', 'CREATE ROLE somebody');
like(messages_of($primary, q{SET ROLE somebody; SELECT add_standby_activity('{}')}), qr/42501/, 'add_standby_activity() is not for everybody');

# figures that nobody measured do no harm; what is old does not count
$primary->safe_psql('postgres', "SELECT add_standby_activity(\$a\$" . ($activity =~ s/"reads_per_s": [\d.e+-]+/"reads_per_s": 1e308/gr) . "\$a\$, 'wild')");
isnt($advice->(), undef, 'absurd figures are cut');
is($primary->safe_psql('postgres', "SELECT add_standby_activity(\$a\$" . ($activity =~ s/"relations": .*\]/"relations": []/r) . "\$a\$, 'wild')"), '0',
	'what is brought again takes the place of what was there');
$primary->safe_psql('postgres', q{UPDATE tablespace_advisor.standby_activity SET observed_at = now() - interval '2 days'});
is($advice->(), '', 'what was seen two days ago does not count');
is($primary->safe_psql('postgres', "SELECT add_standby_activity(\$a\$" . ($activity =~ s/"relations": .*\]/"relations": []/r) . "\$a\$, 'another');
		SELECT count(*) FROM tablespace_advisor.standby_activity"), "0\n0", 'what was seen two days ago is forgotten when something is brought');
$standby->stop;
$primary->stop;
check_no_crash($_, $_->name) foreach $primary, $standby;
done_testing();
