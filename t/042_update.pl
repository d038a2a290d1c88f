# Copyright (c) 2026, The tablespace_advisor developers

# ALTER EXTENSION ... UPDATE: from every released version, the result is the
# same as a fresh install's, measurements and the journal are kept, and moves that
# the old version left unfinished are recovered, or gone on with.  Until then the
# new library refuses to work on the old tables.

use TsaTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
# an interrupted move fails, and what it leaves is looked at
# and moves of which each has a worker do not wait for the launcher's next round (t/201)
$node->append_conf('postgresql.conf', "tablespace_advisor.keep_interrupted = 0\nmax_worker_processes = 24");
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
		SELECT pg_get_triggerdef(t.oid), t.tgenabled
		FROM member m JOIN pg_trigger t ON m.classid = 'pg_class'::regclass AND m.objid = t.tgrelid
		WHERE NOT t.tgisinternal ORDER BY 1;
		SELECT array(SELECT c::regclass::text FROM unnest(extconfig) c ORDER BY 1), extcondition
		FROM pg_extension WHERE extname = 'tablespace_advisor'});
}

$node->safe_psql('postgres', q{
	SET allow_in_place_tablespaces = on;
	CREATE TABLESPACE update_test LOCATION ''});
$node->safe_psql('postgres', 'CREATE DATABASE fresh');
$node->safe_psql('fresh', 'CREATE EXTENSION tablespace_advisor');
my $fresh = inventory('fresh');
like($fresh, qr/estimate_pgbench_size/, 'the fresh install has something in it');

# A comparison that cannot fail would prove nothing.
$node->safe_psql('fresh', q{
	ALTER TABLE tablespace_advisor.probe_run ADD COLUMN one_more int});
isnt(inventory('fresh'), $fresh, 'a difference shows');

# An operator in the extension's schema that fits better than the server's is
# not taken: nothing depends on it, also after an update.
foreach my $create ('CREATE EXTENSION tablespace_advisor',
	q{CREATE EXTENSION tablespace_advisor VERSION '1.0'; ALTER EXTENSION tablespace_advisor UPDATE})
{
	$node->safe_psql('postgres', 'CREATE DATABASE trap');
	$node->safe_psql('trap', qq{
		CREATE FUNCTION differs(oid, int) RETURNS boolean LANGUAGE sql RETURN true;
		CREATE OPERATOR <> (LEFTARG = oid, RIGHTARG = int, FUNCTION = differs);
		CREATE FUNCTION differs(regproc, regproc) RETURNS boolean LANGUAGE sql RETURN true;
		CREATE OPERATOR <> (LEFTARG = regproc, RIGHTARG = regproc, FUNCTION = differs);
		CREATE FUNCTION greater(float8, int) RETURNS boolean LANGUAGE sql RETURN true;
		CREATE OPERATOR > (LEFTARG = float8, RIGHTARG = int, FUNCTION = greater);
		$create});
	my ($dropped, undef, $why) = $node->psql('trap', q{
		DROP OPERATOR <> (oid, int);
		DROP OPERATOR <> (regproc, regproc);
		DROP OPERATOR > (float8, int)}, on_error_stop => 1);
	is($dropped, 0, "no operator of others' is in the extension's objects: $create") or diag $why;
	$node->safe_psql('postgres', 'DROP DATABASE trap');
}

my @released = split /\n/, $node->safe_psql('postgres', q{
	SELECT v.version FROM pg_available_extension_versions v
	JOIN pg_available_extensions e USING (name)
	WHERE v.name = 'tablespace_advisor' AND v.version <> e.default_version
	ORDER BY 1});

my $not_current = qr/is not of the version of its library/;

# A move is refused, whoever begins it.
sub refuses
{
	my ($dbname, $sql, $name) = @_;
	my ($rc, $out, $err) = $node->psql($dbname, "\\set VERBOSITY verbose\n$sql");

	like($err, qr/ERROR:  55000: .*$not_current.*HINT:  Run ALTER EXTENSION/s, $name);
	return;
}

