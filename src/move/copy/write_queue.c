/*-------------------------------------------------------------------------
 *
 * write_queue.c
 *	  Logs pages of a copy, and writes them to its file once their images are
 *	  on disk in the WAL.
 *
 * Order.  A batch of pages is logged at once and then waits in a queue until
 * the WAL is flushed up to its record: the rule that the server's buffers
 * obey, too.  So after a crash all contents of the file are in some record in
 * the WAL, which says, which a copy that is resumed relies on (resume.c), and
 * pg_rewind, which finds the blocks that a former primary has written from its
 * WAL alone.  The WAL writer is told of each batch and flushes meanwhile, so
 * mostly nobody waits; if the queue is full, the oldest batch is flushed here.
 * Batches are written in the order in which they were logged.
 *
 * Checkpoints.  Each write is registered with the checkpointer, as that of a
 * buffer is; nothing is synced here.  A checkpoint that lets recovery begin
 * behind a record must have the page that the record describes in the file,
 * and a request to sync it.  So the write is made with DELAY_CHKPT_START set,
 * for which a checkpoint waits after it has chosen the place where recovery
 * would begin (the redo pointer, which it publishes first); and with the flag
 * set the redo pointer is looked at.  If it is before the record, a checkpoint
 * that is to come moves it and then waits for the write and its request.  If
 * it is behind the record, the checkpoint has not waited: all that is in the
 * queue is logged again, in the same order, so that the last record of a block
 * is still that of its last write.  Should that not happen, since the process
 * has ended, the file has an older page than the WAL: see "The mark" in
 * resume.c.  (A request that comes before the write would not do: a checkpoint
 * that began earlier may have synced the file and forgotten the request before
 * the write.)  The same holds for a base backup: records that it would not
 * replay, it copies after the write.
 *
 * The flag counts only in a process with a virtual transaction ID, so batches
 * are added and written in transactions; which need not be the same one.  An
 * error ends the transaction, which clears the flag.
 *
 * A copy that is made in one transaction (one_transaction.c) is not resumed,
 * and its file is unlinked at the end of that transaction, however it ends:
 * its pages are written at once, with the flag set from before the WAL insert
 * until after the write.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xloginsert.h"
#include "access/xlogrecord.h"
#include "catalog/storage.h"
#include "catalog/storage_xlog.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/smgr.h"

#include "compat.h"
#include "move/copy/copy.h"

/* Batches that are logged and not written, and the one that is being filled. */
#define SLOTS			32

/* A batch is one record: between two there could be somebody else's. */
StaticAssertDecl(TSA_COPY_BATCH <= XLR_MAX_BLOCK_ID,
				 "a batch must fit into one WAL record");

/* A batch that is logged. */
typedef struct QueuedBatch
{
	TsaPageBatch batch;
	XLogRecPtr	end;			/* of its record */
} QueuedBatch;

struct TsaWriteQueue
{
	char	   *memory;			/* the pages of one batch for each slot */
	QueuedBatch batches[SLOTS];
	int			first;			/* the oldest that is logged */
	int			n;				/* how many are; less than SLOTS */
};

/*
 * Makes a copy's queue, in the current memory context.
 */
TsaWriteQueue *
tsa_write_queue_make(void)
{
	TsaWriteQueue *queue = palloc0(sizeof(TsaWriteQueue));
	Size		size = (Size) SLOTS * TSA_COPY_BATCH * BLCKSZ;

	queue->memory = (char *) TYPEALIGN(TSA_IO_ALIGN,
									   palloc(size + TSA_IO_ALIGN));
	return queue;
}

/*
 * The place for page i of the batch that is being filled.
 */
char *
tsa_write_queue_page(const TsaWriteQueue *queue, int i)
{
	int			slot = (queue->first + queue->n) % SLOTS;

	return queue->memory + ((Size) slot * TSA_COPY_BATCH + i) * BLCKSZ;
}

/*
 * The new storage of a relation.
 */
static SMgrRelation
target_of(const TsaCopyRel *rel)
{
	return smgropen(rel->copy, INVALID_PROC_NUMBER);
}

