/*-------------------------------------------------------------------------
 *
 * shorten.c
 *	  Shortens files that a move has left, so that they can be dropped at one
 *	  go.
 *
 * A file of many megabytes is not dropped at one go.  Unlinking it keeps the
 * file system's journal busy for tens of milliseconds, during which nobody's
 * commit can be flushed.  So it is truncated from the end, in small steps,
 * first.  While others write, steps are small and half of the time is left to
 * them.
 *
 * A step works as RelationTruncate(): it logs the new length and flushes that
 * (a standby follows gently, crash recovery does not stumble over records of
 * blocks that are gone, and the cutover's commit, which is earlier in the WAL,
 * is on disk), drops the buffers, truncates the file, and lets no checkpoint
 * end in between.  But not in a critical section.  VACUUM needs one: blocks
 * that it has cut off must not come back.  These belong to nobody, so that a
 * failure does no harm but to leave the file, and a device that has died must
 * not take the server with it.  The last step is synced, by us: before that a
 * file system without its device may have shortened the file in memory only.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/storage_xlog.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/proc.h"
#include "storage/smgr.h"
#include "utils/resowner.h"

#include "compat.h"
#include "move/common/session.h"
#include "move/common/sleep.h"
#include "move/common/stop_point.h"
#include "move/copy/reach.h"
#include "move/copy/shorten.h"
#include "move/copy/storage.h"

/*
 * An old file loses at least 32 MB at a time, twice as much while nobody
 * writes, and more when it is so large that this would take many steps: each
 * scans shared_buffers once.
 */
#define MIN_TRUNCATE_STEP ((BlockNumber) (32 * 1024 * 1024 / BLCKSZ))
#define QUIET_TRUNCATE_STEP (2 * MIN_TRUNCATE_STEP)
#define MAX_TRUNCATE_STEPS 64

/*
 * Logs that those forks of a file that "flags" names end where a main fork of
 * so many blocks does.
 */
static void
log_truncation(RelFileLocator locator, BlockNumber nblocks, int flags)
{
	xl_smgr_truncate record;

	record.blkno = nblocks;
	tsa_truncated_locator(&record) = locator;
	record.flags = flags;
	XLogBeginInsert();
	XLogRegisterData((char *) &record, sizeof(record));
	XLogFlush(XLogInsert(RM_SMGR_ID,
						 XLOG_SMGR_TRUNCATE | XLR_SPECIAL_REL_UPDATE));
}

/*
 * Cuts the main fork of a file to so many blocks.  In a transaction: its abort
 * clears delayChkptFlags.
 */
void
tsa_cut_storage(RelFileLocator locator, BlockNumber nblocks, BlockNumber left)
{
	SMgrRelation smgr = smgropen(locator, INVALID_PROC_NUMBER);

	MyProc->delayChkptFlags |= DELAY_CHKPT_START | DELAY_CHKPT_COMPLETE;
	log_truncation(locator, left, SMGR_TRUNCATE_HEAP);
	tsa_smgr_truncate(smgr, MAIN_FORKNUM, nblocks, left);
	MyProc->delayChkptFlags &= ~(DELAY_CHKPT_START | DELAY_CHKPT_COMPLETE);
}

/*
 * Cuts the main fork of a file that an interrupted copy has made to so many
 * blocks, and its maps to nothing, whether they are longer or not: wherever
 * the WAL is replayed they may be.  In a transaction: its abort clears
 * delayChkptFlags.
 */
void
tsa_cut_kept_copy(RelFileLocator locator, BlockNumber left)
{
	SMgrRelation smgr = smgropen(locator, INVALID_PROC_NUMBER);
	BlockNumber nblocks = smgrnblocks(smgr, MAIN_FORKNUM);

	MyProc->delayChkptFlags |= DELAY_CHKPT_START | DELAY_CHKPT_COMPLETE;
	log_truncation(locator, left, SMGR_TRUNCATE_HEAP);
	if (nblocks > left)
		tsa_smgr_truncate(smgr, MAIN_FORKNUM, nblocks, left);

	log_truncation(locator, 0, SMGR_TRUNCATE_FSM | SMGR_TRUNCATE_VM);
	for (ForkNumber fork = FSM_FORKNUM; fork <= VISIBILITYMAP_FORKNUM; fork++)
		if (smgrexists(smgr, fork) && (nblocks = smgrnblocks(smgr, fork)) > 0)
			tsa_smgr_truncate(smgr, fork, nblocks, 0);
	MyProc->delayChkptFlags &= ~(DELAY_CHKPT_START | DELAY_CHKPT_COMPLETE);
}

