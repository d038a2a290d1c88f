/*-------------------------------------------------------------------------
 *
 * pairs.c
 *	  By how much one of two files is slower, from readings taken in pairs.
 *
 * Beside a load a read takes ten times as long in one moment as in the next,
 * and a few readings of each file differ by more than a cache would make them
 * differ.  So the files are read one right after the other, again and again,
 * and each pair gives a ratio: others' load at that moment is in both of its
 * readings.  The ratio of the files is the geometric mean of these, and it has
 * the 95 % interval of Student's t from the scatter of their logarithms
 * (paired samples: Snedecor and Cochran, Statistical Methods, 8th edition,
 * chapter 6; logarithms of latencies are nearer to a normal distribution, and
 * a ratio and its inverse weigh the same).  A difference at the lower end of
 * the interval is not noise.
 *
 * Pure: no server headers, no allocation.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "probe/latency.h"
#include "probe/pairs.h"

/* below it the quantiles of Student's t are not good enough */
#define MIN_PAIRS	5

/* Add a pair of readings. */
void
tsa_pairs_add(TsaPairs *pairs, double a, double b)
{
	double		log_ratio;

	if (a <= 0 || b <= 0)
		return;
	log_ratio = log(a / b);
	pairs->n++;
	pairs->sum += log_ratio;
	pairs->square += log_ratio * log_ratio;
}

/* How many times as long as the second the first takes; 0: not known. */
double
tsa_pairs_ratio(const TsaPairs *pairs)
{
	return pairs->n < MIN_PAIRS ? 0 : exp(pairs->sum / pairs->n);
}

/* The lower end of its 95 % interval; 0: not known. */
double
tsa_pairs_ratio_low(const TsaPairs *pairs)
{
	double		n = pairs->n;
	double		mean = pairs->sum / n;
	double		variance;

	if (pairs->n < MIN_PAIRS)
		return 0;
	variance = fmax(pairs->square - n * mean * mean, 0) / (n - 1);
	return exp(mean - tsa_student_975(pairs->n - 1) * sqrt(variance / n));
}
