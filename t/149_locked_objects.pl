# Copyright (c) 2026, The tablespace_advisor developers

# Tables, partitions and databases that somebody keeps locked hold up nobody who has
# nothing to do with them.

use TsaTest;

my $node = start_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
tablespace_advisor.sample_interval = 0
autovacuum = off
});
make_users($node);
$node->safe_psql('postgres', q{
	CREATE TABLE twin (a int) TABLESPACE slow;
	ALTER TABLE twin OWNER TO alice});

# --- a partition that is locked ----------------------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE log (t date) PARTITION BY RANGE (t);
	CREATE TABLE log_1 PARTITION OF log FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
	ALTER TABLE log_1 OWNER TO mallory});
my $open = keep_open($node, 'LOCK TABLE log_1 IN ACCESS EXCLUSIVE MODE;');
is(told($node, q{SELECT partition, upper_bound::date, action
		FROM advise_partition_placement('log', 'fast', '1 day')}),
	'log_1|2020-02-01|move', 'advice on partitions waits for no lock on them');
end_session($open);

# --- what rebuilds have left, of a table that is locked ---------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE left_behind (a int);
	INSERT INTO left_behind VALUES (1), (1);
	CREATE INDEX left_a ON left_behind (a);
	ALTER TABLE left_behind OWNER TO mallory});
failed_rebuild($node, 'left_a');
told($node, "CREATE UNIQUE INDEX CONCURRENTLY left_a_ccnew$_ ON left_behind (a)", user => 'mallory')
  for 1 .. 3;
$open = keep_open($node, 'LOCK TABLE left_behind IN SHARE UPDATE EXCLUSIVE MODE;');
my $offset = -s $node->logfile;
told($node, q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice');
workers_end($node, 'a worker ends');
my $timeouts = () = slurp_file($node->logfile, $offset) =~ /canceling statement due to lock timeout/g;
is($timeouts, 1, 'a worker has waited for the locks of one role once');
end_session($open);
told($node, q{CALL move_table_concurrently('twin', 'slow')}, user => 'alice');
workers_end($node, 'the next worker ends');
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM pg_index WHERE indrelid = 'left_behind'::regclass}),
	'1', 'the next worker has dropped all transient indexes');

# So has somebody who has many roles.
$node->safe_psql('postgres', q{
	DO $$ BEGIN
		FOR i IN 1 .. 6 LOOP
			EXECUTE format('CREATE ROLE hers_%s', i);
			EXECUTE format('CREATE TABLE left_%s (a int)', i);
			EXECUTE format('INSERT INTO left_%s VALUES (1), (1)', i);
			EXECUTE format('CREATE INDEX left_%s_a ON left_%s (a)', i, i);
			EXECUTE format('ALTER TABLE left_%s OWNER TO hers_%s', i, i);
		END LOOP;
	END $$});
failed_rebuild($node, "left_${_}_a") for 1 .. 6;
messages_of($node, "CREATE UNIQUE INDEX CONCURRENTLY left_${_}_a_ccnew ON left_$_ (a)") for 1 .. 6;
my $holder = session($node);
ask($holder, 'BEGIN; LOCK TABLE ' . join(', ', map { "left_$_" } 1 .. 6) . ' IN SHARE UPDATE EXCLUSIVE MODE;');
$offset = -s $node->logfile;
told($node, q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice');
workers_end($node, 'a worker ends beside what many roles have left');
$timeouts = () = slurp_file($node->logfile, $offset) =~ /canceling statement due to lock timeout/g;
is($timeouts, 3, 'a worker has waited for the locks of three roles');
end_session($holder);
told($node, q{CALL move_table_concurrently('twin', 'slow')}, user => 'alice');
workers_end($node, 'the next worker ends as well');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_index WHERE NOT indisvalid}),
	'0', 'the next worker has dropped what roles have left');

# --- a database that is locked -------------------------------------------------------

# Nobody can connect to it while it is being renamed, moved, or copied.
$node->safe_psql('postgres', q{
	ALTER ROLE mallory CREATEDB;
	CREATE DATABASE hers OWNER mallory});
$node->safe_psql('postgres', 'CREATE DATABASE later');
$node->safe_psql('later', 'CREATE EXTENSION tablespace_advisor');
$node->safe_psql('hers', 'CREATE TABLE t (a int) TABLESPACE slow');
$open = keep_open($node, 'ALTER DATABASE hers RENAME TO hers_alone;');
configure($node, 'tablespace_advisor.sample_interval', '1s');
ok($node->poll_query_until('later', 'SELECT count(*) > 1 FROM tablespace_advisor.sample'),
	'other databases are sampled');
