/*-------------------------------------------------------------------------
 *
 * live_copy.c
 *	  Moves an index or a table to another tablespace while it is in use:
 *	  copies its blocks, follows the write-ahead log for those that change
 *	  meanwhile, and swaps the storage when next to nothing is left to copy.
 *
 * Why it is right
 * ---------------
 * Every change to a page of a permanent relation that matters is logged with
 * a reference to the block, and one that is made through shared buffers is
 * inserted into the WAL while the buffer is exclusively locked.  Let B be the
 * insert position at some moment.
 *
 * - A record that ends at or before B: its change was in the page before
 *   anybody could lock the buffer after that moment.  A copy taken later under
 *   a share lock contains it.
 * - A record behind B will be seen by reading the WAL from B on, and its block
 *   is copied again.
 *
 * So the rule is: read the WAL up to B, *then* copy the blocks it named; go on
 * reading at B.  The first pass starts with B before its first block.  Blocks
 * at or behind copied_end, the end of what has been copied so far, need not be
 * remembered: they will be copied later than any record seen.
 *
 * In the cutover, with everybody locked out, the WAL is read to its end and
 * the rest is copied: the copy then differs from the original by nothing but
 * page LSNs and what is never logged: hint bits and LP_DEAD flags, vacuum
 * cycle IDs, BRIN's evacuation flag, cached pages in the SP-GiST metapage, the
 * free space map.  All of these a crash may lose at any time, so the copy is a
 * state that crash recovery could have produced.  LSNs only grow, which is all
 * that GiST's comparison of parent LSNs with NSNs asks for, as no scan spans
 * the cutover.
 *
 * A table moves with all that is found through it by block number: its
 * visibility map, its TOAST table, its indexes if asked for.  Block numbers do
 * not change, so it does not matter which of the indexes move; all that move
 * are swapped in one transaction, because one cutover is less of a disturbance
 * than five.  How the visibility map is followed: follow.c.
 *
 * Exceptions, and how they are met:
 *
 * - Writers that bypass shared buffers.  Index builds: the index has to be
 *   valid, ready and live, and when it is rebuilt, in new storage or in place,
 *   the copy starts over (see locks.c).  Rewrites of a table, and COPY
 *   into one that was made or truncated in the same transaction under
 *   wal_level minimal, hold AccessExclusive until the data is on disk or in
 *   the WAL; we are not there meanwhile, and start over if the storage is
 *   another one afterwards.
 *   Hash indexes allocate groups of buckets by logging one page and then
 *   extending the file, tables are extended by empty pages that nobody logs:
 *   blocks behind copied_end are copied by position, not by name, in every
 *   pass and in the window.
 * - Access methods that log in ways we do not know: only those in a list, and
 *   heap.
 * - Unlogged relations have no log to follow, temporary ones no shared
 *   buffers, catalogs may be mapped, and are changed in place: refused.
 * - The journal of moves: the switch is written into it between the last look
 *   at the WAL and the commit, so that row would be missing in the copy, and
 *   its index entries would point to whatever comes in its place: refused, with
 *   its indexes.
 *
 * What moves: prepare.c.  Indexes of a few blocks, which need none of the
 * above: one_transaction.c.  The WAL: wal_tail.c and follow.c.
 * The passes: passes.c and blocks.c.  Locks: locks.c.  The
 * exclusive window: cutover.c.  What is left of it after an error or a cancel:
 * storage.c; after a crash: resume.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "move/common/session.h"
#include "move/common/stop_point.h"
#include "move/copy/backoff.h"
#include "move/copy/copy.h"
#include "move/copy/live_copy.h"
#include "move/copy/page_cache.h"
#include "move/copy/shorten.h"
#include "move/copy/storage.h"

#define MAX_REWRITES	100

/*
 * Gives up.
 */
static void
report_no_cutover(TsaCopy *copy)
{
	const TsaCopyCallbacks *callbacks = copy->callbacks;
	const char *kind = OidIsValid(copy->rels[0].heapid) ? "index" : "table";
	char	   *name;
	char	   *prepared;

	tsa_copy_report(copy, tsa_copy_waiting_phase(copy));
	tsa_begin();
	name = get_rel_name(copy->order->relid);
	prepared = callbacks->find_prepared_blockers(callbacks->arg,
												 copy->blocked_on,
												 copy->blocked_by);
	if (copy->nblockers > 0)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("could not lock %s \"%s\" in %d attempts",
						kind, name, copy->attempts),
				 prepared ?
				 errdetail("It is locked by prepared transaction %s, which ends by COMMIT PREPARED or ROLLBACK PREPARED only.",
						   prepared) : 0,
				 errhint("The processes that held it are in the column \"blocked_by\" of the view \"tablespace_moves\". Use retry_move() when they are done.")));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("%s \"%s\" changed faster than it could be copied, in %d attempts",
					kind, name, copy->attempts),
			 errhint("Use retry_move() at a quieter time.")));
}

/*
 * Copies and cuts over.  False if the relation was rewritten meanwhile, or the
 * copy is suspended.
 */
