/*-------------------------------------------------------------------------
 *
 * page_cost.c
 *	  The planner's formulas for scans of one table.
 *
 * The costs of costsize.c and selfuncs.c for sequential, index, index-only and
 * bitmap heap scans, for one table without parallel workers: the same rounding
 * in the same places, so that a choice between two plans comes out as the
 * planner's does.  t/090 compares the results with EXPLAIN.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "cost/page_cost.h"

/* pages of a B-tree are charged so many operators each on the way down */
#define OPERATORS_PER_PAGE	50.0

/* a row in a bitmap is charged so many operators */
#define OPERATORS_PER_BIT	0.1

/* A number of rows, as the planner rounds it. */
double
tsa_clamp_rows(double rows)
{
	return rows <= 1.0 || isnan(rows) ? 1.0 : rint(rows);
}

/* Pages that fetching so many tuples takes, by Mackert and Lohman. */
static double
pages_fetched(double tuples, double pages, double index_pages,
			  double query_pages, double cache_pages)
{
	double		t = pages > 1 ? pages : 1;
	double		total = query_pages + index_pages;
	double		b = cache_pages * t / (total > 1 ? total : 1);
	double		limit;
	double		result;

	b = b <= 1 ? 1 : ceil(b);
	if (t <= b)
	{
		result = 2 * t * tuples / (2 * t + tuples);
		return result >= t ? t : ceil(result);
	}
	limit = 2 * t * b / (2 * t - b);
	if (tuples <= limit)
		result = 2 * t * tuples / (2 * t + tuples);
	else
		result = b + (tuples - limit) * (t - b) / t;
	return ceil(result);
}

/* How many pages of a scan's table are fetched for so many rows. */
double
tsa_pages_fetched(const TsaScan *scan, const TsaCostSettings *settings,
				  double tuples)
{
	double		total = scan->query_pages > 0 ?
	scan->query_pages : scan->table_pages;

	return pages_fetched(tuples, scan->table_pages, scan->index_pages, total,
						 settings->cache_pages);
}

/* Pages of the index that so many scans fetch, each of which reads some. */
double
tsa_leaf_pages_fetched(const TsaScan *scan, const TsaCostSettings *settings,
					   double pages, double loops)
{
	double		total = scan->query_pages > 0 ?
	scan->query_pages : scan->table_pages;

	return pages_fetched(pages * loops, scan->index_pages, scan->index_pages,
						 total, settings->cache_pages);
}

/*
 * The two ends between which the planner interpolates, by the square of the
 * correlation, the cost of the table's pages in an index scan.
 */
TsaHeapCost
tsa_index_heap_cost(const TsaScan *scan, const TsaCostSettings *settings,
					int index_only)
{
	double		tuples = tsa_clamp_rows(scan->selectivity *
										scan->table_tuples);
	double		loops = scan->loop_count > 1 ? scan->loop_count : 1;
	double		invisible = 1.0 - scan->all_visible;
	double		r = settings->table_random;
	double		pages;
	TsaHeapCost cost;

	pages = tsa_pages_fetched(scan, settings, tuples * loops);
	if (index_only)
		pages = ceil(pages * invisible);
	cost.worst = pages * r / loops;

	pages = ceil(scan->selectivity * scan->table_pages);
	if (loops > 1)
		pages = tsa_pages_fetched(scan, settings, pages * loops);
	if (index_only)
		pages = ceil(pages * invisible);
	if (loops > 1)
		cost.best = pages * r / loops;
	else if (pages > 0)
		cost.best = r + (pages - 1) * settings->table_seq;
	else
		cost.best = 0;
	return cost;
}

/*
 * Pages that a bitmap heap scan fetches; "tuples" becomes how many rows it
 * has to look at, which are more where work_mem makes the bitmap lossy.
 */
