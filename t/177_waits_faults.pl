# Copyright (c) 2026, The tablespace_advisor developers

# Faults while reads are measured: no memory at each of the allocations that the
# hooks make, cancel and termination at bad moments.  A statement may fail, the
# session goes on, and what it does next is measured right.  (t/170_waits.pl has
# errors of statements themselves; nothing in it fails inside of a hook.)

use TsaTest;

my $library = "$PostgreSQL::Test::Utils::tmp_check/failing_memory.so";
chomp(my $include = `pg_config --includedir-server`);

plan skip_all => 'no C compiler to build test/failing_memory.c with'
  if system("cc -shared -fPIC -O1 -I$include -o $library test/failing_memory.c -ldl") != 0;

my $node = start_plain('main', conf => qq{
shared_preload_libraries = 'pg_stat_statements, tablespace_advisor, $library'
tablespace_advisor.track_waits_sample = 1
tablespace_advisor.sample_interval = 0
pg_stat_statements.track = all
shared_buffers = 1MB
max_connections = 20
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
restart_after_crash = on
});
$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements');
make_read_tables($node, 20000, 5000, 200);
$node->safe_psql('postgres', q{
	CREATE FUNCTION caught(first int) RETURNS bigint LANGUAGE plpgsql AS $$
	BEGIN
		BEGIN
			RETURN (SELECT count(pad) FROM facts WHERE g BETWEEN first AND first + 100);
		EXCEPTION WHEN OTHERS THEN
			RETURN -1;
		END;
	END $$;
	CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN PERFORM count(*) FROM parted WHERE k = new.g; RETURN new; END';
	CREATE TRIGGER look AFTER UPDATE ON facts FOR EACH ROW EXECUTE FUNCTION look();
	VACUUM ANALYZE});

# --- no memory ---------------------------------------------------------------------

