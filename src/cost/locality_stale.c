/*-------------------------------------------------------------------------
 *
 * locality_stale.c
 *	  Does a measured locality still describe the table?
 *
 * Rows that were deleted and inserted again elsewhere leave files and sizes as
 * they were, so these do not tell.  The correlation that ANALYZE finds does:
 * it is kept with the locality and compared when plans load it.  Where either
 * is not known nothing is compared.  Rows in no order that come to lie in
 * another disorder are not noticed.
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

/*
 * The correlation that btcostestimate() assumes of an index, NaN where there
 * is none.  If "key" is not NULL it is set to the hash that invalidations of
 * these statistics name.
 */
double
tsa_index_correlation(Relation index, uint32 *key)
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

/*
 * Do the statistics say another thing than "then", the correlation when the
 * locality was measured?  Sets "key" as above.  An index that is gone is stale.
 */
bool
tsa_locality_is_stale(Oid index_oid, double then, uint32 *key)
{
	Relation	index = RelationIdGetRelation(index_oid);
	double		correlation;

	if (index == NULL)
		return true;
	correlation = tsa_index_correlation(index, key);
	RelationClose(index);
	return !isnan(correlation) && !isnan(then) &&
		fabs(correlation - then) > MAX_DIFFERENCE;
}
