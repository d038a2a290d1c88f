/*-------------------------------------------------------------------------
 *
 * latency.c
 *	  Statistics of a stream of latencies in fixed memory.
 *
 * Count, extremes, mean and standard deviation are exact.  Percentiles come
 * from a histogram with logarithmic buckets.  The 95 % interval of the mean
 * comes from batch means: successive latencies of one device are correlated
 * (queues, caches, background work), so the textbook interval from single
 * samples would be too narrow; means of long batches are nearly independent.
 * The number of batches is kept between 16 and 31 by doubling their length
 * whenever 32 are complete (fewer than 10 to 30 batches is the range that
 * Schmeiser, Operations Research 30 (1982), found sufficient).
 *
 * Latencies measured in turns, with pauses between, are correlated within a
 * turn: a load that comes and goes is there for all of it or not at all.  So
 * the scatter of turns gives an interval, too, as that of clusters of unequal
 * size (Cochran, Sampling Techniques, 9A), and the wider one counts.
 *
 * Pure: no server headers, no allocation, no system calls.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "probe/latency.h"

/* The bucket that a latency falls into. */
static int
bucket_of(uint64_t ns)
{
	int			shift;

	if (ns < UINT64_C(2) * TSA_LATENCY_SUB)
		return (int) ns;
	shift = 63 - __builtin_clzll(ns) - TSA_LATENCY_BITS;
	if (shift > TSA_LATENCY_MAX_SHIFT)
		return TSA_LATENCY_BUCKETS - 1;
	return shift * TSA_LATENCY_SUB + (int) (ns >> shift);
}

/* How far the values of a bucket are shifted. */
static int
bucket_shift(int bucket)
{
	if (bucket < 2 * TSA_LATENCY_SUB)
		return 0;
	return bucket / TSA_LATENCY_SUB - 1;
}

/* Smallest latency in a bucket. */
uint64_t
tsa_latency_lower(int bucket)
{
	int			shift = bucket_shift(bucket);
	int			place = bucket - shift * TSA_LATENCY_SUB;

	return (uint64_t) place << shift;
}

/* Number of nanoseconds that a bucket covers. */
static uint64_t
bucket_width(int bucket)
{
	return (uint64_t) 1 << bucket_shift(bucket);
}

/* Forget everything. */
void
tsa_latency_reset(TsaLatency *lat)
{
	memset(lat, 0, sizeof(*lat));
	lat->batch_size = 1;
}

/* Merge neighbouring batches, so that half as many are twice as long. */
static void
merge_batches(TsaLatency *lat)
{
	const double *from = lat->batch_sum;
	int			i;

	for (i = 0; i < lat->batches / 2; i++, from += 2)
		lat->batch_sum[i] = from[0] + from[1];
	lat->batches /= 2;
	lat->batch_size *= 2;
}

/* Take one latency into account. */
void
tsa_latency_add(TsaLatency *lat, uint64_t ns)
{
	double		delta = (double) ns - lat->mean_ns;

	if (lat->count == 0 || ns < lat->min_ns)
		lat->min_ns = ns;
	if (ns > lat->max_ns)
		lat->max_ns = ns;
	lat->count++;
	lat->mean_ns += delta / (double) lat->count;
	lat->m2 += delta * ((double) ns - lat->mean_ns);
	lat->histogram[bucket_of(ns)]++;

	lat->open_sum += (double) ns;
	lat->open_count++;
	if (lat->open_count == lat->batch_size)
	{
		lat->batch_sum[lat->batches++] = lat->open_sum;
		lat->open_sum = 0;
		lat->open_count = 0;
		if (lat->batches == TSA_MAX_BATCHES)
			merge_batches(lat);
	}
}

/* Take the batches of a turn into account, as whole ones. */
static void
add_batches(TsaLatency *lat, const TsaLatency *turn)
{
	int			i;

	while (lat->batch_size < turn->batch_size)
	{
		merge_batches(lat);
		lat->open_sum = 0;
		lat->open_count = 0;
	}
	for (i = 0; i < turn->batches; i++)
	{
		lat->open_sum += turn->batch_sum[i];
		lat->open_count += turn->batch_size;
		if (lat->open_count < lat->batch_size)
			continue;
		lat->batch_sum[lat->batches++] = lat->open_sum;
		lat->open_sum = 0;
		lat->open_count = 0;
		if (lat->batches == TSA_MAX_BATCHES)
			merge_batches(lat);
	}
}

/*
 * Take a turn into account.  Samples that do not fill a batch of the turn's are
 * left out of the batches; all else is as if they had been added one by one.
 */
void
tsa_latency_add_turn(TsaLatency *lat, const TsaLatency *turn)
{
	double		n = (double) turn->count;
	double		sum = n * turn->mean_ns;
	double		delta = turn->mean_ns - lat->mean_ns;
	double		all = (double) lat->count + n;
	int			i;

	if (turn->count == 0)
		return;
	lat->turns++;
	lat->turn_square += sum * sum;
	lat->turn_product += sum * n;
	lat->turn_counts += n * n;

	if (lat->count == 0 || turn->min_ns < lat->min_ns)
		lat->min_ns = turn->min_ns;
	if (turn->max_ns > lat->max_ns)
		lat->max_ns = turn->max_ns;
	lat->m2 += turn->m2 + delta * delta * (double) lat->count * n / all;
	lat->mean_ns += delta * n / all;
	lat->count += turn->count;
	for (i = 0; i < TSA_LATENCY_BUCKETS; i++)
		lat->histogram[i] += turn->histogram[i];
	add_batches(lat, turn);
}

