/*-------------------------------------------------------------------------
 *
 * sysfs.c
 *	  Reads attributes of block devices from /sys, and tells the kind of medium
 *	  a single disk is.
 *
 * Values that cannot be read are unknown; nothing here is an error.  The
 * rotational flag is not taken at its word: see tsa_classify_disk().
 *
 * All functions take the directory under which /sys is found ("" for the
 * real one), so that they can be tested on trees made for the purpose.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/sysfs.h"

/* Reads the first line of a file, without the white space around it. */
static bool
read_line(const char *path, char *value, size_t size)
{
	FILE	   *file = fopen(path, "r");
	size_t		start;
	size_t		len;

	value[0] = '\0';
	if (file == NULL)
		return false;
	if (fgets(value, (int) size, file) == NULL)
		value[0] = '\0';
	fclose(file);

	len = strlen(value);
	while (len > 0 && strchr(" \t\n", value[len - 1]) != NULL)
		value[--len] = '\0';
	start = strspn(value, " \t");
	memmove(value, value + start, len - start + 1);
	return value[0] != '\0';
}

/* Does a file exist?  True, too, if this process may not know. */
bool
tsa_file_exists(const char *root, const char *path)
{
	char		full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return access(full, F_OK) == 0 || errno == EACCES;
}

/*
 * Reads the first line of a file under /sys, with a path made from the format;
 * false if it is absent or empty.
 */
bool
tsa_read_sys(const char *root, char *value, size_t size,
			 const char *format,...)
{
	char		path[PATH_MAX];
	size_t		len;
	va_list		args;

	value[0] = '\0';
	len = (size_t) snprintf(path, sizeof(path), "%s/sys/", root);
	if (len >= sizeof(path))
		return false;
	va_start(args, format);
	vsnprintf(path + len, sizeof(path) - len, format, args);
	va_end(args);
	return read_line(path, value, size);
}

/* An attribute of a block device; false if it cannot be read. */
bool
tsa_read_attribute(const char *root, const char *device,
				   const char *attribute, char *value, size_t size)
{
	return tsa_read_sys(root, value, size, "class/block/%s/%s",
						device, attribute);
}

/* An attribute of a block device that is a number; -1 if unknown. */
long
tsa_read_number(const char *root, const char *device, const char *attribute)
{
	char		value[64];
	char	   *end;
	long		number;

	if (!tsa_read_attribute(root, device, attribute, value, sizeof(value)))
		return -1;
	number = strtol(value, &end, 10);
	return *end == '\0' && number >= 0 ? number : -1;
}

/* Name of the block device with these numbers, as /sys spells it. */
bool
tsa_find_block_device(const char *root, unsigned major, unsigned minor,
					  char *name, size_t size)
{
	char		path[PATH_MAX];
	char		target[PATH_MAX];
	const char *base;
	ssize_t		len;

	snprintf(path, sizeof(path), "%s/sys/dev/block/%u:%u", root, major, minor);
	len = readlink(path, target, sizeof(target) - 1);
	if (len <= 0)
		return false;
	target[len] = '\0';
	base = strrchr(target, '/');
	snprintf(name, size, "%s", base ? base + 1 : target);
	return true;
}

/* The directory of a block device with all symbolic links resolved. */
static bool
resolve_device(const char *root, const char *name, char resolved[PATH_MAX])
{
	char		path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/class/block/%s", root, name);
	return realpath(path, resolved) != NULL;
}

/* Name of the disk that a partition is on: the directory it lies in. */
bool
tsa_find_parent_disk(const char *root, const char *partition,
					 char *name, size_t size)
{
	char		path[PATH_MAX];
	char	   *slash;

	if (!resolve_device(root, partition, path) ||
		(slash = strrchr(path, '/')) == NULL)
		return false;
	*slash = '\0';
	if ((slash = strrchr(path, '/')) == NULL)
		return false;
	snprintf(name, size, "%s", slash + 1);
	return true;
}

/* For qsort(): by name. */
static int
compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

/*
 * Names in a directory, sorted, without those that begin with a dot, at most
 * "max" of them.  With device NULL the directory is taken from /sys itself.
 */
