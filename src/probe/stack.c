/*-------------------------------------------------------------------------
 *
 * stack.c
 *	  Follows a mount down to the disks: partitions, LVM, dm-crypt,
 *	  multipath, md RAID, Btrfs over several devices, loop devices (through
 *	  the file system their file is on) and overlays.
 *
 * The walk goes down once.  On the way it writes the stack for people and
 * remembers the topmost RAID; on the way back every layer turns the verdicts
 * of the layers below into its own.  A disk at the bottom is a "leaf"; two
 * stacks that have a leaf in common share a device.
 *
 * Layers are found by the part of /sys that everyone may read.  The tables of
 * the device mapper would say more, but only root may read them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/raid.h"
#include "probe/stack.h"

/* deeper than any real stack; a loop in a made-up one ends here */
#define MAX_DEPTH 16

typedef struct Walk
{
	const char *root;
	TsaStorage *storage;
	int			depth;
} Walk;

static const TsaVerdict unknown_verdict = {
	TSA_MEDIA_UNKNOWN, TSA_UNKNOWN, TSA_UNKNOWN, 0
};

static TsaVerdict walk_device(Walk *walk, const char *name);
static TsaVerdict walk_mount(Walk *walk, const TsaMount *mount);

/* Appends to a string, cut to its size. */
static void
/* Appends to a string in a buffer, as far as there is room. */
__attribute__((format(printf, 3, 4)))
append(char *buffer, size_t size, const char *format,...)
{
	size_t		len = strlen(buffer);
	va_list		args;

	va_start(args, format);
	vsnprintf(buffer + len, size - len, format, args);
	va_end(args);
}

#define append_stack(walk, ...) \
	append((walk)->storage->stack, sizeof((walk)->storage->stack), __VA_ARGS__)

/* Adds a word to a list with commas, unless it is there already. */
static void
add_word(char *list, size_t size, const char *word)
{
	size_t		n = strlen(word);
	const char *item = list;

	while (*item != '\0')
	{
		size_t		len = strcspn(item, ",");

		if (len == n && strncmp(item, word, n) == 0)
			return;
		item += len;
		item += strspn(item, ", ");
	}
	if (n > 0)
		append(list, size, "%s%s", list[0] ? ", " : "", word);
}

/* Registers a device at the bottom; returns its bit. */
static uint64_t
add_leaf(TsaStorage *storage, const char *name)
{
	int			i;

	for (i = 0; i < storage->nleaves; i++)
		if (strcmp(storage->leaves[i], name) == 0)
			return UINT64_C(1) << i;
	if (i == TSA_MAX_LEAVES)
		return 0;
	snprintf(storage->leaves[i], TSA_NAME_SIZE, "%s", name);
	storage->nleaves++;
	return UINT64_C(1) << i;
}

/* three-valued and */
static TsaTri
both(TsaTri a, TsaTri b)
{
	if (a == TSA_NO || b == TSA_NO)
		return TSA_NO;
	return a == TSA_YES && b == TSA_YES ? TSA_YES : TSA_UNKNOWN;
}

/* three-valued or */
static TsaTri
either(TsaTri a, TsaTri b)
{
	if (a == TSA_YES || b == TSA_YES)
		return TSA_YES;
	return a == TSA_NO && b == TSA_NO ? TSA_NO : TSA_UNKNOWN;
}

/*
 * Name of the block device that a path such as /dev/sda1 or /dev/mapper/x or
 * a link to one of these means.
 */
static bool
find_device_of_path(const char *root, const char *path,
					char *name, size_t size)
{
	char		full[PATH_MAX];
	char		resolved[PATH_MAX];
	char		number[32];
	char	   *c;

	if (!tsa_starts_with(path, "/dev/"))
		return false;
	if (tsa_starts_with(path, "/dev/mapper/") &&
		tsa_find_mapped_device(root, path + strlen("/dev/mapper/"),
							   name, size))
		return true;
	snprintf(full, sizeof(full), "%s%s", root, path);
	if (realpath(full, resolved) != NULL)
		path = resolved + strlen(root);
	if (!tsa_starts_with(path, "/dev/"))
		return false;
	snprintf(name, size, "%s", path + strlen("/dev/"));
	while ((c = strchr(name, '/')) != NULL)
		*c = '!';
	return tsa_read_attribute(root, name, "dev", number, sizeof(number));
}

