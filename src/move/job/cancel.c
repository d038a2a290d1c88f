/*-------------------------------------------------------------------------
 *
 * cancel.c
 *	  Requests to cancel a job.
 *
 * A request is a signal, so the risk is to hit the wrong job.  The gate lock
 * keeps the worker from leaving its current job while we look that job up, see
 * by the batch lock that its worker lives, and send the signal; the worker
 * forgets a request that came too late before it opens the gate.  A flag in
 * the journal would do for one job but not in a transaction that stays open:
 * the worker would not see it, and wait for the row when it ends the job.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>

#include "storage/lock.h"

#include "move/job/batch_lock.h"
#include "move/job/cancel.h"
#include "move/job/queue.h"
#include "state/settings.h"

/* A job, and whether its worker was told. */
typedef struct Cancellation
{
	const TsaJob *job;
	bool		is_sent;
} Cancellation;

/* Sends the signal, with the gate locked. */
static void
send_request(void *arg)
{
	Cancellation *request = arg;
	const TsaJob *job = request->job;
	LOCKTAG		gate;
	int			pid;

	tsa_set_lock_tag(&gate, TSA_LOCK_GATE, job->batch_id);
	(void) LockAcquire(&gate, ShareLock, false, false);
	pid = tsa_find_job_worker(job->job_id);
	if (pid != 0 && tsa_is_batch_worker(job->batch_id, pid))
		request->is_sent = kill(pid, SIGINT) == 0;
	LockRelease(&gate, ShareLock, false);
}

/*
 * Cancels a job: true when it was still queued, or runs and its worker has
 * been told; false when there was nothing to do.  The caller has checked the
 * rights.  [T]
 */
bool
tsa_cancel_job(const TsaJob *job)
{
	Cancellation request = {job, false};

	if (tsa_cancel_queued_job(job->job_id))
		return true;
	tsa_run_briefly(send_request, &request);
	return request.is_sent;
}
