/* Copyright (c) 2026, The tablespace_advisor developers */

/*
 * src/sample/sample.sql
 *
 * Taking a sample.  It is done with a superuser's rights: by sample_activity()
 * for members of pg_monitor, in the background (sample_worker.c) by take_sample(), which
 * runs as its owner.  It names nothing that others could have made, and calls no
 * code of theirs; take.c keeps them from dropping the extension meanwhile, and
 * making their own under its names.
 *
 * Two at a time would count the same activity twice, hence the lock, which nobody
 * is to keep: sample_activity() commits.
 */
CREATE FUNCTION tablespace_advisor.read_statements(
	OUT statements bigint,
	OUT statements_ms float8)
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'tsa_read_statements';

COMMENT ON FUNCTION tablespace_advisor.read_statements() IS
	'calls and milliseconds of execution of all statements in this database by pg_stat_statements; NULL without it, 55000 if its library is not loaded';

CREATE FUNCTION tablespace_advisor.read_temporary_io(
	OUT blocks_read bigint,
	OUT read_ms float8,
	OUT blocks_written bigint,
	OUT write_ms float8,
	OUT since timestamptz)
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'tsa_read_temporary_io';

COMMENT ON FUNCTION tablespace_advisor.read_temporary_io() IS
	'blocks of temporary files that statements of this database have read and written, and the time for that, by pg_stat_statements; NULL without it, 55000 if its library is not loaded';

CREATE FUNCTION tablespace_advisor.statement_totals(
	OUT statements bigint,
	OUT statements_ms float8)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	SELECT r.* INTO statements, statements_ms
	FROM tablespace_advisor.read_statements() r;
EXCEPTION
	WHEN object_not_in_prerequisite_state THEN
		RETURN;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.statement_totals() IS
	'calls and milliseconds of execution of all statements in this database by pg_stat_statements; NULL without it';

/* The row of sample, before anything is known of relations. */
CREATE FUNCTION tablespace_advisor.add_sample(
	last_sample tablespace_advisor.sample,
	profile tablespace_advisor.wait_profile)
RETURNS tablespace_advisor.sample
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	added tablespace_advisor.sample;
	/* read once: the seconds measured are part of those of the sample */
	now_at CONSTANT timestamptz := clock_timestamp();
BEGIN
	INSERT INTO tablespace_advisor.sample AS s
		(started_at, taken_at, was_reset, stats_reset, io_timed,
			blocks_read, blocks_hit, read_ms, write_ms,
			statements, statements_ms,
			snapshots, reading_snapshots, reading_sessions, waits,
			waits_since, waits_measured_s)
	SELECT last_sample.taken_at, now_at,
		last_sample.taken_at IS NOT NULL
			/* the reset of a single relation makes stats_reset newer, too */
			AND (b.stats_reset IS DISTINCT FROM last_sample.stats_reset
				AND (d.blks_read < last_sample.blocks_read
					OR d.blks_hit < last_sample.blocks_hit)
				OR b.server_since > last_sample.taken_at),
		b.stats_reset, current_setting('track_io_timing')::boolean,
		d.blks_read, d.blks_hit, d.blk_read_time, d.blk_write_time,
		t.statements, t.statements_ms,
		profile.snapshots, profile.reading_snapshots,
		profile.reading_sessions, profile.waits, w.since,
		/* of counters that the last sample did not read nothing can be said */
		CASE WHEN w.enabled AND (w.since = last_sample.waits_since
				OR w.since > last_sample.taken_at)
			THEN extract(epoch FROM now_at
				- greatest(last_sample.taken_at, w.since)) END
	FROM pg_stat_database d, tablespace_advisor.statistics_start b,
		tablespace_advisor.statement_totals() t, tablespace_advisor.wait_info() w
	WHERE d.datname = current_database()
	RETURNING s.* INTO added;
	RETURN added;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.add_sample(tablespace_advisor.sample, tablespace_advisor.wait_profile) IS
	'adds the row of a sample, given the sample before it (NULL: this is the first) and the waits of sessions';

CREATE FUNCTION tablespace_advisor.cached_share(
	blocks bigint,
	shared_blocks bigint,
	system_only_blocks bigint)
RETURNS float8
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'tsa_cached_share_of';

COMMENT ON FUNCTION tablespace_advisor.cached_share(bigint, bigint, bigint) IS
	'share of a relation''s blocks outside of shared buffers that are in the system''s cache, from the columns of relations_residency(); NULL when not known';

