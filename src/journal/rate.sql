/*
 * What moves have shown of the rate at which relations can be copied.
 */
CREATE FUNCTION tablespace_advisor.copied_mb_per_s(
	from_tablespace oid, to_tablespace oid)
RETURNS float8
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m.rate)
	FROM (SELECT j.bytes_total / 1048576.0::float8 / nullif(
			extract(epoch FROM j.finished_at - j.started_at)::float8
				- j.paused_ms / 1000, 0) AS rate
		FROM tablespace_advisor.job j
		WHERE j.method = 'copy' AND j.state = 'done'
			AND j.from_tablespace = $1 AND j.to_tablespace = $2
			AND j.bytes_total >= 16 * 1048576
			AND j.max_rate IS NULL
			AND j.database = (SELECT oid FROM pg_database
				WHERE datname = current_database())
			AND j.system_identifier =
				(SELECT system_identifier FROM pg_control_system())
		ORDER BY j.job_id DESC LIMIT 20) m
$$;
REVOKE ALL ON FUNCTION tablespace_advisor.copied_mb_per_s(oid, oid)
	FROM PUBLIC;
COMMENT ON FUNCTION tablespace_advisor.copied_mb_per_s(oid, oid) IS
	'median MB (1048576 bytes) per second of the last 20 live copies of 16 MB or more from one tablespace to another without max_rate, pauses left out; NULL when there was none';
