/* Copyright (c) 2026, The tablespace_advisor developers */

/* The contents of a tablespace, and how each leaves. */

CREATE FUNCTION tablespace_advisor.relations_in(
	tablespace_oid oid, database_oid oid,
	OUT relation oid, OUT heap oid, OUT goes_with oid, OUT schema_name name,
	OUT relation_name name, OUT kind "char", OUT persistence "char",
	OUT owner oid, OUT filenumber oid, OUT backend int, OUT is_valid boolean,
	OUT is_exclusion boolean, OUT is_deferrable boolean,
	OUT extension_schema name, OUT transaction xid, OUT obstacle text,
	OUT is_locked boolean, OUT is_columnar boolean, OUT job_id bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_relations_in'
LANGUAGE C STRICT VOLATILE ROWS 1000;
COMMENT ON FUNCTION tablespace_advisor.relations_in(oid, oid) IS
	'the relations of a database in a tablespace, catalogs and TOAST among them, those that transactions under way are making, and without a relation files of moves and of the caller''s transaction (is_locked: the journal of moves could not be read); obstacle: why live copy does not apply. A worker looks into other databases (53000: no worker slot is free)';

CREATE FUNCTION tablespace_advisor.is_database_locked(database oid)
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_is_database_locked'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.is_database_locked(oid) IS
	'whether somebody has a lock on a database, or in another one waits for a catalog, so that others cannot connect to it, as ALTER DATABASE ... RENAME does';

CREATE FUNCTION tablespace_advisor.databases_in(tablespace_oid oid)
RETURNS TABLE (database oid, name name, is_default boolean, is_valid boolean,
	is_locked boolean)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT d.oid, d.datname, d.dattablespace = tablespace_oid,
		d.datconnlimit <> -2, tablespace_advisor.is_database_locked(d.oid)
	FROM pg_database d
	WHERE d.dattablespace = tablespace_oid
		OR d.oid::text IN (SELECT f.name FROM tablespace_advisor.files_in(
			tablespace_advisor.tablespace_directory(tablespace_oid)) f)
		OR EXISTS (SELECT FROM pg_shdepend s WHERE s.dbid = d.oid
			AND s.refclassid = 'pg_tablespace'::regclass
			AND s.refobjid = tablespace_oid)
	ORDER BY d.datname <> current_database(), d.datname
$$;
COMMENT ON FUNCTION tablespace_advisor.databases_in(oid) IS
	'databases that have something in a tablespace, be it only a partitioned table; is_default: their catalogs too; is_valid: false if a DROP DATABASE was interrupted; is_locked: nobody can connect';

/*
 * A tablespace to which ALTER DATABASE could move a database: one in which it has
 * no file and no partitioned relation, and from which nothing was moved lately: it
 * would be filled again.  preferred comes first, a tablespace in the data directory
 * last.
 */
CREATE FUNCTION tablespace_advisor.third_tablespace(
	database_oid oid, present oid, preferred oid)
RETURNS name
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT t.spcname
	FROM pg_tablespace t
	WHERE t.oid <> present AND t.spcname <> 'pg_global'
		AND NOT EXISTS (SELECT FROM tablespace_advisor.job j
			WHERE j.database = database_oid AND j.state = 'done'
				AND j.from_tablespace = t.oid AND j.to_tablespace <> t.oid
				AND j.finished_at > now() - interval '7 days')
		AND NOT EXISTS (SELECT FROM tablespace_advisor.files_in(
			tablespace_advisor.tablespace_directory(t.oid) || '/' || database_oid))
	ORDER BY t.oid IS DISTINCT FROM preferred, t.spcname = 'pg_default',
		t.spcname
	LIMIT 1
$$;
COMMENT ON FUNCTION tablespace_advisor.third_tablespace(oid, oid, oid) IS
	'a tablespace in which a database has no files, so that ALTER DATABASE can move it there, and from which it moved none in the last 7 days; NULL if there is none';

/*
 * The relations of a database in a tablespace, TOAST counted with its table,
 * and how each leaves.  The journal of moves is in use while anything moves.
 */
CREATE FUNCTION tablespace_advisor.leaving_relations(
	tablespace_oid oid, database_oid oid, is_default boolean)
RETURNS TABLE (relation oid, heap oid, kind "char", schema_name name,
	relation_name name, persistence "char", owner oid, is_valid boolean,
	extension_schema name, size_bytes bigint, how text, why text, detail text,
	backend int, is_journal boolean)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	WITH found AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.relations_in(tablespace_oid, database_oid) r
		WHERE r.transaction IS NULL AND r.relation IS NOT NULL
	), storage AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.storage_in(tablespace_oid, database_oid)
	), sized AS MATERIALIZED (
		SELECT coalesce(f.goes_with, f.relation) AS relation,
			coalesce(sum(s.bytes), 0)::bigint AS size_bytes
		FROM found f
			LEFT JOIN storage s ON s.filenumber = f.filenumber
				AND s.backend IS NOT DISTINCT FROM f.backend
		GROUP BY 1
	), held AS MATERIALIZED (
		SELECT l.relation, min(p.gid) AS gid
		FROM pg_locks l
			JOIN pg_locks x ON x.virtualtransaction = l.virtualtransaction
				AND x.locktype = 'transactionid' AND x.pid IS NULL
			JOIN pg_prepared_xacts p ON p.transaction = x.transactionid
		WHERE l.locktype = 'relation' AND l.pid IS NULL
			AND l.database = database_oid
		GROUP BY l.relation
	)
	SELECT f.relation, f.heap, f.kind, f.schema_name, f.relation_name,
		f.persistence, f.owner, f.is_valid, f.extension_schema, s.size_bytes,
		e.how, w.why,
		CASE w.why WHEN 'prepared' THEN h.gid WHEN 'obstacle' THEN f.obstacle END,
		f.backend, e.is_journal
	FROM found f
		JOIN sized s USING (relation)
		LEFT JOIN held h ON h.relation = f.heap
		CROSS JOIN LATERAL (SELECT f.extension_schema IS NOT NULL
				AND f.schema_name = 'tablespace_advisor'
				AND (f.relation_name IN ('job', 'request')
					OR f.kind = 'i' AND f.relation_name ~ '^(job|request)_'))
			j(is_journal)
		CROSS JOIN LATERAL (SELECT CASE
			WHEN f.persistence = 't' THEN 'temporary'
			WHEN f.relation < 16384 AND is_default OR f.kind = 'S' THEN 'with database'
			WHEN f.relation < 16384 THEN 'lock'
			WHEN f.kind IN ('p', 'I') THEN 'catalog'
			WHEN f.is_columnar THEN 'never'
			WHEN j.is_journal OR f.kind = 'i' AND NOT f.is_valid THEN 'lock'
			WHEN f.obstacle IS NULL AND f.extension_schema IS NOT NULL THEN 'live'
			WHEN f.kind = 'i' AND NOT f.is_exclusion AND NOT f.is_deferrable
				THEN 'rebuild'
			ELSE 'lock' END, j.is_journal) e(how, is_journal)
		CROSS JOIN LATERAL (SELECT CASE
			WHEN e.how = 'temporary' THEN 'temporary'
			WHEN f.relation < 16384 AND is_default THEN 'system with database'
			WHEN f.relation < 16384 THEN 'system'
			WHEN f.kind = 'S' THEN 'sequence'
			WHEN f.persistence <> 'u' AND h.gid IS NOT NULL THEN 'prepared'
			WHEN e.how = 'catalog' THEN 'catalog'
			WHEN e.is_journal THEN 'journal'
			WHEN e.how = 'never' THEN 'columnar'
			WHEN f.kind = 'i' AND NOT f.is_valid THEN 'invalid'
			WHEN f.obstacle IS NOT NULL THEN 'obstacle'
			WHEN f.extension_schema IS NULL THEN 'no extension'
			WHEN f.is_locked THEN 'locked' END) w(why)
	WHERE f.goes_with IS NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.leaving_relations(oid, oid, boolean) IS
	'the relations of a database in a tablespace, TOAST counted with its table, and how each can leave; why, detail: see leaving_reason()';

