/*-------------------------------------------------------------------------
 *
 * wait_for_batch.c
 *	  A caller that waits for its jobs: it looks into the journal in short
 *	  transactions, prints progress when that takes longer, and turns Ctrl-C
 *	  into a cancellation of the jobs.
 *
 * A cancel (or statement_timeout) is held back while we wait: the jobs are
 * told, and the caller goes on waiting until they have ended, so that its
 * report is final.  A terminated backend or a lost connection takes the
 * ordinary way out and leaves the jobs alone.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "move/common/sleep.h"
#include "move/job/batch_lock.h"
#include "move/job/cancel.h"
#include "move/job/job.h"
#include "move/job/journal.h"
#include "move/job/queue.h"
#include "move/job/waiting.h"
#include "move/progress_times.h"
#include "move/wait_for_batch.h"
#include "move/worker/recover.h"

#define POLL_MS				200

/* Prints a notice for each running job of the batch. */
static void
print_progress(int64 batch_id)
{
	static TsaStatement query = {
		"SELECT tablespace_advisor.printable(m.relation_name)"
		" AS relation_name, tablespace_advisor.printable("
		" pg_catalog.concat_ws(', ', m.phase,"
		"   m.percent || ' % of '"
		"     || pg_catalog.pg_size_pretty(m.bytes_total),"
		"   pg_catalog.pg_size_pretty((1048576 * coalesce("
		"     m.present_mb_per_s, m.mb_per_s))::bigint) || '/s',"
		"   m.rate_reason,"
		"   tablespace_advisor.pretty_seconds(pg_catalog.ceil("
		"     EXTRACT(epoch FROM m.eta))::float8) || ' left')) AS progress,"
		" nullif(pg_catalog.array_to_string("
		"   pg_catalog.array_remove(m.blocked_by, 0), ', '), '') AS blockers"
		" FROM tablespace_advisor.move_progress m"
		" JOIN tablespace_advisor.job j USING (job_id)"
		" WHERE j.batch_id = $1 AND j.state IN ('running', 'paused')",
		1, {INT8OID}, NULL
	};
	Datum		values[1];
	TsaState	journal;

	values[0] = Int64GetDatum(batch_id);
	tsa_journal_open(&journal);
	tsa_run(&query, values, NULL, TSA_READS);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		char	   *blockers = tsa_result_text(i, "blockers");

		ereport(NOTICE,
				(errmsg("moving %s: %s", tsa_result_text(i, "relation_name"),
						tsa_result_text(i, "progress")),
				 blockers ? errdetail("It waits for the sessions with process IDs %s.",
									  blockers) : 0));
	}
	tsa_state_close(&journal);
}

/* Asks for the end of all jobs of a batch. */
static void
cancel_jobs(int64 batch_id)
{
	ListCell   *lc;

	foreach(lc, tsa_list_batch_jobs(batch_id))
	{
		TsaJob		job;

		if (tsa_job_load(*(int64 *) lfirst(lc), &job))
			(void) tsa_cancel_job(&job);
	}
}

/*
 * A hint on a failure: the journal does not keep hints.
 */
static const char *
advice_on(const char *sqlstate)
{
	return strcmp(sqlstate, "XX001") != 0 ? "" :
		" First restore a damaged table from a backup or a standby; rebuild a damaged index by REINDEX, or by method \"rebuild\".";
}

/*
 * Reports the first job of the batch that was not done as an error.  A table
 * that was dropped meanwhile is one only if nothing else was to be moved.
 * Codes that would say something about the caller's own connection (classes 08
 * and 57P), which pools act on, become those of a system error.
 */
