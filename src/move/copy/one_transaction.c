/*-------------------------------------------------------------------------
 *
 * one_transaction.c
 *	  Moves an index of a few blocks in one transaction.
 *
 * The passes leave blocks to the exclusive window, since to copy a few dozen
 * of them there takes a fraction of a millisecond.  An index that has no more
 * than that from the beginning needs no passes, and without them none of their
 * means: no log to be followed, hence no flush to read it from the files, no
 * session-level locks, no transaction that makes the storage ahead.  Databases
 * have such indexes by the thousand, one for each partition.
 *
 * All of it is one transaction: locks, new storage, all blocks, pg_class and
 * the journal.
 *
 * - Nobody waits.  The row of pg_class and then AccessExclusive are asked for
 *   without waiting.  If one cannot be had, all is rolled back (a
 *   subtransaction) and the index moves as any other does, with waits and
 *   yields.
 * - The copy is complete: it is made with everybody locked out, from shared
 *   buffers.  The blocks are read into them before, so that the window does
 *   not wait for a disk; should some have been thrown out again, or the index
 *   have grown meanwhile, it is only the longer.
 * - The storage is known to the server's own list of files to be deleted at
 *   the end of the transaction, from its creation to the commit, so that an
 *   error, a cancel or the end of the worker removes it.  From the commit on
 *   the journal names the old file.  A crash of the server in this transaction
 *   leaves a file of a few blocks that nobody knows, as a crash in ALTER INDEX
 *   ... SET TABLESPACE does: that makes its file in the same way.  That it is
 *   no more than one, the WAL is flushed after each commit, with no lock held.
 * - Images in the WAL, writes past the buffers, DELAY_CHKPT_START and sync by
 *   the checkpointer are those of any copy (blocks.c); the commit, not waited
 *   for, and the steps after it those of any cutover (cutover.c).
 *
 * Not so under wal_level minimal, where storage of the same transaction may go
 * unlogged; nor with a maximal rate, which is kept between batches; nor when
 * there is a reason to pause.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "move/common/session.h"
#include "move/common/stop_point.h"
#include "move/copy/copy.h"
#include "move/copy/pause_conditions.h"
#include "move/copy/storage.h"
#include "state/damage.h"

/* No more than the ring holds through which they are read. */
#define SMALL_BLOCKS	32

/* If it has grown, up to so many are copied all the same. */
#define MAX_SMALL_BLOCKS 64

/*
 * Is this a case for one transaction?
 */
static bool
is_small(TsaCopy *copy)
{
	return copy->nrels == 1 && OidIsValid(copy->rels[0].heapid) &&
		copy->order->nkept == 0 &&
		copy->progress.bytes_total <= (int64) SMALL_BLOCKS * BLCKSZ &&
		copy->order->limits.max_rate == 0 && XLogIsNeeded() &&
		!tsa_stops_elsewhere("small ") &&
		tsa_find_pause_reason(copy->order, copy->callbacks,
							  copy->progress.bytes_total,
							  InvalidXLogRecPtr) == NULL;
}

/*
 * Reads the blocks into shared buffers.
 */
static void
warm_up(TsaCopy *copy)
{
	const TsaCopyFork *fork = copy->rels[0].main;
	MemoryContext context = CurrentMemoryContext;
	BlockNumber end = tsa_copy_source_size(fork);

	PG_TRY();
	{
		for (BlockNumber b = 0; b < end; b++)
			ReleaseBuffer(ReadBufferExtended(fork->rel->rel, MAIN_FORKNUM, b,
											 RBM_NORMAL, copy->strategy));
	}
	PG_CATCH();
	{
		tsa_rethrow_damage(fork->rel->rel, MAIN_FORKNUM, context);
	}
	PG_END_TRY();
}

/*
 * Does all that can be done before the lock, and takes it.  False, with all
 * undone, if it cannot be had at once or there is more to copy than there was.
 * The journal's row comes first, so that it costs nothing in the window.
 */
static bool
enter_small_window(TsaCopy *copy, instr_time *locked)
{
	TsaCopyRel *rel = &copy->rels[0];
	MemoryContext oldcxt = CurrentMemoryContext;
	ResourceOwner oldowner = CurrentResourceOwner;
	bool		ready;

	BeginInternalSubTransaction(NULL);
	copy->callbacks->switching(copy->callbacks->arg, &rel->source, 1);
	rel->copy = tsa_create_storage(copy->order->target_tablespace);
	(void) tsa_copy_fsm(copy, rel);
	warm_up(copy);
	ready = tsa_copy_try_rows(copy) &&
		ConditionalLockRelationOid(rel->relid, AccessExclusiveLock);
	INSTR_TIME_SET_CURRENT(*locked);
	if (ready && tsa_copy_left(copy) <= MAX_SMALL_BLOCKS)
		ReleaseCurrentSubTransaction();
	else
	{
		ready = false;
		RollbackAndReleaseCurrentSubTransaction();
	}
	MemoryContextSwitchTo(oldcxt);
	CurrentResourceOwner = oldowner;
	return ready;
}

/*
 * Tries to move the job's relation in the present transaction, which has locked
 * it as for any copy.  True if that is done; the transaction has been committed
 * then.  False if it is not a small index or was in use: nothing has changed.
 */
bool
tsa_copy_in_one_transaction(TsaCopy *copy)
{
	TsaCopyRel *rel = &copy->rels[0];
	instr_time	locked;
	instr_time	released;
	bool		ready;

	if (!is_small(copy))
		return false;
	rel->rel = relation_open(rel->relid, NoLock);
	ready = enter_small_window(copy, &locked);
	if (ready)
	{
		tsa_copy_switch_storage(copy);
		tsa_stop_point("small window");
		CHECK_FOR_INTERRUPTS(); /* the postmaster may be dead */
		tsa_commit_lazily();
	}
	relation_close(rel->rel, NoLock);
	rel->rel = NULL;
	if (!ready)
		return false;

	CommitTransactionCommand();
	INSTR_TIME_SET_CURRENT(released);
	tsa_copy_after_switch(copy);
	tsa_stop_point("small switched");
	XLogFlush(copy->switched_at);

	copy->progress.bytes_total = tsa_copy_done_bytes(copy);
	copy->bytes = copy->progress.bytes_total;
	copy->progress.passes = 1;
	copy->attempts = 1;
	copy->progress.lock_ms = tsa_ms_between(&locked, &released);
	tsa_copy_count(copy);
	return true;
}
