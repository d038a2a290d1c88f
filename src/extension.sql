/* Copyright (c) 2026, The tablespace_advisor developers */

/* tablespace_advisor: install script, assembled from src/ by the Makefile */

\echo Use "CREATE EXTENSION tablespace_advisor" to load this file. \quit

/*
 * Nothing but the server's own is found by an unqualified name: in a schema where
 * others may create, an operator of theirs could fit better than the server's, and
 * would run as any user of the view that it got into.
 */
SET LOCAL search_path = pg_catalog, pg_temp;

/*
 * User-facing functions, procedures and views are made in the schema that the
 * extension is installed into; its state (tables) lives in a schema of its own,
 * with a fixed name for C code.
 */
CREATE SCHEMA tablespace_advisor;
COMMENT ON SCHEMA tablespace_advisor IS
	'state of the extension tablespace_advisor: probe history, settings and the journal of moves';
GRANT USAGE ON SCHEMA tablespace_advisor TO pg_monitor;

