/*
 * The measuring loop against simulated devices in virtual time: nothing here
 * depends on the machine.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include "probe/latency.c"
#include "probe/measure.c"
#include "probe/random.c"
#include "probe/warmup.c"

#include <stdlib.h>

#include "tap.h"

#define BLOCK		8192
#define MS			UINT64_C(1000000)
#define MAX_BLOCKS	65536

/* A device: so many servers, each busy with one request at a time. */
typedef struct Device
{
	TsaIoEngine base;
	uint64_t	now;
	int			servers;
	uint64_t	free_at[TSA_MAX_DEPTH];
	uint64_t	service_ns;
	uint64_t	cached_blocks;	/* the last ones answer 30 times as fast */
	uint64_t	cold_ns;		/* some extra until this time, ... */
	uint64_t	cold_extra;
	int			fading;			/* ... less and less of it */
	int			fail_after;		/* requests, then -EIO; 0: never */
	int			short_after;	/* requests, then nothing is read */

	TsaIoRequest *queue[TSA_MAX_DEPTH];
	uint64_t	due[TSA_MAX_DEPTH];
	int			queued;
	int			room;			/* for so many requests */

	uint64_t	blocks;
	unsigned char seen[MAX_BLOCKS];
	int			repeats;
	int			most_in_flight;
	int			out_of_order;
	uint64_t	last_unit;
	int			requests;
	int			checks;
} Device;

static Device device;
static TsaIoRequest requests[TSA_MAX_DEPTH];
static char buffer[TSA_MAX_DEPTH * BLOCK];
static TsaMeasurement m;

static int
device_submit(TsaIoEngine *base, TsaIoRequest *request)
{
	uint64_t	service = device.service_ns;
	int			server = 0;
	int			s;

	if (device.queued >= device.room)
		return -EAGAIN;
	if (request->unit >= device.blocks - device.cached_blocks)
		service /= 30;
	if (device.now < device.cold_ns)
		service += !device.fading ? device.cold_extra :
			(uint64_t) ((double) device.cold_extra *
						(1 - (double) device.now / (double) device.cold_ns));
	for (s = 1; s < device.servers; s++)
		if (device.free_at[s] < device.free_at[server])
			server = s;
	if (device.free_at[server] < device.now)
		device.free_at[server] = device.now;
	device.free_at[server] += service;

	device.repeats += device.seen[request->unit]++ > 0;
	device.out_of_order += device.requests > 0 &&
		request->unit != (device.last_unit + 1) % device.blocks;
	device.last_unit = request->unit;
	device.requests++;
	device.due[device.queued] = device.free_at[server];
	device.queue[device.queued++] = request;
	base->in_flight++;
	if (base->in_flight > device.most_in_flight)
		device.most_in_flight = base->in_flight;
	return 0;
}

static int
device_reap(TsaIoEngine *base, TsaIoRequest **done, int max, int64_t timeout_ns)
{
	uint64_t	first = UINT64_MAX;
	int			n = 0;
	int			i;

	for (i = 0; i < device.queued; i++)
		if (device.due[i] < first)
			first = device.due[i];
	if (first > device.now + (uint64_t) timeout_ns)
	{
		device.now += (uint64_t) timeout_ns;
		return 0;
	}
	if (first > device.now)
		device.now = first;
	for (i = 0; i < device.queued && n < max;)
	{
		if (device.due[i] > device.now)
		{
			i++;
			continue;
		}
		done[n] = device.queue[i];
		done[n]->result = (int64_t) done[n]->length;
		if (device.fail_after > 0 &&
			done[n]->serial >= (uint64_t) device.fail_after)
			done[n]->result = -EIO;
		if (device.short_after > 0 &&
			done[n]->serial >= (uint64_t) device.short_after)
			done[n]->result = 0;
		n++;
		device.queued--;
		device.queue[i] = device.queue[device.queued];
		device.due[i] = device.due[device.queued];
	}
	base->in_flight -= n;
	return n;
}

static const TsaIoOps device_ops = {device_submit, device_reap};

static uint64_t
virtual_now(void *arg)
{
	(void) arg;
	return device.now;
}

static void
count_check(void *arg)
{
	(void) arg;
	device.checks++;
}

