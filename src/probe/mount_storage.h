/*-------------------------------------------------------------------------
 *
 * mount_storage.h
 *	  The storage of a mount's data, from the file system down to the disks.
 *
 * Pure: no server headers, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_MOUNT_STORAGE_H
#define TSA_MOUNT_STORAGE_H

#include "probe/mounts.h"
#include "probe/raid.h"

#define TSA_MAX_LEAVES 64
#define TSA_MAX_WARNINGS 16
#define TSA_WARNING_SIZE 384

/*
 * Empty strings and negative numbers mean unknown, or not applicable.
 *
 * RAID level, write penalty and members are those of the topmost RAID in the
 * stack.  Two stacks that have a leaf in common share a device.
 */
typedef struct TsaStorage
{
	TsaMount	mount;
	char		device[1024];	/* the mounted path, export or pool */
	char		stack[2048];	/* all layers, top down, for people */
	TsaMedia	media;
	TsaTri		redundant;
	TsaTri		is_volatile;
	TsaTri		degraded;		/* of any RAID in the stack */
	char		raid_level[32];
	int			write_penalty;	/* device accesses per random write */
	int			nmembers;
	char		members[TSA_MAX_MEMBERS][TSA_NAME_SIZE];
	long		read_ahead_kb;
	char		scheduler[64];	/* of the disks; several with commas */
	char		write_cache[64];	/* likewise */
	int			nleaves;		/* the storage at the bottom */
	char		leaves[TSA_MAX_LEAVES][TSA_NAME_SIZE];
	int			nwarnings;
	char		warnings[TSA_MAX_WARNINGS][TSA_WARNING_SIZE];
} TsaStorage;

extern void tsa_add_warning(TsaStorage *storage, const char *format,...)
			__attribute__((format(printf, 2, 3)));
extern const char *tsa_get_media_name(TsaMedia media);

#endif							/* TSA_MOUNT_STORAGE_H */
