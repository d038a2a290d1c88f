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
 * An old file of many megabytes is not dropped at one go.  Unlinking it keeps
 * the file system's journal busy for tens of milliseconds, during which
 * nobody's commit can be flushed.  So it is truncated from the end, in small
 * steps, first.  RelationTruncate() is the server's own way: it logs each
 * step (a standby follows gently, and crash recovery does not stumble over
 * WAL records of blocks that are gone), drops the buffers and keeps checkpoints
 * in order.  While others write, steps are small and half of the time is left
 * to them.  Like VACUUM's truncation it does so in a critical section: a file
 * system that cannot truncate brings the server down.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlogutils.h"
#include "catalog/catalog.h"
#include "catalog/storage.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"

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
 * Takes a step off the end of a file, in a transaction of its own: without an
 * ID, so that nobody's snapshot or vacuum horizon waits for us.  False when
 * the rest is for the drop.
 */
static bool
truncate_step(RelFileLocator locator, BlockNumber step, XLogRecPtr switched_at)
{
	Relation	rel;
	volatile BlockNumber nblocks = 0;
	volatile BlockNumber taken = 0;

	StartTransactionCommand();
	rel = CreateFakeRelcacheEntry(locator);
	PG_TRY();
	{
		if (smgrexists(RelationGetSmgr(rel), MAIN_FORKNUM))
			nblocks = smgrnblocks(RelationGetSmgr(rel), MAIN_FORKNUM);
		taken = Min(Max(step, nblocks / MAX_TRUNCATE_STEPS),
					(BlockNumber) RELSEG_SIZE);
		if (nblocks > MIN_TRUNCATE_STEP)
		{
			XLogFlush(switched_at);
			RelationTruncate(rel, nblocks > taken ? nblocks - taken : 0);
		}
	}
	PG_FINALLY();
	{
		/* before 17 the smgr's entry points back to ours */
		FreeFakeRelcacheEntry(rel);
	}
	PG_END_TRY();
	CommitTransactionCommand();
	return nblocks > MIN_TRUNCATE_STEP && nblocks > taken;
}

/*
 * Shortens a file step by step.  If somebody else has begun a transaction that
 * writes since the step began (ours have no ID), the step is followed by a
 * pause as long as the step, so that half of the time belongs to the others,
 * and the next one is small.  If not, it is followed at once by a larger one.
 */
static void
truncate_gently(RelFileLocator locator, XLogRecPtr switched_at)
{
	BlockNumber step = MIN_TRUNCATE_STEP;
	FullTransactionId seen = ReadNextFullTransactionId();
	bool		unused;

	StartTransactionCommand();
	unused = !storage_in_use(locator);
	CommitTransactionCommand();
	if (!unused)
		return;

	for (;;)
	{
		FullTransactionId next;
		instr_time	start;
		instr_time	end;

		INSTR_TIME_SET_CURRENT(start);
		if (!truncate_step(locator, step, switched_at))
			return;
		INSTR_TIME_SET_CURRENT(end);
		INSTR_TIME_SUBTRACT(end, start);
		CHECK_FOR_INTERRUPTS();

		next = ReadNextFullTransactionId();
		if (FullTransactionIdEquals(next, seen))
		{
			step = QUIET_TRUNCATE_STEP;
			continue;
		}
		seen = next;
		step = MIN_TRUNCATE_STEP;
		tsa_sleep(INSTR_TIME_GET_MILLISEC(end) + 1);
	}
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
 * Schedules for removal, at the commit of the present transaction, storage
 * that the journal names, unless a relation has it.
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
 * Shortens the old files of relations that have moved to what can be dropped at
 * one go.  switched_at is where the commit record of the switch ends.  The drop
 * is the worker's, in the transaction that ends the job, so that no crash finds
 * a job without an old file that has not ended.  Outside any transaction.
 *
 * There is nothing to cancel any more: a request to cancel is held back, and
 * forgotten.
 */
void
tsa_shorten_old_storage(const RelFileLocator *storage, int n,
						XLogRecPtr switched_at)
{
	HOLD_CANCEL_INTERRUPTS();
	for (int i = 0; i < n; i++)
		truncate_gently(storage[i], switched_at);
	tsa_stop_point("old file truncated");
	QueryCancelPending = false;
	RESUME_CANCEL_INTERRUPTS();
}
