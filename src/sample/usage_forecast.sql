
/*
 * src/sample/usage_forecast.sql
 *
 * Growth by the estimator of Theil and Sen: the median of the slopes between
 * all pairs of points.  A bulk load or a move to another tablespace is a step
 * in an otherwise slow line; least squares would follow it.  The interval is
 * that of the ranks of the slopes (Sen 1968); successive sizes depend on each
 * other, so that it is rather too narrow.
 */
CREATE FUNCTION tablespace_advisor.trend(
	days float8[],
	amounts float8[],
	OUT slope float8,
	OUT slope_low float8,
	OUT slope_high float8)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH point AS (
		SELECT p.at, p.amount FROM unnest(days, amounts) p(at, amount)
		WHERE p.at IS NOT NULL AND p.amount IS NOT NULL
	), slopes AS (
		SELECT array_agg((b.amount - a.amount) / (b.at - a.at)
				ORDER BY (b.amount - a.amount) / (b.at - a.at)) AS s
		FROM point a JOIN point b ON b.at > a.at
	), rank AS (
		SELECT s, cardinality(s) AS n,
			1.96 * sqrt(k * (k - 1) * (2 * k + 5) / 18) AS spread
		FROM slopes, (SELECT count(*)::float8 AS k FROM point) c
	)
	SELECT (s[(n + 1) / 2] + s[n / 2 + 1]) / 2,
		s[nullif(greatest(floor((n - spread) / 2)::int, 0), 0)],
		CASE WHEN floor((n - spread) / 2) >= 1
			THEN s[least(ceil((n + spread) / 2)::int + 1, n)] END
	FROM rank
$$;

COMMENT ON FUNCTION tablespace_advisor.trend(float8[], float8[]) IS
	'amount per day: the median of the slopes between all pairs of points, and the 95 % interval, NULL where there are too few points for one';

/* At most a hundred points, evenly spread: the last one of each stretch. */
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
	), last AS (
		SELECT DISTINCT ON (p.tablespace, stretch)
			p.tablespace, p.day, p.used_bytes, p.free_bytes
		FROM point p
		CROSS JOIN LATERAL
			(SELECT floor(100 * p.day / nullif(p.length, 0)) AS stretch) f
		ORDER BY p.tablespace, stretch, p.day DESC
	)
	SELECT l.tablespace, array_agg(l.day ORDER BY l.day),
		array_agg(l.used_bytes::float8 ORDER BY l.day),
		array_agg(l.free_bytes::float8 ORDER BY l.day)
	FROM last l GROUP BY l.tablespace
$$;

COMMENT ON FUNCTION tablespace_advisor.usage_history() IS
	'per tablespace: days since the first sample, bytes of this database''s relations and bytes free then, at most about a hundred points';

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
		SELECT p.*, g.slope, g.slope_low, g.slope_high, f.until_full,
			f.until_full_low, f.until_full_high
		FROM place p
		CROSS JOIN LATERAL tablespace_advisor.trend(p.days, p.used) g
		CROSS JOIN LATERAL tablespace_advisor.trend(p.days, p.free) s
		CROSS JOIN LATERAL (SELECT
			CASE WHEN s.slope < 0 THEN p.free[p.n] / -s.slope END
				AS until_full,
			CASE WHEN s.slope_low < 0 THEN p.free[p.n] / -s.slope_low END
				AS until_full_low,
			CASE WHEN s.slope_high < 0 THEN p.free[p.n] / -s.slope_high END
				AS until_full_high) f
		/* eight points have an interval that says something */
		WHERE p.n >= 8 AND p.length >= 1
	)
	SELECT t.spcname, p.used[p.n]::bigint, f.slope, f.slope_low, f.slope_high,
		p.free[p.n]::bigint, f.until_full, f.until_full_low,
		f.until_full_high, p.length,
		CASE
			WHEN p.n = 0 AND EXISTS (SELECT FROM tablespace_advisor.sample)
				THEN 'nothing was there yet when samples were taken'
			WHEN p.n = 0 THEN 'no samples: CALL sample_activity(), or preload the library'
			WHEN p.n = 1 THEN 'history too short: one sample; at least 24 hours and 8 samples are needed'
			WHEN f.oid IS NULL THEN format('history too short: %s and %s samples; at least 24 hours and 8 samples are needed',
				CASE WHEN p.length < 0.1 THEN round((1440 * p.length)::numeric, 1) || ' minutes'
					ELSE round((24 * p.length)::numeric, 1) || ' hours' END, p.n)
			WHEN p.free[p.n] IS NULL THEN 'free space is not known'
			WHEN f.until_full IS NOT NULL AND f.until_full_high IS NULL
				THEN 'it may never be full: the interval of its growth includes none'
			WHEN f.until_full > 10 * p.length THEN 'days_until_full is more than ten times as long as the history'
		END
	FROM place p
	JOIN pg_tablespace t ON t.oid = p.oid
	LEFT JOIN forecast f ON f.oid = p.oid
	ORDER BY f.until_full NULLS LAST, t.spcname;
END;

COMMENT ON FUNCTION @extschema@.forecast_tablespace_usage() IS
	'per tablespace that relations of this database are in: used_bytes: of these relations; growth_bytes_per_day: theirs, with a 95 % interval; free_bytes: in the file system; days_until_full: when it shrinks as it did, whoever fills it, with a 95 % interval, NULL: it does not shrink; history_days: from the first to the last sample; caveat: why not to trust the row, NULL if there is no reason. All from samples.';

REVOKE ALL ON FUNCTION @extschema@.forecast_tablespace_usage() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tablespace_advisor.trend(float8[], float8[]),
	tablespace_advisor.usage_history(),
	@extschema@.forecast_tablespace_usage() TO pg_monitor;
