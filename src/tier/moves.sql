/* Copyright (c) 2026, The tablespace_advisor developers */

/* Moves of all databases of the server. */

CREATE FUNCTION tablespace_advisor.moves_of(
	database_oid oid, since timestamptz,
	OUT job_id bigint, OUT relation_name text, OUT from_tablespace name,
	OUT to_tablespace name, OUT method text, OUT state text, OUT phase text,
	OUT bytes_total bigint, OUT bytes_done bigint, OUT percent float8,
	OUT mb_per_s float8, OUT eta interval, OUT error text, OUT owner name,
	OUT pid int, OUT queued_at timestamptz, OUT started_at timestamptz,
	OUT finished_at timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_moves_of'
LANGUAGE C STRICT VOLATILE ROWS 10;
COMMENT ON FUNCTION tablespace_advisor.moves_of(oid, timestamptz) IS
	'moves of a database that have not ended, or not before that time; error without a job_id: why they are not known. A worker looks into other databases (53000: no worker slot is free)';

CREATE FUNCTION tablespace_advisor.moves_everywhere(since interval)
RETURNS TABLE (database name, job_id bigint, relation_name text,
	from_tablespace name, to_tablespace name, method text, state text,
	phase text, bytes_total bigint, bytes_done bigint, percent float8,
	mb_per_s float8, eta interval, error text, owner name, pid int,
	queued_at timestamptz, started_at timestamptz, finished_at timestamptz)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	WITH db AS MATERIALIZED (
		SELECT d.oid, d.datname, tablespace_advisor.is_database_locked(d.oid) AS is_locked
		FROM pg_database d
		WHERE d.datallowconn AND d.datconnlimit <> -2
	)
	SELECT d.datname, m.*
	FROM db d
		CROSS JOIN LATERAL tablespace_advisor.moves_of(d.oid,
			clock_timestamp() - since) m
	WHERE NOT d.is_locked
	UNION ALL
	SELECT d.datname, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
		NULL, NULL, 'Somebody has locked the database.', NULL, NULL, NULL, NULL, NULL
	FROM db d
	WHERE d.is_locked
	ORDER BY 1, 2
$$;
COMMENT ON FUNCTION tablespace_advisor.moves_everywhere(interval) IS
	'all_tablespace_moves() as the bootstrap superuser sees it';

CREATE FUNCTION @extschema@.all_tablespace_moves(
	since interval DEFAULT '1 hour',
	OUT database name, OUT job_id bigint, OUT relation_name text,
	OUT from_tablespace name, OUT to_tablespace name, OUT method text,
	OUT state text, OUT phase text, OUT bytes_total bigint,
	OUT bytes_done bigint, OUT percent float8, OUT mb_per_s float8,
	OUT eta interval, OUT error text, OUT owner name, OUT pid int,
	OUT queued_at timestamptz, OUT started_at timestamptz,
	OUT finished_at timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_all_tablespace_moves'
LANGUAGE C VOLATILE ROWS 10;
REVOKE ALL ON FUNCTION @extschema@.all_tablespace_moves(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.all_tablespace_moves(interval) TO pg_monitor;
COMMENT ON FUNCTION @extschema@.all_tablespace_moves(interval) IS
	'moves of all databases of the server that have not ended, or ended no longer than that ago; columns of tablespace_moves, owner by name, error without a job_id: why a database''s moves are not known. Errors: 22004 null, 53000 no worker slot is free for another database, 08006 one could not be looked into';
