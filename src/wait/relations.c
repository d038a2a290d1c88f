/*-------------------------------------------------------------------------
 *
 * relations.c
 *	  Which relation was read: by this session's own counters.
 *
 * pgBufferUsage says how many blocks were read and how long that took.  The
 * counters of each open relation that wait to be sent to the statistics
 * (blocks fetched minus blocks found) say which relation they were of.  They
 * are this process's own, need no lock, and leave out parallel workers.
 *
 * Reads are charged in intervals: whenever a node that is looked at begins or
 * ends (nodes.c).  The reads of an interval are dealt out to relations that
 * have missed blocks since the last look, those of the running node first; the
 * time of the interval follows the blocks.  Each relation has one last-seen
 * counter per execution.
 *
 * From 17 on a scan looks up blocks, and counts them as missed, before it reads
 * them.  These misses are a credit, which later intervals use up.  Indexes come
 * before tables: their blocks are not looked up ahead.  Before 17 misses and
 * reads come together, and what is left over is a table that grew.
 *
 * Indexes that will be modified and TOAST tables are not open when a node
 * begins.  Their counters are looked up by OID then.  Partitions that rows are
 * routed to have slots from their first unexplained reads on, which are divided
 * in proportion to what each has missed in this session.
 *
 * Reads that no relation explains are of workers if there is a Gather, which
 * report for themselves; otherwise of catalogs: unattributed.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/pgstat_internal.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "compat.h"
#include "wait/local.h"
#include "wait/relations.h"

#define MAX_CREDIT	4096		/* blocks: no scan looks up more ahead */
#define FEW_SLOTS	16			/* looked at around any nested execution */
#define MAX_TOASTED	64			/* tables whose TOAST is looked for */

bool		tsa_wait_aborting = false;

/* What is being dealt out. */
typedef struct Charge
{
	TsaFrame   *frame;
	TsaWaitNode *node;			/* that is running, or NULL */
	uint64		reads;			/* in the interval */
	uint64		ns;
	uint64		left;			/* reads not explained yet */
} Charge;

/*
 * The counters of this process as they are.
 */
TsaWaitCounters
tsa_wait_counters(void)
{
	TsaWaitCounters counters = {
		.reads = (uint64) pgBufferUsage.shared_blks_read,
		.ns = tsa_read_ns(&pgBufferUsage),
		.hits = (uint64) pgBufferUsage.shared_blks_hit,
		.local_reads = (uint64) pgBufferUsage.local_blks_read
	};

	return counters;
}

/* The counters of a relation, if it has been counted. */
static const PgStat_TableStatus *
find_status(Relation relation, Oid relid)
{
	PgStat_EntryRef *entry;

	if (relation != NULL)
		return relation->pgstat_info;
	if (tsa_wait_aborting)
		return NULL;
	entry = pgstat_fetch_pending_entry(PGSTAT_KIND_RELATION, MyDatabaseId,
									   relid);
	return entry == NULL ? NULL : entry->pending;
}

/* Adds what a relation has missed since the last look to its credit. */
static void
absorb(TsaWaitSlot *slot)
{
	uint64		fetched;
	uint64		hits;
	int64		credit = (int64) slot->credit;

	if (!tsa_relation_counts(find_status(slot->relation, slot->relid),
							 &fetched, &hits))
		return;
	if (fetched < slot->seen_fetched)
		slot->seen_fetched = slot->seen_hits = 0;	/* was sent */
	credit += (int64) (fetched - slot->seen_fetched) -
		(int64) (hits - slot->seen_hits);
	slot->credit = (uint64) Max(0, credit);
	slot->hits += hits - slot->seen_hits;
	slot->seen_fetched = fetched;
	slot->seen_hits = hits;
}

/* Looks a relation up in the map: its place there, and its slot or TSA_NONE. */
static int32
find_mapped(const TsaFrame *frame, Oid relid, int32 *place)
{
	const int32 *map = frame->map.items;
	int32		mask = frame->map.max - 1;

	*place = (int32) (relid * 0x9e3779b1u >> 8) & mask;
	if (frame->map.max == 0)
		return TSA_NONE;
	while (map[*place] != 0 && TSA_SLOT(frame, map[*place] - 1)->relid != relid)
		*place = (*place + 1) & mask;
	return map[*place] - 1;
}

