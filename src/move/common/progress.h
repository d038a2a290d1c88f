/*-------------------------------------------------------------------------
 *
 * progress.h
 *	  How far a move is, as the engine counts it and the journal shows it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PROGRESS_H
#define TSA_PROGRESS_H

#include "postgres.h"

#include <time.h>

/* Processes in the way that are shown. */
#define TSA_MAX_BLOCKERS 8

typedef struct TsaMoveProgress
{
	const char *phase;
	int64		bytes_total;
	int64		bytes_done;		/* as shown: it grows in step with what is
								 * left */
	int64		bytes_left;		/* to copy, or to compare in the same time */
	int64		bytes_gained;	/* that the copy has, since its worker began:
								 * one to be compared counts 3/4 */
	int64		bytes_compared; /* in all comparisons, broken off or not */
	int64		blocks_left;	/* negative: not known */
	double		mb_per_s;		/* negative: not known */
	double		present_mb_per_s;	/* likewise */
	const char *rate_reason;	/* why, or NULL */
	double		others_lost_percent;	/* negative: not known */
	bool		is_late;		/* it cannot end by finish_by */
	int			passes;
	int			restarts;		/* how often the copy began anew */
	int64		blocks_again;	/* that an interrupted copy had copied before */
	int			attempts;
	double		paused_ms;		/* time spent in pauses that have ended */
	double		pausing;		/* when one began, by tsa_common_clock(); 0:
								 * there is none */
	double		waited_ms;		/* time spent waiting for locks of others */
	double		lock_wait_ms;	/* longest wait for the exclusive lock */
	double		lock_ms;		/* it was held; 0: not known */
	int			nblockers;
	int			blockers[TSA_MAX_BLOCKERS];
} TsaMoveProgress;

/*
 * Milliseconds of a clock that is the same in all processes.  From 19 on that
 * of instr_time is the session's own: timing_clock_source.
 */
static inline double
tsa_common_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000.0 + now.tv_nsec / 1e6;
}

#endif							/* TSA_PROGRESS_H */
