/*-------------------------------------------------------------------------
 *
 * copy_locks.c
 *	  The locks of a live copy, and who waits for them.
 *
 * While blocks are copied, session-level locks are held, because the work is
 * done in many short transactions:
 *
 * - ShareUpdateExclusive on the index keeps REINDEX, DROP INDEX CONCURRENTLY
 *   and a second move away.  Reads and writes, VACUUM and ANALYZE go on.
 * - AccessShare on its table keeps DROP, TRUNCATE and rewrites away.
 *
 * Whoever waits for AccessExclusive on either makes everybody else wait
 * behind him, so as soon as we see such a one (5 times a second) we let go of
 * both locks, queue behind him, and look afterwards whether the relation
 * still has the storage that we were copying.  If so, nothing is lost: the
 * tail has not missed a record, and all rewrites make new storage.
 *
 * A transaction's abort releases session-level locks too (ProcReleaseLocks),
 * so after an error nothing remains to be released; and so the attempt to get
 * AccessExclusive is made in a subtransaction, whose abort does not.
 *
 * The timeout of that attempt stays below deadlock_timeout: somebody who
 * waits longer than that behind an autovacuum cancels it, and the deadlock
 * detector might choose a client's transaction instead of us.
 *
 * Waiters are found by reading the lock table.  LockHasWaiters() would be
 * cheaper, but it does not tell the mode, and it must not be called for a lock
 * that was taken by fast path, as the one on the table may be.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/syscache.h"

#include "compat.h"
#include "move/copy.h"

static LockRelId
lock_rel_id(Oid relid)
{
	LockRelId	id = {relid, MyDatabaseId};

	return id;
}

/*
 * Takes the session-level locks.  The caller, in a transaction, holds the same
 * locks for the transaction, so that this cannot wait.
 */
void
tsa_copy_lock(TsaCopy *copy)
{
	LockRelId	heap = lock_rel_id(copy->heapid);
	LockRelId	index = lock_rel_id(copy->index.relid);

	LockRelationIdForSession(&heap, AccessShareLock);
	LockRelationIdForSession(&index, ShareUpdateExclusiveLock);
}

/*
 * Releases them.
 */
void
tsa_copy_unlock(TsaCopy *copy)
{
	LockRelId	heap = lock_rel_id(copy->heapid);
	LockRelId	index = lock_rel_id(copy->index.relid);

	UnlockRelationIdForSession(&index, ShareUpdateExclusiveLock);
	UnlockRelationIdForSession(&heap, AccessShareLock);
}

/*
 * Lets those pass who wait for AccessExclusive, and takes the locks again.
 * False if the relation is gone or has other storage now; nothing is locked
 * then.  Called outside any transaction.
 */
bool
tsa_copy_relock(TsaCopy *copy)
{
	bool		same = false;

	tsa_copy_unlock(copy);

	StartTransactionCommand();
	LockRelationOid(copy->heapid, AccessShareLock);
	LockRelationOid(copy->index.relid, ShareUpdateExclusiveLock);
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(copy->heapid)) &&
		SearchSysCacheExists1(RELOID, ObjectIdGetDatum(copy->index.relid)))
	{
		Relation	rel = index_open(copy->index.relid, NoLock);

		same = RelFileLocatorEquals(tsa_rel_locator(rel),
									copy->index.source);
		if (same)
			tsa_copy_lock(copy);
		index_close(rel, NoLock);
	}
	CommitTransactionCommand();
	return same;
}

/*
 * Is this lock one on the index or its table, in our database?
 */
static bool
is_ours(const TsaCopy *copy, const LOCKTAG *tag)
{
	return tag->locktag_type == LOCKTAG_RELATION &&
		tag->locktag_field1 == MyDatabaseId &&
		(tag->locktag_field2 == copy->heapid ||
		 tag->locktag_field2 == copy->index.relid);
}

/*
 * Does anybody wait for AccessExclusive on the index or its table?
 */
bool
tsa_copy_in_the_way(const TsaCopy *copy)
{
	LockData   *locks = GetLockStatusData();
	bool		found = false;

	for (int i = 0; i < locks->nelements && !found; i++)
	{
		LockInstanceData *lock = &locks->locks[i];

		found = lock->waitLockMode == AccessExclusiveLock &&
			lock->pid != MyProcPid && is_ours(copy, &lock->locktag);
	}
	pfree(locks->locks);
	pfree(locks);
	return found;
}

/*
 * Puts into copy->progress who holds locks on the index.  A prepared
 * transaction appears as process 0, as in pg_blocking_pids().
 */
void
tsa_copy_find_blockers(TsaCopy *copy)
{
	TsaJobProgress *progress = &copy->progress;
	LockData   *locks = GetLockStatusData();

	progress->nblockers = 0;
	for (int i = 0; i < locks->nelements; i++)
	{
		LockInstanceData *lock = &locks->locks[i];
		bool		known = false;

		if (lock->holdMask == 0 || lock->pid == MyProcPid ||
			!is_ours(copy, &lock->locktag) ||
			lock->locktag.locktag_field2 != copy->index.relid)
			continue;
		for (int j = 0; j < progress->nblockers; j++)
			known |= progress->blockers[j] == lock->leaderPid;
		if (!known && progress->nblockers < (int) lengthof(progress->blockers))
			progress->blockers[progress->nblockers++] = lock->leaderPid;
	}
	pfree(locks->locks);
	pfree(locks);
}

/*
 * Waits at most the job's lock timeout for AccessExclusive on the index.  The
 * journal's row is changed in the same subtransaction, before the lock is
 * asked for, so that it costs nothing in the window.  True if the lock is
 * held; it then belongs to the present transaction.
 */
bool
tsa_copy_lock_exclusively(TsaCopy *copy)
{
	MemoryContext oldcxt = CurrentMemoryContext;
	ResourceOwner oldowner = CurrentResourceOwner;
	int			bound = DeadlockTimeout - DeadlockTimeout / 10;
	int			wanted = copy->job->lock_timeout_ms;
	volatile bool locked = false;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		tsa_job_note_switched(copy->job->job_id,
							  tsa_locator_tablespace(copy->index.source),
							  tsa_locator_number(copy->index.source));
		LockTimeout = wanted > 0 ? Min(wanted, bound) : bound;
		LockRelationOid(copy->index.relid, AccessExclusiveLock);
		LockTimeout = 0;
		ReleaseCurrentSubTransaction();
		locked = true;
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		LockTimeout = 0;
		MemoryContextSwitchTo(oldcxt);
		edata = CopyErrorData();
		if (edata->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE &&
			edata->sqlerrcode != ERRCODE_T_R_DEADLOCK_DETECTED)
			PG_RE_THROW();
		FlushErrorState();
		FreeErrorData(edata);
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();

	MemoryContextSwitchTo(oldcxt);
	CurrentResourceOwner = oldowner;
	return locked;
}
