/*-------------------------------------------------------------------------
 *
 * correction.c
 *	  Figures with which the planner's own formulas come to the measured time
 *	  of a scan.
 *
 * The planner asks an index for its cost and a correlation, and computes the
 * table's part of an index scan from the latter: worst + c^2 (best - worst).
 * So there is a c for which this is the measured time; c^2 may exceed 1, but
 * not be negative, and the part above the worst case is added to the index's
 * cost.  The same cost of the index goes into a bitmap heap scan: its table's
 * part knows nothing of the index.  Where that is too low the difference is
 * added to the index's cost, too, and the index scan gets it back through the
 * correlation.
 *
 * Under LIMIT the planner takes the first rows for their share of all.  Their
 * time beyond that goes into the cost of starting the scan.
 *
 * A unit of cost is the time of a sequential scan of the table over the
 * planner's cost of it: that is the plan the others are compared with, and the
 * CPU cost units are not in keeping with seq_page_cost on every device.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "cost/correction.h"

/* times as many entries as rows, from which on conditions thin rows out */
#define SPARSE		2.0

/* blocks of a scan that is repeated; its own order does not matter yet */
#define FEW_BLOCKS	2.0

/*
 * Time of a sequential scan.  The kernel reads ahead while the rows are looked
 * at, so an uncached block takes the time of the device or that of the
 * processor, whichever is longer.  Copying a page from the system's cache is
 * the processor's.
 */
double
tsa_seq_scan_us(const TsaScan *scan, const TsaReadTimes *times)
{
	int			quals = scan->index_quals + scan->table_quals;
	double		rows = scan->table_tuples *
	(times->cpu.tuple + quals * times->cpu.operator);
	double		copies = scan->table_pages * times->cached;
	double		missing = 1 - times->cached_fraction;
	double		found = times->shared_fraction * scan->table_pages *
	fmin(times->cpu.hit, times->cached) +
	(times->cached_fraction - times->shared_fraction) * copies;
	double		device = scan->table_pages * times->sequential - found;
	double		processor = missing * (copies + rows);

	return found + times->cached_fraction * rows +
		(device > processor ? device : processor);
}

/* The cost of a microsecond. */
static double
find_unit(const TsaScan *scan, const TsaCostSettings *settings,
		  const TsaReadTimes *times)
{
	double		us = tsa_seq_scan_us(scan, times);

	return us > 0 ? tsa_seq_scan_cost(scan, settings) / us : 0;
}

/*
 * Scans of several blocks that come in the order of the index: as far as a
 * long stretch does not begin each of them with a random step, they begin
 * where the one before has ended, or a skip further on.
 */
static void
begin_in_order(const TsaLocalScan *local, const TsaLocalityPoint *stretch,
			   double blocks, TsaLocalityPoint *point)
{
	double		starts = fmin(point->random - stretch->random *
							  point->entries / stretch->entries, 1);
	double		gap = blocks * (1 / local->loop_share - 1);
	double		far;

	starts = fmax(starts, 0) * fmax(local->in_order, 0);
	if (gap > TSA_SKIP_BLOCKS)
		return;
	far = fmin(starts, point->far_gaps);
	point->random -= starts;
	point->far_gaps -= far;
	if (gap <= blocks)
	{
		point->sequential += starts;
		point->adjacent_gaps += far;
	}
	else
	{
		if (point->skip <= starts)
			point->skip_step_blocks = (point->skip + starts) * gap;
		point->skip += starts;
		point->skip_gaps += far;
		point->skip_blocks += far * gap;
	}
}

/*
 * The reads of one of many scans.  The cache holds part of the blocks that the
 * others have read.  As far as scans of a block or so come in the order of the
 * index, they are one scan cut to pieces.
 */
