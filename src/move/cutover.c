/*-------------------------------------------------------------------------
 *
 * cutover.c
 *	  The moment in which a relation changes its storage.
 *
 * Before the lock: one more small pass, so that little is left; the journal's
 * row is updated (that assigns the transaction ID).  Then AccessExclusive on
 * the index.  In the window, with the lock held:
 *
 *	 1. read the log to its end: nobody can change the index any more, so
 *		there is no more to come;
 *	 2. copy the blocks it named and those the file grew by;
 *	 3. point pg_class to the new storage;
 *	 4. commit, which releases the lock.
 *
 * The commit does not wait for its flush.  That is safe because nothing that
 * the old state needs is destroyed before the flush that follows: the old
 * file, all of it, is removed by a later transaction.  Should the server crash
 * in between, then either the commit record reached the disk and recovery
 * brings the new storage up to date from the log, or it did not, and neither
 * did any record after it: the relation is where it was, the journal (whose
 * update went the same way) names the copy, and the cleaner drops it.  The
 * usual rules of asynchronous commit cover what others saw meanwhile.
 *
 * Where the data is at commit: what the passes wrote was synced; each write
 * since then is registered with the checkpointer and its image is in the log
 * (see copy_blocks.c).
 *
 * A standby replays the images, the catalog change and, as for any ALTER, the
 * AccessExclusive lock; queries there on the table's index wait or are
 * cancelled as max_standby_streaming_delay says.
 *
 * RelationAssumeNewRelfilelocator() is not called: it is for storage that was
 * made by the same transaction, whose changes may go unlogged under wal_level
 * minimal.  Ours was made, and committed, long before.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "commands/tablecmds.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/rel.h"

#include "compat.h"
#include "move/copy.h"

/*
 * Steps 1 to 3.
 */
static void
switch_storage(TsaCopy *copy)
{
	TsaCopyRel *index = &copy->index;

	if (!RelFileLocatorEquals(tsa_rel_locator(index->rel), index->source))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" was rewritten while it was being copied",
						RelationGetRelationName(index->rel))));

	tsa_copy_follow(copy);
	if (index->copied_end == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("write-ahead log that the copy of index \"%s\" needs has been removed",
						RelationGetRelationName(index->rel)),
				 errhint("Use retry_move() to start over.")));
	tsa_copy_last_blocks(copy);
	tsa_copy_stop_point("window");

	SetRelationTableSpace(index->rel, copy->job->target_tablespace,
						  tsa_locator_number(index->copy));
	InvokeObjectPostAlterHook(RelationRelationId, index->relid, 0);

	/* plans on the table were costed for the old tablespace */
	CacheInvalidateRelcacheByRelid(copy->heapid);
}

/*
 * Makes one attempt.  True if the relation has moved.  On false,
 * copy->progress names those who held the lock.  Begins and ends outside any
 * transaction; session-level locks are held throughout and kept.
 */
bool
tsa_copy_cut_over(TsaCopy *copy)
{
	instr_time	locked;
	instr_time	released;

	copy->progress.attempts++;
	tsa_copy_begin(copy);
	set_config_option("synchronous_commit", "off", PGC_USERSET, PGC_S_SESSION,
					  GUC_ACTION_LOCAL, true, 0, false);
	if (!tsa_copy_lock_exclusively(copy))
	{
		tsa_copy_find_blockers(copy);
		tsa_copy_end(copy);
		return false;
	}
	INSTR_TIME_SET_CURRENT(locked);

	switch_storage(copy);
	index_close(copy->index.rel, NoLock);
	copy->index.rel = NULL;

	CommitTransactionCommand();
	INSTR_TIME_SET_CURRENT(released);

	tsa_copy_stop_point("switched");
	XLogFlush(XactLastCommitEnd);

	INSTR_TIME_SUBTRACT(released, locked);
	copy->progress.nblockers = 0;
	tsa_copy_report(copy, "removing old file");
	StartTransactionCommand();
	tsa_job_note_lock_ms(copy->job->job_id,
						 INSTR_TIME_GET_MILLISEC(released));
	CommitTransactionCommand();
	return true;
}
