/*-------------------------------------------------------------------------
 *
 * choose_moves.c
 *	  The decision on each relation, all together: moves out of tablespaces
 *	  that are too full, moves that save and those that make room for them, and
 *	  the verdict on all others.
 *
 * Pure: includes no postgres.h and is unit-tested without a server.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#include "advise/placement.h"

#include <stdlib.h>
#include <string.h>

#include "advise/assignment.h"
#include "advise/bundle.h"

/* A place that a relation could move to. */
typedef struct Offer
{
	int			relation;
	int			item;
	int			place;
	double		saved_ms;
	double		low_ms;			/* saved at the lower end of the interval */
	double		seconds;
	bool		goes_down;		/* it makes room for others */
} Offer;

/* The choice among offers. */
typedef struct Chooser
{
	TsaPlacement *p;
	Offer	   *offers;
	size_t		noffers;
	int			ncandidates;
	int		   *items;			/* relations */
	size_t		nitems;
	int		   *room_of;		/* of each place */
	int64_t    *free;			/* of each room */
	int			nrooms;
	TsaAssignmentProblem problem;
	TsaAssignment assigned;
	TsaBundleMove *moves;
	int		   *offer_of;		/* of each move */
	size_t		nmoves;
} Chooser;

/*
 * Tablespaces that are on one device have one room: the least that is free by
 * any of them.  Rooms are numbered by the first name of each.
 */
void
tsa_list_rooms(const TsaPlacement *p, int *room_of, int64_t *free,
			   int *nrooms)
{
	int		   *first = p->alloc(p->nplaces * sizeof(int) + 1);

	*nrooms = 0;
	for (int i = 0; i < p->nplaces; i++)
	{
		for (first[i] = 0; first[i] < i; first[i]++)
		{
			if (p->places[first[i]].shares_device[i] ||
				p->places[i].shares_device[first[i]])
				break;
		}
	}
	for (int device = 0; device < p->nplaces; device++)
	{
		bool		is_used = false;

		for (int i = 0; i < p->nplaces; i++)
		{
			int64_t		bytes = (int64_t) fmax(0, p->places[i].available_bytes);

			if (first[i] != device)
				continue;
			room_of[i] = *nrooms;
			free[*nrooms] = is_used && free[*nrooms] < bytes ?
				free[*nrooms] : bytes;
			is_used = true;
		}
		*nrooms += is_used;
	}
}

/*
 * Whether a relation could be there to make room for others: where reads are
 * as fast, or slower.  Relations that no sample has seen read cost nothing.
 * Standbys read, too, and are not asked.
 */
static bool
may_make_room(const TsaPlacement *p, const TsaRelationFact *a, int destination,
			  const TsaMoveEstimate *e)
{
	const TsaPlaceFact *d = &p->places[destination];

	for (int i = 0; i < a->nleft; i++)
	{
		if (a->left_lately[i] == destination)
			return false;
	}
	return tsa_is_movable(a) &&
		!isnan(p->places[a->place].random_read_us) &&
		!isnan(d->random_read_us) && d->may_create == TSA_TRUE &&
		d->is_volatile != TSA_TRUE &&
		!p->places[a->place].shares_device[destination] &&
		(!e->is_faster || e->saved_ms <= 0) &&
		(!isnan(e->saved_ms) || tsa_or(a->reads_per_s, 0) == 0) &&
		e->is_saturated != TSA_TRUE;
}

/* Whether the place x is nearer to one to move to than y is. */
static bool
is_nearer(const TsaPlacement *p, int source, int x, double x_saved,
		  int y, double y_saved)
{
	const TsaPlaceFact *f = &p->places[x];
	const TsaPlaceFact *g = &p->places[y];
	int			order = tsa_destination_order(p, source, x) -
	tsa_destination_order(p, source, y);

	if (order != 0)
		return order < 0;
	if (!(x_saved == y_saved) && !(isnan(x_saved) && isnan(y_saved)))
		return isnan(y_saved) || x_saved > y_saved;
	if (f->random_read_us < g->random_read_us ||
		g->random_read_us < f->random_read_us)
		return f->random_read_us < g->random_read_us;
	if (isnan(f->random_read_us) != isnan(g->random_read_us))
		return isnan(g->random_read_us);
	if ((strncmp(f->name, "pg_", 3) == 0) != (strncmp(g->name, "pg_", 3) == 0))
		return strncmp(g->name, "pg_", 3) == 0;
	return x < y;
}