# Journal rows as the old version left them when the server crashed: a copy under
# way, a queued and a paused move, one that has ended with its old file still to
# go, and one that failed.  0 is the database's own tablespace.  The files are there.
sub plant_jobs
{
	my ($dbname) = @_;

	$node->safe_psql($dbname, qq{
		INSERT INTO tablespace_advisor.job (batch_id, relation, heap, kind,
			schema_name, relation_name, from_tablespace,
			from_tablespace_name, to_tablespace, to_tablespace_name,
			method_wanted, method, state, phase, bytes_total, bytes_done, max_rate,
			lock_timeout_ms, owner, worker_pid, started_at, finished_at,
			system_identifier, database, new_tablespaces, new_filenumbers, old_tablespaces,
			old_filenumbers)
		SELECT j.n, i.indexrelid, i.indrelid, 'i', 'public', 'planted', 1663,
			'pg_default', t.oid, t.spcname, 'auto', 'copy', j.state,
			CASE j.state WHEN 'running' THEN 'copying' END, 8192, 0, 2097152, 100,
			10, 1, now(), CASE WHEN j.n IN (2, 3) THEN now() END,
			c.system_identifier, d.oid, CASE WHEN j.new IS NOT NULL THEN ARRAY[j.new] END,
			CASE WHEN j.new IS NOT NULL THEN ARRAY[j.new_number] END,
			CASE WHEN j.old IS NOT NULL THEN ARRAY[j.old] END,
			CASE WHEN j.old IS NOT NULL THEN ARRAY[j.old_number] END
		FROM (VALUES (1, 't', 'running', 0::oid, 99001::oid, NULL::oid, NULL::oid),
				(2, 't', 'done', NULL, NULL, 0, 99002),
				(3, 't', 'failed', NULL, NULL, NULL, NULL),
				(4, 'u', 'queued', NULL, NULL, NULL, NULL),
				(5, 'v', 'paused', 0, 99005, NULL, NULL))
				AS j(n, heap, state, new, new_number, old, old_number)
			JOIN pg_index i ON i.indrelid = j.heap::regclass,
			pg_control_system() c, pg_database d, pg_tablespace t
		WHERE d.datname = current_database() AND t.spcname = 'update_test'
		ORDER BY j.n});
	$node->safe_psql($dbname, 'INSERT INTO tablespace_advisor.request (job_id) VALUES (5)');
	append_to_file($_, 'x' x 8192) foreach planted_files($dbname);
	return;
}

# The files that the planted jobs have left, those that there are.
sub planted_files
{
	my ($dbname) = @_;
	my $dir = $node->data_dir . '/base/'
	  . $node->safe_psql('postgres', "SELECT oid FROM pg_database WHERE datname = '$dbname'");

	return map { "$dir/$_" } 99001, 99002, 99005;
}

