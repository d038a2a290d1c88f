/*
 * src/advise/catalog.sql
 *
 * The facts that advice rests on, as types, and where the catalogs and the
 * statistics say them.  Nothing here takes a lock on a relation it looks at:
 * advice must not wait behind somebody's ALTER TABLE.  (So definitions are
 * compared as the catalog stores them, pg_get_expr() would lock.)
 */
CREATE TYPE @extschema@.placement_advice AS (
	rank int,
	action text,
	relation regclass,
	from_tablespace name,
	to_tablespace name,
	size_bytes bigint,
	saved_ms_per_s float8,
	saved_percent float8,
	reason text,
	statement text,
	kind text,
	reads_per_s float8,
	writes_per_s float8,
	cached_fraction float8,
	read_ms_per_s float8,
	move_seconds float8
);
COMMENT ON TYPE @extschema@.placement_advice IS
	'one relation''s advice. rank: order of moves, NULL for other rows; action: move, keep, probe first, drop candidate, rebuild or replace (by an index of another kind); to_tablespace: where it should be; size_bytes: all forks, of a table with TOAST; saved_ms_per_s, saved_percent: reading (and extra writing) that following this row saves, in milliseconds per second and in percent of what the database spends on reading, NULL when not known; statement: what to run; reads_per_s: blocks read past shared buffers; writes_per_s: row versions written; cached_fraction: share of block accesses that shared buffers or the system''s cache serve; read_ms_per_s: milliseconds of reading in each second; move_seconds: how long the move takes at measured rates';

CREATE TYPE tablespace_advisor.relation_fact AS (
	relation regclass,
	table_relation regclass,
	kind text,
	tablespace name,
	size_bytes bigint,
	toast_bytes bigint,
	rebuilt_bytes bigint,
	brin_bytes bigint,
	reads_per_s float8,
	hits_per_s float8,
	writes_per_s float8,
	hot_fraction float8,
	tuples_per_scan float8,
	correlation float8,
	system_cached float8,
	scans bigint,
	writes bigint,
	counted_days float8,
	column_name name,
	expression text,
	unusable text,
	needed_for text,
	duplicate_of regclass,
	obstacle text,
	left_lately name[],
	maintenance_reads_per_s float8,
	moving_job bigint
);
COMMENT ON TYPE tablespace_advisor.relation_fact IS
	'what advice has to know of a heap (with its TOAST table) or an index: bytes of all forks (toast_bytes of them TOAST; rebuilt_bytes, brin_bytes: what a rebuilt or a BRIN index would take), activity per second in the window of load_fact (maintenance_reads_per_s: what VACUUM and ANALYZE read besides), hot_fraction of updates, system_cached share, scans and row versions written in counted_days, column_name or expression that an index is on, obstacle to a move while in use, left_lately: tablespaces it was moved away from within a week, moving_job: the move of it that is under way. NULL: not known';

CREATE TYPE tablespace_advisor.tablespace_fact AS (
	tablespace name,
	run_id bigint,
	random_read_us float8,
	random_read_low_us float8,
	random_read_high_us float8,
	depths float8[],
	depth_read_us float8[],
	cached_read_us float8,
	sequential_page_us float8,
	sequential_write_page_us float8,
	write_us float8,
	write_workload text,
	copy_rates jsonb,
	may_create boolean,
	volatile boolean,
	shares_device_with name[],
	available_bytes bigint,
	caveat text,
	latency_from text,
	present_read_us float8,
	present_read_low_us float8,
	present_read_high_us float8,
	present_intervals int,
	present_in_flight float8,
	is_serial boolean
);
COMMENT ON TYPE tablespace_advisor.tablespace_fact IS
	'what advice has to know of a tablespace: measured times in microseconds (see tablespace_latency), random reads at each probed depth, the write that was probed; copy_rates: bytes per second of earlier moves to it by tablespace they came from; whether relations may be made there, the device under it; available_bytes: what may be filled, less than 0 when it is over its mark, NULL when not known; caveat: why the newest probe of random reads is not to be trusted; present_…: what a read took in the window by the counters of the device, which count everybody, with a 95 % interval, NULL: not known, in_flight: reads of everybody under way, of any size, on average; is_serial: one rotating disk, which serves one request at a time; latency_from: where the other read times come from: probe (also NULL), counters, timing, or assumed';

CREATE TYPE tablespace_advisor.load_fact AS (
	source text,
	window_start timestamptz,
	window_end timestamptz,
	seconds float8,
	intervals int,
	was_reset boolean,
	reads_per_s float8,
	read_ms_per_s float8,
	timed_read_us float8,
	snapshots int,
	reading_snapshots int,
	active_sessions float8,
	reading_sessions float8,
	waits jsonb,
	checkpoint_s float8,
	wal_per_byte float8,
	standbys text,
	moved_at timestamptz
);
COMMENT ON TYPE tablespace_advisor.load_fact IS
	'the window over which activity was counted and what the whole database did in it: see observe_database(); checkpoint_s: seconds between checkpoints; wal_per_byte: WAL that earlier copies wrote per byte copied; standbys: servers whose own counters are not included; moved_at: when the last move ended that matters for what samples say, NULL: none, or no samples';

/*
 * needed_for says why an index must not be dropped even if no scan uses it:
 * what it enforces or supports happens without a scan that is counted.
 */
