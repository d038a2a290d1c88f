/*-------------------------------------------------------------------------
 *
 * kernel_io.c
 *	  Requests of a copy to the kernel: to read ahead, to write back, and to
 *	  keep or to drop pages of its cache.
 *
 * Errors of writing back.  The kernel reports a failed write once to each open
 * file, and to those opened later only if nobody was told yet.  To wait for
 * writing back can therefore take away the report that the checkpointer's
 * fsync, of a file that it opens later, should get.  So an error of that wait
 * is not swallowed: it ends the move, and the copy is dropped.
 * tsa_write_back() is not called in the window or after it.
 *
 * Dropping pages (POSIX_FADV_DONTNEED) takes no report away.  The kernel drops
 * only clean pages.  It begins to write dirty ones, and does not wait, and
 * does not ask the file for errors: should such a write fail, the error is
 * unseen, and the next fsync of a file opened before or later gets it (the
 * kernel's errseq_sample() starts a new file at "unseen").  So it is the same
 * as when the kernel writes by itself, which it may do at any time.  The
 * checkpointer syncs through a file that it has open (it then saw the state
 * before the error) or opens for that (then the error is unseen): its fsync
 * gets the error either way, and the server recovers from the WAL.  Before
 * that, a page may be dropped after a failed write and read back in its old
 * state, as it may when memory is short.  An unseen error goes with the inode,
 * which the kernel may forget when no process has the file open; this process
 * has the original and the copy open as long as the move takes.  So these
 * calls may be made for the original and, after the window, for the copy in
 * use.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/fd.h"
#include "storage/lwlock.h"

#include "compat.h"
#include "move/copy/kernel_io.h"
#include "sample/cached_pages.h"
#include "state/file_error.h"

/* The kernel reads no more at once than a device's read_ahead_kb. */
#define MIN_AHEAD		INT64CONST(131072)

/*
 * Is a block in shared buffers?
 */
static bool
is_buffered(RelFileLocator locator, ForkNumber fork, BlockNumber block)
{
	BufferTag	tag;
	uint32		hash;
	LWLock	   *lock;
	bool		found;

	tsa_init_buffer_tag(&tag, locator, fork, block);
	hash = BufTableHashCode(&tag);
	lock = BufMappingPartitionLock(hash);
	LWLockAcquire(lock, LW_SHARED);
	found = BufTableLookup(&tag, hash) >= 0;
	LWLockRelease(lock);
	return found;
}

/*
 * Opens the segment of a fork that has a block, for the transaction; negative
 * if that fails.
 */
static int
open_segment(RelFileLocator locator, ForkNumber fork, BlockNumber block)
{
	BlockNumber segment = block / (BlockNumber) RELSEG_SIZE;
	char		path[MAXPGPATH];

	tsa_relation_path(path, sizeof(path), locator, fork);
	if (segment > 0)
		snprintf(path + strlen(path), sizeof(path) - strlen(path), ".%u",
				 segment);
	return OpenTransientFile(path, O_RDWR | PG_BINARY);
}

/*
 * See kernel_io.h.
 */
void
tsa_ask_for(RelFileLocator locator, ForkNumber fork, BlockNumber from,
			BlockNumber end, BlockNumber at_once)
{
#ifdef POSIX_FADV_WILLNEED
	int			fd = open_segment(locator, fork, from);
	off_t		last = -1;
	char		byte;

	if (fd < 0)
		return;
	(void) posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	while (from < end)
	{
		BlockNumber n = 0;

		while (n < at_once && from + n < end &&
			   !is_buffered(locator, fork, from + n))
			n++;
		if (n > 0)
		{
			off_t		offset = (off_t) (from % RELSEG_SIZE) * BLCKSZ;
			off_t		length = (off_t) n * BLCKSZ;

			(void) posix_fadvise(fd, offset, length, POSIX_FADV_WILLNEED);
			last = offset + length - 1;
		}
		from += Max(n, 1);
	}
	if (last >= 0 && pread(fd, &byte, 1, last) < 0)
		ereport(DEBUG1,
				(tsa_errcode_for_file_access(),
				 errmsg("could not read ahead: %m")));
	(void) CloseTransientFile(fd);
#endif
}

