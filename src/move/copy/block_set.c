/*-------------------------------------------------------------------------
 *
 * block_set.c
 *	  A set of block numbers, as a bitmap in the caller's memory.
 *
 * A live copy keeps one for each relation: the blocks that the write-ahead
 * log named since they were last copied.  One bit a block: 16 MB for 1 TB.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "move/copy/block_set.h"

#include <string.h>

#define BITS_PER_WORD 64

/* Number of words that hold blocks 0 to nblocks - 1. */
size_t
tsa_block_set_words(uint64_t nblocks)
{
	return (size_t) ((nblocks + BITS_PER_WORD - 1) / BITS_PER_WORD);
}

/*
 * Gives the set memory of nwords words, zeroed beyond those that the set
 * already uses.  Members are kept when the caller moved them there (repalloc).
 */
void
tsa_block_set_use(TsaBlockSet *set, uint64_t *words, size_t nwords)
{
	if (nwords > set->nwords)
		memset(words + set->nwords, 0,
			   (nwords - set->nwords) * sizeof(uint64_t));
	set->words = words;
	set->nwords = nwords;
}

/* Is there room for this block? */
bool
tsa_block_set_fits(const TsaBlockSet *set, uint32_t block)
{
	return block / BITS_PER_WORD < set->nwords;
}

/* Adds a block, which must fit. */
void
tsa_block_set_add(TsaBlockSet *set, uint32_t block)
{
	uint64_t	bit = UINT64_C(1) << (block % BITS_PER_WORD);
	uint64_t   *word = &set->words[block / BITS_PER_WORD];

	if ((*word & bit) == 0)
		set->count++;
	*word |= bit;
}

/* Removes a block, member or not. */
void
tsa_block_set_remove(TsaBlockSet *set, uint32_t block)
{
	if (tsa_block_set_has(set, block))
	{
		set->words[block / BITS_PER_WORD] &=
			~(UINT64_C(1) << (block % BITS_PER_WORD));
		set->count--;
	}
}

/* Is the block a member? */
bool
tsa_block_set_has(const TsaBlockSet *set, uint32_t block)
{
	return tsa_block_set_fits(set, block) &&
		(set->words[block / BITS_PER_WORD] >> (block % BITS_PER_WORD)) & 1;
}

/* The first member at or after "from", or TSA_NO_BLOCK. */
uint64_t
tsa_block_set_next(const TsaBlockSet *set, uint64_t from)
{
	size_t		w = (size_t) (from / BITS_PER_WORD);
	uint64_t	word;

	if (w >= set->nwords)
		return TSA_NO_BLOCK;
	word = set->words[w] & (UINT64_MAX << (from % BITS_PER_WORD));
	while (word == 0)
	{
		if (++w >= set->nwords)
			return TSA_NO_BLOCK;
		word = set->words[w];
	}
	return (uint64_t) w * BITS_PER_WORD + (uint64_t) __builtin_ctzll(word);
}

/* Removes all members; keeps the memory. */
void
tsa_block_set_clear(TsaBlockSet *set)
{
	if (set->nwords > 0)
		memset(set->words, 0, set->nwords * sizeof(uint64_t));
	set->count = 0;
}
