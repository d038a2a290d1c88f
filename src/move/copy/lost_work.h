/*-------------------------------------------------------------------------
 *
 * lost_work.h
 *	  The work of others during a copy, and what they would have done without.
 *
 * The loss of a single window can be anything from nothing to all.  So it
 * takes several of them to know it; and a window in which others have left,
 * which would look like a loss of all, does not count.
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

#define TSA_LOST_SECONDS 2.0	/* of account, at least: eight windows */

typedef struct TsaWork
{
	double		seconds;
	double		could_do;		/* by their rate while the copy sleeps */
	double		have_done;
} TsaWork;

typedef struct TsaLostWork
{
	TsaWork		sum;			/* of windows in which others were there */
	TsaWork		window;			/* the present one, so far */
	bool		seen;			/* others were there, if for a moment */
} TsaLostWork;

/*
 * Adds so many seconds in which others did so much to the window; "usual" is
 * how much they do in a second while the copy sleeps.
 */
static inline void
tsa_lost_add(TsaLostWork *work, double seconds, double usual, double done)
{
	work->window.seconds += seconds;
	work->window.could_do += usual * seconds;
	work->window.have_done += done;
	work->seen = true;
}

/*
 * Ends the window, in which others were there or not.
 */
static inline void
tsa_lost_end_window(TsaLostWork *work, bool there)
{
	if (there)
	{
		work->sum.seconds += work->window.seconds;
		work->sum.could_do += work->window.could_do;
		work->sum.have_done += work->window.have_done;
	}
	work->window.seconds = work->window.could_do = work->window.have_done = 0;
}

/*
 * The part that others have lost, at least 0: the largest of so many kinds of
 * others.  Negative if the account of those that were there is too short.
 */
static inline double
tsa_lost_most(const TsaLostWork *works, int n)
{
	double		lost = -1;
	bool		anybody = false;

	for (int i = 0; i < n; i++)
	{
		const TsaWork *work = &works[i].sum;

		anybody |= works[i].seen;
		if (work->could_do > 0 && work->seconds >= TSA_LOST_SECONDS)
		{
			double		part = 1 - work->have_done / work->could_do;

			lost = part > lost ? part : lost;
			lost = lost > 0 ? lost : 0;
		}
	}
	return anybody ? lost : 0;
}

#endif							/* TSA_LOST_WORK_H */
