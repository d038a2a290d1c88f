/* Copyright (c) 2026, The tablespace_advisor developers */

/* How long to wait between attempts to cut over. */
#include "move/copy/backoff.c"

#include "tap.h"

/* What so many waits add up to, in seconds. */
static double
wait_for(int attempts, double cost_ms)
{
	double		ms = 0;

	for (int i = 1; i <= attempts; i++)
		ms += tsa_backoff_ms(i, cost_ms);
	return ms / 1000;
}

int
main(void)
{
	ok(tsa_backoff_ms(0, 5) == 0, "at first there is no wait");
	is_close(tsa_backoff_ms(1, 5), FIRST_MS, 1e-9, "then a short one");
	is_close(tsa_backoff_ms(2, 5), 2 * FIRST_MS, 1e-9, "and one that is twice as long");
	is_close(tsa_backoff_ms(9, 5), CHEAP_MS, 1e-9, "cheap attempts: a second");
	is_close(tsa_backoff_ms(9, 100), 50 * 100, 1e-9,
			 "dearer ones hold others up for a fiftieth of the time");
	is_close(tsa_backoff_ms(16, 100000), MAX_MS, 1e-9, "half a minute at most");
	is_close(tsa_backoff_ms(16, -1), MAX_MS, 1e-9,
			 "somebody who may stay for ever: likewise");
	is_close(tsa_backoff_ms(1000000, -1), MAX_MS, 1e-9, "however often");
	ok(wait_for(16, 5) < 0.1 * wait_for(16, -1),
	   "sixteen cheap attempts: %.0f s instead of %.0f s", wait_for(16, 5),
	   wait_for(16, -1));
	for (int i = 1; i < 30; i++)
		if (tsa_backoff_ms(i, 30) > tsa_backoff_ms(i, 31) ||
			tsa_backoff_ms(i, 30) > tsa_backoff_ms(i + 1, 30))
			ok(false, "no wait is shorter than an earlier or a cheaper one");
	ok(!tsa_backoff_gives_up(MAX_ATTEMPTS - 1, 2 * PATIENCE_MS), "few attempts: go on");
	ok(!tsa_backoff_gives_up(10 * MAX_ATTEMPTS, PATIENCE_MS / 2), "little time: go on");
	ok(tsa_backoff_gives_up(MAX_ATTEMPTS, PATIENCE_MS), "both: give up");
	ok(wait_for(MAX_ATTEMPTS, -1) * 1000 >= PATIENCE_MS,
	   "which is what the longest waits take");
	return done_testing();
}
