/*-------------------------------------------------------------------------
 *
 * random.c
 *	  Random numbers, incompressible data, and random orders.
 *
 * Pure: no server headers, no allocation.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <string.h>

#include "probe/random.h"

/* Next number of a splitmix64 sequence. */
uint64_t
tsa_random_next(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* Fill memory with bytes that nothing can compress or deduplicate. */
void
tsa_random_fill(void *buffer, size_t bytes, uint64_t *state)
{
	char	   *to = buffer;
	size_t		i;

	for (i = 0; i + sizeof(uint64_t) <= bytes; i += sizeof(uint64_t))
	{
		uint64_t	value = tsa_random_next(state);

		memcpy(to + i, &value, sizeof(value));
	}
}

/*
 * A pseudo-random bijection of 0 .. count - 1: a four-round Feistel network
 * over the next even power of two, walked until it lands inside.
 */
void
tsa_init_permutation(TsaPermutation *perm, uint64_t count, uint64_t seed)
{
	int			i;

	perm->count = count;
	perm->half_bits = 1;
	while (perm->half_bits < 31 &&
		   (UINT64_C(1) << (2 * perm->half_bits)) < count)
		perm->half_bits++;
	for (i = 0; i < 4; i++)
		perm->key[i] = tsa_random_next(&seed);
}

/* The i-th number of the permutation, for i below its count. */
uint64_t
tsa_permutation_at(const TsaPermutation *perm, uint64_t i)
{
	uint64_t	mask = (UINT64_C(1) << perm->half_bits) - 1;
	int			round;

	do
	{
		uint64_t	left = i >> perm->half_bits;
		uint64_t	right = i & mask;

		for (round = 0; round < 4; round++)
		{
			uint64_t	mixed = right + perm->key[round];
			uint64_t	swap = left ^ (tsa_random_next(&mixed) & mask);

			left = right;
			right = swap;
		}
		i = left << perm->half_bits | right;
	} while (i >= perm->count);
	return i;
}
