/*
 * tablespace_advisor: ALTER EXTENSION ... UPDATE from 0.4, assembled from src/
 * by the Makefile: this file, then every stage's own SQL but its tables.
 *
 * Views, functions and types of 0.4 go and are made anew, so that whatever an
 * earlier version resolved in them (operators of others') goes with them.
 * Whoever has built on one of them gets an error that names what depends.
 */

\echo Use "ALTER EXTENSION tablespace_advisor UPDATE TO '1.0'" to load this file. \quit

/* Nothing but the server's own is found by an unqualified name. */
SET LOCAL search_path = pg_catalog, pg_temp;

DROP EVENT TRIGGER tablespace_advisor;

DO $$
DECLARE
	t regclass;
BEGIN
	FOR t IN
		SELECT tgrelid FROM pg_trigger
		WHERE tgfoid = 'tablespace_advisor.ignore_replicated_row()'::regprocedure
	LOOP
		EXECUTE format('DROP TRIGGER ignore_replicated_row ON %s', t);
	END LOOP;
END
$$;
DROP FUNCTION tablespace_advisor.ignore_replicated_row();
DROP FUNCTION tablespace_advisor.finish_moves_before_drop();
DROP PROCEDURE @extschema@.move_partitions_concurrently(
	regclass,
	name,
	interval,
	interval,
	interval,
	boolean,
	timestamp with time zone,
	text,
	interval,
	boolean,
	boolean,
	bigint[]);
DROP FUNCTION @extschema@.advise_partition_placement(
	regclass,
	name,
	interval,
	interval);
DROP FUNCTION tablespace_advisor.partition_moves(
	oid,
	oid,
	interval,
	interval,
	interval,
	oid,
	boolean);
DROP FUNCTION tablespace_advisor.judge_partitions(
	oid,
	oid,
	interval,
	interval,
	interval,
	oid);
DROP FUNCTION tablespace_advisor.partman_config(oid);
DROP FUNCTION tablespace_advisor.read_partman(oid);
DROP FUNCTION tablespace_advisor.partition_upper_bound(oid,text);
DROP PROCEDURE @extschema@.evacuate_tablespace(
	name,
	name,
	text,
	interval,
	boolean,
	boolean,
	text,
	timestamp with time zone,
	bigint[]);
DROP FUNCTION tablespace_advisor.evacuation_left(
	oid,
	oid,
	bigint,
	oid,
	bigint,
	boolean,
	boolean);
DROP FUNCTION tablespace_advisor.batch_progress(bigint);
DROP FUNCTION tablespace_advisor.describe_jobs(bigint[]);
DROP FUNCTION tablespace_advisor.evacuation_warnings(oid,oid);
DROP FUNCTION tablespace_advisor.opposite_move(oid,oid);
DROP FUNCTION @extschema@.plan_evacuation(name,name,text);
DROP FUNCTION tablespace_advisor.evacuation_of(oid,oid,bigint,oid,bigint);
DROP FUNCTION @extschema@.tablespace_contents(name,name);
DROP FUNCTION tablespace_advisor.contents_of(oid,oid,boolean,boolean);
DROP FUNCTION tablespace_advisor.other_tablespace(oid,oid,oid);
DROP FUNCTION tablespace_advisor.database_leaving(oid,oid,oid,name,bigint);
DROP FUNCTION tablespace_advisor.files_beside_databases(oid);
DROP FUNCTION tablespace_advisor.unowned_files(oid,oid);
DROP FUNCTION tablespace_advisor.settings_naming(name,boolean);
DROP FUNCTION tablespace_advisor.split_identifiers(text);
DROP FUNCTION tablespace_advisor.leaving_statement(
	text,
	"char",
	name,
	name,
	name,
	name);
