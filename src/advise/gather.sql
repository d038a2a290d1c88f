/*
 * src/advise/gather.sql
 *
 * Advice on a table or on the whole database: gathers the facts (facts.sql)
 * and has them judged (placement.sql).  advise.c, which has the functions for
 * users, checks their rights first and then runs this as the superuser.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */

/*
 * Where pgstattuple is installed, an index that seems to be bloated and can
 * be read in a moment is looked at.  It locks the index as any query does;
 * where that would wait, the estimate stays.
 */
CREATE FUNCTION tablespace_advisor.measure_bloat(a tablespace_advisor.relation_fact)
RETURNS tablespace_advisor.relation_fact
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	max_bytes CONSTANT bigint := 256 * 1048576;
	block_bytes CONSTANT int := current_setting('block_size');
	leaves bigint;
	inner_pages bigint;
	density float8;
BEGIN
	IF tablespace_advisor.is_bloated(a.rebuilt_bytes, a.size_bytes) IS NOT TRUE OR a.size_bytes > max_bytes THEN
		RETURN a;
	END IF;
	IF NOT tablespace_advisor.lock_if_free(a.relation) THEN
		RETURN a;
	END IF;
	SELECT r.* INTO leaves, inner_pages, density
	FROM tablespace_advisor.read_index_pages(a.relation) r;
	IF leaves IS NULL THEN
		RETURN a;
	END IF;
	/* without entries NaN; deleted pages are in neither number */
	IF density < 'NaN' THEN
		leaves := ceil(leaves * density / 90);
	END IF;
	a.rebuilt_bytes := least(a.size_bytes, (2 + inner_pages + leaves) * block_bytes);
	RETURN a;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.measure_bloat(tablespace_advisor.relation_fact) IS
	'the fact with rebuilt_bytes as pgstatindex() measures it, if the extension pgstattuple is installed and the index seems to be bloated';

CREATE FUNCTION tablespace_advisor.read_index_pages(
	index regclass,
	OUT leaf_pages bigint,
	OUT internal_pages bigint,
	OUT avg_leaf_density float8)
LANGUAGE C STRICT VOLATILE
AS 'MODULE_PATHNAME', 'tsa_read_index_pages';
COMMENT ON FUNCTION tablespace_advisor.read_index_pages(regclass) IS
	'figures of pgstatindex() on a B-tree; NULLs where the extension pgstattuple is not installed';

CREATE FUNCTION tablespace_advisor.lock_if_free(relation oid)
RETURNS boolean
LANGUAGE C STRICT VOLATILE
AS 'MODULE_PATHNAME', 'tsa_lock_if_free';
COMMENT ON FUNCTION tablespace_advisor.lock_if_free(oid) IS
	'takes an AccessShare lock for this transaction if that is possible without waiting, and says whether it was';

CREATE FUNCTION tablespace_advisor.check_target(target regclass)
RETURNS pg_class
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	c pg_class;
BEGIN
	SELECT r.* INTO c FROM pg_class r WHERE r.oid = target;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'relation with OID % does not exist', target::oid
			USING ERRCODE = 'undefined_table';
	END IF;
	IF c.relkind NOT IN ('r', 'm', 'p', 'i', 'I')
		OR c.relnamespace = 'pg_toast'::regnamespace
	THEN
		RAISE EXCEPTION '"%" is not a table or index', c.relname
			USING ERRCODE = 'wrong_object_type',
				DETAIL = CASE WHEN c.relnamespace = 'pg_toast'::regnamespace
					THEN 'A TOAST table moves with its table.'
					ELSE 'Advice is on tables, partitioned tables, materialized views and their indexes.' END;
	END IF;
	RETURN c;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.check_target(regclass) IS
	'the catalog row of a relation on which advice can be asked; errors: 42P01 no such relation, 42809 neither table nor index';

/*
 * A text without number may well be a relation, which is not the first
 * argument.
 */
