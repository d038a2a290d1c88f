/*-------------------------------------------------------------------------
 *
 * intervals.c
 *	  ratio_error(), own_read_time(): sums over the samples of a window, for
 *	  each of a thousand moves.
 *
 * Arguments are arrays with an element for each sample.  One that is NULL or
 * shorter than others, or has null elements, has no value there; sums leave
 * such samples out, as those of SQL do.
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

#include "compat.h"

/* The arguments of own_read_time(). */
enum
{
	READS,
	DEVICE_READS,
	PAGE_MS,
	UNIT_READS,
	SECONDS,
	ACCESSES,
	BLOCKS_READ,
	READ_MS,
	OTHER_READ_MS,
	ARRAYS = OTHER_READ_MS
};

PG_FUNCTION_INFO_V1(tsa_ratio_error);
PG_FUNCTION_INFO_V1(tsa_own_read_time);

/* Values, one for each sample; isnan(): there is none. */
typedef struct Series
{
	float8	   *values;
	int			n;
} Series;

/* The values of an argument, none of one that is null. */
static Series
series_of(FunctionCallInfo fcinfo, int arg)
{
	Series		series = {NULL, 0};
	Datum	   *elements;
	bool	   *nulls;

	if (PG_ARGISNULL(arg))
		return series;
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(arg), FLOAT8OID, sizeof(float8),
					  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements, &nulls,
					  &series.n);
	series.values = palloc((series.n + 1) * sizeof(float8));
	for (int i = 0; i < series.n; i++)
		series.values[i] = nulls[i] ? NAN : DatumGetFloat8(elements[i]);
	return series;
}

/* The value of a sample. */
static float8
value_of(const Series *series, int sample)
{
	return sample < series->n ? series->values[sample] : NAN;
}

/* The sum of the values that there are; NaN if there is none. */
static float8
sum_of(const Series *series)
{
	float8		sum = NAN;

	for (int i = 0; i < series->n; i++)
	{
		if (!isnan(series->values[i]))
			sum = isnan(sum) ? series->values[i] : sum + series->values[i];
	}
	return sum;
}

/*
 * By jackknife: how far the ratio of two sums is from that without each of the
 * samples.  NaN with fewer than three samples, or if no two have bases.
 */
static float8
ratio_error(const Series *amounts, const Series *bases)
{
	int			n = Max(amounts->n, bases->n);
	float8		amount = sum_of(amounts);
	float8		base = sum_of(bases);
	float8		squares = NAN;
	float8		most = NAN;

	for (int i = 0; i < bases->n; i++)
	{
		if (!isnan(bases->values[i]) && !(bases->values[i] <= most))
			most = bases->values[i];
	}
	if (n < 3 || !(most < base))
		return NAN;
	for (int i = 0; i < n; i++)
	{
		float8		without = base - value_of(bases, i);
		float8		change;

		if (without == 0)
			continue;
		change = (value_of(amounts, i) -
				  amount / base * value_of(bases, i)) / without;
		if (!isnan(change))
			squares = (isnan(squares) ? 0 : squares) + change * change;
	}
	return sqrt(squares * (n - 1) / n);
}

/* ratio_error(amounts, bases): see ratio_error(); NULL if it is not known. */
Datum
tsa_ratio_error(PG_FUNCTION_ARGS)
{
	Series		amounts = series_of(fcinfo, 0);
	Series		bases = series_of(fcinfo, 1);
	float8		error = ratio_error(&amounts, &bases);

	if (isnan(error))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(error);
}

/* A quotient; 0 where it is not known. */
static float8
known_quotient(float8 dividend, float8 divisor)
{
	if (isnan(dividend) || isnan(divisor) || divisor == 0)
		return 0;
	return dividend / divisor;
}

/*
 * Milliseconds that reads of the relation took in a sample; NaN: not known.
 * How that is known is said in the comment on own_read_time().
 */
static float8
sample_ms(const Series *series, float8 other_read_ms, int sample)
{
	float8		reads = value_of(&series[READS], sample);
	float8		unit_reads = value_of(&series[UNIT_READS], sample);
	float8		blocks = value_of(&series[BLOCKS_READ], sample);
	float8		read_ms = value_of(&series[READ_MS], sample);

	if (series[PAGE_MS].values != NULL)
		return value_of(&series[DEVICE_READS], sample) *
			value_of(&series[PAGE_MS], sample);
	if (series[UNIT_READS].values == NULL)
		return reads * known_quotient(read_ms, blocks);
	/* a difference that is not known counts as none */
	return known_quotient(reads, unit_reads) *
		(read_ms - other_read_ms *
		 (blocks > unit_reads ? blocks - unit_reads : 0));
}

/*
 * own_read_time(reads, device_reads, page_ms, unit_reads, seconds, accesses,
 *	blocks_read, read_ms, other_read_ms, OUT ms, OUT error)
 */
Datum
tsa_own_read_time(PG_FUNCTION_ARGS)
{
	Series		series[ARRAYS];
	Series		times = {NULL, 0};
	TupleDesc	desc;
	float8		other_read_ms = NAN;
	float8		seconds;
	Datum		values[2];
	bool		nulls[2] = {false, false};
	float8		ms;
	float8		error;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	for (int i = 0; i < ARRAYS; i++)
	{
		series[i] = series_of(fcinfo, i);
		times.n = Max(times.n, series[i].n);
	}
	if (!PG_ARGISNULL(OTHER_READ_MS))
		other_read_ms = PG_GETARG_FLOAT8(OTHER_READ_MS);
	times.values = palloc((times.n + 1) * sizeof(float8));
	for (int i = 0; i < times.n; i++)
		times.values[i] = sample_ms(series, other_read_ms, i);
	seconds = sum_of(&series[SECONDS]);
	ms = seconds == 0 ? NAN : sum_of(&times) / seconds;
	error = seconds == 0 ? NAN : ratio_error(&times, &series[ACCESSES]) *
		sum_of(&series[ACCESSES]) / seconds;
	values[0] = Float8GetDatum(ms > 0 ? ms : 0);
	values[1] = Float8GetDatum(error);
	nulls[1] = isnan(error);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
