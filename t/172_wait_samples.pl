# Copyright (c) 2026, The tablespace_advisor developers

# Measured waits from the sampler's side: samples, their view and their metrics
# agree with pg_stat_statements; a restart loses and repeats nothing; a standby is
# watched without samples; a server that does not preload says so.
#
# Every execution is measured here (track_waits_sample = 1), so that sums are exact.

use TsaTest;

my $plain = start_plain('plain');
fails_with($plain, 'SELECT * FROM tablespace_waits', '55000', 'waits for reads are not measured on this server',
	'tablespace_waits without preloading');
fails_with($plain, 'SELECT * FROM observe_waits()', '55000', 'waits for reads are not measured on this server',
	'observe_waits() without preloading');
fails_with($plain, 'SELECT * FROM advise_statements()', '55000', 'waits for reads are not measured on this server',
	'advise_statements() without preloading');
like($plain->safe_psql('postgres', q{SELECT message FROM tablespace_advisor_health() WHERE subject = 'preloading' AND NOT ok}),
	qr/no\s+waits/, 'health names what preloading is needed for');
$plain->safe_psql('postgres', $_) foreach 'CREATE TABLE t (a int)', 'CALL sample_activity()', 'CALL sample_activity()';
is($plain->safe_psql('postgres', q{
		SELECT count(*), count(waits_measured_s) FROM tablespace_advisor.sample;
		SELECT DISTINCT source, measured, waiting_sessions FROM tablespace_advisor.observed_activity();
		SELECT DISTINCT measured FROM tablespace_advisor.observed_activity('100 ms');
		SELECT relation_waits IS NULL FROM tablespace_advisor.observe_database()}),
	"2|0\nsamples|f|\nf\nt", 'without preloading samples and facts say that nothing was measured');
$plain->stop;

my $primary = start_plain('primary', init => { allows_streaming => 1 }, conf => q{
shared_preload_libraries = 'tablespace_advisor, pg_stat_statements'
tablespace_advisor.sample_interval = 0
tablespace_advisor.track_waits_sample = 1
shared_buffers = 1MB
track_io_timing = on
autovacuum = off
max_parallel_workers_per_gather = 0
jit = off
});
$primary->safe_psql('postgres', q{
	CREATE EXTENSION pg_stat_statements;
	CREATE TABLE facts AS SELECT n AS id, hashint4(n) & 1023 AS ck, repeat('x', 90) AS pad FROM generate_series(1, 60000) n;
	CREATE INDEX facts_ck ON facts (ck);
	CREATE TABLE report AS SELECT n AS a, n % 10 AS b, repeat('s', 100) AS c FROM generate_series(1, 40000) n;
	VACUUM ANALYZE facts;
	VACUUM ANALYZE report;
	CHECKPOINT});

# The load: one statement reads by key, another one scans; what the session has
# measured is handed in before it ends.
my $keyed = 'SELECT sum(length(pad)) FROM facts WHERE ck = ';
my $scan = 'SELECT count(*) FROM report WHERE b = 3';
sub load
{
	my ($node) = @_;

	$node->safe_psql('postgres', join ';', (map { "$keyed$_" } 1 .. 40), $scan, 'SELECT tablespace_advisor.flush_waits()');
	return;
}
sub sample { return $primary->safe_psql('postgres', 'CALL sample_activity()'); }

sample();
$primary->safe_psql('postgres', 'SELECT pg_stat_statements_reset()');
load($primary);

# the view: since the last sample
my $view = $primary->safe_psql('postgres', 'SELECT access, relation, statement FROM tablespace_waits');
like($view, qr/^sequential\|report\|SELECT count\(\*\) FROM report.*\.\.\.$/m, 'the view names the scan, by its text');
like($view, qr/^heap by bitmap\|facts\|SELECT sum\(length\(pad\)\).*\.\.\.$/m, 'the view names the keyed reads');
$primary->safe_psql('postgres', 'CREATE ROLE monitor IN ROLE pg_monitor; CREATE ROLE nobody');
my $as = sub { my ($role, $sql) = @_; return $primary->safe_psql('postgres', "SET ROLE $role; $sql") };
like($as->('monitor', 'SELECT statement FROM tablespace_waits'), qr/^SELECT count/m, 'a member of pg_monitor sees texts');
unlike($as->('monitor', 'RESET ROLE; BEGIN; REVOKE pg_read_all_stats FROM pg_monitor; SET LOCAL ROLE monitor; SELECT statement FROM tablespace_waits'),
	qr/^SELECT (?:count|sum)/m, 'without pg_read_all_stats nobody sees statements of others');