is(told($node, q{SELECT database, kind, reason FROM tablespace_contents('slow') WHERE how = 'locked'}),
	'hers|database|It could not be looked into: somebody has locked it, perhaps to rename'
	  . ' or drop it, or a prepared transaction has.',
	'a row says that it cannot be looked into');
like(told($node, q{CALL evacuate_tablespace('fast', 'slow')}, user => 'alice'),
	qr/NOTICE:  this database has \w+ in tablespace "fast"/,
	'a locked database does not stop those who are told about their own only');
end_session($open);

# --- a table that is locked when its move begins ---------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE held TABLESPACE slow AS SELECT 1 AS a;
	ALTER TABLE held OWNER TO mallory});
$open = keep_open($node, 'LOCK TABLE held IN ACCESS EXCLUSIVE MODE;');
my $pid = ask($open, 'SELECT pg_backend_pid();');
told($node, q{CALL evacuate_tablespace('slow', 'fast', wait => false)});
wait_until($node, "EXISTS (SELECT FROM tablespace_moves
	WHERE relation_name = 'public.held' AND blocked_by = ARRAY[$pid])", 'the move is blocked');
is($node->safe_psql('postgres', q{
		SELECT phase, bytes_total, cancel_move(job_id) FROM tablespace_moves
		WHERE relation_name = 'public.held' AND state = 'running'}), 'waiting for lock|8192|t',
	'a move that cannot begin names who is in its way, and keeps its size');
is($node->safe_psql('postgres', q{
		SELECT wait_for_moves(ARRAY(SELECT job_id FROM tablespace_moves), '3 min')}), 't',
	'a move that cannot begin can be cancelled');
is($node->safe_psql('postgres', q{
		SELECT string_agg(DISTINCT state, ' ') FROM tablespace_moves
		WHERE batch_id = (SELECT max(batch_id) FROM tablespace_moves)
			AND relation_name <> 'public.held'}), 'done', 'moves behind a cancelled one end well');
end_session($open);

# --- a move that waited for a transaction which has ended -------------------------------

# A copy names a session until its next report, or for as long as it backs off.
# Without the copy's own figures those of the journal count.
$node->safe_psql('postgres', q{
	CREATE TABLE past AS SELECT g AS a FROM generate_series(1, 100000) g;
	ALTER TABLE past OWNER TO mallory});
stop_at($node, 'copied');
told($node, q{CALL move_table_concurrently('past', 'fast', wait => false)}, user => 'mallory');
wait_for_stop($node, 'copied');
my $waiter = session($node, user => 'mallory');
$pid = ask($waiter, 'SELECT pg_backend_pid();');
my $past = $node->safe_psql('postgres', qq{
	UPDATE tablespace_advisor.job SET blocked_by = ARRAY[$pid], progress_handle = NULL
	WHERE heap = 'past'::regclass RETURNING job_id});
is(ask($waiter, "SELECT wait_for_moves(ARRAY[$past], '1 s');"), 'f',
	'a session whose transaction has ended can wait for a move that waited for it');
is($waiter->{err}, '', 'a session without a transaction is told nothing');
ask($waiter, 'BEGIN; LOCK TABLE past IN ACCESS SHARE MODE;');
ask($waiter, "SELECT wait_for_moves(ARRAY[$past], '1 s');");
like($waiter->{err}, qr/job $past waits for this transaction/, 'a session that has a lock is told that the move waits for it');
end_session($waiter);
release($node);
workers_end($node, 'the move ends');

# --- a database whose sample takes for ever --------------------------------------------

# How long a sample takes is up to a database's owner, who can give it tables and
# settings.  What she could make of them is made here by a superuser.
sub is_sampled
{
	my ($name) = @_;
	my $last = $node->safe_psql('later', 'SELECT max(sample_id) FROM tablespace_advisor.sample');

	ok($node->poll_query_until('later', qq{
		SELECT max(sample_id) > $last + 1 FROM tablespace_advisor.sample}), $name);
	return;
}
$node->safe_psql('postgres', 'CREATE DATABASE endless OWNER mallory');
$node->safe_psql('endless', q{
	CREATE EXTENSION tablespace_advisor;
	CREATE TABLE seen (setting text);
	CREATE OR REPLACE FUNCTION tablespace_advisor.add_all_samples(snapshots int)
	RETURNS int LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO public.seen SELECT concat_ws(' ', current_setting('enable_hashjoin'),
			current_setting('enable_mergejoin'), current_setting('enable_memoize'),
			current_setting('cpu_operator_cost'), current_setting('jit'));
		RETURN 1;
	END $$});
