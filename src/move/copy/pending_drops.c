/*-------------------------------------------------------------------------
 *
 * pending_drops.c
 *	  Removes the old files of small indexes, many at a time.
 *
 * To drop a file costs a flush of the log and a walk through all of
 * shared_buffers, whatever its size.  That is most of what the move of an index
 * of two blocks costs.  The server drops many files for the same price, in one
 * transaction, so when a worker moves one small index after the other, it keeps
 * their old files until there are some dozens, or something else comes up: a
 * job that takes longer, or the end of the batch.
 *
 * The jobs are done meanwhile, with their old files named in the journal.  No
 * commit of theirs is waited for.  They reach the disk in their order, the
 * commit of each cutover before that of its job's end, and both before the one
 * that drops the files, which is flushed before any file goes.  So after a
 * crash a job is either done, with its old file named or gone, or it was
 * cut over and is settled as done, or its index is where it was.  Whoever
 * settles the jobs of a worker that is gone removes the files that those of its
 * jobs that are done still name (recover.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"

#include "compat.h"
#include "move/copy/copy.h"
#include "move/copy/live_copy.h"

#define MAX_OLD_FILES	64

/* Jobs that are done, and their old files. */
static int64 jobs[MAX_OLD_FILES];
static RelFileLocator files[MAX_OLD_FILES];
static int	nfiles = 0;

/*
 * Can one more be kept?
 */
bool
tsa_old_files_have_room(void)
{
	return nfiles < MAX_OLD_FILES;
}

/*
 * Keeps the old file of a job that is done.
 */
void
tsa_old_file_keep(int64 job_id, RelFileLocator file)
{
	Assert(tsa_old_files_have_room());
	jobs[nfiles] = job_id;
	files[nfiles++] = file;
	tsa_copy_forget_storage();
}

/*
 * Schedules the files for removal at the commit of the present transaction.
 */
void
tsa_old_files_drop(void)
{
	for (int i = 0; i < nfiles; i++)
		tsa_copy_drop_unused(files[i]);
}

/*
 * Removes the files that have been kept; unless "all", only if there is no room
 * for more.  Outside any transaction.
 */
void
tsa_old_files_remove(bool all)
{
	MemoryContext context = CurrentMemoryContext;

	if (nfiles == 0 || (!all && tsa_old_files_have_room()))
		return;
	StartTransactionCommand();
	tsa_old_files_drop();
	tsa_jobs_note_old_removed(jobs, nfiles);
	CommitTransactionCommand();
	nfiles = 0;
	MemoryContextSwitchTo(context);
}
