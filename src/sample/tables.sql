/*
 * sample: the tables of samples.
 *
 * Tables that version 1.0 has, too: a fresh install makes them here, an update
 * finds them there.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE TABLE tablespace_advisor.sample (
	sample_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	started_at timestamptz,
	taken_at timestamptz NOT NULL,
	covers text NOT NULL DEFAULT 'sample'
		CHECK (covers IN ('sample', 'hour', 'day')),
	was_reset boolean NOT NULL,
	stats_reset timestamptz,
	io_timed boolean NOT NULL,
	blocks_read bigint NOT NULL,
	blocks_hit bigint NOT NULL,
	read_ms float8 NOT NULL,
	write_ms float8 NOT NULL,
	statements bigint,
	statements_ms float8,
	snapshots int NOT NULL,
	reading_snapshots int NOT NULL,
	reading_sessions int NOT NULL,
	waits jsonb NOT NULL,
	waits_since timestamptz,
	waits_measured_s float8
);

CREATE TABLE tablespace_advisor.relation_sample (
	sample_id int NOT NULL,
	relation oid NOT NULL,
	size_bytes bigint NOT NULL,
	reads bigint,
	hits bigint,
	scans bigint,
	tuples_read bigint,
	inserted bigint,
	updated bigint,
	hot_updated bigint,
	deleted bigint,
	cached_reads real,
	maintenance_reads bigint,
	PRIMARY KEY (sample_id, relation)
);
/* Samples in which something was vacuumed. */
CREATE INDEX relation_sample_maintained_idx ON tablespace_advisor.relation_sample (sample_id)
	INCLUDE (maintenance_reads) WHERE maintenance_reads > 0;

CREATE TABLE tablespace_advisor.tablespace_sample (
	sample_id int NOT NULL,
	tablespace oid NOT NULL,
	used_bytes bigint NOT NULL,
	free_bytes bigint,
	PRIMARY KEY (sample_id, tablespace)
);

CREATE TABLE tablespace_advisor.sampled_relation (
	relation oid PRIMARY KEY,
	tablespace oid NOT NULL,
	filenode oid NOT NULL,
	filenode_since timestamptz,
	counted_since timestamptz,
	size_bytes bigint NOT NULL,
	reads bigint NOT NULL,
	hits bigint NOT NULL,
	scans bigint NOT NULL,
	tuples_read bigint NOT NULL,
	inserted bigint NOT NULL,
	updated bigint NOT NULL,
	hot_updated bigint NOT NULL,
	deleted bigint NOT NULL,
	system_cached real,
	vacuums bigint,
	analyzes bigint
) WITH (fillfactor = 70);

CREATE TABLE tablespace_advisor.table_residency (
	relation oid PRIMARY KEY,
	shared_fraction float8 NOT NULL,
	system_fraction float8 NOT NULL,
	measured_at timestamptz NOT NULL
);

CREATE TABLE tablespace_advisor.tablespace_io_sample (
	sample_id int NOT NULL,
	tablespace oid NOT NULL,
	measured_at timestamptz NOT NULL,
	seconds float8 NOT NULL,
	reads bigint NOT NULL,
	read_bytes bigint NOT NULL,
	read_ms bigint NOT NULL,
	writes bigint NOT NULL,
	write_bytes bigint NOT NULL,
	write_ms bigint NOT NULL,
	busy_ms bigint NOT NULL,
	queue_ms bigint NOT NULL,
	PRIMARY KEY (sample_id, tablespace)
);

CREATE TABLE tablespace_advisor.sampled_device (
	tablespace oid PRIMARY KEY,
	read_at timestamptz NOT NULL,
	device text NOT NULL,
	reads bigint NOT NULL,
	read_bytes bigint NOT NULL,
	read_ms bigint NOT NULL,
	writes bigint NOT NULL,
	write_bytes bigint NOT NULL,
	write_ms bigint NOT NULL,
	busy_ms bigint NOT NULL,
	queue_ms bigint NOT NULL
);

CREATE TABLE tablespace_advisor.standby_activity (
	server name NOT NULL,
	relation oid NOT NULL,
	observed_at timestamptz NOT NULL,
	reads_per_s float8 NOT NULL,
	hits_per_s float8 NOT NULL,
	scans_per_s float8 NOT NULL,
	waiting_sessions float8,
	PRIMARY KEY (server, relation)
);
