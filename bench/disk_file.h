/*-------------------------------------------------------------------------
 *
 * disk_file.h
 *	  What the plugins of nbdkit here have in common: the file that holds the
 *	  disk.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef DISK_FILE_H
#define DISK_FILE_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nbdkit-plugin.h>

static char *file = NULL;
static int	fd = -1;
static int64_t size;

/* Opens the file; false with an error if that fails. */
static int
open_file(void)
{
	struct stat st;

	if (file == NULL || (fd = open(file, O_RDWR | O_CLOEXEC)) < 0 ||
		fstat(fd, &st) != 0)
	{
		nbdkit_error("could not open file \"%s\": %m", file ? file : "");
		return 0;
	}
	size = st.st_size;
	return 1;
}

static void *
disk_open(int readonly)
{
	(void) readonly;
	return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t
disk_get_size(void *handle)
{
	(void) handle;
	return size;
}

#endif							/* DISK_FILE_H */
