/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Differences between the supported server versions (15 to 19).
 *
 * This is the only file that says PG_VERSION_NUM.  Wrappers have the
 * signature of the newest version where that is possible.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_COMPAT_H
#define TSA_COMPAT_H

#include "postgres.h"

#include "miscadmin.h"
#include "storage/proc.h"

#if PG_VERSION_NUM < 150000
#error "tablespace_advisor needs PostgreSQL 15 or later"
#endif

/* 18 lets a library have a name and a version. */
#include "fmgr.h"
#if PG_VERSION_NUM < 180000
#define TSA_MODULE_MAGIC PG_MODULE_MAGIC
#else
#define TSA_MODULE_MAGIC \
	PG_MODULE_MAGIC_EXT(.name = "tablespace_advisor", .version = TSA_VERSION)
#endif

/* 16 gave the number in a relation's file name a type of its own. */
#if PG_VERSION_NUM < 160000
typedef Oid RelFileNumber;
#define InvalidRelFileNumber	((RelFileNumber) InvalidOid)
#else
#include "common/relpath.h"
#endif

/* 16 has one function for all kinds of objects. */
#if PG_VERSION_NUM < 160000
#define tsa_owns_relation(relid, roleid) \
	pg_class_ownercheck(relid, roleid)
#define tsa_owns_extension(extension, roleid) \
	pg_extension_ownercheck(extension, roleid)
#else
#define tsa_owns_relation(relid, roleid) \
	object_ownercheck(RelationRelationId, relid, roleid)
#define tsa_owns_extension(extension, roleid) \
	object_ownercheck(ExtensionRelationId, extension, roleid)
#endif

/* 16 renamed RelFileNode, its fields and functions that return one. */
#if PG_VERSION_NUM < 160000
#include "catalog/catalog.h"
#include "storage/relfilenode.h"
#include "utils/rel.h"
#include "utils/relfilenodemap.h"

typedef RelFileNode RelFileLocator;
#define RelFileLocatorEquals(a, b)	RelFileNodeEquals(a, b)
#define GetNewRelFileNumber(spc, pg_class, persistence) \
	GetNewRelFileNode(spc, pg_class, persistence)
#define RelidByRelfilenumber(spc, number) RelidByRelfilenode(spc, number)

static inline RelFileLocator
tsa_rel_locator(Relation rel)
{
	return rel->rd_node;
}

static inline RelFileNumber
tsa_locator_number(RelFileLocator locator)
{
	return locator.relNode;
}

static inline Oid
tsa_locator_tablespace(RelFileLocator locator)
{
	return locator.spcNode;
}

#define tsa_truncated_locator(record) ((record)->rnode)
#define tsa_buffer_locator(buffer_tag) ((buffer_tag)->rnode)
#define tsa_buffer_fork(buffer_tag) ((buffer_tag)->forkNum)
#else
#include "storage/relfilelocator.h"
#include "utils/rel.h"
#include "utils/relfilenumbermap.h"
#include "varatt.h"

static inline RelFileLocator
tsa_rel_locator(Relation rel)
{
	return rel->rd_locator;
}

static inline RelFileNumber
tsa_locator_number(RelFileLocator locator)
{
	return locator.relNumber;
}

static inline Oid
tsa_locator_tablespace(RelFileLocator locator)
{
	return locator.spcOid;
}

#define tsa_truncated_locator(record) ((record)->rlocator)
#define tsa_buffer_locator(buffer_tag) BufTagGetRelFileLocator(buffer_tag)
#define tsa_buffer_fork(buffer_tag) BufTagGetForkNum(buffer_tag)
#endif

static inline RelFileLocator
tsa_make_locator(Oid tablespace, Oid database, RelFileNumber number)
{
	RelFileLocator locator = {tablespace, database, number};

	return locator;
}

/* 16 made a function of the macro that fills a buffer's tag. */
#include "storage/buf_internals.h"

static inline void
tsa_init_buffer_tag(BufferTag *tag, RelFileLocator locator, ForkNumber fork,
					BlockNumber block)
{
#if PG_VERSION_NUM < 160000
	INIT_BUFFERTAG(*tag, locator, fork, block);
#else
	InitBufferTag(tag, &locator, fork, block);
#endif
}

