/*-------------------------------------------------------------------------
 *
 * disk.c
 *	  nbdkit plugin: a disk whose write cache does not survive a power cut.
 *
 *	  nbdkit ./disk.so file=PATH cut=PATH [seed=N]
 *
 * What is written stays in memory until the next flush, which writes it to the
 * file.  When the file "cut" appears, the power goes: what was written since
 * the last flush is applied to the file in part, and every request from then
 * on fails.  The first word in "cut" says in which part:
 *
 *	  none		nothing of it
 *	  all		all of it: what a snapshot of the device has at that moment
 *	  random	of each block of 4 kB a version at random, the one before the
 *				flush or any written since, so that the order of writing does
 *				not matter; every fourth such block is torn, each of its sectors
 *				of 512 bytes from a version of its own, but for those where
 *				ext4, XFS and Btrfs have their superblock, which they write in
 *				place: they need a disk that does not tear it
 *
 * Each request looks for the file before it does anything, so several disks
 * with the same one fail at the same moment.  PATH.cut then has a line with
 * the number of blocks that had not been flushed, and how many of them were
 * lost, wholly or in part.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#define NBDKIT_API_VERSION 2
#define THREAD_MODEL NBDKIT_THREAD_MODEL_SERIALIZE_ALL_REQUESTS

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../disk_file.h"

#define BLOCK		4096
#define SECTOR		512

/* What has been written to a block since the last flush. */
struct version
{
	struct version *older;		/* or NULL: what the file has */
	unsigned char data[BLOCK];
};

static char *cut = NULL;
static uint64_t seed = 1;
static struct version **newest; /* of each block of the disk */
static int64_t *dirty;			/* blocks that have one */
static int64_t ndirty = 0;
static int	dead = 0;

/* A number below n, xorshift. */
static uint64_t
random_below(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % n;
}

static int
disk_config(const char *key, const char *value)
{
	if (strcmp(key, "file") == 0)
		return (file = nbdkit_realpath(value)) == NULL ? -1 : 0;
	if (strcmp(key, "cut") == 0)
		return (cut = nbdkit_absolute_path(value)) == NULL ? -1 : 0;
	if (strcmp(key, "seed") == 0)
	{
		if (nbdkit_parse_uint64_t(key, value, &seed) != 0)
			return -1;
		seed = seed * UINT64_C(2862933555777941757) + 3037000493;
		return 0;
	}
	nbdkit_error("unknown parameter \"%s\"", key);
	return -1;
}

static int
disk_get_ready(void)
{
	size_t		nblocks;

	if (cut == NULL)
	{
		nbdkit_error("parameter \"cut\" is missing");
		return -1;
	}
	if (!open_file())
		return -1;
	size = size / BLOCK * BLOCK;
	nblocks = (size_t) (size / BLOCK) + 1;
	newest = calloc(nblocks, sizeof(*newest));
	dirty = calloc(nblocks, sizeof(*dirty));
	return newest != NULL && dirty != NULL ? 0 : -1;
}

/* Writes part of a block to the file. */
static int
store(int64_t block, const unsigned char *data, int from, int length)
{
	if (pwrite(fd, data + from, (size_t) length, block * BLOCK + from) == length)
		return 0;
	nbdkit_error("could not write to \"%s\": %m", file);
	return -1;
}

/* Empties the cache, whose blocks have been stored. */
static void
forget(void)
{
	for (int64_t i = 0; i < ndirty; i++)
	{
		struct version *version = newest[dirty[i]];

		while (version != NULL)
		{
			struct version *older = version->older;

			free(version);
			version = older;
		}
		newest[dirty[i]] = NULL;
	}
	ndirty = 0;
}

/* One of the versions of a block at random, NULL for the file's. */
static const struct version *
choose(int64_t block)
{
	const struct version *version = newest[block];
	uint64_t	n = 1;

	for (const struct version *v = version; v != NULL; v = v->older)
		n++;
	for (uint64_t i = random_below(n); i > 0 && version != NULL; i--)
		version = version->older;
	return version;
}

/* The file system's superblock is in the first block, or at 64 kB. */
static int
is_superblock(int64_t block)
{
	return block == 0 || block == 16;
}

