# What the tests of moves of tables share beyond TsaTest.pm: a table with TOAST
# values, a load on it that keeps a mirror of every row in a second table that
# is never moved, and the judges of heaps: amcheck's verify_heapam, the checks
# of pg_visibility, and the comparison of the rows with the mirror, once by
# sequential scan and once by index.

package TsaTable;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use TsaTest;

our @EXPORT = qw(
  new_table_node prepare_table_checks fill_documents document
  start_table_load stop_table_load
  move_table start_table_move
  check_table check_heap check_mirror check_checksums
  places visibility digest is_waiting start_sql finish_sql
  prepare_ddl make_ddl_table try_ddl);

# A server, not started, with data checksums.
sub new_table_node
{
	my ($name, %args) = @_;
	my %init = (%{ $args{init} // {} });

	$init{extra} = [ '--data-checksums', @{ $init{extra} // [] } ];
	return new_node($name, init => \%init, conf => $args{conf});
}

# The judges of heaps, in SQL.
sub prepare_table_checks
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
		CREATE EXTENSION pg_visibility;

		-- What is wrong with a table or its TOAST table.  Nobody may write
		-- meanwhile.  What is asked of a snapshot's horizon is not for a
		-- standby.
		CREATE FUNCTION tsa_heap_damage(target regclass) RETURNS SETOF text
		LANGUAGE plpgsql AS $$
		DECLARE
			rel regclass;
			toast regclass := (SELECT nullif(reltoastrelid, 0) FROM pg_class
				WHERE oid = target);
		BEGIN
			FOREACH rel IN ARRAY ARRAY[target, toast] LOOP
				CONTINUE WHEN rel IS NULL;
				RETURN QUERY SELECT format('%s: block %s offset %s: %s',
						rel, v.blkno, v.offnum, v.msg)
					FROM verify_heapam(rel, check_toast => true) v;
				RETURN QUERY SELECT format('%s: bits of block %s are %s %s, the page says %s',
						rel, v.blkno, v.all_visible, v.all_frozen, v.pd_all_visible)
					FROM pg_visibility(rel) v
					WHERE (v.all_visible AND NOT v.pd_all_visible)
						OR (v.all_frozen AND NOT v.all_visible);
				CONTINUE WHEN pg_is_in_recovery();
				RETURN QUERY SELECT format('%s: %s is not visible to all', rel, v)
					FROM pg_check_visible(rel) v;
				RETURN QUERY SELECT format('%s: %s is not frozen', rel, v)
					FROM pg_check_frozen(rel) v;
			END LOOP;
			IF toast IS NOT NULL THEN
				PERFORM bt_index_check(indexrelid, true) FROM pg_index
				WHERE indrelid = toast;
			END IF;
		END $$;
	});
	return;
}

# A text of some kilobytes that is a function of the number i, an SQL
# expression.
sub document
{
	my ($i) = @_;

	return "(SELECT string_agg(md5((($i)::bigint * 1000 + g)::text), '')"
	  . " FROM generate_series(1, 65 + ((($i)::bigint) % 130)::int) g)";
}

# The table t of TsaTest with documents, which are out of line, and a column
# that no index has; and its mirror.
sub fill_documents
{
	my ($node, $rows) = @_;

	fill_table($node, $rows);
	$node->safe_psql('postgres', qq{
		ALTER TABLE t ADD doc text, ADD note int NOT NULL DEFAULT 0;
		ALTER TABLE t ALTER doc SET STORAGE EXTERNAL;
		-- a VACUUM that wants to truncate waits 5 seconds for the mover, which
		-- waits for it
		ALTER TABLE t SET (vacuum_truncate = off, toast.vacuum_truncate = off,
			autovacuum_vacuum_threshold = 2000,
			autovacuum_vacuum_insert_threshold = 2000,
			toast.autovacuum_vacuum_threshold = 10000,
			toast.autovacuum_vacuum_insert_threshold = 10000);
		DROP INDEX t_brin;
		CREATE INDEX t_brin ON t USING brin (b)
			WITH (pages_per_range = 16, autosummarize = on);
		UPDATE t SET doc = ${\document('id')} WHERE id % 2 = 0;
		CREATE TABLE mirror (id bigint PRIMARY KEY, hash bigint NOT NULL)
			WITH (fillfactor = 70);
		INSERT INTO mirror SELECT id, hashtextextended(t::text, 0) FROM t;
		CREATE FUNCTION keep_mirror() RETURNS trigger LANGUAGE plpgsql AS \$\$
		BEGIN
			IF TG_OP = 'INSERT' THEN
				INSERT INTO mirror
				VALUES (NEW.id, hashtextextended(NEW::text, 0));
			ELSIF TG_OP = 'UPDATE' THEN
				UPDATE mirror SET hash = hashtextextended(NEW::text, 0)
				WHERE id = OLD.id;
				ASSERT FOUND;
			ELSE
				DELETE FROM mirror WHERE id = OLD.id;
				ASSERT FOUND;
			END IF;
			RETURN NULL;
		END \$\$;
		CREATE TRIGGER keep_mirror AFTER INSERT OR UPDATE OR DELETE ON t
			FOR EACH ROW EXECUTE FUNCTION keep_mirror();
		VACUUM (FREEZE, ANALYZE) t;
	});
	return;
}

# Starts two pgbench: one changes rows in all the ways that a heap knows, the
# other vacuums, but for when a move waits for its lock.  Each client keeps to rows of its own; rows of others it only
# locks, in the order of id, with nothing else locked, and not where rows are
# deleted, in whatever order.
sub start_table_load
{
	my ($node, %args) = @_;
	my $clients = $args{clients} // 3;
	my $values = TsaTest::row_values('i + :seed');
	my $mine = "id % $clients = :client_id";
	my $recent = "(SELECT id FROM t WHERE $mine AND id > (SELECT max(id) FROM t) - :seed % 1500 - 10 ORDER BY id LIMIT 1)";
	my $insert = "INSERT INTO t (id, doc, $values->{columns}) SELECT nextval('t_seq'), CASE WHEN i % 2 = 0 THEN ${\document('i + :seed')} END, $values->{values} FROM generate_series(1, %s) i;";
	my $script = $node->basedir . '/table_load.sql';
	my $vacuum = $node->basedir . '/table_vacuum.sql';
	my %load = (node => $node, out => '', err => '');

	unlink $script, $vacuum;
	append_to_file($script, qq{
\\set what random(1, 100)
\\set seed random(1, 1000000)
\\set n random(1, 20)
\\if :what <= 20
${\sprintf($insert, ':n')}
\\elif :what <= 35
UPDATE t SET note = note + 1 WHERE id = $recent;
\\elif :what <= 45
UPDATE t SET k = :seed % 100, h = :seed % 50, a1 = ARRAY[:seed % 50, :n], p1 = point(:seed % 100, :n), txt = md5(txt), d = -d WHERE id = $recent;
\\elif :what <= 57
UPDATE t SET doc = ${\document(':seed')}, note = :n WHERE id = $recent;
\\elif :what <= 60
UPDATE t SET doc = CASE WHEN doc IS NULL THEN ${\document(':seed')} END WHERE id = $recent;
\\elif :what <= 70
DELETE FROM t WHERE id IN (SELECT id FROM t WHERE $mine AND id < (SELECT max(id) FROM t) - 5000 ORDER BY id LIMIT 60);
\\elif :what <= 75
BEGIN;
SELECT length(doc) FROM t WHERE id = $recent FOR UPDATE;
SAVEPOINT one;
UPDATE t SET doc = ${\document(':seed + 1')}, note = -1 WHERE id = $recent;
ROLLBACK TO one;
UPDATE t SET note = note + 100 WHERE id = $recent;
SAVEPOINT two;
${\sprintf($insert, 3)}
RELEASE two;
END;
\\elif :what <= 77
BEGIN;
SELECT count(*) FROM (SELECT FROM t WHERE $mine ORDER BY id LIMIT 200 FOR UPDATE) x;
END;
\\elif :what <= 80
BEGIN;
${\sprintf($insert, 60)}
UPDATE t SET doc = 'short', note = note + 1 WHERE id = $recent;
ROLLBACK;
\\elif :what <= 85
SELECT count(*) FROM (SELECT FROM t WHERE id % 40 = :n AND id > (SELECT max(id) FROM t) - 2500 ORDER BY id FOR KEY SHARE) x;
\\elif :what <= 87
BEGIN;
${\sprintf($insert, 150)}
DELETE FROM t WHERE id IN (SELECT id FROM t WHERE $mine ORDER BY id LIMIT 150);
END;
\\else
SELECT count(*), sum(length(doc)) FROM t WHERE k = :seed % 100;
\\endif
});
	# once the move is ready and waits, there has to be a gap between two
	append_to_file($vacuum, q{
SELECT count(*) AS waits FROM tablespace_moves WHERE state = 'running' AND (attempts > 0 OR phase ~ 'waiting') \gset
\set what random(1, 4)
\if :waits > 0
\sleep 100 ms
\elif :what = 1
VACUUM (FREEZE, TRUNCATE false) t;
\elif :what = 2
VACUUM (FREEZE, DISABLE_PAGE_SKIPPING, INDEX_CLEANUP on) t;
\elif :what = 3
VACUUM t;
\else
VACUUM (FREEZE, PROCESS_TOAST false) t;
\endif
});
	my $before = $node->safe_psql('postgres', 'SELECT last_value FROM t_seq');
	my @to = ('-T', 600, '-h', $node->host, '-p', $node->port, 'postgres');

	$load{harness} = IPC::Run::start(
		[
			'pgbench', '-n', '-c', $clients, '-R', $args{rate} // 100,
			'-f', $script, @to
		],
		'>', \$load{out}, '2>', \$load{err});
	$load{vacuum} = IPC::Run::start(
		[ 'pgbench', '-n', '-c', 1, '-R', $args{vacuums} // 1, '-f', $vacuum, @to ],
		'>', \$load{vacuum_out}, '2>', \$load{vacuum_err});
	$node->poll_query_until('postgres',
		"SELECT last_value > $before FROM t_seq")
	  or die 'the load does not start';
	return \%load;
}

# Ends both; they must have been on until now, without a failure.
sub stop_table_load
{
	my ($load, $name) = @_;

	$load->{vacuum}->pump_nb;
	ok($load->{vacuum}->pumpable, "$name: vacuuming ran to the end");
	$load->{vacuum}->signal('TERM');
	eval { $load->{vacuum}->finish };
	unlike($load->{vacuum_err}, qr/abort|error|fatal/i,
		"$name: no VACUUM failed");
	stop_load($load, $name);
	return;
}

# Moves a table and waits.
sub move_table
{
	my ($node, $table, $tablespace, $more) = @_;

	$more = $more ? ", $more" : '';
	return $node->safe_psql('postgres',
		"CALL move_table_concurrently('$table', '$tablespace'$more)",
		timeout => 180);
}

# Queues the move of a table and returns the first job's id.
sub start_table_move
{
	my ($node, $table, $tablespace, $more) = @_;

	$more = $more ? ", $more" : '';
	my $ids = $node->safe_psql('postgres',
		"CALL move_table_concurrently('$table', '$tablespace', wait => false$more)");
	$ids =~ /^\{(\d+)/ or die "no job: $ids";
	return $1;
}

# Heap, TOAST table and visibility map of a table are right.
sub check_heap
{
	my ($node, $table, $name) = @_;
	my ($out, $err) = ('', '');
	my $lock = $node->safe_psql('postgres', qq{
		SELECT 'LOCK TABLE $table IN SHARE MODE;' FROM pg_class
		WHERE oid = '$table'::regclass AND relkind = 'r'
			AND NOT pg_is_in_recovery()});
	my $rc = $node->psql('postgres', qq{
		BEGIN;
		$lock
		SELECT tsa_heap_damage('$table');
		COMMIT}, stdout => \$out, stderr => \$err, timeout => 180);

	is("$rc $out $err", '0  ', "$name: heap, TOAST and visibility map are sound");
	return;
}

# The rows of t, by sequential scan and by its primary key, are those that
# were committed.
sub check_mirror
{
	my ($node, $name) = @_;
	my $compare = q{
		SELECT count(*) > 1000, count(*) FILTER (WHERE m.hash IS DISTINCT FROM x.hash)
		FROM mirror m FULL JOIN
			(SELECT id, hashtextextended(t::text, 0) AS hash FROM t
			 ORDER BY id OFFSET 0) x USING (id)};
	my ($out, $err) = ('', '');
	my $rc = $node->psql('postgres', qq{
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		SET LOCAL enable_indexscan = off;
		SET LOCAL enable_indexonlyscan = off;
		SET LOCAL enable_bitmapscan = off;
		$compare;
		SET LOCAL enable_indexscan = on;
		SET LOCAL enable_seqscan = off;
		SET LOCAL enable_sort = off;
		$compare;
		EXPLAIN (COSTS OFF) SELECT id, hashtextextended(t::text, 0) FROM t ORDER BY id;
		COMMIT}, stdout => \$out, stderr => \$err, timeout => 180);

	is("$rc $out $err", "0 t|0\nt|0\nIndex Scan using t_pkey on t ",
		"$name: the rows are those that were committed");
	return;
}

# All that can be said about t: on a server that may be in use.
sub check_table
{
	my ($node, $name) = @_;

	check_mirror($node, $name);
	check_heap($node, 't', $name);
	check_content($node, $name);
	return;
}

# Stops the server and has its data files checked.
sub check_checksums
{
	my ($node, $name) = @_;

	$node->stop;
	command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ],
		"$name: all checksums are right");
	return;
}

# Where a table, its TOAST table with its index, and its indexes are.
sub places
{
	my ($node, $table) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT string_agg(part || ' ' || place, ', ' ORDER BY n)
		FROM (
			SELECT n, part, string_agg(DISTINCT
				CASE WHEN c.reltablespace = 0 THEN 'pg_default'
					ELSE s.spcname END, '+') AS place
			FROM pg_class h CROSS JOIN LATERAL (
				SELECT 1, 'table', h.oid
				UNION ALL SELECT 2, 'toast', h.reltoastrelid
				UNION ALL SELECT 3, 'toast index', indexrelid FROM pg_index
					WHERE indrelid = h.reltoastrelid AND indisvalid
				UNION ALL SELECT 4, 'indexes', indexrelid FROM pg_index
					WHERE indrelid = h.oid) AS p(n, part, oid)
			JOIN pg_class c ON c.oid = p.oid
			LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
			WHERE h.oid = '$table'::regclass GROUP BY n, part) x});
}

