/*-------------------------------------------------------------------------
 *
 * reach.c
 *	  Does the device answer on which a move has left a file?
 *
 * The server unlinks files after the commit, where an error of open() is a
 * PANIC, and one of unlink() a warning after which nobody knows the file any
 * more.  So the commit that drops files is preceded by an open() of each,
 * which also leaves name and inode in the system's cache for the one that
 * follows it.  If that fails, or the file could not be shortened, nothing of
 * the job is dropped, the journal goes on naming all of its files, and each
 * call that recovers jobs tries again, with a warning.  A missing file counts
 * as gone only while the tablespace's directory is there, which it is not when
 * its file system is not mounted.
 *
 * A dirty buffer of such a file would fail each checkpoint, and a write that
 * is not synced yet make it a PANIC.  Nobody needs them, so buffers are
 * dropped and syncs forgotten; not without full_page_writes, where recovery
 * from an older checkpoint needs the pages that it has no images of.
 *
 * What remains: if unlink() fails in the checkpointer, the file is forgotten,
 * empty, as after any DROP.  A checkpoint that comes before it is known that
 * the device has died, and has writes to sync there, is a PANIC unless
 * data_sync_retry is on, as with writes of anybody.  And a power loss within
 * seconds of a drop can bring the dropped file back, which nobody knows then:
 * the server syncs neither unlink() nor the truncation before it.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "commands/tablespace.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "storage/smgr.h"

#include "compat.h"
#include "move/copy/reach.h"
#include "state/file_error.h"

/* Of how many segments syncs are forgotten if none can be looked at. */
#define MAX_SEGMENTS	1024

/*
 * Says that a file could not be removed, by the caller's errno.
 */
static void
warn_of_left_file(const char *path)
{
	ereport(WARNING,
			(tsa_errcode_for_file_access(),
			 errmsg("could not remove file \"%s\" that a move has left: %m",
					path),
			 errhint("The journal of moves keeps it in mind. It is removed by the next call that moves relations, or ends or waits for a move, once its device answers.")));
}

/*
 * Does a tablespace's directory exist?  True also if there is no such
 * tablespace any more, and with it no file.
 */
static bool
tablespace_is_mounted(Oid tablespace)
{
	char		path[MAXPGPATH];
	struct stat st;

	if (tablespace == DEFAULTTABLESPACE_OID)
		return true;
	snprintf(path, sizeof(path), "pg_tblspc/%u/%s", tablespace,
			 TABLESPACE_VERSION_DIRECTORY);
	return stat(path, &st) == 0 || get_tablespace_name(tablespace) == NULL;
}

/*
 * Can a fork of a file be opened, and synced if asked for?  True also if it is
 * gone.  Otherwise errno says why not.
 */
static bool
fork_answers(const char *path, Oid tablespace, bool sync)
{
	int			fd = OpenTransientFile(path, O_RDWR | PG_BINARY);
	int			save_errno;
	bool		answers;

	if (fd < 0)
	{
		if (errno != ENOENT)
			return false;
		answers = tablespace_is_mounted(tablespace);
		errno = ENOENT;
		return answers;
	}
	answers = !sync || pg_fsync(fd) == 0;
	save_errno = errno;
	(void) CloseTransientFile(fd);
	errno = save_errno;
	return answers;
}

/*
 * Forgets the segments of a fork that are to be synced; they end where there
 * is no file of the next one's name.
 */
static void
forget_syncs(RelFileLocator locator, ForkNumber fork)
{
	char		path[MAXPGPATH];
	char		next[MAXPGPATH + 12];
	struct stat st;
	uint32		segment = 0;

	tsa_relation_path(path, sizeof(path), locator, fork);
	do
	{
		FileTag		tag = tsa_file_tag(locator, fork, segment++);

		(void) RegisterSyncRequest(&tag, SYNC_FORGET_REQUEST, true);
		snprintf(next, sizeof(next), "%s.%u", path, segment);
	} while (segment < MAX_SEGMENTS &&
			 (stat(next, &st) == 0 || errno != ENOENT));
}

/*
 * Makes checkpoints independent of a file that nobody needs and that cannot be
 * reached.
 */
void
tsa_give_up_file(RelFileLocator locator)
{
	SMgrRelation smgr = smgropen(locator, INVALID_PROC_NUMBER);
	ForkNumber	forks[MAX_FORKNUM + 1];
	BlockNumber from[MAX_FORKNUM + 1] = {0};

	if (!fullPageWrites)
		return;
	for (int i = 0; i <= MAX_FORKNUM; i++)
		forks[i] = (ForkNumber) i;
	tsa_drop_relation_buffers(smgr, forks, MAX_FORKNUM + 1, from);
	for (int i = 0; i <= MAX_FORKNUM; i++)
		forget_syncs(locator, forks[i]);
}

/*
 * Can all forks of a file be opened?  If not, warns and gives it up.
 */
bool
tsa_file_answers(RelFileLocator locator)
{
	char		path[MAXPGPATH];

	for (ForkNumber fork = MAIN_FORKNUM; fork <= MAX_FORKNUM; fork++)
	{
		tsa_relation_path(path, sizeof(path), locator, fork);
		if (!fork_answers(path, tsa_locator_tablespace(locator), false))
		{
			warn_of_left_file(path);
			tsa_give_up_file(locator);
			return false;
		}
	}
	return true;
}

/*
 * Can the first segment of a file be synced?  The same if not.
 */
bool
tsa_file_syncs(RelFileLocator locator)
{
	char		path[MAXPGPATH];

	tsa_relation_path(path, sizeof(path), locator, MAIN_FORKNUM);
	if (fork_answers(path, tsa_locator_tablespace(locator), true))
		return true;
	warn_of_left_file(path);
	tsa_give_up_file(locator);
	return false;
}
