/*
 * src/advise/choose.sql
 *
 * Which of the moves that are worth it are made, when not all of them fit.
 */
CREATE TYPE tablespace_advisor.placement_choice AS (
	relation regclass,
	destination name,
	action text,
	reason text,
	statement text,
	saved_ms_per_s float8,
	bytes bigint,
	bound_ms_per_s float8,
	is_exact boolean
);
COMMENT ON TYPE tablespace_advisor.placement_choice IS
	'what to do with a relation: destination of a move, the verdict, what it saves, the bytes it takes there; of moves that share a budget bound_ms_per_s is what no choice could exceed together, is_exact says that none is better';

/*
 * Fills tablespaces from the fastest to the slowest, each with the set of
 * candidates that saves most in the room there is and the budget left
 * (choose_within()); by_margin: that saves most over what the next ones offer.
 * Tablespaces on one device have one room.
 */
CREATE FUNCTION tablespace_advisor.fill_in_turn(
	candidates tablespace_advisor.placement_choice[],
	tablespaces tablespace_advisor.tablespace_fact[],
	budget_bytes bigint,
	by_margin boolean)
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	no_limit CONSTANT bigint := 4611686018427387904;
	tier tablespace_advisor.tablespace_fact;
	open tablespace_advisor.placement_choice[];
	margins float8[];
	taken tablespace_advisor.placement_choice[] := '{}';
	room bigint;
	chosen record;
BEGIN
	FOR tier IN
		SELECT f.* FROM unnest(tablespaces) f
		WHERE f.tablespace IN (SELECT c.destination FROM unnest(candidates) c)
		ORDER BY f.random_read_us, f.tablespace
	LOOP
		WITH later AS (
			SELECT c.relation, max(c.saved_ms_per_s) AS saved
			FROM unnest(candidates) c JOIN unnest(tablespaces) f ON f.tablespace = c.destination
			WHERE by_margin AND c.bytes <= coalesce(f.available_bytes, no_limit)
				AND (f.random_read_us, f.tablespace)
					> (tier.random_read_us, tier.tablespace)
			GROUP BY c.relation
		), here AS (
			SELECT c, c.saved_ms_per_s - coalesce(l.saved, 0) AS margin,
				row_number() OVER (ORDER BY
					c.saved_ms_per_s / nullif(c.bytes, 0) DESC NULLS FIRST,
					c.relation::oid) AS nth
			FROM unnest(candidates) c LEFT JOIN later l ON l.relation = c.relation
			WHERE c.destination = tier.tablespace
				AND NOT EXISTS (SELECT FROM unnest(taken) t
					WHERE t.relation = c.relation)
		)
		SELECT coalesce(array_agg(h.c ORDER BY h.nth), '{}'),
			coalesce(array_agg(h.margin ORDER BY h.nth), '{}')
		INTO open, margins FROM here h;
		SELECT least(coalesce(tier.available_bytes, no_limit)
					- coalesce(sum(t.bytes) FILTER (WHERE t.destination
						= ANY (tier.shares_device_with || tier.tablespace)), 0),
				coalesce(budget_bytes, no_limit) - coalesce(sum(t.bytes), 0))
			INTO room FROM unnest(taken) t;
		SELECT * INTO chosen FROM tablespace_advisor.choose_within(
			array(SELECT c.bytes FROM unnest(open) c), margins, greatest(room, 0));
		taken := taken || array(
			SELECT ROW(c.relation, c.destination, c.action, c.reason,
				c.statement, c.saved_ms_per_s, c.bytes, chosen.bound,
				chosen.is_exact)::tablespace_advisor.placement_choice
			FROM unnest(open, chosen.chosen)
				AS c (relation, destination, action, reason, statement,
					saved_ms_per_s, bytes, bound_ms_per_s, is_exact, is_chosen)
			WHERE c.is_chosen);
	END LOOP;
	RETURN QUERY SELECT t.* FROM unnest(taken) t;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.fill_in_turn(tablespace_advisor.placement_choice[], tablespace_advisor.tablespace_fact[], bigint, boolean) IS
	'of the candidates those to move, each to one tablespace, the fastest filled first with what saves most there, or, by_margin, most over what slower ones offer; bound_ms_per_s and is_exact are those of each tablespace by itself';

/*
 * For one tablespace the best choice (fill_in_turn()); for several the better
 * of two: each taken for itself, or by what it offers over the next.  No choice
 * saves more than one in which each relation is where it saves most and the
 * rooms of all tablespaces are one.
 */
CREATE FUNCTION tablespace_advisor.choose_moves(
	candidates tablespace_advisor.placement_choice[],
	tablespaces tablespace_advisor.tablespace_fact[],
	budget_bytes bigint)
RETURNS SETOF tablespace_advisor.placement_choice
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	moves tablespace_advisor.placement_choice[] := array(
		SELECT c FROM tablespace_advisor.fill_in_turn(candidates, tablespaces, budget_bytes, false) c);
	others tablespace_advisor.placement_choice[];
	saved float8;
	bound float8;
	/* of sums of the same numbers in another order */
	rounding CONSTANT float8 := 1e-9;
BEGIN
	IF (SELECT count(DISTINCT c.destination) FROM unnest(candidates) c) > 1 THEN
		others := array(SELECT c FROM tablespace_advisor.fill_in_turn(
			candidates, tablespaces, budget_bytes, true) c);
		saved := (SELECT sum(c.saved_ms_per_s) FROM unnest(moves) c);
		IF (SELECT sum(c.saved_ms_per_s) FROM unnest(others) c) > saved * (1 + rounding) THEN
			moves := others;
			saved := (SELECT sum(c.saved_ms_per_s) FROM unnest(moves) c);
		END IF;
		SELECT k.bound INTO bound
		FROM (SELECT array_agg(b.bytes ORDER BY b.relation) AS bytes,
				array_agg(b.saved ORDER BY b.relation) AS saved
			FROM (SELECT c.relation::oid, min(c.bytes) AS bytes, max(c.saved_ms_per_s) AS saved
				FROM unnest(candidates) c GROUP BY c.relation::oid) b) best
		CROSS JOIN (SELECT CASE WHEN bool_and(f.available_bytes IS NOT NULL)
				THEN sum(greatest(0, f.available_bytes)) END AS bytes
			FROM unnest(tablespaces) f
			WHERE f.tablespace IN (SELECT c.destination FROM unnest(candidates) c)) room
		CROSS JOIN LATERAL tablespace_advisor.choose_within(best.bytes, best.saved,
			least(room.bytes, budget_bytes, 4611686018427387904)::bigint) k;
		moves := array(SELECT ROW(c.relation, c.destination, c.action, c.reason,
				c.statement, c.saved_ms_per_s, c.bytes, bound,
				saved >= bound * (1 - rounding))::tablespace_advisor.placement_choice
			FROM unnest(moves) c);
	END IF;
	RETURN QUERY SELECT m.* FROM unnest(moves) m;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.choose_moves(tablespace_advisor.placement_choice[], tablespace_advisor.tablespace_fact[], bigint) IS
	'of the candidates those to move, each to one tablespace, so that they fit into the room of each and together into the budget (NULL: no limit); bound_ms_per_s: no choice saves more; is_exact: none saves more than this one';

REVOKE ALL ON FUNCTION
	tablespace_advisor.fill_in_turn(tablespace_advisor.placement_choice[],
		tablespace_advisor.tablespace_fact[], bigint, boolean),
	tablespace_advisor.choose_moves(tablespace_advisor.placement_choice[],
		tablespace_advisor.tablespace_fact[], bigint)
	FROM PUBLIC;
