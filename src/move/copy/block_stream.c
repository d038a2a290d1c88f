/*-------------------------------------------------------------------------
 *
 * block_stream.c
 *	  Reads blocks of a fork that follow each other.
 *
 * From 17 on through a read stream: blocks that are not in shared buffers are
 * read many at a time, and on 18 asynchronously.  A stream keeps buffers pinned
 * ahead of its reader.  A pin says nothing about a page's contents, which the
 * caller copies later, under the share lock; but it keeps VACUUM from the page.
 * So a stream is closed before the copy sleeps, and in any case before it
 * closes the relation, at the end of each of its transactions: a second, or 64
 * MB.  After an error the end of the transaction releases the pins.
 *
 * Before 17 blocks are read one by one, and the kernel reads ahead.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"

#include "compat.h"
#include "move/copy/block_stream.h"

#if TSA_HAVE_READ_STREAM

/*
 * The next block that the server should read.
 */
static BlockNumber
next_block(ReadStream *read_stream pg_attribute_unused(), void *arg,
		   void *per_buffer_data pg_attribute_unused())
{
	TsaBlockStream *stream = arg;

	return stream->ahead < stream->end ? stream->ahead++ : InvalidBlockNumber;
}

#endif

/*
 * See block_stream.h.
 */
Buffer
tsa_block_stream_read(TsaBlockStream *stream, Relation rel,
					  BufferAccessStrategy strategy, BlockNumber block,
					  BlockNumber end)
{
#if TSA_HAVE_READ_STREAM
	if (stream->stream != NULL && stream->next == block &&
		block < stream->end)
	{
		stream->next++;
		return read_stream_next_buffer(stream->stream, NULL);
	}
	tsa_block_stream_close(stream);
	stream->ahead = block;
	stream->next = block + 1;
	stream->end = end;
	stream->stream =
		read_stream_begin_relation(READ_STREAM_SEQUENTIAL | READ_STREAM_FULL,
								   strategy, rel, MAIN_FORKNUM, next_block,
								   stream, 0);
	return read_stream_next_buffer(stream->stream, NULL);
#else
	(void) end;
	(void) stream;
	return ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
#endif
}

/*
 * See block_stream.h.
 */
void
tsa_block_stream_close(TsaBlockStream *stream)
{
#if TSA_HAVE_READ_STREAM
	if (stream->stream != NULL)
		read_stream_end(stream->stream);
#endif
	stream->stream = NULL;
}