DROP FUNCTION tablespace_advisor.kind_name("char");
DROP FUNCTION tablespace_advisor.leaving_relations(oid,oid,boolean);
DROP FUNCTION tablespace_advisor.third_tablespace(oid,oid,oid);
DROP FUNCTION tablespace_advisor.databases_in(oid);
DROP FUNCTION tablespace_advisor.storage_in(oid,oid);
DROP FUNCTION tablespace_advisor.files_in(text);
DROP FUNCTION tablespace_advisor.tablespace_directory(oid);
DROP FUNCTION tablespace_advisor.temporary_owner_pid(integer);
DROP FUNCTION tablespace_advisor.routine_settings(oid);
DROP FUNCTION tablespace_advisor.relations_in(oid,oid);
DROP FUNCTION tablespace_advisor.copied_mb_per_s(oid,oid);
DROP VIEW @extschema@.move_outcomes;
DROP FUNCTION tablespace_advisor.relation_reads(oid[],integer,integer);
DROP FUNCTION tablespace_advisor.summarize_intervals(
	timestamp with time zone,
	timestamp with time zone);
DROP FUNCTION @extschema@.wait_for_moves(bigint[],interval);
DROP FUNCTION @extschema@.undo_move(bigint);
DROP FUNCTION @extschema@.resume_move(bigint);
DROP FUNCTION @extschema@.pause_move(bigint);
DROP FUNCTION @extschema@.retry_move(bigint);
DROP FUNCTION @extschema@.cancel_move(bigint);
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
DROP FUNCTION tablespace_advisor.worker_progress(bigint);
DROP VIEW tablespace_advisor.transient_index;
DROP FUNCTION tablespace_advisor.tables_of(regclass);
DROP FUNCTION tablespace_advisor.indexes_of(regclass);
DROP FUNCTION tablespace_advisor.partitions_of(regclass);
DROP FUNCTION tablespace_advisor.reason_not_to_begin(bigint);
DROP FUNCTION tablespace_advisor.move_rate(oid,oid,text,bigint);
DROP FUNCTION @extschema@.placement_evidence(regclass);
DROP FUNCTION @extschema@.explain_placement(regclass);
DROP FUNCTION @extschema@.advise_placement(text,interval);
DROP FUNCTION @extschema@.advise_index_placement(regclass,name,text,interval);
DROP FUNCTION tablespace_advisor.judge_placement(
	tablespace_advisor.relation_fact[],
	regclass[],
	tablespace_advisor.tablespace_fact[],
	tablespace_advisor.load_fact,
	name,
	bigint,
	boolean,
	boolean);
DROP FUNCTION tablespace_advisor.row_evidence(
	tablespace_advisor.relation_fact,
	tablespace_advisor.placement_estimate,
	tablespace_advisor.tablespace_fact,
	tablespace_advisor.tablespace_fact,
	tablespace_advisor.load_estimate,
	tablespace_advisor.load_fact,
	tablespace_advisor.placement_choice);
DROP FUNCTION tablespace_advisor.move_statement(regclass,text,name,boolean);
DROP FUNCTION tablespace_advisor.other_verdicts(
	tablespace_advisor.relation_fact[],
	tablespace_advisor.placement_estimate[],
	tablespace_advisor.tablespace_fact[],
	tablespace_advisor.load_fact,
	name,
	tablespace_advisor.placement_choice[]);
DROP FUNCTION tablespace_advisor.destination_order(
	tablespace_advisor.tablespace_fact,
	tablespace_advisor.tablespace_fact);
DROP FUNCTION tablespace_advisor.choose_evictions(
	tablespace_advisor.relation_fact[],
	tablespace_advisor.placement_estimate[],
	tablespace_advisor.tablespace_fact[]);
DROP FUNCTION tablespace_advisor.move_candidates(
	tablespace_advisor.relation_fact[],
	tablespace_advisor.placement_estimate[],
	tablespace_advisor.tablespace_fact[],
	tablespace_advisor.load_fact,
	name);
DROP FUNCTION tablespace_advisor.explain_advice(
	regclass,
	tablespace_advisor.advice_row[]);
DROP FUNCTION tablespace_advisor.explain_window(jsonb);
DROP FUNCTION tablespace_advisor.explain_row(
	@extschema@.placement_advice,
	jsonb);
