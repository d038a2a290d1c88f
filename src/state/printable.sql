/*
 * In a message a name that has line breaks could pass for other lines of it,
 * with statements that somebody else has thought of.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.printable(message text)
RETURNS text
AS 'MODULE_PATHNAME', 'tsa_printable'
LANGUAGE C IMMUTABLE STRICT;
COMMENT ON FUNCTION tablespace_advisor.printable(text) IS
	'the first 8 kB of a text, with a question mark for each control character, and in UTF8 for characters that end a line or turn the direction of writing, and for non-characters';

GRANT EXECUTE ON FUNCTION tablespace_advisor.printable TO pg_monitor;