# The visibility maps of a table and its TOAST table, a digit for each page of
# the heap: 0, 1 all-visible, 2 all-frozen too.
sub visibility
{
	my ($node, $table) = @_;

	return $node->safe_psql('postgres', qq{
		SELECT string_agg((all_visible::int + all_frozen::int)::text, ''
			ORDER BY blkno)
		FROM pg_class c CROSS JOIN LATERAL pg_visibility_map(c.oid)
		WHERE '$table'::regclass = c.oid
		UNION ALL
		SELECT string_agg((all_visible::int + all_frozen::int)::text, ''
			ORDER BY blkno)
		FROM pg_class c CROSS JOIN LATERAL pg_visibility_map(c.reltoastrelid)
		WHERE '$table'::regclass = c.oid AND c.reltoastrelid <> 0});
}

# Number and sum of the rows of a table, by sequential scan.
sub digest
{
	my ($node, $table, $columns) = @_;

	$columns //= 'x';
	return $node->safe_psql('postgres', qq{
		SET enable_indexscan = off; SET enable_bitmapscan = off;
		SET enable_indexonlyscan = off;
		SELECT count(*), sum(hashtextextended(($columns)::text, 0)) FROM $table x});
}

# Starts statements in a session of their own, which gives up after a minute.
# Finish with finish_sql().
sub start_sql
{
	my ($node, $name, @sql) = @_;
	my %session = (node => $node, name => $name, out => '', err => '');

	$session{harness} = IPC::Run::start(
		[
			'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d',
			$node->connstr('postgres') . " application_name='$name' options='-c statement_timeout=60s'",
			map { ('-c', $_) } @sql
		],
		'<', \undef, '>', \$session{out}, '2>', \$session{err});
	return \%session;
}

