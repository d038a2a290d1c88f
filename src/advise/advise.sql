/*
 * src/advise/advise.sql
 *
 * What to move, and what it saves.  Facts are gathered by views and
 * functions that know nothing of each other: how long the counters have
 * counted (counter_window), what each relation was read and written
 * (relation_activity), what each tablespace costs (tablespace_facts).
 * judge_placement() turns such facts into advice and looks at nothing else,
 * so that advice can be tested and replayed on facts written down by hand.
 */

/*
 * Counters survive a clean restart, so the server's start says nothing about
 * their age.  They begin at pg_stat_reset(); in a database where that was
 * never called, at the time the server last began with none at all (first
 * start, crash recovery, upgrade), which is the oldest reset among the
 * cluster-wide counters.  Either may be longer than a given relation exists.
 */
CREATE VIEW tablespace_advisor.counter_window AS
SELECT d.since,
	extract(epoch FROM clock_timestamp() - d.since)::float8 AS seconds,
	CASE WHEN current_setting('track_io_timing')::boolean
		AND d.blk_read_time > 0 AND d.blks_read > 0 THEN
		d.blk_read_time * 1000 / d.blks_read
	END AS timed_read_us,
	(SELECT string_agg(DISTINCT application_name, ', ')
		FROM pg_stat_replication WHERE state = 'streaming') AS standbys,
	d.was_reset
FROM (SELECT blk_read_time, blks_read,
		stats_reset IS NOT NULL AS was_reset,
		coalesce(stats_reset, least(
			(SELECT stats_reset FROM pg_stat_bgwriter),
			(SELECT stats_reset FROM pg_stat_archiver),
			(SELECT stats_reset FROM pg_stat_wal))) AS since
	FROM pg_stat_database WHERE datname = current_database()) d;

COMMENT ON VIEW tablespace_advisor.counter_window IS
	'since when this database''s relation counters count, and for how many seconds; timed_read_us: microseconds per block read as the server itself timed them over the whole database, NULL unless track_io_timing is on; standbys: servers whose own counters are not included; was_reset: since is when this database was last reset, else it is when all counters of the server began, and those of this database or relation may be younger';

/*
 * needed_for says why an index must not be dropped even if no scan uses it:
 * what it enforces or supports happens without a scan that is counted.
 */
CREATE VIEW tablespace_advisor.index_role AS
SELECT i.indexrelid, i.indrelid,
	CASE
		WHEN i.indisprimary THEN 'the primary key'
		WHEN i.indisexclusion THEN 'an exclusion constraint'
		WHEN i.indisunique THEN 'uniqueness'
		WHEN i.indisreplident THEN 'the replica identity'
		WHEN c.relispartition THEN 'the partitioned index it is attached to'
		WHEN EXISTS
			(SELECT FROM pg_constraint k
				WHERE k.conrelid = i.indrelid AND k.contype = 'f'
					AND k.conkey <@ (i.indkey::int2[])[0:cardinality(k.conkey) - 1])
			THEN 'a foreign key: deleting a referenced row looks it up'
	END AS needed_for,
	i.indisreplident OR c.relispartition
		OR EXISTS (SELECT FROM pg_constraint k
			WHERE k.conindid = i.indexrelid) AS is_pinned,
	CASE
		WHEN i.indisvalid THEN NULL
		WHEN EXISTS (SELECT FROM pg_stat_progress_create_index p
			WHERE p.relid = i.indrelid) THEN 'being built'
		ELSE 'invalid'
	END AS unusable,
	concat_ws(' ', c.relam, i.indkey, i.indnkeyatts, i.indclass,
		i.indcollation, i.indoption,
		pg_get_expr(i.indexprs, i.indrelid),
		'WHERE ' || pg_get_expr(i.indpred, i.indrelid)) AS definition,
	i.indisunique, i.indnullsnotdistinct, i.indimmediate, i.indisexclusion
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relkind = 'i';

COMMENT ON VIEW tablespace_advisor.index_role IS
	'what an index is there for besides being scanned, and whether it can be used; is_pinned: other objects depend on this very index, another with the same definition could not stand in for it';

/*
 * One row per heap and per index that has storage.  A heap is counted with
 * its TOAST table and that one's index, because they move together.  Writes
 * of an index are at most these: an update that is not HOT writes every
 * index, one that is HOT writes none; a partial index gets fewer.
 */