/*
 * See kernel_io.h.
 */
void
tsa_write_back(const TsaBlockRange *range, unsigned int flags)
{
#ifdef HAVE_SYNC_FILE_RANGE
	BlockNumber first = range->from % (BlockNumber) RELSEG_SIZE;
	BlockNumber n = Min(range->nblocks, (BlockNumber) RELSEG_SIZE - first);
	int			fd;

	if (range->nblocks == 0 || !enableFsync)
		return;
	fd = open_segment(range->locator, range->fork, range->from);
	if (fd < 0)
		ereport(ERROR,
				(tsa_errcode_for_file_access(),
				 errmsg("could not open the file of a copy: %m")));
	if (sync_file_range(fd, (off_t) first * BLCKSZ, (off_t) n * BLCKSZ,
						flags) != 0 &&
		errno != ENOSYS && errno != EINVAL && errno != ESPIPE)
		ereport(ERROR,
				(tsa_errcode_for_file_access(),
				 errmsg("could not write back the file of a copy: %m")));
	(void) CloseTransientFile(fd);
#endif
}

/*
 * Opens the segment that a range begins in; offset and length are those of the
 * range in it.  Negative if that fails.
 */
static int
open_range(const TsaBlockRange *range, int64 *offset, int64 *length)
{
	BlockNumber first = range->from % (BlockNumber) RELSEG_SIZE;

	*offset = (int64) first * BLCKSZ;
	*length = (int64) Min(range->nblocks,
						  (BlockNumber) RELSEG_SIZE - first) * BLCKSZ;
	return open_segment(range->locator, range->fork, range->from);
}

/*
 * See kernel_io.h.
 */
bool
tsa_find_cached(const TsaBlockRange *range, bool *cached)
{
	int64		page = sysconf(_SC_PAGESIZE);
	unsigned char *pages;
	int64		offset;
	int64		length;
	int64		start;
	bool		known;
	int			fd;

	memset(cached, 0, range->nblocks * sizeof(bool));
	fd = open_range(range, &offset, &length);
	if (fd < 0)
		return false;
	start = offset - offset % page;
	pages = palloc((offset + length - start) / page + 1);
	known = tsa_look_at_pages(fd, start, offset + length - start, pages);
	for (int64 at = offset; known && at < offset + length;
		 at += Min(page, BLCKSZ))
		if (pages[(at - start) / page] & 1)
			cached[(at - offset) / BLCKSZ] = true;
	pfree(pages);
	(void) CloseTransientFile(fd);
	return known;
}

/*
 * See kernel_io.h.
 */
void
tsa_drop_from_cache(const TsaBlockRange *range)
{
#ifdef POSIX_FADV_DONTNEED
	int64		offset;
	int64		length;
	int			fd = open_range(range, &offset, &length);

	if (fd < 0)
		return;
	(void) posix_fadvise(fd, offset, length, POSIX_FADV_DONTNEED);
	(void) CloseTransientFile(fd);
#endif
}

/*
 * See kernel_io.h.
 */
bool
tsa_load_into_cache(const TsaBlockRange *range)
{
#ifdef POSIX_FADV_WILLNEED
	int64		offset;
	int64		length;
	char		byte;
	int			fd = open_range(range, &offset, &length);
	bool		there;

	if (fd < 0)
		return false;
	for (int64 at = offset; at < offset + length; at += MIN_AHEAD)
		(void) posix_fadvise(fd, at, Min(MIN_AHEAD, offset + length - at),
							 POSIX_FADV_WILLNEED);
	there = pread(fd, &byte, 1, offset + length - 1) == 1;
	(void) CloseTransientFile(fd);
	return there;
#else
	return false;
#endif
}
