/*-------------------------------------------------------------------------
 *
 * start.c
 *	  Starts the background workers of a batch.
 *
 * The session that queues holds the batch lock exclusively, registers the
 * worker, waits until the worker waits for that lock, and only then commits.
 * So a worker that cannot be had makes the whole call fail with nothing
 * queued; the worker sees the rows as soon as the lock is its own, or none
 * after a rollback; and at no moment are there committed jobs without a
 * process that holds the lock or is the next to get it.  tsa_recover_jobs()
 * relies on that.
 *
 * tablespace_advisor.max_workers lets more workers run the live copies of a
 * batch.  Each claims jobs by an UPDATE of a queued row, which the row's lock
 * decides, and shares the batch lock, so that to get it exclusively still
 * proves that none lives: one that comes late finds nothing queued.  Rebuilds
 * stay with the first worker: two at a time on one table would wait for each
 * other's transactions and locks.
 *
 * A worker that dies takes its running job along, and no other: a new worker
 * takes over those that are queued.  A session that finds the batch dead, and
 * has the batch lock, starts it in the same way.  Only the first queued job
 * can be the reason why a worker dies without a running job, so that job
 * counts the takeovers and fails after a few (recover.c).  The user's limit
 * holds: a batch for which there is no place stays queued.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/guc.h"

#include "compat.h"
#include "move/common/sleep.h"
#include "move/job/batch_lock.h"
#include "move/job/journal.h"
#include "move/worker/start.h"
#include "move/worker/user_limits.h"
#include "state/background_worker.h"

/* tablespace_advisor.max_workers */
static int	max_workers = 1;

/*
 * Registers the configuration parameter.
 */
void
tsa_init_worker_start(void)
{
	DefineCustomIntVariable("tablespace_advisor.max_workers",
							"Sets how many relations of one call are moved at a time.",
							"They share the bandwidth of the write-ahead log, which one copy can fill.",
							&max_workers, 1, 1, 64,
							PGC_SUSET, 0, NULL, NULL, NULL);
}

/*
 * Registers a worker of a batch; false if no slot is free.
 */
static bool
register_worker(int64 batch_id, Oid user, bool copies_only,
				BackgroundWorkerHandle **handle)
{
	BackgroundWorker worker =
	tsa_describe_worker("tsa_move_worker_main", "tablespace_advisor move");
	TsaWorkerArgs args = {0};

	/* a move takes too long to be begun again for CREATE DATABASE */
	worker.bgw_flags &= ~BGWORKER_INTERRUPTIBLE;
	args.database = MyDatabaseId;
	args.batch_id = batch_id;
	args.user = user;
	args.copies_only = copies_only;
	snprintf(worker.bgw_name, BGW_MAXLEN,
			 "tablespace_advisor move " INT64_FORMAT, batch_id);
	memcpy(worker.bgw_extra, &args, sizeof(args));
	return RegisterDynamicBackgroundWorker(&worker, handle);
}

/*
 * Waits until the worker is next in line for the batch lock, which this
 * transaction holds in the given mode.  False if the worker has ended instead.
 */
static bool
wait_for_start(int64 batch_id, LOCKMODE mode, BackgroundWorkerHandle *handle)
{
	LOCKTAG		tag;
	pid_t		pid;

	tsa_set_lock_tag(&tag, TSA_LOCK_BATCH, batch_id);
	while (!LockHasWaiters(&tag, mode, false))
	{
		if (GetBackgroundWorkerPid(handle, &pid) == BGWH_STOPPED)
			return false;
		tsa_sleep(2);
	}
	return true;
}

/*
 * Registers the workers beside the first, at most one for each further live
 * copy.  They may come when they like, or not at all if there are no slots:
 * the first one does the rest.
 */
static void
start_helpers(int64 batch_id, Oid user, int ncopies)
{
	BackgroundWorkerHandle *handle;

	for (int i = tsa_cap_helpers(user, Min(max_workers, ncopies) - 1);
		 i > 0; i--)
		if (!register_worker(batch_id, user, true, &handle))
			break;
}

