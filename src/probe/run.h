/*-------------------------------------------------------------------------
 *
 * run.h
 *	  One run of the probe: all its workloads against one tablespace.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RUN_H
#define TSA_RUN_H

#include "probe/history.h"

#define TSA_WORKLOADS 7

/* What a workload does; see the table in run.c. */
typedef struct TsaWorkload
{
	const char *name;
	bool		sequential;
	int			write_percent;
	bool		use_fdatasync;
	bool		cached;			/* through the page cache */
	int			queue_depth;	/* 0: the depths asked for, one after another */
	int			io_size;
	bool		by_default;
} TsaWorkload;

/* One row to be measured. */
typedef struct TsaProbeStep
{
	const TsaWorkload *workload;
	int			queue_depth;
} TsaProbeStep;

typedef struct TsaProbeRequest
{
	Oid			tablespace;
	char	   *tablespace_name;
	Interval   *duration;
	uint64		duration_us;
	uint64		file_bytes;
	bool		existing;
	int			nsteps;
	TsaProbeStep *steps;
} TsaProbeRequest;

extern const TsaWorkload tsa_workloads[TSA_WORKLOADS];
extern int	tsa_probe_max_iops;

extern void tsa_probe_run(const TsaProbeRequest *request, TsaProbeRun *run);

#endif							/* TSA_RUN_H */
