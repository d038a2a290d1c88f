/*
 * src/advise/indexes.sql
 *
 * The purpose of an index, another one that could replace it, and the cost
 * when it is built anew.  Nothing here takes a lock on a relation it looks at:
 * advice must not wait behind somebody's ALTER TABLE.  (So definitions are
 * compared as the catalog stores them, pg_get_expr() would lock.)
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */

/* An expression of any length is like no other. */
CREATE FUNCTION tablespace_advisor.comparable_tree(index oid, tree pg_node_tree)
RETURNS text
LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT coalesce(regexp_replace(tablespace_advisor.short_tree(tree)::text,
			' :location -?[0-9]+', '', 'g'), 'of index ' || index)
$$;
COMMENT ON FUNCTION tablespace_advisor.comparable_tree(oid, pg_node_tree) IS
	'an expression of an index as the catalog stores it, without its place in the statement; of one longer than 8 kB the index';
GRANT EXECUTE ON FUNCTION tablespace_advisor.comparable_tree TO pg_monitor;

/*
 * needed_for says why an index must not be dropped even if no scan uses it: it
 * enforces or supports a constraint without a scan that is counted.
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
			THEN 'a foreign key: deletes of referenced rows use it'
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
		tablespace_advisor.comparable_tree(i.indexrelid, i.indexprs),
		'WHERE ' || tablespace_advisor.comparable_tree(i.indexrelid, i.indpred))
		AS definition,
	i.indisunique, i.indnullsnotdistinct, i.indimmediate, i.indisexclusion
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relkind = 'i';

COMMENT ON VIEW tablespace_advisor.index_role IS
	'the purpose of an index besides scans, and whether it can be used; is_pinned: other objects depend on this very index, another with the same definition could not stand in for it';

GRANT SELECT ON tablespace_advisor.index_role TO pg_monitor;

/*
 * Of indexes with one definition the one that is hardest to replace stays.
 * Definitions, which may be long and many, are made once and compared by hash.
 * plpgsql, which plans for as many tables as there are.
 */
CREATE FUNCTION tablespace_advisor.duplicate_indexes(tables oid[])
RETURNS TABLE (indexrelid oid, indrelid oid, duplicate_of oid)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY WITH several AS MATERIALIZED (
		SELECT i.indrelid FROM unnest(tables) t JOIN pg_index i ON i.indrelid = t
		GROUP BY i.indrelid HAVING count(*) > 1
	), role AS MATERIALIZED (
		SELECT r.indexrelid, r.indrelid, r.indisunique, r.indimmediate,
			r.indnullsnotdistinct, r.unusable, r.is_pinned,
			sha256(convert_to(r.definition, 'UTF8')) AS definition,
			pg_stat_get_numscans(r.indexrelid) AS scans
		FROM several t JOIN tablespace_advisor.index_role r ON r.indrelid = t.indrelid
	)
	SELECT DISTINCT ON (i.indexrelid) i.indexrelid, i.indrelid, o.indexrelid
	FROM role i
	JOIN role o ON o.indrelid = i.indrelid AND o.definition = i.definition
	WHERE NOT i.is_pinned AND o.indexrelid <> i.indexrelid AND o.unusable IS NULL
		AND (NOT i.indisunique OR (o.indisunique AND o.indimmediate
			AND o.indnullsnotdistinct = i.indnullsnotdistinct))
		AND (o.is_pinned, o.indisunique, o.scans, i.indexrelid::bigint)
			> (i.is_pinned, i.indisunique, i.scans, o.indexrelid::bigint)
	ORDER BY i.indexrelid, o.is_pinned DESC, o.indisunique DESC, o.scans DESC, o.indexrelid;
END
$$;
COMMENT ON FUNCTION tablespace_advisor.duplicate_indexes(oid[]) IS
	'indexes of these tables that another one of their table could replace, having the same definition';

/*
 * Bytes that a B-tree with these entries takes when it is built: 8 bytes of
 * tuple header, 4 of line pointer, pages filled to the fillfactor.  Equal
 * keys, which the server would store together, are not counted on, so that
 * the estimate is rather too large and bloat rather overlooked.
 */
CREATE FUNCTION tablespace_advisor.estimate_btree_bytes(entries float8, key_bytes float8, fillfactor float8)
RETURNS bigint
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT CASE WHEN entries > 0 THEN
		((2 + ceil(entries * (12 + 8 * ceil(key_bytes / 8))
			/ ((current_setting('block_size')::float8 - 40) * fillfactor / 100)) * 1.005)
			* current_setting('block_size')::float8)::bigint END;
END;
COMMENT ON FUNCTION tablespace_advisor.estimate_btree_bytes(float8, float8, float8) IS
	'bytes of a B-tree just built, from the number of entries, bytes of a key and fillfactor in percent; NULL when there are no entries';

/* One summary of some 32 bytes for 128 heap blocks, and two pages besides. */
CREATE FUNCTION tablespace_advisor.estimate_brin_bytes(heap_bytes bigint)
RETURNS bigint
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT ((3 + ceil(ceil(heap_bytes / current_setting('block_size')::float8 / 128)
			* 32 / current_setting('block_size')::float8))
		* current_setting('block_size')::float8)::bigint;
END;
COMMENT ON FUNCTION tablespace_advisor.estimate_brin_bytes(bigint) IS
	'bytes of a BRIN index with default parameters on one column of fixed width of a heap of that size';
