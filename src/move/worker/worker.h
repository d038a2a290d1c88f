/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  The background worker that runs the jobs of one batch.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_WORKER_H
#define TSA_WORKER_H

#include "postgres.h"

#include "move/common/session.h"
#include "move/job/live_progress.h"
#include "move/worker/pending_drops.h"
#include "move/worker/user_limits.h"

/* The state of every worker of this stage. */
typedef struct TsaWorker
{
	TsaSession	session;
	TsaPendingDrops drops;
	TsaLiveProgress *live;		/* NULL for one that runs no jobs */
	TsaUserPlace place;
	int			failed_claims;	/* one after the other */
} TsaWorker;

extern void tsa_enter_worker(TsaWorker *worker, Oid database,
							 const char *lock_timeout);

extern PGDLLEXPORT void tsa_move_worker_main(Datum arg);

#endif							/* TSA_WORKER_H */