CREATE VIEW tablespace_advisor.relation_activity AS
SELECT c.oid::regclass AS relation, c.oid::regclass AS table_relation,
	'heap'::text AS kind,
	coalesce(t.spcname, own.spcname) AS tablespace,
	pg_table_size(c.oid) AS size_bytes,
	CASE WHEN c.reltoastrelid <> 0
		THEN pg_total_relation_size(c.reltoastrelid) ELSE 0 END AS toast_bytes,
	pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid)
		+ toast.fetched - toast.hit AS blocks_read,
	pg_stat_get_blocks_hit(c.oid) + toast.hit AS blocks_hit,
	NULL::bigint AS scans,
	pg_stat_get_tuples_inserted(c.oid) + pg_stat_get_tuples_updated(c.oid)
		+ pg_stat_get_tuples_deleted(c.oid)
		+ pg_stat_get_tuples_inserted(c.reltoastrelid)
		+ pg_stat_get_tuples_deleted(c.reltoastrelid) AS tuples_written,
	NULL::text AS unusable,
	NULL::text AS needed_for,
	NULL::regclass AS duplicate_of,
	CASE
		WHEN c.relpersistence = 't' THEN 'a temporary table cannot be moved'
		WHEN c.oid < 16384 THEN 'a system catalog cannot be moved'
		/* no log that a copy could follow, or not known how it is written */
		WHEN c.relpersistence = 'u'
			THEN 'an unlogged table cannot be moved while in use: ALTER TABLE ... SET TABLESPACE locks it until it is copied'
		WHEN EXISTS
			(SELECT FROM pg_class r JOIN pg_am m ON m.oid = r.relam
				WHERE r.oid IN (c.oid, c.reltoastrelid)
					AND m.amhandler <> 'heap_tableam_handler'::regproc)
			THEN 'a table whose access method is not heap cannot be moved while in use: ALTER TABLE ... SET TABLESPACE locks it until it is copied'
	END AS obstacle
FROM pg_class c
JOIN pg_database d ON d.datname = current_database()
JOIN pg_tablespace own ON own.oid = d.dattablespace
LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
CROSS JOIN LATERAL
	(SELECT coalesce(sum(pg_stat_get_blocks_fetched(r.oid)), 0)::bigint AS fetched,
			coalesce(sum(pg_stat_get_blocks_hit(r.oid)), 0)::bigint AS hit
		FROM (SELECT c.reltoastrelid AS oid
			UNION ALL
			SELECT x.indexrelid FROM pg_index x
				WHERE x.indrelid = c.reltoastrelid) r
		WHERE r.oid <> 0) toast
WHERE c.relkind IN ('r', 'm')
UNION ALL
SELECT i.indexrelid::regclass, i.indrelid::regclass,
	'index',
	coalesce(t.spcname, own.spcname),
	pg_table_size(i.indexrelid),
	0,
	pg_stat_get_blocks_fetched(i.indexrelid)
		- pg_stat_get_blocks_hit(i.indexrelid),
	pg_stat_get_blocks_hit(i.indexrelid),
	pg_stat_get_numscans(i.indexrelid),
	pg_stat_get_tuples_inserted(i.indrelid)
		+ pg_stat_get_tuples_updated(i.indrelid)
		- pg_stat_get_tuples_hot_updated(i.indrelid),
	i.unusable,
	i.needed_for,
	(SELECT o.indexrelid::regclass
		FROM tablespace_advisor.index_role o
		WHERE o.indrelid = i.indrelid AND o.indexrelid <> i.indexrelid
			AND o.definition = i.definition AND o.unusable IS NULL
			AND NOT i.is_pinned
			AND (NOT i.indisunique OR (o.indisunique AND o.indimmediate
				AND o.indnullsnotdistinct = i.indnullsnotdistinct))
			AND (o.is_pinned, o.indisunique,
					pg_stat_get_numscans(o.indexrelid), i.indexrelid::bigint)
				> (i.is_pinned, i.indisunique,
					pg_stat_get_numscans(i.indexrelid), o.indexrelid::bigint)
		ORDER BY o.is_pinned DESC, o.indisunique DESC,
			pg_stat_get_numscans(o.indexrelid) DESC, o.indexrelid
		LIMIT 1),
	CASE
		WHEN c.relpersistence = 't'
			THEN 'an index of a temporary table cannot be moved'
		WHEN i.indrelid < 16384
			THEN 'an index of a system catalog cannot be moved'
		/* nothing but a rebuild, for want of a log that a copy could follow */
		WHEN c.relpersistence = 'u'
			AND (i.indisexclusion OR NOT i.indimmediate)
			THEN 'an unlogged index of an exclusion or deferrable constraint cannot be moved while in use'
	END
