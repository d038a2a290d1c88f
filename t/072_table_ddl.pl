# Copyright (c) 2026, The tablespace_advisor developers

# DDL on a table, its indexes and its TOAST table, VACUUM, and what is done to a
# materialized view, at each point of a move.  Whoever has to wait is let pass as
# soon as the mover goes on, and neither side waits for ever.  The move then goes
# on, starts over, or fails with a reason.

use TsaTest;

my $node = start_node('main', checksums => 1,
	conf => "wal_level = replica\nautovacuum = off\ndeadlock_timeout = 500ms\n");

# Tables are made in the schema s.
$node->safe_psql('postgres', qq{
	CREATE TABLE source AS
		SELECT i AS id, i AS n, 'row ' || i AS txt,
			CASE WHEN i % 3 = 0 THEN ${\document('i')} END AS doc
		FROM generate_series(1, 1500) i;
	-- what is compressed in vain takes longest to make
	ALTER TABLE source ALTER doc SET STORAGE EXTERNAL;
	ALTER DATABASE postgres SET search_path = s, public});

# A table d, or a materialized view of that name, with a TOAST table.
sub make_table
{
	my ($kind) = @_;
	my $create = $kind eq 'matview'
	  ? 'CREATE MATERIALIZED VIEW d AS SELECT * FROM source;
		CREATE UNIQUE INDEX d_pkey ON d (id);'
	  : 'CREATE TABLE d (LIKE source INCLUDING STORAGE);
		INSERT INTO d SELECT * FROM source;
		ALTER TABLE d ADD CONSTRAINT d_pkey PRIMARY KEY (id);';

	$node->safe_psql('postgres', qq{
		SET client_min_messages = warning;
		DROP SCHEMA IF EXISTS s CASCADE;
		CREATE SCHEMA s;
		$create
		CREATE INDEX d_txt ON d (txt);
		CREATE INDEX d_n ON d (n)});
	return;
}

my %digests;    # of what the table is to have

# Moves d to "fast", runs statements in another session while the move is
# stopped at a point, and lets both go on.  What becomes of the job if the
# statements come before the cutover: "done", or a reason to fail.  What the
# table has then: the "same" rows, a number of them, or no matter ("any").
sub try_ddl
{
	my ($point, $with, $what, $outcome, $rows, @sql) = @_;
	my $before_cutover = $point !~ /window|switched/;
	my $name = "$what at '$point'" . ($with ? ' with indexes' : '');
	my $table = $what eq 'RENAME' ? 'e' : 'd';

	make_table($what =~ /REFRESH/ ? 'matview' : 'table');
	stop_at($node, $point);
	my $job = start_table_move($node, 'd', 'fast',
		'with_indexes => ' . ($with ? 'true' : 'false'));
	wait_for_stop($node, $point);
	my $session = start_sql($node, 'ddl', @sql);
	is_waiting($session);
	release($node);
	is(finish_sql($session), '', "$name: the statement succeeds");

	my $expected = $before_cutover ? $outcome : 'done';
	wait_for_job($node, $job);
	my $state = job_field($node, $job, "concat(state, ': ', error)");
	if (ref $expected)
	{
		like($state, qr/^failed: .*$expected/,
			"$name: the move fails and says why");
	}
	else
	{
		is($state, 'done: ', "$name: the move is done");
	}
	check_orphans($node, $name);
	return if $rows eq 'any';

	my $columns = "x.id || x.txt || coalesce(x.doc, '')";
	my $like = $rows eq 'same' ? 'source'
	  : "(SELECT * FROM source WHERE id <= $rows)";
	$digests{$like} //= digest($node, $like, $columns);
	is(digest($node, $table, $columns), $digests{$like},
		"$name: the rows are right");
	check_heap($node, $table, $name);
	is($node->safe_psql('postgres', "SELECT tsa_amcheck('$table') >= 0"),
		't', "$name: the indexes are right");
	return if $outcome ne 'done';

	my $place = $before_cutover || $what !~ /SET TABLESPACE and back/
	  ? 'fast' : 'pg_default';
	my $places = places($node, $table);

	like($places,
		qr/^table $place, toast $place, toast index $place/,
		"$name: all is in $place");

	# also those that REINDEX CONCURRENTLY has made meanwhile
	like($places, qr/, indexes fast$/, "$name: and the indexes")
	  if $with && $before_cutover
	  && $what =~ /^(?:VACUUM|CLUSTER|TRUNCATE|ANALYZE|ADD|a lock|RENAME|REINDEX)/;
	return;
}

