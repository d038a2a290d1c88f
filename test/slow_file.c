/*-------------------------------------------------------------------------
 *
 * slow_file.c
 *	  Plays a device that takes its time, or is gone, for tests: a library to
 *	  preload into a server.  What it does is said by files in the directory
 *	  that SLOW_FILE_DIR names, so that it can change while the server runs;
 *	  it is done to files of tablespaces (pg_tblspc in their path) only:
 *
 *	  fsync		an fsync takes so many milliseconds
 *	  pread		a read takes so many microseconds
 *	  truncate	ftruncate fails with EIO
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* The number in a file of the directory, -1 if there is none. */
static long
setting(const char *name)
{
	const char *dir = getenv("SLOW_FILE_DIR");
	char		path[4096];
	long		number = 0;
	FILE	   *file;

	if (dir == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "r");
	if (file == NULL)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

static int
is_of_tablespace(int fd)
{
	char		link[64];
	char		path[4096];
	ssize_t		n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	return strstr(path, "pg_tblspc") != NULL;
}

static void
delay(int fd, const char *name, long unit_ns)
{
	int			saved = errno;
	long		number = is_of_tablespace(fd) ? setting(name) : -1;

	if (number > 0)
	{
		struct timespec time;

		time.tv_sec = number * (unit_ns / 1000) / 1000000;
		time.tv_nsec = (number * (unit_ns / 1000) % 1000000) * 1000;
		while (nanosleep(&time, &time) != 0 && errno == EINTR)
			;
	}
	errno = saved;
}

int
fsync(int fd)
{
	int			(*next) (int) = (int (*) (int)) dlsym(RTLD_NEXT, "fsync");

	delay(fd, "fsync", 1000000);
	return next(fd);
}

int
fdatasync(int fd)
{
	int			(*next) (int) = (int (*) (int)) dlsym(RTLD_NEXT, "fdatasync");

	delay(fd, "fsync", 1000000);
	return next(fd);
}

ssize_t
pread(int fd, void *buffer, size_t size, off_t offset)
{
	ssize_t		(*next) (int, void *, size_t, off_t) =
	(ssize_t (*) (int, void *, size_t, off_t)) dlsym(RTLD_NEXT, "pread");

	delay(fd, "pread", 1000);
	return next(fd, buffer, size, offset);
}

int
ftruncate(int fd, off_t size)
{
	int			(*next) (int, off_t) =
	(int (*) (int, off_t)) dlsym(RTLD_NEXT, "ftruncate");

	if (is_of_tablespace(fd) && setting("truncate") >= 0)
	{
		errno = EIO;
		return -1;
	}
	return next(fd, size);
}

/* What a server with large files calls them. */
ssize_t
pread64(int fd, void *buffer, size_t size, off64_t offset)
{
	return pread(fd, buffer, size, offset);
}

int
ftruncate64(int fd, off64_t size)
{
	return ftruncate(fd, size);
}
