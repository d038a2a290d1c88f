/*-------------------------------------------------------------------------
 *
 * device_counters.c
 *	  device_counters(): the work of the device under a tablespace for
 *	  everybody since it was attached, as the kernel counts it.
 *
 * The counters of two moments can be subtracted if they are of one life of one
 * device.  A text says so: the kernel's name of this boot, the name of the
 * disk, and the number that the kernel gives to each disk it attaches (from
 * 5.15 on), so that a loop device that was set up anew is another one.
 *
 * Nothing that the kernel does not tell is an error: the row is NULL.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "storage/fd.h"
#include "utils/builtins.h"

#include "probe/counters.h"
#include "probe/devices.h"
#include "probe/mount_storage.h"

/* device, reads, read_bytes, read_ms, writes, write_bytes, write_ms, busy_ms,
 * queue_ms */
#define NCOLUMNS	9

#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

PG_FUNCTION_INFO_V1(tsa_device_counters);

/*
 * Appends the first word of a file; nothing if it cannot be read.
 */
static void
append_word(StringInfo text, const char *path)
{
	FILE	   *file = AllocateFile(path, "r");
	char		word[64];

	if (file == NULL)
		return;
	if (fscanf(file, "%63s", word) == 1)
		appendStringInfo(text, " %s", word);
	FreeFile(file);
}

/*
 * The device of this stat file, in this life of it.
 */
static char *
name_device(const char *stat_path)
{
	char	   *dir = pstrdup(stat_path);
	StringInfoData text;

	*strrchr(dir, '/') = '\0';
	initStringInfo(&text);
	appendStringInfoString(&text, strrchr(dir, '/') + 1);
	append_word(&text, psprintf("%s/diskseq", dir));
	append_word(&text, BOOT_ID_FILE);
	return text.data;
}

/*
 * The stat file of the one device under an open directory; false if there is
 * none, or several are below.
 */
static bool
find_stat_path(int fd, char *path, size_t size)
{
	TsaStorage *storage;

	if (tsa_device_stat_path(fd, path, size) == 0)
		return true;
	/* Btrfs and others number their own devices */
	storage = palloc0(sizeof(TsaStorage));
	return tsa_describe_open_file(fd, storage) && storage->nleaves == 1 &&
		storage->device[0] == '/' &&
		tsa_block_device_stat_path(storage->device, path, size) == 0;
}

/*
 * device_counters(tablespace): one row, in requests, bytes and milliseconds;
 * NULL if the directory cannot be opened or has no device with counters.
 */
Datum
tsa_device_counters(PG_FUNCTION_ARGS)
{
	char	   *directory = tsa_get_tablespace_path(PG_GETARG_OID(0));
	char		path[MAXPGPATH];
	TsaDeviceIo io;
	TupleDesc	desc;
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS] = {0};
	bool		found;
	int			fd;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != NCOLUMNS)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("result type of %s does not match the library",
						"device_counters()"),
				 errhint("Run ALTER EXTENSION tablespace_advisor UPDATE.")));
	fd = OpenTransientFile(directory, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		PG_RETURN_NULL();
	found = find_stat_path(fd, path, sizeof(path)) &&
		tsa_device_io_read(path, &io) == 0;
	CloseTransientFile(fd);
	if (!found)
		PG_RETURN_NULL();
	values[0] = CStringGetTextDatum(name_device(path));
	values[1] = Int64GetDatum((int64) io.read_requests);
	values[2] = Int64GetDatum((int64) io.read_bytes);
	values[3] = Int64GetDatum((int64) io.read_ms);
	values[4] = Int64GetDatum((int64) io.write_requests);
	values[5] = Int64GetDatum((int64) io.write_bytes);
	values[6] = Int64GetDatum((int64) io.write_ms);
	values[7] = Int64GetDatum((int64) io.busy_ms);
	values[8] = Int64GetDatum((int64) io.queue_ms);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
