/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  The background worker that runs the jobs of one batch, one after the
 *	  other, each as the role that asked for it.
 *
 * How it starts is in start.c, how it takes on roles in session.c.
 *
 * An error ends the job and the worker goes on with the next one.  Termination
 * (SIGTERM) leaves the current job "running" and the rest "queued": the batch
 * lock is free then, and the session that recovers them starts another worker
 * (recover.c).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "executor/instrument.h"
#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/lock.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "journal/window_clock.h"
#include "move/common/relation.h"
#include "move/common/session.h"
#include "move/common/sleep.h"
#include "move/copy/live_copy.h"
#include "move/copy/shorten.h"
#include "move/job/batch_lock.h"
#include "move/job/history.h"
#include "move/job/job.h"
#include "move/job/journal.h"
#include "move/job/queue.h"
#include "move/rebuild/rebuild.h"
#include "move/rebuild/transient_index.h"
#include "move/worker/copy_host.h"
#include "move/worker/job_storage.h"
#include "move/worker/journal_turn.h"
#include "move/worker/launcher_calls.h"
#include "move/worker/lock_guard.h"
#include "move/worker/start.h"
#include "move/worker/wal_compression.h"
#include "move/worker/worker.h"
#include "state/background_worker.h"

/* Between tries to run jobs that somebody is cancelling: for each, in all. */
#define LOCKED_JOB_MS	200
#define LOCKED_JOBS_MS	5000

/* A process that ends has ended after so long, or once its locks are gone. */
#define EXIT_MS		1000
#define UNLOCKED_MS	200

/* Claims that may fail, one after the other, before a worker gives up. */
#define MAX_FAILED_CLAIMS	3

/*
 * Has the present job, which a worker ends, moved its relation all the same?
 * The job's files are dropped, unless their device is known not to answer or
 * cannot be reached.
 */
static bool
clear_up(TsaWorker *worker, int64 job_id, bool answers, bool *keeps_files)
{
	TsaJob		job;

	if (!tsa_job_load(job_id, &job))
		return false;
	*keeps_files = !answers || !tsa_drop_job_storage(&job);
	tsa_forget_present_storage(&worker->drops);
	return tsa_job_has_moved(&job) || tsa_follow_rebuild(job_id);
}

/*
 * Begins the transaction that leaves the current job: the gate keeps out
 * requests to cancel it meanwhile.
 */
static void
close_gate(const TsaJob *job)
{
	LOCKTAG		gate;

	tsa_set_lock_tag(&gate, TSA_LOCK_GATE, job->batch_id);
	tsa_begin();
	/* an error in here, earlier, has left the gate closed */
	if (!tsa_lock_held_by_me(&gate, ExclusiveLock))
		(void) LockAcquire(&gate, ExclusiveLock, true, false);
}

/*
 * Commits the end of a job, or its return to the queue, and gives up the lock
 * on its direction and its turn on the journal.
 */
static void
commit_leaving(TsaWorker *worker, const TsaJob *job)
{
	LOCKTAG		direction;

	tsa_set_direction_tag(&direction, job->source_tablespace,
						  job->target_tablespace, job->owner);
	(void) LockRelease(&direction, ShareLock, true);
	tsa_commit(&worker->session);
	tsa_end_journal_turn();
}

/*
 * Opens the gate; a request to cancel that has come is forgotten.
 */
static void
open_gate(const TsaJob *job)
{
	LOCKTAG		gate;

	tsa_set_lock_tag(&gate, TSA_LOCK_GATE, job->batch_id);
	QueryCancelPending = false;
	LockRelease(&gate, ExclusiveLock, true);
}

/*
 * Notes the figures that the present job has shown last, and its WAL.
 */
static void
note_last_figures(const TsaWorker *worker, int64 job_id, int64 wal_bytes)
{
	TsaMoveProgress last;

	tsa_job_note_wal(job_id, wal_bytes);
	if (tsa_last_live_progress(worker->live, &last))
		tsa_job_note_figures(job_id, &last);
}

/*
 * The same of a job that is left to a later worker: but for what it is doing,
 * and how far it is, which its last mark tells.
 */
static void
note_last_sums(const TsaWorker *worker, int64 job_id, int64 wal_bytes)
{
	TsaMoveProgress last;

	tsa_job_note_wal(job_id, wal_bytes);
	if (!tsa_last_live_progress(worker->live, &last))
		return;
	last.phase = last.rate_reason = NULL;
	last.bytes_done = last.blocks_left = -1;
	last.present_mb_per_s = -1;
	last.nblockers = 0;
	tsa_job_note_figures(job_id, &last);
}

