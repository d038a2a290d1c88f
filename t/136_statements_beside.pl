# Copyright (c) 2026, The tablespace_advisor developers

# Who waits how long: every lock mode and every kind of statement against a move
# of an index and of a table that copies, pauses, and cuts over again and again,
# and against an index that is rebuilt again and again, from a fresh session and
# from one that has used the table in its transaction.  Nobody gets a deadlock
# (but a rebuild may, which fails then), nobody waits for a copy's end.  The
# longest waits are printed as the table that docs/reliability.md shows.

use TsaTest;

# Longer than anybody may wait, shorter than a move at the rate below takes.
my $timeout = 20;
my $node = start_node('main', conf => "autovacuum = off\n");
$node->safe_psql('postgres', q{
	CREATE ROLE reader;
	CREATE TABLE d (id int PRIMARY KEY, n int, txt text);
	INSERT INTO d SELECT i, i, repeat(md5(i::text), 4)
		FROM generate_series(1, 20000) i;
	CREATE TABLE e (id int);
	CREATE INDEX d_n ON d (n);
	CREATE INDEX d_brin ON d USING brin (n)});

# what, statement, can it run in a transaction block?
my @statements = (
	(map { [ "LOCK TABLE IN $_ MODE", "LOCK TABLE d IN $_ MODE", 1 ] }
		'ACCESS SHARE', 'ROW SHARE', 'ROW EXCLUSIVE', 'SHARE UPDATE EXCLUSIVE',
		'SHARE', 'SHARE ROW EXCLUSIVE', 'EXCLUSIVE', 'ACCESS EXCLUSIVE'),
	[ 'SELECT', 'SELECT count(*) FROM d', 1 ],
	[ 'SELECT FOR UPDATE', 'SELECT FROM d WHERE id = 7 FOR UPDATE', 1 ],
	[ 'INSERT', 'INSERT INTO d SELECT max(id) + 1, 0 FROM d', 1 ],
	[ 'UPDATE', 'UPDATE d SET n = n + 1 WHERE id = 7', 1 ],
	[ 'DELETE', 'DELETE FROM d WHERE id = (SELECT max(id) FROM d)', 1 ],
	[ 'MERGE', 'MERGE INTO d USING (SELECT 7 AS id) s ON d.id = s.id WHEN MATCHED THEN UPDATE SET n = d.n + 1', 1 ],
	[ 'COPY', 'COPY d (id) FROM PROGRAM $$echo 999999999$$; DELETE FROM d WHERE id = 999999999', 1 ],
	[ 'ANALYZE', 'ANALYZE d', 1 ],
	[ 'VACUUM', 'VACUUM (TRUNCATE off) d', 0 ],
	[ 'GRANT', 'GRANT SELECT ON d TO reader', 1 ],
	[ 'COMMENT ON TABLE', q{COMMENT ON TABLE d IS 'x'}, 1 ],
	[ 'COMMENT ON INDEX', q{COMMENT ON INDEX d_n IS 'x'}, 1 ],
	[ 'ALTER INDEX SET', 'ALTER INDEX d_n SET (fillfactor = 80)', 1 ],
	[ 'ALTER INDEX RENAME', 'ALTER INDEX d_n RENAME TO d_m; ALTER INDEX d_m RENAME TO d_n', 1 ],
	[ 'brin_summarize_new_values', q{SELECT brin_summarize_new_values('d_brin')}, 1 ],
	[ 'CREATE INDEX', 'CREATE INDEX d_x ON d (txt); DROP INDEX d_x', 1 ],
	[ 'CREATE TRIGGER', 'CREATE TRIGGER x BEFORE UPDATE ON d FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger(); DROP TRIGGER x ON d', 1 ],
	[ 'CREATE STATISTICS', 'CREATE STATISTICS s ON id, n FROM d; DROP STATISTICS s', 1 ],
	[ 'FOREIGN KEY', 'ALTER TABLE e ADD CONSTRAINT x FOREIGN KEY (id) REFERENCES d; ALTER TABLE e DROP CONSTRAINT x', 1 ],
	[ 'ALTER TABLE SET STATISTICS', 'ALTER TABLE d ALTER n SET STATISTICS 50', 1 ],
	[ 'ALTER TABLE', 'ALTER TABLE d ADD COLUMN c int; ALTER TABLE d DROP COLUMN c', 1 ],
	[ 'REINDEX INDEX', 'REINDEX INDEX d_n', 1 ],
	[ 'VACUUM FULL', 'VACUUM FULL d', 0 ],
	[ 'CLUSTER', 'CLUSTER d USING d_pkey', 1 ],
	[ 'CREATE, DROP INDEX CONCURRENTLY', "CREATE INDEX CONCURRENTLY d_x ON d (txt);\nDROP INDEX CONCURRENTLY d_x", 0 ],
	[ 'TRUNCATE', 'TRUNCATE d; INSERT INTO d SELECT i, i, repeat(md5(i::text), 4) FROM generate_series(1, 20000) i', 1 ],
	# what replaces the index: a copy of that index alone fails
	[ 'REINDEX TABLE CONCURRENTLY', 'REINDEX TABLE CONCURRENTLY d', 0 ],
	[ 'REINDEX INDEX CONCURRENTLY', 'REINDEX INDEX CONCURRENTLY d_n', 0 ]);

# Moves of the index d_n, or of the table with its indexes.
sub call
{
	my ($kind, $to, $more) = @_;

	return "CALL move_table_concurrently('d', '$to', with_indexes => true$more)"
	  if $kind eq 'table';
	$more .= ", method => 'rebuild'" if $kind eq 'rebuild';
	return "CALL move_indexes_concurrently('d_n', '$to'$more)";
}

