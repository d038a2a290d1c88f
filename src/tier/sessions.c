/*-------------------------------------------------------------------------
 *
 * sessions.c
 *	  Processes that may use files that no relation has, which has temporary
 *	  relations, and whether a database is being made.
 *
 * A session that makes storage is in a transaction from before that until its
 * row of pg_class is there; and one that drops it is in a transaction that has
 * ended for others already, when it removes the files.  Transactions are
 * reported from their start to behind the removal (CommitTransaction() and
 * AbortTransaction()), so that a look at the files, then at sessions, then at
 * pg_class, then at sessions, and then at the files finds each file's reason.
 *
 * The number of a session's transaction (lxid) is set just before the report
 * of its start, and taken away as it ends for others.  So a start without a
 * number is that of a transaction which is ending; and a number without a
 * start, of one that does not say when it began: track_activities was off
 * then, or a background worker has not set the time of its statement.  The two
 * are not read at one moment, so numbers are read before the starts and after
 * them.
 *
 * A prepared transaction has no session.  The session that ends it removes its
 * files between its end for others and the release of its locks
 * (FinishPreparedTransaction()), that on its own number among them.
 *
 * pg_stat_activity remembers, until the end of the caller's transaction, the
 * rows that its first query has seen: so it is not used here, and the rows are
 * forgotten.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/pg_database.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "compat.h"

PG_FUNCTION_INFO_V1(tsa_is_checkpointer_unlinking);
PG_FUNCTION_INFO_V1(tsa_is_process);
PG_FUNCTION_INFO_V1(tsa_temporary_owner_pid);
PG_FUNCTION_INFO_V1(tsa_transactions_of);
PG_FUNCTION_INFO_V1(tsa_is_directory_of_database);

/* A session of the database, and its transaction's number a moment ago. */
typedef struct Before
{
	int			pid;
	LocalTransactionId lxid;
} Before;

/* The number of the transaction that a process is in. */
static LocalTransactionId
lxid_of(int pid)
{
	PGPROC	   *proc = BackendPidGetProc(pid);

	return proc == NULL ? InvalidLocalTransactionId : tsa_proc_lxid(proc);
}

/* Looks at sessions anew; how many there are. */
static int
look_at_sessions(void)
{
	pgstat_clear_backend_activity_snapshot();
	return pgstat_fetch_stat_numbackends();
}

/* The numbers of transactions, before the look at their starts. */
static Before *
find_numbers(int *n)
{
	Before	   *before;

	*n = look_at_sessions();
	before = palloc(sizeof(Before) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		before[i].pid = tsa_backend_status(i + 1)->backendStatus.st_procpid;
		before[i].lxid = lxid_of(before[i].pid);
	}
	return before;
}

/* The number that a process had then. */
static LocalTransactionId
number_before(const Before *before, int n, int pid)
{
	for (int i = 0; i < n; i++)
		if (before[i].pid == pid)
			return before[i].lxid;
	return InvalidLocalTransactionId;
}

/*
 * When a session's transaction began, DT_NOEND if it is in none, DT_NOBEGIN if
 * it does not say.  Notes whether it is ending.
 */
static TimestampTz
start_of(const PgBackendStatus *session, LocalTransactionId before,
		 bool *is_ending)
{
	TimestampTz start = session->st_xact_start_timestamp;
	LocalTransactionId after = lxid_of(session->st_procpid);

	if (session->st_state == STATE_DISABLED)
	{
		*is_ending = true;
		return DT_NOBEGIN;
	}
	if (start == 0)
		return LocalTransactionIdIsValid(after) && after == before ?
			DT_NOBEGIN : DT_NOEND;
	*is_ending |= !LocalTransactionIdIsValid(before) &&
		!LocalTransactionIdIsValid(after);
	return start;
}

