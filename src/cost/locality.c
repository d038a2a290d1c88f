/*-------------------------------------------------------------------------
 *
 * locality.c
 *	  In which order an index leads to the blocks of its table.
 *
 * The correlation of a column says how well the order of its values agrees
 * with that of the rows.  A scan pays for something else: how many blocks a
 * stretch of the index leads to, and by which steps.  Rows that lie together
 * without being sorted have no correlation and are cheap, sorted rows that are
 * jittered have much of it and are not.  So windows of consecutive entries are
 * looked at, and the blocks that they lead to are counted; a scan of any other
 * length lies between two sizes of window.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/locality.h"

/* Remember a block; returns whether it was seen in this window already. */
static int
seen_before(TsaLocalityCounter *counter, uint32_t block)
{
	uint32_t	mask = counter->table_size - 1;
	uint64_t	entry = (uint64_t) counter->epoch << 32 | block;
	uint32_t	slot = (block * UINT32_C(2654435769)) & mask;

	while (counter->table[slot] >> 32 == counter->epoch)
	{
		if (counter->table[slot] == entry)
			return 1;
		slot = (slot + 1) & mask;
	}
	counter->table[slot] = entry;
	return 0;
}

/* For qsort(): by number. */
static int
compare_blocks(const void *a, const void *b)
{
	uint32_t	x = *(const uint32_t *) a;
	uint32_t	y = *(const uint32_t *) b;

	return x < y ? -1 : x > y;
}

/* Count the gaps between the distinct blocks of a window. */
static void
count_gaps(uint32_t *blocks, uint32_t n, int is_sorted, TsaLocalityPoint *sum)
{
	uint32_t	i;

	if (!is_sorted)
		qsort(blocks, n, sizeof(uint32_t), compare_blocks);
	sum->far_gaps++;
	for (i = 1; i < n; i++)
	{
		uint32_t	gap = blocks[i] - blocks[i - 1];

		if (gap == 1)
			sum->adjacent_gaps++;
		else if (gap <= TSA_SKIP_BLOCKS)
		{
			sum->skip_gaps++;
			sum->skip_blocks += gap;
		}
		else
			sum->far_gaps++;
	}
}

/* Add one window to the sums of its size. */
void
tsa_locality_count(TsaLocalityCounter *counter, const uint32_t *blocks,
				   uint32_t n, TsaLocalityPoint *sum)
{
	uint32_t	found = 0;
	int			is_sorted = 1;
	uint32_t	i;

	if (n == 0)
		return;
	/* a number that no entry of the table has */
	if (++counter->epoch == 0)
	{
		memset(counter->table, 0, counter->table_size * sizeof(uint64_t));
		counter->epoch = 1;
	}
	for (i = 0; i < n; i++)
	{
		int64_t		step;

		if (i == 0 || blocks[i] != blocks[i - 1])
			sum->changes++;
		if (seen_before(counter, blocks[i]))
			continue;
		counter->distinct[found] = blocks[i];
		if (found++ == 0)
		{
			sum->random++;
			continue;
		}
		step = (int64_t) blocks[i] - counter->distinct[found - 2];
		if (step < 0)
			is_sorted = 0;
		if (step > 0 && step <= TSA_NEAR_BLOCKS)
			sum->sequential++;
		else if (step > 0 && step <= TSA_SKIP_BLOCKS)
			sum->skip++;
		else
		{
			sum->random++;
			if (step < 0 && -step <= TSA_NEAR_BLOCKS)
				sum->back_sequential++;
			else if (step < 0 && -step <= TSA_SKIP_BLOCKS)
				sum->back_skip++;
		}
	}
	sum->windows++;
	sum->blocks += found;
	count_gaps(counter->distinct, found, is_sorted, sum);
}

/* Add a stretch of the index, cut into windows of every size. */
void
tsa_locality_add(TsaLocalityCounter *counter, const uint32_t *blocks,
				 uint32_t n)
{
	uint32_t	size = 1;
	int			level;

	for (level = 0; level < TSA_LOCALITY_LEVELS && size <= n; level++)
	{
		uint32_t	start;

		for (start = 0; start + size <= n; start += size)
			tsa_locality_count(counter, blocks + start, size,
							   &counter->sums[level]);
		size *= 4;
	}
}

/*
 * The mean length of gaps of 2 to TSA_SKIP_BLOCKS between blocks that lie
 * anywhere, so densely.
 */
double
tsa_mean_skip(double density)
{
	double		most = (2 + TSA_SKIP_BLOCKS) / 2.0;

	return density * most < 1 ? most : fmin(1 + 1 / density, most);
}

/* Multiply all counts of the point, in place. */
void
tsa_locality_scale(TsaLocalityPoint *point, double factor)
{
	point->blocks *= factor;
	point->sequential *= factor;
	point->skip *= factor;
	point->random *= factor;
	point->back_sequential *= factor;
	point->back_skip *= factor;
	point->changes *= factor;
	point->adjacent_gaps *= factor;
	point->skip_gaps *= factor;
	point->skip_blocks *= factor;
	point->skip_step_blocks *= factor;
	point->far_gaps *= factor;
}

