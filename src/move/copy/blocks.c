/*-------------------------------------------------------------------------
 *
 * blocks.c
 *	  Copies blocks of a relation that is in use to its new storage.
 *
 * Reading.  A block is read through shared buffers (the file may be behind)
 * and copied under the buffer's share lock.  Whoever changes a page holds the
 * exclusive lock from before the change until after the WAL insert, so the
 * image in hand contains every change that was logged before the lock was
 * granted.  Hint bits may be set under a share lock while we copy; the
 * checksum is computed on our own copy, and a lost hint is what a crash loses
 * too.  New blocks are read many at a time where the server can, and pinned
 * until they are copied: a pin says nothing about a page's contents.  It does
 * keep VACUUM from a page, so no more than a batch is pinned, and nothing
 * sleeps meanwhile; after an error the end of the transaction releases pins.
 *
 * A damaged page is an error, also where shared buffers have zeros in its
 * place (state/damage.c).  The free space map and the visibility map are read
 * as the server reads them: what cannot be read counts as zeros.
 *
 * Writing.  The new storage is invisible to everybody until the cutover
 * commits, so no buffer of it exists and its pages are written past the
 * buffers.  Each batch is logged as full page images, which is what brings
 * the pages to standbys and through crash recovery, and is written when its
 * record is flushed, see write_queue.c.  Nothing is synced here: nobody waits
 * for a sync, in the window or before it; the next checkpoint has all that was
 * written before it on the device, which is what a snapshot of the devices
 * relies on, too; and when a copy is dropped the server forgets what was
 * registered.
 *
 * Starting over.  If a part of the WAL was lost, the copy goes on where it is,
 * with the WAL from that moment on, and then compares the blocks that were in
 * the new storage by then.  These are images that were logged, and most of them
 * are still right: such a page is read back from the file, and if it counts it
 * is neither logged nor written (resume.c).  So a copy that starts over again
 * and again writes WAL for changed pages only, and gets to its end.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"

#include "compat.h"
#include "move/common/stop_point.h"
#include "move/copy/copy.h"
#include "move/copy/page_cache.h"
#include "state/damage.h"

/* Blocks after which the kernel is asked to begin writing. */
#define WRITEBACK_BLOCKS 128

/* A batch for a fork that is followed. */
static TsaPageBatch
batch_for(TsaCopyFork *fork)
{
	TsaPageBatch batch = {0};

	batch.rel = fork->rel;
	batch.fork = fork->number;
	batch.written_end = &fork->written_end;
	return batch;
}

/* The new storage of a relation. */
static SMgrRelation
target_of(const TsaCopyRel *rel)
{
	return smgropen(rel->copy, INVALID_PROC_NUMBER);
}

/*
 * Copies a block from its buffer, which is pinned, to the batch.
 */
static void
batch_take(TsaCopy *copy, TsaPageBatch *batch, BlockNumber block, Buffer buffer)
{
	char	   *page = tsa_write_queue_page(copy->queue, batch->n);

	Assert(BufferGetBlockNumber(buffer) == block);
	if (batch->fork == MAIN_FORKNUM)
		tsa_copy_intact_page(batch->rel->rel, block, buffer, page);
	else
		tsa_copy_map_page(batch->rel->rel, batch->fork, block, buffer, page);
	ReleaseBuffer(buffer);

	batch->blocks[batch->n] = block;
	batch->pages[batch->n] = (Page) page;
	batch->n++;
}

/*
 * Copies blocks that follow each other to the batch: many at a time where the
 * server can, but for maps, of which what cannot be read is zeros.
 */
static void
batch_read_blocks(TsaCopy *copy, TsaPageBatch *batch, BlockNumber from,
				  BlockNumber end)
{
	ReadBufferMode mode = batch->fork == MAIN_FORKNUM ?
	RBM_NORMAL : RBM_ZERO_ON_ERROR;

	while (from < end)
	{
		Buffer		buffers[TSA_COPY_BATCH];
		int			n = 1;

		if (batch->fork == MAIN_FORKNUM && end - from > 1)
			n = tsa_read_run(batch->rel->rel, copy->strategy, from,
							 (int) (end - from), buffers);
		else
			buffers[0] = ReadBufferExtended(batch->rel->rel, batch->fork, from,
											mode, copy->strategy);
		for (int i = 0; i < n; i++)
			batch_take(copy, batch, from++, buffers[i]);
	}
}

