# Copyright (c) 2026, The tablespace_advisor developers

# Every function and procedure of the extension, called by an attacker with an
# argument that lingers: while it does, a superuser drops the extension, makes it
# anew in another schema, or updates it, and the attacker plants what looks like
# the extension where it was.  The call ends with a result or an error, nothing of
# hers runs with the rights of anybody else, and the server does not crash.

use TsaTest;

my $node = start_node('main', conf => qq(
autovacuum = off
max_connections = 600
max_worker_processes = 40
log_error_verbosity = verbose
log_line_prefix = '%m [%p] %a '
));
$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN');
my $checkpointer = checkpointer_pid($node);

# A function of hers that lingers, and one that tells as whom it runs: in the
# server's log, which keeps that whatever becomes of the transaction.
my $hers = q{
	CREATE SCHEMA m;
	CREATE FUNCTION m.linger(v anyelement) RETURNS anyelement LANGUAGE plpgsql
	SET lock_timeout = 0 AS $$
	BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN v; END $$;
	CREATE FUNCTION m.tell(what text) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN RAISE LOG 'planted % runs as % in a session of %', what, current_user, session_user; RETURN false; END $$;
	CREATE FUNCTION m.tell() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN PERFORM m.tell(tg_relid::regclass::text); RETURN NULL; END $$;
	CREATE TABLE t (a int PRIMARY KEY);
	INSERT INTO t SELECT generate_series(1, 100);
	CREATE TABLE m.blueprint (sql text, needs_schema name)};

# What makes look-alikes of all that the extension has: its routines, each of
# which tells; its tables, types, and views, which tell when they are read.
my $blueprint = q{
	INSERT INTO m.blueprint
	SELECT format('CREATE %s %s(%s) %s LANGUAGE plpgsql AS $x$ BEGIN PERFORM m.tell(%L); %s END $x$',
			CASE p.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END,
			p.oid::regproc,
			-- PL/pgSQL has no names twice
			CASE WHEN has_twice THEN oidvectortypes(p.proargtypes) ELSE pg_get_function_arguments(p.oid) END,
			CASE WHEN has_twice THEN 'RETURNS SETOF record'
				WHEN p.prokind = 'f' THEN 'RETURNS ' || pg_get_function_result(p.oid) ELSE '' END,
			p.oid::regproc,
			CASE WHEN p.proretset THEN 'RETURN;' ELSE '' END),
		n.nspname
	FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
		JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
			AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'tablespace_advisor')
		CROSS JOIN LATERAL (SELECT count(*) > count(DISTINCT a) FROM unnest(p.proargnames) a) AS twice (has_twice);
	INSERT INTO m.blueprint
	SELECT CASE c.relkind WHEN 'c' THEN
			format('CREATE TYPE %s AS (%s)', c.oid::regclass,
				string_agg(format('%I %s', attname, format_type(atttypid, NULL)), ', ' ORDER BY attnum))
		ELSE
			format('CREATE VIEW %s AS SELECT %s WHERE m.tell(%L) IS NOT NULL', c.oid::regclass,
				string_agg(format('NULL::%s AS %I', format_type(atttypid, NULL), attname), ', ' ORDER BY attnum),
				c.oid::regclass)
			|| format('; CREATE TRIGGER tell INSTEAD OF INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION m.tell()', c.oid::regclass)
		END,
		n.nspname
	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		JOIN pg_depend d ON d.deptype = 'e'
			AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'tablespace_advisor')
			AND (d.classid = 'pg_class'::regclass AND d.objid = c.oid AND c.relkind IN ('r', 'v')
				OR d.classid = 'pg_type'::regclass AND d.objid = c.reltype AND c.relkind = 'c')
	GROUP BY c.oid, c.relkind, n.nspname};