/*
 * Looks at a relation in all places: offers to move it, and the place that its
 * verdict speaks of.
 */
static void
look_around(Chooser *c, int relation)
{
	TsaPlacement *p = c->p;
	const TsaRelationFact *a = &p->relations[relation];
	TsaChoice  *choice = &p->choices[relation];
	TsaFinding	fault = tsa_index_finding(a);
	double		nearest_saved = NAN;

	choice->best_place = TSA_NO_PLACE;
	for (int d = 0; d < p->nplaces; d++)
	{
		TsaMoveEstimate e;
		Offer	   *o = &c->offers[c->noffers];
		bool		is_asked = p->destination == TSA_NO_PLACE ||
		p->destination == d;
		bool		is_candidate;

		if (!tsa_is_way(p, a->place, d))
			continue;
		e = tsa_estimate_move(p, relation, d);
		if (is_asked && !choice->is_evicted &&
			(choice->destination < 0 ||
			 is_nearer(p, a->place, d, e.saved_ms, choice->destination,
					   nearest_saved)))
		{
			choice->destination = d;
			nearest_saved = e.saved_ms;
		}
		is_candidate = is_asked && e.is_faster && e.saved_low_ms > 0 &&
			fault == TSA_NO_FINDING &&
			tsa_move_finding(p, relation, d, &e) == TSA_FASTER;
		if (choice->is_evicted ||
			(!is_candidate && !may_make_room(p, a, d, &e)))
			continue;
		*o = (Offer)
		{
			relation, -1, d, e.saved_ms,
				isnan(e.saved_low_ms) ? e.saved_ms : e.saved_low_ms,
				tsa_or(e.move_seconds, 0), !is_candidate
		};
		if (is_candidate)
		{
			c->ncandidates++;
			if (choice->best_place < 0 || e.saved_ms > choice->saved_there_ms)
			{
				choice->best_place = d;
				choice->saved_there_ms = e.saved_ms;
			}
		}
		else
		{
			o->saved_ms = fmin(0, tsa_or(o->saved_ms, 0));
			o->low_ms = fmin(0, tsa_or(o->low_ms, o->saved_ms));
		}
		choice->is_offered |= !isnan(a->size_bytes);
		c->noffers++;
	}
}

/* Numbers relations with offers in the order of OIDs; offers follow. */
static void
list_items(Chooser *c, TsaRelationKey *keys)
{
	TsaPlacement *p = c->p;
	int		   *item_of = p->alloc(p->n * sizeof(int) + 1);
	Offer	   *sorted;
	size_t	   *first;
	size_t		n = 0;

	for (int i = 0; i < p->n; i++)
	{
		if (!p->choices[i].is_offered)
			continue;
		keys[c->nitems].id = p->relations[i].id;
		keys[c->nitems++].index = i;
	}
	if (c->nitems > 0)
		qsort(keys, c->nitems, sizeof(TsaRelationKey), tsa_compare_ids);
	c->items = p->alloc(c->nitems * sizeof(int) + 1);
	first = p->alloc((c->nitems + 1) * sizeof(size_t));
	sorted = p->alloc(c->noffers * sizeof(Offer) + 1);
	for (size_t i = 0; i < c->nitems; i++)
	{
		c->items[i] = keys[i].index;
		item_of[keys[i].index] = (int) i;
	}
	/* those of one relation stand together, in the order of places */
	for (size_t i = 0; i < c->noffers; i++)
	{
		if (p->choices[c->offers[i].relation].is_offered)
			first[item_of[c->offers[i].relation] + 1]++;
	}
	for (size_t i = 1; i <= c->nitems; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < c->noffers; i++)
	{
		Offer	   *o = &c->offers[i];

		if (!p->choices[o->relation].is_offered)
			continue;
		o->item = item_of[o->relation];
		sorted[first[o->item]++] = *o;
		n++;
	}
	c->offers = sorted;
	c->noffers = n;
}

