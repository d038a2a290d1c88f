/*-------------------------------------------------------------------------
 *
 * locality.c
 *	  In which order an index leads to the blocks of its table, and what
 *	  reading them so takes.
 *
 * The correlation of a column says how well the order of its values agrees
 * with that of the rows.  What a scan pays for is something else: how many
 * blocks a stretch of the index leads to, and by which steps.  Rows that lie
 * together without being sorted have no correlation and are cheap, sorted
 * rows that are jittered have much of it and are not.  So windows of
 * consecutive entries are looked at, and what they lead to is counted; a scan
 * of any other length lies between two sizes of window.
 *
 * The device is paid for the first touch of a block: caches have it
 * afterwards.  A later one, of which there are as many as entries lead to
 * another block than the one before, costs what the system's cache takes, if
 * shared buffers do not hold so much.  Steps back are no sequential reads,
 * because nothing is read ahead backwards; but a scan in the other direction
 * turns them round.
 *
 * Pure: no server headers.
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

/* Multiply all counts. */
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
	point->far_gaps *= factor;
}

/*
 * What the whole index leads to, from the two largest sizes of window: the
 * blocks go on growing at the same power until the table is full, the mix of
 * steps stays, and the gaps close.
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
 * Turn sums into means.  "whole" is what the index as a whole was found to
 * lead to, or NULL when only parts of it were read.
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

/* A value between two, at share t of the way. */
static double
between(double a, double b, double t)
{
	return a + (b - a) * t;
}

/*
 * What so many consecutive entries lead to: linearly between the two nearest
 * sizes.  A power law would come nearer, by a tenth at most, and would take
 * the planner more time than all the rest.
 */
void
tsa_locality_at(const TsaLocality *locality, double entries,
				TsaLocalityPoint *point)
{
	const TsaLocalityPoint *a;
	const TsaLocalityPoint *b;
	double		t;
	int			i = 0;

	while (i < locality->npoints - 1 &&
		   locality->points[i + 1].entries < entries)
		i++;
	a = &locality->points[i];
	b = i < locality->npoints - 1 ? a + 1 : a;
	if (b == a || entries <= a->entries)
	{
		*point = *a;
		point->entries = entries;
		return;
	}
	t = (entries - a->entries) / (b->entries - a->entries);
	point->entries = entries;
	point->windows = fmin(a->windows, b->windows);
#define MIX(field) \
	point->field = between(a->field, b->field, t)
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
}

/*
 * Times where shared buffers answer such a share of all reads, and the
 * system's cache so much of the rest.
 */
void
tsa_times_blend(TsaReadTimes *times, double shared, double system)
{
	double	   *all[] = {
		&times->sequential, &times->random, &times->skip,
		&times->adjacent_0, &times->adjacent_1, &times->adjacent_n,
		&times->skip_n, &times->random_n
	};
	size_t		i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		*all[i] = (1 - shared - system) * *all[i] +
			system * fmin(times->cached, *all[i]) +
			shared * fmin(times->cpu.hit, *all[i]);
	times->shared_fraction = shared;
	times->cached_fraction = shared + system;
}

/* Time to read the table's blocks in the order of the index. */
double
tsa_locality_index_us(const TsaLocalityPoint *point,
					  const TsaReadTimes *times, int backward)
{
	double		sequential = backward ? point->back_sequential :
	point->sequential;
	double		skip = backward ? point->back_skip : point->skip;

	return sequential * times->sequential + skip * times->skip +
		(point->blocks - sequential - skip) * times->random;
}

/*
 * How much of that the kernel reads ahead of: sequential steps, as far as
 * their blocks are not found in a cache.
 */
double
tsa_locality_ahead_us(const TsaLocalityPoint *point,
					  const TsaReadTimes *times, int backward)
{
	double		found = times->shared_fraction * times->cpu.hit +
	(times->cached_fraction - times->shared_fraction) * times->cached;

	return (backward ? point->back_sequential : point->sequential) *
		fmax(times->sequential - found, 0);
}

/*
 * Time to get at blocks again that the scan has left, with so many shared
 * buffers.
 */
double
tsa_locality_revisit_us(const TsaLocalityPoint *point,
						const TsaReadTimes *times, double buffers)
{
	double		revisits = point->changes - point->blocks;

	if (revisits <= 0 || buffers >= point->blocks)
		return 0;
	return revisits * (1 - buffers / point->blocks) *
		(1 - times->shared_fraction) * times->cached;
}

/*
 * Requests that the kernel makes of so many blocks read in sequence, each
 * twice as large as the one before until they are as large as they get.
 */
