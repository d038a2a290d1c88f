/*-------------------------------------------------------------------------
 *
 * test_sysfs.c
 *	  Unit tests of the storage under a mount, on trees of /proc and /sys made
 *	  for the purpose.  The attributes are spelled as the kernel spells them.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* for nftw() */
#endif

#include "probe/describe.c"
#include "probe/mount_storage.c"
#include "probe/mounts.c"
#include "probe/raid.c"
#include "probe/stack.c"
#include "probe/sysfs.c"

#include <ftw.h>
#include <sys/stat.h>

#include "tap.h"

static char root[] = "/tmp/test_sysfs.XXXXXX";
static TsaStorage storage;

static void
is(const char *got, const char *expected, const char *name)
{
	if (!ok(strcmp(got, expected) == 0, "%s", name))
		printf("#   Failed: got \"%s\", expected \"%s\"\n", got, expected);
}

/* Is there a warning that contains the words? */
static bool
warned(const char *words)
{
	int			i;

	for (i = 0; i < storage.nwarnings; i++)
		if (strstr(storage.warnings[i], words) != NULL)
			return true;
	return false;
}

/* Makes the directories above a path. */
static void
make_parents(char *path)
{
	char	   *slash;

	for (slash = strchr(path + strlen(root) + 1, '/'); slash != NULL;
		 slash = strchr(slash + 1, '/'))
	{
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

/* Writes a file of the tree. */
static void
put(const char *content, const char *format,...)
{
	char		path[PATH_MAX];
	size_t		len = (size_t) snprintf(path, sizeof(path), "%s/", root);
	va_list		args;
	FILE	   *file;

	va_start(args, format);
	vsnprintf(path + len, sizeof(path) - len, format, args);
	va_end(args);
	make_parents(path);
	file = fopen(path, "w");
	if (file == NULL)
	{
		perror(path);
		exit(2);
	}
	fprintf(file, "%s\n", content);
	fclose(file);
}

static void
put_link(const char *target, const char *format,...)
{
	char		path[PATH_MAX];
	size_t		len = (size_t) snprintf(path, sizeof(path), "%s/", root);
	va_list		args;

	va_start(args, format);
	vsnprintf(path + len, sizeof(path) - len, format, args);
	va_end(args);
	make_parents(path);
	if (symlink(target, path) != 0)
	{
		perror(path);
		exit(2);
	}
}

/*
 * Makes a block device: "where" is its directory under /sys/devices, whose
 * last part is its name.
 */
static void
make_device(const char *where, const char *numbers)
{
	char		target[PATH_MAX];
	const char *name = strrchr(where, '/') + 1;

	snprintf(target, sizeof(target), "../../devices/%s", where);
	put(numbers, "sys/devices/%s/dev", where);
	put_link(target, "sys/class/block/%s", name);
	put_link(target, "sys/dev/block/%s", numbers);
}

static void
make_disk(const char *where, const char *numbers, const char *rotational)
{
	make_device(where, numbers);
	put(rotational, "sys/devices/%s/queue/rotational", where);
	put("128", "sys/devices/%s/queue/read_ahead_kb", where);
	put("none [mq-deadline] kyber", "sys/devices/%s/queue/scheduler", where);
	put("write back", "sys/devices/%s/queue/write_cache", where);
}

static void
make_partition(const char *where, const char *numbers)
{
	make_device(where, numbers);
	put("1", "sys/devices/%s/partition", where);
}

static void
add_slave(const char *device, const char *slave)
{
	char		target[PATH_MAX];

	snprintf(target, sizeof(target), "../../../block/%s", slave);
	put_link(target, "sys/devices/virtual/block/%s/slaves/%s", device, slave);
}

/* Makes a device of the device mapper on top of up to two others. */
static void
make_mapped(const char *name, const char *numbers, const char *label,
			const char *uuid, const char *below, const char *below2)
{
	char		where[256];

	snprintf(where, sizeof(where), "virtual/block/%s", name);
	make_device(where, numbers);
	put(label, "sys/devices/%s/dm/name", where);
	put(uuid, "sys/devices/%s/dm/uuid", where);
	put("256", "sys/devices/%s/queue/read_ahead_kb", where);
	if (below)
		add_slave(name, below);
	if (below2)
		add_slave(name, below2);
}

/* Makes an md array of devices given as a list with spaces. */
static void
make_md(const char *name, const char *numbers, const char *level,
		const char *raid_disks, const char *degraded, const char *members)
{
	char		where[256];
	char		list[256];
	char	   *rest = list;
	char	   *member;
	int			slot = 0;

	snprintf(where, sizeof(where), "virtual/block/%s", name);
	make_device(where, numbers);
	put(level, "sys/devices/%s/md/level", where);
	put(raid_disks, "sys/devices/%s/md/raid_disks", where);
	if (degraded)
		put(degraded, "sys/devices/%s/md/degraded", where);
	put("idle", "sys/devices/%s/md/sync_action", where);
	snprintf(list, sizeof(list), "%s", members);
	while ((member = strsep(&rest, " ")) != NULL)
	{
		char		number[16];

		snprintf(number, sizeof(number), "%d", slot++);
		put(number, "sys/devices/%s/md/dev-%s/slot", where, member);
		add_slave(name, member);
	}
}

/* Describes what a line of mountinfo (without its number) lies on. */
static bool
describe(const char *line)
{
	char		path[PATH_MAX];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	make_parents(path);
	file = fopen(path, "w");
	fprintf(file,
			"20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
			"21 20 0:5 / /dev rw - devtmpfs devtmpfs rw\n"
			"22 20 0:22 / /dev/shm rw,nosuid - tmpfs tmpfs rw\n"
			"23 20 8:17 / /srv rw - ext4 /dev/sdb1 rw\n"
			"40 20 %s\n", line);
	fclose(file);
	return tsa_describe_storage(root, 40, &storage);
}

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void) st;
	(void) flag;
	(void) ftw;
	return remove(path);
}

