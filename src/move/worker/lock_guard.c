/*-------------------------------------------------------------------------
 *
 * lock_guard.c
 *	  Keeps code of others in a worker from giving the worker's locks back.
 *
 * A worker proves by session-level locks of the advisory kind that it lives
 * (batch_lock.h).  No SQL function can name them, but pg_advisory_unlock_all()
 * releases all such locks of its process, and a rebuild calls functions of
 * indexes: the batch would seem to be dead, and its copies would be removed
 * while they are made, those of all tables that come later in the same call.
 * So a worker does not run that function.  The server tells the hook below of
 * each function that is to be called by an expression; other ways to call one
 * that takes no arguments are for superusers only.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "utils/fmgroids.h"

#include "move/worker/lock_guard.h"

static object_access_hook_type next_object_access = NULL;

/*
 * Hook: refuses pg_advisory_unlock_all(), which would release the locks that
 * prove that the worker lives.
 */
static void
object_access(ObjectAccessType access, Oid class, Oid object, int column,
			  void *arg)
{
	if (next_object_access != NULL)
		next_object_access(access, class, object, column, arg);
	if (access == OAT_FUNCTION_EXECUTE && class == ProcedureRelationId &&
		object == F_PG_ADVISORY_UNLOCK_ALL)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot execute %s() in a worker of extension \"%s\"",
						"pg_advisory_unlock_all", "tablespace_advisor")));
}

/*
 * For the life of this process, which is a worker.
 */
void
tsa_guard_locks(void)
{
	next_object_access = object_access_hook;
	object_access_hook = object_access;
}
