# Copyright (c) 2026, The tablespace_advisor developers

# Attackers who own a table, a schema or the database: nothing of theirs runs
# with more rights than they have, and nothing of theirs breaks what the
# extension does for others.

use TsaTest;

my $node = start_node('main', conf => qq(
autovacuum = off
wal_level = logical
max_wal_senders = 4
log_line_prefix = '%m [%p] %b: '
));
$node->safe_psql('postgres', q{
	CREATE ROLE mallory LOGIN;
	GRANT CREATE ON SCHEMA public TO mallory;
	CREATE TABLE t (a int PRIMARY KEY);
	INSERT INTO t SELECT generate_series(1, 100)});

# --- look-alikes in the extension's schema -------------------------------------

# A literal of no type suits text best, so the first two would run with the
# rights of the superuser who runs the statement; the third would make every call
# of the advice "not unique".
$node->safe_psql('postgres', q{
	SET SESSION AUTHORIZATION mallory;
	CREATE TABLE public.caught (what text);
	CREATE FUNCTION public.probe_tablespace(text, duration text DEFAULT '', file_size text DEFAULT '')
	RETURNS text
	LANGUAGE sql AS $$INSERT INTO public.caught VALUES ('probe'); SELECT ''$$;
	CREATE PROCEDURE public.move_indexes_concurrently(target text, tablespace text)
	LANGUAGE sql AS $$INSERT INTO public.caught VALUES ('move')$$;
	CREATE FUNCTION public.tablespace_devices(int DEFAULT 0) RETURNS int
	LANGUAGE sql AS 'SELECT 1'});
my $probe = $node->safe_psql('postgres',
	q{SELECT statement FROM recommend_random_page_cost('fast')});
like($probe, qr/probe_tablespace/, 'a probe is recommended');
$node->safe_psql('postgres', "$probe" =~ s/\)$/, duration => '1 ms', file_size => '1 MB')/r);
is($node->safe_psql('postgres', 'SELECT * FROM caught'), '',
	"a statement handed out does not call somebody else's function");
is($node->safe_psql('postgres', q{
		SELECT p.oid::regprocedure
		FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
			JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
		WHERE e.extname = 'tablespace_advisor' AND d.deptype = 'e'
			AND p.prosrc ~ '=> %L(?!::)'}),
	'', 'literals in statements that are handed out have types');
is($node->safe_psql('postgres', q{SELECT count(*) FROM advise_placement(target => 't')}),
	'2', 'advice does without functions of the schema where others may create');
is($node->safe_psql('postgres', q{
		SELECT DISTINCT p.oid::regprocedure || ' calls ' || f.proname
		FROM pg_extension e
			JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
				AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
			JOIN pg_proc p ON p.oid = d.objid
			JOIN pg_proc f ON f.pronamespace = e.extnamespace
				AND p.prosrc ~ ('\mpublic\.' || f.proname || '\(')
		WHERE e.extname = 'tablespace_advisor' AND p.prosrc !~ 'LANGUAGE'}),
	'', 'no function of the extension does');

# Between the look at whose an object is and a statement that names it, its schema
# could become another one.
is($node->safe_psql('postgres', q{
		SELECT string_agg(p.oid::regprocedure::text, ' ')
		FROM pg_extension e
			JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
				AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
			JOIN pg_proc p ON p.oid = d.objid
			JOIN pg_language l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
		WHERE e.extname = 'tablespace_advisor' AND p.prosrc ~* '\mEXECUTE\M'}),
	'', 'no function of the extension makes statements with names of others');