static double
count_requests(double blocks)
{
	double		requests = blocks / TSA_AHEAD_BLOCKS;
	double		rest = blocks < TSA_AHEAD_BLOCKS ? blocks : TSA_AHEAD_BLOCKS;

	if (blocks <= 1)
		return 0;
	while (rest >= 2)
	{
		rest /= 2;
		requests++;
	}
	return requests + rest - 1;
}

/*
 * Time that the device takes to turn from the table to so many leaf pages of
 * the index and back.  A bitmap scan has read the index before the table, and
 * where each block of the table is a random read anyway, it is paid for.
 */
double
tsa_locality_turns_us(const TsaLocalityPoint *point,
					  const TsaReadTimes *times, double leaves, int backward)
{
	double		sequential = backward ? point->back_sequential :
	point->sequential;

	if (times->random <= times->sequential)
		return 0;
	return 2 * count_requests(leaves < sequential ? leaves : sequential) *
		(times->random - times->sequential);
}

/*
 * Time of a skip between blocks that are read in their order.  A device that
 * has to wait for the block may as well read those before it, so a short skip
 * takes no longer than these would.  Lengths are taken to fall off
 * exponentially from 2 on.
 */
static double
skip_us(const TsaLocalityPoint *point, double adjacent, double skip)
{
	double		beyond = adjacent *
	(point->skip_blocks / point->skip_gaps - 2);
	double		least = fmin(2 * adjacent, skip);

	if (beyond <= 0 || least >= skip)
		return least;
	return least + beyond * (1 - exp((least - skip) / beyond));
}

/*
 * Time to read them in the order of the blocks, with such prefetching.  Its
 * requests cost something where the system has the block, too.
 */
double
tsa_locality_bitmap_us(const TsaLocalityPoint *point,
					   const TsaReadTimes *times, int concurrency)
{
	double		adjacent = concurrency <= 0 ? times->adjacent_0 :
	times->adjacent_1;
	double		skip = times->skip;
	double		random = times->random;
	double		us;

	if (concurrency > 1 && times->depth > 1)
	{
		double		t = concurrency >= times->depth ? 1 :
		log(concurrency) / log(times->depth);

		adjacent = between(adjacent, times->adjacent_n, t);
		skip = between(skip, times->skip_n, t);
		random = between(random, times->random_n, t);
	}
	us = point->adjacent_gaps * adjacent + point->far_gaps * random;
	if (point->skip_gaps > 0)
		us += point->skip_gaps * skip_us(point, adjacent, skip);
	if (concurrency > 0)
		us += point->blocks * times->cpu.prefetch *
			(times->cached_fraction - times->shared_fraction);
	return us;
}

/*
 * What the rows lead to that two conditions leave, independent of each other:
 * both have to touch a block, and a row in it has to satisfy both.  The block
 * before it has to be touched by both, too, to be adjacent.  The near gaps
 * are those of the condition that touches fewer blocks, thinned out.
 */
void
tsa_locality_and(const TsaLocalityPoint *a, const TsaLocalityPoint *b,
				 double table_blocks, double table_tuples,
				 TsaLocalityPoint *both)
{
	const TsaLocalityPoint *few = a->blocks <= b->blocks ? a : b;
	double		per_block = fmax(table_tuples / fmax(table_blocks, 1), 1);
	double		density_a = fmin(a->entries / (a->blocks * per_block), 1);
	double		density_b = fmin(b->entries / (b->blocks * per_block), 1);
	double		common = a->blocks * (b->blocks / fmax(table_blocks, 1));
	double		hit = 1 - exp(-per_block * density_a * density_b);
	double		blocks = fmax(fmin(common * hit, few->blocks), 1);
	double		kept = blocks / few->blocks;
	double		adjacent = a->adjacent_gaps / a->blocks *
	(b->adjacent_gaps / b->blocks) * hit;
	double		near_gaps = (few->adjacent_gaps + few->skip_gaps) /
	few->blocks;

	near_gaps = fmax(adjacent, 1 - pow(1 - kept * near_gaps, 16));
	near_gaps = fmin(near_gaps, 1 - 1 / blocks);
	adjacent = fmin(adjacent, near_gaps);

	memset(both, 0, sizeof(*both));
	both->entries = fmax(a->entries * b->entries / fmax(table_tuples, 1), 1);
	both->blocks = blocks;
	both->random = blocks;
	both->adjacent_gaps = blocks * adjacent;
	both->skip_gaps = blocks * (near_gaps - adjacent);
	both->skip_blocks = both->skip_gaps *
		tsa_mean_skip(blocks / fmax(table_blocks, 1));
	both->far_gaps = blocks * (1 - near_gaps);
}