/* Makes the map larger.  It has numbers of slots plus 1. */
static bool
grow_map(TsaFrame *frame)
{
	TsaWaitArray larger = {0};
	int32		place;

	if (!tsa_array_grow(&larger, sizeof(int32), Max(16, frame->map.max * 2)))
		return false;
	free(frame->map.items);
	frame->map = larger;
	for (int32 i = 0; i < frame->slots.n; i++)
	{
		(void) find_mapped(frame, TSA_SLOT(frame, i)->relid, &place);
		((int32 *) frame->map.items)[place] = i + 1;
	}
	return true;
}

/* The slot of a relation, made if needed: TSA_NONE if there is no memory. */
static int32
enter_slot(TsaFrame *frame, Oid relid, bool *found)
{
	int32		place = 0;
	int32		slot = find_mapped(frame, relid, &place);

	*found = slot != TSA_NONE;
	if (*found)
		return slot;
	if ((frame->nmapped + 1) * 2 > frame->map.max && !grow_map(frame))
		return TSA_NONE;
	if (!tsa_array_grow(&frame->slots, sizeof(TsaWaitSlot), frame->slots.n + 1))
		return TSA_NONE;
	(void) find_mapped(frame, relid, &place);
	slot = frame->slots.n++;
	frame->nmapped++;
	TSA_SLOT(frame, slot)->relid = relid;
	TSA_SLOT(frame, slot)->account = TSA_NONE;
	((int32 *) frame->map.items)[place] = slot + 1;
	return slot;
}

/*
 * The slot of an open relation that is about to be read.  TSA_NONE for
 * temporary relations, which are in no shared buffers, and without memory.
 */
int32
tsa_frame_slot(TsaFrame *frame, Relation relation, TsaWaitAccess access,
			   bool is_index)
{
	bool		found;
	int32		number;
	TsaWaitSlot *slot;

	if (relation == NULL || RelationUsesLocalBuffers(relation))
		return TSA_NONE;
	number = enter_slot(frame, RelationGetRelid(relation), &found);
	if (number == TSA_NONE || found)
		return number;
	slot = TSA_SLOT(frame, number);
	slot->relation = relation;
	slot->access = access;
	slot->is_index = is_index;
	(void) tsa_relation_counts(relation->pgstat_info, &slot->seen_fetched,
							   &slot->seen_hits);
	return number;
}

/*
 * The slot of a relation that others open, later: its counters are looked up by
 * its OID.
 */
int32
tsa_frame_slot_of(TsaFrame *frame, Oid relid, TsaWaitAccess access,
				  bool is_index)
{
	bool		found;
	int32		number = enter_slot(frame, relid, &found);
	TsaWaitSlot *slot;

	if (number == TSA_NONE || found)
		return number;
	slot = TSA_SLOT(frame, number);
	slot->access = access;
	slot->is_index = is_index;
	(void) tsa_relation_counts(find_status(NULL, relid), &slot->seen_fetched,
							   &slot->seen_hits);
	return number;
}

/* The TOAST table of a table and its indexes, in slots. */
static void
enter_toast(TsaFrame *frame, Oid toast)
{
	Relation	relation = RelationIdGetRelation(toast);
	List	   *indexes;
	ListCell   *cell;

	if (relation == NULL)
		return;
	indexes = RelationGetIndexList(relation);
	RelationClose(relation);
	foreach(cell, indexes)
		(void) tsa_frame_slot_of(frame, lfirst_oid(cell), TSA_ACCESS_TOAST,
								 true);
	(void) tsa_frame_slot_of(frame, toast, TSA_ACCESS_TOAST, false);
	list_free(indexes);
}

/*
 * A table is about to be read: keeps what its TOAST table has missed so far, if
 * this session has read that.  If not, all that it misses is new.
 */
void
tsa_frame_toast(TsaFrame *frame, int32 number)
{
	Oid			toast;

	if (number == TSA_NONE || TSA_SLOT(frame, number)->has_toast)
		return;
	toast = TSA_SLOT(frame, number)->relation->rd_rel->reltoastrelid;
	if (!OidIsValid(toast) || find_status(NULL, toast) == NULL)
		return;
	TSA_SLOT(frame, number)->has_toast = true;
	enter_toast(frame, toast);
}