CREATE FUNCTION tablespace_advisor.check_budget(space_budget text)
RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	bytes bigint;
BEGIN
	IF space_budget !~ '^[[:space:]]*[-+.]*[0-9]' THEN
		RAISE EXCEPTION 'invalid size: "%"', space_budget
			USING ERRCODE = 'invalid_parameter_value',
				HINT = 'For advice on one relation, write target => its name; for a budget, a size such as 2 GB.';
	END IF;
	bytes := pg_size_bytes(space_budget);
	IF bytes <= 0 THEN
		RAISE EXCEPTION 'space_budget must be greater than zero'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN bytes;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.check_budget(text) IS
	'the bytes of a budget, NULL of NULL; errors: 22023 no size, or not greater than zero';

/*
 * Where there is not room for all that others read, unread relations may have to
 * make room.
 */
CREATE FUNCTION tablespace_advisor.wanted_tablespaces(
	tablespaces tablespace_advisor.tablespace_fact[],
	rates tablespace_advisor.relation_rate[])
RETURNS SETOF name
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	WITH read AS MATERIALIZED (
		SELECT r.tablespace, sum(r.size_bytes) AS bytes
		FROM tablespace_advisor.elements(rates) r WHERE r.reads_per_s > 0
		GROUP BY r.tablespace
	)
	SELECT f.tablespace
	FROM unnest(tablespaces) f
	JOIN pg_tablespace t ON t.spcname = f.tablespace
	WHERE f.random_read_us < (SELECT max(o.random_read_us) FROM unnest(tablespaces) o)
		AND f.available_bytes < (SELECT sum(r.bytes) FROM read r WHERE r.tablespace <> t.oid)
$$;
COMMENT ON FUNCTION tablespace_advisor.wanted_tablespaces(tablespace_advisor.tablespace_fact[], tablespace_advisor.relation_rate[]) IS
	'tablespaces faster than another one that have not room for all that is read elsewhere';

/*
 * Reads before a move were elsewhere: the server's timing, and the queue, are those
 * of another placement.  So the window begins after the last move but for such as
 * have little to do with the reads.
 */
CREATE FUNCTION tablespace_advisor.history_since_moves(
	longest interval,
	OUT history interval,
	OUT is_before boolean,
	OUT moved_at timestamptz)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	/* of all blocks read: no more than this was read elsewhere */
	min_share CONSTANT float8 := 0.05;
	begins timestamptz;
	last timestamptz;
BEGIN
	WITH move AS (
		SELECT j.relation, max(j.finished_at) AS at FROM tablespace_advisor.job j
		WHERE j.state = 'done' AND j.from_tablespace <> j.to_tablespace
			AND j.finished_at > clock_timestamp() - longest
		GROUP BY j.relation
	), sampled AS MATERIALIZED (
		SELECT i.sample_id, i.started_at, i.blocks_read
		FROM tablespace_advisor.sample_interval i
		WHERE i.taken_at > clock_timestamp() - longest
	), before AS (
		SELECT m.at, sum(r.reads) AS reads
		FROM (SELECT m.relation, m.at FROM move m
			UNION ALL SELECT c.reltoastrelid, m.at
			FROM move m JOIN pg_class c ON c.oid = m.relation AND c.reltoastrelid <> 0) m
		JOIN tablespace_advisor.relation_sample r ON r.relation = m.relation
		JOIN sampled i ON i.sample_id = r.sample_id AND i.started_at < m.at
		GROUP BY m.at
	)
	SELECT max(s.at) INTO moved_at
	FROM (SELECT b.at, sum(b.reads) OVER (ORDER BY b.at DESC)::float8
			/ (SELECT sum(i.blocks_read) FROM sampled i) AS share FROM before b) s
	WHERE s.share > min_share;
	SELECT min(i.taken_at) FILTER (WHERE i.taken_at >= moved_at), max(i.taken_at)
	INTO begins, last
	FROM tablespace_advisor.sample_interval i
	WHERE i.taken_at > clock_timestamp() - longest;
	is_before := moved_at IS NOT NULL AND (begins < last) IS NOT TRUE;
	history := CASE WHEN begins < last THEN clock_timestamp() - begins ELSE longest END;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.history_since_moves(interval) IS
	'how far back samples go that were taken with relations where they are now, so long at most; moved_at: when the last move ended that matters; is_before: there are none yet since, history is as if there had been no move';

