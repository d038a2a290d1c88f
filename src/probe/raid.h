/*-------------------------------------------------------------------------
 *
 * raid.h
 *	  RAID sets of md, LVM and Btrfs, as far as /sys shows them.
 *
 * Pure: no server headers, no memory but the caller's.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_RAID_H
#define TSA_RAID_H

#include "probe/sysfs.h"

#define TSA_MAX_MEMBERS 64

/* a device, or file system, that spreads its data over several devices */
typedef struct TsaRaidSet
{
	char		name[TSA_NAME_SIZE];
	char		level[32];
	int			copies_to_lose; /* members that may fail in the best state */
	int			write_penalty;	/* device accesses per random write */
	int			missing;		/* members that have failed, -1 if unknown */
	char		busy_with[32];	/* resync, check ... or empty */
	int			nmembers;
	char		members[TSA_MAX_MEMBERS][TSA_NAME_SIZE];
} TsaRaidSet;

extern bool tsa_read_md_raid(const char *root, const char *name,
							 TsaRaidSet *set);
extern bool tsa_read_lvm_raid(const char *root, const char *name,
							  TsaRaidSet *set);
extern bool tsa_find_btrfs(const char *root, const char *device,
						   char *directory, size_t size);
extern bool tsa_read_btrfs_raid(const char *root, const char *device,
								TsaRaidSet *set);

#endif							/* TSA_RAID_H */