/* The rooms, less the bytes evicted to them; and the problem. */
static void
make_problem(Chooser *c)
{
	TsaPlacement *p = c->p;
	TsaAssignmentItem *items = p->alloc(c->nitems * sizeof(*items) + 1);
	double	   *cost = p->alloc(c->nitems * p->nplaces * sizeof(double) + 1);
	uint64_t   *room = p->alloc(p->nplaces * sizeof(uint64_t) + 1);

	for (int i = 0; i < p->n; i++)
	{
		const TsaChoice *choice = &p->choices[i];

		if (choice->is_evicted)
			c->free[c->room_of[choice->destination]] -=
				(int64_t) choice->bytes;
	}
	for (int k = 0; k < c->nrooms; k++)
	{
		c->free[k] = c->free[k] < 0 ? 0 : c->free[k];
		room[k] = (uint64_t) c->free[k];
	}
	for (size_t i = 0; i < c->nitems * p->nplaces; i++)
		cost[i] = INFINITY;
	for (size_t i = 0; i < c->nitems; i++)
	{
		const TsaRelationFact *a = &p->relations[c->items[i]];

		items[i].present = a->place;
		items[i].size = items[i].moved_size = (uint64_t) a->size_bytes;
		cost[i * p->nplaces + a->place] = 0;
		room[c->room_of[a->place]] += items[i].size;
	}
	for (size_t i = 0; i < c->noffers; i++)
		cost[c->offers[i].item * (size_t) p->nplaces + c->offers[i].place] =
			-c->offers[i].saved_ms;
	c->problem = (TsaAssignmentProblem)
	{
		items, c->nitems, cost, p->nplaces, c->room_of, room, c->nrooms,
			isnan(p->budget_bytes) ? INT64_C(4611686018427387904) :
			(uint64_t) p->budget_bytes
	};
}

/* Lists the moves that the assignment needs, and bundles them. */
static bool
bundle_moves(Chooser *c)
{
	TsaPlacement *p = c->p;
	TsaBundleProblem bundles = {
		.read_ms = tsa_or(p->all_read_ms, 0),
		.read_bytes = tsa_or(p->all_read_bytes, 0),
		.free = c->free,
		.nrooms = c->nrooms,
		.min_percent = TSA_MIN_PERCENT,
		.min_dense_percent = TSA_MIN_DENSE_PERCENT,
		.repaid_s = TSA_REPAID_S
	};

	c->moves = p->alloc(c->nitems * sizeof(TsaBundleMove) + 1);
	c->offer_of = p->alloc(c->nitems * sizeof(int) + 1);
	for (size_t i = 0; i < c->noffers; i++)
	{
		const Offer *o = &c->offers[i];
		const TsaAssignmentItem *item = &c->problem.items[o->item];
		TsaBundleMove *m = &c->moves[c->nmoves];

		if (o->place != item->place)
			continue;
		m->from_room = c->room_of[item->present];
		m->to_room = c->room_of[o->place];
		m->size = m->freed = item->size;
		m->saved = o->saved_ms;
		m->seconds = o->seconds;
		c->offer_of[c->nmoves++] = (int) i;
	}
	bundles.moves = c->moves;
	bundles.n = c->nmoves;
	return tsa_bundle_moves(&bundles);
}

/*
 * The finding on a move, low_ms being the lower end of its bundle's interval;
 * TSA_NO_FINDING: one down that is not made.
 */