my @odd = ('enable_hashjoin = off', 'enable_mergejoin = off', 'enable_memoize = off',
	'cpu_operator_cost = 1e300', 'jit = on');
told($node, "ALTER DATABASE endless SET $_", user => 'mallory', dbname => 'endless') foreach @odd;
ok($node->poll_query_until('endless', 'SELECT count(*) > 0 FROM seen'), 'a database with settings is sampled');
is($node->safe_psql('endless', 'SELECT DISTINCT setting FROM seen'), 'on on on 0.0025 off',
	'the owner of a database does not choose how its sample is planned');
$node->safe_psql('endless', 'CREATE ROLE monitor LOGIN IN ROLE pg_monitor; TRUNCATE seen');
is(told($node, 'CALL sample_activity(); SHOW enable_hashjoin', user => 'monitor', dbname => 'endless'),
	'off', 'a member of pg_monitor takes a sample, and has the settings that she had');
is($node->safe_psql('endless', 'SELECT DISTINCT setting FROM seen'), 'on on on 0.0025 off',
	'who takes a sample does not choose how it is planned');
# Advice on 6 000 tables took minutes for a superuser, by the owner's settings, and
# the contents of a tablespace seconds.  (Only samples were looked at, since others
# wait for these.)
my $settings = q{SELECT concat_ws(' ', current_setting('enable_hashjoin'),
	current_setting('cpu_operator_cost'), current_setting('jit'))};
$node->safe_psql('endless', qq{
	CREATE TABLE advised (setting text);
	CREATE OR REPLACE FUNCTION tablespace_advisor.temporary_files_advice(caller oid, destination name)
	RETURNS SETOF placement_advice LANGUAGE plpgsql AS \$\$ BEGIN
		INSERT INTO public.advised $settings;
	END \$\$;
	SELECT FROM advise_placement()});
is($node->safe_psql('endless', 'SELECT DISTINCT setting FROM advised'), 'on 0.0025 off',
	'the owner of a database does not choose how advice in it is planned');
$node->safe_psql('endless', qq{
	CREATE OR REPLACE FUNCTION tablespace_advisor.contents_of(tablespace_oid oid, target_oid oid,
		show_names boolean, all_databases boolean)
	RETURNS TABLE (database name, relation text, kind text, size_bytes bigint,
		how text, statement text, reason text)
	LANGUAGE sql AS \$\$ SELECT NULL::name, NULL, NULL, NULL::bigint, NULL, NULL, ($settings) \$\$});
is($node->safe_psql('endless', q{SELECT reason FROM tablespace_contents('slow')}), 'on 0.0025 off',
	'the owner of a database does not choose how the contents of tablespaces are looked for');
$node->safe_psql('endless', q{
	CREATE OR REPLACE FUNCTION tablespace_advisor.add_all_samples(snapshots int)
	RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(100000); RETURN 1; END $$});
wait_until($node, q{EXISTS (SELECT FROM pg_stat_activity
	WHERE datname = 'endless' AND backend_type = 'tablespace_advisor sampling'
		AND wait_event = 'PgSleep')}, 'a sample takes for ever');
is_sampled('other databases are sampled nevertheless');
like(slurp_file($node->logfile), qr/LOG:  gave up sampling database \d+/, 'the log says which one is not');
is_sampled('other databases are sampled again and again') for 1 .. 4;
my $given_up = () = slurp_file($node->logfile) =~ /gave up sampling/g;
cmp_ok($given_up, '<', 4, 'a database whose sample takes for ever is sampled in few rounds');
$node->safe_psql('postgres', 'DROP DATABASE endless WITH (FORCE)');

# --- a database whose requests are locked when the server starts ------------------------

# By who is in the queue for a lock on them; here by a prepared transaction.
$node->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
$node->restart;
$node->safe_psql('postgres', 'CREATE DATABASE locked OWNER mallory');
$node->safe_psql('locked', 'CREATE EXTENSION tablespace_advisor');
$node->safe_psql('locked', q{
	BEGIN;
	LOCK TABLE tablespace_advisor.request IN ACCESS EXCLUSIVE MODE;
	PREPARE TRANSACTION 'requests'});
$node->append_conf('postgresql.conf', q{shared_preload_libraries = 'tablespace_advisor'});
$node->restart;
is_sampled('the launcher comes past a database whose requests are locked');
$node->safe_psql('locked', q{ROLLBACK PREPARED 'requests'});

$node->stop;
done_testing();
