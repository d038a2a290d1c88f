/*-------------------------------------------------------------------------
 *
 * locality.h
 *	  In which order an index leads to the blocks of its table, and the time to
 *	  read them so.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_LOCALITY_H
#define TSA_LOCALITY_H

#include <stdint.h>

/* windows of 4^0, 4^1, ... 4^8 consecutive entries */
#define TSA_LOCALITY_LEVELS		9
#define TSA_LOCALITY_WINDOW		65536
#define TSA_LOCALITY_WINDOWS	8

/* an index of at most so many entries is read whole */
#define TSA_LOCALITY_WHOLE		(TSA_LOCALITY_WINDOWS * TSA_LOCALITY_WINDOW)

/* and so is no index with more pages */
#define TSA_LOCALITY_WHOLE_PAGES 2048

/* steps forward of at most so many blocks are sequential, or skips */
#define TSA_NEAR_BLOCKS			2
#define TSA_SKIP_BLOCKS			256

/*
 * A leaf page that follows the one before costs a single scan so many times
 * seq_page_cost at most, turns of the device between index and table included.
 */
#define TSA_LEAF_IN_ORDER		4.0

/* blocks that the kernel reads ahead at once in the end */
#define TSA_AHEAD_BLOCKS		16

/*
 * The blocks that windows of so many entries lead to, on average.  A block
 * counts where it is touched first.  The first three add up to the blocks, and
 * so do the gaps; steps back are among the random ones.
 */
typedef struct TsaLocalityPoint
{
	double		entries;
	double		windows;		/* looked at; 0: extrapolated */
	double		blocks;

	/* in the order of the index, by the step from the block before */
	double		sequential;
	double		skip;
	double		random;
	double		back_sequential;
	double		back_skip;
	double		changes;		/* entries that lead to another block */

	/* in the order of the blocks, by the gap */
	double		adjacent_gaps;
	double		skip_gaps;
	double		far_gaps;
	double		skip_blocks;	/* sum of the lengths of skip_gaps */

	/* of the whole index only; 0: not known */
	double		keys;
	double		leaves_in_order;	/* share that follow the leaf before */

	/* not kept: of skip, where that is known (one key) */
	double		skip_step_blocks;
	/* and of a repeated scan, blocks that others of it have read */
	double		again;
} TsaLocalityPoint;

typedef struct TsaLocality
{
	int			npoints;		/* by entries; the last is the whole index */
	TsaLocalityPoint points[TSA_LOCALITY_LEVELS + 1];
} TsaLocality;

/* Memory to count with; all of it is the caller's. */
typedef struct TsaLocalityCounter
{
	TsaLocalityPoint sums[TSA_LOCALITY_LEVELS];
	uint64_t   *table;			/* table_size of them, zeroed */
	uint32_t	table_size;		/* a power of two, twice the entries at least */
	uint32_t   *distinct;		/* as many as entries */
	uint32_t	epoch;
} TsaLocalityCounter;

/*
 * Caches lack a block that is asked for so many times less often than any
 * block, at most.
 */
#define TSA_LACKED_LESS		2.0

/* Microseconds of processor time. */
typedef struct TsaCpuTimes
{
	double		tuple;
	double		index_tuple;	/* of an index scan, the way to the row too */
	double		bit;			/* of a bitmap scan: the entry, and its bit */
	double		operator;
	double		hit;			/* to find a page in shared buffers */
	double		revisit;		/* to come back to a page in shared buffers */
	double		prefetch;		/* to ask for a page that the system has */
	double		worker;			/* the way to an I/O worker and back, or 0 */
} TsaCpuTimes;

/*
 * tuple, index_tuple and operator: the smallest of five calls of
 * calibrate_cost_units() on the machine of docs/costs.md; the others:
 * docs/internals/cost.md.  Only their size beside a read matters, not their
 * digits.
 */
#define TSA_CPU_TIMES \
	{.tuple = 0.08,.index_tuple = 0.07,.bit = 0.03,.operator = 0.007, \
	.hit = 0.2,.revisit = 0,.prefetch = 1.2,.worker = 0}

/*
 * From 18 on, by bench/scan_times with as many buffers per session as a
 * default server has.  Pages that have just been copied are not in the
 * processor's caches then, as they are in a few buffers.
 */
#define TSA_CPU_TIMES_18 \
	{.tuple = 0.022,.index_tuple = 0.12,.bit = 0.09,.operator = 0.003, \
	.hit = 0.3,.revisit = 0.3,.prefetch = 0.6,.worker = 0}

