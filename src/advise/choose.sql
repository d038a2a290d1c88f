/*
 * src/advise/choose.sql
 *
 * Which of the moves that could be worth it are made, when not all of them fit.
 */
CREATE TYPE tablespace_advisor.placement_choice AS (
	relation regclass,
	destination name,
	action text,
	saved_ms_per_s float8,
	bytes bigint,
	bound_ms_per_s float8,
	is_exact boolean,
	turn int,
	bundle int,
	makes_room_for regclass,
	ms_per_s_and_gb float8,
	finding text
);
COMMENT ON TYPE tablespace_advisor.placement_choice IS
	'what to do with a relation: destination of a move, the verdict, what it saves, the bytes it takes there; finding: what that rests on (judge.sql; "too full", "makes room": what the others do); of moves that share a budget bound_ms_per_s is what no choice could exceed together, is_exact says that none is better; turn: order in which each move fits when its turn comes; bundle: moves that need each other; makes_room_for: what comes up in its stead; ms_per_s_and_gb: what another GB of room in the destination would save';

CREATE FUNCTION tablespace_advisor.plan_moves(
	present bigint[],
	sizes bigint[],
	moved_sizes bigint[],
	cell_items bigint[],
	cell_places bigint[],
	cell_saved float8[],
	rooms bigint[],
	free bigint[],
	budget bigint,
	tables bigint[],
	cell_seconds float8[],
	table_ms float8[],
	table_bytes float8[],
	OUT item bigint,
	OUT place bigint,
	OUT nth int,
	OUT bundle int,
	OUT verdict int,
	OUT makes_room_for bigint,
	OUT bound float8,
	OUT is_exact boolean,
	OUT price float8)
RETURNS SETOF record
LANGUAGE C STRICT IMMUTABLE
AS 'MODULE_PATHNAME', 'tsa_plan_moves';
COMMENT ON FUNCTION tablespace_advisor.plan_moves(bigint[], bigint[], bigint[], bigint[], bigint[], float8[], bigint[], bigint[], bigint, bigint[], float8[], float8[], float8[]) IS
	'the moves that lead from where relations are (present: place of each, from 1) to where all together are read fastest (plan_moves.c); cells: where each could be, what that saves and how long the move takes; nth: order, 0: not made, verdict: 0 made, 1 saves too little, 2 not repaid within a week, 3 no order in which each fits; price: what one more byte there would save. Errors: 2202E lists of different length, 22023 bad numbers, 54000 too many places, 53200 out of memory';

CREATE FUNCTION tablespace_advisor.savings_by_room(
	present bigint[],
	sizes bigint[],
	moved_sizes bigint[],
	cell_items bigint[],
	cell_places bigint[],
	cell_saved float8[],
	rooms bigint[],
	free bigint[],
	place bigint,
	steps bigint[],
	item_reads float8[],
	OUT bytes bigint,
	OUT saved float8,
	OUT relations bigint,
	OUT reads float8[])
RETURNS SETOF record
LANGUAGE C STRICT IMMUTABLE
AS 'MODULE_PATHNAME', 'tsa_savings_by_room';
COMMENT ON FUNCTION tablespace_advisor.savings_by_room(bigint[], bigint[], bigint[], bigint[], bigint[], float8[], bigint[], bigint[], bigint, bigint[], float8[]) IS
	'what the best placement saves, each move taken alone, if the room of a place has so many bytes in all (steps rise), how many relations are there then, and how often each place is read, items being read item_reads times a second; NULL where nothing fits. Other arguments and errors as of plan_moves()';

/*
 * Tablespaces that are on one device have one room: the least that is free by
 * any of them.
 */
CREATE FUNCTION tablespace_advisor.tablespace_rooms(
	tablespaces tablespace_advisor.tablespace_fact[],
	OUT tablespace name,
	OUT place bigint,
	OUT room bigint,
	OUT free bigint)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH device AS (
		SELECT f.tablespace, f.available_bytes,
			(SELECT min(o.tablespace::text COLLATE "C") FROM unnest(tablespaces) o
				WHERE o.tablespace = f.tablespace
					OR o.tablespace = ANY (f.shares_device_with)
					OR f.tablespace = ANY (o.shares_device_with)) AS device
		FROM unnest(tablespaces) f
	)
	SELECT d.tablespace,
		row_number() OVER (ORDER BY d.tablespace::text COLLATE "C"),
		dense_rank() OVER (ORDER BY d.device),
		coalesce(min(greatest(0, d.available_bytes)) OVER (PARTITION BY d.device),
			1125899906842624)
	FROM device d
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_rooms(tablespace_advisor.tablespace_fact[]) IS
	'tablespaces with their number, the number of their device, and the bytes that are free there';
