# Copyright (c) 2026, The tablespace_advisor developers

# Prepared transactions keep no lock of the extension's, so a worker that dies is
# recovered.

use TsaTest;

my $node = start_node('main', conf => q{
shared_preload_libraries = 'tablespace_advisor'
tablespace_advisor.sample_interval = 0
autovacuum = off
});
make_users($node);
$node->safe_psql('postgres', q{
	CREATE TABLE hers AS SELECT g AS a FROM generate_series(1, 1000) g;
	CREATE INDEX ON hers (a);
	ALTER TABLE hers OWNER TO mallory;
	CREATE TABLE twin (a int) TABLESPACE slow;
	ALTER TABLE twin OWNER TO alice});

$node->safe_psql('postgres', q{
	CREATE TABLE two (a int, b int);
	INSERT INTO two SELECT i, i FROM generate_series(1, 50000) i;
	CREATE INDEX two_a ON two (a);
	CREATE INDEX two_b ON two (b);
	ALTER TABLE two OWNER TO mallory});
told($node, q{CALL move_indexes_concurrently('two', 'fast', max_rate => '1 kB', wait => false)},
	user => 'mallory');
wait_until($node, q{EXISTS (SELECT FROM tablespace_advisor.job WHERE state = 'running')
	AND EXISTS (SELECT FROM tablespace_advisor.job WHERE state = 'queued')}, 'one index moves');
my %uses = (
	'that cancels' => q{SELECT cancel_move(max(job_id)) FROM tablespace_moves WHERE state = 'queued'},
	'that measures' => q{SELECT FROM measure_index_locality('hers')},
	'that waits' => q{SELECT wait_for_moves('{}')},
	'that pauses' => q{SELECT pause_move(max(job_id)) FROM tablespace_moves WHERE state = 'queued'},
	'that looks' => q{SELECT FROM tablespace_moves});
foreach my $what (sort keys %uses)
{
	like(told($node, "BEGIN; $uses{$what};\nPREPARE TRANSACTION '$what'", user => 'mallory'),
		qr/ERROR:  cannot PREPARE a transaction that has used extension "tablespace_advisor"/,
		"a transaction $what is not prepared");
}
like(told($node, q{BEGIN; SAVEPOINT s; SELECT wait_for_moves('{}'); ROLLBACK TO s;
	CREATE TABLE after_all (); PREPARE TRANSACTION 'after all'; COMMIT PREPARED 'after all'},
	user => 'mallory'), qr/^t?$/, 'a transaction without locks of the extension is prepared');
# what is queued would go on after the crash
$node->safe_psql('postgres', $uses{'that cancels'});
crash($node);
wait_until($node, q{NOT EXISTS (SELECT FROM tablespace_advisor.job WHERE state = 'running')
	AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'tablespace_advisor recovery')},
	'the launcher has recovered what it can');
like(told($node, q{CALL move_table_concurrently('twin', 'fast')}, user => 'alice'), qr/^\{\d+\}$/,
	'after a crash beside a prepared transaction a call goes on');
told($node, q{CALL move_table_concurrently('twin', 'slow')}, user => 'alice');
like(told($node, q{SET default_transaction_read_only = on; SELECT wait_for_moves('{1}')}),
	qr/^t$/, 'a read-only transaction can wait for moves');
is($node->safe_psql('postgres', q{
		SELECT string_agg(DISTINCT state, ' ') FROM tablespace_advisor.job
		WHERE heap = 'two'::regclass}), 'cancelled failed', 'the job is recovered after the read-only transaction');

$node->stop;
done_testing();
