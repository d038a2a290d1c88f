# Copyright (c) 2026, The tablespace_advisor developers

# What of other people's code runs in a worker, and with which rights; one test
# for each row of docs/internals/worker_rights.md.  The worker's process has been
# authenticated as the superuser, so each tries to become one.

use TsaTest;

my $node = start_node('main', conf => "autovacuum = off\n");

$node->safe_psql('postgres', q{
	CREATE ROLE mallory;
	GRANT CREATE ON SCHEMA public TO mallory;
	CREATE TABLESPACE third LOCATION '';
	GRANT CREATE ON TABLESPACE slow, fast, third TO mallory;
	CREATE ROLE heir;
	CREATE TABLE victim TABLESPACE third AS
		SELECT g AS a, repeat('x', 100) AS b FROM generate_series(1, 10000) g;
	SET SESSION AUTHORIZATION mallory;

	-- tries whatever leads to more rights, and says what it got
	CREATE TABLE loot (at text, who text, session text, path text, restricted boolean);
	CREATE FUNCTION rob(at text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		refused boolean := false;
	BEGIN
		BEGIN
			PERFORM set_config('session_authorization', 'postgres', false);
			ALTER ROLE mallory SUPERUSER;
		EXCEPTION WHEN insufficient_privilege OR invalid_parameter_value THEN
			refused := true;
		END;
		BEGIN
			PERFORM set_config('role', 'none', false);
			ALTER ROLE mallory SUPERUSER;
		EXCEPTION WHEN insufficient_privilege OR invalid_parameter_value THEN
			NULL;
		END;
		INSERT INTO public.loot VALUES (at, current_user, session_user,
			current_setting('search_path'), refused);
	END $$;

	-- an index that calls it for each row
	CREATE FUNCTION robbing(a int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM public.rob('index expression');
		RETURN a;
	END $$;
	CREATE TABLE t (a int PRIMARY KEY, b int);
	INSERT INTO t SELECT i, i FROM generate_series(1, 3) i;
	CREATE INDEX t_b ON t (b);
	CREATE INDEX t_robbing ON t (robbing(b));
	CREATE TABLE parted (a int PRIMARY KEY) PARTITION BY RANGE (a);
	CREATE UNLOGGED TABLE u (a int PRIMARY KEY);

	-- an index that gives back all advisory locks of the process
	CREATE FUNCTION unlocking(a int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM pg_catalog.pg_advisory_unlock_all();
		RETURN a;
	END $$;
	CREATE UNLOGGED TABLE unlocker AS SELECT 1 AS a;
	CREATE INDEX unlocker_a ON unlocker (unlocking(a)) TABLESPACE third;

	-- a trigger of hers on a table that the superuser's event triggers write to
	CREATE TABLE audit (tag text);
	CREATE FUNCTION rob_audit() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN PERFORM public.rob(NEW.tag); RETURN NULL; END $$;
	CREATE TRIGGER rob AFTER INSERT ON audit FOR EACH ROW EXECUTE FUNCTION rob_audit();
	TRUNCATE loot;
	CREATE FUNCTION public.equals(bigint, int) RETURNS boolean LANGUAGE plpgsql
	AS 'BEGIN PERFORM public.rob(''operator''); RETURN true; END';
	CREATE OPERATOR public.= (LEFTARG = bigint, RIGHTARG = int, FUNCTION = public.equals);
	RESET SESSION AUTHORIZATION;

	CREATE FUNCTION note_command() RETURNS event_trigger LANGUAGE plpgsql
	AS $$BEGIN INSERT INTO public.audit VALUES (tg_event || ' ' || tg_tag); END$$;
	CREATE EVENT TRIGGER e1 ON ddl_command_start EXECUTE FUNCTION note_command();
	CREATE EVENT TRIGGER e2 ON ddl_command_end EXECUTE FUNCTION note_command();
	CREATE EVENT TRIGGER e3 ON sql_drop EXECUTE FUNCTION note_command();
	CREATE EVENT TRIGGER e4 ON table_rewrite EXECUTE FUNCTION note_command();
	TRUNCATE loot, audit});

# Runs a move as mallory; returns what she got.
sub loot_of
{
	my ($sql) = @_;

	$node->safe_psql('postgres', 'TRUNCATE loot, audit');
	my ($rc, $out, $err) = $node->psql('postgres',
		"\\set VERBOSITY verbose\nSET SESSION AUTHORIZATION mallory;\n$sql");
	wait_for_workers($node);
	diag $err if $rc != 0;
	is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'}),
		'f', "no superuser by $sql");
	return $node->safe_psql('postgres', 'SELECT DISTINCT at, who, session, restricted FROM loot ORDER BY 1');
}

# --- event triggers ------------------------------------------------------------------

is(loot_of("CALL move_indexes_concurrently('parted', 'fast')"), '',
	'a partitioned index: no event trigger');
is(loot_of("CALL move_table_concurrently('parted', 'fast')"), '',
	'a partitioned table: no event trigger');
is(loot_of("CALL move_indexes_concurrently('t_b', 'fast')"), '', 'a live copy: no event trigger');
is(loot_of("CALL move_indexes_concurrently('t_b', 'slow', method => 'rebuild')"), '',
	'a rebuild: no event trigger');
is(loot_of("CALL move_indexes_concurrently('u', 'fast')"), '',
	'a rebuild of an unlogged index: no event trigger');
is($node->safe_psql('postgres', q{
		SELECT string_agg(c.relname || ' ' || s.spcname, ', ' ORDER BY c.relname)
		FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE s.spcname IN ('fast', 'slow')}),
	'parted fast, parted_pkey fast, t_b slow, u_pkey fast', 'all relations have moved');

# a transient index that a cancelled rebuild leaves, dropped by the same worker
my $old = session($node);
ask($old, 'BEGIN; LOCK t IN ROW EXCLUSIVE MODE;');
$node->safe_psql('postgres', 'TRUNCATE loot, audit');
my $job = $node->safe_psql('postgres', q{
	SET SESSION AUTHORIZATION mallory;
	CALL move_indexes_concurrently('t_b', 'fast', method => 'rebuild', wait => false)}) =~ s/\D//gr;
wait_until($node, q{EXISTS (SELECT FROM pg_class WHERE relname = 't_b_ccnew')}, 'a transient index');
wait_until_job($node, $job, "blocked_by IS NOT NULL");
$node->safe_psql('postgres', "SELECT cancel_move($job)");
ask($old, 'ROLLBACK;');
end_session($old);
ok($node->poll_query_until('postgres', q{
		SELECT count(*) = 0 FROM pg_class WHERE relname ~ '_cc(new|old)'}),
	'a transient index is dropped');
is($node->safe_psql('postgres', 'SELECT count(*) FROM audit'), '0', 'dropping a transient index fires no event trigger');

# --- functions of indexes ---------------------------------------------------------------

is(loot_of("CALL move_indexes_concurrently('t_robbing', 'fast', method => 'rebuild')"),
	'index expression|mallory|mallory|t',
	"a rebuild calls an index's function as the table's owner, restricted");
is(loot_of("CALL move_indexes_concurrently('t_robbing', 'slow')"), '',
	'a live copy calls none');

# Advisory locks prove that a worker lives: without them the copies of others'
# tables, later in the same call, would be taken for what a dead worker has left.
stop_at($node, 'copied');
my ($unlocks, $victim) = $node->safe_psql('postgres',
	q{CALL evacuate_tablespace('third', 'fast', wait => false)}) =~ /(\d+)/g;
wait_for_stop($node, 'copied');
like($node->safe_psql('postgres', "SELECT error FROM tablespace_moves WHERE job_id = $unlocks"),
	qr/^cannot execute pg_advisory_unlock_all\(\) in a worker/,
	"a function of an index does not give the worker's locks back");
$node->safe_psql('postgres', q{SELECT wait_for_moves('{}')});
is(job_field($node, $victim, 'state'), 'running',
	'the move of another table in the same call is under way for everybody');
release($node);
is(wait_for_job($node, $victim), 'done', 'the other table moves');
wait_for_workers($node);
is($node->safe_psql('postgres', 'SELECT count(*), sum(length(b)) FROM victim'), '10000|1000000',
	'the other table has all rows');

# Were its job ended all the same, the worker would not go on with it.
$victim = start_stopped_table_move($node, 'copied', 'victim', 'slow');
$node->safe_psql('postgres', "UPDATE tablespace_advisor.job SET state = 'failed' WHERE job_id = $victim");
release($node);
wait_for_workers($node);
is($node->safe_psql('postgres', q{
		SELECT spcname FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE c.oid = 'victim'::regclass}), 'fast', 'a job that somebody else has ended does not cut over');
is($node->safe_psql('postgres', q{SELECT wait_for_moves('{}'), count(*) FROM victim}), 't|10000',
	'after a job that somebody else has ended the table has all rows');
is($node->safe_psql('postgres', "SELECT new_filenumbers IS NULL FROM tablespace_advisor.job WHERE job_id = $victim"),
	't', 'the copy of a job that somebody else has ended is removed');

# --- tables of the journal's name, and settings of the role ------------------------------

$node->safe_psql('postgres', q{
	ALTER ROLE mallory SET search_path = public;
	ALTER DATABASE postgres SET search_path = public;
	ALTER DATABASE postgres SET session_replication_role = replica});
is(loot_of("CALL move_indexes_concurrently('t_b', 'fast')"), '',
	'nothing of a search_path that a database or role has set');
is(tablespaces_of($node, 't_b'), 'fast', 'the index moves with search_path set for role and database');
$node->safe_psql('postgres', q{
	ALTER DATABASE postgres RESET ALL;
	ALTER ROLE mallory RESET ALL;
	DROP OPERATOR public.= (bigint, int)});

$node->safe_psql('postgres', 'DROP EVENT TRIGGER e1; DROP EVENT TRIGGER e2; DROP EVENT TRIGGER e3; DROP EVENT TRIGGER e4');

# --- rights that are taken away ------------------------------------------------------------

# A job that has begun does not go on with the rights it has begun with.
sub taken_away
{
	my ($take, $give, $name) = @_;

	stop_at($node, 'copied');
	my $id = $node->safe_psql('postgres', q{
		SET SESSION AUTHORIZATION mallory;
		CALL move_table_concurrently('t', 'fast', wait => false)}) =~ s/\D//gr;
	wait_for_stop($node, 'copied');
	$node->safe_psql('postgres', "SELECT pause_move($id)");
	release($node);
	wait_until_job($node, $id, "state = 'paused'");
	$node->safe_psql('postgres', $take);
	$node->safe_psql('postgres', "SELECT resume_move($id)");
	is(wait_for_job($node, $id), 'failed', "$name: the move fails");
	is(job_field($node, $id, 'sqlstate'), '42501', "$name: the move fails for want of a right");
	check_orphans($node, $name);
	$node->safe_psql('postgres', $give);
	return;
}
taken_away('REVOKE CREATE ON TABLESPACE fast FROM mallory',
	'GRANT CREATE ON TABLESPACE fast TO mallory', 'REVOKE CREATE ON TABLESPACE');
taken_away('ALTER TABLE t OWNER TO heir', 'ALTER TABLE t OWNER TO mallory', 'another owner');

# --- a look-alike of the journal that is locked for ever --------------------------------------

# The launcher's workers do not wait for it before the databases behind it.
$node->safe_psql('postgres', 'CREATE DATABASE a_decoy; CREATE DATABASE b_victim');
$node->safe_psql('b_victim', q{
	CREATE EXTENSION tablespace_advisor;
	CREATE TABLE t (a int PRIMARY KEY);
	INSERT INTO t SELECT generate_series(1, 20000)});
$node->safe_psql('a_decoy', q{
	CREATE SCHEMA tablespace_advisor;
	CREATE TABLE tablespace_advisor.job (job_id bigint);
	BEGIN;
	LOCK tablespace_advisor.job;
	PREPARE TRANSACTION 'for ever'});
stop_at($node, 'copied');
$node->safe_psql('b_victim', q{CALL move_indexes_concurrently('t', 'fast', wait => false)});
wait_for_stop($node, 'copied');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'tablespace_advisor'\ntablespace_advisor.debug_stop_at = ''\n");
crash($node);
ok($node->poll_query_until('b_victim', q{SELECT state = 'failed' FROM tablespace_moves}),
	'the launcher comes past a table that is not the extension\'s');
$node->safe_psql('a_decoy', q{ROLLBACK PREPARED 'for ever'});

$node->stop;
check_log($node, 'all', qr/permission denied|must be owner|cancel|terminating background worker|in a worker of extension|not under way any more/);
done_testing();
