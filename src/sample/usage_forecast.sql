/*
 * src/sample/usage_forecast.sql
 *
 * When tablespaces will be full.  growth.c says how the pace is found.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.growth(
	days float8[],
	amounts float8[],
	OUT slope float8,
	OUT slope_low float8,
	OUT slope_high float8,
	OUT begun float8,
	OUT slope_before float8,
	OUT step_at float8,
	OUT step float8,
	OUT period float8,
	OUT until_zero float8,
	OUT until_zero_low float8,
	OUT until_zero_high float8,
	OUT load float8,
	OUT load_period float8)
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_growth';

COMMENT ON FUNCTION tablespace_advisor.growth(float8[], float8[]) IS
	'present pace of an amount, per day, with its 95 % interval; begun: the day on which that pace began; slope_before: the pace before; step_at, step: day and height of the latest step; period: days between rises that recur; until_zero: days from the last point until the amount is zero at this pace, NULL: it does not fall; load: height of the latest of loads that recur, load_period: days between them, NULL: not known yet. Points with NULL are left out; NULL for fewer than three';

/*
 * A point a day, counted back from the last sample, or a sixteenth of a history
 * that is shorter than eight days.  A disk is full when its free space is at
 * the lowest, so that counts; but the last point is the last sample.
 */
CREATE FUNCTION tablespace_advisor.usage_history(
	OUT tablespace oid,
	OUT days float8[],
	OUT used float8[],
	OUT free float8[])
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH point AS (
		SELECT t.tablespace, t.used_bytes, t.free_bytes,
			extract(epoch FROM s.taken_at
				- min(s.taken_at) OVER ())::float8 / 86400 AS day,
			extract(epoch FROM max(s.taken_at) OVER ()
				- min(s.taken_at) OVER ())::float8 / 86400 AS length
		FROM tablespace_advisor.tablespace_sample t
		JOIN tablespace_advisor.sample s USING (sample_id)
	), chosen AS (
		SELECT DISTINCT ON (p.tablespace, f.stretch)
			p.tablespace, p.day, p.used_bytes, p.free_bytes
		FROM point p
		CROSS JOIN LATERAL (SELECT floor((p.length - p.day)
			/ nullif(CASE WHEN p.length < 8 THEN p.length / 16
				ELSE greatest(1, p.length / 500) END, 0)) AS stretch) f
		ORDER BY p.tablespace, f.stretch,
			CASE WHEN f.stretch > 0 THEN p.free_bytes END, p.day DESC
	)
	SELECT c.tablespace, array_agg(c.day ORDER BY c.day),
		array_agg(c.used_bytes::float8 ORDER BY c.day),
		array_agg(c.free_bytes::float8 ORDER BY c.day)
	FROM chosen c GROUP BY c.tablespace
$$;

COMMENT ON FUNCTION tablespace_advisor.usage_history() IS
	'per tablespace: days since the first sample, bytes of this database''s relations and bytes free then, a point for each day (its lowest free space), at most about 500';

/* Changes of less than a hundredth of the free space are not worth a word. */
CREATE FUNCTION tablespace_advisor.growth_caveat(
	free float8,
	days_now float8,
	last_sample timestamptz,
	begun float8,
	slope float8,
	slope_before float8,
	step_at float8,
	step float8,
	period float8,
	load float8,
	load_period float8)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT nullif(concat_ws('; ',
		CASE WHEN period IS NOT NULL
			THEN format('free space rises every %s days: the forecast follows its lowest points',
				round(period::numeric, 1)) END,
		CASE WHEN abs(load) < 0.01 * free THEN NULL
		WHEN load_period IS NOT NULL
			THEN format('%s are filled at once every %s days: the forecast includes that',
				pg_size_pretty(abs(load)::bigint), round(load_period::numeric, 1))
		WHEN load IS NOT NULL
			THEN format('the forecast takes it that loads like that of %s recur: the history is too short to tell',
				pg_size_pretty(abs(load)::bigint)) END,
		CASE WHEN days_now - begun < 30 AND abs(slope - slope_before) > 0.2 * abs(slope)
				AND abs(slope - slope_before) * 30 > 0.01 * free
			THEN format('since %s free space %s by %s a day; before, it %s by %s',
				to_char(last_sample - (days_now - begun) * interval '1 day', 'YYYY-MM-DD'),
				CASE WHEN slope < 0 THEN 'shrinks' ELSE 'grows' END,
				pg_size_pretty(abs(slope)::bigint),
				CASE WHEN slope_before < 0 THEN 'shrank' ELSE 'grew' END,
				pg_size_pretty(abs(slope_before)::bigint)) END,
		CASE WHEN abs(step) < 0.01 * free THEN NULL
		WHEN step > 0
			THEN format('free space rose by %s on %s: volume enlarged, or files removed',
				pg_size_pretty(step::bigint),
				to_char(last_sample - (days_now - step_at) * interval '1 day', 'YYYY-MM-DD'))
		WHEN step < 0
			THEN format('the forecast leaves out that %s were filled on %s',
				pg_size_pretty(-step::bigint),
				to_char(last_sample - (days_now - step_at) * interval '1 day', 'YYYY-MM-DD')) END), '')
