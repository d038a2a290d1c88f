/*-------------------------------------------------------------------------
 *
 * wal_tail.c
 *	  Follows the write-ahead log from a point in time to its end.
 *
 * A tail stands at an LSN.  tsa_wal_tail_follow() shows its caller every
 * record (but the caller's own, if told of them) from there to the insert
 * position at the time of the call, and leaves the tail there.  The head of
 * live_copy.c has a live copy's conclusions from that.
 *
 * Positions.  GetXLogInsertRecPtr() is where the next record will begin.  If
 * that is the first byte after a page header, nothing of the page is written
 * yet and XLogFlush() up to there would fail; the end of the last record is
 * then the start of the page: we flush and read to that.
 *
 * The WAL is read from the files, so it is flushed first.  (Releases from 17
 * on can read from the WAL buffers, but only pages that have been written
 * already, so that would not spare the flush.)  Only one's own process is
 * served: no replication slot holds the WAL back.  A checkpoint removes the
 * segments before its redo point, so a caller that follows whenever the WAL
 * has got to another segment (tsa_wal_tail_is_left_behind()) loses one only to
 * a checkpoint that begins and ends between two looks; tsa_wal_tail_lost()
 * tells.
 *
 * Rejected: a temporary physical slot, which keeps the segments, but without
 * bound by default, needs wal_level replica, and ends the process when it is
 * invalidated.
 *
 * Memory.  XLogReadRecord() allocates long records in the current memory
 * context and frees them at its next call: every call is made in the tail's
 * own context, which outlives transactions.  The reader keeps the buffer of the
 * longest record; anybody can write one of 1 GB, so it is given back.  The
 * reader holds a plain file descriptor that no transaction end closes, hence
 * tsa_wal_tail_close(), which is safe after an error at any point.
 * XLogReaderFree() is not: where there was no memory for a longer buffer, it
 * frees the shorter one again.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogreader.h"
#include "access/xlogutils.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "move/copy/wal_tail.h"

/* Size of the buffer that a reader begins with. */
#define READER_BUFFER_SIZE	(5 * Max(BLCKSZ, XLOG_BLCKSZ))

/* A run of the mover's own records. */
typedef struct OwnRecords
{
	XLogRecPtr	start;			/* of the first record */
	XLogRecPtr	end;			/* of the last one */
} OwnRecords;

struct TsaWalTail
{
	MemoryContext cxt;
	XLogReaderState *reader;
	XLogRecPtr	position;		/* all records that end here or before are
								 * seen */
	bool		removed;		/* a segment to be read was gone */
	OwnRecords *own;			/* yet to be passed over, in order */
	int			nown;
	int			first_own;
	int			max_own;
};

/*
 * Where the last record inserted so far ends.
 */
static XLogRecPtr
wal_insert_end(void)
{
	XLogRecPtr	next = GetXLogInsertRecPtr();

	if (XLogSegmentOffset(next, wal_segment_size) == SizeOfXLogLongPHD)
		return next - SizeOfXLogLongPHD;
	if (XLogSegmentOffset(next, wal_segment_size) >= XLOG_BLCKSZ &&
		next % XLOG_BLCKSZ == SizeOfXLogShortPHD)
		return next - SizeOfXLogShortPHD;
	return next;
}

/*
 * Where a record begins that follows one with this end: behind the page
 * header, if the end is the start of a page.
 */
static XLogRecPtr
next_record_start(XLogRecPtr end)
{
	if (XLogSegmentOffset(end, wal_segment_size) == 0)
		return end + SizeOfXLogLongPHD;
	if (end % XLOG_BLCKSZ == 0)
		return end + SizeOfXLogShortPHD;
	return end;
}

/*
 * Moves the tail.
 */
static void
set_position(TsaWalTail *tail, XLogRecPtr position)
{
	tail->position = position;
	XLogBeginRead(tail->reader, next_record_start(position));
}

/*
 * Opens a tail that stands at the present end of the WAL.  It lives in a
 * child of the given context, which must outlive the tail's use.
 */
