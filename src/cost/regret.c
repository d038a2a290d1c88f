/*-------------------------------------------------------------------------
 *
 * regret.c
 *	  How much slower than the best plans the planner's are likely to be.
 *
 * For every index and a range of selectivities there are three plans: index
 * scan, bitmap heap scan, sequential scan.  Locality and measured times say
 * how long each takes, with the present caches; the planner's formulas say
 * which one it chooses under a given random_page_cost.  The regret is the time
 * of the chosen plan over that of the fastest, as a geometric mean over
 * indexes, selectivities (log-uniform: those of queries are not known) and two
 * ways in which blocks may be cached: a share of the blocks is the same share
 * of accesses, or blocks read often are likelier to be held
 * (tsa_times_cached()).
 *
 * All that is repeated for times drawn from the interval of the measured
 * mean, and a gain counts as one when it is there in all draws.  The
 * draws are the same in every call.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cost/regret.h"

#define SELECTIVITIES	9
#define DRAWS			20
#define PLANS			3
#define WAYS			2
#define FLAT			0.01	/* as good as the best within so much */
#define CLEARLY			0.05	/* by this another one is clearly better */

/* relative standard error of a sequential read, which is not kept */
#define SEQUENTIAL_ERROR	0.05

static const double candidates[] = {
	1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 12, 15, 20,
	25, 30, 40, 50, 60, 80, 100
};

/* those that are recommended where several are as good */
static const double round_candidates[] = {1, 2, 4, 8, 15, 30, 60, 100};

#define CANDIDATES	((int) (sizeof(candidates) / sizeof(candidates[0])))

/*
 * After the candidates come the current settings, the same with prefetching as
 * it is recommended, and corrected locality.
 */
#define CURRENT		CANDIDATES
#define KEPT		(CANDIDATES + 1)
#define CORRECTED	(CANDIDATES + 2)
#define SETTINGS	(CANDIDATES + 3)

/*
 * The blocks of an index without a measured locality: between full order and
 * none, as the planner interpolates.
 */
void
tsa_locality_assume(const TsaScan *scan, TsaLocality *locality)
{
	double		squared = fmin(scan->correlation * scan->correlation, 1);
	double		pages = fmax(scan->table_pages, 1);
	double		per_page = fmax(scan->table_tuples / pages, 1);
	double		size = 1;
	int			i;

	memset(locality, 0, sizeof(*locality));
	for (i = 0; i <= TSA_LOCALITY_LEVELS; i++, size *= 4)
	{
		TsaLocalityPoint *point = &locality->points[i];
		double		entries = i == TSA_LOCALITY_LEVELS ||
		size > scan->table_tuples ? scan->table_tuples : size;
		double		ordered = fmax(entries / per_page, 1);
		double		random = fmax(fmin(2 * pages * entries /
									   (2 * pages + entries), pages), 1);
		double		density = random / pages;
		double		skip = fmax(1 - pow(1 - density, TSA_SKIP_BLOCKS) -
								density, 0);
		double		step = squared * (ordered - 1);

		point->entries = fmax(entries, 1);
		point->blocks = squared * ordered + (1 - squared) * random;
		if (scan->correlation >= 0)
			point->sequential = step;
		else
			point->back_sequential = step;
		point->random = point->blocks - point->sequential;
		point->changes = squared * ordered + (1 - squared) * entries;
		random *= 1 - squared;
		point->adjacent_gaps = fmin(step + random * density,
									point->blocks - 1);
		point->skip_gaps = fmin(random * skip,
								point->blocks - 1 - point->adjacent_gaps);
		point->skip_blocks = point->skip_gaps * tsa_mean_skip(density);
		point->far_gaps = point->blocks - point->adjacent_gaps -
			point->skip_gaps;
		locality->npoints++;
		if (point->entries >= scan->table_tuples)
			break;
	}
}

/* The measured locality, or its substitute. */
static void
know_locality(TsaRegretIndex *index)
{
	if (index->locality.npoints == 0)
		tsa_locality_assume(&index->scan, &index->locality);
}

/*
 * How long the three plans take, the bitmap scan with so much prefetching;
 * "all" are the times of a scan of all blocks.
 */