/*
 * Leaves the current job to a later worker: its time window has closed.
 * Throws if it has been cancelled meanwhile.
 */
static void
suspend_job(TsaWorker *worker, const TsaJob *job, int64 wal_bytes)
{
	TsaJob		present;

	HOLD_CANCEL_INTERRUPTS();
	close_gate(job);
	RESUME_CANCEL_INTERRUPTS();
	CHECK_FOR_INTERRUPTS();
	HOLD_CANCEL_INTERRUPTS();
	if (tsa_job_load(job->job_id, &present))
		tsa_job_note_interrupted(job->job_id, present.nkept > 0, true);
	note_last_sums(worker, job->job_id, wal_bytes);
	commit_leaving(worker, job);
	tsa_forget_present_storage(&worker->drops);
	open_gate(job);
	RESUME_CANCEL_INTERRUPTS();
}

/*
 * Ends the current job and leaves it.  The old file of a small index may be
 * kept for later (pending_drops.c).
 */
static void
leave_job(TsaWorker *worker, const TsaJob *job, TsaJobEnd *end,
		  const TsaCopyResult *copied)
{
	bool		postpones = copied != NULL && copied->keeps_old &&
	tsa_can_postpone_drop(&worker->drops);
	bool		answers = copied != NULL ? copied->old_answers :
	tsa_shorten_storage(worker->drops.present, worker->drops.npresent,
						true);

	end->keeps_files = postpones;
	end->figures = copied != NULL ? &copied->figures : NULL;

	HOLD_CANCEL_INTERRUPTS();
	close_gate(job);
	if (postpones)
		tsa_commit_lazily();
	else if (clear_up(worker, job->job_id, answers, &end->keeps_files))
	{
		/* it had moved when the error came */
		end->state = TSA_JOB_DONE;
		end->err = NULL;
	}
	end->table_dropped = end->state == TSA_JOB_FAILED &&
		get_rel_name(job->heapid) == NULL;
	if (copied == NULL)
		note_last_figures(worker, job->job_id, end->wal_bytes);
	tsa_finish_job(job->job_id, end);
	if (end->state == TSA_JOB_DONE)
		tsa_log_job(job->job_id);
	commit_leaving(worker, job);
	if (postpones)
		tsa_postpone_drop(&worker->drops, job->job_id, copied->old_file);
	open_gate(job);
	RESUME_CANCEL_INTERRUPTS();
}

/*
 * Does a job's work as its owner, outside any transaction.  True if that was a
 * live copy, which has a result.
 */
static bool
execute_job(TsaWorker *worker, const TsaJob *job, TsaCopyResult *copied)
{
	tsa_perform_drops(&worker->drops, job->method != TSA_METHOD_COPY);
	tsa_begin();
	if (!OidIsValid(job->heapid) || get_rel_name(job->relid) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", job->relid),
				 errdetail("It was dropped after the move was queued.")));
	tsa_check_move_rights(job->heapid, job->target_tablespace);
	tsa_commit(&worker->session);

	switch (job->method)
	{
		case TSA_METHOD_COPY:
			tsa_copy_for_job(job, &worker->drops, worker->live, &worker->place,
							 copied);
			return true;
		case TSA_METHOD_REBUILD:
			tsa_rebuild(&worker->session, job);
			break;
		case TSA_METHOD_CATALOG:
		case TSA_METHOD_LOCK:
			tsa_set_tablespace(&worker->session, job);
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg_internal("unexpected method of job " INT64_FORMAT,
									 job->job_id)));
	}
	return false;
}

/* The state of a job after the worker's attempt. */
typedef enum JobFate
{
	JOB_ENDED,					/* or is another worker's, or its time window
								 * is closed */
	JOB_CLAIMED,
	JOB_LOCKED					/* by a session that cancels it */
} JobFate;

/*
 * Makes a job that is still queued the worker's own, unless it is left to
 * another worker.  The lock on its direction is kept until it ends.
 */
static JobFate
claim_job(const TsaWorker *worker, int64 job_id, bool copies_only, TsaJob *job)
{
	LOCKTAG		direction;
	JobFate		fate = JOB_ENDED;

	tsa_begin();
	/* a crash that loses this ends the job all the same */
	tsa_commit_lazily();
	MemoryContextSwitchTo(worker->session.context);
	if (!tsa_give_up_job(job_id))
	{
		int64		handle = tsa_live_progress_handle(worker->live);
		bool		claimed = tsa_claim_job(job_id, copies_only, handle);
		bool		found = tsa_job_load(job_id, job);

		if (found && claimed)
			fate = JOB_CLAIMED;
		else if (found && !copies_only &&
				 !tsa_is_outside_window(&job->limits.during) &&
				 (job->state == TSA_JOB_QUEUED ||
				  job->state == TSA_JOB_INTERRUPTED))
			fate = JOB_LOCKED;
	}
	if (fate == JOB_CLAIMED)
	{
		tsa_set_direction_tag(&direction, job->source_tablespace,
							  job->target_tablespace, job->owner);
		(void) LockAcquire(&direction, ShareLock, true, false);
		tsa_begin_live_progress(worker->live, job_id, job->owner);
	}
	tsa_commit(&worker->session);
	return fate;
}

