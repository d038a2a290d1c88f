/*-------------------------------------------------------------------------
 *
 * locality_times.c
 *	  The time to read the blocks that an index leads to.
 *
 * The device is paid for the first touch of a block: caches have it
 * afterwards.  A later one, of which there are as many as entries lead to
 * another block than the one before, costs a read from the system's cache, if
 * shared buffers do not hold so much.  Steps back are no sequential reads,
 * because nothing is read ahead backwards; but a scan in the other direction
 * turns them round.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "cost/locality.h"

/* Turns the time of a missing block into the mean with those of hits. */
static void
blend(double *us, double missing, double shared, double system,
	  const TsaReadTimes *times)
{
	*us = missing * *us + system * fmin(times->cached, *us) +
		shared * fmin(times->cpu.hit, *us);
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
	int			i;

	for (i = 0; i < (int) (sizeof(all) / sizeof(all[0])); i++)
		blend(all[i], 1 - shared - system, shared, system, times);
	times->shared_fraction = shared;
	times->cached_fraction = shared + system;
}

/*
 * Time of one of the blocks that caches lack, in a scan of all: the blocks
 * between are passed over, or waited for.
 */
static double
gap_us(double missing, double next, double skip)
{
	double		more = skip - next;

	if (more <= 0)
		return next;
	return next + more * (1 - exp(-(1 / missing - 1) * next / more));
}

/*
 * Read times where shared buffers hold such a share of a table's blocks, and
 * the system's cache so much of the rest.  A share of blocks is no share of
 * accesses: a block that is asked for often is likelier to be held, the more
 * so the fewer are missing, within a limit: blocks can also be missing at
 * random.  Only a scan of all blocks meets all that are missing.
 */
void
tsa_times_cached(const TsaReadTimes *cold, double shared, double system,
				 TsaCachedTimes *times)
{
	double		missing = fmin(fmax(1 - shared - system, 0), 1);
	double		wanted = missing * fmax(missing, 1 / TSA_LACKED_LESS);
	double		more;
	TsaReadTimes one = *cold;

	if (missing > 0 && missing < 1)
	{
		one.sequential = gap_us(missing, cold->sequential, cold->skip);
		one.adjacent_0 = gap_us(missing, cold->adjacent_0, cold->skip);
		one.adjacent_1 = gap_us(missing, cold->adjacent_1, cold->skip);
		one.adjacent_n = gap_us(missing, cold->adjacent_n, cold->skip_n);
	}
	more = missing < 1 ? (1 - wanted) / (1 - missing) : 1;
	times->all = one;
	tsa_times_blend(&times->all, shared, system);
	times->few = one;
	tsa_times_blend(&times->few, shared * more, system * more);
}

/* The times of a scan that reads such a share of the table's blocks. */
void
tsa_times_of_share(const TsaCachedTimes *cached, double share,
				   TsaReadTimes *times)
{
	const TsaReadTimes *a = &cached->few;
	const TsaReadTimes *b = &cached->all;

	*times = *a;
	if (share <= 0 || a->cached_fraction <= b->cached_fraction)
		return;
#define MIX(field) \
	times->field = tsa_between(a->field, b->field, share)
	MIX(sequential);
	MIX(random);
	MIX(skip);
	MIX(adjacent_0);
	MIX(adjacent_1);
	MIX(adjacent_n);
	MIX(skip_n);
	MIX(random_n);
	MIX(shared_fraction);
	MIX(cached_fraction);
#undef MIX
}

/*
 * Time of a skip forward of such a mean length.  A device that has to wait for
 * the block may as well read those before it, so a short skip takes no longer
 * than these would.  Lengths are taken to fall off exponentially from 2 on.
 */
static double
skip_us(double length, double adjacent, double skip)
{
	double		beyond = adjacent * (length - 2);
	double		least = fmin(2 * adjacent, skip);

	if (beyond <= 0 || least >= skip)
		return least;
	return least + beyond * (1 - exp((least - skip) / beyond));
}

/* Time to read the table's blocks in the order of the index. */
double
tsa_locality_index_us(const TsaLocalityPoint *point,
					  const TsaReadTimes *times, int backward)
{
	double		sequential = backward ? point->back_sequential :
	point->sequential;
	double		skip = backward ? point->back_skip : point->skip;
	double		one_skip = times->skip;

	if (!backward && point->skip_step_blocks > 0)
		one_skip = skip_us(point->skip_step_blocks / skip, times->adjacent_0,
						   times->skip);
	return sequential * times->sequential + skip * one_skip +
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
 * buffers, which hold them or not.
 */
double
tsa_locality_revisit_us(const TsaLocalityPoint *point,
						const TsaReadTimes *times, double buffers)
{
	double		revisits = fmax(point->changes - point->blocks, 0);
	double		gone = fmax(1 - buffers / point->blocks, 0) *
	(1 - times->shared_fraction);

	return revisits * (gone * times->cached +
					   (1 - gone) * times->cpu.revisit);
}

/*
 * Time to read a block that another repetition of a scan has read, which
 * shared buffers still hold or not.
 */
double
tsa_locality_again_us(const TsaReadTimes *times, int in_buffers,
					  int concurrency)
{
	if (in_buffers)
		return fmin(times->cpu.hit, times->cached);
	return times->cached +
		(concurrency > 0 ? times->cpu.prefetch + times->cpu.worker : 0);
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
 * The time that I/O workers add to a bitmap heap scan.  It looks ahead twice
 * as far each time it has waited, so that it waits for the first requests in
 * full.  Later ones overlap with each other, up to the concurrency, and with
 * the processor's time for rows; their pages are copied by the workers.
 * Without concurrency the session reads itself.
 */
static double
worker_us(const TsaLocalityPoint *point, const TsaReadTimes *times,
		  int concurrency)
{
	double		way = times->cpu.worker;
	double		blocks = fmax(point->blocks, 1);
	double		requests = point->far_gaps + point->skip_gaps +
	point->adjacent_gaps / TSA_COMBINED_BLOCKS;
	double		waits = 1 + log2(fmin(blocks, TSA_COMBINED_BLOCKS));
	double		copies;
	double		rows;
	double		later;

	if (way <= 0 || concurrency <= 0 || requests <= 0)
		return 0;
	copies = blocks / requests * times->cached;
	rows = point->entries / requests * (times->cpu.tuple + times->cpu.bit);
	later = fmax((way + copies) / concurrency,
				 rows + TSA_WORKER_COPIES * copies) - rows - copies;
	return (1 - times->shared_fraction) *
		(waits * way + fmax(requests - waits, 0) * later);
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

		adjacent = tsa_between(adjacent, times->adjacent_n, t);
		skip = tsa_between(skip, times->skip_n, t);
		random = tsa_between(random, times->random_n, t);
	}
	us = point->adjacent_gaps * adjacent + point->far_gaps * random;
	if (point->skip_gaps > 0)
		us += point->skip_gaps *
			skip_us(point->skip_blocks / point->skip_gaps, adjacent, skip);
	if (concurrency > 0)
		us += point->blocks * times->cpu.prefetch *
			(times->cached_fraction - times->shared_fraction);
	return us + worker_us(point, times, concurrency);
}
