/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/probe/devices.sql */

CREATE FUNCTION tablespace_advisor.tablespace_device(
	tablespace_oid oid,
	OUT location text,
	OUT filesystem text,
	OUT mount_point text,
	OUT device text,
	OUT device_stack text,
	OUT media text,
	OUT raid_level text,
	OUT members text[],
	OUT redundant boolean,
	OUT volatile boolean,
	OUT size_bytes bigint,
	OUT free_bytes bigint,
	OUT read_ahead_kb integer,
	OUT scheduler text,
	OUT warnings text[],
	OUT degraded boolean,
	OUT write_penalty integer,
	OUT write_cache text,
	OUT leaves text[],
	OUT file_system_id text)
AS 'MODULE_PATHNAME', 'tablespace_device'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION tablespace_advisor.tablespace_device(oid) IS
	'the storage under a tablespace, or under pg_wal for OID 0, without the tablespaces that share it; leaves: the devices at the bottom of the stack, NULL: unknown; file_system_id: number of the file system. Used by tablespace_devices()';
GRANT EXECUTE ON FUNCTION tablespace_advisor.tablespace_device TO pg_monitor;

/*
 * Two tablespaces share a device if anything at the bottom of their stacks is
 * the same, or if they are on one file system.  Where the bottom of either is
 * unknown, other file systems may be on the same device, too.  pg_default and pg_global are always in the data directory, which
 * is worth no warning; and pg_global is too small to get in the way of WAL.
 */
CREATE VIEW tablespace_advisor.device AS
WITH found AS MATERIALIZED (
	SELECT t.spcname, t.oid < 16384 AS built_in, d.*
	FROM pg_catalog.pg_tablespace t,
		 LATERAL tablespace_advisor.tablespace_device(t.oid) d
), wal AS MATERIALIZED (
	SELECT d.leaves, d.file_system_id FROM tablespace_advisor.tablespace_device(0) d
)
SELECT f.spcname AS tablespace, f.location, f.filesystem, f.mount_point,
	f.device, f.device_stack, f.media, f.raid_level, f.members, f.redundant,
	f.volatile, f.size_bytes, f.free_bytes, f.read_ahead_kb, f.scheduler,
	coalesce(shared.with_all, CASE WHEN NOT shared.is_unknown THEN '{}'::name[] END) AS shares_device_with,
	f.warnings || array_remove(ARRAY[shared.warning,
		CASE WHEN (f.leaves && wal.leaves OR f.file_system_id = wal.file_system_id) AND f.spcname <> 'pg_global' THEN
			'same device as pg_wal: commits wait behind reads and writes of data'
		END], NULL) AS warnings,
	f.degraded, f.write_penalty, f.write_cache
FROM found f, wal,
	 LATERAL (
		SELECT pg_catalog.array_agg(o.spcname ORDER BY o.spcname)
				FILTER (WHERE s.is_shared) AS with_all,
			'same device as tablespace '
			|| pg_catalog.string_agg(pg_catalog.quote_ident(o.spcname), ', '
									 ORDER BY o.spcname)
				FILTER (WHERE s.is_shared AND NOT (f.built_in AND o.built_in))
			|| ': moves between them gain nothing' AS warning,
			coalesce(pg_catalog.bool_or(s.is_shared IS NULL), false) AS is_unknown
		FROM found o
			CROSS JOIN LATERAL (SELECT coalesce(o.file_system_id = f.file_system_id, false)
				OR o.leaves && f.leaves AS is_shared) s
		WHERE o.spcname <> f.spcname
	 ) shared;

COMMENT ON VIEW tablespace_advisor.device IS
	'the rows of tablespace_devices(); read by the extension itself, because others may have made a function of that name beside it';
GRANT SELECT ON tablespace_advisor.device TO pg_monitor;

CREATE FUNCTION tablespace_advisor.room_of(free_bytes bigint, size_bytes bigint)
RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT free_bytes - coalesce(size_bytes, 0) / 20;
END;
COMMENT ON FUNCTION tablespace_advisor.room_of(bigint, bigint) IS
	'the part of a file system that advice and rounds may fill: the free bytes without a reserve of a twentieth of all';

CREATE FUNCTION @extschema@.tablespace_devices(
	OUT tablespace name,
	OUT location text,
	OUT filesystem text,
	OUT mount_point text,
	OUT device text,
	OUT device_stack text,
	OUT media text,
	OUT raid_level text,
	OUT members text[],
	OUT redundant boolean,
	OUT volatile boolean,
	OUT size_bytes bigint,
	OUT free_bytes bigint,
	OUT read_ahead_kb integer,
	OUT scheduler text,
	OUT shares_device_with name[],
	OUT warnings text[],
	OUT degraded boolean,
	OUT write_penalty integer,
	OUT write_cache text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT d.tablespace, d.location, d.filesystem, d.mount_point, d.device,
		d.device_stack, d.media, d.raid_level, d.members, d.redundant, d.volatile,
		d.size_bytes, d.free_bytes, d.read_ahead_kb, d.scheduler, d.shares_device_with,
		ARRAY(SELECT tablespace_advisor.wrapped(w, 48)
			FROM unnest(d.warnings) WITH ORDINALITY u (w, n) ORDER BY n),
		d.degraded, d.write_penalty, d.write_cache
	FROM tablespace_advisor.device d ORDER BY d.tablespace;
END;

COMMENT ON FUNCTION @extschema@.tablespace_devices() IS
	'the storage under every tablespace, as the kernel shows it: layers down to the disks, kind of media, RAID, sizes in bytes, read-ahead in kB, tablespaces with a disk in common. Unknown facts are NULL or unknown, never an error, and a warning says why.';
REVOKE ALL ON FUNCTION @extschema@.tablespace_devices() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.tablespace_devices() TO pg_monitor;
