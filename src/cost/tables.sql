/*
 * cost: the measured localities of indexes.
 *
 * Tables that version 1.0 has, too: a fresh install makes them here, an update
 * finds them there.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE TABLE tablespace_advisor.index_locality (
	index oid PRIMARY KEY,
	relation oid NOT NULL,
	index_file oid NOT NULL,
	heap_file oid NOT NULL,
	index_blocks bigint NOT NULL,
	table_blocks bigint NOT NULL,
	entries float8 NOT NULL,
	measured_at timestamptz NOT NULL,
	points float8[] NOT NULL,
	read_times float8[],
	correlation float8,
	replaced_rows float8
);