static void
time_plans(const TsaRegretInput *input, const TsaRegretIndex *index,
		   const TsaLocalityPoint *point, const TsaReadTimes *times,
		   const TsaReadTimes *all, double tuples, int concurrency,
		   double *us)
{
	const TsaScan *scan = &index->scan;
	double		leaves = fmax(tuples * scan->index_pages /
							  fmax(scan->index_tuples, 1), 1);
	double		read_index = times->random + (leaves - 1) * times->sequential;
	double		rows = tuples * (times->cpu.tuple + times->cpu.index_tuple +
								 times->cpu.operator);

	us[TSA_INDEX_SCAN] = read_index + rows +
		tsa_locality_index_us(point, times, 0) +
		tsa_locality_revisit_us(point, times, input->settings.shared_pages) -
		fmin(tsa_locality_ahead_us(point, times, 0),
			 (1 - times->cached_fraction) * rows);
	if (index->index_random <= 0)
		us[TSA_INDEX_SCAN] += tsa_locality_turns_us(point, times, leaves, 0);
	us[TSA_BITMAP_SCAN] = read_index +
		tsa_locality_bitmap_us(point, times, concurrency) +
		tuples * (times->cpu.tuple + times->cpu.bit +
				  2 * times->cpu.operator);
	us[TSA_SEQ_SCAN] = tsa_seq_scan_us(scan, all);
}

/* The plan that the planner chooses. */
static int
choose_plan(const TsaScan *scan, const TsaCostSettings *settings)
{
	double		by_index = tsa_index_scan_cost(scan, settings, 0);
	double		by_bitmap = tsa_bitmap_scan_cost(scan, settings);
	double		by_table = tsa_seq_scan_cost(scan, settings);

	if (by_index <= by_bitmap && by_index <= by_table)
		return TSA_INDEX_SCAN;
	return by_bitmap <= by_table ? TSA_BITMAP_SCAN : TSA_SEQ_SCAN;
}

/*
 * The plan that it chooses with locality corrected, with the cached share
 * known.
 */
static int
choose_corrected(const TsaRegretInput *input, const TsaRegretIndex *index,
				 const TsaScan *scan, const TsaCachedTimes *cached,
				 const TsaCostSettings *settings)
{
	TsaReadTimes times;
	TsaLocalScan local = {
		.scan = *scan,.one_place = index->index_random <= 0,.runs = 1,
		.concurrency = input->recommended
	};
	TsaScan		corrected = *scan;
	TsaCorrection correction;
	double		by_index;
	double		by_bitmap;
	double		by_table = tsa_seq_scan_cost(scan, settings);

	tsa_correct_scan(&local, settings, &index->locality, cached, &times,
					 &correction);
	corrected.correlation = correction.correlation;
	by_index = tsa_index_scan_cost(&corrected, settings, 0) +
		correction.index_raise;
	by_bitmap = tsa_bitmap_scan_cost(scan, settings) +
		correction.bitmap_heap - correction.bitmap_core;
	if (by_index <= by_bitmap && by_index <= by_table)
		return TSA_INDEX_SCAN;
	return by_bitmap <= by_table ? TSA_BITMAP_SCAN : TSA_SEQ_SCAN;
}

/* An index and a share of its rows, and how long the plans take in each way,
 * with the current prefetching and with the recommended one. */
typedef struct Cell
{
	const TsaRegretIndex *index;
	const TsaCachedTimes *cached;
	TsaScan		scan;
	double		rows;
	double		us[WAYS][2][PLANS];
} Cell;

/* Costs and times of all ways of a scan, for the selectivity of a step. */
static void
time_cell(const TsaRegretInput *input, Cell *cell, int step)
{
	const TsaRegretIndex *index = cell->index;
	double		table_rows = index->scan.table_tuples;
	TsaLocalityPoint point;
	TsaReadTimes times;

	cell->scan = index->scan;
	cell->scan.selectivity = pow(1 / fmax(table_rows, 2),
								 1 - step / (SELECTIVITIES - 0.5));
	cell->rows = fmax(cell->scan.selectivity * table_rows, 1);
	tsa_locality_at(&index->locality, cell->rows, &point);
	tsa_times_of_share(cell->cached, point.blocks /
					   fmax(cell->scan.table_pages, 1), &times);
	for (int way = 0; way < WAYS; way++)
		for (int i = 0; i < 2; i++)
			time_plans(input, index, &point,
					   way == 0 ? &times : &cell->cached->all,
					   &cell->cached->all, cell->rows,
					   i == 0 ? input->concurrency : input->recommended,
					   cell->us[way][i]);
}

/* The settings with a random_page_cost of the table's tablespace. */
static TsaCostSettings
settings_of(const TsaRegretInput *input, const TsaRegretIndex *index,
			double table_random)
{
	TsaCostSettings settings = input->settings;

	settings.table_random = table_random;
	settings.index_random = index->index_random > 0 ?
		index->index_random : settings.table_random;
	return settings;
}

