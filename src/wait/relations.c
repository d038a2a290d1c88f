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
 * have missed blocks since the last look, those of the running node first; its
 * time is divided by the recent times of their blocks (block_time.c).  Each
 * relation has one last-seen counter per execution.
 *
 * From 17 on a scan looks up blocks, and counts them as missed, before it
 * reads them.  These misses are a credit, which later intervals use up.
 * Indexes come before tables: their blocks are not looked up ahead.  Before 17
 * misses and reads come together, and the rest is of a table that grew.
 *
 * Indexes that will be modified and TOAST tables are not open when a node
 * begins.  Their counters are looked up by OID then, as are those of
 * partitions that rows were routed to lately (routed.c).  Others have slots
 * from their first unexplained reads on, which are divided in proportion to
 * each one's misses in this session.
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
#include "wait/account.h"
#include "wait/block_time.h"
#include "wait/relations.h"
#include "wait/routed.h"
#include "wait/slot.h"

#define MAX_CREDIT	4096		/* blocks: no scan looks up more ahead */
#define FEW_SLOTS	16			/* looked at around any nested execution */
#define MAX_TOASTED	64			/* tables with a TOAST table to look for */
#define MAX_PARTS	16			/* relations that divide an interval's time */

/* The account of reads that are not this process's. */
#define OF_WORKERS	(TSA_NONE - 1)

/* The reads that are being dealt out. */
typedef struct Charge
{
	TsaFrame   *frame;
	TsaWaitNode *node;			/* that is running, or NULL */
	uint64		reads;			/* in the interval */
	uint64		ns;
	uint64		left;			/* reads not explained yet */
	bool		is_single;		/* one block of a known relation */
	int			nparts;
	TsaTimePart parts[MAX_PARTS];
	int32		accounts[MAX_PARTS];	/* of the parts */
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

/* Adds a part of the interval's reads to an account, or to OF_WORKERS. */
static void
add_part(const Charge *charge, int32 account, uint64 reads, uint64 ns)
{
	if (account != OF_WORKERS)
		tsa_add_reads(charge->frame, account, reads, ns, charge->is_single);
}

/* Has reads of the interval added to an account when their time is known. */
static void
note_reads(Charge *charge, int32 account, Oid relid, TsaWaitAccess access,
		   uint64 reads)
{
	charge->left -= reads;
	if (charge->nparts == MAX_PARTS)
	{
		/* the mean of the reads not divided yet */
		uint64		ns = (uint64) ((double) charge->ns * (double) reads /
								   (double) charge->reads);

		charge->ns -= ns;
		charge->reads -= reads;
		add_part(charge, account, reads, ns);
		return;
	}
	charge->accounts[charge->nparts] = account;
	charge->parts[charge->nparts].relid = relid;
	charge->parts[charge->nparts].access = access;
	charge->parts[charge->nparts++].reads = reads;
}

/* Divides the time of the interval and adds its reads. */
static void
add_parts(Charge *charge)
{
	tsa_divide_time(charge->parts, charge->nparts, charge->ns);
	for (int i = 0; i < charge->nparts; i++)
		add_part(charge, charge->accounts[i], charge->parts[i].reads,
				 charge->parts[i].ns);
}

/* Charges reads to a slot, as many as it has credit for. */
static void
charge_slot(Charge *charge, int32 number)
{
	TsaWaitSlot *slot;
	TsaWaitAccess access;
	uint64		reads;

	if (number == TSA_NONE || charge->left == 0)
		return;
	slot = TSA_SLOT(charge->frame, number);
	tsa_absorb(slot);
	reads = Min(slot->credit, charge->left);
	if (reads == 0)
		return;
	slot->credit = Min(slot->credit - reads, MAX_CREDIT);
	charge->is_single = charge->reads == 1 && slot->credit == 0;
	access = access_by(charge, number);
	note_reads(charge, tsa_find_account(charge->frame, number, slot->relid,
										access),
			   slot->relid, access, reads);
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
	tsa_absorb(slot);
	slot->credit -= Min(slot->credit, reads);
	tsa_add_reads(frame,
				  tsa_find_account(frame, node->index, slot->relid,
								   TSA_ACCESS_INDEX),
				  reads, ns, reads == 1);
	charge->left -= reads;
	charge->reads -= reads;
	charge->ns -= ns;
}

/*
 * Makes a slot for a relation that was opened late: its misses in this session
 * may be new.
 */
static void
discover(Charge *charge, Relation relation, Oid root, bool is_index)
{
	bool		found;
	uint64		fetched = 0;
	uint64		hits = 0;
	int32		number;
	TsaWaitSlot *slot;

	if (relation == NULL || RelationUsesLocalBuffers(relation))
		return;
	number = tsa_enter_slot(charge->frame, RelationGetRelid(relation), &found);
	if (number == TSA_NONE)
		return;
	slot = TSA_SLOT(charge->frame, number);
	slot->is_result = true;
	if (found)
		return;
	tsa_remember_routed(root, slot->relid, is_index);
	slot->relation = relation;
	slot->access = TSA_ACCESS_MODIFIED;
	slot->is_index = is_index;
	(void) tsa_relation_counts(tsa_find_status(relation, slot->relid), &fetched,
							   &hits);
	slot->seen_fetched = fetched;
	slot->seen_hits = hits;
	slot->credit = fetched - hits;
}

/* Makes slots for a table that is modified and its indexes. */
static void
discover_result(Charge *charge, ResultRelInfo *result)
{
	ResultRelInfo *root = result->ri_RootResultRelInfo;
	Oid			root_oid = root == NULL ? InvalidOid :
	RelationGetRelid(root->ri_RelationDesc);

	discover(charge, result->ri_RelationDesc, root_oid, false);
	for (int i = 0; i < result->ri_NumIndices; i++)
		if (result->ri_IndexRelationDescs != NULL)
			discover(charge, result->ri_IndexRelationDescs[i], root_oid, true);
}

/*
 * Divides the rest between relations that were discovered, in proportion to
 * their misses.
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
 * Looks for TOAST tables that were read.  The code that read them has opened
 * them, so that the cache of relations knows their indexes.  All that they
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

/* Charges reads that no relation has explained. */
static void
charge_rest(Charge *charge)
{
	TsaFrame   *frame = charge->frame;
	int32		slot = charge->node == NULL ? TSA_NONE : charge->node->heap;
	TsaWaitAccess access = TSA_ACCESS_UNATTRIBUTED;
	Oid			relid = InvalidOid;

	if (charge->left == 0)
		return;
	if (frame->has_gather && pgstat_track_counts)
	{
		note_reads(charge, OF_WORKERS, InvalidOid, TSA_ACCESS_ALL,
				   charge->left);
		return;
	}
	charge->is_single = charge->reads == 1;
	if (pgstat_track_counts)
		slot = TSA_NONE;
	if (slot != TSA_NONE)
	{
		relid = TSA_SLOT(frame, slot)->relid;
		access = access_by(charge, slot);
	}
	note_reads(charge, tsa_find_account(frame, slot, relid, access), relid,
			   access, charge->left);
}

/* Time that was waited without reading: for blocks counted before. */
static void
charge_wait(Charge *charge)
{
	TsaFrame   *frame = charge->frame;
	int32		slot = charge->node == NULL ? TSA_NONE : charge->node->heap;
	int32		account = frame->last_account;

	if (slot != TSA_NONE)
		account = tsa_find_account(frame, slot, TSA_SLOT(frame, slot)->relid,
								   access_by(charge, slot));
	else if (frame->has_gather)
		return;
	else if (account == TSA_NONE)
		account = tsa_find_account(frame, TSA_NONE, InvalidOid,
								   TSA_ACCESS_UNATTRIBUTED);
	tsa_add_reads(frame, account, 0, charge->ns, false);
	if (account != TSA_NONE)
		tsa_learn_time(TSA_ACCOUNT(frame, account)->relid,
					   TSA_ACCOUNT(frame, account)->access, charge->ns);
}

/* Without read streams, the rest of a credit is of a table that grew. */
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
	if (charge->nparts > 0)
		add_parts(charge);
	else if (charge->ns > 0)
		charge_wait(charge);
	if (!TSA_HAVE_READ_STREAMS)
		forget_credit(frame);
}