static void
virtual_sleep(void *arg, uint64_t ns)
{
	(void) arg;
	device.now += ns;
}

static TsaIoFile file;

/* Measure from beginning to end. */
static int
measure_all(const TsaMeasurePlan *plan)
{
	TsaMeasuring run;
	int			error = tsa_measure_start(&run, plan, &m);

	while (error == 0 && !tsa_measure_is_done(&run))
	{
		error = tsa_measure_turn(&run);
		if (error == 0)
			tsa_measure_keep(&run);
	}
	if (error == 0 && tsa_latency_drifts(&m.latency))
		m.unsteady = 1;
	return error;
}

/* A device and a plan to measure it with; tests change what they are about. */
static TsaMeasurePlan
prepare(int servers, uint64_t service_ns, uint64_t blocks)
{
	TsaMeasurePlan plan = {0};

	memset(&device, 0, sizeof(device));
	device.base.ops = &device_ops;
	device.servers = servers;
	device.service_ns = service_ns;
	device.blocks = blocks;
	device.room = TSA_MAX_DEPTH;
	file.bytes = blocks * BLOCK;
	plan.engine = &device.base;
	plan.requests = requests;
	plan.buffer = buffer;
	plan.files = &file;
	plan.nfiles = 1;
	plan.io_size = BLOCK;
	plan.depth = 1;
	plan.duration_ns = 1000 * MS;
	plan.seed = 42;
	plan.now = virtual_now;
	plan.check = count_check;
	plan.sleep = virtual_sleep;
	return plan;
}

/* A permutation hits every number once. */
static void
test_permutation(void)
{
	static const uint64_t counts[] = {1, 2, 3, 5, 64, 1000, 32768, 65535};
	int			c;

	for (c = 0; c < 8; c++)
	{
		static unsigned char seen[MAX_BLOCKS];
		TsaPermutation perm;
		uint64_t	i;
		int			wrong = 0;

		memset(seen, 0, sizeof(seen));
		tsa_init_permutation(&perm, counts[c], 7);
		for (i = 0; i < counts[c]; i++)
		{
			uint64_t	at = tsa_permutation_at(&perm, i);

			if (at >= counts[c] || seen[at]++)
				wrong++;
		}
		is_int(wrong, 0, "a permutation hits every number once");
	}
}

/* One server: latency grows with depth, throughput does not. */
static void
test_serial_device(void)
{
	static const int depths[] = {1, 4, 16, 32};
	int			d;

	for (d = 0; d < 4; d++)
	{
		TsaMeasurePlan plan = prepare(1, 8 * MS, 32768);

		plan.depth = depths[d];
		plan.duration_ns = 2000 * MS;
		is_int(measure_all(&plan), 0, "a serial device is measured");
		is_close(m.latency.mean_ns, 8e6 * depths[d], 1e-9,
				 "its latency is depth times service time, ramp left out");
		is_close((double) m.latency.count * 1e9 / (double) m.elapsed_ns, 125,
				 0.02, "its throughput does not depend on depth");
		is_int(device.most_in_flight, depths[d], "depth requests are in flight");
		is_int(device.base.in_flight, 0, "and none at the end");
		ok(!m.unsteady && !m.repeated && !m.limited, "nothing to complain of");
	}
}

/* As many servers as requests: throughput grows with depth. */
static void
test_parallel_device(void)
{
	TsaMeasurePlan plan = prepare(32, 1 * MS, 65536);

	plan.depth = 32;
	is_int(measure_all(&plan), 0, "a parallel device is measured");
	is_close(m.latency.mean_ns, 1e6, 1e-9, "its latency does not grow");
	is_close((double) m.latency.count * 1e9 / (double) m.elapsed_ns, 32000,
			 0.01, "its throughput does");
}

/* No offset twice; a fast device ends the measurement early. */
static void
test_no_repetition(void)
{
	TsaMeasurePlan plan = prepare(1, 1000, 32768);

	is_int(measure_all(&plan), 0, "a fast device is measured");
	is_int(device.repeats, 0, "no offset is used twice");
	is_int(device.requests, 32768, "every offset is used");
	ok(device.now < plan.duration_ns, "and then it ends");
	ok(device.out_of_order > 32000, "in random order");

	plan = prepare(1, 1000, 8);
	is_int(measure_all(&plan), 0, "a tiny file is measured");
	ok(m.repeated, "by using offsets again, and says so");
	ok(m.latency.count >= 100, "until there are some samples");

	plan = prepare(1, 1000, 100);
	plan.may_repeat = 1;
	plan.duration_ns = 10 * MS;
	is_int(measure_all(&plan), 0, "repetition may be allowed");
	ok(!m.repeated && device.requests > 5000, "and is nothing to tell then");
}

