/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  The background worker that runs the jobs of one batch, one after the
 *	  other, each as the role that asked for it.
 *
 * Start.  The session that queues holds the batch lock exclusively, registers
 * the worker, waits until the worker waits for that lock, and only then
 * commits.  So a worker that cannot be had makes the whole call fail with
 * nothing queued; the worker sees the rows as soon as the lock is its own, or
 * none after a rollback; and at no moment are there committed jobs without
 * somebody who holds the lock or is the next to get it, which is what
 * tsa_jobs_settle_dead() relies on.
 *
 * Several at once.  tablespace_advisor.max_workers lets more workers run the
 * live copies of a batch.  Each claims jobs by an UPDATE of a queued row, which
 * the row's lock decides, and shares the batch lock, so that to get it
 * exclusively still proves that none lives: one that comes late finds nothing
 * queued.  Rebuilds stay with the first worker: two at a time on one table
 * would wait for each other's transactions and locks.
 *
 * Roles.  Owners of tables are often roles that cannot log in, and before
 * version 17 a worker cannot connect as one.  The worker connects as the
 * bootstrap superuser and then takes on the owner as session user, outside
 * any transaction, for the time of one job.  Every right is checked against
 * the owner, RESET ROLE leads back to the owner only, and the security context
 * is 0, as REINDEX CONCURRENTLY and its transactions demand.  The server
 * evaluates index expressions as the table's owner in a security-restricted
 * operation, where SET SESSION AUTHORIZATION, which could lead back to the
 * superuser, is refused.  Outside of one only functions of event triggers run
 * (17 has them for REINDEX), and those a superuser installs.  Rejected:
 * SetUserIdAndSecContext() alone, since SECURITY_LOCAL_USERID_CHANGE must not
 * be set across transactions and without it RESET ROLE would lead back.
 *
 * End.  An error settles the job and the worker goes on with the next one.
 * Termination (SIGTERM) leaves the current job "running" and the rest
 * "queued": the batch lock is free then, and the next call settles them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "executor/instrument.h"
#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lwlock.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"

#include "move/job/journal.h"
#include "move/copy/live_copy.h"
#include "move/copy/throttle.h"
#include "move/rebuild/rebuild.h"
#include "move/worker/wal_compression.h"
#include "move/worker/worker.h"

/* Between tries to lock the extension's tables. */
#define LOCK_RETRY_MS	10L

/* What a worker is told, in bgw_extra. */
typedef struct WorkerArgs
{
	Oid			database;
	int64		batch_id;
	bool		copies_only;	/* not the batch's first worker */
} WorkerArgs;

/* pgWalUsage.wal_bytes when the present job began. */
static uint64 wal_bytes_before = 0;

/* Holds what must outlive a transaction; emptied after each job. */
static MemoryContext job_context = NULL;

/* Registers a worker of a batch; false if no slot is free. */
static bool
register_worker(int64 batch_id, bool copies_only,
				BackgroundWorkerHandle **handle)
{
	BackgroundWorker worker = {0};
	WorkerArgs	args = {0};

	args.database = MyDatabaseId;
	args.batch_id = batch_id;
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
 * Registers the workers of a batch whose jobs this transaction has inserted,
 * and waits until the first is next in line for the batch lock.  The others,
 * at most one for each further live copy, may come when they like, or not at
 * all if there are no slots: the first one does what they leave.
 */
BackgroundWorkerHandle *
tsa_start_worker(int64 batch_id, int ncopies)
{
	BackgroundWorkerHandle *handle;
	BackgroundWorkerHandle *other;
	LOCKTAG		tag;
	pid_t		pid;

	tsa_batch_lock_tag(&tag, TSA_LOCK_BATCH, batch_id);
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
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT |
						 WL_EXIT_ON_PM_DEATH, 2L, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}

	for (int i = 1; i < Min(tsa_max_workers, ncopies); i++)
		if (!register_worker(batch_id, true, &other))
			break;
	return handle;
}