TsaWalTail *
tsa_wal_tail_open(MemoryContext parent)
{
	MemoryContext cxt = AllocSetContextCreate(parent,
											  "tablespace_advisor WAL tail",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	TsaWalTail *tail = palloc0(sizeof(TsaWalTail));

	tail->cxt = cxt;
	tail->reader =
		XLogReaderAllocate(wal_segment_size, NULL,
						   XL_ROUTINE(.page_read = read_local_xlog_page_no_wait,
									  .segment_open = wal_segment_open,
									  .segment_close = wal_segment_close),
						   palloc0(sizeof(ReadLocalXLogPageNoWaitPrivate)));
	if (tail->reader == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed while allocating a WAL reading processor.")));
	set_position(tail, wal_insert_end());
	MemoryContextSwitchTo(oldcxt);
	return tail;
}

/*
 * Gives up the WAL between the tail and its present end.
 */
void
tsa_wal_tail_restart(TsaWalTail *tail)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(tail->cxt);

	tail->nown = tail->first_own = 0;
	tail->removed = false;
	set_position(tail, wal_insert_end());
	MemoryContextSwitchTo(oldcxt);
}

/*
 * Has a segment been removed that the tail has yet to read?
 */
bool
tsa_wal_tail_lost(const TsaWalTail *tail)
{
	XLogSegNo	segno;

	XLByteToSeg(tail->position, segno, wal_segment_size);
	return tail->removed || segno <= XLogGetLastRemovedSegno();
}

/*
 * Is the WAL being written to another segment than the one that the tail stands
 * in?  A checkpoint that begins now may remove that one.
 */
bool
tsa_wal_tail_is_left_behind(const TsaWalTail *tail)
{
	return wal_insert_end() / wal_segment_size !=
		tail->position / wal_segment_size;
}

/*
 * Bytes of log, own records included, between the tail and the present end.
 */
uint64
tsa_wal_tail_behind(const TsaWalTail *tail)
{
	XLogRecPtr	end = wal_insert_end();

	return end > tail->position ? end - tail->position : 0;
}

/*
 * Tells the tail that the caller's process wrote the record at "start" (which
 * ends at "end") after the tail was opened, so that the tail can pass over it.
 * A mover writes much more log than anybody else, and would read all of it.
 * A record that the tail has seen already does not matter.
 */
void
tsa_wal_tail_note_own(TsaWalTail *tail, XLogRecPtr start, XLogRecPtr end)
{
	if (start < tail->position)
		return;
	/* the command need not have written a record */
	if (tail->nown > tail->first_own &&
		start < tail->own[tail->nown - 1].end)
		return;
	if (tail->nown > tail->first_own &&
		next_record_start(tail->own[tail->nown - 1].end) == start)
	{
		tail->own[tail->nown - 1].end = end;
		return;
	}
	if (tail->first_own == tail->nown)
		tail->nown = tail->first_own = 0;
	if (tail->nown == tail->max_own)
	{
		tail->max_own = Max(64, tail->max_own * 2);
		tail->own = tail->own ?
			repalloc(tail->own, tail->max_own * sizeof(OwnRecords)) :
			MemoryContextAlloc(tail->cxt,
							   tail->max_own * sizeof(OwnRecords));
	}
	tail->own[tail->nown].start = start;
	tail->own[tail->nown].end = end;
	tail->nown++;
}

/*
 * Passes over own records at the tail's position.
 */
static void
pass_over_own(TsaWalTail *tail)
{
	while (tail->first_own < tail->nown &&
		   tail->own[tail->first_own].start ==
		   next_record_start(tail->position))
		set_position(tail, tail->own[tail->first_own++].end);
}

/*
 * Reads the next record.  NULL if it cannot be read, also when a checkpoint
 * has just removed its segment: that error is caught.  A file that could not
 * be opened is all that happened then, so there is nothing to be undone, and
 * the reader starts anew at its next use.
 */
static XLogRecord *
read_record(TsaWalTail *tail, char **errormsg)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(tail->cxt);
	XLogRecord *volatile record = NULL;

	PG_TRY();
	{
		record = XLogReadRecord(tail->reader, errormsg);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_UNDEFINED_FILE)
			PG_RE_THROW();
		FlushErrorState();
		tail->removed = true;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(oldcxt);
	return record;
}

/*
 * Gives back the buffer that a long record was put together in.
 */
static void
shrink_buffer(TsaWalTail *tail)
{
	XLogReaderState *reader = tail->reader;

	if (reader->readRecordBufSize > READER_BUFFER_SIZE)
	{
		char	   *buffer = MemoryContextAlloc(tail->cxt,
												(Size) READER_BUFFER_SIZE);

		pfree(reader->readRecordBuf);
		reader->readRecordBuf = buffer;
		reader->readRecordBufSize = READER_BUFFER_SIZE;
	}
}

/*
 * Calls visit(record, arg) for every record but the caller's own, from the
 * tail's position to the end of the WAL at the time of this call, and returns
 * that end.  Stops before it if a part of the WAL is gone; tsa_wal_tail_lost()
 * says so.
 *
 * Errors: ERRCODE_DATA_CORRUPTED when a record cannot be read for another
 * reason.
 */
XLogRecPtr
tsa_wal_tail_follow(TsaWalTail *tail, TsaWalVisitor visit, void *arg)
{
	XLogRecPtr	end = wal_insert_end();

	pass_over_own(tail);
	if (tail->position >= end)
		return tail->position;
	XLogFlush(end);

	while (tail->position < end)
	{
		char	   *errormsg = NULL;

		if (read_record(tail, &errormsg) == NULL)
		{
			if (tsa_wal_tail_lost(tail))
				return tail->position;
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("could not read write-ahead log at %X/%X",
							LSN_FORMAT_ARGS(tail->position)),
					 errormsg ? errdetail_internal("%s", errormsg) : 0));
		}
		visit(tail->reader, arg);
		tail->position = tail->reader->EndRecPtr;
		shrink_buffer(tail);
		pass_over_own(tail);
		CHECK_FOR_INTERRUPTS();
	}
	return tail->position;
}

/*
 * Closes the tail's file and frees its memory.
 */
void
tsa_wal_tail_close(TsaWalTail *tail)
{
	if (tail->reader->seg.ws_file >= 0)
		wal_segment_close(tail->reader);
	MemoryContextDelete(tail->cxt);
}
