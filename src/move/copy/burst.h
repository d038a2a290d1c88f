/*-------------------------------------------------------------------------
 *
 * burst.h
 *	  Full speed beside transactions, for a few seconds.
 *
 * Pure: no server headers, no clock, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BURST_H
#define TSA_BURST_H

#include <stdbool.h>

typedef struct TsaBurst
{
	double		spent;			/* seconds */
	bool		over;			/* others lost too much */
} TsaBurst;

extern bool tsa_burst_goes_on(TsaBurst *burst, bool is_full, double seconds,
							  double usual, double done);

#endif							/* TSA_BURST_H */