/*
 * The same; a block that cannot be read is an error that says what to do.
 */
static void
batch_read_run(TsaCopy *copy, TsaPageBatch *batch, BlockNumber from,
			   BlockNumber end)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		batch_read_blocks(copy, batch, from, end);
	}
	PG_CATCH();
	{
		tsa_rethrow_damage(batch->rel->rel, batch->fork, context);
	}
	PG_END_TRY();
}

/*
 * Copies a block from shared buffers to the batch.
 */
static void
batch_read(TsaCopy *copy, TsaPageBatch *batch, BlockNumber block)
{
	batch_read_run(copy, batch, block, block + 1);
}

/*
 * Accounts for blocks that were copied, and others that had only to be read,
 * and gives others a chance: interrupts, rate, waiters, a new transaction.
 * False if the move has to start over.
 *
 * What is not written and not logged costs others less.
 */
static bool
after_batch(TsaCopy *copy, int ncopied, int nvalid)
{
	uint64		bytes = (uint64) ncopied * BLCKSZ +
	(uint64) nvalid * BLCKSZ / TSA_VALID_PER_COPIED;

	copy->bytes += bytes;
	CHECK_FOR_INTERRUPTS();
	return tsa_copy_delay_point(copy, bytes);
}

/*
 * Fills a batch with blocks that follow each other, and says how long that
 * took.
 */
static void
read_run(TsaCopy *copy, TsaPageBatch *batch, BlockNumber from, BlockNumber end)
{
	instr_time	start;
	instr_time	read;

	INSTR_TIME_SET_CURRENT(start);
	batch_read_run(copy, batch, from, from + Min(end - from, TSA_COPY_BATCH));
	INSTR_TIME_SET_CURRENT(read);
	tsa_throttle_note_read(copy->throttle, tsa_ms_between(&start, &read));
}

/*
 * Copies the blocks from copied_end to the present end of a fork: all of it in
 * the first pass, later the blocks that were added.  False if the move has to
 * start with new storage.
 */
bool
tsa_copy_new_blocks(TsaCopy *copy, TsaCopyFork *fork)
{
	BlockNumber end = tsa_copy_source_size(fork);
	BlockNumber flushed = fork->copied_end;
	TsaPageBatch batch = batch_for(fork);

	batch.is_bulk = true;
	while (fork->copied_end < end)
	{
		BlockNumber written;
		int			n;

		tsa_cache_look(copy, fork, fork->copied_end, end);
		tsa_throttle_read_ahead(copy->throttle, fork->rel->rel, fork->number,
								fork->copied_end, end);
		read_run(copy, &batch, fork->copied_end, end);
		n = batch.n;
		tsa_copy_count_again(copy, fork, &batch);
		tsa_copy_write(copy, &batch);
		fork->copied_end += n;
		tsa_stop_point("blocks logged");

		written = tsa_copy_unwritten(copy, fork);
		if (written >= flushed + WRITEBACK_BLOCKS)
		{
			smgrwriteback(target_of(fork->rel), fork->number, flushed,
						  written - flushed);
			flushed = written;
			tsa_cache_drop(copy, fork, fork->copied_end, written);
		}
		if (!after_batch(copy, n, 0))
			return false;
	}
	return true;
}

/*
 * Compares a batch of n blocks with the original, and copies those again that
 * do not count (resume.c).  "kept": the same blocks of the copy, read before.
 * Returns how many were copied.
 *
 * Each leaves the set of changed blocks before it is read, as in any pass.
 */
static int
compare_batch(TsaCopy *copy, TsaCopyFork *fork, BlockNumber from, int n,
			  char *kept)
{
	TsaPageBatch batch = batch_for(fork);
	int			ncopied;

	for (int i = 0; i < n; i++)
		tsa_block_set_remove(&fork->changed, from + i);
	read_run(copy, &batch, from, from + n);
	tsa_copy_leave_out_valid(copy, fork, &batch, kept);
	ncopied = batch.n;
	if (batch.n > 0)
		tsa_copy_write(copy, &batch);
	fork->compared += n;
	copy->progress.bytes_compared += (int64) n * BLCKSZ;
	copy->unmarked_compared += (int64) n * BLCKSZ;
	return ncopied;
}

/*
 * Reads a run of n blocks of the copy, which are to be compared.  Returns how
 * many: fewer, but a batch at least, if a session waits for us.
 */
