/*-------------------------------------------------------------------------
 *
 * wal_tail.c
 *	  Follows the write-ahead log from a point in time to its end.
 *
 * A tail stands at an LSN.  tsa_wal_tail_follow() shows its caller every
 * record from there to the insert position at the time of the call, and
 * leaves the tail there.  What a live copy concludes from that is written at
 * the head of live_copy.c.
 *
 * Positions.  GetXLogInsertRecPtr() is where the next record will begin.  If
 * that is the first byte after a page header, nothing of the page is written
 * yet and XLogFlush() up to there would fail; the end of the last record is
 * then the start of the page, which is what we flush and read to.
 *
 * The log is read from the files, so it is flushed first.  (Releases from 17
 * on can read from the WAL buffers, but only what has been written already,
 * so that would not spare the flush.)  Only one's own process is served: no
 * replication slot holds the log back.  The caller follows often enough that
 * the segments it needs are the newest ones; tsa_wal_tail_lost() tells when
 * that failed.
 *
 * Memory.  XLogReadRecord() allocates long records in the current memory
 * context and frees them at its next call: every call is made in the tail's
 * own context, which outlives transactions.  The reader holds a plain file
 * descriptor that no transaction end closes, hence tsa_wal_tail_close(),
 * which is safe after an error at any point.
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
#include "move/wal_tail.h"

struct TsaWalTail
{
	MemoryContext cxt;
	XLogReaderState *reader;
	XLogRecPtr	position;		/* all records that end here or before are
								 * seen */
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
 * Makes the reader stand at the tail's position.  A position at a page start
 * is moved behind the page header, as the reader wants it.
 */
static void
begin_read(TsaWalTail *tail)
{
	XLogRecPtr	start = tail->position;

	if (XLogSegmentOffset(start, wal_segment_size) == 0)
		start += SizeOfXLogLongPHD;
	else if (start % XLOG_BLCKSZ == 0)
		start += SizeOfXLogShortPHD;
	XLogBeginRead(tail->reader, start);
}

/*
 * Opens a tail that stands at the present end of the log.  It lives in a
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
	tail->position = wal_insert_end();
	begin_read(tail);
	MemoryContextSwitchTo(oldcxt);
	return tail;
}

/*
 * Gives up what lies between the tail and the present end of the log.
 */
void
tsa_wal_tail_restart(TsaWalTail *tail)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(tail->cxt);

	tail->position = wal_insert_end();
	begin_read(tail);
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
	return segno <= XLogGetLastRemovedSegno();
}

/*
 * Calls visit(record, arg) for every record from the tail's position to the
 * end of the log at the time of this call, and returns that end.
 *
 * Errors: ERRCODE_UNDEFINED_FILE or ERRCODE_DATA_CORRUPTED when a record
 * cannot be read.
 */
XLogRecPtr
tsa_wal_tail_follow(TsaWalTail *tail, TsaWalVisitor visit, void *arg)
{
	XLogRecPtr	end = wal_insert_end();

	if (tail->position >= end)
		return tail->position;
	XLogFlush(end);

	while (tail->position < end)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(tail->cxt);
		char	   *errormsg = NULL;
		XLogRecord *record = XLogReadRecord(tail->reader, &errormsg);

		MemoryContextSwitchTo(oldcxt);
		if (record == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("could not read write-ahead log at %X/%X",
							LSN_FORMAT_ARGS(tail->position)),
					 errormsg ? errdetail_internal("%s", errormsg) : 0));
		visit(tail->reader, arg);
		tail->position = tail->reader->EndRecPtr;
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
	XLogReaderFree(tail->reader);
	MemoryContextDelete(tail->cxt);
}