/*
 * Bytes by which catalogs grow with each partition of pgbench_accounts, as
 * measured with 1000 and 2000 of them; 18 has a row for each NOT NULL.
 */
#if PG_VERSION_NUM < 180000
#define TSA_PARTITION_CATALOG_BYTES INT64CONST(8300)
#else
#define TSA_PARTITION_CATALOG_BYTES INT64CONST(8500)
#endif

/* 16 exported the function that finds a configuration parameter. */
#include "utils/guc_tables.h"

static inline struct config_generic *
tsa_find_parameter(const char *name)
{
#if PG_VERSION_NUM < 160000
	struct config_generic **parameters = get_guc_variables();

	for (int i = 0; i < GetNumConfigOptions(); i++)
		if (strcmp(parameters[i]->name, name) == 0)
			return parameters[i];
	return NULL;
#else
	return find_option(name, false, true, ERROR);
#endif
}

/* 16 can read and write past the system's cache, for developers. */
#include "storage/fd.h"

static inline bool
tsa_io_is_direct(void)
{
#if PG_VERSION_NUM < 160000
	return false;
#else
	return (io_direct_flags & IO_DIRECT_DATA) != 0;
#endif
}

/* 19 has the fields of all types of parameters in one struct. */
#if PG_VERSION_NUM < 190000
#define tsa_bool_parameter(generic) ((struct config_bool *) (generic))
#else
#define tsa_bool_parameter(generic) (&(generic)->_bool)
#endif

/* 18 returns a relation's path by value. */
#include "common/relpath.h"

static inline void
tsa_relation_path(char *path, size_t size, RelFileLocator locator,
				  ForkNumber fork)
{
#if PG_VERSION_NUM < 180000
	char	   *whole = relpathperm(locator, fork);

	strlcpy(path, whole, size);
	pfree(whole);
#else
	strlcpy(path, relpathperm(locator, fork).str, size);
#endif
}

/*
 * 18 has the present size as argument; 16 renamed the function that drops
 * buffers.
 */
#include "storage/bufmgr.h"
#include "storage/smgr.h"

static inline void
tsa_smgr_truncate(SMgrRelation smgr, ForkNumber fork, BlockNumber old_nblocks,
				  BlockNumber nblocks)
{
#if PG_VERSION_NUM < 180000
	(void) old_nblocks;
	smgrtruncate(smgr, &fork, 1, &nblocks);
#else
	smgrtruncate(smgr, &fork, 1, &old_nblocks, &nblocks);
#endif
}

static inline void
tsa_drop_relation_buffers(SMgrRelation smgr, ForkNumber *forks, int nforks,
						  BlockNumber *from)
{
#if PG_VERSION_NUM < 160000
	DropRelFileNodeBuffers(smgr, forks, nforks, from);
#else
	DropRelationBuffers(smgr, forks, nforks, from);
#endif
}

/* Drops all buffers of a file, of all forks. */
static inline void
tsa_drop_all_buffers(SMgrRelation smgr)
{
	ForkNumber	forks[MAX_FORKNUM + 1];
	BlockNumber from[MAX_FORKNUM + 1] = {0};

	for (int i = 0; i <= MAX_FORKNUM; i++)
		forks[i] = (ForkNumber) i;
	tsa_drop_relation_buffers(smgr, forks, MAX_FORKNUM + 1, from);
}

#include "storage/sync.h"

static inline FileTag
tsa_file_tag(RelFileLocator locator, ForkNumber fork, uint32 segment)
{
	FileTag		tag;

	memset(&tag, 0, sizeof(tag));
	tag.handler = SYNC_HANDLER_MD;
	tag.forknum = fork;
#if PG_VERSION_NUM < 160000
	tag.rnode = locator;
#else
	tag.rlocator = locator;
#endif
	tag.segno = segment;
	return tag;
}

/* 16 introduced an alignment for I/O buffers. */
#ifdef PG_IO_ALIGN_SIZE
#define TSA_IO_ALIGN PG_IO_ALIGN_SIZE
#else
#define TSA_IO_ALIGN 4096
#endif

/* 16 replaced the privilege checks of each class of objects by one. */
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_proc_d.h"
#include "catalog/pg_tablespace_d.h"
#include "utils/acl.h"

