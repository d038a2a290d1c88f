# Copyright (c) 2026, The tablespace_advisor developers

# Objects that go away or change hands at an awkward moment of a move: a
# tablespace that is dropped between two steps, a second call between a rebuild's
# swap and its end, indexes that have the names of a rebuild's transient ones.

use TsaTest;

my $node = start_node('main',
	conf => "autovacuum = off\n",
	init => { extra => [ '--encoding', 'UTF8', '--locale', 'C' ] });

# --- a tablespace that is dropped meanwhile ------------------------------------

# the target, between two attempts to lock a partitioned index
$node->safe_psql('postgres', q{
	CREATE TABLE parted (a int) PARTITION BY RANGE (a);
	CREATE INDEX parted_a ON parted (a)});
$node->safe_psql('postgres', "CREATE TABLESPACE doomed LOCATION ''");
my $blocker = session($node);
ask($blocker, q{BEGIN; COMMENT ON INDEX parted_a IS 'locked';});
my $job = start_move($node, 'parted_a', 'doomed');
wait_until_job($node, $job, "attempts > 0");
$node->safe_psql('postgres', 'DROP TABLESPACE doomed');
is(wait_for_job($node, $job), 'failed', 'target dropped between attempts');
like(
	job_field($node, $job, 'error'),
	qr/^tablespace (with OID \d+|"doomed") does not exist$/,
	'the job says that the tablespace is gone');
end_session($blocker);

# the source, while the planning waits for another index
$node->safe_psql('postgres', "CREATE TABLESPACE doomed LOCATION ''");
$node->safe_psql('postgres', q{
	CREATE TABLE s (a int, b int);
	CREATE INDEX s_a ON s (a);
	CREATE INDEX s_b ON s (b) TABLESPACE doomed});
$blocker = session($node);
ask($blocker, 'BEGIN; REINDEX INDEX s_a;');
my $caller = session($node);
send_to($caller, "CALL move_indexes_concurrently('s', 'fast');");
wait_for_lock_of($node, $caller->{pid});
$node->safe_psql('postgres', 'ALTER INDEX s_b SET TABLESPACE pg_default');
$node->safe_psql('postgres', 'DROP TABLESPACE doomed');
ask($blocker, 'COMMIT;');
answer($caller);
like($caller->{err}, qr/ERROR:  42704: tablespace with OID \d+ does not exist/,
	'source dropped while the call plans');
end_session($_) for $blocker, $caller;
wait_for_workers($node);

# --- a call between a rebuild's swap and its end -------------------------------

# A rebuild that has swapped the indexes and waits for a reader of the old one.
sub swapped_rebuild
{
	my ($index, $tablespace) = @_;
	my $reader = session($node);

	ask($reader, 'BEGIN; SELECT count(*) FROM r;');
	my $rebuild =
	  start_move($node, $index, $tablespace, "method => 'rebuild'");
	wait_until($node, qq{(SELECT phase LIKE 'waiting for readers%'
		AND blocked_by = ARRAY[$reader->{pid}]
		FROM tablespace_moves WHERE job_id = $rebuild)},
		'the rebuild waits for a reader');
	return ($rebuild, $reader);
}

# Queues a move of the new index behind the procedure's back.
sub queue_another
{
	my ($rebuild) = @_;

	return $node->safe_psql('postgres', qq{
		INSERT INTO tablespace_advisor.job (batch_id, relation, heap, kind,
			schema_name, relation_name, from_tablespace, from_tablespace_name,
			to_tablespace, to_tablespace_name, method_wanted, method,
			bytes_total, lock_timeout_ms, owner, system_identifier, database)
		SELECT 1000000000, 'r_pkey'::regclass, heap, kind,
			schema_name, relation_name, from_tablespace, from_tablespace_name,
			to_tablespace, to_tablespace_name, 'auto', 'copy',
			bytes_total, lock_timeout_ms, owner, system_identifier, database
		FROM tablespace_advisor.job WHERE job_id = $rebuild
		RETURNING job_id});
}

$node->safe_psql('postgres', q{
	CREATE TABLE r (a int PRIMARY KEY);
	INSERT INTO r SELECT generate_series(1, 1000)});
my ($rebuild, $reader) = swapped_rebuild('r_pkey', 'slow');
like(messages_of($node, "CALL move_indexes_concurrently('r_pkey', 'fast', wait => false)"),
	qr/ERROR:  55006: index "r_pkey" is being moved already/,
	'no second move of an index whose rebuild is under way');
my $another = queue_another($rebuild);
end_session($reader);
is(wait_for_job($node, $rebuild), 'done',
	'a rebuild ends well though a move of the new index is queued');
