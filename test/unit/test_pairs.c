/* Copyright (c) 2026, The tablespace_advisor developers */

/* Pairs of readings: a file in a cache is found, a load is not taken for one. */
#include "probe/latency.c"
#include "probe/pairs.c"
#include "probe/trust.c"

#include "tap.h"

#define RUNS	2000

static unsigned seed = 11;

static double
uniform(void)
{
	seed = seed * 1664525u + 1013904223u;
	return ((seed >> 8) + 0.5) / 16777216.0;
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* A load: how many times as long a read takes as without it, now. */
static double load;
static double noise;			/* between moments: of log load */
static double scatter;			/* between reads of one moment: of their log */

static double
read_file(double us)
{
	/* moments last about ten reads */
	load += 0.1 * (noise * normal() * sqrt(2 / 0.1) - load);
	return us * exp(load + scatter * normal());
}

/* Does a run of so many pairs call the file cached? */
static int
has_caveat(int n, double own_us, double file_us)
{
	TsaPairs	pairs = {0};
	TsaEvidence e = {0};
	char text[	512];

	while (n-- > 0)
		tsa_pairs_add(&pairs, read_file(own_us), read_file(file_us));
	e.samples = 1000;
	e.device_share = 1;
	e.own_files_ratio = tsa_pairs_ratio(&pairs);
	e.own_files_low = tsa_pairs_ratio_low(&pairs);
	return tsa_trust_caveat(&e, text, sizeof(text)) != NULL;
}

static int
count_caveats(int n, double own_us, double file_us)
{
	int			found = 0;
	int			i;

	for (i = 0; i < RUNS; i++)
		found += has_caveat(n, own_us, file_us);
	return found;
}

/* How often do reads of one moment take twice as long as those of another? */
static int
count_moments(void)
{
	int			found = 0;
	int			i;

	for (i = 0; i < RUNS; i++)
	{
		double		one = 0;
		double		other = 0;
		int			j;

		for (j = 0; j < 10; j++)
			one += read_file(8000);
		for (j = 0; j < 100; j++)
			read_file(8000);
		for (j = 0; j < 10; j++)
			other += read_file(8000);
		found += one > 2 * other;
	}
	return found;
}

static void
test_figures(void)
{
	TsaPairs	pairs = {0};
	int			i;

	ok(tsa_pairs_ratio(&pairs) == 0 && tsa_pairs_ratio_low(&pairs) == 0,
	   "nothing is known of no pairs");
	for (i = 0; i < 4; i++)
		tsa_pairs_add(&pairs, 6, 2);
	tsa_pairs_add(&pairs, 0, 2);
	tsa_pairs_add(&pairs, 6, 0);
	ok(tsa_pairs_ratio_low(&pairs) == 0,
	   "nothing is known of four, and half a pair is none");
	tsa_pairs_add(&pairs, 6, 2);
	is_close(tsa_pairs_ratio(&pairs), 3, 1e-9, "the ratio of five alike");
	is_close(tsa_pairs_ratio_low(&pairs), 3, 1e-6, "and it is sure");

	/* logarithms 0 and 2, mean 1, standard error 1/3, t(9) = 2.262 */
	pairs = (TsaPairs)
	{
		0
	};
	for (i = 0; i < 10; i++)
		tsa_pairs_add(&pairs, i % 2 ? 1 : exp(2), 1);
	is_close(tsa_pairs_ratio(&pairs), exp(1), 1e-9, "a geometric mean");
	is_close(tsa_pairs_ratio_low(&pairs), exp(1 - 2.262 / 3), 1e-3,
			 "the lower end of its interval");
}

int
main(void)
{
	test_figures();

	noise = 1;
	scatter = 0.5;
	ok(count_moments() > RUNS / 5,
	   "the load makes reads of one moment twice as slow as others");
	ok(count_caveats(5, 8000, 8000) <= RUNS / 1000,
	   "and is no cache, by five pairs");
	is_int(count_caveats(20, 8000, 8000), 0, "nor by twenty");
	ok(count_caveats(5, 8000, 400) >= RUNS * 0.99,
	   "a cache is found beside it, by five pairs");
	ok(count_caveats(50, 8000, 2000) >= RUNS * 0.99,
	   "a slow one by fifty");

	noise = 0;
	scatter = 0.1;
	ok(count_caveats(5, 8000, 2500) >= RUNS * 0.99,
	   "without a load 3.2 times as slow is found by five pairs");
	is_int(count_caveats(100, 8000, 4400), 0,
		   "1.8 times as slow is not enough, however sure");
	return done_testing();
}
