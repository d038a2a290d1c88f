/*-------------------------------------------------------------------------
 *
 * disk.c
 *	  nbdkit plugin: a file that behaves like a spinning disk.
 *
 *	  nbdkit ./disk.so file=PATH [rotation_us=4170] [travel_us=4000]
 *							  [mb_per_s=90] [read_buffer_kb=2048]
 *							  [write_cache_kb=32768] [write_us=0] [arms=1]
 *							  [credit=0] [limit=100] [fast=PATH]
 *
 * One request at a time, or one for each of several arms, which all reach the
 * whole disk.  The nearest arm that is free takes the next request.  A read away from the head costs half a revolution
 * (7200 a minute) and a travel that grows with the root of the distance,
 * travel_us for the whole width.  From there on the disk reads ahead at its
 * rate, into a buffer of 2 MB: what is in the buffer costs nothing, what
 * follows costs the time until the head is there.  Requests that come slightly
 * out of order, as from several threads, are therefore sequential, as on a
 * disk.  Without a buffer a read costs nothing but its transfer if it begins where
 * the last one has ended, and a seek otherwise.
 *
 * Writes land in a cache of 32 MB that survives a power failure and is emptied
 * at the disk's rate: they wait only while it is full, do not move the head,
 * and a flush costs nothing.  Without a cache a write takes its transfer and
 * write_us, and an arm meanwhile, but does not move the head either.
 *
 * With a credit it is also a volume that is rented by its requests per second:
 * limit of them are let through, and as many more as there is credit, which
 * grows again, by limit per second, while fewer are made.
 *
 * While there is a file of the name "fast" nothing takes any time: that is how
 * caches are filled before something is measured.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#define NBDKIT_API_VERSION 2
#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL	/* see disk_thread_model() */

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../disk_file.h"

#define MAX_ARMS 8

static unsigned rotation_us = 4170;
static unsigned travel_us = 4000;
static unsigned mb_per_s = 90;
static unsigned read_buffer_kb = 2048;
static unsigned write_cache_kb = 32768;
static unsigned write_us = 0;
static unsigned arms = 1;
static unsigned credit = 0;		/* 0: there is no limit */
static unsigned limit = 100;
static char *fast = NULL;		/* NULL: never */

/* times in ns of CLOCK_MONOTONIC, positions in bytes */
typedef struct Arm
{
	bool		busy;
	int64_t		run_start;		/* where the head came down last */
	int64_t		head;			/* end of what has been asked for since */
	int64_t		head_time;		/* when the head is or was there */
} Arm;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_free = PTHREAD_COND_INITIALIZER;
static Arm	all_arms[MAX_ARMS];
static int64_t drained_time = 0;	/* when the write cache will be empty */
static double tokens = -1;		/* requests that may be made at once */
static int64_t tokens_time = 0;

static int64_t
get_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void
sleep_until(int64_t time)
{
	struct timespec until;

	until.tv_sec = time / 1000000000;
	until.tv_nsec = time % 1000000000;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until,
						   NULL) == EINTR)
		;
}

static int
is_fast(void)
{
	return fast != NULL && access(fast, F_OK) == 0;
}

static int64_t
max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Take a token: the time from which on the request may be answered. */
static int64_t
take_token(int64_t now)
{
	if (credit == 0)
		return now;
	if (tokens < 0)
		tokens = credit;
	else
		tokens = fmin(credit, tokens +
					  (double) (now - tokens_time) / 1e9 * limit);
	tokens_time = now;
	tokens -= 1;
	if (tokens >= 0)
		return now;
	now += (int64_t) (-tokens / limit * 1e9);
	tokens_time = now;
	tokens = 0;
	return now;
}

/* Time the disk needs to pass over so many bytes. */
static int64_t
transfer(int64_t bytes)
{
	return bytes * 1000 / mb_per_s;
}

/* Waits for an arm that is free: the one nearest to a position. */
static Arm *
take_arm(int64_t position)
{
	Arm		   *nearest = NULL;

	pthread_mutex_lock(&lock);
	for (;;)
	{
		for (unsigned i = 0; i < arms; i++)
		{
			Arm		   *arm = &all_arms[i];

			if (!arm->busy &&
				(nearest == NULL || llabs(arm->head - position) <
				 llabs(nearest->head - position)))
				nearest = arm;
		}
		if (nearest != NULL)
			break;
		pthread_cond_wait(&is_free, &lock);
	}
	nearest->busy = true;
	pthread_mutex_unlock(&lock);
	return nearest;
}

static void
release_arm(Arm *arm)
{
	pthread_mutex_lock(&lock);
	arm->busy = false;
	pthread_cond_signal(&is_free);
	pthread_mutex_unlock(&lock);
}

/* Time at which a read that arrives now is complete; moves the head. */
static int64_t
move_head(Arm *arm, int64_t now, int64_t start, int64_t end)
{
	int64_t		buffer = read_buffer_kb * INT64_C(1024);
	int64_t		distance = llabs(start - arm->head);
	double		width = sqrt((double) distance / (double) size);
	int64_t		seek = (int64_t) ((rotation_us + travel_us * width) * 1e3);

	if (start >= max(arm->run_start, arm->head - buffer) &&
		(start <= arm->head || (buffer > 0 && transfer(distance) < seek)))
	{
		if (end <= arm->head)
			return now;			/* in the buffer */
		/* the disk has read ahead meanwhile, but not more than fits */
		arm->head_time = max(arm->head_time, now - transfer(buffer)) +
			transfer(end - arm->head);
	}
	else
	{
		arm->run_start = start;
		arm->head_time = now + seek + transfer(end - start);
	}
	arm->head = end;
	return arm->head_time;
}