static void
repeat(const TsaLocalScan *local, const TsaCostSettings *settings,
	   const TsaLocality *locality, TsaLocalityPoint *point)
{
	const TsaScan *scan = &local->scan;
	double		loops = local->loops > 0 ? local->loops : scan->loop_count;
	double		fetched = tsa_pages_fetched(scan, settings,
											point->blocks * loops) / loops;
	double		again = fmax(point->blocks - fetched, 0);
	TsaLocalityPoint alone = *point;
	TsaLocalityPoint ordered;
	double		entries = fmin(point->entries * loops, scan->index_tuples);
	double		visited;

	tsa_locality_scale(&alone, fmin(fetched / alone.blocks, 1));
	alone.again = again;
	if (local->in_order == 0 || local->runs > 1)
	{
		*point = alone;
		return;
	}
	visited = fmin(entries / local->loop_share, scan->index_tuples);
	tsa_locality_at(locality, visited, &ordered);
	if (point->blocks >= FEW_BLOCKS)
	{
		begin_in_order(local, &ordered, point->blocks, &alone);
		*point = alone;
		return;
	}
	if (visited > SPARSE * entries)
		tsa_locality_thin(&ordered, entries / visited, point->entries);
	if (local->in_order < 0)
		tsa_locality_turn(&ordered);
	tsa_locality_scale(&ordered, 1 / loops);
	ordered.entries = point->entries;
	tsa_locality_between(&alone, &ordered, fabs(local->in_order), point);
	/* in order, a block that is read again was the last one */
	point->again = again * (1 - fabs(local->in_order));
}

/*
 * The reads of one scan, as a mean of all where it is repeated.  Where the
 * cache is small, blocks that are far apart are read again within a scan.
 * Returns how many blocks the scan leads to alone.
 */
static double
find_point(const TsaLocalScan *local, const TsaCostSettings *settings,
		   const TsaLocality *locality, TsaLocalityPoint *point)
{
	const TsaScan *scan = &local->scan;
	const TsaLocalityPoint *whole = &locality->points[locality->npoints - 1];
	double		tuples = tsa_clamp_rows(scan->selectivity *
										scan->table_tuples);
	double		pages = scan->table_pages > 1 ? scan->table_pages : 1;
	double		runs = local->runs < tuples ? local->runs : tuples;
	double		visited = fmin(local->visited, scan->index_tuples) / runs;
	double		entries = tuples / runs;
	double		blocks;

	/* columns that depend on each other leave more than the planner thinks */
	if (local->one_key && local->key_columns > 1)
	{
		entries = fmax(entries, fmin(tsa_locality_key_entries(locality),
									 scan->index_tuples / runs));
		tuples = entries * runs;
	}
	if (local->one_key)
		tsa_locality_of_key(locality, entries, point);
	else if (visited > SPARSE * entries)
	{
		tsa_locality_at(locality, visited, point);
		tsa_locality_thin(point, entries / visited, 1);
	}
	else
		tsa_locality_at(locality, entries, point);
	if (runs > 1)
		tsa_locality_union(point, runs, pages);
	if (point->blocks > pages)
	{
		double		changes = point->changes;

		tsa_locality_scale(point, pages / point->blocks);
		point->changes = changes;
	}
	point->entries = tuples;
	point->leaves_in_order = fmin(whole->leaves_in_order, 1);
	blocks = point->blocks;

	if (scan->loop_count > 1)
		repeat(local, settings, locality, point);
	return blocks;
}

/* Do shared buffers hold all blocks that the repetitions of a scan read? */
static int
fits_buffers(const TsaLocalScan *local, const TsaCostSettings *settings,
			 const TsaLocalityPoint *point)
{
	double		loops = local->loops > 0 ? local->loops :
	local->scan.loop_count;

	return settings->shared_pages >=
		point->blocks * loops + local->scan.index_pages;
}

/* By how much a small cache multiplies the blocks of a random order. */
static double
read_again(const TsaScan *scan, const TsaCostSettings *settings)
{
	double		t = scan->table_pages > 1 ? scan->table_pages : 1;
	double		total = scan->query_pages > t ? scan->query_pages : t;
	double		tuples;
	double		once;

	if (scan->loop_count > 1 ||
		settings->cache_pages >= total + scan->index_pages)
		return 1;
	tuples = tsa_clamp_rows(scan->selectivity * scan->table_tuples);
	once = fmin(2 * t * tuples / (2 * t + tuples), t);
	return fmax(tsa_pages_fetched(scan, settings, tuples) / ceil(once), 1);
}

/*
 * The charge for a leaf page of a single scan, after the first one.  The
 * planner takes it for a random read, which on a disk is far too much for pages
 * that follow each other.
 */
static double
leaf_charge(const TsaLocalScan *local, const TsaCostSettings *settings,
			const TsaLocalityPoint *point)
{
	double		in_order = fmin(settings->index_random,
								TSA_LEAF_IN_ORDER * settings->table_seq);

	if (!local->one_place || local->runs > 1 || local->backward)
		return settings->index_random;
	return tsa_between(settings->index_random, in_order,
					   point->leaves_in_order);
}

