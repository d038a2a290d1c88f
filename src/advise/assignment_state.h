/*-------------------------------------------------------------------------
 *
 * assignment_state.h
 *	  An assignment while it is made: who is where, and what that takes.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 *
 *-------------------------------------------------------------------------
 */
#ifndef TSA_ASSIGNMENT_STATE_H
#define TSA_ASSIGNMENT_STATE_H

#include <math.h>

#include "advise/assignment.h"

/* An item with what it would gain or lose, to sort by. */
typedef struct TsaCandidate
{
	double		value;
	size_t		item;
	int			place;
} TsaCandidate;

/* One run. */
typedef struct TsaAssigner
{
	const TsaAssignmentProblem *p;
	int			nlimits;		/* rooms, and the budget as the last one */
	uint64_t	limit[TSA_MAX_ROOMS + 1];
	uint64_t	used[TSA_MAX_ROOMS + 1];	/* by "place" */
	double		price[TSA_MAX_ROOMS + 1];
	double		bound;			/* at the best prices so far */
	int		   *place;			/* the assignment at hand */
	int		   *best_place;
	double		best;			/* its cost, INFINITY without one */
	TsaCandidate *candidates;	/* n * nplaces */
	size_t		ncandidates;
	size_t		steps_left;
	double		cost;			/* of the assignment at hand, roughly */
} TsaAssigner;

static inline double
cost_in(const TsaAssigner *s, size_t item, int place)
{
	return s->p->cost[item * s->p->nplaces + place];
}

static inline uint64_t
size_in(const TsaAssigner *s, size_t item, int place)
{
	const TsaAssignmentItem *i = &s->p->items[item];

	return place == i->present ? i->size : i->moved_size;
}

static inline bool
takes_budget(const TsaAssigner *s, size_t item, int place)
{
	int			present = s->p->items[item].present;

	return place != present &&
		cost_in(s, item, place) < cost_in(s, item, present);
}

/* What an item costs in a place with the price of what it takes there. */
static inline double
priced_cost(const TsaAssigner *s, size_t item, int place)
{
	double		cost = cost_in(s, item, place);
	double		price = s->price[s->p->room_of[place]];

	if (s->price[s->nlimits - 1] > 0 && takes_budget(s, item, place))
		price += s->price[s->nlimits - 1];
	return price > 0 ? cost + price * (double) size_in(s, item, place) : cost;
}

/* The cheapest place at the prices; of equals the present, then the first. */
static inline int
cheapest_place(const TsaAssigner *s, size_t item, double *cost)
{
	int			best = s->p->items[item].present;

	*cost = priced_cost(s, item, best);
	for (int j = 0; j < s->p->nplaces; j++)
	{
		double		here;

		if (isinf(cost_in(s, item, j)))
			continue;
		here = priced_cost(s, item, j);
		if (here < *cost)
		{
			*cost = here;
			best = j;
		}
	}
	return best;
}

static inline void
put_in(TsaAssigner *s, size_t item, int place)
{
	s->used[s->p->room_of[place]] += size_in(s, item, place);
	if (takes_budget(s, item, place))
		s->used[s->nlimits - 1] += size_in(s, item, place);
	s->place[item] = place;
	s->cost += cost_in(s, item, place);
}

static inline void
take_out(TsaAssigner *s, size_t item)
{
	int			place = s->place[item];

	s->used[s->p->room_of[place]] -= size_in(s, item, place);
	if (takes_budget(s, item, place))
		s->used[s->nlimits - 1] -= size_in(s, item, place);
	s->cost -= cost_in(s, item, place);
}

static inline bool
has_room(const TsaAssigner *s, size_t item, int place)
{
	int			room = s->p->room_of[place];
	int			budget = s->nlimits - 1;
	uint64_t	size = size_in(s, item, place);

	if (s->used[room] > s->limit[room] || size > s->limit[room] - s->used[room])
		return false;
	return !takes_budget(s, item, place) ||
		(s->used[budget] <= s->limit[budget] &&
		 size <= s->limit[budget] - s->used[budget]);
}

static inline bool
everything_fits(const TsaAssigner *s)
{
	for (int k = 0; k < s->nlimits; k++)
	{
		if (s->used[k] > s->limit[k])
			return false;
	}
	return true;
}

extern double tsa_assign_at_prices(TsaAssigner *s);
extern void tsa_find_prices(TsaAssigner *s);

#endif							/* TSA_ASSIGNMENT_STATE_H */