/*
 * Transactions of the worker's.  Outside of one, the current memory context is
 * that of the job, or of the worker between jobs.
 */
void
tsa_begin(void)
{
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
}

void
tsa_commit(void)
{
	CommitTransactionCommand();
	MemoryContextSwitchTo(job_context);
}

/*
 * Locks the journal against DROP EXTENSION, at session level; false if there
 * is none.  In a transaction.  To be done again after each abort, which
 * releases session-level locks as well.
 *
 * The requests to pause are locked, too: DROP EXTENSION may have that lock and
 * wait for the journal.  Whoever holds the one must not wait for the other.
 */
bool
tsa_keep_journal(void)
{
	LockRelId	journal = {.dbId = MyDatabaseId};
	LockRelId	pause = {.dbId = MyDatabaseId};

	for (;;)
	{
		journal.relId = tsa_lock_journal();
		if (!OidIsValid(journal.relId))
			return false;
		pause.relId = tsa_state_try_lock("pause", AccessShareLock);
		if (OidIsValid(pause.relId) || !tsa_state_is_current())
			break;
		UnlockRelationOid(journal.relId, AccessShareLock);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT |
						 WL_EXIT_ON_PM_DEATH, LOCK_RETRY_MS,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	LockRelationIdForSession(&journal, AccessShareLock);
	if (OidIsValid(pause.relId))
		LockRelationIdForSession(&pause, AccessShareLock);
	tsa_journal_is_kept(true);
	return true;
}

/*
 * After an error and at the worker's end: ends the transaction and releases
 * the session-level relation locks.  An abort releases those too, but without
 * a transaction to abort they would stay: for the jobs to come, or, when the
 * process ends, for ever.
 */
static void
release_session_locks(int code pg_attribute_unused(),
					  Datum arg pg_attribute_unused())
{
	tsa_journal_is_kept(false);
	LWLockReleaseAll();
	AbortOutOfAnyTransaction();
	LockReleaseAll(DEFAULT_LOCKMETHOD, true);
}

/*
 * After a caught error: logs it, aborts, and locks the journal again; returns
 * a copy of the error.  A DROP EXTENSION that waited for us wins; then there is
 * nothing left to work with but the files that the journal named.
 */
ErrorData *
tsa_abort(void)
{
	ErrorData  *err;

	MemoryContextSwitchTo(job_context);
	err = CopyErrorData();
	EmitErrorReport();
	FlushErrorState();
	release_session_locks(0, (Datum) 0);
	tsa_begin();
	if (!tsa_keep_journal())
	{
		tsa_live_copy_drop_unnamed();
		tsa_commit();
		ereport(FATAL,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the journal of moves does not exist any more")));
	}
	tsa_commit();
	debug_query_string = NULL;
	pgstat_report_activity(STATE_IDLE, NULL);
	return err;
}

/*
 * Makes roleid the session user; see above.  Outside any transaction, whose
 * abort would bring the former current user back.
 */
void
tsa_become_role(Oid roleid)
{
	bool		is_superuser;

	tsa_begin();
	is_superuser = superuser_arg(roleid);
	tsa_commit();
	SetCurrentRoleId(InvalidOid, false);
	SetSessionAuthorization(roleid, is_superuser);
	if (GetUserId() != roleid)
		ereport(FATAL,
				(errcode(ERRCODE_INVALID_ROLE_SPECIFICATION),
				 errmsg("could not take on the role of the job")));
}

/*
 * Runs a utility command outside any transaction, as a client's simple query:
 * REINDEX CONCURRENTLY refuses to run in a transaction block.
 */
void
tsa_run_command(const char *sql)
{
	List	   *queries;
	List	   *plans;
	RawStmt    *parsetree;
	Portal		portal;
	DestReceiver *dest;

	debug_query_string = sql;
	pgstat_report_activity(STATE_RUNNING, sql);
	tsa_begin();

	/* the tree must outlive the transactions that the command ends */
	MemoryContextSwitchTo(job_context);
	parsetree = linitial_node(RawStmt, pg_parse_query(sql));
	queries = pg_analyze_and_rewrite_fixedparams(parsetree, sql, NULL, 0,
												 NULL);
	plans = pg_plan_queries(queries, sql, CURSOR_OPT_PARALLEL_OK, NULL);

	portal = CreatePortal("", true, true);
	portal->visible = false;
	PortalDefineQuery(portal, NULL, sql, CreateCommandTag(parsetree->stmt),
					  plans, NULL);
	PortalStart(portal, NULL, 0, InvalidSnapshot);
	dest = CreateDestReceiver(DestNone);
	(void) tsa_portal_run(portal, dest);
	dest->rDestroy(dest);
	PortalDrop(portal, false);

	tsa_commit();
	pgstat_report_stat(true);
	pgstat_report_activity(STATE_IDLE, NULL);
	debug_query_string = NULL;
}

/*
 * Settles the current job and leaves it: the gate keeps out requests to
 * cancel it meanwhile, and one that has come is forgotten.  The old file of a
 * small index may be kept for later (pending_drops.c).
 */
static void
leave_job(const TsaJob *job, TsaJobState state, const ErrorData *err,
		  TsaJobProgress *figures)
{
	LOCKTAG		gate;
	TsaJob		present;
	int64		wal_bytes = pgWalUsage.wal_bytes - wal_bytes_before;
	bool		keep = figures != NULL && figures->keeps_old &&
		tsa_old_files_have_room();

	HOLD_CANCEL_INTERRUPTS();
	tsa_batch_lock_tag(&gate, TSA_LOCK_GATE, job->batch_id);
	tsa_begin();
	(void) LockAcquire(&gate, ExclusiveLock, true, false);
	if (keep)
		tsa_commit_lazily();
	else if (tsa_job_load(job->job_id, &present) &&
			 (tsa_live_copy_drop_leftovers(&present) ||
			  tsa_rebuild_follow(job->job_id)))
	{
		/* it had moved when the error came */
		state = TSA_JOB_DONE;
		err = NULL;
	}
	if (figures != NULL)
	{
		figures->wal_bytes = wal_bytes;
		figures->keeps_old = keep;
	}
	else
		tsa_job_note_wal(job->job_id, wal_bytes);
	tsa_job_settle(job->job_id, state, err, figures);
	tsa_commit();
	if (keep)
		tsa_old_file_keep(job->job_id, figures->old_file);
	QueryCancelPending = false;
	LockRelease(&gate, ExclusiveLock, true);
	RESUME_CANCEL_INTERRUPTS();
}

/* Does a job's work as its owner, outside any transaction; figures or NULL. */
static TsaJobProgress *
execute_job(TsaJob *job)
{
	static TsaJobProgress figures;

	tsa_old_files_remove(job->method != TSA_METHOD_COPY);
	tsa_begin();
	if (!OidIsValid(job->heapid) || get_rel_name(job->relid) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", job->relid),
				 errdetail("It was dropped after the move was queued.")));
	tsa_check_move_rights(job->heapid, job->target_tablespace);
	tsa_commit();

	switch (job->method)
	{
		case TSA_METHOD_COPY:
			tsa_live_copy(job, &figures);
			return &figures;
		case TSA_METHOD_REBUILD:
			tsa_rebuild(job);
			break;
		case TSA_METHOD_CATALOG:
		case TSA_METHOD_LOCK:
			tsa_set_tablespace(job);
			break;
		default:
			elog(ERROR, "unexpected method of job " INT64_FORMAT,
				 job->job_id);
	}
	return NULL;
}

/* Runs a job if it is still queued, and settles it whatever happens. */
static void
run_job(int64 job_id, bool copies_only)
{
	TsaJob		job;
	bool		claimed;

	wal_bytes_before = pgWalUsage.wal_bytes;
	tsa_begin();
	/* a crash that loses this settles the job all the same */
	tsa_commit_lazily();
	MemoryContextSwitchTo(job_context);
	claimed = !tsa_job_give_up(job_id) &&
		tsa_job_claim(job_id, copies_only) && tsa_job_load(job_id, &job);
	tsa_commit();
	if (!claimed)
		return;

	PG_TRY();
	{
		TsaJobProgress *figures;

		tsa_become_role(job.owner);
		figures = execute_job(&job);
		tsa_become_role(BOOTSTRAP_SUPERUSERID);
		leave_job(&job, TSA_JOB_DONE, NULL, figures);
	}
	PG_CATCH();
	{
		ErrorData  *err;

		HOLD_CANCEL_INTERRUPTS();
		err = tsa_abort();
		tsa_become_role(BOOTSTRAP_SUPERUSERID);
		leave_job(&job, err->sqlerrcode == ERRCODE_QUERY_CANCELED ?
				  TSA_JOB_CANCELLED : TSA_JOB_FAILED, err, NULL);
		RESUME_CANCEL_INTERRUPTS();
	}
	PG_END_TRY();
}

/* Overrides settings that would get into a job's way, for good. */
static void
override_settings(void)
{
	static const char *const settings[][2] = {
		{"lock_timeout", "0"},
		{"statement_timeout", "0"},
		{"idle_in_transaction_session_timeout", "0"},
		{"transaction_timeout", "0"},	/* from 17 on */
		{"default_transaction_read_only", "off"},
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_deferrable", "off"},
		{"synchronous_commit", "local"},
		{"session_replication_role", "origin"},
		{"search_path", "pg_catalog, pg_temp"},
		{"exit_on_error", "off"},
		{"role", "none"}		/* ALTER DATABASE ... SET role */
	};

	for (int i = 0; i < (int) lengthof(settings); i++)
		if (GetConfigOption(settings[i][0], true, false) != NULL)
			SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET,
							PGC_S_OVERRIDE);
}

