/*-------------------------------------------------------------------------
 *
 * cutover.c
 *	  The moment in which a relation changes its storage.
 *
 * Before the lock: those who wait for us pass; while a VACUUM is at work on the
 * table, or a prepared transaction has a lock, nothing is tried, unless one
 * VACUUM follows the other (see tsa_copy_is_blocked()).  Then what is left is
 * copied once more; the journal's row is locked (that assigns the transaction
 * ID); the WAL is flushed and read, so that under the lock only what others
 * wrote since has to be flushed to be read: nothing, if they wrote nothing, as
 * our locks' records are passed over.  A flush may take long, so what others
 * could wait for is locked after it, and then there is another look for those
 * who wait for us (see "Deadlocks" in locks.c).  Then AccessExclusive on
 * the index; or on the table, and then on its TOAST table, the TOAST index and
 * the indexes that move along.  With the table's lock in hand nothing is waited
 * for: what has the others locked all the same (VACUUM of the TOAST table,
 * bt_index_check) may take long, and everybody would be waiting for it behind
 * us.  In the window, with the locks held:
 *
 *	 1. read the WAL to its end: nobody can change the relations any more, so
 *		there is no more to come;
 *	 2. log the blocks it named and those the files grew by, but not for long;
 *	 3. name the old storage in the journal, write what step 2 has logged, and
 *		point pg_class to the new storage, of all relations in one transaction;
 *	 4. commit, which releases the locks.
 *
 * All of this is one transaction, which enter_window() begins and commits.
 * Locks and steps 1 and 2 are in a subtransaction of it.  If there is too much
 * WAL to read or too much left to copy (others were busy while we waited), if
 * copying takes too long (blocks have to be read from a slow device), or a file
 * was truncated, it is rolled back, which gives the locks back at once and
 * keeps those of the session (but for the one on the table or the one index,
 * which had been released, see locks.c, and is taken again).  So the window is
 * bounded, in blocks and in time, but for one read of a batch.
 *
 * Rights are looked at again with the rows of pg_class locked, when nobody can
 * change an owner any more.
 *
 * pg_class.  GRANT changes rows of pg_class without a lock on the relation, and
 * whoever updates such a row waits for the end of that transaction.  So the
 * rows are locked first, without waiting, before AccessExclusive is asked for;
 * who has one is in our way like one who has the table.  A GRANT that comes
 * later waits for us.  So would VACUUM at its end, which changes its row in
 * place: behind one the rows are locked last.
 *
 * VACUUM, ANALYZE and CREATE INDEX change rows of pg_class in place.
 * They do so with a lock on that relation that AccessExclusive excludes, until
 * their transaction ends, so no such change is lost with the old row version.
 *
 * The commit does not wait for its flush.  That is safe because nothing that
 * the old state needs is destroyed before it is flushed: the old files, all of
 * them, are removed by a later transaction (see storage.c).  Should the
 * server crash in between, then either the record reached the disk and recovery
 * brings the new storage up to date from the WAL, or it did not, and neither
 * did any record after it: the relations are where they were, the journal
 * (whose update went the same way) names the copies, and the cleaner drops
 * them.  The usual rules of asynchronous commit cover what others saw
 * meanwhile.
 *
 * Where the data is at commit: each write is registered with the checkpointer
 * and its image is in the WAL (see blocks.c).
 *
 * A standby replays the images, the catalog change and, as for any ALTER, the
 * AccessExclusive locks; queries there on the table (or its index) wait or are
 * cancelled as max_standby_streaming_delay says.
 *
 * RelationAssumeNewRelfilelocator() is not called: it is for storage that was
 * made by the same transaction, whose changes may go unlogged under wal_level
 * minimal.  Ours was made, and committed, long before.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/subtrans.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "commands/tablecmds.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "compat.h"
#include "move/common/relation.h"
#include "move/common/session.h"
#include "move/common/stop_point.h"
#include "move/copy/backoff.h"
#include "move/copy/copy.h"

/*
 * WAL that may be read in the window, for each block that may be copied: what
 * has a block changed may be an image of it.
 */