/* Add the logarithms of one cell's regrets. */
static void
add_cell(const TsaRegretInput *input, const Cell *cell, double *sums)
{
	double		best[WAYS];

	for (int way = 0; way < WAYS; way++)
	{
		best[way] = INFINITY;
		for (int i = 0; i < 2 * PLANS; i++)
			best[way] = fmin(best[way], cell->us[way][i / PLANS][i % PLANS]);
	}
	for (int i = 0; i < SETTINGS; i++)
	{
		double		table_random = i >= CANDIDATES ?
		input->settings.table_random :
		fmax(candidates[i], 1) * input->settings.table_seq;
		TsaCostSettings settings = settings_of(input, cell->index,
											   table_random);
		int			plan = i == CORRECTED ?
		choose_corrected(input, cell->index, &cell->scan, cell->cached,
						 &settings) :
		choose_plan(&cell->scan, &settings);

		for (int way = 0; way < WAYS; way++)
			sums[i] += log(cell->us[way][i != CURRENT][plan] / best[way]) /
				WAYS;
	}
}

/* A deterministic draw from a standard normal distribution. */
static double
draw_normal(unsigned *seed)
{
	double		sum = 0;
	int			i;

	for (i = 0; i < 12; i++)
	{
		*seed = *seed * 1664525u + 1013904223u;
		sum += (*seed >> 8) / 16777216.0;
	}
	return sum - 6;
}

/* Mean logarithms of the regret under each setting, for one draw of times. */
static void
weigh_draw(const TsaRegretInput *input, const TsaReadTimes *cold,
		   double *means)
{
	memset(means, 0, SETTINGS * sizeof(double));
	for (int i = 0; i < input->nindexes; i++)
	{
		TsaCachedTimes cached;
		Cell		cell = {.index = &input->indexes[i],.cached = &cached};

		input->check();
		tsa_times_cached(cold, 0, cell.index->cached, &cached);
		for (int step = 0; step < SELECTIVITIES; step++)
		{
			time_cell(input, &cell, step);
			add_cell(input, &cell, means);
		}
	}
	for (int i = 0; i < SETTINGS; i++)
		means[i] /= input->nindexes * SELECTIVITIES;
}

/* The flat region around a candidate: those that are no worse, or hardly. */
static void
find_flat(const double *means, int candidate, int *low, int *high)
{
	double		limit = means[candidate] + FLAT;

	*low = *high = candidate;
	while (*low > 0 && means[*low - 1] <= limit)
		(*low)--;
	while (*high < CANDIDATES - 1 && means[*high + 1] <= limit)
		(*high)++;
}

/*
 * The candidate to recommend of a flat region: the round one nearest to the
 * middle, so that measurements that differ a little lead to the same; where
 * there is no round one, the given.
 */
static int
choose_round(int low, int high, int otherwise)
{
	int			chosen = otherwise;
	double		middle = sqrt(candidates[low] * candidates[high]);
	double		nearest = INFINITY;

	for (int i = low; i <= high; i++)
		for (size_t j = 0; j < sizeof(round_candidates) / sizeof(double); j++)
		{
			double		distance = fabs(log(candidates[i] / middle));

			if (candidates[i] == round_candidates[j] && distance < nearest)
			{
				nearest = distance;
				chosen = i;
			}
		}
	return chosen;
}

/* The candidate nearest to a constant, a multiple of seq_page_cost. */
static int
nearest_candidate(double constant)
{
	int			nearest = 0;

	for (int i = 1; i < CANDIDATES; i++)
		if (fabs(log(candidates[i] / constant)) <
			fabs(log(candidates[nearest] / constant)))
			nearest = i;
	return nearest;
}

/* Is a candidate better than another one by more than noise and habit? */
static bool
is_clearly_better(double draws[][SETTINGS], const double *means, int candidate,
				  int other)
{
	for (int i = 0; i < DRAWS; i++)
		if (draws[i][candidate] >= draws[i][other])
			return false;
	return means[candidate] < means[other] - CLEARLY;
}

/*
 * Choose the candidate to recommend, and set its flat region.  There may be
 * several minima far from each other, of which now one is the lowest and now
 * another: the one advised before is kept until one is clearly better.
 */
