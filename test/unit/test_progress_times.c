/* Copyright (c) 2026, The tablespace_advisor developers */

/* When a waiting caller prints progress. */
#include "move/progress_times.c"

#include "tap.h"

/* How often progress is printed in so many milliseconds, looking five times a second. */
static int
count_prints(int64_t ms)
{
	int64_t		printed = 0;
	int			n = 0;

	for (int64_t waited = 0; waited <= ms; waited += 200)
		if (tsa_progress_is_due(waited, printed))
		{
			printed = waited;
			n++;
		}
	return n;
}

int
main(void)
{
	ok(count_prints(1800) == 0, "short calls print nothing");
	ok(count_prints(2000) == 1, "the first print comes after 2 s");
	ok(count_prints(4800) == 1, "no second print comes before 5 s");
	ok(count_prints(5000) == 2, "the second print comes after 5 s");
	ok(count_prints(10000) == 3, "the third print comes after 10 s");
	ok(count_prints(30000) == 4, "the fourth print comes after 30 s");
	ok(count_prints(59800) == 4, "no fifth print comes within the first minute");
	ok(count_prints(60000) == 5, "the fifth print comes after a minute");
	ok(count_prints(3600000) == 64, "an hour has a print a minute");
	ok(tsa_progress_is_due(40000, 2000), "a late look prints");
	ok(!tsa_progress_is_due(41000, 40000), "a late print is not repeated");
	return done_testing();
}
