/*
 * test_closed_system.c
 *	  Unit test of src/advise/closed_system.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include "advise/closed_system.c"
#include "advise/curve.c"

#include "tap.h"

static const double depth[] = {1, 2, 4, 8};

/* one request at a time, 5 ms each */
static const double serial_us[] = {5000, 10000, 20000, 40000};

/* never a queue */
static const double flash_us[] = {100, 100, 100, 100};

/*
 * Four sessions, each of which thinks for 20 ms between two reads of a serial
 * disk: R = S (1 + 3 R / (R + Z)) has the solution 10 ms, so that there are
 * 4 / 30 ms reads a second.
 */
static const double rate = 4 / 0.030;

static TsaStation
disk(double later_reads)
{
	return (TsaStation)
	{
		{
			depth, serial_us, 4
		}, rate, 10000, later_reads, 0, 0
	};
}

static TsaStation
flash(double later_reads)
{
	return (TsaStation)
	{
		{
			depth, flash_us, 4
		}, 0, 0, later_reads, 0, 0
	};
}

/* A disk from which some of what four sessions read goes away. */
static void
test_less_to_read(void)
{
	TsaStation	stations[2] = {disk(rate), flash(0)};
	double		saved;

	is_close(tsa_closed_system_saves(stations, 2, 4), 0, 1e-3,
			 "what does not change saves nothing");
	is_close(stations[0].later_us, 10000, 1e-6, "and reads take what they did");

	/* half of the reads gone to where they take no time: Z is 40 ms */
	stations[0] = disk(rate / 2);
	saved = tsa_closed_system_saves(stations, 1, 4);
	is_close(stations[0].later_us, 1000 * (sqrt(300) - 10), 1e-6,
			 "reads that stay wait less: R * R + 20 R - 200 = 0");
	is_close(saved / (rate * 10000), 1 - (sqrt(300) - 10) / 20, 1e-6,
			 "half of the reads save two thirds of the time");

	/* beside three requests of others: R * R + 26 R - 320 = 0 */
	stations[0] = disk(rate / 2);
	stations[0].others_in_flight = 3;
	tsa_closed_system_saves(stations, 1, 4);
	is_close(stations[0].later_us, 1000 * (sqrt(489) - 13), 1e-6,
			 "beside others they wait nearly as long as before");
}

int
main(void)
{
	TsaStation	stations[2] = {disk(0), flash(rate)};
	double		saved;

	test_less_to_read();

	/*
	 * to flash, which is read four times as often as it would be at the
	 * present throughput
	 */
	is_close(tsa_closed_system_saves(stations, 2, 4), rate * 9900, 1e-6,
			 "all of them gone");

	/* two halves one by one save less than both */
	stations[0] = disk(rate / 2);
	stations[1] = flash(rate / 2);
	saved = tsa_closed_system_saves(stations, 2, 4);
	ok(2 * saved > rate * 9900, "the first half saves more than the second");
	ok(saved > rate / 2 * 9900, "and more than its own reads");

	/* nobody else: no queue to get shorter */
	stations[0] = (TsaStation)
	{
		{
			depth, serial_us, 4
		}, 100, 5000, 50, 0, 0
	};
	is_close(tsa_closed_system_saves(stations, 1, 0.7), 50 * 5000, 1e-6,
			 "one session saves what its reads took");

	/* who does nothing but read keeps the queue full */
	stations[0] = (TsaStation)
	{
		{
			depth, serial_us, 4
		}, 200, 20000, 100, 0, 0
	};
	is_close(tsa_closed_system_saves(stations, 1, 4), 100 * 20000, 1e-6,
			 "a disk that is always busy saves what went");

	/* a target that gets a queue: less than its reads alone */
	stations[0] = disk(0);
	stations[1] = (TsaStation)
	{
		{
			depth, serial_us, 4
		}, 0, 0, rate, 0, 0
	};
	ok(fabs(tsa_closed_system_saves(stations, 2, 4)) < 1,
	   "to a disk of the same kind nothing is saved");

	/* reads are slower than was probed: the curve is scaled */
	stations[0] = (TsaStation)
	{
		{
			depth, serial_us, 4
		}, rate, 20000, rate, 0, 0
	};
	is_close(tsa_closed_system_saves(stations, 1, 4), 0, 1e-3,
			 "scaled to what reads take now");

	/* fewer sessions seen than read on average */
	stations[0] = (TsaStation)
	{
		{
			depth, serial_us, 4
		}, 200, 20000, 100, 0, 0
	};
	ok(tsa_closed_system_saves(stations, 1, 1) > 0, "too few sessions seen");
	stations[0] = (TsaStation)
	{
		{
			depth, serial_us, 4
		}, 0, 0, 0, 0, 0
	};
	is_close(tsa_closed_system_saves(stations, 1, 0), 0, 0, "nobody at all");
	stations[0] = (TsaStation)
	{
		{
			depth, serial_us, 4
		}, 200, 20000, 0, 0, 0
	};
	is_close(tsa_closed_system_saves(stations, 1, 4), 200 * 20000, 1e-6,
			 "nothing is read any more");
	return done_testing();
}
