/*-------------------------------------------------------------------------
 *
 * settle.c
 *	  The end of an execution: its entries in the backend's ledger.
 *
 * The reads of a frame were added to their relations when they were charged.
 * Its end adds the executions, the hits, and the figures of the statement, and
 * passes all of it to the execution around it, since that one's statement
 * includes it: as it is if all executions in there are measured, otherwise
 * weighted.  An execution that fails adds to no statement, as in
 * pg_stat_statements.
 *
 * After an error nobody calls ExecutorEnd.  The frame is dropped then when the
 * memory of its execution goes, or when the transaction ends.  The end of the
 * subtransaction in which it began may be too early or too late for that.  A
 * cursor goes on after a subtransaction that has read it, and so do functions
 * in its query that began there.  A cursor that has failed may be closed long
 * before, and the address of its EState used again.  While a frame is dropped
 * nothing of the executor may be looked at.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "wait/frame.h"
#include "wait/local.h"
#include "wait/nodes.h"
#include "wait/relations.h"
#include "wait/settle.h"
#include "wait/slow.h"

#define MAX_NESTED 256			/* accounts of nested executions */

/* Adds an account of a nested execution to those of the one around it. */
static void
add_nested(TsaFrame *frame, const TsaWaitAccount *account, uint32 weight)
{
	TsaWaitAccount *own = frame->nested.items;
	int32		i = 0;

	if (account->figures.reads == 0 && account->figures.waited_ns == 0)
		return;
	while (i < frame->nested.n && (own[i].relid != account->relid ||
								   own[i].access != account->access))
		i++;
	if (i == MAX_NESTED ||
		!tsa_array_grow(&frame->nested, sizeof(TsaWaitAccount), i + 1))
		return;
	own = (TsaWaitAccount *) frame->nested.items + i;
	own->relid = account->relid;
	own->access = account->access;
	own->figures.reads += account->figures.reads * weight;
	own->figures.waited_ns += account->figures.waited_ns * weight;
}

/* The figures times the frame's weight: one execution stands for so many. */
static TsaWaitFigures
weigh(const TsaFrame *frame, TsaWaitFigures figures)
{
	figures.calls *= frame->weight;
	figures.hits *= frame->weight;
	figures.reads *= frame->weight;
	figures.waited_ns *= frame->weight;
	return figures;
}

/* Adds the shares of relations to the statement. */
static void
add_shares(TsaFrame *frame, const TsaWaitArray *accounts)
{
	for (int32 i = 0; i < accounts->n; i++)
	{
		TsaWaitAccount *account = (TsaWaitAccount *) accounts->items + i;
		TsaWaitFigures figures = account->figures;

		if (figures.reads == 0 && figures.waited_ns == 0)
			continue;
		figures.calls = frame->is_worker ? 0 : 1;
		figures = weigh(frame, figures);
		tsa_local_add_share(&frame->statement, account->relid,
							account->access, &figures);
	}
}

/* Adds the figures of a frame to the backend's ledger. */
static void
add_frame(TsaFrame *frame, bool completed)
{
	TsaWaitFigures total = weigh(frame, frame->total);

	for (int32 i = 0; i < frame->accounts.n; i++)
	{
		TsaWaitAccount *account = TSA_ACCOUNT(frame, i);
		TsaWaitFigures figures = {.calls = 1,.hits = account->figures.hits};

		figures = weigh(frame, figures);
		tsa_local_add_relation(account->relid, frame->statement.class,
							   account->access, &figures, NULL);
	}
	if (!completed || frame->statement.queryid == 0)
		return;
	total.calls = frame->is_worker ? 0 : frame->weight;
	tsa_local_add_statement(&frame->statement, &total, frame->is_worker ? 0 :
							frame->elapsed_ns * frame->weight);
	add_shares(frame, &frame->accounts);
	add_shares(frame, &frame->nested);
}

/* Ends a frame without a look at its relations. */
static void
end_frame(TsaFrame *frame, bool completed)
{
	TsaFrame   *outer = tsa_now.frame;

	tsa_learn_waits(frame->slow_key, frame->total.reads,
					frame->total.waited_ns);
	if (frame->weight > 0)
		add_frame(frame, completed);
	if (outer != NULL && outer != frame)
	{
		/* those that are not drawn are missing: these stand for them */
		uint32		weight = outer->all_nested ? 1 : frame->weight;

		for (int32 i = 0; i < frame->accounts.n; i++)
			add_nested(outer, TSA_ACCOUNT(frame, i), weight);
		for (int32 i = 0; i < frame->nested.n; i++)
			add_nested(outer, (TsaWaitAccount *) frame->nested.items + i,
					   weight);
	}
	tsa_frame_release(frame);
}

/*
 * Ends a frame while its relations are open.  completed is false after an
 * error: the statement was not executed then.
 */
void
tsa_frame_close(TsaFrame *frame, bool completed)
{
	if (completed)
	{
		tsa_frame_take_hits(frame);
		tsa_frame_unwatch(frame);
	}
	end_frame(frame, completed);
}

/* The memory of an execution goes, which has perhaps ended before. */
static void
drop_with_memory(void *estate)
{
	TsaFrame   *frame = tsa_frame_find(estate);

	if (frame != NULL)
		end_frame(frame, false);
}

/*
 * Has the frame that an execution is about to get dropped with the memory of
 * the execution.  False without memory.
 */
bool
tsa_frame_ends_with(EState *estate)
{
	MemoryContextCallback *callback;

	callback = MemoryContextAllocExtended(estate->es_query_cxt,
										  sizeof(*callback), MCXT_ALLOC_NO_OOM);
	if (callback == NULL)
		return false;
	callback->func = drop_with_memory;
	callback->arg = estate;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, callback);
	return true;
}

/*
 * Drops all frames, at the end of a transaction.
 */
void
tsa_frames_drop(void)
{
	TsaFrame   *frame;

	while ((frame = tsa_frame_any()) != NULL)
	{
		if (tsa_now.frame == frame)
			tsa_now.frame = NULL;
		end_frame(frame, false);
	}
}
