/*-------------------------------------------------------------------------
 *
 * block_set.h
 *	  A set of block numbers, as a bitmap in the caller's memory.
 *
 * Pure module: no server headers, no allocation.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BLOCK_SET_H
#define TSA_BLOCK_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TsaBlockSet
{
	uint64_t   *words;			/* the caller's; one bit a block */
	size_t		nwords;
	uint64_t	count;			/* members */
} TsaBlockSet;

/* the result of tsa_block_set_next() after the last member */
#define TSA_NO_BLOCK UINT64_MAX

extern size_t tsa_block_set_words(uint64_t nblocks);
extern void tsa_block_set_use(TsaBlockSet *set, uint64_t *words,
							  size_t nwords);
extern bool tsa_block_set_fits(const TsaBlockSet *set, uint32_t block);
extern void tsa_block_set_add(TsaBlockSet *set, uint32_t block);
extern void tsa_block_set_remove(TsaBlockSet *set, uint32_t block);
extern bool tsa_block_set_has(const TsaBlockSet *set, uint32_t block);
extern uint64_t tsa_block_set_next(const TsaBlockSet *set, uint64_t from);
extern void tsa_block_set_clear(TsaBlockSet *set);

#endif							/* TSA_BLOCK_SET_H */
