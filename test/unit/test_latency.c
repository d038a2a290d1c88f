/* Copyright (c) 2026, The tablespace_advisor developers */

/* Statistics of latencies: histogram, percentiles, batch means. */
#include "probe/latency.c"

#include <stdlib.h>

#include "tap.h"

static TsaLatency lat;

/* a small generator, so that the test is the same everywhere */
static uint64_t random_state = 1;

static double
uniform(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return ((double) (random_state >> 11) + 0.5) / 9007199254740992.0;
}

/* Every value lies in its bucket, and the bucket's middle is near it. */
static void
test_buckets(void)
{
	uint64_t	ns;
	int			wrong = 0;
	double		worst = 0;
	int			bucket;

	for (ns = 1; ns < UINT64_C(1) << 41; ns += ns / 37 + 1)
	{
		uint64_t	lower;
		uint64_t	width;
		double		error;

		bucket = bucket_of(ns);
		lower = tsa_latency_lower(bucket);
		width = bucket_width(bucket);
		if (ns < lower || ns >= lower + width)
			wrong++;
		error = fabs((double) lower + (double) (width - 1) / 2 - (double) ns) /
			(double) ns;
		if (error > worst)
			worst = error;
	}
	is_int(wrong, 0, "every latency lies in its bucket");
	ok(worst <= 0.01, "the middle of a bucket is within 1 %%");

	wrong = 0;
	for (bucket = 1; bucket < TSA_LATENCY_BUCKETS; bucket++)
		if (tsa_latency_lower(bucket) !=
			tsa_latency_lower(bucket - 1) + bucket_width(bucket - 1))
			wrong++;
	is_int(wrong, 0, "buckets follow each other without gap or overlap");
	is_int(bucket_of(UINT64_MAX), TSA_LATENCY_BUCKETS - 1,
		   "what is too long goes to the last bucket");
	is_int(bucket_of(0), 0, "zero goes to the first bucket");
}

/* Extremes, mean and deviation against a direct computation. */
static void
test_moments(void)
{
	static const uint64_t samples[] = {400, 100, 300, 200, 1000};
	double		squares = 0;
	int			i;

	tsa_latency_reset(&lat);
	is_close(tsa_latency_stddev(&lat), 0, 0, "no deviation without samples");
	for (i = 0; i < 5; i++)
	{
		tsa_latency_add(&lat, samples[i]);
		squares += ((double) samples[i] - 400) * ((double) samples[i] - 400);
	}
	is_int((long long) lat.count, 5, "count");
	is_int((long long) lat.min_ns, 100, "minimum");
	is_int((long long) lat.max_ns, 1000, "maximum");
	is_close(lat.mean_ns, 400, 1e-12, "mean");
	is_close(tsa_latency_stddev(&lat), sqrt(squares / 4), 1e-12,
			 "standard deviation");
}

/* Percentiles need samples, and are right where they have them. */
static void
test_percentiles(void)
{
	static const double points[] = {0.5, 0.9, 0.95, 0.99};
	static const int needed[] = {6, 36, 72, 368};
	double		value;
	int			i;
	int			c;

	for (c = 0; c < 4; c++)
	{
		tsa_latency_reset(&lat);
		for (i = 1; i < needed[c]; i++)
			tsa_latency_add(&lat, 1000);
		ok(!tsa_latency_percentile(&lat, points[c], &value),
		   "no p%g from %d samples", points[c] * 100, needed[c] - 1);
		tsa_latency_add(&lat, 1000);
		ok(tsa_latency_percentile(&lat, points[c], &value),
		   "a p%g from %d samples", points[c] * 100, needed[c]);
		is_close(value, 1000, 1e-12, "equal samples give their value");
	}

	tsa_latency_reset(&lat);
	for (i = 100000; i >= 1; i--)
		tsa_latency_add(&lat, (uint64_t) i * 1000);
	for (c = 0; c < 4; c++)
	{
		tsa_latency_percentile(&lat, points[c], &value);
		is_close(value, points[c] * 1e8, 0.01, "percentile of a uniform sample");
	}
}

/*
 * The interval covers the true mean about 19 times in 20, also when
 * successive samples are correlated, where single samples would mislead.
 */
