/* Copyright (c) 2026, The tablespace_advisor developers */

/* Daily time windows, by the server's clock. */

CREATE FUNCTION tablespace_advisor.window_opens(during text, at timestamptz)
RETURNS timestamptz
LANGUAGE c STABLE STRICT
AS 'MODULE_PATHNAME', 'tsa_window_opens';
COMMENT ON FUNCTION tablespace_advisor.window_opens(text, timestamptz) IS
	'when a daily time window opens after a moment, in the time zone log_timezone; NULL if it is open then, or without a window';

CREATE FUNCTION tablespace_advisor.window_end(
	during text, since timestamptz, seconds float8)
RETURNS timestamptz
LANGUAGE c STABLE
AS 'MODULE_PATHNAME', 'tsa_window_end';
COMMENT ON FUNCTION tablespace_advisor.window_end(text, timestamptz, float8) IS
	'when a daily time window will have been open for so many seconds; without a window, so many seconds later; NULL if that is too far away';

COMMENT ON COLUMN tablespace_advisor.job.during IS
	'daily time window in which the move may work, in the time zone log_timezone; NULL: always';