# As mallory: makes all of that which lies in some schemas, in as many turns as it
# takes until nothing more can be made.
my $plant = q{
	DO $$
	DECLARE
		b record;
		made int;
		total int := 0;
	BEGIN
		LOOP
			made := 0;
			FOR b IN SELECT ctid AS place, sql FROM m.blueprint WHERE needs_schema = ANY (%s) LOOP
				BEGIN
					EXECUTE b.sql;
					DELETE FROM m.blueprint WHERE ctid = b.place;
					made := made + 1;
				EXCEPTION WHEN OTHERS THEN NULL;
				END;
			END LOOP;
			total := total + made;
			EXIT WHEN made = 0;
		END LOOP;
		RAISE LOG 'planted %% look-alikes', total;
	END
	$$;
	RESET SESSION AUTHORIZATION;
};

# A database of hers with the extension, the calls waiting in it.  Returns the
# routines and what ends them.
sub set_trap
{
	my ($dbname, $create) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $dbname OWNER mallory");
	$node->safe_psql($dbname, "$create; SET search_path = pg_catalog, pg_temp");
	$node->safe_psql($dbname, "SET SESSION AUTHORIZATION mallory; $hers");
	$node->safe_psql($dbname, $blueprint);
	$node->safe_psql($dbname, q{
		GRANT ALL ON m.blueprint TO mallory;
		GRANT USAGE ON SCHEMA tablespace_advisor TO mallory;
		GRANT EXECUTE ON ALL ROUTINES IN SCHEMA tablespace_advisor, public TO mallory;
		GRANT CREATE ON TABLESPACE slow, fast TO mallory;
		GRANT pg_monitor TO mallory});
	return;
}

# Who calls what.
sub start_calls
{
	my ($dbname, %args) = @_;
	my $holder = session($node, dbname => $dbname);
	my @routines = routines_of($node, $dbname);
	my @commands;
	my $tries = 300;
	my $n = 0;

	send_to($holder, 'SELECT pg_advisory_lock(1);');
	answer($holder);
	foreach my $role (@{ $args{roles} })
	{
		foreach my $routine (@routines)
		{
			my $sql = call_of($routine, wrap => 'm.linger',
				more => 'm.linger(1)');

			# has no argument that could linger
			next if $routine->{kind} eq 'p' && !@{ $routine->{types} };
			next if $role ne 'mallory' && $routine->{schema} ne 'public';
			my $file = "$PostgreSQL::Test::Utils::tmp_check/$dbname.$n.sql";
			open my $out, '>', $file or die $!;
			print $out "SET statement_timeout = '${PostgreSQL::Test::Utils::timeout_default}s'; SET lock_timeout = '20s';\n$sql;\n";
			close $out;
			push @commands, sprintf q{(PGAPPNAME='%s.%s' psql -XAtq -d "%s user=%s" -f '%s' >/dev/null 2>&1; echo '%s') &},
				$dbname, $routine->{name}, $node->connstr($dbname), $role, $file, $routine->{name};
			$n++;
		}
	}
	my $run = start_command('sh', '-c', join("\n", @commands, 'wait'));
	my $lingering = 0;
	while ($lingering + split(/\n/, $run->{out}) < $n)
	{
		$run->{harness}->pump_nb;
		die "$lingering of $n calls linger" if $run->{harness}->pumpable && $tries-- == 0;
		$lingering = $node->safe_psql('postgres', q{
			SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted});
	}
	is(join(' ', sort split /\n/, $run->{out}), '', "all $n calls linger");
	return ($holder, $run, $n, scalar @routines);
}

