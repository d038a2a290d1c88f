/*-------------------------------------------------------------------------
 *
 * regret.c
 *	  How much slower than the best plans the planner's are likely to be.
 *
 * For every index and a range of selectivities there are three plans: index
 * scan, bitmap heap scan, sequential scan.  Locality and measured times say
 * how long each takes, with what caches hold; the planner's formulas
 * say which one it chooses under a given random_page_cost.  The regret is the
 * time of the chosen plan over that of the fastest, as a geometric mean over
 * indexes, selectivities (log-uniform: what queries ask for is not known) and
 * two ways in which caches may hold what they do: a share of the blocks is
 * the same share of accesses, or what is asked for often is likelier to be
 * held (tsa_times_cached()).
 *
 * All that is repeated for times drawn from the interval of the measured
 * mean, and a gain counts as one when it is there in all draws.  The
 * draws are the same in every call.
 *
 * Pure: no server headers.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "cost/regret.h"

#define SELECTIVITIES	9
#define DRAWS			20
#define PLANS			3
#define WAYS			2
#define FLAT			0.01	/* as good as the best within so much */

/* relative standard error of a sequential read, which is not kept */
#define SEQUENTIAL_ERROR	0.05

static const double candidates[] = {
	1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 12, 15, 20,
	25, 30, 40, 50, 60, 80, 100
};

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
 * What an index leads to whose locality nobody has measured: between full
 * order and none, as the planner interpolates.
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

	us[0] = read_index + rows + tsa_locality_index_us(point, times, 0) +
		tsa_locality_revisit_us(point, times, input->settings.shared_pages) -
		fmin(tsa_locality_ahead_us(point, times, 0),
			 (1 - times->cached_fraction) * rows);
	if (index->index_random <= 0)
		us[0] += tsa_locality_turns_us(point, times, leaves, 0);
	us[1] = read_index +
		tsa_locality_bitmap_us(point, times, concurrency) +
		tuples * (times->cpu.tuple + times->cpu.bit +
				  2 * times->cpu.operator);
	us[2] = tsa_seq_scan_us(scan, all);
}

/* The plan that the planner chooses. */
static int
choose_plan(const TsaScan *scan, const TsaCostSettings *settings)
{
	double		by_index = tsa_index_scan_cost(scan, settings, 0);
	double		by_bitmap = tsa_bitmap_scan_cost(scan, settings);
	double		by_table = tsa_seq_scan_cost(scan, settings);

	if (by_index <= by_bitmap && by_index <= by_table)
		return 0;
	return by_bitmap <= by_table ? 1 : 2;
}

/* The plan that it chooses with locality corrected, told what caches hold. */
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
		return 0;
	return by_bitmap <= by_table ? 1 : 2;
}

/* Add the logarithms of one cell's regrets. */
static void
add_cell(const TsaRegretInput *input, const TsaRegretIndex *index,
		 const TsaCachedTimes *cached,
		 double selectivity, double *sums)
{
	double		tuples = fmax(selectivity * index->scan.table_tuples, 1);
	double		us[WAYS][2][PLANS];
	double		best[WAYS];
	TsaScan		scan = index->scan;
	TsaLocalityPoint point;
	TsaReadTimes times;
	int			i;
	int			way;

	scan.selectivity = selectivity;
	tsa_locality_at(&index->locality, tuples, &point);
	tsa_times_of_share(cached, point.blocks / fmax(scan.table_pages, 1),
					   &times);
	for (way = 0; way < WAYS; way++)
	{
		best[way] = INFINITY;
		for (i = 0; i < 2; i++)
		{
			double	   *plans = us[way][i];

			time_plans(input, index, &point, way == 0 ? &times : &cached->all,
					   &cached->all, tuples,
					   i == 0 ? input->concurrency : input->recommended,
					   plans);
			best[way] = fmin(best[way],
							 fmin(fmin(plans[0], plans[1]), plans[2]));
		}
	}
	for (i = 0; i < SETTINGS; i++)
	{
		TsaCostSettings settings = input->settings;
		int			plan;

		if (i < CANDIDATES)
			settings.table_random = fmax(candidates[i], 1) *
				settings.table_seq;
		settings.index_random = index->index_random > 0 ?
			index->index_random : settings.table_random;
		plan = i == CORRECTED ?
			choose_corrected(input, index, &scan, cached, &settings) :
			choose_plan(&scan, &settings);
		for (way = 0; way < WAYS; way++)
			sums[i] += log(us[way][i != CURRENT][plan] / best[way]) / WAYS;
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
	int			i;
	int			j;

	memset(means, 0, SETTINGS * sizeof(double));
	for (i = 0; i < input->nindexes; i++)
	{
		const TsaRegretIndex *index = &input->indexes[i];
		double		smallest = 1 / fmax(index->scan.table_tuples, 2);
		TsaCachedTimes cached;

		input->check();
		tsa_times_cached(cold, 0, index->cached, &cached);
		for (j = 0; j < SELECTIVITIES; j++)
			add_cell(input, index, &cached,
					 pow(smallest, 1 - j / (SELECTIVITIES - 0.5)), means);
	}
	for (i = 0; i < SETTINGS; i++)
		means[i] /= input->nindexes * SELECTIVITIES;
}

/* The flat region around the best candidate. */
static void
find_flat(const double *means, int best, TsaRegretOutcome *outcome)
{
	int			low = best;
	int			high = best;

	while (low > 0 && means[low - 1] <= means[best] + FLAT)
		low--;
	while (high < CANDIDATES - 1 && means[high + 1] <= means[best] + FLAT)
		high++;
	outcome->low = candidates[low];
	outcome->high = candidates[high];
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
	double		s = input->settings.table_seq;
	unsigned	seed = 1;
	int			best = 0;
	int			i;
	int			j;

	for (i = 0; i < input->nindexes; i++)
		if (input->indexes[i].locality.npoints == 0)
			tsa_locality_assume(&input->indexes[i].scan,
								&input->indexes[i].locality);
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
	for (i = 1; i < CANDIDATES; i++)
		if (means[i] < means[best])
			best = i;

	outcome->best = candidates[best] * s;
	find_flat(means, best, outcome);
	outcome->low *= s;
	outcome->high *= s;
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
