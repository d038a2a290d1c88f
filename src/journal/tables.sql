/*
 * The journal of moves.
 *
 * The journal is written by C functions only, which do so as the bootstrap
 * superuser after checking their caller's rights; nobody has grants on it.
 * It is not marked for pg_dump: a restored database has no moves under way.
 *
 * The columns of job are in the order in which versions added them, as an update
 * finds them.  They are, by their writers: request (the session that queues the
 * job; limits also alter_move()): batch_id to method,
 *	bytes_total, max_rate, lock_timeout_ms, owner, system_identifier, database,
 *	heap_bytes, queued_at, forecast_saved_ms_per_s, until, lock_up_to, min_rate,
 *	finish_by, call_user, policy, during
 * recovery: takeovers
 * progress (the worker): state, phase, bytes_done to attempts, blocked_by to
 *	detail, worker_pid, started_at to paused_ms, lock_wait_ms, present_mb_per_s,
 *	rate_reason, restarts, others_lost_percent, is_late, waited_ms, progress_handle;
 *	figures of a copy under way are in shared memory, see copy_progress()
 * files (the worker, for a session that recovers the job): new_tablespaces to
 * old_index,
 *	known_indexes, indexes, indexes_from, index_names,
 *	source_relations to source_filenumbers
 * interruptions (a session that recovers the job): interruptions to stalls;
 * blocks_again
 *	(the worker, too): blocks that were copied again because of them
 *
 * Tables and indexes that version 1.0 has, too: a fresh install makes them here, an
 * update finds them there.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE TABLE tablespace_advisor.job (
	job_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	batch_id bigint NOT NULL,
	relation oid NOT NULL,
	heap oid NOT NULL,
	kind "char" NOT NULL,
	schema_name name NOT NULL,
	relation_name name NOT NULL,
	from_tablespace oid NOT NULL,
	from_tablespace_name name NOT NULL,
	to_tablespace oid NOT NULL,
	to_tablespace_name name NOT NULL,
	method_wanted text NOT NULL
		CHECK (method_wanted IN ('auto', 'copy', 'rebuild')),
	method text NOT NULL
		CHECK (method IN ('copy', 'rebuild', 'catalog', 'lock')),
	state text NOT NULL DEFAULT 'queued' CHECK (state IN
		('queued', 'running', 'paused', 'interrupted', 'done', 'failed', 'cancelled')),
	phase text,
	bytes_total bigint NOT NULL,
	bytes_done bigint NOT NULL DEFAULT 0,
	blocks_left bigint,
	mb_per_s float8,
	passes int NOT NULL DEFAULT 0,
	lock_ms float8,
	attempts int NOT NULL DEFAULT 0,
	max_rate bigint,
	lock_timeout_ms int NOT NULL,
	blocked_by int[],
	sqlstate text,
	error text,
	detail text,
	owner oid NOT NULL,
	worker_pid int,
	system_identifier bigint NOT NULL,
	database oid NOT NULL,
	new_tablespaces oid[],
	new_filenumbers oid[],
	old_tablespaces oid[],
	old_filenumbers oid[],
	old_index oid,
	heap_bytes bigint,
	known_indexes oid[],
	queued_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	started_at timestamptz,
	finished_at timestamptz,
	wal_bytes bigint,
	paused_ms float8 NOT NULL DEFAULT 0,
	indexes oid[],
	indexes_from oid[],
	lock_wait_ms float8,
	forecast_saved_ms_per_s float8,
	present_mb_per_s float8,
	rate_reason text,
	until timestamptz,
	lock_up_to bigint,
	restarts int NOT NULL DEFAULT 0,
	min_rate bigint,
	finish_by timestamptz,
	others_lost_percent float8,
	is_late boolean NOT NULL DEFAULT false,
	waited_ms float8 NOT NULL DEFAULT 0,
	progress_handle bigint,
	call_user oid,
	takeovers int NOT NULL DEFAULT 0,
	source_relations oid[],
	source_tablespaces oid[],
	source_filenumbers oid[],
	interruptions int NOT NULL DEFAULT 0,
	interrupted_at timestamptz,
	stalls int NOT NULL DEFAULT 0,
	blocks_again bigint NOT NULL DEFAULT 0,
	policy text,
	index_names name[],
	during text
);
CREATE INDEX job_batch_id_idx ON tablespace_advisor.job (batch_id);
/* Also the proof that no relation is moved twice at a time. */
CREATE UNIQUE INDEX job_unfinished_key ON tablespace_advisor.job (relation)
	WHERE state IN ('queued', 'running', 'paused', 'interrupted');
/* Moves of a table and of its indexes look for each other. */
CREATE INDEX job_unfinished_heap_idx ON tablespace_advisor.job (heap)
	WHERE state IN ('queued', 'running', 'paused', 'interrupted');
/* The work left to do: see TSA_LEFT_TO_DO in queue.c. */
CREATE INDEX job_left_to_do_idx ON tablespace_advisor.job (batch_id)
	WHERE state IN ('queued', 'running', 'paused', 'interrupted')
		OR new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL;

/* Jobs of another server or database are at either end. */
CREATE INDEX job_origin_idx ON tablespace_advisor.job (system_identifier, database);
CREATE INDEX job_relation_idx ON tablespace_advisor.job (relation, job_id);
CREATE INDEX job_owner_idx ON tablespace_advisor.job (owner, job_id);
CREATE INDEX job_finished_at_idx ON tablespace_advisor.job (finished_at);
/* Indexes and files that rebuilds have left. */
CREATE INDEX job_known_indexes_idx ON tablespace_advisor.job (heap)
	WHERE known_indexes IS NOT NULL AND state IN ('done', 'failed', 'cancelled');
/* For the rate of moves. */
CREATE INDEX job_measured_idx ON tablespace_advisor.job
	(to_tablespace, from_tablespace, owner, (method = 'rebuild'), job_id)
	WHERE state = 'done' AND bytes_total >= 1048576 AND coalesce(max_rate, -1) < 0
		AND restarts = 0;
/* For the WAL that copies write. */
CREATE INDEX job_copied_idx ON tablespace_advisor.job (finished_at)
	WHERE state = 'done' AND method = 'copy' AND wal_bytes > 0 AND bytes_total >= 1048576;
/* For relations that lie where a policy wants them. */
CREATE INDEX job_policy_idx ON tablespace_advisor.job (relation)
	WHERE state = 'done' AND policy IS NOT NULL;
/* For recent moves, without the rest of the rows. */
CREATE INDEX job_left_idx ON tablespace_advisor.job (finished_at)
	INCLUDE (relation, from_tablespace)
	WHERE state = 'done' AND from_tablespace <> to_tablespace;

/* Rows of their own, see the head of request.c. */
CREATE TABLE tablespace_advisor.request (
	job_id bigint PRIMARY KEY,
	requested_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	pause boolean NOT NULL DEFAULT true,
	alters boolean NOT NULL DEFAULT false,
	max_rate bigint,
	min_rate bigint,
	finish_by timestamptz,
	lock_timeout_ms int,
	during text
);

/*
 * Which moves apply_placement() has made, by the batch: jobs that were queued
 * at once.
 */
CREATE TABLE tablespace_advisor.placement_round (
	batch_id bigint PRIMARY KEY,
	round_id bigint NOT NULL,
	started_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	is_undo boolean NOT NULL,
	is_finished boolean NOT NULL DEFAULT false
);
CREATE INDEX placement_round_round_id_idx ON tablespace_advisor.placement_round (round_id);
