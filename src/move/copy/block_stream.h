/*-------------------------------------------------------------------------
 *
 * block_stream.h
 *	  Reads blocks of a fork that follow each other.
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_BLOCK_STREAM_H
#define TSA_BLOCK_STREAM_H

#include "postgres.h"

#include "storage/buf.h"
#include "utils/rel.h"

#include "compat.h"

/* All zero: closed. */
typedef struct TsaBlockStream
{
	BlockNumber next;			/* that the caller gets */
	BlockNumber ahead;			/* that the server asks for */
	BlockNumber end;
	TsaReadStream *stream;
} TsaBlockStream;

/*
 * [T] The buffer of a block of the main fork, pinned; more blocks, up to "end",
 * will be asked for in turn.
 */
extern Buffer tsa_block_stream_read(TsaBlockStream *stream, Relation rel,
									BufferAccessStrategy strategy,
									BlockNumber block, BlockNumber end);

/*
 * Lets all buffers go that are pinned ahead: before the copy sleeps, or closes
 * the relation.
 */
extern void tsa_block_stream_close(TsaBlockStream *stream);

#endif							/* TSA_BLOCK_STREAM_H */
