/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/cost/locality.sql */

/*
 * Times by which locality is priced.  A row measured without a caveat is
 * preferred to a newer one with, except that random and sequential reads,
 * on which all else stands, need to have none.
 */
CREATE VIEW tablespace_advisor.read_times AS
SELECT l.tablespace_oid, l.tablespace, l.measured_at,
	l.sequential_page_us, l.random_read_us,
	skip_1.page_us AS skip_read_us,
	cached.mean_us AS cached_read_us,
	adjacent_0.page_us AS adjacent_0_us,
	adjacent_1.page_us AS adjacent_1_us,
	deep.queue_depth AS depth,
	deep.page_us AS adjacent_deep_us,
	skip_deep.page_us AS skip_deep_us,
	random_deep.page_us AS random_deep_us
FROM tablespace_advisor.tablespace_latency l
LEFT JOIN tablespace_advisor.pooled_probe_result skip_1
	ON skip_1.tablespace_oid = l.tablespace_oid
		AND skip_1.workload = 'skip read' AND skip_1.queue_depth = 1
LEFT JOIN tablespace_advisor.pooled_probe_result cached
	ON cached.tablespace_oid = l.tablespace_oid
		AND cached.workload = 'cached read' AND cached.queue_depth = 1
LEFT JOIN tablespace_advisor.pooled_probe_result adjacent_0
	ON adjacent_0.tablespace_oid = l.tablespace_oid
		AND adjacent_0.workload = 'adjacent read' AND adjacent_0.queue_depth = 0
LEFT JOIN tablespace_advisor.pooled_probe_result adjacent_1
	ON adjacent_1.tablespace_oid = l.tablespace_oid
		AND adjacent_1.workload = 'adjacent read' AND adjacent_1.queue_depth = 1
LEFT JOIN LATERAL
	(SELECT r.page_us, r.queue_depth
		FROM tablespace_advisor.pooled_probe_result r
		WHERE r.tablespace_oid = l.tablespace_oid
			AND r.workload = 'adjacent read' AND r.queue_depth > 1
		ORDER BY r.has_caveat, r.loaded, r.run_id DESC LIMIT 1) deep ON true
LEFT JOIN tablespace_advisor.pooled_probe_result skip_deep
	ON skip_deep.tablespace_oid = l.tablespace_oid
		AND skip_deep.workload = 'skip read'
		AND skip_deep.queue_depth = deep.queue_depth
LEFT JOIN tablespace_advisor.pooled_probe_result random_deep
	ON random_deep.tablespace_oid = l.tablespace_oid
		AND random_deep.workload = 'random read'
		AND random_deep.queue_depth = deep.queue_depth;

COMMENT ON VIEW tablespace_advisor.read_times IS
	'per tablespace the measured microseconds to read a block: in a sequential scan, at random, after a short jump forward, from the system''s cache, and next to the one before in a bitmap heap scan at effective_io_concurrency 0, 1 and depth; skip_deep_us and random_deep_us are at that depth too. NULL: not measured';

COMMENT ON TABLE tablespace_advisor.index_locality IS
	'results of measure_index_locality(), one row per index; void as soon as one of the files is another, the index or its table has grown by more than a fifth, the correlation that ANALYZE finds differs by more than 0.1, or more than a fifth of the rows were deleted or got another place';
COMMENT ON COLUMN tablespace_advisor.index_locality.index_file IS
	'number of the index''s file at that time';
COMMENT ON COLUMN tablespace_advisor.index_locality.heap_file IS
	'number of the table''s file at that time';
COMMENT ON COLUMN tablespace_advisor.index_locality.points IS
	'one line per size of window: entries, windows, blocks, sequential, skip and random steps, steps back of 1 or 2 blocks, steps back of up to 256 (both among the random ones), adjacent, skip and far gaps, entries that lead to another block than the one before, lengths of the skip gaps added up, different keys, share of leaf pages that follow the one before (both only in the last line, 0: not known)';
COMMENT ON COLUMN tablespace_advisor.index_locality.read_times IS
	'microseconds, in the order of the view read_times from sequential_page_us on, of the table''s tablespace; NULL: it was not probed, and the planner is told nothing';
COMMENT ON COLUMN tablespace_advisor.index_locality.correlation IS
	'the planner''s correlation of the index when it was measured; NULL: not known, and not compared';
COMMENT ON COLUMN tablespace_advisor.index_locality.replaced_rows IS
	'deleted rows and updated ones, HOT updates left out, that the server''s statistics had counted when it was measured; NULL: not known, and not compared';

CREATE FUNCTION tablespace_advisor.locality_fault(index oid)
RETURNS text
LANGUAGE C VOLATILE STRICT
AS 'MODULE_PATHNAME', 'locality_fault';
COMMENT ON FUNCTION tablespace_advisor.locality_fault(oid) IS
	'why the measured locality of an index is not used: "rewritten", "grown", "reordered" or "replaced"; NULL: it is used, none is kept, there is nothing to measure, or a lock is not to be had at once';

CREATE VIEW tablespace_advisor.void_locality AS
SELECT l.index, l.relation, f.fault, l.measured_at,
	/* as measure_locality.c does: whole, or eight windows of 65 536 entries */
	least(l.index_blocks, greatest(2048,
		8 * 65536 * l.index_blocks / greatest(l.entries, 1) + 8)) AS pages_to_read
FROM tablespace_advisor.index_locality l
CROSS JOIN LATERAL (SELECT tablespace_advisor.locality_fault(l.index) AS fault) f
WHERE l.read_times IS NOT NULL AND f.fault IS NOT NULL;
COMMENT ON VIEW tablespace_advisor.void_locality IS
	'measured localities that plans leave out, since the index or its table was rewritten or moved, has grown by more than a fifth, is in another order by its statistics, or holds many new rows; pages_to_read: about, to measure again';
GRANT SELECT ON tablespace_advisor.index_locality,
	tablespace_advisor.read_times, tablespace_advisor.void_locality TO pg_monitor;
GRANT EXECUTE ON FUNCTION tablespace_advisor.locality_fault TO pg_monitor;

CREATE FUNCTION @extschema@.measure_index_locality(
	target regclass,
	OUT index regclass,
	OUT entries bigint,
	OUT window_entries bigint,
	OUT heap_blocks float8,
	OUT sequential_steps float8,
	OUT skip_steps float8,
	OUT random_steps float8,
	OUT adjacent_gaps float8,
	OUT skip_gaps float8,
	OUT far_gaps float8,
	OUT measured_at timestamptz,
	OUT correlation float8,
	OUT effective_correlation float8,
	OUT backward_steps float8,
	OUT backward_skip_steps float8,
	OUT windows bigint,
	OUT block_changes float8)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS 'MODULE_PATHNAME', 'measure_index_locality';
COMMENT ON FUNCTION @extschema@.measure_index_locality(regclass) IS
	'finds out which blocks of the table windows of consecutive index entries lead to, per valid B-tree of a table, a partitioned table or of one index, and keeps it for tablespace_advisor.correct_locality; one row per size of window, the last one of the whole index. Errors: 42501 neither owner nor member of pg_monitor, 42P01 no such relation, 42809 no table or index, 22004 NULL, 55P03 another transaction, which has not ended, has measured it.';