static TsaFinding
bundle_finding(TsaBundleVerdict verdict, double low_ms, bool goes_down)
{
	if (verdict == TSA_BUNDLE_NO_ROOM)
		return TSA_NO_ORDER;
	if (verdict == TSA_BUNDLE_MADE && low_ms > 0)
		return goes_down ? TSA_MAKES_ROOM : TSA_FASTER;
	if (goes_down)
		return TSA_NO_FINDING;
	if (verdict == TSA_BUNDLE_TOO_LITTLE)
		return TSA_BUNDLE_SAVES_TOO_LITTLE;
	return verdict == TSA_BUNDLE_NOT_REPAID ? TSA_BUNDLE_IS_NOT_REPAID :
		TSA_BUNDLE_WITHIN_NOISE;
}

/* Notes the moves that are made, and why others are not. */
static void
note_moves(Chooser *c)
{
	TsaPlacement *p = c->p;
	double	   *low_ms = p->alloc((c->nmoves + 1) * sizeof(double));

	for (size_t i = 0; i < c->nmoves; i++)
		low_ms[c->moves[i].bundle] +=
			tsa_or(c->offers[c->offer_of[i]].low_ms, 0);
	for (size_t i = 0; i < c->nmoves; i++)
	{
		const TsaBundleMove *m = &c->moves[i];
		const Offer *o = &c->offers[c->offer_of[i]];
		TsaChoice  *choice = &p->choices[o->relation];

		choice->finding = bundle_finding(m->verdict, low_ms[m->bundle],
										 o->goes_down);
		choice->is_move = choice->finding == TSA_FASTER ||
			choice->finding == TSA_MAKES_ROOM;
		if (!choice->is_move)
			continue;
		choice->destination = o->place;
		choice->rank = m->rank;
		choice->saved_ms = o->saved_ms;
		choice->bytes = p->relations[o->relation].size_bytes;
		choice->bundle = m->bundle;
		choice->ms_per_byte = c->assigned.price[m->to_room];
		if (m->makes_room_for != TSA_NO_MOVE)
		{
			const Offer *other = &c->offers[c->offer_of[m->makes_room_for]];

			choice->makes_room_for = p->relations[other->relation].id;
		}
	}
}

/*
 * The places where all together are read fastest, among offers: a relation
 * without one stays.  False: no memory, or more than TSA_MAX_ROOMS devices.
 */
static bool
choose_among_offers(Chooser *c, TsaRelationKey *keys)
{
	TsaPlacement *p = c->p;

	c->room_of = p->alloc(p->nplaces * sizeof(int) + 1);
	c->free = p->alloc(p->nplaces * sizeof(int64_t) + 1);
	tsa_list_rooms(p, c->room_of, c->free, &c->nrooms);
	if (c->ncandidates == 0)
		return true;
	if (c->nrooms > TSA_MAX_ROOMS)
		return false;
	list_items(c, keys);
	make_problem(c);
	if (!tsa_assign_places(&c->problem, &c->assigned) || !bundle_moves(c))
		return false;
	note_moves(c);
	return true;
}

/*
 * The time of reads when the moves are made, and the part of each in the saving
 * of all: reads that stay wait less when others leave, and in the target those
 * that come wait for each other (closed_system.c).  Not known where nobody has
 * watched sessions, or if together they would cost more than they save: each
 * was judged as if it alone were made.
 */
