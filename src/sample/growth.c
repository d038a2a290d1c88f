/*-------------------------------------------------------------------------
 *
 * growth.c
 *	  Finds the present pace of an amount over time, and when it reaches zero.
 *
 * Pure: includes no postgres.h and is unit-tested without a server.
 *
 * A disk may be idle for months and then fill within a week.  One line through
 * the whole history does not show that.  So the history is divided into
 * regimes, each a straight line, by optimal partitioning: the sum of squared
 * residuals plus a penalty for each regime is the least of all divisions
 * (Jackson et al. 2005).  Lines of neighbouring regimes need not meet, so that
 * a bulk load or an enlarged volume is a step between two of them.
 *
 * The noise that the penalty is measured by is the median of residuals of
 * lines through two weeks each.  It includes the pattern of a week, so that a
 * weekend does not begin a regime.
 *
 * The pace of the last regime is the median of the slopes between all pairs
 * of its points (Theil, Sen), with Sen's interval of ranks.  A regime of fewer
 * than MIN_RANKED points has no such interval: its bounds are the least and the
 * largest change between neighbours, and the pace of the regime before, which
 * may return.
 *
 * Rises that recur in an amount that falls (partitions are dropped every week)
 * make no regimes.  There the troughs decide: their line says when one reaches
 * zero, unless the present fall reaches zero before the next rise is due, or
 * that rise is overdue.
 *
 * Loads that recur (an import each night or each month) are jumps in the
 * direction in which the amount goes anyway, alone among small changes.  From
 * the third on, their line is the pace.  Before that nobody can tell a load
 * that recurs from one that does not.  Two of the same size, at a distance in
 * which the history has no gap, are taken to recur, as is any load in the
 * first two days, since a day is the usual period; the interval then reaches
 * from the pace without loads to that with one as often as the history allows.
 * In a longer history a single load is a step: it only widens the interval.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "sample/growth.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* points of a regime, at least */
#define MIN_REGIME		3
/* points that give an interval of ranks */
#define MIN_RANKED		8
/* points that a local line goes through, to find the noise */
#define NOISE_WINDOW	14
/* noise is taken for at least this share of the range of all amounts */
#define MIN_NOISE		0.002
/* variances that a regime more has to explain, times the logarithm of points */
#define PENALTY			8.0
/* a rise that is overdue by this share of the period does not recur */
#define OVERDUE			1.5
/* distances of rises that recur differ by this factor at most */
#define REGULAR			1.5
/* a rise is this many times the usual change of a day */
#define RISE			2.5
/* a load is this many times the usual change, loads differ by this factor */
#define LOAD			5.0
#define SIMILAR			2.0
/* days in which any load is taken to recur */
#define LOAD_PERIODS	2.0
/* rises that make a period, and those that are looked at */
#define MIN_RISES		3
#define MAX_RISES		12
/* pairs of points */
#define MAX_PAIRS \
	(TSA_MAX_GROWTH_POINTS * (TSA_MAX_GROWTH_POINTS - 1) / 2)
/* a step is as high as this many times the noise */
#define STEP_NOISES		4.0

/* Sums of all points before one, so that a line's residuals take O(1). */
typedef struct Sums
{
	double		t,
				y,
				tt,
				ty,
				yy;
} Sums;

/* A regime: points [from, to), and the least squares line through them. */
typedef struct Regime
{
	int			from;
	int			to;
	double		at;				/* mean of the days */
	double		level;			/* the line there */
	double		slope;
} Regime;

typedef struct Series
{
	const double *days;
	const double *amounts;
	int			n;
	double		noise;
	double		shift_t;		/* subtracted in sums, which cancel otherwise */
	double		shift_y;
	Sums		sums[TSA_MAX_GROWTH_POINTS + 1];
	Regime		regimes[TSA_MAX_GROWTH_POINTS];
	int			nregimes;
} Series;

