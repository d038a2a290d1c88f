/*
 * src/sample/maintenance.sql
 *
 * Reads that are not the application's.  VACUUM and ANALYZE read through shared
 * buffers, and their reads are counted with everybody's: of a table that is only
 * written they can be all there are, of TPC-C's order_line they were ten of eleven.
 * They come and go with the dead rows, are read ahead, and nobody waits for them:
 * no reason to move anything.
 *
 * The server does not count them by relation.  But it counts how often each
 * table was vacuumed and analyzed.  A window of samples is long against that,
 * so the reads of a relation are those of the intervals in which neither
 * happened, if these are at least a fifth of the window; else all reads, less
 * an estimate:  VACUUM has read each block that shared buffers did not have
 * once, ANALYZE as many as its sample has rows.  VACUUM skips pages that are
 * all visible and reads indexes more than once if memory is short, hence an
 * estimate; it is never more than all reads.
 *
 * A process adds its reads to the counters when its statement is over (a
 * client's) or when it ends (a worker of autovacuum, after all its tables):
 * one that is still at work has added nothing, while those of its tables that
 * are done are counted as vacuumed already.  These are left out until it has
 * (inventory.sql).
 *
 * Not seen: one that was cancelled; a statement that waits for its next table, or
 * with a transaction that goes on.  Not to be told from the application: COPY,
 * pg_dump.  A base backup does not read through shared buffers; in the device's
 * counters it shows as reads of many pages (device_io.sql).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */

/* An index is not read by ANALYZE. */
CREATE FUNCTION tablespace_advisor.estimate_maintenance_reads(
	kind text,
	vacuums bigint,
	analyzes bigint,
	reads bigint,
	size_bytes bigint,
	shared_fraction float8)
RETURNS bigint
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT least(reads, ceil((1 - coalesce(shared_fraction, 0)) * (vacuums * b.blocks
		+ CASE WHEN kind IN ('heap', 'toast') THEN analyzes
			* least(b.blocks, 300 * current_setting('default_statistics_target')::int)
			ELSE 0 END))::bigint)
	FROM (SELECT size_bytes / current_setting('block_size')::float8 AS blocks) b
	WHERE vacuums > 0 OR analyzes > 0 AND kind IN ('heap', 'toast')
$$;

COMMENT ON FUNCTION tablespace_advisor.estimate_maintenance_reads(text, bigint, bigint, bigint, bigint, float8) IS
	'those of a relation''s reads that so many VACUUMs and ANALYZEs of its table made, about; shared_fraction: share of its blocks in shared buffers, NULL: not known. NULL if there were none';

GRANT EXECUTE ON FUNCTION tablespace_advisor.estimate_maintenance_reads TO pg_monitor;