static void
test_sequential(void)
{
	TsaMeasurePlan plan = prepare(1, 1 * MS, 65536);

	plan.sequential = 1;
	plan.depth = 2;
	is_int(measure_all(&plan), 0, "sequential reads");
	is_int(device.out_of_order, 0, "follow each other");
}

static void
test_mixed(void)
{
	TsaMeasurePlan plan = prepare(1, MS / 10, 65536);

	plan.write_percent = 50;
	is_int(measure_all(&plan), 0, "a mixed workload");
	is_close((double) m.reads, (double) m.writes, 0.1,
			 "reads as often as it writes");
	is_int((long long) (m.reads + m.writes), device.requests,
		   "and counts every request");
}

/* A device that wakes up slowly is waited for. */
static void
test_warm_up(void)
{
	TsaMeasurePlan plan = prepare(1, MS, 65536);

	device.cold_ns = 100 * MS;
	device.cold_extra = 9 * MS;
	is_int(measure_all(&plan), 0, "a device that wakes up slowly");
	is_close(m.latency.mean_ns, 1e6, 0.01, "is measured awake");
	ok(m.warmup_ns >= 100 * MS, "after warming up");

	plan = prepare(1, MS, 65536);
	is_int(measure_all(&plan), 0, "a steady device");
	ok(m.warmup_ns < 150 * MS, "needs little of it");

	plan = prepare(1, MS, 65536);
	device.cold_ns = 1000 * MS;
	device.cold_extra = 9 * MS;
	device.fading = 1;
	is_int(measure_all(&plan), 0, "a device that never settles");
	ok(m.unsteady, "is called unsteady");
}

/* Part of the file in a cache shows, an even device does not. */
static void
test_regions(void)
{
	TsaMeasurePlan plan = prepare(1, 13 * MS, 16384);

	device.cached_blocks = 16384 / 2;
	plan.duration_ns = 5000 * MS;
	is_int(measure_all(&plan), 0, "a file half in a cache");
	ok(tsa_measure_region_ratio(&m) > 10, "shows a fast and a slow half");

	plan = prepare(1, 13 * MS, 16384);
	plan.duration_ns = 5000 * MS;
	is_int(measure_all(&plan), 0, "a file on an even device");
	is_close(tsa_measure_region_ratio(&m), 1, 1e-9, "does not");
}

static void
test_rate_limit(void)
{
	TsaMeasurePlan plan = prepare(4, MS, 65536);

	plan.depth = 4;
	plan.max_iops = 100;
	is_int(measure_all(&plan), 0, "under a limit");
	ok(m.limited, "it is said");
	ok(device.requests <= 101 + (int) (device.now / (10 * MS)),
	   "the limit holds");
	is_close((double) m.latency.count * 1e9 / (double) m.elapsed_ns, 100, 0.05,
			 "and is reached");
	is_close(m.latency.mean_ns, 1e6, 1e-9, "latency is the device's own");
}

static void
test_errors(void)
{
	TsaMeasurePlan plan = prepare(1, MS, 65536);

	device.fail_after = 50;
	is_int(measure_all(&plan), -EIO, "a failed request ends it");

	plan = prepare(1, MS, 65536);
	device.short_after = 200;
	is_int(measure_all(&plan), -EIO, "so does a short read");

	plan = prepare(1, MS, 256);
	device.short_after = 200;
	plan.may_fall_short = 1;
	is_int(measure_all(&plan), 0, "unless files may shrink");
	ok(m.short_reads > 0, "which is counted");

	plan = prepare(1, MS, 0);
	is_int(measure_all(&plan), -EINVAL, "no space, no measurement");
}

