# Copyright (c) 2026, The tablespace_advisor developers

# Bits of the visibility map that are cleared right after a cutover, before the old
# file is gone, reach the standby's new map: from 19 on, and from later minors of 17
# and 18, records of deletes name the map's block, where before only a flag said so.
# After a crash of the standby, too, which replays from its last restartpoint.

use TsaTest;

my $primary = start_node('primary',
	init => { allows_streaming => 1 },
	conf => "autovacuum = off\nwal_keep_size = 256MB\n");
$primary->safe_psql('postgres', q{
	CREATE EXTENSION IF NOT EXISTS pg_visibility;
	CREATE TABLE t (id int PRIMARY KEY, txt text, doc text);
	ALTER TABLE t ALTER doc SET STORAGE EXTERNAL;
	INSERT INTO t SELECT i, repeat(md5(i::text), 4), CASE WHEN i % 16 = 0 THEN repeat(md5(i::text), 100) END
	FROM generate_series(1, 8000) i;
	VACUUM (FREEZE) t});
my $standby = start_standby($primary);

sub compare
{
	my ($name) = @_;

	$primary->wait_for_catchup($standby, 'replay');
	my $map = visibility($primary, 't');
	like($map, qr/0/, "$name: bits are cleared");
	like($map, qr/2/, "$name: others are set");
	$primary->wait_for_catchup($standby, 'replay');
	is(visibility($standby, 't'), $map, "$name: the standby's map is the primary's");
	return;
}

stop_at($primary, 'copied');
my $job = start_table_move($primary, 't', 'fast', 'with_indexes => true');
wait_for_stop($primary, 'copied');
$primary->safe_psql('postgres', 'DELETE FROM t WHERE id BETWEEN 100 AND 110');
stop_at($primary, 'switched');
wait_for_stop($primary, 'switched');
$primary->safe_psql('postgres', q{
	CHECKPOINT;
	DELETE FROM t WHERE id BETWEEN 4000 AND 4010;
	UPDATE t SET txt = 'other' WHERE id = 6000});
compare('after the cutover');
$standby->safe_psql('postgres', 'CHECKPOINT');
$primary->safe_psql('postgres', 'DELETE FROM t WHERE id BETWEEN 7000 AND 7200');
$primary->wait_for_catchup($standby, 'replay');
$standby->stop('immediate');
$standby->start;
compare('after a crash of the standby');
release($primary);
is(wait_for_job($primary, $job), 'done', 'the move ends');
compare('in the end');
is(digest($standby, 't'), digest($primary, 't'), 'the same rows');

$standby->stop;
$primary->stop;
done_testing();
