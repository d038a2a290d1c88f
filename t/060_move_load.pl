# Copyright (c) 2026, The tablespace_advisor developers

# Moves back and forth under a mixed load, with vacuum all the time: every kind
# of index, and a table with TOAST values, with and without its indexes.  After
# each move every index agrees with its table; every row of the table is what was
# committed, by sequential scan and by index; heap, TOAST and visibility map are
# sound.

use TsaTest;

# The OIDs of t, its TOAST table and their indexes.
sub oids
{
	my ($node) = @_;

	return $node->safe_psql('postgres', q{
		SELECT c.oid, c.reltoastrelid, i.indexrelid
		FROM pg_class c JOIN pg_index i ON i.indrelid IN (c.oid, c.reltoastrelid)
		WHERE c.oid = 't'::regclass ORDER BY 3});
}

# Indexes: slowly, so that there is something to follow, and at full speed.
sub move_indexes
{
	my ($node) = @_;

	for my $tablespace (qw(fast slow pg_default fast))
	{
		my $rate = $tablespace eq 'slow' ? 'NULL' : "'8 MB'";

		move($node, 't', $tablespace, "method => 'copy', max_rate => $rate");
		is(tablespaces_of($node, 't'), $tablespace, "all indexes are in $tablespace");
		check_content($node, "moved to $tablespace under load");
	}
	return;
}

# The table, every other time with the indexes.
sub move_tables
{
	my ($node) = @_;
	my ($table, $indexes) = ('pg_default', 'pg_default');
	my $n = 0;

	for my $tablespace (qw(fast slow fast pg_default slow fast pg_default fast slow pg_default))
	{
		my $with = $n++ % 2;
		my $rate = $n % 4 < 2 ? "'16 MB'" : 'NULL';
		my $name = "move $n, to $tablespace" . ($with ? ' with indexes' : '');

		move_table($node, 't', $tablespace,
			"with_indexes => " . ($with ? 'true' : 'false') . ", max_rate => $rate");
		$table = $tablespace;
		$indexes = $tablespace if $with;
		is( places($node, 't'),
			"table $table, toast $table, toast index $table, indexes $indexes",
			"$name: all is where it should be");
		check_table($node, $name);
		check_locks($node, $name);
	}
	return;
}

my %kinds = (
	indexes => {
		fill => sub { fill_table($_[0], 6000) },
		start => sub { start_load($_[0], rate => 100) },
		stop => \&stop_load,
		move => \&move_indexes,
		check => \&check_content,
		jobs => 60,
	},
	table => {
		fill => sub { fill_documents($_[0], 5000) },
		start => \&start_table_load,
		stop => \&stop_table_load,
		move => \&move_tables,
		check => \&check_table,
		jobs => 10,
	});

for my $what (sort keys %kinds)
{
	my $kind = $kinds{$what};
	my $node = start_node($what, checksums => 1, conf => "wal_level = replica\n");
	$kind->{fill}->($node);

	my $before = oids($node);
	my $load = $kind->{start}->($node);
	$kind->{move}->($node);
	$kind->{stop}->($load, "$what: moves back and forth");

	is(oids($node), $before, "$what: all relations keep their OIDs");
	is( $node->safe_psql('postgres', q{
			SELECT method, state, count(*),
				bool_and(lock_ms > 0 AND attempts >= 1 AND passes >= 1
					AND percent = 100 AND error IS NULL AND blocked_by IS NULL)
			FROM tablespace_moves GROUP BY 1, 2}),
		"copy|done|$kind->{jobs}|t", "$what: the journal says so");
	is( $node->safe_psql('postgres', q{
			SELECT i.indexrelid::regclass, i.indisprimary, i.indisclustered,
				i.indisreplident, c.condeferrable, c.contype
			FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid
				AND c.contype <> 'f'
			WHERE i.indrelid = 't'::regclass AND (i.indisprimary
				OR i.indisclustered OR i.indisreplident OR c.oid IS NOT NULL)
			ORDER BY i.indexrelid::regclass::text COLLATE "C"}),
		"t_d|f|f|f|t|u\nt_excl|f|f|f|f|x\nt_pkey|t|f|f|f|p\n"
		  . "t_txt|f|t|f||\nt_u|f|f|t||",
		"$what: constraints, replica identity and clustering are what they were");
	cmp_ok(
		$node->safe_psql('postgres', 'SELECT max(passes) FROM tablespace_moves'),
		'>', 1, "$what: there were changes to follow");
	$kind->{check}->($node, "$what: after the load");
	check_orphans($node, "$what: after the load");
	check_log($node, "$what: moves under load");

	# what the load changed is written through the moved relations
	crash($node);
	$kind->{check}->($node, "$what: after a crash");
	check_orphans($node, "$what: after a crash");
	check_checksums($node, "$what: after a crash");
}
done_testing();
