/*-------------------------------------------------------------------------
 *
 * warmup.h
 *	  When has a device warmed up?
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WARMUP_H
#define TSA_WARMUP_H

#include <stdint.h>

#define TSA_WARMUP_WINDOWS	4

/* the latencies of a stretch of time */
typedef struct TsaWindow
{
	uint64_t	count;
	double		sum;
	double		square;
} TsaWindow;

typedef struct TsaWarmup
{
	TsaWindow	windows[TSA_WARMUP_WINDOWS];	/* the latest finished ones */
	uint64_t	finished;		/* how many there have been */
	TsaWindow	open;			/* the one being filled */
} TsaWarmup;

extern int	tsa_warmup_add(TsaWarmup *warmup, double latency, int time_is_up,
						   uint64_t max_samples);
extern int	tsa_warmup_is_flat(const TsaWarmup *warmup);

#endif							/* TSA_WARMUP_H */