/*
 * The machine: sda and sdb spin, nvme0n1 and nvme1n1 do not.
 */
static void
make_machine(void)
{
	make_disk("pci0/ata1/host0/target0/block/sda", "8:0", "1");
	put("ST4000NM0035    ", "sys/devices/pci0/ata1/host0/target0/block/sda/device/model");
	make_partition("pci0/ata1/host0/target0/block/sda/sda1", "8:1");
	make_partition("pci0/ata1/host0/target0/block/sda/sda2", "8:2");
	make_disk("pci0/ata2/host1/target1/block/sdb", "8:16", "1");
	make_partition("pci0/ata2/host1/target1/block/sdb/sdb1", "8:17");
	make_partition("pci0/ata2/host1/target1/block/sdb/sdb2", "8:18");
	make_disk("pci1/nvme/nvme0/nvme0n1", "259:0", "0");
	put("pcie", "sys/devices/pci1/nvme/nvme0/nvme0n1/device/transport");
	make_partition("pci1/nvme/nvme0/nvme0n1/nvme0n1p1", "259:1");
	make_disk("pci2/nvme/nvme1/nvme1n1", "259:2", "0");
	put("none", "sys/devices/pci2/nvme/nvme1/nvme1n1/queue/scheduler");
}

static void
test_mounts(void)
{
	TsaMount	mount;
	char		value[64];

	describe("0:40 / /data\\040one rw,noatime shared:7 master:2 - nfs4 srv:/x\\134y rw,soft,vers=4.2");
	ok(tsa_find_mount_by_id(root, 40, &mount), "mount found by number");
	is(mount.point, "/data one", "octal escape in the mount point");
	is(mount.source, "srv:/x\\y", "octal escape in the source");
	is(mount.type, "nfs4", "type after any number of tagged fields");
	ok(tsa_get_mount_option(&mount, "soft", value, sizeof(value)) &&
	   value[0] == '\0', "option without value");
	ok(tsa_get_mount_option(&mount, "vers", value, sizeof(value)) &&
	   strcmp(value, "4.2") == 0, "option with value, last in the list");
	ok(tsa_get_mount_option(&mount, "noatime", NULL, 0), "option of the mount");
	ok(!tsa_get_mount_option(&mount, "sof", NULL, 0), "no option by its prefix");
	ok(!tsa_find_mount_by_id(root, 41, &mount), "unknown number");

	ok(tsa_find_mount_of_path(root, "/srv/a", &mount) && mount.id == 23,
	   "mount of a path: longest mount point");
	ok(tsa_find_mount_of_path(root, "/srvx/a", &mount) && mount.id == 20,
	   "mount of a path: whole names only");
	ok(tsa_find_mount_of_path(root, "/data one", &mount) && mount.id == 40,
	   "mount of a path: the mount point itself");
	describe("8:2 / /srv rw - ext4 /dev/sda2 rw");
	ok(tsa_find_mount_of_path(root, "/srv/a", &mount) && mount.id == 40,
	   "mount of a path: the mount on top");
	ok(!describe("nonsense"), "a broken line is no mount");
	ok(!describe("8:2 / /x rw - "), "nor is one that ends early");
}