/*
 * A counter that fell has begun anew: its value has grown since.  So has a relation
 * that the last sample did not have.  Nothing grows or shrinks in its file without
 * an access that is counted, so that only the files of relations with changed
 * counters are looked at, and VACUUM and ANALYZE of their tables.
 */
CREATE FUNCTION tablespace_advisor.changed_relations(
	was_reset boolean,
	OUT kind text,
	OUT continues boolean,
	OUT same_file boolean,
	OUT cached_before float8,
	OUT present tablespace_advisor.sampled_relation,
	OUT reads bigint,
	OUT hits bigint,
	OUT scans bigint,
	OUT tuples_read bigint,
	OUT inserted bigint,
	OUT updated bigint,
	OUT hot_updated bigint,
	OUT deleted bigint,
	OUT vacuums bigint,
	OUT analyzes bigint)
RETURNS SETOF record
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH present AS MATERIALIZED (
		/* without sizes, which are looked up for changed tables only */
		SELECT c.* FROM tablespace_advisor.uncounted_maintenance() u
		CROSS JOIN LATERAL tablespace_advisor.counters_of(
			NULL, false, u.vacuumed, u.analyzed) c
	)
	SELECT p.kind, f.keeps = 1,
		o.filenode IS NOT DISTINCT FROM p.filenode, o.system_cached,
		ROW(p.relation, p.tablespace, p.filenode, o.filenode_since,
			o.counted_since, z.size_bytes, p.reads, p.hits, p.scans,
			p.tuples_read, p.inserted, p.updated, p.hot_updated, p.deleted,
			NULL, p.vacuums, p.analyzes)::tablespace_advisor.sampled_relation,
		greatest(0, p.reads - f.keeps * coalesce(o.reads, 0)
			- tablespace_advisor.blocks_not_read(o.filenode, p.filenode,
				o.size_bytes, z.size_bytes)),
		p.hits - f.keeps * coalesce(o.hits, 0),
		p.scans - f.keeps * coalesce(o.scans, 0),
		p.tuples_read - f.keeps * coalesce(o.tuples_read, 0),
		p.inserted - f.keeps * coalesce(o.inserted, 0),
		p.updated - f.keeps * coalesce(o.updated, 0),
		p.hot_updated - f.keeps * coalesce(o.hot_updated, 0),
		p.deleted - f.keeps * coalesce(o.deleted, 0),
		greatest(0, p.vacuums - f.keeps * o.vacuums),
		greatest(0, p.analyzes - f.keeps * o.analyzes)
	FROM present p
	LEFT JOIN tablespace_advisor.sampled_relation o USING (relation)
	CROSS JOIN LATERAL
		(SELECT (o.relation IS NOT NULL AND NOT (changed_relations.was_reset
				OR p.reads < o.reads OR p.hits < o.hits
				OR p.scans < o.scans OR p.tuples_read < o.tuples_read
				OR p.inserted < o.inserted OR p.updated < o.updated
				OR p.hot_updated < o.hot_updated
				OR p.deleted < o.deleted))::int AS keeps) f
	CROSS JOIN LATERAL
		(SELECT tablespace_advisor.file_bytes(p.tablespace, p.filenode)
			AS size_bytes) z
	WHERE (f.keeps = 0
			OR p.reads <> o.reads OR p.hits <> o.hits
			OR p.scans <> o.scans OR p.tuples_read <> o.tuples_read
			OR p.inserted <> o.inserted OR p.updated <> o.updated
			OR p.deleted <> o.deleted OR p.filenode <> o.filenode
			OR p.tablespace <> o.tablespace)
		AND z.size_bytes IS NOT NULL
$$;

COMMENT ON FUNCTION tablespace_advisor.changed_relations(boolean) IS
	'relations with counters or files that differ from sampled_relation, with their growth since; present: the row as it is now';

