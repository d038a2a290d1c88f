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
 * An execution that is not measured costs a few tests in each hook: a number
 * counted down to the next one that is drawn, and no frame.  It has no span
 * unless something around it would count its reads as its own
 * (tsa_span_is_needed()).  That it is nested has always to be known, so it runs
 * in PG_TRY.  Whether slow statements are known, and frames exist, is asked
 * before anything is looked up (now.h).
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
#include "state/prepare_guard.h"
#include "wait/caller.h"
#include "wait/draw.h"
#include "wait/hooks.h"
#include "wait/local.h"
#include "wait/nodes.h"
#include "wait/now.h"
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

/* Of nested and of top-level executions. */
static TsaDraw draws[2];

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
 */
static bool
draw(bool toplevel)
{
	TsaDraw    *of = &draws[toplevel];

	if (tsa_draw_passes(of, tsa_now.track_waits_sample))
		return false;
	if (of->state == 0)
		of->state = (((uint64) MyProcPid << 32 ^
					  (uint64) GetCurrentTimestamp()) *
					 UINT64CONST(0x9e3779b97f4a7c15) + toplevel) | 1;
	return tsa_draw(of, tsa_now.track_waits_sample);
}

/*
 * Begins to measure an execution that has been started.  Without weight it is
 * measured for the one around it.
 */
static void
measure_execution(const QueryDesc *query, bool toplevel, bool is_large,
				  uint32 weight, bool all_nested)
{
	TsaFrame   *frame = NULL;

	if (tsa_frame_ends_with(query->estate))
		frame = tsa_frame_open(query, weight, toplevel);
	if (frame == NULL)
		return;
	tsa_local_measured += weight > 0;
	frame->all_nested = all_nested;
	frame->slow_key = is_large ? 0 : slow_key(query, toplevel);
	tsa_frame_watch(frame, query);
}

/* Measures an execution that has been started, if it is to be. */
static pg_noinline void
choose_execution(const QueryDesc *query)
{
	bool		toplevel = tsa_now.nesting == 0;
	bool		is_large = is_always_measured(query, toplevel);
	bool		always = is_large;
	bool		drawn;

	if (tsa_now.slow_statements > 0 && !always)
		always = tsa_is_slow(slow_key(query, toplevel));
	drawn = !always && draw(toplevel);
	if (always || drawn || (tsa_now.frame != NULL &&
							tsa_now.frame->all_nested))
		measure_execution(query, toplevel, is_large, always ? 1 :
						  drawn ? tsa_now.track_waits_sample : 0, !always);
}

/* Hook: starts an execution, and measuring it, but for EXPLAIN alone. */
static void
start_execution(QueryDesc *query, int eflags)
{
	if (previous_start)
		previous_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) || !tsa_wait_ready())
		return;
	tsa_now.seen++;
	/* the short way of choose_execution() to none of its cases */
	if (tsa_now.slow_statements > 0 || tsa_now.frame != NULL ||
		is_always_measured(query, tsa_now.nesting == 0) ||
		!tsa_draw_passes(&draws[tsa_now.nesting == 0],
						 tsa_now.track_waits_sample))
		choose_execution(query);
}

/*
 * Runs an execution, in a span if it needs one, which is timed if the execution
 * is measured.  Errors leave the span and pass through.
 */
static pg_noinline void
run_in_span(TSA_RUN_PARAMETERS)
{
	TsaFrame   *frame = tsa_frame_find(query->estate);
	bool		in_span = tsa_span_is_needed(frame);
	TsaWaitSpan span;

	if (in_span)
		tsa_span_enter(&span, frame, frame != NULL);
	tsa_now.nesting++;
	PG_TRY();
	{
		if (previous_run)
			previous_run(TSA_RUN_ARGUMENTS);
		else
			standard_ExecutorRun(TSA_RUN_ARGUMENTS);
	}
	PG_CATCH();
	{
		tsa_now.nesting--;
		if (in_span)
			(void) tsa_span_leave(&span, true);
		PG_RE_THROW();
	}
	PG_END_TRY();
	tsa_now.nesting--;
	if (!in_span)
		return;
	(void) tsa_span_leave(&span, false);
	if (tsa_now.nesting == 0)
		tsa_local_run_ended();
}

/* Hook: runs an execution. */
static void
run_execution(TSA_RUN_PARAMETERS)
{
	if (unlikely(tsa_now.nframes > 0 || tsa_span_is_needed(NULL)))
	{
		run_in_span(TSA_RUN_ARGUMENTS);
		return;
	}
	tsa_now.nesting++;
	PG_TRY();
	{
		if (previous_run)
			previous_run(TSA_RUN_ARGUMENTS);
		else
			standard_ExecutorRun(TSA_RUN_ARGUMENTS);
	}
	PG_CATCH();
	{
		tsa_now.nesting--;
		PG_RE_THROW();
	}
	PG_END_TRY();
	tsa_now.nesting--;
}

