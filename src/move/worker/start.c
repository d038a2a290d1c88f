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
#include "move/job/queue.h"
#include "move/worker/start.h"

/* tablespace_advisor.max_workers */
static int	max_workers = 1;

/* tablespace_advisor.max_calls_per_role */
static int	max_calls_per_role = 4;

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
	DefineCustomIntVariable("tablespace_advisor.max_calls_per_role",
							"Sets how many calls of one role may have moves that have not ended.",
							"In all databases of the server. Each has a worker slot, also while its move pauses. 0 means no limit; there is none for superusers.",
							&max_calls_per_role, 4, 0, 1000,
							PGC_SUSET, 0, NULL, NULL, NULL);
}

/*
 * Registers a worker of a batch; false if no slot is free.
 */
static bool
register_worker(int64 batch_id, bool copies_only,
				BackgroundWorkerHandle **handle)
{
	BackgroundWorker worker = {0};
	TsaWorkerArgs args = {0};

	args.database = MyDatabaseId;
	args.batch_id = batch_id;
	args.owner = GetUserId();
	args.copies_only = copies_only;
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "tablespace_advisor", BGW_MAXLEN);
	strlcpy(worker.bgw_function_name, "tsa_move_worker_main", BGW_MAXLEN);
	snprintf(worker.bgw_name, BGW_MAXLEN,
			 "tablespace_advisor move " INT64_FORMAT, batch_id);
	strlcpy(worker.bgw_type, "tablespace_advisor move", BGW_MAXLEN);
	memcpy(worker.bgw_extra, &args, sizeof(args));
	worker.bgw_notify_pid = MyProcPid;
	return RegisterDynamicBackgroundWorker(&worker, handle);
}

/*
 * Refuses a role that has too many workers already: parallel queries and
 * replication need slots, too.  They are counted in all databases, by the role
 * locks of the living, and nobody else of that role counts until ours has its
 * lock.  True if *tag is to be released then.
 */
static bool
check_role_limit(LOCKTAG *tag)
{
	if (max_calls_per_role == 0 || superuser())
		return false;
	tsa_set_role_lock_tag(tag, TSA_LOCK_LIMIT, GetUserId());
	(void) LockAcquire(tag, ExclusiveLock, false, false);
	if (tsa_count_role_batches(GetUserId()) >= max_calls_per_role)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("too many moves for role \"%s\"",
						GetUserNameFromId(GetUserId(), false)),
				 errdetail("The limit is %d calls at a time.",
						   max_calls_per_role),
				 errhint("Wait until one has ended, or move several relations by one call; a superuser can raise \"tablespace_advisor.max_calls_per_role\".")));
	return true;
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
	LOCKTAG		limit;
	bool		limited = check_role_limit(&limit);
	pid_t		pid;

	tsa_set_lock_tag(&tag, TSA_LOCK_BATCH, batch_id);
	(void) LockAcquire(&tag, TSA_QUEUE_LOCK, false, false);

	if (!register_worker(batch_id, false, &handle))
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
	if (limited)
		(void) LockRelease(&limit, ExclusiveLock, false);

	for (int i = 1; i < Min(max_workers, ncopies); i++)
		if (!register_worker(batch_id, true, &other))
			break;
	return handle;
}