/* The default target for the contents of a tablespace. */
CREATE FUNCTION tablespace_advisor.other_tablespace(
	tablespace_oid oid, target_oid oid, database_oid oid)
RETURNS name
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT t.spcname
	FROM pg_tablespace t, pg_database d
	WHERE d.oid = database_oid AND t.oid <> tablespace_oid
		AND (t.oid = target_oid
			OR target_oid IS NULL AND t.oid IN (d.dattablespace, 1663))
	ORDER BY t.oid <> d.dattablespace
	LIMIT 1
$$;
COMMENT ON FUNCTION tablespace_advisor.other_tablespace(oid, oid, oid) IS
	'the tablespace named, else the database''s default, else pg_default; never the one that is left';

/*
 * A database that has it as default, without the relations that leave alone.
 */
CREATE FUNCTION tablespace_advisor.database_leaving(
	tablespace_oid oid, target_oid oid, database_oid oid, name name,
	size_bytes bigint,
	OUT how text, OUT statement text, OUT reason text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'with database',
		format('ALTER DATABASE %I SET TABLESPACE ', name) || quote_ident(t.third),
		format('Its default tablespace is "%s": catalogs and sequences (%s) move with it. ALTER DATABASE needs a tablespace in which the database has no relation yet, nobody connected to it, and is run from another database.%s',
			p.spcname, pg_size_pretty(size_bytes),
			CASE WHEN t.third IS NULL
				THEN ' There is no such tablespace but those that it left in the last 7 days: create one.' END)
	FROM pg_tablespace p
		CROSS JOIN LATERAL (SELECT tablespace_advisor.third_tablespace(
			database_oid, tablespace_oid, target_oid)) t(third)
	WHERE p.oid = tablespace_oid
$$;
COMMENT ON FUNCTION tablespace_advisor.database_leaving IS
	'how a database leaves its default tablespace';

CREATE FUNCTION tablespace_advisor.contents_beside_databases(
	tablespace_oid oid, target_oid oid, show_names boolean,
	with_settings boolean)
RETURNS TABLE (database name, relation text, kind text, size_bytes bigint,
	how text, statement text, why text, detail text)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT NULL::name, f.path, f.kind, f.bytes, f.how, f.statement, f.why,
		f.detail
	FROM tablespace_advisor.files_beside_databases(tablespace_oid) f
	UNION ALL
	SELECT s.database, s.setting, s.kind, NULL, 'setting', s.statement, s.why,
		NULL
	FROM tablespace_advisor.settings_naming(tablespace_oid, target_oid,
		show_names) s
	WHERE with_settings
	UNION ALL
	SELECT NULL, NULL, 'tablespace', NULL, 'never', NULL,
		'pg_default', NULL
	WHERE tablespace_oid = 1663
$$;
COMMENT ON FUNCTION tablespace_advisor.contents_beside_databases(oid, oid, boolean, boolean) IS
	'the rows of contents_of() that are no database''s own: files beside databases, settings that name the tablespace, and why pg_default is never dropped';

CREATE FUNCTION tablespace_advisor.contents_of(
	tablespace_oid oid, target_oid oid, show_names boolean,
	all_databases boolean)
RETURNS TABLE (database name, relation text, kind text, size_bytes bigint,
	how text, statement text, reason text)
LANGUAGE sql VOLATILE ROWS 100
SET search_path = pg_catalog, pg_temp
AS $$
	WITH db AS MATERIALIZED (
		SELECT d.*, tablespace_advisor.other_tablespace(
				tablespace_oid, target_oid, d.database) AS target_name,
			show_names OR d.name = current_database() AS shown
		FROM tablespace_advisor.databases_in(tablespace_oid) d
		WHERE all_databases OR d.name = current_database()
	), leaving AS MATERIALIZED (
		SELECT d.database, d.name, d.is_default, d.target_name,
			d.shown, r.relation, r.kind, r.schema_name, r.relation_name,
			r.extension_schema, r.size_bytes, r.how, r.why, r.detail,
			tablespace_advisor.temporary_owner_pid(r.backend, d.database) AS pid
		FROM db d
			CROSS JOIN LATERAL tablespace_advisor.leaving_relations(
				tablespace_oid, d.database, d.is_default) r
		WHERE d.is_valid AND NOT d.is_locked
	)
	SELECT l.name,
		CASE WHEN l.shown
			THEN format('%I.%I', l.schema_name, l.relation_name) END,
		tablespace_advisor.kind_name(l.kind), l.size_bytes, l.how,
		CASE WHEN NOT l.shown THEN NULL
			WHEN l.how = 'temporary' AND l.pid IS NOT NULL
				THEN format('SELECT pg_catalog.pg_terminate_backend(%s)', l.pid)
			WHEN l.how = 'temporary' AND l.kind <> 'i'
				THEN format('DROP TABLE %I.%I', l.schema_name, l.relation_name)
			ELSE tablespace_advisor.leaving_statement(l.how, l.kind,
				CASE l.name WHEN current_database() THEN l.relation END::regclass, l.schema_name, l.relation_name, l.extension_schema,
				l.target_name) END,
		CASE WHEN NOT l.shown AND l.why = 'prepared' THEN NULL
			WHEN l.how = 'temporary' AND l.pid IS NULL
				THEN tablespace_advisor.leaving_reason('session ended', NULL)
			ELSE concat_ws(' ', tablespace_advisor.leaving_reason(l.why, l.detail),
				CASE WHEN l.how = 'catalog' AND l.kind = 'p' AND l.target_name = (
						SELECT t.spcname FROM pg_tablespace t
							JOIN pg_database d ON d.dattablespace = t.oid
						WHERE d.oid = l.database)
					THEN tablespace_advisor.leaving_reason('to default', NULL) END) END
	FROM leaving l
	WHERE l.relation >= 16384 OR l.how <> 'with database'
	UNION ALL
	SELECT d.name, NULL, 'database', s.size_bytes, g.how, g.statement, g.reason
	FROM db d
		CROSS JOIN LATERAL (SELECT coalesce(sum(l.size_bytes), 0)::bigint
			FROM leaving l
			WHERE l.database = d.database AND l.how = 'with database')
			s(size_bytes)
		CROSS JOIN LATERAL tablespace_advisor.database_leaving(
			tablespace_oid, target_oid, d.database, d.name, s.size_bytes) g
	WHERE d.is_default AND d.is_valid AND NOT d.is_locked
	UNION ALL
	SELECT d.name, NULL, 'database', NULL, 'locked', NULL,
		tablespace_advisor.reason_beside('locked', NULL)
	FROM db d WHERE d.is_locked
	UNION ALL
	SELECT d.name, NULL, 'database', NULL, 'with database',
		format('DROP DATABASE %I', d.name),
		tablespace_advisor.reason_beside('half dropped', NULL)
	FROM db d WHERE NOT d.is_valid AND NOT d.is_locked
	UNION ALL
	SELECT d.name, CASE WHEN d.shown THEN f.path END, 'file', f.bytes, f.how,
		CASE f.why WHEN 'empty' THEN 'CHECKPOINT' END, tablespace_advisor.reason_beside(f.why, f.detail)
	FROM db d
		CROSS JOIN LATERAL tablespace_advisor.unowned_files(
			tablespace_oid, d.database) f
	WHERE d.is_valid AND NOT d.is_locked
	UNION ALL
	SELECT b.database, b.relation, b.kind, b.size_bytes, b.how, b.statement,
		tablespace_advisor.reason_beside(b.why, b.detail)
	FROM tablespace_advisor.contents_beside_databases(tablespace_oid, target_oid,
		show_names, all_databases) b
	ORDER BY 1, 5, 4 DESC NULLS LAST, 2
$$;
COMMENT ON FUNCTION tablespace_advisor.contents_of(oid, oid, boolean, boolean) IS
	'tablespace_contents() as the bootstrap superuser sees it; show_names: of relations in other databases; all_databases: else of this one, without settings';

CREATE FUNCTION @extschema@.tablespace_contents(
	tablespace name, to_tablespace name DEFAULT NULL,
	OUT database name, OUT relation text, OUT kind text,
	OUT size_bytes bigint, OUT how text, OUT statement text, OUT reason text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_tablespace_contents'
LANGUAGE C VOLATILE ROWS 100;
REVOKE ALL ON FUNCTION @extschema@.tablespace_contents(name, name) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.tablespace_contents(name, name) TO pg_monitor;
COMMENT ON FUNCTION @extschema@.tablespace_contents(name, name) IS
	'everything in the way of DROP TABLESPACE, in every database; how: the way it leaves (live, rebuild, catalog, lock, with database, setting, temporary, orphan, locked, never); size_bytes of all forks, of a table with its TOAST table. Errors: 42704 no such tablespace, 22004 no tablespace, 22023 pg_global, 53000 no worker slot is free, 08006 a database could not be looked into';
