/*
 * The figures of a copy that is under way, which its worker keeps in shared
 * memory: see the head of src/move/job/live_progress.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.copy_progress(job bigint, handle bigint,
	OUT phase text, OUT bytes_total bigint, OUT bytes_done bigint,
	OUT mb_per_s float8, OUT present_mb_per_s float8, OUT rate_reason text,
	OUT others_lost_percent float8, OUT is_late boolean, OUT passes int,
	OUT restarts int, OUT attempts int, OUT blocked_by int[],
	OUT paused_ms float8, OUT waited_ms float8, OUT lock_wait_ms float8,
	OUT lock_ms float8, OUT bytes_left bigint)
LANGUAGE c VOLATILE STRICT
AS 'MODULE_PATHNAME', 'tsa_copy_progress';
COMMENT ON FUNCTION tablespace_advisor.copy_progress(bigint, bigint) IS
	'figures of a copy under way, by the number of its job and the job''s progress_handle; NULLs if there are none, or if the caller may not see the job';
