/*-------------------------------------------------------------------------
 *
 * probe_request.h
 *	  The request for a run of the probe.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PROBE_REQUEST_H
#define TSA_PROBE_REQUEST_H

#include "datatype/timestamp.h"

#include "probe/workload.h"

/* a depth that is found while probing */
#define TSA_CANDIDATE_DEPTH (-1)

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

extern int	tsa_probe_max_iops;

#endif							/* TSA_PROBE_REQUEST_H */