static inline AclResult
tsa_tablespace_aclcheck(Oid tablespace, Oid role, AclMode mode)
{
#if PG_VERSION_NUM < 160000
	return pg_tablespace_aclcheck(tablespace, role, mode);
#else
	return object_aclcheck(TableSpaceRelationId, tablespace, role, mode);
#endif
}

static inline AclResult
tsa_schema_aclcheck(Oid schema, Oid role, AclMode mode)
{
#if PG_VERSION_NUM < 160000
	return pg_namespace_aclcheck(schema, role, mode);
#else
	return object_aclcheck(NamespaceRelationId, schema, role, mode);
#endif
}

static inline AclResult
tsa_function_aclcheck(Oid function, Oid role, AclMode mode)
{
#if PG_VERSION_NUM < 160000
	return pg_proc_aclcheck(function, role, mode);
#else
	return object_aclcheck(ProcedureRelationId, function, role, mode);
#endif
}

/* 17 numbers processes from 0 and renamed the invalid number. */
#if PG_VERSION_NUM < 170000
#include "storage/backendid.h"
#define INVALID_PROC_NUMBER		InvalidBackendId
#else
#include "storage/procnumber.h"
#endif

/* 17 names temporary files by the number of the process's PGPROC. */
#if PG_VERSION_NUM < 170000
#include "storage/sinvaladt.h"
#define tsa_proc_by_number(number) BackendIdGetProc(number)
#else
#include "storage/procarray.h"
#define tsa_proc_by_number(number) ProcNumberGetProc(number)
#endif

/* 16 renamed the function that returns the state of a session. */
#include "utils/backend_status.h"

#if PG_VERSION_NUM < 160000
#define tsa_backend_status(index) pgstat_fetch_stat_local_beentry(index)
#else
#define tsa_backend_status(index) pgstat_get_local_beentry_by_index(index)
#endif

/* 16 leaves some slots that it has invalidated their position in the WAL. */
#include "replication/slot.h"
#if PG_VERSION_NUM < 160000
#define tsa_slot_is_invalidated(slot) ((void) (slot), false)
#else
#define tsa_slot_is_invalidated(slot) \
	((slot)->data.invalidated != RS_INVAL_NONE)
#endif

/* 17 gave LockHeldByMe() a third argument. */
#if PG_VERSION_NUM < 170000
#define tsa_lock_held_by_me(tag, mode) LockHeldByMe(tag, mode)
#else
#define tsa_lock_held_by_me(tag, mode) LockHeldByMe(tag, mode, false)
#endif

/* 17 put the parts of a virtual transaction ID together. */
#include "storage/lock.h"

static inline LocalTransactionId
tsa_lock_lxid(const LockInstanceData *lock)
{
#if PG_VERSION_NUM < 170000
	return lock->lxid;
#else
	return lock->vxid.localTransactionId;
#endif
}

static inline int
tsa_lock_proc_number(const LockInstanceData *lock)
{
#if PG_VERSION_NUM < 170000
	return lock->backend;
#else
	return lock->vxid.procNumber;
#endif
}

#if PG_VERSION_NUM < 170000
#define tsa_proc_lxid(proc) ((proc)->lxid)
#else
#define tsa_proc_lxid(proc) ((proc)->vxid.lxid)
#endif

/* 18 gave ConditionalLockTuple() an argument for log_lock_failures. */
#if PG_VERSION_NUM < 180000
#define tsa_conditional_lock_tuple(rel, tid, mode) \
	ConditionalLockTuple(rel, tid, mode)
#else
#define tsa_conditional_lock_tuple(rel, tid, mode) \
	ConditionalLockTuple(rel, tid, mode, false)
#endif

/* 18 tells whether a deferrable primary key will do. */
#if PG_VERSION_NUM < 180000
#define tsa_primary_key_index(rel) RelationGetPrimaryKeyIndex(rel)
#else
#define tsa_primary_key_index(rel) RelationGetPrimaryKeyIndex(rel, false)
#endif

/* The state of a buffer is wider in 19. */
#if PG_VERSION_NUM < 190000
#define tsa_buffer_state(header) pg_atomic_read_u32(&(header)->state)
#else
#define tsa_buffer_state(header) pg_atomic_read_u64(&(header)->state)
#endif

/* 18 tells in which way a page is wrong. */
#include "storage/bufpage.h"

