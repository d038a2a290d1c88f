/*-------------------------------------------------------------------------
 *
 * worker_way.c
 *	  How much longer a read takes by an I/O worker than by the session.
 *
 * From 18 on, with io_method = worker, a bitmap heap scan hands its requests to
 * other processes.  The time for it depends on the machine, so it is measured
 * with blocks of the table itself, because workers read nothing but relations:
 * some neighbouring ones, which the first round brings into the system's cache,
 * are read by turns with and without a worker.  They come into a ring that is
 * smaller than they are, so that each read is one, unless others have the block
 * in shared buffers, which is left out.  Of each block the fastest reads count,
 * and of the blocks the median, so that interruptions do not matter much.
 *
 * The caller's lock on the table keeps it from being truncated.  Pages are
 * pinned, but not looked at, and not counted as the table's in statistics.  The
 * end of the transaction releases pin and request after an error, such as that
 * of a damaged page.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "compat.h"
#include "cost/locality_store.h"
#include "probe/counters.h"
#include "probe/probe_request.h"
#include "probe/target.h"

#if TSA_HAVE_IO_WORKERS

#define PAGES	32
#define RING_KB (PAGES / 2 * (BLCKSZ / 1024))
#define ROUNDS	4

/*
 * Read a block, in the session itself or not, into the ring.  Lowers *least to
 * the microseconds that this takes, unless shared buffers have the block.
 */
static void
time_read(Relation heap, BlockNumber block, BufferAccessStrategy ring,
		  int flags, double *least)
{
	ReadBuffersOperation operation = {0};
	Buffer		buffer;
	uint64		start;

	CHECK_FOR_INTERRUPTS();
	operation.smgr = RelationGetSmgr(heap);
	operation.persistence = heap->rd_rel->relpersistence;
	operation.forknum = MAIN_FORKNUM;
	operation.strategy = ring;
	start = tsa_clock_now();
	if (StartReadBuffer(&operation, &buffer, block, flags))
	{
		WaitReadBuffers(&operation);
		*least = Min(*least, (double) (tsa_clock_now() - start) / 1000);
	}
	ReleaseBuffer(buffer);
}

/* Read all blocks once, waiting so many milliseconds before each. */
static void
time_blocks(Relation heap, BlockNumber first, BufferAccessStrategy ring,
			int flags, long ms, double *least)
{
	for (int i = 0; i < PAGES; i++)
	{
		if (ms > 0)
			tsa_probe_sleep(ms);
		time_read(heap, first + i, ring, flags, &least[i]);
	}
}

/* Order numbers for qsort(). */
static int
compare(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/*
 * Microseconds that a read takes longer by an I/O worker, measured with a table
 * whose lock is the caller's; NaN if there are no workers or it cannot be
 * measured: the table is small or temporary, shared buffers have it, or the
 * system's cache is passed by.
 */
double
tsa_worker_way_us(Relation heap)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);
	BlockNumber first;
	BufferAccessStrategy ring;
	double		by_worker[PAGES];
	double		by_session[PAGES];
	int			n = 0;

	if (tsa_cpu_times().worker <= 0 || tsa_io_is_direct() || blocks < PAGES ||
		RelationUsesLocalBuffers(heap))
		return NAN;
	first = (BlockNumber) pg_prng_uint64_range(&pg_global_prng_state, 0,
											   blocks - PAGES);
	ring = GetAccessStrategyWithSize(BAS_BULKREAD, RING_KB);
	for (int round = 0; round <= ROUNDS; round++)
	{
		/* the first round may read the device, and does not count */
		long		ms = round == 0 && tsa_probe_max_iops > 0 ?
		1000 / tsa_probe_max_iops : 0;

		for (int i = 0; i < PAGES && round <= 1; i++)
			by_worker[i] = by_session[i] = INFINITY;
		time_blocks(heap, first, ring, READ_BUFFERS_SYNCHRONOUSLY, ms,
					by_session);
		time_blocks(heap, first, ring, 0, 0, by_worker);
	}
	FreeAccessStrategy(ring);
	for (int i = 0; i < PAGES; i++)
		if (isfinite(by_worker[i]) && isfinite(by_session[i]))
			by_worker[n++] = by_worker[i] - by_session[i];
	if (n < PAGES / 2)
		return NAN;
	qsort(by_worker, n, sizeof(double), compare);
	return Max(by_worker[n / 2], 0);
}
#else
/* Before 18 there are none. */
double
tsa_worker_way_us(Relation heap)
{
	(void) heap;
	return NAN;
}
#endif
