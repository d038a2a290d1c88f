/*-------------------------------------------------------------------------
 *
 * correction.c
 *	  What the planner has to be told for its own formulas to come to the
 *	  measured time of a scan.
 *
 * The planner asks an index for its cost and a correlation, and computes the
 * table's part of an index scan from the latter: worst + c^2 (best - worst).
 * So there is a c for which this is what was measured; c^2 may exceed 1, but
 * not be negative, and what lies above the worst case is added to the index's
 * cost.  The same cost of the index goes into a bitmap heap scan, whose
 * table's part knows nothing of the index.  Where that is too low the
 * difference is added to the index's cost, too, and the index scan gets it
 * back through the correlation.
 *
 * A unit of cost is the time of a sequential scan of the table over what the
 * planner charges for it: that is the plan the others are compared with, and
 * the CPU cost units are not in keeping with seq_page_cost on every device.
 *
 * Pure: no server headers.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "cost/correction.h"

/* The cost of a microsecond. */
static double
find_unit(const TsaScan *scan, const TsaCostSettings *settings,
		  const TsaReadTimes *times)
{
	int			quals = scan->index_quals + scan->table_quals;
	double		us = scan->table_pages * times->sequential +
	scan->table_tuples * (times->cpu.tuple + quals * times->cpu.operator);

	return us > 0 ? tsa_seq_scan_cost(scan, settings) / us : 0;
}

/*
 * What one scan reads.  Where the scan is repeated, the cache holds part of
 * what the others have read; where the cache is small, blocks that are far
 * apart are read again within a scan.
 */
static void
find_point(const TsaLocalScan *local, const TsaCostSettings *settings,
		   const TsaLocality *locality, TsaLocalityPoint *point)
{
	const TsaScan *scan = &local->scan;
	double		tuples = tsa_clamp_rows(scan->selectivity *
										scan->table_tuples);
	double		runs = fmax(fmin(local->runs, tuples), 1);
	double		pages = fmax(scan->table_pages, 1);

	tsa_locality_at(locality, tuples / runs, point);
	tsa_locality_scale(point, runs);
	if (point->blocks > pages)
	{
		double		changes = point->changes;

		tsa_locality_scale(point, pages / point->blocks);
		point->changes = changes;
	}
	point->entries = tuples;

	if (scan->loop_count > 1)
	{
		double		fetched = tsa_pages_fetched(scan, settings,
												point->blocks *
												scan->loop_count);

		fetched /= scan->loop_count;
		tsa_locality_scale(point, fmin(fetched / point->blocks, 1));
	}
}

/* By how much a small cache multiplies the blocks of a random order. */
static double
read_again(const TsaScan *scan, const TsaCostSettings *settings)
{
	double		tuples = tsa_clamp_rows(scan->selectivity *
										scan->table_tuples);
	double		t = fmax(scan->table_pages, 1);
	double		once = fmin(2 * t * tuples / (2 * t + tuples), t);

	if (scan->loop_count > 1)
		return 1;
	return fmax(tsa_pages_fetched(scan, settings, tuples) / ceil(once), 1);
}

/*
 * What the turns between index and table take beyond what the planner charges
 * for the leaf pages, in units of cost.
 */
static double
turns(const TsaLocalScan *local, const TsaCostSettings *settings,
	  const TsaReadTimes *times, const TsaLocalityPoint *point, double unit)
{
	const TsaScan *scan = &local->scan;
	double		leaves = point->entries * scan->index_pages /
	fmax(scan->index_tuples, 1);

	if (!local->one_place || scan->loop_count > 1)
		return 0;
	return fmax(unit * tsa_locality_turns_us(point, times, leaves,
											 local->backward) -
				leaves * settings->index_random, 0);
}

/* The table's part of an index scan, in units of cost. */
static double
index_heap(const TsaLocalScan *local, const TsaCostSettings *settings,
		   const TsaReadTimes *times, const TsaLocalityPoint *point,
		   double unit)
{
	double		cost = tsa_locality_index_us(point, times, local->backward);
	double		random = point->random / point->blocks;

	cost += random * (read_again(&local->scan, settings) - 1) *
		point->random * times->random;
	cost += tsa_locality_revisit_us(point, times, settings->shared_pages);
	cost *= unit;
	cost += turns(local, settings, times, point, unit);
	return local->index_only ? cost * (1 - local->scan.all_visible) : cost;
}

/* Compute what to tell the planner. */
void
tsa_correct_scan(const TsaLocalScan *local, const TsaCostSettings *settings,
				 const TsaLocality *locality, const TsaReadTimes *times,
				 TsaCorrection *correction)
{
	const TsaScan *scan = &local->scan;
	TsaHeapCost core = tsa_index_heap_cost(scan, settings, local->index_only);
	double		squared;
	double		wanted;
	double		tuples;

	correction->unit = find_unit(scan, settings, times);
	find_point(local, settings, locality, &correction->point);
	correction->bitmap_heap = correction->unit *
		tsa_locality_bitmap_us(&correction->point, times, local->concurrency);
	correction->bitmap_core =
		tsa_bitmap_heap_cost(tsa_bitmap_pages(scan, settings, &tuples),
							 scan->table_pages, settings);

	/* where the two ends are one, the index scan could not get it back */
	correction->index_raise = core.worst == core.best ? 0 :
		fmax(correction->bitmap_heap - correction->bitmap_core, 0);
	wanted = index_heap(local, settings, times, &correction->point,
						correction->unit) - correction->index_raise;

	squared = core.worst - core.best != 0 ?
		(core.worst - wanted) / (core.worst - core.best) : 0;
	if (squared <= 0)
	{
		squared = 0;
		correction->index_raise += fmax(wanted - core.worst, 0);
	}
	correction->correlation = sqrt(squared);
}

/*
 * The correlation between 0 and 1 with which the planner's formula comes
 * nearest to the measured time of an index scan.
 */
double
tsa_effective_correlation(const TsaLocalScan *local,
						  const TsaCostSettings *settings,
						  const TsaLocality *locality,
						  const TsaReadTimes *times)
{
	TsaHeapCost core = tsa_index_heap_cost(&local->scan, settings,
										   local->index_only);
	double		unit = find_unit(&local->scan, settings, times);
	TsaLocalityPoint point;
	double		wanted;

	find_point(local, settings, locality, &point);
	wanted = index_heap(local, settings, times, &point, unit);
	if (core.worst <= core.best)
		return 1;
	return sqrt(fmin(fmax((core.worst - wanted) / (core.worst - core.best), 0),
					 1));
}