/* Time at which a write that arrives now is complete. */
static int64_t
take_write(int64_t now, int64_t bytes)
{
	int64_t		done;

	if (write_cache_kb == 0)
		return now + write_us * INT64_C(1000) + transfer(bytes);
	pthread_mutex_lock(&lock);
	drained_time = max(drained_time, now) + transfer(bytes);
	done = drained_time - transfer(write_cache_kb * INT64_C(1024));
	pthread_mutex_unlock(&lock);
	return done;
}

static int
disk_config(const char *key, const char *value)
{
	if (strcmp(key, "file") == 0)
		return (file = nbdkit_realpath(value)) == NULL ? -1 : 0;
	if (strcmp(key, "fast") == 0)
		return (fast = nbdkit_absolute_path(value)) == NULL ? -1 : 0;
	if (strcmp(key, "rotation_us") == 0)
		return nbdkit_parse_unsigned(key, value, &rotation_us);
	if (strcmp(key, "travel_us") == 0)
		return nbdkit_parse_unsigned(key, value, &travel_us);
	if (strcmp(key, "mb_per_s") == 0)
		return nbdkit_parse_unsigned(key, value, &mb_per_s);
	if (strcmp(key, "read_buffer_kb") == 0)
		return nbdkit_parse_unsigned(key, value, &read_buffer_kb);
	if (strcmp(key, "write_cache_kb") == 0)
		return nbdkit_parse_unsigned(key, value, &write_cache_kb);
	if (strcmp(key, "write_us") == 0)
		return nbdkit_parse_unsigned(key, value, &write_us);
	if (strcmp(key, "arms") == 0)
		return nbdkit_parse_unsigned(key, value, &arms);
	if (strcmp(key, "credit") == 0)
		return nbdkit_parse_unsigned(key, value, &credit);
	if (strcmp(key, "limit") == 0)
		return nbdkit_parse_unsigned(key, value, &limit);
	nbdkit_error("unknown parameter \"%s\"", key);
	return -1;
}

static int
disk_get_ready(void)
{
	if (mb_per_s == 0 || limit == 0)
	{
		nbdkit_error("mb_per_s and limit must be greater than 0");
		return -1;
	}
	if (arms < 1 || arms > MAX_ARMS || (arms > 1 && credit > 0))
	{
		nbdkit_error("a disk has 1 to %d arms, and 1 if it has a credit",
					 MAX_ARMS);
		return -1;
	}
	return open_file() ? 0 : -1;
}

/* One request after the other, in their order, if there is one arm. */
static int
disk_thread_model(void)
{
	return arms > 1 ? NBDKIT_THREAD_MODEL_PARALLEL :
		NBDKIT_THREAD_MODEL_SERIALIZE_ALL_REQUESTS;
}

static int
disk_pread(void *handle, void *buf, uint32_t count, uint64_t offset,
		   uint32_t flags)
{
	Arm		   *arm = take_arm((int64_t) offset);
	int64_t		now = get_time();
	bool		done = pread(fd, buf, count, (off_t) offset) == (ssize_t) count;

	(void) handle;
	(void) flags;
	if (!done)
		nbdkit_error("could not read: %m");
	else if (!is_fast())
		sleep_until(max(take_token(now),
						move_head(arm, now, (int64_t) offset,
								  (int64_t) offset + count)));
	release_arm(arm);
	return done ? 0 : -1;
}

static int
disk_pwrite(void *handle, const void *buf, uint32_t count, uint64_t offset,
			uint32_t flags)
{
	bool		takes_arm = arms == 1 || write_cache_kb == 0;
	Arm		   *arm = takes_arm ? take_arm((int64_t) offset) : NULL;
	int64_t		now = get_time();
	bool		done = pwrite(fd, buf, count, (off_t) offset) == (ssize_t) count;

	(void) handle;
	(void) flags;
	if (!done)
		nbdkit_error("could not write: %m");
	else if (!is_fast())
		sleep_until(max(take_token(now), take_write(now, count)));
	if (arm != NULL)
		release_arm(arm);
	return done ? 0 : -1;
}

static int
disk_flush(void *handle, uint32_t flags)
{
	(void) handle;
	(void) flags;
	return 0;
}

static struct nbdkit_plugin plugin = {
	.name = "disk",
	.longname = "a file that behaves like a spinning disk",
	.config = disk_config,
	.config_help = "file=PATH [rotation_us=N] [travel_us=N] [mb_per_s=N] [read_buffer_kb=N] [write_cache_kb=N] [write_us=N] [arms=N] [credit=N] [limit=N] [fast=PATH]",
	.magic_config_key = "file",
	.thread_model = disk_thread_model,
	.get_ready = disk_get_ready,
	.open = disk_open,
	.get_size = disk_get_size,
	.pread = disk_pread,
	.pwrite = disk_pwrite,
	.flush = disk_flush,
	.errno_is_preserved = 1,
};

NBDKIT_REGISTER_PLUGIN(plugin)