# She decides how strings are read there, too: a backslash in one that is no E''
# string would mean something else, in a script or when a function is called.
# Not from 19 on, where standard_conforming_strings is always on.
SKIP:
{
	my $all = '';

	skip 'strings are read in one way here', 3 if $node->pg_version->major >= 19;
	$node->safe_psql('postgres', $_)
	  foreach ('CREATE DATABASE strings', 'ALTER DATABASE strings SET standard_conforming_strings = off');

	foreach my $sql ('CREATE EXTENSION tablespace_advisor', q{
		DO $do$
		DECLARE
			definition text;
		BEGIN
			FOR definition IN
				SELECT pg_get_functiondef(p.oid)
				FROM pg_extension e
					JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
						AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
					JOIN pg_proc p ON p.oid = d.objid
					JOIN pg_language l ON l.oid = p.prolang AND l.lanname <> 'c'
				WHERE e.extname = 'tablespace_advisor'
			LOOP
				EXECUTE definition;	-- has the body read
			END LOOP;
		END
		$do$})
	{
		my $err;

		is($node->psql('strings', $sql, stderr => \$err), 0, 'calls work with strings that are read otherwise');
		$all .= $err;
	}
	is($all, '', 'no string rests on how they are read');
	$node->safe_psql('postgres', 'DROP DATABASE strings');
}

$node->safe_psql('postgres', q{
	DROP FUNCTION probe_tablespace(text, text, text), tablespace_devices(int);
	DROP PROCEDURE move_indexes_concurrently(text, text)});

# --- a planted history of probes -----------------------------------------------

# The extension is dropped, and the owner of the database plants tables of the
# names that a call is about to use.  If the run of a probe were inserted there,
# the deferred trigger would run as the superuser.
$node->safe_psql('postgres', 'CREATE DATABASE theirs OWNER mallory');

# The schema public is hers, the extension in it is not.
$node->safe_psql('theirs', 'CREATE EXTENSION tablespace_advisor');
foreach my $sql (
	'DROP SCHEMA public CASCADE', 'DROP OWNED BY pg_database_owner CASCADE',
	'ALTER SCHEMA public RENAME TO mine')
{
	like(messages_of($node, $sql, dbname => 'theirs', user => 'mallory'),
		qr/ERROR:  (42501: must be owner of extension tablespace_advisor|2BP01: cannot drop objects owned by role pg_database_owner)/,
		"the owner of a database cannot $sql");
}
$node->safe_psql('theirs', q{
	CREATE SCHEMA other;
	ALTER SCHEMA other RENAME TO another;
	ALTER SCHEMA another OWNER TO mallory});
is(messages_of($node, 'ALTER SCHEMA another RENAME TO third; DROP SCHEMA third',
		dbname => 'theirs', user => 'mallory'),
	'', 'other schemas are her own');

# Nor can she by way of an extension of her own that has the schema.
SKIP:
{
	skip 'hstore is not installed', 5
	  if $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'hstore'}) eq '0';

	is(messages_of($node, q{CREATE SCHEMA x; CREATE EXTENSION hstore SCHEMA x;
			ALTER EXTENSION hstore ADD SCHEMA public}, dbname => 'theirs', user => 'mallory'),
		'', 'an extension of hers can have the schema');
	foreach my $sql ('DROP EXTENSION hstore CASCADE', 'DROP OWNED BY mallory CASCADE',
		'DROP SCHEMA x CASCADE', 'DROP SCHEMA IF EXISTS x, public CASCADE')
	{
		like(messages_of($node, $sql, dbname => 'theirs', user => 'mallory'),
			qr/ERROR:  (42501: must be owner of|2BP01)/, "$sql does not drop what is in it");
	}
	$node->safe_psql('theirs', 'ALTER EXTENSION hstore DROP SCHEMA public; DROP EXTENSION hstore');
}

my %calls = (
	probe => q{SELECT count(*) FROM public.probe_tablespace('pg_default', duration => '1 ms', file_size => '1 MB')},
	advice => 'SELECT count(*) FROM public.explain_placement()',
	sample => 'CALL public.sample_activity()');
