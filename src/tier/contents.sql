/* What lies in a tablespace, and how it leaves. */

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

CREATE FUNCTION tablespace_advisor.transactions_of(
	database_oid oid, OUT since timestamptz, OUT is_ending boolean)
AS 'MODULE_PATHNAME', 'tsa_transactions_of'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.transactions_of(oid) IS
	'when the oldest transaction of a database''s other sessions began, -infinity if one does not say; is_ending: whether one, or a prepared one, has ended for others and may still remove its files';

CREATE FUNCTION tablespace_advisor.is_checkpointer_unlinking()
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_is_checkpointer_unlinking'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.is_checkpointer_unlinking() IS
	'whether the checkpointer may still be removing files that were dropped before the last checkpoint';

CREATE FUNCTION tablespace_advisor.is_directory_of_database(directory text)
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_is_directory_of_database'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.is_directory_of_database(text) IS
	'whether a directory has the name of a database''s, be it that a transaction under way makes or drops it';

CREATE FUNCTION tablespace_advisor.object_settings(
	database_oid oid, OUT object text, OUT setting text, OUT value text,
	OUT extension_schema name)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_routine_settings'
LANGUAGE C STRICT VOLATILE ROWS 10;
COMMENT ON FUNCTION tablespace_advisor.object_settings(oid) IS
	'default_tablespace and temp_tablespaces of a database''s functions and procedures, and tablespaces attached to hypertables of TimescaleDB (attach_tablespace; extension_schema: of its functions). A worker looks into other databases (53000: no worker slot is free)';

CREATE FUNCTION tablespace_advisor.is_process(pid int)
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_is_process'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.is_process(int) IS
	'whether a process of the server that uses databases has this process ID now';

CREATE FUNCTION tablespace_advisor.temporary_owner_pid(backend int, database_oid oid)
RETURNS int
AS 'MODULE_PATHNAME', 'tsa_temporary_owner_pid'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.temporary_owner_pid(int, oid) IS
	'process ID of the session whose temporary relations in a database have this number; NULL if it has ended';

CREATE FUNCTION tablespace_advisor.tablespace_directory(tablespace_oid oid)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE tablespace_oid WHEN 1663 THEN 'base'
		ELSE format('pg_tblspc/%s/PG_%s_%s', tablespace_oid,
			current_setting('server_version_num')::int / 10000,
			catalog_version_no) END
	FROM pg_control_system()
$$;
COMMENT ON FUNCTION tablespace_advisor.tablespace_directory(oid) IS
	'directory in which a tablespace has a directory for each database';

CREATE FUNCTION tablespace_advisor.files_in(directory text)
RETURNS TABLE (name text, bytes bigint, modified timestamptz,
	is_directory boolean)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT f.name, s.size, s.modification, s.isdir
	FROM pg_ls_dir(directory, true, false) f(name)
		CROSS JOIN LATERAL pg_stat_file(directory || '/' || f.name, true) s
	WHERE s.size IS NOT NULL
$$;
COMMENT ON FUNCTION tablespace_advisor.files_in(text) IS
	'files and directories in a directory, none if it does not exist';

/*
 * Files of one relation have one number; temporary ones the backend's as well.
 * What is in the directory of every database that has its catalogs there
 * belongs to no relation either.
 */
CREATE FUNCTION tablespace_advisor.storage_in(tablespace_oid oid, database_oid oid)
RETURNS TABLE (filenumber oid, backend int, bytes bigint,
	modified timestamptz, path text)