/*
 * The segment of a file that a block is in.
 */
static BlockNumber
segment_of(BlockNumber block)
{
	return block / (BlockNumber) RELSEG_SIZE;
}

/*
 * Throws (XX001) if a fork of a copy is shorter than the blocks written to it:
 * if something else has cut the file, a write behind its end would leave zeros
 * where the pages were.
 */
void
tsa_copy_check_length(const TsaCopyRel *rel, ForkNumber fork,
					  BlockNumber written_end)
{
	BlockNumber length = smgrnblocks(target_of(rel), fork);
	char		path[MAXPGPATH];

	if (length >= written_end)
		return;
	tsa_relation_path(path, sizeof(path), rel->copy, fork);
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("file \"%s\" has %u blocks instead of %u", path, length,
					written_end),
			 errdetail("Something other than the server has changed the copy. The original has not been changed.")));
}

/*
 * Writes the pages of a batch to the new storage, run by run: blocks that
 * follow each other, all in one segment of the file, and all within the file
 * or all behind its end.  One request to sync a segment is enough, if it comes
 * with the last write to that segment; blocks rise, so nothing is written to a
 * segment after the last of its runs.
 */
static void
write_pages(TsaPageBatch *batch)
{
	SMgrRelation smgr = target_of(batch->rel);
	BlockNumber *blocks = batch->blocks;
	int			end;

	if (*batch->written_end > 0)
		tsa_copy_check_length(batch->rel, batch->fork, *batch->written_end);
	for (int i = 0; i < batch->n; i = end)
	{
		bool		extends = blocks[i] >= *batch->written_end;
		bool		skip_fsync;

		for (end = i + 1; end < batch->n; end++)
			if (blocks[end] != blocks[end - 1] + 1 ||
				segment_of(blocks[end]) != segment_of(blocks[i]) ||
				(blocks[end] >= *batch->written_end) != extends)
				break;
		skip_fsync = end < batch->n &&
			segment_of(blocks[end]) == segment_of(blocks[i]);

		if (!extends)
			tsa_smgr_write_run(smgr, batch->fork, blocks[i], batch->pages + i,
							   end - i, skip_fsync);
		else
		{
			Assert(blocks[i] == *batch->written_end);
			tsa_smgr_extend_run(smgr, batch->fork, blocks[i],
								batch->pages + i, end - i, skip_fsync);
			*batch->written_end = blocks[end - 1] + 1;
		}
	}
}

/*
 * Logs a batch as one record, and returns where that ends.  The pages have
 * their LSN and checksum then.
 *
 * The images of block 0, and of blocks in one batch with it, are always whole:
 * it is a metapage in most access methods, whose contents the page header does
 * not bound in all of them.
 */
static XLogRecPtr
log_batch(TsaCopy *copy, TsaPageBatch *batch)
{
	bool		std = batch->rel->page_std && batch->fork == MAIN_FORKNUM &&
	batch->blocks[0] != 0;

	log_newpages(&batch->rel->copy, batch->fork, batch->n, batch->blocks,
				 batch->pages, std);
	if (copy->tail != NULL)
		tsa_wal_tail_note_own(copy->tail, ProcLastRecPtr, XactLastRecEnd);
	for (int i = 0; i < batch->n; i++)
		tsa_page_set_checksum(batch->pages[i], batch->blocks[i]);
	return XactLastRecEnd;
}

/*
 * Logs again, in order, all that is in the queue.
 */
static void
log_again(TsaCopy *copy)
{
	TsaWriteQueue *queue = copy->queue;

	for (int i = 0; i < queue->n; i++)
	{
		QueuedBatch *queued = &queue->batches[(queue->first + i) % SLOTS];

		queued->end = log_batch(copy, &queued->batch);
	}
}

/*
 * Tells the throttle of blocks that were written, for it to hand them on.
 */