#define MAX_WAL_PER_BLOCK ((uint64) 2 * BLCKSZ)

/*
 * Attempts do not queue for the lock for so long in the beginning, and for so
 * long after a dump was seen.
 */
#define PATIENCE_MS		2000
#define DUMPED_MS		1000

/* So many times as often if finish_by is near. */
#define PRESSED			10

/* How long copying may take in the window, and after many attempts. */
#define WINDOW_MS		20
#define LONG_WINDOW_MS	100

/* How an attempt gets its lock. */
typedef struct Attempt
{
	bool		behind_others;	/* who hold theirs for long, as VACUUM does */
	bool		queues;			/* for the lock, or takes it if it is free */
} Attempt;

/* What an attempt to enter the exclusive window has come to. */
typedef enum Window
{
	WINDOW_READY,				/* all is locked and copied */
	WINDOW_NOT_LOCKED,			/* copy->blocked_on could not be locked */
	WINDOW_FREED,				/* the same, but nobody holds it any more */
	WINDOW_WAITED_FOR,			/* others wait for us: they go first */
	WINDOW_TOO_MUCH				/* too much is left, or all is to be redone */
} Window;

/*
 * The transaction, by whose ID it is found in the lock table, that has changed
 * a row: a subtransaction has a lock on its own ID until it ends only.  A row
 * that several have locked has a number that is no transaction's, of which
 * pg_subtrans may know nothing.
 */
static TransactionId
top_transaction(TransactionId xid)
{
	return TransactionIdPrecedes(xid, ReadNextTransactionId()) &&
		TransactionIdIsInProgress(xid) &&
		TransactionIdFollowsOrEquals(xid, TransactionXmin) ?
		SubTransGetTopmostTransaction(xid) : xid;
}

/*
 * Locks the relations' rows of pg_class without waiting: the tuple lock first,
 * which whoever changes such a row takes too, then the row itself.  Tells the
 * tail of the records that this writes.  False if one cannot be had: the caller
 * rolls back then.
 */
bool
tsa_copy_try_rows(TsaCopy *copy)
{
	Relation	pg_class = table_open(RelationRelationId, RowExclusiveLock);
	bool		locked = true;

	copy->blocked_by = InvalidTransactionId;
	for (int i = 0; i < copy->nrels && locked; i++)
	{
		Oid			relid = copy->rels[i].relid;
		HeapTuple	tuple = SearchSysCacheCopy1(RELOID,
												ObjectIdGetDatum(relid));
		TM_FailureData failure;
		Buffer		buffer;

		if (!HeapTupleIsValid(tuple))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg_internal("cache lookup failed for relation %u",
									 relid)));
		copy->blocked_on = relid;
		copy->rels[i].row = tuple->t_self;
		locked = tsa_conditional_lock_tuple(pg_class, &tuple->t_self,
											ExclusiveLock);
		if (locked)
		{
			locked = heap_lock_tuple(pg_class, tuple,
									 GetCurrentCommandId(false),
									 LockTupleNoKeyExclusive, LockWaitSkip,
									 false, &buffer, &failure) == TM_Ok;
			ReleaseBuffer(buffer);
			if (!locked)
				copy->blocked_by = top_transaction(failure.xmax);
			else if (copy->tail != NULL)
				tsa_wal_tail_note_own(copy->tail, ProcLastRecPtr,
									  XactLastRecEnd);
		}
		heap_freetuple(tuple);
	}
	table_close(pg_class, RowExclusiveLock);
	return locked;
}

/*
 * Releases the tuple locks, which must not be held at commit.  Those on the
 * rows themselves end with the transaction.
 */
static void
release_tuple_locks(const TsaCopy *copy)
{
	Relation	pg_class = table_open(RelationRelationId, RowExclusiveLock);

	for (int i = 0; i < copy->nrels; i++)
	{
		ItemPointerData row = copy->rels[i].row;

		UnlockTuple(pg_class, &row, ExclusiveLock);
	}
	table_close(pg_class, RowExclusiveLock);
}