LANGUAGE sql VOLATILE ROWS 1000
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN p.parts[2]::numeric < 2 ^ 32 THEN p.parts[2]::oid END,
		p.parts[1]::int, sum(f.bytes)::bigint,
		max(f.modified), d.directory || '/' || min(f.name)
	FROM (SELECT tablespace_advisor.tablespace_directory(tablespace_oid)
			|| '/' || database_oid) d(directory)
		CROSS JOIN LATERAL tablespace_advisor.files_in(d.directory) f
		CROSS JOIN LATERAL (SELECT regexp_match(f.name,
			E'^(?:t([0-9]{1,9})_)?([0-9]+)(?:_(?:fsm|vm|init))?(?:\\.[0-9]+)?$'))
			p(parts)
	WHERE f.name !~ E'^(PG_VERSION|pg_filenode\\.map|pg_internal\\.init.*)$'
	GROUP BY d.directory, p.parts[2], p.parts[1],
		CASE WHEN p.parts IS NULL THEN f.name END
$$;
COMMENT ON FUNCTION tablespace_advisor.storage_in(oid, oid) IS
	'what a database has in the directory of a tablespace, one row for all files of a relation; filenumber: NULL for files that cannot be a relation''s; backend: of temporary relations';

CREATE FUNCTION tablespace_advisor.is_database_locked(database oid)
RETURNS boolean
AS 'MODULE_PATHNAME', 'tsa_is_database_locked'
LANGUAGE C STRICT VOLATILE;
COMMENT ON FUNCTION tablespace_advisor.is_database_locked(oid) IS
	'whether somebody has a lock on a database that keeps others from connecting to it, as ALTER DATABASE ... RENAME has';

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
 * A tablespace to which ALTER DATABASE could move a database: one in which it
 * has no file and no partitioned relation.  preferred comes first, what is in
 * the data directory last.
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
		AND NOT EXISTS (SELECT FROM tablespace_advisor.files_in(
			tablespace_advisor.tablespace_directory(t.oid) || '/' || database_oid))
	ORDER BY t.oid IS DISTINCT FROM preferred, t.spcname = 'pg_default',
		t.spcname
	LIMIT 1
$$;
COMMENT ON FUNCTION tablespace_advisor.third_tablespace(oid, oid, oid) IS
	'a tablespace in which a database has no files, so that ALTER DATABASE can move it there; NULL if there is none';

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