static void
test_disks(void)
{
	describe("8:2 / /d rw - ext4 /dev/sda2 rw");
	is(storage.device, "/dev/sda2", "partition: device");
	is(storage.stack, "sda2 -> sda (ST4000NM0035)", "partition: stack");
	is(tsa_get_media_name(storage.media), "rotational", "spinning disk");
	is_int(storage.read_ahead_kb, 128, "read-ahead of the disk");
	is(storage.scheduler, "mq-deadline", "the active scheduler");
	is(storage.write_cache, "write back", "write cache");
	is(storage.leaves[0], "sda", "the disk is at the bottom");
	ok(storage.redundant == TSA_NO && storage.is_volatile == TSA_NO,
	   "one disk is not redundant and not volatile");
	ok(warned("read-ahead of 128 kB is too small"), "read-ahead warning");
	ok(warned("no redundancy: the tablespace is lost with sda"),
	   "redundancy warning names the disk");

	put("1024", "sys/class/bdi/8:2/read_ahead_kb");
	describe("8:2 / /d ro - ext4 /dev/sda2 rw,barrier=0");
	is_int(storage.read_ahead_kb, 1024, "read-ahead of the bdi comes first");
	ok(!warned("read-ahead"), "no warning from 1 MB on");
	ok(warned("read-only"), "read-only warning");
	ok(warned("write barriers"), "barrier warning");
	describe("8:2 / /d rw - ext4 /dev/sda2 rw,barrier=1");
	ok(!warned("write barriers"), "no barrier warning with barriers");

	describe("259:1 / /d rw - xfs /dev/nvme0n1p1 rw");
	is(tsa_get_media_name(storage.media), "solid state", "NVMe");
	ok(!warned("read-ahead"), "no read-ahead warning for solid state");
	describe("259:2 / /d rw - xfs /dev/nvme1n1 rw");
	is(storage.scheduler, "none", "scheduler of a queue that has just one");

	/* a device that /sys does not know */
	describe("9:77 / /d rw - xfs /dev/md77 rw");
	is(tsa_get_media_name(storage.media), "unknown", "device not in /sys");
	is(storage.device, "/dev/md77", "its device is what the mount says");
	ok(storage.redundant == TSA_UNKNOWN && storage.is_volatile == TSA_UNKNOWN,
	   "and nothing is claimed about it");
	ok(warned("run probe_tablespace() to measure it"), "but a warning says so");
}

/* One disk with a model or a vendor: its medium. */
static const char *
medium_of(const char *where, const char *numbers, const char *rotational,
		  const char *attribute, const char *value)
{
	char		line[256];

	make_disk(where, numbers, rotational);
	if (attribute)
		put(value, "sys/devices/%s/device/%s", where, attribute);
	snprintf(line, sizeof(line), "%s / /d rw - ext4 /dev/x rw", numbers);
	describe(line);
	return tsa_get_media_name(storage.media);
}