/*
 * Counters take a move's reads for the application's.  A move reads each block
 * of a relation once.
 */
CREATE FUNCTION tablespace_advisor.without_moves(
	rates tablespace_advisor.relation_rate[],
	begins timestamptz,
	ends timestamptz)
RETURNS tablespace_advisor.relation_rate[]
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	block_bytes CONSTANT float8 := current_setting('block_size');
	seconds CONSTANT float8 := extract(epoch FROM ends - begins);
	moved oid[];
BEGIN
	moved := array(SELECT m.relation
		FROM tablespace_advisor.job j
		JOIN pg_class c ON c.oid = j.relation
		LEFT JOIN pg_index t ON t.indrelid = c.reltoastrelid AND c.reltoastrelid <> 0
		CROSS JOIN LATERAL unnest(ARRAY[j.relation, c.reltoastrelid, t.indexrelid]
			|| j.indexes) m (relation)
		WHERE j.finished_at > begins AND j.started_at < ends AND m.relation <> 0);
	IF cardinality(moved) = 0 THEN
		RETURN rates;
	END IF;
	RETURN array(SELECT CASE WHEN r.relation = ANY (moved) THEN jsonb_populate_record(r,
			jsonb_build_object('reads_per_s', greatest(0,
				r.reads_per_s - r.size_bytes / block_bytes / seconds))) ELSE r END
		FROM tablespace_advisor.elements(rates) r);
END
$$;
COMMENT ON FUNCTION tablespace_advisor.without_moves(tablespace_advisor.relation_rate[], timestamptz, timestamptz) IS
	'rates of a window less the reads of moves in it';

/* Exports, maintenance, planning and moves wait, too, but are no reason to move. */
CREATE FUNCTION tablespace_advisor.other_waits(
	waits tablespace_advisor.relation_wait[],
	count_exports boolean)
RETURNS jsonb
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT jsonb_object_agg(o.class, o.sessions)
	FROM (SELECT w.class, sum(w.waiting_sessions) AS sessions FROM unnest(waits) w
		WHERE w.class <> 'application' AND NOT (count_exports AND w.class = 'export')
		GROUP BY w.class HAVING sum(w.waiting_sessions) >= 0.001) o
$$;
COMMENT ON FUNCTION tablespace_advisor.other_waits(tablespace_advisor.relation_wait[], boolean) IS
	'the mean number of sessions that wait for reads and are not the application, by class of readers; NULL without any';

CREATE FUNCTION tablespace_advisor.with_exports(
	rates tablespace_advisor.relation_rate[],
	waits tablespace_advisor.relation_wait[])
RETURNS SETOF tablespace_advisor.relation_rate
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN e.reads > 0 THEN jsonb_populate_record(r, jsonb_build_object(
			'reads_per_s', r.reads_per_s + e.reads,
			'waiting_sessions', r.waiting_sessions + e.sessions,
			'scan_reads_per_s', coalesce(r.scan_reads_per_s, 0) + e.reads,
			'scan_sessions', coalesce(r.scan_sessions, 0) + e.sessions)) ELSE r END
	FROM tablespace_advisor.elements(rates) r
	LEFT JOIN (SELECT w.relation, sum(w.reads_per_s) AS reads, sum(w.waiting_sessions) AS sessions
		FROM unnest(waits) w WHERE w.class = 'export' GROUP BY w.relation) e
		ON e.relation = r.relation
$$;
COMMENT ON FUNCTION tablespace_advisor.with_exports(tablespace_advisor.relation_rate[], tablespace_advisor.relation_wait[]) IS
	'rates of the application with the reads of COPY TO and pg_dump, which scan';

CREATE TYPE tablespace_advisor.observed_load AS (
	load tablespace_advisor.load_fact,
	rates tablespace_advisor.relation_rate[],
	devices tablespace_advisor.device_rate[],
	statements tablespace_advisor.statement_wait[]
);
COMMENT ON TYPE tablespace_advisor.observed_load IS
	'the result of gather_load()';

