/*-------------------------------------------------------------------------
 *
 * raid.c
 *	  RAID sets of md, LVM and Btrfs, as far as /sys shows them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/raid.h"

/*
 * Fills in the properties of a RAID level; "copies" counts for levels without
 * parity.  The write penalty is the usual one: device accesses per small
 * random write, the reading of old data and parity included.
 */
static void
set_level(TsaRaidSet *set, const char *level, int copies)
{
	snprintf(set->level, sizeof(set->level), "%s", level);
	if (strcmp(level, "raid5") == 0 || strcmp(level, "raid4") == 0)
	{
		set->copies_to_lose = 1;
		set->write_penalty = 4;
	}
	else if (strcmp(level, "raid6") == 0)
	{
		set->copies_to_lose = 2;
		set->write_penalty = 6;
	}
	else
	{
		set->copies_to_lose = copies - 1;
		set->write_penalty = copies;
	}
}

/*
 * md: everything is in /sys/block/mdN/md.  A member is a device that has a
 * slot; spares and devices thrown out have none.
 */
bool
tsa_read_md_raid(const char *root, const char *name, TsaRaidSet *set)
{
	char		names[TSA_MAX_MEMBERS][TSA_NAME_SIZE];
	char		level[32];
	int			copies = 1;
	int			n;
	int			i;

	memset(set, 0, sizeof(*set));
	if (!tsa_read_attribute(root, name, "md/level", level, sizeof(level)))
		return false;
	memcpy(set->name, name, strnlen(name, TSA_NAME_SIZE - 1));

	n = tsa_list_directory(root, name, "md", names, TSA_MAX_MEMBERS);
	for (i = 0; i < n; i++)
	{
		char		slot[16];

		if (tsa_starts_with(names[i], "dev-") &&
			tsa_read_sys(root, slot, sizeof(slot), "class/block/%s/md/%s/slot",
						 name, names[i]) &&
			strcmp(slot, "none") != 0)
			snprintf(set->members[set->nmembers++], TSA_NAME_SIZE, "%s",
					 names[i] + strlen("dev-"));
	}
	if (set->nmembers == 0)
		set->nmembers = tsa_list_directory(root, name, "slaves",
										   set->members, TSA_MAX_MEMBERS);

	if (strcmp(level, "raid1") == 0)
		copies = (int) tsa_read_number(root, name, "md/raid_disks");
	else if (strcmp(level, "raid10") == 0)
	{
		/* the lowest byte counts near copies, the next one far copies */
		long		layout = tsa_read_number(root, name, "md/layout");

		copies = layout < 0 ? 2 : (int) ((layout & 255) * (layout >> 8 & 255));
	}
	set_level(set, level, copies > 0 ? copies : 2);
	set->missing = (int) tsa_read_number(root, name, "md/degraded");

	if (!tsa_read_attribute(root, name, "md/sync_action",
							set->busy_with, sizeof(set->busy_with)) ||
		strcmp(set->busy_with, "idle") == 0 ||
		strcmp(set->busy_with, "frozen") == 0)
		set->busy_with[0] = '\0';
	return true;
}

/*
 * Level of a RAID set of LVM, which /sys does not tell, from the size of the
 * whole in units of one image.  RAID 4 cannot be told from RAID 5.
 */
static const char *
deduce_lvm_level(long whole, long image, int n)
{
	long		units = image > 0 ? (whole + image / 2) / image : 0;

	if (units == n)
		return "raid0";
	if (units == 1)
		return "raid1";
	if (n >= 4 && units * 2 == n)
		return "raid10";
	if (units == n - 1)
		return "raid5";
	if (n >= 5 && units == n - 2)
		return "raid6";
	return "";
}

/*
 * LVM: the slaves of a RAID set are called ..._rimage_N (data) and ..._rmeta_N.
 * An image that has lost its disk has no slaves itself.  Returns false for any
 * other device.
 */
