/*-------------------------------------------------------------------------
 *
 * evidence.c
 *	  What the kernel's counters say about a measurement.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "compat.h"
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

/* What share of the bytes asked for did a device move?  -1 where unknown. */
double
tsa_share_from_device(const TsaWorkload *workload, const TsaMeasurement *m,
					  const TsaCounters *before, const TsaCounters *after)
{
	double		asked = (double) (m->reads + m->writes) * workload->io_size;
	uint64		moved = 0;

	if (!before->have_process || !after->have_process || asked == 0)
		return -1;
	if (m->reads > 0)
		moved += after->process.read_bytes - before->process.read_bytes;
	if (m->writes > 0)
		moved += after->process.write_bytes - before->process.write_bytes;
	return (double) moved / asked;
}

/*
 * What share of the device's requests did others make?  -1 where unknown.
 *
 * Requests are counted, which weighs small ones as they deserve; sequential
 * workloads count in units of their own size, because the kernel splits and
 * merges theirs.  While the probe itself writes, only reads count as foreign:
 * writes may be those of a journal on its behalf.
 */
double
tsa_share_of_others(const TsaWorkload *workload, const TsaMeasurement *m,
					const TsaCounters *before, const TsaCounters *after,
					TsaForeignIo *sum)
{
	const TsaDeviceIo *from = &before->device;
	const TsaDeviceIo *to = &after->device;
	double		reads = (double) (to->reads - from->reads);
	double		writes = (double) (to->writes - from->writes);
	double		by_others;

	if (!before->have_device || !after->have_device || workload->cached)
		return -1;
	if (workload->sequential)
	{
		reads = (double) (to->read_bytes - from->read_bytes) /
			workload->io_size;
		writes = (double) (to->write_bytes - from->write_bytes) /
			workload->io_size;
	}
	if (reads + writes <= 0)
		return -1;
	by_others = Max(reads - (double) m->reads, 0);
	if (workload->write_percent == 0)
		by_others += writes;

	sum->total += reads + writes;
	sum->by_others += by_others;
	return by_others / (reads + writes);
}

/* What share of the time was the processor not to be had?  0 where unknown. */
double
tsa_share_delayed(const TsaCounters *before, const TsaCounters *after)
{
	if (!before->have_delay || !after->have_delay ||
		after->time_ns == before->time_ns)
		return 0;
	return (double) (after->delay_ns - before->delay_ns) /
		(double) (after->time_ns - before->time_ns);
}

/*
 * How many of the device's requests were others'? Those of sequential
 * workloads by the bytes, as the kernel splits and merges them.
 */
static double
requests_of_others(const TsaWorkload *workload, double requests, double own,
				   double bytes, double others_bytes)
{
	if (!workload->sequential)
		return Max(requests - own, 0);
	return bytes > 0 ? requests * others_bytes / bytes : 0;
}

/*
 * What others did on the device and to the processors meanwhile.
 *
 * The device's counters hold what everybody did; what the probe did itself is
 * taken off.  The growth of the time spent by all requests, over the time
 * that has gone by, is the mean number in flight (Little's law).
 */
TsaConditions
tsa_conditions_of_others(const TsaWorkload *workload, const TsaMeasurement *m,
						 const TsaCounters *before, const TsaCounters *after)
{
	const TsaDeviceIo *from = &before->device;
	const TsaDeviceIo *to = &after->device;
	TsaConditions others = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	double		seconds = (double) (after->time_ns - before->time_ns) / 1e9;
	double		own_reads = workload->cached ? 0 : (double) m->reads;
	double		own_writes = workload->cached ? 0 : (double) m->writes;
	double		reads = (double) (to->reads - from->reads);
	double		writes = (double) (to->writes - from->writes);
	double		read_bytes = (double) (to->read_bytes - from->read_bytes);
	double		write_bytes = (double) (to->write_bytes - from->write_bytes);
	double		others_read;
	double		others_written;

	if (seconds <= 0)
		return others;
	if (before->have_delay && after->have_delay)
		others.waited_percent = 100 * tsa_share_delayed(before, after);
	if (!before->have_device || !after->have_device)
		return others;
	others_read = Max(read_bytes - own_reads * workload->io_size, 0);
	others_written = Max(write_bytes - own_writes * workload->io_size, 0);
	others.read_mb_per_s = others_read / 1048576 / seconds;
	others.write_mb_per_s = others_written / 1048576 / seconds;
	others.reads_per_s = requests_of_others(workload, reads, own_reads,
											read_bytes, others_read) / seconds;
	others.writes_per_s = requests_of_others(workload, writes, own_writes,
											 write_bytes,
											 others_written) / seconds;
	others.in_flight = Max((double) (to->queue_ms - from->queue_ms) / 1000 -
						   (own_reads + own_writes) * m->latency.mean_ns / 1e9,
						   0) / seconds;
	others.busy_percent = Min(100, (double) (to->busy_ms - from->busy_ms) / 10 /
							  seconds);
	return others;
}