wait_for_workers($node);
is(end_state($node, $another), 'cancelled', 'the queued move of a rebuilt index waits for a worker until it is cancelled');
is(tablespaces_of($node, 'r_pkey'), 'slow', 'the rebuilt index has moved');

($rebuild, $reader) = swapped_rebuild('r_pkey', 'fast');
$another = queue_another($rebuild);
$node->safe_psql('postgres',
	'SELECT pg_terminate_backend(' . worker_pid($node, $rebuild) . ')');
wait_for_workers($node);
is(end_state($node, $rebuild), 'done',
	'a rebuild whose worker was terminated after the swap is done');
is(job_field($node, $rebuild, "relation = 'r_pkey'::regclass"), 't',
	'the job of a terminated rebuild names the new index');
is(end_state($node, $another), 'cancelled', 'the other waits for a worker, too');
end_session($reader);
is(tablespaces_of($node, 'r'), 'fast slow', 'the old index is left over');
move($node, 'r_pkey', 'pg_default');
wait_for_workers($node);
is(tablespaces_of($node, 'r'), 'pg_default', 'the next worker removes the old index');

# --- indexes that only look like transient ones --------------------------------

# An invalid index of a name.
sub invalid_index
{
	my ($name, $table) = @_;

	like(messages_of($node, "CREATE UNIQUE INDEX CONCURRENTLY $name ON $table (a)"),
		qr/ERROR:  23505/, "$name is invalid");
	return;
}

sub transient_indexes
{
	return $node->safe_psql('postgres', q{
		SELECT string_agg(DISTINCT index_name, ' ' ORDER BY index_name)
		FROM tablespace_advisor.transient_index});
}

# names: two bytes a character, so that the limit cuts between two of them
my $long = "\xc3\xa4" x 31;
my $cut = "\xc3\xa4" x 28;
$node->safe_psql('postgres', qq{
	CREATE TABLE ev (a int);
	INSERT INTO ev VALUES (1), (1);
	CREATE INDEX event_idx ON ev (a);
	CREATE INDEX $long ON ev (a);
	CREATE TABLE other (a int PRIMARY KEY)});
failed_rebuild($node, 'event_idx');
failed_rebuild($node, $long);
invalid_index($_, 'ev')
  for 'ev_ccnew', '_ccnew', "\xc3\xa4_ccnew", "event_idx_ccnew", "${cut}_ccnew";
is(transient_indexes(), "event_idx_ccnew ${cut}_ccnew",
	'only a name that REINDEX makes of the index is one of a transient index');
move($node, 'other', 'fast');
wait_for_workers($node);
is( $node->safe_psql('postgres', q{
		SELECT string_agg(c.relname, ' ' ORDER BY c.relname COLLATE "C")
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE indrelid = 'ev'::regclass AND NOT indisvalid}),
	"_ccnew ev_ccnew \xc3\xa4_ccnew", 'the others stay');

