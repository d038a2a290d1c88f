/*-------------------------------------------------------------------------
 *
 * page_cache.c
 *	  A copy leaves the system's cache as it was: others keep their pages, and
 *	  the cached part of the original is cached of the copy.
 *
 * Before the copy reads a range of blocks it looks which of them are cached.
 * It looks as far ahead of the copy as the kernel may read ahead, and some MB
 * more.  When the range has been copied, the pages of the original that were
 * not cached before are dropped.  Those of the copy are dropped when they are
 * on the device: 16 MB later, so that to wait for that takes no time unless the
 * device is slower than the copy, and the last ones when the passes are over.
 * So a move has some 30 MB of the cache at a time.
 *
 * Blocks that were cached of the original are wanted in the cache.  As long as
 * there is unused memory, their pages of the copy stay there.  Others are read
 * back after the cutover, when the pages of the original, which nobody reads
 * any more, have been dropped: range by range, so that the sum of both is as
 * much as the original had.  That takes the share of the time that the copy
 * had beside others at its end, and RELOAD_S at most.
 *
 * None of this has a part in the argument for the copy's correctness: the
 * system's cache changes no contents, and a call that fails is ignored, but
 * for errors of writing back (kernel_io.c).  Blocks are looked at once: pages
 * that somebody reads from the original after that may be dropped, once.
 *
 * Not for maps, which are small, and where the server reads past the cache.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "move/common/sleep.h"
#include "move/copy/free_memory.h"
#include "move/copy/kernel_io.h"
#include "move/copy/page_cache.h"

#define BLOCKS_OF_MB(mb) ((BlockNumber) ((mb) * 1024 * 1024 / BLCKSZ))

#define PIECE_BLOCKS	BLOCKS_OF_MB(1) /* looked at, or written, at a time */
#define AHEAD_BLOCKS	BLOCKS_OF_MB(8) /* more than is asked for */
#define BEHIND_BLOCKS	BLOCKS_OF_MB(16)	/* on their way to the device */
#define WORTH_BLOCKS	BLOCKS_OF_MB(16)	/* to wait for, at the end */
#define LARGEST_PAGES	BLOCKS_OF_MB(2) /* that the cache keeps as one */
#define RESTORE_BLOCKS	BLOCKS_OF_MB(8) /* in a transaction */
#define RELOAD_S		30.0	/* at most */

/* Left free for others; it is looked at again after so many blocks. */
#define SPARE_BYTES		(INT64CONST(64) * 1024 * 1024)
#define SPARE_BLOCKS	BLOCKS_OF_MB(16)

/* The state of a fork. */
struct TsaForkCache
{
	TsaBlockSet cached;			/* blocks of the original that were cached */
	BlockNumber looked_end;		/* looked at so far */
	BlockNumber source_end;		/* dropped so far, of the original */
	BlockNumber target_end;		/* and of the copy */
	BlockNumber memory_end;		/* "has_memory" is true of blocks before */
	bool		has_memory;		/* there is unused memory for them */
};

/* Blocks from "from" to before "end" of a main fork. */
static TsaBlockRange
range_of(RelFileLocator locator, BlockNumber from, BlockNumber end)
{
	TsaBlockRange range = {.locator = locator,.fork = MAIN_FORKNUM,
	.from = from,.nblocks = end - from};

	return range;
}

/*
 * The end of a piece of so many blocks, or of the segment it begins in.
 */
static BlockNumber
piece_end(BlockNumber from, BlockNumber nblocks, BlockNumber end)
{
	BlockNumber left = (BlockNumber) RELSEG_SIZE -
	from % (BlockNumber) RELSEG_SIZE;

	return from + Min(Min(nblocks, left), end - from);
}

/*
 * The state of a fork if its pages matter, or NULL.
 */
