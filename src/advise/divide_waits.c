/*-------------------------------------------------------------------------
 *
 * divide_waits.c
 *	  Measured waits of index scans, divided between index and table.
 *
 * Pure: includes no postgres.h and is unit-tested without a server.
 *
 * An index scan reads its index and its table by turns, and its waits for both
 * are divided by blocks: both seem to take as long.  But as a rule the system's
 * cache has more of the index.  So the cached part of each divides the waits
 * for a table and those of its indexes that seem to take half to twice as long.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/placement.h"

/* Reads of a relation that are not of sequential scans, per second. */
typedef struct KeyedReads
{
	double		reads;
	double		sessions;		/* that wait for them */
	double		uncached;		/* by pages */
} KeyedReads;

/* False if there are none, or waits were not measured. */
static bool
keyed_reads(const TsaRelationFact *a, KeyedReads *k)
{
	if (!a->measured || !(a->reads_per_s > 0))
		return false;
	k->reads = fmax(0, a->reads_per_s - tsa_or(a->scan_reads_per_s, 0));
	k->sessions = fmax(0, a->waiting_sessions - tsa_or(a->scan_sessions, 0));
	k->uncached = k->reads * (1 - tsa_or(a->system_cached, 0));
	return true;
}

/* The same, false also if a read takes less or more than one of its heap. */
static bool
like_heap(const TsaPlacement *p, int relation, const int *heap_of,
		  KeyedReads *k)
{
	int			heap = heap_of[p->relations[relation].table];
	KeyedReads	h;

	return heap >= 0 && keyed_reads(&p->relations[relation], k) &&
		keyed_reads(&p->relations[heap], &h) &&
		k->sessions * h.reads >= h.sessions * k->reads / 2 &&
		k->sessions * h.reads <= h.sessions * k->reads * 2;
}

/* Divides the sessions that wait for each relation; scans keep theirs. */
void
tsa_divide_waits(TsaPlacement *p)
{
	double	   *sessions = p->alloc(p->n * sizeof(double) + 1);
	KeyedReads *sums = p->alloc(p->ntables * sizeof(KeyedReads) + 1);
	int		   *heap_of = p->alloc(p->ntables * sizeof(int) + 1);
	KeyedReads	k;

	for (int i = 0; i < p->ntables; i++)
		heap_of[i] = -1;
	for (int i = 0; i < p->n; i++)
	{
		if (p->relations[i].id == p->relations[i].table_id)
			heap_of[p->relations[i].table] = i;
	}
	for (int i = 0; i < p->n; i++)
	{
		if (!like_heap(p, i, heap_of, &k))
			continue;
		sums[p->relations[i].table].sessions += k.sessions;
		sums[p->relations[i].table].uncached += k.uncached;
	}
	for (int i = 0; i < p->n; i++)
	{
		const TsaRelationFact *a = &p->relations[i];

		sessions[i] = a->waiting_sessions;
		if (like_heap(p, i, heap_of, &k))
			sessions[i] = tsa_or(a->scan_sessions, 0) +
				sums[a->table].sessions * k.uncached /
				tsa_not_zero(sums[a->table].uncached);
	}
	/* now that no relation is compared with its heap any more */
	for (int i = 0; i < p->n; i++)
		p->relations[i].waiting_sessions =
			tsa_or(sessions[i], p->relations[i].waiting_sessions);
}