my $gone = qr/does not exist any more/;
my $there = qr/already in tablespace/;
my @cases = (
	# rewrites and what makes storage of its own
	[ 'VACUUM FULL', 'done', 'same', 'VACUUM FULL d' ],
	[ 'CLUSTER', 'done', 'same', 'CLUSTER d USING d_txt' ],
	[ 'ADD COLUMN with a volatile default', 'done', 'same', 'ALTER TABLE d ADD c float8 DEFAULT random()' ],
	[ 'ALTER TYPE', 'done', 'same', 'ALTER TABLE d ALTER n TYPE bigint' ],
	[ 'ALTER TYPE of an indexed text', 'done', 'same', 'ALTER TABLE d ALTER txt TYPE varchar(100) COLLATE "POSIX"' ],
	[ 'TRUNCATE', 'done', 0, 'TRUNCATE d' ],
	[ 'TRUNCATE and INSERT', 'done', 500, 'BEGIN', 'TRUNCATE d', 'INSERT INTO d SELECT * FROM source WHERE id <= 500', 'COMMIT' ],
	[ 'SET TABLESPACE and back', 'done', 'same', 'BEGIN', 'ALTER TABLE d SET TABLESPACE fast', 'ALTER TABLE d SET TABLESPACE pg_default', 'COMMIT' ],
	[ 'SET TABLESPACE', $there, 'same', 'ALTER TABLE d SET TABLESPACE fast' ],
	[ 'SET TABLESPACE and TRUNCATE', $there, 500, 'BEGIN', 'ALTER TABLE d SET TABLESPACE fast', 'TRUNCATE d', 'INSERT INTO d SELECT * FROM source WHERE id <= 500', 'COMMIT' ],
	[ 'SET UNLOGGED', qr/by live copy/, 'any', 'ALTER TABLE d SET UNLOGGED' ],
	[ 'a lock and a change', 'done', 1300, 'BEGIN', 'LOCK TABLE d', 'DELETE FROM d WHERE id > 1300', 'COMMIT' ],
	# what goes away
	[ 'DROP TABLE', $gone, 'any', 'DROP TABLE d' ],
	[ 'DROP and CREATE TABLE', $gone, 1500, 'BEGIN', 'DROP TABLE d', 'CREATE TABLE d (LIKE source INCLUDING ALL)', 'INSERT INTO d SELECT * FROM source', 'COMMIT' ],
	[ 'RENAME', 'done', 'same', 'ALTER TABLE d RENAME TO e' ],
	# the TOAST table
	[ 'two rewrites', 'done', 'same', 'ALTER TABLE d ALTER doc TYPE bytea USING doc::bytea', 'ALTER TABLE d ALTER doc TYPE text USING encode(doc, \'escape\')' ],
	# indexes that move along
	[ 'DROP INDEX', 'done', 'same', 'DROP INDEX d_n' ],
	[ 'DROP INDEX CONCURRENTLY', 'done', 'same', 'DROP INDEX CONCURRENTLY d_n' ],
	[ 'CREATE INDEX', 'done', 'same', 'CREATE INDEX ON d (n, id)' ],
	[ 'CREATE INDEX CONCURRENTLY', 'done', 'same', 'CREATE INDEX CONCURRENTLY ON d (n, id)' ],
	[ 'REINDEX INDEX', 'done', 'same', 'REINDEX INDEX d_n' ],
	[ 'REINDEX INDEX CONCURRENTLY', 'done', 'same', 'REINDEX INDEX CONCURRENTLY d_n' ],
	[ 'REINDEX TABLE', 'done', 'same', 'REINDEX TABLE d' ],
	[ 'REINDEX TABLE CONCURRENTLY', 'done', 'same', 'REINDEX TABLE CONCURRENTLY d' ],
	[ 'ALTER INDEX SET TABLESPACE', 'done', 'same', 'ALTER INDEX d_n SET TABLESPACE fast' ],
	[ 'DROP CONSTRAINT', 'done', 'same', 'ALTER TABLE d DROP CONSTRAINT d_pkey' ],
	# materialized views
	[ 'REFRESH', 'done', 'same', 'REFRESH MATERIALIZED VIEW d' ],
	[ 'REFRESH CONCURRENTLY', 'done', 'same', 'REFRESH MATERIALIZED VIEW CONCURRENTLY d' ],
	[ 'REFRESH WITH NO DATA', 'done', 'any', 'REFRESH MATERIALIZED VIEW d WITH NO DATA' ],
	# no reason to start over
	[ 'VACUUM', 'done', 'same', 'VACUUM (FREEZE) d' ],
	[ 'ANALYZE', 'done', 'same', 'ANALYZE d' ],
	[ 'ADD COLUMN', 'done', 'same', 'ALTER TABLE d ADD c int DEFAULT 7' ]);

my $count = 0;

for my $case (@cases)
{
	my $sometimes = $count % 4 < 2 ? 'storage created' : 'switched';

	for my $point ('copied', 'fsm copied', 'window', $sometimes)
	{
		my $with = $case->[0] =~ /INDEX|CONSTRAINT/ || $count % 2;
		try_ddl($point, $with, @$case);
		$count++;
	}
	$count++;
}

check_locks($node, 'in the end');
check_log($node, 'DDL', qr/does not exist any more|already in tablespace|cannot move/);
$node->stop;
done_testing();