/*
 * The way to an I/O worker and back, by bench/scan_times.  It is not measured
 * on the server: reads of one block at a time took 3 or 72 us longer on the
 * same idle machine, from one session to the next, while bitmap heap scans took
 * 65 us longer.
 */
#define TSA_WORKER_US		45.0

/* a session's part of copies that I/O workers make */
#define TSA_WORKER_COPIES	0.2

/* blocks that a bitmap heap scan reads by one request: io_combine_limit */
#define TSA_COMBINED_BLOCKS	16

/* Measured times of a read of one block, in microseconds. */
typedef struct TsaReadTimes
{
	double		sequential;		/* in a sequential scan */
	double		random;
	double		skip;
	double		cached;			/* from the system's cache */

	/* of a bitmap heap scan, by effective_io_concurrency */
	double		adjacent_0;
	double		adjacent_1;
	int			depth;			/* the candidate; 0 or 1: none */
	double		adjacent_n;
	double		skip_n;
	double		random_n;

	/* that the times are blended with */
	double		shared_fraction;	/* in shared buffers */
	double		cached_fraction;	/* in these or the system's cache */
	TsaCpuTimes cpu;
} TsaReadTimes;

/*
 * With the part of a table in caches: for a scan that reads all of it, and for
 * one that reads a few blocks, which the caches are likelier to hold.
 */
typedef struct TsaCachedTimes
{
	TsaReadTimes all;
	TsaReadTimes few;
} TsaCachedTimes;

/* A value between two, at share t of the way. */
static inline double
tsa_between(double a, double b, double t)
{
	return a + (b - a) * t;
}

/* locality.c */
extern void tsa_locality_count(TsaLocalityCounter *counter,
							   const uint32_t *blocks, uint32_t n,
							   TsaLocalityPoint *sum);
extern void tsa_locality_add(TsaLocalityCounter *counter,
							 const uint32_t *blocks, uint32_t n);
extern void tsa_locality_finish(const TsaLocalityCounter *counter,
								const TsaLocalityPoint *whole,
								double entries, double table_blocks,
								TsaLocality *locality);
extern double tsa_mean_skip(double density);
extern void tsa_locality_scale(TsaLocalityPoint *point, double factor);
extern void tsa_locality_between(const TsaLocalityPoint *a,
								 const TsaLocalityPoint *b, double t,
								 TsaLocalityPoint *point);
extern double tsa_locality_key_entries(const TsaLocality *locality);
extern void tsa_locality_at(const TsaLocality *locality, double entries,
							TsaLocalityPoint *point);

/* locality_combine.c */
extern void tsa_locality_of_key(const TsaLocality *locality, double entries,
								TsaLocalityPoint *point);
extern void tsa_locality_union(TsaLocalityPoint *point, double runs,
							   double table_blocks);
extern void tsa_locality_thin(TsaLocalityPoint *point, double share,
							  double group);
extern void tsa_locality_turn(TsaLocalityPoint *point);
extern void tsa_locality_and(const TsaLocalityPoint *a,
							 const TsaLocalityPoint *b,
							 double table_blocks, double table_tuples,
							 TsaLocalityPoint *both);

/* locality_times.c */
extern void tsa_times_blend(TsaReadTimes *times, double shared,
							double system);
extern void tsa_times_cached(const TsaReadTimes *cold, double shared,
							 double system, TsaCachedTimes *times);
extern void tsa_times_of_share(const TsaCachedTimes *cached, double share,
							   TsaReadTimes *times);
extern double tsa_locality_index_us(const TsaLocalityPoint *point,
									const TsaReadTimes *times, int backward);
extern double tsa_locality_ahead_us(const TsaLocalityPoint *point,
									const TsaReadTimes *times, int backward);
extern double tsa_locality_again_us(const TsaReadTimes *times, int in_buffers,
									int concurrency);
extern double tsa_locality_revisit_us(const TsaLocalityPoint *point,
									  const TsaReadTimes *times,
									  double buffers);
extern double tsa_locality_turns_us(const TsaLocalityPoint *point,
									const TsaReadTimes *times,
									double leaves, int backward);
extern double tsa_locality_bitmap_us(const TsaLocalityPoint *point,
									 const TsaReadTimes *times,
									 int concurrency);

#endif							/* TSA_LOCALITY_H */
