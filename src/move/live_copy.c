/*-------------------------------------------------------------------------
 *
 * live_copy.c
 *	  Moves an index to another tablespace while it is in use: copies its
 *	  blocks, follows the write-ahead log for those that change meanwhile,
 *	  and swaps the storage when next to nothing is left to copy.
 *
 * Why it is right
 * ---------------
 * Every change to a page of a permanent relation that matters is logged with
 * a reference to the block, and one that is made through shared buffers is
 * inserted into the log while the buffer is exclusively locked.  Let B be the
 * insert position at some moment.
 *
 * - A record that ends at or before B: its change was in the page before
 *   anybody could lock the buffer after that moment.  A copy taken later under
 *   a share lock contains it.
 * - A record behind B will be seen by reading the log from B on, and its block
 *   is copied again.
 *
 * So the rule is: read the log up to B, *then* copy the blocks it named; go on
 * reading at B.  The first pass starts with B before its first block.  Blocks
 * at or behind copied_end, the end of what has been copied so far, need not be
 * remembered: they will be copied later than any record seen.
 *
 * In the cutover, with everybody locked out, the log is read to its end and
 * the rest is copied: the copy then differs from the original by nothing but
 * page LSNs and what is never logged: hint bits and LP_DEAD flags, vacuum
 * cycle IDs, BRIN's evacuation flag, cached pages in the SP-GiST metapage, the
 * free space map.  All of these a crash may lose at any time, so the copy is a
 * state that crash recovery could have produced.  LSNs only grow, which is all
 * that GiST's comparison of parent LSNs with NSNs asks for, as no scan spans
 * the cutover.
 *
 * Exceptions, and how they are met:
 *
 * - Writers that bypass shared buffers.  Index builds: the index has to be
 *   valid, ready and live, and when it is rebuilt, in new storage or in place,
 *   the copy starts over (see copy_locks.c).
 *   Hash indexes allocate groups of buckets by logging one page and then
 *   extending the file: blocks behind copied_end are copied by position, not
 *   by name, in every pass and in the window.
 * - Access methods that log in ways we do not know: only those in a list.
 * - Unlogged relations have no log to follow, temporary ones no shared
 *   buffers, catalogs may be mapped: refused.
 *
 * The passes: copy_passes.c and copy_blocks.c.  Locks: copy_locks.c.  The
 * exclusive window: cutover.c.  What is left of it after a crash, an error, a
 * cancel: copy_storage.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlogreader.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_proc.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "move/copy.h"
#include "move/live_copy.h"
#include "move/manners.h"
#include "move/plan.h"

#define MAX_ATTEMPTS	200
#define SMALL_COPY		INT64CONST(1048576) /* left to the checkpointer */
#define MAX_RESTARTS	3

/* tablespace_advisor.debug_stop_at */
static char *debug_stop_at = NULL;

/*
 * Registers the configuration parameter of the tests.
 */
void
tsa_live_copy_init(void)
{
	DefineCustomStringVariable("tablespace_advisor.debug_stop_at",
							   "Makes a live copy wait at a named point of its protocol.",
							   "For tests only. The copy goes on when the parameter is changed and the configuration is loaded again.",
							   &debug_stop_at, "",
							   PGC_SIGHUP, GUC_NOT_IN_SAMPLE,
							   NULL, NULL, NULL);
}

/*
 * Waits here for as long as the configuration names this point, and says so
 * in pg_stat_activity.  Whatever locks are held stay held.
 */
void
tsa_copy_stop_point(const char *name)
{
	if (debug_stop_at == NULL || strcmp(debug_stop_at, name) != 0)
		return;

	pgstat_report_activity(STATE_RUNNING,
						   psprintf("live copy stopped at: %s", name));
	while (strcmp(debug_stop_at, name) == 0)
	{
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 100, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
	}
	pgstat_report_activity(STATE_RUNNING, "live copy");
}

/*
 * Access methods of extensions that change an index that has been built by
 * generic WAL only, by the sources of bloom (contrib), pgvector 0.8 and RUM
 * 1.3.  The library is compared too: a name alone could be anybody's.
 */
static const struct
{
	const char *name;
	const char *library;
}			generic_wal_methods[] = {
	{"bloom", "$libdir/bloom"},
	{"hnsw", "$libdir/vector"},
	{"ivfflat", "$libdir/vector"},
	{"rum", "$libdir/rum"}
};

/*
 * Is the index's access method one of those?
 */
