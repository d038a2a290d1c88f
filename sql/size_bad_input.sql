-- Every bad call of the size functions fails with an SQLSTATE of its kind.
CREATE EXTENSION IF NOT EXISTS tablespace_advisor;

CREATE FUNCTION pg_temp.failure(call text,
	OUT state text, OUT message text, OUT detail text, OUT hint text)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SELECT * FROM ' || call;
	state := '00000';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE,
		message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT;
END $$;

\pset format unaligned
\pset tuples_only on
SELECT c.call, f.*
FROM unnest(ARRAY[
	'estimate_pgbench_size(NULL)',
	'estimate_pgbench_size(1, NULL)',
	'estimate_pgbench_size(1, 100, NULL)',
	'estimate_pgbench_size(0)',
	'estimate_pgbench_size(-1)',
	'estimate_pgbench_size(2147483647)',
	'estimate_pgbench_size(1, 9)',
	'estimate_pgbench_size(1, 101)',
	'estimate_pgbench_size(1, -2147483648)',
	'estimate_pgbench_size(1, 100, -1)',
	'estimate_pgbench_size(1, 100, 100001)',
	'estimate_pgbench_size(''one'')',
	'estimate_pgbench_scale(NULL)',
	'estimate_pgbench_scale(''1 GB'', NULL)',
	'estimate_pgbench_scale(''1 GB'', ''table'', NULL)',
	'estimate_pgbench_scale(''1 GB'', ''table'', 100, NULL)',
	'estimate_pgbench_scale(''0'')',
	'estimate_pgbench_scale(''-1 GB'')',
	'estimate_pgbench_scale(''8000 PB'', ''index'')',
	'estimate_pgbench_scale(''99999999 PB'')',
	'estimate_pgbench_scale(''much'')',
	'estimate_pgbench_scale('''')',
	'estimate_pgbench_scale(''1 GB'', ''view'')',
	'estimate_pgbench_scale(''1 GB'', '''')',
	'estimate_pgbench_scale(''1 GB'', ''database'', 9)',
	'estimate_pgbench_scale(''1 GB'', ''database'', 101)',
	'estimate_pgbench_scale(''1 GB'', ''database'', 100, -1)'
]) WITH ORDINALITY AS c(call, number), LATERAL pg_temp.failure(c.call) f
ORDER BY c.number;
