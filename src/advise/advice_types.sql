/*
 * src/advise/advice_types.sql
 *
 * The types of advice: facts on relations, on tablespaces and on the load, the
 * decision on a relation, and the rows that are returned.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
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
	move_seconds float8,
	measured boolean,
	waiting_sessions float8
);
COMMENT ON TYPE @extschema@.placement_advice IS
	'one relation''s advice. rank: order of moves, NULL for other rows; action: move, keep, probe first, drop candidate, rebuild or replace (by an index of another kind); to_tablespace: where it should be; size_bytes: all forks, of a table with TOAST; saved_ms_per_s, saved_percent: reading that following this row saves, in milliseconds per second and in percent of all reading of the database, NULL when not known; statement: to run for it; reads_per_s: blocks read past shared buffers; writes_per_s: row versions written; cached_fraction: share of block accesses that shared buffers or the system''s cache serve; read_ms_per_s: milliseconds of reading in each second; move_seconds: how long the move takes at measured rates; measured: the time of reads was measured in sessions, else it is estimated from counters of blocks; waiting_sessions: the mean number of sessions that wait for reads of it';

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
	moving_job bigint,
	measured boolean,
	waiting_sessions float8,
	scan_reads_per_s float8,
	scan_sessions float8,
	policy text
);
COMMENT ON TYPE tablespace_advisor.relation_fact IS
	'facts on a heap (with its TOAST table) or an index: bytes of all forks (toast_bytes of them TOAST; rebuilt_bytes, brin_bytes: of a rebuilt or a BRIN index), activity per second in the window of load_fact (maintenance_reads_per_s: further reads of VACUUM and ANALYZE), hot_fraction of updates, system_cached share, scans and row versions written in counted_days, column_name or expression that an index is on, obstacle to a move while in use, left_lately: tablespaces it was moved away from within a week, moving_job: the move of it that is under way; measured: whether waits were measured, waiting_sessions: sessions that waited for its reads on average, scan_reads_per_s, scan_sessions: the part of sequential scans. NULL: not known; policy: what moved it to where it is, NULL: no policy';

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
	max_writes_per_s float8,
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
	'facts on a tablespace: measured times in microseconds (see tablespace_latency), random reads at each probed depth; max_writes_per_s: random writes of a page that it did most in a probe; copy_rates: bytes per second of earlier moves to it by tablespace they came from; whether relations may be made there, the device under it; available_bytes: room that may be filled, less than 0 when it is over its mark, NULL when not known; caveat: why the newest probe of random reads is not to be trusted; present_…: the time of a read in the window by the counters of the device, which count everybody, with a 95 % interval, NULL: not known, in_flight: reads of everybody under way, of any size, on average, and on one rotating disk writes; is_serial: one rotating disk, which serves one request at a time; latency_from: where the other read times come from: probe (also NULL), counters, timing, or assumed';

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
	moved_at timestamptz,
	all_read_ms_per_s float8,
	all_read_bytes float8,
	other_waits jsonb
);
COMMENT ON TYPE tablespace_advisor.load_fact IS
	'the window over which activity was counted and the activity of the whole database in it: see observe_database(); checkpoint_s: seconds between checkpoints; wal_per_byte: WAL that earlier copies wrote per byte copied; standbys: servers whose own counters are not included; moved_at: when the last move ended that matters for samples, NULL: none, or no samples; all_read_ms_per_s: milliseconds per second that reads of all relations take, all_read_bytes: the bytes of those that are read (judge_placement() fills them in); other_waits: sessions that waited on average for reads by others than the application, by class';

CREATE TYPE tablespace_advisor.advice_row AS (
	advice @extschema@.placement_advice,
	evidence jsonb
);
COMMENT ON TYPE tablespace_advisor.advice_row IS
	'a row of gather_advice()';