# Measurements as the old version kept them: a probe, one that did not reach the
# device, and samples.
sub plant_measurements
{
	my ($dbname) = @_;

	$node->safe_psql($dbname, q{
		INSERT INTO tablespace_advisor.probe_run (tablespace, location, device, mode,
			file_size_bytes, duration, started_at, finished_at, foreign_io_percent)
		SELECT t.spcname, pg_tablespace_location(t.oid), '/dev/sda', 'scratch', 268435456,
			'3 s', now() - interval '1 hour', now() - interval '1 hour', 72
		FROM pg_tablespace t, generate_series(1, 2) n WHERE t.spcname = 'update_test';
		INSERT INTO tablespace_advisor.probe_result (run_id, workload, queue_depth,
			io_size, samples, iops, mean_us, stddev_us, mean_low_us, mean_high_us,
			caveat, histogram)
		SELECT n, w, 1, 8192, 1000, 5000, 200, 20, 195, 205,
			(ARRAY[NULL, 'much came from caches'])[n],
			'{{204800,1000}}'
		FROM generate_series(1, 2) n, unnest('{random read,sequential read}'::text[]) w});
	$node->safe_psql($dbname, q{
		INSERT INTO tablespace_advisor.sample (started_at, taken_at, was_reset, io_timed,
			blocks_read, blocks_hit, read_ms, write_ms, snapshots, reading_snapshots,
			reading_sessions, waits)
		SELECT CASE WHEN n > 1 THEN now() - interval '5 min' * (4 - n) END,
			now() - interval '5 min' * (3 - n), false, true, n * 1000, 0, n * 200, 0,
			10, 1, 1, '{"CPU": 3}'
		FROM generate_series(1, 3) n;
		INSERT INTO tablespace_advisor.relation_sample (sample_id, relation, size_bytes, reads, scans)
		SELECT n, 't'::regclass, 8192 * n, 1000, 10 FROM generate_series(2, 3) n;
		INSERT INTO tablespace_advisor.tablespace_sample
		SELECT n, 1663, 8192 * n, 1e9 FROM generate_series(1, 3) n;
		INSERT INTO tablespace_advisor.sampled_relation (relation, tablespace, filenode,
			size_bytes, reads, hits, scans, tuples_read, inserted, updated, hot_updated, deleted)
		SELECT oid, 1663, relfilenode, 8192, 0, 0, 0, 0, 0, 0, 0, 0
		FROM pg_class WHERE relname = 't';
		INSERT INTO tablespace_advisor.table_residency VALUES ('t'::regclass, 0.5, 0.25, now());
		INSERT INTO tablespace_advisor.index_locality (index, relation, index_file, heap_file,
			index_blocks, table_blocks, entries, measured_at, points)
		VALUES ('t_pkey'::regclass, 't'::regclass, 1, 1, 1, 1, 1, now(), '{}')});
	return;
}

my $journal = q{
	SELECT batch_id, state, new_tablespaces, new_filenumbers, old_tablespaces,
		old_filenumbers, indexes
	FROM tablespace_advisor.job ORDER BY batch_id};

# What has been measured is there, and of use.
sub check_measurements
{
	my ($dbname, $version) = @_;

	is($node->safe_psql($dbname, q{
			SELECT r.run_id, r.device, w.mean_us, w.caveat, w.conditions
			FROM tablespace_advisor.probe_run r JOIN tablespace_advisor.probe_result w USING (run_id)
			WHERE w.workload = 'random read' ORDER BY run_id}),
		"1|/dev/sda|200||\n"
		  . '2|/dev/sda|200|much came from caches|',
		"$version: probes are there");
	is($node->safe_psql($dbname, q{
			SELECT random_read_us FROM recommend_random_page_cost('update_test')}),
		'200', "$version: the cost advice uses them");
	$node->safe_psql($dbname, 'CALL sample_activity()');
	is($node->safe_psql($dbname, q{
			SELECT count(*), count(*) FILTER (WHERE taken_at < now() - interval '4 min')
			FROM tablespace_advisor.sample}),
		'4|2', "$version: samples are taken on from the last");
	is($node->safe_psql($dbname, q{
			SELECT (SELECT sum(reads) >= 2000 FROM tablespace_advisor.relation_sample
				WHERE relation = 't'::regclass),
				(SELECT count(*) FROM tablespace_advisor.index_locality),
				(SELECT count(*) FROM tablespace_advisor.table_residency)}),
		't|1|1', "$version: what they say of relations is there");
	is($node->safe_psql($dbname, q{
			SELECT count(*) > 0 FROM advise_placement(target => 't')}),
		't', "$version: advice can read all of it");
	return;
}