/* Has a prepared transaction ended for others, but not released its locks? */
static bool
is_prepared_ending(void)
{
	LockData   *locks = GetLockStatusData();

	for (int i = 0; i < locks->nelements; i++)
		if (locks->locks[i].pid == 0 &&
			locks->locks[i].locktag.locktag_type == LOCKTAG_TRANSACTION &&
			!TransactionIdIsInProgress(locks->locks[i].locktag.locktag_field1))
			return true;
	return false;
}

/*
 * When the oldest transaction of a database's other sessions began, NULL if
 * there is none, and -infinity if one does not say; and whether one, or a
 * prepared one of any database, is ending.
 */
Datum
tsa_transactions_of(PG_FUNCTION_ARGS)
{
	Oid			database = PG_GETARG_OID(0);
	TimestampTz since = DT_NOEND;
	bool		ending = false;
	TupleDesc	desc;
	Datum		values[2];
	bool		nulls[2] = {false, false};
	Before	   *before;
	int			nbefore;
	int			nsessions;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg_internal("return type must be a row type")));

	before = find_numbers(&nbefore);
	nsessions = look_at_sessions();
	for (int i = 1; i <= nsessions; i++)
	{
		PgBackendStatus *session = &tsa_backend_status(i)->backendStatus;

		if (session->st_databaseid == database &&
			session->st_procpid != MyProcPid)
			since = Min(since, start_of(session,
										number_before(before, nbefore,
													  session->st_procpid),
										&ending));
	}
	ending |= is_prepared_ending();
	values[0] = TimestampTzGetDatum(since);
	nulls[0] = since == DT_NOEND;
	values[1] = BoolGetDatum(ending);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/*
 * May the checkpointer be unlinking files, of a checkpoint that pg_control
 * names already?  Neither its idle loop nor the pauses between its writes do
 * that.
 */
Datum
tsa_is_checkpointer_unlinking(PG_FUNCTION_ARGS pg_attribute_unused())
{
	int			nsessions = look_at_sessions();

	for (int i = 1; i <= nsessions; i++)
	{
		PgBackendStatus *session = &tsa_backend_status(i)->backendStatus;
		PGPROC	   *proc = session->st_backendType == B_CHECKPOINTER ?
		AuxiliaryPidGetProc(session->st_procpid) : NULL;

		uint32		event;

		if (proc == NULL)
			continue;
		event = proc->wait_event_info;
		PG_RETURN_BOOL(event != WAIT_EVENT_CHECKPOINTER_MAIN &&
					   event != WAIT_EVENT_CHECKPOINT_WRITE_DELAY);
	}
	PG_RETURN_BOOL(true);
}

/* Is there such a process now? */
Datum
tsa_is_process(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(BackendPidGetProc(PG_GETARG_INT32(0)) != NULL);
}

/* Is a directory that of a database, also one being made or dropped? */
Datum
tsa_is_directory_of_database(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Relation	rel = table_open(DatabaseRelationId, AccessShareLock);
	SnapshotData dirty;
	TableScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	InitDirtySnapshot(dirty);
	scan = tsa_beginscan(rel, &dirty);
	while (!found && (tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		char		own[16];

		snprintf(own, sizeof(own), "%u",
				 ((Form_pg_database) GETSTRUCT(tuple))->oid);
		found = strcmp(own, name) == 0;
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	PG_RETURN_BOOL(found);
}

/*
 * The process that has temporary relations of this number in a database; NULL
 * if there is none.  A session that has got the number of one that has ended
 * has none there, or has dropped those that it found.
 */
Datum
tsa_temporary_owner_pid(PG_FUNCTION_ARGS)
{
	PGPROC	   *proc = tsa_proc_by_number(PG_GETARG_INT32(0));

	if (proc == NULL || proc->pid == 0 ||
		!OidIsValid(proc->tempNamespaceId) ||
		proc->databaseId != PG_GETARG_OID(1))
		PG_RETURN_NULL();
	PG_RETURN_INT32(proc->pid);
}
