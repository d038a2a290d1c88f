/*-------------------------------------------------------------------------
 *
 * kernel_io.h
 *	  What a copy asks of the kernel: to read ahead, and to write back.
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
}			TsaBlockRange;

/*
 * [T] Asks the kernel to read what is not in shared buffers of these blocks,
 * all of one segment, and waits until the last of them is there: what the
 * device does for us is to be over when the copy goes to sleep.  Nothing
 * depends on it.
 */
extern void tsa_ask_for(RelFileLocator locator, ForkNumber fork,
						BlockNumber from, BlockNumber end,
						BlockNumber at_once);

/*
 * [T] Asks the kernel to write blocks, or waits until it has; all are of one
 * segment or the rest is left out.  flags: of sync_file_range().
 */
extern void tsa_write_back(const TsaBlockRange * range, unsigned int flags);

#endif							/* TSA_KERNEL_IO_H */
