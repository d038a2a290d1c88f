/*
 * bench/power_loss: what is moved, the ledger's tables, and what checks them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
CREATE EXTENSION tablespace_advisor;
CREATE EXTENSION amcheck;

/* Transaction j of client c writes row (c, k), k = j * 7919 % 500. */
CREATE TABLE written (c int, k int, j bigint NOT NULL, pad text,
	CONSTRAINT written_key PRIMARY KEY (c, k));
ALTER TABLE written ALTER pad SET STORAGE EXTERNAL;
CREATE INDEX written_pad ON written (md5(pad), j);
CREATE TABLE ledger (c int, j bigint, CONSTRAINT ledger_key PRIMARY KEY (c, j));

/* Nobody writes these. */
CREATE TABLE big AS
	SELECT i AS a, md5(i::text) AS b, repeat(md5(i::text), 2) AS c
	FROM generate_series(1, 150000) i;
CREATE UNIQUE INDEX big_a ON big (a);
CREATE INDEX big_b ON big (b, a);
CREATE INDEX big_small ON big (a) WHERE a % 500 = 0;

CREATE VIEW digest AS SELECT count(*) AS n, sum(hashtextextended(x::text, 0)) AS sum FROM big x;
CREATE TABLE digest_before AS SELECT * FROM digest;

/* Files of this database that no relation has, and their sizes. */
CREATE FUNCTION orphans() RETURNS TABLE (file text, bytes bigint)
LANGUAGE sql AS $$
	SELECT d.dir || '/' || f.name, f.size
	FROM (SELECT t.oid, CASE t.spcname
			WHEN 'pg_default' THEN 'base/' || db.oid
			ELSE 'pg_tblspc/' || t.oid || '/' || v.dir || '/' || db.oid
		END
		FROM pg_tablespace t
			LEFT JOIN LATERAL (
				SELECT dir FROM pg_ls_dir('pg_tblspc/' || t.oid, true, false) dir
				WHERE t.spcname !~ '^pg_') v ON true
			JOIN pg_database db ON db.datname = current_database()
		WHERE t.spcname <> 'pg_global') AS d(tablespace, dir)
		CROSS JOIN LATERAL pg_ls_dir(d.dir, true, false) AS l(name)
		CROSS JOIN LATERAL (SELECT l.name, s.size FROM pg_stat_file(d.dir || '/' || l.name, true) s) f
	WHERE f.name ~ '^[0-9]+(_(fsm|vm|init))?([.][0-9]+)?$'
		AND pg_filenode_relation(d.tablespace, substring(f.name, '^[0-9]+')::oid) IS NULL
	ORDER BY 1
$$;

/*
 * What is wrong, given the number of transactions that each client began with
 * and how many more it has had acknowledged.
 */
CREATE FUNCTION damage(began bigint[], acknowledged bigint[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FOR r IN
		SELECT i - 1 AS c, began[i] + acknowledged[i] AS least, l.n, l.last
		FROM generate_subscripts(began, 1) i
			CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(max(j), 0) AS last
				FROM ledger WHERE c = i - 1) l
	LOOP
		IF r.n <> r.last OR r.last < r.least OR r.last > r.least + 1 THEN
			RETURN NEXT format('client %s: %s transactions to %s, %s were acknowledged', r.c, r.n, r.last, r.least);
		END IF;
	END LOOP;

	/* by sequential scan, and by the index on the key */
	FOREACH r.c IN ARRAY ARRAY[0, 1] LOOP
		PERFORM set_config('enable_seqscan', CASE r.c WHEN 0 THEN 'on' ELSE 'off' END, true),
			set_config('enable_indexscan', CASE r.c WHEN 0 THEN 'off' ELSE 'on' END, true),
			set_config('enable_bitmapscan', 'off', true),
			set_config('enable_indexonlyscan', 'off', true);
		RETURN QUERY
			SELECT format('row (%s, %s) has %s, and not %s', c, k, w.j, e.j)
			FROM (SELECT * FROM written ORDER BY c, k) w
				FULL JOIN (SELECT c, (j * 7919 % 500)::int AS k, max(j) AS j
					FROM ledger GROUP BY 1, 2) e USING (c, k)
			WHERE w.j IS DISTINCT FROM e.j OR w.pad IS DISTINCT FROM repeat(md5(e.j::text), 90);
	END LOOP;
	PERFORM set_config('enable_indexscan', 'on', true), set_config('enable_seqscan', 'on', true);

	IF (SELECT d FROM digest d) IS DISTINCT FROM (SELECT d FROM digest_before d) THEN
		RETURN NEXT 'the content of table big is another';
	END IF;
	FOR r IN SELECT c.oid::regclass AS relation, c.relkind FROM pg_class c LEFT JOIN pg_am a ON a.oid = c.relam
		WHERE c.relnamespace IN ('public'::regnamespace, 'tablespace_advisor'::regnamespace, 'pg_toast'::regnamespace)
			AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indexrelid = c.oid AND NOT i.indisvalid)
			AND (c.relkind = 'r' AND c.relnamespace <> 'pg_toast'::regnamespace OR a.amname = 'btree' AND c.relkind = 'i')
	LOOP
		BEGIN
			IF r.relkind = 'i' THEN
				PERFORM bt_index_check(r.relation, true);
			ELSE
				RETURN QUERY SELECT format('%s block %s: %s', r.relation, h.blkno, h.msg) FROM verify_heapam(r.relation) h;
			END IF;
		EXCEPTION WHEN others THEN
			RETURN NEXT format('%s: %s', r.relation, SQLERRM);
		END;
	END LOOP;
END
$$;
