/*-------------------------------------------------------------------------
 *
 * read_times.c
 *	  Says what each read of a relation takes: a library to preload into a
 *	  server.  To the file that READ_TIMES names it appends a line per read of
 *	  a file in a tablespace: path, microseconds.
 *
 *	  The server knows how long all its reads take (track_io_timing), but not
 *	  whose they are.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static double
get_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

/* Processes inherit the descriptor, and append in one call. */
static void
write_line(int fd, double took_us)
{
	static int	log = -1;
	const char *name = getenv("READ_TIMES");
	int			saved = errno;
	char		link[64];
	char		path[1024];
	char		line[1100];
	ssize_t		length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	path[length < 0 ? 0 : length] = '\0';
	if (name != NULL && strstr(path, "/PG_") != NULL)
	{
		if (log < 0)
			log = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
		length = snprintf(line, sizeof(line), "%s %.1f\n", path, took_us);
		if (log < 0 || write(log, line, (size_t) length) != length)
			abort();
	}
	errno = saved;
}

#define TIMED_READ(name, parameters, arguments) \
ssize_t \
name parameters \
{ \
	ssize_t		(*next) parameters = \
		(ssize_t (*) parameters) dlsym(RTLD_NEXT, #name); \
	double		began = get_us(); \
	ssize_t		result = next arguments; \
 \
	write_line(fd, get_us() - began); \
	return result; \
}

TIMED_READ(pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
TIMED_READ(pread64, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at))
TIMED_READ(preadv, (int fd, const struct iovec *to, int n, off_t at),
		   (fd, to, n, at))
TIMED_READ(preadv64, (int fd, const struct iovec *to, int n, off64_t at),
		   (fd, to, n, at))
