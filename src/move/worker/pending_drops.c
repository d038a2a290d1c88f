/*-------------------------------------------------------------------------
 *
 * pending_drops.c
 *	  The files that a worker has yet to drop: the old files of small indexes,
 *	  many at a time.
 *
 * To drop a file costs a flush of the WAL and a walk through all of
 * shared_buffers, for a file of any size.  That is most of the time that the
 * move of an index of two blocks costs.  The server drops many files for the
 * same price, in one transaction, so when a worker moves one small index after
 * the other, it keeps their old files until there are some dozens, or
 * something else comes up: a job that takes longer, or the end of the batch.
 *
 * The jobs are done meanwhile, with their old files named in the journal.  No
 * commit of theirs is waited for.  They reach the disk in their order, the
 * commit of each cutover before that of its job's end, and both before the one
 * that drops the files, which is flushed before any file goes.  So after a
 * crash a job is either done, with its old file named or gone, or it was cut
 * over and is recovered as done, or its index is where it was.  A session that
 * recovers the jobs of a worker that is gone removes the files that those of
 * its jobs that are done still name (recover.c).
 *
 * Besides, the worker keeps in mind the files that the journal names of its
 * present job, for when the journal itself is dropped.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "move/common/session.h"
#include "move/copy/storage.h"
#include "move/job/job.h"
#include "move/worker/pending_drops.h"

/*
 * From here on the journal names this storage of the present job, and no
 * other.  Allocates before it forgets.
 */
void
tsa_note_present_storage(TsaPendingDrops *drops,
						 const RelFileLocator *storage, int n)
{
	RelFileLocator *old = drops->present;
	RelFileLocator *new;

	new = MemoryContextAlloc(TopMemoryContext,
							 sizeof(RelFileLocator) * Max(n, 1));
	if (n > 0)
		memcpy(new, storage, n * sizeof(RelFileLocator));
	drops->present = new;
	drops->npresent = n;
	if (old != NULL)
		pfree(old);
}

/*
 * Somebody else will remove it, or has.
 */
void
tsa_forget_present_storage(TsaPendingDrops *drops)
{
	drops->npresent = 0;
}

/*
 * Can one more be kept for later?
 */
bool
tsa_can_postpone_drop(const TsaPendingDrops *drops)
{
	return drops->n < TSA_MAX_PENDING_DROPS;
}

/*
 * Keeps the old file of the present job, which is done.
 */
void
tsa_postpone_drop(TsaPendingDrops *drops, int64 job_id, RelFileLocator file)
{
	Assert(tsa_can_postpone_drop(drops));
	drops->jobs[drops->n] = job_id;
	drops->files[drops->n++] = file;
	tsa_forget_present_storage(drops);
}

/*
 * Schedules the old files for removal at the commit of the present
 * transaction, and forgets files that cannot be reached: the journal goes on
 * naming that.
 */
static void
schedule_drops(TsaPendingDrops *drops)
{
	int			n = 0;

	for (int i = 0; i < drops->n; i++)
	{
		if (!tsa_can_drop_storage(&drops->files[i], 1))
			continue;
		tsa_drop_unused_storage(drops->files[i]);
		drops->files[n] = drops->files[i];
		drops->jobs[n++] = drops->jobs[i];
	}
	drops->n = n;
}

/*
 * Removes the old files that have been kept; unless "all", only if there is no
 * room for more.  Outside any transaction.
 */
void
tsa_perform_drops(TsaPendingDrops *drops, bool all)
{
	MemoryContext context = CurrentMemoryContext;

	if (drops->n == 0 || (!all && tsa_can_postpone_drop(drops)))
		return;
	tsa_begin();
	schedule_drops(drops);
	tsa_jobs_note_removed(drops->jobs, drops->n);
	CommitTransactionCommand();
	drops->n = 0;
	MemoryContextSwitchTo(context);
}

/*
 * Schedules all files for removal when the journal is gone; in a transaction.
 */
void
tsa_drop_without_journal(TsaPendingDrops *drops)
{
	schedule_drops(drops);
	for (int i = 0; i < drops->npresent; i++)
		if (tsa_can_drop_storage(&drops->present[i], 1))
			tsa_drop_unused_storage(drops->present[i]);
	tsa_forget_present_storage(drops);
}
