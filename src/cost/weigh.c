/*-------------------------------------------------------------------------
 *
 * weigh.c
 *	  SQL functions weigh_random_page_cost and find_worst_plans: regret.c for
 *	  the indexes that recommend_random_page_cost() has found.
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
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "cost/cost.h"
#include "cost/locality_store.h"
#include "cost/regret.h"

PG_FUNCTION_INFO_V1(weigh_random_page_cost);
PG_FUNCTION_INFO_V1(tsa_find_worst_plans);

/* Interrupts while weighing. */
static void
check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/* A number of a row, or the given one for NULL and infinite ones. */
static double
read_number(HeapTupleHeader row, const char *name, double otherwise)
{
	bool		isnull;
	Datum		value = GetAttributeByName(row, name, &isnull);
	double		number = isnull ? otherwise : DatumGetFloat8(value);

	return isfinite(number) ? number : otherwise;
}

/* One index; a locality that was measured takes the place of a correlation. */
static void
read_index(HeapTupleHeader row, TsaRegretIndex *index, int *measured)
{
	bool		isnull;
	Datum		oid = GetAttributeByName(row, "index", &isnull);
	const TsaLocalityRow *found = isnull ? NULL :
	tsa_locality_find(DatumGetObjectId(oid));

	index->scan.table_pages = read_number(row, "table_pages", 1);
	index->scan.table_tuples = read_number(row, "table_rows", 1);
	index->scan.index_pages = read_number(row, "index_pages", 1);
	index->scan.index_tuples = read_number(row, "index_entries", 1);
	index->scan.correlation = read_number(row, "correlation", 0);
	index->cached = Min(Max(read_number(row, "cached", 0), 0), 1);
	index->index_random = read_number(row, "random_page_cost", 0);
	index->scan.tree_height =
		(int) Min(Max(read_number(row, "tree_height", 0), 0), 32);
	index->scan.index_quals = 1;
	index->scan.loop_count = 1;
	if (found != NULL)
	{
		index->locality = found->locality;
		(*measured)++;
	}
}

/*
 * Reads an array of rows into input->indexes, and counts measured ones.  2202E
 * if it is empty, 22004 for a NULL in it.
 */
static void
read_indexes(ArrayType *array, TsaRegretInput *input, int *measured)
{
	Datum	   *elements;
	bool	   *nulls;

	/* of a row type all elements are aligned as doubles are */
	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false,
					  TYPALIGN_DOUBLE, &elements, &nulls, &input->nindexes);
	if (input->nindexes == 0)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("\"indexes\" must not be empty")));
	input->indexes = palloc0(sizeof(TsaRegretIndex) * input->nindexes);
	for (int i = 0; i < input->nindexes; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("\"indexes\" must not contain NULL")));
		read_index(DatumGetHeapTupleHeader(elements[i]), &input->indexes[i],
				   measured);
	}
}

/* The times of the tablespace and the intervals of the first two. */
static void
read_times(HeapTupleHeader row, TsaRegretInput *input)
{
	TsaReadTimes *times = &input->times;
	double		sequential = read_number(row, "sequential_page_us", 0);
	double		random = read_number(row, "random_read_us", 0);

	if (sequential <= 0 || random <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("times of reads must be greater than 0")));
	times->cpu = (TsaCpuTimes) TSA_CPU_TIMES;
	times->sequential = sequential;
	times->random = random;
	times->skip = read_number(row, "skip_read_us", random);
	times->cached = Min(sequential, read_number(row, "cached_read_us", 2));
	times->adjacent_0 = read_number(row, "adjacent_0_us", sequential);
	times->adjacent_1 = read_number(row, "adjacent_1_us", times->adjacent_0);
	times->adjacent_n = read_number(row, "adjacent_deep_us", 0);
	times->depth = times->adjacent_n <= 0 ? 0 :
		(int) Min(Max(read_number(row, "depth", 0), 0), 1024);
	times->skip_n = read_number(row, "skip_deep_us", times->skip);
	times->random_n = read_number(row, "random_deep_us", random);
	input->random_low = read_number(row, "random_read_low_us", random);
	input->random_high = read_number(row, "random_read_high_us", random);
	input->sequential_low = read_number(row, "sequential_page_low_us",
										sequential);
	input->sequential_high = read_number(row, "sequential_page_high_us",
										 sequential);
	if (times->depth == 0)
		times->adjacent_n = times->adjacent_1;
	tsa_times_combine(times);
}

