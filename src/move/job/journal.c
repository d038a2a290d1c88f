/*-------------------------------------------------------------------------
 *
 * journal.c
 *	  Access to the journal of moves, tablespace_advisor.job.
 *
 * A worker keeps the lock on the journal for its life, and so looks but once
 * whether it is the extension's and of this library's version (journal_kept).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/proc.h"

#include "move/common/sleep.h"
#include "move/job/journal.h"
#include "state/state.h"

/* Between tries to lock the extension's tables. */
#define LOCK_RETRY_MS	10

/*
 * Does this process hold the lock on the journal, at session level, and has it
 * found all as it should be since?
 */
static bool journal_kept = false;
static bool journal_checked = false;

/* Tables that a worker reads or writes beside the journal. */
static const char *const beside_journal[] = {"request", "job_mark"};

/* The locks at session level: on the journal, and on those. */
static LockRelId kept[1 + lengthof(beside_journal)];

/*
 * Tries to lock them.  False if one cannot be had: then none is locked.
 */
static bool
try_beside(LockRelId *tables)
{
	for (int i = 0; i < (int) lengthof(beside_journal); i++)
	{
		tables[i].relId = tsa_state_try_lock(beside_journal[i],
											 AccessShareLock);
		if (OidIsValid(tables[i].relId))
			continue;
		while (--i >= 0)
			UnlockRelationOid(tables[i].relId, AccessShareLock);
		return false;
	}
	return true;
}

/*
 * Locks the journal against DROP EXTENSION, at session level; false if there
 * is none.  In a transaction.  To be done again after each abort, which
 * releases session-level locks as well.
 *
 * The tables beside it are locked, too: DROP EXTENSION may have one of them
 * locked and wait for the journal.  A session that holds the one must not wait
 * for the other, but tries again, for no longer than lock_timeout allows, if
 * it is set.
 */
bool
tsa_keep_journal(void)
{
	LockRelId	journal = {.dbId = MyDatabaseId};
	LockRelId	tables[lengthof(beside_journal)];
	bool		locked;

	for (int waited = 0;; waited += LOCK_RETRY_MS)
	{
		journal.relId = tsa_state_lock("job", AccessShareLock);
		if (!OidIsValid(journal.relId))
			return false;
		locked = try_beside(tables);
		if (locked || !tsa_state_is_current())
			break;
		UnlockRelationOid(journal.relId, AccessShareLock);
		if (LockTimeout > 0 && waited >= LockTimeout)
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("could not lock the journal of moves within \"lock_timeout\"")));
		tsa_sleep(LOCK_RETRY_MS);
	}
	LockRelationIdForSession(&journal, AccessShareLock);
	for (int i = 0; locked && i < (int) lengthof(beside_journal); i++)
	{
		tables[i].dbId = MyDatabaseId;
		LockRelationIdForSession(&tables[i], AccessShareLock);
		kept[i + 1] = tables[i];
	}
	kept[0] = journal;
	journal_kept = true;
	journal_checked = false;
	return true;
}

/*
 * Is this one of the tables that tsa_keep_journal() locks?  In a transaction.
 */
bool
tsa_journal_keeps(Oid relid)
{
	bool		keeps = relid == tsa_state_table("job");

	for (int i = 0; i < (int) lengthof(beside_journal); i++)
		keeps |= relid == tsa_state_table(beside_journal[i]);
	return OidIsValid(relid) && keeps;
}

/*
 * Gives those locks back: somebody is about to wait for another session that
 * may need these tables exclusively.  Outside any transaction of the caller's;
 * tsa_keep_journal() takes them again.
 */
void
tsa_release_journal(void)
{
	for (int i = 0; i < (int) lengthof(kept); i++)
		if (OidIsValid(kept[i].relId))
			UnlockRelationIdForSession(&kept[i], AccessShareLock);
	tsa_lose_journal();
}

/*
 * Those locks are lost.
 */
void
tsa_lose_journal(void)
{
	memset(kept, 0, sizeof(kept));
	journal_kept = false;
	journal_checked = false;
}

/*
 * Throws unless the journal is there and of this library's version.
 */
static void
check_journal(void)
{
	if (journal_checked)
		return;
	tsa_state_check("job", AccessShareLock);
	journal_checked = journal_kept;
}

/*
 * Takes on the journal's rights, until tsa_state_close().
 */
void
tsa_journal_open(TsaState *journal)
{
	check_journal();
	tsa_state_open(journal);
}

/*
 * Opens the journal for one statement that changes it; returns its rows.
 */
uint64
tsa_journal_update(TsaStatement *statement, Datum *values,
				   const char *nulls)
{
	TsaState	journal;
	uint64		rows;

	tsa_journal_open(&journal);
	rows = tsa_run(statement, values, nulls, TSA_WRITES);
	tsa_state_close(&journal);
	return rows;
}

/*
 * Opens it to plan a statement, see tsa_plan().
 */
void
tsa_journal_plan(TsaStatement *statement)
{
	TsaState	journal;

	tsa_journal_open(&journal);
	tsa_plan(statement);
	tsa_state_close(&journal);
}

/*
 * Opens it for one that is not to read all of it, see tsa_state_use_indexes().
 */
uint64
tsa_journal_update_by_index(TsaStatement *statement, Datum *values)
{
	TsaState	journal;
	uint64		rows;

	tsa_journal_open(&journal);
	tsa_state_use_indexes();
	rows = tsa_run(statement, values, NULL, TSA_WRITES);
	tsa_state_close(&journal);
	return rows;
}

/*
 * Runs a statement with arguments that have their types with them.
 */
uint64
tsa_journal_update_args(TsaStatement *statement, const TsaArg *args,
						int nargs)
{
	TsaState	journal;
	uint64		rows;

	tsa_journal_open(&journal);
	rows = tsa_run_args(statement, args, nargs, TSA_WRITES);
	tsa_state_close(&journal);
	return rows;
}