# one that somebody is building when the worker looks
$node->safe_psql('postgres', 'CREATE TABLE built (a int);
	CREATE INDEX built_a ON built (a)');
failed_rebuild($node, 'built_a');
my $old = session($node);
ask($old, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;');
my $builder = session($node);
send_to($builder, 'CREATE INDEX CONCURRENTLY built_a_ccnew ON built (a);');
wait_until($node, qq{EXISTS (SELECT FROM pg_stat_progress_create_index
	WHERE pid = $builder->{pid} AND phase = 'waiting for old snapshots')},
	'all that the builder still does is to wait');
# the worker's snapshots are to be newer than those that it waits for
$node->safe_psql('postgres', 'SELECT pg_current_xact_id()');
is(transient_indexes(), 'built_a_ccnew', 'an index under construction looks like one');
my $other = start_move($node, 'other', 'slow');
is(wait_for_job($node, $other), 'done', 'a worker');
wait_until($node, q{EXISTS (SELECT FROM pg_locks l
		JOIN pg_stat_activity a USING (pid)
	WHERE a.backend_type = 'tablespace_advisor move' AND NOT l.granted)},
	'the worker waits for the builder');
ask($old, 'COMMIT;');
answer($builder);
is($builder->{err}, '', 'the index is built');
wait_for_workers($node);
is( $node->safe_psql('postgres', q{
		SELECT indisvalid FROM pg_index
		WHERE indexrelid = to_regclass('built_a_ccnew')}),
	't', 'an index that somebody builds under such a name stays');
end_session($_) for $old, $builder;

# --- advice --------------------------------------------------------------------

# functions that look like a better match for what the procedure calls
$node->safe_psql('postgres', q{
	CREATE ROLE planter;
	GRANT CREATE ON SCHEMA public TO planter;
	SET ROLE planter;
	CREATE FUNCTION advise_index_placement(oid, name)
	RETURNS TABLE (relation regclass, to_tablespace name, action text)
	LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted'; END $$;
	CREATE FUNCTION advise_index_placement(regclass, name)
	RETURNS TABLE (relation regclass, to_tablespace name, action text)
	LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted'; END $$;
	CREATE FUNCTION advise_index_placement(oid, name, text, interval)
	RETURNS TABLE (relation regclass, to_tablespace name, action text)
	LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted'; END $$});
for my $call ("'r'", "'r', 'fast', hot_only => true")
{
	like(messages_of($node, "CALL move_indexes_concurrently($call)"),
		qr/NOTICE:  00000: the advice is to move no index of "r"/,
		"$call: the extension's own advice is asked");
}
$node->safe_psql('postgres', 'DROP OWNED BY planter; DROP ROLE planter');

# whoever may move it may ask
$node->safe_psql('postgres', q{
	CREATE ROLE plain;
	CREATE TABLE mine (a int PRIMARY KEY);
	ALTER TABLE mine OWNER TO plain});
like(messages_of($node, "SET ROLE plain;\nCALL move_indexes_concurrently('mine')"),
	qr/the advice is to move no index of "mine"/, 'an owner has the advice decide');

# --- what a waiting caller is told ---------------------------------------------

# A code of the journal's that a connection pool would take for the end of the
# caller's connection.
$reader = session($node);
ask($reader, 'BEGIN; SELECT count(*) FROM r;');
$caller = session($node);
send_to($caller,
	"CALL move_indexes_concurrently('r_pkey', 'slow', method => 'rebuild');");
wait_until($node, qq{EXISTS (SELECT FROM tablespace_moves
	WHERE state = 'running' AND blocked_by = ARRAY[$reader->{pid}])},
	'the rebuild waits for a reader');
$node->safe_psql('postgres', q{
	UPDATE tablespace_advisor.job SET state = 'failed', sqlstate = '57P01',
		error = 'the worker was told to end', finished_at = clock_timestamp()
	WHERE state = 'running'});
answer($caller);
like($caller->{err},
	qr/ERROR:  58000: could not move public\.r_pkey: the worker was told/,
	'a failed job says nothing about the connection of its caller');
end_session($_) for $reader, $caller;
wait_for_workers($node);

# --- an error before a job has begun ---------------------------------------------

# It is not the job's, and does not end the others of the call; if it goes on, the
# worker gives up.
$node->safe_psql('postgres', q{
	CREATE TABLE several (a int, b int, c int);
	CREATE INDEX several_a ON several (a);
	CREATE INDEX several_b ON several (b);
	CREATE INDEX several_c ON several (c);
	CREATE SEQUENCE claims;
	CREATE FUNCTION fail_claim() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF nextval('public.claims') IN (2, 4, 5) THEN
			RAISE EXCEPTION 'claimed in vain';
		END IF;
		RETURN NEW;
	END $$;
	CREATE TRIGGER fail_claim BEFORE UPDATE ON tablespace_advisor.job FOR EACH ROW
		WHEN (OLD.state = 'queued' AND NEW.state = 'running') EXECUTE FUNCTION fail_claim()});
$node->safe_psql('postgres', q{CALL move_indexes_concurrently('several', 'slow', max_rate => 'unlimited')});
is($node->safe_psql('postgres', q{SELECT count(*), bool_and(state = 'done') FROM tablespace_moves
		WHERE relation_name LIKE 'public.several%'}), '3|t', 'claims that fail are repeated');
is($node->safe_psql('postgres', 'SELECT last_value FROM claims'), 6, 'there were such claims');
$node->safe_psql('postgres', q{
	CREATE OR REPLACE FUNCTION fail_claim() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		RAISE EXCEPTION 'claimed in vain';
	END $$});
my ($status, undef, $error) = $node->psql('postgres', q{CALL move_indexes_concurrently('several', 'pg_default')});
like($error, qr/worker ended unexpectedly/, 'claims that always fail end the call');
$node->safe_psql('postgres', 'DROP TRIGGER fail_claim ON tablespace_advisor.job');
$node->safe_psql('postgres', q{CALL move_indexes_concurrently('several', 'pg_default')});
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname LIKE 'several%' AND reltablespace = 0}),
	4, 'the next call is as any other');

unlike(slurp_file($node->logfile), qr/PANIC|TRAP:|terminated by signal/,
	'no crash');
$node->stop;

done_testing();