CREATE FUNCTION tablespace_advisor.leaving_reason(why text, detail text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE why
		WHEN 'temporary' THEN
			'It is temporary and goes with its session.'
		WHEN 'session ended' THEN
			'It is temporary and its session has ended.'
		WHEN 'system with database' THEN
			'It belongs to the system and moves with its database only.'
		WHEN 'system' THEN
			'It belongs to the system, of which nothing is moved while it is in use.'
		WHEN 'sequence' THEN
			'Sequences are always in their database''s default tablespace.'
		WHEN 'prepared' THEN
			format('Prepared transaction %L holds a lock on it.', detail)
		WHEN 'catalog' THEN
			'It has no storage: it says where new partitions, or their indexes, are made.'
		WHEN 'journal' THEN
			'It is the journal of moves, which is in use while anything moves: it comes last.'
		WHEN 'columnar' THEN
			'It is a columnar table of Citus: convert it to heap by alter_table_set_access_method(), move it, and convert it back.'
		WHEN 'invalid' THEN
			'It is invalid: drop it, or repair it with REINDEX.'
		WHEN 'obstacle' THEN
			format('Live copy does not apply. %s', detail)
		WHEN 'no extension' THEN
			'The extension is not installed in its database; with it this could be moved while it is in use.'
		WHEN 'locked' THEN 'Another session has locked it.'
		WHEN 'owner' THEN format('It belongs to role %I.', detail)
		WHEN 'moving' THEN
			format('Move %s of it, or of its table or indexes, has not ended.', detail)
		WHEN 'along' THEN
			'It moves along with its table, in the same cutover.'
		WHEN 'to default' THEN
			'In the database''s default tablespace it keeps none: new partitions then follow default_tablespace.'
		WHEN 'may be locked' THEN
			'"lock_up_to" would let it be locked while it is copied.'
		WHEN 'too large to lock' THEN
			format('It is larger than "lock_up_to" (%s).', detail)
		END;
END;
COMMENT ON FUNCTION tablespace_advisor.leaving_reason(text, text) IS
	'in words why a relation stays, or leaves as it does; detail: a name, number or obstacle in it; NULL without a reason';

CREATE FUNCTION tablespace_advisor.reason_beside(why text, detail text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE why
		WHEN 'made by prepared' THEN
			format('Prepared transaction %L has made it: whoever coordinates it commits it or rolls it back.', detail)
		WHEN 'made by transaction' THEN
			format('It is of transaction %s, which is under way.', detail)
		WHEN 'of move' THEN
			format('It is a file of move %s and goes with its end.', detail)
		WHEN 'of temporary relation' THEN
			'It is of a temporary relation; if its session has ended, the next restart of the server removes it.'
		WHEN 'perhaps just made' THEN
			'No relation has it, but a transaction under way may have made it, or be about to remove it: look again when it has ended.'
		WHEN 'perhaps of a move' THEN
			'No relation has it, but a move may: the journal of moves in its database is locked, or of another version of the extension.'
		WHEN 'of the primary' THEN
			'No relation has it here, but a transaction of the primary may have made it. What is not in the way there either was left by a crash.'
		WHEN 'left by a crash' THEN
			'No relation has it, and no transaction under way is old enough to have made it: it was left by a crash. Remove it by hand, with the server stopped.'
		WHEN 'of statement' THEN
			format('They are of the present statement of process %s.', detail)
		WHEN 'of ended process' THEN
			'Their process has ended: the next restart of the server removes them.'
		WHEN 'being made' THEN
			'It is of a database that is being made or dropped, or was just made.'
		WHEN 'no database' THEN
			'No database has it: it was left by a crash.'
		WHEN 'not of the server' THEN 'The server did not make it.'
		WHEN 'hypertable' THEN
			'TimescaleDB makes new chunks there, and refuses DROP TABLESPACE in that database.'
		WHEN 'routine' THEN
			'DROP TABLESPACE leaves it, and then every call of the routine fails.'
		WHEN 'setting' THEN
			'DROP TABLESPACE leaves it, and then it is a warning at every connection, and an error to SET.'
		WHEN 'locked' THEN
			'It could not be looked into: somebody has locked it, perhaps to rename or drop it, or a prepared transaction has.'
		WHEN 'half dropped' THEN
			'DROP DATABASE was interrupted: all that can be done with it is to drop it.'
		WHEN 'pg_default' THEN 'pg_default can be relieved, but never dropped.'
		END;
END;
COMMENT ON FUNCTION tablespace_advisor.reason_beside(text, text) IS
	'in words what holds of a file, setting or database in the way of DROP TABLESPACE, as leaving_reason() does of a relation; detail: a name or number in it';

CREATE FUNCTION tablespace_advisor.kind_name(kind "char")
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE kind WHEN 'r' THEN 'table' WHEN 'm' THEN 'materialized view'
		WHEN 'i' THEN 'index' WHEN 'p' THEN 'partitioned table'
		WHEN 'I' THEN 'partitioned index' WHEN 'S' THEN 'sequence'
		WHEN 't' THEN 'TOAST table' END;
END;
COMMENT ON FUNCTION tablespace_advisor.kind_name("char") IS
	'what people call a relation of this kind';

/* The statement that moves a relation, in its own database. */
CREATE FUNCTION tablespace_advisor.leaving_statement(
	how text, kind "char", schema_name name, relation_name name,
	extension_schema name, target name)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN target IS NULL THEN NULL
		WHEN how = 'rebuild' THEN
			format('REINDEX (CONCURRENTLY, TABLESPACE %I) INDEX %I.%I', target,
				schema_name, relation_name)
		WHEN how = 'live' THEN
			format('CALL %I.%s(%L::pg_catalog.regclass, %L::pg_catalog.name)',
				extension_schema,
				CASE kind WHEN 'i' THEN 'move_indexes_concurrently'
					ELSE 'move_table_concurrently' END,
				format('%I.%I', schema_name, relation_name), target)
		WHEN how IN ('catalog', 'lock') THEN
			format('ALTER %s %I.%I SET TABLESPACE %I',
				CASE WHEN kind IN ('i', 'I') THEN 'INDEX'
					WHEN kind = 'm' THEN 'MATERIALIZED VIEW'
					ELSE 'TABLE' END, schema_name, relation_name, target)
		END
$$;
COMMENT ON FUNCTION tablespace_advisor.leaving_statement(
	text, "char", name, name, name, name) IS
	'the statement that moves a relation to a tablespace, to be run in the relation''s database';

/* Members of a list of identifiers, as in temp_tablespaces. */
CREATE FUNCTION tablespace_advisor.split_identifiers(list text)
RETURNS SETOF text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN m[1] LIKE '"%'
		THEN replace(btrim(m[1], '"'), '""', '"') ELSE lower(m[1]) END
	FROM regexp_matches(list, E'("(?:[^"]|"")*"|[^",\\s]+)', 'g') m
$$;
COMMENT ON FUNCTION tablespace_advisor.split_identifiers(text) IS
	'the names in a list of identifiers';

/* Where what is in a tablespace would go if nobody says so. */
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
 * Settings that may name a tablespace.  Those of routines and hypertables are
 * in their databases, which all have to be looked into.
 */
CREATE FUNCTION tablespace_advisor.settings_given()
RETURNS TABLE (database oid, name name, role name, file text, object text,
	setting text, value text, extension_schema name)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT d.oid, d.datname, r.rolname, NULL, NULL, split_part(c, '=', 1),
		"substring"(c, pg_catalog.strpos(c, '=') + 1), NULL
	FROM pg_db_role_setting s
		LEFT JOIN pg_database d ON d.oid = s.setdatabase
		LEFT JOIN pg_roles r ON r.oid = s.setrole
		CROSS JOIN LATERAL unnest(s.setconfig) c
	UNION ALL
	SELECT NULL, NULL, NULL, f.sourcefile, NULL, f.name, f.setting, NULL
	FROM pg_file_settings f
	WHERE f.applied
	UNION ALL
	SELECT d.oid, d.datname, NULL, NULL, f.object, f.setting, f.value,
		f.extension_schema
	FROM pg_database d
		CROSS JOIN LATERAL tablespace_advisor.object_settings(d.oid) f
	WHERE d.datconnlimit <> -2
		AND NOT tablespace_advisor.is_database_locked(d.oid)
$$;
COMMENT ON FUNCTION tablespace_advisor.settings_given() IS
	'settings of databases, roles, configuration files, routines and hypertables that may name a tablespace';

/*
 * Instead of one tablespace a hypertable gets another one, if there is one.  All
 * arguments are given, so that no function of others in that schema fits better.
 */
CREATE FUNCTION tablespace_advisor.attachment_statement(
	extension_schema name, hypertable text, tablespace name, target name)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('SELECT %s%I.detach_tablespace(%L::pg_catalog.name, %L::pg_catalog.regclass, if_attached => false)',
		CASE WHEN target IS NOT NULL THEN format(
			'%I.attach_tablespace(%L::pg_catalog.name, %L::pg_catalog.regclass, if_not_attached => true), ',
			extension_schema, target, hypertable) END,
		extension_schema, tablespace, hypertable)
$$;
COMMENT ON FUNCTION tablespace_advisor.attachment_statement(
	name, text, name, name) IS
	'the statement, to be run in the hypertable''s database, by which TimescaleDB makes new chunks in another tablespace';

/* Of these DROP TABLESPACE looks at none, and TimescaleDB at its own. */
CREATE FUNCTION tablespace_advisor.settings_naming(
	tablespace_oid oid, target_oid oid, show_names boolean)
RETURNS TABLE (database name, setting text, kind text, statement text,
	why text)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH naming AS (
		SELECT g.*, t.spcname AS tablespace,
			(SELECT string_agg(quote_ident(i), ', ')
				FROM tablespace_advisor.split_identifiers(g.value) i
				WHERE g.setting = 'temp_tablespaces' AND i <> t.spcname) AS rest,
			g.object IS NULL OR show_names
				OR g.name = current_database() AS shown,
			CASE WHEN g.setting = 'attach_tablespace' THEN 'hypertable'
				WHEN g.object IS NOT NULL THEN 'routine' END AS class
		FROM tablespace_advisor.settings_given() g
			JOIN pg_tablespace t ON t.oid = tablespace_oid
		WHERE g.setting IN ('default_tablespace', 'attach_tablespace')
				AND g.value = t.spcname
			OR g.setting = 'temp_tablespaces' AND t.spcname IN (
				SELECT i FROM tablespace_advisor.split_identifiers(g.value) i)
	)
	SELECT n.name, n.setting,
		CASE WHEN n.file IS NOT NULL THEN format('setting in %s', n.file)
			WHEN n.class IS NOT NULL THEN concat_ws(' ', 'setting of',
				CASE WHEN NOT n.shown THEN 'a' END, n.class,
				CASE WHEN n.shown THEN n.object END)
			WHEN n.role IS NULL THEN format('setting of database %I', n.name)
			ELSE format('setting of role %I', n.role)
				|| coalesce(' in database ' || quote_ident(n.name), '') END,
		CASE WHEN NOT n.shown THEN NULL
			WHEN n.class = 'hypertable' THEN tablespace_advisor.attachment_statement(
				n.extension_schema, n.object, n.tablespace,
				tablespace_advisor.other_tablespace(tablespace_oid, target_oid, n.database))
			ELSE CASE WHEN n.file IS NOT NULL THEN 'ALTER SYSTEM'
				WHEN n.object IS NOT NULL THEN 'ALTER ROUTINE ' || n.object
				WHEN n.role IS NULL THEN format('ALTER DATABASE %I', n.name)
				ELSE format('ALTER ROLE %I', n.role)
					|| coalesce(' IN DATABASE ' || quote_ident(n.name), '') END
			|| CASE WHEN n.rest IS NOT NULL
					THEN format(' SET %I TO %s', n.setting, n.rest)
				WHEN n.file IS NOT NULL AND n.file !~ E'postgresql\\.auto\\.conf$'
					THEN format(' SET %I TO %L', n.setting, '')
				ELSE format(' RESET %I', n.setting) END END,
		coalesce(n.class, 'setting')
	FROM naming n
$$;
COMMENT ON FUNCTION tablespace_advisor.settings_naming(oid, oid, boolean) IS
	'settings of databases, roles, routines, hypertables and configuration files that name a tablespace, and statements that change that; show_names: of objects in other databases; why: see reason_beside()';

/*
 * Files that no relation has.  The order of looks decides, and each takes from
 * the one before it what makes it come later: files, transactions, pg_class and
 * the journal of moves, transactions, files.  What was made before the first
 * has its row in pg_class by then, or its transaction is under way; what was
 * dropped meanwhile has gone at the last, or its transaction is ending.
 *
 * What the next checkpoint unlinks is empty and not much older than the last one,
 * which may not have ended: DROP TABLESPACE waits for such a checkpoint.  Times
 * of files have no fractions, and may be those of a file server, whose clock is
 * allowed a minute.
 */
CREATE FUNCTION tablespace_advisor.unowned_files(tablespace_oid oid, database_oid oid)
RETURNS TABLE (path text, bytes bigint, how text, why text, detail text)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	WITH storage AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.storage_in(tablespace_oid, database_oid)
	), looked AS MATERIALIZED (
		SELECT n.files, t.since - interval '1 minute' AS since,
			c.checkpoint_time - interval '1 second' AS checkpoint
		FROM (SELECT count(*) AS files FROM storage) n
			CROSS JOIN LATERAL tablespace_advisor.transactions_of(
				CASE WHEN n.files > 0 THEN database_oid END) t
			CROSS JOIN pg_control_checkpoint() c
	), owner AS MATERIALIZED (
		SELECT r.*
		FROM looked l
			CROSS JOIN LATERAL tablespace_advisor.relations_in(
				CASE WHEN l.files > 0 THEN tablespace_oid END, database_oid) r
	), ended AS MATERIALIZED (
		SELECT t.is_ending, o.is_unknown,
			o.rows >= 0 AND tablespace_advisor.is_checkpointer_unlinking() AS is_unlinking
		FROM (SELECT count(*) AS rows, coalesce(bool_or(is_locked)
				FILTER (WHERE relation IS NULL), false) AS is_unknown
			FROM owner) o
			CROSS JOIN LATERAL tablespace_advisor.transactions_of(
				CASE WHEN o.rows >= 0 THEN database_oid END) t
	), unowned AS MATERIALIZED (
		SELECT s.*, o.transaction, o.job_id, p.gid, e.is_ending, e.is_unknown,
			l.since
		FROM ended e
			CROSS JOIN looked l
			CROSS JOIN storage s
			LEFT JOIN (SELECT r.filenumber, r.backend,
					max(r.transaction::text) FILTER (WHERE
						r.transaction IS NOT NULL) AS transaction,
					max(r.job_id) AS job_id,
					bool_or(r.relation IS NOT NULL AND r.transaction IS NULL)
						AS committed
				FROM owner r
				GROUP BY 1, 2) o ON o.filenumber = s.filenumber
				AND (o.backend IS NOT DISTINCT FROM s.backend
					OR o.transaction IS NOT NULL)
			LEFT JOIN pg_prepared_xacts p
				ON p.transaction::text = o.transaction
		WHERE o.committed IS NOT TRUE
			AND NOT (s.filenumber IS NOT NULL AND s.bytes = 0
				AND o.transaction IS NULL
				AND (e.is_unlinking OR s.modified >= l.checkpoint))
	), remaining AS MATERIALIZED (
		SELECT s.*
		FROM (SELECT count(*) AS rows FROM unowned HAVING count(*) > 0) n
			CROSS JOIN LATERAL tablespace_advisor.storage_in(
				CASE WHEN n.rows > 0 THEN tablespace_oid END, database_oid) s
	)
	SELECT r.path, r.bytes,
		CASE w.why WHEN 'left by a crash' THEN 'orphan' ELSE 'temporary' END,
		w.why, coalesce(u.gid, u.transaction, u.job_id::text)
	FROM unowned u
		CROSS JOIN LATERAL (SELECT CASE
			WHEN u.gid IS NOT NULL THEN 'made by prepared'
			WHEN u.transaction IS NOT NULL THEN 'made by transaction'
			WHEN u.job_id IS NOT NULL THEN 'of move'
			WHEN u.backend IS NOT NULL THEN 'of temporary relation'
			WHEN pg_is_in_recovery() THEN 'of the primary'
			WHEN u.is_unknown THEN 'perhaps of a move'
			WHEN u.is_ending OR u.modified >= u.since THEN 'perhaps just made'
			ELSE 'left by a crash' END) w(why)
		JOIN remaining r ON coalesce(r.filenumber::text, r.path)
				= coalesce(u.filenumber::text, u.path)
			AND r.backend IS NOT DISTINCT FROM u.backend
	WHERE r.bytes > 0 OR u.bytes = 0
$$;
COMMENT ON FUNCTION tablespace_advisor.unowned_files(oid, oid) IS
	'files of a database in a tablespace that no relation has, but for empty ones that the next checkpoint removes; why, detail: see reason_beside()';

/*
 * What belongs to no database: temporary files, and what nobody knows.  Files
 * are looked for again once their process, or database, was not found: they may
 * have gone with it.
 */
CREATE FUNCTION tablespace_advisor.files_beside_databases(tablespace_oid oid)
RETURNS TABLE (path text, kind text, bytes bigint, how text, statement text,
	why text, detail text)
LANGUAGE sql VOLATILE ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	WITH entry AS MATERIALIZED (
		SELECT d.directory || '/' || f.name AS path, f.*
		FROM (SELECT tablespace_advisor.tablespace_directory(tablespace_oid))
				d(directory)
			CROSS JOIN LATERAL tablespace_advisor.files_in(d.directory) f
	), temporary AS (
		SELECT min(f.path) AS path, f.pid, sum(f.bytes)::bigint AS bytes
		FROM (SELECT e.path || '/' || t.name AS path, t.bytes,
				"substring"(t.name, '^pgsql_tmp([0-9]+)')::int AS pid
			FROM entry e
				CROSS JOIN LATERAL tablespace_advisor.files_in(e.path) t
			WHERE e.name = 'pgsql_tmp') f
		GROUP BY f.pid
	)
	SELECT t.path, 'temporary files', t.bytes, 'temporary',
		CASE WHEN p.is_there
			THEN format('SELECT pg_catalog.pg_cancel_backend(%s)', t.pid) END,
		CASE WHEN p.is_there THEN 'of statement' ELSE 'of ended process' END,
		CASE WHEN p.is_there THEN t.pid::text END
	FROM temporary t
		CROSS JOIN LATERAL (SELECT tablespace_advisor.is_process(t.pid))
			p(is_there)
	WHERE CASE WHEN p.is_there THEN true
		ELSE (SELECT f.size IS NOT NULL FROM pg_stat_file(t.path, true) f) END
	UNION ALL
	SELECT e.path, CASE WHEN e.is_directory THEN 'directory' ELSE 'file' END,
		NULL, CASE w.why WHEN 'being made' THEN 'temporary' ELSE 'orphan' END,
		NULL, w.why, NULL
	FROM entry e
		CROSS JOIN LATERAL (SELECT CASE
			WHEN tablespace_advisor.is_directory_of_database(e.name) THEN 'being made'
			WHEN e.name ~ '^[0-9]+$' THEN 'no database'
			ELSE 'not of the server' END) w(why)
	WHERE e.name <> 'pgsql_tmp'
		AND e.name NOT IN (SELECT d.oid::text FROM pg_database d)
		AND CASE WHEN w.why IS NOT NULL THEN NOT e.is_directory
			OR EXISTS (SELECT FROM tablespace_advisor.files_in(e.path)) END
$$;
COMMENT ON FUNCTION tablespace_advisor.files_beside_databases(oid) IS
	'temporary files in a tablespace, one row a process, and what is in its directory without belonging there; why, detail: see reason_beside()';

/* A database whose default it is, without the relations that leave alone. */
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
				THEN ' There is no such tablespace: create one.' END)
	FROM pg_tablespace p
		CROSS JOIN LATERAL (SELECT tablespace_advisor.third_tablespace(
			database_oid, tablespace_oid, target_oid)) t(third)
	WHERE p.oid = tablespace_oid
$$;
COMMENT ON FUNCTION tablespace_advisor.database_leaving(
	oid, oid, oid, name, bigint) IS
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
				l.schema_name, l.relation_name, l.extension_schema,
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
	SELECT d.name, CASE WHEN d.shown THEN f.path END, 'file', f.bytes,
		f.how, NULL, tablespace_advisor.reason_beside(f.why, f.detail)
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
GRANT EXECUTE ON FUNCTION @extschema@.tablespace_contents(name, name)
	TO pg_monitor;
COMMENT ON FUNCTION @extschema@.tablespace_contents(name, name) IS
	'everything in the way of DROP TABLESPACE, in every database, and how it leaves (live, rebuild, catalog, lock, with database, setting, temporary, orphan, locked, never) by which statement; size_bytes of all forks, of a table with its TOAST table. Errors: 53000 no worker slot is free';
