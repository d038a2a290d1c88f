/*-------------------------------------------------------------------------
 *
 * locks.c
 *	  The locks of a live copy, and the sessions that wait for them.
 *
 * While blocks are copied, session-level locks are held, because the work is
 * done in many short transactions:
 *
 * - AccessShare on the table, whether it moves or one of its indexes, keeps
 *   DROP, TRUNCATE and rewrites away, and VACUUM from truncating it.  Reads and
 *   writes, VACUUM and ANALYZE go on.
 * - ShareUpdateExclusive on each index that moves keeps REINDEX, DROP INDEX
 *   CONCURRENTLY and a second move away.
 * - With a table, AccessShare on its TOAST table and ShareUpdateExclusive on
 *   the TOAST index, for the same reasons.
 *
 * A session that waits for one of these makes others wait behind it: for
 * AccessExclusive, everybody; for Share on an index (bt_index_parent_check),
 * all writers, because it has locked the table that way already.  So when we
 * see such a one, 50 times a second and before each attempt to cut over, we
 * yield: give all locks back and let it go first.  So we do to those that ask
 * for ShareUpdateExclusive on an index.  Some have that lock on the table
 * already (REINDEX CONCURRENTLY, DROP INDEX CONCURRENTLY, BRIN's
 * summarization) or have used the index (and now ALTER it, or comment on it),
 * and would keep us from AccessExclusive as long as we keep them from the
 * index, without the deadlock detector's noticing: it runs while they wait and
 * we do not.
 *
 * A session that rebuilds or drops an index concurrently ends its move that
 * way; it could be made to wait, but VACUUM of the table would wait behind it.
 *
 * Order.  The table comes first, as everywhere in the server.  Nothing is
 * waited for; if a lock cannot be had, all is given back and tried again
 * later, and the WAL is read meanwhile, which somebody's long lock would let
 * be removed.  A lock asked for in that way is refused, too, while somebody
 * waits for one that excludes it, so a queued session goes first.  Waiting for
 * an index with the table's lock in hand would be a deadlock with REINDEX
 * CONCURRENTLY, which holds the index and waits for those who hold the table.
 *
 * Rewrites.  Afterwards we look whether the relations still have the storage
 * that we were copying, and the table its TOAST table.  Mostly a rewrite makes
 * new storage, but not always: ALTER TABLE ... SET TABLESPACE and then TRUNCATE
 * in the same transaction truncates the indexes in place and builds them anew
 * in the same file.  The WAL tells of the truncation, as it does of VACUUM's,
 * and no file that was copied ever becomes shorter otherwise; either is a
 * reason to start with new storage.
 *
 * Ends.  The abort of a transaction releases session-level locks too
 * (ProcReleaseLocks), so the attempt to get AccessExclusive is made in a
 * subtransaction, whose abort does not.  Outside a transaction an error or an
 * exit releases nothing; the worker does so itself.
 *
 * Deadlocks.  A session that has used a relation and then asks for a lock on it
 * that ours is in the way of, as a migration does (ALTER TABLE; ALTER INDEX,
 * COMMENT ON INDEX), would get a deadlock at once if we waited for it with our
 * lock on the relation in hand: the server finds that without a timeout when it
 * queues the session (ProcSleep).  So the lock on the relation for which
 * AccessExclusive is asked and waited for, the table or the one index, is
 * released before, and the session passes us in the queue.
 *
 * The attempt waits for less than deadlock_timeout: somebody who
 * waits longer than that behind an autovacuum cancels it.  And because there
 * is a look just before, with nothing in between that takes long, a session
 * that waits for us began to wait later, so that our wait has ended before its
 * deadlock check runs.
 *
 * Waiters.  GetLockStatusData() copies the whole lock table and locks all of
 * it, so it is called only if a glance says that there may be somebody.  Our
 * lock on an index is in the main lock table, and conflicts with the modes
 * that we yield to and no others: LockHasWaiters() is exact.  It must not be
 * called for a lock that was taken by fast path, as the one on the table may
 * be.  There, LockWaiterCount() counts all requests in the main lock table,
 * granted or not. A request for AccessExclusive is one.  If there is none at
 * all, nobody waits. If there is any, the lock table is searched, but no more
 * than a fiftieth of the time is spent on searches.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "move/common/dumps.h"
#include "move/common/session.h"
#include "move/common/sleep.h"
#include "move/copy/copy.h"

#define REPORT_MS		1000	/* time between reports while waiting */
#define LOCK_RETRY_MS	50
#define GAP_PER_SEARCH	50		/* times as long as a search of all locks */
#define MAX_SEARCH_GAP_MS	200.0

