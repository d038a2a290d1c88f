/*-------------------------------------------------------------------------
 *
 * slot.c
 *	  The relations that an execution reads, each with the values of this
 *	  session's own counters at the last look.
 *
 * A slot is of a relation that is open, or of one that others open: then its
 * counters are looked up by its OID.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/pgstat_internal.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "compat.h"
#include "wait/slot.h"

#define FEW 16					/* slots are looked through, more are mapped */

bool		tsa_wait_aborting = false;

/*
 * The counters of a relation, if it has been counted.
 */
const PgStat_TableStatus *
tsa_find_status(Relation relation, Oid relid)
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

/*
 * Adds the misses of a relation since the last look to its credit.
 */
void
tsa_absorb(TsaWaitSlot *slot)
{
	uint64		fetched;
	uint64		hits;
	int64		credit = (int64) slot->credit;

	if (!tsa_relation_counts(tsa_find_status(slot->relation, slot->relid),
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

/* The place of a relation in the map, which has numbers of slots plus 1. */
static int32 *
place_of(const TsaFrame *frame, Oid relid)
{
	int32	   *map = frame->map.items;
	int32		mask = frame->map.n - 1;
	int32		place = (int32) (relid * 0x9e3779b1u >> 8) & mask;

	while (map[place] != 0 && TSA_SLOT(frame, map[place] - 1)->relid != relid)
		place = (place + 1) & mask;
	return &map[place];
}

/* The slot of a relation, or TSA_NONE. */
static int32
find_slot(const TsaFrame *frame, Oid relid)
{
	if (frame->map.n > 0)
		return *place_of(frame, relid) - 1;
	for (int32 i = 0; i < frame->slots.n; i++)
		if (TSA_SLOT(frame, i)->relid == relid)
			return i;
	return TSA_NONE;
}

/* Makes the map anew, and larger.  Without memory there is none. */
static void
make_map(TsaFrame *frame)
{
	int32		n = Max(64, frame->map.n * 2);

	frame->map.n = 0;
	if (tsa_array_grow(&frame->map, sizeof(int32), n))
		for (int32 i = 0; i < frame->slots.n; i++)
			*place_of(frame, TSA_SLOT(frame, i)->relid) = i + 1;
}

/*
 * The slot of a relation, made if needed: TSA_NONE if there is no memory.
 */
int32
tsa_enter_slot(TsaFrame *frame, Oid relid, bool *found)
{
	int32		slot = find_slot(frame, relid);

	*found = slot != TSA_NONE;
	if (*found)
		return slot;
	if (!tsa_array_grow(&frame->slots, sizeof(TsaWaitSlot), frame->slots.n + 1))
		return TSA_NONE;
	slot = frame->slots.n - 1;
	TSA_SLOT(frame, slot)->relid = relid;
	TSA_SLOT(frame, slot)->account = TSA_NONE;
	if (frame->slots.n > Max(FEW, frame->map.n / 2))
		make_map(frame);
	else if (frame->map.n > 0)
		*place_of(frame, relid) = slot + 1;
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
	number = tsa_enter_slot(frame, RelationGetRelid(relation), &found);
	if (number == TSA_NONE)
		return number;
	slot = TSA_SLOT(frame, number);
	/* also if it was looked up by its OID so far */
	slot->relation = relation;
	if (found)
		return number;
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
	int32		number = tsa_enter_slot(frame, relid, &found);
	TsaWaitSlot *slot;

	if (number == TSA_NONE || found)
		return number;
	slot = TSA_SLOT(frame, number);
	slot->access = access;
	slot->is_index = is_index;
	(void) tsa_relation_counts(tsa_find_status(NULL, relid),
							   &slot->seen_fetched, &slot->seen_hits);
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
 * A table is about to be read: keeps the misses of its TOAST table so far, if
 * this session has read that.  If not, all that it misses is new.
 */
void
tsa_frame_toast(TsaFrame *frame, int32 number)
{
	Oid			toast;

	if (number == TSA_NONE || TSA_SLOT(frame, number)->has_toast ||
		TSA_SLOT(frame, number)->relation == NULL)
		return;
	toast = TSA_SLOT(frame, number)->relation->rd_rel->reltoastrelid;
	if (!OidIsValid(toast) || tsa_find_status(NULL, toast) == NULL)
		return;
	TSA_SLOT(frame, number)->has_toast = true;
	enter_toast(frame, toast);
}