/* Notes the scheduler and the write cache of a device's queue. */
static void
note_queue(Walk *walk, const char *name)
{
	TsaStorage *storage = walk->storage;
	char		value[256];
	char	   *active = value;

	if (tsa_read_attribute(walk->root, name, "queue/scheduler",
						   value, sizeof(value)))
	{
		/* none [mq-deadline] kyber */
		if (strchr(value, '[') != NULL)
			active = strchr(value, '[') + 1;
		active[strcspn(active, "]")] = '\0';
		add_word(storage->scheduler, sizeof(storage->scheduler), active);
	}
	if (tsa_read_attribute(walk->root, name, "queue/write_cache",
						   value, sizeof(value)))
		add_word(storage->write_cache, sizeof(storage->write_cache), value);
}

/* Verdict on a disk, which has nothing below it. */
static TsaVerdict
walk_disk(Walk *walk, const char *name)
{
	TsaDisk		disk;
	TsaVerdict	verdict;

	tsa_classify_disk(walk->root, name, &disk);
	if (disk.model[0] != '\0')
		append_stack(walk, " (%s)", disk.model);
	note_queue(walk, name);

	verdict.media = disk.media;
	verdict.redundant = disk.redundant;
	verdict.is_volatile = disk.is_volatile;
	verdict.leaves = add_leaf(walk->storage, name);
	return verdict;
}

/* Verdict on data that needs all of the given devices. */
static TsaVerdict
walk_all(Walk *walk, char (*names)[TSA_NAME_SIZE], int n)
{
	TsaVerdict	all = unknown_verdict;
	int			i;

	append_stack(walk, n == 1 ? " -> " : " -> [");
	for (i = 0; i < n; i++)
	{
		TsaVerdict	verdict;

		if (i > 0)
			append_stack(walk, ", ");
		verdict = walk_device(walk, names[i]);
		if (i == 0)
			all = verdict;
		else
		{
			all.media = verdict.media < all.media ? verdict.media : all.media;
			all.redundant = both(all.redundant, verdict.redundant);
			all.is_volatile = either(all.is_volatile, verdict.is_volatile);
			all.leaves |= verdict.leaves;
		}
	}
	if (n != 1)
		append_stack(walk, "]");
	return all;
}

/* Records a RAID set, and walks its members. */
static TsaVerdict
walk_raid(Walk *walk, TsaRaidSet *set)
{
	TsaStorage *storage = walk->storage;
	TsaVerdict	verdict;
	int			i;

	if (storage->raid_level[0] == '\0')
	{
		memcpy(storage->raid_level, set->level, sizeof(set->level));
		storage->write_penalty = set->write_penalty;
		storage->nmembers = set->nmembers;
		for (i = 0; i < set->nmembers; i++)
			if (!tsa_read_attribute(walk->root, set->members[i], "dm/name",
									storage->members[i], TSA_NAME_SIZE))
				memcpy(storage->members[i], set->members[i], TSA_NAME_SIZE);
	}
	verdict = walk_all(walk, set->members, set->nmembers);

	if (set->busy_with[0] != '\0')
		tsa_add_warning(storage,
						"%s (%s) is busy with a %s: it is slower than usual",
						set->name, set->level, set->busy_with);
	if (set->copies_to_lose == 0)
		return verdict;
	if (set->missing > 0)
	{
		tsa_add_warning(storage, "degraded: %s (%s) lacks %d of its members",
						set->name, set->level, set->missing);
		storage->degraded = TSA_YES;
	}
	else if (set->missing == 0 && storage->degraded == TSA_UNKNOWN)
		storage->degraded = TSA_NO;

	if (set->missing < 0)
		verdict.redundant = TSA_UNKNOWN;
	else if (set->missing >= set->copies_to_lose)
		verdict.redundant = TSA_NO;
	else if (set->nmembers > 1 && __builtin_popcountll(verdict.leaves) == 1)
	{
		tsa_add_warning(storage, "all members of %s (%s) lie on one device",
						set->name, set->level);
		verdict.redundant = TSA_NO;
	}
	else
		verdict.redundant = TSA_YES;
	return verdict;
}