/* The first arguments of both functions. */
static void
read_input(FunctionCallInfo fcinfo, TsaRegretInput *input, int *measured)
{
	read_times(PG_GETARG_HEAPTUPLEHEADER(0), input);
	read_indexes(PG_GETARG_ARRAYTYPE_P(1), input, measured);
	tsa_cost_settings_fill(&input->settings);
	input->settings.table_random = PG_GETARG_FLOAT8(2);
	input->settings.table_seq = PG_GETARG_FLOAT8(3);
	input->concurrency = PG_GETARG_INT32(4);
	input->recommended = PG_GETARG_INT32(5);
	input->check = check_interrupts;
}

/* SQL function weigh_random_page_cost; see its comment in recommend.sql. */
Datum
weigh_random_page_cost(PG_FUNCTION_ARGS)
{
	TsaRegretInput input = {0};
	TsaRegretOutcome outcome;
	TupleDesc	desc;
	Datum		values[10];
	bool		nulls[10] = {0};
	int			measured = 0;
	int			i;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function returning record called in context that cannot accept type record")));

	read_input(fcinfo, &input, &measured);
	if (PG_NARGS() > 6)			/* 1.0 has 6 arguments */
		input.advised = PG_GETARG_FLOAT8(6);
	tsa_regret_weigh(&input, &outcome);

	i = 0;
	values[i++] = Float8GetDatum(outcome.best);
	values[i++] = Float8GetDatum(outcome.low);
	values[i++] = Float8GetDatum(outcome.high);
	values[i++] = Float8GetDatum(outcome.regret_current);
	values[i++] = Float8GetDatum(outcome.regret_kept);
	values[i++] = Float8GetDatum(outcome.regret_best);
	values[i++] = Float8GetDatum(outcome.regret_locality);
	values[i++] = Float8GetDatum(outcome.gain_low);
	values[i++] = Float8GetDatum(outcome.prefetch_gain_low);
	values[i++] = Int32GetDatum(measured);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/* The name of a plan and its microseconds. */
static int
put_plan(Datum *values, TsaTimedPlan timed)
{
	static const char *const names[] = {
		[TSA_INDEX_SCAN] = "index scan",
		[TSA_BITMAP_SCAN] = "bitmap scan",
		[TSA_SEQ_SCAN] = "sequential scan"
	};

	values[0] = CStringGetTextDatum(names[timed.plan]);
	values[1] = Float8GetDatum(timed.us);
	return 2;
}

/* SQL function find_worst_plans; see its comment in worst_plans.sql. */
Datum
tsa_find_worst_plans(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	TsaRegretInput input = {0};
	int			measured = 0;

	read_input(fcinfo, &input, &measured);
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < input.nindexes; i++)
	{
		bool		is_measured = input.indexes[i].locality.npoints > 0;
		TsaWorstPlan worst = {0};
		Datum		values[11];
		bool		nulls[11] = {0};
		int			n = 0;

		check_interrupts();
		tsa_regret_worst(&input, &input.indexes[i], PG_GETARG_FLOAT8(6),
						 &worst);
		values[n++] = Int32GetDatum(i + 1);
		values[n++] = Float8GetDatum(worst.rows);
		n += put_plan(&values[n], worst.chosen);
		n += put_plan(&values[n], worst.best);
		n += put_plan(&values[n], worst.recommended);
		n += put_plan(&values[n], worst.corrected);
		values[n++] = BoolGetDatum(is_measured);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}
