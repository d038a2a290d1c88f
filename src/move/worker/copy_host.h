/*-------------------------------------------------------------------------
 *
 * copy_host.h
 *	  Runs a live copy for a job.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_COPY_HOST_H
#define TSA_COPY_HOST_H

#include "postgres.h"

#include "move/copy/live_copy.h"
#include "move/job/job.h"
#include "move/job/live_progress.h"
#include "move/worker/pending_drops.h"
#include "move/worker/user_limits.h"

extern void tsa_copy_for_job(const TsaJob *job, TsaPendingDrops *drops,
							 TsaLiveProgress *live, TsaUserPlace *place,
							 TsaCopyResult *result);

#endif							/* TSA_COPY_HOST_H */
