/*-------------------------------------------------------------------------
 *
 * faulty_disk.c
 *	  Plays a device that fails, for tests: a library to preload into a server.
 *
 * FAULTY_DISK names a file that holds a struct faulty_disk, which the test
 * writes and all processes of the server share.  Calls of the kinds in "calls"
 * on files with "path" in their names are counted, and the "nth" of them fails
 * (with "from_on" each that follows, too, whatever its kind among "dead"):
 * with "error" as errno; or, if that is -1, by writing half of what was asked
 * for; or, if it is 0, takes "delay_ms" first, a single one until there is a
 * signal other than a timer's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define CALL_WRITE		0x01
#define CALL_TRUNCATE	0x02
#define CALL_ALLOCATE	0x04
#define CALL_SYNC		0x08
#define CALL_UNLINK		0x10
#define CALL_OPEN		0x20
#define CALL_READ		0x40
#define CALL_WRITEBACK	0x80

struct faulty_disk
{
	int32_t		calls;			/* 0: play nothing */
	int32_t		dead;			/* kinds that fail once the device is dead */
	int32_t		nth;			/* 0: count only */
	int32_t		from_on;
	int32_t		error;
	int32_t		delay_ms;
	int32_t		count;			/* calls seen */
	int32_t		failed;			/* calls that have failed or were delayed */
	char		path[224];
};

/* What becomes of a call. */
enum fate
{
	WORKS, FAILS, HALF
};

static struct faulty_disk *
disk(void)
{
	static struct faulty_disk *shared = NULL;
	static int	tried = 0;

	if (!tried)
	{
		const char *name = getenv("FAULTY_DISK");
		int			fd = -1;

		tried = 1;
		if (name != NULL)
			fd = (int) syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC);
		if (fd >= 0)
		{
			void	   *p = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
								 MAP_SHARED, fd, 0);

			close(fd);
			shared = p == MAP_FAILED ? NULL : p;
		}
	}
	return shared;
}

static enum fate
fate_of_path(int call, const char *path)
{
	struct faulty_disk *d = disk();
	int			is_dead;
	int			n;

	if (d == NULL || d->calls == 0 || strstr(path, d->path) == NULL)
		return WORKS;
	is_dead = d->from_on && d->nth > 0 && d->count >= d->nth;
	if (!((is_dead ? d->dead : d->calls) & call))
		return WORKS;
	n = __atomic_add_fetch(&d->count, 1, __ATOMIC_SEQ_CST);
	if (d->nth == 0 || (d->from_on ? n < d->nth : n != d->nth))
		return WORKS;
	__atomic_add_fetch(&d->failed, 1, __ATOMIC_SEQ_CST);
	if (d->error == 0)
	{
		struct timespec time = {d->delay_ms / 1000,
		d->delay_ms % 1000 * 1000000L};
		sigset_t	timers;
		sigset_t	before;

		/* the server leaves timers running that it does not need any more */
		sigemptyset(&timers);
		sigaddset(&timers, SIGALRM);
		sigprocmask(SIG_BLOCK, &timers, &before);
		while (nanosleep(&time, &time) != 0 && d->from_on)
			;
		sigprocmask(SIG_SETMASK, &before, NULL);
		return WORKS;
	}
	if (d->error < 0)
		return HALF;
	errno = d->error;
	return FAILS;
}

static enum fate
fate_of(int call, int fd)
{
	struct faulty_disk *d = disk();
	char		link[64];
	char		path[4096];
	ssize_t		n;

	if (d == NULL || d->calls == 0)
		return WORKS;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	return fate_of_path(call, path);
}

ssize_t
pwrite(int fd, const void *data, size_t size, off_t offset)
{
	switch (fate_of(CALL_WRITE, fd))
	{
		case FAILS:
			return -1;
		case HALF:
			size = size > 1 ? size / 2 : size;
			break;
		case WORKS:
			break;
	}
	return syscall(SYS_pwrite64, fd, data, size, offset);
}

ssize_t
pwritev(int fd, const struct iovec *parts, int n, off_t offset)
{
	static ssize_t (*next) (int, const struct iovec *, int, off_t);

	if (next == NULL)
		*(void **) &next = dlsym(RTLD_NEXT, "pwritev");
	switch (fate_of(CALL_WRITE, fd))
	{
		case FAILS:
			return -1;
		case HALF:
			return syscall(SYS_pwrite64, fd, parts[0].iov_base,
						   parts[0].iov_len / 2, offset);
		case WORKS:
			break;
	}
	return next(fd, parts, n, offset);
}

ssize_t
pread(int fd, void *data, size_t size, off_t offset)
{
	if (fate_of(CALL_READ, fd) == FAILS)
		return -1;
	return syscall(SYS_pread64, fd, data, size, offset);
}

ssize_t
preadv(int fd, const struct iovec *parts, int n, off_t offset)
{
	static ssize_t (*next) (int, const struct iovec *, int, off_t);

	if (next == NULL)
		*(void **) &next = dlsym(RTLD_NEXT, "preadv");
	if (fate_of(CALL_READ, fd) == FAILS)
		return -1;
	return next(fd, parts, n, offset);
}

int
ftruncate(int fd, off_t size)
{
	if (fate_of(CALL_TRUNCATE, fd) == FAILS)
		return -1;
	return (int) syscall(SYS_ftruncate, fd, size);
}

int
truncate(const char *path, off_t size)
{
	if (fate_of_path(CALL_TRUNCATE, path) == FAILS)
		return -1;
	return (int) syscall(SYS_truncate, path, size);
}

int
posix_fallocate(int fd, off_t from, off_t size)
{
	if (fate_of(CALL_ALLOCATE, fd) == FAILS)
		return errno;
	return syscall(SYS_fallocate, fd, 0, from, size) == 0 ? 0 : errno;
}

int
fsync(int fd)
{
	if (fate_of(CALL_SYNC, fd) == FAILS)
		return -1;
	return (int) syscall(SYS_fsync, fd);
}

int
fdatasync(int fd)
{
	if (fate_of(CALL_SYNC, fd) == FAILS)
		return -1;
	return (int) syscall(SYS_fdatasync, fd);
}

int
sync_file_range(int fd, off64_t from, off64_t size, unsigned int flags)
{
	if (fate_of(CALL_WRITEBACK, fd) == FAILS)
		return -1;
	return (int) syscall(SYS_sync_file_range, fd, from, size, flags);
}

int
unlink(const char *path)
{
	if (fate_of_path(CALL_UNLINK, path) == FAILS)
		return -1;
	return (int) syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int
open(const char *path, int flags,...)
{
	va_list		args;
	mode_t		mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	if (fate_of_path(CALL_OPEN, path) == FAILS)
		return -1;
	return (int) syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
