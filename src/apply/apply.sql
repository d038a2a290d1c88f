/*
 * src/apply/apply.sql
 *
 * The plan of a round of apply_placement(): it undoes moves that made reading
 * slower, or follows the advice.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE TYPE tablespace_advisor.planned_move AS (
	relation oid,
	heap oid,
	kind "char",
	schema_name name,
	relation_name name,
	persistence "char",
	tablespace oid,
	to_tablespace oid,
	size_bytes bigint,
	method text,
	goes_along boolean,
	saved_ms_per_s float8,
	wave int,
	reason text,
	is_undo boolean
);
COMMENT ON TYPE tablespace_advisor.planned_move IS
	'a move of a round: from where to where, bytes it takes there, its expected saving; wave: moves that fit at the same time; reason: why; is_undo: it goes back';

/* A relation as the catalogs know it now; none if it is not where it was. */
CREATE FUNCTION tablespace_advisor.plan_move(
	relation oid,
	from_tablespace oid,
	to_tablespace oid,
	size_bytes bigint,
	method text,
	saved_ms_per_s float8,
	reason text)
RETURNS SETOF tablespace_advisor.planned_move
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT c.oid, coalesce(i.indrelid, c.oid), c.relkind, n.nspname, c.relname,
		c.relpersistence, from_tablespace, to_tablespace, plan_move.size_bytes,
		CASE WHEN c.relpersistence = 'u' THEN 'rebuild' ELSE method END, false,
		saved_ms_per_s, 1, reason, false
	FROM pg_class c
	JOIN pg_namespace n ON n.oid = c.relnamespace
	JOIN pg_database d ON d.datname = current_database()
	LEFT JOIN pg_index i ON i.indexrelid = c.oid
	WHERE c.oid = plan_move.relation AND c.relkind IN ('r', 'm', 'i')
		AND coalesce(nullif(c.reltablespace, 0), d.dattablespace) = from_tablespace
$$;
COMMENT ON FUNCTION tablespace_advisor.plan_move(oid, oid, oid, bigint, text, float8, text) IS
	'the move of a relation, if it is still where it is to leave';

/* May a role move a relation to a tablespace? */
CREATE FUNCTION tablespace_advisor.may_move(caller oid, relation oid, to_tablespace oid)
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(pg_has_role(caller, c.relowner, 'USAGE')
		AND (to_tablespace = d.dattablespace
			OR has_tablespace_privilege(caller, to_tablespace, 'CREATE')), false)
	FROM pg_class c JOIN pg_database d ON d.datname = current_database()
	WHERE c.oid = may_move.relation
$$;
COMMENT ON FUNCTION tablespace_advisor.may_move(oid, oid, oid) IS
	'whether a role owns a relation and may make one in the tablespace';

/* Moves of earlier rounds that could be undone now, and whether each is to be. */
CREATE FUNCTION tablespace_advisor.undoable_moves(caller oid)
RETURNS TABLE (round_id bigint, job_id bigint, is_slower boolean, all_slower boolean,
	move tablespace_advisor.planned_move)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
SET jit = off	-- beside 100 000 ended moves: 16 s with it, 2 s without
AS $$
	WITH outcome AS MATERIALIZED (
		SELECT o.job_id, o.saved_ms_per_s,
			o.verdict = 'slower' AS is_at_fault, t.all_slower
		FROM @extschema@.move_outcomes o
		CROSS JOIN LATERAL (SELECT coalesce(o.batch_saved_high_ms_per_s < 0, false)
			AS all_slower) t
		WHERE t.all_slower OR coalesce(o.measured, false) AND o.verdict = 'slower'
	), slower AS MATERIALIZED (
		SELECT r.round_id, o.is_at_fault, o.all_slower, o.saved_ms_per_s, j.job_id, j.relation,
			j.from_tablespace, j.to_tablespace, j.to_tablespace_name
		FROM tablespace_advisor.placement_round r
		JOIN tablespace_advisor.job j ON j.batch_id = r.batch_id
		JOIN outcome o ON o.job_id = j.job_id
		WHERE NOT r.is_undo AND j.state = 'done' AND j.method <> 'catalog'
			AND j.from_tablespace <> j.to_tablespace
	)
	SELECT s.round_id, s.job_id, s.is_at_fault, s.all_slower, p
	FROM slower s
	CROSS JOIN LATERAL tablespace_advisor.plan_move(
		s.relation, s.to_tablespace, s.from_tablespace,
		tablespace_advisor.relation_bytes(s.relation), 'copy', -s.saved_ms_per_s,
		format('reading it took %s ms/s more in %I',
			tablespace_advisor.three_digits(-s.saved_ms_per_s), s.to_tablespace_name)) p
	WHERE s.job_id = (SELECT max(l.job_id) FROM tablespace_advisor.job l
			WHERE l.relation = s.relation AND l.state = 'done')
		AND NOT EXISTS (SELECT FROM tablespace_advisor.placement_pin n
			WHERE n.relation = s.relation
				AND coalesce(n.ends_at, 'infinity') > clock_timestamp())
		AND tablespace_advisor.may_move(caller, s.relation, s.from_tablespace)