double
tsa_bitmap_pages(const TsaScan *scan, const TsaCostSettings *settings,
				 double *tuples)
{
	double		t = scan->table_pages > 1 ? scan->table_pages : 1;
	double		fetched = tsa_clamp_rows(scan->selectivity *
										 scan->table_tuples);
	double		pages = 2 * t * fetched / (2 * t + fetched);
	double		once = pages < scan->table_pages ? pages : scan->table_pages;

	*tuples = fetched;
	if (scan->loop_count > 1)
		pages = tsa_pages_fetched(scan, settings, fetched * scan->loop_count) /
			scan->loop_count;
	pages = pages >= t ? t : ceil(pages);

	if (settings->bitmap_entries < once)
	{
		double		lossy = fmax(0, once -
								 floor(settings->bitmap_entries / 2));
		double		exact = once - lossy;

		if (lossy > 0)
			*tuples = tsa_clamp_rows(scan->selectivity * (exact / once) *
									 scan->table_tuples +
									 (lossy / once) * scan->table_tuples);
	}
	return pages;
}

/* The planner's cost of so many pages of a bitmap heap scan. */
double
tsa_bitmap_heap_cost(double pages, double table_pages,
					 const TsaCostSettings *settings)
{
	double		t = table_pages > 1 ? table_pages : 1;
	double		r = settings->table_random;

	if (pages >= 2)
		return pages * (r - (r - settings->table_seq) * sqrt(pages / t));
	return pages * r;
}

/* Cost of the index part of a scan of a B-tree. */
double
tsa_btree_cost(const TsaScan *scan, const TsaCostSettings *settings)
{
	double		loops = scan->loop_count > 1 ? scan->loop_count : 1;
	double		entries = rint(scan->selectivity * scan->table_tuples);
	double		leaves = scan->index_pages - settings->meta_pages;
	double		pages = 1;
	double		cost;

	entries = fmax(fmin(entries, scan->index_tuples), 1);
	if (scan->index_pages > 1 && leaves > 0 && scan->index_tuples > 1)
		pages = ceil(entries * leaves / scan->index_tuples);
	if (loops > 1)
		pages = tsa_leaf_pages_fetched(scan, settings, pages, loops) / loops;
	cost = pages * settings->index_random;
	cost += entries * (settings->cpu_index_tuple +
					   settings->cpu_operator * scan->index_quals);
	if (scan->index_tuples > 1)
		cost += ceil(log(scan->index_tuples) / log(2.0)) *
			settings->cpu_operator;
	return cost + (scan->tree_height + 1) * OPERATORS_PER_PAGE *
		settings->cpu_operator;
}

/* Total cost of a sequential scan. */
double
tsa_seq_scan_cost(const TsaScan *scan, const TsaCostSettings *settings)
{
	int			quals = scan->index_quals + scan->table_quals;

	return settings->table_seq * scan->table_pages +
		(settings->cpu_tuple + settings->cpu_operator * quals) *
		scan->table_tuples;
}

/* Total cost of an index scan or an index-only scan. */
double
tsa_index_scan_cost(const TsaScan *scan, const TsaCostSettings *settings,
					int index_only)
{
	TsaHeapCost heap = tsa_index_heap_cost(scan, settings, index_only);
	double		squared = scan->correlation * scan->correlation;
	double		tuples = tsa_clamp_rows(scan->selectivity *
										scan->table_tuples);

	return tsa_btree_cost(scan, settings) +
		heap.worst + squared * (heap.best - heap.worst) +
		(settings->cpu_tuple + settings->cpu_operator * scan->table_quals) *
		tuples;
}

/* Total cost of a bitmap heap scan with one index. */
double
tsa_bitmap_scan_cost(const TsaScan *scan, const TsaCostSettings *settings)
{
	double		tuples;
	double		pages = tsa_bitmap_pages(scan, settings, &tuples);
	int			quals = scan->index_quals + scan->table_quals;

	return tsa_btree_cost(scan, settings) +
		OPERATORS_PER_BIT * settings->cpu_operator *
		tsa_clamp_rows(scan->selectivity * scan->table_tuples) +
		tsa_bitmap_heap_cost(pages, scan->table_pages, settings) +
		(settings->cpu_tuple + settings->cpu_operator * quals) * tuples;
}
