/*-------------------------------------------------------------------------
 *
 * nodes.c
 *	  Which node of a plan was reading: wrappers around the functions of scans
 *	  and of ModifyTable.
 *
 * ExecProcNode() calls ExecProcNodeFirst() at first, which takes
 * ExecProcNodeReal over: the executor's own instrumentation works like that.
 * So ExecProcNodeReal is replaced before the first call, and a function that
 * replaced it before is called from here.  One that replaces it later calls
 * this.
 *
 * A wrapper compares one counter on entry and on exit, and charges the reads
 * in between to the node that was running.  It works for executions that are
 * not the current one (if code calls nodes without ExecutorRun()): it finds
 * the frame by the node's EState, and does not charge then.
 *
 * The largest sequential scan of a SELECT is not wrapped: it gets the reads
 * that belong to no other node.  Only its first call is looked at, and those
 * of its siblings below an Append, since these are read one after the other.
 *
 * Bitmap index scans are not called by ExecProcNode().  They count buffers
 * themselves if they have an Instrumentation; they get one unless EXPLAIN
 * gave them one.
 *
 * Slots of relations are made when a node is called first, so that a plan with
 * a thousand partitions costs as much as the partitions that it reads.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/rel.h"

#include "compat.h"
#include "wait/nodes.h"
#include "wait/relations.h"
#include "wait/routed.h"
#include "wait/slot.h"

/* So many modified tables have their counters looked up at the start. */
#define MAX_RESULTS 8

/* The state of a walk over the nodes of a plan. */
typedef struct Walk
{
	TsaFrame   *frame;
	bool		is_select;
	bool		under_append;	/* the node that is looked at next */
	int32		largest;		/* sequential scan, or TSA_NONE */
	double		largest_rows;
} Walk;

/* For tsa_for_bitmap_scans(): notes which index it reads. */
static void
note_index(TsaFrame *frame, TsaWaitNode *node, void *arg)
{
	BitmapIndexScanState *scan = (BitmapIndexScanState *) node->state;

	(void) arg;
	node->index = tsa_frame_slot(frame, scan->biss_RelationDesc,
								 TSA_ACCESS_INDEX, true);
}

/*
 * Makes slots for a table that is modified and for its indexes, which are
 * opened later.
 */
static void
start_result(TsaFrame *frame, ResultRelInfo *result)
{
	Relation	table = result->ri_RelationDesc;
	int32		slot = tsa_frame_slot(frame, table, TSA_ACCESS_MODIFIED, false);
	List	   *indexes;
	ListCell   *cell;

	if (slot == TSA_NONE)
		return;
	TSA_SLOT(frame, slot)->is_result = true;
	tsa_frame_toast(frame, slot);
	indexes = RelationGetIndexList(table);
	foreach(cell, indexes)
	{
		slot = tsa_frame_slot_of(frame, lfirst_oid(cell), TSA_ACCESS_MODIFIED,
								 true);
		if (slot != TSA_NONE)
			TSA_SLOT(frame, slot)->is_result = true;
	}
	list_free(indexes);
}

