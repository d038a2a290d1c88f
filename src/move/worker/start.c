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
 * Parallel queries, replication and superusers' moves need slots, too, and a
 * move that pauses keeps its own.  So users who are not superusers have a limit
 * each and one for all of them, the last place of which is for somebody who has
 * none.  A user is who has logged in: roles that he may take on do not count
 * apart.
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
#include "state/background_worker.h"

/* tablespace_advisor.max_workers */
static int	max_workers = 1;

/* tablespace_advisor.max_calls_per_role */
static int	max_calls_per_role = 4;

/* tablespace_advisor.max_user_workers */
static int	max_user_workers = -1;

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
							"Sets how many calls of one user may have moves that have not ended.",
							"In all databases of the server, whichever roles the user takes on. Each has a worker slot, also while its move pauses. 0 means no limit; there is none for superusers.",
							&max_calls_per_role, 4, 0, 1000,
							PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("tablespace_advisor.max_user_workers",
							"Sets how many workers may move relations for users who are not superusers.",
							"In all databases of the server. A user who has a call under way leaves the last one to others. -1 means half of max_worker_processes.",
							&max_user_workers, -1, -1, 1000,
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
 * Whose call counts: the user who has logged in; nobody's if that or the
 * present role is a superuser.
 */
static Oid
limited_user(void)
{
	Oid			user = GetSessionUserId();

	return superuser() || superuser_arg(user) ? InvalidOid : user;
}

/* Workers for all who are not superusers. */
static int
places_of_users(void)
{
	return max_user_workers >= 0 ? max_user_workers :
		Max(max_worker_processes / 2, 1);
}

/*
 * Refuses a user who has too many calls under way, or one for whom there is no
 * place left.
 */
static void
check_limits(Oid user, const TsaCallCount *count)
{
	int			workers = count->of_all + count->helpers;
	int			places = places_of_users();

	if (max_calls_per_role > 0 && count->of_user >= max_calls_per_role)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("too many moves for role \"%s\"",
						GetUserNameFromId(user, false)),
				 errdetail("The limit is %d calls at a time.",
						   max_calls_per_role),
				 errhint("Wait until one has ended, or move several relations by one call; a superuser can raise \"tablespace_advisor.max_calls_per_role\".")));
	if (workers >= places - (count->of_user > 0 ? 1 : 0))
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("too many moves on this server"),
				 errdetail("Users who are not superusers have %d workers under way; the limit is %d, the last of which is for a user who has none.",
						   workers, places),
				 errhint("Wait until a move has ended; a superuser can raise \"tablespace_advisor.max_user_workers\".")));
}

/*
 * Takes a place for a call of a user who has a limit, until the transaction
 * ends; the worker has taken it over by then.  Calls are counted in all
 * databases, by the locks of the living.  The user's other sessions wait
 * meanwhile; two users who both take the last place at the same moment are
 * both refused.
 */
static void
take_place(Oid user, int64 batch_id)
{
	LOCKTAG		limit;
	LOCKTAG		call;
	TsaCallCount count;

	SET_LOCKTAG_ADVISORY(limit, InvalidOid, user, 0, TSA_LOCK_LIMIT);
	(void) LockAcquire(&limit, ExclusiveLock, false, false);
	count = tsa_count_calls(user);
	check_limits(user, &count);
	tsa_set_user_tag(&call, TSA_LOCK_CALL, user, (uint32) batch_id);
	(void) LockAcquire(&call, ShareLock, false, false);
	count = tsa_count_calls(user);
	count.of_all--;
	count.of_user--;
	check_limits(user, &count);
	(void) LockRelease(&limit, ExclusiveLock, false);
}

/* How many further workers may help the first one? */
static int
count_helpers(Oid user, int ncopies)
{
	int			helpers = Min(max_workers, ncopies) - 1;

	if (OidIsValid(user))
	{
		TsaCallCount count = tsa_count_calls(user);

		helpers = Min(helpers, places_of_users() - 1 -
					  count.of_all - count.helpers);
	}
	return helpers;
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
	Oid			user = limited_user();
	pid_t		pid;

	if (OidIsValid(user))
		take_place(user, batch_id);
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

	for (int i = count_helpers(user, ncopies); i > 0; i--)
		if (!register_worker(batch_id, user, true, &other))
			break;
	return handle;
}
