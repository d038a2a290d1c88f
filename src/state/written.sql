/* Copyright (c) 2026, The tablespace_advisor developers */

/* Statements for people, as short as they may be typed: src/state/written.c. */
CREATE FUNCTION tablespace_advisor.written_relation(relation regclass)
RETURNS text
AS 'MODULE_PATHNAME', 'tsa_written_relation'
LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION tablespace_advisor.written_relation IS
	'the name of a relation, with its schema if the search_path of the session does not find it';

CREATE FUNCTION tablespace_advisor.written_name(name name, schema regnamespace)
RETURNS text
AS 'MODULE_PATHNAME', 'tsa_written_name'
LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION tablespace_advisor.written_name IS
	'the name of a function in a schema, without the schema if the search_path of the session finds that function and no other';

CREATE FUNCTION tablespace_advisor.needs_types(name name, schema regnamespace)
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_needs_types'
LANGUAGE C STABLE STRICT;
COMMENT ON FUNCTION tablespace_advisor.needs_types IS
	'whether a schema has more than one function of that name';

CREATE FUNCTION tablespace_advisor.written_call(name name)
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.written_name(name, '@extschema@'::regnamespace)
$$;
COMMENT ON FUNCTION tablespace_advisor.written_call IS
	'written_name() of a function of this extension for users';

CREATE FUNCTION tablespace_advisor.written_argument(function name, value text, type text)
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT quote_literal(value) || CASE WHEN tablespace_advisor.needs_types(function, '@extschema@'::regnamespace)
		THEN '::pg_catalog.' || type ELSE '' END
$$;
COMMENT ON FUNCTION tablespace_advisor.written_argument IS
	'an argument of a function of this extension for users, with its type if another function has the same name';

/* In lines, between words, for a column of a table. */
CREATE FUNCTION tablespace_advisor.wrapped(message text, width int)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT rtrim(regexp_replace(message, format('(.{1,%s})(?: |$)', width), E'\\1\n', 'g'), E'\n')
$$;
COMMENT ON FUNCTION tablespace_advisor.wrapped IS
	'a text in lines of so many characters, or of one word';

CREATE FUNCTION tablespace_advisor.round_to_three(number float8)
RETURNS float8
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_round_to_three';
COMMENT ON FUNCTION tablespace_advisor.round_to_three IS
	'a measured number with three significant digits; 0 below 0.0001, where it would have an exponent';

GRANT EXECUTE ON FUNCTION
	tablespace_advisor.round_to_three, tablespace_advisor.wrapped,
	tablespace_advisor.written_relation, tablespace_advisor.written_name,
	tablespace_advisor.written_call, tablespace_advisor.written_argument,
	tablespace_advisor.needs_types TO pg_monitor;