/* Makes slots for partitions that rows of the table were routed to lately. */
static void
start_routed(TsaFrame *frame, const ModifyTableState *state)
{
	Relation	root = state->rootResultRelInfo->ri_RelationDesc;

	if (root->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		tsa_frame_routed(frame, RelationGetRelid(root));
}

/* A node is called for the first time: makes the slots of its relations. */
static void
start_node(TsaFrame *frame, TsaWaitNode *node)
{
	PlanState  *state = node->state;
	TsaWaitAccess access = TSA_ACCESS_OTHER;
	Relation	index = NULL;

	node->started = true;
	if (IsA(state, ModifyTableState))
	{
		node->access = TSA_ACCESS_MODIFIED;
		for (int i = 0; i < Min(MAX_RESULTS,
								((ModifyTableState *) state)->mt_nrels); i++)
			start_result(frame,
						 &((ModifyTableState *) state)->resultRelInfo[i]);
		start_routed(frame, (ModifyTableState *) state);
		return;
	}
	if (IsA(state, SeqScanState) || IsA(state, SampleScanState))
		access = TSA_ACCESS_SEQUENTIAL;
	else if (IsA(state, BitmapHeapScanState))
	{
		access = TSA_ACCESS_HEAP_BY_BITMAP;
		tsa_for_bitmap_scans(frame, outerPlanState(state), note_index, NULL);
	}
	else if (IsA(state, IndexScanState))
		index = ((IndexScanState *) state)->iss_RelationDesc;
	else if (IsA(state, IndexOnlyScanState))
		index = ((IndexOnlyScanState *) state)->ioss_RelationDesc;
	if (index != NULL)
	{
		access = TSA_ACCESS_HEAP_BY_INDEX;
		node->index = tsa_frame_slot(frame, index, TSA_ACCESS_INDEX, true);
	}
	node->access = access;
	node->heap = tsa_frame_slot(frame,
								((ScanState *) state)->ss_currentRelation,
								access, false);
	tsa_frame_toast(frame, node->heap);
}

/* The frame of a node, which is always there while the node can be called. */
static TsaFrame *
frame_of(const PlanState *state)
{
	if (likely(tsa_now.frame != NULL &&
			   tsa_now.frame->estate == state->state))
		return tsa_now.frame;
	return tsa_frame_find(state->state);
}

/* Stands for the function of a node. */
static TupleTableSlot *
execute_node(PlanState *state)
{
	TsaFrame   *frame = frame_of(state);
	int32		number = state->plan->plan_node_id;
	ExecProcNodeMtd execute;
	TupleTableSlot *result;
	int32		outer;

	if (unlikely(frame == NULL))
		elog(ERROR, "execution of node %d is not known", number);
	execute = TSA_NODE(frame, number)->execute;
	if (unlikely(frame != tsa_now.frame))
		return execute(state);
	tsa_frame_charge(frame);
	if (unlikely(!TSA_NODE(frame, number)->started))
		start_node(frame, TSA_NODE(frame, number));
	outer = frame->running;
	frame->running = number;
	result = execute(state);
	tsa_frame_charge(frame);
	frame->running = outer;
	return result;
}

/* Stands for a node's function in its first call, the only one looked at. */
static TupleTableSlot *
execute_first(PlanState *state)
{
	TsaFrame   *frame = frame_of(state);
	int32		number = state->plan->plan_node_id;
	ExecProcNodeMtd execute;

	if (unlikely(frame == NULL))
		elog(ERROR, "execution of node %d is not known", number);
	execute = TSA_NODE(frame, number)->execute;
	if (state->ExecProcNodeReal == execute_first)
		state->ExecProcNodeReal = execute;
	if (state->ExecProcNode == execute_first)
		state->ExecProcNode = execute;
	if (frame == tsa_now.frame)
	{
		tsa_frame_charge(frame);
		if (!TSA_NODE(frame, number)->started)
			start_node(frame, TSA_NODE(frame, number));
		frame->remainder = number;
	}
	return execute(state);
}

/* Does a node read by itself? */
static bool
reads(const PlanState *state)
{
	switch (nodeTag(state))
	{
		case T_SeqScanState:
		case T_SampleScanState:
		case T_IndexScanState:
		case T_IndexOnlyScanState:
		case T_BitmapIndexScanState:
		case T_BitmapHeapScanState:
		case T_TidScanState:
		case T_TidRangeScanState:
		case T_ForeignScanState:
		case T_CustomScanState:
		case T_ModifyTableState:
			return true;
		default:
			return false;
	}
}

/* Keeps a node, unless its number is taken.  NULL if it is not looked at. */
static TsaWaitNode *
keep_node(TsaFrame *frame, PlanState *state)
{
	int			id = state->plan->plan_node_id;
	TsaWaitNode *node;

	if (id < 0 ||
		!tsa_array_grow(&frame->nodes, sizeof(TsaWaitNode), id + 1))
		return NULL;
	node = TSA_NODE(frame, id);
	if (node->state != NULL)
		return NULL;
	node->state = state;
	node->execute = state->ExecProcNodeReal;
	node->heap = node->index = TSA_NONE;
	return node;
}

/* For planstate_tree_walker(): keeps a node that reads, and those below it. */
static bool
watch_node(PlanState *state, void *context)
{
	Walk	   *walk = context;
	bool		under_append = walk->under_append;
	TsaWaitNode *node;

	if (state == NULL)
		return false;
	if (IsA(state, GatherState) || IsA(state, GatherMergeState))
		walk->frame->has_gather = true;
	if (reads(state) && (node = keep_node(walk->frame, state)) != NULL)
	{
		if (IsA(state, BitmapIndexScanState))
		{
			if (state->instrument == NULL)
				tsa_count_buffers_of_node(state);
		}
		else
			state->ExecProcNodeReal = execute_node;
		node->under_append = under_append;
		if (IsA(state, SeqScanState))
		{
			if (walk->largest == TSA_NONE ||
				state->plan->plan_rows > walk->largest_rows)
			{
				walk->largest = state->plan->plan_node_id;
				walk->largest_rows = state->plan->plan_rows;
			}
		}
	}
	walk->under_append = IsA(state, AppendState);
	(void) planstate_tree_walker(state, watch_node, walk);
	walk->under_append = under_append;
	return false;
}

/* Looks at the first call only of the largest scan and of its siblings. */
static void
spare_largest(Walk *walk)
{
	TsaFrame   *frame = walk->frame;
	TsaWaitNode *largest = TSA_NODE(frame, walk->largest);

	if (!largest->under_append)
	{
		largest->state->ExecProcNodeReal = execute_first;
		return;
	}
	for (int32 i = 0; i < frame->nodes.n; i++)
	{
		TsaWaitNode *node = TSA_NODE(frame, i);

		if (node->state != NULL && node->under_append &&
			IsA(node->state, SeqScanState))
			node->state->ExecProcNodeReal = execute_first;
	}
}

/*
 * Has the nodes of an execution looked at that has been started.
 */
void
tsa_frame_watch(TsaFrame *frame, const QueryDesc *query)
{
	Walk		walk = {
		.frame = frame,
		.is_select = query->operation == CMD_SELECT &&
		!query->plannedstmt->hasModifyingCTE,
		.largest = TSA_NONE
	};
	MemoryContext old = MemoryContextSwitchTo(frame->estate->es_query_cxt);

	(void) watch_node(query->planstate, &walk);
	MemoryContextSwitchTo(old);
	if (walk.is_select && walk.largest != TSA_NONE)
		spare_largest(&walk);
}

/*
 * Gives the nodes of an execution their own functions back.
 */
void
tsa_frame_unwatch(TsaFrame *frame)
{
	for (int32 i = 0; i < frame->nodes.n; i++)
	{
		TsaWaitNode *node = TSA_NODE(frame, i);
		PlanState  *state = node->state;

		if (state == NULL)
			continue;
		if (state->ExecProcNodeReal == execute_node ||
			state->ExecProcNodeReal == execute_first)
			state->ExecProcNodeReal = node->execute;
		if (state->ExecProcNode == execute_node ||
			state->ExecProcNode == execute_first)
			state->ExecProcNode = node->execute;
	}
}
