/*
 * Hypertables of TimescaleDB: their chunks, and where new ones are made.
 *
 * Its catalog changes with its versions.  Each fact is read by the columns that
 * have had it: a chunk is named by schema_name and table_name, from 2.29 on by
 * relid; its bound is in dimension_slice, up to 2.27 by way of chunk_constraint;
 * the relation of its compressed rows is in compression_settings, up to 2.18 a
 * chunk of its own.  Where one of them is nowhere, nothing is read.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.knows_chunks()
RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH need(fact, table_name, columns) AS (VALUES
		('chunk', 'chunk', '{id,hypertable_id,status,schema_name,table_name}'),
		('chunk', 'chunk', '{id,hypertable_id,status,relid}'),
		('slice', 'dimension_slice', '{dimension_id,range_end,chunk_id}'),
		('slice', 'chunk_constraint', '{chunk_id,dimension_slice_id}'),
		('compressed', 'compression_settings', '{relid,compress_relid}'),
		('compressed', 'chunk', '{id,compressed_chunk_id}'),
		('bound', 'dimension_slice', '{id,dimension_id,range_end}'),
		('key', 'dimension',
			'{id,hypertable_id,column_type,interval_length,partitioning_func}'),
		('policy', 'bgw_job', '{hypertable_id,proc_name,scheduled,config}'),
		('place', 'tablespace', '{hypertable_id,tablespace_name}'))
	SELECT bool_and(f.is_known)
	FROM (SELECT bool_or(tablespace_advisor.has_member_columns('timescaledb',
			n.table_name::name, n.columns::name[])) AS is_known
		FROM need n GROUP BY n.fact) f
$$;
COMMENT ON FUNCTION tablespace_advisor.knows_chunks() IS
	'whether all that chunks_of() and hypertable_retention() need is in TimescaleDB''s catalog, in a form that is known';

CREATE FUNCTION tablespace_advisor.hypertable_of(
	target oid, OUT id text, OUT version text, OUT is_known boolean)
RETURNS SETOF record
LANGUAGE sql STABLE ROWS 1
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT h.fields[1], e.extversion, tablespace_advisor.knows_chunks()
	FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN tablespace_advisor.member_rows('timescaledb', 'hypertable',
				'{id,schema_name,table_name}') h
			ON h.fields[2] = n.nspname AND h.fields[3] = c.relname
		JOIN pg_extension e ON e.extname = 'timescaledb'
	WHERE c.oid = target
$$;
COMMENT ON FUNCTION tablespace_advisor.hypertable_of(oid) IS
	'number of a hypertable of TimescaleDB, its version, and whether its catalog is known; no row for other tables';

/*
 * The end of a chunk as a time.  Times, those in UUIDs of version 7 among them, are
 * kept in microseconds since 1970, of dates and timestamps without time zone by the
 * clock on the wall; the unit of numbers is not known.
 */
CREATE FUNCTION tablespace_advisor.chunk_end(range_end bigint, type oid)
RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN abs(range_end / 1000000) > 6000000000000 THEN NULL
		WHEN type IN ('timestamptz'::regtype, 'uuid'::regtype) THEN t.time
		WHEN type IN ('date'::regtype, 'timestamp'::regtype)
			THEN (t.time AT TIME ZONE 'UTC')::timestamptz
		END
	FROM (SELECT to_timestamp(range_end / 1e6)) t(time)
$$;
COMMENT ON FUNCTION tablespace_advisor.chunk_end(bigint, oid) IS
	'the upper bound of a chunk along a dimension of that type, which TimescaleDB keeps as a number; NULL where it is no time or has no end';

/* Rows of TimescaleDB's table of chunks; bit 0 of its status: compressed. */
CREATE FUNCTION tablespace_advisor.chunks_listed()
RETURNS TABLE (id text, hypertable text, relation oid, is_compressed boolean)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT r.fields[1], r.fields[2], c.oid, r.fields[3]::int & 1 = 1
	FROM tablespace_advisor.member_rows('timescaledb', 'chunk',
			'{id,hypertable_id,status,schema_name,table_name}') r
		JOIN pg_namespace n ON n.nspname = r.fields[4]
		JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = r.fields[5]
	UNION
	SELECT r.fields[1], r.fields[2], r.fields[4]::oid, r.fields[3]::int & 1 = 1
	FROM tablespace_advisor.member_rows('timescaledb', 'chunk',
			'{id,hypertable_id,status,relid}') r
$$;
COMMENT ON FUNCTION tablespace_advisor.chunks_listed() IS
	'chunks of all hypertables of TimescaleDB, with those that hold compressed rows of others where it lists them';

