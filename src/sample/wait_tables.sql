/*
 * sample: the tables of measured waits, which 1.0 lacks.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE TABLE tablespace_advisor.relation_wait_sample (
	sample_id int NOT NULL,
	relation oid NOT NULL,
	calls real NOT NULL,
	hits real NOT NULL,
	reads real NOT NULL,
	waited_ms real NOT NULL,
	class text NOT NULL,
	access text NOT NULL,
	read_histogram real[],
	PRIMARY KEY (sample_id, relation, class, access)
);

CREATE TABLE tablespace_advisor.statement_wait_sample (
	sample_id int NOT NULL,
	userid oid NOT NULL,
	queryid bigint NOT NULL,
	relation oid NOT NULL,
	calls real NOT NULL,
	total_ms real,
	hits real NOT NULL,
	reads real NOT NULL,
	waited_ms real NOT NULL,
	class text NOT NULL,
	access text NOT NULL,
	PRIMARY KEY (sample_id, queryid, userid, relation, class, access)
);

CREATE TABLE tablespace_advisor.sampled_wait (
	relation oid NOT NULL,
	class text NOT NULL,
	access text NOT NULL,
	calls float8 NOT NULL,
	hits float8 NOT NULL,
	reads float8 NOT NULL,
	waited_ms float8 NOT NULL,
	read_histogram float8[],
	since timestamptz NOT NULL,
	PRIMARY KEY (relation, class, access)
) WITH (fillfactor = 70);

CREATE TABLE tablespace_advisor.sampled_statement_wait (
	userid oid NOT NULL,
	queryid bigint NOT NULL,
	relation oid NOT NULL,
	class text NOT NULL,
	access text NOT NULL,
	calls float8 NOT NULL,
	total_ms float8,
	hits float8 NOT NULL,
	reads float8 NOT NULL,
	waited_ms float8 NOT NULL,
	since timestamptz NOT NULL,
	PRIMARY KEY (queryid, userid, relation, class, access)
) WITH (fillfactor = 70);

CREATE TABLE tablespace_advisor.wait_total (
	class text NOT NULL,
	access text NOT NULL,
	reads float8 NOT NULL,
	waited_ms float8 NOT NULL,
	PRIMARY KEY (class, access)
);

CREATE TABLE tablespace_advisor.executed_partition (
	relation oid PRIMARY KEY,
	executed_at timestamptz NOT NULL
) WITH (fillfactor = 70);
