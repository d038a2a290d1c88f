# Copyright (c) 2026, The tablespace_advisor developers

# Code of others that runs in a worker, which is functions of indexes, sets
# parameters.  Whatever it sets, the worker goes on with the other jobs of its
# batch, under its own settings.  So do settings of a database or a role.
#
# Earlier tests tried those parameters that somebody had thought of.  This one
# takes each that a session may set from pg_settings, so it finds the next one.

use TsaTest;

my $node = start_node('main', conf => "autovacuum = off\n");
make_users($node);

# --- functions of indexes ---------------------------------------------------------

# Two tables, each index of which is a job.  f() does what the row of what() says
# that has the index's number; g() notes the settings that it runs under.
$node->safe_psql('postgres', q{
	CREATE SCHEMA m AUTHORIZATION mallory;
	SET SESSION AUTHORIZATION mallory;
	CREATE TABLE m.what (n int PRIMARY KEY, name text, value text, fails boolean, sleeps boolean);
	CREATE TABLE m.seen (n int, name text, value text);

	-- each value of an enum or boolean, the ends of a range and the least time
	INSERT INTO m.what
	SELECT row_number() OVER (), name, value, fails, coalesce(unit, '') IN ('ms', 's', 'min')
	FROM pg_settings s
		CROSS JOIN LATERAL (SELECT unnest(CASE vartype
				WHEN 'bool' THEN '{on,off}'
				WHEN 'enum' THEN enumvals
				WHEN 'string' THEN ARRAY['', 'x']
				ELSE ARRAY[min_val, max_val, '1'] END)) v(value)
		CROSS JOIN (VALUES (false), (true)) w(fails)
	-- those that do not fail tell whether the value stays: one other than now
	WHERE context = 'user' AND CASE WHEN fails OR unit IN ('ms', 's', 'min') THEN true
		ELSE value <> setting AND value IN ('on', 'off', enumvals[1], max_val, 'x') END;

	CREATE FUNCTION m.f(a int, i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
	DECLARE
		w m.what;
	BEGIN
		IF current_setting('application_name') <> '' THEN
			RETURN a;
		END IF;
		SELECT * INTO w FROM m.what WHERE n = i;
		PERFORM pg_catalog.set_config(w.name, w.value, false);
		IF w.sleeps THEN
			PERFORM pg_catalog.pg_sleep(0.02);
		END IF;
		IF w.fails THEN
			RAISE EXCEPTION 'as it likes';
		END IF;
		RETURN a;
	END $$;
	CREATE FUNCTION m.note(i int) RETURNS void LANGUAGE sql AS $$
		INSERT INTO m.seen SELECT i, name, setting || ' ' || context FROM pg_catalog.pg_settings
	$$;
	CREATE FUNCTION m.g(a int, i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN
		IF current_setting('application_name') = '' THEN
			PERFORM m.note(i);
		END IF;
		RETURN a;
	END $$;

	-- a SET clause is another way to set one
	CREATE FUNCTION m.h(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE
		SET exit_on_error = on AS 'BEGIN RETURN a / (a - 1); END';
	CREATE UNLOGGED TABLE m.t (a int);
	CREATE INDEX t_h ON m.t (m.h(a)) TABLESPACE slow;
	DO $$
	BEGIN
		FOR i IN 0 .. (SELECT max(n) FROM m.what) LOOP
			IF i > 0 THEN
				EXECUTE format('CREATE INDEX t_%s ON m.t (m.f(a, %s)) TABLESPACE slow',
					to_char(i, 'FM0000'), i);
			END IF;
			IF i % 20 = 0 THEN
				EXECUTE format('CREATE INDEX t_%s_g ON m.t (m.g(a, %s)) TABLESPACE slow',
					to_char(i, 'FM0000'), i);
			END IF;
		END LOOP;
	END
	$$;
	CREATE INDEX t_z_g ON m.t (m.g(a, 1000000)) TABLESPACE slow;
	SET exit_on_error = off;
	INSERT INTO m.t VALUES (2)});
cmp_ok($node->safe_psql('postgres', 'SELECT count(DISTINCT name) FROM m.what'), '>', 100,
	'functions of indexes set all parameters that a session may set');

# Runs the batch in one worker; returns jobs that have failed though their own
# function has not.
sub run_batch
{
	my ($name) = @_;

	$node->safe_psql('postgres', 'TRUNCATE m.seen');
	told($node, q{SET client_min_messages = error; CALL evacuate_tablespace('slow', 'fast')});
	wait_for_workers($node);
	is($node->safe_psql('postgres', q{
			SELECT count(*) > 1, count(DISTINCT worker_pid), max(takeovers)
			FROM tablespace_advisor.job WHERE batch_id = (SELECT max(batch_id) FROM tablespace_advisor.job)}),
		't|1|0', "$name: one worker runs all jobs");
	return $node->safe_psql('postgres', q{
		SELECT string_agg(concat_ws(' ', j.relation_name, w.name, w.value, j.error), E'\n')
		FROM tablespace_advisor.job j
			LEFT JOIN m.what w ON j.relation_name = 't_' || to_char(w.n, 'FM0000')
		WHERE j.batch_id = (SELECT max(batch_id) FROM tablespace_advisor.job)
			AND (j.error ~ 'ended unexpectedly' OR j.state <> 'done' AND j.relation_name ~ '_g$')});
}
is(run_batch('functions'), '', 'whatever functions set, other jobs are done');
like($node->safe_psql('postgres', q{SELECT error FROM tablespace_advisor.job WHERE relation_name = 't_h'}),
	qr/^parameter "exit_on_error" cannot be changed now/, 'a SET clause is refused, too');
is($node->safe_psql('postgres', q{
		SELECT DISTINCT w.name FROM m.what w
			JOIN tablespace_advisor.job j ON j.relation_name = 't_' || to_char(w.n, 'FM0000')
		WHERE j.error ~ 'cannot be changed now' ORDER BY 1}),
	join("\n", 'exit_on_error', 'idle_in_transaction_session_timeout', 'idle_session_timeout',
		$node->pg_version >= 17 ? 'transaction_timeout' : ()),
	'only what could end the worker cannot be set in it');
my $differences = q{
	SELECT string_agg(DISTINCT s.name || ': ' || f.value || ' / ' || s.value, E'\n')
	FROM m.seen s JOIN (SELECT * FROM m.seen WHERE n = (SELECT min(n) FROM m.seen)) f USING (name)
	WHERE s.value <> f.value};
cmp_ok($node->safe_psql('postgres', 'SELECT count(DISTINCT n) FROM m.seen'), '>', 10,
	'functions between the others see the settings');
is($node->safe_psql('postgres', $differences), '', 'what a function sets is gone when the next job runs');

# --- a database and a role ------------------------------------------------------------

# Whatever their settings, the worker connects, has its own and does its work.
# Those that its statements may stumble on one by one, with all ends of their ranges.
my $own = $node->safe_psql('postgres', q{
	SELECT DISTINCT name || ' ' || value FROM m.seen WHERE n = 0 AND name = ANY ('{
		lock_timeout,statement_timeout,idle_in_transaction_session_timeout,idle_session_timeout,
		transaction_timeout,default_transaction_read_only,default_transaction_isolation,
		default_transaction_deferrable,synchronous_commit,session_replication_role,exit_on_error,
		enable_hashjoin,jit,random_page_cost}') ORDER BY 1});
$node->safe_psql('postgres', q{
	DO $$
	DECLARE
		s record;
	BEGIN
		FOR s IN
			SELECT name, CASE WHEN name ~ 'timeout$' THEN '1'
				WHEN boot_val = 'on' THEN 'off' WHEN boot_val = 'off' THEN 'on'
				WHEN enumvals IS NOT NULL THEN enumvals[array_length(enumvals, 1)]
				ELSE max_val END AS value
			FROM pg_settings
			WHERE name = ANY ('{lock_timeout,statement_timeout,
				idle_in_transaction_session_timeout,idle_session_timeout,transaction_timeout,
				default_transaction_read_only,default_transaction_isolation,
				default_transaction_deferrable,synchronous_commit,session_replication_role,
				exit_on_error,enable_hashjoin,jit,random_page_cost}')
		LOOP
			EXECUTE format('ALTER DATABASE postgres SET %I = %L', s.name, s.value);
			EXECUTE format('ALTER ROLE %I SET %I = %L', current_user, s.name, s.value);
		END LOOP;
	END
	$$});
{
	# this session does without them
	local $ENV{PGOPTIONS} = join ' ', map { "-c $_=0" } qw(lock_timeout statement_timeout
		idle_in_transaction_session_timeout idle_session_timeout default_transaction_read_only
		exit_on_error), $node->pg_version >= 17 ? 'transaction_timeout' : ();
	$node->safe_psql('postgres', q{
		SET client_min_messages = error;
		SET session_replication_role = origin;
		CALL move_indexes_concurrently('m.t', 'slow', ARRAY['m.t_0000_g'::regclass])});
	is($node->safe_psql('postgres', q{
			SELECT DISTINCT name || ' ' || value FROM m.seen
			WHERE n = 0 AND name IN (SELECT split_part(o, ' ', 1) FROM string_to_table($own$} . $own . q{$own$, E'\n') o)
			ORDER BY 1}), $own, 'settings of a database or role are not the worker\'s');
}

$node->stop;
done_testing();
