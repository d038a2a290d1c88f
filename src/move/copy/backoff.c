/*-------------------------------------------------------------------------
 *
 * backoff.c
 *	  How long to wait between attempts to cut over.
 *
 * Each wait is twice as long as the one before, up to half a minute, but no
 * longer than an attempt is worth: while it asks for its lock, others queue
 * behind it, and that is to be a fiftieth of the time at most.  An attempt that
 * found nobody in its way for long is repeated after a second.
 *
 * A session that is in the way may have a reason, so a move is patient for as
 * long as the longest waits take.
 *
 * Pure: no server headers, no clock, no memory.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "move/copy/backoff.h"

#include <math.h>

#define FIRST_MS		100.0
#define MAX_DOUBLINGS	10
#define MAX_MS			30000.0
#define CHEAP_MS		1000.0	/* until a cheap attempt is repeated */
#define PER_COST		50.0	/* times as long as an attempt held others up */

#define MAX_ATTEMPTS	200
#define PATIENCE_MS		(90.0 * 60 * 1000)

/*
 * Milliseconds to wait after so many attempts, of which the last may have held
 * others up for so long; negative: no attempt was made.
 */
double
tsa_backoff_ms(int tries, double cost_ms)
{
	double		ms = FIRST_MS * pow(2, fmin(tries - 1, MAX_DOUBLINGS));

	if (tries < 1)
		return 0;
	if (cost_ms >= 0)
		ms = fmin(ms, fmax(CHEAP_MS, PER_COST * cost_ms));
	return fmin(ms, MAX_MS);
}

/*
 * Is it enough, after so many attempts in so much time?
 */
bool
tsa_backoff_gives_up(int attempts, double ms)
{
	return attempts >= MAX_ATTEMPTS && ms >= PATIENCE_MS;
}