/* device mapper: the prefix of the UUID tells the maker of the device */
static TsaVerdict
walk_mapped(Walk *walk, const char *name, char (*slaves)[TSA_NAME_SIZE],
			int nslaves)
{
	char		label[TSA_NAME_SIZE];
	char		uuid[256];
	const char *kind;
	TsaRaidSet	set;
	TsaVerdict	verdict;

	tsa_read_attribute(walk->root, name, "dm/name", label, sizeof(label));
	tsa_read_attribute(walk->root, name, "dm/uuid", uuid, sizeof(uuid));
	kind = tsa_starts_with(uuid, "LVM-") ? "LVM" :
		tsa_starts_with(uuid, "CRYPT-") ? "crypt" :
		tsa_starts_with(uuid, "mpath-") ? "multipath" :
		tsa_starts_with(uuid, "part") ? "partition" : "mapped";

	if (strcmp(kind, "LVM") == 0 &&
		tsa_read_lvm_raid(walk->root, name, &set))
	{
		append_stack(walk, " (LVM %s %s)", set.level, label);
		return walk_raid(walk, &set);
	}
	append_stack(walk, " (%s %s)", kind, label);

	/* all paths lead to the same disk */
	if (strcmp(kind, "multipath") == 0)
		return walk_all(walk, slaves, 1);

	/* software that spreads data over several devices may keep copies of it */
	verdict = walk_all(walk, slaves, nslaves);
	if (nslaves > 1 && strcmp(kind, "LVM") != 0)
		verdict.redundant = TSA_UNKNOWN;
	return verdict;
}

/*
 * Loop device: goes on with the file system, or device, behind it.  Its file
 * may be out of sight, as in another mount namespace.
 */
static TsaVerdict
walk_loop(Walk *walk, const char *name, const char *file)
{
	char		device[TSA_NAME_SIZE];
	TsaMount	mount;
	TsaVerdict	verdict = unknown_verdict;

	append_stack(walk, " (%s) -> ", file);
	if (tsa_read_number(walk->root, name, "loop/dio") == 0)
		tsa_add_warning(walk->storage,
						"%s goes through the page cache (direct I/O is off): "
						"its speed is that of memory as long as this lasts",
						name);
	if (find_device_of_path(walk->root, file, device, sizeof(device)))
		verdict = walk_device(walk, device);
	else if (tsa_file_exists(walk->root, file) &&
			 tsa_find_mount_of_path(walk->root, file, &mount))
	{
		verdict = walk_mount(walk, &mount);

		/*
		 * A loop device inherits the flag of the disk below, which has been
		 * judged.  Where there is none, as over FUSE, the queue is the loop
		 * device's own, and if it is called rotational, somebody has done so.
		 */
		if (!tsa_find_device_of_mount(walk->root, &mount,
									  device, sizeof(device)))
		{
			note_queue(walk, name);
			if (verdict.media == TSA_MEDIA_UNKNOWN &&
				tsa_read_number(walk->root, name, "queue/rotational") == 1)
				verdict.media = TSA_MEDIA_ROTATIONAL;
		}
	}
	else
		append_stack(walk, "?");
	return verdict;
}

/* Verdict on any block device. */
static TsaVerdict
walk_device(Walk *walk, const char *name)
{
	char		names[TSA_MAX_MEMBERS][TSA_NAME_SIZE];
	char		file[1024];
	TsaRaidSet	set;
	TsaVerdict	verdict;
	int			n;

	append_stack(walk, "%s", name);
	if (walk->depth >= MAX_DEPTH)
		return unknown_verdict;
	walk->depth++;

	if (tsa_read_number(walk->root, name, "partition") >= 0 &&
		tsa_find_parent_disk(walk->root, name, names[0], TSA_NAME_SIZE))
		verdict = walk_all(walk, names, 1);
	else if (tsa_read_attribute(walk->root, name, "loop/backing_file",
								file, sizeof(file)))
		verdict = walk_loop(walk, name, file);
	else if (tsa_starts_with(name, "drbd") ||
			 (n = tsa_list_directory(walk->root, name, "slaves",
									 names, TSA_MAX_MEMBERS)) == 0)
		verdict = walk_disk(walk, name);
	else if (tsa_read_md_raid(walk->root, name, &set))
	{
		append_stack(walk, " (%s)", set.level);
		verdict = walk_raid(walk, &set);
	}
	else if (tsa_starts_with(name, "dm-"))
		verdict = walk_mapped(walk, name, names, n);
	else
		verdict = walk_all(walk, names, n);

	walk->depth--;
	return verdict;
}

/* file systems kept in memory, over the network, or in a program */
static const struct
{
	const char *type;
	TsaMedia	media;
}			special_filesystems[] =

