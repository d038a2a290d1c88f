/*-------------------------------------------------------------------------
 *
 * start.c
 *	  Starts the background workers of a batch.
 *
 * The session that queues holds the batch lock exclusively, registers the
 * worker, waits until the worker waits for that lock, and only then commits.
 * So a worker that cannot be had makes the whole call fail with nothing
 * queued; the worker sees the rows as soon as the lock is its own, or none
 * after a rollback; and at no moment are there committed jobs without somebody
 * who holds the lock or is the next to get it, which is what
 * tsa_recover_jobs() relies on.
 *
 * tablespace_advisor.max_workers lets more workers run the live copies of a
 * batch.  Each claims jobs by an UPDATE of a queued row, which the row's lock
 * decides, and shares the batch lock, so that to get it exclusively still
 * proves that none lives: one that comes late finds nothing queued.  Rebuilds
 * stay with the first worker: two at a time on one table would wait for each
 * other's transactions and locks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/guc.h"

#include "move/common/sleep.h"
#include "move/job/batch_lock.h"
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
 * Registers the workers of a batch whose jobs this transaction has inserted,
 * and waits until the first is next in line for the batch lock.  The others,
 * at most one for each further live copy, may come when they like, or not at
 * all if there are no slots: the first one does what they leave.
 */
BackgroundWorkerHandle *
tsa_start_workers(int64 batch_id, int ncopies)
{
	BackgroundWorkerHandle *handle;
	BackgroundWorkerHandle *other;
	LOCKTAG		tag;
	Oid			user = tsa_take_user_place(batch_id);
	pid_t		pid;

	tsa_set_lock_tag(&tag, TSA_LOCK_BATCH, batch_id);
	(void) LockAcquire(&tag, TSA_QUEUE_LOCK, false, false);

	if (!register_worker(batch_id, user, false, &handle))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not start a background worker for the move"),
				 errdetail("No worker slot is free."),
				 errhint("You might need to increase \"max_worker_processes\".")));

	while (!LockHasWaiters(&tag, TSA_QUEUE_LOCK, false))
	{
		if (GetBackgroundWorkerPid(handle, &pid) == BGWH_STOPPED)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("could not start a background worker for the move"),
					 errhint("More details may be available in the server log.")));
		tsa_sleep(2);
	}

	for (int i = tsa_cap_helpers(user, Min(max_workers, ncopies) - 1);
		 i > 0; i--)
		if (!register_worker(batch_id, user, true, &other))
			break;
	return handle;
}
