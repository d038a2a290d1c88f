/*-------------------------------------------------------------------------
 *
 * session.c
 *	  The session of a background worker: its transactions and the role it has
 *	  taken on.
 *
 * Roles.  Owners of tables are often roles that cannot log in, and before
 * version 17 a worker cannot connect as one.  The worker connects as the
 * bootstrap superuser and then takes on the owner as session user, outside any
 * transaction, for the time of one job.  Every right is checked against the
 * owner, RESET ROLE leads back to the owner only, and the security context is
 * 0, as REINDEX CONCURRENTLY and its transactions demand.  ddl.c tells which
 * code of others can run, and why none of it gets at the superuser.  Rejected:
 * SetUserIdAndSecContext() alone, since SECURITY_LOCAL_USERID_CHANGE must not
 * be set across transactions and without it RESET ROLE would lead back.
 *
 * Locks.  Session-level relation locks outlive a process that ends outside a
 * transaction, so they are released when it exits.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "move/common/session.h"
#include "state/bounded.h"

static emit_log_hook_type previous_emit_log = NULL;

/*
 * An owner's function may have raised an error of any length, and the server
 * cannot put together a line of its log that is longer than a gigabyte.
 */
static void
cut_logged_error(ErrorData *error)
{
	tsa_cut_error(error);
	if (previous_emit_log != NULL)
		previous_emit_log(error);
}

/*
 * After an error and at the worker's end: ends the transaction and releases
 * the session-level relation locks.  An abort releases those too, but without
 * a transaction to abort they would stay: for the jobs to come, or, when the
 * process ends, for ever.
 */
static void
release_session_locks(int code pg_attribute_unused(),
					  Datum arg pg_attribute_unused())
{
	LWLockReleaseAll();
	AbortOutOfAnyTransaction();
	LockReleaseAll(DEFAULT_LOCKMETHOD, true);
}

/*
 * Makes the process, which is connected, one with a session.  The caller sets
 * after_abort.
 */
void
tsa_init_session(TsaSession *session)
{
	before_shmem_exit(release_session_locks, (Datum) 0);
	previous_emit_log = emit_log_hook;
	emit_log_hook = cut_logged_error;
	session->context = AllocSetContextCreate(TopMemoryContext, "move job",
											 ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(session->context);
}

/*
 * Begins a transaction.
 */
void
tsa_begin(void)
{
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
}

/*
 * Commits it.
 */
void
tsa_commit(const TsaSession *session)
{
	CommitTransactionCommand();
	MemoryContextSwitchTo(session->context);
}

/*
 * Aborts.  An error of that, from a file of the transaction that cannot be
 * opened to be deleted, is logged, and the abort goes on where it was, as in
 * the server's own loop; it has forgotten the part that it could not do.
 */
static void
abort_transaction(const TsaSession *session)
{
	uint32		held_off = QueryCancelHoldoffCount;

	PG_TRY();
	{
		release_session_locks(0, (Datum) 0);
	}
	PG_CATCH();
	{
		QueryCancelHoldoffCount = held_off; /* an error sets it to 0 */
		MemoryContextSwitchTo(session->context);
		EmitErrorReport();
		FlushErrorState();
		release_session_locks(0, (Datum) 0);
	}
	PG_END_TRY();
}

/*
 * After a caught error: logs it, aborts and has after_abort() take the
 * session's locks again; returns a copy of the error.
 */
ErrorData *
tsa_abort(TsaSession *session)
{
	ErrorData  *err;

	MemoryContextSwitchTo(session->context);
	EmitErrorReport();			/* which cuts it, see above */
	err = CopyErrorData();
	FlushErrorState();
	tsa_cut_error(err);
	abort_transaction(session);
	session->after_abort(session);
	debug_query_string = NULL;
	pgstat_report_activity(STATE_IDLE, NULL);
	return err;
}

/*
 * Makes roleid the session user; see above.  Outside any transaction: its
 * abort would bring the former current user back.
 */
void
tsa_become_role(const TsaSession *session, Oid roleid)
{
	bool		is_superuser;

	tsa_begin();
	is_superuser = superuser_arg(roleid);
	tsa_commit(session);
	SetCurrentRoleId(InvalidOid, false);
	SetSessionAuthorization(roleid, is_superuser);
	if (GetUserId() != roleid)
		ereport(FATAL,
				(errcode(ERRCODE_INVALID_ROLE_SPECIFICATION),
				 errmsg("could not take on the role of the job")));
}

/*
 * See session.h.
 */
void
tsa_commit_lazily(void)
{
	(void) set_config_option("synchronous_commit", "off", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
}