# Each call of a function that needs memory fails once, in a session of its own, which
# has no memory of earlier statements; after it a statement is measured in that session,
# at top level and with the waits of its reads.  step: only each so manyth call.
my $probes = 0;
sub fail_each
{
	my ($name, $sql, %options) = @_;
	my ($n, $fired, @wrong) = (1, 0);

	for (;; $n += $options{step} // 1)
	{
		my ($status, $stdout, $stderr) = $node->psql('postgres', qq{
			SET track_io_timing = off;
			SET failing_memory.at = $n;
			$sql;
			ROLLBACK;
			SELECT 'fired', current_setting('failing_memory.seen')::int >= $n;
			SET failing_memory.at = 0;
			SELECT count(pad) AS probe FROM report;
			SELECT 'timing', current_setting('track_io_timing');
			SELECT 'handed in', tablespace_advisor.flush_waits()}, on_error_stop => 0);
		my @errors = grep { !/^out of memory|^current transaction is aborted|^cursor "c" does not exist/ }
			$stderr =~ /ERROR: +(.*)/g;

		$probes++;
		push @wrong, "$n: $stdout $stderr"
			if @errors || $stdout !~ /^5000\ntiming\|off\nhanded in\|t$/m;
		last if $stdout !~ /^fired\|t$/m;
		$fired++;
	}
	cmp_ok($fired, '>=', $options{least}, "$name: allocations fail");
	note("$fired of $name");
	is_deeply(\@wrong, [], '... with no other error, and the session goes on');
	return;
}

fail_each('scans and TOAST', 'SELECT count(md5(d.body)) FROM doc d JOIN facts f ON f.id = d.id
	WHERE f.g BETWEEN 100 AND 4000 AND d.id < 100', least => 6);
fail_each('UPDATE with a trigger', 'BEGIN; UPDATE facts SET g = g + 1 WHERE id BETWEEN 100 AND 110', least => 6);
fail_each('INSERT into partitions', 'BEGIN; INSERT INTO parted SELECT i, i * 7919 % 20000 FROM generate_series(1, 50) i', least => 6);
fail_each('errors that are caught', 'SELECT sum(caught(i * 1000)) FROM generate_series(1, 5) i', least => 6);
fail_each('a cursor', 'BEGIN; DECLARE c CURSOR FOR SELECT pad FROM facts WHERE g BETWEEN 100 AND 400;
	FETCH 10 FROM c; SELECT count(*) FROM doc; FETCH 10 FROM c; COMMIT', least => 6);
fail_each('many partitions', 'SELECT count(*) FROM parted p JOIN parted q ON p.k = q.k WHERE p.id < 200', least => 5);
fail_each('VACUUM', 'VACUUM (ANALYZE) report', least => 2);
fail_each('VACUUM of all', 'VACUUM (ANALYZE)', least => 5, step => 40);
fail_each('ANALYZE of some', 'ANALYZE parted, facts', least => 3);

is( $node->safe_psql('postgres', q{
		SELECT sum(w.calls), sum(w.calls) = sum(s.calls), sum(w.reads) = sum(s.shared_blks_read)
		FROM pg_stat_statements s
			JOIN tablespace_advisor.wait_statements() w USING (queryid, userid, dbid, toplevel)
		WHERE w.access = 'all' AND s.query ~ 'AS probe' AND s.toplevel}), "$probes|t|t",
	'statements in between have been measured, at top level');
is( $node->safe_psql('postgres', q{
		SELECT sum(reads) >= } . $probes * 150 . q{, sum(waited_ms) > 0
		FROM tablespace_advisor.wait_relations()
		WHERE relid = 'report'::regclass AND access = 'sequential'}), 't|t', '... with their relation');
check_no_crash($node, "main");

# --- cancel and termination ----------------------------------------------------------

# in a function in a scan, in a trigger, in a cursor, in VACUUM's expression: the
# session ends or goes on, nothing is lost, nothing crashes
$node->safe_psql('postgres', q{
	CREATE FUNCTION strike(how text) RETURNS int LANGUAGE plpgsql VOLATILE SET search_path = public AS $$
	BEGIN
		PERFORM count(pad) FROM report;
		EXECUTE format('SELECT pg_%s_backend(pg_backend_pid())', how);
		PERFORM pg_sleep(600);
		RETURN 1;
	END $$;
	CREATE FUNCTION strike_once(id int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN
		IF current_setting('test.strike', true) IN ('cancel', 'terminate') THEN
			PERFORM public.strike(current_setting('test.strike'));
		END IF;
		RETURN id;
	END $$;
	CREATE TABLE struck (id int);
	INSERT INTO struck SELECT generate_series(1, 2000);
	CREATE INDEX struck_i ON struck (strike_once(id))});
my $counters = q{
	SELECT heap_blks_read, (SELECT coalesce(sum(reads), 0) FROM tablespace_advisor.wait_relations()
		WHERE relid = 'report'::regclass)
	FROM pg_statio_user_tables WHERE relname = 'report'};
foreach my $how ('cancel', 'terminate')
{
	wait_for_sessions($node);
	my @before = split /\|/, $node->safe_psql('postgres', $counters);
	my $wanted = 0;

	foreach my $sql ("SELECT strike('$how') FROM facts WHERE id < 10",
		"BEGIN; DECLARE c CURSOR FOR SELECT strike('$how'); FETCH c",
		"SET test.strike = '$how'; ANALYZE struck",
		"SET test.strike = '$how'; INSERT INTO struck VALUES (1)",
		"DO \$\$ BEGIN PERFORM strike('$how'); END \$\$",
		"COPY (SELECT strike('$how')) TO '/dev/null'")
	{
		my (undef, undef, $stderr) = $node->psql('postgres', $sql);
		like($stderr, qr/canceling statement due to user request|terminating connection/,
			"$how: $sql");
		$wanted += 150;
	}
	wait_for_sessions($node);
	my @after = split /\|/, $node->safe_psql('postgres', $counters);
	cmp_ok($after[0], '>=', $before[0] + $wanted, 'all was read');
	is($after[1] - $before[1], $after[0] - $before[0], "$how: what was read until then is there");
}
is($node->safe_psql('postgres', 'SELECT lost_reads FROM tablespace_advisor.wait_info()'), 0,
	'nothing was lost');
check_no_crash($node, "main");
$node->stop;

done_testing();
