/*-------------------------------------------------------------------------
 *
 * existing.c
 *	  Measuring a tablespace by its own relation files, read-only.
 *
 * A file of the probe's own can be small enough for a cache that the data of
 * the tablespace do not fit into; then its relations tell the truth.  The
 * largest files are taken, of all databases; the data read is thrown away.
 *
 * No lock is held on the relations: a file that is dropped meanwhile lives on
 * until it is closed here, and one that is truncated gives short reads, which
 * are left out and reported.  Beside a scratch file, which a few reads of these
 * files are compared with, the first short read ends the comparison.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "catalog/pg_tablespace_d.h"
#include "common/relpath.h"
#include "miscadmin.h"
#include "storage/fd.h"

#include "compat.h"
#include "probe/counters.h"
#include "probe/target.h"

/* smaller files are not worth a descriptor */
#define MIN_BYTES INT64CONST(1048576)

/* files with more than this share of holes or unwritten extents are left out */
#define MAX_UNTRUSTED 0.01

typedef struct Candidate
{
	char		path[MAXPGPATH];
	uint64		bytes;
} Candidate;

typedef struct Candidates
{
	int			n;
	Candidate	files[TSA_MAX_PROBE_FILES];
} Candidates;

/* Is this a file of a relation's main fork, as in "16384" or "16384.1"? */
static bool
is_main_fork(const char *name)
{
	size_t		digits = strspn(name, "0123456789");

	if (digits == 0)
		return false;
	if (name[digits] == '.')
	{
		name += digits + 1;
		digits = strspn(name, "0123456789");
	}
	return digits > 0 && name[digits] == '\0';
}

/* Add a file of so many bytes, in place of the smallest if there is no room. */
static void
add_candidate(Candidates *candidates, const char *path, uint64 bytes)
{
	int			place = candidates->n;
	int			i;

	if (place == TSA_MAX_PROBE_FILES)
	{
		place = 0;
		for (i = 1; i < candidates->n; i++)
			if (candidates->files[i].bytes < candidates->files[place].bytes)
				place = i;
		if (bytes <= candidates->files[place].bytes)
			return;
	}
	else
		candidates->n++;
	strlcpy(candidates->files[place].path, path, MAXPGPATH);
	candidates->files[place].bytes = bytes;
}

/* Look for relation files in a database's directory. */
static void
scan_database(Candidates *candidates, const char *directory)
{
	DIR		   *dir = AllocateDir(directory);
	struct dirent *entry;

	while ((entry = ReadDirExtended(dir, directory, DEBUG1)) != NULL)
	{
		char		path[MAXPGPATH * 2];
		struct stat st;

		CHECK_FOR_INTERRUPTS();
		if (!is_main_fork(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (strlen(path) < MAXPGPATH && stat(path, &st) == 0 &&
			S_ISREG(st.st_mode) && st.st_size >= MIN_BYTES)
			add_candidate(candidates, path, (uint64) st.st_size);
	}
	if (dir != NULL)
		FreeDir(dir);
}

/* Look for relation files in a tablespace. */
static void
scan_tablespace(Candidates *candidates, Oid tablespace)
{
	char		directory[MAXPGPATH];
	struct dirent *entry;
	DIR		   *dir;

	if (tablespace == GLOBALTABLESPACE_OID)
	{
		scan_database(candidates, "global");
		return;
	}
	if (tablespace == DEFAULTTABLESPACE_OID)
		strlcpy(directory, "base", sizeof(directory));
	else
		snprintf(directory, sizeof(directory), "pg_tblspc/%u/%s",
				 tablespace, TABLESPACE_VERSION_DIRECTORY);

	dir = AllocateDir(directory);
	while ((entry = ReadDir(dir, directory)) != NULL)
	{
		char		path[MAXPGPATH * 2];

		if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		scan_database(candidates, path);
	}
	FreeDir(dir);
}

/*
 * Bytes of the file that are data on the device, as far as one can know; 0 if
 * too much of it is not.  Blocks allocated for growth and not written yet
 * (from 16 on, files grow many blocks at a time) are left off at the end.
 */
static uint64
bytes_on_device(int fd, uint64 bytes)
{
	TsaFileMap	map;

	if (tsa_file_map_read(fd, bytes, &map) != 0)
		return bytes;
	if ((double) map.written < (1 - MAX_UNTRUSTED) * (double) map.written_end)
		return 0;
	return map.written_end - map.written_end % BLCKSZ;
}

/*
 * Open the tablespace's largest relation files.  Returns false if it has none
 * that is large enough and all there.
 */
bool
tsa_existing_open(TsaProbeTarget *target)
{
	Candidates *candidates = palloc0(sizeof(Candidates));
	int			i;

	scan_tablespace(candidates, target->tablespace);
	for (i = 0; i < candidates->n; i++)
	{
		int			n = target->nfiles;
		uint64		bytes;

		tsa_target_open_file(target, candidates->files[i].path,
							 O_RDONLY | PG_BINARY);
		if (target->nfiles == n)
			continue;
		bytes = bytes_on_device(target->cached[n].fd,
								candidates->files[i].bytes);
		if (bytes < MIN_BYTES)
		{
			CloseTransientFile(target->direct[n].fd);
			CloseTransientFile(target->cached[n].fd);
			target->nfiles = n;
			continue;
		}
		target->direct[n].bytes = target->cached[n].bytes = bytes;
		target->bytes += bytes;
	}
	pfree(candidates);

	return target->nfiles > 0;
}
