/*-------------------------------------------------------------------------
 *
 * devices.c
 *	  tablespace_device(): the storage of one tablespace, or of pg_wal.
 *
 * The directory of the tablespace is opened as the server itself reaches it,
 * through pg_tblspc, so that symbolic links, tablespaces made in place, bind
 * mounts and mounts on top of each other need no thought: the kernel says in
 * /proc/self/fdinfo which mount the open directory is in.  The rest is found
 * from the mount in stack.c and mount_storage.c without the server's help.
 *
 * Nothing that the file system does not tell is an error.  It is NULL, and if
 * the directory itself cannot be opened, a warning in the row says why.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "access/htup_details.h"
#include "catalog/pg_tablespace_d.h"
#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "probe/describe.h"
#include "probe/devices.h"

/* columns of tablespace_device() */
enum
{
	COL_LOCATION,
	COL_FILESYSTEM,
	COL_MOUNT_POINT,
	COL_DEVICE,
	COL_DEVICE_STACK,
	COL_MEDIA,
	COL_RAID_LEVEL,
	COL_MEMBERS,
	COL_REDUNDANT,
	COL_VOLATILE,
	COL_SIZE_BYTES,
	COL_FREE_BYTES,
	COL_READ_AHEAD_KB,
	COL_SCHEDULER,
	COL_WARNINGS,
	COL_DEGRADED,
	COL_WRITE_PENALTY,
	COL_WRITE_CACHE,
	COL_LEAVES,
	COL_FILE_SYSTEM_ID,
	NCOLUMNS,
	NCOLUMNS_1_0 = COL_FILE_SYSTEM_ID
};

PG_FUNCTION_INFO_V1(tablespace_device);

/*
 * Directory in which the server finds a tablespace's files, relative to the
 * data directory.
 */
char *
tsa_get_tablespace_path(Oid tablespace)
{
	if (tablespace == DEFAULTTABLESPACE_OID)
		return pstrdup("base");
	if (tablespace == GLOBALTABLESPACE_OID)
		return pstrdup("global");
	return psprintf("pg_tblspc/%u", tablespace);
}

/*
 * Where a tablespace lies, for people: the target of its symbolic link, or
 * the absolute path of its directory if it is none.
 */
static char *
get_location(const char *path)
{
	char		target[MAXPGPATH];
	ssize_t		len = readlink(path, target, sizeof(target) - 1);

	if (len <= 0)
		return psprintf("%s/%s", DataDir, path);
	target[len] = '\0';
	return pstrdup(target);
}

/*
 * Describes the storage that an open file or directory lies on.  Returns
 * false if the kernel does not say.
 */
bool
tsa_describe_open_file(int fd, TsaStorage *storage)
{
	char		path[64];
	char		line[256];
	FILE	   *file;
	int			mount_id = -1;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = AllocateFile(path, "r");
	if (file == NULL)
		return false;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "mnt_id: %d", &mount_id) == 1)
			break;
	FreeFile(file);
	return mount_id >= 0 && tsa_describe_storage("", mount_id, storage);
}

/*
 * Turns a text of the kernel into text of this database.  Names of files have
 * no encoding: where the bytes are not valid in the database's, those that are
 * not ASCII are shown as question marks.
 */
static Datum
make_text(const char *value)
{
	char	   *copy = pstrdup(value);
	char	   *c;

	if (!pg_verify_mbstr(GetDatabaseEncoding(), copy, strlen(copy), true))
		for (c = copy; *c != '\0'; c++)
			if (IS_HIGHBIT_SET(*c))
				*c = '?';
	return CStringGetTextDatum(copy);
}

/* Puts a text into a column; NULL if it is empty. */
static void
put_text(Datum *values, bool *nulls, int column, const char *value)
{
	if (value == NULL || value[0] == '\0')
		return;
	values[column] = make_text(value);
	nulls[column] = false;
}

/* Puts n texts, each in a field of that size, into a column. */
static void
put_texts(Datum *values, bool *nulls, int column, const char *texts,
		  size_t size, int n)
{
	Datum	   *elements = palloc(n * sizeof(Datum));
	int			i;

	for (i = 0; i < n; i++)
		elements[i] = make_text(texts + i * size);
	values[column] = PointerGetDatum(construct_array(elements, n, TEXTOID, -1,
													 false, TYPALIGN_INT));
	nulls[column] = false;
}

/* Puts yes or no into a column; NULL if it is not known. */
static void
put_tri(Datum *values, bool *nulls, int column, TsaTri value)
{
	if (value == TSA_UNKNOWN)
		return;
	values[column] = BoolGetDatum(value == TSA_YES);
	nulls[column] = false;
}

