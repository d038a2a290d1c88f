/*
 * test_curve.c
 *	  Unit test of src/advise/curve.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include "advise/curve.c"

#include "tap.h"

static const double depth[] = {1, 2, 4, 8};

int
main(void)
{
	/* one request at a time, 5 ms each */
	static const double serial_us[] = {5000, 10000, 20000, 40000};

	/* four at a time, 100 us each, then queueing */
	static const double parallel_us[] = {100, 100, 100, 200};

	/* slower at depth: the largest rate is in the middle */
	static const double falling_us[] = {100, 150, 400, 1600};
	TsaCurve	serial = {depth, serial_us, 4};
	TsaCurve	parallel = {depth, parallel_us, 4};
	TsaCurve	falling = {depth, falling_us, 4};
	TsaCurve	single = {depth, serial_us, 1};
	TsaCurve	none = {depth, serial_us, 0};

	is_close(tsa_curve_latency(&serial, 1), 5000, 0, "at the first depth");
	is_close(tsa_curve_latency(&serial, 0.1), 5000, 0, "below it the same");
	is_close(tsa_curve_latency(&serial, 3), 15000, 1e-12, "between two depths");
	is_close(tsa_curve_latency(&serial, 8), 40000, 0, "at the last depth");
	is_close(tsa_curve_latency(&serial, 16), 80000, 1e-12,
			 "beyond it the device is busy");
	is_close(tsa_curve_latency(&parallel, 6), 150, 1e-12,
			 "where queueing begins");
	is_close(tsa_curve_latency(&single, 3), 15000, 1e-12, "one point will do");
	ok(isnan(tsa_curve_latency(&none, 1)), "none will not");

	is_close(tsa_curve_max_rate(&serial), 200, 1e-12, "rate of a serial device");
	is_close(tsa_curve_max_rate(&parallel), 40000, 1e-12, "of a parallel one");
	is_close(tsa_curve_max_rate(&none), 0, 0, "of none");

	is_close(tsa_curve_depth(&serial, 50), 1, 0, "a low rate needs no queue");
	is_close(tsa_curve_depth(&serial, 300), 1, 1e-12,
			 "a rate out of reach: the depth with the largest");
	is_close(tsa_curve_depth(&parallel, 25000), 2.5, 1e-12,
			 "by Little's law 2.5 of 100 us each");
	is_close(tsa_curve_depth(&falling, 12000), 1.5, 1e-12,
			 "between two depths: 1.5 / 125 us");
	is_close(tsa_curve_depth(&falling, 14000), 2, 0, "the peak in the middle");
	ok(isnan(tsa_curve_depth(&none, 1)), "no points, no depth");

	is_close(tsa_curve_loop_depth(&serial, 1, 5000), 1, 0,
			 "one session meets itself only");
	is_close(tsa_curve_loop_depth(&serial, 0.2, 5000), 1, 0,
			 "so does less than one");
	is_close(tsa_curve_loop_depth(&serial, 6, 0), 6, 1e-12,
			 "who does nothing else is always there");
	is_close(tsa_curve_loop_depth(&serial, 5, 50000), 1.531129, 1e-6,
			 "of four others each an eighth of the time");
	is_close(tsa_curve_loop_depth(&parallel, 5, 300), 2, 1e-12,
			 "four others, a quarter of the time each");
	ok(isnan(tsa_curve_loop_depth(&none, 1, 0)), "no points, no loop");
	return done_testing();
}