static inline bool
tsa_page_is_verified(Page page, BlockNumber block)
{
#if PG_VERSION_NUM < 180000
	return PageIsVerifiedExtended(page, block, 0);
#else
	bool		failed;

	return PageIsVerified(page, block, 0, &failed);
#endif
}

/* 19 has no other way to set a checksum than in place. */
#if PG_VERSION_NUM < 190000
#define tsa_page_set_checksum(page, block) PageSetChecksumInplace(page, block)
#else
#define tsa_page_set_checksum(page, block) PageSetChecksum(page, block)
#endif

/* 17 lost the argument "snapshot". */
#include "access/nbtree.h"
#if PG_VERSION_NUM < 170000
#define tsa_bt_get_endpoint(index) _bt_get_endpoint(index, 0, false, NULL)
#else
#define tsa_bt_get_endpoint(index) _bt_get_endpoint(index, 0, false)
#endif

/* 17 gave estimate_array_length() the argument "root". */
#if PG_VERSION_NUM < 170000
#define tsa_estimate_array_length(root, node) \
	((void) (root), (double) estimate_array_length(node))
#else
#define tsa_estimate_array_length(root, node) \
	estimate_array_length(root, node)
#endif

/* 19 has another hook where the planner has looked up a relation. */
#define TSA_HAVE_SIMPLE_REL_HOOK (PG_VERSION_NUM >= 190000)

/* 18 counts disabled nodes, before they cost more than anything else. */
#if PG_VERSION_NUM < 180000
#define tsa_path_is_disabled(path) ((void) (path), false)
#else
#define tsa_path_is_disabled(path) ((path)->disabled_nodes > 0)
#endif

/* 18 lets extensions add lines to EXPLAIN. */
#if PG_VERSION_NUM < 180000
#define TSA_HAVE_EXPLAIN_HOOKS 0
#else
#include "commands/explain.h"
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#define TSA_HAVE_EXPLAIN_HOOKS 1
#endif

/* 19 wants flags for a scan. */
#if PG_VERSION_NUM < 190000
#define tsa_beginscan(rel, snapshot) table_beginscan(rel, snapshot, 0, NULL)
#else
#define tsa_beginscan(rel, snapshot) table_beginscan(rel, snapshot, 0, NULL, 0)
#endif

/*
 * Reads blocks of a main fork that follow each other into buffers, which stay
 * pinned, and returns how many of the n there are: at least one.  From 17 on
 * many are read in one call, as far as one segment goes and this process may
 * pin buffers.  18 reads them in this process: its I/O workers would get the
 * blame for the reads, and counters would take them for somebody else.
 */
#include "storage/bufmgr.h"

static inline int
tsa_read_run(Relation rel, BufferAccessStrategy strategy, BlockNumber first,
			 int n, Buffer *buffers)
{
#if PG_VERSION_NUM < 170000
	(void) n;
	buffers[0] = ReadBufferExtended(rel, MAIN_FORKNUM, first, RBM_NORMAL,
									strategy);
	return 1;
#else
	ReadBuffersOperation operation = {0};
	BlockNumber left = (BlockNumber) RELSEG_SIZE -
	first % (BlockNumber) RELSEG_SIZE;
	uint32		pins = Min((uint32) n, Min(left, MAX_IO_COMBINE_LIMIT));
	int			flags = 0;
	int			more;

	LimitAdditionalPins(&pins);
	operation.rel = rel;
	operation.smgr = RelationGetSmgr(rel);
	operation.forknum = MAIN_FORKNUM;
	operation.strategy = strategy;
#if PG_VERSION_NUM >= 180000
	operation.persistence = rel->rd_rel->relpersistence;
	flags = READ_BUFFERS_SYNCHRONOUSLY;
#endif
	/* at the next call 18 wants pins beyond "more" back */
	for (uint32 i = 0; i < pins; i++)
		buffers[i] = InvalidBuffer;
	for (uint32 i = 0; i < pins; i += more)
	{
		more = (int) (pins - i);
		if (StartReadBuffers(&operation, buffers + i, first + i, &more, flags))
			WaitReadBuffers(&operation);
	}
	return (int) pins;
#endif
}

/*
 * Writes pages that follow each other, all of one segment: 17 does so in one
 * call.  The older ones ask for one sync of the segment all the same.
 *
 * The last write is the one that asks for the sync, here and in
 * tsa_smgr_extend_run(): a checkpoint that is at work may answer a request at
 * once and forget it, and later writes would never be synced.
 */
