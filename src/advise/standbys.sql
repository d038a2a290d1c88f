/* What standbys read counts as what the primary reads. */
CREATE FUNCTION tablespace_advisor.with_standby_reads(
	relations tablespace_advisor.relation_fact[])
RETURNS SETOF tablespace_advisor.relation_fact
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	f tablespace_advisor.relation_fact;
	elsewhere record;
BEGIN
	FOR f IN SELECT * FROM unnest(relations) LOOP
		SELECT sum(s.reads_per_s) AS reads, sum(s.hits_per_s) AS hits,
			max(s.scans_per_s) AS scans
		INTO elsewhere
		FROM tablespace_advisor.standby_reads() s WHERE s.member = f.relation;
		IF elsewhere.reads IS NOT NULL THEN
			f.reads_per_s := coalesce(f.reads_per_s, 0) + elsewhere.reads;
			f.hits_per_s := coalesce(f.hits_per_s, 0) + elsewhere.hits;
			f.scans := coalesce(f.scans, 0) + (elsewhere.scans > 0)::int;
		END IF;
		RETURN NEXT f;
	END LOOP;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.with_standby_reads(tablespace_advisor.relation_fact[]) IS
	'the facts on relations, with what was brought of standbys within a day: reads, hits, and that an index is scanned';