/*
 * Claims a job; an error leaves it as it is, to be tried again: the error is
 * not the job's, and would end the others of its batch with the worker.
 */
static JobFate
try_claim_job(TsaWorker *worker, int64 job_id, bool copies_only, TsaJob *job)
{
	volatile JobFate fate = JOB_LOCKED;

	PG_TRY();
	{
		fate = claim_job(worker, job_id, copies_only, job);
		worker->failed_claims = 0;
	}
	PG_CATCH();
	{
		if (++worker->failed_claims == MAX_FAILED_CLAIMS)
			PG_RE_THROW();
		HOLD_CANCEL_INTERRUPTS();
		(void) tsa_abort(&worker->session);
		RESUME_CANCEL_INTERRUPTS();
	}
	PG_END_TRY();
	return fate;
}

/*
 * Writes the meaning of the signal into the journal: the server does not know
 * it.  Functions of an index that is rebuilt may raise its SQLSTATE, too.
 */
static void
explain_cancel(ErrorData *err)
{
	if (err->funcname == NULL ||
		strcmp(err->funcname, "ProcessInterrupts") != 0)
		return;
	err->message = pstrdup("cancelled on request");
	err->detail = pstrdup("By cancel_move(), a call that was cancelled or timed out, or pg_cancel_backend().");
}

/*
 * Runs a job if it is still queued, and ends it in any case, or suspends it.
 * False if it is to be tried again, as it is locked, or suspended: somebody
 * may have given it another time window in this moment.
 */
static bool
run_job(TsaWorker *worker, int64 job_id, bool copies_only)
{
	uint64		wal_before = pgWalUsage.wal_bytes;
	TsaJob		job;
	JobFate		fate = try_claim_job(worker, job_id, copies_only, &job);
	volatile bool is_left = true;

	if (fate != JOB_CLAIMED)
		return fate == JOB_ENDED;

	PG_TRY();
	{
		TsaCopyResult copied = {0};
		TsaJobEnd	end = {.state = TSA_JOB_DONE};
		bool		is_copy;

		tsa_take_journal_turn(&worker->session, &job, &worker->drops,
							  worker->live);
		tsa_become_role(&worker->session, job.owner);
		is_copy = execute_job(worker, &job, &copied);
		tsa_become_role(&worker->session, BOOTSTRAP_SUPERUSERID);
		if (!is_copy)
			tsa_renew_settings();
		end.wal_bytes = pgWalUsage.wal_bytes - wal_before;
		is_left = !copied.is_suspended;
		if (is_left)
			leave_job(worker, &job, &end, is_copy ? &copied : NULL);
		else
			suspend_job(worker, &job, end.wal_bytes);
	}
	PG_CATCH();
	{
		ErrorData  *err;
		TsaJobEnd	end = {0};

		HOLD_CANCEL_INTERRUPTS();
		err = tsa_abort(&worker->session);
		tsa_become_role(&worker->session, BOOTSTRAP_SUPERUSERID);
		tsa_renew_settings();
		end.state = err->sqlerrcode == ERRCODE_QUERY_CANCELED ?
			TSA_JOB_CANCELLED : TSA_JOB_FAILED;
		if (end.state == TSA_JOB_CANCELLED)
			explain_cancel(err);
		end.err = err;
		end.wal_bytes = pgWalUsage.wal_bytes - wal_before;
		leave_job(worker, &job, &end, NULL);
		RESUME_CANCEL_INTERRUPTS();
		is_left = true;
	}
	PG_END_TRY();
	return is_left;
}

/*
 * Runs jobs (int64 *), one after the other; returns those to be tried again.
 */
static List *
run_jobs(TsaWorker *worker, const List *jobs, bool copies_only)
{
	List	   *locked = NIL;
	ListCell   *lc;

	foreach(lc, jobs)
	{
		QueryCancelPending = false; /* meant for no job */
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		tsa_wal_compression_apply();
		if (!run_job(worker, *(int64 *) lfirst(lc), copies_only))
		{
			MemoryContextSwitchTo(TopMemoryContext);
			locked = lappend(locked, lfirst(lc));
			MemoryContextSwitchTo(worker->session.context);
		}
		MemoryContextReset(worker->session.context);
	}
	return locked;
}