/*
 * Waits for AccessExclusive on a relation, but no longer than that.  False if
 * it could not be had: the caller has to roll the subtransaction back, since
 * the server reports that as an error.
 */
static bool
lock_within(Oid relid, int timeout_ms)
{
	MemoryContext oldcxt = CurrentMemoryContext;
	volatile bool locked = true;

	LockTimeout = timeout_ms;
	PG_TRY();
	{
		LockRelationOid(relid, AccessExclusiveLock);
	}
	PG_CATCH();
	{
		LockTimeout = 0;
		if (geterrcode() != ERRCODE_LOCK_NOT_AVAILABLE &&
			geterrcode() != ERRCODE_T_R_DEADLOCK_DETECTED)
			PG_RE_THROW();
		MemoryContextSwitchTo(oldcxt);
		FlushErrorState();
		locked = false;
	}
	PG_END_TRY();
	LockTimeout = 0;
	return locked;
}

/*
 * How long to queue for the exclusive lock: a quarter of the lock timeout at
 * first, then a half, then all of it.  All of it at once if finish_by is near,
 * or behind others that take their time.
 */
static int
queue_ms(const TsaCopy *copy, bool behind_others)
{
	int			bound = Max(1, DeadlockTimeout - DeadlockTimeout / 5);
	int			wanted = copy->lock_timeout_ms;
	int			most = wanted > 0 ? Min(wanted, bound) : bound;

	if (behind_others || copy->queue_tries > 2 ||
		tsa_throttle_is_pressed(copy->throttle))
		return most;
	return Max(1, most >> (3 - Max(copy->queue_tries, 1)));
}

/*
 * Gets AccessExclusive on the table or index, for which it may wait so long (0:
 * not at all), then takes what moves along if it is free.  Tells the tail of
 * the records that the locks write (for standbys).  False if copy->blocked_on
 * could not be locked.
 */
static bool
lock_exclusively(TsaCopy *copy, int wait_ms)
{
	for (int i = 0; i < copy->nrels; i++)
	{
		copy->blocked_on = copy->rels[i].relid;
		if (i == 0)
			INSTR_TIME_SET_CURRENT(copy->asked);
		if (i == 0 && wait_ms > 0)
		{
			if (!lock_within(copy->blocked_on, wait_ms))
				return false;
		}
		else if (!ConditionalLockRelationOid(copy->blocked_on,
											 AccessExclusiveLock))
			return false;
		tsa_wal_tail_note_own(copy->tail, ProcLastRecPtr, XactLastRecEnd);
	}
	return true;
}

/*
 * How many blocks may be left to copy in the window.
 */
static uint64
window_limit(const TsaCopy *copy)
{
	return copy->attempts <= TSA_STRICT_ATTEMPTS ?
		TSA_FEW_BLOCKS : TSA_MANY_BLOCKS;
}

/*
 * Before the lock: copies what is left, so that the window is for what changes
 * from now on.  False if that is too much, or the copy has to start over.
 */
static bool
narrow_gap(TsaCopy *copy)
{
	TsaFollowed followed;
	bool		narrow;

	tsa_copy_begin(copy);
	followed = tsa_copy_follow(copy);
	narrow = !tsa_copy_was_truncated(copy) && followed == TSA_FOLLOWED &&
		tsa_copy_left(copy) <= window_limit(copy);
	narrow = narrow && tsa_copy_last_blocks(copy, NULL, 0);
	if (narrow)
		tsa_copy_write_all(copy);
	tsa_copy_end(copy);
	return narrow;
}

/*
 * Under the lock, since a moment: reads the WAL to its end and copies what is
 * left.  False if that is too much for the window, or the copy has to start
 * over.  If true, the relations are open, for the given owner.
 */
