/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/journal/states.sql: TSA_UNFINISHED (journal.h) for SQL; plans use the indexes */
CREATE FUNCTION tablespace_advisor.is_unfinished(state text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT state IN ('queued', 'running', 'paused', 'interrupted');
END;
COMMENT ON FUNCTION tablespace_advisor.is_unfinished(text) IS
	'whether a move in this state has not ended';
