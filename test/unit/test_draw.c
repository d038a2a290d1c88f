/*
 * test_draw.c
 *	  Unit test of src/wait/draw.h and src/wait/histogram.h.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include "wait/draw.h"
#include "wait/histogram.h"

#include "tap.h"

#define DRAWS 1000000

/* One of n is drawn, wherever it stands in a transaction of five statements. */
static void
test_rate(int sample)
{
	TsaDraw		draw = {.state = 42};
	int			drawn[5] = {0};
	int			twice = 0;
	bool		before = false;

	for (int i = 0; i < DRAWS; i++)
	{
		bool		now = tsa_draw(&draw, sample);

		drawn[i % 5] += now;
		twice += now && before;
		before = now;
	}
	for (int i = 0; i < 5; i++)
		is_close(drawn[i], DRAWS / 5.0 / sample, 0.05,
				 "as many of each statement are drawn");
	is_close(twice, DRAWS / (double) sample / sample, 0.1,
			 "a draw does not depend on the one before");
}

int
main(void)
{
	TsaDraw		draw = {.state = 1};
	int			drawn = 0;

	for (int i = 0; i < 100; i++)
		drawn += tsa_draw(&draw, 1);
	is_int(drawn, 100, "1 of 1 draws all");
	test_rate(2);
	test_rate(10);
	drawn = 0;
	for (int i = 0; i < 1000; i++)
		drawn += tsa_draw(&draw, 10000);
	ok(drawn < 5, "few of 1000 are drawn at 1 of 10 000");
	drawn = 0;
	for (int i = 0; i < 1000; i++)
		drawn += tsa_draw(&draw, 2);
	ok(drawn > 400, "a smaller sample takes effect at once");

	is_int(tsa_histogram_bucket(0), 0, "no time is in the first bucket");
	is_int(tsa_histogram_bucket(999), 0, "as is less than 1 us");
	is_int(tsa_histogram_bucket(1000), 1, "1 us is in the second");
	is_int(tsa_histogram_bucket(2000), 2, "2 us is in the third");
	is_int(tsa_histogram_bucket(3999), 2, "and less than 4 us");
	is_int(tsa_histogram_bucket(262143999), 18, "less than 2^18 us");
	is_int(tsa_histogram_bucket(262144000), 19, "2^18 us is in the last one");
	is_int(tsa_histogram_bucket(UINT64_MAX), 19, "as is everything longer");
	return done_testing();
}