FROM tablespace_advisor.index_role i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_database d ON d.datname = current_database()
JOIN pg_tablespace own ON own.oid = d.dattablespace
LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace;

COMMENT ON VIEW tablespace_advisor.relation_activity IS
	'per heap (TOAST included) and index: bytes of all forks, blocks read past shared buffers and found in them, row versions written, since the counters began (counter_window); unusable, needed_for, duplicate_of: see index_role; obstacle: why it cannot be moved while in use';

CREATE TYPE tablespace_advisor.tablespace_fact AS (
	tablespace name,
	random_read_us float8,
	random_read_low_us float8,
	random_read_high_us float8,
	sequential_page_us float8,
	sequential_write_page_us float8,
	may_create boolean,
	volatile boolean,
	shares_device_with name[],
	available_bytes bigint
);

COMMENT ON TYPE tablespace_advisor.tablespace_fact IS
	'what advice has to know of a tablespace: measured times in microseconds (see tablespace_latency), whether relations may be made there, and the device under it; available_bytes is what may be filled, NULL when not known';

/*
 * A twentieth of the file system stays free: file systems slow down, and
 * servers stop, when nothing is left.
 */
CREATE FUNCTION tablespace_advisor.tablespace_facts(table_owner oid)
RETURNS SETOF tablespace_advisor.tablespace_fact
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT l.tablespace,
		l.random_read_us,
		l.random_read_low_us,
		l.random_read_high_us,
		l.sequential_page_us,
		l.sequential_write_page_us,
		/* like the server, ask nothing for the database's own tablespace */
		l.tablespace_oid = d.dattablespace
			OR has_tablespace_privilege(l.tablespace_oid, 'CREATE')
			OR has_tablespace_privilege(table_owner, l.tablespace_oid, 'CREATE'),
		v.volatile,
		v.shares_device_with::name[],
		greatest(0, v.free_bytes - coalesce(v.size_bytes, 0) / 20)
	FROM tablespace_advisor.tablespace_latency l
	JOIN pg_database d ON d.datname = current_database()
	LEFT JOIN tablespace_advisor.device v ON v.tablespace = l.tablespace
$$;

COMMENT ON FUNCTION tablespace_advisor.tablespace_facts(oid) IS
	'facts on every tablespace but pg_global; may_create: the caller or the role given may make relations there';

/*
 * The account: what each relation's reads cost where it is and what they
 * would cost in the destination.  Every block that shared buffers do not
 * have is taken for a random read from the device; what the operating
 * system's cache serves is not known here, hence "at most" in all reasons.
 * Shares of a table's read time need no window, rates do.
 */
CREATE FUNCTION tablespace_advisor.placement_account(
	activity tablespace_advisor.relation_activity[],
	facts tablespace_advisor.tablespace_fact[],
	destination name,
	seconds float8)
RETURNS TABLE (
	relation regclass,
	read_us float8,
	destination_us float8,
	is_faster boolean,
	reads_per_s float8,
	writes_per_s float8,
	cached_fraction float8,
	read_ms_per_s float8,
	gain_ms_per_s float8,
	gain_percent float8,
	index_percent float8,
	move_ms float8)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT a.relation,
		s.random_read_us,
		d.random_read_us,
		d.random_read_high_us < s.random_read_low_us,
		a.blocks_read / nullif(seconds, 0),
		a.tuples_written / nullif(seconds, 0),
		a.blocks_hit::float8 / nullif(a.blocks_hit + a.blocks_read, 0),
		a.blocks_read / nullif(seconds, 0) * s.random_read_us / 1000,
		a.blocks_read / nullif(seconds, 0)
			* (s.random_read_us - d.random_read_us) / 1000,
		100 * a.blocks_read * (s.random_read_us - d.random_read_us)
			/ nullif(whole.read_us, 0),
		100 * whole.index_read_us / nullif(whole.read_us, 0),
		a.size_bytes / current_setting('block_size')::float8
			* (coalesce(s.sequential_page_us, s.random_read_us)
				+ coalesce(d.sequential_write_page_us, 0)) / 1000
	FROM unnest(activity) a
	LEFT JOIN unnest(facts) s ON s.tablespace = a.tablespace
	LEFT JOIN unnest(facts) d ON d.tablespace = destination
	LEFT JOIN
		(SELECT t.table_relation,
				sum(t.blocks_read * f.random_read_us) AS read_us,
				coalesce(sum(t.blocks_read * f.random_read_us)
					FILTER (WHERE t.kind = 'index'), 0) AS index_read_us
			FROM unnest(activity) t
			LEFT JOIN unnest(facts) f ON f.tablespace = t.tablespace
			GROUP BY t.table_relation
			/* part of a sum is no sum */
			HAVING bool_and(t.blocks_read = 0 OR f.random_read_us IS NOT NULL)
		) whole ON whole.table_relation = a.table_relation
