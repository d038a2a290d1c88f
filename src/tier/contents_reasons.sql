/* Copyright (c) 2026, The tablespace_advisor developers */

/* Why something is in a tablespace, and the statement that makes it leave. */

CREATE FUNCTION tablespace_advisor.leaving_reason(why text, detail text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE why
		WHEN 'temporary' THEN
			'It is temporary and goes with its session.'
		WHEN 'session ended' THEN
			'It is temporary and its session has ended.'
		WHEN 'system with database' THEN
			'It belongs to the system and moves with its database only.'
		WHEN 'system' THEN
			'It belongs to the system, of which nothing is moved while it is in use.'
		WHEN 'sequence' THEN
			'Sequences are always in their database''s default tablespace.'
		WHEN 'prepared' THEN
			format('Prepared transaction %L holds a lock on it.', detail)
		WHEN 'catalog' THEN
			'It has no storage: it says where new partitions, or their indexes, are made.'
		WHEN 'journal' THEN
			'It is the journal of moves, which is in use while anything moves: it comes last.'
		WHEN 'columnar' THEN
			'It is a columnar table of Citus: convert it to heap by alter_table_set_access_method(), move it, and convert it back.'
		WHEN 'invalid' THEN
			'It is invalid: drop it, or repair it with REINDEX.'
		WHEN 'obstacle' THEN
			format('Live copy does not apply. %s', detail)
		WHEN 'no extension' THEN
			'The extension is not installed in its database; with it this could be moved while it is in use.'
		WHEN 'locked' THEN 'Another session has locked it.'
		WHEN 'owner' THEN format('It belongs to role %I.', detail)
		WHEN 'moving' THEN
			format('Move %s of it, or of its table or indexes, has not ended.', detail)
		WHEN 'along' THEN
			'It moves along with its table.'
		WHEN 'to default' THEN
			'In the database''s default tablespace it keeps none: new partitions then follow default_tablespace.'
		WHEN 'may be locked' THEN
			'"lock_up_to" would let it be locked while it is copied.'
		WHEN 'too large to lock' THEN
			format('It is larger than "lock_up_to" (%s).', detail)
		END;
END;
COMMENT ON FUNCTION tablespace_advisor.leaving_reason(text, text) IS
	'in words why a relation stays, or leaves as it does; detail: a name, number or obstacle in it; NULL without a reason';

CREATE FUNCTION tablespace_advisor.reason_beside(why text, detail text)
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE why
		WHEN 'made by prepared' THEN
			format('Prepared transaction %L has made it: whoever coordinates it commits it or rolls it back.', detail)
		WHEN 'made by transaction' THEN
			format('It is of transaction %s, which is under way.', detail)
		WHEN 'of move' THEN
			format('It is a file of move %s and goes with its end.', detail)
		WHEN 'of temporary relation' THEN
			'It is of a temporary relation; if its session has ended, the next restart of the server removes it.'
		WHEN 'perhaps just made' THEN
			'No relation has it, but a transaction under way may have made it, or be about to remove it: look again when it has ended.'
		WHEN 'perhaps of a move' THEN
			'No relation has it, but a move may: the journal of moves in its database is locked, or of another version of the extension.'
		WHEN 'of the primary' THEN
			'No relation has it here, but a transaction of the primary may have made it. What is not in the way there either was left by a crash.'
		WHEN 'empty' THEN
			'No relation has it, and it is empty: the next checkpoint removes it if its relation was dropped since the last one. If it is still there after CHECKPOINT, a crash left it: remove it by hand, with the server stopped.'
		WHEN 'left by a crash' THEN
			'No relation has it, and no transaction under way is old enough to have made it: it was left by a crash. Remove it by hand, with the server stopped.'
		WHEN 'of statement' THEN
			format('They are of the present statement of process %s.', detail)
		WHEN 'of ended process' THEN
			'Their process has ended: the next restart of the server removes them.'
		WHEN 'being made' THEN
			'It is of a database that is being made or dropped, or was just made.'
		WHEN 'no database' THEN
			'No database has it: it was left by a crash.'
		WHEN 'not of the server' THEN 'The server did not make it.'
		WHEN 'hypertable' THEN
			'TimescaleDB makes new chunks there, and refuses DROP TABLESPACE in that database.'
		WHEN 'routine' THEN
			'DROP TABLESPACE leaves it, and then every call of the routine fails.'
		WHEN 'setting' THEN
			'DROP TABLESPACE leaves it, and then it is a warning at every connection, and an error to SET.'
		WHEN 'unread' THEN
			'Only its first 8 kB were read: it may name the tablespace, and DROP TABLESPACE leaves it then.'
		WHEN 'locked' THEN
			'It could not be looked into: somebody has locked it, perhaps to rename or drop it, or a prepared transaction has.'
		WHEN 'half dropped' THEN
			'DROP DATABASE was interrupted: all that can be done with it is to drop it.'
		WHEN 'pg_default' THEN 'pg_default can be relieved, but never dropped.'
		END;
END;
COMMENT ON FUNCTION tablespace_advisor.reason_beside(text, text) IS
	'the reason in words why a file, setting or database is in the way of DROP TABLESPACE, as leaving_reason() does of a relation; detail: a name or number in it';

CREATE FUNCTION tablespace_advisor.kind_name(kind "char")
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT CASE kind WHEN 'r' THEN 'table' WHEN 'm' THEN 'materialized view'
		WHEN 'i' THEN 'index' WHEN 'p' THEN 'partitioned table'
		WHEN 'I' THEN 'partitioned index' WHEN 'S' THEN 'sequence'
		WHEN 't' THEN 'TOAST table' END;
END;
COMMENT ON FUNCTION tablespace_advisor.kind_name("char") IS
	'the word for a relation of this kind';

/*
 * The statement that moves a relation, in its own database; here: the relation if
 * that is this database.  Elsewhere nobody knows which names would do.
 */
CREATE FUNCTION tablespace_advisor.leaving_statement(
	how text, kind "char", here regclass, schema_name name, relation_name name,
	extension_schema name, target name)
RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN target IS NULL THEN NULL
		WHEN how = 'rebuild' THEN
			format('REINDEX (CONCURRENTLY, TABLESPACE %I) INDEX %s', target, n.relation)
		WHEN how = 'live' AND here IS NULL THEN
			format('CALL %I.%s(%L::pg_catalog.regclass, %L::pg_catalog.name)',
				extension_schema, n.function, n.relation, target)
		WHEN how = 'live' THEN
			format('CALL %s(%s, %s)', tablespace_advisor.written_call(n.function),
				tablespace_advisor.written_argument(n.function, n.relation, 'regclass'),
				tablespace_advisor.written_argument(n.function, target, 'name'))
		WHEN how IN ('catalog', 'lock') THEN
			format('ALTER %s %s SET TABLESPACE %I',
				CASE WHEN kind IN ('i', 'I') THEN 'INDEX'
					WHEN kind = 'm' THEN 'MATERIALIZED VIEW'
					ELSE 'TABLE' END, n.relation, target)
		END
	FROM (SELECT CASE kind WHEN 'i' THEN 'move_indexes_concurrently'
				ELSE 'move_table_concurrently' END::name,
			coalesce(tablespace_advisor.written_relation(here),
				format('%I.%I', schema_name, relation_name))) n (function, relation)
$$;
COMMENT ON FUNCTION tablespace_advisor.leaving_statement IS
	'the statement that moves a relation to a tablespace, to be run in the relation''s database';
