/*
 * assignment_instances.h
 *	  Random instances of which relation belongs where, and the best of all
 *	  assignments of small ones.  For test_assignment.c and bench/assignments.c.
 *
 * Copyright (c) 2026, The tablespace_advisor developers
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "advise/assignment.h"

static uint64_t seed = 42;

/* a number below n, the same in each run */
static uint64_t
below(uint64_t n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 33) % n;
}

static const int own_rooms[] = {0, 1, 2, 3};

/* whether an assignment fits, and what it costs */
static bool
price_of(const TsaAssignmentProblem *p, const int *place, double *cost)
{
	uint64_t	used[TSA_MAX_ROOMS] = {0};
	uint64_t	moved = 0;

	*cost = 0;
	for (size_t i = 0; i < p->n; i++)
	{
		const TsaAssignmentItem *item = &p->items[i];
		const double *costs = p->cost + i * p->nplaces;
		uint64_t	size = place[i] == item->present ?
		item->size : item->moved_size;

		if (isinf(costs[place[i]]))
			return false;
		used[p->room_of[place[i]]] += size;
		if (place[i] != item->present &&
			costs[place[i]] < costs[item->present])
			moved += size;
		*cost += costs[place[i]];
	}
	for (int k = 0; k < p->nrooms; k++)
	{
		if (used[k] > p->room[k])
			return false;
	}
	return moved <= p->budget;
}

/* the best of all assignments; INFINITY if none fits */
static double
best_of_all(const TsaAssignmentProblem *p)
{
	double		best = INFINITY;
	int			place[16] = {0};

	for (;;)
	{
		double		cost;
		size_t		i = 0;

		if (price_of(p, place, &cost))
			best = fmin(best, cost);
		while (i < p->n && ++place[i] == p->nplaces)
			place[i++] = 0;
		if (i == p->n)
			return best;
	}
}

/*
 * An instance: read rates over four orders of magnitude, the first place the
 * fastest, rooms that hold a part of all, some relations that cannot move.
 */
static void
make_instance(TsaAssignmentProblem *p, TsaAssignmentItem *items, double *cost,
			  uint64_t *room)
{
	uint64_t	total = 0;
	uint64_t	present[4] = {0};

	for (size_t i = 0; i < p->n; i++)
	{
		double		rate = pow(10, (double) below(4000) / 1000);
		bool		pinned = below(10) == 0;

		items[i].size = 1 + below(1000) * (1 + below(20));
		items[i].moved_size = below(5) ? items[i].size : items[i].size / 2;
		items[i].present = (int) below((uint64_t) p->nplaces);
		total += items[i].size;
		present[items[i].present] += items[i].size;
		for (int j = 0; j < p->nplaces; j++)
		{
			cost[i * p->nplaces + j] = rate * pow(6, j) *
				(0.8 + (double) below(400) / 1000);
			if (j != items[i].present && (pinned || below(15) == 0))
				cost[i * p->nplaces + j] = INFINITY;
		}
	}
	for (int k = 0; k < p->nrooms; k++)
	{
		/* mostly what is there fits */
		room[k] = total * (5 + below(50)) / 100;
		if (k == p->nrooms - 1)
			room[k] = total * (50 + below(100)) / 100;
		if (below(10) && room[k] < present[k])
			room[k] = present[k] + below(total / 20 + 1);
	}
	p->budget = below(4) ? TSA_NO_LIMIT : total * below(60) / 100;
	p->items = items;
	p->cost = cost;
	p->room = room;
	p->room_of = own_rooms;
}
