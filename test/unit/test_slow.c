/*
 * test_slow.c
 *	  Unit test of src/wait/slow.c: measuring slow statements always leaves
 *	  estimates unbiased, and makes them much less uncertain.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include <string.h>

#include "wait/draw.h"
#include "wait/now.c"
#include "wait/slow.c"

#include "tap.h"

#define RUNS 2000
#define EXECUTIONS 600
#define READS 20
#define MS UINT64_C(1000000)

typedef uint64_t (*Waits) (int i, TsaDraw *random);

/* Waits of execution i, in nanoseconds beyond what its reads have free. */
static uint64_t
constant(int i, TsaDraw *random)
{
	(void) i;
	(void) random;
	return 10 * MS;
}

static uint64_t
sometimes(int i, TsaDraw *random)
{
	(void) i;
	return tsa_draw_uniform(random) < 0.1 ? 50 * MS : 0;
}

static uint64_t
around_limit(int i, TsaDraw *random)
{
	(void) i;
	return (uint64_t) (-log(tsa_draw_uniform(random)) * LIMIT_NS);
}

static uint64_t
later(int i, TsaDraw *random)
{
	(void) random;
	return i >= EXECUTIONS / 2 ? 20 * MS : 0;
}

static uint64_t
in_turns(int i, TsaDraw *random)
{
	(void) random;
	return i / 20 % 2 ? 5 * MS : 0;
}

typedef enum DrawRule
{
	DRAWN,						/* one in ten */
	DRAWN_OR_SLOW,
	WRONG						/* a slow one that is drawn has weight 1 */
} DrawRule;

/* The weight of an execution: 0 if it is not measured. */
static int
weight_of(DrawRule rule, uint64_t ns, TsaDraw *draw)
{
	if (rule != DRAWN && tsa_is_slow(1))
		return 1;
	if (!tsa_draw(draw, 10))
		return 0;
	return rule == WRONG && ns >= LIMIT_NS ? 1 : 10;
}

/* Mean and standard deviation of estimate / truth over many sessions. */
static void
simulate(Waits load, DrawRule rule, double *mean, double *deviation)
{
	TsaDraw		random = {.state = 7};
	TsaDraw		draw = {.state = 42};
	double		sum = 0;
	double		squares = 0;

	for (int run = 0; run < RUNS; run++)
	{
		double		truth = 0;
		double		estimate = 0;

		memset(entries, 0, sizeof(entries));
		for (int i = 0; i < EXECUTIONS; i++)
		{
			uint64_t	ns = load(i, &random);
			int			weight = weight_of(rule, ns, &draw);

			truth += (double) ns;
			estimate += (double) ns * weight;
			if (weight > 0)
				tsa_learn_waits(1, READS, ns + READS * FREE_NS);
		}
		sum += estimate / truth;
		squares += estimate / truth * estimate / truth;
	}
	*mean = sum / RUNS;
	*deviation = sqrt(squares / RUNS - *mean * *mean);
}

static void
test_load(const char *name, Waits load, double gain)
{
	double		mean;
	double		deviation;
	double		before;

	simulate(load, DRAWN, &mean, &before);
	simulate(load, DRAWN_OR_SLOW, &mean, &deviation);
	ok(fabs(mean - 1) < 4 * deviation / sqrt(RUNS),
	   "%s: unbiased (%.4f)", name, mean);
	ok(deviation * gain < before,
	   "%s: error of one session %.1f %%, with draws alone %.1f %%", name,
	   100 * deviation, 100 * before);
}

/* The entries that are used. */
static int
count_entries(void)
{
	int			n = 0;

	for (int i = 0; i < (int) (sizeof(entries) / sizeof(entries[0])); i++)
		n += entries[i].key != 0;
	return n;
}

int
main(void)
{
	double		mean;
	double		deviation;

	test_load("always slow", constant, 5);
	test_load("one in ten is slow", sometimes, 1.5);
	test_load("around the limit", around_limit, 1);
	test_load("slow from some moment on", later, 4);
	test_load("slow and fast in turns", in_turns, 1.5);
	simulate(constant, WRONG, &mean, &deviation);
	ok(fabs(mean - 1) > 4 * deviation / sqrt(RUNS),
	   "a weight that depends on the execution itself is seen (%.4f)", mean);

	memset(entries, 0, sizeof(entries));
	tsa_now.slow_statements = 0;
	tsa_learn_waits(0, 0, 10 * MS);
	ok(!tsa_is_slow(0), "no statement is not slow");
	tsa_learn_waits(5, 1000, 5 * MS);
	ok(!tsa_is_slow(5), "5 us a block is what the page cache takes");
	tsa_learn_waits(5, 10, 5 * MS);
	ok(tsa_is_slow(5), "0.5 ms a block is slow");
	for (int i = 0; i < 10; i++)
		tsa_learn_waits(5, 0, 0);
	ok(tsa_is_slow(5), "some fast executions do not change that");
	for (int i = 0; i < 40; i++)
		tsa_learn_waits(5, 0, 0);
	ok(!tsa_is_slow(5), "many do");

	for (uint64_t key = 1; key <= 100000; key++)
		tsa_learn_waits(key, 1, 10 * MS);
	ok(tsa_is_slow(100000), "of many slow statements the last one is kept");
	tsa_learn_waits(100000, 0, 0);
	for (uint64_t key = 200000; key <= 300000; key++)
		tsa_learn_waits(key, 0, 0);
	ok(tsa_is_slow(100000), "fast statements displace none");
	is_int(tsa_now.slow_statements, count_entries(), "slow statements are counted");
	for (uint64_t key = 1; key <= 100000; key++)
		for (int i = 0; i < 100 && tsa_is_slow(key); i++)
			tsa_learn_waits(key, 0, 0);
	is_int(tsa_now.slow_statements, 0, "until all have become fast");
	return done_testing();
}
