/*-------------------------------------------------------------------------
 *
 * limits.h
 *	  When a move may work, how fast it may go, how fast it has to, and how long
 *	  it may keep others waiting.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LIMITS_H
#define TSA_LIMITS_H

#include "postgres.h"

#include "utils/timestamp.h"

#include "journal/daily_window.h"

typedef enum TsaRateMode
{
	TSA_RATE_ADAPTS,			/* by the needs of others */
	TSA_RATE_UNLIMITED			/* full speed, even if others need more */
} TsaRateMode;

typedef struct TsaLimits
{
	TsaRateMode mode;
	int64		max_rate;		/* bytes per second, 0: no bound; none if
								 * unlimited */
	int64		min_rate;		/* likewise */
	TimestampTz finish_by;		/* DT_NOEND: whenever */
	int			lock_timeout_ms;	/* of a job that is queued; else 0 */
	TsaDailyWindow during;		/* it works then only */
} TsaLimits;

/* No limits. */
#define TSA_NO_LIMITS ((TsaLimits) {.finish_by = DT_NOEND})

/* Is max_rate below min_rate? */
static inline bool
tsa_limits_conflict(const TsaLimits *limits)
{
	return limits->max_rate > 0 && limits->min_rate > limits->max_rate;
}

#endif							/* TSA_LIMITS_H */
