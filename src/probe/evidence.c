/*-------------------------------------------------------------------------
 *
 * evidence.c
 *	  Evidence of the kernel's counters on a measurement.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <string.h>

#include "probe/evidence.h"

/* Read the counters, as far as they are to be had. */
void
tsa_counters_read(const char *stat_path, TsaCounters *counters)
{
	memset(counters, 0, sizeof(*counters));
	counters->have_process = tsa_process_io_read(&counters->process) == 0;
	counters->have_device = stat_path != NULL &&
		tsa_device_io_read(stat_path, &counters->device) == 0;
	counters->have_delay = tsa_process_delay_read(&counters->delay_ns) == 0;
	counters->time_ns = tsa_clock_now();
}

/* Growth of the counters; the caller takes the probe's own part off. */
void
tsa_growth_between(TsaGrowth *growth, const TsaCounters *before,
				   const TsaCounters *after)
{
	const TsaDeviceIo *from = &before->device;
	const TsaDeviceIo *to = &after->device;
	TsaDeviceIo *device = &growth->device;

	memset(growth, 0, sizeof(*growth));
	growth->turns = 1;
	growth->seconds = (double) (after->time_ns - before->time_ns) / 1e9;
	growth->has_process = before->have_process && after->have_process;
	growth->has_device = before->have_device && after->have_device;
	growth->has_delay = before->have_delay && after->have_delay;
	growth->delay = (double) (after->delay_ns - before->delay_ns) / 1e9;
	growth->process.read_bytes =
		after->process.read_bytes - before->process.read_bytes;
	growth->process.write_bytes =
		after->process.write_bytes - before->process.write_bytes;
	device->reads = to->reads - from->reads;
	device->read_bytes = to->read_bytes - from->read_bytes;
	device->writes = to->writes - from->writes;
	device->write_bytes = to->write_bytes - from->write_bytes;
	device->read_requests = to->read_requests - from->read_requests;
	device->read_ms = to->read_ms - from->read_ms;
	device->busy_ms = to->busy_ms - from->busy_ms;
	device->queue_ms = to->queue_ms - from->queue_ms;
}

/* Add the growth over some turns to that over others. */
void
tsa_growth_add(TsaGrowth *sum, const TsaGrowth *growth)
{
	bool		is_first = sum->turns == 0;

	sum->has_process = (is_first || sum->has_process) && growth->has_process;
	sum->has_device = (is_first || sum->has_device) && growth->has_device;
	sum->has_delay = (is_first || sum->has_delay) && growth->has_delay;
	sum->turns += growth->turns;
	sum->seconds += growth->seconds;
	sum->delay += growth->delay;
	sum->process.read_bytes += growth->process.read_bytes;
	sum->process.write_bytes += growth->process.write_bytes;
	sum->device.reads += growth->device.reads;
	sum->device.read_bytes += growth->device.read_bytes;
	sum->device.writes += growth->device.writes;
	sum->device.write_bytes += growth->device.write_bytes;
	sum->device.read_requests += growth->device.read_requests;
	sum->device.read_ms += growth->device.read_ms;
	sum->device.busy_ms += growth->device.busy_ms;
	sum->device.queue_ms += growth->device.queue_ms;
	sum->own_reads += growth->own_reads;
	sum->own_writes += growth->own_writes;
	sum->own_seconds += growth->own_seconds;
}

/* The share of the requested bytes that a device moved.  -1 where unknown. */
double
tsa_share_from_device(const TsaWorkload *workload, const TsaGrowth *growth)
{
	double		asked = (double) (growth->own_reads + growth->own_writes) *
	workload->io_size;
	uint64_t	moved = 0;

	if (!growth->has_process || asked == 0)
		return -1;
	if (growth->own_reads > 0)
		moved += growth->process.read_bytes;
	if (growth->own_writes > 0)
		moved += growth->process.write_bytes;
	return (double) moved / asked;
}

/*
 * Bytes that the probe had the device read.  Of buffered reads the kernel
 * tells, since it reads ahead, by more than was asked for where read_ahead_kb
 * is large.
 */