$$;

COMMENT ON FUNCTION tablespace_advisor.growth_caveat(float8, float8, timestamptz, float8, float8, float8, float8, float8, float8, float8, float8) IS
	'the grounds of a forecast of free space: changes of pace, steps and rises that recur (see growth()); NULL: a single steady pace';

CREATE FUNCTION @extschema@.forecast_tablespace_usage(
	OUT tablespace name,
	OUT used_bytes bigint,
	OUT growth_bytes_per_day float8,
	OUT growth_low_bytes_per_day float8,
	OUT growth_high_bytes_per_day float8,
	OUT free_bytes bigint,
	OUT days_until_full float8,
	OUT days_low float8,
	OUT days_high float8,
	OUT history_days float8,
	OUT caveat text)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH place AS (
		SELECT h.tablespace AS oid, h.days, h.used, h.free,
			cardinality(h.days) AS n,
			h.days[cardinality(h.days)] - h.days[1] AS length
		FROM tablespace_advisor.usage_history() h
		UNION ALL
		SELECT i.tablespace, NULL::float8[], NULL::float8[],
			NULL::float8[], 0, 0::float8
		FROM tablespace_advisor.used_tablespace i
		WHERE NOT EXISTS (SELECT FROM tablespace_advisor.tablespace_sample t
			WHERE t.tablespace = i.tablespace)
	), forecast AS (
		SELECT p.*, g.slope, g.slope_low, g.slope_high, s.until_zero AS until_full,
			s.until_zero_low AS until_full_low, s.until_zero_high AS until_full_high,
			tablespace_advisor.growth_caveat(p.free[p.n], p.days[p.n],
				(SELECT max(taken_at) FROM tablespace_advisor.sample),
				s.begun, s.slope, s.slope_before, s.step_at, s.step, s.period,
				s.load, s.load_period) AS caveat
		FROM place p
		CROSS JOIN LATERAL tablespace_advisor.growth(p.days, p.used) g
		CROSS JOIN LATERAL tablespace_advisor.growth(p.days, p.free) s
		/* eight points have an interval that says something */
		WHERE p.n >= 8 AND p.length >= 1
	)
	SELECT t.spcname, p.used[p.n]::bigint,
		tablespace_advisor.round_to_three(f.slope),
		tablespace_advisor.round_to_three(f.slope_low),
		tablespace_advisor.round_to_three(f.slope_high),
		p.free[p.n]::bigint, tablespace_advisor.round_to_three(f.until_full),
		tablespace_advisor.round_to_three(f.until_full_low),
		tablespace_advisor.round_to_three(f.until_full_high), tablespace_advisor.round_to_three(p.length),
		tablespace_advisor.wrapped(CASE
			WHEN p.n = 0 AND EXISTS (SELECT FROM tablespace_advisor.sample)
				THEN 'nothing was there yet when samples were taken'
			WHEN p.n = 0 THEN 'no samples: CALL sample_activity(), or preload the library'
			WHEN p.n = 1 THEN 'history too short: one sample; at least 24 hours and 8 samples are needed'
			WHEN f.oid IS NULL THEN format('history too short: %s and %s samples; at least 24 hours and 8 samples are needed',
				CASE WHEN p.length < 0.1 THEN round((1440 * p.length)::numeric, 1) || ' minutes'
					ELSE round((24 * p.length)::numeric, 1) || ' hours' END, p.n)
			WHEN p.free[p.n] IS NULL THEN 'free space is not known'
			ELSE nullif(concat_ws('; ',
				CASE WHEN f.until_full IS NOT NULL AND f.until_full_high IS NULL
					THEN 'it may never be full: the interval of its growth includes none'
				WHEN f.until_full > 10 * p.length
					THEN 'days_until_full is more than ten times as long as the history' END,
				f.caveat), '')
		END, 60)
	FROM place p
	JOIN pg_tablespace t ON t.oid = p.oid
	LEFT JOIN forecast f ON f.oid = p.oid
	ORDER BY f.until_full NULLS LAST, t.spcname;
END;

COMMENT ON FUNCTION @extschema@.forecast_tablespace_usage() IS
	'per tablespace that relations of this database are in: used_bytes: of these relations; growth_bytes_per_day: theirs, with a 95 % interval; free_bytes: in the file system; days_until_full: at the present pace of all that fills it, with a 95 % interval, NULL: free space does not shrink; history_days: from the first to the last sample; caveat: changes of pace and steps that the forecast takes into account, or why not to trust the row; NULL: one steady pace. All from samples.';

REVOKE ALL ON FUNCTION @extschema@.forecast_tablespace_usage() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.growth, tablespace_advisor.growth_caveat, tablespace_advisor.usage_history,
	@extschema@.forecast_tablespace_usage() TO pg_monitor;