sub move_under_way
{
	my ($kind, $to) = @_;
	my $ids = $node->safe_psql('postgres',
		call($kind, $to, ", max_rate => '50 bytes', wait => false"));

	$ids =~ /^\{(\d+)/ or die "no job: $ids";
	wait_until_job($node, $1, "state = 'running' AND phase IS NOT NULL");
	return $1;
}

# Runs a statement; returns how long it took in ms and what went wrong.  A rebuild
# is to find a deadlock first, however busy the machine is.
sub timed
{
	my ($statement, $kind, $history) = @_;
	my ($what, $sql, $in_block) = @$statement;
	my ($before, $after) = ('', '');
	my $set = $kind eq 'rebuild' ? "SET deadlock_timeout = '10s';\n" : '';

	if ($history)
	{
		$before = "BEGIN;\nSELECT count(*) FROM d WHERE n > 0;\nUPDATE d SET txt = txt WHERE id = 9;\n";
		$after = "COMMIT;\n";
	}
	elsif ($in_block)
	{
		($before, $after) = ("BEGIN;\n", "COMMIT;\n");
	}
	my ($rc, $out, $err) = $node->psql('postgres',
		"SET statement_timeout = '${timeout}s';\n$set$before\\timing on\n$sql;\n\\timing off\n$after",
		on_error_stop => 1);
	my $ms = 0;
	$ms += $1 while $out =~ /^Time: ([\d.]+) ms/mg;
	return ($ms, $rc == 0 ? '' : $err);
}

my %longest;

# A statement beside a move in a phase, as often as asked.
sub beside
{
	my ($statement, $kind, $phase, $times) = @_;

	foreach my $history (0, 1)
	{
		next if $history && !$statement->[2];
		foreach (1 .. $times)
		{
			my ($ms, $error) = timed($statement, $kind, $history);
			my $column = "$kind, $phase";

			is($error, '', "$statement->[0] beside a move of the $kind, $phase"
				  . ($history ? ', after use of the table' : ''));
			$longest{ $statement->[0] }{$column}[$history] = $ms
			  if $ms > ($longest{ $statement->[0] }{$column}[$history] // 0);
		}
	}
	return;
}

# All statements beside a move that copies, or pauses.
sub beside_copy
{
	my ($kind, $phase) = @_;
	my $job;

	foreach my $statement (@statements)
	{
		$job //= move_under_way($kind, 'fast');
		if ($phase eq 'paused' && job_field($node, $job, 'state') ne 'paused')
		{
			$node->safe_psql('postgres', "SELECT pause_move($job)");
			wait_until_job($node, $job, "state = 'paused'");
		}
		is(job_field($node, $job, 'state'), $phase eq 'paused' ? 'paused' : 'running',
			"the move of the $kind goes on: $phase, $statement->[0]");
		beside($statement, $kind, $phase, 1);
		if ($kind eq 'index' && $statement->[0] =~ /^REINDEX .* CONCURRENTLY/)
		{
			$node->safe_psql('postgres', "SELECT resume_move($job)") if $phase eq 'paused';
			is(wait_for_job($node, $job), 'failed', "$phase: the index is another one then");
			undef $job;
		}
	}
	return unless defined $job;
	is(job_field($node, $job, 'state'), $phase eq 'paused' ? 'paused' : 'running',
		"the move of the $kind goes on: $phase");
	$node->safe_psql('postgres', "SELECT cancel_move($job)");
	is(wait_for_job($node, $job), 'cancelled', "the move of the $kind can be cancelled: $phase");
	return;
}

foreach my $kind ('index', 'table', 'rebuild')
{
	if ($kind ne 'rebuild')
	{
		beside_copy($kind, $_) foreach 'copying', 'paused';
	}

	# there and back all the time
	my $script = $node->basedir . "/$kind.sql";
	append_to_file($script,
		join('', map { call($kind, $_, '') . ";\n" } ('fast', 'slow') x 2000));
	my $moves = start_command('psql', '-XAtq', '-d', $node->connstr('postgres'), '-f', $script);
	my $done = $node->safe_psql('postgres', 'SELECT max(job_id) FROM tablespace_moves');
	wait_until($node, "(SELECT count(*) FROM tablespace_moves WHERE state = 'done' AND job_id > $done) > 2", 'three moves');
	beside($_, $kind, $kind eq 'rebuild' ? 'again and again' : 'cutting over',
		$kind eq 'rebuild' ? 1 : 2) foreach @statements;
	$moves->{harness}->kill_kill;
	wait_for_workers($node);
	unlike($moves->{err}, qr/deadlock/, "no move of the $kind got a deadlock") if $kind ne 'rebuild';
}
is($node->safe_psql('postgres', 'SELECT bt_index_parent_check(oid, true)::text FROM pg_class WHERE relname = $$d_n$$'),
	'', 'the index agrees with its table');
check_orphans($node, 'afterwards');

my @columns = ((map { my $kind = $_; map { "$kind, $_" } 'copying', 'paused', 'cutting over' } 'index', 'table'),
	'rebuild, again and again');
# What of a statement is shown: from a fresh session, and from one that has used
# the table, where it can run in a transaction.
sub cell
{
	return join(' / ', map { defined $_ ? sprintf('%.0f', $_) : () } @{ $_[0] });
}

note('longest run of the statement in ms, waiting included: from a fresh session / after use of the table');
note(join(' | ', '', 'statement', @columns, ''));
foreach my $statement (@statements)
{
	note(join(' | ', '', $statement->[0], (map { cell($longest{ $statement->[0] }{$_}) } @columns), ''));
}
$node->stop;
done_testing();
