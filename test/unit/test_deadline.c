/* Copyright (c) 2026, The tablespace_advisor developers */

/* How fast a copy has to go to end by a given time. */
#include "move/copy/deadline.c"

#include "tap.h"

#define MB (1024.0 * 1024.0)

static TsaDeadline
deadline_of(double window, double seconds, double bytes)
{
	TsaDeadline deadline = {.window = window,.seconds = seconds,
	.bytes = bytes,.sharers = 1};

	return deadline;
}

static void
test_rate(void)
{
	TsaDeadline deadline = deadline_of(100, 100, 900 * MB);

	is_close(tsa_deadline_rate(&deadline), 10 * MB, 1e-9,
			 "a tenth of the time is for what follows");
	deadline = deadline_of(100, 10, 1);
	ok(isinf(tsa_deadline_rate(&deadline)), "in which there is nothing to lose");
	deadline = deadline_of(36000, 36000, 35940 * MB);
	is_close(tsa_deadline_rate(&deadline), 1 * MB, 1e-9, "a minute at most");
	deadline = deadline_of(3, 3, 20 * MB);
	is_close(tsa_deadline_rate(&deadline), 10 * MB, 1e-9, "a second at least");
}

static void
test_waits(void)
{
	TsaDeadline deadline = deadline_of(100, 100, 700 * MB);

	deadline.waits = 30;
	is_close(tsa_deadline_rate(&deadline), 10 * MB, 1e-9,
			 "as long as moves waited for locks lately");
	deadline.waits = 3600;
	is_close(tsa_deadline_rate(&deadline), 14 * MB, 1e-9,
			 "half of the time at most");
	deadline = deadline_of(100, 11, 1);
	ok(!tsa_deadline_is_near(&deadline), "the end is not near yet");
	deadline.seconds = 10;
	ok(tsa_deadline_is_near(&deadline), "the last tenth has begun");
	deadline = deadline_of(100, 30, 1);
	deadline.waits = 30;
	ok(tsa_deadline_is_near(&deadline), "locks take that long");
}

static void
test_call(void)
{
	TsaDeadline deadline = deadline_of(100, 100, 300 * MB);

	deadline.others = 600 * MB;
	is_close(tsa_deadline_rate(&deadline), 10 * MB, 1e-9,
			 "the time is for all moves of a call");
	deadline.sharers = 2;
	is_close(tsa_deadline_rate(&deadline), 5 * MB, 1e-9, "which share it");
	deadline.others = 0;
	is_close(tsa_deadline_rate(&deadline), 300 * MB / 90, 1e-9,
			 "but nobody else does what is left of one");
}

static void
test_missed(void)
{
	TsaDeadline deadline = deadline_of(100, 50, 500 * MB);

	ok(!tsa_deadline_is_missed(&deadline, 0, false), "no speed known: who knows");
	ok(!tsa_deadline_is_missed(&deadline, 20 * MB, false), "fast enough");
	ok(tsa_deadline_is_missed(&deadline, 5 * MB, false), "too slow");
	ok(!tsa_deadline_is_missed(&deadline, 9.8 * MB, false) &&
	   tsa_deadline_is_missed(&deadline, 9.8 * MB, true),
	   "just so: what it was before");
	deadline.seconds = 98.5;
	ok(!tsa_deadline_is_missed(&deadline, 1 * MB, false),
	   "too slow in the beginning: it may have to wait for a first read");
	deadline.seconds = 97.5;
	ok(tsa_deadline_is_missed(&deadline, 1 * MB, false), "for how long it may");
	deadline = deadline_of(36000, 35989, 360 * 36000 * MB);
	ok(tsa_deadline_is_missed(&deadline, 1 * MB, false), "ten seconds at most");
	deadline.seconds = 0;
	ok(tsa_deadline_is_missed(&deadline, 1000 * MB, false), "the time is up");
}

int
main(void)
{
	test_rate();
	test_waits();
	test_call();
	test_missed();
	return done_testing();
}