/* Standard deviation of the samples (n - 1); 0 for fewer than two. */
double
tsa_latency_stddev(const TsaLatency *lat)
{
	if (lat->count < 2)
		return 0;
	return sqrt(lat->m2 / (double) (lat->count - 1));
}

/*
 * The p quantile (0 < p < 1) by nearest rank, to the precision of a bucket.
 *
 * Returns 0, and leaves *ns alone, where the samples cannot support it: the
 * largest of n samples lies above the true quantile with probability
 * 1 - p^n, and when that is under 97.5 % the quantile has no upper confidence
 * limit at all.  That asks for 6 samples for the median, 36 for p90, 72 for
 * p95 and 368 for p99.
 */
int
tsa_latency_percentile(const TsaLatency *lat, double p, double *ns)
{
	uint64_t	rank;
	uint64_t	seen = 0;
	int			bucket;

	if (lat->count == 0 || pow(p, (double) lat->count) > 0.025)
		return 0;

	rank = (uint64_t) ceil(p * (double) lat->count);
	for (bucket = 0; bucket < TSA_LATENCY_BUCKETS - 1; bucket++)
	{
		seen += lat->histogram[bucket];
		if (seen >= rank)
			break;
	}

	*ns = (double) tsa_latency_lower(bucket) +
		(double) (bucket_width(bucket) - 1) / 2;
	if (*ns < (double) lat->min_ns)
		*ns = (double) lat->min_ns;
	if (*ns > (double) lat->max_ns)
		*ns = (double) lat->max_ns;
	return 1;
}

/* Mean of successive batches' means, and the square of its standard error. */
static void
describe_batches(const TsaLatency *lat, int first, int n, double *mean,
				 double *error_square)
{
	double		size = (double) lat->batch_size;
	double		square = 0;
	int			i;

	*mean = 0;
	for (i = first; i < first + n; i++)
		*mean += lat->batch_sum[i] / size / n;
	for (i = first; i < first + n; i++)
	{
		double		delta = lat->batch_sum[i] / size - *mean;

		square += delta * delta;
	}
	*error_square = square / (n - 1) / n;
}

/* Half the 95 % interval of the mean from the scatter of turns; 0: unknown. */
static double
turns_half_interval(const TsaLatency *lat)
{
	double		mean = lat->mean_ns;
	double		turns = (double) lat->turns;
	double		square;

	if (lat->turns < TSA_MIN_TURNS)
		return 0;
	square = lat->turn_square - 2 * mean * lat->turn_product +
		mean * mean * lat->turn_counts;
	return tsa_student_975((int) lat->turns - 1) *
		sqrt(fmax(square, 0) * turns / (turns - 1)) / (double) lat->count;
}

/*
 * 95 % interval of the mean from the means of the complete batches, and from
 * turns where that is wider.  Returns 0 when there are too few batches to say.
 */
int
tsa_latency_interval(const TsaLatency *lat, double *low_ns, double *high_ns)
{
	double		mean;
	double		error_square;
	double		half;

	if (lat->batches < TSA_MIN_BATCHES)
		return 0;
	describe_batches(lat, 0, lat->batches, &mean, &error_square);
	half = tsa_student_975(lat->batches - 1) * sqrt(error_square);
	half = fmax(half, turns_half_interval(lat));

	*low_ns = lat->mean_ns - half;
	*high_ns = lat->mean_ns + half;
	if (*low_ns < 0)
		*low_ns = 0;
	return 1;
}

/*
 * Was the device a different one in the second half of the samples?  That is
 * a change of the mean by more than 20 % and four standard errors.
 */
int
tsa_latency_drifts(const TsaLatency *lat)
{
	int			half = lat->batches / 2;
	double		mean[2];
	double		error_square[2];
	double		change;

	if (lat->batches < TSA_MIN_BATCHES)
		return 0;
	describe_batches(lat, 0, half, &mean[0], &error_square[0]);
	describe_batches(lat, lat->batches - half, half, &mean[1],
					 &error_square[1]);
	change = fabs(mean[1] - mean[0]);
	return change > 0.2 * lat->mean_ns &&
		change > 4 * sqrt(error_square[0] + error_square[1]);
}

/*
 * 97.5 % quantile of Student's t, by the expansion of Abramowitz and Stegun
 * 26.7.5; good to 0.3 % from 4 degrees of freedom, which is all that is used.
 */
double
tsa_student_975(int freedom)
{
	const double z = 1.959963985;
	double		v = freedom;
	double		z3 = z * z * z;
	double		z5 = z3 * z * z;
	double		z7 = z5 * z * z;

	return z + (z3 + z) / (4 * v) +
		(5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
		(3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}
