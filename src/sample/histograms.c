/*-------------------------------------------------------------------------
 *
 * histograms.c
 *	  subtract_histograms(), sum_histograms(): counts of reads by the time
 *	  that they took, as wait_relations() returns them.
 *
 * A histogram is an array of HISTOGRAM_BUCKETS float8, or NULL if all are 0.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"

/* As in the result of wait_relations() */
#define HISTOGRAM_BUCKETS 20

PG_FUNCTION_INFO_V1(tsa_subtract_histograms);
PG_FUNCTION_INFO_V1(tsa_sum_histograms);

/*
 * Adds the rows of an array, or its only one, times a factor, to counts.
 * Errors: 2202E if they are not histograms.
 */
static void
accumulate(ArrayType *array, int dimensions, float8 factor, float8 *counts)
{
	float8	   *elements = (float8 *) ARR_DATA_PTR(array);
	int			n;

	if (ARR_NDIM(array) != dimensions ||
		ARR_DIMS(array)[dimensions - 1] != HISTOGRAM_BUCKETS ||
		array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("a histogram must be an array of %d numbers",
						HISTOGRAM_BUCKETS)));
	n = ArrayGetNItems(dimensions, ARR_DIMS(array));
	for (int i = 0; i < n; i++)
	{
		if (i % HISTOGRAM_BUCKETS == 0)
			CHECK_FOR_INTERRUPTS();
		counts[i % HISTOGRAM_BUCKETS] += factor * elements[i];
	}
}

/* An array of counts, those below 0 as 0; NULL if none is above. */
static Datum
return_counts(FunctionCallInfo fcinfo, const float8 *counts)
{
	Datum		elements[HISTOGRAM_BUCKETS];
	bool		is_empty = true;

	for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
	{
		elements[i] = Float8GetDatum(Max(counts[i], 0));
		is_empty = is_empty && !(counts[i] > 0);
	}
	if (is_empty)
		PG_RETURN_NULL();
	PG_RETURN_ARRAYTYPE_P(construct_array(elements, HISTOGRAM_BUCKETS,
										  FLOAT8OID, sizeof(float8),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * subtract_histograms(later, earlier): the growth of counters.  One that fell
 * has not grown.
 */
Datum
tsa_subtract_histograms(PG_FUNCTION_ARGS)
{
	float8		counts[HISTOGRAM_BUCKETS] = {0};

	if (!PG_ARGISNULL(0))
		accumulate(PG_GETARG_ARRAYTYPE_P(0), 1, 1, counts);
	if (!PG_ARGISNULL(1))
		accumulate(PG_GETARG_ARRAYTYPE_P(1), 1, -1, counts);
	return return_counts(fcinfo, counts);
}

/* sum_histograms(histograms): the sum of the rows of an array. */
Datum
tsa_sum_histograms(PG_FUNCTION_ARGS)
{
	float8		counts[HISTOGRAM_BUCKETS] = {0};

	if (!PG_ARGISNULL(0))
		accumulate(PG_GETARG_ARRAYTYPE_P(0), 2, 1, counts);
	return return_counts(fcinfo, counts);
}
