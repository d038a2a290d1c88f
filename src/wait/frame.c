/*-------------------------------------------------------------------------
 *
 * frame.c
 *	  Executions that are being measured: making, finding and ending them.
 *
 * Frames are found by their EState, in a hash table: a session may have
 * thousands of open cursors.  They are made with malloc() and kept for the next
 * execution.  If there is no memory, an execution is not measured.
 *
 * The reads of a frame were added to their relations when they were charged.
 * Its end adds the executions, the hits, and what belongs to the statement,
 * and passes all of it to the execution around it, whose statement includes
 * it: as it is if all executions in there are measured, otherwise weighted.  An
 * execution that fails adds to no statement, as in pg_stat_statements.
 *
 * A frame whose execution ends by an abort is dropped at the end of its
 * (sub)transaction.  By then nothing of the executor may be looked at.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "compat.h"
#include "wait/frame.h"
#include "wait/local.h"
#include "wait/nodes.h"
#include "wait/relations.h"
#include "wait/utility.h"

#define BUCKETS 256
#define MAX_FREE 16				/* frames kept for later */
#define MAX_KEPT_ITEMS 256		/* of an array of such a frame */
#define MAX_NESTED 256			/* accounts of nested executions */

TsaFrame   *tsa_current_frame = NULL;

static TsaFrame * buckets[BUCKETS];
static int	nframes = 0;
static TsaFrame * free_frames = NULL;
static int	nfree = 0;

static TsaFrame * *
bucket_of(const EState *estate)
{
	return &buckets[((uintptr_t) estate >> 4) * UINT64CONST(0x9e3779b97f4a7c15)
					>> 56];
}

/*
 * Makes room for n items; new ones are zeros.  False if there is no memory.
 */
bool
tsa_array_grow(TsaWaitArray * array, size_t item, int32 n)
{
	int32		max = Max(array->max, 8);
	void	   *items;

	if (n <= array->max)
		return true;
	while (max < n)
		max *= 2;
	items = realloc(array->items, max * item);
	if (items == NULL)
		return false;
	memset((char *) items + array->max * item, 0, (max - array->max) * item);
	array->items = items;
	array->max = max;
	return true;
}

/* Empties an array; zeros what was used, frees what is large. */
static void
reset_array(TsaWaitArray * array, size_t item)
{
	if (array->max > MAX_KEPT_ITEMS)
	{
		free(array->items);
		memset(array, 0, sizeof(*array));
		return;
	}
	if (array->n > 0)
		memset(array->items, 0, array->n * item);
	array->n = 0;
}

/*
 * The frame of an execution, or NULL if it is not measured.
 */
TsaFrame *
tsa_frame_find(const EState *estate)
{
	TsaFrame   *frame;

	if (nframes == 0)
		return NULL;
	frame = *bucket_of(estate);
	while (frame != NULL && frame->estate != estate)
		frame = frame->next;
	return frame;
}

/* Takes a frame out of its bucket. */
static void
unlink_frame(TsaFrame * frame)
{
	TsaFrame  **link = bucket_of(frame->estate);

	while (*link != NULL && *link != frame)
		link = &(*link)->next;
	if (*link == frame)
	{
		*link = frame->next;
		nframes--;
	}
}

/* Keeps a frame for later, or frees it. */
static void
release_frame(TsaFrame * frame)
{
	TsaFrame	kept;

	/* the map is larger than its number of entries says */
	frame->map.n = frame->nmapped > 0 ? frame->map.max : 0;
	reset_array(&frame->nodes, sizeof(TsaWaitNode));
	reset_array(&frame->slots, sizeof(TsaWaitSlot));
	reset_array(&frame->accounts, sizeof(TsaWaitAccount));
	reset_array(&frame->nested, sizeof(TsaWaitAccount));
	reset_array(&frame->map, sizeof(int32));
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
	kept = *frame;
	memset(frame, 0, sizeof(*frame));
	frame->nodes = kept.nodes;
	frame->slots = kept.slots;
	frame->accounts = kept.accounts;
	frame->nested = kept.nested;
	frame->map = kept.map;
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
	TsaFrame   *frame = tsa_frame_find(query->estate);

	/* left behind by an execution that nobody has ended */
	if (frame != NULL)
		tsa_frame_close(frame, false);
	frame = free_frames;
	if (frame != NULL)
	{
		free_frames = frame->next;
		nfree--;
	}
	else if ((frame = calloc(1, sizeof(TsaFrame))) == NULL)
		return NULL;
	frame->estate = query->estate;
	frame->subxact = GetCurrentSubTransactionId();
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
	nframes++;
	return frame;
}

/* Adds an account of a nested execution to those of the one around it. */
static void
add_nested(TsaFrame * frame, const TsaWaitAccount * account, uint32 weight)
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
	frame->nested.n = Max(frame->nested.n, i + 1);
	own->relid = account->relid;
	own->access = account->access;
	own->figures.reads += account->figures.reads * weight;
	own->figures.waited_ns += account->figures.waited_ns * weight;
}

static TsaWaitFigures
weigh(const TsaFrame * frame, TsaWaitFigures figures)
{
	figures.calls *= frame->weight;
	figures.hits *= frame->weight;
	figures.reads *= frame->weight;
	figures.waited_ns *= frame->weight;
	return figures;
}

/* Adds the shares of relations to the statement. */
static void
add_shares(TsaFrame * frame, const TsaWaitArray * accounts)
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

/* Adds what a frame has measured to the backend's ledger. */
static void
add_frame(TsaFrame * frame, bool completed)
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

/* Ends a frame whose relations need not be looked at. */
static void
end_frame(TsaFrame * frame, bool completed)
{
	TsaFrame   *outer = tsa_current_frame;

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
	unlink_frame(frame);
	release_frame(frame);
}

/*
 * Ends a frame while its relations are open.  completed is false after an
 * error: the statement was not executed then.
 */
void
tsa_frame_close(TsaFrame * frame, bool completed)
{
	if (completed)
	{
		tsa_frame_take_hits(frame);
		tsa_frame_unwatch(frame);
	}
	end_frame(frame, completed);
}

/*
 * Drops the frames of a subtransaction that aborts, or all of them at the end
 * of a transaction (InvalidSubTransactionId).
 */
void
tsa_frames_drop(SubTransactionId subxact)
{
	if (nframes == 0)
		return;
	for (int i = 0; i < BUCKETS; i++)
	{
		TsaFrame   *frame = buckets[i];

		while (frame != NULL)
		{
			TsaFrame   *next = frame->next;

			if (subxact == InvalidSubTransactionId || frame->subxact == subxact)
			{
				if (tsa_current_frame == frame)
					tsa_current_frame = NULL;
				end_frame(frame, false);
			}
			frame = next;
		}
	}
}

/*
 * Frames of a subtransaction that commits belong to the one around it.
 */
void
tsa_frames_reassign(SubTransactionId from, SubTransactionId to)
{
	if (nframes == 0)
		return;
	for (int i = 0; i < BUCKETS; i++)
		for (TsaFrame * frame = buckets[i]; frame != NULL; frame = frame->next)
			if (frame->subxact == from)
				frame->subxact = to;
}