{
	{"tmpfs", TSA_MEDIA_MEMORY},
	{"ramfs", TSA_MEDIA_MEMORY},
	{"devtmpfs", TSA_MEDIA_MEMORY},
	{"hugetlbfs", TSA_MEDIA_MEMORY},
	{"nfs", TSA_MEDIA_NETWORK},
	{"nfs4", TSA_MEDIA_NETWORK},
	{"cifs", TSA_MEDIA_NETWORK},
	{"smb3", TSA_MEDIA_NETWORK},
	{"ceph", TSA_MEDIA_NETWORK},
	{"lustre", TSA_MEDIA_NETWORK},
	{"gpfs", TSA_MEDIA_NETWORK},
	{"beegfs", TSA_MEDIA_NETWORK},
	{"afs", TSA_MEDIA_NETWORK},
	{"fuse.glusterfs", TSA_MEDIA_NETWORK},
	{"fuse.ceph", TSA_MEDIA_NETWORK},
	{"fuse.sshfs", TSA_MEDIA_NETWORK},
};

/*
 * Verdict on a file system that is on no block device of this machine, or on
 * none that can be seen.  Two mounts of it share a device if they are the
 * same file system or, for ZFS, in the same pool.
 */
static TsaVerdict
walk_special(Walk *walk, const TsaMount *mount)
{
	char		leaf[TSA_NAME_SIZE];
	TsaVerdict	verdict = unknown_verdict;
	size_t		i;

	append_stack(walk, "%s", mount->type);
	if (strcmp(mount->type, mount->source) != 0)
		append_stack(walk, " (%s)", mount->source);
	for (i = 0; i < lengthof(special_filesystems); i++)
		if (strcmp(mount->type, special_filesystems[i].type) == 0)
			verdict.media = special_filesystems[i].media;
	if (verdict.media == TSA_MEDIA_MEMORY)
	{
		verdict.redundant = TSA_NO;
		verdict.is_volatile = TSA_YES;
	}
	if (strcmp(mount->type, "zfs") == 0)
		snprintf(leaf, sizeof(leaf), "zfs %.*s",
				 (int) strcspn(mount->source, "/"), mount->source);
	else
		snprintf(leaf, sizeof(leaf), "%s %u:%u",
				 mount->type, mount->major, mount->minor);
	verdict.leaves = add_leaf(walk->storage, leaf);
	return verdict;
}

/* Name of the block device a file system is on; false if on none. */
bool
tsa_find_device_of_mount(const char *root, const TsaMount *mount,
						 char *name, size_t size)
{
	return tsa_find_block_device(root, mount->major, mount->minor,
								 name, size) ||
		find_device_of_path(root, mount->source, name, size);
}

/* Verdict on a mounted file system. */
static TsaVerdict
walk_mount(Walk *walk, const TsaMount *mount)
{
	char		name[TSA_NAME_SIZE];
	char		upper[1024];
	TsaMount	below;
	TsaRaidSet	set;

	if (walk->depth >= MAX_DEPTH)
		return unknown_verdict;

	/* writes go to the upper directory, if that can be seen from here */
	if (strcmp(mount->type, "overlay") == 0 &&
		tsa_get_mount_option(mount, "upperdir", upper, sizeof(upper)) &&
		tsa_file_exists(walk->root, upper) &&
		tsa_find_mount_of_path(walk->root, upper, &below) &&
		below.id != mount->id)
	{
		TsaVerdict	verdict;

		append_stack(walk, "overlay (%s) -> ", upper);
		walk->depth++;
		verdict = walk_mount(walk, &below);
		walk->depth--;
		return verdict;
	}
	if (!tsa_find_device_of_mount(walk->root, mount, name, sizeof(name)))
		return walk_special(walk, mount);
	if (strcmp(mount->type, "btrfs") == 0 &&
		tsa_read_btrfs_raid(walk->root, name, &set))
	{
		append_stack(walk, "btrfs (%s)", set.level);
		return walk_raid(walk, &set);
	}
	return walk_device(walk, name);
}

/*
 * Follows a mount down to the disks.  Fills in the fields of the storage that
 * collect facts on the way, and returns the verdict on the whole.
 */
TsaVerdict
tsa_walk_stack(const char *root, const TsaMount *mount, TsaStorage *storage)
{
	Walk		walk;

	walk.root = root;
	walk.storage = storage;
	walk.depth = 0;
	return walk_mount(&walk, mount);
}
