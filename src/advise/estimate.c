/*-------------------------------------------------------------------------
 *
 * estimate.c
 *	  The arithmetic of advice as SQL functions: latency by queue depth
 *	  (curve.c), the saving of a set of moves (closed_system.c) and choosing
 *	  under a budget (assign_places.c).
 *
 * These modules are pure and bounded: a curve has as many points as depths
 * were probed.
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
#include "miscadmin.h"
#include "utils/array.h"

#include "advise/assignment.h"
#include "advise/closed_system.h"
#include "advise/curve.h"

/*
 * Of a relation that is half in the cache, at most 15 of 16 reads come from
 * there.
 */
#define MAX_EXPONENT	4

PG_FUNCTION_INFO_V1(tsa_latency_at_depth);
PG_FUNCTION_INFO_V1(tsa_depth_at_rate);
PG_FUNCTION_INFO_V1(tsa_depth_in_loop);
PG_FUNCTION_INFO_V1(tsa_max_read_rate);
PG_FUNCTION_INFO_V1(tsa_cache_exponent);
PG_FUNCTION_INFO_V1(tsa_choose_to_fit);
PG_FUNCTION_INFO_V1(tsa_latencies_of_set);

/* Elements of an array without nulls, of a type of eight bytes. */
static void *
array_elements(ArrayType *array, const char *name, int *n)
{
	if (ARR_NDIM(array) > 1 || array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must be a list without null elements", name)));
	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	return ARR_DATA_PTR(array);
}

/* The elements of an array, and how many. */
static double *
float8_elements(ArrayType *array, const char *name, int *n)
{
	return array_elements(array, name, n);
}

/* Fails (22023) unless depths rise and latencies are positive. */
static void
check_curve(const TsaCurve *curve)
{
	for (int i = 0; i < curve->n; i++)
	{
		if (!(curve->us[i] > 0) || !(curve->depth[i] > 0) ||
			(i > 0 && !(curve->depth[i] > curve->depth[i - 1])))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("depths must rise and latencies be positive")));
	}
}

/* A curve of two arrays of one length. */
static TsaCurve
make_curve(ArrayType *depths, ArrayType *latencies_us)
{
	TsaCurve	curve;
	int			nlatencies;

	curve.depth = float8_elements(depths, "depths", &curve.n);
	curve.us = float8_elements(latencies_us, "latencies_us", &nlatencies);
	if (curve.n != nlatencies)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("\"depths\" and \"latencies_us\" must have the same length")));
	check_curve(&curve);
	return curve;
}

/* The curve that the first two arguments describe. */
static TsaCurve
curve_argument(FunctionCallInfo fcinfo)
{
	return make_curve(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_ARRAYTYPE_P(1));
}

/* NAN becomes NULL. */
static Datum
return_number(FunctionCallInfo fcinfo, double number)
{
	if (isnan(number))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(number);
}

/* latency_at_depth(depths, latencies_us, depth) */
Datum
tsa_latency_at_depth(PG_FUNCTION_ARGS)
{
	TsaCurve	curve = curve_argument(fcinfo);

	return return_number(fcinfo,
						 tsa_curve_latency(&curve, PG_GETARG_FLOAT8(2)));
}

/* depth_at_rate(depths, latencies_us, reads_per_s) */
Datum
tsa_depth_at_rate(PG_FUNCTION_ARGS)
{
	TsaCurve	curve = curve_argument(fcinfo);

	return return_number(fcinfo,
						 tsa_curve_depth(&curve, PG_GETARG_FLOAT8(2)));
}

/* depth_in_loop(depths, latencies_us, sessions, other_us) */
Datum
tsa_depth_in_loop(PG_FUNCTION_ARGS)
{
	TsaCurve	curve = curve_argument(fcinfo);
	double		sessions = PG_GETARG_FLOAT8(2);
	double		other_us = PG_GETARG_FLOAT8(3);

	if (!(sessions >= 0) || !(other_us >= 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"sessions\" and \"other_us\" must not be negative")));
	return return_number(fcinfo,
						 tsa_curve_loop_depth(&curve, sessions, other_us));
}

/* max_read_rate(depths, latencies_us) */
Datum
tsa_max_read_rate(PG_FUNCTION_ARGS)
{
	TsaCurve	curve = curve_argument(fcinfo);

	PG_RETURN_FLOAT8(tsa_curve_max_rate(&curve));
}

/* Fails (22023) for a number that is negative or not finite. */
static void
check_load(const char *name, double number)
{
	if (!(number >= 0) || isinf(number))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must not have negative numbers", name)));
}

/* A number of a place_load; NULL is 0. */
static double
place_number(HeapTupleHeader place, const char *column)
{
	bool		isnull;
	Datum		value = GetAttributeByName(place, column, &isnull);
	double		number = isnull ? 0 : DatumGetFloat8(value);

	check_load(column, number);
	return number;
}

