/* Copyright (c) 2026, The tablespace_advisor developers */

/* Settings that name a tablespace. */

CREATE FUNCTION tablespace_advisor.object_settings(
	database_oid oid, OUT object text, OUT setting text, OUT value text,
	OUT extension_schema name, OUT is_cut boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'tsa_routine_settings'
LANGUAGE C STRICT VOLATILE ROWS 10;
COMMENT ON FUNCTION tablespace_advisor.object_settings(oid) IS
	'default_tablespace and temp_tablespaces of a database''s functions and procedures, and tablespaces attached to hypertables of TimescaleDB (attach_tablespace; extension_schema: of its functions), as far as read_settings() reads them. A worker looks into other databases (53000: no worker slot is free)';

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

/*
 * Settings that may name a tablespace.  Those of routines and hypertables are
 * in their databases, which all have to be looked into.
 */
CREATE FUNCTION tablespace_advisor.settings_given()
RETURNS TABLE (database oid, name name, role name, file text, object text,
	setting text, value text, extension_schema name, is_cut boolean)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT d.oid, d.datname, r.rolname, NULL, NULL, c.name, c.value, NULL, c.is_cut
	FROM pg_db_role_setting s
		LEFT JOIN pg_database d ON d.oid = s.setdatabase
		LEFT JOIN pg_roles r ON r.oid = s.setrole
		CROSS JOIN LATERAL tablespace_advisor.read_settings(s.setconfig) c
	UNION ALL
	SELECT NULL, NULL, NULL, f.sourcefile, NULL, f.name, f.setting, NULL, false
	FROM pg_file_settings f
	WHERE f.applied
	UNION ALL
	SELECT d.oid, d.datname, NULL, NULL, f.object, f.setting, f.value,
		f.extension_schema, f.is_cut
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
COMMENT ON FUNCTION tablespace_advisor.attachment_statement IS
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
			g.setting IS NULL OR g.is_cut AND g.setting = 'temp_tablespaces' AS is_unread,
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
			OR g.setting = 'temp_tablespaces' AND (g.is_cut OR t.spcname IN (
				SELECT i FROM tablespace_advisor.split_identifiers(g.value) i))
			OR g.setting IS NULL AND g.is_cut
	)
	SELECT n.name, coalesce(n.setting, 'settings'),
		CASE WHEN n.file IS NOT NULL THEN format('setting in %s', n.file)
			WHEN n.class IS NOT NULL THEN concat_ws(' ', 'setting of',
				CASE WHEN NOT n.shown THEN 'a' END, n.class,
				CASE WHEN n.shown THEN n.object END)
			WHEN n.role IS NULL THEN format('setting of database %I', n.name)
			ELSE format('setting of role %I', n.role)
				|| coalesce(' in database ' || quote_ident(n.name), '') END,
		CASE WHEN NOT n.shown OR n.setting IS NULL THEN NULL
			WHEN n.class = 'hypertable' THEN tablespace_advisor.attachment_statement(
				n.extension_schema, n.object, n.tablespace,
				tablespace_advisor.other_tablespace(tablespace_oid, target_oid, n.database))
			ELSE CASE WHEN n.file IS NOT NULL THEN 'ALTER SYSTEM'
				WHEN n.object IS NOT NULL THEN 'ALTER ROUTINE ' || n.object
				WHEN n.role IS NULL THEN format('ALTER DATABASE %I', n.name)
				ELSE format('ALTER ROLE %I', n.role)
					|| coalesce(' IN DATABASE ' || quote_ident(n.name), '') END
			|| CASE WHEN n.rest IS NOT NULL AND NOT n.is_unread
					THEN format(' SET %I TO %s', n.setting, n.rest)
				WHEN n.file IS NOT NULL AND n.file !~ E'postgresql\\.auto\\.conf$'
					THEN format(' SET %I TO %L', n.setting, '')
				ELSE format(' RESET %I', n.setting) END END,
		CASE WHEN n.is_unread THEN 'unread' ELSE coalesce(n.class, 'setting') END
	FROM naming n
$$;
COMMENT ON FUNCTION tablespace_advisor.settings_naming(oid, oid, boolean) IS
	'settings of databases, roles, routines, hypertables and configuration files that name a tablespace, and statements that change that; show_names: of objects in other databases; why: see reason_beside()';