$$;

COMMENT ON FUNCTION tablespace_advisor.placement_account(tablespace_advisor.relation_activity[], tablespace_advisor.tablespace_fact[], name, float8) IS
	'per relation: microseconds per random read here and in the destination, whether the destination is faster beyond the intervals of both means, blocks read and row versions written per second, share of blocks found in shared buffers, milliseconds per second spent reading and saved by moving, the same as percent of its table''s read time, percent of that time spent on all indexes, and milliseconds that copying it takes at least. NULL where something was not measured';

/* A month end is the commonest work that comes round rarely. */
CREATE FUNCTION tablespace_advisor.business_cycle_days()
RETURNS int
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS 'SELECT 31';

COMMENT ON FUNCTION tablespace_advisor.business_cycle_days() IS
	'days that counters must cover before an index without scans is called unused';

CREATE FUNCTION tablespace_advisor.three_digits(number float8)
RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE WHEN number = 0 THEN '0'
		ELSE round(number::numeric,
			greatest(0, 2 - floor(log(abs(number))))::int)::text
		END
$$;

COMMENT ON FUNCTION tablespace_advisor.three_digits(float8) IS
	'a measured number as text, with three significant digits, or more if it has more before the point';

/*
 * The verdict on one relation before any budget: an action and why.  The
 * order of the cases matters: what would be wrong whatever the storage comes
 * first, what would only spoil a good move last.
 */
