/*
 * tablespace_advisor: ALTER EXTENSION ... UPDATE from 0.3, assembled from src/
 * by the Makefile: this file, then every stage's own SQL but its tables.
 *
 * Views, functions and types of 0.3 go and are made anew, so that whatever an
 * earlier version resolved in them (operators of others') goes with them.
 * Whoever has built on one of them gets an error that names what depends.
 */

\echo Use "ALTER EXTENSION tablespace_advisor UPDATE TO '0.4'" to load this file. \quit

/* Nothing but the server's own is found by an unqualified name. */
SET LOCAL search_path = pg_catalog, pg_temp;

DROP PROCEDURE @extschema@.move_table_concurrently(
	regclass,
	name,
	boolean,
	text,
	text,
	interval,
	boolean,
	boolean,
	boolean,
	bigint[]);
DROP FUNCTION tablespace_advisor.tables_of(regclass);
DROP FUNCTION @extschema@.undo_move(bigint);
DROP FUNCTION @extschema@.resume_move(bigint);
DROP FUNCTION @extschema@.pause_move(bigint);
DROP FUNCTION @extschema@.retry_move(bigint);
DROP FUNCTION @extschema@.cancel_move(bigint);
DROP PROCEDURE @extschema@.move_indexes_concurrently(
	regclass,
	name,
	regclass[],
	text,
	text,
	interval,
	boolean,
	boolean,
	boolean,
	bigint[]);
DROP VIEW @extschema@.tablespace_moves;
DROP VIEW tablespace_advisor.leftover;
DROP FUNCTION tablespace_advisor.worker_progress(bigint);
DROP FUNCTION tablespace_advisor.indexes_of(regclass);
DROP FUNCTION tablespace_advisor.partitions_of(regclass);
DROP FUNCTION @extschema@.advise_index_placement(regclass, name, text);
DROP FUNCTION tablespace_advisor.judge_placement(
	tablespace_advisor.relation_activity[],
	regclass[],
	tablespace_advisor.tablespace_fact[],
	tablespace_advisor.counter_window,
	name,
	bigint);
DROP FUNCTION tablespace_advisor.placement_evidence(
	tablespace_advisor.relation_activity,
	tablespace_advisor.counter_window,
	float8,
	float8);
DROP FUNCTION tablespace_advisor.placement_verdict(
	tablespace_advisor.relation_activity,
	float8,
	tablespace_advisor.tablespace_fact,
	tablespace_advisor.tablespace_fact,
	boolean,
	float8,
	float8,
	float8);
DROP FUNCTION tablespace_advisor.three_digits(float8);
DROP FUNCTION tablespace_advisor.business_cycle_days();
DROP FUNCTION tablespace_advisor.placement_account(
	tablespace_advisor.relation_activity[],
	tablespace_advisor.tablespace_fact[],
	name,
	float8);
DROP FUNCTION tablespace_advisor.tablespace_facts(oid);
DROP TYPE tablespace_advisor.tablespace_fact;
DROP VIEW tablespace_advisor.relation_activity;
DROP VIEW tablespace_advisor.index_role;
DROP VIEW tablespace_advisor.counter_window;
DROP FUNCTION @extschema@.recommend_random_page_cost(name);
DROP FUNCTION tablespace_advisor.check_tablespace(name);
DROP VIEW tablespace_advisor.tablespace_cost_setting;
DROP VIEW tablespace_advisor.tablespace_latency;
DROP VIEW tablespace_advisor.current_probe_result;
DROP FUNCTION @extschema@.estimate_pgbench_scale(text, text, int, int);
DROP FUNCTION @extschema@.estimate_pgbench_size(int, int, int);
DROP FUNCTION tablespace_advisor.empty_database_bytes();
DROP FUNCTION tablespace_advisor.pgbench_nearest_scale(
	bigint, text, int, int, bigint);
DROP FUNCTION tablespace_advisor.pgbench_forks(int, int, int, int);
DROP FUNCTION @extschema@.probe_tablespace(
	name, interval, text, int[], text[], text);
DROP FUNCTION @extschema@.tablespace_devices();
DROP FUNCTION tablespace_advisor.tablespace_device(oid);


/* Finds the jobs that are left to finish among all that have ended. */
CREATE INDEX job_left_to_do_idx ON tablespace_advisor.job (batch_id)
	WHERE state IN ('queued', 'running', 'paused')
		OR new_filenumbers IS NOT NULL OR old_filenumbers IS NOT NULL;

/* 0 stands for the database's own tablespace, wherever that is. */
UPDATE tablespace_advisor.job j SET
	new_tablespaces = array_replace(j.new_tablespaces, d.dattablespace, 0::oid),
	old_tablespaces = array_replace(j.old_tablespaces, d.dattablespace, 0::oid)
FROM pg_database d
WHERE d.datname = current_database() AND j.database = d.oid
	AND (j.new_tablespaces IS NOT NULL OR j.old_tablespaces IS NOT NULL);

ALTER TABLE tablespace_advisor.job
	ADD COLUMN present_mb_per_s float8,
	ADD COLUMN rate_reason text,
	ADD COLUMN until timestamptz,
	ADD COLUMN lock_up_to bigint,
	DROP CONSTRAINT job_method_check,
	ADD CONSTRAINT job_method_check
		CHECK (method IN ('copy', 'rebuild', 'catalog', 'lock'));