foreach my $what (qw(probe advice sample))
{
	my $owner = session($node, dbname => 'theirs');
	ask($owner, q{
		BEGIN;
		DROP EXTENSION tablespace_advisor;
		SET SESSION AUTHORIZATION mallory;
		CREATE SCHEMA tablespace_advisor;
		CREATE TABLE tablespace_advisor.probe_run (run_id bigint DEFAULT 1,
			tablespace name, location text, device text, mode text,
			file_size_bytes bigint, duration interval, started_at timestamptz,
			finished_at timestamptz, foreign_io_percent float8);
		CREATE TABLE tablespace_advisor.probe_result (run_id bigint, workload text,
			queue_depth int, io_size int, samples bigint, iops float8,
			mb_per_s float8, mean_us float8, stddev_us float8, min_us float8,
			p50_us float8, p90_us float8, p95_us float8, p99_us float8,
			max_us float8, mean_low_us float8, mean_high_us float8, caveat text,
			histogram bigint[]);
		CREATE TABLE tablespace_advisor.sample (sample_id bigint, taken_at timestamptz);
		CREATE FUNCTION tablespace_advisor.rob() RETURNS trigger LANGUAGE plpgsql
		AS 'BEGIN ALTER ROLE mallory SUPERUSER; RETURN NULL; END';
		CREATE FUNCTION tablespace_advisor.gather_advice(oid, regclass, name, text, interval)
		RETURNS int LANGUAGE plpgsql AS 'BEGIN ALTER ROLE mallory SUPERUSER; RETURN 1; END';
		CREATE FUNCTION tablespace_advisor.add_all_samples(int)
		RETURNS int LANGUAGE plpgsql AS 'BEGIN ALTER ROLE mallory SUPERUSER; RETURN 1; END';
		CREATE CONSTRAINT TRIGGER rob AFTER INSERT ON tablespace_advisor.probe_run
		DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION tablespace_advisor.rob();
		GRANT ALL ON SCHEMA tablespace_advisor TO PUBLIC;
		GRANT ALL ON ALL TABLES IN SCHEMA tablespace_advisor TO PUBLIC;
	});
	is($owner->{err} =~ /ERROR/ ? $owner->{err} : '', '', "$what: the trap is set");
	my $caller = session($node, dbname => 'theirs');
	send_to($caller, "$calls{$what};");
	wait_until($node, q{EXISTS (SELECT FROM pg_stat_activity
		WHERE datname = 'theirs' AND wait_event_type = 'Lock')}, "$what comes to its table");
	ask($owner, 'COMMIT;');
	end_session($owner);
	answer($caller);
	end_session($caller);
	like($caller->{err}, qr/ERROR:  55000: extension "tablespace_advisor" is not installed in this database any more/,
		"$what does not go on with what is not the extension's");
	is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'}),
		'f', "$what: nothing of the trap has run");
	$node->safe_psql('theirs', q{
		DROP SCHEMA tablespace_advisor CASCADE;
		CREATE EXTENSION tablespace_advisor});
}

# --- names that mean something else in her database ------------------------------

# The owner of a database decides where names are looked for in it, also before the
# server's own.
$node->safe_psql('theirs', 'CREATE TABLE told (a int)');
my $handed_out = $node->safe_psql('theirs', q{
	SELECT call FROM tablespace_advisor.move_calls(NULL, ARRAY[ROW(
		jsonb_populate_record(NULL::placement_advice, '{"rank": 1, "kind": "heap", "action": "move",
			"relation": "told", "from_tablespace": "pg_default", "to_tablespace": "fast"}'),
		'{}')::tablespace_advisor.advice_row])});
is(messages_of($node, q{
		CREATE SCHEMA evil;
		CREATE FUNCTION evil.rob() RETURNS boolean LANGUAGE plpgsql
		AS $$ BEGIN RAISE NOTICE 'robbed %', current_user; RETURN true; END $$;
		CREATE DOMAIN evil.regclass AS pg_catalog.regclass CHECK (evil.rob());
		CREATE DOMAIN evil.name AS pg_catalog.name CHECK (evil.rob());
		CREATE DOMAIN evil.text AS pg_catalog.text CHECK (evil.rob());
		ALTER DATABASE theirs SET search_path = evil, pg_catalog, public},
		dbname => 'theirs', user => 'mallory'), '', 'types with names of the server');
is(messages_of($node, $handed_out, dbname => 'theirs'), '', 'a statement handed out means the types of the server');

