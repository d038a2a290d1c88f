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

/* what others take, per second */
static double others;

/* Turns of 50 ms at so many requests per second, give or take a fifth. */
static void
add_turns(TsaLevels *levels, int n, double level, double *now)
{
	while (n-- > 0)
	{
		tsa_levels_add(levels, *now, level * 0.05 * (0.8 + 0.4 * uniform()),
					   0.05, others * 0.05);
		*now += 0.5;
	}
}

/* A bucket of tokens: used up sooner or later, before and after few or many. */
static void
test_bucket(void)
{
	static const int turns[][2] = {{5, 5}, {20, 40}, {300, 30}, {1000, 1000}};
	int			i;

	for (i = 0; i < 4; i++)
	{
		TsaLevels	levels = {0};
		TsaFall		fall = {0};
		double		now = 0;
		double		fell;

		add_turns(&levels, turns[i][0], 3000, &now);
		fell = now;
		ok(!tsa_levels_fall(&levels, &fall), "before the fall there is none");
		add_turns(&levels, turns[i][1], 100, &now);
		if (i == 2)
			continue;			/* too few stretches after it to be sure */
		ok(tsa_levels_fall(&levels, &fall), "a fall after %d turns is seen",
		   turns[i][0]);
		ok(fabs(fall.at - fell) <= now / 32, "when it was");
		is_close(fall.after, 100, 0.25, "the level after it");
		is_close(fall.before, 3000, 0.1, "and before");
	}
}

/* What is no fall. */
static void
test_none(void)
{
	TsaLevels	levels = {0};
	TsaFall		fall;
	double		now = 0;
	int			i;
	int			seen = 0;

	ok(!tsa_levels_fall(&levels, &fall), "nothing falls");
	for (i = 0; i < 500; i++)
	{
		add_turns(&levels, 1, 100 + 9900 * uniform() * uniform(), &now);
		seen += tsa_levels_fall(&levels, &fall);
	}
	is_int(seen, 0, "wild scatter is no fall");

	levels = (TsaLevels)
	{
		0
	};
	add_turns(&levels, 30, 1000, &now);
	add_turns(&levels, 30, 700, &now);
	ok(!tsa_levels_fall(&levels, &fall), "a third less is none");
	levels = (TsaLevels)
	{
		0
	};
	add_turns(&levels, 30, 100, &now);
	add_turns(&levels, 30, 1000, &now);
	ok(!tsa_levels_fall(&levels, &fall), "a rise is none");
	levels = (TsaLevels)
	{
		0
	};
	add_turns(&levels, 30, 1000, &now);
	others = 500;
	add_turns(&levels, 30, 100, &now);
	ok(!tsa_levels_fall(&levels, &fall), "others that come are none");
}

int
main(void)
{
	test_bucket();
	test_none();
	return done_testing();
}
