/*-------------------------------------------------------------------------
 *
 * random.h
 *	  Random numbers, incompressible data, and random orders.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RANDOM_H
#define TSA_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* A bijection of 0 .. count - 1 that looks random. */
typedef struct TsaPermutation
{
	uint64_t	count;
	int			half_bits;
	uint64_t	key[4];
} TsaPermutation;

extern void tsa_init_permutation(TsaPermutation *perm, uint64_t count,
								 uint64_t seed);
extern uint64_t tsa_permutation_at(const TsaPermutation *perm, uint64_t i);
extern uint64_t tsa_random_next(uint64_t *state);
extern void tsa_random_fill(void *buffer, size_t bytes, uint64_t *state);

#endif							/* TSA_RANDOM_H */
