/*
 * src/advise/verdicts.sql
 *
 * The action on a finding (judge.sql), its reason in one line of at most 80
 * characters, and the statement.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.finding_action(finding text)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE
		WHEN finding = 'faster' THEN 'move'
		WHEN finding IN ('invalid', 'bloated') THEN 'rebuild'
		WHEN finding IN ('duplicate', 'unused', 'unused expression') THEN 'drop candidate'
		WHEN finding = 'BRIN' THEN 'replace'
		WHEN finding IN ('not probed', 'table not probed') THEN 'probe first'
		ELSE 'keep' END;
END;
COMMENT ON FUNCTION tablespace_advisor.finding_action(text) IS
	'the action of an advice that rests on a finding';

CREATE FUNCTION tablespace_advisor.index_reason(
	finding text,
	a tablespace_advisor.relation_fact)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE finding
		WHEN 'under way' THEN format('move %s of it is under way', a.moving_job)
		WHEN 'being built' THEN
			'an index of this table is being built: ask again when that is done'
		WHEN 'invalid' THEN
			'invalid, no query can use it: rebuild it, or drop it if a build failed'
		WHEN 'duplicate' THEN format('exact duplicate of %s', a.duplicate_of)
		WHEN 'unused' THEN
			format('not scanned in %s days, only written; scans on standbys are not counted',
				floor(a.counted_days))
		WHEN 'unused expression' THEN
			'never scanned; if only estimates need it, CREATE STATISTICS is enough'
		WHEN 'BRIN' THEN
			format('scanned for ranges in table order: BRIN would be %s times smaller',
				tablespace_advisor.round_to_three(a.size_bytes::float8 / a.brin_bytes))
		WHEN 'bloated' THEN format('bloated: %s, about %s after a rebuild',
			pg_size_pretty(a.size_bytes), pg_size_pretty(a.rebuilt_bytes))
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.index_reason(text, tablespace_advisor.relation_fact) IS
	'a finding of index_finding(), or bloat, as a sentence';

/* Of a relation that stays where it is, though it is read. */
CREATE FUNCTION tablespace_advisor.gain_reason(
	finding text,
	e tablespace_advisor.placement_estimate,
	load tablespace_advisor.load_fact,
	destination name)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE finding
		WHEN 'in system cache' THEN
			CASE WHEN e.measured THEN 'already in memory: its reads wait for no device'
				ELSE format('probably in memory: the system''s cache seems to serve %s %% of its reads',
					round(100 * (1 - e.device_share::numeric), 1)) END
		WHEN 'within noise' THEN
			format('within noise: saves between %s and %s %% of the table''s read time',
				tablespace_advisor.two_digits(100 * e.saved_low_ms_per_s / e.table_read_ms_per_s),
				tablespace_advisor.two_digits(
					least(100, 100 * e.saved_high_ms_per_s / e.table_read_ms_per_s)))
		WHEN 'not faster' THEN format('%s: %s a read there, %s here',
			CASE WHEN destination IS NULL THEN 'no tablespace is measurably faster'
				ELSE 'not measurably faster' END,
			tablespace_advisor.pretty_seconds(e.destination_us / 1e6),
			tablespace_advisor.pretty_seconds(e.device_us / 1e6))
		WHEN 'busy target' THEN format('busy: %s a read there now, %s as probed; %s here',
			tablespace_advisor.pretty_seconds(e.destination_us / 1e6),
			tablespace_advisor.pretty_seconds(e.probed_us / 1e6),
			tablespace_advisor.pretty_seconds(e.device_us / 1e6))
		WHEN 'saturated' THEN
			format('the tablespace can serve only %s reads/s, too few for this table',
				tablespace_advisor.round_to_three(e.max_reads_per_s))
		WHEN 'too many writes' THEN
			format('the tablespace can write only %s pages/s; its table may need %s',
				tablespace_advisor.round_to_three(e.max_writes_per_s),
				tablespace_advisor.round_to_three(e.writes_per_s))
		WHEN 'too little' THEN format('too little: %s %s %% of all reading',
			CASE WHEN e.saved_ms_per_s < 0 THEN 'would cost' ELSE 'saves' END,
			tablespace_advisor.two_digits(100 * abs(e.saved_ms_per_s) / load.all_read_ms_per_s))
		WHEN 'not repaid' THEN
			format('not repaid within a week: saves %s %% of the table''s read time',
				tablespace_advisor.two_digits(e.saved_percent))
		WHEN 'no room' THEN
			format('no room for its %s in the budget or the tablespace; would save %s %%',
				pg_size_pretty(e.moved_bytes), tablespace_advisor.two_digits(e.saved_percent))
		WHEN 'faster' THEN CASE WHEN e.measured THEN format('%s%s',
				tablespace_advisor.waiting_sessions(e.read_ms_per_s, 'its reads'),
				CASE WHEN e.device_share >= 0.5 THEN format(', %s each; %s there',
					tablespace_advisor.pretty_seconds(e.device_us / 1e6),
					tablespace_advisor.pretty_seconds(e.destination_us / 1e6)) END)
			ELSE format('uncertain: reads take %s here, %s there',
				tablespace_advisor.pretty_seconds(e.device_us / 1e6),
				tablespace_advisor.pretty_seconds(e.destination_us / 1e6)) END
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.gain_reason(text, tablespace_advisor.placement_estimate, tablespace_advisor.load_fact, name) IS
	'a finding that rests on the saving of a move, as a sentence';

