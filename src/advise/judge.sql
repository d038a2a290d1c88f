/*
 * src/advise/judge.sql
 *
 * Statements of probes, and what judge.c does not know of sessions.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE FUNCTION tablespace_advisor.probes_statement(tablespaces name[], arguments text)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT string_agg(format('SELECT * FROM %s(%s%s);',
			tablespace_advisor.written_call('probe_tablespace'),
			tablespace_advisor.written_argument('probe_tablespace', t.name, 'name'), arguments),
		' ' ORDER BY t.n)
	FROM unnest(tablespaces) WITH ORDINALITY t (name, n)
	WHERE t.name NOT IN (SELECT a.tablespace FROM tablespace_advisor.assumed_tablespaces() a)
$$;
COMMENT ON FUNCTION tablespace_advisor.probes_statement IS
	'the calls that measure tablespaces, but for assumed ones; arguments: more of them, each with a comma before it';

CREATE FUNCTION tablespace_advisor.probe_statement(VARIADIC tablespaces name[])
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT tablespace_advisor.probes_statement(array_remove(tablespaces, NULL), '')
$$;
COMMENT ON FUNCTION tablespace_advisor.probe_statement(name[]) IS
	'the calls that measure these tablespaces; nulls are left out';

/*
 * Sessions do not wait for reading if, under any chance in the looks at them, less
 * than a tenth of their time goes to it.  Their most frequent wait is returned,
 * else NULL.
 */
CREATE FUNCTION tablespace_advisor.other_bottleneck(load tablespace_advisor.load_fact)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT format('%s %% of active time is %s, %s %% reading',
		round((100 * w.top / load.active_sessions)::numeric), w.top_event,
		round((100 * w.reading / load.active_sessions)::numeric))
	FROM (SELECT max(e.value::float8) FILTER (WHERE e.key !~ '^IO/DataFile') AS top,
			(array_agg(e.key ORDER BY e.value::float8 DESC, e.key)
				FILTER (WHERE e.key !~ '^IO/DataFile'))[1] AS top_event,
			coalesce(sum(e.value::float8) FILTER (WHERE e.key ~ '^IO/DataFile'), 0) AS reading
		FROM jsonb_each_text(load.waits) e) w
	WHERE load.snapshots >= 20
		AND load.snapshots * load.active_sessions >= 30
		AND w.reading * load.snapshots + 3
			< 0.1 * load.snapshots * load.active_sessions
		AND coalesce(load.read_ms_per_s, 0) < 100 * load.active_sessions
$$;
COMMENT ON FUNCTION tablespace_advisor.other_bottleneck(tablespace_advisor.load_fact) IS
	'the wait of sessions if it is not for storage, as text; NULL when reading takes a tenth of their active time or more, or too little was seen to say';

CREATE FUNCTION tablespace_advisor.is_bloated(rebuilt_bytes bigint, size_bytes bigint)
RETURNS boolean
LANGUAGE C STRICT IMMUTABLE
AS 'MODULE_PATHNAME', 'tsa_is_bloated_index';
COMMENT ON FUNCTION tablespace_advisor.is_bloated(bigint, bigint) IS
	'whether an index takes twice its size after a rebuild, and 8 MB more';