like(messages_of($primary, 'SET ROLE nobody; SELECT * FROM tablespace_waits'), qr/42501/, 'the view is not for everybody');
my ($table) = run_command([ 'psql', '-X', '-d', $primary->connstr('postgres'), '-c', 'SELECT * FROM tablespace_waits' ]);
is(join("\n", grep { length > 120 } split /\n/, $table), '', 'the view fits 120 columns');

# samples: blocks and time of each statement are those of pg_stat_statements, and
# of each relation those of its statement
my $time = $primary->safe_psql('postgres', q{
	SELECT attname FROM pg_attribute WHERE attrelid = 'pg_stat_statements'::regclass AND attname IN ('blk_read_time', 'shared_blk_read_time')});
sub compare
{
	return $primary->safe_psql('postgres', qq{
		SELECT left(p.query, 17), w.relation::regclass, w.reads = p.shared_blks_read OR w.relation <> 0,
			abs(w.waited_ms - p.$time) <= 0.05 * p.$time + 0.5 OR w.relation <> 0, w.calls
		FROM pg_stat_statements p
		JOIN (SELECT s.queryid, s.relation, CASE s.access WHEN 'all' THEN 1 ELSE 2 END AS part,
				sum(s.calls::float8) AS calls, sum(s.reads::float8) AS reads, sum(s.waited_ms::float8) AS waited_ms
			FROM tablespace_advisor.statement_wait_sample s GROUP BY 1, 2, 3) w USING (queryid)
		WHERE p.query ~ '^SELECT (sum|count).*(facts|report)' AND p.toplevel AND w.part = 1
		ORDER BY 1});
}
sample();
# Advice names these statements, with the time of a call; nothing can be moved here.
# Times are those of pg_stat_statements, which reads the clock, too: of a process that
# waits for a processor between the two another load shows it.
my $advised = q{
	SELECT left(s.statement, 17), s.calls_per_s > 0, s.read_ms > 0 AND s.read_ms <= s.mean_ms,
		abs(s.mean_ms - p.mean_exec_time) < 0.1 * p.mean_exec_time,
		s.after_ms = s.mean_ms AND s.relations IS NULL, s.queryid = p.queryid
	FROM advise_statements() s JOIN pg_stat_statements p USING (queryid)
	WHERE s.statement ~ 'facts|report' ORDER BY 1};
my $shares = qq{
	SELECT r.relation, abs(r.waited_ms / sum(r.waited_ms) OVER () - p.ms / sum(p.ms) OVER ()) < 0.05
	FROM (SELECT CASE WHEN w.relation::regclass::text = 'report' THEN 'report' ELSE 'facts' END AS relation,
			sum(w.waited_ms::float8) AS waited_ms
		FROM tablespace_advisor.relation_wait_sample w
		WHERE w.relation IN ('facts'::regclass, 'facts_ck'::regclass, 'report'::regclass) AND w.class = 'application' GROUP BY 1) r
	JOIN (SELECT substring(query FROM 'facts|report') AS relation, sum($time) AS ms
		FROM pg_stat_statements WHERE query ~ '^SELECT (sum|count).*(facts|report)' GROUP BY 1) p USING (relation)
	ORDER BY 1};
my $loads = 1;
while ($loads < 4 && $primary->safe_psql('postgres', "$advised; $shares") =~ /\|f/)
{
	load($primary);
	sample();
	$loads++;
}
is($primary->safe_psql('postgres', $advised),
	"SELECT count(*) F|t|t|t|t|t\nSELECT sum(length|t|t|t|t|t", 'advise_statements() has the times of pg_stat_statements');
is($as->('monitor', q{RESET ROLE; BEGIN; REVOKE pg_read_all_stats FROM pg_monitor; SET LOCAL ROLE monitor;
		SELECT DISTINCT statement, queryid FROM advise_statements() WHERE userid <> 'monitor'::regrole}), '<insufficient privilege>|',
	'advise_statements() shows no texts of others without pg_read_all_stats');
