/*
 * src/report/parts_statements.sql
 *
 * The part of the page on the statements that wait most for reads.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.report_statements(f tablespace_advisor.report_findings)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH statement AS MATERIALIZED (
		SELECT s.rank, s.statement, s.calls_per_s, s.mean_ms, s.read_ms, s.after_ms, s.relations,
			s.calls_per_s * s.mean_ms / 1000 AS before, s.calls_per_s * s.after_ms / 1000 AS after
		FROM jsonb_to_recordset(f.statements) s (rank int, statement text, calls_per_s float8,
			mean_ms float8, read_ms float8, after_ms float8, relations text)
	)
	SELECT tablespace_advisor.page_section('Statements',
		format('%s waits longest for reads: %s of the %s that a call takes. %s',
			first.statement, tablespace_advisor.unit_label(first.read_ms * 1000, 'us'),
			tablespace_advisor.unit_label(first.mean_ms * 1000, 'us'),
			CASE WHEN first.after_ms < 0.99 * first.mean_ms
				THEN format('With the advice followed it takes %s.',
					tablespace_advisor.unit_label(first.after_ms * 1000, 'us'))
				ELSE 'The advice does not change that.' END),
		(SELECT tablespace_advisor.draw_readers(array_agg(s.statement ORDER BY s.rank),
				array_agg(s.before ORDER BY s.rank), array_agg(s.after ORDER BY s.rank),
				'sessions that execute it, on average: now, and with the advice followed',
				array_agg(format('%s: %s a call now, %s then', s.statement,
					tablespace_advisor.unit_label(s.mean_ms * 1000, 'us'),
					tablespace_advisor.unit_label(s.after_ms * 1000, 'us')) ORDER BY s.rank))
			FROM statement s)
		|| tablespace_advisor.page_table(
			'{statement,calls per s,a call takes,of it reading,then,relations that move}', 'lnnnnw',
			(SELECT string_agg(tablespace_advisor.table_row(ARRAY[s.statement,
				tablespace_advisor.short_number(s.calls_per_s),
				tablespace_advisor.unit_label(s.mean_ms * 1000, 'us'),
				tablespace_advisor.unit_label(s.read_ms * 1000, 'us'),
				tablespace_advisor.unit_label(s.after_ms * 1000, 'us'), s.relations], 'lnnnnw'), ''
				ORDER BY s.rank)
			FROM statement s)))
	FROM statement first WHERE first.rank = 1
$$;
COMMENT ON FUNCTION tablespace_advisor.report_statements(tablespace_advisor.report_findings) IS
	'the part on the statements that wait most for reads, now and with the advice followed; NULL where waits are not measured';
