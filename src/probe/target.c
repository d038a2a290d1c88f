/*-------------------------------------------------------------------------
 *
 * target.c
 *	  The files that a probe reads and writes: code shared by both modes.
 *
 * Descriptors come from OpenTransientFile(), so that they are closed whenever
 * the (sub)transaction aborts.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/ps_status.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "probe/counters.h"
#include "probe/target.h"
#include "state/file_error.h"

/* progress messages begin after, and come at most every, so many ms */
#define PROGRESS_MS 2000

/*
 * Open a file twice, past the page cache and through it, and add it to the
 * target.  Where the file system refuses O_DIRECT both go through the cache,
 * the first without read-ahead, and the target says so.  A file that has just
 * been dropped is left out.
 */
void
tsa_target_open_file(TsaProbeTarget *target, const char *path, int flags)
{
	TsaIoFile  *direct = &target->direct[target->nfiles];
	TsaIoFile  *cached = &target->cached[target->nfiles];

	cached->fd = OpenTransientFile(path, flags);
	if (cached->fd < 0)
	{
		if (errno == ENOENT)
			return;
		ereport(ERROR,
				(tsa_errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", path)));
	}
	direct->fd = OpenTransientFile(path, flags | PG_O_DIRECT);
	if (direct->fd < 0 && errno == EINVAL)
	{
		target->no_direct = true;
		direct->fd = OpenTransientFile(path, flags);
		if (direct->fd >= 0)
			(void) posix_fadvise(direct->fd, 0, 0, POSIX_FADV_RANDOM);
	}
	if (direct->fd < 0)
		ereport(ERROR,
				(tsa_errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", path)));
	target->nfiles++;
}

/* The device file of a file's device, or NULL. */
static char *
find_device(int fd)
{
	char		link[64];
	char		path[PATH_MAX];
	struct stat st;

	if (fstat(fd, &st) != 0)
		return NULL;
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u",
			 major(st.st_dev), minor(st.st_dev));
	if (realpath(link, path) == NULL)
		return NULL;
	return psprintf("/dev/%s", basename(path));
}

/* Find out about the files before measuring. */
void
tsa_target_inspect(TsaProbeTarget *target)
{
	char		path[MAXPGPATH];
	uint64		mapped = 0;
	uint64		untrusted = 0;
	int			i;

	for (i = 0; i < target->nfiles; i++)
	{
		TsaFileMap	map;

		CHECK_FOR_INTERRUPTS();
		if (tsa_file_map_read(target->cached[i].fd, target->cached[i].bytes,
							  &map) == 0)
		{
			mapped += target->cached[i].bytes;
			untrusted += target->cached[i].bytes - map.written;
		}
	}
	if (mapped > 0)
		target->untrusted_share = (double) untrusted / (double) mapped;
	target->in_memory = tsa_file_in_memory(target->cached[0].fd);
	target->device = find_device(target->cached[0].fd);
	if (tsa_device_stat_path(target->cached[0].fd, path, sizeof(path)) == 0)
		target->stat_path = pstrdup(path);
}

/* Close the files; a scratch file goes with them. */
void
tsa_target_close(TsaProbeTarget *target)
{
	int			i;

	for (i = 0; i < target->nfiles; i++)
	{
		CloseTransientFile(target->direct[i].fd);
		CloseTransientFile(target->cached[i].fd);
	}
	target->nfiles = 0;
	if (target->scratch > 0)
		FileClose(target->scratch);
	target->scratch = 0;
}

/*
 * Say how far the probe is: in the process title always, and, when it takes
 * longer than a user likes to wait without a word, in notices.
 */
void
tsa_target_progress(TsaProbeTarget *target, const char *what)
{
	TimestampTz now = GetCurrentTimestamp();
	char		title[NAMEDATALEN + 128];

	snprintf(title, sizeof(title), "probing %s: %s", target->name, what);
	set_ps_display(title);

	if (!TimestampDifferenceExceeds(target->started_at, now, PROGRESS_MS) ||
		!TimestampDifferenceExceeds(target->told_at, now, PROGRESS_MS))
		return;
	target->told_at = now;
	ereport(NOTICE,
			(errmsg("probing tablespace \"%s\": %s", target->name, what)));
}

/* Sleep, unless the latch is set. */
void
tsa_probe_sleep(long ms)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 ms, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}
