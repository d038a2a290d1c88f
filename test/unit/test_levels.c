/* Copyright (c) 2026, The tablespace_advisor developers */

/* Levels of throughput: a credit that is used up is seen, noise is not. */
#include "probe/levels.c"

#include "tap.h"

static unsigned seed = 7;

static double
uniform(void)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) / 16777216.0;
}

static TsaLevels levels;
static TsaFalls falls;
static double now;
static double others;			/* what others take, per second */
static double waited;			/* share of time without a processor */
static double stalled;			/* seconds of it before every tenth turn */

static void
start_series(void)
{
	memset(&levels, 0, sizeof(levels));
	memset(&falls, 0, sizeof(falls));
	now = others = waited = stalled = 0;
}

/* A turn of 50 ms, half a second after the one before. */
static void
add_turn(double requests)
{
	double		outside = (int) (now / 0.5 + 0.5) % 10 == 0 ? stalled : 0;
	double		worked = tsa_time_worked(0.05, 0.05 + outside,
										 0.05 * waited + outside);
	TsaStretch	turn = {now, requests, 0.05, worked, others * 0.05};

	tsa_levels_add(&levels, &turn);
	now += 0.5;
}

/*
 * Turns at so many requests per second, give or take a fifth.  Returns how many
 * falls were found.
 */
static int
add_turns(int n, double level)
{
	int			found = 0;

	while (n-- > 0)
	{
		add_turn(level * 0.05 * (0.8 + 0.4 * uniform()));
		found += tsa_levels_fall(&levels, &falls);
	}
	return found;
}

/* Used up sooner or later, before and after few or many turns. */
static void
test_one_fall(void)
{
	static const int turns[][2] = {{5, 5}, {20, 40}, {300, 30}, {1000, 1000}};
	int			i;

	for (i = 0; i < 4; i++)
	{
		double		fell;

		start_series();
		is_int(add_turns(turns[i][0], 3000), 0, "before the fall there is none");
		fell = now;
		is_int(add_turns(turns[i][1], 100), i == 2 ? 0 : 1,
			   i == 2 ? "too few stretches after a fall to be sure" :
			   "a fall is seen once");
		if (i == 2)
			continue;
		ok(fabs(falls.falls[0].at - fell) <= now / 32, "when it was");
		is_close(falls.falls[0].before, 3000, 0.1, "the level before it");
		is_close(falls.falls[0].after, 100, 0.2, "and after");
	}
}

/*
 * A bucket of tokens within another: requests beyond a rate use up the credit
 * of the inner one, then that of the outer one.
 */
static void
test_two_buckets(void)
{
	double		inner = 20000;
	double		outer = 40000;
	double		fell[2] = {0, 0};
	double		last = 0;
	int			turns = 0;
	int			i;

	start_series();
	for (i = 0; i < 2000; i++)
	{
		/* a turn, and nine of other rows that take as much */
		double		most = 3000 * 0.5;
		double		done = most * (0.8 + 0.4 * uniform());

		inner = fmin(inner + 246 * 0.5, 20000);
		outer = fmin(outer + 100 * 0.5, 40000);
		done = fmin(done, fmin(inner, outer));
		inner -= done;
		outer -= done;
		if (fell[0] == 0 && inner < 1)
			fell[0] = now;
		if (fell[1] == 0 && outer < 1)
			fell[1] = now;
		add_turn(done / 10);
		if (tsa_levels_fall(&levels, &falls))
			last = turns = 0;
		last += done / 10;
		turns++;
	}
	is_int(falls.n, 2, "two falls are seen");
	is_close(falls.falls[0].before, 3000, 0.1, "from the first level");
	is_close(falls.falls[1].before, 246, 0.2, "to one in between");
	ok(fabs(falls.falls[0].at - fell[0]) <= now / 32 &&
	   fabs(falls.falls[1].at - fell[1]) <= now / 32, "when they were");
	is_close(last / turns / 0.05, 100, 0.02, "what comes after them is the last level");
	ok(fell[1] > fell[0] + 100, "the level in between lasted");
}

/* One fall after another. */
static void
test_many_falls(void)
{
	double		level = 1e6;
	double		fell = 0;
	int			i;

	start_series();
	for (i = 0; i <= TSA_MAX_FALLS + 2; i++, level /= 4)
	{
		fell = now;
		add_turns(40, level);
	}
	is_int(falls.n, TSA_MAX_FALLS, "of many falls there is a limit");
	ok(fabs(falls.falls[TSA_MAX_FALLS - 1].at - fell) <= now / 32,
	   "and the last one is among them");
}

/* In the last seconds it is not known whether it stays there. */
static void
test_at_end(void)
{
	TsaFall		fall;
	double		fell;

	start_series();
	add_turns(40, 3000);
	ok(!tsa_levels_fall_at_end(&levels, &fall), "no fall at the end");
	fell = now;
	is_int(add_turns(1, 100), 0, "one slow turn is no fall");
	ok(!tsa_levels_fall_at_end(&levels, &fall), "nor one at the end");
	is_int(add_turns(2, 100), 0, "nor are three");
	ok(tsa_levels_fall_at_end(&levels, &fall), "but they are one at the end");
	is_close(fall.before, 3000, 0.1, "from the level before");
	is_close(fall.after, 100, 0.2, "to that of the last turns");
	is_close(fall.at, fell, 1e-9, "when they began");
	add_turns(30, 100);
	is_int(falls.n, 1, "a fall that goes on is one");
	ok(!tsa_levels_fall_at_end(&levels, &fall), "and none at the end any more");
}

/* What is no fall. */
static void
test_none(void)
{
	TsaFall		fall;
	int			at_end = 0;
	int			i;

	start_series();
	ok(!tsa_levels_fall(&levels, &falls), "nothing falls");
	ok(!tsa_levels_fall_at_end(&levels, &fall), "not at the end either");
	for (i = 0; i < 500; i++)
	{
		add_turns(1, 100 + 9900 * uniform() * uniform());
		at_end += tsa_levels_fall_at_end(&levels, &fall);
	}
	is_int(falls.n, 0, "wild scatter is no fall");
	is_int(at_end, 0, "and none at the end");

	start_series();
	add_turns(30, 1000);
	is_int(add_turns(30, 700), 0, "a third less is none");
	start_series();
	add_turns(30, 100);
	is_int(add_turns(30, 1000), 0, "a rise is none");
	start_series();
	add_turns(30, 1000);
	others = 500;
	is_int(add_turns(30, 100), 0, "others that come are none");
}

/* A busy processor is no fall, and is not taken off what is told. */
static void
test_processors(void)
{
	start_series();
	add_turns(30, 1000);
	waited = 0.8;
	is_int(add_turns(30, 200), 0, "a processor that others take is no fall");

	start_series();
	waited = 0.3;
	add_turns(30, 1000);
	add_turns(30, 100);
	is_int(falls.n, 1, "a fall is seen beside others on the processors");
	is_close(falls.falls[0].before, 1000, 0.1,
			 "the level before it is what was measured");

	start_series();
	stalled = 1;
	add_turns(30, 1000);
	add_turns(30, 100);
	is_int(falls.n, 1, "waits between turns hide no fall");
	is_close(tsa_time_worked(0.05, 0.06, 0.5), 0.0005, 1e-9,
			 "a wait longer than the turn leaves a hundredth of it");
}

int
main(void)
{
	test_one_fall();
	test_two_buckets();
	test_many_falls();
	test_at_end();
	test_none();
	test_processors();
	return done_testing();
}
