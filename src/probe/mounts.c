/*-------------------------------------------------------------------------
 *
 * mounts.c
 *	  Parser of /proc/self/mountinfo.
 *
 * A mount is found by its number, which the kernel tells for every open file
 * in /proc/self/fdinfo.  Comparing st_dev would not do: Btrfs gives every
 * subvolume a device number that mountinfo does not list, and a path says
 * nothing about directories that another mount has since covered.
 *
 * All functions take the directory under which /proc is found ("" for the
 * real one), so that they can be tested on trees made for the purpose.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/mounts.h"

/*
 * Copies a field, turning the octal escapes \040 (space), \011, \012 and \134
 * that the kernel writes back into characters.  Cuts a field that does not
 * fit.
 */
static void
copy_field(char *dst, size_t size, const char *src)
{
	size_t		n = 0;

	while (*src != '\0' && n + 1 < size)
	{
		if (src[0] == '\\' &&
			src[1] >= '0' && src[1] <= '3' &&
			src[2] >= '0' && src[2] <= '7' &&
			src[3] >= '0' && src[3] <= '7')
		{
			dst[n++] = (char) (((src[1] - '0') * 8 + (src[2] - '0')) * 8 +
							   (src[3] - '0'));
			src += 4;
		}
		else
			dst[n++] = *src++;
	}
	dst[n] = '\0';
}

/*
 * Parses one line:
 *
 *	 36 35 98:0 /root /point rw,noatime master:1 - ext4 /dev/sda1 rw
 *
 * Between the mount's options and the dash stand any number of tagged fields.
 * The line is cut into pieces in the process.
 */
static bool
parse_line(char *line, TsaMount *mount)
{
	char	   *rest = line;
	char	   *field;
	int			n = 0;

	memset(mount, 0, sizeof(*mount));
	while ((field = strsep(&rest, " \n")) != NULL && strcmp(field, "-") != 0)
	{
		switch (n++)
		{
			case 0:
				mount->id = atoi(field);
				break;
			case 2:
				if (sscanf(field, "%u:%u", &mount->major, &mount->minor) != 2)
					return false;
				break;
			case 4:
				copy_field(mount->point, sizeof(mount->point), field);
				break;
			case 5:
				copy_field(mount->options, sizeof(mount->options), field);
				break;
			default:
				break;
		}
	}
	if (field == NULL || n < 6)
		return false;

	if ((field = strsep(&rest, " \n")) == NULL || field[0] == '\0')
		return false;
	copy_field(mount->type, sizeof(mount->type), field);
	if ((field = strsep(&rest, " \n")) == NULL)
		return false;
	copy_field(mount->source, sizeof(mount->source), field);
	if ((field = strsep(&rest, " \n")) != NULL)
		copy_field(mount->super_options, sizeof(mount->super_options), field);
	return true;
}

/*
 * Length of the mount point if it is the path or a directory above it,
 * otherwise -1.  The root directory counts as length 0.
 */
static int
covers(const TsaMount *mount, const char *path)
{
	size_t		len = strlen(mount->point);

	if (len > 0 && mount->point[len - 1] == '/')
		len--;
	if (strncmp(mount->point, path, len) != 0 ||
		(path[len] != '/' && path[len] != '\0'))
		return -1;
	return (int) len;
}

/*
 * Reads the list of mounts and keeps the one that has the given number or, if
 * a path is given, the last one with the longest mount point above the path
 * (later mounts cover earlier ones).
 */
static bool
find_mount(const char *root, int id, const char *path, TsaMount *mount)
{
	char		name[4096];
	FILE	   *file;
	char	   *line = NULL;
	size_t		size = 0;
	int			best = -1;

	snprintf(name, sizeof(name), "%s/proc/self/mountinfo", root);
	file = fopen(name, "r");
	if (file == NULL)
		return false;

	while (getline(&line, &size, file) >= 0)
	{
		TsaMount	candidate;
		int			length;

		if (!parse_line(line, &candidate))
			continue;
		length = path ? covers(&candidate, path) :
			(candidate.id == id ? 0 : -1);
		if (length >= 0 && length >= best)
		{
			best = length;
			*mount = candidate;
		}
	}
	free(line);
	fclose(file);
	return best >= 0;
}

/* The mount of that number.  False if there is none. */
bool
tsa_find_mount_by_id(const char *root, int id, TsaMount *mount)
{
	return find_mount(root, id, NULL, mount);
}

/* The mount that a path is on.  False if there is none. */
bool
tsa_find_mount_of_path(const char *root, const char *path, TsaMount *mount)
{
	return find_mount(root, -1, path, mount);
}

/*
 * Looks for "name" or "name=value" among the options of a mount and of its
 * file system.  The value (empty if there is none) is copied if asked for.
 */
bool
tsa_get_mount_option(const TsaMount *mount, const char *name,
					 char *value, size_t size)
{
	const char *lists[2];
	size_t		len = strlen(name);
	int			i;

	lists[0] = mount->options;
	lists[1] = mount->super_options;
	for (i = 0; i < 2; i++)
	{
		const char *option = lists[i];

		while (*option != '\0')
		{
			size_t		n = strcspn(option, ",");

			if (n >= len && strncmp(option, name, len) == 0 &&
				(n == len || option[len] == '='))
			{
				size_t		skip = n == len ? len : len + 1;

				if (value != NULL)
					snprintf(value, size, "%.*s", (int) (n - skip),
							 option + skip);
				return true;
			}
			option += n;
			if (*option == ',')
				option++;
		}
	}
	return false;
}