# The interrupted moves have failed, and can be tried again; what was queued is
# begun when somebody waits for it.
sub check_retries
{
	my ($dbname, $version) = @_;

	is($node->safe_psql($dbname, $journal),
		"1|failed|||||\n2|done|||||\n3|failed|||||\n4|queued|||||\n5|failed|||||",
		"$version: the interrupted moves are recovered");
	is(join(' ', grep { -e $_ && -s $_ } planted_files($dbname)), '',
		"$version: their files are gone");
	$node->safe_psql($dbname, q{
		SELECT retry_move(job_id) FROM tablespace_advisor.job
		WHERE batch_id IN (1, 4, 5) AND state <> 'queued' ORDER BY batch_id});
	$node->safe_psql($dbname, q{
		SELECT wait_for_moves(array_agg(job_id)) FROM tablespace_moves});
	is($node->safe_psql($dbname, q{
			SELECT m.relation, m.state, t.spcname
			FROM tablespace_moves m JOIN pg_class c ON c.oid = m.relation
			LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
			WHERE job_id > 5 OR job_id = 4 ORDER BY 1}),
		"t_pkey|done|update_test\nu_pkey|done|update_test\nv_pkey|done|update_test",
		"$version: moves of that version can be tried again");
	return;
}

SKIP:
{
	skip 'no version has been released before this one', 1 unless @released;
	my %database_of = map { $_ => 'from_' . s/\W/_/gr } @released;

	foreach my $version (@released)
	{
		my $dbname = $database_of{$version};

		$node->safe_psql('postgres', "CREATE DATABASE $dbname");
		$node->safe_psql($dbname, "CREATE EXTENSION tablespace_advisor VERSION '$version'");
		$node->safe_psql($dbname, qq{
			CREATE TABLE $_ (a int PRIMARY KEY);
			INSERT INTO $_ SELECT generate_series(1, 1000);
			ANALYZE $_}) foreach qw(t u v);
		plant_jobs($dbname);
		plant_measurements($dbname);
		refuses($dbname, q{CALL move_indexes_concurrently('t', 'pg_default')},
			"$version: no move before the update");
		refuses($dbname, q{CALL move_indexes_concurrently('t', 'pg_default', dry_run => true)},
			"$version: no plan either");
		refuses($dbname, 'SELECT cancel_move(1)', "$version: no cancel");
		refuses($dbname, 'SELECT retry_move(3)', "$version: no retry");
	}

	# The launcher's workers find the old tables, say so, and that is all.
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'tablespace_advisor'");
	my $offset = -s $node->logfile;
	$node->restart;
	wait_until($node, q{EXISTS (SELECT FROM pg_stat_activity
		WHERE backend_type = 'tablespace_advisor launcher' AND wait_event = 'Extension')}, 'the launcher is at rest');
	$node->wait_for_log(qr/"tablespace_advisor sampling" \(PID \d+\) exited with exit code 1/,
		$offset);
	my $log = slurp_file($node->logfile, $offset);
	my @refused = $log =~ /ERROR: +.*$not_current/g;
	my %ended;
	$ended{$1}++ while $log =~ /"tablespace_advisor (\w+)" \(PID \d+\) exited with exit code 1/g;
	is($ended{recovery}, scalar @released, 'each recovery worker refuses once');
	# samples may have been tried again
	cmp_ok(scalar @refused, '>', scalar @released, 'recovery and sampling workers say why they refuse');
	is( $node->safe_psql($database_of{ $released[0] },
			q{SELECT string_agg(state, ',' ORDER BY batch_id) FROM tablespace_advisor.job}),
		'running,done,failed,queued,paused', 'recovery workers leave the journal of an older version alone');

	foreach my $version (@released)
	{
		my $dbname = $database_of{$version};

		$node->safe_psql($dbname, 'ALTER EXTENSION tablespace_advisor UPDATE');
		is(inventory($dbname), $fresh, "update from $version gives what a fresh install gives");
		is($node->safe_psql($dbname, $journal),
			"1|running|{0}|{99001}|||\n2|done|||{0}|{99002}|\n3|failed|||||\n4|queued|||||\n5|paused|{0}|{99005}|||",
			"$version: the journal still names the files");
		is(scalar(grep { -s $_ } planted_files($dbname)), 3, "$version: the files that the journal names are there");
		is($node->safe_psql($dbname, 'SELECT cancel_move(2)'), 'f', "$version: cancel_move() finds a job of the old journal");
		check_retries($dbname, $version);
		check_measurements($dbname, $version);
	}
}

