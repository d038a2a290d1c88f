# Copyright (c) 2026, The tablespace_advisor developers

# Executions that are not measured, beside, around and inside of others that are:
# the hooks take a short way for them, and nothing of the others may be lost or
# counted twice.  (Elsewhere each execution is measured, or all of a session are
# drawn at random.)  track_waits = off stands for "not drawn": in both cases an
# execution begins without being looked at.

use IO::Socket::UNIX;
use TsaTest;

my $node = start_plain('main', conf => q{
shared_preload_libraries = 'tablespace_advisor, pg_stat_statements'
tablespace_advisor.track_waits_sample = 1
tablespace_advisor.sample_interval = 0
pg_stat_statements.track = all
shared_buffers = 1MB
max_connections = 20
autovacuum = off
jit = off
synchronize_seqscans = off
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
});
$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements');
make_read_tables($node, 50000, 10000, 10);
$node->safe_psql('postgres', q{
	CREATE TABLE one (id int PRIMARY KEY);
	INSERT INTO one VALUES (1);
	CREATE TABLE child (id int REFERENCES one ON DELETE CASCADE, pad text);
	INSERT INTO child SELECT 1, repeat('z', 300) FROM generate_series(1, 10000);
	CREATE FUNCTION track(value text) RETURNS void LANGUAGE plpgsql AS
		$$ BEGIN PERFORM set_config('tablespace_advisor.track_waits', value, false); END $$;
	CREATE FUNCTION loud() RETURNS int LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM public.track('on');
		PERFORM count(pad) AS loud FROM public.facts;
		PERFORM public.track('off');
		RETURN 1;
	END $$;
	CREATE FUNCTION quiet(id int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN
		IF id % 5000 = 0 THEN
			PERFORM public.track('off');
			PERFORM max(g), max(pad) AS quiet FROM public.facts;
			PERFORM public.track('on');
		END IF;
		RETURN id;
	END $$;
	CREATE FUNCTION caught() RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM 1 / (9000 - id) FROM report;
	EXCEPTION WHEN division_by_zero THEN NULL;
	END $$;
	CREATE FUNCTION loud_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM public.track('on');
		PERFORM max(pad) AS trigger FROM public.facts;
		PERFORM public.track('off');
		RETURN NULL;
	END $$;
	CREATE EXTENSION file_fdw;
	CREATE SERVER programs FOREIGN DATA WRAPPER file_fdw;
	CREATE FOREIGN TABLE fails_at_end (id int) SERVER programs OPTIONS (program 'echo 1; exit 3');
	CREATE FUNCTION caught_at_end(id int) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN
		IF id = 1 THEN
			PERFORM FROM public.fails_at_end;
		END IF;
		RETURN NULL;
	EXCEPTION WHEN external_routine_exception THEN RETURN SQLERRM;
	END $$;
	CREATE TRIGGER loud AFTER UPDATE ON one FOR EACH ROW EXECUTE FUNCTION loud_trigger();
	VACUUM ANALYZE});
my %pages = map { split /\|/ } split /\n/, $node->safe_psql('postgres',
	q{SELECT relname, relpages FROM pg_class WHERE relname IN ('facts', 'report', 'child')});

# {"relation class access" => reads} that SQL adds, in one session
sub measure
{
	my ($sql) = @_;
	my (undef, $output) = $node->psql('postgres', qq{
		CREATE TEMP TABLE earlier AS SELECT * FROM tablespace_advisor.wait_relations();
		$sql;
		SELECT tablespace_advisor.flush_waits();
		SELECT '##', w.relid::regclass, w.class, w.access, w.reads - coalesce(e.reads, 0)
		FROM tablespace_advisor.wait_relations() w
			LEFT JOIN earlier e USING (dbid, relid, class, access)
		WHERE w.relid >= 16384 AND w.reads > coalesce(e.reads, 0)}, on_error_stop => 0);
	my %reads = $output =~ /^##\|(.*)\|(\d+)$/mg;
	return { map { tr/|/ /r => $reads{$_} } keys %reads };
}

# so many scans of a table, of which some pages may have been in shared buffers; of a
# command also catalogs
sub scans
{
	my ($name, $reads, $what, $n, $catalogs) = @_;
	my ($table) = $what =~ /^(\w+)/;
	my $found = $reads->{$what} // 0;

	cmp_ok($found, '>=', 0.7 * $n * $pages{$table}, "$name: $what is read");
	cmp_ok($found, '<=', $n * $pages{$table} + ($catalogs // 20), '... and has nothing else');
	return;
}

# the levels of a statement with this column name, and whether its blocks are those
# of pg_stat_statements.  Names are no part of a query id: the statements differ otherwise, too.
sub statement
{
	my ($name) = @_;
	return $node->safe_psql('postgres', qq{
		SELECT w.toplevel, w.reads = s.shared_blks_read, w.calls
		FROM pg_stat_statements s
			JOIN tablespace_advisor.wait_statements() w USING (queryid, userid, dbid, toplevel)
		WHERE w.access = 'all' AND s.query ~ ' AS $name '});
}
my ($on, $off) = map { "SET tablespace_advisor.track_waits = $_" } qw(on off);

# --- cursors -------------------------------------------------------------------------

my $reads = measure("BEGIN; $off; DECLARE c CURSOR FOR SELECT pad FROM report; $on;
	MOVE 5000 FROM c; SELECT min(g), max(pad) AS between FROM facts; MOVE 5000 FROM c; COMMIT");
scans('beside a cursor that is not measured', $reads, 'facts application sequential', 1);
is_deeply([ grep { /^report/ } keys %$reads ], [], '... which is not, also when read later');
is(statement('between'), 't|t|1', '... and its statement has its own blocks');
$reads = measure("BEGIN; DECLARE c CURSOR FOR SELECT pad FROM report; MOVE 100 FROM c; $off;
	MOVE 5000 FROM c; SELECT count(pad) FROM facts; MOVE 5000 FROM c; $on; COMMIT");
scans('a cursor that is measured goes on to be', $reads, 'report application sequential', 1);
is_deeply([ grep { /^facts/ } keys %$reads ], [], '... beside a statement that is not');

# --- executions inside of others --------------------------------------------------------

$reads = measure("$off; SELECT loud() FROM report WHERE id % 5000 = 0; $on");
scans('inside of one that is not measured', $reads, 'facts application sequential', 2);
is_deeply([ grep { /^report/ } keys %$reads ], [], '... which is not');
is(statement('loud'), 'f|t|2', '... it is nested');
$reads = measure('SELECT sum(quiet(id)) AS around FROM report');
scans('around others that are not measured', $reads, 'report application sequential', 1);
is_deeply([ grep { /^facts/ } keys %$reads ], [], '... which are not');
is(statement('around'), 't|t|1', '... its statement has their blocks');
$reads = measure('CREATE INDEX quiet ON report (quiet(id)); DROP INDEX quiet');
scans('a command around others that are not measured', $reads, 'report maintenance utility', 1, 200);
$reads = measure("$off; UPDATE one SET id = id; $on");
scans('a trigger of a statement that is not measured', $reads, 'facts application sequential', 1);
is(statement('trigger'), 'f|t|1', '... it is nested');

# --- what ExecutorFinish executes ---------------------------------------------------------

$reads = measure('BEGIN; WITH gone AS (DELETE FROM report WHERE pad IS NULL RETURNING id) SELECT 1; ROLLBACK');
scans('a DELETE that nothing reads from', $reads, 'report application sequential', 1);
$reads = measure('BEGIN; DELETE FROM one; ROLLBACK');
scans('a cascade', $reads, 'child application sequential', 1);

# --- errors ----------------------------------------------------------------------------------

my $error = 'SELECT 1 / (9000 - id) FROM report';
$reads = measure("$off; SELECT caught() FROM one; $error; SELECT caught() FROM one;
	BEGIN; SAVEPOINT s; $error; ROLLBACK TO s; SELECT caught() FROM one; COMMIT; $on;
	SELECT min(pad) AS later FROM facts");
scans('after errors that were not measured', $reads, 'facts application sequential', 1);
is_deeply([ grep { /^report/ } keys %$reads ], [], '... what these read does not count');
is(statement('later'), 't|t|1', '... at top level');

# a program that has failed says so when the scan ends
$reads = measure('SELECT max(caught_at_end(id)) AS kept FROM report');
scans('after an error in the end of one inside', $reads, 'report application sequential', 1);
is(statement('kept'), 't|t|1', '... its statement has all blocks');
like($node->safe_psql('postgres', 'SELECT caught_at_end(1)'), qr/^program .* failed$/,
	'... the error is that of a program');

# --- all executions are counted, at once or later -----------------------------------------------

sub seen
{
	my ($n) = @_;
	my $info = 'SELECT seen FROM tablespace_advisor.wait_info()';
	my ($before, $after) = $node->safe_psql('postgres', qq{
		SELECT tablespace_advisor.flush_waits();
		$info;
		SET tablespace_advisor.track_waits_sample = 10000;
		DO \$\$ BEGIN FOR i IN 1..$n LOOP PERFORM FROM one WHERE id = i; END LOOP; END \$\$;
		SELECT tablespace_advisor.flush_waits();
		$info}) =~ /(\d+)/g;
	return $after - $before;
}
is(seen(200) - seen(100), 100, 'executions are counted, drawn or not');

# Waits until no other session is left: one that ends hands in its figures, and
# whoever finds the lock taken tries again only at its next statement.
my $alone = q{DO $$ BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'client backend'
		AND pid <> pg_backend_pid())
	LOOP
		PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
	END LOOP;
END $$};

# what one session reads of facts in a statement or transaction, and sees after it in
# the figures of all, while the one around it goes on
$node->safe_psql('postgres', q{
	CREATE FUNCTION facts() RETURNS float8 LANGUAGE sql AS $$
		SELECT coalesce(sum(reads), 0) FROM tablespace_advisor.wait_relations()
		WHERE relid = 'facts'::regclass $$;
	CREATE TABLE handed_in (what text, reads float8);
	CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$
	DECLARE
		before float8 := facts();
	BEGIN
		PERFORM count(pad) FROM facts;
		COMMIT;
		INSERT INTO handed_in VALUES ('procedure', facts() - before);
	END $$});
$node->safe_psql('postgres', "$alone; BEGIN; $off; INSERT INTO handed_in SELECT 'nested', -facts();
	SELECT loud(); INSERT INTO handed_in SELECT 'nested', facts(); COMMIT; $on; CALL commits()");
cmp_ok($node->safe_psql('postgres', "SELECT sum(reads) FROM handed_in WHERE what = '$_'"),
	'>', 0.7 * $pages{facts}, "$_: reads are handed in before the transaction or procedure around ends")
	foreach qw(nested procedure);

my $session = $node->background_psql('postgres');
my $counts = q{SELECT coalesce(sum(reads), 0), coalesce(sum(calls), 0)
	FROM tablespace_advisor.wait_relations() WHERE relid = '%s'::regclass};
$session->query_safe('SELECT count(*) FROM report WHERE id = 0');
my @before = map { [ split /\|/, $node->safe_psql('postgres', sprintf $counts, $_) ] } qw(report one);
$session->query_safe("$alone; SELECT count(*) FROM report WHERE id = 0");
my ($now) = split /\|/, $node->safe_psql('postgres', sprintf $counts, 'report');
cmp_ok($now - $before[0][0], '>', 0.7 * $pages{report}, 'reads are handed in when the statement ends');
$session->query_safe('SELECT count(*) FROM one') foreach 1 .. 20;
$session->quit;
ok( $node->poll_query_until('postgres', sprintf("SELECT calls = $before[1][1] + 20 FROM ($counts) AS c (reads, calls)", 'one')),
	'executions without reads when the session ends, at the latest');

# --- a portal that its client reads in pieces ---------------------------------------------------

# sends messages, and reads up to an answer of this type; rows are of no interest
sub exchange
{
	my ($client, $type, @messages) = @_;
	my $head = '';

	print {$client} map { substr($_, 0, 1) . pack('N', 3 + length) . substr($_, 1) } @messages;
	while (read($client, $head, 5) == 5)
	{
		my ($found, $length) = unpack 'aN', $head;
		read($client, my $body, $length - 4) if $length > 4;
		return if $found eq $type;
		die "the server says: $body" if $found eq 'E';
	}
	die 'the server has gone';
}

wait_for_sessions($node);
my $client = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or die $!;
my $startup = join "\0", 'user', $node->safe_psql('postgres', 'SELECT current_user'),
	'database', 'postgres', '', '';
$client->autoflush(1);
print {$client} pack('NN', length($startup) + 8, 196608), $startup;
exchange($client, 'Z');
exchange($client, 'Z', "QBEGIN\0");
exchange($client, '2', "P\0SELECT pad FROM report\0\0\0", "B\0\0" . "\0" x 6, 'H');
# the second one as soon as a second has passed
foreach my $piece ('once', 'and again')
{
	my $read = my $before = $node->safe_psql('postgres', sprintf $counts, 'report');

	for (my $rounds = 0; $read eq $before && $rounds < 900; $rounds++)
	{
		exchange($client, 's', "E\0" . pack('N', 5), 'H');
		$read = $node->safe_psql('postgres', sprintf $counts, 'report');
	}
	isnt($read, $before, "a portal hands its reads in while it is open, $piece");
}
print {$client} 'X', pack('N', 4);
close $client;

check_no_crash($node, 'main');
$node->stop;

done_testing();
