/*-------------------------------------------------------------------------
 *
 * btree_blocks.h
 *	  The table's blocks that consecutive entries of a B-tree lead to.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BTREE_BLOCKS_H
#define TSA_BTREE_BLOCKS_H

#include "access/itup.h"
#include "datatype/timestamp.h"
#include "storage/bufmgr.h"
#include "utils/relcache.h"

typedef struct TsaBtreeReader
{
	Relation	index;
	BufferAccessStrategy strategy;
	uint32	   *blocks;			/* in the order of the index */
	uint32		nblocks;
	uint32		most;
	int64		leaf_pages;		/* with entries that were copied */

	/* in all reads, where an entry has another key than the one before */
	int64		entries;
	int64		keys;
	IndexTuple	last;			/* its header and key; room for any */
	Size		last_size;		/* of that; 0: none was read yet */

	/* in all reads, steps from a leaf page to the next, and those in order */
	int64		leaf_steps;
	int64		leaf_steps_in_order;

	int64		pages_read;
	TimestampTz started_at;
} TsaBtreeReader;

extern void tsa_init_btree_reader(TsaBtreeReader *reader, Relation index,
								  uint32 most);
extern bool tsa_btree_read(TsaBtreeReader *reader, bool leftmost);

#endif							/* TSA_BTREE_BLOCKS_H */
