/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/sample/residency.sql */

CREATE FUNCTION tablespace_advisor.relation_bytes(relation oid)
RETURNS bigint
LANGUAGE sql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.file_bytes(
		coalesce(nullif(c.reltablespace, 0), d.dattablespace), c.relfilenode)
	FROM pg_class c, pg_database d
	WHERE c.oid = relation AND d.datname = current_database()
		AND c.relfilenode <> 0 AND NOT c.relisshared AND c.relpersistence <> 't'
$$;

COMMENT ON FUNCTION tablespace_advisor.relation_bytes(oid) IS
	'bytes of all forks of a relation by its OID, without its TOAST table; NULL if it has no file, and for temporary relations and some catalogs. Takes no lock on it';

CREATE FUNCTION tablespace_advisor.relations_residency(
	relations oid[],
	max_bytes bigint DEFAULT 67108864,
	OUT relation oid,
	OUT blocks bigint,
	OUT shared_blocks bigint,
	OUT system_cache_blocks bigint,
	OUT system_only_blocks bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'relations_residency'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION tablespace_advisor.relations_residency(oid[], bigint) IS
	'per relation given: blocks of its main fork (NULL: no file), how many of them are in shared buffers, how many in the cache of the operating system (NULL: it does not say; extrapolated from some max_bytes of larger files), and how many in that cache only. Takes no lock on the relations';

CREATE FUNCTION tablespace_advisor.relation_residency(
	relation oid,
	OUT blocks bigint,
	OUT shared_blocks bigint,
	OUT system_cache_blocks bigint,
	OUT system_only_blocks bigint)
LANGUAGE sql VOLATILE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT r.blocks, r.shared_blocks, r.system_cache_blocks, r.system_only_blocks
	FROM tablespace_advisor.relations_residency(ARRAY[relation]) r
$$;

COMMENT ON FUNCTION tablespace_advisor.relation_residency(oid) IS
	'relations_residency() of one relation';

GRANT EXECUTE ON FUNCTION
	tablespace_advisor.file_bytes, tablespace_advisor.relation_bytes,
	tablespace_advisor.relations_residency, tablespace_advisor.relation_residency TO pg_monitor;