static int
read_kept_run(TsaCopy *copy, const TsaCopyFork *fork, BlockNumber from, int n)
{
	int			done = 0;

	do
	{
		int			batch = Min(n - done, TSA_COPY_BATCH);

		tsa_copy_read_kept(copy, fork, from + done, batch, done);
		done += batch;
		tsa_stop_point("kept pages read");
	} while (done < n && !tsa_copy_is_waited_for(copy));
	return done;
}

/*
 * Compares a run of blocks, at most so many.  Returns how many there were, and
 * in *ncopied how many were copied.
 *
 * Those of the copy are read in one go, for the sake of disks that seek.  They
 * do not change before they are compared: only the write queue writes the copy,
 * and it has nothing but blocks that were compared before.  So there is no
 * delay point in a run, and it ends when as much as a batch has been copied, or
 * a session waits for us: on a slow device it would wait for all of the run.
 */
static int
compare_run(TsaCopy *copy, TsaCopyFork *fork, BlockNumber from,
			BlockNumber most, int *ncopied)
{
	BlockNumber left = (BlockNumber) RELSEG_SIZE -
	from % (BlockNumber) RELSEG_SIZE;
	int			n = (int) Min(Min(most, left), TSA_COMPARED_RUN);
	int			done = 0;

	n = read_kept_run(copy, fork, from, n);
	*ncopied = 0;
	do
	{
		int			batch = Min(n - done, TSA_COPY_BATCH);

		*ncopied += compare_batch(copy, fork, from + done, batch,
								  copy->compared + (Size) done * BLCKSZ);
		done += batch;
	} while (done < n && *ncopied < TSA_COPY_BATCH &&
			 !tsa_copy_is_waited_for(copy));
	return done;
}

/*
 * Compares those blocks of the copy of a fork that may have changed unseen,
 * until so many have been compared: from compare_from to trusted_end, and then
 * from the first one on.  The write queue is empty when this begins: blocks are
 * read from the file.  False if the move has to start with new storage.
 */
bool
tsa_copy_compare_blocks(TsaCopy *copy, TsaCopyFork *fork, BlockNumber most)
{
	while (fork->compared < most)
	{
		BlockNumber tail = fork->trusted_end - fork->compare_from;
		bool		is_round = fork->compared >= tail;
		BlockNumber from = is_round ? fork->compared - tail :
		fork->compare_from + fork->compared;
		BlockNumber end = is_round ? fork->compare_from : fork->trusted_end;
		int			n;
		int			ncopied;

		if (fork->compared == 0 || from == 0)
			tsa_cache_begin_again(copy, fork);
		tsa_cache_look(copy, fork, from, end);
		tsa_throttle_read_ahead(copy->throttle, fork->rel->rel, fork->number,
								from, end);
		n = compare_run(copy, fork, from, end - from, &ncopied);
		tsa_stop_point("compared");
		from += n;
		if (from % WRITEBACK_BLOCKS < (BlockNumber) n || from == end)
			tsa_cache_drop(copy, fork, from, from);
		if (!after_batch(copy, ncopied, n - ncopied))
			return false;
	}
	return true;
}

/*
 * Copies the changed blocks below copied_end again.  Each leaves the set
 * before it is read: a change that comes later is found in the WAL later.
 * False if the move has to start with new storage.
 */
bool
tsa_copy_changed_blocks(TsaCopy *copy, TsaCopyFork *fork)
{
	TsaPageBatch batch = batch_for(fork);
	uint64		block;

	for (block = tsa_block_set_next(&fork->changed, 0);
		 block != TSA_NO_BLOCK && block < fork->copied_end;)
	{
		int			n;

		while (batch.n < TSA_COPY_BATCH &&
			   block != TSA_NO_BLOCK && block < fork->copied_end)
		{
			tsa_block_set_remove(&fork->changed, (uint32) block);
			batch_read(copy, &batch, (BlockNumber) block);
			block = tsa_block_set_next(&fork->changed, block + 1);
		}
		n = batch.n;
		tsa_copy_write(copy, &batch);
		tsa_stop_point("changes logged");
		if (!after_batch(copy, n, 0))
			return false;
	}
	return true;
}

/* Until when it may take to copy what is left; no time at all for no limit. */
typedef struct Deadline
{
	const instr_time *since;
	double		ms;
} Deadline;

/* Has the time gone by?  Never without a deadline. */
static bool
is_over(const Deadline *deadline)
{
	return deadline->since != NULL &&
		tsa_ms_since(deadline->since) >= deadline->ms;
}

