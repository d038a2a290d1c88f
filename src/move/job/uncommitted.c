/*-------------------------------------------------------------------------
 *
 * uncommitted.c
 *	  Moves that transactions which have not ended are queueing.
 *
 * No query sees their jobs, but they are in the journal, and a session must
 * know of them before it inserts one that they would get in the way of.  So
 * the rows of unfinished jobs are read with a snapshot that shows them, too.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "move/job/planned_move.h"
#include "move/job/uncommitted.h"
#include "state/state.h"

/* The columns of a job that are read. */
typedef struct OtherJob
{
	Oid			relation;
	Oid			heap;
	bool		is_table;
	bool		is_catalog;
} OtherJob;

/* A column of a row of the journal, none of these being NULL. */
static Datum
column_of(HeapTuple tuple, Relation journal, const char *name)
{
	bool		isnull;

	return heap_getattr(tuple, get_attnum(RelationGetRelid(journal), name),
						RelationGetDescr(journal), &isnull);
}

/* Reads the columns of a move from a row of the journal. */
static OtherJob
read_other(HeapTuple tuple, Relation journal)
{
	OtherJob	other = {0};
	char		kind = DatumGetChar(column_of(tuple, journal, "kind"));
	char	   *method =
	TextDatumGetCString(column_of(tuple, journal, "method"));

	other.relation = DatumGetObjectId(column_of(tuple, journal, "relation"));
	other.heap = DatumGetObjectId(column_of(tuple, journal, "heap"));
	other.is_table = kind == RELKIND_RELATION || kind == RELKIND_MATVIEW;
	other.is_catalog =
		strcmp(method, tsa_move_method_name(TSA_METHOD_CATALOG)) == 0;
	return other;
}

/* Would the two get in each other's way?  See the head of queue.c. */
static bool
contends(const TsaMove *move, const OtherJob *other)
{
	if (move->relid == other->relation)
		return true;
	return move->heapid == other->heap &&
		move->method != TSA_METHOD_CATALOG && !other->is_catalog &&
		(tsa_move_is_table(move) || other->is_table);
}

/*
 * Those of the moves that somebody else's transaction is queueing moves in the
 * way of; *xid is such a transaction.
 */
List *
tsa_list_contended(List *moves, TransactionId *xid)
{
	Oid			table = tsa_state_lock("job", AccessShareLock);
	Relation	journal = table_open(table, NoLock);
	Oid			index = get_relname_relid("job_unfinished_heap_idx",
										  RelationGetNamespace(journal));
	List	   *contended = NIL;
	SnapshotData dirty;
	SysScanDesc scan;
	HeapTuple	tuple;

	InitDirtySnapshot(dirty);
	scan = systable_beginscan(journal, index, OidIsValid(index), &dirty, 0,
							  NULL);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		TransactionId inserter = dirty.xmin;
		OtherJob	other;
		ListCell   *lc;

		if (!TransactionIdIsValid(inserter))
			continue;
		other = read_other(tuple, journal);
		foreach(lc, moves)
		{
			if (!contends(lfirst(lc), &other))
				continue;
			contended = list_append_unique_ptr(contended, lfirst(lc));
			*xid = inserter;
		}
	}
	systable_endscan(scan);
	table_close(journal, NoLock);
	return contended;
}
