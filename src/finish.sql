/* Copyright (c) 2026, The tablespace_advisor developers */

/* src/finish.sql: about all tables of the extension, whichever stage's */

/*
 * Rows that come from a publisher are dropped at the door.  A publication FOR ALL
 * TABLES includes these tables, with data about the publisher: its job 1 would
 * collide with this server's.  The triggers fire for session_replication_role
 * "replica" only.
 */
CREATE FUNCTION tablespace_advisor.ignore_replicated_row() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.ignore_replicated_row() IS
	'trigger function: keeps out rows that logical replication brings from another server; fires for session_replication_role = replica only';

/*
 * A TRUNCATE cannot be left out, so the subscription stops with an error.
 */
CREATE FUNCTION tablespace_advisor.refuse_replicated_truncate() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	RAISE EXCEPTION 'cannot truncate "%.%" by logical replication', tg_table_schema, tg_table_name
		USING ERRCODE = 'object_not_in_prerequisite_state',
			DETAIL = 'It holds what this server knows of its own disks and moves.',
			HINT = 'Skip the transaction, and leave the schema "tablespace_advisor" out of the publication.';
END
$$;
COMMENT ON FUNCTION tablespace_advisor.refuse_replicated_truncate() IS
	'trigger function: refuses a TRUNCATE that logical replication brings from another server (55000)';

/*
 * pg_dump reads the tables that it is told to take along as the role that runs it,
 * which may be the owner of the database and no superuser.
 */
GRANT USAGE ON SCHEMA tablespace_advisor TO pg_database_owner;

DO $$
DECLARE
	t record;
BEGIN
	FOR t IN
		SELECT c.oid::regclass AS name, c.relkind,
			c.oid = ANY (e.extconfig) AS is_dumped
		FROM pg_extension e
			JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass
				AND d.refobjid = e.oid AND d.classid = 'pg_class'::regclass
				AND d.deptype = 'e'
			JOIN pg_class c ON c.oid = d.objid
		WHERE e.extname = 'tablespace_advisor' AND c.relkind IN ('r', 'S')
	LOOP
		IF t.relkind = 'r' THEN
			EXECUTE format('CREATE OR REPLACE TRIGGER ignore_replicated_row BEFORE INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION tablespace_advisor.ignore_replicated_row()', t.name);
			EXECUTE format('ALTER TABLE %s ENABLE REPLICA TRIGGER ignore_replicated_row', t.name);
			EXECUTE format('CREATE TRIGGER refuse_replicated_truncate BEFORE TRUNCATE ON %s EXECUTE FUNCTION tablespace_advisor.refuse_replicated_truncate()', t.name);
			EXECUTE format('ALTER TABLE %s ENABLE REPLICA TRIGGER refuse_replicated_truncate', t.name);
		END IF;
		IF t.is_dumped THEN
			EXECUTE format('GRANT SELECT ON %s TO pg_database_owner', t.name);
		END IF;
	END LOOP;
END
$$;

/*
 * DROP EXTENSION would leave the files that only the journal knows; and the owner
 * of the extension's schema, as the owner of a database owns public, could drop or
 * rename it in the middle of a call.
 */
CREATE FUNCTION tablespace_advisor.finish_moves_before_drop()
RETURNS event_trigger
LANGUAGE C AS 'MODULE_PATHNAME', 'tsa_finish_moves_before_drop';
COMMENT ON FUNCTION tablespace_advisor.finish_moves_before_drop() IS
	'event trigger function: before the extension is dropped removes the files of moves without a worker; 42501 for a role that renames a schema of the extension and does not own it';
CREATE EVENT TRIGGER tablespace_advisor ON ddl_command_start
	WHEN TAG IN ('DROP EXTENSION', 'DROP SCHEMA', 'DROP OWNED', 'DROP LANGUAGE', 'ALTER SCHEMA')
	EXECUTE FUNCTION tablespace_advisor.finish_moves_before_drop();
ALTER EVENT TRIGGER tablespace_advisor ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER tablespace_advisor IS
	'keeps the extension from being dropped while its journal names files that nothing else knows of, and by others than its owner, since these could own its schema';

/*
 * Of the extension's schema PUBLIC may use functions that compute from their
 * arguments alone, and the objects behind the view of the caller's own moves.
 * Stages grant the rights that roles other than superusers need.
 */
REVOKE ALL ON ALL TABLES IN SCHEMA tablespace_advisor FROM PUBLIC;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA tablespace_advisor FROM PUBLIC;
REVOKE ALL ON ALL ROUTINES IN SCHEMA tablespace_advisor FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.pgbench_forks, tablespace_advisor.pgbench_nearest_scale,
	tablespace_advisor.empty_database_bytes, tablespace_advisor.pgbench_catalog_bytes,
	tablespace_advisor.predict_scan_costs, tablespace_advisor.worker_progress,
	tablespace_advisor.copy_progress, tablespace_advisor.round_to_three,
	tablespace_advisor.room_of, tablespace_advisor.is_unfinished,
	tablespace_advisor.printable, tablespace_advisor.copy_kept_until,
	tablespace_advisor.window_opens, tablespace_advisor.window_end TO PUBLIC;
