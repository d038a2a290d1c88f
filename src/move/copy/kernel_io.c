/*-------------------------------------------------------------------------
 *
 * kernel_io.c
 *	  What a copy asks of the kernel: to read ahead, and to write back.
 *
 * Errors of writing back.  The kernel reports a failed write once to each open
 * file, and to those opened later only if nobody was told yet.  To wait for
 * writing back can therefore take away the report that the checkpointer's
 * fsync, of a file that it opens later, should get.  So an error of that wait
 * is not swallowed: it ends the move, and the copy is dropped.  Nothing in
 * this file is called in the window or after it.
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
#include "state/file_error.h"

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
tsa_write_back(const TsaBlockRange * range, unsigned int flags)
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
