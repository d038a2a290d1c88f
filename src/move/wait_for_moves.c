/*-------------------------------------------------------------------------
 *
 * wait_for_moves.c
 *	  wait_for_moves(): waits for the end of moves that somebody has queued
 *	  with "wait => false".
 *
 * Unlike a call that waits for its own moves (wait_for_batch.c) this is a
 * function, in a transaction with a snapshot and perhaps locks, for which a
 * move may have to wait in turn: a rebuild for old snapshots, a copy for locks
 * on its relation.  The deadlock detector does not see that, but the journal
 * names the processes that a move waits for.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "move/job/journal.h"
#include "move/worker/launcher.h"

#define POLL_MS			200L

/* Jobs without a worker are looked for every so many polls. */
#define RECOVER_POLLS	25

/*
 * Does this session have a lock that the copy of this row of the journal may
 * wait for?  The journal says so for a moment, or for as long as the copy backs
 * off, after the transaction that had it has ended.  For statements.
 */
#define TSA_SESSION_LOCKS(pid, row) \
	"EXISTS (SELECT FROM pg_catalog.pg_locks l" \
	"   JOIN pg_catalog.pg_class c ON c.oid = " row ".heap" \
	"   WHERE l.granted AND l.pid = " pid \
	"   AND (l.locktype = 'transactionid' OR l.locktype = 'relation'" \
	"     AND (l.relation IN (c.oid, c.reltoastrelid) OR l.relation IN (" \
	"       SELECT i.indexrelid FROM pg_catalog.pg_index i" \
	"       WHERE i.indrelid IN (c.oid, c.reltoastrelid)))))"

PG_FUNCTION_INFO_V1(tsa_wait_for_moves);

/*
 * Throws unless all jobs are there and the caller may see them.
 */
static void
check_jobs(ArrayType *job_ids)
{
	static TsaStatement query = {
		"SELECT i AS job_id, j.job_id IS NOT NULL AS found, j.owner"
		" FROM pg_catalog.unnest($1) i"
		" LEFT JOIN tablespace_advisor.job j ON j.job_id = i"
		" WHERE i IS NOT NULL",
		1, {INT8ARRAYOID}, NULL
	};
	Oid			userid = GetUserId();
	Datum		values[1];
	TsaState	journal;

	values[0] = PointerGetDatum(job_ids);
	tsa_journal_open(&journal);
	tsa_run(&query, values, NULL, TSA_READS);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		int64		job_id = DatumGetInt64(tsa_result_column(i, "job_id"));
		Oid			owner;

		if (!DatumGetBool(tsa_result_column(i, "found")))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("job " INT64_FORMAT " does not exist", job_id),
					 errhint("The view tablespace_moves lists the jobs of this database.")));
		owner = DatumGetObjectId(tsa_result_column(i, "owner"));
		if (!has_privs_of_role(userid, owner) &&
			!has_privs_of_role(userid, ROLE_PG_READ_ALL_STATS))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied for job " INT64_FORMAT,
							job_id),
					 errhint("It takes the privileges of the role that queued it, or of pg_read_all_stats.")));
	}
	tsa_state_close(&journal);
}

/*
 * Have all jobs ended?  Throws if one waits for this session, be it that this
 * transaction has queued or cancelled it, which counts once it commits.  That
 * it has found it interrupted is no reason.
 */
static bool
have_ended(ArrayType *job_ids)
{
	static TsaStatement query = {
		"SELECT m.job_id, CASE WHEN $2 = ANY (m.blocked_by)"
		"   THEN m.method <> 'copy' OR " TSA_SESSION_LOCKS("$2", "j")
		"   ELSE false END AS waits_for_us,"
		" j.state <> 'interrupted' AS is_changed, j.xmin"
		" FROM tablespace_advisor.move_progress m"
		" JOIN tablespace_advisor.job j USING (job_id)"
		" WHERE m.job_id = ANY ($1)"
		" AND j.state IN " TSA_UNFINISHED,
		2, {INT8ARRAYOID, INT4OID}, NULL
	};
	Datum		values[2];
	TsaState	journal;
	bool		ended;

	values[0] = PointerGetDatum(job_ids);
	values[1] = Int32GetDatum(MyProcPid);
	tsa_journal_open(&journal);
	ended = tsa_run(&query, values, NULL, TSA_READS) == 0;
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		Datum		xmin = tsa_result_column(i, "xmin");

		if (DatumGetBool(tsa_result_column(i, "waits_for_us")) ||
			(DatumGetBool(tsa_result_column(i, "is_changed")) &&
			 TransactionIdIsCurrentTransactionId(DatumGetTransactionId(xmin))))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_DEADLOCK_DETECTED),
					 errmsg("job " INT64_FORMAT " waits for this transaction",
							DatumGetInt64(tsa_result_column(i, "job_id"))),
					 errhint("End the transaction, or wait in another session.")));
	}
	tsa_state_close(&journal);
	return ended;
}

/*
 * wait_for_moves(job_ids, timeout): true when all of them have ended, however;
 * false if that takes longer than the timeout.
 */
Datum
tsa_wait_for_moves(PG_FUNCTION_ARGS)
{
	ArrayType  *job_ids;
	TimestampTz until = DT_NOEND;

	tsa_refuse_restricted_operation(fcinfo);
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", "job_ids")));
	job_ids = PG_GETARG_ARRAYTYPE_P(0);
	if (!PG_ARGISNULL(1))
	{
		Datum		now = TimestampTzGetDatum(GetCurrentTimestamp());

		now = DirectFunctionCall2(timestamptz_pl_interval, now,
								  PG_GETARG_DATUM(1));
		until = DatumGetTimestampTz(now);
	}

	check_jobs(job_ids);
	for (int polls = 0;; polls++)
	{
		TimestampTz now;
		long		nap;

		if (polls % RECOVER_POLLS == 0 && !XactReadOnly)
			tsa_recover_for_caller(true);
		if (have_ended(job_ids))
			PG_RETURN_BOOL(true);
		now = GetCurrentTimestamp();
		if (now >= until)
			PG_RETURN_BOOL(false);
		nap = Min(POLL_MS, TimestampDifferenceMilliseconds(now, until) + 1);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT |
						 WL_EXIT_ON_PM_DEATH, nap, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}
