# What the tests of moves share: a server with the tablespaces "slow" and
# "fast", a table with an index of every kind, a mixed load, and the two
# judges: tsa_damage() compares every index with its table, tsa_orphans()
# finds files that no relation owns.

package TsaTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(
  new_node prepare_node fill_table start_load stop_load
  check_content check_btree check_orphans check_locks check_log
  stop_at wait_for_stop release move start_move job_field wait_for_job
  worker_pid end_state tablespaces_of crash checkpointer_pid wait_for_restart);

# A server, not started, with settings that make trouble likely: small
# buffers, vacuum all the time.
sub new_node
{
	my ($name, %args) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(%{ $args{init} // {} });
	$node->append_conf('postgresql.conf', qq(
allow_in_place_tablespaces = on
shared_buffers = 8MB
max_connections = 30
max_worker_processes = 16
max_prepared_transactions = 5
autovacuum_naptime = 1s
autovacuum_vacuum_threshold = 100
autovacuum_vacuum_scale_factor = 0
autovacuum_vacuum_insert_threshold = 100
autovacuum_vacuum_insert_scale_factor = 0
autovacuum_vacuum_cost_delay = 0
restart_after_crash = on
max_wal_size = 256MB
log_autovacuum_min_duration = -1
log_statement = none
jit = off
));
	$node->append_conf('postgresql.conf', $args{conf}) if $args{conf};
	return $node;
}

# Everything that the tests need in the database.
sub prepare_node
{
	my ($node, %args) = @_;

	$node->safe_psql('postgres', q{
		SET allow_in_place_tablespaces = on;
		CREATE TABLESPACE slow LOCATION '';
		CREATE TABLESPACE fast LOCATION '';
	}) unless $args{no_tablespaces};
	$node->safe_psql('postgres', q{
		CREATE EXTENSION tablespace_advisor;
		CREATE EXTENSION amcheck;
		CREATE EXTENSION bloom;

		-- Files of this database that no relation has.
		CREATE FUNCTION tsa_orphans() RETURNS SETOF text
		LANGUAGE sql AS $$
			SELECT d.dir || '/' || f.file
			FROM (SELECT t.oid, CASE t.spcname
					WHEN 'pg_default' THEN 'base/' || db.oid
					ELSE 'pg_tblspc/' || t.oid || '/' || v.dir || '/' || db.oid
				END
				FROM pg_tablespace t
					LEFT JOIN LATERAL (
						SELECT dir FROM pg_ls_dir('pg_tblspc/' || t.oid,
							true, false) dir
						WHERE t.spcname !~ '^pg_') v ON true
					JOIN pg_database db ON db.datname = current_database()
				WHERE t.spcname <> 'pg_global') AS d(tablespace, dir)
				CROSS JOIN LATERAL pg_ls_dir(d.dir, true, false) AS f(file)
			WHERE f.file ~ '^[0-9]+(_(fsm|vm|init))?([.][0-9]+)?$'
				AND pg_filenode_relation(d.tablespace,
					substring(f.file, '^[0-9]+')::oid) IS NULL
			ORDER BY 1
		$$;

		-- What the damaged indexes of table t are, and how one sees it.  Each
		-- access method but B-tree is asked for every row, once with the
		-- index and once without, in one snapshot; the caller has a
		-- transaction that is REPEATABLE READ.
		CREATE FUNCTION tsa_damage() RETURNS SETOF text
		LANGUAGE plpgsql AS $$
		DECLARE
			c record;
			sql text;
			line text;
			plan text;
			by_index text;
			by_scan text;
		BEGIN
			FOR c IN SELECT * FROM (VALUES
				('t_pkey', 'generate_series(0, 0) g', 't.id > g'),
				('t_k', 'generate_series(0, 19) g', 't.k BETWEEN g * 5 AND g * 5 + 4'),
				('t_hash', 'generate_series(0, 49) g', 't.h = g'),
				('t_gin_fast', 'generate_series(0, 49) g', 't.a1 @> ARRAY[g]'),
				('t_gin', 'generate_series(0, 49) g', 't.a2 @> ARRAY[g]'),
				('t_gist', 'generate_series(0, 24) g', 't.p1 <@ box(point(g % 5 * 20, g / 5 * 20), point(g % 5 * 20 + 20, g / 5 * 20 + 20))'),
				('t_spgist', 'generate_series(0, 24) g', 't.p2 <@ box(point(g % 5 * 20, g / 5 * 20), point(g % 5 * 20 + 20, g / 5 * 20 + 20))'),
				('t_excl', '(SELECT min(id) * 10 + n * 2500 AS g FROM t, generate_series(0, 39) n GROUP BY n) s', 't.r && int8range(g, g + 2500)'),
				('t_brin', 'generate_series(0, 19) g', 't.b BETWEEN g * 1000 AND g * 1000 + 999'),
				('t_bloom', 'generate_series(0, 49) g', 't.l1 = g AND t.l2 = g % 7')
			) AS v(index, grid, condition)
			LOOP
				sql := format('SELECT count(*) || '' rows, '' || coalesce(sum('
					'hashtextextended(g || t.ctid::text, 0)::numeric), 0)'
					' FROM %s CROSS JOIN LATERAL (SELECT ctid FROM t'
					' WHERE %s OFFSET 0) t', c.grid, c.condition);
				PERFORM set_config('enable_seqscan', 'off', true),
					set_config('enable_indexscan', 'on', true),
					set_config('enable_indexonlyscan', 'on', true),
					set_config('enable_bitmapscan', 'on', true);
				plan := '';
				FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || sql LOOP
					plan := plan || line;
				END LOOP;
				IF plan !~ (' (using|on) ' || c.index || '\M') THEN
					RETURN NEXT c.index || ' is not used: ' || plan;
				END IF;
				EXECUTE sql INTO by_index;
				PERFORM set_config('enable_seqscan', 'on', true),
					set_config('enable_indexscan', 'off', true),
					set_config('enable_indexonlyscan', 'off', true),
					set_config('enable_bitmapscan', 'off', true);
				EXECUTE sql INTO by_scan;
				IF by_index IS DISTINCT FROM by_scan THEN
					RETURN NEXT format('%s: %s by index, %s by scan', c.index,
						by_index, by_scan);
				ELSIF by_scan ~ '^0 rows' THEN
					RETURN NEXT c.index || ': compared nothing';
				END IF;
			END LOOP;
		END $$;

		-- The B-trees of a table, by amcheck, which throws.
		CREATE FUNCTION tsa_amcheck(target regclass, OUT checked bigint)
		LANGUAGE plpgsql AS $$
		BEGIN
			IF pg_is_in_recovery() THEN
				SELECT count(bt_index_check(indexrelid, true)::text)
				INTO checked
				FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
				WHERE indrelid = target
					AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree');
			ELSE
				SELECT count(bt_index_parent_check(indexrelid, true, true)::text)
				INTO checked
				FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
				WHERE indrelid = target
					AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree');
			END IF;
		END $$;
	});
	return;
}

# The table t and its indexes, one column for each access method so that no
# index can stand in for another.
sub fill_table
{
	my ($node, $rows) = @_;
	my $values = row_values('i');

	$node->safe_psql('postgres', qq{
		CREATE SEQUENCE t_seq;
		CREATE TABLE t (
			id bigint DEFAULT nextval('t_seq') CONSTRAINT t_pkey PRIMARY KEY,
			k int NOT NULL, u text NOT NULL, d int, txt text,
			h int, a1 int[], a2 int[], p1 point, p2 point, r int8range,
			b int, l1 int, l2 int,
			CONSTRAINT t_d UNIQUE (d) DEFERRABLE INITIALLY DEFERRED,
			CONSTRAINT t_excl EXCLUDE USING gist (r WITH &&)
		) WITH (fillfactor = 80);
		INSERT INTO t (id, $values->{columns})
			SELECT nextval('t_seq'), $values->{values}
			FROM generate_series(1, $rows) i;
		CREATE INDEX t_k ON t (k);
		CREATE UNIQUE INDEX t_u ON t (u);
		CREATE INDEX t_txt ON t (txt);
		CREATE INDEX t_part ON t (k, id) WHERE k < 30;
		CREATE INDEX t_expr ON t (lower(left(txt, 10)), (k + 1)) INCLUDE (d);
		CREATE INDEX t_hash ON t USING hash (h);
		CREATE INDEX t_gin_fast ON t USING gin (a1)
			WITH (fastupdate = on, gin_pending_list_limit = 64);
		CREATE INDEX t_gin ON t USING gin (a2) WITH (fastupdate = off);
		CREATE INDEX t_gist ON t USING gist (p1);
		CREATE INDEX t_spgist ON t USING spgist (p2);
		CREATE INDEX t_brin ON t USING brin (b)
			WITH (pages_per_range = 2, autosummarize = on);
		CREATE INDEX t_bloom ON t USING bloom (l1, l2);
		ALTER TABLE t REPLICA IDENTITY USING INDEX t_u;
		ALTER TABLE t CLUSTER ON t_txt;
		ANALYZE t;
	});
	return;
}

# Columns and values of a row of t, from the number i that an SQL expression
# gives.
sub row_values
{
	my ($i) = @_;
	my $x = "hashint8((${i})::bigint)";

	return {
		columns => 'k, u, d, txt, h, a1, a2, p1, p2, r, b, l1, l2',
		values => qq{
			abs($x % 100), 'u' || currval('t_seq'), currval('t_seq')::int,
			repeat(md5((${i})::text), 1 + abs($x % 20)), abs($x % 50),
			ARRAY[abs($x % 50), abs($x / 50 % 50)],
			ARRAY[abs($x % 50), abs($x / 7 % 50)],
			point(abs($x % 100), abs($x / 100 % 100)),
			point(abs($x / 3 % 100), abs($x / 300 % 100)),
			int8range(currval('t_seq') * 10, currval('t_seq') * 10 + 9),
			(currval('t_seq') / 3 % 20000)::int, abs($x % 50), abs($x % 50 % 7)
		}
	};
}

# Starts pgbench: inserts, updates and deletes, small and large.  Each client
# keeps to rows of its own, so that no transaction has a reason to fail.
# rate: transactions per second; big: rows of a large one.
sub start_load
{
	my ($node, %args) = @_;
	my $clients = $args{clients} // 3;
	my $big = $args{big} // 300;
	my $values = row_values('i + :seed');
	my $mine = "id % $clients = :client_id";
	my $script = $node->basedir . '/load.sql';
	my %load = (node => $node, out => '', err => '');

	append_to_file($script, qq{
\\set what random(1, 100)
\\set seed random(1, 1000000)
\\set n random(1, 20)
\\if :what <= 30
INSERT INTO t (id, $values->{columns}) SELECT nextval('t_seq'), $values->{values} FROM generate_series(1, :n) i;
\\elif :what <= 60
UPDATE t SET k = :seed % 100, h = :seed % 50, a1 = ARRAY[:seed % 50, :n], p1 = point(:seed % 100, :n), txt = md5(txt), d = -d WHERE id = (SELECT id FROM t WHERE $mine AND id > (SELECT max(id) FROM t) - :seed % 1000 - 10 ORDER BY id LIMIT 1);
\\elif :what <= 75
DELETE FROM t WHERE id IN (SELECT id FROM t WHERE $mine AND id < (SELECT max(id) FROM t) - 6000 ORDER BY id LIMIT 100);
\\elif :what <= 80
UPDATE t SET a2 = ARRAY[:seed % 50, k % 50], p2 = point(k, :n), l1 = :n, l2 = :n % 7, b = b + 1 WHERE $mine AND k = :n;
\\elif :what <= 82
BEGIN;
INSERT INTO t (id, $values->{columns}) SELECT nextval('t_seq'), $values->{values} FROM generate_series(1, $big) i;
DELETE FROM t WHERE id IN (SELECT id FROM t WHERE $mine ORDER BY id LIMIT $big);
END;
\\elif :what <= 84
BEGIN;
INSERT INTO t (id, $values->{columns}) SELECT nextval('t_seq'), $values->{values} FROM generate_series(1, 100) i;
ROLLBACK;
\\else
SELECT count(*) FROM t WHERE k = :seed % 100;
\\endif
});
	$load{before} = $node->safe_psql('postgres', 'SELECT last_value FROM t_seq');
	$load{harness} = IPC::Run::start(
		[
			'pgbench', '-n', '-c', $clients, '-R', $args{rate} // 300, '-T', 600, '-f', $script,
			'-h', $node->host, '-p', $node->port, 'postgres'
		],
		'>', \$load{out}, '2>', \$load{err});

	# on before anything is to be disturbed by it
	$node->poll_query_until('postgres',
		"SELECT last_value > $load{before} FROM t_seq")
	  or die 'the load does not start';
	return \%load;
}

# Ends the load; it must have been on until now, without a failure.
sub stop_load
{
	my ($load, $name) = @_;

	$load->{harness}->pump_nb;
	ok($load->{harness}->pumpable, "$name: the load ran to the end");
	$load->{harness}->signal('TERM');
	eval { $load->{harness}->finish };
	unlike($load->{err}, qr/abort|error|fatal/i, "$name: no client failed");

	# its sessions go when they notice
	$load->{node}->poll_query_until('postgres', q{
		SELECT count(*) = 0 FROM pg_stat_activity
		WHERE application_name = 'pgbench'})
	  or die 'the load does not end';
	return;
}

# Every index says what the table says.
sub check_content
{
	my ($node, $name) = @_;
	my ($out, $err) = ('', '');
	my $rc = $node->psql('postgres', q{
		SELECT tsa_amcheck('t');
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		SELECT tsa_damage();
		COMMIT;
		SELECT indexrelid::regclass || ' is invalid' FROM pg_index
		WHERE indrelid = 't'::regclass AND NOT indisvalid;
	}, stdout => \$out, stderr => \$err, timeout => 180);

	is("$rc $out $err", '0 7 ', "$name: every index agrees with the table");
	return;
}

# One B-tree index says what its table says.
sub check_btree
{
	my ($node, $index, $name) = @_;
	my ($out, $err) = ('', '');
	my $rc = $node->psql('postgres',
		"SELECT bt_index_parent_check('$index', true)",
		stdout => \$out, stderr => \$err);

	is("$rc $err", '0 ', "$name: $index agrees with the table");
	return;
}

# No lock without a process, as one that exits between two transactions may
# leave behind.
sub check_locks
{
	my ($node, $name) = @_;
	my $locks = q{
		SELECT pid, relation::regclass, mode FROM pg_locks l
		WHERE pid IS NOT NULL AND NOT EXISTS (
			SELECT FROM pg_stat_activity a WHERE a.pid = l.pid)};

	# a session has locks shortly before it is seen
	ok($node->poll_query_until('postgres', $locks, ''),
		"$name: no lock without its process");
	return;
}

# No file without a relation.
sub check_orphans
{
	my ($node, $name) = @_;

	# Files are unlinked by the checkpoint after their transaction's end, and
	# the end of a job is seen before that of its transaction's drops.
	my $orphans;
	foreach my $try (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		$node->safe_psql('postgres', 'CHECKPOINT');
		$orphans = $node->safe_psql('postgres', 'SELECT tsa_orphans()');
		last if $orphans eq '';
		usleep(100_000);
	}
	is($orphans, '', "$name: no orphaned file");
	return;
}

# Nothing in the server's log that tells of a crash, or of an error but the
# expected.
sub check_log
{
	my ($node, $name, $expected) = @_;

	# amcheck, which locks the table for longer than deadlock_timeout when the
	# machine is slow, makes autovacuum give way; a fast shutdown may meet the
	# backend of a psql that has just ended, and ends the launcher's workers
	my $harmless = qr/connection to client lost|canceling autovacuum task|terminating (?:connection|background worker "tablespace_advisor \w+") due to administrator command/;
	my @errors = grep { /(ERROR|FATAL|PANIC|TRAP):/ && !/$harmless/ }
	  split /\n/, slurp_file($node->logfile);

	@errors = grep { !/$expected/ } @errors if $expected;
	is(join("\n", @errors), '', "$name: no error in the server's log");
	return;
}

# Makes live copies stop at a point of their protocol; '' lets them go on.
sub stop_at
{
	my ($node, $point) = @_;

	$node->append_conf('postgresql.conf',
		"tablespace_advisor.debug_stop_at = '$point'");
	$node->reload;
	$node->poll_query_until('postgres', qq{
		SELECT current_setting('tablespace_advisor.debug_stop_at', true)
			= '$point'})
	  or die 'the configuration is not reloaded';
	return;
}

sub wait_for_stop
{
	my ($node, $point) = @_;

	$node->poll_query_until('postgres', qq{
		SELECT count(*) = 1 FROM pg_stat_activity
		WHERE query = 'live copy stopped at: $point'})
	  or die "no copy stops at '$point'";
	return;
}

sub release
{
	my ($node) = @_;

	stop_at($node, '');
	return;
}

# Queues a move and returns the first job's id.
sub start_move
{
	my ($node, $target, $tablespace, $more) = @_;

	$more = $more ? ", $more" : '';
	my $ids = $node->safe_psql('postgres',
		"CALL move_indexes_concurrently('$target', '$tablespace', wait => false$more)");
	$ids =~ /^\{(\d+)/ or die "no job: $ids";
	return $1;
}

# Moves and waits.
sub move
{
	my ($node, $target, $tablespace, $more) = @_;

	$more = $more ? ", $more" : '';
	return $node->safe_psql('postgres',
		"CALL move_indexes_concurrently('$target', '$tablespace'$more)",
		timeout => 180);
}

sub job_field
{
	my ($node, $job, $field) = @_;

	return $node->safe_psql('postgres',
		"SELECT $field FROM tablespace_moves WHERE job_id = $job");
}

# Waits until a job has ended and returns its state.
sub wait_for_job
{
	my ($node, $job) = @_;

	$node->poll_query_until('postgres', qq{
		SELECT state IN ('done', 'failed', 'cancelled') FROM tablespace_moves
		WHERE job_id = $job})
	  or die "job $job does not end";
	return job_field($node, $job, 'state');
}

sub worker_pid
{
	my ($node, $job) = @_;

	return $node->safe_psql('postgres',
		"SELECT worker_pid FROM tablespace_advisor.job WHERE job_id = $job");
}

# State of a job whose worker is gone, after a call that settles it.
sub end_state
{
	my ($node, $job) = @_;

	$node->safe_psql('postgres', "SELECT cancel_move($job)");
	return job_field($node, $job, 'state');
}

# Where the indexes of a table are: names of tablespaces.
sub tablespaces_of
{
	my ($node, $relation) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT string_agg(DISTINCT coalesce(s.spcname, 'pg_default'), ' ')
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
		WHERE '$relation'::regclass IN (i.indrelid, i.indexrelid)});
}

# Ends the server hard and starts it again: by an immediate shutdown, or by
# killing one of its processes.
sub crash
{
	my ($node, $pid) = @_;

	if (!$pid)
	{
		$node->stop('immediate');
		$node->start;
		return;
	}
	my $started = $node->safe_psql('postgres',
		"SELECT count(*) FROM pg_stat_activity WHERE pid = $pid");
	die "process $pid is not one of the server's" if $started ne '1';
	my $checkpointer = checkpointer_pid($node);
	kill 'KILL', $pid;
	wait_for_restart($node, $checkpointer);
	return;
}

sub checkpointer_pid
{
	my ($node) = @_;

	return $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
}

# Waits until a server that crashes has another checkpointer than this one.
# poll_query_until() would die of a broken pipe if psql ended, for want of a
# server, before it had read the query.
sub wait_for_restart
{
	my ($node, $checkpointer) = @_;

	foreach my $try (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my $out = '';

		IPC::Run::run(
			[
				'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', qq{
					SELECT pid <> $checkpointer FROM pg_stat_activity
					WHERE backend_type = 'checkpointer'}
			],
			'<', '/dev/null', '>', \$out, '2>', '/dev/null');
		return if $out eq "t\n";
		usleep(100_000);
	}
	die 'the server does not come back';
}

1;