/*
 * The time of the turns between index and table beyond the charge for the leaf
 * pages, in units of cost.
 */
static double
turns(const TsaLocalScan *local, const TsaCostSettings *settings,
	  const TsaReadTimes *times, const TsaLocalityPoint *point, double unit)
{
	const TsaScan *scan = &local->scan;
	double		leaves;
	double		cost;

	if (!local->one_place || scan->loop_count > 1 || scan->index_tuples < 1)
		return 0;
	leaves = point->entries * scan->index_pages / scan->index_tuples;
	cost = unit * tsa_locality_turns_us(point, times, leaves,
										local->backward) -
		leaves * leaf_charge(local, settings, point);
	return cost > 0 ? cost : 0;
}

/*
 * The planner's charge for a row and its index entry, and the rest to charge
 * for the table if the whole is to come to so much.
 */
static double
less_row_charges(const TsaCostSettings *settings, double rows, double cost)
{
	cost -= rows * (settings->cpu_tuple + settings->cpu_index_tuple);
	return cost > 0 ? cost : 0;
}

/*
 * The table's part of an index scan, in units of cost.  As in a sequential
 * scan, the kernel reads ahead of sequential steps while rows are looked at.
 */
static double
index_heap(const TsaLocalScan *local, const TsaCostSettings *settings,
		   const TsaReadTimes *times, const TsaLocalityPoint *point,
		   double unit)
{
	double		us = tsa_locality_index_us(point, times, local->backward);
	double		again = read_again(&local->scan, settings);
	double		rows = point->entries *
	(times->cpu.tuple + times->cpu.index_tuple);
	double		read = 1;

	if (again > 1)
		us += (again - 1) * point->random / point->blocks *
			point->random * times->random;
	us += tsa_locality_revisit_us(point, times, settings->shared_pages);
	if (point->again > 0)
		us += point->again *
			tsa_locality_again_us(times, fits_buffers(local, settings, point),
								  0);
	us -= fmin(tsa_locality_ahead_us(point, times, local->backward),
			   (1 - times->cached_fraction) * rows);
	if (local->index_only)
		read = 1 - local->scan.all_visible;
	return less_row_charges(settings, point->entries,
							read * (unit * us + turns(local, settings, times,
													  point, unit)) +
							unit * rows);
}

/* The table's part of a bitmap heap scan, in units of cost. */
double
tsa_bitmap_heap_wanted(const TsaLocalityPoint *point,
					   const TsaCostSettings *settings,
					   const TsaReadTimes *times, int concurrency,
					   double unit)
{
	double		us = tsa_locality_bitmap_us(point, times, concurrency) +
	point->entries * (times->cpu.tuple + times->cpu.bit);

	return less_row_charges(settings, point->entries, unit * us);
}

/*
 * The cost of the bits of so many entries, beyond the planner's charge for
 * entries.
 */
double
tsa_bits_cost(double entries, const TsaCostSettings *settings,
			  const TsaReadTimes *times, double unit)
{
	return entries * fmax(unit * times->cpu.bit - settings->cpu_index_tuple,
						  0);
}

/*
 * How much more the first rows take than their share, of which no more than
 * local->wanted will be asked for.  A scan comes to a new block often in the
 * beginning and less and less often later.
 */
static double
first_rows(const TsaLocalScan *local, const TsaCostSettings *settings,
		   const TsaLocality *locality, const TsaReadTimes *times,
		   double unit, double heap)
{
	TsaLocalScan first = *local;
	TsaLocalityPoint point;
	double		more;

	first.scan.selectivity *= local->wanted;
	first.visited *= local->wanted;
	first.runs = fmax(local->runs * local->wanted, 1);
	(void) find_point(&first, settings, locality, &point);
	more = index_heap(&first, settings, times, &point, unit) -
		local->wanted * heap;
	return fmax(fmin(more / (1 - local->wanted), heap), 0);
}

/*
 * Cost of the leaf pages of a scan, less the planner's charge for them.
 * Earlier repetitions of a scan have read some of these pages.  Where the loop
 * follows the order of the index, the kernel reads ahead.
 */
