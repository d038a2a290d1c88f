/* Copyright (c) 2026, The tablespace_advisor developers */

/* Memory that nobody uses, on trees of /proc and /sys made for the purpose. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* for nftw() */
#endif

#include "move/copy/free_memory.c"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char root[] = "/tmp/test_free_memory.XXXXXX";

/* Writes a file, and makes the directories above it. */
static void
put(const char *path, const char *text)
{
	char		full[PATH_MAX];
	FILE	   *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = strchr(full + 1, '/'); slash != NULL;
		 slash = strchr(slash + 1, '/'))
	{
		*slash = '\0';
		(void) mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "w");
	if (file == NULL)
		abort();
	fputs(text, file);
	fclose(file);
}

static int
remove_entry(const char *path, const struct stat *status, int type,
			 struct FTW *place)
{
	(void) status;
	(void) type;
	(void) place;
	return remove(path);
}

static void
clear(void)
{
	(void) nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	(void) mkdir(root, 0700);
}

int
main(void)
{
	if (mkdtemp(root) == NULL)
		return 1;
	ok(tsa_free_memory(root) == -1, "no /proc: not known");

	put("/proc/meminfo", "MemTotal: 4096 kB\nMemFree:   1024 kB\nMemAvailable: 3 kB\n");
	ok(tsa_free_memory(root) == 1048576, "MemFree");

	put("/proc/self/cgroup", "0::/a/b\n");
	put("/sys/fs/cgroup/a/b/memory.max", "max\n");
	put("/sys/fs/cgroup/a/b/memory.current", "5000\n");
	ok(tsa_free_memory(root) == 1048576, "a group without a limit");
	put("/sys/fs/cgroup/a/memory.max", "500000\n");
	put("/sys/fs/cgroup/a/memory.current", "400000\n");
	ok(tsa_free_memory(root) == 100000, "the group above it has one");
	put("/sys/fs/cgroup/a/b/memory.max", "4000\n");
	ok(tsa_free_memory(root) == 0, "more is used than allowed");

	clear();
	put("/proc/meminfo", "MemFree: 1024 kB\n");
	put("/proc/self/cgroup", "3:cpuset:/\n2:memory:/docker/0123\n0::/\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "700000\n");
	put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "100000\n");
	ok(tsa_free_memory(root) == 600000,
	   "a container that sees its own group as the root, version 1");
	put("/proc/self/cgroup", "0::/../..\n");
	put("/sys/fs/cgroup/memory.max", "300000\n");
	put("/sys/fs/cgroup/memory.current", "100000\n");
	ok(tsa_free_memory(root) == 200000, "version 2");
	put("/proc/self/cgroup", "nonsense\n");
	ok(tsa_free_memory(root) == 1048576, "no groups that can be read");

	clear();
	(void) rmdir(root);
	return done_testing();
}