# Each state of a job that an older version leaves when the server crashes, with
# what it has made: begun again or finished by the launcher, without a call.
# Earlier tests had interrupted moves fail.  1.0 has no marks, so no copy of its
# is gone on with.
my $crashed = q{
	CREATE TEMP TABLE left_job (n int, t text, method text, state text, new int, old int);
	INSERT INTO left_job VALUES (1, 'copying', 'copy', 'running', 99001, NULL),
		(2, 'moved', 'copy', 'running', NULL, 99002),
		(3, 'queued', 'copy', 'queued', NULL, NULL),
		(4, 'paused', 'copy', 'paused', 99005, NULL),
		(5, 'rebuilding', 'rebuild', 'running', NULL, NULL),
		(6, 'rebuilt', 'rebuild', 'running', NULL, NULL),
		(7, 'unbegun', 'copy', 'running', NULL, NULL),
		(8, 'parted', 'catalog', 'running', NULL, NULL),
		(9, 'failed', 'copy', 'failed', NULL, NULL),
		(10, 'cancelled', 'copy', 'cancelled', NULL, NULL);
	INSERT INTO tablespace_advisor.job (batch_id, relation, heap, kind,
		schema_name, relation_name, from_tablespace, from_tablespace_name,
		to_tablespace, to_tablespace_name, method_wanted, method, state, phase,
		bytes_total, lock_timeout_ms, owner, worker_pid, started_at, finished_at,
		system_identifier, database, new_tablespaces, new_filenumbers,
		old_tablespaces, old_filenumbers, old_index, known_indexes)
	SELECT n, i.indexrelid, i.indrelid, c.relkind, 'public', c.relname, 1663,
		'pg_default', t.oid, t.spcname, 'auto', j.method, j.state,
		CASE j.state WHEN 'running' THEN 'copying' END, 8192, 100, 10, 1, now(),
		CASE WHEN j.state IN ('failed', 'cancelled') THEN now() END,
		s.system_identifier, d.oid, CASE WHEN new IS NOT NULL THEN '{0}'::oid[] END,
		CASE WHEN new IS NOT NULL THEN ARRAY[new]::oid[] END,
		CASE WHEN old IS NOT NULL THEN '{0}'::oid[] END,
		CASE WHEN old IS NOT NULL THEN ARRAY[old]::oid[] END,
		CASE WHEN j.method = 'rebuild' THEN i.indexrelid END,
		CASE WHEN j.method = 'rebuild' THEN ARRAY[i.indexrelid] END
	FROM left_job j JOIN pg_index i ON i.indrelid = j.t::regclass
		JOIN pg_class c ON c.oid = i.indexrelid,
		pg_control_system() s, pg_database d, pg_tablespace t
	WHERE d.datname = current_database() AND t.spcname = 'update_test'
	ORDER BY n;
	INSERT INTO tablespace_advisor.request (job_id) VALUES (4)};

