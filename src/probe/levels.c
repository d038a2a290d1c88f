/*-------------------------------------------------------------------------
 *
 * levels.c
 *	  Does throughput fall to another level while a device is measured?
 *
 * A volume that is rented by its requests per second may exceed them until its
 * credit is used up, and a disk takes writes fast until a cache of its own is
 * full.  A short measurement finds the first level, and the rate of a server
 * in the long run is the second.
 *
 * Turns are kept as up to 64 stretches of about the same time.  The cut that
 * explains most of their scatter is a fall if both sides are five stretches or
 * more, throughput is less than half after it, the difference is six times its
 * standard error, and no more than a tenth of either side is nearer the
 * other's level.  More load of others after it must not explain a fifth of it.
 * Time without a processor is taken off for all this, but not from the levels
 * that are told: while the process waits, the device works.
 *
 * Rows before a fall are forgotten, so that one may follow another, as where a
 * volume's credit is used up and then its server's: the last level lasts.
 * After a fall with two to four stretches behind it, at the end, that is not
 * known.
 *
 * Pure: no server headers, no allocation.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "probe/levels.h"

#define MIN_STRETCHES	5
#define MIN_AT_END		2
#define MIN_FALL		2.0
#define MIN_ERRORS	6.0
#define MAX_ASTRAY		0.1
#define OTHERS_WEIGH	5.0

/*
 * How many seconds of a turn was there a processor, if the process waited for
 * one in so many of those around it?  It may lie outside the turn: a wait
 * taken off a turn that had none looks like throughput which no device has.
 */
double
tsa_time_worked(double turn, double around, double waited)
{
	double		inside = fmax(waited - fmax(around - turn, 0), 0);

	return fmax(turn - inside, 0.01 * turn);
}

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
		levels->stretches[i].worked = from[0].worked + from[1].worked;
		levels->stretches[i].others = from[0].others + from[1].others;
		if (i == 0 || levels->stretches[i].seconds < levels->width)
			levels->width = levels->stretches[i].seconds;
	}
	levels->n /= 2;
}

/* Stretches that are complete: all, or all but the last one. */
static int
count_complete(const TsaLevels *levels)
{
	if (levels->n > 0 &&
		levels->stretches[levels->n - 1].seconds < levels->width)
		return levels->n - 1;
	return levels->n;
}

/*
 * Add a turn to the last stretch, or to a new one if that is complete; joins
 * stretches when there is no room.
 */
void
tsa_levels_add(TsaLevels *levels, const TsaStretch *turn)
{
	TsaStretch *last;

	if (count_complete(levels) == levels->n)
	{
		if (levels->n == TSA_MAX_LEVELS)
			join_stretches(levels);
		last = &levels->stretches[levels->n++];
		memset(last, 0, sizeof(*last));
		last->begun = turn->begun;
	}
	last = &levels->stretches[levels->n - 1];
	last->requests += turn->requests;
	last->seconds += turn->seconds;
	last->worked += turn->worked;
	last->others += turn->others;
}

/* Throughput while there was a processor. */
static double
find_rate(const TsaStretch *stretch)
{
	return stretch->requests / fmax(stretch->worked, 1e-9);
}

/* Mean throughput of stretches, and the sum of squared deviations from it. */
static double
describe_side(const TsaStretch *stretches, int n, double *square)
{
	double		mean = 0;
	int			i;

	for (i = 0; i < n; i++)
		mean += find_rate(&stretches[i]) / n;
	*square = 0;
	for (i = 0; i < n; i++)
	{
		double		delta = find_rate(&stretches[i]) - mean;

		*square += delta * delta;
	}
	return mean;
}

/* The sum of all stretches. */
static TsaStretch
add_up(const TsaStretch *stretches, int n)
{
	TsaStretch	sum = {0};
	int			i;

	for (i = 0; i < n; i++)
	{
		sum.requests += stretches[i].requests;
		sum.seconds += stretches[i].seconds;
		sum.worked += stretches[i].worked;
		sum.others += stretches[i].others;
	}
	return sum;
}

/* The share of stretches on the wrong side of a throughput. */
static double
share_astray(const TsaStretch *stretches, int n, double middle, int above)
{
	int			astray = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		double		rate = find_rate(&stretches[i]);

		astray += above ? rate > middle : rate < middle;
	}
	return (double) astray / n;
}

/*
 * Where is the fall, with at least so many stretches after it?  Returns the
 * number of stretches before it and fills it in, or returns 0.
 */
static int
find_fall(const TsaLevels *levels, int least_after, TsaFall *fall)
{
	const TsaStretch *stretches = levels->stretches;
	int			n = count_complete(levels);
	double		least = INFINITY;
	double		error = 0;
	double		before = 0;
	double		after = 0;
	double		middle;
	TsaStretch	sides[2];
	int			best = 0;
	int			cut;

	for (cut = MIN_STRETCHES; cut <= n - least_after; cut++)
	{
		double		squares[2];
		double		means[2];

		means[0] = describe_side(stretches, cut, &squares[0]);
		means[1] = describe_side(stretches + cut, n - cut, &squares[1]);
		if (squares[0] + squares[1] >= least)
			continue;
		least = squares[0] + squares[1];
		best = cut;
		before = means[0];
		after = means[1];
		error = sqrt(squares[0] / (cut - 1) / cut +
					 squares[1] / (n - cut - 1) / (n - cut));
	}
	if (best == 0 || after * MIN_FALL >= before ||
		before - after <= MIN_ERRORS * error)
		return 0;
	sides[0] = add_up(stretches, best);
	/* part of the first one may be from before it */
	sides[1] = add_up(stretches + best + 1, n - best - 1);
	if ((sides[1].others / fmax(sides[1].worked, 1e-9) -
		 sides[0].others / fmax(sides[0].worked, 1e-9)) * OTHERS_WEIGH >
		before - after)
		return 0;
	middle = sqrt(before * after);
	if (share_astray(stretches, best, middle, 0) > MAX_ASTRAY ||
		share_astray(stretches + best, n - best, middle, 1) > MAX_ASTRAY)
		return 0;
	fall->before = sides[0].requests / fmax(sides[0].seconds, 1e-9);
	fall->after = sides[1].requests / fmax(sides[1].seconds, 1e-9);
	fall->at = stretches[best].begun;
	return best;
}

/*
 * Is there a fall?  Then it is added, and the time before it is forgotten, and
 * the stretch in which it may have been.  Of more than there is room for the
 * last one counts.
 */
int
tsa_levels_fall(TsaLevels *levels, TsaFalls *falls)
{
	TsaFall		fall;
	int			before = find_fall(levels, MIN_STRETCHES, &fall);

	if (before == 0)
		return 0;
	if (falls->n < TSA_MAX_FALLS)
		falls->falls[falls->n++] = fall;
	else
		falls->falls[falls->n - 1].at = fall.at;
	before++;
	levels->n -= before;
	memmove(levels->stretches, levels->stretches + before,
			(size_t) levels->n * sizeof(TsaStretch));
	return 1;
}

/* Is there one of which it is not known whether it lasts? */
int
tsa_levels_fall_at_end(const TsaLevels *levels, TsaFall *fall)
{
	return find_fall(levels, MIN_AT_END, fall) > 0;
}
