/*-------------------------------------------------------------------------
 *
 * curve.c
 *	  A device's read latency by queue depth: between, below and beyond the
 *	  depths that were probed.
 *
 * Pure: includes no postgres.h and is unit-tested without a server.
 *
 * Latency is taken for linear between two probed depths.  Below the first it
 * is the first.  Beyond the last the device is taken for busy: it finishes as
 * many requests per second as at the last, so latency grows with depth.  The
 * rate that a depth leads to follows from Little's law, rate = depth /
 * latency, and so does the depth that a rate needs.
 *
 * Sessions that read as soon as they can make a closed loop: the faster the
 * device, the more often they come back.  Its depth is that of Schweitzer's
 * approximation of mean value analysis: a read meets the reads that the other
 * sessions have in flight on average.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/curve.h"

#include <math.h>

#define US_PER_S 1e6

/*
 * Mean latency in microseconds with "depth" requests in flight; NAN for a
 * curve without points.
 */
double
tsa_curve_latency(const TsaCurve *curve, double depth)
{
	int			last = curve->n - 1;

	if (curve->n == 0)
		return NAN;
	if (depth <= curve->depth[0])
		return curve->us[0];
	for (int i = 0; i < last; i++)
	{
		double		share;

		if (depth > curve->depth[i + 1])
			continue;
		share = (depth - curve->depth[i]) /
			(curve->depth[i + 1] - curve->depth[i]);
		return curve->us[i] + share * (curve->us[i + 1] - curve->us[i]);
	}
	return curve->us[last] * depth / curve->depth[last];
}

/* The most requests per second at any probed depth; 0 without points. */
double
tsa_curve_max_rate(const TsaCurve *curve)
{
	double		rate = 0;

	for (int i = 0; i < curve->n; i++)
		rate = fmax(rate, US_PER_S * curve->depth[i] / curve->us[i]);
	return rate;
}

/*
 * The smallest depth, from the first probed one on, at which the device
 * finishes "rate" requests per second; that with the largest rate if none
 * does.  NAN for a curve without points.
 */
double
tsa_curve_depth(const TsaCurve *curve, double rate)
{
	double		best = 0;
	double		depth = NAN;

	for (int i = 0; i < curve->n; i++)
	{
		double		here = US_PER_S * curve->depth[i] / curve->us[i];

		if (here >= rate && i > 0)
		{
			/* rate = depth / latency, latency being linear in depth */
			double		rise = curve->us[i] - curve->us[i - 1];
			double		slope = rise / (curve->depth[i] - curve->depth[i - 1]);
			double		start = curve->us[i - 1] - slope * curve->depth[i - 1];

			return rate * start / (US_PER_S - rate * slope);
		}
		if (here >= rate)
			return curve->depth[i];
		if (here > best)
		{
			best = here;
			depth = curve->depth[i];
		}
	}
	return depth;
}

/*
 * The requests in flight, its own included, that a read meets if so many
 * sessions do nothing but read and spend other_us between two reads.  NAN for
 * a curve without points.
 */
double
tsa_curve_loop_depth(const TsaCurve *curve, double sessions, double other_us)
{
	double		others = fmax(0, sessions - 1);
	double		low = 0;
	double		high = 1;

	if (curve->n == 0)
		return NAN;

	/* "share": part of its time that a session spends reading, by halving */
	for (int i = 0; i < 50; i++)
	{
		double		share = (low + high) / 2;
		double		us = tsa_curve_latency(curve, 1 + others * share);

		if (us / (us + other_us) > share)
			low = share;
		else
			high = share;
	}
	return 1 + others * high;
}