static void
test_media(void)
{
	is(medium_of("pci/virtio1/block/vda", "254:0", "1", NULL, NULL), "unknown",
	   "virtio says rotational whatever it is kept on");
	ok(storage.redundant == TSA_UNKNOWN, "the host may keep copies");
	is(medium_of("pci/virtio2/block/vdb", "254:16", "0", NULL, NULL),
	   "solid state", "virtio with the flag cleared by somebody");
	is(medium_of("vbd-1/block/xvda", "202:0", "0", NULL, NULL), "unknown",
	   "Xen says not rotational whatever it is kept on");
	is(medium_of("pci/host5/target5/block/sdq", "65:0", "1", "vendor", "QEMU    "),
	   "unknown", "emulated SCSI disk");
	is(medium_of("pci/ata7/host7/block/sdr", "65:16", "1", "model", "VBOX HARDDISK"),
	   "unknown", "emulated ATA disk");
	is(medium_of("pci/nvme/nvme3/nvme3n1", "259:30", "0", "model",
				 "Amazon Elastic Block Store              "),
	   "network", "network volume that looks like NVMe");
	is(medium_of("pci/nvme/nvme4/nvme4n1", "259:40", "0", "model",
				 "Amazon EC2 NVMe Instance Storage"),
	   "solid state", "instance store");
	ok(storage.is_volatile == TSA_YES && warned("volatile storage"),
	   "instance store is volatile");
	is(medium_of("pci/nvme/nvme5/nvme5n1", "259:50", "0", "transport", "tcp"),
	   "network", "NVMe over TCP");
	put("rdma", "sys/devices/virtual/nvme-subsystem/nvme-subsys6/nvme6/transport");
	put_link("..", "sys/devices/virtual/nvme-subsystem/nvme-subsys6/nvme6n1/device");
	is(medium_of("virtual/nvme-subsystem/nvme-subsys6/nvme6n1", "259:60", "0",
				 NULL, NULL),
	   "network", "NVMe over RDMA by several paths");
	is(medium_of("platform/host9/session1/target9/block/sds", "65:32", "1", NULL, NULL),
	   "network", "iSCSI");
	is(medium_of("pci/host8/rport-8:0-0/target8/block/sdt", "65:48", "1", NULL, NULL),
	   "network", "Fibre Channel");
	is(medium_of("virtual/block/nbd0", "43:0", "0", NULL, NULL), "network", "nbd");
	is(medium_of("virtual/block/zram0", "253:0", "0", NULL, NULL), "memory", "zram");
	ok(storage.is_volatile == TSA_YES, "zram is volatile");

	put("megaraid_sas", "sys/class/scsi_host/host11/proc_name");
	is(medium_of("pci/host11/target11/block/sdu", "65:64", "1", NULL, NULL),
	   "rotational", "volume of a RAID adapter");
	ok(storage.redundant == TSA_UNKNOWN && !warned("no redundancy"),
	   "a RAID adapter does not tell its level");
}

static void
test_special_filesystems(void)
{
	describe("0:22 / /d rw - tmpfs tmpfs rw,size=1g");
	is(tsa_get_media_name(storage.media), "memory", "tmpfs");
	is(storage.device, "tmpfs", "tmpfs: device");
	is(storage.stack, "tmpfs", "tmpfs: stack");
	ok(storage.is_volatile == TSA_YES && warned("volatile storage"),
	   "tmpfs is volatile");
	ok(!warned("no redundancy"), "which says enough");
	is_int(storage.read_ahead_kb, -1, "tmpfs: no read-ahead");

	describe("0:44 / /d rw - nfs4 filer:/pg rw,hard");
	is(tsa_get_media_name(storage.media), "network", "NFS");
	is(storage.stack, "nfs4 (filer:/pg)", "NFS: stack");
	ok(storage.redundant == TSA_UNKNOWN && storage.is_volatile == TSA_UNKNOWN,
	   "NFS: the server knows");
	is_int(storage.nwarnings, 0, "NFS: no warning");
	describe("0:44 / /d rw - nfs4 filer:/pg rw,soft");
	ok(warned("mounted soft"), "soft NFS warning");

	describe("0:45 / /d rw - zfs tank/pg/data rw");
	is(storage.leaves[0], "zfs tank", "datasets of a ZFS pool share a device");
	is(tsa_get_media_name(storage.media), "unknown", "ZFS does not tell");
	describe("0:46 / /d rw - fuse.something x rw");
	is(tsa_get_media_name(storage.media), "unknown", "nor does FUSE");

	put("", "srv/docker/upper/x");
	describe("0:50 / /d rw - overlay overlay rw,lowerdir=/l1:/l2,upperdir=/srv/docker/upper,workdir=/w");
	is(storage.stack, "overlay (/srv/docker/upper) -> sdb1 -> sdb",
	   "overlay: goes on below its upper directory");
	is(storage.mount.type, "overlay", "overlay: file system");
	describe("0:50 / /d rw - overlay overlay rw,lowerdir=/l1,upperdir=/elsewhere/u");
	is(tsa_get_media_name(storage.media), "unknown",
	   "overlay: upper directory out of sight");
}