# So are functions, views and operators.
is(messages_of($node, q{
		CREATE FUNCTION evil.pg_reload_conf() RETURNS boolean LANGUAGE sql AS 'SELECT evil.rob()';
		CREATE VIEW evil.pg_inherits AS SELECT * FROM pg_catalog.pg_inherits WHERE evil.rob();
		CREATE FUNCTION evil.same(pg_catalog.text, pg_catalog.text) RETURNS boolean
		LANGUAGE sql AS 'SELECT evil.rob()';
		CREATE OPERATOR evil.= (LEFTARG = pg_catalog.text, RIGHTARG = pg_catalog.text,
			FUNCTION = evil.same);
		CREATE FUNCTION evil.same(pg_catalog.oid, pg_catalog.regclass) RETURNS boolean
		LANGUAGE sql AS 'SELECT evil.rob()';
		CREATE OPERATOR evil.= (LEFTARG = pg_catalog.oid, RIGHTARG = pg_catalog.regclass,
			FUNCTION = evil.same);
		CREATE TABLE evil.parent (a int);
		CREATE TABLE evil.heir () INHERITS (evil.parent)},
		dbname => 'theirs', user => 'mallory'), '', 'names of the server');
my %told_of = (
	'an index that may not be needed' => $node->safe_psql('theirs', q{
		SET search_path = pg_catalog;
		SELECT unnest(t.statements) FROM tablespace_advisor.report_things(jsonb_populate_record(
			NULL::tablespace_advisor.report_findings, '{"health": [], "costs": [],
			"advice": [{"action": "drop candidate", "relation": "public.told", "size_bytes": 1}]}')) t
		WHERE t.what LIKE '%may not be needed%'}),
	'parents' => messages_of($node,
		q{CALL public.move_table_concurrently('evil.parent'::pg_catalog.regclass, 'fast'::pg_catalog.name)},
		dbname => 'theirs') =~ s/.*HINT:  Move them one by one: (SELECT [^\n]*)\.\n.*/$1/sr);
foreach my $what (sort keys %told_of)
{
	like($told_of{$what}, qr/^SELECT /, "a statement about $what is handed out");
	unlike(messages_of($node, $told_of{$what}, dbname => 'theirs'), qr/robbed|ERROR/,
		"what is handed out about $what means what is the server's");
}
is($node->safe_psql('theirs', q{
		SET search_path = pg_catalog;
		SELECT t.spcname FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE c.oid = 'public.told'::pg_catalog.regclass}), 'fast', 'a statement handed out does what it says');
$node->safe_psql('postgres', 'ALTER DATABASE theirs RESET search_path');

# --- options that the owner of a tablespace has given it ---------------------------

$node->safe_psql('postgres', $_)
  foreach (q{CREATE TABLESPACE hers LOCATION ''}, 'ALTER TABLESPACE hers OWNER TO mallory');
is(messages_of($node, q{ALTER TABLESPACE hers SET (random_page_cost = '1e1',
		effective_io_concurrency = '1e1', maintenance_io_concurrency = '2e1')}, user => 'mallory'),
	'', 'numbers with an exponent are options');
is($node->safe_psql('postgres', q{
		SELECT random_page_cost, effective_io_concurrency, maintenance_io_concurrency
		FROM tablespace_advisor.tablespace_cost_setting WHERE tablespace = 'hers'}),
	'10|10|20', 'options are read as the server reads them');
is(messages_of($node, 'SELECT FROM recommend_random_page_cost(); SELECT tablespace_report() IS NULL'),
	'', 'the options of one tablespace end no advice on all');
$node->safe_psql('postgres', 'DROP TABLESPACE hers');

# --- a dump by an owner who is no superuser -------------------------------------

# pg_dump locks the tables that it is told to dump, which takes a right to read.
$node->safe_psql('postgres', 'CREATE DATABASE dumped OWNER mallory');
$node->safe_psql('dumped', q{
	CREATE EXTENSION tablespace_advisor;
	INSERT INTO tablespace_advisor.probe_run
		(tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
	VALUES ('kept', '', 'scratch', 1, '1 s', now(), now())});
$node->command_ok(
	[
		'pg_dump', '-U', 'mallory', '-f', "$PostgreSQL::Test::Utils::tmp_check/dumped.sql",
		'-d', 'dumped'
	],
	'the owner of a database can dump it');
like(slurp_file("$PostgreSQL::Test::Utils::tmp_check/dumped.sql"), qr/^1\tkept\t/m,
	'the dump of the owner of a database has the history of probes');
is($node->safe_psql('dumped', q{
		SELECT string_agg(c.oid::regclass::text, ' ')
		FROM pg_extension e JOIN pg_class c ON c.oid = ANY (e.extconfig)
		WHERE e.extname = 'tablespace_advisor'
			AND NOT has_table_privilege('pg_database_owner', c.oid, 'SELECT')}),
	'', 'the database owner may read all that pg_dump is told to take');

# --- history is not kept for ever -------------------------------------------------

$node->safe_psql('postgres', q{
	INSERT INTO tablespace_advisor.probe_run
		(tablespace, location, mode, file_size_bytes, duration, started_at, finished_at)
	SELECT 'old' || i % 2, '', 'scratch', 1, '1 s', now() - interval '10 days',
		now() - interval '10 days'
	FROM generate_series(1, 4) i;
	INSERT INTO tablespace_advisor.probe_result
		(run_id, workload, queue_depth, io_size, samples, caveat)
	SELECT run_id, 'random read', 1, 8192, 1, CASE tablespace WHEN 'old1' THEN 'not to be trusted' END
	FROM tablespace_advisor.probe_run WHERE tablespace LIKE 'old%'});
move($node, 't', 'fast');
move($node, 't', 'slow');
$node->safe_psql('postgres', q{
	UPDATE tablespace_advisor.job SET finished_at = finished_at - interval '10 days'});
configure($node, 'tablespace_advisor.keep_history', '7');
move($node, 't', 'fast');
ok($node->poll_query_until('postgres',
		q{SELECT string_agg(job_id::text, ' ') = '3' FROM tablespace_moves}),
	'ended moves are forgotten after keep_history days');
$node->safe_psql('postgres', $probe =~ s/\)$/, duration => '1 ms', file_size => '1 MB')/r);
is($node->safe_psql('postgres', q{
		SELECT string_agg(tablespace::text, ' ') FROM tablespace_advisor.probe_run
		WHERE tablespace LIKE 'old%'}),
	'old0', 'probes, too, but for the latest that can be trusted');
