/*-------------------------------------------------------------------------
 *
 * describe.c
 *	  Describes the storage of a mount, with warnings in words for a DBA.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/describe.h"
#include "probe/mount_storage.h"
#include "probe/raid.h"
#include "probe/stack.h"

/*
 * A rotational disk that two sequential scans share seeks between pieces of
 * the read-ahead's size.  At the usual 8 ms a seek and 130 MB/s, pieces under
 * 1 MB mean that more than half of the time is spent on seeks.
 */
#define MIN_ROTATIONAL_READ_AHEAD_KB 1024

/* Path by which people know a block device. */
static void
get_device_path(const char *root, const char *name, char *path, size_t size)
{
	char		label[TSA_NAME_SIZE];
	char	   *c;

	if (tsa_read_attribute(root, name, "dm/name", label, sizeof(label)))
		snprintf(path, size, "/dev/mapper/%s", label);
	else
	{
		snprintf(path, size, "/dev/%s", name);
		while ((c = strchr(path, '!')) != NULL)
			*c = '/';
	}
}

/*
 * Read-ahead of a mount: that of its backing device information, which Btrfs
 * keeps elsewhere, or else of the device or the disk it is a partition of.
 */
static long
find_read_ahead(const char *root, const TsaMount *mount, const char *device)
{
	char		name[TSA_NAME_SIZE + 16];
	char		value[64];
	long		kb;

	if (tsa_read_sys(root, value, sizeof(value),
					 "class/bdi/%u:%u/read_ahead_kb",
					 mount->major, mount->minor))
		return atol(value);
	if (device == NULL)
		return -1;
	if (strcmp(mount->type, "btrfs") == 0 &&
		tsa_find_btrfs(root, device, name, sizeof(name)) &&
		tsa_read_sys(root, value, sizeof(value), "%s/bdi/read_ahead_kb", name))
		return atol(value);
	kb = tsa_read_number(root, device, "queue/read_ahead_kb");
	if (kb < 0 && tsa_find_parent_disk(root, device, name, sizeof(name)))
		kb = tsa_read_number(root, name, "queue/read_ahead_kb");
	return kb;
}

/* Warnings about the way a file system is mounted. */
static void
warn_of_mount(TsaStorage *storage)
{
	const TsaMount *mount = &storage->mount;
	char		value[32];

	if (tsa_get_mount_option(mount, "ro", NULL, 0))
		tsa_add_warning(storage, "mounted read-only");
	if (tsa_get_mount_option(mount, "nobarrier", NULL, 0) ||
		(tsa_get_mount_option(mount, "barrier", value, sizeof(value)) &&
		 strcmp(value, "0") == 0))
		tsa_add_warning(storage,
						"mounted without write barriers: what has been flushed "
						"may still be lost when the power fails");
	if (tsa_starts_with(mount->type, "nfs") &&
		(tsa_get_mount_option(mount, "soft", NULL, 0) ||
		 tsa_get_mount_option(mount, "softerr", NULL, 0)))
		tsa_add_warning(storage,
						"NFS is mounted soft: a slow server turns into I/O "
						"errors and lost writes");
}

/* Warnings that follow from the verdict on the whole stack. */
static void
warn_of_verdict(TsaStorage *storage)
{
	if (storage->is_volatile == TSA_YES)
		tsa_add_warning(storage,
						"volatile storage: its contents are lost when the "
						"machine stops, and the cluster is then damaged");
	if (storage->redundant == TSA_NO && storage->media != TSA_MEDIA_MEMORY)
	{
		char		names[TSA_WARNING_SIZE / 2] = "";
		size_t		len = 0;
		int			i;

		for (i = 0; i < storage->nleaves && len < sizeof(names); i++)
			len += (size_t) snprintf(names + len, sizeof(names) - len, "%s%s",
									 i ? ", " : "", storage->leaves[i]);
		tsa_add_warning(storage,
						"no redundancy: the tablespace is lost with %s%s",
						storage->nleaves > 1 ? "any of " : "", names);
	}
	if (storage->write_penalty > 1 &&
		(tsa_starts_with(storage->raid_level, "raid4") ||
		 tsa_starts_with(storage->raid_level, "raid5") ||
		 tsa_starts_with(storage->raid_level, "raid6")))
		tsa_add_warning(storage,
						"parity RAID (%s): a small random write takes %d "
						"device accesses, where raid10 takes 2",
						storage->raid_level, storage->write_penalty);
	if (storage->media == TSA_MEDIA_UNKNOWN)
		tsa_add_warning(storage,
						"the storage behind %s is not visible: run "
						"probe_tablespace() to measure it", storage->device);
	if (storage->media == TSA_MEDIA_ROTATIONAL &&
		storage->read_ahead_kb >= 0 &&
		storage->read_ahead_kb < MIN_ROTATIONAL_READ_AHEAD_KB)
		tsa_add_warning(storage,
						"read-ahead of %ld kB is too small for a rotational "
						"disk: concurrent sequential scans will mostly seek "
						"(%d kB or more is better)",
						storage->read_ahead_kb, MIN_ROTATIONAL_READ_AHEAD_KB);
}

/*
 * Describes the storage of the mount with the given number.  Returns false if
 * there is no such mount; anything else that cannot be found out is unknown.
 */
bool
tsa_describe_storage(const char *root, int mount_id, TsaStorage *storage)
{
	char		name[TSA_NAME_SIZE];
	TsaVerdict	verdict;
	bool		on_device;

	memset(storage, 0, sizeof(*storage));
	storage->degraded = TSA_UNKNOWN;
	storage->redundant = storage->is_volatile = TSA_UNKNOWN;
	storage->read_ahead_kb = -1;
	if (!tsa_find_mount_by_id(root, mount_id, &storage->mount))
		return false;

	on_device = tsa_find_device_of_mount(root, &storage->mount,
										 name, sizeof(name));
	if (on_device)
		get_device_path(root, name, storage->device, sizeof(storage->device));
	else
		snprintf(storage->device, sizeof(storage->device), "%s",
				 storage->mount.source);

	verdict = tsa_walk_stack(root, &storage->mount, storage);
	storage->media = verdict.media;
	storage->redundant = verdict.redundant;
	storage->is_volatile = verdict.is_volatile;
	storage->read_ahead_kb = find_read_ahead(root, &storage->mount,
											 on_device ? name : NULL);
	warn_of_mount(storage);
	warn_of_verdict(storage);
	return true;
}
