/*-------------------------------------------------------------------------
 *
 * evidence.c
 *	  What the kernel's counters say about a measurement.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

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
