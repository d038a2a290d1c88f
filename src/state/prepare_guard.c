/*-------------------------------------------------------------------------
 *
 * prepare_guard.c
 *	  Refuses PREPARE TRANSACTION where locks of the extension are held.
 *
 * A prepared transaction keeps its locks for as long as somebody likes, without
 * a session that could be seen or ended: on the extension's tables, which keeps
 * DROP EXTENSION, ALTER EXTENSION UPDATE and everybody behind them waiting, and
 * samples; on a batch that it has queued, which keeps a worker slot.
 *
 * It looks at locks, not at calls, so that everything that locks our tables
 * counts.  Only in a process that has loaded the library: where it is not
 * preloaded, LOCK on one of the views gets past it.  Logical replication is
 * let through: its transactions were prepared somewhere else, and it would try
 * again for ever.  So is CREATE or ALTER EXTENSION, for superusers only, since
 * Citus makes extensions on all nodes in this way.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "storage/lock.h"

#include "state/lock_class.h"
#include "state/prepare_guard.h"
#include "state/state.h"

/* Is this lock on a table or view of the extension, or of our own kind? */
static bool
is_ours(const LOCKTAG *tag, Oid extension)
{
	if (tag->locktag_type == LOCKTAG_ADVISORY)
		return tag->locktag_field4 >= TSA_FIRST_LOCK_CLASS &&
			tag->locktag_field4 <= TSA_LAST_LOCK_CLASS;
	return tag->locktag_type == LOCKTAG_RELATION && OidIsValid(extension) &&
		tag->locktag_field1 == MyDatabaseId &&
		tag->locktag_field2 >= FirstNormalObjectId &&
		getExtensionOfObject(RelationRelationId,
							 tag->locktag_field2) == extension;
}

/*
 * Refuses PREPARE TRANSACTION where the transaction holds a lock of the
 * extension's.
 */
void
tsa_refuse_prepare(void)
{
	LockData   *locks;
	Oid			extension;
	bool		found = false;

	if (IsLogicalWorker() || tsa_state_is_new())
		return;
	extension = tsa_state_extension();
	locks = GetLockStatusData();
	for (int i = 0; i < locks->nelements && !found; i++)
		found = locks->locks[i].pid == MyProcPid &&
			is_ours(&locks->locks[i].locktag, extension);
	if (found)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot PREPARE a transaction that has used extension \"%s\"",
						"tablespace_advisor"),
				 errdetail("It would keep the extension's locks until it is committed or rolled back, and others waiting."),
				 errhint("Use the extension in a transaction of its own.")));
}

/* Callback: a transaction is about to be prepared. */
static void
before_prepare(XactEvent event, void *arg pg_attribute_unused())
{
	if (event == XACT_EVENT_PRE_PREPARE)
		tsa_refuse_prepare();
}

/*
 * Registers it when the library is loaded.  If that is preloaded, the callback
 * of wait/hooks.c calls it: each one costs every transaction time.
 */
void
tsa_init_prepare_guard(void)
{
	if (!process_shared_preload_libraries_in_progress)
		RegisterXactCallback(before_prepare, NULL);
}