static void
test_loop(void)
{
	make_device("virtual/block/loop0", "7:0");
	put("/srv/disk.img", "sys/devices/virtual/block/loop0/loop/backing_file");
	put("1", "sys/devices/virtual/block/loop0/loop/dio");
	describe("7:0 / /d rw - ext4 /dev/loop0 rw");
	is(storage.stack, "loop0 (/srv/disk.img) -> ?",
	   "loop: its file is of another mount namespace");
	is(tsa_get_media_name(storage.media), "unknown", "on what is not known");
	put("", "srv/disk.img");
	put("", "dev/shm/disk.img");
	put("", "var/disk.img");
	put("", "loop.img");
	put("0", "sys/devices/virtual/block/loop0/queue/rotational");
	describe("7:0 / /d rw - ext4 /dev/loop0 rw");
	is(storage.stack, "loop0 (/srv/disk.img) -> sdb1 -> sdb",
	   "loop: goes on below its file");
	is(tsa_get_media_name(storage.media), "rotational",
	   "loop: the disk below counts, not its own flag");
	is(storage.leaves[0], "sdb", "loop: shares the disk below");
	ok(!warned("page cache"), "loop with direct I/O");
	put("0", "sys/devices/virtual/block/loop0/loop/dio");
	describe("7:0 / /d rw - ext4 /dev/loop0 rw");
	ok(warned("loop0 goes through the page cache"), "loop without direct I/O");

	put("/dev/shm/disk.img", "sys/devices/virtual/block/loop0/loop/backing_file");
	describe("7:0 / /d rw - ext4 /dev/loop0 rw");
	is(tsa_get_media_name(storage.media), "memory", "loop over tmpfs is memory");
	ok(storage.is_volatile == TSA_YES, "and volatile");

	put("/dev/nvme0n1p1", "sys/devices/virtual/block/loop0/loop/backing_file");
	describe("7:0 / /d rw - ext4 /dev/loop0 rw");
	is(storage.stack, "loop0 (/dev/nvme0n1p1) -> nvme0n1p1 -> nvme0n1",
	   "loop over a device");

	/* as the kernel does: the flag of virtio below, which says nothing */
	put("1", "sys/devices/virtual/block/loop0/queue/rotational");
	put("/var/disk.img", "sys/devices/virtual/block/loop0/loop/backing_file");
	describe("7:0 / /d rw - ext4 /dev/loop0 rw\n41 20 254:0 / /var rw - ext4 /dev/vda rw");
	is(storage.stack, "loop0 (/var/disk.img) -> vda", "loop over virtio");
	is(tsa_get_media_name(storage.media), "unknown",
	   "loop: an inherited flag is not believed");
	describe("7:0 / /d rw - ext4 /dev/loop0 rw\n41 20 0:70 / /var rw - fuse.x x rw");
	is(tsa_get_media_name(storage.media), "rotational",
	   "loop over FUSE: a flag that is set is believed");
	put("[none] bfq", "sys/devices/virtual/block/loop0/queue/scheduler");
	describe("7:0 / /d rw - ext4 /dev/loop0 rw\n41 20 0:70 / /var rw - fuse.x x rw");
	is(storage.scheduler, "none", "loop over FUSE: its own scheduler");
	put("0", "sys/devices/virtual/block/loop0/queue/rotational");
	describe("7:0 / /d rw - ext4 /dev/loop0 rw\n41 20 0:70 / /var rw - fuse.x x rw");
	is(tsa_get_media_name(storage.media), "unknown",
	   "loop over FUSE: the kernel's default is not");

	put("/loop.img", "sys/devices/virtual/block/loop0/loop/backing_file");
	describe("7:0 / / rw - ext4 /dev/loop0 rw");
	is(tsa_get_media_name(storage.media), "unknown",
	   "a loop in the stack ends somewhere");
}

