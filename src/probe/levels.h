/*-------------------------------------------------------------------------
 *
 * levels.h
 *	  Does throughput fall to another level while a device is measured?
 *
 * Pure: no server headers, no allocation.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LEVELS_H
#define TSA_LEVELS_H

#include <stdint.h>

#define TSA_MAX_LEVELS 64
#define TSA_MAX_FALLS 4

/* Throughput over a stretch of time. */
typedef struct TsaStretch
{
	double		begun;			/* seconds */
	double		requests;
	double		seconds;		/* measured in it ... */
	double		worked;			/* ... with a processor */
	double		others;			/* others' requests meanwhile */
} TsaStretch;

typedef struct TsaLevels
{
	int			n;
	double		width;			/* seconds of a complete stretch, at least */
	TsaStretch	stretches[TSA_MAX_LEVELS];
} TsaLevels;

/* A fall to another level. */
typedef struct TsaFall
{
	double		before;			/* requests per second */
	double		after;
	double		at;				/* seconds */
} TsaFall;

/* One fall after another, from each of which on there were enough stretches. */
typedef struct TsaFalls
{
	int			n;
	TsaFall		falls[TSA_MAX_FALLS];
} TsaFalls;

extern double tsa_time_worked(double turn, double around, double waited);
extern void tsa_levels_add(TsaLevels *levels, const TsaStretch *turn);
extern int	tsa_levels_fall(TsaLevels *levels, TsaFalls *falls);
extern int	tsa_levels_fall_at_end(const TsaLevels *levels, TsaFall *fall);

#endif							/* TSA_LEVELS_H */