# Lets the calls go on, and judges what came of them.
sub judge
{
	my ($what, $dbname, $holder, $run, $n, $routines) = @_;
	my $log;

	send_to($holder, 'SELECT pg_advisory_unlock(1);');
	answer($holder);
	end_session($holder);
	eval { $run->{harness}->finish };
	is($@, '', "$what: $n calls of $routines routines have ended");
	$log = slurp_file($node->logfile);
	is(checkpointer_pid($node), $checkpointer, "$what: no crash");
	my @robbed = grep { !/runs as mallory in a session of mallory$/ }
	  $log =~ /^\S+ \S+ \S+ \[\d+\] \Q$dbname\E\.(\S+ .*planted .* runs as .*)$/mg;
	is(join("\n", @robbed), '', "$what: nothing planted has run as anybody else");
	# the server's own words for what was dropped under a call that it has begun
	my $gone = qr/cache lookup failed for (?:function|type)|could not open relation with OID/;
	my %internal;
	while ($log =~ /^\S+ \S+ \S+ \[\d+\] \Q$dbname\E\.(\S+) ERROR:  (XX\w{3}: .*)/mg)
	{
		$internal{"$1: $2"}++ if $2 !~ $gone;
	}
	is(join("\n", sort keys %internal), '', "$what: no internal error");
	my %codes;
	$codes{$1}++ while $log =~ /^\S+ \S+ \S+ \[\d+\] \Q$dbname\E\.\S+ ERROR:  (\w{5}): /mg;
	note("$what: ", join(', ', map { "$_: $codes{$_}" } sort keys %codes));
	return;
}

# --- made again in another schema -----------------------------------------------

set_trap('elsewhere', 'CREATE EXTENSION tablespace_advisor');
my @calls = start_calls('elsewhere', roles => ['mallory']);
$node->safe_psql('elsewhere', q{
	BEGIN;
	DROP EXTENSION tablespace_advisor;
	CREATE SCHEMA another;
	CREATE EXTENSION tablespace_advisor SCHEMA another;
	SET SESSION AUTHORIZATION mallory;
} . sprintf($plant, q{'{public}'}) . 'COMMIT');
is($node->safe_psql('elsewhere', q{SELECT count(*) FROM m.blueprint WHERE needs_schema = 'public'}), '0',
	'look-alikes of all that was in public');
judge('made anew in another schema', 'elsewhere', @calls);

# --- dropped, and all of it planted ---------------------------------------------

set_trap('planted', 'CREATE EXTENSION tablespace_advisor');
@calls = start_calls('planted', roles => [ 'mallory', 'postgres' ]);
$node->safe_psql('planted', q{
	BEGIN;
	DROP EXTENSION tablespace_advisor;
	SET SESSION AUTHORIZATION mallory;
	CREATE SCHEMA tablespace_advisor;
	GRANT ALL ON SCHEMA tablespace_advisor TO PUBLIC;
} . sprintf($plant, q{'{public,tablespace_advisor}'}) . 'COMMIT');
is($node->safe_psql('planted', q{SELECT string_agg(sql, chr(10)) FROM m.blueprint}), '',
	'look-alikes of all that there was');
judge('dropped and planted', 'planted', @calls);

# --- updated --------------------------------------------------------------------

set_trap('updated', q{CREATE EXTENSION tablespace_advisor VERSION '1.0'});
@calls = start_calls('updated', roles => ['mallory']);
$node->safe_psql('updated', 'ALTER EXTENSION tablespace_advisor UPDATE');
judge('updated', 'updated', @calls);

# What people call finds what it calls by OID, and has a lock that keeps the
# extension there (state.c for functions in C).
is($node->safe_psql('postgres', q{
		SELECT string_agg(p.oid::regprocedure::text, ' ')
		FROM pg_extension e
			JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
				AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
			JOIN pg_proc p ON p.oid = d.objid AND p.pronamespace = e.extnamespace
			JOIN pg_language l ON l.oid = p.prolang
		WHERE e.extname = 'tablespace_advisor' AND p.prosqlbody IS NULL
			AND (l.lanname = 'sql' OR l.lanname = 'plpgsql' AND p.prosrc LIKE '%tablespace_advisor.%')}),
	'', 'no function that people call looks for another one by its name');

# The judge sees what it looks for.
$node->safe_psql('planted', q{
	SET application_name = 'planted.judge';
	SELECT count(*) FROM public.tablespace_moves});
like(slurp_file($node->logfile),
	qr/planted (?:public\.)?tablespace_moves runs as postgres in a session of postgres/,
	'a view of hers that a superuser reads is seen');

$node->stop;
done_testing();