foreach my $version (@released)
{
	my $dbname = 'crashed_' . $version =~ s/\W/_/gr;
	my @tables = qw(copying moved queued paused rebuilding rebuilt unbegun failed cancelled);

	$node->safe_psql('postgres', "CREATE DATABASE $dbname");
	$node->safe_psql($dbname, "CREATE EXTENSION tablespace_advisor VERSION '$version'");
	$node->safe_psql($dbname, qq{
		CREATE TABLE $_ (a int PRIMARY KEY);
		INSERT INTO $_ SELECT generate_series(1, 1000)}) foreach @tables;
	$node->safe_psql($dbname, q{
		CREATE TABLE parted (a int PRIMARY KEY) PARTITION BY RANGE (a)});
	$node->safe_psql($dbname, $crashed);

	# what those jobs have done
	$node->safe_psql($dbname, $_) foreach (
		'ALTER INDEX moved_pkey SET TABLESPACE update_test',
		'CREATE INDEX rebuilding_pkey_ccnew ON rebuilding (a)',
		q{UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'rebuilding_pkey_ccnew'::regclass},
		'REINDEX (CONCURRENTLY, TABLESPACE update_test) INDEX rebuilt_pkey');
	append_to_file($_, 'x' x 8192) foreach planted_files($dbname);

	$node->safe_psql($dbname, 'ALTER EXTENSION tablespace_advisor UPDATE');
	$node->append_conf('postgresql.conf', 'tablespace_advisor.keep_interrupted = 1d');
	$node->restart;
	$node->poll_query_until($dbname, q{
		SELECT string_agg(state, ' ') = 'paused' FROM tablespace_advisor.job
		WHERE state IN ('queued', 'running', 'paused', 'interrupted')})
	  or die 'the moves do not end';
	is( $node->safe_psql($dbname, q{
			SELECT j.relation_name, j.state, j.interruptions, coalesce(t.spcname, '-')
			FROM tablespace_advisor.job j LEFT JOIN pg_class c ON c.oid = j.relation
				LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace ORDER BY job_id}),
		join("\n",
			'copying_pkey|done|1|update_test', 'moved_pkey|done|0|update_test',
			'queued_pkey|done|0|update_test', 'paused_pkey|paused|1|-',
			'rebuilding_pkey|done|1|update_test', 'rebuilt_pkey|done|0|update_test',
			'unbegun_pkey|done|1|update_test', 'parted_pkey|done|1|update_test',
			'failed_pkey|failed|0|-', 'cancelled_pkey|cancelled|0|-'),
		"$version: each job that was interrupted ends as it should");
	is( $node->safe_psql($dbname, q{
			SELECT indexrelid::regclass FROM pg_index
			WHERE NOT indisvalid OR indexrelid::regclass::text LIKE '%cc%'}),
		'', "$version: no index of a rebuild is left");
	$node->safe_psql($dbname, 'SELECT resume_move(4)');
	$node->safe_psql($dbname, q{SELECT wait_for_moves('{4}')});
	is( $node->safe_psql($dbname, q{
			SELECT state, reltablespace = to_tablespace FROM tablespace_advisor.job
				JOIN pg_class c ON c.oid = relation WHERE job_id = 4}),
		'done|t', "$version: a paused move goes on when it may");
	is(join(' ', grep { -e $_ && -s $_ } planted_files($dbname)), '',
		"$version: no file of an interrupted move is left");
	is( $node->safe_psql($dbname,
			'SELECT ' . join ' + ', map { "(SELECT count(*) FROM $_ WHERE a BETWEEN 1 AND 1000)" } @tables),
		'9000', "$version: each index finds its rows");
}

# A worker that finds other tables than its own ends and leaves its job alone,
# which the next call that may recovers.
$node->safe_psql('fresh', q{
	ALTER TABLE tablespace_advisor.probe_run DROP COLUMN one_more;
	CREATE TABLE t (a int PRIMARY KEY)});
my $job = $node->safe_psql('fresh', q{
	CALL move_indexes_concurrently('t', 'update_test', job_ids => NULL)});
$job =~ s/\D//g;
my $undone = $node->safe_psql('fresh', qq{
	BEGIN;
	SELECT undo_move($job);
	UPDATE pg_extension SET extversion = '0.0' WHERE extname = 'tablespace_advisor';
	COMMIT});
wait_for_workers($node);
like(slurp_file($node->logfile), $not_current, 'the worker says why');
is($node->safe_psql('fresh', "SELECT state FROM tablespace_moves WHERE job_id = $undone"),
	'queued', 'a worker of another version leaves its job queued');
refuses('fresh', "SELECT cancel_move($undone)", 'nobody can cancel it');
# In one transaction, as the launcher starts a worker as soon as the version is right.
$node->safe_psql('fresh', qq{
	BEGIN;
	UPDATE pg_extension SET extversion = e.default_version
	FROM pg_available_extensions e
	WHERE extname = 'tablespace_advisor' AND e.name = extname;
	SELECT cancel_move($undone);
	COMMIT});
is($node->safe_psql('fresh', "SELECT state FROM tablespace_moves WHERE job_id = $undone"),
	'cancelled', 'a queued job is cancelled by the next call of the right version');

$node->stop;
done_testing();
