/*-------------------------------------------------------------------------
 *
 * locality_stale.c
 *	  Does a measured locality still describe the table?
 *
 * Rows that were deleted and inserted again elsewhere leave files and sizes as
 * they were, so these do not tell.  Two things do, and are kept with the
 * locality and compared when plans load it:
 *
 * - the correlation that ANALYZE finds.  Rows without order that come to lie in
 *   another disorder leave it as it was, though they may have lain in groups;
 * - how many rows the server has counted as deleted, or as updated but for HOT
 *   updates, whose index entries lead to the same page.
 *
 * Where either is not known it is not compared.  A count that is lower than
 * then was reset, by pg_stat_reset() or a crash, and is all that is known.  A
 * standby counts nothing.  The counters are read as pg_stat_all_tables reads
 * them: other sessions may not have reported all yet, and a transaction that
 * has read them reads the same to its end (stats_fetch_consistency).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_index.h"
#include "catalog/pg_statistic.h"
#include "pgstat.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "cost/cost.h"

/*
 * A locality is stale if the correlation differs by more than this.  Samples
 * of 3 000 rows, those of a statistics target of 10, differ by a few
 * hundredths.
 */
#define MAX_DIFFERENCE	0.1

/* And if more than this part of the rows was replaced. */
#define MAX_REPLACED	0.2

/*
 * The correlation that btcostestimate() assumes of an index, NaN where there
 * is none.  If "key" is not NULL it is set to the hash that invalidations of
 * these statistics name.
 */
static double
index_correlation(Relation index, uint32 *key)
{
	AttrNumber	column = index->rd_index->indkey.values[0];
	Datum		relation = ObjectIdGetDatum(column != 0 ?
											index->rd_index->indrelid :
											RelationGetRelid(index));
	Datum		number = Int16GetDatum(column != 0 ? column : 1);
	HeapTuple	tuple;
	AttStatsSlot slot;
	double		correlation = NAN;

	if (key != NULL)
		*key = GetSysCacheHashValue3(STATRELATTINH, relation, number,
									 BoolGetDatum(false));
	tuple = SearchSysCache3(STATRELATTINH, relation, number,
							BoolGetDatum(false));
	if (!HeapTupleIsValid(tuple))
		return NAN;
	if (get_attstatsslot(&slot, tuple, STATISTIC_KIND_CORRELATION, InvalidOid,
						 ATTSTATSSLOT_NUMBERS))
	{
		correlation = slot.numbers[0];
		if (index->rd_indoption[0] & INDOPTION_DESC)
			correlation = -correlation;
		if (index->rd_index->indnkeyatts > 1)
			correlation *= 0.75;
		free_attstatsslot(&slot);
	}
	ReleaseSysCache(tuple);
	return correlation;
}

/* How many rows of a table were deleted or have got another place. */
static double
replaced_rows(Oid table)
{
	PgStat_StatTabEntry *counts = pgstat_fetch_stat_tabentry(table);

	if (counts == NULL)
		return 0;
	return (double) (counts->tuples_deleted + counts->tuples_updated -
					 counts->tuples_hot_updated);
}

/* Look up what tsa_table_change() compares later. */
void
tsa_table_look(Relation index, Oid table, TsaTableThen *now)
{
	now->correlation = index_correlation(index, NULL);
	now->replaced_rows = replaced_rows(table);
}

/* Was a larger part of the rows replaced than a locality outlives? */
static bool
is_replaced(Oid table, double rows, double then)
{
	Relation	heap = RelationIdGetRelation(table);
	double		replaced = replaced_rows(table);

	if (heap != NULL)
	{
		rows = Max(rows, heap->rd_rel->reltuples);
		RelationClose(heap);
	}
	if (replaced >= then)
		replaced -= then;
	return !isnan(then) && replaced > MAX_REPLACED * rows;
}

/*
 * By what a table has changed since the locality of its index was measured,
 * when that had so many rows: "reordered" or "replaced"; NULL: by nothing that
 * is known.  Sets "key" as above.  An index that is gone is reordered.
 */
const char *
tsa_table_change(Oid index_oid, Oid table, double rows,
				 const TsaTableThen *then, uint32 *key)
{
	Relation	index = RelationIdGetRelation(index_oid);
	double		correlation;

	if (index == NULL)
		return "reordered";
	correlation = index_correlation(index, key);
	RelationClose(index);
	if (!isnan(correlation) && !isnan(then->correlation) &&
		fabs(correlation - then->correlation) > MAX_DIFFERENCE)
		return "reordered";
	return is_replaced(table, rows, then->replaced_rows) ? "replaced" : NULL;
}