# Waits for such a session; the messages of a failure.
sub finish_sql
{
	my ($session) = @_;

	$session->{harness}->finish;
	chomp(my $err = $session->{err});
	return $err;
}

# Waits until a session waits for a lock, or has ended (then false).
sub is_waiting
{
	my ($session) = @_;
	my $activity = "FROM pg_stat_activity WHERE application_name = '$session->{name}'";

	for (1 .. 1800)
	{
		return 1
		  if $session->{node}->safe_psql('postgres',
			"SELECT count(*) $activity AND wait_event_type = 'Lock'");
		$session->{harness}->pump_nb;
		return 0 unless $session->{harness}->pumpable;
		select undef, undef, undef, 0.1;
	}
	die "session $session->{name} neither waits nor ends";
}

# DDL at points of a move.  Tables are made in the schema s.
sub prepare_ddl
{
	my ($node) = @_;

	$node->safe_psql('postgres', qq{
		CREATE TABLE source AS
			SELECT i AS id, i AS n, 'row ' || i AS txt,
				CASE WHEN i % 3 = 0 THEN ${\document('i')} END AS doc
			FROM generate_series(1, 1500) i;
		ALTER DATABASE postgres SET search_path = s, public});
	return;
}

# A table d, or a materialized view of that name, with a TOAST table.
sub make_ddl_table
{
	my ($node, $kind) = @_;
	my $create = $kind eq 'matview'
	  ? 'CREATE MATERIALIZED VIEW d AS SELECT * FROM source;
		CREATE UNIQUE INDEX d_pkey ON d (id);'
	  : 'CREATE TABLE d (LIKE source);
		INSERT INTO d SELECT * FROM source;
		ALTER TABLE d ADD CONSTRAINT d_pkey PRIMARY KEY (id);';

	$node->safe_psql('postgres', qq{
		SET client_min_messages = warning;
		DROP SCHEMA IF EXISTS s CASCADE;
		CREATE SCHEMA s;
		$create
		CREATE INDEX d_txt ON d (txt);
		CREATE INDEX d_n ON d (n)});
	return;
}

