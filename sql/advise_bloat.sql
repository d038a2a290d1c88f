-- an index that seems to be bloated is measured where pgstattuple is installed
SET client_min_messages = warning;
CREATE TABLE bloated (id int) WITH (autovacuum_enabled = off);
INSERT INTO bloated SELECT generate_series(1, 450000);
CREATE INDEX bloated_id ON bloated (id);
VACUUM ANALYZE bloated;
CREATE FUNCTION bloat() RETURNS TABLE (size_mb numeric, estimated_mb numeric, measured_mb numeric)
LANGUAGE sql AS $$
	SELECT round(f.size_bytes / 1048576.0), round(f.rebuilt_bytes / 1048576.0),
		round((tablespace_advisor.measure_bloat(f)).rebuilt_bytes / 1048576.0)
	FROM tablespace_advisor.observe_database(tables => ARRAY['bloated'::regclass]::oid[]) o,
		unnest(tablespace_advisor.relation_facts(o.relations, ARRAY['bloated'::regclass]::oid[])) f
	WHERE f.kind = 'index'
$$;
SELECT * FROM bloat();

-- the planner's statistics are wrong, and nobody can say
BEGIN;
UPDATE pg_class SET reltuples = 1000 WHERE oid = 'bloated_id'::regclass;
SELECT * FROM bloat();
CREATE EXTENSION pgstattuple;
SELECT * FROM bloat();
-- a function of that name that is not the extension's
DROP EXTENSION pgstattuple;
CREATE FUNCTION pgstatindex(regclass, OUT leaf_pages bigint, OUT internal_pages bigint,
	OUT avg_leaf_density float8) LANGUAGE sql AS 'SELECT 0::bigint, 0::bigint, 0::float8';
SELECT * FROM bloat();
ROLLBACK;

-- the statistics are right: one entry of twenty is left on each page
CREATE EXTENSION pgstattuple;
DELETE FROM bloated WHERE id % 20 <> 0;
VACUUM ANALYZE bloated;
SELECT * FROM bloat();
SELECT action, regexp_replace(reason, 'about [0-9]+ kB', 'about N kB') AS reason, statement
FROM advise_placement(target => 'bloated', tablespace => 'pg_default') WHERE kind = 'index';
-- pages without any entry, which new ones would use again, are not needed either
DELETE FROM bloated WHERE id > 1000;
VACUUM ANALYZE bloated;
SELECT * FROM bloat();

DROP EXTENSION pgstattuple;
DROP FUNCTION bloat;
DROP TABLE bloated;
