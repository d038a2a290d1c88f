/*-------------------------------------------------------------------------
 *
 * counters.c
 *	  The kernel's facts on a file and counters of I/O.
 *
 * All functions return 0 or a negative error number; "not known here" is an
 * error like any other, and the caller goes without the check it wanted.
 *
 * Pure: no server headers.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "probe/counters.h"

#define EXTENTS_AT_ONCE 64
#define MAX_STACK		16		/* devices on top of each other */
#define SECTOR_BYTES	512		/* of the kernel's counters, always */

/* Bytes that this process had read from and written to devices. */
int
tsa_process_io_read(TsaProcessIo *io)
{
	FILE	   *file = fopen("/proc/self/io", "re");
	char		line[256];
	int			found = 0;

	if (file == NULL)
		return -errno;
	while (fgets(line, sizeof(line), file) != NULL)
	{
		unsigned long long value;

		if (sscanf(line, "read_bytes: %llu", &value) == 1)
		{
			io->read_bytes = value;
			found++;
		}
		else if (sscanf(line, "write_bytes: %llu", &value) == 1)
		{
			io->write_bytes = value;
			found++;
		}
	}
	fclose(file);
	return found == 2 ? 0 : -ENOENT;
}

/* How long this process has waited for a processor, in nanoseconds. */
int
tsa_process_delay_read(uint64_t *delay_ns)
{
	FILE	   *file = fopen("/proc/self/schedstat", "re");
	unsigned long long delay;
	int			n;

	if (file == NULL)
		return -errno;
	n = fscanf(file, "%*u %llu", &delay);
	fclose(file);
	if (n != 1)
		return -EINVAL;
	*delay_ns = delay;
	return 0;
}

/*
 * Step from a device's sysfs directory to the one device below it: from a
 * partition to its disk, from a mapped device to the one that it maps.
 * Returns 0 when there is no such step (a whole disk, or several members).
 */
static int
step_down(char *dir)
{
	char		path[PATH_MAX + 32];
	char		below[PATH_MAX];
	char		only[NAME_MAX + 1] = "";
	struct dirent *entry;
	DIR		   *slaves;
	int			count = 0;

	snprintf(path, sizeof(path), "%s/partition", dir);
	if (access(path, F_OK) == 0)
	{
		*strrchr(dir, '/') = '\0';
		return 1;
	}

	snprintf(path, sizeof(path), "%s/slaves", dir);
	slaves = opendir(path);
	if (slaves == NULL)
		return 0;
	while ((entry = readdir(slaves)) != NULL)
	{
		if (entry->d_name[0] == '.')
			continue;
		snprintf(only, sizeof(only), "%s", entry->d_name);
		count++;
	}
	closedir(slaves);
	if (count != 1)
		return 0;
	if (snprintf(path, sizeof(path), "%s/slaves/%s", dir, only) >=
		(int) sizeof(path) || realpath(path, below) == NULL)
		return 0;
	snprintf(dir, PATH_MAX, "%s", below);
	return 1;
}

/*
 * The stat file of a device; of the whole disk, because load on its other
 * partitions disturbs as well.
 */
static int
stat_path_of(dev_t device, char *path, size_t size)
{
	char		link[64];
	char		dir[PATH_MAX];
	int			depth;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u",
			 major(device), minor(device));
	if (realpath(link, dir) == NULL)
		return -errno;
	for (depth = 0; depth < MAX_STACK && step_down(dir); depth++)
		;
	if (snprintf(path, size, "%s/stat", dir) >= (int) size)
		return -ENAMETOOLONG;
	return 0;
}

/* Of the device that a file is on. */
int
tsa_device_stat_path(int fd, char *path, size_t size)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -errno;
	return stat_path_of(st.st_dev, path, size);
}

/* Of a device given by its name, for file systems that number their own. */
int
tsa_block_device_stat_path(const char *device, char *path, size_t size)
{
	struct stat st;

	if (stat(device, &st) != 0)
		return -errno;
	if (!S_ISBLK(st.st_mode))
		return -ENOTBLK;
	return stat_path_of(st.st_rdev, path, size);
}

/* The requests of everybody to a device. */
int
tsa_device_io_read(const char *path, TsaDeviceIo *io)
{
	unsigned long long f[11];
	FILE	   *file = fopen(path, "re");
	int			n;

	if (file == NULL)
		return -errno;
	n = fscanf(file, "%llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu",
			   &f[0], &f[1], &f[2], &f[3], &f[4], &f[5], &f[6], &f[7], &f[8],
			   &f[9], &f[10]);
	fclose(file);
	if (n != 11)
		return -EINVAL;
	io->reads = f[0] + f[1];
	io->read_bytes = f[2] * SECTOR_BYTES;
	io->read_requests = f[0];
	io->read_ms = f[3];
	io->writes = f[4] + f[5];
	io->write_bytes = f[6] * SECTOR_BYTES;
	io->write_requests = f[4];
	io->write_ms = f[7];
	io->busy_ms = f[9];
	io->queue_ms = f[10];
	return 0;
}

