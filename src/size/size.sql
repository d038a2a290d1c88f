/*
 * Size: how large pgbench -i makes a database, and which scale makes one of a
 * given size.
 *
 * The bodies are SQL-standard ones, bound when the extension is created, so
 * that they need no right on the schema that the functions behind them are in.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */

CREATE FUNCTION tablespace_advisor.pgbench_forks(
	scale int, fillfactor int, partitions int, bigint_scale int,
	OUT relation text, OUT fork text, OUT blocks bigint)
RETURNS SETOF record
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'pgbench_forks';
COMMENT ON FUNCTION tablespace_advisor.pgbench_forks(int, int, int, int) IS
	'blocks of each relation fork that pgbench -i makes, with a bigint "aid" from bigint_scale on (20000 in pgbench); serves estimate_pgbench_size()';

CREATE FUNCTION tablespace_advisor.pgbench_nearest_scale(
	target_bytes bigint, object text, fillfactor int, partitions int,
	empty_bytes bigint)
RETURNS int
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'pgbench_nearest_scale';
COMMENT ON FUNCTION tablespace_advisor.pgbench_nearest_scale(bigint, text, int, int, bigint) IS
	'scale at which pgbench -i comes nearest to a size in bytes, when an empty database has empty_bytes; serves estimate_pgbench_scale()';

CREATE FUNCTION tablespace_advisor.empty_database_bytes()
RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT pg_catalog.pg_database_size(d.oid)
	FROM pg_catalog.pg_database d
	WHERE d.datname IN ('template1', 'template0')
	ORDER BY d.datname DESC
	LIMIT 1;
END;
COMMENT ON FUNCTION tablespace_advisor.empty_database_bytes() IS
	'bytes that a new database of this server takes: the size of template1, which CREATE DATABASE copies (of template0 where there is no template1)';

CREATE FUNCTION tablespace_advisor.pgbench_catalog_bytes(partitions int)
RETURNS bigint
LANGUAGE c STABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'pgbench_catalog_bytes';
COMMENT ON FUNCTION tablespace_advisor.pgbench_catalog_bytes(int) IS
	'bytes by which the catalogs of a database grow with so many partitions, as measured with this version';

CREATE FUNCTION @extschema@.estimate_pgbench_size(
	scale int, fillfactor int DEFAULT 100, partitions int DEFAULT 0,
	OUT relation text, OUT fork text, OUT blocks bigint, OUT bytes bigint)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH forks AS MATERIALIZED (
		SELECT f.relation, f.fork, f.blocks,
			   f.blocks * pg_catalog.current_setting('block_size')::bigint AS bytes,
			   f.number
		FROM tablespace_advisor.pgbench_forks(scale, fillfactor, partitions, 20000)
			 WITH ORDINALITY AS f(relation, fork, blocks, number)
	), added AS (
		SELECT pg_catalog.sum(f.blocks)::bigint AS blocks,
			   pg_catalog.sum(f.bytes)::bigint AS bytes
		FROM forks f
	), listed AS (
		SELECT 1 AS part, f.number, f.relation, f.fork, f.blocks, f.bytes
		FROM forks f
		UNION ALL
		SELECT 2, NULL, 'database (added)', NULL, a.blocks, a.bytes
		FROM added a
		UNION ALL
		SELECT 3, NULL, 'catalogs (added)', NULL, NULL,
			   tablespace_advisor.pgbench_catalog_bytes(partitions)
		WHERE partitions > 0
		UNION ALL
		SELECT 4, NULL, 'database (total)', NULL, NULL,
			   a.bytes + tablespace_advisor.pgbench_catalog_bytes(partitions)
			   + tablespace_advisor.empty_database_bytes()
		FROM added a
	)
	SELECT l.relation, l.fork, l.blocks, l.bytes
	FROM listed l
	ORDER BY l.part, l.number;
END;
COMMENT ON FUNCTION @extschema@.estimate_pgbench_size(int, int, int) IS
	'size in blocks and bytes of each relation fork that "pgbench -i" of this server''s version makes, by page arithmetic; then their sum, "database (added)", the growth of catalogs with partitions, "catalogs (added)", and both with the size of template1, "database (total)". Errors: 22004 for NULL, 22023 for a value out of range, 54000 for a scale that does not fit a relation.';

CREATE FUNCTION @extschema@.estimate_pgbench_scale(
	target_size text, object text DEFAULT 'database',
	fillfactor int DEFAULT 100, partitions int DEFAULT 0)
RETURNS int
LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT tablespace_advisor.pgbench_nearest_scale(
		pg_catalog.pg_size_bytes(target_size), object, fillfactor, partitions,
		CASE WHEN object = 'database'
			 THEN tablespace_advisor.empty_database_bytes()
				+ tablespace_advisor.pgbench_catalog_bytes(partitions) END);
END;
COMMENT ON FUNCTION @extschema@.estimate_pgbench_scale(text, text, int, int) IS
	'scale at which "pgbench -i" comes nearest to target_size (text as pg_size_bytes() reads it) by the sizes of estimate_pgbench_size(), the smaller one of two; object: database (with the size of template1), table (pgbench_accounts with its forks) or index (pgbench_accounts_pkey). Errors: 22004 for NULL, 22023 for a value out of range or a size that cannot be read, 54000 for a target that no scale reaches, 3D000 where there is neither template1 nor template0.';
