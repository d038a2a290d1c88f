/*-------------------------------------------------------------------------
 *
 * recover.c
 *	  Jobs whose worker is gone, and requests to cancel those whose worker
 *	  lives.
 *
 * A worker that ends by an error settles its job itself.  One that is
 * terminated, or dies with the server, leaves it "running": at that moment no
 * transaction may be opened any more.  Every call that queues, cancels or
 * retries a move therefore settles such jobs first.  The proof that a worker
 * is gone is its batch lock (see journal.h), never a process id.
 *
 * A request to cancel is a signal, so the risk is to hit the wrong one.  The
 * gate lock keeps the worker from leaving its current job while we look that
 * job up, see by the batch lock that its worker lives, and send the signal;
 * the worker forgets a request that came too late before it opens the gate.
 * A flag in the journal would do for one job but not in a transaction that
 * stays open: the worker would not see it, and wait for the row when it
 * settles the job.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/resowner.h"

#include "move/job/journal.h"
#include "move/copy/live_copy.h"
#include "move/rebuild/rebuild.h"

/* The lock of this class on a batch; batches are numbered per database. */
void
tsa_batch_lock_tag(LOCKTAG *tag, TsaLockClass lock_class, int64 batch_id)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, (uint32) (batch_id >> 32),
						 (uint32) batch_id, lock_class);
}

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

	foreach(lc, tsa_foreign_jobs_with_files())
	{
		TsaJob		job;

		if (!tsa_job_load(*(int64 *) lfirst(lc), &job))
			continue;
		if (job.native)
			(void) tsa_live_copy_drop_leftovers(&job);
		else
			tsa_live_copy_warn_of_leftovers(&job);
	}
}

/*
 * Forgets the jobs of another server or database, which pg_upgrade and CREATE
 * DATABASE ... TEMPLATE bring along with the rest of a database.
 */
static void
forget_foreign_jobs(void)
{
	static TsaJournalQuery query = {
		"DELETE FROM tablespace_advisor.job"
		" WHERE system_identifier <> $1 OR database <> $2",
		2, {INT8OID, OIDOID}, NULL
	};
	Datum		values[2];

	values[0] = Int64GetDatum((int64) GetSystemIdentifier());
	values[1] = ObjectIdGetDatum(MyDatabaseId);
	drop_foreign_files();
	tsa_journal_update(&query, values, NULL);
}

/*
 * Has a batch no living worker, and will it have none?  If so the lock, kept
 * to the end of the transaction, fixes its rows.
 */
static bool
batch_is_dead(int64 batch_id)
{
	LOCKTAG		tag;

	tsa_batch_lock_tag(&tag, TSA_LOCK_BATCH, batch_id);
	if (tsa_lock_held_by_me(&tag, TSA_QUEUE_LOCK))
		return false;			/* its worker waits for our commit */
	return LockAcquire(&tag, ExclusiveLock, false, true) !=
		LOCKACQUIRE_NOT_AVAIL;
}

/*
 * Settles a job of a dead batch, or removes what one that has ended left.
 */
static void
settle_job(int64 job_id)
{
	ErrorData	err = {0};
	TsaJob		job;

	err.sqlerrcode = ERRCODE_SYSTEM_ERROR;
	err.message = "the move's background worker ended unexpectedly";
	err.detail = "It was terminated, or the server restarted.";

	if (!tsa_job_load(job_id, &job))
		return;
	if (tsa_job_has_ended(&job))
	{
		/* done, and its old file had been kept for later */
		(void) tsa_live_copy_drop_leftovers(&job);
		tsa_jobs_note_old_removed(&job_id, 1);
		return;
	}
	if (tsa_live_copy_drop_leftovers(&job) || tsa_rebuild_follow(job_id))
		tsa_job_settle(job_id, TSA_JOB_DONE, NULL, NULL);
	else
		tsa_job_settle(job_id, TSA_JOB_FAILED, &err, NULL);
}

/*
 * Settles the jobs of a dead batch, each in a subtransaction: one that cannot
 * be settled must not keep others from theirs.
 */
static void
settle_batch(int64 batch_id)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ListCell   *lc;

	foreach(lc, tsa_open_jobs(batch_id))
	{
		int64		job_id = *(int64 *) lfirst(lc);

		BeginInternalSubTransaction(NULL);
		PG_TRY();
		{
			settle_job(job_id);
			ReleaseCurrentSubTransaction();
		}
		PG_CATCH();
		{
			ErrorData  *err;

			MemoryContextSwitchTo(context);
			err = CopyErrorData();
			if (err->sqlerrcode == ERRCODE_QUERY_CANCELED)
				PG_RE_THROW();
			FlushErrorState();
			RollbackAndReleaseCurrentSubTransaction();
			ereport(WARNING,
					(errcode(err->sqlerrcode),
					 errmsg("could not settle job " INT64_FORMAT ": %s",
							job_id, err->message)));
		}
		PG_END_TRY();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
	}
}

/*
 * Settles every unfinished job without a living worker as failed, or as done
 * if its index had moved, and removes old files that a worker had kept for
 * later.  Costs little for a batch whose worker lives, however many jobs it
 * has.  [T]
 */
void
tsa_jobs_settle_dead(void)
{
	ListCell   *lc;

	forget_foreign_jobs();
	foreach(lc, tsa_open_batches())
		if (batch_is_dead(*(int64 *) lfirst(lc)))
			settle_batch(*(int64 *) lfirst(lc));
}

/*
 * Is this process a living worker of the batch?  Only workers have the batch
 * lock in share mode.
 */
static bool
is_batch_worker(int64 batch_id, int pid)
{
	LockData   *locks = GetLockStatusData();
	LOCKTAG		tag;
	bool		found = false;

	tsa_batch_lock_tag(&tag, TSA_LOCK_BATCH, batch_id);
	for (int i = 0; i < locks->nelements && !found; i++)
		found = locks->locks[i].pid == pid &&
			memcmp(&locks->locks[i].locktag, &tag, sizeof(tag)) == 0 &&
			(locks->locks[i].holdMask & LOCKBIT_ON(ShareLock)) != 0;
	pfree(locks->locks);
	pfree(locks);
	return found;
}

/*
 * Cancels a job: true when it was still queued, or runs and its worker has
 * been told; false when there was nothing to do.  The caller has checked the
 * rights.  [T]
 */
bool
tsa_job_request_cancel(const TsaJob *job)
{
	LOCKTAG		gate;
	bool		requested = false;
	int			pid;

	if (tsa_job_cancel_queued(job->job_id))
		return true;

	tsa_batch_lock_tag(&gate, TSA_LOCK_GATE, job->batch_id);
	(void) LockAcquire(&gate, ShareLock, false, false);
	pid = tsa_job_worker_pid(job->job_id);
	if (pid != 0 && is_batch_worker(job->batch_id, pid))
		requested = kill(pid, SIGINT) == 0;
	LockRelease(&gate, ShareLock, false);
	return requested;
}
