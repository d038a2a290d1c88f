/*-------------------------------------------------------------------------
 *
 * free_memory.c
 *	  How much memory the system's cache may take without taking it from
 *	  others.
 *
 * That is unused memory: MemFree of /proc/meminfo, and the rest of the limits
 * of the memory control groups that this process is in, of version 1 or 2.
 * Memory that holds cached pages is in use.  In a container the path of the
 * group may be one of the host: of its directories those are looked at that
 * exist, up to the root of the groups, which is then the container's.
 *
 * Pure: no server headers, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "move/copy/free_memory.h"

#define LINE_SIZE 1024

/* The files of a memory control group. */
typedef struct GroupFiles
{
	const char *directory;		/* of all groups */
	const char *limit;
	const char *usage;
} GroupFiles;

static const GroupFiles version_1 = {
	"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
};

static const GroupFiles version_2 = {
	"/sys/fs/cgroup", "memory.max", "memory.current"
};

/* Opens a file below a root; NULL if it cannot be opened. */
static FILE *
open_file(const char *root, const char *path)
{
	char		full[PATH_MAX];
	int			len = snprintf(full, sizeof(full), "%s%s", root, path);

	return len < (int) sizeof(full) ? fopen(full, "r") : NULL;
}

/*
 * Reads the number in a file of a group; negative if it has none ("max").
 */
static int64_t
read_bytes(const char *root, const char *directory, const char *group,
		   const char *name)
{
	char		path[PATH_MAX];
	FILE	   *file;
	int64_t		bytes = -1;

	if (snprintf(path, sizeof(path), "%s%s/%s", directory, group, name) >=
		(int) sizeof(path) || (file = open_file(root, path)) == NULL)
		return -1;
	if (fscanf(file, "%" SCNd64, &bytes) != 1)
		bytes = -1;
	fclose(file);
	return bytes;
}

/*
 * The lesser of two numbers, of which negative ones are not known.
 */
static int64_t
least(int64_t a, int64_t b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

/*
 * The rest of the limits of a group and of those above it; negative if there
 * are none.  Changes the path.
 */
static int64_t
left_in_group(const char *root, const GroupFiles *files, char *group)
{
	int64_t		left = -1;

	for (;;)
	{
		char	   *slash = strrchr(group, '/');
		int64_t		limit;
		int64_t		usage;

		if (slash != NULL && slash[1] == '\0')
			*slash = '\0';
		limit = read_bytes(root, files->directory, group, files->limit);
		usage = read_bytes(root, files->directory, group, files->usage);
		if (limit >= 0 && usage >= 0)
			left = least(left, limit > usage ? limit - usage : 0);
		slash = strrchr(group, '/');
		if (slash == NULL)
			return left;
		*slash = '\0';
	}
}

/*
 * The rest of the limits of this process's groups; negative if there are none.
 */
static int64_t
left_in_groups(const char *root)
{
	FILE	   *file = open_file(root, "/proc/self/cgroup");
	char		line[LINE_SIZE];
	int64_t		left = -1;

	if (file == NULL)
		return -1;
	while (fgets(line, sizeof(line), file) != NULL)
	{
		char	   *names = strchr(line, ':');
		char	   *group = names ? strchr(names + 1, ':') : NULL;

		if (group == NULL)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (strcmp(names + 1, "memory") == 0)
			left = least(left, left_in_group(root, &version_1, group));
		else if (names[1] == '\0')
			left = least(left, left_in_group(root, &version_2, group));
	}
	fclose(file);
	return left;
}

/*
 * MemFree, in bytes; negative if it is not known.
 */
static int64_t
free_in_system(const char *root)
{
	FILE	   *file = open_file(root, "/proc/meminfo");
	char		line[LINE_SIZE];
	int64_t		kb = -1;

	if (file == NULL)
		return -1;
	while (kb < 0 && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "MemFree: %" SCNd64, &kb) != 1)
			kb = -1;
	fclose(file);
	return kb < 0 ? -1 : kb * 1024;
}

/*
 * Bytes of memory that nobody uses; negative if that is not known.  root: the
 * directory in which /proc and /sys are, "" for the real ones.
 */
int64_t
tsa_free_memory(const char *root)
{
	int64_t		system = free_in_system(root);

	return system < 0 ? -1 : least(system, left_in_groups(root));
}