CREATE FUNCTION tablespace_advisor.add_relation_samples(
	s tablespace_advisor.sample)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH changed AS MATERIALIZED (
		SELECT (c.present).relation, (c.present).size_bytes, c.*
		FROM tablespace_advisor.changed_relations(s.was_reset) c
	), resident AS MATERIALIZED (
		SELECT p.relation, tablespace_advisor.cached_share(
				p.blocks, p.shared_blocks, p.system_only_blocks) AS cached,
			p.shared_blocks / nullif(p.blocks, 0)::float8 AS shared_fraction
		FROM tablespace_advisor.relations_residency(
			array(SELECT c.relation FROM changed c WHERE c.reads > 0),
			64 * 1048576) p
	), forgotten AS (
		DELETE FROM tablespace_advisor.sampled_relation o
		WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = o.relation)
	), remembered AS (
		INSERT INTO tablespace_advisor.sampled_relation
		SELECT c.relation, (c.present).tablespace, (c.present).filenode,
			CASE WHEN c.same_file THEN (c.present).filenode_since ELSE s.started_at END,
			CASE WHEN c.continues THEN (c.present).counted_since
				WHEN s.started_at IS NOT NULL THEN s.started_at
				ELSE (SELECT coalesce(b.stats_reset, b.server_since)
					FROM tablespace_advisor.statistics_start b)
				END,
			c.size_bytes, (c.present).reads, (c.present).hits, (c.present).scans,
			(c.present).tuples_read, (c.present).inserted, (c.present).updated,
			(c.present).hot_updated, (c.present).deleted, r.cached,
			(c.present).vacuums, (c.present).analyzes
		FROM changed c LEFT JOIN resident r USING (relation)
		ON CONFLICT (relation) DO UPDATE
		SET (tablespace, filenode, filenode_since, counted_since, size_bytes,
				reads, hits, scans, tuples_read, inserted, updated, hot_updated,
				deleted, system_cached, vacuums, analyzes)
			= (excluded.tablespace, excluded.filenode, excluded.filenode_since,
				excluded.counted_since, excluded.size_bytes, excluded.reads,
				excluded.hits, excluded.scans, excluded.tuples_read,
				excluded.inserted, excluded.updated, excluded.hot_updated,
				excluded.deleted, excluded.system_cached, excluded.vacuums,
				excluded.analyzes)
	)
	INSERT INTO tablespace_advisor.relation_sample
		(sample_id, relation, size_bytes, reads, hits, scans, tuples_read,
			inserted, updated, hot_updated, deleted, cached_reads, maintenance_reads)
	SELECT s.sample_id, c.relation, c.size_bytes, nullif(c.reads, 0),
		nullif(c.hits, 0), nullif(c.scans, 0), nullif(c.tuples_read, 0),
		nullif(c.inserted, 0), nullif(c.updated, 0), nullif(c.hot_updated, 0),
		nullif(c.deleted, 0),
		c.reads * CASE WHEN c.same_file AND c.cached_before IS NOT NULL
			THEN (r.cached + c.cached_before) / 2 ELSE r.cached END,
		tablespace_advisor.estimate_maintenance_reads(c.kind, c.vacuums,
			c.analyzes, c.reads, c.size_bytes, r.shared_fraction)
	FROM changed c LEFT JOIN resident r USING (relation)
	WHERE s.started_at IS NOT NULL
$$;

COMMENT ON FUNCTION tablespace_advisor.add_relation_samples(tablespace_advisor.sample) IS
	'adds the rows of relation_sample that belong to a sample just begun, and brings sampled_relation up to date';

/*
 * Samples of more than two days ago become one per hour, those of more than
 * 30 days ago one per day (UTC).  Each becomes part of the last of its hour or
 * day.  A reset in the middle keeps its sample apart.
 */
CREATE FUNCTION tablespace_advisor.samples_to_merge(
	OUT whole_id int,
	OUT unit text,
	OUT started_at timestamptz,
	OUT part_id int)
RETURNS SETOF record
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH old AS (
		SELECT s.sample_id, s.started_at, s.taken_at, s.was_reset,
			CASE WHEN s.taken_at < clock_timestamp() - interval '30 days'
				THEN 'day' ELSE 'hour' END AS unit, s.covers
		FROM tablespace_advisor.sample s
		WHERE s.taken_at < clock_timestamp() - interval '2 days'
	), part AS (
		SELECT o.*,
			date_trunc(o.unit, o.taken_at, 'UTC') AS bucket,
			sum((o.was_reset OR o.started_at IS NULL)::int)
				OVER (ORDER BY o.sample_id) AS life
		FROM old o
	), whole AS (
		/* an hour or day that has ended in the part that is old */
		SELECT p.unit, max(p.sample_id) AS sample_id,
			min(p.started_at) AS started_at, array_agg(p.sample_id) AS parts
		FROM part p
		WHERE p.bucket < date_trunc(p.unit, clock_timestamp()
			- CASE p.unit WHEN 'day' THEN interval '30 days'
				ELSE interval '2 days' END, 'UTC')
			AND p.started_at IS NOT NULL
		GROUP BY p.unit, p.bucket, p.life
		HAVING count(*) > 1 OR bool_or(p.covers <> p.unit)
	)
	SELECT w.sample_id, w.unit, w.started_at, m.part_id
	FROM whole w CROSS JOIN LATERAL unnest(w.parts) m(part_id)
