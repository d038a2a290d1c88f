/*-------------------------------------------------------------------------
 *
 * frame.c
 *	  Executions that are being measured: making, finding and releasing them.
 *
 * Frames are found by their EState, in a hash table: a session may have
 * thousands of open cursors.  They are made with malloc() and kept for the next
 * execution.  If there is no memory, an execution is not measured.  A frame
 * ends before the memory of its EState does (settle.c), which may be another
 * EState's then.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "compat.h"
#include "wait/caller.h"
#include "wait/frame.h"

#define BUCKETS 256
#define MAX_FREE 16				/* frames kept for later */
#define MAX_KEPT_ITEMS 256		/* of an array of such a frame */

static TsaFrame *buckets[BUCKETS];
static TsaFrame *free_frames = NULL;
static int	nfree = 0;

/* The list of frames that has an execution's, if it has one. */
static TsaFrame **
bucket_of(const EState *estate)
{
	return &buckets[((uintptr_t) estate >> 4) * UINT64CONST(0x9e3779b97f4a7c15)
					>> 56];
}

/* Makes an array larger.  False if there is no memory. */
static pg_noinline bool
enlarge(TsaWaitArray *array, size_t item, int32 n)
{
	int32		max = Max(array->max, 8);
	void	   *items;

	while (max < n)
		max *= 2;
	items = realloc(array->items, max * item);
	if (items == NULL)
		return false;
	array->items = items;
	array->max = max;
	return true;
}

/*
 * Makes it an array of n items at least; new ones are zeros.  False if there is
 * no memory.
 */
bool
tsa_array_grow(TsaWaitArray *array, size_t item, int32 n)
{
	if (n <= array->n)
		return true;
	if (n > array->max && !enlarge(array, item, n))
		return false;
	memset((char *) array->items + array->n * item, 0, (n - array->n) * item);
	array->n = n;
	return true;
}

/* Empties an array; frees a large one. */
static inline void
empty_array(TsaWaitArray *array)
{
	array->n = 0;
	if (array->max > MAX_KEPT_ITEMS)
	{
		free(array->items);
		array->items = NULL;
		array->max = 0;
	}
}

/*
 * tsa_frame_find() if there are frames.
 */
TsaFrame *
tsa_frame_look_up(const EState *estate)
{
	TsaFrame   *frame = *bucket_of(estate);

	while (frame != NULL && frame->estate != estate)
		frame = frame->next;
	return frame;
}

/* Takes a frame out of its bucket. */
static void
unlink_frame(TsaFrame *frame)
{
	TsaFrame  **link = bucket_of(frame->estate);

	while (*link != NULL && *link != frame)
		link = &(*link)->next;
	if (*link == frame)
	{
		*link = frame->next;
		tsa_now.nframes--;
	}
}

/*
 * Ends a frame: keeps it for later, or frees it.
 */
void
tsa_frame_release(TsaFrame *frame)
{
	/* an error while it was being entered may have left it behind */
	if (tsa_now.frame == frame)
		tsa_now.frame = NULL;
	unlink_frame(frame);
	if (nfree >= MAX_FREE)
	{
		free(frame->nodes.items);
		free(frame->slots.items);
		free(frame->accounts.items);
		free(frame->nested.items);
		free(frame->map.items);
		free(frame);
		return;
	}
	memset(frame, 0, offsetof(TsaFrame, nodes));
	empty_array(&frame->nodes);
	empty_array(&frame->slots);
	empty_array(&frame->accounts);
	empty_array(&frame->nested);
	empty_array(&frame->map);
	frame->next = free_frames;
	free_frames = frame;
	nfree++;
}

/*
 * Makes a frame for an execution that has been started.  weight: how many
 * executions it stands for.  Returns NULL if there is no memory.
 */
TsaFrame *
tsa_frame_open(const QueryDesc *query, uint32 weight, bool toplevel)
{
	TsaFrame   *frame = free_frames;

	Assert(tsa_frame_find(query->estate) == NULL);
	if (frame != NULL)
	{
		free_frames = frame->next;
		nfree--;
	}
	else if ((frame = calloc(1, sizeof(TsaFrame))) == NULL)
		return NULL;
	frame->estate = query->estate;
	frame->statement.queryid = (uint64) query->plannedstmt->queryId;
	frame->statement.dbid = MyDatabaseId;
	frame->statement.userid = GetUserId();
	frame->statement.toplevel = toplevel;
	frame->statement.class = tsa_wait_class();
	frame->weight = weight;
	frame->is_worker = IsParallelWorker();
	frame->running = frame->remainder = frame->last_account = TSA_NONE;
	frame->next = *bucket_of(frame->estate);
	*bucket_of(frame->estate) = frame;
	tsa_now.nframes++;
	return frame;
}

/*
 * Any frame, or NULL if there is none.
 */
TsaFrame *
tsa_frame_any(void)
{
	if (tsa_now.nframes == 0)
		return NULL;
	for (int i = 0; i < BUCKETS; i++)
		if (buckets[i] != NULL)
			return buckets[i];
	return NULL;
}

/*
 * Calls a function for each bitmap index scan below a node, or the node itself,
 * that the frame knows.
 */
void
tsa_for_bitmap_scans(TsaFrame *frame, PlanState *state,
					 void (*scan) (TsaFrame *frame, TsaWaitNode *node,
								   void *arg),
					 void *arg)
{
	PlanState **children = NULL;
	int			n = 0;
	int			id;

	if (state == NULL)
		return;
	if (IsA(state, BitmapAndState))
	{
		children = ((BitmapAndState *) state)->bitmapplans;
		n = ((BitmapAndState *) state)->nplans;
	}
	else if (IsA(state, BitmapOrState))
	{
		children = ((BitmapOrState *) state)->bitmapplans;
		n = ((BitmapOrState *) state)->nplans;
	}
	for (int i = 0; i < n; i++)
		tsa_for_bitmap_scans(frame, children[i], scan, arg);
	id = state->plan->plan_node_id;
	if (IsA(state, BitmapIndexScanState) && id < frame->nodes.n &&
		TSA_NODE(frame, id)->state == state)
		scan(frame, TSA_NODE(frame, id), arg);
}