static TsaForkCache *
cache_of(TsaCopy *copy, TsaCopyFork *fork)
{
	if (fork->number != MAIN_FORKNUM || tsa_io_is_direct())
		return NULL;
	if (fork->cache == NULL)
		fork->cache = MemoryContextAllocZero(copy->cxt, sizeof(TsaForkCache));
	return fork->cache;
}

/*
 * Makes room to note any block before "end".
 */
static void
make_room(TsaCopy *copy, TsaBlockSet *set, BlockNumber end)
{
	size_t		nwords = tsa_block_set_words((uint64) end + end / 2);
	Size		size = nwords * sizeof(uint64);

	if (tsa_block_set_fits(set, end - 1))
		return;
	tsa_block_set_use(set, set->words ? repalloc_huge(set->words, size) :
					  MemoryContextAllocHuge(copy->cxt, size), nwords);
}

/*
 * See page_cache.h.
 */
void
tsa_cache_look(TsaCopy *copy, TsaCopyFork *fork, BlockNumber from,
			   BlockNumber end)
{
	TsaForkCache *cache = cache_of(copy, fork);
	BlockNumber ahead;

	if (cache == NULL)
		return;
	if (cache->looked_end < from)
		cache->looked_end = cache->source_end = cache->target_end = from;
	ahead = AHEAD_BLOCKS + (BlockNumber)
		(tsa_throttle_most_ahead(copy->throttle) / BLCKSZ);
	end = from + Min(end - from, ahead);
	if (cache->looked_end >= end)
		return;
	make_room(copy, &cache->cached, end);
	while (cache->looked_end < end)
	{
		BlockNumber at = cache->looked_end;
		BlockNumber until = piece_end(at, PIECE_BLOCKS, end);
		TsaBlockRange piece = range_of(fork->rel->source, at, until);
		bool		cached[PIECE_BLOCKS];

		(void) tsa_find_cached(&piece, cached);
		for (; at < until; at++)
			if (cached[at - piece.from])
				tsa_block_set_add(&cache->cached, at);
		cache->looked_end = until;
	}
}

/*
 * Drops blocks of a file, but for those that were cached of the original,
 * unless "all".  The kernel drops only whole folios: so a run begins with the
 * blocks dropped before, if there are such.
 */
