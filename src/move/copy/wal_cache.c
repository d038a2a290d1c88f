/*-------------------------------------------------------------------------
 *
 * wal_cache.c
 *	  The WAL of a copy does not stay in the system's cache.
 *
 * A copy writes nearly as much WAL as the relation has, and reads it at once.
 * Its pages would push those of others out of the cache, and nobody needs them
 * again but the archiver and walsenders.  So whole segments are dropped when
 * the copy has read them, the archiver has copied them, and no walsender has
 * them still to send.  (A server without WAL archiving and standbys does that
 * by itself under wal_level minimal.)  A segment that has been written to its
 * end has been synced; should a page be dirty all the same, it stays.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogarchive.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/fd.h"
#include "storage/spin.h"

#include "move/copy/wal_cache.h"

/*
 * Has every walsender sent the WAL up to a position?
 */
static bool
is_sent(XLogRecPtr position)
{
	bool		sent = true;

	for (int i = 0; i < max_wal_senders && sent; i++)
	{
		WalSnd	   *walsnd = &WalSndCtl->walsnds[i];

		SpinLockAcquire(&walsnd->mutex);
		sent = walsnd->pid == 0 || walsnd->sentPtr >= position;
		SpinLockRelease(&walsnd->mutex);
	}
	return sent;
}

/*
 * Has the archiver copied a segment, or need not?
 */
static bool
is_archived(const char *name)
{
	char		path[MAXPGPATH];
	struct stat status;

	if (!XLogArchivingActive())
		return true;
	StatusFilePath(path, name, ".done");
	return stat(path, &status) == 0;
}

/*
 * Drops a segment from the cache; false if somebody is to read it.
 */
static bool
drop_segment(XLogSegNo segment)
{
	TimeLineID	timeline = GetWALInsertionTimeLine();
	XLogRecPtr	end;
	char		name[MAXFNAMELEN];
	char		path[MAXPGPATH];
	int			fd;

	XLogSegNoOffsetToRecPtr(segment + 1, 0, wal_segment_size, end);
	XLogFileName(name, timeline, segment, wal_segment_size);
	if (!is_sent(end) || !is_archived(name))
		return false;
	XLogFilePath(path, timeline, segment, wal_segment_size);
	fd = OpenTransientFile(path, O_RDONLY | PG_BINARY);
	if (fd < 0)					/* recycled */
		return true;
#ifdef POSIX_FADV_DONTNEED
	(void) posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
#endif
	(void) CloseTransientFile(fd);
	return true;
}

/*
 * See wal_cache.h.
 */
void
tsa_drop_read_wal(XLogRecPtr position, XLogSegNo *from)
{
	XLogSegNo	present;

	XLByteToSeg(position, present, wal_segment_size);
	if (*from == 0)				/* a small copy before may have ended there */
		*from = present - 1;
	while (*from < present && drop_segment(*from))
		(*from)++;
}