void
tsa_report_failure(int64 batch_id)
{
	static TsaStatement query = {
		"SELECT tablespace_advisor.printable("
		"   pg_catalog.format('%I.%I', schema_name, relation_name)) AS name,"
		" CASE WHEN sqlstate ~ '^(08|57P)' THEN '58000'"
		"   ELSE coalesce(sqlstate, '57014') END AS sqlstate,"
		" tablespace_advisor.printable("
		"   coalesce(error, 'it was cancelled')) AS error,"
		" tablespace_advisor.printable(detail) AS detail, job_id"
		" FROM tablespace_advisor.job j"
		" WHERE batch_id = $1 AND state IN ('failed', 'cancelled')"
		" AND (sqlstate IS DISTINCT FROM '" TSA_TABLE_DROPPED "'"
		"   OR NOT EXISTS (SELECT FROM tablespace_advisor.job o"
		"     WHERE o.batch_id = $1 AND o.job_id <> j.job_id))"
		" ORDER BY job_id LIMIT 1",
		1, {INT8OID}, NULL
	};
	Datum		values[1];
	TsaState	journal;

	values[0] = Int64GetDatum(batch_id);
	tsa_journal_open(&journal);
	if (tsa_run(&query, values, NULL, TSA_READS) == 1)
	{
		const char *code = tsa_result_text(0, "sqlstate");
		const char *detail = tsa_result_text(0, "detail");

		ereport(ERROR,
				(errcode(MAKE_SQLSTATE(code[0], code[1], code[2], code[3],
									   code[4])),
				 errmsg("could not move %s: %s", tsa_result_text(0, "name"),
						tsa_result_text(0, "error")),
				 detail ? errdetail("%s", detail) : 0,
				 errhint("Job %s in tablespace_moves; retry_move() repeats it.%s",
						 tsa_result_text(0, "job_id"),
						 advice_on(code))));
	}
	tsa_state_close(&journal);
}

/*
 * One look at the batch: recovers it when its worker is gone, cancels when
 * asked to.  True when no job is left.
 */
static bool
poll_batch(int64 batch_id, BackgroundWorkerHandle *handle)
{
	pid_t		pid;

	bool		stopped = GetBackgroundWorkerPid(handle, &pid) == BGWH_STOPPED;

	if (stopped)
		(void) tsa_recover_jobs(true);
	if (tsa_batch_has_ended(batch_id))
		return true;
	/* what its workers have left is on a device that does not answer */
	if (stopped && tsa_list_batch_jobs(batch_id) == NIL &&
		tsa_batch_is_dead(batch_id))
		return true;
	if (QueryCancelPending)
		cancel_jobs(batch_id);
	return false;
}

/*
 * Waits until all jobs of a batch have ended, whichever way; throws if the
 * caller was told to cancel.  print_more, if not NULL, is called after each
 * print of progress.  The caller has a nonatomic SPI connection and holds
 * nothing.
 */
void
tsa_wait_for_batch(int64 batch_id, BackgroundWorkerHandle *handle,
				   TsaProgressPrinter print_more)
{
	MemoryContext context = CurrentMemoryContext;
	MemoryContext loop;
	TimestampTz began = GetCurrentTimestamp();
	TimestampTz told = tsa_opening_of_batch(batch_id);
	int64		printed_ms = 0;
	bool		done = false;

	loop = AllocSetContextCreate(context, "wait for move",
								 ALLOCSET_DEFAULT_SIZES);
	HOLD_CANCEL_INTERRUPTS();
	while (!done)
	{
		int64		waited_ms;

		tsa_sleep(POLL_MS);
		waited_ms = (GetCurrentTimestamp() - began) / 1000;

		MemoryContextSwitchTo(loop);
		done = poll_batch(batch_id, handle);
		if (!done && tsa_progress_is_due(waited_ms, printed_ms))
		{
			print_progress(batch_id);
			told = tsa_tell_opening(batch_id, told);
			if (print_more != NULL)
				print_more(batch_id);
			printed_ms = waited_ms;
		}
		MemoryContextSwitchTo(context);
		MemoryContextReset(loop);
		SPI_commit();
	}
	RESUME_CANCEL_INTERRUPTS();
	CHECK_FOR_INTERRUPTS();
}
