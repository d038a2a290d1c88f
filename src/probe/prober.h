/*-------------------------------------------------------------------------
 *
 * prober.h
 *	  The state of a run of the probe while it measures.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PROBER_H
#define TSA_PROBER_H

#include "probe/evidence.h"
#include "probe/levels.h"
#include "probe/pairs.h"
#include "probe/probe_history.h"
#include "probe/probe_request.h"
#include "probe/target.h"

/* State of one run. */
typedef struct TsaProber
{
	const TsaProbeRequest *request;
	TsaProbeTarget target;
	TsaAioEngine *engine;
	uint64		clock_cost;
	uint64		step_ns;		/* measuring time of each row */
	bool		single;			/* one request at a time is all there is */
	bool		uncached;		/* no O_DIRECT: empty the page cache instead */

	/* the device's requests over all rows */
	double		requests;
	double		requests_by_others;
	uint64		began_ns;		/* measuring */

	/* the tablespace's own relations, beside a scratch file */
	TsaProbeTarget own;			/* no files: there are none */
	TsaPairs	pairs;			/* reads of theirs and of the scratch file */
} TsaProber;

/* One row while it is measured. */
typedef struct TsaProbeRow
{
	TsaProbeStep step;
	TsaMeasurePlan plan;
	TsaMeasuring measuring;
	TsaMeasurement m;
	TsaSyncEngine sync_engine;
	TsaIoFile	cached_files[TSA_MAX_PROBE_FILES];

	bool		of_own;			/* own relations beside a scratch file ... */
	bool		beside_own;		/* ... and their partners in pairs */
	bool		made_single;	/* a deeper queue was asked for */
	bool		started;
	bool		done;
	double		joined;			/* at which part of the others' time */

	TsaLevels	levels;			/* of turns */
	TsaFalls	falls;			/* of throughput */

	TsaGrowth	growth;			/* of the counters, over all turns */
	TsaSamples	quiet;			/* turns without others ... */
	TsaGrowth	quiet_growth;	/* ... and over these */
} TsaProbeRow;

/* turns.c */
extern void tsa_measure_rows(TsaProber *prober, TsaProbeRun *run);

/* row.c */
extern void tsa_row_keep_turn(TsaProber *prober, TsaProbeRow *row,
							  TsaGrowth *growth);
extern void tsa_row_finish(TsaProber *prober, TsaProbeRow *row,
						   TsaProbeResult *result);

#endif							/* TSA_PROBER_H */