/* Fills in the columns that the storage under the directory answers. */
static void
put_storage(Datum *values, bool *nulls, TsaStorage *storage)
{
	put_text(values, nulls, COL_FILESYSTEM, storage->mount.type);
	put_text(values, nulls, COL_MOUNT_POINT, storage->mount.point);
	put_text(values, nulls, COL_DEVICE, storage->device);
	put_text(values, nulls, COL_DEVICE_STACK, storage->stack);
	put_text(values, nulls, COL_MEDIA, tsa_get_media_name(storage->media));
	put_tri(values, nulls, COL_REDUNDANT, storage->redundant);
	put_tri(values, nulls, COL_VOLATILE, storage->is_volatile);
	if (storage->read_ahead_kb >= 0)
	{
		values[COL_READ_AHEAD_KB] =
			Int32GetDatum((int32) Min(storage->read_ahead_kb, PG_INT32_MAX));
		nulls[COL_READ_AHEAD_KB] = false;
	}
	put_text(values, nulls, COL_SCHEDULER, storage->scheduler);
	put_text(values, nulls, COL_WRITE_CACHE, storage->write_cache);
	if (storage->nleaves > 0)
		put_texts(values, nulls, COL_LEAVES, storage->leaves[0],
				  sizeof(storage->leaves[0]), storage->nleaves);
	if (storage->raid_level[0] == '\0')
		return;
	put_text(values, nulls, COL_RAID_LEVEL, storage->raid_level);
	put_texts(values, nulls, COL_MEMBERS, storage->members[0],
			  sizeof(storage->members[0]), storage->nmembers);
	put_tri(values, nulls, COL_DEGRADED, storage->degraded);
	values[COL_WRITE_PENALTY] = Int32GetDatum(storage->write_penalty);
	nulls[COL_WRITE_PENALTY] = false;
}

/*
 * Fills in the size and the space a server that is not root may still use, and
 * the number of the file system, by which tablespaces on one file system are
 * known where the mount is not visible.
 */
static void
put_space(Datum *values, bool *nulls, int fd)
{
	struct statvfs space;
	struct stat st;

	if (fstat(fd, &st) == 0)
	{
		char		number[64];

		snprintf(number, sizeof(number), "%u:%u", major(st.st_dev),
				 minor(st.st_dev));
		put_text(values, nulls, COL_FILE_SYSTEM_ID, number);
	}
	if (fstatvfs(fd, &space) != 0 || space.f_blocks == 0)
		return;
	values[COL_SIZE_BYTES] =
		Int64GetDatum((int64) space.f_blocks * (int64) space.f_frsize);
	values[COL_FREE_BYTES] =
		Int64GetDatum((int64) space.f_bavail * (int64) space.f_frsize);
	nulls[COL_SIZE_BYTES] = nulls[COL_FREE_BYTES] = false;
}

/* tablespace_device(oid) -> one row, see devices.sql; 0 stands for pg_wal */
Datum
tablespace_device(PG_FUNCTION_ARGS)
{
	Oid			tablespace = PG_GETARG_OID(0);
	char	   *path = OidIsValid(tablespace) ?
	tsa_get_tablespace_path(tablespace) : pstrdup("pg_wal");
	TsaStorage *storage = palloc0(sizeof(TsaStorage));
	TupleDesc	tupdesc;
	Datum		values[NCOLUMNS] = {0};
	bool		nulls[NCOLUMNS];
	int			fd;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE ||
		(tupdesc->natts != NCOLUMNS && tupdesc->natts != NCOLUMNS_1_0))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("result type of %s does not match the library",
						"tablespace_device()"),
				 errhint("Run ALTER EXTENSION tablespace_advisor UPDATE.")));

	memset(nulls, true, sizeof(nulls));
	put_text(values, nulls, COL_LOCATION, get_location(path));
	put_text(values, nulls, COL_MEDIA, tsa_get_media_name(TSA_MEDIA_UNKNOWN));

	fd = OpenTransientFile(path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		tsa_add_warning(storage, "could not open directory: %m");
	else
	{
		if (tsa_describe_open_file(fd, storage))
			put_storage(values, nulls, storage);
		else
			tsa_add_warning(storage,
							"device unknown: /proc/self/mountinfo does not list "
							"this mount (chroot, container); run "
							"probe_tablespace() to measure it");
		put_space(values, nulls, fd);
		CloseTransientFile(fd);
	}
	put_texts(values, nulls, COL_WARNINGS, storage->warnings[0],
			  sizeof(storage->warnings[0]), storage->nwarnings);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc),
													  values, nulls)));
}