/* The account of a slot and a kind of access: TSA_NONE without memory. */
static int32
find_account(TsaFrame *frame, int32 slot, Oid relid, TsaWaitAccess access)
{
	int32		number = slot == TSA_NONE ? 0 : TSA_SLOT(frame, slot)->account;

	if (slot == TSA_NONE)
	{
		while (number < frame->accounts.n &&
			   TSA_ACCOUNT(frame, number)->relid != relid)
			number++;
		if (number == frame->accounts.n)
			number = TSA_NONE;
	}
	else
		while (number != TSA_NONE &&
			   TSA_ACCOUNT(frame, number)->access != access)
			number = TSA_ACCOUNT(frame, number)->next;
	if (number != TSA_NONE)
		return number;
	if (!tsa_array_grow(&frame->accounts, sizeof(TsaWaitAccount),
						frame->accounts.n + 1))
		return TSA_NONE;
	number = frame->accounts.n++;
	TSA_ACCOUNT(frame, number)->relid = relid;
	TSA_ACCOUNT(frame, number)->access = access;
	TSA_ACCOUNT(frame, number)->next = TSA_NONE;
	if (slot != TSA_NONE)
	{
		TSA_ACCOUNT(frame, number)->next = TSA_SLOT(frame, slot)->account;
		TSA_SLOT(frame, slot)->account = number;
	}
	return number;
}

/* Adds reads to an account, to its relation and to the total. */
static void
add_reads(TsaFrame *frame, int32 number, uint64 reads, uint64 ns,
		  bool is_single)
{
	uint64		histogram[TSA_HISTOGRAM_BUCKETS] = {0};
	TsaWaitAccount *account;
	TsaWaitFigures figures = {
		.reads = reads * frame->weight,
		.waited_ns = ns * frame->weight
	};

	frame->total.reads += reads;
	frame->total.waited_ns += ns;
	if (number == TSA_NONE)
		return;
	account = TSA_ACCOUNT(frame, number);
	account->figures.reads += reads;
	account->figures.waited_ns += ns;
	frame->last_account = number;
	if (frame->weight == 0)
		return;
	histogram[tsa_histogram_bucket(ns)] = frame->weight;
	tsa_local_add_relation(account->relid, frame->statement.class,
						   account->access, &figures,
						   is_single ? histogram : NULL);
}

/* How a slot is read by the running node. */
static TsaWaitAccess
access_by(const Charge *charge, int32 number)
{
	const TsaWaitSlot *slot = TSA_SLOT(charge->frame, number);

	if (slot->access == TSA_ACCESS_TOAST || charge->node == NULL)
		return slot->access;
	if (IsA(charge->node->state, ModifyTableState) && slot->is_result)
		return TSA_ACCESS_MODIFIED;
	if (charge->node->index == number)
		return TSA_ACCESS_INDEX;
	return charge->node->heap == number ? charge->node->access : slot->access;
}

/* The part of the interval's time that so many of its reads took. */
static uint64
time_of(const Charge *charge, uint64 reads)
{
	return (uint64) ((double) charge->ns * (double) reads /
					 (double) charge->reads);
}

/* Charges reads to a slot, as many as it has credit for. */
static void
charge_slot(Charge *charge, int32 number)
{
	TsaWaitSlot *slot;
	uint64		reads;

	if (number == TSA_NONE || charge->left == 0)
		return;
	slot = TSA_SLOT(charge->frame, number);
	absorb(slot);
	reads = Min(slot->credit, charge->left);
	if (reads == 0)
		return;
	slot->credit = Min(slot->credit - reads, MAX_CREDIT);
	charge->left -= reads;
	add_reads(charge->frame,
			  find_account(charge->frame, number, slot->relid,
						   access_by(charge, number)),
			  reads, time_of(charge, reads),
			  charge->reads == 1 && slot->credit == 0);
}

/*
 * For tsa_for_bitmap_scans(): charges the reads of a bitmap index scan that it
 * has counted itself.
 */
static void
charge_bitmap_index(TsaFrame *frame, TsaWaitNode *node, void *arg)
{
	Charge	   *charge = arg;
	const BufferUsage *usage = tsa_buffers_of_node(node->state);
	TsaWaitSlot *slot;
	uint64		reads;
	uint64		ns;

	if (usage == NULL || node->index == TSA_NONE)
	{
		charge_slot(charge, node->index);
		return;
	}
	reads = Min((uint64) usage->shared_blks_read - node->seen_reads,
				charge->left);
	ns = Min(tsa_read_ns(usage) - node->seen_ns, charge->ns);
	node->seen_reads = (uint64) usage->shared_blks_read;
	node->seen_ns = tsa_read_ns(usage);
	if (reads == 0)
		return;
	slot = TSA_SLOT(frame, node->index);
	absorb(slot);
	slot->credit -= Min(slot->credit, reads);
	add_reads(frame,
			  find_account(frame, node->index, slot->relid,
						   TSA_ACCESS_INDEX),
			  reads, ns, reads == 1);
	charge->left -= reads;
	charge->reads -= reads;
	charge->ns -= ns;
}

