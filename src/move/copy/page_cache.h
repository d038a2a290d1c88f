/*-------------------------------------------------------------------------
 *
 * page_cache.h
 *	  A copy leaves the system's cache as it was.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_PAGE_CACHE_H
#define TSA_PAGE_CACHE_H

#include "move/copy/copy.h"

/* [T] Before blocks of a fork are read, from "from" on, up to "end" at most. */
extern void tsa_cache_look(TsaCopy *copy, TsaCopyFork *fork, BlockNumber from,
						   BlockNumber end);

/*
 * [T] After the blocks of the original before "read" have been read, and those
 * of the copy before "written" read or handed to the kernel for writing.
 */
extern void tsa_cache_drop(TsaCopy *copy, TsaCopyFork *fork, BlockNumber read,
						   BlockNumber written);

/* A fork is read from its beginning once more. */
extern void tsa_cache_begin_again(TsaCopy *copy, TsaCopyFork *fork);

/* [T] When the passes are over. */
extern void tsa_cache_end_passes(TsaCopy *copy);

/* After the cutover, outside any transaction, before the old files go. */
extern void tsa_cache_restore(TsaCopy *copy);

#endif							/* TSA_PAGE_CACHE_H */
