/*-------------------------------------------------------------------------
 *
 * move.h
 *	  All that later stages use of this one; they include no other header of
 *	  src/move/.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_MOVE_STAGE_H
#define TSA_MOVE_STAGE_H

/* options of a call, its checks, its result */
#include "move/call.h"

/* may a relation move, by which method, is there space */
#include "move/common/eligible.h"
#include "move/common/relation.h"
#include "move/plan/rules.h"

/* the jobs of a call: queued, run, awaited */
#include "move/common/sleep.h"
#include "move/job/batch_lock.h"
#include "move/job/job.h"
#include "move/job/job_limits.h"
#include "move/job/journal.h"
#include "move/job/planned_move.h"
#include "move/job/queue.h"
#include "move/wait_for_batch.h"
#include "move/worker/recover.h"
#include "move/worker/start.h"

#endif							/* TSA_MOVE_STAGE_H */
