/* Copyright (c) 2026, The tablespace_advisor developers */

/* What others did on the device, by the counters of device and process. */
#include "probe/counters.c"
#include "probe/evidence.c"

#include "tap.h"

static const TsaWorkload adjacent = {
	.name = "adjacent read",.sequential = true,.buffered = true,
	.by_concurrency = true,.io_size = 8192
};
static const TsaWorkload scan = {
	.name = "sequential read",.sequential = true,.queue_depth = 2,
	.io_size = 131072
};

/* A second in which the probe made so many reads of a size, others none. */
static TsaGrowth
alone(uint64_t reads, uint64_t size)
{
	TsaGrowth	growth = {
		.has_process = true,.has_device = true,.turns = 1,.seconds = 1,
		.own_reads = reads,.own_seconds = 0.5
	};

	growth.process.read_bytes = growth.device.read_bytes = reads * size;
	growth.device.reads = growth.device.read_requests = reads;
	growth.device.queue_ms = 500;
	return growth;
}

int
main(void)
{
	TsaGrowth	growth = alone(100, 8192);
	double		requests;
	TsaConditions others;

	is_close(tsa_share_of_others(&adjacent, &growth, &requests), 0, 1e-9,
			 "no read-ahead: all is the probe's");

	/* no test had a read_ahead_kb above the default, 128 */
	growth.process.read_bytes += 10 * 2560 * 1024;
	growth.device.read_bytes += 10 * 2560 * 1024;
	growth.device.reads += 200;
	growth.device.queue_ms += 400;
	is_close(tsa_share_of_others(&adjacent, &growth, &requests), 0, 1e-9,
			 "what the kernel reads ahead is the probe's, too");
	others = tsa_conditions_of_others(&adjacent, &growth);
	is_close(others.reads_per_s, 0, 1e-9, "none are others' reads");
	is_close(others.read_mb_per_s, 0, 1e-9, "nor bytes");
	is_close(others.in_flight, 0, 1e-9, "nor in flight");

	growth.device.read_bytes *= 2;
	is_close(tsa_share_of_others(&adjacent, &growth, &requests), 0.5, 1e-9,
			 "half of the bytes are others'");
	growth.has_process = false;
	ok(tsa_share_of_others(&adjacent, &growth, &requests) > 0.9,
	   "without counters of the process read-ahead counts as others'");

	growth = alone(100, 131072);
	growth.process.read_bytes = 0;
	growth.device.read_bytes *= 4;
	is_close(tsa_share_of_others(&scan, &growth, &requests), 0.75, 1e-9,
			 "direct reads are those that were asked for");
	is_close(requests, 400, 1e-9, "in units of their size");
	return done_testing();
}
