/*-------------------------------------------------------------------------
 *
 * knapsack.h
 *	  Which relations to move when not all of them fit.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_KNAPSACK_H
#define TSA_KNAPSACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One thing to take or to leave. */
typedef struct TsaKnapsackItem
{
	uint64_t	size;
	double		value;
	bool		chosen;			/* result */
} TsaKnapsackItem;

typedef enum TsaKnapsackStatus
{
	TSA_KNAPSACK_EXACT,			/* no other choice is worth more */
	TSA_KNAPSACK_BOUNDED,		/* the best is worth at most "bound" */
	TSA_KNAPSACK_NO_MEMORY		/* nothing was chosen */
} TsaKnapsackStatus;

typedef struct TsaKnapsackChoice
{
	uint64_t	size;			/* of what was chosen */
	double		value;			/* of what was chosen */
	double		bound;			/* no choice is worth more than this */
} TsaKnapsackChoice;

extern TsaKnapsackStatus tsa_solve_knapsack(TsaKnapsackItem *items, size_t n,
											uint64_t capacity,
											size_t max_states,
											TsaKnapsackChoice *choice);

#endif							/* TSA_KNAPSACK_H */