/* The key of a session-level lock on a relation of this database. */
static LockRelId
lock_rel_id(Oid relid)
{
	LockRelId	id = {relid, MyDatabaseId};

	return id;
}

/*
 * Is this relation locked by the lock on the table?
 */
static bool
is_heap(const TsaCopy *copy, const TsaCopyRel *rel)
{
	return rel->relid == copy->heapid;
}

/*
 * Is it a table that moves?  If not, it is one index.
 */
static bool
moves_table(const TsaCopy *copy)
{
	return is_heap(copy, &copy->rels[0]);
}

/*
 * In a transaction, takes the locks of the copy for the transaction.  False if
 * one cannot be had now; copy->blocked_on says which.  Some relation may be
 * gone when this returns.
 */
bool
tsa_copy_try_lock(TsaCopy *copy)
{
	copy->blocked_by = InvalidTransactionId;
	copy->blocked_on = copy->heapid;
	if (!ConditionalLockRelationOid(copy->heapid, AccessShareLock))
		return false;
	for (int i = 0; i < copy->nrels; i++)
	{
		TsaCopyRel *rel = &copy->rels[i];

		if (!is_heap(copy, rel) &&
			!ConditionalLockRelationOid(rel->relid, rel->lockmode))
		{
			copy->blocked_on = rel->relid;
			return false;
		}
	}
	return true;
}

/*
 * Takes the session-level locks.  The caller, in a transaction, holds the same
 * locks for the transaction, so that this cannot wait.
 */
void
tsa_copy_lock(TsaCopy *copy)
{
	LockRelId	heap = lock_rel_id(copy->heapid);

	LockRelationIdForSession(&heap, AccessShareLock);
	for (int i = 0; i < copy->nrels; i++)
		if (!is_heap(copy, &copy->rels[i]))
		{
			LockRelId	id = lock_rel_id(copy->rels[i].relid);

			LockRelationIdForSession(&id, copy->rels[i].lockmode);
		}
	tsa_set_copy_locks(&copy->locks, TSA_LOCKS_ALL);
}

/*
 * Releases them.
 */
void
tsa_copy_unlock(TsaCopy *copy)
{
	LockRelId	heap = lock_rel_id(copy->heapid);
	bool		but_first = copy->locks == TSA_LOCKS_ALL_BUT_FIRST;

	for (int i = 0; i < copy->nrels; i++)
		if (!is_heap(copy, &copy->rels[i]) && !(i == 0 && but_first))
		{
			LockRelId	id = lock_rel_id(copy->rels[i].relid);

			UnlockRelationIdForSession(&id, copy->rels[i].lockmode);
		}
	if (!(but_first && moves_table(copy)))
		UnlockRelationIdForSession(&heap, AccessShareLock);
	tsa_set_copy_locks(&copy->locks, TSA_LOCKS_NONE);
}

/*
 * Releases the session's lock on the table or the one index that moves, for
 * which AccessExclusive is to be asked; see "Deadlocks".  The caller takes all
 * locks again if that fails, and looks whether the relation is the same
 * in any case.
 */
void
tsa_copy_release_first(TsaCopy *copy)
{
	LockRelId	first = lock_rel_id(copy->rels[0].relid);

	UnlockRelationIdForSession(&first, moves_table(copy) ?
							   AccessShareLock : copy->rels[0].lockmode);
	tsa_set_copy_locks(&copy->locks, TSA_LOCKS_ALL_BUT_FIRST);
}

/*
 * Are all relations, which the caller has locked, still there and in the
 * storage that is being copied?  Has the table still the TOAST table, or none,
 * that it had?
 */
