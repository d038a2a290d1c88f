/*-------------------------------------------------------------------------
 *
 * evidence.h
 *	  The kernel's counters during a measurement.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_EVIDENCE_H
#define TSA_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/counters.h"
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

/* By how much the counters have grown over one turn or several. */
typedef struct TsaGrowth
{
	bool		has_process;	/* in all of them */
	bool		has_device;
	bool		has_delay;
	int			turns;
	double		seconds;
	double		delay;			/* seconds without a processor */
	TsaProcessIo process;
	TsaDeviceIo device;
	uint64_t	own_reads;		/* the probe's own */
	uint64_t	own_writes;
	double		own_seconds;	/* time that its requests took, added up */
} TsaGrowth;

extern void tsa_counters_read(const char *stat_path, TsaCounters *counters);
extern void tsa_growth_add(TsaGrowth *sum, const TsaGrowth *growth);
extern void tsa_growth_between(TsaGrowth *growth, const TsaCounters *before,
							   const TsaCounters *after);
extern double tsa_share_from_device(const TsaWorkload *workload,
									const TsaGrowth *growth);
extern double tsa_share_of_others(const TsaWorkload *workload,
								  const TsaGrowth *growth, double *requests);
extern TsaConditions tsa_conditions_of_others(const TsaWorkload *workload,
											  const TsaGrowth *growth);
extern double tsa_share_delayed(const TsaGrowth *growth);

#endif							/* TSA_EVIDENCE_H */
