/*-------------------------------------------------------------------------
 *
 * block_time.h
 *	  The recent time of a block of each relation, and time divided by it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BLOCK_TIME_H
#define TSA_BLOCK_TIME_H

#include <stdint.h>

/* The reads of one relation in an interval. */
typedef struct TsaTimePart
{
	uint32_t	relid;
	uint32_t	access;
	uint64_t	reads;			/* not 0 */
	uint64_t	ns;				/* its part of the interval's time */
	double		block_ns;		/* used while that is worked out */
} TsaTimePart;

extern void tsa_divide_time(TsaTimePart *parts, int n, uint64_t ns);
extern void tsa_learn_time(uint32_t relid, uint32_t access, uint64_t ns);

#endif							/* TSA_BLOCK_TIME_H */
