/*-------------------------------------------------------------------------
 *
 * deadline.h
 *	  How fast a copy has to go to end by a given time.
 *
 * Pure: no server headers, no clock, no memory.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_DEADLINE_H
#define TSA_DEADLINE_H

#include <stdbool.h>

/* The bytes left to copy, and the time for them. */
typedef struct TsaDeadline
{
	double		window;			/* seconds that there were in the beginning */
	double		seconds;		/* that are left */
	double		bytes;			/* left of this copy */
	double		others;			/* bytes left of the other moves of the call */
	int			sharers;		/* copies of the call under way, this one
								 * included */
	double		waits;			/* seconds that moves waited for locks lately */
} TsaDeadline;

extern bool tsa_deadline_is_near(const TsaDeadline *deadline);
extern double tsa_deadline_rate(const TsaDeadline *deadline);
extern bool tsa_deadline_is_missed(const TsaDeadline *deadline, double speed,
								   bool was_missed);

#endif							/* TSA_DEADLINE_H */