int
tsa_list_directory(const char *root, const char *device,
				   const char *subdirectory,
				   char (*names)[TSA_NAME_SIZE], int max)
{
	char		path[PATH_MAX];
	DIR		   *dir;
	struct dirent *entry;
	int			n = 0;

	if (device != NULL)
		snprintf(path, sizeof(path), "%s/sys/class/block/%s/%s",
				 root, device, subdirectory);
	else
		snprintf(path, sizeof(path), "%s/sys/%s", root, subdirectory);
	dir = opendir(path);
	if (dir == NULL)
		return 0;
	while (n < max && (entry = readdir(dir)) != NULL)
	{
		size_t		len = strlen(entry->d_name);

		if (entry->d_name[0] == '.' || len >= TSA_NAME_SIZE)
			continue;
		memcpy(names[n++], entry->d_name, len + 1);
	}
	closedir(dir);
	qsort(names, (size_t) n, TSA_NAME_SIZE, compare_names);
	return n;
}

/*
 * Name (dm-N) of the device-mapper device that carries a label, as in
 * /dev/mapper/LABEL.
 */
bool
tsa_find_mapped_device(const char *root, const char *label,
					   char *name, size_t size)
{
	char		path[PATH_MAX];
	DIR		   *dir;
	struct dirent *entry;
	bool		found = false;

	snprintf(path, sizeof(path), "%s/sys/class/block", root);
	dir = opendir(path);
	if (dir == NULL)
		return false;
	while (!found && (entry = readdir(dir)) != NULL)
	{
		char		value[TSA_NAME_SIZE];

		found = tsa_starts_with(entry->d_name, "dm-") &&
			tsa_read_attribute(root, entry->d_name, "dm/name",
							   value, sizeof(value)) &&
			strcmp(value, label) == 0;
		if (found)
			snprintf(name, size, "%s", entry->d_name);
	}
	closedir(dir);
	return found;
}

/* Facts by the beginning of a device's name. */
typedef struct KnownDevice
{
	const char *prefix;
	TsaMedia	media;
	TsaTri		redundant;
	TsaTri		is_volatile;
} KnownDevice;

/* Kinds of device that the driver's name alone tells. */
static const KnownDevice known_drivers[] =
{
	{"zram", TSA_MEDIA_MEMORY, TSA_NO, TSA_YES},
	{"ram", TSA_MEDIA_MEMORY, TSA_NO, TSA_YES},
	{"pmem", TSA_MEDIA_SOLID_STATE, TSA_NO, TSA_NO},
	{"mmcblk", TSA_MEDIA_SOLID_STATE, TSA_NO, TSA_NO},
	{"nbd", TSA_MEDIA_NETWORK, TSA_UNKNOWN, TSA_UNKNOWN},
	{"rbd", TSA_MEDIA_NETWORK, TSA_UNKNOWN, TSA_UNKNOWN},
	{"drbd", TSA_MEDIA_NETWORK, TSA_UNKNOWN, TSA_UNKNOWN},
	{"zd", TSA_MEDIA_UNKNOWN, TSA_UNKNOWN, TSA_UNKNOWN},
};

/*
 * Volumes of cloud providers, by the model they report.  They look like local
 * disks: one kind is on the network, the other loses its contents when the
 * machine is stopped.
 */
static const KnownDevice known_models[] =
{
	{"Amazon Elastic Block Store", TSA_MEDIA_NETWORK, TSA_UNKNOWN, TSA_NO},
	{"Amazon EC2 NVMe Instance", TSA_MEDIA_SOLID_STATE, TSA_NO, TSA_YES},
	{"nvme_card-pd", TSA_MEDIA_NETWORK, TSA_UNKNOWN, TSA_NO},
	{"nvme_card", TSA_MEDIA_SOLID_STATE, TSA_NO, TSA_YES},
	{"PersistentDisk", TSA_MEDIA_NETWORK, TSA_UNKNOWN, TSA_NO},
	{"EphemeralDisk", TSA_MEDIA_SOLID_STATE, TSA_NO, TSA_YES},
	{"MSFT NVMe Accelerator", TSA_MEDIA_NETWORK, TSA_UNKNOWN, TSA_NO},
	{"Microsoft NVMe Direct Disk", TSA_MEDIA_SOLID_STATE, TSA_NO, TSA_YES},
};

/* Host adapters that present a RAID set as one disk. */
static const char *const raid_adapters[] =
{
	"megaraid", "hpsa", "smartpqi", "aacraid", "arcmsr", "3w-", "ips", "mpi3mr",
};

/* Makers of virtual disks; the storage behind these is unknown. */
static const char *const hypervisors[] =
{
	"QEMU", "VBOX", "VMware", "Msft", "Virtual", "XEN", "Nutanix",
};

/* Does an NVMe controller reach its disks over a network? */
static bool
is_fabric(const char *root, const char *name, const char *controller)
{
	char		transport[32];

	return tsa_read_sys(root, transport, sizeof(transport),
						"class/block/%s/device/%s/transport",
						name, controller) &&
		(strcmp(transport, "tcp") == 0 || strcmp(transport, "rdma") == 0 ||
		 strcmp(transport, "fc") == 0);
}

