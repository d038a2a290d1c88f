/*-------------------------------------------------------------------------
 *
 * btree_blocks.h
 *	  The table's blocks that consecutive entries of a B-tree lead to.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BTREE_BLOCKS_H
#define TSA_BTREE_BLOCKS_H

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
	int64		leaf_pages;		/* whose entries were copied */
	int64		pages_read;
	TimestampTz started_at;
} TsaBtreeReader;

extern void tsa_init_btree_reader(TsaBtreeReader *reader, Relation index,
								  uint32 most);
extern bool tsa_btree_read(TsaBtreeReader *reader, bool leftmost);

#endif							/* TSA_BTREE_BLOCKS_H */
