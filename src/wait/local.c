/*-------------------------------------------------------------------------
 *
 * local.c
 *	  The figures that this backend has not handed in yet.
 *
 * A ledger in static memory.  Nothing here allocates, throws or waits, so that
 * it works during aborts, after an out of memory and while the process exits.
 * The lock on shared memory is taken conditionally: if somebody else has it,
 * the figures stay here until the next statement ends.  If the tables here are
 * full by then, more relations go to relation 0 and more statements are left
 * out (ledger.c).
 *
 * The last figures are handed in before shared memory is detached.  A process
 * that is killed loses them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/timestamp.h"

#include "wait/local.h"
#include "wait/parameters.h"
#include "wait/shared.h"

/* Of each table: three quarters of the slots. */
#define RELATION_SLOTS	512
#define STATEMENT_SLOTS 64
#define SHARE_SLOTS		512

/* Executions that were only counted are handed in when there are so many. */
#define MANY 1000

static const TsaLedgerSize size = {
	.relations = RELATION_SLOTS / 4 * 3,
	.statements = STATEMENT_SLOTS / 4 * 3,
	.shares = SHARE_SLOTS / 4 * 3
};

static union
{
	uint64		align;
	char		bytes[TSA_FIXED_TABLE_BYTES(RELATION_SLOTS,
											sizeof(TsaRelationEntry)) +
					  TSA_FIXED_TABLE_BYTES(STATEMENT_SLOTS,
											sizeof(TsaStatementEntry)) +
					  TSA_FIXED_TABLE_BYTES(SHARE_SLOTS,
											sizeof(TsaShareEntry))];
}			memory;

static TsaLedger ledger;
static bool is_set_up = false;
static void (*before_exit) (void) = NULL;

/* Hands in all figures if the lock is free. */
static bool
hand_in(void)
{
	int64		now = GetCurrentTimestamp();

	if (LWLockHeldByMe(tsa_wait_shared->lock) ||
		!LWLockConditionalAcquire(tsa_wait_shared->lock, LW_EXCLUSIVE))
		return false;
	tsa_ledger_merge(&tsa_wait_shared->ledger, &ledger, now);
	LWLockRelease(tsa_wait_shared->lock);
	return true;
}

/* The process ends: hands in the last figures. */
static void
hand_in_last(int code, Datum arg)
{
	(void) code;
	(void) arg;
	if (before_exit != NULL)
		before_exit();
	if (ledger.seen > 0 || ledger.relations.nentries > 0)
		(void) hand_in();
	is_set_up = false;			/* nothing more is added */
}

/*
 * Names a function to call before the last figures are handed in.
 */
void
tsa_local_at_exit(void (*before) (void))
{
	before_exit = before;
}

/*
 * Does this process measure?  Sets up its ledger at the first call.
 */
bool
tsa_wait_ready(void)
{
	static bool was_set_up = false;

	if (is_set_up)
		return tsa_track_waits;
	if (!tsa_track_waits || was_set_up || tsa_wait_shared == NULL ||
		MyProc == NULL || !OidIsValid(MyDatabaseId) ||
		!IsNormalProcessingMode())
		return false;
	was_set_up = true;
	tsa_ledger_init(&ledger, &memory, size, false, 0);
	before_shmem_exit(hand_in_last, (Datum) 0);
	is_set_up = true;
	return true;
}

/*
 * Counts an execution.
 */
void
tsa_local_count(bool measured)
{
	ledger.seen++;
	if (measured)
		ledger.measured++;
}

/*
 * Adds to a relation of this database.
 */
void
tsa_local_add_relation(Oid relid, TsaWaitClass class, TsaWaitAccess access,
					   const TsaWaitFigures *figures, const uint64 *histogram)
{
	TsaRelationKey key = {MyDatabaseId, relid, class, access};

	if (!is_set_up)
		return;
	if (ledger.relations.nentries + 1 >= ledger.relations.max_entries / 4 * 3)
		(void) tsa_local_hand_in();
	tsa_ledger_add_relation(&ledger, &key, figures, histogram, 0);
}

/*
 * Adds to a statement.
 */
void
tsa_local_add_statement(const TsaStatementKey *key,
						const TsaWaitFigures *figures, uint64 total_ns)
{
	if (is_set_up)
		tsa_ledger_add_statement(&ledger, key, figures, total_ns, 0);
}

/*
 * Adds to a statement's reads of a relation.
 */
void
tsa_local_add_share(const TsaStatementKey *key, Oid relid,
					TsaWaitAccess access, const TsaWaitFigures *figures)
{
	TsaShareKey share = {*key, relid, access};

	if (is_set_up)
		tsa_ledger_add_share(&ledger, &share, figures, 0);
}

/*
 * Hands in all figures if the lock is free.  False if it is not.  Executions
 * that were not measured wait until there are many.
 */
bool
tsa_local_hand_in(void)
{
	if (!is_set_up || (ledger.seen < MANY && ledger.relations.nentries == 0 &&
					   ledger.statements.nentries == 0))
		return true;
	return hand_in();
}