/*
 * Does the disk stand behind iSCSI, Fibre Channel or NVMe over fabrics?  An
 * NVMe disk belongs to a controller or, where the kernel combines several
 * paths, to a subsystem that lists its controllers.
 */
static bool
is_networked(const char *root, const char *name, const char *path)
{
	char		names[32][TSA_NAME_SIZE];
	int			n;

	if (strstr(path, "/session") != NULL || strstr(path, "/rport-") != NULL)
		return true;
	if (!tsa_starts_with(name, "nvme"))
		return false;
	if (is_fabric(root, name, "."))
		return true;
	n = tsa_list_directory(root, name, "device", names, lengthof(names));
	while (n-- > 0)
		if (tsa_starts_with(names[n], "nvme") &&
			is_fabric(root, name, names[n]))
			return true;
	return false;
}

/* Is the disk a volume of a RAID adapter? */
static bool
is_adapter_volume(const char *root, const char *path)
{
	const char *host = strstr(path, "/host");
	char		driver[64];
	size_t		i;

	if (host == NULL)
		return false;
	host++;
	if (!tsa_read_sys(root, driver, sizeof(driver),
					  "class/scsi_host/%.*s/proc_name",
					  (int) strcspn(host, "/"), host))
		return false;
	for (i = 0; i < lengthof(raid_adapters); i++)
		if (tsa_starts_with(driver, raid_adapters[i]))
			return true;
	return false;
}

/*
 * Is the disk one that a hypervisor makes up?  Its rotational flag then says
 * nothing, or only one of its values does.
 */
static bool
is_virtual(const char *root, const char *name, const char *model)
{
	char		vendor[64];
	size_t		i;

	if (tsa_starts_with(name, "vd") || tsa_starts_with(name, "xvd"))
		return true;
	if (!tsa_read_attribute(root, name, "device/vendor",
							vendor, sizeof(vendor)))
		vendor[0] = '\0';
	for (i = 0; i < lengthof(hypervisors); i++)
		if (tsa_starts_with(vendor, hypervisors[i]) ||
			strstr(model, hypervisors[i]) != NULL)
			return true;
	return false;
}

/* Is it one of the known devices by this name?  Then that is noted. */
static bool
is_known(TsaDisk *disk, const char *name, const KnownDevice *known, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		if (!tsa_starts_with(name, known[i].prefix))
			continue;
		disk->media = known[i].media;
		disk->redundant = known[i].redundant;
		disk->is_volatile = known[i].is_volatile;
		return true;
	}
	return false;
}

/*
 * Finds the kind of a disk.
 *
 * The kernel calls a virtual disk rotational unless told otherwise (virtio,
 * emulated SCSI), or never (Xen, emulated NVMe).  So of virtual disks only a
 * flag against the driver's own default is believed: somebody has set it.
 */
void
tsa_classify_disk(const char *root, const char *name, TsaDisk *disk)
{
	char		path[PATH_MAX];
	long		rotational;

	disk->media = TSA_MEDIA_UNKNOWN;
	disk->redundant = disk->is_volatile = TSA_UNKNOWN;
	tsa_read_attribute(root, name, "device/model",
					   disk->model, sizeof(disk->model));

	if (is_known(disk, name, known_drivers, lengthof(known_drivers)) ||
		is_known(disk, disk->model, known_models, lengthof(known_models)))
		return;
	if (!resolve_device(root, name, path))
		return;
	if (is_networked(root, name, path))
	{
		disk->media = TSA_MEDIA_NETWORK;
		return;
	}

	rotational = tsa_read_number(root, name, "queue/rotational");
	if (is_virtual(root, name, disk->model))
	{
		bool		default_is_rotational =
		!tsa_starts_with(name, "xvd") && !tsa_starts_with(name, "nvme");

		if (rotational == 0 && default_is_rotational)
			disk->media = TSA_MEDIA_SOLID_STATE;
		else if (rotational == 1 && !default_is_rotational)
			disk->media = TSA_MEDIA_ROTATIONAL;
		return;
	}
	if (rotational < 0)
		return;
	disk->media = rotational ? TSA_MEDIA_ROTATIONAL : TSA_MEDIA_SOLID_STATE;
	disk->is_volatile = TSA_NO;
	disk->redundant = is_adapter_volume(root, path) ? TSA_UNKNOWN : TSA_NO;
}
