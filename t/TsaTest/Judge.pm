# Copyright (c) 2026, The tablespace_advisor developers

# The judges: a move must not change what indexes, heaps and visibility maps say,
# nor leave a file or a lock behind.  t/054_judges.pl shows that they find
# faults.

package TsaTest::Judge;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(
  create_judges check_content check_btree check_btrees check_moved
  check_heap check_mirror check_table
  check_orphans check_locks tablespaces_of places visibility digest);

# Functions in the database: tsa_orphans(), tsa_damage(), tsa_amcheck(),
# tsa_heap_damage().
sub create_judges
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
		CREATE EXTENSION amcheck;
		CREATE EXTENSION bloom;
		CREATE EXTENSION pg_visibility;

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
	}, stdout => \$out, stderr => \$err, timeout => 2 * $PostgreSQL::Test::Utils::timeout_default);

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

# All B-trees of a table, of which there are so many, say what it says.
sub check_btrees
{
	my ($node, $table, $count, $name) = @_;

	is($node->safe_psql('postgres', "SELECT tsa_amcheck('$table')"), $count,
		"$name: the indexes are right");
	return;
}

# A table is whole, with so many B-trees, and nothing is left of its move.
sub check_moved
{
	my ($node, $table, $count, $name) = @_;

	check_heap($node, $table, $name);
	check_btrees($node, $table, $count, $name);
	check_orphans($node, $name);
	check_locks($node, $name);
	return;
}

# Heap, TOAST table and visibility map of a table are right.
sub check_heap
{
	my ($node, $table, $name) = @_;
	my ($out, $err) = ('', '');
	my $rc = $node->psql('postgres', qq{
		BEGIN;
		SELECT 'LOCK TABLE $table IN SHARE MODE' FROM pg_class
		WHERE oid = '$table'::regclass AND relkind = 'r'
			AND NOT pg_is_in_recovery() \\gexec
		SELECT tsa_heap_damage('$table');
		COMMIT}, stdout => \$out, stderr => \$err, timeout => 2 * $PostgreSQL::Test::Utils::timeout_default);

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
		COMMIT}, stdout => \$out, stderr => \$err, timeout => 2 * $PostgreSQL::Test::Utils::timeout_default);

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

# No file without a relation.
sub check_orphans
{
	my ($node, $name) = @_;

	# Files are unlinked by the checkpoint after their transaction's end, and
	# the end of a job is seen before that of its transaction's drops.
	my $orphans;
	foreach my $try (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		$orphans = $node->safe_psql('postgres', q{
			CHECKPOINT;
			SELECT tsa_orphans()});
		last if $orphans eq '';
		usleep(100_000);
	}
	is($orphans, '', "$name: no orphaned file");
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

1;
