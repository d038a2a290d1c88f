/*-------------------------------------------------------------------------
 *
 * turn.c
 *	  How much a copy reads at a time from a device that serves one at a time.
 *
 * A turn is to take a tenth more than a request of the others does without the
 * copy: then nobody waits for much more than twice as long.
 *
 * How long does it take?  If others keep the device busy, they say it: the
 * time of a turn is their loss, so the seconds that they have lost, by the
 * number of turns.  That holds for devices with and without a buffer, one arm
 * or two, where the head has far to go back, and where a turn arrives in
 * pieces between which others are served.  The time of the turn's own reads
 * does not: they wait for the others' requests, once or several times, and for
 * a processor.
 *
 * If others leave the device idle at times they lose less than a turn takes.
 * Then reads wait little, and their own time counts.
 *
 * Pure: no server headers, no clock, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "move/copy/turn.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define FIRST_TURN		(1024.0 * 1024)
#define LEAST_TURN		(512.0 * 1024)
#define MOST_TURN		(2048.0 * 1024)

#define EVIDENCE		4.0		/* turns */
#define BUSY			1.0		/* requests that wait, or are served */
#define REQUESTS		1.1		/* of others, in the time of a turn */
#define STEP			1.5		/* more or less than the turns lately */

#define READING			1.5		/* requests of others, in a turn's reading */
#define READING_STEP	1.1		/* more or less than the last turn */

/*
 * As many bytes as whole batches have.
 */
double
tsa_whole_batches(double bytes)
{
	return floor(bytes / TSA_TURN_BATCH) * TSA_TURN_BATCH;
}

/* Turns of the first length, nothing known of others. */
void
tsa_turns_init(TsaTurns *turns)
{
	memset(turns, 0, sizeof(*turns));
	turns->bytes = FIRST_TURN;
}

/*
 * Fades the figures by so much time.
 */
void
tsa_turns_fade(TsaTurns *turns, double factor)
{
	turns->n *= factor;
	turns->copied *= factor;
}

/* The value, but no more than "step" and no less than one by that. */
static double
within(double value, double step)
{
	return fmax(fmin(value, step), 1 / step);
}

/*
 * After a turn of so many bytes, of which so many seconds were spent in
 * reading: fits the next one.
 */
void
tsa_turns_fit(TsaTurns *turns, const TsaTurnsOthers *others, double bytes,
			  double reading)
{
	bool		whole = bytes >= tsa_whole_batches(turns->bytes);

	turns->n++;
	turns->copied += bytes;
	if (others->waiting >= BUSY)
	{
		if (turns->n < EVIDENCE || others->lost < 0)
			return;
		turns->bytes = turns->copied / turns->n *
			within(REQUESTS * others->request * turns->n /
				   fmax(others->lost, 1e-9),
				   STEP);
	}
	else if (whole && reading > 0)
		turns->bytes *= within(READING * others->request / reading,
							   READING_STEP);
	turns->bytes = fmax(fmin(turns->bytes, MOST_TURN), LEAST_TURN);
}
