/*-------------------------------------------------------------------------
 *
 * sessions.c
 *	  What the other sessions of a database may have to do with files that no
 *	  relation has, and whether a database is being made.
 *
 * Whoever makes storage is in a transaction from before that until its row of
 * pg_class is there; and whoever drops it is in one that has ended for others
 * already, when it removes the files.  Transactions are reported from their
 * start to behind the removal (CommitTransaction() and AbortTransaction()), so
 * that a look at the files, then at sessions, then at pg_class, then at
 * sessions, and then at the files finds each file's reason.
 *
 * pg_stat_activity remembers, until the end of the caller's transaction, what
 * its first query of it has seen: so it is not what is looked at here, and what
 * is remembered is forgotten.
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
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "compat.h"

PG_FUNCTION_INFO_V1(tsa_transactions_of);
PG_FUNCTION_INFO_V1(tsa_is_directory_of_database);

/* Has a transaction ended for others, but not for its session? */
static bool
is_ending(const LocalPgBackendStatus * session)
{
	BackendState state = session->backendStatus.st_state;

	return session->backendStatus.st_xact_start_timestamp != 0 &&
		!TransactionIdIsValid(session->backend_xid) &&
		!TransactionIdIsValid(session->backend_xmin) &&
		state != STATE_IDLEINTRANSACTION &&
		state != STATE_IDLEINTRANSACTION_ABORTED;
}

/*
 * When the oldest transaction of a database's other sessions began, NULL if
 * there is none, and -infinity if a session does not say (track_activities);
 * and whether one is ending.
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

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg_internal("return type must be a row type")));

	pgstat_clear_backend_activity_snapshot();
	for (int i = 1; i <= pgstat_fetch_stat_numbackends(); i++)
	{
		LocalPgBackendStatus *session = tsa_backend_status(i);
		PgBackendStatus *status = &session->backendStatus;
		TimestampTz start = status->st_xact_start_timestamp;

		if (status->st_databaseid != database ||
			status->st_procpid == MyProcPid)
			continue;
		if (status->st_state == STATE_DISABLED)
			start = DT_NOBEGIN;
		if (start != 0)
			since = Min(since, start);
		ending |= is_ending(session);
	}
	values[0] = TimestampTzGetDatum(since);
	nulls[0] = since == DT_NOEND;
	values[1] = BoolGetDatum(ending);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
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
