/*-------------------------------------------------------------------------
 *
 * state_row.c
 *	  A row of one of the extension's own tables, without a query.
 *
 * For the planner, which needs rows at a moment when no query may run.  The
 * first column is the primary key, an OID.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "compat.h"
#include "state/state.h"

/* The most columns that are read of a table. */
#define MAX_COLUMNS 32

/*
 * Has the first columns of the row with that key taken, which are only valid
 * meanwhile.  Columns that a table of an earlier version lacks are NULL.  False
 * if there is no such row or it makes no sense.  The table is locked by
 * tsa_state_try_lock() in AccessShareLock, which is given back.
 */
bool
tsa_state_read_row(Oid table, Oid key, int ncolumns, TsaTakeRow take,
				   void *arg)
{
	Relation	rel = table_open(table, NoLock);
	TupleDesc	desc = RelationGetDescr(rel);
	ScanKeyData scan_key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		taken = false;

	Assert(ncolumns <= MAX_COLUMNS);
	ScanKeyInit(&scan_key, 1, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(key));
	scan = systable_beginscan(rel, tsa_primary_key_index(rel), true,
							  NULL, 1, &scan_key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Datum		values[MAX_COLUMNS];
		bool		nulls[MAX_COLUMNS];

		for (int i = 0; i < ncolumns; i++)
		{
			nulls[i] = i >= desc->natts;
			values[i] = nulls[i] ? (Datum) 0 :
				heap_getattr(tuple, i + 1, desc, &nulls[i]);
		}
		taken = take(values, nulls, arg);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return taken;
}
