/*-------------------------------------------------------------------------
 *
 * levels.c
 *	  Does throughput fall to another level while a device is measured?
 *
 * A volume that is rented by its requests per second may exceed them until its
 * credit is used up, and a disk takes writes fast until a cache of its own is
 * full.  A short measurement finds the first level, and what a server gets in
 * the long run is the second.
 *
 * Turns are kept as up to 64 stretches of equal numbers of turns.  The cut that
 * explains most of their scatter is a fall if both sides are five stretches or
 * more, throughput is less than half after it, the difference is six times its
 * standard error, and no more than a tenth of either side is nearer the other's
 * level.  What others take more after it must not explain a fifth of it.
 *
 * Pure: no server headers, no allocation.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stddef.h>

#include "probe/levels.h"

#define MIN_STRETCHES	5
#define MIN_FALL		2.0
#define MIN_ERRORS	6.0
#define MAX_ASTRAY		0.1
#define OTHERS_WEIGH	5.0

/* Join neighbours, so that half as many are twice as long. */
static void
join_stretches(TsaLevels *levels)
{
	int			i;

	for (i = 0; i < levels->n / 2; i++)
	{
		const TsaStretch *from = &levels->stretches[(ptrdiff_t) 2 * i];

		levels->stretches[i].begun = from[0].begun;
		levels->stretches[i].requests = from[0].requests + from[1].requests;
		levels->stretches[i].seconds = from[0].seconds + from[1].seconds;
		levels->stretches[i].others = from[0].others + from[1].others;
	}
	levels->n /= 2;
	levels->turns *= 2;
}

/* Add a turn. */
void
tsa_levels_add(TsaLevels *levels, double begun, double requests,
			   double seconds, double others)
{
	TsaStretch *last;

	if (levels->turns == 0)
		levels->turns = 1;
	if (levels->open == 0)
	{
		if (levels->n == TSA_MAX_LEVELS)
			join_stretches(levels);
		last = &levels->stretches[levels->n++];
		last->begun = begun;
		last->requests = last->seconds = last->others = 0;
	}
	last = &levels->stretches[levels->n - 1];
	last->requests += requests;
	last->seconds += seconds;
	last->others += others;
	levels->open = (levels->open + 1) % levels->turns;
}

/* Mean throughput of stretches, and the sum of squared deviations from it. */
static double
describe_side(const TsaStretch *stretches, int n, double *square)
{
	double		mean = 0;
	int			i;

	for (i = 0; i < n; i++)
		mean += stretches[i].requests / fmax(stretches[i].seconds, 1e-9) / n;
	*square = 0;
	for (i = 0; i < n; i++)
	{
		double		delta = stretches[i].requests /
		fmax(stretches[i].seconds, 1e-9) - mean;

		*square += delta * delta;
	}
	return mean;
}

/* What others asked for, per second. */
static double
rate_of_others(const TsaStretch *stretches, int n)
{
	double		others = 0;
	double		seconds = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		others += stretches[i].others;
		seconds += stretches[i].seconds;
	}
	return others / fmax(seconds, 1e-9);
}

/* What share of stretches lies on the wrong side of a throughput? */
static double
share_astray(const TsaStretch *stretches, int n, double middle, int above)
{
	int			astray = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		double		level = stretches[i].requests /
		fmax(stretches[i].seconds, 1e-9);

		astray += above ? level > middle : level < middle;
	}
	return (double) astray / n;
}

/* Is there a fall?  Then its levels and time are filled in. */
int
tsa_levels_fall(const TsaLevels *levels, TsaFall *fall)
{
	int			n = levels->n - (levels->open > 0 ? 1 : 0);
	double		least = INFINITY;
	double		error = INFINITY;
	double		middle;
	int			best = 0;
	int			cut;

	for (cut = MIN_STRETCHES; cut <= n - MIN_STRETCHES; cut++)
	{
		double		squares[2];
		double		before = describe_side(levels->stretches, cut,
										   &squares[0]);
		double		after = describe_side(levels->stretches + cut, n - cut,
										  &squares[1]);

		if (squares[0] + squares[1] >= least)
			continue;
		least = squares[0] + squares[1];
		best = cut;
		fall->before = before;
		fall->after = after;
		fall->at = levels->stretches[cut].begun;
		error = sqrt(squares[0] / (cut - 1) / cut +
					 squares[1] / (n - cut - 1) / (n - cut));
	}
	if (best == 0 || fall->after * MIN_FALL >= fall->before ||
		fall->before - fall->after <= MIN_ERRORS * error)
		return 0;
	if ((rate_of_others(levels->stretches + best, n - best) -
		 rate_of_others(levels->stretches, best)) * OTHERS_WEIGH >
		fall->before - fall->after)
		return 0;
	middle = sqrt(fall->before * fall->after);
	return share_astray(levels->stretches, best, middle, 0) <= MAX_ASTRAY &&
		share_astray(levels->stretches + best, n - best, middle,
					 1) <= MAX_ASTRAY;
}