$$;
COMMENT ON FUNCTION tablespace_advisor.undoable_moves(oid) IS
	'moves back of those that rounds made after which reading took longer, as far as a role may make them and nobody has pinned the relation; is_slower: by its own reads, beyond the interval and the forecast; all_slower: so are all moves that are judged with it';

/*
 * A slower move goes back.  If there is not room for it, as relations that came in
 * its place are still there, all of its round goes back if that is slower, too.
 */
CREATE FUNCTION tablespace_advisor.undo_moves(caller oid)
RETURNS SETOF tablespace_advisor.planned_move
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH undoable AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.undoable_moves(caller)
	), change AS (
		SELECT u.round_id, c.tablespace, sum(c.bytes) AS bytes
		FROM undoable u
		CROSS JOIN LATERAL (VALUES ((u.move).to_tablespace, (u.move).size_bytes),
			((u.move).tablespace, -(u.move).size_bytes)) c(tablespace, bytes)
		WHERE u.is_slower
		GROUP BY 1, 2
	), judged AS (
		SELECT c.round_id, bool_and(c.bytes <= 0 OR coalesce(c.bytes
			<= tablespace_advisor.room_of(d.free_bytes, d.size_bytes), true)) AS fits
		FROM change c
		JOIN pg_tablespace t ON t.oid = c.tablespace
		LEFT JOIN tablespace_advisor.device d ON d.tablespace = t.spcname
		GROUP BY c.round_id
	)
	SELECT (u.move).*
	FROM undoable u JOIN judged g USING (round_id)
	WHERE CASE WHEN g.fits THEN u.is_slower ELSE u.all_slower END
	ORDER BY u.job_id DESC
$$;
COMMENT ON FUNCTION tablespace_advisor.undo_moves(oid) IS
	'moves that undo those of earlier rounds that made reading slower, the last one first';

/*
 * Names the relations that a round leaves since its caller may not move them.
 */
CREATE FUNCTION tablespace_advisor.tell_skipped(caller oid, rows tablespace_advisor.advice_row[])
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	skipped record;
BEGIN
	FOR skipped IN
		SELECT s.why, count(*) AS n,
			string_agg(tablespace_advisor.written_relation(s.relation), ', ' ORDER BY s.rank)
				FILTER (WHERE s.place <= 3) AS names
		FROM (SELECT w.*, row_number() OVER (PARTITION BY w.why ORDER BY w.rank) AS place
			FROM (SELECT (r.advice).relation, (r.advice).rank,
					CASE WHEN pg_has_role(caller, c.relowner, 'USAGE')
						THEN format('to tablespace %I, for which CREATE is not granted', t.spcname)
						ELSE 'of other owners' END AS why
				FROM unnest(rows) r
				JOIN pg_class c ON c.oid = (r.advice).relation
				JOIN pg_tablespace t ON t.spcname = (r.advice).to_tablespace
				WHERE (r.advice).action = 'move'
					AND NOT tablespace_advisor.may_move(caller, c.oid, t.oid)) w) s
		GROUP BY s.why ORDER BY s.why
	LOOP
		RAISE NOTICE '%', tablespace_advisor.printable(format('skipped for lack of rights: %s %s %s',
				skipped.n, CASE skipped.n WHEN 1 THEN 'move' ELSE 'moves' END, skipped.why))
			USING DETAIL = tablespace_advisor.printable(format('Relations: %s%s.', skipped.names,
				CASE WHEN skipped.n > 3 THEN ', ...' ELSE '' END));
	END LOOP;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.tell_skipped IS
	'a notice per reason for which a role may not make moves of an advice, with their number and the first three relations';