/*
 * Extrapolates from the two largest sizes of window to the whole index.  The
 * number of blocks keeps growing with the same power of the entries until it
 * reaches the table's.  The mix of steps stays the same, and gaps become
 * smaller.
 */
static void
extrapolate(TsaLocality *locality, double entries, double table_blocks)
{
	const TsaLocalityPoint *last = &locality->points[locality->npoints - 1];
	TsaLocalityPoint *whole = &locality->points[locality->npoints];
	double		blocks = last->blocks;
	double		power = 1;
	double		density;
	double		adjacent;
	double		skip;

	if (locality->npoints > 1 && last[-1].blocks > 0)
		power = log(last->blocks / last[-1].blocks) /
			log(last->entries / last[-1].entries);
	power = fmin(fmax(power, 0), 1);
	blocks *= pow(entries / last->entries, power);
	blocks = fmax(fmin(blocks, table_blocks), last->blocks);

	*whole = *last;
	whole->entries = entries;
	whole->windows = 0;
	tsa_locality_scale(whole, blocks / last->blocks);
	whole->changes = last->changes * (entries / last->entries);

	density = table_blocks > 0 ? fmin(blocks / table_blocks, 1) : 1;
	adjacent = fmax(last->adjacent_gaps / last->blocks, density);
	skip = fmax(last->skip_gaps / last->blocks,
				1 - pow(1 - density, TSA_SKIP_BLOCKS) - density);
	skip = fmin(fmax(skip, 0), 1 - adjacent);
	whole->adjacent_gaps = blocks * adjacent;
	whole->skip_gaps = blocks * skip;
	whole->skip_blocks = whole->skip_gaps * tsa_mean_skip(density);
	whole->far_gaps = blocks * (1 - adjacent - skip);
	locality->npoints++;
}

/*
 * Turn sums into means.  "whole" has the blocks that the index as a whole was
 * found to lead to, or is NULL when only parts of it were read.
 */
void
tsa_locality_finish(const TsaLocalityCounter *counter,
					const TsaLocalityPoint *whole, double entries,
					double table_blocks, TsaLocality *locality)
{
	double		size = 1;
	int			level;

	memset(locality, 0, sizeof(*locality));
	for (level = 0; level < TSA_LOCALITY_LEVELS; level++, size *= 4)
	{
		TsaLocalityPoint *point = &locality->points[locality->npoints];

		if (counter->sums[level].windows <= 0 || size >= entries)
			break;
		*point = counter->sums[level];
		point->entries = size;
		tsa_locality_scale(point, 1 / point->windows);
		locality->npoints++;
	}
	if (whole != NULL)
	{
		locality->points[locality->npoints] = *whole;
		locality->points[locality->npoints++].entries = entries;
	}
	else if (locality->npoints > 0)
		extrapolate(locality, entries, table_blocks);
}

/* Interpolates between two points, at share t of the way. */
void
tsa_locality_between(const TsaLocalityPoint *a, const TsaLocalityPoint *b,
					 double t, TsaLocalityPoint *point)
{
	point->windows = fmin(a->windows, b->windows);
#define MIX(field) \
	point->field = tsa_between(a->field, b->field, t)
	MIX(entries);
	MIX(blocks);
	MIX(sequential);
	MIX(skip);
	MIX(random);
	MIX(back_sequential);
	MIX(back_skip);
	MIX(changes);
	MIX(adjacent_gaps);
	MIX(skip_gaps);
	MIX(far_gaps);
	MIX(skip_blocks);
#undef MIX
	point->keys = 0;
	point->leaves_in_order = 0;
	point->skip_step_blocks = 0;
	point->again = 0;
}

/* How many entries have the same key, on average; 1 where it is not known. */
double
tsa_locality_key_entries(const TsaLocality *locality)
{
	const TsaLocalityPoint *whole = &locality->points[locality->npoints - 1];

	return whole->keys > 0 ? fmax(whole->entries / whole->keys, 1) : 1;
}

/*
 * The blocks that so many consecutive entries lead to: linearly between the
 * two nearest sizes.  A power law would come nearer, by a tenth at most, and
 * would take the planner more time than all the rest.
 */
void
tsa_locality_at(const TsaLocality *locality, double entries,
				TsaLocalityPoint *point)
{
	const TsaLocalityPoint *a;
	const TsaLocalityPoint *b;
	int			i = 0;

	while (i < locality->npoints - 1 &&
		   locality->points[i + 1].entries < entries)
		i++;
	a = &locality->points[i];
	b = i < locality->npoints - 1 ? a + 1 : a;
	if (b == a || entries <= a->entries)
		*point = *a;
	else
		tsa_locality_between(a, b, (entries - a->entries) /
							 (b->entries - a->entries), point);
	point->entries = entries;
}