DROP FUNCTION tablespace_advisor.three_digits(jsonb);
DROP FUNCTION tablespace_advisor.three_digits(double precision);
DROP TYPE tablespace_advisor.advice_row;
DROP FUNCTION tablespace_advisor.move_verdict(
	tablespace_advisor.relation_fact,
	tablespace_advisor.placement_estimate,
	tablespace_advisor.tablespace_fact,
	tablespace_advisor.tablespace_fact,
	name,
	text);
DROP FUNCTION tablespace_advisor.is_bloated(tablespace_advisor.relation_fact);
DROP FUNCTION tablespace_advisor.index_verdict(
	tablespace_advisor.relation_fact);
DROP FUNCTION tablespace_advisor.other_bottleneck(tablespace_advisor.load_fact);
DROP FUNCTION tablespace_advisor.probe_statement(name[]);
DROP FUNCTION tablespace_advisor.printable(text);
DROP FUNCTION tablespace_advisor.one_line(text,integer);
DROP FUNCTION tablespace_advisor.round_to_three(double precision);
DROP FUNCTION tablespace_advisor.business_cycle_days();
DROP FUNCTION tablespace_advisor.gather_advice(
	oid,
	regclass,
	name,
	text,
	interval,
	boolean);
DROP FUNCTION tablespace_advisor.is_of_interest(
	tablespace_advisor.relation_fact);
DROP FUNCTION tablespace_advisor.check_target(regclass);
DROP FUNCTION tablespace_advisor.lock_if_free(oid);
DROP FUNCTION tablespace_advisor.read_index_pages(regclass);
DROP FUNCTION tablespace_advisor.measure_bloat(
	tablespace_advisor.relation_fact);
DROP FUNCTION tablespace_advisor.tables_with_faults(
	tablespace_advisor.tablespace_fact[]);
DROP FUNCTION tablespace_advisor.leaves_of(regclass);
DROP FUNCTION tablespace_advisor.relation_facts(
	tablespace_advisor.relation_rate[],
	oid[]);
DROP FUNCTION tablespace_advisor.move_obstacle(pg_class,pg_index);
DROP FUNCTION tablespace_advisor.index_expression(oid);
DROP FUNCTION tablespace_advisor.index_shape(oid[]);
DROP FUNCTION tablespace_advisor.tablespace_facts(oid,oid);
DROP FUNCTION tablespace_advisor.left_lately();
DROP FUNCTION tablespace_advisor.copy_wal_per_byte();
DROP FUNCTION tablespace_advisor.copy_rates(name);
DROP FUNCTION tablespace_advisor.estimate_placement(
	tablespace_advisor.relation_fact[],
	tablespace_advisor.tablespace_fact[],
	tablespace_advisor.load_fact);
DROP TYPE tablespace_advisor.placement_estimate;
DROP FUNCTION tablespace_advisor.estimate_load(
	tablespace_advisor.relation_fact[],
	tablespace_advisor.tablespace_fact[],
	tablespace_advisor.load_fact);
DROP TYPE tablespace_advisor.load_estimate;
DROP FUNCTION tablespace_advisor.choose_within(
	bigint[],
	double precision[],
	bigint);
DROP FUNCTION tablespace_advisor.cache_exponent(
	double precision[],
	double precision[],
	double precision);
DROP FUNCTION tablespace_advisor.max_read_rate(
	double precision[],
	double precision[]);
DROP FUNCTION tablespace_advisor.depth_in_loop(
	double precision[],
	double precision[],
	double precision,
	double precision);
DROP FUNCTION tablespace_advisor.depth_at_rate(
	double precision[],
	double precision[],
	double precision);
DROP FUNCTION tablespace_advisor.latency_at_depth(
	double precision[],
	double precision[],
	double precision);
DROP FUNCTION tablespace_advisor.choose_moves(
	tablespace_advisor.placement_choice[],
	tablespace_advisor.tablespace_fact[],
	bigint);
DROP FUNCTION tablespace_advisor.fill_in_turn(
	tablespace_advisor.placement_choice[],
	tablespace_advisor.tablespace_fact[],
	bigint,
	boolean);
