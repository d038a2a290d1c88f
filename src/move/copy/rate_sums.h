/*-------------------------------------------------------------------------
 *
 * rate_sums.h
 *	  Sums in which older values count less and less.
 *
 * Pure: no server headers, no clock, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RATE_SUMS_H
#define TSA_RATE_SUMS_H

typedef struct TsaRateSums
{
	double		seconds;
	double		done;
	double		requests;
	double		request_seconds;
} TsaRateSums;

static inline void
tsa_sums_add(TsaRateSums *sums, const TsaRateSums *more)
{
	sums->seconds += more->seconds;
	sums->done += more->done;
	sums->requests += more->requests;
	sums->request_seconds += more->request_seconds;
}

static inline void
tsa_sums_fade(TsaRateSums *sums, double factor)
{
	sums->seconds *= factor;
	sums->done *= factor;
	sums->requests *= factor;
	sums->request_seconds *= factor;
}

#endif							/* TSA_RATE_SUMS_H */
