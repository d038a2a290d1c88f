/*-------------------------------------------------------------------------
 *
 * tablespace_advisor.c
 *	  Module entry point: module magic, configuration parameters, hooks and
 *	  worker registration.  Everything else lives in src/, one folder per
 *	  stage (see ARCHITECTURE.md).
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "compat.h"
#include "cost/cost.h"
#include "move/common/stop_point.h"
#include "move/copy/contention.h"
#include "move/copy/pause_conditions.h"
#include "move/copy/resume.h"
#include "move/job/history.h"
#include "move/worker/drop_guard.h"
#include "move/worker/launcher.h"
#include "move/worker/launcher_calls.h"
#include "move/worker/recover.h"
#include "move/worker/start.h"
#include "move/worker/user_limits.h"
#include "move/worker/wal_compression.h"
#include "probe/probe.h"
#include "sample/sample_worker.h"
#include "state/prepare_guard.h"
#include "state/state.h"
#include "wait/wait.h"

TSA_MODULE_MAGIC;

void		_PG_init(void);

/*
 * Called when the library is loaded: defines the parameters of all stages and
 * takes the hooks.
 */
void
_PG_init(void)
{
	tsa_init_state();
	tsa_init_prepare_guard();
	tsa_init_probe();
	tsa_init_waits();
	tsa_init_sample();
	tsa_init_cost();
	tsa_init_explain();
	tsa_init_stop_points();
	tsa_init_contention();
	tsa_init_wal_compression();
	tsa_init_pause_conditions();
	tsa_init_worker_start();
	tsa_init_recover();
	tsa_init_marks();
	tsa_init_user_limits();
	tsa_init_job_history();
	tsa_init_launcher_calls();
	tsa_init_launcher();
	tsa_init_drop_guard();
	MarkGUCPrefixReserved("tablespace_advisor");
}