DROP TYPE tablespace_advisor.placement_choice;
DROP FUNCTION tablespace_advisor.estimate_brin_bytes(bigint);
DROP FUNCTION tablespace_advisor.estimate_btree_bytes(
	double precision,
	double precision,
	double precision);
DROP VIEW tablespace_advisor.duplicate_index;
DROP VIEW tablespace_advisor.index_role;
DROP TYPE tablespace_advisor.load_fact;
DROP TYPE tablespace_advisor.tablespace_fact;
DROP TYPE tablespace_advisor.relation_fact;
DROP TYPE @extschema@.placement_advice;
DROP FUNCTION tablespace_advisor.predict_scan_costs(
	double precision,
	double precision,
	double precision,
	double precision,
	double precision,
	integer,
	double precision,
	double precision,
	double precision,
	double precision,
	double precision);
DROP FUNCTION @extschema@.calibrate_cost_units();
DROP FUNCTION @extschema@.recommend_random_page_cost(name);
DROP VIEW tablespace_advisor.role_cost_setting;
DROP FUNCTION tablespace_advisor.concurrent_readers();
DROP VIEW tablespace_advisor.read_concurrency;
DROP FUNCTION tablespace_advisor.weighable_indexes();
DROP FUNCTION tablespace_advisor.weigh_random_page_cost(
	double precision[],
	double precision[],
	double precision,
	double precision,
	integer);
DROP FUNCTION @extschema@.measure_index_locality(regclass);
DROP VIEW tablespace_advisor.read_times;
DROP FUNCTION tablespace_advisor.check_tablespace(name);
DROP VIEW tablespace_advisor.tablespace_cost_setting;
DROP VIEW tablespace_advisor.tablespace_latency;
DROP VIEW tablespace_advisor.current_probe_result;
DROP FUNCTION @extschema@.explain_with_costs(
	text,
	name,
	double precision,
	double precision);
DROP FUNCTION @extschema@.assumed_placements();
DROP FUNCTION @extschema@.forget_placements();
DROP FUNCTION @extschema@.assume_placement(regclass,name);
DROP FUNCTION @extschema@.forecast_tablespace_usage();
DROP FUNCTION tablespace_advisor.usage_history();
DROP FUNCTION tablespace_advisor.trend(double precision[],double precision[]);
DROP FUNCTION tablespace_advisor.refresh_residency();
DROP FUNCTION tablespace_advisor.renew_plans(oid);
DROP FUNCTION tablespace_advisor.keep_residency(oid);
DROP FUNCTION tablespace_advisor.residency_shares(oid[]);
DROP PROCEDURE @extschema@.sample_activity();
DROP FUNCTION tablespace_advisor.take_sample(integer);
DROP FUNCTION tablespace_advisor.add_all_samples(integer);
DROP FUNCTION tablespace_advisor.roll_up_samples(integer);
DROP FUNCTION tablespace_advisor.add_relation_samples(
	tablespace_advisor.sample);
DROP FUNCTION tablespace_advisor.cached_share(bigint,bigint,bigint);
DROP FUNCTION tablespace_advisor.add_sample(
	tablespace_advisor.sample,
	tablespace_advisor.wait_profile);
DROP FUNCTION tablespace_advisor.statement_totals();
DROP FUNCTION tablespace_advisor.read_statements();
DROP FUNCTION tablespace_advisor.relation_residency(oid);
DROP FUNCTION tablespace_advisor.relations_residency(oid[],bigint);
DROP FUNCTION tablespace_advisor.relation_bytes(oid);
DROP FUNCTION tablespace_advisor.file_bytes(oid,oid);
DROP FUNCTION tablespace_advisor.observed_activity(interval,oid[],interval);
DROP FUNCTION tablespace_advisor.observe_database(
	interval,
	oid[],
	interval,
	boolean);
DROP FUNCTION tablespace_advisor.watch_database(interval,oid[]);
DROP FUNCTION tablespace_advisor.read_database();
DROP FUNCTION tablespace_advisor.subtract_counters(
	tablespace_advisor.relation_counter[],
	tablespace_advisor.relation_counter[],
	double precision);
