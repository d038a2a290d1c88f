/*-------------------------------------------------------------------------
 *
 * lost_work.h
 *	  The work of others during a copy, and what they would have done without.
 *
 * Without the copy they would work as in the sleeps before and after a
 * stretch of work of the copy, taken together: a load that grows, fades or
 * stops by itself, a checkpoint, and other neighbours of the device change
 * both sides, and a burst of reads counts as often for the copy as against it.
 * Half the difference of the two sides is the doubt of each stretch.  Doubts
 * are independent, so their squares add up, and a long copy has little of it.
 * The loss is not known if the doubt is too large, if too little has been
 * measured, or if most of the work had no sleep after it.
 *
 * Pure: no server headers, no clock, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LOST_WORK_H
#define TSA_LOST_WORK_H

#include <stdbool.h>

#define TSA_LOST_SECONDS 2.0	/* of account, at least */
#define TSA_LOST_SLEEP	0.1		/* seconds of sleep that are a side */
#define TSA_LOST_DOUBT	0.1		/* of the possible work, at most */

typedef struct TsaWork
{
	double		seconds;
	double		done;			/* by others */
} TsaWork;

typedef struct TsaLostWork
{
	TsaWork		before;			/* the sleeps before the stretch */
	TsaWork		working;		/* the stretch */
	TsaWork		asleep;			/* the sleeps after it, so far */

	/* of stretches with sleeps on both sides, and the sleeps after them */
	double		seconds;
	double		could_do;
	double		have_done;
	double		doubt;			/* of could_do, squared */
	bool		seen;			/* others were there, if for a moment */
} TsaLostWork;

/*
 * Forgets the stretch under way: others have left.
 */
static inline void
tsa_lost_leave(TsaLostWork *work)
{
	const TsaWork none = {0, 0};

	work->before = work->working = work->asleep = none;
}

/*
 * Adds so many seconds of work of the copy, or of sleep, in which others did so
 * much.
 */
static inline void
tsa_lost_add(TsaLostWork *work, bool working, double seconds, double done)
{
	TsaWork    *part = working ? &work->working : &work->asleep;
	const TsaWork before = work->before;
	const TsaWork none = {0, 0};

	part->seconds += seconds;
	part->done += done;
	if (work->asleep.seconds < TSA_LOST_SLEEP)
		return;
	if (before.seconds > 0)
	{
		double		usual = (before.done + work->asleep.done) /
		(before.seconds + work->asleep.seconds);
		double		doubt = work->working.seconds / 2 *
		(work->asleep.done / work->asleep.seconds -
		 before.done / before.seconds);

		work->seconds += work->working.seconds + work->asleep.seconds;
		work->could_do += usual * work->working.seconds + work->asleep.done;
		work->have_done += work->working.done + work->asleep.done;
		work->doubt += doubt * doubt;
	}
	work->before = work->asleep;
	work->working = work->asleep = none;
}

/*
 * Is the loss known?
 */
static inline bool
tsa_lost_is_known(const TsaLostWork *work)
{
	double		most = TSA_LOST_DOUBT * work->could_do;

	return work->could_do > 0 && work->seconds >= TSA_LOST_SECONDS &&
		work->doubt <= most * most && work->working.seconds <= work->seconds;
}

/*
 * The part that others have lost, at least 0: the largest of so many kinds of
 * others.  Negative if it is not known of any of those that were there.
 */
static inline double
tsa_lost_most(const TsaLostWork *works, int n)
{
	double		lost = -1;
	bool		anybody = false;

	for (int i = 0; i < n; i++)
	{
		anybody |= works[i].seen;
		if (tsa_lost_is_known(&works[i]))
		{
			double		part = 1 - works[i].have_done / works[i].could_do;

			lost = part > lost ? part : lost;
			lost = lost > 0 ? lost : 0;
		}
	}
	return anybody ? lost : 0;
}

#endif							/* TSA_LOST_WORK_H */
