/*-------------------------------------------------------------------------
 *
 * transient_index.c
 *	  Removes the invalid indexes that a rebuild left which did not end well.
 *
 * The table's indexes are noted before the rebuild begins.  When it ends by an
 * error, is cancelled or crashes, an invalid index that was not among them and
 * has the name of a concurrent rebuild of this one, or the old index under its
 * _ccold name, is its leftover (the view "transient_index").  In the second
 * case the new index is in place already, and the job is done.  They are
 * dropped by DROP INDEX CONCURRENTLY, which blocks nobody, at the end of the
 * same worker or, when it did not get that far, of the next one.  Somebody
 * else's index of such a name looks the same while CREATE INDEX CONCURRENTLY
 * builds it, under a ShareUpdateExclusive lock on the table.  So the same
 * locks as for the rebuild are held for the session, and the index is looked
 * at again under them, before and while it is dropped.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "move/common/session.h"
#include "move/job/journal.h"
#include "move/rebuild/ddl.h"
#include "move/rebuild/rebuild.h"
#include "move/rebuild/transient_index.h"
#include "state/state.h"

/* Indexes that cannot be locked in that time are left to the next worker. */
#define LOCK_TIMEOUT_MS "5000"

/* After so many roles with indexes that could not be locked, all are left. */
#define MAX_LOCKED_OUT	3

/* One index to be dropped, and the role that it belongs to. */
typedef struct TransientIndex
{
	Oid			owner;
	Oid			heapid;
	Oid			relid;
} TransientIndex;

/*
 * Reads the leftovers of past rebuilds, in the caller's memory context.  In
 * any order, so that one which is always locked does not always come before
 * the others.
 */
static List *
load_transient_indexes(const TsaSession *session)
{
	static TsaStatement query = {
		"SELECT i.owner, i.heap, i.index FROM ("
		"   SELECT DISTINCT ON (index) owner, heap, index"
		"   FROM tablespace_advisor.transient_index ORDER BY index, job_id) i"
		" ORDER BY pg_catalog.random()",
		0, {0}, NULL
	};
	MemoryContext context = CurrentMemoryContext;
	TsaState	journal;
	List	   *indexes = NIL;

	tsa_begin();
	tsa_journal_open(&journal);
	tsa_state_use_indexes();
	tsa_run(&query, NULL, NULL, TSA_READS);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext spi_context = MemoryContextSwitchTo(context);
		TransientIndex *index = palloc(sizeof(TransientIndex));

		index->owner = DatumGetObjectId(tsa_result_column(i, "owner"));
		index->heapid = DatumGetObjectId(tsa_result_column(i, "heap"));
		index->relid = DatumGetObjectId(tsa_result_column(i, "index"));
		indexes = lappend(indexes, index);
		MemoryContextSwitchTo(spi_context);
	}
	tsa_state_close(&journal);
	tsa_commit(session);
	return indexes;
}

/*
 * Is this index (still) one of those, and of that role?  One that somebody is
 * just building looks like it: under the lock it is valid, or given up.
 */
static bool
is_transient(const TransientIndex *index)
{
	static TsaStatement query = {
		"SELECT FROM tablespace_advisor.transient_index"
		" WHERE index = $1 AND owner = $2",
		2, {OIDOID, OIDOID}, NULL
	};
	TsaState	journal;
	Datum		values[2];
	bool		found;

	values[0] = ObjectIdGetDatum(index->relid);
	values[1] = ObjectIdGetDatum(index->owner);
	tsa_journal_open(&journal);
	tsa_state_use_indexes();
	found = tsa_run(&query, values, NULL, TSA_READS) > 0;
	tsa_state_close(&journal);
	return found;
}

/*
 * Waits for a transaction that has changed the index's row of pg_index and is
 * about to commit:  CREATE INDEX CONCURRENTLY gives its lock back just before
 * the commit that makes the index valid.
 */
static void
wait_for_builder(Oid relid)
{
	Relation	pg_index = table_open(IndexRelationId, AccessShareLock);
	TransactionId builder = InvalidTransactionId;
	SnapshotData dirty;
	ScanKeyData key;
	SysScanDesc scan;

	InitDirtySnapshot(dirty);
	ScanKeyInit(&key, Anum_pg_index_indexrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(pg_index, IndexRelidIndexId, true, &dirty, 1,
							  &key);
	while (HeapTupleIsValid(systable_getnext(scan)))
		if (TransactionIdIsValid(dirty.xmin))
			builder = dirty.xmin;
		else if (TransactionIdIsValid(dirty.xmax))
			builder = dirty.xmax;
	systable_endscan(scan);
	table_close(pg_index, AccessShareLock);
	if (TransactionIdIsValid(builder))
		XactLockTableWait(builder, NULL, NULL, XLTW_None);
}

/*
 * Locks such an index and looks again.
 */
static bool
prepare_drop(const TsaSession *session, const TransientIndex *index,
			 TsaIndexLock *lock)
{
	bool		found;

	tsa_begin();
	tsa_lock_index(index->heapid, index->relid, lock);
	wait_for_builder(index->relid);
	found = is_transient(index);
	tsa_commit(session);
	return found;
}

/* Forgets the rebuilds that have left nothing (any more). */
static void
forget_known_indexes(const TsaSession *session)
{
	static TsaStatement query = {
		"UPDATE tablespace_advisor.job j SET known_indexes = NULL"
		" WHERE known_indexes IS NOT NULL"
		" AND state IN ('done', 'failed', 'cancelled')"
		" AND NOT EXISTS (SELECT FROM tablespace_advisor.transient_index t"
		"   WHERE t.job_id = j.job_id)",
		0, {0}, NULL
	};

	tsa_begin();
	tsa_journal_update_by_index(&query, NULL);
	tsa_commit(session);
}

/*
 * Drops one index; logs the error if that fails.  False if it or its table
 * could not be locked.
 */
static bool
drop_index(TsaSession *session, const TransientIndex *index)
{
	volatile bool locked = true;

	PG_TRY();
	{
		TsaIndexLock lock;

		tsa_become_role(session, index->owner);
		if (prepare_drop(session, index, &lock))
			tsa_drop_index(session, index->relid);
		tsa_unlock_index(&lock);
	}
	PG_CATCH();
	{
		locked = tsa_abort(session)->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE;
	}
	PG_END_TRY();
	tsa_become_role(session, BOOTSTRAP_SUPERUSERID);
	return locked;
}

/*
 * Drops leftovers of rebuilds, each index as the role that rebuilt it.
 * Indexes that cannot be locked now are left to the next worker, and with them
 * those that that role has: this worker, which may be anybody's, would wait
 * for each of a thousand indexes that somebody keeps locked.  Nor does it wait
 * for a thousand roles.
 */
void
tsa_drop_transient_indexes(TsaSession *session)
{
	List	   *locked_out = NIL;	/* indexes of these roles */
	ListCell   *lc;

	SetConfigOption("lock_timeout", LOCK_TIMEOUT_MS, PGC_SUSET,
					PGC_S_SESSION);
	foreach(lc, load_transient_indexes(session))
	{
		TransientIndex *index = lfirst(lc);

		if (list_length(locked_out) == MAX_LOCKED_OUT)
			break;
		if (!list_member_oid(locked_out, index->owner) &&
			!drop_index(session, index))
			locked_out = lappend_oid(locked_out, index->owner);
	}
	forget_known_indexes(session);
}
