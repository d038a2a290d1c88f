/*-------------------------------------------------------------------------
 *
 * turn.h
 *	  How much a copy reads at a time from a device that serves one at a time.
 *
 * Pure: no server headers, no clock, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_TURN_H
#define TSA_TURN_H

/* Batches that a turn has: reads beyond them would be another seek. */
#define TSA_TURN_BATCH	(128.0 * 1024)

typedef struct TsaTurns
{
	double		bytes;			/* of the next one */
	/* lately: */
	double		n;
	double		copied;			/* bytes, in them */
} TsaTurns;

/* Others' recent bytes and requests at the device. */
typedef struct TsaTurnsOthers
{
	double		request;		/* seconds one takes while the copy sleeps */
	double		waiting;		/* requests in the mean, then */
	double		lost;			/* seconds in which they got nothing;
								 * negative: not known */
} TsaTurnsOthers;

extern void tsa_turns_init(TsaTurns *turns);
extern void tsa_turns_fade(TsaTurns *turns, double factor);
extern void tsa_turns_fit(TsaTurns *turns, const TsaTurnsOthers *others,
						  double bytes, double reading);
extern double tsa_whole_batches(double bytes);

#endif							/* TSA_TURN_H */
