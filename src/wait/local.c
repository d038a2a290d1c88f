/*-------------------------------------------------------------------------
 *
 * local.c
 *	  The figures that this backend has not handed in yet.
 *
 * A ledger in static memory.  Nothing here allocates, throws or waits, so that
 * it works during aborts, after an out of memory and while the process exits.
 * Reads are due to be handed in when the statement ends.  Figures without any
 * wait until a second has passed since the last time, so that statements that
 * find all in shared buffers need neither the lock nor a walk over the tables.
 *
 * The lock on shared memory is taken conditionally: if somebody else has it,
 * the figures stay here until the next statement ends.  If the tables here are
 * full by then, more relations go to relation 0 and more statements are left
 * out (ledger.c).
 *
 * The last figures are handed in before shared memory is detached.  No
 * statement ends after that, so the process asks for the lock again for a
 * while.  It does not wait in the lock's queue, since after FATAL it may hold
 * other locks.  A process that is killed loses its figures.
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

/* How often a process that ends asks for the lock, once a millisecond. */
#define TRIES 100

/* Figures without reads are handed in after so many microseconds. */
#define HAND_IN_EVERY INT64CONST(1000000)

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
static TimestampTz handed_in_at = 0;
static void (*before_exit) (void) = NULL;

uint64		tsa_local_measured = 0;

/*
 * Hands in all figures if the lock is free.  False if it is not.
 */
bool
tsa_local_hand_in(void)
{
	TimestampTz now;

	if (!tsa_now.is_set_up ||
		(tsa_now.seen == 0 && ledger.relations.nentries == 0 &&
		 ledger.statements.nentries == 0 && ledger.shares.nentries == 0))
		return true;
	now = GetCurrentTimestamp();
	if (LWLockHeldByMe(tsa_wait_shared->lock) ||
		!LWLockConditionalAcquire(tsa_wait_shared->lock, LW_EXCLUSIVE))
		return false;
	ledger.seen = tsa_now.seen;
	ledger.measured = tsa_local_measured;
	tsa_ledger_merge(&tsa_wait_shared->ledger, &ledger, now);
	LWLockRelease(tsa_wait_shared->lock);
	tsa_now.seen = tsa_local_measured = 0;
	tsa_now.is_due = false;
	handed_in_at = now;
	return true;
}

/*
 * Hands in all figures, and asks for the lock again for a while if somebody
 * else has it.  False if it is still taken then.
 */
bool
tsa_local_hand_in_soon(void)
{
	for (int i = 0; i < TRIES; i++)
	{
		if (tsa_local_hand_in())
			return true;
		pg_usleep(1000);
	}
	return false;
}

/* The process ends: hands in the last figures. */
static void
hand_in_last(int code, Datum arg)
{
	(void) code;
	(void) arg;
	if (before_exit != NULL)
		before_exit();
	(void) tsa_local_hand_in_soon();
	tsa_now.is_set_up = false;	/* nothing more is added */
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
 * Sets up the ledger of a process that measures.  False if it does not.
 */
bool
tsa_local_set_up(void)
{
	static bool was_set_up = false;

	if (!tsa_now.track_waits || was_set_up || tsa_wait_shared == NULL ||
		MyProc == NULL || !OidIsValid(MyDatabaseId) ||
		!IsNormalProcessingMode())
		return false;
	was_set_up = true;
	tsa_ledger_init(&ledger, &memory, size, false, 0);
	before_shmem_exit(hand_in_last, (Datum) 0);
	tsa_now.is_set_up = true;
	return true;
}

/* Notes that figures have been added, and makes room for more in a table. */
static void
prepare_table(const TsaFixedTable *table, const TsaWaitFigures *figures)
{
	if (figures->reads > 0 || figures->waited_ns > 0)
		tsa_now.is_due = true;
	if (table->nentries + 1 >= table->max_entries / 4 * 3)
		(void) tsa_local_hand_in();
}

/*
 * Adds to a relation of this database.
 */
void
tsa_local_add_relation(Oid relid, TsaWaitClass class, TsaWaitAccess access,
					   const TsaWaitFigures *figures, const uint64 *histogram)
{
	TsaRelationKey key = {MyDatabaseId, relid, class, access};

	if (!tsa_now.is_set_up)
		return;
	prepare_table(&ledger.relations, figures);
	tsa_ledger_add_relation(&ledger, &key, figures, histogram, 0);
}

/*
 * Adds to a statement.
 */
void
tsa_local_add_statement(const TsaStatementKey *key,
						const TsaWaitFigures *figures, uint64 total_ns)
{
	if (!tsa_now.is_set_up)
		return;
	prepare_table(&ledger.statements, figures);
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

	if (!tsa_now.is_set_up)
		return;
	prepare_table(&ledger.shares, figures);
	tsa_ledger_add_share(&ledger, &share, figures, 0);
}

/*
 * A top-level statement was measured, and ran so long: are figures without
 * reads due, too?
 */
void
tsa_local_statement_measured(uint64 elapsed_ns)
{
	if (GetCurrentStatementStartTimestamp() + (int64) (elapsed_ns / 1000) -
		handed_in_at >= HAND_IN_EVERY)
		tsa_now.is_due = true;
}

/*
 * A measured execution has returned rows, and may have more: a client that
 * fetches them in pieces takes its time.  Reads are handed in once a second.
 */
void
tsa_local_run_ended(void)
{
	if (tsa_now.is_due &&
		GetCurrentStatementStartTimestamp() - handed_in_at >= HAND_IN_EVERY)
		(void) tsa_local_hand_in();
}
