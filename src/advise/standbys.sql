/* Copyright (c) 2026, The tablespace_advisor developers */

CREATE FUNCTION tablespace_advisor.add_reads(
	a tablespace_advisor.relation_fact,
	reads float8,
	hits float8,
	scans float8)
RETURNS tablespace_advisor.relation_fact
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	/* a read there is taken to wait as long as one here */
	a.waiting_sessions := a.waiting_sessions
		* (1 + coalesce(reads / nullif(a.reads_per_s, 0), 0));
	a.reads_per_s := coalesce(a.reads_per_s, 0) + reads;
	a.hits_per_s := coalesce(a.hits_per_s, 0) + hits;
	a.scans := coalesce(a.scans, 0) + (scans > 0)::int;
	RETURN a;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.add_reads(tablespace_advisor.relation_fact, float8, float8, float8) IS
	'the fact with reads and hits per second of others added, and a scan if there are any';

/* Reads of standbys count as reads of the primary. */
CREATE FUNCTION tablespace_advisor.with_standby_reads(
	relations tablespace_advisor.relation_fact[])
RETURNS SETOF tablespace_advisor.relation_fact
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT (f.fact).*
	FROM (SELECT CASE WHEN s.reads IS NULL THEN r
				ELSE tablespace_advisor.add_reads(r, s.reads, s.hits, s.scans) END AS fact
		FROM tablespace_advisor.elements(relations) r
		LEFT JOIN
			(SELECT m.member, sum(m.reads_per_s) AS reads, sum(m.hits_per_s) AS hits,
					max(m.scans_per_s) AS scans
				FROM tablespace_advisor.standby_reads() m GROUP BY m.member) s
			ON s.member = r.relation
		/* else the fact is made once for each of its columns */
		OFFSET 0) f
$$;
COMMENT ON FUNCTION tablespace_advisor.with_standby_reads(tablespace_advisor.relation_fact[]) IS
	'the facts on relations, with rows brought from standbys within a day: reads, hits, and that an index is scanned';