static bool
copy_and_cut_over(TsaCopy *copy)
{
	INSTR_TIME_SET_CURRENT(copy->started);
	if (tsa_copy_prepare_or_move(copy))
		return true;
	if (copy->state == TSA_COPY_SUSPENDED)
		return false;
	copy->callbacks->takes_longer(copy->callbacks->arg);
	tsa_stop_point("storage created");
	copy->tail = tsa_wal_tail_open(copy->cxt);
	if (copy->order->nkept > 0)
	{
		tsa_begin();
		tsa_copy_open(copy);
		tsa_copy_adopt(copy);
		tsa_copy_end(copy);
	}
	copy->throttle = tsa_throttle_open(copy->cxt, copy->order);
	copy->looked = copy->started;
	copy->progress.phase = "copying";
	if (copy->progress.bytes_total > TSA_SMALL_COPY)
		tsa_copy_report(copy, "copying");

	if (!tsa_copy_passes(copy) || !tsa_copy_yield_and_pause(copy))
		return false;
	tsa_copy_begin(copy);
	for (int i = 0; i < copy->nrels; i++)
		if (!tsa_copy_fsm(copy, &copy->rels[i]))
			return false;
	tsa_copy_note_maps(copy);
	tsa_cache_end_passes(copy);
	tsa_copy_end(copy);
	tsa_stop_point("fsm copied");
	if (!tsa_copy_passes(copy))
		return false;

	for (;;)
	{
		TsaCutover	outcome = tsa_copy_cut_over(copy);

		if (outcome == TSA_CUTOVER_DONE)
			return true;
		if (outcome == TSA_CUTOVER_REWRITTEN)
			return false;
		if (tsa_backoff_gives_up(copy->attempts,
								 tsa_ms_since(&copy->first_tried)))
			report_no_cutover(copy);
		if (!tsa_copy_back_off(copy, outcome))
			return false;
	}
}

/*
 * Drops the storage that was made for a relation that was rewritten meanwhile.
 */
static void
discard_copy(const TsaCopy *copy)
{
	tsa_begin();
	for (int i = 0; i < copy->nrels; i++)
	{
		if (!tsa_can_drop_storage(&copy->rels[i].copy, 1))
			ereport(ERROR,
					(errcode(ERRCODE_IO_ERROR),
					 errmsg("could not remove the copy of a relation that was rewritten meanwhile")));
		tsa_drop_unused_storage(copy->rels[i].copy);
	}
	copy->callbacks->storage_dropped(copy->callbacks->arg);
	CommitTransactionCommand();
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
 * A copy that has nothing yet.
 */
static TsaCopy *
open_copy(TsaCopyOrder *order, const TsaCopyCallbacks *callbacks)
{
	MemoryContext cxt = AllocSetContextCreate(TopMemoryContext,
											  "tablespace_advisor live copy",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	TsaCopy    *copy = palloc0(sizeof(TsaCopy));

	copy->order = order;
	copy->lock_timeout_ms = order->lock_timeout_ms;
	copy->during = order->limits.during;
	copy->callbacks = callbacks;
	copy->state = TSA_COPY_PREPARING;
	copy->locks = TSA_LOCKS_NONE;
	copy->progress.bytes_total = -1;
	copy->progress.bytes_compared = order->kept_compared;
	copy->progress.others_lost_percent = -1;
	copy->cxt = cxt;
	copy->queue = tsa_write_queue_make();
	copy->strategy = GetAccessStrategy(BAS_BULKREAD);
	MemoryContextSwitchTo(oldcxt);
	return copy;
}

/*
 * Notes what has become of a copy that has cut over, and shortens the old
 * files, unless there is one that may be dropped later.
 */
static void
finish_copy(TsaCopy *copy, TsaCopyResult *result)
{
	tsa_cache_restore(copy);
	result->figures = copy->progress;
	result->keeps_old = copy->tail == NULL; /* moved in one transaction */
	result->old_file = copy->rels[0].source;
	result->old_answers = result->keeps_old ||
		tsa_shorten_storage(tsa_copy_old_storage(copy), copy->nrels, false);
}

/*
 * Makes a copy of the order's relation and cuts over to it, or suspends it.
 * False if the relation was rewritten meanwhile.  Counts on how often it
 * started over.
 */
static bool
copy_once(TsaCopyOrder *order, const TsaCopyCallbacks *callbacks,
		  TsaCopyResult *result, int *restarts)
{
	TsaCopy    *copy = open_copy(order, callbacks);
	volatile bool done = false;

	copy->progress.restarts = *restarts;
	PG_TRY();
	{
		done = copy_and_cut_over(copy);
		if (copy->locks != TSA_LOCKS_NONE)
			tsa_copy_unlock(copy);
		result->is_suspended = copy->state == TSA_COPY_SUSPENDED;
		if (done)
			finish_copy(copy, result);
		else if (!result->is_suspended)
			discard_copy(copy);
	}
	PG_FINALLY();
	{
		*restarts = copy->progress.restarts;
		close_copy(copy);
	}
	PG_END_TRY();
	return done || result->is_suspended;
}

/*
 * See live_copy.h.
 */
void
tsa_live_copy(TsaCopyOrder *order, const TsaCopyCallbacks *callbacks,
			  TsaCopyResult *result)
{
	int			rewrites = 0;
	int			restarts = 0;

	while (!copy_once(order, callbacks, result, &restarts))
	{
		order->nkept = order->kept_lsns.n = 0;	/* dropped */
		order->kept_compared = 0;
		restarts++;
		if (++rewrites > MAX_REWRITES)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("could not copy relation with OID %u: its storage was replaced %d times meanwhile",
							order->relid, rewrites),
					 errhint("Use retry_move() at a quieter time.")));
		ereport(LOG,
				(errmsg("live copy of relation with OID %u starts over because the relation's storage was replaced or truncated",
						order->relid)));
	}
}
