/*-------------------------------------------------------------------------
 *
 * dumps.c
 *	  Sessions with helpers that must not meet a request for an exclusive lock.
 *
 * pg_dump with several jobs locks all tables in one session, which exports its
 * snapshot.  The others import it, and take LOCK TABLE ... NOWAIT before they
 * read a table.  That fails while a request for AccessExclusive stands in the
 * queue, and the whole dump ends.  The first session holds its lock for as long
 * as the dump lasts, so such a request cannot succeed anyway.
 *
 * Such a session is known by one of two signs.
 *
 * - It has exported a snapshot and is still in that transaction: a file in
 *   pg_snapshots has its virtual transaction ID in its name (ExportSnapshot()
 *   in snapmgr.c), and goes when the transaction ends.  Other programs that
 *   read in parallel do the same.
 * - Its application_name is pg_dump or pg_dumpall.  A dump with one job does
 *   not fail, but makes everybody wait behind the request in vain.
 *
 * A session that is not a dump may give itself that name.  It holds a lock on
 * the table, and so delays the move in any case.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <unistd.h>

#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/backend_status.h"

#include "compat.h"
#include "move/common/dumps.h"

/*
 * Has the session of that lock exported a snapshot in its transaction?
 */
static bool
has_exported_snapshot(const LockInstanceData *lock)
{
	char		path[MAXPGPATH];

	snprintf(path, sizeof(path), "pg_snapshots/%08X-%08X-1",
			 tsa_lock_proc_number(lock), tsa_lock_lxid(lock));
	return access(path, F_OK) == 0;
}

/*
 * Does that process call itself a dump?
 */
static bool
is_named_dump(int pid)
{
	for (int i = 1; i <= pgstat_fetch_stat_numbackends(); i++)
	{
		PgBackendStatus *entry = &tsa_backend_status(i)->backendStatus;

		if (entry->st_procpid == pid)
			return strcmp(entry->st_appname, "pg_dump") == 0 ||
				strcmp(entry->st_appname, "pg_dumpall") == 0;
	}
	return false;
}

/*
 * The process ID of a dump that holds a lock on a relation of this database; 0
 * if there is none.  Reads the whole lock table.
 */
int
tsa_find_dump(Oid relid)
{
	LockData   *locks = GetLockStatusData();
	int			pid = 0;

	pgstat_clear_backend_activity_snapshot();
	for (int i = 0; i < locks->nelements && pid == 0; i++)
	{
		const LockInstanceData *lock = &locks->locks[i];

		if (lock->pid != 0 && lock->pid != MyProcPid && lock->holdMask != 0 &&
			lock->locktag.locktag_type == LOCKTAG_RELATION &&
			lock->locktag.locktag_field1 == MyDatabaseId &&
			lock->locktag.locktag_field2 == relid &&
			(has_exported_snapshot(lock) || is_named_dump(lock->pid)))
			pid = lock->pid;
	}
	pgstat_clear_backend_activity_snapshot();
	pfree(locks->locks);
	pfree(locks);
	return pid;
}