like($primary->safe_psql('postgres', 'SELECT advise_index_placement()'),
	qr/^Statements that wait most.*\n  SELECT .*: .* ms a call, .* ms of it for reads; no move changes that$/m,
	'advice on the database names statements');
like($as->('monitor', 'SELECT tablespace_report()'),
	qr/<h2>Statements<.*SELECT .* waits longest for reads: .* of the .* that a call takes\./, 'the report says which statement waits longest');
fails_with($primary, 'SET ROLE nobody; SELECT * FROM advise_statements()', '42501', 'permission denied for function advise_statements',
	'advise_statements() by a role without rights');
is(compare(), sprintf("SELECT count(*) F|-|t|t|%d\nSELECT sum(length|-|t|t|%d", $loads, 40 * $loads), 'blocks and read time of statements are those of pg_stat_statements');
is($primary->safe_psql('postgres', $shares),
	"facts|t\nreport|t", 'shares of read time by relation are those of pg_stat_statements');
is($primary->safe_psql('postgres', q{
		SELECT string_agg(access, ', ' ORDER BY access) FROM tablespace_advisor.relation_wait_sample
		WHERE relation IN ('facts'::regclass, 'facts_ck'::regclass, 'report'::regclass) AND class = 'application'}),
	'heap by bitmap, index, sequential', 'kinds of access');
is($primary->safe_psql('postgres', q{
		SELECT measured, bool_and(waiting_sessions > 0) FROM tablespace_advisor.observed_activity(tables => ARRAY['facts', 'report']::regclass[]::oid[])
		WHERE kind = 'heap' GROUP BY 1}), 't|t', 'facts say that they were measured');
is($primary->safe_psql('postgres', q{SELECT database, bool_and(waited_seconds_total > 0 AND reads_total > 0), count(*) > 2 FROM wait_metrics GROUP BY 1}),
	'postgres|t|t', 'metrics');

# a restart: shared memory begins anew, pg_stat_statements keeps its counts
my $before = $primary->safe_psql('postgres', q{SELECT sum(reads_total) FROM wait_metrics WHERE class = 'application'});
load($primary);
sample();
$primary->restart;
load($primary);
sample();
is(compare(), sprintf("SELECT count(*) F|-|t|t|%d\nSELECT sum(length|-|t|t|%d", $loads + 2, 40 * ($loads + 2)), 'a restart loses and repeats nothing that was sampled');
is($primary->safe_psql('postgres', q{
		SELECT bool_and(waits_measured_s > 0 AND waits_measured_s <= extract(epoch FROM taken_at - started_at))
		FROM tablespace_advisor.sample WHERE started_at IS NOT NULL}), 't', 'seconds in which waits were measured');
is($primary->safe_psql('postgres', qq{SELECT sum(reads_total) > (1 + 1.0 / $loads) * $before FROM wait_metrics WHERE class = 'application'}), 't',
	'metrics go on after a restart');
# not what happened between the last sample and the restart
load($primary);
$primary->restart;
sample();
is($primary->safe_psql('postgres', q{
		SELECT count(*) FROM tablespace_advisor.statement_wait_sample WHERE sample_id = (SELECT max(sample_id) FROM tablespace_advisor.sample)
			AND relation = 'report'::regclass}), '0', 'what shared memory lost is not in the samples');

# watching
like(watch_while($primary, q{SELECT access || ' ' || relation FROM observe_waits('%d s');}, sub { load($primary) }),
	qr/^sequential report$/m, 'observe_waits() shows what is read meanwhile');

# a standby keeps no samples, and measures its own waits
my $standby = start_standby($primary);
load($standby);
like($standby->safe_psql('postgres', 'SELECT access, relation FROM tablespace_waits'), qr/^sequential\|report$/m,
	'the view of a standby shows its own waits');
my $activity = watch_while($standby, q{SELECT standby_activity('%d s');}, sub { load($standby) });
like($activity, qr/"waiting_sessions": [\d.e-]*[1-9]/, 'a standby tells how many of its sessions waited');
is($primary->safe_psql('postgres', qq{
		SELECT add_standby_activity(\$a\$$activity\$a\$::jsonb) > 0;
		SELECT bool_or(waiting_sessions > 0), bool_and(waiting_sessions IS NOT NULL) FROM tablespace_advisor.standby_reads()}),
	"t\nt|t", 'the waits of a standby are brought to the primary');
