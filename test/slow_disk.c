/*-------------------------------------------------------------------------
 *
 * slow_disk.c
 *	  Plays devices that the machine does not have, for tests: a library to
 *	  preload into a server.  What it does is said in the environment:
 *
 *	  SLOW_DISK_US=n		asynchronous requests are done one after the other
 *							and take n microseconds each; io_destroy() waits
 *							for them, deaf to signals, as the kernel's does
 *	  SLOW_DISK_SKIPS=1		who waits for them does not, but the process's
 *							monotonic clock goes on by the time that they take,
 *							and not by what the machine's own disk takes, but for
 *							waits for a processor: so what else the machine does
 *							hardly matters
 *	  SLOW_DISK_CACHED_FROM=n	requests from offset n on take a 20th of that
 *	  SLOW_DISK_CACHED_FILE=s	so do those to files with s in their path
 *	  SLOW_DISK_CREDIT=n	after n requests they take 20 times as long
 *	  SLOW_DISK_CREDIT_2=n	after n requests they take 5 times as long again
 *	  SLOW_DISK_BUSY=n		the first n requests take 20 times as long
 *	  SLOW_DISK_WAVES=n		for n milliseconds of every 2n requests take 20
 *							times as long
 *	  SLOW_CLOCK_NS=n		reading the monotonic clock takes n nanoseconds
 *	  REFUSE_O_DIRECT=1		opening a file with O_DIRECT fails
 *	  REFUSE_IO_SETUP=n		setting up asynchronous I/O fails with error number n
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_REQUESTS 1024

typedef int (*SubmitFunction) (io_context_t, long, struct iocb **);
typedef int (*GetEventsFunction) (io_context_t, long, long, struct io_event *,
								  struct timespec *);
typedef int (*SetupFunction) (int, io_context_t *);
typedef int (*DestroyFunction) (io_context_t);

static struct io_event queue[MOST_REQUESTS];
static int64_t due[MOST_REQUESTS];
static int	queued = 0;
static int64_t busy_until = 0;
static int64_t started = 0;		/* requests */
static int64_t skipped = 0;		/* by which the clock is ahead */

static int64_t
setting(const char *name)
{
	const char *value = getenv(name);

	return value == NULL ? 0 : atoll(value);
}