static void
test_mapped(void)
{
	make_mapped("dm-0", "252:0", "luks-1", "CRYPT-LUKS2-aa", "nvme0n1p1", NULL);
	make_mapped("dm-1", "252:1", "vg-pg", "LVM-bb", "dm-0", NULL);
	describe("252:1 / /d rw - xfs /dev/mapper/vg-pg rw");
	is(storage.device, "/dev/mapper/vg-pg", "LVM: device");
	is(storage.stack, "dm-1 (LVM vg-pg) -> dm-0 (crypt luks-1) -> nvme0n1p1 -> nvme0n1",
	   "LVM over dm-crypt over a partition");
	is_int(storage.read_ahead_kb, 256, "read-ahead of the top device");
	is(storage.raid_level, "", "no RAID");
	ok(storage.degraded == TSA_UNKNOWN, "nothing to be degraded");

	make_mapped("dm-2", "252:2", "vg-big", "LVM-cc", "sda2", "nvme1n1");
	describe("252:2 / /d rw - xfs /dev/mapper/vg-big rw");
	is(storage.stack, "dm-2 (LVM vg-big) -> [nvme1n1, sda2 -> sda (ST4000NM0035)]",
	   "LVM over two disks");
	is(tsa_get_media_name(storage.media), "rotational", "the slower one counts");
	is(storage.scheduler, "none, mq-deadline", "both schedulers");
	ok(warned("the tablespace is lost with any of nvme1n1, sda"),
	   "either disk loses it");

	make_mapped("dm-3", "252:3", "mpatha", "mpath-dd", "sda", "sdb");
	describe("252:3 / /d rw - xfs /dev/mapper/mpatha rw");
	is(storage.stack, "dm-3 (multipath mpatha) -> sda (ST4000NM0035)",
	   "multipath: one disk");

	/* Btrfs has device numbers of its own: found by the name of the source */
	describe("0:60 /sub /d rw - btrfs /dev/mapper/vg-pg rw,subvol=/sub");
	is(storage.device, "/dev/mapper/vg-pg", "Btrfs subvolume on LVM");
}

