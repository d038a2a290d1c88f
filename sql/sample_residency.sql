-- where a relation's blocks are: its file, shared buffers, the system's cache
CREATE TABLE resident (id int, filler text) WITH (autovacuum_enabled = off);
INSERT INTO resident SELECT g, repeat('x', 500) FROM generate_series(1, 500) g;
CREATE TABLE resident_other AS SELECT generate_series(1, 5) AS id;
CREATE TEMPORARY TABLE resident_temporary AS SELECT 1 AS id;
CREATE VIEW resident_view AS SELECT 1 AS id;
CHECKPOINT;
SELECT count(*) FROM resident;

SELECT blocks = pg_relation_size('resident') / current_setting('block_size')::int AS blocks,
	shared_blocks = blocks AS all_in_shared_buffers,
	system_cache_blocks BETWEEN 1 AND blocks AS in_system_cache
FROM tablespace_advisor.relation_residency('resident'::regclass);

-- of several in the order given; what has no file of ours has no blocks
SELECT relation::regclass, blocks, shared_blocks
FROM tablespace_advisor.relations_residency(ARRAY['resident_other', 'resident_temporary',
	'resident_view', 'resident_other', NULL, 'pg_class',
	'pg_database']::regclass[]::oid[]);
-- a sequence, too, among so many that they are read in one pass
CREATE SEQUENCE resident_sequence;
SELECT DISTINCT blocks FROM tablespace_advisor.relations_residency(
	array_fill('resident_sequence'::regclass::oid, ARRAY[6000]));
DROP SEQUENCE resident_sequence;
SELECT * FROM tablespace_advisor.relations_residency('{}');
SELECT * FROM tablespace_advisor.relation_residency(0);

-- a block in shared buffers is not read past them; where the system does not tell, the share is not known
SELECT tablespace_advisor.cached_share(10, 5, 2) AS some, tablespace_advisor.cached_share(10, 5, 6) AS more,
	tablespace_advisor.cached_share(5, 5, NULL) AS shared, tablespace_advisor.cached_share(10, 5, NULL) AS unknown,
	tablespace_advisor.cached_share(0, 0, 0) AS empty, tablespace_advisor.cached_share(NULL, NULL, NULL) AS none;

-- sizes: all forks
VACUUM resident;
SELECT tablespace_advisor.relation_bytes('resident'::regclass)
	= pg_table_size('resident')
		- coalesce(pg_total_relation_size(reltoastrelid), 0) AS all_forks
FROM pg_class WHERE oid = 'resident'::regclass;
SELECT tablespace_advisor.relation_bytes('resident_temporary'::regclass) AS temporary,
	tablespace_advisor.relation_bytes('resident_view'::regclass) AS view,
	tablespace_advisor.relation_bytes(0) AS missing,
	tablespace_advisor.file_bytes(1663, 1) AS missing_file,
	tablespace_advisor.file_bytes(1, 1) AS missing_tablespace;

-- not for everybody
CREATE ROLE regress_resident;
SELECT f, has_function_privilege('regress_resident', 'tablespace_advisor.' || f, 'EXECUTE') AS everybody,
	has_function_privilege('pg_monitor', 'tablespace_advisor.' || f, 'EXECUTE') AS monitor
FROM unnest(ARRAY['file_bytes(oid, oid)', 'relation_bytes(oid)',
	'relation_residency(oid)', 'relations_residency(oid[], bigint)']) f;
DROP ROLE regress_resident;
DROP TABLE resident, resident_other;
DROP VIEW resident_view;