/* Read requests that a device, given by its stat file, has yet to answer. */
int
tsa_device_reads_waiting(const char *stat_path, unsigned int *n)
{
	char		path[PATH_MAX];
	const char *slash = strrchr(stat_path, '/');
	FILE	   *file;
	int			found;

	if (slash == NULL ||
		snprintf(path, sizeof(path), "%.*s/inflight",
				 (int) (slash - stat_path), stat_path) >= (int) sizeof(path))
		return -EINVAL;
	file = fopen(path, "re");
	if (file == NULL)
		return -errno;
	found = fscanf(file, "%u", n);
	fclose(file);
	return found == 1 ? 0 : -EINVAL;
}

/*
 * Where a file's first bytes are (FIEMAP).
 *
 * Data in the page cache that has no place on the device yet (delayed
 * allocation) counts as written: reading it with O_DIRECT brings it there
 * first.  FIEMAP_FLAG_SYNC would write all of it at once, which is not a thing
 * to do to somebody else's file.
 */
int
tsa_file_map_read(int fd, uint64_t bytes, TsaFileMap *map)
{
	const uint32_t packed = FIEMAP_EXTENT_ENCODED |
	FIEMAP_EXTENT_DATA_ENCRYPTED | FIEMAP_EXTENT_NOT_ALIGNED |
	FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_DATA_TAIL;
	char		memory[sizeof(struct fiemap) +
					   EXTENTS_AT_ONCE * sizeof(struct fiemap_extent)]
				__attribute__((aligned(8)));
	struct fiemap *request = (struct fiemap *) memory;
	uint64_t	start = 0;

	memset(map, 0, sizeof(*map));
	/* the extents, too: valgrind does not see the kernel's writes there */
	memset(memory, 0, sizeof(memory));
	while (start < bytes)
	{
		uint64_t	before = start;
		uint32_t	i;

		memset(request, 0, sizeof(*request));
		request->fm_start = start;
		request->fm_length = bytes - start;
		request->fm_extent_count = EXTENTS_AT_ONCE;
		if (ioctl(fd, FS_IOC_FIEMAP, request) != 0)
			return -errno;
		if (request->fm_mapped_extents == 0)
			break;
		for (i = 0; i < request->fm_mapped_extents; i++)
		{
			struct fiemap_extent *extent = &request->fm_extents[i];
			uint64_t	from = extent->fe_logical;
			uint64_t	to = from + extent->fe_length;

			from = from < start ? start : from;
			to = to > bytes ? bytes : to;
			if (to <= from)
				continue;
			if (extent->fe_flags & FIEMAP_EXTENT_UNWRITTEN)
				map->unwritten += to - from;
			else if (extent->fe_flags & packed)
				map->packed += to - from;
			else
			{
				map->written += to - from;
				map->written_end = to;
			}
			start = to;
			if (extent->fe_flags & FIEMAP_EXTENT_LAST)
				return 0;
		}
		if (start == before)
			break;
	}
	return 0;
}

/* Does the file's file system live in memory? */
int
tsa_file_in_memory(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
		(fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/*
 * Does the page cache hold part of a file that is yet to be written, or is
 * being written?  Linux 6.5 and later tell, by cachestat(); else it counts as
 * clean.
 */
int
tsa_file_is_dirty(int fd, uint64_t offset, uint64_t length)
{
#ifdef __NR_io_uring_setup
	/* on all architectures that have that one by 425 */
	const int	cachestat = __NR_io_uring_setup + 26;
	struct
	{
		uint64_t	offset;
		uint64_t	length;
	}			range = {offset, length};
	struct
	{
		uint64_t	cached;
		uint64_t	dirty;
		uint64_t	in_writeback;
		uint64_t	evicted;
		uint64_t	recently_evicted;
	}			pages;

	if (syscall(cachestat, fd, &range, &pages, 0) == 0)
		return pages.dirty > 0 || pages.in_writeback > 0;
#endif
	return 0;
}

/* Monotonic time in nanoseconds. */
uint64_t
tsa_clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * UINT64_C(1000000000) +
		(uint64_t) now.tv_nsec;
}

/*
 * The cost of reading the clock, in nanoseconds: the least mean of several
 * short series, so that being scheduled away in one does not count.
 */
uint64_t
tsa_clock_cost(void)
{
	const int	readings = 100;
	uint64_t	least = UINT64_MAX;
	int			series;

	for (series = 0; series < 5; series++)
	{
		uint64_t	start = tsa_clock_now();
		uint64_t	end = start;
		int			i;

		for (i = 0; i < readings; i++)
			end = tsa_clock_now();
		if (end - start < least)
			least = end - start;
	}
	return (least + readings / 2) / readings;
}
