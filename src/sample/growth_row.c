/*-------------------------------------------------------------------------
 *
 * growth_row.c
 *	  growth(days, amounts): tsa_find_growth() for SQL.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"

#include "sample/growth.h"

PG_FUNCTION_INFO_V1(tsa_growth);

/* The elements of an array of float8; their number is returned. */
static int
take_elements(ArrayType *array, Datum **values, bool **nulls)
{
	int			n;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, values, nulls, &n);
	return n;
}

/*
 * The pairs of elements in which both are finite, the days in ascending order.
 * Returns their number, at most TSA_MAX_GROWTH_POINTS: the last ones.
 */
static int
take_points(ArrayType *day_array, ArrayType *amount_array, double *days,
			double *amounts)
{
	Datum	   *day_values;
	Datum	   *amount_values;
	bool	   *day_nulls;
	bool	   *amount_nulls;
	int			n = Min(take_elements(day_array, &day_values, &day_nulls),
						take_elements(amount_array, &amount_values,
									  &amount_nulls));
	int			first = TSA_MAX_GROWTH_POINTS;

	for (int i = n - 1; i >= 0 && first > 0; i--)
	{
		double		day = day_nulls[i] ? NAN : DatumGetFloat8(day_values[i]);
		double		amount = amount_nulls[i] ? NAN :
		DatumGetFloat8(amount_values[i]);

		if (!isfinite(day) || !isfinite(amount) ||
			(first < TSA_MAX_GROWTH_POINTS && day >= days[first]))
			continue;
		first--;
		days[first] = day;
		amounts[first] = amount;
	}
	n = TSA_MAX_GROWTH_POINTS - first;
	memmove(days, days + first, n * sizeof(double));
	memmove(amounts, amounts + first, n * sizeof(double));
	return n;
}

/* SQL function growth; see its comment in usage_forecast.sql. */
Datum
tsa_growth(PG_FUNCTION_ARGS)
{
	double		days[TSA_MAX_GROWTH_POINTS];
	double		amounts[TSA_MAX_GROWTH_POINTS];
	TsaGrowth	growth;
	TupleDesc	row;
	int			n = 0;

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg_internal("return type must be a row type")));
	if (!PG_ARGISNULL(0) && !PG_ARGISNULL(1))
		n = take_points(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_ARRAYTYPE_P(1),
						days, amounts);
	tsa_find_growth(days, amounts, n, &growth);
	{
		const double figures[] = {
			growth.slope, growth.slope_low, growth.slope_high, growth.begun,
			growth.slope_before, growth.step_at, growth.step, growth.period,
			growth.until_zero, growth.until_zero_low, growth.until_zero_high,
			growth.load, growth.load_period
		};
		Datum		values[lengthof(figures)];
		bool		nulls[lengthof(figures)];

		for (int i = 0; i < (int) lengthof(figures); i++)
		{
			values[i] = Float8GetDatum(figures[i]);
			nulls[i] = isnan(figures[i]);
		}
		PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row),
														  values, nulls)));
	}
}