bool
tsa_copy_is_same(TsaCopy *copy)
{
	for (int i = 0; i < copy->nrels; i++)
	{
		TsaCopyRel *rel = &copy->rels[i];
		Relation	relation;
		bool		same;

		if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(rel->relid)))
			return false;
		relation = relation_open(rel->relid, NoLock);
		same = RelFileLocatorEquals(tsa_rel_locator(relation), rel->source) &&
			(!is_heap(copy, rel) ||
			 relation->rd_rel->reltoastrelid == copy->toastid);
		relation_close(relation, NoLock);
		if (!same)
			return false;
	}
	return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(copy->heapid));
}

/*
 * The relation of ours, or the table, that this lock is on in our database; 0
 * if none.
 */
static Oid
which_of_ours(const TsaCopy *copy, const LOCKTAG *tag, bool *is_index)
{
	*is_index = false;
	if (tag->locktag_type != LOCKTAG_RELATION ||
		tag->locktag_field1 != MyDatabaseId)
		return InvalidOid;
	for (int i = 0; i < copy->nrels; i++)
		if (tag->locktag_field2 == copy->rels[i].relid)
		{
			*is_index = OidIsValid(copy->rels[i].heapid);
			return copy->rels[i].relid;
		}
	return tag->locktag_field2 == copy->heapid ? copy->heapid : InvalidOid;
}

/*
 * The facts that are known, without a search of the lock table, of sessions
 * that wait for us.
 */
typedef enum Waiters
{
	WAITERS_NONE,
	WAITERS_PERHAPS,
	WAITERS_SOME
} Waiters;

/*
 * Looks at the locks of the copy alone; see "Waiters" above.
 */
static Waiters
glance_at_waiters(const TsaCopy *copy)
{
	bool		perhaps = copy->locks != TSA_LOCKS_ALL;
	LOCKTAG		tag;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, copy->heapid);
	perhaps = perhaps || LockWaiterCount(&tag) > 0;
	for (int i = 0; i < copy->nrels; i++)
	{
		const TsaCopyRel *rel = &copy->rels[i];

		SET_LOCKTAG_RELATION(tag, MyDatabaseId, rel->relid);
		if (rel->lockmode < ShareUpdateExclusiveLock)
			perhaps = perhaps || LockWaiterCount(&tag) > 0;
		else if (copy->locks == TSA_LOCKS_ALL &&
				 LockHasWaiters(&tag, rel->lockmode, true))
			return WAITERS_SOME;
	}
	return perhaps ? WAITERS_PERHAPS : WAITERS_NONE;
}

/*
 * Searches the lock table for sessions that wait for us.
 */
static bool
search_waiters(const TsaCopy *copy)
{
	LockData   *locks = GetLockStatusData();
	bool		found = false;

	for (int i = 0; i < locks->nelements && !found; i++)
	{
		LockInstanceData *lock = &locks->locks[i];
		bool		is_index;

		if (lock->pid == MyProcPid || lock->waitLockMode == NoLock ||
			!OidIsValid(which_of_ours(copy, &lock->locktag, &is_index)))
			continue;
		if (is_index)
			found = lock->waitLockMode >= ShareUpdateExclusiveLock;
		else
			found = lock->waitLockMode == AccessExclusiveLock;
	}
	pfree(locks->locks);
	pfree(locks);
	return found;
}

/*
 * Does a session wait for us to which, and to those behind it, we should yield?
 */
bool
tsa_copy_has_waiters(const TsaCopy *copy)
{
	Waiters		waiters = glance_at_waiters(copy);

	return waiters == WAITERS_SOME ||
		(waiters == WAITERS_PERHAPS && search_waiters(copy));
}

/*
 * The same, for callers that ask again and again.  A search that would follow
 * another one too closely is left out.
 */
bool
tsa_copy_poll_waiters(TsaCopy *copy)
{
	Waiters		waiters = glance_at_waiters(copy);
	bool		found;

	if (waiters != WAITERS_PERHAPS ||
		tsa_ms_since(&copy->searched) < copy->search_gap_ms)
		return waiters == WAITERS_SOME;
	INSTR_TIME_SET_CURRENT(copy->searched);
	found = search_waiters(copy);
	copy->search_gap_ms = Min(MAX_SEARCH_GAP_MS,
							  GAP_PER_SEARCH * tsa_ms_since(&copy->searched));
	return found;
}

