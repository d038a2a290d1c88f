/*-------------------------------------------------------------------------
 *
 * routed.c
 *	  Partitions that rows were routed to lately, and their indexes.
 *
 * A statement opens the partition of a row after its execution has begun, when
 * the partition's earlier counters cannot be found any more.  A session often
 * inserts into the same ones, so the most recent are looked at before.
 *
 * The list is short: its relations are looked up by OID, in each execution that
 * modifies their table.  One that was dropped has no counters.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "wait/routed.h"
#include "wait/slot.h"

#define MAX_ROUTED 16

typedef struct Routed
{
	Oid			root;			/* the table that rows are inserted into */
	Oid			relid;
	bool		is_index;
} Routed;

static Routed list[MAX_ROUTED];
static int	nrouted = 0;
static int	oldest = 0;

/*
 * A statement on a table has routed rows to this partition, or its index.
 */
void
tsa_remember_routed(Oid root, Oid relid, bool is_index)
{
	Routed	   *entry;

	if (!OidIsValid(root))
		return;
	for (int i = 0; i < nrouted; i++)
		if (list[i].relid == relid && list[i].root == root)
			return;
	if (nrouted < MAX_ROUTED)
		entry = &list[nrouted++];
	else
	{
		entry = &list[oldest];
		oldest = (oldest + 1) % MAX_ROUTED;
	}
	entry->root = root;
	entry->relid = relid;
	entry->is_index = is_index;
}

/*
 * Makes slots for the partitions that rows of a table were routed to lately.
 */
void
tsa_frame_routed(TsaFrame *frame, Oid root)
{
	for (int i = 0; i < nrouted; i++)
	{
		int32		slot;

		if (list[i].root != root)
			continue;
		slot = tsa_frame_slot_of(frame, list[i].relid, TSA_ACCESS_MODIFIED,
								 list[i].is_index);
		if (slot != TSA_NONE)
			TSA_SLOT(frame, slot)->is_result = true;
	}
}
