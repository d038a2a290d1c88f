/*-------------------------------------------------------------------------
 *
 * storage.c
 *	  Makes the new storage of a live copy, and removes what is left over.
 *
 * New storage is created, as every relation's is, by a transaction that logs
 * the creation and deletes the file if it aborts; the same transaction names
 * the file in the journal.  From its commit on the journal is what knows of
 * the file.  A crash before that commit can leave an empty file that nobody
 * knows, as it can after any CREATE TABLE.  (A small index needs no such
 * transaction of its own: one_transaction.c.)
 *
 * Left over is either the copy (the move failed) or the old file (it worked).
 * The journal's row says which; it is changed by the transaction that changes
 * pg_class, so it cannot be wrong.  Even so nothing is removed before
 * pg_class was asked whether a relation has that storage.  The number cannot
 * have been given to another relation meanwhile: GetNewRelFileNumber() passes
 * over numbers whose file exists.
 *
 * The drop is a transaction with an ID (it updates the journal), because an
 * abort without one is not logged and a standby would keep the file.  Its
 * commit is flushed before the files go, whatever synchronous_commit says, as
 * that of any transaction which drops files is, and with it the cutover's
 * commit, which comes earlier in the WAL and was not.  Where an old file is
 * truncated before that, the cutover's commit is flushed first.
 *
 * A file of many megabytes is not dropped at one go.  Unlinking it keeps the
 * file system's journal busy for tens of milliseconds, during which nobody's
 * commit can be flushed.  So it is truncated from the end, in small steps,
 * first.  While others write, steps are small and half of the time is left to
 * them.
 *
 * A step is what RelationTruncate() does: it logs the new length and flushes
 * that (a standby follows gently, crash recovery does not stumble over records
 * of blocks that are gone, and the cutover's commit, which is earlier in the
 * WAL, is on disk), drops the buffers, truncates the file, and lets no
 * checkpoint end in between.  But not in a critical section.  VACUUM needs one:
 * blocks that it has cut off must not come back.  These belong to nobody, so
 * that a failure does no harm but to leave the file, and a device that has
 * died must not take the server with it.  The last step is synced, by us:
 * before that a file system whose device is gone may have shortened the file
 * in memory only.
 *
 * Devices that do not answer.  The server unlinks files after the commit,
 * where an error of open() is a PANIC, and one of unlink() a warning after
 * which nobody knows the file any more.  So the commit that drops files is
 * preceded by an open() of each, which also leaves name and inode in the
 * system's cache for the one that follows it.  If that fails, or a step did,
 * nothing of the job is dropped, the journal goes on naming all of its files,
 * and each call that recovers jobs tries again, with a warning.  A missing file
 * counts as gone only while the tablespace's directory is there, which it is
 * not when its file system is not mounted.  Dirty buffers of such a file would
 * fail each checkpoint, so they are dropped; not without full_page_writes,
 * where recovery needs the pages that it has no images of.
 *
 * What remains: the number of an old file whose unlink() fails in the
 * checkpointer is forgotten with an empty file left, as after any DROP; and a
 * device that dies with writes of ours accepted and not synced makes the
 * checkpointer's fsync fail, which is a PANIC unless data_sync_retry is on, as
 * with writes of anybody.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "access/xlogutils.h"
#include "catalog/catalog.h"
#include "catalog/storage.h"
#include "catalog/storage_xlog.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "storage/proc.h"
#include "storage/smgr.h"
#include "utils/resowner.h"

#include "compat.h"
#include "move/common/sleep.h"
#include "move/copy/stop_point.h"
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
 * Creates storage for a copy, in the caller's transaction, whose abort deletes
 * it.  The transaction gets an ID first: the abort of one without is not
 * logged, and recovery or a standby that has made the file would keep it.
 */
RelFileLocator
tsa_create_storage(Oid tablespace)
{
	RelFileNumber number = GetNewRelFileNumber(tablespace, NULL,
											   RELPERSISTENCE_PERMANENT);
	RelFileLocator storage = tsa_make_locator(tablespace, MyDatabaseId,
											  number);

	(void) GetCurrentTransactionId();
	RelationCreateStorage(storage, RELPERSISTENCE_PERMANENT, true);
	return storage;
}

/*
 * Does a relation of this database have this storage?
 */
static bool
storage_in_use(RelFileLocator storage)
{
	Oid			tablespace = tsa_locator_tablespace(storage);

	if (tablespace == MyDatabaseTableSpace)
		tablespace = InvalidOid;
	return OidIsValid(RelidByRelfilenumber(tablespace,
										   tsa_locator_number(storage)));
}

/*
 * Says that a file could not be removed, by the caller's errno.
 */
static void
warn_of_left_file(const char *path)
{
	ereport(WARNING,
			(errcode_for_file_access(),
			 errmsg("could not remove file \"%s\" that a move has left: %m",
					path),
			 errhint("The journal of moves keeps it in mind. It is removed by the next call that moves relations, or ends or waits for a move, once its device answers.")));
}

/*
 * Does a tablespace's directory exist?  True also if there is no such
 * tablespace any more, and with it no file.
 */
static bool
tablespace_is_mounted(Oid tablespace)
{
	char		path[MAXPGPATH];
	struct stat st;

	if (tablespace == DEFAULTTABLESPACE_OID)
		return true;
	snprintf(path, sizeof(path), "pg_tblspc/%u/%s", tablespace,
			 TABLESPACE_VERSION_DIRECTORY);
	return stat(path, &st) == 0 || get_tablespace_name(tablespace) == NULL;
}

/*
 * Can a fork of a file be opened, and synced if asked for?  True also if it is
 * gone.  Otherwise errno says why not.
 */
