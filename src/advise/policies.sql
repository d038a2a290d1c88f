/*
 * src/advise/policies.sql
 *
 * Relations that lie where a policy wants them: partitions that are old or not
 * used, and relations that an evacuation has moved.  Advice moves them away only if
 * statements were measured to wait for them; counters do not name readers.
 * judge_partitions() in turn leaves alone partitions that advice has moved back.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.placed_by_policy()
RETURNS TABLE (relation oid, tablespace oid, policy text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN QUERY SELECT DISTINCT ON (m.relation) m.relation, j.to_tablespace,
			j.policy
		FROM tablespace_advisor.job j
		CROSS JOIN LATERAL unnest(j.relation || j.indexes) m (relation)
		WHERE j.state = 'done' AND j.policy IS NOT NULL
			AND NOT EXISTS (SELECT FROM tablespace_advisor.job l
				WHERE l.relation = j.relation AND l.job_id > j.job_id AND l.state = 'done'
					AND l.policy IS NULL)
		ORDER BY m.relation, j.job_id DESC;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.placed_by_policy() IS
	'relations that a policy was the last to move, with their indexes that moved along: where to, and by which policy';