static bool
copy_the_rest(TsaCopy *copy, ResourceOwner owner, const instr_time *locked)
{
	double		window_ms = copy->attempts <= TSA_STRICT_ATTEMPTS ?
	WINDOW_MS : LONG_WINDOW_MS;
	ResourceOwner present = CurrentResourceOwner;
	TsaFollowed followed;
	bool		ready;

	if (!tsa_copy_is_same(copy))
		tsa_set_copy_state(&copy->state, TSA_COPY_REWRITTEN);
	if (copy->state == TSA_COPY_REWRITTEN ||
		tsa_wal_tail_behind(copy->tail) >
		window_limit(copy) * MAX_WAL_PER_BLOCK)
		return false;
	followed = tsa_copy_follow(copy);
	CurrentResourceOwner = owner;
	tsa_copy_open(copy);
	ready = !tsa_copy_was_truncated(copy) && followed == TSA_FOLLOWED &&
		tsa_copy_left(copy) <= window_limit(copy) &&
		tsa_copy_last_blocks(copy, locked, window_ms);
	if (!ready)
		tsa_copy_close(copy);
	CurrentResourceOwner = present;
	return ready;
}

/*
 * Locks the rows of pg_class, and looks at the rights that they tell of.
 */
static bool
lock_rows(TsaCopy *copy)
{
	if (!tsa_copy_try_rows(copy))
		return false;
	tsa_check_move_rights(copy->heapid, copy->order->target_tablespace);
	return true;
}

/*
 * In a subtransaction: reads the WAL, gets the locks, reads the WAL to its end
 * (step 1) and copies what it named (step 2).  If all is ready, the relations
 * are open, for the given owner.  locked: since when the locks are held.
 */
static Window
lock_and_follow(TsaCopy *copy, ResourceOwner owner, const Attempt *attempt,
				instr_time *locked)
{
	bool		is_locked;

	copy->blocked_by = InvalidTransactionId;
	(void) tsa_copy_follow(copy);
	INSTR_TIME_SET_CURRENT(copy->asked);
	is_locked = attempt->behind_others || lock_rows(copy);
	if (is_locked && tsa_copy_has_waiters(copy))
	{
		INSTR_TIME_SET_CURRENT(*locked);
		return WINDOW_WAITED_FOR;
	}
	if (is_locked)
	{
		int			wait_ms = 0;

		if (attempt->queues)
		{
			wait_ms = queue_ms(copy, attempt->behind_others);
			tsa_copy_release_first(copy);
		}
		is_locked = lock_exclusively(copy, wait_ms) &&
			(!attempt->behind_others || lock_rows(copy));
	}
	INSTR_TIME_SET_CURRENT(*locked);
	if (!is_locked)
		return WINDOW_NOT_LOCKED;
	return copy_the_rest(copy, owner, locked) ? WINDOW_READY : WINDOW_TOO_MUCH;
}

/*
 * Notes what an attempt has come to, for the next one and for who looks on.
 * Returns it, with a look at who is in the way.
 */
static Window
note_attempt(TsaCopy *copy, const Attempt *attempt, Window window,
			 const instr_time *locked)
{
	double		waited = tsa_ms_between(&copy->asked, locked);

	INSTR_TIME_SET_CURRENT(copy->tried);
	if (attempt->queues && !attempt->behind_others)
		copy->queue_cost_ms = copy->held_up_ms;
	if (window == WINDOW_NOT_LOCKED)
	{
		copy->failed_tries++;
		if (!tsa_copy_find_blockers(copy))
			window = WINDOW_FREED;
	}
	else
	{
		copy->failed_tries = 0;
		copy->nblockers = 0;	/* nobody is in the way any more */
	}
	copy->progress.waited_ms += waited;
	copy->progress.lock_wait_ms = Max(copy->progress.lock_wait_ms, waited);
	return window;
}

/*
 * The cutover: one transaction, from its begin to its commit.  Returns
 * WINDOW_READY if the relations have their new storage.  Otherwise nothing has
 * changed, and locks that were taken here are released.
 *
 * The journal's row is locked at first, so that its update in the window waits
 * for nobody.  An update there would leave a dead version of the row with each
 * attempt that fails: see journal_room.c.
 */
