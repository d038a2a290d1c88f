/*-------------------------------------------------------------------------
 *
 * scan_costs.c
 *	  SQL function predict_scan_costs: the planner's formulas for a table and
 *	  a B-tree that need not exist.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "compat.h"
#include "cost/cost.h"
#include "cost/page_cost.h"

PG_FUNCTION_INFO_V1(predict_scan_costs);

/* The settings of this session that are not the tablespaces'. */
void
tsa_cost_settings_fill(TsaCostSettings *settings)
{
	settings->cpu_tuple = cpu_tuple_cost;
	settings->cpu_index_tuple = cpu_index_tuple_cost;
	settings->cpu_operator = cpu_operator_cost;
	settings->cache_pages = effective_cache_size;
	settings->shared_pages = NBuffers;
	settings->meta_pages = TSA_META_PAGES_LEFT_OUT;
	settings->bitmap_entries =
		(double) tbm_calculate_entries(work_mem * INT64CONST(1024));
}

/* SQL function predict_scan_costs; see its comment in scan_costs.sql. */
Datum
predict_scan_costs(PG_FUNCTION_ARGS)
{
	TsaCostSettings settings;
	TsaScan		scan = {0};
	TupleDesc	desc;
	Datum		values[5];
	bool		nulls[5] = {0};
	int			i = 0;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function returning record called in context that cannot accept type record")));

	tsa_cost_settings_fill(&settings);
	scan.table_pages = PG_GETARG_FLOAT8(0);
	scan.table_tuples = PG_GETARG_FLOAT8(1);
	scan.all_visible = PG_GETARG_FLOAT8(2);
	scan.index_pages = PG_GETARG_FLOAT8(3);
	scan.index_tuples = PG_GETARG_FLOAT8(4);
	scan.tree_height = PG_GETARG_INT32(5);
	scan.correlation = PG_GETARG_FLOAT8(6);
	scan.selectivity = PG_GETARG_FLOAT8(7);
	settings.table_random = PG_GETARG_FLOAT8(8);
	settings.table_seq = PG_GETARG_FLOAT8(9);
	settings.index_random = PG_GETARG_FLOAT8(10);
	scan.index_quals = 1;
	scan.loop_count = 1;

	values[i++] = Float8GetDatum(tsa_seq_scan_cost(&scan, &settings));
	values[i++] = Float8GetDatum(tsa_index_scan_cost(&scan, &settings, 0));
	values[i++] = Float8GetDatum(tsa_index_scan_cost(&scan, &settings, 1));
	values[i++] = Float8GetDatum(tsa_btree_cost(&scan, &settings));
	values[i++] = Float8GetDatum(tsa_bitmap_scan_cost(&scan, &settings));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