DROP FUNCTION tablespace_advisor.read_counters(oid[]);
DROP FUNCTION tablespace_advisor.tuples_written(
	text,
	double precision,
	double precision,
	double precision,
	double precision);
DROP FUNCTION tablespace_advisor.observe_samples(interval,oid[],boolean);
DROP VIEW tablespace_advisor.sample_interval;
DROP TYPE tablespace_advisor.observation;
DROP TYPE tablespace_advisor.relation_rate;
DROP VIEW tablespace_advisor.statistics_start;
DROP VIEW tablespace_advisor.relation_counter;
DROP FUNCTION tablespace_advisor.tables_of(oid[]);
DROP FUNCTION tablespace_advisor.inventory_of(oid[]);
DROP VIEW tablespace_advisor.relation_inventory;
DROP FUNCTION tablespace_advisor.sum_waits(jsonb[]);
DROP FUNCTION tablespace_advisor.watch_waits(integer,double precision);
DROP TYPE tablespace_advisor.wait_profile;
DROP FUNCTION @extschema@.estimate_pgbench_scale(text,text,integer,integer);
DROP FUNCTION @extschema@.estimate_pgbench_size(integer,integer,integer);
DROP FUNCTION tablespace_advisor.empty_database_bytes();
DROP FUNCTION tablespace_advisor.pgbench_nearest_scale(
	bigint,
	text,
	integer,
	integer,
	bigint);
DROP FUNCTION tablespace_advisor.pgbench_forks(integer,integer,integer,integer);
DROP FUNCTION @extschema@.probe_tablespace(
	name,
	interval,
	text,
	integer[],
	text[],
	text);
DROP FUNCTION @extschema@.tablespace_devices();
DROP VIEW tablespace_advisor.device;
DROP FUNCTION tablespace_advisor.tablespace_device(oid);

ALTER TABLE tablespace_advisor.job
	ADD COLUMN restarts int NOT NULL DEFAULT 0,
	ADD COLUMN min_rate bigint,
	ADD COLUMN finish_by timestamptz,
	ADD COLUMN others_lost_percent float8,
	ADD COLUMN is_late boolean NOT NULL DEFAULT false,
	ADD COLUMN waited_ms float8 NOT NULL DEFAULT 0;
CREATE INDEX job_origin_idx ON tablespace_advisor.job (system_identifier, database);
CREATE INDEX job_relation_idx ON tablespace_advisor.job (relation, job_id);
CREATE INDEX job_owner_idx ON tablespace_advisor.job (owner, job_id);
CREATE INDEX job_finished_at_idx ON tablespace_advisor.job (finished_at);
CREATE INDEX job_known_indexes_idx ON tablespace_advisor.job (heap)
	WHERE known_indexes IS NOT NULL AND state IN ('done', 'failed', 'cancelled');
CREATE INDEX job_measured_idx ON tablespace_advisor.job
	(to_tablespace, from_tablespace, owner, (method = 'rebuild'), job_id)
	WHERE state = 'done' AND bytes_total >= 1048576 AND coalesce(max_rate, -1) < 0
		AND restarts = 0;
CREATE INDEX job_copied_idx ON tablespace_advisor.job (finished_at)
	WHERE state = 'done' AND method = 'copy' AND wal_bytes > 0 AND bytes_total >= 1048576;
CREATE INDEX job_left_idx ON tablespace_advisor.job (finished_at)
	INCLUDE (relation, from_tablespace)
	WHERE state = 'done' AND from_tablespace <> to_tablespace;
/* Made anew, since constraints of 18 have the names of the table. */
CREATE TABLE tablespace_advisor.request (
	job_id bigint PRIMARY KEY,
	requested_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	pause boolean NOT NULL DEFAULT true,
	alters boolean NOT NULL DEFAULT false,
	max_rate bigint,
	min_rate bigint,
	finish_by timestamptz
);
INSERT INTO tablespace_advisor.request (job_id, requested_at)
	SELECT job_id, requested_at FROM tablespace_advisor.pause;
