/* Copyright (c) 2026, The tablespace_advisor developers */

/* Moves that were interrupted. */

CREATE FUNCTION tablespace_advisor.copy_kept_until(
	interrupted_at timestamptz, during text)
RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.window_end(during, interrupted_at,
		extract(epoch FROM coalesce(current_setting(
			'tablespace_advisor.keep_interrupted', true), '1d')::interval)::float8)
$$;
COMMENT ON FUNCTION tablespace_advisor.copy_kept_until(timestamptz, text) IS
	'until when the copy of a move is kept that was interrupted then: until its time window has been open for tablespace_advisor.keep_interrupted';

COMMENT ON SEQUENCE tablespace_advisor.job_mark_mark_id_seq IS
	'numbers of marks';
COMMENT ON TABLE tablespace_advisor.job_mark IS
	'how far the copies of moves under way have come, for a worker that goes on with one after an interruption';
COMMENT ON COLUMN tablespace_advisor.job.interruptions IS
	'how often the move was interrupted: its worker or the server ended';
COMMENT ON COLUMN tablespace_advisor.job.blocks_again IS
	'blocks that were copied again because of interruptions';