static void
test_interval(void)
{
	const int	trials = 1000;
	double		low;
	double		high;
	int			covered = 0;
	int			trial;
	int			i;

	tsa_latency_reset(&lat);
	for (i = 0; i < 9; i++)
		tsa_latency_add(&lat, 100);
	ok(!tsa_latency_interval(&lat, &low, &high), "no interval from 9 samples");
	tsa_latency_add(&lat, 100);
	ok(tsa_latency_interval(&lat, &low, &high), "an interval from 10 samples");
	ok(low == 100 && high == 100, "no width without variance");

	for (trial = 0; trial < trials; trial++)
	{
		double		drift = 0;

		tsa_latency_reset(&lat);
		for (i = 0; i < 4000; i++)
		{
			/* autoregressive with factor 0.9: neighbours are alike */
			drift = 0.9 * drift + (uniform() + uniform() + uniform() - 1.5) * 1000;
			tsa_latency_add(&lat, (uint64_t) (100000 + drift));
		}
		tsa_latency_interval(&lat, &low, &high);
		/* adding truncates: half a nanosecond off */
		if (low <= 99999.5 && 99999.5 <= high)
			covered++;
	}
	ok(covered >= 925 && covered <= 975,
	   "95 %% intervals of correlated samples cover the mean in %d of %d",
	   covered, trials);
}

/*
 * A load that is there for all of a turn or for none of it: intervals from
 * turns cover, though samples within a turn are alike.
 */
static void
test_turns(void)
{
	static TsaLatency turn;
	const int	trials = 1000;
	int			covered = 0;
	int			trial;

	for (trial = 0; trial < trials; trial++)
	{
		double		low;
		double		high;
		int			t;

		tsa_latency_reset(&lat);
		for (t = 0; t < 40; t++)
		{
			uint64_t	level = uniform() < 0.5 ? 100000 : 300000;
			int			n = 60 + (int) (uniform() * 40);
			int			i;

			tsa_latency_reset(&turn);
			for (i = 0; i < n; i++)
				tsa_latency_add(&turn, (uint64_t) ((double) level *
												   (0.75 + uniform() / 2)));
			tsa_latency_add_turn(&lat, &turn);
		}
		if (tsa_latency_interval(&lat, &low, &high) && low <= 200000 &&
			200000 <= high)
			covered++;
	}
	ok(covered >= 925 && covered <= 990,
	   "95 %% intervals of turns cover the mean in %d of %d", covered, trials);
}

/* Turns added up are the samples of all. */
static void
test_add_turn(void)
{
	static TsaLatency all;
	static TsaLatency turn;
	double		value[2];
	int			t;

	tsa_latency_reset(&all);
	tsa_latency_reset(&lat);
	for (t = 0; t < 50; t++)
	{
		int			n = 1 + (int) (uniform() * 200);
		int			i;

		tsa_latency_reset(&turn);
		for (i = 0; i < n; i++)
		{
			uint64_t	ns = (uint64_t) (1e5 + 1e5 * uniform());

			tsa_latency_add(&turn, ns);
			tsa_latency_add(&all, ns);
		}
		tsa_latency_add_turn(&lat, &turn);
	}
	is_int((long long) lat.count, (long long) all.count, "as many samples");
	is_int((long long) lat.min_ns, (long long) all.min_ns, "the same least");
	is_int((long long) lat.max_ns, (long long) all.max_ns, "the same most");
	is_close(lat.mean_ns, all.mean_ns, 1e-9, "the same mean");
	is_close(tsa_latency_stddev(&lat), tsa_latency_stddev(&all), 1e-9,
			 "the same deviation");
	tsa_latency_percentile(&lat, 0.9, &value[0]);
	tsa_latency_percentile(&all, 0.9, &value[1]);
	is_close(value[0], value[1], 1e-9, "the same percentile");
	ok(lat.batches >= TSA_MIN_BATCHES, "and batches enough for an interval");
}

/* A change for good is seen, noise is not. */
static void
test_drift(void)
{
	int			i;

	tsa_latency_reset(&lat);
	for (i = 0; i < 2000; i++)
		tsa_latency_add(&lat, (uint64_t) (100000 * (0.5 + uniform())));
	ok(!tsa_latency_drifts(&lat), "noise is no drift");
	tsa_latency_reset(&lat);
	for (i = 0; i < 2000; i++)
		tsa_latency_add(&lat, (uint64_t) ((i < 1000 ? 100000 : 150000) *
										  (0.5 + uniform())));
	ok(tsa_latency_drifts(&lat), "a step is");
}

/* Student's quantiles against printed tables. */
static void
test_student(void)
{
	is_close(tsa_student_975(4), 2.776445, 0.005, "t quantile, 4 degrees");
	is_close(tsa_student_975(9), 2.262157, 0.001, "t quantile, 9 degrees");
	is_close(tsa_student_975(15), 2.131450, 0.0005, "t quantile, 15 degrees");
	is_close(tsa_student_975(30), 2.042272, 0.0002, "t quantile, 30 degrees");
}

int
main(void)
{
	test_buckets();
	test_moments();
	test_percentiles();
	test_interval();
	test_turns();
	test_add_turn();
	test_drift();
	test_student();
	return done_testing();
}
