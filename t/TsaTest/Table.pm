# Copyright (c) 2026, The tablespace_advisor developers

# Tables: t, with an index of every kind, and the same with documents out of line
# and a mirror of every row in a second table that is never moved.

package TsaTest::Table;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(
  fill_table fill_documents create_mirror document row_values make_read_tables
  make_toasted_table);

# The table t and its indexes, one column for each access method so that no
# index can stand in for another.
sub fill_table
{
	my ($node, $rows) = @_;
	my $values = row_values('i');

	$node->safe_psql('postgres', qq{
		CREATE SEQUENCE t_seq;
		CREATE TABLE t (
			id bigint DEFAULT nextval('t_seq') CONSTRAINT t_pkey PRIMARY KEY,
			k int NOT NULL, u text NOT NULL, d int, txt text,
			h int, a1 int[], a2 int[], p1 point, p2 point, r int8range,
			b int, l1 int, l2 int,
			CONSTRAINT t_d UNIQUE (d) DEFERRABLE INITIALLY DEFERRED,
			CONSTRAINT t_excl EXCLUDE USING gist (r WITH &&)
		) WITH (fillfactor = 80);
		INSERT INTO t (id, $values->{columns})
			SELECT nextval('t_seq'), $values->{values}
			FROM generate_series(1, $rows) i;
		CREATE INDEX t_k ON t (k);
		CREATE UNIQUE INDEX t_u ON t (u);
		CREATE INDEX t_txt ON t (txt);
		CREATE INDEX t_part ON t (k, id) WHERE k < 30;
		CREATE INDEX t_expr ON t (lower(left(txt, 10)), (k + 1)) INCLUDE (d);
		CREATE INDEX t_hash ON t USING hash (h);
		CREATE INDEX t_gin_fast ON t USING gin (a1)
			WITH (fastupdate = on, gin_pending_list_limit = 64);
		CREATE INDEX t_gin ON t USING gin (a2) WITH (fastupdate = off);
		CREATE INDEX t_gist ON t USING gist (p1);
		CREATE INDEX t_spgist ON t USING spgist (p2);
		CREATE INDEX t_brin ON t USING brin (b)
			WITH (pages_per_range = 2, autosummarize = on);
		CREATE INDEX t_bloom ON t USING bloom (l1, l2);
		ALTER TABLE t REPLICA IDENTITY USING INDEX t_u;
		ALTER TABLE t CLUSTER ON t_txt;
		ANALYZE t;
	});
	return;
}

# Columns and values of a row of t, from the number i that an SQL expression
# gives.  A text of more than 500 bytes is compressed in an index, and then for each
# comparison decompressed: there are few.
sub row_values
{
	my ($i) = @_;
	my $x = "hashint8((${i})::bigint)";

	return {
		columns => 'k, u, d, txt, h, a1, a2, p1, p2, r, b, l1, l2',
		values => qq{
			abs($x % 100), 'u' || currval('t_seq'), currval('t_seq')::int,
			repeat(md5((${i})::text), CASE $x % 100 WHEN 0 THEN 20 ELSE 1 + abs($x % 15) END), abs($x % 50),
			ARRAY[abs($x % 50), abs($x / 50 % 50)],
			ARRAY[abs($x % 50), abs($x / 7 % 50)],
			point(abs($x % 100), abs($x / 100 % 100)),
			point(abs($x / 3 % 100), abs($x / 300 % 100)),
			int8range(currval('t_seq') * 10, currval('t_seq') * 10 + 9),
			(currval('t_seq') / 3 % 20000)::int, abs($x % 50), abs($x % 50 % 7)
		}
	};
}

# A text of some kilobytes that is a function of the number i, an SQL
# expression.
sub document
{
	my ($i) = @_;

	return "(SELECT string_agg(md5((($i)::bigint * 1000 + g)::text), '')"
	  . " FROM generate_series(1, 65 + ((($i)::bigint) % 130)::int) g)";
}