DROP TABLE tablespace_advisor.pause;

/*
 * What 0.4 took for a reason not to trust a row, where that was no more than what
 * others did meanwhile.
 */
ALTER TABLE tablespace_advisor.probe_result
	ADD COLUMN conditions text,
	ADD COLUMN others_reads_per_s float8,
	ADD COLUMN others_writes_per_s float8,
	ADD COLUMN others_read_mb_per_s float8,
	ADD COLUMN others_write_mb_per_s float8,
	ADD COLUMN others_in_flight float8,
	ADD COLUMN device_busy_percent float8,
	ADD COLUMN processor_wait_percent float8,
	ADD COLUMN turns int,
	ADD COLUMN quiet_percent float8,
	ADD COLUMN burst_iops float8,
	ADD COLUMN burst_seconds float8;
UPDATE tablespace_advisor.probe_result
SET conditions = caveat, caveat = NULL
WHERE caveat IS NOT NULL AND NOT EXISTS
	(SELECT FROM unnest(string_to_array(caveat, '; ')) reason
		WHERE reason !~ '^([0-9]+ % of the device''s I/O came from others|processors were busy with others for [0-9]+ % of the time|latency kept changing after the warm-up|limited to [0-9]+ I/O per second by tablespace_advisor.probe_max_iops)$');

/* What VACUUM and ANALYZE read is not the application's. */
ALTER TABLE tablespace_advisor.relation_sample ADD COLUMN maintenance_reads bigint;
ALTER TABLE tablespace_advisor.sampled_relation
	ADD COLUMN vacuums bigint,
	ADD COLUMN analyzes bigint;

/* What devices did between samples. */
CREATE TABLE tablespace_advisor.tablespace_io_sample (
	sample_id int NOT NULL,
	tablespace oid NOT NULL,
	measured_at timestamptz NOT NULL,
	seconds float8 NOT NULL,
	reads bigint NOT NULL,
	read_bytes bigint NOT NULL,
	read_ms bigint NOT NULL,
	writes bigint NOT NULL,
	write_bytes bigint NOT NULL,
	write_ms bigint NOT NULL,
	busy_ms bigint NOT NULL,
	queue_ms bigint NOT NULL,
	PRIMARY KEY (sample_id, tablespace)
);

CREATE TABLE tablespace_advisor.sampled_device (
	tablespace oid PRIMARY KEY,
	read_at timestamptz NOT NULL,
	device text NOT NULL,
	reads bigint NOT NULL,
	read_bytes bigint NOT NULL,
	read_ms bigint NOT NULL,
	writes bigint NOT NULL,
	write_bytes bigint NOT NULL,
	write_ms bigint NOT NULL,
	busy_ms bigint NOT NULL,
	queue_ms bigint NOT NULL
);

/* What standbys read. */
CREATE TABLE tablespace_advisor.standby_activity (
	server name NOT NULL,
	relation oid NOT NULL,
	observed_at timestamptz NOT NULL,
	reads_per_s float8 NOT NULL,
	hits_per_s float8 NOT NULL,
	scans_per_s float8 NOT NULL,
	PRIMARY KEY (server, relation)
);

/* Relations that are to stay where they are. */
CREATE TABLE tablespace_advisor.placement_pin (
	relation oid PRIMARY KEY,
	reason text,
	pinned_by oid NOT NULL,
	pinned_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	ends_at timestamptz
);

/* Which moves apply_placement() has made. */
CREATE TABLE tablespace_advisor.placement_round (
	batch_id bigint PRIMARY KEY,
	round_id bigint NOT NULL,
	started_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	is_undo boolean NOT NULL,
	is_finished boolean NOT NULL DEFAULT false
);
CREATE INDEX placement_round_round_id_idx ON tablespace_advisor.placement_round (round_id);
/* Samples in which something was vacuumed. */
CREATE INDEX relation_sample_maintained_idx ON tablespace_advisor.relation_sample (sample_id)
	INCLUDE (maintenance_reads) WHERE maintenance_reads > 0;
