/*
 * apply: which moves apply_placement() has made, and so may undo.
 */
CREATE TABLE tablespace_advisor.placement_round (
	batch_id bigint PRIMARY KEY,
	started_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
	is_undo boolean NOT NULL
);