/*
 * Copies the changed blocks of a fork below copied_end; false if there is no
 * time for all of them.
 */
static bool
copy_last_changed(TsaCopy *copy, TsaCopyFork *fork, const Deadline *deadline)
{
	TsaPageBatch batch = batch_for(fork);
	bool		in_time = true;

	for (uint64 b = tsa_block_set_next(&fork->changed, 0);
		 b != TSA_NO_BLOCK && b < fork->copied_end;
		 b = tsa_block_set_next(&fork->changed, b + 1))
	{
		in_time = !is_over(deadline);
		if (!in_time)
			break;
		tsa_block_set_remove(&fork->changed, (uint32) b);
		batch_read(copy, &batch, (BlockNumber) b);
		if (batch.n == TSA_COPY_BATCH)
			tsa_copy_write(copy, &batch);
	}
	if (batch.n > 0)
		tsa_copy_write(copy, &batch);
	return in_time;
}

/*
 * Copies all that is left of a fork, without a pause: in the window, and just
 * before it.  Besides the blocks that the WAL names these are all blocks from
 * copied_end to the present end of the file, named or not: a file may be
 * extended without the WAL naming every block (hash indexes allocate whole
 * groups of buckets, the visibility map grows unlogged, a table by empty blocks
 * for several sessions at a time).  False if there is no time for all, or
 * something is still to be compared.
 */
static bool
copy_last_blocks_of(TsaCopy *copy, TsaCopyFork *fork, const Deadline *deadline)
{
	BlockNumber end = tsa_copy_source_size(fork);
	TsaPageBatch batch = batch_for(fork);

	Assert(fork->written_end <= end);
	if (fork->compared < fork->trusted_end ||
		!copy_last_changed(copy, fork, deadline))
		return false;
	while (fork->copied_end < end)
	{
		/* alone, block 0 does not make the others' images whole */
		int			most = fork->copied_end == 0 ? 1 : TSA_COPY_BATCH;

		if (is_over(deadline))
			return false;
		while (batch.n < most && fork->copied_end + batch.n < end)
			batch_read(copy, &batch, fork->copied_end + batch.n);
		fork->copied_end += batch.n;
		tsa_copy_write(copy, &batch);
	}
	return true;
}

/*
 * Copies what is left of all forks, within so many milliseconds since a moment,
 * or for as long as it takes (NULL).  A block that somebody has to read from
 * the device may take long; what has been copied when the time is over need not
 * be copied again.  The last pages may be in the queue still: the caller has
 * them written.
 */
bool
tsa_copy_last_blocks(TsaCopy *copy, const instr_time *since, double ms)
{
	Deadline	deadline = {since, ms};

	for (int i = 0; i < copy->nforks; i++)
		if (!copy_last_blocks_of(copy, &copy->forks[i], &deadline))
			return false;
	return true;
}

/*
 * Copies the free space map, once, as it happens to be.  It is not logged and
 * a crash leaves it as it may, so whoever takes a page from it checks that
 * the page is free.  It never names a block behind the end of the copy, which
 * ends up no shorter than the source is now.  False, outside any transaction,
 * if the move has to start over.
 */
bool
tsa_copy_fsm(TsaCopy *copy, TsaCopyRel *rel)
{
	BlockNumber next = 0;
	TsaPageBatch batch = {0};

	batch.rel = rel;
	batch.fork = FSM_FORKNUM;
	batch.written_end = &rel->fsm_end;
	if (!smgrexists(RelationGetSmgr(rel->rel), FSM_FORKNUM))
		return true;
	tsa_copy_create_fork(rel, FSM_FORKNUM);
	rel->fsm_end = smgrnblocks(target_of(rel), FSM_FORKNUM);

	/* it may have been truncated, or opened anew, after each batch */
	while (next < smgrnblocks(RelationGetSmgr(rel->rel), FSM_FORKNUM))
	{
		BlockNumber end = smgrnblocks(RelationGetSmgr(rel->rel), FSM_FORKNUM);
		int			n;

		while (batch.n < TSA_COPY_BATCH && next + batch.n < end)
			batch_read(copy, &batch, next + batch.n);
		n = batch.n;
		tsa_copy_write(copy, &batch);
		next += n;
		if (copy->throttle != NULL && !after_batch(copy, n, 0))
			return false;
	}
	return true;
}
