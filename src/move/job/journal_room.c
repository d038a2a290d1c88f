/*-------------------------------------------------------------------------
 *
 * journal_room.c
 *	  Room on the journal's pages for new versions of their rows.
 *
 * A job's row has two updates before its cutover: the claim, and the names of
 * the new storage.  The old versions are removed when the page is pruned, which
 * happens as soon as less than a tenth of it is free.  The WAL record of that
 * cancels, on standbys, all queries of the database that are older than the
 * removed versions.  So a new row goes to a page of which three quarters are
 * free: about four rows and two more versions of each fit there.  After a
 * cutover the page may be pruned at any time.  So may the pages of pg_class,
 * which a cutover updates like any ALTER.
 *
 * An insertion tries first the page that the relation's smgr entry names, which
 * is kept for the transaction at least.  That page is set here: the one of the
 * last insertion, one that the free space map knows, the last one, or a new
 * one, in this order.  A new page is left zeroed, as bulk extension leaves it:
 * the insertion initializes it and logs that, and if it never comes, VACUUM
 * does.  Another session may insert into the same page meanwhile; then there is
 * a little less room.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "move/job/journal_room.h"
#include "state/state.h"

#define ROOM	(BLCKSZ / 4 * 3)

/*
 * Bytes that are free on a page.
 */
static Size
free_on_page(Relation rel, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(rel, block);
	Page		page = BufferGetPage(buffer);
	Size		bytes;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	bytes = PageIsNew(page) ? BLCKSZ : PageGetHeapFreeSpace(page);
	UnlockReleaseBuffer(buffer);
	return bytes;
}

/*
 * A page with room that is there already; InvalidBlockNumber if none is known.
 */
static BlockNumber
find_page(Relation rel)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber block = RelationGetTargetBlock(rel);

	if (block != InvalidBlockNumber && block < nblocks &&
		free_on_page(rel, block) >= ROOM)
		return block;

	block = GetPageWithFreeSpace(rel, ROOM);
	while (block != InvalidBlockNumber && block < nblocks)
	{
		Size		bytes = free_on_page(rel, block);

		if (bytes >= ROOM)
			return block;
		CHECK_FOR_INTERRUPTS();
		block = RecordAndGetPageWithFreeSpace(rel, block, bytes, ROOM);
	}
	return nblocks > 0 && free_on_page(rel, nblocks - 1) >= ROOM ?
		nblocks - 1 : InvalidBlockNumber;
}

/*
 * Extends the relation by an empty page, and returns its number.
 */
static BlockNumber
add_page(Relation rel)
{
	Buffer		buffer;
	BlockNumber block;

	LockRelationForExtension(rel, ExclusiveLock);
	buffer = ReadBufferExtended(rel, MAIN_FORKNUM, P_NEW, RBM_ZERO_AND_LOCK,
								NULL);
	block = BufferGetBlockNumber(buffer);
	UnlockReleaseBuffer(buffer);
	UnlockRelationForExtension(rel, ExclusiveLock);
	return block;
}

/*
 * Makes the next row inserted into the journal go to a page with room.
 */
void
tsa_make_journal_room(void)
{
	Relation	rel = table_open(tsa_state_table("job"), RowExclusiveLock);
	BlockNumber block = find_page(rel);

	if (block == InvalidBlockNumber)
		block = add_page(rel);
	RelationSetTargetBlock(rel, block);
	table_close(rel, NoLock);
}
