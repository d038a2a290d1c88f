# What bench/soak.pl and bench/kill.pl share: a table with a TOAST table and a
# mirror, the judge of both, and the end of a postmaster.
#
# The mirror is a table that is never moved and has a hash of every row of t; a
# trigger keeps it in the transaction that changes t.  So what clients have
# committed is what t must say.

package SoakTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);
use TsaTest;

our @EXPORT = qw(chance one_of add_documents check_documents kill_postmaster);

sub chance { return rand() < $_[0]; }
sub one_of { return $_[ int(rand @_) ]; }

# Values for the TOAST table, a new one at each insert and at a part of the
# updates; and the mirror.
sub add_documents
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
		ALTER TABLE t ADD doc text, ADD note int NOT NULL DEFAULT 0;
		ALTER TABLE t ALTER doc SET STORAGE EXTERNAL;
		CREATE FUNCTION write_doc() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF TG_OP = 'INSERT' AND random() < 0.3 OR random() < 0.2 THEN
				NEW.doc := repeat(md5(random()::text), (random() * 200)::int);
				NEW.note := NEW.note + 1;
			END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER write_doc BEFORE INSERT OR UPDATE ON t
			FOR EACH ROW EXECUTE FUNCTION write_doc();
		UPDATE t SET note = note;

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
		VACUUM (FREEZE, ANALYZE) t;

		-- What is wrong with the rows and pages of t.  The caller has t locked
		-- against writers, and a snapshot taken after that.
		CREATE FUNCTION soak_damage() RETURNS SETOF text
		LANGUAGE plpgsql AS $$
		DECLARE
			rel regclass;
			toast regclass := (SELECT reltoastrelid FROM pg_class
				WHERE oid = 't'::regclass);
		BEGIN
			RETURN QUERY SELECT format('row %s is not what was committed', id)
				FROM t FULL JOIN mirror m USING (id)
				WHERE hashtextextended(t::text, 0) IS DISTINCT FROM m.hash;
			RETURN QUERY SELECT format('t has %s rows', count(*))
				FROM t HAVING count(*) < 1000;
			FOREACH rel IN ARRAY ARRAY['t'::regclass, toast] LOOP
				RETURN QUERY SELECT format('%s: block %s offset %s: %s',
						rel, v.blkno, v.offnum, v.msg)
					FROM verify_heapam(rel, check_toast => true) v;
				RETURN QUERY SELECT format('%s: bits of block %s are %s %s, the page says %s',
						rel, v.blkno, v.all_visible, v.all_frozen, v.pd_all_visible)
					FROM pg_visibility(rel) v
					WHERE (v.all_visible AND NOT v.pd_all_visible)
						OR (v.all_frozen AND NOT v.all_visible);
				RETURN QUERY SELECT format('%s: %s is not visible to all', rel, v)
					FROM pg_check_visible(rel) v;
				RETURN QUERY SELECT format('%s: %s is not frozen', rel, v)
					FROM pg_check_frozen(rel) v;
			END LOOP;
			PERFORM bt_index_check(indexrelid, true) FROM pg_index
			WHERE indrelid = toast;
		END $$;
	});
	return;
}

# Rows and pages of t, and locks.  Workers end a moment after their last job.
sub check_documents
{
	my ($node, $name) = @_;
	my ($out, $err) = ('', '');
	my $rc = $node->psql('postgres', q{
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		LOCK TABLE t IN SHARE MODE;
		SELECT soak_damage() LIMIT 20;
		COMMIT;
	}, stdout => \$out, stderr => \$err, timeout => $PostgreSQL::Test::Utils::timeout_default);

	is("$rc $out $err", '0  ', "$name: rows, TOAST and visibility maps are right");
	$node->poll_query_until('postgres', q{
		SELECT count(*) = 0 FROM pg_stat_activity
		WHERE backend_type = 'tablespace_advisor move'})
	  or fail("$name: a worker does not end");
	check_locks($node, $name);
	return;
}

# Kills the postmaster and starts the server again.  Its children go when they
# notice; until then there is no starting.
sub kill_postmaster
{
	my ($node) = @_;
	my @pids = split /\n/, $node->safe_psql('postgres',
		'SELECT pid FROM pg_stat_activity');

	$node->kill9;
	for (my $tries = 0; grep { kill 0, $_ } @pids; $tries++)
	{
		die 'the server does not end'
		  if $tries == 10 * $PostgreSQL::Test::Utils::timeout_default;
		sleep 0.1;
	}
	$node->start;
	return;
}

1;