static Window
enter_window(TsaCopy *copy, const Attempt *attempt)
{
	const TsaCopyCallbacks *callbacks = copy->callbacks;
	MemoryContext oldcxt;
	ResourceOwner oldowner;
	RelFileLocator *storage;
	Window		window;
	instr_time	locked;
	instr_time	released;

	tsa_begin();
	tsa_commit_lazily();
	oldcxt = CurrentMemoryContext;
	oldowner = CurrentResourceOwner;

	/* what may have to be given back: the locks, steps 1 and 2 */
	BeginInternalSubTransaction(NULL);
	callbacks->before_switch(callbacks->arg);
	window = lock_and_follow(copy, oldowner, attempt, &locked);
	if (window == WINDOW_READY)
		ReleaseCurrentSubTransaction();
	else
		RollbackAndReleaseCurrentSubTransaction();
	copy->held_up_ms = tsa_ms_since(&copy->asked);
	MemoryContextSwitchTo(oldcxt);
	CurrentResourceOwner = oldowner;
	window = note_attempt(copy, attempt, window, &locked);
	if (window != WINDOW_READY)
	{
		CommitTransactionCommand();
		return window;
	}

	/* step 3 */
	storage = tsa_copy_old_storage(copy);
	callbacks->switching(callbacks->arg, storage, copy->nrels);
	pfree(storage);
	tsa_copy_switch_storage(copy);
	CHECK_FOR_INTERRUPTS();		/* the postmaster may be dead */

	/* step 4 */
	tsa_copy_close(copy);
	CommitTransactionCommand();
	INSTR_TIME_SET_CURRENT(released);
	copy->progress.lock_ms = tsa_ms_between(&locked, &released);
	return WINDOW_READY;
}

/*
 * What is left of step 2 (all, if nothing was copied before), and step 3.  The
 * last pages are written here, when others' commits, or the WAL writer, have
 * mostly flushed their images while the journal was written.
 */
void
tsa_copy_switch_storage(TsaCopy *copy)
{
	if (!tsa_copy_last_blocks(copy, NULL, 0))
		elog(ERROR, "copy of relation with OID %u is not complete",
			 copy->order->relid);
	tsa_copy_write_all(copy);
	tsa_stop_point("window");
	for (int i = 0; i < copy->nforks; i++)
	{
		const TsaCopyFork *fork = &copy->forks[i];

		if (fork->written_end > 0)
			tsa_copy_check_length(fork->rel, fork->number, fork->written_end);
	}

	for (int i = 0; i < copy->nrels; i++)
	{
		TsaCopyRel *rel = &copy->rels[i];

		SetRelationTableSpace(rel->rel, copy->order->target_tablespace,
							  tsa_locator_number(rel->copy));
		InvokeObjectPostAlterHook(RelationRelationId, rel->relid, 0);
	}

	release_tuple_locks(copy);

	/* plans on the table were costed for the old tablespace */
	CacheInvalidateRelcacheByRelid(copy->heapid);
}

/*
 * The storage that the relations had, in the copy's memory context.
 */
RelFileLocator *
tsa_copy_old_storage(const TsaCopy *copy)
{
	Size		size = copy->nrels * sizeof(RelFileLocator);
	RelFileLocator *storage = MemoryContextAlloc(copy->cxt, size);

	for (int i = 0; i < copy->nrels; i++)
		storage[i] = copy->rels[i].source;
	return storage;
}

/*
 * Just after the commit.
 */
void
tsa_copy_after_switch(TsaCopy *copy)
{
	RelFileLocator *storage = tsa_copy_old_storage(copy);

	copy->switched_at = XactLastCommitEnd;
	tsa_set_copy_state(&copy->state, TSA_COPY_SWITCHED);
	copy->callbacks->switched(copy->callbacks->arg, storage, copy->nrels);
}

/*
 * Is it time for another attempt that does not queue?
 */