/*
 * Charges the reads since the last look.  aborting: looks only at relations
 * that are known.
 */
void
tsa_frame_charge_now(TsaFrame *frame, bool aborting)
{
	TsaWaitCounters now = tsa_wait_counters();
	int32		running = frame->running == TSA_NONE ? frame->remainder :
	frame->running;
	Charge		charge;
	uint64		local_reads = now.local_reads - frame->seen.local_reads;

	/* its parts are not set: they are many */
	charge.frame = frame;
	charge.node = running == TSA_NONE ? NULL : TSA_NODE(frame, running);
	charge.reads = now.reads - frame->seen.reads;
	charge.ns = now.ns - frame->seen.ns;
	charge.is_single = false;
	charge.nparts = 0;
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
 * one (then only if there are few), or code that follows it.
 */
void
tsa_frame_absorb(TsaFrame *frame, bool all)
{
	if (all || frame->slots.n <= FEW_SLOTS)
		for (int32 i = 0; i < frame->slots.n; i++)
			tsa_absorb(TSA_SLOT(frame, i));
}

/*
 * Passes over the reads of another execution since tsa_frame_absorb().
 */
void
tsa_frame_skip(TsaFrame *frame)
{
	TsaWaitCounters now = tsa_wait_counters();

	if (frame->slots.n <= FEW_SLOTS || now.reads != frame->seen.reads)
		for (int32 i = 0; i < frame->slots.n; i++)
		{
			TsaWaitSlot *slot = TSA_SLOT(frame, i);

			(void) tsa_relation_counts(tsa_find_status(slot->relation,
													   slot->relid),
									   &slot->seen_fetched, &slot->seen_hits);
		}
	frame->seen = now;
	frame->progress = tsa_read_progress();
}

/*
 * Gives the hits of each relation to its first account, which is made if it
 * was found in shared buffers altogether.  Spans have seen all of them.
 */
void
tsa_frame_take_hits(TsaFrame *frame)
{
	for (int32 i = 0; i < frame->slots.n; i++)
	{
		TsaWaitSlot *slot = TSA_SLOT(frame, i);
		int32		account = slot->account;

		if (slot->hits == 0)
			continue;
		if (account == TSA_NONE)
			account = tsa_find_account(frame, i, slot->relid, slot->access);
		if (account != TSA_NONE)
			TSA_ACCOUNT(frame, account)->figures.hits += slot->hits;
	}
}
