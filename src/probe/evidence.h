/*-------------------------------------------------------------------------
 *
 * evidence.h
 *	  What the kernel's counters say about a measurement.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_EVIDENCE_H
#define TSA_EVIDENCE_H

#include "probe/counters.h"
#include "probe/measure.h"
#include "probe/trust.h"
#include "probe/workload.h"

/* The device's and the process's counters at one moment. */
typedef struct TsaCounters
{
	bool		have_process;
	bool		have_device;
	bool		have_delay;
	TsaProcessIo process;
	TsaDeviceIo device;
	uint64_t	delay_ns;		/* waited for a processor */
	uint64_t	time_ns;
} TsaCounters;

/* The device's requests over several measurements. */
typedef struct TsaForeignIo
{
	double		total;
	double		by_others;
} TsaForeignIo;

extern void tsa_counters_read(const char *stat_path, TsaCounters *counters);
extern double tsa_share_from_device(const TsaWorkload *workload,
									const TsaMeasurement *m,
									const TsaCounters *before,
									const TsaCounters *after);
extern double tsa_share_of_others(const TsaWorkload *workload,
								  const TsaMeasurement *m,
								  const TsaCounters *before,
								  const TsaCounters *after,
								  TsaForeignIo *sum);
extern TsaConditions tsa_conditions_of_others(const TsaWorkload *workload,
											  const TsaMeasurement *m,
											  const TsaCounters *before,
											  const TsaCounters *after);
extern double tsa_share_delayed(const TsaCounters *before,
								const TsaCounters *after);

#endif							/* TSA_EVIDENCE_H */