#include "storage/bufpage.h"
#include "storage/smgr.h"

static inline void
tsa_smgr_write_run(SMgrRelation smgr, ForkNumber fork, BlockNumber first,
				   Page *pages, int n, bool skip_fsync)
{
#if PG_VERSION_NUM < 170000
	for (int i = 0; i < n; i++)
		smgrwrite(smgr, fork, first + i, (char *) pages[i],
				  skip_fsync || i < n - 1);
#else
	smgrwritev(smgr, fork, first, (const void **) pages, n, skip_fsync);
#endif
}

/*
 * Writes pages behind the end of a fork.  Before 17 one by one.  From 17 on the
 * last page is written first, which makes the file as long as it will be (the
 * server allows that: the pages between read as zeros until they are written),
 * and then the others in one call.
 */
static inline void
tsa_smgr_extend_run(SMgrRelation smgr, ForkNumber fork, BlockNumber first,
					Page *pages, int n, bool skip_fsync)
{
#if PG_VERSION_NUM < 170000
	for (int i = 0; i < n; i++)
		smgrextend(smgr, fork, first + i, (char *) pages[i],
				   skip_fsync || i < n - 1);
#else
	smgrextend(smgr, fork, first + n - 1, pages[n - 1], skip_fsync || n > 1);
	if (n > 1)
		smgrwritev(smgr, fork, first, (const void **) pages, n - 1, skip_fsync);
#endif
}

/*
 * Reads pages that follow each other, all of one segment, to one place: 17 does
 * so in one call, of at most MAX_IO_COMBINE_LIMIT pages.
 */
static inline void
tsa_smgr_read_run(SMgrRelation smgr, ForkNumber fork, BlockNumber first,
				  char *pages, int n)
{
#if PG_VERSION_NUM < 170000
	for (int i = 0; i < n; i++)
		smgrread(smgr, fork, first + i, pages + (Size) i * BLCKSZ);
#else
	void	   *buffers[MAX_IO_COMBINE_LIMIT];

	for (int i = 0; i < n; i++)
		buffers[i] = pages + (Size) i * BLCKSZ;
	smgrreadv(smgr, fork, first, buffers, n);
#endif
}

/* 19 has workers that commands on their database may end. */
#if PG_VERSION_NUM < 190000
#define BGWORKER_INTERRUPTIBLE	0
#endif

/*
 * pgbench -i loads branches and tellers by COPY FREEZE since 17, row by row
 * before.
 */
#define TSA_PGBENCH_COPIES_SMALL_TABLES (PG_VERSION_NUM >= 170000)

/*
 * Most blocks that COPY adds to a relation at once, see RelationAddBlocks()
 * and LimitAdditionalPins().  Before 16 blocks were added one by one unless
 * others waited for the lock.  The constants are MAX_BUFFERS_TO_EXTEND_BY and
 * REFCOUNT_ARRAY_ENTRIES, which no header exports.
 */
static inline int
tsa_bulk_extend_limit(void)
{
#if PG_VERSION_NUM >= 160000
	int			pins = NBuffers / (MaxBackends + NUM_AUXILIARY_PROCS) - 8;

	return Max(1, Min(64, pins));
#else
	return 1;
#endif
}

#include "pgstat.h"

/* 16 renamed the counts of what autovacuum did. */
#if PG_VERSION_NUM < 160000
#define tsa_autovacuums(entry)		((entry)->autovac_vacuum_count)
#define tsa_autoanalyzes(entry)		((entry)->autovac_analyze_count)
#else
#define tsa_autovacuums(entry)		((entry)->autovacuum_count)
#define tsa_autoanalyzes(entry)		((entry)->autoanalyze_count)
#endif

/* 16 renamed the counters of a relation; they are the session's own. */

static inline bool
tsa_relation_counts(const PgStat_TableStatus *status, uint64 *fetched,
					uint64 *hits)
{
	if (status == NULL)
		return false;
#if PG_VERSION_NUM < 160000
	*fetched = (uint64) status->t_counts.t_blocks_fetched;
	*hits = (uint64) status->t_counts.t_blocks_hit;
#else
	*fetched = (uint64) status->counts.blocks_fetched;
	*hits = (uint64) status->counts.blocks_hit;
#endif
	return true;
}