# as a server of before or without preloading brings it
(my $unmeasured = $activity) =~ s/"waiting_sessions": [\d.e-]+/"waiting_sessions": null/g;
is($primary->safe_psql('postgres', qq{
		SELECT add_standby_activity(\$a\$$unmeasured\$a\$::jsonb) > 0;
		SELECT count(waiting_sessions) FROM tablespace_advisor.standby_reads()}), "t\n0", 'what was not measured there is not zero');
like(messages_of($standby, 'CALL sample_activity()'), qr/25006/, 'a standby keeps no samples');
$standby->stop;

# what health says
sub health { return $primary->safe_psql('postgres', q{SELECT subject, ok, statement FROM tablespace_advisor_health() WHERE subject IN ('waits', 'statements') ORDER BY 1 DESC}); }
is(health(), "waits|t|\nstatements|t|", 'all is there');
configure($primary, 'tablespace_advisor.track_waits', 'off');
is(health(), 'waits|f|ALTER SYSTEM SET tablespace_advisor.track_waits = on;', 'track_waits is off');
sample();
is($primary->safe_psql('postgres', 'SELECT waits_measured_s IS NULL FROM tablespace_advisor.sample ORDER BY sample_id DESC LIMIT 1'), 't',
	'a sample knows that track_waits was off');
configure($primary, 'tablespace_advisor.track_waits', 'on');
configure($primary, 'compute_query_id', 'off');
is(health(), "waits|t|\nstatements|f|ALTER SYSTEM SET compute_query_id = on;", 'no query ids');
load($primary);
like($primary->safe_psql('postgres', 'SELECT access, relation, statement IS NULL FROM tablespace_waits'), qr/^sequential\|report\|t$/m,
	'without query ids the view shows relations');
configure($primary, 'compute_query_id', 'auto');

# A statement of another database that is no text in this one's encoding:
# pg_stat_statements then fails for whoever may read all texts.  (Tests had one
# encoding, and t/163 a statement that was too long.)
$primary->safe_psql('postgres', "CREATE DATABASE $_ TEMPLATE template0 ENCODING $_ LOCALE 'C'") foreach 'utf8', 'sql_ascii';
$primary->safe_psql('utf8', q{
	CREATE EXTENSION tablespace_advisor;
	CREATE EXTENSION pg_stat_statements;
	CREATE TABLE report AS SELECT n AS a, n % 10 AS b, repeat('s', 100) AS c FROM generate_series(1, 40000) n});
$primary->safe_psql('utf8', $_) foreach 'CALL sample_activity()',
  "$scan; SELECT tablespace_advisor.flush_waits()", 'CALL sample_activity()';
$primary->safe_psql('sql_ascii', q{SELECT 'SELECT 1 AS "' || chr(255) || '"' \gexec});
foreach my $call ('SELECT count(*) > 0 FROM advise_index_placement()', 'SELECT count(*) > 0 FROM advise_statements()',
	'SELECT count(*) > 0 FROM tablespace_waits', q{SELECT tablespace_report() <> ''})
{
	my ($rc, $out, $err) = $primary->psql('utf8', $call);

	is("$rc $out", '0 t', "$call answers beside a statement of another encoding");
	like($err, qr/WARNING:  could not read the texts of statements/, "$call warns of a statement of another encoding");
}
$primary->safe_psql('postgres', 'SELECT pg_stat_statements_reset()');

# the worker samples waits by itself
load($primary);
configure($primary, 'tablespace_advisor.sample_interval', '1s');
ok($primary->poll_query_until('postgres', q{
		SELECT sum(reads) > 0 FROM tablespace_advisor.relation_wait_sample
		WHERE relation = 'report'::regclass AND sample_id > (SELECT max(sample_id) FROM tablespace_advisor.sample WHERE waits_measured_s IS NULL)}),
	'the worker samples waits');
ok($primary->poll_query_until('postgres', q{
		SELECT sum(reads) > 0 FROM tablespace_advisor.wait_relations() WHERE class = 'extension'}),
	'reads of its own are those of the extension');
is($primary->safe_psql('postgres', q{SELECT count(*) FROM tablespace_advisor.wait_relations() WHERE class = 'moves'}), '0',
	'reads are no moves where nothing has moved');
check_no_crash($primary, 'primary');
$primary->stop;
check_log($primary, 'primary', qr/42501|permission denied/);
done_testing();