/*
 * Makes a slot for a relation that was opened late: what it has missed in this
 * session may be new.
 */
static void
discover(Charge *charge, Relation relation, TsaWaitAccess access,
		 bool is_index)
{
	bool		found;
	uint64		fetched = 0;
	uint64		hits = 0;
	int32		number;
	TsaWaitSlot *slot;

	if (relation == NULL || RelationUsesLocalBuffers(relation))
		return;
	number = enter_slot(charge->frame, RelationGetRelid(relation), &found);
	if (number == TSA_NONE)
		return;
	slot = TSA_SLOT(charge->frame, number);
	slot->is_result = true;
	if (found)
		return;
	slot->relation = relation;
	slot->access = access;
	slot->is_index = is_index;
	(void) tsa_relation_counts(find_status(relation, slot->relid), &fetched,
							   &hits);
	slot->seen_fetched = fetched;
	slot->seen_hits = hits;
	slot->credit = fetched - hits;
}

/* Makes slots for a table that is modified and its indexes. */
static void
discover_result(Charge *charge, ResultRelInfo *result)
{
	discover(charge, result->ri_RelationDesc, TSA_ACCESS_MODIFIED, false);
	for (int i = 0; i < result->ri_NumIndices; i++)
		if (result->ri_IndexRelationDescs != NULL)
			discover(charge, result->ri_IndexRelationDescs[i],
					 TSA_ACCESS_MODIFIED, true);
}

/*
 * Divides what is left between relations that were discovered, in proportion
 * to what they have missed.
 */
static void
divide(Charge *charge, int32 first)
{
	TsaFrame   *frame = charge->frame;
	uint64		sum = 0;
	uint64		left = charge->left;

	for (int32 i = first; i < frame->slots.n; i++)
		sum += TSA_SLOT(frame, i)->credit;
	if (sum > left)
		for (int32 i = first; i < frame->slots.n; i++)
		{
			TsaWaitSlot *slot = TSA_SLOT(frame, i);
			uint64		credit = slot->credit;

			/* rounded so that the parts add up */
			slot->credit = (uint64) ((double) credit * (double) left /
									 (double) sum + 0.5);
			left -= Min(left, slot->credit);
			sum -= credit;
			if (sum == 0)
				break;
		}
	for (int32 i = first; i < frame->slots.n; i++)
		charge_slot(charge, i);
}

/* Looks for tables that are modified and were opened late. */
static void
discover_results(Charge *charge)
{
	const EState *estate = charge->frame->estate;
	int32		first = charge->frame->slots.n;
	ListCell   *cell;

	foreach(cell, estate->es_opened_result_relations)
		discover_result(charge, lfirst(cell));
	foreach(cell, estate->es_tuple_routing_result_relations)
		discover_result(charge, lfirst(cell));
	if (charge->frame->slots.n > first)
		divide(charge, first);
}

/*
 * Looks for TOAST tables that were read.  They have been opened by whoever
 * read them, so that the cache of relations knows their indexes.  All that they
 * have missed is new: otherwise they had slots (tsa_frame_toast()).
 */
static void
discover_toast(Charge *charge)
{
	TsaFrame   *frame = charge->frame;
	int32		n = Min(frame->slots.n, MAX_TOASTED);

	for (int32 i = 0; i < n && charge->left > 0; i++)
	{
		int32		first = frame->slots.n;

		if (TSA_SLOT(frame, i)->is_index ||
			TSA_SLOT(frame, i)->relation == NULL)
			continue;
		tsa_frame_toast(frame, i);
		for (int32 j = first; j < frame->slots.n; j++)
		{
			TsaWaitSlot *slot = TSA_SLOT(frame, j);

			slot->credit = slot->seen_fetched - slot->seen_hits;
			slot->hits = slot->seen_hits;
		}
		if (frame->slots.n > first)
			divide(charge, first);
	}
}

/* What no relation has explained. */
static void
charge_rest(Charge *charge)
{
	TsaFrame   *frame = charge->frame;
	int32		slot = charge->node == NULL ? TSA_NONE : charge->node->heap;
	int32		account;

	if (charge->left == 0 || (frame->has_gather && pgstat_track_counts))
		return;
	if (!pgstat_track_counts && slot != TSA_NONE)
		account = find_account(frame, slot, TSA_SLOT(frame, slot)->relid,
							   access_by(charge, slot));
	else
		account = find_account(frame, TSA_NONE, InvalidOid,
							   TSA_ACCESS_UNATTRIBUTED);
	add_reads(frame, account, charge->left, time_of(charge, charge->left),
			  charge->reads == 1);
}

