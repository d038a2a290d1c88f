/*
 * journal: the table of what copies have copied, which 1.0 lacks.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
/*
 * How far copies are, so that one that is interrupted can be gone on with; the
 * latest of a job counts.  blocks has the number of blocks that are there of each
 * file in new_filenumbers, and lsns the ranges of the WAL with their images, all of
 * which are written: where each begins and where it ends.
 */
CREATE TABLE tablespace_advisor.job_mark (
	job_id bigint NOT NULL,
	mark_id bigint GENERATED ALWAYS AS IDENTITY,
	made_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	blocks bigint[] NOT NULL,
	bytes_done bigint NOT NULL,
	blocks_again bigint NOT NULL DEFAULT 0,
	lsns pg_lsn[] NOT NULL,
	bytes_compared bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (job_id, mark_id)
);
