/*-------------------------------------------------------------------------
 *
 * volatile_disk.c
 *	  Plays a disk that loses what was not synced, for tests: a library to
 *	  preload into a server.
 *
 * Before a file of the data directory is changed, what it held there is
 * appended to a log of that file in the directory that VOLATILE_DISK names; a
 * sync of the file removes its log.  To cut the power is to kill all processes
 * at one moment and to undo what the logs say, from the last record to the
 * first: all of it, or for each sector down to some record (t/141_power_cut.pl
 * does that).  The page cache survives the processes, so nothing is really
 * synced.
 *
 * A log is named after the file's inode, as files are renamed (WAL segments
 * are recycled).  A sync takes the log away before it begins, as of then, and
 * the log that it took counts until it has ended.  What changes files by
 * write() or by stdio counts as synced at once, as do renames, new names, and
 * names that are removed.  So do files that nobody has a name for any more.
 *
 * Holds.  The directory may have a file "hold.checkpointer" or "hold.mover",
 * with a number n, a kind (write, extend, which is a write, too, truncate, sync,
 * any) and a part of a path.  Before such a process does the n-th operation of that kind on files
 * whose path has that part, it makes "hold.….held" and waits until the file of
 * the hold is gone.  What it came to is listed in "hold.….seen", n lines.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define DATA_DIRECTORY "/pgdata/"

/* A record of a log; as many bytes follow as the file held there. */
struct undo
{
	int64_t		offset;
	int64_t		length;			/* of what is written; -1: it is cut off */
	int64_t		held;
	int64_t		size;			/* of the file */
};

/* Who can be held, and what its title has in it. */
static const struct
{
	const char *name;
	const char *title;
}			holds[] = {
	{"hold.checkpointer", "checkpointer"},
	{"hold.mover", "tablespace_advisor move"},
};

/* Of a line of what was seen. */
#define SEEN_SIZE 160

/*
 * The path of an open file.
 */
static void
path_of(int fd, char *path, size_t size)
{
	char		link[64];
	ssize_t		n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, size - 1);
	path[n < 0 ? 0 : n] = '\0';
}

/*
 * Reads the beginning of a file; false if there is none.
 */