bool
tsa_copy_may_try(const TsaCopy *copy)
{
	return tsa_ms_since(&copy->tried) >= tsa_backoff_ms(copy->failed_tries, 0);
}

/*
 * Is it time to queue for the lock?  Not before attempts without that have
 * failed for a while, and then seldom; both are less if finish_by is near.
 */
bool
tsa_copy_may_queue(const TsaCopy *copy)
{
	bool		pressed = tsa_throttle_is_pressed(copy->throttle);
	double		gap = tsa_backoff_ms(copy->queue_tries, copy->queue_cost_ms);

	return (pressed || tsa_ms_since(&copy->first_tried) >= PATIENCE_MS) &&
		tsa_ms_since(&copy->queued) >= (pressed ? gap / PRESSED : gap) &&
		tsa_ms_since(&copy->dumped) >= DUMPED_MS;
}

/*
 * Says whether an attempt makes sense, and how it gets its lock; if not, why.
 * It does if the relation is free, or if it is time to queue for it: behind
 * others that take their time, or behind queries.
 */
static bool
plan_attempt(TsaCopy *copy, Attempt *attempt, TsaCutover *why_not)
{
	if (INSTR_TIME_IS_ZERO(copy->first_tried))
		INSTR_TIME_SET_CURRENT(copy->first_tried);
	copy->held_up_ms = -1;
	attempt->behind_others = attempt->queues = false;
	if (tsa_copy_may_try(copy) && tsa_copy_is_free(copy))
	{
		copy->nblockers = 0;
		return true;
	}
	if (tsa_copy_is_blocked(copy))
	{
		*why_not = TSA_CUTOVER_BLOCKED;
		return false;
	}
	*why_not = TSA_CUTOVER_BUSY;
	attempt->behind_others = copy->is_held_long;
	attempt->queues = attempt->behind_others || tsa_copy_may_queue(copy);
	if (!attempt->queues)
	{
		copy->blocked_on = copy->rels[0].relid;
		copy->blocked_by = InvalidTransactionId;
		(void) tsa_copy_find_blockers(copy);
		return false;
	}
	if (tsa_copy_is_dumped(copy))
		return false;
	INSTR_TIME_SET_CURRENT(copy->queued);
	if (!attempt->behind_others)
		copy->queue_tries++;
	return true;
}

/*
 * Makes one attempt.  If it has to be repeated later, copy->blockers names
 * those who held the lock.  Begins and ends outside any transaction, and with
 * session-level locks unless the relation was rewritten.
 */
TsaCutover
tsa_copy_cut_over(TsaCopy *copy)
{
	Attempt		attempt;
	TsaCutover	failed;
	Window		window;

	if (!tsa_copy_yield_and_pause(copy))
		return TSA_CUTOVER_REWRITTEN;

	if (!plan_attempt(copy, &attempt, &failed))
		return failed;
	failed = attempt.behind_others ? TSA_CUTOVER_BLOCKED : TSA_CUTOVER_LATER;
	copy->attempts++;
	copy->held_up_ms = 0;
	if (!narrow_gap(copy))
		return copy->state == TSA_COPY_REWRITTEN ?
			TSA_CUTOVER_REWRITTEN : failed;

	window = enter_window(copy, &attempt);
	if (window != WINDOW_READY)
	{
		/* a blocker that is bound to finish does not use up an attempt */
		if (window == WINDOW_NOT_LOCKED && attempt.behind_others)
			copy->attempts--;
		if (copy->state == TSA_COPY_REWRITTEN ||
			(copy->locks == TSA_LOCKS_ALL_BUT_FIRST && !tsa_copy_yield(copy)))
			return TSA_CUTOVER_REWRITTEN;
		return window == WINDOW_NOT_LOCKED && !attempt.behind_others ?
			TSA_CUTOVER_BUSY : failed;
	}
	tsa_copy_after_switch(copy);
	tsa_stop_point("switched");
	copy->nblockers = 0;
	tsa_copy_report(copy, "removing old file");
	return TSA_CUTOVER_DONE;
}
