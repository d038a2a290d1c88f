/*-------------------------------------------------------------------------
 *
 * hooks.c
 *	  The executor's hooks, and which executions are measured.
 *
 * One execution in tablespace_advisor.track_waits_sample is drawn, top-level
 * and nested ones independently, and stands for so many.  Plans above a cost
 * limit, statements that waited long lately (slow.c) and parallel plans are
 * always measured and stand for themselves: their own cost hides the overhead,
 * and a leader and its workers have to agree.  All executions inside of one
 * that was drawn are measured too, with weight 0 unless drawn themselves, so
 * that its statement is complete.
 *
 * Hooks are chained, in any order with those of pg_stat_statements and
 * auto_explain: nothing here depends on these.
 *
 * Frames end in ExecutorEnd, after an error with the memory of the execution or
 * with the transaction (settle.c).  FATAL comes without either: local.c calls
 * charge_last() while the process exits.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "wait/draw.h"
#include "wait/hooks.h"
#include "wait/local.h"
#include "wait/nodes.h"
#include "wait/parameters.h"
#include "wait/process.h"
#include "wait/relations.h"
#include "wait/settle.h"
#include "wait/slot.h"
#include "wait/slow.h"
#include "wait/span.h"
#include "wait/utility.h"

/* Plans that cost more are always measured: some milliseconds. */
#define COST_LIMIT 1000.0

/* So many relations tell statements without a query id apart. */
#define MAX_NAMED 8

static ExecutorStart_hook_type previous_start = NULL;
static ExecutorRun_hook_type previous_run = NULL;
static ExecutorFinish_hook_type previous_finish = NULL;
static ExecutorEnd_hook_type previous_end = NULL;

/*
 * Is the execution measured without being drawn?  Parallel plans, top-level
 * executions of parallel workers, and plans of a high cost are.
 */
static bool
is_always_measured(const QueryDesc *query, bool toplevel)
{
	return query->plannedstmt->parallelModeNeeded ||
		(toplevel && IsParallelWorker()) ||
		query->plannedstmt->planTree->total_cost >= COST_LIMIT;
}

/*
 * The key of a statement for slow.c: the query id or, where none is computed,
 * the kind of statement and the first relations that it names.
 */
static uint64
slow_key(const QueryDesc *query, bool toplevel)
{
	const PlannedStmt *plan = query->plannedstmt;
	uint64		key = (uint64) plan->queryId;

	if (key == 0)
	{
		int			n = Min(MAX_NAMED, list_length(plan->relationOids));

		key = (uint64) plan->commandType + 1;
		for (int i = 0; i < n; i++)
			key = (key ^ list_nth_oid(plan->relationOids, i)) *
				UINT64CONST(0x100000001b3);
	}
	/* not 0, which is none */
	return key << 1 | (toplevel ? 1 : UINT64CONST(1) << 63);
}

/*
 * Is this execution drawn, one in tablespace_advisor.track_waits_sample?
 * Top-level and nested ones have a sequence each.
 */
static bool
draw(bool toplevel)
{
	static TsaDraw draws[2];
	TsaDraw    *of = &draws[toplevel];

	if (of->state == 0)
		of->state = ((uint64) MyProcPid << 32 ^
					 (uint64) GetCurrentTimestamp()) *
			UINT64CONST(0x9e3779b97f4a7c15) + toplevel + 1;
	if (of->state == 0)
		of->state = 1;
	return tsa_draw(of, tsa_track_waits_sample);
}

/* Begins to measure an execution that has been started, or does not. */
static void
begin_execution(const QueryDesc *query)
{
	bool		toplevel = tsa_wait_nesting == 0;
	bool		is_large = is_always_measured(query, toplevel);
	uint64		key = is_large ? 0 : slow_key(query, toplevel);
	bool		always = is_large || tsa_is_slow(key);
	bool		drawn = !always && draw(toplevel);
	uint32		weight = always ? 1 : drawn ? tsa_track_waits_sample : 0;
	TsaFrame   *frame = NULL;

	if ((weight > 0 || (tsa_current_frame != NULL &&
						tsa_current_frame->all_nested)) &&
		tsa_frame_ends_with(query->estate))
		frame = tsa_frame_open(query, weight, toplevel);
	tsa_local_count(weight > 0 && frame != NULL);
	if (frame == NULL)
		return;
	frame->all_nested = !always;
	frame->slow_key = key;
	tsa_frame_watch(frame, query);
}

