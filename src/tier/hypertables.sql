/*
 * Hypertables of TimescaleDB: their chunks, and where new ones are made.
 *
 * Its catalog changes with its versions (2.28 put bounds into dimension_slice,
 * 2.29 took names out of chunk), so that of one version is read and no other.
 */
CREATE FUNCTION tablespace_advisor.hypertable_of(
	target oid, OUT id text, OUT version text, OUT is_known boolean)
RETURNS SETOF record
LANGUAGE sql STABLE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT h.fields[1], e.extversion, e.extversion LIKE '2.28.%'
	FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN tablespace_advisor.member_rows('timescaledb', 'hypertable',
				'{id,schema_name,table_name}') h
			ON h.fields[2] = n.nspname AND h.fields[3] = c.relname
		JOIN pg_extension e ON e.extname = 'timescaledb'
	WHERE c.oid = target
$$;
COMMENT ON FUNCTION tablespace_advisor.hypertable_of(oid) IS
	'number of a hypertable of TimescaleDB, its version, and whether that is one whose catalog is known; no row for other tables';

/*
 * The end of a chunk as a time.  Times are kept in microseconds since 1970, of
 * dates and timestamps without time zone by the clock on the wall; what numbers
 * count is not known.
 */
CREATE FUNCTION tablespace_advisor.chunk_end(range_end bigint, type oid)
RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN abs(range_end / 1000000) > 6000000000000 THEN NULL
		WHEN type = 'timestamptz'::regtype THEN t.time
		WHEN type IN ('date'::regtype, 'timestamp'::regtype)
			THEN (t.time AT TIME ZONE 'UTC')::timestamptz
		END
	FROM (SELECT to_timestamp(range_end / 1e6)) t(time)
$$;
COMMENT ON FUNCTION tablespace_advisor.chunk_end(bigint, oid) IS
	'the upper bound of a chunk along a dimension of that type, which TimescaleDB keeps as a number; NULL where it is no time or has no end';

/*
 * A chunk is believed to be one if it inherits from the hypertable, and a
 * relation to hold its compressed rows if it has the same owner.
 */
CREATE FUNCTION tablespace_advisor.chunks_of(target oid)
RETURNS TABLE (member oid, chunk oid, upper_bound timestamptz)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH hypertable AS MATERIALIZED (
		SELECT h.id FROM tablespace_advisor.hypertable_of(target) h
		WHERE h.is_known
	), dimension AS MATERIALIZED (
		SELECT d.fields[1] AS id, d.fields[3]::oid AS type
		FROM tablespace_advisor.member_rows('timescaledb', 'dimension',
				'{id,hypertable_id,column_type,interval_length}') d
			JOIN hypertable h ON h.id = d.fields[2]
		WHERE d.fields[4] IS NOT NULL
		ORDER BY d.fields[1]::int LIMIT 1
	), slice AS MATERIALIZED (
		SELECT s.fields[1] AS chunk,
			tablespace_advisor.chunk_end(s.fields[3]::bigint, d.type) AS upper_bound
		FROM tablespace_advisor.member_rows('timescaledb', 'dimension_slice',
				'{chunk_id,dimension_id,range_end}') s
			JOIN dimension d ON d.id = s.fields[2]
	), chunk AS MATERIALIZED (
		SELECT c.oid AS chunk, c.relowner, s.upper_bound
		FROM tablespace_advisor.member_rows('timescaledb', 'chunk',
				'{id,hypertable_id,schema_name,table_name}') r
			JOIN hypertable h ON h.id = r.fields[2]
			JOIN pg_namespace n ON n.nspname = r.fields[3]
			JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = r.fields[4]
			JOIN pg_inherits i ON i.inhrelid = c.oid AND i.inhparent = target
			LEFT JOIN slice s ON s.chunk = r.fields[1]
	)
	SELECT c.chunk, c.chunk, c.upper_bound FROM chunk c
	UNION ALL
	SELECT z.oid, c.chunk, c.upper_bound
	FROM chunk c
		JOIN tablespace_advisor.member_rows('timescaledb', 'compression_settings',
			'{relid,compress_relid}') s ON s.fields[1] = c.chunk::text
		JOIN pg_class z ON z.oid = s.fields[2]::oid AND z.relowner = c.relowner
$$;
COMMENT ON FUNCTION tablespace_advisor.chunks_of(oid) IS
	'the chunks of a hypertable and, with their chunk''s bound, the relations of their compressed rows';

CREATE FUNCTION tablespace_advisor.hypertable_retention(target oid)
RETURNS interval
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT min(c.config->>'drop_after')::interval
	FROM tablespace_advisor.hypertable_of(target) h
		JOIN tablespace_advisor.member_rows('timescaledb', 'bgw_job',
				'{hypertable_id,proc_name,scheduled,config}') j
			ON j.fields[1] = h.id AND j.fields[2] = 'policy_retention'
				AND j.fields[3] = 't'
		CROSS JOIN LATERAL (SELECT j.fields[4]::jsonb) c(config)
	WHERE h.is_known AND c.config->>'drop_after' !~ '^[0-9]+$'
$$;
COMMENT ON FUNCTION tablespace_advisor.hypertable_retention(oid) IS
	'after which time a policy of TimescaleDB drops chunks of a hypertable; NULL if none does';

CREATE FUNCTION tablespace_advisor.attached_tablespaces(target oid)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT string_agg(quote_ident(a.fields[2]), ', ' ORDER BY a.fields[2])
	FROM tablespace_advisor.hypertable_of(target) h
		JOIN tablespace_advisor.member_rows('timescaledb', 'tablespace',
			'{hypertable_id,tablespace_name}') a ON a.fields[1] = h.id
$$;
COMMENT ON FUNCTION tablespace_advisor.attached_tablespaces(oid) IS
	'tablespaces in which TimescaleDB makes new chunks of a hypertable; NULL if none is attached';
