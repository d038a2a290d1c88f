/*-------------------------------------------------------------------------
 *
 * recover.c
 *	  Has the jobs of workers that are gone gone on with, or ends them.
 *
 * A worker ends a job itself if there was an error.  One that is terminated, or
 * dies with the server, leaves its job "running": at that moment no transaction
 * may be opened any more.  Every call that queues, changes or cancels moves, or
 * waits for them, therefore recovers such jobs first.  The proof that a worker
 * is gone is its batch lock (see batch_lock.h), never a process id.
 *
 * A live copy becomes "interrupted" and keeps its files (copy/resume.c); other
 * moves, and those that had not begun, are queued: then another worker of the
 * same batch runs them, which waits for the batch lock before the transaction
 * that recovers gives it back, as one does that a call starts (start.c).  If
 * no worker can be had, the next call tries again, or the launcher.  A job
 * ends as failed if it is interrupted again and again with no mark in between,
 * as it may be the cause; and if it stays interrupted for longer than its copy
 * is kept.  A batch that waits for its time window is left alone; the launcher
 * looks when the next one opens.
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
#include "utils/guc.h"
#include "utils/timestamp.h"

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
 * DATABASE with STRATEGY file_copy copies all files of the template's
 * directory, known to a relation or not.  On another server the same number
 * may be that of a file which somebody is just making, so there it is only
 * said that one is there: pg_createsubscriber gives a server with all its
 * files another identifier.
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
		"  FOR UPDATE SKIP LOCKED)) RETURNING job_id),"
		" marks AS (DELETE FROM tablespace_advisor.job_mark"
		"  WHERE job_id = ANY (ARRAY(SELECT job_id FROM gone)))"
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

/* tablespace_advisor.keep_interrupted */
static int	keep_interrupted_s = SECS_PER_DAY;

/*
 * Registers the configuration parameter.
 */
void
tsa_init_recover(void)
{
	DefineCustomIntVariable("tablespace_advisor.keep_interrupted",
							"Sets how long the copy of an interrupted move is kept, to go on with it.",
							"0 means that a move fails when it is interrupted.",
							&keep_interrupted_s, SECS_PER_DAY, 0, INT_MAX,
							PGC_SIGHUP, GUC_UNIT_S, NULL, NULL, NULL);
}

/*
 * Ends a job of a dead batch.
 */
static void
end_job(const TsaJob *job)
{
	TsaJobEnd	done = {.state = TSA_JOB_DONE};
	TsaJobEnd	failed = {.state = TSA_JOB_FAILED};
	ErrorData	err = {0};

	err.sqlerrcode = ERRCODE_SYSTEM_ERROR;
	err.message = "the move's background worker ended unexpectedly";
	err.detail = "It was terminated, or the server restarted.";
	if (job->has_expired)
		err.detail = "It was interrupted for longer than \"tablespace_advisor.keep_interrupted\".";
	else if (job->is_stuck)
		err.detail = "It was interrupted again and again before it had got any further.";
	failed.err = &err;
	done.keeps_files = failed.keeps_files = !tsa_drop_job_storage(job);
	if (tsa_job_has_moved(job) || tsa_follow_rebuild(job->job_id))
		tsa_finish_job(job->job_id, &done);
	else
		tsa_finish_job(job->job_id, &failed);
}

/*
 * Is a job of a dead batch, which was running, to be gone on with, or begun
 * again?
 */
static bool
goes_on(const TsaJob *job)
{
	return keep_interrupted_s > 0 && !job->is_stuck &&
		!tsa_job_has_moved(job) && !tsa_follow_rebuild(job->job_id);
}

/*
 * Notes that a job is interrupted.  The files of a copy that cannot be gone on
 * with are dropped.
 */
static void
interrupt_job(const TsaJob *job)
{
	bool		keeps_copy = job->method == TSA_METHOD_COPY && job->nkept > 0;

	if (!keeps_copy && job->nnew > 0)
	{
		if (!tsa_drop_job_storage(job))
		{
			end_job(job);
			return;
		}
		tsa_job_note_new_storage(job->job_id, NULL, 0, NULL, 0);
	}
	tsa_job_note_interrupted(job->job_id, keeps_copy, false);
}

/* A job of a dead batch, and whether it may be run again. */
typedef struct DeadJob
{
	int64		job_id;
	bool		may_go_on;
} DeadJob;

/*
 * Ends a job of a dead batch, or has it gone on with; or removes files that
 * one that has ended left.
 */
static void
recover_job(void *arg)
{
	const DeadJob *dead = arg;
	TsaJob		job;

	if (!tsa_job_load(dead->job_id, &job))
		return;
	if (tsa_job_has_ended(&job))
	{
		/* its files had been kept for later, or could not be reached */
		if (tsa_drop_job_storage(&job))
			tsa_jobs_note_removed(&job.job_id, 1);
		return;
	}
	if (!dead->may_go_on)
		end_job(&job);
	else if (job.state == TSA_JOB_INTERRUPTED)
	{
		if (job.has_expired)
			end_job(&job);
	}
	else if (job.state == TSA_JOB_QUEUED)
	{
		if (job.takeovers >= MAX_TAKEOVERS)
			end_job(&job);
	}
	else
	{
		job.has_expired = false;	/* before it ran again */
		if (goes_on(&job))
			interrupt_job(&job);
		else
			end_job(&job);
	}
}

/*
 * Recovers the jobs of a dead batch, each in a subtransaction: one that cannot
 * be recovered must not keep others from it.
 */
static void
recover_batch(int64 batch_id, bool may_go_on)
{
	ListCell   *lc;

	foreach(lc, tsa_lock_open_jobs(batch_id))
	{
		int64	   *job_id = lfirst(lc);
		DeadJob		dead = {*job_id, may_go_on};
		ErrorData  *error = tsa_try(recover_job, &dead);

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
 * Recovers the jobs of workers that are gone.  True if there are jobs for which
 * no worker could be had.
 */
static bool
recover_batches(bool may_go_on, bool take_over)
{
	bool		lacks_worker = false;
	ListCell   *lc;

	forget_foreign_jobs();
	foreach(lc, tsa_list_open_batches(!may_go_on))
	{
		int64		batch_id = *(int64 *) lfirst(lc);

		if (!tsa_batch_is_dead(batch_id))
			continue;
		recover_batch(batch_id, may_go_on);
		if (take_over && !tsa_take_over_batch(batch_id))
			lacks_worker = true;
	}
	return lacks_worker;
}

/*
 * Recovers the jobs of workers that are gone: they end as failed, or as done
 * if their relation had moved, or are to be gone on with.  Removes old files
 * that a worker had kept for later.  take_over: starts workers for queued and
 * interrupted jobs, which wait until this transaction ends; it must end soon.
 * True if there are jobs for which none could be had.  Costs little for a
 * batch with a living worker, however many jobs it has.
 */
bool
tsa_recover_jobs(bool take_over)
{
	return recover_batches(true, take_over);
}

/*
 * Ends all jobs of workers that are gone, and drops their files: the journal
 * is about to be dropped.
 */
void
tsa_end_jobs(void)
{
	(void) recover_batches(false, false);
}

/*
 * Is there a batch to be recovered?  Keeps no lock.
 */
bool
tsa_has_dead_batch(void)
{
	ListCell   *lc;

	foreach(lc, tsa_list_open_batches(false))
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