# The same table with documents, which are out of line, and a column that no
# index has; and its mirror.
sub fill_documents
{
	my ($node, $rows) = @_;

	fill_table($node, $rows);
	$node->safe_psql('postgres', qq{
		ALTER TABLE t ADD doc text, ADD note int NOT NULL DEFAULT 0;
		ALTER TABLE t ALTER doc SET STORAGE EXTERNAL;
		-- a VACUUM that wants to truncate waits 5 seconds for the mover, which
		-- waits for it
		ALTER TABLE t SET (vacuum_truncate = off, toast.vacuum_truncate = off,
			autovacuum_vacuum_threshold = 2000,
			autovacuum_vacuum_insert_threshold = 2000,
			toast.autovacuum_vacuum_threshold = 10000,
			toast.autovacuum_vacuum_insert_threshold = 10000);
		DROP INDEX t_brin;
		CREATE INDEX t_brin ON t USING brin (b)
			WITH (pages_per_range = 16, autosummarize = on);
		UPDATE t SET doc = ${\document('id')} WHERE id % 2 = 0});
	create_mirror($node);
	return;
}

# A table that is never moved and has a hash of every row of t; a trigger keeps it
# in the transaction that changes t.  So what clients have committed is what t must
# say.
sub create_mirror
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
		CREATE TABLE mirror (id bigint PRIMARY KEY, hash bigint NOT NULL)
			WITH (fillfactor = 70);
		INSERT INTO mirror SELECT id, hashtextextended(t::text, 0) FROM t;
		CREATE FUNCTION keep_mirror() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF TG_OP = 'INSERT' THEN
				INSERT INTO mirror
				VALUES (NEW.id, hashtextextended(NEW::text, 0));
			ELSIF TG_OP = 'UPDATE' THEN
				UPDATE mirror SET hash = hashtextextended(NEW::text, 0)
				WHERE id = OLD.id;
				ASSERT FOUND;
			ELSE
				DELETE FROM mirror WHERE id = OLD.id;
				ASSERT FOUND;
			END IF;
			RETURN NULL;
		END $$;
		CREATE TRIGGER keep_mirror AFTER INSERT OR UPDATE OR DELETE ON t
			FOR EACH ROW EXECUTE FUNCTION keep_mirror();
		VACUUM (FREEZE, ANALYZE) t});
	return;
}

# Tables of all kinds of access: facts (rows), report (scanned, $report rows), doc
# (TOAST, $docs rows) and two partitions.
sub make_read_tables
{
	my ($node, $rows, $report, $docs) = @_;

	$node->safe_psql('postgres', qq{
		CREATE TABLE facts (id int PRIMARY KEY, g int, pad text);
		INSERT INTO facts SELECT i, i * 7919 % $rows, repeat('x', 150) FROM generate_series(1, $rows) i;
		CREATE INDEX facts_g ON facts (g);
		CREATE TABLE report (id int, pad text);
		INSERT INTO report SELECT i, repeat('y', 300) FROM generate_series(1, $report) i;
		CREATE TABLE doc (id int PRIMARY KEY, body text);
		ALTER TABLE doc ALTER body SET STORAGE EXTERNAL;
		INSERT INTO doc SELECT i, repeat(md5(i::text), 300) FROM generate_series(1, $docs) i;
		CREATE TABLE parted (id int, k int) PARTITION BY HASH (id);
		CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
		CREATE INDEX ON parted (k);
		INSERT INTO parted SELECT i, i * 7919 % $rows FROM generate_series(1, $rows) i});
	return;
}

# t with TOAST and two indexes, 12 MB in all; enough for some marks.
sub make_toasted_table
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
		CREATE TABLE t (a int PRIMARY KEY, b int, c text, d text);
		ALTER TABLE t ALTER d SET STORAGE EXTERNAL;
		INSERT INTO t SELECT i, i, md5(i::text), CASE WHEN i % 20 = 0 THEN repeat(md5(i::text), 100) END
			FROM generate_series(1, 40000) i;
		CREATE INDEX t_c ON t ((repeat(c, 4)), b)});
	return;
}

1;