/* Hook: starts an execution, and measuring it, but for EXPLAIN alone. */
static void
start_execution(QueryDesc *query, int eflags)
{
	if (previous_start)
		previous_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (!(eflags & EXEC_FLAG_EXPLAIN_ONLY) && tsa_wait_ready())
		begin_execution(query);
}

/*
 * Hook: runs an execution in a span, which is timed if the execution is
 * measured.  Errors leave the span and pass through.
 */
static void
run_execution(TSA_RUN_PARAMETERS)
{
	TsaFrame   *frame = tsa_frame_find(query->estate);
	TsaWaitSpan span;

	tsa_span_enter(&span, frame, frame != NULL);
	tsa_wait_nesting++;
	PG_TRY();
	{
		if (previous_run)
			previous_run(TSA_RUN_ARGUMENTS);
		else
			standard_ExecutorRun(TSA_RUN_ARGUMENTS);
	}
	PG_CATCH();
	{
		tsa_wait_nesting--;
		(void) tsa_span_leave(&span, true);
		PG_RE_THROW();
	}
	PG_END_TRY();
	tsa_wait_nesting--;
	(void) tsa_span_leave(&span, false);
}

/* Hook: runs AFTER triggers and the like, in a span as run_execution(). */
static void
finish_execution(QueryDesc *query)
{
	TsaFrame   *frame = tsa_frame_find(query->estate);
	TsaWaitSpan span;

	tsa_span_enter(&span, frame, frame != NULL);
	tsa_wait_nesting++;
	PG_TRY();
	{
		if (previous_finish)
			previous_finish(query);
		else
			standard_ExecutorFinish(query);
	}
	PG_CATCH();
	{
		tsa_wait_nesting--;
		(void) tsa_span_leave(&span, true);
		PG_RE_THROW();
	}
	PG_END_TRY();
	tsa_wait_nesting--;
	(void) tsa_span_leave(&span, false);
}

/* Reads here belong to nobody: workers of a scan that was not read up. */
static void
end_execution(QueryDesc *query)
{
	TsaFrame   *frame = tsa_frame_find(query->estate);
	TsaWaitSpan span;

	if (frame != NULL)
		tsa_frame_close(frame, true);
	if (tsa_current_frame != NULL)
		tsa_span_enter(&span, NULL, false);
	else
		span.outer = NULL;
	if (previous_end)
		previous_end(query);
	else
		standard_ExecutorEnd(query);
	if (span.outer != NULL)
		(void) tsa_span_leave(&span, false);
	if (frame != NULL && tsa_wait_nesting == 0)
		(void) tsa_local_hand_in();
}

/*
 * Callback: counts reads of maintenance before a commit; drops all frames after
 * the end of a transaction, and hands in the ledger.
 */
static void
end_transaction(XactEvent event, void *arg)
{
	(void) arg;
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
	{
		tsa_wait_before_commit();
		tsa_command_before_commit();
	}
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE ||
		event == XACT_EVENT_PARALLEL_PRE_COMMIT)
		return;
	tsa_frames_drop();
	tsa_wait_end_transaction();
	if (tsa_wait_nesting == 0)
		(void) tsa_local_hand_in();
}

/* The process ends in the middle of an execution. */
static void
charge_last(void)
{
	TsaFrame   *frame = tsa_current_frame;

	tsa_wait_aborting = true;
	if (frame != NULL && tsa_read_progress() != frame->progress)
		tsa_frame_charge_now(frame, true);
	tsa_frames_drop();
	tsa_current_frame = NULL;
}

/*
 * Takes the hooks.
 */
void
tsa_init_wait_hooks(void)
{
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = start_execution;
	previous_run = ExecutorRun_hook;
	ExecutorRun_hook = run_execution;
	previous_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = finish_execution;
	previous_end = ExecutorEnd_hook;
	ExecutorEnd_hook = end_execution;
	RegisterXactCallback(end_transaction, NULL);
	tsa_local_at_exit(charge_last);
}
