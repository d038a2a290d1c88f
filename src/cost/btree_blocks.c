/*-------------------------------------------------------------------------
 *
 * btree_blocks.c
 *	  The table's blocks that consecutive entries of a B-tree lead to.
 *
 * Leaf pages are read one by one through shared buffers, with the ring of a
 * bulk read, and followed to the right.  A page is locked shared while its
 * entries are copied, and pinned no longer.  Nothing is compared and no
 * function of an operator class runs, so any class will do.  A page that
 * splits meanwhile makes some entries be seen twice or not at all, some
 * hundred among many thousands.
 *
 * tablespace_advisor.probe_max_iops limits the pages read per second.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "cost/btree_blocks.h"
#include "cost/locality.h"
#include "probe/run.h"
#include "probe/target.h"

/* tries to hit upon a leaf page */
#define MAX_TRIES	1000

/* Wait until the next page may be read. */
static void
limit_rate(TsaBtreeReader *reader)
{
	int64		due;
	int64		spent;

	reader->pages_read++;
	if (tsa_probe_max_iops <= 0)
		return;
	due = reader->pages_read * USECS_PER_SEC / tsa_probe_max_iops;
	spent = GetCurrentTimestamp() - reader->started_at;
	if (due - spent >= 1000)
		tsa_probe_sleep((long) ((due - spent) / 1000));
}

/*
 * Count an entry's key unless it is the last one's, byte by byte, and remember
 * it.
 */
static void
count_key(TsaBtreeReader *reader, IndexTuple entry)
{
	const Size	header = sizeof(IndexTupleData);
	Size		size = BTreeTupleIsPosting(entry) ?
	BTreeTupleGetPostingOffset(entry) : IndexTupleSize(entry);

	size = Min(Max(size, header), IndexTupleSize(entry));
	if (size == reader->last_size &&
		IndexTupleHasNulls(entry) == IndexTupleHasNulls(reader->last) &&
		memcmp((char *) entry + header, (char *) reader->last + header,
			   size - header) == 0)
		return;
	reader->keys++;
	memcpy(reader->last, entry, size);
	reader->last_size = size;
}

/* Copy the block numbers of one entry. */
static void
copy_entry(TsaBtreeReader *reader, IndexTuple entry)
{
	int			n = 1;
	ItemPointer tids = &entry->t_tid;
	int			i;

	if (BTreeTupleIsPosting(entry))
	{
		n = BTreeTupleGetNPosting(entry);
		tids = BTreeTupleGetPosting(entry);
	}
	for (i = 0; i < n && reader->nblocks < reader->most; i++)
		reader->blocks[reader->nblocks++] =
			ItemPointerGetBlockNumberNoCheck(&tids[i]);
	if (i > 0)
		count_key(reader, entry);
	reader->entries += i;
}

/*
 * Copy the block numbers of a leaf page.  Returns the page to the right, or
 * P_NONE; InvalidBlockNumber if this is no leaf page.
 */
static BlockNumber
copy_page(TsaBtreeReader *reader, BlockNumber number)
{
	Buffer		buffer;
	Page		page;
	BTPageOpaque opaque;
	BlockNumber next = InvalidBlockNumber;

	CHECK_FOR_INTERRUPTS();
	limit_rate(reader);
	buffer = ReadBufferExtended(reader->index, MAIN_FORKNUM, number,
								RBM_NORMAL, reader->strategy);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	if (!PageIsNew(page) &&
		PageGetSpecialSize(page) == MAXALIGN(sizeof(BTPageOpaqueData)))
	{
		opaque = BTPageGetOpaque(page);
		if (P_ISLEAF(opaque))
		{
			OffsetNumber offset;
			OffsetNumber last = PageGetMaxOffsetNumber(page);

			next = opaque->btpo_next;
			for (offset = P_FIRSTDATAKEY(opaque);
				 offset <= last && !P_IGNORE(opaque); offset++)
			{
				ItemId		item = PageGetItemId(page, offset);

				if (!ItemIdIsDead(item))
					copy_entry(reader, (IndexTuple) PageGetItem(page, item));
			}
			reader->leaf_pages++;
		}
	}
	UnlockReleaseBuffer(buffer);
	return next;
}

/* The leftmost leaf page, or any one. */
static BlockNumber
find_leaf(TsaBtreeReader *reader, bool leftmost)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(reader->index);
	int			tries;

	if (leftmost)
	{
		Buffer		buffer = tsa_bt_get_endpoint(reader->index);
		BlockNumber number;

		if (!BufferIsValid(buffer))
			return InvalidBlockNumber;
		number = BufferGetBlockNumber(buffer);
		UnlockReleaseBuffer(buffer);
		return number;
	}
	for (tries = 0; tries < MAX_TRIES && blocks > 1; tries++)
	{
		BlockNumber number = 1 + (BlockNumber)
		pg_prng_uint64_range(&pg_global_prng_state, 0, blocks - 2);
		TsaBtreeReader before = *reader;

		if (copy_page(reader, number) != InvalidBlockNumber)
		{
			before.pages_read = reader->pages_read;
			*reader = before;
			reader->last_size = 0;
			return number;
		}
	}
	return InvalidBlockNumber;
}

/* Prepare to read an index; the caller holds the lock. */
void
tsa_init_btree_reader(TsaBtreeReader *reader, Relation index, uint32 most)
{
	memset(reader, 0, sizeof(*reader));
	reader->index = index;
	reader->most = most;
	reader->blocks = palloc_extended(most * sizeof(uint32), MCXT_ALLOC_HUGE);
	reader->last = palloc(BLCKSZ);
	reader->strategy = GetAccessStrategy(BAS_BULKREAD);
	reader->started_at = GetCurrentTimestamp();
}

/*
 * Count the step from a leaf page to the next.  It is in order if the next one
 * follows, but for a page above the leaves that lies between.
 */
static void
count_leaf_step(TsaBtreeReader *reader, BlockNumber from, BlockNumber to)
{
	if (to == P_NONE || to == InvalidBlockNumber)
		return;
	reader->leaf_steps++;
	if (to > from && to - from <= TSA_NEAR_BLOCKS)
		reader->leaf_steps_in_order++;
}

/*
 * Read entries into reader->blocks until it is full or the index ends: from
 * its left end, or from a leaf page chosen at random.  Returns whether the
 * end was reached.
 */
bool
tsa_btree_read(TsaBtreeReader *reader, bool leftmost)
{
	BlockNumber number = find_leaf(reader, leftmost);

	reader->nblocks = 0;
	while (number != P_NONE && number != InvalidBlockNumber)
	{
		BlockNumber next;

		if (reader->nblocks >= reader->most)
			return false;
		next = copy_page(reader, number);
		count_leaf_step(reader, number, next);
		number = next;
	}
	return true;
}