/* For qsort(): by size. */
static int
compare(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* The median of values, which are sorted; NAN of none. */
static double
median(double *values, int n)
{
	if (n == 0)
		return NAN;
	qsort(values, n, sizeof(double), compare);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/*
 * Sums from the beginning to each day, of which those of any span are
 * differences.  Shifted, so that no figures are lost.
 */
static void
make_sums(Series *series)
{
	series->shift_t = series->days[0];
	series->shift_y = series->amounts[0];
	series->sums[0] = (Sums)
	{
		0
	};
	for (int i = 0; i < series->n; i++)
	{
		Sums		s = series->sums[i];
		double		t = series->days[i] - series->shift_t;
		double		y = series->amounts[i] - series->shift_y;

		s.t += t;
		s.y += y;
		s.tt += t * t;
		s.ty += t * y;
		s.yy += y * y;
		series->sums[i + 1] = s;
	}
}

/* The least squares line through points [from, to); returns its residuals. */
static double
fit_line(const Series *series, int from, int to, Regime *regime)
{
	const Sums *a = &series->sums[from];
	const Sums *b = &series->sums[to];
	double		n = to - from;
	double		t = (b->t - a->t) / n;
	double		y = (b->y - a->y) / n;
	double		tt = b->tt - a->tt - n * t * t;
	double		ty = b->ty - a->ty - n * t * y;
	double		yy = b->yy - a->yy - n * y * y;
	double		slope = tt > 0 ? ty / tt : 0;

	if (regime)
		*regime = (Regime)
	{
		from, to, t + series->shift_t, y + series->shift_y, slope
	};
	return fmax(0, yy - slope * ty);
}

/* The regime's line on a day. */
static double
line_at(const Regime *regime, double day)
{
	return regime->level + regime->slope * (day - regime->at);
}

/* Standard deviation around lines that follow the amount for two weeks. */
static double
find_noise(const Series *series)
{
	double		deviations[TSA_MAX_GROWTH_POINTS];
	int			window = NOISE_WINDOW;
	int			n = 0;
	double		least = series->amounts[0];
	double		most = least;

	if (window > series->n / 2)
		window = series->n / 2;
	if (window < MIN_REGIME)
		window = MIN_REGIME;
	for (int i = 0; i < series->n; i++)
	{
		least = fmin(least, series->amounts[i]);
		most = fmax(most, series->amounts[i]);
		if (i + window <= series->n)
			deviations[n++] = sqrt(fit_line(series, i, i + window, NULL) /
								   fmax(1, window - 2));
	}
	return fmax(median(deviations, n), MIN_NOISE * (most - least));
}

/* Divides the points into regimes. */
static void
find_regimes(Series *series)
{
	double		best[TSA_MAX_GROWTH_POINTS + 1];
	int			begin[TSA_MAX_GROWTH_POINTS + 1];
	double		penalty = PENALTY * series->noise * series->noise *
	log(series->n);
	int			count = 0;

	best[0] = 0;
	begin[0] = 0;
	for (int to = 1; to <= series->n; to++)
	{
		best[to] = INFINITY;
		begin[to] = 0;
		for (int from = 0; from < to; from++)
		{
			double		cost;

			/* after the last step there may be a point or two */
			if (to - from < MIN_REGIME && (to < series->n || from == 0))
				continue;
			if (isinf(best[from]))
				continue;
			cost = best[from] + penalty + fit_line(series, from, to, NULL);
			if (cost < best[to])
			{
				best[to] = cost;
				begin[to] = from;
			}
		}
	}
	for (int to = series->n; to > 0; to = begin[to])
		count++;
	series->nregimes = count;
	for (int to = series->n; to > 0; to = begin[to])
		fit_line(series, begin[to], to, &series->regimes[--count]);
}

/* How far the line jumps where a regime follows the one before. */
static double
step_before(const Series *series, int regime)
{
	double		day = series->days[series->regimes[regime].from];

	return line_at(&series->regimes[regime], day) -
		line_at(&series->regimes[regime - 1], day);
}

/*
 * The median of the slopes between all pairs of points, and its interval
 * of ranks (Sen 1968); NAN where there are too few.
 */
static void
sen_slope(const double *days, const double *amounts, int n,
		  double *slope, double *low, double *high)
{
	static double slopes[MAX_PAIRS];
	int			count = 0;
	double		spread = 1.96 * sqrt(n * (n - 1.0) * (2.0 * n + 5) / 18);
	int			below;

	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++)
			if (days[j] > days[i])
				slopes[count++] = (amounts[j] - amounts[i]) /
					(days[j] - days[i]);
	*slope = median(slopes, count);
	*low = *high = NAN;
	below = (int) floor((count - spread) / 2);
	if (n >= MIN_RANKED && below >= 1)
	{
		*low = slopes[below - 1];
		*high = slopes[count - below];
	}
}

/* Bounds of a young regime: changes between neighbours, and the pace before. */
static void
widen_young(const Series *series, const Regime *last, TsaGrowth *growth)
{
	if (!isnan(growth->slope_low) && last->to - last->from >= MIN_RANKED)
		return;
	growth->slope_low = growth->slope_high = growth->slope;
	for (int i = last->from + 1; i < last->to; i++)
	{
		double		change = (series->amounts[i] - series->amounts[i - 1]) /
		(series->days[i] - series->days[i - 1]);

		growth->slope_low = fmin(growth->slope_low, change);
		growth->slope_high = fmax(growth->slope_high, change);
	}
	if (!isnan(growth->slope_before))
	{
		growth->slope_low = fmin(growth->slope_low, growth->slope_before);
		growth->slope_high = fmax(growth->slope_high, growth->slope_before);
	}
}

/* Days until an amount that falls at this pace is zero; NAN if it does not. */
static double
days_left(double amount, double slope)
{
	return slope < 0 ? fmax(0, amount) / -slope : NAN;
}

/*
 * Finds rises that recur: points that are higher than the one before by many
 * times the usual change, at regular distances.  rises gets the points, the
 * latest MAX_RISES of them.  Returns how many, 0 if they are not regular.
 */
static int
find_rises(const Series *series, int *rises, double *period)
{
	double		changes[TSA_MAX_GROWTH_POINTS];
	double		gaps[MAX_RISES];
	double		usual;
	int			n = 0;

	for (int i = 1; i < series->n; i++)
		changes[i - 1] = fabs(series->amounts[i] - series->amounts[i - 1]);
	usual = median(changes, series->n - 1);
	for (int i = series->n - 1; i > 0 && n < MAX_RISES; i--)
		if (series->amounts[i] - series->amounts[i - 1] > RISE * usual)
			rises[n++] = i;
	if (usual == 0 || n < MIN_RISES)
		return 0;
	for (int i = 0; i + 1 < n; i++)
		gaps[i] = series->days[rises[i]] - series->days[rises[i + 1]];
	*period = median(gaps, n - 1);
	return gaps[n - 2] <= REGULAR * gaps[0] ? n : 0;
}

/*
 * If rises recur in an amount that falls, sets pace and end by the troughs
 * before them, and the period.  If the next rise is overdue, or comes too late,
 * the fall since the last one decides.  Returns whether it has set them.
 */
static bool
follow_rises(const Series *series, TsaGrowth *growth)
{
	int			rises[MAX_RISES];
	double		at[MAX_RISES + 1];
	double		trough[MAX_RISES + 1];
	int			n = find_rises(series, rises, &growth->period);
	int			since;
	double		last = series->amounts[series->n - 1];
	double		now = series->days[series->n - 1];
	double		fall;
	double		wait;
	double		low;
	double		high;

	if (n == 0 || series->n - rises[0] > 2 * (rises[0] - rises[n - 1]))
	{
		growth->period = NAN;
		return false;
	}
	/* the fall since the last rise or, if that is young, of the cycle before */
	since = series->n - rises[0] >= MIN_REGIME ? rises[0] : rises[1];
	sen_slope(series->days + since, series->amounts + since,
			  (since == rises[0] ? series->n : rises[0]) - since,
			  &fall, &low, &high);
	growth->begun = series->days[rises[0]];
	wait = series->days[rises[0]] + growth->period - now;
	if (!(fall < 0))
		fall = 0;
	if (wait < -(OVERDUE - 1) * growth->period ||
		(fall < 0 && last + fall * fmax(0, wait) <= 0))
	{
		growth->slope = growth->slope_low = growth->slope_high = fall;
		growth->until_zero = days_left(last, fall);
		growth->until_zero_low = growth->until_zero;
		return true;			/* the high bound: the rise may come */
	}
	wait = fmax(0, wait);
	for (int i = 0; i < n; i++)
	{
		at[n - 1 - i] = series->days[rises[i] - 1];
		trough[n - 1 - i] = series->amounts[rises[i] - 1];
	}
	at[n] = now + wait;
	trough[n] = last + fall * wait;
	sen_slope(at, trough, n + 1, &growth->slope, &low, &high);
	growth->slope_low = isnan(low) ? growth->slope : low;
	growth->slope_high = isnan(high) ? growth->slope : high;
	growth->until_zero = wait + days_left(trough[n], growth->slope);
	growth->until_zero_low = wait + days_left(trough[n], growth->slope_low);
	growth->until_zero_low = fmin(growth->until_zero_low,
								  days_left(last, fall));
	growth->until_zero_high = wait + days_left(trough[n], growth->slope_high);
	return true;
}

/*
 * Finds loads: changes in the direction of sign that are much larger than the
 * usual one, and no neighbours of each other.  loads gets the points after
 * them, the latest MAX_RISES.  Returns how many; 0 if some are neighbours.
 */
static int
find_loads(const Series *series, double sign, int *loads)
{
	double		changes[TSA_MAX_GROWTH_POINTS];
	double		range = 0;
	double		least;
	int			n = 0;

	for (int i = 1; i < series->n; i++)
	{
		changes[i - 1] = fabs(series->amounts[i] - series->amounts[i - 1]);
		range += changes[i - 1];
	}
	least = fmax(LOAD * median(changes, series->n - 1), MIN_NOISE * range);
	for (int i = series->n - 1; i > 0 && n < MAX_RISES; i--)
	{
		if (sign * (series->amounts[i] - series->amounts[i - 1]) <= least)
			continue;
		if (n > 0 && loads[n - 1] - i < 2)
			return 0;
		loads[n++] = i;
	}
	return n;
}

/* How high a load is. */
static double
load_at(const Series *series, int point)
{
	return series->amounts[point] - series->amounts[point - 1];
}

/*
 * Do loads recur?  They are of about the same size and at about the same
 * distance, and the next one is not overdue.  Of two, none was missing before,
 * either.  Sets the distance, NAN of one.
 */
static bool
loads_recur(const Series *series, const int *loads, int n, double *period)
{
	double		gaps[MAX_RISES];
	double		least = fabs(load_at(series, loads[0]));
	double		most = least;
	const double *days = series->days;

	*period = NAN;
	if (n == 1)
		return days[series->n - 1] - days[0] < LOAD_PERIODS;
	for (int i = 0; i < n; i++)
	{
		double		height = fabs(load_at(series, loads[i]));

		least = fmin(least, height);
		most = fmax(most, height);
		if (i + 1 < n)
			gaps[i] = days[loads[i]] - days[loads[i + 1]];
	}
	*period = median(gaps, n - 1);
	return gaps[n - 2] <= REGULAR * gaps[0] && most <= SIMILAR * least &&
		days[series->n - 1] - days[loads[0]] <= OVERDUE * *period &&
		(n >= MIN_RISES || days[loads[n - 1]] - days[0] <= OVERDUE * *period);
}

/* The pace without loads: the median change a day between other points. */
static double
pace_between_loads(const Series *series, const int *loads, int n)
{
	double		changes[TSA_MAX_GROWTH_POINTS];
	int			count = 0;

	for (int i = 1; i < series->n; i++)
	{
		bool		is_load = false;

		for (int j = 0; j < n; j++)
			is_load |= loads[j] == i;
		if (!is_load)
			changes[count++] = load_at(series, i) /
				(series->days[i] - series->days[i - 1]);
	}
	return count > 0 ? median(changes, count) : 0;
}

/*
 * If loads recur, sets pace and end by their line, else returns false.  Fewer
 * than MIN_RISES of them make the interval reach to the pace without them, and
 * to that with one in the longest time that the history has been without.
 */
static bool
follow_loads(const Series *series, TsaGrowth *growth)
{
	int			loads[MAX_RISES];
	double		at[MAX_RISES];
	double		amount[MAX_RISES];
	int			last = series->n - 1;
	const double *days = series->days;
	const double *amounts = series->amounts;
	int			n = find_loads(series, amounts[last] > amounts[0] ? 1 : -1,
							   loads);
	double		alone;
	double		from;

	if (n == 0 || !loads_recur(series, loads, n, &growth->load_period))
	{
		growth->load_period = NAN;
		return false;
	}
	growth->load = load_at(series, loads[0]);
	growth->begun = n == 1 ? days[0] : days[loads[n - 1]];
	alone = pace_between_loads(series, loads, n);
	for (int i = 0; i < n; i++)
	{
		at[n - 1 - i] = days[loads[i]];
		amount[n - 1 - i] = amounts[loads[i]];
	}
	if (n == 1)
		growth->slope = (amounts[last] - amounts[0]) / (days[last] - days[0]);
	else
		sen_slope(at, amount, n, &growth->slope, &growth->slope_low,
				  &growth->slope_high);
	if (isnan(growth->slope_low))
		growth->slope_low = growth->slope_high = growth->slope;
	for (int i = 1; i < n; i++)
	{
		/* a load is between its point and the one before */
		double		grain = days[loads[0]] - days[loads[0] - 1];
		double		change = amount[i] - amount[i - 1];
		double		gap = at[i] - at[i - 1];
		double		seldom = change / (gap + grain);
		double		often = change / fmax(gap - grain, grain);

		growth->slope_low = fmin(growth->slope_low, fmin(seldom, often));
		growth->slope_high = fmax(growth->slope_high, fmax(seldom, often));
	}
	if (n < MIN_RISES)
	{
		double		often = alone + growth->load /
		fmax(days[last] - days[loads[0]], days[loads[0] - 1] - days[0]);

		growth->slope_low = fmin(growth->slope_low, fmin(alone, often));
		growth->slope_high = fmax(growth->slope_high, fmax(alone, often));
		growth->load_period = NAN;
	}
	/* between two loads the amount is above the line through them */
	from = n == 1 ? 0 : days[last] - days[loads[0]];
	growth->until_zero = days_left(n == 1 ? amounts[last] : amounts[loads[0]],
								   growth->slope) - from;
	growth->until_zero = fmax(0, growth->until_zero) +
		(isnan(growth->until_zero) ? NAN : 0);
	growth->until_zero_low = days_left(amounts[last], growth->slope_low);
	growth->until_zero_low = fmin(growth->until_zero_low, growth->until_zero);
	growth->until_zero_high = days_left(amounts[last], growth->slope_high);
	return true;
}

/*
 * A load that was seen once may recur, but not more often than in the longest
 * time that the history has been without.  A removal, or an addition to the
 * volume, does not.
 */
static void
widen_by_step(const Series *series, TsaGrowth *growth)
{
	const double *days = series->days;
	double		without = fmax(days[series->n - 1] - growth->step_at,
							   growth->step_at - days[0]);
	double		often = growth->slope + growth->step / without;

	if (isnan(growth->step) || !(without > 0) ||
		growth->step * growth->slope < 0)
		return;
	growth->slope_low = fmin(growth->slope_low, often);
	growth->slope_high = fmax(growth->slope_high, often);
}

/*
 * Finds the present pace of an amount, and when it reaches zero.
 *
 * days: in ascending order, n of them, at most TSA_MAX_GROWTH_POINTS;
 * amounts: how much there was then, finite.  Returns how many regimes there
 * were; 0, and nothing but NANs, if there are fewer than three points.
 */
int
tsa_find_growth(const double *days, const double *amounts, int n,
				TsaGrowth *growth)
{
	static Series series;
	Regime	   *last;

	*growth = (TsaGrowth)
	{
		NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN
	};
	if (n < MIN_REGIME || n > TSA_MAX_GROWTH_POINTS)
		return 0;
	series.days = days;
	series.amounts = amounts;
	series.n = n;
	if (follow_rises(&series, growth) || follow_loads(&series, growth))
		return 1;
	make_sums(&series);
	series.noise = find_noise(&series);
	find_regimes(&series);

	/* one or two points show a step, not a pace */
	last = &series.regimes[series.nregimes - 1];
	if (last->to - last->from < MIN_REGIME && series.nregimes > 1)
	{
		growth->step_at = days[last->from];
		growth->step = amounts[last->from] -
			line_at(last - 1, days[last->from]);
		series.nregimes--;
		last--;
	}
	growth->begun = days[last->from];
	sen_slope(days + last->from, amounts + last->from, last->to - last->from,
			  &growth->slope, &growth->slope_low, &growth->slope_high);
	if (series.nregimes > 1)
		growth->slope_before = last[-1].slope;
	for (int i = series.nregimes - 1; i > 0 && isnan(growth->step); i--)
	{
		double		step = step_before(&series, i);

		if (fabs(step) <= STEP_NOISES * series.noise)
			continue;
		growth->step = step;
		growth->step_at = days[series.regimes[i].from];
	}
	widen_young(&series, last, growth);
	widen_by_step(&series, growth);
	growth->until_zero = days_left(amounts[n - 1], growth->slope);
	growth->until_zero_low = days_left(amounts[n - 1], growth->slope_low);
	growth->until_zero_high = days_left(amounts[n - 1], growth->slope_high);
	return series.nregimes;
}