static bool
uses_generic_wal(Relation rel)
{
	const char *name = get_am_name(rel->rd_rel->relam);
	HeapTuple	tuple = SearchSysCache1(PROCOID,
										ObjectIdGetDatum(rel->rd_amhandler));
	bool		found = false;

	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		probin = SysCacheGetAttr(PROCOID, tuple,
											 Anum_pg_proc_probin, &isnull);
		const char *library = isnull ? "" : TextDatumGetCString(probin);

		for (int i = 0; i < (int) lengthof(generic_wal_methods); i++)
			found |= name != NULL &&
				strcmp(name, generic_wal_methods[i].name) == 0 &&
				strcmp(library, generic_wal_methods[i].library) == 0;
		ReleaseSysCache(tuple);
	}
	return found;
}

/*
 * May the hole in a page of this index be left out of its image?
 */
static bool
has_standard_pages(Relation rel)
{
	Oid			am = rel->rd_rel->relam;

	return am == BTREE_AM_OID || am == GIST_AM_OID || am == SPGIST_AM_OID;
}

/*
 * Does the log name every block that the index's access method changes?
 */
static bool
is_logged_by_block(Relation rel)
{
	Oid			am = rel->rd_rel->relam;

	return has_standard_pages(rel) || am == HASH_AM_OID ||
		am == GIN_AM_OID || am == BRIN_AM_OID || uses_generic_wal(rel);
}

/*
 * Why an index cannot be moved by live copy, or NULL.
 */
static const char *
obstacle_of_index(Relation rel)
{
	if (!rel->rd_index->indisvalid || !rel->rd_index->indisready ||
		!rel->rd_index->indislive)
		return "it is invalid or still being built";
	if (!is_logged_by_block(rel))
		return "it is not known how its access method writes the log";
	return NULL;
}

/*
 * The same for a table.  Its TOAST table, which moves along, need not have the
 * same access method.
 */
static const char *
obstacle_of_table(Relation rel)
{
	Oid			toastid = rel->rd_rel->reltoastrelid;
	bool		is_heap = rel->rd_tableam == GetHeapamTableAmRoutine();

	if (is_heap && OidIsValid(toastid))
	{
		Relation	toast = table_open(toastid, AccessShareLock);

		is_heap = toast->rd_tableam == GetHeapamTableAmRoutine();
		table_close(toast, AccessShareLock);
	}
	return is_heap ? NULL :
		"it is not known how its table access method writes the log";
}

/*
 * See live_copy.h.
 */
bool
tsa_live_copy_applies(Oid relid, const char **reason)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist any more", relid)));
	if (rel->rd_rel->relkind != RELKIND_INDEX &&
		rel->rd_rel->relkind != RELKIND_RELATION &&
		rel->rd_rel->relkind != RELKIND_MATVIEW)
		*reason = "it is neither a table nor an index";
	else if (IsCatalogRelation(rel) || RelationIsMapped(rel))
		*reason = "it belongs to a system catalog";
	else if (rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		*reason = "it is unlogged, so that there is no write-ahead log to follow";
	else if (rel->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		*reason = "it is temporary";
	else if (rel->rd_rel->relkind == RELKIND_INDEX)
		*reason = obstacle_of_index(rel);
	else
		*reason = obstacle_of_table(rel);
	relation_close(rel, AccessShareLock);
	return *reason == NULL;
}

/*
 * Checks and locks the index, makes its new storage.
 */
static void
prepare(TsaCopy *copy)
{
	Oid			relid = copy->index.relid;
	const char *reason;
	Relation	rel;

	StartTransactionCommand();
	copy->heapid = IndexGetRelation(relid, true);
	if (OidIsValid(copy->heapid))
		LockRelationOid(copy->heapid, AccessShareLock);
	LockRelationOid(relid, ShareUpdateExclusiveLock);
	if (!OidIsValid(copy->heapid) ||
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("index with OID %u does not exist any more", relid)));
	tsa_check_move_rights(copy->heapid, copy->job->target_tablespace);
	if (!tsa_live_copy_applies(relid, &reason))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot move index \"%s\" by live copy",
						get_rel_name(relid)),
				 errdetail("This is because %s.", reason)));

	rel = index_open(relid, NoLock);
	if (!CheckRelationTableSpaceMove(rel, copy->job->target_tablespace))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is already in tablespace \"%s\"",
						RelationGetRelationName(rel),
						get_tablespace_name(copy->job->target_tablespace))));
	copy->index.page_std = has_standard_pages(rel);
	copy->index.source = tsa_rel_locator(rel);
	copy->progress.bytes_total =
		(int64) RelationGetNumberOfBlocks(rel) * BLCKSZ;
	copy->checkpointer_syncs = copy->progress.bytes_total <= SMALL_COPY;
	index_close(rel, NoLock);

	tsa_copy_lock(copy);
	tsa_copy_create_storage(copy);
	CommitTransactionCommand();
	tsa_copy_stop_point("storage created");
}

/*
 * Gives up.
 */
