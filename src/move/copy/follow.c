/*-------------------------------------------------------------------------
 *
 * follow.c
 *	  The blocks left to copy: blocks that the write-ahead log names and blocks
 *	  behind the end of the copy.
 *
 * Visibility map.  A record that sets bits names the block of the map.  One
 * that clears bits need not (recent minor releases of 17 and 18 do it): it
 * names the heap block, and the process that inserts it has cleared the bits
 * before, with the heap block's lock held.  So for every heap block that a
 * record names, the block of the map that covers it is copied again.  By the
 * rule of live_copy.c the copy then has every bit that was cleared by a record
 * we have read.  The map itself grows without being logged, by blocks that are
 * empty; they are copied by position, as all new blocks are.
 *
 * VACUUM also clears bits without a record, with a warning, where it finds the
 * map corrupt.  A crash may bring such a bit back, and so may we; that it is
 * less likely, the whole map, which is small, is copied again late.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/visibilitymapdefs.h"
#include "access/xlogreader.h"
#include "catalog/storage_xlog.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "move/copy/copy.h"

/* Heap blocks for each block of the map, as in visibilitymap.c. */
#define HEAP_BLOCKS_PER_MAP_BLOCK \
	((BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * \
	 (BITS_PER_BYTE / BITS_PER_HEAPBLOCK))

/* So often a copy starts over for want of WAL. */
#define MAX_RESTARTS	100

/*
 * Blocks that a fork has now; it need not exist.  In a pass.
 */
BlockNumber
tsa_copy_source_size(const TsaCopyFork *fork)
{
	SMgrRelation smgr = RelationGetSmgr(fork->rel->rel);

	if (fork->number != MAIN_FORKNUM && !smgrexists(smgr, fork->number))
		return 0;
	return smgrnblocks(smgr, fork->number);
}

/*
 * The relation of ours that has this storage, or NULL.
 */
static TsaCopyRel *
find_rel(TsaCopy *copy, RelFileLocator locator)
{
	for (int i = 0; i < copy->nrels; i++)
		if (RelFileLocatorEquals(locator, copy->rels[i].source))
			return &copy->rels[i];
	return NULL;
}

/*
 * Notes a changed block, if it has been copied already.
 */
static void
note_block(TsaCopyFork *fork, BlockNumber block)
{
	if (fork != NULL && block < fork->copied_end)
		tsa_block_set_add(&fork->changed, block);
}

/*
 * Makes room to note any block that has been copied, and half as many again.
 */
static void
make_room(TsaCopy *copy, TsaCopyFork *fork)
{
	size_t		nwords;
	Size		size;
	uint64	   *words;

	if (fork->copied_end == 0 ||
		tsa_block_set_fits(&fork->changed, fork->copied_end - 1))
		return;
	nwords = tsa_block_set_words((uint64) fork->copied_end +
								 fork->copied_end / 2 + 1024);
	size = nwords * sizeof(uint64);
	words = fork->changed.words ?
		repalloc_huge(fork->changed.words, size) :
		MemoryContextAllocHuge(copy->cxt, size);
	tsa_block_set_use(&fork->changed, words, nwords);
}

/*
 * Notes all blocks of the visibility maps.
 */
void
tsa_copy_note_maps(TsaCopy *copy)
{
	for (int i = 0; i < copy->nrels; i++)
	{
		TsaCopyFork *vm = copy->rels[i].vm;

		if (vm == NULL)
			continue;
		make_room(copy, vm);
		for (BlockNumber b = 0; b < vm->copied_end; b++)
			note_block(vm, b);
	}
}

/*
 * Notes the blocks that a record names, and the truncation of a file, which
 * names none.
 */
static void
note_record(XLogReaderState *record, void *arg)
{
	TsaCopy    *copy = arg;

	if (XLogRecGetRmid(record) == RM_SMGR_ID &&
		(XLogRecGetInfo(record) & ~XLR_INFO_MASK) == XLOG_SMGR_TRUNCATE)
	{
		xl_smgr_truncate *truncation =
		(xl_smgr_truncate *) XLogRecGetData(record);

		if (find_rel(copy, tsa_truncated_locator(truncation)) != NULL)
			tsa_set_copy_state(&copy->state, TSA_COPY_REWRITTEN);
	}

	for (int id = 0; id <= XLogRecMaxBlockId(record); id++)
	{
		RelFileLocator locator;
		ForkNumber	fork;
		BlockNumber block;
		TsaCopyRel *rel;

		if (!XLogRecGetBlockTagExtended(record, id, &locator, &fork, &block,
										NULL) ||
			(rel = find_rel(copy, locator)) == NULL)
			continue;
		if (fork == MAIN_FORKNUM)
		{
			note_block(rel->main, block);
			note_block(rel->vm, block / HEAP_BLOCKS_PER_MAP_BLOCK);
		}
		else if (fork == VISIBILITYMAP_FORKNUM)
			note_block(rel->vm, block);
	}
}

/*
 * Reads the WAL to its present end and notes the changed blocks.  If a part of
 * it is gone, nothing of the copy counts any more.
 */
TsaFollowed
tsa_copy_follow(TsaCopy *copy)
{
	for (int i = 0; i < copy->nforks; i++)
		make_room(copy, &copy->forks[i]);
	tsa_wal_tail_follow(copy->tail, note_record, copy);
	if (copy->state == TSA_COPY_REWRITTEN)
		return TSA_FOLLOWED_REWRITTEN;
	return tsa_wal_tail_lost(copy->tail) ? TSA_FOLLOWED_LOST : TSA_FOLLOWED;
}

/*
 * Blocks that differ from the copy, as far as is known: those named by the WAL,
 * those behind its end and those that have still to be compared.
 */
uint64
tsa_copy_left(const TsaCopy *copy)
{
	uint64		left = 0;

	for (int i = 0; i < copy->nforks; i++)
	{
		const TsaCopyFork *fork = &copy->forks[i];
		BlockNumber end = tsa_copy_source_size(fork);

		left += fork->changed.count +
			(end > fork->copied_end ? end - fork->copied_end : 0);
	}
	return left + tsa_copy_uncompared(copy);
}

/*
 * Blocks of all forks that are in the copy and have still to be compared.
 */
uint64
tsa_copy_uncompared(const TsaCopy *copy)
{
	uint64		blocks = 0;

	for (int i = 0; i < copy->nforks; i++)
		blocks += copy->forks[i].trusted_end - copy->forks[i].compared;
	return blocks;
}

/*
 * As many bytes could be copied in the time that it takes to compare what has
 * still to be.
 */
int64
tsa_copy_bytes_to_compare(const TsaCopy *copy)
{
	return (int64) tsa_copy_uncompared(copy) * BLCKSZ / TSA_VALID_PER_COPIED;
}

/*
 * Bytes that the forks have now.
 */
int64
tsa_copy_source_bytes(const TsaCopy *copy)
{
	int64		blocks = 0;

	for (int i = 0; i < copy->nforks; i++)
		blocks += tsa_copy_source_size(&copy->forks[i]);
	return blocks * BLCKSZ;
}

/*
 * Bytes of all forks that have been copied, by an interrupted copy, too.
 */
int64
tsa_copy_done_bytes(const TsaCopy *copy)
{
	int64		blocks = 0;

	for (int i = 0; i < copy->nforks; i++)
		blocks += copy->forks[i].copied_end;
	return blocks * BLCKSZ;
}

/*
 * Has a file been truncated, or is it shorter than its copy?
 */
bool
tsa_copy_was_truncated(TsaCopy *copy)
{
	for (int i = 0; i < copy->nforks; i++)
		if (tsa_copy_source_size(&copy->forks[i]) <
			Max(copy->forks[i].written_end, copy->forks[i].copied_end))
			tsa_set_copy_state(&copy->state, TSA_COPY_REWRITTEN);
	return copy->state == TSA_COPY_REWRITTEN;
}

/*
 * Starts over in the storage that the copy has, because a part of the WAL was
 * gone before we had read it: all that is in the copy is to be compared.
 */
void
tsa_copy_start_over(TsaCopy *copy)
{
	if (++copy->progress.restarts > MAX_RESTARTS)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("write-ahead log was removed before it could be read, %d times",
						copy->progress.restarts),
				 errdetail("Checkpoints remove segments faster than the copy can follow."),
				 errhint("Raise \"max_wal_size\" or \"wal_keep_size\", and use retry_move().")));
	ereport(LOG,
			(errmsg("live copy of %s \"%s\" starts over because a write-ahead log segment that it needs has been removed",
					OidIsValid(copy->rels[0].heapid) ? "index" : "table",
					RelationGetRelationName(copy->rels[0].rel))));
	tsa_wal_tail_restart(copy->tail);
	for (int i = 0; i < copy->nforks; i++)
		tsa_block_set_clear(&copy->forks[i].changed);
	copy->has_passed = false;
}
