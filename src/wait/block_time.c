/*-------------------------------------------------------------------------
 *
 * block_time.c
 *	  The recent time of a block of each relation, and time divided by it.
 *
 * An interval may have read several relations, and only its whole time is
 * known.  Blocks differ: the next page of a table is read ahead while a random
 * page of its index takes a seek.  So the time is divided in proportion to the
 * recent time of a block of each of them; a relation that is not known counts
 * with the interval's mean.  The part that a relation gets is then its recent
 * time.  Intervals that read one relation alone weigh more: their time is
 * known, and they set the others apart.  Without them relations that are
 * always read together keep equal parts, as if divided by blocks.
 *
 * Times of single reads vary a lot.  So less than a factor between relations
 * says nothing, and the time is divided by blocks then; and one interval that
 * took very long teaches little.  The parts add up to the interval's time.
 *
 * A table of fixed size, by a hash of relation and kind of access, without
 * chains: another relation takes an entry over.  Pure.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "wait/block_time.h"

#define ENTRIES_LOG2 9

/* Each interval has this part of the weight of the next one. */
#define DECAY (1.0 - 1.0 / 16)

/* The weight of an interval that read one relation alone. */
#define ALONE 8

/* Relations with block times that differ by less are taken for equal. */
#define NOISE 2.0

/* An interval counts as no more than so many times the expected time. */
#define MOST 4.0

/* Nanoseconds that each block is taken for longer: none takes no time. */
#define LEAST_NS 1000.0

typedef struct Entry
{
	uint32_t	relid;			/* 0: none */
	uint32_t	access;
	double		reads;			/* weighted */
	double		ns;
} Entry;

static Entry entries[1 << ENTRIES_LOG2];

/* The one entry that a relation and a kind of access share with others. */
static Entry *
entry_of(uint32_t relid, uint32_t access)
{
	uint64_t	key = (uint64_t) relid << 8 | access;

	return &entries[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - ENTRIES_LOG2)];
}

/* The time of a block of a part, or the mean of the interval. */
static double
block_ns(const TsaTimePart *part, double mean)
{
	const Entry *entry = entry_of(part->relid, part->access);

	if (entry->relid != part->relid || entry->access != part->access ||
		entry->reads <= 0)
		return mean + LEAST_NS;
	return entry->ns / entry->reads + LEAST_NS;
}

/* Keeps the time of a part. */
static void
learn(const TsaTimePart *part, double ns, double weight)
{
	Entry	   *entry = entry_of(part->relid, part->access);

	if (entry->relid != part->relid || entry->access != part->access)
	{
		entry->relid = part->relid;
		entry->access = part->access;
		entry->reads = entry->ns = 0;
	}
	entry->reads = entry->reads * DECAY + weight * (double) part->reads;
	entry->ns = entry->ns * DECAY + weight * ns;
}

/*
 * Divides the time of an interval between the relations that it read: sets ns
 * of each of n parts.
 */
void
tsa_divide_time(TsaTimePart *parts, int n, uint64_t ns)
{
	double		expected = 0;
	double		reads = 0;
	double		least = HUGE_VAL;
	double		most = 0;
	double		lesson;
	uint64_t	left = ns;

	for (int i = 0; i < n; i++)
		reads += (double) parts[i].reads;
	for (int i = 0; i < n; i++)
	{
		parts[i].block_ns = block_ns(&parts[i], (double) ns / reads);
		least = fmin(least, parts[i].block_ns);
		most = fmax(most, parts[i].block_ns);
		expected += (double) parts[i].reads * parts[i].block_ns;
	}
	lesson = fmin((double) ns, MOST * expected);
	for (int i = 0; i < n; i++)
	{
		double		share = (double) parts[i].reads * parts[i].block_ns /
		expected;

		learn(&parts[i], lesson * share, n == 1 ? ALONE : 1);
		if (most < NOISE * least)
			share = (double) parts[i].reads / reads;
		parts[i].ns = i == n - 1 || share * (double) ns >= (double) left ?
			left : (uint64_t) (share * (double) ns);
		left -= parts[i].ns;
	}
}

/*
 * Time that was waited later for blocks of a relation.
 */
void
tsa_learn_time(uint32_t relid, uint32_t access, uint64_t ns)
{
	Entry	   *entry = entry_of(relid, access);

	if (entry->relid == relid && entry->access == access)
		entry->ns += ALONE * (double) ns;
}
