/*-------------------------------------------------------------------------
 *
 * mounts.h
 *	  A mount's line in /proc/self/mountinfo.
 *
 * Pure: no server headers, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_MOUNTS_H
#define TSA_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct TsaMount
{
	int			id;				/* as in /proc/self/fdinfo */
	unsigned	major;
	unsigned	minor;			/* of the device; 0:N where it has none */
	char		point[1024];
	char		options[1024];	/* of this mount */
	char		type[64];		/* file system type */
	char		source[1024];	/* device, export or pool */
	char		super_options[8192];	/* of the file system */
} TsaMount;

extern bool tsa_find_mount_by_id(const char *root, int id, TsaMount *mount);
extern bool tsa_find_mount_of_path(const char *root, const char *path,
								   TsaMount *mount);
extern bool tsa_get_mount_option(const TsaMount *mount, const char *name,
								 char *value, size_t size);

#endif							/* TSA_MOUNTS_H */