/* Time that was waited without reading: for blocks counted before. */
static void
charge_wait(Charge *charge)
{
	TsaFrame   *frame = charge->frame;
	int32		slot = charge->node == NULL ? TSA_NONE : charge->node->heap;
	int32		account = frame->last_account;

	if (slot != TSA_NONE)
		account = find_account(frame, slot, TSA_SLOT(frame, slot)->relid,
							   access_by(charge, slot));
	else if (frame->has_gather)
		return;
	else if (account == TSA_NONE)
		account = find_account(frame, TSA_NONE, InvalidOid,
							   TSA_ACCESS_UNATTRIBUTED);
	add_reads(frame, account, 0, charge->ns, false);
}

/* Without read streams, what is left of a credit is a table that grew. */
static void
forget_credit(TsaFrame *frame)
{
	for (int32 i = 0; i < Min(frame->slots.n, FEW_SLOTS); i++)
		TSA_SLOT(frame, i)->credit = 0;
}

/* Deals the reads of an interval out. */
static void
deal_out(Charge *charge, bool aborting)
{
	TsaFrame   *frame = charge->frame;
	TsaWaitNode *node = charge->node;

	if (node != NULL)
	{
		if (IsA(node->state, BitmapHeapScanState))
			tsa_for_bitmap_scans(frame, outerPlanState(node->state),
								 charge_bitmap_index, charge);
		charge_slot(charge, node->index);
		charge_slot(charge, node->heap);
	}
	for (int32 i = 0; i < frame->slots.n && charge->left > 0; i++)
		charge_slot(charge, i);
	if (charge->left > 0 && !aborting)
	{
		discover_results(charge);
		discover_toast(charge);
	}
	charge_rest(charge);
	if (!TSA_HAVE_READ_STREAMS)
		forget_credit(frame);
}

/*
 * Charges what was read since the last look.  aborting: looks only at
 * relations that are known.
 */
void
tsa_frame_charge_now(TsaFrame *frame, bool aborting)
{
	TsaWaitCounters now = tsa_wait_counters();
	int32		running = frame->running == TSA_NONE ? frame->remainder :
	frame->running;
	Charge		charge = {
		.frame = frame,
		.node = running == TSA_NONE ? NULL : TSA_NODE(frame, running),
		.reads = now.reads - frame->seen.reads,
		.ns = now.ns - frame->seen.ns
	};
	uint64		local_reads = now.local_reads - frame->seen.local_reads;

	frame->seen = now;
	frame->progress = tsa_read_progress();
	if (TSA_READ_TIME_HAS_LOCAL && local_reads > 0)
		charge.ns = charge.ns * charge.reads / (charge.reads + local_reads);
	charge.left = charge.reads;
	if (charge.reads > 0)
		deal_out(&charge, aborting);
	else if (charge.ns > 0)
		charge_wait(&charge);
}

/*
 * Looks at all relations before others read them: an execution inside of this
 * one (then only if there are few), or whoever comes after it.
 */
void
tsa_frame_absorb(TsaFrame *frame, bool all)
{
	if (all || frame->slots.n <= FEW_SLOTS)
		for (int32 i = 0; i < frame->slots.n; i++)
			absorb(TSA_SLOT(frame, i));
}

/*
 * Passes over what another execution has read since tsa_frame_absorb().
 */
void
tsa_frame_skip(TsaFrame *frame)
{
	TsaWaitCounters now = tsa_wait_counters();

	if (frame->slots.n <= FEW_SLOTS || now.reads != frame->seen.reads)
		for (int32 i = 0; i < frame->slots.n; i++)
		{
			TsaWaitSlot *slot = TSA_SLOT(frame, i);

			(void) tsa_relation_counts(find_status(slot->relation, slot->relid),
									   &slot->seen_fetched, &slot->seen_hits);
		}
	frame->seen = now;
	frame->progress = tsa_read_progress();
}

/*
 * Gives the hits of each relation to its first account, which is made if it
 * was found in shared buffers altogether.
 */
void
tsa_frame_take_hits(TsaFrame *frame)
{
	for (int32 i = 0; i < frame->slots.n; i++)
	{
		TsaWaitSlot *slot = TSA_SLOT(frame, i);
		int32		account = slot->account;

		absorb(slot);
		if (slot->hits == 0)
			continue;
		if (account == TSA_NONE)
			account = find_account(frame, i, slot->relid, slot->access);
		if (account != TSA_NONE)
			TSA_ACCOUNT(frame, account)->figures.hits += slot->hits;
	}
}
