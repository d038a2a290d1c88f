/*-------------------------------------------------------------------------
 *
 * shorten.h
 *	  Files that a move has left, before they are dropped.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_SHORTEN_H
#define TSA_SHORTEN_H

#include "postgres.h"

#include "compat.h"

extern void tsa_cut_storage(RelFileLocator locator, BlockNumber nblocks,
							BlockNumber left);
extern void tsa_cut_kept_copy(RelFileLocator locator, BlockNumber left);
extern bool tsa_shorten_storage(const RelFileLocator *storage, int n,
								bool suspect);

#endif							/* TSA_SHORTEN_H */
