/*-------------------------------------------------------------------------
 *
 * file_bytes.c
 *	  The files of relations of this database, and their sizes.
 *
 * No relation is opened or locked: one that is dropped has no file.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/stat.h>

#include "catalog/pg_tablespace_d.h"
#include "fmgr.h"
#include "miscadmin.h"

#include "probe/devices.h"
#include "sample/file_bytes.h"
#include "state/file_error.h"

PG_FUNCTION_INFO_V1(file_bytes);

/*
 * Path of the main fork of a relation in this database, relative to the data
 * directory.
 */
void
tsa_make_file_path(char *path, RelFileLocator locator)
{
	Oid			tablespace = tsa_locator_tablespace(locator);
	char	   *directory = tsa_get_tablespace_path(tablespace);
	bool		is_default = tablespace == DEFAULTTABLESPACE_OID;

	snprintf(path, MAXPGPATH, "%s/%s%s%u/%u", directory,
			 is_default ? "" : TABLESPACE_VERSION_DIRECTORY,
			 is_default ? "" : "/", MyDatabaseId,
			 tsa_locator_number(locator));
	pfree(directory);
}

/* Makes a path that of a segment; "length" is its length without that. */
void
tsa_name_segment(char *path, size_t length, int segment)
{
	if (segment > 0)
		snprintf(path + length, MAXPGPATH - length, ".%d", segment);
}

/* Bytes of a fork; -1 if it has no file.  "path" is that of the main fork. */
int64
tsa_fork_bytes(const char *path, ForkNumber fork)
{
	char		name[MAXPGPATH];
	struct stat status;
	int64		bytes = -1;
	size_t		length;

	strlcpy(name, path, MAXPGPATH);
	if (fork != MAIN_FORKNUM)
	{
		strlcat(name, "_", MAXPGPATH);
		strlcat(name, forkNames[fork], MAXPGPATH);
	}
	length = strlen(name);
	for (int segment = 0;; segment++)
	{
		CHECK_FOR_INTERRUPTS();
		tsa_name_segment(name, length, segment);
		if (stat(name, &status) != 0)
		{
			if (errno != ENOENT)
				ereport(ERROR,
						(tsa_errcode_for_file_access(),
						 errmsg("could not stat file \"%s\": %m", name)));
			return bytes;
		}
		bytes = Max(bytes, 0) + status.st_size;
		if (status.st_size < TSA_SEGMENT_BYTES)
			return bytes;
	}
}

/*
 * Bytes of all forks of a relation of this database; -1: no file.  An index has
 * no visibility map, and only an unlogged relation an init fork; nothing empty
 * has other forks than that.
 */
int64
tsa_file_bytes(Oid tablespace, RelFileNumber filenode, bool is_table,
			   bool is_unlogged)
{
	char		path[MAXPGPATH];
	int64		bytes;

	/* made once: advice asks for the sizes of thousands of relations */
	tsa_make_file_path(path,
					   tsa_make_locator(tablespace, MyDatabaseId, filenode));
	bytes = tsa_fork_bytes(path, MAIN_FORKNUM);
	for (ForkNumber fork = FSM_FORKNUM; bytes > 0 && fork <= MAX_FORKNUM;
		 fork++)
	{
		if (fork == VISIBILITYMAP_FORKNUM ? is_table :
			fork != INIT_FORKNUM || is_unlogged)
			bytes += Max(tsa_fork_bytes(path, fork), 0);
	}
	return bytes;
}

/* file_bytes(tablespace oid, filenode oid), see inventory.sql */
Datum
file_bytes(PG_FUNCTION_ARGS)
{
	int64		bytes = tsa_file_bytes(PG_GETARG_OID(0), PG_GETARG_OID(1), true,
									   true);

	if (bytes < 0)
		PG_RETURN_NULL();
	PG_RETURN_INT64(bytes);
}
