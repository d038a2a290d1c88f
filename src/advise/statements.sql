/*
 * src/advise/statements.sql
 *
 * Statements to run, at the end of an account: of probes and rebuilds the
 * statement of its row, of moves as few calls as do them all.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */

/*
 * The moves, each to a destination by a method, and the calls for them: a table
 * that moves with all of its indexes takes one call; if only some indexes of a
 * table move, the call names them. An index that is to be rebuilt does not move
 * along with its table, which would copy the bloat.
 */
CREATE FUNCTION tablespace_advisor.move_calls(target regclass, advice tablespace_advisor.advice_row[])
RETURNS TABLE (rank int, call text)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET enable_nestloop = off	-- 20 000 moves: over a minute without, 0.3 s with
AS $$
	WITH item AS (
		SELECT r.*, coalesce(i.indrelid::regclass, r.relation) AS owner
		FROM (SELECT (a.advice).rank, (a.advice).kind, (a.advice).action, (a.advice).relation,
				(a.advice).from_tablespace, (a.advice).to_tablespace AS destination,
				a.evidence #>> '{move,method}' AS method
			FROM unnest(advice) a
			/* to a tablespace that is not there: none */
			WHERE a.evidence #>> '{to,latency_from}' IS DISTINCT FROM 'assumed') r
		LEFT JOIN pg_index i ON i.indexrelid = r.relation
	), heap AS (
		/* with_indexes: none stays elsewhere and none is to be rebuilt */
		SELECT h.rank, h.owner, h.destination,
			bool_and(coalesce(x.destination = h.destination AND x.method IS NULL, false))
				FILTER (WHERE x.action = 'move' OR x.from_tablespace <> h.destination)
				AS with_indexes
		FROM item h
		LEFT JOIN item x ON x.owner = h.owner AND x.kind = 'index'
		WHERE h.kind = 'heap' AND h.action = 'move'
		GROUP BY h.rank, h.owner, h.destination
	), indexes AS (
		SELECT min(m.rank) AS rank, s.subject, m.destination, m.method,
			array_agg(m.relation ORDER BY m.rank) AS moved
		FROM item m
		CROSS JOIN LATERAL (SELECT coalesce(target, m.owner) AS subject) s
		WHERE m.kind = 'index' AND m.action = 'move'
			AND NOT EXISTS (SELECT FROM heap h WHERE h.owner = m.owner AND h.with_indexes)
		GROUP BY s.subject, m.destination, m.method
	), partial AS (
		/* of a table with other indexes that move as well, or stay elsewhere */
		SELECT DISTINCT x.subject, x.destination, x.method
		FROM indexes x JOIN item i ON i.owner = x.subject
		WHERE target IS NULL AND i.kind = 'index' AND i.relation <> ALL (x.moved)
			AND (i.action = 'move' OR i.from_tablespace <> x.destination)
	)
	SELECT h.rank, format('CALL %s(%s, %s%s);', tablespace_advisor.written_call('move_table_concurrently'),
		tablespace_advisor.written_argument('move_table_concurrently',
			tablespace_advisor.written_relation(h.owner), 'regclass'),
		tablespace_advisor.written_argument('move_table_concurrently', h.destination, 'name'),
		CASE WHEN h.with_indexes THEN ', with_indexes => true' ELSE '' END)
	FROM heap h
	UNION ALL
	SELECT x.rank, format('CALL %s(%s, %s%s%s);', tablespace_advisor.written_call('move_indexes_concurrently'),
		tablespace_advisor.written_argument('move_indexes_concurrently',
			tablespace_advisor.written_relation(x.subject), 'regclass'),
		tablespace_advisor.written_argument('move_indexes_concurrently', x.destination, 'name'),
		CASE WHEN x.subject <> x.moved[1] AND (p.subject IS NOT NULL OR target IS NOT NULL AND EXISTS
				(SELECT FROM item i WHERE i.kind = 'index' AND i.relation <> ALL (x.moved)
					AND (i.action = 'move' OR i.from_tablespace <> x.destination)))
			THEN ', indexes => ' || tablespace_advisor.written_argument('move_indexes_concurrently',
				array(SELECT tablespace_advisor.written_relation(m)
					FROM unnest(x.moved) WITH ORDINALITY m (m, n) ORDER BY n)::text, 'regclass[]')
			ELSE '' END,
		CASE WHEN x.method IS NOT NULL THEN ', method => '
			|| tablespace_advisor.written_argument('move_indexes_concurrently', x.method, 'text') ELSE '' END)
	FROM indexes x
	LEFT JOIN partial p ON p.subject = x.subject AND p.destination = x.destination
		AND coalesce(p.method, '') = coalesce(x.method, '')
$$;
COMMENT ON FUNCTION tablespace_advisor.move_calls(regclass, tablespace_advisor.advice_row[]) IS
	'the calls that make the moves of an advice; rank: of the first of a call''s moves';

CREATE FUNCTION tablespace_advisor.statement_lines(target regclass, advice tablespace_advisor.advice_row[])
RETURNS SETOF text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	/* more than anybody runs by hand */
	shown CONSTANT int := 20;
	statements text[];
BEGIN
	statements := array(
		SELECT (a.advice).statement
		FROM unnest(advice) WITH ORDINALITY a (advice, evidence, n)
		WHERE (a.advice).action <> 'move' AND (a.advice).statement IS NOT NULL
		GROUP BY (a.advice).statement
		ORDER BY min(CASE (a.advice).action WHEN 'probe first' THEN 0 ELSE 1 END), min(a.n))
		|| array(SELECT m.call FROM tablespace_advisor.move_calls(target, advice) m
			ORDER BY m.rank, m.call);
	IF cardinality(statements) > shown THEN
		RETURN QUERY SELECT format('Statements: %s; advise_placement() has each relation''s.',
			cardinality(statements));
	ELSE
		RETURN QUERY SELECT s FROM unnest(statements) s;
	END IF;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.statement_lines(regclass, tablespace_advisor.advice_row[]) IS
	'the statements that follow an advice, each a line, probes first and moves last';