/* What the block is after the cut; true if that is not its newest version. */
static int
lose_block(int64_t block)
{
	int			step = random_below(4) == 0 && !is_superblock(block) ? SECTOR : BLOCK;
	int			lost = 0;

	for (int from = 0; from < BLOCK; from += step)
	{
		const struct version *version = choose(block);

		lost |= version != newest[block];
		if (version != NULL)
			store(block, version->data, from, step);
	}
	return lost;
}

/* The power is cut: in which way? */
static void
lose(const char *how)
{
	char		name[4096];
	FILE	   *log;
	int64_t		lost = 0;

	for (int64_t i = 0; i < ndirty; i++)
	{
		if (strncmp(how, "all", 3) == 0)
			store(dirty[i], newest[dirty[i]]->data, 0, BLOCK);
		else if (strncmp(how, "none", 4) == 0)
			lost++;
		else
			lost += lose_block(dirty[i]);
	}
	snprintf(name, sizeof(name), "%s.cut", file);
	if ((log = fopen(name, "w")) != NULL)
	{
		fprintf(log, "%lld %lld\n", (long long) ndirty, (long long) lost);
		fclose(log);
	}
	forget();
	dead = 1;
}

/* Is there power?  Sets errno if not. */
static int
has_power(void)
{
	char		how[16] = "";
	int			cut_fd;

	if (!dead && (cut_fd = open(cut, O_RDONLY | O_CLOEXEC)) >= 0)
	{
		if (read(cut_fd, how, sizeof(how) - 1) < 0)
			how[0] = '\0';
		close(cut_fd);
		lose(how);
	}
	if (dead)
		nbdkit_set_error(EIO);
	return !dead;
}

/* The block as it is now. */
static int
load(int64_t block, unsigned char *data)
{
	if (newest[block] != NULL)
		memcpy(data, newest[block]->data, BLOCK);
	else if (pread(fd, data, BLOCK, block * BLOCK) != BLOCK)
	{
		nbdkit_error("could not read from \"%s\": %m", file);
		return -1;
	}
	return 0;
}

static int
disk_pread(void *handle, void *buffer, uint32_t count, uint64_t offset,
		   uint32_t flags)
{
	unsigned char *out = buffer;

	(void) handle;
	(void) flags;
	if (!has_power())
		return -1;
	while (count > 0)
	{
		unsigned char data[BLOCK];
		uint32_t	from = (uint32_t) (offset % BLOCK);
		uint32_t	n = BLOCK - from < count ? BLOCK - from : count;

		if (load((int64_t) (offset / BLOCK), data) != 0)
			return -1;
		memcpy(out, data + from, n);
		out += n;
		offset += n;
		count -= n;
	}
	return 0;
}

static int
disk_pwrite(void *handle, const void *buffer, uint32_t count, uint64_t offset,
			uint32_t flags)
{
	const unsigned char *in = buffer;

	(void) handle;
	(void) flags;
	if (!has_power())
		return -1;
	while (count > 0)
	{
		int64_t		block = (int64_t) (offset / BLOCK);
		uint32_t	from = (uint32_t) (offset % BLOCK);
		uint32_t	n = BLOCK - from < count ? BLOCK - from : count;
		struct version *version = malloc(sizeof(*version));

		if (version == NULL || load(block, version->data) != 0)
		{
			free(version);
			nbdkit_set_error(ENOMEM);
			return -1;
		}
		memcpy(version->data + from, in, n);
		version->older = newest[block];
		if (version->older == NULL)
			dirty[ndirty++] = block;
		newest[block] = version;
		in += n;
		offset += n;
		count -= n;
	}
	return 0;
}

static int
disk_flush(void *handle, uint32_t flags)
{
	(void) handle;
	(void) flags;
	if (!has_power())
		return -1;
	for (int64_t i = 0; i < ndirty; i++)
		if (store(dirty[i], newest[dirty[i]]->data, 0, BLOCK) != 0)
			return -1;
	forget();
	return 0;
}

static struct nbdkit_plugin plugin = {
	.name = "volatile-disk",
	.config = disk_config,
	.get_ready = disk_get_ready,
	.open = disk_open,
	.get_size = disk_get_size,
	.pread = disk_pread,
	.pwrite = disk_pwrite,
	.flush = disk_flush,
};

NBDKIT_REGISTER_PLUGIN(plugin)
