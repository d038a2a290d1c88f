# Copyright (c) 2026, The tablespace_advisor developers

# Every function and procedure of the extension where it should not be called:
# from the index function of a table's owner, which the server runs for whoever
# maintains the table; and with a journal that is locked, truncated, or huge.  Then
# advice on statistics that an owner has forged.

use List::Util qw(uniq);
use TsaTest;

# rows of the journal when it is huge
my $huge = ($ENV{PG_TEST_EXTRA} // '') =~ /\blarge\b/ ? 1_500_000 : 100_000;

my $node = start_node('main', conf => qq(
autovacuum = off
log_error_verbosity = verbose
log_line_prefix = '%m [%p] %a '
tablespace_advisor.sample_interval = 0
));
my $checkpointer = checkpointer_pid($node);
$node->safe_psql('postgres', q{
	CREATE ROLE mallory LOGIN;
	GRANT pg_monitor, pg_signal_backend TO mallory;
	GRANT USAGE ON SCHEMA tablespace_advisor TO mallory;
	GRANT EXECUTE ON ALL ROUTINES IN SCHEMA tablespace_advisor, public TO mallory;
	GRANT CREATE ON TABLESPACE slow, fast TO mallory;
	CREATE SCHEMA m AUTHORIZATION mallory;
	CREATE TABLE t (a int PRIMARY KEY);
	INSERT INTO t SELECT generate_series(1, 100);
	CREATE TABLE moved (a int PRIMARY KEY);
	ALTER TABLE t OWNER TO mallory;
	ALTER TABLE moved OWNER TO mallory});
my @routines = routines_of($node);
my $count = @routines;

# There is a state to change: a probe, samples, an ended move, a paused one.
$node->safe_psql('postgres', q{
	SET tablespace_advisor.probe_max_iops = 2000;
	SELECT count(*) FROM probe_tablespace('fast', duration => '1 ms', file_size => '1 MB');
	CALL sample_activity();
	SELECT measure_index_locality('t')});
# job 1, which the calls name, is hers
$node->safe_psql('postgres', q{
	SET SESSION AUTHORIZATION mallory;
	CALL move_indexes_concurrently('moved', 'fast')});
my $paused = start_stopped_move($node, 'copied', 't', 'slow');
$node->safe_psql('postgres', 'INSERT INTO tablespace_advisor.request (job_id, pause) VALUES (1, false)');

# --- from an index function --------------------------------------------------------

# A function of an index that calls all of them, and says in the server's log what
# came of it: "call NAME: SQLSTATE".
my $values = join ",\n", map {
	my $call = call_of($_);
	$call =~ s/'t'::regclass/'public.t'::regclass/;
	$call =~ s/\b(SELECT|CALL) (?=\w+\()/$1 public./;
	"(\$c\$$_->{name}\$c\$, \$c\$$call\$c\$)"
} @routines;
$node->safe_psql('postgres', qq{
	SET SESSION AUTHORIZATION mallory;
	CREATE TABLE m.calls (name text, sql text);
	INSERT INTO m.calls VALUES $values;
	CREATE TABLE m.hers (a int);
	INSERT INTO m.hers VALUES (1);
	CREATE FUNCTION m.call_all() RETURNS void LANGUAGE plpgsql AS \$\$
	DECLARE
		c record;
		came text;
	BEGIN
		-- not while the table is hers alone
		IF current_setting('application_name') NOT LIKE 'within%' AND session_user = current_user THEN
			RETURN;
		END IF;
		FOR c IN SELECT name, sql FROM m.calls ORDER BY 1, 2 LOOP
			BEGIN
				EXECUTE c.sql;
				came := 'done';
			EXCEPTION WHEN OTHERS THEN came := sqlstate || ' ' || sqlerrm;
			END;
			RAISE LOG 'call % as %: %', c.name, current_user, came;
		END LOOP;
	END \$\$;
	CREATE FUNCTION m.f(a int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS \$\$
	BEGIN PERFORM m.call_all(); RETURN a; END \$\$;
	CREATE INDEX hers_f ON m.hers (m.f(a));
	CREATE UNLOGGED TABLE m.unlogged (a int) TABLESPACE slow;
	INSERT INTO m.unlogged VALUES (1);
	CREATE INDEX unlogged_f ON m.unlogged (m.f(a)) TABLESPACE slow});

# What the log says since an offset: calls, and how many were refused there.
sub calls_since
{
	my ($offset) = @_;
	my $log = substr(slurp_file($node->logfile), $offset);
	my %result = (n => 0, refused => [], robbed => '', internal => '');

	while ($log =~ /LOG:  00000: call (\S+) as (\S+): (.*)$/mg)
	{
		my ($name, $user, $came) = ($1, $2, $3);

		$result{n}++;
		push @{ $result{refused} }, $name =~ s/^public\.//r
		  if $came =~ /^42501 cannot execute .* within security-restricted operation/;
		$result{robbed} .= "$name " if $user ne 'mallory';
		$result{internal} .= "$name: $came\n" if $came =~ /^XX/;
	}
	return \%result;
}

# What has an effect beyond its result: on the journal, the session, workers, the
# devices.  Procedures that move are refused sooner, because they commit.
my $with_effect = join ' ', sort qw(
  add_standby_activity
  all_tablespace_moves alter_move assume_placement assume_tablespace cancel_move explain_with_costs forget_placements
  measure_index_locality pause_move pin_placement probe_tablespace resume_move unpin_placement
  retry_move tablespace_advisor.take_sample sample_activity tablespace_contents undo_move wait_for_moves);

sub within
{
	my ($what, $n, $sql) = @_;
	my $before = state_of($node);
	my $offset = -s $node->logfile;

	$node->safe_psql('postgres', "SET application_name = 'within'; $sql");
	my $calls = calls_since($offset);
	is($calls->{n} % $count, 0, "$what: whole rounds");
	cmp_ok($calls->{n}, '>=', $count, "$what: $count functions and procedures are called");
	is(join(' ', sort(uniq(@{ $calls->{refused} }))), $with_effect, "$what: those with an effect are refused");
	is("$calls->{robbed}$calls->{internal}", '', "$what: none as somebody else, none with an internal error");
	is(state_of($node), $before, "$what: the extension's tables are as they were") if $n;
	return;
}

within('REINDEX', 1, 'REINDEX INDEX m.hers_f');
within('REINDEX CONCURRENTLY', 1, 'REINDEX INDEX CONCURRENTLY m.hers_f');
within('ANALYZE', 1, 'ANALYZE m.hers');
within('VACUUM FULL', 1, 'VACUUM FULL m.hers');
is($node->safe_psql('postgres', q{
		SET application_name = 'within';
		ANALYZE m.hers;
		SELECT count(*) FROM assumed_placements()}), '0', 'ANALYZE: the session assumes nothing');

# The paused move has to go on as it was, and the others' jobs with it.
my $jobs = q{SELECT string_agg(concat_ws(' ', job_id, state, error), ', ' ORDER BY job_id) FROM tablespace_moves
	WHERE relation_name IN ('t_pkey', 'moved_pkey')};
my $before = $node->safe_psql('postgres', $jobs);
stop_at($node, '');
is(wait_for_job($node, $paused), 'done', 'the other move is not touched');
within('a rebuild', 0, q{CALL move_indexes_concurrently('m.hers', 'fast', method => 'rebuild')});
within('an evacuation', 0, q{CALL evacuate_tablespace('slow', 'fast', lock_up_to => '1 GB')});
is($node->safe_psql('postgres', q{SELECT string_agg(concat_ws(' ', relation_name, state, error), ', ')
		FROM tablespace_moves WHERE state <> 'done'}), '', 'all moves are done');

# Where nothing restricts them the same calls change something.
$before = state_of($node);
my $offset = -s $node->logfile;
$node->safe_psql('postgres', q{
	SET SESSION AUTHORIZATION mallory;
	SET application_name = 'within';
	SET statement_timeout = '180 s';
	SELECT m.f(1)});
is(calls_since($offset)->{n}, $count, 'all index functions run from a query of hers');
isnt(state_of($node), $before, 'a query of the owner does change something');
wait_for_workers($node);

# --- a journal that is locked, truncated, huge -------------------------------------

# Calls each of them in a session of its own settings; returns how many failed with
# which SQLSTATE.
sub call_each
{
	my ($what, %args) = @_;
	my $file = "$PostgreSQL::Test::Utils::tmp_check/each.sql";
	my $offset = -s $node->logfile;
	my $err;
	my %codes;

	open my $out, '>', $file or die $!;
	print $out "SET statement_timeout = '${PostgreSQL::Test::Utils::timeout_default}s';\n$args{settings};\n",
	  map { call_of($_) . ";\n" } @routines;
	close $out;
	IPC::Run::run(
		[
			'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('postgres'),
			'-o', '/dev/null', '-f', $file
		],
		'2>', \$err);
	my $failed = () = $err =~ /ERROR:  /g;
	$codes{$1}++ while $err =~ /ERROR:  (\w{5}): /g;
	is($failed, eval { my $n = 0; $n += $_ foreach values %codes; $n },
		"$what: $count functions and procedures are called; $failed fail, each with an SQLSTATE");
	is(join('', $err =~ /^.*ERROR:  XX.*\n/mg), '', "$what: none is an internal error");
	is(checkpointer_pid($node), $checkpointer, "$what: no crash");
	unlike($err, qr/57014/, "$what: all end in time") unless $args{times_out};
	unlike($err, qr/25P02/, "$what: none leaves the session in a transaction that has failed");
	note("$what: ", join(', ', map { "$_: $codes{$_}" } sort keys %codes));
	return \%codes;
}

# A prepared transaction has locked it.
my $lock = session($node);
ask($lock, q{BEGIN; LOCK TABLE tablespace_advisor.job IN ACCESS EXCLUSIVE MODE; PREPARE TRANSACTION 'p';});
my $codes = call_each('locked by a prepared transaction', settings => q{SET lock_timeout = '100 ms'});
cmp_ok($codes->{'55P03'} // 0, '>', 0, 'functions that need the journal give up after lock_timeout');
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'p'});

# A call that is cancelled where it would go on without what is locked.
ask($lock, q{BEGIN; LOCK TABLE tablespace_advisor.sample IN ACCESS EXCLUSIVE MODE;});
$codes = call_each('with samples locked', settings => q{SET statement_timeout = '300 ms'},
	times_out => 1);
cmp_ok($codes->{'57014'} // 0, '>', 0, 'functions that wait for samples are cancelled');
ask($lock, 'COMMIT;');
end_session($lock);
wait_for_workers($node);

# Truncated while a move is under way, and during the calls.
stop_at($node, 'copied');
start_move($node, 'moved', 'slow');
wait_for_stop($node, 'copied');
my $truncate = start_sql($node, 'truncate',
	'TRUNCATE tablespace_advisor.job, tablespace_advisor.request');
wait_until($node, q{EXISTS (SELECT FROM pg_locks WHERE NOT granted
	AND relation = 'tablespace_advisor.job'::regclass)}, 'TRUNCATE waits for the move');
stop_at($node, '');
call_each('truncated', settings => q{SET lock_timeout = '5 s'});
is(finish_sql($truncate), '', 'the journal is truncated');
wait_for_workers($node);
check_orphans($node, 'truncated');

# Huge.
$node->safe_psql('postgres', qq{
	INSERT INTO tablespace_advisor.job
		(batch_id, relation, heap, kind, schema_name, relation_name, from_tablespace,
		from_tablespace_name, to_tablespace, to_tablespace_name, method_wanted, method, state,
		bytes_total, lock_timeout_ms, owner, system_identifier, database, queued_at, started_at, finished_at)
	SELECT i, 't_pkey'::regclass, 't'::regclass, 'i', 'public', 't_pkey', s.oid, 'slow', f.oid, 'fast',
		'auto', 'copy', 'done', 8192, 100, r.oid, c.system_identifier, d.oid,
		now() - interval '1 hour', now() - interval '1 hour', now() - interval '1 hour'
	FROM generate_series(1, $huge) i, pg_tablespace s, pg_tablespace f, pg_roles r, pg_control_system() c, pg_database d
	WHERE s.spcname = 'slow' AND f.spcname = 'fast' AND r.rolname = 'mallory' AND d.datname = current_database();
	ANALYZE tablespace_advisor.job}, timeout => 180);
call_each("$huge rows", settings => 'SET log_min_duration_statement = 500');
wait_for_workers($node);

# --- statistics that an owner has forged --------------------------------------------

# From 18 on she does it by pg_restore_relation_stats().
$node->safe_psql('postgres', q{TRUNCATE tablespace_advisor.job, tablespace_advisor.request});
my $advice = q{SELECT string_agg(relation::text, ' ' ORDER BY relation::text) FROM advise_placement()};
$node->safe_psql('postgres', q{
	CREATE TABLE theirs (a int PRIMARY KEY);
	INSERT INTO theirs SELECT generate_series(1, 30000);
	INSERT INTO t SELECT generate_series(101, 30000);
	VACUUM ANALYZE;
	CALL sample_activity();
	SET enable_seqscan = off;
	SELECT count(*) FROM t WHERE a > 10;
	SELECT count(*) FROM theirs WHERE a > 10;
	SELECT pg_stat_force_next_flush()});
$node->safe_psql('postgres', 'CALL sample_activity()');
my $honest = $node->safe_psql('postgres', $advice);
like($honest, qr/\bt_pkey\b/, 'there is advice on an index of hers');
foreach my $tuples ('NaN', 'Infinity', '3e38', '-1')
{
	$node->safe_psql('postgres', $node->pg_version >= 18
		? qq{SET SESSION AUTHORIZATION mallory;
			SELECT pg_restore_relation_stats('schemaname', 'public', 'relname', r,
				'relpages', 2147483647, 'reltuples', '$tuples'::real, 'relallvisible', 2147483647)
			FROM unnest('{t,t_pkey}'::text[]) r}
		: qq{UPDATE pg_class SET relpages = 2147483647, reltuples = '$tuples', relallvisible = 2147483647
			WHERE relname IN ('t', 't_pkey')});
	is($node->safe_psql('postgres', $advice), $honest, "reltuples $tuples: advice on everything");
	$node->safe_psql('postgres', q{
		SELECT count(*) FROM recommend_random_page_cost();
		SELECT count(*) FROM explain_placement();
		SELECT count(*) FROM measure_index_locality('t')});
}

check_orphans($node, 'at the end');
check_locks($node, 'at the end');
$node->stop;
check_no_crash($node, 'all');
done_testing();
