/*
 * test_block_time.c
 *	  Unit test of src/wait/block_time.c: time is divided by what blocks of
 *	  each relation take, which is learned, and nothing of it is lost.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include <string.h>

#include "wait/block_time.c"
#include "wait/draw.h"

#include "tap.h"

#define US UINT64_C(1000)
#define RUNS 50
#define INTERVALS 1000

enum
{
	HEAP = 1, INDEX
};

static TsaDraw draws = {.state = 7};

/* A time whose mean is this, of many. */
static uint64_t
about(uint64_t mean)
{
	return (uint64_t) (-log(tsa_draw_uniform(&draws)) * (double) mean);
}

/*
 * Intervals that read a block of a table, of its index, or of both (that part
 * of all): the error of the table's share of time, in points, mean of RUNS.
 */
static double
error_of_share(uint64_t heap_ns, uint64_t index_ns, double both)
{
	double		error = 0;

	for (int run = 0; run < RUNS; run++)
	{
		double		took[3] = {0};
		double		given[3] = {0};

		memset(entries, 0, sizeof(entries));
		for (int i = 0; i < INTERVALS; i++)
		{
			double		u = tsa_draw_uniform(&draws);
			TsaTimePart parts[2];
			int			n = 0;
			uint64_t	ns = 0;

			for (uint32_t relid = HEAP; relid <= INDEX; relid++)
			{
				uint64_t	block = about(relid == HEAP ? heap_ns : index_ns);

				if (u >= both && (u < (1 + both) / 2) != (relid == HEAP))
					continue;
				parts[n++] = (TsaTimePart)
				{
					.relid = relid,.reads = 1
				};
				took[relid] += (double) block;
				ns += block;
			}
			tsa_divide_time(parts, n, ns);
			for (int j = 0; j < n; j++)
				given[parts[j].relid] += (double) parts[j].ns;
		}
		error += 100 * (given[HEAP] / (given[HEAP] + given[INDEX]) -
						took[HEAP] / (took[HEAP] + took[INDEX])) / RUNS;
	}
	return error;
}

static void
test_shares(void)
{
	double		error = error_of_share(20 * US, 500 * US, 0.8);

	ok(fabs(error) < 2, "20 and 500 us, one in five alone (%.2f points)", error);
	error = error_of_share(500 * US, 500 * US, 0.8);
	ok(fabs(error) < 2, "equal times (%.2f points)", error);
	error = error_of_share(500 * US, 500 * US, 1);
	ok(fabs(error) < 2, "equal times, always together (%.2f points)", error);
	error = error_of_share(500 * US, 2000 * US, 0.8);
	ok(fabs(error) < 4, "500 and 2000 us, one in five alone (%.2f points)",
	   error);
	error = error_of_share(20 * US, 500 * US, 1);
	ok(error > 40, "who are never read alone have equal parts (%.2f points)",
	   error);
}

static void
test_parts(void)
{
	TsaTimePart parts[] = {
		{.relid = 1,.access = 1,.reads = 3},
		{.relid = 1,.access = 2,.reads = 5},
		{.relid = 2,.access = 1,.reads = 9}
	};
	TsaTimePart alone = {.relid = 1,.access = 1,.reads = 1};

	memset(entries, 0, sizeof(entries));
	tsa_divide_time(parts, 3, 1700000);
	ok(parts[0].ns == 300000 && parts[1].ns == 500000 && parts[2].ns == 900000,
	   "what is not known counts as the mean");
	tsa_divide_time(parts, 3, 1000001);
	ok(parts[0].ns + parts[1].ns + parts[2].ns == 1000001, "parts add up");
	for (int i = 0; i < 100; i++)
		tsa_divide_time(&alone, 1, 0);
	tsa_divide_time(parts, 3, 1700000);
	ok(parts[0].ns > 0 && parts[0].ns < 10000,
	   "blocks that are not waited for have little of the time");
	ok(parts[1].ns > 500000, "kinds of access are kept apart");
	for (int i = 0; i < 100; i++)
	{
		tsa_divide_time(&alone, 1, 0);
		tsa_learn_time(1, 1, 100000);
	}
	tsa_divide_time(parts, 3, 1700000);
	ok(parts[0].ns > 250000, "time that is waited for later counts");
	memset(entries, 0, sizeof(entries));
	for (int i = 0; i < 100; i++)
		tsa_divide_time(&alone, 1, 100000);
	tsa_divide_time(&alone, 1, UINT64_C(1000000000000));
	ok(block_ns(&alone, 0) < 150000, "one very long wait teaches little");
	for (int i = 0; i < 100; i++)
		tsa_divide_time(&alone, 1, 10000000);
	ok(block_ns(&alone, 0) > 9000000, "a hundred teach all");
	tsa_learn_time(77, 1, UINT64_MAX);
	tsa_divide_time(parts, 0, 5);
	alone.relid = 77;
	tsa_divide_time(&alone, 1, UINT64_MAX);
	ok(alone.ns == UINT64_MAX, "the largest time");
	for (uint32_t relid = 1; relid < 10000; relid++)
	{
		alone.relid = relid;
		tsa_divide_time(&alone, 1, relid);
	}
	parts[0].relid = 20000;
	tsa_divide_time(parts, 2, 800);
	ok(parts[0].ns + parts[1].ns == 800, "many relations");
}

int
main(void)
{
	test_shares();
	test_parts();
	return done_testing();
}
