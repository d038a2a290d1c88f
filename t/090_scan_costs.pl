# Copyright (c) 2026, The tablespace_advisor developers

# The formulas of src/cost/page_cost.c against EXPLAIN: tables of three kinds
# of order and row width, selectivities that the histogram knows exactly, and
# page costs of which table and index have different ones.

use TsaTest;

my $node = start_plain('main', conf => q(
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
));
$node->safe_psql('postgres', q{
	CREATE EXTENSION pageinspect;
	CREATE TABLESPACE other LOCATION '';

	-- k is unique and scattered, j is k jittered, d falls
	CREATE TABLE narrow AS
	SELECT i, (i::bigint * 7919 % 30000)::int AS k,
		row_number() OVER (ORDER BY i * 16 + hashint4(i) % 5000, i)::int AS j, -i AS d
	FROM generate_series(0, 29999) i;
	CREATE TABLE wide AS SELECT *, repeat('x', 400) AS filler FROM narrow;
	-- half of the pages all-visible
	CREATE TABLE half AS SELECT *, repeat('x', 60) AS filler FROM narrow;
});
for my $table (qw(narrow wide half))
{
	for my $column (qw(i k j d))
	{
		my $tablespace = $column =~ /[kj]/ ? 'other' : 'pg_default';
		$node->safe_psql('postgres', qq{
			ALTER TABLE $table ALTER $column SET STATISTICS 1000;
			CREATE INDEX ${table}_$column ON $table ($column)
				TABLESPACE $tablespace});
	}
	$node->safe_psql('postgres', "VACUUM ANALYZE $table");
}
$node->safe_psql('postgres', q{
	UPDATE half SET filler = repeat('y', 60) WHERE i < 15000;
	ANALYZE half});

# One row per cell: every plan's cost as EXPLAIN has it and as we have it.
$node->safe_psql('postgres', q{
	CREATE FUNCTION explain_cost(query text, node text) RETURNS float8
	LANGUAGE plpgsql AS $$
	DECLARE
		plan jsonb;
	BEGIN
		EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
		plan := plan -> 0 -> 'Plan';
		IF plan ->> 'Node Type' = node THEN
			RETURN plan -> 'Total Cost';
		END IF;
		IF plan -> 'Plans' -> 0 ->> 'Node Type' = node THEN
			RETURN plan -> 'Plans' -> 0 -> 'Total Cost';
		END IF;
		RAISE EXCEPTION 'no % in %', node, plan;
	END $$;

	CREATE VIEW facts AS
	SELECT t.relname AS tab, a.attname AS col, t.relpages AS pages,
		t.reltuples AS tuples, t.relallvisible::float8 / t.relpages AS visible,
		i.relpages AS index_pages, i.reltuples AS index_tuples,
		(public.bt_metap(i.relname)).fastlevel::int AS height,
		s.correlation, (s.histogram_bounds::text::int[]) AS bounds
	FROM pg_class t
	JOIN pg_attribute a ON a.attrelid = t.oid AND a.attname IN ('i','k','j','d')
	JOIN pg_class i ON i.relname = t.relname || '_' || a.attname
	JOIN pg_stats s ON s.tablename = t.relname AND s.attname = a.attname
	WHERE t.relname IN ('narrow', 'wide', 'half');

	CREATE FUNCTION compare(r float8, s float8, ri float8)
	RETURNS TABLE (cell text, node text, server float8, ours float8)
	LANGUAGE plpgsql AS $$
	DECLARE
		f record;
		c record;
		step int;
		bins int;
		cond text;
		enabled text[];
		target text;
	BEGIN
		EXECUTE format('SET random_page_cost = %s', r);
		EXECUTE format('SET seq_page_cost = %s', s);
		FOR f IN SELECT * FROM facts LOOP
			bins := cardinality(f.bounds) - 1;
			FOREACH step IN ARRAY ARRAY[2, 9, 40, 170, 600, 950] LOOP
				cond := format('%I <= %s', f.col, f.bounds[step + 1]);
				SELECT * INTO c FROM tablespace_advisor.predict_scan_costs(
					f.pages, f.tuples, f.visible, f.index_pages, f.index_tuples,
					f.height, f.correlation, step::float8 / bins, r, s,
					CASE WHEN f.col IN ('k', 'j') THEN ri ELSE r END);
				cell := format('%s.%s %s r=%s s=%s', f.tab, f.col, step, r, s);
				FOR node, enabled, target, ours IN SELECT * FROM (VALUES
					('Seq Scan', '{seqscan}'::text[], '*', c.seq_scan),
					('Index Scan', '{indexscan}', '*', c.index_scan),
					('Index Only Scan', '{indexscan,indexonlyscan}', quote_ident(f.col), c.index_only_scan),
					('Bitmap Heap Scan', '{bitmapscan}', '*', c.bitmap_heap_scan),
					('Bitmap Index Scan', '{bitmapscan}', '*', c.bitmap_index_scan)) v
				LOOP
					PERFORM set_config('enable_' || e, (e = ANY (enabled))::text, false)
					FROM unnest('{seqscan,indexscan,indexonlyscan,bitmapscan}'::text[]) e;
					server := explain_cost(format('SELECT %s FROM %I WHERE %s', target, f.tab, cond), node);
					RETURN NEXT;
				END LOOP;
			END LOOP;
		END LOOP;
	END $$;
});

my $cells = 0;
for my $costs ([ 4, 1, 1.1 ], [ 54.7, 1, 4 ], [ 1.1, 0.5, 2 ])
{
	my ($r, $s, $ri) = @$costs;
	my $rows = $node->safe_psql('postgres', qq{
		ALTER TABLESPACE other SET (random_page_cost = $ri);
		SELECT count(*), count(*) FILTER (WHERE
				abs(server - ours) > 0.0051 + 1e-9 * server),
			coalesce((array_agg(format('%s %s: %s, not %s', cell, node, ours,
				server)) FILTER (WHERE
				abs(server - ours) > 0.0051 + 1e-9 * server))[1:5]::text, '')
		FROM compare($r, $s, $ri)});
	my ($n, $wrong, $examples) = split /\|/, $rows, 3;

	$cells += $n;
	is($wrong, 0, "r = $r, s = $s, index $ri: as EXPLAIN") or diag $examples;
}
cmp_ok($cells, '>=', 500, "$cells cells compared");

# little memory: the bitmap becomes lossy; a small cache: pages are read again
configure($node, 'work_mem', '64kB');
configure($node, 'effective_cache_size', '1MB');
my $rows = $node->safe_psql('postgres', q{
	SELECT count(*) FILTER (WHERE abs(server - ours) > 0.0051), count(*),
		(array_agg(format('%s %s: %s, not %s', cell, node, ours, server))
			FILTER (WHERE abs(server - ours) > 0.0051))[1:5]
	FROM compare(4, 1, 2)});
like($rows, qr/^0\|360\|/, 'small work_mem and effective_cache_size')
  or diag $rows;

$node->stop;
done_testing();
