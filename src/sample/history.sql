/* Copyright (c) 2026, The tablespace_advisor developers */

/*
 * src/sample/history.sql
 *
 * The rows of samples.  Counters of the whole database are kept as they were,
 * and are subtracted when they are read; of relations, of which there may be a
 * hundred thousand, one row each holds the counters of the last sample, and
 * each sample adds rows for changes, as differences.  Differences can be added
 * up, and so old samples become hours and days.  Columns that are zero are
 * NULL, which takes no room.
 *
 * None of this is marked for pg_dump: in another database the OIDs are others.
 */

COMMENT ON TABLE tablespace_advisor.sample IS
	'one row per sample of this database''s activity';
COMMENT ON SEQUENCE tablespace_advisor.sample_sample_id_seq IS
	'numbers of samples';
COMMENT ON COLUMN tablespace_advisor.sample.started_at IS
	'when the sample before was taken: the differences in relation_sample are those since then; NULL in the first';
COMMENT ON COLUMN tablespace_advisor.sample.covers IS
	'sample: one sample; hour, day: the samples of an hour or day, added up';
COMMENT ON COLUMN tablespace_advisor.sample.was_reset IS
	'counters were reset, or lost in a crash, since the sample before';
COMMENT ON COLUMN tablespace_advisor.sample.stats_reset IS
	'pg_stat_database.stats_reset at that time';
COMMENT ON COLUMN tablespace_advisor.sample.io_timed IS
	'track_io_timing was on';
COMMENT ON COLUMN tablespace_advisor.sample.blocks_read IS
	'counter of this database: blocks read past shared buffers';
COMMENT ON COLUMN tablespace_advisor.sample.blocks_hit IS
	'counter of this database: blocks found in shared buffers';
COMMENT ON COLUMN tablespace_advisor.sample.read_ms IS
	'counter of this database: milliseconds spent reading data files';
COMMENT ON COLUMN tablespace_advisor.sample.write_ms IS
	'counter of this database: milliseconds spent writing data files';
COMMENT ON COLUMN tablespace_advisor.sample.statements IS
	'pg_stat_statements: calls in this database; NULL without that extension';
COMMENT ON COLUMN tablespace_advisor.sample.statements_ms IS
	'pg_stat_statements: milliseconds of execution in this database';
COMMENT ON COLUMN tablespace_advisor.sample.snapshots IS
	'looks at pg_stat_activity';
COMMENT ON COLUMN tablespace_advisor.sample.reading_snapshots IS
	'looks in which any session of the server waited for a data file read';
COMMENT ON COLUMN tablespace_advisor.sample.reading_sessions IS
	'sessions of the server that waited for a data file read, added up over the looks';
COMMENT ON COLUMN tablespace_advisor.sample.waits IS
	'active sessions of this database by wait class and event, added up over the looks; CPU: no wait';

COMMENT ON COLUMN tablespace_advisor.sample.waits_since IS
	'when the counters of measured waits began that this sample has read; NULL: there were none';
COMMENT ON COLUMN tablespace_advisor.sample.waits_measured_s IS
	'seconds since the sample before in which waits for reads were measured; NULL: they were not';

COMMENT ON TABLE tablespace_advisor.relation_sample IS
	'the activity of a relation between a sample and the one before it; relations without changes of counters and size have no row, and NULL means zero. reads, hits: blocks read past shared buffers and found in them; scans: scans begun; tuples_read: rows or index entries read by them; inserted, updated, hot_updated (HOT ones among them), deleted: row versions; cached_reads: reads times the share of its blocks outside of shared buffers that the system''s cache had, on average of this sample and the one before, NULL: not known; maintenance_reads: the reads of VACUUM and ANALYZE among them, estimated, NULL: none ran; size_bytes: of all forks, at the end';

COMMENT ON TABLE tablespace_advisor.tablespace_sample IS
	'per sample and tablespace: bytes of this database''s relations, and bytes free in the file system (NULL: not known)';

COMMENT ON TABLE tablespace_advisor.sampled_relation IS
	'size and counters (see relation_sample) of every relation in the last sample; filenode_since: since when it has this file, counted_since: since when it is counted, NULL: not known; system_cached: share of its blocks outside of shared buffers that the system''s cache had then, NULL: not known, or not read since the sample before; vacuums, analyzes: how often its table was vacuumed and analyzed, NULL: not known';

COMMENT ON TABLE tablespace_advisor.tablespace_io_sample IS
	'the requests to the device under a tablespace for everybody in the seconds up to measured_at, as the kernel counts it: requests as the device got them, bytes, milliseconds that they took, added up over requests; busy_ms: with a request in flight; queue_ms: milliseconds of all requests. Rolled up, seconds are those that were measured';

COMMENT ON TABLE tablespace_advisor.sampled_device IS
	'counters of the device under each tablespace at the last sample, see tablespace_io_sample; device: its name, the number the kernel gave it, the boot of the machine: counters of different ones are not subtracted';

COMMENT ON TABLE tablespace_advisor.relation_wait_sample IS
	'measured reads of a relation since the sample before, by class of readers and kind of access (see wait_relations()); relations that nobody read or waited for have no row. calls: executions, hits, reads: blocks found in shared buffers and read past them, waited_ms: milliseconds that sessions waited for the reads; read_histogram: counts of reads of one block by their time, see wait_relations(), NULL for less than a ten thousandth of the waits; relation 0: not known, and those that are neither among the 500 rows with the longest waits nor the 500 with the most reads';
COMMENT ON TABLE tablespace_advisor.statement_wait_sample IS
	'the same of the fifty statements, as clients sent them, that waited most since the sample before. access all: the whole statement, total_ms its execution in milliseconds; else the part of a relation and kind of access, at most twenty and a rest of relation 0';
COMMENT ON TABLE tablespace_advisor.sampled_wait IS
	'counters of relation_wait_sample in the last sample; since: when the row began to count';
COMMENT ON TABLE tablespace_advisor.sampled_statement_wait IS
	'counters of statement_wait_sample in the last sample, of all statements; since: when the row began to count';
COMMENT ON TABLE tablespace_advisor.executed_partition IS
	'partitions that a measured execution has read, by themselves or their indexes, and when a sample saw it last; where waits are not measured no rows are added';
COMMENT ON TABLE tablespace_advisor.wait_total IS
	'reads of this database and milliseconds waited for them, as all samples ever taken have counted them, by class of readers and kind of access';

GRANT SELECT ON tablespace_advisor.sample, tablespace_advisor.relation_sample,
	tablespace_advisor.tablespace_sample, tablespace_advisor.sampled_relation,
	tablespace_advisor.tablespace_io_sample, tablespace_advisor.sampled_device,
	tablespace_advisor.executed_partition
	TO pg_monitor;