static double
own_read_bytes(const TsaWorkload *workload, const TsaGrowth *growth)
{
	double		asked = (double) growth->own_reads * workload->io_size;

	if (workload->cached)
		return 0;
	return workload->buffered && growth->has_process ?
		fmax(asked, (double) growth->process.read_bytes) : asked;
}

/*
 * The share of the device's requests that others made, and how many were there
 * in all?  -1 where unknown.
 *
 * Requests are counted, which weighs small ones as they deserve; sequential
 * workloads count in units of their own size, because the kernel splits and
 * merges theirs.  While the probe itself writes, only reads count as foreign:
 * writes may be those of a journal on its behalf.
 */
double
tsa_share_of_others(const TsaWorkload *workload, const TsaGrowth *growth,
					double *requests)
{
	double		reads = (double) growth->device.reads;
	double		writes = (double) growth->device.writes;
	double		own_reads = (double) growth->own_reads;
	double		by_others;

	*requests = 0;
	if (!growth->has_device || workload->cached)
		return -1;
	if (workload->sequential)
	{
		reads = (double) growth->device.read_bytes / workload->io_size;
		writes = (double) growth->device.write_bytes / workload->io_size;
		own_reads = own_read_bytes(workload, growth) / workload->io_size;
	}
	if (reads + writes <= 0)
		return -1;
	by_others = fmax(reads - own_reads, 0);
	if (workload->write_percent == 0)
		by_others += writes;
	*requests = reads + writes;
	return by_others / (reads + writes);
}

/* The share of the time without a processor.  0 where unknown. */
double
tsa_share_delayed(const TsaGrowth *growth)
{
	return growth->has_delay && growth->seconds > 0 ?
		growth->delay / growth->seconds : 0;
}

/*
 * The load of others on the device and the processors meanwhile.
 *
 * The device's counters hold everybody's requests; the probe's own part is
 * taken off: requests of random workloads one by one, of sequential ones by
 * their bytes, as the kernel splits and merges them.  The growth of the time
 * spent by all requests, over the time that has gone by, is the mean number in
 * flight (Little's law).
 */
TsaConditions
tsa_conditions_of_others(const TsaWorkload *workload, const TsaGrowth *growth)
{
	const TsaDeviceIo *device = &growth->device;
	TsaConditions others = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	double		seconds = growth->seconds;
	bool		uses_device = !workload->cached;
	double		own_reads = uses_device ? (double) growth->own_reads : 0;
	double		own_writes = uses_device ? (double) growth->own_writes : 0;
	double		reads = (double) device->reads;
	double		writes = (double) device->writes;
	double		read_bytes = (double) device->read_bytes;
	double		write_bytes = (double) device->write_bytes;
	double		others_read;
	double		others_written;

	if (seconds <= 0)
		return others;
	if (growth->has_delay)
		others.waited_percent = 100 * tsa_share_delayed(growth);
	if (!growth->has_device)
		return others;
	others_read = fmax(read_bytes - own_read_bytes(workload, growth), 0);
	others_written = fmax(write_bytes - own_writes * workload->io_size, 0);
	others.read_mb_per_s = others_read / 1048576 / seconds;
	others.write_mb_per_s = others_written / 1048576 / seconds;
	others.reads_per_s = fmax(reads - own_reads, 0) / seconds;
	others.writes_per_s = fmax(writes - own_writes, 0) / seconds;
	if (workload->sequential)
	{
		others.reads_per_s =
			reads * others_read / fmax(read_bytes, 1) / seconds;
		others.writes_per_s =
			writes * others_written / fmax(write_bytes, 1) / seconds;
	}
	others.in_flight = fmax((double) device->queue_ms / 1000 -
							(uses_device ? growth->own_seconds : 0), 0) /
		seconds;
	/* nobody waits for read-ahead, so it is in flight beside these */
	if (workload->buffered)
		others.in_flight *= others_read / fmax(read_bytes, 1);
	others.busy_percent = fmin(100, (double) device->busy_ms / 10 / seconds);
	return others;
}
