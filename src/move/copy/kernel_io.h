/*-------------------------------------------------------------------------
 *
 * kernel_io.h
 *	  Requests of a copy to the kernel: to read ahead, to write back, and to
 *	  keep or to drop pages of its cache.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_KERNEL_IO_H
#define TSA_KERNEL_IO_H

#include "postgres.h"

#include "storage/block.h"

#include "compat.h"

/* Blocks of a fork. */
typedef struct TsaBlockRange
{
	RelFileLocator locator;
	ForkNumber	fork;
	BlockNumber from;
	BlockNumber nblocks;
} TsaBlockRange;

/*
 * [T] Asks the kernel to read those of these blocks, all of one segment, that
 * are not in shared buffers, and waits until the last of them is there: the
 * device's work for us is to be over when the copy goes to sleep.  Nothing
 * depends on it.
 */
extern void tsa_ask_for(RelFileLocator locator, ForkNumber fork,
						BlockNumber from, BlockNumber end,
						BlockNumber at_once);

/*
 * [T] Asks the kernel to write blocks, or waits until it has; all are of one
 * segment or the rest is left out.  flags: of sync_file_range().
 */
extern void tsa_write_back(const TsaBlockRange *range, unsigned int flags);

/*
 * [T] Which blocks of a range, all of one segment, have a page in the system's
 * cache.  False if the system does not say.
 */
extern bool tsa_find_cached(const TsaBlockRange *range, bool *cached);

/*
 * [T] Asks the kernel to drop the pages of blocks from its cache, as far as the
 * first segment reaches.  Dirty pages stay, and begin to be written.
 */
extern void tsa_drop_from_cache(const TsaBlockRange *range);

/*
 * [T] Asks the kernel to read blocks, all of one segment or the rest is left
 * out, into its cache, and waits until the last of them is there.  False if
 * the file is gone.
 */
extern bool tsa_load_into_cache(const TsaBlockRange *range);

#endif							/* TSA_KERNEL_IO_H */