bool
tsa_read_lvm_raid(const char *root, const char *name, TsaRaidSet *set)
{
	char		slaves[TSA_MAX_MEMBERS][TSA_NAME_SIZE];
	char		below[1][TSA_NAME_SIZE];
	char		label[TSA_NAME_SIZE];
	const char *level;
	long		image = 0;
	int			n;
	int			i;

	memset(set, 0, sizeof(*set));
	memcpy(set->name, name, strnlen(name, TSA_NAME_SIZE - 1));
	n = tsa_list_directory(root, name, "slaves", slaves, TSA_MAX_MEMBERS);
	for (i = 0; i < n; i++)
	{
		long		size;

		if (!tsa_read_attribute(root, slaves[i], "dm/name",
								label, sizeof(label)) ||
			strstr(label, "_rimage_") == NULL)
			continue;
		size = tsa_read_number(root, slaves[i], "size");
		image = size > image ? size : image;
		if (tsa_list_directory(root, slaves[i], "slaves", below, 1) > 0)
			memcpy(set->members[set->nmembers++], slaves[i], TSA_NAME_SIZE);
		else
			set->missing++;
	}
	n = set->nmembers + set->missing;
	if (n == 0)
		return false;

	level = deduce_lvm_level(tsa_read_number(root, name, "size"), image, n);
	set_level(set, level, strcmp(level, "raid1") == 0 ? n :
			  strcmp(level, "raid10") == 0 ? 2 : 1);
	return level[0] != '\0';
}

/* Does a directory under /sys list the name? */
static bool
lists_name(const char *root, const char *directory, const char *name)
{
	char		names[TSA_MAX_MEMBERS][TSA_NAME_SIZE];
	int			n = tsa_list_directory(root, NULL, directory,
									   names, TSA_MAX_MEMBERS);

	while (n-- > 0)
		if (strcmp(names[n], name) == 0)
			return true;
	return false;
}

/*
 * Directory under /sys of the Btrfs file system that a device belongs to.
 */
bool
tsa_find_btrfs(const char *root, const char *device,
			   char *directory, size_t size)
{
	char		ids[TSA_MAX_MEMBERS][TSA_NAME_SIZE];
	int			n = tsa_list_directory(root, NULL, "fs/btrfs",
									   ids, TSA_MAX_MEMBERS);

	while (n-- > 0)
	{
		char		devices[TSA_NAME_SIZE + 32];

		snprintf(devices, sizeof(devices), "fs/btrfs/%s/devices", ids[n]);
		if (!lists_name(root, devices, device))
			continue;
		snprintf(directory, size, "fs/btrfs/%s", ids[n]);
		return true;
	}
	return false;
}

/*
 * Profiles under which Btrfs may keep data, and the copies it makes on any
 * number of devices.  While a conversion is under way several are in use; the
 * weakest counts.
 */
static const struct
{
	const char *name;
	int			copies;
}			btrfs_profiles[] =

{
	{"single", 1}, {"dup", 1}, {"raid0", 1}, {"raid5", 1}, {"raid1", 2},
	{"raid10", 2}, {"raid6", 1}, {"raid1c3", 3}, {"raid1c4", 4},
};

/*
 * Btrfs: the file system that a device belongs to.  Returns false if that has
 * one device only.
 */
bool
tsa_read_btrfs_raid(const char *root, const char *device, TsaRaidSet *set)
{
	char		info[TSA_MAX_MEMBERS][TSA_NAME_SIZE];
	char		directory[TSA_NAME_SIZE + 16];
	char		path[TSA_NAME_SIZE + 64];
	size_t		i;

	memset(set, 0, sizeof(*set));
	snprintf(set->name, sizeof(set->name), "btrfs");
	if (!tsa_find_btrfs(root, device, directory, sizeof(directory)))
		return false;
	snprintf(path, sizeof(path), "%s/devices", directory);
	set->nmembers = tsa_list_directory(root, NULL, path,
									   set->members, TSA_MAX_MEMBERS);

	snprintf(path, sizeof(path), "%s/allocation/data", directory);
	for (i = 0; i < lengthof(btrfs_profiles); i++)
	{
		if (!lists_name(root, path, btrfs_profiles[i].name))
			continue;
		set_level(set, btrfs_profiles[i].name, btrfs_profiles[i].copies);
		break;
	}

	snprintf(path, sizeof(path), "%s/devinfo", directory);
	for (i = (size_t) tsa_list_directory(root, NULL, path,
										 info, TSA_MAX_MEMBERS); i-- > 0;)
	{
		char		value[16];

		if (tsa_read_sys(root, value, sizeof(value),
						 "%s/%s/missing", path, info[i]) &&
			strcmp(value, "1") == 0)
			set->missing++;
	}
	return set->nmembers + set->missing > 1;
}
