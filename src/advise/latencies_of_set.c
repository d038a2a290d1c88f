/*-------------------------------------------------------------------------
 *
 * latencies_of_set.c
 *	  The saving of a set of moves (closed_system.c) as a SQL function.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "utils/array.h"

#include "advise/closed_system.h"
#include "advise/read_facts.h"

PG_FUNCTION_INFO_V1(tsa_latencies_of_set);

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
		station.curve = tsa_read_curve(DatumGetArrayTypeP(depths),
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
	double	   *later_reads = tsa_read_numbers(PG_GETARG_ARRAYTYPE_P(2),
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
