/*
 * src/move/intervals.sql
 *
 * How sure a difference between samples before a move and samples after it is.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.ratio_error(amounts float8[], bases float8[])
RETURNS float8
LANGUAGE C IMMUTABLE
AS 'MODULE_PATHNAME', 'tsa_ratio_error';
COMMENT ON FUNCTION tablespace_advisor.ratio_error(float8[], float8[]) IS
	'standard error of the sum of amounts over that of bases, of which each sample has one; NULL with fewer than three samples, or if no two have bases';

/* Student's t for as many degrees of freedom as Welch gives, by expansion. */
CREATE FUNCTION tablespace_advisor.difference_error(
	error_before float8,
	n_before int,
	error_after float8,
	n_after int)
RETURNS float8
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT sqrt(d.square) * CASE WHEN d.square > 0
		THEN 1.96 + 2.3723 / d.freedom + 2.8225 / d.freedom ^ 2 + 2.5558 / d.freedom ^ 3
		ELSE 0 END
	FROM (SELECT error_before ^ 2 + error_after ^ 2 AS square,
		(error_before ^ 2 + error_after ^ 2) ^ 2 / nullif(error_before ^ 4 / (n_before - 1)
			+ error_after ^ 4 / (n_after - 1), 0) AS freedom) d
$$;
COMMENT ON FUNCTION tablespace_advisor.difference_error(float8, int, float8, int) IS
	'half width of the 95 % interval of a difference of two means of so many samples, from their standard errors';
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.ratio_error, tablespace_advisor.difference_error TO pg_monitor;

/*
 * The difference that a forecast and an outcome may have: a quarter, and a
 * thousandth of all reading.
 */
CREATE FUNCTION tablespace_advisor.outcome_band(forecast float8, read_ms float8)
RETURNS float8
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT greatest(0.25 * abs(forecast), read_ms / 1000)
$$;
COMMENT ON FUNCTION tablespace_advisor.outcome_band(float8, float8) IS
	'how much less or more than forecast may be saved and still be as forecast: a quarter of it, or a thousandth of all reading';

CREATE FUNCTION tablespace_advisor.outcome_word(
	forecast float8,
	saved float8,
	error float8,
	band float8)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
	WHEN saved IS NULL THEN 'not measured'
	WHEN forecast IS NULL THEN 'no forecast'
	WHEN error IS NULL THEN 'too few samples'
	WHEN saved + error < forecast - band THEN 'saved less'
	WHEN saved - error > forecast + band THEN 'saved more'
	WHEN error > band THEN 'within noise'
	ELSE 'as forecast' END
$$;
COMMENT ON FUNCTION tablespace_advisor.outcome_word(float8, float8, float8, float8) IS
	'a forecast beside the saving, with half the width of its 95 % interval; within noise: these cannot be told apart';
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.outcome_band, tablespace_advisor.outcome_word TO pg_monitor;