static void
note_written(TsaCopy *copy, const TsaPageBatch *batch)
{
	BlockNumber from = batch->blocks[0];
	BlockNumber last = batch->blocks[batch->n - 1];

	tsa_throttle_note_written(copy->throttle, batch->rel->copy, batch->fork,
							  from, last - from + 1);
}

/*
 * Writes the oldest batch of the queue, and flushes its record before if that
 * is not done yet.  See "Checkpoints".
 */
static void
write_oldest(TsaCopy *copy)
{
	TsaWriteQueue *queue = copy->queue;
	QueuedBatch *oldest = &queue->batches[queue->first];

	Assert((MyProc->delayChkptFlags & DELAY_CHKPT_START) == 0);
	for (;;)
	{
		XLogFlush(oldest->end);
		MyProc->delayChkptFlags |= DELAY_CHKPT_START;
		if (oldest->end > GetRedoRecPtr())
			break;
		MyProc->delayChkptFlags &= ~DELAY_CHKPT_START;
		log_again(copy);
	}
	write_pages(&oldest->batch);
	MyProc->delayChkptFlags &= ~DELAY_CHKPT_START;
	if (oldest->batch.is_bulk)
		note_written(copy, &oldest->batch);
	queue->first = (queue->first + 1) % SLOTS;
	queue->n--;
}

/*
 * Makes the fork of a batch in the new storage, if it is not there.
 */
void
tsa_copy_create_fork(const TsaCopyRel *rel, ForkNumber fork)
{
	SMgrRelation target = target_of(rel);

	if (!smgrexists(target, fork))
	{
		smgrcreate(target, fork, false);
		log_smgrcreate(&rel->copy, fork);
	}
}

/*
 * Logs a batch whose pages are in the places that tsa_write_queue_page() gave,
 * and has it written when its record is flushed.  Empties the batch.  In a
 * transaction.  An error leaves the copy of no use.
 */
void
tsa_copy_write(TsaCopy *copy, TsaPageBatch *batch)
{
	TsaWriteQueue *queue = copy->queue;
	QueuedBatch *queued = &queue->batches[(queue->first + queue->n) % SLOTS];

	copy->unmarked_bytes += (int64) batch->n * BLCKSZ;
	if (*batch->written_end == 0 && batch->fork != MAIN_FORKNUM)
		tsa_copy_create_fork(batch->rel, batch->fork);
	if (copy->tail == NULL)
	{
		Assert((MyProc->delayChkptFlags & DELAY_CHKPT_START) == 0);
		MyProc->delayChkptFlags |= DELAY_CHKPT_START;
		(void) log_batch(copy, batch);
		write_pages(batch);
		MyProc->delayChkptFlags &= ~DELAY_CHKPT_START;
	}
	else
	{
		XLogRecPtr	flushed;

		queued->batch = *batch;
		queued->end = log_batch(copy, &queued->batch);
		queue->n++;
		XLogSetAsyncXactLSN(queued->end);
		flushed = GetFlushRecPtr(NULL);
		while (queue->n > 0 && queue->batches[queue->first].end <= flushed)
			write_oldest(copy);
		if (queue->n == SLOTS - 1)
			write_oldest(copy);
	}
	batch->n = 0;
}

/*
 * Flushes and writes all that is in the queue.  In a transaction.
 */
void
tsa_copy_write_all(TsaCopy *copy)
{
	TsaWriteQueue *queue = copy->queue;

	if (queue->n > 0)
		XLogFlush(queue->batches[(queue->first + queue->n - 1) % SLOTS].end);
	while (queue->n > 0)
		write_oldest(copy);
}

/*
 * New blocks of a fork before this one are written.
 */
BlockNumber
tsa_copy_unwritten(const TsaCopy *copy, const TsaCopyFork *fork)
{
	const TsaWriteQueue *queue = copy->queue;

	for (int i = 0; i < queue->n; i++)
	{
		const TsaPageBatch *batch =
		&queue->batches[(queue->first + i) % SLOTS].batch;

		if (batch->is_bulk && batch->rel == fork->rel &&
			batch->fork == fork->number)
			return batch->blocks[0];
	}
	return fork->copied_end;
}
