/*
 * src/advise/room.sql
 *
 * The worth of more room in a tablespace.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.curve_of(
	relations tablespace_advisor.relation_fact[],
	tablespaces tablespace_advisor.tablespace_fact[],
	load tablespace_advisor.load_fact,
	of_tablespace name,
	steps int)
RETURNS TABLE (bytes bigint, saved_ms_per_s float8, saved_percent float8,
	saved_per_gb float8, relations bigint)
LANGUAGE C STRICT STABLE
AS 'MODULE_PATHNAME', 'tsa_curve_of';
COMMENT ON FUNCTION tablespace_advisor.curve_of(tablespace_advisor.relation_fact[], tablespace_advisor.tablespace_fact[], tablespace_advisor.load_fact, name, int) IS
	'placement_curve() from facts handed over. Errors: 22023 no curve, 54000 too many devices, 53200 out of memory';

CREATE FUNCTION tablespace_advisor.gather_curve(caller oid, of_tablespace name, steps int)
RETURNS TABLE (bytes bigint, saved_ms_per_s float8, saved_percent float8,
	saved_per_gb float8, relations bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
#variable_conflict use_column
DECLARE
	destination name := tablespace_advisor.check_destination(of_tablespace, true);
	tablespaces tablespace_advisor.tablespace_fact[];
	facts tablespace_advisor.relation_fact[];
	seen record;
BEGIN
	IF destination IS NULL THEN
		RAISE EXCEPTION 'tablespace must not be null' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF steps IS NULL THEN
		RAISE EXCEPTION 'steps must not be null' USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF steps NOT BETWEEN 1 AND 1000 THEN
		RAISE EXCEPTION 'steps must be between 1 and 1000'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	SELECT * INTO seen FROM tablespace_advisor.gather_load(NULL, '{}'::oid[]);
	tablespaces := array(SELECT f FROM tablespace_advisor.with_present_latency(
		array(SELECT t FROM tablespace_advisor.tablespace_facts(caller, caller) t),
		seen.devices) f);
	tablespaces := tablespaces || array(SELECT f
		FROM tablespace_advisor.assumed_facts(tablespaces) f);
	IF NOT EXISTS (SELECT FROM unnest(tablespaces) f
		WHERE f.tablespace = destination AND f.random_read_us IS NOT NULL)
	THEN
		RAISE EXCEPTION 'nothing was measured of tablespace "%"', destination
			USING ERRCODE = 'object_not_in_prerequisite_state',
				HINT = 'Run probe_tablespace() first.';
	END IF;
	facts := tablespace_advisor.relation_facts(
		seen.rates, array(SELECT t FROM tablespace_advisor.tables_of_interest('{}',
			ARRAY[destination], seen.rates, false) t), 1::bigint << 62);
	IF coalesce(current_setting('io_method', true), 'sync') = 'sync' THEN
		tablespaces := array(SELECT f FROM tablespace_advisor.with_timed_latency(
			tablespaces, facts, seen.load) f);
	END IF;
	RETURN QUERY SELECT c.* FROM tablespace_advisor.curve_of(
		facts, tablespaces, seen.load, destination, steps) c;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.gather_curve(oid, name, int) IS
	'placement_curve() for a role';

CREATE FUNCTION @extschema@.placement_curve(
	tablespace name,
	steps int DEFAULT 20,
	OUT bytes bigint,
	OUT saved_ms_per_s float8,
	OUT saved_percent float8,
	OUT saved_per_gb float8,
	OUT relations bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_placement_curve';
COMMENT ON FUNCTION @extschema@.placement_curve(name, int) IS
	'what the best placement would save over the present one, in milliseconds of reading per second and percent of all reading (a loss: of all that there would be), if a tablespace had so many bytes of room in all, from none to all that could be there; saved_per_gb: milliseconds of reading per second that one more GB (2^30 bytes) saves from the row before on; relations: how many would be there; NULL where what is there now fits nowhere else. Errors: 42704 no such tablespace, 55000 not probed, 22023 bad steps, 22004 nulls, 42501 not a member of pg_monitor';