static double
more_for_leaves(const TsaLocalScan *local, const TsaCostSettings *settings,
				const TsaReadTimes *times, const TsaLocalityPoint *point,
				double unit)
{
	const TsaScan *scan = &local->scan;
	double		leaves = local->leaves;
	double		loops = local->loops > 0 ? local->loops : scan->loop_count;
	double		order = fabs(local->in_order);
	double		fetched;
	double		us;

	if (scan->loop_count <= 1)
		return fmax(leaves - 1, 0) * (leaf_charge(local, settings, point) -
									  settings->index_random);
	if (!local->one_place || local->runs > 1)
		return 0;
	fetched = tsa_leaf_pages_fetched(scan, settings, leaves, loops) / loops;
	us = fetched * tsa_between(times->random, times->sequential, order) +
		fmax(leaves - fetched, 0) * (1 - order) *
		tsa_locality_again_us(times, fits_buffers(local, settings, point), 0);
	return unit * us - settings->index_random *
		tsa_leaf_pages_fetched(scan, settings, leaves, scan->loop_count) /
		scan->loop_count;
}

/* The share of the table's blocks that all repetitions of a scan lead to. */
static double
share_of_table(const TsaLocalScan *local, const TsaLocalityPoint *point)
{
	const TsaScan *scan = &local->scan;
	double		loops = local->loops > 0 ? local->loops : scan->loop_count;

	return fmin(point->blocks * fmax(loops, 1) / fmax(scan->table_pages, 1),
				1);
}

/*
 * Compute the figures for the planner.  "times" becomes the times of reads in
 * this scan.
 */
void
tsa_correct_scan(const TsaLocalScan *local, const TsaCostSettings *settings,
				 const TsaLocality *locality, const TsaCachedTimes *cached,
				 TsaReadTimes *times, TsaCorrection *correction)
{
	const TsaScan *scan = &local->scan;
	TsaHeapCost core = tsa_index_heap_cost(scan, settings, local->index_only);
	double		squared;
	double		blocks;
	double		heap;
	double		wanted;
	double		tuples;
	double		bits;

	correction->bitmap_raise = 0;
	correction->startup_raise = 0;
	correction->unit = find_unit(scan, settings, &cached->all);
	blocks = find_point(local, settings, locality, &correction->point);
	tsa_times_of_share(cached, share_of_table(local, &correction->point),
					   times);
	if (local->reads_again)
		tsa_times_blend(times, 0, 1);
	correction->leaf_raise = more_for_leaves(local, settings, times,
											 &correction->point,
											 correction->unit);
	heap = index_heap(local, settings, times, &correction->point,
					  correction->unit);
	correction->bitmap_heap =
		tsa_bitmap_heap_wanted(&correction->point, settings, times,
							   local->concurrency, correction->unit);
	if (correction->point.again > 0)
		correction->bitmap_heap += correction->unit *
			correction->point.again *
			tsa_locality_again_us(times,
								  fits_buffers(local, settings,
											   &correction->point),
								  local->concurrency);
	correction->bitmap_core =
		tsa_bitmap_heap_cost(tsa_bitmap_pages(scan, settings, &tuples),
							 scan->table_pages, settings);
	/* in a block or two there is nothing to put in order */
	if (scan->loop_count > 1 && blocks < FEW_BLOCKS)
		correction->bitmap_heap = fmax(fmax(correction->bitmap_heap, heap),
									   correction->bitmap_core);

	/*
	 * Bits are paid for however few rows other indexes leave.  Where the two
	 * ends are one, the index scan could not get it back.
	 */
	bits = tsa_bits_cost(correction->point.entries, settings, times,
						 correction->unit);
	if (core.worst != core.best)
		correction->bitmap_raise = (bits + fmax(correction->bitmap_heap - bits -
												correction->bitmap_core, 0)) *
			(local->any_order ? local->wanted : 1);
	if (local->wanted > 0 && local->wanted < 1)
		correction->startup_raise = first_rows(local, settings, locality,
											   times, correction->unit, heap);
	correction->index_raise = correction->bitmap_raise;
	wanted = heap - correction->index_raise;

	squared = core.worst - core.best != 0 ?
		(core.worst - wanted) / (core.worst - core.best) : 0;
	if (squared <= 0)
	{
		squared = 0;
		if (wanted > core.worst)
			correction->index_raise += wanted - core.worst;
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

	(void) find_point(local, settings, locality, &point);
	wanted = index_heap(local, settings, times, &point, unit);
	if (core.worst <= core.best)
		return 1;
	return sqrt(fmin(fmax((core.worst - wanted) / (core.worst - core.best), 0),
					 1));
}