static void
test_md(void)
{
	make_md("md0", "9:0", "raid1", "2", "0", "sda2 sdb2");
	describe("9:0 / /d rw - ext4 /dev/md0 rw");
	is(storage.stack, "md0 (raid1) -> [sda2 -> sda (ST4000NM0035), sdb2 -> sdb]",
	   "raid1: stack");
	is(storage.raid_level, "raid1", "raid1: level");
	is_int(storage.nmembers, 2, "raid1: two members");
	is(storage.members[1], "sdb2", "raid1: second member");
	is_int(storage.write_penalty, 2, "raid1: write penalty");
	ok(storage.redundant == TSA_YES && storage.degraded == TSA_NO &&
	   !warned("redundancy"), "raid1: redundant");

	put("1", "sys/devices/virtual/block/md0/md/degraded");
	put("none", "sys/devices/virtual/block/md0/md/dev-sdb2/slot");
	put("recover", "sys/devices/virtual/block/md0/md/sync_action");
	describe("9:0 / /d rw - ext4 /dev/md0 rw");
	ok(storage.degraded == TSA_YES && storage.redundant == TSA_NO,
	   "raid1 that lacks a member");
	is_int(storage.nmembers, 1, "which is not counted");
	ok(warned("degraded: md0 (raid1) lacks 1 of its members"), "degraded warning");
	ok(warned("busy with a recover"), "rebuild warning");
	ok(warned("no redundancy"), "nothing left to lose");

	make_md("md1", "9:1", "raid6", "4", "1", "sda2 sdb2 nvme0n1p1 nvme1n1");
	describe("9:1 / /d rw - ext4 /dev/md1 rw");
	is_int(storage.write_penalty, 6, "raid6: write penalty");
	ok(storage.degraded == TSA_YES && storage.redundant == TSA_YES,
	   "raid6 with one missing may still lose one");

	make_md("md2", "9:2", "raid0", "2", NULL, "nvme0n1p1 nvme1n1");
	describe("9:2 / /d rw - ext4 /dev/md2 rw");
	ok(storage.redundant == TSA_NO && storage.degraded == TSA_UNKNOWN,
	   "raid0 is not redundant, and never degraded");
	is_int(storage.write_penalty, 1, "raid0: write penalty");

	make_md("md3", "9:3", "raid10", "4", "0", "sda1 sda2 sdb1 sdb2");
	put("258", "sys/devices/virtual/block/md3/md/layout");
	describe("9:3 / /d rw - ext4 /dev/md3 rw");
	is_int(storage.write_penalty, 2, "raid10, two near copies");
	put("769", "sys/devices/virtual/block/md3/md/layout");
	describe("9:3 / /d rw - ext4 /dev/md3 rw");
	is_int(storage.write_penalty, 3, "raid10, three far copies");
	ok(!warned("parity RAID"), "raid10 is not parity RAID");

	make_md("md4", "9:4", "raid5", "3", "0", "sda1 sdb1 nvme0n1p1");
	describe("9:4 / /d rw - ext4 /dev/md4 rw");
	is_int(storage.write_penalty, 4, "raid5: write penalty");
	ok(warned("parity RAID (raid5): a small random write takes 4 device accesses"),
	   "raid5 is warned of");

	make_md("md5", "9:5", "raid1", "2", "0", "sda1 sda2");
	describe("9:5 / /d rw - ext4 /dev/md5 rw");
	ok(storage.redundant == TSA_NO && warned("all members of md5 (raid1) lie on one device"),
	   "a mirror on one disk is none");

	/* LVM over two mirrors of the same two disks */
	make_md("md6", "9:6", "raid1", "2", "0", "sda1 sdb1");
	make_md("md7", "9:7", "raid1", "2", "0", "sda2 sdb2");
	make_mapped("dm-4", "252:4", "vg-two", "LVM-ee", "md6", "md7");
	describe("252:4 / /d rw - ext4 /dev/mapper/vg-two rw");
	ok(storage.redundant == TSA_YES, "LVM over two mirrors is redundant");
	is_int(storage.nleaves, 2, "on two disks");
	is(storage.raid_level, "raid1", "its RAID level is found below LVM");
	is(storage.members[0], "sda1", "with the first set's members");
}

/* One LVM RAID set of n images of 100 sectors each. */
static void
make_lvm_raid(int first, int n, const char *whole, int missing)
{
	char		name[32];
	char		image[32];
	char		numbers[32];
	int			i;

	snprintf(name, sizeof(name), "dm-%d", first);
	snprintf(numbers, sizeof(numbers), "252:%d", first);
	make_mapped(name, numbers, "vg-r", "LVM-r", NULL, NULL);
	put(whole, "sys/devices/virtual/block/%s/size", name);
	for (i = 1; i <= n; i++)
	{
		char		label[32];
		bool		lost = i <= missing;

		snprintf(image, sizeof(image), "dm-%d", first + i);
		snprintf(numbers, sizeof(numbers), "252:%d", first + i);
		snprintf(label, sizeof(label), "vg-r_rimage_%d", i - 1);
		make_mapped(image, numbers, label, "LVM-r-rimage",
					lost ? NULL : i % 2 ? "sda2" : "sdb2", NULL);
		put("100", "sys/devices/virtual/block/%s/size", image);
		add_slave(name, image);
	}
}

