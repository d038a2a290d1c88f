-- The extension installs, says what it is, and leaves nothing behind.
CREATE EXTENSION IF NOT EXISTS tablespace_advisor;

-- everything a user can see has a comment
SELECT pg_describe_object(d.classid, d.objid, 0) AS uncommented
FROM pg_depend d
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
WHERE e.extname = 'tablespace_advisor' AND d.deptype = 'e'
  AND d.classid IN ('pg_proc'::regclass, 'pg_class'::regclass, 'pg_namespace'::regclass)
  AND obj_description(d.objid, d.classid::regclass::name) IS NULL
ORDER BY 1;

-- functions carry a fixed search_path (or a body parsed beforehand); procedures,
-- which commit, cannot
SELECT p.oid::regprocedure AS without_search_path
FROM pg_depend d
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
JOIN pg_language l ON l.oid = p.prolang
WHERE e.extname = 'tablespace_advisor' AND d.deptype = 'e'
  AND p.prokind = 'f' AND l.lanname NOT IN ('c', 'internal') AND p.prosqlbody IS NULL
  AND NOT EXISTS (SELECT FROM unnest(p.proconfig) c WHERE c LIKE 'search_path=%')
ORDER BY 1;

-- and goes without a trace
BEGIN;
DROP EXTENSION tablespace_advisor;
SELECT count(*) AS schemas_left FROM pg_namespace WHERE nspname = 'tablespace_advisor';
-- who may read what is the extension's to say, whatever privileges come by default
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC;
SET LOCAL client_min_messages = warning;
CREATE EXTENSION tablespace_advisor;
SELECT c.relname AS for_everybody
FROM pg_depend d
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
CROSS JOIN aclexplode(c.relacl) a
WHERE e.extname = 'tablespace_advisor' AND d.deptype = 'e' AND a.grantee = 0
ORDER BY 1;
ROLLBACK;