/* An engine with less room than the depth asks for is used as it is. */
static void
test_busy_engine(void)
{
	TsaMeasurePlan plan = prepare(1, MS, 65536);

	plan.depth = 8;
	device.room = 5;
	is_int(measure_all(&plan), 0, "an engine that is too busy");
	is_int(device.most_in_flight, 5, "gets what it can take");
	is_int(device.requests, (long long) (m.reads + m.writes),
		   "and no request is lost");
}

/* Slow requests do not keep it from looking for interrupts. */
static void
test_interruptible(void)
{
	TsaMeasurePlan plan = prepare(1, 1000 * MS, 1024);

	plan.depth = 1;
	plan.duration_ns = 3000 * MS;
	is_int(measure_all(&plan), 0, "with one request a second");
	ok(device.checks >= 60, "interrupts are looked for every 50 ms");
}

/* In turns: each fills the queue anew, and no offset comes twice. */
static void
test_turns(void)
{
	static TsaMeasuring run;
	TsaMeasurePlan plan = prepare(1, 2 * MS, 65536);
	int			turns = 0;
	int			too_short = 0;

	plan.depth = 8;
	plan.duration_ns = 10000 * MS;
	plan.turn_ns = 50 * MS;
	is_int(tsa_measure_start(&run, &plan, &m), 0, "a measurement in turns");
	while (!tsa_measure_is_done(&run))
	{
		uint64_t	before = device.now;
		int			requests_before = device.requests;

		if (tsa_measure_turn(&run) != 0)
			break;
		tsa_measure_keep(&run);
		turns++;
		if (!tsa_measure_is_done(&run) &&
			(device.now - before < plan.turn_ns ||
			 device.requests - requests_before < 4 * 8))
			too_short++;
		device.now += 300 * MS;
	}
	ok(turns >= 60, "has many turns");
	is_int(too_short, 0, "none too short for the queue");
	ok((int) m.latency.turns < turns && (int) m.latency.turns > 3 * turns / 4,
	   "all count but those of the warm-up");
	is_close(m.latency.mean_ns, 16e6, 1e-9, "filling the queue does not count");
	is_close((double) m.latency.count * 1e9 / (double) m.elapsed_ns, 500,
			 1e-9, "nor do pauses");
	is_int(device.repeats, 0, "no offset is used twice");
	is_int(device.requests, (long long) (m.reads + m.writes),
		   "no request is lost");
}

/* In turns of a few requests all of them count, from the first on. */
static void
test_short_turns(void)
{
	static TsaMeasuring run;
	TsaMeasurePlan plan = prepare(1, 2 * MS, 65536);
	int			i;

	plan.turn_requests = 2;
	is_int(tsa_measure_start(&run, &plan, &m), 0, "turns of two requests");
	for (i = 1; i <= 3; i++)
	{
		is_int(tsa_measure_turn(&run), 0, "a short turn ends");
		is_int((long long) run.turn.latency.count, 2, "both requests count");
		is_int(device.requests, 2 * i, "and there are no others");
	}
	while (!tsa_measure_is_done(&run) && tsa_measure_turn(&run) == 0)
		i++;
	is_close(i, 250, 0.01, "short turns go on until the time is over");
}

static int
is_odd(const TsaIoRequest *request)
{
	return request->unit % 2 == 1;
}

static int
is_any(const TsaIoRequest *request)
{
	(void) request;
	return 1;
}

/* What is to be left out is not read. */
static void
test_left_out(void)
{
	TsaMeasurePlan plan = prepare(1, 1000, 4096);
	int			odd = 0;
	int			i;

	plan.leave_out = is_odd;
	is_int(measure_all(&plan), 0, "every other block is left out");
	for (i = 1; i < 4096; i += 2)
		odd += device.seen[i];
	is_int(odd, 0, "none of these is read");
	is_int(device.requests, 2048, "all others are");

	plan = prepare(1, 1000, 4096);
	plan.leave_out = is_any;
	is_int(measure_all(&plan), 0, "where all is left out");
	is_int(device.requests, 0, "it ends at once");
}

int
main(void)
{
	test_turns();
	test_short_turns();
	test_left_out();
	test_permutation();
	test_serial_device();
	test_parallel_device();
	test_no_repetition();
	test_sequential();
	test_mixed();
	test_warm_up();
	test_regions();
	test_rate_limit();
	test_errors();
	test_busy_engine();
	test_interruptible();
	return done_testing();
}
