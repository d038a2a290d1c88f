/*-------------------------------------------------------------------------
 *
 * warmup.c
 *	  When has a device warmed up?
 *
 * Pure: no server headers, no allocation.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "probe/warmup.h"

#define MIN_IN_WINDOW 2
#define DRIFT			0.05
#define STANDARD_ERRORS 3

/*
 * Take a latency into account.  The window ends with it when its time is up
 * or it has enough samples; returns whether it did.
 */
int
tsa_warmup_add(TsaWarmup *warmup, double latency, int time_is_up,
			   uint64_t max_samples)
{
	TsaWindow  *open = &warmup->open;

	open->count++;
	open->sum += latency;
	open->square += latency * latency;
	if (open->count < MIN_IN_WINDOW ||
		(!time_is_up && open->count < max_samples))
		return 0;
	warmup->windows[warmup->finished % TSA_WARMUP_WINDOWS] = *open;
	warmup->finished++;
	memset(open, 0, sizeof(*open));
	return 1;
}

/* Mean of two successive windows, and the square of its standard error. */
static void
describe_pair(const TsaWindow *a, const TsaWindow *b, double *mean,
			  double *error_square)
{
	double		n = (double) (a->count + b->count);
	double		sum = a->sum + b->sum;
	double		square = a->square + b->square;

	*mean = sum / n;
	*error_square = fmax(square - sum * sum / n, 0) / (n - 1) / n;
}

/*
 * Does the mean latency of the last two windows agree with that of the two
 * before, to within 5 % or three standard errors?
 */
int
tsa_warmup_is_flat(const TsaWarmup *warmup)
{
	const TsaWindow *window[TSA_WARMUP_WINDOWS];
	double		mean[2];
	double		error_square[2];
	double		change;
	uint64_t	i;

	if (warmup->finished < TSA_WARMUP_WINDOWS)
		return 0;
	/* in the ring, the next place is the oldest window's */
	for (i = 0; i < TSA_WARMUP_WINDOWS; i++)
		window[i] = &warmup->windows[(warmup->finished + i) %
									 TSA_WARMUP_WINDOWS];
	describe_pair(window[0], window[1], &mean[0], &error_square[0]);
	describe_pair(window[2], window[3], &mean[1], &error_square[1]);
	change = fabs(mean[1] - mean[0]);
	return change <= DRIFT * mean[1] ||
		change <= STANDARD_ERRORS * sqrt(error_square[0] + error_square[1]);
}