$$;

COMMENT ON FUNCTION tablespace_advisor.samples_to_merge() IS
	'samples that are to become part of another one (whole_id), which then covers an hour or a day';

CREATE FUNCTION tablespace_advisor.forget_samples(keep_days int)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	/* the last one stays: the next one is measured from it */
	DELETE FROM tablespace_advisor.sample s
	WHERE s.taken_at < clock_timestamp() - make_interval(days => keep_days)
		AND s.sample_id < (SELECT max(l.sample_id) FROM tablespace_advisor.sample l);
	DELETE FROM tablespace_advisor.relation_sample r
	WHERE r.sample_id
		< (SELECT min(s.sample_id) FROM tablespace_advisor.sample s);
	DELETE FROM tablespace_advisor.tablespace_sample t
	WHERE t.sample_id
		< (SELECT min(s.sample_id) FROM tablespace_advisor.sample s);
	DELETE FROM tablespace_advisor.tablespace_io_sample i
	WHERE i.sample_id
		< (SELECT min(s.sample_id) FROM tablespace_advisor.sample s);
	DELETE FROM tablespace_advisor.relation_wait_sample w
	WHERE w.sample_id
		< (SELECT min(s.sample_id) FROM tablespace_advisor.sample s);
	DELETE FROM tablespace_advisor.statement_wait_sample w
	WHERE w.sample_id
		< (SELECT min(s.sample_id) FROM tablespace_advisor.sample s)
$$;

COMMENT ON FUNCTION tablespace_advisor.forget_samples(int) IS
	'deletes samples older than the days given (NULL: none)';

/*
 * Counters of the database are kept as they were, so that there is nothing to
 * add up.
 */
CREATE FUNCTION tablespace_advisor.roll_up_samples(keep_days int)
RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.merge_wait_samples(m.whole_id, array_agg(m.part_id))
	FROM tablespace_advisor.samples_to_merge() m GROUP BY m.whole_id;
	WITH member AS MATERIALIZED (
		SELECT * FROM tablespace_advisor.samples_to_merge()
	), moved AS (
		DELETE FROM tablespace_advisor.relation_sample r
		USING member m
		WHERE r.sample_id = m.part_id
		RETURNING m.whole_id, r.*
	), added AS (
		INSERT INTO tablespace_advisor.relation_sample
			(sample_id, relation, size_bytes, reads, hits, scans, tuples_read,
				inserted, updated, hot_updated, deleted, cached_reads,
				maintenance_reads)
		SELECT v.whole_id, v.relation,
			(array_agg(v.size_bytes ORDER BY v.sample_id DESC))[1],
			sum(v.reads), sum(v.hits), sum(v.scans), sum(v.tuples_read),
			sum(v.inserted), sum(v.updated), sum(v.hot_updated),
			sum(v.deleted), sum(v.cached_reads), sum(v.maintenance_reads)
		FROM moved v
		GROUP BY v.whole_id, v.relation
	), sums AS MATERIALIZED (
		SELECT m.whole_id, m.unit, m.started_at,
			bool_or(s.was_reset) AS was_reset,
			sum(s.snapshots) AS snapshots,
			sum(s.reading_snapshots) AS reading_snapshots,
			sum(s.reading_sessions) AS reading_sessions,
			sum(s.waits_measured_s) AS waits_measured_s,
			tablespace_advisor.sum_waits(array_agg(s.waits)) AS waits
		FROM member m JOIN tablespace_advisor.sample s ON s.sample_id = m.part_id
		GROUP BY m.whole_id, m.unit, m.started_at
	), merged AS (
		UPDATE tablespace_advisor.sample s
		SET covers = a.unit, started_at = a.started_at,
			was_reset = a.was_reset, snapshots = a.snapshots,
			reading_snapshots = a.reading_snapshots,
			reading_sessions = a.reading_sessions, waits = a.waits,
			waits_measured_s = a.waits_measured_s
		FROM sums a WHERE s.sample_id = a.whole_id
	), moved_io AS (
		DELETE FROM tablespace_advisor.tablespace_io_sample i
		USING member m
		WHERE i.sample_id = m.part_id
		RETURNING m.whole_id, i.*
	), added_io AS (
		INSERT INTO tablespace_advisor.tablespace_io_sample
			(sample_id, tablespace, measured_at, seconds, reads, read_bytes, read_ms,
				writes, write_bytes, write_ms, busy_ms, queue_ms)
		SELECT v.whole_id, v.tablespace, max(v.measured_at), sum(v.seconds),
			sum(v.reads), sum(v.read_bytes), sum(v.read_ms), sum(v.writes),
			sum(v.write_bytes), sum(v.write_ms), sum(v.busy_ms), sum(v.queue_ms)
		FROM moved_io v
		JOIN tablespace_advisor.device_interval d
			ON d.sample_id = v.sample_id AND d.tablespace = v.tablespace
		GROUP BY v.whole_id, v.tablespace
	), gone AS (
		DELETE FROM tablespace_advisor.sample s
		USING member m
		WHERE s.sample_id = m.part_id AND m.part_id <> m.whole_id
	)
	DELETE FROM tablespace_advisor.tablespace_sample t
	USING member m
	WHERE t.sample_id = m.part_id AND m.part_id <> m.whole_id;
	SELECT tablespace_advisor.forget_samples(keep_days)