static bool
fork_answers(const char *path, Oid tablespace, bool sync)
{
	int			fd = OpenTransientFile(path, O_RDWR | PG_BINARY);
	int			save_errno;
	bool		answers;

	if (fd < 0)
	{
		if (errno != ENOENT)
			return false;
		answers = tablespace_is_mounted(tablespace);
		errno = ENOENT;
		return answers;
	}
	answers = !sync || pg_fsync(fd) == 0;
	save_errno = errno;
	(void) CloseTransientFile(fd);
	errno = save_errno;
	return answers;
}

/*
 * Can all forks of a file be opened?  Warns if not.
 */
static bool
file_answers(RelFileLocator locator)
{
	char		path[MAXPGPATH];

	for (ForkNumber fork = MAIN_FORKNUM; fork <= MAX_FORKNUM; fork++)
	{
		tsa_relation_path(path, sizeof(path), locator, fork);
		if (!fork_answers(path, tsa_locator_tablespace(locator), false))
		{
			warn_of_left_file(path);
			return false;
		}
	}
	return true;
}

/*
 * Drops the buffers of a file that nobody can write.
 */
static void
drop_buffers(RelFileLocator locator)
{
	SMgrRelation smgr = smgropen(locator, INVALID_PROC_NUMBER);
	ForkNumber	forks[MAX_FORKNUM + 1];
	BlockNumber from[MAX_FORKNUM + 1] = {0};

	if (!fullPageWrites)
		return;
	for (int i = 0; i <= MAX_FORKNUM; i++)
		forks[i] = (ForkNumber) i;
	tsa_drop_relation_buffers(smgr, forks, MAX_FORKNUM + 1, from);
}

/*
 * Logs that a file has so many blocks from now on.
 */
static void
log_truncation(RelFileLocator locator, BlockNumber nblocks)
{
	xl_smgr_truncate record;

	record.blkno = nblocks;
	tsa_truncated_locator(&record) = locator;
	record.flags = SMGR_TRUNCATE_HEAP;
	XLogBeginInsert();
	XLogRegisterData((char *) &record, sizeof(record));
	XLogFlush(XLogInsert(RM_SMGR_ID,
						 XLOG_SMGR_TRUNCATE | XLR_SPECIAL_REL_UPDATE));
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
	MyProc->delayChkptFlags |= DELAY_CHKPT_START | DELAY_CHKPT_COMPLETE;
	log_truncation(file->locator, left);
	tsa_smgr_truncate(smgr, MAIN_FORKNUM, nblocks, left);
	MyProc->delayChkptFlags &= ~(DELAY_CHKPT_START | DELAY_CHKPT_COMPLETE);
	file->begun = true;
	file->ended = left <= file->keep;
}

/*
 * The same in a transaction of its own: without an ID, so that nobody's
 * snapshot or vacuum horizon waits for us.  An error becomes a warning.
 */
static void
truncate_step(Shortening *file, BlockNumber step)
{
	uint32		held_off = QueryCancelHoldoffCount;
	MemoryContext context;
	ResourceOwner owner;

	StartTransactionCommand();
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
		drop_buffers(file->locator);
	CommitTransactionCommand();
}

/*
 * Syncs a file that has been shortened; warns and returns false if its device
 * does not do that.
 */
static bool
sync_shortened(RelFileLocator locator)
{
	char		path[MAXPGPATH];

	tsa_relation_path(path, sizeof(path), locator, MAIN_FORKNUM);
	if (fork_answers(path, tsa_locator_tablespace(locator), true))
		return true;
	warn_of_left_file(path);
	return false;
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

	StartTransactionCommand();
	file.ended = storage_in_use(locator);
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
	return !file.begun || sync_shortened(locator);
}

/*
 * Schedules storage for removal when the present transaction, which has an ID,
 * commits.
 */
static void
drop_storage(RelFileLocator locator)
{
	Relation	rel = CreateFakeRelcacheEntry(locator);

	Assert(TransactionIdIsValid(GetTopTransactionIdIfAny()));

	/*
	 * from 17 on the entry has a reference that RelationDropStorage() would
	 * give back without its ever having been counted
	 */
	rel->rd_smgr = NULL;
	RelationDropStorage(rel);
	FreeFakeRelcacheEntry(rel);
}

/*
 * Can all of this storage, which the journal names, be dropped?  Warns if its
 * device does not answer.
 */
bool
tsa_can_drop_storage(const RelFileLocator *storage, int n)
{
	for (int i = 0; i < n; i++)
		if (!storage_in_use(storage[i]) && !file_answers(storage[i]))
		{
			drop_buffers(storage[i]);
			return false;
		}
	return true;
}

/*
 * Schedules for removal, at the commit of the present transaction, storage
 * that the journal names and that can be dropped, unless a relation has it.
 */
void
tsa_drop_unused_storage(RelFileLocator storage)
{
	if (storage_in_use(storage))
		return;
	(void) GetCurrentTransactionId();
	drop_storage(storage);
}

/*
 * Warns of storage that is here and that no relation has.
 */
void
tsa_warn_of_unused_storage(RelFileLocator storage)
{
	char		path[MAXPGPATH];

	if (storage_in_use(storage) ||
		!smgrexists(smgropen(storage, INVALID_PROC_NUMBER), MAIN_FORKNUM))
		return;
	tsa_relation_path(path, sizeof(path), storage, MAIN_FORKNUM);
	ereport(WARNING,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("no relation owns file \"%s\", which a move on another server has left",
					path),
			 errhint("If this server was made from that one, as by pg_createsubscriber, the file, its segments and its forks can be removed while the server is stopped.")));
}

/*
 * Shortens storage that no relation has, to what can be dropped at one go;
 * what may be on a device that has failed ("suspect") to nothing, so that it
 * is synced whatever its size.  The drop is the worker's, in the transaction
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
