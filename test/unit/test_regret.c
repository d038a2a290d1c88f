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

/* Weigh one index of a table of 10 000 pages on a slow disk. */
static TsaRegretOutcome
weigh(double correlation, double cached, double r)
{
	TsaRegretIndex index = {
		.scan = {
			.table_pages = 10000,.table_tuples = 1e6,.index_pages = 2745,
			.index_tuples = 1e6,.tree_height = 2,.index_quals = 1,
			.loop_count = 1,.correlation = correlation
		},
		.cached = cached
	};
	TsaRegretInput input = {
		.indexes = &index,.nindexes = 1,
		.times = {
			.sequential = 95,.random = 5200,.skip = 3200,.cached = 2,
			.adjacent_0 = 100,.adjacent_1 = 250,
			.cpu = {.tuple = 0.06,.index_tuple = 0.03,.bit = 0.02,.operator = 0.015}
		},
		.random_low = 5100,.random_high = 5300,
		.settings = {
			.table_random = r,.table_seq = 1,.cpu_tuple = 0.01,
			.cpu_index_tuple = 0.005,.cpu_operator = 0.0025,
			.cache_pages = 524288,.bitmap_entries = 58254
		},
		.check = check
	};
	TsaRegretOutcome outcome;

	tsa_regret_weigh(&input, &outcome);
	return outcome;
}

int
main(void)
{
	TsaScan		scan = {.table_pages = 1000,.table_tuples = 60000};
	TsaLocality locality;
	TsaRegretOutcome cold = weigh(0, 0, 1);
	TsaRegretOutcome warm = weigh(0, 1, 4);
	TsaRegretOutcome again = weigh(0, 0, 1);
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
