/* Copyright (c) 2026, The tablespace_advisor developers */

/* Unit tests of src/cost/regret.c. */
#include "tap.h"

#include "cost/page_cost.c"
#include "cost/locality.c"
#include "cost/locality_combine.c"
#include "cost/locality_times.c"
#include "cost/correction.c"
#include "cost/regret.c"

static void
check(void)
{
}

/* One index of a table of 10 000 pages on a slow disk. */
static const TsaRegretIndex some_index = {
	.scan = {
		.table_pages = 10000,.table_tuples = 1e6,.index_pages = 2745,
		.index_tuples = 1e6,.tree_height = 2,.index_quals = 1,
		.loop_count = 1
	}
};

static const TsaRegretInput some_input = {
	.nindexes = 1,
	.times = {
		.sequential = 95,.random = 5200,.skip = 3200,.cached = 2,
		.adjacent_0 = 100,.adjacent_1 = 250,
		.cpu = {.tuple = 0.06,.index_tuple = 0.03,.bit = 0.02,.operator = 0.015}
	},
	.random_low = 5100,.random_high = 5300,
	.settings = {
		.table_seq = 1,.cpu_tuple = 0.01,
		.cpu_index_tuple = 0.005,.cpu_operator = 0.0025,
		.cache_pages = 524288,.bitmap_entries = 58254
	},
	.check = check
};

static TsaRegretOutcome
weigh(double correlation, double cached, double r)
{
	TsaRegretInput input = some_input;
	TsaRegretIndex index = some_index;
	TsaRegretOutcome outcome;

	index.scan.correlation = correlation;
	index.cached = cached;
	input.indexes = &index;
	input.settings.table_random = r;
	tsa_regret_weigh(&input, &outcome);
	return outcome;
}

/*
 * A reading of a disk beside a load, recorded on 19; in another run a page of a
 * sequential scan took 910 us in place of 683.  The constants 20 to 25 and 40 to 80
 * are minima of the regret, and that page decides which is the lower one.
 */
static TsaRegretOutcome
weigh_reading(double sequential, double cached, double advised)
{
	TsaRegretInput input = some_input;
	TsaRegretIndex index = {
		.scan = {
			.table_pages = 3279,.table_tuples = 200000,.index_pages = 551,
			.index_tuples = 200000,.tree_height = 2,.index_quals = 1,
			.loop_count = 1
		},
		.cached = cached
	};
	TsaReadTimes times = {
		.sequential = sequential,.random = 18391,.skip = 18172,
		.cached = 1.14,.adjacent_0 = 1333,.adjacent_1 = 10230,.depth = 8,
		.adjacent_n = 1216,.skip_n = 6597,.random_n = 6319,
		.cpu = input.times.cpu
	};
	TsaRegretOutcome outcome;

	input.times = times;
	input.random_low = 17361;
	input.random_high = 19483;
	input.indexes = &index;
	input.settings.table_random = 4;
	input.concurrency = input.recommended = 16;
	input.advised = advised;
	tsa_regret_weigh(&input, &outcome);
	return outcome;
}

/* A reading before and after others, and where the memory ends. */
static void
test_memory(void)
{
	TsaRegretOutcome few = weigh_reading(683, 0, 0);
	TsaRegretOutcome many = weigh_reading(910, 0, 0);
	TsaRegretOutcome kept = weigh_reading(910, 0, few.best);

	ok(few.best == 60 && many.best == 20,
	   "two readings of a disk have their minima at 60 and 20");
	ok(kept.best == 60 && kept.low <= 60 && kept.high >= 60 &&
	   kept.regret_best < 1.05 * many.regret_best,
	   "60 was advised: the next reading keeps it");
	ok(weigh_reading(683, 0, many.best).best == 20,
	   "so it does the other way round");
	ok(weigh_reading(683, 0, 4).best == 60,
	   "what is clearly worse is not kept");
	ok(weigh_reading(683, 1, 60).best < 10,
	   "nor is it once caches hold the table");
	ok(weigh_reading(683, 0, 0).best == weigh_reading(683, 0, NAN).best &&
	   weigh_reading(683, 0, -1).best == few.best,
	   "nothing and nonsense were not advised");
}

/* Its worst plan under r, where another constant is recommended. */
static TsaWorstPlan
worst_plan(double r, double recommended)
{
	TsaRegretInput input = some_input;
	TsaRegretIndex index = some_index;
	TsaWorstPlan worst;

	input.settings.table_random = r;
	tsa_regret_worst(&input, &index, recommended, &worst);
	return worst;
}

int
main(void)
{
	TsaScan		scan = {.table_pages = 1000,.table_tuples = 60000};
	TsaLocality locality;
	TsaRegretOutcome cold = weigh(0, 0, 1);
	TsaRegretOutcome warm = weigh(0, 1, 4);
	TsaRegretOutcome again = weigh(0, 0, 1);
	TsaWorstPlan worst = worst_plan(1, cold.best);
	TsaWorstPlan unchanged = worst_plan(1, 1);
	TsaWorstPlan followed = worst_plan(cold.best, cold.best);
	int			i;

	ok(cold.best > 10, "cold, scattered: a large constant");
	ok(warm.best < 10, "warm: a smaller one");
	ok(cold.regret_best <= cold.regret_current && cold.regret_best >= 1,
	   "the best is no worse than the current one");
	ok(cold.low <= cold.best && cold.best <= cold.high,
	   "the best is in the flat region");
	ok(cold.gain_low > 1 && cold.gain_low <= cold.regret_kept,
	   "the gain is there in all draws");
	ok(cold.best == again.best && cold.gain_low == again.gain_low,
	   "the same question has the same answer");
	ok(cold.regret_locality < 1.1, "corrected locality comes near the best");
	is_close(weigh(0, 0, cold.best).regret_current, cold.regret_best, 1e-9,
			 "taking the advice keeps the promise");

	ok(worst.chosen.us / worst.best.us > cold.regret_current,
	   "the worst plan is further from the best than the mean is");
	ok(worst.chosen.plan != worst.best.plan && worst.rows > 1 &&
	   worst.rows < 1e6, "it is another plan, for some of the rows");
	ok(worst.recommended.plan != worst.chosen.plan &&
	   worst.recommended.us < worst.chosen.us,
	   "the recommended constant leads to another one, which is faster");
	ok(worst.corrected.us <= 1.1 * worst.best.us,
	   "corrected locality comes near the best there, too");
	ok(unchanged.recommended.plan == unchanged.chosen.plan &&
	   unchanged.recommended.us == unchanged.chosen.us,
	   "without a change the plan stays");
	ok(followed.chosen.us / followed.best.us <
	   worst.chosen.us / worst.best.us,
	   "once that is set the worst plan is less far from the best");

	test_memory();

	scan.correlation = -1;
	tsa_locality_assume(&scan, &locality);
	for (i = 0; i < locality.npoints; i++)
	{
		TsaLocalityPoint *point = &locality.points[i];

		if (fabs(point->sequential + point->skip + point->random -
				 point->blocks) > 1e-6 ||
			fabs(point->adjacent_gaps + point->skip_gaps + point->far_gaps -
				 point->blocks) > 1e-6 || point->sequential > 0)
			break;
	}
	is_int(i, locality.npoints,
		   "assumed: counts add up, nothing is sequential in falling order");
	is_close(locality.points[locality.npoints - 1].blocks, 1000, 1e-9,
			 "assumed: the whole index leads to the whole table");
	return done_testing();
}