/*
 * The load in a window, rates of relations and devices.  Before the first sample
 * after a move the server's timing and the queue tell of another placement.
 */
CREATE FUNCTION tablespace_advisor.gather_load(
	observe interval,
	tables oid[],
	longest interval DEFAULT '1 day',
	count_exports boolean DEFAULT false,
	OUT load tablespace_advisor.load_fact,
	OUT rates tablespace_advisor.relation_rate[],
	OUT devices tablespace_advisor.device_rate[],
	OUT statements tablespace_advisor.statement_wait[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	h record;
	seen record;
	is_before boolean;
BEGIN
	SELECT * INTO h FROM tablespace_advisor.history_since_moves(longest);
	SELECT * INTO seen FROM tablespace_advisor.observe_database(observe,
		tables, h.history, with_active => true);
	is_before := h.is_before AND seen.source = 'samples';
	load := ROW(seen.source, seen.window_start, seen.window_end, seen.seconds,
		seen.intervals, seen.was_reset, seen.reads_per_s,
		CASE WHEN NOT is_before THEN seen.read_ms_per_s END,
		CASE WHEN NOT is_before THEN seen.timed_read_us END,
		seen.snapshots, CASE WHEN is_before THEN 0 ELSE seen.reading_snapshots END,
		seen.active_sessions, CASE WHEN NOT is_before THEN seen.reading_sessions END,
		seen.waits, extract(epoch FROM current_setting('checkpoint_timeout')::interval),
		tablespace_advisor.copy_wal_per_byte(),
		(SELECT string_agg(DISTINCT s, ', ')
			FROM tablespace_advisor.streaming_standbys() s
			WHERE s NOT IN (SELECT r.server FROM tablespace_advisor.standby_reads() r)),
		CASE WHEN seen.source = 'samples' THEN h.moved_at END, NULL, NULL,
		tablespace_advisor.other_waits(seen.relation_waits, count_exports));
	rates := CASE WHEN seen.measured_s > 0 AND count_exports THEN
		array(SELECT r FROM tablespace_advisor.with_exports(
			seen.relations, seen.relation_waits) r)
		WHEN seen.measured_s > 0 THEN seen.relations ELSE
		tablespace_advisor.without_moves(
			seen.relations, seen.window_start, seen.window_end) END;
	devices := CASE WHEN is_before THEN '{}' ELSE seen.devices END;
	statements := CASE WHEN seen.measured_s > 0 THEN coalesce(seen.statement_waits, '{}') END;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.gather_load(interval, oid[], interval, boolean) IS
	'the window of an advice: see observe_database(), of these tables and those that did anything; observe NULL: samples since the last move that matters, so long at most; count_exports: exports count as the application, if waits were measured; statements: NULL where they were not';

/*
 * Owners are told that sessions wait for something else than storage, and that there
 * are standbys, but neither for what nor which.
 */
CREATE FUNCTION tablespace_advisor.load_as_seen_by(load tablespace_advisor.load_fact, caller oid)
RETURNS tablespace_advisor.load_fact
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF NOT pg_has_role(caller, 'pg_read_all_stats', 'USAGE') THEN
		load.waits := (SELECT jsonb_object_agg(w.event, w.sessions)
			FROM (SELECT k.event, sum(e.value::float8) AS sessions
				FROM jsonb_each_text(load.waits) e
				CROSS JOIN LATERAL (SELECT CASE WHEN e.key ~ '^IO/DataFile' THEN 'IO/DataFile'
					ELSE 'spent otherwise' END) k(event)
				GROUP BY k.event) w);
		load.other_waits := NULL;
		load.standbys := CASE WHEN load.standbys IS NOT NULL THEN 'standby servers' END;
	END IF;
	RETURN load;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.load_as_seen_by(tablespace_advisor.load_fact, oid) IS
	'the load without wait events and names of standbys, unless the role may read all statistics';

/*
 * The tables that advice on a relation, or on the database (NULL), needs: all that
 * is read, because reads are corrected by the timing of all.
 */
CREATE FUNCTION tablespace_advisor.tables_of_interest(
	tables oid[],
	unread name[],
	rates tablespace_advisor.relation_rate[],
	of_database boolean)
RETURNS SETOF oid
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT unnest(tables)
	UNION
	SELECT i.heap FROM tablespace_advisor.relation_inventory i
	WHERE cardinality(unread) > 0 AND i.heap >= 16384
		AND i.tablespace IN (SELECT t.oid FROM pg_tablespace t WHERE t.spcname = ANY (unread))
	UNION
	SELECT r.heap FROM unnest(rates) r
	WHERE r.reads_per_s > 0
		OR (of_database AND (r.hits_per_s > 0 OR r.writes_per_s > 0))
$$;
COMMENT ON FUNCTION tablespace_advisor.tables_of_interest(oid[], name[], tablespace_advisor.relation_rate[], boolean) IS
	'those given, those with something in tablespaces where unread relations may have to make room, and those that are read; of_database: also those that are only found in memory, or written';

/* The tablespaces there are, and those that the session assumes. */
CREATE FUNCTION tablespace_advisor.check_destination(destination name, with_assumed boolean)
RETURNS name
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF with_assumed AND destination IN
		(SELECT a.tablespace FROM tablespace_advisor.assumed_tablespaces() a)
	THEN
		RETURN destination;
	END IF;
	RETURN tablespace_advisor.check_tablespace(destination);
END
$$;
COMMENT ON FUNCTION tablespace_advisor.check_destination(name, boolean) IS
	'check_tablespace(), which with_assumed takes those of assume_tablespace(), too';

/* The reason of the row that has the statement stays a line. */
CREATE FUNCTION tablespace_advisor.tell_who_probes(caller oid, advice @extschema@.placement_advice)
RETURNS @extschema@.placement_advice
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	who text;
BEGIN
	who := tablespace_advisor.who_may_probe(pg_get_userbyid(caller));
	advice.reason := tablespace_advisor.one_line(advice.reason, 80 - length(who)) || who;
	RETURN advice;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.tell_who_probes(oid, @extschema@.placement_advice) IS
	'an advice to probe first, with the roles that may, if this role may not';

CREATE FUNCTION tablespace_advisor.gather_advice(
	caller oid,
	target regclass,
	destination name,
	space_budget text,
	observe interval,
	with_evidence boolean,
	with_assumed boolean DEFAULT false,
	history interval DEFAULT '1 day',
	observed tablespace_advisor.observed_load DEFAULT NULL,
	count_exports boolean DEFAULT false)
RETURNS TABLE (advice @extschema@.placement_advice, evidence jsonb)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off	-- 20 000 relations: 2.0 s without, 0.7 s with
AS $$
#variable_conflict use_column
DECLARE
	to_tablespace name := tablespace_advisor.check_destination(destination, with_assumed);
	budget_bytes bigint := tablespace_advisor.check_budget(space_budget);
	c pg_class;
	tablespaces tablespace_advisor.tablespace_fact[];
	relations tablespace_advisor.relation_fact[];
	targets oid[];
	tables oid[];
	considered regclass[];
	unread name[] := '{}';
BEGIN
	IF target IS NOT NULL THEN
		c := tablespace_advisor.check_target(target);
	END IF;
	tablespaces := array(SELECT f FROM tablespace_advisor.tablespace_facts(
		caller, coalesce(c.relowner, caller)) f);
	IF target IS NULL THEN
		tables := array(SELECT t FROM tablespace_advisor.tables_with_faults(tablespaces) t
			UNION SELECT r.heap FROM tablespace_advisor.standby_reads() r);
	ELSE
		targets := array(SELECT l FROM tablespace_advisor.leaves_of(target) l);
		tables := array(SELECT coalesce(i.indrelid, t) FROM unnest(targets) t LEFT JOIN pg_index i ON i.indexrelid = t);
	END IF;
	IF observed.load IS NULL THEN
		SELECT l.* INTO observed FROM tablespace_advisor.gather_load(observe, tables, history, count_exports) l;
	END IF;
	tablespaces := array(SELECT f FROM tablespace_advisor.with_present_latency(tablespaces, observed.devices) f);
	tablespaces := tablespaces || array(SELECT f FROM tablespace_advisor.assumed_facts(tablespaces) f WHERE with_assumed);
	unread := array(SELECT t FROM tablespace_advisor.wanted_tablespaces(
		tablespaces, observed.rates) t WHERE target IS NULL);
	tables := array(SELECT t FROM tablespace_advisor.tables_of_interest(tables, unread, observed.rates, target IS NULL) t);
	relations := tablespace_advisor.relation_facts(observed.rates, tables, CASE WHEN target IS NULL THEN 8388608 ELSE 0 END);
	/* sessions wait for less than reads take where others read for them */
	IF coalesce(current_setting('io_method', true), 'sync') = 'sync' THEN
		tablespaces := array(SELECT f FROM tablespace_advisor.with_timed_latency(tablespaces, relations, observed.load) f);
	END IF;
	IF EXISTS (SELECT FROM tablespace_advisor.standby_reads()) THEN
		relations := array(SELECT f FROM tablespace_advisor.with_standby_reads(relations) f);
	END IF;
	IF target IS NOT NULL THEN
		considered := array(SELECT f.relation FROM tablespace_advisor.elements(relations) f
			WHERE f.relation IN (SELECT unnest(targets)) OR f.table_relation IN (SELECT unnest(targets)));
		relations := array(SELECT CASE WHEN f.relation IN (SELECT unnest(considered))
			THEN tablespace_advisor.measure_bloat(f) ELSE f END FROM tablespace_advisor.elements(relations) f);
	ELSE
		considered := array(SELECT f.relation FROM tablespace_advisor.elements(relations) f
			LEFT JOIN unnest(tablespaces) s ON s.tablespace = f.tablespace
			WHERE f.reads_per_s > 0 OR f.hits_per_s > 0 OR f.writes_per_s > 0 OR f.unusable IS NOT NULL
				OR f.duplicate_of IS NOT NULL OR s.available_bytes < 0 OR f.tablespace = ANY (unread));
	END IF;
	RETURN QUERY SELECT CASE WHEN (j.advice).action = 'probe first' AND (j.advice).statement IS NOT NULL
			THEN tablespace_advisor.tell_who_probes(caller, j.advice) ELSE j.advice END, j.evidence
	FROM tablespace_advisor.judge_placement(relations, considered, tablespaces,
		tablespace_advisor.load_as_seen_by(observed.load, caller), to_tablespace, budget_bytes, target IS NULL, with_evidence) j
	/* unused relations have a row only if they make room */
	WHERE cardinality(unread) = 0 OR (j.advice).action <> 'keep'
		OR (j.advice).reads_per_s > 0 OR (j.advice).writes_per_s > 0 OR (j.advice).cached_fraction IS NOT NULL;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.gather_advice(oid, regclass, name, text, interval, boolean, boolean, interval, tablespace_advisor.observed_load, boolean) IS
	'advice for a role on a relation, or on the whole database (NULL); see advise_placement(); evidence is NULL without with_evidence; rests on samples of so long at most (history), or on the load given (observed); count_exports: see gather_load(); with_assumed: also to tablespaces that the session assumes';

CREATE FUNCTION tablespace_advisor.expected_savings(
	caller oid,
	target regclass,
	destination name)
RETURNS TABLE (relation oid, tablespace text, action text, saved_ms_per_s float8)
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT (g.advice).relation, (g.advice).to_tablespace, (g.advice).action,
		CASE WHEN (g.evidence #>> '{to,shares_device}')::boolean THEN NULL
			WHEN (g.advice).action = 'move' THEN (g.advice).saved_ms_per_s
			WHEN g.evidence -> 'to' IS NOT NULL
			THEN nullif((g.evidence #>> '{estimate,saved_ms_per_s}')::float8, 0) END
	FROM tablespace_advisor.gather_advice(caller, target, destination, NULL, NULL, true) g
$$;
COMMENT ON FUNCTION tablespace_advisor.expected_savings(oid, regclass, name) IS
	'advice for moves: its actions on a relation and its indexes, and their saving; of relations that it would keep, the estimate, NULL: none, or a move within one device';