static void
report_no_cutover(TsaCopy *copy)
{
	char	   *name;
	char	   *prepared;

	tsa_copy_report(copy, tsa_copy_waiting_phase(copy));
	StartTransactionCommand();
	name = get_rel_name(copy->index.relid);
	prepared = tsa_manners_prepared_blockers(copy->index.relid);
	if (copy->progress.nblockers > 0)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("could not lock index \"%s\" in %d attempts",
						name, copy->progress.attempts),
				 prepared ?
				 errdetail("It is locked by prepared transaction %s, which ends by COMMIT PREPARED or ROLLBACK PREPARED only.",
						   prepared) : 0,
				 errhint("The processes that held it are in the column \"blocked_by\" of the view \"tablespace_moves\". Use retry_move() when they are done.")));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("index \"%s\" changed faster than it could be copied, in %d attempts",
					name, copy->progress.attempts),
			 errhint("Use retry_move() at a quieter time, or method \"rebuild\".")));
}

/*
 * Copies and cuts over.  False if the relation was rewritten meanwhile.
 */
static bool
copy_and_cut_over(TsaCopy *copy)
{
	prepare(copy);
	copy->tail = tsa_wal_tail_open(copy->cxt);
	INSTR_TIME_SET_CURRENT(copy->started);
	copy->looked = copy->started;
	copy->progress.phase = "copying";
	if (!copy->checkpointer_syncs)
		tsa_copy_report(copy, "copying");

	if (!tsa_copy_passes(copy))
		return false;

	if (!copy->checkpointer_syncs)
		tsa_copy_report(copy, "syncing");
	if (!tsa_copy_look(copy))
		return false;
	tsa_copy_begin(copy);
	tsa_copy_fsm(copy);
	tsa_copy_sync(copy);
	tsa_copy_end(copy);
	tsa_copy_stop_point("synced");
	if (!tsa_copy_passes(copy))
		return false;

	for (;;)
	{
		switch (tsa_copy_cut_over(copy))
		{
			case TSA_CUTOVER_DONE:
				return true;
			case TSA_CUTOVER_REWRITTEN:
				return false;
			case TSA_CUTOVER_LATER:
				break;
		}
		if (copy->progress.attempts >= MAX_ATTEMPTS)
			report_no_cutover(copy);
		if (!tsa_copy_back_off(copy))
			return false;
	}
}

/*
 * Frees what a copy holds in this process, but for locks.  The tail has a file
 * descriptor that no transaction end would close; all the rest is memory below
 * the copy's context.
 */
static void
close_copy(TsaCopy *copy)
{
	if (copy->tail != NULL)
		tsa_wal_tail_close(copy->tail);
	MemoryContextDelete(copy->cxt);
}

/*
 * Makes a copy of the job's relation and cuts over to it.  False if the
 * relation was rewritten meanwhile.
 */
static bool
copy_once(const TsaJob *job)
{
	MemoryContext cxt = AllocSetContextCreate(TopMemoryContext,
											  "tablespace_advisor live copy",
											  ALLOCSET_DEFAULT_SIZES);
	TsaCopy    *copy = MemoryContextAllocZero(cxt, sizeof(TsaCopy));
	MemoryContext oldcxt;
	volatile bool done = false;

	copy->job = job;
	copy->cxt = cxt;
	copy->index.relid = job->relid;
	copy->pages = (char *)
		TYPEALIGN(TSA_IO_ALIGN, MemoryContextAlloc(cxt,
												   TSA_COPY_BATCH * BLCKSZ +
												   TSA_IO_ALIGN));
	oldcxt = MemoryContextSwitchTo(cxt);
	copy->strategy = GetAccessStrategy(BAS_BULKREAD);
	MemoryContextSwitchTo(oldcxt);

	PG_TRY();
	{
		done = copy_and_cut_over(copy);
	}
	PG_CATCH();
	{
		close_copy(copy);
		PG_RE_THROW();
	}
	PG_END_TRY();

	if (copy->locked)
		tsa_copy_unlock(copy);
	close_copy(copy);
	return done;
}

/*
 * Drops a copy of a relation that was rewritten meanwhile.
 */
static void
discard_copy(int64 job_id)
{
	TsaJob		job;

	StartTransactionCommand();
	if (tsa_job_load(job_id, &job))
		(void) tsa_live_copy_drop_leftovers(&job);
	CommitTransactionCommand();
}

/*
 * See live_copy.h.
 */
void
tsa_live_copy(const TsaJob *job)
{
	int			restarts = 0;

	while (!copy_once(job))
	{
		discard_copy(job->job_id);
		if (++restarts > MAX_RESTARTS)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("index with OID %u was rewritten again and again while it was being copied",
							job->relid)));
	}
	tsa_copy_remove_old_storage();
}