/* ExecutorFinish, in a span as run_execution(). */
static pg_noinline void
finish_nested(QueryDesc *query, ExecutorFinish_hook_type finish)
{
	TsaFrame   *frame = tsa_frame_find(query->estate);
	bool		in_span = tsa_span_is_needed(frame);
	TsaWaitSpan span;

	if (in_span)
		tsa_span_enter(&span, frame, frame != NULL);
	tsa_now.nesting++;
	PG_TRY();
	{
		finish(query);
	}
	PG_CATCH();
	{
		tsa_now.nesting--;
		if (in_span)
			(void) tsa_span_leave(&span, true);
		PG_RE_THROW();
	}
	PG_END_TRY();
	tsa_now.nesting--;
	if (in_span)
		(void) tsa_span_leave(&span, false);
}

/*
 * May a statement have AFTER triggers to run?  A foreign key is one, of both
 * tables.  Partitions that rows were routed to have their own.
 */
static inline bool
may_have_triggers(const EState *estate)
{
	ListCell   *cell;

	if (estate->es_top_eflags & EXEC_FLAG_SKIP_TRIGGERS)
		return false;
	if (estate->es_tuple_routing_result_relations != NIL)
		return true;
	foreach(cell, estate->es_opened_result_relations)
	{
		if (((const ResultRelInfo *) lfirst(cell))->ri_TrigDesc != NULL)
			return true;
	}
	return false;
}

/*
 * Hook: runs AFTER triggers and modifying CTEs.  Most statements have neither,
 * and execute nothing here.
 */
static void
finish_execution(QueryDesc *query)
{
	const EState *estate = query->estate;
	ExecutorFinish_hook_type finish = previous_finish ? previous_finish :
	standard_ExecutorFinish;

	if (estate->es_auxmodifytables == NIL && !may_have_triggers(estate))
		finish(query);
	else
		finish_nested(query, finish);
}

/* ExecutorEnd in a span, which errors leave and pass through. */
static void
end_in_span(QueryDesc *query, ExecutorEnd_hook_type end)
{
	TsaWaitSpan span;

	tsa_span_enter(&span, NULL, false);
	PG_TRY();
	{
		end(query);
	}
	PG_CATCH();
	{
		(void) tsa_span_leave(&span, true);
		PG_RE_THROW();
	}
	PG_END_TRY();
	(void) tsa_span_leave(&span, false);
}

/*
 * ExecutorEnd of an execution that is measured, or beside one.  Reads here
 * belong to nobody: workers of a scan that was not read up.
 */
static pg_noinline void
end_measured(QueryDesc *query, ExecutorEnd_hook_type end)
{
	TsaFrame   *frame = tsa_frame_find(query->estate);

	if (frame != NULL)
	{
		if (tsa_now.nesting == 0)
			tsa_local_statement_measured(frame->elapsed_ns);
		tsa_frame_close(frame, true);
	}
	if (tsa_now.frame != NULL)
		end_in_span(query, end);
	else
		end(query);
}

/*
 * Hook: ends an execution, and hands in what is due after a top-level one.
 * Executions inside of it may have read though it is not measured itself.
 */
static void
end_execution(QueryDesc *query)
{
	ExecutorEnd_hook_type end = previous_end ? previous_end :
	standard_ExecutorEnd;

	if (tsa_now.nframes == 0)
		end(query);
	else
		end_measured(query, end);
	if (tsa_now.nesting == 0)
		tsa_local_statement_ended();
}

/*
 * Counts reads of maintenance before a commit; drops all frames after the end
 * of a transaction, and hands in the ledger.
 */
static pg_noinline void
end_measured_transaction(XactEvent event)
{
	if (event == XACT_EVENT_PRE_PREPARE)
		tsa_refuse_prepare();
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
	{
		if (!tsa_is_session())
			tsa_wait_before_commit();
		tsa_command_before_commit();
	}
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE ||
		event == XACT_EVENT_PARALLEL_PRE_COMMIT)
		return;
	if (tsa_now.nframes > 0)
		tsa_frames_drop();
	if (!tsa_is_session())
		tsa_wait_end_transaction();
	if (tsa_now.nesting == 0)
		tsa_now.spans = 0;		/* one that failed when it was entered */
	tsa_local_statement_ended();	/* also inside of a procedure */
}

/*
 * Callback: ends a transaction, unless it is a session's with nothing to do.
 * A command that looks at its locks before a commit has a span.
 */
static void
end_transaction(XactEvent event, void *arg)
{
	(void) arg;
	if (unlikely(tsa_now.spans > 0 || tsa_now.nframes > 0 || tsa_now.is_due ||
				 !tsa_is_session() || event == XACT_EVENT_PRE_PREPARE))
		end_measured_transaction(event);
}

/* The process ends in the middle of an execution. */
static void
charge_last(void)
{
	TsaFrame   *frame = tsa_now.frame;

	tsa_wait_aborting = true;
	if (frame != NULL && tsa_read_progress() != frame->progress)
		tsa_frame_charge_now(frame, true);
	tsa_frames_drop();
	tsa_now.frame = NULL;
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