static void
forecast_set(TsaPlacement *p)
{
	TsaStation *stations = p->alloc(p->nplaces * sizeof(TsaStation) + 1);
	int		   *place_of = p->alloc(p->nplaces * sizeof(int) + 1);
	double		saved_ms = 0;
	double		sum_ms = 0;
	int			n = 0;

	for (int i = 0; i < p->nplaces; i++)
		p->states[i].station.later_reads = p->states[i].station.reads;
	for (int i = 0; i < p->n; i++)
	{
		const TsaChoice *c = &p->choices[i];
		double		reads = tsa_or(p->here[i].device_reads, 0);

		if (!c->is_move || c->is_evicted)
			continue;
		p->states[p->relations[i].place].station.later_reads -= reads;
		p->states[c->destination].station.later_reads += reads;
		sum_ms += tsa_or(c->saved_ms, 0);
	}
	for (int i = 0; i < p->nplaces; i++)
	{
		TsaStation *s = &p->states[i].station;

		s->later_reads = fmax(0, s->later_reads);
		if (!p->states[i].is_known)
			continue;
		stations[n] = *s;
		stations[n].us = tsa_or(s->us, 0);
		if (stations[n].us == 0)
			stations[n].reads = 0;
		place_of[n++] = i;
	}
	if (!(p->load.snapshots > 0) || isnan(p->load.active_sessions))
		return;
	tsa_closed_system_saves(stations, n,
							fmin(fmax(0, p->load.active_sessions), 1e6));
	for (int i = 0; i < n; i++)
		saved_ms += (stations[i].reads * stations[i].us -
					 stations[i].later_reads * stations[i].later_us) / 1000;
	if (!(saved_ms > 0))
		return;
	for (int i = 0; i < n; i++)
		p->states[place_of[i]].later_us = stations[i].later_us;
	for (int i = 0; i < p->n && sum_ms > 0; i++)
	{
		if (p->choices[i].is_evicted || !p->choices[i].is_move)
			continue;
		p->choices[i].saved_ms *= saved_ms / sum_ms;
		p->choices[i].ms_per_byte *= saved_ms / sum_ms;
	}
}

/* The verdict on a relation that is neither moved nor evicted. */
static void
judge_other(const TsaPlacement *p, int relation)
{
	const TsaRelationFact *a = &p->relations[relation];
	TsaChoice  *c = &p->choices[relation];
	TsaFinding	finding = tsa_index_finding(a);
	TsaMoveEstimate e = {0};

	if (c->finding != TSA_NO_FINDING)
	{
		if (c->best_place >= 0)
			c->destination = c->best_place;
		return;
	}
	if (finding == TSA_NO_FINDING && c->best_place >= 0)
		finding = TSA_NO_ROOM;
	if (finding == TSA_NO_FINDING)
	{
		if (c->destination >= 0)
			e = tsa_estimate_move(p, relation, c->destination);
		finding = tsa_move_finding(p, relation, c->destination, &e);
	}
	if (c->best_place >= 0)
		c->destination = c->best_place;
	if (finding != TSA_NO_ROOM && finding != TSA_BEING_BUILT &&
		finding != TSA_UNDER_WAY &&
		strcmp(tsa_finding_action(finding), "keep") == 0 &&
		tsa_is_bloated(a->rebuilt_bytes, a->size_bytes))
		finding = TSA_BLOATED;
	c->finding = finding;
}

/*
 * Makes p->choices: the decision on each relation considered whose place is
 * known.  False: no memory, or more than TSA_MAX_ROOMS devices.
 */
bool
tsa_choose_placement(TsaPlacement *p)
{
	Chooser		c = {.p = p};
	TsaRelationKey *keys = p->alloc(p->n * sizeof(TsaRelationKey) + 1);

	p->choices = p->alloc(p->n * sizeof(TsaChoice) + 1);
	for (int i = 0; i < p->n; i++)
		p->choices[i].destination = p->choices[i].best_place = TSA_NO_PLACE;
	for (int i = 0; i < p->nplaces && p->with_evictions; i++)
	{
		if (!tsa_evict_from(p, i, keys))
			return false;
	}
	c.offers = p->alloc((size_t) p->n * p->nplaces * sizeof(Offer) + 1);
	for (int i = 0; i < p->n; i++)
	{
		if (p->relations[i].is_considered && p->relations[i].place >= 0)
			look_around(&c, i);
	}
	if (!choose_among_offers(&c, keys))
		return false;
	forecast_set(p);
	tsa_rank_moves(p, keys);
	for (int i = 0; i < p->n; i++)
	{
		if (p->relations[i].is_considered && p->relations[i].place >= 0 &&
			!p->choices[i].is_move)
			judge_other(p, i);
	}
	return true;
}