/*
 * Takes the batch lock and locks the journal against DROP EXTENSION for the
 * worker's life.  Returns the batch's jobs; NIL when the call that queued
 * them rolled back or the extension is gone.
 */
static List *
enter_batch(int64 batch_id)
{
	LOCKTAG		tag;
	List	   *jobs = NIL;

	tsa_begin();
	tsa_batch_lock_tag(&tag, TSA_LOCK_BATCH, batch_id);
	(void) LockAcquire(&tag, ShareLock, true, false);
	if (tsa_keep_journal())
	{
		MemoryContextSwitchTo(TopMemoryContext);
		jobs = tsa_jobs_of_batch(batch_id);
	}
	tsa_commit();
	return jobs;
}

/* What every worker of this stage does first. */
void
tsa_enter_worker(Oid database)
{
	pqsignal(SIGTERM, die);
	pqsignal(SIGINT, StatementCancelHandler);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
	before_shmem_exit(release_session_locks, (Datum) 0);
	override_settings();
	job_context = AllocSetContextCreate(TopMemoryContext, "move job",
										ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(job_context);
}

void
tsa_move_worker_main(Datum arg pg_attribute_unused())
{
	WorkerArgs	args;
	ListCell   *lc;

	memcpy(&args, MyBgworkerEntry->bgw_extra, sizeof(args));
	tsa_enter_worker(args.database);
	foreach(lc, enter_batch(args.batch_id))
	{
		QueryCancelPending = false; /* meant for no job */
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		tsa_wal_compression_apply();
		run_job(*(int64 *) lfirst(lc), args.copies_only);
		MemoryContextReset(job_context);
	}
	tsa_old_files_remove(true);
	tsa_begin();
	tsa_jobs_prune();
	tsa_commit();
	tsa_drop_leftovers();
}