static void
test_lvm_raid(void)
{
	make_lvm_raid(100, 2, "100", 0);
	describe("252:100 / /d rw - ext4 /dev/mapper/vg-r rw");
	is(storage.raid_level, "raid1", "LVM raid1 by its size");
	is(storage.members[0], "vg-r_rimage_0", "LVM members by their labels");
	ok(storage.redundant == TSA_YES, "LVM raid1 is redundant");
	is(storage.stack,
	   "dm-100 (LVM raid1 vg-r) -> [dm-101 (LVM vg-r_rimage_0) -> sda2 -> sda (ST4000NM0035), "
	   "dm-102 (LVM vg-r_rimage_1) -> sdb2 -> sdb]", "LVM raid1: stack");
	make_lvm_raid(110, 3, "200", 0);
	describe("252:110 / /d rw - ext4 /dev/mapper/vg-r rw");
	is(storage.raid_level, "raid5", "LVM raid5 by its size");
	make_lvm_raid(120, 5, "300", 0);
	describe("252:120 / /d rw - ext4 /dev/mapper/vg-r rw");
	is(storage.raid_level, "raid6", "LVM raid6 by its size");
	make_lvm_raid(130, 4, "200", 0);
	describe("252:130 / /d rw - ext4 /dev/mapper/vg-r rw");
	is(storage.raid_level, "raid10", "LVM raid10 by its size");
	make_lvm_raid(140, 2, "200", 0);
	describe("252:140 / /d rw - ext4 /dev/mapper/vg-r rw");
	is(storage.raid_level, "raid0", "LVM raid0 by its size");
	make_lvm_raid(150, 2, "100", 1);
	describe("252:150 / /d rw - ext4 /dev/mapper/vg-r rw");
	ok(storage.degraded == TSA_YES && storage.redundant == TSA_NO,
	   "LVM raid1 that has lost a disk");
}

static void
test_btrfs(void)
{
	put_link("../../../../class/block/sda2", "sys/fs/btrfs/0a-1/devices/sda2");
	put_link("../../../../class/block/sdb2", "sys/fs/btrfs/0a-1/devices/sdb2");
	put("0", "sys/fs/btrfs/0a-1/devinfo/1/missing");
	put("0", "sys/fs/btrfs/0a-1/devinfo/2/missing");
	put("x", "sys/fs/btrfs/0a-1/allocation/data/raid1/total_bytes");
	describe("0:61 / /d rw - btrfs /dev/sda2 rw");
	is(storage.stack, "btrfs (raid1) -> [sda2 -> sda (ST4000NM0035), sdb2 -> sdb]",
	   "Btrfs over two disks");
	ok(storage.redundant == TSA_YES, "Btrfs raid1 is redundant");
	is_int(storage.read_ahead_kb, 128, "read-ahead of the disk, for want of");
	put("4096", "sys/fs/btrfs/0a-1/bdi/read_ahead_kb");
	describe("0:61 / /d rw - btrfs /dev/sda2 rw");
	is_int(storage.read_ahead_kb, 4096, "read-ahead of Btrfs itself");
	put("1", "sys/fs/btrfs/0a-1/devinfo/2/missing");
	describe("0:61 / /d rw - btrfs /dev/sda2 rw");
	ok(storage.degraded == TSA_YES && storage.redundant == TSA_NO,
	   "Btrfs raid1 that has lost a disk");
	put_link("../../../../class/block/nvme0n1p1", "sys/fs/btrfs/0a-2/devices/nvme0n1p1");
	describe("0:62 / /d rw - btrfs /dev/nvme0n1p1 rw");
	is(storage.stack, "nvme0n1p1 -> nvme0n1", "Btrfs on one device is no RAID");
}

int
main(void)
{
	if (mkdtemp(root) == NULL)
	{
		perror(root);
		return 2;
	}
	make_machine();
	test_mounts();
	test_disks();
	test_media();
	test_special_filesystems();
	test_loop();
	test_mapped();
	test_md();
	test_lvm_raid();
	test_btrfs();
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return done_testing();
}