/*
 * After an abort: locks the journal again.  A DROP EXTENSION that waited for
 * us wins; then there is nothing left to work with but the files that the
 * journal named.
 */
static void
lock_journal_again(TsaSession *session)
{
	TsaWorker  *worker = session->arg;

	tsa_lose_journal();
	tsa_begin();
	if (!tsa_keep_journal())
	{
		tsa_drop_without_journal(&worker->drops);
		tsa_commit(session);
		ereport(FATAL,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the journal of moves does not exist any more")));
	}
	tsa_commit(session);
}

/* The present job waits for others, and copies nothing. */
static void
watch_place(TsaSession *session)
{
	TsaWorker  *worker = session->arg;

	tsa_watch_user_place(&worker->place, 0);
}

/*
 * The beginning of every worker of this stage.
 */
void
tsa_enter_worker(TsaWorker *worker, Oid database, const char *lock_timeout)
{
	const TsaWorkerSettings settings = {lock_timeout, "local", "off"};

	pqsignal(SIGTERM, die);
	pqsignal(SIGINT, StatementCancelHandler);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	tsa_connect_worker(database, 0, &settings);
	memset(worker, 0, sizeof(*worker));
	tsa_init_session(&worker->session);
	worker->session.after_abort = lock_journal_again;
	worker->session.waits = watch_place;
	worker->session.arg = worker;
	tsa_guard_locks();
}

/*
 * Takes the lock that the worker is counted by and the batch lock, and locks
 * the journal against DROP EXTENSION, for the worker's life.  Returns
 * the batch's jobs; NIL when the call that queued them rolled back or the
 * extension is gone.
 */
static List *
enter_batch(TsaWorker *worker, const TsaWorkerArgs *args)
{
	LOCKTAG		tag;
	List	   *jobs = NIL;

	tsa_begin();
	tsa_begin_user_place(&worker->place, args->user);
	if (OidIsValid(args->user))
	{
		if (args->copies_only)
			tsa_set_user_tag(&tag, TSA_LOCK_HELPER, args->user,
							 (uint32) MyProcPid);
		else
			tsa_set_user_tag(&tag, TSA_LOCK_CALL, args->user,
							 (uint32) args->batch_id);
		(void) LockAcquire(&tag, ShareLock, true, false);
	}
	tsa_set_lock_tag(&tag, TSA_LOCK_BATCH, args->batch_id);
	(void) LockAcquire(&tag, ShareLock, true, false);
	if (tsa_keep_journal())
	{
		worker->live = tsa_make_live_progress();
		MemoryContextSwitchTo(TopMemoryContext);
		jobs = tsa_list_batch_jobs(args->batch_id);
	}
	tsa_commit(&worker->session);
	return jobs;
}

/*
 * The worker ends: by an error, with jobs left, if there is a code.  Its locks
 * are released, as the server's callback has been registered later.  The
 * launcher looks when its slot will be free, too, which another may need.
 */
static void
call_launcher(int code, Datum arg pg_attribute_unused())
{
	if (code != 0)
		tsa_call_launcher(MyDatabaseId, UNLOCKED_MS);
}

/*
 * Main function of a worker, which does the jobs of one call.
 */
void
tsa_move_worker_main(Datum arg pg_attribute_unused())
{
	TsaWorker	worker;
	TsaWorkerArgs args;
	List	   *jobs;
	List	   *locked;

	memcpy(&args, MyBgworkerEntry->bgw_extra, sizeof(args));
	before_shmem_exit(call_launcher, (Datum) 0);
	tsa_enter_worker(&worker, args.database, "0");
	jobs = enter_batch(&worker, &args);
	while ((locked = run_jobs(&worker, jobs, args.copies_only)) != NIL)
	{
		list_free(jobs);
		jobs = locked;
		tsa_perform_drops(&worker.drops, true);
		tsa_watch_user_place(&worker.place, 0);
		tsa_sleep(Min(list_length(jobs) * LOCKED_JOB_MS, LOCKED_JOBS_MS));
	}
	tsa_perform_drops(&worker.drops, true);
	tsa_begin();
	tsa_prune_jobs(args.batch_id);
	/* of another worker, which may be gone */
	if (!tsa_batch_has_ended(args.batch_id))
		tsa_call_launcher(MyDatabaseId, EXIT_MS);
	tsa_commit(&worker.session);
	tsa_drop_transient_indexes(&worker.session);
}
