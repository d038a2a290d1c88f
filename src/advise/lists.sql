/*
 * src/advise/lists.sql
 *
 * Facts are handed on as arrays.  The planner does not know their length: it takes
 * unnest() of one for ten rows, and copies a long one to join it with a short one.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.elements(list anyarray)
RETURNS SETOF anyelement
LANGUAGE internal STRICT IMMUTABLE PARALLEL SAFE ROWS 10000
AS 'array_unnest';
COMMENT ON FUNCTION tablespace_advisor.elements(anyarray) IS
	'unnest() of a list that may be long, which the planner takes for 10 000 rows';