/*
 * Registers the workers of a batch of jobs that this transaction has inserted,
 * and waits until the first is next in line for the batch lock.  Throws if no
 * worker can be had.  Returns the first one's handle.
 */
BackgroundWorkerHandle *
tsa_start_workers(int64 batch_id, int ncopies)
{
	BackgroundWorkerHandle *handle;
	LOCKTAG		tag;
	Oid			user = tsa_take_user_place(batch_id);

	tsa_set_lock_tag(&tag, TSA_LOCK_BATCH, batch_id);
	(void) LockAcquire(&tag, TSA_QUEUE_LOCK, false, false);

	if (!register_worker(batch_id, user, false, &handle))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not start a background worker for the move"),
				 errdetail("No worker slot is free."),
				 errhint("You might need to increase \"max_worker_processes\".")));
	if (!wait_for_start(batch_id, TSA_QUEUE_LOCK, handle))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not start a background worker for the move"),
				 errhint("More details may be available in the server log.")));
	start_helpers(batch_id, user, ncopies);
	return handle;
}

/* The queued jobs of a batch that may begin now. */
typedef struct Queue
{
	int64		first;			/* the first job */
	Oid			caller;			/* session user */
	Oid			owner;			/* the role at the call */
	int			ncopies;
} Queue;

/* Reads that; false if nothing is queued. */
static bool
read_queue(int64 batch_id, Queue *queue)
{
	static TsaStatement query = {
		"SELECT job_id, coalesce(call_user, owner) AS call_user, owner,"
		" (count(*) FILTER (WHERE method = 'copy') OVER ())::int AS copies"
		" FROM tablespace_advisor.job WHERE batch_id = $1"
		" AND state IN ('queued', 'interrupted')"
		" AND NOT EXISTS (SELECT FROM tablespace_advisor.waiting_job w"
		"   WHERE w.job_id = job.job_id)"
		" ORDER BY job_id LIMIT 1",
		1, {INT8OID}, NULL
	};
	Datum		values[1];
	TsaState	journal;
	bool		found;

	values[0] = Int64GetDatum(batch_id);
	tsa_journal_open(&journal);
	found = tsa_run(&query, values, NULL, TSA_READS) == 1;
	if (found)
	{
		queue->first = DatumGetInt64(tsa_result_column(0, "job_id"));
		queue->caller = DatumGetObjectId(tsa_result_column(0, "call_user"));
		queue->owner = DatumGetObjectId(tsa_result_column(0, "owner"));
		queue->ncopies = DatumGetInt32(tsa_result_column(0, "copies"));
	}
	tsa_state_close(&journal);
	return found;
}

/*
 * Counts a takeover, unless a session has the job locked, which may last.
 */
static void
count_takeover(int64 job_id)
{
	static TsaStatement query = {
		"UPDATE tablespace_advisor.job SET takeovers = takeovers + 1"
		" WHERE job_id = ANY (ARRAY(SELECT q.job_id"
		"   FROM tablespace_advisor.job q WHERE q.job_id = $1"
		"   FOR NO KEY UPDATE SKIP LOCKED))",
		1, {INT8OID}, NULL
	};
	Datum		values[1];

	values[0] = Int64GetDatum(job_id);
	(void) tsa_journal_update(&query, values, NULL);
}

/*
 * Starts workers for queued or interrupted jobs of a dead batch.  This
 * transaction has found the batch dead, and so holds its lock, which the
 * worker waits for.  False if there is something and it cannot be started now.
 * [T]
 */
bool
tsa_take_over_batch(int64 batch_id)
{
	BackgroundWorkerHandle *handle;
	Queue		queue;
	Oid			user;

	CommandCounterIncrement();	/* see the recovered jobs */
	if (!read_queue(batch_id, &queue))
		return true;
	user = tsa_limited_user(queue.caller, queue.owner);
	if (!tsa_try_user_place(user, batch_id) ||
		!register_worker(batch_id, user, false, &handle))
		return false;
	count_takeover(queue.first);
	if (!wait_for_start(batch_id, ExclusiveLock, handle))
		return false;
	start_helpers(batch_id, user, queue.ncopies);
	return true;
}
