/* Copyright (c) 2026, The tablespace_advisor developers */

/*
 * src/sample/table_residency.sql
 *
 * How much of a table caches hold, kept for the planner, which cannot look.
 * A table gets here when the locality of its indexes is measured, and from
 * then on every sample looks at it again.
 */
COMMENT ON TABLE tablespace_advisor.table_residency IS
	'share of the blocks of tables with a measured locality that caches held when that was measured or when the last sample was taken';
COMMENT ON COLUMN tablespace_advisor.table_residency.shared_fraction IS
	'share of its blocks in shared buffers, 0 to 1';
COMMENT ON COLUMN tablespace_advisor.table_residency.system_fraction IS
	'share of its blocks that are in the system''s cache and not in shared buffers';
COMMENT ON COLUMN tablespace_advisor.table_residency.measured_at IS
	'the planner takes it for an hour, until the server is started anew';
GRANT SELECT ON tablespace_advisor.table_residency TO pg_monitor;

CREATE FUNCTION tablespace_advisor.residency_shares(
	relations oid[],
	OUT relation oid,
	OUT shared_fraction float8,
	OUT system_fraction float8)
RETURNS SETOF record
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT r.relation, s.share,
		least(r.system_only_blocks::float8 / r.blocks, 1 - s.share)
	FROM tablespace_advisor.relations_residency(relations, 16 * 1048576) r
	CROSS JOIN LATERAL
		(SELECT least(r.shared_blocks::float8 / r.blocks, 1) AS share) s
	WHERE r.blocks > 0 AND r.system_only_blocks IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.residency_shares(oid[]) IS
	'shares of the relations'' blocks that are in shared buffers, and in the system''s cache only; no row where that is not known';

CREATE FUNCTION tablespace_advisor.keep_residency(relation oid)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	INSERT INTO tablespace_advisor.table_residency AS t
		(relation, shared_fraction, system_fraction, measured_at)
	SELECT r.relation, r.shared_fraction, r.system_fraction, clock_timestamp()
	FROM tablespace_advisor.residency_shares(ARRAY[$1]) r
	ON CONFLICT (relation) DO UPDATE
	SET shared_fraction = excluded.shared_fraction,
		system_fraction = excluded.system_fraction,
		measured_at = excluded.measured_at
$$;
COMMENT ON FUNCTION tablespace_advisor.keep_residency(oid) IS
	'looks how much of a table caches hold, and keeps it in table_residency from now on';

CREATE FUNCTION tablespace_advisor.renew_plans(relation oid)
RETURNS void
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'tsa_renew_plans';
COMMENT ON FUNCTION tablespace_advisor.renew_plans(oid) IS
	'has all sessions plan anew their statements on the relation';

/*
 * A sample does not wait for a session that keeps a row in a transaction that
 * is still open.  A change of less than a twentieth is no reason to plan anew.
 */
CREATE FUNCTION tablespace_advisor.refresh_residency()
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH known AS MATERIALIZED (
		SELECT t.* FROM tablespace_advisor.table_residency t
		FOR UPDATE SKIP LOCKED
	), gone AS (
		DELETE FROM tablespace_advisor.table_residency t
		USING known k
		WHERE t.relation = k.relation
			AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = k.relation)
	), found AS MATERIALIZED (
		SELECT r.* FROM tablespace_advisor.residency_shares(
			array(SELECT k.relation FROM known k)) r
	), kept AS (
		UPDATE tablespace_advisor.table_residency t
		SET shared_fraction = f.shared_fraction,
			system_fraction = f.system_fraction,
			measured_at = clock_timestamp()
		FROM found f WHERE t.relation = f.relation
	)
	SELECT tablespace_advisor.renew_plans(f.relation)
	FROM found f JOIN known k USING (relation)
	WHERE abs(f.shared_fraction + f.system_fraction
		- k.shared_fraction - k.system_fraction) > 0.05
$$;
COMMENT ON FUNCTION tablespace_advisor.refresh_residency() IS
	'looks again at all tables in table_residency';