/*
 * Is nobody at work on the relations to lock exclusively, as far as can be
 * seen?
 */
bool
tsa_copy_is_free(const TsaCopy *copy)
{
	for (int i = 0; i < copy->nrels; i++)
	{
		LOCKTAG		tag;
		int			n;

		SET_LOCKTAG_RELATION(tag, MyDatabaseId, copy->rels[i].relid);
		pfree(GetLockConflicts(&tag, AccessExclusiveLock, &n));
		if (n > 0)
			return false;
	}
	return true;
}

/*
 * Adds a process to those who are in our way.
 */
static void
add_blocker(TsaCopy *copy, int pid)
{
	for (int i = 0; i < copy->nblockers; i++)
		if (copy->blockers[i] == pid)
			return;
	if (copy->nblockers < (int) lengthof(copy->blockers))
		copy->blockers[copy->nblockers++] = pid;
}

/*
 * Is this a lock on the object that could not be locked the last time?  If
 * that was a row of pg_class, it is the one on the ID of the transaction that
 * has changed it.
 */
static bool
is_in_our_way(const TsaCopy *copy, const LOCKTAG *tag)
{
	if (TransactionIdIsValid(copy->blocked_by))
		return tag->locktag_type == LOCKTAG_TRANSACTION &&
			tag->locktag_field1 == copy->blocked_by;
	return tag->locktag_type == LOCKTAG_RELATION &&
		tag->locktag_field1 == MyDatabaseId &&
		tag->locktag_field2 == copy->blocked_on;
}

/*
 * Puts the holders of locks on the object that could not be locked into
 * copy->blockers.  A prepared transaction appears as process 0, as in
 * pg_blocking_pids().  False if nobody does any more.
 */
bool
tsa_copy_find_blockers(TsaCopy *copy)
{
	LockData   *locks = GetLockStatusData();

	copy->nblockers = 0;
	for (int i = 0; i < locks->nelements; i++)
	{
		LockInstanceData *lock = &locks->locks[i];

		if (lock->holdMask != 0 && lock->pid != MyProcPid &&
			is_in_our_way(copy, &lock->locktag))
			add_blocker(copy, lock->leaderPid);
	}
	pfree(locks->locks);
	pfree(locks);
	return copy->nblockers > 0;
}

/*
 * Does a dump hold a lock on a relation to lock exclusively?  Then to queue
 * behind it would be futile, and could make the dump fail (dumps.c).  Puts it
 * into copy->blockers.
 */
bool
tsa_copy_is_dumped(TsaCopy *copy)
{
	int			pid = tsa_find_dump(copy->rels[0].relid);

	if (pid == 0 && copy->heapid != copy->rels[0].relid)
		pid = tsa_find_dump(copy->heapid);
	if (pid == 0)
		return false;
	INSTR_TIME_SET_CURRENT(copy->dumped);
	copy->blocked_on = copy->rels[0].relid;
	copy->blocked_by = InvalidTransactionId;
	copy->nblockers = 0;
	add_blocker(copy, pid);
	return true;
}

/*
 * Does the process hold ShareUpdateExclusive, or more, on the table whose index
 * moves?
 */
static bool
holds_table(const TsaCopy *copy, const LockData *locks, int pid)
{
	for (int i = 0; i < locks->nelements; i++)
	{
		const LockInstanceData *lock = &locks->locks[i];
		bool		is_index;

		if (lock->leaderPid == pid &&
			lock->holdMask >= LOCKBIT_ON(ShareUpdateExclusiveLock) &&
			which_of_ours(copy, &lock->locktag, &is_index) == copy->heapid)
			return true;
	}
	return false;
}

/*
 * Counts the turns of those who are in our way.  A VACUUM takes one for each
 * of its transactions, which are few.
 */