static int
choose_candidate(const TsaRegretInput *input, double draws[][SETTINGS],
				 const double *means, TsaRegretOutcome *outcome)
{
	double		advised = input->advised / input->settings.table_seq;
	int			chosen = 0;
	int			low;
	int			high;

	for (int i = 1; i < CANDIDATES; i++)
		if (means[i] < means[chosen])
			chosen = i;
	if (advised > 0 && isfinite(advised) &&
		!is_clearly_better(draws, means, chosen, nearest_candidate(advised)))
	{
		chosen = nearest_candidate(advised);
		find_flat(means, chosen, &low, &high);
	}
	else
	{
		find_flat(means, chosen, &low, &high);
		chosen = choose_round(low, high, chosen);
	}
	outcome->low = candidates[low] * input->settings.table_seq;
	outcome->high = candidates[high] * input->settings.table_seq;
	return chosen;
}

/*
 * Find the best random_page_cost for the given indexes.  Candidates are
 * multiples of seq_page_cost.
 */
void
tsa_regret_weigh(TsaRegretInput *input, TsaRegretOutcome *outcome)
{
	double		draws[DRAWS][SETTINGS];
	double		means[SETTINGS] = {0};
	double		random_error = (input->random_high - input->random_low) /
	3.92 / input->times.random;
	double		sequential_error =
	fmax((input->sequential_high - input->sequential_low) / 3.92 /
		 input->times.sequential, SEQUENTIAL_ERROR);
	unsigned	seed = 1;
	int			best;
	int			i;
	int			j;

	for (i = 0; i < input->nindexes; i++)
		know_locality(&input->indexes[i]);
	for (i = 0; i < DRAWS; i++)
	{
		TsaReadTimes times = input->times;
		double		factor = exp(draw_normal(&seed) * random_error);

		times.random *= factor;
		times.skip *= factor;
		times.sequential *= exp(draw_normal(&seed) * sequential_error);
		weigh_draw(input, &times, draws[i]);
		for (j = 0; j < SETTINGS; j++)
			means[j] += draws[i][j] / DRAWS;
	}

	best = choose_candidate(input, draws, means, outcome);
	outcome->best = candidates[best] * input->settings.table_seq;
	outcome->regret_current = exp(means[CURRENT]);
	outcome->regret_kept = exp(means[KEPT]);
	outcome->regret_best = exp(means[best]);
	outcome->regret_locality = exp(means[CORRECTED]);
	outcome->gain_low = INFINITY;
	outcome->prefetch_gain_low = INFINITY;
	for (i = 0; i < DRAWS; i++)
	{
		const double *draw = draws[i];

		outcome->gain_low = fmin(outcome->gain_low,
								 exp(draw[KEPT] - draw[best]));
		outcome->prefetch_gain_low = fmin(outcome->prefetch_gain_low,
										  exp(draw[CURRENT] - draw[KEPT]));
	}
}

/* The time of a plan, between the two ways in which caches may hold blocks. */
static TsaTimedPlan
plan_of(const Cell *cell, int prefetching, int plan)
{
	TsaTimedPlan timed = {.plan = plan};

	timed.us = sqrt(cell->us[0][prefetching][plan] *
					cell->us[1][prefetching][plan]);
	return timed;
}

/*
 * Find for how many rows of an index the planner's choice is furthest from the
 * best plan, by the measured times themselves, and its choice there with the
 * given random_page_cost and the recommended prefetching.
 */
void
tsa_regret_worst(const TsaRegretInput *input, TsaRegretIndex *index,
				 double random_page_cost, TsaWorstPlan *worst)
{
	double		furthest = 0;
	TsaCachedTimes cached;
	TsaCostSettings now = settings_of(input, index,
									  input->settings.table_random);
	TsaCostSettings then = settings_of(input, index, random_page_cost);
	Cell		cell = {.index = index,.cached = &cached};

	know_locality(index);
	tsa_times_cached(&input->times, 0, index->cached, &cached);
	for (int step = 0; step < SELECTIVITIES; step++)
	{
		TsaTimedPlan chosen;
		TsaTimedPlan best;

		time_cell(input, &cell, step);
		chosen = best = plan_of(&cell, 0, choose_plan(&cell.scan, &now));
		for (int i = 0; i < 2 * PLANS; i++)
		{
			TsaTimedPlan other = plan_of(&cell, i / PLANS, i % PLANS);

			if (other.us < best.us)
				best = other;
		}
		if (chosen.us / best.us <= furthest)
			continue;
		furthest = chosen.us / best.us;
		worst->rows = cell.rows;
		worst->chosen = chosen;
		worst->best = best;
		worst->recommended = plan_of(&cell, 1, choose_plan(&cell.scan, &then));
		worst->corrected = plan_of(&cell, 1,
								   choose_corrected(input, index, &cell.scan,
													&cached, &then));
	}
}