/* The present part of a place_load, as a station. */
static TsaStation
read_station(HeapTupleHeader place)
{
	TsaStation	station = {0};
	bool		no_depths;
	bool		no_latencies;
	Datum		depths = GetAttributeByName(place, "depths", &no_depths);
	Datum		latencies = GetAttributeByName(place, "latencies_us",
											   &no_latencies);

	if (!no_depths && !no_latencies)
		station.curve = make_curve(DatumGetArrayTypeP(depths),
								   DatumGetArrayTypeP(latencies));
	if (station.curve.n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("each device must have a curve")));
	station.us = place_number(place, "read_us");
	station.reads = place_number(place, "reads_per_s");
	if (station.us == 0)
		station.reads = 0;
	station.others_in_flight = place_number(place, "others_in_flight");
	return station;
}

/* latencies_of_set(sessions, places, later_reads) */
Datum
tsa_latencies_of_set(PG_FUNCTION_ARGS)
{
	double		sessions = PG_GETARG_FLOAT8(0);
	ArrayType  *places = PG_GETARG_ARRAYTYPE_P(1);
	int			n;
	int			nplaces;
	double	   *later_reads = float8_elements(PG_GETARG_ARRAYTYPE_P(2),
											  "later_reads", &n);
	Datum	   *rows;
	TsaStation *stations = palloc0((n + 1) * sizeof(TsaStation));
	Datum	   *later_us = palloc((n + 1) * sizeof(Datum));

	deconstruct_array(places, ARR_ELEMTYPE(places), -1, false, TYPALIGN_DOUBLE,
					  &rows, NULL, &nplaces);
	if (nplaces != n)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("\"places\" and \"later_reads\" must have the same length")));
	for (int i = 0; i < n; i++)
	{
		stations[i] = read_station(DatumGetHeapTupleHeader(rows[i]));
		check_load("later_reads", later_reads[i]);
		stations[i].later_reads = later_reads[i];
	}
	tsa_closed_system_saves(stations, n,
							sessions > 0 ? fmin(sessions, 1e6) : 0);
	for (int i = 0; i < n; i++)
		later_us[i] = Float8GetDatum(stations[i].later_us);
	PG_RETURN_ARRAYTYPE_P(construct_array(later_us, n, FLOAT8OID,
										  sizeof(float8), FLOAT8PASSBYVAL,
										  TYPALIGN_DOUBLE));
}

/* The reads from devices if shares are raised to an exponent. */
static double
sum_with_exponent(const double *total, const double *share, int n,
				  double exponent)
{
	double		sum = 0;

	for (int i = 0; i < n; i++)
		sum += total[i] * pow(share[i], exponent);
	return sum;
}

/* cache_exponent(totals, shares, target) */
Datum
tsa_cache_exponent(PG_FUNCTION_ARGS)
{
	int			n;
	int			nshares;
	double	   *total = float8_elements(PG_GETARG_ARRAYTYPE_P(0), "totals", &n);
	double	   *share = float8_elements(PG_GETARG_ARRAYTYPE_P(1), "shares",
										&nshares);
	double		target = PG_GETARG_FLOAT8(2);
	double		low = 1;
	double		high = MAX_EXPONENT;

	if (n != nshares)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("\"totals\" and \"shares\" must have the same length")));
	if (sum_with_exponent(total, share, n, low) <= target)
		PG_RETURN_FLOAT8(low);
	if (sum_with_exponent(total, share, n, high) > target)
		PG_RETURN_FLOAT8(high);
	/* the sum falls with the exponent */
	for (int step = 0; step < 40; step++)
	{
		double		middle = (low + high) / 2;

		CHECK_FOR_INTERRUPTS();
		if (sum_with_exponent(total, share, n, middle) > target)
			low = middle;
		else
			high = middle;
	}
	PG_RETURN_FLOAT8(low);
}

/* choose_within(sizes, values, capacity): place 0 is inside, 1 outside */
Datum
tsa_choose_to_fit(PG_FUNCTION_ARGS)
{
	int			n;
	int			nvalues;
	int64	   *sizes = array_elements(PG_GETARG_ARRAYTYPE_P(0), "sizes", &n);
	double	   *values = float8_elements(PG_GETARG_ARRAYTYPE_P(1), "values",
										 &nvalues);
	TsaAssignmentItem *items = palloc0(sizeof(TsaAssignmentItem) * (n + 1));
	double	   *costs = palloc0(sizeof(double) * 2 * (n + 1));
	Datum	   *chosen = palloc(sizeof(Datum) * (n + 1));
	const int	room_of[] = {0, 1};
	uint64_t	room[] = {Max(PG_GETARG_INT64(2), 0), TSA_NO_LIMIT};
	TsaAssignmentProblem problem = {
		items, n, costs, 2, room_of, room, 2, TSA_NO_LIMIT
	};
	TsaAssignment result;

	if (nvalues != n)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("\"sizes\" and \"values\" must have the same length")));
	for (int i = 0; i < n; i++)
	{
		if (sizes[i] < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("sizes must not be negative")));
		items[i].size = items[i].moved_size = sizes[i];
		items[i].present = 1;
		costs[2 * (Size) i] = -values[i];
	}
	if (!tsa_assign_places(&problem, &result))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to choose among %d relations.", n)));
	for (int i = 0; i < n; i++)
		chosen[i] = BoolGetDatum(items[i].place == 0);
	PG_RETURN_ARRAYTYPE_P(construct_array(chosen, n, BOOLOID, 1, true,
										  TYPALIGN_CHAR));
}
