/*-------------------------------------------------------------------------
 *
 * probe_history.h
 *	  Keeping probes in the extension's tables.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PROBE_HISTORY_H
#define TSA_PROBE_HISTORY_H

#include "datatype/timestamp.h"

#include "probe/latency.h"
#include "probe/trust.h"

/* One row of probe_tablespace(); NaN stands for NULL. */
typedef struct TsaProbeResult
{
	const char *workload;
	int			queue_depth;
	int			io_size;
	int64		samples;
	double		iops;
	double		mb_per_s;
	double		mean_us;
	double		stddev_us;
	double		min_us;
	double		p50_us;
	double		p90_us;
	double		p95_us;
	double		p99_us;
	double		max_us;
	double		mean_low_us;
	double		mean_high_us;
	const char *caveat;			/* or NULL */
	const char *conditions;		/* or NULL */
	TsaConditions others;
	int			turns;
	double		quiet_percent;	/* of the turns; or NaN */
	double		burst_iops;		/* before throughput fell; or NaN */
	double		burst_seconds;
	TsaLatency *latency;
} TsaProbeResult;

typedef struct TsaProbeRun
{
	const char *tablespace;
	const char *location;
	const char *device;			/* or NULL */
	const char *mode;
	int64		file_size_bytes;
	Interval   *duration;
	TimestampTz started_at;
	TimestampTz finished_at;
	double		foreign_io_percent; /* or NaN */
	int			nresults;
	TsaProbeResult *results;
} TsaProbeRun;

#define TSA_RESULT_COLUMNS 19

extern void tsa_result_form(const char *tablespace,
							const TsaProbeResult *result,
							Datum *values, bool *nulls);

/*
 * A later stage's work on a run that was kept, by its number; NULL: nothing.
 * Its errors are logged, and the run stays.
 */
extern void (*tsa_after_probe) (int64 run_id);

extern void tsa_history_keep(const TsaProbeRun *run);

#endif							/* TSA_PROBE_HISTORY_H */