static void
count_turn(TsaCopy *copy, const LockInstanceData *holder)
{
	LocalTransactionId lxid = tsa_lock_lxid(holder);

	if (copy->holder_pid == holder->leaderPid && copy->holder_lxid == lxid)
		return;
	copy->holder_pid = holder->leaderPid;
	copy->holder_lxid = lxid;
	copy->turns++;
}

/*
 * Would a request for AccessExclusive be futile now?  It would if somebody
 * holds a lock that is not one of a query: VACUUM or CREATE INDEX CONCURRENTLY
 * take their time, a prepared transaction for ever.  To queue behind them would
 * stop everybody else for nothing.  On an index VACUUM has no more than a query
 * has, and gives itself away by its lock on the table.  Puts into
 * copy->blockers who they are.
 *
 * But where one follows the other, no look may ever find the gap between them.
 * So after many turns we do queue now and then, behind the present one and
 * before the next: some attempt falls on the end of a turn.
 */
bool
tsa_copy_is_blocked(TsaCopy *copy)
{
	LockData   *locks = GetLockStatusData();
	bool		counted = false;

	copy->nblockers = 0;
	copy->is_held_long = false;
	for (int i = 0; i < locks->nelements; i++)
	{
		LockInstanceData *lock = &locks->locks[i];
		bool		is_index;
		Oid			relid;

		if (lock->pid == MyProcPid || lock->holdMask == 0)
			continue;
		relid = which_of_ours(copy, &lock->locktag, &is_index);
		if (!OidIsValid(relid) || (relid == copy->heapid && !moves_table(copy)))
			continue;
		if (lock->pid != 0 &&
			lock->holdMask < LOCKBIT_ON(ShareUpdateExclusiveLock) &&
			(moves_table(copy) || !holds_table(copy, locks, lock->leaderPid)))
			continue;
		copy->blocked_on = relid;
		copy->is_held_long = true;
		if (!counted && lock->pid == lock->leaderPid)
		{
			count_turn(copy, lock);
			counted = true;
		}
		add_blocker(copy, lock->leaderPid);
	}
	pfree(locks->locks);
	pfree(locks);
	if (!copy->is_held_long)
		copy->turns = 0;
	return copy->is_held_long &&
		(copy->turns < TSA_MAX_TURNS ||
		 tsa_ms_since(&copy->queued) <
		 Min(copy->turns * TSA_MS_PER_TURN, TSA_MAX_QUEUE_MS));
}

/*
 * After a lock could not be had: names its holders, and waits a little.  The
 * WAL is followed meanwhile, or it might be removed before it is read.
 * Outside any transaction, with nothing locked.
 */
void
tsa_copy_wait_for_lock(TsaCopy *copy)
{
	const char *phase = copy->progress.phase;
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	if (copy->tail != NULL)
	{
		tsa_begin();
		(void) tsa_copy_follow(copy);
		CommitTransactionCommand();
	}

	if (tsa_ms_since(&copy->reported) >= REPORT_MS)
	{
		tsa_begin();
		tsa_copy_renew_limits(copy);
		CommitTransactionCommand();
		(void) tsa_copy_find_blockers(copy);
		tsa_copy_report(copy, "waiting for lock");
		copy->progress.phase = phase;
		copy->nblockers = 0;
	}
	tsa_sleep(LOCK_RETRY_MS);
	copy->progress.waited_ms += tsa_ms_since(&start);
}

/*
 * Yields to sessions that wait for us, and takes the locks again.  False if a
 * relation is gone or has other storage now, or the copy is suspended; nothing
 * is locked then.  Called outside any transaction.
 */
bool
tsa_copy_yield(TsaCopy *copy)
{
	bool		locked;
	bool		same = false;

	tsa_copy_unlock(copy);
	do
	{
		tsa_begin();
		locked = tsa_copy_try_lock(copy);
		if (locked)
		{
			same = tsa_copy_is_same(copy);
			if (same)
				tsa_copy_lock(copy);
		}
		CommitTransactionCommand();
		if (!locked && tsa_copy_suspends(copy))
			return false;
		if (!locked)
			tsa_copy_wait_for_lock(copy);
	} while (!locked);
	if (!same)
		tsa_set_copy_state(&copy->state, TSA_COPY_REWRITTEN);
	return same;
}