static inline Oid
tsa_relation_of_counts(const PgStat_TableStatus *status)
{
#if PG_VERSION_NUM < 160000
	return status->t_id;
#else
	return status->id;
#endif
}

/*
 * Time waited for reads, in nanoseconds.  Before 17 it includes reads of
 * temporary tables.
 */
#include "executor/instrument.h"
#include "portability/instr_time.h"

#define TSA_READ_TIME_HAS_LOCAL (PG_VERSION_NUM < 170000)

static inline uint64
tsa_instr_ns(instr_time time)
{
#if PG_VERSION_NUM < 160000
	return (uint64) time.tv_sec * 1000000000 + (uint64) time.tv_nsec;
#else
	return (uint64) INSTR_TIME_GET_NANOSEC(time);
#endif
}

static inline uint64
tsa_read_ns(const BufferUsage *usage)
{
#if PG_VERSION_NUM < 170000
	return tsa_instr_ns(usage->blk_read_time);
#else
	return tsa_instr_ns(usage->shared_blk_read_time);
#endif
}

/*
 * A number that changes whenever this process reads blocks or waits for reads.
 * From 18 on it can wait for blocks that it counted before.
 */
static inline uint64
tsa_read_progress(void)
{
#if PG_VERSION_NUM < 180000
	return (uint64) pgBufferUsage.shared_blks_read;
#else
	return (uint64) pgBufferUsage.shared_blks_read +
		(uint64) pgBufferUsage.shared_blk_read_time.ticks;
#endif
}

/*
 * From 17 on a scan looks blocks up before it reads them.
 */
#define TSA_HAVE_READ_STREAMS (PG_VERSION_NUM >= 170000)

/* 19 has an instrumentation of its own for nodes. */
#include "nodes/execnodes.h"

static inline void
tsa_count_buffers_of_node(PlanState *node)
{
#if PG_VERSION_NUM < 190000
	node->instrument = InstrAlloc(1, INSTRUMENT_BUFFERS, false);
#else
	node->instrument = InstrAllocNode(INSTRUMENT_BUFFERS, false);
#endif
}

/* The counters of a node, or NULL if it does not count buffers. */
static inline const BufferUsage *
tsa_buffers_of_node(const PlanState *node)
{
#if PG_VERSION_NUM < 190000
	if (node->instrument == NULL || !node->instrument->need_bufusage)
		return NULL;
	return &node->instrument->bufusage;
#else
	if (node->instrument == NULL || !node->instrument->instr.need_bufusage)
		return NULL;
	return &node->instrument->instr.bufusage;
#endif
}

/* 18 took an argument from ExecutorRun(); 19 gave one to the planner. */
#if PG_VERSION_NUM < 180000
#define TSA_RUN_PARAMETERS \
	QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once
#define TSA_RUN_ARGUMENTS query, direction, count, execute_once
#else
#define TSA_RUN_PARAMETERS \
	QueryDesc *query, ScanDirection direction, uint64 count
#define TSA_RUN_ARGUMENTS query, direction, count
#endif

#if PG_VERSION_NUM < 190000
#define TSA_PLANNER_PARAMETERS \
	Query *parse, const char *text, int options, ParamListInfo params
#define TSA_PLANNER_ARGUMENTS parse, text, options, params
#else
#define TSA_PLANNER_PARAMETERS \
	Query *parse, const char *text, int options, ParamListInfo params, \
	ExplainState *es
#define TSA_PLANNER_ARGUMENTS parse, text, options, params, es
#endif

/* 19 replaced CLUSTER by REPACK, which includes it. */
#if PG_VERSION_NUM < 190000
#define TSA_REPACK_STATEMENT T_ClusterStmt
#else
#define TSA_REPACK_STATEMENT T_RepackStmt
#endif

/* The planner of 19 leaves the metapage of a B-tree out (numNonLeafPages). */
#if PG_VERSION_NUM < 190000
#define TSA_META_PAGES_LEFT_OUT	0
#else
#define TSA_META_PAGES_LEFT_OUT	1
#endif

/* 19 made an enum of the numbers of system caches. */
#if PG_VERSION_NUM < 190000
#define TSA_SYSCACHE_ID int
#else
#define TSA_SYSCACHE_ID SysCacheIdentifier
#endif

#endif							/* TSA_COMPAT_H */