CREATE VIEW tablespace_advisor.index_role AS
SELECT i.indexrelid, i.indrelid,
	CASE
		WHEN i.indisprimary THEN 'the primary key'
		WHEN i.indisexclusion THEN 'an exclusion constraint'
		WHEN i.indisunique THEN 'uniqueness'
		WHEN i.indisreplident THEN 'the replica identity'
		WHEN c.relispartition THEN 'the partitioned index it is attached to'
		WHEN EXISTS
			(SELECT FROM pg_constraint k
				WHERE k.conrelid = i.indrelid AND k.contype = 'f'
					AND k.conkey <@ (i.indkey::int2[])[0:cardinality(k.conkey) - 1])
			THEN 'a foreign key: deletes of referenced rows use it'
	END AS needed_for,
	i.indisreplident OR c.relispartition
		OR EXISTS (SELECT FROM pg_constraint k
			WHERE k.conindid = i.indexrelid) AS is_pinned,
	CASE
		WHEN i.indisvalid THEN NULL
		WHEN EXISTS (SELECT FROM pg_stat_progress_create_index p
			WHERE p.relid = i.indrelid) THEN 'being built'
		ELSE 'invalid'
	END AS unusable,
	concat_ws(' ', c.relam, i.indkey, i.indnkeyatts, i.indclass,
		i.indcollation, i.indoption,
		regexp_replace(i.indexprs::text, ' :location -?[0-9]+', '', 'g'),
		'WHERE ' || regexp_replace(i.indpred::text, ' :location -?[0-9]+', '', 'g'))
		AS definition,
	i.indisunique, i.indnullsnotdistinct, i.indimmediate, i.indisexclusion
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relkind = 'i';

COMMENT ON VIEW tablespace_advisor.index_role IS
	'what an index is there for besides being scanned, and whether it can be used; is_pinned: other objects depend on this very index, another with the same definition could not stand in for it';

GRANT SELECT ON tablespace_advisor.index_role TO pg_monitor;

/*
 * Of indexes with one definition the one that is hardest to replace stays.
 * Definitions, which may be long and many, are made once and compared by hash.
 */
CREATE FUNCTION tablespace_advisor.duplicate_indexes(tables oid[])
RETURNS TABLE (indexrelid oid, indrelid oid, duplicate_of oid)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH several AS MATERIALIZED (
		SELECT i.indrelid FROM unnest(tables) t JOIN pg_index i ON i.indrelid = t
		GROUP BY i.indrelid HAVING count(*) > 1
	), role AS MATERIALIZED (
		SELECT r.indexrelid, r.indrelid, r.indisunique, r.indimmediate,
			r.indnullsnotdistinct, r.unusable, r.is_pinned,
			sha256(convert_to(r.definition, 'UTF8')) AS definition,
			pg_stat_get_numscans(r.indexrelid) AS scans
		FROM several t JOIN tablespace_advisor.index_role r ON r.indrelid = t.indrelid
	)
	SELECT DISTINCT ON (i.indexrelid) i.indexrelid, i.indrelid, o.indexrelid
	FROM role i
	JOIN role o ON o.indrelid = i.indrelid AND o.definition = i.definition
	WHERE NOT i.is_pinned AND o.indexrelid <> i.indexrelid AND o.unusable IS NULL
		AND (NOT i.indisunique OR (o.indisunique AND o.indimmediate
			AND o.indnullsnotdistinct = i.indnullsnotdistinct))
		AND (o.is_pinned, o.indisunique, o.scans, i.indexrelid::bigint)
			> (i.is_pinned, i.indisunique, i.scans, o.indexrelid::bigint)
	ORDER BY i.indexrelid, o.is_pinned DESC, o.indisunique DESC, o.scans DESC, o.indexrelid
$$;
COMMENT ON FUNCTION tablespace_advisor.duplicate_indexes(oid[]) IS
	'indexes of these tables that another one of their table could replace, having the same definition';

/*
 * Bytes that a B-tree with these entries takes when it is built: 8 bytes of
 * tuple header, 4 of line pointer, pages filled to the fillfactor.  Equal
 * keys, which the server would store together, are not counted on, so that
 * the estimate is rather too large and bloat rather overlooked.
 */
CREATE FUNCTION tablespace_advisor.estimate_btree_bytes(entries float8, key_bytes float8, fillfactor float8)
RETURNS bigint
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE WHEN entries > 0 THEN
		((2 + ceil(entries * (12 + 8 * ceil(key_bytes / 8))
			/ ((current_setting('block_size')::float8 - 40) * fillfactor / 100)) * 1.005)
			* current_setting('block_size')::float8)::bigint END;
END;
COMMENT ON FUNCTION tablespace_advisor.estimate_btree_bytes(float8, float8, float8) IS
	'bytes of a B-tree just built, from the number of entries, bytes of a key and fillfactor in percent; NULL when there are no entries';

/* One summary of some 32 bytes for 128 heap blocks, and two pages besides. */
CREATE FUNCTION tablespace_advisor.estimate_brin_bytes(heap_bytes bigint)
RETURNS bigint
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT ((3 + ceil(ceil(heap_bytes / current_setting('block_size')::float8 / 128)
			* 32 / current_setting('block_size')::float8))
		* current_setting('block_size')::float8)::bigint;
END;
COMMENT ON FUNCTION tablespace_advisor.estimate_brin_bytes(bigint) IS
	'bytes of a BRIN index with default parameters on one column of fixed width of a heap of that size';
