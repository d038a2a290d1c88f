/*-------------------------------------------------------------------------
 *
 * space.c
 *	  Free space of tablespaces.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/statvfs.h>

#include "catalog/pg_tablespace.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "move/common/relation.h"
#include "state/file_error.h"

/*
 * A size for people.
 */
const char *
tsa_pretty_size(int64 bytes)
{
	return TextDatumGetCString(DirectFunctionCall1(pg_size_pretty,
												   Int64GetDatum(bytes)));
}

/*
 * Refuses to fill a tablespace up.  A relation's new storage is counted at
 * the size of the old one; where it lies beside others that grow, the write
 * itself may still fail.
 */
void
tsa_check_free_space(Oid tablespace, int64 needed)
{
	char		path[MAXPGPATH];
	struct statvfs fs;
	int64		free_bytes;

	if (tablespace == DEFAULTTABLESPACE_OID)
		strlcpy(path, "base", sizeof(path));
	else
		snprintf(path, sizeof(path), "pg_tblspc/%u", tablespace);
	if (statvfs(path, &fs) != 0)
		ereport(ERROR,
				(tsa_errcode_for_file_access(),
				 errmsg("could not look up the free space of \"%s\": %m",
						path)));
	free_bytes = (int64) fs.f_bavail * (int64) fs.f_frsize;
	if (needed > free_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("not enough space in tablespace \"%s\"",
						tsa_printable_tablespace(tablespace)),
				 errdetail("%s are needed, %s are free.",
						   tsa_pretty_size(needed),
						   tsa_pretty_size(free_bytes))));
}
