/*
 * src/advise/estimate.sql
 *
 * Types of estimates and decisions that judge.c makes of facts
 * (advice_types.sql).  docs/advice.md has the formulas.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE TYPE tablespace_advisor.load_estimate AS (
	tablespace name,
	device_reads_per_s float8,
	depth float8,
	probed_us float8,
	device_us float8,
	cached_us float8,
	cache_correction float8,
	time_correction float8,
	coverage float8,
	cache_exponent float8,
	latency_from text,
	device_low_us float8,
	device_high_us float8
);
COMMENT ON TYPE tablespace_advisor.load_estimate IS
	'times of a read under the present load. device_reads_per_s: reads that reach the device if the system''s cache serves its pages; depth: requests in flight; probed_us: latency probed at that depth; device_us: the same, corrected by the server''s timing; cached_us: a read that the system''s cache serves; cache_exponent: the exponent of the share of a relation''s pages that the system''s cache does not hold, cache_correction: its factor then, which give the share of reads that reach the device, time_correction: the factor of their latency, so that all agree with the timing (1: no timing); coverage: share of the databases reads that was estimated; latency_from: the source of probed_us: probe, counters (of the device, in the window) or timing (of the server); device_low_us, device_high_us: 95 % interval';

CREATE TYPE tablespace_advisor.placement_estimate AS (
	relation regclass,
	destination name,
	device_share float8,
	device_us float8,
	cached_us float8,
	read_ms_per_s float8,
	table_read_ms_per_s float8,
	destination_depth float8,
	destination_us float8,
	probed_us float8,
	max_reads_per_s float8,
	is_saturated boolean,
	is_faster boolean,
	writes_per_s float8,
	max_writes_per_s float8,
	saved_ms_per_s float8,
	saved_percent float8,
	moved_bytes bigint,
	move_seconds float8,
	not_probed name[],
	saved_low_ms_per_s float8,
	saved_high_ms_per_s float8,
	measured boolean,
	relief_ms_per_s float8
);
COMMENT ON TYPE tablespace_advisor.placement_estimate IS
	'one relation in one destination (NULL: where it is). device_share: share of its reads that reach the device; device_us, cached_us, destination_us: microseconds a read takes from the device, from the system''s cache, and in the destination at destination_depth requests in flight of this database; probed_us: the latter as probed, which is less where others are in the way; is_saturated: the destination would not serve so many reads; writes_per_s: pages of its table that are written at most, max_writes_per_s: that a probe of the destination wrote; is_faster: beyond the intervals of both measurements; saved_ms_per_s: milliseconds of reading saved per second, saved_percent: of the time spent reading its table; moved_bytes: of a copy there, bloat included; saved_low_ms_per_s, saved_high_ms_per_s: the saving if the latencies are at the ends of their 95 % intervals; not_probed: tablespaces of which nothing was measured that part of its table is read from, NULL if there are none; measured: waits were measured, device_share is that of random reads that take as long; relief_ms_per_s: the part of the saving that others on that device have';

CREATE TYPE tablespace_advisor.placement_decision AS (
	rank int,
	action text,
	relation regclass,
	from_tablespace name,
	to_tablespace name,
	size_bytes bigint,
	saved_ms_per_s float8,
	saved_percent float8,
	reason text,
	kind text,
	reads_per_s float8,
	writes_per_s float8,
	cached_fraction float8,
	read_ms_per_s float8,
	move_seconds float8,
	measured boolean,
	waiting_sessions float8,
	finding text,
	has_statement boolean,
	is_bloated boolean,
	probes name[],
	table_relation regclass,
	column_name name,
	expression text,
	bundle int,
	makes_room_for regclass,
	ms_per_s_and_gb float8,
	later_us float8,
	fact tablespace_advisor.relation_fact,
	estimate tablespace_advisor.placement_estimate,
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact,
	here tablespace_advisor.load_estimate
);
COMMENT ON TYPE tablespace_advisor.placement_decision IS
	'the decision on a relation: columns of placement_advice, then finding: its reason as a word; has_statement: there may be one; probes: tablespaces to probe, in the first row that asks for it; bundle: moves that need each other; makes_room_for: the relation that comes in its stead; ms_per_s_and_gb: the saving of another GB of room in the destination; later_us: the time of a read where advice puts it, after all moves; and, with evidence, its grounds';
