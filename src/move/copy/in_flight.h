/*-------------------------------------------------------------------------
 *
 * in_flight.h
 *	  Which of the bytes that a device has read are others'.
 *
 * Pure: no server headers, no clock, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_IN_FLIGHT_H
#define TSA_IN_FLIGHT_H

/* Own reads that a device has not counted yet, as far as is known. */
typedef struct TsaInFlight
{
	double		bytes;
	double		least;			/* of it in ... */
	double		seconds;		/* ... so many seconds */
} TsaInFlight;

extern double tsa_bytes_of_others(TsaInFlight *in_flight, double most,
								  double own, int copies,
								  double device, double seconds);

#endif							/* TSA_IN_FLIGHT_H */
