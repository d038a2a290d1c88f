/*-------------------------------------------------------------------------
 *
 * read_trace.c
 *	  A library to preload into a server that traces its reads: per file, how
 *	  many blocks were read, and how long that took.
 *
 *	  cc -O2 -shared -fPIC -o read_trace.so bench/read_trace.c -ldl
 *	  READ_TRACE=FILE READ_US=500 NEXT_US=20 LD_PRELOAD=.../read_trace.so postgres ...
 *
 * FILE, of a megabyte of zeros, has an entry of three numbers of 64 bits for each
 * file that was read: inode, blocks, nanoseconds.  A read that does not follow
 * the file's last one in this process takes READ_US longer than it does, another
 * one NEXT_US for each block: so the emulated device is known exactly.  Of reads by
 * io_uring the blocks are counted only.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 8192
#define ENTRIES (1048576 / sizeof(Entry))

typedef struct Entry
{
	uint64_t	inode;
	uint64_t	blocks;
	uint64_t	ns;
} Entry;

static Entry *entries = NULL;
static long read_us;
static long next_us;

/* where the last read of each file ended, in this process */
static off_t ends[ENTRIES];

static uint64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

static void
set_up(void)
{
	static int	done = 0;
	const char *file = getenv("READ_TRACE");
	int			fd;

	if (done++ || file == NULL || (fd = open(file, O_RDWR)) < 0)
		return;
	read_us = getenv("READ_US") ? atol(getenv("READ_US")) : 0;
	next_us = getenv("NEXT_US") ? atol(getenv("NEXT_US")) : 0;
	entries = mmap(NULL, 1048576, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (entries == MAP_FAILED)
		entries = NULL;
	close(fd);
}

/* The number of the file's entry, made if needed; -1: it is not of interest. */
static int
find_entry(int fd)
{
	struct stat about;
	uint64_t	inode;
	size_t		i;

	set_up();
	if (entries == NULL || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
		return -1;
	inode = about.st_ino;
	for (i = inode % ENTRIES; entries[i].inode != inode; i = (i + 1) % ENTRIES)
		if (entries[i].inode == 0)
		{
			uint64_t	zero = 0;

			if (__atomic_compare_exchange_n(&entries[i].inode, &zero, inode, 0,
											__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
				zero == inode)
				break;
		}
	return (int) i;
}

/* Microseconds that the device takes for a read. */
static long
device_us(int entry, off_t offset, ssize_t bytes)
{
	long		us = offset != ends[entry] ? read_us : 0;

	ends[entry] = offset + bytes;
	return us + next_us * (long) (bytes / BLOCK);
}

static void
take(long us)
{
	struct timespec wait = {us / 1000000, us % 1000000 * 1000};

	if (us > 0)
		nanosleep(&wait, NULL);
}

static void
add(int entry, ssize_t bytes, uint64_t ns)
{
	__atomic_add_fetch(&entries[entry].blocks, (uint64_t) bytes / BLOCK,
					   __ATOMIC_RELAXED);
	__atomic_add_fetch(&entries[entry].ns, ns, __ATOMIC_RELAXED);
}

/* A read that has been done: waits as the device would, and adds it. */
static void
done(int entry, off_t offset, ssize_t bytes, uint64_t began)
{
	if (entry < 0 || bytes <= 0)
		return;
	take(device_us(entry, offset, bytes));
	add(entry, bytes, now() - began);
}

static ssize_t
traced_pread(const char *name, int fd, void *buffer, size_t size, off_t offset)
{
	ssize_t		(*real) (int, void *, size_t, off_t) =
	(ssize_t (*) (int, void *, size_t, off_t)) dlsym(RTLD_NEXT, name);
	int			entry = size % BLOCK == 0 ? find_entry(fd) : -1;
	uint64_t	began = now();
	ssize_t		bytes = real(fd, buffer, size, offset);

	done(entry, offset, bytes, began);
	return bytes;
}

static ssize_t
traced_preadv(const char *name, int fd, const struct iovec *iov, int n,
			  off_t offset)
{
	ssize_t		(*real) (int, const struct iovec *, int, off_t) =
	(ssize_t (*) (int, const struct iovec *, int, off_t)) dlsym(RTLD_NEXT, name);
	int			entry = find_entry(fd);
	uint64_t	began = now();
	ssize_t		bytes = real(fd, iov, n, offset);

	done(entry, offset, bytes, began);
	return bytes;
}

ssize_t
pread(int fd, void *buffer, size_t size, off_t offset)
{
	return traced_pread("pread", fd, buffer, size, offset);
}

ssize_t
pread64(int fd, void *buffer, size_t size, off_t offset)
{
	return traced_pread("pread64", fd, buffer, size, offset);
}

ssize_t
preadv(int fd, const struct iovec *iov, int n, off_t offset)
{
	return traced_preadv("preadv", fd, iov, n, offset);
}

ssize_t
preadv64(int fd, const struct iovec *iov, int n, off_t offset)
{
	return traced_preadv("preadv64", fd, iov, n, offset);
}

/*
 * io_uring: the beginning of liburing's struct io_uring, and where the requests
 * are that have not been submitted.
 */
typedef struct Ring
{
	unsigned   *khead;
	unsigned   *ktail;
	unsigned   *kring_mask;
	unsigned   *kring_entries;
	unsigned   *kflags;
	unsigned   *kdropped;
	unsigned   *array;
	struct io_uring_sqe *sqes;
	unsigned	sqe_head;
	unsigned	sqe_tail;
} Ring;

/* Bytes that a request reads; 0: it is no read. */
static ssize_t
bytes_of(const struct io_uring_sqe *sqe)
{
	const struct iovec *iov = (const struct iovec *) (uintptr_t) sqe->addr;
	ssize_t		bytes = 0;

	if (sqe->opcode == IORING_OP_READ)
		return (ssize_t) sqe->len;
	if (sqe->opcode == IORING_OP_READV)
		for (unsigned i = 0; i < sqe->len; i++)
			bytes += (ssize_t) iov[i].iov_len;
	return bytes;
}

int
io_uring_submit(void *ring)
{
	int			(*real) (void *) =
	(int (*) (void *)) dlsym(RTLD_NEXT, "io_uring_submit");
	const Ring *r = ring;

	for (unsigned i = r->sqe_head; i != r->sqe_tail; i++)
	{
		const struct io_uring_sqe *sqe = &r->sqes[i & *r->kring_mask];
		ssize_t		bytes = bytes_of(sqe);
		int			entry = bytes > 0 ? find_entry(sqe->fd) : -1;

		if (entry >= 0)
			add(entry, bytes, 0);
	}
	return real(ring);
}
