/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/advise/text.sql: numbers, times and names as people read them */
CREATE FUNCTION tablespace_advisor.one_line(line text, width int DEFAULT 80)
RETURNS text
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_one_line';
COMMENT ON FUNCTION tablespace_advisor.one_line(text, int) IS
	'a text cut to so many characters';

CREATE FUNCTION tablespace_advisor.three_digits(number float8)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT trim_scale(tablespace_advisor.round_to_three(number)::numeric)::text;
END;
COMMENT ON FUNCTION tablespace_advisor.three_digits(float8) IS
	'round_to_three() as text without exponent';

CREATE FUNCTION tablespace_advisor.three_digits(number jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT tablespace_advisor.three_digits((number #>> '{}')::float8);
END;
COMMENT ON FUNCTION tablespace_advisor.three_digits(jsonb) IS
	'three_digits() of a number in evidence';

CREATE FUNCTION tablespace_advisor.two_digits(number float8)
RETURNS text
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_two_digits';
COMMENT ON FUNCTION tablespace_advisor.two_digits(float8) IS
	'a number with two significant digits, or all before the point';

CREATE FUNCTION tablespace_advisor.pretty_seconds(seconds float8)
RETURNS text
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_pretty_seconds';
COMMENT ON FUNCTION tablespace_advisor.pretty_seconds(float8) IS
	'a time as text, in the unit that suits it';

CREATE FUNCTION tablespace_advisor.pretty_us(e jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT tablespace_advisor.pretty_seconds((e #>> '{}')::float8 / 1e6);
END;
COMMENT ON FUNCTION tablespace_advisor.pretty_us(jsonb) IS
	'pretty_seconds() of a number of microseconds in evidence';

GRANT EXECUTE ON FUNCTION
	tablespace_advisor.round_to_three, tablespace_advisor.one_line,
	tablespace_advisor.three_digits(float8), tablespace_advisor.three_digits(jsonb),
	tablespace_advisor.two_digits, tablespace_advisor.pretty_seconds, tablespace_advisor.pretty_us
	TO pg_monitor;
