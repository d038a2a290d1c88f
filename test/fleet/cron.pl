# Copyright (c) 2026, The tablespace_advisor developers

# pg_cron and pg_partman: what docs/fleets.md schedules, run by pg_cron, by a
# background worker and by libpq; on partitions that pg_partman makes.

use TsaTest;

my @recipes = recipes('fleets', 'pg_cron');

foreach my $way ('a connection', 'a background worker')
{
	my $node = start_node($way =~ s/\W/_/gr, conf => qq(
shared_preload_libraries = 'pg_cron,tablespace_advisor'
cron.use_background_workers = @{[ $way =~ /worker/ ? 'on' : 'off' ]}
timezone = 'UTC'
shared_buffers = 1MB
tablespace_advisor.sample_interval = 0
));
	$node->append_conf('postgresql.conf', "cron.host = '@{[ $node->host ]}'");
	$node->restart;				# jobs keep the host that is set when they are made
	$node->safe_psql('postgres', q{
		CREATE EXTENSION pg_cron;
		CREATE SCHEMA partman;
		CREATE EXTENSION pg_partman SCHEMA partman;
		CREATE TABLE events (at timestamptz NOT NULL, n int) PARTITION BY RANGE (at);
		CREATE INDEX ON events (n);
		SELECT partman.create_parent('public.events', 'at', p_type => 'native', p_interval => '1 month',
			p_premake => 2, p_start_partition => (current_date - 200)::text);
		INSERT INTO events SELECT current_date - g, g FROM generate_series(1, 190) g;
		UPDATE partman.part_config SET retention = '170 days', retention_keep_table = false});
	diag join ', ', $node->safe_psql('postgres', q{
		SELECT string_agg(extname || ' ' || extversion, ', ' ORDER BY extname) FROM pg_extension WHERE extname IN ('pg_cron', 'pg_partman')}),
	  $node->safe_psql('postgres', 'SELECT version()');
	my $old = $node->safe_psql('postgres', q{
		SELECT string_agg(partition::text, ' ' ORDER BY partition::text) FROM advise_partition_placement('events', 'slow', '90 days')
		WHERE action = 'move'});
	like($old, qr/^events_p\w+ events_p/, "$way: partitions to move: $old");
	like($node->safe_psql('postgres', q{
			SELECT string_agg(reason, ' ') FROM advise_partition_placement('events', 'slow', '90 days')}),
		qr/pg_partman drops it after/, "$way: what pg_partman drops is not among them");

	# a table that is read, and probes of a slow and a fast device
	$node->safe_psql('postgres', q{
		CREATE TABLE hot TABLESPACE slow AS SELECT n, repeat('x', 100) AS filler FROM generate_series(1, 100000) n;
		VACUUM ANALYZE hot});
	$node->safe_psql('postgres', two_devices());
	$node->safe_psql('postgres', $_)
	  foreach ('CALL sample_activity()', 'SELECT count(*) FROM hot', 'SELECT pg_stat_force_next_flush()',
		'CALL sample_activity()', 'UPDATE tablespace_advisor.relation_sample SET cached_reads = 0',
		'DELETE FROM tablespace_advisor.tablespace_io_sample');

	# as they stand, but for the time: pg_cron knows minutes and "when the server starts"
	run_recipe($node, 'postgres', $recipes[0], "$way: schedule");
	$node->safe_psql('postgres', q{
		SELECT cron.schedule('refused', '@reboot', 'SET work_mem = 1000; CALL apply_placement()');
		UPDATE cron.job SET schedule = '@reboot'});
	$node->restart;
	$node->poll_query_until('postgres', q{
		SELECT count(*) = 3 FROM cron.job_run_details WHERE status IN ('succeeded', 'failed')})
	  or die 'the jobs do not end';
	is($node->safe_psql('postgres', q{
			SELECT string_agg(j.jobname || ' ' || d.status, ', ' ORDER BY j.jobname)
			FROM cron.job_run_details d JOIN cron.job j USING (jobid)}),
		'partitions succeeded, placement succeeded, refused failed', "$way: the jobs have run, but for one of two statements");
	like($node->safe_psql('postgres', q{
			SELECT return_message FROM cron.job_run_details WHERE status = 'failed'}),
		qr/cannot run inside a transaction block|transaction block/i, "$way: which is refused as a transaction block");
	is($node->safe_psql('postgres', q{
			SELECT t.spcname FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.relname = 'hot'}),
		'fast', "$way: what is read has moved to the fast device");
	is($node->safe_psql('postgres', q{
			SELECT string_agg(c.relname, ' ' ORDER BY c.relname) FROM pg_class c JOIN pg_tablespace t ON t.oid = c.reltablespace
			WHERE t.spcname = 'slow' AND c.relkind = 'r' AND c.relname ~ '^events'}), $old, "$way: the old partitions have moved");
	$node->safe_psql('postgres', 'CALL partman.run_maintenance_proc()');
	is($node->safe_psql('postgres', q{SELECT count(*) > 0 FROM partman.show_partitions('public.events')}), 't',
		"$way: pg_partman maintains them");
	is($node->safe_psql('postgres', 'SELECT count(*) > 150 FROM events'), 't', "$way: the rows are there");
	check_orphans($node, $way);
	$node->stop;
}
done_testing();
