/*-------------------------------------------------------------------------
 *
 * levels.h
 *	  Does throughput fall to another level while a device is measured?
 *
 * Pure: no server headers, no allocation.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LEVELS_H
#define TSA_LEVELS_H

#include <stdint.h>

#define TSA_MAX_LEVELS 64

/* Throughput over a stretch of time. */
typedef struct TsaStretch
{
	double		begun;			/* seconds */
	double		requests;
	double		seconds;		/* measured in it, with a processor */
	double		others;			/* what others asked for meanwhile */
} TsaStretch;

typedef struct TsaLevels
{
	int			n;
	int			turns;			/* in each stretch */
	int			open;			/* in the last one, if less */
	TsaStretch	stretches[TSA_MAX_LEVELS];
} TsaLevels;

typedef struct TsaFall
{
	double		before;			/* requests per second */
	double		after;
	double		at;				/* seconds */
} TsaFall;

extern void tsa_levels_add(TsaLevels *levels, double begun, double requests,
						   double seconds, double others);
extern int	tsa_levels_fall(const TsaLevels *levels, TsaFall *fall);

#endif							/* TSA_LEVELS_H */