static int
read_beginning(const char *path, char *bytes, size_t size)
{
	int			fd = (int) syscall(SYS_openat, AT_FDCWD, path,
								   O_RDONLY | O_CLOEXEC);
	ssize_t		n;

	if (fd < 0)
		return 0;
	n = read(fd, bytes, size - 1);
	close(fd);
	bytes[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/*
 * Adds a line to what was seen; how many there are.
 */
static long
note_seen(const char *hold, const char *kind, const char *path, off_t offset)
{
	char		name[4096];
	char		line[SEEN_SIZE + 1];
	char		what[SEEN_SIZE];
	struct stat st;
	int			fd;

	snprintf(name, sizeof(name), "%s.seen", hold);
	snprintf(what, sizeof(what), "%s %jd %s", kind, (intmax_t) offset, path);
	snprintf(line, sizeof(line), "%-*s\n", SEEN_SIZE - 1, what);
	fd = (int) syscall(SYS_openat, AT_FDCWD, name,
					   O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, SEEN_SIZE) != SEEN_SIZE ||
		fstat(fd, &st) != 0)
		abort();
	close(fd);
	return (long) (st.st_size / SEEN_SIZE);
}

/*
 * Is an operation of this kind one of those to be held?
 */
static int
is_of_kind(const char *kind, const char *held)
{
	return strcmp(held, "any") == 0 || strcmp(held, kind) == 0 ||
		(strcmp(held, "write") == 0 && strcmp(kind, "extend") == 0);
}

/*
 * Waits before an operation, if that is wanted.
 */
static void
wait_if_held(int fd, const char *kind, off_t offset)
{
	const char *dir = getenv("VOLATILE_DISK");
	const struct timespec pause = {0, 2000000};
	int			saved = errno;

	for (size_t i = 0; dir != NULL && i < sizeof(holds) / sizeof(*holds); i++)
	{
		char		hold[2048];
		char		held[4096];
		char		told[512];
		char		title[512];
		char		path[4096];
		char		kind_held[16];
		char		part[256];
		const char *found;
		long		n;

		snprintf(hold, sizeof(hold), "%s/%s", dir, holds[i].name);
		if (!read_beginning(hold, told, sizeof(told)) ||
			sscanf(told, "%ld %15s %255s", &n, kind_held, part) != 3 ||
			!read_beginning("/proc/self/cmdline", title, sizeof(title)) ||
			strstr(title, holds[i].title) == NULL ||
			!is_of_kind(kind, kind_held))
			continue;
		path_of(fd, path, sizeof(path));
		found = strstr(path, part);
		if (found == NULL || note_seen(hold, kind, found, offset) != n)
			continue;

		snprintf(held, sizeof(held), "%s.held", hold);
		close((int) syscall(SYS_openat, AT_FDCWD, held,
							O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		while (access(hold, F_OK) == 0)
			nanosleep(&pause, NULL);
	}
	errno = saved;
}

/*
 * The same, before a write.
 */
static void
wait_if_write_held(int fd, off_t offset)
{
	struct stat st;
	int			saved = errno;

	wait_if_held(fd, fstat(fd, &st) == 0 && offset >= st.st_size ?
				 "extend" : "write", offset);
	errno = saved;
}

/*
 * The name of the log of an open file, with "suffix"; 0 if it has none.
 */
static int
log_name(const struct stat *st, const char *suffix, char *name, size_t size)
{
	const char *dir = getenv("VOLATILE_DISK");

	if (dir == NULL || !S_ISREG(st->st_mode) || st->st_nlink == 0)
		return 0;
	snprintf(name, size, "%s/%ju%s", dir, (uintmax_t) st->st_ino, suffix);
	return 1;
}

/*
 * The same, if the file is in the data directory.
 */
static int
find_log(int fd, struct stat *st, char *name, size_t size)
{
	char		path[4096];

	path_of(fd, path, sizeof(path));
	return strstr(path, DATA_DIRECTORY) != NULL && fstat(fd, st) == 0 &&
		log_name(st, "", name, size);
}

/*
 * Reads from a file that may be open for writing only.
 */
static void
read_again(int fd, void *data, size_t size, off_t offset)
{
	char		link[64];
	int			again;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	again = (int) syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
	if (again < 0 ||
		syscall(SYS_pread64, again, data, size, offset) != (long) size)
		abort();
	close(again);
}

/*
 * Logs what a file holds from an offset on: so much, or (-1) all of it.
 */
static void
log_undo(int fd, off_t offset, off_t length)
{
	int			saved = errno;
	struct stat st;
	struct undo *undo;
	char		name[4096];
	off_t		held;
	int			out;

	if (!find_log(fd, &st, name, sizeof(name)))
	{
		errno = saved;
		return;
	}
	held = st.st_size - offset;
	if (length >= 0 && held > length)
		held = length;
	if (held < 0)
		held = 0;
	undo = malloc(sizeof(*undo) + held);
	out = (int) syscall(SYS_openat, AT_FDCWD, name,
						O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (undo == NULL || out < 0)
		abort();
	undo->offset = offset;
	undo->length = length;
	undo->held = held;
	undo->size = st.st_size;
	if (held > 0)
		read_again(fd, undo + 1, held, offset);
	if (write(out, undo, sizeof(*undo) + held) != (ssize_t) (sizeof(*undo) + held))
		abort();
	close(out);
	free(undo);
	errno = saved;
}

/*
 * The file has been synced.
 */
static int
forget(int fd)
{
	struct stat st;
	char		name[4096];
	char		taken[4096 + 32];

	wait_if_held(fd, "sync", 0);
	if (!find_log(fd, &st, name, sizeof(name)))
		return 0;
	snprintf(taken, sizeof(taken), "%s.%d", name, (int) getpid());
	if (rename(name, taken) == 0)
		syscall(SYS_unlinkat, AT_FDCWD, taken, 0);
	return 0;
}

ssize_t
pwrite(int fd, const void *data, size_t size, off_t offset)
{
	wait_if_write_held(fd, offset);
	log_undo(fd, offset, size);
	return syscall(SYS_pwrite64, fd, data, size, offset);
}

ssize_t
pwritev(int fd, const struct iovec *parts, int n, off_t offset)
{
	ssize_t		(*next) (int, const struct iovec *, int, off_t);
	size_t		size = 0;

	for (int i = 0; i < n; i++)
		size += parts[i].iov_len;
	wait_if_write_held(fd, offset);
	log_undo(fd, offset, size);
	*(void **) &next = dlsym(RTLD_NEXT, "pwritev");
	return next(fd, parts, n, offset);
}

int
ftruncate(int fd, off_t size)
{
	wait_if_held(fd, "truncate", size);
	log_undo(fd, size, -1);
	return (int) syscall(SYS_ftruncate, fd, size);
}

int
truncate(const char *path, off_t size)
{
	int			fd = (int) syscall(SYS_openat, AT_FDCWD, path, O_RDWR);
	int			result;
	int			saved;

	if (fd < 0)
		return -1;
	result = ftruncate(fd, size);
	saved = errno;
	close(fd);
	errno = saved;
	return result;
}

int
posix_fallocate(int fd, off_t from, off_t size)
{
	wait_if_held(fd, "extend", from);
	log_undo(fd, from, 0);
	return syscall(SYS_fallocate, fd, 0, from, size) == 0 ? 0 : errno;
}

int
fsync(int fd)
{
	return forget(fd);
}

int
fdatasync(int fd)
{
	return forget(fd);
}

/*
 * A file that loses its only name: its inode may be another file's soon.
 */
int
unlink(const char *path)
{
	struct stat st;
	char		name[4096];

	if (lstat(path, &st) == 0 && st.st_nlink == 1 &&
		log_name(&st, "", name, sizeof(name)))
		syscall(SYS_unlinkat, AT_FDCWD, name, 0);
	return (int) syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* What a server with large files calls them. */
#define ALSO_CALLED(name) __attribute__((alias(name)))
ssize_t		pwrite64(int, const void *, size_t, off64_t) ALSO_CALLED("pwrite");
ssize_t		pwritev64(int, const struct iovec *, int, off64_t) ALSO_CALLED("pwritev");
int			ftruncate64(int, off64_t) ALSO_CALLED("ftruncate");
int			truncate64(const char *, off64_t) ALSO_CALLED("truncate");
int			posix_fallocate64(int, off64_t, off64_t) ALSO_CALLED("posix_fallocate");