static void
drop_range(const TsaForkCache *cache, RelFileLocator locator,
		   BlockNumber from, BlockNumber end, bool all)
{
	BlockNumber limit = from - Min(from, LARGEST_PAGES);
	BlockNumber at = from;

	while (at > limit && at % (BlockNumber) RELSEG_SIZE != 0 &&
		   (all || !tsa_block_set_has(&cache->cached, at - 1)))
		at--;
	while (at < end)
	{
		uint64		next = all ? TSA_NO_BLOCK :
		tsa_block_set_next(&cache->cached, at);
		BlockNumber until = piece_end(at, (BlockNumber) RELSEG_SIZE,
									  (BlockNumber) Min(next, end));

		if (until > at)
		{
			TsaBlockRange run = range_of(locator, at, until);

			tsa_drop_from_cache(&run);
			at = until;
		}
		else
			at++;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Is there unused memory for the blocks that were cached?
 */
static bool
has_memory(TsaForkCache *cache, BlockNumber block)
{
	if (block >= cache->memory_end)
	{
		cache->has_memory = tsa_free_memory("") >= SPARE_BYTES;
		cache->memory_end = block + SPARE_BLOCKS;
	}
	return cache->has_memory;
}

/*
 * Drops pages of the original that were read before block "read", and those of
 * the copy that were written, or read, before another.
 */
static void
drop_before(TsaForkCache *cache, TsaCopyFork *fork, BlockNumber read,
			BlockNumber written)
{
	if (read > cache->source_end)
	{
		drop_range(cache, fork->rel->source, cache->source_end, read, false);
		cache->source_end = read;
	}

	while (cache->target_end < written)
	{
		BlockNumber until = piece_end(cache->target_end, PIECE_BLOCKS,
									  written);
		TsaBlockRange piece = range_of(fork->rel->copy, cache->target_end,
									   until);

#ifdef HAVE_SYNC_FILE_RANGE
		tsa_write_back(&piece, SYNC_FILE_RANGE_WAIT_BEFORE |
					   SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
#endif
		drop_range(cache, piece.locator, cache->target_end, until,
				   !has_memory(cache, cache->target_end));
		cache->target_end = until;
	}
}

/*
 * See page_cache.h.
 */
void
tsa_cache_begin_again(TsaCopy *copy, TsaCopyFork *fork)
{
	TsaForkCache *cache = cache_of(copy, fork);

	if (cache != NULL)
		cache->looked_end = cache->source_end = cache->target_end =
			cache->memory_end = 0;
}

/*
 * See page_cache.h.
 */
void
tsa_cache_drop(TsaCopy *copy, TsaCopyFork *fork, BlockNumber read,
			   BlockNumber written)
{
	TsaForkCache *cache = cache_of(copy, fork);

	if (cache != NULL)
		drop_before(cache, fork, read, written - Min(written, BEHIND_BLOCKS));
}

/*
 * See page_cache.h.  Blocks that were copied again are dropped here, too.
 */
void
tsa_cache_end_passes(TsaCopy *copy)
{
	for (int i = 0; i < copy->nforks; i++)
	{
		TsaCopyFork *fork = &copy->forks[i];

		if (fork->cache == NULL)
			continue;
		drop_before(fork->cache, fork, fork->copied_end,
					fork->copied_end < WORTH_BLOCKS ? 0 : fork->copied_end);
		drop_range(fork->cache, fork->rel->copy, 0, fork->copied_end, false);
	}
}

/*
 * Reads those of a range's blocks that were cached of the original.  False if
 * the file is gone.
 */
static bool
load_range(const TsaForkCache *cache, RelFileLocator locator,
		   BlockNumber from, BlockNumber end)
{
	uint64		at = tsa_block_set_next(&cache->cached, from);

	while (at < end)
	{
		BlockNumber until = (BlockNumber) at + 1;
		TsaBlockRange run;

		while (until < end && tsa_block_set_has(&cache->cached, until))
			until++;
		run = range_of(locator, (BlockNumber) at, until);
		if (!tsa_load_into_cache(&run))
			return false;
		at = tsa_block_set_next(&cache->cached, until);
	}
	return true;
}

/*
 * Puts the copy in the place of the original in the cache.  False if the file
 * is gone, or the time is over.
 */
static bool
restore_fork(TsaCopy *copy, TsaCopyFork *fork, const instr_time *since)
{
	const TsaForkCache *cache = fork->cache;
	double		share = tsa_throttle_share(copy->throttle);

	for (BlockNumber from = 0; from < fork->copied_end;)
	{
		BlockNumber end = piece_end(from, RESTORE_BLOCKS, fork->copied_end);
		bool		there;
		instr_time	start;

		INSTR_TIME_SET_CURRENT(start);
		StartTransactionCommand();
		drop_range(cache, fork->rel->source, from, end, true);
		drop_range(cache, fork->rel->copy, from, end, false);
		there = load_range(cache, fork->rel->copy, from, end);
		CommitTransactionCommand();
		if (!there || QueryCancelPending ||
			tsa_ms_since(since) > RELOAD_S * 1000)
			return false;
		tsa_sleep(tsa_ms_since(&start) * (1 / share - 1));
		from = end;
	}
	return true;
}

/*
 * See page_cache.h.  The move is done; a request to cancel ends the rest of
 * this.
 */
void
tsa_cache_restore(TsaCopy *copy)
{
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	HOLD_CANCEL_INTERRUPTS();
	for (int i = 0; i < copy->nforks; i++)
		if (copy->forks[i].cache != NULL &&
			!restore_fork(copy, &copy->forks[i], &start))
			break;
	RESUME_CANCEL_INTERRUPTS();
}