like($node->safe_psql('postgres', q{
		SET enable_seqscan = off; SET enable_bitmapscan = off;
		EXPLAIN (COSTS OFF) SELECT DISTINCT batch_id FROM tablespace_advisor.job
		WHERE (state IN ('queued', 'running', 'paused') OR new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL)
		ORDER BY batch_id}),
	qr/job_left_to_do_idx/, 'jobs to be finished have an index');

# --- what others wait for -------------------------------------------------------

$node->safe_psql('postgres', q{CREATE TABLE hers (a int PRIMARY KEY); ALTER TABLE hers OWNER TO mallory});
my $seen = q{SELECT bool_or(evidence #> '{window,waits}' IS NOT NULL) FROM placement_evidence('hers')};
is($node->safe_psql('postgres', $seen), 't', 'the evidence has wait events');
is($node->safe_psql('postgres', "SET SESSION AUTHORIZATION mallory; $seen"), 'f',
	"evidence for who may not see others' waits has none");

# Nor is it the reason of a row.
my $load = q{SELECT tablespace_advisor.other_bottleneck(l), l.standbys
	FROM tablespace_advisor.load_as_seen_by(jsonb_populate_record(NULL::tablespace_advisor.load_fact,
		'{"snapshots": 100, "active_sessions": 2, "standbys": "tokyo", "waits": {"Lock/relation": 1.2,
			"CPU": 0.7, "IO/DataFileRead": 0.06, "IO/DataFileWrite": 0.04}}'), '%s'::regrole) l};
is($node->safe_psql('postgres', sprintf($load, 'postgres')),
	'60 % of active time is Lock/relation, 5 % reading|tokyo', 'a superuser is told what sessions wait for');
is($node->safe_psql('postgres', sprintf($load, 'mallory')),
	'95 % of active time is spent otherwise, 5 % reading|standby servers', 'an owner is not told what others wait for');

# --- publications -------------------------------------------------------------------

# A subscriber that has the extension, too, would stop at the first job, whose
# number it has already; an UPDATE would change its own job.
$node->safe_psql('postgres', q{
	CREATE DATABASE publisher;
	CREATE DATABASE subscriber});
foreach my $dbname ('publisher', 'subscriber')
{
	$node->safe_psql($dbname, q{
		CREATE EXTENSION tablespace_advisor;
		CREATE TABLE t (a int PRIMARY KEY)});
}
$node->safe_psql('subscriber', q{CALL move_indexes_concurrently('t', 'fast')});
$node->safe_psql('publisher', q{
	CREATE PUBLICATION everything FOR ALL TABLES;
	SELECT pg_create_logical_replication_slot('s', 'pgoutput')});
$node->safe_psql('subscriber', sprintf(q{
	CREATE SUBSCRIPTION s CONNECTION '%s' PUBLICATION everything
	WITH (create_slot = false, copy_data = true)}, $node->connstr('publisher') =~ s/'/''/gr));
my $own = q{SELECT job_id, database = (SELECT oid FROM pg_database WHERE datname = current_database())
	FROM tablespace_advisor.job};
like(messages_of($node, q{CALL move_indexes_concurrently('t', 'fast')}, dbname => 'publisher'),
	qr/WARNING:  55000: publication everything includes the journal of moves.*HINT:  Create the extension on subscribers/s,
	'the first move of a database warns of a publication for all tables');
unlike(messages_of($node, q{CALL move_indexes_concurrently('t', 'slow')}, dbname => 'publisher'),
	qr/WARNING/, 'the second does not');
$node->safe_psql('publisher', 'INSERT INTO t VALUES (1)');
ok($node->poll_query_until('subscriber', 'SELECT count(*) = 1 FROM t'),
	'the subscriber goes on');
is($node->safe_psql('subscriber', $own), '1|t', "the subscriber has jobs of its own only");
$node->safe_psql('subscriber', q{
	SET session_replication_role = replica;
	CALL move_indexes_concurrently('t', 'slow')});
is($node->safe_psql('subscriber', $own), "1|t\n2|t", 'a caller that is a replica itself can move');
# a TRUNCATE of the publisher's, as the worker of a subscription applies it
like(messages_of($node, q{
		SET session_replication_role = replica;
		TRUNCATE tablespace_advisor.job, tablespace_advisor.request}, dbname => 'subscriber'),
	qr/ERROR:  55000: cannot truncate "tablespace_advisor.job" by logical replication/,
	"a publisher's TRUNCATE is refused");
is($node->safe_psql('subscriber', $own), "1|t\n2|t", 'after the refused TRUNCATE the journal keeps its jobs');
is($node->safe_psql('subscriber', q{
		SELECT string_agg(c.oid::regclass::text, ' ')
		FROM pg_extension e
			JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
				AND d.classid = 'pg_class'::regclass AND d.deptype = 'e'
			JOIN pg_class c ON c.oid = d.objid AND c.relkind = 'r'
		WHERE e.extname = 'tablespace_advisor'
			AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)}),
	'', 'every table has a primary key, without which a publication forbids UPDATE');
# dropped while a table is still copied, the server looks for a slot that may be gone
ok($node->poll_query_until('subscriber',
		q{SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel}),
	'every table of the publication has been copied');
$node->safe_psql('subscriber', 'DROP SUBSCRIPTION s');

$node->stop;
# replication says what it likes when its other end goes away
check_log($node, 'all', qr/55000|is not installed in this database|must be owner of extension|by logical replication|cannot drop objects owned by role pg_database_owner/,
	of => qr/\] (?:client backend|tablespace_advisor [\w ]+): /);
done_testing();