$$;

COMMENT ON FUNCTION tablespace_advisor.roll_up_samples(int) IS
	'makes one sample of those of each hour after two days, of each day after 30 days, and deletes those older than the days given (NULL: none)';

CREATE FUNCTION tablespace_advisor.add_all_samples(snapshots int)
RETURNS int
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET stats_fetch_consistency = 'cache'
SET work_mem = '64MB'
SET jit = off
AS $$
DECLARE
	last_sample tablespace_advisor.sample;
	s tablespace_advisor.sample;
	profile tablespace_advisor.wait_profile;
BEGIN
	IF pg_is_in_recovery() THEN
		RAISE EXCEPTION 'cannot keep samples on a standby'
			USING ERRCODE = 'read_only_sql_transaction',
				HINT = 'The advice can watch for a while instead: use its argument observe.';
	END IF;
	profile := tablespace_advisor.watch_waits(snapshots, 0.05);

	LOCK TABLE tablespace_advisor.sample IN SHARE ROW EXCLUSIVE MODE;
	PERFORM pg_stat_clear_snapshot();
	SELECT l.* INTO last_sample FROM tablespace_advisor.sample l
	ORDER BY l.sample_id DESC LIMIT 1;
	s := tablespace_advisor.add_sample(last_sample, profile);
	PERFORM tablespace_advisor.add_device_samples(s);
	PERFORM tablespace_advisor.add_relation_samples(s);
	PERFORM tablespace_advisor.add_wait_samples(s);
	PERFORM tablespace_advisor.refresh_residency();
	INSERT INTO tablespace_advisor.tablespace_sample
		(sample_id, tablespace, used_bytes, free_bytes)
	SELECT s.sample_id, u.tablespace, u.used_bytes, d.free_bytes
	FROM (SELECT r.tablespace, sum(r.size_bytes) AS used_bytes
			FROM tablespace_advisor.sampled_relation r GROUP BY r.tablespace) u
	CROSS JOIN LATERAL tablespace_advisor.tablespace_device(u.tablespace) d;
	PERFORM tablespace_advisor.roll_up_samples(nullif(
		current_setting('tablespace_advisor.keep_history', true)::int, 0));
	RETURN s.sample_id;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.add_all_samples(int) IS
	'takes a sample, for take_sample() and sample_activity()';

CREATE FUNCTION tablespace_advisor.take_sample(snapshots int DEFAULT 10)
RETURNS int
LANGUAGE C STRICT VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET session_replication_role = origin
AS 'MODULE_PATHNAME', 'tsa_take_sample';

COMMENT ON FUNCTION tablespace_advisor.take_sample(int) IS
	'takes a sample, after so many looks at the waits of sessions, 50 ms apart, and returns its number. Errors: 25006 on a standby';

CREATE PROCEDURE @extschema@.sample_activity()
LANGUAGE C
AS 'MODULE_PATHNAME', 'tsa_sample_activity';

COMMENT ON PROCEDURE @extschema@.sample_activity() IS
	'records the reads and writes of each relation since the previous call, and the waits of sessions, for the advice; takes about half a second. Errors: 25001 in a transaction block, 25006 on a standby';

REVOKE ALL ON PROCEDURE @extschema@.sample_activity() FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE @extschema@.sample_activity() TO pg_monitor;
