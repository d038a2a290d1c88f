/* Copyright (c) 2026, The tablespace_advisor developers */

/* What the kernel says about files, on a real file system. */
#include "probe/counters.c"

#include <fcntl.h>

#include "tap.h"

#define BYTES (1024 * 1024)

static int
make_file(void)
{
	char		path[] = "test_counters_XXXXXX";
	int			fd = mkstemp(path);

	unlink(path);
	return fd;
}

/* What was written to a file is dirty until it is synced. */
static void
test_dirty(int fd)
{
	int			dirty;

	if (pwrite(fd, "x", 1, 8192) != 1)
		return;
	errno = 0;
	dirty = tsa_file_is_dirty(fd, 8192, 8192);
	if (errno != 0)
	{
		printf("# skip: the kernel does not tell what is dirty\n");
		return;
	}
	ok(dirty, "what was just written is dirty");
	if (fsync(fd) == 0)
		ok(!tsa_file_is_dirty(fd, 8192, 8192), "what was synced is not");
}

int
main(void)
{
	TsaFileMap	map;
	TsaProcessIo io;
	TsaDeviceIo device_io;
	unsigned int waiting;
	uint64_t	delay;
	char		path[PATH_MAX];
	char		data[4096];
	int			fd = make_file();
	int			i;

	memset(data, 'x', sizeof(data));
	if (ftruncate(fd, BYTES) != 0 || tsa_file_map_read(fd, BYTES, &map) != 0)
		printf("# skip: this file system has no FIEMAP\n");
	else
	{
		is_int((long long) map.written, 0, "a sparse file has nothing written");

		if (posix_fallocate(fd, 0, BYTES) == 0 &&
			tsa_file_map_read(fd, BYTES, &map) == 0)
			is_int((long long) (map.written), 0,
				   "an allocated one has nothing written either");

		for (i = 0; i < BYTES / 2; i += (int) sizeof(data))
			if (pwrite(fd, data, sizeof(data), i) != sizeof(data))
				break;
		fsync(fd);
		tsa_file_map_read(fd, BYTES, &map);
		is_int((long long) map.written, BYTES / 2, "what is written counts");
		is_int((long long) map.written_end, BYTES / 2, "and ends there");
		tsa_file_map_read(fd, BYTES / 4, &map);
		is_int((long long) map.written, BYTES / 4, "as far as it is asked for");
	}
	close(fd);

	if (tsa_process_io_read(&io) == 0)
		ok(io.write_bytes >= BYTES / 2, "the process has written");
	else
		printf("# skip: /proc/self/io cannot be read\n");

	if (tsa_process_delay_read(&delay) == 0)
		ok(delay < UINT64_C(3600000000000), "and waited less than an hour");
	else
		printf("# skip: the kernel keeps no scheduler statistics\n");

	fd = make_file();
	if (tsa_device_stat_path(fd, path, sizeof(path)) == 0)
	{
		is_int(tsa_device_io_read(path, &device_io), 0, "device counters");
		ok(device_io.reads + device_io.writes > 0, "have counted");
		is_int(tsa_device_reads_waiting(path, &waiting), 0, "reads under way");
	}
	else
		printf("# skip: the file system is on no block device\n");
	ok(!tsa_file_in_memory(fd), "the build directory is not in memory");
	test_dirty(fd);
	close(fd);

	fd = open("/dev/shm", O_RDONLY);
	if (fd >= 0)
		ok(tsa_file_in_memory(fd), "/dev/shm is in memory");
	close(fd);
	is_int(tsa_device_io_read("/nonexistent", &device_io), -ENOENT,
		   "no device, no counters");
	is_int(tsa_device_reads_waiting("/nonexistent/stat", &waiting), -ENOENT,
		   "and no reads under way");
	is_int(tsa_device_reads_waiting("stat", &waiting), -EINVAL,
		   "a stat file is in a directory");

	ok(tsa_clock_cost() < 1000000, "reading the clock takes under 1 ms");
	ok(tsa_clock_now() <= tsa_clock_now(), "time does not run backwards");
	return done_testing();
}