CREATE FUNCTION tablespace_advisor.placement_verdict(
	a tablespace_advisor.relation_activity,
	seconds float8,
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact,
	is_faster boolean,
	gain_ms_per_s float8,
	gain_percent float8,
	move_ms float8,
	OUT action text,
	OUT reason text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	business_cycle_days CONSTANT int := tablespace_advisor.business_cycle_days();
	/* below this share of a table's read time nothing moves */
	least_percent CONSTANT float8 := 5;
	week_s CONSTANT float8 := 7 * 86400;
	gain text := format('at most %s ms/s, %s %% of its table''s read time',
		tablespace_advisor.three_digits(gain_ms_per_s),
		tablespace_advisor.three_digits(gain_percent));
BEGIN
	action := 'keep';
	IF a.unusable = 'being built' THEN
		reason := 'an index of this table is being built: ask again when that is done';
	ELSIF a.unusable = 'invalid' THEN
		action := 'rebuild';
		reason := 'the index is invalid, no query can use it: rebuild it, or drop it if a failed concurrent build left it behind';
	ELSIF a.duplicate_of IS NOT NULL THEN
		action := 'drop candidate';
		reason := format('exact duplicate of %s', a.duplicate_of);
	ELSIF a.scans = 0 AND a.tuples_written > 0 AND a.needed_for IS NULL
		AND seconds >= business_cycle_days * 86400.0
	THEN
		action := 'drop candidate';
		reason := format('written but never scanned in the %s days its counters cover; before dropping it make sure that it is older than %s days (the catalog does not say when an index was made), that no standby scans it and that no planner statistics on its expressions are missed',
			floor(seconds / 86400), business_cycle_days);
	ELSIF a.tablespace = dest.tablespace THEN
		reason := format('already in %s', quote_ident(dest.tablespace));
	ELSIF dest.tablespace IS NULL THEN
		reason := 'probe first: there is no probed tablespace to choose';
	ELSIF dest.tablespace = ANY (source.shares_device_with) THEN
		reason := format('%s and %s are on the same device',
			quote_ident(a.tablespace), quote_ident(dest.tablespace));
	ELSIF dest.volatile THEN
		reason := format('%s is volatile: a restart of the machine would lose the relation',
			quote_ident(dest.tablespace));
	ELSIF NOT dest.may_create THEN
		reason := format('neither you nor the owner has the privilege CREATE on %s',
			quote_ident(dest.tablespace));
	ELSIF source.random_read_us IS NULL OR dest.random_read_us IS NULL THEN
		reason := format('probe first: no trustworthy random read latency of %s',
			concat_ws(' and ',
				CASE WHEN source.random_read_us IS NULL
					THEN quote_ident(a.tablespace) END,
				CASE WHEN dest.random_read_us IS NULL
					THEN quote_ident(dest.tablespace) END));
	ELSIF seconds IS NULL OR seconds <= 0 THEN
		reason := 'it is not known since when the counters count, and a rate over an unknown time is not a rate';
	ELSIF a.blocks_read = 0 AND a.blocks_hit > 0 THEN
		reason := 'fits in cache: all its pages were found in shared buffers';
	ELSIF a.blocks_read = 0 THEN
		reason := 'not read at all while the counters counted';
	ELSIF is_faster IS NOT TRUE THEN
		reason := format('%s is not measurably faster: %s us per random read against %s us here',
			quote_ident(dest.tablespace),
			tablespace_advisor.three_digits(dest.random_read_us),
			tablespace_advisor.three_digits(source.random_read_us));
	ELSIF gain_percent IS NULL THEN
		reason := 'probe first: part of this table is in a tablespace without a trustworthy random read latency';
	ELSIF gain_percent < least_percent THEN
		reason := format('moving it to %s would save %s: too little (less than %s %%)',
			quote_ident(dest.tablespace), gain, least_percent);
	ELSIF gain_ms_per_s * week_s < move_ms THEN
		reason := format('moving it to %s would save %s: too little to repay the %s ms of reading and writing it within a week',
			quote_ident(dest.tablespace), gain, tablespace_advisor.three_digits(move_ms));
	ELSIF a.obstacle IS NOT NULL THEN
		reason := format('moving it to %s would save %s, but %s',
			quote_ident(dest.tablespace), gain, a.obstacle);
	ELSE
		action := 'move';
		reason := format('a random read takes %s us here and %s us in %s: saves %s',
			tablespace_advisor.three_digits(source.random_read_us),
			tablespace_advisor.three_digits(dest.random_read_us),
			quote_ident(dest.tablespace), gain);
	END IF;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.placement_verdict(tablespace_advisor.relation_activity, float8, tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact, boolean, float8, float8, float8) IS
	'what to do with one relation if bytes were free, and why; arguments are a relation''s activity, the seconds it was counted, the facts on the tablespaces it is in and would be in, and its row of placement_account';

/*
 * Whatever a reader needs to weigh the numbers of a row, besides the verdict.
 */
CREATE FUNCTION tablespace_advisor.placement_evidence(
	a tablespace_advisor.relation_activity,
	counted tablespace_advisor.counter_window,
	read_us float8,
	index_percent float8)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT concat_ws('; ',
		CASE WHEN a.kind = 'heap' AND index_percent IS NOT NULL THEN
			format('moving all its indexes saves at most %s %% of this table''s read time, the heap is the other %s %%',
				round(index_percent::numeric, 1),
				round(100 - index_percent::numeric, 1))
		END,
		CASE WHEN a.toast_bytes > 0 THEN
			format('its size and reads include %s of TOAST',
				pg_size_pretty(a.toast_bytes))
		END,
		CASE WHEN a.scans = 0 AND a.needed_for IS NOT NULL THEN
			'not scanned, but needed for ' || a.needed_for
		END,
		CASE WHEN a.scans = 0 AND a.needed_for IS NULL
			AND counted.seconds
				< tablespace_advisor.business_cycle_days() * 86400.0
		THEN
			format('not scanned, but counters of less than %s days do not make it unused',
				tablespace_advisor.business_cycle_days())
		END,
		CASE WHEN a.scans = 0 THEN
			'standbys count for themselves and were not asked: '
				|| counted.standbys
		END,
		CASE WHEN counted.timed_read_us IS NOT NULL THEN
			format('the server timed %s us per block read on average over this database%s',
				tablespace_advisor.three_digits(counted.timed_read_us),
				CASE WHEN counted.timed_read_us < read_us / 2 THEN
					': much of what it read came from the system''s cache, sequentially, or from another device'
				END)
		END,
		CASE WHEN pg_is_in_recovery() THEN
			'this is a standby: these counters are its own, moves are made on the primary'
		END,
		CASE WHEN counted.seconds IS NOT NULL THEN
			format('counted over %s%s, since %s',
				CASE WHEN NOT counted.was_reset THEN 'at most ' END,
				CASE WHEN counted.seconds >= 2 * 86400
					THEN floor(counted.seconds / 86400) || ' days'
				WHEN counted.seconds >= 2 * 3600
					THEN floor(counted.seconds / 3600) || ' hours'
				WHEN counted.seconds >= 2 * 60
					THEN floor(counted.seconds / 60) || ' minutes'
				ELSE floor(counted.seconds) || ' seconds' END,
				to_char(counted.since, 'YYYY-MM-DD HH24:MI')
				|| CASE WHEN counted.was_reset THEN ''
					ELSE ' (this database''s counters were never reset)' END)
		END)
$$;

COMMENT ON FUNCTION tablespace_advisor.placement_evidence(tablespace_advisor.relation_activity, tablespace_advisor.counter_window, float8, float8) IS
	'text: the ceiling of what moving indexes can save (heap rows), what the size includes, why an unused index is needed, what is known of the system''s cache, and the age of the counters';

/*
 * Advice on the relations considered, from facts alone.  Without a
 * destination it is the fastest tablespace that may be used: being the
 * fastest of all, it also is so among those on other devices than a relation
 * is on now.  Bytes go to the largest saving per byte first; what does not
 * fit any more is passed over for what does.
 */
CREATE FUNCTION tablespace_advisor.judge_placement(
	activity tablespace_advisor.relation_activity[],
	considered regclass[],
	facts tablespace_advisor.tablespace_fact[],
	counted tablespace_advisor.counter_window,
	destination name,
	budget_bytes bigint)
RETURNS TABLE (
	relation regclass,
	kind text,
	size_bytes bigint,
	current_tablespace name,
	recommended_tablespace name,
	action text,
	reads_per_s float8,
	writes_per_s float8,
	cached_fraction float8,
	read_ms_per_s float8,
	saved_ms_per_s float8,
	saved_percent float8,
	rank int,
	statement text,
	reason text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	dest tablespace_advisor.tablespace_fact;
	r record;
	not_considered text;
	budget_left bigint := budget_bytes;
	room_left bigint;
	moves int := 0;
BEGIN
	SELECT f.* INTO dest FROM unnest(facts) f
	WHERE f.tablespace = destination
		OR (destination IS NULL AND f.random_read_us IS NOT NULL
			AND f.may_create AND f.volatile IS NOT TRUE)
	ORDER BY f.random_read_us, f.tablespace LIMIT 1;
	room_left := dest.available_bytes;

	IF destination IS NULL THEN
		SELECT 'not considered for want of a trustworthy probe: '
			|| string_agg(quote_ident(f.tablespace), ', ' ORDER BY f.tablespace)
		INTO not_considered FROM unnest(facts) f
		WHERE f.random_read_us IS NULL AND f.may_create
			AND f.volatile IS NOT TRUE;
	END IF;

	FOR r IN
		SELECT a.relation, a.kind, a.size_bytes, a.tablespace,
			n.reads_per_s, n.writes_per_s, n.cached_fraction, n.read_ms_per_s,
			n.gain_ms_per_s, n.gain_percent,
			v.action, v.reason,
			tablespace_advisor.placement_evidence(
				a, counted, n.read_us, n.index_percent) AS evidence
		FROM unnest(activity) a
		JOIN tablespace_advisor.placement_account(
			activity, facts, dest.tablespace, counted.seconds) n USING (relation)
		LEFT JOIN unnest(facts) s ON s.tablespace = a.tablespace
		CROSS JOIN LATERAL tablespace_advisor.placement_verdict(
			a, counted.seconds, s, dest, n.is_faster,
			n.gain_ms_per_s, n.gain_percent, n.move_ms) v
		WHERE a.relation = ANY (considered)
		ORDER BY v.action <> 'move',
			n.gain_ms_per_s / nullif(a.size_bytes, 0) DESC NULLS LAST,
			a.kind DESC, a.relation::text COLLATE "C"
	LOOP
		relation := r.relation;
		kind := r.kind;
		size_bytes := r.size_bytes;
		current_tablespace := r.tablespace;
		recommended_tablespace := r.tablespace;
		action := r.action;
		reads_per_s := r.reads_per_s;
		writes_per_s := r.writes_per_s;
		cached_fraction := r.cached_fraction;
		read_ms_per_s := r.read_ms_per_s;
		saved_ms_per_s := CASE WHEN r.gain_ms_per_s IS NOT NULL
			OR r.tablespace = dest.tablespace THEN 0 END;
		saved_percent := saved_ms_per_s;
		rank := NULL;
		statement := NULL;
		reason := r.reason;

		IF action = 'move' AND budget_left < r.size_bytes THEN
			action := 'keep';
			reason := format('does not fit in what is left of the space budget (%s); %s',
				pg_size_pretty(budget_left), reason);
		ELSIF action = 'move' AND room_left < r.size_bytes THEN
			action := 'keep';
			reason := format('does not fit in what may still be filled of %s (%s); %s',
				quote_ident(dest.tablespace), pg_size_pretty(room_left), reason);
		ELSIF action = 'move' THEN
			moves := moves + 1;
			budget_left := budget_left - r.size_bytes;
			room_left := room_left - r.size_bytes;
			rank := moves;
			recommended_tablespace := dest.tablespace;
			saved_ms_per_s := r.gain_ms_per_s;
			saved_percent := r.gain_percent;
			statement := format('CALL %s.%s(target => %L::pg_catalog.regclass, tablespace => %L::pg_catalog.name)',
				'@extschema@',
				CASE kind WHEN 'heap' THEN 'move_table_concurrently'
					ELSE 'move_indexes_concurrently' END,
				relation, dest.tablespace);
		ELSIF action = 'rebuild' THEN
			statement := format('REINDEX INDEX CONCURRENTLY %s', relation);
		END IF;
		reason := concat_ws('; ', reason, not_considered,
			nullif(r.evidence, ''));
		RETURN NEXT;
	END LOOP;
END
$$;

COMMENT ON FUNCTION tablespace_advisor.judge_placement(tablespace_advisor.relation_activity[], regclass[], tablespace_advisor.tablespace_fact[], tablespace_advisor.counter_window, name, bigint) IS
	'the rows of advise_index_placement for the relations considered, from facts handed over; activity must hold all relations of their tables, because savings are stated as percent of a table''s read time';

CREATE FUNCTION @extschema@.advise_index_placement(
	target regclass,
	tablespace name DEFAULT NULL,
	space_budget text DEFAULT NULL)
RETURNS TABLE (
	relation regclass,
	kind text,
	size_bytes bigint,
	current_tablespace name,
	recommended_tablespace name,
	action text,
	reads_per_s float8,
	writes_per_s float8,
	cached_fraction float8,
	read_ms_per_s float8,
	saved_ms_per_s float8,
	saved_percent float8,
	rank int,
	statement text,
	reason text)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
	destination name := tablespace_advisor.check_tablespace(tablespace);
	budget_bytes bigint := pg_size_bytes(space_budget);
	target_class pg_class;
	leaves oid[];
	tables oid[];
	activity tablespace_advisor.relation_activity[];
BEGIN
	IF target IS NULL THEN
		RAISE EXCEPTION 'target must not be null'
			USING ERRCODE = 'null_value_not_allowed';
	END IF;
	IF budget_bytes <= 0 THEN
		RAISE EXCEPTION 'space_budget must be greater than zero'
			USING ERRCODE = 'invalid_parameter_value';
	END IF;
	SELECT c.* INTO target_class FROM pg_class c WHERE c.oid = target;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'relation with OID % does not exist', target::oid
			USING ERRCODE = 'undefined_table';
	END IF;
	IF target_class.relkind NOT IN ('r', 'm', 'p', 'i', 'I')
		OR target_class.relnamespace = 'pg_toast'::regnamespace
	THEN
		RAISE EXCEPTION '"%" is not a table or index', target_class.relname
			USING ERRCODE = 'wrong_object_type',
				DETAIL = CASE WHEN target_class.relnamespace = 'pg_toast'::regnamespace
					THEN 'A TOAST table moves with its table.'
					ELSE 'Advice is on tables, partitioned tables, materialized views and their indexes.' END;
	END IF;

	/* the target itself, or what is below it and has storage */
	SELECT array_agg(t.relid) INTO leaves FROM
		(SELECT target::oid AS relid
		UNION
		SELECT p.relid::oid FROM pg_partition_tree(target) p WHERE p.isleaf) t;

	/* a subquery in the view's qualification would make it measure all */
	tables := leaves || array(
		SELECT i.indrelid FROM pg_index i WHERE i.indexrelid = ANY (leaves));
	SELECT array_agg(a) INTO activity
	FROM tablespace_advisor.relation_activity a
	WHERE a.table_relation = ANY (tables)
		AND a.size_bytes IS NOT NULL;		/* not dropped a moment ago */

	RETURN QUERY
		SELECT j.*
		FROM tablespace_advisor.counter_window w
		CROSS JOIN LATERAL tablespace_advisor.judge_placement(
			activity,
			array(SELECT a.relation FROM unnest(activity) a
				WHERE target_class.relkind NOT IN ('i', 'I')
					OR a.relation = ANY (leaves)),
			array(SELECT f FROM tablespace_advisor.tablespace_facts(
				target_class.relowner) f),
			w, destination, budget_bytes) j;
END
$$;

COMMENT ON FUNCTION @extschema@.advise_index_placement(regclass, name, text) IS
	'one row per index of the target table and one for its heap, TOAST included (for a partitioned table: of every leaf partition; for an index: that row alone). target: table, partitioned table, materialized view or index; tablespace: where to, by default the probed one with the fastest random read that may be used; space_budget: bytes that moves may fill there, as read by pg_size_bytes(). reads_per_s: blocks read past shared buffers; writes_per_s: row versions written, for an index at most; cached_fraction: share of block accesses that shared buffers served; read_ms_per_s: milliseconds of waiting for reads in each second, at most: every read is taken for a random one from the device; saved_ms_per_s, saved_percent: what following this row saves, in milliseconds per second = reads_per_s * (random read time here - there) / 1000 and as percent of the read time of its table (of the leaf partition), NULL when not measured; rank: order of moves by saving per byte. Errors: 42704 no such tablespace, 42809 neither table nor index, 22023 bad budget or pg_global, 22004 no target';

GRANT SELECT ON tablespace_advisor.counter_window,
	tablespace_advisor.index_role,
	tablespace_advisor.relation_activity TO pg_monitor;

REVOKE ALL ON FUNCTION
	tablespace_advisor.tablespace_facts(oid),
	tablespace_advisor.business_cycle_days(),
	tablespace_advisor.three_digits(float8),
	tablespace_advisor.placement_account(tablespace_advisor.relation_activity[],
		tablespace_advisor.tablespace_fact[], name, float8),
	tablespace_advisor.placement_verdict(tablespace_advisor.relation_activity,
		float8, tablespace_advisor.tablespace_fact,
		tablespace_advisor.tablespace_fact, boolean, float8, float8, float8),
	tablespace_advisor.placement_evidence(tablespace_advisor.relation_activity,
		tablespace_advisor.counter_window, float8, float8),
	tablespace_advisor.judge_placement(tablespace_advisor.relation_activity[],
		regclass[], tablespace_advisor.tablespace_fact[],
		tablespace_advisor.counter_window, name, bigint),
	@extschema@.advise_index_placement(regclass, name, text)
	FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
	tablespace_advisor.tablespace_facts(oid),
	tablespace_advisor.business_cycle_days(),
	tablespace_advisor.three_digits(float8),
	tablespace_advisor.placement_account(tablespace_advisor.relation_activity[],
		tablespace_advisor.tablespace_fact[], name, float8),
	tablespace_advisor.placement_verdict(tablespace_advisor.relation_activity,
		float8, tablespace_advisor.tablespace_fact,
		tablespace_advisor.tablespace_fact, boolean, float8, float8, float8),
	tablespace_advisor.placement_evidence(tablespace_advisor.relation_activity,
		tablespace_advisor.counter_window, float8, float8),
	tablespace_advisor.judge_placement(tablespace_advisor.relation_activity[],
		regclass[], tablespace_advisor.tablespace_fact[],
		tablespace_advisor.counter_window, name, bigint),
	@extschema@.advise_index_placement(regclass, name, text)
	TO pg_monitor;
