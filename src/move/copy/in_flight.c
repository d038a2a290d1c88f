/*-------------------------------------------------------------------------
 *
 * in_flight.c
 *	  Which of the bytes that a device has read are others'.
 *
 * Pure: no server headers, no clock, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "move/copy/in_flight.h"

#include <math.h>

#define SETTLED			1.0		/* seconds in which a read has ended */

/*
 * Of the bytes that a device has read those that are others'.  "own" are ours
 * in the same time, counted when they are asked for; a device counts them when
 * they are there.  So reads under way are taken off later.  Each of the other
 * copies is taken to have read as much, which need not be so: nothing is
 * assumed of their reads under way.
 *
 * Our reads elsewhere must not hide others: more than "most" is never under
 * way, nor are bytes that have been so all the time for a second.
 */
double
tsa_bytes_of_others(TsaInFlight *in_flight, double most, double own,
					int copies, double device, double seconds)
{
	double		others = device - own * copies - in_flight->bytes;

	in_flight->bytes = fmin(fmax(in_flight->bytes + own - device, 0), most);
	in_flight->least = fmin(in_flight->least, in_flight->bytes);
	in_flight->seconds += seconds;
	if (in_flight->seconds >= SETTLED)
	{
		in_flight->bytes -= in_flight->least;
		in_flight->least = in_flight->bytes;
		in_flight->seconds = 0;
	}
	return fmax(others, 0);
}
