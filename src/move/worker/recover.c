/*-------------------------------------------------------------------------
 *
 * recover.c
 *	  Ends the running jobs whose worker is gone, and has other workers take
 *	  over those that are queued (start.c).
 *
 * A worker ends a job itself if there was an error.  One that is terminated, or
 * dies with the server, leaves its job "running": at that moment no transaction
 * may be opened any more.  Every call that queues, changes or cancels moves, or
 * waits for them, therefore recovers such jobs first.  The proof that a worker
 * is gone is its batch lock (see batch_lock.h), never a process id.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lock.h"

#include "move/job/batch_lock.h"
#include "move/job/job.h"
#include "move/job/journal.h"
#include "move/job/queue.h"
#include "move/rebuild/rebuild.h"
#include "move/worker/job_storage.h"
#include "move/worker/recover.h"
#include "move/worker/start.h"
#include "state/printable.h"
#include "state/subtransaction.h"

/* Workers that may die before they have begun a job which is next. */
#define MAX_TAKEOVERS	3

/*
 * Removes the files that jobs of another server or database name.  CREATE
 * DATABASE with STRATEGY file_copy copies what the template's directory has,
 * known to a relation or not.  On another server the same number may be that
 * of a file which somebody is just making, so there it is only said that one
 * is there: pg_createsubscriber gives a server with all its files another
 * identifier.
 */
static void
drop_foreign_files(void)
{
	ListCell   *lc;

	foreach(lc, tsa_list_foreign_jobs())
	{
		TsaJob		job;

		if (!tsa_job_load(*(int64 *) lfirst(lc), &job))
			continue;
		if (job.native)
			(void) tsa_drop_job_storage(&job);
		else
			tsa_warn_of_job_storage(&job);
	}
}

/*
 * Forgets the jobs of another server or database, which pg_upgrade and CREATE
 * DATABASE ... TEMPLATE bring along with the rest of a database.  Those that
 * another transaction is forgetting, which may stay open, are left to it.
 */
static void
forget_foreign_jobs(void)
{
	static TsaStatement query = {
		"WITH gone AS ("
		" DELETE FROM tablespace_advisor.job WHERE job_id = ANY (ARRAY("
		"  SELECT job_id FROM tablespace_advisor.job"
		"  WHERE system_identifier <> $1 OR database <> $2"
		"  FOR UPDATE SKIP LOCKED)) RETURNING job_id)"
		" DELETE FROM tablespace_advisor.request"
		" WHERE job_id = ANY (ARRAY(SELECT job_id FROM gone))",
		2, {INT8OID, OIDOID}, NULL
	};
	Datum		values[2];

	if (!tsa_has_foreign_jobs())
		return;
	values[0] = Int64GetDatum((int64) GetSystemIdentifier());
	values[1] = ObjectIdGetDatum(MyDatabaseId);
	drop_foreign_files();
	tsa_journal_update(&query, values, NULL);
}

/*
 * Ends a job (int64 *) of a dead batch, or removes what one that has ended
 * left.  A queued job is left to another worker, unless several have died
 * before they had begun it.
 */
static void
recover_job(void *arg)
{
	int64		job_id = *(int64 *) arg;
	TsaJobEnd	done = {.state = TSA_JOB_DONE};
	TsaJobEnd	failed = {.state = TSA_JOB_FAILED};
	ErrorData	err = {0};
	TsaJob		job;

	err.sqlerrcode = ERRCODE_SYSTEM_ERROR;
	err.message = "the move's background worker ended unexpectedly";
	err.detail = "It was terminated, or the server restarted.";
	failed.err = &err;

	if (!tsa_job_load(job_id, &job))
		return;
	if (job.state == TSA_JOB_QUEUED && job.takeovers < MAX_TAKEOVERS)
		return;
	if (tsa_job_has_ended(&job))
	{
		/* its files had been kept for later, or could not be reached */
		if (tsa_drop_job_storage(&job))
			tsa_jobs_note_removed(&job_id, 1);
		return;
	}
	done.keeps_files = failed.keeps_files = !tsa_drop_job_storage(&job);
	if (tsa_job_has_moved(&job) || tsa_follow_rebuild(job_id))
		tsa_finish_job(job_id, &done);
	else
		tsa_finish_job(job_id, &failed);
}

/*
 * Recovers the jobs of a dead batch, each in a subtransaction: one that cannot
 * be recovered must not keep others from it.
 */
static void
recover_batch(int64 batch_id)
{
	ListCell   *lc;

	foreach(lc, tsa_lock_open_jobs(batch_id))
	{
		int64	   *job_id = lfirst(lc);
		ErrorData  *error = tsa_try(recover_job, job_id);

		if (error == NULL)
			continue;
		if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
			ReThrowError(error);
		ereport(WARNING,
				(errcode(error->sqlerrcode),
				 errmsg("could not recover job " INT64_FORMAT ": %s",
						*job_id, tsa_printable_text(error->message))));
	}
}

/*
 * Ends every job that was under way in a worker which is gone as failed, or as
 * done if its index had moved, and removes old files that a worker had kept for
 * later.  take_over: starts workers for what is queued, which wait until this
 * transaction ends; it must end soon.  Costs little for a batch whose worker
 * lives, however many jobs it has.
 */
void
tsa_recover_jobs(bool take_over)
{
	ListCell   *lc;

	forget_foreign_jobs();
	foreach(lc, tsa_list_open_batches())
	{
		int64		batch_id = *(int64 *) lfirst(lc);

		if (!tsa_batch_is_dead(batch_id))
			continue;
		recover_batch(batch_id);
		if (take_over)
			tsa_take_over_batch(batch_id);
	}
}

/*
 * Is there a batch to be recovered?  Keeps no lock.
 */
bool
tsa_has_dead_batch(void)
{
	ListCell   *lc;

	foreach(lc, tsa_list_open_batches())
	{
		LOCKTAG		tag;

		if (!tsa_batch_is_dead(*(int64 *) lfirst(lc)))
			continue;
		tsa_set_lock_tag(&tag, TSA_LOCK_BATCH, *(int64 *) lfirst(lc));
		(void) LockRelease(&tag, ExclusiveLock, false);
		return true;
	}
	return false;
}