static int64_t
real_time(void)
{
	struct timespec now;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Time that this process has waited for a processor. */
static int64_t
delayed_time(void)
{
	static int	fd = -1;
	char		line[128];
	char	   *delay;
	ssize_t		n;

	if (fd < 0)
		fd = (int) syscall(SYS_openat, AT_FDCWD, "/proc/self/schedstat",
						   O_RDONLY | O_CLOEXEC);
	n = pread(fd, line, sizeof(line) - 1, 0);
	if (n <= 0)
		return 0;
	line[n] = '\0';
	delay = strchr(line, ' ');
	return delay == NULL ? 0 : atoll(delay);
}

static int64_t
current_time(void)
{
	return real_time() + skipped;
}

/* Lets time pass; -1 if a signal has come. */
static int
pass_time(int64_t ns)
{
	struct timespec time = {ns / 1000000000, ns % 1000000000};

	if (setting("SLOW_DISK_SKIPS"))
	{
		skipped += ns;
		return 0;
	}
	return nanosleep(&time, NULL);
}

/* Is the request answered by the cache? */
static int
is_cached(const struct iocb *iocb)
{
	int64_t		from = setting("SLOW_DISK_CACHED_FROM");
	const char *file = getenv("SLOW_DISK_CACHED_FILE");
	char		link[64];
	char		path[4096];
	ssize_t		n;

	if (from > 0 && iocb->u.c.offset >= from)
		return 1;
	if (file == NULL)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", iocb->aio_fildes);
	n = readlink(link, path, sizeof(path) - 1);
	path[n < 0 ? 0 : n] = '\0';
	return strstr(path, file) != NULL;
}

/* Do the request now, and let it be finished when its turn comes. */
static void
start_request(struct iocb *iocb)
{
	int64_t		service = setting("SLOW_DISK_US") * 1000;
	int64_t		began = real_time();
	int64_t		now = began + skipped;
	int64_t		delayed = delayed_time();
	int64_t		wave = setting("SLOW_DISK_WAVES") * 1000000;
	long		result;

	if (iocb->aio_lio_opcode == IO_CMD_PREAD)
		result = pread(iocb->aio_fildes, iocb->u.c.buf, iocb->u.c.nbytes,
					   iocb->u.c.offset);
	else if (iocb->aio_lio_opcode == IO_CMD_PWRITE)
		result = pwrite(iocb->aio_fildes, iocb->u.c.buf, iocb->u.c.nbytes,
						iocb->u.c.offset);
	else
		result = fsync(iocb->aio_fildes);
	if (setting("SLOW_DISK_SKIPS"))
		skipped -= real_time() - began - (delayed_time() - delayed);

	if (is_cached(iocb))
		service /= 20;
	started++;
	if (started <= setting("SLOW_DISK_BUSY") ||
		(setting("SLOW_DISK_CREDIT") > 0 &&
		 started > setting("SLOW_DISK_CREDIT")))
		service *= 20;
	if (setting("SLOW_DISK_CREDIT_2") > 0 &&
		started > setting("SLOW_DISK_CREDIT_2"))
		service *= 5;
	if (wave > 0 && now / wave % 2 == 1)
		service *= 20;
	busy_until = (busy_until > now ? busy_until : now) + service;
	due[queued] = busy_until;
	queue[queued].data = iocb->data;
	queue[queued].obj = iocb;
	queue[queued].res = result < 0 ? -errno : result;
	queued++;
}

int
io_submit(io_context_t context, long n, struct iocb **iocbs)
{
	long		i;

	if (setting("SLOW_DISK_US") == 0)
	{
		SubmitFunction next = (SubmitFunction) dlsym(RTLD_NEXT, "io_submit");

		return next(context, n, iocbs);
	}
	for (i = 0; i < n && queued < MOST_REQUESTS; i++)
		start_request(iocbs[i]);
	return (int) i;
}

int
io_getevents(io_context_t context, long least, long most,
			 struct io_event *events, struct timespec *timeout)
{
	int64_t		until;
	int			n = 0;

	if (setting("SLOW_DISK_US") == 0)
	{
		GetEventsFunction next =
		(GetEventsFunction) dlsym(RTLD_NEXT, "io_getevents");

		return next(context, least, most, events, timeout);
	}
	until = current_time() + timeout->tv_sec * 1000000000 + timeout->tv_nsec;
	for (;;)
	{
		int64_t		now = current_time();
		int			i;

		/* they are due in the order of the queue */
		while (n < most && queued > 0 && due[0] <= now)
		{
			events[n++] = queue[0];
			queued--;
			for (i = 0; i < queued; i++)
			{
				queue[i] = queue[i + 1];
				due[i] = due[i + 1];
			}
		}
		if (n >= least || now >= until)
			return n;
		if (pass_time((queued > 0 && due[0] < until ? due[0] : until) - now) != 0)
			return n > 0 ? n : -EINTR;
	}
}

int
io_setup(int most, io_context_t *context)
{
	SetupFunction next = (SetupFunction) dlsym(RTLD_NEXT, "io_setup");
	int			error = (int) setting("REFUSE_IO_SETUP");

	return error != 0 ? -error : next(most, context);
}

int
io_destroy(io_context_t context)
{
	DestroyFunction next = (DestroyFunction) dlsym(RTLD_NEXT, "io_destroy");

	while (queued > 0 && current_time() < busy_until)
		pass_time(busy_until - current_time());
	queued = 0;
	return next(context);
}

int
clock_gettime(clockid_t clock, struct timespec *time)
{
	if (clock == CLOCK_MONOTONIC)
	{
		int64_t		now = current_time();
		int64_t		until = now + setting("SLOW_CLOCK_NS");

		while (now < until)
			now = current_time();
		time->tv_sec = now / 1000000000;
		time->tv_nsec = now % 1000000000;
		return 0;
	}
	return (int) syscall(SYS_clock_gettime, clock, time);
}

int
open(const char *path, int flags,...)
{
	va_list		args;
	mode_t		mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	if ((flags & O_DIRECT) && setting("REFUSE_O_DIRECT"))
	{
		errno = EINVAL;
		return -1;
	}
	return (int) syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int			open64(const char *path, int flags,...) __attribute__((alias("open")));