# Moves d to "fast", runs statements in another session while the move is
# stopped at a point, and lets both go on.  What becomes of the job if the
# statements come before the cutover: "done", or a reason to fail.  What the
# table has then: the "same" rows, a number of them, or no matter ("any").
sub try_ddl
{
	my ($node, $point, $with, $what, $outcome, $rows, @sql) = @_;
	my $before_cutover = $point !~ /window|switched/;
	my $name = "$what at '$point'" . ($with ? ' with indexes' : '');
	my $table = $what eq 'RENAME' ? 'e' : 'd';

	make_ddl_table($node, $what =~ /REFRESH/ ? 'matview' : 'table');
	stop_at($node, $point);
	my $job = start_table_move($node, 'd', 'fast',
		'with_indexes => ' . ($with ? 'true' : 'false'));
	wait_for_stop($node, $point);
	my $session = start_sql($node, 'ddl', @sql);
	is_waiting($session);
	release($node);
	is(finish_sql($session), '', "$name: the statement succeeds");

	my $expected = $before_cutover ? $outcome : 'done';
	my $state = wait_for_job($node, $job) . ': ' . job_field($node, $job, 'error');
	if (ref $expected)
	{
		like($state, qr/^failed: .*$expected/,
			"$name: the move fails and says why");
	}
	else
	{
		is($state, 'done: ', "$name: the move is done");
	}
	check_orphans($node, $name);
	return if $rows eq 'any';

	my $columns = "x.id || x.txt || coalesce(x.doc, '')";
	my $like = $rows eq 'same' ? 'source'
	  : "(SELECT * FROM source WHERE id <= $rows)";
	is(digest($node, $table, $columns), digest($node, $like, $columns),
		"$name: the rows are right");
	check_heap($node, $table, $name);
	is($node->safe_psql('postgres', "SELECT tsa_amcheck('$table') >= 0"),
		't', "$name: the indexes are right");
	return if $outcome ne 'done';

	my $place = $before_cutover || $what !~ /SET TABLESPACE and back/
	  ? 'fast' : 'pg_default';
	like(places($node, $table),
		qr/^table $place, toast $place, toast index $place/,
		"$name: all is in $place");

	# REINDEX CONCURRENTLY makes other indexes
	like(places($node, $table), qr/, indexes fast$/, "$name: and the indexes")
	  if $with && $before_cutover
	  && $what =~ /^(?:VACUUM|CLUSTER|TRUNCATE|ANALYZE|ADD|a lock|RENAME|REINDEX)/
	  && $what !~ /CONCURRENTLY/;
	return;
}

1;
