/*-------------------------------------------------------------------------
 *
 * evict.c
 *	  Moves out of tablespaces that are over their mark.
 *
 * Pure: includes no postgres.h and is unit-tested without a server.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/placement.h"

#include <stdlib.h>

#include "advise/assignment.h"

/* For qsort(): by OID. */
int
tsa_compare_ids(const void *a, const void *b)
{
	uint32_t	x = ((const TsaRelationKey *) a)->id;
	uint32_t	y = ((const TsaRelationKey *) b)->id;

	return x < y ? -1 : x > y;
}

/* For qsort(): the largest value first, unknown ones before all. */
static int
compare_values(const void *a, const void *b)
{
	double		x = ((const TsaRelationKey *) a)->value;
	double		y = ((const TsaRelationKey *) b)->value;

	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y) ? tsa_compare_ids(a, b) : isnan(x) ? -1 : 1;
	if (x != y)
		return x > y ? -1 : 1;
	return tsa_compare_ids(a, b);
}

/* Whether nothing but its reads keeps a relation from making room. */
bool
tsa_is_movable(const TsaRelationFact *a)
{
	return a->obstacle == NULL && a->moving_job == 0 && a->unusable == NULL &&
		a->duplicate_of == 0;
}

/* The fastest other place with room for all that is over a place's mark. */
static int
place_for_evicted(const TsaPlacement *p, int source)
{
	int			best = TSA_NO_PLACE;

	for (int i = 0; i < p->nplaces; i++)
	{
		const TsaPlaceFact *d = &p->places[i];

		if (i == source || p->places[source].shares_device[i] ||
			isnan(d->random_read_us) || d->may_create != TSA_TRUE ||
			d->is_volatile == TSA_TRUE ||
			!(d->available_bytes >= -p->places[source].available_bytes))
			continue;
		if (best < 0 || d->random_read_us < p->places[best].random_read_us)
			best = i;
	}
	return best != TSA_NO_PLACE && tsa_is_way(p, source, best) ?
		best : TSA_NO_PLACE;
}

/*
 * Of so many relations, those that stay when their place is over its mark: it
 * is the same choice with the sign turned.  False: no memory.
 */
static bool
choose_staying(const TsaPlacement *p, const TsaRelationKey *keys, int n,
			   TsaAssignmentItem *items, double over)
{
	double	   *costs = p->alloc(2 * (size_t) n * sizeof(double) + 1);
	const int	room_of[] = {0, 1};
	uint64_t	room[] = {0, TSA_NO_LIMIT};
	TsaAssignmentProblem problem = {
		items, n, costs, 2, room_of, room, 2, TSA_NO_LIMIT
	};
	TsaAssignment result;
	double		total = 0;

	for (int i = 0; i < n; i++)
	{
		double		bytes = p->relations[keys[i].index].size_bytes;

		items[i].size = items[i].moved_size = (uint64_t) bytes;
		items[i].present = 1;
		costs[2 * (size_t) i] = -keys[i].value;
		total += bytes;
	}
	room[0] = (uint64_t) fmax(0, total - over);
	return tsa_assign_places(&problem, &result);
}

/*
 * Tablespaces over their mark: the relations to move away so that least is
 * lost.  All of it goes to the fastest other tablespace with room for all.
 */
bool
tsa_evict_from(TsaPlacement *p, int source, TsaRelationKey *keys)
{
	double		over = -p->places[source].available_bytes;
	int			destination = place_for_evicted(p, source);
	TsaAssignmentItem *items;
	int			n = 0;

	if (!(over > 0) || destination == TSA_NO_PLACE)
		return true;
	for (int i = 0; i < p->n; i++)
	{
		const TsaRelationFact *a = &p->relations[i];
		double		saved;

		if (!a->is_considered || a->place != source || !tsa_is_movable(a) ||
			isnan(a->size_bytes))
			continue;
		saved = tsa_estimate_move(p, i, destination).saved_ms;
		if (isnan(saved))
			continue;
		/* of those that cost nothing the smaller goes first */
		keys[n].value = fmax(0, -saved) + a->size_bytes / 1e15;
		keys[n].id = a->id;
		keys[n++].index = i;
	}
	if (n == 0)
		return true;
	qsort(keys, n, sizeof(TsaRelationKey), tsa_compare_ids);
	items = p->alloc(n * sizeof(TsaAssignmentItem));
	if (!choose_staying(p, keys, n, items, over))
		return false;
	for (int i = 0; i < n; i++)
	{
		TsaChoice  *c = &p->choices[keys[i].index];

		if (items[i].place == 0)
			continue;
		c->is_move = c->is_evicted = true;
		c->finding = TSA_TOO_FULL;
		c->destination = destination;
		c->saved_ms =
			tsa_estimate_move(p, keys[i].index, destination).saved_ms;
		c->bytes = p->relations[keys[i].index].size_bytes;
	}
	return true;
}

/* Moves out of full places come first, those that save most per byte. */
void
tsa_rank_moves(TsaPlacement *p, TsaRelationKey *keys)
{
	int			n = 0;

	for (int i = 0; i < p->n; i++)
	{
		if (!p->choices[i].is_evicted)
			continue;
		keys[n].value = p->choices[i].saved_ms /
			tsa_not_zero(p->choices[i].bytes);
		keys[n].id = p->relations[i].id;
		keys[n++].index = i;
	}
	if (n == 0)
		return;
	qsort(keys, n, sizeof(TsaRelationKey), compare_values);
	for (int i = 0; i < p->n; i++)
	{
		if (p->choices[i].is_move)
			p->choices[i].rank += n;
	}
	for (int i = 0; i < n; i++)
		p->choices[keys[i].index].rank = i + 1;
}