CREATE FUNCTION tablespace_advisor.probe_reason(places tablespace_advisor.tablespace_fact[])
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('no %sprobe of %s',
		CASE WHEN bool_or(p.caveat IS NOT NULL) THEN 'trustworthy ' END,
		string_agg(p.gap, ' and ' ORDER BY p.n))
	FROM (SELECT f.n, f.caveat, tablespace_advisor.probe_gap(f.place) AS gap
		FROM (SELECT f AS place, f.caveat, row_number() OVER () AS n
			FROM unnest(places) f) f) p
	WHERE p.gap IS NOT NULL
	HAVING count(*) > 0
$$;
COMMENT ON FUNCTION tablespace_advisor.probe_reason(tablespace_advisor.tablespace_fact[]) IS
	'of which of these tablespaces there is no probe to rest on, and why, as a sentence; NULL: of none';

/* Of a relation that moves for the sake of others. */
CREATE FUNCTION tablespace_advisor.choice_reason(
	choice tablespace_advisor.placement_choice,
	source tablespace_advisor.tablespace_fact,
	load tablespace_advisor.load_fact)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE choice.finding
		WHEN 'too full' THEN
			format('its tablespace is too full by %s: moving this away costs least',
				pg_size_pretty(-source.available_bytes))
		WHEN 'makes room' THEN concat_ws('; ',
			coalesce('makes room for ' || choice.makes_room_for,
				'makes room for others of its bundle'),
			'reads on ' || load.standbys || ' are not counted')
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.choice_reason(tablespace_advisor.placement_choice, tablespace_advisor.tablespace_fact, tablespace_advisor.load_fact) IS
	'a finding of choose_evictions() or choose_moves() as a sentence, source being its tablespace; NULL for others';

CREATE FUNCTION tablespace_advisor.finding_reason(
	finding text,
	a tablespace_advisor.relation_fact,
	e tablespace_advisor.placement_estimate,
	source tablespace_advisor.tablespace_fact,
	dest tablespace_advisor.tablespace_fact,
	load tablespace_advisor.load_fact,
	destination name,
	bottleneck text,
	rest tablespace_advisor.tablespace_fact[])
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE finding
		WHEN 'obstacle' THEN a.obstacle
		WHEN 'already there' THEN 'already there'
		WHEN 'no other tablespace' THEN 'there is no other tablespace to move it to'
		WHEN 'same device' THEN format('%I and %I are on the same device', source.tablespace, dest.tablespace)
		WHEN 'volatile' THEN 'the tablespace is on volatile storage: a reboot would lose it'
		WHEN 'no CREATE' THEN 'neither you nor its owner has CREATE on the tablespace'
		WHEN 'not probed' THEN tablespace_advisor.probe_reason(ARRAY[source, dest])
		WHEN 'table not probed' THEN coalesce(
			'the rest of its table: ' || tablespace_advisor.probe_reason(rest),
			'how long reads of the rest of its table take is not known')
		WHEN 'no window' THEN
			'statistics start time is unknown: pass observe, or CALL sample_activity()'
		WHEN 'in shared buffers' THEN 'already in memory: shared buffers serve all of its reads'
		WHEN 'maintenance only' THEN 'not read in the window but by VACUUM and ANALYZE'
		WHEN 'not read' THEN 'not read in the window'
		WHEN 'not storage-bound' THEN format('not storage-bound: %s', bottleneck)
		WHEN 'left lately' THEN 'it was moved away from there less than a week ago'
		WHEN 'no order' THEN
			'no order of moves has room for both copies: make room, or use a third tablespace'
		WHEN 'bundle saves too little' THEN
			'too little, with what would have to make room for it'
		WHEN 'bundle not repaid' THEN
			'not repaid within a week, with what would have to make room for it'
		WHEN 'bundle within noise' THEN
			'within noise, with what would have to make room for it'
		ELSE coalesce(tablespace_advisor.index_reason(finding, a),
			tablespace_advisor.gain_reason(finding, e, load, destination))
	END;
END;
COMMENT ON FUNCTION tablespace_advisor.finding_reason(text, tablespace_advisor.relation_fact, tablespace_advisor.placement_estimate, tablespace_advisor.tablespace_fact, tablespace_advisor.tablespace_fact, tablespace_advisor.load_fact, name, text, tablespace_advisor.tablespace_fact[]) IS
	'a finding as a sentence; rest: unmeasured tablespaces where part of its table is, other arguments as of move_finding()';

CREATE FUNCTION tablespace_advisor.statistics_statement(
	index regclass,
	expression text,
	table_relation regclass)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('CREATE STATISTICS %I ON %s FROM %s;',
		(SELECT left(c.relname, 50) || '_statistics' FROM pg_class c WHERE c.oid = index),
		expression, tablespace_advisor.written_relation(table_relation))
$$;
COMMENT ON FUNCTION tablespace_advisor.statistics_statement(regclass, text, regclass) IS
	'the statement that makes the statistics of an index on an expression';

CREATE FUNCTION tablespace_advisor.finding_statement(
	finding text,
	a tablespace_advisor.relation_fact)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE
		WHEN finding = 'unused expression' THEN
			CASE WHEN a.expression <> '' THEN tablespace_advisor.statistics_statement(
				a.relation, a.expression, a.table_relation) END
		WHEN finding = 'BRIN' THEN format('CREATE INDEX CONCURRENTLY ON %s USING brin (%I);',
			tablespace_advisor.written_relation(a.table_relation), a.column_name)
		WHEN finding IN ('invalid', 'bloated') THEN format('REINDEX INDEX CONCURRENTLY %s;',
			tablespace_advisor.written_relation(a.relation)) END;
END;
COMMENT ON FUNCTION tablespace_advisor.finding_statement(text, tablespace_advisor.relation_fact) IS
	'the statement for a finding; NULL: nothing, or the finding is not about the index alone';
