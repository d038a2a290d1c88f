/*-------------------------------------------------------------------------
 *
 * closed_system.h
 *	  Sessions that read from several devices, as a closed system.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_CLOSED_SYSTEM_H
#define TSA_CLOSED_SYSTEM_H

#include "advise/curve.h"

/* A device, and the reads from it, now and after a change. */
typedef struct TsaStation
{
	TsaCurve	curve;
	double		reads;			/* per second, now */
	double		us;				/* the time of one now; unused without reads */
	double		later_reads;	/* for the work that is done in a second now */
	double		others_in_flight;	/* requests of others there, on average */
	double		later_us;		/* out: the time of one then */
} TsaStation;

extern double tsa_closed_system_saves(TsaStation *stations, int n,
									  double sessions);

#endif							/* TSA_CLOSED_SYSTEM_H */
