/*
 * tablespace_advisor: ALTER EXTENSION ... UPDATE from 1.0, assembled from src/
 * by the Makefile: this file, then every stage's own SQL but its tables.
 *
 * Views, routines and types of 1.0 are dropped and made anew.  If an object of
 * a user's depends on one of them, the update stops with an error that names
 * it.  A C function that 1.0 has and this version lacks stays in the library as
 * an entry point that asks for the update (src/state/former.c): CREATE
 * EXTENSION ... VERSION '1.0' needs it.
 *
 * Columns that 1.1 adds to tables of 1.0 stand at the end, in the order of
 * src/STAGE/tables.sql; its new tables are in NAME_tables.sql beside it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */

\echo Use "ALTER EXTENSION tablespace_advisor UPDATE TO '1.1'" to load this file. \quit

/* Nothing but the server's own is found by an unqualified name. */
SET LOCAL search_path = pg_catalog, pg_temp;

DROP EVENT TRIGGER tablespace_advisor;

DO $$
DECLARE
	t regclass;
BEGIN
	FOR t IN
		SELECT DISTINCT tgrelid FROM pg_trigger
		WHERE tgfoid IN ('tablespace_advisor.ignore_replicated_row()'::regprocedure,
			'tablespace_advisor.refuse_replicated_truncate()'::regprocedure)
	LOOP
		EXECUTE format('DROP TRIGGER ignore_replicated_row ON %s', t);
		EXECUTE format('DROP TRIGGER refuse_replicated_truncate ON %s', t);
	END LOOP;
END
$$;

/*
 * An object that others depend on is tried again after them.  The newest come
 * first, so that one turn is the rule.  Types of arrays, which are members from
 * 19 on, go with the types of their elements.
 */
DO $$
DECLARE
	member record;
	left_over int;
	dropped int;
BEGIN
	LOOP
		left_over := 0;
		dropped := 0;
		FOR member IN
			SELECT CASE
					WHEN d.classid = 'pg_proc'::regclass
						THEN 'ROUTINE ' || d.objid::regprocedure::text
					WHEN d.classid = 'pg_type'::regclass
						THEN 'TYPE ' || d.objid::regtype::text
					ELSE 'VIEW ' || c.oid::regclass::text
				END AS object
			FROM pg_extension e
				JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass
					AND d.refobjid = e.oid AND d.deptype = 'e'
				LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
			WHERE e.extname = 'tablespace_advisor'
				AND (d.classid IN ('pg_proc'::regclass, 'pg_type'::regclass)
					OR c.relkind = 'v')
				AND NOT EXISTS (
					SELECT FROM pg_depend owner
					WHERE owner.classid = d.classid AND owner.objid = d.objid
						AND owner.deptype = 'i')
			ORDER BY d.objid DESC
		LOOP
			BEGIN
				EXECUTE 'DROP ' || member.object;
				dropped := dropped + 1;
			EXCEPTION WHEN dependent_objects_still_exist THEN
				left_over := left_over + 1;
			END;
		END LOOP;
		EXIT WHEN left_over = 0;
		IF dropped = 0 THEN
			EXECUTE 'DROP ' || member.object;
		END IF;
	END LOOP;
END
$$;

ALTER TABLE tablespace_advisor.probe_run
	ADD COLUMN advised_verdict text,
	ADD COLUMN advised_random_page_cost float8,
	ADD COLUMN advised_io_concurrency int,
	ADD COLUMN advised_depth int,
	ADD COLUMN advised_cached_fraction float8;

/* Measured waits in samples. */
ALTER TABLE tablespace_advisor.sample
	ADD COLUMN waits_since timestamptz,
	ADD COLUMN waits_measured_s float8;
ALTER TABLE tablespace_advisor.standby_activity
	ADD COLUMN waiting_sessions float8;

ALTER TABLE tablespace_advisor.job
	ADD COLUMN progress_handle bigint,
	ADD COLUMN call_user oid,
	ADD COLUMN takeovers int NOT NULL DEFAULT 0,
	ADD COLUMN source_relations oid[],
	ADD COLUMN source_tablespaces oid[],
	ADD COLUMN source_filenumbers oid[],
	ADD COLUMN interruptions int NOT NULL DEFAULT 0,
	ADD COLUMN interrupted_at timestamptz,
	ADD COLUMN stalls int NOT NULL DEFAULT 0,
	ADD COLUMN blocks_again bigint NOT NULL DEFAULT 0,
	ADD COLUMN policy text,
	ADD COLUMN index_names name[],
	ADD COLUMN during text,
	DROP CONSTRAINT job_state_check,
	ADD CONSTRAINT job_state_check CHECK (state IN
		('queued', 'running', 'paused', 'interrupted', 'done', 'failed', 'cancelled'));
DROP INDEX tablespace_advisor.job_unfinished_key;
CREATE UNIQUE INDEX job_unfinished_key ON tablespace_advisor.job (relation)
	WHERE state IN ('queued', 'running', 'paused', 'interrupted');
DROP INDEX tablespace_advisor.job_unfinished_heap_idx;
CREATE INDEX job_unfinished_heap_idx ON tablespace_advisor.job (heap)
	WHERE state IN ('queued', 'running', 'paused', 'interrupted');
DROP INDEX tablespace_advisor.job_left_to_do_idx;
CREATE INDEX job_left_to_do_idx ON tablespace_advisor.job (batch_id)
	WHERE state IN ('queued', 'running', 'paused', 'interrupted')
		OR new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL;
CREATE INDEX job_policy_idx ON tablespace_advisor.job (relation)
	WHERE state = 'done' AND policy IS NOT NULL;

ALTER TABLE tablespace_advisor.request
	ADD COLUMN lock_timeout_ms int,
	ADD COLUMN during text;

ALTER TABLE tablespace_advisor.index_locality
	ADD COLUMN correlation float8,
	ADD COLUMN replaced_rows float8;
