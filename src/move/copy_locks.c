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
 * Whoever waits for one of these makes others wait behind him: for
 * AccessExclusive, everybody; for Share on the index (bt_index_parent_check),
 * all writers, because he has locked the table that way already.  So when we
 * see such a one, 5 times a second and before each attempt to cut over, we let
 * go of both locks and queue behind him.  Only those are made to wait who ask
 * for ShareUpdateExclusive themselves.
 *
 * Rewrites.  Afterwards we look whether the relation still has the storage
 * that we were copying.  Mostly a rewrite makes new storage, but not always:
 * ALTER TABLE ... SET TABLESPACE and then TRUNCATE in the same transaction
 * truncates the indexes in place and builds them anew in the same file.  The
 * log tells of the truncation, and no file that was copied ever becomes
 * shorter otherwise; either is a reason to start with new storage.
 *
 * Ends.  The abort of a transaction releases session-level locks too
 * (ProcReleaseLocks), so the attempt to get AccessExclusive is made in a
 * subtransaction, whose abort does not.  Outside a transaction an error or an
 * exit releases nothing; the worker does so itself.
 *
 * Deadlocks.  The attempt waits for less than deadlock_timeout: somebody who
 * waits longer than that behind an autovacuum cancels it.  And because there
 * was a look just before, whoever waits for us in turn began to wait later, so
 * that our wait has ended before his deadlock check runs.
 *
 * Waiters are found by reading the lock table.  LockHasWaiters() would be
 * cheaper, but it does not tell the mode, and it must not be called for a lock
 * that was taken by fast path, as the one on the table may be.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/rel.h"
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
	copy->locked = true;
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
	copy->locked = false;
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
 * Does anybody wait for us whom, and others behind him, we should let pass?
 */
bool
tsa_copy_in_the_way(const TsaCopy *copy)
{
	LockData   *locks = GetLockStatusData();
	bool		found = false;

	for (int i = 0; i < locks->nelements && !found; i++)
	{
		LockInstanceData *lock = &locks->locks[i];

		if (lock->pid == MyProcPid || !is_ours(copy, &lock->locktag))
			continue;
		if (lock->locktag.locktag_field2 == copy->heapid)
			found = lock->waitLockMode == AccessExclusiveLock;
		else
			found = lock->waitLockMode >= ShareLock;
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