/* A file on its way to a length that can be dropped at one go. */
typedef struct Shortening
{
	RelFileLocator locator;
	BlockNumber keep;			/* so many blocks may be left */
	bool		begun;			/* a step has been taken */
	bool		ended;			/* the rest is for the drop */
	bool		answers;		/* no error so far */
} Shortening;

/*
 * Takes a step off the end of the file.  In a transaction; an error leaves
 * delayChkptFlags set.
 */
static void
take_step(Shortening *file, BlockNumber step)
{
	SMgrRelation smgr = smgropen(file->locator, INVALID_PROC_NUMBER);
	BlockNumber nblocks = 0;
	BlockNumber left;

	if (smgrexists(smgr, MAIN_FORKNUM))
		nblocks = smgrnblocks(smgr, MAIN_FORKNUM);
	file->ended = nblocks <= file->keep;
	if (file->ended)
		return;

	step = Max(step, nblocks / MAX_TRUNCATE_STEPS);
	step = Min(step, (BlockNumber) RELSEG_SIZE);
	left = nblocks - Min(nblocks, step);
	tsa_cut_storage(file->locator, nblocks, left);
	file->begun = true;
	file->ended = left <= file->keep;
}

/*
 * Shortens by a step in a transaction of its own: without an ID, so that
 * nobody's snapshot or vacuum horizon waits for us.  An error becomes a
 * warning.
 */
static void
truncate_step(Shortening *file, BlockNumber step)
{
	uint32		held_off = QueryCancelHoldoffCount;
	MemoryContext context;
	ResourceOwner owner;

	tsa_begin();
	context = CurrentMemoryContext;
	owner = CurrentResourceOwner;
	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		take_step(file, step);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *err;

		QueryCancelHoldoffCount = held_off; /* an error sets it to 0 */
		MyProc->delayChkptFlags &= ~(DELAY_CHKPT_START | DELAY_CHKPT_COMPLETE);
		MemoryContextSwitchTo(context);
		err = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		ereport(WARNING,
				(errcode(err->sqlerrcode),
				 errmsg("could not shorten a file that a move has left: %s",
						err->message)));
		file->answers = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (!file->answers)
		tsa_give_up_file(file->locator);
	CommitTransactionCommand();
}

/*
 * Shortens a file step by step.  If somebody else has begun a transaction that
 * writes since the step began (ours have no ID), the step is followed by a
 * pause as long as the step, so that half of the time belongs to the others,
 * and the next one is small.  If not, it is followed at once by a larger one.
 * False if its device does not answer.
 */
static bool
truncate_gently(RelFileLocator locator, BlockNumber keep)
{
	Shortening	file = {.locator = locator,.keep = keep,.answers = true};
	BlockNumber step = MIN_TRUNCATE_STEP;
	FullTransactionId seen = ReadNextFullTransactionId();

	tsa_begin();
	file.ended = tsa_storage_in_use(locator);
	CommitTransactionCommand();
	while (!file.ended)
	{
		FullTransactionId next;
		instr_time	start;
		instr_time	end;

		INSTR_TIME_SET_CURRENT(start);
		truncate_step(&file, step);
		if (!file.answers)
			return false;
		INSTR_TIME_SET_CURRENT(end);
		INSTR_TIME_SUBTRACT(end, start);
		CHECK_FOR_INTERRUPTS();

		next = ReadNextFullTransactionId();
		step = FullTransactionIdEquals(next, seen) ?
			QUIET_TRUNCATE_STEP : MIN_TRUNCATE_STEP;
		if (!file.ended && !FullTransactionIdEquals(next, seen))
			tsa_sleep(INSTR_TIME_GET_MILLISEC(end) + 1);
		seen = next;
	}
	if (!file.begun)
		return true;
	tsa_stop_point("old file shortened");
	tsa_begin();				/* looks a tablespace up */
	file.answers = tsa_file_syncs(locator);
	CommitTransactionCommand();
	return file.answers;
}

/*
 * Shortens storage that no relation has, so that it can be dropped at one go;
 * storage that may be on a device that has failed ("suspect") to nothing, so
 * that it is synced at any size.  The drop is the worker's, in the transaction
 * that ends the job, so that no crash finds a job without a file that has not
 * ended.  Outside any transaction.  False if a device does not answer.
 *
 * There is nothing to cancel any more: a request to cancel is held back, and
 * forgotten.
 */
bool
tsa_shorten_storage(const RelFileLocator *storage, int n, bool suspect)
{
	bool		answers = true;

	HOLD_CANCEL_INTERRUPTS();
	for (int i = 0; i < n; i++)
		if (!truncate_gently(storage[i], suspect ? 0 : MIN_TRUNCATE_STEP))
			answers = false;
	if (!suspect)
		tsa_stop_point("old file truncated");
	QueryCancelPending = false;
	RESUME_CANCEL_INTERRUPTS();
	return answers;
}
