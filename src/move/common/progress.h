/*-------------------------------------------------------------------------
 *
 * progress.h
 *	  How far a move is, as the engine counts it and the journal shows it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PROGRESS_H
#define TSA_PROGRESS_H

#include "postgres.h"

/* A rate that is neither bounded nor has regard for others. */
#define TSA_RATE_UNLIMITED (-1)

typedef struct TsaMoveProgress
{
	const char *phase;
	int64		bytes_total;
	int64		bytes_done;
	int64		blocks_left;	/* negative: not known */
	double		mb_per_s;		/* negative: not known */
	double		present_mb_per_s;	/* likewise */
	const char *rate_reason;	/* why, or NULL */
	int			passes;
	int			restarts;		/* how often the copy began anew */
	int			attempts;
	double		paused_ms;		/* time spent in pauses */
	double		lock_wait_ms;	/* longest wait for the exclusive lock */
	double		lock_ms;		/* it was held; 0: not known */
	int			nblockers;
	int			blockers[8];
} TsaMoveProgress;

#endif							/* TSA_PROGRESS_H */
