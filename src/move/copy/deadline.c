/*-------------------------------------------------------------------------
 *
 * deadline.c
 *	  How fast a copy has to go to end by a given time.
 *
 * A tenth of the time that there was is left for the steps after the copy: its
 * sync, the changes that came meanwhile, attempts to lock.  It is a second at
 * least and a minute at most, or as long as moves waited for their locks
 * lately, but no more than half of the time.  The time is for all moves of a
 * call, which its copies under way do together; a copy of which more is left
 * than its part goes faster.
 *
 * Pure: no server headers, no clock, no memory.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "move/copy/deadline.h"

#include <math.h>

#define MARGIN			0.1		/* of the window */
#define MIN_MARGIN		1.0		/* seconds */
#define MAX_MARGIN		60.0
#define MAX_WAITS		0.5		/* of the window */

/* A speed that is measured again and again must not change the answer. */
#define MISSED			1.1		/* of the time that is left is needed */
#define MET				0.9

/* The first bytes of a copy say little about its speed. */
#define BEGINNING		0.02	/* of the window */
#define MAX_BEGINNING	10.0	/* seconds */

/*
 * Bytes that this copy has yet to do, or to see done in its place.
 */
static double
bytes_to_do(const TsaDeadline *deadline)
{
	return fmax(deadline->bytes,
				(deadline->bytes + deadline->others) / deadline->sharers);
}

/*
 * Seconds that are left for the steps after the copy.
 */
static double
margin_of(const TsaDeadline *deadline)
{
	double		margin = fmin(fmax(MARGIN * deadline->window, MIN_MARGIN),
							  MAX_MARGIN);

	return fmax(margin, fmin(deadline->waits, MAX_WAITS * deadline->window));
}

/*
 * Does the time begin that is left for the steps after the copy?
 */
bool
tsa_deadline_is_near(const TsaDeadline *deadline)
{
	return deadline->seconds <= margin_of(deadline);
}

/*
 * Bytes per second that are needed; infinite if the time is up.
 */
double
tsa_deadline_rate(const TsaDeadline *deadline)
{
	double		seconds = deadline->seconds - margin_of(deadline);

	return seconds > 0 ? bytes_to_do(deadline) / seconds : INFINITY;
}

/*
 * Is the time too short for a copy that makes so many bytes per second while it
 * works?  0: that is not known.
 */
bool
tsa_deadline_is_missed(const TsaDeadline *deadline, double speed,
					   bool was_missed)
{
	if (deadline->seconds <= 0)
		return true;
	if (speed <= 0 || deadline->window - deadline->seconds <
		fmin(BEGINNING * deadline->window, MAX_BEGINNING))
		return was_missed;
	return bytes_to_do(deadline) / speed >
		deadline->seconds * (was_missed ? MET : MISSED);
}