CREATE FUNCTION tablespace_advisor.compressed_relations()
RETURNS TABLE (chunk oid, relation oid)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT s.fields[1]::oid, s.fields[2]::oid
	FROM tablespace_advisor.member_rows('timescaledb', 'compression_settings',
			'{relid,compress_relid}') s
	WHERE s.fields[2] IS NOT NULL
	UNION
	SELECT c.relation, z.relation
	FROM tablespace_advisor.member_rows('timescaledb', 'chunk',
			'{id,compressed_chunk_id}') r
		JOIN tablespace_advisor.chunks_listed() c ON c.id = r.fields[1]
		JOIN tablespace_advisor.chunks_listed() z ON z.id = r.fields[2]
$$;
COMMENT ON FUNCTION tablespace_advisor.compressed_relations() IS
	'the relations in which TimescaleDB keeps the compressed rows of chunks';

CREATE FUNCTION tablespace_advisor.chunk_bounds(hypertable text)
RETURNS TABLE (chunk text, upper_bound timestamptz)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH dimension AS MATERIALIZED (
		SELECT d.fields[1] AS id,
			CASE WHEN d.fields[5] IS NULL THEN d.fields[3]::oid END AS type
		FROM tablespace_advisor.member_rows('timescaledb', 'dimension',
				'{id,hypertable_id,column_type,interval_length,partitioning_func}') d
		WHERE d.fields[2] = hypertable AND d.fields[4] IS NOT NULL
		ORDER BY d.fields[1]::int LIMIT 1
	), slice AS (
		SELECT s.fields[3] AS chunk, s.fields[1] AS dimension, s.fields[2] AS range_end
		FROM tablespace_advisor.member_rows('timescaledb', 'dimension_slice',
				'{dimension_id,range_end,chunk_id}') s
		UNION
		SELECT c.fields[1], s.fields[1], s.fields[2]
		FROM tablespace_advisor.member_rows('timescaledb', 'dimension_slice',
				'{dimension_id,range_end,id}') s
			JOIN tablespace_advisor.member_rows('timescaledb', 'chunk_constraint',
				'{chunk_id,dimension_slice_id}') c ON c.fields[2] = s.fields[3]
	)
	SELECT s.chunk, tablespace_advisor.chunk_end(s.range_end::bigint, d.type)
	FROM slice s JOIN dimension d ON d.id = s.dimension
$$;
COMMENT ON FUNCTION tablespace_advisor.chunk_bounds(text) IS
	'the upper bounds of chunks along the first open dimension of a hypertable; NULL where a function makes the values of that dimension';

/*
 * A chunk is believed to be one if it inherits from the hypertable, and a
 * relation to hold its compressed rows if it has the same owner.
 */
CREATE FUNCTION tablespace_advisor.chunks_of(target oid)
RETURNS TABLE (member oid, chunk oid, upper_bound timestamptz, is_whole boolean)
LANGUAGE sql STABLE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH hypertable AS MATERIALIZED (
		SELECT h.id FROM tablespace_advisor.hypertable_of(target) h
		WHERE h.is_known
	), bound AS MATERIALIZED (
		SELECT b.*
		FROM hypertable h
			CROSS JOIN LATERAL tablespace_advisor.chunk_bounds(h.id) b
	), chunk AS MATERIALIZED (
		SELECT c.oid AS chunk, c.relowner, r.is_compressed, b.upper_bound
		FROM hypertable h
			JOIN tablespace_advisor.chunks_listed() r ON r.hypertable = h.id
			JOIN pg_class c ON c.oid = r.relation
			JOIN pg_inherits i ON i.inhrelid = c.oid AND i.inhparent = target
			LEFT JOIN bound b ON b.chunk = r.id
	), compressed AS MATERIALIZED (
		SELECT c.chunk, c.upper_bound, z.oid AS relation
		FROM chunk c
			JOIN tablespace_advisor.compressed_relations() r USING (chunk)
			JOIN pg_class z ON z.oid = r.relation AND z.relowner = c.relowner
	)
	SELECT c.chunk, c.chunk, c.upper_bound,
		NOT c.is_compressed OR c.chunk IN (SELECT z.chunk FROM compressed z)
	FROM chunk c
	UNION ALL
	SELECT z.relation, z.chunk, z.upper_bound, true FROM compressed z
$$;
COMMENT ON FUNCTION tablespace_advisor.chunks_of(oid) IS
	'the chunks of a hypertable and, with their chunk''s bound, the relations of their compressed rows; is_whole: unless there are such rows and it is not known where';

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