/*
 * The advice as moves, by the samples of up to a week, so that a load that is
 * another one every other day, or at weekends, does not make it go to and fro with
 * the days.  Of a bundle all or none: none if one of it has moved within a week, is
 * not the caller's, goes down where standbys may read it, or does not fit into the
 * rest of max_bytes.
 */
CREATE FUNCTION tablespace_advisor.advised_moves(
	caller oid,
	space_budget text,
	max_bytes bigint)
RETURNS SETOF tablespace_advisor.planned_move
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	rows tablespace_advisor.advice_row[];
	bundle record;
	bytes_left bigint := coalesce(max_bytes, 4611686018427387904);
BEGIN
	rows := array(SELECT ROW(g.advice, g.evidence)::tablespace_advisor.advice_row
		FROM tablespace_advisor.gather_advice(caller, NULL, NULL, space_budget, NULL, true,
			history => '7 days') g);
	IF EXISTS (SELECT FROM unnest(rows) r
		WHERE r.evidence #>> '{window,source}' IS DISTINCT FROM 'samples')
	THEN
		RAISE EXCEPTION 'there are no samples to rest on'
			USING ERRCODE = 'object_not_in_prerequisite_state',
				DETAIL = 'Totals of the statistics do not say what was read lately.',
				HINT = 'Preload the library, or CALL sample_activity() from time to time.';
	END IF;
	PERFORM tablespace_advisor.tell_skipped(caller, rows);
	FOR bundle IN
		SELECT b.id, sum(b.bytes) AS bytes, array_agg(b.move ORDER BY b.rank) AS moves
		FROM (SELECT m.*, coalesce(r.evidence #>> '{choice,bundle}', 'too full') AS id,
				(r.evidence #>> '{move,bytes}')::bigint AS bytes, (r.advice).rank AS rank,
				p AS move,
				EXISTS (SELECT FROM tablespace_advisor.left_lately() l
					WHERE l.relation = (r.advice).relation) AS moved_lately,
				(r.advice).saved_ms_per_s < 0
					AND r.evidence #> '{window,standbys}' IS NOT NULL AS is_not_asked
			FROM unnest(rows) r
			JOIN pg_tablespace f ON f.spcname = (r.advice).from_tablespace
			JOIN pg_tablespace t ON t.spcname = (r.advice).to_tablespace
			CROSS JOIN LATERAL (SELECT tablespace_advisor.may_move(
				caller, (r.advice).relation, t.oid) AS may) m
			LEFT JOIN LATERAL tablespace_advisor.plan_move((r.advice).relation, f.oid, t.oid,
				(r.evidence #>> '{move,bytes}')::bigint,
				coalesce(r.evidence #>> '{move,method}', 'copy'),
				(r.advice).saved_ms_per_s, (r.advice).reason) p ON true
			WHERE (r.advice).action = 'move') b
		GROUP BY b.id
		HAVING bool_and(b.may) AND NOT bool_or(b.moved_lately)
			AND NOT bool_or(b.is_not_asked) AND bool_and((b.move).relation IS NOT NULL)
		ORDER BY min(b.rank)
	LOOP
		CONTINUE WHEN bundle.bytes > bytes_left;
		bytes_left := bytes_left - bundle.bytes;
		RETURN QUERY SELECT m.* FROM unnest(bundle.moves::tablespace_advisor.planned_move[]) m;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.advised_moves(oid, text, bigint) IS
	'moves of the advice on the whole database, of a bundle all or nothing, as far as a role may, at most so many bytes. Errors: 55000 no samples, 22023 bad budget';

/*
 * Moves in order, in as few waves as fit: the room that a wave frees is for
 * the next one.
 */
CREATE FUNCTION tablespace_advisor.plan_round(
	caller oid,
	space_budget text,
	max_bytes bigint,
	verify boolean)
RETURNS SETOF tablespace_advisor.planned_move
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	m tablespace_advisor.planned_move;
	moves tablespace_advisor.planned_move[] := '{}';
	is_undo boolean;
	taken jsonb := '{}';
	free bigint;
	wave int := 1;
BEGIN
	IF verify THEN
		moves := array(SELECT u FROM tablespace_advisor.undo_moves(caller) u);
	END IF;
	is_undo := cardinality(moves) > 0;
	IF NOT is_undo THEN
		moves := array(SELECT a FROM tablespace_advisor.advised_moves(
			caller, space_budget, max_bytes) a);
	END IF;
	FOREACH m IN ARRAY moves LOOP
		SELECT tablespace_advisor.room_of(d.free_bytes, d.size_bytes) INTO free
		FROM tablespace_advisor.device d
		JOIN pg_tablespace t ON t.spcname = d.tablespace WHERE t.oid = m.to_tablespace;
		IF coalesce((taken ->> m.to_tablespace::text)::bigint, 0) + m.size_bytes > free
			AND taken <> '{}'
		THEN
			wave := wave + 1;
			taken := '{}';
		END IF;
		taken := taken || jsonb_build_object(m.to_tablespace::text,
			coalesce((taken ->> m.to_tablespace::text)::bigint, 0) + m.size_bytes);
		m := jsonb_populate_record(m, jsonb_build_object('wave', wave, 'is_undo', is_undo));
		RETURN NEXT m;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.plan_round(oid, text, bigint, boolean) IS
	'the moves of a round of apply_placement(), in order: undos of moves that made reading slower if there are any (and verify), else the advice';

/*
 * Pins relations that rounds have moved back since this was last called, for as
 * long as the reason is kept: also those of a round that had lost its session by
 * then.
 */
CREATE FUNCTION tablespace_advisor.finish_rounds()
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s'
AS $$
DECLARE
	moved record;
	days int := current_setting('tablespace_advisor.keep_history');
	finished bigint[] := array(SELECT r.batch_id FROM tablespace_advisor.placement_round r
		WHERE NOT r.is_finished AND NOT EXISTS (SELECT FROM tablespace_advisor.job j
			WHERE j.batch_id = r.batch_id AND tablespace_advisor.is_unfinished(j.state))
		FOR UPDATE SKIP LOCKED);
BEGIN
	FOR moved IN SELECT DISTINCT ON (j.relation) j.relation, j.from_tablespace_name, j.owner,
			j.finished_at
		FROM tablespace_advisor.placement_round r
		JOIN tablespace_advisor.job j ON j.batch_id = r.batch_id
		WHERE r.batch_id = ANY (finished) AND r.is_undo AND j.state = 'done'
			AND j.method <> 'catalog'
		ORDER BY j.relation, j.job_id DESC
	LOOP
		BEGIN
			INSERT INTO tablespace_advisor.placement_pin (relation, reason, pinned_by, ends_at)
			VALUES (moved.relation,
				format('moved back, reading was slower in %I', moved.from_tablespace_name),
				moved.owner,
				CASE WHEN days > 0 THEN moved.finished_at + make_interval(days => days) END)
			ON CONFLICT (relation) DO NOTHING;
		EXCEPTION WHEN lock_not_available THEN
			NULL;	-- its owner pins it, in a transaction that has not ended
		END;
	END LOOP;
	UPDATE tablespace_advisor.placement_round r SET is_finished = true
	WHERE r.batch_id = ANY (finished);
	DELETE FROM tablespace_advisor.placement_round r
	WHERE r.batch_id = ANY (array(SELECT f.batch_id FROM tablespace_advisor.placement_round f
		WHERE NOT EXISTS (SELECT FROM tablespace_advisor.job j WHERE j.batch_id = f.batch_id)
		FOR UPDATE SKIP LOCKED));
END
$$;
COMMENT ON FUNCTION tablespace_advisor.finish_rounds() IS
	'pins the relations that ended rounds of apply_placement() have moved back, and forgets rounds that the journal has forgotten';

CREATE PROCEDURE @extschema@.apply_placement(
	space_budget text DEFAULT NULL,
	max_bytes text DEFAULT NULL,
	verify boolean DEFAULT true,
	max_rate text DEFAULT NULL,
	min_rate text DEFAULT NULL,
	lock_timeout interval DEFAULT '100 ms',
	until timestamptz DEFAULT NULL,
	finish_by timestamptz DEFAULT NULL,
	dry_run boolean DEFAULT false,
	during text DEFAULT NULL,
	INOUT job_ids bigint[] DEFAULT NULL)
AS 'MODULE_PATHNAME', 'tsa_apply_placement'
LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.apply_placement(
	text, text, boolean, text, text, interval, timestamptz, timestamptz, boolean, text, bigint[]) IS
	'follows the advice on the whole database, bundle by bundle, at most max_bytes; or, if reading got slower after an earlier round (verify), undoes that one and pins its relations; to be called again and again, as by pg_cron. Errors: 55000 no samples, 55006 another round, or a move of one, is under way, 42501 not a member of pg_monitor, 22023 bad sizes, others as of move_table_concurrently(); a relation that could not be moved is a warning';
