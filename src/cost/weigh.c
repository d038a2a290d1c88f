/*-------------------------------------------------------------------------
 *
 * weigh.c
 *	  SQL function weigh_random_page_cost: regret.c for the indexes that
 *	  recommend_random_page_cost() has found.
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

#include "cost/cost.h"
#include "cost/locality_store.h"
#include "cost/regret.h"

PG_FUNCTION_INFO_V1(weigh_random_page_cost);

/* fields of one index in the flat array */
#define INDEX_FIELDS	9
#define TIME_FIELDS		14

/* Interrupts while weighing. */
static void
check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/* Take an array of numbers apart; NULL is NaN. */
static double *
read_numbers(ArrayType *array, int *n)
{
	Datum	   *elements;
	bool	   *nulls;
	double	   *numbers;
	int			i;

	deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &elements, &nulls, n);
	numbers = palloc(sizeof(double) * Max(*n, 1));
	for (i = 0; i < *n; i++)
		numbers[i] = nulls[i] ? NAN : DatumGetFloat8(elements[i]);
	return numbers;
}

/* One index; a locality that was measured takes the place of a correlation. */
static void
read_index(const double *fields, TsaRegretIndex *index, int *measured)
{
	const TsaLocalityRow *row = fields[0] >= 1 && fields[0] <= PG_UINT32_MAX ?
	tsa_locality_find((Oid) fields[0]) : NULL;

	index->scan.table_pages = fields[1];
	index->scan.table_tuples = fields[2];
	index->scan.index_pages = fields[3];
	index->scan.index_tuples = fields[4];
	index->scan.correlation = fields[5];
	index->cached = Min(Max(fields[6], 0), 1);
	index->index_random = isnan(fields[7]) ? 0 : fields[7];
	index->scan.tree_height = (int) fields[8];
	index->scan.index_quals = 1;
	index->scan.loop_count = 1;
	if (row != NULL)
	{
		index->locality = row->locality;
		(*measured)++;
	}
}

/* The times of the tablespace and the intervals of the first two. */
static void
read_times(ArrayType *array, TsaRegretInput *input)
{
	TsaReadTimes *times = &input->times;
	int			n;
	double	   *t = read_numbers(array, &n);

	if (n != TIME_FIELDS)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("times must have %d elements", TIME_FIELDS)));
	times->cpu = (TsaCpuTimes) TSA_CPU_TIMES;
	times->sequential = t[0];
	times->random = t[1];
	times->skip = isnan(t[2]) ? t[1] : t[2];
	times->cached = Min(t[0], isnan(t[3]) ? 2 : t[3]);
	times->adjacent_0 = isnan(t[4]) ? t[0] : t[4];
	times->adjacent_1 = isnan(t[5]) ? times->adjacent_0 : t[5];
	times->depth = isnan(t[6]) || isnan(t[7]) ? 0 : (int) t[6];
	times->adjacent_n = t[7];
	times->skip_n = isnan(t[8]) ? times->skip : t[8];
	times->random_n = isnan(t[9]) ? times->random : t[9];
	input->random_low = isnan(t[10]) ? t[1] : t[10];
	input->random_high = isnan(t[11]) ? t[1] : t[11];
	input->sequential_low = isnan(t[12]) ? t[0] : t[12];
	input->sequential_high = isnan(t[13]) ? t[0] : t[13];
	if (times->depth == 0)
		times->adjacent_n = times->adjacent_1;
}

/* SQL function weigh_random_page_cost; see its comment in recommend.sql. */
Datum
weigh_random_page_cost(PG_FUNCTION_ARGS)
{
	TsaRegretInput input = {0};
	TsaRegretOutcome outcome;
	TupleDesc	desc;
	Datum		values[8];
	bool		nulls[8] = {0};
	double	   *fields;
	int			measured = 0;
	int			n;
	int			i;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function returning record called in context that cannot accept type record")));

	read_times(PG_GETARG_ARRAYTYPE_P(0), &input);
	fields = read_numbers(PG_GETARG_ARRAYTYPE_P(1), &n);
	if (n == 0 || n % INDEX_FIELDS != 0)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("indexes must have a multiple of %d elements",
						INDEX_FIELDS)));
	input.nindexes = n / INDEX_FIELDS;
	input.indexes = palloc0(sizeof(TsaRegretIndex) * input.nindexes);
	for (i = 0; i < input.nindexes; i++)
		read_index(&fields[(size_t) i * INDEX_FIELDS], &input.indexes[i],
				   &measured);
	tsa_cost_settings_fill(&input.settings);
	input.settings.table_random = PG_GETARG_FLOAT8(2);
	input.settings.table_seq = PG_GETARG_FLOAT8(3);
	input.concurrency = PG_GETARG_INT32(4);
	input.check = check_interrupts;
	tsa_regret_weigh(&input, &outcome);

	i = 0;
	values[i++] = Float8GetDatum(outcome.best);
	values[i++] = Float8GetDatum(outcome.low);
	values[i++] = Float8GetDatum(outcome.high);
	values[i++] = Float8GetDatum(outcome.regret_current);
	values[i++] = Float8GetDatum(outcome.regret_best);
	values[i++] = Float8GetDatum(outcome.regret_locality);
	values[i++] = Float8GetDatum(outcome.gain_low);
	values[i++] = Int32GetDatum(measured);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
