/*
 * probe: the measurements of each run of the probe.
 *
 * Tables and indexes that version 1.0 has, too: a fresh install makes them
 * here, an update finds them there.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE TABLE tablespace_advisor.probe_run (
	run_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	tablespace name NOT NULL,
	location text NOT NULL,
	device text,
	mode text NOT NULL,
	file_size_bytes bigint NOT NULL,
	duration interval NOT NULL,
	started_at timestamptz NOT NULL,
	finished_at timestamptz NOT NULL,
	foreign_io_percent float8,
	advised_verdict text,
	advised_random_page_cost float8,
	advised_io_concurrency int,
	advised_depth int,
	advised_cached_fraction float8
);

CREATE TABLE tablespace_advisor.probe_result (
	run_id bigint NOT NULL
		REFERENCES tablespace_advisor.probe_run ON DELETE CASCADE,
	workload text NOT NULL,
	queue_depth int NOT NULL,
	io_size int NOT NULL,
	samples bigint NOT NULL,
	iops float8,
	mb_per_s float8,
	mean_us float8,
	stddev_us float8,
	min_us float8,
	p50_us float8,
	p90_us float8,
	p95_us float8,
	p99_us float8,
	max_us float8,
	mean_low_us float8,
	mean_high_us float8,
	caveat text,
	histogram bigint[],
	conditions text,
	others_reads_per_s float8,
	others_writes_per_s float8,
	others_read_mb_per_s float8,
	others_write_mb_per_s float8,
	others_in_flight float8,
	device_busy_percent float8,
	processor_wait_percent float8,
	turns int,
	quiet_percent float8,
	burst_iops float8,
	burst_seconds float8,
	PRIMARY KEY (run_id, workload, queue_depth)
);

SELECT pg_catalog.pg_extension_config_dump('tablespace_advisor.probe_run', '');

SELECT pg_catalog.pg_extension_config_dump('tablespace_advisor.probe_run_run_id_seq', '');

SELECT pg_catalog.pg_extension_config_dump('tablespace_advisor.probe_result', '');
